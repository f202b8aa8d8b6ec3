//! The conversion as a model. It is killed at any point, or a sync fails, or the power goes, with any of what was not
//! synchronised; then it is run again, and the same happens again. Files are lost, or exchanged for those of other
//! conversions or of other times.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use veriplex::Key;

use super::super::image::Access;
use super::*;

/// What is on the disk, and whose image it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Disks {
    inode: u64,
    /// By part. Copies share what they do not change.
    files: [Option<Rc<Vec<u8>>>; 4],
}

impl Disks {
    fn new(inode: u64, image: &[u8]) -> Self {
        let mut disks = Self {
            inode,
            files: [const { None }; 4],
        };
        disks.put(Part::Image, image.to_vec());
        disks
    }

    fn get(&self, part: Part) -> Option<&Vec<u8>> {
        self.files[part as usize].as_deref()
    }

    fn put(&mut self, part: Part, bytes: Vec<u8>) {
        self.files[part as usize] = Some(bytes.into());
    }

    /// To change it.
    fn bytes(&mut self, part: Part) -> &mut Vec<u8> {
        Rc::make_mut(self.files[part as usize].as_mut().unwrap())
    }

    fn image(&self) -> &[u8] {
        self.get(Part::Image).unwrap()
    }

    fn is_marked(&self) -> bool {
        Marker::parse(self.image().first_chunk().unwrap()).is_some()
    }
}

/// What a storage does that it must not, to see that the tests notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// `sync` of this part does nothing.
    NoSync(Part),
    /// `sync_names` does nothing.
    NoNames,
}

/// What was done, and is not on the disk yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Bytes of a file, which are written whole or not at all.
    Piece(Part, usize, Vec<u8>),
    /// A file was made, replaced or removed.
    Name(Part, Option<Rc<Vec<u8>>>),
}

impl Change {
    fn is_piece_of(&self, part: Part) -> bool {
        matches!(self, Self::Piece(found, ..) if *found == part)
    }

    fn is_name(&self) -> bool {
        matches!(self, Self::Name(..))
    }

    fn apply(&self, disks: &mut Disks) {
        match self {
            Self::Piece(part, at, piece) => {
                if let Some(bytes) = &mut disks.files[*part as usize] {
                    put(Rc::make_mut(bytes), *at, piece);
                }
            }
            Self::Name(part, bytes) => disks.files[*part as usize].clone_from(bytes),
        }
    }
}

/// A machine between two programs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    /// What programs see. After a sync that failed, no change may lead there.
    seen: Disks,
    on_disk: Disks,
    pending: Vec<Change>,
}

impl Machine {
    fn new(disks: &Disks) -> Self {
        Self {
            seen: disks.clone(),
            on_disk: disks.clone(),
            pending: Vec::new(),
        }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }

    /// What there may be when the power went.
    fn without_power(&self) -> impl Iterator<Item = Disks> + '_ {
        subsets(self.pending.len()).into_iter().map(|written| {
            let mut disks = self.on_disk.clone();
            for (change, _) in self
                .pending
                .iter()
                .zip(written)
                .filter(|(_, is_written)| *is_written)
            {
                change.apply(&mut disks);
            }
            disks
        })
    }

    fn sync(&mut self, is_synced: impl Fn(&Change) -> bool) {
        for change in self.pending.extract_if(.., |change| is_synced(change)) {
            change.apply(&mut self.on_disk);
        }
    }

    /// What there may be after this sync failed: pieces that are not written are not tried again.
    fn failed(&self, is_synced: impl Fn(&Change) -> bool) -> Vec<Self> {
        let mut failed = self.clone();
        let lost: Vec<_> = failed
            .pending
            .extract_if(.., |change| is_synced(change))
            .collect();
        let lose = |written: Vec<bool>| {
            let mut failed = failed.clone();
            for (change, _) in lost.iter().zip(written).filter(|(_, is_written)| *is_written) {
                change.apply(&mut failed.on_disk);
            }
            failed
        };
        // None of them, or the first one, or all others.
        let losses = [(false, false), (true, false), (false, true)];
        let written = losses.map(|(first, others)| {
            (0..lost.len())
                .map(|i| if i == 0 { first } else { others })
                .collect()
        });
        written.into_iter().map(lose).collect()
    }
}

