//! Standard output whose reader sees the end before the process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{FileType, fstat};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use socket2::SockRef;
use tokio::io::AsyncWrite;

pub struct Stdout {
    inner: tokio::io::Stdout,
    /// Takes its place.
    null: File,
}

impl Stdout {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            inner: tokio::io::stdout(),
            null: OpenOptions::new().write(true).open("/dev/null")?,
        })
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    /// Closes it. Call it after a flush. `/dev/null` takes its place, so that no other file does. Its reader sees the end
    /// although standard input is the same socket, or standard error the same socket or pipe: what is said later is lost.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // What is no socket needs only to be closed.
        let _ = SockRef::from(&io::stdout()).shutdown(Shutdown::Write);
        let [stdout, stderr] = [fstat(io::stdout())?, fstat(io::stderr())?];
        let is_same = (stdout.st_dev, stdout.st_ino) == (stderr.st_dev, stderr.st_ino);
        if is_same && FileType::from_raw_mode(stdout.st_mode) == FileType::Fifo {
            dup2_stderr(&self.null)?;
        }
        Poll::Ready(dup2_stdout(&self.null).map_err(io::Error::from))
    }
}
