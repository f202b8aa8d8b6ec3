//! The double ratchet (Perrin and Marlinspike, "The Double Ratchet Algorithm", revision 1): messages between two sides
//! that may be lost, reordered or repeated, each under a key of its own, with a new Diffie-Hellman step whenever the
//! direction changes or on demand.
//!
//! A message is [`OVERHEAD`] = 56 bytes longer than its plaintext.
//!
//! It starts from a session of [`handshake`](crate::handshake) or [`pake`](crate::pake), each side with a new key, which
//! `into_ratchet` makes:
//!
//! ```
//! use veriplex::{handshake::{Initiator, Responder}, keys::PrivateKey, label};
//!
//! let mut rng = veriplex::os_rng();
//! let (alice, bob) = (PrivateKey::generate(&mut rng), PrivateKey::generate(&mut rng)); // their long-term keys
//! let domain = label!("com.example.chat");
//! let (initiator, request) = Initiator::start(domain, &alice, &mut rng);
//! let (responder, response) = Responder::respond(domain, &bob, &request, &mut rng)?;
//! let (alices, confirmation) = initiator.receive(&response)?.accept(); // if `peer` is whom Alice expects
//! let bobs = responder.receive(&confirmation)?.accept();
//!
//! let (alice, to_bob) = alices.into_ratchet(&mut rng); // may be sent with the confirmation
//! let (bob, to_alice) = bobs.into_ratchet(&mut rng);
//! let (mut alice, mut bob) = (alice.receive(&to_alice, &mut rng)?, bob.receive(&to_bob, &mut rng)?);
//!
//! let first = alice.seal_vec(b"first")?;
//! let second = alice.seal_vec(b"second")?;
//! assert_eq!(bob.open_vec(&second, &mut rng)?, b"second"); // in any order
//! assert_eq!(bob.open_vec(&first, &mut rng)?, b"first");
//! let answer = bob.seal_vec(b"answer")?;
//! assert_eq!(alice.open_vec(&answer, &mut rng)?, b"answer");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! For a secret from elsewhere there are [`Ratchet::initiator`] and [`Ratchet::responder`]. In a session, its directions
//! take the place of the branches `role`: each side seals its first key under `ratchet`, and the side whose first public
//! key has the smaller bytes is the initiator.
//!
//! A message is the sender's public key (32 bytes), the number of the message in its chain and the length of the chain
//! before (4 bytes each, little endian), and the sealed plaintext. This header is authenticated but not encrypted: the
//! format has no room for more, so an observer sees which messages belong together.
//!
//! # Steps
//!
//! The first message of a peer's new chain makes us step too, if it uses our newest key, which shows that the peer has
//! received a message of our chain. So no loss stops a conversation, and the sides step in turn.
//!
//! Chains follow from each other: the peer needs at least one message of a chain before it can open those of the next.
//! Only a voluntary step ([`Ratchet::ratchet`]) can end a chain of which the peer has received nothing; all that follows is
//! then refused for ever. And if a voluntary step crosses a step of the peer, each uses an older key of the other:
//! neither side steps again before the next voluntary step. So step when an answer has shown that the last messages arrived.
//!
//! # Bounds
//!
//! At most 1000 messages in a row may be missing from a chain, or the next is refused. The keys of missing messages are
//! kept: 1000 of a chain and 2000 in all, about 300 KiB. Then the oldest go, and their messages can no longer be
//! opened. A message that cannot be opened changes nothing. It costs at most 1000 steps of the symmetric chain and, for
//! each key of ours that the peer may have (most often one or two, 17 at most), a Diffie-Hellman step and 1000 more.
//!
//! If more are lost, everything that follows in that direction is refused until [`Ratchet::open_vec_skipping`] opens
//! one message with a larger limit, which [`Ratchet::missing`] reports. The older keys of missing messages are then
//! deleted, and the usual limit suffices again. A forger can make us take as many steps as the limit allows, each a few
//! permutations, so raise it only for messages that are likely to be the peer's.
//!
//! As long as the key of a missing message is kept, the message can be opened: by us, and by whoever steals the state.
//! So delete old keys when you no longer expect their messages: [`Ratchet::forget_missing`].
//!
//! A message has one tag, at its end. So a forged one with a new public key is decrypted to its end with each key of
//! ours that the peer may have. Before large messages, send a small one that is verified first:
//! [`Ratchet::setup_sender`] gives one, and a protocol for the rest.
//!
//! A peer's public key that has been used before is refused as long as keys of missing messages of its chain are kept.
//!
//! # Copies
//!
//! Two copies of a ratchet would send different messages under one key, which shows an observer their difference. So it
//! cannot be cloned, and a state that was sealed ([`Ratchet::seal_state`]) must not be restored after a
//! later one was used to send.
//!
//! ```compile_fail,E0599
//! # fn copy(ratchet: veriplex::ratchet::Ratchet) {
//! let second = ratchet.clone();
//! # }
//! ```

