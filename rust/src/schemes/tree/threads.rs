//! Trees on all threads of the current rayon pool.

use rayon::prelude::*;

use super::{BATCH, CHUNK_LEN, CV_LEN, Hasher, Tree};

/// How many chunks are handed to the cores at a time: 16 MiB, whose chaining values are 128 KiB.
const WINDOW: usize = 4096;
/// How many of them one core processes at a time.
const TASK: usize = 2 * BATCH;

impl Tree {
    /// [`Tree::digest_into`] on all threads of the current rayon pool.
    pub fn digest_into_rayon(&self, message: &[u8], output: &mut [u8]) {
        self.digest_at_once(message, output, Self::for_each_window);
    }

    /// [`Tree::for_each_batch`] on all threads.
    pub(super) fn for_each_window(&self, level: usize, x: &[u8], visit: &mut dyn FnMut(&[u8])) {
        let mut cvs = alloc::vec![[0; CV_LEN]; x.len().div_ceil(CHUNK_LEN).min(WINDOW)];
        for window in x.chunks(WINDOW * CHUNK_LEN) {
            let cvs = &mut cvs[..window.len().div_ceil(CHUNK_LEN)];
            (window.par_chunks(TASK * CHUNK_LEN).zip(cvs.par_chunks_mut(TASK)))
                .for_each(|(chunks, cvs)| self.cvs(level, chunks, cvs));
            visit(cvs.as_flattened());
        }
    }
}

impl Hasher {
    /// Absorbs the next piece of the message on all threads of the current rayon pool. Use it for pieces of 1 MiB or more.
    /// It allocates up to 130 KiB.
    pub fn update_rayon(&mut self, input: &[u8]) {
        self.0.update(input, Tree::for_each_window);
    }
}
