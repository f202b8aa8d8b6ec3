//! What goes through a tunnel: the bytes of a connection, whose directions end separately.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{MissedTickBehavior, interval};

use crate::Stream;

/// How much is read from a connection at a time: what a tunnel takes at once.
const PIECE_LEN: usize = 1 << 16;

/// How often a connection is checked after one direction has ended.
const CHECK: Duration = Duration::from_secs(10);

/// Something whose other end may disappear without a read or write noticing.
pub trait Checked {
    /// Fails with an error that none has reported yet.
    ///
    /// # Errors
    ///
    /// That one.
    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes into the tunnel and out of it.
#[derive(Debug, Default)]
pub struct Bytes {
    /// Into it.
    pub sent: AtomicU64,
    /// Out of it.
    pub received: AtomicU64,
}

/// Why relaying stopped: which side failed.
#[derive(Debug)]
pub enum Failure {
    /// The connection.
    Connection(io::Error),
    /// The tunnel.
    Tunnel(io::Error),
}

/// Relays until both directions have ended. Only a verified end of the tunnel shuts the connection down, and only an end of
/// the connection the tunnel. If one fails, the caller drops both. A side is read until its end: after that, its errors are
/// looked for.
///
/// # Errors
///
/// The first of either side.
pub async fn relay<P, S>(plain: &mut P, tunnel: &mut Stream<S>, bytes: &Bytes) -> Result<(), Failure>
where
    P: AsyncRead + AsyncWrite + Checked + Unpin,
    S: AsyncRead + AsyncWrite + Checked + Unpin,
{
    let mut checks = interval(CHECK);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut seal, mut open) = (Seal::default(), Open::default());
    std::future::poll_fn(|cx| {
        let sealed = seal.poll(plain, tunnel, bytes, cx)?;
        let opened = open.poll(plain, tunnel, bytes, cx)?;
        match (sealed, opened) {
            (Poll::Ready(()), Poll::Ready(())) => Poll::Ready(Ok(())),
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => {
                while checks.poll_tick(cx).is_ready() {
                    plain.check().map_err(Failure::Connection)?;
                    tunnel.get_ref().check().map_err(Failure::Tunnel)?;
                }
                Poll::Pending
            }
        }
    })
    .await
}

/// From the connection into the tunnel.
#[derive(Default)]
struct Seal {
    /// Only while there are data; an idle connection has no buffer.
    piece: Vec<u8>,
    /// How much of it is filled, and how much of that was written.
    filled: usize,
    written: usize,
    has_ended: bool,
    is_done: bool,
}

impl Seal {
    fn poll<P, S>(
        &mut self,
        plain: &mut P,
        tunnel: &mut Stream<S>,
        bytes: &Bytes,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Failure>>
    where
        P: AsyncRead + Unpin,
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if self.is_done {
            return Poll::Ready(Ok(()));
        }
        loop {
            while self.written < self.filled {
                let rest = &self.piece[self.written..self.filled];
                let n = ready!(Pin::new(&mut *tunnel).poll_write(cx, rest)).map_err(Failure::Tunnel)?;
                self.written += n;
                bytes.sent.fetch_add(n as u64, Ordering::Relaxed);
            }
            if self.has_ended {
                ready!(Pin::new(&mut *tunnel).poll_shutdown(cx)).map_err(Failure::Tunnel)?;
                self.is_done = true;
                return Poll::Ready(Ok(()));
            }
            if self.piece.is_empty() {
                self.piece = vec![0; PIECE_LEN];
            }
            let mut room = ReadBuf::new(&mut self.piece);
            match Pin::new(&mut *plain).poll_read(cx, &mut room) {
                Poll::Ready(result) => result.map_err(Failure::Connection)?,
                Poll::Pending => {
                    self.release();
                    ready!(Pin::new(&mut *tunnel).poll_flush(cx)).map_err(Failure::Tunnel)?;
                    return Poll::Pending;
                }
            }
            (self.written, self.filled) = (0, room.filled().len());
            if self.filled == 0 {
                self.has_ended = true;
                self.release();
            }
        }
    }

