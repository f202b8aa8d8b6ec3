//! Signatures: known answers and bad input.

use std::io::Write;

use curve25519_dalek::Scalar;
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::keys::PrivateKey;
use veriplex::sig::{self, Signature, Signer, Verifier};
use veriplex::{Error, Label, Protocol, label};

use crate::common::{Recorded, array, bytes, cases, on_each_backend, text, vectors};
use crate::{key, order};

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("sig")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let key = PrivateKey::from_bytes(&array(case, "private")).unwrap();
            let (message, hedge) = (bytes(case, "message"), bytes(case, "hedge"));
            let expected: [u8; 64] = array(case, "signature");
            let signature = if hedge.is_empty() {
                sig::sign_deterministic(domain, &key, &message)
            } else {
                let mut rng = Recorded::new(hedge);
                let signature = sig::sign(domain, &key, &message, &mut rng);
                assert!(rng.is_used_up());
                signature
            };
            assert_eq!(signature.to_bytes(), expected);
            let verify = |bytes: &[u8; 64]| {
                sig::verify(domain, key.public_key(), &message, &Signature::from_bytes(bytes)?)
            };
            assert_eq!(verify(&expected), Ok(()));
            assert_eq!(
                verify(&array(case, "bad_signature")).is_ok(),
                case["bad_valid"].as_bool().unwrap()
            );
        }
    });
}

/// Every bit of a signature matters, and so do message, key and domain.
#[test]
fn anything_changed_is_refused() {
    let (domain, key) = (label!("sig"), key(1));
    let signature = sig::sign_deterministic(domain, &key, b"message");
    let public = key.public_key();
    assert_eq!(sig::verify(domain, public, b"message", &signature), Ok(()));
    for bit in 0..512 {
        let mut bytes = signature.to_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let verdict = Signature::from_bytes(&bytes)
            .and_then(|changed| sig::verify(domain, public, b"message", &changed));
        assert_eq!(verdict, Err(Error::Verification), "bit {bit}");
    }
    let wrong = Err(Error::Verification);
    assert_eq!(sig::verify(domain, public, b"messagf", &signature), wrong);
    assert_eq!(sig::verify(domain, public, b"message\0", &signature), wrong);
    assert_eq!(sig::verify(label!("gis"), public, b"message", &signature), wrong);
    let other = crate::key(2);
    assert_eq!(
        sig::verify(domain, other.public_key(), b"message", &signature),
        wrong
    );
}

