//! Lists of public keys and of peers, and signatures, as the program reads them from files of others.
//! What it takes is what a second description of each format says.

#![no_main]

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use veriplex::hybrid::Fingerprint;
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{digest, label, sig};
use veriplex_cli::command::parse_key;
use veriplex_cli::keys::{self, Private, Public};
use veriplex_cli::signature::{self, Signers};
use veriplex_cli::tunnel::allow;
use veriplex_files::error::Status;
use veriplex_files::terminal_quoting::is_printable;
use veriplex_fuzz::{Change, element, scalar};

#[derive(Arbitrary, Debug)]
enum Case {
    Keys(Text),
    /// A key as an argument of its own.
    Argument(Word, Vec<Change>),
    Peers(Text),
    Signature {
        comment: String,
        file: Vec<u8>,
        changes: Vec<Change>,
    },
}

/// A list, line by line.
#[derive(Arbitrary, Debug)]
struct Text {
    lines: Vec<Line>,
    changes: Vec<Change>,
}

#[derive(Arbitrary, Debug)]
enum Line {
    Key {
        indent: bool,
        word: Word,
        rest: Option<String>,
        crlf: bool,
    },
    Comment(String),
    Blank,
    Any(Vec<u8>),
}

/// 64 hexadecimal digits, or a public key.
#[derive(Arbitrary, Debug)]
enum Word {
    Key { name: u8, upper: bool },
    Any([u8; 32]),
    Public(bool),
}

impl Word {
    fn text(&self) -> String {
        match self {
            Self::Key { name, upper: false } => hex::encode(element(*name)),
            Self::Key { name, upper: true } => hex::encode_upper(element(*name)),
            Self::Any(bytes) => hex::encode(bytes),
            Self::Public(which) => KEYS[usize::from(*which)].line().trim_end().into(),
        }
    }
}

impl Text {
    fn bytes(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for line in &self.lines {
            match line {
                Line::Key {
                    indent,
                    word,
                    rest,
                    crlf,
                } => {
                    text.extend(if *indent { "\t " } else { "" }.bytes());
                    text.extend(word.text().bytes());
                    text.extend(rest.iter().flat_map(|rest| [" ", rest]).flat_map(str::bytes));
                    text.extend(if *crlf { "\r\n" } else { "\n" }.bytes());
                }
                Line::Comment(comment) => text.extend(format!("#{comment}\n").bytes()),
                Line::Blank => text.push(b'\n'),
                Line::Any(bytes) => text.extend(bytes),
            }
        }
        self.changes.iter().for_each(|change| change.apply(&mut text));
        text
    }
}

/// The lines that say something: the first word of each.
fn words(text: &[u8]) -> Option<Vec<(String, String)>> {
    let text = str::from_utf8(text).ok()?;
    let lines = text
        .split('\n')
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        (line[..end].to_owned(), line[end..].trim().to_owned())
    };
    Some(lines.map(split).collect())
}

fn digits(word: &str) -> Option<[u8; 32]> {
    hex::decode(word).ok()?.try_into().ok()
}

fn public_key(word: &str) -> Option<PublicKey> {
    PublicKey::from_bytes(&digits(word)?).ok()
}

