//! The kernels of an object file, a static library or a linked program (ELF or Mach-O), cut out by their symbols.

use crate::TARGETS;
use object::{Architecture, BinaryFormat, Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use std::path::Path;
use std::{fs, io};

/// A kernel, or a table of constants.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its symbol without `veriplex_` and the version.
    pub name: String,
    /// Its whole symbol.
    pub symbol: String,
    /// The instruction set of the file.
    pub architecture: Architecture,
    /// Its bytes, which do not depend on where it is linked.
    pub bytes: Vec<u8>,
}

/// The symbols `veriplex_NAME_vVERSION` of a file, by name.
///
/// # Errors
///
/// If the file cannot be read, if there is none in it, or if the bytes of one depend on where it is linked.
pub fn symbols(file: &Path) -> io::Result<Vec<Symbol>> {
    let data = fs::read(file)?;
    let mut symbols = Vec::new();
    if let Ok(archive) = object::read::archive::ArchiveFile::parse(&*data) {
        for member in archive.members() {
            let member = member
                .map_err(io::Error::other)?
                .data(&*data)
                .map_err(io::Error::other)?;
            symbols.extend(symbols_of_object(member)?);
        }
    } else {
        symbols = symbols_of_object(&data)?;
    }
    symbols.sort_by(|a, b| a.name.cmp(&b.name));
    if symbols.is_empty() {
        return Err(io::Error::other(format!("{}: no kernel in it", file.display())));
    }
    Ok(symbols)
}

fn symbols_of_object(data: &[u8]) -> io::Result<Vec<Symbol>> {
    let Ok(object) = object::File::parse(data) else {
        return Ok(Vec::new());
    };
    let mut symbols = Vec::new();
    for symbol in object.symbols() {
        let mut text = symbol.name().unwrap_or_default();
        if object.format() == BinaryFormat::MachO {
            text = text.strip_prefix('_').unwrap_or(text);
        }
        let (Some(name), Some(index)) = (basename(text), symbol.section_index()) else {
            continue;
        };
        let section = object.section_by_index(index).map_err(io::Error::other)?;
        let start = symbol.address() - section.address();
        let range = start..start + size(&object, &symbol, &section);
        if section.relocations().any(|(at, _)| range.contains(&at)) {
            return Err(io::Error::other(format!(
                "{text}: its bytes depend on where they are linked"
            )));
        }
        let bytes = section.data().map_err(io::Error::other)?;
        let bytes = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .and_then(|(start, end)| bytes.get(start..end))
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(|| io::Error::other(format!("{text}: no size")))?;
        symbols.push(Symbol {
            name: name.to_owned(),
            symbol: text.to_owned(),
            architecture: object.architecture(),
            bytes: bytes.to_vec(),
        });
    }
    Ok(symbols)
}

/// The size of a symbol. Mach-O has none: there it extends to the next symbol, and for code only to the last return, as
/// what follows is alignment. A kernel that continues after its last return is refused later.
fn size(
    object: &object::File<'_>,
    symbol: &object::Symbol<'_, '_>,
    section: &object::Section<'_, '_>,
) -> u64 {
    if object.format() != BinaryFormat::MachO {
        return symbol.size();
    }
    let start = symbol.address();
    let next = object
        .symbols()
        .filter(|other| other.section_index() == Some(section.index()))
        .map(|other| other.address())
        .filter(|&address| address > start)
        .min();
    let all = next.unwrap_or(section.address() + section.size()) - start;
    let target = TARGETS
        .into_iter()
        .find(|target| target.architecture == object.architecture());
    match (target, section.data_range(start, all)) {
        (Some(target), Ok(Some(bytes))) if section.kind() == SectionKind::Text => (target.code_len)(bytes),
        _ => all,
    }
}

/// `simpira1024_permute` from `veriplex_simpira1024_permute_v0_1`.
fn basename(symbol: &str) -> Option<&str> {
    let (name, version) = symbol.strip_prefix("veriplex_")?.rsplit_once("_v")?;
    version
        .chars()
        .all(|c| c.is_ascii_digit() || c == '_')
        .then_some(name)
}
