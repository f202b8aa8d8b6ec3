//! TCP and Unix sockets.

use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::pending::Source;

/// How long after its last data a connection is asked whether its other end still exists.
const KEEPALIVE: Duration = Duration::from_mins(1);

/// `HOST:PORT` or `unix:PATH`.
#[derive(Clone, Debug)]
pub enum Address {
    Tcp(String),
    Unix(PathBuf),
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        match text.strip_prefix("unix:") {
            Some(path) => Self::Unix(path.into()),
            None => Self::Tcp(text.to_owned()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Address {
    pub async fn connect(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(address) => TcpStream::connect(address).await.map(Socket::tcp),
            Self::Unix(path) => UnixStream::connect(path).await.map(Socket::Unix),
        }
    }
}

pub enum Listener {
    Tcp(TcpListener),
    /// With the path, which is removed on drop.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).await.map(Self::Tcp),
            Address::Unix(path) => {
                // What a process that was killed left behind: a socket on which nobody listens.
                if let Err(error) = UnixStream::connect(path).await
                    && error.kind() == io::ErrorKind::ConnectionRefused
                {
                    std::fs::remove_file(path)?;
                }
                UnixListener::bind(path).map(|listener| Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Where it listens, for the log.
    pub fn name(&self) -> io::Result<String> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(|address| address.to_string()),
            Self::Unix(_, path) => Ok(format!("unix:{}", path.display())),
        }
    }

    /// A connection, what to call its other end, and where it counts.
    pub async fn accept(&self) -> io::Result<(Socket, String, Source)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                Ok((Socket::tcp(stream), address.to_string(), address.ip().into()))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), "unix".into(), Source::Local))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// No waiting for more data, and an end to connections whose other end is gone. Without either it works too.
    fn tcp(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
        let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        Self::Tcp(stream)
    }

    /// Makes the drop of a TCP connection a reset. If it cannot be done, the other end sees it closed.
    pub fn reset(&self) {
        if let Self::Tcp(stream) = self {
            let _ = stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
