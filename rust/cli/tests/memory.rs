//! How much memory is allocated at a time: it does not depend on the file.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

use veriplex::{Key, label};
use veriplex_cli::tree_hash::{self, Room};
use veriplex_cli::{encrypted, outboards};
use veriplex_disk::convert::{self, BATCH, Files, Request};
use veriplex_disk::image::{Access, Image};
use veriplex_disk::{Direction, copy};
use veriplex_files::crypt::{Job, Kind, Make, Range, Secret};
use veriplex_files::files::Input;

/// Bytes that all threads have allocated: now, at most, and in all.
static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);
static ALL: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(more: isize) {
    let now = NOW.fetch_add(more, Relaxed) + more;
    MOST.fetch_max(now, Relaxed);
    ALL.fetch_add(more.max(0), Relaxed);
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

/// The most that is allocated at a time while this runs, in KiB.
fn most(work: impl FnOnce()) -> isize {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    work();
    (MOST.load(Relaxed) - before) / 1024
}

fn write_noise(path: &Path, len: usize) {
    let mut file = File::create(path).unwrap();
    let mut protocol = veriplex::Protocol::new(label!("veriplex.test"));
    let noise = protocol.derive_vec(label!("noise"), 1 << 20);
    for _ in 0..len >> 20 {
        file.write_all(&noise).unwrap();
    }
}

/// One test, so that nothing else allocates meanwhile.
#[test]
#[allow(clippy::too_many_lines)] // one case after the other
fn memory_does_not_grow_with_files() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build_global()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let tree = tree_hash::tree(None);
    let secret = Secret::Key(Key::from([7; 32]));
    let sum = |path: &Path, digest: &mut [u8]| {
        let input = Input::open(path, false).ok().unwrap();
        tree_hash::sum(&tree, input, &mut Room::default(), digest)
            .ok()
            .unwrap();
    };
    let used = |len: usize| {
        write_noise(&place("plain"), len);
        let job = |input: &'static str, output: &'static str| {
            let (input, output) = (place(input), place(output));
            move |decrypt: bool, secret: &Secret| {
                let job = Job {
                    input: &input,
                    output: Some(&output),
                    force: true,
                    armor: false,
                    show_progress: false,
                };
                let done = if decrypt {
                    let (input, output) = job.open(Make::Plaintext(Kind::Encrypted)).ok().unwrap();
                    encrypted::decrypt(input, output, secret, 0, Range::default())
                } else {
                    let (input, output) = job.open(Make::Ciphertext(Kind::Encrypted)).ok().unwrap();
                    encrypted::encrypt(input, output, secret, 0)
                };
                done.ok().unwrap();
            }
        };
        let mut digest = [0; 32];
        let used = [
            most(|| {
                sum(&place("plain"), &mut digest);
            }),
            most(|| {
                let written = outboards::write(&tree, &place("plain"), &place("outboard"), true, false);
                assert_eq!(written.ok().unwrap().to_bytes(), digest);
            }),
            most(|| job("plain", "sealed")(false, &secret)),
            most(|| job("sealed", "opened")(true, &secret)),
            most(|| {
                let (input, output) = (place("plain"), place("disk"));
                let job = Job {
                    input: &input,
                    output: Some(&output),
                    force: true,
                    armor: false,
                    show_progress: false,
                };
                let secret = || Ok(Secret::Key(Key::from([7; 32])));
                let plan = copy::Plan {
                    sector_len: 512,
                    offset: 0,
                    len: None,
                    cost: 0,
                    is_checked: true,
                };
                copy::encrypt(&job, None, &secret, &plan).ok().unwrap();
            }),
            most(|| {
                let image = Image::open(&place("disk"), Access::Write).ok().unwrap();
                let files = Files::new(image, &place("disk.vphead")).ok().unwrap();
                let request = Request {
                    direction: Direction::Decrypt,
                    sector_len: None,
                    offset: None,
                    len: None,
                    cost: 0,
                    max_cost: 0,
                    is_checked: true,
                    batch: BATCH,
                };
                let secret = Secret::Key(Key::from([7; 32]));
                convert::in_place(&files, |_, _, _| unreachable!(), &request, |_| Ok(secret), false)
                    .ok()
                    .unwrap();
                fs::remove_file(place("disk.vphead.old")).unwrap();
            }),
        ];
        assert!(fs::read(place("disk")).unwrap() == fs::read(place("plain")).unwrap());
        assert!(fs::read(place("opened")).unwrap() == fs::read(place("plain")).unwrap());
        used
    };
    used(8 << 20); // what is allocated once
    let small = used(8 << 20);
    let large = used(48 << 20);
    println!("{small:?} {large:?} KiB");
    for (small, large) in small.into_iter().zip(large) {
        // A megabyte for what depends on when the threads run.
        assert!(
            large < small + 1024 && large < 12 << 10,
            "{small} KiB, then {large} KiB"
        );
    }
    // Of many small files, each takes next to nothing.
    let mut room = Room::default();
    File::create(place("small")).unwrap().write_all(b"small").unwrap();
    let mut sum_small = || {
        let input = Input::open(&place("small"), false).ok().unwrap();
        tree_hash::sum(&tree, input, &mut room, &mut [0; 32])
            .ok()
            .unwrap();
    };
    sum_small();
    let before = ALL.load(Relaxed);
    (0..100).for_each(|_| sum_small());
    let each = (ALL.load(Relaxed) - before) / 100;
    assert!(each < 4 << 10, "{each} bytes");
    // 1 TiB of zeros that are not stored.
    if cfg!(target_os = "linux") {
        File::create(place("sparse")).unwrap().set_len(1 << 40).unwrap();
        let mut digest = [0; 32];
        let used = most(|| {
            sum(&place("sparse"), &mut digest);
        });
        assert!(used < 12 << 10, "{used} KiB");
    }
}
