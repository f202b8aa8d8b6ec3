//! Encryption and decryption of an image into another file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use veriplex::Key;
use veriplex_files::crypt::{Job, Range, Secret};
use veriplex_files::destination::{self, Destination, Place};
use veriplex_files::error::{Error, warn};
use veriplex_files::files::{Existing, Output, PIECE, Readers, beside};
use veriplex_files::locks::Locked;
use veriplex_files::places::{is_same, is_stdio};
use veriplex_files::progress::Progress;
use veriplex_files::terminal_quoting::quoted;
use zeroize::Zeroizing;

use super::header::{Disk, Geometry, Header, SectorTags, Sectors, State};
use super::image::{self, Access, Image, check_other};
use super::plain::Plain;
use super::{Direction, EXTENSION, HEADER_EXTENSION, JOURNAL_EXTENSION, OLD_EXTENSION, convert};

/// Reads a secret, or asks for it.
pub type Read<'a> = &'a dyn Fn() -> Result<Secret, Error>;

/// Which part of an image is encrypted, and how.
pub struct Plan {
    pub sector_len: usize,
    pub offset: u64,
    pub len: Option<u64>,
    /// Of the password.
    pub cost: u8,
    /// Refuse an image that looks half converted.
    pub is_checked: bool,
}

/// Encrypts some sectors; the rest is copied as it is.
pub fn encrypt(job: &Job<'_>, header: Option<&Path>, secret: Read<'_>, plan: &Plan) -> Result<(), Error> {
    let open = if plan.is_checked {
        Image::open
    } else {
        Image::open_any
    };
    let image = open(job.input, Access::Read)?;
    let geometry = image.geometry(plan.sector_len, plan.offset, plan.len)?;
    let destination = job.encrypted(EXTENSION)?;
    check_other(job.input, &destination)?;
    let header_path = header_path(&destination, header)?;
    let output = job.output_of_ciphertext(EXTENSION, image.readers.ours())?;
    let header_place = convert::place(&header_path)?;
    let header_name = quoted(&header_path);
    let locked = Locked::if_there(&header_place.path);
    let locked_header = locked.map_err(|error| Error::io(&header_name, error))?;
    if !job.force && header.is_none() && header_path.exists() && !destination.exists() {
        let reason = "already exists, but its image does not: move the image back, or remove this header if it is left from \
                      an encryption that was interrupted";
        return Err(Error::io(&header_name, reason));
    }
    // Before it is an output, which is not read.
    let old = Old::found(&header_place, locked_header.as_ref(), job.force)?;
    let existing = Existing::forced(job.force);
    let place = header_place.clone();
    let mut header_output = Output::at(place, header_name, existing, image.readers.ours())?;
    let disk = Disk::generate(geometry, &secret()?, plan.cost)?;
    let mut output = transform(job, &image, &disk, Direction::Encrypt, Range::default(), output)?;
    let tags = disk
        .sector_tags(|number, sector| {
            image.read_at(disk.place(number), sector)?;
            disk.apply(Direction::Encrypt, number, sector)
        })
        .map_err(|error| Error::io(&image.name, error))?;
    let header = disk.header(&tags)?;
    header_output
        .write_all(header.bytes())
        .map_err(|error| Error::write(&header_output.name, &error))?;
    let new = output.file().map(|file| file.try_clone()).transpose();
    let new = new.map_err(|error| Error::io(&output.name, error))?;
    // Outputs other than files have already been changed.
    let new = new.zip(output.place());
    let is_new = || new.is_none_or(|(new, place)| is_same(&new, fs::metadata(place.path)));
    // The header first: without it the new image cannot be decrypted.
    let commit = || {
        header_output.commit()?;
        output.commit()?;
        // Another encryption may have replaced it before the image appeared.
        convert::check_header(&header_place, header.bytes()).map_err(|_| {
            let reason = "was replaced meanwhile, and cannot decrypt the new image: encrypt again";
            Error::io(&quoted(&header_place.shown), reason)
        })
    };
    match old {
        None => commit(),
        Some(old) => old.replace(commit, is_new),
    }
}

/// A header that is being replaced. The old one stays until its image is replaced too.
struct Old {
    place: Place,
    kept: Place,
    header: Header,
    readers: Readers,
}

