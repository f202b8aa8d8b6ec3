//! Authenticated encryption of a stream of blocks (design.md, "Schemes"), over a transcript that holds a key.
//!
//! Cryptol twin: `spec/cryptol/Aestream.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{self, Opened, TAG_LEN, mask, ratchet, unmask};
use alloc::vec::Vec;

/// Size in bytes of the length before each block.
pub const HEADER_LEN: usize = 2;

/// A block: the masked length, then the sealed block.
#[cfg_attr(veriplex_hax, hax_lib::requires(block.len() < 65536))]
pub fn seal_block(p: Duplex, block: &[u8]) -> (Duplex, Vec<u8>) {
    let n = block.len() as u64;
    let length = n.to_be_bytes();
    let (masked, header) = mask(p, b"header", &length[6..]);
    let (sealed, body) = protocol::seal(masked, b"block", block);
    (ratchet(sealed, b"block"), [header, body].concat())
}

/// The inverse of `seal_block` on the first block of a stream: the block, and the bytes after it. (In Cryptol the type
/// fixes the length of the block, and no bytes follow.)
pub fn open_block(p: Duplex, sealed: &[u8]) -> (Duplex, Opened, Vec<u8>) {
    if sealed.len() < HEADER_LEN {
        let (ok, plaintext) = (false, Vec::new());
        return (p, Opened { ok, plaintext }, Vec::new());
    }
    let (header, body) = sealed.split_at(HEADER_LEN);
    let (unmasked, length) = unmask(p, b"header", header);
    let length = 256 * usize::from(length[0]) + usize::from(length[1]) + TAG_LEN;
    if body.len() < length {
        let (ok, plaintext) = (false, Vec::new());
        return (p, Opened { ok, plaintext }, Vec::new());
    }
    let (body, rest) = body.split_at(length);
    let (next, opened) = protocol::open(unmasked, b"block", body);
    (ratchet(next, b"block"), opened, rest.to_vec())
}

/// A stream of nonempty blocks, ended by an empty block. (In Cryptol all blocks have the same length.)
pub fn seal(p: Duplex, blocks: &[Vec<u8>]) -> (Duplex, Vec<u8>) {
    let mut p = p;
    let mut stream = Vec::new();
    for block in blocks {
        let (next, sealed) = seal_block(p, block);
        p = next;
        stream.extend(sealed);
    }
    let (after, end) = seal_block(p, &[]);
    stream.extend(end);
    (after, stream)
}

/// The inverse of `seal` on the whole input: the message, or nothing. (In Cryptol, zeros.)
pub fn open(p: Duplex, stream: &[u8]) -> Opened {
    let mut p = p;
    let mut rest = stream.to_vec();
    let mut message = Vec::new();
    // Every block consumes input, so there are at most as many blocks as bytes.
    for _ in 0..stream.len() {
        let (next, block, after) = open_block(p, &rest);
        if !block.ok {
            break;
        }
        if block.plaintext.is_empty() {
            let ok = after.is_empty();
            let plaintext = if ok { message } else { Vec::new() };
            return Opened { ok, plaintext };
        }
        p = next;
        rest = after;
        message.extend(block.plaintext);
    }
    let plaintext = Vec::new();
    Opened { ok: false, plaintext }
}
