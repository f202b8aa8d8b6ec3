//! Stream cipher without authentication: Mix `key`, Mix `nonce`, Mask `message`.
//!
//! Indistinguishable from random under chosen plaintexts as long as no nonce repeats under a key; the ciphertext is as
//! long as the message. It does not notice changes: prefer [`aead`](crate::aead). A repeated nonce shows how far two
//! messages agree, and the XOR of what follows. A key has 32 bytes, a nonce 16 or more; random ones should have
//! 24 or more.
//!
//! The keystream depends on the ciphertext before it, so there is no seeking, and decryption differs from encryption.
//!
//! ```
//! use veriplex::{Key, Nonce, label, os_rng, stream};
//!
//! let key = Key::generate(&mut os_rng());
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every message: send it along
//! let mut message = *b"message";
//! stream::encrypt(label!("com.example.stream"), &key, &nonce, &mut message);
//! stream::decrypt(label!("com.example.stream"), &key, &nonce, &mut message);
//! assert_eq!(message, *b"message");
//! ```

use crate::base::in_out::InOut;
use crate::{Error, Key, Label, Protocol, label};

/// Encrypts in place.
pub fn encrypt<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N], in_out: &mut [u8]) {
    Encryptor::new(domain, key, nonce).update(in_out);
}

/// Decrypts in place.
pub fn decrypt<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N], in_out: &mut [u8]) {
    Decryptor::new(domain, key, nonce).update(in_out);
}

/// Encrypts from one buffer into another.
///
/// # Errors
///
/// [`Error::BufferLength`] if the lengths differ.
pub fn encrypt_into<const N: usize>(
    domain: Label<'_>,
    key: &Key,
    nonce: &[u8; N],
    plaintext: &[u8],
    ciphertext: &mut [u8],
) -> Result<(), Error> {
    let data = InOut::out_of_place(plaintext, ciphertext)?;
    begin(domain, key, nonce).mask_more(data);
    Ok(())
}

/// Decrypts from one buffer into another.
///
/// # Errors
///
/// [`Error::BufferLength`] if the lengths differ.
pub fn decrypt_into<const N: usize>(
    domain: Label<'_>,
    key: &Key,
    nonce: &[u8; N],
    ciphertext: &[u8],
    plaintext: &mut [u8],
) -> Result<(), Error> {
    let data = InOut::out_of_place(ciphertext, plaintext)?;
    begin(domain, key, nonce).unmask_more(data);
    Ok(())
}

/// Encrypts into a new vector.
#[cfg(feature = "alloc")]
#[must_use]
pub fn encrypt_vec<const N: usize>(
    domain: Label<'_>,
    key: &Key,
    nonce: &[u8; N],
    plaintext: &[u8],
) -> alloc::vec::Vec<u8> {
    crate::base::in_out::transform_vec(plaintext, |data| {
        begin(domain, key, nonce).mask_more(data);
    })
}

/// Decrypts into a new vector.
#[cfg(feature = "alloc")]
#[must_use]
pub fn decrypt_vec<const N: usize>(
    domain: Label<'_>,
    key: &Key,
    nonce: &[u8; N],
    ciphertext: &[u8],
) -> alloc::vec::Vec<u8> {
    crate::base::in_out::transform_vec(ciphertext, |data| {
        begin(domain, key, nonce).unmask_more(data);
    })
}

/// Encrypts a message in pieces. However it is divided, the ciphertext is the same.
#[derive(Clone, Debug)]
pub struct Encryptor(Protocol);

impl zeroize::ZeroizeOnDrop for Encryptor {}

impl Encryptor {
    /// Starts a message.
    #[must_use]
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        Self(begin(domain, key, nonce))
    }

    /// Starts a message under the key and the nonce in a protocol: for keys and nonces of other lengths, or for those
    /// that a longer transcript agreed on. [`Self::new`] is this with Init `domain`, Mix `key`, Mix `nonce`.
    #[must_use]
    pub fn from_protocol(keyed: Protocol) -> Self {
        Self(begin_in(keyed))
    }

    /// Encrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        self.0.mask_more(in_out);
    }
}

/// Decrypts a message in pieces.
#[derive(Clone, Debug)]
pub struct Decryptor(Protocol);

impl zeroize::ZeroizeOnDrop for Decryptor {}

impl Decryptor {
    /// Starts a message.
    #[must_use]
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        Self(begin(domain, key, nonce))
    }

    /// Starts a message under the key and the nonce in a protocol: for keys and nonces of other lengths, or for those
    /// that a longer transcript agreed on. [`Self::new`] is this with Init `domain`, Mix `key`, Mix `nonce`.
    #[must_use]
    pub fn from_protocol(keyed: Protocol) -> Self {
        Self(begin_in(keyed))
    }

    /// Decrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        self.0.unmask_more(in_out);
    }
}

fn begin<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Protocol {
    begin_in(Protocol::keyed_with_nonce(domain, key, nonce))
}

fn begin_in(mut keyed: Protocol) -> Protocol {
    keyed.mask_begin(label!("message"));
    keyed
}

#[cfg(feature = "std")]
mod io {
    use std::io::{Read, Write};

    use super::{Decryptor, Encryptor};
    use crate::protocol::io::{Reader, Transform, Writer};

    impl Transform for Encryptor {
        fn transform(&mut self, in_out: &mut [u8]) {
            self.update(in_out);
        }
    }

    impl Transform for Decryptor {
        fn transform(&mut self, in_out: &mut [u8]) {
            self.update(in_out);
        }
    }

    macro_rules! adapters {
        ($($cipher:ident),*) => {$(
            impl $cipher {
                /// A `Read` that transforms what it reads from `inner`.
                pub fn reader<R: Read>(self, inner: R) -> Reader<Self, R> {
                    Reader::new(self, inner)
                }

                /// A `Write` that transforms what is written and passes it on to `inner`.
                pub fn writer<W: Write>(self, inner: W) -> Writer<Self, W> {
                    Writer::new(self, inner)
                }
            }
        )*};
    }
    adapters!(Encryptor, Decryptor);
}
