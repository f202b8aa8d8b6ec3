//! The digest of a message, with an output of any length (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Digest.cry`. Keep the two in step, definition by definition.

use crate::protocol::{derive, init, mix};
use alloc::vec::Vec;

/// A digest is the case n = 32; an extendable output has more bytes.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn digest(domain: &[u8], message: &[u8], n: usize) -> Vec<u8> {
    derive(mix(init(domain), b"message", message), b"digest", n).1
}
