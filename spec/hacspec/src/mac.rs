//! The keyed digest of a message (design.md, "Schemes").
//!
//! Cryptol twin: `spec/cryptol/Mac.cry`. Keep the two in step, definition by definition.

use crate::protocol::{TAG_LEN, derive, init, mix};
use alloc::vec::Vec;

/// A tag is the case n = 16.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn mac(domain: &[u8], key: &[u8], message: &[u8], n: usize) -> Vec<u8> {
    derive(
        mix(mix(init(domain), b"key", key), b"message", message),
        b"tag",
        n,
    )
    .1
}

/// Is this the tag of that message?
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn verify(domain: &[u8], key: &[u8], message: &[u8], tag: [u8; TAG_LEN]) -> bool {
    mac(domain, key, message, TAG_LEN) == tag
}
