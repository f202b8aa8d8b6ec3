//! Readers and writers of sealed streams: one state machine for each, driven by `std::io` and tokio.

use core::ops::Range;
#[cfg(feature = "tokio")]
use core::task::{Context, Poll};
use std::boxed::Box;
use std::io::{self, Read, SeekFrom, Write};
use std::vec::Vec;

use crate::base::wipe::Wiped;
use crate::{Error, Protocol, TAG_LEN};

/// What a scheme does to the blocks that are written.
pub(crate) trait Seal: Sized + Unpin {
    /// Bytes of room before the plaintext of a block.
    const PREFIX: usize;
    /// The largest plaintext of a block, in bytes.
    const MAX_LEN: usize;
    /// How many bytes the end of a stream adds to the last block.
    const END_LEN: usize;
    /// Whether a block may have less than `MAX_LEN` bytes of plaintext.
    const EARLY: bool;

    fn new(keyed: Protocol) -> Self;

    /// Seals a block in place: room, plaintext, 16 bytes of room.
    fn seal_block(&mut self, block: &mut [u8]);

    /// Seals what is left in `buffer`, less than a full block, and the end.
    fn seal_end(&mut self, buffer: &mut Vec<u8>);
}

/// What a scheme does to the input that is read.
pub(crate) trait Open: Sized + Unpin {
    /// The most bytes that are opened at once.
    const MAX_LEN: usize;
    /// How many bytes must follow what is opened before it is, unless the input ends there.
    const LOOKAHEAD: usize;

    fn new(keyed: Protocol) -> Self;

    /// How many bytes to open next: at least 1, at most `MAX_LEN`.
    fn wanted(&self) -> usize;

    /// Opens that many bytes in place, and returns where the plaintext is. `last` if no lookahead follows.
    fn open(&mut self, input: &mut [u8], last: bool) -> Result<Range<usize>, Error>;

    fn is_finished(&self) -> bool;

    fn finish(self) -> Result<Protocol, Error>;
}

/// What a writer holds between its caller and the inner writer.
pub(crate) trait Outgoing: Unpin {
    /// What is to be written before anything else.
    fn pending(&self) -> &[u8];

    /// `n` bytes of `pending` went out.
    fn wrote(&mut self, n: usize) -> io::Result<()>;

    /// Takes plaintext, once nothing is pending: as much of `input` as there is room for.
    fn accept(&mut self, input: &[u8]) -> io::Result<usize>;

    /// Ends the block in the making, if there is one and blocks may end early.
    fn end_block(&mut self);

    /// Ends the stream, once nothing is pending, if that has not been done.
    fn end(&mut self) -> io::Result<()>;
}

/// What a reader holds between the inner reader and its caller.
pub(crate) trait Incoming: Unpin {
    /// Moves plaintext into `output`: the number of bytes if that answers the read, or else nothing, and more input is
    /// needed.
    fn read_ready(&mut self, output: &mut [u8]) -> io::Result<Option<usize>>;

    /// Where input is to be put, after `read_ready` has asked for more.
    fn room(&mut self) -> &mut [u8];

    /// `n` bytes were put there; none if the input has ended.
    fn received(&mut self, n: usize) -> io::Result<()>;

    /// Whether the end of the stream was verified.
    fn is_finished(&self) -> bool;
}

/// What a call of an asynchronous inner reader or writer gave. If it was interrupted, it is called again: tokio's traits do
/// not know that error.
#[cfg(feature = "tokio")]
pub(crate) fn again<T>(polled: Poll<io::Result<T>>, cx: &Context<'_>) -> Poll<io::Result<T>> {
    match polled {
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        polled => polled,
    }
}

pub(crate) fn earlier_error() -> io::Error {
    io::Error::other("an earlier operation on this stream failed")
}

