//! The asynchronous readers and writers: the bytes of the others, whatever the inner ones do.

use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use veriplex::{Protocol, aestream, label, oae2};

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("tokio"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

/// What the inner reader or writer does in every other call, and what is done about it.
#[derive(Clone, Copy)]
enum Trouble {
    /// Nothing else.
    Never,
    /// It is pending, and polled again.
    Pending,
    /// It is pending, and the call is cancelled and made anew.
    Cancelled,
    /// It fails, and the call is made anew.
    Failed,
}

use Trouble::{Cancelled, Failed, Never, Pending};

/// In the calls without trouble, takes or gives `step` bytes.
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
            Never => Poll::Ready(Ok(work(self))),
            _ if !self.in_trouble => Poll::Ready(Ok(work(self))),
            Failed => Poll::Ready(Err(ErrorKind::TimedOut.into())),
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

/// Runs a future whose wakers do nothing, as often as there is trouble.
fn run<T>(trouble: Trouble, mut make: impl AsyncFnMut() -> io::Result<T>) -> io::Result<T> {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let mut future = pin!(make());
        loop {
            match (future.as_mut().poll(&mut cx), trouble) {
                (Poll::Ready(Err(error)), Failed) if error.kind() == ErrorKind::TimedOut => break,
                (Poll::Ready(result), _) => return result,
                (Poll::Pending, Cancelled) => break,
                (Poll::Pending, _) => {}
            }
        }
    }
}

/// Writes in pieces through a slow writer. Every call is one that may be repeated: `write`, `flush`, `shutdown`.
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

/// Reads to the end, or to the first error.
fn read(reader: &mut (impl AsyncRead + Unpin), trouble: Trouble) -> (Vec<u8>, io::Result<()>) {
    let mut message = Vec::new();
    let mut buffer = [0; 50];
    loop {
        match run(trouble, async || reader.read(&mut buffer).await) {
            Ok(0) => return (message, Ok(())),
            Ok(n) => message.extend_from_slice(&buffer[..n]),
            Err(error) => {
                let again = run(trouble, async || reader.read(&mut buffer).await);
                assert!(again.is_err(), "and nothing more after an error");
                return (message, Err(error));
            }
        }
    }
}

/// What a reader gave out, and how many bytes it left at the verified end, or else its error.
type Opened = (Vec<u8>, Result<usize, ErrorKind>);

/// A scheme: what `std::io` makes of a message, and the asynchronous writer and reader.
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
        let mut writer = aestream::SealWriter::new(keyed(), Vec::new());
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
            &mut aestream::SealWriter::new(keyed(), inner),
            message,
            trouble,
            flush,
        );
    },
    open: |inner| {
        let trouble = inner.trouble;
        open!(aestream::OpenReader::new(keyed(), inner), trouble)
    },
};

const OAE2: Scheme = Scheme {
    sealed: |message, _| oae2::seal_vec::<16>(keyed(), message),
    seal: |inner, message, trouble, flush| {
        seal(
            &mut oae2::SealWriter::<_, 16>::new(keyed(), inner),
            message,
            trouble,
            flush,
        );
    },
    open: |inner| {
        let trouble = inner.trouble;
        open!(oae2::OpenReader::<_, 16>::new(keyed(), inner), trouble)
    },
};

#[test]
fn bytes_are_those_of_std() {
    for scheme in [AESTREAM, OAE2] {
        for n in [0, 1, 16, 31, 32, 33, 66, 500] {
            let message: Vec<u8> = (0..=250).cycle().take(n).collect();
            for (step, trouble, flush) in [
                (1, Never, false),
                (1000, Never, true),
                (1, Pending, false),
                (1, Cancelled, true),
                (1, Failed, true),
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

/// A stream cut at any byte is an error, and what came before it is what was sealed.
#[test]
fn every_cut_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    for (scheme, block_len) in [(AESTREAM, None), (OAE2, Some(32))] {
        let sealed = (scheme.sealed)(&message, true);
        for trouble in [Pending, Cancelled, Failed] {
            for length in 0..sealed.len() {
                let (opened, end) = (scheme.open)(Slow::new(&sealed[..length], 5, trouble));
                // Between two blocks of OAE2 the first of them is taken for the last.
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

/// A changed byte anywhere is an error too.
#[test]
fn every_change_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    // A changed header of aestream may claim more than there is.
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

/// Whatever a forged header claims, no more than one block is read ahead of its verification.
#[test]
fn a_forged_header_reads_one_block_at_most() {
    let mut forged = vec![0xff; 1 << 20];
    for header in 0..20 {
        forged[0] = header;
        let mut inner = Slow::new(&forged[..], 1000, Pending);
        let (opened, result) = read(&mut aestream::OpenReader::new(keyed(), &mut inner), Pending);
        assert!(opened.is_empty());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidData);
        let read = forged.len() - inner.inner.len();
        assert!(read <= aestream::MAX_BLOCK_LEN + aestream::OVERHEAD, "{read}");
    }
}
