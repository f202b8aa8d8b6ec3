//! Stream cipher without authentication: Mix `key`, Mix `nonce`, Mask `message`.
//!
//! Indistinguishable from random under chosen plaintexts as long as no nonce repeats under a key. It does
//! not notice changes: prefer [`aead`](crate::aead). Keys may have any length; use at least 32 random bytes.
//!
//! ```
//! use veriplex::{label, stream};
//!
//! let (key, nonce) = ([7; 32], [1; 16]);
//! let mut message = *b"message";
//! stream::encrypt(label!("com.example.stream"), &key, &nonce, &mut message);
//! stream::decrypt(label!("com.example.stream"), &key, &nonce, &mut message);
//! assert_eq!(message, *b"message");
//! ```

use crate::{Label, Protocol, label};

/// Encrypts in place.
pub fn encrypt(domain: Label<'_>, key: &[u8], nonce: &[u8], in_out: &mut [u8]) {
    keyed(domain, key, nonce).mask(label!("message"), in_out);
}

/// Decrypts in place.
pub fn decrypt(domain: Label<'_>, key: &[u8], nonce: &[u8], in_out: &mut [u8]) {
    keyed(domain, key, nonce).unmask(label!("message"), in_out);
}

pub(crate) fn keyed(domain: Label<'_>, key: &[u8], nonce: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("key"), key);
    protocol.mix(label!("nonce"), nonce);
    protocol
}
