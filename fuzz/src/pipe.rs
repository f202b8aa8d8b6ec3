//! A stream in memory that takes and gives what a script says, and now and then nothing.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind, SeekFrom};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use arbitrary::Arbitrary;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use veriplex_tunnel::daemon::relay::Checked;

/// What a call of the stream does.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Call {
    Moves(u8),
    Waits,
    Fails,
}

/// Both ends share it.
#[derive(Clone, Default)]
pub struct Pipe(Rc<RefCell<Ends>>);

impl Checked for Pipe {}

#[derive(Default)]
pub struct Ends {
    /// What there is to read: all, and where the reader is.
    pub incoming: Vec<u8>,
    pub place: usize,
    /// No more comes: reads end.
    pub is_closed: bool,
    /// What was written.
    pub outgoing: Vec<u8>,
    pub is_shut: bool,
    /// What the next calls do. Then they move all there is.
    pub calls: VecDeque<Call>,
    /// Whether calls fail as scripts say. Not where an error is the end.
    pub may_fail: bool,
    seek: Option<u64>,
}

impl Ends {
    fn moves(&mut self, most: usize) -> Poll<io::Result<usize>> {
        match self.calls.pop_front() {
            None => Poll::Ready(Ok(most)),
            Some(Call::Moves(n)) => Poll::Ready(Ok(most.min(usize::from(n) + 1))),
            Some(Call::Fails) if self.may_fail => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Some(_) => Poll::Pending,
        }
    }
}

impl Pipe {
    pub fn ends(&self) -> Ref<'_, Ends> {
        self.0.borrow()
    }

    pub fn ends_mut(&self) -> RefMut<'_, Ends> {
        self.0.borrow_mut()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let ends = &mut *self.ends_mut();
        let left = ends
            .incoming
            .len()
            .saturating_sub(ends.place)
            .min(buf.remaining());
        if left == 0 && !ends.is_closed {
            return Poll::Pending;
        }
        ends.moves(left).map_ok(|n| {
            buf.put_slice(&ends.incoming[ends.place..][..n]);
            ends.place += n;
        })
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let ends = &mut *self.ends_mut();
        assert!(!ends.is_shut, "written after the end");
        ends.moves(buf.len()).map_ok(|n| {
            ends.outgoing.extend_from_slice(&buf[..n]);
            n
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.ends_mut().moves(0).map_ok(drop)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ends = &mut *self.ends_mut();
        ends.moves(0).map_ok(|_| ends.is_shut = true)
    }
}

impl AsyncSeek for Pipe {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let ends = &mut *self.ends_mut();
        assert!(ends.seek.is_none(), "two seeks at a time");
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => (ends.place as u64).checked_add_signed(by),
            SeekFrom::End(by) => (ends.incoming.len() as u64).checked_add_signed(by),
        };
        ends.seek = Some(place.ok_or(ErrorKind::InvalidInput)?);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let ends = &mut *self.ends_mut();
        let Some(place) = ends.seek else {
            return Poll::Ready(Ok(ends.place as u64));
        };
        ends.moves(0).map(|moved| {
            ends.seek = None;
            moved?;
            ends.place = usize::try_from(place).map_err(io::Error::other)?;
            Ok(place)
        })
    }
}

/// Polls a future this often at most.
pub fn poll_times<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    (0..times).find_map(|_| match future.as_mut().poll(&mut cx) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    })
}
