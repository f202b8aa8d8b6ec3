//! Private and public keys over Ristretto255 (RFC 9496).
//!
//! One kind of key serves every scheme. Use a key for one scheme only, or give each scheme its own domain.
//!
//! ```
//! # use veriplex::keys::{PrivateKey, PublicKey};
//! let private = PrivateKey::from_uniform_bytes([7; 64])?; // 64 random bytes
//! let public = PublicKey::from_bytes(&private.public_key().to_bytes())?;
//! assert_eq!(&public, private.public_key());
//! # Ok::<(), veriplex::Error>(())
//! ```

use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};

use crate::Error;
use crate::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::wipe::wipe;

/// A private key: a scalar other than zero, with its public key.
///
/// Wiped on drop (feature `zeroize`), compared in constant time, and never printed.
#[derive(Clone)]
pub struct PrivateKey {
    scalar: Scalar,
    public: PublicKey,
}

impl PrivateKey {
    /// Size in bytes of an encoded private key.
    pub const LEN: usize = SCALAR_LEN;

    /// A random key.
    #[must_use]
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        loop {
            // Zero has a probability of 2^-252.
            if let Ok(key) = Self::from_scalar(group::random_scalar(rng)) {
                return key;
            }
        }
    }

    /// The key of 64 uniformly random bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if they give zero.
    pub fn from_uniform_bytes(mut uniform: [u8; 64]) -> Result<Self, Error> {
        let scalar = Scalar::from_bytes_mod_order_wide(&uniform);
        wipe(&mut uniform);
        Self::from_scalar(scalar)
    }

    /// Decodes a key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless they are the canonical encoding of a scalar other than zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        Self::from_scalar(group::decode_scalar(bytes)?)
    }

    /// The key as 32 bytes, which are as secret as the key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.scalar.to_bytes()
    }

    /// The public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn from_scalar(scalar: Scalar) -> Result<Self, Error> {
        Ok(Self {
            public: PublicKey::from_element(RistrettoPoint::mul_base(&scalar))?,
            scalar,
        })
    }

    pub(crate) const fn scalar(&self) -> &Scalar {
        &self.scalar
    }

    /// The encoded result of a Diffie-Hellman step.
    ///
    /// # Errors
    ///
    /// None for valid keys; [`Error::InvalidKey`] if the result is the identity.
    pub(crate) fn diffie_hellman(&self, other: &PublicKey) -> Result<[u8; ELEMENT_LEN], Error> {
        let shared = group::not_identity(self.scalar * other.element)?;
        Ok(shared.compress().to_bytes())
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

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl Drop for PrivateKey {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.scalar);
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for PrivateKey {}

/// A public key: an element other than the identity.
#[derive(Clone, Copy)]
pub struct PublicKey {
    element: RistrettoPoint,
    bytes: [u8; ELEMENT_LEN],
}

impl PublicKey {
    /// Size in bytes of an encoded public key.
    pub const LEN: usize = ELEMENT_LEN;

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

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl core::hash::Hash for PublicKey {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(")?;
        for byte in self.bytes {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
