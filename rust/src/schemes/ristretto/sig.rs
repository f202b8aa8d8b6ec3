//! Signatures of 64 bytes: Schnorr's scheme over Ristretto255, with challenge and nonce derived from a transcript.
//!
//! Mix `signer`, Mix `message`, Fork `role`. The prover's branch takes in the private key and 64 random bytes and
//! derives the nonce k; the verifier's branch takes in kG and derives the challenge. The nonce depends on key,
//! message and randomness: if the generator repeats or fails, signatures are as good as deterministic ones.
//!
//! Strongly unforgeable under chosen messages (sUF-CMA) if discrete logarithms are hard, in the random oracle model,
//! with a challenge bound to the public key (Schnorr, "Efficient Signature Generation by Smart Cards", 1991;
//! Pointcheval and Stern, 2000). The group has prime order: there is no cofactor, each element and scalar has one
//! encoding, and all verifiers, single or in a batch, accept the same signatures.
//!
//! A signature is the encoded commitment (32 bytes) and the proof scalar (32 bytes).
//!
//! ```
//! use veriplex::{keys::PrivateKey, label, os_rng, sig};
//!
//! let key = PrivateKey::generate(&mut os_rng());
//! let signature = sig::sign(label!("com.example.sig"), &key, b"message", &mut os_rng());
//! sig::verify(label!("com.example.sig"), key.public_key(), b"message", &signature)?;
//!
//! let mut verifier = sig::Verifier::new(label!("com.example.sig"), key.public_key());
//! verifier.update(b"mess");
//! verifier.update(b"age");
//! verifier.verify(&signature)?;
//! # Ok::<(), veriplex::Error>(())
//! ```

use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use super::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::base::encoding::{decoded, public, public_bytes};
use crate::base::forms::hash_writer;
use crate::base::timing::Timing;
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Label, Protocol, label};

/// A signature: a commitment and a canonical scalar.
///
/// It displays as 128 hexadecimal digits in lower case, and is parsed from them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; ELEMENT_LEN + SCALAR_LEN]);

decoded!(Signature);
public!(Signature);
public_bytes!(Signature);

impl Signature {
    /// Size in bytes of an encoded signature.
    pub const LEN: usize = ELEMENT_LEN + SCALAR_LEN;

    const INVALID: Error = Error::Verification;

    /// Decodes a signature.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the scalar is not canonical.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        group::decode_scalar(&bytes.as_chunks().0[1]).map_err(|_| Self::INVALID)?;
        Ok(Self(*bytes))
    }

    /// The signature as 64 bytes.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0
    }

    /// The signature as 64 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn new(commitment: &RistrettoPoint, proof: Scalar) -> Self {
        Self(group::join([commitment.compress().as_bytes(), proof.as_bytes()]))
    }

    fn commitment(&self) -> &[u8; ELEMENT_LEN] {
        &self.0.as_chunks().0[0]
    }

    fn proof(&self) -> Scalar {
        group::decoded_scalar(&self.0.as_chunks().0[1])
    }
}

/// Signs a message, with randomness.
#[must_use]
pub fn sign<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    key: &PrivateKey,
    message: &[u8],
    rng: &mut R,
) -> Signature {
    let mut signer = Signer::new(domain, key);
    signer.update(message);
    signer.sign(rng)
}

/// Signs a message, without randomness: one message, one signature.
///
/// An attacker who can disturb the computation (fault injection) learns the key from two signatures of one message, so
/// use [`sign`] where there is a generator.
#[must_use]
pub fn sign_deterministic(domain: Label<'_>, key: &PrivateKey, message: &[u8]) -> Signature {
    let mut signer = Signer::new(domain, key);
    signer.update(message);
    signer.sign_deterministic()
}

