//! Threshold signatures: of n participants, any t sign together, and fewer cannot. What they make is an ordinary
//! signature of [`sig`] by the group's key, which no one has.
//!
//! FROST, of two rounds: Komlo and Goldberg ("FROST: Flexible Round-Optimized Schnorr Threshold Signatures", 2020),
//! standardised as RFC 9591; here with transcripts in the place of its hash functions, so the two do not
//! interoperate. Unforgeable against fewer than t participants that act together, also with concurrent sessions,
//! under the assumption of the one-more discrete logarithm (Bellare et al., 2022). It is not robust: one signer who
//! sends nonsense stops a session, and is named.
//!
//! 1. Keys: a trusted dealer makes them ([`deal`]), or the participants do among themselves ([`dkg`]). Each has a
//!    [`KeyShare`]; all have the same [`GroupKey`].
//! 2. First round: each signer makes nonces, and sends their commitments ([`KeyShare::commit`]). This needs no
//!    message, but is for one domain.
//! 3. Second round: from the message and the commitments of all signers, each makes the [`SigningPackage`], and from
//!    it a share of the signature ([`KeyShare::sign`]).
//! 4. Anyone with the package and the shares of all signers makes the signature ([`SigningPackage::aggregate`]).
//!
//! Participants have numbers from 1 to n. Everything is matched by them, not by its place in a list. Numbers that are
//! unknown or occur twice are refused.
//!
//! Sizes in bytes: [`GroupKey`] 2 + 32 t, [`KeyShare`] 66, [`SigningCommitments`] 66, [`SignatureShare`] 34.
//!
//! ```
//! # #[cfg(feature = "getrandom")] {
//! use veriplex::{frost, label, os_rng, sig};
//!
//! let domain = label!("com.example.frost");
//! let (group, shares) = frost::deal(domain, 2, 3, &mut os_rng())?;
//! for share in &shares {
//!     share.verify(&group)?; // each participant does so with its own
//! }
//!
//! let (alice, carol) = (&shares[0], &shares[2]);
//! let (alices_nonces, alices_commitments) = alice.commit(domain, &mut os_rng())?;
//! let (carols_nonces, carols_commitments) = carol.commit(domain, &mut os_rng())?;
//!
//! let commitments = [carols_commitments, alices_commitments];
//! let package = frost::SigningPackage::new(domain, &group, &commitments, b"message")?;
//! let signature_shares = [
//!     alice.sign(alices_nonces, &package)?,
//!     carol.sign(carols_nonces, &package)?,
//! ];
//!
//! let signature = package.aggregate(&signature_shares)?;
//! sig::verify(domain, group.public_key(), b"message", &signature)?;
//! # }
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! Nonces that signed are gone. They cannot be copied or stored:
//!
//! ```compile_fail,E0382
//! # use veriplex::{Error, frost::*};
//! # type Package<'g> = SigningPackage<'g>;
//! # fn twice(share: &KeyShare, nonces: SigningNonces, one: &Package, two: &Package) -> Result<(), Error> {
//! share.sign(nonces, one)?;
//! share.sign(nonces, two)?;
//! # Ok(())
//! # }
//! ```
//!
//! ```compile_fail,E0599
//! # use veriplex::frost::SigningNonces;
//! # fn copy(nonces: SigningNonces) -> SigningNonces {
//! nonces.clone()
//! # }
//! ```

pub mod dkg;

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU16;

use curve25519_dalek::traits::VartimeMultiscalarMul;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use crate::keys::{PrivateKey, PublicKey};
use crate::ristretto::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::sig::{self, Signature};
use crate::wipe::Secret;
use crate::{Error, Label, Protocol, label};

/// The number of a participant, from 1.
pub type Identifier = NonZeroU16;

const IDENTIFIER_LEN: usize = 2;

/// What is public of a group: its key and, by the commitment to the polynomial behind it, everyone's verifying share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    /// A commitment to each coefficient, the constant one first.
    commitment: Vec<PublicKey>,
    signers: u16,
}

