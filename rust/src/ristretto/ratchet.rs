//! The double ratchet (Perrin and Marlinspike, "The Double Ratchet Algorithm", revision 1): messages between two sides
//! that may be lost, reordered or repeated, each under a key of its own, with a new Diffie-Hellman step whenever the
//! direction changes or on demand.
//!
//! Both start from a [`Protocol`] that holds a shared secret. The initiator knows the responder's first public key, the
//! responder the initiator's.
//!
#![cfg_attr(feature = "getrandom", doc = "```")]
#![cfg_attr(not(feature = "getrandom"), doc = "```ignore")]
//! use veriplex::{Protocol, keys::PrivateKey, label, ratchet::Ratchet};
//!
//! let mut rng = veriplex::os_rng();
//! let (alice, bob) = (PrivateKey::generate(&mut rng), PrivateKey::generate(&mut rng));
//! let (alice_public, bob_public) = (*alice.public_key(), *bob.public_key());
//! let mut base = Protocol::new(label!("com.example.chat"));
//! base.mix(label!("key"), &[7; 32]); // from a handshake, in earnest
//!
//! let mut alice = Ratchet::initiator(base.clone(), alice, bob_public, &mut rng)?;
//! let mut bob = Ratchet::responder(base, bob, alice_public);
//! let first = alice.seal_vec(b"first")?;
//! let second = alice.seal_vec(b"second")?;
//! assert_eq!(bob.open_vec(&second, &mut rng)?, b"second"); // in any order
//! assert_eq!(bob.open_vec(&first, &mut rng)?, b"first");
//! let answer = bob.seal_vec(b"answer")?;
//! assert_eq!(alice.open_vec(&answer, &mut rng)?, b"answer");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! A message is the sender's public key (32 bytes), the number of the message in its chain and the length of the chain
//! before (4 bytes each, little endian), and the sealed plaintext. This header is authenticated but not encrypted: the
//! format has no room for more, so an observer sees which messages belong together.
//!
//! # Bounds
//!
//! At most 1000 messages in a row may be missing from a chain, or the next is refused. The keys of missing messages are
//! kept: 1000 of a chain and 2000 in all, about 300 KiB; then the oldest go, and their messages can no longer be
//! opened. A message that cannot be opened changes nothing. It costs at most 1000 steps of the symmetric chain and, for each
//! key of ours that the peer may have (most often one or two, 17 at most), a Diffie-Hellman step and 1000 more.
//!
//! Chains follow from each other: of a chain that [`Ratchet::ratchet`] ended, the peer needs at least one
//! message before it can open those of the next. Without voluntary steps that is always so.
//!
//! # Copies
//!
//! Two copies of a ratchet would send different messages under one key, which tells an observer their difference. So it
//! cannot be cloned, and a state that was sealed ([`Ratchet::seal_state`]) must not be restored after a
//! later one was used to send.
//!
//! ```compile_fail,E0599
//! # fn copy(ratchet: veriplex::ratchet::Ratchet) {
//! let second = ratchet.clone();
//! # }
//! ```

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

use rand_core::CryptoRng;

use crate::keys::{PrivateKey, PublicKey};
use crate::siv::Siv;
use crate::wipe::Secret;
use crate::{Error, Label, Protocol, TAG_LEN, label};

/// Size in bytes of a message's header.
pub const HEADER_LEN: usize = PublicKey::LEN + 8;
/// What a message has in bytes beside its plaintext.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;
/// The largest number of messages that may be missing from a chain before one that is opened.
pub const MAX_SKIPPED: u32 = 1000;
/// The largest number of keys of missing messages that are kept, over all chains.
pub const MAX_STORED: usize = 2000;
/// The largest number of chains that may have begun since the last of which the peer is known to have had a message.
pub const MAX_UNANSWERED: usize = 16;

/// One side of a conversation.
pub struct Ratchet {
    sending: Sending,
    receiving: Receiving,
    skipped: Skipped,
}

struct Sending {
    protocol: Protocol,
    /// Messages sent on this chain, and on the one before.
    n: u32,
    prev_n: u32,
    /// The newest key whose public key the peer may have.
    current: PrivateKey,
    /// Those before it that the peer may still take for the newest, oldest first. Boxed, because a vector that grows or
    /// shrinks leaves copies.
    #[allow(clippy::vec_box)]
    older: Vec<Box<PrivateKey>>,
    /// Where this chain began, as long as nothing was sent on it. Boxed, because what is taken out of an option stays there.
    fresh: Option<Box<Fresh>>,
}

