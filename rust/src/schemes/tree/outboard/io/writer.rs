//! Writes an outboard as it is computed.

use core::fmt;
use std::io::{self, Seek, SeekFrom, Write};
use std::vec::Vec;

use crate::digest::Digest;
use crate::tree::{MAX_LEVELS, Nodes, Shape, Sink, Tree};

/// How much of each level is held before it is written.
const BUFFER_LEN: usize = 1 << 16;

/// Computes a digest and writes the outboard of a message of known length, in bounded memory: 64 KiB for each level that
/// the message has.
///
/// ```
/// use std::io::Cursor;
/// use veriplex::{label, tree::{Tree, outboard::{Builder, Writer}}};
///
/// let tree = Tree::new(label!("com.example.tree"));
/// let mut writer = Writer::new(&tree, 20_000, Cursor::new(Vec::new()))?;
/// writer.update(&[7; 20_000])?;
/// let (digest, outboard) = writer.finalize()?;
///
/// let mut builder = Builder::new(&tree);
/// builder.update(&[7; 20_000]);
/// assert_eq!((digest, outboard.into_inner()), builder.finalize());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W: Write + Seek>(Nodes<Places<W>>);

/// Where the next part of each level's string goes.
struct Places<W> {
    inner: W,
    next: [u64; MAX_LEVELS],
    ends: [u64; MAX_LEVELS],
    buffers: [Vec<u8>; MAX_LEVELS],
    /// The first error.
    result: io::Result<()>,
    message_len: u64,
}

impl<W: Write + Seek> Places<W> {
    fn write(&mut self, level: usize) -> io::Result<()> {
        let buffer = &mut self.buffers[level];
        let end = self.next[level].saturating_add(buffer.len() as u64);
        if end > self.ends[level] {
            return Err(another_length());
        }
        self.inner.seek(SeekFrom::Start(self.next[level]))?;
        self.inner.write_all(buffer)?;
        self.next[level] = end;
        buffer.clear();
        Ok(())
    }
}

impl<W: Write + Seek> Sink for Places<W> {
    fn receive(&mut self, level: usize, cvs: &[u8]) {
        if self.result.is_ok() {
            self.buffers[level].extend_from_slice(cvs);
            if self.buffers[level].len() >= BUFFER_LEN {
                self.result = Err(crate::schemes::io::earlier_error()); // if the inner writer panics
                self.result = self.write(level);
            }
        }
    }
}

fn another_length() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the message has another length")
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a message of `message_len` bytes. Its outboard is written from the current position of `inner` on, not in
    /// order.
    ///
    /// # Errors
    ///
    /// Those of `inner`.
    pub fn new(tree: &Tree, message_len: u64, mut inner: W) -> io::Result<Self> {
        let shape = Shape::new(message_len);
        let (mut next, mut ends) = ([0; MAX_LEVELS], [0; MAX_LEVELS]);
        let mut place = inner.stream_position()?;
        for level in (1..=shape.top).rev() {
            next[level] = place;
            place = place.saturating_add(shape.len_of(level));
            ends[level] = place;
        }
        let places = Places {
            inner,
            next,
            ends,
            buffers: [const { Vec::new() }; MAX_LEVELS],
            result: Ok(()),
            message_len,
        };
        Ok(Self(Nodes::new(tree.clone(), places)))
    }

    /// Absorbs the next piece of the message.
    ///
    /// # Errors
    ///
    /// Those of the inner writer; one of kind `InvalidInput` if the message is longer than was said. After an error there is
    /// no outboard.
    pub fn update(&mut self, input: &[u8]) -> io::Result<()> {
        self.0.update(input, Tree::for_each_batch);
        self.check()
    }

    /// Absorbs the next piece of the message on all threads of the current rayon pool. Use it for pieces of 1 MiB or more.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::update`].
    #[cfg(feature = "rayon")]
    pub fn update_rayon(&mut self, input: &[u8]) -> io::Result<()> {
        self.0.update(input, Tree::for_each_window);
        self.check()
    }

    fn check(&mut self) -> io::Result<()> {
        if self.0.len > self.0.sink.message_len {
            return Err(another_length());
        }
        match &self.0.sink.result {
            Ok(()) => Ok(()),
            // It is given out once, and there is no way on from it.
            Err(_) => core::mem::replace(&mut self.0.sink.result, Err(crate::schemes::io::earlier_error())),
        }
    }

    /// The digest, when all of the outboard is written, and the inner writer, at any place.
    ///
    /// # Errors
    ///
    /// Those of the inner writer; one of kind `InvalidInput` if the message does not have the length that was said.
    pub fn finalize(mut self) -> io::Result<(Digest, W)> {
        self.check()?;
        if self.0.len != self.0.sink.message_len {
            return Err(another_length());
        }
        let mut digest = [0; Digest::LEN];
        let mut places = self.0.finish(0, &mut digest);
        core::mem::replace(&mut places.result, Ok(()))?;
        for level in 1..MAX_LEVELS {
            places.write(level)?;
        }
        places.inner.flush()?;
        Ok((digest.into(), places.inner))
    }
}

impl<W: Write + Seek> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}
