//! Private and public keys as `docs/formats.md` describes them, by number.

#![allow(dead_code)] // no test needs all

use veriplex::keys::PrivateKey;
use veriplex::{Key, hybrid, kdf, label, sig};

/// The secret of the private key of this number; of number 0 all zeros.
pub fn secret(number: u8) -> [u8; 32] {
    let mut factor = 0_u8;
    [(); 32].map(|()| {
        factor = factor.wrapping_add(7);
        number.wrapping_mul(factor)
    })
}

/// What is derived from the private key of this number, as `docs/formats.md` says.
pub fn expand<const N: usize>(number: u8, context: &str) -> Key<N> {
    kdf::derive_key(
        label!("veriplex.private-key.v1"),
        &secret(number),
        context.as_bytes(),
    )
}

pub fn sign_key(number: u8) -> PrivateKey {
    PrivateKey::from_uniform_bytes(*expand(number, "sign").as_bytes()).unwrap()
}

pub fn hybrid_key(number: u8, context: &str) -> hybrid::PrivateKey {
    let bytes: Key<128> = expand(number, context);
    let (scalar, seed) = bytes.as_bytes().split_first_chunk().unwrap();
    let scalar = PrivateKey::from_uniform_bytes(*scalar).unwrap();
    hybrid::PrivateKey::try_from(&*[&scalar.to_bytes(), seed].concat()).unwrap()
}

pub fn private_line(number: u8) -> String {
    format!("veriplex-private-key-v1 {}\n", hex::encode(secret(number)))
}

/// What its fingerprint is of.
pub fn public_bytes(number: u8) -> Vec<u8> {
    let [seal, tunnel] = ["seal", "tunnel"].map(|context| hybrid_key(number, context));
    let sign = sign_key(number);
    let parts = [
        &sign.public_key().as_bytes()[..],
        seal.public_key().as_bytes(),
        tunnel.public_key().as_bytes(),
    ];
    parts.concat()
}

pub fn public_line(number: u8) -> String {
    line_of(&public_bytes(number), &proof(number, &public_bytes(number)))
}

/// The line of these parts and this proof.
pub fn line_of(parts: &[u8], proof: &[[u8; 64]; 3]) -> String {
    format!(
        "veriplex-public-key-v1 {}\n",
        base64(&[parts, proof.as_flattened()].concat())
    )
}

/// The proof for these parts by who has the private key of this number.
pub fn proof(number: u8, parts: &[u8]) -> [[u8; 64]; 3] {
    let scalar = |context| {
        let bytes = hybrid_key(number, context).to_bytes();
        PrivateKey::from_bytes(bytes.first_chunk().unwrap()).unwrap()
    };
    [sign_key(number), scalar("seal"), scalar("tunnel")]
        .map(|key| sig::sign_deterministic(label!("veriplex.public-key.proof.v1"), &key, parts).to_bytes())
}

pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut padded = [0; 4];
        padded[1..=group.len()].copy_from_slice(group);
        let number = u32::from_be_bytes(padded);
        for i in 0..4 {
            let digit = number >> (18 - 6 * i) & 63;
            text.push(if i <= group.len() {
                char::from(DIGITS[digit as usize])
            } else {
                '='
            });
        }
    }
    text
}
