//! The asynchronous readers and writers give the same bytes as the synchronous ones, whatever the inner ones do.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use veriplex::{Key, Protocol, aestream, label, oae2, seekable};

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("tokio"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

/// What the inner reader or writer does on every other call, and how the caller responds.
#[derive(Clone, Copy)]
enum Trouble {
    /// Nothing unusual.
    Never,
    /// It is pending, and the caller polls again.
    Pending,
    /// It is pending, and the caller cancels the call and repeats it.
    Cancelled,
    /// It fails, and the caller repeats the call.
    Failed,
    /// It was interrupted, of which the caller sees nothing.
    Interrupted,
    /// It panics after its work, and the caller repeats the call.
    Panicked,
    /// It has become shorter: there is nothing to read.
    Ended,
}

use Trouble::{Cancelled, Ended, Failed, Interrupted, Never, Panicked, Pending};

/// An inner reader or writer that moves up to `step` bytes in each call without trouble.
struct Slow<T> {
    inner: T,
    step: usize,
    trouble: Trouble,
    in_trouble: bool,
    shut_down: bool,
}

impl<T> Slow<T> {
    fn new(inner: T, step: usize, trouble: Trouble) -> Self {
        Self {
            inner,
            step,
            trouble,
            in_trouble: false,
            shut_down: false,
        }
    }

    fn poll<R>(&mut self, cx: &Context<'_>, work: impl FnOnce(&mut Self) -> R) -> Poll<io::Result<R>> {
        self.in_trouble = !self.in_trouble;
        match self.trouble {
            Never | Ended => Poll::Ready(Ok(work(self))),
            _ if !self.in_trouble => Poll::Ready(Ok(work(self))),
            Failed => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Interrupted => Poll::Ready(Err(ErrorKind::Interrupted.into())),
            Panicked => {
                work(self);
                resume_unwind(Box::new(()))
            }
            Pending | Cancelled => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl AsyncRead for Slow<&[u8]> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        output: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Ended = self.trouble {
            return Poll::Ready(Ok(()));
        }
        self.poll(cx, |slow| {
            let n = slow.step.min(slow.inner.len()).min(output.remaining());
            let (now, later) = slow.inner.split_at(n);
            output.put_slice(now);
            slow.inner = later;
        })
    }
}

impl AsyncWrite for Slow<Vec<u8>> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, input: &[u8]) -> Poll<io::Result<usize>> {
        assert!(!self.shut_down);
        self.poll(cx, |slow| {
            let n = slow.step.min(input.len());
            slow.inner.extend_from_slice(&input[..n]);
            n
        })
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(cx, |slow| slow.shut_down = true)
    }
}

/// Runs a future with a waker that does nothing, and repeats it after trouble.
fn run<T>(trouble: Trouble, mut make: impl AsyncFnMut() -> io::Result<T>) -> io::Result<T> {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let mut future = pin!(make());
        loop {
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx)));
            match (polled, trouble) {
                (Err(_), Panicked) | (Ok(Poll::Pending), Cancelled) => break,
                (Err(panic), _) => resume_unwind(panic),
                (Ok(Poll::Ready(Err(error))), Failed) if error.kind() == ErrorKind::TimedOut => break,
                (Ok(Poll::Ready(result)), _) => return result,
                (Ok(Poll::Pending), _) => {}
            }
        }
    }
}

/// Writes in pieces through a slow writer. It uses only calls that may be repeated: `write`, `flush`, `shutdown`.
fn seal(writer: &mut (impl AsyncWrite + Unpin), message: &[u8], trouble: Trouble, flush: bool) {
    for mut piece in message.chunks(33) {
        while !piece.is_empty() {
            let n = run(trouble, async || writer.write(piece).await).unwrap();
            piece = &piece[n..];
        }
        if flush {
            run(trouble, async || writer.flush().await).unwrap();
        }
    }
    run(trouble, async || writer.shutdown().await).unwrap();
    assert!(run(trouble, async || writer.write(b"late").await).is_err());
    run(trouble, async || writer.shutdown().await).unwrap();
}

