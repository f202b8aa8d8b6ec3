//! `ChaCha` with a nonce of 8 bytes and a counter of 64 bits (D. J. Bernstein, 2008), `HChaCha` and `XChaCha`
//! (draft-irtf-cfrg-xchacha), with any even number of rounds.
//!
//! Cryptol twin: `spec/cryptol/ChaCha.cry`. Keep the two in step, definition by definition.

use alloc::{vec, vec::Vec};
use core::array::from_fn;

/// Sixteen words, in four rows.
pub type State = [u32; 16];

/// Words in little-endian order.
pub fn le_words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks(4).map(word).collect()
}

/// Their bytes.
pub fn le_word_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The quarter round.
pub fn quarter_round([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let a = a.wrapping_add(b);
    let d = (d ^ a).rotate_left(16);
    let c = c.wrapping_add(d);
    let b = (b ^ c).rotate_left(12);
    let a = a.wrapping_add(b);
    let d = (d ^ a).rotate_left(8);
    let c = c.wrapping_add(d);
    let b = (b ^ c).rotate_left(7);
    [a, b, c, d]
}

/// A quarter round on each column.
pub fn column_round(x: State) -> State {
    let columns: [[u32; 4]; 4] = from_fn(|c| quarter_round(from_fn(|row| x[4 * row + c])));
    from_fn(|i| columns[i % 4][i / 4])
}

/// Row r rotates left by r places.
pub fn turn_rows(x: State) -> State {
    from_fn(|i| x[4 * (i / 4) + (i % 4 + i / 4) % 4])
}

/// The inverse of `turn_rows`.
pub fn turn_rows_back(x: State) -> State {
    from_fn(|i| x[4 * (i / 4) + (i % 4 + 4 - i / 4) % 4])
}

/// Columns, then diagonals: the columns of the rotated rows.
pub fn double_round(x: State) -> State {
    turn_rows_back(column_round(turn_rows(column_round(x))))
}

/// n rounds.
pub fn rounds(n: usize, x: State) -> State {
    let mut y = x;
    for _ in 0..n / 2 {
        y = double_round(y);
    }
    y
}

/// The state before the rounds.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && last.len() == 16))]
pub fn start(key: &[u8], last: &[u8]) -> State {
    let words = le_words(&[b"expand 32-byte k", key, last].concat());
    from_fn(|i| words[i])
}

/// The key of the inner `ChaCha`: the first and the last row after the rounds, without adding the start.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && nonce.len() == 16))]
pub fn hchacha(n: usize, key: &[u8], nonce: &[u8]) -> Vec<u8> {
    let x = rounds(n, start(key, nonce));
    le_word_bytes(&[&x[..4], &x[12..]].concat())
}

/// A block of the stream.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && nonce.len() == 8))]
pub fn block(n: usize, key: &[u8], nonce: &[u8], counter: u64) -> Vec<u8> {
    let x = start(key, &[counter.to_le_bytes().as_slice(), nonce].concat());
    let y = rounds(n, x);
    let sum: State = from_fn(|i| x[i].wrapping_add(y[i]));
    le_word_bytes(&sum)
}

/// The stream from block 0 on.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && nonce.len() == 8))]
pub fn stream(n: usize, key: &[u8], nonce: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = vec![];
    for counter in 0..length.div_ceil(64) {
        bytes.extend(block(n, key, nonce, counter as u64));
    }
    bytes.truncate(length);
    bytes
}

/// The stream of `XChaCha`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && nonce.len() == 24))]
pub fn xchacha(n: usize, key: &[u8], nonce: &[u8], length: usize) -> Vec<u8> {
    stream(n, &hchacha(n, key, &nonce[..16]), &nonce[16..], length)
}
