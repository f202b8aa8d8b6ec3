//! Encryption and decryption in place. They can be interrupted anywhere, and continue from there.
//!
//! Sectors are converted in batches. Before a batch is written to the image, its *ciphertext* is written to the
//! journal, so nothing is lost if only a part of it reaches the image, and no plaintext reaches a new place. The
//! journal:
//!
//! | bytes | what |
//! |---|---|
//! | 9 | `VPX-DJNL`, 0x01 |
//! | 223 | the header while the conversion is under way |
//! | to 4096 | zeros |
//! | 2 slots | number of a batch (8 bytes, little-endian), tag (16), ciphertext of the batch; zeros to a multiple of 4096 |
//!
//! Batch number n is in slot n modulo 2. So while one slot is being written, the other holds the previous batch, which
//! is on the disk. The tag is `veriplex::mac` in the domain `veriplex.disk.journal.v1` of the header, the number and
//! the ciphertext. An empty batch after the last one says that all are on the disk.
//!
//! Header, journal and image contain the number of the conversion (the image in its [marker](super::marker)). Each step
//! is on the disk before the next one begins:
//!
//! 1. decryption: a copy of the header is made, `.old`
//! 2. the journal is made
//! 3. the header says that the conversion is under way
//! 4. the marker is written
//! 5. for each batch: it is written to the journal; the marker says that it is begun; it is written to the image
//! 6. the empty batch is written to the journal
//! 7. what belongs in the place of the marker is written
//! 8. the header says that the disk is encrypted, or is removed
//! 9. the journal is removed
//!
//! So an image without a marker is accepted before the first batch only if it is the same file and begins as it did,
//! and after the last batch only if it contains what is in the journal. Otherwise nothing is written unless the marker
//! belongs to this conversion and its last batches, and these are in the image.
//!
//! Before it continues, a program synchronises all files, then writes again what the last sync was for: a killed
//! program may have left that in the system's memory only, and a failed sync may have dropped it there.
//!
//! Before a file is made, replaced or removed, image and journal must still be at their places, and so must a header that is
//! replaced, removed or, once the journal is, needed: other programs rename files in spite of locks.
//!
//! This assumes that a disk writes the first 512 bytes of the image, which contain the marker, completely or not at
//! all, and that a file system whose folder cannot be synchronised accepts no more changes, as one does whose own
//! journal cannot be written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::OFlags;
use veriplex::mac::Mac;
use veriplex::{TAG_LEN, label};
use veriplex_files::crypt::{Secret, random};
use veriplex_files::destination::{self, Destination, Place};
use veriplex_files::error::Error;
use veriplex_files::files::{Existing, Output, Readers, read_up_to, sync_folder};
use veriplex_files::locks::Locked;
use veriplex_files::overwritten::MARKER_LEN;
use veriplex_files::places::is_same;
use veriplex_files::progress::Progress;
use veriplex_files::temporary::take_back;
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::text;
use zeroize::Zeroizing;

use super::header::{self, Conversion, Disk, Geometry, Header, NUMBER_LEN, SECTOR_LEN, SECTOR_LENS, State};
use super::image::Image;
use super::marker::Marker;
use super::{Direction, JOURNAL_EXTENSION, OLD_EXTENSION};

const MAGIC: &[u8; 9] = b"VPX-DJNL\x01";
const HEAD_LEN: usize = MAGIC.len() + header::LEN;
/// Slots begin at multiples of this, so that no write to one can damage the other.
const ALIGNMENT: u64 = 4096;
const BEFORE_CIPHERTEXT: usize = 8 + TAG_LEN;

/// How much is converted at a time: enough to keep all cores busy, and to make two waits for the disk negligible.
pub const BATCH: usize = 1 << 22;
/// How much is compared at a time.
const COMPARED: usize = *SECTOR_LENS.end();

/// The files of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Image,
    Header,
    /// The header as it was before the image was decrypted.
    Old,
    Journal,
}

/// Access to these files. A test has an implementation that crashes.
pub trait Storage {
    /// For messages.
    fn name(&self, part: Part) -> String;
    /// The number of the image's inode; 0 for a device.
    fn inode(&self) -> u64;
    /// Reads up to the size of the buffer; nothing if the file does not exist.
    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Synchronises this file, if it exists.
    fn sync(&self, part: Part) -> io::Result<()>;
    /// Synchronises the folders, after files were created, replaced or removed.
    fn sync_names(&self) -> io::Result<()>;
    /// Creates a file, or replaces this header, atomically. It is on the disk when this returns.
    ///
    /// Like all that follow, it fails and changes nothing if other files now have the names of this conversion.
    fn save(&self, part: Part, bytes: &[u8], replaced: Option<&[u8; header::LEN]>) -> Result<(), Error>;
    /// Creates the journal as [`Storage::save`] does, and reserves room for this length.
    fn make_journal(&self, bytes: &[u8], len: u64) -> Result<(), Error>;
    /// Removes this header.
    fn remove_header(&self, header: &[u8; header::LEN]) -> Result<(), Error>;
    /// It is gone from the disk when this returns. An error if a header that must be there is not, before or after.
    fn remove_journal(&self, header: Option<&[u8; header::LEN]>) -> Result<(), Error>;
}

