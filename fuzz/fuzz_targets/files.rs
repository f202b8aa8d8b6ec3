//! The files of the program `veriplex`, with changes. The program's own functions open a genuine file; they refuse any
//! other with the right exit status and leave nothing behind.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use password_hash::PasswordHasher;
use rand_core::SeedableRng;
use veriplex::mac::Mac;
use veriplex::mhf::Mhf;
use veriplex::rustcrypto::{Domain, password_hash as phc, rand_core::Generator};
use veriplex::seekable::Seekable;
use veriplex::{Key, Label, hybrid, label, siv::Siv};
use veriplex_cli::keys::{self, Named, Private};
use veriplex_cli::{checksum_list, encrypted, password, sealed};
use veriplex_files::crypt::{Job, Kind as Files, Make, Range, Secret};
use veriplex_files::error::{Error, Status};
use veriplex_files::files::{Input, Output};
use veriplex_fuzz::{Change, Data};

#[derive(Arbitrary, Debug)]
struct Case {
    kind: Kind,
    /// The receiver uses a password where a key is needed, or a key where a password is needed.
    wrong_secret: bool,
    seed: [u8; 32],
    plaintext: Data,
    changes: Vec<Change>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Key,
    /// With this cost modulo 4. A cost of 3 is above the limit.
    Password(u8),
    Deterministic,
    Sealed,
    SymmetricKey,
    PrivateKey,
    PasswordHash,
    Sum,
}

const KEY: [u8; 32] = [7; 32];
const PASSWORD: &[u8] = b"password";
const MAX_COST: u8 = 2;
/// What lines of digests may say that they are.
const TAG: &str = "VERIPLEX-DIGEST";

