//! Digests and tags of files, and lists of them.
//!
//! A line is the digest or tag in hexadecimal, two spaces, and the file's name; or, so that no other program takes it for
//! its own, what it is, the name in parentheses, ` = `, and the digest or tag. If the name has a backslash, newline or carriage return, these are written `\\`, `\n`, `\r`, and the line begins with a
//! backslash, as those of b3sum and sha256sum do.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use veriplex::digest::Hasher;
use veriplex::mac::Mac;
use veriplex::tree::Tree;
use veriplex::{Key, TAG_LEN, label};

use crate::error::{Error, Status, warn};
use crate::files::{Input, stdout};
use crate::names::quoted;
use crate::treesum;

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
    /// The digest of this many bytes by this tree.
    Tree(Tree, usize),
}

enum Sum {
    Digest(Hasher, usize),
    Mac(Mac),
    Tree(Vec<u8>),
}

/// How files are found, and how lists look.
#[derive(Clone, Copy)]
pub struct Style {
    /// Lines say what they are.
    pub tag: bool,
    /// Of folders, all the files in them.
    pub recursive: bool,
    pub show_progress: bool,
}

impl Kind {
    /// Size in bytes of what is computed.
    const fn len(&self) -> usize {
        match self {
            Self::Digest(len) | Self::Tree(_, len) => *len,
            Self::Mac(_) => TAG_LEN,
        }
    }

    /// What lines say that they are.
    const fn tag(&self) -> &'static str {
        match self {
            Self::Digest(_) => "VERIPLEX-DIGEST",
            Self::Mac(_) => "VERIPLEX-MAC",
            Self::Tree(..) => "VERIPLEX-SUM",
        }
    }

    fn sum(&self, path: &Path, show_progress: bool) -> Result<Sum, Error> {
        let mut sum = match self {
            Self::Digest(len) => Sum::Digest(Hasher::new(label!("veriplex.digest.v1")), *len),
            Self::Mac(key) => Sum::Mac(Mac::new(label!("veriplex.mac.v1"), key)),
            Self::Tree(tree, len) => {
                let mut digest = vec![0; *len];
                treesum::sum(tree, path, show_progress, &mut digest)?;
                return Ok(Sum::Tree(digest));
            }
        };
        Input::open(path, show_progress)?.pump(|chunk| {
            match &mut sum {
                Sum::Digest(hasher, _) => hasher.update(chunk),
                Sum::Mac(mac) => mac.update(chunk),
                Sum::Tree(_) => {}
            }
            Ok(())
        })?;
        Ok(sum)
    }
}

impl Sum {
    fn hex(self) -> String {
        match self {
            Self::Digest(hasher, len) => base16ct::lower::encode_string(&digest(hasher, len)),
            Self::Mac(mac) => base16ct::lower::encode_string(mac.finalize().as_bytes()),
            Self::Tree(digest) => base16ct::lower::encode_string(&digest),
        }
    }

    fn is(self, expected: &[u8]) -> bool {
        match self {
            Self::Digest(hasher, len) => digest(hasher, len) == expected,
            // In constant time: a right tag must not be guessed byte by byte.
            Self::Mac(mac) => mac.verify(expected).is_ok(),
            Self::Tree(digest) => digest.ct_eq(expected).into(),
        }
    }
}

fn digest(hasher: Hasher, len: usize) -> Vec<u8> {
    let mut digest = vec![0; len];
    hasher.finalize_into(&mut digest);
    digest
}

/// Prints a line for each file; one that cannot be read does not stop the others.
pub fn print(kind: &Kind, paths: &[PathBuf], style: Style) -> Result<Status, Error> {
    stdout()?;
    let mut status = Status::Ok;
    let mut print = |path: Result<&Path, Error>| {
        let summed = path.and_then(|path| Ok((path, kind.sum(path, style.show_progress)?)));
        match summed {
            Ok((path, sum)) => print_sum(kind, style.tag, &sum.hex(), path),
            Err(error) => {
                status = status.and(error.report());
                Ok(())
            }
        }
    };
    for path in paths {
        if path.is_dir() && style.recursive {
            each_file_below(path, &mut print)?;
        } else if path.is_dir() {
            let reason = "is a folder (--recursive takes the files in it)";
            print(Err(Error::io(&quoted(path), reason)))?;
        } else {
            print(Ok(path))?;
        }
    }
    Ok(status)
}

/// Prints the line of a file.
pub fn print_sum(kind: &Kind, tag: bool, digits: &str, path: &Path) -> Result<(), Error> {
    if tag {
        let before = format!("{} (", kind.tag());
        print_line(before.as_bytes(), path, format!(") = {digits}").as_bytes())
    } else {
        print_line(format!("{digits}  ").as_bytes(), path, b"")
    }
}

/// The files in a folder and in those below, in the order of their names. Links are not followed, and what is no file is
/// left out.
fn each_file_below(
    folder: &Path,
    take: &mut impl FnMut(Result<&Path, Error>) -> Result<(), Error>,
) -> Result<(), Error> {
    // What is still to be done, the next last.
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let failed = |error| Error::io(&quoted(&path), error);
        // The folder that was named may be a link.
        let metadata = if path == folder {
            path.metadata()
        } else {
            path.symlink_metadata()
        };
        match metadata {
            Ok(found) if found.is_file() => take(Ok(&path))?,
            Ok(found) if found.is_dir() => {
                let entries: io::Result<Vec<PathBuf>> =
                    fs::read_dir(&path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
                match entries {
                    Ok(mut entries) => {
                        entries.sort_unstable_by(|a, b| b.cmp(a));
                        paths.append(&mut entries);
                    }
                    Err(error) => take(Err(failed(error)))?,
                }
            }
            Ok(_) => {}
            Err(error) => take(Err(failed(error)))?,
        }
    }
    Ok(())
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
        let Some((expected, path)) = parse(&line, kind.tag(), kind.len()).filter(|_| !too_long) else {
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
        print_verdict(&path, verdict)?;
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

/// Takes a line of a list apart, of either form.
pub fn parse(line: &[u8], tag: &str, sum_len: usize) -> Option<(Vec<u8>, PathBuf)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // A list may have passed through a system that ends lines so; in names it is escaped.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (escaped, line) = match line.strip_prefix(b"\\") {
        Some(line) => (true, line),
        None => (false, line),
    };
    let tagged = line.strip_prefix(tag.as_bytes());
    let (digits, name) = if let Some(rest) = tagged.and_then(|rest| rest.strip_prefix(b" (")) {
        let (name, digits) = rest.split_at_checked(rest.len().checked_sub(2 * sum_len)?)?;
        (digits, name.strip_suffix(b") = ")?)
    } else {
        let (digits, name) = line.split_at_checked(2 * sum_len)?;
        (digits, name.strip_prefix(b"  ")?)
    };
    if name.is_empty() {
        return None;
    }
    let name = if escaped { unescape(name)? } else { name.to_vec() };
    Some((base16ct::mixed::decode_vec(digits).ok()?, path_of(name)?))
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

/// Prints what was found of a file.
pub fn print_verdict(path: &Path, verdict: &[u8]) -> Result<(), Error> {
    print_line(b"", path, verdict)
}

/// Prints a line with a name in it.
fn print_line(before: &[u8], path: &Path, after: &[u8]) -> Result<(), Error> {
    let mut stdout = io::stdout();
    let line = if stdout.is_terminal() {
        [before, quoted(path).as_bytes(), after, b"\n"].concat()
    } else {
        line(before, path, after)
    };
    stdout
        .write_all(&line)
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
