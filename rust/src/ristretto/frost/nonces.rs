//! The first round: nonces, and commitments to them.

use core::fmt;

use rand_core::CryptoRng;

use super::{IDENTIFIER_LEN, Identifier, KeyShare, join_identifier, processes, split_identifier};
use crate::keys::{PrivateKey, PublicKey};
use crate::ristretto::group::{self, ELEMENT_LEN};
use crate::{Error, Label, label};

impl KeyShare {
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
}

/// The secret of the first round, for one signature. Wiped on drop (feature `zeroize`).
pub struct SigningNonces {
    pub(super) hiding: PrivateKey,
    pub(super) binding: PrivateKey,
}

impl fmt::Debug for SigningNonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningNonces").finish_non_exhaustive()
    }
}

/// What a signer sends in the first round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningCommitments {
    pub(super) identifier: Identifier,
    pub(super) hiding: PublicKey,
    pub(super) binding: PublicKey,
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
