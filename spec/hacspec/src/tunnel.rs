//! The symmetric part of the tunnel (design.md, "Tunnel"): what the two key exchanges give are inputs.

use crate::duplex::Duplex;
use crate::protocol::{Opened, fork_branch, init, mask, mix, open, ratchet, seal, unmask};
use alloc::vec::Vec;

/// The bytes of an element, of a ciphertext of ML-KEM, of an encapsulation key, and of a public key: an element and such a
/// key.
pub const ELEMENT: usize = 32;
/// See [`ELEMENT`].
pub const CIPHERTEXT: usize = 1088;
/// See [`ELEMENT`].
pub const KEM_KEY: usize = 1184;
/// See [`ELEMENT`].
pub const PUBLIC_KEY: usize = ELEMENT + KEM_KEY;

/// The longest frame.
pub const MAX_FRAME: usize = 65536;

/// What people compare of a public key.
pub fn fingerprint(key: &[u8]) -> Vec<u8> {
    crate::protocol::derive(
        mix(init(b"veriplex.hybrid.fingerprint.v1"), b"public-key", key),
        b"fingerprint",
        32,
    )
    .1
}

/// The transcript before the initiator's key.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn start(domain: &[u8], rs: &[u8], ie: &[u8], ie_rs: &[u8], ct: &[u8], ss: &[u8]) -> Duplex {
    let classical = mix(mix(mix(init(domain), b"rs", rs), b"ie-ec", ie), b"ie-rs", ie_rs);
    mix(mix(classical, b"rs-ct", ct), b"rs-ss", ss)
}

/// The initiator's key and ephemeral encapsulation key, sealed, after `start`.
pub fn seal_initiator(p: Duplex, is: &[u8], is_rs: &[u8], ie_kem: &[u8]) -> (Duplex, Vec<u8>) {
    let (named, sealed_is) = seal(p, b"is", is);
    let (requested, sealed_ie) = seal(mix(named, b"is-rs", is_rs), b"ie-kem", ie_kem);
    (requested, [sealed_is, sealed_ie].concat())
}

/// The transcript before the responder's ciphertexts.
pub fn answer(p: Duplex, re: &[u8], ie_re: &[u8], is_re: &[u8]) -> Duplex {
    mix(mix(mix(p, b"re-ec", re), b"ie-re", ie_re), b"is-re", is_re)
}

/// The ciphertexts and the ephemeral encapsulation key, hidden, after `answer`.
pub fn seal_responder(
    p: Duplex,
    is_ct: &[u8],
    is_ss: &[u8],
    ie_ct: &[u8],
    ie_ss: &[u8],
    re_kem: &[u8],
) -> (Duplex, Vec<u8>) {
    let (p1, masked) = mask(p, b"is-ct", is_ct);
    let (p2, sealed_ct) = seal(mix(p1, b"is-ss", is_ss), b"ie-ct", ie_ct);
    let (p3, sealed_re) = seal(mix(p2, b"ie-ss", ie_ss), b"re-kem", re_kem);
    (p3, [masked, sealed_ct, sealed_re].concat())
}

/// What the responder sends with.
pub fn from_responder(p: Duplex) -> Duplex {
    fork_branch(ratchet(p, b"handshake"), b"sender", 1, b"responder")
}

/// What the initiator sends with.
pub fn from_initiator(p: Duplex) -> Duplex {
    fork_branch(ratchet(p, b"handshake"), b"sender", 2, b"initiator")
}

/// The protocol of record i.
pub fn numbered(d: Duplex, i: u64) -> Duplex {
    mix(d, b"record", &i.to_le_bytes())
}

/// Record i: the masked length of the frame, and the frame, sealed.
#[cfg_attr(veriplex_hax, hax_lib::requires(1 <= frame.len() && frame.len() <= MAX_FRAME))]
pub fn seal_record(d: Duplex, i: u64, frame: &[u8]) -> Vec<u8> {
    let len = (frame.len() as u64).to_be_bytes();
    let (p, header) = mask(numbered(d, i), b"len", &len[5..]);
    [header, seal(p, b"frame", frame).1].concat()
}

/// The inverse of `seal_record`.
pub fn open_record(d: Duplex, i: u64, record: &[u8]) -> Opened {
    let (ok, plaintext) = (false, Vec::new());
    if record.len() < 20 {
        return Opened { ok, plaintext };
    }
    let (p, header) = unmask(numbered(d, i), b"len", &record[..3]);
    let len = (header[0] as usize) << 16 | (header[1] as usize) << 8 | header[2] as usize;
    if len == 0 || len > MAX_FRAME || record.len() != len + 19 {
        return Opened { ok, plaintext };
    }
    open(p, b"frame", &record[3..]).1
}

/// The protocol of a direction after a renewal.
pub fn renew(d: Duplex, frame: &[u8], ec: &[u8], ss: &[u8]) -> Duplex {
    let mixed = mix(
        mix(mix(d, b"renewal", frame), b"renewal-ec", ec),
        b"renewal-ss",
        ss,
    );
    ratchet(mixed, b"epoch")
}