/// The request. Options that are not given have their defaults, or their values from when the conversion began.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub direction: Direction,
    pub sector_len: Option<usize>,
    pub offset: Option<u64>,
    pub len: Option<u64>,
    pub cost: u8,
    pub max_cost: u8,
    /// Decrypt only an image that the header recognises; encrypt only one that does not look half converted.
    pub is_checked: bool,
    /// The size of a batch in bytes: a multiple of that of a sector.
    pub batch: usize,
}

/// Converts an image in place, or continues a conversion. `secret` returns the secret; its argument says whether to ask
/// for a new one.
pub fn in_place<S: Storage>(
    storage: &S,
    image_geometry: impl FnOnce(usize, u64, Option<u64>) -> Result<Geometry, Error>,
    request: &Request,
    secret: impl FnOnce(bool) -> Result<Secret, Error>,
    show_progress: bool,
) -> Result<(), Error> {
    settle(storage)?;
    let mut found = Found::read(storage)?;
    let Some(journal) = found.journal.clone() else {
        let disk = found.disk(storage, image_geometry, request, secret)?;
        let work = Work::new(storage, disk, request)?;
        return work.begin(&found).and_then(|()| work.run(0, show_progress));
    };
    let name = storage.name(Part::Journal);
    found.check_request(&name, &journal, request)?;
    let (disk, state) = journal.unlock(&name, &secret(false)?, request.max_cost)?;
    let State::Converting(conversion) = state else {
        return Err(Error::unverified(&name, "the journal is damaged"));
    };
    let work = Work {
        storage,
        disk,
        conversion,
        header: journal,
    };
    work.check_len()?;
    if let Some(marker) = found
        .marker
        .take_if(|marker| !marker.is_of(&work.disk, &work.conversion))
    {
        // The image's own content may look like a marker.
        marker.check(&work.disk, &storage.name(Part::Image), false)?;
    }
    match work.stage(&found)? {
        Stage::Begun => {
            work.save_header(&found)?;
            work.mark()?;
            work.run(0, show_progress)
        }
        Stage::Batch(number) => {
            work.save_header(&found)?;
            work.repeat(number)?;
            work.run(number + 1, show_progress)
        }
        Stage::Finished => storage.remove_journal(found.header.as_ref().map(Header::bytes)),
    }
}

/// Synchronise first: a killed program may have left what we read in the system's memory only.
fn settle<S: Storage>(storage: &S) -> Result<(), Error> {
    for part in [Part::Journal, Part::Image] {
        let failed = |error| Error::io(&storage.name(part), error);
        storage.sync(part).map_err(failed)?;
    }
    let failed = |error| Error::io(&storage.name(Part::Header), error);
    storage.sync_names().map_err(failed)
}

/// No header could decrypt the image.
pub fn no_header(name: &str) -> Error {
    Error::io(name, "not found: nothing can be decrypted without it (--header)")
}

/// What exists when the program begins.
struct Found {
    /// The header that the journal has.
    journal: Option<Header>,
    header: Option<Header>,
    /// The old header, of this disk or of another.
    old: Option<[u8; header::LEN]>,
    marker: Option<Marker>,
}

impl Found {
    fn read<S: Storage>(storage: &S) -> Result<Self, Error> {
        let damaged = |part| move |reason| Error::unverified(&storage.name(part), reason);
        let journal = read::<_, HEAD_LEN>(storage, Part::Journal)?
            .map(|bytes| {
                let header = bytes
                    .strip_prefix(MAGIC)
                    .ok_or("not a journal of this version of veriplex")?;
                Header::parse(header.try_into().expect("the length is right"))
            })
            .transpose()
            .map_err(damaged(Part::Journal))?;
        let header = read(storage, Part::Header)?
            .map(|bytes| Header::parse(&bytes))
            .transpose()
            .map_err(damaged(Part::Header))?;
        let marker = read(storage, Part::Image)?.and_then(|bytes| Marker::parse(&bytes));
        Ok(Self {
            journal,
            header,
            old: read(storage, Part::Old)?,
            marker,
        })
    }