/// Verifies a signature.
///
/// # Errors
///
/// [`Error::Verification`] if this key did not sign this message in this domain.
pub fn verify(
    domain: Label<'_>,
    key: &PublicKey,
    message: &[u8],
    signature: &Signature,
) -> Result<(), Error> {
    let mut verifier = Verifier::new(domain, key);
    verifier.update(message);
    verifier.verify(signature)
}

/// Signs a message piece by piece.
///
/// With feature `std` it is a `Write`.
#[derive(Clone)]
pub struct Signer<'k> {
    protocol: Protocol,
    key: &'k PrivateKey,
}

impl<'k> Signer<'k> {
    /// Starts a signature.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &'k PrivateKey) -> Self {
        Self {
            protocol: start(domain, key.public_key()),
            key,
        }
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.protocol.mix_more(input);
    }

    /// The signature, with randomness.
    #[must_use]
    pub fn sign<R: CryptoRng + ?Sized>(self, rng: &mut R) -> Signature {
        self.sign_hedged(group::random_bytes(rng).as_slice())
    }

    /// The signature, without randomness; see [`sign_deterministic`].
    #[must_use]
    pub fn sign_deterministic(self) -> Signature {
        self.sign_hedged(&[])
    }

    pub(crate) fn sign_hedged(self, randomness: &[u8]) -> Signature {
        prove(self.protocol, self.key, randomness)
    }
}

impl fmt::Debug for Signer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

/// Verifies a message piece by piece.
///
/// With feature `std` it is a `Write`.
#[derive(Clone, Debug)]
pub struct Verifier {
    protocol: Protocol,
    key: PublicKey,
}

impl Verifier {
    /// Starts a verification.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &PublicKey) -> Self {
        Self {
            protocol: start(domain, key),
            key: *key,
        }
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.protocol.mix_more(input);
    }

    /// Verifies a signature of these pieces.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if this key did not sign this message in this domain.
    pub fn verify(self, signature: &Signature) -> Result<(), Error> {
        check(self.protocol, &self.key, signature)
    }
}

