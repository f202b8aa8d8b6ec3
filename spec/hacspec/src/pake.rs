//! Password-authenticated key exchange (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{Element, map, times, wide};
use crate::handshake::directions;
use crate::protocol::{derive, fork_branch, fork_root, init, mix};
use alloc::vec::Vec;

/// The transcript of what both sides know, and the generator derived from it.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(
    domain: &[u8],
    initiator: &[u8],
    responder: &[u8],
    session: &[u8],
    password: &[u8],
) -> (Duplex, Element) {
    let names = mix(
        mix(init(domain), b"initiator", initiator),
        b"responder",
        responder,
    );
    let secret = mix(mix(names, b"session", session), b"password", password);
    let (p, uniform) = derive(secret, b"generator", 64);
    (p, map(&uniform))
}

/// What a side sends.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64 && crate::group::is_element(generator)))]
pub fn message(generator: Element, randomness: &[u8]) -> Element {
    times(wide(randomness), generator)
}

/// The final transcript of a side, from the other side's message.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64 && crate::group::is_element(other)))]
pub fn finish(
    p: Duplex,
    randomness: &[u8],
    other: Element,
    initiator: Element,
    responder: Element,
) -> Duplex {
    let sent = mix(
        mix(p, b"initiator-message", &initiator),
        b"responder-message",
        &responder,
    );
    mix(sent, b"key-element", &times(wide(randomness), other))
}

/// From what a side has at the end: the protocols with which responder and initiator send, and the confirmations of
/// initiator and responder.
pub fn confirm(p: Duplex) -> (Duplex, Duplex, Vec<u8>, Vec<u8>) {
    let initiator = fork_branch(p, b"confirmation", 1, b"initiator");
    let responder = fork_branch(p, b"confirmation", 2, b"responder");
    let (from_responder, from_initiator) = directions(fork_root(p, b"confirmation"));
    (
        from_responder,
        from_initiator,
        derive(initiator, b"tag", 32).1,
        derive(responder, b"tag", 32).1,
    )
}
