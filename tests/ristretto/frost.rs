//! Threshold signatures: known answers and bad input.

use proptest::prelude::*;
use serde_json::Value;
use veriplex::frost::{
    self, Error, GroupKey, Identifier, KeyShare, SignatureShare, SigningCommitments, SigningNonces,
    SigningPackage, UsedNonces,
};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::sig::Signature;
use veriplex::{Label, Protocol, label, sig};

use crate::common::{Recorded, array, bytes, cases, number, on_each_backend, text, vectors};
use crate::order;

const DOMAIN: Label<'static> = label!("frost");

fn small(case: &Value, key: &str) -> u16 {
    u16::try_from(number(case, key)).unwrap()
}

fn id(number: u16) -> Identifier {
    Identifier::new(number).unwrap()
}

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("frost")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let mut rng = Recorded::new(bytes(case, "seed"));
            let (group, shares) =
                frost::deal(domain, small(case, "threshold"), small(case, "signers"), &mut rng).unwrap();
            assert!(rng.is_used_up());
            assert_eq!(group.public_key().to_bytes(), array(case, "group_key"));
            for (share, verifying) in shares.iter().zip(cases(&case["verifying_shares"])) {
                let found = group.verifying_share(share.identifier()).unwrap();
                assert_eq!(found.to_string(), verifying.as_str().unwrap());
                assert_eq!(share.verify(&group), Ok(()));
            }

            let participants = cases(&case["participants"]);
            let (nonces, commitments): (Vec<_>, Vec<_>) = participants
                .iter()
                .map(|participant| {
                    let share = &shares[usize::from(small(participant, "identifier")) - 1];
                    let mut rng = Recorded::new(bytes(participant, "rand"));
                    let (nonces, commitments) = share.commit(domain, &mut rng).unwrap();
                    assert!(rng.is_used_up());
                    let encoded = commitments.to_bytes();
                    assert_eq!(encoded[..2], share.identifier().get().to_be_bytes());
                    assert_eq!(encoded[2..34], bytes(participant, "hiding"));
                    assert_eq!(encoded[34..], bytes(participant, "binding"));
                    (nonces, commitments)
                })
                .unzip();
            let message = bytes(case, "message");
            let package = SigningPackage::new(domain, &group, &commitments, &message).unwrap();
            let signature_shares: Vec<_> = participants
                .iter()
                .zip(nonces)
                .map(|(participant, nonces)| {
                    let share = &shares[usize::from(small(participant, "identifier")) - 1];
                    let signature_share = share.sign(nonces, &package).unwrap();
                    assert_eq!(signature_share.to_bytes()[2..34], bytes(participant, "share"));
                    assert_eq!(package.verify_share(&signature_share), Ok(()));
                    signature_share
                })
                .collect();
            let signature = package.aggregate(&signature_shares).unwrap();
            assert_eq!(signature.to_bytes(), array(case, "signature"));
            assert_eq!(
                sig::verify(domain, group.public_key(), &message, &signature),
                Ok(())
            );
        }
    });
}

/// A group of five, three of whom sign.
fn group() -> (GroupKey, Vec<KeyShare>) {
    frost::deal(DOMAIN, 3, 5, &mut Recorded::new([1; 64])).unwrap()
}

fn commit(share: &KeyShare) -> (SigningNonces, SigningCommitments) {
    share.commit(DOMAIN, &mut Recorded::new([2; 64])).unwrap()
}

fn commitments(shares: &[KeyShare], signers: &[usize]) -> Vec<SigningCommitments> {
    signers.iter().map(|&n| commit(&shares[n]).1).collect()
}

fn sign<'s>(
    shares: &[KeyShare],
    signers: impl IntoIterator<Item = &'s usize>,
    package: &SigningPackage<'_>,
) -> Vec<SignatureShare> {
    signers
        .into_iter()
        .map(|&n| shares[n].sign(commit(&shares[n]).0, package).unwrap())
        .collect()
}

