//! Oblivious pseudorandom function: a client learns the output of a server's key for the client's input, and the
//! server learns neither. In the verifiable form (VOPRF) the client also knows that the server used the key that
//! belongs to its public key.
//!
//! It follows OPRF and VOPRF of RFC 9497 (sections 3.3.1 and 3.3.2), after Jarecki, Kiayias and Krawczyk ("2HashDH",
//! 2014), but a transcript replaces the hash functions: **the two do not interoperate**. There is no partially
//! oblivious form (POPRF, section 3.3.3): Newplex has none, and it needs an assumption of its own. If there is public
//! input with few values, use a [`ServerKey`] for each value.
//!
//! **Use an OPRF key for nothing else.** The server applies its key to any element, whatever the domain, so whoever may
//! ask can break every other use of the same key. So it has its own type, [`ServerKey`], that no other scheme takes.
//!
//! In order:
//!
//! 1. Client: [`blind`] or [`blind_verifiable`], which give the element to send and the blind to keep.
//! 2. Server: [`blind_evaluate`], or [`blind_evaluate_verifiable`] for several elements and one proof about all of
//!    them.
//! 3. Client: [`Blind::finalize`], or [`VerifiableBlind::finalize`] and its forms for batches. They take the blind by
//!    value, so that it is used once. [`Blind::into_bytes`] stores it, if the answer comes to another process.
//!
//! The input is hidden unconditionally: a blinded element is uniform. Outputs are pseudorandom if the one-more gap
//! Diffie-Hellman problem is hard, in the random oracle model; as with every PRF of this form, a server that answers
//! q requests loses log2(q)/2 bits to the static Diffie-Hellman problem at worst (RFC 9497, section 7.2.3). An output
//! depends on its length. Whoever may ask can search low-entropy inputs: limit the requests.
//!
//! The proof is Chaum and Pedersen's for a random combination of the batch. Each weight comes from a transcript of
//! the pairs up to its own, so no server can choose pairs whose errors cancel. Its nonce depends on the key, the batch
//! and randomness: a generator that repeats does no harm to the key.
//!
//! Sizes: an element 32 bytes, a proof 64 bytes; a stored [`Blind`] 162 bytes, a [`VerifiableBlind`] 194.
//!
//! ```
//! use veriplex::{label, oprf, os_rng};
//!
//! let domain = label!("com.example.oprf");
//! let server = oprf::ServerKey::generate(&mut os_rng());
//! let mut output = [0; 32];
//!
//! let (blind, request) = oprf::blind_verifiable(domain, b"input", &mut os_rng())?;
//! let ([response], proof) = oprf::blind_evaluate_verifiable(domain, &server, &[request], &mut os_rng())?;
//! blind.finalize(domain, server.public_key(), &response, &proof, &mut output)?;
//!
//! // Whoever has both key and input can compute it directly.
//! let mut direct = [0; 32];
//! oprf::evaluate(domain, &server, b"input", &mut direct)?;
//! assert_eq!(output, direct);
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! A used blind is gone:
//!
//! ```compile_fail,E0382
//! # use veriplex::{Error, label, oprf};
//! # use veriplex::oprf::EvaluatedElement as Answer;
//! # fn twice(blind: oprf::Blind, first: &Answer, second: &Answer) -> Result<(), Error> {
//! let mut output = [0; 32];
//! blind.finalize(first, &mut output)?;
//! blind.finalize(second, &mut output)
//! # }
//! ```
//!
//! And one for the verifiable form cannot be finalized without a proof:
//!
//! ```compile_fail,E0061
//! # use veriplex::{Error, label, oprf};
//! # fn without(blind: oprf::VerifiableBlind, evaluated: &oprf::EvaluatedElement) -> Result<(), Error> {
//! let mut output = [0; 32];
//! blind.finalize(evaluated, &mut output)
//! # }
//! ```

/// The encoding of a group element in a type of its own.
macro_rules! element {
    ($($name:ident),*) => {$(
        impl $name {
            /// Size in bytes of the encoding.
            pub const LEN: usize = PublicKey::LEN;

            const INVALID: Error = Error::InvalidKey;

            /// Decodes 32 bytes.
            ///
            /// # Errors
            ///
            /// [`Error::InvalidKey`] unless they are the canonical encoding of an element other than the identity.
            pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
                PublicKey::from_bytes(bytes).map(Self)
            }

            /// The encoding, 32 bytes.
            #[must_use]
            pub const fn to_bytes(&self) -> [u8; Self::LEN] {
                self.0.to_bytes()
            }

            /// The encoding, 32 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
                self.0.as_bytes()
            }
        }
    )*};
}

