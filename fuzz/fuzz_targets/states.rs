//! The decoder of ratchet states below its encryption: states that a key's owner might have written, field by field and
//! with changed bytes. What is accepted encodes to the same bytes again, and goes on as a ratchet: it opens what the peer
//! may send, and can be stored and restored after each step.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rand_core::SeedableRng;
use veriplex::ratchet::{MAX_SKIPPED, Ratchet};
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::siv::Siv;
use veriplex::{Key, Label, Protocol, label};
use veriplex_fuzz::{Change, Named, element, scalar};
use veriplex_spec::group::times;

const DOMAIN: Label<'static> = label!("veriplex.fuzz");

#[derive(Arbitrary, Debug)]
struct Case {
    state: State,
    changes: Vec<Change>,
    steps: Vec<Step>,
}

/// A number that is often at an end of its range.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    Small(u8),
    Any(u32),
    Last(u8),
}

impl Number {
    fn get(self) -> u32 {
        match self {
            Self::Small(n) => n.into(),
            Self::Any(n) => n,
            Self::Last(n) => u32::MAX - u32::from(n),
        }
    }
}

/// A state before it is encoded. Keys are named by a byte, so that they repeat.
#[derive(Arbitrary, Debug)]
struct State {
    sent: [Number; 2],
    current: Named,
    older: Vec<Named>,
    fresh: Option<Named>,
    received: Number,
    remote: Named,
    chains: Vec<(Named, Vec<Number>)>,
    /// Whether chains and their keys are as the ratchet keeps them.
    in_order: bool,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Seal,
    Ratchet,
    Forget(u8),
    /// A message of the peer on the present chain, this many further.
    Next(u16),
    /// One on a new chain, to one of our keys.
    Turn {
        to: u8,
        key: Named,
        before: u16,
        n: u16,
    },
    /// One whose key was kept.
    Missing(u16),
    /// One that nobody sealed.
    Forged(Vec<u8>),
}

/// The public key of a chain, and its skipped states by number.
type Chain = ([u8; 32], Vec<(u32, [u8; Protocol::SERIALIZED_LEN])>);

/// What is in the bytes of a state, read by the description of the format.
struct Parsed {
    sending: Vec<[u8; 32]>,
    received_with: [u8; Protocol::SERIALIZED_LEN],
    n: u32,
    remote: [u8; 32],
    chains: Vec<Chain>,
}

fn siv() -> Siv {
    Siv::new(DOMAIN, &Key::from([7; 32]))
}

fn restore(state: &[u8]) -> Option<Ratchet> {
    let sealed = siv().seal_vec(b"", b"ad", state);
    Ratchet::open_state(DOMAIN, &Key::from([7; 32]), b"ad", &sealed).ok()
}

fn stored(ratchet: &Ratchet) -> Vec<u8> {
    let sealed = ratchet.seal_state(DOMAIN, &Key::from([7; 32]), b"ad");
    siv().open_vec(b"", b"ad", &sealed).unwrap()
}

fn protocol(name: u8) -> [u8; Protocol::SERIALIZED_LEN] {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("name"), &[name]);
    protocol.to_bytes()
}

impl State {
    fn encode(&self) -> Vec<u8> {
        let mut state = vec![1];
        state.extend(protocol(1));
        self.sent.iter().for_each(|n| state.extend(n.get().to_le_bytes()));
        state.extend(scalar(self.current.0));
        let older = self.older.len().min(20);
        state.push(older as u8);
        self.older[..older]
            .iter()
            .for_each(|key| state.extend(scalar(key.0)));
        state.push(self.fresh.is_some().into());
        if let Some(key) = self.fresh {
            state.extend(scalar(key.0));
            state.extend(protocol(2));
        }
        state.extend(protocol(3));
        state.extend(self.received.get().to_le_bytes());
        state.extend(element(self.remote.0));
        let mut chains: Vec<(u8, Vec<u32>)> = self
            .chains
            .iter()
            .take(20)
            .map(|(key, numbers)| (key.0, numbers.iter().take(50).map(|n| n.get()).collect()))
            .collect();
        if self.in_order {
            let mut seen = Vec::new();
            chains.retain_mut(|(key, numbers)| {
                numbers.sort_unstable();
                numbers.dedup();
                if *key == self.remote.0 {
                    numbers.retain(|n| *n < self.received.get());
                }
                let is_new = !seen.contains(key);
                seen.push(*key);
                is_new && !numbers.is_empty()
            });
        }
        state.extend((chains.len() as u16).to_le_bytes());
        for (key, numbers) in &chains {
            state.extend(element(*key));
            state.extend((numbers.len() as u16).to_le_bytes());
            for n in numbers {
                state.extend(n.to_le_bytes());
                state.extend(protocol(*n as u8));
            }
        }
        state
    }
}

