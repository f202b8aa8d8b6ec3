//! The handshake.

use alloc::boxed::Box;

use rand_core::CryptoRng;

use super::chain::{Chain, HEADER_LEN};
use super::records::{Frame, Receiver, Sender};
use super::renewal::RenewalKeys;
use crate::base::wipe::{Secret, with_wiped_stack};
use crate::hybrid::kem::{CIPHERTEXT_LEN, Ciphertext, ENCAPSULATION_KEY_LEN, SECRET_LEN};
use crate::hybrid::{PrivateKey, PublicKey};
use crate::{Error, Label, Protocol, TAG_LEN, keys, label};

const ELEMENT_LEN: usize = keys::PublicKey::LEN;
const SEALED_PUBLIC_KEY_LEN: usize = PublicKey::LEN + TAG_LEN;
const SEALED_ENCAPSULATION_KEY_LEN: usize = ENCAPSULATION_KEY_LEN + TAG_LEN;
const SEALED_CIPHERTEXT_LEN: usize = CIPHERTEXT_LEN + TAG_LEN;

/// Size in bytes of the first message, from the initiator.
pub const REQUEST_LEN: usize =
    ELEMENT_LEN + CIPHERTEXT_LEN + SEALED_PUBLIC_KEY_LEN + SEALED_ENCAPSULATION_KEY_LEN;
/// Size in bytes of the second message, from the responder.
pub const RESPONSE_LEN: usize =
    ELEMENT_LEN + CIPHERTEXT_LEN + SEALED_CIPHERTEXT_LEN + SEALED_ENCAPSULATION_KEY_LEN;

/// Takes the next part of a message.
fn part<'m, const N: usize>(rest: &mut &'m [u8]) -> Result<&'m [u8; N], Error> {
    let (part, others) = rest.split_first_chunk().ok_or(Error::Verification)?;
    *rest = others;
    Ok(part)
}

/// Writes a message part by part.
struct Message<'m>(&'m mut [u8]);

impl<'m> Message<'m> {
    fn room(&mut self, len: usize) -> &'m mut [u8] {
        let (room, rest) = core::mem::take(&mut self.0).split_at_mut(len);
        self.0 = rest;
        room
    }

    fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    fn seal(&mut self, protocol: &mut Protocol, label: Label<'_>, plaintext: &[u8]) -> Result<(), Error> {
        protocol.seal_into(label, plaintext, self.room(plaintext.len() + TAG_LEN))
    }
}

/// A key in a message. If it is not valid, the message is not the peer's.
fn peers<T>(key: Result<T, Error>) -> Result<T, Error> {
    key.map_err(|_| Error::Verification)
}

fn mix_secret(protocol: &mut Protocol, label: Label<'_>, secret: &Secret<[u8; SECRET_LEN]>) {
    protocol.mix(label, secret.as_slice());
}

/// Of the peer's ephemeral key: the element is read first, the other half at the end of the message.
fn ephemeral(
    element: keys::PublicKey,
    encapsulation: &[u8; ENCAPSULATION_KEY_LEN],
) -> Result<PublicKey, Error> {
    let mut bytes = [0; PublicKey::LEN];
    bytes[..ELEMENT_LEN].copy_from_slice(element.as_bytes());
    bytes[ELEMENT_LEN..].copy_from_slice(encapsulation);
    peers(PublicKey::from_bytes(&bytes))
}

/// The initiator, who waits for the response.
#[derive(Debug)]
#[must_use]
pub struct Initiator(Box<Initiating>);

#[derive(Debug)]
struct Initiating {
    protocol: Protocol,
    ephemeral: PrivateKey,
    own: PrivateKey,
    peer: PublicKey,
}