impl GroupKey {
    /// The key that verifies the group's signatures.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.commitment[0]
    }

    /// How many signers it takes.
    #[must_use]
    #[allow(
        clippy::missing_panics_doc,
        reason = "the number was checked when the value was made"
    )]
    pub fn threshold(&self) -> u16 {
        u16::try_from(self.commitment.len()).expect("at most as many as participants")
    }

    /// How many participants there are.
    #[must_use]
    pub const fn signers(&self) -> u16 {
        self.signers
    }

    /// The public key that belongs to a participant's share.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if there is no such participant; [`Error::InvalidKey`] if it is the identity (a
    /// probability of 2^-252).
    pub fn verifying_share(&self, identifier: Identifier) -> Result<PublicKey, Error> {
        if identifier.get() > self.signers {
            return Err(Error::Participants);
        }
        PublicKey::from_element(evaluate_commitment(&self.commitment, identifier))
    }

    /// Decodes what [`GroupKey::to_bytes`] gives.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for a wrong length or an encoding that is not canonical; [`Error::Participants`] unless
    /// the threshold is at least 2 and at most the number of participants.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (signers, commitment) = bytes.split_first_chunk().ok_or(Error::InvalidKey)?;
        Self::new(decode_commitment(commitment)?, u16::from_be_bytes(*signers))
    }

    /// The number of participants in two bytes, most significant first, then the commitment, 32 bytes for each of the
    /// threshold's number.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.signers.to_be_bytes().to_vec();
        self.commitment
            .iter()
            .for_each(|element| bytes.extend(element.as_bytes()));
        bytes
    }

    fn new(commitment: Vec<PublicKey>, signers: u16) -> Result<Self, Error> {
        let threshold = u16::try_from(commitment.len()).map_err(|_| Error::Participants)?;
        check_numbers(threshold, signers)?;
        Ok(Self { commitment, signers })
    }
}

/// A participant's share of the group's private key.
#[derive(Clone)]
pub struct KeyShare {
    identifier: Identifier,
    key: PrivateKey,
    group: PublicKey,
}

impl KeyShare {
    /// Size in bytes of an encoded share.
    pub const LEN: usize = IDENTIFIER_LEN + SCALAR_LEN + ELEMENT_LEN;

    /// Whose share it is.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// The group's public key.
    #[must_use]
    pub const fn group(&self) -> &PublicKey {
        &self.group
    }

    /// Whether this is the share that the group's commitment has for this participant (Feldman, "A Practical Scheme
    /// for Non-interactive Verifiable Secret Sharing", 1987). Who receives a share from a dealer has to make sure,
    /// and that all participants have the same [`GroupKey`].
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not.
    pub fn verify(&self, group: &GroupKey) -> Result<(), Error> {
        if group.public_key() == &self.group
            && group.verifying_share(self.identifier).as_ref() == Ok(self.key.public_key())
        {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }

    /// First round: nonces for one signature in this domain, and the commitments to send to the other signers.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if a nonce is zero (a probability of 2^-251).
    pub fn commit<R: CryptoRng + ?Sized>(
        &self,
        domain: Label<'_>,
        rng: &mut R,
    ) -> Result<(SigningNonces, SigningCommitments), Error> {
        let [_, mut protocol] = processes(domain);
        protocol.mix(label!("signing-share"), self.key.scalar().as_bytes());
        protocol.mix(label!("rand"), group::random_bytes(rng).as_slice());
        let hiding = PrivateKey::from_scalar(group::derive_scalar(&mut protocol, label!("hiding-nonce")))?;
        let binding = PrivateKey::from_scalar(group::derive_scalar(&mut protocol, label!("binding-nonce")))?;
        let commitments = SigningCommitments {
            identifier: self.identifier,
            hiding: *hiding.public_key(),
            binding: *binding.public_key(),
        };
        Ok((SigningNonces { hiding, binding }, commitments))
    }

    /// Second round: this signer's share of the signature. It uses the nonces up, also when it fails.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if the package is of another group, or this signer's commitments in it are not those
    /// of the nonces.
    pub fn sign(&self, nonces: SigningNonces, package: &SigningPackage<'_>) -> Result<SignatureShare, Error> {
        let SigningNonces { hiding, binding } = nonces;
        let signer = package.signer(self.identifier)?;
        if package.group.public_key() != &self.group
            || signer.commitments.hiding != *hiding.public_key()
            || signer.commitments.binding != *binding.public_key()
        {
            return Err(Error::Participants);
        }
        let share = Secret::new(signer.weight * **self.key.scalar());
        let response = **hiding.scalar() + signer.binding_factor * **binding.scalar() + *share;
        Ok(SignatureShare {
            identifier: self.identifier,
            response,
        })
    }

    /// Decodes a share.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the scalar is zero or not canonical, or the group's key is none;
    /// [`Error::Participants`] if the identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let (identifier, rest) = split_identifier(bytes)?;
        let parts = rest.as_chunks().0;
        Ok(Self {
            identifier,
            key: PrivateKey::from_bytes(&parts[0])?,
            group: PublicKey::from_bytes(&parts[1])?,
        })
    }

