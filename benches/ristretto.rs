//! Operations per second of the schemes over Ristretto255, with messages of 64 bytes. The first group has the group's
//! own operations, which are a lower bound for the others: compare within one run.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use curve25519_dalek::{RistrettoPoint, Scalar};
use veriplex::frost::{self, SigningPackage, dkg};
use veriplex::handshake::{Initiator, Responder};
use veriplex::keys::PrivateKey;
use veriplex::oprf::{self, VerifiableBlind};
use veriplex::pake::{self, Names};
use veriplex::ratchet::Ratchet;
use veriplex::{Label, Protocol, hpke, label, os_rng, sig, signcrypt, vrf};

const DOMAIN: Label<'static> = label!("bench");
const MESSAGE: [u8; 64] = [0x5a; 64];
/// The number of signatures in a batch, and of inputs in a VOPRF batch.
const BATCH: usize = 64;

/// Benchmarks of one scheme: the name, the number of operations per call, and the call.
macro_rules! group {
    ($criterion:ident, $scheme:literal, $($name:literal * $count:expr => $run:expr),* $(,)?) => {
        let mut group = $criterion.benchmark_group($scheme);
        $(
            let count: usize = $count;
            group.throughput(Throughput::Elements(count.try_into().unwrap()));
            group.bench_function($name, |b| b.iter(|| black_box($run)));
        )*
        group.finish();
    };
}

fn floor(c: &mut Criterion) {
    let scalar = Scalar::from_bytes_mod_order([7; 32]);
    let element = RistrettoPoint::mul_base(&scalar);
    group!(c, "floor",
        "multiply the generator" * 1 => RistrettoPoint::mul_base(black_box(&scalar)),
        "multiply an element" * 1 => black_box(scalar) * black_box(element),
        "verification equation, in variable time" * 1 =>
            RistrettoPoint::vartime_double_scalar_mul_basepoint(&scalar, black_box(&element), &scalar),
    );
}

fn signatures(c: &mut Criterion) {
    let key = PrivateKey::generate(&mut os_rng());
    let public = key.public_key();
    let messages: Vec<[u8; 64]> = (0..BATCH).map(|n| [n.to_le_bytes()[0]; 64]).collect();
    let signatures: Vec<_> = messages
        .iter()
        .map(|message| sig::sign_deterministic(DOMAIN, &key, message))
        .collect();
    let items: Vec<_> = messages
        .iter()
        .zip(&signatures)
        .map(|(message, signature)| (public, message.as_slice(), signature))
        .collect();
    group!(c, "sig",
        "sign" * 1 => sig::sign(DOMAIN, &key, &MESSAGE, &mut os_rng()),
        "sign, deterministic" * 1 => sig::sign_deterministic(DOMAIN, &key, &MESSAGE),
        "verify" * 1 => sig::verify(DOMAIN, public, &messages[0], &signatures[0]).unwrap(),
        "verify, in a batch of 64" * BATCH => sig::verify_batch(DOMAIN, &items).unwrap(),
    );
}

fn encryption(c: &mut Criterion) {
    let [alice, bob] = [(); 2].map(|()| PrivateKey::generate(&mut os_rng()));
    let (a, b) = (alice.public_key(), bob.public_key());
    let sealed = hpke::seal_vec(DOMAIN, &alice, b, &mut os_rng(), &MESSAGE).unwrap();
    group!(c, "hpke",
        "seal" * 1 => hpke::seal_vec(DOMAIN, &alice, b, &mut os_rng(), &MESSAGE).unwrap(),
        "open" * 1 => hpke::open_vec(DOMAIN, &bob, a, &sealed).unwrap(),
    );
    let sealed = signcrypt::seal_vec(DOMAIN, &alice, b, &mut os_rng(), &MESSAGE).unwrap();
    group!(c, "signcrypt",
        "seal" * 1 => signcrypt::seal_vec(DOMAIN, &alice, b, &mut os_rng(), &MESSAGE).unwrap(),
        "open" * 1 => signcrypt::open_vec(DOMAIN, &bob, a, &sealed).unwrap(),
    );
}

