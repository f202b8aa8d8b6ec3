//! Connections whose peers are still unknown.
//!
//! Their number is limited, in all and per source. A connection above the limit pushes out another: one of its own
//! source if that has its full share, otherwise one of the source that has the most. Chance decides which, so that a
//! flood cannot choose. So a source that opens many silent connections keeps out only its own.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Where connections come from: an IPv4 address, an IPv6 /64 network, or a local user through a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
    Local(Option<u32>),
}

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

/// How many connections may be pending.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In all.
    pub all: usize,
    /// From one address, IPv6 network or user.
    pub per_source: usize,
}

#[derive(Default)]
pub struct Pending {
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    next: u64,
    len: usize,
    /// Dropping a sender pushes its connection out. No list is empty.
    sources: HashMap<Source, Vec<(u64, oneshot::Sender<()>)>>,
}

impl Places {
    fn len_of(&self, source: Source) -> usize {
        self.sources.get(&source).map_or(0, Vec::len)
    }

    /// Removes the place that `choose` selects.
    fn remove(
        &mut self,
        source: Source,
        choose: impl FnOnce(&[(u64, oneshot::Sender<()>)]) -> Option<usize>,
    ) {
        if let Some(places) = self.sources.get_mut(&source)
            && let Some(at) = choose(places)
        {
            places.swap_remove(at);
            self.len -= 1;
            if places.is_empty() {
                self.sources.remove(&source);
            }
        }
    }

    /// Pushes out one connection of a source, but not its newest.
    fn push_out(&mut self, source: Source) {
        self.remove(source, |places| match places.len() {
            0 => None,
            1 => Some(0),
            len => Some(usize::try_from(random() % (len as u64 - 1)).unwrap_or(0)),
        });
    }

    /// The source with the most places, or one of those if there are several.
    fn largest(&self) -> Option<Source> {
        let most = self.sources.values().map(Vec::len).max()?;
        let mut largest = self.sources.iter().filter(|(_, places)| places.len() == most);
        let which = random() % (largest.clone().count() as u64);
        largest
            .nth(usize::try_from(which).unwrap_or(0))
            .map(|(source, _)| *source)
    }
}

impl Pending {
    /// A place, which is returned on drop, and what becomes ready when it is lost.
    pub fn enter(
        self: &Arc<Self>,
        source: Source,
        limits: Limits,
    ) -> (Place, impl Future<Output = ()> + Send + use<>) {
        let (sender, receiver) = oneshot::channel();
        let mut places = self.places();
        // Before the newcomer is added, so that it is not pushed out itself.
        if places.len_of(source) >= limits.per_source {
            places.push_out(source);
        } else if places.len >= limits.all
            && let Some(largest) = places.largest()
        {
            places.push_out(largest);
        }
        let number = places.next;
        places.next += 1;
        places.len += 1;
        places.sources.entry(source).or_default().push((number, sender));
        let place = Place {
            pending: self.clone(),
            source,
            number,
        };
        // Nothing is ever sent.
        (place, async { drop(receiver.await) })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places().len
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Not for secrets. Without random numbers from the system it is always the same, so that a flood can choose.
fn random() -> u64 {
    getrandom::u64().unwrap_or(0)
}

pub struct Place {
    pending: Arc<Pending>,
    source: Source,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        let (source, number) = (self.source, self.number);
        self.pending
            .places()
            .remove(source, |places| places.iter().position(|place| place.0 == number));
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    type Entered = (Place, Pin<Box<dyn Future<Output = ()>>>);

    fn enter(pending: &Arc<Pending>, source: Source, limits: Limits) -> Entered {
        let (place, out) = pending.enter(source, limits);
        (place, Box::pin(out))
    }

    fn is_out((_, future): &mut Entered) -> bool {
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }

    const fn limits(all: usize, per_source: usize) -> Limits {
        Limits { all, per_source }
    }

    fn v4(last: u8) -> Source {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)).into()
    }

    #[test]
    fn sources() {
        let v6 = |text: &str| Source::from(IpAddr::V6(text.parse::<Ipv6Addr>().unwrap()));
        assert_eq!(v6("2001:db8:1:2::1"), v6("2001:db8:1:2:ffff::9"));
        assert_ne!(v6("2001:db8:1:2::1"), v6("2001:db8:1:3::1"));
        assert_eq!(v6("::ffff:192.0.2.7"), v4(7));
    }

    /// One source opens any number of connections: those of others stay.
    #[test]
    fn a_flood_pushes_out_its_own() {
        let (pending, limits) = (Arc::default(), limits(20, 100));
        let mut honest: Vec<_> = (0..9).map(|i| enter(&pending, v4(i), limits)).collect();
        let mut flood = Vec::new();
        for _ in 0..10_000 {
            flood.push(enter(&pending, v4(100), limits));
            assert!(pending.len() <= 20);
        }
        assert!(!honest.iter_mut().any(is_out));
        let left = flood.iter_mut().map(is_out).filter(|is_out| !is_out);
        assert_eq!(left.count(), 11);
        // Places that were taken away give nothing back.
        drop(flood);
        assert_eq!(pending.len(), 9);
        drop(honest);
        assert_eq!((pending.len(), pending.places().sources.len()), (0, 0));
    }

    /// Sources with one connection each: it is not always the same that makes room.
    #[test]
    fn among_equals_chance_decides() {
        let (pending, limits) = (Arc::default(), limits(20, 3));
        let mut places: Vec<_> = (0..20).map(|i| enter(&pending, v4(i), limits)).collect();
        let mut victims = std::collections::HashSet::new();
        for _ in 0..200 {
            drop(enter(&pending, v4(100), limits));
            let victim = places.iter_mut().position(is_out).expect("one made room");
            victims.insert(victim);
            places[victim] = enter(&pending, v4(u8::try_from(victim).unwrap()), limits);
        }
        assert!(victims.len() > 10, "{victims:?}");
    }

    #[test]
    fn a_source_has_its_share_only() {
        let (pending, limits) = (Arc::default(), limits(100, 3));
        let mut places: Vec<_> = (0..10).map(|_| enter(&pending, v4(1), limits)).collect();
        assert_eq!(pending.len(), 3);
        assert!(!is_out(places.last_mut().unwrap()), "the newest has its chance");
    }
}
