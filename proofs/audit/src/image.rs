//! The executable code in a file, and the symbols and relocations in it.

use object::pe::IMAGE_REL_BASED_ABSOLUTE;
use object::read::archive::ArchiveFile;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::read::pe::PeFile64;
use object::{
    Architecture, BinaryFormat, File, FileKind, Object, ObjectKind, ObjectSection, ObjectSegment,
    ObjectSymbol, SectionIndex, SectionKind,
};

use crate::Error;
use crate::proved::ARCHITECTURES;

/// The contents of one object file or linked binary.
pub(crate) struct Image<'data> {
    /// The member of the archive, or the slice of the universal binary.
    pub(crate) part: Option<String>,
    /// One of [`ARCHITECTURES`].
    pub(crate) architecture: &'static str,
    pub(crate) regions: Vec<Region<'data>>,
    pub(crate) symbols: Vec<Symbol>,
}

/// Contiguous bytes that are executable or not writable: a segment of a linked binary, a section of an object file.
pub(crate) struct Region<'data> {
    pub(crate) executable: bool,
    /// Whether the running program can change it.
    pub(crate) writable: bool,
    /// The section, in an object file, because each section there has its own addresses.
    section: Option<SectionIndex>,
    pub(crate) address: u64,
    pub(crate) bytes: &'data [u8],
    /// The start and end of each place that the linker or the loader will change.
    pub(crate) relocated: Vec<(u64, u64)>,
}

pub(crate) struct Symbol {
    pub(crate) name: String,
    section: Option<SectionIndex>,
    pub(crate) address: u64,
    /// Zero if the format has no sizes.
    pub(crate) size: u64,
}

impl Symbol {
    /// Whether the symbol points into this region.
    pub(crate) fn is_in(&self, region: &Region<'_>) -> bool {
        (region.section.is_none() || region.section == self.section)
            && self
                .address
                .checked_sub(region.address)
                .is_some_and(|offset| offset < region.bytes.len() as u64)
    }
}

/// Every image in a file: one, or those of the members of an archive or of a universal binary.
///
/// Leaves out images for architectures without kernels.
pub(crate) fn images(data: &[u8]) -> Result<Vec<Image<'_>>, Error> {
    let mut images = Vec::new();
    collect(data, &[], &mut images)?;
    Ok(images)
}

/// The maximum nesting of containers: a universal binary of archives of objects.
const MAX_DEPTH: usize = 3;

fn collect<'data>(data: &'data [u8], part: &[String], images: &mut Vec<Image<'data>>) -> Result<(), Error> {
    let kind = FileKind::parse(data).ok().filter(|&kind| is_known(kind));
    if part.len() >= MAX_DEPTH {
        return Err(Error::new("archives are nested too deeply"));
    }
    match kind {
        None if data.starts_with(b"\0asm") => {
            return Err(Error::new(
                "WebAssembly: the library has no kernels there, so there are no proved bytes",
            ));
        }
        None => {
            return Err(Error::new(
                "neither ELF nor Mach-O nor PE nor an archive of such objects",
            ));
        }
        Some(FileKind::Archive) => {
            let archive = ArchiveFile::parse(data)?;
            if archive.is_thin() {
                return Err(Error::new("a thin archive contains no code"));
            }
            for member in archive.members() {
                let member = member?;
                let name = String::from_utf8_lossy(member.name()).into_owned();
                let member = member.data(data)?;
                // Rust's libraries have a member with metadata.
                if FileKind::parse(member).is_ok_and(is_known) {
                    collect(member, &inner(part, name), images)?;
                }
            }
        }
        Some(FileKind::MachOFat32) => slices(MachOFatFile32::parse(data)?.arches(), data, part, images)?,
        Some(FileKind::MachOFat64) => slices(MachOFatFile64::parse(data)?.arches(), data, part, images)?,
        Some(_) => {
            let file = File::parse(data)?;
            if let Some(architecture) = known(file.architecture()) {
                images.push(image(&file, architecture, part, data.len())?);
            }
        }
    }
    Ok(())
}

/// Which of [`ARCHITECTURES`] it is.
fn known(architecture: Architecture) -> Option<&'static str> {
    match architecture {
        Architecture::X86_64 => Some(ARCHITECTURES[0]),
        Architecture::Aarch64 => Some(ARCHITECTURES[1]),
        _ => None,
    }
}

