//! Sixteen blocks side by side with a kernel, and what fills no group one by one, or as the end of a group.
//!
//! Each of eight lanes adds every sixteenth block to its sum and multiplies by r^16; beside it, it multiplies the block that
//! comes eight later by r^8. For the last sixteen blocks it multiplies by r^16 to r instead. Then the sum of the lanes is the
//! sum over all blocks. `spec/cryptol/Poly1305.cry` has the same functions, with 44 in their names.

use core::ops::Range;
use core::slice::from_ref;

use super::number::{Block, ZERO_BLOCK_CANCEL, reduce};
use super::number::{Number, Pairs};
use super::portable64;
use crate::backend::poly1305::limbs44::{BLOCKS, GROUP, LANES, Multipliers, Sums, Token};
use crate::base::wipe::{Secret, Wiped};

/// Fewer blocks are faster one by one.
const FEWEST: usize = 64;

const MASK: u64 = (1 << 44) - 1;
const LAST_MASK: u64 = (1 << 42) - 1;

/// Limbs of 44, 44 and 42 bits. Between two groups a carry may make the second one larger, up to 45 bits.
type Limbs = [u64; 3];

#[derive(Clone)]
pub(super) struct Accumulator {
    kernel: Token,
    one_by_one: portable64::Accumulator,
}

impl Accumulator {
    /// h = 0, for a clamped r.
    pub(super) fn new(kernel: Token, r: u128) -> Self {
        Self {
            kernel,
            one_by_one: portable64::Accumulator::new(r),
        }
    }

    /// Absorbs blocks, adding `high` times 2^128 to each.
    #[inline] // a short message would pay for the call
    pub(super) fn blocks(&mut self, blocks: &[Block], high: u8) {
        if high == 1 && blocks.len() >= FEWEST {
            // They are not kept: the state would be much longer to move.
            let mut powers = Powers::zero();
            powers.set(&self.one_by_one);
            let of_last = &powers.of_last;
            by_kernel(self.kernel, &powers, of_last, [&mut self.one_by_one], [blocks]);
        } else {
            self.one_by_one.blocks(blocks, high);
        }
    }

    /// The sum so far.
    pub(super) fn one_by_one(&self) -> &portable64::Accumulator {
        &self.one_by_one
    }

    /// What [`Accumulator::add_to`] needs.
    pub(super) fn powers(&self) -> PowersOfSectors {
        let mut powers = PowersOfSectors {
            powers: Powers::zero(),
            of_last_but_one: Wiped([0; size_of::<Multipliers>()]),
        };
        powers.powers.set(&self.one_by_one);
        set_last(
            &mut powers.of_last_but_one.0,
            &powers_of(&self.one_by_one),
            GROUP - 1,
        );
        powers
    }

    /// Absorbs blocks into other sums under the same key, as many into each: all but the last one, if it is `spare`.
    pub(super) fn add_to<const N: usize>(
        &self,
        powers: &PowersOfSectors,
        sums: [&mut portable64::Accumulator; N],
        messages: [&[Block]; N],
        spare: bool,
    ) {
        let enough = messages.iter().all(|blocks| blocks.len() >= FEWEST);
        let whole = messages.iter().all(|blocks| blocks.len().is_multiple_of(GROUP));
        if enough && whole && spare {
            return by_kernel(
                self.kernel,
                &powers.powers,
                &powers.of_last_but_one,
                sums,
                messages,
            );
        }
        let messages = messages.map(|blocks| &blocks[..blocks.len() - usize::from(spare)]);
        if enough {
            by_kernel(
                self.kernel,
                &powers.powers,
                &powers.powers.of_last,
                sums,
                messages,
            );
        } else {
            for (sum, blocks) in sums.into_iter().zip(messages) {
                sum.blocks(blocks, 1);
            }
        }
    }

    /// h as its low 128 bits and the rest.
    pub(super) fn value(&self) -> (u128, u64) {
        self.one_by_one.value()
    }
}

/// Absorbs full blocks, as many into each sum under the same key, in groups with the kernel. What fills no group comes first:
/// one by one, or as the end of a group.
///
/// Calls about different messages follow each other, because they need not wait for each other's results.
fn by_kernel<const N: usize>(
    kernel: Token,
    powers: &Powers,
    of_last: &Wiped<Multipliers>,
    mut of_messages: [&mut portable64::Accumulator; N],
    messages: [&[Block]; N],
) {
    let mut all_sums = SumsOf([[[0; LANES]; 3]; N]);
    let split = messages.map(<[Block]>::as_rchunks);
    for ((sum, sums), (some, groups)) in of_messages.iter_mut().zip(&mut all_sums.0).zip(split) {
        let missing = GROUP - some.len();
        if groups.is_empty() || missing >= LANES {
            sum.blocks(some, 1);
            let (low, top) = sum.value();
            set_lanes(sums, 0..1, low, top);
            continue;
        }
        set_lanes(sums, 0..missing, ZERO_BLOCK_CANCEL.0, ZERO_BLOCK_CANCEL.1);
        let (low, top) = sum.value();
        set_lanes(sums, missing..missing + 1, low, top);
        let mut group = Wiped([0; GROUP * size_of::<Block>()]);
        let filled = group.0.as_chunks_mut().0;
        filled[missing..].copy_from_slice(some);
        kernel.add_blocks(sums, &powers.of_loop.0, filled.as_chunks().0);
    }
    for (sums, (_, groups)) in all_sums.0.iter_mut().zip(split) {
        if let Some((_, groups)) = groups.split_last() {
            kernel.add_blocks(sums, &powers.of_loop.0, groups);
        }
    }
    for ((sum, sums), (_, groups)) in of_messages.iter_mut().zip(&mut all_sums.0).zip(split) {
        if let Some(last) = groups.last() {
            kernel.add_blocks(sums, &of_last.0, from_ref(last));
            let (low, top) = number(carry_limbs(sum_lanes(sums)));
            sum.set(low, top);
        }
    }
}

