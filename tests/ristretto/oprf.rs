//! The oblivious pseudorandom function: known answers and bad input.

use proptest::collection::vec;
use proptest::prelude::*;
use subtle::ConstantTimeEq as _;
use veriplex::hazmat::unhedged;
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::oprf::{
    self, Blind, BlindedElement, EvaluatedElement, Proof, ServerKey, ServerPublicKey, VerifiableBlind,
};
use veriplex::{Error, Label, label};

use crate::common::{Recorded, array, bytes, cases, number, on_each_backend, text, vectors};
use crate::{key, order};

/// A generator that yields the bytes in this array of a known answer.
fn recorded(case: &serde_json::Value, key: &str) -> Recorded {
    Recorded::new(
        cases(&case[key])
            .iter()
            .flat_map(|hex| hex::decode(hex.as_str().unwrap()).unwrap()),
    )
}

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("oprf")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let server = ServerKey::from_bytes(&array(case, "private")).unwrap();
            assert_eq!(server.public_key().to_bytes(), array(case, "public"));
            let input = bytes(case, "input");
            let expected = bytes(case, "output");
            let mut output = vec![0; usize::try_from(number(case, "n")).unwrap()];

            let mut rng = recorded(case, "blind_rand");
            let (blind, blinded) = oprf::blind(domain, &input, &mut rng).unwrap();
            assert!(rng.is_used_up());
            assert_eq!(blinded.to_bytes(), array(case, "blinded"));
            let evaluated = oprf::blind_evaluate(&server, &blinded).unwrap();
            assert_eq!(evaluated.to_bytes(), array(case, "evaluated"));
            blind.finalize(&evaluated, &mut output).unwrap();
            assert_eq!(output, expected);

            let mut rng = recorded(case, "blind_rand");
            let (blind, blinded) = oprf::blind_verifiable(domain, &input, &mut rng).unwrap();
            let [nonce] = cases(&case["proof_rand"]) else {
                panic!("one nonce")
            };
            let nonce = hex::decode(nonce.as_str().unwrap()).unwrap().try_into().unwrap();
            let (evaluated, proof) = unhedged::oprf_blind_evaluate(domain, &server, &blinded, nonce).unwrap();
            assert_eq!(evaluated.to_bytes(), array(case, "evaluated"));
            let parts = [bytes(case, "proof_c"), bytes(case, "proof_s")].concat();
            assert_eq!(proof.to_bytes().as_slice(), parts);
            output.fill(0);
            blind
                .finalize(domain, server.public_key(), &evaluated, &proof, &mut output)
                .unwrap();
            assert_eq!(output, expected);
        }
    });
}

/// An exchange for three inputs, up to the client's last step.
struct Batch {
    blinds: [VerifiableBlind; 3],
    evaluated: [EvaluatedElement; 3],
    proof: Proof,
}

fn server(number: u8) -> ServerKey {
    ServerKey::from_bytes(&key(number).to_bytes()).unwrap()
}

#[test]
fn keys_of_servers_are_compared() {
    let same = |a: u8, b: u8| bool::from(server(a).ct_eq(&server(b)));
    assert!(same(1, 1) && !same(1, 2));
}

