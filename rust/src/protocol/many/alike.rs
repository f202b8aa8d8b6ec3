//! Transcripts that differ only in what one Mix takes, which is as long in each: what they share is computed once.

use core::ops::Range;

use super::blocks::Blocks;
use super::derive as derive_each;
use crate::Label;
use crate::duplex::Duplex;
use crate::framing::{Cursor, Op, PADDED, RATE, copy};
use crate::lane_backend::{LANES, States};
use crate::lanes::{Backends, Staged, WORD, read, xor_word};
use crate::protocol::Protocol;
use crate::timing::Timing;
use crate::wipe::wipe;

/// [`super::derive`] for the chunks of `x`, of which the last may be shorter than `chunk_len`.
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
        let mut transcripts = Alike::new(&start.duplex, label, chunk_len, N, backends);
        for (chunks, outputs) in (now.chunks(LANES * chunk_len)).zip(outputs_now.chunks_mut(LANES)) {
            let used = outputs.len();
            let mut outputs = outputs.iter_mut();
            let outputs = core::array::from_fn(|_| outputs.next().map_or(&mut [][..], |output| output));
            transcripts.derive(chunks.chunks_exact(chunk_len), outputs, used);
        }
    }
    if !later.is_empty() {
        let outputs = outputs_later.iter_mut().map(<[u8; N]>::as_mut_slice);
        derive_each(start, label, later.chunks(chunk_len), outputs);
    }
}

/// Eight transcripts: a Mix that is open takes `len` bytes, and a Derive follows, of at most 94 bytes.
pub(super) struct Alike {
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
    /// It, without them, and those after it: the header of a Derive, its length and the padding.
    end: Blocks,
}

impl Alike {
    pub(super) fn new(
        start: &Duplex,
        label: Label<'_>,
        len: usize,
        output_len: usize,
        backends: Backends,
    ) -> Self {
        let (state, cursor) = start.parts();
        let mut state = *state;
        let (mut first_window, mut blocks, mut after) = (0..0, 0, cursor);
        if cursor.window(len).end == RATE {
            let head_len = cursor.head_len(len);
            if head_len > 0 {
                first_window = cursor.window(head_len);
                let mut full = cursor;
                full.advance(head_len);
                full.pad(&mut state);
            }
            blocks = (len - head_len) / RATE;
            after = Cursor::START;
        }
        let last_window = after.window(len - first_window.len() - blocks * RATE);
        after.advance(last_window.len());
        // At most 105 bytes after those in the window.
        let mut end = Blocks::new(after);
        end.header(Op::Derive, label);
        end.number(output_len);
        end.permute();
        let mut this = Self {
            backends,
            len,
            start: States::new(),
            states: States::new(),
            first: [[0; PADDED]; LANES],
            first_window,
            blocks,
            last: [end.complete()[0]; LANES],
            last_window,
            end,
        };
        (0..LANES).for_each(|lane| this.start.set_lane(lane, &state));
        wipe(&mut state);
        this
    }

    /// For as many messages as outputs are used: one at least, and at most as many as there are lanes.
    pub(super) fn derive<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a [u8]>,
        outputs: [&mut [u8]; LANES],
        used: usize,
    ) {
        let backend = self.backends.of(used);
        let mut messages = messages.into_iter();
        let mut any = &[][..];
        // Nobody looks at what the other lanes do.
        let messages: [&[u8]; LANES] = core::array::from_fn(|_| {
            any = messages.next().unwrap_or(any);
            any
        });
        let states = &mut self.states;
        states.copy_from(&self.start);

        let first_len = self.first_window.len();
        if first_len > 0 {
            for (staged, message) in self.first.iter_mut().zip(&messages) {
                copy(&mut staged[self.first_window.clone()], &message[..first_len]);
            }
            absorb(states, &self.first);
            backend.permute_first(states, used);
        }
        if self.blocks > 0 {
            let blocks = messages.map(|message| &message[first_len..].as_chunks().0[..self.blocks]);
            backend.absorb_first(states, &blocks, used);
        }
        for (staged, message) in self.last.iter_mut().zip(&messages) {
            copy(
                &mut staged[self.last_window.clone()],
                &message[self.len - self.last_window.len()..],
            );
        }
        absorb(states, &self.last);
        backend.permute_first(states, used);
        for end in &self.end.complete()[1..] {
            absorb(states, &[*end; LANES]);
            backend.permute_first(states, used);
        }
        for (lane, output) in outputs.into_iter().enumerate().take(used) {
            read(states, lane, output);
        }
    }
}

impl Drop for Alike {
    fn drop(&mut self) {
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
    #[cfg(target_os = "linux")]
    #[test]
    fn dropped_transcripts_are_wiped() {
        use crate::protocol::many::secret_bytes;

        let mut start = Protocol::new(label!("test"));
        start.mix(label!("key"), &[7; 200]);
        start.mix_begin(label!("chunk"));
        let chunk_len = 4096;
        let mut alike = Alike::new(&start.duplex, label!("cv"), chunk_len, 32, Backends::current());
        let message = vec![0xab; chunk_len];
        let mut outputs = [[0; 32]; LANES];
        alike.derive(
            [message.as_slice(); LANES],
            outputs.each_mut().map(|output| &mut output[..]),
            LANES,
        );
        let secret_len = LANES * (alike.first_window.len() + alike.last_window.len());
        // Headers of constant labels, and where data go.
        let public = alike
            .end
            .complete()
            .as_flattened()
            .iter()
            .filter(|&&byte| byte != 0);
        let public = public.count() + 100;
        let [before, after] = crate::wipe::before_and_after_drop(alike);
        let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
        assert!(secret_bytes(&before) >= secret_len && used(&before) > 2 * LANES * 128);
        assert_eq!(secret_bytes(&after), 0);
        assert!(used(&after) <= public, "{}", used(&after));
    }
}
