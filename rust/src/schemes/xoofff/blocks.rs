//! What is done with any number of whole blocks: the functions that kernels replace.
//!
//! Both roll functions are serial, the permutations between are not. In the order a0 a4 a8 a1 a5 a9 ... the words of
//! a state are a shift register: a roll drops the first and appends one. So the words of n states in a row, each
//! rolled from the one before, are n + 12 words, and word i of all these states is n neighbours of them.

use core::array::from_fn;

use crate::backend::dispatch::{self, Candidate, Dispatch, Primitive, checksum, input};
use crate::backend::xoofff::{CANDIDATES, FEWEST, Kernels};
use crate::primitives::xoodoo::{STATE_LEN, State, Words, load, permute, store, xoodoo};

pub(super) const BLOCK_LEN: usize = STATE_LEN;
pub(super) type Block = State;

/// So many blocks at a time.
const INTERLEAVED: usize = 8;
/// Rounds of the permutation, everywhere in Xoofff.
pub(super) const ROUNDS: usize = 6;

/// The next word of a shift register, from its first three.
type Feedback = fn(u32, u32, u32) -> u32;

/// That of the input masks (`roll_c`).
const MASK: Feedback = |u0, u1, _| u0 ^ (u0 << 13) ^ u1.rotate_left(3);
/// That of the output states (`roll_e`).
const OUTPUT: Feedback = |u0, u1, u2| u0.rotate_left(5) ^ u1.rotate_left(13) ^ (u1 & u2) ^ 7;

/// Where word i of a state stands in its shift register.
const fn place(i: usize) -> usize {
    3 * (i % 4) + i / 4
}

/// A shift register and what it gives in `INTERLEAVED` steps.
struct Register([u32; 12 + INTERLEAVED]);

impl Register {
    /// From this state on.
    #[inline(always)]
    fn run(state: &State, feedback: Feedback) -> Self {
        let mut u = [0; 12 + INTERLEAVED];
        for (i, word) in load(state).into_iter().enumerate() {
            u[place(i)] = word;
        }
        for n in 0..INTERLEAVED {
            u[n + 12] = feedback(u[n], u[n + 1], u[n + 2]);
        }
        Self(u)
    }

    /// Word i of the states before each step.
    #[inline(always)]
    fn words(&self, i: usize) -> Words<INTERLEAVED> {
        from_fn(|j| self.0[place(i) + j])
    }

    /// The state after the steps.
    #[inline(always)]
    fn last(&self) -> State {
        store(from_fn(|i| self.0[place(i) + INTERLEAVED]))
    }
}

/// One step of the mask.
pub(super) fn roll(mask: &mut State) {
    step(mask, MASK);
}

/// One step of a shift register. Planes move whole, and the words of the first become those of the last.
fn step(state: &mut State, feedback: Feedback) {
    let words = load(state);
    let last = feedback(words[0], words[4], words[8]);
    let old = *state;
    state[..32].copy_from_slice(&old[16..]);
    state[32..44].copy_from_slice(&old[4..16]);
    state[44..].copy_from_slice(&last.to_le_bytes());
}

type Token = dispatch::Token<Kernels>;

impl Dispatch for Kernels {
    const PRIMITIVE: Primitive = Primitive::Xoofff;
    const CANDIDATES: &[Candidate<Self>] = &CANDIDATES;
    const KNOWN: u64 = 0x040a_4d86_2f68_8ef7;

    /// Of groups and a rest for any level.
    fn answers(kernels: Option<Token>) -> u64 {
        let [mut mask, mut accumulator, mut output, of_output] = [1, 2, 3, 4].map(input);
        let mut blocks: [Block; 34] = from_fn(|i| input(5 + i as u64));
        let whole = kernels.map_or(0, |token| token.whole(blocks.len()));
        let (groups, rest) = blocks.split_at_mut(whole);
        if let Some(token) = kernels {
            token.absorb_blocks(&mut mask, &mut accumulator, groups);
            token.squeeze_blocks(&mut output, &of_output, groups);
        }
        absorb_portably(&mut mask, &mut accumulator, rest);
        squeeze_portably(&mut output, &of_output, rest);
        let outputs: [&[u8]; 4] = [&mask, &accumulator, &output, blocks.as_flattened()];
        outputs.into_iter().fold(0, checksum)
    }
}

/// Per block: XOR the mask into it; permute; XOR the result into the accumulator; roll the mask.
#[inline(never)]
pub(super) fn absorb_blocks(mask: &mut State, accumulator: &mut State, mut blocks: &[Block]) {
    if blocks.len() >= FEWEST {
        for token in Kernels::all() {
            let (groups, rest) = blocks.split_at(token.whole(blocks.len()));
            if !groups.is_empty() {
                token.absorb_blocks(mask, accumulator, groups);
            }
            blocks = rest;
        }
    }
    absorb_portably(mask, accumulator, blocks);
}

fn absorb_portably(mask: &mut State, accumulator: &mut State, blocks: &[Block]) {
    let (groups, rest) = blocks.as_chunks();
    for group in groups {
        absorb_group(mask, accumulator, group);
    }
    for block in rest {
        let mut state = xor(block, mask);
        roll(mask);
        xoodoo::<ROUNDS>(&mut state);
        *accumulator = xor(accumulator, &state);
    }
}

fn xor(a: &State, b: &State) -> State {
    from_fn(|i| a[i] ^ b[i])
}

