//! Sessions in which a party that has valid keys misbehaves: it follows the format, and sends under its keys whatever helps
//! it. The others end with what they should, or with an error that names nobody else. (For the ratchet and the tunnel, see
//! `states` and `tunnel`.)

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rand_core::SeedableRng;
use veriplex::frost::{self, Identifier, dkg};
use veriplex::keys::PrivateKey;
use veriplex::oprf::{self, BlindedElement, EvaluatedElement, Proof};
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::{Error, Label, Protocol, handshake, label, pake, sig};
use veriplex_fuzz::{Change, Named, element, scalar};
use veriplex_spec::group::{minus, plus_times, sum, times};

const DOMAIN: Label<'static> = label!("veriplex.fuzz");
const ONE: [u8; 32] = {
    let mut one = [0; 32];
    one[0] = 1;
    one
};

#[derive(Arbitrary, Debug)]
enum Case {
    Responder {
        ephemeral: Element,
        own: Element,
    },
    Initiator {
        ephemeral: Element,
        own: Element,
    },
    Pake {
        is_initiator: bool,
        element: Element,
        confirmation: Confirmation,
    },
    Frost(Frost),
    Dkg(Dkg),
    Oprf(Oprf),
}

/// An element that the party sends.
#[derive(Arbitrary, Clone, Debug)]
enum Element {
    /// Of which it has the scalar.
    Own(Named),
    /// What the honest party sent, or its key.
    Reflected,
    Opposite,
    /// The sum of that and an own one.
    Shifted(Named),
    Any([u8; 32]),
}

#[derive(Arbitrary, Debug)]
enum Confirmation {
    Right,
    Reflected,
    Changed(Vec<Change>),
}

impl Element {
    fn get(&self, honest: [u8; 32]) -> [u8; 32] {
        match self {
            Self::Own(name) => element(name.0),
            Self::Reflected => honest,
            Self::Opposite => times(minus(ONE), honest),
            Self::Shifted(name) => sum(&[honest, element(name.0)]),
            Self::Any(bytes) => *bytes,
        }
    }
}

fuzz_target!(|case: Case| {
    let mut rng = Generator::from_seed([7; 32]);
    let rng = &mut rng;
    match case {
        Case::Responder { ephemeral, own } => responder(&ephemeral, &own, rng),
        Case::Initiator { ephemeral, own } => initiator(&ephemeral, &own, rng),
        Case::Pake {
            is_initiator,
            element,
            confirmation,
        } => pake(is_initiator, &element, &confirmation, rng),
        Case::Frost(case) => frost(&case, rng),
        Case::Dkg(case) => dkg(&case, rng),
        Case::Oprf(case) => oprf(&case, rng),
    }
});

/// The scalar of a name, if the party has it.
fn known(element: &Element) -> Option<[u8; 32]> {
    match element {
        Element::Own(name) => Some(scalar(name.0)),
        _ => None,
    }
}

/// A responder, against an honest initiator: it gets a session only with a key that it has.
fn responder(ephemeral: &Element, own: &Element, rng: &mut Generator) {
    let alice = PrivateKey::generate(rng);
    let (initiator, request) = handshake::Initiator::start(DOMAIN, &alice, rng);
    let (re, rs) = (ephemeral.get(request), own.get(*alice.public_key().as_bytes()));
    let Some(e) = known(ephemeral) else {
        // Without the ephemeral scalar it cannot seal its key.
        let response = [re.as_slice(), &[0x5a; 48]].concat();
        return assert!(initiator.receive(&response).is_err());
    };
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("ie"), &request);
    protocol.mix(label!("re"), &re);
    protocol.mix(label!("ie-re"), &times(e, request));
    let response = [re.as_slice(), &protocol.seal_vec(label!("rs"), &rs)].concat();
    let claimed = initiator.receive(&response);
    assert_eq!(
        claimed.is_ok(),
        veriplex::keys::PublicKey::from_bytes(&rs).is_ok()
    );
    let Ok(claimed) = claimed else { return };
    assert_eq!(claimed.peer().as_bytes(), &rs);
    let (mut session, confirmation) = claimed.accept();
    // With a key that it does not have, it guesses.
    protocol.mix(label!("ie-rs"), &times(known(own).unwrap_or(e), request));
    let is = protocol.open_vec(label!("is"), &confirmation);
    assert_eq!(is.is_ok(), known(own).is_some_and(|own| element_of(own) == rs));
    if let Ok(is) = is {
        assert_eq!(is, alice.public_key().as_bytes());
        protocol.mix(label!("is-re"), &times(e, *alice.public_key().as_bytes()));
    }
    protocol.ratchet(label!("handshake"));
    let [mut send, _] = protocol.fork(label!("sender"), ["responder", "initiator"]);
    let first = send.seal_vec(label!("message"), b"message");
    assert_eq!(
        session.recv.open_vec(label!("message"), &first).is_ok(),
        known(own).is_some()
    );
}