/// Whoever may ask a server can break every other use of its key. So no text of one is a text of the other. That no
/// function takes one for the other is in the examples of `ServerKey`, which must not compile.
#[test]
fn the_key_of_a_server_is_no_other_key() {
    let (server, private) = (server(1), key(1));
    assert_eq!(ServerKey::from_pem(&server.to_pem()), Ok(server.clone()));
    assert_eq!(PrivateKey::from_pem(&server.to_pem()), Err(Error::InvalidKey));
    assert_eq!(PublicKey::from_pem(&server.to_pem()), Err(Error::InvalidKey));
    assert_eq!(ServerKey::from_pem(&private.to_pem()), Err(Error::InvalidKey));
    let public = server.public_key();
    assert_eq!(
        format!("{server:?}"),
        format!("ServerKey {{ public_key: ServerPublicKey({public}), .. }}")
    );
    let label = "VERIPLEX OPRF SERVER KEY";
    let named = private.to_pem().replace("VERIPLEX PRIVATE KEY", label);
    assert_eq!(*server.to_pem(), named);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    let (server, public) = (server(1), *server(1).public_key());
    let [long, long_public] = [server.to_bytes(), public.to_bytes()].map(|key| [&key[..], &[0]].concat());
    for n in (0..32).chain([33]) {
        assert_eq!(ServerKey::try_from(&long[..n]), Err(Error::InvalidKey));
        assert_eq!(
            ServerPublicKey::try_from(&long_public[..n]),
            Err(Error::InvalidKey)
        );
    }
    assert_eq!(ServerKey::try_from(&long[..32]), Ok(server));
    assert_eq!(ServerPublicKey::try_from(&long_public[..32]), Ok(public));
    for bytes in [[0; 32], [0xff; 32]] {
        assert_eq!(ServerKey::from_bytes(&bytes), Err(Error::InvalidKey));
        assert_eq!(ServerPublicKey::from_bytes(&bytes), Err(Error::InvalidKey));
    }
}

const DOMAIN: Label<'static> = label!("oprf");
const INPUTS: [&[u8]; 3] = [b"one", b"two", b"one"];

fn batch() -> Batch {
    let mut rng = Recorded::new((0..=255).cycle().take(1000));
    let blinds = INPUTS.map(|input| oprf::blind_verifiable(DOMAIN, input, &mut rng).unwrap());
    let blinded = blinds.each_ref().map(|(_, blinded)| *blinded);
    let (evaluated, proof) = oprf::blind_evaluate_verifiable(DOMAIN, &server(1), &blinded, &mut rng).unwrap();
    Batch {
        blinds: blinds.map(|(blind, _)| blind),
        evaluated,
        proof,
    }
}

/// Finalizes in both forms, which must agree.
fn finalize(
    domain: Label<'_>,
    server: u8,
    change: impl Fn(&mut [EvaluatedElement; 3], &mut [u8; 64]),
) -> Result<[[u8; 32]; 3], Error> {
    let [first, second] = [batch(), batch()];
    let (mut evaluated, mut proof) = (first.evaluated, first.proof.to_bytes());
    change(&mut evaluated, &mut proof);
    let proof = Proof::from_bytes(&proof)?;
    let public = *self::server(server).public_key();
    let outputs = VerifiableBlind::finalize_batch::<3, 32>(first.blinds, domain, &public, &evaluated, &proof);
    let blinds = Vec::from(second.blinds);
    let again = VerifiableBlind::finalize_vec(blinds, domain, &public, &evaluated, &proof, 32);
    assert_eq!(
        again,
        outputs.map(|outputs| outputs.map(|output| output.to_vec()).to_vec())
    );
    outputs
}

#[test]
fn one_proof_for_a_batch() {
    let outputs = finalize(DOMAIN, 1, |_, _| {}).unwrap();
    for (input, output) in INPUTS.iter().zip(outputs) {
        let mut direct = [0; 32];
        oprf::evaluate(DOMAIN, &server(1), input, &mut direct).unwrap();
        assert_eq!(output, direct);
    }
    assert_eq!(outputs[0], outputs[2]);
    assert_ne!(outputs[0], outputs[1]);
}

