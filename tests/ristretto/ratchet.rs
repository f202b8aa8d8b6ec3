//! The double ratchet: known answers and bad input.

use proptest::prelude::*;
use veriplex::keys::PrivateKey;
use veriplex::ratchet::{HEADER_LEN, MAX_SKIPPED, MAX_STORED, MAX_UNANSWERED, OVERHEAD, Ratchet};
use veriplex::{Error, Label, Protocol, label};

use crate::common::{Recorded, array, bytes, cases, text, vectors};
use crate::key;

#[test]
fn known_answers() {
    // The file has its name from Newplex, and keeps it, so that `VERIPLEX_VECTORS` can name Newplex's own folder.
    for case in cases(&vectors("adratchet")) {
        let mut base = Protocol::new(Label::new(text(case, "domain").as_bytes()).unwrap());
        base.mix(label!("key"), &bytes(case, "key"));
        let key = |name| PrivateKey::from_bytes(&array(case, name)).unwrap();
        let (a, b) = (key("a_private"), key("b_private"));
        let (a_public, b_public) = (*a.public_key(), *b.public_key());
        let mut rng = random(&case["initiator_rand"]);
        let mut sides = [
            Ratchet::initiator(base.clone(), a, b_public, &mut rng).unwrap(),
            Ratchet::responder(base, b, a_public),
        ];
        assert!(rng.is_used_up());
        let side = |name| usize::from(name != "a");
        for step in cases(&case["steps"]) {
            let (plaintext, ciphertext) = (bytes(step, "plaintext"), bytes(step, "ciphertext"));
            match text(step, "step") {
                "send" => assert_eq!(
                    sides[side(text(step, "from"))].seal_vec(&plaintext),
                    Ok(ciphertext)
                ),
                "receive" => {
                    let mut rng = random(&step["rand"]);
                    let opened = sides[side(text(step, "by"))].open_vec(&ciphertext, &mut rng);
                    assert_eq!(opened, Ok(plaintext));
                    assert!(rng.is_used_up());
                }
                other => panic!("{other}"),
            }
            // What is restored goes on in the same way.
            for side in &mut sides {
                *side = restored(side);
            }
        }
    }
}

/// The generator that gives each of a list of recorded bytes.
fn random(list: &serde_json::Value) -> Recorded {
    let list = list.as_array().expect("a list");
    Recorded::new(
        list.iter()
            .flat_map(|bytes| hex::decode(bytes.as_str().unwrap()).unwrap()),
    )
}

fn state(ratchet: &Ratchet) -> Vec<u8> {
    ratchet.seal_state(label!("test.state"), b"key")
}

fn restored(ratchet: &Ratchet) -> Ratchet {
    let sealed = state(ratchet);
    let restored = Ratchet::open_state(label!("test.state"), b"key", &sealed).unwrap();
    assert_eq!(state(&restored), sealed);
    restored
}

/// A generator that never gives the same twice.
struct Counter(u64);

impl Counter {
    fn next(&mut self) -> Recorded {
        self.0 += 1;
        let mut protocol = Protocol::new(label!("test.rng"));
        protocol.mix(label!("counter"), &self.0.to_le_bytes());
        Recorded::new(protocol.derive_array::<64>(label!("bytes")))
    }
}

/// Two sides, both of which have sent and received.
fn conversation() -> ([Ratchet; 2], Counter) {
    let ([mut a, mut b], mut rng) = beginning();
    for _ in 0..2 {
        let message = a.seal_vec(b"ping").unwrap();
        b.open_vec(&message, &mut rng.next()).unwrap();
        let message = b.seal_vec(b"pong").unwrap();
        a.open_vec(&message, &mut rng.next()).unwrap();
    }
    ([a, b], rng)
}

fn beginning() -> ([Ratchet; 2], Counter) {
    let mut base = Protocol::new(label!("test"));
    base.mix(label!("key"), &[7; 32]);
    let [a, b] = [key(1), key(2)];
    let (a_public, b_public) = (*a.public_key(), *b.public_key());
    let mut rng = Counter(0);
    let a = Ratchet::initiator(base.clone(), a, b_public, &mut rng.next()).unwrap();
    ([a, Ratchet::responder(base, b, a_public)], rng)
}

/// Refused, and nothing changed.
#[track_caller]
fn refused(ratchet: &mut Ratchet, message: &[u8]) {
    let before = state(ratchet);
    // No randomness is asked for either.
    let opened = ratchet.open_vec(message, &mut Recorded::new([]));
    assert_eq!(opened, Err(Error::Verification));
    assert!(state(ratchet) == before, "the state changed");
}