    /// The disk of a new conversion.
    fn disk<S: Storage>(
        &self,
        storage: &S,
        image_geometry: impl FnOnce(usize, u64, Option<u64>) -> Result<Geometry, Error>,
        request: &Request,
        secret: impl FnOnce(bool) -> Result<Secret, Error>,
    ) -> Result<Disk, Error> {
        let is_encrypted = self
            .header
            .as_ref()
            .is_some_and(|header| header.direction.is_none());
        let is_taken = match request.direction {
            Direction::Encrypt => !request.is_checked,
            // If its key shows that this is no marker.
            Direction::Decrypt => is_encrypted,
        };
        if let (Some(marker), false) = (&self.marker, is_taken) {
            return Err(marker.refused(
                &storage.name(Part::Image),
                request.direction == Direction::Encrypt,
            ));
        }
        let name = storage.name(Part::Header);
        match (&self.header, request.direction) {
            (
                Some(Header {
                    direction: Some(direction),
                    ..
                }),
                _,
            ) => Err(Error::usage(
                &name,
                format_args!(
                    "{direction} in place is unfinished, and cannot continue without its journal {}",
                    storage.name(Part::Journal)
                ),
            )),
            (Some(_), Direction::Encrypt) => Err(Error::io(
                &name,
                "already exists: the image appears to be encrypted",
            )),
            (None, Direction::Decrypt) => Err(no_header(&name)),
            (None, Direction::Encrypt) => {
                let sector_len = request.sector_len.unwrap_or(SECTOR_LEN);
                let geometry = image_geometry(sector_len, request.offset.unwrap_or(0), request.len)?;
                Disk::generate(geometry, &secret(true)?, request.cost)
            }
            (Some(header), Direction::Decrypt) => {
                if self.old.is_some() && !self.has_own_old() {
                    return Err(Error::io(
                        &storage.name(Part::Old),
                        "already exists and is not a header of this disk: move it away",
                    ));
                }
                let (disk, state) = header.unlock(&name, &secret(false)?, request.max_cost)?;
                check_len(storage, &disk.geometry)?;
                if let Some(marker) = &self.marker {
                    marker.check(&disk, &storage.name(Part::Image), request.is_checked)?;
                }
                if request.is_checked {
                    check_sectors(storage, &disk, &state)?;
                }
                Ok(disk)
            }
        }
    }

    /// Whether the old header belongs to this disk, with the same keys.
    fn has_own_old(&self) -> bool {
        let old = self.old.as_ref().and_then(|old| Header::parse(old).ok());
        let header = self.header.as_ref();
        old.is_some_and(|old| header.is_some_and(|header| header.is_same_disk(&old)))
    }

    /// Checks that this journal belongs to the requested work.
    fn check_request(&self, name: &str, journal: &Header, request: &Request) -> Result<(), Error> {
        if journal.direction != Some(request.direction) {
            journal.check_finished(name)?;
            return Err(Error::unverified(name, "the journal is damaged"));
        }
        // A header without a conversion is that from before or after it.
        if let Some(header) = &self.header
            && !(header == journal || header.direction.is_none() && header.is_same_disk(journal))
        {
            return Err(other_image(name));
        }
        let Geometry {
            sector_len,
            offset,
            len,
        } = journal.geometry;
        if request.sector_len.is_some_and(|wanted| wanted != sector_len)
            || request.offset.is_some_and(|wanted| wanted != offset)
            || request.len.is_some_and(|wanted| wanted != len)
        {
            return Err(Error::usage(
                name,
                format_args!(
                    "the conversion was started with --sector-size {sector_len} --offset {offset} --length {len}"
                ),
            ));
        }
        if let Some(cost) = journal.cost()
            && request.direction == Direction::Encrypt
            && cost > request.max_cost
        {
            let reason = format_args!("started with --cost {cost}");
            return Err(Error::usage(name, reason));
        }
        Ok(())
    }
}

/// The journal with this name cannot be used with this image.
fn other_image(name: &str) -> Error {
    Error::unverified(
        name,
        "journal belongs to a different image, or the image or the journal was replaced or changed since",
    )
}

/// The first bytes of a file, if it exists.
fn read<S: Storage, const N: usize>(storage: &S, part: Part) -> Result<Option<[u8; N]>, Error> {
    let mut bytes = [0; N];
    match storage.read(part, 0, &mut bytes) {
        Ok(0) => Ok(None),
        Ok(n) if n == N => Ok(Some(bytes)),
        // An image may be short.
        Ok(_) if part == Part::Image => Ok(None),
        Ok(_) => Err(Error::unverified(&storage.name(part), "truncated")),
        Err(error) => Err(Error::io(&storage.name(part), error)),
    }
}

/// The last byte can be read.
fn check_len<S: Storage>(storage: &S, geometry: &Geometry) -> Result<(), Error> {
    let name = storage.name(Part::Image);
    match storage.read(Part::Image, geometry.end() - 1, &mut [0]) {
        Ok(0) => Err(Error::unverified(&name, "shorter than its header says")),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::io(&name, error)),
    }
}

