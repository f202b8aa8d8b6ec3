//! The polynomial whose values are the shares of a key, and commitments to it.

use alloc::vec::Vec;

use curve25519_dalek::traits::VartimeMultiscalarMul;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use super::{Identifier, scalar};
use crate::base::wipe::Secret;
use crate::keys::PublicKey;
use crate::schemes::ristretto::group;
use crate::{Protocol, label};

/// The secret polynomial. A share is its value at the owner's number.
pub(super) struct Polynomial(pub(super) Vec<Secret<Scalar>>);

impl Polynomial {
    pub(super) fn derive<R: CryptoRng + ?Sized>(mut keygen: Protocol, threshold: u16, rng: &mut R) -> Self {
        keygen.mix(label!("seed"), group::random_bytes(rng).as_slice());
        let coefficients = (0..threshold).map(|_| group::derive_scalar(&mut keygen, label!("coefficient")));
        Self(coefficients.collect())
    }

    pub(super) fn commitment(&self) -> Result<Vec<PublicKey>, crate::Error> {
        self.0
            .iter()
            .map(|coefficient| PublicKey::from_element(RistrettoPoint::mul_base(coefficient)))
            .collect()
    }

    pub(super) fn evaluate(&self, at: Identifier) -> Secret<Scalar> {
        let mut value = Secret::new(Scalar::ZERO);
        for coefficient in self.0.iter().rev() {
            *value = *value * scalar(at) + **coefficient;
        }
        value
    }
}

/// The commitment to the value of a polynomial, from that to its coefficients. In variable time: all of it is public.
pub(super) fn evaluate_commitment(commitment: &[PublicKey], at: Identifier) -> RistrettoPoint {
    let powers = core::iter::successors(Some(Scalar::ONE), |power| Some(power * scalar(at)));
    let powers: Vec<Scalar> = powers.take(commitment.len()).collect();
    RistrettoPoint::vartime_multiscalar_mul(powers, commitment.iter().map(PublicKey::element))
}

/// The coefficient that the value at `own` has in the value at zero. In variable time: all of it is public.
pub(super) fn lagrange_coefficient(identifiers: &[Scalar], own: Scalar) -> Scalar {
    let others = || identifiers.iter().filter(|other| **other != own);
    let numerator: Scalar = others().product();
    let denominator: Scalar = others().map(|other| other - own).product();
    numerator * denominator.invert()
}

pub(super) fn decode_commitment(bytes: &[u8]) -> Result<Vec<PublicKey>, crate::Error> {
    let (elements, []) = bytes.as_chunks() else {
        return Err(crate::Error::InvalidKey);
    };
    elements.iter().map(PublicKey::from_bytes).collect()
}
