//! Authenticated encryption that survives a repeated nonce (synthetic IV): Mix `key`, `nonce`, `ad`; Fork
//! `role`; one branch derives the tag from the plaintext, the other masks the plaintext under the tag.
//!
//! Deterministic authenticated encryption: a repeated nonce reveals only whether nonce, associated data and message
//! were all the same, as long as two different messages do not get the same tag, which is to be expected after about
//! 2^64 of them under one key. A forgery succeeds with probability 2^-128 a try. The nonce may have any
//! length, also none; the ciphertext is 16 bytes longer than the message, which is read twice. Keys may have any length;
//! use at least 32 random bytes.
//!
//! ```
//! use veriplex::{label, siv::Siv};
//!
//! let siv = Siv::new(label!("com.example.siv"), &[7; 32]);
//! let mut message = *b"message";
//! let tag = siv.seal_in_place_detached(b"", b"header", &mut message);
//! siv.open_in_place_detached(b"", b"header", &mut message, &tag)?;
//! assert_eq!(message, *b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use subtle::ConstantTimeEq;

use crate::protocol::copy;
use crate::wipe::wipe;
use crate::{Error, Label, Protocol, TAG_LEN, label};

/// A SIV cipher under one key.
#[derive(Clone, Debug)]
pub struct Siv(Protocol);

impl Siv {
    /// A SIV cipher under this key.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("key"), key.as_ref());
        Self(protocol)
    }

    /// Encrypts in place and returns the tag.
    #[must_use]
    pub fn seal_in_place_detached(&self, nonce: &[u8], ad: &[u8], in_out: &mut [u8]) -> [u8; TAG_LEN] {
        let [auth, mut conf] = self.branches(nonce, ad);
        let tag = tag(auth, in_out);
        conf.mix(label!("tag"), &tag);
        conf.mask(label!("message"), in_out);
        tag
    }

    /// Decrypts in place.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data, ciphertext or tag are not what was sealed;
    /// `in_out` is then all zeros.
    pub fn open_in_place_detached(
        &self,
        nonce: &[u8],
        ad: &[u8],
        in_out: &mut [u8],
        received: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let [auth, mut conf] = self.branches(nonce, ad);
        conf.mix(label!("tag"), received);
        conf.unmask(label!("message"), in_out);
        if tag(auth, in_out).ct_eq(received).into() {
            Ok(())
        } else {
            wipe(in_out);
            Err(Error::Verification)
        }
    }

    /// Encrypts from one buffer into another, which is 16 bytes longer: ciphertext, then tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if it is not.
    pub fn seal_into(
        &self,
        nonce: &[u8],
        ad: &[u8],
        plaintext: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Error> {
        let (message, tag) = sealed.split_last_chunk_mut().ok_or(Error::BufferLength)?;
        copy(plaintext, message)?;
        *tag = self.seal_in_place_detached(nonce, ad, message);
        Ok(())
    }

    /// Decrypts from one buffer into another, which is 16 bytes shorter.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data or `sealed` are not what was sealed, and then
    /// `plaintext` is all zeros, or if `sealed` has fewer than 16 bytes; [`Error::BufferLength`] if
    /// `plaintext` has the wrong length.
    pub fn open_into(
        &self,
        nonce: &[u8],
        ad: &[u8],
        sealed: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Error> {
        let (message, tag) = sealed.split_last_chunk().ok_or(Error::Verification)?;
        copy(message, plaintext)?;
        self.open_in_place_detached(nonce, ad, plaintext, tag)
    }

    /// Encrypts into a new vector: ciphertext, then tag.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal_vec(&self, nonce: &[u8], ad: &[u8], plaintext: &[u8]) -> alloc::vec::Vec<u8> {
        let mut sealed = alloc::vec::Vec::with_capacity(plaintext.len() + TAG_LEN);
        sealed.extend_from_slice(plaintext);
        let tag = self.seal_in_place_detached(nonce, ad, &mut sealed);
        sealed.extend_from_slice(&tag);
        sealed
    }

    /// Decrypts into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data or `sealed` are not what was sealed.
    #[cfg(feature = "alloc")]
    pub fn open_vec(&self, nonce: &[u8], ad: &[u8], sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let (message, tag) = sealed.split_last_chunk().ok_or(Error::Verification)?;
        let mut plaintext = message.to_vec();
        self.open_in_place_detached(nonce, ad, &mut plaintext, tag)?;
        Ok(plaintext)
    }

    fn branches(&self, nonce: &[u8], ad: &[u8]) -> [Protocol; 2] {
        let mut protocol = self.0.clone();
        protocol.mix(label!("nonce"), nonce);
        protocol.mix(label!("ad"), ad);
        protocol.fork(label!("role"), ["auth", "conf"])
    }
}

fn tag(mut auth: Protocol, plaintext: &[u8]) -> [u8; TAG_LEN] {
    auth.mix(label!("message"), plaintext);
    auth.derive_array(label!("tag"))
}
