//! `tree` beside the crate blake3, and `seekable` beside ChaCha20-Poly1305 of AWS-LC, on one core: all in one run and in turns,
//! each the best of many rounds.

use std::hint::black_box;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use veriplex::hazmat::{LANES, RATE};
use veriplex::seekable::{Message, Seekable};
use veriplex::tree::Tree;
use veriplex::{Key, label};
use veriplex_benches::{Subject, rounds, throughput_bounds};

const ROUNDS: usize = 400;
const SIZES: [usize; 3] = [1 << 14, 1 << 16, 1 << 20];
/// How often the bound does the AES instructions of eight permutations.
const REPETITIONS: usize = 1024;

fn tree(len: usize) -> Subject {
    let (tree, data) = (Tree::new(label!("bench.tree")), vec![0x5a; len]);
    Subject::new("tree", move || {
        black_box(tree.digest(black_box(&data)));
    })
}

fn blake3(len: usize) -> Subject {
    let data = vec![0x5a; len];
    Subject::new("blake3", move || {
        black_box(blake3::hash(black_box(&data)));
    })
}

fn message() -> Message {
    Seekable::<24>::new(label!("bench.seekable"), &Key::from([7; 32])).message(&[1; 24], b"")
}

fn seal(len: usize) -> Subject {
    let (message, data) = (message(), vec![0x5a; len]);
    let mut output = message.seal_vec(&data);
    Subject::new("seekable seal", move || {
        (message.seal_into(black_box(&data), &mut output)).expect("the length is right");
        black_box(&mut output);
    })
}

/// Each segment is where it is sealed: nothing is copied.
fn seal_in_place(len: usize) -> Subject {
    let sealer = message().sealer(len as u64).expect("short enough");
    let mut slots = message().seal_vec(&vec![0x5a; len]);
    Subject::new("seekable seal in place", move || {
        (sealer.seal(0, black_box(&mut slots))).expect("the length is right");
    })
}

fn open(len: usize) -> Subject {
    let (message, mut output) = (message(), vec![0x5a; len]);
    let data = message.seal_vec(&output);
    Subject::new("seekable open", move || {
        (message.open_into(black_box(&data), &mut output)).expect("nothing was changed");
        black_box(&mut output);
    })
}

fn chacha() -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &[7; 32]).expect("a key has 32 bytes"))
}

/// The same in every run; nothing here is secret.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([1; 12])
}

fn chacha_seal(len: usize) -> Subject {
    let (key, data) = (chacha(), vec![0x5a; len]);
    let (mut output, mut tag) = (vec![0; len], [0; 16]);
    Subject::new("ChaCha20-Poly1305 seal", move || {
        let data = black_box(&data);
        key.seal_out_of_place_scatter(nonce(), Aad::empty(), data, &mut output, &[], &mut tag)
            .expect("the lengths are right");
        black_box((&mut output, &mut tag));
    })
}

fn chacha_seal_in_place(len: usize) -> Subject {
    let (key, mut data) = (chacha(), vec![0x5a; len]);
    Subject::new("ChaCha20-Poly1305 in place", move || {
        let tag = key.seal_in_place_separate_tag(nonce(), Aad::empty(), black_box(&mut data));
        let _ = black_box(tag.expect("short enough"));
    })
}

fn chacha_open(len: usize) -> Subject {
    let (key, mut output) = (chacha(), vec![0x5a; len]);
    let mut data = output.clone();
    let tag = (key.seal_in_place_separate_tag(nonce(), Aad::empty(), &mut data)).expect("short enough");
    Subject::new("ChaCha20-Poly1305 open", move || {
        let data = black_box(&data);
        key.open_separate_gather(nonce(), Aad::empty(), data, tag.as_ref(), &mut output)
            .expect("nothing was changed");
        black_box(&mut output);
    })
}

fn main() {
    let mut bound = throughput_bounds(REPETITIONS).into_iter().next();
    let mut rows = SIZES.map(|len| {
        let pairs = [
            [tree(len), blake3(len)],
            [seal(len), chacha_seal(len)],
            [seal_in_place(len), chacha_seal_in_place(len)],
            [open(len), chacha_open(len)],
        ];
        (len, pairs)
    });
    for _ in 0..rounds(ROUNDS) {
        bound.iter_mut().map(|(_, bound)| bound).for_each(Subject::time);
        (rows.iter_mut().flat_map(|(_, pairs)| pairs.as_flattened_mut())).for_each(Subject::time);
    }
    let bound = bound.map(|(level, bound)| (level, 1.0 / bound.nanoseconds_per(REPETITIONS * LANES * RATE)));
    if let Some((level, speed)) = bound {
        println!("bound: the AES instructions of {level}: {speed:.2} GB/s\n");
    }
    println!(
        "{:10} {:26} {:>8} {:>10} {:>12}",
        "bytes", "", "GB/s", "of bound", "times peer"
    );
    for (len, pairs) in &rows {
        for [own, peer] in pairs {
            let [own_speed, peer_speed] = [own, peer].map(|subject| 1.0 / subject.nanoseconds_per(*len));
            println!(
                "{len:<10} {:26} {own_speed:8.2} {:10.3} {:12.3}",
                own.name,
                bound.map_or(f64::NAN, |(_, bound)| own_speed / bound),
                own_speed / peer_speed,
            );
            println!("{len:<10} {:26} {peer_speed:8.2}", peer.name);
        }
    }
}
