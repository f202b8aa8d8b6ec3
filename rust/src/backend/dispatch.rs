//! Which implementation of a primitive runs: kernels serve where the CPU has their features and they have given the right
//! answers in this process. A faulty CPU, hypervisor or emulator so costs speed, and no data.
//!
//! The answers are asked for once, when a primitive is used first. In a new process that takes 5 (NH) to 100 microseconds
//! (`ChaCha`, the permutation) on Zen 4. A later use costs one load and one branch. Threads that arrive at the same time may
//! all ask.

use core::hint::black_box;
use core::ops::Deref;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::Error;

/// A function with the calling convention of the kernels.
#[cfg(target_arch = "x86_64")]
macro_rules! function {
    ($($argument:ty),*) => { unsafe extern "sysv64" fn($($argument),*) };
}
#[cfg(not(target_arch = "x86_64"))]
macro_rules! function {
    ($($argument:ty),*) => { unsafe extern "C" fn($($argument),*) };
}
pub(crate) use function;

/// What kernels are written for.
#[derive(Clone, Copy)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    /// Whether this CPU and its operating system have what the kernels need.
    pub(crate) detect: fn() -> bool,
}

/// Kernels that may serve.
pub(crate) struct Candidate<K> {
    level: Level,
    kernels: K,
}

impl Level {
    /// These kernels, which need what this level needs.
    pub(crate) const fn of<K: Copy>(self, kernels: K) -> Candidate<K> {
        let level = self;
        Candidate { level, kernels }
    }
}

/// A witness that this CPU has the instructions of the kernels.
pub(crate) struct Token<K: 'static>(&'static Candidate<K>);

impl<K> Token<K> {
    #[inline]
    pub(crate) fn detect(candidate: &'static Candidate<K>) -> Option<Self> {
        (candidate.level.detect)().then_some(Self(candidate))
    }

    /// The level.
    pub(crate) fn name(self) -> &'static str {
        self.0.level.name
    }
}

impl<K> Clone for Token<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Token<K> {}

impl<K> Deref for Token<K> {
    type Target = K;

    #[inline]
    fn deref(&self) -> &K {
        &self.0.kernels
    }
}

/// What was found out about the candidates for a primitive, in their order: a bit for each, and [`KNOWN`].
pub(crate) struct Found {
    /// They have given the right answers.
    right: AtomicU8,
    /// And they are not forbidden.
    serving: AtomicU8,
}

const KNOWN: u8 = 1 << 7;

/// What has kernels.
#[derive(Clone, Copy)]
#[allow(dead_code)] // some need a feature, and the last ones are for tests
pub(crate) enum Primitive {
    Duplex,
    Lanes,
    ChaCha,
    Nh,
    Poly1305Limbs26,
    Poly1305Limbs44,
    Xoofff,
    MadeUp1,
    MadeUp2,
    MadeUp3,
}

const NAMES: [&str; 10] = [
    "duplex",
    "lanes",
    "ChaCha",
    "NH",
    "Poly1305 in limbs of 26 bits",
    "Poly1305 in limbs of 44 bits",
    "Xoofff",
    "made up",
    "made up",
    "made up",
];

static FOUND: [Found; NAMES.len()] = [const {
    Found {
        right: AtomicU8::new(0),
        serving: AtomicU8::new(0),
    }
}; NAMES.len()];

/// The levels that kernels exist for on any CPU.
const LEVELS: [&str; 5] = ["x86-64", "x86-64-vaes", "x86-64-avx2", "x86-64-avx512", "armv8"];

/// Those that must not be used, a bit for each.
static FORBIDDEN: AtomicU8 = AtomicU8::new(0);

/// Allows or forbids all kernels in this process, and with them AES instructions. At the start they are allowed.
///
/// This changes speed, not results; it is meant for tests and measurements. It has no effect if
/// `--cfg veriplex_backend` fixes the backend.
pub fn set_hardware_enabled(enabled: bool) {
    forbid(if enabled { 0 } else { u8::MAX });
}

