//! The operations of [`Backend`] on eight states at once.
//!
//! A state alone keeps the AES units waiting for 36 rounds that depend on each other. Eight states are eight chains. The
//! definition is that of the serial operations, mapped over the lanes; where there are no instructions for more, the
//! serial operations are what runs.
//!
//! The blocks of the lanes lie anywhere: a kernel gets eight pointers. A stride would serve chunks and segments, but not
//! messages; eight pointers serve all, and cost one more load for each block of a lane. Encryption and decryption are in
//! place only: eight more pointers would not fit into the registers, and a copy costs little.

#[cfg(veriplex_kernels)]
#[allow(unsafe_code)] // the kernel boundary
pub(crate) mod kernels;

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::backend::Backend;
use crate::simpira1024::{Block, STATE_LEN, State};
use crate::wipe::wipe;

/// The number of states that are processed at once.
pub const LANES: usize = 8;

const WORD: usize = 16;
const WORDS: usize = STATE_LEN / WORD;

/// Eight states, each word of 16 bytes next to the same word of the other lanes: as vector registers hold them.
///
/// They are wiped on drop (feature `zeroize`).
#[derive(Clone)]
#[repr(C, align(64))]
pub struct States([[[u8; WORD]; LANES]; WORDS]);

impl States {
    /// Eight all-zero states.
    #[must_use]
    pub const fn new() -> Self {
        Self([[[0; WORD]; LANES]; WORDS])
    }

    /// The state in a lane.
    ///
    /// # Panics
    ///
    /// For a lane that is not below 8.
    #[must_use]
    #[inline]
    pub fn lane(&self, lane: usize) -> State {
        let mut state = [0; STATE_LEN];
        for (to, from) in state.as_chunks_mut().0.iter_mut().zip(&self.0) {
            *to = from[lane];
        }
        state
    }

    /// Replaces the state in a lane.
    ///
    /// # Panics
    ///
    /// For a lane that is not below 8.
    #[inline]
    pub fn set_lane(&mut self, lane: usize, state: &State) {
        for (to, from) in self.0.iter_mut().zip(state.as_chunks().0) {
            to[lane] = *from;
        }
    }

    /// Becomes a copy. The old states are overwritten, so they need no wiping.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0 = other.0;
    }

    /// One word of a lane.
    #[inline(always)]
    pub(crate) fn word(&mut self, word: usize, lane: usize) -> &mut [u8; WORD] {
        &mut self.0[word][lane]
    }

    /// Runs a serial operation on the state of a lane.
    #[inline]
    fn serially(&mut self, lane: usize, operation: impl FnOnce(&mut State)) {
        let mut state = self.lane(lane);
        operation(&mut state);
        self.set_lane(lane, &state);
        #[cfg(feature = "zeroize")]
        wipe(&mut state);
    }

    /// Back to zero, secrets wiped.
    pub fn clear(&mut self) {
        wipe(self.0.as_flattened_mut().as_flattened_mut());
    }
}

impl Default for States {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for States {
    fn drop(&mut self) {
        #[cfg(feature = "zeroize")]
        self.clear();
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for States {}

/// Shows no part of the states.
impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").finish_non_exhaustive()
    }
}

/// How eight states are processed at once. A value exists only where the instructions that it needs exist.
#[derive(Clone, Copy)]
pub struct LaneBackend(Kind);

#[derive(Clone, Copy)]
enum Kind {
    /// One lane after the other.
    Serial(Backend),
    #[cfg(veriplex_kernels)]
    Kernels(kernels::Token),
}

/// What [`set_lane_backend`] chose: the place in [`LaneBackend::available`], or [`BEST`].
static CHOICE: AtomicU8 = AtomicU8::new(BEST);
const BEST: u8 = u8::MAX;

/// Chooses how eight states are processed at once in this process, or leaves it to the library (as at the start).
///
/// It changes speed, not results; it is meant for tests and for measurements. It has no effect while the serial backend
/// is the portable one.
pub fn set_lane_backend(backend: Option<LaneBackend>) {
    let place = |backend: LaneBackend| {
        let mut names = LaneBackend::hardware().map(|other| other.map(LaneBackend::name));
        names.position(|name| name == Some(backend.name()))
    };
    let choice = backend.and_then(place).and_then(|place| u8::try_from(place).ok());
    CHOICE.store(choice.unwrap_or(BEST), Ordering::Relaxed);
}

impl LaneBackend {
    /// One lane after the other, by the portable backend.
    pub const PORTABLE: Self = Self(Kind::Serial(Backend::PORTABLE));