fn element_of(scalar: [u8; 32]) -> [u8; 32] {
    *PrivateKey::from_bytes(&scalar).unwrap().public_key().as_bytes()
}

/// An initiator, against an honest responder.
fn initiator(ephemeral: &Element, own: &Element, rng: &mut Generator) {
    let bob = PrivateKey::generate(rng);
    let ie = ephemeral.get(*bob.public_key().as_bytes());
    let Ok((responder, response)) = handshake::Responder::respond(DOMAIN, &bob, &ie, rng) else {
        return assert!(veriplex::keys::PublicKey::from_bytes(&ie).is_err());
    };
    let Some(e) = known(ephemeral) else {
        return assert!(responder.receive(&[0x5a; 48]).is_err());
    };
    let re = *response.first_chunk().unwrap();
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("ie"), &ie);
    protocol.mix(label!("re"), &re);
    protocol.mix(label!("ie-re"), &times(e, re));
    let rs = protocol.open_vec(label!("rs"), &response[32..]).unwrap();
    assert_eq!(rs, bob.public_key().as_bytes());
    protocol.mix(label!("ie-rs"), &times(e, *bob.public_key().as_bytes()));
    let is = own.get(re);
    let confirmation = protocol.seal_vec(label!("is"), &is);
    let claimed = responder.receive(&confirmation);
    assert_eq!(
        claimed.is_ok(),
        veriplex::keys::PublicKey::from_bytes(&is).is_ok()
    );
    let Ok(claimed) = claimed else { return };
    assert_eq!(claimed.peer().as_bytes(), &is);
    let mut session = claimed.accept();
    protocol.mix(label!("is-re"), &times(known(own).unwrap_or(e), re));
    protocol.ratchet(label!("handshake"));
    let [_, mut send] = protocol.fork(label!("sender"), ["responder", "initiator"]);
    let first = send.seal_vec(label!("message"), b"message");
    assert_eq!(
        session.recv.open_vec(label!("message"), &first).is_ok(),
        known(own).is_some()
    );
}

