//! Ristretto255 (RFC 9496) as the schemes use it.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use crate::base::timing::Timing;
use crate::base::wipe::Secret;
use crate::{Error, Label, Protocol, label};

/// Size in bytes of an encoded element.
pub(crate) const ELEMENT_LEN: usize = 32;
/// Size in bytes of an encoded scalar.
pub(crate) const SCALAR_LEN: usize = 32;

/// 64 bytes out of a generator.
pub(crate) fn random_bytes<R: CryptoRng + ?Sized>(rng: &mut R) -> Secret<[u8; 64]> {
    let mut bytes = Secret::new([0; 64]);
    rng.fill_bytes(bytes.as_mut_slice());
    bytes
}

/// A uniform scalar out of a generator: 64 bytes of it, reduced.
pub(crate) fn random_scalar<R: CryptoRng + ?Sized>(rng: &mut R) -> Secret<Scalar> {
    let uniform = random_bytes(rng);
    let _timing = Timing::independent();
    Secret::new(Scalar::from_bytes_mod_order_wide(&uniform))
}

/// The transcript with a private key and 64 bytes of a generator mixed in. What is derived from it is unpredictable if
/// either is, and repeats only if the generator repeats in one transcript.
pub(crate) fn hedge<R: CryptoRng + ?Sized>(transcript: &Protocol, private: &Scalar, rng: &mut R) -> Protocol {
    let mut hidden = transcript.clone();
    hidden.mix(label!("own-private"), private.as_bytes());
    randomized(hidden, rng)
}

/// A transcript with 64 bytes of a generator mixed in.
pub(crate) fn randomized<R: CryptoRng + ?Sized>(mut transcript: Protocol, rng: &mut R) -> Protocol {
    transcript.mix(label!("rand"), random_bytes(rng).as_slice());
    transcript
}

/// Derive of a uniform scalar.
pub(crate) fn derive_scalar(protocol: &mut Protocol, label: Label<'_>) -> Secret<Scalar> {
    let _timing = Timing::independent();
    let mut uniform = Secret::new([0; 64]);
    protocol.derive(label, uniform.as_mut_slice());
    Secret::new(Scalar::from_bytes_mod_order_wide(&uniform))
}

/// Derive of a uniform element (the one-way map of RFC 9496, section 4.3.4).
///
/// # Errors
///
/// [`Error::InvalidKey`] for the identity (a probability of 2^-252).
pub(crate) fn derive_element(protocol: &mut Protocol, label: Label<'_>) -> Result<RistrettoPoint, Error> {
    let _timing = Timing::independent();
    let mut uniform = Secret::new([0; 64]);
    protocol.derive(label, uniform.as_mut_slice());
    not_identity(RistrettoPoint::from_uniform_bytes(&uniform))
}

/// Mix of an element that is secret, such as the result of a Diffie-Hellman step.
///
/// # Errors
///
/// [`Error::InvalidKey`] for the identity, which anyone can predict.
pub(crate) fn mix_secret_element(
    protocol: &mut Protocol,
    label: Label<'_>,
    element: &Secret<RistrettoPoint>,
) -> Result<(), Error> {
    let _timing = Timing::independent();
    not_identity(**element)?;
    protocol.mix(label, Secret::new(element.compress().to_bytes()).as_slice());
    Ok(())
}

/// The element of a canonical encoding.
///
/// # Errors
///
/// [`Error::InvalidKey`] for anything else, and for the identity.
#[inline(never)] // as below
pub(crate) fn decode_element(bytes: &[u8; ELEMENT_LEN]) -> Result<RistrettoPoint, Error> {
    not_identity(decompress(bytes).ok_or(Error::InvalidKey)?)
}

/// The element of a canonical encoding, which may be the identity.
pub(crate) fn decompress(bytes: &[u8; ELEMENT_LEN]) -> Option<RistrettoPoint> {
    CompressedRistretto(*bytes).decompress()
}

/// # Errors
///
/// [`Error::InvalidKey`] for the identity.
#[inline(never)] // tests/ct knows it by name: the answer is public
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
#[inline(never)] // as above
pub(crate) fn decode_scalar(bytes: &[u8; SCALAR_LEN]) -> Result<Scalar, Error> {
    Option::from(Scalar::from_canonical_bytes(*bytes)).ok_or(Error::InvalidKey)
}

/// The scalar of an encoding that [`decode_scalar`] accepted.
pub(crate) fn decoded_scalar(bytes: &[u8; SCALAR_LEN]) -> Scalar {
    Scalar::from_bytes_mod_order(*bytes)
}

/// Concatenates encodings; N is their length together.
pub(crate) fn join<const M: usize, const N: usize>(parts: [&[u8; 32]; M]) -> [u8; N] {
    const { assert!(N == 32 * M) };
    let mut bytes = [0; N];
    for (to, from) in bytes.as_chunks_mut().0.iter_mut().zip(parts) {
        *to = *from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::traits::Identity;

    use super::*;

    /// No caller has keys that give it: each scalar is not zero, each element not the identity.
    #[test]
    fn the_identity_is_no_secret() {
        let mut protocol = Protocol::new(label!("test"));
        let before = protocol.clone();
        let identity = Secret::new(RistrettoPoint::identity());
        let mixed = mix_secret_element(&mut protocol, label!("element"), &identity);
        assert_eq!(mixed, Err(Error::InvalidKey));
        assert_eq!(protocol, before);
    }
}
