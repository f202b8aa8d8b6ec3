//! Distributed key generation: n participants make the key of a group without a dealer. It takes t of them to sign. No
//! one ever has the private key.
//!
//! Each participant deals a random polynomial to all (Pedersen, "A Threshold Cryptosystem without a Trusted Party",
//! 1991) and commits to its coefficients (Feldman, 1987), with a proof that it knows the constant one, as in FROST's
//! key generation (Komlo and Goldberg, 2020, figure 1), so nobody can choose a key that cancels others'. The group's
//! polynomial is the sum.
//!
//! 1. [`start`]: makes the polynomial, and a [`Commitment`] to send to **all**.
//! 2. [`AwaitingCommitments::receive`]: checks the others' proofs, and makes a [`Share`] for each other participant,
//!    to be sent to it **in secret**, over a channel that shows who sent it: sealed with [`hpke`](crate::hpke), say.
//! 3. [`AwaitingShares::finish`]: checks the shares by their senders' commitments, and adds them up.
//!
//! Commitments need no broadcast channel: a share carries a digest of all commitments that its sender saw, and a
//! participant finishes only if that is the digest of those that it saw itself. Some may finish where others fail. So
//! let all confirm that they have finished, with the same [`GroupKey`], before the key is used.
//!
//! FROST with such keys is unforgeable if fewer than t participants are corrupt (Chu et al., "Practical Schnorr
//! Threshold Signatures Without the Algebraic Group Model", 2023). A corrupt participant who sends last can bias some
//! bits of the public key (Gennaro et al., 1999), which does not help to forge Schnorr signatures. It is not robust:
//! one who sends nonsense stops the run. The error names a participant only from what arrived in its name. That
//! participant is to blame if all messages come over channels that show who sent them, and the receiver compares the
//! sender with `identifier()` or `sender()`. Participants that were told different things, contexts and numbers
//! included, get [`Error::Disagreement`], which blames nobody. Start a failed run anew, in another context.
//!
//! The protocol: B is Init(domain), Mix `dkg-context`, `dkg-threshold`, `dkg-signers`, numbers in two bytes, most
//! significant first. Participant i: on a copy of B Mix `dkg-identifier` i, Fork `process` (`keygen`, `commitment`).
//! The first branch: Mix `seed` (64 random bytes), and t times Derive `coefficient` (64 bytes, reduced). The second:
//! Mix `coefficient` for each element of the commitment, then a signature of that transcript by the constant
//! coefficient, from the Fork on as in [`sig`]. The run: on a copy of B, Derive `dkg-run` (32 bytes). The digest: on a
//! copy of B, Mix `dkg-commitment` for each encoded commitment in the order of the identifiers, Derive `dkg-view` (32
//! bytes).
//!
//! Sizes in bytes: [`Commitment`] 98 + 32 t, [`Share`] 68.
//!
//! ```
//! use veriplex::frost::{Identifier, dkg};
//! use veriplex::{label, os_rng};
//!
//! // Two of two, here in one place.
//! let begin = |number| {
//!     let identifier = Identifier::new(number).unwrap();
//!     dkg::start(label!("com.example.frost"), b"2026-11-21", identifier, 2, 2, &mut os_rng())
//! };
//! let (alice, alices_commitment) = begin(1)?;
//! let (bob, bobs_commitment) = begin(2)?;
//! let (alice, shares_from_alice) = alice.receive(&[bobs_commitment])?;
//! let (bob, shares_from_bob) = bob.receive(&[alices_commitment])?;
//! let (group, alices_share) = alice.finish(&shares_from_bob)?;
//! let (same_group, bobs_share) = bob.finish(&shares_from_alice)?;
//! assert_eq!(group, same_group);
//! # Ok::<(), veriplex::frost::Error>(())
//! ```
//!
//! A polynomial is used once:
//!
//! ```compile_fail,E0382
//! # use veriplex::frost::{Error, dkg::*};
//! # fn twice(state: AwaitingCommitments, one: &[Commitment], two: &[Commitment]) -> Result<(), Error> {
//! state.receive(one)?;
//! state.receive(two)?;
//! # Ok(())
//! # }
//! ```

use alloc::vec::Vec;
use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

use super::polynomial::{Polynomial, decode_commitment, evaluate_commitment};
use super::{
    Error, GroupKey, IDENTIFIER_LEN, Identifier, KeyShare, check_numbers, identifiers, join_identifier,
    split_identifier,
};
use crate::base::encoding::{decoded, decoded_slice, public, secret};
use crate::base::timing::Timing;
use crate::base::wipe::{Secret, opaque};
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::group::{self, SCALAR_LEN};
use crate::sig::{self, Signature};
use crate::{Label, Protocol, label};

const RUN_LEN: usize = 32;
const VIEW_LEN: usize = 32;

/// What a participant sends to all others: the commitment to its polynomial, with a proof that it knows the constant
/// coefficient, and a digest of the domain, the context and the numbers of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    identifier: Identifier,
    coefficients: Vec<PublicKey>,
    proof: Signature,
    run: [u8; RUN_LEN],
}