/// Reads all of the buffer from the image.
fn read_image<S: Storage>(storage: &S, at: u64, buffer: &mut [u8]) -> Result<(), Error> {
    let name = storage.name(Part::Image);
    match storage.read(Part::Image, at, buffer) {
        Ok(n) if n == buffer.len() => Ok(()),
        Ok(_) => Err(Error::io(&name, "became shorter")),
        Err(error) => Err(Error::io(&name, error)),
    }
}

/// Reads a sector with a tag.
fn read_sector<S: Storage>(storage: &S, disk: &Disk) -> impl Fn(u64, &mut [u8]) -> Result<(), Error> {
    |number, sector| read_image(storage, disk.place(number), sector)
}

/// Fails if the header, which says this, belongs to another image.
fn check_sectors<S: Storage>(storage: &S, disk: &Disk, state: &State) -> Result<(), Error> {
    match state {
        State::Encrypted(tags) => {
            let found = disk.readable_sector_tags(read_sector(storage, disk));
            tags.check(&found, &storage.name(Part::Image))
        }
        State::Converting(_) => Ok(()),
    }
}

/// A conversion.
struct Work<'a, S> {
    storage: &'a S,
    disk: Disk,
    conversion: Conversion,
    /// While it is under way.
    header: Header,
}

/// How far it was.
enum Stage {
    /// The journal has no batch yet.
    Begun,
    /// The journal holds this batch, which may be partly in the image. After the empty batch, the marker may be gone.
    Batch(u64),
    /// The header says that all is done.
    Finished,
}

impl<'a, S: Storage> Work<'a, S> {
    /// A new conversion. Nothing is written yet.
    fn new(storage: &'a S, disk: Disk, request: &Request) -> Result<Self, Error> {
        let mut number = [0; NUMBER_LEN];
        random(&mut number)?;
        let conversion = conversion(storage, &disk, request.direction, request.batch, number)?;
        let header = disk.header_of_conversion(&conversion);
        Ok(Self {
            storage,
            disk,
            conversion,
            header,
        })
    }

    fn failed(&self, part: Part) -> impl Fn(io::Error) -> Error {
        let name = self.storage.name(part);
        move |error| Error::io(&name, error)
    }

    fn other_image(&self) -> Error {
        other_image(&self.storage.name(Part::Journal))
    }

    fn check_len(&self) -> Result<(), Error> {
        check_len(self.storage, &self.disk.geometry)
    }

    fn batches(&self) -> u64 {
        self.disk.geometry.len.div_ceil(self.conversion.batch as u64)
    }

    /// Where a batch is in the encrypted part, and its length. The batch after the last one is empty.
    fn place(&self, number: u64) -> (u64, usize) {
        let len = self.disk.geometry.len;
        let at = (number * self.conversion.batch as u64).min(len);
        let left = usize::try_from(len - at).unwrap_or(usize::MAX);
        (at, left.min(self.conversion.batch))
    }

    fn slot_len(&self) -> u64 {
        ((BEFORE_CIPHERTEXT + self.conversion.batch) as u64).next_multiple_of(ALIGNMENT)
    }

    fn slot(&self, number: u64) -> u64 {
        ALIGNMENT + number % 2 * self.slot_len()
    }

    fn begin(&self, found: &Found) -> Result<(), Error> {
        if let Some(header) = &found.header
            && found.old != Some(*header.bytes())
        {
            let replaced = found.old.as_ref().filter(|_| found.has_own_old());
            self.storage.save(Part::Old, header.bytes(), replaced)?;
        }
        let journal = [MAGIC.as_slice(), self.header.bytes()].concat();
        self.storage
            .make_journal(&journal, self.slot(0) + 2 * self.slot_len())?;
        self.save_header(found)?;
        self.mark()
    }

    /// Records in the header that the conversion has begun.
    fn save_header(&self, found: &Found) -> Result<(), Error> {
        let header = found.header.as_ref();
        if header == Some(&self.header) {
            return Ok(());
        }
        self.storage
            .save(Part::Header, self.header.bytes(), header.map(Header::bytes))
    }

    fn mark(&self) -> Result<(), Error> {
        self.write_first(Marker::new(&self.disk, &self.conversion, 0).bytes())
    }

    /// Writes the first bytes of the image.
    fn write_first(&self, bytes: &[u8; MARKER_LEN]) -> Result<(), Error> {
        self.storage
            .write(Part::Image, 0, bytes)
            .and_then(|()| self.storage.sync(Part::Image))
            .map_err(self.failed(Part::Image))
    }