/// A party that knows the password, against an honest one: it gets a session only if it has the scalar of what it sent.
fn pake(is_initiator: bool, sent: &Element, confirmation: &Confirmation, rng: &mut Generator) {
    let names = pake::Names {
        initiator: b"alice",
        responder: b"bob",
        session: b"session",
    };
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("initiator"), names.initiator);
    protocol.mix(label!("responder"), names.responder);
    protocol.mix(label!("session"), names.session);
    protocol.mix(label!("password"), b"password");
    let generator = veriplex_spec::group::map(&protocol.derive_array::<64>(label!("generator")));
    // Its own elements are multiples of the password's generator.
    let of = |sent: &Element, honest| match sent {
        Element::Own(name) => times(scalar(name.0), generator),
        sent => sent.get(honest),
    };
    let honest_messages;
    let (honest, mine) = if is_initiator {
        let mine = of(sent, generator);
        let Ok((honest, response)) = pake::respond(DOMAIN, &names, b"password", &mine, rng) else {
            return assert!(veriplex::keys::PublicKey::from_bytes(&mine).is_err());
        };
        honest_messages = [mine, response];
        (honest, response)
    } else {
        let (initiator, request) = pake::Initiator::start(DOMAIN, &names, b"password", rng).unwrap();
        let mine = of(sent, request);
        let Ok(honest) = initiator.finish(&mine) else {
            return assert!(veriplex::keys::PublicKey::from_bytes(&mine).is_err());
        };
        honest_messages = [request, mine];
        (honest, request)
    };
    protocol.mix(label!("initiator-message"), &honest_messages[0]);
    protocol.mix(label!("responder-message"), &honest_messages[1]);
    protocol.mix(
        label!("key-element"),
        &times(known(sent).unwrap_or(scalar(1)), mine),
    );
    let [initiators, responders] = protocol
        .fork(label!("confirmation"), ["initiator", "responder"])
        .map(|mut branch| branch.derive_array::<32>(label!("tag")));
    let own = if is_initiator { initiators } else { responders };
    let mut sent_confirmation = match confirmation {
        Confirmation::Reflected => honest.confirmation().to_vec(),
        _ => own.to_vec(),
    };
    if let Confirmation::Changed(changes) = confirmation {
        changes
            .iter()
            .for_each(|change| change.apply(&mut sent_confirmation));
    }
    let knows = known(sent).is_some() && sent_confirmation == own;
    match honest.confirm(&sent_confirmation) {
        Ok(session) => {
            protocol.ratchet(label!("handshake"));
            let mut theirs = protocol.fork(label!("sender"), ["responder", "initiator"]);
            theirs.rotate_left(usize::from(!is_initiator));
            assert!(knows && [session.send, session.recv] == theirs);
        }
        Err(error) => assert!(!knows && error == Error::Verification),
    }
}

#[derive(Arbitrary, Debug)]
struct Frost {
    /// Of three, of which two must sign.
    signers: [bool; 3],
    is_bad: [bool; 3],
    commitments: [[Element; 2]; 3],
    /// The commitments that are sent a second time.
    again: Option<u8>,
    shares: [[u8; 32]; 3],
    /// What a bad one changes of a share that would be right.
    shift: [Option<Named>; 3],
    order: u8,
}

