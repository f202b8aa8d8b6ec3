//! The handshake: known answers and bad input.

use veriplex::handshake::{CONFIRMATION_LEN, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder, Session};
use veriplex::hazmat::unhedged;
use veriplex::keys::PrivateKey;
use veriplex::{Error, Label, Protocol, label};
use veriplex_spec as spec;

use crate::common::{Recorded, array, cases, text, vectors};
use crate::key;

fn random(byte: u8) -> Recorded {
    Recorded::new([byte; 64])
}

#[test]
fn known_answers() {
    for case in cases(&vectors("handshake")) {
        let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
        let initiator_key = PrivateKey::from_bytes(&array(case, "initiator_private")).unwrap();
        let responder_key = PrivateKey::from_bytes(&array(case, "responder_private")).unwrap();
        let chosen = PrivateKey::from_uniform_bytes(array(case, "initiator_rand")).unwrap();
        let (initiator, request) = unhedged::handshake_start(domain, b"", &initiator_key, chosen);
        assert_eq!(request, array(case, "request"));

        let chosen = PrivateKey::from_uniform_bytes(array(case, "responder_rand")).unwrap();
        let (responder, response) =
            unhedged::handshake_respond(domain, b"", &responder_key, &request, chosen).unwrap();
        assert_eq!(response, array(case, "response"));

        let claimed = initiator.receive(&response).unwrap();
        assert_eq!(claimed.peer().to_bytes(), array(case, "responder_public"));
        let (session, confirmation) = claimed.accept();
        assert_eq!(confirmation, array(case, "confirmation"));
        assert_eq!(session.send.to_bytes(), array(case, "initiator_send"));
        assert_eq!(session.recv.to_bytes(), array(case, "initiator_recv"));
        assert_eq!(session.peer, *responder_key.public_key());

        let claimed = responder.receive(&confirmation).unwrap();
        assert_eq!(claimed.peer().to_bytes(), array(case, "initiator_public"));
        let session = claimed.accept();
        assert_eq!(session.send.to_bytes(), array(case, "responder_send"));
        assert_eq!(session.recv.to_bytes(), array(case, "responder_recv"));
        assert_eq!(session.peer, *initiator_key.public_key());
    }
}

/// Runs a handshake, changing each message on its way.
fn run(
    change_request: impl FnOnce(&mut Vec<u8>),
    change_response: impl FnOnce(&mut Vec<u8>),
    change_confirmation: impl FnOnce(&mut Vec<u8>),
) -> Result<[Session; 2], Error> {
    let domain = label!("test");
    let (initiator, request) = Initiator::start(domain, &key(1), &mut random(2));
    let mut request = request.to_vec();
    change_request(&mut request);
    let (responder, response) = Responder::respond(domain, &key(3), &request, &mut random(4))?;
    let mut response = response.to_vec();
    change_response(&mut response);
    let (initiated, confirmation) = initiator.receive(&response)?.accept();
    let mut confirmation = confirmation.to_vec();
    change_confirmation(&mut confirmation);
    Ok([initiated, responder.receive(&confirmation)?.accept()])
}

fn nothing(_: &mut Vec<u8>) {}

#[test]
fn every_flipped_bit_is_an_error() {
    assert!(run(nothing, nothing, nothing).is_ok());
    for bit in 0..8 * REQUEST_LEN {
        // The result may be another valid key. Then the response does not open.
        assert!(
            run(|m| m[bit / 8] ^= 1 << (bit % 8), nothing, nothing).is_err(),
            "{bit}"
        );
    }
    for bit in 0..8 * RESPONSE_LEN {
        assert!(
            run(nothing, |m| m[bit / 8] ^= 1 << (bit % 8), nothing).is_err(),
            "{bit}"
        );
    }
    for bit in 0..8 * CONFIRMATION_LEN {
        assert!(
            run(nothing, nothing, |m| m[bit / 8] ^= 1 << (bit % 8)).is_err(),
            "{bit}"
        );
    }
}

#[test]
fn every_other_length_is_an_error() {
    for len in (0..2 * RESPONSE_LEN).chain([10_000]) {
        let resize = |m: &mut Vec<u8>| m.resize(len, 0);
        if len != REQUEST_LEN {
            assert_eq!(run(resize, nothing, nothing).unwrap_err(), Error::Verification);
        }
        if len != RESPONSE_LEN {
            assert_eq!(run(nothing, resize, nothing).unwrap_err(), Error::Verification);
        }
        if len != CONFIRMATION_LEN {
            assert_eq!(run(nothing, nothing, resize).unwrap_err(), Error::Verification);
        }
    }
}

