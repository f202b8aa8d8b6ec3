//! What every public value has in common: one text, the order of its bytes, `serde`; and secrets in their wrapper.

use std::fmt::{Debug, Display};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;

use veriplex::digest::Digest;
use veriplex::frost::{self, dkg};
use veriplex::keys::PrivateKey;
use veriplex::{Error, Key, Nonce, label, mac, oprf, sig, vrf};

use crate::common::Recorded;
use crate::key;

/// Every trait of a public value whose bytes these are.
macro_rules! check {
    ($value:expr, $wrong:expr) => {{
        let value = $value;
        let bytes = value.to_bytes();
        text_and_bytes(&value, &bytes, $wrong);
    }};
}

fn text_and_bytes<T>(value: &T, bytes: &[u8], wrong: Error)
where
    T: Clone + Debug + Display + Ord + Hash + FromStr<Err = Error>,
    T: for<'b> TryFrom<&'b [u8], Error = Error>,
    T: serde::Serialize + for<'de> serde::Deserialize<'de>,
{
    let text = value.to_string();
    assert_eq!(text, hex::encode(bytes));
    assert!(text.parse::<T>().unwrap() == *value);
    assert!(T::try_from(bytes).unwrap() == *value);
    for bad in [
        &text[1..],
        &text[2..],
        &format!("{text}00"),
        &text.to_uppercase(),
        &text.replacen(&text[..1], "g", 1),
        &format!(" {text}"),
    ] {
        assert_eq!(bad.parse::<T>().err(), Some(wrong), "{bad}");
    }
    assert_eq!(hash(&T::try_from(bytes).unwrap()), hash(value));
    assert_ne!(hash(value), hash(&()), "nothing of it is hashed");

    let json = serde_json::to_string(value).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert!(serde_json::from_str::<T>(&json).unwrap() == *value);
    assert!(serde_json::from_str::<T>(&json.replacen(&text[..1], "g", 1)).is_err());
    let error = serde_json::from_str::<T>("7").err().unwrap().to_string();
    assert!(
        error.contains("expected hexadecimal digits in lower case"),
        "{error}"
    );
    let binary = postcard::to_allocvec(value).unwrap();
    assert_eq!(binary, postcard::to_allocvec(&Bytes(bytes)).unwrap());
    assert!(postcard::from_bytes::<T>(&binary).unwrap() == *value);
    assert!(postcard::from_bytes::<T>(&postcard::to_allocvec(&Bytes(&bytes[1..])).unwrap()).is_err());
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

struct Bytes<'b>(&'b [u8]);

impl serde::Serialize for Bytes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Those that need what is in one place.
macro_rules! check_bytes {
    ($type:ty, $value:expr, $wrong:expr) => {{
        let value: $type = $value;
        let bytes: [u8; <$type>::LEN] = value.into();
        assert_eq!(value.as_ref(), bytes);
        assert!(<$type>::try_from(bytes).unwrap() == value);
        assert!(<$type>::try_from(&bytes).unwrap() == value);
        let name = stringify!($type).rsplit("::").next().unwrap();
        assert_eq!(format!("{value:?}"), format!("{name}({value})"));
        check!(value, $wrong);
    }};
}

#[test]
fn public_values() {
    let (domain, rng) = (label!("traits"), &mut Recorded::new([7; 4096]));
    let (key, server) = (key(1), oprf::ServerKey::generate(rng));
    check_bytes!(veriplex::keys::PublicKey, *key.public_key(), Error::InvalidKey);
    check_bytes!(
        sig::Signature,
        sig::sign_deterministic(domain, &key, b""),
        Error::Verification
    );
    let proof = vrf::prove(domain, &key, b"", rng, &mut []).unwrap();
    check_bytes!(vrf::Proof, proof, Error::Verification);
    let (_, blinded) = oprf::blind(domain, b"", rng).unwrap();
    let ([evaluated], proof) = oprf::blind_evaluate_verifiable(domain, &server, &[blinded], rng).unwrap();
    check_bytes!(oprf::BlindedElement, blinded, Error::InvalidKey);
    check_bytes!(oprf::EvaluatedElement, evaluated, Error::InvalidKey);
    check_bytes!(oprf::Proof, proof, Error::Verification);
    check_bytes!(oprf::ServerPublicKey, *server.public_key(), Error::InvalidKey);

    let (group, shares) = frost::deal(domain, 2, 2, rng).unwrap();
    let (nonces, commitments): (Vec<_>, Vec<_>) = shares
        .iter()
        .map(|share| share.commit(domain, rng).unwrap())
        .unzip();
    let package = frost::SigningPackage::new(domain, &group, &commitments, b"").unwrap();
    let mut used = frost::UsedNonces::new();
    for (share, nonces) in shares.iter().zip(nonces) {
        let signed = share.sign_once(nonces, &package, &mut used).unwrap();
        check!(signed, Error::Verification);
    }
    check!(commitments[0], Error::InvalidKey);
    check!(group, Error::InvalidKey);
    check!(used, Error::InvalidState);
    let one = frost::Identifier::MIN;
    let (_, commitment) = dkg::start(domain, b"context", one, 2, 2, rng).unwrap();
    let text = commitment.to_string();
    assert_eq!(text.parse::<dkg::Commitment>().unwrap(), commitment);
    assert_eq!(text, hex::encode(commitment.to_bytes()));
    text_and_bytes(&Nonce::from([0xfa; 24]), &[0xfa; 24], Error::Verification);
    text_and_bytes(&Digest::from([0xfa; 32]), &[0xfa; 32], Error::Verification);
}

