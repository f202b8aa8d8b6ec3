//! The twin against the known answers of Poly1305, Adiantum and `HPolyC`, and against published answers of their parts.

#[path = "../../../tests/common/vectors.rs"]
mod folder;

use serde_json::Value;
use std::fs;
use veriplex_spec::adiantum::{
    adiantum_decrypt, adiantum_encrypt, hpolyc_decrypt, hpolyc_encrypt, hpolyc_go_decrypt, hpolyc_go_encrypt,
};
use veriplex_spec::{aes256, chacha, poly1305};

fn load(family: &str, name: &str) -> Vec<Value> {
    let path = folder::folder(family).join(name);
    let text = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cases: Vec<Value> = serde_json::from_slice(&text).unwrap();
    assert!(!cases.is_empty(), "no cases");
    cases
}

fn unhex(hex: &str) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0);
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect()
}

fn bytes(v: &Value, key: &str) -> Vec<u8> {
    unhex(v[key].as_str().unwrap_or_else(|| panic!("no {key} in {v}")))
}

#[test]
fn poly1305_vectors() {
    let file = load("poly1305", "poly1305.json");
    for v in &file {
        let message = if v["message"].is_string() {
            bytes(v, "message")
        } else {
            let mut x = v["message_seed"].as_u64().unwrap();
            (0..v["message_len"].as_u64().unwrap())
                .map(|_| {
                    x = x
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    x.to_be_bytes()[0]
                })
                .collect()
        };
        let (key, tag) = (bytes(v, "key"), bytes(v, "tag"));
        let valid = v["valid"] != false;
        assert_eq!(
            poly1305::poly1305(&key, &message) == tag[..],
            valid,
            "{}",
            v["name"]
        );
        if let Ok(tag) = tag.try_into() {
            assert_eq!(poly1305::verify(&key, &message, tag), valid, "{}", v["name"]);
        }
    }
}

#[test]
fn hbsh_vectors() {
    type Cipher = fn(usize, &[u8], &[u8], &[u8]) -> Vec<u8>;
    let file = load("adiantum", "hbsh.json");
    for v in &file {
        let name = v["cipher"].as_str().unwrap();
        let (family, rest) = name.split_once("-XChaCha").unwrap();
        let rounds = rest.strip_suffix("-AES256").unwrap().parse().unwrap();
        let (encrypt, decrypt): (Cipher, Cipher) = match (family, v["padding"].as_str()) {
            ("Adiantum", None) => (adiantum_encrypt, adiantum_decrypt),
            ("HPolyC", None) => (hpolyc_encrypt, hpolyc_decrypt),
            ("HPolyC", Some("go")) => (hpolyc_go_encrypt, hpolyc_go_decrypt),
            other => panic!("{other:?}"),
        };
        let (key, tweak) = (bytes(v, "key"), bytes(v, "tweak"));
        let (plaintext, ciphertext) = (bytes(v, "plaintext"), bytes(v, "ciphertext"));
        assert!(encrypt(rounds, &key, &tweak, &plaintext) == ciphertext, "{name}");
        assert!(decrypt(rounds, &key, &tweak, &ciphertext) == plaintext, "{name}");
    }
}

/// FIPS 197, appendix C.3.
#[test]
fn aes256_of_fips_197() {
    let key = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let plaintext = unhex("00112233445566778899aabbccddeeff").try_into().unwrap();
    let ciphertext = unhex("8ea2b7ca516745bfeafc49904b496089").try_into().unwrap();
    assert_eq!(aes256::encrypt(key, plaintext), ciphertext);
    assert_eq!(aes256::decrypt(key, ciphertext), plaintext);
}

/// draft-irtf-cfrg-xchacha-03, sections 2.1.1, 2.2.1 and A.3.2 (`XChaCha20`, whose counter starts at 0 here).
#[test]
fn chacha_of_rfc_8439_and_its_draft() {
    let input = [0x1111_1111, 0x0102_0304, 0x9b8d_6f43, 0x0123_4567];
    let output = [0xea2a_92f4, 0xcb1c_f8ce, 0x4581_472e, 0x5881_c4bb];
    assert_eq!(chacha::quarter_round(input), output);
    let key: Vec<u8> = (0..32).collect();
    assert_eq!(
        chacha::hchacha(20, &key, &unhex("000000090000004a0000000031415927")),
        unhex("82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
    );
}