#[test]
fn the_identity_is_refused() {
    assert_eq!(
        run(|m| m.fill(0), nothing, nothing).unwrap_err(),
        Error::Verification
    );
    assert_eq!(
        run(nothing, |m| m[..32].fill(0), nothing).unwrap_err(),
        Error::Verification
    );
}

/// The encoded product of a key's scalar and an element.
fn times(key: &PrivateKey, element: &[u8]) -> [u8; 32] {
    use curve25519_dalek::{Scalar, ristretto::CompressedRistretto};
    let scalar = Scalar::from_canonical_bytes(key.to_bytes()).unwrap();
    let element = CompressedRistretto(element.try_into().unwrap())
        .decompress()
        .unwrap();
    (scalar * element).compress().to_bytes()
}

/// The transcript up to the shared secret of the ephemeral keys, as both sides have it.
fn ephemerals(ie: &[u8], re: &[u8], shared: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(label!("test"));
    protocol.mix(label!("ie"), ie);
    protocol.mix(label!("re"), re);
    protocol.mix(label!("ie-re"), shared);
    protocol
}

/// The peer must seal a valid long-term key. If it could seal the identity, the rest of the handshake would not
/// depend on its key.
#[test]
fn invalid_long_term_keys_are_refused() {
    let sealed_instead = |bytes: [u8; 32]| {
        let (initiator, request) = Initiator::start(label!("test"), &key(1), &mut random(2));
        let re = key(4);
        let mut protocol = ephemerals(&request, re.public_key().as_bytes(), &times(&re, &request));
        let mut response = re.public_key().to_bytes().to_vec();
        response.extend(protocol.seal_vec(label!("rs"), &bytes));
        let claimed = initiator.receive(&response).map(|claimed| *claimed.peer());

        let ie = key(2);
        let request = ie.public_key().to_bytes();
        let (responder, response) =
            Responder::respond(label!("test"), &key(3), &request, &mut random(4)).unwrap();
        let mut protocol = ephemerals(&request, &response[..32], &times(&ie, &response[..32]));
        let rs = protocol.open_vec(label!("rs"), &response[32..]).unwrap();
        protocol.mix(label!("ie-rs"), &times(&ie, &rs));
        let confirmation = protocol.seal_vec(label!("is"), &bytes);
        [
            claimed,
            responder.receive(&confirmation).map(|claimed| *claimed.peer()),
        ]
    };
    let public = *key(7).public_key();
    assert_eq!(sealed_instead(public.to_bytes()), [Ok(public); 2]);
    for bytes in [[0; 32], [0xff; 32], crate::order()] {
        assert_eq!(sealed_instead(bytes), [Err(Error::Verification); 2]);
    }
}

#[test]
fn domains_separate() {
    let (initiator, request) = Initiator::start(label!("one"), &key(1), &mut random(2));
    let (_, response) = Responder::respond(label!("two"), &key(3), &request, &mut random(4)).unwrap();
    assert_eq!(initiator.receive(&response).unwrap_err(), Error::Verification);
}

/// Ephemeral keys that depend on nothing else would be those of whoever can predict the generator, and the same in
/// every session if it repeats.
#[test]
fn a_generator_that_repeats_gives_other_ephemeral_keys() {
    let request = |own| Initiator::start(label!("test"), &key(own), &mut random(2)).1;
    let response = |own, request: &[u8]| {
        let responded = Responder::respond(label!("test"), &key(own), request, &mut random(2));
        <[u8; 32]>::try_from(&responded.unwrap().1[..32]).unwrap()
    };
    let other = Initiator::start_with_prologue(label!("test"), b"prologue", &key(1), &mut random(2)).1;
    let (one, two) = (request(1), request(3));
    let all = [
        one,
        two,
        other,
        response(1, &one),
        response(1, &two),
        response(3, &one),
    ];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    assert!(!distinct.contains(key(2).public_key().as_bytes()));
    assert_eq!((request(1), response(1, &one)), (one, all[3]));
}