pub fn signs(group: &GroupKey, shares: &[KeyShare], signers: &[usize]) -> Signature {
    let commitments = commitments(shares, signers);
    let package = SigningPackage::new(DOMAIN, group, &commitments, b"message").unwrap();
    let signature = package.aggregate(&sign(shares, signers, &package)).unwrap();
    sig::verify(DOMAIN, group.public_key(), b"message", &signature).unwrap();
    signature
}

/// A signer whose generator repeats, as after a snapshot is restored.
#[test]
fn contexts_separate_nonces_of_one_generator() {
    let (_, shares) = group();
    let rng = || Recorded::new([2; 64]);
    let in_context = |context: &[u8]| {
        shares[0]
            .commit_in_context(DOMAIN, context, &mut rng())
            .unwrap()
            .1
    };
    let all = [
        commit(&shares[0]).1,
        in_context(b""),
        in_context(b"1"),
        in_context(b"2"),
        shares[1].commit_in_context(DOMAIN, b"1", &mut rng()).unwrap().1,
        shares[0]
            .commit_in_context(label!("other"), b"1", &mut rng())
            .unwrap()
            .1,
        shares[0]
            .commit_in_context(DOMAIN, b"1", &mut Recorded::new([3; 64]))
            .unwrap()
            .1,
    ];
    let nonces: std::collections::BTreeSet<Vec<u8>> = all
        .iter()
        .flat_map(|c| c.to_bytes()[2..].as_chunks::<32>().0.to_vec())
        .map(Vec::from)
        .collect();
    assert_eq!(nonces.len(), 2 * all.len());
    assert_eq!(
        in_context(b"1"),
        all[2],
        "the generator and the context are all there is"
    );
}

/// The known answers have no context. Nonces come from what docs/formats.md says.
#[test]
fn nonces_in_a_context_are_those_of_the_design() {
    let (_, shares) = group();
    let [_, mut branch] = Protocol::new(DOMAIN).fork(label!("process"), ["keygen", "commitment"]);
    branch.mix(label!("signing-share"), &shares[0].to_bytes()[2..34]);
    branch.mix(label!("rand"), &[2; 64]);
    branch.mix(label!("context"), b"context");
    let mut expected = vec![0, 1];
    for label in [label!("hiding-nonce"), label!("binding-nonce")] {
        let nonce = PrivateKey::from_uniform_bytes(branch.derive_array(label)).unwrap();
        expected.extend(nonce.public_key().as_bytes());
    }
    let rng = &mut Recorded::new([2; 64]);
    let (_, commitments) = shares[0].commit_in_context(DOMAIN, b"context", rng).unwrap();
    assert_eq!(commitments.to_bytes(), expected[..]);
}

/// The signer forgets that it signed, its generator repeats, and the attacker asks for another message.
#[test]
fn a_restored_signer_refuses_used_nonces() {
    let (group, shares) = group();
    let all = commitments(&shares, &[0, 1, 2]);
    let package = |message: &[u8]| SigningPackage::new(DOMAIN, &group, &all, message).unwrap();
    let mut used = UsedNonces::new();
    let (one, two) = (package(b"one"), package(b"two"));
    assert!(shares[0].sign_once(commit(&shares[0]).0, &one, &mut used).is_ok());
    let mut used = UsedNonces::from_bytes(&used.to_bytes()).unwrap();
    for package in [&one, &two] {
        let again = shares[0].sign_once(commit(&shares[0]).0, package, &mut used);
        assert_eq!(again, Err(Error::NoncesUsed));
    }
    // Another signer's are others, and nonces are used up also when they do not belong to the package.
    assert!(shares[1].sign_once(commit(&shares[1]).0, &one, &mut used).is_ok());
    let foreign = |used: &UsedNonces| shares[3].sign_once(commit(&shares[3]).0, &one, &mut used.clone());
    assert_eq!(foreign(&used), Err(Error::Participants));
    let _ = shares[3].sign_once(commit(&shares[3]).0, &one, &mut used);
    assert_eq!(foreign(&used), Err(Error::NoncesUsed));

    let bytes = used.to_bytes();
    assert_eq!(bytes.len(), 3 * 32);
    assert_eq!(UsedNonces::from_bytes(&bytes), Ok(used));
    for n in (0..bytes.len()).filter(|n| n % 32 != 0) {
        assert_eq!(
            UsedNonces::from_bytes(&bytes[..n]),
            Err(veriplex::Error::InvalidState)
        );
    }
    for other in [[&bytes[32..64], &bytes[..32]].concat(), bytes[..32].repeat(2)] {
        assert_eq!(UsedNonces::from_bytes(&other), Err(veriplex::Error::InvalidState));
    }
}

