//! Encrypted disks: their headers, the journal of a conversion that stops anywhere, and the server, which is told what a
//! client likes. Nothing but the encrypted part of an image changes, and what was written is what is read.

#![no_main]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::Key;
use veriplex_disk::Direction;
use veriplex_disk::convert::{self, Part, Storage};
use veriplex_disk::copy::{self, How};
use veriplex_disk::header::{self, Disk, Geometry, Header};
use veriplex_disk::image::Access;
use veriplex_disk::nbd::{self, Stream};
use veriplex_disk::serve::Export;
use veriplex_files::crypt::Secret;
use veriplex_files::error::Error;
use veriplex_files::overwritten::MARKER_LEN;
use veriplex_fuzz::Change;

/// An image, and which part of it is encrypted.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Shape {
    sector: u8,
    sectors: u8,
    before: u16,
    behind: u8,
    seed: u8,
}

impl Shape {
    fn geometry(self) -> Geometry {
        let sector_len = 512 << (self.sector % 8);
        let sectors = 1 + u64::from(self.sectors % 40);
        Geometry::new(sector_len, self.before.into(), sectors * sector_len as u64).expect("a geometry")
    }

    fn image(self) -> Vec<u8> {
        let len = self.geometry().end() + u64::from(self.behind);
        (0..len)
            .map(|i| (i * 7 / 3).to_le_bytes()[0] ^ self.seed)
            .collect()
    }
}

#[derive(Arbitrary, Debug)]
enum Case {
    Header {
        shape: Shape,
        /// The cost of a password; without it, there is a key.
        cost: Option<u8>,
        changes: Vec<Change>,
    },
    Conversion {
        shape: Shape,
        decrypt: bool,
        /// After how many operations it stops, each time; the last one is done in part.
        stops: Vec<u8>,
        /// What happens to a file after that.
        change: Option<(Changed, Vec<Change>)>,
    },
    Session {
        shape: Shape,
        is_read_only: bool,
        requests: Vec<Request>,
        changes: Vec<Change>,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Changed {
    Header,
    /// Its first bytes, which say what the work is.
    JournalHead,
    /// All of it, with the ciphertext of batches.
    Journal,
}

fuzz_target!(|case: Case| match case {
    Case::Header { shape, cost, changes } => header(shape, cost, &changes),
    Case::Conversion {
        shape,
        decrypt,
        stops,
        change,
    } => conversion(shape, decrypt, &stops, change),
    Case::Session {
        shape,
        is_read_only,
        requests,
        changes,
    } => session(shape, is_read_only, &requests, &changes),
});

const KEY: [u8; 32] = [7; 32];
const MAX_COST: u8 = 2;

fn key() -> Secret {
    Secret::Key(Key::from(KEY))
}

/// A new disk and its header.
fn generate(geometry: Geometry, secret: &Secret, cost: u8) -> (Header, Disk) {
    let disk = Disk::generate(geometry, secret, cost).expect("a disk");
    let header = disk.header(&disk.readable_sector_tags(|_, _| Ok::<_, ()>(())));
    (header.expect("a header"), disk)
}

/// Only the genuine header opens, with the genuine secret.
fn header(shape: Shape, cost: Option<u8>, changes: &[Change]) {
    let password = || Secret::Password(b"password".to_vec().into());
    let secret = if cost.is_some() { password() } else { key() };
    let cost = cost.unwrap_or(0) % (MAX_COST + 2);
    let (genuine, _) = generate(shape.geometry(), &secret, cost);
    let mut received = genuine.bytes().to_vec();
    changes.iter().for_each(|change| change.apply(&mut received));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header");
    fs::write(&path, &received).unwrap();
    let unlocked = Header::read(&path).is_ok_and(|header| header.unlock("it", &secret, MAX_COST).is_ok());
    assert_eq!(unlocked, received == genuine.bytes() && cost <= MAX_COST);
    let other = if matches!(secret, Secret::Key(_)) {
        password()
    } else {
        key()
    };
    assert!(genuine.unlock("it", &other, MAX_COST).is_err());
}

/// Files in memory. After so many operations, nothing works.
struct Memory {
    files: RefCell<BTreeMap<Part, Vec<u8>>>,
    left: Cell<usize>,
}

impl Memory {
    /// Whether the operation is done whole, and not in part.
    fn step(&self) -> io::Result<bool> {
        let left = self
            .left
            .get()
            .checked_sub(1)
            .ok_or(io::Error::other("no power"))?;
        self.left.set(left);
        Ok(left > 0)
    }

    fn file(&self, part: Part) -> Option<Vec<u8>> {
        self.files.borrow().get(&part).cloned()
    }
}

impl Storage for Memory {
    fn name(&self, part: Part) -> String {
        format!("{part:?}")
    }

    fn inode(&self) -> u64 {
        1
    }

    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let files = self.files.borrow();
        let bytes = files.get(&part).map_or(&[][..], Vec::as_slice);
        let mut rest = usize::try_from(at)
            .ok()
            .and_then(|at| bytes.get(at..))
            .unwrap_or_default();
        rest.read(buffer)
    }

    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = usize::try_from(at).unwrap();
        let bytes = if self.step()? {
            bytes
        } else {
            // A disk writes each of its sectors whole or not at all.
            let end = (at + bytes.len() / 2) / 512 * 512;
            &bytes[..end.saturating_sub(at)]
        };
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(&part).expect("the file is there");
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self, _: Part) -> io::Result<()> {
        self.step().map(|_| ())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.step().map(|_| ())
    }

