//! Connections between peers that know each other's [hybrid public keys](veriplex::hybrid), over any tokio stream:
//! [`veriplex::tunnel`] with input and output.
//!
//! [`connect`] and [`accept`] run the handshake over a stream, such as a TCP connection, and return a [`Stream`], which
//! is `AsyncRead` and `AsyncWrite`. It is secure if either Ristretto255 or ML-KEM-768 is; it has forward secrecy; its
//! keys are renewed every two minutes.
//!
//! ```
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use veriplex::{hybrid::PrivateKey, label, os_rng};
//! use veriplex_tunnel::{Config, accept, connect};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new(label!("com.example.chat"));
//! let (alice, bob) = (PrivateKey::generate(&mut os_rng())?, PrivateKey::generate(&mut os_rng())?);
//! let allowed = alice.public_key().clone();
//! let bobs = bob.public_key().clone();
//! let (client, server) = tokio::io::duplex(1000); // in practice, a TCP connection
//!
//! let server = async {
//!     let mut stream = accept(server, &config, &bob, |peer| *peer == allowed).await?;
//!     let mut question = String::new();
//!     stream.read_to_string(&mut question).await?; // to its end: a connection that was cut is an error
//!     stream.write_all(format!("{question} Yes.").as_bytes()).await?;
//!     stream.shutdown().await?;
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! };
//! let client = async {
//!     let mut stream = connect(client, &config, &alice, &bobs).await?;
//!     stream.write_all(b"Is it you?").await?;
//!     stream.shutdown().await?; // of this direction
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer).await?;
//!     assert_eq!(answer, "Is it you? Yes.");
//!     Ok(())
//! };
//! tokio::try_join!(server, client)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Time
//!
//! A silent peer keeps [`connect`] and [`accept`] waiting, so use `tokio::time::timeout`. Dropping their future drops
//! the connection.
//!
//! # The daemon
//!
//! The feature `daemon` has, on Unixes, the module `daemon`, which the program `veriplex tunnel` runs.

#![forbid(unsafe_code)]

mod below;
#[cfg(all(feature = "daemon", unix))]
pub mod daemon;
mod handshake;
mod stream;

use std::time::Duration;
use std::{fmt, io};

use veriplex::Label;

pub use handshake::{accept, connect};
pub use stream::Stream;

/// How often keys are renewed at least, while data flow.
const RENEWAL_INTERVAL: Duration = Duration::from_mins(2);
/// More often would never end: an end that reads a renewal, and is due, renews too.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_secs(1);
/// After how many bytes keys are renewed at the latest.
const RENEWAL_BYTES: u64 = 1 << 32;

/// What both ends agree on, and when this end renews its keys.
///
/// Both ends should renew equally often. An end accepts 16 renewals within its own interval, plus any that come after a
/// quarter of its own bytes; more are an error.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    domain: Label<'static>,
    renewal_interval: Duration,
    renewal_bytes: u64,
}

impl Config {
    /// The default: keys are renewed every two minutes while data flow, and after 2^32 bytes at the latest.
    ///
    /// The domain is a string unique to the application and purpose, the same at both ends.
    #[must_use]
    pub const fn new(domain: Label<'static>) -> Self {
        Self {
            domain,
            renewal_interval: RENEWAL_INTERVAL,
            renewal_bytes: RENEWAL_BYTES,
        }
    }

    /// Renews more often: at this interval, from one second to two minutes (others are replaced by the nearest of
    /// these).
    #[must_use]
    pub fn renewal_interval(self, interval: Duration) -> Self {
        Self {
            renewal_interval: interval.clamp(MIN_RENEWAL_INTERVAL, RENEWAL_INTERVAL),
            ..self
        }
    }

    /// Renews more often: after this many bytes, from 1 to 2^32 (others are replaced by the nearest of these).
    #[must_use]
    pub fn renewal_bytes(self, bytes: u64) -> Self {
        Self {
            renewal_bytes: bytes.clamp(1, RENEWAL_BYTES),
            ..self
        }
    }
}

/// Why there is no connection. The peer only sees the connection closed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The stream failed, or ended in the handshake ([`io::ErrorKind::UnexpectedEof`]).
    Io(io::Error),
    /// What the peer sent does not belong to this protocol, domain and key.
    Verification,
    /// The initiator's key is not allowed.
    Refused,
    /// The system's generator gave only zeros.
    Generator,
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("closed during the handshake")
            }
            Self::Io(error) => error.fmt(f),
            Self::Verification => f.write_str("verification failed"),
            Self::Refused => f.write_str("the peer's key is not allowed"),
            Self::Generator => f.write_str("the system's random number generator is broken"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
