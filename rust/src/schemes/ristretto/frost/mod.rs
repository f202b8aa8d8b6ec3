//! Threshold signatures: of n participants, any t can sign together, and fewer cannot. The result is an ordinary
//! signature of [`sig`](crate::sig) by the group's key, which no one has.
//!
//! FROST, of two rounds: Komlo and Goldberg ("FROST: Flexible Round-Optimized Schnorr Threshold Signatures", 2020),
//! standardised as RFC 9591. Here transcripts replace its hash functions, so the two do not interoperate. It is
//! unforgeable against fewer than t participants who act together, even with concurrent sessions, if the one-more
//! discrete logarithm problem is hard (Bellare et al., 2022). It is not robust: one signer who sends nonsense stops a
//! session.
//!
//! **An error names a signer only from what arrived in its name.** That signer is to blame if all messages come over
//! channels that show who sent them, and the receiver compares the sender with `identifier()`. The key shares of a
//! dealer also need secrecy. Nothing needs a broadcast channel for safety: a share of a signature carries a digest of
//! domain, group key, commitments and message, so signers that were told different things give [`Error::Disagreement`],
//! which blames nobody. To find out who told them, send group key, commitments and message over a channel on which all
//! see the same.
//!
//! **A generator that repeats gives the share away,** within three sessions: nonces come from the share and random
//! bytes, because the message is not known yet. Beware of virtual machines that are restored from a snapshot. Two
//! things help, if the machine's restoration does not affect what they need: [`KeyShare::commit_in_context`] binds
//! nonces to a counter or whatever else does not repeat, and [`KeyShare::sign_once`] refuses nonces that were used
//! before.
//!
//! 1. Keys: a trusted dealer makes them ([`deal`]), or the participants make them together ([`dkg`]). Each has a
//!    [`KeyShare`]; all have the same [`GroupKey`].
//! 2. First round: each signer makes nonces, and sends their commitments ([`KeyShare::commit`]). This needs no
//!    message, but is for one domain.
//! 3. Second round: from the message and the commitments of all signers, each makes the [`SigningPackage`], and from
//!    it a share of the signature ([`KeyShare::sign`]).
//! 4. Anyone with the package and the shares of all signers makes the signature ([`SigningPackage::aggregate`]).
//!
//! Participants have numbers from 1 to n. Everything is matched by number, not by its place in a list. Numbers that are
//! unknown or occur twice are refused.
//!
//! Sizes in bytes: [`GroupKey`] 2 + 32 t, [`KeyShare`] 66, [`SigningCommitments`] 66, [`SignatureShare`] 66,
//! stored [`SigningNonces`] 64.
//!
//! ```
//! use veriplex::{frost, label, os_rng, sig};
//!
//! let domain = label!("com.example.frost");
//! let (group, shares) = frost::deal(domain, 2, 3, &mut os_rng())?;
//! for share in &shares {
//!     share.verify(&group)?; // each participant does so with its own
//! }
//!
//! let (alice, carol) = (&shares[0], &shares[2]);
//! let (alices_nonces, alices_commitments) = alice.commit_in_context(domain, b"session 1", &mut os_rng())?;
//! let (carols_nonces, carols_commitments) = carol.commit_in_context(domain, b"session 1", &mut os_rng())?;
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
//! # Ok::<(), veriplex::frost::Error>(())
//! ```
//!
//! Used nonces are gone, and cannot be copied. If they have to be stored, [`SigningNonces::from_bytes`] takes them out of
//! the store once:
//!
//! ```compile_fail,E0382
//! # use veriplex::frost::*;
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

mod aggregation;
mod dealer;
pub mod dkg;
mod keys;
mod nonces;
mod polynomial;
mod signing;

use core::fmt;
use core::num::NonZeroU16;

use curve25519_dalek::Scalar;

use crate::{Label, Protocol, label};
pub use dealer::deal;
pub use keys::{GroupKey, KeyShare};
pub use nonces::{SigningCommitments, SigningNonces, UsedNonces};
pub use signing::{SignatureShare, SigningPackage};

/// The number of a participant, from 1.
pub type Identifier = NonZeroU16;

/// What can go wrong between participants. Decoding what they send has the errors that all modules share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// Participants are unknown, missing or listed twice, or their numbers are impossible.
    Participants,
    /// What this participant sent is wrong.
    BadParticipant(Identifier),
    /// Participants were told different things. This blames nobody: anyone may have told them.
    Disagreement,
    /// Nonces were used before: the generator repeats, or the signer was restored.
    NoncesUsed,
    /// An error that all modules share.
    Other(crate::Error),
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Other(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Participants => f.write_str("participants unknown, missing or listed twice"),
            Self::BadParticipant(identifier) => write!(f, "participant {identifier} sent something wrong"),
            Self::Disagreement => f.write_str("participants were told different things"),
            Self::NoncesUsed => f.write_str("nonces were used before"),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

const IDENTIFIER_LEN: usize = 2;

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

fn split_identifier(bytes: &[u8]) -> Option<(Identifier, &[u8])> {
    let (identifier, rest) = bytes.split_first_chunk()?;
    Some((Identifier::new(u16::from_be_bytes(*identifier))?, rest))
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
