//! Signcryption (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{
    Element, Scalar, generator, is_element, is_scalar, minus, part, plus_times, sum, times, wide,
};
use crate::protocol::{Opened, derive, fork_branch, init, mask, mix, unmask};
use alloc::vec::Vec;

/// The transcript before the Fork.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], sender: Element, receiver: Element) -> Duplex {
    mix(mix(init(domain), b"receiver", &receiver), b"sender", &sender)
}

/// The ephemeral private key and the nonce, from the sender's branch.
pub fn secrets(p: Duplex, sender: Scalar, randomness: &[u8], plaintext: &[u8]) -> (Scalar, Scalar) {
    let branch = fork_branch(p, b"role", 1, b"sender");
    let private = mix(mix(branch, b"sender-private", &sender), b"rand", randomness);
    let (next, ephemeral) = derive(mix(private, b"message", plaintext), b"ephemeral-private", 64);
    (wide(&ephemeral), wide(&derive(next, b"commitment", 64).1))
}

/// The receiver's branch before the message.
pub fn shared(p: Duplex, ephemeral: Element, ecdh: Element) -> Duplex {
    let branch = fork_branch(p, b"role", 2, b"receiver");
    mix(mix(branch, b"ephemeral", &ephemeral), b"ecdh", &ecdh)
}

/// Encrypt to a receiver, with a signature: the ephemeral key, the masked message, the masked commitment and proof.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_element(receiver)))]
pub fn seal(
    domain: &[u8],
    sender: Scalar,
    receiver: Element,
    randomness: &[u8],
    plaintext: &[u8],
) -> Vec<u8> {
    let p = start(domain, times(sender, generator()), receiver);
    let (e, k) = secrets(p, sender, randomness, plaintext);
    let ephemeral = times(e, generator());
    let (p1, message) = mask(shared(p, ephemeral, times(e, receiver)), b"message", plaintext);
    let (p2, commitment) = mask(p1, b"commitment", &times(k, generator()));
    let (p3, challenge) = derive(p2, b"challenge", 64);
    let proof = mask(p3, b"proof", &plus_times(k, sender, wide(&challenge))).1;
    [ephemeral.to_vec(), message, commitment, proof].concat()
}

/// The inverse of `seal`.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_element(sender)))]
pub fn open(domain: &[u8], receiver: Scalar, sender: Element, sealed: &[u8]) -> Opened {
    let refused = Opened {
        ok: false,
        plaintext: Vec::new(),
    };
    if sealed.len() < 96 {
        return refused;
    }
    let n = sealed.len() - 64;
    let ephemeral = part(sealed, 0);
    if !is_element(ephemeral) {
        return refused;
    }
    let p = start(domain, sender, times(receiver, generator()));
    let (p1, plaintext) = unmask(
        shared(p, ephemeral, times(receiver, ephemeral)),
        b"message",
        &sealed[32..n],
    );
    let (p2, commitment) = unmask(p1, b"commitment", &sealed[n..n + 32]);
    let (p3, challenge) = derive(p2, b"challenge", 64);
    let proof = part(&unmask(p3, b"proof", &sealed[n + 32..]).1, 0);
    if !is_scalar(proof) {
        return refused;
    }
    let expected = sum(&[times(proof, generator()), times(minus(wide(&challenge)), sender)]);
    if expected[..] != commitment {
        return refused;
    }
    Opened { ok: true, plaintext }
}
