//! Encryption and decryption in place, which can be interrupted anywhere and go on where they were.
//!
//! Sectors are converted a batch at a time. Before a batch is written to the image, its *ciphertext* is in the journal, so
//! that nothing is lost when the image is written in part only, and no plaintext is where it was not before. The journal:
//!
//! | bytes | what |
//! |---|---|
//! | 9 | `VPX-DJNL`, 0x01 |
//! | 1 | 0x01: the disk is being encrypted; 0x02: decrypted |
//! | 4 | the size of a batch in bytes, little-endian |
//! | 78 | the header |
//! | 16 | tag of all before |
//! | to 4096 | zeros |
//! | 2 slots | number of a batch (8 bytes, little-endian), tag (16), ciphertext of the batch; zeros to a multiple of 4096 |
//!
//! Batch number n is in slot n modulo 2. So while one slot is written, the other has the batch before, which is on the disk.
//! Tags are `veriplex::mac` in the domain `veriplex.disk.journal.v1`; that of a slot is of the bytes that the first tag is
//! of, the number and the ciphertext.
//!
//! The journal is made before the header, and is the last that goes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use veriplex::TAG_LEN;
use veriplex::mac::Mac;
use zeroize::Zeroizing;

use super::Direction;
use super::header::{self, Disk, Geometry, Header, SECTOR_LEN, SECTOR_LENS};
use super::image::Image;
use crate::crypt::Secret;
use crate::error::Error;
use crate::files::{Existing, Output, Readers, beside, folder_of, read_up_to};
use crate::names::quoted;
use crate::progress::Progress;

const MAGIC: &[u8; 9] = b"VPX-DJNL\x01";
const BEFORE_HEADER: usize = MAGIC.len() + 5;
const BEFORE_TAG: usize = BEFORE_HEADER + header::LEN;
const HEAD_LEN: usize = BEFORE_TAG + TAG_LEN;
/// Slots begin at multiples of it, so that no write to one can harm the other.
const ALIGNMENT: u64 = 4096;
const BEFORE_CIPHERTEXT: usize = 8 + TAG_LEN;

/// How much is converted at a time: enough for all cores, and that waiting for the disk twice does not count.
pub const BATCH: usize = 1 << 22;
/// The batches of any version of this program.
const MAX_BATCH: usize = 1 << 24;

/// The files that a conversion works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Image,
    Header,
    Journal,
}

/// Where these files are. A test has one that crashes.
pub trait Storage {
    /// For messages.
    fn name(&self, part: Part) -> String;
    /// Reads what there is, up to the size of the buffer; nothing of a file that does not exist.
    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// What was written is on the disk.
    fn sync(&self, part: Part) -> io::Result<()>;
    /// Makes a file that appears whole or not at all, and is on the disk when this returns.
    fn create(&self, part: Part, bytes: &[u8]) -> Result<(), Error>;
    /// Removes a file, if it is there; it is gone from the disk when this returns.
    fn remove(&self, part: Part) -> io::Result<()>;
}

/// What was asked for. What is not given is as usual, or as it was when the work began.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub direction: Direction,
    pub sector_len: Option<usize>,
    pub offset: Option<u64>,
    pub len: Option<u64>,
    pub cost: u8,
    pub max_cost: u8,
    /// The size of a batch in bytes: a multiple of that of any sector.
    pub batch: usize,
}

/// The first bytes of a journal.
struct Head {
    bytes: [u8; HEAD_LEN],
    direction: Direction,
    batch: usize,
    header: Header,
}

impl Head {
    fn new(direction: Direction, batch: usize, header: Header, disk: &Disk) -> Self {
        let mut bytes = [0; HEAD_LEN];
        let length = u32::try_from(batch).expect("at most 16 MiB").to_le_bytes();
        let head = [MAGIC.as_slice(), &[direction as u8], &length, header.bytes()].concat();
        bytes[..BEFORE_TAG].copy_from_slice(&head);
        let mut head = Self {
            bytes,
            direction,
            batch,
            header,
        };
        let tag = head.mac(disk).finalize();
        head.bytes[BEFORE_TAG..].copy_from_slice(tag.as_bytes());
        head
    }

