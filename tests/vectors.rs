//! Newplex's known answers, on every backend.

mod common;

use common::vectors::{FAMILIES, choose};
use common::{array, bytes, cases, keyed, keyed_with_nonce, number, on_each_backend, text, vectors};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use veriplex::aead::Aead;
use veriplex::aestream::{Opener, Sealer};
use veriplex::hazmat::{Backend, Duplex};
use veriplex::mac::{Mac, Tag};
use veriplex::mhf::Mhf;
use veriplex::siv::Siv;
use veriplex::{Error, Label, Protocol, digest, oae2, stream};

/// `make test` compiles these tests again for backends that it names. They find the instructions that there are.
#[test]
fn compiled_for_the_backend_asked_for() {
    let compiled_for = if cfg!(veriplex_backend = "portable") {
        "portable"
    } else if cfg!(veriplex_intrinsics) {
        "intrinsics"
    } else {
        "any"
    };
    let asked_for = std::env::var("VERIPLEX_COMPILED_FOR").unwrap_or_else(|_| compiled_for.to_owned());
    assert_eq!(compiled_for, asked_for);
    #[cfg(target_arch = "x86_64")]
    let has_instructions = is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx");
    #[cfg(target_arch = "aarch64")]
    let has_instructions = std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    assert_eq!(
        Backend::hardware().is_some(),
        has_instructions && compiled_for != "portable"
    );
}

#[test]
fn simpira1024() {
    let file = vectors("simpira1024");
    on_each_backend(|backend| {
        for case in cases(&file["vectors"]) {
            let mut state = array(case, "input");
            backend.permute(&mut state);
            assert_eq!(state, array(case, "output"), "{backend:?}");
        }
        let iterated = &file["iterated"];
        let mut state = array(iterated, "start");
        for _ in 0..number(iterated, "count") {
            backend.permute(&mut state);
        }
        assert_eq!(state, array(iterated, "output"), "{backend:?}");
    });
}

#[test]
fn duplex() {
    let file = vectors("duplex");
    on_each_backend(|_| {
        for case in cases(&file["sequences"]) {
            let mut duplex = Duplex::new();
            for op in cases(&case["ops"]) {
                run_duplex(&mut duplex, op);
            }
            assert_eq!(duplex.to_bytes(), state(case));
        }
    });
}

fn run_duplex(duplex: &mut Duplex, op: &Value) {
    let byte = |key| u8::try_from(number(op, key)).unwrap();
    match text(op, "op") {
        "absorb" => duplex.absorb(&bytes(op, "data")),
        "absorb_leb128" => {
            let mut rest: u64 = text(op, "value").parse().unwrap();
            while rest >= 0x80 {
                duplex.absorb(&[u8::try_from(rest & 0x7f).unwrap() | 0x80]);
                rest >>= 7;
            }
            duplex.absorb(&[u8::try_from(rest).unwrap()]);
        }
        "squeeze" => {
            let mut output = vec![0xa5; usize::try_from(number(op, "n")).unwrap()];
            duplex.squeeze(&mut output);
            assert_eq!(output, bytes(op, "out"));
        }
        "encrypt" => {
            let mut data = bytes(op, "data");
            duplex.encrypt(&mut data);
            assert_eq!(data, bytes(op, "out"));
        }
        "decrypt" => {
            let mut data = bytes(op, "data");
            duplex.decrypt(&mut data);
            assert_eq!(data, bytes(op, "out"));
        }
        "frame" => duplex.frame(byte("id")),
        "permute" => duplex.permute(),
        "ratchet" => duplex.ratchet(),
        other => panic!("unknown operation {other}"),
    }
}

/// The serialised final state of a case.
fn state(case: &Value) -> [u8; 130] {
    let mut serialised = [0; 130];
    serialised[0] = u8::try_from(number(case, "rate_idx")).unwrap();
    serialised[1] = u8::try_from(number(case, "frame_idx")).unwrap();
    serialised[2..].copy_from_slice(&array::<128>(case, "state"));
    serialised
}

#[test]
fn protocol() {
    let file = vectors("protocol");
    on_each_backend(|_| {
        for case in cases(&file["transcripts"])
            .iter()
            .chain(cases(&file["long_labels"]))
        {
            let mut protocol = Protocol::new(Label::try_from(text(case, "domain")).unwrap());
            for op in cases(&case["ops"]) {
                run_protocol(&mut protocol, op);
            }
            assert_eq!(protocol.to_bytes(), state(case));
        }
    });
}

