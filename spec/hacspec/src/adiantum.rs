//! HBSH, Adiantum and `HPolyC` (eprint 2018/720), with n rounds of `XChaCha`.
//!
//! Cryptol twin: `spec/cryptol/Adiantum.cry`. Keep the two in step, definition by definition.

use crate::aes256;
use crate::chacha::xchacha;
use crate::nh::nh;
use crate::poly1305::{le_bytes, le_number, polynomial};
use alloc::{vec, vec::Vec};
use core::array::from_fn;

/// A number modulo 2^128, as bytes in little-endian order.
pub type Number = [u8; 16];

/// The sum.
pub fn add(x: Number, y: Number) -> Number {
    le_bytes(&(le_number(&x) + le_number(&y)))
}

/// The difference.
pub fn subtract(x: Number, y: Number) -> Number {
    let wrap = [vec![0; 16], vec![1]].concat();
    le_bytes(&(le_number(&wrap) + le_number(&x) - le_number(&y)))
}

/// Poly1305 as a hash: no pad is added.
#[cfg_attr(veriplex_hax, hax_lib::requires(r.len() == 16))]
pub fn poly(r: &[u8], message: &[u8]) -> Number {
    le_bytes(&polynomial(r, message))
}

/// The stream under a short nonce, padded with a byte 1 and zeros.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && nonce.len() < 24))]
pub fn short_nonce(n: usize, key: &[u8], nonce: &[u8], length: usize) -> Vec<u8> {
    let mut long = [nonce, &[1]].concat();
    long.resize(24, 0);
    xchacha(n, key, &long, length)
}

/// The first part of Adiantum's hash: the hash of the message's length and the tweak.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 16))]
pub fn tweak_hash(key: &[u8], tweak: &[u8], length: usize) -> Number {
    let bits = (8 * length as u128).to_le_bytes();
    poly(key, &[&bits, tweak].concat())
}

/// The second part: the hash of the message, which is Poly1305 over the NH hash of each KiB.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 1088))]
pub fn message_hash(key: &[u8], message: &[u8]) -> Number {
    let mut hashes = Vec::new();
    for piece in message.chunks(1024) {
        hashes.extend(nh(&key[16..], piece));
    }
    poly(&key[..16], &hashes)
}

/// The hash of Adiantum.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 1104))]
pub fn adiantum_hash(key: &[u8], tweak: &[u8], message: &[u8]) -> Number {
    add(
        tweak_hash(&key[..16], tweak, message.len()),
        message_hash(&key[16..], message),
    )
}

/// The hash of `HPolyC`: over the length of the tweak in bits, the tweak, z zeros, and the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 16 && tweak.len() < 1 << 29))]
pub fn padded_hash(key: &[u8], tweak: &[u8], z: usize, message: &[u8]) -> Number {
    let bits = (8 * tweak.len() as u128).to_le_bytes();
    let zeros = vec![0; z];
    poly(key, &[&bits[..4], tweak, &zeros, message].concat())
}

/// The number of zeros that fill up a block: none if it is full.
pub fn padding(tweak_len: usize) -> usize {
    (16 - (4 + tweak_len) % 16) % 16
}

/// The same with the Go package's padding: 16 zeros where none are needed.
pub fn go_padding(tweak_len: usize) -> usize {
    1 + (16 - (5 + tweak_len) % 16) % 16
}

/// The hash of `HPolyC`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 16 && tweak.len() < 1 << 29))]
pub fn hpolyc_hash(key: &[u8], tweak: &[u8], message: &[u8]) -> Number {
    padded_hash(key, tweak, padding(tweak.len()), message)
}

/// The same with the Go package's padding.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 16 && tweak.len() < 1 << 29))]
pub fn hpolyc_go_hash(key: &[u8], tweak: &[u8], message: &[u8]) -> Number {
    padded_hash(key, tweak, go_padding(tweak.len()), message)
}

/// The keys for a message.
#[derive(Clone, Debug)]
pub struct Keys {
    /// The user's key, for the stream.
    pub stream: Vec<u8>,
    /// The key of AES-256.
    pub block: [u8; 32],
    /// The key of the hash.
    pub hash: Vec<u8>,
}

