//! Mutual authentication with forward secrecy in three messages (the pattern XX of the Noise framework, revision 34,
//! section 7.5), and a protocol for each direction afterwards.
//!
//! The messages have 32, 80 and 48 bytes. It does not resist quantum computers: `tunnel` (feature `hybrid`) does.
//!
//! Neither side needs the other's public key beforehand: both are sent, encrypted. You decide whether to trust the
//! peer's key between receiving it and using the session:
//!
//! ```
//! use veriplex::{handshake::{Initiator, Responder}, keys::PrivateKey, label};
//! let mut rng = veriplex::os_rng();
//! let (alice, bob) = (PrivateKey::generate(&mut rng), PrivateKey::generate(&mut rng));
//! let domain = label!("com.example.handshake");
//!
//! let (initiator, request) = Initiator::start(domain, &alice, &mut rng);
//! let (responder, response) = Responder::respond(domain, &bob, &request, &mut rng)?;
//! let claimed = initiator.receive(&response)?;
//! assert_eq!(claimed.peer(), bob.public_key()); // look it up in a list of trusted keys
//! let (mut alice_session, confirmation) = claimed.accept();
//! let claimed = responder.receive(&confirmation)?;
//! assert_eq!(claimed.peer(), alice.public_key());
//! let mut bob_session = claimed.accept();
//!
//! let sealed = alice_session.send.seal_in_place_detached(label!("message"), &mut []);
//! bob_session.recv.open_in_place_detached(label!("message"), &mut [], &sealed)?; // now Bob knows
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! # What is known when
//!
//! A key returned by `peer` is only a claim: anyone can send anyone's public key. The first message that opens under
//! [`Session::recv`] proves that the peer has the private key, so do nothing for a peer until then. Only the claimed
//! peer can read what is sent under [`Session::send`]. Only the holder of the key that the responder claimed can read
//! the initiator's key; any initiator can read the responder's.
//!
//! The session is bound to the domain, the prologue, the keys and the messages, and to nothing else. The *prologue* is
//! context that both sides know and neither sends here: the version of the protocol and what was negotiated before, the
//! identifier of the channel underneath, the roles or names. It may be public. If the two differ, no session begins:
//!
//! ```
//! # use veriplex::{handshake::{Initiator, Responder}, keys::PrivateKey, label};
//! # let mut rng = veriplex::os_rng();
//! # let (alice, bob) = (PrivateKey::generate(&mut rng), PrivateKey::generate(&mut rng));
//! # let domain = label!("com.example.handshake");
//! let (initiator, request) = Initiator::start_with_prologue(domain, b"version 2", &alice, &mut rng);
//! // An attacker made the responder believe that the initiator has version 1 only.
//! let (_, response) = Responder::respond_with_prologue(domain, b"version 1", &bob, &request, &mut rng)?;
//! assert!(initiator.receive(&response).is_err());
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! Encode several values unambiguously: with fixed lengths, or each after its length.
//!
//! The ephemeral keys depend on randomness, on the long-term key and on what is known of the handshake by then.
//! Predicting one side's generator reveals nothing without that side's long-term key; with both, forward secrecy is
//! lost. If the initiator's generator repeats, so does its ephemeral key; the responder's repeats only in answer to the
//! same request. If both repeat, the session has the keys of an earlier one.
//!
//! # What to do with a session
//!
//! Each direction has its own secret. Never send with `recv`, and do not use one protocol for two of these purposes
//! without a Fork:
//!
//! | for | use |
//! |---|---|
//! | messages, in order | `send.seal_vec` and `recv.open_vec`, with one label for each kind of message |
//! | a stream | [`aestream::Sealer::from_protocol`](crate::aestream::Sealer::from_protocol) with `send`, its `Opener` with `recv` |
//! | messages that may be lost or late, over days | [`Session::into_ratchet`] |
//! | a key for something else | `send.derive_array`, which is the peer's `recv.derive_array` |
//! | a tunnel | nothing here: `tunnel` has its own handshake, with hybrid keys |
//!
//! # Values that are used once
//!
//! Each step consumes the value of the step before, so that none can be left out or done twice:
//!
//! ```compile_fail,E0382
//! # fn twice(initiator: veriplex::handshake::Initiator, response: &[u8]) {
//! let first = initiator.receive(response);
//! let second = initiator.receive(response);
//! # }
//! ```
//!
//! and there is no session without a decision on the peer:
//!
//! ```compile_fail,E0609
//! # fn untrusted(responder: veriplex::handshake::Responder, confirmation: &[u8]) -> Result<(), veriplex::Error> {
//! let session = responder.receive(confirmation)?;
//! let mut recv = session.recv;
//! # Ok(())
//! # }
//! ```

