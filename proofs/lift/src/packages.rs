//! The crates of other people: which ones run the proofs or are in the bitcode, with their checksums.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

/// Name and version.
pub type Package = (String, String);

/// The crates from a registry that `veriplex` and the tools of the proofs need, as `name version` with the SHA-256 in
/// `Cargo.lock`.
///
/// # Errors
///
/// If `cargo tree` fails, or `Cargo.lock` cannot be read.
pub fn of_the_proofs(root: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root)
        .args(["tree", "--locked", "--target", "all", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}"])
        .args(["veriplex", "veriplex-lift", "veriplex-tools"].map(|name| format!("--package={name}")));
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    let sums = checksums(&fs::read_to_string(root.join("Cargo.lock"))?);
    let text = String::from_utf8(output.stdout).map_err(io::Error::other)?;
    Ok(text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
            let sum = sums.get(&(name.to_owned(), version.to_owned()))?;
            Some((format!("{name} {version}"), sum.clone()))
        })
        .collect())
}

/// The SHA-256 of each package of a `Cargo.lock` that comes from a registry.
#[must_use]
pub fn checksums(lock: &str) -> BTreeMap<Package, String> {
    let field = |entry: &str, name: &str| {
        let start = format!("{name} = \"");
        entry
            .lines()
            .find_map(|line| Some(line.strip_prefix(&start)?.strip_suffix('"')?.to_owned()))
    };
    lock.split("[[package]]")
        .filter_map(|entry| {
            Some((
                (field(entry, "name")?, field(entry, "version")?),
                field(entry, "checksum")?,
            ))
        })
        .collect()
}
