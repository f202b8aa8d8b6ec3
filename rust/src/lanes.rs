//! Eight duplexes in step: [`Duplex`] by [`Duplex`] the same, with their permutations computed together.

use core::fmt;

use crate::backend::Backend;
use crate::duplex::Duplex;
use crate::framing::{Cursor, PADDED, RATE, copy, header_len};
use crate::lane_backend::{LANES, LaneBackend, States};
use crate::simpira1024::{Block, State};
use crate::wipe::wipe;

/// What a state is changed by before the permutation.
pub(crate) type Staged = [u8; PADDED];
pub(crate) const WORD: usize = 16;

/// Eight duplexes in step: each operation runs on all of them, and their permutations are computed together.
///
/// Each lane gives what a [`Duplex`] of its own would give. Inputs may have different lengths; lanes whose blocks are
/// complete at the same time are the fastest.
///
/// ```
/// use veriplex::hazmat::{Duplex, Lanes};
///
/// let mut lanes = Lanes::new();
/// lanes.absorb([b"eight messages".as_slice(), b"of", b"any", b"lengths", b"", b"one", b"for each", b"lane"]);
/// lanes.permute();
/// let mut duplex = Duplex::new();
/// duplex.absorb(b"lengths");
/// duplex.permute();
/// assert_eq!(lanes.lane(3), duplex);
/// ```
///
/// The states are wiped on drop.
#[derive(Clone)]
pub struct Lanes {
    /// Without what is in `staged`.
    states: States,
    /// What each state is still to be changed by, with XOR, before it is permuted: zero from the rate index on.
    staged: [Staged; LANES],
    cursors: [Cursor; LANES],
    backends: Backends,
}

/// Which kernels process lanes: it depends on how many are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Backends {
    wide: LaneBackend,
    /// For when only lanes of the first half are wanted.
    narrow: LaneBackend,
}

impl Backends {
    fn new(wide: LaneBackend) -> Self {
        Self {
            wide,
            narrow: wide.narrow(),
        }
    }

    pub(crate) fn current() -> Self {
        Self::new(LaneBackend::current())
    }

    /// Whether there are kernels for lanes.
    #[inline]
    pub(crate) fn has_kernels(self) -> bool {
        self.wide.few() < LANES
    }

    /// The backend for when all lanes that are wanted are among the first `used`.
    #[inline]
    pub(crate) fn of(self, used: usize) -> LaneBackend {
        if used <= LANES / 2 { self.narrow } else { self.wide }
    }

    /// How many lanes are processed then.
    #[inline]
    pub(crate) fn covered(self, used: usize) -> usize {
        self.of(used).covered(used)
    }

    /// As many lanes as are better processed one after the other then.
    #[inline]
    pub(crate) fn few(self, used: usize) -> usize {
        let backend = self.of(used);
        backend.few() * backend.covered(used) / LANES
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
    /// It on the first of the lanes.
    #[inline]
    pub(crate) fn operation(self) -> fn(LaneBackend, &mut States, &mut [&mut [Block]; LANES], usize) {
        match self {
            Self::Encrypt => LaneBackend::encrypt_first,
            Self::Decrypt => LaneBackend::decrypt_first,
            Self::Squeeze => LaneBackend::squeeze_first,
        }
    }
}

impl Lanes {
    /// Eight all-zero duplexes.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(LaneBackend::current())
    }

    /// The same, on a backend of choice.
    #[must_use]
    pub fn with_backend(backend: LaneBackend) -> Self {
        Self {
            states: States::new(),
            staged: [[0; PADDED]; LANES],
            cursors: [Cursor::START; LANES],
            backends: Backends::new(backend),
        }
    }