mod key;

use curve25519_dalek::traits::Identity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::base::encoding::{decoded, public, public_bytes};
use crate::base::timing::Timing;
use crate::base::wipe::{Secret, opaque, wipe};
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Label, Protocol, label};
pub use key::{ServerKey, ServerPublicKey};

/// What a client sends: its input, blinded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BlindedElement(PublicKey);

/// What a server answers: the blinded element under its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EvaluatedElement(PublicKey);

element!(BlindedElement, EvaluatedElement);

/// A proof that a batch of elements was evaluated under one key: two canonical scalars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Proof([u8; 2 * SCALAR_LEN]);

decoded!(BlindedElement, EvaluatedElement, Proof);
public!(BlindedElement, EvaluatedElement, Proof);
public_bytes!(BlindedElement, EvaluatedElement, Proof);

impl Proof {
    /// Size in bytes of an encoded proof.
    pub const LEN: usize = 2 * SCALAR_LEN;

    const INVALID: Error = Error::Verification;

    /// Decodes a proof.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if a scalar is not canonical.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        for scalar in bytes.as_chunks().0 {
            group::decode_scalar(scalar).map_err(|_| Self::INVALID)?;
        }
        Ok(Self(*bytes))
    }

    /// The proof as 64 bytes: challenge, response.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0
    }

    /// The proof as 64 bytes: challenge, response.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Challenge and response.
    fn scalars(&self) -> [Scalar; 2] {
        let parts = self.0.as_chunks().0;
        [0, 1].map(|part| group::decoded_scalar(&parts[part]))
    }
}

/// What a client keeps until the answer comes, in the form without proofs. It is used once.
pub struct Blind {
    prf: Protocol,
    scalar: Secret<Scalar>,
}

/// What a client keeps until the answer comes, in the form with proofs. It is used once.
pub struct VerifiableBlind {
    blind: Blind,
    blinded: BlindedElement,
}

opaque!(Blind, VerifiableBlind);

/// Blinds an input, for a server whose answer is not verified.
///
/// # Errors
///
/// [`Error::InvalidKey`] if the blind is zero or the input is mapped to the identity (a probability of 2^-251).
pub fn blind<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    input: &[u8],
    rng: &mut R,
) -> Result<(Blind, BlindedElement), Error> {
    let _timing = Timing::independent();
    let (prf, point) = start(domain, input)?;
    let scalar = group::random_scalar(rng);
    let blinded = BlindedElement(PublicKey::from_element(*scalar * *point)?);
    Ok((Blind { prf, scalar }, blinded))
}

/// Blinds an input, for a server that must prove that it uses its key.
///
/// # Errors
///
/// [`Error::InvalidKey`] as for [`blind`].
pub fn blind_verifiable<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    input: &[u8],
    rng: &mut R,
) -> Result<(VerifiableBlind, BlindedElement), Error> {
    let (blind, blinded) = blind(domain, input, rng)?;
    Ok((VerifiableBlind { blind, blinded }, blinded))
}

/// The server's answer, without a proof.
///
/// # Errors
///
/// [`Error::InvalidKey`] if it is the identity, which it never is for a valid element.
pub fn blind_evaluate(key: &ServerKey, blinded: &BlindedElement) -> Result<EvaluatedElement, Error> {
    let _timing = Timing::independent();
    PublicKey::from_element(**key.key.scalar() * blinded.0.element()).map(EvaluatedElement)
}

/// The server's answers to at least one element, with one proof for all, in the order of the elements.
///
/// # Errors
///
/// [`Error::InvalidKey`] if an answer or the combination of the elements is the identity, which happens with a
/// probability of 2^-252 at most.
///
/// An empty batch does not compile:
///
/// ```compile_fail,E0080
/// # use veriplex::{label, oprf, os_rng};
/// # fn main() {
/// let key = oprf::ServerKey::generate(&mut os_rng());
/// let answers = oprf::blind_evaluate_verifiable(label!("oprf"), &key, &[], &mut os_rng());
/// # }
/// ```
pub fn blind_evaluate_verifiable<R: CryptoRng + ?Sized, const N: usize>(
    domain: Label<'_>,
    key: &ServerKey,
    blinded: &[BlindedElement; N],
    rng: &mut R,
) -> Result<([EvaluatedElement; N], Proof), Error> {
    const { assert!(N > 0, "a batch has at least one element") };
    let mut evaluated = [EvaluatedElement(key.public_key().0); N];
    let proof = evaluate_batch(domain, key, blinded, &mut evaluated, hedged(key, rng))?;
    Ok((evaluated, proof))
}