decoded_slice!(Commitment);
public!(Commitment);

impl Commitment {
    const INVALID: crate::Error = crate::Error::InvalidKey;

    /// Whose it is.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Decodes a commitment.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) for a wrong length, an identifier that is zero, or an element that is not
    /// canonical or the identity, [`Verification`](crate::Error::Verification) for a scalar that is not canonical.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
        let (rest, run) = bytes.split_last_chunk().ok_or(Self::INVALID)?;
        let (rest, proof) = rest.split_last_chunk().ok_or(Self::INVALID)?;
        let (identifier, coefficients) = split_identifier(rest).ok_or(Self::INVALID)?;
        Ok(Self {
            identifier,
            coefficients: decode_commitment(coefficients)?,
            proof: Signature::from_bytes(proof)?,
            run: *run,
        })
    }

    /// Identifier, most significant byte first, an element of 32 bytes for each coefficient, the proof's 64 bytes, the
    /// digest's 32.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.identifier.get().to_be_bytes().to_vec();
        self.coefficients
            .iter()
            .for_each(|element| bytes.extend(element.as_bytes()));
        bytes.extend(self.proof.to_bytes());
        bytes.extend(self.run);
        bytes
    }
}

/// What a participant sends to one other, in secret. Wiped on drop.
#[derive(Clone)]
pub struct Share {
    sender: Identifier,
    receiver: Identifier,
    value: Secret<Scalar>,
    view: [u8; VIEW_LEN],
}

impl Share {
    /// Size in bytes of an encoded share.
    pub const LEN: usize = 2 * IDENTIFIER_LEN + SCALAR_LEN + VIEW_LEN;

    const INVALID: crate::Error = crate::Error::InvalidKey;

    /// Who made it.
    #[must_use]
    pub const fn sender(&self) -> Identifier {
        self.sender
    }

    /// Whom to send it to.
    #[must_use]
    pub const fn receiver(&self) -> Identifier {
        self.receiver
    }

    /// Decodes a share.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) if the scalar is not canonical or an identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, crate::Error> {
        let (sender, rest) = split_identifier(bytes).ok_or(Self::INVALID)?;
        let (receiver, rest) = split_identifier(rest).ok_or(Self::INVALID)?;
        let parts = rest.as_chunks().0;
        Ok(Self {
            sender,
            receiver,
            value: Secret::new(group::decode_scalar(&parts[0])?),
            view: parts[1],
        })
    }

    /// The share as 68 bytes, which are secret: the identifiers of sender and receiver, most significant byte first,
    /// scalar, digest of the commitments.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let (first, rest) = bytes.split_at_mut(IDENTIFIER_LEN);
        first.copy_from_slice(&self.sender.get().to_be_bytes());
        let value = Secret::new(self.value.to_bytes());
        let joined: Secret<[u8; Self::LEN - IDENTIFIER_LEN]> =
            Secret::new(join_identifier(self.receiver, &[&value, &self.view]));
        rest.copy_from_slice(joined.as_slice());
        bytes
    }
}

decoded!(Share);
secret!(Share);

/// Shows from whom to whom it goes.
impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share")
            .field("sender", &self.sender)
            .field("receiver", &self.receiver)
            .finish_non_exhaustive()
    }
}

/// A participant that has sent its commitment.
pub struct AwaitingCommitments {
    base: Protocol,
    signers: u16,
    polynomial: Polynomial,
    own: Commitment,
}

/// A participant that has sent its shares.
pub struct AwaitingShares {
    own: Identifier,
    /// The share that it has for itself.
    value: Secret<Scalar>,
    view: [u8; VIEW_LEN],
    /// Of all, in the order of the identifiers.
    commitments: Vec<Commitment>,
}

opaque!(AwaitingCommitments, AwaitingShares);

/// Starts as participant `identifier` of `signers`. The context is the same for all, and is not used again for
/// another run.
///
/// # Errors
///
/// [`Error::Participants`] unless the threshold is at least 2 and at most the number of signers, and the identifier
/// at most that number; [`Error::Other`] if a coefficient is zero (a probability of about t * 2^-252).
pub fn start<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    context: &[u8],
    identifier: Identifier,
    threshold: u16,
    signers: u16,
    rng: &mut R,
) -> Result<(AwaitingCommitments, Commitment), Error> {
    let _timing = Timing::independent();
    check_numbers(threshold, signers)?;
    if identifier.get() > signers {
        return Err(Error::Participants);
    }
    let mut base = Protocol::new(domain);
    base.mix(label!("dkg-context"), context);
    base.mix(label!("dkg-threshold"), &threshold.to_be_bytes());
    base.mix(label!("dkg-signers"), &signers.to_be_bytes());

    let [keygen, statement] = processes(&base, identifier);
    let polynomial = Polynomial::derive(keygen, threshold, rng);
    let coefficients = polynomial.commitment()?;
    let key = PrivateKey::from_scalar(polynomial.0[0].clone())?;
    let hedge = group::random_bytes(rng);
    let own = Commitment {
        identifier,
        proof: sig::prove(committed(statement, &coefficients), &key, hedge.as_slice()),
        coefficients,
        run: base.clone().derive_array(label!("dkg-run")),
    };
    let state = AwaitingCommitments {
        base,
        signers,
        polynomial,
        own: own.clone(),
    };
    Ok((state, own))
}

