//! Everything that parses an encoding, given genuine ones with changes: what it accepts encodes to the same bytes.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use password_hash::phc::PasswordHash;
use password_hash::{Error as PasswordError, PasswordHasher, PasswordVerifier};
use rand_core::SeedableRng;
use veriplex::frost::{self, Identifier, dkg};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::ratchet::Ratchet;
use veriplex::rustcrypto::password_hash::{Mhf, Params};
use veriplex::rustcrypto::{Domain, rand_core::Generator};
use veriplex::{Error, Key, Label, Protocol, hazmat, label, oprf, sig, vrf};
use veriplex_fuzz::Change;

const DOMAIN: Label<'static> = label!("veriplex.fuzz");

#[derive(Arbitrary, Debug)]
enum Kind {
    State,
    Name,
    PrivateKey,
    PublicKey,
    PrivateHex,
    PublicHex,
    PrivatePem,
    PublicPem,
    Signature,
    VrfProof,
    Blinded,
    Evaluated,
    OprfProof,
    GroupKey,
    KeyShare,
    SigningCommitments,
    SignatureShare,
    DkgCommitment,
    DkgShare,
    RatchetState,
    PasswordHash,
}

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    seed: [u8; 32],
    changes: Vec<Change>,
}

fuzz_target!(|case: Case| {
    let mut rng = Generator::from_seed(case.seed);
    let rng = &mut rng;
    let key = PrivateKey::generate(rng);
    let changed = |genuine: &[u8]| {
        let mut changed = genuine.to_vec();
        case.changes.iter().for_each(|change| change.apply(&mut changed));
        changed
    };
    macro_rules! canonical {
        ($parse:expr, $genuine:expr) => {{
            let genuine = $genuine.to_bytes();
            let received = changed(&genuine);
            match $parse(received.as_slice()) {
                Ok(value) => assert_eq!(value.to_bytes().as_slice(), received),
                Err(_) => assert!(received != genuine),
            }
        }};
    }
    match case.kind {
        Kind::State => state(&changed(&keyed(&case.seed).to_bytes())),
        Kind::Name => name(&changed(&case.seed)),
        Kind::PrivateKey => canonical!(PrivateKey::try_from, key),
        Kind::PublicKey => canonical!(PublicKey::try_from, key.public_key()),
        Kind::PrivateHex => text(
            changed,
            key.to_hex().to_string(),
            str::parse,
            |key: &PrivateKey| key.to_hex().to_string(),
        ),
        Kind::PublicHex => {
            text(
                changed,
                key.public_key().to_string(),
                str::parse,
                PublicKey::to_string,
            );
        }
        Kind::PrivatePem => text(changed, key.to_pem().to_string(), PrivateKey::from_pem, |key| {
            key.to_pem().to_string()
        }),
        Kind::PublicPem => {
            text(
                changed,
                key.public_key().to_pem(),
                PublicKey::from_pem,
                PublicKey::to_pem,
            );
        }
        Kind::Signature => canonical!(
            sig::Signature::try_from,
            sig::sign_deterministic(DOMAIN, &key, &case.seed)
        ),
        Kind::VrfProof => {
            canonical!(
                vrf::Proof::try_from,
                vrf::prove(DOMAIN, &key, b"", rng, &mut [0; 32]).unwrap()
            );
        }
        Kind::Blinded => canonical!(
            oprf::BlindedElement::try_from,
            oprf::blind(DOMAIN, b"", rng).unwrap().1
        ),
        Kind::Evaluated => {
            let (_, blinded) = oprf::blind(DOMAIN, b"", rng).unwrap();
            canonical!(
                oprf::EvaluatedElement::try_from,
                oprf::blind_evaluate(&oprf::ServerKey::generate(rng), &blinded).unwrap()
            );
        }
        Kind::OprfProof => {
            let (_, blinded) = oprf::blind(DOMAIN, b"", rng).unwrap();
            let server = oprf::ServerKey::generate(rng);
            let evaluated = oprf::blind_evaluate_verifiable(DOMAIN, &server, &[blinded], rng);
            canonical!(oprf::Proof::try_from, evaluated.unwrap().1);
        }
        Kind::GroupKey => canonical!(
            frost::GroupKey::from_bytes,
            frost::deal(DOMAIN, 2, 3, rng).unwrap().0
        ),
        Kind::KeyShare => canonical!(
            frost::KeyShare::try_from,
            frost::deal(DOMAIN, 2, 3, rng).unwrap().1[1]
        ),
        Kind::SigningCommitments => {
            let (_, shares) = frost::deal(DOMAIN, 2, 2, rng).unwrap();
            canonical!(
                frost::SigningCommitments::try_from,
                shares[0].commit(DOMAIN, rng).unwrap().1
            );
        }
        Kind::SignatureShare => {
            let (group, shares) = frost::deal(DOMAIN, 2, 2, rng).unwrap();
            let (nonces, own) = shares[0].commit(DOMAIN, rng).unwrap();
            let (_, other) = shares[1].commit(DOMAIN, rng).unwrap();
            let package = frost::SigningPackage::new(DOMAIN, &group, &[own, other], b"").unwrap();
            canonical!(
                frost::SignatureShare::try_from,
                shares[0].sign(nonces, &package).unwrap()
            );
        }
        Kind::DkgCommitment => canonical!(dkg::Commitment::from_bytes, start(1, rng).1),
        Kind::DkgShare => {
            let (_, commitment) = start(2, rng);
            let (_, shares) = start(1, rng).0.receive(&[commitment]).unwrap();
            canonical!(dkg::Share::try_from, shares[0]);
        }
        Kind::RatchetState => {
            let peer = *PrivateKey::generate(rng).public_key();
            let ratchet = Ratchet::initiator(keyed(&case.seed), key, peer, rng).unwrap();
            let key = Key::from([7; 32]);
            let genuine = ratchet.seal_state(DOMAIN, &key, b"");
            let received = changed(&genuine);
            match Ratchet::open_state(DOMAIN, &key, b"", &received) {
                Ok(restored) => {
                    assert_eq!(received, genuine);
                    assert_eq!(restored.seal_state(DOMAIN, &key, b""), genuine);
                }
                Err(error) => assert_eq!((error, received != genuine), (Error::Verification, true)),
            }
        }
        Kind::PasswordHash => password_hash(changed, &case.seed),
    }
});

