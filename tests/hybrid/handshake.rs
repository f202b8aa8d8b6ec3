//! The handshake: what each side refuses.

use veriplex::hybrid::{PrivateKey, PublicKey};
use veriplex::tunnel::{
    DATA_OVERHEAD, Initiator, MAX_RECORD_LEN, REQUEST_LEN, RESPONSE_LEN, Responder, Session,
};
use veriplex::{Error, Protocol, label};

use crate::common::{Recorded, fewer_cases, refusal};
use crate::{DOMAIN, key, rng, seal};

const WRONG: Error = Error::Verification;

/// Runs a handshake, with its messages changed on their way, up to the first record, which is `hello`.
fn run(
    change_request: impl FnOnce(&mut Vec<u8>),
    change_response: impl FnOnce(&mut Vec<u8>),
    change_record: impl FnOnce(&mut Vec<u8>),
) -> Result<[Session; 2], Error> {
    let (initiator, request) = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut rng(2))?;
    let mut request = request.to_vec();
    change_request(&mut request);
    let claimed = Responder::receive(DOMAIN, &key(3), &request)?;
    assert_eq!(claimed.peer(), key(1).public_key());
    let (responder, response) = claimed.accept(&mut rng(4))?;
    let mut response = response.to_vec();
    change_response(&mut response);
    let mut initiated = initiator.receive(&response)?;
    let mut record = seal(&mut initiated.sender, b"hello");
    change_record(&mut record);
    if let Some(header) = record.first_chunk() {
        let _ = responder.record_len(header);
    }
    let (responded, _) = responder.confirm(&mut record)?;
    Ok([initiated, responded])
}

fn nothing(_: &mut Vec<u8>) {}

#[test]
fn every_changed_byte_is_an_error() {
    assert!(run(nothing, nothing, nothing).is_ok());
    let step = if fewer_cases() { 7 } else { 1 };
    for at in (0..REQUEST_LEN).step_by(step) {
        let flip = |m: &mut Vec<u8>| m[at] ^= 1 << (at % 8);
        assert_eq!(
            run(flip, nothing, nothing).unwrap_err(),
            WRONG,
            "request, byte {at}"
        );
    }
    for at in (0..RESPONSE_LEN).step_by(step) {
        let flip = |m: &mut Vec<u8>| m[at] ^= 1 << (at % 8);
        assert_eq!(
            run(nothing, flip, nothing).unwrap_err(),
            WRONG,
            "response, byte {at}"
        );
    }
    for bit in 0..8 * (DATA_OVERHEAD + 5) {
        let flip = |m: &mut Vec<u8>| m[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            run(nothing, nothing, flip).unwrap_err(),
            WRONG,
            "record, bit {bit}"
        );
    }
}

#[test]
fn every_other_length_is_an_error() {
    for len in (0..100).chain([
        REQUEST_LEN - 1,
        REQUEST_LEN + 1,
        RESPONSE_LEN - 1,
        RESPONSE_LEN + 1,
        10_000,
    ]) {
        let resize = |m: &mut Vec<u8>| m.resize(len, 0);
        assert_eq!(
            run(resize, nothing, nothing).unwrap_err(),
            WRONG,
            "request of {len}"
        );
        assert_eq!(
            run(nothing, resize, nothing).unwrap_err(),
            WRONG,
            "response of {len}"
        );
        if len != DATA_OVERHEAD + 5 {
            assert_eq!(
                run(nothing, nothing, resize).unwrap_err(),
                refusal(&vec![0; len], DATA_OVERHEAD),
                "record of {len}"
            );
        }
    }
    assert_eq!(MAX_RECORD_LEN, 65555);
}

#[test]
fn domains_and_responders_separate() {
    let start = |peer: &PublicKey| Initiator::start(DOMAIN, &key(1), peer, &mut rng(2)).unwrap();
    let (_, request) = start(key(3).public_key());
    assert!(Responder::receive(DOMAIN, &key(3), &*request).is_ok());
    assert_eq!(
        Responder::receive(label!("other"), &key(3), &*request).unwrap_err(),
        WRONG
    );
    assert_eq!(Responder::receive(DOMAIN, &key(4), &*request).unwrap_err(), WRONG);
    // A responder with one half of the right key.
    let right = key(3).to_bytes();
    for range in [0..32, 32..96] {
        let mut half = key(4).to_bytes();
        half[range.clone()].copy_from_slice(&right[range]);
        let half = PrivateKey::from_bytes(&half).unwrap();
        assert_eq!(Responder::receive(DOMAIN, &half, &*request).unwrap_err(), WRONG);
    }
}

