//! A protocol keyed by a password, in two messages. An eavesdropper can test no guess at the password, and an active
//! attacker one guess per run (in the style of `CPace`, draft-irtf-cfrg-cpace). It is **balanced**: both sides hold the
//! password itself, so whoever steals it from one side can pose as the other.
//!
//! The state that both sides reach depends on the password, on both names, on the session and on both messages.
//! Something else must tell both who begins.
//!
#![cfg_attr(feature = "getrandom", doc = "```")]
#![cfg_attr(not(feature = "getrandom"), doc = "```ignore")]
//! use veriplex::{label, pake::{Initiator, Names, respond}};
//! let mut rng = veriplex::os_rng();
//! let domain = label!("com.example.pairing");
//! let names = Names { initiator: b"phone", responder: b"laptop", session: b"2026-11-21/17" };
//!
//! let (initiator, request) = Initiator::start(domain, &names, b"482 913", &mut rng)?;
//! let (mut laptop, response) = respond(domain, &names, b"482 913", &request, &mut rng)?;
//! let mut phone = initiator.finish(&response)?;
//!
//! // Neither knows yet that the other had the same password: let each show it.
//! let proof: [u8; 32] = laptop.derive_array(label!("responder"));
//! let expected: [u8; 32] = phone.derive_array(label!("responder"));
//! assert_eq!(proof, expected); // in practice with `subtle`; then the phone shows its `initiator`
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! A wrong password gives no error here, only a different state, as unpredictable as any key. Use the protocol only
//! after the peer has proved that it has the same one, and count the failures: each is a guess.
//!
//! The initiator is used once:
//!
//! ```compile_fail,E0382
//! # fn twice(initiator: veriplex::pake::Initiator, response: &[u8]) {
//! let first = initiator.finish(response);
//! let second = initiator.finish(response);
//! # }
//! ```

use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;

use super::group::{self, ELEMENT_LEN};
use crate::wipe::Secret;
use crate::{Error, Label, Protocol, label};

/// Size in bytes of either message.
pub const MESSAGE_LEN: usize = ELEMENT_LEN;

/// Who runs the protocol, and for what. Nothing here is secret; both sides must have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The name of the initiator.
    pub initiator: &'a [u8],
    /// The name of the responder. If it can be the initiator's, an attacker can reflect messages.
    pub responder: &'a [u8],
    /// An identifier of this run that both sides know. It should be unique; it may be empty.
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
    /// [`Error::InvalidKey`] if the password is mapped to the identity or the random scalar is zero (a probability of
    /// 2^-251).
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

    /// Reads the response: the protocol that the responder has too if the passwords were the same.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] unless the response is 32 bytes that encode an element other than the identity.
    pub fn finish(self, response: &[u8]) -> Result<Protocol, Error> {
        let (response, element) = decode(response)?;
        finish(self.protocol, &self.scalar, &element, [&self.message, response])
    }
}

impl fmt::Debug for Initiator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Initiator").finish_non_exhaustive()
    }
}

/// Answers an initiator's message: the protocol that the initiator will have too if the passwords were the same, and
/// the message of 32 bytes that goes to it.
///
/// # Errors
///
/// [`Error::Verification`] unless the message is 32 bytes that encode an element other than the identity;
/// [`Error::InvalidKey`] as for [`Initiator::start`].
pub fn respond<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    names: &Names<'_>,
    password: &[u8],
    message: &[u8],
    rng: &mut R,
) -> Result<(Protocol, [u8; MESSAGE_LEN]), Error> {
    let (message, element) = decode(message)?;
    let (protocol, scalar, response) = start(domain, names, password, rng)?;
    let protocol = finish(protocol, &scalar, &element, [message, &response])?;
    Ok((protocol, response))
}

fn start<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    names: &Names<'_>,
    password: &[u8],
    rng: &mut R,
) -> Result<(Protocol, Secret<Scalar>, [u8; MESSAGE_LEN]), Error> {
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
    protocol.mix(label!("initiator-message"), initiator);
    protocol.mix(label!("responder-message"), responder);
    let shared = Secret::new(element * **scalar);
    group::mix_secret_element(&mut protocol, label!("key-element"), &shared)?;
    Ok(protocol)
}
