//! Connections through an authenticated and encrypted tunnel: `veriplex-tunnel` between sockets.

pub mod allow;
pub mod args;
mod log;
mod metrics;
mod pending;
pub mod relay;
mod socket;

use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use veriplex::hybrid::{Fingerprint, PrivateKey, PublicKey};
use veriplex::label;
use veriplex_tunnel::{Config, Stream};
use zeroize::Zeroizing;

use self::allow::Allowed;
pub use self::args::Command;
use self::args::{Connect, Listen, Serve, Server};
use self::log::Log;
use self::metrics::{Metrics, Reason};
use self::pending::{Pending, Source};
use self::relay::{Failure, relay};
use self::socket::{Address, Listener, Socket};
use crate::error::Error;
use crate::keyfile;
use crate::names::quoted;

const CONFIG: Config = Config::new(label!("veriplex.tunnel.v2"));

/// Runs a command.
pub fn run(command: &Command, quiet: bool) -> Result<(), Error> {
    match command {
        Command::Keygen { file } => keygen(file),
        Command::Serve(options) => serve(options, quiet),
        Command::Connect(options) => connect(options, quiet),
        Command::Pipe(server) => pipe(server),
    }
}

/// Makes a private key file and, beside it, a public key file.
fn keygen(path: &Path) -> Result<(), Error> {
    let key = PrivateKey::generate(&mut veriplex::os_rng()).map_err(|error| Error::io("key", error))?;
    keyfile::write(path, key.to_pem().as_bytes())?;
    let mut public = path.as_os_str().to_owned();
    public.push(".pub");
    let public = Path::new(&public);
    let failed = |error| Error::io(&quoted(public), error);
    let mut file = std::fs::File::create_new(public).map_err(failed)?;
    file.write_all(key.public_key().to_pem().as_bytes())
        .map_err(failed)?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", key.public_key().fingerprint())
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// Reads a private key file.
fn read_private(path: &Path) -> Result<PrivateKey, Error> {
    // Longer than any key, to notice that more follows; no growing buffer, which would leave copies.
    let mut text = Zeroizing::new([0; 512]);
    let text = keyfile::read_text(path, text.as_mut_slice())?;
    std::str::from_utf8(text)
        .ok()
        .and_then(|pem| PrivateKey::from_pem(pem).ok())
        .ok_or_else(|| {
            Error::io(
                &quoted(path),
                "not a private key file for tunnels (made by veriplex tunnel keygen)",
            )
        })
}

/// What the connections of one process share.
struct Tunnel {
    key: PrivateKey,
    connect: Address,
    timeout: Duration,
    connections: Arc<Semaphore>,
    max_connections: usize,
    log: Log,
    quiet: bool,
    metrics: Metrics,
    role: Role,
}

enum Role {
    Server {
        arguments: Vec<String>,
        allowed: RwLock<Arc<Allowed>>,
        pending: Arc<Pending>,
        peers: Arc<Peers>,
    },
    Client {
        peer: PublicKey,
    },
}

impl Tunnel {
    fn tell(&self, message: impl Display) {
        if !self.quiet {
            self.log.line(message);
        }
    }

    /// Connects to where the command line says.
    async fn dial(&self) -> Result<Socket, Failed> {
        match timeout(self.timeout, self.connect.connect()).await {
            Ok(Ok(socket)) => Ok(socket),
            Ok(Err(error)) => Err(Failed(Reason::Unreachable, format!("{}: {error}", self.connect))),
            Err(_) => Err(Failed(
                Reason::Unreachable,
                format!("{}: no answer in time", self.connect),
            )),
        }
    }

    fn pending(&self) -> usize {
        match &self.role {
            Role::Server { pending, .. } => pending.len(),
            Role::Client { .. } => 0,
        }
    }

    fn open(&self) -> usize {
        self.max_connections - self.connections.available_permits()
    }

    /// Reads the list of peers again. If that fails, the old one stays.
    fn reload(&self) {
        if let Role::Server {
            arguments, allowed, ..
        } = &self.role
        {
            match Allowed::read(arguments) {
                Ok(new) => {
                    *allowed.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
                    self.tell("the list of peers was read again");
                }
                Err(error) => self
                    .log
                    .line(format_args!("the list of peers stays as it was: {error}")),
            }
        }
    }
}

/// Why a connection failed: for the counters, and in words that tell nothing about a secret.
struct Failed(Reason, String);

impl From<veriplex_tunnel::Error> for Failed {
    fn from(error: veriplex_tunnel::Error) -> Self {
        use veriplex_tunnel::Error as E;
        let reason = match &error {
            E::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => Reason::Closed,
            E::Verification => Reason::Verification,
            E::Refused => Reason::Refused,
            _ => Reason::Other,
        };
        Self(reason, error.to_string())
    }
}

/// How many connections each peer has open.
struct Peers {
    limit: usize,
    open: Mutex<HashMap<Fingerprint, usize>>,
}

/// One of them, given back on drop.
struct OfPeer(Arc<Peers>, Fingerprint);

impl Peers {
    fn enter(self: &Arc<Self>, peer: Fingerprint) -> Option<OfPeer> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(peer).or_default();
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(OfPeer(self.clone(), peer))
    }
}