fn run_protocol(protocol: &mut Protocol, op: &Value) {
    let label = Label::try_from(text(op, "label")).unwrap();
    match text(op, "op") {
        "mix" => protocol.mix(label, &bytes(op, "input")),
        "derive" => {
            let n = usize::try_from(number(op, "n")).unwrap();
            assert_eq!(protocol.derive_vec(label, n), bytes(op, "output"));
        }
        "mask" => assert_eq!(
            protocol.mask_vec(label, &bytes(op, "plaintext")),
            bytes(op, "ciphertext")
        ),
        "unmask" => assert_eq!(
            protocol.unmask_vec(label, &bytes(op, "ciphertext")),
            bytes(op, "plaintext")
        ),
        "seal" => {
            let mut receiver = protocol.clone();
            assert_eq!(
                protocol.seal_vec(label, &bytes(op, "plaintext")),
                bytes(op, "sealed")
            );
            assert_eq!(
                receiver.open_vec(label, &bytes(op, "sealed")).unwrap(),
                bytes(op, "plaintext")
            );
            assert_eq!(receiver, *protocol);
        }
        "fork" => {
            let values: Vec<Vec<u8>> = cases(&op["values"])
                .iter()
                .map(|v| hex::decode(v.as_str().unwrap()).unwrap())
                .collect();
            let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
            let branches = protocol.fork_vec(label, &values).unwrap();
            for (branch, expected) in branches.iter().zip(cases(&op["branch_states"])) {
                assert_eq!(hex::encode(branch.to_bytes()), expected.as_str().unwrap());
            }
            assert_eq!(hex::encode(protocol.to_bytes()), text(op, "root_state"));
            // 0 is the root, and i is branch i.
            if let Some(i) = usize::try_from(number(op, "continue_with"))
                .unwrap()
                .checked_sub(1)
            {
                *protocol = branches[i].clone();
            }
        }
        "ratchet" => protocol.ratchet(label),
        other => panic!("unknown operation {other}"),
    }
}

/// The original's collision is real on the raw duplex, and the public API refuses its label.
#[test]
fn label_92_collision() {
    fn replay(domain: &str, ops: &[Value]) -> [u8; 130] {
        fn header(duplex: &mut Duplex, op: u8, label: &[u8]) {
            duplex.frame(op);
            duplex.absorb(label);
            duplex.frame(op | 0x80);
        }
        let mut duplex = Duplex::new();
        header(&mut duplex, 0x01, domain.as_bytes());
        for op in ops {
            assert_eq!(text(op, "op"), "mix");
            header(&mut duplex, 0x02, text(op, "label").as_bytes());
            duplex.absorb(&bytes(op, "input"));
        }
        duplex.to_bytes()
    }

    let file = vectors("protocol");
    let case = &file["label_92_collision"];
    let (left, right) = (cases(&case["left"]), cases(&case["right"]));
    assert_ne!(left, right);
    on_each_backend(|_| {
        let state = replay(text(case, "domain"), left);
        assert_eq!(state, replay(text(case, "domain"), right));
        assert_eq!(state, array(case, "state_left"));
        assert_eq!(state, array(case, "state_right"));
    });
    let refused = right
        .iter()
        .filter(|op| Label::try_from(text(op, "label")) == Err(Error::LabelTooLong));
    assert_eq!(refused.count(), 1);
}

#[test]
fn digest_and_mac() {
    let file = vectors("digest");
    on_each_backend(|_| {
        for case in cases(&file) {
            let domain = Label::try_from(text(case, "domain")).unwrap();
            let message = bytes(case, "message");
            assert_eq!(digest::digest(domain, &message).to_bytes(), array(case, "digest"));
            check_mac(
                domain,
                &bytes(case, "key"),
                &message,
                &array(case, "keyed_digest"),
            );
        }
    });
}

fn check_mac(domain: Label<'_>, key: &[u8], message: &[u8], tag: &[u8; 16]) {
    let mut mac = Mac::from_protocol(keyed(domain, key));
    mac.update(message);
    assert_eq!(mac.clone().finalize(), Tag::from(*tag));
    assert_eq!(mac.verify(tag), Ok(()));
}