mod begin;
mod chain;
mod header;
mod skipped;
mod state;

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use crate::base::wipe::opaque;
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Protocol, TAG_LEN, label};
pub use begin::{FIRST_KEY_LEN, Pending};

use chain::{Receiving, Sending, step};
use header::Header;
use skipped::Skipped;

/// Size in bytes of a message's header.
pub const HEADER_LEN: usize = PublicKey::LEN + 8;
/// How many bytes longer a message is than its plaintext.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

/// The header, and the rest, which has a tag.
fn split(message: &[u8]) -> Result<(&[u8; HEADER_LEN], &[u8]), Error> {
    let parts = message.split_first_chunk();
    parts
        .filter(|(_, rest)| rest.len() >= TAG_LEN)
        .ok_or(Error::TooShort)
}
/// The largest number of messages that may be missing from a chain before one that is opened.
pub const MAX_SKIPPED: u32 = 1000;
/// The largest number of keys of missing messages that are kept, over all chains.
pub const MAX_STORED: usize = 2000;
/// The largest number of chains that may have begun after the last chain from which the peer is known to have received.
pub const MAX_UNANSWERED: usize = 16;

/// One side of a conversation.
pub struct Ratchet {
    sending: Sending,
    receiving: Receiving,
    skipped: Skipped,
}

impl Ratchet {
    /// The side that begins, with a first step: `base` holds a secret that only the responder has too. From a handshake or
    /// a password, use `into_ratchet` instead.
    ///
    /// `local` must be a new key for this conversation alone, as it becomes a part of the state; `remote` is that of
    /// the peer, which you must authenticate.
    ///
    /// # Errors
    ///
    /// None for valid keys.
    pub fn initiator<R: CryptoRng + ?Sized>(
        base: Protocol,
        local: PrivateKey,
        remote: PublicKey,
        rng: &mut R,
    ) -> Result<Self, Error> {
        let [send, recv] = roles(base);
        let mut ratchet = Self::new(send, recv, local, remote);
        ratchet.ratchet(rng)?;
        Ok(ratchet)
    }

    /// The other side, with keys as there. It may send before it receives; what it then sends has no Diffie-Hellman step of its own.
    #[must_use]
    pub fn responder(base: Protocol, local: PrivateKey, remote: PublicKey) -> Self {
        let [recv, send] = roles(base);
        Self::new(send, recv, local, remote)
    }

    fn new(send: Protocol, recv: Protocol, local: PrivateKey, remote: PublicKey) -> Self {
        Self {
            sending: Sending {
                protocol: send,
                n: 0,
                prev_n: 0,
                current: local,
                older: Vec::new(),
                fresh: None,
            },
            receiving: Receiving {
                protocol: recv,
                n: 0,
                remote,
            },
            skipped: Skipped::default(),
        }
    }

    /// Seals a message: 56 bytes more than its plaintext.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] if the chain has 2^32 - 1 messages: [`Ratchet::ratchet`] begins another.
    pub fn seal_vec(&mut self, plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let (header, mut key) = self.next_key()?;
        let mut message = Vec::with_capacity(plaintext.len() + OVERHEAD);
        message.extend_from_slice(&header);
        message.extend_from_slice(plaintext);
        let tag = key.seal_in_place_detached(label!("message"), &mut message[HEADER_LEN..]);
        message.extend_from_slice(&tag);
        Ok(message)
    }

    /// A protocol for something large, and the message of 56 bytes from which the peer computes it with
    /// [`Ratchet::setup_receiver`]. The message is that of an empty plaintext.
    ///
    /// A forged message of [`Ratchet::seal_vec`] is decrypted once for each key of ours that the peer may have. Here
    /// only the 56 bytes are, and the rest once, with the right key.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] as for [`Ratchet::seal_vec`].
    pub fn setup_sender(&mut self) -> Result<([u8; OVERHEAD], Protocol), Error> {
        let (header, mut key) = self.next_key()?;
        let tag = key.seal_in_place_detached(label!("message"), &mut []);
        let mut message = [0; OVERHEAD];
        message[..HEADER_LEN].copy_from_slice(&header);
        message[HEADER_LEN..].copy_from_slice(&tag);
        Ok((message, key))
    }