impl Initiator {
    /// Starts a handshake with the responder that has the key `peer`; the request of 3552 bytes goes to it.
    ///
    /// Takes 160 bytes from the generator: 128 for the ephemeral key, as [`PrivateKey::generate`], and 32 for the
    /// encapsulation.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the generator is broken, as for [`PrivateKey::generate`].
    pub fn start<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        own: &PrivateKey,
        peer: &PublicKey,
        rng: &mut R,
    ) -> Result<(Self, Box<[u8; REQUEST_LEN]>), Error> {
        with_wiped_stack(|| {
            let mut request = Box::new([0; REQUEST_LEN]);
            let mut message = Message(request.as_mut_slice());
            let mut protocol = Protocol::new(domain);
            let ephemeral = PrivateKey::generate(rng)?;
            let ie = ephemeral.public_key();

            protocol.mix(label!("rs"), peer.as_bytes());
            message.put(ie.element().as_bytes());
            protocol.mix(label!("ie-ec"), ie.element().as_bytes());
            ephemeral.mix_shared(peer, &mut protocol, label!("ie-rs"))?;
            let (ciphertext, secret) = peer.encapsulate(rng);
            message.put(&ciphertext);
            protocol.mix(label!("rs-ct"), &ciphertext);
            mix_secret(&mut protocol, label!("rs-ss"), &secret);
            message.seal(&mut protocol, label!("is"), own.public_key().as_bytes())?;
            own.mix_shared(peer, &mut protocol, label!("is-rs"))?;
            message.seal(&mut protocol, label!("ie-kem"), ie.encapsulation_key())?;

            let initiator = Self(Box::new(Initiating {
                protocol,
                ephemeral,
                own: own.clone(),
                peer: peer.clone(),
            }));
            Ok((initiator, request))
        })
    }

    /// Reads the response, which proves that the peer is the responder. The responder knows the initiator only after a
    /// first record, so send one at once, with no data if there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the answer of the responder to this request.
    pub fn receive(self, response: &[u8]) -> Result<Session, Error> {
        with_wiped_stack(|| {
            // What is moved out of a box stays in its memory.
            let mut waiting = self.0;
            let Initiating {
                protocol,
                ephemeral: ie,
                own,
                peer,
            } = &mut *waiting;
            let rest = &mut <&[u8; RESPONSE_LEN]>::try_from(response)
                .map_err(|_| Error::Verification)?
                .as_slice();

            let re = peers(keys::PublicKey::from_bytes(part(rest)?))?;
            protocol.mix(label!("re-ec"), re.as_bytes());
            peers(ie.element().mix_shared(&re, protocol, label!("ie-re")))?;
            peers(own.element().mix_shared(&re, protocol, label!("is-re")))?;
            let mut ciphertext: Ciphertext = *part(rest)?;
            protocol.unmask(label!("is-ct"), &mut ciphertext);
            mix_secret(protocol, label!("is-ss"), &own.decapsulate(&ciphertext));
            let sealed: &[u8; SEALED_CIPHERTEXT_LEN] = part(rest)?;
            protocol.open_into(label!("ie-ct"), sealed, &mut ciphertext)?;
            mix_secret(protocol, label!("ie-ss"), &ie.decapsulate(&ciphertext));
            let mut encapsulation = [0; ENCAPSULATION_KEY_LEN];
            let sealed: &[u8; SEALED_ENCAPSULATION_KEY_LEN] = part(rest)?;
            protocol.open_into(label!("re-kem"), sealed, &mut encapsulation)?;

            let keys = RenewalKeys::new(ie, ephemeral(re, &encapsulation)?);
            let [recv, send] = directions(protocol);
            Ok(Session::new(send, recv, keys, peer.clone()))
        })
    }
}

/// An initiator that claims a key. Drop this to refuse it.
///
/// Its request was made with the private key, but may be a copy of an old one.
#[derive(Debug)]
#[must_use]
pub struct ClaimedInitiator(Box<Claimed>);

#[derive(Debug)]
struct Claimed {
    protocol: Protocol,
    ephemeral: PublicKey,
    peer: PublicKey,
}

impl ClaimedInitiator {
    /// The key that the initiator claims as its own.
    #[must_use]
    pub fn peer(&self) -> &PublicKey {
        &self.0.peer
    }

    /// Accepts this peer; send it the response of 3424 bytes.
    ///
    /// Takes 192 bytes from the generator: 128 for the ephemeral key, as [`PrivateKey::generate`], and 32 for each of
    /// two encapsulations.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the generator is broken, as for [`PrivateKey::generate`].
    pub fn accept<R: CryptoRng + ?Sized>(
        self,
        rng: &mut R,
    ) -> Result<(Responder, Box<[u8; RESPONSE_LEN]>), Error> {
        with_wiped_stack(|| {
            let mut claimed = self.0;
            let Claimed {
                protocol,
                ephemeral: ie,
                peer: is,
            } = &mut *claimed;
            let mut response = Box::new([0; RESPONSE_LEN]);
            let mut message = Message(response.as_mut_slice());
            let ephemeral = PrivateKey::generate(rng)?;
            let re = ephemeral.public_key();

            message.put(re.element().as_bytes());
            protocol.mix(label!("re-ec"), re.element().as_bytes());
            ephemeral.mix_shared(ie, protocol, label!("ie-re"))?;
            ephemeral.mix_shared(is, protocol, label!("is-re"))?;
            let (ciphertext, secret) = is.encapsulate(rng);
            protocol.mask_into(label!("is-ct"), &ciphertext, message.room(CIPHERTEXT_LEN))?;
            mix_secret(protocol, label!("is-ss"), &secret);
            let (ciphertext, secret) = ie.encapsulate(rng);
            message.seal(protocol, label!("ie-ct"), &ciphertext)?;
            mix_secret(protocol, label!("ie-ss"), &secret);
            message.seal(protocol, label!("re-kem"), re.encapsulation_key())?;

            let keys = RenewalKeys::new(&ephemeral, ie.clone());
            let [send, recv] = directions(protocol);
            Ok((Responder(Session::new(send, recv, keys, is.clone())), response))
        })
    }
}

