//! A connection after its handshake.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use veriplex::hybrid::PublicKey;
use veriplex::tunnel::{
    DATA_OVERHEAD, Frame, HEADER_LEN, MAX_DATA_LEN, MAX_RECORD_LEN, Receiver, RenewalKeys, Sender, Session,
    share,
};
use veriplex::{TAG_LEN, os_rng};
use zeroize::{Zeroize, optimization_barrier};

use crate::below::Below;
use crate::{Config, Error};

/// Where the data of a record begin.
const DATA: usize = HEADER_LEN + 1;
/// The size of a buffer: for 64 KiB of data in records of 8 KiB, which are sealed and opened eight at a time, or for
/// any record.
const BUFFER_LEN: usize = (1 << 16) + 8 * DATA_OVERHEAD;

/// How often a peer may renew within the time of one renewal, besides after much data. An honest one renews once.
const MAX_RENEWALS: u32 = 16;
/// Much data: one part in this many of the bytes after which this end renews.
const MUCH_IN_RENEWAL: u64 = 4;

/// A connection to a peer that has proved who it is.
///
/// - Only verified data are read. The end of the peer's direction reads as the end. A connection that closes without
///   one is an error of the kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), any change one of the kind
///   [`InvalidData`](io::ErrorKind::InvalidData). Errors are final.
/// - Written data leave at once if the stream below takes them. Otherwise up to 64 KiB are kept, and leave in one piece
///   with the next call or `flush`. Where the CPU seals several records at once, a piece has up to eight.
/// - `shutdown` ends this direction, and then shuts down the stream below. The other direction continues.
/// - Dropping the future of a call loses nothing: the next call continues there.
/// - It holds at most three buffers of 64 KiB, and none once it is flushed and waits for the peer.
///
/// The sending end renews the keys of its direction as [`Config`] says, together with data that it sends anyway. An end
/// that only reads renews its own after the peer has, and when it reads, so that the keys that the peer renews against
/// do not get old either.
///
/// To read and write at the same time, use `tokio::io::split`. `AsyncBufRead` gives verified data without a copy.
#[derive(Debug)]
pub struct Stream<S> {
    inner: Below<S>,
    peer: PublicKey,
    keys: RenewalKeys,
    write: Writing,
    read: Reading,
    interval: Duration,
    max_bytes: u64,
}

#[derive(Debug)]
struct Writing {
    /// None after the end.
    sender: Option<Sender>,
    /// Future records: room for the header, the type, data, room for the tag; of the last one, the data so far.
    filling: Vec<u8>,
    /// How much data a record takes.
    share: usize,
    /// Sealed records, sent up to a point.
    sending: Vec<u8>,
    sent: usize,
    /// When the keys were renewed, and the bytes since.
    renewed: Instant,
    bytes: u64,
    renewals: u64,
    /// The task that waits until the stream takes more.
    waker: Option<Waker>,
    error: Option<io::ErrorKind>,
}

#[derive(Debug)]
struct Reading {
    receiver: Receiver,
    buffer: Vec<u8>,
    /// Where in the buffer the verified data are; unopened data follow.
    data: Range<usize>,
    sealed: Range<usize>,
    has_ended: bool,
    /// What follows the data was not the peer's.
    is_wrong: bool,
    renewals: u64,
    /// Renewals since a time, and bytes since the last of them.
    recent: u32,
    since: Instant,
    bytes: u64,
    error: Option<io::ErrorKind>,
}

impl<S> Stream<S> {
    pub(crate) fn new(inner: Below<S>, session: Session, config: &Config) -> Self {
        let now = Instant::now();
        Self {
            inner,
            peer: session.peer,
            keys: session.keys,
            write: Writing {
                sender: Some(session.sender),
                filling: Vec::new(),
                share: MAX_DATA_LEN,
                sending: Vec::new(),
                sent: 0,
                renewed: now,
                bytes: 0,
                renewals: 0,
                waker: None,
                error: None,
            },
            read: Reading {
                receiver: session.receiver,
                buffer: Vec::new(),
                data: 0..0,
                sealed: 0..0,
                has_ended: false,
                is_wrong: false,
                renewals: 0,
                recent: 0,
                since: now,
                bytes: 0,
                error: None,
            },
            interval: config.renewal_interval,
            max_bytes: config.renewal_bytes,
        }
    }

