//! The portable backend: Simpira-1024 and the bulk operations in safe, constant-time Rust.
//!
//! The even-numbered blocks of the state form one bitsliced group, the odd-numbered ones the other; lane k
//! of a group is block 2k or 2k + 1. Every round then reads one group and writes the other, and source lane k
//! goes to destination lane k, k ^ 3 or k ^ 1, in turn.

mod aes;

use core::slice;

use crate::backend::simpira1024::{Block, ROUND_CONSTANTS, State};
use aes::Planes;

const ROUNDS: usize = 18;
const RATE: usize = size_of::<Block>();

/// The lane of the source that call j of a round reads, by round modulo 6.
const SOURCE_LANE: [[usize; 4]; 6] = [
    [0, 1, 2, 3],
    [0, 3, 1, 2],
    [3, 1, 0, 2],
    [2, 3, 0, 1],
    [2, 1, 3, 0],
    [1, 3, 2, 0],
];

/// The round constants, bitsliced: for each round the keys of its four calls, each in the lane of its source.
static KEYS: [Planes; ROUNDS] = keys();

const fn keys() -> [Planes; ROUNDS] {
    let mut keys = [[0; 8]; ROUNDS];
    let mut round = 0;
    while round < ROUNDS {
        let mut call = 0;
        while call < 4 {
            let lane = SOURCE_LANE[round % 6][call];
            let mut column = 0;
            while column < 4 {
                // The words of K(c) are below 256: only row 0 is set.
                let byte = ROUND_CONSTANTS[4 * round + call][column];
                let mut bit = 0;
                while bit < 8 {
                    keys[round][bit] |= ((byte >> bit & 1) as u64) << (4 * column + lane);
                    bit += 1;
                }
                column += 1;
            }
            call += 1;
        }
        round += 1;
    }
    keys
}

/// `destination ^= lanes(F(K, source))`.
#[inline(always)]
fn round(source: &Planes, destination: &mut Planes, key: &Planes, lanes: fn(u64) -> u64) {
    let mut x = *source;
    aes::round(&mut x);
    for (x, k) in x.iter_mut().zip(key) {
        *x ^= k;
    }
    aes::round(&mut x);
    for (d, x) in destination.iter_mut().zip(x) {
        *d ^= lanes(x);
    }
}

/// Lane k to lane k ^ 1.
#[inline(always)]
fn swap_1(x: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    (x & EVEN) << 1 | (x >> 1) & EVEN
}

/// Lane k to lane k ^ 3.
#[inline(always)]
fn swap_3(x: u64) -> u64 {
    const LOW: u64 = 0x3333_3333_3333_3333;
    let x = swap_1(x);
    (x & LOW) << 2 | (x >> 2) & LOW
}

#[inline(never)]
pub(crate) fn permute(state: &mut State) {
    #[cfg(all(test, feature = "std"))]
    record::input(state);
    let mut even = aes::pack(state, 0);
    let mut odd = aes::pack(state, 1);
    for keys in KEYS.chunks_exact(6) {
        round(&even, &mut odd, &keys[0], |x| x);
        round(&odd, &mut even, &keys[1], swap_3);
        round(&even, &mut odd, &keys[2], swap_1);
        round(&odd, &mut even, &keys[3], |x| x);
        round(&even, &mut odd, &keys[4], swap_3);
        round(&odd, &mut even, &keys[5], swap_1);
    }
    aes::unpack(&even, state, 0);
    aes::unpack(&odd, state, 1);
}

/// The inputs to the permutation in this thread, for the comparison with the model in `proofs/rocq`.
#[cfg(test)]
#[cfg(feature = "std")]
pub(crate) mod record {
    use core::cell::RefCell;
    use std::vec::Vec;

    use crate::backend::simpira1024::State;

    std::thread_local!(static INPUTS: RefCell<Vec<State>> = const { RefCell::new(Vec::new()) });

    pub(crate) fn input(state: &State) {
        INPUTS.with_borrow_mut(|inputs| inputs.push(*state));
    }

    /// The inputs since the last call.
    pub(crate) fn take() -> Vec<State> {
        INPUTS.take()
    }
}

/// Pads a full block and permutes.
#[inline]
fn permute_full(state: &mut State) {
    state[RATE + 1] ^= 0x81;
    permute(state);
}

