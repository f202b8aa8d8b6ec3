//! Standard output whose reader sees the end before the process ends.

use std::fs::OpenOptions;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

pub struct Stdout(tokio::io::Stdout);

impl Stdout {
    pub fn new() -> Self {
        Self(tokio::io::stdout())
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    /// Closes it. Call it after a flush. `/dev/null` takes its place, so that no other file does.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        Poll::Ready(rustix::stdio::dup2_stdout(null).map_err(io::Error::from))
    }
}
