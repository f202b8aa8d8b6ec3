//! Connections through an authenticated and encrypted tunnel: `veriplex-tunnel` between sockets.

pub mod allow;
pub mod args;
mod listeners;
mod log;
mod metrics;
mod notify;
mod pending;
pub mod proxy;
pub mod relay;
pub mod settings;
mod socket;
mod stdio;

use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tracing::{error, info, warn};
use veriplex::hybrid::{Fingerprint, PrivateKey};
use veriplex::label;
use veriplex_tunnel::{Config, Stream};

use self::allow::Allowed;
pub use self::args::Command;
use self::args::{Format, Server};
use self::listeners::Listeners;
use self::log::Log;
use self::metrics::{Metrics, Reason};
use self::notify::notify;
use self::pending::{Limits, Pending, Place};
use self::relay::{Failure, relay};
use self::settings::{Listening, Origin, Role, Settings};
use self::socket::{Address, Carries, Client, Listener, Passed, Socket};
use self::stdio::Stdio;
use crate::error::Error;
use crate::keys::{self, Private};
use crate::password::Source;
use crate::places;
use crate::temporary::hand_over;
use crate::terminal_quoting::quoted;

const CONFIG: Config = Config::new(label!("veriplex.tunnel.v2"));

/// Threads that look names up or wait for standard input and output, and two to spare.
const OTHER_THREADS: usize = 4;

/// What a closed connection may mean to a client.
const CLOSED: &str = "; does the server have this key, and allow ours?";

/// Runs a command.
pub fn run(command: &Command, quiet: bool) -> Result<(), Error> {
    match command {
        Command::Serve(options) => listen(&Origin::Serve(options.clone()), quiet),
        Command::Connect(options) => listen(&Origin::Connect(options.clone()), quiet),
        Command::Pipe(server) => pipe(server),
        Command::Echo { address } => echo(address, quiet),
    }
}

/// What the connections of one process share.
struct Tunnel {
    key: PrivateKey,
    settings: RwLock<Arc<Settings>>,
    /// Those in their handshake, and those whose proxy has not said where they come from.
    pending: Arc<Pending>,
    unnamed: Arc<Pending>,
    open: Arc<Open>,
    log: Log,
    metrics: Metrics,
}

impl Tunnel {
    fn settings(&self) -> Arc<Settings> {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn failed(&self, source: &str, failed: Failed) {
        let Failed {
            reason,
            peer,
            claimed,
            why,
        } = failed;
        self.metrics.fail(reason);
        let reason = reason.name();
        if let Some(peer) = peer {
            warn!(source, peer, reason, "{why}");
        } else {
            let claimed = claimed.map(|fingerprint| fingerprint.to_string());
            warn!(source, reason, claimed, "{why}");
        }
    }
}

impl Settings {
    fn warn_without_peers(&self) {
        if let Role::Server { allowed, .. } = &self.role
            && *allowed == Allowed::default()
        {
            warn!("no peers are configured: every client is refused");
        }
    }

    /// Connects to where connections go.
    async fn dial(&self) -> Result<Socket, Failed> {
        let [_, carries] = self.role.carries();
        let connected = self.connect.connect(carries, self.timeout).await;
        connected.map_err(|why| Failed::new(Reason::Unreachable, format!("{}: {why}", self.connect)))
    }

    /// What is listened on there, if anything is.
    fn listening(&self, address: &Address) -> Option<&Listening> {
        self.listeners
            .iter()
            .find(|listening| listening.address == *address)
    }
}

impl Role {
    /// What is carried by the connections that are taken, and by those that are made.
    fn carries(&self) -> [Carries; 2] {
        match self {
            Self::Server { .. } => [Carries::Records, Carries::Data],
            Self::Client { .. } => [Carries::Data, Carries::Records],
        }
    }
}

/// Why a connection failed: for the counters, and in words that tell nothing about a secret.
struct Failed {
    reason: Reason,
    peer: Option<String>,
    /// Of whoever has not proved to be this peer: the request may be a copy.
    claimed: Option<Fingerprint>,
    why: String,
}

impl Failed {
    fn new(reason: Reason, why: impl Into<String>) -> Self {
        Self {
            reason,
            peer: None,
            claimed: None,
            why: why.into(),
        }
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionReset, InvalidData, TimedOut, UnexpectedEof};
        match failure {
            Failure::Connection(error) => Self::new(Reason::Other, format!("the connection: {error}")),
            Failure::Tunnel(error) => match error.kind() {
                UnexpectedEof | ConnectionReset | BrokenPipe | TimedOut => {
                    Self::new(Reason::Cut, "the tunnel was cut")
                }
                InvalidData => Self::new(Reason::Verification, format!("the tunnel: {error}")),
                _ => Self::new(Reason::Other, format!("the tunnel: {error}")),
            },
        }
    }
}