/// A machine that records what there would be if the program ended or the power went.
struct Recording {
    machine: RefCell<Machine>,
    ends: RefCell<BTreeSet<Machine>>,
    flaw: Flaw,
}

/// Which of so many pieces are written: all combinations, if they are few.
fn subsets(pieces: usize) -> Vec<Vec<bool>> {
    if pieces <= 6 {
        let all = 0..1_usize << pieces;
        return all
            .map(|set| (0..pieces).map(|i| set >> i & 1 == 1).collect())
            .collect();
    }
    let one = |only: usize, value: bool| (0..pieces).map(|i| (i == only) == value).collect();
    (0..pieces).flat_map(|i| [one(i, true), one(i, false)]).collect()
}

fn put(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    if bytes.len() < at + more.len() {
        bytes.resize(at + more.len(), 0);
    }
    bytes[at..at + more.len()].copy_from_slice(more);
}

impl Recording {
    fn new(machine: &Machine, flaw: Flaw) -> Self {
        Self {
            machine: RefCell::new(machine.clone()),
            ends: RefCell::default(),
            flaw,
        }
    }

    fn change(&self, change: Change) {
        self.machine.borrow_mut().change(change);
        self.record();
    }

    fn record(&self) {
        let machine = self.machine.borrow();
        let mut ends = self.ends.borrow_mut();
        ends.insert(machine.clone());
        ends.extend(machine.without_power().map(|disks| Machine::new(&disks)));
    }

    fn sync_these(&self, is_synced: impl Fn(&Change) -> bool) {
        self.machine.borrow_mut().sync(is_synced);
        self.record();
    }

    fn remove(&self, part: Part) {
        self.change(Change::Name(part, None));
        self.sync_these(Change::is_name);
    }
}

impl Storage for Recording {
    fn name(&self, part: Part) -> String {
        format!("{part:?}")
    }

    fn inode(&self) -> u64 {
        self.machine.borrow().seen.inode
    }

    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let machine = self.machine.borrow();
        let bytes = machine.seen.get(part).map_or(&[][..], Vec::as_slice);
        let rest = bytes.get(usize::try_from(at).unwrap()..).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut at = usize::try_from(at).unwrap();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.len().min(512 - at % 512));
            self.change(Change::Piece(part, at, piece.to_vec()));
            at += piece.len();
            rest = more;
        }
        Ok(())
    }

    fn sync(&self, part: Part) -> io::Result<()> {
        let is_synced = |change: &Change| change.is_piece_of(part);
        if self.flaw != Flaw::NoSync(part) {
            let failed = self.machine.borrow().failed(is_synced);
            self.ends.borrow_mut().extend(failed);
            self.sync_these(is_synced);
        }
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        if self.flaw != Flaw::NoNames {
            self.sync_these(Change::is_name);
        }
        Ok(())
    }

    fn save(&self, part: Part, bytes: &[u8], replaced: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        let there = self.machine.borrow().seen.get(part).cloned();
        assert!(there.as_deref() == replaced.map(<[u8; _]>::as_slice), "{part:?}");
        self.change(Change::Name(part, Some(bytes.to_vec().into())));
        self.sync_these(Change::is_name);
        Ok(())
    }

    fn make_journal(&self, bytes: &[u8], _: u64) -> Result<(), Error> {
        self.save(Part::Journal, bytes, None)
    }

    fn remove_header(&self, header: &[u8; header::LEN]) -> Result<(), Error> {
        let there = self.machine.borrow().seen.get(Part::Header).cloned();
        assert!(there.as_deref() == Some(header));
        self.remove(Part::Header);
        Ok(())
    }

    fn remove_journal(&self, header: Option<&[u8; header::LEN]>) -> Result<(), Error> {
        let there = self.machine.borrow().seen.get(Part::Header).cloned();
        assert!(there.as_deref() == header.map(<[u8; _]>::as_slice));
        self.remove(Part::Journal);
        Ok(())
    }
}