use rand_core::CryptoRng;

use super::group;
use crate::keys::{PrivateKey, PublicKey};
use crate::{Error, Label, Protocol, label};

/// Size in bytes of the first message, from the initiator.
pub const REQUEST_LEN: usize = PublicKey::LEN;
/// Size in bytes of the second message, from the responder.
pub const RESPONSE_LEN: usize = PublicKey::LEN + PublicKey::SEALED_LEN;
/// Size in bytes of the third message, from the initiator.
pub const CONFIRMATION_LEN: usize = PublicKey::SEALED_LEN;

/// The initiator, who waits for the response.
#[derive(Debug)]
#[must_use]
pub struct Initiator {
    protocol: Protocol,
    ephemeral: PrivateKey,
    own: PrivateKey,
}

impl Initiator {
    /// Starts a handshake with the initiator's long-term key; the request of 32 bytes goes to the responder.
    pub fn start<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        own: &PrivateKey,
        rng: &mut R,
    ) -> (Self, [u8; REQUEST_LEN]) {
        Self::start_with_prologue(domain, b"", own, rng)
    }

    /// [`Initiator::start`], where the responder must have the same prologue. An empty one is the same as none.
    pub fn start_with_prologue<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        prologue: &[u8],
        own: &PrivateKey,
        rng: &mut R,
    ) -> (Self, [u8; REQUEST_LEN]) {
        let protocol = begin(domain, prologue);
        let hidden = group::hedge(&protocol, own.scalar(), rng);
        Self::from_ephemeral(protocol, own, PrivateKey::ephemeral(hidden))
    }

    /// The start with this ephemeral key.
    pub(in crate::schemes::ristretto) fn from_ephemeral(
        mut protocol: Protocol,
        own: &PrivateKey,
        ephemeral: PrivateKey,
    ) -> (Self, [u8; REQUEST_LEN]) {
        let request = ephemeral.public_key().to_bytes();
        protocol.mix(label!("ie"), &request);
        let initiator = Self {
            protocol,
            ephemeral,
            own: own.clone(),
        };
        (initiator, request)
    }

    /// Reads the response.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not 80 bytes long, does not answer this request in this domain with this
    /// prologue, or has an invalid key in it.
    pub fn receive(self, response: &[u8]) -> Result<ClaimedResponder, Error> {
        let response: &[u8; RESPONSE_LEN] = response.try_into().map_err(|_| Error::Verification)?;
        let Self {
            mut protocol,
            ephemeral,
            own,
        } = self;
        let (re, sealed) = response.split_first_chunk().ok_or(Error::Verification)?;
        let re = PublicKey::received(re)?;
        protocol.mix(label!("re"), re.as_bytes());
        ephemeral.mix_shared(&re, &mut protocol, label!("ie-re"))?;
        let peer = PublicKey::open(&mut protocol, label!("rs"), sealed)?;
        ephemeral.mix_shared(&peer, &mut protocol, label!("ie-rs"))?;

        let mut confirmation = [0; CONFIRMATION_LEN];
        protocol.seal_into(label!("is"), own.public_key().as_bytes(), &mut confirmation)?;
        own.mix_shared(&re, &mut protocol, label!("is-re"))?;
        let [recv, send] = directions(protocol);
        Ok(ClaimedResponder {
            session: Session { send, recv, peer },
            confirmation,
        })
    }
}

/// The responder, who waits for the confirmation.
#[derive(Debug)]
#[must_use]
pub struct Responder {
    protocol: Protocol,
    ephemeral: PrivateKey,
}

