//! Checks whether the Veriplex kernels in a binary are the bytes that were proved.
//!
//! It always looks for kernels in two ways: by symbol, and by their bytes in all executable code. Whatever has the
//! name of a kernel, or at least half of its bytes, must have the SHA-256 in the manifest. So a kernel of another name
//! is a difference. A kernel is position-independent and was proved as linked, with nothing in it relocated, so a
//! relocation in it is a difference too. The tables of constants, which the kernels read, are checked in the same way.
//!
//! Linkers leave out what is not called. The library calls the kernels of one primitive for as many states or blocks
//! through one table, so a linker leaves out all of them or none: where one is missing, other code is in its place.

mod image;
mod proved;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use proved::{ARCHITECTURES, Kernel, MANIFEST, Proved, kernels, listing};

use image::Region;
use proved::{hash, unversioned, versioned};
use search::{Finder, Place};

/// Why a file could not be audited.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<object::read::Error> for Error {
    fn from(error: object::read::Error) -> Self {
        Self(format!("malformed: {error}"))
    }
}

/// A kernel or a table of constants found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its symbol in the manifest.
    pub symbol: String,
    /// Whether it is a kernel, not a table.
    pub is_code: bool,
    /// Which of [`ARCHITECTURES`] the code around it is for.
    pub architecture: &'static str,
    /// The member of the archive, or the slice of the universal binary.
    pub part: Option<String>,
    /// The address in a linked binary; in an object file, the offset in its section.
    pub address: u64,
    /// Where the bytes are in the file.
    pub file_offset: usize,
    /// How many bytes were proved.
    pub len: usize,
    /// How the bytes differ from the proved bytes, if they do.
    pub difference: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<40}", self.symbol)?;
        match &self.difference {
            None => write!(f, "proved bytes at {:#x} ({} bytes)", self.address, self.len)?,
            Some(difference) => write!(f, "DIFFERENT at {:#x} ({difference})", self.address)?,
        }
        match &self.part {
            None => Ok(()),
            Some(part) => write!(f, " in {}", part.escape_debug()),
        }
    }
}

/// Everything in a file that is or should be one of the kernels, sorted by kernel and place.
///
/// # Errors
///
/// If the file is not ELF, Mach-O, PE, COFF or an archive of them, or is malformed.
pub fn audit(file: &[u8], proved: &Proved) -> Result<Vec<Finding>, Error> {
    let kernels = ARCHITECTURES.map(|architecture| {
        let own = |kernel: &&Kernel| kernel.is_for(architecture);
        let kernels: Vec<Kernel> = proved.kernels.iter().filter(own).cloned().collect();
        (architecture, kernels)
    });
    let finders = kernels
        .each_ref()
        .map(|(architecture, kernels)| (architecture, kernels, Finder::new(kernels)));
    let mut findings = Vec::new();
    for image in image::images(file)? {
        let (_, kernels, finder) = finders
            .iter()
            .find(|(architecture, ..)| **architecture == image.architecture)
            .ok_or_else(|| Error::new("there are no kernels for this architecture"))?;
        for region in &image.regions {
            // By place, so that a kernel found both by symbol and by bytes is one finding.
            let mut candidates: BTreeMap<(usize, usize), u64> = finder
                .find(region.bytes, region.executable)
                .into_iter()
                .map(|Place { kernel, offset, .. }| ((kernel, offset), 0))
                .collect();
            for symbol in image.symbols.iter().filter(|symbol| symbol.is_in(region)) {
                let name = unversioned(&symbol.name);
                if let Some(kernel) = kernels.iter().position(|k| k.symbol == name)
                    && (region.executable || !kernels[kernel].is_code())
                    && let Ok(offset) = usize::try_from(symbol.address - region.address)
                {
                    let size = candidates.entry((kernel, offset)).or_default();
                    *size = symbol.size.max(*size);
                }
            }
            findings.extend(candidates.into_iter().map(|((kernel, offset), size)| {
                let kernel = &kernels[kernel];
                Finding {
                    symbol: kernel.symbol.clone(),
                    is_code: kernel.is_code(),
                    architecture: image.architecture,
                    part: image.part.clone(),
                    address: region.address.saturating_add(offset as u64),
                    file_offset: region.bytes[offset..].as_ptr() as usize - file.as_ptr() as usize,
                    len: kernel.len,
                    difference: difference(kernel, region, offset, size),
                }
            }));
        }
        for symbol in &image.symbols {
            let name = unversioned(&symbol.name);
            let mut finding = Finding {
                symbol: name.to_owned(),
                is_code: true,
                architecture: image.architecture,
                part: image.part.clone(),
                address: symbol.address,
                file_offset: 0,
                len: 0,
                difference: None,
            };
            if let Some(kernel) = kernels.iter().find(|k| k.symbol == name) {
                let is_place = |region: &Region<'_>| region.executable || !kernel.is_code();
                // A symbol elsewhere, say in writable memory, cannot be the kernel that it names.
                if !(image.regions.iter()).any(|region| symbol.is_in(region) && is_place(region)) {
                    let wrong = "not in executable code or, for a table, in constant data";
                    (finding.is_code, finding.len) = (kernel.is_code(), kernel.len);
                    finding.difference = Some(wrong.to_owned());
                    findings.push(finding);
                }
            } else if name != symbol.name && name.starts_with("veriplex_") {
                finding.difference = Some("nothing of this name was proved".to_owned());
                findings.push(finding);
            }
        }
    }
    findings.sort_by(|a, b| (&a.symbol, &a.part, a.address).cmp(&(&b.symbol, &b.part, b.address)));
    Ok(findings)
}

