//! The running listeners, while settings change.

use std::io;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::info;
use veriplex_files::error::Error;

use super::settings::{Listening, Role, Settings};
use super::socket::{Address, Listener, Passed};
use super::{Tunnel, accept_all};

/// The listeners of a tunnel.
#[derive(Debug)]
pub struct Listeners {
    passed: Passed,
    running: Vec<Running>,
}

/// A listener that accepts connections until it is told to stop. It holds the other end of the channel until then.
#[derive(Debug)]
struct Running {
    address: Address,
    stop: watch::Sender<()>,
}

impl Running {
    /// May be called again, as after a call that was cancelled.
    async fn stop(&self) {
        self.stop.send_replace(());
        self.stop.closed().await;
    }
}

/// Those that do not run yet.
pub struct Prepared(Vec<(Address, Vec<Listener>)>);

impl Listeners {
    /// The listeners, some of them passed by systemd.
    ///
    /// # Errors
    ///
    /// If systemd has passed an unwanted socket, whose connections would wait for ever.
    pub fn new(passed: Passed, wanted: &[Listening]) -> Result<Self, Error> {
        let is_wanted = |name: &str| {
            let address = Address::Systemd(name.to_owned());
            wanted.iter().any(|listening| listening.address == address)
        };
        if let Some(name) = passed.names().find(|name| !is_wanted(name)) {
            let address = format!("systemd:{name}");
            return Err(Error::io(
                &address,
                "passed by systemd, but not configured as a listener",
            ));
        }
        Ok(Self {
            passed,
            running: Vec::new(),
        })
    }

    /// Binds the wanted listeners that do not run yet. If that fails, nothing has changed.
    pub(super) async fn prepare(&self, settings: &Settings) -> Result<Prepared, Error> {
        // The old ones go on until all new ones are there.
        let failed = |address: &Address, error: io::Error| {
            let may_overlap = error.kind() == io::ErrorKind::AddrInUse && !self.running.is_empty();
            let hint = if may_overlap {
                " (if it overlaps an address of before, restart)"
            } else {
                ""
            };
            Error::io(&address.to_string(), format_args!("{error}{hint}"))
        };
        let mut prepared: Vec<(Address, Vec<Listener>)> = Vec::new();
        let [carries, _] = settings.role.carries();
        for Listening { address, .. } in &settings.listeners {
            if !self.running.iter().any(|running| running.address == *address) {
                let listeners = Listener::bind(address, carries, &self.passed).await;
                let listeners = listeners.map_err(|error| failed(address, error))?;
                prepared.push((address.clone(), listeners));
            }
        }
        let is_unix = |listener: &Listener| matches!(listener, Listener::Unix(..));
        let data_through_unix = match &settings.role {
            Role::Server { .. } => Some(&settings.connect).filter(|to| matches!(to, Address::Unix(_))),
            Role::Client { .. } => prepared
                .iter()
                .find_map(|(address, listeners)| listeners.iter().any(is_unix).then_some(address)),
        };
        match data_through_unix {
            Some(address) if !settings.allow_unix => Err(Error::io(
                &address.to_string(),
                "a Unix socket has no reset: the program behind it cannot tell truncation from an end (allow-unix permits it)",
            )),
            _ => Ok(Prepared(prepared)),
        }
    }

    /// Starts these, and stops those that are no longer wanted.
    pub(super) async fn change(&mut self, tunnel: &Arc<Tunnel>, prepared: Prepared, wanted: &[Listening]) {
        let is_wanted = |running: &Running| {
            wanted
                .iter()
                .any(|listening| listening.address == running.address)
        };
        for running in self.running.iter().filter(|running| !is_wanted(running)) {
            info!("no longer listening on {}", running.address);
            running.stop().await;
        }
        self.running.retain(is_wanted);
        for (address, listeners) in prepared.0 {
            let (stop, stopped) = watch::channel(());
            for listener in listeners {
                info!(
                    "listening on {}",
                    listener.name().unwrap_or_else(|_| address.to_string())
                );
                tokio::spawn(accept_all(
                    stopped.clone(),
                    tunnel.clone(),
                    listener,
                    address.clone(),
                ));
            }
            self.running.push(Running { address, stop });
        }
    }

    pub(super) async fn stop(&self) {
        for running in &self.running {
            running.stop().await;
        }
    }
}