    /// Those for CPUs with AES instructions, the best first, always in the same places.
    fn hardware() -> impl Iterator<Item = Option<Self>> {
        let serial = Backend::hardware().map(|serial| Self(Kind::Serial(serial)));
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        let levels = Self::of_x86_64();
        #[cfg(all(veriplex_kernels, target_arch = "aarch64"))]
        let levels = Self::of_aarch64();
        #[cfg(veriplex_kernels)]
        let kernels = (levels.into_iter())
            .map(|level| kernels::Token::detect(level).map(|token| Self(Kind::Kernels(token))));
        #[cfg(not(veriplex_kernels))]
        let kernels = core::iter::empty();
        kernels.chain([serial])
    }

    /// Every one that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        [Some(Self::PORTABLE)]
            .into_iter()
            .chain(Self::hardware())
            .flatten()
    }

    /// The one that the library uses now.
    ///
    /// # Panics
    ///
    /// As [`Backend::current`].
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        let serial = Backend::current();
        if serial.name() == Backend::PORTABLE.name() {
            return Self::PORTABLE;
        }
        let chosen = match CHOICE.load(Ordering::Relaxed) {
            BEST => None,
            choice => Self::hardware().nth(choice.into()).flatten(),
        };
        chosen
            .or_else(|| Self::hardware().flatten().next())
            .unwrap_or(Self(Kind::Serial(serial)))
    }

    /// The level of the kernels: `"x86-64-avx512"`, `"x86-64-vaes"`, `"x86-64"`, `"armv8"`; or the instructions and
    /// `serial` where the lanes are processed one after the other.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Serial(backend) => match backend.name() {
                "portable" => "portable serial",
                "x86_64" => "x86-64 serial",
                _ => "armv8 serial",
            },
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.name(),
        }
    }

    /// As many lanes as are faster one after the other than all at once.
    #[inline]
    pub(crate) fn few(self) -> usize {
        match self.0 {
            Kind::Serial(_) => LANES,
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.few(),
        }
    }

    /// The backend for when only the first half of the lanes is wanted: other kernels, if these always do all.
    #[must_use]
    pub(crate) fn narrow(self) -> Self {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if let Kind::Kernels(token) = self.0 {
            let mut narrower = Self::of_x86_64()
                .into_iter()
                .filter_map(|level| token.narrow(level));
            return narrower.next().map_or(self, |token| Self(Kind::Kernels(token)));
        }
        self
    }

    /// How many lanes are processed when so many of the first ones are wanted.
    #[inline]
    pub(crate) fn covered(self, lanes: usize) -> usize {
        match self.0 {
            Kind::Serial(_) => lanes,
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.covered(lanes),
        }
    }

    /// Simpira-1024 on each state.
    #[inline]
    pub fn permute(self, states: &mut States) {
        self.permute_first(states, LANES);
    }

    /// [`LaneBackend::permute`] on the first `lanes` states. What the others hold then is not defined.
    #[inline]
    pub(crate) fn permute_first(self, states: &mut States, lanes: usize) {
        match self.0 {
            Kind::Serial(backend) => {
                (0..lanes).for_each(|lane| states.serially(lane, |state| backend.permute(state)));
            }
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.permute(states, lanes),
        }
    }

    /// [`Backend::absorb_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn absorb_blocks(self, states: &mut States, blocks: &[&[Block]; LANES]) {
        self.absorb_first(states, blocks, LANES);
    }

    /// [`LaneBackend::absorb_blocks`] on the first `lanes` states. What the others hold then is not defined; those that are
    /// [covered](LaneBackend::covered) need blocks.
    #[inline]
    pub(crate) fn absorb_first(self, states: &mut States, blocks: &[&[Block]; LANES], lanes: usize) {
        let covered = blocks.iter().take(self.covered(lanes));
        let n = covered.map(|blocks| blocks.len()).min().unwrap_or(0);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, blocks) in blocks.iter().take(lanes).enumerate() {
                    states.serially(lane, |state| backend.absorb_blocks(state, &blocks[..n]));
                }
            }
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.absorb_blocks(states, blocks, n, lanes),
        }
    }

    /// [`Backend::encrypt_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn encrypt_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.encrypt_first(states, blocks, LANES);
    }

    /// As [`LaneBackend::absorb_first`].
    #[inline]
    pub(crate) fn encrypt_first(self, states: &mut States, blocks: &mut [&mut [Block]; LANES], lanes: usize) {
        let n = fewest(&blocks[..self.covered(lanes)]);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, blocks) in blocks.iter_mut().take(lanes).enumerate() {
                    states.serially(lane, |state| backend.encrypt_blocks(state, &mut blocks[..n]));
                }
            }
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.encrypt_blocks(states, blocks, n, lanes),
        }
    }

    /// [`Backend::decrypt_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn decrypt_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.decrypt_first(states, blocks, LANES);
    }

    /// As [`LaneBackend::absorb_first`].
    #[inline]
    pub(crate) fn decrypt_first(self, states: &mut States, blocks: &mut [&mut [Block]; LANES], lanes: usize) {
        let n = fewest(&blocks[..self.covered(lanes)]);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, blocks) in blocks.iter_mut().take(lanes).enumerate() {
                    states.serially(lane, |state| backend.decrypt_blocks(state, &mut blocks[..n]));
                }
            }
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.decrypt_blocks(states, blocks, n, lanes),
        }
    }

    /// [`Backend::squeeze_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn squeeze_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.squeeze_first(states, blocks, LANES);
    }

    /// As [`LaneBackend::absorb_first`].
    #[inline]
    pub(crate) fn squeeze_first(self, states: &mut States, blocks: &mut [&mut [Block]; LANES], lanes: usize) {
        let n = fewest(&blocks[..self.covered(lanes)]);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, blocks) in blocks.iter_mut().take(lanes).enumerate() {
                    states.serially(lane, |state| backend.squeeze_blocks(state, &mut blocks[..n]));
                }
            }
            #[cfg(veriplex_kernels)]
            Kind::Kernels(token) => token.squeeze_blocks(states, blocks, n, lanes),
        }
    }

    /// The serial operations, for one lane: this backend's where it has no others.
    pub(crate) fn alone(self, states: &mut States, lane: usize, operation: impl FnOnce(Backend, &mut State)) {
        let backend = match self.0 {
            Kind::Serial(backend) => backend,
            #[cfg(veriplex_kernels)]
            Kind::Kernels(_) => Backend::hardware().unwrap_or(Backend::PORTABLE),
        };
        states.serially(lane, |state| operation(backend, state));
    }
}

#[inline]
fn fewest(blocks: &[&mut [Block]]) -> usize {
    blocks.iter().map(|blocks| blocks.len()).min().unwrap_or(0)
}

impl fmt::Debug for LaneBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneBackend({})", self.name())
    }
}

/// Runs a test on each, and no other such test meanwhile.
#[cfg(all(test, feature = "std"))]
pub(crate) fn on_each_lane_backend(test: impl Fn(LaneBackend)) {
    use std::sync::{Mutex, PoisonError};

    static CHOOSING: Mutex<()> = Mutex::new(());
    let _choosing = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in LaneBackend::available() {
        set_lane_backend(Some(backend));
        test(backend);
    }
    set_lane_backend(None);
}
