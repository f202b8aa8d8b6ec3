//! Authenticated encryption to a public key (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such
//! group.

use crate::duplex::Duplex;
use crate::group::{Element, Scalar, generator, hedge, is_element, part, times, wide};
use crate::protocol::{Opened, derive, init, mix, open, seal};
use alloc::vec::Vec;

/// The transcript before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(
    domain: &[u8],
    sender: Element,
    receiver: Element,
    ephemeral: Element,
    ephemeral_shared: Element,
    static_shared: Element,
) -> Duplex {
    let keys = mix(
        mix(mix(init(domain), b"sender", &sender), b"receiver", &receiver),
        b"ephemeral",
        &ephemeral,
    );
    mix(
        mix(keys, b"ephemeral ecdh", &ephemeral_shared),
        b"static ecdh",
        &static_shared,
    )
}

/// The uniform bytes of the ephemeral key, from a generator's. There is no message if a protocol is set up.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn ephemeral(
    domain: &[u8],
    sender: Scalar,
    receiver: Element,
    randomness: &[u8],
    message: Option<&[u8]>,
) -> Vec<u8> {
    let public = times(sender, generator());
    let keys = mix(mix(init(domain), b"sender", &public), b"receiver", &receiver);
    let hidden = hedge(keys, sender, randomness);
    let bound = match message {
        Some(message) => mix(hidden, b"message", message),
        None => hidden,
    };
    derive(bound, b"ephemeral-private", 64).1
}

/// Encrypt to a receiver: the ephemeral key, then the sealed message. The randomness is the uniform bytes of the
/// former.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64 && is_element(receiver)))]
pub fn seal_message(
    domain: &[u8],
    sender: Scalar,
    receiver: Element,
    randomness: &[u8],
    plaintext: &[u8],
) -> Vec<u8> {
    let e = wide(randomness);
    let ephemeral = times(e, generator());
    let public = times(sender, generator());
    let p = start(
        domain,
        public,
        receiver,
        ephemeral,
        times(e, receiver),
        times(sender, receiver),
    );
    [ephemeral.to_vec(), seal(p, b"message", plaintext).1].concat()
}

/// The transcript of the form with info before the ephemeral key. `mode` is one of `base`, `base-setup`, `auth`,
/// `auth-setup`; the last two have a sender.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start_mode(
    domain: &[u8],
    mode: &[u8],
    info: &[u8],
    sender: Option<Element>,
    receiver: Element,
) -> Duplex {
    let start = mix(mix(init(domain), b"mode", mode), b"info", info);
    let keys = match sender {
        Some(sender) => mix(start, b"sender", &sender),
        None => start,
    };
    mix(keys, b"receiver", &receiver)
}

/// The uniform bytes of the ephemeral key in that form, from a generator's. There are no associated data and no message if
/// a protocol is set up.
#[cfg_attr(veriplex_hax, hax_lib::requires(randomness.len() == 64))]
pub fn ephemeral_of_mode(
    start: Duplex,
    sender: Option<Scalar>,
    randomness: &[u8],
    message: Option<(&[u8], &[u8])>,
) -> Vec<u8> {
    let hidden = match sender {
        Some(sender) => hedge(start, sender, randomness),
        None => mix(start, b"rand", randomness),
    };
    let bound = match message {
        Some((ad, message)) => mix(mix(hidden, b"ad", ad), b"message", message),
        None => hidden,
    };
    derive(bound, b"ephemeral-private", 64).1
}

/// The transcript of that form with the ephemeral key, from the results of the exchanges.
pub fn agree_mode(
    start: Duplex,
    ephemeral: Element,
    ephemeral_shared: Element,
    static_shared: Option<Element>,
) -> Duplex {
    let p = mix(
        mix(start, b"ephemeral", &ephemeral),
        b"ephemeral ecdh",
        &ephemeral_shared,
    );
    match static_shared {
        Some(shared) => mix(p, b"static ecdh", &shared),
        None => p,
    }
}

/// Encrypt to a receiver with info and associated data, with or without a sender's key.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64 && is_element(receiver)))]
pub fn seal_mode(
    domain: &[u8],
    info: &[u8],
    sender: Option<Scalar>,
    receiver: Element,
    ad: &[u8],
    randomness: &[u8],
    plaintext: &[u8],
) -> Vec<u8> {
    let mode: &[u8] = if sender.is_some() { b"auth" } else { b"base" };
    let public = sender.map(|s| times(s, generator()));
    let start = || start_mode(domain, mode, info, public, receiver);
    let e = wide(&ephemeral_of_mode(
        start(),
        sender,
        randomness,
        Some((ad, plaintext)),
    ));
    let ephemeral = times(e, generator());
    let shared = sender.map(|s| times(s, receiver));
    let p = mix(
        agree_mode(start(), ephemeral, times(e, receiver), shared),
        b"ad",
        ad,
    );
    [ephemeral.to_vec(), seal(p, b"message", plaintext).1].concat()
}

/// The inverse of `seal_mode`.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn open_mode(
    domain: &[u8],
    info: &[u8],
    receiver: Scalar,
    sender: Option<Element>,
    ad: &[u8],
    sealed: &[u8],
) -> Opened {
    let (ok, plaintext) = (false, Vec::new());
    if sealed.len() < 32 {
        return Opened { ok, plaintext };
    }
    let ephemeral = part(sealed, 0);
    if !is_element(ephemeral) {
        return Opened { ok, plaintext };
    }
    let mode: &[u8] = if sender.is_some() { b"auth" } else { b"base" };
    let start = start_mode(domain, mode, info, sender, times(receiver, generator()));
    let shared = sender.map(|s| times(receiver, s));
    let p = agree_mode(start, ephemeral, times(receiver, ephemeral), shared);
    open(mix(p, b"ad", ad), b"message", &sealed[32..]).1
}

/// The inverse of `seal_message`.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_element(sender)))]
pub fn open_message(domain: &[u8], receiver: Scalar, sender: Element, sealed: &[u8]) -> Opened {
    let (ok, plaintext) = (false, Vec::new());
    if sealed.len() < 32 {
        return Opened { ok, plaintext };
    }
    let ephemeral = part(sealed, 0);
    if !is_element(ephemeral) {
        return Opened { ok, plaintext };
    }
    let public = times(receiver, generator());
    let p = start(
        domain,
        sender,
        public,
        ephemeral,
        times(receiver, ephemeral),
        times(receiver, sender),
    );
    open(p, b"message", &sealed[32..]).1
}