/// The place in something of `len` bytes that a `Seek` asks for, from `position`.
pub(crate) fn seek(to: SeekFrom, position: u64, len: u64) -> io::Result<u64> {
    let place = match to {
        SeekFrom::Start(place) => Some(place),
        SeekFrom::Current(way) => position.checked_add_signed(way),
        SeekFrom::End(way) => len.checked_add_signed(way),
    };
    place.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// What is behind every writer that seals.
pub(crate) struct SealWriter<S, W> {
    pub(crate) sealing: S,
    pub(crate) inner: W,
}

/// The plaintext of the current block, then the sealed block until it is written.
#[derive(Debug)]
pub(crate) struct Sealing<S> {
    sealer: S,
    /// Never longer than its capacity: it does not move, and leaves no plaintext behind.
    buffer: Wiped<Vec<u8>>,
    phase: Phase,
    /// How much of a sealed buffer went out.
    written: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The buffer holds room and plaintext.
    Plain,
    /// The buffer holds a sealed block.
    Sealed,
    /// The buffer holds the end of the stream, or held it before it was written.
    Ended,
}

impl<S: Seal> Sealing<S> {
    fn new(keyed: Protocol) -> Self {
        let mut buffer = Vec::with_capacity(S::PREFIX + S::MAX_LEN + TAG_LEN + S::END_LEN);
        buffer.resize(S::PREFIX, 0);
        Self {
            sealer: S::new(keyed),
            buffer: Wiped(buffer),
            phase: Phase::Plain,
            written: 0,
        }
    }

    fn seal_block(&mut self) {
        let buffer = &mut self.buffer.0;
        buffer.resize(buffer.len() + TAG_LEN, 0);
        self.sealer.seal_block(buffer);
        self.phase = Phase::Sealed;
    }
}

impl<S: Seal> Outgoing for Sealing<S> {
    fn pending(&self) -> &[u8] {
        match self.phase {
            Phase::Plain => &[],
            Phase::Sealed | Phase::Ended => &self.buffer.0[self.written..],
        }
    }

    fn wrote(&mut self, n: usize) -> io::Result<()> {
        if n == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.written += n;
        if self.phase == Phase::Sealed && self.pending().is_empty() {
            self.buffer.0.truncate(S::PREFIX);
            self.written = 0;
            self.phase = Phase::Plain;
        }
        Ok(())
    }

    fn accept(&mut self, input: &[u8]) -> io::Result<usize> {
        if self.phase != Phase::Plain {
            return Err(earlier_error());
        }
        let room = S::PREFIX + S::MAX_LEN - self.buffer.0.len();
        let n = input.len().min(room);
        self.buffer.0.extend_from_slice(&input[..n]);
        if n == room {
            self.seal_block();
        }
        Ok(n)
    }

    fn end_block(&mut self) {
        if S::EARLY && self.phase == Phase::Plain && self.buffer.0.len() > S::PREFIX {
            self.seal_block();
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.phase == Phase::Plain {
            self.sealer.seal_end(&mut self.buffer.0);
            self.phase = Phase::Ended;
        }
        Ok(())
    }
}

impl<S: Seal, W> SealWriter<Sealing<S>, W> {
    /// Starts a stream under the key in `keyed`. Two streams must not start from the same state: mix in a nonce
    /// first.
    pub(crate) fn new(keyed: Protocol, inner: W) -> Self {
        Self {
            sealing: Sealing::new(keyed),
            inner,
        }
    }
}

impl<S: Outgoing, W: Write> SealWriter<S, W> {
    /// Writes the remaining data and the end of the stream, flushes the inner writer and returns it.
    ///
    /// # Errors
    ///
    /// Those of the inner writer. Unwritten data are then lost. Use [`SealWriter::try_finish`] if you can repair the
    /// writer.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner)
    }

    /// Writes the remaining data and the end of the stream, and flushes the inner writer. Nothing can be written
    /// afterwards.
    ///
    /// # Errors
    ///
    /// Those of the inner writer; the call can be repeated.
    pub(crate) fn try_finish(&mut self) -> io::Result<()> {
        self.write_pending()?;
        self.sealing.end()?;
        self.write_pending()?;
        self.inner.flush()
    }

    fn write_pending(&mut self) -> io::Result<()> {
        while !self.sealing.pending().is_empty() {
            match self.inner.write(self.sealing.pending()) {
                Ok(n) => self.sealing.wrote(n)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<S: Outgoing, W: Write> Write for SealWriter<S, W> {
    /// Takes plaintext. Errors are those of the inner writer; nothing was taken then, and the call can be repeated.
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.write_pending()?;
        self.sealing.accept(input)
    }

    /// Writes what was sealed, then flushes the inner writer. Where blocks may end early, it first seals and writes the
    /// data taken so far as a block.
    fn flush(&mut self) -> io::Result<()> {
        self.write_pending()?;
        self.sealing.end_block();
        self.write_pending()?;
        self.inner.flush()
    }
}

/// What is behind every reader that opens.
pub(crate) struct OpenReader<O, R> {
    pub(crate) opening: O,
    pub(crate) inner: R,
}

/// What was read of a stream, and what of that was opened.
#[derive(Debug)]
pub(crate) struct Opening<O> {
    opener: O,
    buffer: Wiped<Box<[u8]>>,
    /// How much of `buffer` was read.
    filled: usize,
    /// How much of that was opened.
    opened: usize,
    /// The plaintext in there that was not yet returned.
    ready: Range<usize>,
    failed: bool,
}

impl<O: Open> Opening<O> {
    fn new(keyed: Protocol) -> Self {
        Self {
            opener: O::new(keyed),
            buffer: Wiped(std::vec![0; O::MAX_LEN + O::LOOKAHEAD].into_boxed_slice()),
            filled: 0,
            opened: 0,
            ready: 0..0,
            failed: false,
        }
    }
}

impl<O: Open> Incoming for Opening<O> {
    fn read_ready(&mut self, output: &mut [u8]) -> io::Result<Option<usize>> {
        if self.failed {
            return Err(earlier_error());
        }
        let n = output.len().min(self.ready.len());
        output[..n].copy_from_slice(&self.buffer.0[self.ready.start..][..n]);
        self.ready.start += n;
        Ok((n > 0 || output.is_empty() || self.opener.is_finished()).then_some(n))
    }

    fn room(&mut self) -> &mut [u8] {
        // What was opened has been returned.
        self.buffer.0.copy_within(self.opened..self.filled, 0);
        self.filled -= self.opened;
        self.opened = 0;
        &mut self.buffer.0[self.filled..self.opener.wanted() + O::LOOKAHEAD]
    }

    fn received(&mut self, n: usize) -> io::Result<()> {
        self.filled += n;
        let wanted = self.opener.wanted();
        if n > 0 && self.filled < wanted + O::LOOKAHEAD {
            return Ok(());
        }
        self.failed = true;
        if self.filled < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.ready = self
            .opener
            .open(&mut self.buffer.0[..wanted], self.filled == wanted)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.opened = wanted;
        self.failed = false;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.opener.is_finished()
    }
}

impl<O: Open, R> OpenReader<Opening<O>, R> {
    /// Starts to read the stream that a writer began in the same state.
    pub(crate) fn new(keyed: Protocol, inner: R) -> Self {
        Self {
            opening: Opening::new(keyed),
            inner,
        }
    }

    /// The protocol after the verified end of the stream, and the inner reader.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] before the end or after an error.
    pub(crate) fn finish(self) -> Result<(Protocol, R), Error> {
        Ok((self.opening.opener.finish()?, self.inner))
    }
}

impl<O: Incoming, R> OpenReader<O, R> {
    /// Whether the end of the stream was reached and verified.
    pub(crate) fn is_finished(&self) -> bool {
        self.opening.is_finished()
    }
}

impl<O: Incoming, R: Read> Read for OpenReader<O, R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(n) = self.opening.read_ready(output)? {
                return Ok(n);
            }
            let n = self.inner.read(self.opening.room())?;
            self.opening.received(n)?;
        }
    }
}

/// The methods of a public writer `$name<W, $used>` around a [`SealWriter`].
macro_rules! seal_writer {
    ($name:ident, [$($declared:tt)*], [$($used:tt)*]) => {
        impl<W: std::io::Write, $($declared)*> $name<W, $($used)*> {
            /// Writes the remaining data and the end of the stream, flushes the inner writer and returns it.
            ///
            /// # Errors
            ///
            /// Those of the inner writer. Unwritten data are then lost. Use `try_finish` if you can repair the writer.
            pub fn finish(self) -> std::io::Result<W> {
                self.0.finish()
            }

            /// Writes the remaining data and the end of the stream, and flushes the inner writer. Nothing can be
            /// written afterwards.
            ///
            /// # Errors
            ///
            /// Those of the inner writer; the call can be repeated.
            pub fn try_finish(&mut self) -> std::io::Result<()> {
                self.0.try_finish()
            }
        }

        impl<W: std::io::Write, $($declared)*> std::io::Write for $name<W, $($used)*> {
            /// Takes plaintext. Errors are those of the inner writer; nothing was taken then, and the call can be
            /// repeated.
            fn write(&mut self, input: &[u8]) -> std::io::Result<usize> {
                self.0.write(input)
            }

            /// Writes what was sealed, then flushes the inner writer. Where blocks may end early, it first seals and
            /// writes the data taken so far as a block.
            fn flush(&mut self) -> std::io::Result<()> {
                self.0.flush()
            }
        }

        impl<W, $($declared)*> core::fmt::Debug for $name<W, $($used)*> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        #[cfg(feature = "tokio")]
        impl<W: tokio::io::AsyncWrite + Unpin, $($declared)*> tokio::io::AsyncWrite for $name<W, $($used)*> {
            /// As the `write` of `std::io::Write`.
            fn poll_write(
                mut self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
                input: &[u8],
            ) -> core::task::Poll<std::io::Result<usize>> {
                core::pin::Pin::new(&mut self.0).poll_write(cx, input)
            }

            /// As the `flush` of `std::io::Write`.
            fn poll_flush(
                mut self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
            ) -> core::task::Poll<std::io::Result<()>> {
                core::pin::Pin::new(&mut self.0).poll_flush(cx)
            }

            /// Writes the remaining data and the end of the stream, then shuts the inner writer down.
            fn poll_shutdown(
                mut self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
            ) -> core::task::Poll<std::io::Result<()>> {
                core::pin::Pin::new(&mut self.0).poll_shutdown(cx)
            }
        }
    };
}
pub(crate) use seal_writer;

/// The methods of a public reader `$name<R, $used>` around an [`OpenReader`].
macro_rules! open_reader {
    ($name:ident, [$($declared:tt)*], [$($used:tt)*]) => {
        impl<R, $($declared)*> $name<R, $($used)*> {
            /// Whether the end of the stream was reached and verified.
            #[must_use]
            pub fn is_finished(&self) -> bool {
                self.0.is_finished()
            }
        }

        impl<R: std::io::Read, $($declared)*> std::io::Read for $name<R, $($used)*> {
            fn read(&mut self, output: &mut [u8]) -> std::io::Result<usize> {
                self.0.read(output)
            }
        }

        impl<R, $($declared)*> core::fmt::Debug for $name<R, $($used)*> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        #[cfg(feature = "tokio")]
        impl<R: tokio::io::AsyncRead + Unpin, $($declared)*> tokio::io::AsyncRead for $name<R, $($used)*> {
            fn poll_read(
                mut self: core::pin::Pin<&mut Self>,
                cx: &mut core::task::Context<'_>,
                output: &mut tokio::io::ReadBuf<'_>,
            ) -> core::task::Poll<std::io::Result<()>> {
                core::pin::Pin::new(&mut self.0).poll_read(cx, output)
            }
        }
    };
}
pub(crate) use open_reader;

#[cfg(feature = "tokio")]
mod asynchronous {
    use core::pin::Pin;
    use core::task::ready;
    use std::io;

    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::{Context, Incoming, OpenReader, Outgoing, Poll, SealWriter, again};

    impl<O: Incoming, R: AsyncRead + Unpin> AsyncRead for OpenReader<O, R> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            output: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let Self { opening, inner } = &mut *self;
            loop {
                if let Some(n) = opening.read_ready(output.initialize_unfilled())? {
                    output.advance(n);
                    return Poll::Ready(Ok(()));
                }
                let mut room = ReadBuf::new(opening.room());
                ready!(again(Pin::new(&mut *inner).poll_read(cx, &mut room), cx))?;
                let n = room.filled().len();
                opening.received(n)?;
            }
        }
    }

    impl<S: Outgoing, W: AsyncWrite + Unpin> SealWriter<S, W> {
        fn poll_write_pending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            while !self.sealing.pending().is_empty() {
                let polled = Pin::new(&mut self.inner).poll_write(cx, self.sealing.pending());
                let n = ready!(again(polled, cx))?;
                self.sealing.wrote(n)?;
            }
            Poll::Ready(Ok(()))
        }
    }

    impl<S: Outgoing, W: AsyncWrite + Unpin> AsyncWrite for SealWriter<S, W> {
        /// As the `write` of `std::io::Write`.
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            input: &[u8],
        ) -> Poll<io::Result<usize>> {
            ready!(self.poll_write_pending(cx))?;
            Poll::Ready(self.sealing.accept(input))
        }

        /// As the `flush` of `std::io::Write`.
        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            ready!(self.poll_write_pending(cx))?;
            self.sealing.end_block();
            ready!(self.poll_write_pending(cx))?;
            again(Pin::new(&mut self.inner).poll_flush(cx), cx)
        }

        /// Writes the remaining data and the end of the stream, then shuts the inner writer down.
        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            ready!(self.poll_write_pending(cx))?;
            self.sealing.end()?;
            ready!(self.poll_write_pending(cx))?;
            again(Pin::new(&mut self.inner).poll_shutdown(cx), cx)
        }
    }
}
