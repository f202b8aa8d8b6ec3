//! The double ratchet: known answers and bad input.

use proptest::prelude::*;
use veriplex::handshake::{Initiator, Responder};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::pake::{self, Names};
use veriplex::ratchet::{
    FIRST_KEY_LEN, HEADER_LEN, MAX_SKIPPED, MAX_STORED, MAX_UNANSWERED, OVERHEAD, Pending, Ratchet,
};
use veriplex::{Error, Label, Protocol, label};
use veriplex_spec as spec;

const STATE_KEY: [u8; 32] = [7; 32];

use crate::common::{Recorded, array, bytes, cases, refusal, text, vectors};
use crate::key;

#[test]
fn known_answers() {
    // The file keeps Newplex's name for it, so that `VERIPLEX_VECTORS` can name Newplex's own folder.
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
            // A restored ratchet continues in the same way.
            for side in &mut sides {
                *side = restored(side);
            }
        }
    }
}

/// The known answers have no number of two bytes. The header is the sender's key, the message's number and the length of
/// the chain before, and the receiver reads them as they are written.
#[test]
fn headers_hold_numbers_of_more_than_a_byte() {
    let ([mut a, mut b], mut rng) = beginning();
    let first: Vec<_> = (0..0x0102).map(|_| a.seal_vec(b"").unwrap()).collect();
    a.ratchet(&mut rng.next()).unwrap();
    let second: Vec<_> = (0..0x0203).map(|_| a.seal_vec(b"last").unwrap()).collect();
    let numbers = |message: &[u8]| message[32..HEADER_LEN].to_vec();
    assert_eq!(numbers(&first[0x0101]), [1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(numbers(&second[0x0202]), [2, 2, 0, 0, 2, 1, 0, 0]);
    let keys = [&first[0x0101], &second[0x0202]].map(|message| &message[..32]);
    assert_ne!(keys[0], keys[1]);

    assert_eq!(b.open_vec(&first[0], &mut rng.next()), Ok(b"".into()));
    assert_eq!(b.missing(&first[0x0101]), Ok(0x0100));
    assert_eq!(b.missing(&second[0]), Ok(0x0101));
    assert_eq!(b.missing(&second[0x0202]), Ok(0x0202));
    let opened = b.open_vec(&second[0x0202], &mut rng.next());
    assert_eq!(opened, Ok(b"last".into()));
    for message in &first[1..] {
        assert_eq!(b.open_vec(message, &mut Recorded::new([])), Ok(b"".into()));
    }
    for message in &second[..0x0202] {
        assert_eq!(b.open_vec(message, &mut Recorded::new([])), Ok(b"last".into()));
    }
}

/// A generator that yields the byte strings of a list in turn.
fn random(list: &serde_json::Value) -> Recorded {
    let list = list.as_array().expect("a list");
    Recorded::new(
        list.iter()
            .flat_map(|bytes| hex::decode(bytes.as_str().unwrap()).unwrap()),
    )
}

fn state(ratchet: &Ratchet) -> Vec<u8> {
    ratchet.seal_state(label!("test.state"), &STATE_KEY.into(), b"ad")
}

fn restored(ratchet: &Ratchet) -> Ratchet {
    let sealed = state(ratchet);
    let restored = Ratchet::open_state(label!("test.state"), &STATE_KEY.into(), b"ad", &sealed).unwrap();
    assert_eq!(state(&restored), sealed);
    restored
}

/// A source of generators, none of which yields the same bytes as another.
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

/// Checks that the message is refused, and that the state does not change.
#[track_caller]
fn refused(ratchet: &mut Ratchet, message: &[u8]) {
    let before = state(ratchet);
    // It needs no randomness either.
    let opened = ratchet.open_vec(message, &mut Recorded::new([]));
    assert_eq!(opened, Err(refusal(message, OVERHEAD)));
    assert!(state(ratchet) == before, "the state changed");
}

/// In the original, the state changes before the tag is checked.
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
        // But it does not open twice.
        refused(&mut b, &message);
    }
}

