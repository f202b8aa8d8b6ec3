//! Readers and writers. `schemes::io` drives those of streams, with `std::io` and with tokio.

use core::fmt;
use core::ops::Range;
use std::boxed::Box;
use std::io::{self, Read, Seek, SeekFrom};
use std::vec;

use super::{Error, LANES, Layout, MAX_SEGMENT_LEN, Message, Opener, TAG_LEN, Threads};
use crate::base::wipe::{Wiped, wipe};
use crate::schemes::io::{Incoming, Outgoing, earlier_error, open_reader, seal_writer};

/// Seals the data written to it and passes the segments on, many at a time.
///
/// Call `finish` (or `shutdown` on the asynchronous writer) at the end: it writes the remaining data and ends the message.
/// Flushing seals nothing. The writer buffers 128 KiB or 8 segments, whichever is more, but at most 8 MiB or one segment;
/// with `new_rayon`, that much for each thread, up to 64 MiB.
#[must_use = "call `finish` at the end: without it the message has no end"]
pub struct SealWriter<W>(crate::schemes::io::SealWriter<Sealing, W>);

/// Reads a sealed message from start to end of the inner reader, which need not seek, and releases only verified plaintext.
///
/// A read returns 0 bytes only at the verified end. A damaged, truncated or extended message gives an error of kind
/// `InvalidData`, and every later call fails too. Truncation between two segments is detected only at the end, so do not
/// act on the data until then. After an error of the inner reader the call can be repeated. It buffers as much as a
/// [`SealWriter`].
pub struct OpenReader<R>(crate::schemes::io::OpenReader<Opening, R>);

/// How many segments one thread seals or opens at a time.
pub(super) fn at_a_time(segment_len: usize) -> usize {
    let [least, most] = [1 << 17, 1 << 23].map(|len: usize| len / segment_len);
    least.max(LANES).min(most).max(1)
}

/// The same by these threads.
fn at_a_time_by(threads: Threads, segment_len: usize) -> usize {
    match threads {
        Threads::One => at_a_time(segment_len),
        #[cfg(feature = "rayon")]
        Threads::All => {
            let most = (1_usize << 26) / segment_len;
            (at_a_time(segment_len) * rayon::current_num_threads()).min(most)
        }
    }
}

