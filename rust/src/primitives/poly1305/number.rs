//! Blocks, and numbers modulo p = 2^130 - 5.

use crate::base::wipe::Secret;

/// Size in bytes of a block of a message.
pub(super) const BLOCK_LEN: usize = 16;

pub(super) type Block = [u8; BLOCK_LEN];

/// The low 128 bits of a number, and the rest.
pub(crate) type Number = (u128, u64);

/// A sum that the 2^128 of a full block makes p: so a block of zeros then adds nothing.
pub(crate) const ZERO_BLOCK_CANCEL: Number = (u128::MAX - 4, 2);

/// How many messages are hashed side by side.
pub(crate) const MESSAGES_PER_BATCH: usize = 8;

/// A full block of each of several messages, and then the next one of each.
pub(crate) type Pairs = [Block; 2 * MESSAGES_PER_BATCH];

/// The last block of a message: these bytes, fewer than 16, a 1 and zeros.
pub(super) fn padded(rest: &[u8]) -> Secret<Block> {
    let mut last = Secret::new([0; 16]);
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 1;
    last
}

/// h mod p, for h = low + 2^128 top below 2p = 2^131 - 10: p is subtracted once, if h + 5 reaches 2^130. To subtract p is
/// to add 5 and to drop 2^130, so nothing is selected.
pub(super) fn reduce(low: u128, top: u64) -> Number {
    let (_, carry) = low.overflowing_add(5);
    let reaches = (top + u64::from(carry)) >> 2; // 0 or 1
    let (low, carry) = low.overflowing_add(u128::from(5 * reaches));
    (low, (top + u64::from(carry)) & 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// h in [p, 2^130) is reduced once, and what is larger too.
    #[test]
    fn the_last_reduction() {
        let p = (u128::MAX - 4, 3); // 2^130 - 5
        assert_eq!(reduce(p.0 - 1, p.1), (p.0 - 1, 3));
        for (above, expected) in (0..=4).zip(0..) {
            assert_eq!(reduce(p.0 + above, p.1), (expected, 0));
        }
        assert_eq!(reduce(0, 4), (5, 0));
        assert_eq!(reduce(1 << 66, 4), ((1 << 66) + 5, 0));
        assert_eq!(reduce(u128::MAX, 2), (u128::MAX, 2));
        assert_eq!(reduce(7, 0), (7, 0));
        // 2p - 1, the largest.
        assert_eq!(reduce(u128::MAX - 10, 7), (p.0 - 1, 3));
    }
}