    /// The share as 66 bytes, which are as secret as the share: identifier, most significant byte first, scalar, the
    /// group's public key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let scalar = Secret::new(self.key.to_bytes());
        join_identifier(self.identifier, &[&scalar, self.group.as_bytes()])
    }
}

impl TryFrom<&[u8]> for KeyShare {
    type Error = Error;

    /// [`KeyShare::from_bytes`], where any length but 66 is an error too.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes.try_into().map_err(|_| Error::InvalidKey)?)
    }
}

impl fmt::Debug for KeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyShare")
            .field("identifier", &self.identifier)
            .finish_non_exhaustive()
    }
}

/// The secret of the first round, for one signature. Wiped on drop (feature `zeroize`).
pub struct SigningNonces {
    hiding: PrivateKey,
    binding: PrivateKey,
}

impl fmt::Debug for SigningNonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningNonces").finish_non_exhaustive()
    }
}

/// What a signer sends in the first round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningCommitments {
    identifier: Identifier,
    hiding: PublicKey,
    binding: PublicKey,
}

impl SigningCommitments {
    /// Size in bytes when encoded.
    pub const LEN: usize = IDENTIFIER_LEN + 2 * ELEMENT_LEN;

    /// Whose they are.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Decodes commitments.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if an element is not canonical or the identity; [`Error::Participants`] if the
    /// identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let (identifier, rest) = split_identifier(bytes)?;
        let parts = rest.as_chunks().0;
        Ok(Self {
            identifier,
            hiding: PublicKey::from_bytes(&parts[0])?,
            binding: PublicKey::from_bytes(&parts[1])?,
        })
    }

    /// The commitments as 66 bytes: identifier, most significant byte first, hiding, binding.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        join_identifier(
            self.identifier,
            &[self.hiding.as_bytes(), self.binding.as_bytes()],
        )
    }
}

impl TryFrom<&[u8]> for SigningCommitments {
    type Error = Error;

    /// [`SigningCommitments::from_bytes`], where any length but 66 is an error too.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes.try_into().map_err(|_| Error::InvalidKey)?)
    }
}

/// A message with the commitments of those who sign it: what signers must agree on in the second round. Each makes
/// its own.
#[derive(Clone, Debug)]
pub struct SigningPackage<'g> {
    group: &'g GroupKey,
    commitment: RistrettoPoint,
    challenge: Scalar,
    /// In the order of the identifiers.
    signers: Vec<Signer>,
}

/// A signer in a package.
#[derive(Clone, Debug)]
struct Signer {
    commitments: SigningCommitments,
    binding_factor: Scalar,
    /// The challenge times the Lagrange coefficient.
    weight: Scalar,
}

impl<'g> SigningPackage<'g> {
    /// The package for this message, signed by those whose commitments these are, in any order.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if a signer is unknown or occurs twice, or if they are fewer than the threshold;
    /// [`Error::InvalidKey`] if the commitments add up to the identity (a probability of 2^-252).
    pub fn new(
        domain: Label<'_>,
        group: &'g GroupKey,
        commitments: &[SigningCommitments],
        message: &[u8],
    ) -> Result<Self, Error> {
        let mut commitments = commitments.to_vec();
        commitments.sort_unstable_by_key(|c| c.identifier);
        let twice = commitments
            .windows(2)
            .any(|pair| pair[0].identifier == pair[1].identifier);
        let unknown = commitments.iter().any(|c| c.identifier.get() > group.signers);
        if twice || unknown || commitments.len() < group.commitment.len() {
            return Err(Error::Participants);
        }

        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("frost-binding"), group.public_key().as_bytes());
        protocol.mix(label!("message"), message);
        for c in &commitments {
            protocol.mix(label!("identifier"), &c.identifier.get().to_be_bytes());
            protocol.mix(label!("hiding"), c.hiding.as_bytes());
            protocol.mix(label!("binding"), c.binding.as_bytes());
        }
        let binding_factors: Vec<Scalar> = commitments
            .iter()
            .map(|c| {
                let mut protocol = protocol.clone();
                protocol.mix(label!("binding-participant"), &c.identifier.get().to_be_bytes());
                *group::derive_scalar(&mut protocol, label!("binding-factor"))
            })
            .collect();