/// [`blind_evaluate_verifiable`] for as many elements as there are.
///
/// # Errors
///
/// [`Error::InvalidKey`] as there; [`Error::BufferLength`] if there are none.
#[cfg(feature = "alloc")]
pub fn blind_evaluate_verifiable_vec<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    key: &ServerKey,
    blinded: &[BlindedElement],
    rng: &mut R,
) -> Result<(alloc::vec::Vec<EvaluatedElement>, Proof), Error> {
    let mut evaluated = alloc::vec![EvaluatedElement(key.public_key().0); blinded.len()];
    let proof = evaluate_batch(domain, key, blinded, &mut evaluated, hedged(key, rng))?;
    Ok((evaluated, proof))
}

/// Fills `output` for an input that the owner of the key knows.
///
/// # Errors
///
/// [`Error::InvalidKey`] if the input is mapped to the identity (a probability of 2^-252).
pub fn evaluate(domain: Label<'_>, key: &ServerKey, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
    let _timing = Timing::independent();
    let (prf, point) = start(domain, input)?;
    finish(prf, &Secret::new(**key.key.scalar() * *point), output)
}

impl Blind {
    /// Size in bytes of a stored blind.
    pub const LEN: usize = Protocol::SERIALIZED_LEN + SCALAR_LEN;

    /// The blind, to be stored until the answer comes: state of the transcript, scalar. Whoever has it, and what was sent,
    /// can test guesses at the input.
    #[must_use]
    pub fn into_bytes(self) -> Zeroizing<[u8; Self::LEN]> {
        let mut stored = Zeroizing::new([0; Self::LEN]);
        self.write(stored.as_mut_slice());
        stored
    }

