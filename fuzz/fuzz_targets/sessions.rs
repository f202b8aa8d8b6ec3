//! Handshake, PAKE and double ratchet over a network that changes, drops, repeats and reorders messages.

#![no_main]

use std::collections::VecDeque;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rand_core::SeedableRng;
use veriplex::handshake::{self, Session};
use veriplex::keys::PrivateKey;
use veriplex::ratchet::Ratchet;
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::{Key, Label, Protocol, label, pake};
use veriplex_fuzz::Change;

const DOMAIN: Label<'static> = label!("veriplex.fuzz");

#[derive(Arbitrary, Debug)]
enum Case {
    Handshake([Vec<Change>; 3]),
    Pake {
        passwords: [Vec<u8>; 2],
        changes: [Vec<Change>; 2],
    },
    Ratchet(Vec<Step>),
}

#[derive(Arbitrary, Debug)]
enum Step {
    Send {
        from: bool,
        message: Vec<u8>,
    },
    /// Receive the oldest message in transit.
    Receive {
        by: bool,
    },
    /// Receive some message in transit, possibly changed, and possibly leave it to arrive again.
    Disorder {
        by: bool,
        which: u8,
        changes: Vec<Change>,
        keep: bool,
    },
    Ratchet {
        by: bool,
    },
    Restore {
        of: bool,
    },
}

fuzz_target!(|case: Case| {
    let mut rng = Generator::from_seed([7; 32]);
    match case {
        Case::Handshake(changes) => handshake(&changes, &mut rng),
        Case::Pake { passwords, changes } => pake(&passwords, &changes, &mut rng),
        Case::Ratchet(steps) => ratchet(&steps, &mut rng),
    }
});

/// The message that arrives, and whether it is unchanged.
fn sent(message: &[u8], changes: &[Change]) -> (Vec<u8>, bool) {
    let mut received = message.to_vec();
    changes.iter().for_each(|change| change.apply(&mut received));
    let same = received == message;
    (received, same)
}

fn handshake(changes: &[Vec<Change>; 3], rng: &mut Generator) {
    let (alice, bob) = (PrivateKey::generate(rng), PrivateKey::generate(rng));
    let (initiator, request) = handshake::Initiator::start(DOMAIN, &alice, rng);
    let (request, same_request) = sent(&request, &changes[0]);
    let Ok((responder, response)) = handshake::Responder::respond(DOMAIN, &bob, &request, rng) else {
        return assert!(!same_request);
    };
    let (response, same_response) = sent(&response, &changes[1]);
    let claimed = initiator.receive(&response);
    assert_eq!(claimed.is_ok(), same_request && same_response);
    let Ok(claimed) = claimed else { return };
    assert_eq!(claimed.peer(), bob.public_key());
    let (Session { mut send, recv, .. }, confirmation) = claimed.accept();
    let (confirmation, same_confirmation) = sent(&confirmation, &changes[2]);
    let claimed = responder.receive(&confirmation);
    assert_eq!(claimed.is_ok(), same_confirmation);
    let Ok(claimed) = claimed else { return };
    let mut session = claimed.accept();
    assert_eq!(&session.peer, alice.public_key());
    assert_eq!(session.send, recv);
    let sealed = send.seal_vec(label!("message"), b"message");
    assert_eq!(
        session.recv.open_vec(label!("message"), &sealed).as_deref(),
        Ok(b"message".as_slice())
    );
}

