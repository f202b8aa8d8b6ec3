//! Groups of blocks side by side with a kernel, and what is left one by one.
//!
//! Where a group has four blocks, each of four lanes adds every fourth block to its sum and multiplies by r^4; for the
//! last four blocks, by r^4, r^3, r^2 or r. Then the sum of the lanes is the sum over all blocks. Where a group has
//! eight, a lane multiplies by r^8, and beside it, it multiplies the block that comes four later by r^4; for the last
//! eight blocks, by r^8 to r. `spec/cryptol/Poly1305.cry` has the same functions, with the same names.

use core::slice::from_ref;

use super::number::{Block, reduce};
use super::portable64;
use crate::backend::poly1305::limbs26::{BLOCKS, GROUP, LANES, Multipliers, Sums, Token};
use crate::base::wipe::{Secret, Wiped};

/// Fewer blocks are faster one by one: measured with AVX2, in groups of eight, and in an earlier kernel of four.
const FEWEST: usize = if GROUP == 8 { 64 } else { 128 };

const MASK: u64 = (1 << 26) - 1;

/// Five limbs of 26 bits. Between two groups a carry may make them larger, up to 27 bits.
type Limbs = [u64; 5];

/// From r to the power of the number of blocks in a group down to r, in words of 64 bits. Limbs would take 320 bytes
/// instead of 192, and a short message, which moves the state too, up to 6 ns more.
type Powers = [[u64; 3]; GROUP];

#[derive(Clone)]
pub(super) struct Accumulator {
    kernel: Token,
    one_by_one: portable64::Accumulator,
    /// The multipliers of a group's blocks. They are computed when they are needed first.
    powers: Option<Secret<Powers>>,
}

impl Accumulator {
    /// h = 0, for a clamped r and a message of about this many bytes.
    pub(super) fn new(kernel: Token, r: u128, bytes_hint: usize) -> Self {
        let one_by_one = portable64::Accumulator::new(r);
        let powers = (bytes_hint / size_of::<Block>() >= FEWEST).then(|| powers(&one_by_one));
        Self {
            kernel,
            one_by_one,
            powers,
        }
    }

    /// Absorbs blocks, adding `high` times 2^128 to each.
    #[inline] // a short message would pay for the call
    pub(super) fn blocks(&mut self, blocks: &[Block], high: u8) {
        if high == 1 && blocks.len() >= FEWEST {
            let powers = self.powers.get_or_insert_with(|| powers(&self.one_by_one));
            by_kernel(self.kernel, powers, &mut self.one_by_one, blocks);
        } else {
            self.one_by_one.blocks(blocks, high);
        }
    }

    /// The sum so far.
    pub(super) fn one_by_one(&self) -> &portable64::Accumulator {
        &self.one_by_one
    }

    /// Absorbs blocks into another sum under the same key, with the kernel if the powers have been computed.
    pub(super) fn add_to(&self, sum: &mut portable64::Accumulator, blocks: &[Block]) {
        match &self.powers {
            Some(powers) if blocks.len() >= FEWEST => by_kernel(self.kernel, powers, sum, blocks),
            _ => sum.blocks(blocks, 1),
        }
    }

    /// h as its low 128 bits and the rest.
    pub(super) fn value(&self) -> (u128, u64) {
        self.one_by_one.value()
    }
}

/// Absorbs full blocks: groups with the kernel, and what is left.
fn by_kernel(kernel: Token, powers: &Powers, sum: &mut portable64::Accumulator, blocks: &[Block]) {
    let (groups, rest) = blocks.as_chunks();
    if let Some((last, groups)) = groups.split_last() {
        let (low, top) = sum.value();
        let mut sums = Secret::new(limbs(low, top).map(|limb| [limb, 0, 0, 0]));
        let mut multipliers = Wiped([0; size_of::<Multipliers>()]);
        set_multipliers(&mut multipliers.0, powers, [0; LANES]);
        kernel.add_blocks(&mut sums, &multipliers.0, groups);
        set_multipliers(&mut multipliers.0, powers, BLOCKS);
        kernel.add_blocks(&mut sums, &multipliers.0, from_ref(last));
        let (low, top) = number(carry_limbs(sum_lanes(&sums)));
        sum.set(low, top);
    }
    sum.blocks(rest, 1);
}

fn powers(of_r: &portable64::Accumulator) -> Secret<Powers> {
    let mut powers = Secret::new([[0; 3]; GROUP]);
    let mut power = of_r.clone();
    power.set(1, 0);
    for words in powers.iter_mut().rev() {
        // (h + 0) r
        power.blocks(&[[0; 16]], 0);
        let (low, top) = power.value();
        let (low, top) = reduce(low, top);
        #[allow(clippy::cast_possible_truncation)] // that is the purpose
        {
            *words = [low as u64, (low >> 64) as u64, top];
        }
    }
    powers
}