/// A kernel or a table of which nothing was found in a file that could have it.
#[derive(Clone, Copy, Debug)]
pub struct Missing<'p> {
    /// One of [`ARCHITECTURES`].
    pub architecture: &'static str,
    /// What is missing.
    pub kernel: &'p Kernel,
    /// Whether a kernel of its set was found, so that no linker has left it out.
    pub is_replaced: bool,
}

impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<40}not found ({})", self.kernel.symbol, self.architecture)?;
        if self.is_replaced {
            f.write_str(": other code is in its place, as kernels that are linked with it were found")?;
        }
        Ok(())
    }
}

/// The kernels and tables that a file with code for these architectures could have, and of which nothing was found.
#[must_use]
pub fn missing<'p>(
    architectures: &BTreeSet<&'static str>,
    findings: &[Finding],
    proved: &'p Proved,
) -> Vec<Missing<'p>> {
    let of = |architecture: &'static str| {
        let found = findings
            .iter()
            .filter(move |finding| finding.architecture == architecture);
        let names: BTreeSet<&str> = found.clone().map(|finding| finding.symbol.as_str()).collect();
        let sets: BTreeSet<_> = found
            .filter(|finding| finding.is_code)
            .map(|finding| set(&finding.symbol))
            .collect();
        (proved.kernels().iter())
            .filter(move |kernel| kernel.is_for(architecture) && !names.contains(kernel.symbol.as_str()))
            .map(move |kernel| Missing {
                architecture,
                kernel,
                is_replaced: sets.contains(&set(&kernel.symbol)),
            })
    };
    architectures.iter().copied().flat_map(of).collect()
}

/// What follows from both, in a sentence.
///
/// # Errors
///
/// The sentence, if something is wrong: anything differs or was replaced, or there is no kernel.
pub fn verdict(findings: &[Finding], missing: &[Missing<'_>]) -> Result<String, String> {
    let different = (findings.iter())
        .filter(|finding| finding.difference.is_some())
        .count();
    // Each once, in however many places it is.
    let found: BTreeSet<_> = (findings.iter())
        .map(|finding| (finding.architecture, &finding.symbol, finding.is_code))
        .collect();
    let found = counted(found.into_iter().map(|(.., is_code)| is_code));
    if !findings.iter().any(|finding| finding.is_code) {
        Err("no Veriplex kernel was found".to_owned())
    } else if different > 0 {
        let places = findings.len();
        Err(format!(
            "{different} of {places} places do NOT have the proved bytes"
        ))
    } else if let Some(replaced) = missing.iter().find(|missing| missing.is_replaced) {
        Err(replaced.to_string())
    } else if missing.is_empty() {
        Ok(format!(
            "all {found} are there, and every place has the proved bytes"
        ))
    } else {
        let missing = counted(missing.iter().map(|missing| missing.kernel.is_code()));
        Ok(format!(
            "every place found has the proved bytes: {found}. Not found: {missing}. A linker leaves out what is not called, and in \
             a stripped file a very different kernel is not recognised"
        ))
    }
}

/// How many there are: kernels, and the tables of constants that kernels read.
fn counted(are_code: impl Iterator<Item = bool>) -> String {
    let (kernels, tables): (Vec<bool>, Vec<bool>) = are_code.partition(|&is_code| is_code);
    let parts = [
        (kernels.len(), "kernel", "kernels"),
        (tables.len(), "table of constants", "tables of constants"),
    ];
    let parts: Vec<String> = (parts.iter())
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    parts.join(" and ")
}

/// The primitive of a kernel or a table, and for how many states or blocks it is.
fn set(symbol: &str) -> (&str, &str) {
    let name = symbol.trim_start_matches("veriplex_");
    let first = name.split('_').next().unwrap_or_default();
    let primitive = match first.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "simpira" => "duplex",
        primitive => primitive,
    };
    let lanes = name.rsplit_once("_x").map_or("", |(_, lanes)| lanes);
    (primitive, lanes)
}