const SECTOR_LEN: usize = 512;
/// What is behind the encrypted part.
const BEHIND: usize = 33;

/// Where the encrypted part begins, its length, and the size of a batch.
#[derive(Clone, Copy)]
struct Shape {
    offset: usize,
    len: usize,
    batch: usize,
}

/// Two batches and a half, from the middle of the marker on.
const SHAPE: Shape = Shape {
    offset: 20,
    len: 5 * SECTOR_LEN,
    batch: 2 * SECTOR_LEN,
};

impl Shape {
    fn plain(self, number: u8) -> Vec<u8> {
        (0..self.offset + self.len + BEHIND)
            .map(|i| (i / 3).to_le_bytes()[0] ^ (i >> 9).to_le_bytes()[0] ^ number)
            .collect()
    }

    fn request(self, direction: Direction) -> Request {
        Request {
            direction,
            sector_len: Some(SECTOR_LEN),
            offset: Some(self.offset as u64),
            len: Some(self.len as u64),
            cost: 0,
            max_cost: 0,
            is_checked: true,
            batch: self.batch,
        }
    }

    /// What an image becomes under its header, if that has this key and knows the image.
    fn decrypted(self, header: &[u8], image: &[u8], key: u8) -> Option<Vec<u8>> {
        let header = Header::parse(header.try_into().unwrap()).unwrap();
        let (disk, state) = header.unlock("it", &secret(key), 0).ok()?;
        let State::Encrypted(tags) = state else {
            return None;
        };
        let found = disk.readable_sector_tags(|number, sector| {
            let place = usize::try_from(disk.place(number)).unwrap();
            sector.copy_from_slice(&image[place..][..sector.len()]);
            io::Result::Ok(())
        });
        tags.check(&found, "it").ok()?;
        let mut image = image.to_vec();
        disk.apply(Direction::Decrypt, 0, &mut image[self.offset..][..self.len])
            .unwrap();
        Some(image)
    }

    /// A disk that is encrypted.
    fn encrypted(self, inode: u64, plain: &[u8], key: u8) -> Disks {
        let begin = Disks::new(inode, plain);
        let (done, disks) = run(&begin, &self.request(Direction::Encrypt), key);
        done.ok().unwrap();
        disks
    }
}

fn secret(key: u8) -> Secret {
    Secret::Key(Key::from([key; 32]))
}

/// Runs the command to its end, on a disk that has everything: what it gives, and what there is then.
fn run(disks: &Disks, request: &Request, key: u8) -> (Result<(), Error>, Disks) {
    let (done, machine, _) = run_on(&Machine::new(disks), request, key, Flaw::None);
    (done, machine.seen)
}

/// Also gives what there would be if it did not come to its end.
fn run_on(
    machine: &Machine,
    request: &Request,
    key: u8,
    flaw: Flaw,
) -> (Result<(), Error>, Machine, BTreeSet<Machine>) {
    let storage = Recording::new(machine, flaw);
    let done = in_place(
        &storage,
        |sector_len, offset, len| Ok(Geometry::new(sector_len, offset, len.unwrap()).unwrap()),
        request,
        |_| Ok(secret(key)),
        false,
    );
    (done, storage.machine.into_inner(), storage.ends.into_inner())
}

/// One conversion, and everything that crashes can leave of it.
struct Explored {
    key: u8,
    plain: Vec<u8>,
    begin: Disks,
    states: BTreeSet<Disks>,
    is_right: bool,
}