    /// The duplex in a lane.
    ///
    /// # Panics
    ///
    /// For a lane that is not below 8.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Duplex {
        let mut state = self.states.lane(lane);
        for (to, from) in state.iter_mut().zip(&self.staged[lane]) {
            *to ^= from;
        }
        let duplex = Duplex::from_parts(state, self.cursors[lane]);
        wipe(&mut state);
        duplex
    }

    /// Replaces the duplex in a lane.
    ///
    /// # Panics
    ///
    /// For a lane that is not below 8.
    #[inline]
    pub fn set_lane(&mut self, lane: usize, duplex: &Duplex) {
        let (state, cursor) = duplex.parts();
        self.states.set_lane(lane, state);
        self.staged[lane].fill(0);
        self.cursors[lane] = cursor;
    }

    /// [`Duplex::absorb`] on each lane.
    pub fn absorb(&mut self, inputs: [&[u8]; LANES]) {
        let mut rests = inputs;
        loop {
            if let Some(count) = self.full_blocks(rests.map(<[u8]>::len)) {
                let blocks = rests.map(|rest| &rest.as_chunks().0[..count]);
                self.absorb_blocks(&blocks, LANES);
                rests = rests.map(|rest| &rest[count * RATE..]);
            }
            for (lane, rest) in rests.iter_mut().enumerate() {
                *rest = &rest[self.absorb_some(lane, rest)..];
            }
            if !self.permute_full() {
                return;
            }
        }
    }

    /// [`Duplex::encrypt`] on each lane.
    pub fn encrypt(&mut self, in_outs: [&mut [u8]; LANES]) {
        self.transform(Direction::Encrypt, in_outs);
    }

    /// [`Duplex::decrypt`] on each lane.
    pub fn decrypt(&mut self, in_outs: [&mut [u8]; LANES]) {
        self.transform(Direction::Decrypt, in_outs);
    }

    /// [`Duplex::squeeze`] on each lane.
    pub fn squeeze(&mut self, outputs: [&mut [u8]; LANES]) {
        self.transform(Direction::Squeeze, outputs);
    }

    /// [`Duplex::frame`] on each lane.
    pub fn frame(&mut self, id: u8) {
        let before = self.cursors.map(|cursor| [cursor.previous_frame()]);
        self.absorb(before.each_ref().map(<[u8; 1]>::as_slice));
        self.cursors.iter_mut().for_each(Cursor::open_frame);
        self.absorb([&[id]; LANES]);
    }

    /// [`Duplex::permute`] on each lane.
    pub fn permute(&mut self) {
        self.permute_lanes([true; LANES]);
    }

    /// Back to the all-zero states, secrets wiped.
    pub fn clear(&mut self) {
        self.states.clear();
        wipe(self.staged.as_flattened_mut());
        self.cursors = [Cursor::START; LANES];
    }

    fn transform(&mut self, direction: Direction, in_outs: [&mut [u8]; LANES]) {
        let mut rests = in_outs;
        loop {
            if let Some(count) = self.full_blocks(rests.each_ref().map(|rest| rest.len())) {
                let mut parts = rests.map(|rest| rest.split_at_mut(count * RATE));
                let blocks = parts.each_mut().map(|(blocks, _)| blocks.as_chunks_mut().0);
                self.transform_blocks(direction, blocks, LANES);
                rests = parts.map(|(_, rest)| rest);
            }
            for (lane, rest) in rests.iter_mut().enumerate() {
                let done = self.transform_some(direction, lane, rest);
                *rest = &mut core::mem::take(rest)[done..];
            }
            if !self.permute_full() {
                return;
            }
        }
    }

    /// How many full blocks the kernels can process: at least one, and all lanes at the start of a block.
    fn full_blocks(&self, lens: [usize; LANES]) -> Option<usize> {
        let count = lens.into_iter().min().unwrap_or(0) / RATE;
        let at_start = (0..LANES).all(|lane| self.at_start(lane));
        (count > 0 && at_start).then_some(count)
    }

    /// Permutes the lanes whose block is full, if there are such.
    fn permute_full(&mut self) -> bool {
        let full = self.cursors.map(Cursor::is_full);
        let any = full.contains(&true);
        if any {
            self.permute_lanes(full);
        }
        any
    }
}

/// For those who drive lanes one by one.
impl Lanes {
    #[inline]
    pub(crate) const fn backends(&self) -> Backends {
        self.backends
    }

    /// Whether kernels can take full blocks in a lane.
    #[inline]
    pub(crate) fn at_start(&self, lane: usize) -> bool {
        self.cursors[lane].is_at_start()
    }

    #[inline]
    pub(crate) fn is_full(&self, lane: usize) -> bool {
        self.cursors[lane].is_full()
    }

    /// Absorbs as much as the block takes, and returns how much that was. A full block is still to be permuted.
    #[inline]
    pub(crate) fn absorb_some(&mut self, lane: usize, input: &[u8]) -> usize {
        let window = self.cursors[lane].window(input.len());
        let len = window.len();
        copy(&mut self.staged[lane][window], &input[..len]);
        self.cursors[lane].advance(len);
        len
    }