/// Reads to the end or to the first error.
fn read(reader: &mut (impl AsyncRead + Unpin), trouble: Trouble) -> (Vec<u8>, io::Result<()>) {
    let mut message = Vec::new();
    let mut buffer = [0; 50];
    loop {
        match run(trouble, async || reader.read(&mut buffer).await) {
            Ok(0) => return (message, Ok(())),
            Ok(n) => message.extend_from_slice(&buffer[..n]),
            Err(error) => {
                let again = run(trouble, async || reader.read(&mut buffer).await);
                assert!(again.is_err(), "an error must persist");
                return (message, Err(error));
            }
        }
    }
}

/// What a reader released, and either how many bytes it left after the verified end, or its error.
type Opened = (Vec<u8>, Result<usize, ErrorKind>);

/// A scheme: how `std::io` seals a message, and the asynchronous writer and reader.
struct Scheme {
    sealed: fn(&[u8], bool) -> Vec<u8>,
    seal: fn(&mut Slow<Vec<u8>>, &[u8], Trouble, bool),
    open: fn(Slow<&[u8]>) -> Opened,
}

macro_rules! open {
    ($reader:expr, $trouble:expr) => {{
        let mut reader = $reader;
        let (message, result) = read(&mut reader, $trouble);
        assert_eq!(reader.is_finished(), result.is_ok());
        let left = reader.finish().map(|(_, rest)| rest.inner.len());
        assert_eq!(left.is_ok(), result.is_ok());
        (
            message,
            result.map_err(|error| error.kind()).map(|()| left.unwrap()),
        )
    }};
}

const AESTREAM: Scheme = Scheme {
    sealed: |message, flush| {
        let mut writer = aestream::SealWriter::from_protocol(keyed(), Vec::new());
        for piece in message.chunks(33) {
            io::Write::write_all(&mut writer, piece).unwrap();
            if flush {
                io::Write::flush(&mut writer).unwrap();
            }
        }
        writer.finish().unwrap()
    },
    seal: |inner, message, trouble, flush| {
        seal(
            &mut aestream::SealWriter::from_protocol(keyed(), inner),
            message,
            trouble,
            flush,
        );
    },
    open: |inner| {
        let trouble = inner.trouble;
        open!(aestream::OpenReader::from_protocol(keyed(), inner), trouble)
    },
};

const OAE2: Scheme = Scheme {
    sealed: |message, _| oae2::Sealer::<16>::from_protocol(keyed()).seal_vec(message),
    seal: |inner, message, trouble, flush| {
        seal(
            &mut oae2::SealWriter::<_, 16>::from_protocol(keyed(), inner),
            message,
            trouble,
            flush,
        );
    },
    open: |inner| {
        let trouble = inner.trouble;
        open!(oae2::OpenReader::<_, 16>::from_protocol(keyed(), inner), trouble)
    },
};

fn message() -> seekable::Message {
    let seekable = seekable::Seekable::<24>::new(label!("tokio"), &Key::from([7; 32]));
    let seekable = seekable.with_segment_len(64).unwrap();
    seekable.message(&[1; 24], b"")
}

const SEEKABLE: Scheme = Scheme {
    sealed: |plaintext, _| message().seal_vec(plaintext),
    seal: |inner, plaintext, trouble, flush| {
        seal(
            &mut seekable::SealWriter::new(&message(), inner),
            plaintext,
            trouble,
            flush,
        );
    },
    open: |inner| {
        let trouble = inner.trouble;
        let mut reader = seekable::OpenReader::new(&message(), inner);
        let (plaintext, result) = read(&mut reader, trouble);
        assert_eq!(reader.is_finished(), result.is_ok());
        let left = reader.finish().map(|rest| rest.inner.len());
        assert_eq!(left.is_ok(), result.is_ok());
        (
            plaintext,
            result.map_err(|error| error.kind()).map(|()| left.unwrap()),
        )
    },
};