pub(super) fn damaged(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Segments being filled, then the sealed ones until they are written.
#[derive(Debug)]
pub(super) struct Sealing {
    message: Message,
    threads: Threads,
    /// Room for full sealed segments and one more byte: once that byte arrives, none of them is the last segment.
    buffer: Wiped<Box<[u8]>>,
    /// The number of the first segment in the buffer.
    first: u64,
    /// How many bytes of plaintext are in the buffer.
    filled: usize,
    /// Which sealed bytes are still to be written.
    pending: Range<usize>,
    ended: bool,
}

impl Sealing {
    fn new(message: &Message, threads: Threads) -> Self {
        let slots = at_a_time_by(threads, message.segment_len) * message.slot_len();
        Self {
            message: message.clone(),
            threads,
            buffer: Wiped(vec![0; slots + 1].into_boxed_slice()),
            first: 0,
            filled: 0,
            pending: 0..0,
            ended: false,
        }
    }

    /// How many bytes the sealed segments have when all are full.
    fn slots_len(&self) -> usize {
        self.buffer.0.len() - 1
    }

    fn seal(&mut self, len: usize, ends: bool) -> io::Result<()> {
        (self.message).seal_slots(self.first, ends, &mut self.buffer.0[..len], self.threads)?;
        self.pending = 0..len;
        Ok(())
    }
}

impl Outgoing for Sealing {
    fn pending(&self) -> &[u8] {
        &self.buffer.0[self.pending.clone()]
    }

    fn wrote(&mut self, n: usize) -> io::Result<()> {
        if n == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.pending.start += n;
        if self.pending.is_empty() && !self.ended {
            // The extra byte starts the next segment.
            self.first += (self.slots_len() / self.message.slot_len()) as u64;
            self.buffer.0[0] = self.buffer.0[self.slots_len()];
            self.filled = 1;
        }
        Ok(())
    }

    fn accept(&mut self, input: &[u8]) -> io::Result<usize> {
        if self.ended || !self.pending.is_empty() {
            return Err(earlier_error());
        }
        let mut rest = input;
        while let [next, ..] = *rest {
            let (segment, place) = (
                self.filled / self.message.segment_len,
                self.filled % self.message.segment_len,
            );
            let at = segment * self.message.slot_len() + place;
            if at == self.slots_len() {
                self.buffer.0[at] = next;
                self.seal(at, false)?;
                rest = &rest[1..];
                break;
            }
            let n = rest.len().min(self.message.segment_len - place);
            self.buffer.0[at..][..n].copy_from_slice(&rest[..n]);
            self.filled += n;
            rest = &rest[n..];
        }
        Ok(input.len() - rest.len())
    }

    /// Only the last segment may be short.
    fn end_block(&mut self) {}

    fn end(&mut self) -> io::Result<()> {
        if !self.ended {
            let segments = self.filled.div_ceil(self.message.segment_len).max(1);
            self.seal(self.filled + segments * TAG_LEN, true)?;
            self.ended = true;
        }
        Ok(())
    }
}

impl<W> SealWriter<W> {
    /// Starts to write a sealed message. Seal only one plaintext with a message: a second one would reuse the nonce.
    pub fn new(message: &Message, inner: W) -> Self {
        Self(crate::schemes::io::SealWriter {
            sealing: Sealing::new(message, Threads::One),
            inner,
        })
    }

    /// The same on all threads of the current rayon pool, with as much memory for each thread.
    #[cfg(feature = "rayon")]
    pub fn new_rayon(message: &Message, inner: W) -> Self {
        Self(crate::schemes::io::SealWriter {
            sealing: Sealing::new(message, Threads::All),
            inner,
        })
    }
}

seal_writer!(SealWriter, [], []);

/// Sealed segments, then the opened ones until they are released.
#[derive(Debug)]
pub(super) struct Opening {
    message: Message,
    threads: Threads,
    /// Room for full sealed segments and one more byte: once that byte arrives, none of them is the last segment.
    buffer: Wiped<Box<[u8]>>,
    /// The number of the first segment in the buffer.
    first: u64,
    /// How much of it was read.
    read: usize,
    /// The opened slots, and the plaintext in them that has not been released yet.
    opened: usize,
    ready: Range<usize>,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    /// The end was verified.
    Finished,
    Failed,
}

impl Opening {
    fn new(message: &Message, threads: Threads) -> Self {
        let Sealing { buffer, .. } = Sealing::new(message, threads);
        Self {
            message: message.clone(),
            threads,
            buffer,
            first: 0,
            read: 0,
            opened: 0,
            ready: 0..0,
            progress: Progress::Open,
        }
    }
}

impl Incoming for Opening {
    fn read_ready(&mut self, output: &mut [u8]) -> io::Result<Option<usize>> {
        if self.progress == Progress::Failed {
            return Err(earlier_error());
        }
        let given = copy_out(&self.message, &self.buffer.0, &mut self.ready, output);
        let answered = given > 0 || output.is_empty() || self.progress == Progress::Finished;
        Ok(answered.then_some(given))
    }

    fn room(&mut self) -> &mut [u8] {
        if self.opened > 0 {
            // They have been given out. What is left is the byte after them.
            self.first += (self.opened / self.message.slot_len()) as u64;
            self.buffer.0[0] = self.buffer.0[self.opened];
            self.read = 1;
            self.opened = 0;
        }
        &mut self.buffer.0[self.read..]
    }

    fn received(&mut self, n: usize) -> io::Result<()> {
        self.read += n;
        if n > 0 && self.read < self.buffer.0.len() {
            return Ok(());
        }
        // If the input ended, the buffer holds the rest of the message; otherwise full segments and one more byte.
        let ends = n == 0;
        let slots = &mut self.buffer.0[..self.read - usize::from(!ends)];
        self.progress = Progress::Failed;
        let layout = Layout::of_sealed(slots.len() as u64, self.message.segment_len);
        // An empty last segment is valid only if it is also the first one.
        let layout = layout.and_then(|layout| match layout.plaintext_len() {
            0 if self.first > 0 => Err(Error::Verification),
            _ => Ok(layout),
        });
        let layout = layout.inspect_err(|_| wipe(slots)).map_err(damaged)?;
        (self.message.open_slots(self.first, ends, slots, self.threads)).map_err(damaged)?;
        self.opened = slots.len();
        self.ready = 0..super::clamp(layout.plaintext_len());
        self.progress = if ends { Progress::Finished } else { Progress::Open };
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.progress == Progress::Finished && self.ready.is_empty()
    }
}

open_reader!(OpenReader, [], []);

/// Copies plaintext out of opened slots, from the place `ready.start` on in what they say.
fn copy_out(message: &Message, slots: &[u8], ready: &mut Range<usize>, output: &mut [u8]) -> usize {
    let mut filled = 0;
    while filled < output.len() && ready.start < ready.end {
        let (segment, place) = (
            ready.start / message.segment_len,
            ready.start % message.segment_len,
        );
        let n = (output.len() - filled)
            .min(message.segment_len - place)
            .min(ready.end - ready.start);
        let from = &slots[segment * message.slot_len() + place..][..n];
        output[filled..][..n].copy_from_slice(from);
        ready.start += n;
        filled += n;
    }
    filled
}

impl<R> OpenReader<R> {
    /// Starts to read a sealed message.
    #[must_use]
    pub fn new(message: &Message, inner: R) -> Self {
        Self(crate::schemes::io::OpenReader {
            opening: Opening::new(message, Threads::One),
            inner,
        })
    }

    /// The same on all threads of the current rayon pool, with as much memory for each thread.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn new_rayon(message: &Message, inner: R) -> Self {
        Self(crate::schemes::io::OpenReader {
            opening: Opening::new(message, Threads::All),
            inner,
        })
    }

    /// The inner reader, after the verified end of the message.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] before the end or after an error.
    pub fn finish(self) -> Result<R, Error> {
        if self.0.is_finished() {
            Ok(self.0.inner)
        } else {
            Err(Error::Verification)
        }
    }
}

