//! What the benchmarks share: subjects that are timed in turns, what the hardware allows at most, and the results as data and
//! as tables.

pub mod record;

use std::arch::asm;
use std::time::Instant;

/// How long a subject runs each time, in nanoseconds: long enough for the clock, and short enough for a moment without other
/// work.
const RUN: f64 = 100_000.0;
/// What takes longer is timed in one round of so many.
const LONG: f64 = 5_000_000.0;
const LONG_EVERY: usize = 16;

/// Something to be timed. [`in_turns`] runs every subject once a round, so that a change in the machine's speed affects all of
/// them, and only the best time counts.
pub struct Subject {
    /// What a table calls it.
    pub name: String,
    run: Box<dyn FnMut()>,
    /// Of one call, at best.
    nanoseconds: f64,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ns", self.name, self.nanoseconds)
    }
}

impl Subject {
    /// Not timed yet.
    pub fn new(name: impl Into<String>, run: impl FnMut() + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
            nanoseconds: f64::INFINITY,
        }
    }

    /// Calls it so often.
    fn time(&mut self, calls: u32) {
        let start = Instant::now();
        (0..calls).for_each(|_| (self.run)());
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / f64::from(calls);
        self.nanoseconds = self.nanoseconds.min(nanoseconds);
    }

    /// The best time of a call, divided by what one call does.
    #[must_use]
    pub fn nanoseconds_per(&self, count: usize) -> f64 {
        self.nanoseconds / record::float(count)
    }
}

/// Times them in so many rounds. In a single one each is called once: it shows that all work, and the times mean nothing.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 100,000 calls
pub fn in_turns<'s>(subjects: impl IntoIterator<Item = &'s mut Subject>, rounds: usize) {
    let mut subjects: Vec<&mut Subject> = subjects.into_iter().collect();
    for round in 0..rounds {
        for subject in &mut subjects {
            if subject.nanoseconds < LONG {
                let calls = (RUN / subject.nanoseconds).clamp(1.0, RUN) as u32;
                // Also once that code has run: a core needs a while to get ready for wide vectors.
                (0..rounds.min(3)).for_each(|_| subject.time(calls));
            } else if round.is_multiple_of(LONG_EVERY) {
                subject.time(1);
            }
        }
        // Not always after the same one.
        subjects.reverse();
    }
}

/// How many rounds: what the environment's `ROUNDS` says, or else `rounds` if this is a benchmark, and one if it is only tried,
/// as `cargo test` does.
///
/// # Panics
///
/// If `ROUNDS` is no number.
#[must_use]
pub fn rounds(rounds: usize) -> usize {
    match std::env::var("ROUNDS") {
        Ok(rounds) if !rounds.is_empty() => rounds.parse().expect("ROUNDS is a number"),
        _ if std::env::args().any(|argument| argument == "--bench") => rounds,
        _ => 1,
    }
}

/// How many additions [`additions`] does, one after the other: in a cycle each.
pub const ADDITIONS: usize = 1024;

/// Additions that wait for each other: their time tells the frequency at which the core runs, that of vector code where there
/// are two.
#[must_use]
pub fn additions() -> Option<Subject> {
    #[cfg(target_arch = "x86_64")]
    let run = || {
        // SAFETY: it only computes in this register.
        unsafe {
            asm!(".rept 1024", "paddd xmm0, xmm0", ".endr", out("xmm0") _, options(nomem, nostack));
        }
    };
    #[cfg(target_arch = "aarch64")]
    let run = || {
        // SAFETY: it only computes in this register.
        unsafe {
            asm!(".rept 1024", "add {0}, {0}, {0}", ".endr", inout(reg) 1_u64 => _, options(nomem, nostack));
        }
    };
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return Some(Subject::new("additions", run));
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// How many permutations the bounds stand for.
pub const PERMUTATIONS: usize = 64;

/// AES rounds in these registers, so often for each permutation. In one register, each waits for the one before.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! aes_rounds {
    ($times:literal, $registers:literal, $($line:literal),*) => {
        || {
            for _ in 0..PERMUTATIONS * $times {
                // SAFETY: where this is called, the features were detected; it only computes in registers.
                unsafe {
                    asm!(
                        concat!(".irp n,", $registers),
                        $($line,)*
                        ".endr",
                        clobber_abi("C"),
                        options(nomem, nostack),
                    );
                }
            }
            // SAFETY: likewise.
            #[cfg(target_arch = "x86_64")]
            unsafe {
                asm!("vzeroupper", clobber_abi("C"), options(nomem, nostack));
            }
        }
    };
}

/// 36 dependent AES rounds, [`PERMUTATIONS`] times: one permutation after the other takes at least that long.
#[must_use]
pub fn latency_bound() -> Option<Subject> {
    const NAME: &str = "36 AES rounds one after the other";
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx") {
        return Some(Subject::new(
            NAME,
            aes_rounds!(36, "0", "vaesenc xmm\\n, xmm\\n, xmm15"),
        ));
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("aes") {
        let run = aes_rounds!(
            36,
            "0",
            ".arch_extension aes",
            "aese v\\n\\().16b, v31.16b",
            "aesmc v\\n\\().16b, v\\n\\().16b"
        );
        return Some(Subject::new(NAME, run));
    }
    None
}

/// The AES instructions of eight permutations, 1152 rounds of 16 bytes, [`PERMUTATIONS`] times, on registers that do not wait
/// for each other: for each level of kernels that this machine has, the widest first.
#[must_use]
pub fn throughput_bounds() -> Vec<(&'static str, Subject)> {
    let mut bounds = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let detected = is_x86_feature_detected!("vaes");
        if detected && is_x86_feature_detected!("avx512f") {
            let run = aes_rounds!(24, "0,1,2,3,4,5,6,7,8,9,10,11", "vaesenc zmm\\n, zmm\\n, zmm15");
            bounds.push(("x86-64-avx512", Subject::new("288 AES instructions, zmm", run)));
        }
        if detected && is_x86_feature_detected!("avx2") {
            let run = aes_rounds!(48, "0,1,2,3,4,5,6,7,8,9,10,11", "vaesenc ymm\\n, ymm\\n, ymm15");
            bounds.push(("x86-64-vaes", Subject::new("576 AES instructions, ymm", run)));
        }
        if is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx") {
            let run = aes_rounds!(96, "0,1,2,3,4,5,6,7,8,9,10,11", "vaesenc xmm\\n, xmm\\n, xmm15");
            bounds.push(("x86-64", Subject::new("1152 AES instructions, xmm", run)));
        }
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("aes") {
        let run = aes_rounds!(
            96,
            "0,1,2,3,4,5,6,7,16,17,18,19",
            ".arch_extension aes",
            "aese v\\n\\().16b, v31.16b",
            "aesmc v\\n\\().16b, v\\n\\().16b"
        );
        bounds.push(("armv8", Subject::new("1152 AES instructions, in pairs", run)));
    }
    bounds
}
