//! Eight states at once: each operation beside the time of its AES instructions alone, bound by throughput, and many
//! messages at once beside one by one. All in one run, each row the best of many rounds.

use std::hint::black_box;

use veriplex::aead::{Aead, Message};
use veriplex::hazmat::{LANES, LaneBackend, RATE, States, set_hardware_enabled, set_lane_backend};
use veriplex::kdf::Kdf;
use veriplex::{Key, digest, label};
use veriplex_benches::{Subject, rounds, throughput_bounds};

const BLOCKS: usize = 64;
const MESSAGES: usize = 1024;
const ROUNDS: usize = 300;

/// The operations of a backend.
fn operations(backend: LaneBackend) -> Vec<Subject> {
    fn blocks() -> Vec<Vec<[u8; RATE]>> {
        vec![vec![[0x5a; RATE]; BLOCKS]; LANES]
    }
    fn slices(blocks: &mut [Vec<[u8; RATE]>]) -> [&mut [[u8; RATE]]; LANES] {
        let mut blocks = blocks.iter_mut();
        std::array::from_fn(|_| blocks.next().map_or(&mut [][..], Vec::as_mut_slice))
    }
    type Transform = fn(LaneBackend, &mut States, &mut [&mut [[u8; RATE]]; LANES]);
    type Apart = fn(LaneBackend, &mut States, &[&[[u8; RATE]]; LANES], &mut [&mut [[u8; RATE]]; LANES]);
    // Two sets of states in turn: what one call stores, the next does not load.
    let mut states = [States::new(), States::new()];
    let mut subjects = vec![Subject::new("permute", move || {
        (0..BLOCKS).for_each(|i| backend.permute(black_box(&mut states[i % 2])));
    })];
    let mut states = States::new();
    let input = blocks();
    subjects.push(Subject::new("absorb_blocks", move || {
        let input = std::array::from_fn(|lane| input[lane].as_slice());
        backend.absorb_blocks(&mut states, black_box(&input));
    }));
    let transforms: [(&str, Transform); 3] = [
        ("encrypt_blocks", LaneBackend::encrypt_blocks),
        ("decrypt_blocks", LaneBackend::decrypt_blocks),
        ("squeeze_blocks", LaneBackend::squeeze_blocks),
    ];
    for (name, transform) in transforms {
        let (mut states, mut blocks) = (States::new(), blocks());
        subjects.push(Subject::new(name, move || {
            transform(backend, &mut states, black_box(&mut slices(&mut blocks)));
        }));
    }
    let apart: [(&str, Apart); 2] = [
        ("encrypt_blocks_into", LaneBackend::encrypt_blocks_into),
        ("decrypt_blocks_into", LaneBackend::decrypt_blocks_into),
    ];
    for (name, transform) in apart {
        let (mut states, input, mut output) = (States::new(), blocks(), blocks());
        subjects.push(Subject::new(name, move || {
            let input = std::array::from_fn(|lane| input[lane].as_slice());
            transform(backend, &mut states, black_box(&input), &mut slices(&mut output));
        }));
    }
    subjects
}

