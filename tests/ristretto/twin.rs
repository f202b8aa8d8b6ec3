//! The schemes against the specification (`spec/hacspec`) on random input, on every backend: what they produce, and
//! what they refuse. `VERIPLEX_CASES` sets the number of cases, as for `tests/twin.rs`: each scheme runs a twentieth.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use veriplex::handshake::{Initiator, Responder, Session};
use veriplex::hpke::{Opener, Sealer};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::oprf::{BlindedElement, VerifiableBlind};
use veriplex::pake::{self, Names};
use veriplex::sig::Signature;
use veriplex::{Label, Protocol, hpke, label, oprf, sig, signcrypt, vrf};
use veriplex_spec as spec;

use crate::common::{Recorded, on_each_backend};

fn cases() -> ProptestConfig {
    let asked = crate::common::asked_cases();
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.div_ceil(20))
    }
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

fn domain() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=91)
}

fn key() -> impl Strategy<Value = PrivateKey> {
    any::<[u8; 64]>().prop_map(|uniform| PrivateKey::from_uniform_bytes(uniform).unwrap())
}

/// A changed bit, a truncation, or no change.
type Change = (u8, Index, u8);

fn change() -> impl Strategy<Value = Change> {
    (0..3_u8, any::<Index>(), 0..8_u8)
}

fn changed(bytes: &[u8], (kind, place, bit): Change) -> Vec<u8> {
    let place = place.index(bytes.len());
    let mut bytes = bytes.to_vec();
    match kind {
        0 => bytes[place] ^= 1 << bit,
        1 => bytes.truncate(place),
        _ => {}
    }
    bytes
}

