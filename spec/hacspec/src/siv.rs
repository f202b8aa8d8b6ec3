//! Authenticated encryption that survives a repeated nonce (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Siv.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{Opened, TAG_LEN, derive, fork_branch, init, mask, mix, unmask};
use alloc::{vec, vec::Vec};

/// The transcript before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8]) -> Duplex {
    let keyed = mix(mix(init(domain), b"key", key), b"nonce", nonce);
    mix(keyed, b"ad", ad)
}

/// The branch that makes the tag from the plaintext.
pub fn auth(p: Duplex, plaintext: &[u8]) -> Vec<u8> {
    let branch = fork_branch(p, b"role", 1, b"auth");
    derive(mix(branch, b"message", plaintext), b"tag", TAG_LEN).1
}

/// The branch that encrypts, with the tag as its nonce.
pub fn conf(p: Duplex, tag: &[u8]) -> Duplex {
    mix(fork_branch(p, b"role", 2, b"conf"), b"tag", tag)
}

/// Encrypt and authenticate a message: the ciphertext, then the tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn seal(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let p = start(domain, key, nonce, ad);
    let tag = auth(p, plaintext);
    let ciphertext = mask(conf(p, &tag), b"message", plaintext).1;
    [ciphertext, tag].concat()
}

/// The inverse of `seal`. Refuses input shorter than a tag (Cryptol's type excludes it).
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn open(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Opened {
    if sealed.len() < TAG_LEN {
        let plaintext = Vec::new();
        return Opened { ok: false, plaintext };
    }
    let p = start(domain, key, nonce, ad);
    let n = sealed.len() - TAG_LEN;
    let (ciphertext, tag) = sealed.split_at(n);
    let plaintext = unmask(conf(p, tag), b"message", ciphertext).1;
    let ok = auth(p, &plaintext) == tag;
    let plaintext = if ok { plaintext } else { vec![0; n] };
    Opened { ok, plaintext }
}