impl Explored {
    /// It is killed or the power goes anywhere, and again when the work goes on, until nothing new comes of it.
    fn new(shape: Shape, begin: Disks, direction: Direction, plain: &[u8], key: u8, flaw: Flaw) -> Self {
        let request = shape.request(direction);
        let machine = Machine::new(&begin);
        let mut states = BTreeSet::from([machine.clone()]);
        // The nearest ones first: with a flaw, there is no end.
        let mut new = VecDeque::from([machine]);
        let mut is_right = true;
        let is_end = |disks: &Disks| match direction {
            Direction::Encrypt => {
                let header = disks.get(Part::Header);
                let found = header.and_then(|header| shape.decrypted(header, disks.image(), key));
                found.as_deref() == Some(plain) && disks.get(Part::Journal).is_none()
            }
            Direction::Decrypt => {
                disks.image() == plain
                    && disks.get(Part::Journal).is_none()
                    && disks.get(Part::Header).is_none()
                    && disks.get(Part::Old) == begin.get(Part::Header)
            }
        };
        while let Some(machine) = new.pop_front() {
            let disks = &machine.seen;
            let (done, after, ends) = run_on(&machine, &request, key, flaw);
            // After the end there is nothing left to do, which is an error.
            is_right &= is_end(&after.seen) && (done.is_ok() != is_end(disks));
            // What is said to be done is on the disk.
            is_right &= done.is_err() || after.without_power().all(|disks| is_end(&disks));
            // Whoever has the image or the header knows that it is half converted.
            is_right &= !disks.is_marked()
                || disks.get(Part::Header).is_some_and(|header| {
                    Header::parse(header[..].try_into().unwrap()).unwrap().direction == Some(direction)
                });
            let image = disks.image();
            is_right &= disks.is_marked() || image == begin.image() || image == after.seen.image();
            if !is_right {
                break;
            }
            for end in ends {
                // Headers that are made at the end differ, and there is nothing else new about them.
                let is_known = is_end(&end.seen) && end.without_power().all(|disks| is_end(&disks));
                if !is_known && states.insert(end.clone()) {
                    new.push_back(end);
                }
            }
            states.insert(after);
        }
        let settled = |machine: &Machine| machine.pending.is_empty() && machine.seen == machine.on_disk;
        let all = states.len();
        let states: BTreeSet<_> = states
            .into_iter()
            .filter(settled)
            .map(|machine| machine.seen)
            .collect();
        println!(
            "{direction}, {} from {}: {all} states, {} on disks",
            shape.len,
            shape.offset,
            states.len()
        );
        Self {
            key,
            plain: plain.to_vec(),
            begin,
            states,
            is_right,
        }
    }
}

const DIRECTIONS: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

fn begin(shape: Shape, direction: Direction, inode: u64, plain: &[u8], key: u8) -> Disks {
    match direction {
        Direction::Encrypt => Disks::new(inode, plain),
        Direction::Decrypt => shape.encrypted(inode, plain, key),
    }
}

#[test]
fn the_power_goes_at_every_operation() {
    // The marker has 50 bytes.
    let shapes =
        [(0, 5), (20, 1), (20, 2), (20, 5), (49, 1), (50, 1), (700, 2)].map(|(offset, sectors)| Shape {
            offset,
            len: sectors * SECTOR_LEN,
            batch: 2 * SECTOR_LEN,
        });
    for direction in DIRECTIONS {
        let explore = |shape: Shape, flaw| {
            let plain = shape.plain(0);
            let begin = begin(shape, direction, 1, &plain, 7);
            Explored::new(shape, begin, direction, &plain, 7, flaw)
        };
        for shape in shapes {
            let explored = explore(shape, Flaw::None);
            assert!(explored.is_right && explored.states.len() > 20);
        }
        for flaw in [
            Flaw::NoSync(Part::Image),
            Flaw::NoSync(Part::Journal),
            Flaw::NoNames,
        ] {
            let explored = explore(SHAPE, flaw);
            assert!(!explored.is_right, "{direction}: nobody notices {flaw:?}");
        }
    }
}

