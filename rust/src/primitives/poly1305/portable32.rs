//! h and r in 26-bit limbs, for CPUs with 64-bit products.

use super::number::Block;
use crate::base::wipe::Secret;

const MASK: u32 = (1 << 26) - 1;

#[derive(Clone)]
pub(crate) struct Accumulator {
    /// 5 r1, 5 r2, 5 r3, 5 r4, r0, r1, r2, r3, r4: the factor of limb j of h in the sum for limb i is at 4 + i - j.
    r: Secret<[u32; 9]>,
    /// h0 and h2 to h4 have 26 bits. h1 may be larger by a carry, which is below 2^11.
    h: Secret<[u32; 5]>,
}

impl Accumulator {
    /// h = 0, for a clamped r.
    pub(super) fn new(r: u128) -> Self {
        let [r0, r1, r2, r3, r4] = limbs(r);
        Self {
            r: Secret::new([5 * r1, 5 * r2, 5 * r3, 5 * r4, r0, r1, r2, r3, r4]),
            h: Secret::new([0; 5]),
        }
    }

    /// Absorbs blocks, adding `high` times 2^128 to each.
    pub(super) fn blocks(&mut self, blocks: &[Block], high: u8) {
        let mut h = *self.h;
        for block in blocks {
            add_block(&mut h, &self.r, u128::from_le_bytes(*block), u32::from(high));
        }
        *self.h = h;
    }

    /// h as its low 128 bits and the rest; h is below 2^130 + 2^37.
    pub(super) fn value(&self) -> (u128, u64) {
        let [h0, h1, h2, h3, h4] = self.h.map(u128::from);
        let (sum, carry) = (h0 + (h1 << 26) + (h2 << 52) + (h3 << 78)).overflowing_add(h4 << 104);
        (sum, u64::from(self.h[4] >> 24) + u64::from(carry))
    }
}

/// Adds a block, and `high` times 2^128, and multiplies. The proof is about this function: so it stays one where it is
/// made.
#[cfg_attr(not(veriplex_proofs), inline(always))]
#[cfg_attr(veriplex_proofs, inline(never))]
fn add_block(h: &mut [u32; 5], r: &[u32; 9], block: u128, high: u32) {
    let r = r.map(u64::from);
    let m = limbs(block);
    for i in 0..5 {
        h[i] += m[i];
    }
    h[4] += high << 24;

    // Factors below 2^27.1 and 2^28.4: a sum of five products, with the carry, is below 2^59.
    let mut carry = 0;
    let mut next = [0; 5];
    for i in 0..5 {
        let sum = carry + (0..5).map(|j| u64::from(h[j]) * r[4 + i - j]).sum::<u64>();
        (next[i], carry) = cut(sum);
    }
    // The bits above bit 129 are added back times five.
    (next[0], carry) = cut(u64::from(next[0]) + 5 * carry);
    (h[0], h[1]) = (next[0], next[1] + low(carry));
    h[2..].copy_from_slice(&next[2..]);
}

/// The limbs of 26 bits.
fn limbs(x: u128) -> [u32; 5] {
    #[allow(clippy::cast_possible_truncation)] // the rest is masked
    [0, 26, 52, 78, 104].map(|shift| (x >> shift) as u32 & MASK)
}

/// The low limb, and the carry.
const fn cut(x: u64) -> (u32, u64) {
    (low(x) & MASK, x >> 26)
}

#[allow(clippy::cast_possible_truncation)] // truncation is intended
const fn low(x: u64) -> u32 {
    x as u32
}
