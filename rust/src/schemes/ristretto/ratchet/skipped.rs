//! The keys of messages that have not come yet.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{MAX_SKIPPED, MAX_STORED};
use crate::Protocol;
use crate::keys::PublicKey;

/// The key of a message that has not come yet. Boxed, because a collection leaves copies of what it held.
pub(super) struct MessageKey {
    pub(super) n: u32,
    pub(super) protocol: Box<Protocol>,
}

/// The keys of messages that have not come yet, by chain, the oldest first.
#[derive(Default)]
pub(super) struct Skipped {
    pub(super) chains: VecDeque<Chain>,
    pub(super) len: usize,
}

pub(super) struct Chain {
    pub(super) public: [u8; PublicKey::LEN],
    /// In ascending order.
    pub(super) keys: VecDeque<MessageKey>,
}

impl Skipped {
    fn find(&self, public: &[u8; PublicKey::LEN], n: u32) -> Option<(usize, usize)> {
        let chain = self.chains.iter().position(|chain| chain.public == *public)?;
        let key = self.chains[chain]
            .keys
            .binary_search_by_key(&n, |key| key.n)
            .ok()?;
        Some((chain, key))
    }

    pub(super) fn get(&self, public: &[u8; PublicKey::LEN], n: u32) -> Option<&Protocol> {
        let (chain, key) = self.find(public, n)?;
        Some(&self.chains[chain].keys[key].protocol)
    }

    /// Whether there are keys of this chain.
    pub(super) fn has(&self, public: &[u8; PublicKey::LEN]) -> bool {
        self.chains.iter().any(|chain| chain.public == *public)
    }

    /// Drops all but the newest chains.
    pub(super) fn keep(&mut self, chains: usize) {
        while self.chains.len() > chains {
            let oldest = self.chains.pop_front();
            self.len -= oldest.map_or(0, |chain| chain.keys.len());
        }
    }

    pub(super) fn remove(&mut self, public: &[u8; PublicKey::LEN], n: u32) {
        if let Some((chain, key)) = self.find(public, n) {
            self.remove_at(chain, key);
        }
    }

    fn remove_at(&mut self, chain: usize, key: usize) {
        let keys = &mut self.chains[chain].keys;
        keys.remove(key);
        if keys.is_empty() {
            self.chains.remove(chain);
        }
        self.len -= 1;
    }

    /// Adds keys to the newest chain, or those of a newer one.
    pub(super) fn add(&mut self, public: [u8; PublicKey::LEN], missing: Vec<MessageKey>) {
        if missing.is_empty() {
            return;
        }
        self.len += missing.len();
        let known = self.chains.iter().position(|chain| chain.public == public);
        let chain = known.unwrap_or_else(|| {
            let keys = VecDeque::new();
            self.chains.push_back(Chain { public, keys });
            self.chains.len() - 1
        });
        self.chains[chain].keys.extend(missing);
        while self.chains[chain].keys.len() > MAX_SKIPPED as usize {
            self.remove_at(chain, 0);
        }
        while self.len > MAX_STORED {
            self.remove_at(0, 0);
        }
    }
}
