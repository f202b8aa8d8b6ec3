//! Private keys in PEM files, and public keys as text: 64 hexadecimal digits, or a file with one in each line.
//!
//! A private key under a password has the label `VERIPLEX ENCRYPTED PRIVATE KEY`, and
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version, 0x01 |
//! | 1 | cost |
//! | 32 | random salt |
//! | 48 | the key and its tag: a `veriplex::siv` in the domain `veriplex.key.v1`, without nonce, under the key that the memory-hard hash makes in the domain `veriplex.key.password.v1` of password and salt; its associated data are the bytes before |

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use base64ct::{Base64, Encoding};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::siv::Siv;
use veriplex::{TAG_LEN, label, with_wiped_stack};
use zeroize::Zeroizing;

use crate::crypt::random;
use crate::error::{Error, warn};
use crate::files::is_stdio;
use crate::keyfile;
use crate::names::{as_digits, quoted};
use crate::password::{self, Password, Source};

/// The longest file that is read as a list of public keys.
const MAX_LIST_LEN: u64 = 1 << 20;
/// The first and the last line of a private key.
const BEGIN: &str = "-----BEGIN VERIPLEX PRIVATE KEY-----";
const END: &str = "-----END VERIPLEX PRIVATE KEY-----";
/// The same of one under a password.
const BEGIN_PROTECTED: &str = "-----BEGIN VERIPLEX ENCRYPTED PRIVATE KEY-----";
const END_PROTECTED: &str = "-----END VERIPLEX ENCRYPTED PRIVATE KEY-----";

/// The longest private key file, with the comments around the key.
const MAX_KEY_FILE_LEN: usize = 1 << 14;

/// Whether a private key under a password of this cost can be read: no command that does has an option for more.
pub fn check_cost(cost: u8) -> Result<(), Error> {
    if cost > *password::COSTS.end() {
        let reason = format_args!("a private key's is at most {}", password::COSTS.end());
        return Err(Error::usage("the cost", reason));
    }
    Ok(())
}

/// Makes a private key file, which only its owner may read and which must not exist yet; `-` prints it. The public key
/// is printed too, where it does not get between the private key and who reads that.
pub fn generate(path: &Path, protection: Option<(&Password, u8)>) -> Result<(), Error> {
    let mut uniform = Zeroizing::new([0; 64]);
    random(uniform.as_mut_slice())?;
    let key = PrivateKey::from_uniform_bytes(*uniform).map_err(|error| Error::io("key", error))?;
    let pem = match protection {
        None => key.to_pem(),
        Some((password, cost)) => protect(&key, password, cost)?.into(),
    };
    keyfile::write(path, pem.as_bytes())?;
    if is_stdio(path) {
        warn(format_args!("public key: {}", key.public_key()));
        return Ok(());
    }
    print_public(key.public_key())
}

/// Prints a public key.
pub fn print_public(key: &PublicKey) -> Result<(), Error> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{key}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

const PROTECTED_VERSION: u8 = 1;
const SALT_LEN: usize = 32;
const KEY_LEN: usize = 32;
/// Version, cost, salt.
const HEADER_LEN: usize = 2 + SALT_LEN;
const PROTECTED_LEN: usize = HEADER_LEN + KEY_LEN + TAG_LEN;
/// Characters in a line of PEM.
const LINE_CHARS: usize = 64;

fn protecting(password: &Password, cost: u8, salt: &[u8]) -> Result<Siv, Error> {
    let key = password::stretch_in(label!("veriplex.key.password.v1"), password, cost, salt)?;
    Ok(Siv::new(label!("veriplex.key.v1"), &key))
}

/// The PEM of a private key under a password.
fn protect(key: &PrivateKey, password: &Password, cost: u8) -> Result<String, Error> {
    let mut bytes = vec![PROTECTED_VERSION, cost];
    bytes.resize(HEADER_LEN, 0);
    random(&mut bytes[2..])?;
    let mut sealed = Zeroizing::new(*Zeroizing::new(key.to_bytes()));
    let siv = protecting(password, cost, &bytes[2..])?;
    let tag = siv.seal_in_place_detached(b"", &bytes, sealed.as_mut_slice());
    bytes.extend_from_slice(sealed.as_slice());
    bytes.extend_from_slice(&tag);
    let base64 = Base64::encode_string(&bytes);
    let (first, second) = base64.split_at(LINE_CHARS);
    Ok(format!("{BEGIN_PROTECTED}\n{first}\n{second}\n{END_PROTECTED}\n"))
}

