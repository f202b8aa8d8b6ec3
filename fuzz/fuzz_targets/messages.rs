//! Receivers of single messages, given genuine messages with changes: they accept only an unchanged message.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rand_core::SeedableRng;
use veriplex::frost::{self, Identifier, dkg};
use veriplex::keys::PrivateKey;
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::{Label, hpke, label, oprf, sig, signcrypt, vrf};
use veriplex_fuzz::Change;

const DOMAIN: Label<'static> = label!("veriplex.fuzz");

#[derive(Arbitrary, Debug)]
enum Scheme {
    Hpke,
    Signcrypt,
    Signature,
    Vrf,
    Oprf,
    Frost,
    Dkg,
}

#[derive(Arbitrary, Debug)]
struct Case {
    scheme: Scheme,
    seed: [u8; 32],
    message: Vec<u8>,
    changes: Vec<Change>,
}

fuzz_target!(|case: Case| {
    let mut rng = Generator::from_seed(case.seed);
    let rng = &mut rng;
    let (alice, bob) = (PrivateKey::generate(rng), PrivateKey::generate(rng));
    let message = case.message.as_slice();
    // The received message, unless it does not even parse.
    macro_rules! sent {
        ($parse:expr, $genuine:expr) => {{
            let genuine = $genuine.to_bytes();
            let mut received = Vec::from(genuine.as_slice());
            case.changes.iter().for_each(|change| change.apply(&mut received));
            let Ok(value) = $parse(received.as_slice()) else {
                assert!(received != genuine);
                return;
            };
            (value, received == genuine)
        }};
    }
    let changed = |genuine: &[u8]| {
        let mut changed = genuine.to_vec();
        case.changes.iter().for_each(|change| change.apply(&mut changed));
        changed
    };
    match case.scheme {
        Scheme::Hpke => {
            let genuine = hpke::seal_vec(DOMAIN, &alice, bob.public_key(), rng, message).unwrap();
            let received = changed(&genuine);
            let opened = hpke::open_vec(DOMAIN, &bob, alice.public_key(), &received);
            assert_eq!(opened.ok().as_deref(), (received == genuine).then_some(message));
        }
        Scheme::Signcrypt => {
            let genuine = signcrypt::seal_vec(DOMAIN, &alice, bob.public_key(), rng, message).unwrap();
            let received = changed(&genuine);
            let opened = signcrypt::open_vec(DOMAIN, &bob, alice.public_key(), &received);
            assert_eq!(opened.ok().as_deref(), (received == genuine).then_some(message));
        }
        Scheme::Signature => {
            let genuine = sig::sign(DOMAIN, &alice, message, rng);
            let (signature, right) = sent!(sig::Signature::try_from, genuine);
            let verdict = sig::verify(DOMAIN, alice.public_key(), message, &signature);
            assert_eq!(verdict.is_ok(), right);
            let batch = [
                (
                    bob.public_key(),
                    message,
                    &sig::sign_deterministic(DOMAIN, &bob, message),
                ),
                (alice.public_key(), message, &signature),
            ];
            assert_eq!(sig::verify_batch(DOMAIN, &batch).is_ok(), right);
        }
        Scheme::Vrf => {
            let mut proved = [0; 32];
            let genuine = vrf::prove(DOMAIN, &alice, message, rng, &mut proved).unwrap();
            let (proof, right) = sent!(vrf::Proof::try_from, genuine);
            let mut verified = [0xa5; 32];
            let verdict = vrf::verify(DOMAIN, alice.public_key(), message, &proof, &mut verified);
            assert_eq!(verdict.is_ok(), right);
            assert_eq!(verified, if right { proved } else { [0; 32] });
        }
        Scheme::Oprf => {
            let server = oprf::ServerKey::generate(rng);
            let (blind, request) = oprf::blind_verifiable(DOMAIN, message, rng).unwrap();
            let ([response], proof) =
                oprf::blind_evaluate_verifiable(DOMAIN, &server, &[request], rng).unwrap();
            let (response, right) = sent!(oprf::EvaluatedElement::try_from, response);
            let (mut output, mut direct) = ([0; 32], [0; 32]);
            let verdict = blind.finalize(DOMAIN, server.public_key(), &response, &proof, &mut output);
            assert_eq!(verdict.is_ok(), right);
            oprf::evaluate(DOMAIN, &server, message, &mut direct).unwrap();
            assert_eq!(output, if right { direct } else { [0; 32] });
        }
        Scheme::Frost => {
            let (group, shares) = frost::deal(DOMAIN, 2, 3, rng).unwrap();
            let (nonces_1, commitments_1) = shares[0].commit(DOMAIN, rng).unwrap();
            let (nonces_3, commitments_3) = shares[2].commit(DOMAIN, rng).unwrap();
            let commitments = [commitments_1, commitments_3];
            let package = frost::SigningPackage::new(DOMAIN, &group, &commitments, message).unwrap();
            let share_3 = shares[2].sign(nonces_3, &package).unwrap();
            let share_1 = shares[0].sign(nonces_1, &package).unwrap();
            let (share_1, right) = sent!(frost::SignatureShare::try_from, share_1);
            assert_eq!(package.verify_share(&share_1).is_ok(), right);
            let signature = package.aggregate(&[share_1, share_3]);
            assert_eq!(signature.is_ok(), right);
            if let Ok(signature) = signature {
                sig::verify(DOMAIN, group.public_key(), message, &signature).unwrap();
            }
        }
        Scheme::Dkg => {
            let mut start =
                |number| dkg::start(DOMAIN, message, Identifier::new(number).unwrap(), 2, 2, rng).unwrap();
            let (alice, from_alice) = start(1);
            let (bob, from_bob) = start(2);
            // Change either the commitment or the share.
            let (alice, bob, to_alice) = if case.seed[0].is_multiple_of(2) {
                let (from_bob, right) = sent!(dkg::Commitment::from_bytes, from_bob);
                let received = alice.receive(&[from_bob]);
                assert_eq!(received.is_ok(), right);
                let Ok((alice, _)) = received else { return };
                let (bob, to_alice) = bob.receive(&[from_alice]).unwrap();
                (alice, bob, to_alice)
            } else {
                let (alice, _) = alice.receive(&[from_bob]).unwrap();
                let (bob, to_alice) = bob.receive(&[from_alice]).unwrap();
                let (share, right) = sent!(dkg::Share::try_from, to_alice[0]);
                let finished = alice.finish(&[share]);
                assert_eq!(finished.is_ok(), right);
                return drop(bob);
            };
            let (group, share) = alice.finish(&to_alice).unwrap();
            share.verify(&group).unwrap();
            drop(bob);
        }
    }
});
