//! Authenticated encryption with tags of 32 bytes, which commit to key, nonce, associated data and message at 128 bits.
//!
//! Sizes in bytes: key 32, nonce 16 or more ([`Aead`]) or of any length ([`Siv`]), tag 32.
//!
//! An attacker who chooses everything, keys included, finds two messages with the same 16-byte tag with about 2^64
//! work, and with the same 32-byte tag with about 2^128. This matters where one ciphertext must not open under two
//! keys: if an attacker may choose keys or passwords, if the receiver tries many keys, or if a third party judges
//! messages. Against forgers, who do not know the key, 16 bytes are long enough: [`aead`](crate::aead), [`siv`].
//!
//! [`Aead`] and [`Siv`] promise what those do, and cost as much. They begin with Mix `key`, `tag-length`, so what one
//! of the four seals does not open with another, even in the same domain under the same key. Then:
//!
//! - [`Aead`]: Mix `nonce`, `ad`; Mask `message`; Derive `tag`. The nonce **must never repeat** under a key: that
//!   shows how far two messages agree, and the XOR of what follows.
//! - [`Siv`]: Mix `nonce`, `ad`; Fork `role`; one branch derives the tag from the plaintext, the other masks the
//!   plaintext under the tag. A repeated nonce shows only whether nonce, associated data and message were all the same.
//!
//! The notion is CMT-4 of Bellare and Hoang ("Efficient Schemes for Committing Authenticated Encryption", 2022).
//!
//! ```
//! use veriplex::{Key, Nonce, committing::Aead, label, os_rng};
//!
//! let key = Key::generate(&mut os_rng());
//! let aead = Aead::<24>::new(label!("com.example.aead"), &key);
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every message: send it along
//! let sealed = aead.seal_vec(&nonce, b"header", b"message");
//! assert_eq!(aead.open_vec(&nonce, b"header", &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use subtle::ConstantTimeEq;

use crate::base::forms::with_nonce;
use crate::base::in_out::{self, InOut};
use crate::{Error, Key, Label, Protocol, label, siv};

/// Size in bytes of a tag.
pub const TAG_LEN: usize = 32;

/// An AEAD under one key, with nonces of `NONCE_LEN` bytes, which must be at least 16:
///
/// ```compile_fail,E0080
/// # fn main() {
/// let key = veriplex::Key::from([7; 32]);
/// let aead = veriplex::committing::Aead::<15>::new(veriplex::label!("example"), &key);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Aead<const NONCE_LEN: usize>(Protocol);

impl<const NONCE_LEN: usize> zeroize::ZeroizeOnDrop for Aead<NONCE_LEN> {}

impl<const NONCE_LEN: usize> Aead<NONCE_LEN> {
    /// An AEAD under this key.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain, key))
    }

    /// An AEAD under the key in a protocol: for keys of other lengths, or for a key that a longer transcript agreed on.
    ///
    /// [`Aead::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can open and forge.
    #[must_use]
    pub fn from_protocol(keyed: Protocol) -> Self {
        const { assert!(NONCE_LEN >= 16, "a nonce has at least 16 bytes") };
        Self(with_tag_length(keyed))
    }

    /// What all forms of encryption do.
    fn seal(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>) -> [u8; TAG_LEN] {
        let mut protocol = self.0.message(nonce, ad);
        protocol.mask_begin(label!("message"));
        protocol.mask_more(data);
        protocol.derive_array(label!("tag"))
    }

    /// What all forms of decryption do. If the tag is wrong, the output is all zeros.
    fn open(
        &self,
        nonce: &[u8],
        ad: &[u8],
        mut data: InOut<'_>,
        received: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let mut protocol = self.0.message(nonce, ad);
        protocol.mask_begin(label!("message"));
        protocol.unmask_more(data.reborrow());
        let tag: [u8; TAG_LEN] = protocol.derive_array(label!("tag"));
        in_out::release_or_wipe(tag.ct_eq(received), data.output())
    }
}

with_nonce!(Aead, [const NONCE_LEN: usize], [NONCE_LEN], [u8; NONCE_LEN], 32);

/// A SIV cipher under one key, with nonces of any length.
#[derive(Clone, Debug)]
pub struct Siv(Protocol);

impl zeroize::ZeroizeOnDrop for Siv {}

impl Siv {
    /// A SIV cipher under this key.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain, key))
    }

    /// A SIV cipher under the key in a protocol: for keys of other lengths, or for a key that a longer transcript
    /// agreed on.
    ///
    /// [`Siv::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can open and forge.
    #[must_use]
    pub fn from_protocol(keyed: Protocol) -> Self {
        Self(with_tag_length(keyed))
    }

    /// What all forms of encryption do.
    fn seal(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>) -> [u8; TAG_LEN] {
        siv::seal(&self.0, nonce, ad, data)
    }

    /// What all forms of decryption do. If the tag is wrong, the output is all zeros.
    fn open(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>, received: &[u8; TAG_LEN]) -> Result<(), Error> {
        siv::open(&self.0, nonce, ad, data, received)
    }
}

with_nonce!(Siv, [], [], (impl AsRef<[u8]> + ?Sized), 32);

/// Separates these schemes from those with tags of 16 bytes.
fn with_tag_length(mut keyed: Protocol) -> Protocol {
    keyed.mix(label!("tag-length"), &[32]);
    keyed
}