/// The order is that of the bytes.
#[test]
fn order() {
    let mut keys: Vec<_> = (1..20).map(|number| *key(number).public_key()).collect();
    keys.sort();
    assert!(keys.is_sorted_by_key(veriplex::keys::PublicKey::to_bytes));
}

fn exposed<T>(secret: T, bytes: &[u8])
where
    T: Debug + Eq,
    veriplex::serde::Exposed<T>: serde::Serialize + for<'de> serde::Deserialize<'de>,
{
    use veriplex::serde::Exposed;

    let debug = format!("{secret:?}");
    assert!(!debug.contains(&hex::encode(&bytes[..8])), "{debug}");
    let wrapped = Exposed(secret);
    let json = serde_json::to_string(&wrapped).unwrap();
    assert_eq!(json, format!("\"{}\"", hex::encode(bytes)));
    assert_eq!(serde_json::from_str::<Exposed<T>>(&json).unwrap(), wrapped);
    assert!(serde_json::from_str::<Exposed<T>>("\"00\"").is_err());
    let binary = postcard::to_allocvec(&wrapped).unwrap();
    assert_eq!(binary, postcard::to_allocvec(&Bytes(bytes)).unwrap());
    assert_eq!(postcard::from_bytes::<Exposed<T>>(&binary).unwrap(), wrapped);
    assert_eq!(format!("{wrapped:?}"), format!("Exposed({debug})"));
}

#[test]
fn secrets_are_written_only_if_exposed() {
    exposed(Key::<24>::from([7; 24]), &[7; 24]);
    exposed(key(1), &key(1).to_bytes());
    let server = oprf::ServerKey::generate(&mut Recorded::new([7; 64]));
    exposed(server.clone(), &server.to_bytes());
    assert_eq!(
        server.to_bytes().map(|b| format!("{b:02x}")).concat().parse(),
        Ok(server)
    );
    let (_, shares) = frost::deal(label!("traits"), 2, 2, &mut Recorded::new([7; 64])).unwrap();
    let wrapped = veriplex::serde::Exposed(shares[0].clone());
    let json = serde_json::to_string(&wrapped).unwrap();
    let again: veriplex::serde::Exposed<frost::KeyShare> = serde_json::from_str(&json).unwrap();
    assert_eq!(again.0.to_bytes(), shares[0].to_bytes());
}

#[test]
fn texts_of_keys_and_tags() {
    let text = "07".repeat(32);
    assert_eq!(text.parse(), Ok(Key::from([7; 32])));
    assert_eq!(*Key::from([7; 32]).to_hex(), text);
    assert_eq!(*Key::from([0xfa, 0x05]).to_hex(), "fa05");
    assert_eq!(*Key::from([]).to_hex(), "");
    for bad in [
        "",
        "07",
        &text[1..],
        &text.replace('7', "G"),
        &format!("{text}07"),
    ] {
        assert_eq!(bad.parse::<Key>(), Err(Error::InvalidKey));
        assert_eq!(bad.parse::<PrivateKey>(), Err(Error::InvalidKey));
        assert_eq!(bad.parse::<mac::Tag<32>>(), Err(Error::Verification));
    }
    let tag = mac::mac(label!("traits"), &Key::from([7; 32]), b"message");
    let bytes: [u8; 16] = tag.into();
    assert_eq!(hex::encode(bytes).parse(), Ok(tag));
    assert_eq!(mac::Tag::try_from(&bytes[..]), Ok(tag));
    assert!(mac::Tag::<16>::try_from(&bytes[1..]).is_err());
    let json = serde_json::to_string(&tag).unwrap();
    assert_eq!(serde_json::from_str::<mac::Tag>(&json).unwrap(), tag);
}