    fn parse(bytes: [u8; HEAD_LEN]) -> Result<Self, &'static str> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or("not a journal of this version of veriplex")?;
        let (&[direction], rest) = rest.split_first_chunk().expect("the length is right");
        let (batch, rest) = rest.split_first_chunk().expect("the length is right");
        let (header, _) = rest.split_first_chunk().expect("the length is right");
        let direction = match direction {
            1 => Direction::Encrypt,
            2 => Direction::Decrypt,
            _ => return Err("the journal is damaged"),
        };
        let batch = usize::try_from(u32::from_le_bytes(*batch)).unwrap_or(usize::MAX);
        if batch == 0 || batch > MAX_BATCH || !batch.is_multiple_of(*SECTOR_LENS.end()) {
            return Err("the journal is damaged");
        }
        Ok(Self {
            bytes,
            direction,
            batch,
            header: Header::parse(header)?,
        })
    }

    fn mac(&self, disk: &Disk) -> Mac {
        let mut mac = disk.journal_mac();
        mac.update(&self.bytes[..BEFORE_TAG]);
        mac
    }

    fn slot_tag(&self, disk: &Disk, number: u64, ciphertext: &[u8]) -> Mac {
        let mut mac = self.mac(disk);
        mac.update(&number.to_le_bytes());
        mac.update(ciphertext);
        mac
    }
}

/// Converts an image in place, or goes on with it. `secret` gives the secret, a new one if it is told so.
pub fn in_place<S: Storage>(
    storage: &S,
    image_geometry: impl FnOnce(usize, u64, Option<u64>) -> Result<Geometry, Error>,
    request: &Request,
    secret: impl FnOnce(bool) -> Result<Secret, Error>,
    show_progress: bool,
) -> Result<(), Error> {
    let found = Found::read(storage)?;
    let is_begun = found.journal.is_some();
    let (head, disk) = match (found, request.direction) {
        (
            Found {
                journal: Some(head),
                header,
            },
            direction,
        ) => {
            let name = storage.name(Part::Journal);
            head.check(&name, request, header.as_ref())?;
            let disk = head.header.unlock(&name, &secret(false)?, request.max_cost)?;
            head.mac(&disk)
                .verify(&head.bytes[BEFORE_TAG..])
                .map_err(|_| Error::unverified(&name, "the journal is damaged"))?;
            if direction == Direction::Encrypt && header.is_none() {
                storage.create(Part::Header, head.header.bytes())?;
            }
            (head, disk)
        }
        (Found { header: Some(_), .. }, Direction::Encrypt) => {
            return Err(Error::io(
                &storage.name(Part::Header),
                "exists already: the image seems to be encrypted",
            ));
        }
        (Found { header: None, .. }, Direction::Decrypt) => {
            return Err(no_header(&storage.name(Part::Header)));
        }
        (Found { header: None, .. }, Direction::Encrypt) => {
            let sector_len = request.sector_len.unwrap_or(SECTOR_LEN);
            let geometry = image_geometry(sector_len, request.offset.unwrap_or(0), request.len)?;
            let (header, disk) = Header::generate(geometry, &secret(true)?, request.cost)?;
            let head = Head::new(request.direction, request.batch, header, &disk);
            storage.create(Part::Journal, &head.bytes)?;
            storage.create(Part::Header, head.header.bytes())?;
            (head, disk)
        }
        (
            Found {
                header: Some(header), ..
            },
            Direction::Decrypt,
        ) => {
            let name = storage.name(Part::Header);
            let disk = header.unlock(&name, &secret(false)?, request.max_cost)?;
            let head = Head::new(request.direction, request.batch, header, &disk);
            (head, disk)
        }
    };
    let work = Work {
        storage,
        head: &head,
        disk: &disk,
    };
    // An image that is too short is noticed before anything is written.
    work.check_image()?;
    if !is_begun && request.direction == Direction::Decrypt {
        storage.create(Part::Journal, &head.bytes)?;
    }
    work.run(show_progress)?;
    let removed = |part| {
        storage
            .remove(part)
            .map_err(|error| Error::io(&storage.name(part), error))
    };
    if request.direction == Direction::Decrypt {
        removed(Part::Header)?;
    }
    removed(Part::Journal)
}

