//! Eight duplexes in step, with their permutations computed together.

use core::ops::Range;

pub(crate) use crate::backend::lane_backend::Direction;
use crate::backend::lane_backend::{LANES, LaneBackend, States};
use crate::backend::simpira1024::{Block, STATE_LEN, State};
use crate::base::wipe::wipe;
use crate::duplex::framing::{Cursor, PADDED, RATE, copy, header_len};

/// What a state is changed by before the permutation.
type Staged = [u8; PADDED];
const WORD: usize = 16;

/// The states of eight duplexes in step, whose permutations are computed together. Where each is in its block is known to
/// whoever drives them.
///
/// Wiped on drop.
pub(crate) struct Lanes {
    /// Without what is in `staged`.
    states: States,
    /// What each state is still to be changed by, with XOR, before it is permuted: bytes of its own.
    staged: [Staged; LANES],
    /// And what is the same for all lanes in step, at the first of them: frames, labels, lengths, padding.
    common: [Staged; LANES],
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

    /// The backend for when all lanes that are wanted are among the first `used`.
    #[inline]
    fn of(self, used: usize) -> LaneBackend {
        if used <= LANES / 2 { self.narrow } else { self.wide }
    }

    /// How many lanes are processed then.
    #[inline]
    pub(crate) fn lanes_processed(self, used: usize) -> usize {
        self.of(used).lanes_processed(used)
    }

    /// As many lanes as are better processed one after the other then.
    #[inline]
    pub(crate) fn serial_threshold(self, used: usize) -> usize {
        let backend = self.of(used);
        backend.serial_threshold() * backend.lanes_processed(used) / LANES
    }
}

impl Lanes {
    /// Eight all-zero states.
    pub(crate) fn new() -> Self {
        Self {
            states: States::new(),
            staged: [[0; PADDED]; LANES],
            common: [[0; PADDED]; LANES],
            backends: Backends::new(LaneBackend::current()),
        }
    }

    #[inline]
    pub(crate) const fn backends(&self) -> Backends {
        self.backends
    }

    /// The states, and what `count` lanes from `first` on, which are in step, are to be changed by.
    #[inline(always)]
    pub(crate) fn stage(&mut self, first: usize, count: usize, cursor: Cursor) -> (&mut States, Stage<'_>) {
        let stage = Stage {
            bytes: &mut self.staged[first..first + count],
            common: &mut self.common[first],
            first,
            cursor,
        };
        (&mut self.states, stage)
    }

    pub(crate) fn set_state(&mut self, lane: usize, state: &State) {
        self.states.set_lane(lane, state);
    }

    /// What is staged for `count` lanes from `first` on, which are in step, goes into their states. With a `start`, these
    /// become copies of it before.
    #[inline(always)]
    pub(crate) fn unstage(&mut self, first: usize, count: usize, start: Option<&State>) {
        let mut base = start.copied().unwrap_or([0; STATE_LEN]);
        super::xor(&mut base[..PADDED], &self.common[first]);
        self.common[first] = [0; PADDED];
        for lane in first..first + count {
            let staged = self.staged[lane].as_chunks().0;
            for (i, base) in base.as_chunks().0.iter().enumerate() {
                let state = self.states.word(i, lane);
                let before = if start.is_some() {
                    *base
                } else {
                    xor_word(*base, *state)
                };
                *state = xor_word(before, staged.get(i).copied().unwrap_or_default());
            }
            self.staged[lane] = [0; PADDED];
        }
        wipe(&mut base);
    }

    /// Permutes the first `used` lanes. What the others hold is lost: they are to be loaded again.
    #[inline]
    pub(crate) fn permute_first(&mut self, used: usize) {
        self.backends.of(used).permute_first(&mut self.states, used);
    }

    /// Absorbs in the first `used` lanes. Each must be at the start of a block, or be done with: it is to be loaded again, and
    /// so are those after them. Those that are [processed](Backends::lanes_processed) need blocks.
    #[inline]
    pub(crate) fn absorb_blocks(&mut self, blocks: &[&[Block]; LANES], used: usize) {
        self.backends
            .of(used)
            .absorb_first(&mut self.states, blocks, used);
    }

