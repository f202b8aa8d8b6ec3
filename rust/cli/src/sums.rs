//! Digests and tags of files, and lists of them.
//!
//! A line is the digest or tag in hexadecimal, two spaces, and the file's name. If the name has a
//! backslash, newline or carriage return, these are written `\\`, `\n`, `\r`, and the line begins with a
//! backslash, as those of b3sum and sha256sum do.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use veriplex::digest::Hasher;
use veriplex::mac::Mac;
use veriplex::{Key, TAG_LEN, label};

use crate::error::{Error, Status, warn};
use crate::files::Input;

/// Longer lines are malformed: a list need not fit in memory.
const MAX_LINE: u64 = 1 << 16;
/// The longest digest, in bytes: its line is short enough, with any name that a system allows.
pub const MAX_DIGEST_LEN: u64 = 1 << 14;

/// What is computed of each file.
pub enum Kind {
    /// The digest of this many bytes in domain `veriplex.digest.v1`.
    Digest(usize),
    /// The tag in domain `veriplex.mac.v1` under this key.
    Mac(Key),
}

enum Sum {
    Digest(Hasher, usize),
    Mac(Mac),
}

impl Kind {
    /// Size in bytes of what is computed.
    const fn len(&self) -> usize {
        match self {
            Self::Digest(len) => *len,
            Self::Mac(_) => TAG_LEN,
        }
    }

    fn sum(&self, path: &Path, show_progress: bool) -> Result<Sum, Error> {
        let mut sum = match self {
            Self::Digest(len) => Sum::Digest(Hasher::new(label!("veriplex.digest.v1")), *len),
            Self::Mac(key) => Sum::Mac(Mac::new(label!("veriplex.mac.v1"), key)),
        };
        Input::open(path, show_progress)?.pump(|chunk| {
            match &mut sum {
                Sum::Digest(hasher, _) => hasher.update(chunk),
                Sum::Mac(mac) => mac.update(chunk),
            }
            Ok(())
        })?;
        Ok(sum)
    }
}

impl Sum {
    fn hex(self) -> String {
        match self {
            Self::Digest(hasher, len) => hex::encode(digest(hasher, len)),
            Self::Mac(mac) => hex::encode(mac.finalize()),
        }
    }

    fn is(self, expected: &[u8]) -> bool {
        match self {
            Self::Digest(hasher, len) => digest(hasher, len) == expected,
            // In constant time: a right tag must not be guessed byte by byte.
            Self::Mac(mac) => mac.verify(expected).is_ok(),
        }
    }
}

fn digest(hasher: Hasher, len: usize) -> Vec<u8> {
    let mut digest = vec![0; len];
    hasher.finalize_into(&mut digest);
    digest
}

/// Prints a line for each file; one that cannot be read does not stop the others.
pub fn print(kind: &Kind, paths: &[PathBuf], show_progress: bool) -> Result<Status, Error> {
    let mut status = Status::Ok;
    for path in paths {
        match kind.sum(path, show_progress) {
            Ok(sum) => {
                let sum = sum.hex() + "  ";
                print_line(sum.as_bytes(), path, b"")?;
            }
            Err(error) => status = status.and(error.report()),
        }
    }
    Ok(status)
}

/// Verifies lists that [`print`] made.
pub fn check(kind: &Kind, lists: &[PathBuf], quiet: bool, show_progress: bool) -> Result<Status, Error> {
    let mut status = Status::Ok;
    for path in lists {
        let checked = match Input::open(path, false) {
            Ok(list) => check_list(kind, list, quiet, show_progress),
            Err(error) => Err(error),
        };
        status = status.and(match checked {
            Ok(status) => status,
            // If nobody reads the results, there is no point in going on.
            Err(error) if error.status == Status::Closed => return Err(error),
            Err(error) => error.report(),
        });
    }
    Ok(status)
}

fn check_list(kind: &Kind, list: Input, quiet: bool, show_progress: bool) -> Result<Status, Error> {
    let list_name = list.name.clone();
    let mut list = BufReader::new(list);
    let mut status = Status::Ok;
    let (mut valid, mut wrong) = (0_u64, 0_u64);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let failed = |error| Error::io(&list_name, error);
        let n = list
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .map_err(failed)?;
        if n == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            list.skip_until(b'\n').map_err(failed)?;
        }
        let too_long = n as u64 == MAX_LINE;
        let Some((expected, path)) = parse(&line, kind.len()).filter(|_| !too_long) else {
            warn(format_args!("{list_name}: line {number} is malformed"));
            status = status.and(Status::Unverified);
            continue;
        };
        valid += 1;
        let verdict: &[u8] = match kind.sum(&path, show_progress) {
            Ok(sum) => {
                if sum.is(&expected) {
                    if quiet {
                        continue;
                    }
                    b": OK"
                } else {
                    wrong += 1;
                    status = status.and(Status::Unverified);
                    b": FAILED"
                }
            }
            Err(error) => {
                status = status.and(error.report());
                b": FAILED open or read"
            }
        };
        print_line(b"", &path, verdict)?;
    }
    if wrong > 0 {
        warn(format_args!(
            "{list_name}: {wrong} of {valid} files did not match"
        ));
    }
    if valid == 0 {
        return Err(Error::unverified(&list_name, "no valid line"));
    }
    Ok(status)
}

/// Takes a line of a list apart.
pub fn parse(line: &[u8], sum_len: usize) -> Option<(Vec<u8>, PathBuf)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // A list may have passed through a system that ends lines so; in names it is escaped.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (escaped, line) = match line.strip_prefix(b"\\") {
        Some(line) => (true, line),
        None => (false, line),
    };
    let (digits, name) = line.split_at_checked(2 * sum_len)?;
    let name = name.strip_prefix(b"  ").filter(|name| !name.is_empty())?;
    let name = if escaped { unescape(name)? } else { name.to_vec() };
    Some((hex::decode(digits).ok()?, path_of(name)?))
}

fn unescape(escaped: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        name.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            _ => byte,
        });
    }
    Some(name)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // elsewhere names are Unicode
fn path_of(name: Vec<u8>) -> Option<PathBuf> {
    let name: OsString = std::os::unix::ffi::OsStringExt::from_vec(name);
    Some(name.into())
}

#[cfg(not(unix))]
fn path_of(name: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(name)
        .ok()
        .map(|name| OsString::from(name).into())
}

/// Prints a line with a name in it.
fn print_line(before: &[u8], path: &Path, after: &[u8]) -> Result<(), Error> {
    let mut stdout = io::stdout();
    stdout
        .write_all(&line(before, path, after))
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// A line with a name in it, escaped if need be.
pub fn line(before: &[u8], path: &Path, after: &[u8]) -> Vec<u8> {
    let name = path.as_os_str().as_encoded_bytes();
    let mut line = Vec::with_capacity(before.len() + name.len() + after.len() + 1);
    if name.iter().any(|byte| b"\\\n\r".contains(byte)) {
        line.push(b'\\');
    }
    line.extend_from_slice(before);
    for &byte in name {
        match byte {
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            _ => line.push(byte),
        }
    }
    line.extend_from_slice(after);
    line.push(b'\n');
    line
}