/// An inner reader that can seek, with the trouble of `Slow` in reads and seeks.
struct Anywhere<'a> {
    all: &'a [u8],
    slow: Slow<&'a [u8]>,
    /// Produces the trouble in seeks.
    seeks: Slow<()>,
    trouble: &'a Cell<Trouble>,
    going: Option<usize>,
}

impl<'a> Anywhere<'a> {
    fn new(all: &'a [u8], step: usize, trouble: &'a Cell<Trouble>) -> Self {
        Self {
            all,
            slow: Slow::new(all, step, Never),
            seeks: Slow::new((), 0, Never),
            trouble,
            going: None,
        }
    }
}

impl AsyncRead for Anywhere<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        output: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        assert!(self.going.is_none(), "a read before the seek is complete");
        assert!(output.remaining() > 0, "a read of nothing");
        self.slow.trouble = self.trouble.get();
        Pin::new(&mut self.slow).poll_read(cx, output)
    }
}

impl AsyncSeek for Anywhere<'_> {
    fn start_seek(mut self: Pin<&mut Self>, to: io::SeekFrom) -> io::Result<()> {
        assert!(self.going.is_none(), "a seek before the last one is complete");
        let position = self.all.len() - self.slow.inner.len();
        let place = match to {
            io::SeekFrom::Start(place) => usize::try_from(place).unwrap(),
            io::SeekFrom::Current(0) => position,
            io::SeekFrom::End(0) => self.all.len(),
            _ => panic!("the reader needs no other seek"),
        };
        self.going = Some(place);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let Self {
            all,
            slow,
            seeks,
            trouble,
            going,
        } = &mut *self;
        seeks.trouble = match trouble.get() {
            Panicked => Never, // only reads do
            trouble => trouble,
        };
        let Some(place) = *going else {
            // As it may be without a seek.
            return Poll::Ready(Err(ErrorKind::Other.into()));
        };
        let result = std::task::ready!(seeks.poll(cx, |_| slow.inner = &all[place.min(all.len())..]));
        *going = None; // also after an error
        result?;
        Poll::Ready(Ok((all.len() - slow.inner.len()) as u64))
    }
}

/// The same without any trouble.
impl io::Read for Anywhere<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut self.slow.inner, output)
    }
}

impl io::Seek for Anywhere<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.going = None;
        Pin::new(&mut *self).start_seek(to)?;
        let place = self.going.take().unwrap_or_default().min(self.all.len());
        self.slow.inner = &self.all[place..];
        Ok(place as u64)
    }
}

/// A synchronous read takes the buffer from an asynchronous one that is pending.
#[test]
fn synchronous_reads_between_asynchronous_ones() {
    let plaintext: Vec<u8> = (0..=250).cycle().take(10 * 64).collect();
    let mut changed = message().seal_vec(&plaintext);
    changed[5 * 80..6 * 80].fill(b'!');
    let trouble = Cell::new(Pending);
    let mut cx = Context::from_waker(Waker::noop());
    for polls in 1..=5 {
        let mut reader =
            seekable::SeekReader::new(&message(), Anywhere::new(&changed, 20, &trouble)).unwrap();
        let mut poll_damaged = |reader: &mut seekable::SeekReader<_>| {
            io::Seek::seek(reader, io::SeekFrom::Start(5 * 64)).unwrap();
            Pin::new(reader).poll_read(&mut cx, &mut ReadBuf::new(&mut [0; 64]))
        };
        let is_first = |reader: &mut seekable::SeekReader<_>, len: usize| {
            io::Seek::rewind(reader).unwrap();
            let mut output = [0; 64];
            io::Read::read_exact(reader, &mut output[..len]).unwrap();
            assert_eq!(output[..len], plaintext[..len], "after {polls} polls");
        };
        for _ in 0..polls {
            assert!(poll_damaged(&mut reader).is_pending());
        }
        is_first(&mut reader, 1);
        let error = loop {
            if let Poll::Ready(result) = poll_damaged(&mut reader) {
                break result.unwrap_err();
            }
        };
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        is_first(&mut reader, 64);
    }
}

