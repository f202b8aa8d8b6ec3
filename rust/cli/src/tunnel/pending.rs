//! Connections that have not shown who they are.
//!
//! Their number is bounded, and the newest pushes out the oldest. So whoever opens many silent connections keeps others
//! out only by opening them faster than a handshake takes.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

pub struct Pending {
    limit: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// In order of arrival. Dropping a sender pushes its connection out.
    places: VecDeque<(u64, oneshot::Sender<()>)>,
}

impl Pending {
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            queue: Mutex::default(),
        })
    }

    /// A place, which is given back on drop, and what is ready when it was taken away.
    pub fn enter(self: &Arc<Self>) -> (Place, impl Future<Output = ()> + use<>) {
        let (sender, receiver) = oneshot::channel();
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        queue.places.push_back((number, sender));
        if queue.places.len() > self.limit {
            queue.places.pop_front();
        }
        let place = Place {
            pending: self.clone(),
            number,
        };
        // Nothing is ever sent.
        (place, async { drop(receiver.await) })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Place {
    pending: Arc<Pending>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut queue = self.pending.queue();
        if let Ok(at) = queue.places.binary_search_by_key(&self.number, |place| place.0) {
            queue.places.remove(at);
        }
    }
}