impl AwaitingCommitments {
    /// Takes the commitments of all others, in any order, and makes the shares for them.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if there is not exactly one commitment of each other participant;
    /// [`Error::Disagreement`] if one is from a run with another domain, context, threshold or number of participants;
    /// [`Error::BadParticipant`] with the first whose commitment has the wrong length or whose proof is wrong.
    pub fn receive(self, others: &[Commitment]) -> Result<(AwaitingShares, Vec<Share>), Error> {
        let _timing = Timing::independent();
        let (own, run) = (self.own.identifier, self.own.run);
        let mut commitments = others.to_vec();
        commitments.push(self.own);
        commitments.sort_unstable_by_key(Commitment::identifier);
        if !commitments
            .iter()
            .map(Commitment::identifier)
            .eq(identifiers(self.signers))
        {
            return Err(Error::Participants);
        }
        if commitments.iter().any(|commitment| commitment.run != run) {
            return Err(Error::Disagreement);
        }
        let mut view = self.base.clone();
        for commitment in &commitments {
            let bad = Error::BadParticipant(commitment.identifier);
            if commitment.coefficients.len() != self.polynomial.0.len() {
                return Err(bad);
            }
            let [_, statement] = processes(&self.base, commitment.identifier);
            let statement = committed(statement, &commitment.coefficients);
            sig::check(statement, &commitment.coefficients[0], &commitment.proof).map_err(|_| bad)?;
            view.mix(label!("dkg-commitment"), &commitment.to_bytes());
        }
        let view = view.derive_array(label!("dkg-view"));

        let shares = others
            .iter()
            .map(|other| Share {
                sender: own,
                receiver: other.identifier,
                value: self.polynomial.evaluate(other.identifier),
                view,
            })
            .collect();
        let state = AwaitingShares {
            own,
            value: self.polynomial.evaluate(own),
            view,
            commitments,
        };
        Ok((state, shares))
    }
}

impl AwaitingShares {
    /// Takes the shares that all others made for this participant, in any order.
    ///
    /// # Errors
    ///
    /// [`Error::Participants`] if there is not exactly one share from each other participant, or one is for someone
    /// else; [`Error::Disagreement`] if one was made after other commitments than this participant saw;
    /// [`Error::BadParticipant`] with the first whose share is not the one it committed to; [`Error::Other`] if a
    /// sum is zero (a probability of about t * 2^-252).
    pub fn finish(self, shares: &[Share]) -> Result<(GroupKey, KeyShare), Error> {
        let _timing = Timing::independent();
        let mut senders: Vec<Identifier> = shares.iter().map(|share| share.sender).collect();
        senders.push(self.own);
        senders.sort_unstable();
        let everyone = self.commitments.iter().map(Commitment::identifier);
        if !senders.into_iter().eq(everyone) || shares.iter().any(|share| share.receiver != self.own) {
            return Err(Error::Participants);
        }
        if shares.iter().any(|share| share.view != self.view) {
            return Err(Error::Disagreement);
        }
        let mut sum = self.value;
        for share in shares {
            let dealer = &self.commitments[usize::from(share.sender.get()) - 1];
            let expected = evaluate_commitment(&dealer.coefficients, self.own);
            if !bool::from(RistrettoPoint::mul_base(&share.value).ct_eq(&expected)) {
                return Err(Error::BadParticipant(share.sender));
            }
            *sum += *share.value;
        }
        let threshold = self.commitments[0].coefficients.len();
        let commitment = (0..threshold)
            .map(|k| {
                let element = self.commitments.iter().map(|c| c.coefficients[k].element()).sum();
                PublicKey::from_element(element)
            })
            .collect::<Result<_, crate::Error>>()?;
        let signers = u16::try_from(self.commitments.len()).map_err(|_| Error::Participants)?;
        let group = GroupKey::new(commitment, signers)?;
        let share = KeyShare {
            identifier: self.own,
            key: PrivateKey::from_scalar(sum)?,
            group: *group.public_key(),
        };
        Ok((group, share))
    }
}

/// The branches of a participant: where its polynomial is made, and where it is committed to.
fn processes(base: &Protocol, identifier: Identifier) -> [Protocol; 2] {
    let mut protocol = base.clone();
    protocol.mix(label!("dkg-identifier"), &identifier.get().to_be_bytes());
    protocol.fork(label!("process"), ["keygen", "commitment"])
}

/// The transcript that the proof signs.
fn committed(mut statement: Protocol, coefficients: &[PublicKey]) -> Protocol {
    for element in coefficients {
        statement.mix(label!("coefficient"), element.as_bytes());
    }
    statement
}