/// Forbids the kernels of a level in this process: `"x86-64"`, `"x86-64-vaes"`, `"x86-64-avx2"`, `"x86-64-avx512"` or
/// `"armv8"`, until [`set_hardware_enabled`] allows all. Without `"x86-64"` or `"armv8"`, the permutation is portable.
///
/// This changes speed, not results; it is meant for diagnosis, and has no effect if `--cfg veriplex_backend` fixes the
/// backend.
///
/// # Errors
///
/// [`Error::OutOfRange`] for another name.
pub fn forbid_level(name: &str) -> Result<(), Error> {
    let level = LEVELS.iter().position(|level| *level == name);
    forbid(FORBIDDEN.load(Ordering::SeqCst) | 1 << level.ok_or(Error::OutOfRange)?);
    Ok(())
}

fn forbid(levels: u8) {
    FORBIDDEN.store(levels, Ordering::SeqCst);
    for found in &FOUND {
        found.serving.store(0, Ordering::SeqCst);
    }
}

fn is_allowed(level: &str, forbidden: u8) -> bool {
    let bit = LEVELS.iter().position(|name| *name == level);
    cfg!(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64"))
        || bit.is_none_or(|bit| forbidden >> bit & 1 == 0)
}

/// A primitive, by the type of its tables of kernels. Where no kernels serve, portable code does.
pub(crate) trait Dispatch: Sized + 'static {
    const PRIMITIVE: Primitive;

    /// The best first. A constant, so that the only candidate of a table is called directly.
    const CANDIDATES: &'static [Candidate<Self>];

    /// The [checksum] of the right answers.
    const KNOWN: u64;

    /// That of what these kernels, or without them the portable code, make of public input. Every operation counts.
    fn answers(kernels: Option<Token<Self>>) -> u64;

    /// The best kernels that serve.
    #[inline]
    fn first() -> Option<Token<Self>> {
        let first = serving::<Self>().trailing_zeros() as usize;
        Self::CANDIDATES.get(first).map(Token)
    }

    /// All kernels that serve, the best first.
    #[inline]
    fn all() -> impl Iterator<Item = Token<Self>> {
        these(serving::<Self>())
    }

    /// All that have given the right answers, also forbidden ones.
    fn right() -> impl Iterator<Item = Token<Self>> {
        these(known_right::<Self>())
    }

    /// All that the CPU has the instructions for.
    #[cfg(test)]
    fn detected() -> impl Iterator<Item = Token<Self>> {
        Self::CANDIDATES.iter().filter_map(Token::detect)
    }

    /// From this level on: better ones do not serve until kernels are allowed or forbidden again.
    fn start_at(level: Option<&str>) {
        let better = |candidate: &&Candidate<Self>| Some(candidate.level.name) != level;
        let better = Self::CANDIDATES.iter().take_while(better).count();
        let serving = choose::<Self>() >> better << better;
        found::<Self>().serving.store(serving, Ordering::SeqCst);
    }

    /// Asks all candidates again. One that was wrong serves no more.
    fn self_test() -> impl Iterator<Item = SelfTest> {
        let right = ask::<Self>();
        let serving = right.map_or(0, |_| choose::<Self>());
        let has = |bits: u8, i: usize| bits >> i & 1 != 0;
        let kernels = Self::CANDIDATES.iter().enumerate().map(move |(i, candidate)| {
            let outcome = if !(candidate.level.detect)() {
                Outcome::Missing
            } else if !has(right.unwrap_or(0), i) {
                Outcome::Failed
            } else if !has(serving, i) {
                Outcome::Forbidden
            } else {
                Outcome::Passed
            };
            (candidate.level.name, outcome)
        });
        let portable = right.map_or(Outcome::Failed, |_| Outcome::Passed);
        (kernels.chain([("portable", portable)])).map(|(implementation, outcome)| SelfTest {
            primitive: NAMES[Self::PRIMITIVE as usize],
            implementation,
            outcome,
        })
    }
}

#[inline]
fn these<K: Dispatch>(bits: u8) -> impl Iterator<Item = Token<K>> {
    let candidates = K::CANDIDATES.iter().enumerate();
    candidates.filter_map(move |(i, candidate)| (bits >> i & 1 != 0).then_some(Token(candidate)))
}

#[inline]
fn found<K: Dispatch>() -> &'static Found {
    &FOUND[K::PRIMITIVE as usize]
}

