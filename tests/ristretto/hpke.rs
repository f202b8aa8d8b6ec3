//! Encryption to a public key: known answers and bad input.

use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::hazmat::unhedged;
use veriplex::hpke::{self, OVERHEAD, Opener, Sealer};
use veriplex::keys::PrivateKey;
use veriplex::{Error, Label, label};

use crate::common::{Recorded, array, bytes, cases, on_each_backend, refusal, text, vectors};
use crate::{key, refuses_what_was_changed};

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("hpke")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let [sender, receiver] = ["sender_private", "receiver_private"]
                .map(|name| PrivateKey::from_bytes(&array(case, name)).unwrap());
            assert_eq!(sender.public_key().to_bytes(), array(case, "sender_public"));
            assert_eq!(receiver.public_key().to_bytes(), array(case, "receiver_public"));
            let (plaintext, ciphertext) = (bytes(case, "plaintext"), bytes(case, "ciphertext"));
            let chosen = PrivateKey::from_uniform_bytes(array(case, "rand")).unwrap();
            let (ephemeral, mut protocol) =
                unhedged::hpke_setup_sender(domain, &sender, receiver.public_key(), &chosen).unwrap();
            let sealed = protocol.seal_vec(label!("message"), &plaintext);
            assert_eq!([&ephemeral[..], &sealed].concat(), ciphertext);
            let opened = hpke::open_vec(domain, &receiver, sender.public_key(), &ciphertext);
            assert_eq!(opened.unwrap(), plaintext);
        }
    });
}

/// `setup` gives the protocol that `seal` seals messages with.
#[test]
fn setup_is_the_beginning_of_seal() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let mut rng = Recorded::new([3; 64]);
    let (ephemeral, mut sender) = hpke::setup_sender(domain, &alice, bob.public_key(), &mut rng).unwrap();
    let mut receiver = hpke::setup_receiver(domain, &bob, alice.public_key(), &ephemeral).unwrap();
    assert_eq!(sender, receiver);
    let rest = sender.seal_vec(label!("message"), b"message");
    assert_eq!(receiver.open_vec(label!("message"), &rest).unwrap(), b"message");
    let sealed = [ephemeral.as_slice(), &rest].concat();
    assert_eq!(
        hpke::open_vec(domain, &bob, alice.public_key(), &sealed),
        Ok(b"message".into())
    );
}

/// With one ephemeral key, two messages would be encrypted with one key stream.
#[test]
fn a_generator_that_repeats_reveals_equal_messages_only() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let rng = || Recorded::new([3; 64]);
    let seal = |domain, sender: &PrivateKey, receiver: &PrivateKey, message: &[u8]| {
        hpke::seal_vec(domain, sender, receiver.public_key(), &mut rng(), message).unwrap()
    };
    let sealed = seal(domain, &alice, &bob, b"message");
    assert_eq!(seal(domain, &alice, &bob, b"message"), sealed);
    let setup = hpke::setup_sender(domain, &alice, bob.public_key(), &mut rng())
        .unwrap()
        .0;
    let others = [
        seal(domain, &alice, &bob, b"massage"),
        seal(domain, &alice, &bob, b""),
        seal(label!("other"), &alice, &bob, b"message"),
        seal(domain, &key(3), &bob, b"message"),
        seal(domain, &alice, &key(3), b"message"),
        setup.to_vec(),
    ];
    let all = others.iter().chain([&sealed]).map(|sealed| &sealed[..32]);
    let ephemerals: std::collections::BTreeSet<_> = all.collect();
    assert_eq!(ephemerals.len(), others.len() + 1);
    // Nor is it the key that the generator's bytes give.
    assert!(!ephemerals.contains(&key(3).public_key().as_bytes()[..]));
}

#[test]
fn anything_changed_is_refused() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let message = [0x5a; 40];
    let mut rng = Recorded::new([3; 64]);
    let sealed = hpke::seal_vec(domain, &alice, bob.public_key(), &mut rng, &message).unwrap();
    refuses_what_was_changed(domain, &message, &sealed, |domain, receiver, sender, sealed| {
        let mut plaintext = vec![1; sealed.len().checked_sub(OVERHEAD).unwrap_or(9)];
        let result = hpke::open_into(domain, receiver, sender, sealed, &mut plaintext);
        let mut in_place = sealed.to_vec();
        let others = [
            hpke::open_vec(domain, receiver, sender, sealed).err(),
            hpke::open_in_place(domain, receiver, sender, &mut in_place).err(),
        ];
        assert_eq!(others, [result.err(); 2]);
        assert!(result.is_ok() || plaintext.iter().all(|&byte| byte == 0));
        if result.is_err() && sealed.len() >= OVERHEAD {
            assert_eq!(in_place[32..][..plaintext.len()], plaintext);
        }
        result.map(|()| plaintext)
    });
    // With the identity as the ephemeral key anyone could compute one of the two secrets.
    let setup = hpke::setup_receiver(domain, &bob, alice.public_key(), &[0; 32]);
    assert_eq!(setup.err(), Some(Error::Verification));
}

