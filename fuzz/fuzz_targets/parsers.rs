//! Everything that reads an encoding: what it accepts it writes again in the same way.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Error, Label, Protocol, hazmat, label};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    match first % 4 {
        0 => state(bytes),
        1 => name(bytes),
        2 => private_key(bytes),
        _ => public_key(bytes),
    }
});

/// As many bytes as the encoding has, zeros for those that did not come.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    let n = bytes.len().min(N);
    array[..n].copy_from_slice(&bytes[..n]);
    array
}

/// Any state that is accepted can be worked with.
fn state(bytes: &[u8]) {
    assert!(bytes.len() == 130 || Protocol::try_from(bytes) == Err(Error::InvalidState));
    let encoded = array::<130>(bytes);
    let raw = hazmat::Duplex::from_bytes(&encoded);
    let Ok(mut protocol) = Protocol::from_bytes(&encoded) else {
        assert_eq!(raw, Err(Error::InvalidState));
        return;
    };
    assert_eq!(protocol.to_bytes(), encoded);
    assert_eq!(raw.unwrap().to_bytes(), encoded);
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

fn private_key(bytes: &[u8]) {
    let _ = PrivateKey::from_uniform_bytes(array(bytes));
    let bytes = array(bytes);
    match PrivateKey::from_bytes(&bytes) {
        Ok(key) => {
            assert_eq!(key.to_bytes(), bytes);
            let public = PublicKey::from_bytes(key.public_key().as_bytes()).unwrap();
            assert_eq!(public, *key.public_key());
        }
        Err(error) => assert_eq!(error, Error::InvalidKey),
    }
}

fn public_key(bytes: &[u8]) {
    let bytes = array(bytes);
    match PublicKey::from_bytes(&bytes) {
        Ok(key) => assert_eq!(key.to_bytes(), bytes),
        Err(error) => assert_eq!(error, Error::InvalidKey),
    }
}
