//! h and r in 64-bit limbs.
//!
//! h = low + 2^128 top. The clamp makes r below 2^124 and r1 a multiple of 4, so 2^128 h1 r1 = 2^130 h1 (r1 / 4), which
//! is h1 times s1 = 5 r1 / 4 modulo p.

use super::number::Block;
use super::number::{MESSAGES_PER_BATCH, Number, Pairs};
use crate::base::wipe::Secret;

pub(crate) struct Accumulator {
    r: Secret<[u64; 2]>,
    h: Secret<(u128, u64)>,
}

/// Number by number. The derived one copies them in other parts than it has just stored them in, which takes as long as
/// absorbing two blocks.
impl Clone for Accumulator {
    #[inline]
    fn clone(&self) -> Self {
        let ([r0, r1], (low, top)) = (*self.r, *self.h);
        Self {
            r: Secret::new([r0, r1]),
            h: Secret::new((low, top)),
        }
    }
}

impl Accumulator {
    /// h = 0, for a clamped r.
    pub(super) fn new(r: u128) -> Self {
        Self {
            r: Secret::new([low(r), low(r >> 64)]),
            h: Secret::new((0, 0)),
        }
    }

    /// Absorbs blocks, adding `high` times 2^128 to each.
    pub(super) fn blocks(&mut self, blocks: &[Block], high: u8) {
        let [r0, r1] = *self.r;
        let (mut h, mut top) = *self.h;
        for block in blocks {
            (h, top) = add_block(h, top, r0, r1, u128::from_le_bytes(*block), u64::from(high));
        }
        *self.h = (h, top);
    }

    /// Puts low + 2^128 top, below 2^130 + 2^66, in the place of h.
    pub(super) fn set(&mut self, low: u128, top: u64) {
        *self.h = (low, top);
    }

    /// h as its low 128 bits and the rest. It is below 2^130 + 2^66: where `top` is 4, the last carry left little.
    pub(super) fn value(&self) -> (u128, u64) {
        *self.h
    }
}

impl Accumulator {
    /// Adds the blocks of several messages to their sums under this key. A block waits for the one before in its own message
    /// only.
    pub(super) fn add_to_each(&self, sums: &mut [Number; MESSAGES_PER_BATCH], pairs: &[Pairs]) {
        let [r0, r1] = *self.r;
        for blocks in pairs.as_flattened().as_chunks::<MESSAGES_PER_BATCH>().0 {
            for ((h, top), block) in sums.iter_mut().zip(blocks) {
                (*h, *top) = add_block(*h, *top, r0, r1, u128::from_le_bytes(*block), 1);
            }
        }
    }
}

/// h + 2^128 top after one more block, to which `high` times 2^128 is added. The proof is about this function: so it
/// stays one where it is made.
#[cfg_attr(not(veriplex_proofs), inline(always))]
#[cfg_attr(veriplex_proofs, inline(never))]
fn add_block(h: u128, top: u64, r0: u64, r1: u64, block: u128, high: u64) -> (u128, u64) {
    let s1 = r1 + (r1 >> 2);
    let (sum, carry) = h.overflowing_add(block);
    let (h0, h1) = (low(sum), low(sum >> 64));
    let h2 = top + high + u64::from(carry); // at most 4 + 1 + 1

    // Below 2^126, 2^126 and 2^63: r0 and r1 have 60 bits, s1 is below 1.25 times 2^60.
    let d0 = product(h0, r0) + product(h1, s1);
    let d1 = product(h0, r1) + product(h1, r0) + u128::from(h2 * s1) + (d0 >> 64);
    let d2 = h2 * r0 + low(d1 >> 64);

    // The bits above bit 129 are added back times five.
    let (sum, carry) = ((d1 << 64) | u128::from(low(d0))).overflowing_add(u128::from(5 * (d2 >> 2)));
    (sum, (d2 & 3) + u64::from(carry))
}

#[allow(clippy::cast_possible_truncation)] // truncation is intended
const fn low(x: u128) -> u64 {
    x as u64
}

#[inline(always)]
fn product(x: u64, y: u64) -> u128 {
    u128::from(x) * u128::from(y)
}