impl From<veriplex_tunnel::Error> for Failed {
    fn from(error: veriplex_tunnel::Error) -> Self {
        use veriplex_tunnel::Error as E;
        let reason = match &error {
            E::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => Reason::Closed,
            E::Verification => Reason::Verification,
            E::Refused => Reason::Refused,
            _ => Reason::Other,
        };
        Self::new(reason, error.to_string())
    }
}

/// How many connections are open, in all and of each peer.
struct Open {
    all: watch::Sender<usize>,
    of_peers: Mutex<HashMap<Fingerprint, usize>>,
}

/// One of them, given back on drop.
struct OpenPlace(Arc<Open>);

/// The same of a peer.
struct OfPeer(Arc<Open>, Fingerprint);

impl Open {
    fn len(&self) -> usize {
        *self.all.borrow()
    }

    fn enter(self: &Arc<Self>, limit: usize) -> Result<OpenPlace, Failed> {
        let is_free = self.all.send_if_modified(|len| {
            let is_free = *len < limit;
            *len += usize::from(is_free);
            is_free
        });
        if is_free {
            Ok(OpenPlace(self.clone()))
        } else {
            Err(Failed::new(Reason::TooMany, "too many connections"))
        }
    }

    fn enter_as(self: &Arc<Self>, peer: Fingerprint, limit: usize) -> Result<OfPeer, Failed> {
        let mut peers = self.of_peers.lock().unwrap_or_else(PoisonError::into_inner);
        let count = peers.entry(peer).or_default();
        if *count >= limit {
            let why = "too many connections from this peer";
            return Err(Failed::new(Reason::TooManyOfPeer, why));
        }
        *count += 1;
        Ok(OfPeer(self.clone(), peer))
    }
}

impl Drop for OpenPlace {
    fn drop(&mut self) {
        self.0.all.send_modify(|len| *len -= 1);
    }
}

impl Drop for OfPeer {
    fn drop(&mut self) {
        let mut peers = self.0.of_peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = peers.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                peers.remove(&self.1);
            }
        }
    }
}

/// A tunnel, and the connection that goes through it.
struct Opened {
    tunnel: Stream<Socket>,
    plain: Socket,
    peer: String,
    _place: OpenPlace,
    _of_peer: Option<OfPeer>,
}

/// Passes standard input and output through a tunnel.
fn pipe(server: &Server) -> Result<(), Error> {
    let (sent, public) = (["-".into()], std::slice::from_ref(&server.peer_file));
    let read_key = server.key.reader(&sent, public, Private::tunnel)?;
    let mut plain = Stdio::new()?;
    let peer = keys::read_one_public(&server.peer_file)?.tunnel;
    let key = read_key()?;
    let limit = Duration::from_secs(server.seconds.into());
    let failed = |error: &dyn Display| Error::io(&server.connect, error);
    let address = Address::destination(&server.connect).map_err(|why| failed(&why))?;
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let socket = address.connect(Carries::Records, limit).await;
        let socket = socket.map_err(|error| failed(&error))?;
        let tunnel = timeout(limit, veriplex_tunnel::connect(socket, &CONFIG, &key, &peer))
            .await
            .map_err(|_| failed(&"timed out"))?;
        let mut tunnel = tunnel.map_err(|error| match error {
            veriplex_tunnel::Error::Verification => Error::unverified(&server.connect, error),
            veriplex_tunnel::Error::Io(ref cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                failed(&format_args!("{error}{CLOSED}"))
            }
            error => failed(&error),
        })?;
        match relay(&mut plain, &mut tunnel, &relay::Bytes::default()).await {
            Ok(()) => Ok(()),
            Err(Failure::Connection(error)) => Err(Error::write("standard input or output", &error)),
            Err(failure) => match Failed::from(failure) {
                Failed {
                    reason: Reason::Other,
                    why,
                    ..
                } => Err(failed(&why)),
                Failed { why, .. } => Err(Error::unverified(&server.connect, why)),
            },
        }
    });
    // A thread may wait for standard input.
    runtime.shutdown_background();
    result
}