impl Old {
    /// An error if it cannot be replaced. What is no header is none.
    fn found(place: &Place, locked: Option<&Locked>, force: bool) -> Result<Option<Self>, Error> {
        let (Some(locked), Ok(header), true) = (locked, Header::read(&place.path), force) else {
            return Ok(None);
        };
        let name = quoted(&place.shown);
        header.check_finished(&name)?;
        let readers = Readers::like(locked.file()).map_err(|error| Error::io(&name, error))?;
        let kept = place.beside(OLD_EXTENSION);
        if kept.path.symlink_metadata().is_ok() {
            let reason =
                "already exists and may be the header of the image that would be replaced: move it away";
            return Err(Error::io(&quoted(&kept.shown), reason));
        }
        let place = place.clone();
        Ok(Some(Self {
            place,
            kept,
            header,
            readers,
        }))
    }

    /// Replaces header and image by `commit`. If that fails, the header still fits the image in place; `is_new` tells
    /// which one that is.
    fn replace(
        self,
        commit: impl FnOnce() -> Result<(), Error>,
        is_new: impl FnOnce() -> bool,
    ) -> Result<(), Error> {
        let save =
            |place: &Place, existing| convert::save(place, self.header.bytes(), existing, self.readers);
        let name = quoted(&self.kept.shown);
        save(&self.kept, Existing::Refused)?;
        let done = commit();
        if done.is_err() {
            if is_new() {
                // After a power failure it may be the old one.
                warn(format_args!("{name}: the header of the image that was replaced"));
                return done;
            }
            save(&self.place, Existing::Replaced)?;
        }
        convert::remove_header(&self.kept, self.header.bytes())?;
        done
    }
}

/// Decrypts `range` of the image.
pub fn decrypt(job: &Job<'_>, how: &How<'_>, secret: Read<'_>, range: Range) -> Result<(), Error> {
    let destination = job.decrypted(EXTENSION)?;
    check_other(job.input, &destination)?;
    let output = job.output_of_plaintext(&destination)?;
    let opened = open(job.input, how, Access::Read, secret)?;
    transform(
        job,
        &opened.image,
        opened.sectors(),
        Direction::Decrypt,
        range,
        output,
    )?
    .commit()
}

/// How an encrypted image is opened.
pub enum How<'a> {
    Header {
        path: Option<&'a Path>,
        /// Of a password.
        max_cost: u8,
        /// Accept only an image that the header recognises.
        is_checked: bool,
    },
    /// With the key of the sectors itself, as dm-crypt does.
    Plain(Plain),
}

/// An encrypted image and its keys.
pub struct Opened {
    pub image: Image,
    keys: Keys,
}

enum Keys {
    Headed(Box<Headed>),
    Plain(Sectors),
}

struct Headed {
    disk: Disk,
    saved: Mutex<Saved>,
}

/// A header as it is on the disk.
struct Saved {
    /// Of the sectors, as the header says.
    tags: SectorTags,
    header: Header,
    /// Where it is, and it, locked: if the image is written to.
    file: Option<(Place, Locked)>,
}

impl Opened {
    pub fn sectors(&self) -> &Sectors {
        match &self.keys {
            Keys::Headed(headed) => &headed.disk,
            Keys::Plain(sectors) => sectors,
        }
    }

    /// The key of the sectors, if it came from a header.
    pub fn sector_key(&self) -> Option<&Key> {
        match &self.keys {
            Keys::Headed(headed) => Some(headed.disk.sector_key()),
            Keys::Plain(_) => None,
        }
    }

    /// Whether the header, if there is one, knows a sector of the image.
    pub fn is_known(&self) -> bool {
        let Keys::Headed(headed) = &self.keys else {
            return true;
        };
        let found = self.image.sector_tags(&headed.disk);
        headed.saved().tags.check(&found, &self.image.name).is_ok()
    }

