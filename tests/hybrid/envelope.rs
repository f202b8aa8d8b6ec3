//! Encryption to a hybrid key.

use veriplex::hybrid::{self, ENCAPSULATION_LEN, OVERHEAD, PrivateKey};
use veriplex::{Error, label};

use crate::common::{Recorded, refusal};
use crate::{DOMAIN, key, rng};

#[test]
fn every_change_is_an_error() {
    let (alice, bob) = (key(1), key(3));
    let (a, b) = (alice.public_key(), bob.public_key());
    let sealed = hybrid::seal(DOMAIN, &alice, b, &mut rng(2), b"message").unwrap();
    assert_eq!(sealed.len(), 7 + OVERHEAD);
    assert_eq!(OVERHEAD, ENCAPSULATION_LEN + 16);
    let open = |sealed: &[u8]| hybrid::open(DOMAIN, &bob, a, sealed);
    assert_eq!(open(&sealed).unwrap(), b"message");

    let wrong = Err(Error::Verification);
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1 << (at % 8);
        assert_eq!(open(&changed), wrong, "byte {at}");
    }
    for len in (0..sealed.len()).step_by(7).chain([sealed.len() - 1]) {
        let refused = Err(refusal(&sealed[..len], OVERHEAD));
        assert_eq!(open(&sealed[..len]), refused, "{len} bytes");
    }
    assert_eq!(open(&[&sealed[..], &[0]].concat()), wrong);
    let identity = [&[0; 32], &sealed[32..]].concat();
    assert_eq!(open(&identity), wrong);
    assert_eq!(hybrid::open(label!("other"), &bob, a, &sealed), wrong);
    assert_eq!(hybrid::open(DOMAIN, &alice, a, &sealed), wrong);
    assert_eq!(hybrid::open(DOMAIN, &bob, b, &sealed), wrong);
    // Half of the receiver's key is not enough, and half of the sender's is another sender.
    for range in [0..32, 32..96] {
        let mut half = key(4).to_bytes();
        half[range.clone()].copy_from_slice(&bob.to_bytes()[range.clone()]);
        let half = PrivateKey::from_bytes(&half).unwrap();
        assert_eq!(hybrid::open(DOMAIN, &half, a, &sealed), wrong);
        let mut half = *key(4).public_key().as_bytes();
        let range = if range.start == 0 { 0..32 } else { 32..1216 };
        half[range.clone()].copy_from_slice(&a.as_bytes()[range]);
        let half = hybrid::PublicKey::from_bytes(&half).unwrap();
        assert_eq!(hybrid::open(DOMAIN, &bob, &half, &sealed), wrong);
    }
}

#[test]
fn both_ends_get_the_same_protocol() {
    let (alice, bob) = (key(1), key(3));
    let (encapsulation, mut sender) =
        hybrid::setup_sender(DOMAIN, &alice, bob.public_key(), &mut rng(2)).unwrap();
    let setup = |sender| hybrid::setup_receiver(DOMAIN, &bob, sender, &encapsulation).unwrap();
    let mut receiver = setup(alice.public_key());
    let mut other = setup(bob.public_key());
    let sealed = sender.seal_vec(label!("first"), b"message");
    assert_eq!(receiver.open_vec(label!("first"), &sealed).unwrap(), b"message");
    assert_eq!(other.open_vec(label!("first"), &sealed), Err(Error::Verification));
    assert_eq!(sender, receiver);
}

#[test]
fn a_broken_generator_is_an_error() {
    let sealed = hybrid::seal(
        DOMAIN,
        &key(1),
        key(3).public_key(),
        &mut Recorded::new([0; 96]),
        b"",
    );
    assert_eq!(sealed, Err(Error::InvalidKey));
}