/// A copy of a request gives a response; without the ephemeral key nobody gets further, and the response to one request is
/// none to another.
#[test]
fn replayed_requests_give_nothing() {
    let (one, request) = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut rng(2)).unwrap();
    let respond = |seed| {
        Responder::receive(DOMAIN, &key(3), &*request)
            .unwrap()
            .accept(&mut rng(seed))
            .unwrap()
    };
    let ((first, response), (second, other_response)) = (respond(4), respond(5));
    assert_ne!(response, other_response);
    let record = seal(&mut one.receive(&*response).unwrap().sender, b"hello");
    assert!(first.confirm(&mut record.clone()).is_ok());
    // The recorded first record, with the recorded request, is nothing to another run.
    assert_eq!(second.confirm(&mut record.clone()).unwrap_err(), WRONG);
    let (two, _) = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut rng(6)).unwrap();
    assert_eq!(two.receive(&*response).unwrap_err(), WRONG);
}

#[test]
fn a_broken_generator_is_an_error() {
    let zeros = || Recorded::new([0; 512]);
    let started = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut zeros());
    assert_eq!(started.unwrap_err(), Error::InvalidKey);
    let (_, request) = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut rng(2)).unwrap();
    let claimed = Responder::receive(DOMAIN, &key(3), &*request).unwrap();
    assert_eq!(claimed.accept(&mut zeros()).unwrap_err(), Error::InvalidKey);
}

/// The element of an encoding times the scalar of a key.
fn times(key: &PrivateKey, element: &[u8]) -> [u8; 32] {
    veriplex_spec::hybrid::shared(&key.to_bytes(), element)
}

/// A request by someone who has not the private key of the public key that it names, but tries another product.
fn forged(named: &PublicKey, product: [u8; 32]) -> Vec<u8> {
    let (ie, rs) = (key(2), key(3));
    let rs = rs.public_key().as_bytes();
    let (ct, ss) = veriplex_spec::kem::encapsulate(&rs[32..], &[7; 32]);
    let mut p = Protocol::new(DOMAIN);
    p.mix(label!("rs"), rs);
    p.mix(label!("ie-ec"), &ie.public_key().as_bytes()[..32]);
    p.mix(label!("ie-rs"), &times(&ie, rs));
    p.mix(label!("rs-ct"), &ct);
    p.mix(label!("rs-ss"), &ss);
    let is = p.seal_vec(label!("is"), named.as_bytes());
    p.mix(label!("is-rs"), &product);
    let ie_kem = p.seal_vec(label!("ie-kem"), &ie.public_key().as_bytes()[32..]);
    [&ie.public_key().as_bytes()[..32], &ct, &is, &ie_kem].concat()
}

/// Nobody learns whether a key is allowed by naming it: the request is refused before the key is given out.
#[test]
fn a_claim_is_given_out_with_its_proof_only() {
    let (victim, rs) = (key(1), *key(3).public_key().as_bytes());
    for product in [[0; 32], times(&key(2), &rs), times(&key(5), &rs)] {
        let request = forged(victim.public_key(), product);
        assert_eq!(Responder::receive(DOMAIN, &key(3), &request).unwrap_err(), WRONG);
    }
    let request = forged(victim.public_key(), times(&victim, &rs));
    let claimed = Responder::receive(DOMAIN, &key(3), &request).unwrap();
    assert_eq!(claimed.peer(), victim.public_key());
}

/// Sealed where keys belong: what is none is refused, although its seal is right.
#[test]
fn what_is_no_key_is_no_peer() {
    let (rs, ie) = (*key(3).public_key().as_bytes(), key(2));
    let request = |element: &[u8], is: &[u8], product: [u8; 32], ie_kem: &[u8]| {
        let (ct, ss) = veriplex_spec::kem::encapsulate(&rs[32..], &[7; 32]);
        let ie_rs = if element == &ie.public_key().as_bytes()[..32] {
            times(&ie, &rs)
        } else {
            [0; 32]
        };
        let p = veriplex_spec::tunnel::start(b"test", &rs, element, &ie_rs, &ct, &ss);
        let sealed = veriplex_spec::tunnel::seal_initiator(p, is, &product, ie_kem).1;
        Responder::receive(DOMAIN, &key(3), &[element, &ct, &sealed].concat())
    };
    let (is, product) = (*key(1).public_key().as_bytes(), times(&key(1), &rs));
    let (element, ie_kem) = ie.public_key().as_bytes().split_at(32);
    assert!(request(element, &is, product, ie_kem).is_ok());
    let not_a_key = [&is[..32], &[0xff; 1184]].concat();
    let identity = [&[0; 32], &is[32..]].concat();
    for (element, is, product, ie_kem) in [
        (&[0; 32][..], &is[..], product, ie_kem),
        (element, &not_a_key, product, ie_kem),
        (element, &identity, [0; 32], ie_kem),
        (element, &is, product, &[0xff; 1184]),
        (element, &is, product, &ie_kem[..1183]),
    ] {
        assert_eq!(request(element, is, product, ie_kem).unwrap_err(), WRONG);
    }
}
