//! Key files: one line, `veriplex-key-v1 ` and 64 hexadecimal digits.
//!
//! The line may lack its newline, because some stores of secrets drop it; nothing else may differ.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use veriplex::Key;
use zeroize::Zeroizing;

use crate::crypt::random;
use crate::error::Error;
use crate::files::{Existing, Output, Readers, is_stdio, read_up_to};
use crate::names::quoted;

const KEY_LEN: usize = 32;
const PREFIX: &[u8; 16] = b"veriplex-key-v1 ";
/// The line with its newline.
const LINE_LEN: usize = PREFIX.len() + 2 * KEY_LEN + 1;

/// Reads a key file.
pub fn read(path: &Path) -> Result<Key, Error> {
    // One byte more than a line, to notice that more follows; no growing buffer, which would leave copies.
    let mut text = Zeroizing::new([0; LINE_LEN + 1]);
    parse(read_text(path, text.as_mut_slice())?).ok_or_else(|| {
        Error::io(
            &quoted(path),
            "not a key file (one line: veriplex-key-v1 and 64 hexadecimal digits)",
        )
    })
}

/// The beginning of a file, or of standard input for `-`, as much as the buffer holds.
pub fn read_text<'b>(path: &Path, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
    let failed = |error| Error::io(&quoted(path), error);
    let mut file: Box<dyn Read> = if is_stdio(path) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let n = read_up_to(buffer, |rest, _| file.read(rest)).map_err(failed)?;
    Ok(&buffer[..n])
}

fn parse(text: &[u8]) -> Option<Key> {
    let digits = text.strip_suffix(b"\n").unwrap_or(text).strip_prefix(PREFIX)?;
    let mut key = Zeroizing::new([0; KEY_LEN]);
    // Neither branches nor looks up by a digit.
    let decoded = base16ct::mixed::decode(digits, key.as_mut_slice()).ok()?;
    (decoded.len() == KEY_LEN).then(|| Key::from(*key))
}

/// Makes a random key file, which only its owner may read and which must not exist yet; `-` prints it.
pub fn generate(path: &Path) -> Result<(), Error> {
    let mut key = Zeroizing::new([0; KEY_LEN]);
    random(key.as_mut_slice())?;
    let mut line = Zeroizing::new([b'\n'; LINE_LEN]);
    let (prefix, digits) = line.split_at_mut(PREFIX.len());
    prefix.copy_from_slice(PREFIX);
    base16ct::lower::encode(key.as_slice(), &mut digits[..2 * KEY_LEN])
        .map_err(|error| Error::io("key", error))?;
    write(path, line.as_slice())
}

/// Makes a file for a secret, which only its owner may read and which must not exist yet; `-` prints it.
pub fn write(path: &Path, text: &[u8]) -> Result<(), Error> {
    let mut output = Output::create(path, Existing::Refused, Readers::Owner)?;
    output
        .write_all(text)
        .and_then(|()| output.flush())
        .map_err(|error| Error::write(&output.name, &error))?;
    output.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_is_strict() {
        let line = format!("veriplex-key-v1 {}\n", "0f".repeat(32));
        let good = line.as_bytes();
        assert_eq!(parse(good).unwrap().as_bytes(), &[0x0f; 32]);
        assert_eq!(parse(good.trim_ascii_end()).unwrap().as_bytes(), &[0x0f; 32]);
        for n in 0..good.len() - 1 {
            assert!(parse(&good[..n]).is_none(), "cut to {n}");
        }
        for i in 0..PREFIX.len() {
            let mut bad = good.to_vec();
            bad[i] ^= 1;
            assert!(parse(&bad).is_none(), "prefix {i}");
        }
        for bad in [
            line.replace("0f", "0g"),
            line.replace("v1 ", "v1  "),
            line.replace('\n', "\r\n"),
            format!("{line}\n"),
            format!(" {line}"),
            line.replace('\n', "0\n"),
            line.replace('\n', "00\n"),
            line.replace("v1", "v2"),
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad:?}");
        }
    }
}
