//! Renewal of the keys of a connection against ephemeral keys.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::chain::{Chain, HEADER_LEN, RENEWAL};
use crate::base::wipe::{Secret, opaque, with_wiped_stack};
use crate::hybrid::kem::{CIPHERTEXT_LEN, ENCAPSULATION_KEY_LEN, SECRET_LEN};
use crate::hybrid::{PrivateKey, PublicKey};
use crate::schemes::ristretto::group;
use crate::{Error, TAG_LEN, keys, label};

/// Where the parts of a frame begin: after the type the number of the key, an element, a ciphertext, whether a key is
/// announced, and it.
const NUMBER: usize = 1;
const ELEMENT: usize = NUMBER + 4;
const CIPHERTEXT: usize = ELEMENT + keys::PublicKey::LEN;
const ANNOUNCES: usize = CIPHERTEXT + CIPHERTEXT_LEN;
const ENCAPSULATION_KEY: usize = ANNOUNCES + 1;
const SHORT_LEN: usize = ENCAPSULATION_KEY;
const LONG_LEN: usize = ENCAPSULATION_KEY + ENCAPSULATION_KEY_LEN;
/// Of records that may renew.
pub(super) const RECORD_LENS: [usize; 2] =
    [HEADER_LEN + SHORT_LEN + TAG_LEN, HEADER_LEN + LONG_LEN + TAG_LEN];

/// The ephemeral keys against which the two sides of a connection renew: its own, one or two, and the newest that the
/// peer has announced. Use them with the sender and the receiver of the same [`Session`](super::Session).
///
/// Wiped on drop, and when the peer has used a newer one.
pub struct RenewalKeys {
    /// The number of the first one, which the peer may use.
    number: u32,
    own: Own,
    /// The next one, if it was announced and the peer has not used it yet.
    announced: Option<Own>,
    peers_number: u32,
    peers: PublicKey,
    /// Whether this side has used it, so that the peer may announce another.
    peers_is_used: bool,
}

/// The encoding of a private key: it is used every few minutes, and this is short.
type Own = Box<Secret<[u8; PrivateKey::LEN]>>;

impl RenewalKeys {
    /// Both sides' number 0: they were used in the handshake.
    pub(super) fn new(own: &PrivateKey, peers: PublicKey) -> Self {
        Self {
            number: 0,
            own: own.boxed_bytes(),
            announced: None,
            peers_number: 0,
            peers,
            peers_is_used: true,
        }
    }

    /// Renews what this side sends with. On an error nothing has changed.
    pub(super) fn send<R: CryptoRng + ?Sized>(
        &mut self,
        chain: &mut Chain,
        rng: &mut R,
    ) -> Result<Vec<u8>, Error> {
        with_wiped_stack(|| {
            let may_announce = self.announced.is_none() && self.number < u32::MAX;
            let next = may_announce.then(|| PrivateKey::generate(rng)).transpose()?;
            let element = match &next {
                Some(next) => next.element().clone(),
                None => keys::PrivateKey::from_uniform_bytes(*group::random_bytes(rng))?,
            };
            let (ciphertext, secret) = self.peers.encapsulate(rng);

            let len = if next.is_some() { LONG_LEN } else { SHORT_LEN };
            let mut record = vec![0; HEADER_LEN + len + TAG_LEN];
            let frame = &mut record[HEADER_LEN..][..len];
            frame[0] = RENEWAL;
            frame[NUMBER..ELEMENT].copy_from_slice(&self.peers_number.to_le_bytes());
            frame[ELEMENT..CIPHERTEXT].copy_from_slice(element.public_key().as_bytes());
            frame[CIPHERTEXT..ANNOUNCES].copy_from_slice(&ciphertext);
            frame[ANNOUNCES] = next.is_some().into();
            if let Some(next) = &next {
                frame[ENCAPSULATION_KEY..].copy_from_slice(next.public_key().encapsulation_key());
            }
            let mut renewed = chain.protocol().clone();
            renewed.mix(label!("renewal"), frame);
            element.mix_shared(self.peers.element(), &mut renewed, label!("renewal-ec"))?;
            renewed.mix(label!("renewal-ss"), secret.as_slice());
            chain.seal(&mut record)?;

            chain.renew(renewed);
            self.peers_is_used = true;
            if let Some(next) = next {
                self.announced = Some(next.boxed_bytes());
            }
            Ok(record)
        })
    }