    /// The blind that was stored; `stored` is then all zeros. Delete other copies: a blind is used once.
    ///
    /// ```
    /// use veriplex::{label, oprf, os_rng};
    ///
    /// let server = oprf::ServerKey::generate(&mut os_rng());
    /// let (blind, request) = oprf::blind(label!("com.example.oprf"), b"input", &mut os_rng())?;
    /// let mut stored = blind.into_bytes();
    /// // The answer comes, perhaps to another process:
    /// let answer = oprf::blind_evaluate(&server, &request)?;
    /// let mut output = [0; 32];
    /// oprf::Blind::from_bytes(&mut stored)?.finalize(&answer, &mut output)?;
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidState`] if it is not a stored blind.
    pub fn from_bytes(stored: &mut [u8; Self::LEN]) -> Result<Self, Error> {
        let blind = Self::read(stored);
        wipe(stored);
        blind
    }

    fn write(&self, stored: &mut [u8]) {
        let (prf, scalar) = stored.split_at_mut(Protocol::SERIALIZED_LEN);
        prf.copy_from_slice(Zeroizing::new(self.prf.to_bytes()).as_slice());
        scalar.copy_from_slice(self.scalar.as_bytes());
    }

    fn read(stored: &[u8]) -> Result<Self, Error> {
        let (prf, scalar) = stored.split_first_chunk().ok_or(Error::InvalidState)?;
        let scalar = scalar.try_into().map_err(|_| Error::InvalidState)?;
        // Zero is no blind.
        let scalar = PrivateKey::from_bytes(scalar).map_err(|_| Error::InvalidState)?;
        Ok(Self {
            prf: Protocol::from_bytes(prf)?,
            scalar: scalar.scalar().clone(),
        })
    }

    /// Fills `output` from the server's answer. Nothing shows that the server used the right key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the unblinded answer is the identity, which it never is for a valid element.
    pub fn finalize(self, evaluated: &EvaluatedElement, output: &mut [u8]) -> Result<(), Error> {
        self.output(evaluated, output)
    }

    /// By reference: what is moved out of a vector stays in its memory, and is not wiped there.
    fn output(&self, evaluated: &EvaluatedElement, output: &mut [u8]) -> Result<(), Error> {
        let _timing = Timing::independent();
        let inverse = Secret::new(self.scalar.invert());
        let element = Secret::new(*inverse * evaluated.0.element());
        finish(self.prf.clone(), &element, output)
    }
}

impl VerifiableBlind {
    /// Size in bytes of a stored blind.
    pub const LEN: usize = Blind::LEN + ELEMENT_LEN;

    /// As [`Blind::into_bytes`], and then the element that was sent.
    #[must_use]
    pub fn into_bytes(self) -> Zeroizing<[u8; Self::LEN]> {
        let mut stored = Zeroizing::new([0; Self::LEN]);
        let (blind, blinded) = stored.split_at_mut(Blind::LEN);
        self.blind.write(blind);
        blinded.copy_from_slice(self.blinded.as_bytes());
        stored
    }

    /// As [`Blind::from_bytes`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidState`] if it is not a stored blind.
    pub fn from_bytes(stored: &mut [u8; Self::LEN]) -> Result<Self, Error> {
        let (blind, blinded) = stored.split_at(Blind::LEN);
        let read = Blind::read(blind).and_then(|blind| {
            let blinded = blinded.try_into().map_err(|_| Error::InvalidState)?;
            Ok(Self { blind, blinded })
        });
        wipe(stored);
        read
    }

    /// Fills `output` from the server's answer, if the proof for it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the proof is not one by this server for this element and answer in this domain;
    /// `output` is then as it was.
    pub fn finalize(
        self,
        domain: Label<'_>,
        server: &ServerPublicKey,
        evaluated: &EvaluatedElement,
        proof: &Proof,
        output: &mut [u8],
    ) -> Result<(), Error> {
        verify(domain, server, &[(self.blinded, *evaluated)], proof)?;
        self.output(evaluated, output)
    }

    /// The outputs from the server's answers to at least one element, if the one proof for them holds. Blinds and
    /// answers are in the same order.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the proof is not one by this server for these elements and answers in this domain.
    ///
    /// An empty batch does not compile, as for [`blind_evaluate_verifiable`].
    #[allow(clippy::needless_pass_by_value, reason = "a blind serves once")]
    pub fn finalize_batch<const N: usize, const OUTPUT_LEN: usize>(
        blinds: [Self; N],
        domain: Label<'_>,
        server: &ServerPublicKey,
        evaluated: &[EvaluatedElement; N],
        proof: &Proof,
    ) -> Result<[[u8; OUTPUT_LEN]; N], Error> {
        const { assert!(N > 0, "a batch has at least one element") };
        let mut pairs = [(blinds[0].blinded, evaluated[0]); N];
        for (pair, (blind, evaluated)) in pairs.iter_mut().zip(blinds.iter().zip(evaluated)) {
            *pair = (blind.blinded, *evaluated);
        }
        verify(domain, server, &pairs, proof)?;
        let mut outputs = [[0; OUTPUT_LEN]; N];
        for ((blind, evaluated), output) in blinds.iter().zip(evaluated).zip(&mut outputs) {
            blind.output(evaluated, output)?;
        }
        Ok(outputs)
    }

    /// [`VerifiableBlind::finalize_batch`] for as many elements as there are, with outputs of `output_len` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] as there, or if there are more or fewer answers than blinds, or none.
    #[cfg(feature = "alloc")]
    #[allow(clippy::needless_pass_by_value, reason = "a blind serves once")]
    pub fn finalize_vec(
        blinds: alloc::vec::Vec<Self>,
        domain: Label<'_>,
        server: &ServerPublicKey,
        evaluated: &[EvaluatedElement],
        proof: &Proof,
        output_len: usize,
    ) -> Result<alloc::vec::Vec<alloc::vec::Vec<u8>>, Error> {
        if blinds.len() != evaluated.len() {
            return Err(Error::Verification);
        }
        let pairs: alloc::vec::Vec<_> = blinds
            .iter()
            .zip(evaluated)
            .map(|(blind, evaluated)| (blind.blinded, *evaluated))
            .collect();
        verify(domain, server, &pairs, proof)?;
        blinds
            .iter()
            .zip(evaluated)
            .map(|(blind, evaluated)| {
                let mut output = alloc::vec![0; output_len];
                blind.output(evaluated, &mut output)?;
                Ok(output)
            })
            .collect()
    }

    /// The output, once the proof has been verified.
    fn output(&self, evaluated: &EvaluatedElement, output: &mut [u8]) -> Result<(), Error> {
        self.blind
            .output(evaluated, output)
            .map_err(|_| Error::Verification)
    }
}

/// The branch that gives the output, and the point of the input.
fn start(domain: Label<'_>, input: &[u8]) -> Result<(Protocol, Secret<RistrettoPoint>), Error> {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("input"), input);
    let [mut element, prf] = protocol.fork(label!("output"), ["element", "prf"]);
    let point = group::derive_element(&mut element, label!("element"))?;
    Ok((prf, Secret::new(point)))
}