    /// Converts the batches, starting with this one.
    fn run(&self, next: u64, show_progress: bool) -> Result<(), Error> {
        let mut buffer = self.buffer();
        let (done, _) = self.place(next);
        let mut progress = Progress::new(show_progress, Some(self.disk.geometry.len - done));
        for number in next..self.batches() {
            let (at, len) = self.place(number);
            let sectors = &mut buffer[BEFORE_CIPHERTEXT..][..len];
            let place = self.disk.geometry.offset + at;
            read_image(self.storage, place, sectors)?;
            if let Some(part) = marker_part(place, sectors) {
                part.copy_from_slice(&self.conversion.before[MARKER_LEN - part.len()..]);
            }
            if self.conversion.direction == Direction::Encrypt {
                self.apply(number, sectors)?;
            }
            self.write_journal(number, &mut buffer)?;
            self.write_image(number, &mut buffer)?;
            progress.advance(len as u64);
        }
        if next <= self.batches() {
            self.write_journal(self.batches(), &mut buffer)?;
        }
        self.write_first(&self.conversion.after)?;
        self.end()
    }

    /// The image is converted.
    fn end(&self) -> Result<(), Error> {
        match self.conversion.direction {
            Direction::Encrypt => {
                let tags = self.disk.sector_tags(read_sector(self.storage, &self.disk))?;
                let header = self.disk.header(&tags)?;
                self.storage
                    .save(Part::Header, header.bytes(), Some(self.header.bytes()))?;
                self.storage.remove_journal(Some(header.bytes()))
            }
            Direction::Decrypt => {
                self.storage.remove_header(self.header.bytes())?;
                self.storage.remove_journal(None)
            }
        }
    }

    fn buffer(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(vec![0; BEFORE_CIPHERTEXT + self.conversion.batch])
    }

    fn apply(&self, number: u64, sectors: &mut [u8]) -> Result<(), Error> {
        let first = number * (self.conversion.batch / self.disk.geometry.sector_len) as u64;
        self.disk
            .apply(self.conversion.direction, first, sectors)
            .map_err(self.failed(Part::Image))
    }

    fn slot_mac(&self, number: u64, ciphertext: &[u8]) -> Mac {
        let mut mac = self.disk.mac(label!("veriplex.disk.journal.v1"));
        mac.update(self.header.bytes());
        mac.update(&number.to_le_bytes());
        mac.update(ciphertext);
        mac
    }

    /// Writes the ciphertext of a batch, in the buffer, to its slot.
    fn write_journal(&self, number: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let (_, len) = self.place(number);
        let (front, ciphertext) = buffer[..BEFORE_CIPHERTEXT + len].split_at_mut(BEFORE_CIPHERTEXT);
        let tag = self.slot_mac(number, ciphertext).finalize();
        front[..8].copy_from_slice(&number.to_le_bytes());
        front[8..].copy_from_slice(tag.as_bytes());
        let slot = &buffer[..BEFORE_CIPHERTEXT + len];
        self.storage
            .write(Part::Journal, self.slot(number), slot)
            .and_then(|()| self.storage.sync(Part::Journal))
            .map_err(self.failed(Part::Journal))
    }

    /// Writes a batch, whose ciphertext is in the buffer, to the image.
    fn write_image(&self, number: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let (at, len) = self.place(number);
        let place = self.disk.geometry.offset + at;
        let sectors = &mut buffer[BEFORE_CIPHERTEXT..][..len];
        if self.conversion.direction == Direction::Decrypt {
            self.apply(number, sectors)?;
        }
        let marker = Marker::new(&self.disk, &self.conversion, at + len as u64);
        // On the disk before the batch, so that an older journal is not mistaken for this image's.
        self.write_first(marker.bytes())?;
        if let Some(part) = marker_part(place, sectors) {
            part.copy_from_slice(&marker.bytes()[MARKER_LEN - part.len()..]);
        }
        self.storage
            .write(Part::Image, place, sectors)
            .and_then(|()| self.storage.sync(Part::Image))
            .map_err(self.failed(Part::Image))
    }

    /// Writes a batch that is in the journal again, also to the journal: after a failed sync, the system may still show
    /// what it has not written, and the next sync does not try again.
    fn repeat(&self, number: u64) -> Result<(), Error> {
        let mut buffer = self.buffer();
        self.read_slot(number, &mut buffer)?;
        self.write_journal(number, &mut buffer)?;
        if number < self.batches() {
            self.write_image(number, &mut buffer)?;
        }
        Ok(())
    }

