//! The operations of [`Backend`] on eight states at once.
//!
//! A state alone keeps the AES units waiting for 36 rounds that depend on each other. Eight states are eight chains. The
//! definition is that of the serial operations, mapped over the lanes; where there are no instructions for more, the
//! serial operations are what runs.
//!
//! The blocks of the lanes lie anywhere: a kernel gets eight pointers. A stride would serve chunks and segments, but not
//! messages; eight pointers serve all, and cost one more load for each block of a lane.

#[allow(unsafe_code)] // the kernel boundary
mod kernels;

use core::array::from_fn;
use core::fmt;

use crate::backend::Backend;
use crate::backend::dispatch::{Candidate, Dispatch, Primitive, Token, checksum, input};
use crate::backend::lanes::{CANDIDATES, Kernels};
use crate::backend::simpira1024::{Block, STATE_LEN, State};
use crate::base::wipe::{opaque, wipe};

/// The number of states that are processed at once.
pub const LANES: usize = 8;

const WORD: usize = 16;
const WORDS: usize = STATE_LEN / WORD;

/// Eight states, each word of 16 bytes next to the same word of the other lanes: as vector registers hold them.
///
/// They are wiped on drop.
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
        self.clear();
    }
}

impl zeroize::ZeroizeOnDrop for States {}

opaque!(States);

impl Dispatch for Kernels {
    const PRIMITIVE: Primitive = Primitive::Lanes;
    const CANDIDATES: &[Candidate<Self>] = &CANDIDATES;
    const KNOWN: u64 = 0xc584_4ffb_a69d_42f9;

    /// Without kernels, by the serial backend, which has been asked itself.
    fn answers(kernels: Option<Token<Self>>) -> u64 {
        let kind = kernels.map_or_else(|| Kind::Serial(Backend::current()), Kind::Kernels);
        let backend = LaneBackend(kind);
        let mut states = States::new();
        for (lane, seed) in (0..LANES).zip(1..) {
            states.set_lane(lane, &input(seed));
        }
        let mut blocks: [[Block; 2]; LANES] = from_fn(|lane| [10, 20].map(|seed| input(seed + lane as u64)));
        backend.permute(&mut states);
        backend.absorb_blocks(&mut states, &blocks.each_ref().map(<[_; _]>::as_slice));
        let mut sum = 0;
        for operation in [
            LaneBackend::encrypt_blocks,
            LaneBackend::decrypt_blocks,
            LaneBackend::squeeze_blocks,
        ] {
            operation(
                backend,
                &mut states,
                &mut blocks.each_mut().map(<[_; _]>::as_mut_slice),
            );
            sum = checksum(sum, blocks.as_flattened().as_flattened());
        }
        let mut others = [[[0; _]; 2]; LANES];
        for operation in [LaneBackend::encrypt_blocks_into, LaneBackend::decrypt_blocks_into] {
            operation(
                backend,
                &mut states,
                &blocks.each_ref().map(<[_; _]>::as_slice),
                &mut others.each_mut().map(<[_; _]>::as_mut_slice),
            );
            sum = checksum(sum, others.as_flattened().as_flattened());
        }
        checksum(sum, states.0.as_flattened().as_flattened())
    }
}

/// What is done with full blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
    Squeeze,
}

impl Direction {
    /// Transforms the blocks of one state: in place unless there is an input.
    #[inline]
    pub(crate) fn run(
        self,
        backend: Backend,
        state: &mut State,
        input: Option<&[Block]>,
        output: &mut [Block],
    ) {
        match (self, input) {
            (Self::Encrypt, None) => backend.encrypt_blocks(state, output),
            (Self::Encrypt, Some(input)) => backend.encrypt_blocks_into(state, input, output),
            (Self::Decrypt, None) => backend.decrypt_blocks(state, output),
            (Self::Decrypt, Some(input)) => backend.decrypt_blocks_into(state, input, output),
            (Self::Squeeze, _) => backend.squeeze_blocks(state, output),
        }
    }
}

