//! How much memory is allocated at once: as much as the documentation says, whatever the input claims.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use veriplex::mhf::Mhf;
use veriplex::seekable::{Reader, Seekable, StreamReader, Writer};
use veriplex::tree::{Tree, outboard};
use veriplex::{Key, Protocol, aestream, label, oae2};

thread_local! {
    /// The number of bytes that this thread has allocated: now, and at the peak.
    static ALLOCATED: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

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
        // SAFETY: the caller upholds the trait's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
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
            let mut writer = Writer::new(&message, io::sink());
            plaintext
                .chunks(100_000)
                .for_each(|piece| writer.write_all(piece).unwrap());
            writer.finish().unwrap();
        });
        assert!(held <= bound, "{segment_len}: {held}");
        let sealed = message.seal_vec(plaintext);
        let held = most(|| drain(StreamReader::new(&message, sealed.as_slice())));
        assert!(held <= bound, "{segment_len}: {held}");
        // The reader opens the last segment first, by itself, and one more before it opens many at once.
        let held = most(|| {
            let mut reader = Reader::new(&message, Cursor::new(&sealed)).unwrap();
            reader.seek(SeekFrom::Start(5)).unwrap();
            drain(reader);
        });
        assert!(held <= bound, "{segment_len}: {held}");
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
        let mut writer = Writer::new_rayon(&message, io::sink());
        writer.write_all(plaintext).unwrap();
        writer.finish().unwrap();
    };
    // The pool keeps what it allocates on first use, so warm it up. The buffers belong to this thread, which counts.
    hash(&plaintext);
    seal(&plaintext);
    let (before, _) = ALLOCATED.get();
    ALLOCATED.set((before, before));
    hash(&plaintext);
    seal(&plaintext);
    let (_, most) = ALLOCATED.get();
    let held = (most - before).cast_unsigned();
    let bound = (rayon::current_num_threads() << 17).max(130 << 10) + (1 << 16);
    assert!((1 << 17..=bound).contains(&held), "{held}");
}
