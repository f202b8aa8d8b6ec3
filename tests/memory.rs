//! How much memory is allocated at a time: what the documentation says, whatever the input claims.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Read, Write};

use veriplex::mhf::Mhf;
use veriplex::{Protocol, aestream, label, oae2};

thread_local! {
    /// Bytes that this thread has allocated, now and at most.
    static ALLOCATED: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

#[allow(clippy::cast_possible_wrap)] // no layout is larger
fn count(more: isize) {
    let (now, most) = ALLOCATED.get();
    ALLOCATED.set((now + more, most.max(now + more)));
}

// SAFETY: the system's allocator does the work; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The most that is allocated at a time while this runs.
fn most(work: impl FnOnce()) -> usize {
    let (before, _) = ALLOCATED.get();
    ALLOCATED.set((before, before));
    work();
    let (after, most) = ALLOCATED.get();
    assert_eq!(after, before, "all of it was freed");
    (most - before).cast_unsigned()
}

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("memory"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

/// Reads until there is no more, or an error.
fn drain(mut reader: impl Read) {
    let mut buffer = [0; 1000];
    while reader.read(&mut buffer).is_ok_and(|n| n > 0) {}
}

#[test]
fn streams_hold_one_block() {
    let message = vec![7; 1 << 20];
    for sealed in [
        aestream::seal_vec(keyed(), &message),
        // Headers that claim anything.
        vec![0xff; 1 << 20],
        (0..=255).cycle().take(1 << 20).collect(),
    ] {
        for start in 0..20 {
            let input = &sealed[start..];
            let held = most(|| drain(aestream::OpenReader::new(keyed(), input)));
            assert!(held <= aestream::MAX_BLOCK_LEN + 200, "{held}");
            let held = most(|| drain(oae2::OpenReader::<_, 1000>::new(keyed(), input)));
            assert!(held <= 1200, "{held}");
        }
    }
    let held = most(|| {
        let mut writer = aestream::SealWriter::new(keyed(), io::sink());
        writer.write_all(&message).unwrap();
        writer.finish().unwrap();
    });
    assert!(held <= aestream::MAX_BLOCK_LEN + 200, "{held}");
    let held = most(|| {
        let mut writer = oae2::SealWriter::<_, 1000>::new(keyed(), io::sink());
        writer.write_all(&message).unwrap();
        writer.finish().unwrap();
    });
    assert!(held <= 1200, "{held}");
}

#[test]
fn memory_hard_hashes_need_what_they_say() {
    for cost in 0..=8 {
        let mhf = Mhf::new(label!("memory"), cost).unwrap();
        let mut output = [0; 32];
        let held = most(|| mhf.hash_into(b"password", b"salt", &mut output).unwrap());
        assert_eq!(held, (5 << 10) << cost);
    }
}