/// How eight states are processed at once. A value exists only where the instructions that it needs exist, and compute
/// right.
#[derive(Clone, Copy)]
pub struct LaneBackend(Kind);

#[derive(Clone, Copy)]
enum Kind {
    /// One lane after the other.
    Serial(Backend),
    Kernels(Token<Kernels>),
}

/// Chooses how eight states are processed at once in this process, or leaves it to the library (as at the start).
///
/// It changes speed, not results; it is meant for tests and for measurements. It has no effect while the serial backend
/// is the portable one, and lasts until [`set_hardware_enabled`](crate::hazmat::set_hardware_enabled).
pub fn set_lane_backend(backend: Option<LaneBackend>) {
    Kernels::start_at(match backend {
        None => Kernels::right().next().map(Token::name),
        Some(LaneBackend(Kind::Kernels(token))) => Some(token.name()),
        Some(LaneBackend(Kind::Serial(_))) => None,
    });
}

impl LaneBackend {
    /// One lane after the other, by the portable backend.
    pub const PORTABLE: Self = Self(Kind::Serial(Backend::PORTABLE));

    /// Every one that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        let kernels = Kernels::right().map(|token| Self(Kind::Kernels(token)));
        let serial = Backend::hardware().map(|serial| Self(Kind::Serial(serial)));
        let hardware = kernels.filter(move |_| serial.is_some()).chain(serial);
        [Self::PORTABLE].into_iter().chain(hardware)
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
        if serial.is_hardware()
            && let Some(token) = Kernels::first()
        {
            return Self(Kind::Kernels(token));
        }
        Self(Kind::Serial(serial))
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
            Kind::Kernels(token) => token.name(),
        }
    }

    /// As many lanes as are faster one after the other than all at once.
    #[inline]
    pub(crate) fn serial_threshold(self) -> usize {
        match self.0 {
            Kind::Serial(_) => LANES,
            Kind::Kernels(token) => token.serial_threshold,
        }
    }

    /// The backend for when only the first half of the lanes is wanted: other kernels, if these always do all.
    #[must_use]
    pub(crate) fn narrow(self) -> Self {
        let narrower = Kernels::all().find(|token| token.width == LANES / 2);
        match (self.0, narrower) {
            (Kind::Kernels(token), Some(narrower)) if token.width == LANES => Self(Kind::Kernels(narrower)),
            _ => self,
        }
    }

    /// How many lanes are processed when so many of the first ones are wanted.
    #[inline]
    pub(crate) fn lanes_processed(self, lanes: usize) -> usize {
        match self.0 {
            Kind::Serial(_) => lanes,
            Kind::Kernels(token) => token.lanes_processed(lanes),
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
            Kind::Kernels(token) => token.permute(states, lanes),
        }
    }

    /// [`Backend::absorb_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn absorb_blocks(self, states: &mut States, blocks: &[&[Block]; LANES]) {
        self.absorb_first(states, blocks, LANES);
    }

    /// [`LaneBackend::absorb_blocks`] on the first `lanes` states. What the others hold then is not defined; those that are
    /// [processed](LaneBackend::lanes_processed) need blocks.
    #[inline]
    pub(crate) fn absorb_first(self, states: &mut States, blocks: &[&[Block]; LANES], lanes: usize) {
        let covered = blocks.iter().take(self.lanes_processed(lanes));
        let n = covered.map(|blocks| blocks.len()).min().unwrap_or(0);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, blocks) in blocks.iter().take(lanes).enumerate() {
                    states.serially(lane, |state| backend.absorb_blocks(state, &blocks[..n]));
                }
            }
            Kind::Kernels(token) => token.absorb_blocks(states, blocks, n, lanes),
        }
    }

    /// [`Backend::encrypt_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn encrypt_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.transform_first(Direction::Encrypt, states, None, blocks, LANES);
    }

    /// [`LaneBackend::encrypt_blocks`] from one buffer to another in each lane.
    #[inline]
    pub fn encrypt_blocks_into(
        self,
        states: &mut States,
        input: &[&[Block]; LANES],
        output: &mut [&mut [Block]; LANES],
    ) {
        self.transform_first(Direction::Encrypt, states, Some(input), output, LANES);
    }

    /// [`Backend::decrypt_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn decrypt_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.transform_first(Direction::Decrypt, states, None, blocks, LANES);
    }

    /// [`LaneBackend::decrypt_blocks`] from one buffer to another in each lane.
    #[inline]
    pub fn decrypt_blocks_into(
        self,
        states: &mut States,
        input: &[&[Block]; LANES],
        output: &mut [&mut [Block]; LANES],
    ) {
        self.transform_first(Direction::Decrypt, states, Some(input), output, LANES);
    }

    /// [`Backend::squeeze_blocks`] on each state, of as many blocks as the lane with the fewest has.
    #[inline]
    pub fn squeeze_blocks(self, states: &mut States, blocks: &mut [&mut [Block]; LANES]) {
        self.transform_first(Direction::Squeeze, states, None, blocks, LANES);
    }

    /// As [`LaneBackend::absorb_first`]: encrypts or decrypts in place unless there is an input, or squeezes.
    #[inline]
    pub(crate) fn transform_first(
        self,
        direction: Direction,
        states: &mut States,
        input: Option<&[&[Block]; LANES]>,
        output: &mut [&mut [Block]; LANES],
        lanes: usize,
    ) {
        let blocks_of = |lane: usize| {
            let given = input.map_or(usize::MAX, |input| input[lane].len());
            given.min(output[lane].len())
        };
        let n = (0..self.lanes_processed(lanes)).map(blocks_of).min().unwrap_or(0);
        match self.0 {
            Kind::Serial(backend) => {
                for (lane, output) in output.iter_mut().take(lanes).enumerate() {
                    let input = input.map(|input| &input[lane][..n]);
                    states.serially(lane, |state| {
                        direction.run(backend, state, input, &mut output[..n]);
                    });
                }
            }
            Kind::Kernels(token) => match direction {
                Direction::Encrypt => token.transform(token.encrypt_blocks, states, input, output, n, lanes),
                Direction::Decrypt => token.transform(token.decrypt_blocks, states, input, output, n, lanes),
                Direction::Squeeze => token.squeeze_blocks(states, output, n, lanes),
            },
        }
    }

    /// The serial operations, for one lane: this backend's where it has no others.
    pub(crate) fn serial(self) -> Backend {
        match self.0 {
            Kind::Serial(backend) => backend,
            Kind::Kernels(_) => Backend::current(),
        }
    }
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

#[cfg(all(test, veriplex_kernels))]
mod tests {
    use super::*;
    use crate::backend::dispatch::{idle, would_serve};

    #[test]
    fn the_self_test_sees_each_wrong_operation() {
        for token in Kernels::detected() {
            assert!(would_serve(*token));
            let (permute, absorb_blocks) = (
                idle!(*mut u8, *const u8),
                idle!(*mut u8, *const *const u8, usize, *const u8),
            );
            let squeeze_blocks = idle!(*mut u8, *const *mut u8, usize, *const u8);
            let idle = idle!(*mut u8, *const *const u8, *const *mut u8, usize, *const u8);
            for wrong in [
                Kernels { permute, ..*token },
                Kernels {
                    absorb_blocks,
                    ..*token
                },
                Kernels {
                    encrypt_blocks: idle,
                    ..*token
                },
                Kernels {
                    decrypt_blocks: idle,
                    ..*token
                },
                Kernels {
                    squeeze_blocks,
                    ..*token
                },
            ] {
                assert!(!would_serve(wrong), "{}", token.name());
            }
        }
    }
}