    fn release(&mut self) {
        self.wipe();
        self.piece = Vec::new();
        (self.filled, self.written) = (0, 0);
    }

    /// All of it, since an earlier read may have filled more than the last one.
    fn wipe(&mut self) {
        self.piece.fill(0);
        zeroize::optimization_barrier(&self.piece);
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// From the tunnel into the connection.
#[derive(Default)]
struct Open {
    is_flushed: bool,
    is_done: bool,
}

impl Open {
    fn poll<P, S>(
        &mut self,
        plain: &mut P,
        tunnel: &mut Stream<S>,
        bytes: &Bytes,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Failure>>
    where
        P: AsyncWrite + Unpin,
        S: AsyncRead + AsyncWrite + Unpin,
    {
        while !self.is_done {
            let data = match Pin::new(&mut *tunnel).poll_fill_buf(cx) {
                Poll::Ready(data) => data.map_err(Failure::Tunnel)?,
                Poll::Pending => {
                    // Standard output, for example, buffers data.
                    if !self.is_flushed {
                        ready!(Pin::new(&mut *plain).poll_flush(cx)).map_err(Failure::Connection)?;
                        self.is_flushed = true;
                    }
                    return Poll::Pending;
                }
            };
            if data.is_empty() {
                // Shutting down standard output does not flush, and would lose the last data.
                ready!(Pin::new(&mut *plain).poll_flush(cx)).map_err(Failure::Connection)?;
                ready!(Pin::new(&mut *plain).poll_shutdown(cx)).map_err(Failure::Connection)?;
                self.is_done = true;
            } else {
                let n = ready!(Pin::new(&mut *plain).poll_write(cx, data)).map_err(Failure::Connection)?;
                if n == 0 {
                    return Poll::Ready(Err(Failure::Connection(io::ErrorKind::WriteZero.into())));
                }
                self.is_flushed = false;
                Pin::new(&mut *tunnel).consume(n);
                bytes.received.fetch_add(n as u64, Ordering::Relaxed);
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;
    use veriplex::hybrid::PrivateKey;
    use veriplex::{label, os_rng};

    use super::*;
    use crate::{Config, accept, connect};

    /// Has nothing to read, and passes nothing on before a flush, as standard output.
    #[derive(Default)]
    struct Lazy {
        held: Vec<u8>,
        passed_on: Vec<u8>,
        is_reset: bool,
    }

    impl Checked for Lazy {
        fn check(&self) -> io::Result<()> {
            if self.is_reset {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Ok(())
        }
    }

    impl Checked for DuplexStream {}

    impl AsyncRead for Lazy {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Lazy {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
            self.held.extend_from_slice(data);
            Poll::Ready(Ok(data.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            let held = std::mem::take(&mut self.held);
            self.passed_on.extend(held);
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    async fn tunnel() -> [Stream<DuplexStream>; 2] {
        let [own, peer] = [(); 2].map(|()| PrivateKey::generate(&mut os_rng()).unwrap());
        let config = Config::new(label!("test"));
        let (a, b) = duplex(1 << 20);
        let (a, b) = tokio::join!(
            connect(a, &config, &own, peer.public_key()),
            accept(b, &config, &peer, |_| true),
        );
        [a.unwrap(), b.unwrap()]
    }

    /// Its end was read, and the peer sends nothing.
    #[tokio::test]
    async fn a_reset_after_the_end_is_noticed() {
        let [_silent, mut b] = tunnel().await;
        let mut plain = Lazy {
            is_reset: true,
            ..Lazy::default()
        };
        let bytes = Bytes::default();
        let relayed = timeout(CHECK, relay(&mut plain, &mut b, &bytes));
        let result = relayed.await.expect("it is noticed");
        assert!(matches!(result, Err(Failure::Connection(_))), "{result:?}");
    }

    #[tokio::test]
    async fn what_comes_last_is_not_lost() {
        let [mut a, mut b] = tunnel().await;
        a.write_all(b"the last words").await.unwrap();
        a.shutdown().await.unwrap();
        let mut plain = Lazy::default();
        relay(&mut plain, &mut b, &Bytes::default()).await.unwrap();
        assert_eq!(plain.passed_on, b"the last words");
    }
}
