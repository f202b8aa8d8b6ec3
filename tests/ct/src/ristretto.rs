//! The schemes over Ristretto255 with secret keys, randomness and messages.
//!
//! Some facts about secrets are public, and the library branches on them. `public.supp` tells valgrind to ignore these
//! branches, by the function that makes them:
//!
//! - whether an element is the identity, and whether bytes are a canonical scalar: the library returns an error, which
//!   a peer or an attacker sees;
//! - whether a text consists of hexadecimal digits only: likewise;
//! - whether what was opened in a handshake is a key, and whether a tag, or the signature in a signcryption, is right:
//!   likewise. The key and the expected tag stay secret.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rand_core::Rng as _;
use serde_json::Value;
use veriplex::frost::{self, SigningPackage};
use veriplex::handshake::{self, Responder, Session};
use veriplex::hazmat::unhedged;
use veriplex::hpke::{Opener, Sealer};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::pake::{self, Names};
use veriplex::ratchet::Ratchet;
use veriplex::{Error, Label, Protocol, hpke, label, oprf, sig, signcrypt, vrf};

use crate::linux::{cases, domain, expect, file, hidden, known};
use crate::memcheck::{public, secret};

/// A generator that yields recorded bytes, marked secret.
struct Recorded(VecDeque<u8>);

impl Recorded {
    fn new(case: &Value, key: &str) -> Self {
        Self(hidden(case, key).into())
    }

    /// From a list of recorded byte strings.
    fn list(case: &Value, key: &str) -> Self {
        let each = cases(&case[key])
            .iter()
            .map(|bytes| hex::decode(bytes.as_str().expect("text")).expect("hex"));
        let mut bytes = each.collect::<Vec<_>>().concat();
        secret(&mut bytes);
        Self(bytes.into())
    }
}

