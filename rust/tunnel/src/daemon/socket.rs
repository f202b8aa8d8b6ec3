//! TCP and Unix sockets, including those that systemd passes.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::error;
use veriplex_files::error::Error;
use veriplex_files::socket_file::SocketFile;

use super::pending::Source;
use super::relay::Checked;

/// How long after its last data a connection is probed for its other end.
const KEEPALIVE: Duration = Duration::from_mins(1);

/// `HOST:PORT`, `unix:PATH` or, only for listening, `systemd:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `HOST:PORT`.
    Tcp(String),
    /// A path.
    Unix(PathBuf),
    /// The name that a unit gives to a socket passed by systemd.
    Systemd(String),
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        if let Some(path) = text.strip_prefix("unix:") {
            Self::Unix(path.into())
        } else if let Some(name) = text.strip_prefix("systemd:") {
            Self::Systemd(name.to_owned())
        } else {
            Self::Tcp(text.to_owned())
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Systemd(name) => write!(f, "systemd:{name}"),
        }
    }
}

impl Address {
    /// Where connections go: `HOST:PORT` or `unix:PATH`.
    ///
    /// # Errors
    ///
    /// For anything else.
    pub fn destination(text: &str) -> Result<Self, &'static str> {
        let address = Self::from(text);
        let is_destination = match &address {
            Self::Tcp(text) => host_and_port(text).is_some(),
            Self::Unix(path) => !path.as_os_str().is_empty(),
            Self::Systemd(_) => false,
        };
        if is_destination {
            Ok(address)
        } else {
            Err("not HOST:PORT or unix:PATH")
        }
    }

    /// The same; relative paths are in this folder.
    #[must_use]
    pub fn relative_to(self, folder: &Path) -> Self {
        match self {
            Self::Unix(path) => Self::Unix(folder.join(path)),
            other => other,
        }
    }

    /// Its addresses, if it has any but itself.
    pub(super) async fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Tcp(address) => lookup(address).await,
            Self::Unix(_) | Self::Systemd(_) => Ok(Vec::new()),
        }
    }

    pub(super) async fn connect(&self, carries: Carries, limit: Duration) -> io::Result<Socket> {
        let deadline = Instant::now() + limit;
        match self {
            Self::Tcp(address) => {
                let addresses = timeout_at(deadline, lookup(address)).await??;
                connect_any(&addresses, carries, deadline).await
            }
            Self::Unix(path) => timeout_at(deadline, connect_unix(path)).await?,
            Self::Systemd(_) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a listening socket",
            )),
        }
    }
}

/// Waits while too many connections wait to be accepted, which the system reports at once.
async fn connect_unix(path: &Path) -> io::Result<Socket> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(Duration::from_millis(20)).await,
            connected => return connected.map(Socket::Unix),
        }
    }
}

/// Connects to the first address that answers. Each gets a share of the remaining time.
async fn connect_any(addresses: &[SocketAddr], carries: Carries, deadline: Instant) -> io::Result<Socket> {
    let mut result = Err(io::ErrorKind::NotFound.into());
    for (at, &address) in addresses.iter().enumerate() {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        carries.set(&SockRef::from(&socket))?;
        let left = u32::try_from(addresses.len() - at).unwrap_or(u32::MAX);
        let share = deadline.duration_since(Instant::now()) / left;
        result = match timeout(share, socket.connect(address)).await {
            // Happens if nobody listens, and the system chooses the same port as the source.
            Ok(Ok(own)) if own.local_addr()? == own.peer_addr()? => {
                Err(io::ErrorKind::ConnectionRefused.into())
            }
            Ok(connected) => connected.map(Socket::tcp),
            Err(late) => Err(late.into()),
        };
        if result.is_ok() {
            break;
        }
    }
    result
}

/// What a connection carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Tunnel records, in which a cut shows.
    Records,
    /// Plaintext: only a reset distinguishes a cut from an end.
    Data,
}

impl Carries {
    /// For a socket that will connect, or one that listens: accepted sockets inherit it.
    fn set(self, socket: &SockRef<'_>) -> io::Result<()> {
        match self {
            Self::Records => Ok(()),
            Self::Data => cut_is_reset(socket),
        }
    }
}

/// Makes closing a connection a reset, even if the system closes it because this process was killed.
pub fn cut_is_reset(socket: &SockRef<'_>) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// The addresses of a `HOST:PORT`. The system's resolver knows the names of IPv6 zones, but no brackets.
async fn lookup(address: &str) -> io::Result<Vec<SocketAddr>> {
    let not_one = || io::Error::new(io::ErrorKind::InvalidInput, "not HOST:PORT");
    let address = host_and_port(address).ok_or_else(not_one)?;
    lookup_host(address).await.map(Iterator::collect)
}

fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = bracketed.unwrap_or(host);
    Some((host, port.parse().ok()?)).filter(|_| !host.is_empty())
}

/// Whether this machine lacks an address, or all of its family.
fn is_missing(error: &io::Error) -> bool {
    let errors = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
}