#[test]
fn random_access_is_that_of_std() {
    let plaintext: Vec<u8> = (0..=250).cycle().take(20_000).collect();
    let sealed = message().seal_vec(&plaintext);
    let after_header = [b"header", &sealed[..]].concat();
    for (step, trouble) in [
        (1000, Never),
        (1, Never),
        (7, Pending),
        (1000, Pending),
        (1000, Cancelled),
        (30, Cancelled),
        (100_000, Failed),
        (7, Interrupted),
        (100_000, Panicked),
    ] {
        let later = Cell::new(Never);
        let mut reader = run(Never, async || {
            let mut inner = Anywhere::new(&after_header, step, &later);
            inner.slow.inner = &inner.all[6..];
            seekable::SeekReader::new_async(&message(), inner).await
        })
        .unwrap();
        later.set(trouble);
        let mut place = 1_u64;
        for _ in 0..50 {
            place = place * 7_919 % 21_000;
            // A read that was started elsewhere and then cancelled.
            let mut cx = Context::from_waker(Waker::noop());
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _ = pin!(reader.read(&mut [0; 5])).as_mut().poll(&mut cx);
            }));
            let at = run(trouble, async || reader.seek(io::SeekFrom::Start(place)).await).unwrap();
            assert_eq!(at, place);
            let mut output = [0; 40];
            let n = run(trouble, async || reader.read(&mut output).await).unwrap();
            let expected = plaintext
                .get(usize::try_from(place).unwrap()..)
                .unwrap_or_default();
            assert_eq!(n == 0, expected.is_empty());
            assert_eq!(output[..n], expected[..n]);
        }
        // Sequentially to the end, many segments at a time.
        let mut all = Vec::new();
        run(trouble, async || reader.seek(io::SeekFrom::End(-15_000)).await).unwrap();
        let mut output = [0; 999];
        loop {
            match run(trouble, async || reader.read(&mut output).await).unwrap() {
                0 => break,
                n => all.extend_from_slice(&output[..n]),
            }
        }
        assert_eq!(all, plaintext[5000..]);
    }
    // A truncated message is an error at once. Other damage is an error where it occurs.
    let never = Cell::new(Never);
    for length in 0..200 {
        let error = run(Never, async || {
            seekable::SeekReader::new_async(&message(), Anywhere::new(&sealed[..length], 1000, &never)).await
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidData);
    }
    let mut changed = sealed.clone();
    changed[100 * 80 + 5] ^= 1;
    let mut reader = run(Never, async || {
        seekable::SeekReader::new_async(&message(), Anywhere::new(&changed, 1000, &never)).await
    })
    .unwrap();
    for segment in 0..300 {
        run(Never, async || {
            reader.seek(io::SeekFrom::Start(segment * 64)).await
        })
        .unwrap();
        let mut output = [0xa5; 64];
        let result = run(Never, async || reader.read_exact(&mut output).await);
        assert_eq!(result.is_ok(), segment != 100);
        if segment == 100 {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidData);
            assert!(output.iter().all(|byte| *byte == 0xa5 || *byte == 0));
        }
    }
}

