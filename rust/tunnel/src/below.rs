//! The stream below.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Repeats interrupted calls: tokio's traits do not know that error, and here errors are final.
#[derive(Debug)]
pub(crate) struct Below<S>(pub(crate) S);

fn again<T>(polled: Poll<io::Result<T>>, cx: &Context<'_>) -> Poll<io::Result<T>> {
    match polled {
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        polled => polled,
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Below<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        again(Pin::new(&mut self.0).poll_read(cx, buf), cx)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Below<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        again(Pin::new(&mut self.0).poll_write(cx, buf), cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        again(Pin::new(&mut self.0).poll_flush(cx), cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        again(Pin::new(&mut self.0).poll_shutdown(cx), cx)
    }
}
