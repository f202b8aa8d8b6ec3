//! A session from a shared password, in two messages and a confirmation from each side. An eavesdropper can test no
//! guess at the password, and an active attacker one guess per run (in the style of `CPace`, draft-irtf-cfrg-cpace). It
//! is **balanced**: both sides hold the password itself, so whoever steals it from one side can pose as the other. A
//! hash of it, as from [`mhf`](crate::mhf), slows down the search for the password, but a thief can use the hash just
//! as well.
//!
//! Each message and each confirmation has 32 bytes.
//!
//! The session that both sides reach depends on the password, on both names, on the session and on both messages.
//! Something else must tell both who begins.
//!
//! ```
//! use veriplex::{label, pake::{Initiator, Names, respond}};
//! let mut rng = veriplex::os_rng();
//! let domain = label!("com.example.pairing");
//! let names = Names { initiator: b"phone", responder: b"laptop", session: b"2026-11-21/17" };
//!
//! let (initiator, request) = Initiator::start(domain, &names, b"482 913", &mut rng)?;
//! let (laptop, response) = respond(domain, &names, b"482 913", &request, &mut rng)?;
//! let phone = initiator.finish(&response)?;
//!
//! // Neither knows yet whether the other had the same password. Each sends its confirmation, in any order.
//! let (from_laptop, from_phone) = (laptop.confirmation(), phone.confirmation());
//! let phone = phone.confirm(&from_laptop)?;
//! let laptop = laptop.confirm(&from_phone)?;
//!
//! // A session of two directions, with secrets that only these two have.
//! let (mut send, mut recv) = (phone.send, laptop.recv);
//! let sealed = send.seal_vec(label!("message"), b"message");
//! assert_eq!(recv.open_vec(label!("message"), &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! A wrong password is an error of [`Unconfirmed::confirm`]. Count these errors, and runs that the peer breaks off,
//! since whoever has received a confirmation knows whether its guess was right. Nothing here limits the guesses.
//!
//! The initiator is used once:
//!
//! ```compile_fail,E0382
//! # fn twice(initiator: veriplex::pake::Initiator, response: &[u8]) {
//! let first = initiator.finish(response);
//! let second = initiator.finish(response);
//! # }
//! ```

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

use super::group::{self, ELEMENT_LEN};
use super::handshake::directions;
use crate::base::in_out;
use crate::base::timing::Timing;
use crate::base::wipe::{Secret, opaque};
use crate::{Error, Label, Protocol, label};

/// Size in bytes of either message.
pub const MESSAGE_LEN: usize = ELEMENT_LEN;
/// Size in bytes of either confirmation.
pub const CONFIRMATION_LEN: usize = 32;

/// Who runs the protocol, and for what. Nothing here is secret, and both sides must have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The name of the initiator.
    pub initiator: &'a [u8],
    /// The name of the responder. If it can be the initiator's, an attacker can reflect messages.
    pub responder: &'a [u8],
    /// An identifier of this run that both sides know, of at least one byte: unique, such as a counter, the identifier
    /// of a connection, or random bytes of both sides.
    pub session: &'a [u8],
}

/// The initiator, who waits for the response.
#[must_use]
pub struct Initiator {
    protocol: Protocol,
    scalar: Secret<Scalar>,
    message: [u8; MESSAGE_LEN],
}

impl Initiator {
    /// Starts a run; the message of 32 bytes goes to the responder.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the session is empty; [`Error::InvalidKey`] if the password is mapped to the identity
    /// or the random scalar is zero (a probability of 2^-251).
    pub fn start<R: CryptoRng + ?Sized>(
        domain: Label<'_>,
        names: &Names<'_>,
        password: &[u8],
        rng: &mut R,
    ) -> Result<(Self, [u8; MESSAGE_LEN]), Error> {
        let (protocol, scalar, message) = start(domain, names, password, rng)?;
        let initiator = Self {
            protocol,
            scalar,
            message,
        };
        Ok((initiator, message))
    }

    /// Reads the response. Whether the passwords were the same is not known yet.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] unless the response is 32 bytes that encode an element other than the identity.
    pub fn finish(self, response: &[u8]) -> Result<Unconfirmed, Error> {
        let (response, element) = decode(response)?;
        let protocol = finish(self.protocol, &self.scalar, &element, [&self.message, response])?;
        let own = Side::Initiator;
        Ok(Unconfirmed { protocol, own })
    }
}

/// A run that has ended, but whose passwords may differ.
///
/// There is no session before the peer's confirmation:
///
/// ```compile_fail,E0308
/// # use veriplex::{Error, pake::{self, Session}};
/// # fn unconfirmed(initiator: pake::Initiator, response: &[u8]) -> Result<Session, Error> {
/// initiator.finish(response)
/// # }
/// ```
#[must_use]
pub struct Unconfirmed {
    protocol: Protocol,
    own: Side,
}

