//! Xoofff-SANE: authenticated encryption of sessions.

use subtle::ConstantTimeEq;

use super::{DomainBits, Offset, Output, Xoofff};
use crate::Error;
use crate::base::in_out::release_or_wipe;

/// Xoofff-SANE: authenticated encryption of the messages of a session, with a nonce for the session.
///
/// Every 16-byte tag covers all messages so far, their associated data and their order. Each forgery attempt succeeds with
/// probability 2^-128; a rejected message leaves the session unchanged, so the genuine one is still accepted. **Never
/// reuse a nonce under one key**: it would reveal the XOR of messages. The two directions of a conversation need two
/// sessions with different nonces. Nonces have any length; random ones should have at least 24 bytes.
///
/// The ciphertext is as long as the plaintext. Sealing and opening both read the message twice: the tag is checked before
/// anything is decrypted.
///
/// ```
/// use veriplex::{Error, Key, Nonce, os_rng, xoofff::Sane};
///
/// let key: Key = Key::generate(&mut os_rng());
/// let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every session: send it along
/// let mut sender = Sane::new(&key, &nonce)?;
/// let mut receiver = Sane::new(&key, &nonce)?;
///
/// let first = sender.seal_vec(b"header", b"first message");
/// let second = sender.seal_vec(b"", b"second message");
/// assert_eq!(receiver.open_vec(b"", &second), Err(Error::Verification)); // not the next one
/// assert_eq!(receiver.open_vec(b"header", &first)?, b"first message");
/// assert_eq!(receiver.open_vec(b"", &second)?, b"second message");
/// # Ok::<(), Error>(())
/// ```
///
/// It does not implement `Clone`: two copies would encrypt two messages with the same keystream.
///
/// ```compile_fail,E0599
/// # fn main() -> Result<(), veriplex::Error> {
/// let sender = veriplex::xoofff::Sane::new(&[7; 32], &[1; 24])?;
/// let copy = sender.clone();
/// # Ok(())
/// # }
/// ```
pub struct Sane {
    /// Over the messages so far, behind the tag.
    output: Output,
    tag: [u8; Self::TAG_LEN],
    /// Whether the number of messages so far is odd.
    odd: bool,
}

impl Sane {
    /// Size in bytes of a tag.
    pub const TAG_LEN: usize = 16;

    /// Starts a session.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the key has more than 47 bytes ([`Xoofff::MAX_KEY_LEN`]).
    pub fn new(
        key: &(impl AsRef<[u8]> + ?Sized),
        nonce: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<Self, Error> {
        let mut history = Xoofff::new(key)?;
        history.append(nonce.as_ref(), DomainBits::NONE);
        Ok(Self::after(&history, false))
    }

    /// Starts a session and checks the tag that the peer sent before any message ([`Sane::tag`]).
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the tag belongs to another key or nonce; [`Error::InvalidKey`] as for [`Sane::new`].
    pub fn with_tag(
        key: &(impl AsRef<[u8]> + ?Sized),
        nonce: &(impl AsRef<[u8]> + ?Sized),
        tag: &[u8; Self::TAG_LEN],
    ) -> Result<Self, Error> {
        let session = Self::new(key, nonce.as_ref())?;
        if session.tag.ct_eq(tag).into() {
            Ok(session)
        } else {
            Err(Error::Verification)
        }
    }

    /// The tag of the last message. Before the first message it is the tag of the empty session, which can be sent to check
    /// early that key and nonce agree.
    #[must_use]
    pub const fn tag(&self) -> &[u8; Self::TAG_LEN] {
        &self.tag
    }

    fn after(history: &Xoofff, odd: bool) -> Self {
        let mut output = history.output(Offset::ZERO);
        Self {
            tag: output.squeeze_array(),
            output,
            odd,
        }
    }

    /// The session after this message.
    fn next(&self, ad: &[u8], ciphertext: &[u8]) -> Self {
        let e = u8::from(self.odd);
        let mut history = self.output.clone().restart();
        if !ad.is_empty() || ciphertext.is_empty() {
            history.append(ad, DomainBits::masked(2 * e, 2));
        }
        if !ciphertext.is_empty() {
            history.append(ciphertext, DomainBits::masked(1 + 2 * e, 2));
        }
        Self::after(&history, !self.odd)
    }

    /// Encrypts the next message in place and returns the tag.
    #[must_use]
    pub fn seal_in_place_detached(&mut self, ad: &[u8], in_out: &mut [u8]) -> [u8; Self::TAG_LEN] {
        self.output.apply_keystream(in_out);
        *self = self.next(ad, in_out);
        self.tag
    }

    /// Decrypts the next message in place.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the next message that was sealed; `in_out` is then all zeros, and the
    /// session as before.
    pub fn open_in_place_detached(
        &mut self,
        ad: &[u8],
        in_out: &mut [u8],
        tag: &[u8; Self::TAG_LEN],
    ) -> Result<(), Error> {
        let next = self.next(ad, in_out);
        release_or_wipe(next.tag.ct_eq(tag), in_out)?;
        self.output.apply_keystream(in_out);
        *self = next;
        Ok(())
    }
}
