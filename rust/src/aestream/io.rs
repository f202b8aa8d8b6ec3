use core::ops::Range;
use std::boxed::Box;
use std::fmt;
use std::io::{self, Read, Write};
use std::vec::Vec;

use super::{HEADER_LEN, MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use crate::wipe::wipe;
use crate::{Error, Protocol, TAG_LEN};

/// Plaintext in memory.
struct Buffer<T: AsMut<[u8]>>(T);

impl<T: AsMut<[u8]>> Drop for Buffer<T> {
    fn drop(&mut self) {
        wipe(self.0.as_mut());
    }
}

/// Seals what is written to it and passes the blocks on.
///
/// Blocks are as large as possible, but [`Write::flush`] ends one early. [`SealWriter::finish`] must be
/// called: without it the stream has no end and the reader will report it as cut. It holds one block, 64 KiB.
pub struct SealWriter<W> {
    /// Taken while a block goes out, and not put back after an error, which may have left half a block
    /// behind.
    sealer: Option<Sealer>,
    inner: W,
    /// Two bytes of room, then the plaintext of the block in the making.
    block: Buffer<Vec<u8>>,
}

impl<W: Write> SealWriter<W> {
    /// Starts a stream, as [`Sealer::new`].
    #[must_use]
    pub fn new(keyed: Protocol, inner: W) -> Self {
        let mut block = Vec::with_capacity(MAX_BLOCK_LEN + OVERHEAD);
        block.resize(HEADER_LEN, 0);
        Self {
            sealer: Some(Sealer::new(keyed)),
            inner,
            block: Buffer(block),
        }
    }

    /// Writes what is left and the end of the stream, and gives the inner writer back.
    ///
    /// # Errors
    ///
    /// Those of the inner writer, also of an earlier write.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_block()?;
        let (end, _) = self.sealer.take().ok_or_else(earlier_error)?.finish();
        self.inner.write_all(&end)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Seals and writes the block in the making, if it has any plaintext.
    fn write_block(&mut self) -> io::Result<()> {
        let block = &mut self.block.0;
        if block.len() > HEADER_LEN {
            let mut sealer = self.sealer.take().ok_or_else(earlier_error)?;
            block.resize(block.len() + TAG_LEN, 0);
            sealer.seal_block(block).map_err(io::Error::other)?;
            self.inner.write_all(block)?;
            block.truncate(HEADER_LEN);
            self.sealer = Some(sealer);
        }
        Ok(())
    }
}

fn earlier_error() -> io::Error {
    io::Error::other("an earlier operation on this stream failed")
}

impl<W: Write> Write for SealWriter<W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        if self.sealer.is_none() {
            return Err(earlier_error());
        }
        let room = HEADER_LEN + MAX_BLOCK_LEN - self.block.0.len();
        let n = input.len().min(room);
        self.block.0.extend_from_slice(&input[..n]);
        if n == room {
            self.write_block()?;
        }
        Ok(n)
    }

    /// Seals and writes the plaintext taken so far as a block of its own, then flushes the inner writer.
    fn flush(&mut self) -> io::Result<()> {
        self.write_block()?;
        self.inner.flush()
    }
}

impl<W> fmt::Debug for SealWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealWriter").finish_non_exhaustive()
    }
}

/// Reads a stream and gives out only what was verified.
///
/// [`Read::read`] returns 0 bytes only at the verified end. A cut stream is an error of kind
/// `UnexpectedEof`, any other damage one of kind `InvalidData`; after an error every call is an error. It
/// holds one block, 64 KiB, whatever the headers claim. What follows the stream is left in the inner reader.
pub struct OpenReader<R> {
    opener: Opener,
    inner: R,
    buffer: Buffer<Box<[u8]>>,
    /// The plaintext in `buffer` that was verified and not yet given out.
    ready: Range<usize>,
    failed: bool,
}

impl<R: Read> OpenReader<R> {
    /// Starts to read a stream, as [`Opener::new`].
    #[must_use]
    pub fn new(keyed: Protocol, inner: R) -> Self {
        Self {
            opener: Opener::new(keyed),
            inner,
            buffer: Buffer(std::vec![0; MAX_BLOCK_LEN + TAG_LEN].into_boxed_slice()),
            ready: 0..0,
            failed: false,
        }
    }

    /// Whether the end of the stream was reached and verified.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.opener.is_finished()
    }

    /// The protocol after the verified end of the stream, and the inner reader.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] before the end or after an error.
    pub fn finish(self) -> Result<(Protocol, R), Error> {
        Ok((self.opener.finish()?, self.inner))
    }

    fn read_block(&mut self) -> io::Result<()> {
        let mut header = [0; HEADER_LEN];
        self.inner.read_exact(&mut header)?;
        let body = self.opener.header(header).map_err(invalid)?;
        let sealed = &mut self.buffer.0[..body.sealed_len()];
        self.inner.read_exact(sealed)?;
        let plaintext = body.open(sealed).map_err(invalid)?;
        self.ready = 0..plaintext.map_or(0, |plaintext| plaintext.len());
        Ok(())
    }
}

fn invalid(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<R: Read> Read for OpenReader<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return Err(earlier_error());
        }
        if self.ready.is_empty() && !output.is_empty() && !self.is_finished() {
            self.failed = true;
            self.read_block()?;
            self.failed = false;
        }
        let n = output.len().min(self.ready.len());
        output[..n].copy_from_slice(&self.buffer.0[self.ready.start..][..n]);
        self.ready.start += n;
        Ok(n)
    }
}

impl<R> fmt::Debug for OpenReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenReader").finish_non_exhaustive()
    }
}
