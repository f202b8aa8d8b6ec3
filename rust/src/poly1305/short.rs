//! Poly1305 as a hash with secret values, over few blocks, one by one. What a kernel needs is not here, so that little is
//! copied for each message.

use super::backend::{Block, padded, reduce};
use super::{portable32, portable64};

/// The sum over the blocks of a message so far.
///
/// Wiped on drop (feature `zeroize`).
#[derive(Clone)]
pub(crate) enum Short {
    Portable64(portable64::Accumulator),
    Portable32(portable32::Accumulator),
}

impl Short {
    /// Absorbs blocks.
    #[inline]
    pub(crate) fn absorb(&mut self, blocks: &[Block]) {
        self.add(blocks, 1);
    }

    #[inline]
    fn add(&mut self, blocks: &[Block], high: u8) {
        match self {
            Self::Portable64(sum) => sum.blocks(blocks, high),
            Self::Portable32(sum) => sum.blocks(blocks, high),
        }
    }

    /// The value with these last bytes, fewer than a block: nothing is added to it, as to a tag.
    #[inline]
    pub(crate) fn value(mut self, rest: &[u8]) -> u128 {
        if !rest.is_empty() {
            self.add(&[*padded(rest)], 0);
        }
        let (low, top) = match &self {
            Self::Portable64(sum) => sum.value(),
            Self::Portable32(sum) => sum.value(),
        };
        let (value, _) = reduce(low, top);
        value
    }
}