#[test]
fn bad_encodings() {
    let signature = sig::sign_deterministic(label!("sig"), &key(1), b"message");
    let long = [signature.to_bytes().as_slice(), &[0]].concat();
    for n in (0..64).chain([65]) {
        assert_eq!(Signature::try_from(&long[..n]), Err(Error::Verification));
    }
    assert_eq!(Signature::try_from(&long[..64]), Ok(signature));
    // The same scalar plus the group order. Accepting it would make signatures malleable.
    let mut bytes = signature.to_bytes();
    let mut carry = 0;
    for (byte, addend) in bytes[32..].iter_mut().zip(order()) {
        let sum = u16::from(*byte) + u16::from(addend) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    assert_eq!(Signature::from_bytes(&bytes), Err(Error::Verification));
}

#[test]
fn other_randomness_makes_another_signature() {
    let sign = |hedge: u8| sig::sign(label!("sig"), &key(1), b"m", &mut Recorded::new([hedge; 64]));
    assert_ne!(sign(1), sign(2));
    assert_eq!(sign(1), sign(1));
    assert_ne!(sign(0), sig::sign_deterministic(label!("sig"), &key(1), b"m"));
}

#[test]
fn a_batch_is_as_strict_as_its_signatures() {
    let domain = label!("batch");
    let keys: Vec<_> = (0..9).map(key).collect();
    let messages: Vec<_> = (0..9_u8).map(|n| vec![n; usize::from(n) * 30]).collect();
    let signatures: Vec<_> = keys
        .iter()
        .zip(&messages)
        .map(|(key, message)| sig::sign_deterministic(domain, key, message))
        .collect();
    let all: Vec<_> = (0..9)
        .map(|n| (keys[n].public_key(), messages[n].as_slice(), &signatures[n]))
        .collect();
    for n in 0..=9 {
        assert_eq!(sig::verify_batch(domain, &all[..n]), Ok(()));
    }
    assert_eq!(sig::verify_batch(label!("other"), &all), Err(Error::Verification));
    for n in 0..9 {
        let mut wrong = all.clone();
        wrong[n].1 = b"another message";
        assert_eq!(sig::verify_batch(domain, &wrong), Err(Error::Verification));
        // The right signatures in another order.
        wrong = all.clone();
        let next = (n + 1) % 9;
        (wrong[n].2, wrong[next].2) = (wrong[next].2, wrong[n].2);
        assert_eq!(sig::verify_batch(domain, &wrong), Err(Error::Verification));
        // The commitment is not a group element, or is a different one.
        for place in [0, 31] {
            let mut bytes = signatures[n].to_bytes();
            bytes[place] ^= 1;
            let changed = Signature::from_bytes(&bytes).unwrap();
            wrong = all.clone();
            wrong[n].2 = &changed;
            assert_eq!(sig::verify_batch(domain, &wrong), Err(Error::Verification));
        }
    }
}

/// Two wrong signatures whose errors cancel in an unweighted sum.
#[test]
fn errors_in_a_batch_do_not_cancel() {
    let (domain, key) = (label!("batch"), key(1));
    let message = |n: u8| [n; 10];
    let [mut a, mut b] = [1, 2].map(|n| sig::sign_deterministic(domain, &key, &message(n)).to_bytes());
    assert!(a[32] < 255 && b[32] > 0, "no carry: the scalars change by one");
    a[32] += 1;
    b[32] -= 1;
    let [a, b] = [a, b].map(|bytes| Signature::from_bytes(&bytes).unwrap());
    let items = [
        (key.public_key(), &message(1)[..], &a),
        (key.public_key(), &message(2)[..], &b),
    ];
    assert_eq!(sig::verify_batch(domain, &items), Err(Error::Verification));
}

/// The signature with `by` added to its scalar.
fn shifted(signature: &Signature, by: Scalar) -> Signature {
    let mut bytes = signature.to_bytes();
    let proof = Scalar::from_canonical_bytes(bytes[32..].try_into().unwrap()).unwrap();
    bytes[32..].copy_from_slice((proof + by).as_bytes());
    Signature::from_bytes(&bytes).unwrap()
}

/// Two wrong signatures whose errors would cancel if the weights did not depend on the whole of every signature: the
/// attacker computes the weights and chooses the errors to match.
#[test]
fn weights_depend_on_the_signatures() {
    let (domain, keys) = (label!("batch"), [key(1), key(2)]);
    let good = [0, 1].map(|n| sig::sign_deterministic(domain, &keys[n], b"message"));
    let batch = |signatures: &[Signature; 2]| {
        let items = [0, 1].map(|n| (keys[n].public_key(), &b"message"[..], &signatures[n]));
        sig::verify_batch(domain, &items)
    };
    assert_eq!(batch(&good), Ok(()));
    let challenge = |n: usize| {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("signer"), keys[n].public_key().as_bytes());
        protocol.mix(label!("message"), b"message");
        let [_, mut verifier] = protocol.fork(label!("role"), ["prover", "verifier"]);
        verifier.mix(label!("commitment"), &good[n].to_bytes()[..32]);
        Scalar::from_bytes_mod_order_wide(&verifier.derive_array(label!("challenge")))
    };
    // Weights that depend on the commitments or on no part of the signatures, of both signers or of the first alone.
    for (mixed, both) in [(32, true), (0, true), (32, false), (0, false)] {
        let mut weights = Protocol::new(domain);
        for n in 0..=usize::from(both) {
            weights.mix(label!("signer"), keys[n].public_key().as_bytes());
            weights.mix(label!("challenge"), challenge(n).as_bytes());
            if mixed > 0 {
                weights.mix(label!("signature"), &good[n].to_bytes()[..mixed]);
            }
        }
        let [one, two] =
            [(); 2].map(|()| Scalar::from(u128::from_le_bytes(weights.derive_array(label!("weight")))));
        let forged = [shifted(&good[0], two), shifted(&good[1], -one)];
        assert_eq!(batch(&forged), Err(Error::Verification), "{mixed}");
    }
    // The same signature twice, with opposite errors.
    let key = keys[0].public_key();
    let wrong = [shifted(&good[0], Scalar::ONE), shifted(&good[0], -Scalar::ONE)];
    let items = [0, 1].map(|n| (key, &b"message"[..], &wrong[n]));
    assert_eq!(sig::verify_batch(domain, &items), Err(Error::Verification));
}

