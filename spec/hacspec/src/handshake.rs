//! Mutual authentication (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{Element, Scalar, generator, is_element, part, times, wide};
use crate::protocol::{fork_branch, init, mix, open, ratchet, seal};
use alloc::vec::Vec;

/// The public key that the peer claims, and the protocols of the two directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The peer's public key.
    pub peer: Element,
    /// What the responder sends with.
    pub responder: Duplex,
    /// What the initiator sends with.
    pub initiator: Duplex,
}

/// The first message.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64))]
pub fn request(randomness: &[u8]) -> Element {
    times(wide(randomness), generator())
}

/// The transcript of both ephemeral keys.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], ie: Element, re: Element, shared: Element) -> Duplex {
    mix(mix(mix(init(domain), b"ie", &ie), b"re", &re), b"ie-re", &shared)
}

/// The second message, and the responder's transcript.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64 && is_element(ie)))]
pub fn respond(domain: &[u8], own: Scalar, randomness: &[u8], ie: Element) -> (Duplex, Vec<u8>) {
    let e = wide(randomness);
    let re = times(e, generator());
    let ephemeral = start(domain, ie, re, times(e, ie));
    let (named, sealed) = seal(ephemeral, b"rs", &times(own, generator()));
    (
        mix(named, b"ie-rs", &times(own, ie)),
        [re.to_vec(), sealed].concat(),
    )
}

/// The third message, and the initiator's session.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn confirm(domain: &[u8], own: Scalar, randomness: &[u8], response: &[u8]) -> Option<(Session, Vec<u8>)> {
    if response.len() != 80 {
        return None;
    }
    let e = wide(randomness);
    let ie = times(e, generator());
    let re = part(response, 0);
    if !is_element(re) {
        return None;
    }
    let (named, opened) = open(start(domain, ie, re, times(e, re)), b"rs", &response[32..]);
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

/// The public key that was sealed.
pub fn key(ok: bool, plaintext: &[u8]) -> Option<Element> {
    let key: Element = plaintext.try_into().ok()?;
    if ok && is_element(key) { Some(key) } else { None }
}

/// The end of both.
pub fn session(p: Duplex, peer: Element) -> Session {
    let p = ratchet(p, b"handshake");
    Session {
        peer,
        responder: fork_branch(p, b"sender", 1, b"responder"),
        initiator: fork_branch(p, b"sender", 2, b"initiator"),
    }
}