/// Reads a sealed message with random access from an inner reader that seeks, and releases only verified plaintext.
///
/// The end of the message is verified first, so truncation is detected before any data is released. A read returns 0 bytes
/// only at or past the end of the message. Damage gives an error of kind `InvalidData`, an inner reader that has become
/// shorter one of kind `UnexpectedEof`; errors of the inner reader are passed on. After an error the call can be repeated
/// and other places can be read. It loads one segment after a seek, and more at a time during sequential reading; it
/// buffers as much as a [`SealWriter`].
pub struct SeekReader<R> {
    window: Window,
    inner: R,
}

/// Opened segments, and where the next read goes.
struct Window {
    opener: Opener,
    threads: Threads,
    /// Where the message begins in the inner reader.
    origin: u64,
    position: u64,
    /// Allocated when it is needed.
    buffer: Wiped<Box<[u8]>>,
    /// The segments that are in there, opened.
    opened: Range<u64>,
    /// The segments that were refused together, which are opened one at a time: the damage may be in any of them.
    suspect: Range<u64>,
    /// What the inner reader is pending for. Not so while it is called: if it fails or panics, its position is unknown.
    #[cfg(feature = "tokio")]
    pending: Option<(Loading, asynchronous::Seeking)>,
}

/// Segments that are being read, and how many bytes of them are there.
struct Loading {
    segments: Range<u64>,
    filled: usize,
}

impl Window {
    fn new(opener: Opener, origin: u64, threads: Threads) -> Self {
        Self {
            opener,
            threads,
            origin,
            position: 0,
            buffer: Wiped(Box::default()),
            opened: 0..0,
            suspect: 0..0,
            #[cfg(feature = "tokio")]
            pending: None,
        }
    }

    fn segment_len(&self) -> u64 {
        self.opener.layout.segment_len as u64
    }

    /// Moves plaintext into `output`: the number of bytes if that answers the read, or else nothing, and segments
    /// must be loaded.
    fn read_ready(&mut self, output: &mut [u8]) -> Option<usize> {
        let len = self.opener.layout.plaintext_len;
        if output.is_empty() || self.position >= len {
            return Some(0);
        }
        if !self.opened.contains(&(self.position / self.segment_len())) {
            return None;
        }
        let before = self.opened.start * self.segment_len();
        let end = len.min(self.opened.end * self.segment_len());
        let mut ready = super::clamp(self.position - before)..super::clamp(end - before);
        let n = copy_out(&self.opener.message, &self.buffer.0, &mut ready, output);
        self.position += n as u64;
        Some(n)
    }

    /// Begins to load the segment at the position, and more if it follows what was read: where to go in the inner reader. What
    /// is pending is abandoned: it has neither the buffer nor the inner reader any more.
    fn begin(&mut self) -> (Loading, u64) {
        let layout = &self.opener.layout;
        let first = self.position / layout.segment_len as u64;
        let most = at_a_time_by(self.threads, layout.segment_len) as u64;
        let ahead = if first > 0 && first == self.opened.end && !self.suspect.contains(&first) {
            most
        } else {
            1
        };
        let segments = first..layout.segments.min(first + ahead);
        let sealed = layout.sealed_range(segments.clone());
        let len = super::clamp(sealed.end - sealed.start);
        if self.buffer.0.len() < len {
            self.buffer = Wiped(Box::default()); // not both at a time
            self.buffer = Wiped(vec![0; len].into_boxed_slice());
        }
        // What is there is overwritten. If that fails, the next attempt is for one segment.
        self.opened = 0..0;
        #[cfg(feature = "tokio")]
        {
            self.pending = None;
        }
        let loading = Loading { segments, filled: 0 };
        (loading, self.origin.saturating_add(sealed.start))
    }