/// In the original the state is changed before the tag is checked.
#[test]
fn a_forged_message_changes_nothing() {
    let ([mut a, mut b], mut rng) = conversation();
    let skipped = a.seal_vec(b"skipped").unwrap();
    let current = a.seal_vec(b"current").unwrap();
    b.open_vec(&current, &mut rng.next()).unwrap();
    let answer = b.seal_vec(b"answer").unwrap();
    a.open_vec(&answer, &mut rng.next()).unwrap();
    let late = [
        (skipped, "skipped"),
        (a.seal_vec(b"next").unwrap(), "next"),
        (a.seal_vec(b"after").unwrap(), "after"),
    ];
    for (message, plaintext) in late {
        for bit in 0..8 * message.len() {
            let mut forged = message.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            refused(&mut b, &forged);
        }
        for len in 0..message.len() {
            refused(&mut b, &message[..len]);
        }
        refused(&mut b, &[&message[..], &[0]].concat());
        assert_eq!(b.open_vec(&message, &mut rng.next()), Ok(plaintext.into()));
        // And not twice.
        refused(&mut b, &message);
    }
}

/// Headers that no peer sends: invalid keys, other people's keys, and numbers at every edge.
#[test]
fn headers_of_an_attacker_change_nothing() {
    let ([mut a, mut b], mut rng) = conversation();
    let genuine = a.seal_vec(b"message").unwrap();
    let numbers = [
        0,
        1,
        MAX_SKIPPED - 1,
        MAX_SKIPPED,
        MAX_SKIPPED + 1,
        u32::MAX - 1,
        u32::MAX,
    ];
    let current: [u8; 32] = genuine[..32].try_into().unwrap();
    for public in [[0; 32], [0xff; 32], key(99).public_key().to_bytes(), current] {
        for n in numbers {
            for prev_n in numbers {
                let mut forged = genuine.clone();
                forged[..32].copy_from_slice(&public);
                forged[32..36].copy_from_slice(&n.to_le_bytes());
                forged[36..HEADER_LEN].copy_from_slice(&prev_n.to_le_bytes());
                if forged != genuine {
                    refused(&mut b, &forged);
                }
            }
        }
    }
    assert_eq!(b.open_vec(&genuine, &mut rng.next()), Ok(b"message".into()));
}

#[test]
fn reflected_messages_are_refused() {
    let ([mut a, _], _) = conversation();
    let message = a.seal_vec(b"message").unwrap();
    refused(&mut a, &message);
}

/// In the original an attempt that fails deletes the key.
#[test]
fn a_failed_attempt_keeps_the_skipped_key() {
    let ([mut a, mut b], mut rng) = conversation();
    let late = a.seal_vec(b"late").unwrap();
    let message = a.seal_vec(b"message").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let mut forged = late.clone();
    *forged.last_mut().unwrap() ^= 1;
    for _ in 0..3 {
        refused(&mut b, &forged);
    }
    assert_eq!(b.open_vec(&late, &mut Recorded::new([])), Ok(b"late".into()));
}

#[test]
fn at_most_1000_messages_are_skipped() {
    let ([mut a, mut b], mut rng) = conversation();
    let mut messages: Vec<_> = (0..MAX_SKIPPED + 2).map(|_| a.seal_vec(b"").unwrap()).collect();
    let (beyond, last) = (messages.pop().unwrap(), messages.pop().unwrap());
    refused(&mut b, &beyond);
    assert!(b.open_vec(&last, &mut rng.next()).is_ok());
    assert!(b.open_vec(&beyond, &mut Recorded::new([])).is_ok());
    for message in messages {
        assert!(b.open_vec(&message, &mut Recorded::new([])).is_ok());
    }
}

/// The length of the chain before is a number of the sender's, too.
#[test]
fn at_most_1000_messages_of_the_chain_before_are_skipped() {
    for (count, opens) in [(MAX_SKIPPED + 1, true), (MAX_SKIPPED + 2, false)] {
        let ([mut a, mut b], mut rng) = conversation();
        let first = a.seal_vec(b"").unwrap();
        b.open_vec(&first, &mut rng.next()).unwrap();
        for _ in 1..count {
            let _ = a.seal_vec(b"").unwrap();
        }
        a.ratchet(&mut rng.next()).unwrap();
        let message = a.seal_vec(b"message").unwrap();
        if opens {
            assert!(b.open_vec(&message, &mut rng.next()).is_ok());
        } else {
            refused(&mut b, &message);
        }
    }
}

