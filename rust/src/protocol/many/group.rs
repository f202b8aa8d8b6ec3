//! Eight transcripts of which the blocks that they absorb first are known.

use super::blocks::Blocks;
use crate::backend::Backend;
use crate::duplex::Duplex;
use crate::framing::Cursor;
use crate::lane_backend::{LANES, States};
use crate::lanes::{Backends, Direction, WORD, xor_word};
use crate::simpira1024::Block;

/// Transcripts that continue the same one: eight are put together, and then permuted at once.
pub(super) struct Group {
    pub(super) backends: Backends,
    start: Duplex,
    /// What each lane absorbs first.
    blocks: [Blocks; LANES],
    pub(super) count: usize,
    pub(super) states: States,
}

impl Group {
    pub(super) fn new(start: Duplex) -> Self {
        Self {
            backends: Backends::current(),
            start,
            blocks: [const { Blocks::new(Cursor::START) }; LANES],
            count: 0,
            states: States::new(),
        }
    }

    /// The blocks of the next lane, if they hold so many bytes more.
    #[inline]
    pub(super) fn next(&mut self, len: usize) -> Option<&mut Blocks> {
        let (_, cursor) = self.start.parts();
        if len > Blocks::LEN - cursor.position() {
            return None;
        }
        let blocks = &mut self.blocks[self.count];
        blocks.restart(cursor);
        self.count += 1;
        Some(blocks)
    }

    /// The states after all blocks of each. Those with fewer begin later.
    pub(super) fn absorb(&mut self) {
        let most = (self.blocks[..self.count]
            .iter()
            .map(|blocks| blocks.complete().len()))
        .max()
        .unwrap_or(0);
        for step in 0..most {
            let (start, _) = self.start.parts();
            for (lane, blocks) in self.blocks[..self.count].iter().enumerate() {
                let blocks = blocks.complete();
                let Some(now) = (step + blocks.len()).checked_sub(most) else {
                    continue;
                };
                let block = blocks[now].as_chunks::<WORD>().0;
                for (i, start) in start.as_chunks::<WORD>().0.iter().enumerate() {
                    let state = self.states.word(i, lane);
                    let mut word = if now == 0 { *start } else { *state };
                    if let Some(staged) = block.get(i) {
                        xor_word(&mut word, staged);
                    }
                    *state = word;
                }
            }
            self.permute();
        }
    }

    /// Encrypts or decrypts full blocks of all lanes, in a full group.
    pub(super) fn transform(&mut self, direction: Direction, blocks: &mut [&mut [Block]; LANES]) {
        debug_assert!(self.count == LANES);
        direction.operation()(self.backends.of(LANES), &mut self.states, blocks, LANES);
    }

    pub(super) fn permute(&mut self) {
        let backend = self.backends.of(self.count);
        if self.count <= self.backends.few(self.count) {
            (0..self.count).for_each(|lane| backend.alone(&mut self.states, lane, Backend::permute));
        } else {
            backend.permute_first(&mut self.states, self.count);
        }
    }
}
