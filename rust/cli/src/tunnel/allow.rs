//! Who may connect: fingerprints, with names for the log.

use std::path::PathBuf;

use veriplex::hybrid::Fingerprint;
use veriplex_files::error::Error;
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::text;
use veriplex_tunnel::daemon::Allowed;

use crate::keys;

/// These peers, and those in these files: public keys, or lists of fingerprints; at least one.
pub fn read(peers: &[Fingerprint], files: &[PathBuf]) -> Result<Allowed, Error> {
    let mut allowed = Allowed::default();
    for peer in peers {
        allowed.insert(*peer, "");
    }
    for path in files {
        for (fingerprint, name) in text::list(text::open_regular(path)?, path, parse_line)? {
            allowed.insert(fingerprint, &name);
        }
        if allowed.is_empty() {
            return Err(Error::usage(&quoted(path), "names no peer"));
        }
    }
    Ok(allowed)
}

/// Decodes a fingerprint from 64 hexadecimal digits of either case, or says what is wrong with them.
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
        let single = file("carol.pub", &key.line());
        let third = Fingerprint::from_bytes([3; 32]);
        let allowed = read(&[third], &[list, single]).unwrap();
        assert_eq!(allowed.name(&one), Some("Alice's laptop"));
        assert_eq!(allowed.name(&two), Some("\\u{202e}Bob\\u{200b}\\u{fe0f}"));
        assert_eq!(allowed.name(&fingerprint), Some("carol"));
        assert_eq!(allowed.name(&third), Some(third.to_string().as_str()));
        assert_eq!(allowed.name(&Fingerprint::from_bytes([4; 32])), None);
        let both = file("both", &format!("{one} Alice\n{} Carol\n", key.line().trim_end()));
        let allowed = read(&[], &[both]).unwrap();
        assert_eq!(allowed.name(&fingerprint), Some("Carol"));

        let wrong = file("wrong", &format!("{one}\nnobody\n"));
        let empty = file("empty", "# nobody\n");
        let long = file("long", &" ".repeat((1 << 20) + 1));
        for path in [wrong, empty, long, "/dev/zero".into(), folder.path().join("none")] {
            assert!(read(&[], std::slice::from_ref(&path)).is_err(), "{path:?}");
        }
    }
}