    /// As [`Lanes::absorb_blocks`]; in place unless there is an input.
    #[inline]
    pub(crate) fn transform_blocks(
        &mut self,
        direction: Direction,
        input: Option<&[&[Block]; LANES]>,
        mut output: [&mut [Block]; LANES],
        used: usize,
    ) {
        (self.backends.of(used)).transform_first(direction, &mut self.states, input, &mut output, used);
    }

    /// Permutes one lane. The others stay as they are.
    pub(crate) fn permute_single_lane(&mut self, lane: usize) {
        let mut state = self.states.lane(lane);
        self.backends.wide.serial().permute(&mut state);
        self.put_back(lane, &mut state);
    }

    /// Absorbs in one lane, which must be at the start of a block.
    pub(crate) fn absorb_single_lane(&mut self, lane: usize, blocks: &[Block]) {
        let mut state = self.states.lane(lane);
        self.backends.wide.serial().absorb_blocks(&mut state, blocks);
        self.put_back(lane, &mut state);
    }

    /// As [`Lanes::absorb_single_lane`].
    pub(crate) fn transform_single_lane(
        &mut self,
        direction: Direction,
        lane: usize,
        input: Option<&[Block]>,
        output: &mut [Block],
    ) {
        let mut state = self.states.lane(lane);
        direction.run(self.backends.wide.serial(), &mut state, input, output);
        self.put_back(lane, &mut state);
    }

    fn put_back(&mut self, lane: usize, state: &mut State) {
        self.states.set_lane(lane, state);
        wipe(state);
    }
}

/// Where lanes absorb that are in step: up to the end of a block, which is still to be permuted. The cursor is here, and not
/// behind a reference, so that the compiler keeps it in a register.
pub(crate) struct Stage<'s> {
    bytes: &'s mut [Staged],
    common: &'s mut Staged,
    pub(crate) first: usize,
    pub(crate) cursor: Cursor,
}

impl Stage<'_> {
    /// Where the lanes absorb the next `len` bytes of their own, or as many as the block takes.
    #[inline(always)]
    pub(crate) fn next(&mut self, len: usize) -> (&mut [Staged], Range<usize>) {
        let window = self.cursor.window(len);
        self.cursor.advance(window.len());
        (self.bytes, window)
    }

    /// Stages the padding: the block ends.
    #[inline(always)]
    pub(crate) fn end_block(&mut self) {
        self.cursor.pad(self.common);
    }

    #[inline(always)]
    pub(crate) fn absorb_byte(&mut self, byte: u8) {
        self.common[self.cursor.position()] = byte;
        self.cursor.advance(1);
    }

    /// Absorbs the beginning of an operation from its byte `done` on, as much as the block takes, and returns how much that
    /// was.
    #[inline(always)]
    pub(crate) fn absorb_header(&mut self, done: usize, op: u8, label: &[u8]) -> usize {
        let to = &mut self.common[self.cursor.position()..RATE];
        if done == 0
            && let Some(to) = self.cursor.header(to, op, label.len())
        {
            copy(to, label);
            return header_len(label);
        }
        let mut now = done;
        while now < header_len(label) && !self.cursor.is_full() {
            let mut frame = [0];
            let piece = self.cursor.header_piece(now, op, label, &mut frame);
            let window = self.cursor.window(piece.len());
            let len = window.len();
            copy(&mut self.common[window], &piece[..len]);
            self.cursor.advance(len);
            now += len;
        }
        now - done
    }
}

/// Squeezes at most a block of a lane, which does nothing more then.
#[inline(always)]
pub(crate) fn squeeze_last(states: &mut States, lane: usize, output: &mut [u8]) {
    let (words, rest) = output.as_chunks_mut();
    for (i, word) in words.iter_mut().enumerate() {
        *word = *states.word(i, lane);
    }
    if !rest.is_empty() {
        copy(rest, &states.word(words.len(), lane)[..rest.len()]);
    }
}

