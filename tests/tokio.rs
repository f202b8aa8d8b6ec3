//! The asynchronous readers and writers: the bytes of the others, whatever the inner ones do.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use veriplex::{Protocol, aestream, label, oae2};

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("tokio"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

/// Every other call is pending; the others take or give `step` bytes.
struct Slow<T> {
    inner: T,
    step: usize,
    pending: bool,
    shut_down: bool,
}

impl<T> Slow<T> {
    fn new(inner: T, step: usize) -> Self {
        Self {
            inner,
            step,
            pending: false,
            shut_down: false,
        }
    }

    fn is_pending(&mut self, cx: &mut Context<'_>) -> bool {
        self.pending = !self.pending;
        cx.waker().wake_by_ref();
        self.pending
    }
}

impl AsyncRead for Slow<&[u8]> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        output: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_pending(cx) {
            return Poll::Pending;
        }
        let n = self.step.min(self.inner.len()).min(output.remaining());
        let (now, later) = self.inner.split_at(n);
        output.put_slice(now);
        self.inner = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Slow<Vec<u8>> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, input: &[u8]) -> Poll<io::Result<usize>> {
        assert!(!self.shut_down);
        if self.is_pending(cx) {
            return Poll::Pending;
        }
        let n = self.step.min(input.len());
        self.inner.extend_from_slice(&input[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_pending(cx) {
            Poll::Pending
        } else {
            Poll::Ready(Ok(()))
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_pending(cx) {
            return Poll::Pending;
        }
        self.shut_down = true;
        Poll::Ready(Ok(()))
    }
}

/// Runs a future whose wakers do nothing; with `cancel` it is dropped at each `Pending` and made anew.
fn run<T>(cancel: bool, mut make: impl AsyncFnMut() -> T) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let mut future = pin!(make());
        loop {
            match future.as_mut().poll(&mut cx) {
                Poll::Ready(result) => return result,
                Poll::Pending if cancel => break,
                Poll::Pending => {}
            }
        }
    }
}

/// Writes in pieces through a slow writer. Every call is one that may be cancelled: `write`, `flush`, `shutdown`.
fn seal<W>(writer: &mut W, message: &[u8], cancel: bool, flush: bool)
where
    W: AsyncWrite + Unpin,
{
    for mut piece in message.chunks(33) {
        while !piece.is_empty() {
            let n = run(cancel, async || writer.write(piece).await).unwrap();
            piece = &piece[n..];
        }
        if flush {
            run(cancel, async || writer.flush().await).unwrap();
        }
    }
    run(cancel, async || writer.shutdown().await).unwrap();
    assert!(run(cancel, async || writer.write(b"late").await).is_err());
    run(cancel, async || writer.shutdown().await).unwrap();
}

/// Reads to the end, or to the first error.
fn open(reader: &mut (impl AsyncRead + Unpin), cancel: bool) -> (Vec<u8>, io::Result<()>) {
    let mut message = Vec::new();
    let mut buffer = [0; 50];
    loop {
        match run(cancel, async || reader.read(&mut buffer).await) {
            Ok(0) => return (message, Ok(())),
            Ok(n) => message.extend_from_slice(&buffer[..n]),
            Err(error) => {
                let again = run(cancel, async || reader.read(&mut buffer).await);
                assert!(again.is_err(), "and nothing more after an error");
                return (message, Err(error));
            }
        }
    }
}

