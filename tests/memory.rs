//! How much memory is allocated at once: as much as the documentation says, whatever the input claims. And what is in it
//! when it is freed after a failure: no plaintext.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use veriplex::aead::Aead;
#[cfg(feature = "hybrid")]
use veriplex::hybrid::PrivateKey;
use veriplex::mhf::Mhf;
use veriplex::seekable::{OpenReader, SealWriter, SeekReader, Seekable};
use veriplex::siv::Siv;
use veriplex::tree::{Tree, outboard};
use veriplex::{Key, Protocol, aestream, label, oae2};

thread_local! {
    /// The number of bytes that this thread has allocated: now, and at the peak.
    static ALLOCATED: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// Whether this thread looks at what it frees, and how often that had `MARKS` in it.
    static SEARCH: Cell<(bool, usize)> = const { Cell::new((false, 0)) };
    /// The size of memory of which this thread counts how often it is freed, and how often not as zeros.
    static SIZED: Cell<(usize, [usize; 2])> = const { Cell::new((0, [0; 2])) };
}

/// A plaintext that is found where some of it is left.
const MARKS: [u8; 16] = [0xab; 16];

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

#[allow(clippy::cast_possible_wrap)] // no layout exceeds isize::MAX
fn count(more: isize) {
    let (now, most) = ALLOCATED.get();
    ALLOCATED.set((now + more, most.max(now + more)));
}

// SAFETY: the system's allocator does the work; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller upholds the trait's contract. We zero the memory, so that all of it can be read.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        if let (true, found) = SEARCH.get() {
            // SAFETY: the caller frees this memory, so nobody else uses it, and it has been initialised since `alloc`.
            let bytes = unsafe { std::slice::from_raw_parts(at, layout.size()) };
            let has_marks = bytes.windows(MARKS.len()).any(|window| window == MARKS);
            SEARCH.set((true, found + usize::from(has_marks)));
        }
        let (size, [freed, not_wiped]) = SIZED.get();
        if layout.size() == size {
            // SAFETY: as above.
            let bytes = unsafe { std::slice::from_raw_parts(at, size) };
            let is_wiped = bytes.iter().all(|byte| *byte == 0);
            SIZED.set((size, [freed + 1, not_wiped + usize::from(!is_wiped)]));
        }
        // SAFETY: the caller upholds the trait's contract.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The peak allocation while `work` runs.
fn most(work: impl FnOnce()) -> usize {
    let (before, _) = ALLOCATED.get();
    ALLOCATED.set((before, before));
    work();
    let (after, most) = ALLOCATED.get();
    assert_eq!(after, before, "not everything was freed");
    (most - before).cast_unsigned()
}