/// Each file is lost, or exchanged for that of another conversion, or of another time. Then the work goes on with the image
/// that is there and becomes right, or nothing is written.
#[test]
fn any_files_together() {
    const OTHER: u8 = 8;
    // The marker is in the encrypted part, or before it.
    for offset in [20, 700] {
        let shape = Shape {
            offset,
            batch: SECTOR_LEN,
            len: 3 * SECTOR_LEN,
        };
        for direction in DIRECTIONS {
            let plain = shape.plain(0);
            let first = begin(shape, direction, 1, &plain, 7);
            let mut begins = vec![
                first.clone(),
                // The same plaintext under the same key, as in two new disks.
                begin(shape, direction, 2, &plain, 7),
            ];
            if direction == Direction::Decrypt {
                // A copy of the first image, with the same header.
                begins.push(Disks { inode: 3, ..first });
            }
            let mut all: Vec<_> = begins
                .into_iter()
                .map(|begin| Explored::new(shape, begin, direction, &plain, 7, Flaw::None))
                .collect();
            let foreign = shape.plain(9);
            let other = begin(shape, direction, 4, &foreign, OTHER);
            all.push(Explored::new(
                shape,
                other,
                direction,
                &foreign,
                OTHER,
                Flaw::None,
            ));
            exchange(shape, direction, &all);
        }
    }
}

fn exchange(shape: Shape, direction: Direction, all: &[Explored]) {
    let request = shape.request(direction);
    let (mut headers, mut journals, mut images) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    headers.insert(None, &None);
    journals.insert(&None, None);
    for (i, explored) in all.iter().enumerate() {
        assert!(explored.is_right);
        for disks in &explored.states {
            let header = disks.get(Part::Header);
            // One that is encrypted is as good as another.
            let kind = header.map(|header| {
                (
                    i,
                    Header::parse(header[..].try_into().unwrap())
                        .unwrap()
                        .direction
                        .is_some(),
                )
            });
            let journal = &disks.files[Part::Journal as usize];
            headers.insert(kind, &disks.files[Part::Header as usize]);
            journals.insert(journal, journal.as_ref().map(|_| i));
            images.insert((disks.inode, disks.image()), i);
        }
    }
    let (mut refused, mut done) = (0, 0);
    for ((inode, image), &of_image) in &images {
        let Explored {
            key, plain, begin, ..
        } = &all[of_image];
        let mut disks = Disks::new(*inode, image);
        for &header in headers.values() {
            for (&journal, &of_journal) in &journals {
                for (part, bytes) in [(Part::Header, header), (Part::Journal, journal)] {
                    disks.files[part as usize].clone_from(bytes);
                }
                let (result, after) = run(&disks, &request, *key);
                if result.is_err() {
                    assert!(
                        after == disks,
                        "something was written, and then: {:?}",
                        result.err()
                    );
                    refused += 1;
                    continue;
                }
                done += 1;
                assert!(after.get(Part::Journal).is_none());
                // A journal is used up only with its image.
                assert!(of_journal.is_none_or(|of_journal| of_journal == of_image));
                // What is encrypted once more comes back as it was.
                let expected = if of_journal.is_none() && direction == Direction::Encrypt {
                    assert!(!disks.is_marked());
                    image
                } else {
                    plain.as_slice()
                };
                match direction {
                    Direction::Encrypt => {
                        let header = after.get(Part::Header).unwrap();
                        let found = shape.decrypted(header, after.image(), *key);
                        assert!(found.as_deref() == Some(expected));
                    }
                    Direction::Decrypt => {
                        assert!(after.image() == expected && after.get(Part::Header).is_none());
                        // If it begins here, the header of what was encrypted stays.
                        assert!(of_journal.is_some() || after.get(Part::Old) == begin.get(Part::Header));
                    }
                }
            }
            // Every other command needs an image that is not marked, and a header that knows it.
            if let Some(header) = header
                && !disks.is_marked()
            {
                let found = shape.decrypted(header, image, *key);
                assert!(found.is_none_or(|found| found == *plain));
            }
        }
    }
    println!(
        "{direction}: {} images, {} headers, {} journals: {done} done, {refused} refused",
        images.len(),
        headers.len(),
        journals.len()
    );
    assert!(done > 50 && refused > done);
}