/// There is nothing that could decrypt the image.
pub fn no_header(name: &str) -> Error {
    Error::io(name, "not found: nothing can be decrypted without it (--header)")
}

/// What there is beside the image.
struct Found {
    journal: Option<Head>,
    header: Option<Header>,
}

impl Found {
    fn read<S: Storage>(storage: &S) -> Result<Self, Error> {
        let journal = read(storage, Part::Journal)?
            .map(Head::parse)
            .transpose()
            .map_err(|reason| Error::unverified(&storage.name(Part::Journal), reason))?;
        let header = read(storage, Part::Header)?
            .map(|bytes| Header::parse(&bytes))
            .transpose()
            .map_err(|reason| Error::unverified(&storage.name(Part::Header), reason))?;
        Ok(Self { journal, header })
    }
}

/// The first bytes of a file, if there is one.
fn read<S: Storage, const N: usize>(storage: &S, part: Part) -> Result<Option<[u8; N]>, Error> {
    let mut bytes = [0; N];
    match storage.read(part, 0, &mut bytes) {
        Ok(0) => Ok(None),
        Ok(n) if n == N => Ok(Some(bytes)),
        Ok(_) => Err(Error::unverified(&storage.name(part), "cut short")),
        Err(error) => Err(Error::io(&storage.name(part), error)),
    }
}

impl Head {
    /// Checks that this journal is of the work that was asked for.
    fn check(&self, name: &str, request: &Request, header: Option<&Header>) -> Result<(), Error> {
        if self.direction != request.direction {
            let what = match self.direction {
                Direction::Encrypt => "encryption",
                Direction::Decrypt => "decryption",
            };
            return Err(Error::usage(
                name,
                format_args!("{what} in place was interrupted and must be finished first"),
            ));
        }
        if header.is_some_and(|header| *header != self.header) {
            return Err(Error::unverified(name, "of another image than the header is"));
        }
        let Geometry {
            sector_len,
            offset,
            len,
        } = self.header.geometry;
        if request.sector_len.is_some_and(|wanted| wanted != sector_len)
            || request.offset.is_some_and(|wanted| wanted != offset)
            || request.len.is_some_and(|wanted| wanted != len)
        {
            return Err(Error::usage(
                name,
                format_args!(
                    "the work began with --sector-size {sector_len} --offset {offset} --length {len}"
                ),
            ));
        }
        Ok(())
    }
}

/// A conversion, of which the journal exists.
struct Work<'a, S> {
    storage: &'a S,
    head: &'a Head,
    disk: &'a Disk,
}