/// A runtime with all its threads, which stay. Without a thread Tokio panics, or waits for one for ever: so as many are
/// started at once, to see that it works.
fn runtime() -> Result<Runtime, Error> {
    let failed = |error: io::Error| Error::io("threads", error);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let wait = Mutex::new(());
    thread::scope(|scope| {
        let waiting = wait.lock();
        // One more, for signals.
        let threads: io::Result<Vec<_>> = (0..=workers + OTHER_THREADS)
            .map(|_| thread::Builder::new().spawn_scoped(scope, || drop(wait.lock())))
            .collect();
        drop(waiting);
        // The system has them back before Tokio asks for them.
        threads.map(|threads| threads.into_iter().for_each(|thread| drop(thread.join())))
    })
    .map_err(failed)?;
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(workers)
        .thread_keep_alive(Duration::from_secs(u32::MAX.into()))
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Error::io("runtime", error))?;
    let wait = Arc::new(Mutex::new(()));
    let waiting = wait.lock();
    let (sender, started) = std::sync::mpsc::channel();
    for _ in 0..OTHER_THREADS {
        let (wait, sender) = (wait.clone(), sender.clone());
        runtime.spawn_blocking(move || {
            let _ = sender.send(());
            drop(wait.lock());
        });
    }
    for _ in 0..OTHER_THREADS {
        let begun = started.recv_timeout(Duration::from_secs(10));
        begun.map_err(|_| failed(io::ErrorKind::WouldBlock.into()))?;
    }
    drop(waiting);
    Ok(runtime)
}

/// Gives back what it is sent, to a few at a time.
fn echo(address: &str, quiet: bool) -> Result<(), Error> {
    Log::start(Format::Text, quiet).map_err(|error| Error::io("threads", error))?;
    runtime()?.block_on(async {
        let failed = |error| Error::io(address, error);
        let listener = match Address::from(address) {
            Address::Unix(path) => Listener::bind_unix(&path),
            address => Listener::bind_tcp(&address.to_string(), Carries::Data).await,
        };
        let listener = listener.map_err(failed)?;
        info!("listening on {}", listener.name().map_err(failed)?);
        let places = Arc::new(Semaphore::new(100));
        loop {
            let client = listener.accept().await;
            let Ok(place) = places.clone().try_acquire_owned() else {
                continue;
            };
            tokio::spawn(async move {
                let (mut reader, mut writer) = tokio::io::split(client.socket);
                if tokio::io::copy(&mut reader, &mut writer).await.is_ok() {
                    let _ = writer.shutdown().await;
                }
                drop(place);
            });
        }
    })
}

/// The place of a connection that is pending, and what is ready when it was taken away.
type Entered<F> = (Place, F);

/// What a connection through a proxy begins with. Without a word of the proxy, it comes from the proxy.
async fn through_proxy(
    tunnel: Arc<Tunnel>,
    settings: Arc<Settings>,
    limits: Limits,
    mut client: Client,
    (place, pushed_out): Entered<impl Future<Output = ()> + Send>,
) {
    let read = tokio::select! {
        read = timeout(settings.timeout, proxy::read(&mut client.socket)) => match read {
            Ok(Ok(claim)) => Ok(claim),
            Ok(Err(error)) => Err(format!("from the proxy: {error}")),
            Err(_) => Err("from the proxy: timed out before its header".into()),
        },
        () = pushed_out => Err("evicted before its header: too many pending connections".into()),
    };
    drop(place);
    let proxy = client.name();
    match read {
        Ok(claim) => {
            let (source, name) = match claim {
                Some(address) => (address.ip().into(), format!("{address} by {proxy}")),
                None => (client.source(), proxy),
            };
            let entered = tunnel.pending.enter(source, limits);
            let opening = serve_one(tunnel.clone(), settings, client.socket, entered);
            carry(tunnel, name, opening).await;
        }
        Err(why) => tunnel.failed(&proxy, Failed::new(Reason::Proxy, why)),
    }
}

