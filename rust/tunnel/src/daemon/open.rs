//! The connections that are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use veriplex::hybrid::Fingerprint;

use super::failed::Failed;
use super::metrics::Reason;

/// How many connections are open, in all and per peer.
#[derive(Default)]
pub struct Open {
    pub all: watch::Sender<usize>,
    of_peers: Mutex<HashMap<Fingerprint, usize>>,
}

/// One of them, given back on drop.
pub struct OpenPlace(Arc<Open>);

/// The same of a peer.
pub struct OfPeer(Arc<Open>, Fingerprint);

impl Open {
    pub fn len(&self) -> usize {
        *self.all.borrow()
    }

    pub fn enter(self: &Arc<Self>, limit: usize) -> Result<OpenPlace, Failed> {
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

    pub fn enter_as(self: &Arc<Self>, peer: Fingerprint, limit: usize) -> Result<OfPeer, Failed> {
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