/// In the original skipped keys grow without bound.
#[test]
fn stored_keys_are_bounded_and_the_oldest_go() {
    let ([mut a, mut b], mut rng) = conversation();
    let mut lost = Vec::new();
    let mut largest = 0;
    for _ in 0..4 {
        lost.push(a.seal_vec(b"first of a chain").unwrap());
        for _ in 2..MAX_SKIPPED {
            let _ = a.seal_vec(b"").unwrap();
        }
        lost.push(a.seal_vec(b"last of a chain").unwrap());
        let message = a.seal_vec(b"message").unwrap();
        b.open_vec(&message, &mut rng.next()).unwrap();
        largest = largest.max(state(&b).len());
        a.ratchet(&mut rng.next()).unwrap();
    }
    assert!(
        largest < 1000 + MAX_STORED * (4 + Protocol::SERIALIZED_LEN),
        "{largest}"
    );
    for (number, message) in lost.iter().enumerate() {
        if number < 4 {
            refused(&mut b, message);
        } else {
            assert!(b.open_vec(message, &mut Recorded::new([])).is_ok(), "{number}");
        }
    }
}

#[test]
fn the_oldest_keys_of_a_chain_go() {
    let ([mut a, mut b], mut rng) = conversation();
    let mut lost = Vec::new();
    for _ in 0..=MAX_SKIPPED {
        lost.push(a.seal_vec(b"").unwrap());
        let message = a.seal_vec(b"").unwrap();
        b.open_vec(&message, &mut rng.next()).unwrap();
    }
    refused(&mut b, &lost[0]);
    assert!(b.open_vec(&lost[1], &mut Recorded::new([])).is_ok());
    assert!(b.open_vec(lost.last().unwrap(), &mut Recorded::new([])).is_ok());
}

/// In the original the peer cannot open what comes after a voluntary step.
#[test]
fn voluntary_steps_in_every_state() {
    for start in [beginning, conversation] {
        // How often each side steps before and after it sends, and whether its message arrives before the other steps.
        for bits in 0..1 << 6 {
            let ([mut a, mut b], mut rng) = start();
            let bit = |i: u32| bits >> i & 1;
            for _ in 0..2 {
                let mut sent = Vec::new();
                for (side, shift) in [(&mut a, 0), (&mut b, 3)] {
                    for _ in 0..bit(shift) * 2 {
                        side.ratchet(&mut rng.next()).unwrap();
                    }
                    sent.push(side.seal_vec(b"one").unwrap());
                    for _ in 0..bit(shift + 1) {
                        side.ratchet(&mut rng.next()).unwrap();
                    }
                    if bit(shift + 2) == 1 {
                        sent.push(side.seal_vec(b"two").unwrap());
                    }
                }
                let (from_a, from_b) = sent.split_at(1 + bit(2));
                for message in from_a {
                    assert!(b.open_vec(message, &mut rng.next()).is_ok(), "{bits:06b}");
                }
                for message in from_b {
                    assert!(a.open_vec(message, &mut rng.next()).is_ok(), "{bits:06b}");
                }
            }
        }
    }
}

#[test]
fn unanswered_chains_are_bounded() {
    let ([mut a, mut b], mut rng) = conversation();
    let mut messages = Vec::new();
    loop {
        messages.push(a.seal_vec(b"").unwrap());
        assert!(messages.len() <= MAX_UNANSWERED);
        if let Err(error) = a.ratchet(&mut rng.next()) {
            assert_eq!(error, Error::LimitReached);
            break;
        }
        // Not counted, because nothing was sent: that chain is replaced.
        a.ratchet(&mut rng.next()).unwrap();
    }
    assert_eq!(messages.len(), MAX_UNANSWERED);
    for message in messages {
        b.open_vec(&message, &mut rng.next()).unwrap();
    }
    // The other side still knows the first of these keys only.
    let answer = b.seal_vec(b"").unwrap();
    a.open_vec(&answer, &mut rng.next()).unwrap();
    a.ratchet(&mut rng.next()).unwrap();
}

#[test]
fn states_are_authenticated() {
    let ([mut a, mut b], mut rng) = conversation();
    let _ = a.seal_vec(b"").unwrap();
    let message = a.seal_vec(b"").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let sealed = state(&b);
    let open = |domain, key: &[u8], sealed: &[u8]| Ratchet::open_state(domain, key, sealed).map(drop);
    assert_eq!(open(label!("test.state"), b"key", &sealed), Ok(()));
    assert_eq!(
        open(label!("test.state"), b"kez", &sealed),
        Err(Error::Verification)
    );
    assert_eq!(
        open(label!("test.stats"), b"key", &sealed),
        Err(Error::Verification)
    );
    for i in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[i] ^= 1;
        assert_eq!(
            open(label!("test.state"), b"key", &changed),
            Err(Error::Verification)
        );
        assert_eq!(
            open(label!("test.state"), b"key", &sealed[..i]),
            Err(Error::Verification)
        );
    }
}