#[cfg(feature = "rustcrypto")]
#[test]
fn traits_give_the_same_signatures() {
    use signature::{
        Keypair, MultipartSigner, MultipartVerifier, RandomizedMultipartSigner, RandomizedSigner,
        SignatureEncoding, Signer, Verifier,
    };
    use veriplex::rustcrypto::Domain;
    use veriplex::rustcrypto::signature::{SigningKey, VerifyingKey};

    enum Test {}
    impl Domain for Test {
        const DOMAIN: Label<'static> = label!("sig");
    }

    /// A generator that fails.
    struct Broken;
    impl rand_core::TryRng for Broken {
        type Error = std::fmt::Error;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Err(std::fmt::Error)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Err(std::fmt::Error)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            Err(std::fmt::Error)
        }
    }
    impl rand_core::TryCryptoRng for Broken {}

    let signing = SigningKey::<Test>::from(key(1));
    let verifying: VerifyingKey<Test> = signing.verifying_key();
    let shown = format!("VerifyingKey({:?})", key(1).public_key());
    assert_eq!(format!("{verifying:?}"), shown);
    let same: [VerifyingKey<Test>; 2] = [(&signing).into(), (*key(1).public_key()).into()];
    assert!(
        same.iter()
            .all(|same| format!("{same:?}") == format!("{verifying:?}"))
    );
    let rng = || Recorded::new([9; 64]);
    let deterministic = sig::sign_deterministic(label!("sig"), &key(1), b"message");
    let hedged = sig::sign(label!("sig"), &key(1), b"message", &mut rng());
    let parts: [&[u8]; 3] = [b"mess", b"", b"age"];
    assert_eq!(signing.sign(b"message"), deterministic);
    assert_eq!(signing.multipart_sign(&parts), deterministic);
    assert_eq!(signing.sign_with_rng(&mut rng(), b"message"), hedged);
    assert_eq!(signing.multipart_sign_with_rng(&mut rng(), &parts), hedged);
    assert!(signing.try_sign_with_rng(&mut Broken, b"message").is_err());
    for signature in [deterministic, hedged] {
        assert_eq!(SignatureEncoding::to_bytes(&signature), signature.to_bytes());
        assert!(verifying.verify(b"message", &signature).is_ok());
        assert!(verifying.multipart_verify(&parts, &signature).is_ok());
        assert!(verifying.verify(b"messagf", &signature).is_err());
        assert!(verifying.multipart_verify(&parts[..2], &signature).is_err());
    }
    assert_eq!(format!("{signing:?}"), "SigningKey { .. }");
}

proptest! {
    #[test]
    fn pieces_and_round_trips(
        key in any::<[u8; 64]>(),
        message in vec(any::<u8>(), 0..400),
        cut in any::<prop::sample::Index>(),
        hedge in any::<[u8; 64]>(),
    ) {
        let key = PrivateKey::from_uniform_bytes(key).unwrap();
        let (first, second) = message.split_at(cut.index(message.len() + 1));
        let mut signer = Signer::new(label!("sig"), &key);
        let mut verifier = Verifier::new(label!("sig"), key.public_key());
        for piece in [first, second] {
            signer.write_all(piece).unwrap();
            verifier.write_all(piece).unwrap();
        }
        let deterministic = signer.clone().sign_deterministic();
        prop_assert_eq!(deterministic, sig::sign_deterministic(label!("sig"), &key, &message));
        let hedged = signer.sign(&mut Recorded::new(hedge));
        for signature in [deterministic, hedged] {
            prop_assert_eq!(Signature::from_bytes(&signature.to_bytes()), Ok(signature));
            prop_assert_eq!(verifier.clone().verify(&signature), Ok(()));
        }
        verifier.update(b"more");
        prop_assert!(verifier.verify(&hedged).is_err());
    }
}