    /// Absorbs the beginning of an operation from its byte `done` on, as much as the block takes, and returns how much that
    /// was.
    #[inline]
    pub(crate) fn absorb_header(&mut self, lane: usize, done: usize, op: u8, label: &[u8]) -> usize {
        let cursor = &mut self.cursors[lane];
        let window = cursor.position()..RATE;
        let to = &mut self.staged[lane][window];
        if done == 0
            && let Some(to) = cursor.header(to, op, label.len())
        {
            copy(to, label);
            return header_len(label);
        }
        let mut now = done;
        while now < header_len(label) && !self.is_full(lane) {
            let mut frame = [0];
            let piece = self.cursors[lane].header_piece(now, op, label, &mut frame);
            now += self.absorb_some(lane, piece);
        }
        now - done
    }

    /// Encrypts, decrypts or squeezes as much as the block takes.
    #[inline]
    pub(crate) fn transform_some(&mut self, direction: Direction, lane: usize, in_out: &mut [u8]) -> usize {
        let window = self.cursors[lane].window(in_out.len());
        let mut rest = &mut in_out[..window.len()];
        let mut at = window.start;
        while !rest.is_empty() {
            let within = at % WORD;
            let len = rest.len().min(WORD - within);
            let (now, later) = rest.split_at_mut(len);
            let word = self.states.word(at / WORD, lane);
            let staged = &mut self.staged[lane][at..at + len];
            match (
                <&mut [u8; WORD]>::try_from(&mut *now),
                <&mut [u8; WORD]>::try_from(&mut *staged),
            ) {
                (Ok(now), Ok(staged)) => (*now, *staged) = transform_word(direction, *now, *word),
                _ => transform_part(direction, now, &word[within..], staged),
            }
            at += len;
            rest = later;
        }
        self.cursors[lane].advance(window.len());
        window.len()
    }

    /// Stages the padding of the block.
    #[inline]
    fn pad(&mut self, lane: usize) {
        self.cursors[lane].pad(&mut self.staged[lane]);
    }

    /// What is staged goes into the state, and the next block begins.
    #[inline]
    fn unstage(&mut self, lane: usize) {
        let staged = &mut self.staged[lane];
        for (i, staged) in staged.as_chunks().0.iter().enumerate() {
            xor_word(self.states.word(i, lane), staged);
        }
        staged.fill(0);
        self.cursors[lane] = Cursor::START;
    }

    /// Pads and permutes these lanes. The others stay as they are.
    fn permute_lanes(&mut self, lanes: [bool; LANES]) {
        let count = lanes.iter().filter(|&&wanted| wanted).count();
        if count <= self.backends.few(used(lanes)) {
            for (lane, _) in lanes.iter().enumerate().filter(|(_, wanted)| **wanted) {
                self.permute_alone(lane);
            }
            return;
        }
        let before = (count < LANES).then(|| self.states.clone());
        self.permute_busy(lanes);
        if let Some(before) = before {
            for (lane, _) in lanes.iter().enumerate().filter(|(_, wanted)| !**wanted) {
                self.states.set_lane(lane, &before.lane(lane));
            }
        }
    }

    /// Pads and permutes these lanes. What the others hold is lost: they are to be loaded again.
    #[inline]
    pub(crate) fn permute_busy(&mut self, lanes: [bool; LANES]) {
        // A word must be in memory before it can be loaded, if it was stored byte by byte. So first all bytes are stored.
        for (lane, _) in lanes.iter().enumerate().filter(|(_, busy)| **busy) {
            self.pad(lane);
        }
        for (lane, _) in lanes.iter().enumerate().filter(|(_, busy)| **busy) {
            self.unstage(lane);
        }
        let used = used(lanes);
        self.backends.of(used).permute_first(&mut self.states, used);
    }

    /// Pads and permutes one lane. The others stay as they are.
    pub(crate) fn permute_alone(&mut self, lane: usize) {
        self.pad(lane);
        self.unstage(lane);
        self.backends.wide.alone(&mut self.states, lane, Backend::permute);
    }

    /// Absorbs in the first `used` lanes. Each must be at the start of a block, or be done with: it is to be loaded again, and
    /// so are those after them. Those that are [covered](Backends::covered) need blocks.
    #[inline]
    pub(crate) fn absorb_blocks(&mut self, blocks: &[&[Block]; LANES], used: usize) {
        self.backends
            .of(used)
            .absorb_first(&mut self.states, blocks, used);
    }