#[test]
fn wrong_buffer_lengths() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let (a, b) = (alice.public_key(), bob.public_key());
    let sealed = hpke::seal_vec(domain, &alice, b, &mut Recorded::new([3; 64]), b"message").unwrap();
    let wrong = Err(Error::BufferLength);
    for n in (0..60).filter(|n| *n != sealed.len()) {
        let mut rng = Recorded::new([]);
        let mut buffer = vec![0; n];
        assert_eq!(
            hpke::seal_into(domain, &alice, b, &mut rng, b"message", &mut buffer),
            wrong
        );
    }
    for n in (0..20).filter(|n| *n != 7) {
        assert_eq!(hpke::open_into(domain, &bob, a, &sealed, &mut vec![0; n]), wrong);
    }
}

/// The bytes of the format with context, so that it stays as it is. `twin.rs` compares it with the specification.
#[test]
fn context_known_answers() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    for (sealer, expected) in [
        (
            Sealer::anonymous(domain, bob.public_key()),
            "5c3a625f105e97239394af74dcf280cbb60287cda1f73647d4c7645bc4498a7bfabed88abdb7bb89d338630d6bd6a1d2188e89dedb7baa",
        ),
        (
            Sealer::authenticated(domain, &alice, bob.public_key()),
            "bcb0bd24b38bc411431debbcbc2cd50a090a2ab744a06ae8a43bd6c26c582f5ca864be9a07e50f8e17189804ed11ad649fe2b678c84ca7",
        ),
    ] {
        let mut rng = Recorded::new([3; 64]);
        let sealed = sealer
            .with_info(b"info")
            .seal_vec(b"ad", &mut rng, b"message")
            .unwrap();
        assert_eq!(hex::encode(sealed), expected);
    }
}

/// What is sealed opens with the same domain, keys, info, associated data and mode, and with no others.
#[test]
fn context_must_be_the_same() {
    let (domain, alice, bob, eve) = (label!("hpke"), key(1), key(2), key(3));
    let (a, b, e) = (alice.public_key(), bob.public_key(), eve.public_key());
    let rng = || Recorded::new([3; 64]);
    let anonymous = Opener::anonymous(domain, &bob);
    let authenticated = Opener::authenticated(domain, &bob, a);
    let sealers = [
        Sealer::anonymous(domain, b),
        Sealer::authenticated(domain, &alice, b),
    ];
    for (sealer, right) in sealers.into_iter().zip([anonymous, authenticated]) {
        let (sealer, right) = (sealer.with_info(b"info"), right.with_info(b"info"));
        let sealed = sealer.seal_vec(b"ad", &mut rng(), b"message").unwrap();
        assert_eq!(sealed.len(), 7 + OVERHEAD);
        assert_eq!(right.open_vec(b"ad", &sealed).unwrap(), b"message");
        let wrong = [
            right.with_info(b"inf"),
            right.with_info(b""),
            Opener::anonymous(domain, &eve).with_info(b"info"),
            Opener::anonymous(label!("other"), &bob).with_info(b"info"),
            Opener::authenticated(domain, &eve, a).with_info(b"info"),
            Opener::authenticated(domain, &bob, e).with_info(b"info"),
            Opener::authenticated(label!("other"), &bob, a).with_info(b"info"),
        ];
        let mut output = [1; 7];
        for opener in wrong {
            assert_eq!(opener.open_vec(b"ad", &sealed), Err(Error::Verification));
            assert_eq!(
                opener.open_into(b"ad", &sealed, &mut output),
                Err(Error::Verification)
            );
            assert_eq!(output, [0; 7]);
            output = [1; 7];
        }
        for ad in [&b""[..], b"a", b"ad "] {
            assert_eq!(right.open_vec(ad, &sealed), Err(Error::Verification));
        }
        for bit in 0..8 * sealed.len() {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                right.open_vec(b"ad", &changed),
                Err(Error::Verification),
                "bit {bit}"
            );
        }
        for n in 0..sealed.len() {
            assert_eq!(
                right.open_vec(b"ad", &sealed[..n]),
                Err(refusal(&sealed[..n], OVERHEAD)),
                "{n} bytes"
            );
        }
        let identity = [&[0; 32], &sealed[32..]].concat();
        assert_eq!(right.open_vec(b"ad", &identity), Err(Error::Verification));
        // These fail before anything is decrypted, and the output is zeros all the same.
        for wrong in [&identity[..], &sealed[..OVERHEAD - 1]] {
            output = [1; 7];
            let opened = right.open_into(b"ad", wrong, &mut output);
            assert_eq!((opened, output), (Err(refusal(wrong, OVERHEAD)), [0; 7]));
        }
        assert!(right.setup(&[0; 32]).is_err());

        // All forms are the same.
        let mut into = [0; 7 + OVERHEAD];
        sealer
            .seal_into(b"ad", &mut rng(), b"message", &mut into)
            .unwrap();
        assert_eq!(into[..], sealed);
        right.open_into(b"ad", &sealed, &mut output).unwrap();
        assert_eq!(&output, b"message");
        let (ephemeral, tag) = sealer
            .seal_in_place_detached(b"ad", &mut rng(), &mut output)
            .unwrap();
        assert_eq!([&ephemeral[..], &output, &tag].concat(), sealed);
        right
            .open_in_place_detached(b"ad", &ephemeral, &mut output, &tag)
            .unwrap();
        assert_eq!(&output, b"message");
        let short = sealer.seal_into(b"ad", &mut rng(), b"message", &mut into[1..]);
        assert_eq!(short, Err(Error::BufferLength));
    }
}

