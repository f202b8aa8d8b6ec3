//! Private and public keys over Ristretto255 (RFC 9496).
//!
//! One kind of key works with every scheme but [`oprf`](crate::oprf), whose servers have a kind of their own. **Use a
//! key for one scheme only.** Domains keep the transcripts of two schemes apart, but not what each reveals by applying
//! the key.
//!
//! Both kinds have three encodings. But for the ends of lines, each accepts exactly the form that it writes:
//!
//! - 32 bytes: the little-endian scalar, below the order of the group, or the encoding of the element;
//! - hex: these in 64 digits, lower case;
//! - PEM (RFC 7468, with its strict grammar): these in base64, in a line of its own between
//!   `-----BEGIN VERIPLEX PRIVATE KEY-----` and `-----END VERIPLEX PRIVATE KEY-----` (or `PUBLIC`). Lines end in LF;
//!   blanks and CRLF are accepted there, and the last line may lack its end.
//!
//! Zero and the identity are not keys. In a valid text, no digit decides a branch or an address: for hex, `make ct`
//! checks it; for PEM, the library for base64 (`base64ct`) is made for that.
//!
//! ```
//! use veriplex::{keys::{PrivateKey, PublicKey}, os_rng};
//!
//! let private = PrivateKey::generate(&mut os_rng());
//! let public: PublicKey = private.public_key().to_string().parse()?;
//! assert_eq!(&public, private.public_key());
//! assert_eq!(private, PrivateKey::from_pem(&private.to_pem())?);
//! # Ok::<(), veriplex::Error>(())
//! ```

pub(crate) mod text;
#[cfg(feature = "alloc")]
mod to_text;

use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};

use crate::base::encoding::{decoded, public, public_bytes, secret};
use crate::base::timing::Timing;
use crate::base::wipe::Secret;
use crate::schemes::ristretto::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::{Error, Label, Protocol, TAG_LEN, label};

/// A private key: a scalar other than zero, with its public key.
///
/// Wiped on drop, compared in constant time, and never printed.
#[derive(Clone)]
pub struct PrivateKey {
    scalar: Secret<Scalar>,
    public: PublicKey,
}

impl PrivateKey {
    /// Size in bytes of an encoded private key.
    pub const LEN: usize = SCALAR_LEN;

    const INVALID: Error = Error::InvalidKey;
    const PEM_LABEL: &str = "VERIPLEX PRIVATE KEY";

    /// A random key. It takes 64 bytes from the generator, and 64 more if they give zero.
    ///
    /// # Panics
    ///
    /// If these give zero too. That has a probability of 2^-504, unless the generator is broken: whoever uses it could
    /// guess the key. [`PrivateKey::from_uniform_bytes`] gives an error instead.
    #[must_use]
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        Self::from_scalar(group::random_scalar(rng))
            .or_else(|_| Self::from_scalar(group::random_scalar(rng)))
            .expect("a generator that gives other bytes than zeros")
    }

    /// The key of 64 uniformly random bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if they give zero.
    pub fn from_uniform_bytes(uniform: [u8; 64]) -> Result<Self, Error> {
        let _timing = Timing::independent();
        let uniform = Secret::new(uniform);
        Self::from_scalar(Secret::new(Scalar::from_bytes_mod_order_wide(&uniform)))
    }

    /// Decodes a key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless they are the canonical encoding of a scalar other than zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        Self::from_scalar(Secret::new(group::decode_scalar(bytes)?))
    }

    /// The key as 32 bytes, which are as secret as the key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.scalar.to_bytes()
    }

    /// Decodes a key in PEM.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for anything but what [`PrivateKey::to_pem`] writes. Lines may end in blanks and CRLF; the last
    /// line may lack its end.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        Self::from_pem_labelled(Self::PEM_LABEL, pem)
    }

    /// [`PrivateKey::from_pem`] with another label.
    pub(crate) fn from_pem_labelled(label: &str, pem: &str) -> Result<Self, Error> {
        Self::from_bytes(&*text::from_pem(label, pem)?)
    }

    /// The public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// # Errors
    ///
    /// [`Error::InvalidKey`] for zero.
    pub(crate) fn from_scalar(scalar: Secret<Scalar>) -> Result<Self, Error> {
        let _timing = Timing::independent();
        Ok(Self {
            public: PublicKey::from_element(RistrettoPoint::mul_base(&scalar))?,
            scalar,
        })
    }

    /// An ephemeral key out of what [`group::hedge`] gives.
    pub(crate) fn ephemeral(mut hidden: Protocol) -> Self {
        loop {
            // Zero has a probability of 2^-252, and each Derive gives another scalar.
            if let Ok(key) = Self::from_scalar(group::derive_scalar(&mut hidden, label!("ephemeral-private")))
            {
                return key;
            }
        }
    }

    pub(crate) const fn scalar(&self) -> &Secret<Scalar> {
        &self.scalar
    }

    /// Mix of the result of a Diffie-Hellman step.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if it is the identity, which it cannot be: the order of the group is prime, and neither
    /// the scalar is zero nor the element the identity.
    pub(crate) fn mix_shared(
        &self,
        other: &PublicKey,
        protocol: &mut Protocol,
        label: Label<'_>,
    ) -> Result<(), Error> {
        let _timing = Timing::independent();
        let shared = Secret::new(**self.scalar() * other.element());
        group::mix_secret_element(protocol, label, &shared)
    }
}