impl<S: Storage> Work<'_, S> {
    fn failed(&self, part: Part) -> impl Fn(io::Error) -> Error {
        let name = self.storage.name(part);
        move |error| Error::io(&name, error)
    }

    fn batches(&self) -> u64 {
        self.disk.geometry.len.div_ceil(self.head.batch as u64)
    }

    /// Where a batch is in the encrypted part, and its length.
    fn place(&self, number: u64) -> (u64, usize) {
        let at = number * self.head.batch as u64;
        let left = usize::try_from(self.disk.geometry.len - at).unwrap_or(usize::MAX);
        (at, left.min(self.head.batch))
    }

    fn slot(&self, number: u64) -> u64 {
        let len = ((BEFORE_CIPHERTEXT + self.head.batch) as u64).next_multiple_of(ALIGNMENT);
        ALIGNMENT + number % 2 * len
    }

    /// The last byte can be read.
    fn check_image(&self) -> Result<(), Error> {
        let last = self.disk.geometry.end() - 1;
        let n = self.storage.read(Part::Image, last, &mut [0]);
        match n.map_err(self.failed(Part::Image))? {
            0 => Err(Error::unverified(
                &self.storage.name(Part::Image),
                "shorter than its header says",
            )),
            _ => Ok(()),
        }
    }

    fn run(&self, show_progress: bool) -> Result<(), Error> {
        let mut buffer = Zeroizing::new(vec![0; BEFORE_CIPHERTEXT + self.head.batch]);
        let mut next = 0;
        if let Some(number) = self.latest(&mut buffer)? {
            self.write_image(number, &mut buffer)?;
            next = number + 1;
        }
        let (done, _) = self.place(next.min(self.batches() - 1));
        let mut progress = Progress::new(show_progress, Some(self.disk.geometry.len - done));
        for number in next..self.batches() {
            let (at, len) = self.place(number);
            let sectors = &mut buffer[BEFORE_CIPHERTEXT..][..len];
            let place = self.disk.geometry.offset + at;
            let n = self.storage.read(Part::Image, place, sectors);
            if n.map_err(self.failed(Part::Image))? < len {
                return Err(Error::io(&self.storage.name(Part::Image), "became shorter"));
            }
            if self.head.direction == Direction::Encrypt {
                self.apply(number, sectors)?;
            }
            self.write_journal(number, &mut buffer)?;
            self.write_image(number, &mut buffer)?;
            progress.advance(len as u64);
        }
        Ok(())
    }

    fn apply(&self, number: u64, sectors: &mut [u8]) -> Result<(), Error> {
        let first = number * (self.head.batch / self.disk.geometry.sector_len) as u64;
        self.disk
            .apply(self.head.direction, first, sectors)
            .map_err(self.failed(Part::Image))
    }

    /// Puts the ciphertext of a batch, which the buffer has, into its slot.
    fn write_journal(&self, number: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let (_, len) = self.place(number);
        let (front, ciphertext) = buffer[..BEFORE_CIPHERTEXT + len].split_at_mut(BEFORE_CIPHERTEXT);
        let tag = self.head.slot_tag(self.disk, number, ciphertext).finalize();
        front[..8].copy_from_slice(&number.to_le_bytes());
        front[8..].copy_from_slice(tag.as_bytes());
        let slot = &buffer[..BEFORE_CIPHERTEXT + len];
        self.storage
            .write(Part::Journal, self.slot(number), slot)
            .and_then(|()| self.storage.sync(Part::Journal))
            .map_err(self.failed(Part::Journal))
    }

    /// Writes a batch to the image, whose ciphertext the buffer has.
    fn write_image(&self, number: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let (at, len) = self.place(number);
        let sectors = &mut buffer[BEFORE_CIPHERTEXT..][..len];
        if self.head.direction == Direction::Decrypt {
            self.apply(number, sectors)?;
        }
        self.storage
            .write(Part::Image, self.disk.geometry.offset + at, sectors)
            .and_then(|()| self.storage.sync(Part::Image))
            .map_err(self.failed(Part::Image))
    }

    /// The last batch that is in the journal, whose ciphertext the buffer then has.
    fn latest(&self, buffer: &mut [u8]) -> Result<Option<u64>, Error> {
        let [even, odd] = [self.read_slot(0, buffer)?, self.read_slot(1, buffer)?];
        let number = match (&even, &odd) {
            (Slot::Batch(even), Slot::Batch(odd)) => *even.max(odd),
            (Slot::Batch(number), _) | (_, Slot::Batch(number)) => *number,
            // The first slot was written when the second one was begun.
            (Slot::Broken | Slot::Empty, Slot::Broken) => {
                return Err(Error::unverified(
                    &self.storage.name(Part::Journal),
                    "the journal is damaged: how far the work was is not known",
                ));
            }
            (Slot::Broken | Slot::Empty, Slot::Empty) => return Ok(None),
        };
        match self.read_slot(number % 2, buffer)? {
            Slot::Batch(_) => Ok(Some(number)),
            Slot::Broken | Slot::Empty => {
                Err(Error::io(&self.storage.name(Part::Journal), "changed meanwhile"))
            }
        }
    }

    fn read_slot(&self, parity: u64, buffer: &mut [u8]) -> Result<Slot, Error> {
        let n = self.storage.read(Part::Journal, self.slot(parity), buffer);
        let found = &buffer[..n.map_err(self.failed(Part::Journal))?];
        if found.is_empty() {
            return Ok(Slot::Empty);
        }
        let Some((number, rest)) = found.split_first_chunk() else {
            return Ok(Slot::Broken);
        };
        let number = u64::from_le_bytes(*number);
        if number % 2 != parity || number >= self.batches() {
            return Ok(Slot::Broken);
        }
        let (_, len) = self.place(number);
        let Some((tag, ciphertext)) = rest
            .split_at_checked(TAG_LEN)
            .and_then(|(tag, rest)| Some((tag, rest.get(..len)?)))
        else {
            return Ok(Slot::Broken);
        };
        let mac = self.head.slot_tag(self.disk, number, ciphertext);
        Ok(match mac.verify(tag) {
            Ok(()) => Slot::Batch(number),
            Err(_) => Slot::Broken,
        })
    }
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
    header: PathBuf,
    journal: PathBuf,
    open_journal: OnceLock<File>,
}

