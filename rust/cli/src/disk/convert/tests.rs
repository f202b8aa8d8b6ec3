//! Tests of the conversion: it is stopped at every write, and resumed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use veriplex::Key;

use super::*;

/// Files on a disk that loses power: after so many operations, some of what was written since the last `sync` is there,
/// in pieces of 512 bytes, and some is not.
struct Crashing {
    files: RefCell<BTreeMap<Part, Written>>,
    /// How many operations are left that change something.
    left: Cell<usize>,
    random: Cell<u64>,
    /// What was broken on purpose.
    flaw: Flaw,
}

/// What a storage does that it must not, to see that the test notices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// `sync` of this part does nothing.
    NoSync(Part),
}

#[derive(Clone, Default)]
struct Written {
    on_disk: Vec<u8>,
    /// Where, and what.
    since: Vec<(usize, Vec<u8>)>,
}

fn put(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    if bytes.len() < at + more.len() {
        bytes.resize(at + more.len(), 0);
    }
    bytes[at..at + more.len()].copy_from_slice(more);
}

impl Written {
    fn seen(&self) -> Vec<u8> {
        let mut seen = self.on_disk.clone();
        self.since
            .iter()
            .for_each(|(at, bytes)| put(&mut seen, *at, bytes));
        seen
    }
}

impl Crashing {
    fn new(image: &[u8], seed: u64) -> Self {
        let image = Written {
            on_disk: image.to_vec(),
            since: Vec::new(),
        };
        Self {
            files: RefCell::new(BTreeMap::from([(Part::Image, image)])),
            left: Cell::new(usize::MAX),
            random: Cell::new(seed),
            flaw: Flaw::None,
        }
    }

    fn random(&self) -> bool {
        // The constants of Knuth's MMIX.
        let next = self
            .random
            .get()
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random.set(next);
        next >> 40 & 1 == 1
    }

    /// Counts an operation. When the power goes, it may have been done or not.
    fn step(&self) -> Step {
        match self.left.get() {
            0 => Step::Nothing,
            1 => {
                self.left.set(0);
                if self.random() { Step::Last } else { Step::Nothing }
            }
            left => {
                self.left.set(left - 1);
                Step::Done
            }
        }
    }

    /// The power comes again.
    fn restart(&self, left: usize) {
        for file in self.files.borrow_mut().values_mut() {
            for (at, bytes) in std::mem::take(&mut file.since) {
                for (i, piece) in bytes.chunks(512).enumerate() {
                    if self.random() {
                        put(&mut file.on_disk, at + 512 * i, piece);
                    }
                }
            }
        }
        self.left.set(left);
    }

    fn bytes(&self, part: Part) -> Option<Vec<u8>> {
        self.files.borrow().get(&part).map(Written::seen)
    }
}

enum Step {
    Nothing,
    Last,
    Done,
}

impl Step {
    fn result(&self) -> io::Result<()> {
        match self {
            Self::Done => Ok(()),
            Self::Nothing | Self::Last => Err(io::Error::other("no power")),
        }
    }
}

impl Storage for Crashing {
    fn name(&self, part: Part) -> String {
        format!("{part:?}")
    }

