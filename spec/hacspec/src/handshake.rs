//! Mutual authentication (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{Element, Scalar, generator, hedge, is_element, part, times, wide};
use crate::protocol::{derive, fork_branch, init, mix, open, ratchet, seal};
use alloc::vec::Vec;

/// The public key that the peer claims, and the protocols of the two directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The peer's public key.
    pub peer: Element,
    /// The protocol with which the responder sends.
    pub responder: Duplex,
    /// The protocol with which the initiator sends.
    pub initiator: Duplex,
}

/// The first message.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64))]
pub fn request(randomness: &[u8]) -> Element {
    times(wide(randomness), generator())
}

/// The transcript before the first message. No prologue leaves no trace.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn begin(domain: &[u8], prologue: &[u8]) -> Duplex {
    if prologue.is_empty() {
        init(domain)
    } else {
        mix(init(domain), b"prologue", prologue)
    }
}

/// The uniform bytes of the initiator's ephemeral key, from a generator's.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn initiator_ephemeral(domain: &[u8], prologue: &[u8], own: Scalar, randomness: &[u8]) -> Vec<u8> {
    let hidden = hedge(begin(domain, prologue), own, randomness);
    derive(hidden, b"ephemeral-private", 64).1
}

/// The uniform bytes of the responder's ephemeral key, from a generator's and the request.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn responder_ephemeral(
    domain: &[u8],
    prologue: &[u8],
    own: Scalar,
    randomness: &[u8],
    ie: Element,
) -> Vec<u8> {
    let hidden = hedge(mix(begin(domain, prologue), b"ie", &ie), own, randomness);
    derive(hidden, b"ephemeral-private", 64).1
}

/// The transcript of both ephemeral keys.
pub fn start(p: Duplex, ie: Element, re: Element, shared: Element) -> Duplex {
    mix(mix(mix(p, b"ie", &ie), b"re", &re), b"ie-re", &shared)
}

/// The second message, and the responder's transcript.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64 && is_element(ie)))]
pub fn respond(
    domain: &[u8],
    prologue: &[u8],
    own: Scalar,
    randomness: &[u8],
    ie: Element,
) -> (Duplex, Vec<u8>) {
    let e = wide(randomness);
    let re = times(e, generator());
    let ephemeral = start(begin(domain, prologue), ie, re, times(e, ie));
    let (named, sealed) = seal(ephemeral, b"rs", &times(own, generator()));
    (
        mix(named, b"ie-rs", &times(own, ie)),
        [re.to_vec(), sealed].concat(),
    )
}

/// The third message, and the initiator's session.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn confirm(
    domain: &[u8],
    prologue: &[u8],
    own: Scalar,
    randomness: &[u8],
    response: &[u8],
) -> Option<(Session, Vec<u8>)> {
    if response.len() != 80 {
        return None;
    }
    let e = wide(randomness);
    let ie = times(e, generator());
    let re = part(response, 0);
    if !is_element(re) {
        return None;
    }
    let ephemeral = start(begin(domain, prologue), ie, re, times(e, re));
    let (named, opened) = open(ephemeral, b"rs", &response[32..]);
    let rs = key(opened.ok, &opened.plaintext)?;
    let authenticated = mix(named, b"ie-rs", &times(e, rs));
    let (confirmed, confirmation) = seal(authenticated, b"is", &times(own, generator()));
    let p = mix(confirmed, b"is-re", &times(own, re));
    Some((session(p, rs), confirmation))
}

/// The responder's session.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64))]
pub fn finish(p: Duplex, randomness: &[u8], confirmation: &[u8]) -> Option<Session> {
    if confirmation.len() != 48 {
        return None;
    }
    let (confirmed, opened) = open(p, b"is", confirmation);
    let is = key(opened.ok, &opened.plaintext)?;
    let p = mix(confirmed, b"is-re", &times(wide(randomness), is));
    Some(session(p, is))
}

/// The public key in an opened plaintext, if there is a valid one.
pub fn key(ok: bool, plaintext: &[u8]) -> Option<Element> {
    let key: Element = plaintext.try_into().ok()?;
    if ok && is_element(key) { Some(key) } else { None }
}

/// The last step of both sides.
pub fn session(p: Duplex, peer: Element) -> Session {
    let (responder, initiator) = directions(p);
    Session {
        peer,
        responder,
        initiator,
    }
}

/// The protocols with which responder and initiator send.
pub fn directions(p: Duplex) -> (Duplex, Duplex) {
    let p = ratchet(p, b"handshake");
    (
        fork_branch(p, b"sender", 1, b"responder"),
        fork_branch(p, b"sender", 2, b"initiator"),
    )
}
