//! Who may connect: fingerprints, with names for the log.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use veriplex::hybrid::{Fingerprint, PublicKey};

use crate::error::Error;
use crate::names::{as_digits, quoted, visible};

/// The longest list of peers in bytes.
const MAX_LIST_LEN: u64 = 1 << 20;

/// The names of those that are allowed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Allowed(HashMap<Fingerprint, String>);

impl Allowed {
    /// What these arguments name: fingerprints, public key files, lists of fingerprints.
    pub fn read(arguments: &[String]) -> Result<Self, Error> {
        let mut allowed = Self::default();
        for argument in arguments {
            let before = allowed.0.len();
            allowed.add(argument)?;
            if before == 0 && allowed.0.is_empty() {
                return Err(Error::usage(&quoted(Path::new(argument)), "names no peer"));
            }
        }
        Ok(allowed)
    }

    /// The name of a peer that is allowed.
    pub fn name(&self, fingerprint: &Fingerprint) -> Option<&str> {
        self.0.get(fingerprint).map(String::as_str)
    }

    fn add(&mut self, argument: &str) -> Result<(), Error> {
        let path = Path::new(argument);
        let name = quoted(path);
        if let Some(digits) = as_digits(argument) {
            let wrong = |_| Error::usage(&name, "not a fingerprint (if it is a file, write ./ before it)");
            self.insert(digits.parse().map_err(wrong)?, "");
            return Ok(());
        }
        let text = read_text(path)?;
        if let Ok(key) = PublicKey::from_pem(&text) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            self.insert(key.fingerprint(), &stem);
            return Ok(());
        }
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let fingerprint = word
                .parse()
                .map_err(|_| Error::io(&name, format_args!("line {number} has no fingerprint")))?;
            self.insert(fingerprint, rest.trim());
        }
        Ok(())
    }

    /// In the log a name is as it is, but for what a terminal would take for more than text.
    pub fn insert(&mut self, fingerprint: Fingerprint, name: &str) {
        let name = if name.is_empty() {
            fingerprint.to_string()
        } else {
            visible(name)
        };
        self.0.insert(fingerprint, name);
    }
}

/// The text of a file that is not too long.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let failed = |error| Error::io(&quoted(path), error);
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_LIST_LEN + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > MAX_LIST_LEN {
        return Err(Error::io(&quoted(path), "it is too long"));
    }
    Ok(text)
}

/// Reads a public key file.
pub fn read_public(path: &Path) -> Result<PublicKey, Error> {
    PublicKey::from_pem(&read_text(path)?).map_err(|_| {
        Error::io(
            &quoted(path),
            "not a public key file (made by veriplex tunnel keygen)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let key = veriplex::hybrid::PrivateKey::generate(&mut veriplex::os_rng()).unwrap();
        let fingerprint = key.public_key().fingerprint();
        let [one, two] = [[1; 32], [2; 32]].map(Fingerprint::from_bytes);
        let list = file(
            "list",
            &format!("# all\n\n{one} Alice's laptop\n  {two}\t\u{1b}[8mBob\u{200b}\u{fe0f}\n"),
        );
        let pem = file("carol.pub", &key.public_key().to_pem());
        let third = Fingerprint::from_bytes([3; 32]);
        let allowed = Allowed::read(&[list, pem, third.to_string().to_uppercase()]).unwrap();
        assert_eq!(allowed.name(&one), Some("Alice's laptop"));
        assert_eq!(allowed.name(&two), Some("\\u{1b}[8mBob\\u{200b}\\u{fe0f}"));
        assert_eq!(allowed.name(&fingerprint), Some("carol"));
        assert_eq!(allowed.name(&third), Some(third.to_string().as_str()));
        assert_eq!(allowed.name(&Fingerprint::from_bytes([4; 32])), None);

        // What looks like a fingerprint is no file, even where there is one; a blank around it is none of it.
        assert_eq!(Allowed::read(&[format!(" {third}\r")]).unwrap().0.len(), 1);
        for damaged in [
            format!("{third}0"),
            third.to_string()[1..].into(),
            format!("0x{third}"),
        ] {
            let Err(error) = Allowed::read(std::slice::from_ref(&damaged)) else {
                panic!("{damaged}")
            };
            assert!(format!("{error:?}").contains("not a fingerprint"), "{error:?}");
        }

        let wrong = file("wrong", &format!("{one}\nnobody\n"));
        let empty = file("empty", "# nobody\n");
        let long = file("long", &" ".repeat((1 << 20) + 1));
        for argument in [
            wrong,
            empty,
            long,
            "/dev/zero".into(),
            folder.path().join("none").to_str().unwrap().into(),
        ] {
            assert!(
                Allowed::read(std::slice::from_ref(&argument)).is_err(),
                "{argument}"
            );
        }
    }
}