    fn read(&self, part: Part, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(at).unwrap();
        let bytes = self.bytes(part).unwrap_or_default();
        let rest = bytes.get(at..).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn write(&self, part: Part, at: u64, bytes: &[u8]) -> io::Result<()> {
        let step = self.step();
        if !matches!(step, Step::Nothing) {
            let at = usize::try_from(at).unwrap();
            let mut files = self.files.borrow_mut();
            files.get_mut(&part).unwrap().since.push((at, bytes.to_vec()));
        }
        step.result()
    }

    fn sync(&self, part: Part) -> io::Result<()> {
        let step = self.step();
        if matches!(step, Step::Done) && self.flaw != Flaw::NoSync(part) {
            let mut files = self.files.borrow_mut();
            let file = files.get_mut(&part).unwrap();
            file.on_disk = file.seen();
            file.since.clear();
        }
        step.result()
    }

    fn create(&self, part: Part, bytes: &[u8]) -> Result<(), Error> {
        let step = self.step();
        if !matches!(step, Step::Nothing) {
            let new = Written {
                on_disk: bytes.to_vec(),
                since: Vec::new(),
            };
            assert!(
                self.files.borrow_mut().insert(part, new).is_none(),
                "{part:?} is there"
            );
        }
        step.result().map_err(|error| Error::io(&self.name(part), error))
    }

    fn remove(&self, part: Part) -> io::Result<()> {
        let step = self.step();
        if !matches!(step, Step::Nothing) {
            self.files.borrow_mut().remove(&part);
        }
        step.result()
    }
}

const BATCH: usize = *SECTOR_LENS.end();
const SECTOR_LEN: usize = 512;
/// What is encrypted, and what is before and behind.
const OFFSET: usize = 700;
const LEN: usize = 4 * BATCH + 3 * SECTOR_LEN;
const BEHIND: usize = 33;

fn secret(key: u8) -> Secret {
    Secret::Key(Key::from([key; 32]))
}

fn request(direction: Direction) -> Request {
    Request {
        direction,
        sector_len: Some(SECTOR_LEN),
        offset: Some(OFFSET as u64),
        len: Some(LEN as u64),
        cost: 0,
        max_cost: 0,
        batch: BATCH,
    }
}

fn convert(storage: &Crashing, request: &Request, key: u8) -> Result<(), Error> {
    in_place(
        storage,
        |sector_len, offset, len| Ok(Geometry::new(sector_len, offset, len.unwrap()).unwrap()),
        request,
        |_| Ok(secret(key)),
        false,
    )
}

fn plain() -> Vec<u8> {
    (0..OFFSET + LEN + BEHIND)
        .map(|i| (i / 3).to_le_bytes()[0] ^ (i >> 9).to_le_bytes()[0])
        .collect()
}

/// What an image becomes under its header.
fn converted(header: &[u8], image: &[u8], direction: Direction) -> Vec<u8> {
    let header = Header::parse(header.try_into().unwrap()).unwrap();
    let disk = header.unlock("it", &secret(7), 0).ok().unwrap();
    let mut image = image.to_vec();
    disk.apply(direction, 0, &mut image[OFFSET..OFFSET + LEN])
        .unwrap();
    image
}

fn encrypted() -> Crashing {
    let storage = Crashing::new(&plain(), 1);
    convert(&storage, &request(Direction::Encrypt), 7).ok().unwrap();
    storage
}

#[test]
fn there_and_back() {
    let storage = encrypted();
    assert!(storage.bytes(Part::Journal).is_none());
    let header = storage.bytes(Part::Header).unwrap();
    let image = storage.bytes(Part::Image).unwrap();
    assert!(image == converted(&header, &plain(), Direction::Encrypt));
    assert!(image[..OFFSET] == plain()[..OFFSET] && image[OFFSET + LEN..] == plain()[OFFSET + LEN..]);
    // Once is enough, and only with the key.
    let error = convert(&storage, &request(Direction::Encrypt), 7).err().unwrap();
    assert!(error.to_string().contains("exists already"), "{error}");
    let error = convert(&storage, &request(Direction::Decrypt), 8).err().unwrap();
    assert!(error.to_string().contains("wrong key"), "{error}");
    assert!(storage.bytes(Part::Image).unwrap() == image);
    convert(&storage, &request(Direction::Decrypt), 7).ok().unwrap();
    assert!(storage.bytes(Part::Image).unwrap() == plain());
    assert!(storage.bytes(Part::Journal).is_none() && storage.bytes(Part::Header).is_none());
}

/// The power goes at each operation, and goes again after a few more; the same command then finishes the work. Returns
/// whether it always did, and at how many operations the power went.
fn crashes(direction: Direction, flaw: Flaw) -> (bool, usize) {
    let begin = match direction {
        Direction::Encrypt => None,
        Direction::Decrypt => Some(encrypted()),
    };
    let request = request(direction);
    let mut is_right = true;
    for left in 1.. {
        let mut is_through = false;
        for seed in 0..5 {
            let mut storage = Crashing::new(&plain(), 1000 * seed + left as u64);
            if let Some(begin) = &begin {
                storage.files = RefCell::new(begin.files.borrow().clone());
            }
            storage.flaw = flaw;
            let before = storage.bytes(Part::Image).unwrap();
            let mut header = storage.bytes(Part::Header);
            let mut run = |left: usize| {
                storage.restart(left);
                let done = convert(&storage, &request, 7);
                header = storage.bytes(Part::Header).or(header.take());
                done
            };
            if run(left).is_ok() {
                is_through = true;
                break;
            }
            // After that again, soon or late.
            let _ = run(1 + usize::try_from(seed).unwrap() * 2);
            if run(usize::MAX).is_err() && storage.bytes(Part::Journal).is_some() {
                is_right = false;
                continue;
            }
            // The last try also says that there is nothing left to do.
            storage.restart(usize::MAX);
            let expected = converted(&header.unwrap(), &before, direction);
            is_right &= storage.bytes(Part::Image).unwrap() == expected;
            is_right &= storage.bytes(Part::Journal).is_none();
            is_right &= storage.bytes(Part::Header).is_some() == (direction == Direction::Encrypt);
        }
        if is_through {
            return (is_right, left - 1);
        }
    }
    unreachable!("it ends");
}

#[test]
fn the_power_goes_at_every_operation() {
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let (is_right, operations) = crashes(direction, Flaw::None);
        // Five batches: each is written and synchronised twice.
        assert!(is_right && operations >= 5 * 4 + 2, "{direction:?}: {operations}");
        for part in [Part::Image, Part::Journal] {
            let (is_right, _) = crashes(direction, Flaw::NoSync(part));
            assert!(!is_right, "{direction:?}: nobody needs the {part:?} on the disk");
        }
    }
}