/// The sums of the lanes, for each of several messages. Wiped at once.
struct SumsOf<const N: usize>([Sums; N]);

impl<const N: usize> Drop for SumsOf<N> {
    fn drop(&mut self) {
        self.0 = [[[0; LANES]; 3]; N];
        zeroize::optimization_barrier(self);
    }
}

/// Puts a number into the sum of each lane that has one of these blocks of a group as its first.
fn set_lanes(sums: &mut Sums, blocks: Range<usize>, low: u128, top: u64) {
    for (lane, block) in BLOCKS.into_iter().enumerate() {
        if blocks.contains(&block) {
            set_lane(sums, lane, low, top);
        }
    }
}

fn set_lane(sums: &mut Sums, lane: usize, low: u128, top: u64) {
    for (row, limb) in sums.iter_mut().zip(limbs(low, top)) {
        row[lane] = limb;
    }
}

/// The multipliers of the last group, and of the others: r^16 to r, and r^16 and r^8.
#[derive(Clone)]
pub(super) struct Powers {
    of_last: Wiped<Multipliers>,
    of_loop: Wiped<Multipliers>,
}

impl Powers {
    fn zero() -> Self {
        let [of_last, of_loop] = [const { Wiped([0; size_of::<Multipliers>()]) }; 2];
        Self { of_last, of_loop }
    }

    /// Computes them where they are used, because to move what was just written takes longer than to compute it.
    #[inline(never)]
    fn set(&mut self, of_r: &portable64::Accumulator) {
        let powers = powers_of(of_r);
        set_last(&mut self.of_last.0, &powers, GROUP);
        let [first, second] = [GROUP, LANES].map(|power| words(powers[power - 1]));
        fill(&mut self.of_loop.0, &first, &second);
    }
}

/// Those of messages that have a block after them in their buffers, as in sectors.
#[derive(Clone)]
pub(super) struct PowersOfSectors {
    powers: Powers,
    /// Of the last group, of which the last block does not count: r^15 to r, and 0.
    of_last_but_one: Wiped<Multipliers>,
}

/// r, r^2, ... to r^16.
fn powers_of(of_r: &portable64::Accumulator) -> Secret<[Limbs; GROUP]> {
    let mut powers = Secret::new([[0; 3]; GROUP]);
    let mut power = of_r.clone();
    power.set(1, 0);
    for limbs_of_power in powers.iter_mut() {
        *limbs_of_power = next_power(&mut power);
    }
    powers
}

/// Sets the multipliers of the last group, which has n blocks: r^n to r. Those of other blocks stay as they are.
fn set_last(multipliers: &mut Multipliers, powers: &[Limbs; GROUP], n: usize) {
    let rows = multipliers.as_chunks_mut::<{ 8 * GROUP }>().0;
    for (lane, block) in BLOCKS.into_iter().enumerate() {
        for (column, block) in [(lane, block), (LANES + lane, LANES + block)] {
            if block < n {
                for (row, word) in rows.iter_mut().zip(words(powers[n - 1 - block])) {
                    row[8 * column..][..8].copy_from_slice(&word);
                }
            }
        }
    }
}

/// Multiplies by r, and returns the limbs.
fn next_power(power: &mut portable64::Accumulator) -> Limbs {
    // (h + 0) r
    power.blocks(&[[0; 16]], 0);
    let (low, top) = power.value();
    let (low, top) = reduce(low, top);
    limbs(low, top)
}

/// The words of a multiplier.
fn words([x0, x1, x2]: Limbs) -> [[u8; 8]; 5] {
    [x0, x1, x2, 20 * x1, 20 * x2].map(u64::to_le_bytes)
}

/// Gives every lane these multipliers, for its first block and for its second one.
fn fill(multipliers: &mut Multipliers, first: &[[u8; 8]; 5], second: &[[u8; 8]; 5]) {
    let rows = multipliers.as_chunks_mut::<{ 8 * GROUP }>().0;
    for ((row, first), second) in rows.iter_mut().zip(first).zip(second) {
        let (columns, _) = row.as_chunks_mut();
        columns[..LANES].fill(*first);
        columns[LANES..].fill(*second);
    }
}

