//! The command line of `veriplex tunnel`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, value_parser};
use serde::Deserialize;
use veriplex::hybrid::Fingerprint;
use veriplex_files::text;

use crate::secrets::{PrivateKeyFile, one_of};

pub const CONNECTIONS: u32 = 400;
pub const PER_PEER: u32 = 100;
pub const PENDING: u32 = 128;
pub const PER_SOURCE: u32 = 32;
pub const TIMEOUT: u32 = 10;
pub const MAX_TIMEOUT: u32 = 3600;
pub const GRACE: u32 = 30;

/// The form of lines in the log.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For humans
    #[default]
    Text,
    /// One JSON object for each line, with the time
    Json,
}

impl From<Format> for veriplex_tunnel::daemon::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Accept tunnels of known clients, and forward each to one destination
    Serve(Serve),
    /// Accept connections, and forward each through a tunnel to a server
    Connect(Connect),
    /// Forward standard input and output through a tunnel to a server, as ssh -W does
    ///
    /// Exit status 0 means that everything the server sent has arrived, and that standard input was sent to its end;
    /// the server does not acknowledge it.
    Pipe(Server),
    /// Echo whatever is received, to try out tunnels
    Echo {
        /// Listening address: HOST:PORT (port 0 for any) or unix:PATH
        #[arg(long = "listen", value_name = "ADDRESS")]
        address: String,
    },
}

#[derive(Args, Clone)]
#[command(
    group(one_of(["key_file", "key_fd", "config"])),
    group(ArgGroup::new("allowed").args(["peers", "peer_files", "config"]).required(true).multiple(true)),
)]
pub struct Serve {
    /// Read all settings from this file (TOML, see the README), and again on SIGHUP
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "PasswordFrom", "peers", "peer_files", "connect", "max_pending", "max_per_source", "max_per_peer", "seconds",
        "addresses", "max_connections", "grace_seconds", "metrics", "log", "allow_unix",
    ])]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub key: PrivateKeyFile,
    /// An allowed client: the digits that `veriplex key inspect` prints after `tunnel --peer`, not its fingerprint; may
    /// be repeated
    #[arg(long = "peer", value_name = "FINGERPRINT",
        value_parser = |text: &str| text::digits_or_file(text, "--peer-file").map(Fingerprint::from_bytes))]
    pub peers: Vec<Fingerprint>,
    /// An allowed client's public key, or a list of clients, one per line: a public key, or what --peer takes and a
    /// name; may be repeated, and is read again on SIGHUP
    #[arg(long = "peer-file", value_name = "FILE")]
    pub peer_files: Vec<PathBuf>,
    /// Listening address: HOST:PORT (port 0 for any), unix:PATH, or systemd:NAME for sockets passed by systemd; may be
    /// repeated
    #[arg(long = "listen", value_name = "ADDRESS", required_unless_present = "config")]
    pub addresses: Vec<String>,
    /// Destination of the connections: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", required_unless_present = "config")]
    pub connect: Option<String>,
    #[command(flatten)]
    pub listen: Listen,
    /// Maximum number of handshakes at once
    #[arg(long, value_name = "N", default_value_t = PENDING, value_parser = value_parser!(u32).range(1..))]
    pub max_pending: u32,
    /// Maximum number of handshakes from one address (IPv6: one /64 network)
    #[arg(long, value_name = "N", default_value_t = PER_SOURCE, value_parser = value_parser!(u32).range(1..))]
    pub max_per_source: u32,
    /// Maximum number of open connections of one peer
    #[arg(long, value_name = "N", default_value_t = PER_PEER, value_parser = value_parser!(u32).range(1..))]
    pub max_per_peer: u32,
    /// Timeout for connecting, and for the handshake, in seconds
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = value_parser!(u32).range(1..=MAX_TIMEOUT.into()))]
    pub seconds: u32,
}

#[derive(Args, Clone)]
pub struct Connect {
    #[command(flatten)]
    pub server: Server,
    /// Listening address: HOST:PORT (port 0 for any), unix:PATH, or systemd:NAME for sockets passed by systemd; may be
    /// repeated
    #[arg(long = "listen", value_name = "ADDRESS", required = true)]
    pub addresses: Vec<String>,
    #[command(flatten)]
    pub listen: Listen,
}

/// The server, as a client knows it.
#[derive(Args, Clone)]
#[command(group(one_of(["key_file", "key_fd"])))]
pub struct Server {
    #[command(flatten)]
    pub key: PrivateKeyFile,
    /// The server's public key
    #[arg(long, value_name = "FILE")]
    pub peer_file: PathBuf,
    /// The server: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub connect: String,
    /// Timeout for connecting, and for the handshake, in seconds
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = value_parser!(u32).range(1..=MAX_TIMEOUT.into()))]
    pub seconds: u32,
}

/// How accepted connections are treated.
#[derive(Args, Clone)]
pub struct Listen {
    /// Maximum number of open connections
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS, value_parser = value_parser!(u32).range(1..))]
    pub max_connections: u32,
    /// How long open connections may continue after SIGTERM or SIGINT, in seconds
    #[arg(long = "grace", value_name = "SECONDS", default_value_t = GRACE)]
    pub grace_seconds: u32,
    /// Allow plaintext over Unix sockets. They have no reset, so the program behind one cannot tell a truncated
    /// connection from a finished one
    #[arg(long)]
    pub allow_unix: bool,
    /// Serve metrics for Prometheus on this Unix socket
    #[arg(long, value_name = "PATH")]
    pub metrics: Option<PathBuf>,
    /// Log format on standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub log: Format,
}
