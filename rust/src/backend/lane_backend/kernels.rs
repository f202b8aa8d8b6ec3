//! Kernels for two, four or eight lanes: eight lanes are as many calls as it takes.

use super::{LANES, States};
use crate::backend::dispatch::Token;
use crate::backend::lanes::{Kernels, Transform};
use crate::backend::simpira1024::Block;

impl Token<Kernels> {
    /// The number of lanes that are processed when so many of the first ones are wanted.
    #[inline]
    pub(crate) fn lanes_processed(self, lanes: usize) -> usize {
        // The width is a power of two, so that no division is needed.
        (lanes.min(LANES) + self.width - 1) & !(self.width - 1)
    }

    pub(crate) fn permute(self, states: &mut States, lanes: usize) {
        for first in (0..self.lanes_processed(lanes)).step_by(self.width) {
            // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the words of its
            // lanes, which are in the states, and reads the round constants.
            unsafe { (self.permute)(at(states, first), self.round_constants.as_ptr().cast()) };
        }
    }

    pub(crate) fn absorb_blocks(
        self,
        states: &mut States,
        blocks: &[&[Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let processed = self.lanes_processed(lanes);
        assert!(blocks[..processed].iter().all(|blocks| blocks.len() >= n));
        let pointers: [*const u8; LANES] = blocks.map(|blocks| blocks.as_ptr().cast());
        for first in (0..processed).step_by(self.width) {
            // SAFETY: as in `permute`; the kernel also reads the pointers of its lanes, and n blocks of 94 bytes at each.
            unsafe {
                (self.absorb_blocks)(
                    at(states, first),
                    pointers[first..].as_ptr(),
                    n,
                    self.round_constants.as_ptr().cast(),
                );
            }
        }
    }

    /// Encrypts, decrypts or squeezes, as this kernel of the table does.
    pub(crate) fn transform(
        self,
        kernel: Transform,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let processed = self.lanes_processed(lanes);
        assert!(blocks[..processed].iter().all(|blocks| blocks.len() >= n));
        let pointers: [*mut u8; LANES] = blocks.each_mut().map(|blocks| blocks.as_mut_ptr().cast());
        for first in (0..processed).step_by(self.width) {
            // SAFETY: as in `absorb_blocks`; the kernel also writes these blocks, which do not overlap.
            unsafe {
                kernel(
                    at(states, first),
                    pointers[first..].as_ptr(),
                    n,
                    self.round_constants.as_ptr().cast(),
                );
            }
        }
    }
}

/// The first word of a lane: the others are 128 bytes from one to the next.
#[inline]
fn at(states: &mut States, lane: usize) -> *mut u8 {
    states.0.as_flattened_mut()[lane..].as_mut_ptr().cast()
}
