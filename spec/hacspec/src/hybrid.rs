//! Hybrid keys, the handshake of the tunnel, its renewal, and encryption to hybrid keys (design.md, "Tunnel"): `tunnel`
//! with both key exchanges. Cryptol has only the tunnel's symmetric part.

use crate::duplex::Duplex;
use crate::group::{generator, is_element, is_scalar, part, times};
use crate::kem;
use crate::protocol::{Opened, init, mix, open, seal, unmask};
use crate::tunnel;
use alloc::vec::Vec;

/// The bytes of a private key: a scalar, and a seed of ML-KEM.
pub const PRIVATE_LEN: usize = 96;

/// The bytes of a public key: an element, and an encapsulation key.
pub const PUBLIC_LEN: usize = 32 + kem::KEY_LEN;

/// Is it a private key?
pub fn is_private(key: &[u8]) -> bool {
    key.len() == PRIVATE_LEN && is_scalar(part(key, 0)) && part(key, 0) != [0; 32]
}

/// Is it a public key?
pub fn is_public(key: &[u8]) -> bool {
    key.len() == PUBLIC_LEN && is_element(part(key, 0)) && kem::is_key(&key[32..])
}

/// The public key.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_private(key)))]
pub fn public(key: &[u8]) -> Vec<u8> {
    [
        times(part(key, 0), generator()).to_vec(),
        kem::generate(&key[32..]),
    ]
    .concat()
}

/// The Diffie-Hellman step.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_private(private) && public.len() >= 32 && is_element(part(public, 0))))]
pub fn shared(private: &[u8], public: &[u8]) -> [u8; 32] {
    times(part(private, 0), part(public, 0))
}

/// The request, and the transcript after it.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_private(is) && is_private(ie) && is_public(rs) && m.len() == 32))]
pub fn request(domain: &[u8], is: &[u8], rs: &[u8], ie: &[u8], m: &[u8]) -> (Duplex, Vec<u8>) {
    let ephemeral = public(ie);
    let (ct, ss) = kem::encapsulate(&rs[32..], m);
    let p = tunnel::start(domain, rs, &ephemeral[..32], &shared(ie, rs), &ct, &ss);
    let (requested, sealed) = tunnel::seal_initiator(p, &public(is), &shared(is, rs), &ephemeral[32..]);
    (requested, [&ephemeral[..32], &ct, &sealed].concat())
}

/// What the responder reads in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The transcript after the request.
    pub p: Duplex,
    /// The initiator's public key.
    pub is: Vec<u8>,
    /// Its ephemeral one.
    pub ie: Vec<u8>,
}

/// The responder reads a request.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_private(rs)))]
pub fn receive_request(domain: &[u8], rs: &[u8], request: &[u8]) -> Option<Claim> {
    if request.len() != 3552 || !is_element(part(request, 0)) {
        return None;
    }
    let (ie, ct) = (&request[..32], &request[32..1120]);
    let ss = kem::decapsulate(&rs[32..], ct);
    let started = tunnel::start(domain, &public(rs), ie, &shared(rs, ie), ct, &ss);
    let (named, is) = open(started, b"is", &request[1120..2352]);
    if !is.ok || !is_public(&is.plaintext) {
        return None;
    }
    let authenticated = mix(named, b"is-rs", &shared(rs, &is.plaintext));
    let (p, ie_kem) = open(authenticated, b"ie-kem", &request[2352..]);
    if !ie_kem.ok || !kem::is_key(&ie_kem.plaintext) {
        return None;
    }
    let (is, ie) = (is.plaintext, [ie, &ie_kem.plaintext].concat());
    Some(Claim { p, is, ie })
}

/// The response, and the transcript after it.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_private(re) && m1.len() == 32 && m2.len() == 32))]
pub fn respond(claim: &Claim, re: &[u8], m1: &[u8], m2: &[u8]) -> (Duplex, Vec<u8>) {
    let ephemeral = public(re);
    let answered = tunnel::answer(
        claim.p,
        &ephemeral[..32],
        &shared(re, &claim.ie),
        &shared(re, &claim.is),
    );
    let (is_ct, is_ss) = kem::encapsulate(&claim.is[32..], m1);
    let (ie_ct, ie_ss) = kem::encapsulate(&claim.ie[32..], m2);
    let (p, hidden) = tunnel::seal_responder(answered, &is_ct, &is_ss, &ie_ct, &ie_ss, &ephemeral[32..]);
    (p, [&ephemeral[..32], &hidden].concat())
}