fuzz_target!(|case: Case| {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| fs::write(place(name), bytes).unwrap();
    let changed = |genuine: &[u8]| {
        let mut changed = genuine.to_vec();
        case.changes.iter().for_each(|change| change.apply(&mut changed));
        changed
    };
    let plaintext = case.plaintext.bytes();
    let mut rng = Generator::from_seed(case.seed);
    let [sender, receiver] = [7, 8].map(|byte| Private::from_secret(&[byte; 32]));
    let (input, output) = (place("input"), place("output"));
    // Opens what arrives in place of a genuine file. Only the genuine file may open.
    type Open<'a> = &'a dyn Fn(Input, Output) -> Result<(), Error>;
    let check = |files: Files, genuine: &[u8], is_allowed: bool, open: Open<'_>| {
        let received = changed(genuine);
        write("input", &received);
        let before = names(folder.path());
        let job = Job {
            input: &input,
            output: Some(&output),
            force: false,
            armor: false,
            show_progress: false,
        };
        let opened = job.open(Make::Plaintext(files));
        match opened.and_then(|(input, output)| open(input, output)) {
            Ok(()) => {
                assert!(is_allowed && received == genuine);
                assert_eq!(fs::read(&output).unwrap(), plaintext);
            }
            Err(error) => {
                assert!(!is_allowed || received != genuine, "{error:?}");
                assert_eq!(error.status, Status::Unverified, "{error:?}");
                assert_eq!(names(folder.path()), before);
            }
        }
    };
    let decrypt = |is_password| {
        move |input: Input, output: Output| {
            encrypted::decrypt(input, output, &secret(is_password), MAX_COST, Range::default())
        }
    };
    match case.kind {
        Kind::Key => {
            let genuine = segments(b"VERIPLEX\x01\0", &KEY, &case.seed, &plaintext);
            check(
                Files::Encrypted,
                &genuine,
                !case.wrong_secret,
                &decrypt(case.wrong_secret),
            );
        }
        Kind::Password(cost) => {
            let cost = cost % 4;
            let mut key = [0; 32];
            Mhf::with_any_cost(label!("veriplex.file.password.v1"), cost)
                .and_then(|mhf| mhf.hash_into(PASSWORD, &case.seed, &mut key))
                .unwrap();
            let header = [b"VERIPLEX\x02".as_slice(), &[cost, 0]].concat();
            let genuine = segments(&header, &key, &case.seed, &plaintext);
            let is_allowed = !case.wrong_secret && cost <= MAX_COST;
            check(
                Files::Encrypted,
                &genuine,
                is_allowed,
                &decrypt(!case.wrong_secret),
            );
        }
        Kind::Deterministic => {
            let header = b"VERIPLEX\x03";
            let mut message = plaintext.clone();
            let tag = Siv::new(label!("veriplex.file.siv.v1"), &Key::from(KEY)).seal_in_place_detached(
                b"",
                header,
                &mut message,
            );
            let genuine = [header.as_slice(), &tag, &message].concat();
            check(
                Files::Encrypted,
                &genuine,
                !case.wrong_secret,
                &decrypt(case.wrong_secret),
            );
        }
        Kind::Sealed => {
            let domain = label!("veriplex.seal.v1");
            let [from, to] = [&sender, &receiver].map(|key| key.seal().unwrap());
            let (encapsulation, mut protocol) =
                hybrid::setup_sender(domain, &from, to.public_key(), &mut rng).unwrap();
            let mut header = b"VPX-SEAL\x01\x01".to_vec();
            protocol.mix(label!("header"), &header);
            let mut sealed = KEY;
            let tag = protocol.seal_in_place_detached(label!("file-key"), &mut sealed);
            header.extend([&encapsulation[..], &sealed, &tag, &[0]].concat());
            let genuine = segments(&header, &KEY, &case.seed, &plaintext);
            let from = if case.wrong_secret { &receiver } else { &sender };
            let senders = [Named {
                key: from.public().unwrap(),
                name: String::new(),
            }];
            check(Files::Sealed, &genuine, !case.wrong_secret, &|input, output| {
                sealed::unseal_file(input, output, &to, Some(&senders)).map(drop)
            });
        }
        Kind::SymmetricKey => {
            let genuine = format!("veriplex-key-v1 {}\n", hex::encode(case.seed));
            let received = changed(genuine.as_bytes());
            write("key", &received);
            match keys::read_symmetric(&place("key"), |key| *key.as_bytes()) {
                Ok(key) => assert!(has_line("veriplex-key-v1", &key, &received)),
                Err(error) => assert_eq!((error.status, received != genuine.as_bytes()), (Status::Io, true)),
            }
        }
        Kind::PrivateKey => {
            let genuine = format!("veriplex-private-key-v1 {}\n", hex::encode(case.seed));
            let received = changed(genuine.as_bytes());
            write("key", &received);
            write("password", PASSWORD);
            let source = password::Source::File(place("password"));
            match keys::read_private(&place("key"), &source) {
                Ok(key) => assert!(has_line("veriplex-private-key-v1", key.secret(), &received)),
                Err(error) => assert_eq!((error.status, received != genuine.as_bytes()), (Status::Io, true)),
            }
        }
        Kind::PasswordHash => {
            let params = phc::Params {
                cost: 1,
                ..phc::Params::default()
            };
            let genuine = phc::Mhf::<Stored>::with_any_cost(params, 1)
                .hash_password_with_salt(PASSWORD, &case.seed[..16])
                .unwrap()
                .to_string();
            let received = changed(genuine.as_bytes());
            write("hash", &received);
            write("password", PASSWORD);
            let source = password::Source::File(place("password"));
            match password::verify(&place("hash"), &source, MAX_COST) {
                Ok(()) => {
                    // What follows the line does not matter.
                    let line = received.split(|&byte| byte == b'\n').next().unwrap();
                    assert_eq!(line.trim_ascii_end(), genuine.as_bytes());
                }
                Err(error) => {
                    assert!(received != genuine.as_bytes());
                    assert!(matches!(error.status, Status::Unverified | Status::Io));
                }
            }
        }
        Kind::Sum => {
            let name: Vec<u8> = plaintext.into_iter().filter(|&byte| byte != 0).collect();
            let parsed = (case.seed.to_vec(), path(name));
            let line = |(sum, path): &(Vec<u8>, PathBuf)| {
                checksum_list::line(format!("{}  ", hex::encode(sum)).as_bytes(), path, b"")
            };
            let genuine = line(&parsed);
            if !parsed.1.as_os_str().is_empty() {
                assert_eq!(
                    checksum_list::parse(&genuine, TAG, 32, true).as_ref(),
                    Some(&parsed)
                );
            }
            if let Some(other) = checksum_list::parse(&changed(&genuine), TAG, 32, true) {
                assert_eq!(checksum_list::parse(&line(&other), TAG, 32, true), Some(other));
            }
        }
    }
});

enum Stored {}

impl Domain for Stored {
    const DOMAIN: Label<'static> = label!("veriplex.password.v1");
}

fn secret(is_password: bool) -> Secret {
    if is_password {
        Secret::Password(PASSWORD.to_vec().into())
    } else {
        Secret::Key(KEY.into())
    }
}

/// An encrypted file, written independently from the description of the format.
fn segments(header: &[u8], key: &[u8; 32], salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    let key = Key::from(*key);
    let mut mac = Mac::new(label!("veriplex.file.header.v1"), &key);
    mac.update(header);
    mac.update(salt);
    let message = Seekable::<32>::new(label!("veriplex.file.seekable.v1"), &key).message(salt, header);
    let sealed = message.seal_vec(plaintext);
    [header, salt, mac.finalize().as_bytes(), &sealed].concat()
}

/// Whether `received` has this key in one line, and in the others comments only. Its digits may be in either case.
fn has_line(prefix: &str, key: &[u8; 32], received: &[u8]) -> bool {
    let text = str::from_utf8(received).unwrap();
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let [line] = lines.collect::<Vec<_>>()[..] else {
        return false;
    };
    let mut words = line.split([' ', '\t']);
    words.next() == Some(prefix) && words.next().map(str::to_lowercase) == Some(hex::encode(key))
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
fn path(name: Vec<u8>) -> PathBuf {
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name);
    name.into()
}

#[cfg(not(unix))]
fn path(name: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&name).into_owned().into()
}