impl ConstantTimeEq for PrivateKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.scalar.ct_eq(&other.scalar)
    }
}

impl PartialEq for PrivateKey {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for PrivateKey {}

/// Shows the public key.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("public_key", &self.public)
            .finish_non_exhaustive()
    }
}

impl zeroize::ZeroizeOnDrop for PrivateKey {}

decoded!(PrivateKey, PublicKey);
secret!(PrivateKey);
public!(PublicKey);
public_bytes!(PublicKey);

/// A public key: an element other than the identity.
///
/// It displays as 64 hexadecimal digits in lower case, and is parsed from them.
#[derive(Clone, Copy)]
pub struct PublicKey {
    element: RistrettoPoint,
    bytes: [u8; ELEMENT_LEN],
}

impl PublicKey {
    /// Size in bytes of an encoded public key.
    pub const LEN: usize = ELEMENT_LEN;

    const INVALID: Error = Error::InvalidKey;
    const PEM_LABEL: &str = "VERIPLEX PUBLIC KEY";
    pub(in crate::schemes::ristretto) const SEALED_LEN: usize = Self::LEN + TAG_LEN;

    /// A key in a message. If it is invalid, the message is not the peer's.
    pub(in crate::schemes::ristretto) fn received(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        Self::from_bytes(bytes).map_err(|_| Error::Verification)
    }

    /// A key that the peer sealed.
    pub(in crate::schemes::ristretto) fn open(
        protocol: &mut Protocol,
        label: Label<'_>,
        sealed: &[u8],
    ) -> Result<Self, Error> {
        let mut bytes = [0; Self::LEN];
        let sealed: &[u8; Self::SEALED_LEN] = sealed.try_into().map_err(|_| Error::Verification)?;
        protocol.open_into(label, sealed, &mut bytes)?;
        Self::received(&bytes)
    }

    /// Decodes a key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless they are the canonical encoding of an element other than the identity.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        Ok(Self {
            element: group::decode_element(bytes)?,
            bytes: *bytes,
        })
    }

    /// The key as 32 bytes.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.bytes
    }

    /// The key as 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.bytes
    }

    /// Decodes a key in PEM.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for anything but what [`PublicKey::to_pem`] writes. Lines may end in blanks and CRLF; the last
    /// line may lack its end.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        Self::from_bytes(&*text::from_pem(Self::PEM_LABEL, pem)?)
    }

    /// # Errors
    ///
    /// [`Error::InvalidKey`] for the identity.
    pub(crate) fn from_element(element: RistrettoPoint) -> Result<Self, Error> {
        let element = group::not_identity(element)?;
        Ok(Self {
            bytes: element.compress().to_bytes(),
            element,
        })
    }

    pub(crate) const fn element(&self) -> &RistrettoPoint {
        &self.element
    }
}

impl From<&PrivateKey> for PublicKey {
    fn from(key: &PrivateKey) -> Self {
        key.public
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}