/// Whether these differ in the ends of lines only.
fn same_lines(one: &str, other: &str) -> bool {
    let lines = |text: &str| {
        let lines = text.trim_ascii_end().split('\n').map(str::trim_ascii_end);
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    lines(one) == lines(other)
}

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

static KEYS: LazyLock<[Public; 2]> =
    LazyLock::new(|| [1, 2].map(|byte| Private::from_secret(&[byte; 32]).public().unwrap()));

/// A file with this in it.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fuzz_target!(|case: Case| {
    match case {
        Case::Keys(text) => {
            let text = text.bytes();
            let path = file("keys", &text);
            let words = words(&text).unwrap_or_default();
            let is_genuine = |(prefix, rest): &(String, String)| {
                let word = rest.split([' ', '\t']).next().unwrap_or_default();
                KEYS.iter().any(|key| key.line() == format!("{prefix} {word}\n"))
            };
            match keys::read_public(&path) {
                Ok(keys) => {
                    assert_eq!(keys.len(), words.len());
                    let allowed = allow::read(&[], &[path]).expect("these are peers, too");
                    for (named, (prefix, rest)) in keys.iter().zip(&words) {
                        let line = format!("{prefix} {rest}");
                        let comment = line.strip_prefix(named.key.line().trim_end());
                        let comment = comment.expect("the key that is there").trim();
                        assert!(is_printable(&named.name), "{:?}", named.name);
                        match comment {
                            "" if keys.len() == 1 => assert_eq!(named.name, "keys"),
                            "" => assert_eq!(named.name, named.key.fingerprint()),
                            comment if is_printable(comment) => assert_eq!(named.name, comment),
                            _ => {}
                        }
                        assert!(allowed.name(&named.key.tunnel.fingerprint()).is_some());
                    }
                }
                Err(_) => assert!(words.is_empty() || !words.iter().all(is_genuine)),
            }
        }
        Case::Argument(word, changes) => {
            let mut text = word.text().into_bytes();
            changes.iter().for_each(|change| change.apply(&mut text));
            let Ok(text) = String::from_utf8(text) else { return };
            assert_eq!(parse_key(&text).ok(), public_key(&text));
        }
        Case::Peers(text) => {
            let text = text.bytes();
            let allowed = allow::read(&[], &[file("peers", &text)]);
            if text.windows(9).any(|window| window == b"veriplex-") {
                return; // `Keys` tries these
            }
            let expected: Option<HashMap<[u8; 32], String>> = words(&text).and_then(|words| {
                let peer = |(word, name): (String, String)| Some((digits(&word)?, name));
                words.into_iter().map(peer).collect()
            });
            match expected {
                Some(peers) if !peers.is_empty() => {
                    let allowed = allowed.expect("a list");
                    let is_one = words(&text).is_some_and(|words| words.len() == 1);
                    for (peer, name) in peers {
                        let shown = allowed
                            .name(&Fingerprint::from_bytes(peer))
                            .expect("it is allowed");
                        assert!(is_printable(shown), "{shown:?}");
                        if name.is_empty() && is_one {
                            assert_eq!(shown, "peers");
                        } else if name.is_empty() {
                            assert_eq!(shown, hex::encode(peer));
                        } else if is_printable(&name) {
                            assert_eq!(shown, name);
                        }
                    }
                    assert_eq!(allowed.name(&Fingerprint::from_bytes([0x5a; 32])), None);
                }
                _ => assert!(allowed.is_err()),
            }
        }
        Case::Signature {
            comment,
            file: contents,
            changes,
        } => {
            let key = PrivateKey::from_bytes(&scalar(1)).unwrap();
            let is_shown =
                comment.len() <= 1024 && is_printable(&comment) && comment.trim_ascii_end() == comment;
            let signed = [
                &(comment.len() as u64).to_le_bytes(),
                comment.as_bytes(),
                &contents,
            ]
            .concat();
            let signature = sig::sign_deterministic(label!("veriplex.sign.v1"), &key, &signed).to_bytes();
            let mut id = [0; 8];
            let mut hasher = digest::Hasher::new(label!("veriplex.key-id.v1"));
            hasher.update(key.public_key().as_bytes());
            hasher.finalize_into(&mut id);
            let (id, signature) = (hex::encode(id), hex::encode(signature));
            let genuine = format!("veriplex-signature-v1 {id} {signature}\ntrusted comment: {comment}\n");
            let mut text = genuine.clone().into_bytes();
            changes.iter().for_each(|change| change.apply(&mut text));
            let (signature, signed) = (file("signature", &text), file("signed", &contents));
            let verdict = signature::verify(
                &Signers::Key(*key.public_key()),
                signed.as_ref(),
                Some(signature.as_ref()),
                true,
                false,
            );
            match verdict {
                Ok(()) => {
                    // The signature's digits may be in either case.
                    let text = str::from_utf8(&text).unwrap();
                    let lower = |text: &str| {
                        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
                        format!("{}\n{rest}", first.to_ascii_lowercase())
                    };
                    assert!(same_lines(&lower(&genuine), &lower(text)), "{text:?}");
                }
                Err(error) => {
                    assert_eq!(error.status, Status::Unverified);
                    assert!(text != genuine.as_bytes() || !is_shown);
                }
            }
        }
    }
});
