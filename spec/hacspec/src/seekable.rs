//! Authenticated encryption in independent segments (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Seekable.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{self, Opened, TAG_LEN, init, mix};
use alloc::vec::Vec;

/// Size in bytes of a key.
pub const KEY_LEN: usize = 32;

/// The common beginning of every segment's transcript. A segment has s bytes.
#[cfg_attr(veriplex_hax, hax_lib::requires(64 <= s && s <= 1 << 24 && domain.len() <= crate::protocol::MAX_LABEL && nonce.len() >= 24))]
pub fn base(s: usize, domain: &[u8], key: &[u8; KEY_LEN], nonce: &[u8], ad: &[u8]) -> Duplex {
    let length = (s as u64).to_le_bytes();
    let p = mix(mix(init(domain), b"key", key), b"nonce", nonce);
    mix(mix(p, b"ad", ad), b"segment-length", &length[..4])
}

/// The transcript of a segment at its place; end is 1 for the last one, else 0.
pub fn segment(p: Duplex, place: u64, end: u8) -> Duplex {
    mix(p, b"segment", &[&place.to_le_bytes()[..], &[end]].concat())
}

/// A message in segments of s bytes, each sealed; the last one is not empty unless the message is.
#[cfg_attr(veriplex_hax, hax_lib::requires(64 <= s && s <= 1 << 24))]
pub fn seal(p: Duplex, s: usize, message: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    let full = message.len().saturating_sub(1) / s;
    for (i, part) in places(full).into_iter().zip(message.chunks(s)) {
        sealed.extend(protocol::seal(segment(p, i, 0), b"message", part).1);
    }
    sealed.extend(protocol::seal(segment(p, full as u64, 1), b"message", &message[full * s..]).1);
    sealed
}

/// The inverse of `seal`: the message, or nothing. (In Cryptol the type fixes its length, and excludes others.)
#[cfg_attr(veriplex_hax, hax_lib::requires(64 <= s && s <= 1 << 24))]
pub fn open(p: Duplex, s: usize, sealed: &[u8]) -> Opened {
    let mut message = Vec::new();
    let full = sealed.len().saturating_sub(1) / (s + TAG_LEN);
    let mut ok = true;
    for (i, part) in places(full).into_iter().zip(sealed.chunks(s + TAG_LEN)) {
        let (_, part) = protocol::open(segment(p, i, 0), b"message", part);
        ok = ok && part.ok;
        message.extend(part.plaintext);
    }
    let (_, last) = protocol::open(
        segment(p, full as u64, 1),
        b"message",
        &sealed[full * (s + TAG_LEN)..],
    );
    // An empty last segment is valid only if it is the only one: `seal` makes no others.
    ok = ok && last.ok && (full == 0 || !last.plaintext.is_empty());
    message.extend(last.plaintext);
    let plaintext = if ok { message } else { Vec::new() };
    Opened { ok, plaintext }
}

/// 0, 1, 2, ..., k of them.
pub fn places(k: usize) -> Vec<u64> {
    (0..k as u64).collect()
}
