//! Kernels for two, four or eight lanes: eight lanes are as many calls as it takes.

use super::{LANES, States};
use crate::backend::kernels::function;
use crate::simpira1024::Block;

/// From states and round constants.
pub(crate) type Permute = function!(*mut u8, *const u8);
/// From states, a pointer to the blocks of each lane, their number, and round constants.
pub(crate) type Absorb = function!(*mut u8, *const *const u8, usize, *const u8);
pub(crate) type Transform = function!(*mut u8, *const *mut u8, usize, *const u8);

/// The kernels of a level.
pub(crate) struct Kernels {
    pub(crate) name: &'static str,
    /// The number of lanes that a call processes; it divides [`LANES`].
    pub(crate) width: usize,
    /// As many lanes as are faster one after the other, by the serial kernels.
    pub(crate) few: usize,
    /// Whether this CPU and its operating system have what the kernels need.
    pub(crate) detect: fn() -> bool,
    pub(crate) permute: Permute,
    pub(crate) absorb_blocks: Absorb,
    pub(crate) encrypt_blocks: Transform,
    pub(crate) decrypt_blocks: Transform,
    pub(crate) squeeze_blocks: Transform,
    /// As the kernels need them.
    pub(crate) round_constants: &'static [[u32; 4]],
}

/// A witness that this CPU has the instructions of the kernels.
#[derive(Clone, Copy)]
pub(crate) struct Token(&'static Kernels);

impl Token {
    #[inline]
    pub(crate) fn detect(kernels: &'static Kernels) -> Option<Self> {
        (kernels.detect)().then_some(Self(kernels))
    }

    pub(crate) fn name(self) -> &'static str {
        self.0.name
    }

    #[inline]
    pub(crate) fn few(self) -> usize {
        self.0.few
    }

    /// The number of lanes that are processed when so many of the first ones are wanted.
    #[inline]
    pub(crate) fn covered(self, lanes: usize) -> usize {
        lanes.min(LANES).next_multiple_of(self.0.width)
    }

    /// `kernels`, if they do half of the lanes and these always do all.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn narrow(self, kernels: &'static Kernels) -> Option<Self> {
        if self.0.width == LANES && kernels.width == LANES / 2 {
            Self::detect(kernels)
        } else {
            None
        }
    }

    pub(crate) fn permute(self, states: &mut States, lanes: usize) {
        for first in (0..self.covered(lanes)).step_by(self.0.width) {
            // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the words of its
            // lanes, which are in the states, and reads the round constants.
            unsafe { (self.0.permute)(at(states, first), self.0.round_constants.as_ptr().cast()) };
        }
    }

    pub(crate) fn absorb_blocks(
        self,
        states: &mut States,
        blocks: &[&[Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let covered = self.covered(lanes);
        assert!(blocks[..covered].iter().all(|blocks| blocks.len() >= n));
        let pointers: [*const u8; LANES] = blocks.map(|blocks| blocks.as_ptr().cast());
        for first in (0..covered).step_by(self.0.width) {
            // SAFETY: as in `permute`; the kernel also reads the pointers of its lanes, and n blocks of 94 bytes at each.
            unsafe {
                (self.0.absorb_blocks)(
                    at(states, first),
                    pointers[first..].as_ptr(),
                    n,
                    self.0.round_constants.as_ptr().cast(),
                );
            }
        }
    }

    pub(crate) fn encrypt_blocks(
        self,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        self.transform(self.0.encrypt_blocks, states, blocks, n, lanes);
    }

    pub(crate) fn decrypt_blocks(
        self,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        self.transform(self.0.decrypt_blocks, states, blocks, n, lanes);
    }

    pub(crate) fn squeeze_blocks(
        self,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        self.transform(self.0.squeeze_blocks, states, blocks, n, lanes);
    }

    fn transform(
        self,
        kernel: Transform,
        states: &mut States,
        blocks: &mut [&mut [Block]; LANES],
        n: usize,
        lanes: usize,
    ) {
        let covered = self.covered(lanes);
        assert!(blocks[..covered].iter().all(|blocks| blocks.len() >= n));
        let pointers: [*mut u8; LANES] = blocks.each_mut().map(|blocks| blocks.as_mut_ptr().cast());
        for first in (0..covered).step_by(self.0.width) {
            // SAFETY: as in `absorb_blocks`; the kernel also writes these blocks, which do not overlap.
            unsafe {
                kernel(
                    at(states, first),
                    pointers[first..].as_ptr(),
                    n,
                    self.0.round_constants.as_ptr().cast(),
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