fn keyed(key: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("key"), key);
    protocol
}

fn start(number: u16, rng: &mut Generator) -> (dkg::AwaitingCommitments, dkg::Commitment) {
    dkg::start(DOMAIN, b"", Identifier::new(number).unwrap(), 2, 2, rng).unwrap()
}

/// Any accepted state is usable. The duplex takes frames that begin at the cursor or behind it, the protocol does not.
fn state(bytes: &[u8]) {
    let raw = <&[u8; 130]>::try_from(bytes).map(hazmat::Duplex::from_bytes);
    let Ok(mut protocol) = Protocol::try_from(bytes) else {
        assert!(!matches!(raw, Ok(Ok(_))) || bytes[1] != 0 && bytes[1] >= bytes[0]);
        return;
    };
    assert!(bytes[1] == 0 || bytes[1] < bytes[0]);
    assert_eq!(protocol.to_bytes(), bytes);
    assert_eq!(raw.unwrap().unwrap().to_bytes(), bytes);
    let mut other = protocol.clone();
    let sealed = protocol.seal_vec(label!("label"), bytes);
    assert_eq!(other.open_vec(label!("label"), &sealed).as_deref(), Ok(bytes));
    protocol.ratchet(label!("label"));
    other.ratchet(label!("label"));
    assert_eq!(protocol, other);
}

fn name(bytes: &[u8]) {
    let label = Label::new(bytes);
    assert_eq!(label, Label::try_from(bytes));
    if let Ok(text) = str::from_utf8(bytes) {
        assert_eq!(label, Label::try_from(text));
    }
    match label {
        Ok(label) => assert_eq!(label.as_bytes(), bytes),
        Err(error) => assert_eq!((error, bytes.len() > 91), (Error::LabelTooLong, true)),
    }
}

/// Each key has exactly one text, except for the end of the last line.
fn text<T>(
    changed: impl Fn(&[u8]) -> Vec<u8>,
    genuine: String,
    parse: fn(&str) -> Result<T, Error>,
    write: fn(&T) -> String,
) {
    let Ok(received) = String::from_utf8(changed(genuine.as_bytes())) else {
        return;
    };
    match parse(&received) {
        Ok(key) => assert_eq!(write(&key).trim_ascii_end(), received.trim_ascii_end()),
        Err(error) => assert_eq!((error, received != genuine), (Error::InvalidKey, true)),
    }
}

enum Passwords {}

impl Domain for Passwords {
    const DOMAIN: Label<'static> = DOMAIN;
}

/// The limit of 2 holds, so nothing here takes long.
fn password_hash(changed: impl Fn(&[u8]) -> Vec<u8>, seed: &[u8; 32]) {
    let hasher = Mhf::<Passwords>::with_any_cost(
        Params {
            cost: 1,
            output_len: 32,
        },
        2,
    );
    let genuine = hasher.hash_password_with_salt(seed, &seed[..16]).unwrap();
    let Ok(received) = String::from_utf8(changed(genuine.to_string().as_bytes())) else {
        return;
    };
    let Ok(hash) = PasswordHash::new(&received) else {
        assert!(received != genuine.to_string());
        return;
    };
    match hasher.verify_password(seed, &hash) {
        Ok(()) => assert_eq!(hash, genuine),
        Err(PasswordError::OutOfMemory | PasswordError::Internal) => panic!("{received}"),
        Err(_) => assert!(hash != genuine),
    }
}
