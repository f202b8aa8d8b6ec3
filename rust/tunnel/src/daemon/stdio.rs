//! Standard input and output as one connection: an end of one is no cut, and its reader sees the end of the other before the
//! process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, Stat, fstat};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use veriplex_files::error::Error;
use veriplex_files::files::{self, as_socket, check_end};

use super::relay::Checked;
use super::socket::cut_is_reset;

/// Standard input and output.
#[derive(Debug)]
pub struct Stdio {
    stdin: tokio::io::Stdin,
    stdout: tokio::io::Stdout,
    /// Replaces standard output.
    null: File,
    /// Whether standard input is a socket that this process has shut for sending.
    has_shut_stdin: bool,
}

impl Stdio {
    /// From here on, closing a TCP socket is a reset, until its end is sent.
    ///
    /// # Errors
    ///
    /// If one of them is closed, or data through it could be lost.
    pub fn new() -> Result<Self, Error> {
        if let Some(socket) = as_socket(&io::stdout()) {
            cut_is_reset(&socket).map_err(|error| Error::io("standard output", error))?;
        }
        files::stdin()?;
        files::stdout()?;
        let null = OpenOptions::new().write(true).open("/dev/null");
        Ok(Self {
            stdin: tokio::io::stdin(),
            stdout: tokio::io::stdout(),
            null: null.map_err(|error| Error::io("/dev/null", error))?,
            has_shut_stdin: false,
        })
    }
}

/// The next read or write reports it.
impl Checked for Stdio {}

impl AsyncRead for Stdio {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stdin).poll_read(cx, buf))?;
        // Where this process has shut that socket for sending, an end looks like a reset that another process was told of.
        if buf.filled().len() == before && !self.has_shut_stdin {
            check_end(io::stdin())?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stdio {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stdout).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stdout).poll_flush(cx)
    }

    /// Closes it. Call it after a flush. `/dev/null` replaces it, so that no other file does. Its reader sees the end
    /// even if standard input is the same socket, or standard error the same socket or pipe; later messages are lost.
    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Anything but a socket only needs to be closed.
        if let Some(socket) = as_socket(&io::stdout()) {
            socket.set_linger(None)?;
            let _ = socket.shutdown(Shutdown::Write);
        }
        let stdout = fstat(io::stdout())?;
        let is_stdout = |other: Stat| (other.st_dev, other.st_ino) == (stdout.st_dev, stdout.st_ino);
        self.has_shut_stdin |= is_stdout(fstat(io::stdin())?);
        if is_stdout(fstat(io::stderr())?) && FileType::from_raw_mode(stdout.st_mode) == FileType::Fifo {
            dup2_stderr(&self.null)?;
        }
        Poll::Ready(dup2_stdout(&self.null).map_err(io::Error::from))
    }
}
