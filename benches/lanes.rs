//! Eight states at once: each operation beside the time of its AES instructions alone, bound by throughput, and many
//! messages at once beside one by one. All in one run, each row the best of many rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use veriplex::aead::{Aead, Message};
use veriplex::hazmat::{LANES, LaneBackend, RATE, States, set_hardware_enabled, set_lane_backend};
use veriplex::{digest, label};

const BLOCKS: usize = 64;
const MESSAGES: usize = 1024;
const ROUNDS: usize = 300;

// Registers that do not wait for each other: 1152 rounds of 16 bytes each time.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".irp width,x,y,z",
    ".globl bench_aes_\\width",
    ".p2align 5",
    "bench_aes_\\width:",
    "vzeroall",
    "1:",
    ".ifc \\width,x",
    ".set repetitions, 96",
    ".endif",
    ".ifc \\width,y",
    ".set repetitions, 48",
    ".endif",
    ".ifc \\width,z",
    ".set repetitions, 24",
    ".endif",
    ".rept repetitions",
    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11",
    "vaesenc \\width\\()mm\\n, \\width\\()mm\\n, \\width\\()mm15",
    ".endr",
    ".endr",
    "dec rdi",
    "jnz 1b",
    "vzeroall",
    "ret",
    ".endr",
);

/// The AES instructions of eight permutations, `BLOCKS` times, on registers that do not wait for each other.
#[cfg(target_arch = "x86_64")]
fn bounds() -> Vec<(&'static str, Subject)> {
    unsafe extern "sysv64" {
        fn bench_aes_x(n: usize);
        fn bench_aes_y(n: usize);
        fn bench_aes_z(n: usize);
    }
    let all: [(&str, &str, bool, unsafe extern "sysv64" fn(usize)); 3] = [
        (
            "x86-64-avx512",
            "288 AES instructions, zmm",
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("vaes"),
            bench_aes_z,
        ),
        (
            "x86-64-vaes",
            "576 AES instructions, ymm",
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("vaes"),
            bench_aes_y,
        ),
        (
            "x86-64",
            "1152 AES instructions, xmm",
            is_x86_feature_detected!("avx") && is_x86_feature_detected!("aes"),
            bench_aes_x,
        ),
    ];
    (all.into_iter().filter(|(_, _, found, _)| *found))
        .map(|(level, name, _, function)| {
            // SAFETY: the features were detected.
            (level, Subject::new(name, move || unsafe { function(BLOCKS) }))
        })
        .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn bounds() -> Vec<(&'static str, Subject)> {
    Vec::new()
}

struct Subject {
    name: String,
    run: Box<dyn FnMut()>,
    best: Duration,
}

impl Subject {
    fn new(name: impl Into<String>, run: impl FnMut() + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
            best: Duration::MAX,
        }
    }

    fn time(&mut self) {
        let start = Instant::now();
        (self.run)();
        self.best = self.best.min(start.elapsed());
    }

    /// The time per state and block.
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    fn nanoseconds(&self) -> f64 {
        self.best.as_nanos() as f64 / (BLOCKS * LANES) as f64
    }
}

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
    subjects
}

/// Many messages of one length, at once and one by one.
fn many(len: usize) -> [(String, [Subject; 2]); 2] {
    let aead = Aead::<16>::new(label!("bench.aead"), &[7; 32].into());
    let messages = vec![vec![0x5a; len]; MESSAGES];
    let mut digests = vec![[0; 32]; MESSAGES];
    let serial = {
        let (messages, mut digests) = (messages.clone(), digests.clone());
        Subject::new("serial", move || {
            for (message, digest) in black_box(&messages).iter().zip(&mut digests) {
                *digest = digest::digest(label!("bench.hash"), message);
            }
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
            format!("seal_many of {MESSAGES} messages of {len} bytes"),
            [serial_seal, seal_at_once],
        ),
    ]
}

fn main() {
    // `cargo test` runs benches once, to see that they work.
    let rounds = if std::env::args().any(|a| a == "--bench") {
        ROUNDS
    } else {
        1
    };
    let mut bounds = bounds();
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
            let ns = subject.nanoseconds();
            let ratio = bound.map_or(f64::NAN, |bound| ns / bound.nanoseconds());
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
                #[allow(clippy::cast_precision_loss)]
                let [serial, at_once] = pair.map(|subject| subject.best.as_nanos() as f64 / MESSAGES as f64);
                println!(
                    "{:16} {name:44} {serial:10.1} {at_once:10.1} {:8.2}",
                    backend.name(),
                    serial / at_once
                );
            }
        }
    }
}