fn parse(state: &[u8]) -> Parsed {
    let mut rest = state;
    fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
        let (part, others) = rest.split_first_chunk().unwrap();
        *rest = others;
        *part
    }
    fn number(rest: &mut &[u8]) -> u32 {
        u32::from_le_bytes(take(rest))
    }
    fn short(rest: &mut &[u8]) -> u16 {
        u16::from_le_bytes(take(rest))
    }
    let rest = &mut rest;
    let _: [u8; 1 + Protocol::SERIALIZED_LEN + 8] = take(rest);
    let current = take(rest);
    let [count] = take(rest);
    let mut sending: Vec<[u8; 32]> = (0..count).map(|_| take(rest)).collect();
    sending.push(current);
    if take(rest) == [1] {
        let _: [u8; 32 + Protocol::SERIALIZED_LEN] = take(rest);
    }
    let (received_with, n, remote) = (take(rest), number(rest), take(rest));
    let chains = (0..short(rest))
        .map(|_| {
            let key = take(rest);
            let keys = (0..short(rest)).map(|_| (number(rest), take(rest))).collect();
            (key, keys)
        })
        .collect();
    assert!(rest.is_empty());
    Parsed {
        sending,
        received_with,
        n,
        remote,
        chains,
    }
}

/// A message under this key.
fn seal(mut key: Protocol, public: &[u8; 32], n: u32, before: u32) -> Vec<u8> {
    let header = [public.as_slice(), &n.to_le_bytes(), &before.to_le_bytes()].concat();
    key.mix(label!("header"), &header);
    [header, key.seal_vec(label!("message"), b"message")].concat()
}

/// The key of message `n` of a chain whose next one is `next`.
fn key(chain: &mut Protocol, next: u32, n: u32) -> Protocol {
    for i in next..n {
        chain.mix(label!("n"), &i.to_le_bytes());
        chain.ratchet(label!("step"));
    }
    let mut key = chain.clone();
    key.mix(label!("n"), &n.to_le_bytes());
    key
}

fuzz_target!(|case: Case| {
    let mut rng = Generator::from_seed([7; 32]);
    let mut bytes = case.state.encode();
    case.changes.iter().for_each(|change| change.apply(&mut bytes));
    let Some(mut ratchet) = restore(&bytes) else {
        let is_kept = case.state.in_order && case.changes.is_empty();
        let unanswered = case.state.older.len() + usize::from(case.state.fresh.is_some());
        return assert!(!is_kept || unanswered > 16, "refused what a ratchet may store");
    };
    assert!(stored(&ratchet) == bytes, "accepted what it does not write");
    for step in case.steps.iter().take(20) {
        let before = stored(&ratchet);
        let parsed = parse(&before);
        let mut chain = Protocol::from_bytes(&parsed.received_with).unwrap();
        // A message, and whether it opens, if that is known.
        let (message, opens) = match step {
            Step::Seal => {
                let is_sealed = ratchet.seal_vec(b"message").is_ok();
                assert!(is_sealed || stored(&ratchet) == before);
                continue;
            }
            Step::Ratchet => {
                let is_done = ratchet.ratchet(&mut rng).is_ok();
                assert!(is_done || stored(&ratchet) == before);
                continue;
            }
            Step::Forget(chains) => {
                ratchet.forget_missing((*chains).into());
                continue;
            }
            Step::Next(further) => {
                let further = u32::from(further % 1100);
                let Some(n) = parsed.n.checked_add(further) else {
                    continue;
                };
                let message = seal(key(&mut chain, parsed.n, n), &parsed.remote, n, 0);
                let may_open = further <= MAX_SKIPPED && n < u32::MAX;
                (message, Some(may_open))
            }
            Step::Turn {
                to,
                key: turn,
                before,
                n,
            } => {
                let (before, n) = (u32::from(before % 1100), u32::from(n % 1100));
                let Some(end) = parsed.n.checked_add(before) else {
                    continue;
                };
                let public = element(turn.0);
                let private = parsed.sending[usize::from(*to) % parsed.sending.len()];
                for i in parsed.n..end {
                    chain.mix(label!("n"), &i.to_le_bytes());
                    chain.ratchet(label!("step"));
                }
                chain.mix(label!("dh"), &times(private, public));
                let message = seal(key(&mut chain, 0, n), &public, n, end);
                let is_used = public == parsed.remote || parsed.chains.iter().any(|chain| chain.0 == public);
                let fits = before <= MAX_SKIPPED && n <= MAX_SKIPPED && end < u32::MAX;
                (message, Some(!is_used && fits))
            }
            Step::Missing(which) => {
                let mut all = parsed
                    .chains
                    .iter()
                    .flat_map(|(public, keys)| keys.iter().map(move |key| (public, key)));
                let count = all.clone().count();
                let Some((public, (n, key))) = usize::from(*which)
                    .checked_rem(count)
                    .and_then(|which| all.nth(which))
                else {
                    continue;
                };
                (
                    seal(Protocol::from_bytes(key).unwrap(), public, *n, 5),
                    Some(true),
                )
            }
            Step::Forged(bytes) => (bytes.clone(), Some(false)),
        };
        let _ = ratchet.missing(&message);
        let opened = ratchet.open_vec(&message, &mut rng);
        if let Some(opens) = opens {
            assert_eq!(opened.is_ok(), opens, "{step:?}");
        }
        match opened {
            Ok(plaintext) => {
                assert_eq!(plaintext, b"message");
                let after = stored(&ratchet);
                let restored = restore(&after).expect("a stored state restores");
                assert!(stored(&restored) == after);
                assert!(ratchet.open_vec(&message, &mut rng).is_err(), "opened twice");
            }
            Err(_) => assert!(stored(&ratchet) == before),
        }
    }
});
