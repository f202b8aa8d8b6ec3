//! A test of what adds several blocks at once, beside the code that adds them one by one.

use core::array::from_fn;

use super::number::{Block, reduce};
use super::portable64;

/// From 0 blocks to `N`: random messages, then those with the largest limbs. Each from a sum that is not zero.
pub(super) fn agree_with_portable64<A, const N: usize>(
    new: impl Fn(u128) -> A,
    blocks: impl Fn(&mut A, &[Block], u8),
    value: impl Fn(&A) -> (u128, u64),
) {
    let mut last = 1_u64;
    let mut random = || {
        last ^= last << 13;
        last ^= last >> 7;
        last ^= last << 17;
        last.to_le_bytes()[0]
    };
    let mut all_ones: [Block; N] = [[0xff; 16]; N];
    all_ones[0] = [0xfb; 16];
    for r in [u128::MAX, 0, 1, u128::from_le_bytes(from_fn(|_| random()))] {
        let r = r & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
        for message in [from_fn(|_| from_fn(|_| random())), all_ones] {
            for n in 0..=N {
                let mut several = new(r);
                let mut one_by_one = portable64::Accumulator::new(r);
                for (piece, high) in [
                    (&message[..1], 1),
                    (&message[..n], 1),
                    (&message[..n], 1),
                    // Without 2^128 a kernel is no use.
                    (&message, 0),
                ] {
                    blocks(&mut several, piece, high);
                    one_by_one.blocks(piece, high);
                    let [(low, top), expected] = [value(&several), one_by_one.value()];
                    assert_eq!(reduce(low, top), reduce(expected.0, expected.1), "{r:x} {n}");
                }
            }
        }
    }
}
