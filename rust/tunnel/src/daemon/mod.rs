//! A tunnel as a service on Linux and other Unixes: sockets on both sides, a list of peers, limits, metrics and a log.
//!
//! [`serve`] runs one end, according to its [`Settings`]; [`pipe`] passes standard input and output to a server. This
//! module is exempt from the semantic versioning of the crate. Its errors and its log are those of the program
//! `veriplex`.

mod echo;
mod failed;
mod listeners;
mod log;
mod metrics;
mod notify;
mod open;
mod pending;
mod pipe;
pub mod proxy;
pub mod relay;
mod runtime;
mod settings;
mod socket;
mod stdio;

use std::future::Future;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tracing::{error, info, warn};
use veriplex::hybrid::{Fingerprint, PrivateKey};
use veriplex::label;
use veriplex_files::error::Error;
use veriplex_files::terminal_quoting::quoted;

pub use self::echo::echo;
use self::failed::{CLOSED, Failed};
pub use self::listeners::Listeners;
pub use self::log::Format;
use self::log::Log;
use self::metrics::{Metrics, Reason};
use self::notify::notify;
use self::open::{OfPeer, Open, OpenPlace};
pub use self::pending::Limits;
use self::pending::{Pending, Place};
pub use self::pipe::pipe;
use self::relay::relay;
use self::runtime::runtime;
pub use self::settings::{Allowed, Listening, Proxy, Role, Settings};
pub use self::socket::{Address, Passed};
use self::socket::{Carries, Client, Listener, Socket, max_descriptors};
pub use self::stdio::Stdio;
use crate::{Config, Stream};

/// Descriptors besides those of connections and listeners.
const OTHER_DESCRIPTORS: u64 = 24;

const CONFIG: Config = Config::new(label!("veriplex.tunnel.v2"));

/// What the connections of one process share.
struct Tunnel {
    key: PrivateKey,
    settings: RwLock<Arc<Settings>>,
    /// Connections in their handshake, or whose proxy has not said where they come from.
    pending: Arc<Pending>,
    unnamed: Arc<Pending>,
    open: Arc<Open>,
    /// Handshakes that this side may begin now.
    handshakes: Semaphore,
    log: Log,
    metrics: Metrics,
}

/// How many handshakes a client has at once, so that a program that opens many connections does not push out its own. A server
/// allows one source 32, among them some that are finished only here.
const HANDSHAKES: usize = 8;

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
    /// Warns of what keeps clients out.
    fn warn(self: &Arc<Self>) {
        let mut needed = 2 * self.max_connections as u64 + self.listeners.len() as u64 + OTHER_DESCRIPTORS;
        if let Role::Server { allowed, pending, .. } = &self.role {
            if allowed.is_empty() {
                warn!("no peers are configured: every client is refused");
            }
            needed += 2 * pending.all as u64;
        }
        let most = max_descriptors();
        if most < needed {
            warn!(
                "max-connections and max-pending need {needed} descriptors, and {most} are allowed: raise ulimit -n"
            );
        }
        // To look a name up may take long, and later it may have an address.
        let settings = self.clone();
        tokio::spawn(async move {
            if let Err(error) = settings.connect.look_up().await {
                warn!("{} has no address now: {error}", settings.connect);
            }
        });
    }

    /// Connects to where connections go.
    async fn dial(&self) -> Result<Socket, Failed> {
        let [_, carries] = self.role.carries();
        let connected = self.connect.connect(carries, self.timeout).await;
        connected.map_err(|why| Failed::new(Reason::Unreachable, format!("{}: {why}", self.connect)))
    }

    /// What is listened on there, if anything.
    fn listening(&self, address: &Address) -> Option<&Listening> {
        self.listeners
            .iter()
            .find(|listening| listening.address == *address)
    }
}