    /// The peer's public key.
    #[must_use]
    pub fn peer(&self) -> &PublicKey {
        &self.peer
    }

    /// The stream below.
    #[must_use]
    pub fn get_ref(&self) -> &S {
        &self.inner.0
    }

    /// How often the keys of this end's and of the peer's direction were renewed.
    #[must_use]
    pub fn renewals(&self) -> (u64, u64) {
        (self.write.renewals, self.read.renewals)
    }

    /// Whether the peer has ended its direction and everything was read.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.read.has_ended
    }

    /// A record without data.
    pub(crate) fn seal_empty(&mut self) -> Result<(), Error> {
        self.write.fill(&[], MAX_DATA_LEN);
        Ok(self.write.seal()?)
    }

    /// The frame of the record that proved who the peer is.
    pub(crate) fn take_first(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        match frame {
            Frame::Data(data) => {
                self.read.buffer = data.to_vec();
                self.read.data = 0..data.len();
                self.read.sealed = data.len()..data.len();
            }
            Frame::Renewal => self.read.count_renewal(self.interval, self.max_bytes)?,
            Frame::End => self.read.has_ended = true,
        }
        Ok(())
    }

    /// Whether this end's keys are old.
    fn is_due(&self) -> bool {
        self.write.bytes >= self.max_bytes || self.write.renewed.elapsed() >= self.interval
    }

    /// Renews them, after what is being sent.
    fn renew(&mut self) -> io::Result<()> {
        if let Some(sender) = &mut self.write.sender {
            let record = sender
                .renew(&mut self.keys, &mut os_rng())
                .map_err(io::Error::other)?;
            self.write.sending.extend_from_slice(&record);
            self.write.renewed = Instant::now();
            self.write.bytes = 0;
            self.write.renewals += 1;
        }
        Ok(())
    }
}

impl Writing {
    /// Takes as much data as there is room for, so much into each record.
    fn fill(&mut self, data: &[u8], share: usize) -> usize {
        if self.filling.is_empty() {
            // All of it, so that it never moves and leaves a copy behind.
            self.filling.reserve_exact(BUFFER_LEN);
            self.share = share;
            self.filling.resize(DATA, 0);
        }
        let mut rest = data;
        loop {
            let used = self.filling.len();
            let room = match used % (self.share + DATA_OVERHEAD) {
                0 if rest.is_empty() || BUFFER_LEN - used <= DATA_OVERHEAD => break,
                0 => {
                    self.filling.resize(used + DATA, 0);
                    continue;
                }
                begun => (DATA + self.share - begun).min(BUFFER_LEN - TAG_LEN - used),
            };
            let (now, later) = rest.split_at(rest.len().min(room));
            self.filling.extend_from_slice(now);
            rest = later;
            if now.len() < room || self.is_full() {
                break;
            }
            self.filling.resize(self.filling.len() + TAG_LEN, 0);
        }
        data.len() - rest.len()
    }

    /// Whether the last record ends where the buffer does.
    fn is_full(&self) -> bool {
        self.filling.len() + TAG_LEN == BUFFER_LEN
    }

    /// Seals the data; everything before was sent.
    fn seal(&mut self) -> io::Result<()> {
        let sender = self.sender.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let each = self.share + DATA_OVERHEAD;
        if !self.filling.len().is_multiple_of(each) {
            self.filling.resize(self.filling.len() + TAG_LEN, 0);
        }
        let records = self.filling.len().div_ceil(each);
        self.bytes +=
            u64::try_from(self.filling.len() - records * DATA_OVERHEAD).map_err(io::Error::other)?;
        let sealed = match records {
            1 => sender.seal(&mut self.filling),
            _ => sender.seal_many(&mut self.filling, each),
        };
        sealed.map_err(io::Error::other)?;
        std::mem::swap(&mut self.filling, &mut self.sending);
        Ok(())
    }

