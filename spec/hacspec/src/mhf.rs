//! The memory-hard hash of a password (design.md, "Schemes"), with N = 2^cost.
//!
//! Cryptol twin: `spec/cryptol/Mhf.cry`. Keep the two in step, definition by definition.

use crate::duplex::{Duplex, absorb_leb128};
use crate::protocol::{derive, fork_branch, header, init, mix};
use alloc::{vec, vec::Vec};

/// Size in bytes of a block of memory.
pub const BLOCK_LEN: usize = 1024;

/// N^0.8 rounded to an integer: the number of k from 1 to N with k - 1/2 <= N^0.8.
#[cfg_attr(veriplex_hax, hax_lib::requires(cost <= 26))]
pub fn columns(cost: u8) -> u64 {
    let limit = 1_u128 << (4 * cost + 5);
    let mut count = 0;
    for k in 1..=1_u128 << cost {
        if (2 * k - 1).pow(5) <= limit {
            count += 1;
        }
    }
    count
}

/// Mix in a number.
pub fn mix_number(p: Duplex, label: &[u8], n: u64) -> Duplex {
    absorb_leb128(header(p, 0x02, label), n)
}

/// Eight derived bytes as a number, and the transcript after them.
pub fn derive_number(p: Duplex, label: &[u8]) -> (Duplex, u64) {
    let (next, bytes) = derive(p, label, 8);
    let number = (0..8).fold(0, |n, i| n | u64::from(bytes[i]) << (8 * i));
    (next, number)
}

/// The last block of group u of the static graph, which has N groups of three blocks.
pub fn last_block(u: u64) -> u64 {
    3 * u + 2
}

/// A random group before group u >= 2. The order of magnitude of the distance is random.
#[cfg_attr(veriplex_hax, hax_lib::requires(u >= 2))]
pub fn random_parent(independent: Duplex, u: u64) -> u64 {
    let (p, level) = derive_number(mix_number(independent, b"node", u), b"level");
    let (_, offset) = derive_number(p, b"offset");
    let bits = 64 - u64::from((u - 1).leading_zeros());
    let width = 1 << (level % bits);
    let to = u + offset % width;
    to.saturating_sub(2 * width)
}

/// Block v > 0 of the static graph depends on block v - 1. Does it depend on another block, and on which?
pub fn optional_parent(cost: u8, independent: Duplex, v: u64) -> (bool, u64) {
    let u = v / 3;
    if v % 3 == 1 && u >= 2 {
        (true, last_block(random_parent(independent, u)))
    } else if v % 3 == 2 && u >= 2 && u >= columns(cost) {
        (true, last_block(u - columns(cost)))
    } else {
        (false, 0)
    }
}

/// The two starting transcripts: the one that the static graph depends on, and the one that the blocks depend on.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(cost: u8, domain: &[u8], password: &[u8], salt: &[u8]) -> (Duplex, Duplex) {
    let root = mix(mix(init(domain), b"cost", &[cost]), b"salt", salt);
    let independent = fork_branch(root, b"data", 1, b"independent");
    let dependent = fork_branch(root, b"data", 2, b"dependent");
    (independent, mix(dependent, b"password", password))
}

/// A block of the static graph.
pub fn static_block(dependent: Duplex, v: u64, required: &[u8], optional: (bool, &[u8])) -> Vec<u8> {
    let p = mix(mix_number(dependent, b"node", v), b"required", required);
    let p = if optional.0 {
        mix(p, b"optional", optional.1)
    } else {
        p
    };
    derive(p, b"static", BLOCK_LEN).1
}

/// A block after the static graph. It depends on the previous block, and on the last block of a group that the previous
/// block chooses.
#[allow(clippy::cast_possible_truncation, reason = "the blocks are in memory")]
pub fn dynamic_block(cost: u8, dependent: Duplex, blocks: &[Vec<u8>], previous: &[u8]) -> Vec<u8> {
    let (p, choice) = derive_number(mix(dependent, b"prev", previous), b"pre-label");
    let group = choice % (1 << cost);
    let p = mix(p, b"back-pointer", &blocks[last_block(group) as usize]);
    derive(p, b"dynamic", BLOCK_LEN).1
}

/// All blocks: one from the password alone, 3N - 1 of the static graph, and 2N after it. Also the transcript that they
/// depend on.
#[allow(clippy::cast_possible_truncation, reason = "the blocks are in memory")]
pub fn fill(cost: u8, independent: Duplex, dependent: Duplex) -> (Duplex, Vec<Vec<u8>>) {
    let n = 1 << cost;
    let (dependent, source) = derive(dependent, b"source", BLOCK_LEN);
    let mut blocks = vec![source];
    for v in 1..5 * n {
        let previous = &blocks[(v - 1) as usize];
        let block = if v < 3 * n {
            let (some, parent) = optional_parent(cost, independent, v);
            static_block(dependent, v, previous, (some, &blocks[parent as usize]))
        } else {
            dynamic_block(cost, dependent, &blocks, previous)
        };
        blocks.push(block);
    }
    (dependent, blocks)
}

/// The hash, with an output of any length.
#[cfg_attr(veriplex_hax, hax_lib::requires(cost <= 26 && domain.len() <= crate::protocol::MAX_LABEL))]
pub fn hash(cost: u8, domain: &[u8], password: &[u8], salt: &[u8], n: usize) -> Vec<u8> {
    let (independent, dependent) = start(cost, domain, password, salt);
    let (dependent, blocks) = fill(cost, independent, dependent);
    derive(mix(dependent, b"final", &blocks[blocks.len() - 1]), b"output", n).1
}