        // All of this is public: time may depend on it.
        let binding = commitments.iter().map(|c| c.binding.element());
        let bound = RistrettoPoint::vartime_multiscalar_mul(&binding_factors, binding);
        let hiding: RistrettoPoint = commitments.iter().map(|c| c.hiding.element()).sum();
        let commitment = group::not_identity(hiding + bound)?;
        let encoded = commitment.compress().to_bytes();
        let challenge = sig::challenge_of(domain, group.public_key(), message, &encoded);

        let identifiers: Vec<Scalar> = commitments.iter().map(|c| scalar(c.identifier)).collect();
        let signers = commitments
            .into_iter()
            .zip(binding_factors)
            .map(|(commitments, binding_factor)| Signer {
                weight: challenge * lagrange_coefficient(&identifiers, scalar(commitments.identifier)),
                commitments,
                binding_factor,
            })
            .collect();
        Ok(Self {
            group,
            commitment,
            challenge,
            signers,
        })
    }

    /// Whether a share is right, by the signer's verifying share.
    ///
    /// # Errors
    ///
    /// [`Error::BadParticipant`] with its signer if it is wrong; [`Error::Participants`] if that is none of the
    /// package's.
    pub fn verify_share(&self, share: &SignatureShare) -> Result<(), Error> {
        let signer = self.signer(share.identifier)?;
        let bad = Error::BadParticipant(share.identifier);
        let verifying = self.group.verifying_share(share.identifier).map_err(|_| bad)?;
        // All of this is public: time may depend on it.
        let expected = signer.commitments.hiding.element()
            + signer.binding_factor * signer.commitments.binding.element();
        let found = RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &-signer.weight,
            verifying.element(),
            &share.response,
        );
        if found == expected { Ok(()) } else { Err(bad) }
    }

    /// The signature, from the shares of all the package's signers, in any order. It is verified.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if a share is missing, occurs twice, or is from someone else;
    /// [`Error::BadParticipant`] with the first signer whose share is wrong. [`SigningPackage::verify_share`] finds
    /// all of them.
    pub fn aggregate(&self, shares: &[SignatureShare]) -> Result<Signature, Error> {
        let mut shares: Vec<&SignatureShare> = shares.iter().collect();
        shares.sort_unstable_by_key(|share| share.identifier);
        let signers = self.signers.iter().map(|signer| signer.commitments.identifier);
        if !shares.iter().map(|share| share.identifier).eq(signers) {
            return Err(Error::Participants);
        }
        let response: Scalar = shares.iter().map(|share| share.response).sum();
        let commitment = RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &-self.challenge,
            self.group.public_key().element(),
            &response,
        );
        if commitment == self.commitment {
            return Ok(Signature::new(&commitment, response));
        }
        shares
            .into_iter()
            .try_for_each(|share| self.verify_share(share))?;
        Err(Error::Verification) // not reached: shares that are right add up
    }

    fn signer(&self, identifier: Identifier) -> Result<&Signer, Error> {
        self.signers
            .binary_search_by_key(&identifier, |signer| signer.commitments.identifier)
            .map(|place| &self.signers[place])
            .map_err(|_| Error::Participants)
    }
}

/// What a signer sends in the second round: its share of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureShare {
    identifier: Identifier,
    response: Scalar,
}

impl SignatureShare {
    /// Size in bytes of an encoded share.
    pub const LEN: usize = IDENTIFIER_LEN + SCALAR_LEN;

    /// Whose share it is.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Decodes a share.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the scalar is not canonical; [`Error::Participants`] if the identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let (identifier, rest) = split_identifier(bytes)?;
        Ok(Self {
            identifier,
            response: group::decode_scalar(&rest.as_chunks().0[0]).map_err(|_| Error::Verification)?,
        })
    }

    /// The share as 34 bytes: identifier, most significant byte first, scalar.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        join_identifier(self.identifier, &[self.response.as_bytes()])
    }
}

impl TryFrom<&[u8]> for SignatureShare {
    type Error = Error;

    /// [`SignatureShare::from_bytes`], where any length but 34 is an error too.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes.try_into().map_err(|_| Error::Verification)?)
    }
}