    /// How far the work had got, if image, header and journal belong together.
    fn stage(&self, found: &Found) -> Result<Stage, Error> {
        let mut buffer = self.buffer();
        let slots = [self.read_slot(0, &mut buffer)?, self.read_slot(1, &mut buffer)?];
        let (number, is_synced) = match slots {
            [Slot::Batch(even), Slot::Batch(odd)] if even.abs_diff(odd) == 1 => (even.max(odd), false),
            [Slot::Batch(0), Slot::Empty] => (0, false),
            // The other slot was being written.
            [Slot::Batch(number), Slot::Broken] | [Slot::Broken, Slot::Batch(number)] => (number, true),
            [Slot::Broken, Slot::Empty] if self.is_marked_at(found, 0) => return Ok(Stage::Begun),
            [Slot::Empty, Slot::Empty] => return self.stage_before(found),
            [Slot::Broken, Slot::Empty] => return Err(self.other_image()),
            _ => {
                return Err(Error::unverified(
                    &self.storage.name(Part::Journal),
                    "the journal is damaged, and the progress of the conversion unknown",
                ));
            }
        };
        let last = self.batches() - 1;
        if number > last && found.marker.is_none() {
            return self.stage_after(found, &mut buffer);
        }
        let is_marked = self.is_marked_at(found, number) || self.is_marked_at(found, number + 1);
        if !is_marked
            || number > 0 && !is_synced && !self.has_batch(number - 1, true, true, &mut buffer)?
            || number <= last && !self.has_batch(number, is_synced, true, &mut buffer)?
        {
            return Err(self.other_image());
        }
        Ok(Stage::Batch(number))
    }

    /// Before the first batch, perhaps before the marker.
    fn stage_before(&self, found: &Found) -> Result<Stage, Error> {
        let Conversion {
            direction,
            number,
            batch,
            ..
        } = self.conversion;
        let is_right = if found.marker.is_some() {
            self.is_marked_at(found, 0)
        } else {
            // An unmarked image that is not ours would be overwritten with this image's data.
            conversion(self.storage, &self.disk, direction, batch, number)? == self.conversion
        };
        if is_right {
            Ok(Stage::Begun)
        } else {
            Err(self.other_image())
        }
    }

    /// After the last batch, when there is no marker.
    fn stage_after(&self, found: &Found, buffer: &mut [u8]) -> Result<Stage, Error> {
        let direction = self.conversion.direction;
        if let (Direction::Encrypt, Some(header)) = (direction, &found.header)
            && header.direction.is_none()
        {
            let name = self.storage.name(Part::Header);
            let damaged = || Error::unverified(&name, "the header is damaged");
            let state = self.disk.state(header).ok_or_else(damaged)?;
            check_sectors(self.storage, &self.disk, &state).map_err(|_| self.other_image())?;
            return Ok(Stage::Finished);
        }
        let first = read(self.storage, Part::Image)?;
        if first != Some(*self.conversion.after)
            || !self.has_batch(self.batches() - 1, true, false, buffer)?
            // Plaintext may be in other images too.
            || direction == Direction::Decrypt && self.storage.inode() != self.conversion.inode
        {
            return Err(self.other_image());
        }
        Ok(Stage::Batch(self.batches()))
    }

    /// Whether the image's marker says that only the batches before this one were begun.
    fn is_marked_at(&self, found: &Found, number: u64) -> bool {
        let (at, _) = self.place(number);
        let is_right = |marker: &Marker| marker.begun == at && marker.is_of(&self.disk, &self.conversion);
        found.marker.as_ref().is_some_and(is_right)
    }