#[test]
fn anything_changed_is_refused() {
    let wrong = Err(Error::Verification);
    for bit in 0..512 {
        let changed = finalize(DOMAIN, 1, |_, proof| proof[bit / 8] ^= 1 << (bit % 8));
        assert_eq!(changed, wrong, "bit {bit}");
    }
    assert_eq!(finalize(label!("other"), 1, |_, _| {}), wrong);
    assert_eq!(finalize(DOMAIN, 2, |_, _| {}), wrong);
    // An answer under another key, answers in another order, and a repeated answer.
    let other = finalize(DOMAIN, 1, |evaluated, _| {
        let blinded = BlindedElement::from_bytes(&evaluated[1].to_bytes()).unwrap();
        evaluated[1] = oprf::blind_evaluate(&server(2), &blinded).unwrap();
    });
    assert_eq!(other, wrong);
    assert_eq!(finalize(DOMAIN, 1, |evaluated, _| evaluated.swap(0, 2)), wrong);
    assert_eq!(
        finalize(DOMAIN, 1, |evaluated, _| evaluated[0] = evaluated[2]),
        wrong
    );

    // More or fewer answers than requests, or none.
    for n in 0..3 {
        let Batch {
            blinds,
            evaluated,
            proof,
        } = batch();
        let public = *server(1).public_key();
        let finalized =
            VerifiableBlind::finalize_vec(blinds.into(), DOMAIN, &public, &evaluated[..n], &proof, 8);
        assert_eq!(finalized, Err(Error::Verification));
        let few = batch().blinds.into_iter().take(n).collect();
        let finalized = VerifiableBlind::finalize_vec(few, DOMAIN, &public, &evaluated, &proof, 8);
        assert_eq!(finalized, Err(Error::Verification));
    }
    let public = *server(1).public_key();
    let nothing = VerifiableBlind::finalize_vec(vec![], DOMAIN, &public, &[], &batch().proof, 8);
    assert_eq!(nothing, Err(Error::Verification));
    let mut rng = Recorded::new([0; 64]);
    let nothing = oprf::blind_evaluate_verifiable_vec(DOMAIN, &server(1), &[], &mut rng);
    assert_eq!(nothing, Err(Error::BufferLength));
}

#[test]
fn one_answer_is_verified() {
    let answer = |number: u8, domain| {
        let mut rng = Recorded::new([4; 192]);
        let (blind, blinded) = oprf::blind_verifiable(DOMAIN, b"input", &mut rng).unwrap();
        let ([evaluated], proof) =
            oprf::blind_evaluate_verifiable(domain, &server(number), &[blinded], &mut rng).unwrap();
        (blind, evaluated, proof)
    };
    let finalize = |domain, blind: VerifiableBlind, evaluated, proof| {
        let mut output = [0xaa; 32];
        let result = blind.finalize(domain, server(1).public_key(), &evaluated, &proof, &mut output);
        assert_eq!(result.is_err(), output == [0xaa; 32]);
        result
    };
    let (blind, evaluated, proof) = answer(1, DOMAIN);
    assert_eq!(finalize(DOMAIN, blind, evaluated, proof), Ok(()));
    let wrong = Err(Error::Verification);
    // An answer under another key, with that key's proof and with the right key's proof; an answer in another domain.
    let (blind, other, other_proof) = answer(2, DOMAIN);
    assert_eq!(finalize(DOMAIN, blind, other, other_proof), wrong);
    assert_eq!(finalize(DOMAIN, answer(1, DOMAIN).0, other, proof), wrong);
    let (blind, other, other_proof) = answer(1, label!("other"));
    assert_eq!(finalize(DOMAIN, blind, other, other_proof), wrong);
    assert_eq!(
        finalize(label!("other"), answer(1, DOMAIN).0, evaluated, proof),
        wrong
    );
}

/// The forms for batches take one element too.
#[test]
fn a_batch_may_have_one_element() {
    let mut rng = Recorded::new([4; 192]);
    let (blind, blinded) = oprf::blind_verifiable(DOMAIN, b"input", &mut rng).unwrap();
    let server = server(1);
    let (evaluated, proof) = oprf::blind_evaluate_verifiable(DOMAIN, &server, &[blinded], &mut rng).unwrap();
    let public = server.public_key();
    let [output] =
        VerifiableBlind::finalize_batch::<1, 32>([blind], DOMAIN, public, &evaluated, &proof).unwrap();
    let mut direct = [0; 32];
    oprf::evaluate(DOMAIN, &server, b"input", &mut direct).unwrap();
    assert_eq!(output, direct);
}