    /// Where the rest of the segments is to be put.
    fn room(&mut self, loading: &Loading) -> &mut [u8] {
        let sealed = self.opener.layout.sealed_range(loading.segments.clone());
        &mut self.buffer.0[loading.filled..super::clamp(sealed.end - sealed.start)]
    }

    /// `n` bytes were put there. What is still to be read.
    fn received(&mut self, mut loading: Loading, n: usize) -> io::Result<Option<Loading>> {
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        loading.filled += n;
        if !self.room(&loading).is_empty() {
            return Ok(Some(loading));
        }
        let Loading { segments, filled } = loading;
        let slots = &mut self.buffer.0[..filled];
        if let Err(error) = self.opener.open_at(segments.start, slots, self.threads) {
            // The damage may be further on: then the next attempt, for one segment, succeeds.
            return if segments.end - segments.start > 1 {
                self.suspect = segments;
                Ok(None)
            } else {
                Err(damaged(error))
            };
        }
        self.opened = segments;
        Ok(None)
    }
}

/// The length of the last sealed segment of a message, and where it begins. A longer one than [`MAX_SEGMENT_LEN`] there is
/// not.
fn last_segment(message: &Message, sealed_len: u64) -> io::Result<(u64, usize)> {
    let layout = Layout::of_sealed(sealed_len, message.segment_len).map_err(damaged)?;
    let last = layout.sealed_range(layout.segments - 1..layout.segments);
    let len = super::clamp(last.end - last.start).min(MAX_SEGMENT_LEN + TAG_LEN);
    Ok((last.start, len))
}

impl<R: Read + Seek> SeekReader<R> {
    /// Verifies the end of the message, which starts at the inner reader's current position and extends to the reader's end.
    ///
    /// # Errors
    ///
    /// An error of kind `InvalidData` if the end is not what was sealed, or those of the inner reader.
    pub fn new(message: &Message, inner: R) -> io::Result<Self> {
        Self::start(message, inner, Threads::One)
    }

    /// The same on all threads of the current rayon pool, with as much memory for each thread.
    ///
    /// # Errors
    ///
    /// The same.
    #[cfg(feature = "rayon")]
    pub fn new_rayon(message: &Message, inner: R) -> io::Result<Self> {
        Self::start(message, inner, Threads::All)
    }

    fn start(message: &Message, mut inner: R, threads: Threads) -> io::Result<Self> {
        let origin = inner.stream_position()?;
        let end = inner.seek(SeekFrom::End(0))?;
        let sealed_len = end.saturating_sub(origin);
        let (start, len) = last_segment(message, sealed_len)?;
        let mut last = Wiped(vec![0; len]);
        inner.seek(SeekFrom::Start(origin + start))?;
        inner.read_exact(&mut last.0)?;
        let opener = message.opener(sealed_len, &mut last.0).map_err(damaged)?;
        Ok(Self {
            window: Window::new(opener, origin, threads),
            inner,
        })
    }
}

impl<R> SeekReader<R> {
    /// Where the segments lie; with the length of the plaintext.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.window.opener.layout
    }

    /// The inner reader, at any place.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: Read + Seek> Read for SeekReader<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let Self { window, inner } = self;
        loop {
            if let Some(n) = window.read_ready(output) {
                return Ok(n);
            }
            // Nothing is left over of an earlier attempt: where the inner reader is then is not known.
            let (loading, start) = window.begin();
            inner.seek(SeekFrom::Start(start))?;
            let room = window.room(&loading);
            inner.read_exact(room)?;
            let n = room.len();
            window.received(loading, n)?;
        }
    }
}

impl<R> Seek for SeekReader<R> {
    /// Seeks to a position in the plaintext; past its end there is nothing to read.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let window = &mut self.window;
        window.position = crate::schemes::io::seek(to, window.position, window.opener.layout.plaintext_len)?;
        Ok(window.position)
    }
}