#[derive(Clone, Copy)]
enum Side {
    Initiator,
    Responder,
}

impl Unconfirmed {
    /// The confirmation to send: 32 bytes that show the peer that the passwords were the same.
    #[must_use]
    pub fn confirmation(&self) -> [u8; CONFIRMATION_LEN] {
        let (_, [own, _]) = self.confirmations();
        *own
    }

    /// Reads the peer's confirmation, and returns the session that the peer has too.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] unless it is the one of a peer with the same password, names, session, domain and
    /// messages.
    pub fn confirm(self, confirmation: &[u8]) -> Result<Session, Error> {
        let confirmation: &[u8; CONFIRMATION_LEN] =
            confirmation.try_into().map_err(|_| Error::Verification)?;
        let (protocol, [_, expected]) = self.confirmations();
        in_out::release_or_wipe(expected.ct_eq(confirmation), &mut [])?;
        let [responder, initiator] = directions(protocol);
        let (send, recv) = match self.own {
            Side::Initiator => (initiator, responder),
            Side::Responder => (responder, initiator),
        };
        Ok(Session { send, recv })
    }

    /// Returns the protocol before the confirmations, if you have your own. After a wrong password it differs from the
    /// peer's, which is as unpredictable as any key, but **there is no error**: do not use it until the peer has proved
    /// that it has the same one. Both sides have the same state, so Fork it before both send.
    #[must_use]
    pub fn without_confirmation(self) -> Protocol {
        self.protocol
    }

    /// The protocol after the confirmations, one's own confirmation and the peer's.
    fn confirmations(&self) -> (Protocol, [Secret<[u8; CONFIRMATION_LEN]>; 2]) {
        let mut protocol = self.protocol.clone();
        let [initiator, responder] = protocol
            .fork(label!("confirmation"), ["initiator", "responder"])
            .map(|mut branch| Secret::new(branch.derive_array(label!("tag"))));
        let confirmations = match self.own {
            Side::Initiator => [initiator, responder],
            Side::Responder => [responder, initiator],
        };
        (protocol, confirmations)
    }
}

/// What both sides reach with the same password. Use it like
/// [`handshake::Session`](crate::handshake#what-to-do-with-a-session).
#[derive(Debug)]
#[must_use]
pub struct Session {
    /// What the peer receives with.
    pub send: Protocol,
    /// What the peer sends with.
    pub recv: Protocol,
}

opaque!(Unconfirmed, Initiator);

/// Answers an initiator's message of 32 bytes with another. Whether the passwords were the same is not known yet.
///
/// # Errors
///
/// [`Error::Verification`] unless the message is 32 bytes that encode an element other than the identity;
/// [`Error::BufferLength`] and [`Error::InvalidKey`] as for [`Initiator::start`].
pub fn respond<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    names: &Names<'_>,
    password: &[u8],
    message: &[u8],
    rng: &mut R,
) -> Result<(Unconfirmed, [u8; MESSAGE_LEN]), Error> {
    let (message, element) = decode(message)?;
    let (protocol, scalar, response) = start(domain, names, password, rng)?;
    let protocol = finish(protocol, &scalar, &element, [message, &response])?;
    let own = Side::Responder;
    Ok((Unconfirmed { protocol, own }, response))
}

fn start<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    names: &Names<'_>,
    password: &[u8],
    rng: &mut R,
) -> Result<(Protocol, Secret<Scalar>, [u8; MESSAGE_LEN]), Error> {
    let _timing = Timing::independent();
    if names.session.is_empty() {
        return Err(Error::BufferLength);
    }
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("initiator"), names.initiator);
    protocol.mix(label!("responder"), names.responder);
    protocol.mix(label!("session"), names.session);
    protocol.mix(label!("password"), password);
    let generator = Secret::new(group::derive_element(&mut protocol, label!("generator"))?);
    let scalar = group::random_scalar(rng);
    let message = group::not_identity(*generator * *scalar)?;
    Ok((protocol, scalar, message.compress().to_bytes()))
}

fn decode(message: &[u8]) -> Result<(&[u8; MESSAGE_LEN], RistrettoPoint), Error> {
    let message = message.try_into().map_err(|_| Error::Verification)?;
    let element = group::decode_element(message).map_err(|_| Error::Verification)?;
    Ok((message, element))
}

/// `messages`: the initiator's, then the responder's; `element`: the peer's.
fn finish(
    mut protocol: Protocol,
    scalar: &Secret<Scalar>,
    element: &RistrettoPoint,
    [initiator, responder]: [&[u8; MESSAGE_LEN]; 2],
) -> Result<Protocol, Error> {
    let _timing = Timing::independent();
    protocol.mix(label!("initiator-message"), initiator);
    protocol.mix(label!("responder-message"), responder);
    let shared = Secret::new(element * **scalar);
    group::mix_secret_element(&mut protocol, label!("key-element"), &shared)?;
    Ok(protocol)
}
