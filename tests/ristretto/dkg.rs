//! Distributed key generation: known answers and bad input.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar};
use proptest::prelude::*;
use veriplex::frost::dkg::{self, AwaitingCommitments, AwaitingShares, Commitment, Share};
use veriplex::frost::{Error, GroupKey, Identifier, KeyShare};
use veriplex::{Label, Protocol, label};

use crate::common::Recorded;
use crate::frost::signs;

const DOMAIN: Label<'static> = label!("frost");

fn id(number: u16) -> Identifier {
    Identifier::new(number).unwrap()
}

fn start(context: &[u8], number: u16, threshold: u16, signers: u16) -> (AwaitingCommitments, Commitment) {
    let mut rng = Recorded::new([number.to_le_bytes()[0]; 128]);
    let started = dkg::start(DOMAIN, context, id(number), threshold, signers, &mut rng).unwrap();
    assert!(rng.is_used_up());
    started
}

/// The commitments of everyone except participant `number`.
fn others(commitments: &[Commitment], number: u16) -> Vec<Commitment> {
    let others = commitments.iter().filter(|c| c.identifier() != id(number));
    others.cloned().collect()
}

/// The first round of all participants.
fn commitments(threshold: u16, signers: u16) -> (Vec<AwaitingCommitments>, Vec<Commitment>) {
    (1..=signers)
        .map(|n| start(b"context", n, threshold, signers))
        .unzip()
}

/// The second round of all participants, when everyone follows the protocol.
fn shares(threshold: u16, signers: u16) -> (Vec<AwaitingShares>, Vec<Share>) {
    let (states, commitments) = commitments(threshold, signers);
    let (states, shares): (Vec<_>, Vec<_>) = (1..)
        .zip(states)
        .map(|(n, state)| state.receive(&others(&commitments, n)).unwrap())
        .unzip();
    (states, shares.concat())
}

fn addressed(shares: &[Share], number: u16) -> Vec<Share> {
    let mine = shares.iter().filter(|share| share.receiver() == id(number));
    mine.cloned().collect()
}

fn run(threshold: u16, signers: u16) -> (GroupKey, Vec<KeyShare>) {
    let (states, shares) = shares(threshold, signers);
    let (groups, keys): (Vec<_>, Vec<_>) = (1..)
        .zip(states)
        .map(|(n, state)| {
            let mut mine = addressed(&shares, n);
            mine.reverse(); // in any order
            state.finish(&mine).unwrap()
        })
        .unzip();
    assert!(groups.iter().all(|group| group == &groups[0]));
    for (n, key) in (1..).zip(&keys) {
        assert_eq!(key.identifier(), id(n));
        assert_eq!(key.verify(&groups[0]), Ok(()));
    }
    (groups[0].clone(), keys)
}

/// Three of five produce ordinary signatures under a key that no one of them ever held.
#[test]
fn generated_keys_sign() {
    let (group, shares) = run(3, 5);
    assert_eq!((group.threshold(), group.signers()), (3, 5));
    for signers in [[0, 1, 2], [4, 2, 0], [3, 4, 1]] {
        signs(&group, &shares, &signers);
    }
    signs(&group, &shares, &[0, 1, 2, 3, 4]);
}

/// The group element for this coefficient in the commitment.
fn coefficient(commitment: &Commitment, place: usize) -> RistrettoPoint {
    let bytes = commitment.to_bytes()[2 + 32 * place..][..32].try_into().unwrap();
    CompressedRistretto(bytes).decompress().unwrap()
}

/// The commitment to the constant coefficient.
fn constant(commitment: &Commitment) -> RistrettoPoint {
    coefficient(commitment, 0)
}

/// The public key is the sum of all constant coefficients, so every participant contributes to it.
#[test]
fn every_participant_contributes() {
    let (_, all) = commitments(2, 3);
    let (group, _) = run(2, 3);
    let sum: RistrettoPoint = all.iter().map(constant).sum();
    assert_eq!(group.public_key().to_bytes(), sum.compress().to_bytes());
}