#[test]
fn there_and_back() {
    let plain = SHAPE.plain(0);
    let disks = SHAPE.encrypted(1, &plain, 7);
    assert!(disks.get(Part::Journal).is_none());
    let image = disks.image();
    let Shape { offset, len, .. } = SHAPE;
    assert!(image[..offset] == plain[..offset] && image[offset + len..] == plain[offset + len..]);
    assert!(image[offset..offset + len] != plain[offset..offset + len]);
    let request = SHAPE.request(Direction::Decrypt);
    let refused = |disks: &Disks, request: &Request, key, reason: &str| {
        let (done, after) = run(disks, request, key);
        let error = done.err().unwrap().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(after == *disks);
    };
    // Once is enough, and only with the key.
    refused(&disks, &SHAPE.request(Direction::Encrypt), 7, "already exists");
    refused(&disks, &request, 8, "wrong key");
    // Not if no sector is known, unless that is wanted. A header that is kept is not replaced.
    let mut written = disks.clone();
    let noise = SHAPE.plain(77);
    written.bytes(Part::Image)[offset..].copy_from_slice(&noise[offset..]);
    refused(&written, &request, 7, "belongs to another image");
    let unchecked = Request {
        is_checked: false,
        ..request
    };
    assert!(run(&written, &unchecked, 7).0.is_ok());
    let mut kept = disks.clone();
    kept.put(Part::Old, vec![1; header::LEN]);
    refused(&kept, &request, 7, "already exists");
    // An older one of this disk is.
    let header = Header::parse(disks.get(Part::Header).unwrap()[..].try_into().unwrap()).unwrap();
    let (disk, state) = header.unlock("it", &secret(7), 0).ok().unwrap();
    let State::Encrypted(tags) = state else {
        panic!("it is encrypted");
    };
    let older = disk.header(&tags).ok().unwrap().bytes().to_vec();
    assert!(Some(&older) != disks.get(Part::Header));
    kept.put(Part::Old, older);
    let (done, after) = run(&kept, &request, 7);
    assert!(done.is_ok() && after.get(Part::Old) == disks.get(Part::Header));

    let (done, after) = run(&disks, &request, 7);
    done.ok().unwrap();
    assert!(after.image() == plain && after.get(Part::Old) == disks.get(Part::Header));
    assert!(after.get(Part::Journal).is_none() && after.get(Part::Header).is_none());
}

/// An image that was copied a moment ago, and is in the system's memory only.
#[test]
fn an_image_that_is_not_on_the_disk_yet() {
    let plain = SHAPE.plain(0);
    let mut machine = Machine::new(&Disks::new(1, &vec![0; plain.len()]));
    for (at, piece) in (0..).step_by(512).zip(plain.chunks(512)) {
        machine.change(Change::Piece(Part::Image, at, piece.to_vec()));
    }
    let request = SHAPE.request(Direction::Encrypt);
    let (done, _, ends) = run_on(&machine, &request, 7, Flaw::None);
    done.ok().unwrap();
    let begun: Vec<_> = ends
        .iter()
        .filter(|end| end.on_disk.get(Part::Journal).is_some())
        .collect();
    assert!(begun.len() > 20);
    for end in begun {
        let (done, after) = run(&end.on_disk, &request, 7);
        done.ok().unwrap();
        let found = SHAPE.decrypted(after.get(Part::Header).unwrap(), after.image(), 7);
        assert!(found.as_deref() == Some(&plain));
    }
}

/// Content that looks like a marker is content.
#[test]
fn content_like_a_marker() {
    let shape = Shape { offset: 0, ..SHAPE };
    let mut plain = shape.plain(0);
    plain[..10].copy_from_slice(b"VPX-HALF\x01\x01");
    let unchecked = Request {
        is_checked: false,
        ..shape.request(Direction::Encrypt)
    };
    let begin = Disks::new(1, &plain);
    assert!(run(&begin, &shape.request(Direction::Encrypt), 7).0.is_err());
    let mut machine = Machine::new(&begin);
    for request in [unchecked, shape.request(Direction::Decrypt)] {
        let (done, after, ends) = run_on(&machine, &request, 7, Flaw::None);
        done.ok().unwrap();
        for end in ends.iter().filter(|end| end.seen.get(Part::Journal).is_some()) {
            let (done, after, _) = run_on(end, &request, 7, Flaw::None);
            assert!(done.is_ok() && (request.direction == Direction::Encrypt || after.seen.image() == plain));
        }
        machine = after;
    }
    assert!(machine.seen.image() == plain);
}