/// Signers that choose commitments after the others', and shares as they like.
fn frost(case: &Frost, rng: &mut Generator) {
    let (group, keys) = frost::deal(DOMAIN, 2, 3, rng).unwrap();
    let mut nonces = Vec::new();
    let mut commitments = Vec::new();
    for (i, key) in keys.iter().enumerate().filter(|(i, _)| case.signers[*i]) {
        let (own, honest) = key.commit(DOMAIN, rng).unwrap();
        let mut sent = honest.to_bytes();
        if case.is_bad[i] {
            // Those of the one before, say.
            let before: Vec<u8> = commitments
                .last()
                .map_or(vec![], |c: &frost::SigningCommitments| c.to_bytes()[2..].to_vec());
            for (at, element) in [(2, &case.commitments[i][0]), (34, &case.commitments[i][1])] {
                let other = before.get(at - 2..at + 30).unwrap_or(&sent[at..at + 32]);
                let changed = element.get(other.try_into().unwrap());
                sent[at..at + 32].copy_from_slice(&changed);
            }
        }
        match frost::SigningCommitments::from_bytes(&sent) {
            Ok(commitment) => commitments.push(commitment),
            Err(error) => return assert!(case.is_bad[i], "{error:?}"),
        }
        nonces.push((i, own, honest));
    }
    let again = case
        .again
        .and_then(|again| commitments.get(usize::from(again) % 3).copied());
    commitments.extend(again);
    let n = commitments.len().max(1);
    commitments.rotate_left(usize::from(case.order) % n);
    let package = frost::SigningPackage::new(DOMAIN, &group, &commitments, b"message");
    let Ok(package) = package else {
        // The commitments of bad ones may add up to the identity with those of others.
        return assert!(nonces.len() < 2 || again.is_some() || case.is_bad.contains(&true));
    };
    assert!(nonces.len() >= 2 && again.is_none());
    let mut shares = Vec::new();
    for (i, own, honest) in nonces {
        let is_own = commitments.contains(&honest);
        match keys[i].sign(own, &package) {
            Ok(share) => {
                assert!(is_own);
                let mut bytes = share.to_bytes();
                if let (true, Some(shift)) = (case.is_bad[i], case.shift[i]) {
                    let response = plus_times(bytes[2..34].try_into().unwrap(), ONE, scalar(shift.0));
                    bytes[2..34].copy_from_slice(&response);
                }
                shares.push(frost::SignatureShare::from_bytes(&bytes).unwrap());
            }
            Err(error) => {
                assert!(case.is_bad[i] && error == frost::Error::Participants);
                // With the digest of an honest one, if there is one before.
                let before = shares.last().map(frost::SignatureShare::to_bytes);
                let digest = before.map_or([0; 32], |share| share[34..].try_into().unwrap());
                let bytes = [&[0, i as u8 + 1], &case.shares[i][..], &digest].concat();
                let Ok(share) = frost::SignatureShare::try_from(bytes.as_slice()) else {
                    return;
                };
                shares.push(share);
            }
        }
    }
    for share in &shares {
        let is_bad = case.is_bad[usize::from(share.identifier().get()) - 1];
        assert!(
            package.verify_share(share).is_ok() || is_bad,
            "blames an honest signer"
        );
    }
    match package.aggregate(&shares) {
        Ok(signature) => sig::verify(DOMAIN, group.public_key(), b"message", &signature).unwrap(),
        Err(frost::Error::BadParticipant(who)) => assert!(case.is_bad[usize::from(who.get()) - 1]),
        Err(frost::Error::Disagreement) => assert!(case.is_bad.contains(&true)),
        Err(error) => panic!("{error:?}"),
    }
}

#[derive(Arbitrary, Debug)]
struct Dkg {
    is_bad: [bool; 3],
    /// What each bad one sends to each other.
    commitments: [[Deal; 3]; 3],
    shares: [[Dealt; 3]; 3],
}

#[derive(Arbitrary, Clone, Debug)]
enum Deal {
    Right,
    /// Of another run of its own.
    Other,
    /// One with another number, context or threshold.
    Number(u8),
    Context,
    Threshold,
    Copied(u8),
    Changed(Vec<Change>),
}

#[derive(Arbitrary, Clone, Debug)]
enum Dealt {
    Right,
    Shifted(Named),
    From(u8),
    For(u8),
    View,
    Missing,
}