/// A proof over fewer answers than there were requests, or than were received.
#[test]
fn a_proof_is_for_the_whole_batch() {
    let mut rng = Recorded::new((0..=255).cycle().take(1000));
    let blinded = INPUTS.map(|input| oprf::blind_verifiable(DOMAIN, input, &mut rng).unwrap().1);
    let server = server(1);
    let (two, proof) = oprf::blind_evaluate_verifiable_vec(DOMAIN, &server, &blinded[..2], &mut rng).unwrap();
    let third = oprf::blind_evaluate(&server, &blinded[2]).unwrap();
    let finalize = |n: usize, evaluated: &[EvaluatedElement]| {
        let blinds = batch().blinds.into_iter().take(n).collect(); // from the same randomness
        VerifiableBlind::finalize_vec(blinds, DOMAIN, server.public_key(), evaluated, &proof, 32)
    };
    assert!(finalize(2, &two).is_ok());
    assert_eq!(finalize(3, &two), Err(Error::Verification));
    assert_eq!(
        finalize(2, &[two.as_slice(), &[third]].concat()),
        Err(Error::Verification)
    );
}

/// Two proofs with one nonce are two equations for the key.
#[test]
fn a_generator_that_repeats_does_not_give_the_key_away() {
    use curve25519_dalek::Scalar;
    let rng = || Recorded::new([9; 64]);
    let prove = |input: &[u8]| {
        let blinded = oprf::blind(DOMAIN, input, &mut Recorded::new([1; 64])).unwrap().1;
        let proof = oprf::blind_evaluate_verifiable(DOMAIN, &server(1), &[blinded], &mut rng())
            .unwrap()
            .1;
        let scalar = |part: [u8; 32]| Scalar::from_canonical_bytes(part).unwrap();
        let [challenge, response] = *proof.to_bytes().as_chunks().0 else {
            unreachable!("64 bytes")
        };
        [scalar(challenge), scalar(response)]
    };
    let [[c1, s1], [c2, s2]] = [prove(b"one"), prove(b"two")];
    assert_ne!(c1, c2);
    let key = (s1 - s2) * (c2 - c1).invert();
    assert_ne!(key.to_bytes(), server(1).to_bytes());
    // The nonce is not that of the generator's bytes either.
    let nonce = Scalar::from_bytes_mod_order_wide(&[9; 64]);
    assert_ne!(((nonce - s1) * c1.invert()).to_bytes(), server(1).to_bytes());
    assert_eq!(prove(b"one"), [c1, s1]);
}

/// Two wrong answers whose errors cancel in an unweighted sum.
#[test]
fn errors_in_a_batch_do_not_cancel() {
    let wrong = finalize(DOMAIN, 1, |evaluated, _| {
        let point = |element: &EvaluatedElement| {
            curve25519_dalek::ristretto::CompressedRistretto(element.to_bytes())
                .decompress()
                .unwrap()
        };
        let error = curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
        let sums = [point(&evaluated[0]) + error, point(&evaluated[1]) - error];
        for (evaluated, sum) in evaluated.iter_mut().zip(sums) {
            *evaluated = EvaluatedElement::from_bytes(&sum.compress().to_bytes()).unwrap();
        }
    });
    assert_eq!(wrong, Err(Error::Verification));
}

#[test]
fn bad_encodings() {
    let key_error = Err(Error::InvalidKey);
    assert_eq!(BlindedElement::from_bytes(&[0; 32]), key_error);
    assert_eq!(BlindedElement::from_bytes(&[0xff; 32]), key_error);
    let key_error = Err(Error::InvalidKey);
    assert_eq!(EvaluatedElement::from_bytes(&[0; 32]), key_error);
    assert_eq!(EvaluatedElement::from_bytes(&[0xff; 32]), key_error);
    let long = [[1; 32], key(1).public_key().to_bytes(), [0; 32]].concat();
    for n in (0..32).chain(33..64) {
        assert!(BlindedElement::try_from(&long[32..32 + n]).is_err());
        assert!(EvaluatedElement::try_from(&long[32..32 + n]).is_err());
    }
    assert!(EvaluatedElement::try_from(&long[32..64]).is_ok());
    let long = [batch().proof.to_bytes().as_slice(), &[0]].concat();
    for n in (0..64).chain([65]) {
        assert_eq!(Proof::try_from(&long[..n]), Err(Error::Verification));
    }
    for place in [0, 32] {
        let mut proof = batch().proof.to_bytes();
        proof[place..place + 32].copy_from_slice(&order());
        assert_eq!(Proof::from_bytes(&proof), Err(Error::Verification));
    }
}