/// Derives the keys: they are the beginning of the stream under an empty nonce.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32))]
pub fn derive(n: usize, key: &[u8], hash_key_len: usize) -> Keys {
    let keys = short_nonce(n, key, &[], 32 + hash_key_len);
    Keys {
        stream: key.to_vec(),
        block: from_fn(|i| keys[i]),
        hash: keys[32..].to_vec(),
    }
}

/// A hash under a tweak.
pub type Hash<'a> = &'a dyn Fn(&[u8]) -> Number;

/// The stream added to a message.
pub fn apply(n: usize, keys: &Keys, nonce: Number, message: &[u8]) -> Vec<u8> {
    let stream = short_nonce(n, &keys.stream, &nonce, message.len());
    message.iter().zip(stream).map(|(m, s)| m ^ s).collect()
}

/// The left part of a message, and its right part of 16 bytes.
#[cfg_attr(veriplex_hax, hax_lib::requires(message.len() >= 16))]
pub fn parts(message: &[u8]) -> (Vec<u8>, Number) {
    let (left, right) = message.split_at(message.len() - 16);
    (left.to_vec(), from_fn(|i| right[i]))
}

/// HBSH: hash, block cipher, stream cipher, hash.
#[cfg_attr(veriplex_hax, hax_lib::requires(plaintext.len() >= 16))]
pub fn hbsh_encrypt(n: usize, keys: &Keys, hash: Hash, plaintext: &[u8]) -> Vec<u8> {
    let (left, right) = parts(plaintext);
    let pm = add(right, hash(&left));
    let cm = aes256::encrypt(keys.block, pm);
    let cl = apply(n, keys, cm, &left);
    let cr = subtract(cm, hash(&cl));
    [cl, cr.to_vec()].concat()
}

/// The inverse of `hbsh_encrypt`.
#[cfg_attr(veriplex_hax, hax_lib::requires(ciphertext.len() >= 16))]
pub fn hbsh_decrypt(n: usize, keys: &Keys, hash: Hash, ciphertext: &[u8]) -> Vec<u8> {
    let (left, right) = parts(ciphertext);
    let cm = add(right, hash(&left));
    let pl = apply(n, keys, cm, &left);
    let pm = aes256::decrypt(keys.block, cm);
    let pr = subtract(pm, hash(&pl));
    [pl, pr.to_vec()].concat()
}

/// Adiantum.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && plaintext.len() >= 16))]
pub fn adiantum_encrypt(n: usize, key: &[u8], tweak: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 1104);
    hbsh_encrypt(n, &keys, &|m| adiantum_hash(&keys.hash, tweak, m), plaintext)
}

/// The inverse of `adiantum_encrypt`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && ciphertext.len() >= 16))]
pub fn adiantum_decrypt(n: usize, key: &[u8], tweak: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 1104);
    hbsh_decrypt(n, &keys, &|m| adiantum_hash(&keys.hash, tweak, m), ciphertext)
}

/// `HPolyC`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && tweak.len() < 1 << 29 && plaintext.len() >= 16))]
pub fn hpolyc_encrypt(n: usize, key: &[u8], tweak: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 16);
    hbsh_encrypt(n, &keys, &|m| hpolyc_hash(&keys.hash, tweak, m), plaintext)
}

/// The inverse of `hpolyc_encrypt`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && tweak.len() < 1 << 29 && ciphertext.len() >= 16))]
pub fn hpolyc_decrypt(n: usize, key: &[u8], tweak: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 16);
    hbsh_decrypt(n, &keys, &|m| hpolyc_hash(&keys.hash, tweak, m), ciphertext)
}

/// `HPolyC` with the padding of the Go package.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && tweak.len() < 1 << 29 && plaintext.len() >= 16))]
pub fn hpolyc_go_encrypt(n: usize, key: &[u8], tweak: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 16);
    hbsh_encrypt(n, &keys, &|m| hpolyc_go_hash(&keys.hash, tweak, m), plaintext)
}

/// The inverse of `hpolyc_go_encrypt`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32 && tweak.len() < 1 << 29 && ciphertext.len() >= 16))]
pub fn hpolyc_go_decrypt(n: usize, key: &[u8], tweak: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let keys = derive(n, key, 16);
    hbsh_decrypt(n, &keys, &|m| hpolyc_go_hash(&keys.hash, tweak, m), ciphertext)
}
