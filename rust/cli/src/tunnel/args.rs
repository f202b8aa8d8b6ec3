//! The command line of `veriplex tunnel`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub enum Command {
    /// Make a private key for tunnels, and beside it FILE.pub with the public key; print its fingerprint
    Keygen {
        /// The private key file; it must not exist yet
        file: PathBuf,
    },
    /// Take tunnels of known clients, and connect each to one place
    Serve(Serve),
    /// Take connections, and pass each through a tunnel to a server
    Connect(Connect),
    /// Pass standard input and output through a tunnel to a server, as ssh -W does
    Pipe(Server),
}

#[derive(Args)]
pub struct Serve {
    /// The private key file (made by tunnel keygen)
    #[arg(short, long, value_name = "FILE")]
    pub key_file: PathBuf,
    /// A client that is allowed: a fingerprint, a public key file, or a file with a fingerprint and a name in each
    /// line; may be repeated, and is read again on SIGHUP
    #[arg(long = "peer", value_name = "PEER", required = true)]
    pub peers: Vec<String>,
    #[command(flatten)]
    pub listen: Listen,
    /// Where connections go: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub connect: String,
    /// How many connections may be in their handshake at a time
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_pending: u32,
    /// How many of these from one address (of IPv6: one network of 64 bits)
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_per_source: u32,
    /// How many connections one peer may have open
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_per_peer: u32,
    /// How long connecting and a handshake may take each, in seconds
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
}

#[derive(Args)]
pub struct Connect {
    #[command(flatten)]
    pub server: Server,
    #[command(flatten)]
    pub listen: Listen,
}

/// The server, as a client knows it.
#[derive(Args)]
pub struct Server {
    /// The private key file (made by tunnel keygen)
    #[arg(short, long, value_name = "FILE")]
    pub key_file: PathBuf,
    /// The server's public key file
    #[arg(long = "peer", value_name = "FILE")]
    pub peer: PathBuf,
    /// The server: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub connect: String,
    /// How long connecting and a handshake may take each, in seconds
    #[arg(long = "timeout", value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,
}

#[derive(Args)]
pub struct Listen {
    /// Where connections are taken: HOST:PORT (port 0 for any) or unix:PATH; may be repeated
    #[arg(long = "listen", value_name = "ADDRESS", required = true)]
    pub addresses: Vec<String>,
    /// How many connections may be open at a time
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_connections: u32,
    /// How long open connections may go on after SIGTERM or SIGINT, in seconds
    #[arg(long = "grace", value_name = "SECONDS", default_value_t = 30)]
    pub grace_seconds: u32,
    /// Serve counters at this Unix socket, as text for Prometheus
    #[arg(long, value_name = "PATH")]
    pub metrics: Option<PathBuf>,
}