impl Drop for OfPeer {
    fn drop(&mut self) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.1);
            }
        }
    }
}

/// A tunnel, and the connection that goes through it.
struct Opened {
    tunnel: Stream<Socket>,
    plain: Socket,
    peer: String,
    _permit: OwnedSemaphorePermit,
    _of_peer: Option<OfPeer>,
}

/// Takes tunnels, and opens a connection for each peer on the list.
fn serve(options: &Serve, quiet: bool) -> Result<(), Error> {
    let role = Role::Server {
        allowed: RwLock::new(Arc::new(Allowed::read(&options.peers)?)),
        arguments: options.peers.clone(),
        pending: Pending::new(options.max_pending as usize, options.max_per_source as usize),
        peers: Arc::new(Peers {
            limit: options.max_per_peer as usize,
            open: Mutex::default(),
        }),
    };
    let key = read_private(&options.key_file)?;
    listen(
        key,
        &options.connect,
        options.seconds,
        &options.listen,
        role,
        quiet,
    )
}

/// Takes connections, and opens a tunnel for each.
fn connect(options: &Connect, quiet: bool) -> Result<(), Error> {
    let server = &options.server;
    let role = Role::Client {
        peer: allow::read_public(&server.peer)?,
    };
    let key = read_private(&server.key_file)?;
    listen(key, &server.connect, server.seconds, &options.listen, role, quiet)
}

/// Passes standard input and output through a tunnel.
fn pipe(server: &Server) -> Result<(), Error> {
    let peer = allow::read_public(&server.peer)?;
    let key = read_private(&server.key_file)?;
    let limit = Duration::from_secs(server.seconds.into());
    let runtime = Runtime::new().map_err(|error| Error::io("runtime", error))?;
    let result = runtime.block_on(async {
        let failed = |error: &dyn Display| Error::io(&server.connect, error);
        let late = |_| failed(&"no answer in time");
        let socket = timeout(limit, Address::from(&*server.connect).connect())
            .await
            .map_err(late)?;
        let socket = socket.map_err(|error| failed(&error))?;
        let tunnel = timeout(limit, veriplex_tunnel::connect(socket, &CONFIG, &key, &peer))
            .await
            .map_err(late)?;
        let mut tunnel = tunnel.map_err(|error| match error {
            veriplex_tunnel::Error::Verification => Error::unverified(&server.connect, error),
            error => failed(&error),
        })?;
        let mut plain = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
        match relay(&mut plain, &mut tunnel, &relay::Bytes::default()).await {
            Ok(()) => Ok(()),
            Err(Failure::Connection(error)) => Err(Error::write("standard input or output", &error)),
            Err(Failure::Tunnel(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Error::unverified(&server.connect, error))
            }
            Err(Failure::Tunnel(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Error::unverified(&server.connect, "the tunnel was cut"))
            }
            Err(Failure::Tunnel(error)) => Err(failed(&error)),
        }
    });
    // A thread may wait for standard input.
    runtime.shutdown_background();
    result
}

