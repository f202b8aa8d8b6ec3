//! Simpira v2 with b = 8: a permutation of 1024 bits (Gueron and Mouha, eprint 2016/122).
//!
//! Cryptol twin: `spec/cryptol/Simpira1024.cry`. Keep the two in step, definition by definition.

use crate::aes::{Block, aes_round};
use core::array::from_fn;

/// The state of the permutation, x0 || x1 || ... || x7.
pub type State = [u8; 128];

/// The constant of the c-th F: the words 16 * i ^ b ^ c for i = 0..3, little-endian (section 3).
pub fn round_constant(c: u32) -> Block {
    let words: [[u8; 4]; 4] = [0_u32, 1, 2, 3].map(|i| ((16 * i) ^ 8 ^ c).to_le_bytes());
    from_fn(|i| words[i / 4][i % 4])
}

/// F: two AES rounds, keyed by the constant and by zero (section 3).
pub fn feistel(c: u32, x: Block) -> Block {
    aes_round(aes_round(x, round_constant(c)), [0; 16])
}

/// Which blocks round r reads and which it changes, as (from, to): the general construction for b >= 6 (section 3).
pub fn edges(r: u8) -> [(usize, usize); 4] {
    let r = usize::from(r);
    let s = [0, 1, 6, 5, 4, 3];
    let t = [2, 7];
    [
        (s[r % 6], s[(r + 1) % 6]),
        (t[r % 2], s[(r + 5) % 6]),
        (s[(r + 4) % 6], s[(r + 3) % 6]),
        (s[(r + 2) % 6], t[(r + 1) % 2]),
    ]
}

/// Round r. No block is both read and changed, so a round is its own inverse.
#[cfg_attr(veriplex_hax, hax_lib::requires(r < 18))]
pub fn round(x: [Block; 8], r: u8) -> [Block; 8] {
    let mut y = x;
    for ((from, to), c) in edges(r).into_iter().zip(4 * u32::from(r) + 1..) {
        let output = feistel(c, x[from]);
        y[to] = from_fn(|i| x[to][i] ^ output[i]);
    }
    y
}

/// The permutation: 18 rounds (design.md, "Permutation").
pub fn permute(x: State) -> State {
    let mut blocks: [Block; 8] = from_fn(|b| from_fn(|i| x[16 * b + i]));
    for r in 0..18 {
        blocks = round(blocks, r);
    }
    from_fn(|i| blocks[i / 16][i % 16])
}

/// Its inverse: the same rounds, last first.
pub fn unpermute(x: State) -> State {
    let mut blocks: [Block; 8] = from_fn(|b| from_fn(|i| x[16 * b + i]));
    for r in 0..18 {
        blocks = round(blocks, 17 - r);
    }
    from_fn(|i| blocks[i / 16][i % 16])
}