/// How many descriptors this process may have.
pub fn max_descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The sockets that systemd has passed, with the names that their units give them.
#[derive(Debug, Default)]
pub struct Passed(Vec<(String, PassedSocket)>);

#[derive(Debug)]
enum PassedSocket {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

impl Passed {
    /// Takes them. To be called once, before there are threads, since it changes the environment.
    ///
    /// # Errors
    ///
    /// If one of them does not listen.
    pub fn take() -> Result<Self, Error> {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        // Variables meant for other processes mean nothing here.
        if number("LISTEN_PID") != Some(std::process::id().into()) {
            return Ok(Self::default());
        }
        if number("LISTEN_FDS").is_some_and(|count| count > max_descriptors()) {
            return Err(Error::io("LISTEN_FDS", "more than a process can have"));
        }
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.split(':');
        let mut fds = listenfd::ListenFd::from_env();
        let mut passed = Vec::new();
        for at in 0..fds.len() {
            // The name that systemd's own library gives to sockets without one.
            let name = names.next().filter(|name| !name.is_empty()).unwrap_or("unknown");
            let failed = |error| Error::io(&format!("systemd:{name}"), error);
            let tcp = fds.take_tcp_listener(at).ok().flatten().map(PassedSocket::Tcp);
            let socket = match tcp {
                Some(socket) => socket,
                None => match fds.take_unix_listener(at).map_err(failed)? {
                    Some(socket) => PassedSocket::Unix(socket),
                    None => continue,
                },
            };
            let is_listening = match &socket {
                PassedSocket::Tcp(socket) => SockRef::from(socket).is_listener(),
                PassedSocket::Unix(socket) => SockRef::from(socket).is_listener(),
            };
            if !is_listening.map_err(failed)? {
                return Err(Error::io(
                    &format!("systemd:{name}"),
                    "not a listening socket (the socket unit must not have Accept=yes)",
                ));
            }
            passed.push((name.to_owned(), socket));
        }
        Ok(Self(passed))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Listeners on the sockets with this name, which can be used again later.
    fn listeners(&self, name: &str, carries: Carries) -> io::Result<Vec<Listener>> {
        let named = self.0.iter().filter(|(other, _)| other == name);
        let listeners: Vec<_> = named
            .map(|(_, socket)| match socket {
                PassedSocket::Tcp(socket) => {
                    let socket = socket.try_clone()?;
                    socket.set_nonblocking(true)?;
                    Listener::tcp(TcpListener::from_std(socket)?, carries)
                }
                PassedSocket::Unix(socket) => {
                    let socket = socket.try_clone()?;
                    socket.set_nonblocking(true)?;
                    let listener = UnixListener::from_std(socket)?;
                    Ok(Listener::Unix(None, listener))
                }
            })
            .collect::<io::Result<_>>()?;
        if listeners.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "systemd passed no socket with this name",
            ));
        }
        Ok(listeners)
    }
}

pub enum Listener {
    Tcp(TcpListener),
    /// With its file, if that is ours; it must be dropped first.
    #[allow(dead_code)] // its drop is what it is for
    Unix(Option<SocketFile>, UnixListener),
}

/// Who has connected.
pub struct Client {
    pub socket: Socket,
    /// None through a Unix socket.
    pub address: Option<SocketAddr>,
}

impl Client {
    /// What the log calls it.
    pub fn name(&self) -> String {
        self.address
            .map_or_else(|| "unix".into(), |address| address.to_string())
    }

    pub fn source(&self) -> Source {
        match (self.address, &self.socket) {
            (Some(address), _) => address.ip().into(),
            (None, Socket::Unix(stream)) => Source::Local(stream.peer_cred().ok().map(|peer| peer.uid())),
            (None, Socket::Tcp(_)) => Source::Local(None),
        }
    }
}

impl Listener {
    /// One for each address of a name, or for each socket that systemd has passed.
    pub async fn bind(address: &Address, carries: Carries, passed: &Passed) -> io::Result<Vec<Self>> {
        match address {
            Address::Tcp(address) => Self::bind_tcp(address, carries).await,
            Address::Unix(path) => Ok(vec![Self::bind_unix(path)?]),
            Address::Systemd(name) => passed.listeners(name, carries),
        }
    }

    /// On every address of the name: where this process does not listen, another user's could, and get what clients send.
    async fn bind_tcp(address: &str, carries: Carries) -> io::Result<Vec<Self>> {
        let mut listeners = Vec::new();
        let mut missing = io::ErrorKind::AddrNotAvailable.into();
        let addresses: BTreeSet<_> = lookup(address).await?.into_iter().collect();
        for address in addresses {
            match TcpListener::bind(address).await {
                Ok(listener) => listeners.push(Self::tcp(listener, carries)?),
                // Nobody can listen there: this machine does not have the address.
                Err(error) if is_missing(&error) => missing = error,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{address}: {error}"))),
            }
        }
        if listeners.is_empty() {
            return Err(missing);
        }
        Ok(listeners)
    }