    /// Updates the header. Fails if another one is in its place.
    pub fn update_header(&self) -> Result<(), Error> {
        let Keys::Headed(headed) = &self.keys else {
            return Ok(());
        };
        let saved = &mut *headed.saved();
        let tags = self.image.sector_tags(&headed.disk);
        // With tags of no sector, because none can be read, it would refuse every image.
        if tags == saved.tags || tags.check(&tags, &self.image.name).is_err() {
            return Ok(());
        }
        let Some((place, opened)) = &mut saved.file else {
            return Ok(());
        };
        let readers =
            Readers::like(opened.file()).map_err(|error| Error::io(&quoted(&place.shown), error))?;
        convert::check_header(place, saved.header.bytes())?;
        let header = headed.disk.header(&tags)?;
        *opened = convert::save_with_room(place, header.bytes(), 0, Existing::Replaced, readers)?;
        saved.tags = tags;
        saved.header = header;
        Ok(())
    }
}

impl Headed {
    fn saved(&self) -> MutexGuard<'_, Saved> {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens an encrypted image.
pub fn open(
    path: &Path,
    how: &How<'_>,
    access: Access,
    secret: impl FnOnce() -> Result<Secret, Error>,
) -> Result<Opened, Error> {
    let (header, max_cost, is_checked) = match how {
        How::Plain(plain) => {
            let image = Image::open_any(path, access)?;
            if let Some(marker) = image.marker()? {
                return Err(marker.refused(&image.name, false));
            }
            let keys = Keys::Plain(plain.sectors(&image, &secret()?)?);
            return Ok(Opened { image, keys });
        }
        How::Header {
            path,
            max_cost,
            is_checked,
        } => (*path, *max_cost, *is_checked),
    };
    let header_path = header_path(path, header)?;
    let name = quoted(&header_path);
    let image = Image::open_any(path, access)?;
    let marker = image.marker()?;
    // It says more; with a finished header, its key tells whether it is one of this disk.
    let or_marked = |error| {
        marker
            .as_ref()
            .map_or(error, |marker| marker.refused(&image.name, false))
    };
    if !header_path.exists() {
        return Err(or_marked(convert::no_header(&name)));
    }
    let file = if access == Access::Write {
        let place = convert::place(&header_path)?;
        let locked = Locked::if_there(&place.path).map_err(|error| Error::io(&name, error))?;
        Some((place, locked.ok_or_else(|| convert::no_header(&name))?))
    } else {
        None
    };
    let header = Header::read(&header_path)?;
    header.check_finished(&name).map_err(or_marked)?;
    image.check(&header.geometry)?;
    let (disk, state) = header.unlock(&name, &secret()?, max_cost)?;
    if let Some(marker) = &marker {
        marker.check(&disk, &image.name, is_checked)?;
    }
    let State::Encrypted(tags) = state else {
        return Err(Error::unverified(&name, "the header is damaged"));
    };
    if is_checked && let Err(error) = tags.check(&image.sector_tags(&disk), &image.name) {
        let old = beside(&header_path, OLD_EXTENSION);
        if Header::read(&old).is_err() {
            return Err(error);
        }
        let reason = format_args!(
            "header and image do not match; there is also the header of before (--header {})",
            quoted(&old)
        );
        return Err(Error::unverified(&image.name, reason));
    }
    let saved = Mutex::new(Saved { tags, header, file });
    let keys = Keys::Headed(Box::new(Headed { disk, saved }));
    Ok(Opened { image, keys })
}

/// Reads the header of an image.
pub fn read_header(path: &Path) -> Result<Header, Error> {
    if !path.exists() {
        return Err(convert::no_header(&quoted(path)));
    }
    Header::read(path)
}

/// The place of an image's header. A device needs an explicit one: files in its folder do not survive a restart of the
/// machine.
pub fn header_path(image: &Path, header: Option<&Path>) -> Result<PathBuf, Error> {
    let path = match header {
        Some(header) if is_stdio(header) => return Err(Error::usage("--header", "must be a file")),
        Some(header) => header.to_owned(),
        None if is_stdio(image) || image::is_device(image).unwrap_or(false) => {
            return Err(Error::usage(
                &quoted(image),
                "not a regular file: name its header with --header",
            ));
        }
        None if image.extension().is_some_and(|found| found == HEADER_EXTENSION) => {
            let reason = "a header, judging by its name: name its image (the header of this one: --header)";
            return Err(Error::usage(&quoted(image), reason));
        }
        None => beside(image, HEADER_EXTENSION),
    };
    // A header can neither be read from anything else nor replace it.
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::io(&quoted(&path), "not a regular file"));
    }
    match destination::find(&path) {
        // The journal is beside the header itself.
        Ok(Destination::Name(place)) if place.is_link => Ok(place.shown),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(&quoted(&path), error)),
        _ => Ok(path),
    }
}