fn is_known(kind: FileKind) -> bool {
    matches!(
        kind,
        FileKind::Archive
            | FileKind::Coff
            | FileKind::CoffBig
            | FileKind::Elf32
            | FileKind::Elf64
            | FileKind::MachO32
            | FileKind::MachO64
            | FileKind::MachOFat32
            | FileKind::MachOFat64
            | FileKind::Pe32
            | FileKind::Pe64
    )
}

fn slices<'data>(
    arches: &[impl FatArch],
    data: &'data [u8],
    part: &[String],
    images: &mut Vec<Image<'data>>,
) -> Result<(), Error> {
    for arch in arches {
        if let Some(architecture) = known(arch.architecture()) {
            collect(arch.data(data)?, &inner(part, architecture.to_owned()), images)?;
        }
    }
    Ok(())
}

fn inner(part: &[String], name: String) -> Vec<String> {
    let mut part = part.to_vec();
    part.push(name);
    part
}

fn image<'data>(
    file: &File<'data>,
    architecture: &'static str,
    part: &[String],
    file_len: usize,
) -> Result<Image<'data>, Error> {
    let regions = if file.kind() == ObjectKind::Relocatable {
        sections(file)?
    } else {
        segments(file)?
    };
    // If bytes of the file were mapped many times, the search would take forever.
    let searched = regions.iter().map(|region| region.bytes.len()).sum::<usize>();
    if searched > 2 * file_len {
        return Err(Error::new("segments overlap"));
    }
    let symbols = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| !symbol.is_undefined())
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            let name = match file.format() {
                BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
                _ => name,
            };
            Some(Symbol {
                name: name.to_owned(),
                section: symbol.section_index(),
                address: symbol.address(),
                size: symbol.size(),
            })
        })
        .collect();
    Ok(Image {
        architecture,
        part: (!part.is_empty()).then(|| part.join(": ")),
        regions,
        symbols,
    })
}

fn sections<'data>(file: &File<'data>) -> Result<Vec<Region<'data>>, Error> {
    file.sections()
        .filter(|section| matches!(section.kind(), SectionKind::Text | SectionKind::ReadOnlyData))
        .map(|section| {
            let relocated = section
                .relocations()
                .map(|(offset, relocation)| extent(section.address().wrapping_add(offset), relocation.size()))
                .collect();
            Ok(Region {
                executable: section.kind() == SectionKind::Text,
                writable: false,
                section: Some(section.index()),
                address: section.address(),
                bytes: section.data()?,
                relocated,
            })
        })
        .collect()
}

/// What runs are the segments, not the sections.
fn segments<'data>(file: &File<'data>) -> Result<Vec<Region<'data>>, Error> {
    let relocated: Vec<_> = match file {
        File::Pe64(file) => base_relocations(file)?,
        _ => (file.dynamic_relocations().into_iter().flatten())
            .map(|(address, relocation)| extent(address, relocation.size()))
            .collect(),
    };
    file.segments()
        .filter(|segment| segment.permissions().executable() || !segment.permissions().writable())
        .map(|segment| {
            Ok(Region {
                executable: segment.permissions().executable(),
                writable: segment.permissions().writable(),
                section: None,
                address: segment.address(),
                bytes: segment.data()?,
                relocated: relocated.clone(),
            })
        })
        .collect()
}

/// Those that the loader of Windows makes when it moves the image.
fn base_relocations(file: &PeFile64<'_>) -> Result<Vec<(u64, u64)>, Error> {
    let base = file.relative_address_base();
    let mut relocated = Vec::new();
    let blocks = (file.data_directories()).relocation_blocks(file.data(), &file.section_table())?;
    let Some(mut blocks) = blocks else {
        return Ok(relocated);
    };
    while let Some(block) = blocks.next()? {
        for relocation in block.filter(|relocation| relocation.typ != IMAGE_REL_BASED_ABSOLUTE) {
            relocated.push(extent(base.saturating_add(relocation.virtual_address.into()), 64));
        }
    }
    Ok(relocated)
}

/// Where a relocation begins and ends. It has eight bytes if its size is unknown.
fn extent(start: u64, bits: u8) -> (u64, u64) {
    let len = match bits {
        0 => 8,
        bits => u64::from(bits.div_ceil(8)),
    };
    (start, start.saturating_add(len))
}