fn pake(passwords: &[Vec<u8>; 2], changes: &[Vec<Change>; 2], rng: &mut Generator) {
    let names = pake::Names {
        initiator: b"alice",
        responder: b"bob",
        session: b"session",
    };
    let (initiator, message) = pake::Initiator::start(DOMAIN, &names, &passwords[0], rng).unwrap();
    let (message, same_message) = sent(&message, &changes[0]);
    let responded = pake::respond(DOMAIN, &names, &passwords[1], &message, rng);
    let Ok((bob, response)) = responded else {
        return assert!(!same_message);
    };
    let (response, same_response) = sent(&response, &changes[1]);
    let Ok(alice) = initiator.finish(&response) else {
        return assert!(!same_response);
    };
    let same_password = passwords[0] == passwords[1];
    let [from_alice, from_bob] = [alice.confirmation(), bob.confirmation()];
    let agree = same_message && same_response && same_password;
    match [alice.confirm(&from_bob), bob.confirm(&from_alice)] {
        [Ok(alice), Ok(bob)] => assert!(agree && alice.send == bob.recv && alice.recv == bob.send),
        both => assert!(!agree && both.iter().all(Result::is_err)),
    }
}

struct Side {
    ratchet: Ratchet,
    /// Messages to this side: sealed, plaintext, and whether it has already arrived.
    inbox: VecDeque<(Vec<u8>, Vec<u8>, bool)>,
    /// Whether the messages have arrived in order so far, with none missing.
    in_order: bool,
}

impl Side {
    fn new(ratchet: Ratchet) -> Self {
        Self {
            ratchet,
            inbox: VecDeque::new(),
            in_order: true,
        }
    }

    fn state(&self) -> Vec<u8> {
        self.ratchet.seal_state(DOMAIN, &Key::from([7; 32]), b"")
    }

    /// Opens a message, or else leaves the state unchanged.
    fn open(&mut self, message: &[u8], rng: &mut Generator) -> Option<Vec<u8>> {
        let before = self.state();
        let opened = self.ratchet.open_vec(message, rng).ok();
        assert!(opened.is_some() || self.state() == before);
        opened
    }
}

fn ratchet(steps: &[Step], rng: &mut Generator) {
    let (alice, bob) = (PrivateKey::generate(rng), PrivateKey::generate(rng));
    let (alices, bobs) = (*alice.public_key(), *bob.public_key());
    let mut base = Protocol::new(DOMAIN);
    base.mix(label!("key"), &[7; 32]);
    let mut sides = [
        Side::new(Ratchet::initiator(base.clone(), alice, bobs, rng).unwrap()),
        Side::new(Ratchet::responder(base, bob, alices)),
    ];
    for step in steps {
        match step {
            Step::Send { from, message } => {
                let sealed = sides[usize::from(*from)].ratchet.seal_vec(message).unwrap();
                sides[usize::from(!*from)]
                    .inbox
                    .push_back((sealed, message.clone(), false));
            }
            Step::Receive { by } => {
                let side = &mut sides[usize::from(*by)];
                let Some((sealed, message, arrived)) = side.inbox.pop_front() else {
                    continue;
                };
                let opened = side.open(&sealed, rng);
                assert!(opened.is_none() || opened == Some(message));
                assert!(opened.is_none() || !arrived, "opened twice");
                assert!(
                    opened.is_some() || !side.in_order,
                    "refused a message that arrived in order"
                );
            }
            Step::Disorder {
                by,
                which,
                changes,
                keep,
            } => {
                let side = &mut sides[usize::from(*by)];
                let Some(which) = usize::from(*which).checked_rem(side.inbox.len()) else {
                    continue;
                };
                side.in_order = false;
                let (genuine, message, arrived) = side.inbox[which].clone();
                let (received, same) = sent(&genuine, changes);
                if let Some(opened) = side.open(&received, rng) {
                    assert!(same && !arrived && opened == message);
                    side.inbox[which].2 = true;
                }
                if !keep {
                    side.inbox.remove(which);
                }
            }
            Step::Ratchet { by } => {
                let before = sides[usize::from(*by)].state();
                if sides[usize::from(*by)].ratchet.ratchet(rng).is_err() {
                    assert_eq!(sides[usize::from(*by)].state(), before);
                }
            }
            Step::Restore { of } => {
                let side = &mut sides[usize::from(*of)];
                let state = side.state();
                side.ratchet = Ratchet::open_state(DOMAIN, &Key::from([7; 32]), b"", &state).unwrap();
                assert_eq!(side.state(), state);
            }
        }
    }
}