/// The responder, who waits for the initiator's first record.
#[derive(Debug)]
#[must_use]
pub struct Responder(Session);

impl Responder {
    /// Reads a request, up to its end: the initiator's key is given out only if the request was made with its private
    /// key. So nobody learns which keys are allowed without having one of them, or a request that was made with one.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not a request to this responder in this domain.
    pub fn receive(domain: Label<'_>, own: &PrivateKey, request: &[u8]) -> Result<ClaimedInitiator, Error> {
        with_wiped_stack(|| {
            let rest = &mut <&[u8; REQUEST_LEN]>::try_from(request)
                .map_err(|_| Error::Verification)?
                .as_slice();
            let mut protocol = Protocol::new(domain);

            protocol.mix(label!("rs"), own.public_key().as_bytes());
            let ie = peers(keys::PublicKey::from_bytes(part(rest)?))?;
            protocol.mix(label!("ie-ec"), ie.as_bytes());
            peers(own.element().mix_shared(&ie, &mut protocol, label!("ie-rs")))?;
            let ciphertext = part(rest)?;
            protocol.mix(label!("rs-ct"), ciphertext);
            mix_secret(&mut protocol, label!("rs-ss"), &own.decapsulate(ciphertext));
            let mut is = [0; PublicKey::LEN];
            let sealed: &[u8; SEALED_PUBLIC_KEY_LEN] = part(rest)?;
            protocol.open_into(label!("is"), sealed, &mut is)?;
            let is = peers(PublicKey::from_bytes(&is))?;
            peers(own.mix_shared(&is, &mut protocol, label!("is-rs")))?;
            let mut encapsulation = [0; ENCAPSULATION_KEY_LEN];
            let sealed: &[u8; SEALED_ENCAPSULATION_KEY_LEN] = part(rest)?;
            protocol.open_into(label!("ie-kem"), sealed, &mut encapsulation)?;

            Ok(ClaimedInitiator(Box::new(Claimed {
                protocol,
                ephemeral: ephemeral(ie, &encapsulation)?,
                peer: is,
            })))
        })
    }

    /// The key that the initiator claims as its own.
    #[must_use]
    pub fn peer(&self) -> &PublicKey {
        &self.0.peer
    }

    /// As [`Receiver::record_len`], for the first record.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if no record has this header.
    pub fn record_len(&self, header: &[u8; HEADER_LEN]) -> Result<usize, Error> {
        self.0.receiver.record_len(header)
    }

    /// Reads the initiator's first record, which proves that it has its private key. From then on data may be sent to
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the initiator's; [`Error::TooShort`] if it has fewer than 20 bytes.
    pub fn confirm(self, record: &mut [u8]) -> Result<(Session, Frame<'_>), Error> {
        let mut session = self.0;
        let frame = session.receiver.open(record, &mut session.keys)?;
        Ok((session, frame))
    }
}

/// What a handshake establishes.
#[derive(Debug)]
#[must_use]
pub struct Session {
    /// Makes records for the peer.
    pub sender: Sender,
    /// Opens those of the peer.
    pub receiver: Receiver,
    /// What [`Sender::renew`] and [`Receiver::open`] share.
    pub keys: RenewalKeys,
    /// The peer's public key.
    pub peer: PublicKey,
}

impl Session {
    fn new(send: Protocol, recv: Protocol, keys: RenewalKeys, peer: PublicKey) -> Self {
        Self {
            sender: Sender(Box::new(Chain::new(send))),
            receiver: Receiver::new(Box::new(Chain::new(recv))),
            keys,
            peer,
        }
    }
}

/// What the responder sends with, and what the initiator sends with.
fn directions(protocol: &mut Protocol) -> [Protocol; 2] {
    protocol.ratchet(label!("handshake"));
    protocol.fork(label!("sender"), ["responder", "initiator"])
}