/// Takes its place among pending connections when it is called, not when it is first polled: in the order of arrival.
fn serve_one(
    tunnel: Arc<Tunnel>,
    socket: Socket,
    source: Source,
) -> impl Future<Output = Result<Opened, Failed>> + Send {
    let entered = match &tunnel.role {
        Role::Server { pending, .. } => Some(pending.enter(source)),
        Role::Client { .. } => None,
    };
    async move {
        let Role::Server { allowed, peers, .. } = &tunnel.role else {
            unreachable!("only a server serves")
        };
        let (place, pushed_out) = entered.expect("a server has places");
        let allowed = allowed.read().unwrap_or_else(PoisonError::into_inner).clone();
        let accepting = veriplex_tunnel::accept(socket, &CONFIG, &tunnel.key, |peer| {
            allowed.name(&peer.fingerprint()).is_some()
        });
        let stream = tokio::select! {
            accepted = timeout(tunnel.timeout, accepting) => {
                accepted.map_err(|_| Failed(Reason::Timeout, "no handshake in time".into()))??
            }
            () = pushed_out => return Err(Failed(
                Reason::PushedOut,
                "pushed out by other connections before its handshake".into(),
            )),
        };
        drop(place);
        let fingerprint = stream.peer().fingerprint();
        let peer = allowed.name(&fingerprint).unwrap_or_default().to_owned();
        // What comes from here on is for a peer that has proved who it is, and is the same to it: a reset.
        let refuse = |reason, why: &str| {
            stream.get_ref().reset();
            Failed(reason, format!("{peer}: {why}"))
        };
        let of_peer = peers
            .enter(fingerprint)
            .ok_or_else(|| refuse(Reason::TooManyOfPeer, "too many connections of this peer"))?;
        let permit = tunnel
            .connections
            .clone()
            .try_acquire_owned()
            .map_err(|_| refuse(Reason::TooMany, "too many connections"))?;
        let dialled = tunnel.dial().await;
        let plain = dialled.map_err(|Failed(reason, why)| refuse(reason, &why))?;
        Ok(Opened {
            tunnel: stream,
            plain,
            peer,
            _permit: permit,
            _of_peer: Some(of_peer),
        })
    }
}

/// Takes its permit when it is called, as [`serve_one`] its place.
fn connect_one(tunnel: Arc<Tunnel>, plain: Socket) -> impl Future<Output = Result<Opened, Failed>> + Send {
    let permit = tunnel.connections.clone().try_acquire_owned();
    async move {
        let Role::Client { peer } = &tunnel.role else {
            unreachable!("only a client connects")
        };
        let opening = async {
            let permit = permit.map_err(|_| Failed(Reason::TooMany, "too many connections".into()))?;
            let socket = tunnel.dial().await?;
            let connecting = veriplex_tunnel::connect(socket, &CONFIG, &tunnel.key, peer);
            let stream = timeout(tunnel.timeout, connecting)
                .await
                .map_err(|_| Failed(Reason::Timeout, "no handshake in time".into()))??;
            Ok((stream, permit))
        };
        match opening.await {
            Ok((stream, permit)) => Ok(Opened {
                tunnel: stream,
                plain,
                peer: peer.fingerprint().to_string(),
                _permit: permit,
                _of_peer: None,
            }),
            Err(Failed(reason, why)) => {
                plain.reset();
                let hint = match reason {
                    Reason::Closed => "; does the server allow this key?",
                    _ => "",
                };
                Err(Failed(reason, format!("{why}{hint}")))
            }
        }
    }
}