/// Every set of at least three signers, with the lists in any order.
#[test]
fn any_three_sign_in_any_order() {
    let (group, shares) = group();
    assert_eq!((group.threshold(), group.signers()), (3, 5));
    for set in 0..32_usize {
        let signers: Vec<usize> = (0..5).filter(|n| set >> n & 1 == 1).collect();
        if signers.len() < 3 {
            let few = commitments(&shares, &signers);
            let package = SigningPackage::new(DOMAIN, &group, &few, b"message");
            assert_eq!(package.err(), Some(Error::Participants));
            continue;
        }
        let signature = signs(&group, &shares, &signers);
        let reversed: Vec<usize> = signers.iter().rev().copied().collect();
        assert_eq!(signs(&group, &shares, &reversed), signature);
        // Even the lists within one session may differ in order.
        let package =
            SigningPackage::new(DOMAIN, &group, &commitments(&shares, &reversed), b"message").unwrap();
        assert_eq!(
            package.aggregate(&sign(&shares, &signers, &package)),
            Ok(signature)
        );
    }
}

#[test]
fn impossible_numbers() {
    for (threshold, signers) in [(0, 0), (0, 3), (1, 1), (1, 3), (4, 3), (u16::MAX, 3)] {
        let mut rng = Recorded::new([1; 64]);
        assert_eq!(
            frost::deal(DOMAIN, threshold, signers, &mut rng).err(),
            Some(Error::Participants)
        );
    }
}

/// The dealer hands out a share that is not on the polynomial, or one from another group.
#[test]
fn shares_of_keys_are_verified() {
    let (group, shares) = group();
    let (other, others) = frost::deal(DOMAIN, 3, 5, &mut Recorded::new([7; 64])).unwrap();
    for (share, of_other) in shares.iter().zip(&others) {
        assert_eq!(share.verify(&group), Ok(()));
        assert_eq!(share.verify(&other), Err(veriplex::Error::Verification));
        assert_eq!(of_other.verify(&group), Err(veriplex::Error::Verification));
        for place in [1, 2, 20] {
            let mut bytes = share.to_bytes();
            bytes[place] ^= 0x10;
            let changed = KeyShare::from_bytes(&bytes).unwrap();
            assert_eq!(changed.verify(&group), Err(veriplex::Error::Verification));
        }
    }
    assert_eq!(group.verifying_share(id(6)), Err(Error::Participants));
}

#[test]
fn wrong_signers_are_refused() {
    let (group, shares) = group();
    let refused = |signers: &[SigningCommitments]| {
        let package = SigningPackage::new(DOMAIN, &group, signers, b"message");
        assert_eq!(package.err(), Some(Error::Participants));
    };
    let of = |signers: &[usize]| commitments(&shares, signers);
    refused(&[]);
    refused(&of(&[0, 1]));
    refused(&of(&[0, 1, 1]));
    refused(&of(&[0, 1, 2, 0]));
    // A signer commits twice, with different nonces.
    let again = shares[0].commit(DOMAIN, &mut Recorded::new([9; 64])).unwrap().1;
    refused(&[of(&[0, 1, 2]), vec![again]].concat());
    // A signer who is not in the group.
    let (_, larger) = frost::deal(DOMAIN, 3, 6, &mut Recorded::new([1; 64])).unwrap();
    refused(&[of(&[0, 1, 2]), commitments(&larger, &[5])].concat());
    // Zero is not a valid identifier.
    for bytes in [of(&[0])[0].to_bytes().to_vec(), shares[0].to_bytes().to_vec()] {
        let mut zero = bytes;
        zero[..2].fill(0);
        let invalid = Some(veriplex::Error::InvalidKey);
        assert_eq!(SigningCommitments::try_from(&zero[..]).err(), invalid);
        assert_eq!(KeyShare::try_from(&zero[..]).err(), invalid);
    }
}