#[test]
fn mac_and_stream() {
    let file = vectors("mac_stream");
    on_each_backend(|_| {
        for case in cases(&file) {
            let (key, nonce, message) = (bytes(case, "key"), bytes(case, "nonce"), bytes(case, "message"));
            check_mac(
                Label::try_from(text(case, "mac_domain")).unwrap(),
                &key,
                &message,
                &array(case, "tag"),
            );
            let domain = Label::try_from(text(case, "stream_domain")).unwrap();
            let mut data = message.clone();
            let keyed = keyed_with_nonce(domain, &key, &nonce);
            stream::Encryptor::from_protocol(keyed.clone()).update(&mut data);
            assert_eq!(data, bytes(case, "ciphertext"));
            stream::Decryptor::from_protocol(keyed).update(&mut data);
            assert_eq!(data, message);
        }
    });
}

#[test]
fn aead() {
    fn check<const N: usize>(case: &Value) {
        let domain = Label::try_from(text(case, "domain")).unwrap();
        let aead = Aead::<N>::from_protocol(keyed(domain, &bytes(case, "key")));
        let (nonce, ad, sealed) = (array(case, "nonce"), bytes(case, "ad"), bytes(case, "ciphertext"));
        if case["valid"].as_bool().unwrap() {
            let plaintext = bytes(case, "plaintext");
            assert_eq!(aead.seal_vec(&nonce, &ad, &plaintext), sealed);
            assert_eq!(aead.open_vec(&nonce, &ad, &sealed).unwrap(), plaintext);
        } else {
            assert_eq!(aead.open_vec(&nonce, &ad, &sealed), Err(Error::Verification));
        }
    }
    macro_rules! by_nonce_len {
        ($case:expr, $($n:literal)*) => {
            match bytes($case, "nonce").len() {
                $($n => check::<$n>($case),)*
                n => panic!("add {n} to the list of nonce lengths"),
            }
        };
    }
    let file = vectors("aead");
    on_each_backend(|_| {
        for case in cases(&file) {
            by_nonce_len!(case, 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 40 48 64);
        }
    });
}

#[test]
fn siv() {
    let file = vectors("siv");
    on_each_backend(|_| {
        for case in cases(&file) {
            let domain = Label::try_from(text(case, "domain")).unwrap();
            let siv = Siv::from_protocol(keyed(domain, &bytes(case, "key")));
            let (nonce, ad, sealed) = (bytes(case, "nonce"), bytes(case, "ad"), bytes(case, "ciphertext"));
            if case["valid"].as_bool().unwrap() {
                let plaintext = bytes(case, "plaintext");
                assert_eq!(siv.seal_vec(&nonce, &ad, &plaintext), sealed);
                assert_eq!(siv.open_vec(&nonce, &ad, &sealed).unwrap(), plaintext);
            } else {
                assert_eq!(siv.open_vec(&nonce, &ad, &sealed), Err(Error::Verification));
            }
        }
    });
}

#[test]
fn aestream() {
    let file = vectors("aestream");
    on_each_backend(|_| {
        for case in cases(&file) {
            let domain = Label::try_from(text(case, "domain")).unwrap();
            let keyed = keyed(domain, &bytes(case, "key"));
            let writes: Vec<Vec<u8>> = (case["writes"].as_array().unwrap().iter())
                .map(|write| hex::decode(write.as_str().unwrap()).unwrap())
                .collect();

            let mut sealer = Sealer::from_protocol(keyed.clone());
            let mut sealed = Vec::new();
            for block in writes.iter().flat_map(|write| write.chunks(0xffff)) {
                let start = sealed.len();
                sealed.extend_from_slice(&[0; 2]);
                sealed.extend_from_slice(block);
                sealed.extend_from_slice(&[0; 16]);
                sealer.seal_block(&mut sealed[start..]).unwrap();
            }
            let (end, protocol) = sealer.finish();
            sealed.extend_from_slice(&end);
            assert_eq!(sealed, bytes(case, "ciphertext"));
            assert_eq!(hex::encode(protocol.to_bytes()), text(case, "final_state"));

            let mut opener = Opener::from_protocol(keyed.clone());
            let mut opened = Vec::new();
            let mut rest = sealed.as_mut_slice();
            while !opener.is_finished() {
                let (header, after) = rest.split_first_chunk_mut().unwrap();
                let body = opener.header(*header).unwrap();
                let (sealed, after) = after.split_at_mut(body.sealed_len());
                if let Some(plaintext) = body.open(sealed).unwrap() {
                    opened.extend_from_slice(plaintext);
                }
                rest = after;
            }
            assert!(rest.is_empty());
            assert_eq!(opened, writes.concat());
            assert_eq!(
                Opener::from_protocol(keyed).open_vec(&bytes(case, "ciphertext")),
                Ok(opened)
            );
            assert_eq!(opener.finish().unwrap(), protocol);
        }
    });
}

