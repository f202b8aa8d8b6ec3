//! The protocol keyed by a password: known answers and bad input.

use veriplex::pake::{Initiator, MESSAGE_LEN, Names, respond};
use veriplex::{Error, Label, Protocol, label};

use crate::common::{Recorded, array, bytes, cases, text, vectors};

#[test]
fn known_answers() {
    for case in cases(&vectors("pake")) {
        let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
        let [initiator, responder, session, password] =
            ["initiator", "responder", "session", "password"].map(|name| bytes(case, name));
        let names = Names {
            initiator: &initiator,
            responder: &responder,
            session: &session,
        };
        let mut rng = Recorded::new(bytes(case, "initiator_rand"));
        let (initiator, request) = Initiator::start(domain, &names, &password, &mut rng).unwrap();
        assert!(rng.is_used_up());
        assert_eq!(request, array(case, "initiator_message"));
        let mut rng = Recorded::new(bytes(case, "responder_rand"));
        let (protocol, response) = respond(domain, &names, &password, &request, &mut rng).unwrap();
        assert!(rng.is_used_up());
        assert_eq!(response, array(case, "responder_message"));
        assert_eq!(protocol.to_bytes(), array(case, "state"));
        assert_eq!(initiator.finish(&response).unwrap(), protocol);
    }
}

const NAMES: Names<'static> = Names {
    initiator: b"alice",
    responder: b"bob",
    session: b"1",
};

/// A run between two sides that need not agree.
fn run(domains: [Label<'_>; 2], names: [Names<'_>; 2], passwords: [&[u8]; 2]) -> [Protocol; 2] {
    let rng = |byte| Recorded::new([byte; 64]);
    let (initiator, request) = Initiator::start(domains[0], &names[0], passwords[0], &mut rng(1)).unwrap();
    let (protocol, response) = respond(domains[1], &names[1], passwords[1], &request, &mut rng(2)).unwrap();
    [initiator.finish(&response).unwrap(), protocol]
}

#[test]
fn any_disagreement_separates() {
    let agree = |[a, b]: [Protocol; 2]| a == b;
    let same = [label!("test"); 2];
    assert!(agree(run(same, [NAMES; 2], [b"secret"; 2])));
    assert!(!agree(run(same, [NAMES; 2], [b"secret", b"Secret"])));
    assert!(!agree(run(same, [NAMES; 2], [b"secret", b""])));
    assert!(!agree(run(
        [label!("one"), label!("two")],
        [NAMES; 2],
        [b"secret"; 2]
    )));
    for other in [
        Names {
            initiator: b"mallory",
            ..NAMES
        },
        Names {
            responder: b"mallory",
            ..NAMES
        },
        Names {
            session: b"2",
            ..NAMES
        },
        Names {
            initiator: b"alic",
            responder: b"ebob",
            ..NAMES
        },
    ] {
        assert!(!agree(run(same, [NAMES, other], [b"secret"; 2])), "{other:?}");
    }
}

#[test]
fn bad_messages_are_errors() {
    let start = || Initiator::start(label!("test"), &NAMES, b"secret", &mut Recorded::new([1; 64])).unwrap();
    let answer = |message: &[u8]| {
        let mut rng = Recorded::new([2; 64]);
        respond(label!("test"), &NAMES, b"secret", message, &mut rng).map(|_| ())
    };
    let genuine = start().1;
    assert_eq!(answer(&genuine), Ok(()));
    for len in (0..100).filter(|len| *len != MESSAGE_LEN) {
        let mut message = genuine.to_vec();
        message.resize(len, 8);
        assert_eq!(start().0.finish(&message), Err(Error::Verification), "{len}");
        assert_eq!(answer(&message), Err(Error::Verification), "{len}");
    }
    // The identity; not canonical; negative; not on the curve.
    for message in [[0; 32], [0xff; 32], [1; 32]] {
        assert_eq!(start().0.finish(&message), Err(Error::Verification));
        assert_eq!(answer(&message), Err(Error::Verification));
    }
}

/// A generator that is broken so that the scalar is zero: the message would be the identity.
#[test]
fn a_zero_scalar_is_refused() {
    let zero = || Recorded::new([0; 64]);
    let started = Initiator::start(label!("test"), &NAMES, b"secret", &mut zero());
    assert_eq!(started.map(drop).err(), Some(Error::InvalidKey));
    let (_, request) =
        Initiator::start(label!("test"), &NAMES, b"secret", &mut Recorded::new([1; 64])).unwrap();
    let answered = respond(label!("test"), &NAMES, b"secret", &request, &mut zero());
    assert_eq!(answered.map(drop).err(), Some(Error::InvalidKey));
}
