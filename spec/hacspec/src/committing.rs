//! Authenticated encryption with tags of 32 bytes (design.md, "Committing"): like AEAD, and like SIV.
//!
//! Cryptol twin: `spec/cryptol/Committing.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{Opened, derive, fork_branch, init, mask, mix, unmask};
use alloc::{vec, vec::Vec};

/// Size of a tag.
pub const LONG_TAG_LEN: usize = 32;

/// The transcript before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8]) -> Duplex {
    let keyed = mix(mix(init(domain), b"key", key), b"tag-length", &[32]);
    mix(mix(keyed, b"nonce", nonce), b"ad", ad)
}

/// The tag, from the transcript with the message.
pub fn tag(p: Duplex) -> Vec<u8> {
    derive(p, b"tag", LONG_TAG_LEN).1
}

/// Encrypt and authenticate a message: the ciphertext, then the tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn aead_seal(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let (p, ciphertext) = mask(start(domain, key, nonce, ad), b"message", plaintext);
    [ciphertext, tag(p)].concat()
}

/// The inverse of `aead_seal`. Less than a tag is refused (Cryptol's type excludes it).
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn aead_open(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Opened {
    if sealed.len() < LONG_TAG_LEN {
        let plaintext = Vec::new();
        return Opened { ok: false, plaintext };
    }
    let n = sealed.len() - LONG_TAG_LEN;
    let (ciphertext, received) = sealed.split_at(n);
    let (p, plaintext) = unmask(start(domain, key, nonce, ad), b"message", ciphertext);
    let ok = tag(p) == received;
    let plaintext = if ok { plaintext } else { vec![0; n] };
    Opened { ok, plaintext }
}

/// The branch that makes the tag from the plaintext.
pub fn auth(p: Duplex, plaintext: &[u8]) -> Vec<u8> {
    tag(mix(fork_branch(p, b"role", 1, b"auth"), b"message", plaintext))
}

/// The branch that encrypts, with the tag as its nonce.
pub fn conf(p: Duplex, tag: &[u8]) -> Duplex {
    mix(fork_branch(p, b"role", 2, b"conf"), b"tag", tag)
}

/// Encrypt and authenticate a message: the ciphertext, then the tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn siv_seal(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let p = start(domain, key, nonce, ad);
    let tag = auth(p, plaintext);
    let ciphertext = mask(conf(p, &tag), b"message", plaintext).1;
    [ciphertext, tag].concat()
}

/// The inverse of `siv_seal`. Less than a tag is refused (Cryptol's type excludes it).
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn siv_open(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Opened {
    if sealed.len() < LONG_TAG_LEN {
        let plaintext = Vec::new();
        return Opened { ok: false, plaintext };
    }
    let p = start(domain, key, nonce, ad);
    let n = sealed.len() - LONG_TAG_LEN;
    let (ciphertext, received) = sealed.split_at(n);
    let plaintext = unmask(conf(p, received), b"message", ciphertext).1;
    let ok = auth(p, &plaintext) == received;
    let plaintext = if ok { plaintext } else { vec![0; n] };
    Opened { ok, plaintext }
}
