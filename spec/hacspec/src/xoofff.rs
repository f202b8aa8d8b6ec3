//! Xoofff: Farfalle over Xoodoo\[6\], a keyed function of a sequence of strings (eprint 2016/1188, 2018/767).
//!
//! Cryptol twin: `spec/cryptol/Xoofff.cry`. Keep the two in step, definition by definition.

use crate::xoodoo::{Plane, State, bytes, permute, planes};
use alloc::{vec, vec::Vec};
use core::array::from_fn;

/// Size in bytes of a block.
pub const BLOCK_LEN: usize = 48;

/// One block, of input, output or state.
pub type Block = State;

/// The state after the strings so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deck {
    /// The sum of their permuted blocks.
    pub acc: Block,
    /// The next mask.
    pub mask: Block,
}

/// The permutation of Xoofff.
pub fn p(x: Block) -> Block {
    permute(6, x)
}

/// The step that both roll functions share, given the new word.
pub fn roll(a: [Plane; 3], word: u32) -> Block {
    bytes([a[1], a[2], [a[0][1], a[0][2], a[0][3], word]])
}

/// The next mask.
pub fn roll_c(x: Block) -> Block {
    let a = planes(x);
    roll(a, a[0][0] ^ (a[0][0] << 13) ^ a[1][0].rotate_left(3))
}

/// The next output state.
pub fn roll_e(x: Block) -> Block {
    let a = planes(x);
    roll(
        a,
        (a[1][0] & a[2][0]) ^ a[0][0].rotate_left(5) ^ a[1][0].rotate_left(13) ^ 7,
    )
}

/// The byte that closes a string: w domain bits, the first one lowest, and a 1.
#[cfg_attr(veriplex_hax, hax_lib::requires(w < 8))]
pub fn closing(domain: u8, w: u8) -> u8 {
    let end = 1 << w;
    end ^ (domain & (end - 1))
}

/// A string as blocks: its bytes, the closing byte, zeros.
pub fn pad(string: &[u8], closing: u8) -> Vec<Block> {
    let blocks = string.len() / BLOCK_LEN + 1;
    let zeros = vec![0; BLOCK_LEN - 1 - string.len() % BLOCK_LEN];
    let padded = [string, &[closing], &zeros].concat();
    (0..blocks)
        .map(|i| from_fn(|j| padded[BLOCK_LEN * i + j]))
        .collect()
}

/// One block of input.
pub fn absorb_block(d: Deck, block: Block) -> Deck {
    let permuted = p(from_fn(|i| block[i] ^ d.mask[i]));
    Deck {
        acc: from_fn(|i| d.acc[i] ^ permuted[i]),
        mask: roll_c(d.mask),
    }
}

/// Blocks of input.
pub fn absorb_blocks(d: Deck, blocks: &[Block]) -> Deck {
    let mut d = d;
    for block in blocks {
        d = absorb_block(d, *block);
    }
    d
}

/// Blocks of output from an output state, and the next output state.
pub fn squeeze_blocks(mask: Block, y: Block, n: usize) -> (Block, Vec<Block>) {
    let mut y = y;
    let mut blocks = Vec::new();
    for _ in 0..n {
        let permuted = p(y);
        blocks.push(from_fn(|i| permuted[i] ^ mask[i]));
        y = roll_e(y);
    }
    (y, blocks)
}

/// The empty sequence of strings under a key.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn start(key: &[u8]) -> Deck {
    let padded: Block = from_fn(|i| {
        if i < key.len() {
            key[i]
        } else {
            u8::from(i == key.len())
        }
    });
    Deck {
        acc: [0; BLOCK_LEN],
        mask: p(padded),
    }
}

/// Appends a string with w domain bits, and the gap after it.
#[cfg_attr(veriplex_hax, hax_lib::requires(w < 8))]
pub fn append(d: Deck, string: &[u8], domain: u8, w: u8) -> Deck {
    let after = absorb_blocks(d, &pad(string, closing(domain, w)));
    let mask = roll_c(after.mask);
    Deck { mask, ..after }
}

/// Bytes q to q + n - 1 of the output from an output state.
pub fn stream(mask: Block, y: Block, q: usize, n: usize) -> Vec<u8> {
    let blocks = squeeze_blocks(mask, y, (q + n).div_ceil(BLOCK_LEN)).1;
    blocks.concat()[q..q + n].to_vec()
}

/// Bytes q to q + n - 1 of Xoofff.
pub fn output(d: Deck, q: usize, n: usize) -> Vec<u8> {
    stream(d.mask, p(d.acc), q, n)
}

/// n bytes of the short version of Xoofff.
pub fn short(d: Deck, n: usize) -> Vec<u8> {
    stream(d.mask, d.acc, 0, n)
}

/// XOR of strings of the same length.
pub fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