/// The work has begun: three batches are done.
fn interrupted(direction: Direction) -> Crashing {
    let storage = match direction {
        Direction::Encrypt => Crashing::new(&plain(), 1),
        Direction::Decrypt => encrypted(),
    };
    storage.left.set(15);
    assert!(convert(&storage, &request(direction), 7).is_err());
    storage.restart(usize::MAX);
    storage
}

/// Neither goes the other way, nor with another key, nor with what was not said before.
#[test]
fn work_goes_on_as_it_began() {
    for (direction, other) in [
        (Direction::Encrypt, Direction::Decrypt),
        (Direction::Decrypt, Direction::Encrypt),
    ] {
        let storage = interrupted(direction);
        let files = storage.files.borrow().clone();
        let as_begun = request(direction);
        let with = |change: &dyn Fn(&mut Request)| {
            let mut request = as_begun;
            change(&mut request);
            request
        };
        for (request, key, reason) in [
            (request(other), 7, "must be finished first"),
            (as_begun, 8, "wrong key"),
            (
                with(&|it| it.sector_len = Some(1024)),
                7,
                "began with --sector-size 512",
            ),
            (with(&|it| it.offset = Some(0)), 7, "--offset 700"),
            (with(&|it| it.len = Some(512)), 7, "--length"),
        ] {
            let error = convert(&storage, &request, key).err().unwrap();
            assert!(error.to_string().contains(reason), "{error}");
        }
        for (part, file) in files {
            assert!(storage.bytes(part).unwrap() == file.seen(), "{part:?}");
        }
        // What is not said is as it was.
        let unsaid = with(&|it| (it.sector_len, it.offset, it.len) = (None, None, None));
        convert(&storage, &unsaid, 7).ok().unwrap();
        let is_plain = storage.bytes(Part::Image).unwrap() == plain();
        assert_eq!(is_plain, direction == Direction::Decrypt);
    }
}

/// Whatever is changed in a journal, nothing is written that its owner did not write.
#[test]
fn damaged_journals() {
    let refused = |change: &dyn Fn(&Crashing), reason: &str| {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let storage = interrupted(direction);
            change(&storage);
            let image = storage.bytes(Part::Image).unwrap();
            let error = convert(&storage, &request(direction), 7).err().unwrap();
            assert!(error.to_string().contains(reason), "{reason}: {error}");
            assert!(storage.bytes(Part::Image).unwrap() == image, "{reason}");
        }
    };
    let journal = |change: &'static dyn Fn(&mut Vec<u8>)| {
        move |storage: &Crashing| {
            let mut files = storage.files.borrow_mut();
            change(&mut files.get_mut(&Part::Journal).unwrap().on_disk);
        }
    };
    let slot = (BEFORE_CIPHERTEXT + BATCH).next_multiple_of(4096);
    assert_eq!(slot, 69632);
    refused(&journal(&|bytes| bytes.truncate(HEAD_LEN - 1)), "cut short");
    refused(&journal(&|bytes| bytes[0] ^= 1), "not a journal");
    refused(&journal(&|bytes| bytes[MAGIC.len()] = 3), "damaged");
    refused(
        &journal(&|bytes| bytes[MAGIC.len()] ^= 3),
        "must be finished first",
    );
    refused(
        &journal(&|bytes| bytes[MAGIC.len() + 1..][..4].fill(0)),
        "damaged",
    );
    refused(
        &journal(&|bytes| bytes[MAGIC.len() + 1..][..4].fill(255)),
        "damaged",
    );
    refused(&journal(&|bytes| bytes[MAGIC.len() + 3] = 2), "damaged");
    refused(
        &journal(&|bytes| bytes[BEFORE_HEADER] ^= 1),
        "does not begin with VPX-DISK",
    );
    refused(&journal(&|bytes| bytes[BEFORE_TAG - 1] ^= 1), "of another image");
    refused(&journal(&|bytes| bytes[HEAD_LEN - 1] ^= 1), "damaged");
    refused(
        &journal(&|bytes| {
            bytes[4096] ^= 4;
            bytes[4096 + 69632 + 100] ^= 1;
        }),
        "how far the work was",
    );
    refused(
        &|storage| {
            let mut files = storage.files.borrow_mut();
            files
                .get_mut(&Part::Image)
                .unwrap()
                .on_disk
                .truncate(OFFSET + LEN - 1);
        },
        "shorter than its header says",
    );
}
