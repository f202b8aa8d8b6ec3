//! What a tunnel is to do.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use veriplex::hybrid::{Fingerprint, PublicKey};
use veriplex_files::terminal_quoting::visible;

use super::log::Format;
use super::pending::Limits;
use super::socket::Address;

/// What a tunnel does. It can be changed while the tunnel runs.
#[derive(Debug)]
pub struct Settings {
    /// The private key's file. Changes of it, of `metrics` or of `log` take effect only after a restart.
    pub key_file: PathBuf,
    /// Where connections go.
    pub connect: Address,
    /// Where connections come from. No address occurs twice.
    pub listeners: Vec<Listening>,
    /// How long connecting and the handshake may take.
    pub timeout: Duration,
    /// How long open connections may continue when the daemon stops.
    pub grace: Duration,
    /// How many connections may be open.
    pub max_connections: usize,
    /// The Unix socket with metrics for Prometheus.
    pub metrics: Option<PathBuf>,
    /// The form of lines in the log.
    pub log: Format,
    /// Whether data may pass through Unix sockets.
    pub allow_unix: bool,
    /// Which end of the tunnel this is.
    pub role: Role,
}

/// An end of the tunnel.
#[derive(Debug)]
pub enum Role {
    /// It accepts tunnels.
    Server {
        /// Who may connect.
        allowed: Allowed,
        /// The maximum number of simultaneous handshakes.
        pending: Limits,
        /// The maximum number of open connections per peer.
        max_per_peer: usize,
    },
    /// It makes tunnels.
    Client {
        /// The server.
        peer: PublicKey,
    },
}

/// A listener: its address, and the proxies that say who connects. If there are any, only they may connect.
#[derive(Debug)]
pub struct Listening {
    /// Its address.
    pub address: Address,
    /// Its proxies.
    pub proxies: Option<Vec<Proxy>>,
}

/// The peers that may connect, with their names for the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Allowed(HashMap<Fingerprint, String>);

impl Allowed {
    /// Whether nobody may connect.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of a peer that is allowed.
    #[must_use]
    pub fn name(&self, fingerprint: &Fingerprint) -> Option<&str> {
        self.0.get(fingerprint).map(String::as_str)
    }

    /// The log shows the name, with escapes for anything but text, or the fingerprint if there is none.
    pub fn insert(&mut self, fingerprint: Fingerprint, name: &str) {
        let name = if name.is_empty() {
            fingerprint.to_string()
        } else {
            visible(name)
        };
        self.0.insert(fingerprint, name);
    }
}

/// Who may send a PROXY protocol header: a network, or anyone who reaches a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// An address, and how many of its leading bits are compared.
    Network(IpAddr, u32),
    /// A Unix socket.
    Local,
}

impl Proxy {
    /// `ADDRESS`, `ADDRESS/BITS` or `unix`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "unix" {
            return Some(Self::Local);
        }
        let (address, len) = match text.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let max: u32 = if address.is_ipv4() { 32 } else { 128 };
        let len = match len {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
            Some(_) => return None,
            None => max,
        };
        let rest = max.checked_sub(len)?;
        // IPv4-mapped IPv6 addresses count as IPv4, as for connections.
        match address.to_canonical() {
            IpAddr::V4(address) if rest <= 32 => Some(Self::Network(address.into(), 32 - rest)),
            _ => Some(Self::Network(address, len)),
        }
    }

    /// Whether a connection from this address (none: through a Unix socket) is from here.
    #[must_use]
    pub fn includes(self, address: Option<IpAddr>) -> bool {
        // Without the leading bits; a network of length 0 has none.
        let differ =
            |a: u128, b: u128, bits: u32, len: u32| (a ^ b).checked_shr(bits - len).unwrap_or(0) != 0;
        match (self, address.map(|address| address.to_canonical())) {
            (Self::Local, None) => true,
            (Self::Network(IpAddr::V4(network), len), Some(IpAddr::V4(address))) => {
                !differ(network.to_bits().into(), address.to_bits().into(), 32, len)
            }
            (Self::Network(IpAddr::V6(network), len), Some(IpAddr::V6(address))) => {
                !differ(network.to_bits(), address.to_bits(), 128, len)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies() {
        let includes = |proxy: &str, address: &str| {
            let address = (address != "unix").then(|| address.parse().unwrap());
            Proxy::parse(proxy).unwrap().includes(address)
        };
        for (proxy, inside, outside) in [
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("192.0.2.0/24", "::ffff:192.0.2.255", "192.0.3.0"),
            ("::ffff:192.0.2.0/120", "192.0.2.255", "192.0.3.0"),
            ("::ffff:192.0.2.7", "::ffff:192.0.2.7", "192.0.2.6"),
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("10.9.9.9/8", "10.0.0.1", "unix"),
            ("0.0.0.0/0", "203.0.113.1", "::1"),
            ("::/0", "::1", "203.0.113.1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::1", "::1", "::2"),
            ("unix", "unix", "127.0.0.1"),
        ] {
            assert!(includes(proxy, inside), "{proxy} {inside}");
            assert!(!includes(proxy, outside), "{proxy} {outside}");
        }
        for wrong in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0/8",
            "10.0.0.0/+8",
            "host",
            "UNIX",
            " ::1",
        ] {
            assert_eq!(Proxy::parse(wrong), None, "{wrong}");
        }
    }
}