impl Responder {
    /// Answers a request with the responder's long-term key; the response of 80 bytes goes to the initiator.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] unless the request is 32 bytes that encode a key.
    pub fn respond<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        own: &PrivateKey,
        request: &[u8],
        rng: &mut R,
    ) -> Result<(Self, [u8; RESPONSE_LEN]), Error> {
        Self::respond_with_prologue(domain, b"", own, request, rng)
    }

    /// [`Responder::respond`], where the initiator must have the same prologue. An empty one is the same as none.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] as there. If the prologues differ, the initiator notices.
    pub fn respond_with_prologue<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        prologue: &[u8],
        own: &PrivateKey,
        request: &[u8],
        rng: &mut R,
    ) -> Result<(Self, [u8; RESPONSE_LEN]), Error> {
        let (protocol, ie) = Self::receive_request(domain, prologue, request)?;
        let hidden = group::hedge(&protocol, own.scalar(), rng);
        Self::from_ephemeral(protocol, own, &ie, PrivateKey::ephemeral(hidden))
    }

    /// The transcript of a request, and the key in it.
    pub(in crate::schemes::ristretto) fn receive_request(
        domain: Label<'_>,
        prologue: &[u8],
        request: &[u8],
    ) -> Result<(Protocol, PublicKey), Error> {
        let request: &[u8; REQUEST_LEN] = request.try_into().map_err(|_| Error::Verification)?;
        let ie = PublicKey::received(request)?;
        let mut protocol = begin(domain, prologue);
        protocol.mix(label!("ie"), ie.as_bytes());
        Ok((protocol, ie))
    }

    /// The answer with this ephemeral key.
    pub(in crate::schemes::ristretto) fn from_ephemeral(
        mut protocol: Protocol,
        own: &PrivateKey,
        ie: &PublicKey,
        ephemeral: PrivateKey,
    ) -> Result<(Self, [u8; RESPONSE_LEN]), Error> {
        protocol.mix(label!("re"), ephemeral.public_key().as_bytes());
        ephemeral.mix_shared(ie, &mut protocol, label!("ie-re"))?;
        let mut response = [0; RESPONSE_LEN];
        let (re, sealed) = response.split_at_mut(PublicKey::LEN);
        re.copy_from_slice(ephemeral.public_key().as_bytes());
        protocol.seal_into(label!("rs"), own.public_key().as_bytes(), sealed)?;
        own.mix_shared(ie, &mut protocol, label!("ie-rs"))?;
        Ok((Self { protocol, ephemeral }, response))
    }

    /// Reads the confirmation.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not 48 bytes long, does not answer this response, or has an invalid key in it.
    pub fn receive(self, confirmation: &[u8]) -> Result<ClaimedInitiator, Error> {
        let Self {
            mut protocol,
            ephemeral,
        } = self;
        let peer = PublicKey::open(&mut protocol, label!("is"), confirmation)?;
        ephemeral.mix_shared(&peer, &mut protocol, label!("is-re"))?;
        let [send, recv] = directions(protocol);
        Ok(ClaimedInitiator {
            session: Session { send, recv, peer },
        })
    }
}

/// A responder that claims a key, and the confirmation, not sent yet. Drop this to refuse the peer.
#[derive(Debug)]
#[must_use]
pub struct ClaimedResponder {
    session: Session,
    confirmation: [u8; CONFIRMATION_LEN],
}

impl ClaimedResponder {
    /// The key that the responder claims as its own.
    #[must_use]
    pub const fn peer(&self) -> &PublicKey {
        &self.session.peer
    }

    /// Accepts this peer; send the confirmation of 48 bytes to the responder.
    pub fn accept(self) -> (Session, [u8; CONFIRMATION_LEN]) {
        (self.session, self.confirmation)
    }
}

/// An initiator that claims a key. Drop this to refuse it.
#[derive(Debug)]
#[must_use]
pub struct ClaimedInitiator {
    session: Session,
}

impl ClaimedInitiator {
    /// The key that the initiator claims as its own.
    #[must_use]
    pub const fn peer(&self) -> &PublicKey {
        &self.session.peer
    }

    /// Goes on with this peer.
    pub fn accept(self) -> Session {
        self.session
    }
}

/// What a handshake establishes.
#[derive(Debug)]
#[must_use]
pub struct Session {
    /// For sending: only the peer can read what is sealed with it.
    pub send: Protocol,
    /// For receiving: the first message that opens proves that the peer has its private key.
    pub recv: Protocol,
    /// The peer's public key.
    pub peer: PublicKey,
}

/// The transcript before the first message.
pub(in crate::schemes::ristretto) fn begin(domain: Label<'_>, prologue: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(domain);
    if !prologue.is_empty() {
        protocol.mix(label!("prologue"), prologue);
    }
    protocol
}

/// What the responder sends with, and what the initiator sends with.
pub(in crate::schemes::ristretto) fn directions(mut protocol: Protocol) -> [Protocol; 2] {
    protocol.ratchet(label!("handshake"));
    protocol.fork(label!("sender"), ["responder", "initiator"])
}