/// The same stream with `std::io`.
fn aestream_sealed(message: &[u8], flush: bool) -> Vec<u8> {
    let mut writer = aestream::SealWriter::new(keyed(), Vec::new());
    for piece in message.chunks(33) {
        io::Write::write_all(&mut writer, piece).unwrap();
        if flush {
            io::Write::flush(&mut writer).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn messages() -> impl Iterator<Item = Vec<u8>> {
    [0, 1, 16, 31, 32, 33, 66, 500]
        .into_iter()
        .map(|n| (0..=250).cycle().take(n).collect())
}

#[test]
fn aestream_is_that_of_std() {
    for message in messages() {
        for (step, cancel, flush) in [
            (1, false, false),
            (1, true, true),
            (7, true, false),
            (1000, false, true),
        ] {
            let mut inner = Slow::new(Vec::new(), step);
            seal(
                &mut aestream::SealWriter::new(keyed(), &mut inner),
                &message,
                cancel,
                flush,
            );
            assert!(inner.shut_down);
            let sealed = inner.inner;
            assert_eq!(sealed, aestream_sealed(&message, flush));
            // What follows the stream stays in the inner reader.
            let input = [&sealed[..], b"more"].concat();
            let mut reader = aestream::OpenReader::new(keyed(), Slow::new(&input[..], step));
            let (opened, result) = open(&mut reader, cancel);
            assert!(result.is_ok() && reader.is_finished());
            assert_eq!(opened, message);
            assert_eq!(reader.finish().unwrap().1.inner, b"more");
        }
    }
}

#[test]
fn oae2_is_that_of_std() {
    for message in messages() {
        for (step, cancel, flush) in [
            (1, false, false),
            (1, true, true),
            (7, true, false),
            (1000, false, true),
        ] {
            let mut inner = Slow::new(Vec::new(), step);
            seal(
                &mut oae2::SealWriter::<_, 16>::new(keyed(), &mut inner),
                &message,
                cancel,
                flush,
            );
            assert!(inner.shut_down);
            let sealed = inner.inner;
            assert_eq!(sealed, oae2::seal_vec::<16>(keyed(), &message));
            let mut reader = oae2::OpenReader::<_, 16>::new(keyed(), Slow::new(&sealed[..], step));
            let (opened, result) = open(&mut reader, cancel);
            assert!(result.is_ok() && reader.is_finished());
            assert_eq!(opened, message);
        }
    }
}

/// A stream cut at any byte is an error, and what came before it is what was sealed.
#[test]
fn every_cut_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    let (a, o) = (
        aestream_sealed(&message, true),
        oae2::seal_vec::<16>(keyed(), &message),
    );
    for cancel in [false, true] {
        for length in 0..a.len() {
            let mut reader = aestream::OpenReader::new(keyed(), Slow::new(&a[..length], 5));
            let (opened, result) = open(&mut reader, cancel);
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(message.starts_with(&opened) && !reader.is_finished() && reader.finish().is_err());
        }
        for length in 0..o.len() {
            let mut reader = oae2::OpenReader::<_, 16>::new(keyed(), Slow::new(&o[..length], 5));
            let (opened, result) = open(&mut reader, cancel);
            let between_blocks = length > 0 && length % 32 == 0;
            let kind = if between_blocks {
                io::ErrorKind::InvalidData
            } else {
                io::ErrorKind::UnexpectedEof
            };
            assert_eq!(result.unwrap_err().kind(), kind);
            assert!(message.starts_with(&opened) && !reader.is_finished() && reader.finish().is_err());
        }
    }
}

/// A changed byte anywhere is an error too.
#[test]
fn every_change_is_an_error() {
    let message: Vec<u8> = (0..100).collect();
    let (a, o) = (
        aestream_sealed(&message, true),
        oae2::seal_vec::<16>(keyed(), &message),
    );
    for at in 0..a.len() {
        let mut changed = a.clone();
        changed[at] ^= 1;
        let (opened, result) = open(
            &mut aestream::OpenReader::new(keyed(), Slow::new(&changed[..], 50)),
            false,
        );
        assert!(result.is_err() && message.starts_with(&opened));
    }
    for at in 0..o.len() {
        let mut changed = o.clone();
        changed[at] ^= 1;
        let mut reader = oae2::OpenReader::<_, 16>::new(keyed(), Slow::new(&changed[..], 50));
        let (opened, result) = open(&mut reader, false);
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(message.starts_with(&opened));
    }
}

/// Whatever a forged header claims, no more than one block is read ahead of its verification.
#[test]
fn a_forged_header_reads_one_block_at_most() {
    let mut forged = vec![0xff; 1 << 20];
    for header in 0..20 {
        forged[0] = header;
        let mut inner = Slow::new(&forged[..], 1000);
        let (opened, result) = open(&mut aestream::OpenReader::new(keyed(), &mut inner), false);
        assert!(opened.is_empty());
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidData);
        let read = forged.len() - inner.inner.len();
        assert!(read <= aestream::MAX_BLOCK_LEN + aestream::OVERHEAD, "{read}");
    }
}
