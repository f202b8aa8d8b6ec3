//! Xoofff-SANE: authenticated encryption of the messages of a session, with a nonce (eprint 2018/767).
//!
//! Cryptol twin: `spec/cryptol/XoofffSane.cry`. Keep the two in step, definition by definition.

use crate::protocol::Opened;
use crate::xoofff::{self, Deck, append, output, xor};
use alloc::{vec, vec::Vec};

/// Size in bytes of a tag.
pub const TAG_LEN: usize = 16;

/// The state after all messages so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The strings of the messages so far.
    pub history: Deck,
    /// Whether their number is odd.
    pub odd: bool,
}

/// A session without messages.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn start(key: &[u8], nonce: &[u8]) -> Session {
    let history = append(xoofff::start(key), nonce, 0, 0);
    Session { history, odd: false }
}

/// The tag of all messages so far.
pub fn tag(s: Session) -> Vec<u8> {
    output(s.history, 0, TAG_LEN)
}

/// The keystream for the next message.
pub fn keystream(s: Session, n: usize) -> Vec<u8> {
    output(s.history, TAG_LEN, n)
}

/// The session after one more message.
pub fn next(s: Session, ad: &[u8], ciphertext: &[u8]) -> Session {
    let e = u8::from(s.odd);
    let with_ad = if !ad.is_empty() || ciphertext.is_empty() {
        append(s.history, ad, 2 * e, 2)
    } else {
        s.history
    };
    let history = if ciphertext.is_empty() {
        with_ad
    } else {
        append(with_ad, ciphertext, 1 + 2 * e, 2)
    };
    Session { history, odd: !s.odd }
}

/// Encrypt the next message: the session after it, the ciphertext and the tag.
pub fn seal(s: Session, ad: &[u8], plaintext: &[u8]) -> (Session, Vec<u8>, Vec<u8>) {
    let ciphertext = xor(plaintext, &keystream(s, plaintext.len()));
    let after = next(s, ad, &ciphertext);
    (after, ciphertext, tag(after))
}

/// The inverse of `seal`. A refused message does not change the session.
pub fn open(s: Session, ad: &[u8], ciphertext: &[u8], received: &[u8]) -> (Session, Opened) {
    let after = next(s, ad, ciphertext);
    if tag(after) == received {
        let plaintext = xor(ciphertext, &keystream(s, ciphertext.len()));
        (after, Opened { ok: true, plaintext })
    } else {
        let plaintext = vec![0; ciphertext.len()];
        (s, Opened { ok: false, plaintext })
    }
}