/// The header of an image, and the files that may be created beside it.
pub fn header_files(image: &Path, header: Option<&Path>) -> Result<[PathBuf; 3], Error> {
    let header = header_path(image, header)?;
    if let Ok(Destination::Descriptor(_)) = destination::find(&header) {
        return Err(Error::usage("--header", "must be a file"));
    }
    let [old, journal] = [OLD_EXTENSION, JOURNAL_EXTENSION].map(|extension| beside(&header, extension));
    Ok([header, old, journal])
}

fn transform(
    job: &Job<'_>,
    image: &Image,
    disk: &Sectors,
    direction: Direction,
    range: Range,
    mut output: Output,
) -> Result<Output, Error> {
    if range.offset > image.len() {
        return Err(range.beyond(&image.name, image.len()));
    }
    let end = range.length.map_or(image.len(), |len| {
        range.offset.saturating_add(len).min(image.len())
    });
    let mut progress = Progress::new(
        job.show_progress && !output.is_terminal(),
        Some(end - range.offset),
    );
    let mut buffer = Zeroizing::new(vec![0; PIECE]);
    let mut at = range.offset;
    while at < end {
        let Piece { start, len, sector } = piece(&disk.geometry, at, end);
        let bytes = &mut buffer[..len];
        let failed = |error: io::Error| Error::io(&image.name, error);
        image.read_at(start, bytes).map_err(failed)?;
        if let Some(first) = sector {
            disk.apply(direction, first, bytes).map_err(failed)?;
        }
        let skipped = usize::try_from(at - start).expect("within a sector");
        let wanted = usize::try_from(end - start).map_or(len, |left| left.min(len));
        output
            .write_all(&bytes[skipped..wanted])
            .and_then(|()| output.flush())
            .map_err(|error| Error::write(&output.name, &error))?;
        progress.advance((wanted - skipped) as u64);
        at = start + wanted as u64;
    }
    Ok(output)
}

/// What is read at a time: bytes outside the encrypted part, or whole sectors.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    start: u64,
    len: usize,
    /// The number of the first sector.
    sector: Option<u64>,
}

/// What to read next, from `at` on, up to `end` at most.
fn piece(geometry: &Geometry, at: u64, end: u64) -> Piece {
    let within = |len: u64| usize::try_from(len).unwrap_or(PIECE).min(PIECE);
    let sector_len = geometry.sector_len as u64;
    if at < geometry.offset || at >= geometry.end() {
        let end = if at < geometry.offset {
            end.min(geometry.offset)
        } else {
            end
        };
        return Piece {
            start: at,
            len: within(end - at),
            sector: None,
        };
    }
    let first = (at - geometry.offset) / sector_len;
    let start = geometry.offset + first * sector_len;
    let len = (end.min(geometry.end()) - start).next_multiple_of(sector_len);
    Piece {
        start,
        len: within(len),
        sector: Some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_sectors() {
        let geometry = Geometry::new(512, 1000, 1024).unwrap();
        let expected = |start, len, sector| Piece { start, len, sector };
        for (at, end, piece_expected) in [
            (0, 3000, expected(0, 1000, None)),
            (0, 10, expected(0, 10, None)),
            (999, 3000, expected(999, 1, None)),
            (1000, 3000, expected(1000, 1024, Some(0))),
            (1000, 1001, expected(1000, 512, Some(0))),
            (1511, 1513, expected(1000, 1024, Some(0))),
            (1512, 1513, expected(1512, 512, Some(1))),
            (2023, 2025, expected(1512, 512, Some(1))),
            (2024, 3000, expected(2024, 976, None)),
        ] {
            assert_eq!(piece(&geometry, at, end), piece_expected, "{at} {end}");
        }
        let geometry = Geometry::new(512, 0, 1 << 40).unwrap();
        assert_eq!(piece(&geometry, 513, 1 << 40), expected(512, PIECE, Some(1)));
    }
}