/// How often memory that `work` frees has the marks in it.
fn freed_with_marks(work: impl FnOnce()) -> usize {
    SEARCH.set((true, 0));
    work();
    SEARCH.replace((false, 0)).1
}

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("memory"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

/// Reads until the end or an error.
fn drain(mut reader: impl Read) {
    let mut buffer = [0; 1000];
    while reader.read(&mut buffer).is_ok_and(|n| n > 0) {}
}

#[test]
fn streams_hold_one_block() {
    let message = vec![7; 1 << 20];
    for sealed in [
        aestream::Sealer::from_protocol(keyed()).seal_vec(&message),
        // Headers that claim anything.
        vec![0xff; 1 << 20],
        (0..=255).cycle().take(1 << 20).collect(),
    ] {
        for start in 0..if common::fewer_cases() { 4 } else { 20 } {
            let input = &sealed[start..];
            let held = most(|| drain(aestream::OpenReader::from_protocol(keyed(), input)));
            assert!(held <= aestream::MAX_BLOCK_LEN + 200, "{held}");
            let held = most(|| drain(oae2::OpenReader::<_, 1000>::from_protocol(keyed(), input)));
            assert!(held <= 1200, "{held}");
        }
    }
    let held = most(|| {
        let mut writer = aestream::SealWriter::from_protocol(keyed(), io::sink());
        writer.write_all(&message).unwrap();
        writer.finish().unwrap();
    });
    assert!(held <= aestream::MAX_BLOCK_LEN + 200, "{held}");
    let held = most(|| {
        let mut writer = oae2::SealWriter::<_, 1000>::from_protocol(keyed(), io::sink());
        writer.write_all(&message).unwrap();
        writer.finish().unwrap();
    });
    assert!(held <= 1200, "{held}");
}

#[test]
fn memory_hard_hashes_use_the_documented_memory() {
    for cost in 0..=8 {
        let mhf = Mhf::with_any_cost(label!("memory"), cost).unwrap();
        let mut output = [0; 32];
        let held = most(|| mhf.hash_into(b"password", b"salt", &mut output).unwrap());
        assert_eq!(held, (5 << 10) << cost);
    }
}

/// However long the message is. (With `new_rayon`, the bound is per thread.)
#[test]
fn segments_use_the_documented_memory() {
    let seekable = Seekable::<24>::new(label!("memory"), &Key::from([7; 32]));
    let plaintext = vec![7; if common::fewer_cases() { 20 << 20 } else { 40 << 20 }];
    for (segment_len, room) in [
        (64, 1 << 17),
        (16384, 1 << 17),
        (1 << 18, 8 << 18),
        (1 << 20, 8 << 20),
        (1 << 22, 8 << 20),
        (1 << 24, 1 << 24),
    ] {
        let message = seekable.clone().with_segment_len(segment_len).unwrap();
        let message = message.message(&[1; 24], b"");
        // Room for the tags, and a little more.
        let bound = room + room / segment_len * 16 + 100;
        // Small segments take longer, so use fewer of them.
        let plaintext = &plaintext[..plaintext.len().min(segment_len << 12)];
        let held = most(|| {
            let mut writer = SealWriter::new(&message, io::sink());
            plaintext
                .chunks(100_000)
                .for_each(|piece| writer.write_all(piece).unwrap());
            writer.finish().unwrap();
        });
        assert!((room..=bound).contains(&held), "{segment_len}: {held}");
        let sealed = message.seal_vec(plaintext);
        let held = most(|| drain(OpenReader::new(&message, sealed.as_slice())));
        assert!((room..=bound).contains(&held), "{segment_len}: {held}");
        // The reader opens the last segment first, by itself, and one more before it opens many at once.
        let held = most(|| {
            let mut reader = SeekReader::new(&message, Cursor::new(&sealed)).unwrap();
            reader.seek(SeekFrom::Start(5)).unwrap();
            drain(reader);
        });
        assert!(held <= bound, "{segment_len}: {held}");
    }
}

/// Only the segments that are needed, or as many of them as are opened at a time.
#[test]
fn read_at_holds_what_it_needs() {
    let seekable = Seekable::<24>::new(label!("memory"), &Key::from([7; 32]));
    let message = seekable.with_segment_len(64).unwrap().message(&[1; 24], b"");
    let sealed = message.seal_vec(&vec![7; 4096 * 64]);
    let mut last = sealed[4095 * 80..].to_vec();
    let opener = message.opener(sealed.len() as u64, &mut last).unwrap();
    let mut output = vec![0; 4096 * 64];
    for (offset, wanted, segments) in [
        (0, 10, 1),
        (64 * 100, 64, 1),
        (64 * 100 + 1, 64, 2),
        (0, 4096 * 64, 2048),
    ] {
        let held = most(|| {
            let n = opener.read_at(offset, &mut output[..wanted], |at, output| {
                let at = usize::try_from(at).unwrap();
                output.copy_from_slice(&sealed[at..][..output.len()]);
                Ok(())
            });
            assert_eq!(n.unwrap(), wanted);
        });
        assert_eq!(held, segments * 80, "{offset} {wanted}");
    }
}

/// Takes everything at any place.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn trees_hold_no_data() {
    let tree = Tree::new(label!("memory"));
    let message = vec![7; 20 << 20];
    let held = most(|| {
        let mut hasher = tree.hasher();
        message.chunks(100_000).for_each(|piece| hasher.update(piece));
        std::hint::black_box(hasher.finalize());
        assert!(size_of_val(&tree.hasher()) <= 1600);
    });
    assert_eq!(held, 0);
    let mut builder = outboard::Builder::new(&tree);
    builder.update(&message);
    let (digest, strings) = builder.finalize();
    // 64 KiB of one level's string, in a vector that grows twofold. It has 160 KiB.
    let held = most(|| {
        let mut writer = outboard::Writer::new(&tree, message.len() as u64, Nowhere).unwrap();
        message
            .chunks(100_000)
            .for_each(|piece| writer.update(piece).unwrap());
        std::hint::black_box(writer.finalize().unwrap());
    });
    assert!((1 << 16..1 << 18).contains(&held), "{held}");
    // One chunk for each of three levels, and one more while it is verified.
    let held = most(|| {
        let [message, strings] = [&message, &strings].map(Cursor::new);
        let length = message.get_ref().len() as u64;
        drain(outboard::Reader::new(&tree, &digest, length, message, strings).unwrap());
    });
    assert!((1..=4 * 4096).contains(&held), "{held}");
}

