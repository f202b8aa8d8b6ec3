//! A state as bytes, to be stored and restored.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | version, 0x01 |
//! | 130, 4, 4 | what is sent with; messages sent on the chain, and on the one before |
//! | 32 | the newest private key that was used |
//! | 1, 32 each | older ones: their number, then they |
//! | 1, (32, 130) | 0, or 1 and the chain that was not used yet: its private key, the protocol before it |
//! | 130, 4, 32 | what is received with; the next number; the peer's public key |
//! | 2 | chains with missing messages; for each: |
//! | 32, 2 | its public key, the number of keys; for each: |
//! | 4, 130 | number and key |
//!
//! Numbers are little endian.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::chain::{Fresh, Receiving, Sending};
use super::skipped::{MessageKey, Skipped};
use super::{MAX_SKIPPED, MAX_STORED, MAX_UNANSWERED, Ratchet};
use crate::base::wipe::Secret;
use crate::keys::{PrivateKey, PublicKey};
use crate::siv::Siv;
use crate::{Error, Key, Label, Protocol, TAG_LEN};

impl Ratchet {
    const VERSION: u8 = 1;
    const FIXED_LEN: usize = 1
        + (Protocol::SERIALIZED_LEN + 8)
        + PrivateKey::LEN
        + 1
        + 1
        + (Protocol::SERIALIZED_LEN + 4 + PublicKey::LEN)
        + 2;

    /// The state as bytes, encrypted and authenticated under a key of the caller ([`Siv`] without nonce: equal states
    /// give equal bytes). They are 600 bytes to 300 KiB long, which tells how many keys are stored.
    ///
    /// The associated data `ad` is needed again to restore the state, and is not part of the bytes. It can say whose
    /// conversation this is, so that states cannot be exchanged, or be a counter kept elsewhere, so that old ones are
    /// refused.
    ///
    /// Two ratchets must not continue from one state: see "Copies" in [the module](crate::ratchet).
    ///
    /// ```
    /// use veriplex::{Key, Protocol, keys::PrivateKey, label, os_rng, ratchet::Ratchet};
    ///
    /// let (bob, alice) = (PrivateKey::generate(&mut os_rng()), PrivateKey::generate(&mut os_rng()));
    /// let mut base = Protocol::new(label!("com.example.chat"));
    /// base.mix(label!("key"), Key::<32>::generate(&mut os_rng()).as_bytes()); // stands for the secret of a handshake
    /// let ratchet = Ratchet::responder(base, bob, *alice.public_key());
    ///
    /// let key = Key::generate(&mut os_rng()); // of this device, for all its conversations
    /// let sealed = ratchet.seal_state(label!("com.example.states"), &key, b"with Alice, 17 messages");
    /// drop(ratchet); // only one may go on
    /// let restored = Ratchet::open_state(label!("com.example.states"), &key, b"with Alice, 17 messages", &sealed)?;
    /// # let _ = restored;
    /// assert!(Ratchet::open_state(label!("com.example.states"), &key, b"with Alice, 18 messages", &sealed).is_err());
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    #[must_use]
    pub fn seal_state(&self, domain: Label<'_>, key: &Key, ad: &[u8]) -> Vec<u8> {
        let mut state = Vec::with_capacity(self.encoded_len() + TAG_LEN);
        self.encode(&mut state);
        debug_assert_eq!(
            state.len(),
            self.encoded_len(),
            "a vector that grows leaves copies"
        );
        let tag = Siv::new(domain, key).seal_in_place_detached(b"", ad, &mut state);
        state.extend_from_slice(&tag);
        state
    }

    /// Restores a state.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if domain, key, associated data or state are not those of [`Ratchet::seal_state`];
    /// [`Error::TooShort`] if `sealed` has fewer than 16 bytes; [`Error::InvalidState`] if another version made it.
    pub fn open_state(domain: Label<'_>, key: &Key, ad: &[u8], sealed: &[u8]) -> Result<Self, Error> {
        let state = Secret::new(Siv::new(domain, key).open_vec(b"", ad, sealed)?);
        Self::decode(&state).ok_or(Error::InvalidState)
    }

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
                    Some(MessageKey {
                        n: reader.u32()?,
                        protocol: Box::new(reader.protocol()?),
                    })
                })
                .collect::<Option<Vec<_>>>()?;
            let ascending = keys.is_sorted_by(|a, b| a.n < b.n);
            // Those of the present chain are behind it: more will follow them.
            let passed = public != *receiving.remote.as_bytes() || keys.last()?.n < receiving.n;
            let fits = keys.len() <= MAX_SKIPPED as usize && skipped.len + keys.len() <= MAX_STORED;
            if keys.is_empty() || skipped.has(&public) || !ascending || !passed || !fits {
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