/// A stored blind gives the same output, and its bytes are wiped.
#[test]
fn stored_blinds() {
    let server = server(1);
    let rng = || Recorded::new([9; 64 * 8]);
    let (plain, blinded) = oprf::blind(DOMAIN, b"input", &mut rng()).unwrap();
    let (verifiable, _) = oprf::blind_verifiable(DOMAIN, b"input", &mut rng()).unwrap();
    let ([evaluated], proof) =
        oprf::blind_evaluate_verifiable(DOMAIN, &server, &[blinded], &mut rng()).unwrap();
    let (mut direct, mut output) = ([0; 32], [0; 32]);
    oprf::evaluate(DOMAIN, &server, b"input", &mut direct).unwrap();

    let mut stored = plain.into_bytes();
    let good = *stored;
    let plain = Blind::from_bytes(&mut stored).unwrap();
    assert_eq!(*stored, [0; Blind::LEN]);
    plain.finalize(&evaluated, &mut output).unwrap();
    assert_eq!(output, direct);

    output = [0; 32];
    let mut stored = verifiable.into_bytes();
    assert_eq!(stored[..Blind::LEN], good);
    assert_eq!(&stored[Blind::LEN..], blinded.as_bytes());
    let mut other = *stored;
    let verifiable = VerifiableBlind::from_bytes(&mut stored).unwrap();
    assert_eq!(*stored, [0; VerifiableBlind::LEN]);
    verifiable
        .finalize(DOMAIN, server.public_key(), &evaluated, &proof, &mut output)
        .unwrap();
    assert_eq!(output, direct);

    // The element that was sent is stored, as it must be what the proof is about.
    other[Blind::LEN..].copy_from_slice(key(2).public_key().as_bytes());
    let changed = VerifiableBlind::from_bytes(&mut other).unwrap();
    let finalized = changed.finalize(DOMAIN, server.public_key(), &evaluated, &proof, &mut output);
    assert_eq!(finalized, Err(Error::Verification));
    let mut identity = [0; VerifiableBlind::LEN];
    identity[..Blind::LEN].copy_from_slice(&good);
    assert_eq!(
        VerifiableBlind::from_bytes(&mut identity).err(),
        Some(Error::InvalidState)
    );
    assert_eq!(identity, [0; VerifiableBlind::LEN]);
    for scalar in [[0; 32], order()] {
        let mut bad = good;
        bad[Blind::LEN - 32..].copy_from_slice(&scalar);
        assert_eq!(Blind::from_bytes(&mut bad).err(), Some(Error::InvalidState));
        assert_eq!(bad, [0; Blind::LEN]);
    }
    let mut bad = good;
    bad[..2].fill(0xff);
    assert_eq!(Blind::from_bytes(&mut bad).err(), Some(Error::InvalidState));
}

/// A broken generator that makes the blind zero.
#[test]
fn a_zero_blind_is_refused() {
    let zero = || Recorded::new([0; 64]);
    assert_eq!(
        oprf::blind(DOMAIN, b"input", &mut zero()).err(),
        Some(Error::InvalidKey)
    );
    let verifiable = oprf::blind_verifiable(DOMAIN, b"input", &mut zero());
    assert_eq!(verifiable.err(), Some(Error::InvalidKey));
}

proptest! {
    /// The output depends on key, input and length, but not on the blind.
    #[test]
    fn round_trips(
        private in any::<[u8; 64]>(),
        blind in any::<[u8; 64]>(),
        input in vec(any::<u8>(), 0..300),
        n in 0..200_usize,
    ) {
        let server = ServerKey::generate(&mut Recorded::new(private));
        let (mut output, mut direct) = (vec![0; n], vec![0; n]);
        let (blind, blinded) = oprf::blind(DOMAIN, &input, &mut Recorded::new(blind)).unwrap();
        let received = BlindedElement::from_bytes(&blinded.to_bytes()).unwrap();
        let evaluated = oprf::blind_evaluate(&server, &received).unwrap();
        blind.finalize(&evaluated, &mut output).unwrap();
        oprf::evaluate(DOMAIN, &server, &input, &mut direct).unwrap();
        prop_assert_eq!(output, direct);
    }
}