    /// Whether the image contains this slot's batch, completely or partly; the rest must be what was there before.
    fn has_batch(
        &self,
        number: u64,
        is_whole: bool,
        is_marked: bool,
        buffer: &mut [u8],
    ) -> Result<bool, Error> {
        if !matches!(self.read_slot(number, buffer)?, Slot::Batch(found) if found == number) {
            return Err(self.other_image());
        }
        let (at, len) = self.place(number);
        let place = self.disk.geometry.offset + at;
        let [mut found, mut plain] = [(); 2].map(|()| Zeroizing::new(vec![0; len.min(COMPARED)]));
        let ciphertext = &buffer[BEFORE_CIPHERTEXT..][..len];
        for (place, cipher) in (place..).step_by(COMPARED).zip(ciphertext.chunks(COMPARED)) {
            let found = &mut found[..cipher.len()];
            read_image(self.storage, place, found)?;
            let plain = &mut plain[..cipher.len()];
            plain.copy_from_slice(cipher);
            let first = (place - self.disk.geometry.offset) / self.disk.geometry.sector_len as u64;
            self.disk
                .apply(Direction::Decrypt, first, plain)
                .map_err(self.failed(Part::Image))?;
            let (new, old) = match self.conversion.direction {
                Direction::Encrypt => (cipher, &*plain),
                Direction::Decrypt => (&*plain, cipher),
            };
            let skipped = if is_marked {
                marker_part(place, found).map_or(0, |part| part.len())
            } else {
                0
            };
            let mut bytes = found.iter().zip(new.iter().zip(old)).skip(skipped);
            if !bytes.all(|(byte, (new, old))| byte == new || !is_whole && byte == old) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_slot(&self, number: u64, buffer: &mut [u8]) -> Result<Slot, Error> {
        let n = self.storage.read(Part::Journal, self.slot(number), buffer);
        let parity = number % 2;
        let found = &buffer[..n.map_err(self.failed(Part::Journal))?];
        if found.is_empty() {
            return Ok(Slot::Empty);
        }
        let Some((number, rest)) = found.split_first_chunk() else {
            return Ok(Slot::Broken);
        };
        let number = u64::from_le_bytes(*number);
        if number % 2 != parity || number > self.batches() {
            return Ok(Slot::Broken);
        }
        let (_, len) = self.place(number);
        let Some((tag, ciphertext)) = rest
            .split_at_checked(TAG_LEN)
            .and_then(|(tag, rest)| Some((tag, rest.get(..len)?)))
        else {
            return Ok(Slot::Broken);
        };
        Ok(match self.slot_mac(number, ciphertext).verify(tag) {
            Ok(()) => Slot::Batch(number),
            Err(_) => Slot::Broken,
        })
    }
}

/// What a conversion knows about this image, which has no marker.
fn conversion<S: Storage>(
    storage: &S,
    disk: &Disk,
    direction: Direction,
    batch: usize,
    number: [u8; NUMBER_LEN],
) -> Result<Conversion, Error> {
    let mut before = Zeroizing::new([0; MARKER_LEN]);
    read_image(storage, 0, &mut *before)?;
    let mut after = before.clone();
    let mut sector = Zeroizing::new(vec![0; disk.geometry.sector_len]);
    read_image(storage, disk.geometry.offset, &mut sector)?;
    let first = disk.sector_tag(0, &sector);
    disk.apply(direction, 0, &mut sector)
        .map_err(|error| Error::io(&storage.name(Part::Image), error))?;
    if let Some(part) = marker_part(disk.geometry.offset, &mut sector) {
        after[MARKER_LEN - part.len()..].copy_from_slice(part);
    }
    Ok(Conversion {
        direction,
        number,
        batch,
        inode: storage.inode(),
        first,
        before,
        after,
    })
}

/// Which bytes of the image, from this place on, the marker covers.
fn marker_part(place: u64, bytes: &mut [u8]) -> Option<&mut [u8]> {
    let place = usize::try_from(place).ok().filter(|&place| place < MARKER_LEN)?;
    Some(&mut bytes[..MARKER_LEN - place])
}

/// What a slot holds.
enum Slot {
    /// It was never begun.
    Empty,
    /// It was not written to the end.
    Broken,
    Batch(u64),
}

/// An image, its header and its journal, in the system's files.
pub struct Files {
    pub image: Image,
    header: Place,
    old: Place,
    journal: Place,
    open_journal: OnceLock<Locked>,
    /// If it was there.
    _open_header: Option<Locked>,
    /// Of header and old header.
    readers: Readers,
}

impl Files {
    pub fn new(image: Image, header: &Path) -> Result<Self, Error> {
        let header = place(header)?;
        let failed = |error| Error::io(&quoted(&header.shown), error);
        let open_header = Locked::if_there(&header.path).map_err(failed)?;
        let readers = open_header
            .as_ref()
            .map_or(Ok(image.readers), |header| Readers::like(header.file()))
            .map_err(failed)?;
        Ok(Self {
            readers,
            old: header.beside(OLD_EXTENSION),
            journal: header.beside(JOURNAL_EXTENSION),
            image,
            header,
            open_journal: OnceLock::new(),
            _open_header: open_header,
        })
    }

    fn place(&self, part: Part) -> Option<&Place> {
        match part {
            Part::Image => None,
            Part::Header => Some(&self.header),
            Part::Old => Some(&self.old),
            Part::Journal => Some(&self.journal),
        }
    }

    /// Fails if something else is now in the place of the image or the journal.
    fn check_there(&self) -> Result<(), Error> {
        self.image.check_there()?;
        match self.open_journal.get() {
            Some(file) if !is_same(file.file(), fs::symlink_metadata(&self.journal.path)) => {
                Err(replaced(&self.journal))
            }
            _ => Ok(()),
        }
    }

    fn journal(&self) -> io::Result<&File> {
        if let Some(journal) = self.open_journal.get() {
            return Ok(journal.file());
        }
        let mut options = File::options();
        options.read(true).write(true);
        // It is never a link: another user's could lead to another file of ours. Nothing is written to it before the key says
        // that it is a journal of this disk.
        let file = options
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&self.journal.path)?;
        // Somebody may go on with a copy of the image.
        let journal = Locked::alone(file)?;
        Ok(self.open_journal.get_or_init(|| journal).file())
    }
}

/// What is not there holds nothing.
fn if_there<T: Default>(result: io::Result<T>) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        result => result,
    }
}

impl Storage for Files {
    fn name(&self, part: Part) -> String {
        self.place(part)
            .map_or_else(|| self.image.name.clone(), |place| quoted(&place.shown))
    }