    fn make_journal(&self, bytes: &[u8], _: u64) -> Result<(), Error> {
        self.save(Part::Journal, bytes, None)
    }

    fn save(&self, part: Part, bytes: &[u8], replaced: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        self.step().map_err(|error| Error::io("it", error))?;
        let before = self.files.borrow_mut().insert(part, bytes.to_vec());
        let before = before.as_deref();
        assert!(before == replaced.map(<[u8; _]>::as_slice), "{part:?}");
        Ok(())
    }

    fn remove_header(&self, header: &[u8; header::LEN]) -> Result<(), Error> {
        self.step().map_err(|error| Error::io("it", error))?;
        let before = self.files.borrow_mut().remove(&Part::Header);
        assert!(before.as_deref() == Some(header));
        Ok(())
    }

    fn remove_journal(&self, header: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        self.step().map_err(|error| Error::io("it", error))?;
        let mut files = self.files.borrow_mut();
        assert!(files.get(&Part::Header).map(Vec::as_slice) == header.map(<[u8; _]>::as_slice));
        files.remove(&Part::Journal);
        Ok(())
    }
}

/// Converts an image in place; it may stop after so many operations.
fn convert(memory: &Memory, shape: Shape, direction: Direction, operations: usize) -> Result<(), Error> {
    let wanted = shape.geometry();
    let request = convert::Request {
        direction,
        sector_len: Some(wanted.sector_len),
        offset: Some(wanted.offset),
        len: Some(wanted.len),
        cost: 0,
        max_cost: MAX_COST,
        is_checked: true,
        batch: *header::SECTOR_LENS.end(),
    };
    memory.left.set(operations);
    convert::in_place(memory, |_, _, _| Ok(wanted), &request, |_| Ok(key()), false)
}