/// The formats of this module never meet: not with one another, and not with that of `seal_vec`.
#[test]
fn modes_are_apart() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let (a, b) = (alice.public_key(), bob.public_key());
    let rng = || Recorded::new([3; 64]);
    let base = Sealer::anonymous(domain, b)
        .seal_vec(b"", &mut rng(), b"message")
        .unwrap();
    let auth = Sealer::authenticated(domain, &alice, b)
        .seal_vec(b"", &mut rng(), b"message")
        .unwrap();
    let plain = hpke::seal_vec(domain, &alice, b, &mut rng(), b"message").unwrap();
    let (anonymous, authenticated) = (
        Opener::anonymous(domain, &bob),
        Opener::authenticated(domain, &bob, a),
    );
    for sealed in [&auth, &plain] {
        assert!(anonymous.open_vec(b"", sealed).is_err());
    }
    for sealed in [&base, &plain] {
        assert!(authenticated.open_vec(b"", sealed).is_err());
    }
    for sealed in [&base, &auth] {
        assert!(hpke::open_vec(domain, &bob, a, sealed).is_err());
        // Nor does a protocol open a message.
        let (ephemeral, rest) = sealed.split_first_chunk().unwrap();
        for opener in [anonymous, authenticated] {
            let mut protocol = opener.setup(ephemeral).unwrap();
            protocol.mix(label!("ad"), b"");
            assert!(protocol.open_vec(label!("message"), rest).is_err());
        }
    }
}

/// With one ephemeral key, two messages would be encrypted with one key stream.
#[test]
fn a_generator_that_repeats_gives_other_ephemeral_keys_in_other_contexts() {
    let (domain, alice, bob) = (label!("hpke"), key(1), key(2));
    let b = bob.public_key();
    let mut ephemerals = std::collections::BTreeSet::new();
    for sealer in [
        Sealer::anonymous(domain, b),
        Sealer::authenticated(domain, &alice, b),
    ] {
        for (info, ad, message) in [
            ("", "", "one"),
            ("", "", "two"),
            ("", "a", "one"),
            ("i", "", "one"),
        ] {
            let sealer = sealer.with_info(info.as_bytes());
            let mut rng = Recorded::new([3; 64]);
            let sealed = sealer
                .seal_vec(ad.as_bytes(), &mut rng, message.as_bytes())
                .unwrap();
            assert!(ephemerals.insert(sealed[..32].to_vec()));
        }
        let (ephemeral, _) = sealer.setup(&mut Recorded::new([3; 64])).unwrap();
        assert!(ephemerals.insert(ephemeral.to_vec()));
    }
}

proptest! {
    #[test]
    fn round_trips(keys in any::<[[u8; 64]; 2]>(), rand in any::<[u8; 64]>(), message in vec(any::<u8>(), 0..400)) {
        let domain = label!("hpke");
        let [alice, bob] = keys.map(|key| PrivateKey::from_uniform_bytes(key).unwrap());
        let mut rng = Recorded::new(rand.repeat(4));
        let sealed = hpke::seal_vec(domain, &alice, bob.public_key(), &mut rng, &message).unwrap();
        prop_assert_eq!(sealed.len(), message.len() + OVERHEAD);
        let mut into = vec![0; sealed.len()];
        hpke::seal_into(domain, &alice, bob.public_key(), &mut rng, &message, &mut into).unwrap();
        prop_assert_eq!(&into, &sealed);
        prop_assert_eq!(&hpke::open_vec(domain, &bob, alice.public_key(), &sealed).unwrap(), &message);
        let mut opened = vec![0; message.len()];
        hpke::open_into(domain, &bob, alice.public_key(), &sealed, &mut opened).unwrap();
        prop_assert_eq!(&opened, &message);

        let (sender, receiver) = (alice.public_key(), bob.public_key());
        let mut in_place = [[0; 32].as_slice(), &message, &[0; 16]].concat();
        hpke::seal_in_place(domain, &alice, receiver, &mut rng, &mut in_place).unwrap();
        prop_assert_eq!(&in_place, &sealed);
        prop_assert_eq!(hpke::open_in_place(domain, &bob, sender, &mut in_place).unwrap(), &message);
        let mut detached = message.clone();
        let (ephemeral, tag) =
            hpke::seal_in_place_detached(domain, &alice, receiver, &mut rng, &mut detached).unwrap();
        prop_assert_eq!([ephemeral.as_slice(), &detached, &tag].concat(), sealed);
        hpke::open_in_place_detached(domain, &bob, sender, &ephemeral, &mut detached, &tag).unwrap();
        prop_assert_eq!(&detached, &message);
    }
}
