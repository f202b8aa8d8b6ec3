//! Private keys in PEM files, and public keys: 64 hexadecimal digits, also one in each line of a file.
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
use std::io::Write;
use std::path::Path;

use base64ct::{Base64, Encoding};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::siv::Siv;
use veriplex::{TAG_LEN, label, with_wiped_stack};
use zeroize::Zeroizing;

use crate::crypt::random;
use crate::error::{Error, Status, warn};
use crate::files::is_stdio;
use crate::keyfile;
use crate::names::quoted;
use crate::password::{self, Password, Source};
use crate::text;

/// The first and the last line of a private key.
const BEGIN: &str = "-----BEGIN VERIPLEX PRIVATE KEY-----";
const END: &str = "-----END VERIPLEX PRIVATE KEY-----";
/// The same of one under a password.
const BEGIN_PROTECTED: &str = "-----BEGIN VERIPLEX ENCRYPTED PRIVATE KEY-----";
const END_PROTECTED: &str = "-----END VERIPLEX ENCRYPTED PRIVATE KEY-----";

/// The longest private key file, with the comments around the key.
const MAX_KEY_FILE_LEN: usize = 1 << 14;

/// Makes a private key file, which only its owner may read and which must not exist yet; `-` prints it. It may be under a
/// password of this cost. The public key is printed too, where it does not get between the private key and who reads that.
pub fn generate(path: &Path, protection: Option<(&Source, u8)>) -> Result<(), Error> {
    if let Some((_, cost)) = protection {
        // No command that reads a private key has an option for more.
        if cost > *password::COSTS.end() {
            let reason = format_args!("a private key's is at most {}", password::COSTS.end());
            return Err(Error::usage("the cost", reason));
        }
        password::warn_of_cost(cost);
    }
    // What is in its way is noticed before anybody is asked.
    let output = keyfile::create(path)?;
    let protection = protection.map(|(source, cost)| Ok((source.read_new()?, cost)));
    let protection = protection.transpose()?;
    let mut uniform = Zeroizing::new([0; 64]);
    random(uniform.as_mut_slice())?;
    let key = PrivateKey::from_uniform_bytes(*uniform).map_err(|error| Error::io("key", error))?;
    let pem = match protection {
        None => key.to_pem(),
        Some((password, cost)) => protect(&key, &password, cost)?.into(),
    };
    keyfile::write(output, pem.as_bytes())?;
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

const NOT_A_KEY: &str = "not a private key file (made by veriplex keygen --private)";

fn not_a_key(name: &str) -> Error {
    Error::io(name, NOT_A_KEY)
}

/// Reads a private key file, whose password comes from `source` if it has one.
pub fn read_private(path: &Path, source: &Source) -> Result<PrivateKey, Error> {
    with_wiped_stack(|| read(path, source))
}

fn read(path: &Path, source: &Source) -> Result<PrivateKey, Error> {
    let name = quoted(path);
    let (is_protected, body) = text::parse(path, MAX_KEY_FILE_LEN, Status::Io, NOT_A_KEY, find_private)?;
    if is_protected {
        return unprotect(&name, body.as_bytes(), source);
    }
    // As the library takes it.
    let mut pem = Zeroizing::new(String::with_capacity(BEGIN.len() + body.len() + END.len() + 2));
    for part in [BEGIN, "\n", &body, "\n", END] {
        pem.push_str(part);
    }
    PrivateKey::from_pem(&pem).map_err(|_| not_a_key(&name))
}

/// The base64 of the one private key in a text, as RFC 7468 has it: with lines of any length, and anything before and
/// after. Whether it is under a password.
fn find_private(text: &str) -> Option<(bool, Zeroizing<String>)> {
    let begins = [BEGIN, BEGIN_PROTECTED];
    let mut lines = text.lines().map(str::trim_ascii);
    let begin = lines.find(|line| begins.contains(line))?;
    let is_protected = begin == BEGIN_PROTECTED;
    // As long as it can get: growing would leave copies.
    let mut body = Zeroizing::new(String::with_capacity(text.len()));
    let end = lines.find(|line| {
        let is_end = line.starts_with("-----");
        if !is_end {
            body.extend(line.split_ascii_whitespace());
        }
        is_end
    })?;
    let expected = if is_protected { END_PROTECTED } else { END };
    // A second one would leave open which of them is meant.
    if end != expected || lines.any(|line| begins.contains(&line)) {
        return None;
    }
    Some((is_protected, body))
}

/// The public key that these 64 hexadecimal digits of either case are, or what is wrong with them.
pub fn parse_public(text: &str) -> Result<PublicKey, String> {
    let bytes = text::digits(text)?;
    PublicKey::from_bytes(&bytes).map_err(|_| "these digits are no public key".into())
}

/// The public keys in a file, one in each line, which may go on after a blank; at least one.
pub fn read_public(path: &Path) -> Result<HashSet<PublicKey>, Error> {
    let name = quoted(path);
    let text = text::read_list(path)?;
    let keys = text::entries(&name, &text, parse_public).map(|entry| Ok(entry?.0));
    let keys: HashSet<_> = keys.collect::<Result<_, Error>>()?;
    if keys.is_empty() {
        return Err(Error::io(&name, "has no public key"));
    }
    Ok(keys)
}

/// The one public key in a file.
pub fn read_one(path: &Path) -> Result<PublicKey, Error> {
    let mut keys = read_public(path)?.into_iter();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        _ => Err(Error::usage(
            &quoted(path),
            "has several public keys, where one is needed",
        )),
    }
}
