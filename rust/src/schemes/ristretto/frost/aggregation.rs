//! The signature, out of the signers' shares of it.

use alloc::vec::Vec;

use curve25519_dalek::{RistrettoPoint, Scalar};

use super::{Error, SignatureShare, SigningPackage};
use crate::sig::Signature;

impl SigningPackage<'_> {
    /// Whether a share is right, by the signer's verifying share.
    ///
    /// # Errors
    ///
    /// [`Error::BadParticipant`] with its signer if it is wrong; [`Error::Disagreement`] if its signer had another
    /// package; [`Error::Participants`] if that is not one of the package's signers.
    pub fn verify_share(&self, share: &SignatureShare) -> Result<(), Error> {
        let signer = self.signer(share.identifier)?;
        if share.package != self.digest {
            return Err(Error::Disagreement);
        }
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
    /// [`Error::Participants`] if a share is missing, occurs twice, or is from someone else; [`Error::Disagreement`] if a
    /// signer had another package; [`Error::BadParticipant`] with the first signer whose share is wrong.
    /// [`SigningPackage::verify_share`] finds all of them.
    pub fn aggregate(&self, shares: &[SignatureShare]) -> Result<Signature, Error> {
        let mut shares: Vec<&SignatureShare> = shares.iter().collect();
        shares.sort_unstable_by_key(|share| share.identifier);
        let signers = self.signers.iter().map(|signer| signer.commitments.identifier);
        if !shares.iter().map(|share| share.identifier).eq(signers) {
            return Err(Error::Participants);
        }
        if shares.iter().any(|share| share.package != self.digest) {
            return Err(Error::Disagreement);
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
        Err(crate::Error::Verification.into()) // not reached: shares that are right add up
    }
}