#[inline]
fn serving<K: Dispatch>() -> u8 {
    match found::<K>().serving.load(Ordering::Relaxed) {
        0 => choose::<K>(),
        serving => serving,
    }
}

#[cold]
#[inline(never)]
fn choose<K: Dispatch>() -> u8 {
    let right = known_right::<K>();
    loop {
        let forbidden = FORBIDDEN.load(Ordering::SeqCst);
        let candidates = K::CANDIDATES.iter().enumerate();
        let allowed = candidates.filter(|(_, candidate)| is_allowed(candidate.level.name, forbidden));
        let serving = right & allowed.fold(KNOWN, |bits, (i, _)| bits | 1 << i);
        found::<K>().serving.store(serving, Ordering::SeqCst);
        // Whoever forbids a level later clears this afterwards.
        if FORBIDDEN.load(Ordering::SeqCst) == forbidden {
            return serving;
        }
    }
}

fn known_right<K: Dispatch>() -> u8 {
    match found::<K>().right.load(Ordering::Relaxed) {
        0 => ask::<K>().unwrap_or_else(|| {
            panic!(
                "the portable code of {} gives wrong answers: CPU, emulator or compiler is faulty",
                NAMES[K::PRIMITIVE as usize]
            )
        }),
        right => right,
    }
}

/// Asks all candidates, and keeps which were right: nothing, if the portable code was wrong.
fn ask<K: Dispatch>() -> Option<u8> {
    const { assert!(K::CANDIDATES.len() < KNOWN.trailing_zeros() as usize) };
    let is_right = |kernels| K::answers(kernels) == K::KNOWN;
    let right = is_right(None).then(|| {
        let tokens = K::CANDIDATES.iter().map(Token::detect).enumerate();
        let right = tokens.filter(|(_, token)| token.is_some() && is_right(*token));
        right.fold(KNOWN, |bits, (i, _)| bits | 1 << i)
    });
    found::<K>().right.store(right.unwrap_or(0), Ordering::SeqCst);
    found::<K>().serving.store(0, Ordering::SeqCst);
    right
}

/// What [`self_test`](crate::self_test) found out about an implementation of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelfTest {
    /// What is implemented.
    pub primitive: &'static str,
    /// The level of the kernels, or `"portable"`.
    pub implementation: &'static str,
    /// What came out.
    pub outcome: Outcome,
}

/// The outcome of a [`SelfTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The answers were right. The first implementation that passed serves; those after it do what it leaves.
    Passed,
    /// An answer was wrong. Kernels then never serve; if it is the portable code, every use of the primitive panics.
    Failed,
    /// The CPU lacks the instructions.
    Missing,
    /// The answers were right, but [`forbid_level`](crate::hazmat::forbid_level) or
    /// [`set_hardware_enabled`](crate::hazmat::set_hardware_enabled) forbids the level.
    Forbidden,
}

/// Public bytes without a pattern, unknown to the compiler.
pub(crate) fn input<const N: usize>(seed: u64) -> [u8; N] {
    let mut bytes = [0; N];
    let mut last = black_box(seed);
    for chunk in bytes.chunks_mut(8) {
        last ^= last << 13;
        last ^= last >> 7;
        last ^= last << 17;
        chunk.copy_from_slice(&last.to_le_bytes()[..chunk.len()]);
    }
    bytes
}

/// Of more bytes, eight at a time. A change of eight always changes it.
pub(crate) fn checksum(sum: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(sum, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 32
    })
}

/// A kernel that does nothing.
#[cfg(all(test, veriplex_kernels))]
macro_rules! idle {
    ($($argument:ty),*) => {{
        #[cfg(target_arch = "x86_64")]
        extern "sysv64" fn idle($(_: $argument),*) {}
        #[cfg(not(target_arch = "x86_64"))]
        extern "C" fn idle($(_: $argument),*) {}
        idle
    }};
}
#[cfg(all(test, veriplex_kernels))]
pub(crate) use idle;