#[test]
fn a_signer_signs_only_its_own_session() {
    let (group, shares) = group();
    let package = SigningPackage::new(DOMAIN, &group, &commitments(&shares, &[0, 1, 2]), b"message").unwrap();
    let refused = |share: &KeyShare, nonces, package: &SigningPackage<'_>| {
        assert_eq!(share.sign(nonces, package), Err(Error::Participants));
    };
    // The signer is not in the package; its nonces differ from those it committed to; its nonces are another signer's.
    refused(&shares[3], commit(&shares[3]).0, &package);
    let other_nonces = shares[0].commit(DOMAIN, &mut Recorded::new([9; 64])).unwrap().0;
    refused(&shares[0], other_nonces, &package);
    refused(&shares[0], commit(&shares[1]).0, &package);
    // With one of the two commitments replaced.
    let other = commit(&shares[1]).1.to_bytes();
    for place in [2, 34] {
        let mut all = commitments(&shares, &[0, 1, 2]);
        let mut bytes = all[0].to_bytes();
        bytes[place..place + 32].copy_from_slice(&other[place..place + 32]);
        all[0] = SigningCommitments::from_bytes(&bytes).unwrap();
        let package = SigningPackage::new(DOMAIN, &group, &all, b"message").unwrap();
        refused(&shares[0], commit(&shares[0]).0, &package);
    }
    // For another group.
    let (other, _) = frost::deal(DOMAIN, 3, 5, &mut Recorded::new([7; 64])).unwrap();
    let package = SigningPackage::new(DOMAIN, &other, &commitments(&shares, &[0, 1, 2]), b"message").unwrap();
    refused(&shares[0], commit(&shares[0]).0, &package);
}

#[test]
fn the_bad_signer_is_named() {
    let (group, shares) = group();
    let signers = [4, 1, 2];
    let commitments = commitments(&shares, &signers);
    let package = SigningPackage::new(DOMAIN, &group, &commitments, b"message").unwrap();
    let good = sign(&shares, &signers, &package);
    let signature = package.aggregate(&good).unwrap();
    let changed = |place: usize| {
        let mut bytes = good[place].to_bytes();
        bytes[2] ^= 1;
        SignatureShare::from_bytes(&bytes).unwrap()
    };
    for place in 0..3 {
        let mut shares = good.clone();
        shares[place] = changed(place);
        let culprit = good[place].identifier();
        assert_eq!(package.aggregate(&shares), Err(Error::BadParticipant(culprit)));
        assert_eq!(
            package.verify_share(&shares[place]),
            Err(Error::BadParticipant(culprit))
        );
    }
    // Every bad signer is found, not only the first.
    let bad: Vec<_> = [changed(0), good[1], changed(2)]
        .iter()
        .filter(|share| package.verify_share(share).is_err())
        .map(SignatureShare::identifier)
        .collect();
    assert_eq!(bad, [id(5), id(3)]);

    // The same signer's share for another message, and another signer's share under this signer's identifier.
    let other = SigningPackage::new(DOMAIN, &group, &commitments, b"other").unwrap();
    let mut replayed = sign(&shares, &[4], &other)[0].to_bytes();
    replayed[34..].copy_from_slice(&good[0].to_bytes()[34..]);
    let replayed = SignatureShare::from_bytes(&replayed).unwrap();
    assert_eq!(
        package.aggregate(&[replayed, good[1], good[2]]),
        Err(Error::BadParticipant(id(5)))
    );
    let mut renamed = good[1].to_bytes();
    renamed[..2].copy_from_slice(&good[0].to_bytes()[..2]);
    let renamed = SignatureShare::from_bytes(&renamed).unwrap();
    assert_eq!(
        package.aggregate(&[renamed, good[1], good[2]]),
        Err(Error::BadParticipant(id(5)))
    );

    // Missing, repeated, foreign and surplus shares. Another order gives the same signature.
    let stranger = {
        let signers = [0, 1, 2];
        let commitments = self::commitments(&shares, &signers);
        let package = SigningPackage::new(DOMAIN, &group, &commitments, b"message").unwrap();
        sign(&shares, &[0], &package)[0]
    };
    for wrong in [
        &[][..],
        &[good[0], good[1]],
        &[good[0], good[1], good[1]],
        &[good[0], good[1], stranger],
        &[good[0], good[1], good[2], good[0]],
        &[good[0], good[1], good[2], stranger],
    ] {
        assert_eq!(package.aggregate(wrong), Err(Error::Participants));
    }
    assert_eq!(package.verify_share(&stranger), Err(Error::Participants));
    assert_eq!(package.aggregate(&[good[1], good[2], good[0]]), Ok(signature));
}

