//! Counters, as text for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use super::relay::Bytes;

/// Why a connection was not made, or did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Reason {
    Proxy,
    PushedOut,
    Timeout,
    Closed,
    Verification,
    Refused,
    TooMany,
    TooManyOfPeer,
    Unreachable,
    Cut,
    Other,
}

const REASONS: [&str; 11] = [
    "proxy",
    "evicted",
    "timeout",
    "closed",
    "verification",
    "refused",
    "too_many",
    "too_many_of_peer",
    "unreachable",
    "cut",
    "other",
];

impl Reason {
    pub fn name(self) -> &'static str {
        REASONS[self as usize]
    }
}

#[derive(Default)]
pub struct Metrics {
    pub accepted: AtomicU64,
    pub opened: AtomicU64,
    pub closed: AtomicU64,
    pub renewals: AtomicU64,
    pub bytes: Bytes,
    failed: [AtomicU64; REASONS.len()],
}

impl Metrics {
    pub fn fail(&self, reason: Reason) {
        self.failed[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The text, with what others count.
    pub fn text(&self, pending: usize, open: usize, dropped: u64) -> String {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut text = String::new();
        for (name, kind, value) in [
            ("connections_accepted_total", "counter", of(&self.accepted)),
            ("connections_opened_total", "counter", of(&self.opened)),
            ("connections_closed_total", "counter", of(&self.closed)),
            ("connections_pending", "gauge", pending as u64),
            ("connections_open", "gauge", open as u64),
            ("sent_bytes_total", "counter", of(&self.bytes.sent)),
            ("received_bytes_total", "counter", of(&self.bytes.received)),
            ("renewals_total", "counter", of(&self.renewals)),
            ("log_lines_dropped_total", "counter", dropped),
        ] {
            let _ = writeln!(
                text,
                "# TYPE veriplex_tunnel_{name} {kind}\nveriplex_tunnel_{name} {value}"
            );
        }
        text.push_str("# TYPE veriplex_tunnel_failed_total counter\n");
        for (reason, count) in REASONS.iter().zip(&self.failed) {
            let _ = writeln!(
                text,
                "veriplex_tunnel_failed_total{{reason=\"{reason}\"}} {}",
                of(count)
            );
        }
        text
    }
}
