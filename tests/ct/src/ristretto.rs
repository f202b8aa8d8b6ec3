//! The schemes over Ristretto255 with secret keys, randomness and messages.
//!
//! Two things are public of secrets, and branched on: that an element is not the identity, and that bytes are a
//! canonical scalar. `public.supp` lets valgrind pass over them.

use std::collections::VecDeque;
use std::convert::Infallible;

use serde_json::Value;
use veriplex::frost::{self, SigningNonces, SigningPackage};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{hpke, oprf, sig, signcrypt, vrf};

use crate::linux::{cases, domain, expect, file, hidden, known};
use crate::memcheck::public;

/// A generator of recorded bytes, which are secret.
struct Recorded(VecDeque<u8>);

impl Recorded {
    fn new(case: &Value, key: &str) -> Self {
        Self(hidden(case, key).into())
    }
}

impl rand_core::TryRng for Recorded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unimplemented!("the schemes ask for bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unimplemented!("the schemes ask for bytes")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| self.0.pop_front().expect("as much as was recorded"));
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

/// Runs the known answers; returns how many.
pub fn vectors() -> usize {
    let files = ["sig", "hpke", "signcrypt", "vrf", "oprf", "frost"].map(file);
    let run = [
        signature,
        encryption,
        signcryption,
        verifiable,
        oblivious,
        threshold,
    ];
    let mut n = 0;
    for (file, run) in files.iter().zip(run) {
        for case in cases(file) {
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
}

fn encryption(case: &Value) {
    let sealed = hpke::seal_vec(
        domain(case, "domain"),
        &private(case, "sender_private"),
        &public_key(case, "receiver_public"),
        &mut Recorded::new(case, "rand"),
        &hidden(case, "plaintext"),
    );
    expect(sealed.expect("sealed"), &known(case, "ciphertext"));
}

fn signcryption(case: &Value) {
    let sealed = signcrypt::seal_vec(
        domain(case, "domain"),
        &private(case, "sender_private"),
        &public_key(case, "receiver_public"),
        &mut Recorded::new(case, "rand"),
        &hidden(case, "plaintext"),
    );
    expect(sealed.expect("sealed"), &known(case, "ciphertext"));
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
    let key = private(case, "private");
    let mut rng = Recorded::new(&serde_json::json!({ "rand": case["blind_rand"][0] }), "rand");
    let (blind, blinded) =
        oprf::blind(domain(case, "domain"), &hidden(case, "input"), &mut rng).expect("blinded");
    let evaluated = oprf::blind_evaluate(&key, &blinded).expect("evaluated");
    let mut output = known(case, "output");
    blind.finalize(&evaluated, &mut output).expect("finalized");
    expect(evaluated.to_bytes().to_vec(), &known(case, "evaluated"));
    expect(output, &known(case, "output"));
}

/// These bytes, public.
fn published(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    public(&mut bytes);
    bytes
}

/// Makes these bytes public where they are part of the nonces, and nothing else.
fn publish(nonces: &mut SigningNonces, part: &[u8]) {
    // SAFETY: nonces are arrays of integers, without padding, and any bytes may stand in them; none is changed.
    let memory = unsafe {
        std::slice::from_raw_parts_mut((&raw mut *nonces).cast::<u8>(), size_of::<SigningNonces>())
    };
    let copy = published(memory);
    let at = copy
        .windows(part.len())
        .position(|window| window == part)
        .expect("a part");
    public(&mut memory[at..at + part.len()]);
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
    // What is sent is public from there on, also where it is kept beside a secret.
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
            frost::KeyShare::from_bytes(&bytes).expect("a share")
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
        expect(signed.to_bytes()[2..].to_vec(), &known(participant, "share"));
    }
}
