//! Digests and tags of files, and lists of them.
//!
//! A line is the algorithm, the file's name in parentheses, ` = `, and the digest or tag in hexadecimal. An untagged
//! line is the digest or tag, two spaces (or ` *`, as from systems with text files), and the name. If the name has a
//! backslash, newline or carriage return, these are written `\\`, `\n`, `\r`, and the line begins with a backslash, as
//! with b3sum and sha256sum. Empty lines and those that begin with `#` are ignored.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use veriplex::digest::Hasher;
use veriplex::mac::Mac;
use veriplex::tree::Tree;
use veriplex::{Key, TAG_LEN, label, with_wiped_stack};
use veriplex_files::error::{Error, Status, warn};
use veriplex_files::files::{CHUNK, Input, claim_stdout, stdout};
use veriplex_files::folder::{Kind as Found, walk};
use veriplex_files::places::is_stdio;
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::text::{open_regular, wrong_encoding};

use crate::tree_hash::{self, Room, each_piece};

/// Longer lines are malformed: a list need not fit in memory.
const MAX_LINE: u64 = 1 << 16;
/// The longest digest, in bytes: its line is short enough, with any name that a system allows.
pub const MAX_DIGEST_LEN: u64 = 1 << 14;

/// What is computed of each file.
pub enum Kind {
    /// The digest of this many bytes in domain `veriplex.digest.v1`.
    Digest(usize),
    /// The tag that begins with this. Boxed, since each move would leave a copy of the key.
    Mac(Box<Mac>),
    /// The digest of this many bytes by this tree.
    Tree(Box<Tree>, usize),
    /// The same by a tree with a key.
    KeyedTree(Box<Tree>, usize),
}

/// How lists look.
#[derive(Clone, Copy)]
pub struct Style {
    /// Lines do not name the algorithm.
    pub untagged: bool,
    /// Lines end in NUL, and names are not escaped.
    pub zero: bool,
    pub show_progress: bool,
}

/// How lists are checked.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub struct Check {
    /// Files that do not exist are skipped.
    pub ignore_missing: bool,
    /// Only what failed is printed.
    pub quiet: bool,
    /// No results are printed.
    pub status: bool,
    /// A malformed line is a failure even in another program's list.
    pub strict: bool,
    /// Lines need not name the algorithm.
    pub untagged: bool,
    pub show_progress: bool,
}

impl Kind {
    /// The tag in domain `veriplex.mac.v1` under this key.
    pub fn mac(key: &Key) -> Self {
        Self::Mac(Mac::new(label!("veriplex.mac.v1"), key).into())
    }

    /// Size in bytes of the result.
    const fn len(&self) -> usize {
        match self {
            Self::Digest(len) | Self::Tree(_, len) | Self::KeyedTree(_, len) => *len,
            Self::Mac(_) => TAG_LEN,
        }
    }

    /// What lines say that they are.
    const fn tag(&self) -> &'static str {
        match self {
            Self::Digest(_) => "VERIPLEX-DIGEST",
            Self::Mac(_) => "VERIPLEX-MAC",
            Self::Tree(..) => "VERIPLEX-SUM",
            Self::KeyedTree(..) => "VERIPLEX-KEYED-SUM",
        }
    }

    /// What lines say that the same command made with a key, or without it, and what to do then.
    const fn other_tag(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Tree(..) => Some(("VERIPLEX-KEYED-SUM", "listed with a key (needs --key-file)")),
            Self::KeyedTree(..) => Some(("VERIPLEX-SUM", "listed without a key (omit --key-file)")),
            _ => None,
        }
    }

    /// Leaves no key on a stack.
    fn sum(&self, input: Input, room: &mut Room) -> Result<Vec<u8>, Error> {
        with_wiped_stack(|| self.sum_of(input, room))
    }

    fn sum_of(&self, input: Input, room: &mut Room) -> Result<Vec<u8>, Error> {
        let mut sum = vec![0; self.len()];
        match self {
            Self::Digest(_) => {
                let mut hasher = Hasher::new(label!("veriplex.digest.v1"));
                each_piece(input, CHUNK, room, |piece| {
                    hasher.update(piece);
                    Ok(())
                })?;
                hasher.finalize_into(&mut sum);
            }
            Self::Mac(begun) => {
                // Only when there is input: while it waits, the key is in memory once.
                let mut mac = None;
                each_piece(input, CHUNK, room, |piece| {
                    mac.get_or_insert_with(|| begun.clone()).update(piece);
                    Ok(())
                })?;
                // From a copy: a value moved out of a box leaves an unwiped copy there.
                mac.as_deref().unwrap_or(begun).clone().finalize_into(&mut sum);
            }
            Self::Tree(tree, _) | Self::KeyedTree(tree, _) => tree_hash::sum(tree, input, room, &mut sum)?,
        }
        Ok(sum)
    }
}