/// The initiator reads a response: the transcript after it, and the responder's ephemeral key.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_private(is) && is_private(ie)))]
pub fn receive_response(p: Duplex, is: &[u8], ie: &[u8], response: &[u8]) -> Option<(Duplex, Vec<u8>)> {
    if response.len() != 3424 || !is_element(part(response, 0)) {
        return None;
    }
    let re = &response[..32];
    let answered = tunnel::answer(p, re, &shared(ie, re), &shared(is, re));
    let (p1, is_ct) = unmask(answered, b"is-ct", &response[32..1120]);
    let is_ss = kem::decapsulate(&is[32..], &is_ct);
    let (p2, ie_ct) = open(mix(p1, b"is-ss", &is_ss), b"ie-ct", &response[1120..2224]);
    if !ie_ct.ok {
        return None;
    }
    let ie_ss = kem::decapsulate(&ie[32..], &ie_ct.plaintext);
    let (p3, re_kem) = open(mix(p2, b"ie-ss", &ie_ss), b"re-kem", &response[2224..]);
    if !re_kem.ok || !kem::is_key(&re_kem.plaintext) {
        return None;
    }
    Some((p3, [re, &re_kem.plaintext].concat()))
}

/// The frame of a renewal against the peer's key of this number, and the protocol of the direction after it.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_public(peers) && is_private(e) && m.len() == 32))]
pub fn send_renewal(
    d: Duplex,
    number: u32,
    peers: &[u8],
    e: &[u8],
    m: &[u8],
    announce: bool,
) -> (Duplex, Vec<u8>) {
    let own = public(e);
    let (ct, ss) = kem::encapsulate(&peers[32..], m);
    let announced = if announce {
        [&[1], &own[32..]].concat()
    } else {
        [0].to_vec()
    };
    let frame = [&[2], &number.to_le_bytes()[..], &own[..32], &ct, &announced].concat();
    (tunnel::renew(d, &frame, &shared(e, peers), &ss), frame)
}

/// The protocol of a direction after the peer's renewal against this key of ours.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_private(own) && frame.len() >= 1126 && is_element(part(frame, 5))))]
pub fn receive_renewal(d: Duplex, own: &[u8], frame: &[u8]) -> Duplex {
    let ss = kem::decapsulate(&own[32..], &frame[37..1125]);
    tunnel::renew(d, frame, &shared(own, &frame[5..37]), &ss)
}

/// The transcript of an encrypted message before the message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL))]
pub fn envelope(
    domain: &[u8],
    sender: &[u8],
    receiver: &[u8],
    ephemeral: &[u8],
    products: [[u8; 32]; 2],
    ct: &[u8],
    ss: &[u8],
) -> Duplex {
    let keys = mix(
        mix(mix(init(domain), b"sender", sender), b"receiver", receiver),
        b"ephemeral",
        ephemeral,
    );
    let classical = mix(
        mix(keys, b"ephemeral ecdh", &products[0]),
        b"static ecdh",
        &products[1],
    );
    mix(mix(classical, b"ciphertext", ct), b"encapsulated", ss)
}

/// Encrypt to a receiver: the ephemeral element, the ciphertext of ML-KEM, the sealed message.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_private(sender) && is_public(receiver) && m.len() == 32))]
pub fn seal_message(
    domain: &[u8],
    sender: &[u8],
    receiver: &[u8],
    ephemeral: [u8; 32],
    m: &[u8],
    plaintext: &[u8],
) -> Vec<u8> {
    let element = times(ephemeral, generator());
    let (ct, ss) = kem::encapsulate(&receiver[32..], m);
    let products = [times(ephemeral, part(receiver, 0)), shared(sender, receiver)];
    let p = envelope(domain, &public(sender), receiver, &element, products, &ct, &ss);
    [&element[..], &ct, &seal(p, b"message", plaintext).1].concat()
}

/// The inverse of `seal_message`.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= crate::protocol::MAX_LABEL && is_private(receiver) && is_public(sender)))]
pub fn open_message(domain: &[u8], receiver: &[u8], sender: &[u8], sealed: &[u8]) -> Opened {
    let (ok, plaintext) = (false, Vec::new());
    if sealed.len() < 1120 || !is_element(part(sealed, 0)) {
        return Opened { ok, plaintext };
    }
    let (element, ct) = (&sealed[..32], &sealed[32..1120]);
    let ss = kem::decapsulate(&receiver[32..], ct);
    let products = [shared(receiver, element), shared(receiver, sender)];
    let p = envelope(domain, sender, &public(receiver), element, products, ct, &ss);
    open(p, b"message", &sealed[1120..]).1
}
