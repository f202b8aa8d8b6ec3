//! Text files. Lines end in LF or CRLF, the last one perhaps in neither; blanks at the end of a line do not count.
//! Encodings of other systems are named in errors.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use zeroize::Zeroizing;

use crate::error::{Error, Status};
use crate::files::{self, read_up_to};
use crate::places::{self, is_stdio};
use crate::terminal_quoting::{is_printable, quoted};

/// The longest list of keys in bytes.
pub const MAX_LIST_LEN: usize = 1 << 20;

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> Result<File, Error> {
    let name = quoted(path);
    let failed = |error| Error::io(&name, error);
    let file = if is_stdio(path) {
        // Not through the buffer of `io::stdin`, which is not wiped.
        let stdin = files::stdin()?.as_fd().try_clone_to_owned();
        stdin.map_err(failed)?.into()
    } else {
        files::open(path).map_err(failed)?
    };
    places::keep(&file, &name)?;
    Ok(file)
}

/// Opens a regular file, which can be read again and never makes us wait.
pub fn open_regular(path: &Path) -> Result<File, Error> {
    regular(path).map_err(|error| Error::io(&quoted(path), error))
}

/// The same, for callers that name it in errors.
pub fn regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let no_file = || io::Error::other("not a regular file");
    if is_stdio(path) {
        return Err(no_file());
    }
    // Also before opening it: opening a device or a named pipe may have effects.
    if !fs::metadata(path)?.is_file() {
        return Err(no_file());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(no_file());
    }
    Ok(file)
}

/// The beginning of a file, at most `max_len` + 1 bytes, to notice whether more follows.
pub fn read(file: File, path: &Path, max_len: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    // As large as it can become, because growing would leave copies.
    let mut text = Zeroizing::new(vec![0; max_len + 1]);
    let mut file = files::Ended(file);
    let n =
        read_up_to(&mut text, |rest, _| file.read(rest)).map_err(|error| Error::io(&quoted(path), error))?;
    text.truncate(n);
    Ok(text)
}

/// The encoding of a text that begins like this, if not plain UTF-8.
pub fn wrong_encoding(text: &[u8]) -> Option<&'static str> {
    match text {
        [0xef, 0xbb, 0xbf, ..] => Some("begins with a byte order mark; save it as UTF-8 without one"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16; save it as UTF-8"),
        [0, c, ..] | [c, 0, ..] if (1..0x80).contains(c) => Some("UTF-16; save it as UTF-8"),
        _ => None,
    }
}

/// What `parse` makes of a file of at most `max_len` bytes, without the end of the last line. If that is nothing, the error
/// has this status, and says `what` the file is not.
pub fn parse<T>(
    path: &Path,
    max_len: usize,
    status: Status,
    what: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Error> {
    let text = read(open(path)?, path, max_len)?;
    parse_read(&text, path, max_len, status, what, parse)
}

/// The same of what [`read`] gave.
pub fn parse_read<T>(
    text: &[u8],
    path: &Path,
    max_len: usize,
    status: Status,
    what: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Error> {
    str::from_utf8(text)
        .ok()
        .filter(|text| text.len() <= max_len && wrong_encoding(text.as_bytes()).is_none())
        .and_then(|text| parse(text.trim_ascii_end()))
        .ok_or_else(|| Error::new(status, &quoted(path), wrong_encoding(text).unwrap_or(what)))
}

/// An open file with a list of public things. Nothing within a line looks like its end.
pub fn read_list(file: File, path: &Path) -> Result<String, Error> {
    let what = format!("not UTF-8, or too large: more than {MAX_LIST_LEN} bytes");
    let text = read(file, path, MAX_LIST_LEN)?;
    let text = parse_read(&text, path, MAX_LIST_LEN, Status::Io, &what, |text| {
        Some(text.to_owned())
    })?;
    let is_control = |c: char| c.is_control() && c != '\t' || matches!(c, '\u{2028}' | '\u{2029}');
    for (line, number) in text.lines().zip(1..) {
        if let Some(c) = line.chars().find(|c| is_control(*c)) {
            let reason = format_args!("line {number}: has the control character U+{:04X}", u32::from(c));
            return Err(Error::io(&quoted(path), reason));
        }
    }
    Ok(text)
}

/// The lines with their numbers, without empty ones and those that begin with `#`.
pub fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines = text.lines().map(str::trim).zip(1..);
    lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
}

/// What `parse` makes of each line of a list, which is open, and how that is called, in one line: as what follows it says, or
/// as the file if it has one entry only, or not at all.
pub fn list<T>(
    file: File,
    path: &Path,
    parse: impl Fn(&str) -> Result<(T, &str), String>,
) -> Result<Vec<(T, String)>, Error> {
    let text = read_list(file, path)?;
    let entries = lines(&text).map(|(line, number)| {
        parse(line)
            .map(|(entry, name)| (entry, name.to_owned()))
            .map_err(|reason| Error::io(&quoted(path), format_args!("line {number}: {reason}")))
    });
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
    if let ([(_, name)], Some(stem)) = (&mut *entries, path.file_stem())
        && name.is_empty()
        && !is_stdio(path)
    {
        *name = quoted(Path::new(stem));
    }
    Ok(entries)
}

/// Decodes hexadecimal digits of either case, or says what is wrong with them.
pub fn digits<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let wrong = text.chars().zip(1..).find(|(c, _)| !c.is_ascii_hexdigit());
    if text.starts_with("0x") || text.starts_with("0X") {
        return Err(format!("begins with {}, which must be left out", &text[..2]));
    }
    if let Some((c, at)) = wrong {
        let what = match c {
            '\u{feff}' => "a byte order mark".into(),
            '\u{200b}' => "a zero-width space".into(),
            ' ' => "a blank".into(),
            'O' | 'o' => format!("the letter {c}, not the digit 0"),
            'l' | 'I' => format!("the letter {c}, not the digit 1"),
            c if is_printable(c.encode_utf8(&mut [0; 4])) => format!("{c:?}"),
            c => format!("U+{:04X}", u32::from(c)),
        };
        return Err(format!(
            "character {at} is {what}; only {} hexadecimal digits are allowed",
            2 * N
        ));
    }
    let mut bytes = [0; N];
    match base16ct::mixed::decode(text, &mut bytes) {
        Ok(decoded) if decoded.len() == N => Ok(bytes),
        _ => Err(format!("has {} hexadecimal digits, not {}", text.len(), 2 * N)),
    }
}

/// The same for an argument; another option takes a file.
pub fn digits_or_file<const N: usize>(text: &str, option: &str) -> Result<[u8; N], String> {
    digits(text).map_err(|wrong| {
        if Path::new(text).is_file() {
            format!("{wrong}; use {option} for a file")
        } else {
            wrong
        }
    })
}
