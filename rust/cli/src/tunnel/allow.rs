//! Who may connect: fingerprints, with names for the log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use veriplex::hybrid::{Fingerprint, PublicKey};

use crate::error::{Error, Status};
use crate::names::{quoted, visible};
use crate::text;

/// The names of those that are allowed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Allowed(HashMap<Fingerprint, String>);

impl Allowed {
    /// These peers, and those in these files: public keys, or lists of fingerprints; at least one.
    pub fn read(peers: &[Fingerprint], files: &[PathBuf]) -> Result<Self, Error> {
        let mut allowed = Self::default();
        for peer in peers {
            allowed.insert(*peer, "");
        }
        for path in files {
            allowed.add(path)?;
            if allowed.0.is_empty() {
                return Err(Error::usage(&quoted(path), "names no peer"));
            }
        }
        Ok(allowed)
    }

    /// The name of a peer that is allowed.
    pub fn name(&self, fingerprint: &Fingerprint) -> Option<&str> {
        self.0.get(fingerprint).map(String::as_str)
    }

    fn add(&mut self, path: &Path) -> Result<(), Error> {
        let text = text::read_list(path)?;
        if let Ok(key) = PublicKey::from_pem(&text) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            self.insert(key.fingerprint(), &stem);
            return Ok(());
        }
        for entry in text::entries(&quoted(path), &text, parse) {
            let (fingerprint, name) = entry?;
            self.insert(fingerprint, name);
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

/// The fingerprint that these 64 hexadecimal digits of either case are, or what is wrong with them.
pub fn parse(text: &str) -> Result<Fingerprint, String> {
    text::digits(text).map(Fingerprint::from_bytes)
}

/// Reads a public key file.
pub fn read_public(path: &Path) -> Result<PublicKey, Error> {
    let what = "not a public key file (made by veriplex tunnel keygen)";
    text::parse(path, 1 << 12, Status::Io, what, |pem| {
        PublicKey::from_pem(pem).ok()
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
            path
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
        let allowed = Allowed::read(&[third], &[list, pem]).unwrap();
        assert_eq!(allowed.name(&one), Some("Alice's laptop"));
        assert_eq!(allowed.name(&two), Some("\\u{1b}[8mBob\\u{200b}\\u{fe0f}"));
        assert_eq!(allowed.name(&fingerprint), Some("carol"));
        assert_eq!(allowed.name(&third), Some(third.to_string().as_str()));
        assert_eq!(allowed.name(&Fingerprint::from_bytes([4; 32])), None);

        let wrong = file("wrong", &format!("{one}\nnobody\n"));
        let empty = file("empty", "# nobody\n");
        let long = file("long", &" ".repeat((1 << 20) + 1));
        for path in [wrong, empty, long, "/dev/zero".into(), folder.path().join("none")] {
            assert!(
                Allowed::read(&[], std::slice::from_ref(&path)).is_err(),
                "{path:?}"
            );
        }
    }
}
