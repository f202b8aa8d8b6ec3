//! What was proved: the manifest that `make proofs` writes, and the bytes to look for.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::Error;

/// The text of `proofs/generated/manifest.json` with which this program was built.
pub const MANIFEST: &str = include_str!("../data/manifest.json");

/// The architectures that have kernels.
pub const ARCHITECTURES: [&str; 2] = ["x86-64", "armv8"];

/// The tables of constants that the kernels of one architecture alone read. `jasmin/kernels.toml` says which; a test of the
/// site compares the two, as nothing here can read that file.
const TABLES_OF_ONE: [(&str, &str); 2] = [
    ("veriplex_simpira1024_round_constants_x4", "x86-64"),
    ("veriplex_xoofff_constants_x16", "x86-64"),
];

/// The fields of a manifest that we need.
#[derive(Deserialize)]
struct Manifest {
    objects: BTreeMap<String, Object>,
    theorems: Vec<Theorem>,
}

/// A kernel as it was proved.
#[derive(Deserialize)]
struct Object {
    symbol: String,
    /// Which of [`ARCHITECTURES`] it is for. Without one it is data, which kernels read besides their arguments.
    target: Option<String>,
    length: usize,
    sha256: String,
}

#[derive(Deserialize)]
struct Theorem {
    object: String,
    result: String,
}

/// A kernel about whose machine code a theorem was proved.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its symbol, without the version of the crate.
    pub symbol: String,
    /// The version of the crate, `MAJOR.MINOR`, if its symbol says so.
    pub version: Option<String>,
    /// Which of [`ARCHITECTURES`] its code is for. Data has none.
    pub architecture: Option<&'static str>,
    /// The SHA-256 of the proved bytes. It alone decides.
    pub sha256: [u8; 32],
    /// How many bytes were proved.
    pub len: usize,
    /// The proved bytes, by which the kernel is found in a file without symbols.
    pub(crate) bytes: Vec<u8>,
}

impl Kernel {
    /// Whether it must be in executable memory. If not, it is data, and must not be in writable memory.
    #[must_use]
    pub fn is_code(&self) -> bool {
        self.architecture.is_some()
    }

    /// Whether a file for this architecture may have it: it is code for it, or data that such code reads.
    #[must_use]
    pub fn is_for(&self, architecture: &str) -> bool {
        let reader = || TABLES_OF_ONE.iter().find(|(table, _)| *table == self.symbol);
        let own = self.architecture.or_else(|| reader().map(|(_, own)| *own));
        own.is_none_or(|own| own == architecture)
    }
}

/// The kernels of the manifest.
#[derive(Clone, Debug)]
pub struct Proved {
    pub(crate) kernels: Vec<Kernel>,
}

impl Proved {
    /// The kernels of the manifest that this program was built with.
    ///
    /// # Errors
    ///
    /// As [`Proved::new`].
    pub fn embedded() -> Result<Self, Error> {
        Self::new(MANIFEST, include_str!("../data/kernels.txt"))
    }

    /// The kernels of this manifest. `bytes` has the format of `kernels.txt` ([`listing`]).
    ///
    /// # Errors
    ///
    /// If the texts are malformed, have no kernel, or do not belong together.
    pub fn new(manifest: &str, bytes: &str) -> Result<Self, Error> {
        let mut bytes = parse_listing(bytes)?;
        let kernels = kernels(manifest)?
            .into_iter()
            .map(|(name, mut kernel)| {
                kernel.bytes = bytes
                    .remove(&name)
                    .ok_or_else(|| Error::new(format!("{name}: no bytes to look for (see --bytes)")))?;
                if kernel.bytes.len() != kernel.len || hash(&kernel.bytes) != kernel.sha256 {
                    return Err(Error::new(format!(
                        "{name}: the bytes to look for are not those of the manifest (see --bytes)"
                    )));
                }
                Ok(kernel)
            })
            .collect::<Result<_, _>>()?;
        if let Some(symbol) = bytes.keys().next() {
            return Err(Error::new(format!("{symbol}: not in the manifest")));
        }
        Ok(Self { kernels })
    }

    /// The kernels, by name.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }
}

/// What a manifest says about each object, by name, without its bytes.
///
/// # Errors
///
/// If the manifest is malformed, has no kernel, or has a kernel about which nothing was proved.
pub fn kernels(manifest: &str) -> Result<BTreeMap<String, Kernel>, Error> {
    let manifest: Manifest =
        serde_json::from_str(manifest).map_err(|e| Error::new(format!("manifest: {e}")))?;
    let mut kernels = BTreeMap::new();
    for (name, object) in manifest.objects {
        let mut theorems = manifest
            .theorems
            .iter()
            .filter(|theorem| theorem.object == name)
            .peekable();
        if theorems.peek().is_none() || theorems.any(|theorem| theorem.result != "proved") {
            return Err(Error::new(format!("manifest: {name} is not proved")));
        }
        let sha256 = hex::decode(&object.sha256)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| Error::new(format!("manifest: {name}: not a SHA-256")))?;
        if object.length == 0 {
            return Err(Error::new(format!("manifest: {name}: no bytes")));
        }
        let known = |target: &String| ARCHITECTURES.into_iter().find(|known| known == target);
        let architecture = match &object.target {
            None => None,
            Some(target) => Some(
                known(target).ok_or_else(|| Error::new(format!("{name}: unknown architecture {target}")))?,
            ),
        };
        let kernel = Kernel {
            symbol: unversioned(&object.symbol).to_owned(),
            version: versioned(&object.symbol).map(|(_, version)| version),
            architecture,
            sha256,
            len: object.length,
            bytes: Vec::new(),
        };
        kernels.insert(name, kernel);
    }
    if kernels.is_empty() {
        return Err(Error::new("manifest: no kernel"));
    }
    Ok(kernels)
}

/// A symbol without its version suffix (`_v0_1`), which keeps two versions of the crate apart.
pub(crate) fn unversioned(symbol: &str) -> &str {
    versioned(symbol).map_or(symbol, |(name, _)| name)
}

/// A symbol and the version of the crate that has it, if it has a version suffix.
pub(crate) fn versioned(symbol: &str) -> Option<(&str, String)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (name, version) = symbol.rsplit_once("_v")?;
    let (major, minor) = version.split_once('_')?;
    (is_number(major) && is_number(minor)).then(|| (name, format!("{major}.{minor}")))
}

/// The text of `kernels.txt`: each name on its own line with a colon, then its bytes in hexadecimal, 32 per line.
#[must_use]
pub fn listing<'k>(kernels: impl IntoIterator<Item = (&'k str, &'k [u8])>) -> String {
    let mut text = String::new();
    for (name, bytes) in kernels {
        text += name;
        text += ":\n";
        for row in bytes.chunks(32) {
            text += &hex::encode(row);
            text.push('\n');
        }
    }
    text
}

fn parse_listing(text: &str) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut kernels: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(symbol) = line.strip_suffix(':') {
            current = Some(kernels.entry(symbol.to_owned()).or_default());
        } else {
            let row = hex::decode(line).map_err(|_| Error::new(format!("kernels.txt: {line}")))?;
            current
                .as_mut()
                .ok_or_else(|| Error::new("kernels.txt: bytes without a symbol"))?
                .extend(row);
        }
    }
    Ok(kernels)
}

pub(crate) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
