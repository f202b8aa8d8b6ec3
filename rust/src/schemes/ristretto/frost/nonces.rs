//! The first round: nonces, and commitments to them.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{Error, IDENTIFIER_LEN, Identifier, KeyShare, join_identifier, processes, split_identifier};
use crate::base::encoding::{decoded, decoded_slice, public};
use crate::base::wipe::{opaque, wipe};
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::{Label, Protocol, label};

impl KeyShare {
    /// First round: nonces for one signature in this domain, and the commitments to send to the other signers.
    ///
    /// **If the generator repeats, so do the nonces, and the share is lost:** prefer [`KeyShare::commit_in_context`].
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) if a nonce is zero (a probability of 2^-251).
    pub fn commit<R: CryptoRng + ?Sized>(
        &self,
        domain: Label<'_>,
        rng: &mut R,
    ) -> Result<(SigningNonces, SigningCommitments), crate::Error> {
        self.commit_from(self.nonces(domain, rng))
    }

    /// [`KeyShare::commit`] for a context that never repeats: a counter that no snapshot sets back, an identifier of
    /// the session that others choose, or the message, if it is already known. In different contexts the nonces differ
    /// even if the generator repeats.
    ///
    /// In one context they repeat with the generator: a message that is signed again needs more than itself as context.
    /// Other signers need not know the context.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) if a nonce is zero (a probability of 2^-251).
    pub fn commit_in_context<R: CryptoRng + ?Sized>(
        &self,
        domain: Label<'_>,
        context: &[u8],
        rng: &mut R,
    ) -> Result<(SigningNonces, SigningCommitments), crate::Error> {
        let mut protocol = self.nonces(domain, rng);
        protocol.mix(label!("context"), context);
        self.commit_from(protocol)
    }

    /// What the nonces come from.
    fn nonces<R: CryptoRng + ?Sized>(&self, domain: Label<'_>, rng: &mut R) -> Protocol {
        let [_, mut protocol] = processes(domain);
        protocol.mix(label!("signing-share"), self.key.scalar().as_bytes());
        protocol.mix(label!("rand"), group::random_bytes(rng).as_slice());
        protocol
    }

    fn commit_from(
        &self,
        mut protocol: Protocol,
    ) -> Result<(SigningNonces, SigningCommitments), crate::Error> {
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

/// The secret of the first round, for one signature. Wiped on drop.
pub struct SigningNonces {
    pub(super) hiding: PrivateKey,
    pub(super) binding: PrivateKey,
}

impl SigningNonces {
    /// Size in bytes of stored nonces.
    pub const LEN: usize = 2 * SCALAR_LEN;

    /// The nonces, to be stored until the second round: hiding, binding. **Whoever has them and the signature share learns
    /// the key share, and so does everyone if they are used twice.**
    #[must_use]
    pub fn into_bytes(self) -> Zeroizing<[u8; Self::LEN]> {
        let [hiding, binding] = [&self.hiding, &self.binding].map(|nonce| Zeroizing::new(nonce.to_bytes()));
        Zeroizing::new(group::join([&hiding, &binding]))
    }

    /// The nonces that were stored; `stored` is then all zeros. They are added to the used ones: store these **before
    /// signing**, in a place that is not restored with the signer. Then use [`KeyShare::sign`], not
    /// [`KeyShare::sign_once`], which would refuse them.
    ///
    /// ```
    /// use veriplex::frost::{self, SigningNonces, UsedNonces};
    /// use veriplex::{label, os_rng};
    ///
    /// let (group, shares) = frost::deal(label!("com.example.frost"), 2, 2, &mut os_rng())?;
    /// let mut used = UsedNonces::new(); // in practice, from where it is kept
    /// let (nonces, _) = shares[0].commit_in_context(label!("com.example.frost"), b"session 1", &mut os_rng())?;
    /// let mut stored = nonces.into_bytes();
    /// let mut copy = stored.clone();
    ///
    /// let nonces = SigningNonces::from_bytes(&mut stored, &mut used)?;
    /// let used = &mut UsedNonces::from_bytes(&used.to_bytes())?; // stored, and read again
    /// assert!(SigningNonces::from_bytes(&mut copy, used).is_err());
    /// # Ok::<(), veriplex::frost::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoncesUsed`] if they were used before; [`Error::Other`] if they are not stored nonces.
    pub fn from_bytes(stored: &mut [u8; Self::LEN], used: &mut UsedNonces) -> Result<Self, Error> {
        let parts = stored.as_chunks().0;
        let decode = |part| PrivateKey::from_bytes(part).map_err(|_| crate::Error::InvalidState);
        let nonces = decode(&parts[0]).and_then(|hiding| {
            let binding = decode(&parts[1])?;
            Ok(Self { hiding, binding })
        });
        wipe(stored);
        let nonces = nonces?;
        used.add(&nonces)?;
        Ok(nonces)
    }
}

opaque!(SigningNonces);

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

    const INVALID: crate::Error = crate::Error::InvalidKey;

    /// Whose they are.
    #[must_use]
    pub const fn identifier(&self) -> Identifier {
        self.identifier
    }

    /// Decodes commitments.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](crate::Error::InvalidKey) if an element is not canonical or the identity, or the identifier is zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, crate::Error> {
        let (identifier, rest) = split_identifier(bytes).ok_or(Self::INVALID)?;
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

decoded!(SigningCommitments);
public!(SigningCommitments);

/// Which nonces a signer has used: what [`KeyShare::sign_once`] refuses.
///
/// It helps only if it is not restored with the signer: keep it outside the virtual machine, for example. It is not
/// secret, but whoever can remove entries defeats it. It grows by 32 bytes with each signature.
///
/// ```
/// use veriplex::{frost::{self, UsedNonces}, label, os_rng};
///
/// let domain = label!("com.example.frost");
/// let (group, shares) = frost::deal(domain, 2, 2, &mut os_rng())?;
/// let mut used = [UsedNonces::new(), UsedNonces::new()]; // in practice, each signer's, from where it is kept
///
/// let (first, first_commitments) = shares[0].commit_in_context(domain, b"session 1", &mut os_rng())?;
/// let (second, second_commitments) = shares[1].commit_in_context(domain, b"session 1", &mut os_rng())?;
/// let commitments = [first_commitments, second_commitments];
/// let package = frost::SigningPackage::new(domain, &group, &commitments, b"message")?;
/// let share = shares[0].sign_once(first, &package, &mut used[0])?;
/// let stored = used[0].to_bytes(); // store this before the share is sent
/// # let other = shares[1].sign_once(second, &package, &mut used[1])?;
/// # package.aggregate(&[share, other])?;
/// # assert_eq!(UsedNonces::from_bytes(&stored)?, used[0]);
/// # Ok::<(), veriplex::frost::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedNonces {
    /// Of each pair the public hiding nonce. Both nonces come from one state, so neither repeats alone.
    hiding: BTreeSet<[u8; ELEMENT_LEN]>,
}

decoded_slice!(UsedNonces);
public!(UsedNonces);

impl UsedNonces {
    const INVALID: crate::Error = crate::Error::InvalidState;

    /// No nonces.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            hiding: BTreeSet::new(),
        }
    }

    /// Decodes what [`UsedNonces::to_bytes`] gives.
    ///
    /// # Errors
    ///
    /// [`InvalidState`](crate::Error::InvalidState) for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
        let (hiding, rest) = bytes.as_chunks();
        if !rest.is_empty() || !hiding.is_sorted_by(|a, b| a < b) {
            return Err(Self::INVALID);
        }
        let hiding = hiding.iter().copied().collect();
        Ok(Self { hiding })
    }

    /// 32 bytes for each pair of nonces, in ascending order.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.hiding.iter().flatten().copied().collect()
    }

    /// # Errors
    ///
    /// [`Error::NoncesUsed`] if these are among them.
    pub(super) fn add(&mut self, nonces: &SigningNonces) -> Result<(), Error> {
        if self.hiding.insert(nonces.hiding.public_key().to_bytes()) {
            Ok(())
        } else {
            Err(Error::NoncesUsed)
        }
    }
}