/// However often it stops, the work comes to its end. What was changed meanwhile is refused, unless nothing is lost.
fn conversion(shape: Shape, decrypt: bool, stops: &[u8], change: Option<(Changed, Vec<Change>)>) {
    const WHOLE: usize = usize::MAX;
    let plain = shape.image();
    let memory = Memory {
        files: RefCell::new(BTreeMap::from([(Part::Image, plain.clone())])),
        left: Cell::new(0),
    };
    let direction = if decrypt {
        assert!(convert(&memory, shape, Direction::Encrypt, WHOLE).is_ok());
        Direction::Decrypt
    } else {
        Direction::Encrypt
    };
    let mut is_done = false;
    for &stop in stops.iter().take(8) {
        is_done = is_done || convert(&memory, shape, direction, stop.into()).is_ok();
    }
    // But for the marker of a conversion that is under way.
    let is_unchanged = |image: &[u8]| {
        let geometry = shape.geometry();
        let [start, end] = [geometry.offset, geometry.end()].map(|at| usize::try_from(at).unwrap());
        let marked = start.min(MARKER_LEN);
        image.len() == plain.len()
            && image[marked..start] == plain[marked..start]
            && image[end..] == plain[end..]
    };
    let before = memory.file(Part::Image).expect("an image");
    assert!(is_unchanged(&before));
    if is_done {
        assert!(memory.file(Part::Journal).is_none());
    } else if let Some((what, changes)) = change {
        let part = if matches!(what, Changed::Header) {
            Part::Header
        } else {
            Part::Journal
        };
        if let Some(genuine) = memory.file(part) {
            let (mut changed, rest) = match what {
                Changed::JournalHead => {
                    let (head, rest) = genuine.split_at(genuine.len().min(9 + header::LEN));
                    (head.to_vec(), rest.to_vec())
                }
                Changed::Header | Changed::Journal => (genuine.clone(), Vec::new()),
            };
            changes.iter().for_each(|change| change.apply(&mut changed));
            changed.extend(rest);
            let is_genuine = changed == genuine;
            // Bytes behind it are not read here. An empty file stands for one that is gone: then other work is begun.
            let is_allowed = changed.is_empty() || changed.starts_with(&genuine);
            if changed.is_empty() {
                memory.files.borrow_mut().remove(&part);
            } else {
                memory.files.borrow_mut().insert(part, changed);
            }
            let result = convert(&memory, shape, direction, WHOLE);
            let image = memory.file(Part::Image).expect("an image");
            assert!(is_unchanged(&image));
            if !is_allowed && matches!(what, Changed::JournalHead) {
                assert!(result.is_err());
            }
            if result.is_err() {
                assert!(!is_genuine && (image == before || matches!(what, Changed::Journal)));
                return;
            }
            is_done = true;
        }
    }
    if !is_done {
        assert!(convert(&memory, shape, direction, WHOLE).is_ok());
    }
    if !decrypt {
        assert!(memory.file(Part::Image).expect("an image") != plain);
        assert!(convert(&memory, shape, Direction::Decrypt, WHOLE).is_ok());
    }
    assert!(memory.file(Part::Image).expect("an image") == plain);
    // The header of before is kept.
    assert!(memory.files.borrow().keys().eq(&[Part::Image, Part::Old]));
}

#[derive(Arbitrary, Debug)]
struct Request {
    flags: Option<u16>,
    kind: u16,
    at: u64,
    /// The place is taken as it is, and not within the disk.
    anywhere: bool,
    len: u32,
    byte: u8,
}

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const WRITE_ZEROES: u16 = 6;

impl Request {
    fn at(&self, disk: u64) -> u64 {
        if self.anywhere { self.at } else { self.at % disk }
    }

    fn flags(&self) -> u16 {
        self.flags.unwrap_or(0)
    }

    fn kind(&self) -> u16 {
        // A kind that is not known is as good as any other.
        self.kind % 8
    }

    fn len(&self) -> u32 {
        match self.kind() {
            WRITE => self.len % 20_000,
            FLUSH if !self.anywhere => 0,
            _ if self.anywhere => self.len,
            _ => self.len % 40_000,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        (0..self.len())
            .map(|i| i.to_le_bytes()[0].wrapping_mul(3) ^ self.byte)
            .collect()
    }

    fn send(&self, disk: u64, to: &mut Vec<u8>) {
        to.extend(0x2560_9513_u32.to_be_bytes());
        to.extend(self.flags().to_be_bytes());
        to.extend(self.kind().to_be_bytes());
        to.extend([self.byte; 8]);
        to.extend(self.place(disk).to_be_bytes());
        to.extend(self.len().to_be_bytes());
        if self.kind() == WRITE {
            to.extend(self.bytes());
        }
    }

    fn place(&self, disk: u64) -> u64 {
        if self.kind() == FLUSH && !self.anywhere {
            0
        } else {
            self.at(disk)
        }
    }

    /// What the protocol asks for: the number of an error, or 0, and the data of a read.
    fn answer(&self, plain: &mut [u8], is_read_only: bool) -> (u32, Vec<u8>) {
        const EPERM: u32 = 1;
        const EINVAL: u32 = 22;
        const ENOSPC: u32 = 28;
        const EOVERFLOW: u32 = 75;
        let place = self.place(plain.len() as u64);
        let range = usize::try_from(place)
            .ok()
            .and_then(|at| plain.get_mut(at..)?.get_mut(..self.len() as usize));
        match self.kind() {
            // With `FUA`; `WRITE_ZEROES` also with `NO_HOLE`.
            kind if self.flags() & !if kind == WRITE_ZEROES { 3 } else { 1 } != 0 => (EINVAL, Vec::new()),
            READ if self.len() > 1 << 25 => (EOVERFLOW, Vec::new()),
            READ => range.map_or((EINVAL, Vec::new()), |bytes| (0, bytes.to_vec())),
            WRITE | WRITE_ZEROES if is_read_only => (EPERM, Vec::new()),
            kind @ (WRITE | WRITE_ZEROES) => match range {
                Some(bytes) => {
                    if kind == WRITE {
                        bytes.copy_from_slice(&self.bytes());
                    } else {
                        bytes.fill(0);
                    }
                    (0, Vec::new())
                }
                None => (ENOSPC, Vec::new()),
            },
            FLUSH if place == 0 && self.len() == 0 => (0, Vec::new()),
            _ => (EINVAL, Vec::new()),
        }
    }
}

/// What a client sends, and what it gets.
struct Connection<'a> {
    sent: &'a [u8],
    got: Vec<u8>,
}

