//! Why connections fail.

use std::io;

use veriplex::hybrid::Fingerprint;

use super::metrics::Reason;
use super::relay::Failure;

/// What a closed connection may mean to a client.
pub const CLOSED: &str = "; does the server have this key, and allow ours?";

/// Why a connection failed: for the counters, and in words that reveal nothing secret.
pub struct Failed {
    pub reason: Reason,
    pub peer: Option<String>,
    /// From someone who has not proved to be this peer: the request may be a copy.
    pub claimed: Option<Fingerprint>,
    pub why: String,
}

impl Failed {
    pub fn new(reason: Reason, why: impl Into<String>) -> Self {
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

impl From<crate::Error> for Failed {
    fn from(error: crate::Error) -> Self {
        use crate::Error as E;
        let reason = match &error {
            E::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => Reason::Closed,
            E::Verification => Reason::Verification,
            E::Refused => Reason::Refused,
            _ => Reason::Other,
        };
        Self::new(reason, error.to_string())
    }
}
