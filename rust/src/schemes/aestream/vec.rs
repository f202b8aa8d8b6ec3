//! Streams in vectors.

use alloc::vec::Vec;

use super::{MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use crate::Error;
use crate::base::wipe::wipe;

impl Sealer {
    /// Seals the rest of the stream and its end into a new vector, in blocks as large as possible.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // the lengths are right
    pub fn seal_vec(mut self, message: &[u8]) -> Vec<u8> {
        let blocks = message.len().div_ceil(MAX_BLOCK_LEN);
        let mut sealed = Vec::with_capacity(message.len() + (blocks + 1) * OVERHEAD);
        for block in message.chunks(MAX_BLOCK_LEN) {
            let start = sealed.len();
            sealed.resize(start + block.len() + OVERHEAD, 0);
            let sealed = &mut sealed[start..];
            Self::room(sealed)
                .map(|room| room.copy_from_slice(block))
                .and_then(|()| self.seal_block(sealed))
                .expect("it has such a length");
        }
        sealed.extend_from_slice(&self.finish().0);
        sealed
    }
}

impl Opener {
    /// Opens the rest of the stream into a new vector, with blocks of any size.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if `sealed` is not what was sealed, or if anything follows the end of the stream.
    pub fn open_vec(self, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = Vec::with_capacity(sealed.len());
        let opened = self.open_blocks(sealed, &mut message);
        if opened.is_err() {
            wipe(&mut message);
        }
        opened.map(|()| message)
    }

    /// Appends the message, or a part of it before an error.
    fn open_blocks(mut self, mut sealed: &[u8], message: &mut Vec<u8>) -> Result<(), Error> {
        while !self.is_finished() {
            let (part, rest) = sealed
                .split_at_checked(self.wanted())
                .ok_or(Error::Verification)?;
            sealed = rest;
            let start = message.len();
            message.extend_from_slice(part);
            let len = self.open(&mut message[start..])?.len();
            message.truncate(start + len);
        }
        if sealed.is_empty() {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }
}
