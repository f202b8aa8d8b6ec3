//! The parallel digest: a tree of transcripts over chunks (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Tree.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{derive, init, mix};
use alloc::vec::Vec;

/// Size in bytes of a chunk.
pub const CHUNK_LEN: usize = 4096;

/// Size in bytes of a chaining value.
pub const CV_LEN: usize = 32;

/// The common beginning of every transcript, without a key.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn base(domain: &[u8]) -> Duplex {
    init(domain)
}

/// The same with a key.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn keyed_base(domain: &[u8], key: &[u8]) -> Duplex {
    mix(init(domain), b"key", key)
}

/// The common beginning of the transcripts of a node and of a root with these bytes.
pub fn begin(p: Duplex, level: u8, x: &[u8]) -> Duplex {
    mix(mix(p, b"level", &[level]), b"node", x)
}

/// The chaining value of a chunk.
pub fn node(p: Duplex, level: u8, x: &[u8]) -> Vec<u8> {
    derive(begin(p, level, x), b"cv", CV_LEN).1
}

/// The output of n bytes, from the only chunk of the highest level, for a message of this length.
pub fn root(p: Duplex, level: u8, x: &[u8], length: u64, n: usize) -> Vec<u8> {
    derive(
        mix(begin(p, level, x), b"length", &length.to_le_bytes()),
        b"digest",
        n,
    )
    .1
}

/// The string of the next level up: the concatenated chaining values of a string's chunks.
#[cfg_attr(veriplex_hax, hax_lib::requires(!x.is_empty()))]
pub fn above(p: Duplex, level: u8, x: &[u8]) -> Vec<u8> {
    let mut string = Vec::new();
    for chunk in x.chunks(CHUNK_LEN) {
        string.extend(node(p, level, chunk));
    }
    string
}

/// Climb from a level to the one that is a single chunk, and give its output.
pub fn climb(p: Duplex, level: u8, x: &[u8], length: u64, n: usize) -> Vec<u8> {
    if x.len() > CHUNK_LEN {
        climb(p, level + 1, &above(p, level, x), length, n)
    } else {
        root(p, level, x, length, n)
    }
}

/// The digest is the case n = 32; p is `base` or `keyed_base`.
pub fn digest(p: Duplex, message: &[u8], n: usize) -> Vec<u8> {
    climb(p, 0, message, message.len() as u64, n)
}
