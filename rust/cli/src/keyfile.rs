//! Key files: one line, `veriplex-key-v1 ` and 64 hexadecimal digits.
//!
//! Only the end of the line may differ.

use std::io::Write;
use std::path::Path;

use veriplex::{Key, with_wiped_stack};
use zeroize::Zeroizing;

use crate::crypt::random;
use crate::error::{Error, Status};
use crate::files::{Existing, Output, Readers};
use crate::text;

const KEY_LEN: usize = 32;
const PREFIX: &[u8; 16] = b"veriplex-key-v1 ";
/// The line with its newline.
const LINE_LEN: usize = PREFIX.len() + 2 * KEY_LEN + 1;
/// The longest file, with blanks after the key.
const MAX_LEN: usize = 512;

/// Reads a key file, and leaves no other copy of the key than `mix` does.
pub fn read<K>(path: &Path, mix: impl FnOnce(&Key) -> K) -> Result<K, Error> {
    let what = "not a key file (one line: veriplex-key-v1 and 64 hexadecimal digits)";
    with_wiped_stack(|| text::parse(path, MAX_LEN, Status::Io, what, |line| Some(mix(&parse(line)?))))
}

fn parse(line: &str) -> Option<Key> {
    let digits = line.as_bytes().strip_prefix(PREFIX)?;
    let mut key = Zeroizing::new([0; KEY_LEN]);
    // Neither branches nor looks up by a digit.
    let decoded = base16ct::mixed::decode(digits, key.as_mut_slice()).ok()?;
    (decoded.len() == KEY_LEN).then(|| Key::from(*key))
}

/// Makes a random key file, which only its owner may read and which must not exist yet; `-` prints it.
pub fn generate(path: &Path) -> Result<(), Error> {
    let output = create(path)?;
    let mut key = Zeroizing::new([0; KEY_LEN]);
    random(key.as_mut_slice())?;
    let mut line = Zeroizing::new([b'\n'; LINE_LEN]);
    let (prefix, digits) = line.split_at_mut(PREFIX.len());
    prefix.copy_from_slice(PREFIX);
    base16ct::lower::encode(key.as_slice(), &mut digits[..2 * KEY_LEN])
        .map_err(|error| Error::io("key", error))?;
    write(output, line.as_slice())
}

/// Where a secret goes: a file, which only its owner may read and which must not exist yet, or `-` for standard output.
pub fn create(path: &Path) -> Result<Output, Error> {
    Output::create(path, Existing::Refused, Readers::Owner)
}

/// Writes all of a file.
pub fn write(mut output: Output, text: &[u8]) -> Result<(), Error> {
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
        let good = line.trim_end();
        assert_eq!(parse(good).unwrap().as_bytes(), &[0x0f; 32]);
        for n in 0..good.len() {
            assert!(parse(&good[..n]).is_none(), "cut to {n}");
        }
        for i in 0..PREFIX.len() {
            let mut bad = good.as_bytes().to_vec();
            bad[i] ^= 1;
            assert!(parse(str::from_utf8(&bad).unwrap()).is_none(), "prefix {i}");
        }
        for bad in [
            good.replace("0f", "0g"),
            good.replace("v1 ", "v1  "),
            format!("{line}{line}"),
            format!(" {good}"),
            format!("{good}0"),
            format!("{good}00"),
            good.replace("v1", "v2"),
        ] {
            assert!(parse(&bad).is_none(), "{bad:?}");
        }
    }
}