/// A trusted dealer makes a key for a group and the shares of all its participants, of which `threshold` are needed
/// to sign.
///
/// The dealer could sign alone; it has to forget what it made. Without a dealer: [`dkg`].
///
/// # Errors
///
/// [`Error::Participants`] unless the threshold is at least 2 and at most the number of signers;
/// [`Error::InvalidKey`] if a coefficient or a share is zero (a probability of about n * 2^-252).
pub fn deal<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    threshold: u16,
    signers: u16,
    rng: &mut R,
) -> Result<(GroupKey, Vec<KeyShare>), Error> {
    check_numbers(threshold, signers)?;
    let [keygen, _] = processes(domain);
    let polynomial = Polynomial::derive(keygen, threshold, rng);
    let group = GroupKey::new(polynomial.commitment()?, signers)?;
    // Not collected: a vector that grows leaves copies.
    let mut shares = Vec::with_capacity(signers.into());
    for identifier in identifiers(signers) {
        shares.push(KeyShare {
            identifier,
            key: PrivateKey::from_scalar(polynomial.evaluate(identifier))?,
            group: *group.public_key(),
        });
    }
    Ok((group, shares))
}

/// The branches in which keys and nonces are made.
fn processes(domain: Label<'_>) -> [Protocol; 2] {
    Protocol::new(domain).fork(label!("process"), ["keygen", "commitment"])
}

fn check_numbers(threshold: u16, signers: u16) -> Result<(), Error> {
    if (2..=signers).contains(&threshold) {
        Ok(())
    } else {
        Err(Error::Participants)
    }
}

fn identifiers(signers: u16) -> impl Iterator<Item = Identifier> {
    (1..=signers).filter_map(Identifier::new)
}

fn scalar(identifier: Identifier) -> Scalar {
    Scalar::from(identifier.get())
}

/// The secret polynomial, of which a share is the value at its owner's number.
struct Polynomial(Vec<Secret<Scalar>>);

impl Polynomial {
    fn derive<R: CryptoRng + ?Sized>(mut keygen: Protocol, threshold: u16, rng: &mut R) -> Self {
        keygen.mix(label!("seed"), group::random_bytes(rng).as_slice());
        let coefficients = (0..threshold).map(|_| group::derive_scalar(&mut keygen, label!("coefficient")));
        Self(coefficients.collect())
    }

    fn commitment(&self) -> Result<Vec<PublicKey>, Error> {
        self.0
            .iter()
            .map(|coefficient| PublicKey::from_element(RistrettoPoint::mul_base(coefficient)))
            .collect()
    }

    fn evaluate(&self, at: Identifier) -> Secret<Scalar> {
        let mut value = Secret::new(Scalar::ZERO);
        for coefficient in self.0.iter().rev() {
            *value = *value * scalar(at) + **coefficient;
        }
        value
    }
}

/// The commitment to the value of a polynomial, from that to its coefficients. In variable time: all of it is public.
fn evaluate_commitment(commitment: &[PublicKey], at: Identifier) -> RistrettoPoint {
    let powers = core::iter::successors(Some(Scalar::ONE), |power| Some(power * scalar(at)));
    let powers: Vec<Scalar> = powers.take(commitment.len()).collect();
    RistrettoPoint::vartime_multiscalar_mul(powers, commitment.iter().map(PublicKey::element))
}

/// The coefficient that the value at `own` has in the value at zero. In variable time: all of it is public.
fn lagrange_coefficient(identifiers: &[Scalar], own: Scalar) -> Scalar {
    let others = || identifiers.iter().filter(|other| **other != own);
    let numerator: Scalar = others().product();
    let denominator: Scalar = others().map(|other| other - own).product();
    numerator * denominator.invert()
}

fn decode_commitment(bytes: &[u8]) -> Result<Vec<PublicKey>, Error> {
    let (elements, []) = bytes.as_chunks() else {
        return Err(Error::InvalidKey);
    };
    elements.iter().map(PublicKey::from_bytes).collect()
}

fn split_identifier(bytes: &[u8]) -> Result<(Identifier, &[u8]), Error> {
    let (identifier, rest) = bytes.split_first_chunk().ok_or(Error::Participants)?;
    let identifier = Identifier::new(u16::from_be_bytes(*identifier)).ok_or(Error::Participants)?;
    Ok((identifier, rest))
}

/// An identifier, then 32 bytes each; N is their length together.
fn join_identifier<const N: usize>(identifier: Identifier, parts: &[&[u8; 32]]) -> [u8; N] {
    let mut bytes = [0; N];
    let (first, rest) = bytes.split_at_mut(IDENTIFIER_LEN);
    first.copy_from_slice(&identifier.get().to_be_bytes());
    for (to, from) in rest.as_chunks_mut().0.iter_mut().zip(parts) {
        *to = **from;
    }
    bytes
}
