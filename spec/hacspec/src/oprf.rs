//! Oblivious pseudorandom function, plain and verifiable (design.md, "Schemes"). There is no Cryptol twin: Cryptol
//! has no such group.

use crate::duplex::Duplex;
use crate::group::{
    Element, Scalar, generator, hedge, inverse, is_scalar, map, minus, part, plus_times, sum, times, wide,
};
use crate::protocol::{derive, fork_branch, init, mix};
use alloc::vec::Vec;

/// The transcript of an input.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], input: &[u8]) -> Duplex {
    mix(init(domain), b"input", input)
}

/// The point of an input.
pub fn point(p: Duplex) -> Element {
    map(&derive(fork_branch(p, b"output", 1, b"element"), b"element", 64).1)
}

/// The output of n bytes, from the point under the server's key.
pub fn output(p: Duplex, unblinded: Element, n: usize) -> Vec<u8> {
    let prf = fork_branch(p, b"output", 2, b"prf");
    derive(mix(prf, b"unblinded-element", &unblinded), b"prf", n).1
}

/// What the client sends.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_scalar(blind) && blind != [0; 32]))]
pub fn blind(domain: &[u8], input: &[u8], blind: Scalar) -> Element {
    times(blind, point(start(domain, input)))
}

/// The client's output from the server's answer.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_scalar(blind) && blind != [0; 32]))]
pub fn finalize(domain: &[u8], input: &[u8], blind: Scalar, evaluated: Element, n: usize) -> Vec<u8> {
    output(start(domain, input), times(inverse(blind), evaluated), n)
}

/// The output that the owner of the key computes directly.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_scalar(private)))]
pub fn evaluate(domain: &[u8], private: Scalar, input: &[u8], n: usize) -> Vec<u8> {
    let p = start(domain, input);
    output(p, times(private, point(p)), n)
}

/// The weights of a batch: one for each pair.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && blinded.len() == evaluated.len()))]
pub fn weights(domain: &[u8], server: Element, blinded: &[Element], evaluated: &[Element]) -> Vec<Scalar> {
    let mut p = mix(init(domain), b"b", &server);
    let mut weights = Vec::new();
    for i in 0..blinded.len() {
        let pair = mix(mix(p, b"c", &blinded[i]), b"d", &evaluated[i]);
        let (next, uniform) = derive(pair, b"scalar", 64);
        p = next;
        weights.push(wide(&uniform));
    }
    weights
}

/// The sum of elements, each times its weight.
#[cfg_attr(veriplex_hax, hax_lib::requires(weights.len() == elements.len()))]
pub fn weighted_sum(weights: &[Scalar], elements: &[Element]) -> Element {
    let mut terms = Vec::new();
    for i in 0..elements.len() {
        terms.push(times(weights[i], elements[i]));
    }
    sum(&terms)
}

/// The transcript of what a proof is about.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn statement(domain: &[u8], server: Element, m: Element, z: Element) -> Duplex {
    mix(mix(mix(init(domain), b"b", &server), b"m", &m), b"z", &z)
}

/// The uniform bytes of the nonce of a proof, from a generator's.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn nonce(
    domain: &[u8],
    private: Scalar,
    blinded: &[Element],
    evaluated: &[Element],
    randomness: &[u8],
) -> Vec<u8> {
    let server = times(private, generator());
    let d = weights(domain, server, blinded, evaluated);
    let (m, z) = (weighted_sum(&d, blinded), weighted_sum(&d, evaluated));
    let hidden = hedge(statement(domain, server, m, z), private, randomness);
    derive(hidden, b"commitment", 64).1
}

/// The challenge of a proof.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn challenge(domain: &[u8], server: Element, m: Element, z: Element, t2: Element, t3: Element) -> Scalar {
    let committed = mix(mix(statement(domain, server, m, z), b"t2", &t2), b"t3", &t3);
    wide(&derive(committed, b"challenge", 64).1)
}

/// The proof for a batch: challenge, response. The randomness is the uniform bytes of the nonce.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && randomness.len() == 64))]
pub fn prove(
    domain: &[u8],
    private: Scalar,
    blinded: &[Element],
    evaluated: &[Element],
    randomness: &[u8],
) -> Vec<u8> {
    let server = times(private, generator());
    let d = weights(domain, server, blinded, evaluated);
    let m = weighted_sum(&d, blinded);
    let z = weighted_sum(&d, evaluated);
    let r = wide(randomness);
    let c = challenge(domain, server, m, z, times(r, generator()), times(r, m));
    [c, plus_times(r, minus(c), private)].concat()
}

/// Is this a valid proof for the batch?
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && blinded.len() == evaluated.len()))]
pub fn verify(
    domain: &[u8],
    server: Element,
    blinded: &[Element],
    evaluated: &[Element],
    proof: &[u8],
) -> bool {
    if blinded.is_empty() || proof.len() != 64 {
        return false;
    }
    let c = part(proof, 0);
    let s = part(proof, 32);
    if !is_scalar(c) || !is_scalar(s) {
        return false;
    }
    let d = weights(domain, server, blinded, evaluated);
    let m = weighted_sum(&d, blinded);
    let z = weighted_sum(&d, evaluated);
    let t2 = sum(&[times(s, generator()), times(c, server)]);
    let t3 = sum(&[times(s, m), times(c, z)]);
    challenge(domain, server, m, z, t2, t3) == c
}
