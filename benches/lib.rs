//! What the benchmarks share that time many subjects in turn. `cargo bench -p veriplex-benches --bench permutation` runs one.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Something to be timed: each round of a benchmark runs every subject once, so that a change in the machine's speed affects
/// all of them, and only the best time counts.
pub struct Subject {
    /// What the table calls it.
    pub name: String,
    run: Box<dyn FnMut()>,
    best: Duration,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.name, self.best)
    }
}

impl Subject {
    /// Not timed yet.
    pub fn new(name: impl Into<String>, run: impl FnMut() + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
            best: Duration::MAX,
        }
    }

    /// Runs it once more.
    pub fn time(&mut self) {
        let start = Instant::now();
        (self.run)();
        self.best = self.best.min(start.elapsed());
    }

    /// The best time of a run, divided by what one run does.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    pub fn nanoseconds_per(&self, count: usize) -> f64 {
        self.best.as_nanos() as f64 / count as f64
    }
}

/// How many rounds: `rounds` if this is a benchmark, one if it is only tried, as `cargo test` does.
#[must_use]
pub fn rounds(rounds: usize) -> usize {
    if std::env::args().any(|argument| argument == "--bench") {
        rounds
    } else {
        1
    }
}

/// 36 dependent AES rounds, `repetitions` times: one permutation after the other takes at least that long.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn latency_bound(repetitions: usize) -> Option<Subject> {
    use std::arch::x86_64::{_mm_aesenc_si128, _mm_cvtsi128_si64, _mm_set1_epi64x, _mm_setzero_si128};

    #[target_feature(enable = "aes,avx")]
    fn chain(n: usize) -> i64 {
        let mut x = _mm_setzero_si128();
        let key = _mm_set1_epi64x(0x0123_4567_89ab_cdef);
        for _ in 0..n {
            for _ in 0..36 {
                x = _mm_aesenc_si128(x, key);
            }
        }
        _mm_cvtsi128_si64(x)
    }
    (is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx")).then(|| {
        // SAFETY: we have just detected the features.
        Subject::new("36 dependent AES rounds", move || unsafe {
            black_box(chain(black_box(repetitions)));
        })
    })
}

/// None is known here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn latency_bound(_repetitions: usize) -> Option<Subject> {
    None
}

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

/// The AES instructions of eight permutations, `repetitions` times, on registers that do not wait for each other: for each
/// level of kernels that this machine has, the widest first.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn throughput_bounds(repetitions: usize) -> Vec<(&'static str, Subject)> {
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
            (
                level,
                Subject::new(name, move || unsafe { function(repetitions) }),
            )
        })
        .collect()
}

/// None is known here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn throughput_bounds(_repetitions: usize) -> Vec<(&'static str, Subject)> {
    Vec::new()
}