/// The journal of an encryption that ended is still there, and the image is half decrypted with a copy of the header.
#[test]
fn another_conversion_than_that_of_the_journal() {
    let encrypt = SHAPE.request(Direction::Encrypt);
    let begin = Machine::new(&Disks::new(1, &SHAPE.plain(0)));
    let (_, encrypted, ends) = run_on(&begin, &encrypt, 7, Flaw::None);
    let header = encrypted.seen.get(Part::Header);
    let is_end = |disks: &Disks| disks.get(Part::Header) == header && disks.get(Part::Journal).is_some();
    let ended = ends.iter().find(|end| is_end(&end.seen)).unwrap();
    let (_, _, ends) = run_on(&encrypted, &SHAPE.request(Direction::Decrypt), 7, Flaw::None);
    let half: Vec<_> = ends.iter().filter(|end| end.seen.is_marked()).collect();
    assert!(half.len() > 10);
    for half in half {
        let mut disks = ended.seen.clone();
        disks.put(Part::Image, half.seen.image().to_vec());
        let (done, after) = run(&disks, &encrypt, 7);
        assert!(done.is_err() && after == disks);
    }
}

/// The hint names an option that there is.
#[test]
fn a_cost_above_the_limit() {
    let cost = 3;
    let request = Request {
        cost,
        max_cost: cost,
        ..SHAPE.request(Direction::Encrypt)
    };
    let run = |machine: &Machine, request: &Request| {
        let storage = Recording::new(machine, Flaw::None);
        let geometry = |sector_len, offset, len: Option<u64>| {
            Ok(Geometry::new(sector_len, offset, len.unwrap()).unwrap())
        };
        let secret = |_| Ok(Secret::Password(Zeroizing::new(b"password".to_vec())));
        let done = in_place(&storage, geometry, request, secret, false);
        (done, storage.ends.into_inner())
    };
    let (done, ends) = run(&Machine::new(&Disks::new(1, &SHAPE.plain(0))), &request);
    done.ok().unwrap();
    let end = ends
        .iter()
        .find(|end| end.seen.get(Part::Journal).is_some())
        .unwrap();
    let lower = Request {
        max_cost: cost - 1,
        ..request
    };
    let error = run(end, &lower).0.err().unwrap().to_string();
    assert!(error.contains("started with --cost 3"), "{error}");
    run(end, &request).0.ok().unwrap();
}

/// What there is when batch 1 is begun, and not done.
fn interrupted(direction: Direction) -> Disks {
    let plain = SHAPE.plain(0);
    let begin = begin(SHAPE, direction, 1, &plain, 7);
    let explored = Explored::new(SHAPE, begin, direction, &plain, 7, Flaw::None);
    let Shape { offset, batch, .. } = SHAPE;
    let is_there = |disks: &&Disks| {
        let marker = Marker::parse(disks.image().first_chunk().unwrap());
        let second = offset + batch..offset + 2 * batch;
        marker.is_some_and(|marker| marker.begun == 2 * batch as u64)
            && disks.image()[second.clone()] == explored.begin.image()[second]
    };
    explored.states.iter().find(is_there).unwrap().clone()
}

/// Where the second slot begins.
const SLOT: usize = 8192;