struct Fresh {
    local: PrivateKey,
    /// The protocol without this chain's `dh`.
    before: Protocol,
}

#[derive(Clone)]
struct Receiving {
    protocol: Protocol,
    /// The number of the next message.
    n: u32,
    remote: PublicKey,
}

impl Ratchet {
    /// The side that begins, with a first step: `base` holds a secret that the responder has too.
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

    /// The other side. It may send before it receives; what it then sends has no Diffie-Hellman step of its own.
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

        let mut message = Vec::with_capacity(plaintext.len() + OVERHEAD);
        message.extend_from_slice(&header);
        message.extend_from_slice(plaintext);
        let tag = key.seal_in_place_detached(label!("message"), &mut message[HEADER_LEN..]);
        message.extend_from_slice(&tag);
        Ok(message)
    }

    /// Opens a message. The first of a new chain makes a step of one's own, which takes 64 bytes from `rng`.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the message is not one that the peer sealed, was opened before, comes after more than
    /// 1000 missing ones, or its key was dropped. The ratchet is then as it was.
    pub fn open_vec<R: CryptoRng + ?Sized>(&mut self, message: &[u8], rng: &mut R) -> Result<Vec<u8>, Error> {
        let (header, sealed) = message.split_first_chunk().ok_or(Error::Verification)?;
        let Header { public, n, prev_n } = Header::from_bytes(header);
        let open = |mut key: Protocol| {
            key.mix(label!("header"), header);
            key.open_vec(label!("message"), sealed)
        };

        if let Some(key) = self.skipped.get(&public, n) {
            let plaintext = open(key.clone())?;
            self.skipped.remove(&public, n);
            return Ok(plaintext);
        }
        let mut receiving = self.receiving.clone();
        if public == *receiving.remote.as_bytes() {
            let missing = receiving.skip_to(n)?;
            let plaintext = open(receiving.step())?;
            self.skipped.add(public, missing);
            self.receiving = receiving;
            return Ok(plaintext);
        }

        let remote = PublicKey::from_bytes(&public).map_err(|_| Error::Verification)?;
        let missing_before = receiving.skip_to(prev_n)?;
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
            let missing = receiving.skip_to(n)?;
            if let Ok(plaintext) = open(receiving.step()) {
                // The peer has this key, and will not go back to an older one.
                let older = self.sending.older.len() - index;
                // A full list means that the peer has not answered for long: the chain goes on as it is.
                let next = match self.sending.fresh {
                    None if older == MAX_UNANSWERED => None,
                    _ => Some(self.sending.next(&remote, rng)?),
                };
                self.sending.older.drain(..index);
                if let Some((protocol, fresh)) = next {
                    self.sending.begin(protocol, fresh);
                }
                self.receiving = receiving;
                self.skipped.add(before.to_bytes(), missing_before);
                self.skipped.add(public, missing);
                return Ok(plaintext);
            }
        }
        Err(Error::Verification)
    }

    /// A step on one's own initiative: a new key, and with it a new chain. Works in every state, also several times.
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

    /// The state as bytes, encrypted and authenticated under a key of the caller ([`Siv`] without nonce: equal states
    /// give equal bytes). They are 600 bytes to 300 KiB long, which tells how many keys are stored.
    ///
    /// Two ratchets must not go on from one state: see the head of this module.
    #[must_use]
    pub fn seal_state(&self, domain: Label<'_>, key: &[u8]) -> Vec<u8> {
        let mut state = Vec::with_capacity(self.encoded_len() + TAG_LEN);
        self.encode(&mut state);
        debug_assert_eq!(
            state.len(),
            self.encoded_len(),
            "a vector that grows leaves copies"
        );
        let tag = Siv::new(domain, key).seal_in_place_detached(b"", b"", &mut state);
        state.extend_from_slice(&tag);
        state
    }

    /// Restores a state.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if domain, key or state are not those of [`Ratchet::seal_state`];
    /// [`Error::InvalidState`] if another version made it.
    pub fn open_state(domain: Label<'_>, key: &[u8], sealed: &[u8]) -> Result<Self, Error> {
        let state = Secret::new(Siv::new(domain, key).open_vec(b"", b"", sealed)?);
        Self::decode(&state).ok_or(Error::InvalidState)
    }
}