/// States under the right key that no version of this library writes.
#[test]
fn malformed_states_are_refused() {
    use veriplex::siv::Siv;
    let ([mut a, mut b], mut rng) = conversation();
    let _ = a.seal_vec(b"").unwrap();
    let message = a.seal_vec(b"").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let siv = Siv::new(label!("test.state"), b"key");
    let plain = siv.open_vec(b"", b"", &state(&b)).unwrap();
    let open = |plain: &[u8]| {
        let sealed = siv.seal_vec(b"", b"", plain);
        Ratchet::open_state(label!("test.state"), b"key", &sealed).map(drop)
    };
    assert_eq!(open(&plain), Ok(()));
    for len in 0..plain.len() {
        assert_eq!(open(&plain[..len]), Err(Error::InvalidState), "{len}");
    }
    assert_eq!(open(&[&plain[..], &[0]].concat()), Err(Error::InvalidState));
    // Version; rate index; current private key; how many older ones.
    for (at, byte) in [(0, 2), (1, 94), (139 + 31, 0xff), (139 + 32, 17)] {
        let mut changed = plain.clone();
        changed[at] = byte;
        assert_eq!(open(&changed), Err(Error::InvalidState), "{at}");
    }
    // As many older keys as there may be, and then one more to come, when something is sent.
    let fresh_at = 139 + 33 + 32 * usize::from(plain[139 + 32]);
    assert_eq!(plain[fresh_at], 1, "a chain that was not used yet");
    let mut full = plain.clone();
    full[139 + 32] = 16;
    let more = plain[139..139 + 32].repeat(16 - usize::from(plain[139 + 32]));
    full.splice(fresh_at..fresh_at, more);
    assert_eq!(open(&full), Err(Error::InvalidState));
}

#[test]
fn debug_shows_nothing() {
    let ([a, _], _) = beginning();
    assert_eq!(format!("{a:?}"), "Ratchet { .. }");
}

#[derive(Clone, Debug)]
enum Action {
    Seal(usize),
    Step(usize),
    /// To this side, the one of its messages that this number names; it stays, and may be delivered again.
    Deliver(usize, usize),
    Restore(usize),
}

fn action() -> impl Strategy<Value = Action> {
    let side = 0..2_usize;
    prop_oneof![
        4 => side.clone().prop_map(Action::Seal),
        1 => side.clone().prop_map(Action::Step),
        6 => (side.clone(), any::<usize>()).prop_map(|(side, number)| Action::Deliver(side, number)),
        1 => side.prop_map(Action::Restore),
    ]
}

proptest! {
    /// Any order, loss and repetition, with voluntary steps: a message opens once, unless all of the chain before its
    /// own is missing; otherwise nothing changes.
    #[test]
    fn random_conversations(actions in prop::collection::vec(action(), 1..200)) {
        let (mut sides, mut rng) = beginning();
        // Each message with the number of its chain and its number there. The responder has a chain 0 from the start.
        let mut sent: [Vec<([usize; 2], Vec<u8>)>; 2] = Default::default();
        let mut opened: [Vec<[usize; 2]>; 2] = Default::default();
        let mut publics = [1, 2].map(|number| vec![key(number).public_key().to_bytes()]);
        for action in actions {
            match action {
                Action::Seal(side) => {
                    let message = sides[side].seal_vec(b"message").unwrap();
                    prop_assert_eq!(message.len(), b"message".len() + OVERHEAD);
                    let public: [u8; 32] = message[..32].try_into().unwrap();
                    if *publics[side].last().unwrap() != public {
                        publics[side].push(public);
                    }
                    let chain = publics[side].len() - 1;
                    let length = |chain| sent[side].iter().filter(|(place, _)| place[0] == chain).count();
                    let number = |at: usize| u32::from_le_bytes(message[at..at + 4].try_into().unwrap()) as usize;
                    let n = number(32);
                    prop_assert_eq!(n, length(chain));
                    prop_assert_eq!(number(HEADER_LEN - 4), chain.checked_sub(1).map_or(0, length));
                    sent[side].push(([chain, n], message));
                }
                Action::Step(side) => {
                    let result = sides[side].ratchet(&mut rng.next());
                    prop_assert!(matches!(result, Ok(()) | Err(Error::LimitReached)));
                }
                Action::Deliver(side, number) => {
                    let messages = &sent[1 - side];
                    if messages.is_empty() {
                        continue;
                    }
                    let (place, message) = &messages[number % messages.len()];
                    let reached = opened[side].iter().map(|place| place[0]).max().unwrap_or(0);
                    if opened[side].contains(place) || place[0] > reached + 1 {
                        refused(&mut sides[side], message);
                    } else {
                        let plaintext = sides[side].open_vec(message, &mut rng.next());
                        prop_assert_eq!(plaintext, Ok(b"message".into()));
                        opened[side].push(*place);
                    }
                }
                Action::Restore(side) => sides[side] = restored(&sides[side]),
            }
        }
    }
}