/// Headers that no peer sends: invalid keys, other people's keys, and numbers at every limit.
#[test]
fn forged_headers_change_nothing() {
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

/// In the original, a failed attempt deletes the key.
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

/// The sender also chooses the length of the previous chain.
#[test]
fn at_most_1000_messages_of_the_previous_chain_are_skipped() {
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

/// Neither the next messages nor those after a voluntary step can be opened, until one is with a higher limit.
#[test]
fn a_direction_survives_any_number_of_lost_messages() {
    const LOST: u32 = 3 * MAX_SKIPPED;
    for steps in 0..3 {
        let ([mut a, mut b], mut rng) = conversation();
        let first = a.seal_vec(b"").unwrap();
        b.open_vec(&first, &mut rng.next()).unwrap();
        let lost: Vec<_> = (0..LOST).map(|_| a.seal_vec(b"late").unwrap()).collect();
        for _ in 0..steps {
            a.ratchet(&mut rng.next()).unwrap();
        }
        let message = a.seal_vec(b"message").unwrap();
        assert_eq!(b.missing(&message), Ok(LOST));
        refused(&mut b, &message);
        let skip = |b: &mut Ratchet, message: &[u8], limit, rng: &mut Counter| {
            let before = state(b);
            let opened = b.open_vec_skipping(message, limit, &mut rng.next());
            assert!(opened.is_ok() || state(b) == before, "the state changed");
            opened
        };
        assert_eq!(
            skip(&mut b, &message, LOST - 1, &mut rng),
            Err(Error::Verification)
        );
        let mut forged = message.clone();
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(skip(&mut b, &forged, LOST, &mut rng), Err(Error::Verification));
        assert_eq!(skip(&mut b, &message, LOST, &mut rng), Ok(b"message".into()));

        // What was passed before the last 1000 is given up; those are kept, and the usual limit does again.
        let mut b = restored(&b);
        let kept = (LOST - MAX_SKIPPED) as usize;
        refused(&mut b, &lost[kept - 1]);
        for late in [&lost[kept], lost.last().unwrap()] {
            assert_eq!(b.missing(late), Ok(0));
            assert_eq!(b.open_vec(late, &mut Recorded::new([])), Ok(b"late".into()));
        }
        for _ in 0..2 {
            let next = a.seal_vec(b"next").unwrap();
            assert_eq!(b.missing(&next), Ok(0));
            assert_eq!(b.open_vec(&next, &mut rng.next()), Ok(b"next".into()));
            let answer = b.seal_vec(b"answer").unwrap();
            assert_eq!(a.open_vec(&answer, &mut rng.next()), Ok(b"answer".into()));
        }
        assert_eq!(b.missing(&message[..OVERHEAD - 1]), Err(Error::TooShort));
    }
}

/// A peer that holds the shared secret and sends what it likes: any keys, any numbers.
struct Adversary {
    chain: Protocol,
    to: PublicKey,
}

impl Adversary {
    /// The initiator of `beginning`, before its first step.
    fn new() -> Self {
        let mut base = Protocol::new(label!("test"));
        base.mix(label!("key"), &[7; 32]);
        let [chain, _] = base.fork(label!("role"), ["initiator", "responder"]);
        let to = *key(2).public_key();
        Self { chain, to }
    }

    /// Begins a chain under the key of this number, from another chain at its end.
    fn begin(&mut self, number: u8) {
        use curve25519_dalek::{Scalar, ristretto::CompressedRistretto};
        let scalar = Scalar::from_canonical_bytes(key(number).to_bytes()).unwrap();
        let element = CompressedRistretto(self.to.to_bytes()).decompress().unwrap();
        let shared = (scalar * element).compress().to_bytes();
        self.chain.mix(label!("dh"), &shared);
    }

    /// Messages number `from` to `to` of the chain, of which only the last is sealed.
    fn seal(&mut self, number: u8, n: std::ops::RangeInclusive<u32>, prev_n: u32) -> Vec<u8> {
        let end = *n.end();
        let mut message = Vec::new();
        for n in n {
            self.chain.mix(label!("n"), &n.to_le_bytes());
            let mut key_of_n = self.chain.clone();
            self.chain.ratchet(label!("step"));
            if n == end {
                message.extend(key(number).public_key().as_bytes());
                message.extend([n.to_le_bytes(), prev_n.to_le_bytes()].concat());
                key_of_n.mix(label!("header"), &message);
                message.extend(key_of_n.seal_vec(label!("message"), b"message"));
            }
        }
        message
    }
}

/// Keys A, B, A of a peer: what was missing of the first chain and of the third would be kept under one key, in no
/// order, and the state could not be restored.
#[test]
fn a_key_that_was_used_before_is_refused() {
    let ([_, mut b], mut rng) = beginning();
    let mut peer = Adversary::new();
    peer.begin(11);
    let late = peer.chain.clone();
    let first = peer.seal(11, 0..=5, 0);
    assert_eq!(b.open_vec(&first, &mut rng.next()), Ok(b"message".into()));
    peer.begin(12);
    let second = peer.seal(12, 0..=2, 6);
    assert_eq!(b.open_vec(&second, &mut rng.next()), Ok(b"message".into()));
    let before = peer.chain.clone();
    peer.begin(11);
    // Beyond the numbers whose keys are kept, and at one of them.
    for n in [9, 3] {
        let third = Adversary {
            chain: peer.chain.clone(),
            ..peer
        }
        .seal(11, 0..=n, 3);
        refused(&mut b, &third);
    }
    b = restored(&b);

    // What was missing still comes; then nothing is kept, and nothing can be confused.
    let missing = |n| {
        Adversary {
            chain: late.clone(),
            to: peer.to,
        }
        .seal(11, 0..=n, 0)
    };
    for n in 0..5 {
        assert_eq!(
            b.open_vec(&missing(n), &mut Recorded::new([])),
            Ok(b"message".into())
        );
    }
    peer.chain = before;
    peer.begin(11);
    let third = peer.seal(11, 0..=3, 3);
    assert_eq!(b.open_vec(&third, &mut rng.next()), Ok(b"message".into()));
    restored(&b);
}

/// A chain of as many messages as one can have, 2^32 - 1, is followed by another.
#[test]
fn a_chain_follows_the_longest_one() {
    use veriplex::siv::Siv;

    let ([_, mut b], mut rng) = beginning();
    let mut peer = Adversary::new();
    peer.begin(3);
    b.open_vec(&peer.seal(3, 0..=0, 0), &mut rng.next()).unwrap();
    // The number of the next message, the peer's key, and no missing ones.
    let siv = Siv::new(label!("test.state"), &STATE_KEY.into());
    let mut plain = siv.open_vec(b"", b"ad", &state(&b)).unwrap();
    let at = plain.len() - (4 + 32 + 2);
    let (number, _) = plain[at..].split_first_chunk_mut().unwrap();
    assert_eq!(std::mem::replace(number, [0xff; 4]), [1, 0, 0, 0]);
    let sealed = siv.seal_vec(b"", b"ad", &plain);
    let mut b = Ratchet::open_state(label!("test.state"), &STATE_KEY.into(), b"ad", &sealed).unwrap();

    peer.begin(4);
    let message = peer.seal(4, 0..=0, u32::MAX);
    assert_eq!(b.missing(&message), Ok(0));
    assert_eq!(b.open_vec(&message, &mut rng.next()).unwrap(), b"message");
}

#[test]
fn old_keys_can_be_forgotten() {
    let ([mut a, mut b], mut rng) = conversation();
    let late: Vec<_> = (0..3)
        .map(|_| {
            let late = a.seal_vec(b"late").unwrap();
            let message = a.seal_vec(b"message").unwrap();
            b.open_vec(&message, &mut rng.next()).unwrap();
            a.ratchet(&mut rng.next()).unwrap();
            late
        })
        .collect();
    b.forget_missing(3);
    assert_eq!(b.open_vec(&late[0], &mut Recorded::new([])), Ok(b"late".into()));
    b.forget_missing(1);
    refused(&mut b, &late[1]);
    let mut b = restored(&b);
    assert_eq!(b.open_vec(&late[2], &mut Recorded::new([])), Ok(b"late".into()));
    let _ = a.seal_vec(b"lost").unwrap();
    let message = a.seal_vec(b"message").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let with_keys = state(&b).len();
    b.forget_missing(0);
    assert!(state(&b).len() < with_keys);
    restored(&b);
}

/// The message is verified before anything large comes, and both sides have one protocol for that.
#[test]
fn protocols_for_large_messages() {
    let ([mut a, mut b], mut rng) = conversation();
    let late = a.setup_sender().unwrap();
    let [now, other] = [(); 2].map(|()| a.setup_sender().unwrap());
    for (message, sender) in [now, late] {
        assert_eq!(message.len(), OVERHEAD);
        for bit in 0..8 * OVERHEAD {
            let mut forged = message;
            forged[bit / 8] ^= 1 << (bit % 8);
            let before = state(&b);
            let opened = b.setup_receiver(&forged, MAX_SKIPPED, &mut Recorded::new([]));
            assert_eq!(opened, Err(Error::Verification));
            assert!(state(&b) == before, "the state changed");
        }
        for len in (0..OVERHEAD).chain([OVERHEAD + 1]) {
            let mut cut = message.to_vec();
            cut.resize(len, 0);
            let opened = b.setup_receiver(&cut, MAX_SKIPPED, &mut Recorded::new([]));
            assert_eq!(opened, Err(refusal(&cut, OVERHEAD)), "{len}");
        }
        assert_eq!(
            b.setup_receiver(&message, MAX_SKIPPED, &mut rng.next()),
            Ok(sender)
        );
        refused(&mut b, &message);
    }
    // It is the message of an empty plaintext, and its number is used up.
    assert_eq!(b.open_vec(&other.0, &mut rng.next()), Ok(vec![]));
    let message = a.seal_vec(b"message").unwrap();
    let opened = b.setup_receiver(&message, MAX_SKIPPED, &mut Recorded::new([]));
    assert_eq!(opened, Err(Error::Verification));
    assert_eq!(b.open_vec(&message, &mut rng.next()), Ok(b"message".into()));
}

/// In the original, the number of skipped keys is unbounded.
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
    // As many as there can be.
    let mut b = restored(&b);
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

/// In the original, the peer cannot open the messages after a voluntary step.
#[test]
fn voluntary_steps_in_every_state() {
    for start in [beginning, conversation] {
        // For each side: whether it steps twice before it sends, whether it steps after that, and whether it then sends
        // a second message.
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
        // This step does not count: nothing was sent on the last chain, so it is replaced.
        a.ratchet(&mut rng.next()).unwrap();
    }
    assert_eq!(messages.len(), MAX_UNANSWERED);
    let mut a = restored(&a);
    for message in messages {
        b.open_vec(&message, &mut rng.next()).unwrap();
    }
    // The peer's answer makes room for another chain.
    let answer = b.seal_vec(b"").unwrap();
    a.open_vec(&answer, &mut rng.next()).unwrap();
    a.ratchet(&mut rng.next()).unwrap();
}

/// So many chains of ours, of which the peer answers the newest: we step. If the peer stepped before it received any of
/// them, our chain goes on: it may be lost.
#[test]
fn only_an_answer_to_our_newest_key_is_followed_by_a_step() {
    for count in 1..=MAX_UNANSWERED {
        for late in [false, true] {
            let ([mut a, mut b], mut rng) = conversation();
            let mut messages = vec![a.seal_vec(b"").unwrap()];
            for _ in 1..count {
                a.ratchet(&mut rng.next()).unwrap();
                messages.push(a.seal_vec(b"").unwrap());
            }
            if late {
                b.ratchet(&mut rng.next()).unwrap();
            } else {
                for message in &messages {
                    b.open_vec(message, &mut rng.next()).unwrap();
                }
            }
            let answer = b.seal_vec(b"answer").unwrap();
            assert_eq!(a.open_vec(&answer, &mut rng.next()), Ok(b"answer".into()));
            let mut a = restored(&a);
            let next = a.seal_vec(b"next").unwrap();
            let same_chain = next[..32] == messages[count - 1][..32];
            assert_eq!(same_chain, late, "{count}");
            if late {
                for message in &messages {
                    b.open_vec(message, &mut rng.next()).unwrap();
                }
            }
            assert_eq!(
                b.open_vec(&next, &mut rng.next()),
                Ok(b"next".into()),
                "{count}, {late}"
            );
            restored(&a);
        }
    }
}

#[test]
fn states_are_authenticated() {
    let ([mut a, mut b], mut rng) = conversation();
    let _ = a.seal_vec(b"").unwrap();
    let message = a.seal_vec(b"").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let sealed = state(&b);
    let open = |domain, key: [u8; 32], sealed: &[u8]| {
        Ratchet::open_state(domain, &key.into(), b"ad", sealed).map(drop)
    };
    assert_eq!(open(label!("test.state"), STATE_KEY, &sealed), Ok(()));
    assert_eq!(
        open(label!("test.state"), [8; 32], &sealed),
        Err(Error::Verification)
    );
    assert_eq!(
        open(label!("test.stats"), STATE_KEY, &sealed),
        Err(Error::Verification)
    );
    let other = Ratchet::open_state(label!("test.state"), &STATE_KEY.into(), b"AD", &sealed).map(drop);
    assert_eq!(other, Err(Error::Verification));
    for i in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[i] ^= 1;
        assert_eq!(
            open(label!("test.state"), STATE_KEY, &changed),
            Err(Error::Verification)
        );
        assert_eq!(
            open(label!("test.state"), STATE_KEY, &sealed[..i]),
            Err(refusal(&sealed[..i], 16))
        );
    }
}

/// States sealed under the right key, but with contents that no version of this library writes.
#[test]
fn malformed_states_are_refused() {
    use veriplex::siv::Siv;
    let ([mut a, mut b], mut rng) = conversation();
    let _ = a.seal_vec(b"").unwrap();
    let message = a.seal_vec(b"").unwrap();
    b.open_vec(&message, &mut rng.next()).unwrap();
    let siv = Siv::new(label!("test.state"), &STATE_KEY.into());
    let plain = siv.open_vec(b"", b"ad", &state(&b)).unwrap();
    let open = |plain: &[u8]| {
        let sealed = siv.seal_vec(b"", b"ad", plain);
        Ratchet::open_state(label!("test.state"), &STATE_KEY.into(), b"ad", &sealed).map(drop)
    };
    assert_eq!(open(&plain), Ok(()));
    for len in 0..plain.len() {
        assert_eq!(open(&plain[..len]), Err(Error::InvalidState), "{len}");
    }
    assert_eq!(open(&[&plain[..], &[0]].concat()), Err(Error::InvalidState));
    // Version; rate index; current private key; number of older keys.
    for (at, byte) in [(0, 2), (1, 94), (139 + 31, 0xff), (139 + 32, 17)] {
        let mut changed = plain.clone();
        changed[at] = byte;
        assert_eq!(open(&changed), Err(Error::InvalidState), "{at}");
    }
    // The maximum number of older keys, while the next message would add one more.
    let fresh_at = 139 + 33 + 32 * usize::from(plain[139 + 32]);
    assert_eq!(plain[fresh_at], 1, "the chain must be unused");
    let mut full = plain.clone();
    full[139 + 32] = 16;
    let more = plain[139..139 + 32].repeat(16 - usize::from(plain[139 + 32]));
    full.splice(fresh_at..fresh_at, more);
    assert_eq!(open(&full), Err(Error::InvalidState));
    // A chain twice: its keys would not be in order, so that what is stored next is refused.
    let chain_at = plain.len() - (32 + 2 + 4 + Protocol::SERIALIZED_LEN);
    let mut twice = [&plain[..], &plain[chain_at..]].concat();
    assert_eq!(twice[chain_at - 2..chain_at], [1, 0]);
    twice[chain_at - 2] = 2;
    assert_eq!(open(&twice), Err(Error::InvalidState));
    // A key of the present chain that is still to come, for the same reason. (It has received up to number 1.)
    let mut ahead = plain.clone();
    ahead[chain_at + 34] = 1;
    assert_eq!(open(&ahead), Ok(()));
    ahead[chain_at + 34] = 2;
    assert_eq!(open(&ahead), Err(Error::InvalidState));

    // Chains with the numbers of their keys. The present one first, then others.
    let with_chains = |chains: &[Vec<u32>]| {
        let mut state = plain[..chain_at - 2].to_vec();
        state.extend(u16::try_from(chains.len()).unwrap().to_le_bytes());
        for (i, numbers) in (0..).zip(chains) {
            let mut public: [u8; 32] = plain[chain_at..chain_at + 32].try_into().unwrap();
            public[0] ^= i;
            state.extend(public);
            state.extend(u16::try_from(numbers.len()).unwrap().to_le_bytes());
            for n in numbers {
                state.extend(n.to_le_bytes());
                state.extend(&plain[chain_at + 38..]);
            }
        }
        open(&state)
    };
    let invalid = Err(Error::InvalidState);
    assert_eq!(with_chains(&[vec![0, 1]]), Ok(()));
    assert_eq!(with_chains(&[vec![0, 2]]), invalid);
    assert_eq!(with_chains(&[vec![0, 0]]), invalid);
    assert_eq!(with_chains(&[vec![1, 0]]), invalid);
    assert_eq!(with_chains(&[vec![]]), invalid);
    // More of a chain, and more in all, than are kept.
    let keys = |count| (0..count).collect::<Vec<u32>>();
    let (most, half) = (keys(MAX_SKIPPED), keys(MAX_SKIPPED / 2));
    assert_eq!(with_chains(&[vec![0], keys(MAX_SKIPPED + 1)]), invalid);
    assert_eq!(
        with_chains(&[vec![0], keys(MAX_SKIPPED - 1), most.clone()]),
        Ok(())
    );
    assert_eq!(with_chains(&[vec![0], most.clone(), most.clone()]), invalid);
    assert_eq!(with_chains(&[vec![0], most, half.clone(), half]), invalid);
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
    /// Deliver to this side the message with this number. The message stays, and may be delivered again.
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
    /// Any order, loss and repetition, with voluntary steps. A message opens once, provided its chain is at most one
    /// after the latest chain of which a message has opened. Otherwise it is refused and nothing changes.
    #[test]
    fn random_conversations(actions in prop::collection::vec(action(), 1..200)) {
        let (mut sides, mut rng) = beginning();
        // Each message with the numbers of its chain and of its place there. The responder's chain 0 exists from the
        // start.
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

proptest! {
    /// Any loss and order, with voluntary steps only from chains of which the peer has opened something: whatever arrives
    /// opens, and both sides go on stepping.
    #[test]
    fn whatever_is_lost_the_rest_opens(actions in prop::collection::vec(action(), 1..200), from_session: bool) {
        let (mut sides, mut rng) = if from_session { session() } else { beginning() };
        let mut chains = [0, 1].map(|_| Vec::<[u8; 32]>::new());
        let mut sent: [Vec<(usize, Vec<u8>)>; 2] = Default::default();
        // The newest chain of the peer that is known.
        let mut reached = [None; 2];
        let mut steps = false;
        for action in actions {
            match action {
                Action::Seal(side) => {
                    let message = sides[side].seal_vec(b"message").unwrap();
                    let public: [u8; 32] = message[..32].try_into().unwrap();
                    if chains[side].last() != Some(&public) {
                        chains[side].push(public);
                    }
                    sent[side].push((chains[side].len() - 1, message));
                }
                Action::Step(side) if chains[side].is_empty() || reached[1 - side] == Some(chains[side].len() - 1) => {
                    steps = true;
                    let result = sides[side].ratchet(&mut rng.next());
                    prop_assert!(matches!(result, Ok(()) | Err(Error::LimitReached)));
                }
                Action::Deliver(side, number) if !sent[1 - side].is_empty() => {
                    let number = number % sent[1 - side].len();
                    let (chain, message) = sent[1 - side].remove(number);
                    let opened = sides[side].open_vec(&message, &mut rng.next());
                    prop_assert_eq!(opened, Ok(b"message".into()));
                    reached[side] = reached[side].max(Some(chain));
                }
                Action::Restore(side) => sides[side] = restored(&sides[side]),
                Action::Step(_) | Action::Deliver(..) => {}
            }
        }
        let mut pass = |from: usize, sides: &mut [Ratchet; 2]| {
            let message = sides[from].seal_vec(b"message").unwrap();
            let opened = sides[1 - from].open_vec(&message, &mut rng.next());
            assert_eq!(opened, Ok(b"message".into()));
            message[..32].to_vec()
        };
        let mut last = [1, 0].map(|from| pass(from, &mut sides));
        last.reverse();
        // Where a voluntary step has crossed one of the peer, only the next one is answered by a step.
        let mut first = 1;
        if steps {
            first = usize::from(sides[0].ratchet(&mut Counter(1 << 32).next()).is_err());
            if first == 1 {
                sides[1].ratchet(&mut Counter(1 << 32).next()).unwrap();
            }
        }
        for from in [first, 1 - first, first, 1 - first] {
            let public = pass(from, &mut sides);
            prop_assert!(last[from] != public, "no step");
            last[from] = public;
        }
    }
}

/// A session's two sides, before their first message.
fn session() -> ([Ratchet; 2], Counter) {
    let [(_, a, from_a), (_, b, from_b)] = handshake();
    let mut rng = Counter(1 << 16);
    let a = a.receive(&from_b, &mut rng.next()).unwrap();
    ([a, b.receive(&from_a, &mut rng.next()).unwrap()], rng)
}

/// A handshake's two ends, the initiator's first: what it sends with, and how it goes on.
fn handshake() -> [(Protocol, Pending, [u8; FIRST_KEY_LEN]); 2] {
    let (initiator, request) = Initiator::start(label!("test"), &key(1), &mut Counter(0).next());
    let (responder, response) =
        Responder::respond(label!("test"), &key(2), &request, &mut Counter(1).next()).unwrap();
    let (session, confirmation) = initiator.receive(&response).unwrap().accept();
    let sessions = [session, responder.receive(&confirmation).unwrap().accept()];
    let mut rng = Counter(10);
    sessions.map(|session| {
        let send = session.send.clone();
        let (pending, first_key) = session.into_ratchet(&mut rng.next());
        (send, pending, first_key)
    })
}

fn pake() -> [(Protocol, Pending, [u8; FIRST_KEY_LEN]); 2] {
    let names = Names {
        initiator: b"a",
        responder: b"b",
        session: b"1",
    };
    let start = pake::Initiator::start(label!("test"), &names, b"password", &mut Counter(0).next());
    let (initiator, request) = start.unwrap();
    let answer = pake::respond(
        label!("test"),
        &names,
        b"password",
        &request,
        &mut Counter(1).next(),
    );
    let (responder, response) = answer.unwrap();
    let initiator = initiator.finish(&response).unwrap();
    let confirmations = [responder.confirmation(), initiator.confirmation()];
    let mut rng = Counter(10);
    [(initiator, confirmations[0]), (responder, confirmations[1])].map(|(side, confirmation)| {
        let session = side.confirm(&confirmation).unwrap();
        let send = session.send.clone();
        let (pending, first_key) = session.into_ratchet(&mut rng.next());
        (send, pending, first_key)
    })
}

/// Each direction of a session is a chain that begins with a sealed key, and that of the smaller key with a step.
#[test]
fn sessions_become_ratchets() {
    for sessions in [handshake, pake] {
        let (mut sides, mut keys) = (
            sessions(),
            [10, 11].map(|n| PrivateKey::generate(&mut Counter(n).next())),
        );
        if keys[0].public_key().as_bytes() > keys[1].public_key().as_bytes() {
            sides.reverse();
            keys.reverse();
        }
        let [(mut send, a, from_a), (mut others, b, from_b)] = sides;
        let [mut a, mut b] = [
            a.receive(&from_b, &mut Counter(20).next()).unwrap(),
            b.receive(&from_a, &mut Counter(21).next()).unwrap(),
        ];
        // What the sender computes, in operations.
        let [own, peers] = keys;
        let step = PrivateKey::generate(&mut Counter(20).next());
        let mut sealed = [0; FIRST_KEY_LEN];
        send.seal_into(label!("ratchet"), own.public_key().as_bytes(), &mut sealed)
            .unwrap();
        assert_eq!(sealed, from_a);
        let shared = spec::group::times(step.to_bytes(), peers.public_key().to_bytes());
        send.mix(label!("dh"), &shared);
        send.mix(label!("n"), &[0; 4]);
        others
            .seal_into(label!("ratchet"), peers.public_key().as_bytes(), &mut sealed)
            .unwrap();
        assert_eq!(sealed, from_b);
        others.mix(label!("n"), &[0; 4]);
        let seal = |mut key: Protocol, public: &PublicKey, message: &[u8]| {
            let header = [public.as_bytes().as_slice(), &[0; 8]].concat();
            key.mix(label!("header"), &header);
            [header, key.seal_vec(label!("message"), message)].concat()
        };
        let expected = [
            seal(send, step.public_key(), b"one"),
            seal(others, peers.public_key(), b"two"),
        ];

        // Both send before they receive.
        let (one, two) = (a.seal_vec(b"one").unwrap(), b.seal_vec(b"two").unwrap());
        assert_eq!([&one, &two], expected.each_ref());
        let mut rng = Counter(30);
        for n in 0..3 {
            let (three, four) = (a.seal_vec(b"three").unwrap(), b.seal_vec(b"four").unwrap());
            assert_eq!(b.open_vec(&three, &mut rng.next()).unwrap(), b"three");
            assert_eq!(a.open_vec(&four, &mut rng.next()).unwrap(), b"four");
            if n == 0 {
                assert_eq!(b.open_vec(&one, &mut rng.next()).unwrap(), b"one");
                assert_eq!(a.open_vec(&two, &mut rng.next()).unwrap(), b"two");
            }
        }
    }
}

/// There is no ratchet without the peer's first key: not with one's own, one of another session, or a changed one.
#[test]
fn only_the_peers_first_key_begins_a_ratchet() {
    let wrong = |first_key: &[u8]| {
        let [(_, a, _), _] = handshake();
        assert_eq!(
            a.receive(first_key, &mut Recorded::new([])).err(),
            Some(Error::Verification)
        );
    };
    let [(_, _, own), (_, _, peers)] = handshake();
    wrong(&own);
    wrong(&pake()[1].2);
    wrong(&peers[1..]);
    wrong(&[peers.as_slice(), &[0]].concat());
    for bit in 0..8 * FIRST_KEY_LEN {
        let mut changed = peers;
        changed[bit / 8] ^= 1 << (bit % 8);
        wrong(&changed);
    }
}