/// Prints a line for each file, and, if `recursive`, for those in folders; one that cannot be read does not stop the others.
pub fn print(kind: &Kind, paths: &[PathBuf], recursive: bool, style: Style) -> Result<Status, Error> {
    stdout()?;
    let mut status = Status::Ok;
    let mut room = Room::default();
    let mut print = |path: &Path, input: Result<Input, Error>| {
        let summed = input.and_then(|input| kind.sum(input, &mut room));
        match summed {
            Ok(sum) => print_sum(kind, style, &base16ct::lower::encode_string(&sum), path),
            Err(error) => {
                status = status.and(error.report());
                Ok(())
            }
        }
    };
    for path in paths {
        let is_folder = !is_stdio(path) && path.is_dir();
        if recursive && is_folder {
            walk(path, |path, found| match found.map(|found| found.kind) {
                Ok(Found::File(file)) => print(path, Input::opened(file, path, style.show_progress)),
                Ok(_) => Ok(()),
                Err(error) => print(path, Err(Error::io(&quoted(path), error))),
            })?;
        } else if is_folder {
            let reason = "is a folder (--recursive includes its files)";
            print(path, Err(Error::io(&quoted(path), reason)))?;
        } else {
            print(path, Input::open(path, style.show_progress))?;
        }
    }
    Ok(status)
}

/// Prints the line of a file.
pub fn print_sum(kind: &Kind, style: Style, digits: &str, path: &Path) -> Result<(), Error> {
    let (before, after) = if style.untagged {
        (format!("{digits}  "), String::new())
    } else {
        (format!("{} (", kind.tag()), format!(") = {digits}"))
    };
    let (before, after) = (before.as_bytes(), after.as_bytes());
    if style.zero {
        let name = path.as_os_str().as_encoded_bytes();
        return write(&[before, name, after, b"\0"].concat());
    }
    print_line(before, path, after)
}

