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

    pub(crate) fn squeeze_blocks(
        self,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let processed = self.lanes_processed(lanes);
        assert!(blocks[..processed].iter().all(|blocks| blocks.len() >= n));
        let pointers: [*mut u8; LANES] = blocks.each_mut().map(|blocks| blocks.as_mut_ptr().cast());
        for first in (0..processed).step_by(self.width) {
            // SAFETY: as in `absorb_blocks`, but the kernel writes these blocks, which do not overlap.
            unsafe {
                (self.squeeze_blocks)(
                    at(states, first),
                    pointers[first..].as_ptr(),
                    n,
                    self.round_constants.as_ptr().cast(),
                );
            }
        }
    }

    /// Encrypts or decrypts, as this kernel of the table does: in place, unless there is an input.
    pub(crate) fn transform(
        self,
        kernel: Transform,
        states: &mut States,
        input: Option<&[&[Block]; LANES]>,
        output: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let processed = self.lanes_processed(lanes);
        assert!(output[..processed].iter().all(|blocks| blocks.len() >= n));
        let output: [*mut u8; LANES] = output.each_mut().map(|blocks| blocks.as_mut_ptr().cast());
        let input: [*const u8; LANES] = match input {
            None => output.map(<*mut u8>::cast_const),
            Some(input) => {
                assert!(input[..processed].iter().all(|blocks| blocks.len() >= n));
                input.map(|blocks| blocks.as_ptr().cast())
            }
        };
        for first in (0..processed).step_by(self.width) {
            // SAFETY: as in `absorb_blocks`; the kernel also writes the blocks of output, which do not overlap each other. It
            // reads each block before it writes there, and what it reads is there, or nowhere where it writes.
            unsafe {
                kernel(
                    at(states, first),
                    input[first..].as_ptr(),
                    output[first..].as_ptr(),
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