#[inline(never)]
pub(crate) fn absorb_blocks(state: &mut State, blocks: &[Block]) {
    for block in blocks {
        for (s, b) in state.iter_mut().zip(block) {
            *s ^= b;
        }
        permute_full(state);
    }
}

#[inline(never)]
pub(crate) fn encrypt_blocks(state: &mut State, blocks: &mut [Block]) {
    for block in blocks {
        for (s, b) in state.iter_mut().zip(block) {
            *s ^= *b;
            *b = *s;
        }
        permute_full(state);
    }
}

#[inline(never)]
pub(crate) fn decrypt_blocks(state: &mut State, blocks: &mut [Block]) {
    for block in blocks {
        for (s, b) in state.iter_mut().zip(block) {
            let c = *b;
            *b ^= *s;
            *s = c;
        }
        permute_full(state);
    }
}

/// One block at a time: copying costs nothing compared with the permutation.
pub(crate) fn encrypt_blocks_into(state: &mut State, input: &[Block], output: &mut [Block]) {
    for (input, output) in input.iter().zip(output) {
        *output = *input;
        encrypt_blocks(state, slice::from_mut(output));
    }
}

pub(crate) fn decrypt_blocks_into(state: &mut State, input: &[Block], output: &mut [Block]) {
    for (input, output) in input.iter().zip(output) {
        *output = *input;
        decrypt_blocks(state, slice::from_mut(output));
    }
}

#[inline(never)]
pub(crate) fn squeeze_blocks(state: &mut State, blocks: &mut [Block]) {
    for block in blocks {
        block.copy_from_slice(&state[..RATE]);
        state[..RATE].fill(0);
        permute_full(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The round function as in the specification, on bytes, with the S-box from its definition.
    fn reference(state: &State) -> State {
        fn gf_mul(a: u8, b: u8) -> u8 {
            (0..8)
                .rev()
                .fold(0, |p: u8, i| (p << 1) ^ ((p >> 7) * 0x1b) ^ ((b >> i & 1) * a))
        }
        fn sub(x: u8) -> u8 {
            let inverse = (0..254).fold(1, |p, _| gf_mul(p, x));
            (0..5).fold(0x63, |y, i| y ^ inverse.rotate_left(i))
        }
        fn aesenc(x: [u8; 16], key: [u8; 16]) -> [u8; 16] {
            // ShiftRows: row r of column c comes from column c + r.
            let shifted = |c: usize, r: usize| sub(x[4 * ((c + r) % 4) + r]);
            core::array::from_fn(|i| {
                let (c, r) = (i / 4, i % 4);
                let [a0, a1, a2, a3] = [0, 1, 2, 3].map(|k| shifted(c, (r + k) % 4));
                gf_mul(a0, 2) ^ gf_mul(a1, 3) ^ a2 ^ a3 ^ key[i]
            })
        }
        let s = [0, 1, 6, 5, 4, 3];
        let t = [2, 7];
        let mut x: [[u8; 16]; 8] = core::array::from_fn(|i| core::array::from_fn(|j| state[16 * i + j]));
        let mut c = 1;
        for r in 0..ROUNDS {
            let old = x;
            for (d, s) in [
                (s[(r + 1) % 6], s[r % 6]),
                (s[(r + 5) % 6], t[r % 2]),
                (s[(r + 3) % 6], s[(r + 4) % 6]),
                (t[(r + 1) % 2], s[(r + 2) % 6]),
            ] {
                let mut key = [0; 16];
                for (i, k) in key.iter_mut().step_by(4).zip([0x00, 0x10, 0x20, 0x30]) {
                    *i = k ^ 8 ^ c;
                }
                let f = aesenc(aesenc(old[s], key), [0; 16]);
                for (d, f) in x[d].iter_mut().zip(f) {
                    *d ^= f;
                }
                c += 1;
            }
        }
        core::array::from_fn(|i| x[i / 16][i % 16])
    }

    #[test]
    fn permute_is_the_specified_round_function() {
        let mut state: State = core::array::from_fn(|i| u8::try_from(i).unwrap());
        for _ in 0..20 {
            let expected = reference(&state);
            permute(&mut state);
            assert_eq!(state, expected);
        }
    }
}
