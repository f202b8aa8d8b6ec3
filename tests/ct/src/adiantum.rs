//! Poly1305, Adiantum and `HPolyC` with secret keys and messages. Lengths and tweaks are public.

use std::path::Path;

use serde_json::Value;
use subtle::ConstantTimeEq;
use veriplex::adiantum::{AT_ONCE, Adiantum, HPolyC, WideBlockCipher};
use veriplex::hazmat::poly1305::Backend;
use veriplex::poly1305::Poly1305;

use crate::linux::{cases, expect, hidden, known};
use crate::memcheck::{public, secret};

pub fn vectors() -> usize {
    poly1305() + hbsh() + sectors()
}

fn load(path: &str) -> Value {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors")).join(path);
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Runs every backend, and in pieces the one in use. Only whether a tag is right is public. `Poly1305::verify` branches
/// on that, so we make the same comparison here.
fn poly1305() -> usize {
    let file = load("poly1305/poly1305.json");
    let mut n = 0;
    for case in cases(&file).iter().filter(|case| case["message"].is_string()) {
        let mut key: [u8; 32] = known(case, "key").try_into().expect("32 bytes");
        secret(&mut key);
        let (message, tag) = (hidden(case, "message"), known(case, "tag"));
        let valid = case["valid"] != false;
        for backend in Backend::available() {
            let computed = backend.auth(&key, &message);
            let mut same = [computed.ct_eq(&tag[..]).unwrap_u8()];
            public(&mut same);
            assert_eq!(same, [u8::from(valid)]);
        }
        if valid {
            let mut poly = Poly1305::new(key);
            message.chunks(23).for_each(|piece| poly.update(piece));
            expect(poly.finalize().to_vec(), &tag);
        }
        n += 1;
    }
    n
}

/// The cases with 12 rounds, in both directions.
fn hbsh() -> usize {
    let file = load("adiantum/hbsh.json");
    let mut n = 0;
    for case in cases(&file) {
        let key = hidden(case, "key");
        let key = key.as_slice().try_into().expect("32 bytes");
        let cipher: Box<dyn WideBlockCipher> = match (
            case["cipher"].as_str().expect("a name"),
            case.get("padding").is_some(),
        ) {
            ("Adiantum-XChaCha12-AES256", false) => Box::new(Adiantum::<12>::new(key)),
            ("HPolyC-XChaCha12-AES256", false) => Box::new(HPolyC::<12>::new(key)),
            _ => continue,
        };
        let tweak = known(case, "tweak");
        let mut data = hidden(case, "plaintext");
        cipher
            .encrypt_in_place(&tweak, &mut data)
            .expect("16 bytes or more");
        expect(data, &known(case, "ciphertext"));
        let mut data = known(case, "ciphertext");
        cipher
            .decrypt_in_place(&tweak, &mut data)
            .expect("16 bytes or more");
        expect(data, &known(case, "plaintext"));
        n += 1;
    }
    assert!(n > 40, "{n}");
    n
}

/// Sectors that are worked on at once, and one more. Expected are the same sectors one by one, with nothing secret.
fn sectors() -> usize {
    type Create = fn(&[u8; 32]) -> Box<dyn WideBlockCipher>;
    let mut n = 0;
    let create: [Create; 2] = [
        |key| Box::new(Adiantum::<12>::new(key)),
        |key| Box::new(HPolyC::<12>::new(key)),
    ];
    for create in create {
        for sector_len in [16, 100, 512, 520, 4096] {
            let mut key = [7; 32];
            let image: Vec<u8> = (0..=250).cycle().take(sector_len * (AT_ONCE + 1)).collect();
            let mut expected = image.clone();
            for (sector, number) in expected.chunks_mut(sector_len).zip(5_u64..) {
                let mut tweak = [0; 32];
                tweak[..8].copy_from_slice(&number.to_le_bytes());
                create(&key)
                    .encrypt_in_place(&tweak, sector)
                    .expect("16 bytes or more");
            }
            secret(&mut key);
            let cipher = create(&key);
            let mut data = image.clone();
            secret(&mut data);
            cipher.encrypt_sectors(sector_len, 5, &mut data).expect("sectors");
            expect(data, &expected);
            let mut data = expected;
            secret(&mut data);
            cipher.decrypt_sectors(sector_len, 5, &mut data).expect("sectors");
            expect(data, &image);
            n += 1;
        }
    }
    n
}