async fn serve_one(
    tunnel: Arc<Tunnel>,
    settings: Arc<Settings>,
    socket: Socket,
    (place, pushed_out): Entered<impl Future<Output = ()> + Send>,
) -> Result<Opened, Failed> {
    let Role::Server { max_per_peer, .. } = &settings.role else {
        unreachable!("only a server serves")
    };
    // On the list of now: it may have been read again since this connection was taken.
    let name_of = |fingerprint: &Fingerprint| match &tunnel.settings().role {
        Role::Server { allowed, .. } => allowed.name(fingerprint).map(ToOwned::to_owned),
        Role::Client { .. } => None,
    };
    let claimed = OnceLock::new();
    let accepting = veriplex_tunnel::accept(socket, &CONFIG, &tunnel.key, |peer| {
        name_of(claimed.get_or_init(|| peer.fingerprint())).is_some()
    });
    let accepted = tokio::select! {
        accepted = timeout(settings.timeout, accepting) => match accepted {
            Ok(accepted) => accepted.map_err(Failed::from),
            Err(_) => Err(Failed::new(Reason::Timeout, "handshake timed out")),
        },
        () = pushed_out => Err(Failed::new(Reason::PushedOut, "evicted before its handshake: too many pending connections")),
    };
    let stream = accepted.map_err(|failed| Failed {
        claimed: claimed.get().copied(),
        ..failed
    })?;
    drop(place);
    let fingerprint = stream.peer().fingerprint();
    // The proof may have taken long.
    let peer = name_of(&fingerprint).ok_or_else(|| Failed {
        claimed: Some(fingerprint),
        ..veriplex_tunnel::Error::Refused.into()
    })?;
    let opening = async {
        let of_peer = tunnel.open.enter_as(fingerprint, *max_per_peer)?;
        let place = tunnel.open.enter(settings.max_connections)?;
        Ok((of_peer, place, settings.dial().await?))
    };
    match opening.await {
        Ok((of_peer, place, plain)) => Ok(Opened {
            tunnel: stream,
            plain,
            peer,
            _place: place,
            _of_peer: Some(of_peer),
        }),
        // The peer has proved who it is. All of these are the same to it: a cut.
        Err(failed) => Err(Failed {
            peer: Some(peer),
            ..failed
        }),
    }
}

/// Takes its place when it is called, not when it is first polled: in the order of arrival.
fn connect_one(
    tunnel: Arc<Tunnel>,
    settings: Arc<Settings>,
    plain: Socket,
) -> impl Future<Output = Result<Opened, Failed>> + Send {
    let place = tunnel.open.enter(settings.max_connections);
    async move {
        let Role::Client { peer } = &settings.role else {
            unreachable!("only a client connects")
        };
        let opening = async {
            let place = place?;
            let socket = settings.dial().await?;
            let connecting = veriplex_tunnel::connect(socket, &CONFIG, &tunnel.key, peer);
            let stream = timeout(settings.timeout, connecting)
                .await
                .map_err(|_| Failed::new(Reason::Timeout, "handshake timed out"))??;
            Ok((stream, place))
        };
        match opening.await {
            Ok((stream, place)) => Ok(Opened {
                tunnel: stream,
                plain,
                peer: peer.fingerprint().to_string(),
                _place: place,
                _of_peer: None,
            }),
            Err(mut failed @ Failed { .. }) => {
                if matches!(failed.reason, Reason::Closed) {
                    failed.why += CLOSED;
                }
                Err(failed)
            }
        }
    }
}

