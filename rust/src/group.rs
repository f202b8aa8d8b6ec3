//! Ristretto255 (RFC 9496) as the schemes use it.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use crate::wipe::wipe;
use crate::{Error, Label, Protocol};

/// Size in bytes of an encoded element.
pub(crate) const ELEMENT_LEN: usize = 32;
/// Size in bytes of an encoded scalar.
pub(crate) const SCALAR_LEN: usize = 32;

/// A scalar from 64 uniform bytes, which are wiped.
fn wide(mut uniform: [u8; 64]) -> Scalar {
    let scalar = Scalar::from_bytes_mod_order_wide(&uniform);
    wipe(&mut uniform);
    scalar
}

/// A uniform scalar out of a generator: 64 bytes of it, reduced.
pub(crate) fn random_scalar<R: CryptoRng + ?Sized>(rng: &mut R) -> Scalar {
    let mut uniform = [0; 64];
    rng.fill_bytes(&mut uniform);
    wide(uniform)
}

/// Derive of a uniform scalar.
pub(crate) fn derive_scalar(protocol: &mut Protocol, label: Label<'_>) -> Scalar {
    wide(protocol.derive_array(label))
}

/// Derive of a uniform element (the one-way map of RFC 9496, section 4.3.4).
pub(crate) fn derive_element(protocol: &mut Protocol, label: Label<'_>) -> RistrettoPoint {
    RistrettoPoint::from_uniform_bytes(&protocol.derive_array(label))
}

/// The element of a canonical encoding.
///
/// # Errors
///
/// [`Error::InvalidKey`] for anything else, and for the identity.
pub(crate) fn decode_element(bytes: &[u8; ELEMENT_LEN]) -> Result<RistrettoPoint, Error> {
    let element = CompressedRistretto(*bytes)
        .decompress()
        .ok_or(Error::InvalidKey)?;
    not_identity(element)
}

/// # Errors
///
/// [`Error::InvalidKey`] for the identity: the result of a Diffie-Hellman step that anyone can predict.
pub(crate) fn not_identity(element: RistrettoPoint) -> Result<RistrettoPoint, Error> {
    if element.is_identity() {
        return Err(Error::InvalidKey);
    }
    Ok(element)
}

/// The scalar of a canonical encoding.
///
/// # Errors
///
/// [`Error::InvalidKey`] for anything else.
pub(crate) fn decode_scalar(bytes: &[u8; SCALAR_LEN]) -> Result<Scalar, Error> {
    Option::from(Scalar::from_canonical_bytes(*bytes)).ok_or(Error::InvalidKey)
}
