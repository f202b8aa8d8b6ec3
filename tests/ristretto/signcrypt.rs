//! Signcryption: known answers and bad input.

use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::keys::PrivateKey;
use veriplex::signcrypt::{self, OVERHEAD};
use veriplex::{Error, Label, label};

use crate::common::{Recorded, array, bytes, cases, on_each_backend, text, vectors};
use crate::{key, refuses_what_was_changed};

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("signcrypt")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let [sender, receiver] = ["sender_private", "receiver_private"]
                .map(|name| PrivateKey::from_bytes(&array(case, name)).unwrap());
            assert_eq!(sender.public_key().to_bytes(), array(case, "sender_public"));
            assert_eq!(receiver.public_key().to_bytes(), array(case, "receiver_public"));
            let (plaintext, ciphertext) = (bytes(case, "plaintext"), bytes(case, "ciphertext"));
            let mut rng = Recorded::new(bytes(case, "rand"));
            let sealed = signcrypt::seal_vec(domain, &sender, receiver.public_key(), &mut rng, &plaintext);
            assert_eq!(sealed.unwrap(), ciphertext);
            assert!(rng.is_used_up());
            let opened = signcrypt::open_vec(domain, &receiver, sender.public_key(), &ciphertext);
            assert_eq!(opened.unwrap(), plaintext);
        }
    });
}

#[test]
fn anything_changed_is_refused() {
    let (domain, alice, bob) = (label!("signcrypt"), key(1), key(2));
    let message = [0x5a; 40];
    let mut rng = Recorded::new([3; 64]);
    let sealed = signcrypt::seal_vec(domain, &alice, bob.public_key(), &mut rng, &message).unwrap();
    refuses_what_was_changed(domain, &message, &sealed, |domain, receiver, sender, sealed| {
        let mut plaintext = vec![1; sealed.len().checked_sub(OVERHEAD).unwrap_or(9)];
        let result = signcrypt::open_into(domain, receiver, sender, sealed, &mut plaintext);
        let mut in_place = sealed.to_vec();
        let others = [
            signcrypt::open_vec(domain, receiver, sender, sealed).err(),
            signcrypt::open_in_place(domain, receiver, sender, &mut in_place).err(),
        ];
        assert_eq!(others, [result.err(); 2]);
        assert!(result.is_ok() || plaintext.iter().all(|&byte| byte == 0));
        if result.is_err() && sealed.len() >= OVERHEAD {
            assert_eq!(in_place[32..][..plaintext.len()], plaintext);
        }
        result.map(|()| plaintext)
    });
}

/// The receiver knows what masks the message and its signature, and can mask another message in the same way.
#[test]
fn the_receiver_cannot_forge() {
    use veriplex_spec::{group, protocol, signcrypt as spec};

    let (alice, bob) = (key(1), key(2));
    let (a, b) = (alice.public_key(), bob.public_key());
    let domain = label!("signcrypt");
    let mut rng = Recorded::new([3; 64]);
    let sealed = signcrypt::seal_vec(domain, &alice, b, &mut rng, b"message").unwrap();
    let ephemeral: [u8; 32] = sealed[..32].try_into().unwrap();
    let shared = spec::shared(
        spec::start(b"signcrypt", a.to_bytes(), b.to_bytes()),
        ephemeral,
        group::times(bob.to_bytes(), ephemeral),
    );
    let (state, _) = protocol::unmask(shared, b"message", &sealed[32..39]);
    let (state, commitment) = protocol::unmask(state, b"commitment", &sealed[39..71]);
    let (state, _) = protocol::derive(state, b"challenge", 64);
    let (_, proof) = protocol::unmask(state, b"proof", &sealed[71..]);

    let remade = |message: &[u8]| {
        let (state, masked) = protocol::mask(shared, b"message", message);
        let (state, commitment) = protocol::mask(state, b"commitment", &commitment);
        let (state, _) = protocol::derive(state, b"challenge", 64);
        let (_, proof) = protocol::mask(state, b"proof", &proof);
        [ephemeral.to_vec(), masked, commitment, proof].concat()
    };
    assert_eq!(remade(b"message"), sealed);
    let forged = signcrypt::open_vec(domain, &bob, a, &remade(b"another"));
    assert_eq!(forged, Err(Error::Verification));
}