#[inline(always)]
fn absorb_group(mask: &mut State, accumulator: &mut State, blocks: &[Block; INTERLEAVED]) {
    let masks = Register::run(mask, MASK);
    *mask = masks.last();
    let blocks: [[u32; 12]; INTERLEAVED] = from_fn(|j| load(&blocks[j]));
    let mut states: [Words<INTERLEAVED>; 12] = from_fn(|i| {
        let mask = masks.words(i);
        from_fn(|j| blocks[j][i] ^ mask[j])
    });
    permute::<INTERLEAVED, ROUNDS>(&mut states);
    let before = load(accumulator);
    *accumulator = store(from_fn(|i| {
        states[i].iter().fold(before[i], |sum, word| sum ^ word)
    }));
}

/// Per block: the permutation of the output state, XOR the mask; roll the output state.
#[inline(never)]
pub(super) fn squeeze_blocks(output: &mut State, mask: &State, mut blocks: &mut [Block]) {
    if blocks.len() >= FEWEST {
        for token in Kernels::all() {
            let (groups, rest) = blocks.split_at_mut(token.whole(blocks.len()));
            if !groups.is_empty() {
                token.squeeze_blocks(output, mask, groups);
            }
            blocks = rest;
        }
    }
    squeeze_portably(output, mask, blocks);
}

fn squeeze_portably(output: &mut State, mask: &State, blocks: &mut [Block]) {
    let (groups, rest) = blocks.as_chunks_mut();
    for group in groups {
        squeeze_group(output, mask, group);
    }
    for block in rest {
        let mut state = *output;
        step(output, OUTPUT);
        xoodoo::<ROUNDS>(&mut state);
        *block = xor(&state, mask);
    }
}

#[inline(always)]
fn squeeze_group(output: &mut State, mask: &State, blocks: &mut [Block; INTERLEAVED]) {
    let outputs = Register::run(output, OUTPUT);
    *output = outputs.last();
    let mut states: [Words<INTERLEAVED>; 12] = from_fn(|i| outputs.words(i));
    permute::<INTERLEAVED, ROUNDS>(&mut states);
    let mask = load(mask);
    for (j, block) in blocks.iter_mut().enumerate() {
        *block = store(from_fn(|i| states[i][j] ^ mask[i]));
    }
}

#[cfg(all(test, veriplex_kernels))]
mod tests {
    extern crate std;

    use super::*;

    /// Every number of blocks up to three groups and a half, from states without a pattern.
    #[test]
    fn kernels_agree_with_portable() {
        const MOST: usize = 56;
        let mut last = 1_u32;
        let mut random = || {
            last ^= last << 13;
            last ^= last >> 17;
            last ^= last << 5;
            last.to_le_bytes()[0]
        };
        let mut block = || -> Block { from_fn(|_| random()) };
        let input: [Block; MOST] = from_fn(|_| block());
        for token in Kernels::detected() {
            for n in 0..=MOST {
                let (mask, accumulator) = (block(), block());
                let whole = token.whole(n);
                let (mut m, mut a) = (mask, accumulator);
                token.absorb_blocks(&mut m, &mut a, &input[..whole]);
                absorb_portably(&mut m, &mut a, &input[whole..n]);
                let (mut expected_m, mut expected_a) = (mask, accumulator);
                absorb_portably(&mut expected_m, &mut expected_a, &input[..n]);
                assert!((m, a) == (expected_m, expected_a), "{n} blocks of input");

                let state = block();
                let (mut s, mut output) = (state, input);
                token.squeeze_blocks(&mut s, &mask, &mut output[..whole]);
                squeeze_portably(&mut s, &mask, &mut output[whole..n]);
                let (mut expected_s, mut expected) = (state, input);
                squeeze_portably(&mut expected_s, &mask, &mut expected[..n]);
                assert!((s, output) == (expected_s, expected), "{n} blocks of output");
            }
        }
    }

    #[test]
    fn the_self_test_sees_each_wrong_operation() {
        use dispatch::{idle, would_serve};

        for token in Kernels::detected() {
            assert!(would_serve(*token));
            let absorb_blocks = idle!(*mut u8, *const u8, usize, *const u8);
            assert!(
                !would_serve(Kernels {
                    absorb_blocks,
                    ..*token
                }),
                "{}",
                token.name()
            );
            let squeeze_blocks = idle!(*mut u8, *mut u8, usize, *const u8);
            assert!(
                !would_serve(Kernels {
                    squeeze_blocks,
                    ..*token
                }),
                "{}",
                token.name()
            );
        }
    }

    #[test]
    fn kernels_take_more_groups_than_16_bits_count() {
        let start = || ([3; BLOCK_LEN], [5; BLOCK_LEN]);
        for token in Kernels::detected() {
            let lanes = (1..=64).find(|&n| token.whole(n) == n).unwrap();
            let mut blocks = std::vec![[0; BLOCK_LEN]; lanes * ((1 << 16) + 1)];
            let (mut output, mask) = start();
            token.squeeze_blocks(&mut output, &mask, &mut blocks);
            let mut expected = std::vec![[0; BLOCK_LEN]; blocks.len()];
            let (mut expected_output, mask) = start();
            squeeze_portably(&mut expected_output, &mask, &mut expected);
            assert!(
                (output, &blocks) == (expected_output, &expected),
                "{lanes} at once: output"
            );

            let (mut mask, mut accumulator) = start();
            token.absorb_blocks(&mut mask, &mut accumulator, &blocks);
            let (mut expected_mask, mut expected) = start();
            absorb_portably(&mut expected_mask, &mut expected, &blocks);
            assert!(
                (mask, accumulator) == (expected_mask, expected),
                "{lanes} at once: input"
            );
        }
    }
}