    fn inode(&self) -> u64 {
        self.image.inode
    }

    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let of_file =
            |file: &File, buffer: &mut [u8]| read_up_to(buffer, |rest, n| file.read_at(rest, at + n as u64));
        match part {
            Part::Image => read_up_to(buffer, |rest, n| self.image.read_some_at(at + n as u64, rest)),
            Part::Header => {
                if_there(text::regular(&self.header.path).and_then(|file| of_file(&file, buffer)))
            }
            Part::Old => if_there(text::regular(&self.old.path).and_then(|file| of_file(&file, buffer))),
            Part::Journal => if_there(self.journal().and_then(|file| of_file(file, buffer))),
        }
    }

    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()> {
        match part {
            Part::Image => self.image.write_at(at, bytes),
            Part::Journal => self.journal()?.write_all_at(bytes, at),
            Part::Header | Part::Old => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn sync(&self, part: Part) -> io::Result<()> {
        match part {
            Part::Image => self.image.sync(),
            Part::Journal => if_there(self.journal().and_then(File::sync_data)),
            Part::Header | Part::Old => Ok(()),
        }
    }

    fn sync_names(&self) -> io::Result<()> {
        sync_folder(&self.header.path)
    }

    fn save(&self, part: Part, bytes: &[u8], replaced: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        let Some(place) = self.place(part) else {
            return Err(Error::io(&self.image.name, io::ErrorKind::Unsupported));
        };
        self.check_there()?;
        let existing = if let Some(header) = replaced {
            check_header(place, header)?;
            Existing::Replaced
        } else {
            Existing::Refused
        };
        save(place, bytes, existing, self.readers)
    }

    fn make_journal(&self, bytes: &[u8], len: u64) -> Result<(), Error> {
        self.check_there()?;
        let file = save_with_room(&self.journal, bytes, len, Existing::Refused, self.image.readers)?;
        // Its name might now open something else.
        let _ = self.open_journal.set(file);
        Ok(())
    }

    fn remove_header(&self, header: &[u8; header::LEN]) -> Result<(), Error> {
        self.check_there()?;
        remove_header(&self.header, header)
    }

    fn remove_journal(&self, header: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        let check_header = || header.map_or(Ok(()), |header| check_header(&self.header, header));
        self.check_there()?;
        check_header()?;
        remove(&self.journal)?;
        check_header()
    }
}

/// The place of a header, whose folder stays open.
pub fn place(header: &Path) -> Result<Place, Error> {
    let found = destination::find(header).and_then(Destination::place);
    found.map_err(|error| Error::io(&quoted(header), error))
}

fn replaced(place: &Place) -> Error {
    let reason = "was replaced or changed meanwhile, and is left as it is";
    Error::io(&quoted(&place.shown), reason)
}

/// Fails unless this header is there.
pub fn check_header(place: &Place, header: &[u8; header::LEN]) -> Result<(), Error> {
    match Header::read(&place.path) {
        Ok(found) if found.bytes() == header => Ok(()),
        _ => Err(replaced(place)),
    }
}

/// Creates or replaces a file atomically; it is on the disk when this returns.
pub fn save(place: &Place, bytes: &[u8], existing: Existing, readers: Readers) -> Result<(), Error> {
    save_with_room(place, bytes, 0, existing, readers).map(drop)
}

/// The same, locked, and with room reserved for a file of this length if the system can do that.
pub fn save_with_room(
    place: &Place,
    bytes: &[u8],
    len: u64,
    existing: Existing,
    readers: Readers,
) -> Result<Locked, Error> {
    let name = quoted(&place.shown);
    let mut output = Output::at(place.clone(), name.clone(), existing, readers)?;
    let failed = |error: io::Error| Error::write(&name, &error);
    let file = output.file().ok_or_else(|| replaced(place))?;
    let file = file.try_clone().map_err(failed)?;
    let locked = Locked::alone(file).map_err(failed)?;
    let file = locked.file();
    reserve(file, len).map_err(failed)?;
    output.write_all(bytes).map_err(failed)?;
    output.commit()?;
    sync_folder(&place.path).map_err(|error| {
        if existing != Existing::Replaced {
            take_back(&place.path, file);
        }
        failed(error)
    })?;
    Ok(locked)
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, len) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Removes this header; it is gone from the disk when this returns.
pub fn remove_header(place: &Place, header: &[u8; header::LEN]) -> Result<(), Error> {
    check_header(place, header)?;
    remove(place)
}

fn remove(place: &Place) -> Result<(), Error> {
    fs::remove_file(&place.path)
        .and_then(|()| sync_folder(&place.path))
        .map_err(|error| Error::io(&quoted(&place.shown), error))
}

#[cfg(test)]
mod tests;