impl Sending {
    /// The start of another chain.
    fn next<R: CryptoRng + ?Sized>(
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

    fn begin(&mut self, protocol: Protocol, fresh: Box<Fresh>) {
        self.protocol = protocol;
        if self.fresh.replace(fresh).is_none() {
            self.prev_n = self.n;
            self.n = 0;
        }
    }
}

impl Receiving {
    /// The key of the next message.
    fn step(&mut self) -> Protocol {
        let key = step(&mut self.protocol, self.n);
        self.n += 1;
        key
    }

    /// Goes on to message `n`, and gives the keys of those before it.
    fn skip_to(&mut self, n: u32) -> Result<Vec<Key>, Error> {
        let count = n.checked_sub(self.n).ok_or(Error::Verification)?;
        // The last number is never sent, so that the next one is always a number.
        if count > MAX_SKIPPED || n == u32::MAX {
            return Err(Error::Verification);
        }
        Ok((0..count)
            .map(|_| Key {
                n: self.n,
                protocol: Box::new(self.step()),
            })
            .collect())
    }
}

/// What the initiator sends with, and what the responder sends with.
fn roles(mut base: Protocol) -> [Protocol; 2] {
    base.fork(label!("role"), ["initiator", "responder"])
}

/// The key of message `n` of a chain, which goes on.
fn step(chain: &mut Protocol, n: u32) -> Protocol {
    chain.mix(label!("n"), &n.to_le_bytes());
    let key = chain.clone();
    chain.ratchet(label!("step"));
    key
}

struct Header {
    public: [u8; PublicKey::LEN],
    n: u32,
    prev_n: u32,
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let (public, numbers) = bytes.split_at_mut(PublicKey::LEN);
        public.copy_from_slice(&self.public);
        numbers[..4].copy_from_slice(&self.n.to_le_bytes());
        numbers[4..].copy_from_slice(&self.prev_n.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Self {
        let at = |i: usize| bytes[i];
        Self {
            public: core::array::from_fn(at),
            n: u32::from_le_bytes(core::array::from_fn(|i| at(PublicKey::LEN + i))),
            prev_n: u32::from_le_bytes(core::array::from_fn(|i| at(PublicKey::LEN + 4 + i))),
        }
    }
}

/// The key of a message that has not come yet. Boxed, because a collection leaves copies of what it held.
struct Key {
    n: u32,
    protocol: Box<Protocol>,
}

/// The keys of messages that have not come yet, by chain, the oldest first.
#[derive(Default)]
struct Skipped {
    chains: VecDeque<Chain>,
    len: usize,
}

struct Chain {
    public: [u8; PublicKey::LEN],
    /// In ascending order.
    keys: VecDeque<Key>,
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

    fn get(&self, public: &[u8; PublicKey::LEN], n: u32) -> Option<&Protocol> {
        let (chain, key) = self.find(public, n)?;
        Some(&self.chains[chain].keys[key].protocol)
    }

