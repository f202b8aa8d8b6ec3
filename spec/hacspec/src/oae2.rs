//! Authenticated encryption of a stream in blocks of one size (design.md, "Schemes"), over a transcript that holds a
//! key.
//!
//! Cryptol twin: `spec/cryptol/Oae2.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{self, Opened, TAG_LEN};
use alloc::{vec, vec::Vec};

/// The last block: the remaining bytes, 0x80, zeros.
#[cfg_attr(veriplex_hax, hax_lib::requires(rest.len() < b))]
pub fn pad(b: usize, rest: &[u8]) -> Vec<u8> {
    [rest, &[0x80], &vec![0; b - rest.len() - 1]].concat()
}

/// A message in blocks of b bytes, each sealed.
#[cfg_attr(veriplex_hax, hax_lib::requires(b > 0))]
pub fn seal(p: Duplex, b: usize, message: &[u8]) -> (Duplex, Vec<u8>) {
    let mut p = p;
    let mut stream = Vec::new();
    let blocks = message.len() / b;
    for i in 0..blocks {
        let (next, sealed) = protocol::seal(p, b"block", &message[i * b..(i + 1) * b]);
        p = next;
        stream.extend(sealed);
    }
    let (after, last) = protocol::seal(p, b"final", &pad(b, &message[blocks * b..]));
    stream.extend(last);
    (after, stream)
}

/// The inverse of `seal`: the message, or nothing. (In Cryptol the type fixes its length, and excludes others.)
#[cfg_attr(veriplex_hax, hax_lib::requires(b > 0))]
pub fn open(p: Duplex, b: usize, stream: &[u8]) -> Opened {
    let mut p = p;
    let mut message = Vec::new();
    let sealed_len = b + TAG_LEN;
    let mut ok = !stream.is_empty() && stream.len().is_multiple_of(sealed_len);
    let blocks = if ok { stream.len() / sealed_len } else { 0 };
    for i in 0..blocks {
        let label: &[u8] = if i + 1 == blocks { b"final" } else { b"block" };
        let (next, block) = protocol::open(p, label, &stream[i * sealed_len..(i + 1) * sealed_len]);
        p = next;
        ok = ok && block.ok;
        message.extend(block.plaintext);
    }
    // The padding is the last 0x80, which must be in the last block, and only zeros after it.
    let length = message.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    ok = ok && blocks * b - b <= length && message[length] == 0x80;
    let plaintext = if ok {
        message[..length].to_vec()
    } else {
        Vec::new()
    };
    Opened { ok, plaintext }
}