fn functions(c: &mut Criterion) {
    let key = PrivateKey::generate(&mut os_rng());
    let public = key.public_key();
    let mut output = [0; 32];
    let proof = vrf::prove(DOMAIN, &key, &MESSAGE, &mut os_rng(), &mut output).unwrap();
    group!(c, "vrf",
        "prove" * 1 => vrf::prove(DOMAIN, &key, &MESSAGE, &mut os_rng(), &mut output).unwrap(),
        "verify" * 1 => vrf::verify(DOMAIN, public, &MESSAGE, &proof, &mut output).unwrap(),
    );

    let server = oprf::ServerKey::generate(&mut os_rng());
    // Both client steps in one function, because a blind can be used only once.
    let blinded = oprf::blind(DOMAIN, &MESSAGE, &mut os_rng()).unwrap().1;
    let evaluated = oprf::blind_evaluate(&server, &blinded).unwrap();
    let many = [blinded; BATCH];
    // A generator that always yields the same bytes, for one batch and its proof.
    let blinds = || {
        let mut rng = veriplex::rustcrypto::rand_core::Generator::new(Protocol::new(DOMAIN));
        std::array::from_fn(|_| oprf::blind_verifiable(DOMAIN, &MESSAGE, &mut rng).unwrap())
    };
    let requests: [(VerifiableBlind, oprf::BlindedElement); BATCH] = blinds();
    let requests = requests.map(|(_, blinded)| blinded);
    let (answers, proof) =
        oprf::blind_evaluate_verifiable(DOMAIN, &server, &requests, &mut os_rng()).unwrap();
    group!(c, "oprf",
        "client" * 1 => {
            let (blind, _) = oprf::blind(DOMAIN, &MESSAGE, &mut os_rng()).unwrap();
            blind.finalize(&evaluated, &mut output).unwrap();
        },
        "server" * 1 => oprf::blind_evaluate(&server, &blinded).unwrap(),
        "client, verifying 64 at a time" * BATCH => {
            let blinds = blinds().map(|(blind, _)| blind);
            VerifiableBlind::finalize_batch::<BATCH, 32>(blinds, DOMAIN, server.public_key(), &answers, &proof).unwrap()
        },
        "server, proving 64 at a time" * BATCH =>
            oprf::blind_evaluate_verifiable(DOMAIN, &server, &many, &mut os_rng()).unwrap(),
    );
}