impl Files {
    pub fn new(image: Image, header: PathBuf) -> Self {
        let journal = beside(&header, super::JOURNAL_EXTENSION);
        Self {
            image,
            header,
            journal,
            open_journal: OnceLock::new(),
        }
    }

    fn path(&self, part: Part) -> Option<&Path> {
        match part {
            Part::Image => None,
            Part::Header => Some(&self.header),
            Part::Journal => Some(&self.journal),
        }
    }

    fn journal(&self) -> io::Result<&File> {
        if let Some(file) = self.open_journal.get() {
            return Ok(file);
        }
        let file = File::options().read(true).write(true).open(&self.journal)?;
        Ok(self.open_journal.get_or_init(|| file))
    }
}

/// Whether there is a journal beside a header, so that the image is neither plaintext nor ciphertext.
pub fn is_interrupted(header: &Path) -> bool {
    beside(header, super::JOURNAL_EXTENSION)
        .symlink_metadata()
        .is_ok()
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
        self.path(part).map_or_else(|| self.image.name.clone(), quoted)
    }

    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let of_file =
            |file: &File, buffer: &mut [u8]| read_up_to(buffer, |rest, n| file.read_at(rest, at + n as u64));
        match part {
            Part::Image => read_up_to(buffer, |rest, n| self.image.read_some_at(at + n as u64, rest)),
            Part::Header => if_there(File::open(&self.header).and_then(|file| of_file(&file, buffer))),
            Part::Journal => if_there(self.journal().and_then(|file| of_file(file, buffer))),
        }
    }

    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()> {
        match part {
            Part::Image => self.image.write_at(at, bytes),
            Part::Journal => self.journal()?.write_all_at(bytes, at),
            Part::Header => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn sync(&self, part: Part) -> io::Result<()> {
        match part {
            Part::Image => self.image.sync(),
            Part::Journal => self.journal()?.sync_data(),
            Part::Header => Ok(()),
        }
    }

    fn create(&self, part: Part, bytes: &[u8]) -> Result<(), Error> {
        let Some(path) = self.path(part) else {
            return Err(Error::io(&self.image.name, io::ErrorKind::Unsupported));
        };
        let mut output = Output::create(path, Existing::Refused, Readers::Any)?;
        output
            .write_all(bytes)
            .map_err(|error| Error::write(&output.name, &error))?;
        output.commit()
    }

    fn remove(&self, part: Part) -> io::Result<()> {
        match self.path(part) {
            None => Err(io::ErrorKind::Unsupported.into()),
            Some(path) => remove(path),
        }
    }
}

/// Removes a file, if it is there; it is gone from the disk when this returns.
pub fn remove(path: &Path) -> io::Result<()> {
    if_there(fs::remove_file(path))?;
    File::open(folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests;
