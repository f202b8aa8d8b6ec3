//! Xoofff-SANSE: authenticated encryption of sessions that survives a repeated nonce.

use subtle::ConstantTimeEq;

use super::{DomainBits, Offset, Xoofff};
use crate::Error;
use crate::base::in_out::release_or_wipe;

/// Xoofff-SANSE: authenticated encryption of the messages of a session, without a nonce (synthetic IV).
///
/// The 32-byte tag is computed from the plaintext and used to encrypt it. It covers all messages so far, their associated
/// data and their order. Two sessions under one key reveal only whether all their messages so far are equal; to hide that,
/// put a nonce into the associated data of the first message. A rejected message leaves the session unchanged, so the
/// genuine one is still accepted.
///
/// The ciphertext is as long as the plaintext. Sealing and opening both read the message twice.
///
/// ```
/// use veriplex::{Error, Key, os_rng, xoofff::Sanse};
///
/// let key: Key = Key::generate(&mut os_rng());
/// let (mut sender, mut receiver) = (Sanse::new(&key)?, Sanse::new(&key)?);
/// let first = sender.seal_vec(b"header", b"first message");
/// let second = sender.seal_vec(b"", b"second message");
/// assert_eq!(receiver.open_vec(b"", &second), Err(Error::Verification)); // not the next one
/// assert_eq!(receiver.open_vec(b"header", &first)?, b"first message");
/// assert_eq!(receiver.open_vec(b"", &second)?, b"second message");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Sanse {
    /// The messages so far, as strings that have ended.
    history: Xoofff,
    /// Whether the number of messages so far is odd.
    odd: bool,
}

impl Sanse {
    /// Size in bytes of a tag.
    pub const TAG_LEN: usize = 32;

    /// Starts a session.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the key has more than 47 bytes ([`Xoofff::MAX_KEY_LEN`]).
    pub fn new(key: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        let history = Xoofff::new(key)?;
        Ok(Self { history, odd: false })
    }

    /// These domain bits, and behind them the one that tells even messages from odd ones.
    fn bits(&self, bits: u8, len: u32) -> DomainBits {
        DomainBits::masked(bits | u8::from(self.odd) << len, len + 1)
    }

    /// The history with the associated data of a message of `len` bytes.
    fn with_ad(&self, ad: &[u8], len: usize) -> Xoofff {
        if !ad.is_empty() || len == 0 {
            self.history.with(ad, self.bits(0b0, 1))
        } else {
            self.history.clone()
        }
    }

    /// The history with the plaintext as well.
    fn with_plaintext(&self, history: Xoofff, plaintext: &[u8]) -> Xoofff {
        if plaintext.is_empty() {
            history
        } else {
            history.with(plaintext, self.bits(0b10, 2))
        }
    }

    /// Encrypts or decrypts a message under its tag.
    fn apply_keystream(&self, history: &Xoofff, tag: &[u8; Self::TAG_LEN], in_out: &mut [u8]) {
        if !in_out.is_empty() {
            let keyed = history.with(tag, self.bits(0b11, 2));
            keyed.output(Offset::ZERO).apply_keystream(in_out);
        }
    }

    /// Encrypts the next message in place and returns the tag.
    #[must_use]
    pub fn seal_in_place_detached(&mut self, ad: &[u8], in_out: &mut [u8]) -> [u8; Self::TAG_LEN] {
        let before = self.with_ad(ad, in_out.len());
        let after = self.with_plaintext(before.clone(), in_out);
        let tag = after.output(Offset::ZERO).squeeze_array();
        self.apply_keystream(&before, &tag, in_out);
        self.history = after;
        self.odd = !self.odd;
        tag
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
        let before = self.with_ad(ad, in_out.len());
        self.apply_keystream(&before, tag, in_out);
        let after = self.with_plaintext(before, in_out);
        let expected: [u8; Self::TAG_LEN] = after.output(Offset::ZERO).squeeze_array();
        release_or_wipe(expected.ct_eq(tag), in_out)?;
        self.history = after;
        self.odd = !self.odd;
        Ok(())
    }
}
