//! Signatures (design.md, "Schemes"). There is no Cryptol twin: Cryptol has no such group.

use crate::duplex::Duplex;
use crate::group::{Element, Scalar, generator, is_scalar, minus, part, plus_times, sum, times, wide};
use crate::protocol::{derive, fork_branch, init, mix};
use alloc::vec::Vec;

/// The transcript before the Fork.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], public: Element, message: &[u8]) -> Duplex {
    mix(mix(init(domain), b"signer", &public), b"message", message)
}

/// The nonce, from the prover's branch.
pub fn nonce(p: Duplex, private: Scalar, randomness: &[u8]) -> Scalar {
    let prover = fork_branch(p, b"role", 1, b"prover");
    let hidden = mix(
        mix(prover, b"signer-private", &private),
        b"hedged-rand",
        randomness,
    );
    wide(&derive(hidden, b"commitment", 64).1)
}

/// The challenge, from the verifier's branch.
pub fn challenge(p: Duplex, commitment: Element) -> Scalar {
    let verifier = fork_branch(p, b"role", 2, b"verifier");
    wide(&derive(mix(verifier, b"commitment", &commitment), b"challenge", 64).1)
}

/// Sign a message: the commitment, then the proof.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_scalar(private)))]
pub fn sign(domain: &[u8], private: Scalar, randomness: &[u8], message: &[u8]) -> Vec<u8> {
    let p = start(domain, times(private, generator()), message);
    let k = nonce(p, private, randomness);
    let commitment = times(k, generator());
    let proof = plus_times(k, private, challenge(p, commitment));
    [commitment, proof].concat()
}

/// Is this a valid signature of the message?
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && crate::group::is_element(public)))]
pub fn verify(domain: &[u8], public: Element, message: &[u8], signature: &[u8]) -> bool {
    if signature.len() != 64 {
        return false;
    }
    let commitment = part(signature, 0);
    let proof = part(signature, 32);
    if !is_scalar(proof) {
        return false;
    }
    let c = challenge(start(domain, public, message), commitment);
    sum(&[times(proof, generator()), times(minus(c), public)]) == commitment
}
