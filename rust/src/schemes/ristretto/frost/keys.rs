//! The group's key and the participants' shares of it.

use alloc::vec::Vec;
use core::fmt;

use super::polynomial::{decode_commitment, evaluate_commitment};
use super::{Error, IDENTIFIER_LEN, Identifier, check_numbers, join_identifier, split_identifier};
use crate::base::encoding::{decoded, decoded_slice, public, secret};
use crate::base::wipe::Secret;
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::group::{ELEMENT_LEN, SCALAR_LEN};

/// The public data of a group: its key and, from the commitment to its polynomial, everyone's verifying share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupKey {
    /// A commitment to each coefficient, the constant one first.
    pub(super) commitment: Vec<PublicKey>,
    pub(super) signers: u16,
}

decoded_slice!(GroupKey);
public!(GroupKey);

impl GroupKey {
    const INVALID: crate::Error = crate::Error::InvalidKey;

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
    /// [`Error::Participants`] if there is no such participant; [`Error::Other`] if it is the identity (a probability of
    /// 2^-252).
    pub fn verifying_share(&self, identifier: Identifier) -> Result<PublicKey, Error> {
        if identifier.get() > self.signers {
            return Err(Error::Participants);
        }
        let element = evaluate_commitment(&self.commitment, identifier);
        Ok(PublicKey::from_element(element)?)
    }

    /// Decodes what [`GroupKey::to_bytes`] gives.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) for a wrong length or an encoding that is not canonical, and unless the
    /// threshold is at least 2 and at most the number of participants.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
        let (signers, commitment) = bytes.split_first_chunk().ok_or(Self::INVALID)?;
        Self::new(decode_commitment(commitment)?, u16::from_be_bytes(*signers)).map_err(|_| Self::INVALID)
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

    pub(super) fn new(commitment: Vec<PublicKey>, signers: u16) -> Result<Self, Error> {
        let threshold = u16::try_from(commitment.len()).map_err(|_| Error::Participants)?;
        check_numbers(threshold, signers)?;
        Ok(Self { commitment, signers })
    }
}

/// A participant's share of the group's private key.
#[derive(Clone)]
pub struct KeyShare {
    pub(super) identifier: Identifier,
    pub(super) key: PrivateKey,
    pub(super) group: PublicKey,
}

impl KeyShare {
    /// Size in bytes of an encoded share.
    pub const LEN: usize = IDENTIFIER_LEN + SCALAR_LEN + ELEMENT_LEN;

    const INVALID: crate::Error = crate::Error::InvalidKey;

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

    /// Checks that the group's commitment has this share for this participant (Feldman, "A Practical Scheme for
    /// Non-interactive Verifiable Secret Sharing", 1987). Whoever receives a share from a dealer must check this, and
    /// that all participants have the same [`GroupKey`].
    ///
    /// # Errors
    ///
    /// [`Verification`](crate::Error::Verification) if it is not.
    pub fn verify(&self, group: &GroupKey) -> Result<(), crate::Error> {
        if group.public_key() == &self.group
            && group.verifying_share(self.identifier).as_ref() == Ok(self.key.public_key())
        {
            Ok(())
        } else {
            Err(crate::Error::Verification)
        }
    }

    /// Decodes a share.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) if identifier or scalar is zero, the scalar is not canonical, or the
    /// group's key is invalid.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, crate::Error> {
        let (identifier, rest) = split_identifier(bytes).ok_or(Self::INVALID)?;
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

decoded!(KeyShare);
secret!(KeyShare);

/// Shows whose share it is of which key.
impl fmt::Debug for KeyShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyShare")
            .field("identifier", &self.identifier)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