/// Three make a key together, of which any may misbehave: those that finish have one key, and no honest one is blamed.
fn dkg(case: &Dkg, rng: &mut Generator) {
    let number = |i: usize| Identifier::new(i as u16 + 1).unwrap();
    let start = |i: usize, context: &[u8], threshold, rng: &mut Generator| {
        dkg::start(DOMAIN, context, number(i), threshold, 3, rng).unwrap()
    };
    let mut states = Vec::new();
    let mut genuine = Vec::new();
    for i in 0..3 {
        let (state, commitment) = start(i, b"context", 2, rng);
        states.push(state);
        genuine.push(commitment);
    }
    // What `to` receives of `from`.
    let mut received = |from: usize, to: usize| -> Option<dkg::Commitment> {
        if !case.is_bad[from] {
            return Some(genuine[from].clone());
        }
        match &case.commitments[from][to] {
            Deal::Right => Some(genuine[from].clone()),
            Deal::Other => Some(start(from, b"context", 2, rng).1),
            Deal::Number(other) => {
                let mut bytes = genuine[from].to_bytes();
                bytes[1] = other % 5;
                dkg::Commitment::from_bytes(&bytes).ok()
            }
            Deal::Context => Some(start(from, b"another", 2, rng).1),
            Deal::Threshold => Some(start(from, b"context", 3, rng).1),
            Deal::Copied(other) => {
                let mut bytes = genuine[usize::from(other % 3)].to_bytes();
                bytes[1] = from as u8 + 1;
                dkg::Commitment::from_bytes(&bytes).ok()
            }
            Deal::Changed(changes) => {
                let mut bytes = genuine[from].to_bytes();
                changes.iter().for_each(|change| change.apply(&mut bytes));
                dkg::Commitment::from_bytes(&bytes).ok()
            }
        }
    };
    let blames = |error: frost::Error| {
        if let frost::Error::BadParticipant(who) = error {
            assert!(case.is_bad[usize::from(who.get()) - 1], "blames an honest one");
        }
    };
    let mut waiting = Vec::new();
    for (i, state) in states.into_iter().enumerate() {
        let others = (0..3).filter(|other| *other != i);
        let others: Option<Vec<_>> = if case.is_bad[i] {
            // A bad one goes on from what was meant.
            Some(others.map(|other| genuine[other].clone()).collect())
        } else {
            others.map(|other| received(other, i)).collect()
        };
        let received = others.map(|others| state.receive(&others));
        match received {
            Some(Ok((state, shares))) => waiting.push((i, state, shares)),
            Some(Err(error)) => {
                blames(error);
                assert!(case.is_bad.contains(&true), "{error:?}");
            }
            None => {}
        }
    }
    let sent: Vec<(usize, dkg::Share)> = waiting
        .iter()
        .flat_map(|(i, _, shares)| shares.iter().map(|share| (*i, share.clone())))
        .collect();
    let mut finished = Vec::new();
    for (i, state, _) in waiting {
        if case.is_bad[i] {
            continue;
        }
        let mine: Vec<dkg::Share> = sent
            .iter()
            .filter(|(_, share)| share.receiver() == number(i))
            .filter_map(|(from, share)| {
                let mut bytes = share.to_bytes();
                if case.is_bad[*from] {
                    match &case.shares[*from][i] {
                        Dealt::Right => {}
                        Dealt::Shifted(by) => {
                            let value = bytes[4..36].try_into().unwrap();
                            bytes[4..36].copy_from_slice(&plus_times(value, ONE, scalar(by.0)));
                        }
                        Dealt::From(other) => bytes[1] = other % 5,
                        Dealt::For(other) => bytes[3] = other % 5,
                        Dealt::View => bytes[40] ^= 1,
                        Dealt::Missing => return None,
                    }
                }
                dkg::Share::from_bytes(&bytes).ok()
            })
            .collect();
        let is_all_right = !case.is_bad.contains(&true);
        match state.finish(&mine) {
            Ok((group, share)) => {
                share.verify(&group).unwrap();
                assert_eq!(share.identifier(), number(i));
                finished.push((group, share));
            }
            Err(error) => {
                blames(error);
                assert!(!is_all_right, "{error:?}");
            }
        }
    }
    for pair in finished.windows(2) {
        assert!(pair[0].0.to_bytes() == pair[1].0.to_bytes(), "two keys");
    }
    if let [(group, one), (_, two), ..] = finished.as_slice() {
        let (nonces_1, first) = one.commit(DOMAIN, rng).unwrap();
        let (nonces_2, second) = two.commit(DOMAIN, rng).unwrap();
        let commitments = [first, second];
        let package = frost::SigningPackage::new(DOMAIN, group, &commitments, b"message").unwrap();
        let shares = [
            one.sign(nonces_1, &package).unwrap(),
            two.sign(nonces_2, &package).unwrap(),
        ];
        let signature = package.aggregate(&shares).unwrap();
        sig::verify(DOMAIN, group.public_key(), b"message", &signature).unwrap();
    }
}

#[derive(Arbitrary, Debug)]
enum Oprf {
    /// A client that asks about any element learns its multiple, and nothing that shows in a proof.
    Client(Element),
    /// A server whose answers are not all its key's: by own proofs of another key, of other answers, changed ones.
    Server {
        inputs: u8,
        answers: [Element; 4],
        is_changed: [bool; 4],
        /// The first two errors cancel, if their weights were equal.
        cancels: bool,
        proof: Proven,
    },
}

