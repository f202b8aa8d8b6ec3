//! The readers and writers of this format.

use core::ops::Range;
use std::vec::Vec;

use super::{HEADER_LEN, MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use crate::io::{Open, Opening, Seal, Sealing};
use crate::{Error, Protocol, TAG_LEN};

/// Seals what is written to it and passes the blocks on.
///
/// Blocks are as large as possible, but flushing ends one early. `finish` must be called (or `shutdown` of the
/// asynchronous writer): without it the stream has no end and the reader will report it as cut. It holds one block,
/// 64 KiB.
pub type SealWriter<W> = crate::io::SealWriter<Sealing<Sealer>, W>;

/// Reads a stream and returns only what was verified.
///
/// Reading returns 0 bytes only at the verified end. A cut stream is an error of kind `UnexpectedEof`, other damage one
/// of kind `InvalidData` (but a changed header may claim more than there is, which looks like a cut). After these,
/// every call is an error. An error of the inner reader changes nothing: the call can be repeated. It holds one block,
/// 64 KiB, whatever the headers claim. What follows the stream is left in the inner reader.
pub type OpenReader<R> = crate::io::OpenReader<Opening<Opener>, R>;

impl Seal for Sealer {
    const PREFIX: usize = HEADER_LEN;
    const MAX_LEN: usize = MAX_BLOCK_LEN;
    const END_LEN: usize = OVERHEAD;
    const EARLY: bool = true;

    fn new(keyed: Protocol) -> Self {
        Self::new(keyed)
    }

    fn seal_block(&mut self, block: &mut [u8]) {
        self.seal(block).expect("it has a length that fits");
    }

    fn seal_end(&mut self, buffer: &mut Vec<u8>) {
        let mut end = 0;
        if buffer.len() > HEADER_LEN {
            end = buffer.len() + TAG_LEN;
            buffer.resize(end, 0);
            Seal::seal_block(self, buffer);
        }
        buffer.resize(end + OVERHEAD, 0);
        Seal::seal_block(self, &mut buffer[end..]);
    }
}

/// Header and body of a block are opened one after the other.
impl Open for Opener {
    const MAX_LEN: usize = MAX_BLOCK_LEN + TAG_LEN;
    const LOOKAHEAD: usize = 0;

    fn new(keyed: Protocol) -> Self {
        Self::new(keyed)
    }

    fn wanted(&self) -> usize {
        self.wanted()
    }

    fn open(&mut self, input: &mut [u8], _: bool) -> Result<Range<usize>, Error> {
        Ok(0..self.open(input)?.len())
    }

    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn finish(self) -> Result<Protocol, Error> {
        self.finish()
    }
}
