//! Values that hold secrets: they are not copied, not printed, and leave no secret in memory that they free.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use veriplex::frost::{self, Identifier, SigningNonces, dkg};
use veriplex::handshake::{ClaimedInitiator, ClaimedResponder, Initiator, Responder, Session};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::oprf::{self, Blind, VerifiableBlind};
use veriplex::pake::{self, Names};
use veriplex::ratchet::{Pending, Ratchet};
use veriplex::{Key, Label, Protocol, label};
use veriplex_spec as spec;

use crate::common::Recorded;
use crate::key;

const DOMAIN: Label<'static> = label!("test");

/// Does not compile if one of the types can be cloned.
macro_rules! used_once {
    ($($type:ty),*) => {$(
        const _: fn() = || {
            trait IsCloned<A> {
                fn f() {}
            }
            impl<T> IsCloned<()> for T {}
            struct Cloned;
            impl<T: Clone> IsCloned<Cloned> for T {}
            // With two implementations, the call is ambiguous.
            let _ = <$type as IsCloned<_>>::f;
        };
    )*};
}

used_once!(
    Initiator,
    Responder,
    ClaimedResponder,
    ClaimedInitiator,
    Session,
    pake::Initiator,
    pake::Unconfirmed,
    pake::Session,
    Pending,
    Ratchet,
    Blind,
    VerifiableBlind,
    SigningNonces,
    dkg::AwaitingCommitments,
    dkg::AwaitingShares
);

const INPUT: [u8; 64] = [0x5a; 64];

fn random(byte: u8) -> Recorded {
    Recorded::new([byte; 64])
}

#[test]
fn nothing_secret_is_printed() {
    let (initiator, request) = Initiator::start(DOMAIN, &key(1), &mut random(2));
    let (responder, response) = Responder::respond(DOMAIN, &key(3), &request, &mut random(4)).unwrap();
    let ephemeral = |bytes: &[u8]| {
        let public = PublicKey::try_from(&bytes[..32]).unwrap();
        format!("PrivateKey {{ public_key: {public:?}, .. }}")
    };
    let (initiators, responders) = (ephemeral(&request), ephemeral(&response));
    assert_eq!(
        format!("{initiator:?}"),
        format!(
            "Initiator {{ protocol: Protocol {{ .. }}, ephemeral: {initiators}, own: {:?} }}",
            key(1)
        )
    );
    assert_eq!(
        format!("{responder:?}"),
        format!("Responder {{ protocol: Protocol {{ .. }}, ephemeral: {responders} }}")
    );
    let (session, _) = initiator.receive(&response).unwrap().accept();
    assert_eq!(
        format!("{session:?}"),
        format!(
            "Session {{ send: Protocol {{ .. }}, recv: Protocol {{ .. }}, peer: {:?} }}",
            key(3).public_key()
        )
    );
    let (initiator, _) = pake::Initiator::start(DOMAIN, &NAMES, b"secret", &mut random(1)).unwrap();
    assert_eq!(format!("{initiator:?}"), "Initiator { .. }");
    let unconfirmed = initiator.finish(key(1).public_key().as_bytes()).unwrap();
    assert_eq!(format!("{unconfirmed:?}"), "Unconfirmed { .. }");
    let (blind, _) = oprf::blind(DOMAIN, &INPUT, &mut random(1)).unwrap();
    assert_eq!(format!("{blind:?}"), "Blind { .. }");
    let (blind, _) = oprf::blind_verifiable(DOMAIN, &INPUT, &mut random(1)).unwrap();
    assert_eq!(format!("{blind:?}"), "VerifiableBlind { .. }");
    let signer_key = key(1);
    assert_eq!(
        format!("{:?}", veriplex::sig::Signer::new(DOMAIN, &signer_key)),
        "Signer { .. }"
    );
    let (one, other) = (participant(1), participant(2));
    assert_eq!(format!("{:?}", one.0), "AwaitingCommitments { .. }");
    let (awaiting, _) = one.0.receive(&[other.1]).unwrap();
    assert_eq!(format!("{awaiting:?}"), "AwaitingShares { .. }");
}