#[test]
fn oae2() {
    fn check<const N: usize>(case: &Value) {
        let domain = Label::try_from(text(case, "domain")).unwrap();
        let keyed = keyed(domain, &bytes(case, "key"));
        let plaintext = bytes(case, "plaintext");
        let (blocks, rest) = plaintext.as_chunks::<N>();

        let mut sealer = oae2::Sealer::<N>::from_protocol(keyed.clone());
        let mut sealed = Vec::new();
        for block in blocks {
            let mut block = [block.as_slice(), &[0; 16]].concat();
            sealer.seal_block(&mut block).unwrap();
            sealed.extend_from_slice(&block);
        }
        let mut last = [rest, &vec![0xa5; N + 16 - rest.len()]].concat();
        let protocol = sealer.finish(&mut last, rest.len()).unwrap();
        sealed.extend_from_slice(&last);
        assert_eq!(sealed, bytes(case, "ciphertext"));

        let mut opener = oae2::Opener::<N>::from_protocol(keyed);
        let mut opened = Vec::new();
        let (full, last) = sealed.split_at_mut(blocks.len() * (N + 16));
        for block in full.chunks_mut(N + 16) {
            opened.extend_from_slice(opener.open_block(block).unwrap());
        }
        opened.extend_from_slice(opener.open_last(last).unwrap());
        assert_eq!(opened, plaintext);
        assert_eq!(opener.finish().unwrap(), protocol);
    }
    let file = vectors("oae2");
    on_each_backend(|_| {
        for case in cases(&file) {
            match number(case, "block_size") {
                1 => check::<1>(case),
                16 => check::<16>(case),
                64 => check::<64>(case),
                94 => check::<94>(case),
                1024 => check::<1024>(case),
                n => panic!("add {n} to the list of block sizes"),
            }
        }
    });
}

#[test]
fn mhf() {
    let file = vectors("mhf");
    on_each_backend(|backend| {
        for case in cases(&file) {
            let cost = u8::try_from(number(case, "cost")).unwrap();
            let mhf = Mhf::with_any_cost(Label::try_from(text(case, "domain")).unwrap(), cost).unwrap();
            let mut output = vec![0xa5; usize::try_from(number(case, "n")).unwrap()];
            mhf.hash_into(&bytes(case, "password"), &bytes(case, "salt"), &mut output)
                .unwrap();
            assert_eq!(output, bytes(case, "output"), "cost {cost}, {backend:?}");
        }
    });
}

#[test]
fn every_family_is_read() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let folders: BTreeSet<String> = (fs::read_dir(own).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, FAMILIES.map(String::from).into());
}

#[test]
fn a_given_folder_is_read_or_refused() {
    let given = std::env::temp_dir().join(format!("veriplex-vectors-{}", std::process::id()));
    let own = Path::new("own");
    let refused = || std::panic::catch_unwind(|| choose("newplex", own, Some(&given))).is_err();
    assert!(refused(), "a missing folder was accepted");
    fs::create_dir(&given).unwrap();
    assert!(refused(), "an empty folder was accepted");
    fs::create_dir(given.join("newplex")).unwrap();
    assert_eq!(choose("newplex", own, Some(&given)), given.join("newplex"));
    assert_eq!(choose("newplex", own, None), own.join("newplex"));
    fs::create_dir(given.join("nobody")).unwrap();
    assert!(refused(), "a folder that no test reads was accepted");
    fs::remove_dir_all(&given).unwrap();
}
