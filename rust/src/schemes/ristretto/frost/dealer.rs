//! Keys by a trusted dealer.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::polynomial::Polynomial;
use super::{Error, GroupKey, KeyShare, check_numbers, identifiers, processes};
use crate::Label;
use crate::base::timing::Timing;
use crate::keys::PrivateKey;

/// A trusted dealer makes a key for a group and the shares of all its participants. It takes `threshold` of them
/// to sign.
///
/// The dealer could sign alone, so it must forget what it made. Without a dealer: [`dkg`](super::dkg).
///
/// # Errors
///
/// [`Error::Participants`] unless the threshold is at least 2 and at most the number of signers;
/// [`Error::Other`] if a coefficient or a share is zero (a probability of about n * 2^-252).
pub fn deal<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    threshold: u16,
    signers: u16,
    rng: &mut R,
) -> Result<(GroupKey, Vec<KeyShare>), Error> {
    let _timing = Timing::independent();
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
