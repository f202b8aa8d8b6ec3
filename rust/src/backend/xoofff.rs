//! The kernels of Xoofff for several blocks at once.

use crate::backend::Backend;
use crate::backend::kernels::function;
use crate::wipe::Wiped;

/// From accumulator and mask, input, the number of groups of blocks, and constants.
type Absorb = function!(*mut u8, *const u8, usize, *const u8);
/// From mask and output state, output, the number of groups of blocks, and constants.
type Squeeze = function!(*mut u8, *mut u8, usize, *const u8);

type Block = [u8; 48];

/// The fewest blocks that any kernel processes together.
pub(crate) const FEWEST: usize = 4;

/// The kernels of a level.
pub(crate) struct Kernels {
    /// How many blocks are processed together: a group.
    pub(crate) lanes: usize,
    /// Whether this CPU and its operating system have what the kernels need.
    pub(crate) detect: fn() -> bool,
    pub(crate) absorb_blocks: Absorb,
    pub(crate) squeeze_blocks: Squeeze,
    /// As the kernels need them.
    pub(crate) constants: &'static [u32],
}

/// A witness that this CPU has the instructions of the kernels.
#[derive(Clone, Copy)]
pub(crate) struct Token(&'static Kernels);

impl Token {
    /// Those that this CPU can run, the best first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        (super::hardware::XOOFFF.into_iter())
            .filter_map(|kernels| (kernels.detect)().then_some(Self(kernels)))
    }

    /// Those that the library uses now, each for what the ones before leave: none while hardware backends are forbidden.
    #[inline]
    pub(crate) fn current() -> impl Iterator<Item = Self> {
        Self::available().filter(|_| Backend::kernels_allowed())
    }

    /// As many of so many blocks as whole groups have.
    #[inline]
    pub(crate) fn whole(self, blocks: usize) -> usize {
        blocks / self.0.lanes * self.0.lanes
    }

    /// Per block of whole groups: XOR the mask into it; permute; XOR the result into the accumulator; roll the mask.
    pub(crate) fn absorb_blocks(self, mask: &mut Block, accumulator: &mut Block, groups: &[Block]) {
        assert!(groups.len().is_multiple_of(self.0.lanes));
        let mut deck = pair(accumulator, mask);
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 96 bytes of the pair,
        // reads the n groups and the constants, and touches nothing else.
        unsafe {
            (self.0.absorb_blocks)(
                deck.0.as_mut_ptr(),
                groups.as_ptr().cast(),
                groups.len() / self.0.lanes,
                self.0.constants.as_ptr().cast(),
            );
        }
        accumulator.copy_from_slice(&deck.0[..48]);
        mask.copy_from_slice(&deck.0[48..]);
    }

    /// Per block of whole groups: the permutation of the output state, XOR the mask; roll the output state.
    pub(crate) fn squeeze_blocks(self, output: &mut Block, mask: &Block, groups: &mut [Block]) {
        assert!(groups.len().is_multiple_of(self.0.lanes));
        let mut states = pair(mask, output);
        // SAFETY: as in `absorb_blocks`, but the kernel writes the n groups.
        unsafe {
            (self.0.squeeze_blocks)(
                states.0.as_mut_ptr(),
                groups.as_mut_ptr().cast(),
                groups.len() / self.0.lanes,
                self.0.constants.as_ptr().cast(),
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
