//! TCP connections through an authenticated and encrypted tunnel.
//!
//! `wire` has the messages between the two ends, `relay` what happens afterwards.

mod pending;
mod relay;
mod wire;

use std::collections::HashSet;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use veriplex::keys::{PrivateKey, PublicKey};

use self::pending::Pending;
use self::relay::relay;
use self::wire::{Answer, Channel};
use crate::error::{Error, warn};
use crate::keypair;

/// Why a connection failed, in words that tell nothing about a secret.
type Reason = String;

/// How long after its last data a connection is asked whether its other end still exists.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// What both ends are told.
pub struct Options<'a> {
    pub key_file: &'a Path,
    pub peers: &'a [String],
    pub listen: &'a str,
    pub connect: &'a str,
    pub max_connections: u32,
    pub max_pending: u32,
    pub timeout: u32,
    pub quiet: bool,
}

/// What the connections of one process share.
struct Tunnel {
    key: PrivateKey,
    peers: HashSet<PublicKey>,
    connect: String,
    timeout: Duration,
    connections: Arc<Semaphore>,
    pending: Arc<Pending>,
    quiet: bool,
}

impl Tunnel {
    fn new(options: &Options<'_>) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            key: keypair::read_private(options.key_file)?,
            peers: keypair::all(options.peers)?,
            connect: options.connect.to_owned(),
            timeout: Duration::from_secs(options.timeout.into()),
            connections: Arc::new(Semaphore::new(options.max_connections as usize)),
            pending: Pending::new(options.max_pending as usize),
            quiet: options.quiet,
        }))
    }

    fn tell(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            warn(message);
        }
    }

    /// Connects to where the command line says.
    async fn dial(&self) -> Result<TcpStream, Reason> {
        let connecting = timeout(self.timeout, TcpStream::connect(&self.connect));
        let stream = match connecting.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(format!("{}: {error}", self.connect)),
            Err(_) => return Err(format!("{}: no answer in time", self.connect)),
        };
        prepare(&stream);
        Ok(stream)
    }
}

/// Takes tunnels, and opens a connection for each peer on the list.
pub fn serve(options: &Options<'_>) -> Result<(), Error> {
    let tunnel = Tunnel::new(options)?;
    listen(options, &tunnel, |stream| serve_one(tunnel.clone(), stream))
}

/// Takes the place among pending connections when it is called, not when it is first polled: in the order of arrival.
fn serve_one(
    tunnel: Arc<Tunnel>,
    mut stream: TcpStream,
) -> impl Future<Output = Result<Served, Reason>> + Send {
    let (place, pushed_out) = tunnel.pending.enter();
    async move {
        let mut channel = tokio::select! {
            accepted = timeout(tunnel.timeout, wire::accept(&mut stream, &tunnel.key, &tunnel.peers)) => {
                accepted.map_err(|_| "no handshake in time")??
            }
            () = pushed_out => return Err("pushed out by newer connections before its handshake".into()),
        };
        drop(place);
        let Ok(permit) = tunnel.connections.clone().try_acquire_owned() else {
            // It is only told what it can do about it: a failure to send that changes nothing.
            let _ = channel.answer(&mut stream, Answer::Busy).await;
            return Err(format!("{}: too many connections", channel.peer));
        };
        match tunnel.dial().await {
            Ok(plain) => {
                channel.answer(&mut stream, Answer::Connected).await?;
                Ok(Served {
                    channel,
                    stream,
                    plain,
                    permit,
                })
            }
            Err(reason) => {
                let _ = channel.answer(&mut stream, Answer::Unreachable).await;
                Err(reason)
            }
        }
    }
}

/// Takes connections, and opens a tunnel for each.
pub fn connect(options: &Options<'_>) -> Result<(), Error> {
    let tunnel = Tunnel::new(options)?;
    listen(options, &tunnel, |stream| connect_one(tunnel.clone(), stream))
}

/// Takes its permit when it is called, as [`serve_one`] its place.
fn connect_one(tunnel: Arc<Tunnel>, plain: TcpStream) -> impl Future<Output = Result<Served, Reason>> + Send {
    let permit = tunnel.connections.clone().try_acquire_owned();
    async move {
        let opened = async {
            let permit = permit.map_err(|_| "too many connections")?;
            let mut stream = tunnel.dial().await?;
            // The other end has to connect too, and has as long for it as for the handshake.
            let channel = timeout(
                2 * tunnel.timeout,
                wire::connect(&mut stream, &tunnel.key, &tunnel.peers),
            );
            let channel = channel.await.map_err(|_| "no handshake in time")??;
            Ok((channel, stream, permit))
        };
        match opened.await {
            Ok((channel, stream, permit)) => Ok(Served {
                channel,
                stream,
                plain,
                permit,
            }),
            Err(reason) => {
                relay::reset(&plain);
                Err(reason)
            }
        }
    }
}

