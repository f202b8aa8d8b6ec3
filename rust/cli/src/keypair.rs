//! Private keys in PEM files, and public keys as text: 64 hexadecimal digits, or a file with one in each line.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use veriplex::keys::{PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::files::printable;
use crate::keyfile;

/// The longest file that is read as a list of public keys.
const MAX_LIST_LEN: u64 = 1 << 20;

/// Makes a private key file, which only its owner may read and which must not exist yet; `-` prints it.
pub fn generate(path: &Path) -> Result<(), Error> {
    let mut uniform = Zeroizing::new([0; 64]);
    getrandom::fill(uniform.as_mut_slice()).map_err(|error| Error::io("random numbers", error))?;
    let key = PrivateKey::from_uniform_bytes(*uniform).map_err(|error| Error::io("key", error))?;
    keyfile::write(path, Zeroizing::new(key.to_pem()).as_bytes())
}

/// Reads a private key file.
pub fn read_private(path: &Path) -> Result<PrivateKey, Error> {
    // Longer than any key, to notice that more follows; no growing buffer, which would leave copies.
    let mut text = Zeroizing::new([0; 256]);
    let text = keyfile::read_text(path, text.as_mut_slice())?;
    std::str::from_utf8(text)
        .ok()
        .and_then(|pem| PrivateKey::from_pem(pem).ok())
        .ok_or_else(|| {
            Error::io(
                &printable(path),
                "not a private key file (made by veriplex keygen --private)",
            )
        })
}

/// Prints the public key of a private key file.
pub fn print_public(path: &Path) -> Result<(), Error> {
    let public = *read_private(path)?.public_key();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{public}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// The public keys that an argument names: itself, or the lines of a file, which may go on after a blank and may be
/// empty or begin with `#`.
fn keys_of(argument: &str) -> Result<HashSet<PublicKey>, Error> {
    if let Ok(key) = PublicKey::from_hex(argument) {
        return Ok(HashSet::from([key]));
    }
    let path = Path::new(argument);
    let name = printable(path);
    let size = std::fs::metadata(path).map_err(|error| {
        if argument.len() == 2 * PublicKey::LEN && argument.bytes().all(|b| b.is_ascii_hexdigit()) {
            Error::usage(&name, "not a public key")
        } else {
            Error::io(&name, error)
        }
    })?;
    if size.len() > MAX_LIST_LEN {
        return Err(Error::io(&name, "too large for a list of public keys"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| Error::io(&name, error))?;
    text.lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(line, number)| {
            let word = line.split_whitespace().next().unwrap_or_default();
            PublicKey::from_hex(word)
                .map_err(|_| Error::io(&name, format_args!("line {number} has no public key")))
        })
        .collect()
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
            &printable(Path::new(argument)),
            "has several public keys, where one is needed",
        )),
    }
}

fn no_key(argument: &str) -> Error {
    Error::usage(&printable(Path::new(argument)), "has no public key")
}