#[cfg(feature = "rayon")]
#[test]
fn rayon_uses_the_documented_memory() {
    let tree = Tree::new(label!("memory"));
    let message = Seekable::<24>::new(label!("memory"), &Key::from([7; 32])).message(&[1; 24], b"");
    let plaintext = vec![7; if common::fewer_cases() { 20 << 20 } else { 80 << 20 }];
    let hash = |plaintext: &[u8]| {
        let mut hasher = tree.hasher();
        hasher.update_rayon(plaintext);
        std::hint::black_box(hasher.finalize());
    };
    let seal = |plaintext: &[u8]| {
        let mut writer = SealWriter::new_rayon(&message, io::sink());
        writer.write_all(plaintext).unwrap();
        writer.finish().unwrap();
    };
    // Of a level's string, as much as comes at once.
    let write_outboard = |plaintext: &[u8]| {
        let mut writer = outboard::Writer::new(&tree, plaintext.len() as u64, Nowhere).unwrap();
        writer.update_rayon(plaintext).unwrap();
        std::hint::black_box(writer.finalize().unwrap());
    };
    // The pool keeps what it allocates on first use, so warm it up. The buffers belong to this thread, which counts.
    hash(&plaintext);
    seal(&plaintext);
    write_outboard(&plaintext);
    let (before, _) = ALLOCATED.get();
    ALLOCATED.set((before, before));
    hash(&plaintext);
    seal(&plaintext);
    write_outboard(&plaintext);
    let (_, most) = ALLOCATED.get();
    let held = (most - before).cast_unsigned();
    let bound = (rayon::current_num_threads() << 17).max(130 << 10) + (1 << 16);
    assert!((1 << 17..=bound).contains(&held), "{held}");
}

/// With many threads it is as much for each, but at most 64 MiB.
#[cfg(feature = "rayon")]
#[test]
fn many_threads_use_the_documented_memory() {
    let seekable = Seekable::<24>::new(label!("memory"), &Key::from([7; 32]));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    for (segment_len, room) in [(16384, 8 << 17), (1 << 24, 1 << 26)] {
        let message = seekable.clone().with_segment_len(segment_len).unwrap();
        let message = message.message(&[1; 24], b"");
        let bound = room + room / segment_len * 16 + 100;
        let held = pool.install(|| most(|| drop(SealWriter::new_rayon(&message, io::sink()))));
        assert!((room..=bound).contains(&held), "{segment_len}: {held}");
    }
}