/// One signer tells the others and the aggregator different things, or the network does. The shares of those who were told
/// something else are not held against them.
#[test]
fn nobody_is_blamed_for_another_package() {
    let (group, shares) = group();
    let signers = [0, 1, 2];
    let all = commitments(&shares, &signers);
    let package = SigningPackage::new(DOMAIN, &group, &all, b"message").unwrap();
    let good = sign(&shares, &signers, &package);
    let disagreement = Err(Error::Disagreement);

    let (_, second) = shares[2].commit(DOMAIN, &mut Recorded::new([9; 64])).unwrap();
    let equivocated = [all[0], all[1], second];
    let told = SigningPackage::new(DOMAIN, &group, &equivocated, b"message").unwrap();
    let alices = shares[0].sign(commit(&shares[0]).0, &told).unwrap();
    assert_eq!(package.verify_share(&alices), disagreement);
    assert_eq!(
        package.aggregate(&[alices, good[1], good[2]]),
        Err(Error::Disagreement)
    );
    assert_eq!(package.verify_share(&good[1]), Ok(()));

    // The keys of these groups have the same public key.
    let of_six = GroupKey::from_bytes(&[&[0, 6], &group.to_bytes()[2..]].concat()).unwrap();
    let [threshold, coefficient] = [&[][..], &second.to_bytes()[2..34]]
        .map(|last| GroupKey::from_bytes(&[&group.to_bytes()[..66], last].concat()).unwrap());
    let more = [all.clone(), commitments(&shares, &[3])].concat();
    for other in [
        SigningPackage::new(label!("other"), &group, &all, b"message"),
        SigningPackage::new(DOMAIN, &of_six, &all, b"message"),
        SigningPackage::new(DOMAIN, &threshold, &all, b"message"),
        SigningPackage::new(DOMAIN, &coefficient, &all, b"message"),
        SigningPackage::new(DOMAIN, &group, &more, b"message"),
        SigningPackage::new(DOMAIN, &group, &all, b"another"),
    ] {
        assert_eq!(other.unwrap().verify_share(&good[0]), disagreement);
    }
    // Nor can a signer be made to sign by another key of the group, by which its share would be wrong.
    let package = SigningPackage::new(DOMAIN, &coefficient, &all, b"message").unwrap();
    let refused = shares[0].sign(commit(&shares[0]).0, &package);
    assert_eq!(refused, Err(Error::Participants));
}