    /// Renews what the peer sends with, after its frame. On an error nothing has changed.
    pub(super) fn receive(&mut self, chain: &mut Chain, frame: &[u8]) -> Result<(), Error> {
        let wrong = Error::Verification;
        with_wiped_stack(|| {
            let announced = match (frame.len(), frame.get(ANNOUNCES)) {
                (SHORT_LEN, Some(0)) => None,
                // A peer that has not seen its last key used must not announce another.
                (LONG_LEN, Some(1)) if self.peers_is_used => {
                    let mut key = [0; PublicKey::LEN];
                    let (element, encapsulation) = key.split_at_mut(keys::PublicKey::LEN);
                    element.copy_from_slice(&frame[ELEMENT..CIPHERTEXT]);
                    encapsulation.copy_from_slice(&frame[ENCAPSULATION_KEY..]);
                    let number = self.peers_number.checked_add(1).ok_or(wrong)?;
                    Some((number, PublicKey::from_bytes(&key).map_err(|_| wrong)?))
                }
                _ => return Err(wrong),
            };
            let number = frame[NUMBER..].first_chunk().ok_or(wrong)?;
            let (own, is_newer) = match (
                u32::from_le_bytes(*number).checked_sub(self.number),
                &self.announced,
            ) {
                (Some(0), _) => (&self.own, false),
                (Some(1), Some(announced)) => (announced, true),
                _ => return Err(wrong),
            };
            let own = PrivateKey::from_bytes(own).map_err(|_| wrong)?;
            let element = frame[ELEMENT..].first_chunk().ok_or(wrong)?;
            let element = keys::PublicKey::from_bytes(element).map_err(|_| wrong)?;
            let ciphertext = frame[CIPHERTEXT..].first_chunk().ok_or(wrong)?;

            let mut renewed = chain.protocol().clone();
            renewed.mix(label!("renewal"), frame);
            own.element()
                .mix_shared(&element, &mut renewed, label!("renewal-ec"))
                .map_err(|_| wrong)?;
            let secret: Secret<[u8; SECRET_LEN]> = own.decapsulate(ciphertext);
            renewed.mix(label!("renewal-ss"), secret.as_slice());

            chain.renew(renewed);
            if is_newer && let Some(announced) = self.announced.take() {
                self.own = announced;
                self.number += 1;
            }
            if let Some((number, key)) = announced {
                self.peers_number = number;
                self.peers = key;
                self.peers_is_used = false;
            }
            Ok(())
        })
    }
}

opaque!(RenewalKeys);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::tunnel::{Receiver, Sender};

    /// Bytes that differ each time.
    struct Counter(Protocol);

    impl rand_core::TryRng for Counter {
        type Error = core::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!()
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            unreachable!()
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
            self.0.derive(label!("bytes"), bytes);
            Ok(())
        }
    }

    impl rand_core::TryCryptoRng for Counter {}

    fn rng() -> Counter {
        Counter(Protocol::new(label!("test.rng")))
    }

    /// One direction, and the keys of the side that sends and of the one that receives.
    fn direction() -> (Sender, Receiver, RenewalKeys, RenewalKeys) {
        let mut rng = rng();
        let [a, b] = [(); 2].map(|()| PrivateKey::generate(&mut rng).unwrap());
        let chain = || Box::new(Chain::new(Protocol::new(label!("test"))));
        (
            Sender(chain()),
            Receiver::new(chain()),
            RenewalKeys::new(&a, b.public_key().clone()),
            RenewalKeys::new(&b, a.public_key().clone()),
        )
    }

    /// No key has a number above 2^32 - 1.
    #[test]
    fn the_numbers_of_keys_end() {
        let mut rng = rng();
        let (mut sender, mut receiver, mut peer, mut own) = direction();
        (peer.number, own.peers_number) = (u32::MAX - 1, u32::MAX - 1);
        let mut last = sender.renew(&mut peer, &mut rng).unwrap();
        assert_eq!(last.len(), RECORD_LENS[1]);
        assert!(receiver.open(&mut last, &mut own).is_ok());
        assert_eq!(own.peers_number, u32::MAX);

        let (mut sender, mut receiver, mut peer, mut own) = direction();
        (peer.number, own.peers_number) = (u32::MAX, u32::MAX);
        let mut renewal = sender.renew(&mut peer, &mut rng).unwrap();
        assert_eq!(renewal.len(), RECORD_LENS[0], "announces none");
        assert!(receiver.open(&mut renewal, &mut own).is_ok());
        // One that announces it nevertheless.
        peer.number = 0;
        let mut renewal = sender.renew(&mut peer, &mut rng).unwrap();
        assert_eq!(renewal.len(), RECORD_LENS[1]);
        assert_eq!(receiver.open(&mut renewal, &mut own), Err(Error::Verification));
    }
}