/// What a participant saw is the digest of all commitments that `frost::dkg` documents.
#[test]
fn shares_carry_the_digest_of_all_commitments() {
    let (_, commitments) = commitments(2, 3);
    let mut view = Protocol::new(DOMAIN);
    view.mix(label!("dkg-context"), b"context");
    view.mix(label!("dkg-threshold"), &[0, 2]);
    view.mix(label!("dkg-signers"), &[0, 3]);
    for commitment in &commitments {
        view.mix(label!("dkg-commitment"), &commitment.to_bytes());
    }
    let view: [u8; 32] = view.derive_array(label!("dkg-view"));
    for share in shares(2, 3).1 {
        assert_eq!(share.to_bytes()[36..], view);
    }
}

#[test]
fn impossible_numbers() {
    for (number, threshold, signers) in [(1, 0, 3), (1, 1, 3), (1, 4, 3), (4, 2, 3), (1, 1, 1), (1, 2, 1)] {
        let mut rng = Recorded::new([1; 128]);
        let started = dkg::start(DOMAIN, b"", id(number), threshold, signers, &mut rng);
        assert_eq!(started.err(), Some(Error::Participants));
    }
}

/// The error, if any, that participant 1 of 3 reports for these commitments.
fn receive(others: &[Commitment]) -> Option<Error> {
    start(b"context", 1, 2, 3).0.receive(others).err()
}

#[test]
fn commitments_are_checked() {
    let (_, all) = commitments(2, 3);
    let [one, two, three] = [0, 1, 2].map(|n: usize| all[n].clone());
    assert_eq!(receive(&[three.clone(), two.clone()]), None);

    let participants = Some(Error::Participants);
    assert_eq!(receive(&[]), participants);
    assert_eq!(receive(std::slice::from_ref(&two)), participants);
    assert_eq!(receive(&[two.clone(), two.clone()]), participants);
    assert_eq!(receive(&[one.clone(), two.clone()]), participants);
    assert_eq!(receive(&[one.clone(), two.clone(), three.clone()]), participants);
    let four = start(b"context", 4, 2, 4).1;
    assert_eq!(receive(&[two.clone(), four]), participants);

    // Every bit of a commitment matters.
    let bytes = three.to_bytes();
    assert_eq!(Commitment::from_bytes(&bytes), Ok(three.clone()));
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(changed) = Commitment::from_bytes(&changed) {
            let error = receive(&[two.clone(), changed]);
            let bad = match bit / 8 {
                0..2 => error == participants,
                2..130 => error == Some(Error::BadParticipant(id(3))),
                _ => error == Some(Error::Disagreement),
            };
            assert!(bad, "bit {bit}: {error:?}");
        }
    }
    for n in 0..bytes.len() {
        let cut = Commitment::from_bytes(&bytes[..n]);
        assert!(cut.is_err() || receive(&[two.clone(), cut.unwrap()]) == Some(Error::Disagreement));
    }

    // From a run with another context, threshold or number of participants, of which somebody told participant 3.
    for other in [
        start(b"other", 3, 2, 3).1,
        start(b"context", 3, 3, 3).1,
        start(b"context", 3, 2, 4).1,
    ] {
        assert_eq!(receive(&[two.clone(), other]), Some(Error::Disagreement));
    }
    // Participant 2's commitment under number 3: participant 3 does not know its polynomial.
    let mut stolen = two.to_bytes();
    stolen[1] = 3;
    let stolen = Commitment::from_bytes(&stolen).unwrap();
    assert_eq!(receive(&[two, stolen]), Some(Error::BadParticipant(id(3))));
}

/// Participant 3 commits to a polynomial of its choice, with the proof that `frost::dkg` documents.
fn commitment_to(coefficients: &[u8]) -> Commitment {
    let elements = coefficients[1..]
        .iter()
        .map(|&c| RistrettoPoint::mul_base(&Scalar::from(c)))
        .collect();
    commitment_to_elements(coefficients[0], elements).unwrap()
}

