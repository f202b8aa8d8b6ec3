//! The kernels of Xoofff for several blocks at once.

use crate::backend::dispatch::{Token, function};
use crate::base::wipe::Wiped;

/// From accumulator and mask, input, the number of groups of blocks, and constants.
type Absorb = function!(*mut u8, *const u8, usize, *const u8);
/// From mask and output state, output, the number of groups of blocks, and constants.
type Squeeze = function!(*mut u8, *mut u8, usize, *const u8);

type Block = [u8; 48];

/// The fewest blocks that any kernel processes together.
pub(crate) const FEWEST: usize = 4;

/// The kernels of a level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// How many blocks are processed together: a group.
    pub(crate) lanes: usize,
    pub(crate) absorb_blocks: Absorb,
    pub(crate) squeeze_blocks: Squeeze,
    /// As the kernels need them.
    pub(crate) constants: &'static [u32],
}

#[cfg(veriplex_kernels)]
pub(crate) use super::hardware::XOOFFF as CANDIDATES;
#[cfg(not(veriplex_kernels))]
pub(crate) const CANDIDATES: [super::dispatch::Candidate<Kernels>; 0] = [];

impl Token<Kernels> {
    /// As many of so many blocks as whole groups have.
    #[inline]
    pub(crate) fn whole(self, blocks: usize) -> usize {
        blocks / self.lanes * self.lanes
    }

    /// Per block of whole groups: XOR the mask into it; permute; XOR the result into the accumulator; roll the mask.
    pub(crate) fn absorb_blocks(self, mask: &mut Block, accumulator: &mut Block, groups: &[Block]) {
        assert!(groups.len().is_multiple_of(self.lanes));
        let mut deck = pair(accumulator, mask);
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 96 bytes of the pair,
        // reads the n groups and the constants, and touches nothing else.
        unsafe {
            (self.absorb_blocks)(
                deck.0.as_mut_ptr(),
                groups.as_ptr().cast(),
                groups.len() / self.lanes,
                self.constants.as_ptr().cast(),
            );
        }
        accumulator.copy_from_slice(&deck.0[..48]);
        mask.copy_from_slice(&deck.0[48..]);
    }

    /// Per block of whole groups: the permutation of the output state, XOR the mask; roll the output state.
    pub(crate) fn squeeze_blocks(self, output: &mut Block, mask: &Block, groups: &mut [Block]) {
        assert!(groups.len().is_multiple_of(self.lanes));
        let mut states = pair(mask, output);
        // SAFETY: as in `absorb_blocks`, but the kernel writes the n groups.
        unsafe {
            (self.squeeze_blocks)(
                states.0.as_mut_ptr(),
                groups.as_mut_ptr().cast(),
                groups.len() / self.lanes,
                self.constants.as_ptr().cast(),
            );
        }
        output.copy_from_slice(&states.0[48..]);
    }
}

/// Two blocks, one behind the other.
fn pair(first: &Block, second: &Block) -> Wiped<[u8; 96]> {
    let mut pair = Wiped([0; 96]);
    pair.0[..48].copy_from_slice(first);
    pair.0[48..].copy_from_slice(second);
    pair
}