/// For each lane the limbs of the multiplier of its first block and of its second one, if it has two, and five times
/// all but the first limb. `of_lanes` has the power for the first block; that for the second one comes four later.
#[inline(always)] // with what `of_lanes` is, no index is left
fn set_multipliers(multipliers: &mut Multipliers, powers: &Powers, of_lanes: [usize; LANES]) {
    let (rows, _) = multipliers.as_chunks_mut::<{ 8 * GROUP }>();
    for column in 0..GROUP {
        let mut set = |row: usize, limb: u64| {
            rows[row][8 * column..][..8].copy_from_slice(&limb.to_le_bytes());
        };
        let [low, high, top] = powers[of_lanes[column % LANES] + column / LANES * LANES];
        let power = limbs(u128::from(high) << 64 | u128::from(low), top);
        for (i, limb) in power.into_iter().enumerate() {
            set(i, limb);
            if i > 0 {
                set(4 + i, 5 * limb);
            }
        }
    }
}

/// Limbs of 26 bits, but for the last one.
fn limbs(low: u128, top: u64) -> Limbs {
    #[allow(clippy::cast_possible_truncation)] // the rest is masked
    let [x0, x1, x2, x3, x4] = [0, 26, 52, 78, 104].map(|shift| (low >> shift) as u64 & MASK);
    [x0, x1, x2, x3, x4 + (top << 24)]
}

/// The number with these limbs, as its low 128 bits and the rest.
fn number([x0, x1, x2, x3, x4]: Limbs) -> (u128, u64) {
    let low = u128::from(x0) + (u128::from(x1) << 26) + (u128::from(x2) << 52) + (u128::from(x3) << 78);
    let (low, carry) = low.overflowing_add(u128::from(x4) << 104);
    (low, (x4 >> 24) + u64::from(carry))
}

fn sum_lanes(sums: &Sums) -> Limbs {
    sums.map(|[a, b, c, d]| (a + b) + (c + d))
}

/// The same number modulo p, from limbs below 2^29. It is below 2^130 + 2^26.
fn carry_limbs([x0, x1, x2, x3, x4]: Limbs) -> Limbs {
    let (x1, h0) = (x1 + (x0 >> 26), x0 & MASK);
    let (x2, h1) = (x2 + (x1 >> 26), x1 & MASK);
    let (x3, h2) = (x3 + (x2 >> 26), x2 & MASK);
    let (x4, h3) = (x4 + (x3 >> 26), x3 & MASK);
    // The bits above bit 129 are added back times five.
    let u0 = h0 + 5 * (x4 >> 26);
    [u0 & MASK, h1 + (u0 >> 26), h2, h3, x4 & MASK]
}

#[cfg(test)]
mod tests {
    use super::super::cross_check::agree_with_portable64;
    use super::*;
    use crate::backend::dispatch::Dispatch;
    use crate::backend::poly1305::limbs26::Kernels;

    #[test]
    fn the_kernel_agrees_with_portable64() {
        for kernel in Kernels::detected() {
            for hint in [0, usize::MAX] {
                agree_with_portable64::<_, { FEWEST + 3 * GROUP + 3 }>(
                    |r| Accumulator::new(kernel, r, hint),
                    Accumulator::blocks,
                    Accumulator::value,
                );
            }
        }
    }

    /// Of limbs up to the limit: the number modulo p, in limbs of 26 bits but for the second.
    #[test]
    fn carried_limbs_have_the_same_number() {
        const MOST: u64 = (1 << 29) - 1;
        for x in [
            [0; 5],
            [MOST; 5],
            [MASK; 5],
            [0, 0, 0, 0, MOST],
            [MASK, MASK, MASK, MASK, MASK + 1],
        ] {
            let carried = carry_limbs(x);
            for (limb, most) in carried.into_iter().zip([MASK, MASK + 1, MASK, MASK, MASK]) {
                assert!(limb <= most, "{x:?}: {carried:?}");
            }
            // Both modulo p, from the highest limb on.
            let modulo = |limbs: Limbs| {
                limbs.into_iter().rev().fold((0_u128, 0_u64), |(low, top), limb| {
                    let wide = (top << 26) + u64::try_from(low >> 102).unwrap();
                    let (low, carry) = (low << 26).overflowing_add(u128::from(limb));
                    let wide = wide + u64::from(carry);
                    let (low, carry) = low.overflowing_add(u128::from(5 * (wide >> 2)));
                    reduce(low, (wide & 3) + u64::from(carry))
                })
            };
            assert_eq!(modulo(carried), modulo(x), "{x:?}");
        }
    }
}