/// The same, but participant 3 knows only the first coefficient.
fn commitment_to_elements(first: u8, others: Vec<RistrettoPoint>) -> Result<Commitment, veriplex::Error> {
    let [a, k] = [first, 77].map(Scalar::from);
    let coefficients = std::iter::once(RistrettoPoint::mul_base(&a))
        .chain(others)
        .map(|element| element.compress().to_bytes());
    let mut bytes = vec![0, 3];
    let mut statement = Protocol::new(DOMAIN);
    statement.mix(label!("dkg-context"), b"context");
    statement.mix(label!("dkg-threshold"), &[0, 2]);
    statement.mix(label!("dkg-signers"), &[0, 3]);
    let run: [u8; 32] = statement.clone().derive_array(label!("dkg-run"));
    statement.mix(label!("dkg-identifier"), &[0, 3]);
    let [_, mut statement] = statement.fork(label!("process"), ["keygen", "commitment"]);
    for coefficient in coefficients {
        statement.mix(label!("coefficient"), &coefficient);
        bytes.extend(coefficient);
    }
    let [_, mut verifier] = statement.fork(label!("role"), ["prover", "verifier"]);
    let commitment = RistrettoPoint::mul_base(&k).compress().to_bytes();
    verifier.mix(label!("commitment"), &commitment);
    let challenge = Scalar::from_bytes_mod_order_wide(&verifier.derive_array(label!("challenge")));
    bytes.extend(commitment);
    bytes.extend((k + a * challenge).to_bytes());
    bytes.extend(run);
    Commitment::from_bytes(&bytes)
}

/// The protocol asks for a proof of the first coefficient only. A participant who cancels the others' further
/// coefficients (which would lower the threshold) cannot compute valid shares.
#[test]
fn coefficients_that_cancel_others_have_no_shares() {
    let (_, all) = commitments(2, 3);
    let cancelling = -(coefficient(&all[0], 1) + coefficient(&all[1], 1));
    let rogue = commitment_to_elements(5, vec![cancelling]).unwrap();
    let one = start(b"context", 1, 2, 3)
        .0
        .receive(&[all[1].clone(), rogue.clone()]);
    let two = start(b"context", 2, 2, 3).0.receive(&[all[0].clone(), rogue]);
    let ((one, to_others), (_, from_two)) = (one.unwrap(), two.unwrap());
    // Participant 3 can send any scalars it likes, such as the one it received itself.
    let received = to_others.iter().find(|share| share.receiver() == id(3)).unwrap();
    let from_two = addressed(&from_two, 1).remove(0);
    let mut share = received.to_bytes();
    share[..4].copy_from_slice(&[0, 3, 0, 1]);
    let mut five = share;
    five[4..36].copy_from_slice(Scalar::from(5_u8).as_bytes());
    let [share, five] = [share, five].map(|bytes| Share::from_bytes(&bytes).unwrap());
    assert_eq!(
        one.finish(&[from_two.clone(), share]).err(),
        Some(Error::BadParticipant(id(3)))
    );
    let (one, _) = start(b"context", 1, 2, 3)
        .0
        .receive(&[
            all[1].clone(),
            commitment_to_elements(5, vec![cancelling]).unwrap(),
        ])
        .unwrap();
    assert_eq!(
        one.finish(&[from_two, five]).err(),
        Some(Error::BadParticipant(id(3)))
    );
}

/// A zero coefficient is refused: the first, because its proof would be trivial, and the last, because it would lower
/// the degree.
#[test]
fn zero_coefficients_are_refused() {
    let identity = || vec![RistrettoPoint::mul_base(&Scalar::ZERO)];
    assert_eq!(
        commitment_to_elements(5, identity()),
        Err(veriplex::Error::InvalidKey)
    );
    let zero = commitment_to_elements(0, vec![RistrettoPoint::mul_base(&Scalar::ONE)]);
    assert_eq!(zero, Err(veriplex::Error::InvalidKey));
}

/// One coefficient too many would raise the threshold for everyone; one too few belongs to a group with a lower one.
#[test]
fn polynomials_of_another_degree_are_refused() {
    let (_, all) = commitments(2, 3);
    let receive = |coefficients: &[u8]| receive(&[all[1].clone(), commitment_to(coefficients)]);
    assert_eq!(receive(&[5, 6]), None);
    assert_eq!(receive(&[5]), Some(Error::BadParticipant(id(3))));
    assert_eq!(receive(&[5, 6, 7]), Some(Error::BadParticipant(id(3))));
}

