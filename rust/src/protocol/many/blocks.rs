//! The blocks with which a transcript goes on, when all that it absorbs is known.

use super::{leb128, leb128_len};
use crate::Label;
use crate::duplex::RATE;
use crate::lanes::{PADDED, Staged, copy, pad, stage_header};
use crate::protocol::Op;

/// At most [`Blocks::MOST`], the first from the rate index on, each with its padding. More are an error of the caller.
pub(super) struct Blocks {
    staged: [Staged; Self::MOST],
    count: usize,
    rate_idx: usize,
    frame_idx: u8,
}

impl Blocks {
    pub(super) const MOST: usize = 3;
    /// How many bytes they hold, those before the rate index with them.
    pub(super) const LEN: usize = Self::MOST * RATE - 1;

    pub(super) const fn new(rate_idx: usize, frame_idx: u8) -> Self {
        Self {
            staged: [[0; PADDED]; Self::MOST],
            count: 0,
            rate_idx,
            frame_idx,
        }
    }

    /// From the beginning again. Each block that was complete must have ended with [`Blocks::permute`].
    #[inline]
    pub(super) fn restart(&mut self, rate_idx: usize, frame_idx: u8) {
        for block in &mut self.staged[..self.count] {
            *block = [0; PADDED];
        }
        self.count = 0;
        self.rate_idx = rate_idx;
        self.frame_idx = frame_idx;
    }

    /// Those that are complete.
    #[inline]
    pub(super) fn complete(&self) -> &[Staged] {
        &self.staged[..self.count]
    }

    #[inline(always)] // and so below: a call takes longer than what there is to copy, most often
    pub(super) fn data(&mut self, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() {
            let end = RATE.min(self.rate_idx + rest.len());
            let (now, later) = rest.split_at(end - self.rate_idx);
            copy(&mut self.staged[self.count][self.rate_idx..end], now);
            self.rate_idx = end;
            rest = later;
            if end == RATE {
                self.permute();
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // below 94
    pub(super) fn header(&mut self, op: Op, label: Label<'_>) {
        let (op, label) = (op as u8, label.as_bytes());
        let block = &mut self.staged[self.count];
        if let Some(end) = stage_header(block, self.rate_idx, self.frame_idx, op, label) {
            self.rate_idx = end;
            self.frame_idx = end as u8 - 1;
        } else {
            self.frame(op);
            self.data(label);
            self.frame(op | 0x80);
        }
    }

    #[inline]
    pub(super) fn number(&mut self, number: usize) {
        (0..leb128_len(number)).for_each(|place| self.byte(leb128(number, place)));
    }

    /// The block ends here, and the next one begins.
    #[inline(always)]
    pub(super) fn permute(&mut self) {
        pad(&mut self.staged[self.count], self.rate_idx, self.frame_idx);
        self.count += 1;
        self.rate_idx = 0;
        self.frame_idx = 0;
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // below 94
    fn frame(&mut self, id: u8) {
        self.byte(self.frame_idx);
        self.frame_idx = self.rate_idx as u8;
        self.byte(id);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.staged[self.count][self.rate_idx] = byte;
        self.rate_idx += 1;
        if self.rate_idx == RATE {
            self.permute();
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        #[cfg(feature = "zeroize")]
        crate::wipe::wipe(self.staged.as_flattened_mut());
    }
}
