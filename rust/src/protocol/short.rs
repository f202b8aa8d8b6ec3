//! Derivations that take one permutation each: a message that ends, with the Derive after it, in the block that is begun.
//!
//! [`many`](super::many) goes through their steps one by one, which takes longer than the permutation.

use super::Op;
use super::many::{Start, header_len};
use crate::Label;
use crate::backend::Backend;
use crate::duplex::RATE;
use crate::lane_backend::{LANES, States};
use crate::lanes::{Backends, PADDED, Staged, WORD, copy, pad, xor_word};

/// Transcripts that continue the same one: eight are put together, and then permuted at once.
pub(super) struct Short<'a> {
    backends: Backends,
    start: Start,
    label: Label<'a>,
    /// What each start is changed by, with its padding.
    staged: [Staged; LANES],
    outputs: [&'a mut [u8]; LANES],
    count: usize,
    states: States,
}

impl<'a> Short<'a> {
    pub(super) fn new(start: Start, label: Label<'a>) -> Self {
        Self {
            backends: Backends::current(),
            start,
            label,
            staged: [[0; PADDED]; LANES],
            outputs: core::array::from_fn(|_| &mut [][..]),
            count: 0,
            states: States::new(),
        }
    }

    /// Takes a message, whose output is written now or with [`Short::finish`], or gives the output back: message, header,
    /// length and padding must fit into the block, and the output into the next, with one byte for its length.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // below 94
    pub(super) fn take(&mut self, message: &[u8], output: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let [rate_idx, frame_idx, ..] = self.start.0;
        let label = self.label.as_bytes();
        let message_at = usize::from(rate_idx);
        let room = RATE - 1 - message_at;
        if output.len() > RATE || message.len() + header_len(label) + 1 > room {
            return Some(output);
        }
        let header_at = message_at + message.len();
        let end = header_at + header_len(label);
        let staged = &mut self.staged[self.count];
        *staged = [0; PADDED];
        copy(&mut staged[message_at..header_at], message);
        if let [frame, first, bytes @ .., inner, last, len] = &mut staged[header_at..=end] {
            *frame = frame_idx;
            *first = Op::Derive as u8;
            copy(bytes, label);
            *inner = header_at as u8 + 1;
            *last = Op::Derive as u8 | 0x80;
            *len = output.len() as u8;
        }
        pad(staged, end + 1, end as u8 - 1);
        self.outputs[self.count] = output;
        self.count += 1;
        if self.count == LANES {
            self.finish();
        }
        None
    }

    /// Writes the outputs that are not written yet.
    pub(super) fn finish(&mut self) {
        let [_, _, start @ ..] = &self.start.0;
        for (i, start) in start.as_chunks::<WORD>().0.iter().enumerate() {
            for (lane, staged) in self.staged[..self.count].iter().enumerate() {
                let mut word = *start;
                if i < PADDED / WORD {
                    xor_word(&mut word, &staged.as_chunks().0[i]);
                }
                *self.states.word(i, lane) = word;
            }
        }
        let backend = self.backends.of(self.count);
        if self.count <= self.backends.few(self.count) {
            (0..self.count).for_each(|lane| backend.alone(&mut self.states, lane, Backend::permute));
        } else {
            backend.permute_first(&mut self.states, self.count);
        }
        for (lane, output) in self.outputs[..self.count].iter_mut().enumerate() {
            let (words, rest) = output.as_chunks_mut();
            for (i, word) in words.iter_mut().enumerate() {
                *word = *self.states.word(i, lane);
            }
            if !rest.is_empty() {
                copy(rest, &self.states.word(words.len(), lane)[..rest.len()]);
            }
        }
        self.count = 0;
    }
}

impl Drop for Short<'_> {
    fn drop(&mut self) {
        #[cfg(feature = "zeroize")]
        crate::wipe::wipe(self.staged.as_flattened_mut());
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::lane_backend::on_each_lane_backend;
    use crate::protocol::many;
    use crate::{Protocol, label};

    /// From every place of a block, messages around the one that just fits and outputs around a block's, whole groups and
    /// others, beside messages that take the other way.
    #[test]
    fn the_same_as_one_by_one() {
        let (label_bytes, bytes) = ([b'l'; 91], [7; 300]);
        on_each_lane_backend(|backend| {
            for place in 0..94 {
                let label = Label::new(&label_bytes[..place * 53 % 92]).unwrap();
                let mut start = Protocol::new(label!("test"));
                start.mix(label!("place"), &[1; 94][..place]);
                start.mix_begin(label!("message"));
                let used = usize::from(start.to_bytes()[0]) + label.as_bytes().len() + 5;
                let lens: Vec<_> = (0..place % 23 + 3)
                    .flat_map(|i| [(91_usize.saturating_sub(used)) + i % 4, i * 37 % 60, i * 71 % 300])
                    .collect();
                let messages = lens.iter().map(|&len| &bytes[..len]);
                let mut outputs: Vec<_> = (0..lens.len())
                    .map(|i| vec![0; [32, 93, 94, 95, 0, 128, 16, 33][(i + place) % 8]])
                    .collect();
                many::derive(&start, label, messages, outputs.iter_mut().map(Vec::as_mut_slice));
                for (&len, output) in lens.iter().zip(&outputs) {
                    let mut alone = start.clone();
                    alone.mix_more(&bytes[..len]);
                    let mut expected = vec![0; output.len()];
                    alone.derive(label, &mut expected);
                    assert_eq!(*output, expected, "{backend:?}, place {place}, {len} bytes");
                }
            }
        });
    }

    /// Nothing is left of what was staged, nor of the states.
    #[cfg(all(feature = "zeroize", target_os = "linux"))]
    #[test]
    fn dropped_transcripts_are_wiped() {
        let mut start = Protocol::new(label!("test"));
        start.mix_begin(label!("message"));
        let mut outputs = [[0; 32]; 3];
        let mut short = Short::new(Start::of(&start), label!("digest"));
        for output in &mut outputs {
            assert!(short.take(&[0xab; 40], output).is_none());
        }
        short.finish();
        let [before, after] = crate::wipe::before_and_after_drop(short);
        let staged = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == 0xab).fold(0, |n, _| n + 1);
        let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
        assert!(staged(&before) >= 3 * 40 && used(&before) > 3 * 128);
        assert!(staged(&after) < 8, "{}", staged(&after));
        // Pointers and lengths.
        assert!(used(&after) < 200, "{}", used(&after));
    }
}