/// Many messages of one length, at once and one by one. Opening begins with a copy of the ciphertexts, both ways.
fn many(len: usize) -> [(String, [Subject; 2]); 4] {
    let kdf = Kdf::extract(label!("bench.kdf"), b"", &[7; 32]);
    let aead = Aead::<16>::new(label!("bench.aead"), &[7; 32].into());
    let messages = vec![vec![0x5a; len]; MESSAGES];
    let mut digests = vec![[0; 32]; MESSAGES];
    let serial = {
        let (messages, mut digests) = (messages.clone(), digests.clone());
        Subject::new("serial", move || {
            for (message, digest) in black_box(&messages).iter().zip(&mut digests) {
                *digest = digest::digest(label!("bench.hash"), message).to_bytes();
            }
        })
    };
    let mut keys = vec![Key::from([0; 32]); MESSAGES];
    let serial_keys = {
        let (kdf, messages, mut keys) = (kdf.clone(), messages.clone(), keys.clone());
        Subject::new("serial", move || {
            for (message, key) in black_box(&messages).iter().zip(&mut keys) {
                *key = kdf.expand(message);
            }
        })
    };
    let keys_at_once = {
        let messages = messages.clone();
        Subject::new("at once", move || {
            kdf.expand_many(black_box(&messages), &mut keys).unwrap();
        })
    };
    let at_once = Subject::new("at once", move || {
        digest::digest_many(label!("bench.hash"), black_box(&messages), &mut digests).unwrap();
    });
    let mut buffers = vec![vec![0x5a; len + 16]; MESSAGES];
    let serial_seal = {
        let (aead, mut buffers) = (aead.clone(), buffers.clone());
        Subject::new("serial", move || {
            for buffer in &mut buffers {
                aead.seal_in_place(&[1; 16], b"", black_box(buffer)).unwrap();
            }
        })
    };
    let mut sealed = buffers.clone();
    for buffer in &mut sealed {
        aead.seal_in_place(&[1; 16], b"", buffer).unwrap();
    }
    let serial_open = {
        let (aead, sealed, mut buffers) = (aead.clone(), sealed.clone(), buffers.clone());
        Subject::new("serial", move || {
            for (buffer, sealed) in buffers.iter_mut().zip(&sealed) {
                buffer.copy_from_slice(black_box(sealed));
                aead.open_in_place(&[1; 16], b"", buffer).unwrap();
            }
        })
    };
    let open_at_once = {
        let (aead, mut buffers) = (aead.clone(), buffers.clone());
        Subject::new("at once", move || {
            let mut messages: Vec<_> = (buffers.iter_mut().zip(&sealed))
                .map(|(buffer, sealed)| {
                    buffer.copy_from_slice(black_box(sealed));
                    Message {
                        nonce: &[1; 16],
                        ad: b"",
                        in_out: buffer,
                    }
                })
                .collect();
            aead.open_many(&mut messages, |_, opened| {
                opened.unwrap();
            });
        })
    };
    let seal_at_once = Subject::new("at once", move || {
        let in_outs = buffers.iter_mut();
        let mut messages: Vec<_> = (in_outs.map(|in_out| Message {
            nonce: &[1; 16],
            ad: b"",
            in_out,
        }))
        .collect();
        aead.seal_many(black_box(&mut messages)).unwrap();
    });
    [
        (
            format!("digest_many of {MESSAGES} messages of {len} bytes"),
            [serial, at_once],
        ),
        (
            format!("expand_many of {MESSAGES} contexts of {len} bytes"),
            [serial_keys, keys_at_once],
        ),
        (
            format!("seal_many of {MESSAGES} messages of {len} bytes"),
            [serial_seal, seal_at_once],
        ),
        (
            format!("open_many of {MESSAGES} messages of {len} bytes"),
            [serial_open, open_at_once],
        ),
    ]
}

fn main() {
    let rounds = rounds(ROUNDS);
    let mut bounds = throughput_bounds(BLOCKS);
    let mut backends: Vec<(LaneBackend, Vec<Subject>)> = (LaneBackend::available())
        .filter(|backend| backend.name() != LaneBackend::PORTABLE.name())
        .map(|backend| (backend, operations(backend)))
        .collect();
    for _ in 0..rounds {
        let all = backends.iter_mut().flat_map(|(_, subjects)| subjects);
        bounds
            .iter_mut()
            .map(|(_, bound)| bound)
            .chain(all)
            .for_each(Subject::time);
    }
    println!(
        "{:16} {:34} {:>10} {:>9}",
        "", "per state and block", "ns", "/ bound"
    );
    for (backend, subjects) in &backends {
        let bound = bounds
            .iter()
            .find(|(level, _)| *level == backend.name())
            .map(|(_, bound)| bound);
        for subject in bound.into_iter().chain(subjects) {
            let ns = subject.nanoseconds_per(BLOCKS * LANES);
            let ratio = bound.map_or(f64::NAN, |bound| ns / bound.nanoseconds_per(BLOCKS * LANES));
            println!("{:16} {:34} {ns:10.2} {ratio:9.3}", backend.name(), subject.name);
        }
    }

    println!(
        "\n{:16} {:44} {:>10} {:>10} {:>8}",
        "", "per message", "serial ns", "at once ns", "times"
    );
    set_hardware_enabled(true);
    for (backend, _) in &backends {
        set_lane_backend(Some(*backend));
        for len in [1024, 1400, 64, 16] {
            for (name, mut pair) in many(len) {
                for _ in 0..rounds.div_ceil(10) {
                    pair.iter_mut().for_each(Subject::time);
                }
                let [serial, at_once] = pair.map(|subject| subject.nanoseconds_per(MESSAGES));
                println!(
                    "{:16} {name:44} {serial:10.1} {at_once:10.1} {:8.2}",
                    backend.name(),
                    serial / at_once
                );
            }
        }
    }
}