impl Read for Connection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sent.read(buffer)
    }
}

impl Write for Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.got.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Connection<'_> {
    fn established(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answers are those of the protocol; and if the client sends other bytes, the image is one that it could have made.
fn session(shape: Shape, is_read_only: bool, requests: &[Request], changes: &[Change]) {
    let geometry = shape.geometry();
    let [start, end] = [geometry.offset, geometry.end()].map(|at| usize::try_from(at).unwrap());
    let apply =
        |disk: &Disk, direction, image: &mut [u8]| disk.apply(direction, 0, &mut image[start..end]).unwrap();

    let disk = Disk::generate(geometry, &key(), 0).expect("a disk");
    let plain = shape.image();
    let mut encrypted = plain.clone();
    apply(&disk, Direction::Encrypt, &mut encrypted);
    let folder = tempfile::tempdir().unwrap();
    let [path, header] = ["image", "header"].map(|name| folder.path().join(name));
    fs::write(&path, &encrypted).unwrap();
    let tags = disk.readable_sector_tags(|number, sector| {
        let place = usize::try_from(disk.place(number)).unwrap();
        sector.copy_from_slice(&encrypted[place..][..sector.len()]);
        Ok::<_, ()>(())
    });
    fs::write(&header, disk.header(&tags).expect("a header").bytes()).unwrap();

    let mut expected = plain.clone();
    // Flags of the client, and the option `EXPORT_NAME` with no name.
    let mut sent = [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &[0, 0, 0, 1, 0, 0, 0, 0]].concat();
    let mut answers = b"NBDMAGICIHAVEOPT\x00\x03".to_vec();
    answers.extend(geometry.len.to_be_bytes());
    answers.extend((0x10d_u16 | if is_read_only { 2 } else { 0x40 }).to_be_bytes());
    for request in requests.iter().take(20) {
        request.send(geometry.len, &mut sent);
        if request.kind() == DISCONNECT {
            break;
        }
        let (error, data) = request.answer(&mut expected[start..end], is_read_only);
        answers.extend(0x6744_6698_u32.to_be_bytes());
        answers.extend(error.to_be_bytes());
        answers.extend([request.byte; 8]);
        answers.extend(data);
    }
    let genuine = sent.clone();
    changes.iter().for_each(|change| change.apply(&mut sent));
    let mut connection = Connection {
        sent: &sent,
        got: Vec::new(),
    };
    let how = How::Header {
        path: Some(&header),
        max_cost: 0,
        is_checked: true,
    };
    let opened = copy::open(&path, &how, Access::Write, || Ok(key())).expect("an image");
    let export = Export::new(opened, is_read_only, false).expect("an export");
    let _ = nbd::serve(&mut connection, &export);
    drop(export);

    let mut image = fs::read(&path).unwrap();
    if is_read_only {
        assert!(image == encrypted);
    }
    apply(&disk, Direction::Decrypt, &mut image);
    if sent == genuine {
        assert!(connection.got == answers, "other answers");
        assert!(image == expected, "other bytes on the disk");
    }
    assert!(image.len() == plain.len() && image[..start] == plain[..start] && image[end..] == plain[end..]);
}
