//! Who may connect: fingerprints, with names for the log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use veriplex::hybrid::Fingerprint;

use crate::error::Error;
use crate::terminal_quoting::{quoted, visible};
use crate::{keys, text};

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
        for (fingerprint, name) in text::list(text::open_regular(path)?, path, parse_line)? {
            self.insert(fingerprint, &name);
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

/// A public key or a fingerprint, and a name.
fn parse_line(line: &str) -> Result<(Fingerprint, &str), String> {
    if line.starts_with("veriplex-") {
        return keys::parse_public(line).map(|(key, name)| (key.tunnel.fingerprint(), name));
    }
    let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Ok((parse(word)?, name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Private;

    #[test]
    fn lists() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let key = Private::from_secret(&[7; 32]).public().ok().unwrap();
        let fingerprint = key.tunnel.fingerprint();
        let [one, two] = [[1; 32], [2; 32]].map(Fingerprint::from_bytes);
        let list = file(
            "list",
            &format!("# all\n\n{one} Alice's laptop\n  {two}\t\u{202e}Bob\u{200b}\u{fe0f}\n"),
        );
        let alone = file("carol.pub", &key.line());
        let third = Fingerprint::from_bytes([3; 32]);
        let allowed = Allowed::read(&[third], &[list, alone]).unwrap();
        assert_eq!(allowed.name(&one), Some("Alice's laptop"));
        assert_eq!(allowed.name(&two), Some("\\u{202e}Bob\\u{200b}\\u{fe0f}"));
        assert_eq!(allowed.name(&fingerprint), Some("carol"));
        assert_eq!(allowed.name(&third), Some(third.to_string().as_str()));
        assert_eq!(allowed.name(&Fingerprint::from_bytes([4; 32])), None);
        let both = file("both", &format!("{one} Alice\n{} Carol\n", key.line().trim_end()));
        let allowed = Allowed::read(&[], &[both]).unwrap();
        assert_eq!(allowed.name(&fingerprint), Some("Carol"));

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