hash_writer!(Signer<'_>, Verifier);

/// Verifies many signatures at once, at about half the cost of one after the other. Each item is a public key, a
/// message and its signature, all in one domain. An empty batch is valid.
///
/// The verification equations sR = R + cQ are added up, each with a weight of 128 bits. The weights come from a
/// transcript of all keys, challenges and signatures, so nobody can choose signatures whose errors cancel, except with
/// a probability of 2^-128 per try. As the group has prime order, no error can hide in a cofactor: except with that
/// probability, the batch is accepted if and only if [`verify`] accepts each of its signatures.
///
/// # Errors
///
/// [`Error::Verification`] if a signature is wrong. [`verify`] tells which one.
#[cfg(feature = "alloc")]
pub fn verify_batch(domain: Label<'_>, items: &[(&PublicKey, &[u8], &Signature)]) -> Result<(), Error> {
    use alloc::vec::Vec;

    use curve25519_dalek::traits::{IsIdentity, VartimeMultiscalarMul};

    // Everything here is public: time may depend on it.
    let (mut weights, challenges) = weights(domain, items);
    let mut scalars = Vec::with_capacity(1 + 2 * items.len());
    let mut elements = Vec::with_capacity(1 + 2 * items.len());
    let mut proofs = Scalar::ZERO;
    for ((key, _, signature), challenge) in items.iter().zip(challenges) {
        let weight = Scalar::from(u128::from_le_bytes(weights.derive_array(label!("weight"))));
        proofs += weight * signature.proof();
        scalars.extend([weight, weight * challenge]);
        elements.extend([group::decompress(signature.commitment()), Some(*key.element())]);
    }
    scalars.push(-proofs);
    elements.push(Some(curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT));
    match RistrettoPoint::optional_multiscalar_mul(scalars, elements) {
        Some(sum) if sum.is_identity() => Ok(()),
        _ => Err(Error::Verification),
    }
}

/// The transcript of a batch, which derives the weights, and the challenges.
#[cfg(feature = "alloc")]
fn weights(
    domain: Label<'_>,
    items: &[(&PublicKey, &[u8], &Signature)],
) -> (Protocol, alloc::vec::Vec<Scalar>) {
    let mut weights = Protocol::new(domain);
    let mut challenges = alloc::vec::Vec::with_capacity(items.len());
    for (key, message, signature) in items {
        let challenge = challenge_of(domain, key, message, signature.commitment());
        weights.mix(label!("signer"), key.as_bytes());
        weights.mix(label!("challenge"), challenge.as_bytes());
        weights.mix(label!("signature"), signature.as_bytes());
        challenges.push(challenge);
    }
    (weights, challenges)
}

/// The transcript, with the message open.
fn start(domain: Label<'_>, signer: &PublicKey) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("signer"), signer.as_bytes());
    protocol.mix_begin(label!("message"));
    protocol
}

/// The branches of prover and verifier, once the message is complete.
fn roles(mut protocol: Protocol) -> [Protocol; 2] {
    protocol.fork(label!("role"), ["prover", "verifier"])
}

fn challenge(mut verifier: Protocol, commitment: &[u8; ELEMENT_LEN]) -> Scalar {
    verifier.mix(label!("commitment"), commitment);
    *group::derive_scalar(&mut verifier, label!("challenge"))
}

/// The challenge of a signature.
#[cfg(feature = "alloc")]
pub(crate) fn challenge_of(
    domain: Label<'_>,
    key: &PublicKey,
    message: &[u8],
    commitment: &[u8; ELEMENT_LEN],
) -> Scalar {
    let mut protocol = start(domain, key);
    protocol.mix_more(message);
    let [_, verifier] = roles(protocol);
    challenge(verifier, commitment)
}

/// Proves knowledge of a key to a transcript that holds the public key: Schnorr's proof.
pub(crate) fn prove(protocol: Protocol, key: &PrivateKey, hedge: &[u8]) -> Signature {
    let _timing = Timing::independent();
    let [mut prover, verifier] = roles(protocol);
    prover.mix(label!("signer-private"), key.scalar().as_bytes());
    prover.mix(label!("hedged-rand"), hedge);
    let nonce = group::derive_scalar(&mut prover, label!("commitment"));
    let commitment = RistrettoPoint::mul_base(&nonce).compress().to_bytes();
    let proof = *nonce + **key.scalar() * challenge(verifier, &commitment);
    Signature(group::join([&commitment, proof.as_bytes()]))
}

/// Checks a proof of [`prove`]. In variable time: key, transcript and signature are public.
pub(crate) fn check(protocol: Protocol, key: &PublicKey, signature: &Signature) -> Result<(), Error> {
    let [_, verifier] = roles(protocol);
    let challenge = challenge(verifier, signature.commitment());
    let commitment =
        RistrettoPoint::vartime_double_scalar_mul_basepoint(&-challenge, key.element(), &signature.proof());
    if commitment.compress().as_bytes() == signature.commitment() {
        Ok(())
    } else {
        Err(Error::Verification)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    /// With weights that do not depend on the messages, an attacker could try messages until the errors cancel: of many
    /// signatures at once, far fewer than 2^128 (Wagner, "A Generalized Birthday Problem", 2002).
    #[test]
    fn weights_depend_on_the_messages() {
        let key = PrivateKey::from_uniform_bytes([1; 64]).unwrap();
        let signature = sign_deterministic(label!("sig"), &key, b"a");
        let of = |messages: [&[u8]; 2]| {
            let items = messages.map(|message| (key.public_key(), message, &signature));
            weights(label!("sig"), &items).0
        };
        assert_eq!(of([b"a", b"a"]), of([b"a", b"a"]));
        assert_ne!(of([b"a", b"a"]), of([b"a", b"b"]));
        assert_ne!(of([b"a", b"a"]), of([b"b", b"a"]));
    }
}