/// Verifies lists that [`print`] made.
pub fn check(kind: &Kind, lists: &[PathBuf], how: Check) -> Result<Status, Error> {
    if !how.status {
        claim_stdout()?;
    }
    let mut status = Status::Ok;
    let mut room = Room::default();
    for path in lists {
        let checked = match Input::open(path, false) {
            Ok(list) => check_list(kind, list, &mut room, how),
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

fn check_list(kind: &Kind, list: Input, room: &mut Room, how: Check) -> Result<Status, Error> {
    let list_name = list.name.clone();
    let mut list = BufReader::new(list);
    let mut status = Status::Ok;
    let mut can_print = true;
    let (mut valid, mut right, mut wrong, mut unread) = (0_u64, 0_u64, 0_u64, 0_u64);
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
        if let (1, Some(reason)) = (number, wrong_encoding(&line)) {
            return Err(Error::unverified(&list_name, reason));
        }
        if line.last() != Some(&b'\n') {
            list.skip_until(b'\n').map_err(failed)?;
        }
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let too_long = n as u64 == MAX_LINE;
        let parsed = parse_for(kind, &line, how.untagged).filter(|_| !too_long);
        let Some((expected, path)) = parsed else {
            if !how.status {
                let what = foreign(&line, kind, how.untagged).unwrap_or("malformed".into());
                warn(format_args!("{list_name}: line {number}: {what}"));
            }
            // Only this program's lists name the algorithm.
            if how.strict || !how.untagged {
                status = status.and(Status::Unverified);
            }
            continue;
        };
        valid += 1;
        // Whoever made the list does not make this wait, or open a device.
        let input = || {
            if is_stdio(&path) {
                Input::open(&path, how.show_progress)
            } else {
                open_regular(&path).and_then(|file| Input::opened(file, &path, how.show_progress))
            }
        };
        let is_right = |expected: Vec<u8>| {
            // In constant time: a right tag must not be guessed byte by byte.
            Ok(kind.sum(input()?, room)?.ct_eq(&expected).into())
        };
        let expected = expected.map_err(|why| Error::io(&quoted(&path), why));
        let verdict: &[u8] = match expected.and_then(is_right) {
            Ok(true) => {
                right += 1;
                if how.quiet {
                    continue;
                }
                b": OK"
            }
            Ok(false) => {
                wrong += 1;
                status = status.and(Status::Unverified);
                b": FAILED"
            }
            Err(_) if how.ignore_missing && is_missing(&path) => continue,
            Err(error) => {
                unread += 1;
                status = status.and(error.report());
                b": FAILED open or read"
            }
        };
        if !how.status && can_print {
            match print_verdict(&path, verdict) {
                Err(error) if error.status != Status::Closed => {
                    can_print = false;
                    status = status.and(error.report());
                }
                printed => printed?,
            }
        }
    }
    if valid == 0 {
        return Err(Error::unverified(&list_name, "no valid lines"));
    }
    if !how.status {
        for (count, what) in [(wrong, "did not match"), (unread, "could not be read")] {
            if count > 0 {
                warn(format_args!("{list_name}: {count} of {valid} files {what}"));
            }
        }
    }
    if how.ignore_missing && right == 0 {
        if !how.status {
            warn(format_args!("{list_name}: no file was verified"));
        }
        status = status.and(Status::Unverified);
    }
    Ok(status)
}

/// The sum in a line of this kind and the file that it is of; or why the sum cannot be compared.
fn parse_for(kind: &Kind, line: &[u8], untagged: bool) -> Option<(Result<Vec<u8>, &'static str>, PathBuf)> {
    if let Some((tag, why)) = kind.other_tag()
        && let Some((_, path)) = parse(line, tag, kind.len(), false)
    {
        return Some((Err(why), path));
    }
    let (sum, path) = parse(line, kind.tag(), kind.len(), untagged)?;
    Some((Ok(sum), path))
}

fn is_missing(path: &Path) -> bool {
    !is_stdio(path) && fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// What a line of another program or command is.
fn foreign(line: &[u8], kind: &Kind, untagged: bool) -> Option<String> {
    let line = str::from_utf8(line).ok()?.trim_ascii();
    let line = line.strip_prefix('\\').unwrap_or(line);
    let tagged = line.split_once(" (").zip(line.rsplit_once(") = "));
    let (tag, digits) = match tagged {
        Some(((tag, _), (_, digits))) => (Some(tag), digits),
        None => (None, line.split_once(' ')?.0),
    };
    // With fewer, it is a word.
    if digits.len() < 16 || digits.len() % 2 != 0 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let (len, right_len, right_tag) = (digits.len() / 2, kind.len(), kind.tag());
    match tag {
        Some(tag) if tag != right_tag => Some(format!("{}, not {right_tag}", quoted(Path::new(tag)))),
        None if !untagged && len == right_len => {
            Some(format!("names no algorithm (--untagged assumes {right_tag})"))
        }
        None if !untagged => Some(format!(
            "names no algorithm, and has {len} bytes, not {right_len}"
        )),
        _ if len != right_len => Some(format!("{len} bytes, not {right_len}")),
        _ => None,
    }
}

/// Parses a line of a list; if `untagged`, also one that names no algorithm.
pub fn parse(line: &[u8], tag: &str, sum_len: usize, untagged: bool) -> Option<(Vec<u8>, PathBuf)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // A list may come from a system that ends lines like this; names have it escaped.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (escaped, line) = match line.strip_prefix(b"\\") {
        Some(line) => (true, line),
        None => (false, line),
    };
    let tagged = line.strip_prefix(tag.as_bytes());
    let (digits, name) = if let Some(rest) = tagged.and_then(|rest| rest.strip_prefix(b" (")) {
        let rest = rest.trim_ascii_end();
        let (name, digits) = rest.split_at_checked(rest.len().checked_sub(2 * sum_len)?)?;
        (digits, name.strip_suffix(b") = ")?)
    } else if !untagged {
        return None;
    } else {
        let (digits, name) = line.split_at_checked(2 * sum_len)?;
        (digits, name.strip_prefix(b"  ").or(name.strip_prefix(b" *"))?)
    };
    if name.is_empty() {
        return None;
    }
    let name = if escaped { unescape(name)? } else { name.to_vec() };
    Some((
        base16ct::mixed::decode_vec(digits).ok()?,
        OsString::from_vec(name).into(),
    ))
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

/// Prints what was found of a file.
pub fn print_verdict(path: &Path, verdict: &[u8]) -> Result<(), Error> {
    print_line(b"", path, verdict)
}

/// Prints a line with a name in it.
fn print_line(before: &[u8], path: &Path, after: &[u8]) -> Result<(), Error> {
    write(&if io::stdout().is_terminal() {
        [before, quoted(path).as_bytes(), after, b"\n"].concat()
    } else {
        line(before, path, after)
    })
}

fn write(line: &[u8]) -> Result<(), Error> {
    let mut stdout = io::stdout();
    stdout
        .write_all(line)
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// A line with a name in it, escaped if necessary.
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