/// A tunnel, and the connection that goes through it.
struct Served {
    channel: Channel,
    stream: TcpStream,
    plain: TcpStream,
    permit: OwnedSemaphorePermit,
}

/// Runs `open` for every connection that is taken, and then relays; nothing that happens to one of them ends the others.
fn listen<F>(options: &Options<'_>, tunnel: &Arc<Tunnel>, open: impl Fn(TcpStream) -> F) -> Result<(), Error>
where
    F: Future<Output = Result<Served, Reason>> + Send + 'static,
{
    let runtime = Runtime::new().map_err(|error| Error::io("runtime", error))?;
    runtime.block_on(async {
        let bound = TcpListener::bind(options.listen).await;
        let failed = |error| Error::io(options.listen, error);
        let listener = bound.map_err(failed)?;
        tunnel.tell(format_args!(
            "listening on {}",
            listener.local_addr().map_err(failed)?
        ));
        loop {
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // That of one connection, or too many open files: others end meanwhile.
                    warn(format_args!("{}: {error}", options.listen));
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            prepare(&stream);
            let tunnel = tunnel.clone();
            let opening = open(stream);
            tokio::spawn(async move {
                let served = match opening.await {
                    Ok(served) => served,
                    Err(reason) => return warn(format_args!("{address}: {reason}")),
                };
                let peer = served.channel.peer;
                tunnel.tell(format_args!("{address}: {peer}: open"));
                match relay(served.plain, served.stream, served.channel).await {
                    Ok(()) => tunnel.tell(format_args!("{address}: {peer}: closed")),
                    Err(reason) => warn(format_args!("{address}: {peer}: {reason}")),
                }
                drop(served.permit);
            });
        }
    })
}

/// No waiting for more data, and an end to connections whose other end is gone. Without either it works too.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
    let _ = socket2::SockRef::from(stream).set_tcp_keepalive(&keepalive);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunnel(max_connections: usize, max_pending: usize) -> Arc<Tunnel> {
        Arc::new(Tunnel {
            key: PrivateKey::from_uniform_bytes([1; 64]).unwrap(),
            peers: HashSet::new(),
            connect: "127.0.0.1:0".into(),
            timeout: Duration::from_secs(60),
            connections: Arc::new(Semaphore::new(max_connections)),
            pending: Pending::new(max_pending),
            quiet: true,
        })
    }

    /// Connections whose other ends say nothing.
    async fn silent(count: usize) -> (Vec<TcpStream>, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mut accepted, mut others) = (Vec::new(), Vec::new());
        for _ in 0..count {
            others.push(TcpStream::connect(address).await.unwrap());
            accepted.push(listener.accept().await.unwrap().0);
        }
        (accepted, others)
    }

    /// Whether a connection has failed, with this reason, by the time that it is asked.
    async fn failed(opening: impl Future<Output = Result<Served, Reason>>, reason: &str) -> bool {
        tokio::select! {
            biased;
            opened = opening => opened.err().is_some_and(|found| found.starts_with(reason)),
            () = sleep(Duration::ZERO) => false,
        }
    }

    /// The tasks may be polled in any order; places are given in the order in which connections came.
    #[test]
    fn places_are_taken_on_arrival() {
        Runtime::new().unwrap().block_on(async {
            let tunnel = tunnel(1, 2);
            let (accepted, _others) = silent(3).await;
            let openings: Vec<_> = accepted
                .into_iter()
                .map(|stream| serve_one(tunnel.clone(), stream))
                .collect();
            let mut pushed_out = Vec::new();
            for opening in openings.into_iter().rev() {
                pushed_out.push(failed(opening, "pushed out").await);
            }
            assert_eq!(pushed_out, [false, false, true], "newest first");

            // All places were given back.
            let (accepted, _others) = silent(2).await;
            for stream in accepted {
                assert!(!failed(serve_one(tunnel.clone(), stream), "").await);
            }
        });
    }

    #[test]
    fn permits_are_taken_on_arrival() {
        Runtime::new().unwrap().block_on(async {
            let tunnel = tunnel(1, 1);
            let (accepted, _others) = silent(2).await;
            let openings: Vec<_> = accepted
                .into_iter()
                .map(|stream| connect_one(tunnel.clone(), stream))
                .collect();
            let mut refused = Vec::new();
            for opening in openings.into_iter().rev() {
                refused.push(failed(opening, "too many connections").await);
            }
            assert_eq!(refused, [true, false], "newest first");
        });
    }
}