/// Two multipliers of every lane: r^2 for its first block of a group, r for its second one. Then a lane has a message of its
/// own: see [`Pairs`].
#[derive(Clone)]
pub(crate) struct PerMessage {
    kernel: Token,
    multipliers: Wiped<Multipliers>,
}

impl PerMessage {
    pub(super) fn new(of_r: &Accumulator) -> Self {
        let mut multipliers = Wiped([0; size_of::<Multipliers>()]);
        let mut power = of_r.one_by_one.clone();
        power.set(1, 0);
        let [first_power, square] = [(); 2].map(|()| Secret::new(words(next_power(&mut power))));
        fill(&mut multipliers.0, &square, &first_power);
        Self {
            kernel: of_r.kernel,
            multipliers,
        }
    }

    /// Adds the blocks of several messages to their sums.
    pub(super) fn add_to_each(&self, numbers: &mut [Number; LANES], pairs: &[Pairs]) {
        let mut sums = SumsOf([[[0; LANES]; 3]]);
        for (lane, message) in BLOCKS.into_iter().enumerate() {
            let (low, top) = numbers[message];
            set_lane(&mut sums.0[0], lane, low, top);
        }
        self.kernel.add_blocks(&mut sums.0[0], &self.multipliers.0, pairs);
        for (lane, message) in BLOCKS.into_iter().enumerate() {
            numbers[message] = number(carry_limbs(sums.0[0].each_ref().map(|row| row[lane])));
        }
    }
}

/// Limbs of 44 bits, but for the last one.
fn limbs(low: u128, top: u64) -> Limbs {
    #[allow(clippy::cast_possible_truncation)] // the rest is masked
    let [x0, x1, x2] = [0, 44, 88].map(|shift| (low >> shift) as u64 & MASK);
    [x0, x1, x2 + (top << 40)]
}

/// The number with these limbs, as its low 128 bits and the rest.
fn number([x0, x1, x2]: Limbs) -> (u128, u64) {
    let low = u128::from(x0) + (u128::from(x1) << 44);
    let (low, carry) = low.overflowing_add(u128::from(x2) << 88);
    (low, (x2 >> 40) + u64::from(carry))
}

fn sum_lanes(sums: &Sums) -> Limbs {
    sums.map(|[a, b, c, d, e, f, g, h]| ((a + b) + (c + d)) + ((e + f) + (g + h)))
}

/// The same number modulo p, from limbs below 2^48. It is below 2^130 + 2^45.
fn carry_limbs([x0, x1, x2]: Limbs) -> Limbs {
    let (x1, h0) = (x1 + (x0 >> 44), x0 & MASK);
    let (x2, h1) = (x2 + (x1 >> 44), x1 & MASK);
    // The bits above bit 129 are added back times five.
    let u0 = h0 + 5 * (x2 >> 42);
    [u0 & MASK, h1 + (u0 >> 44), x2 & LAST_MASK]
}

#[cfg(test)]
mod tests {
    use super::super::cross_check::agree_with_portable64;
    use super::*;
    use crate::backend::dispatch::Dispatch;
    use crate::backend::poly1305::limbs44::Kernels;

    #[test]
    fn the_kernel_agrees_with_portable64() {
        for kernel in Kernels::detected() {
            agree_with_portable64::<_, { FEWEST + 2 * GROUP + 3 }>(
                |r| Accumulator::new(kernel, r),
                Accumulator::blocks,
                Accumulator::value,
            );
        }
    }

    #[cfg(all(feature = "adiantum", feature = "std", target_os = "linux"))]
    #[test]
    fn sums_are_wiped() {
        crate::base::wipe::assert_wiped_on_drop(SumsOf([[[u64::MAX; LANES]; 3]; 8]));
    }

    /// Of limbs up to the limit: the number modulo p, in limbs of 44, 44 and 42 bits but for the second.
    #[test]
    fn carried_limbs_have_the_same_number() {
        const MOST: u64 = (1 << 48) - 1;
        // 2^88 (2^42 x + y) is 2^88 y + 5 x modulo p.
        let modulo = |[x0, x1, x2]: Limbs| {
            let (low, top) = number([x0, 0, x2 & LAST_MASK]);
            let (low, carry) = low.overflowing_add((u128::from(x1) << 44) + u128::from(5 * (x2 >> 42)));
            reduce(low, top + u64::from(carry))
        };
        for x in [
            [0; 3],
            [MOST; 3],
            [MASK, MASK, LAST_MASK],
            [0, 0, MOST],
            [MASK, MASK, LAST_MASK + 1],
            [MOST, 0, 0],
            [0, MOST, 0],
        ] {
            let carried = carry_limbs(x);
            for (limb, most) in carried.into_iter().zip([MASK, MASK + 1, LAST_MASK]) {
                assert!(limb <= most, "{x:?}: {carried:?}");
            }
            assert_eq!(modulo(carried), modulo(x), "{x:?}");
        }
    }
}