/// What a share carries is the digest that docs/formats.md defines.
#[test]
fn shares_carry_the_digest_of_the_package() {
    let (group, shares) = group();
    let all = commitments(&shares, &[0, 1, 2]);
    let mut view = Protocol::new(DOMAIN);
    view.mix(label!("frost-binding"), group.public_key().as_bytes());
    view.mix(label!("message"), b"message");
    for commitments in &all {
        let bytes = commitments.to_bytes();
        view.mix(label!("identifier"), &bytes[..2]);
        view.mix(label!("hiding"), &bytes[2..34]);
        view.mix(label!("binding"), &bytes[34..]);
    }
    view.mix(label!("frost-group"), &group.to_bytes());
    let view: [u8; 32] = view.derive_array(label!("frost-view"));
    let package = SigningPackage::new(DOMAIN, &group, &all, b"message").unwrap();
    for share in sign(&shares, &[0, 1, 2], &package) {
        assert_eq!(share.to_bytes()[34..], view);
    }
}

/// Fewer signers than the threshold cannot sign by claiming a lower threshold.
#[test]
fn too_few_make_no_signature() {
    let (group, shares) = group();
    let mut pretended = group.to_bytes();
    pretended.truncate(2 + 2 * 32);
    let pretended = GroupKey::from_bytes(&pretended).unwrap();
    assert_eq!(pretended.threshold(), 2);
    let package =
        SigningPackage::new(DOMAIN, &pretended, &commitments(&shares, &[0, 1]), b"message").unwrap();
    let (nonces, _) = commit(&shares[0]);
    assert_eq!(shares[0].sign(nonces, &package), Err(Error::Participants));
}

#[test]
fn bad_encodings() {
    let (group, shares) = group();
    let (_, commitments) = commit(&shares[0]);
    let package = self::commitments(&shares, &[0, 1, 2]);
    let package = SigningPackage::new(DOMAIN, &group, &package, b"message").unwrap();
    let share = sign(&shares, &[0], &package)[0];
    assert_eq!(
        KeyShare::from_bytes(&shares[0].to_bytes()).unwrap().to_bytes(),
        shares[0].to_bytes()
    );
    assert_eq!(
        SigningCommitments::from_bytes(&commitments.to_bytes()),
        Ok(commitments)
    );
    assert_eq!(SignatureShare::from_bytes(&share.to_bytes()), Ok(share));
    assert_eq!(GroupKey::from_bytes(&group.to_bytes()), Ok(group.clone()));

    let long = |bytes: &[u8]| [bytes, &[0; 40]].concat();
    let [k, c, s, g] = [
        long(&shares[0].to_bytes()),
        long(&commitments.to_bytes()),
        long(&share.to_bytes()),
        long(&group.to_bytes()),
    ];
    for n in 0..k.len() {
        assert_eq!(KeyShare::try_from(&k[..n]).is_ok(), n == KeyShare::LEN);
        assert_eq!(
            SigningCommitments::try_from(&c[..n]).is_ok(),
            n == SigningCommitments::LEN
        );
        assert_eq!(
            SignatureShare::try_from(&s[..n]).is_ok(),
            n == SignatureShare::LEN
        );
    }
    for n in 0..g.len() {
        // A prefix can be the key of a group with a lower threshold; the trailing zeros encode the identity.
        assert_eq!(
            GroupKey::from_bytes(&g[..n]).is_ok(),
            n == 66 || n == 98,
            "{n} bytes"
        );
    }
    let with = |bytes: &[u8], place: usize, part: [u8; 32]| {
        let mut bytes = bytes.to_vec();
        bytes[place..place + 32].copy_from_slice(&part);
        bytes
    };
    let (zero, order) = ([0; 32], order());
    for part in [zero, order] {
        assert!(KeyShare::try_from(&with(&k, 2, part)[..66]).is_err());
        assert!(KeyShare::try_from(&with(&k, 34, part)[..66]).is_err());
        assert!(SigningCommitments::try_from(&with(&c, 2, part)[..66]).is_err());
        assert!(SigningCommitments::try_from(&with(&c, 34, part)[..66]).is_err());
        for n in 0..3 {
            assert!(GroupKey::from_bytes(&with(&g, 2 + 32 * n, part)[..98]).is_err());
        }
    }
    assert!(SignatureShare::try_from(&with(&s, 2, order)[..66]).is_err());
    let mut numbers = g[..98].to_vec();
    numbers[..2].copy_from_slice(&[0, 2]);
    assert_eq!(GroupKey::from_bytes(&numbers), Err(veriplex::Error::InvalidKey));
}