/// A state of the twin, serialised like the crate's.
fn bytes(p: spec::duplex::Duplex) -> Vec<u8> {
    [&[p.rate_idx, p.frame_idx], &p.state[..]].concat()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn signatures(
        (domain, key, message) in (domain(), key(), data()),
        randomness in prop_oneof![Just(vec![]), vec(any::<u8>(), 64)],
        change in change(),
    ) {
        let public = key.public_key();
        let signature = spec::sig::sign(&domain, key.to_bytes(), &randomness, &message);
        let other = changed(&signature, change);
        let valid = spec::sig::verify(&domain, public.to_bytes(), &message, &other);
        prop_assert_eq!(valid, other == signature);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let signed = if randomness.is_empty() {
                sig::sign_deterministic(domain, &key, &message)
            } else {
                sig::sign(domain, &key, &message, &mut Recorded::new(randomness.clone()))
            };
            assert_eq!(signed.to_bytes()[..], signature);
            let verdict = Signature::try_from(&other[..])
                .and_then(|other| sig::verify(domain, public, &message, &other));
            assert_eq!(verdict.is_ok(), valid);
        });
    }

    #[test]
    fn public_key_encryption(
        (domain, sender, receiver) in (domain(), key(), key()),
        (randomness, message) in (any::<[u8; 64]>(), data()),
        change in change(),
    ) {
        let [a, b] = [sender.public_key(), receiver.public_key()];
        let specified = |by_hpke: bool| {
            let (d, s, r) = (&domain, sender.to_bytes(), receiver.to_bytes());
            let sealed = if by_hpke {
                let uniform = spec::hpke::ephemeral(d, s, b.to_bytes(), &randomness, Some(&message));
                spec::hpke::seal_message(d, s, b.to_bytes(), &uniform, &message)
            } else {
                spec::signcrypt::seal(d, s, b.to_bytes(), &randomness, &message)
            };
            let other = changed(&sealed, change);
            let opened = if by_hpke {
                spec::hpke::open_message(d, r, a.to_bytes(), &other)
            } else {
                spec::signcrypt::open(d, r, a.to_bytes(), &other)
            };
            assert_eq!(opened.ok, other == sealed);
            (sealed, other, opened.ok.then_some(opened.plaintext))
        };
        let (by_hpke, by_signcrypt) = (specified(true), specified(false));
        let (s, b_bytes) = (sender.to_bytes(), b.to_bytes());
        let uniform = spec::hpke::ephemeral(&domain, s, b_bytes, &randomness, None);
        let by_setup = spec::hpke::seal_message(&domain, s, b_bytes, &uniform, &message);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let rng = || Recorded::new(randomness);
            let (sealed, other, opened) = &by_hpke;
            assert_eq!(&hpke::seal_vec(domain, &sender, b, &mut rng(), &message).unwrap(), sealed);
            let (ephemeral, mut protocol) = hpke::setup_sender(domain, &sender, b, &mut rng()).unwrap();
            let message_after = protocol.seal_vec(label!("message"), &message);
            assert_eq!([&ephemeral[..], &message_after].concat(), by_setup);
            assert_eq!(&hpke::open_vec(domain, &receiver, a, other).ok(), opened);
            let (sealed, other, opened) = &by_signcrypt;
            assert_eq!(&signcrypt::seal_vec(domain, &sender, b, &mut rng(), &message).unwrap(), sealed);
            assert_eq!(&signcrypt::open_vec(domain, &receiver, a, other).ok(), opened);
        });
    }

    /// A change to the response or to the confirmation, or no change.
    #[test]
    fn public_key_encryption_with_context(
        (domain, sender, receiver) in (domain(), proptest::option::of(key()), key()),
        (info, ad, message) in (data(), data(), data()),
        randomness in any::<[u8; 64]>(),
        change in change(),
    ) {
        let (s, public) = (sender.as_ref().map(PrivateKey::to_bytes), receiver.public_key());
        let a = sender.as_ref().map(PrivateKey::public_key);
        let a_bytes = a.map(PublicKey::to_bytes);
        let sealed =
            spec::hpke::seal_mode(&domain, &info, s, public.to_bytes(), &ad, &randomness, &message);
        let other = changed(&sealed, change);
        let opened = spec::hpke::open_mode(&domain, &info, receiver.to_bytes(), a_bytes, &ad, &other);
        prop_assert_eq!(opened.ok, other == sealed);
        let setup = || {
            let mode: &[u8] = if s.is_some() { b"auth-setup" } else { b"base-setup" };
            spec::hpke::start_mode(&domain, mode, &info, a_bytes, public.to_bytes())
        };
        let e = spec::group::wide(&spec::hpke::ephemeral_of_mode(setup(), s, &randomness, None));
        let times = spec::group::times;
        let set_up = spec::hpke::agree_mode(
            setup(),
            times(e, spec::group::generator()),
            times(e, public.to_bytes()),
            s.map(|s| times(s, public.to_bytes())),
        );
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let (sealer, opener) = match (&sender, a) {
                (Some(sender), Some(a)) => (
                    Sealer::authenticated(domain, sender, public),
                    Opener::authenticated(domain, &receiver, a),
                ),
                _ => (Sealer::anonymous(domain, public), Opener::anonymous(domain, &receiver)),
            };
            let (sealer, opener) = (sealer.with_info(&info), opener.with_info(&info));
            let rng = || Recorded::new(randomness);
            assert_eq!(sealer.seal_vec(&ad, &mut rng(), &message).unwrap(), sealed);
            let opened = opened.ok.then(|| opened.plaintext.clone());
            assert_eq!(opener.open_vec(&ad, &other).ok(), opened);
            let (ephemeral, protocol) = sealer.setup(&mut rng()).unwrap();
            assert_eq!(protocol.to_bytes()[..], bytes(set_up));
            assert_eq!(opener.setup(&ephemeral).unwrap(), protocol);
        });
    }

    #[test]
    fn handshakes(
        (domain, initiator, responder) in (domain(), key(), key()),
        prologue in prop_oneof![Just(vec![]), data()],
        (ours, theirs) in (any::<[u8; 64]>(), any::<[u8; 64]>()),
        (which, change) in (any::<bool>(), change()),
    ) {
        let other = |message: &[u8], this| if which == this { changed(message, change) } else { message.to_vec() };
        let (own, their_own) = (initiator.to_bytes(), responder.to_bytes());
        let i_uniform = spec::handshake::initiator_ephemeral(&domain, &prologue, own, &ours);
        let request = spec::handshake::request(&i_uniform);
        let r_uniform = spec::handshake::responder_ephemeral(&domain, &prologue, their_own, &theirs, request);
        let (p, response) = spec::handshake::respond(&domain, &prologue, their_own, &r_uniform, request);
        let got_response = other(&response, false);
        let confirmed = spec::handshake::confirm(&domain, &prologue, own, &i_uniform, &got_response);
        prop_assert_eq!(confirmed.is_some(), got_response == response);
        let got_confirmation = confirmed.as_ref().map(|(_, confirmation)| other(confirmation, true));
        let finished = got_confirmation.as_ref().map(|got| spec::handshake::finish(p, &r_uniform, got));
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let (i, sent) = Initiator::start_with_prologue(domain, &prologue, &initiator, &mut Recorded::new(ours));
            assert_eq!(sent, request);
            let mut rng = Recorded::new(theirs);
            let responded = Responder::respond_with_prologue(domain, &prologue, &responder, &sent, &mut rng);
            let (r, sent) = responded.unwrap();
            assert_eq!(sent[..], response);
            let claimed = i.receive(&got_response);
            let Some((specified, confirmation)) = &confirmed else {
                assert!(claimed.is_err());
                return;
            };
            let (session, sent) = claimed.unwrap().accept();
            assert_eq!(sent[..], confirmation[..]);
            let Session { send, recv, peer } = session;
            let state = |p: &Protocol| p.to_bytes().to_vec();
            assert_eq!(peer.to_bytes(), specified.peer);
            assert_eq!((state(&send), state(&recv)), (bytes(specified.initiator), bytes(specified.responder)));
            let claimed = r.receive(got_confirmation.as_ref().unwrap());
            let Some(specified) = finished.as_ref().unwrap() else {
                assert!(claimed.is_err());
                return;
            };
            let Session { send, recv, peer } = claimed.unwrap().accept();
            assert_eq!(peer.to_bytes(), specified.peer);
            assert_eq!((state(&send), state(&recv)), (bytes(specified.responder), bytes(specified.initiator)));
        });
    }

    #[test]
    fn password_protocols(
        (domain, [initiator, responder, password]) in (domain(), [data(), data(), data()]),
        session in vec(any::<u8>(), 1..300),
        (ours, theirs) in (any::<[u8; 64]>(), any::<[u8; 64]>()),
    ) {
        let (p, generator) = spec::pake::start(&domain, &initiator, &responder, &session, &password);
        let [i, r] = [&ours, &theirs].map(|randomness| spec::pake::message(generator, randomness));
        let end = spec::pake::finish(p, &ours, r, i, r);
        prop_assert_eq!(end, spec::pake::finish(p, &theirs, i, i, r));
        let (to_initiator, to_responder, from_initiator, from_responder) = spec::pake::confirm(end);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let names = Names { initiator: &initiator, responder: &responder, session: &session };
            let started = pake::Initiator::start(domain, &names, &password, &mut Recorded::new(ours));
            let (waiting, request) = started.unwrap();
            let answer = pake::respond(domain, &names, &password, &request, &mut Recorded::new(theirs));
            let (at_responder, response) = answer.unwrap();
            assert_eq!((request, response), (i, r));
            let at_initiator = waiting.finish(&response).unwrap();
            assert_eq!(at_initiator.confirmation()[..], from_initiator);
            assert_eq!(at_responder.confirmation()[..], from_responder);
            let pake::Session { send, recv } = at_initiator.confirm(&from_responder).unwrap();
            assert_eq!(send.to_bytes()[..], bytes(to_responder));
            assert_eq!(recv.to_bytes()[..], bytes(to_initiator));
            assert_eq!(at_responder.without_confirmation().to_bytes()[..], bytes(end));
        });
    }

    #[test]
    fn verifiable_functions(
        (domain, key, input) in (domain(), key(), data()),
        (randomness, n) in (any::<[u8; 64]>(), 0..200_usize),
        change in change(),
    ) {
        let public = key.public_key();
        let (output, proof) = spec::vrf::prove(&domain, key.to_bytes(), &input, &randomness, n);
        let other = changed(&proof, change);
        let verified = spec::vrf::verify(&domain, public.to_bytes(), &input, &other, n);
        prop_assert_eq!(verified.is_some(), other == proof);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let mut out = vec![0; n];
            let mut rng = Recorded::new(randomness);
            let proved = vrf::prove(domain, &key, &input, &mut rng, &mut out).unwrap();
            assert_eq!((proved.to_bytes().as_slice(), &out), (&proof[..], &output));
            let verdict = vrf::Proof::try_from(&other[..])
                .and_then(|other| vrf::verify(domain, public, &input, &other, &mut out));
            assert_eq!(verdict.ok().map(|()| out), verified);
        });
    }

    #[test]
    fn oblivious_functions(
        (domain, key) in (domain(), key()),
        requests in vec((data(), any::<[u8; 64]>()), 1..4),
        (randomness, n) in (any::<[u8; 64]>(), 0..100_usize),
        (change, swap) in (change(), any::<bool>()),
    ) {
        let server = oprf::ServerKey::from_bytes(&key.to_bytes()).unwrap();
        let public = server.public_key();
        let blinded: Vec<[u8; 32]> = requests
            .iter()
            .map(|(input, uniform)| spec::oprf::blind(&domain, input, spec::group::wide(uniform)))
            .collect();
        let evaluated: Vec<[u8; 32]> =
            blinded.iter().map(|element| spec::group::times(server.to_bytes(), *element)).collect();
        let uniform = spec::oprf::nonce(&domain, server.to_bytes(), &blinded, &evaluated, &randomness);
        let proof = spec::oprf::prove(&domain, server.to_bytes(), &blinded, &evaluated, &uniform);
        let outputs: Vec<Vec<u8>> = requests
            .iter()
            .zip(&evaluated)
            .map(|((input, uniform), evaluated)| {
                let output =
                    spec::oprf::finalize(&domain, input, spec::group::wide(uniform), *evaluated, n);
                assert_eq!(spec::oprf::evaluate(&domain, server.to_bytes(), input, n), output);
                output
            })
            .collect();
        let other = changed(&proof, change);
        let mut answers = evaluated.clone();
        if swap {
            answers.rotate_left(1);
        }
        let valid = spec::oprf::verify(&domain, public.to_bytes(), &blinded, &answers, &other);
        prop_assert_eq!(valid, other == proof && answers == evaluated);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let blinds: Vec<VerifiableBlind> = requests
                .iter()
                .zip(&blinded)
                .map(|((input, uniform), expected)| {
                    let mut rng = Recorded::new(*uniform);
                    let (blind, blinded) = oprf::blind_verifiable(domain, input, &mut rng).unwrap();
                    assert_eq!(&blinded.to_bytes(), expected);
                    blind
                })
                .collect();
            let received: Vec<BlindedElement> =
                blinded.iter().map(|bytes| BlindedElement::from_bytes(bytes).unwrap()).collect();
            let mut rng = Recorded::new(randomness);
            let (found, proved) =
                oprf::blind_evaluate_verifiable_vec(domain, &server, &received, &mut rng).unwrap();
            assert!(found.iter().map(oprf::EvaluatedElement::to_bytes).eq(evaluated.iter().copied()));
            assert_eq!(proved.to_bytes()[..], proof);
            let answers: Vec<_> = answers
                .iter()
                .map(|bytes| oprf::EvaluatedElement::from_bytes(bytes).unwrap())
                .collect();
            let finalized = oprf::Proof::try_from(&other[..]).and_then(|other| {
                VerifiableBlind::finalize_vec(blinds, domain, public, &answers, &other, n)
            });
            assert_eq!(finalized.ok(), valid.then(|| outputs.clone()));
        });
    }
}