impl rand_core::TryRng for Recorded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unimplemented!("the schemes ask only for bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unimplemented!("the schemes ask only for bytes")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| self.0.pop_front().expect("enough recorded bytes"));
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Recorded {}

fn private(case: &Value, key: &str) -> PrivateKey {
    PrivateKey::try_from(hidden(case, key).as_slice()).expect("a private key")
}

fn public_key(case: &Value, key: &str) -> PublicKey {
    PublicKey::try_from(known(case, key).as_slice()).expect("a public key")
}

/// Runs the known answers, and returns their number.
pub fn vectors() -> usize {
    type Run = fn(&Value);
    let runs: [(&str, Run); 9] = [
        ("sig", signature),
        ("hpke", encryption),
        ("signcrypt", signcryption),
        ("vrf", verifiable),
        ("oprf", oblivious),
        ("frost", threshold),
        ("handshake", authentication),
        ("pake", password),
        ("adratchet", conversation), // Newplex's name for the ratchet
    ];
    let mut n = 0;
    for (name, run) in runs {
        for case in cases(&file(name)) {
            run(case);
            n += 1;
        }
    }
    n
}

fn signature(case: &Value) {
    let (key, message) = (private(case, "private"), hidden(case, "message"));
    let signature = if known(case, "hedge").is_empty() {
        sig::sign_deterministic(domain(case, "domain"), &key, &message)
    } else {
        sig::sign(
            domain(case, "domain"),
            &key,
            &message,
            &mut Recorded::new(case, "hedge"),
        )
    };
    expect(signature.to_bytes().to_vec(), &known(case, "signature"));
    texts(&key, &known(case, "private"));
}

/// A private key as hex, and back. Not as PEM: the base64 decoder branches on whether each piece is padding.
fn texts(key: &PrivateKey, expected: &[u8]) {
    let hex = key.to_hex();
    let again: PrivateKey = hex.parse().expect("a private key");
    expect(again.to_bytes().to_vec(), expected);
    expect(hex.as_bytes().to_vec(), hex::encode(expected).as_bytes());
}

fn encryption(case: &Value) {
    let (sender, receiver) = (
        private(case, "sender_private"),
        public_key(case, "receiver_public"),
    );
    let chosen = PrivateKey::generate(&mut Recorded::new(case, "rand"));
    let setup = unhedged::hpke_setup_sender(domain(case, "domain"), &sender, &receiver, &chosen);
    let (ephemeral, mut protocol) = setup.expect("set up");
    let sealed = protocol.seal_vec(label!("message"), &hidden(case, "plaintext"));
    expect([&ephemeral[..], &sealed].concat(), &known(case, "ciphertext"));
    opens(case, hpke::open_vec, &known(case, "ciphertext"));
    // With the ephemeral key that `hpke` makes: public as it is sent.
    opens(case, hpke::open_vec, &published(&seals(case, hpke::seal_vec)));
    with_context(case, Some(&sender));
    with_context(case, None);
}

/// Info, associated data, and a sender's key or none: what is sealed opens.
fn with_context(case: &Value, sender: Option<&PrivateKey>) {
    let receiver = private(case, "receiver_private");
    let (to, from) = (
        public_key(case, "receiver_public"),
        public_key(case, "sender_public"),
    );
    let domain = domain(case, "domain");
    let (sealer, opener) = match sender {
        Some(sender) => (
            Sealer::authenticated(domain, sender, &to),
            Opener::authenticated(domain, &receiver, &from),
        ),
        None => (
            Sealer::anonymous(domain, &to),
            Opener::anonymous(domain, &receiver),
        ),
    };
    let (sealer, opener) = (sealer.with_info(b"info"), opener.with_info(b"info"));
    let mut rng = Recorded::new(case, "rand");
    let sealed = sealer.seal_vec(b"ad", &mut rng, &hidden(case, "plaintext"));
    let opened = opener.open_vec(b"ad", &published(&sealed.expect("sealed")));
    expect(opened.expect("opened"), &known(case, "plaintext"));

    let (ephemeral, mut sending) = sealer.setup(&mut Recorded::new(case, "rand")).expect("set up");
    let ephemeral = published(&ephemeral).try_into().expect("32 bytes");
    let mut receiving = opener.setup(&ephemeral).expect("set up");
    let sealed = sending.seal_vec(label!("message"), &hidden(case, "plaintext"));
    let opened = receiving.open_vec(label!("message"), &published(&sealed));
    expect(opened.expect("opened"), &known(case, "plaintext"));
}

fn signcryption(case: &Value) {
    expect(seals(case, signcrypt::seal_vec), &known(case, "ciphertext"));
    opens(case, signcrypt::open_vec, &known(case, "ciphertext"));
}

type Seal = fn(Label<'_>, &PrivateKey, &PublicKey, &mut Recorded, &[u8]) -> Result<Vec<u8>, Error>;
type Open = fn(Label<'_>, &PrivateKey, &PublicKey, &[u8]) -> Result<Vec<u8>, Error>;

fn seals(case: &Value, seal: Seal) -> Vec<u8> {
    let sealed = seal(
        domain(case, "domain"),
        &private(case, "sender_private"),
        &public_key(case, "receiver_public"),
        &mut Recorded::new(case, "rand"),
        &hidden(case, "plaintext"),
    );
    sealed.expect("sealed")
}

fn opens(case: &Value, open: Open, sealed: &[u8]) {
    let opened = open(
        domain(case, "domain"),
        &private(case, "receiver_private"),
        &public_key(case, "sender_public"),
        sealed,
    );
    expect(opened.expect("opened"), &known(case, "plaintext"));
}

fn verifiable(case: &Value) {
    let mut output = known(case, "prf");
    let proof = vrf::prove(
        domain(case, "domain"),
        &private(case, "private"),
        &hidden(case, "input"),
        &mut Recorded::new(case, "rand"),
        &mut output,
    );
    expect(proof.expect("a proof").to_bytes().to_vec(), &known(case, "proof"));
    expect(output, &known(case, "prf"));
}

fn oblivious(case: &Value) {
    let key = oprf::ServerKey::try_from(hidden(case, "private").as_slice()).expect("a private key");
    let mut rng = Recorded::list(case, "blind_rand");
    let (blind, blinded) =
        oprf::blind(domain(case, "domain"), &hidden(case, "input"), &mut rng).expect("blinded");
    let evaluated = oprf::blind_evaluate(&key, &blinded).expect("evaluated");
    let mut output = known(case, "output");
    blind.finalize(&evaluated, &mut output).expect("finalized");
    expect(evaluated.to_bytes().to_vec(), &known(case, "evaluated"));
    expect(output, &known(case, "output"));

    // The server, with and without a proof. The client verifies public values, in variable time.
    let received = oprf::BlindedElement::try_from(known(case, "blinded").as_slice()).expect("an element");
    let mut nonce = [0; 64];
    Recorded::list(case, "proof_rand").fill_bytes(&mut nonce);
    let (evaluated, proof) =
        unhedged::oprf_blind_evaluate(domain(case, "domain"), &key, &received, nonce).expect("evaluated");
    expect(evaluated.to_bytes().to_vec(), &known(case, "evaluated"));
    let expected = [known(case, "proof_c"), known(case, "proof_s")].concat();
    expect(proof.to_bytes().to_vec(), &expected);
    let mut rng = Recorded::list(case, "proof_rand");
    let hedged = oprf::blind_evaluate_verifiable(domain(case, "domain"), &key, &[received], &mut rng);
    expect(
        hedged.expect("evaluated").0[0].to_bytes().to_vec(),
        &known(case, "evaluated"),
    );
    let mut output = known(case, "output");
    oprf::evaluate(domain(case, "domain"), &key, &hidden(case, "input"), &mut output).expect("evaluated");
    expect(output, &known(case, "output"));
}

/// A handshake. What is sent is public when it arrives.
fn authentication(case: &Value) {
    let state =
        |protocol: &Protocol, name| expect(protocol.to_bytes()[2..].to_vec(), &known(case, name)[2..]);
    let own = private(case, "initiator_private");
    let ephemeral = PrivateKey::generate(&mut Recorded::new(case, "initiator_rand"));
    let (initiator, request) = unhedged::handshake_start(domain(case, "domain"), b"", &own, ephemeral);
    expect(request.to_vec(), &known(case, "request"));
    let mut rng = Recorded::new(case, "initiator_rand");
    let _ = handshake::Initiator::start(domain(case, "domain"), &own, &mut rng);
    let own = private(case, "responder_private");
    let mut rng = Recorded::new(case, "responder_rand");
    let _ = Responder::respond(domain(case, "domain"), &own, &known(case, "request"), &mut rng)
        .expect("responded");
    let ephemeral = PrivateKey::generate(&mut Recorded::new(case, "responder_rand"));
    let request = known(case, "request");
    let responded = unhedged::handshake_respond(domain(case, "domain"), b"", &own, &request, ephemeral);
    let (responder, response) = responded.expect("responded");
    expect(response.to_vec(), &known(case, "response"));

    let claimed = initiator.receive(&known(case, "response")).expect("received");
    let (Session { send, recv, peer }, confirmation) = claimed.accept();
    expect(confirmation.to_vec(), &known(case, "confirmation"));
    expect(peer.to_bytes().to_vec(), &known(case, "responder_public"));
    state(&send, "initiator_send");
    state(&recv, "initiator_recv");
    let claimed = responder.receive(&known(case, "confirmation")).expect("received");
    let Session { send, recv, peer } = claimed.accept();
    expect(peer.to_bytes().to_vec(), &known(case, "initiator_public"));
    state(&send, "responder_send");
    state(&recv, "responder_recv");
}

fn password(case: &Value) {
    let [initiator, responder, session] = ["initiator", "responder", "session"].map(|name| known(case, name));
    let names = Names {
        initiator: &initiator,
        responder: &responder,
        session: &session,
    };
    let (domain, password) = (domain(case, "domain"), hidden(case, "password"));
    let mut rng = Recorded::new(case, "initiator_rand");
    let (initiator, request) = pake::Initiator::start(domain, &names, &password, &mut rng).expect("started");
    expect(request.to_vec(), &known(case, "initiator_message"));
    let mut rng = Recorded::new(case, "responder_rand");
    let message = known(case, "initiator_message");
    let (protocol, response) =
        pake::respond(domain, &names, &password, &message, &mut rng).expect("responded");
    expect(response.to_vec(), &known(case, "responder_message"));
    let other = initiator
        .finish(&known(case, "responder_message"))
        .expect("finished");
    let mut confirmation = protocol.confirmation();
    public(&mut confirmation); // as it is sent
    let _ = other.confirm(&confirmation).expect("confirmed");
    expect(
        protocol.without_confirmation().to_bytes()[2..].to_vec(),
        &known(case, "state")[2..],
    );
}

/// Both sides of a double ratchet: what they seal, and what they open, including late messages.
fn conversation(case: &Value) {
    let mut base = Protocol::new(domain(case, "domain"));
    base.mix(label!("key"), &hidden(case, "key"));
    let mut rng = Recorded::list(case, "initiator_rand");
    let (a, b) = (private(case, "a_private"), private(case, "b_private"));
    let (to_a, to_b) = (public_key(case, "a_public"), public_key(case, "b_public"));
    let mut sides = [
        Ratchet::initiator(base.clone(), a, to_b, &mut rng).expect("started"),
        Ratchet::responder(base, b, to_a),
    ];
    for step in cases(&case["steps"]) {
        if step["step"] == "send" {
            let sender = &mut sides[usize::from(step["from"] != "a")];
            let sealed = sender.seal_vec(&hidden(step, "plaintext")).expect("sealed");
            expect(sealed, &known(step, "ciphertext"));
        } else {
            let receiver = &mut sides[usize::from(step["by"] != "a")];
            let mut rng = Recorded::list(step, "rand");
            let opened = receiver.open_vec(&known(step, "ciphertext"), &mut rng);
            expect(opened.expect("opened"), &known(step, "plaintext"));
        }
    }
}

/// A public copy of these bytes.
fn published(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    public(&mut bytes);
    bytes
}

/// Makes the bytes of `part` public where they occur in a value, and no others.
fn publish<T>(value: &mut T, part: &[u8]) {
    let start = &raw mut *value;
    // As the kernel gives them, padding too. All of them are public then.
    let mut memory = vec![0; size_of::<T>()];
    let own = File::open("/proc/self/mem").expect("the memory of this process");
    own.read_exact_at(&mut memory, start.addr() as u64)
        .expect("a value");
    public(&mut memory);
    let at = memory
        .windows(part.len())
        .position(|window| window == part)
        .expect("a part");
    // SAFETY: these bytes of the value are an encoded element, so any bytes are valid, and we change none of them.
    public(unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>().add(at), part.len()) });
}

fn threshold(case: &Value) {
    let domain = domain(case, "domain");
    let number = |value: &Value| u16::try_from(value.as_u64().expect("a number")).expect("16 bits");
    let mut rng = Recorded::new(case, "seed");
    let (group, shares) = frost::deal(
        domain,
        number(&case["threshold"]),
        number(&case["signers"]),
        &mut rng,
    )
    .expect("dealt");
    expect(group.public_key().to_bytes().to_vec(), &known(case, "group_key"));
    let participants = cases(&case["participants"]);
    let place = |participant: &Value| usize::from(number(&participant["identifier"])) - 1;
    let (mut nonces, commitments): (Vec<_>, Vec<_>) = participants
        .iter()
        .map(|p| {
            shares[place(p)]
                .commit(domain, &mut Recorded::new(p, "rand"))
                .expect("committed")
        })
        .unzip();
    // What is sent is public from here on, even where it is stored next to a secret.
    let group = frost::GroupKey::from_bytes(&published(&group.to_bytes())).expect("a group");
    let commitments: Vec<_> = commitments.iter().map(|c| published(&c.to_bytes())).collect();
    for (nonces, commitments) in nonces.iter_mut().zip(&commitments) {
        publish(nonces, &commitments[2..34]);
        publish(nonces, &commitments[34..]);
    }
    let shares: Vec<_> = shares
        .iter()
        .map(|share| {
            let mut bytes = share.to_bytes();
            public(&mut bytes[..2]);
            public(&mut bytes[34..]);
            let mut share = frost::KeyShare::from_bytes(&bytes).expect("a share");
            let public_key = group.verifying_share(share.identifier()).expect("a participant");
            publish(&mut share, &public_key.to_bytes());
            share
        })
        .collect();
    let commitments: Vec<_> = commitments
        .iter()
        .map(|bytes| frost::SigningCommitments::try_from(bytes.as_slice()).expect("commitments"))
        .collect();
    let package =
        SigningPackage::new(domain, &group, &commitments, &known(case, "message")).expect("a package");
    for (participant, nonces) in participants.iter().zip(nonces) {
        let share = &shares[place(participant)];
        let signed = share.sign(nonces, &package).expect("signed");
        expect(signed.to_bytes()[2..34].to_vec(), &known(participant, "share"));
    }
}