impl Role {
    /// What the accepted connections carry, and what the outgoing ones do.
    fn carries(&self) -> [Carries; 2] {
        match self {
            Self::Server { .. } => [Carries::Records, Carries::Data],
            Self::Client { .. } => [Carries::Data, Carries::Records],
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

/// The place of a pending connection, and what becomes ready when it loses the place.
type Entered<F> = (Place, F);

/// How a connection through a proxy begins. If the proxy says nothing, the connection is the proxy's own.
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
    // On the current list, which may have been read again since this connection was accepted.
    let name_of = |fingerprint: &Fingerprint| match &tunnel.settings().role {
        Role::Server { allowed, .. } => allowed.name(fingerprint).map(ToOwned::to_owned),
        Role::Client { .. } => None,
    };
    let claimed = OnceLock::new();
    let accepting = crate::accept(socket, &CONFIG, &tunnel.key, |peer| {
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
        ..crate::Error::Refused.into()
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
        // The peer has proved who it is. To it, all of these look the same: a cut.
        Err(failed) => Err(Failed {
            peer: Some(peer),
            ..failed
        }),
    }
}

/// Takes its place when called, not when first polled, so that the order is that of arrival.
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
            let late = |what| move |_| Failed::new(Reason::Timeout, what);
            let turn = timeout(settings.timeout, tunnel.handshakes.acquire()).await;
            let _turn = turn.map_err(late("timed out before its handshake"))?; // nobody closes the semaphore
            let socket = settings.dial().await?;
            let connecting = crate::connect(socket, &CONFIG, &tunnel.key, peer);
            let stream = timeout(settings.timeout, connecting).await;
            Ok((stream.map_err(late("handshake timed out"))??, place))
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

/// Controls a running [`serve`].
#[derive(Debug)]
pub struct Handle {
    reload: mpsc::UnboundedSender<()>,
    stop: mpsc::UnboundedSender<()>,
}

impl Handle {
    /// Lets it read its settings again.
    pub fn reload(&self) {
        let _ = self.reload.send(());
    }

    /// Accept no more connections, and end with the last one; the second time, end at once.
    pub fn stop(&self) {
        let _ = self.stop.send(());
    }
}

/// Accepts connections until it is stopped. Nothing that happens to one of them ends the others.
///
/// `read` reads the settings again; `handled` installs signal handlers, which use its argument. The log is that of the
/// process, on standard error; with `quiet`, it has only warnings.
///
/// # Errors
///
/// If it cannot listen or start its threads.
pub fn serve(
    mut listeners: Listeners,
    key: PrivateKey,
    settings: Settings,
    read: impl Fn() -> Result<Settings, Error>,
    quiet: bool,
    handled: impl FnOnce(Handle) -> io::Result<()>,
) -> Result<(), Error> {
    // The lower limit is for programs that use `select`. If it cannot be raised, the warning says so.
    let descriptors = getrlimit(Resource::Nofile);
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: descriptors.maximum,
            ..descriptors
        },
    );
    let settings = Arc::new(settings);
    let tunnel = Arc::new(Tunnel {
        key,
        settings: RwLock::new(settings.clone()),
        pending: Arc::default(),
        unnamed: Arc::default(),
        open: Arc::default(),
        handshakes: Semaphore::new(HANDSHAKES),
        log: Log::start(settings.log, quiet).map_err(|error| Error::io("threads", error))?,
        metrics: Metrics::default(),
    });
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let (reload, mut reloads) = mpsc::unbounded_channel();
        let (stop, mut stops) = mpsc::unbounded_channel();
        handled(Handle { reload, stop }).map_err(|error| Error::io("signals", error))?;
        let mut metrics = None;
        let serving = async {
            let prepared = listeners.prepare(&settings).await?;
            if let Some(path) = &settings.metrics {
                let listener = Listener::bind_unix(path).map_err(|error| Error::io(&quoted(path), error))?;
                metrics = Some(tokio::spawn(show_metrics(tunnel.clone(), listener)));
            }
            listeners.change(&tunnel, prepared, &settings.listeners).await;
            settings.warn();
            notify("READY=1");
            while reloads.recv().await.is_some() {
                notify("RELOADING=1");
                change(&tunnel, &read, &mut listeners).await;
                notify("READY=1");
            }
            Ok::<_, Error>(())
        };
        // At any time, since looking up a name may take long.
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
            // The sender exists as long as the tunnel.
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

/// Reads the settings again, and changes the listeners. Connections stay. If anything fails, nothing changes.
async fn change(
    tunnel: &Arc<Tunnel>,
    read: &impl Fn() -> Result<Settings, Error>,
    listeners: &mut Listeners,
) {
    let read = async {
        let settings = read()?;
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
            settings.warn();
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

/// Accepts the connections of a listener. `stopped` is the first parameter, and so dropped last: by then the listener
/// has removed its file.
async fn accept_all(
    mut stopped: watch::Receiver<()>,
    tunnel: Arc<Tunnel>,
    listener: Listener,
    address: Address,
) {
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
        // It takes its place here, not when its task first runs, so that the order is that of arrival.
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
                // Until a proxy has said more, its connections are its own.
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

/// How much of a request for the counters is read.
const MAX_REQUEST_LEN: u64 = 1 << 16;

/// Answers every client as an HTTP server, whatever it asks.
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
            // Read the request to its end, because closing a socket with unread data is a reset.
            tokio::io::copy(&mut socket.take(MAX_REQUEST_LEN), &mut tokio::io::sink()).await
        };
        let _ = timeout(Duration::from_secs(1), answer).await;
    }
}