/// Transforms data with the state of a lane. They are staged in this part of its block; what the state is to be changed by
/// is then.
#[inline(always)]
pub(crate) fn transform(
    direction: Direction,
    states: &mut States,
    lane: usize,
    bytes: &mut Staged,
    window: &Range<usize>,
    output: &mut [u8],
) {
    let mut at = window.start;
    let mut rest = &mut output[..window.len()];
    while !rest.is_empty() {
        let (first, within) = (at / WORD, at % WORD);
        let staged = &mut bytes.as_chunks_mut().0[first..];
        let now = if within == 0 && rest.len() >= WORD {
            let words = rest.as_chunks_mut().0;
            transform_words(direction, words, staged, states, first, lane);
            words.len() * WORD
        } else {
            let now = rest.len().min(WORD - within);
            let (mut data, mut absorbed) = ([[0; WORD]], [staged[0]]);
            transform_words(direction, &mut data, &mut absorbed, states, first, lane);
            copy(&mut rest[..now], &data[0][within..within + now]);
            if direction != Direction::Encrypt {
                copy(
                    &mut staged[0][within..within + now],
                    &absorbed[0][within..within + now],
                );
            }
            now
        };
        at += now;
        rest = &mut rest[now..];
    }
}

/// Transforms words that are staged. A loop for each direction: what several give to one write, the compiler takes byte by
/// byte.
#[inline(always)]
fn transform_words(
    direction: Direction,
    data: &mut [[u8; WORD]],
    staged: &mut [[u8; WORD]],
    states: &mut States,
    first: usize,
    lane: usize,
) {
    let words = data.iter_mut().zip(staged).zip(first..);
    match direction {
        Direction::Encrypt => {
            for ((data, staged), word) in words {
                *data = xor_word(*staged, *states.word(word, lane));
            }
        }
        // The state becomes the ciphertext, that is, the plaintext is XORed into it.
        Direction::Decrypt => {
            for ((data, staged), word) in words {
                *staged = xor_word(*staged, *states.word(word, lane));
                *data = *staged;
            }
        }
        Direction::Squeeze => {
            for ((data, staged), word) in words {
                *staged = *states.word(word, lane);
                *data = *staged;
            }
        }
    }
}

/// As bytes, which the compiler does in one vector register: halves would be stored, and then be waited for.
#[inline(always)]
fn xor_word(mut a: [u8; WORD], b: [u8; WORD]) -> [u8; WORD] {
    for (a, b) in a.iter_mut().zip(&b) {
        *a ^= b;
    }
    a
}

impl Drop for Lanes {
    fn drop(&mut self) {
        wipe(self.staged.as_flattened_mut());
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
            let has_kernels = !backend.name().ends_with("serial");
            // Eight lanes at once take twice as long as four.
            let narrow = match backend.name() {
                "x86-64-avx512" => "x86-64-vaes",
                name => name,
            };
            for used in 0..=LANES {
                let name = if used <= LANES / 2 { narrow } else { backend.name() };
                assert_eq!(backends.of(used).name(), name, "{used} of {backend:?}");
                let covered = backends.lanes_processed(used);
                assert!((used..=LANES).contains(&covered), "{used} of {backend:?}");
                assert!(covered < used + LANES / 2, "{used} of {backend:?}");
                // Lanes that are all wanted are processed together, if there are kernels for that.
                let one_by_one = used <= backends.serial_threshold(used);
                let all_wanted = used > 0 && used == covered;
                assert!(
                    !(one_by_one && all_wanted && has_kernels),
                    "{used} of {backend:?}"
                );
                assert!(one_by_one || has_kernels);
            }
            // One alone is not worth a kernel for several.
            assert_eq!(backends.serial_threshold(1), 1, "{backend:?}");
        }
    }
}