/// Neither goes the other way, nor with another key, nor with what was not said before.
#[test]
fn work_goes_on_as_it_began() {
    for (direction, other) in [
        (Direction::Encrypt, Direction::Decrypt),
        (Direction::Decrypt, Direction::Encrypt),
    ] {
        let disks = interrupted(direction);
        let as_begun = SHAPE.request(direction);
        let with = |change: &dyn Fn(&mut Request)| {
            let mut request = as_begun;
            change(&mut request);
            request
        };
        for (request, key, reason) in [
            (SHAPE.request(other), 7, "finish it first"),
            (as_begun, 8, "wrong key"),
            (
                with(&|it| it.sector_len = Some(1024)),
                7,
                "started with --sector-size 512",
            ),
            (with(&|it| it.offset = Some(0)), 7, "--offset 20"),
            (with(&|it| it.len = Some(512)), 7, "--length"),
        ] {
            let (done, after) = run(&disks, &request, key);
            let error = done.err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(after == disks);
        }
        // What is not said is as it was.
        let unsaid = with(&|it| (it.sector_len, it.offset, it.len) = (None, None, None));
        let (done, after) = run(&disks, &unsaid, 7);
        done.ok().unwrap();
        assert_eq!(after.image() == SHAPE.plain(0), direction == Direction::Decrypt);
    }
}

/// Whatever is changed in a journal, or meanwhile in the image, nothing is written.
#[test]
fn damaged_files() {
    for direction in DIRECTIONS {
        let disks = interrupted(direction);
        let request = SHAPE.request(direction);
        let refused = |part: Part, change: &dyn Fn(&mut Vec<u8>), reason: &str| {
            let mut disks = disks.clone();
            change(disks.bytes(part));
            let (done, after) = run(&disks, &request, 7);
            let error = done.err().unwrap().to_string();
            assert!(error.contains(reason), "{reason}: {error}");
            assert!(after == disks, "{reason}");
        };
        for i in 0..HEAD_LEN {
            refused(Part::Journal, &|bytes| bytes[i] ^= 1, "");
        }
        refused(Part::Journal, &|bytes| bytes.truncate(HEAD_LEN - 1), "truncated");
        refused(Part::Journal, &|bytes| bytes[0] ^= 1, "not a journal");
        refused(
            Part::Journal,
            &|bytes| bytes[MAGIC.len()] ^= 1,
            "does not begin with VPX-DISK",
        );
        refused(
            Part::Journal,
            &|bytes| bytes[HEAD_LEN - 1] ^= 1,
            "different image",
        );
        refused(
            Part::Journal,
            &|bytes| {
                bytes[SLOT] ^= 4;
                bytes[4096 + 100] ^= 1;
            },
            "progress of the conversion unknown",
        );
        let Shape { offset, len, batch } = SHAPE;
        refused(
            Part::Image,
            &|bytes| bytes.truncate(offset + len - 1),
            "shorter than its header says",
        );
        // The batch that is done, and the one that is being done.
        for place in [offset + batch - 1, offset + 2 * batch - 1] {
            refused(Part::Image, &|bytes| bytes[place] ^= 1, "different image");
        }
        for i in 0..MARKER_LEN {
            refused(Part::Image, &|bytes| bytes[i] ^= 1, "different image");
        }
        refused(
            Part::Header,
            &|bytes| bytes[header::LEN - 1] ^= 1,
            "different image",
        );
    }
}

/// Another file of ours has its name by then, as a hard link that another user made.
#[test]
fn a_journal_is_the_file_that_was_made() {
    let folder = tempfile::TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("image"), vec![0; 4096]).unwrap();
    fs::write(at("precious"), "as it was").unwrap();
    let image = Image::open(&at("image"), Access::Write).ok().unwrap();
    let files = Files::new(image, &at("header")).ok().unwrap();
    files.make_journal(b"head", 4096).ok().unwrap();
    fs::rename(at("header.journal"), at("moved")).unwrap();
    fs::hard_link(at("precious"), at("header.journal")).unwrap();
    files.write(Part::Journal, 4, b"batch").unwrap();
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), "as it was");
    assert_eq!(fs::read_to_string(at("moved")).unwrap(), "headbatch");
    assert!(files.save(Part::Header, &[0; header::LEN], None).is_err());
}