/// What was decrypted before a failure is wiped, not only given back: memory that is freed may be read by others.
#[test]
fn no_plaintext_is_left_in_freed_memory() {
    let mut found = Vec::new();
    let plaintext = vec![0xab; 3000];
    assert_eq!(
        freed_with_marks(|| drop(plaintext.clone())),
        1,
        "the search works"
    );
    let key = Key::from([7; 32]);

    let mut sealed = keyed().seal_vec(label!("message"), &plaintext);
    sealed[3000] ^= 1;
    let left = freed_with_marks(|| assert!(keyed().open_vec(label!("message"), &sealed).is_err()));
    found.push(("Protocol", left));

    let aead = Aead::<24>::new(label!("memory"), &key);
    let mut sealed = aead.seal_vec(&[1; 24], b"", &plaintext);
    sealed[3000] ^= 1;
    let left = freed_with_marks(|| assert!(aead.open_vec(&[1; 24], b"", &sealed).is_err()));
    found.push(("aead", left));

    let siv = Siv::new(label!("memory"), &key);
    let mut sealed = siv.seal_vec(b"", b"", &plaintext);
    sealed[0] ^= 1; // with another tag it would decrypt to something else
    let left = freed_with_marks(|| assert!(siv.open_vec(b"", b"", &sealed).is_err()));
    found.push(("siv", left));

    // Streams that were cut: their blocks were right.
    let sealed = aestream::Sealer::from_protocol(keyed()).seal_vec(&plaintext);
    let cut = &sealed[..sealed.len() - 1];
    let left = freed_with_marks(|| assert!(aestream::Opener::from_protocol(keyed()).open_vec(cut).is_err()));
    found.push(("aestream", left));
    let sealed = oae2::Sealer::<1000>::from_protocol(keyed()).seal_vec(&plaintext);
    let cut = &sealed[..sealed.len() - 1];
    let left = freed_with_marks(|| {
        assert!(
            oae2::Opener::<1000>::from_protocol(keyed())
                .open_vec(cut)
                .is_err()
        );
    });
    found.push(("oae2", left));

    let message = Seekable::<24>::new(label!("memory"), &key)
        .with_segment_len(1000)
        .unwrap()
        .message(&[1; 24], b"");
    let whole = message.seal_vec(&plaintext);
    let mut sealed = whole.clone();
    *sealed.last_mut().unwrap() ^= 1;
    let left = freed_with_marks(|| assert!(message.open_vec(&sealed).is_err()));
    found.push(("seekable", left));
    let left = freed_with_marks(|| {
        // A reader that is dropped before it has given out all that it opened.
        let mut reader = OpenReader::new(&message, &*whole);
        reader.read_exact(&mut [0; 10]).unwrap();
    });
    found.push(("seekable::OpenReader", left));

    // A writer with as much in a block as there may be, and with as much before the end: its buffer must not move.
    let plaintext = vec![0xab; aestream::MAX_BLOCK_LEN];
    for len in [plaintext.len(), plaintext.len() - 1] {
        let left = freed_with_marks(|| {
            let mut writer = aestream::SealWriter::from_protocol(keyed(), io::sink());
            writer.write_all(&plaintext[..len]).unwrap();
            writer.finish().unwrap();
        });
        found.push(("aestream::SealWriter", left));
    }
    found.retain(|(_, left)| *left != 0);
    assert!(found.is_empty(), "{found:?}");
}

/// Every byte of it: what is left of a private key may be little.
#[cfg(feature = "hybrid")]
#[test]
fn a_decapsulation_key_is_wiped_to_its_first_byte() {
    let count = |work: &dyn Fn()| {
        SIZED.set((2400, [0; 2]));
        work();
        SIZED.replace((0, [0; 2])).1
    };
    let mut not_wiped = vec![0_u8; 2400];
    not_wiped[0] = 1;
    assert_eq!(count(&|| drop(not_wiped.clone())), [1, 1], "the search works");
    for byte in 1..4 {
        let generate = || PrivateKey::generate(&mut common::Recorded::new([byte; 128])).unwrap();
        assert_eq!(count(&|| drop(generate())), [1, 0]);
    }
}
