//! Verifiable random function (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{
    Element, Scalar, generator, is_element, is_scalar, map, minus, part, plus_times, sum, times, wide,
};
use crate::protocol::{derive, fork_branch, init, mix};
use alloc::vec::Vec;

/// The transcript up to the input's point, and the point.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], public: Element, input: &[u8]) -> (Duplex, Element) {
    let keyed = mix(mix(init(domain), b"generator", &generator()), b"prover", &public);
    let (p, uniform) = derive(mix(keyed, b"input", input), b"point", 64);
    (p, map(&uniform))
}

/// The output of n bytes.
pub fn output(p: Duplex, gamma: Element, n: usize) -> (Duplex, Vec<u8>) {
    derive(mix(p, b"gamma", &gamma), b"prf", n)
}

/// The nonce, from the prover's branch.
pub fn nonce(p: Duplex, private: Scalar, randomness: &[u8]) -> Scalar {
    let prover = fork_branch(p, b"role", 1, b"prover");
    let hidden = mix(mix(prover, b"prover-private", &private), b"rand", randomness);
    wide(&derive(hidden, b"commitment", 64).1)
}

/// The challenge, from the verifier's branch.
pub fn challenge(p: Duplex, u: Element, v: Element) -> Scalar {
    let verifier = fork_branch(p, b"role", 2, b"verifier");
    let committed = mix(mix(verifier, b"commitment-u", &u), b"commitment-v", &v);
    wide(&derive(committed, b"challenge", 64).1)
}

/// The output for an input, and its proof: gamma, challenge, response.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn prove(
    domain: &[u8],
    private: Scalar,
    input: &[u8],
    randomness: &[u8],
    n: usize,
) -> (Vec<u8>, Vec<u8>) {
    let (p, point) = start(domain, times(private, generator()), input);
    let gamma = times(private, point);
    let (p1, prf) = output(p, gamma, n);
    let k = nonce(p1, private, randomness);
    let c = challenge(p1, times(k, generator()), times(k, point));
    (prf, [gamma, c, plus_times(k, c, private)].concat())
}

/// The output for an input, if the proof holds.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_element(public)))]
pub fn verify(domain: &[u8], public: Element, input: &[u8], proof: &[u8], n: usize) -> Option<Vec<u8>> {
    if proof.len() != 96 {
        return None;
    }
    let gamma = part(proof, 0);
    let c = part(proof, 32);
    let s = part(proof, 64);
    if !is_element(gamma) || !is_scalar(c) || !is_scalar(s) {
        return None;
    }
    let (p, point) = start(domain, public, input);
    let (p1, prf) = output(p, gamma, n);
    let u = sum(&[times(s, generator()), times(minus(c), public)]);
    let v = sum(&[times(s, point), times(minus(c), gamma)]);
    if challenge(p1, u, v) == c { Some(prf) } else { None }
}