fn finish(mut prf: Protocol, element: &Secret<RistrettoPoint>, output: &mut [u8]) -> Result<(), Error> {
    group::mix_secret_element(&mut prf, label!("unblinded-element"), element)?;
    prf.derive(label!("prf"), output);
    Ok(())
}

/// The nonce of a proof, from the transcript of what it is about.
fn hedged<R: CryptoRng + ?Sized>(key: &ServerKey, rng: &mut R) -> impl FnOnce(&Protocol) -> Secret<Scalar> {
    move |statement| {
        let mut hidden = group::hedge(statement, key.key.scalar(), rng);
        group::derive_scalar(&mut hidden, label!("commitment"))
    }
}

/// The answers, and the proof of them with the nonce that `nonce` gives.
pub(in crate::schemes::ristretto) fn evaluate_batch(
    domain: Label<'_>,
    key: &ServerKey,
    blinded: &[BlindedElement],
    evaluated: &mut [EvaluatedElement],
    nonce: impl FnOnce(&Protocol) -> Secret<Scalar>,
) -> Result<Proof, Error> {
    let _timing = Timing::independent();
    if blinded.is_empty() {
        return Err(Error::BufferLength);
    }
    for (to, from) in evaluated.iter_mut().zip(blinded) {
        *to = blind_evaluate(key, from)?;
    }
    let mut weights = Weights::new(domain, key.public_key());
    let mut m = RistrettoPoint::identity();
    for (blinded, evaluated) in blinded.iter().zip(&*evaluated) {
        m += weights.next(blinded, evaluated) * blinded.0.element();
    }
    let m = PublicKey::from_element(m)?;
    let z = PublicKey::from_element(**key.key.scalar() * m.element())?;
    let statement = statement(domain, key.public_key(), [&m, &z]);
    let nonce = nonce(&statement);
    let commitments = [RistrettoPoint::mul_base(&nonce), *nonce * m.element()];
    let challenge = challenge(statement, commitments);
    let response = *nonce - challenge * **key.key.scalar();
    Ok(Proof(group::join([challenge.as_bytes(), response.as_bytes()])))
}

/// In variable time: everything here is public.
fn verify(
    domain: Label<'_>,
    server: &ServerPublicKey,
    pairs: &[(BlindedElement, EvaluatedElement)],
    proof: &Proof,
) -> Result<(), Error> {
    let mut weights = Weights::new(domain, server);
    let [mut m, mut z] = [RistrettoPoint::identity(); 2];
    for (blinded, evaluated) in pairs {
        let weight = weights.next(blinded, evaluated);
        m += weight * blinded.0.element();
        z += weight * evaluated.0.element();
    }
    // An empty batch ends here too.
    let [m, z] = [m, z].map(|element| PublicKey::from_element(element).map_err(|_| Error::Verification));
    let (m, z) = (m?, z?);
    let [proved, response] = proof.scalars();
    let t2 = RistrettoPoint::vartime_double_scalar_mul_basepoint(&proved, server.0.element(), &response);
    let t3 = response * m.element() + proved * z.element();
    if challenge(statement(domain, server, [&m, &z]), [t2, t3]) == proved {
        Ok(())
    } else {
        Err(Error::Verification)
    }
}

/// The weights of the pairs of a batch.
struct Weights(Protocol);

impl Weights {
    fn new(domain: Label<'_>, server: &ServerPublicKey) -> Self {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("b"), server.0.as_bytes());
        Self(protocol)
    }

    fn next(&mut self, blinded: &BlindedElement, evaluated: &EvaluatedElement) -> Scalar {
        self.0.mix(label!("c"), blinded.0.as_bytes());
        self.0.mix(label!("d"), evaluated.0.as_bytes());
        *group::derive_scalar(&mut self.0, label!("scalar"))
    }
}

/// The transcript of what a proof is about.
fn statement(domain: Label<'_>, server: &ServerPublicKey, [m, z]: [&PublicKey; 2]) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("b"), server.0.as_bytes());
    protocol.mix(label!("m"), m.as_bytes());
    protocol.mix(label!("z"), z.as_bytes());
    protocol
}

fn challenge(mut protocol: Protocol, [t2, t3]: [RistrettoPoint; 2]) -> Scalar {
    protocol.mix(label!("t2"), t2.compress().as_bytes());
    protocol.mix(label!("t3"), t3.compress().as_bytes());
    *group::derive_scalar(&mut protocol, label!("challenge"))
}