    fn tcp(listener: TcpListener, carries: Carries) -> io::Result<Self> {
        carries.set(&SockRef::from(&listener))?;
        Ok(Self::Tcp(listener))
    }

    pub fn bind_unix(path: &Path) -> io::Result<Self> {
        let (file, listener) = SocketFile::bind(path)?;
        Ok(Self::Unix(Some(file), UnixListener::from_std(listener)?))
    }

    /// Where it listens, for the log.
    pub fn name(&self) -> io::Result<String> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(|address| address.to_string()),
            Self::Unix(_, listener) => {
                let address = listener.local_addr()?;
                let path = address.as_pathname().unwrap_or(Path::new(""));
                Ok(format!("unix:{}", path.display()))
            }
        }
    }

    /// The next client. Errors are logged: they concern one connection, or there are too many open files, and others
    /// end meanwhile.
    pub async fn accept(&self) -> Client {
        loop {
            match self.try_accept().await {
                Ok(client) => return client,
                Err(error) => {
                    error!("accepting: {error}");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    async fn try_accept(&self) -> io::Result<Client> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Connections that waited before we listened have not inherited it.
                SockRef::from(&stream).set_linger(SockRef::from(listener).linger()?)?;
                Ok(Client {
                    socket: Socket::tcp(stream),
                    address: Some(address),
                })
            }
            Self::Unix(_, listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(Client {
                    socket: Socket::Unix(stream),
                    address: None,
                })
            }
        }
    }
}

pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Send small data at once, and end connections whose other end is gone. It works without either.
    fn tcp(stream: TcpStream) -> Self {
        let _ = stream.set_nodelay(true);
        let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        Self::Tcp(stream)
    }
}

impl Checked for Socket {
    fn check(&self) -> io::Result<()> {
        let error = match self {
            Self::Tcp(stream) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        };
        error?.map_or(Ok(()), Err)
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

    /// Ends the sent data. Closing is then no longer a reset: the system continues until everything has arrived.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => {
                SockRef::from(&*stream).set_linger(None)?;
                Pin::new(stream).poll_shutdown(cx)
            }
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood from one user keeps out no other.
    #[tokio::test]
    async fn users_are_sources() {
        let (stream, _other) = UnixStream::pair().unwrap();
        let client = Client {
            socket: Socket::Unix(stream),
            address: None,
        };
        let user = rustix::process::getuid().as_raw();
        assert_eq!(format!("{:?}", client.source()), format!("Local(Some({user}))"));
    }

    /// There is no moment in which a kill would look like an end.
    #[tokio::test]
    async fn connections_inherit_what_they_carry() {
        for (carries, linger) in [(Carries::Records, None), (Carries::Data, Some(Duration::ZERO))] {
            let address = Address::Systemd("web".into());
            let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let to = socket.local_addr().unwrap();
            let connect = || std::net::TcpStream::connect(to).unwrap();
            let _early = connect();
            let passed = Passed(vec![("web".into(), PassedSocket::Tcp(socket))]);
            let bound = Listener::bind(&address, carries, &passed).await.unwrap();
            let Socket::Tcp(early) = bound[0].accept().await.socket else {
                panic!("not TCP")
            };
            assert_eq!(SockRef::from(&early).linger().unwrap(), linger);
            let Listener::Tcp(listener) = &bound[0] else {
                panic!("not TCP")
            };
            let _late = connect();
            let (late, _) = listener.accept().await.unwrap();
            assert_eq!(SockRef::from(&late).linger().unwrap(), linger);
        }
    }

    /// Its queue is full.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_address_that_does_not_answer_leaves_time_for_the_next() {
        let bind = || {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
            socket
        };
        let silent = bind().listen(0).unwrap();
        let next = bind().listen(1).unwrap();
        let [silent_at, next_at] = [&silent, &next].map(|listener| listener.local_addr().unwrap());
        let short = Duration::from_millis(300);
        let mut queue = Vec::new();
        while let Ok(stream) = timeout(short, TcpStream::connect(silent_at)).await {
            queue.push(stream.unwrap());
        }
        let connect = async |addresses: &[SocketAddr]| {
            let deadline = Instant::now() + 2 * short;
            let connected = timeout(3 * short, connect_any(addresses, Carries::Data, deadline));
            connected.await.unwrap().map_err(|error| error.kind())
        };
        assert!(connect(&[silent_at, next_at]).await.is_ok());
        let silent_only = connect(&[silent_at, silent_at]).await;
        assert_eq!(silent_only.err(), Some(io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn zones_have_names() {
        let zone = |name: &'static str| async move { lookup(&format!("[fe80::1%{name}]:80")).await };
        assert_eq!(zone("lo").await.unwrap(), zone("1").await.unwrap());
        assert!(zone("none").await.is_err());
        assert_eq!(lookup("[::1]:80").await.unwrap(), ["[::1]:80".parse().unwrap()]);
    }
}
