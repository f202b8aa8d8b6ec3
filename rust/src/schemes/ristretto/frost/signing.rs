//! The second round: what is signed, by whom, and the signers' shares of the signature.

use alloc::vec::Vec;

use curve25519_dalek::traits::VartimeMultiscalarMul;
use curve25519_dalek::{RistrettoPoint, Scalar};

use super::polynomial::lagrange_coefficient;
use super::{
    Error, GroupKey, IDENTIFIER_LEN, Identifier, KeyShare, SigningCommitments, SigningNonces, UsedNonces,
    join_identifier, scalar, split_identifier,
};
use crate::base::encoding::{decoded, public};
use crate::base::timing::Timing;
use crate::base::wipe::Secret;
use crate::schemes::ristretto::group::{self, SCALAR_LEN};
use crate::{Label, Protocol, label, sig};

const DIGEST_LEN: usize = 32;

/// A message with the commitments of those who sign it: what signers and aggregator must agree on in the second round.
/// Each makes its own.
#[derive(Clone, Debug)]
pub struct SigningPackage<'g> {
    pub(super) group: &'g GroupKey,
    pub(super) commitment: RistrettoPoint,
    pub(super) challenge: Scalar,
    /// In the order of the identifiers.
    pub(super) signers: Vec<Signer>,
    /// Of domain, group, commitments and message.
    pub(super) digest: [u8; DIGEST_LEN],
}

/// A signer in a package.
#[derive(Clone, Debug)]
pub(super) struct Signer {
    pub(super) commitments: SigningCommitments,
    pub(super) binding_factor: Scalar,
    /// The challenge times the Lagrange coefficient.
    pub(super) weight: Scalar,
}

impl<'g> SigningPackage<'g> {
    /// The package for this message, signed by those whose commitments these are, in any order.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if a signer is unknown or occurs twice, or if they are fewer than the threshold;
    /// [`Error::Other`] if the commitments add up to the identity (a probability of 2^-252).
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
        let mut view = protocol.clone();
        view.mix(label!("frost-group"), &group.to_bytes());
        let digest = view.derive_array(label!("frost-view"));
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
            digest,
        })
    }

    pub(super) fn signer(&self, identifier: Identifier) -> Result<&Signer, Error> {
        self.signers
            .binary_search_by_key(&identifier, |signer| signer.commitments.identifier)
            .map(|place| &self.signers[place])
            .map_err(|_| Error::Participants)
    }
}

impl KeyShare {
    /// [`KeyShare::sign`], unless these nonces are among the used ones, to which it adds them. Store the used ones
    /// **before you send the share**, in a place that is not restored with the signer.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsed`] if the nonces were used before: the generator repeats, or the signer was restored.
    /// [`Error::Participants`] as for [`KeyShare::sign`].
    pub fn sign_once(
        &self,
        nonces: SigningNonces,
        package: &SigningPackage<'_>,
        used: &mut UsedNonces,
    ) -> Result<SignatureShare, Error> {
        used.add(&nonces)?;
        self.sign(nonces, package)
    }

    /// Second round: this signer's share of the signature. It uses up the nonces, even when it fails.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if the package is of a group whose key this is no share of, or this signer's commitments
    /// in it are not those of the nonces.
    pub fn sign(&self, nonces: SigningNonces, package: &SigningPackage<'_>) -> Result<SignatureShare, Error> {
        let _timing = Timing::independent();
        let SigningNonces { hiding, binding } = nonces;
        let signer = package.signer(self.identifier)?;
        // By the whole key of the group, since a share that does not fit it is blamed on this signer.
        if self.verify(package.group).is_err()
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
            package: package.digest,
        })
    }
}

/// What a signer sends in the second round: its share of the signature, with a digest of the package that it signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureShare {
    pub(super) identifier: Identifier,
    pub(super) response: Scalar,
    pub(super) package: [u8; DIGEST_LEN],
}

impl SignatureShare {
    /// Size in bytes of an encoded share.
    pub const LEN: usize = IDENTIFIER_LEN + SCALAR_LEN + DIGEST_LEN;

    const INVALID: crate::Error = crate::Error::Verification;

    /// Whose share it is.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Decodes a share.
    ///
    /// # Errors
    ///
    /// [`Verification`](crate::Error::Verification) if the scalar is not canonical or the identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, crate::Error> {
        let (identifier, rest) = split_identifier(bytes).ok_or(Self::INVALID)?;
        let parts = rest.as_chunks().0;
        Ok(Self {
            identifier,
            response: group::decode_scalar(&parts[0]).map_err(|_| Self::INVALID)?,
            package: parts[1],
        })
    }

    /// The share as 66 bytes: identifier, most significant byte first, scalar, digest of the package.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        join_identifier(self.identifier, &[self.response.as_bytes(), &self.package])
    }
}

decoded!(SignatureShare);
public!(SignatureShare);
