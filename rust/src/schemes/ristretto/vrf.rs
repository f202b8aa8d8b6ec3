//! Verifiable random function: an output that only the owner of a key can compute, with a proof that it is this key's
//! only output for the input.
//!
//! Mix `generator`, `prover`, `input`, Derive `point` H; Mix `gamma` = dH; Derive `prf`, the output; then a proof
//! that H and the generator have the same discrete logarithm to gamma and to the public key (Chaum and Pedersen,
//! 1992).
//!
//! Like ECVRF (RFC 9381, sections 3 and 5), with which it does not interoperate: unique in the full sense for any
//! public key, even one made by an attacker, since a [`PublicKey`] is not the identity; collision-resistant;
//! pseudorandom to those who have not seen the proof, if the decisional Diffie-Hellman problem is hard, in the random
//! oracle model. The output depends on its length.
//!
//! The nonce of the proof depends on key, input and randomness, as in [`sig`](crate::sig). Proofs of one input
//! differ; the output does not.
//!
//! A proof has 96 bytes; the output is as long as the caller wants.
//!
//! An output is not a key: whoever has the proof can compute it. As a nonce, it repeats with the input, so use it only
//! if no input occurs twice under the key of the scheme, or with [`siv`](crate::siv).
//!
//! ```
//! use veriplex::{keys::PrivateKey, label, os_rng, vrf};
//!
//! let key = PrivateKey::generate(&mut os_rng());
//! let (mut output, mut verified) = ([0; 32], [0; 32]);
//! let proof = vrf::prove(label!("com.example.vrf"), &key, b"input", &mut os_rng(), &mut output)?;
//! vrf::verify(label!("com.example.vrf"), key.public_key(), b"input", &proof, &mut verified)?;
//! assert_eq!(output, verified);
//! # Ok::<(), veriplex::Error>(())
//! ```

use curve25519_dalek::{RistrettoPoint, Scalar, constants};
use rand_core::CryptoRng;

use super::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::base::encoding::{decoded, public, public_bytes};
use crate::base::timing::Timing;
use crate::base::wipe::wipe;
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Label, Protocol, label};

/// A proof: an element other than the identity, and two canonical scalars.
///
/// It displays as 192 hexadecimal digits in lower case, and is parsed from them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    gamma: PublicKey,
    bytes: [u8; ELEMENT_LEN + 2 * SCALAR_LEN],
}

decoded!(Proof);
public!(Proof);
public_bytes!(Proof);

impl Proof {
    /// Size in bytes of an encoded proof.
    pub const LEN: usize = ELEMENT_LEN + 2 * SCALAR_LEN;

    const INVALID: Error = Error::Verification;

    /// Decodes a proof.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the element or a scalar is not canonical, or the element the identity.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let parts = bytes.as_chunks().0;
        let decode = || {
            group::decode_scalar(&parts[1])?;
            group::decode_scalar(&parts[2])?;
            Ok(Self {
                gamma: PublicKey::from_bytes(&parts[0])?,
                bytes: *bytes,
            })
        };
        decode().map_err(|_: Error| Self::INVALID)
    }

    /// The proof as 96 bytes: gamma, challenge, response.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.bytes
    }

    /// The proof as 96 bytes: gamma, challenge, response.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.bytes
    }

    /// Challenge and response.
    fn scalars(&self) -> [Scalar; 2] {
        let parts = self.bytes.as_chunks().0;
        [1, 2].map(|part| group::decoded_scalar(&parts[part]))
    }
}

/// Fills `output` with the output for an input, and proves it.
///
/// # Errors
///
/// [`Error::InvalidKey`] if the input is mapped to the identity (a probability of 2^-252).
pub fn prove<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    key: &PrivateKey,
    input: &[u8],
    rng: &mut R,
    output: &mut [u8],
) -> Result<Proof, Error> {
    let _timing = Timing::independent();
    let (mut protocol, point) = start(domain, key.public_key(), input)?;
    let gamma = PublicKey::from_element(**key.scalar() * point)?;
    let [mut prover, verifier] = evaluate(&mut protocol, &gamma, output);
    prover.mix(label!("prover-private"), key.scalar().as_bytes());
    prover.mix(label!("rand"), group::random_bytes(rng).as_slice());
    let nonce = group::derive_scalar(&mut prover, label!("commitment"));
    let commitments = [RistrettoPoint::mul_base(&nonce), *nonce * point];
    let challenge = challenge(verifier, commitments);
    let response = *nonce + challenge * **key.scalar();
    Ok(Proof {
        gamma,
        bytes: group::join([gamma.as_bytes(), challenge.as_bytes(), response.as_bytes()]),
    })
}

/// Verifies a proof, and fills `output` with the output for the input.
///
/// # Errors
///
/// [`Error::Verification`] if the proof is not one for this input by this key in this domain, of an output as long as
/// `output`, which is then all zeros.
pub fn verify(
    domain: Label<'_>,
    key: &PublicKey,
    input: &[u8],
    proof: &Proof,
    output: &mut [u8],
) -> Result<(), Error> {
    // Everything here is public: time may depend on it.
    let verified = start(domain, key, input).and_then(|(mut protocol, point)| {
        let [_, verifier] = evaluate(&mut protocol, &proof.gamma, output);
        let [proved, response] = proof.scalars();
        let minus = -proved;
        let u = RistrettoPoint::vartime_double_scalar_mul_basepoint(&minus, key.element(), &response);
        let v = response * point + minus * proof.gamma.element();
        if challenge(verifier, [u, v]) == proved {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    });
    if verified.is_err() {
        wipe(output);
    }
    verified.map_err(|_| Error::Verification)
}

/// The transcript up to the point of the input.
fn start(domain: Label<'_>, key: &PublicKey, input: &[u8]) -> Result<(Protocol, RistrettoPoint), Error> {
    let mut protocol = Protocol::new(domain);
    protocol.mix(
        label!("generator"),
        constants::RISTRETTO_BASEPOINT_COMPRESSED.as_bytes(),
    );
    protocol.mix(label!("prover"), key.as_bytes());
    protocol.mix(label!("input"), input);
    let point = group::derive_element(&mut protocol, label!("point"))?;
    Ok((protocol, point))
}

/// The output, and the branches of prover and verifier after it.
fn evaluate(protocol: &mut Protocol, gamma: &PublicKey, output: &mut [u8]) -> [Protocol; 2] {
    protocol.mix(label!("gamma"), gamma.as_bytes());
    protocol.derive(label!("prf"), output);
    protocol.fork(label!("role"), ["prover", "verifier"])
}

fn challenge(mut verifier: Protocol, [u, v]: [RistrettoPoint; 2]) -> Scalar {
    verifier.mix(label!("commitment-u"), u.compress().as_bytes());
    verifier.mix(label!("commitment-v"), v.compress().as_bytes());
    *group::derive_scalar(&mut verifier, label!("challenge"))
}