/// The opposite; the text is that between the first and the last line.
fn unprotect(name: &str, base64: &[u8], source: &Source) -> Result<PrivateKey, Error> {
    let mut bytes = [0; PROTECTED_LEN];
    let decoded = Base64::decode(base64, &mut bytes).ok().map(<[u8]>::len);
    let (header, rest) = bytes.split_at(HEADER_LEN);
    let (Some(PROTECTED_LEN), PROTECTED_VERSION, Some((sealed, tag))) =
        (decoded, header[0], rest.split_first_chunk::<KEY_LEN>())
    else {
        return Err(not_a_key(name));
    };
    password::check_cost(name, header[1], *password::COSTS.end())?;
    let siv = protecting(&source.read_for(name)?, header[1], &header[2..])?;
    let mut key = Zeroizing::new(*sealed);
    let tag = tag.try_into().map_err(|_| not_a_key(name))?;
    siv.open_in_place_detached(b"", header, key.as_mut_slice(), tag)
        .map_err(|_| Error::unverified(name, "wrong password"))?;
    PrivateKey::from_bytes(&key).map_err(|_| not_a_key(name))
}

fn not_a_key(name: &str) -> Error {
    Error::io(name, "not a private key file (made by veriplex keygen --private)")
}

/// Reads a private key file, whose password comes from `source` if it has one.
pub fn read_private(path: &Path, source: &Source) -> Result<PrivateKey, Error> {
    with_wiped_stack(|| read(path, source))
}

fn read(path: &Path, source: &Source) -> Result<PrivateKey, Error> {
    // Longer than any, to notice that more follows; no growing buffer, which would leave copies.
    let mut text = Zeroizing::new(vec![0; MAX_KEY_FILE_LEN + 1]);
    let text = keyfile::read_text(path, &mut text)?;
    let name = quoted(path);
    let (is_protected, body) = find_private(text).ok_or_else(|| not_a_key(&name))?;
    if is_protected {
        return unprotect(&name, &body, source);
    }
    // As the library takes it.
    let mut pem = Zeroizing::new(String::with_capacity(BEGIN.len() + body.len() + END.len() + 2));
    let body = str::from_utf8(&body).map_err(|_| not_a_key(&name))?;
    for part in [BEGIN, "\n", body, "\n", END] {
        pem.push_str(part);
    }
    PrivateKey::from_pem(&pem).map_err(|_| not_a_key(&name))
}

/// The base64 of the one private key in a text, as RFC 7468 has it: with lines of any length and end, and anything before
/// and after. Whether it is under a password.
fn find_private(text: &[u8]) -> Option<(bool, Zeroizing<Vec<u8>>)> {
    if text.len() > MAX_KEY_FILE_LEN {
        return None;
    }
    let begins = [BEGIN, BEGIN_PROTECTED].map(str::as_bytes);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let begin = lines.find(|line| begins.contains(line))?;
    let is_protected = begin == BEGIN_PROTECTED.as_bytes();
    // As long as it can get: growing would leave copies.
    let mut body = Zeroizing::new(Vec::with_capacity(text.len()));
    let end = lines.find(|line| {
        let is_end = line.starts_with(b"-----");
        if !is_end {
            body.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        }
        is_end
    })?;
    let expected = if is_protected { END_PROTECTED } else { END };
    // A second one would leave open which of them is meant.
    if end != expected.as_bytes() || lines.any(|line| begins.contains(&line)) {
        return None;
    }
    Some((is_protected, body))
}

/// The public keys that an argument names: itself, if it looks like one, or the lines of a file, which may go on after
/// a blank and may be empty or begin with `#`.
fn keys_of(argument: &str) -> Result<HashSet<PublicKey>, Error> {
    let path = Path::new(argument);
    let name = quoted(path);
    if let Some(digits) = as_digits(argument) {
        let wrong = || Error::usage(&name, "not a public key (if it is a file, write ./ before it)");
        let key = parse_public(digits).ok_or_else(wrong)?;
        return Ok(HashSet::from([key]));
    }
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_LIST_LEN + 1).read_to_string(&mut text))
        .map_err(|error| Error::io(&name, error))?;
    if text.len() as u64 > MAX_LIST_LEN {
        return Err(Error::io(&name, "too large for a list of public keys"));
    }
    text.lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(line, number)| {
            let word = line.split_whitespace().next().unwrap_or_default();
            parse_public(word)
                .ok_or_else(|| Error::io(&name, format_args!("line {number} has no public key")))
        })
        .collect()
}

/// A public key of 64 hexadecimal digits of either case.
fn parse_public(text: &str) -> Option<PublicKey> {
    text.to_ascii_lowercase().parse().ok()
}

/// All keys that these arguments name; at least one.
pub fn all(arguments: &[String]) -> Result<HashSet<PublicKey>, Error> {
    let mut keys = HashSet::new();
    for argument in arguments {
        let more = keys_of(argument)?;
        if more.is_empty() {
            return Err(no_key(argument));
        }
        keys.extend(more);
    }
    Ok(keys)
}

/// The one key that an argument names.
pub fn one(argument: &str) -> Result<PublicKey, Error> {
    let mut keys = keys_of(argument)?.into_iter();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        (None, _) => Err(no_key(argument)),
        _ => Err(Error::usage(
            &quoted(Path::new(argument)),
            "has several public keys, where one is needed",
        )),
    }
}

fn no_key(argument: &str) -> Error {
    Error::usage(&quoted(Path::new(argument)), "has no public key")
}