/// Takes connections until a signal; nothing that happens to one of them ends the others.
fn listen(
    key: PrivateKey,
    connect: &str,
    seconds: u32,
    options: &Listen,
    role: Role,
    quiet: bool,
) -> Result<(), Error> {
    let tunnel = Arc::new(Tunnel {
        key,
        connect: connect.into(),
        timeout: Duration::from_secs(seconds.into()),
        connections: Arc::new(Semaphore::new(options.max_connections as usize)),
        max_connections: options.max_connections as usize,
        log: Log::new(),
        quiet,
        metrics: Metrics::default(),
        role,
    });
    let runtime = Runtime::new().map_err(|error| Error::io("runtime", error))?;
    let result = runtime.block_on(async {
        let failed = |error| Error::io("signals", error);
        let mut hang_up = signal(SignalKind::hangup()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        // Dropped, the sender tells the listeners to stop; they hold the other ends until they have.
        let (stop, stopped) = watch::channel(());
        for address in &options.addresses {
            let failed = |error| Error::io(address, error);
            let listener = Listener::bind(&address.as_str().into()).await.map_err(failed)?;
            tunnel.tell(format_args!("listening on {}", listener.name().map_err(failed)?));
            tokio::spawn(take(tunnel.clone(), listener, stopped.clone()));
        }
        if let Some(path) = &options.metrics {
            let listener = Listener::bind(&Address::Unix(path.clone()))
                .await
                .map_err(|error| Error::io(&quoted(path), error))?;
            tokio::spawn(show_metrics(tunnel.clone(), listener, stopped.clone()));
        }
        drop(stopped);
        loop {
            tokio::select! {
                _ = hang_up.recv() => tunnel.reload(),
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
            }
        }
        let open = tunnel.open();
        tunnel.tell(format_args!("stopping; {open} connections are open"));
        stop.send_replace(());
        let last = async {
            stop.closed().await;
            let all = u32::try_from(tunnel.max_connections).unwrap_or(u32::MAX);
            drop(tunnel.connections.acquire_many(all).await);
        };
        tokio::select! {
            _ = timeout(Duration::from_secs(options.grace_seconds.into()), last) => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    });
    runtime.shutdown_background();
    result
}

/// Takes the connections of a listener.
async fn take(tunnel: Arc<Tunnel>, listener: Listener, mut stopped: watch::Receiver<()>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => return,
        };
        match accepted {
            Ok((socket, address, source)) => {
                tunnel.metrics.accepted.fetch_add(1, Ordering::Relaxed);
                match tunnel.role {
                    Role::Server { .. } => {
                        let opening = serve_one(tunnel.clone(), socket, source);
                        tokio::spawn(carry(tunnel.clone(), address, opening));
                    }
                    Role::Client { .. } => {
                        let opening = connect_one(tunnel.clone(), socket);
                        tokio::spawn(carry(tunnel.clone(), address, opening));
                    }
                }
            }
            Err(error) => {
                // That of one connection, or too many open files: others end meanwhile.
                tunnel.log.line(format_args!("accepting: {error}"));
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Opens a connection, and relays until it ends.
async fn carry(tunnel: Arc<Tunnel>, address: String, opening: impl Future<Output = Result<Opened, Failed>>) {
    let metrics = &tunnel.metrics;
    let mut opened = match opening.await {
        Ok(opened) => opened,
        Err(Failed(reason, why)) => {
            metrics.fail(reason);
            return tunnel.log.line(format_args!("{address}: {why}"));
        }
    };
    let peer = &opened.peer;
    metrics.opened.fetch_add(1, Ordering::Relaxed);
    tunnel.tell(format_args!("{address}: {peer}: open"));
    let result = relay(&mut opened.plain, &mut opened.tunnel, &metrics.bytes).await;
    metrics.closed.fetch_add(1, Ordering::Relaxed);
    let (sent, received) = opened.tunnel.renewals();
    metrics.renewals.fetch_add(sent + received, Ordering::Relaxed);
    let why = match result {
        Ok(()) => return tunnel.tell(format_args!("{address}: {peer}: closed")),
        Err(Failure::Connection(error)) => {
            metrics.fail(Reason::Other);
            format!("the connection: {error}")
        }
        Err(Failure::Tunnel(error)) => {
            let (reason, why) = match error.kind() {
                io::ErrorKind::UnexpectedEof => (Reason::Cut, "the tunnel was cut".into()),
                io::ErrorKind::InvalidData => (Reason::Verification, format!("the tunnel: {error}")),
                _ => (Reason::Other, format!("the tunnel: {error}")),
            };
            metrics.fail(reason);
            why
        }
    };
    // A cut must not look like an end.
    opened.plain.reset();
    opened.tunnel.get_ref().reset();
    tunnel.log.line(format_args!("{address}: {peer}: {why}"));
}

/// Answers whoever connects, whatever is asked, as a server of HTTP.
async fn show_metrics(tunnel: Arc<Tunnel>, listener: Listener, mut stopped: watch::Receiver<()>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => return,
        };
        let Ok((mut socket, ..)) = accepted else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let text = tunnel
            .metrics
            .text(tunnel.pending(), tunnel.open(), tunnel.log.dropped());
        let head = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n";
        let answer = async {
            socket.write_all(format!("{head}{text}").as_bytes()).await?;
            socket.shutdown().await
        };
        let _ = timeout(Duration::from_secs(1), answer).await;
    }
}