    /// Sends what is sealed.
    fn poll_send<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(kind) = self.error {
            return Poll::Ready(Err(kind.into()));
        }
        while self.sent < self.sending.len() {
            let error = match Pin::new(&mut *stream).poll_write(cx, &self.sending[self.sent..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(n)) if n > 0 => {
                    self.sent += n;
                    continue;
                }
                Poll::Ready(Ok(_)) => io::ErrorKind::WriteZero.into(),
                Poll::Ready(Err(error)) => error,
            };
            self.error = Some(error.kind());
            return Poll::Ready(Err(error));
        }
        self.sending.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.filling.zeroize();
    }
}

impl Reading {
    /// Counts a renewal of the peer.
    fn count_renewal(&mut self, interval: Duration, max_bytes: u64) -> io::Result<()> {
        self.renewals += 1;
        if self.since.elapsed() >= interval {
            (self.since, self.recent) = (Instant::now(), 0);
        }
        if std::mem::take(&mut self.bytes) < max_bytes / MUCH_IN_RENEWAL {
            self.recent += 1;
        }
        if self.recent > MAX_RENEWALS {
            return Err(invalid("the peer renews its keys all the time"));
        }
        Ok(())
    }

    /// Frees the buffer, wiped.
    fn release(&mut self) {
        // All of it, since the stream below may have written more than it said. `zeroize` would go byte by byte.
        self.buffer.fill(0);
        optimization_barrier(&self.buffer);
        self.buffer = Vec::new();
        (self.data, self.sealed) = (0..0, 0..0);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.release();
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Reads until there are data, or the end.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.read.data.is_empty() && !self.read.has_ended {
            if self.read.is_wrong {
                return Poll::Ready(Err(invalid("verification failed")));
            }
            if self.open()? {
                continue;
            }
            let read = &mut self.read;
            if read.buffer.len() < BUFFER_LEN {
                // None, or that of the first record, which is used up.
                let mut buffer = vec![0; BUFFER_LEN];
                let rest = read.sealed.len();
                buffer[..rest].copy_from_slice(&read.buffer[read.sealed.clone()]);
                read.release();
                (read.buffer, read.sealed) = (buffer, 0..rest);
            } else if read.sealed.start > 0 {
                // As much room as possible, so that several records come at once.
                read.buffer.copy_within(read.sealed.clone(), 0);
                (read.data, read.sealed) = (0..0, 0..read.sealed.len());
            }
            let mut room = ReadBuf::new(&mut read.buffer[read.sealed.end..]);
            match Pin::new(&mut self.inner).poll_read(cx, &mut room) {
                Poll::Ready(result) => result?,
                Poll::Pending => {
                    if read.sealed.is_empty() {
                        read.release();
                    }
                    return Poll::Pending;
                }
            }
            match room.filled().len() {
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                n => read.sealed.end += n,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Opens the next records, if at least one is complete.
    fn open(&mut self) -> io::Result<bool> {
        let read = &mut self.read;
        let start = read.sealed.start;
        let (mut lens, mut count) = ([0; 8], 0);
        let (mut has_renewed, mut has_ended) = (false, false);
        let sealed = &mut read.buffer[read.sealed.clone()];
        let opened = read
            .receiver
            .open_many(sealed, &mut self.keys, |frame| match frame {
                Frame::Data(data) => {
                    if let Some(len) = lens.get_mut(count) {
                        *len = data.len();
                        count += 1;
                    }
                }
                Frame::Renewal => has_renewed = true,
                Frame::End => has_ended = true,
            });
        // What was verified before comes first.
        read.is_wrong = opened.is_err();
        let mut n = 0;
        if let Ok(used) = opened {
            if used == 0 {
                return Ok(false);
            }
            read.sealed.start += used;
        }
        // In one piece.
        let mut from = start + DATA;
        for len in &lens[..count] {
            read.buffer.copy_within(from..from + len, start + DATA + n);
            (from, n) = (from + len + DATA_OVERHEAD, n + len);
        }
        read.data = start + DATA..start + DATA + n;
        read.bytes += u64::try_from(n).map_err(io::Error::other)?;
        if has_renewed {
            read.count_renewal(self.interval, self.max_bytes)?;
            // Behind what waits to be sent, renewals would pile up.
            let is_sent = self.write.sent == self.write.sending.len();
            if self.is_due() && is_sent && self.write.error.is_none() {
                self.renew()?;
            }
        } else if has_ended {
            if !read.sealed.is_empty() {
                return Err(invalid("data after the end"));
            }
            read.has_ended = true;
            read.release();
        }
        Ok(true)
    }

    /// Sends a renewal that reading has caused, if nobody writes. Another task may wait for the stream to take more: then
    /// both are woken.
    fn send_along(&mut self, cx: &Context<'_>) {
        if self.write.sent < self.write.sending.len() {
            let waker = Waker::from(Arc::new(Both {
                reader: cx.waker().clone(),
                writer: self.write.waker.clone(),
            }));
            let cx = &mut Context::from_waker(&waker);
            // An error stays, for who writes.
            if let Poll::Ready(Ok(())) = self.write.poll_send(&mut self.inner, cx) {
                let _ = Pin::new(&mut self.inner).poll_flush(cx);
            }
        }
    }
}

/// Wakes the tasks of both directions.
struct Both {
    reader: Waker,
    writer: Option<Waker>,
}

impl Wake for Both {
    fn wake(self: Arc<Self>) {
        self.reader.wake_by_ref();
        if let Some(writer) = &self.writer {
            writer.wake_by_ref();
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncBufRead for Stream<S> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if let Some(kind) = this.read.error {
            return Poll::Ready(Err(kind.into()));
        }
        let result = this.poll_data(cx);
        this.send_along(cx);
        if let Err(error) = ready!(result) {
            this.read.error = Some(error.kind());
            this.read.release();
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(&this.read.buffer[this.read.data.clone()]))
    }

    fn consume(self: Pin<&mut Self>, n: usize) {
        let data = &mut self.get_mut().read.data;
        data.start += n.min(data.len());
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let data = ready!(self.as_mut().poll_fill_buf(cx))?;
        let n = buf.remaining().min(data.len());
        buf.put_slice(&data[..n]);
        self.consume(n);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.write.sender.is_none() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            match this.write.poll_send(&mut this.inner, cx)? {
                Poll::Ready(()) if this.is_due() => this.renew()?,
                Poll::Ready(()) => {
                    let n = this.write.fill(buf, share(buf.len()));
                    this.write.seal()?;
                    if n == 0 {
                        continue; // the record was full
                    }
                    if this.write.poll_send(&mut this.inner, cx)?.is_pending() {
                        this.write.waker = Some(cx.waker().clone());
                    }
                    return Poll::Ready(Ok(n));
                }
                Poll::Pending => {
                    this.write.waker = Some(cx.waker().clone());
                    // Much may come until it goes on.
                    return match this.write.fill(buf, share(BUFFER_LEN)) {
                        0 => Poll::Pending,
                        n => Poll::Ready(Ok(n)),
                    };
                }
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            this.write.waker = Some(cx.waker().clone());
            ready!(this.write.poll_send(&mut this.inner, cx))?;
            if this.write.filling.is_empty() {
                break;
            }
            this.write.seal()?;
        }
        ready!(Pin::new(&mut this.inner).poll_flush(cx))?;
        this.write.waker = None;
        this.write.filling = Vec::new();
        this.write.sending = Vec::new();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut *this).poll_flush(cx))?;
        if let Some(sender) = this.write.sender.take() {
            let end = sender.finish().map_err(io::Error::other)?;
            this.write.sending.extend_from_slice(&end);
            ready!(Pin::new(&mut *this).poll_flush(cx))?;
        }
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}

/// A record of data has no other room.
const _: () = assert!(
    DATA_OVERHEAD == DATA + TAG_LEN
        && MAX_RECORD_LEN == MAX_DATA_LEN + DATA_OVERHEAD
        && MAX_RECORD_LEN <= BUFFER_LEN
);
