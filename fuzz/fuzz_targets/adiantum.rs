//! Poly1305, Adiantum, `HPolyC` and their parts, compared with the twin of their specification.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::adiantum::{Adiantum, HPolyC, WideBlockCipher};
use veriplex::hazmat::chacha::{chacha, xchacha};
use veriplex::hazmat::nh::{self, Nh};
use veriplex::hazmat::poly1305::Backend;
use veriplex::poly1305::{self, Poly1305};
use veriplex::{Error, TAG_LEN};
use veriplex_fuzz::{Change, Data};
use veriplex_spec as spec;

#[derive(Arbitrary, Debug)]
struct Case {
    algorithm: Algorithm,
    key: [u8; 32],
    nonce: [u8; 24],
    tweak: Data,
    message: Vec<Data>,
}

#[derive(Arbitrary, Debug)]
enum Algorithm {
    Poly1305 { bytes_hint: usize, changes: Vec<Change> },
    Adiantum,
    HPolyC { go_padding: bool },
    ChaCha { counter: u64 },
    Nh { key: Data },
}

fuzz_target!(|case: Case| {
    let Case { key, nonce, .. } = case;
    let tweak = case.tweak.bytes();
    let pieces: Vec<Vec<u8>> = case.message.iter().map(Data::bytes).collect();
    let message = pieces.concat();
    match case.algorithm {
        Algorithm::Poly1305 { bytes_hint, changes } => {
            let tag = spec::poly1305::poly1305(&key, &message);
            let mut poly = Poly1305::with_bytes_hint(key, bytes_hint);
            pieces.iter().for_each(|piece| poly.update(piece));
            assert_eq!(poly.finalize(), tag);
            for backend in Backend::available() {
                assert_eq!(backend.auth(&key, &message), tag);
                let mut state = backend.start(&key, bytes_hint);
                let (blocks, rest) = message.split_at(message.len() - message.len() % 16);
                let refused = !tweak.len().is_multiple_of(16);
                let before = state.clone();
                assert_eq!(
                    state.blocks(&tweak),
                    if refused { Err(Error::BufferLength) } else { Ok(()) }
                );
                state = before;
                state.blocks(blocks).unwrap();
                assert_eq!(state.finish(rest), Ok(tag));
            }
            let mut received = tag.to_vec();
            changes.iter().for_each(|change| change.apply(&mut received));
            assert_eq!(
                poly1305::verify(key, &message, &received).is_ok(),
                received == tag
            );
            assert_eq!(tag.len(), TAG_LEN);
        }
        Algorithm::Adiantum => {
            let cipher = Adiantum::<12>::new(&key);
            check(&cipher, &tweak, &message, || {
                spec::adiantum::adiantum_encrypt(12, &key, &tweak, &message)
            });
        }
        Algorithm::HPolyC { go_padding: false } => {
            let cipher = HPolyC::<8>::new(&key);
            check(&cipher, &tweak, &message, || {
                spec::adiantum::hpolyc_encrypt(8, &key, &tweak, &message)
            });
        }
        Algorithm::HPolyC { go_padding: true } => {
            let cipher = HPolyC::<20>::with_go_padding(&key);
            check(&cipher, &tweak, &message, || {
                spec::adiantum::hpolyc_go_encrypt(20, &key, &tweak, &message)
            });
        }
        Algorithm::ChaCha { counter } => {
            let mut data = message.clone();
            xchacha::<12>(&key, &nonce, &mut data);
            let stream = spec::chacha::xchacha(12, &key, &nonce, message.len());
            assert!(data.iter().zip(&message).map(|(d, m)| d ^ m).eq(stream));
            let nonce = nonce.first_chunk().unwrap();
            let mut data = message.clone();
            let result = chacha::<8>(&key, nonce, counter, &mut data);
            let more = message.len().saturating_sub(1) / 64;
            if counter.checked_add(more as u64).is_some() {
                let blocks = (0..=more as u64).flat_map(|i| spec::chacha::block(8, &key, nonce, counter + i));
                assert!(
                    data.iter()
                        .zip(&message)
                        .zip(blocks)
                        .all(|((d, m), b)| *d == m ^ b)
                );
            } else {
                assert_eq!((result, data), (Err(Error::LimitReached), message));
            }
        }
        Algorithm::Nh { key } => {
            let mut key = key.bytes();
            key.resize(nh::KEY_LEN, 0x5a);
            let nh = Nh::new(key.as_slice().try_into().unwrap());
            for piece in message.chunks(nh::MAX_LEN) {
                assert_eq!(nh.hash(piece).unwrap()[..], spec::nh::nh(&key, piece));
            }
        }
    }
});

/// Both directions, and that messages that are too short are refused.
fn check(cipher: &dyn WideBlockCipher, tweak: &[u8], message: &[u8], expected: impl FnOnce() -> Vec<u8>) {
    let encrypted = cipher.encrypt_vec(tweak, message);
    if message.len() < 16 {
        assert_eq!(encrypted, Err(Error::BufferLength));
        return;
    }
    let encrypted = encrypted.unwrap();
    assert!(encrypted == expected());
    assert!(cipher.decrypt_vec(tweak, &encrypted).unwrap() == message);
}
