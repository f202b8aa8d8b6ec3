//! Authenticated encryption with associated data (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Aead.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{self, Opened, init, mix};
use alloc::vec::Vec;

/// The transcript before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8]) -> Duplex {
    let keyed = mix(mix(init(domain), b"key", key), b"nonce", nonce);
    mix(keyed, b"ad", ad)
}

/// Encrypt and authenticate a message: the ciphertext, then the tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn seal(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    protocol::seal(start(domain, key, nonce, ad), b"message", plaintext).1
}

/// The inverse of `seal`.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn open(domain: &[u8], key: &[u8], nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Opened {
    protocol::open(start(domain, key, nonce, ad), b"message", sealed).1
}
