//! The schemes over Ristretto255: known answers, and what each must refuse.

#[path = "../common/mod.rs"]
mod common;

mod dkg;
mod frost;
mod handshake;
mod hpke;
mod keys;
mod oprf;
mod pake;
mod ratchet;
mod secrets;
mod sig;
mod signcrypt;
#[cfg(feature = "serde")]
mod traits;
mod twin;
mod vrf;

use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Error, Label, label};

/// The private key with this number.
fn key(number: u8) -> PrivateKey {
    PrivateKey::from_uniform_bytes([number; 64]).unwrap_or_else(|_| key(number ^ 0x80))
}

/// The order of the group, which is not the encoding of any scalar.
fn order() -> [u8; 32] {
    let hex = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
    hex::decode(hex).unwrap().try_into().unwrap()
}

/// What key 1 sealed for key 2 opens with these keys in this domain. Every changed bit, every other length, another
/// domain and other keys are refused, and so is the identity as the ephemeral key, which comes first.
fn refuses_what_was_changed(
    domain: Label<'_>,
    message: &[u8],
    sealed: &[u8],
    open: impl Fn(Label<'_>, &PrivateKey, &PublicKey, &[u8]) -> Result<Vec<u8>, Error>,
) {
    let (alice, bob, eve) = (key(1), key(2), key(3));
    let (a, b) = (alice.public_key(), bob.public_key());
    assert_eq!(open(domain, &bob, a, sealed), Ok(message.to_vec()));

    let wrong = Err(Error::Verification);
    for bit in 0..8 * sealed.len() {
        let mut changed = sealed.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(domain, &bob, a, &changed), wrong, "bit {bit}");
    }
    for n in 0..sealed.len() {
        let refused = Err(common::refusal(&sealed[..n], sealed.len() - message.len()));
        assert_eq!(open(domain, &bob, a, &sealed[..n]), refused, "{n} bytes");
    }
    assert_eq!(open(domain, &bob, a, &[sealed, &[0]].concat()), wrong);
    assert_eq!(open(label!("other"), &bob, a, sealed), wrong);
    assert_eq!(open(domain, &eve, a, sealed), wrong);
    assert_eq!(open(domain, &bob, eve.public_key(), sealed), wrong);
    assert_eq!(open(domain, &bob, b, sealed), wrong);
    assert_eq!(open(domain, &bob, a, &[&[0; 32], &sealed[32..]].concat()), wrong);
}