#[derive(Arbitrary, Debug)]
enum Proven {
    Right,
    OtherKey(Named),
    Changed(Vec<Change>),
    Any([u8; 32], [u8; 32]),
}

fn oprf(case: &Oprf, rng: &mut Generator) {
    let server = oprf::ServerKey::generate(rng);
    match case {
        Oprf::Client(element) => {
            let sent = element.get(server.public_key().to_bytes());
            let Ok(blinded) = BlindedElement::from_bytes(&sent) else {
                return;
            };
            let answer = oprf::blind_evaluate(&server, &blinded).unwrap();
            assert_eq!(answer.to_bytes(), times(server.to_bytes(), sent));
            // The same twice, and its opposite: the weights keep them apart.
            let opposite = BlindedElement::from_bytes(&Element::Opposite.get(sent)).unwrap();
            let batch = [blinded, blinded, opposite];
            let (answers, _) = oprf::blind_evaluate_verifiable(DOMAIN, &server, &batch, rng).unwrap();
            assert!(answers[0] == answer && answers[1] == answer);
        }
        Oprf::Server {
            inputs,
            answers,
            is_changed,
            cancels,
            proof,
        } => {
            let n = usize::from(inputs % 4) + 1;
            let (blinds, blinded): (Vec<_>, Vec<_>) = (0..n)
                .map(|i| oprf::blind_verifiable(DOMAIN, &[i as u8], rng).unwrap())
                .unzip();
            let key = match proof {
                Proven::OtherKey(name) => oprf::ServerKey::from_bytes(&scalar(name.0)).unwrap(),
                _ => oprf::ServerKey::from_bytes(&server.to_bytes()).unwrap(),
            };
            let (genuine, right) = oprf::blind_evaluate_verifiable_vec(DOMAIN, &key, &blinded, rng).unwrap();
            let mut sent: Vec<[u8; 32]> = genuine.iter().map(EvaluatedElement::to_bytes).collect();
            for (i, answer) in sent.iter_mut().enumerate() {
                if is_changed[i] {
                    *answer = answers[i].get(*answer);
                }
            }
            if *cancels && n > 1 && is_changed[..2] == [false; 2] {
                sent[0] = sum(&[sent[0], element(1)]);
                sent[1] = sum(&[
                    sent[1],
                    times(minus(scalar(1)), veriplex_spec::group::generator()),
                ]);
            }
            let mut bytes = right.to_bytes().to_vec();
            match proof {
                Proven::Changed(changes) => changes.iter().for_each(|change| change.apply(&mut bytes)),
                Proven::Any(challenge, response) => bytes = [*challenge, *response].concat(),
                _ => {}
            }
            let received: Result<Vec<_>, _> = sent.iter().map(EvaluatedElement::from_bytes).collect();
            let (Ok(received), Ok(proof)) = (received, Proof::try_from(bytes.as_slice())) else {
                return;
            };
            let is_right =
                received.iter().zip(&blinded).all(|(answer, blinded)| {
                    answer.to_bytes() == times(server.to_bytes(), blinded.to_bytes())
                }) && bytes == right.to_bytes()
                    && key.public_key().to_bytes() == server.public_key().to_bytes();
            let outputs = oprf::VerifiableBlind::finalize_vec(
                blinds,
                DOMAIN,
                server.public_key(),
                &received,
                &proof,
                32,
            );
            match outputs {
                Ok(outputs) => {
                    assert!(is_right);
                    for (i, output) in outputs.iter().enumerate() {
                        let mut direct = [0; 32];
                        oprf::evaluate(DOMAIN, &server, &[i as u8], &mut direct).unwrap();
                        assert_eq!(output[..], direct);
                    }
                }
                Err(error) => assert!(!is_right && error == Error::Verification, "{error:?}"),
            }
        }
    }
}
