//! Message authentication, also called keyed digest: Mix `key`, Mix `message`, Derive `tag`.
//!
//! A pseudorandom function of the message. The tag has 16 bytes: a forgery succeeds with probability 2^-128 per try. A
//! keyed digest has any length, and resists collisions like a digest of that length, even against those who know the
//! key. There is no nonce. The key has 32 bytes. Whoever can verify a tag can also make one; to prevent that, use `sig`
//! (feature `ristretto`).
//!
//! ```
//! use veriplex::{Key, label, mac::Mac, os_rng};
//!
//! let key = Key::generate(&mut os_rng());
//! let mut mac = Mac::new(label!("com.example.mac"), &key);
//! mac.update(b"message");
//! let tag = mac.clone().finalize();
//! assert!(mac.verify(tag.as_bytes()).is_ok());
//! ```

use core::fmt;
use core::str::FromStr;

use subtle::{Choice, ConstantTimeEq};

use crate::base::forms::hash_writer;
use crate::base::hex::decode_hex;
use crate::protocol::many;
use crate::{Domain, Error, Key, Label, Protocol, TAG_LEN, label};

/// The tag of a message.
#[must_use]
pub fn mac(domain: impl Domain, key: &Key, message: &[u8]) -> Tag {
    let mut tag = Tag([0; TAG_LEN]);
    let inputs = [
        (label!("key"), key.as_bytes().as_slice()),
        (label!("message"), message),
    ];
    Protocol::derive_from(domain.label(), inputs, label!("tag"), &mut tag.0);
    tag
}

/// Computes the tags of many messages under one key, eight at a time, which is faster where the CPU has the
/// instructions. Each is the tag of [`mac()`] or, if `N` is not 16, the keyed digest of [`Mac::finalize_array`].
/// Messages of about the same length are the fastest.
///
/// ```
/// use veriplex::{Key, label, mac::{self, Tag}, os_rng};
///
/// let key = Key::generate(&mut os_rng());
/// let rows = ["one", "two", "three"]; // pseudonyms of 32 bytes for them
/// let mut pseudonyms = [Tag::from([0; 32]); 3];
/// mac::mac_many(label!("com.example.pseudonym"), &key, &rows, &mut pseudonyms)?;
/// # Ok::<(), veriplex::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BufferLength`] if there are not as many tags as messages.
pub fn mac_many<const N: usize>(
    domain: Label<'_>,
    key: &Key,
    messages: &[impl AsRef<[u8]>],
    tags: &mut [Tag<N>],
) -> Result<(), Error> {
    if messages.len() != tags.len() {
        return Err(Error::BufferLength);
    }
    let messages = messages.iter().map(AsRef::as_ref);
    let tags = tags.iter_mut().map(|tag| tag.0.as_mut_slice());
    many::derive(&Mac::new(domain, key).0, label!("tag"), messages, tags);
    Ok(())
}

/// Computes a tag piece by piece.
///
/// With feature `std` it is a `Write`. The key is a [`Key`], not a password:
///
/// ```compile_fail,E0308
/// let mac = veriplex::mac::Mac::new(veriplex::label!("example"), "password");
/// ```
#[derive(Clone, Debug)]
pub struct Mac(Protocol);

impl zeroize::ZeroizeOnDrop for Mac {}

impl Mac {
    /// Starts a tag.
    #[must_use]
    pub fn new(domain: impl Domain, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain.label(), key))
    }

    /// Starts a tag under the key in a protocol: for keys of other lengths, or for a key that a longer transcript
    /// agreed on.
    ///
    /// [`Mac::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can make tags.
    #[must_use]
    pub fn from_protocol(mut keyed: Protocol) -> Self {
        keyed.mix_begin(label!("message"));
        Self(keyed)
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.0.mix_more(input);
    }

    /// The tag, 16 bytes. To check a received tag, use [`Mac::verify`].
    #[must_use]
    pub fn finalize(self) -> Tag {
        self.finalize_array()
    }

    /// A keyed digest of `N` bytes, such as 32 or 64: [`Mac::finalize_into`].
    ///
    /// ```
    /// use veriplex::{Key, label, mac::Mac, os_rng};
    ///
    /// let key = Key::generate(&mut os_rng());
    /// let mut mac = Mac::new(label!("com.example.digest"), &key);
    /// mac.update(b"message");
    /// let digest = mac.finalize_array::<64>();
    /// assert_eq!(digest.as_bytes().len(), 64);
    /// ```
    #[must_use]
    pub fn finalize_array<const N: usize>(mut self) -> Tag<N> {
        Tag(self.0.derive_array(label!("tag")))
    }

    /// A keyed digest of any length. An output is not the beginning of a longer one. The output of 16 bytes is the tag;
    /// the others reveal nothing about it.
    pub fn finalize_into(mut self, output: &mut [u8]) {
        self.0.derive(label!("tag"), output);
    }

    /// Compares the tag with a received one, in constant time.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if they differ, or if `tag` is not 16 bytes long.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        if self.finalize().0.ct_eq(tag).into() {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }
}

hash_writer!(Mac);

/// A tag of `N` bytes. Tags are compared in constant time. So a tag cannot be compared with an array, and has no
/// `AsRef`, `Ord` or `Hash`. It can be parsed from hexadecimal digits but has no `Display`, since it may be secret.
///
/// ```compile_fail,E0308
/// let key = veriplex::Key::from([7; 32]);
/// let tag = veriplex::mac::mac(veriplex::label!("example"), &key, b"message");
/// assert!(tag == [0; 16]);
/// ```
#[derive(Clone, Copy)]
pub struct Tag<const N: usize = TAG_LEN>([u8; N]);

impl<const N: usize> Tag<N> {
    /// The bytes of the tag. Comparing them takes variable time.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }

    /// The bytes of the tag. Comparing them takes variable time.
    #[must_use]
    pub const fn into_bytes(self) -> [u8; N] {
        self.0
    }
}

impl<const N: usize> From<[u8; N]> for Tag<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<const N: usize> From<Tag<N>> for [u8; N] {
    fn from(tag: Tag<N>) -> Self {
        tag.0
    }
}

impl<const N: usize> TryFrom<&[u8]> for Tag<N> {
    type Error = Error;

    /// [`Error::Verification`] unless there are `N` bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::Verification)
    }
}

impl<const N: usize> FromStr for Tag<N> {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::Verification`] unless the text is 2 N hexadecimal digits, lower case.
    fn from_str(hex: &str) -> Result<Self, Error> {
        let mut tag = Self([0; N]);
        decode_hex(hex, &mut tag.0, Error::Verification)?;
        Ok(tag)
    }
}

#[cfg(feature = "serde")]
impl<const N: usize> ::serde::Serialize for Tag<N> {
    fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::serde::serialize(&self.0, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, const N: usize> ::serde::Deserialize<'de> for Tag<N> {
    fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::serde::deserialize(deserializer)
    }
}

impl<const N: usize> ConstantTimeEq for Tag<N> {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl<const N: usize> PartialEq for Tag<N> {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl<const N: usize> Eq for Tag<N> {}

/// Shows no part of the tag: a keyed digest may be secret, and so is the right tag for a forged message.
impl<const N: usize> fmt::Debug for Tag<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tag").finish_non_exhaustive()
    }
}
