//! `std::io` adapters for streaming operations.

use std::io::{self, Read, Write};

use super::{MaskStream, MixStream, UnmaskStream};
use crate::base::wipe::Wiped;

impl Write for MixStream<'_> {
    /// Mixes all of `input`; never fails.
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.update(input);
        Ok(input.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the adapters do to the bytes that pass.
pub(crate) trait Transform {
    fn transform(&mut self, in_out: &mut [u8]);
}

impl Transform for MaskStream<'_> {
    fn transform(&mut self, in_out: &mut [u8]) {
        self.update(in_out);
    }
}

impl Transform for UnmaskStream<'_> {
    fn transform(&mut self, in_out: &mut [u8]) {
        self.update(in_out);
    }
}

macro_rules! adapters {
    ($($stream:ident),*) => {$(
        impl<'p> $stream<'p> {
            /// A `Read` that transforms what it reads from `inner`.
            pub fn reader<R: Read>(self, inner: R) -> Reader<Self, R> {
                Reader::new(self, inner)
            }

            /// A `Write` that transforms what is written and passes it on to `inner`.
            pub fn writer<W: Write>(self, inner: W) -> Writer<Self, W> {
                Writer::new(self, inner)
            }
        }
    )*};
}
adapters!(MaskStream, UnmaskStream);

/// Reads through a [`MaskStream`] or an [`UnmaskStream`], or a [`stream`](crate::stream) cipher.
///
/// What decryption returns is not authenticated.
#[derive(Debug)]
pub struct Reader<S, R> {
    stream: S,
    inner: R,
}

impl<S, R> Reader<S, R> {
    pub(crate) fn new(stream: S, inner: R) -> Self {
        Self { stream, inner }
    }
}

#[allow(private_bounds)]
impl<S: Transform, R: Read> Read for Reader<S, R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(output)?;
        self.stream.transform(&mut output[..n]);
        Ok(n)
    }
}

/// Writes through a [`MaskStream`] or an [`UnmaskStream`], or a [`stream`](crate::stream) cipher.
///
/// After an error of the inner writer it is unknown how much of a piece went out, so every later write
/// fails too.
#[derive(Debug)]
pub struct Writer<S, W> {
    stream: S,
    inner: W,
    failed: bool,
}

impl<S, W> Writer<S, W> {
    pub(crate) fn new(stream: S, inner: W) -> Self {
        Self {
            stream,
            inner,
            failed: false,
        }
    }
}

#[allow(private_bounds)]
impl<S: Transform, W: Write> Write for Writer<S, W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        const CHUNK: usize = 64 * crate::duplex::RATE;
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        let mut buffer = [0; CHUNK];
        let n = input.len().min(CHUNK);
        let chunk = Wiped(&mut buffer[..n]);
        chunk.0.copy_from_slice(&input[..n]);
        self.failed = true; // until all of it went out, also if the inner writer panics
        self.stream.transform(chunk.0);
        self.inner.write_all(chunk.0)?;
        self.failed = false;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