/// Whether such kernels would serve on a CPU that has what they need.
#[cfg(test)]
pub(crate) fn would_serve<K: Dispatch + Copy>(kernels: K) -> bool {
    extern crate std;

    let level = Level {
        name: "made up",
        detect: || true,
    };
    let candidate = level.of(kernels);
    let token = Token::detect(std::boxed::Box::leak(std::boxed::Box::new(candidate)));
    let portable = K::answers(None);
    assert!(portable == K::KNOWN, "portable code gives {portable:#x}");
    K::answers(token) == K::KNOWN
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    /// Adds one, or should.
    type AddOne = fn(u64) -> u64;

    /// Addition by these candidates, and what the portable code answers.
    macro_rules! adding {
        ($name:ident, $portable:expr, [$($candidate:expr),*]) => {
            #[derive(Clone, Copy)]
            struct $name(AddOne);

            impl Dispatch for $name {
                const PRIMITIVE: Primitive = Primitive::$name;
                const CANDIDATES: &[Candidate<Self>] = &[$({
                    let (name, detect, add): (_, fn() -> bool, AddOne) = $candidate;
                    Level { name, detect }.of(Self(add))
                }),*];
                const KNOWN: u64 = 43;

                fn answers(kernels: Option<Token<Self>>) -> u64 {
                    kernels.map_or($portable, |token| (token.0.kernels.0)(black_box(42)))
                }
            }
        };
    }

    fn names<K: 'static>(tokens: impl Iterator<Item = Token<K>>) -> std::vec::Vec<&'static str> {
        tokens.map(Token::name).collect()
    }

    #[test]
    fn the_best_with_right_answers_serves() {
        adding!(
            MadeUp1,
            43,
            [
                ("missing", || false, |_| panic!("the CPU does not have it")),
                ("faulty", || true, |x| x + 2),
                ("right", || true, |x| x + 1),
                ("also faulty", || true, |x| x),
                ("also right", || true, |x| x + 1)
            ]
        );
        assert_eq!(MadeUp1::first().unwrap().name(), "right");
        assert_eq!(names(MadeUp1::all()), ["right", "also right"]);
        MadeUp1::start_at(Some("also right"));
        assert_eq!(names(MadeUp1::all()), ["also right"]);
        assert_eq!(names(MadeUp1::right()), ["right", "also right"]);
        MadeUp1::start_at(None);
        assert!(MadeUp1::first().is_none());
        let outcomes: std::vec::Vec<_> = MadeUp1::self_test().map(|test| test.outcome).collect();
        let [passed, failed, missing] = [Outcome::Passed, Outcome::Failed, Outcome::Missing];
        assert_eq!(outcomes, [missing, failed, passed, failed, passed, passed]);
        assert_eq!(MadeUp1::first().unwrap().name(), "right");
    }

    #[test]
    fn answers_are_asked_for_once() {
        use core::sync::atomic::AtomicUsize;

        static ASKED: AtomicUsize = AtomicUsize::new(0);
        adding!(
            MadeUp2,
            43,
            [(
                "right once",
                || true,
                |x| x + u64::from(ASKED.fetch_add(1, Ordering::SeqCst) == 0)
            )]
        );
        for _ in 0..3 {
            assert!(MadeUp2::first().is_some());
            found::<MadeUp2>().serving.store(0, Ordering::SeqCst); // as if a level was forbidden
        }
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
        // What is wrong later is found by another self-test.
        let outcomes: std::vec::Vec<_> = MadeUp2::self_test().map(|test| test.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Passed]);
        assert!(MadeUp2::first().is_none());
    }

    #[test]
    #[should_panic(expected = "the portable code of made up gives wrong answers")]
    fn nothing_serves_if_the_portable_code_is_wrong() {
        adding!(MadeUp3, 42, [("right", || true, |x| x + 1)]);
        assert!(MadeUp3::self_test().all(|test| test.outcome == Outcome::Failed));
        MadeUp3::first();
    }

    /// One wrong bit or two words in each other's place change it.
    #[test]
    fn the_checksum_depends_on_every_bit_and_the_order() {
        let bytes = input::<37>(1);
        let mut sums = std::collections::BTreeSet::from([checksum(0, &bytes)]);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(sums.insert(checksum(0, &changed)));
        }
        let mut changed = bytes;
        changed[..16].rotate_left(8);
        assert!(sums.insert(checksum(0, &changed)));
    }
}
