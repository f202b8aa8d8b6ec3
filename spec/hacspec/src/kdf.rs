//! Key derivation (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Kdf.cry`. Keep the two in step, definition by definition.

use crate::protocol::{derive, init, mix};
use alloc::vec::Vec;

/// n bytes for a context, from a salt and a secret.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn kdf(domain: &[u8], salt: &[u8], secret: &[u8], info: &[u8], n: usize) -> Vec<u8> {
    let extracted = mix(mix(init(domain), b"salt", salt), b"secret", secret);
    derive(mix(extracted, b"info", info), b"key", n).1
}