/// What goes into a log tells who is to blame, or what all modules call it.
#[test]
fn errors_have_their_texts() {
    let bad = Error::BadParticipant(id(65535)).to_string();
    assert_eq!(bad, "participant 65535 sent something wrong");
    let other = veriplex::Error::InvalidKey;
    assert_eq!(Error::from(other).to_string(), other.to_string());
}

#[test]
fn debug_shows_no_secrets() {
    let (_, shares) = group();
    let (nonces, _) = commit(&shares[0]);
    assert_eq!(
        format!("{:?}", shares[0]),
        format!("KeyShare {{ identifier: 1, group: {:?}, .. }}", shares[0].group())
    );
    assert_eq!(format!("{nonces:?}"), "SigningNonces { .. }");
}

/// Stored nonces sign as if they had not been stored, once: their bytes are wiped, and a copy of them is refused.
#[test]
fn stored_nonces_serve_once() {
    let (group, shares) = group();
    let (nonces, commitments): (Vec<_>, Vec<_>) = shares.iter().map(commit).unzip();
    let package = SigningPackage::new(DOMAIN, &group, &commitments, b"message").unwrap();
    for (share, nonces) in shares.iter().zip(nonces) {
        let mut stored = nonces.into_bytes();
        let (mut first, mut used) = (*stored, UsedNonces::new());
        let expected = share.sign(commit(share).0, &package).unwrap();
        let restored = SigningNonces::from_bytes(&mut first, &mut used).unwrap();
        assert_eq!(first, [0; SigningNonces::LEN]);
        assert_eq!(used.to_bytes(), &commit(share).1.to_bytes()[2..34]);
        let again = SigningNonces::from_bytes(&mut stored, &mut used);
        assert_eq!(again.err(), Some(Error::NoncesUsed));
        assert_eq!(*stored, [0; SigningNonces::LEN]);
        assert_eq!(share.sign(restored, &package), Ok(expected));
    }
    let mut used = UsedNonces::new();
    for bad in [
        [[0; 32], [1; 32]],
        [[1; 32], order()],
        [order(), [1; 32]],
        [[1; 32], [0; 32]],
    ] {
        let mut bad: [u8; 64] = bad.concat().try_into().unwrap();
        let refused = SigningNonces::from_bytes(&mut bad, &mut used);
        assert_eq!(refused.err(), Some(veriplex::Error::InvalidState.into()));
        assert_eq!(bad, [0; 64]);
    }
    assert_eq!(used, UsedNonces::new());
}

/// The nonces depend on the share as well as on the randomness.
#[test]
fn nonces_are_hedged() {
    let (_, shares) = group();
    let hiding = |n: usize| commit(&shares[n]).1.to_bytes()[2..].to_vec();
    assert_ne!(hiding(0), hiding(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn groups_sign(
        seed in any::<[u8; 64]>(),
        (signers, threshold) in (2..8_u16).prop_flat_map(|n| (Just(n), 2..=n)),
        order in any::<prop::sample::Index>(),
    ) {
        let (group, shares) = frost::deal(DOMAIN, threshold, signers, &mut Recorded::new(seed)).unwrap();
        let group = GroupKey::from_bytes(&group.to_bytes()).unwrap();
        let mut signing: Vec<usize> = (0..usize::from(signers)).collect();
        signing.rotate_left(order.index(usize::from(signers)));
        signing.truncate(usize::from(threshold));
        signs(&group, &shares, &signing);
        let public: PublicKey = *group.public_key();
        prop_assert_eq!(shares[0].group(), &public);
    }
}