    /// As [`Lanes::absorb_blocks`].
    #[inline]
    pub(crate) fn transform_blocks(
        &mut self,
        direction: Direction,
        mut blocks: [&mut [Block]; LANES],
        used: usize,
    ) {
        let backend = self.backends.of(used);
        direction.operation()(backend, &mut self.states, &mut blocks, used);
    }

    /// An operation on full blocks of one lane, which must be at the start of a block.
    #[inline]
    pub(crate) fn alone(&mut self, lane: usize, operation: impl FnOnce(Backend, &mut State)) {
        debug_assert!(self.at_start(lane));
        self.backends.wide.alone(&mut self.states, lane, operation);
    }
}

/// The number of the first lanes among which are all that are wanted.
#[inline]
pub(crate) fn used(wanted: [bool; LANES]) -> usize {
    wanted
        .iter()
        .rposition(|&wanted| wanted)
        .map_or(0, |last| last + 1)
}

/// Data and staged bytes then. By value: as references, the compiler does not know that they are apart.
#[inline(always)]
fn transform_word(direction: Direction, data: [u8; WORD], state: [u8; WORD]) -> ([u8; WORD], [u8; WORD]) {
    let mut sum = data;
    xor_word(&mut sum, &state);
    match direction {
        Direction::Encrypt => (sum, data),
        // The state becomes the ciphertext, that is, the plaintext is XORed into it.
        Direction::Decrypt => (sum, sum),
        Direction::Squeeze => (state, state),
    }
}

/// Equal lengths of data and staged bytes; the state's may be longer.
#[inline(always)]
fn transform_part(direction: Direction, data: &mut [u8], state: &[u8], staged: &mut [u8]) {
    for ((data, state), staged) in data.iter_mut().zip(state).zip(staged) {
        match direction {
            Direction::Encrypt => {
                *staged = *data;
                *data ^= state;
            }
            // The state becomes the ciphertext, that is, the plaintext is XORed into it.
            Direction::Decrypt => {
                *data ^= state;
                *staged = *data;
            }
            Direction::Squeeze => {
                *data = *state;
                *staged = *state;
            }
        }
    }
}

/// Squeezes at most a block from the state of a lane.
#[inline]
pub(crate) fn read(states: &mut States, lane: usize, output: &mut [u8]) {
    let (words, rest) = output.as_chunks_mut();
    for (i, word) in words.iter_mut().enumerate() {
        *word = *states.word(i, lane);
    }
    if !rest.is_empty() {
        copy(rest, &states.word(words.len(), lane)[..rest.len()]);
    }
}

/// As bytes, which the compiler does in one vector register: halves would be stored, and then be waited for.
#[inline(always)]
pub(crate) fn xor_word(to: &mut [u8; WORD], from: &[u8; WORD]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from;
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.clear();
    }
}

impl zeroize::ZeroizeOnDrop for Lanes {}

/// Shows no part of the states.
impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    /// Results never depend on the choice, only the time does.
    #[test]
    fn no_more_lanes_are_processed_than_it_takes() {
        for backend in LaneBackend::available() {
            let backends = Backends::new(backend);
            // Eight lanes at once take twice as long as four.
            let narrow = match backend.name() {
                "x86-64-avx512" => "x86-64-vaes",
                name => name,
            };
            for used in 0..=LANES {
                let name = if used <= LANES / 2 { narrow } else { backend.name() };
                assert_eq!(backends.of(used).name(), name, "{used} of {backend:?}");
                let covered = backends.covered(used);
                assert!((used..=LANES).contains(&covered), "{used} of {backend:?}");
                assert!(covered < used + LANES / 2, "{used} of {backend:?}");
                // Lanes that are all wanted are processed together, if there are kernels for that.
                let one_by_one = used <= backends.few(used);
                let all_wanted = used > 0 && used == covered;
                assert!(
                    !(one_by_one && all_wanted && backends.has_kernels()),
                    "{used} of {backend:?}"
                );
                assert!(one_by_one || backends.has_kernels());
            }
            // One alone is not worth a kernel for several.
            assert_eq!(backends.few(1), 1, "{backend:?}");
        }
    }
}
