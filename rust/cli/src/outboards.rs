//! Outboards of tree digests: files with which a part of another file can be verified without the rest.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-TREE` |
//! | 1 | version, 0x01 |
//! | 8 | the length of the file that was hashed, little-endian |
//! | the rest | its `veriplex::tree::outboard` in the domain `veriplex.sum.v1` |

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use veriplex::digest::Digest;
use veriplex::tree::outboard::{Reader, Writer, outboard_len};
use veriplex::tree::{CHUNK_LEN, Tree};
use veriplex_files::crypt::read_array;
use veriplex_files::error::Error;
use veriplex_files::files::{Existing, Input, Output, PIECE};

use crate::tree_hash::{Room, each_piece};

const HEADER: &[u8; 9] = b"VPX-TREE\x01";
/// How it is made.
const MADE: &str = "an outboard made";

/// Writes the outboard of a file; returns its digest.
pub fn write(
    tree: &Tree,
    path: &Path,
    outboard: &Path,
    force: bool,
    show_progress: bool,
) -> Result<Digest, Error> {
    let input = Input::open(path, show_progress)?;
    // It tells of the file's content.
    let mut output = Output::create(outboard, Existing::forced(force), input.readers()?)?;
    let name = output.name.clone();
    let file = output
        .file()
        .ok_or_else(|| Error::usage(&name, "must be a regular file"))?;
    let input_name = input.name.clone();
    let len = input
        .len()
        .ok_or_else(|| Error::usage(&input_name, "must be a regular file"))?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput => Error::io(&input_name, "changed while it was read"),
        _ => Error::write(&name, &error),
    };
    file.write_all(HEADER)
        .and_then(|()| file.write_all(&len.to_le_bytes()))
        .map_err(failed)?;
    let mut writer = Writer::new(tree, len, file).map_err(failed)?;
    each_piece(input, PIECE, &mut Room::default(), |piece| {
        writer.update_rayon(piece).map_err(failed)
    })?;
    let (digest, _) = writer.finalize().map_err(failed)?;
    output.commit()?;
    Ok(digest)
}

/// What is to be verified of a file.
#[derive(Clone, Copy)]
pub struct Part {
    /// Where the given file begins in the hashed one, if it is only a part.
    pub offset: Option<u64>,
    /// Which range of the hashed file; all, if not given.
    pub start: Option<u64>,
    pub end: Option<u64>,
}

impl Part {
    /// Which bytes are wanted of a file of this length that begins at `offset` of the `len` hashed bytes.
    fn range(self, name: &str, offset: u64, file_len: u64, len: u64) -> Result<Range<u64>, Error> {
        let chunk = CHUNK_LEN as u64;
        let end = offset.saturating_add(file_len);
        if end > len || self.offset.is_none() && end != len {
            let reason = format_args!("ends at byte {end}, but the hashed file has {len} bytes");
            return Err(Error::unverified(name, reason));
        }
        if !offset.is_multiple_of(chunk) || end != len && !end.is_multiple_of(chunk) {
            let reason = format_args!(
                "a part must begin at a multiple of {chunk} and end at one or at the end of the file"
            );
            return Err(Error::usage(name, reason));
        }
        let range = self.start.unwrap_or(offset)..self.end.unwrap_or(end);
        // Only an empty file has an empty part.
        let is_part = !range.is_empty() || range == (0..len);
        if range.start == range.end && !is_part {
            return Err(Error::usage(name, "the range is empty"));
        }
        if range.start < offset || range.end > end || !is_part {
            return Err(Error::usage(name, "does not contain this range"));
        }
        Ok(range)
    }
}

/// Verifies a part of a file with the digest and the outboard of the whole. Nothing else of the file is read.
pub fn verify(
    tree: &Tree,
    digest: &Digest,
    path: &Path,
    outboard: &Path,
    part: Part,
    show_progress: bool,
) -> Result<(), Error> {
    let mut strings = Input::open(outboard, false)?;
    let outboard_name = strings.name.clone();
    let header: [u8; HEADER.len()] = read_array(&mut strings, MADE)?;
    if header != *HEADER {
        return Err(Error::unverified(
            &outboard_name,
            "not an outboard made by veriplex",
        ));
    }
    let len = u64::from_le_bytes(read_array(&mut strings, MADE)?);
    let no_file = |name: &str| Error::usage(name, "must be a regular file");
    let (strings, strings_len, ..) = strings.into_file().map_err(|input| no_file(&input.name))?;
    if strings_len.checked_sub(17) != Some(outboard_len(len)) {
        return Err(Error::unverified(&outboard_name, "truncated or extended"));
    }
    let (file, file_len, mut progress, name) =
        (Input::open(path, show_progress)?.into_file()).map_err(|input| no_file(&input.name))?;
    let offset = part.offset.unwrap_or(0);
    let failed = |near: Option<u64>, error: io::Error| {
        let near = near.map_or_else(String::new, |at| format!("near byte {at}: "));
        match error.kind() {
            io::ErrorKind::InvalidData => {
                let reason = format_args!(
                    "{near}differs from the hashed file, or the outboard belongs to another file"
                );
                Error::unverified(&name, reason)
            }
            _ => Error::io(&name, error),
        }
    };
    // The length that the outboard claims is verified first.
    let message = Shifted { file, offset };
    let mut reader = Reader::new(tree, digest, len, message, strings).map_err(|error| failed(None, error))?;
    let range = part.range(&name, offset, file_len, len)?;
    let mut at = range.start;
    reader
        .seek(SeekFrom::Start(at))
        .map_err(|error| failed(None, error))?;
    let mut buffer = [0; CHUNK_LEN];
    while at < range.end {
        let n = usize::try_from(range.end - at).map_or(CHUNK_LEN, |left| left.min(CHUNK_LEN));
        (reader.read_exact(&mut buffer[..n])).map_err(|error| failed(Some(at), error))?;
        at += n as u64;
        progress.advance(n as u64);
    }
    Ok(())
}

/// A file that holds the bytes of another from `offset` on.
struct Shifted {
    file: File,
    offset: u64,
}

impl Read for Shifted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Shifted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(place) => {
                let place = place
                    .checked_sub(self.offset)
                    .ok_or(io::ErrorKind::UnexpectedEof)?;
                self.file.seek(SeekFrom::Start(place))?;
            }
            // Only asked where it begins.
            _ => return Ok(0),
        }
        Ok(0)
    }
}
