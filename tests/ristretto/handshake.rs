//! The handshake: known answers and bad input.

use veriplex::handshake::{CONFIRMATION_LEN, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder, Session};
use veriplex::keys::PrivateKey;
use veriplex::{Error, Label, Protocol, label};

use crate::common::{Recorded, array, bytes, cases, text, vectors};
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
        let mut rng = Recorded::new(bytes(case, "initiator_rand"));
        let (initiator, request) = Initiator::start(domain, &initiator_key, &mut rng);
        assert!(rng.is_used_up());
        assert_eq!(request, array(case, "request"));

        let mut rng = Recorded::new(bytes(case, "responder_rand"));
        let (responder, response) = Responder::respond(domain, &responder_key, &request, &mut rng).unwrap();
        assert!(rng.is_used_up());
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

/// Runs a handshake in which the response and the confirmation are replaced.
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
        // Another key may be made of it; then the response does not open.
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

/// The product of a key's scalar and an element, encoded.
fn times(key: &PrivateKey, element: &[u8]) -> [u8; 32] {
    use curve25519_dalek::{Scalar, ristretto::CompressedRistretto};
    let scalar = Scalar::from_canonical_bytes(key.to_bytes()).unwrap();
    let element = CompressedRistretto(element.try_into().unwrap())
        .decompress()
        .unwrap();
    (scalar * element).compress().to_bytes()
}

/// The transcript up to the shared secret of the ephemeral keys, as either side has it.
fn ephemerals(ie: &[u8], re: &[u8], shared: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(label!("test"));
    protocol.mix(label!("ie"), ie);
    protocol.mix(label!("re"), re);
    protocol.mix(label!("ie-re"), shared);
    protocol
}

/// Only a key may be sealed where the long-term key belongs. With the identity there, what follows would
/// not depend on it.
#[test]
fn no_key_is_no_peer() {
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

/// What a session's owner says to a message from one who reached this transcript.
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

/// Whoever claims another's key as an initiator gets as far as a session, and no further: the product of that key and
/// the responder's ephemeral one is missing.
#[test]
fn a_claimed_initiator_is_not_heard() {
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

/// The same for a responder, who misses the product of the key and the initiator's ephemeral one.
#[test]
fn a_claimed_responder_is_not_heard() {
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