/// What both sides know beforehand is part of the session, and none at all is the same as an empty one.
#[test]
fn prologues_separate() {
    let with = |ours: &[u8], theirs: &[u8]| {
        let (initiator, request) =
            Initiator::start_with_prologue(label!("test"), ours, &key(1), &mut random(2));
        let (responder, response) =
            Responder::respond_with_prologue(label!("test"), theirs, &key(3), &request, &mut random(4))?;
        let (initiated, confirmation) = initiator.receive(&response)?.accept();
        let responded = responder.receive(&confirmation)?.accept();
        assert_eq!(initiated.send, responded.recv);
        assert_eq!(initiated.recv, responded.send);
        Ok(initiated.send)
    };
    let [initiated, _] = run(nothing, nothing, nothing).unwrap();
    assert_eq!(with(b"", b""), Ok(initiated.send.clone()));
    let with_prologue = with(b"version 2", b"version 2").unwrap();
    assert_ne!(with_prologue, initiated.send);
    assert_ne!(with(b"version 3", b"version 3").unwrap(), with_prologue);
    // The known answers have none: this is the twin's first message.
    let own = key(1).to_bytes();
    let ephemeral = spec::handshake::initiator_ephemeral(b"test", b"version 2", own, &[2; 64]);
    let request = Initiator::start_with_prologue(label!("test"), b"version 2", &key(1), &mut random(2)).1;
    assert_eq!(request, spec::handshake::request(&ephemeral));
    let long = [b'p'; 1000];
    for (ours, theirs) in [
        (&b"a"[..], &b"b"[..]),
        (b"", b"a"),
        (b"a", b""),
        (b"a", b"a\0"),
        (&long, &long[1..]),
    ] {
        assert_eq!(with(ours, theirs), Err(Error::Verification));
    }
}

/// Whether a session accepts a message from a peer who got as far as this transcript.
fn hears(
    recv: &Protocol,
    mut transcript: Protocol,
    last: Option<[u8; 32]>,
    branch: usize,
) -> Result<(), Error> {
    if let Some(last) = last {
        transcript.mix(label!("is-re"), &last);
    }
    transcript.ratchet(label!("handshake"));
    let mut directions = transcript.fork(label!("sender"), ["responder", "initiator"]);
    let message = directions[branch].seal_vec(label!("message"), b"it is me");
    recv.clone().open_vec(label!("message"), &message).map(drop)
}

/// An initiator who claims someone else's key can bring the responder to open a session, but the responder accepts
/// none of its messages: it cannot compute the product of that key and the responder's ephemeral key.
#[test]
fn an_impersonated_initiator_is_refused() {
    let (victim, ie) = (key(1), key(2));
    let request = ie.public_key().to_bytes();
    let (responder, response) =
        Responder::respond(label!("test"), &key(3), &request, &mut random(4)).unwrap();
    let re = &response[..32];
    let mut protocol = ephemerals(&request, re, &times(&ie, re));
    let rs = protocol.open_vec(label!("rs"), &response[32..]).unwrap();
    protocol.mix(label!("ie-rs"), &times(&ie, &rs));
    let confirmation = protocol.seal_vec(label!("is"), victim.public_key().as_bytes());

    let claimed = responder.receive(&confirmation).unwrap();
    assert_eq!(claimed.peer(), victim.public_key(), "a claim");
    let recv = claimed.accept().recv;
    for guess in [None, Some([0; 32]), Some(times(&ie, re)), Some(times(&ie, &rs))] {
        assert_eq!(hears(&recv, protocol.clone(), guess, 1), Err(Error::Verification));
    }
    assert_eq!(hears(&recv, protocol, Some(times(&victim, re)), 1), Ok(()));
}

/// The same for a responder, who cannot compute the product of the key and the initiator's ephemeral key.
#[test]
fn an_impersonated_responder_is_refused() {
    let (victim, re) = (key(3), key(4));
    let (initiator, ie) = Initiator::start(label!("test"), &key(1), &mut random(2));
    let mut protocol = ephemerals(&ie, re.public_key().as_bytes(), &times(&re, &ie));
    let mut response = re.public_key().to_bytes().to_vec();
    response.extend(protocol.seal_vec(label!("rs"), victim.public_key().as_bytes()));

    let claimed = initiator.receive(&response).unwrap();
    assert_eq!(claimed.peer(), victim.public_key(), "a claim");
    let (session, confirmation) = claimed.accept();
    let heard = |product: Option<[u8; 32]>| {
        let mut protocol = protocol.clone();
        if let Some(product) = product {
            protocol.mix(label!("ie-rs"), &product);
        }
        let is = protocol.open_vec(label!("is"), &confirmation)?;
        hears(&session.recv, protocol, Some(times(&re, &is)), 0)
    };
    for guess in [None, Some([0; 32]), Some(times(&re, &ie))] {
        assert_eq!(heard(guess), Err(Error::Verification));
    }
    assert_eq!(heard(Some(times(&victim, &ie))), Ok(()));
}
