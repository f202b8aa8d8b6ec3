//! Authenticated encryption with associated data: Mix `key`, `nonce`, `ad`, then Seal `message`.
//!
//! Confidential under chosen plaintexts as long as no nonce repeats under a key; a forgery succeeds with
//! probability 2^-128 per try. The tag commits to key, nonce, associated data and message (to about 64 bits
//! against collisions, like any tag of 16 bytes). Random nonces should have 24 bytes or more. Keys may have any
//! length; use at least 32 random bytes. A repeated nonce shows how far two messages agree, and the XOR of what
//! follows: if nonces may repeat, use [`siv`](crate::siv).
//!
//! ```
//! use veriplex::{aead::Aead, label};
//!
//! let aead = Aead::<24>::new(label!("com.example.aead"), &[7; 32]);
//! let nonce = [1; 24]; // in practice, fresh and random for every message
//! let mut message = *b"message";
//! let tag = aead.seal_in_place_detached(&nonce, b"header", &mut message);
//! aead.open_in_place_detached(&nonce, b"header", &mut message, &tag)?;
//! assert_eq!(message, *b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use crate::{Error, Label, Protocol, TAG_LEN, label};

/// An AEAD under one key, with nonces of `NONCE_LEN` bytes, which must be at least 16:
///
/// ```compile_fail
/// # fn main() {
/// let aead = veriplex::aead::Aead::<15>::new(veriplex::label!("example"), &[7; 32]);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Aead<const NONCE_LEN: usize>(Protocol);

impl<const NONCE_LEN: usize> Aead<NONCE_LEN> {
    /// An AEAD under this key.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        const { assert!(NONCE_LEN >= 16, "a nonce has at least 16 bytes") };
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("key"), key.as_ref());
        Self(protocol)
    }

    /// Encrypts in place and returns the tag.
    #[must_use]
    pub fn seal_in_place_detached(
        &self,
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        in_out: &mut [u8],
    ) -> [u8; TAG_LEN] {
        self.message(nonce, ad)
            .seal_in_place_detached(label!("message"), in_out)
    }

    /// Decrypts in place.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data, ciphertext or tag are not what was sealed;
    /// `in_out` is then all zeros.
    pub fn open_in_place_detached(
        &self,
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        in_out: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        self.message(nonce, ad)
            .open_in_place_detached(label!("message"), in_out, tag)
    }

    /// Encrypts in place: the last 16 bytes of `in_out` are room for the tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `in_out` has fewer than 16 bytes.
    pub fn seal_in_place(&self, nonce: &[u8; NONCE_LEN], ad: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
        self.message(nonce, ad).seal_in_place(label!("message"), in_out)
    }

    /// Decrypts in place: `in_out` is the ciphertext with its tag of 16 bytes; returns the plaintext.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data or `in_out` are not what was sealed, and then the ciphertext
    /// is overwritten with zeros, or if there are fewer than 16 bytes.
    pub fn open_in_place<'b>(
        &self,
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        in_out: &'b mut [u8],
    ) -> Result<&'b mut [u8], Error> {
        self.message(nonce, ad).open_in_place(label!("message"), in_out)
    }

    /// Encrypts from one buffer into another, which is 16 bytes longer: ciphertext, then tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if it is not.
    pub fn seal_into(
        &self,
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        plaintext: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Error> {
        self.message(nonce, ad)
            .seal_into(label!("message"), plaintext, sealed)
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
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        sealed: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Error> {
        self.message(nonce, ad)
            .open_into(label!("message"), sealed, plaintext)
    }

    /// Encrypts into a new vector: ciphertext, then tag.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal_vec(&self, nonce: &[u8; NONCE_LEN], ad: &[u8], plaintext: &[u8]) -> alloc::vec::Vec<u8> {
        self.message(nonce, ad).seal_vec(label!("message"), plaintext)
    }

    /// Decrypts into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data or `sealed` are not what was sealed.
    #[cfg(feature = "alloc")]
    pub fn open_vec(
        &self,
        nonce: &[u8; NONCE_LEN],
        ad: &[u8],
        sealed: &[u8],
    ) -> Result<alloc::vec::Vec<u8>, Error> {
        self.message(nonce, ad).open_vec(label!("message"), sealed)
    }

    fn message(&self, nonce: &[u8; NONCE_LEN], ad: &[u8]) -> Protocol {
        let mut protocol = self.0.clone();
        protocol.mix(label!("nonce"), nonce);
        protocol.mix(label!("ad"), ad);
        protocol
    }
}