const NAMES: Names<'static> = Names {
    initiator: b"alice",
    responder: b"bob",
    session: b"1",
};

fn participant(number: u8) -> (dkg::AwaitingCommitments, dkg::Commitment) {
    let identifier = Identifier::new(number.into()).unwrap();
    dkg::start(
        DOMAIN,
        b"context",
        identifier,
        2,
        2,
        &mut Recorded::new([number; 128]),
    )
    .unwrap()
}

/// Searches all memory that is freed for secrets.
struct Watch;

thread_local! {
    /// The secrets that this thread searches for, and how often it has found one.
    static WATCHED: Cell<&'static [[u8; 32]]> = const { Cell::new(&[]) };
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static WATCH: Watch = Watch;

// SAFETY: the system's allocator does the work. `realloc` is the trait's default, which allocates, copies and frees.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the trait's contract. We zero the memory, so that all of it can be read.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let watched = WATCHED.get();
        if !watched.is_empty() {
            // SAFETY: the caller frees this memory, so nobody else uses it, and it has been initialised since `alloc`.
            let bytes = unsafe { std::slice::from_raw_parts(memory, layout.size()) };
            let found = |secret: &&[u8; 32]| bytes.windows(32).any(|window| window == *secret);
            FOUND.set(FOUND.get() + watched.iter().filter(found).count());
        }
        // SAFETY: the caller upholds the trait's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How often one of these secrets is left in memory that `run` frees.
fn left_behind(secrets: &[[u8; 32]], run: impl FnOnce()) -> usize {
    assert!(
        secrets.iter().all(|secret| *secret != [0; 32]),
        "zeros would be found everywhere"
    );
    WATCHED.set(secrets.to_vec().leak());
    FOUND.set(0);
    run();
    WATCHED.set(&[]);
    FOUND.get()
}

/// Moves a value to the heap, and drops it there.
fn dropped<T>(value: T) {
    drop(black_box(Box::new(value)));
}

/// Part of a protocol's state: not the beginning, which Ratchet overwrites, nor the end, which is zero at first.
fn part(protocol: &Protocol) -> [u8; 32] {
    protocol.to_bytes()[42..74].try_into().unwrap()
}

/// The scalar made from 64 copies of this byte.
fn scalar(byte: u8) -> [u8; 32] {
    key(byte).to_bytes()
}

#[test]
fn what_is_left_behind_is_found() {
    let secret = scalar(1);
    assert_eq!(left_behind(&[secret], || dropped(secret)), 1);
    // A vector that grows leaves a copy behind, although its elements wipe themselves.
    let grown = || {
        let mut keys = vec![key(1)];
        keys.push(key(2));
        drop(black_box(keys));
    };
    assert!(left_behind(&[secret], grown) > 0);
    assert_eq!(left_behind(&[secret], || dropped(scalar(2))), 0);
}

#[test]
fn dropped_values_are_wiped() {
    // The scalars of the long-term keys 1 and 3, of the ephemeral keys 2 and 4, and of a ratchet's first key.
    let handshake = || {
        let (initiator, request) = Initiator::start(DOMAIN, &key(1), &mut random(2));
        let (responder, response) = Responder::respond(DOMAIN, &key(3), &request, &mut random(4)).unwrap();
        (initiator, responder, response)
    };
    let (initiator, responder, response) = handshake();
    let (session, confirmation) = initiator.receive(&response).unwrap().accept();
    let (_, request) = Initiator::start(DOMAIN, &key(1), &mut random(2));
    let ie = spec::handshake::initiator_ephemeral(b"test", b"", scalar(1), &[2; 64]);
    let re = spec::handshake::responder_ephemeral(b"test", b"", scalar(3), &[4; 64], request);
    assert_eq!(request, spec::handshake::request(&ie));
    let mut secrets = vec![
        scalar(1),
        scalar(3),
        spec::group::wide(&ie),
        spec::group::wide(&re),
        scalar(10),
    ];
    secrets.extend([part(&session.send), part(&session.recv)]);
    drop((session, responder));
    let run = || {
        let (initiator, responder, response) = handshake();
        dropped(responder);
        dropped(initiator);
        let (initiator, responder, _) = handshake();
        dropped(initiator.receive(&response).unwrap());
        let claimed = responder.receive(&confirmation).unwrap();
        dropped(claimed);
        let (initiator, responder, _) = handshake();
        dropped(initiator.receive(&response).unwrap().accept());
        let session = responder.receive(&confirmation).unwrap().accept();
        dropped(session.into_ratchet(&mut random(10)).0);
        // Methods that fail consume the values too.
        let (initiator, responder, _) = handshake();
        assert!(initiator.receive(&[0; 80]).is_err() && responder.receive(&[0; 48]).is_err());
    };
    assert_eq!(left_behind(&secrets, run), 0, "handshake");

    let pake = || pake::Initiator::start(DOMAIN, &NAMES, b"secret", &mut random(1)).unwrap();
    let respond = || pake::respond(DOMAIN, &NAMES, b"secret", &pake().1, &mut random(2)).unwrap();
    let (responder, response) = respond();
    let confirmation = responder.confirmation();
    let confirmed = pake()
        .0
        .finish(&response)
        .unwrap()
        .confirm(&confirmation)
        .unwrap();
    let unconfirmed = responder.without_confirmation();
    let secrets = [scalar(1), scalar(2), part(&unconfirmed), part(&confirmed.send)];
    let run = || {
        dropped(pake().0);
        dropped(respond().0);
        dropped(pake().0.finish(&response).unwrap());
        dropped(
            pake()
                .0
                .finish(&response)
                .unwrap()
                .confirm(&confirmation)
                .unwrap(),
        );
        pake().0.finish(&response).unwrap().confirm(&[0; 32]).unwrap_err();
    };
    assert_eq!(left_behind(&secrets, run), 0, "pake");

    let mut prf = Protocol::new(DOMAIN);
    prf.mix(label!("input"), &INPUT);
    let [_, prf] = prf.fork(label!("output"), ["element", "prf"]);
    let blind = || oprf::blind_verifiable(DOMAIN, &INPUT, &mut random(1)).unwrap();
    let blinded = blind().1.to_bytes();
    let evaluated = spec::group::times(scalar(3), blinded);
    let nonce = spec::oprf::nonce(b"test", scalar(3), &[blinded; 3], &[evaluated; 3], &[9; 64]);
    let secrets = [scalar(1), scalar(3), spec::group::wide(&nonce), part(&prf)];
    let run = || {
        dropped(oprf::blind(DOMAIN, &INPUT, &mut random(1)).unwrap());
        dropped(blind());
        let blinded = [blind().1; 3];
        let server = oprf::ServerKey::generate(&mut random(3));
        let (answers, proof) =
            oprf::blind_evaluate_verifiable(DOMAIN, &server, &blinded, &mut random(9)).unwrap();
        let blinds = (0..3).map(|_| blind().0).collect();
        let public = *server.public_key();
        VerifiableBlind::finalize_vec(blinds, DOMAIN, &public, &answers, &proof, 8).unwrap();
        let blinds = (0..3).map(|_| blind().0).collect();
        VerifiableBlind::finalize_vec(blinds, DOMAIN, &public, &answers[..2], &proof, 8).unwrap_err();
    };
    assert_eq!(left_behind(&secrets, run), 0, "oprf");
}

#[test]
fn dropped_shares_are_wiped() {
    let deal = || frost::deal(DOMAIN, 3, 10, &mut random(1)).unwrap().1;
    let secrets: Vec<[u8; 32]> = deal()
        .iter()
        .map(|share| share.to_bytes()[2..34].try_into().unwrap())
        .collect();
    let run = || {
        for share in &deal() {
            dropped(share.clone());
        }
    };
    assert_eq!(left_behind(&secrets, run), 0, "dealer");

    // The library makes the nonces and the polynomial internally, so we derive them as documented.
    let share = &deal()[0];
    let mut protocol = Protocol::new(DOMAIN);
    let [_, mut protocol] = protocol.fork(label!("process"), ["keygen", "commitment"]);
    protocol.mix(label!("signing-share"), &secrets[0]);
    protocol.mix(label!("rand"), &[2; 64]);
    let mut derived = |label| {
        let uniform = protocol.derive_array(label);
        PrivateKey::from_uniform_bytes(uniform).unwrap().to_bytes()
    };
    let nonces = [derived(label!("hiding-nonce")), derived(label!("binding-nonce"))];
    let run = || dropped(share.commit(DOMAIN, &mut random(2)).unwrap());
    assert_eq!(left_behind(&nonces, run), 0, "nonces");

    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("dkg-context"), b"context");
    protocol.mix(label!("dkg-threshold"), &[0, 2]);
    protocol.mix(label!("dkg-signers"), &[0, 2]);
    protocol.mix(label!("dkg-identifier"), &[0, 1]);
    let [mut keygen, _] = protocol.fork(label!("process"), ["keygen", "commitment"]);
    keygen.mix(label!("seed"), &[1; 64]);
    let mut secrets: Vec<[u8; 32]> = (0..2)
        .map(|_| {
            let uniform = keygen.derive_array(label!("coefficient"));
            PrivateKey::from_uniform_bytes(uniform).unwrap().to_bytes()
        })
        .collect();
    let commitments = [participant(1).1, participant(2).1];
    let shares = |n: u8| {
        participant(n)
            .0
            .receive(&[commitments[2 - usize::from(n)].clone()])
            .unwrap()
    };
    let share = |n| {
        let bytes = shares(n).1[0].to_bytes();
        <[u8; 32]>::try_from(&bytes[4..36]).unwrap()
    };
    secrets.extend([share(1), share(2)]);
    let finished = || {
        let from_other = shares(2).1;
        shares(1).0.finish(&from_other).unwrap().1
    };
    secrets.push(finished().to_bytes()[2..34].try_into().unwrap());
    let run = || {
        dropped(participant(1));
        dropped(shares(1));
        dropped(finished());
    };
    assert_eq!(left_behind(&secrets, run), 0, "distributed key generation");
}

