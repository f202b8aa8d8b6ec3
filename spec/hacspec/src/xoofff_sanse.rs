//! Xoofff-SANSE: authenticated encryption of the messages of a session, without a nonce (eprint 2018/767).
//!
//! Cryptol twin: `spec/cryptol/XoofffSanse.cry`. Keep the two in step, definition by definition.

use crate::protocol::Opened;
use crate::xoofff::{self, Deck, append, output, xor};
use alloc::{vec, vec::Vec};

/// Size in bytes of a tag.
pub const TAG_LEN: usize = 32;

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
pub fn start(key: &[u8]) -> Session {
    let history = xoofff::start(key);
    Session { history, odd: false }
}

/// The history with the associated data of a message of m bytes.
pub fn with_ad(s: Session, ad: &[u8], m: usize) -> Deck {
    if !ad.is_empty() || m == 0 {
        append(s.history, ad, 2 * u8::from(s.odd), 2)
    } else {
        s.history
    }
}

/// The history with the plaintext as well.
pub fn with_plaintext(s: Session, before: Deck, plaintext: &[u8]) -> Deck {
    if plaintext.is_empty() {
        before
    } else {
        append(before, plaintext, 2 + 4 * u8::from(s.odd), 3)
    }
}

/// The keystream for a message with this tag.
pub fn keystream(s: Session, before: Deck, tag: &[u8], n: usize) -> Vec<u8> {
    output(append(before, tag, 3 + 4 * u8::from(s.odd), 3), 0, n)
}

/// Encrypt the next message: the session after it, the ciphertext and the tag.
pub fn seal(s: Session, ad: &[u8], plaintext: &[u8]) -> (Session, Vec<u8>, Vec<u8>) {
    let before = with_ad(s, ad, plaintext.len());
    let history = with_plaintext(s, before, plaintext);
    let tag = output(history, 0, TAG_LEN);
    let ciphertext = xor(plaintext, &keystream(s, before, &tag, plaintext.len()));
    (Session { history, odd: !s.odd }, ciphertext, tag)
}

/// The inverse of `seal`. A refused message does not change the session.
pub fn open(s: Session, ad: &[u8], ciphertext: &[u8], received: &[u8]) -> (Session, Opened) {
    let before = with_ad(s, ad, ciphertext.len());
    let plaintext = xor(ciphertext, &keystream(s, before, received, ciphertext.len()));
    let history = with_plaintext(s, before, &plaintext);
    if output(history, 0, TAG_LEN) == received {
        (Session { history, odd: !s.odd }, Opened { ok: true, plaintext })
    } else {
        let plaintext = vec![0; ciphertext.len()];
        (s, Opened { ok: false, plaintext })
    }
}