/// Takes connections until a signal; nothing that happens to one of them ends the others.
fn listen(origin: &Origin, quiet: bool) -> Result<(), Error> {
    // Before there are threads.
    let passed = Passed::take()?;
    let settings = Arc::new(origin.read()?);
    let password = match &settings.password {
        Source::File(path) => Some(&**path),
        Source::Terminal | Source::Variable(_) => None,
    };
    places::plan(
        &[("key", &[&*settings.key_file]), ("password", password.as_slice())],
        &[],
    )?;
    let mut listeners = Listeners::new(passed, &settings.listeners)?;
    let tunnel = Arc::new(Tunnel {
        key: keys::read_private(&settings.key_file, &settings.password)?.tunnel()?,
        settings: RwLock::new(settings.clone()),
        pending: Arc::default(),
        unnamed: Arc::default(),
        open: Arc::new(Open {
            all: watch::Sender::new(0),
            of_peers: Mutex::default(),
        }),
        log: Log::start(settings.log, quiet).map_err(|error| Error::io("threads", error))?,
        metrics: Metrics::default(),
    });
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let (reload_sender, mut reloads) = mpsc::unbounded_channel();
        let (stop_sender, mut stops) = mpsc::unbounded_channel();
        hand_over(&[SIGHUP, SIGINT, SIGTERM], move |signal| {
            let _ = match signal {
                SIGHUP => reload_sender.send(()),
                _ => stop_sender.send(()),
            };
        })
        .map_err(|error| Error::io("signals", error))?;
        let mut metrics = None;
        let serving = async {
            let prepared = listeners.prepare(&settings).await?;
            if let Some(path) = &settings.metrics {
                let listener = Listener::bind_unix(path).map_err(|error| Error::io(&quoted(path), error))?;
                metrics = Some(tokio::spawn(show_metrics(tunnel.clone(), listener)));
            }
            listeners.change(&tunnel, prepared, &settings.listeners).await;
            settings.warn_without_peers();
            notify("READY=1");
            while reloads.recv().await.is_some() {
                notify("RELOADING=1");
                reload(&tunnel, origin, &mut listeners).await;
                notify("READY=1");
            }
            Ok::<_, Error>(())
        };
        // At any time: to look a name up may take long.
        tokio::select! {
            served = serving => served?,
            _ = stops.recv() => {}
        }
        notify("STOPPING=1");
        info!("stopping; {} connections are open", tunnel.open.len());
        let grace = tunnel.settings().grace;
        let mut open = tunnel.open.all.subscribe();
        let last = async {
            listeners.stop().await;
            // The sender is there as long as the tunnel.
            let _ = open.wait_for(|len| *len == 0).await;
        };
        tokio::select! {
            _ = timeout(grace, last) => {}
            _ = stops.recv() => {}
        }
        let cut = tunnel.open.len();
        if cut > 0 {
            warn!("{cut} connections were cut");
        }
        if let Some(metrics) = metrics {
            // Its listener removes the socket.
            metrics.abort();
            let _ = metrics.await;
        }
        Ok(())
    });
    runtime.shutdown_background();
    tunnel.log.finish();
    result
}

/// Reads the settings again, and changes the listeners. Connections stay. If anything fails, everything stays as it was.
async fn reload(tunnel: &Arc<Tunnel>, origin: &Origin, listeners: &mut Listeners) {
    let read = async {
        let settings = origin.read()?;
        let prepared = listeners.prepare(&settings).await?;
        Ok::<_, Error>((Arc::new(settings), prepared))
    };
    match read.await {
        Ok((settings, prepared)) => {
            let old = std::mem::replace(
                &mut *tunnel.settings.write().unwrap_or_else(PoisonError::into_inner),
                settings.clone(),
            );
            listeners.change(tunnel, prepared, &settings.listeners).await;
            settings.warn_without_peers();
            for (name, is_same) in [
                ("key-file", old.key_file == settings.key_file),
                ("metrics", old.metrics == settings.metrics),
                ("log", old.log == settings.log),
            ] {
                if !is_same {
                    warn!("a change of {name} takes effect only after a restart");
                }
            }
            info!("reloaded the settings and the list of peers");
        }
        Err(error) => error!("reload failed, the old settings remain: {error}"),
    }
}