/// The [`ARCHITECTURES`] for which a file contains code.
///
/// # Errors
///
/// As [`audit`].
pub fn architectures(file: &[u8]) -> Result<BTreeSet<&'static str>, Error> {
    Ok(image::images(file)?
        .iter()
        .map(|image| image.architecture)
        .collect())
}

/// The versions of the crate, `MAJOR.MINOR`, whose kernels have symbols in a file. A stripped file has none.
///
/// # Errors
///
/// As [`audit`].
pub fn versions(file: &[u8], proved: &Proved) -> Result<BTreeSet<String>, Error> {
    let names: BTreeSet<&str> = proved
        .kernels()
        .iter()
        .map(|kernel| kernel.symbol.as_str())
        .collect();
    let images = image::images(file)?;
    let symbols = images.iter().flat_map(|image| &image.symbols);
    Ok(symbols
        .filter_map(|symbol| versioned(&symbol.name))
        .filter(|(name, _)| names.contains(name))
        .map(|(_, version)| version)
        .collect())
}

/// The text of `kernels.txt`, from files that contain every kernel of this manifest under its symbol.
///
/// # Errors
///
/// As [`audit`]; and if, for some kernel, no symbol has the bytes of the manifest.
pub fn bytes_of(files: &[Vec<u8>], manifest: &str) -> Result<String, Error> {
    let mut images = Vec::new();
    for file in files {
        images.extend(image::images(file)?);
    }
    let places: Vec<_> = images
        .iter()
        .flat_map(|image| image.regions.iter().map(move |region| (image, region)))
        .flat_map(|(image, region)| image.symbols.iter().map(move |symbol| (image, region, symbol)))
        .filter(|(_, region, symbol)| symbol.is_in(region))
        .collect();
    let mut found = Vec::new();
    for (name, kernel) in kernels(manifest)? {
        let bytes = places
            .iter()
            .filter(|(image, ..)| kernel.is_for(image.architecture))
            .filter(|(.., symbol)| unversioned(&symbol.name) == kernel.symbol)
            .filter_map(|(_, region, symbol)| {
                let offset = usize::try_from(symbol.address - region.address).ok()?;
                region.bytes.get(offset..)?.get(..kernel.len)
            })
            .find(|bytes| hash(bytes) == kernel.sha256)
            .ok_or_else(|| Error::new(format!("no symbol {name} with the proved bytes")))?;
        found.push((name, bytes));
    }
    Ok(listing(found.iter().map(|(name, bytes)| (name.as_str(), *bytes))))
}

/// Why the code at `offset` is not the proved bytes. `size` is zero if it is unknown.
fn difference(kernel: &Kernel, region: &Region<'_>, offset: usize, size: u64) -> Option<String> {
    let rest = &region.bytes[offset..];
    let Some(found) = rest.get(..kernel.len) else {
        return Some(format!("only {} of {} bytes", rest.len(), kernel.len));
    };
    if size != 0 && size != kernel.len as u64 {
        return Some(format!(
            "the symbol has {size} bytes, but {} were proved",
            kernel.len
        ));
    }
    if hash(found) != kernel.sha256 {
        let mut differing = (0..kernel.len).filter(|&i| found[i] != kernel.bytes[i]);
        let first = differing.next().unwrap_or_default();
        let count = 1 + differing.count();
        return Some(format!(
            "{count} of {} bytes, the first at +{first:#x}",
            kernel.len
        ));
    }
    if region.writable {
        return Some("the proved bytes, but in writable memory".to_owned());
    }
    let start = region.address.saturating_add(offset as u64);
    let end = start.saturating_add(kernel.len as u64);
    region
        .relocated
        .iter()
        .find(|&&(from, to)| from < end && start < to)
        .map(|(from, _)| format!("a relocation at {from:#x} changes the proved bytes"))
}
