//! Where the known answers are: `tests/vectors`, with one folder per family, or the folder that `VERIPLEX_VECTORS`
//! names, with the same layout.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The families that tests read.
pub const FAMILIES: [&str; 7] = [
    "adiantum", "newplex", "poly1305", "seekable", "tree", "tunnel", "xoofff",
];

/// The folder of a family: the one in `VERIPLEX_VECTORS` if it exists, else the one in `tests/vectors`.
///
/// A folder that no test reads is an error: its answers would appear to be checked.
pub fn folder(family: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("tests/vectors"))
        .find(|folder| folder.is_dir())
        .expect("tests/vectors");
    let other = env::var_os("VERIPLEX_VECTORS").map(PathBuf::from);
    choose(family, &own, other.as_deref())
}

/// [`folder`], given `tests/vectors` as `own` and `VERIPLEX_VECTORS` as `other`.
pub fn choose(family: &str, own: &Path, other: Option<&Path>) -> PathBuf {
    assert!(FAMILIES.contains(&family), "{family} is not in FAMILIES");
    let Some(other) = other else {
        return own.join(family);
    };
    let entries =
        fs::read_dir(other).unwrap_or_else(|e| panic!("VERIPLEX_VECTORS: {}: {e}", other.display()));
    let mut none = true;
    for path in entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
    {
        none = false;
        let is_read = FAMILIES
            .iter()
            .any(|family| path.file_name() == Some(OsStr::new(family)));
        assert!(is_read, "VERIPLEX_VECTORS: no test reads {}", path.display());
    }
    assert!(!none, "VERIPLEX_VECTORS: {} has no folders", other.display());
    let given = other.join(family);
    if given.is_dir() { given } else { own.join(family) }
}