/// Takes the connections of a listener. `stopped` is the first parameter, and so dropped last: by then the listener has
/// removed its file.
async fn take(mut stopped: watch::Receiver<()>, tunnel: Arc<Tunnel>, listener: Listener, address: Address) {
    loop {
        let client = tokio::select! {
            client = listener.accept() => client,
            _ = stopped.changed() => return,
        };
        tunnel.metrics.accepted.fetch_add(1, Ordering::Relaxed);
        let (tunnel, settings) = (tunnel.clone(), tunnel.settings());
        // The settings have changed, and this listener is about to stop.
        let Some(listening) = settings.listening(&address) else {
            continue;
        };
        // It takes its place here, not when its task first runs: in the order of arrival.
        match (&settings.role, listening.proxies.clone()) {
            (Role::Client { .. }, _) => {
                let name = client.name();
                let opening = connect_one(tunnel.clone(), settings, client.socket);
                tokio::spawn(carry(tunnel, name, opening));
            }
            (Role::Server { pending, .. }, None) => {
                let name = client.name();
                let entered = tunnel.pending.enter(client.source(), *pending);
                let opening = serve_one(tunnel.clone(), settings, client.socket, entered);
                tokio::spawn(carry(tunnel, name, opening));
            }
            (Role::Server { pending, .. }, Some(proxies)) => {
                let ip = client.address.map(|address| address.ip());
                if !proxies.iter().any(|proxy| proxy.includes(ip)) {
                    let why = "not a proxy of this listener";
                    tunnel.failed(&client.name(), Failed::new(Reason::Proxy, why));
                    continue;
                }
                let limits = *pending;
                // All of a proxy's come from the proxy, until it has said more.
                let all = Limits {
                    per_source: limits.all,
                    ..limits
                };
                let entered = tunnel.unnamed.enter(client.source(), all);
                tokio::spawn(through_proxy(tunnel, settings, limits, client, entered));
            }
        }
    }
}

/// Opens a connection, and relays until it ends.
async fn carry(tunnel: Arc<Tunnel>, source: String, opening: impl Future<Output = Result<Opened, Failed>>) {
    let metrics = &tunnel.metrics;
    let mut opened = match opening.await {
        Ok(opened) => opened,
        Err(failed) => return tunnel.failed(&source, failed),
    };
    let peer = &*opened.peer;
    metrics.opened.fetch_add(1, Ordering::Relaxed);
    info!(source, peer, "open");
    let start = Instant::now();
    let result = relay(&mut opened.plain, &mut opened.tunnel, &metrics.bytes).await;
    metrics.closed.fetch_add(1, Ordering::Relaxed);
    let (sent, received) = opened.tunnel.renewals();
    let renewals = sent + received;
    metrics.renewals.fetch_add(renewals, Ordering::Relaxed);
    match result {
        Ok(()) => {
            let seconds = start.elapsed().as_secs();
            info!(source, peer, seconds, renewals, "closed");
        }
        Err(failure) => {
            let failed = Failed {
                peer: Some(opened.peer),
                ..failure.into()
            };
            tunnel.failed(&source, failed);
        }
    }
}

/// How much of what is asked for the counters is read.
const MAX_REQUEST_LEN: u64 = 1 << 16;

/// Answers whoever connects, whatever is asked, as a server of HTTP.
async fn show_metrics(tunnel: Arc<Tunnel>, listener: Listener) {
    loop {
        let Client { mut socket, .. } = listener.accept().await;
        let pending = tunnel.pending.len() + tunnel.unnamed.len();
        let text = tunnel
            .metrics
            .text(pending, tunnel.open.len(), tunnel.log.dropped());
        let head = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n";
        let answer = async {
            socket.write_all(format!("{head}{text}").as_bytes()).await?;
            socket.shutdown().await?;
            // What was asked, to its end: a socket that closes before it was read is a reset.
            tokio::io::copy(&mut socket.take(MAX_REQUEST_LEN), &mut tokio::io::sink()).await
        };
        let _ = timeout(Duration::from_secs(1), answer).await;
    }
}
