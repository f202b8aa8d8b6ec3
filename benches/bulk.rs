//! Bulk data: `tree` and `seekable` beside the AES instructions of as many bytes, on one core and on all; and random access to
//! a large file. All in one run, each row the best of many rounds.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use veriplex::hazmat::{LANES, LaneBackend, RATE};
use veriplex::seekable::{Message, SealWriter, SeekReader, Seekable};
use veriplex::tree::Tree;
use veriplex::{Key, label};
use veriplex_benches::{Subject, rounds, throughput_bounds};

const ROUNDS: usize = 400;
/// Rounds of what takes long.
const LONG_ROUNDS: usize = 20;
const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
/// How often the bound does the AES instructions of eight permutations.
const REPETITIONS: usize = 1024;

fn tree() -> Tree {
    Tree::new(label!("bench.tree"))
}

fn message() -> Message {
    Seekable::<24>::new(label!("bench.seekable"), &Key::from([7; 32])).message(&[1; 24], b"")
}

fn digest(len: usize) -> Subject {
    let (tree, data) = (tree(), vec![0x5a; len]);
    Subject::new("tree", move || {
        black_box(tree.digest(black_box(&data)));
    })
}

fn digest_on_all_cores(len: usize) -> Subject {
    let (tree, data) = (tree(), vec![0x5a; len]);
    let mut output = [0; 32];
    Subject::new("tree on all cores", move || {
        tree.digest_into_rayon(black_box(&data), black_box(&mut output));
    })
}

fn sealed(plaintext: &[u8]) -> Vec<u8> {
    message().seal_vec(plaintext)
}

fn seal(len: usize) -> Subject {
    let (message, data) = (message(), vec![0x5a; len]);
    let mut output = sealed(&data);
    Subject::new("seekable seal", move || {
        (message.seal_into(black_box(&data), &mut output)).expect("the length is right");
        black_box(&mut output);
    })
}

/// Each segment is where it is sealed: nothing is copied.
fn seal_in_place(len: usize) -> Subject {
    let sealer = message().sealer(len as u64).expect("short enough");
    let mut slots = sealed(&vec![0x5a; len]);
    Subject::new("seekable seal in place", move || {
        (sealer.seal(0, black_box(&mut slots))).expect("the length is right");
    })
}

fn open(len: usize) -> Subject {
    let (message, mut output) = (message(), vec![0x5a; len]);
    let data = sealed(&output);
    Subject::new("seekable open", move || {
        (message.open_into(black_box(&data), &mut output)).expect("nothing was changed");
        black_box(&mut output);
    })
}

fn seal_on_all_cores(len: usize) -> Subject {
    let (message, data) = (message(), vec![0x5a; len]);
    let mut output = sealed(&data);
    Subject::new("seekable seal on all cores", move || {
        (message.seal_into_rayon(black_box(&data), &mut output)).expect("the length is right");
        black_box(&mut output);
    })
}

/// A file of `len` bytes, sealed, without a name.
fn sealed_file(len: usize) -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("veriplex-bench-{}", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    let mut writer = SealWriter::new(&message(), &file);
    let block = vec![0x5a; MIB];
    for _ in 0..len / MIB {
        writer.write_all(&block)?;
    }
    writer.finish()?;
    file.rewind()?;
    Ok(file)
}

/// Reads 4 KiB at places that no pattern predicts, with seeks.
fn read_at(file: File, len: usize) -> io::Result<Subject> {
    let mut reader = SeekReader::new(&message(), BufReader::new(file))?;
    let mut place = 1u64;
    let mut output = vec![0; 4 * KIB];
    Ok(Subject::new("read_at", move || {
        // Knuth's generator (MMIX).
        place = place
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = (place >> 20) % (len as u64 / 4096) * 4096;
        (reader
            .seek(SeekFrom::Start(at))
            .and_then(|_| reader.read_exact(&mut output)))
        .expect("nothing was changed");
        black_box(&mut output);
    }))
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn main() -> io::Result<()> {
    let mut bound = throughput_bounds(REPETITIONS).into_iter().next();
    let sizes = [4 * KIB, 16 * KIB, 64 * KIB, MIB];
    let mut rows: Vec<(usize, [Subject; 4])> = (sizes
        .iter()
        .map(|&len| (len, [digest(len), seal(len), seal_in_place(len), open(len)])))
    .collect();
    for _ in 0..rounds(ROUNDS) {
        bound.iter_mut().map(|(_, bound)| bound).for_each(Subject::time);
        rows.iter_mut().flat_map(|(_, row)| row).for_each(Subject::time);
    }
    // A permutation takes in a block.
    let bound = bound.map(|(level, bound)| (level, bound.nanoseconds_per(REPETITIONS * LANES * RATE)));
    println!("lanes: {}", LaneBackend::current().name());
    if let Some((level, per_byte)) = bound {
        println!(
            "bound: the AES instructions of {level}: {:.2} GB/s",
            1.0 / per_byte
        );
    }
    println!(
        "\n{:10} {:28} {:>8} {:>10} {:>12}",
        "bytes", "", "GB/s", "of bound", "of 1 MiB's"
    );
    let (_, largest) = &rows[sizes.len() - 1];
    for (len, row) in &rows {
        for (subject, largest) in row.iter().zip(largest) {
            let per_byte = subject.nanoseconds_per(*len);
            println!(
                "{len:<10} {:28} {:8.2} {:10.3} {:12.3}",
                subject.name,
                1.0 / per_byte,
                bound.map_or(f64::NAN, |(_, bound)| bound / per_byte),
                largest.nanoseconds_per(MIB) / per_byte,
            );
        }
    }

    let len = 64 * MIB;
    let mut pairs = [
        [digest(len), digest_on_all_cores(len)],
        [seal(len), seal_on_all_cores(len)],
    ];
    for _ in 0..rounds(LONG_ROUNDS) {
        pairs.as_flattened_mut().iter_mut().for_each(Subject::time);
    }
    let cores = std::thread::available_parallelism()?;
    println!(
        "\n{:10} {:28} {:>8} {:>10}   {cores} cores",
        "bytes", "", "GB/s", "times one"
    );
    for [one, all] in &pairs {
        for subject in [one, all] {
            let per_byte = subject.nanoseconds_per(len);
            println!(
                "{len:<10} {:28} {:8.2} {:10.3}",
                subject.name,
                1.0 / per_byte,
                one.nanoseconds_per(len) / per_byte
            );
        }
    }

    let len = if rounds(2) == 2 { 1024 * MIB } else { MIB };
    let mut random = read_at(sealed_file(len)?, len)?;
    for _ in 0..rounds(ROUNDS) {
        random.time();
    }
    println!(
        "\n4 KiB at random of a file of {} MiB, in the page cache: {:.1} microseconds",
        len / MIB,
        random.nanoseconds_per(1000)
    );
    Ok(())
}