/// Even if the generator repeats, another message gets another ephemeral key and another nonce.
#[test]
fn randomness_is_hedged() {
    let (domain, alice, bob) = (label!("signcrypt"), key(1), key(2));
    let seal = |message: &[u8]| {
        let mut rng = Recorded::new([0; 64]);
        signcrypt::seal_vec(domain, &alice, bob.public_key(), &mut rng, message).unwrap()
    };
    assert_eq!(seal(b"one"), seal(b"one"));
    assert_ne!(seal(b"one")[..32], seal(b"two")[..32]);
}

#[test]
fn wrong_buffer_lengths() {
    let (domain, alice, bob) = (label!("signcrypt"), key(1), key(2));
    let (a, b) = (alice.public_key(), bob.public_key());
    let sealed = signcrypt::seal_vec(domain, &alice, b, &mut Recorded::new([3; 64]), b"message").unwrap();
    let wrong = Err(Error::BufferLength);
    for n in (0..110).filter(|n| *n != sealed.len()) {
        let mut rng = Recorded::new([]);
        let mut buffer = vec![0; n];
        assert_eq!(
            signcrypt::seal_into(domain, &alice, b, &mut rng, b"message", &mut buffer),
            wrong
        );
    }
    for n in (0..20).filter(|n| *n != 7) {
        assert_eq!(
            signcrypt::open_into(domain, &bob, a, &sealed, &mut vec![0; n]),
            wrong
        );
    }
}

proptest! {
    #[test]
    fn round_trips(keys in any::<[[u8; 64]; 2]>(), rand in any::<[u8; 64]>(), message in vec(any::<u8>(), 0..400)) {
        let domain = label!("signcrypt");
        let [alice, bob] = keys.map(|key| PrivateKey::from_uniform_bytes(key).unwrap());
        let mut rng = Recorded::new(rand.repeat(4));
        let sealed = signcrypt::seal_vec(domain, &alice, bob.public_key(), &mut rng, &message).unwrap();
        prop_assert_eq!(sealed.len(), message.len() + OVERHEAD);
        let mut into = vec![0; sealed.len()];
        signcrypt::seal_into(domain, &alice, bob.public_key(), &mut rng, &message, &mut into).unwrap();
        prop_assert_eq!(&into, &sealed);
        prop_assert_eq!(&signcrypt::open_vec(domain, &bob, alice.public_key(), &sealed).unwrap(), &message);
        let mut opened = vec![0; message.len()];
        signcrypt::open_into(domain, &bob, alice.public_key(), &sealed, &mut opened).unwrap();
        prop_assert_eq!(&opened, &message);

        let (sender, receiver) = (alice.public_key(), bob.public_key());
        let mut in_place = [[0; 32].as_slice(), &message, &[0; 64]].concat();
        signcrypt::seal_in_place(domain, &alice, receiver, &mut rng, &mut in_place).unwrap();
        prop_assert_eq!(&in_place, &sealed);
        prop_assert_eq!(signcrypt::open_in_place(domain, &bob, sender, &mut in_place).unwrap(), &message);
        let mut detached = message.clone();
        let (ephemeral, proof) =
            signcrypt::seal_in_place_detached(domain, &alice, receiver, &mut rng, &mut detached).unwrap();
        prop_assert_eq!([ephemeral.as_slice(), &detached, &proof].concat(), sealed);
        signcrypt::open_in_place_detached(domain, &bob, sender, &ephemeral, &mut detached, &proof).unwrap();
        prop_assert_eq!(&detached, &message);
    }
}
