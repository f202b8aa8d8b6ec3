//! Hash and extendable output: Mix `message`, Derive `digest`.
//!
//! Collision and (second-)preimage resistance of 128 bits at 32 bytes of output; outputs of different domains, or of
//! different lengths, are independent. The output's length is hashed too, so you must know it before the first byte
//! comes out, and there is no reader of unlimited output. For a hash under a key, see [`mac`](crate::mac).
//!
//! ```
//! use veriplex::{digest, label};
//!
//! let mut hasher = digest::Hasher::new(label!("com.example.hash"));
//! hasher.update(b"one ");
//! hasher.update(b"message");
//! assert_eq!(hasher.finalize(), digest::digest(label!("com.example.hash"), b"one message"));
//! ```

use core::fmt;
use core::str::FromStr;

use subtle::{Choice, ConstantTimeEq};

use crate::base::encoding::{public, public_bytes};
use crate::base::forms::hash_writer;
use crate::base::hex::decode_hex;
use crate::protocol::many;
use crate::{Domain, Error, Label, Protocol, label};

/// A digest of 32 bytes: that of this module, or that of [`tree`](crate::tree).
///
/// Compared in constant time. It displays as 64 hexadecimal digits in lower case, and is parsed from them.
///
/// ```
/// use veriplex::{digest::{Digest, digest}, label};
///
/// let hash = digest(label!("com.example.files"), b"message");
/// let published = format!("{hash}");
/// assert_eq!(published.parse::<Digest>()?, hash);
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Digest([u8; 32]);

public!(Digest);
public_bytes!(Digest);

impl Digest {
    /// Size in bytes.
    pub const LEN: usize = 32;

    /// The bytes of the digest. Comparing them takes variable time.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Digest::LEN] {
        &self.0
    }

    /// The bytes of the digest. Comparing them takes variable time.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Digest::LEN] {
        self.0
    }
}

impl From<[u8; Digest::LEN]> for Digest {
    fn from(bytes: [u8; Digest::LEN]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<&[u8]> for Digest {
    type Error = Error;

    /// [`Error::Verification`] unless there are 32 bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::Verification)
    }
}

impl FromStr for Digest {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::Verification`] unless the text is 64 hexadecimal digits, lower case.
    fn from_str(hex: &str) -> Result<Self, Error> {
        let mut digest = Self([0; Digest::LEN]);
        decode_hex(hex, &mut digest.0, Error::Verification)?;
        Ok(digest)
    }
}

impl fmt::LowerHex for Digest {
    /// As it displays.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ConstantTimeEq for Digest {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Digest {}

/// The digest of a message.
#[must_use]
#[inline]
pub fn digest(domain: impl Domain, message: &[u8]) -> Digest {
    let mut digest = [0; Digest::LEN];
    digest_into(domain.label(), message, &mut digest);
    Digest(digest)
}

/// An output of any length for a message: [`Hasher::finalize_into`].
#[inline]
pub fn digest_into(domain: Label<'_>, message: &[u8], output: &mut [u8]) {
    let inputs = [(label!("message"), message)];
    Protocol::derive_from(domain, inputs, label!("digest"), output);
}

/// Computes the digests of many messages, eight at a time, which is faster where the CPU has the instructions. Each is
/// that of [`digest()`] or, if `N` is not 32, of [`digest_into`].
///
/// Messages of about the same length are the fastest.
///
/// ```
/// use veriplex::{digest, label};
///
/// let mut digests = [[0; 32]; 2];
/// digest::digest_many(label!("com.example.hash"), &[b"one".as_slice(), b"another"], &mut digests)?;
/// assert_eq!(digests[1], *digest::digest(label!("com.example.hash"), b"another").as_bytes());
/// # Ok::<(), veriplex::Error>(())
/// ```
///
/// The root of a Merkle tree over many small items, with a domain for items and one for inner nodes:
///
/// ```
/// use veriplex::{digest, label};
///
/// let items: Vec<[u8; 8]> = (0..100_u64).map(u64::to_be_bytes).collect();
/// let mut level = vec![[0; 32]; items.len()];
/// digest::digest_many(label!("com.example.item"), &items, &mut level)?;
/// while level.len() > 1 {
///     let (pairs, last) = level.as_chunks::<2>();
///     let pairs: Vec<&[u8]> = pairs.iter().map(|pair| pair.as_flattened()).collect();
///     let mut parents = vec![[0; 32]; pairs.len()];
///     digest::digest_many(label!("com.example.node"), &pairs, &mut parents)?;
///     parents.extend_from_slice(last); // a digest without a neighbour goes up as it is
///     level = parents;
/// }
/// # assert_eq!(level.len(), 1);
/// # Ok::<(), veriplex::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BufferLength`] if there are not as many digests as messages.
pub fn digest_many<const N: usize>(
    domain: Label<'_>,
    messages: &[impl AsRef<[u8]>],
    digests: &mut [[u8; N]],
) -> Result<(), Error> {
    if messages.len() != digests.len() {
        return Err(Error::BufferLength);
    }
    let messages = messages.iter().map(AsRef::as_ref);
    let digests = digests.iter_mut().map(<[u8; N]>::as_mut_slice);
    many::derive(&Hasher::new(domain).0, label!("digest"), messages, digests);
    Ok(())
}

/// Computes a digest piece by piece.
///
/// With feature `std` it is a `Write`.
#[derive(Clone, Debug)]
pub struct Hasher(Protocol);

impl zeroize::ZeroizeOnDrop for Hasher {}

impl Hasher {
    /// Starts a digest.
    #[must_use]
    pub fn new(domain: impl Domain) -> Self {
        let mut protocol = Protocol::new(domain.label());
        protocol.mix_begin(label!("message"));
        Self(protocol)
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.0.mix_more(input);
    }

    /// The digest, 32 bytes.
    #[must_use]
    pub fn finalize(self) -> Digest {
        let mut digest = [0; Digest::LEN];
        self.finalize_into(&mut digest);
        Digest(digest)
    }

    /// An output of any length. An output is not the beginning of a longer one.
    pub fn finalize_into(mut self, output: &mut [u8]) {
        self.0.derive(label!("digest"), output);
    }

    /// The protocol after the message.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn into_protocol(self) -> Protocol {
        self.0
    }
}

hash_writer!(Hasher);
