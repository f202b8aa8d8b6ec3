//! Many transcripts that differ only in what one Mix takes, which is as long in each: what they share is computed once.
//!
//! [`many`](super::many) finds out for each lane, block by block, what comes next; that takes a tenth of the time of a
//! chunk of 4096 bytes. Here it is known.

use core::ops::Range;

use super::many::{Start, header_len, leb128, leb128_len};
use super::{Op, Protocol, many};
use crate::Label;
use crate::duplex::RATE;
use crate::lane_backend::{LANES, States};
use crate::lanes::{Backends, PADDED, Staged, WORD, copy, pad, xor_word};
use crate::simpira1024::State;
use crate::timing::Timing;
use crate::wipe::wipe;

/// [`many::derive`] for the chunks of `x`, of which the last may be shorter than `chunk_len`.
pub(crate) fn derive<const N: usize>(
    start: &Protocol,
    label: Label<'_>,
    x: &[u8],
    chunk_len: usize,
    outputs: &mut [[u8; N]],
) {
    const { assert!(N <= RATE, "an output is from one state") };
    let whole = x.len() / chunk_len;
    let backends = Backends::current();
    let mut alike = whole / LANES * LANES;
    // What is left can be done here too if no chunk is shorter.
    if whole == outputs.len() && whole - alike > backends.few(whole - alike) {
        alike = whole;
    }
    if !backends.has_kernels() {
        alike = 0;
    }
    let (now, later) = x.split_at(alike * chunk_len);
    let (outputs_now, outputs_later) = outputs.split_at_mut(alike);
    if alike > 0 {
        let _timing = Timing::independent();
        let mut transcripts = Alike::new(start, label, chunk_len, N, backends);
        for (chunks, outputs) in (now.chunks(LANES * chunk_len)).zip(outputs_now.chunks_mut(LANES)) {
            transcripts.derive(chunks, outputs);
        }
    }
    if !later.is_empty() {
        let outputs = outputs_later.iter_mut().map(<[u8; N]>::as_mut_slice);
        many::derive(start, label, later.chunks(chunk_len), outputs);
    }
}

/// Eight transcripts: a Mix that is open takes `len` bytes, and a Derive follows.
struct Alike {
    backends: Backends,
    len: usize,
    /// What each lane starts from, with the padding of the block that is begun, if the data complete it.
    start: States,
    states: States,
    /// The block that is begun, if the data complete it; they go into this part.
    first: [Staged; LANES],
    first_window: Range<usize>,
    /// How many blocks have nothing but data.
    blocks: usize,
    /// The block with the end of the data, which go into this part.
    last: [Staged; LANES],
    last_window: Range<usize>,
    /// Those after it.
    ends: [Staged; End::MOST - 1],
    ends_count: usize,
}

impl Alike {
    fn new(start: &Protocol, label: Label<'_>, len: usize, output_len: usize, backends: Backends) -> Self {
        let bytes = Start::of(start);
        let [rate_idx, frame_idx, state @ ..] = &bytes.0;
        let mut state: State = *state;
        let at = usize::from(*rate_idx);
        let completes = at + len >= RATE;
        let first_window = if completes && at > 0 { at..RATE } else { 0..0 };
        let mut end = End::new();
        let (blocks, last_window) = if completes {
            let rest = len - first_window.len();
            (rest / RATE, 0..rest % RATE)
        } else {
            end.frame_idx = *frame_idx;
            (0, at..at + len)
        };
        if !first_window.is_empty() {
            state[RATE] ^= frame_idx;
            state[RATE + 1] ^= 0x81;
        }
        end.rate_idx = last_window.end;
        end.derive(label, output_len);
        let [last, ends @ ..] = end.blocks;
        let mut this = Self {
            backends,
            len,
            start: States::new(),
            states: States::new(),
            first: [[0; PADDED]; LANES],
            first_window,
            blocks,
            last: [last; LANES],
            last_window,
            ends,
            ends_count: end.count - 1,
        };
        (0..LANES).for_each(|lane| this.start.set_lane(lane, &state));
        wipe(&mut state);
        this
    }

    /// For at most as many chunks as there are lanes.
    fn derive<const N: usize>(&mut self, chunks: &[u8], outputs: &mut [[u8; N]]) {
        let used = outputs.len();
        let backend = self.backends.of(used);
        let any = &chunks[..self.len];
        let mut each = chunks.chunks_exact(self.len);
        // Nobody looks at what the other lanes do.
        let chunks: [&[u8]; LANES] = core::array::from_fn(|_| each.next().unwrap_or(any));
        let states = &mut self.states;
        states.copy_from(&self.start);

        let first_len = self.first_window.len();
        if first_len > 0 {
            for (staged, chunk) in self.first.iter_mut().zip(&chunks) {
                copy(&mut staged[self.first_window.clone()], &chunk[..first_len]);
            }
            absorb(states, &self.first);
            backend.permute_first(states, used);
        }
        if self.blocks > 0 {
            let blocks = chunks.map(|chunk| &chunk[first_len..].as_chunks().0[..self.blocks]);
            backend.absorb_first(states, &blocks, used);
        }
        for (staged, chunk) in self.last.iter_mut().zip(&chunks) {
            copy(
                &mut staged[self.last_window.clone()],
                &chunk[self.len - self.last_window.len()..],
            );
        }
        absorb(states, &self.last);
        backend.permute_first(states, used);
        for end in &self.ends[..self.ends_count] {
            absorb(states, &[*end; LANES]);
            backend.permute_first(states, used);
        }
        for (lane, output) in outputs.iter_mut().enumerate() {
            for (i, output) in output.chunks_mut(WORD).enumerate() {
                output.copy_from_slice(&states.word(i, lane)[..output.len()]);
            }
        }
    }
}

