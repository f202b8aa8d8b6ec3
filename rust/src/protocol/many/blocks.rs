//! The blocks with which a transcript goes on, when all that it absorbs is known.

use crate::Label;
use crate::framing::{Absorb, Cursor, Op, PADDED, RATE, copy};
use crate::lanes::Staged;

/// At most [`Blocks::MOST`], the first from the rate index on, each with its padding. More are an error of the caller.
pub(super) struct Blocks {
    staged: [Staged; Self::MOST],
    count: usize,
    cursor: Cursor,
}

impl Blocks {
    pub(super) const MOST: usize = 3;
    /// How many bytes they hold, those before the rate index with them.
    pub(super) const LEN: usize = Self::MOST * RATE - 1;

    pub(super) const fn new(cursor: Cursor) -> Self {
        Self {
            staged: [[0; PADDED]; Self::MOST],
            count: 0,
            cursor,
        }
    }

    /// From the beginning again. Each block that was complete must have ended with [`Blocks::permute`].
    #[inline]
    pub(super) fn restart(&mut self, cursor: Cursor) {
        for block in &mut self.staged[..self.count] {
            *block = [0; PADDED];
        }
        self.count = 0;
        self.cursor = cursor;
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
            let window = self.cursor.window(rest.len());
            let (now, later) = rest.split_at(window.len());
            copy(&mut self.staged[self.count][window], now);
            rest = later;
            self.cursor.advance(now.len());
            self.permute_if_full();
        }
    }

    #[inline(always)]
    pub(super) fn header(&mut self, op: Op, label: Label<'_>) {
        let label = label.as_bytes();
        let block = &mut self.staged[self.count][self.cursor.position()..RATE];
        match self.cursor.header(block, op.code(), label.len()) {
            Some(to) => copy(to, label),
            None => self.absorb_header(op.code(), label),
        }
    }

    #[inline]
    pub(super) fn number(&mut self, number: usize) {
        self.absorb_number(number);
    }

    /// The block ends here, and the next one begins.
    #[inline(always)]
    pub(super) fn permute(&mut self) {
        self.cursor.pad(&mut self.staged[self.count]);
        self.count += 1;
        self.cursor = Cursor::START;
    }

    #[inline(always)]
    fn permute_if_full(&mut self) {
        if self.cursor.is_full() {
            self.permute();
        }
    }
}

impl Absorb for Blocks {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    #[inline(always)]
    fn absorb_byte(&mut self, byte: u8) {
        self.staged[self.count][self.cursor.position()] = byte;
        self.cursor.advance(1);
        self.permute_if_full();
    }

    #[inline(always)]
    fn absorb_bytes(&mut self, bytes: &[u8]) {
        self.data(bytes);
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        crate::wipe::wipe(self.staged.as_flattened_mut());
    }
}