/// An inner reader that ends before its end gives an error, and can be read again when it is back.
#[test]
fn an_inner_reader_that_becomes_shorter() {
    let plaintext: Vec<u8> = (0..200).collect();
    let sealed = message().seal_vec(&plaintext);
    let trouble = Cell::new(Ended);
    let open =
        async || seekable::SeekReader::new_async(&message(), Anywhere::new(&sealed, 1000, &trouble)).await;
    assert_eq!(run(Ended, open).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    trouble.set(Never);
    let mut reader = run(Never, open).unwrap();
    for (now, expected) in [
        (Ended, Err(ErrorKind::UnexpectedEof)),
        (Never, Ok(())),
        (Ended, Err(ErrorKind::UnexpectedEof)),
    ] {
        trouble.set(now);
        let mut output = [0; 64];
        let result = run(now, async || reader.read_exact(&mut output).await);
        assert_eq!(result.map(|_| ()).map_err(|error| error.kind()), expected);
    }
}

#[test]
fn bytes_are_those_of_std() {
    for scheme in [AESTREAM, OAE2, SEEKABLE] {
        for n in [0, 1, 16, 31, 32, 33, 66, 500] {
            let message: Vec<u8> = (0..=250).cycle().take(n).collect();
            for (step, trouble, flush) in [
                (1, Never, false),
                (1000, Never, true),
                (1, Pending, false),
                (1, Cancelled, true),
                (1, Failed, true),
                (1, Interrupted, true),
                (7, Cancelled, false),
                (7, Failed, false),
                (1000, Pending, true),
            ] {
                let mut inner = Slow::new(Vec::new(), step, trouble);
                (scheme.seal)(&mut inner, &message, trouble, flush);
                assert!(inner.shut_down);
                assert_eq!(inner.inner, (scheme.sealed)(&message, flush));
                let opened = (scheme.open)(Slow::new(&inner.inner, step, trouble));
                assert_eq!(opened, (message.clone(), Ok(0)));
            }
        }
    }
}

#[test]
fn what_follows_an_aestream_stays_in_the_inner_reader() {
    let input = [&(AESTREAM.sealed)(b"message", false)[..], b"more"].concat();
    for trouble in [Pending, Cancelled, Failed] {
        let opened = (AESTREAM.open)(Slow::new(&input, 1000, trouble));
        assert_eq!(opened, (b"message".to_vec(), Ok(4)));
    }
}

/// A stream cut at any byte gives an error, and what was released before is a prefix of what was sealed.
#[test]
fn every_cut_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    for (scheme, block_len) in [(AESTREAM, None), (OAE2, Some(32))] {
        let sealed = (scheme.sealed)(&message, true);
        for trouble in [Pending, Cancelled, Failed] {
            for length in 0..sealed.len() {
                let (opened, end) = (scheme.open)(Slow::new(&sealed[..length], 5, trouble));
                // If OAE2 is cut between blocks, the reader takes the last complete block for the final one.
                let kind = match block_len {
                    Some(n) if length > 0 && length % n == 0 => ErrorKind::InvalidData,
                    _ => ErrorKind::UnexpectedEof,
                };
                assert_eq!(end, Err(kind));
                assert!(message.starts_with(&opened));
            }
        }
    }
}

/// A changed byte anywhere gives an error too.
#[test]
fn every_change_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    // A changed aestream header may claim more bytes than there are.
    for (scheme, has_headers) in [(AESTREAM, true), (OAE2, false)] {
        let sealed = (scheme.sealed)(&message, true);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            let (opened, end) = (scheme.open)(Slow::new(&changed, 50, Pending));
            let kind = end.unwrap_err();
            assert!(kind == ErrorKind::InvalidData || has_headers && kind == ErrorKind::UnexpectedEof);
            assert!(message.starts_with(&opened));
        }
    }
}

/// Whatever a forged header claims, the reader reads at most one block before it verifies it.
#[test]
fn a_forged_header_reads_one_block_at_most() {
    let mut forged = vec![0xff; 1 << 20];
    for header in 0..20 {
        forged[0] = header;
        let mut inner = Slow::new(&forged[..], 1000, Pending);
        let (opened, result) = read(
            &mut aestream::OpenReader::from_protocol(keyed(), &mut inner),
            Pending,
        );
        assert!(opened.is_empty());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidData);
        let read = forged.len() - inner.inner.len();
        assert!(read <= aestream::MAX_BLOCK_LEN + aestream::OVERHEAD, "{read}");
    }
}

/// The same for segments. When the cut falls between segments, the last whole one is refused.
#[test]
fn every_cut_and_change_of_segments_is_an_error() {
    let plaintext: Vec<u8> = (0..=250).take(200).collect();
    let sealed = (SEEKABLE.sealed)(&plaintext, false);
    for trouble in [Pending, Cancelled, Failed] {
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            for input in [&sealed[..place], &changed] {
                let (opened, end) = (SEEKABLE.open)(Slow::new(input, 50, trouble));
                assert_eq!(end, Err(ErrorKind::InvalidData));
                assert!(plaintext.starts_with(&opened));
            }
        }
    }
}