impl Drop for Alike {
    fn drop(&mut self) {
        #[cfg(feature = "zeroize")]
        for staged in [&mut self.first, &mut self.last] {
            wipe(staged.as_flattened_mut());
        }
    }
}

/// XORs a block into each state.
#[inline]
fn absorb(states: &mut States, blocks: &[Staged; LANES]) {
    for word in 0..PADDED / WORD {
        for (lane, block) in blocks.iter().enumerate() {
            xor_word(states.word(word, lane), &block.as_chunks().0[word]);
        }
    }
}

/// What follows the data: the header of a Derive, its length and the padding.
struct End {
    blocks: [Staged; Self::MOST],
    count: usize,
    rate_idx: usize,
    frame_idx: u8,
}

impl End {
    /// The block with the end of the data, and at most 105 more bytes.
    const MOST: usize = 3;

    const fn new() -> Self {
        Self {
            blocks: [[0; PADDED]; Self::MOST],
            count: 0,
            rate_idx: 0,
            frame_idx: 0,
        }
    }

    fn derive(&mut self, label: Label<'_>, output_len: usize) {
        debug_assert!(self.rate_idx + header_len(label.as_bytes()) + 10 < Self::MOST * RATE);
        self.frame(Op::Derive as u8);
        label.as_bytes().iter().for_each(|&byte| self.byte(byte));
        self.frame(Op::Derive as u8 | 0x80);
        (0..leb128_len(output_len)).for_each(|place| self.byte(leb128(output_len, place)));
        self.permute();
    }

    #[allow(clippy::cast_possible_truncation)] // below 94
    fn frame(&mut self, id: u8) {
        self.byte(self.frame_idx);
        self.frame_idx = self.rate_idx as u8;
        self.byte(id);
    }

    fn byte(&mut self, byte: u8) {
        self.blocks[self.count][self.rate_idx] = byte;
        self.rate_idx += 1;
        if self.rate_idx == RATE {
            self.permute();
        }
    }

    /// The block ends here, and the next one begins.
    fn permute(&mut self) {
        pad(&mut self.blocks[self.count], self.rate_idx, self.frame_idx);
        self.count += 1;
        self.rate_idx = 0;
        self.frame_idx = 0;
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::label;
    use crate::lane_backend::on_each_lane_backend;

    /// From every place of a block, with data and headers that end at many.
    #[test]
    fn the_same_as_one_by_one() {
        let label_bytes = [b'l'; 91];
        on_each_lane_backend(|backend| {
            for case in 0..94 * 16_usize {
                let (place, more) = (case % 94, case / 94);
                let chunk_len = 1 + (case * 37) % 301;
                let label = Label::new(&label_bytes[..case * 53 % 92]).unwrap();
                let whole = 1 + more + place % 5;
                let x: Vec<u8> = (0..whole * chunk_len + case % 3 * (chunk_len / 2))
                    .map(|i| (i * 7 + i / 251).to_le_bytes()[0])
                    .collect();
                let mut start = Protocol::new(label!("test"));
                start.mix(label!("place"), &[1; 94][..place]);
                start.mix_begin(label!("chunk"));
                let mut outputs = vec![[0; 33]; x.len().div_ceil(chunk_len)];
                derive(&start, label, &x, chunk_len, &mut outputs);
                for (chunk, output) in x.chunks(chunk_len).zip(&outputs) {
                    let mut alone = start.clone();
                    alone.mix_more(chunk);
                    assert_eq!(*output, alone.derive_array(label), "{backend:?}, case {case}");
                }
            }
        });
    }

    /// Nothing is left of what was staged, nor of the states.
    #[cfg(all(feature = "zeroize", target_os = "linux"))]
    #[test]
    fn dropped_transcripts_are_wiped() {
        let mut start = Protocol::new(label!("test"));
        start.mix(label!("key"), &[7; 200]);
        start.mix_begin(label!("chunk"));
        let chunk_len = 4096;
        let mut alike = Alike::new(&start, label!("cv"), chunk_len, 32, Backends::current());
        alike.derive(&vec![0xab; LANES * chunk_len], &mut [[0; 32]; LANES]);
        let secret_len = LANES * (alike.first_window.len() + alike.last_window.len());
        // Headers of constant labels, and where data go.
        let public = alike.ends.as_flattened().iter().filter(|&&byte| byte != 0);
        let public = public.count() + 100;
        let [before, after] = crate::wipe::before_and_after_drop(alike);
        let staged = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == 0xab).fold(0, |n, _| n + 1);
        let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
        assert!(staged(&before) >= secret_len && used(&before) > 2 * LANES * 128);
        assert!(staged(&after) < 8, "{}", staged(&after));
        assert!(used(&after) <= public, "{}", used(&after));
    }
}