#[test]
fn dropped_ratchets_are_wiped() {
    let mut base = Protocol::new(DOMAIN);
    base.mix(label!("key"), &[7; 32]);
    let [from_initiator, _] = base.clone().fork(label!("role"), ["initiator", "responder"]);
    let base = || {
        let mut base = Protocol::new(DOMAIN);
        base.mix(label!("key"), &[7; 32]);
        base
    };
    // Long-term keys 1 and 2, and the keys of the steps, from 10.
    let mut secrets: Vec<[u8; 32]> = [1, 2].into_iter().chain(10..20).map(scalar).collect();
    secrets.extend([part(&base()), part(&from_initiator)]);
    let run = || {
        let mut alice =
            Box::new(Ratchet::initiator(base(), key(1), *key(2).public_key(), &mut random(10)).unwrap());
        let mut bob = Box::new(Ratchet::responder(base(), key(2), *key(1).public_key()));
        alice.ratchet(&mut random(11)).unwrap();
        for byte in 12..16 {
            let messages: Vec<_> = (0..4).map(|_| alice.seal_vec(b"message").unwrap()).collect();
            alice.ratchet(&mut random(byte)).unwrap();
            bob.open_vec(&messages[3], &mut random(byte + 4)).unwrap();
            bob.open_vec(&messages[1], &mut random(0)).unwrap();
            bob.open_vec(&[0; 80], &mut random(0)).unwrap_err();
        }
        let answer = bob.seal_vec(b"answer").unwrap();
        alice.open_vec(&answer, &mut random(12)).unwrap();
        let state = bob.seal_state(DOMAIN, &Key::from([7; 32]), b"");
        dropped(Ratchet::open_state(DOMAIN, &Key::from([7; 32]), b"", &state).unwrap());
        let _ = alice.seal_vec(b"last").unwrap();
        drop(black_box((alice, bob)));
    };
    assert_eq!(left_behind(&secrets, run), 0);
}
