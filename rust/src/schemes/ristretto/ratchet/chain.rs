//! The two directions: a chain of keys each, and the step to the next chain.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::MAX_SKIPPED;
use super::skipped::MessageKey;
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Protocol, label};

pub(super) struct Sending {
    pub(super) protocol: Protocol,
    /// Messages sent on this chain, and on the one before.
    pub(super) n: u32,
    pub(super) prev_n: u32,
    /// The newest key whose public key the peer may have.
    pub(super) current: PrivateKey,
    /// Those before it that the peer may still take for the newest, oldest first. Boxed, because a vector that grows or
    /// shrinks leaves copies.
    #[allow(clippy::vec_box)]
    pub(super) older: Vec<Box<PrivateKey>>,
    /// Where this chain began, as long as nothing was sent on it. Boxed, because what is taken out of an option stays
    /// there.
    pub(super) fresh: Option<Box<Fresh>>,
}

pub(super) struct Fresh {
    pub(super) local: PrivateKey,
    /// The protocol without this chain's `dh`.
    pub(super) before: Protocol,
}

#[derive(Clone)]
pub(super) struct Receiving {
    pub(super) protocol: Protocol,
    /// The number of the next message.
    pub(super) n: u32,
    pub(super) remote: PublicKey,
}

impl Sending {
    /// The start of another chain.
    pub(super) fn next<R: CryptoRng + ?Sized>(
        &self,
        remote: &PublicKey,
        rng: &mut R,
    ) -> Result<(Protocol, Box<Fresh>), Error> {
        // The peer never learns of a chain on which nothing was sent, so the next one begins where that began.
        let before = self.fresh.as_ref().map_or(&self.protocol, |fresh| &fresh.before);
        let local = PrivateKey::generate(rng);
        let mut protocol = before.clone();
        local.mix_shared(remote, &mut protocol, label!("dh"))?;
        let before = before.clone();
        Ok((protocol, Box::new(Fresh { local, before })))
    }

    pub(super) fn begin(&mut self, protocol: Protocol, fresh: Box<Fresh>) {
        self.protocol = protocol;
        if self.fresh.replace(fresh).is_none() {
            self.prev_n = self.n;
            self.n = 0;
        }
    }
}

impl Receiving {
    /// The key of the next message.
    pub(super) fn step(&mut self) -> Protocol {
        let key = step(&mut self.protocol, self.n);
        self.n += 1;
        key
    }

    /// Goes on to message `n`, over `limit` messages at most, and gives the keys of the last of those before it: as
    /// many as are kept.
    pub(super) fn skip_to(&mut self, n: u32, limit: u32) -> Result<Vec<MessageKey>, Error> {
        let count = n.checked_sub(self.n).ok_or(Error::Verification)?;
        if count > limit {
            return Err(Error::Verification);
        }
        for _ in MAX_SKIPPED..count {
            drop(self.step());
        }
        Ok((0..count.min(MAX_SKIPPED))
            .map(|_| MessageKey {
                n: self.n,
                protocol: Box::new(self.step()),
            })
            .collect())
    }
}

/// The key of message `n` of a chain, which goes on.
pub(super) fn step(chain: &mut Protocol, n: u32) -> Protocol {
    chain.mix(label!("n"), &n.to_le_bytes());
    let key = chain.clone();
    chain.ratchet(label!("step"));
    key
}
