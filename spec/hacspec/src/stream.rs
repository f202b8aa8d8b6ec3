//! Encryption without authentication (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Stream.cry`. Keep the two in step, definition by definition.

use crate::duplex::Duplex;
use crate::protocol::{init, mask, mix, unmask};
use alloc::vec::Vec;

/// The transcript before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], key: &[u8], nonce: &[u8]) -> Duplex {
    mix(mix(init(domain), b"key", key), b"nonce", nonce)
}

/// Encrypt a message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn encrypt(domain: &[u8], key: &[u8], nonce: &[u8], plaintext: &[u8]) -> Vec<u8> {
    mask(start(domain, key, nonce), b"message", plaintext).1
}

/// Decrypt a message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn decrypt(domain: &[u8], key: &[u8], nonce: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    unmask(start(domain, key, nonce), b"message", ciphertext).1
}
