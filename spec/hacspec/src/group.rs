//! Ristretto255 (RFC 9496) as functions on encodings. The specification ends here: the group itself comes from the
//! library curve25519-dalek. There is no Cryptol twin.

use crate::duplex::Duplex;
use crate::protocol::mix;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::{Identity, IsIdentity};

/// The canonical encoding of a scalar.
pub type Scalar = [u8; 32];

/// The canonical encoding of an element.
pub type Element = [u8; 32];

/// The encoding of the identity.
pub const IDENTITY: Element = [0; 32];

fn scalar(encoding: Scalar) -> curve25519_dalek::Scalar {
    curve25519_dalek::Scalar::from_canonical_bytes(encoding).unwrap()
}

fn element(encoding: Element) -> curve25519_dalek::RistrettoPoint {
    CompressedRistretto(encoding).decompress().unwrap()
}

/// The 32 bytes from `start`, which may or may not be a valid encoding.
#[cfg_attr(veriplex_hax, hax_lib::requires(bytes.len() >= 32 && start <= bytes.len() - 32))]
pub fn part(bytes: &[u8], start: usize) -> [u8; 32] {
    core::array::from_fn(|i| bytes[start + i])
}

/// Is it the canonical encoding of a scalar? Zero is one.
pub fn is_scalar(encoding: Scalar) -> bool {
    bool::from(curve25519_dalek::Scalar::from_canonical_bytes(encoding).is_some())
}

/// Is it the canonical encoding of an element other than the identity?
pub fn is_element(encoding: Element) -> bool {
    match CompressedRistretto(encoding).decompress() {
        Some(element) => !element.is_identity(),
        None => false,
    }
}

/// The scalar from 64 uniform bytes.
#[cfg_attr(veriplex_hax, hax_lib::requires(uniform.len() == 64))]
pub fn wide(uniform: &[u8]) -> Scalar {
    curve25519_dalek::Scalar::from_bytes_mod_order_wide(&core::array::from_fn(|i| uniform[i])).to_bytes()
}

/// The element from 64 uniform bytes: the one-way map of RFC 9496, section 4.3.4.
#[cfg_attr(veriplex_hax, hax_lib::requires(uniform.len() == 64))]
pub fn map(uniform: &[u8]) -> Element {
    curve25519_dalek::RistrettoPoint::from_uniform_bytes(&core::array::from_fn(|i| uniform[i]))
        .compress()
        .to_bytes()
}

/// A transcript with a private key and a generator's bytes: what ephemeral keys and nonces are derived from.
pub fn hedge(p: Duplex, private: Scalar, randomness: &[u8]) -> Duplex {
    mix(mix(p, b"own-private", &private), b"rand", randomness)
}

/// The generator.
pub fn generator() -> Element {
    curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED.to_bytes()
}

/// s times an element.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_scalar(s) && (is_element(a) || a == IDENTITY)))]
pub fn times(s: Scalar, a: Element) -> Element {
    (scalar(s) * element(a)).compress().to_bytes()
}

/// The sum of elements; the empty sum is the identity.
pub fn sum(elements: &[Element]) -> Element {
    let mut total = curve25519_dalek::RistrettoPoint::identity();
    for e in elements {
        total += element(*e);
    }
    total.compress().to_bytes()
}

/// a + b c
#[cfg_attr(veriplex_hax, hax_lib::requires(is_scalar(a) && is_scalar(b) && is_scalar(c)))]
pub fn plus_times(a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    (scalar(a) + scalar(b) * scalar(c)).to_bytes()
}

/// -a
#[cfg_attr(veriplex_hax, hax_lib::requires(is_scalar(a)))]
pub fn minus(a: Scalar) -> Scalar {
    (-scalar(a)).to_bytes()
}

/// 1 / a
#[cfg_attr(veriplex_hax, hax_lib::requires(is_scalar(a) && a != [0; 32]))]
pub fn inverse(a: Scalar) -> Scalar {
    scalar(a).invert().to_bytes()
}