    fn remove(&mut self, public: &[u8; PublicKey::LEN], n: u32) {
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
    fn add(&mut self, public: [u8; PublicKey::LEN], missing: Vec<Key>) {
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

/// The encoding of a state.
///
/// | bytes | what |
/// |---|---|
/// | 1 | version, 0x01 |
/// | 130, 4, 4 | what is sent with; messages sent on the chain, and on the one before |
/// | 32 | the newest private key that was used |
/// | 1, 32 each | older ones: their number, then they |
/// | 1, (32, 130) | 0, or 1 and the chain that was not used yet: its private key, the protocol before it |
/// | 130, 4, 32 | what is received with; the next number; the peer's public key |
/// | 2 | chains with missing messages; for each: |
/// | 32, 2 | its public key, the number of keys; for each: |
/// | 4, 130 | number and key |
///
/// Numbers are little endian.
impl Ratchet {
    const VERSION: u8 = 1;
    const FIXED_LEN: usize = 1
        + (Protocol::SERIALIZED_LEN + 8)
        + PrivateKey::LEN
        + 1
        + 1
        + (Protocol::SERIALIZED_LEN + 4 + PublicKey::LEN)
        + 2;

    fn encoded_len(&self) -> usize {
        let fresh = usize::from(self.sending.fresh.is_some()) * (PrivateKey::LEN + Protocol::SERIALIZED_LEN);
        Self::FIXED_LEN
            + self.sending.older.len() * PrivateKey::LEN
            + fresh
            + self.skipped.chains.len() * (PublicKey::LEN + 2)
            + self.skipped.len * (4 + Protocol::SERIALIZED_LEN)
    }

    #[allow(clippy::cast_possible_truncation)] // the numbers are bounded: 16, 2000, 1000
    fn encode(&self, state: &mut Vec<u8>) {
        fn secret<const N: usize>(state: &mut Vec<u8>, bytes: [u8; N]) {
            state.extend_from_slice(Secret::new(bytes).as_slice());
        }
        let Self {
            sending,
            receiving,
            skipped,
        } = self;
        state.push(Self::VERSION);
        secret(state, sending.protocol.to_bytes());
        state.extend_from_slice(&sending.n.to_le_bytes());
        state.extend_from_slice(&sending.prev_n.to_le_bytes());
        secret(state, sending.current.to_bytes());
        state.push(sending.older.len() as u8);
        for key in &sending.older {
            secret(state, key.to_bytes());
        }
        state.push(u8::from(sending.fresh.is_some()));
        if let Some(fresh) = &sending.fresh {
            secret(state, fresh.local.to_bytes());
            secret(state, fresh.before.to_bytes());
        }
        secret(state, receiving.protocol.to_bytes());
        state.extend_from_slice(&receiving.n.to_le_bytes());
        state.extend_from_slice(receiving.remote.as_bytes());
        state.extend_from_slice(&(skipped.chains.len() as u16).to_le_bytes());
        for chain in &skipped.chains {
            state.extend_from_slice(&chain.public);
            state.extend_from_slice(&(chain.keys.len() as u16).to_le_bytes());
            for key in &chain.keys {
                state.extend_from_slice(&key.n.to_le_bytes());
                secret(state, key.protocol.to_bytes());
            }
        }
    }

    fn decode(state: &[u8]) -> Option<Self> {
        let mut reader = Reader(state);
        if reader.array()? != [Self::VERSION] {
            return None;
        }
        let protocol = reader.protocol()?;
        let (n, prev_n) = (reader.u32()?, reader.u32()?);
        let current = reader.private_key()?;
        let [count] = reader.array()?;
        let older = (0..count)
            .map(|_| reader.private_key().map(Box::new))
            .collect::<Option<Vec<_>>>()?;
        let fresh = match reader.array()? {
            [0] => None,
            [1] => Some(Box::new(Fresh {
                local: reader.private_key()?,
                before: reader.protocol()?,
            })),
            _ => return None,
        };
        // A fresh key becomes an older one.
        if older.len() + usize::from(fresh.is_some()) > MAX_UNANSWERED {
            return None;
        }
        let sending = Sending {
            protocol,
            n,
            prev_n,
            current,
            older,
            fresh,
        };
        let receiving = Receiving {
            protocol: reader.protocol()?,
            n: reader.u32()?,
            remote: PublicKey::from_bytes(&reader.array()?).ok()?,
        };
        let mut skipped = Skipped::default();
        for _ in 0..reader.u16()? {
            let public = reader.array()?;
            let keys = (0..reader.u16()?)
                .map(|_| {
                    Some(Key {
                        n: reader.u32()?,
                        protocol: Box::new(reader.protocol()?),
                    })
                })
                .collect::<Option<Vec<_>>>()?;
            let ascending = keys.is_sorted_by(|a, b| a.n < b.n);
            let fits = keys.len() <= MAX_SKIPPED as usize && skipped.len + keys.len() <= MAX_STORED;
            if keys.is_empty() || !ascending || !fits {
                return None;
            }
            skipped.add(public, keys);
        }
        reader.0.is_empty().then_some(Self {
            sending,
            receiving,
            skipped,
        })
    }
}

struct Reader<'s>(&'s [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn protocol(&mut self) -> Option<Protocol> {
        Protocol::from_bytes(&Secret::new(self.array()?)).ok()
    }

    fn private_key(&mut self) -> Option<PrivateKey> {
        PrivateKey::from_bytes(&Secret::new(self.array()?)).ok()
    }
}

impl fmt::Debug for Ratchet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ratchet").finish_non_exhaustive()
    }
}

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
