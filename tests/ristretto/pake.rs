//! Password-authenticated key exchange: known answers and bad input.

use veriplex::pake::{CONFIRMATION_LEN, Initiator, MESSAGE_LEN, Names, Unconfirmed, respond};
use veriplex::{Error, Label, label};

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
        for run in [initiator.finish(&response).unwrap(), protocol] {
            assert_eq!(run.without_confirmation().to_bytes(), array(case, "state"));
        }
    }
}

const NAMES: Names<'static> = Names {
    initiator: b"alice",
    responder: b"bob",
    session: b"1",
};

/// A run between two sides whose inputs may differ.
fn run(domains: [Label<'_>; 2], names: [Names<'_>; 2], passwords: [&[u8]; 2]) -> [Unconfirmed; 2] {
    let rng = |byte| Recorded::new([byte; 64]);
    let (initiator, request) = Initiator::start(domains[0], &names[0], passwords[0], &mut rng(1)).unwrap();
    let (protocol, response) = respond(domains[1], &names[1], passwords[1], &request, &mut rng(2)).unwrap();
    [initiator.finish(&response).unwrap(), protocol]
}

#[test]
fn any_disagreement_separates() {
    // Both protocols are the same, or else neither confirmation is accepted.
    let agree = |[a, b]: [Unconfirmed; 2]| {
        let [from_a, from_b] = [a.confirmation(), b.confirmation()];
        match [a.confirm(&from_b), b.confirm(&from_a)] {
            [Ok(a), Ok(b)] => a.send == b.recv && a.recv == b.send && a.send != a.recv,
            both => {
                assert!(
                    both.iter()
                        .all(|end| end.as_ref().err() == Some(&Error::Verification))
                );
                false
            }
        }
    };
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
fn any_other_confirmation_is_refused() {
    let both = || run([label!("test"); 2], [NAMES; 2], [b"secret"; 2]);
    let wrong = Err(Error::Verification);
    let [from_initiator, from_responder] = both().map(|side| side.confirmation());
    assert_ne!(from_initiator, from_responder);
    for (place, genuine) in [from_responder, from_initiator].into_iter().enumerate() {
        let confirm = |confirmation: &[u8]| {
            let mut sides = both().map(Some);
            sides[place].take().unwrap().confirm(confirmation).map(drop)
        };
        assert_eq!(confirm(&genuine), Ok(()));
        for bit in 0..8 * CONFIRMATION_LEN {
            let mut changed = genuine;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(confirm(&changed), wrong, "{bit}");
        }
        for len in (0..CONFIRMATION_LEN).chain([CONFIRMATION_LEN + 1]) {
            let mut cut = genuine.to_vec();
            cut.resize(len, 0);
            assert_eq!(confirm(&cut), wrong, "{len}");
        }
        // One's own, sent back.
        assert_eq!(confirm(&[from_initiator, from_responder][place]), wrong);
    }
    // The session goes on from the confirmations, not beside them.
    let [a, b] = both();
    let confirmed = b.confirm(&from_initiator).unwrap();
    assert!(![confirmed.send, confirmed.recv].contains(&a.without_confirmation()));
}

/// Without an identifier of the run, one run's messages would serve in another.
#[test]
fn a_session_is_required() {
    let names = Names {
        session: b"",
        ..NAMES
    };
    let rng = || Recorded::new([1; 64]);
    let started = Initiator::start(label!("test"), &names, b"secret", &mut rng());
    assert_eq!(started.err(), Some(Error::BufferLength));
    let (_, request) = Initiator::start(label!("test"), &NAMES, b"secret", &mut rng()).unwrap();
    let answered = respond(label!("test"), &names, b"secret", &request, &mut rng());
    assert_eq!(answered.err(), Some(Error::BufferLength));
}

#[test]
fn bad_messages_are_errors() {
    let start = || Initiator::start(label!("test"), &NAMES, b"secret", &mut Recorded::new([1; 64])).unwrap();
    let finish = |message: &[u8]| start().0.finish(message).map(|_| ());
    let answer = |message: &[u8]| {
        let mut rng = Recorded::new([2; 64]);
        respond(label!("test"), &NAMES, b"secret", message, &mut rng).map(|_| ())
    };
    let genuine = start().1;
    assert_eq!(answer(&genuine), Ok(()));
    for len in (0..100).filter(|len| *len != MESSAGE_LEN) {
        let mut message = genuine.to_vec();
        message.resize(len, 8);
        assert_eq!(finish(&message), Err(Error::Verification), "{len}");
        assert_eq!(answer(&message), Err(Error::Verification), "{len}");
    }
    // The identity; a non-canonical encoding; a negative one; one that is not on the curve.
    for message in [[0; 32], [0xff; 32], [1; 32]] {
        assert_eq!(finish(&message), Err(Error::Verification));
        assert_eq!(answer(&message), Err(Error::Verification));
    }
}

/// A broken generator that makes the scalar zero, so that the message would be the identity.
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