    /// The header of the next message, and its key.
    fn next_key(&mut self) -> Result<([u8; HEADER_LEN], Protocol), Error> {
        let sending = &mut self.sending;
        let next = sending.n.checked_add(1).ok_or(Error::LimitReached)?;
        if let Some(fresh) = sending.fresh.take() {
            let earlier = core::mem::replace(&mut sending.current, fresh.local.clone());
            sending.older.push(Box::new(earlier));
        }
        let header = Header {
            public: sending.current.public_key().to_bytes(),
            n: sending.n,
            prev_n: sending.prev_n,
        }
        .to_bytes();
        let mut key = step(&mut sending.protocol, sending.n);
        sending.n = next;
        key.mix(label!("header"), &header);
        Ok((header, key))
    }

    /// Opens a message. The first message of a new chain that uses our newest key makes us step too, which takes 64 bytes
    /// from `rng`.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the message is not one that the peer sealed, was opened before, comes after more than
    /// 1000 missing ones, or its key was dropped; [`Error::TooShort`] if it has fewer than 56 bytes. The ratchet is then as
    /// it was.
    pub fn open_vec<R: CryptoRng + ?Sized>(&mut self, message: &[u8], rng: &mut R) -> Result<Vec<u8>, Error> {
        self.open_vec_skipping(message, MAX_SKIPPED, rng)
    }

    /// How many messages are missing before this one, as its header has it: the smallest limit with which
    /// [`Ratchet::open_vec_skipping`] can open it. Nothing is verified.
    ///
    /// # Errors
    ///
    /// [`Error::TooShort`] if it has fewer than 56 bytes.
    pub fn missing(&self, message: &[u8]) -> Result<u32, Error> {
        let (header, _) = split(message)?;
        let Header { public, n, prev_n } = Header::from_bytes(header);
        let skipped = |n: u32| n.saturating_sub(self.receiving.n);
        Ok(if self.skipped.get(&public, n).is_some() {
            0
        } else if public == *self.receiving.remote.as_bytes() {
            skipped(n)
        } else {
            skipped(prev_n).max(n)
        })
    }

    /// [`Ratchet::open_vec`] where up to `limit` messages in a row may be missing, instead of 1000. The keys of the
    /// last 1000 of them are kept. The others are deleted, so their messages can no longer be opened.
    ///
    /// Even a forged message may cost `limit` steps of the symmetric chain, and as many more for each key of ours that
    /// the peer may have.
    ///
    /// # Errors
    ///
    /// As there, with this limit.
    pub fn open_vec_skipping<R: CryptoRng + ?Sized>(
        &mut self,
        message: &[u8],
        limit: u32,
        rng: &mut R,
    ) -> Result<Vec<u8>, Error> {
        self.open(message, limit, rng, |mut key, sealed| {
            key.open_vec(label!("message"), sealed)
        })
    }

    /// The protocol of [`Ratchet::setup_sender`]. It is the peer's: the message is verified.
    ///
    /// # Errors
    ///
    /// As for [`Ratchet::open_vec_skipping`], and [`Error::Verification`] if there are more than 56 bytes.
    pub fn setup_receiver<R: CryptoRng + ?Sized>(
        &mut self,
        message: &[u8],
        limit: u32,
        rng: &mut R,
    ) -> Result<Protocol, Error> {
        self.open(message, limit, rng, |mut key, tag| {
            let tag = tag.try_into().map_err(|_| Error::Verification)?;
            key.open_in_place_detached(label!("message"), &mut [], tag)?;
            Ok(key)
        })
    }