impl<R> fmt::Debug for SeekReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekReader").finish_non_exhaustive()
    }
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use core::future::poll_fn;
    use core::pin::Pin;
    use core::task::{Context, Poll, ready};
    use std::io::{self, SeekFrom};
    use std::vec;

    use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

    use super::{Message, Seek, SeekReader, Threads, Window, Wiped, damaged, last_segment};
    use crate::schemes::io::again;

    /// How far the inner reader is on its way.
    #[derive(Clone, Copy)]
    pub(super) enum Seeking {
        /// It may still be on an earlier one.
        Wanted(u64),
        Begun,
        Done,
    }

    /// Goes on with a seek. After an error it is over.
    fn poll_seek<R: AsyncSeek + Unpin>(
        inner: &mut R,
        seeking: &mut Seeking,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if let Seeking::Wanted(place) = *seeking {
            // Ignore the result of an earlier seek that its caller abandoned.
            let _ = ready!(Pin::new(&mut *inner).poll_complete(cx));
            Pin::new(&mut *inner).start_seek(SeekFrom::Start(place))?;
            *seeking = Seeking::Begun;
        }
        if let Seeking::Begun = *seeking {
            ready!(Pin::new(inner).poll_complete(cx))?;
            *seeking = Seeking::Done;
        }
        Poll::Ready(Ok(()))
    }

    async fn seek<R: AsyncSeek + Unpin>(inner: &mut R, to: SeekFrom) -> io::Result<u64> {
        let _ = poll_fn(|cx| Pin::new(&mut *inner).poll_complete(cx)).await;
        Pin::new(&mut *inner).start_seek(to)?;
        poll_fn(|cx| Pin::new(&mut *inner).poll_complete(cx)).await
    }

    impl<R: AsyncRead + AsyncSeek + Unpin> SeekReader<R> {
        /// [`SeekReader::new`] with an asynchronous inner reader.
        ///
        /// # Errors
        ///
        /// The same.
        pub async fn new_async(message: &Message, mut inner: R) -> io::Result<Self> {
            let origin = seek(&mut inner, SeekFrom::Current(0)).await?;
            let end = seek(&mut inner, SeekFrom::End(0)).await?;
            let sealed_len = end.saturating_sub(origin);
            let (start, len) = last_segment(message, sealed_len)?;
            let mut last = Wiped(vec![0; len]);
            seek(&mut inner, SeekFrom::Start(origin + start)).await?;
            let mut room = ReadBuf::new(&mut last.0);
            while room.remaining() > 0 {
                let before = room.remaining();
                poll_fn(|cx| again(Pin::new(&mut inner).poll_read(cx, &mut room), cx)).await?;
                if room.remaining() == before {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let opener = message.opener(sealed_len, &mut last.0).map_err(damaged)?;
            Ok(Self {
                window: Window::new(opener, origin, Threads::One),
                inner,
            })
        }
    }

    impl Window {
        /// Goes on to load the segments that `read_ready` has asked for. After an error or a panic, the next call begins
        /// anew.
        fn poll_load<R: AsyncRead + AsyncSeek + Unpin>(
            &mut self,
            inner: &mut R,
            cx: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            let (mut loading, mut seeking) = self.pending.take().unwrap_or_else(|| {
                let (loading, start) = self.begin();
                (loading, Seeking::Wanted(start))
            });
            if poll_seek(inner, &mut seeking, cx)?.is_ready() {
                loop {
                    let mut room = ReadBuf::new(self.room(&loading));
                    let polled = Pin::new(&mut *inner).poll_read(cx, &mut room);
                    if again(polled, cx)?.is_pending() {
                        break;
                    }
                    let n = room.filled().len();
                    match self.received(loading, n)? {
                        Some(rest) => loading = rest,
                        None => return Poll::Ready(Ok(())),
                    }
                }
            }
            self.pending = Some((loading, seeking));
            Poll::Pending
        }
    }

    impl<R: AsyncRead + AsyncSeek + Unpin> AsyncRead for SeekReader<R> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            output: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let Self { window, inner } = &mut *self;
            loop {
                if let Some(n) = window.read_ready(output.initialize_unfilled()) {
                    output.advance(n);
                    return Poll::Ready(Ok(()));
                }
                ready!(again(window.poll_load(inner, cx), cx))?;
            }
        }
    }

    impl<R: Unpin> AsyncSeek for SeekReader<R> {
        /// As the `seek` of `std::io::Seek`.
        fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
            self.seek(to).map(|_| ())
        }

        fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
            Poll::Ready(Ok(self.window.position))
        }
    }
}