/// Three of five.
fn threshold(c: &mut Criterion) {
    let (group, shares) = frost::deal(DOMAIN, 3, 5, &mut os_rng()).unwrap();
    let begin = || {
        let committed = || {
            shares[..3]
                .iter()
                .map(|share| share.commit(DOMAIN, &mut os_rng()).unwrap())
        };
        committed().unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let (nonces, commitments) = begin();
    let package = SigningPackage::new(DOMAIN, &group, &commitments, &MESSAGE).unwrap();
    let signed: Vec<_> = shares
        .iter()
        .zip(nonces)
        .map(|(share, nonces)| share.sign(nonces, &package).unwrap())
        .collect();
    group!(c, "frost, 3 of 5",
        "deal" * 1 => frost::deal(DOMAIN, 3, 5, &mut os_rng()).unwrap(),
        "distributed key generation, all five" * 1 => {
            let (states, sent): (Vec<_>, Vec<_>) = (1..=5)
                .map(|n| {
                    let identifier = frost::Identifier::new(n).unwrap();
                    dkg::start(DOMAIN, b"bench", identifier, 3, 5, &mut os_rng()).unwrap()
                })
                .unzip();
            let (states, shares): (Vec<_>, Vec<_>) = states
                .into_iter()
                .enumerate()
                .map(|(n, state)| {
                    let others = [&sent[..n], &sent[n + 1..]].concat();
                    state.receive(&others).unwrap()
                })
                .unzip();
            let shares = shares.concat();
            for (n, state) in (1..).zip(states) {
                let mine: Vec<_> = shares.iter().filter(|s| s.receiver().get() == n).cloned().collect();
                state.finish(&mine).unwrap();
            }
        },
        "a signer's first round" * 1 => shares[0].commit(DOMAIN, &mut os_rng()).unwrap(),
        "package" * 1 => SigningPackage::new(DOMAIN, &group, &commitments, &MESSAGE).unwrap(),
        "aggregate" * 1 => package.aggregate(&signed).unwrap(),
        "name a bad signer" * 1 => package.verify_share(&signed[0]).unwrap(),
    );
}

/// The schemes that take more than one message.
fn sessions(c: &mut Criterion) {
    let [alice, bob] = [(); 2].map(|()| PrivateKey::generate(&mut os_rng()));
    let request = Initiator::start(DOMAIN, &alice, &mut os_rng()).1;
    group!(c, "handshake",
        "responder, request to response" * 1 =>
            Responder::respond(DOMAIN, &bob, &request, &mut os_rng()).unwrap(),
        "both sides" * 1 => {
            let (initiator, request) = Initiator::start(DOMAIN, &alice, &mut os_rng());
            let (responder, response) = Responder::respond(DOMAIN, &bob, &request, &mut os_rng()).unwrap();
            let (session, confirmation) = initiator.receive(&response).unwrap().accept();
            (session, responder.receive(&confirmation).unwrap().accept())
        },
    );

    let names = Names {
        initiator: b"alice",
        responder: b"bob",
        session: b"session",
    };
    group!(c, "pake",
        "both sides" * 1 => {
            let (initiator, request) = pake::Initiator::start(DOMAIN, &names, b"password", &mut os_rng()).unwrap();
            let answer = pake::respond(DOMAIN, &names, b"password", &request, &mut os_rng());
            let (responder, response) = answer.unwrap();
            let initiator = initiator.finish(&response).unwrap();
            let [from_initiator, from_responder] = [initiator.confirmation(), responder.confirmation()];
            (initiator.confirm(&from_responder).unwrap(), responder.confirm(&from_initiator).unwrap())
        },
    );

    // Two sides, after a message in each direction.
    let pair = || {
        let mut bob_side = Ratchet::responder(Protocol::new(DOMAIN), bob.clone(), *alice.public_key());
        let alice_side = Ratchet::initiator(
            Protocol::new(DOMAIN),
            alice.clone(),
            *bob.public_key(),
            &mut os_rng(),
        );
        let mut alice_side = alice_side.unwrap();
        let message = alice_side.seal_vec(&MESSAGE).unwrap();
        bob_side.open_vec(&message, &mut os_rng()).unwrap();
        let message = bob_side.seal_vec(&MESSAGE).unwrap();
        alice_side.open_vec(&message, &mut os_rng()).unwrap();
        (alice_side, bob_side)
    };
    let (mut from, mut to) = pair();
    let (mut one, mut other) = pair();
    let (mut sealer, mut target) = pair();
    let mut forged = sealer.seal_vec(&MESSAGE).unwrap();
    forged[..32].copy_from_slice(PrivateKey::generate(&mut os_rng()).public_key().as_bytes());
    group!(c, "ratchet",
        "seal" * 1 => sealer.seal_vec(&MESSAGE).unwrap(),
        "seal and open, without a step" * 1 => {
            let message = from.seal_vec(&MESSAGE).unwrap();
            to.open_vec(&message, &mut os_rng()).unwrap()
        },
        "seal and open, with a step" * 1 => {
            std::mem::swap(&mut one, &mut other);
            let message = other.seal_vec(&MESSAGE).unwrap();
            one.open_vec(&message, &mut os_rng()).unwrap()
        },
        "refuse a forgery with a new key" * 1 => target.open_vec(&forged, &mut os_rng()).unwrap_err(),
    );
}

criterion_group!(
    benches, floor, signatures, encryption, functions, sessions, threshold
);
criterion_main!(benches);