/// A commitment that would cancel the others', so that participant 3 alone held the group's key. It has no valid proof.
#[test]
fn a_key_that_cancels_others_is_refused() {
    let (_, all) = commitments(2, 3);
    let mut bytes = all[2].to_bytes();
    let rogue = constant(&all[2]) - constant(&all[1]) - constant(&all[0]);
    bytes[2..34].copy_from_slice(rogue.compress().as_bytes());
    let rogue = Commitment::from_bytes(&bytes).unwrap();
    assert_eq!(
        receive(&[all[1].clone(), rogue]),
        Some(Error::BadParticipant(id(3)))
    );
}

/// The error, if any, that participant 1 of 3 reports for these shares.
fn finish(shares: &[Share]) -> Option<Error> {
    let (_, all) = commitments(2, 3);
    let (state, _) = start(b"context", 1, 2, 3).0.receive(&others(&all, 1)).unwrap();
    state.finish(shares).err()
}

#[test]
fn shares_are_checked() {
    let (_, all) = shares(2, 3);
    let mine = addressed(&all, 1);
    let [two, three] = [mine[0].clone(), mine[1].clone()];
    assert_eq!((two.sender(), three.sender()), (id(2), id(3)));
    assert_eq!(finish(&[three.clone(), two.clone()]), None);

    let participants = Some(Error::Participants);
    assert_eq!(finish(&[]), participants);
    assert_eq!(finish(std::slice::from_ref(&two)), participants);
    assert_eq!(finish(&[two.clone(), two.clone()]), participants);
    assert_eq!(finish(&[two.clone(), three.clone(), two.clone()]), participants);
    let another = all
        .iter()
        .find(|s| s.sender() == id(3) && s.receiver() == id(2))
        .unwrap();
    assert_eq!(finish(&[two.clone(), another.clone()]), participants);
    // A share for participant 2, readdressed.
    let mut readdressed = another.to_bytes();
    readdressed[3] = 1;
    let readdressed = Share::from_bytes(&readdressed).unwrap();
    assert_eq!(
        finish(&[two.clone(), readdressed]),
        Some(Error::BadParticipant(id(3)))
    );

    let bytes = three.to_bytes();
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes;
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(changed) = Share::from_bytes(&changed) {
            let error = finish(&[two.clone(), changed]);
            let expected = match bit / 8 {
                0..4 => Error::Participants,
                4..36 => Error::BadParticipant(id(3)),
                _ => Error::Disagreement,
            };
            assert_eq!(error, Some(expected), "bit {bit}");
        }
    }
    let long = [bytes.as_slice(), &[0]].concat();
    for n in (0..68).chain([69]) {
        assert_eq!(
            Share::try_from(&long[..n]).err(),
            Some(veriplex::Error::InvalidKey)
        );
    }
    let mut order = bytes;
    order[4..36].copy_from_slice(&crate::order());
    assert_eq!(Share::from_bytes(&order).err(), Some(veriplex::Error::InvalidKey));
    for place in [1, 3] {
        let mut zero = bytes;
        zero[place] = 0;
        assert_eq!(Share::from_bytes(&zero).err(), Some(veriplex::Error::InvalidKey));
    }
    assert_eq!(format!("{three:?}"), "Share { sender: 3, receiver: 1, .. }");
}

/// Participant 3 sends different commitments to participants 1 and 2. Each fits the shares that it sends along.
#[test]
fn inconsistent_commitments_are_detected() {
    let (_, all) = commitments(2, 3);
    let mut rng = Recorded::new([99; 128]);
    let (_, other) = dkg::start(DOMAIN, b"context", id(3), 2, 3, &mut rng).unwrap();
    let (_, to_one) = start(b"context", 3, 2, 3).0.receive(&others(&all, 3)).unwrap();

    let (one, _) = start(b"context", 1, 2, 3)
        .0
        .receive(&[all[1].clone(), all[2].clone()])
        .unwrap();
    let (_, from_two) = start(b"context", 2, 2, 3)
        .0
        .receive(&[all[0].clone(), other])
        .unwrap();
    let mine = [addressed(&to_one, 1), addressed(&from_two, 1)].concat();
    assert_eq!(one.finish(&mine).err(), Some(Error::Disagreement));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn groups_sign((signers, threshold) in (2..6_u16).prop_flat_map(|n| (Just(n), 2..=n))) {
        let (group, shares) = run(threshold, signers);
        let signing: Vec<usize> = (0..usize::from(threshold)).rev().collect();
        signs(&group, &shares, &signing);
    }
}