    /// Finds the key of a message: the one with which `open` succeeds.
    fn open<T, R: CryptoRng + ?Sized>(
        &mut self,
        message: &[u8],
        limit: u32,
        rng: &mut R,
        open: impl Fn(Protocol, &[u8]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (header, sealed) = split(message)?;
        let Header { public, n, prev_n } = Header::from_bytes(header);
        // The last number is never sent, so that the next one is always a number.
        if n == u32::MAX {
            return Err(Error::Verification);
        }
        let open = |mut key: Protocol| {
            key.mix(label!("header"), header);
            open(key, sealed)
        };

        if let Some(key) = self.skipped.get(&public, n) {
            let opened = open(key.clone())?;
            self.skipped.remove(&public, n);
            return Ok(opened);
        }
        let mut receiving = self.receiving.clone();
        if public == *receiving.remote.as_bytes() {
            let missing = receiving.skip_to(n, limit)?;
            let opened = open(receiving.step())?;
            self.skipped.add(public, missing);
            self.receiving = receiving;
            return Ok(opened);
        }
        // A key of an earlier chain. No honest peer uses one twice, and two chains under one key could not be told
        // apart.
        if self.skipped.has(&public) {
            return Err(Error::Verification);
        }

        let remote = PublicKey::from_bytes(&public).map_err(|_| Error::Verification)?;
        let missing_before = receiving.skip_to(prev_n, limit)?;
        let before = receiving.remote;
        for index in (0..=self.sending.older.len()).rev() {
            let local = self
                .sending
                .older
                .get(index)
                .map_or(&self.sending.current, |key| key);
            let mut receiving = Receiving {
                protocol: receiving.protocol.clone(),
                n: 0,
                remote,
            };
            local.mix_shared(&remote, &mut receiving.protocol, label!("dh"))?;
            let missing = receiving.skip_to(n, limit)?;
            if let Ok(opened) = open(receiving.step()) {
                // The peer has this key, and will not go back to an older one.
                let is_newest = index == self.sending.older.len();
                // With an older one, it may have nothing of our chain, and could never open the next.
                let next = if is_newest || self.sending.fresh.is_some() {
                    Some(self.sending.next(&remote, rng)?)
                } else {
                    None
                };
                self.sending.older.drain(..index);
                if let Some((protocol, fresh)) = next {
                    self.sending.begin(protocol, fresh);
                }
                self.receiving = receiving;
                self.skipped.add(before.to_bytes(), missing_before);
                self.skipped.add(public, missing);
                return Ok(opened);
            }
        }
        Err(Error::Verification)
    }

    /// Deletes the keys of missing messages of all chains but the newest `chains`: their messages can no longer be
    /// opened, not even by whoever steals the state later. 0 deletes all of them.
    pub fn forget_missing(&mut self, chains: usize) {
        self.skipped.keep(chains);
    }

    /// A voluntary step: a new key, and with it a new chain. It works in every state, and several times in a row. But
    /// if all messages of the chain that it ends are lost, the peer can open no later one
    /// ([Steps](crate::ratchet#steps)).
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] if the peer may not have seen any of the last 16 chains: its answer makes room.
    pub fn ratchet<R: CryptoRng + ?Sized>(&mut self, rng: &mut R) -> Result<(), Error> {
        if self.sending.fresh.is_none() && self.sending.older.len() == MAX_UNANSWERED {
            return Err(Error::LimitReached);
        }
        let (protocol, fresh) = self.sending.next(&self.receiving.remote, rng)?;
        self.sending.begin(protocol, fresh);
        Ok(())
    }
}

/// What the initiator sends with, and what the responder sends with.
fn roles(mut base: Protocol) -> [Protocol; 2] {
    base.fork(label!("role"), ["initiator", "responder"])
}

opaque!(Ratchet);

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that no test can reach by sending.
    #[test]
    fn numbers_end() {
        let key = |byte| PrivateKey::from_uniform_bytes([byte; 64]).unwrap();
        let base = Protocol::new(label!("test"));
        let mut alice = Ratchet::responder(base.clone(), key(1), *key(2).public_key());
        alice.sending.n = u32::MAX - 1;
        let last = alice.seal_vec(b"last").unwrap();
        assert_eq!(alice.seal_vec(b"one more"), Err(Error::LimitReached));

        let [send, recv] = roles(base);
        let mut bob = Ratchet::new(send, recv, key(2), *key(1).public_key());
        bob.receiving.n = u32::MAX - 1;
        assert_eq!(bob.open_vec(&last, &mut NoRng).unwrap(), b"last");
        let mut beyond = last;
        beyond[PublicKey::LEN] = 0xff;
        assert_eq!(bob.open_vec(&beyond, &mut NoRng), Err(Error::Verification));
    }

    struct NoRng;

    impl rand_core::TryRng for NoRng {
        type Error = core::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!()
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            unreachable!()
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!()
        }
    }

    impl rand_core::TryCryptoRng for NoRng {}
}
