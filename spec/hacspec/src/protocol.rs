//! The protocol: labelled operations over a transcript (design.md, "Protocol").
//!
//! A transcript's state is a [`Duplex`]. Cryptol twin: `spec/cryptol/Protocol.cry`. Keep the two in step, definition by
//! definition.

use crate::duplex::{
    self, Duplex, EMPTY, absorb, absorb_leb128, decrypt, encrypt, frame, pad_permute, squeeze,
};
use alloc::{vec, vec::Vec};

/// The longest label, and the longest domain. A frame that starts at the last byte of a block leaves no trace, and with
/// a label of 92 bytes both frames of one header may fall there: then two different transcripts reach one state
/// (`header_92_collision` in spec/cryptol/test/TestProtocol.cry). With at most 91 bytes, at most one of the two does.
pub const MAX_LABEL: usize = 91;

/// Size in bytes of an authentication tag.
pub const TAG_LEN: usize = 16;

/// The beginning of every operation. Two frames with the opcode enclose the label.
pub fn header(p: Duplex, opcode: u8, label: &[u8]) -> Duplex {
    frame(absorb(frame(p, opcode), label), opcode | 0x80)
}

/// Begin a transcript in a domain.
#[cfg_attr(veriplex_hax, hax_lib::requires(domain.len() <= MAX_LABEL))]
pub fn init(domain: &[u8]) -> Duplex {
    header(EMPTY, 0x01, domain)
}

/// Mix in data, secret or public.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn mix(p: Duplex, label: &[u8], input: &[u8]) -> Duplex {
    absorb(header(p, 0x02, label), input)
}

/// Derive n bytes that depend on everything so far, and on n.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn derive(p: Duplex, label: &[u8], n: usize) -> (Duplex, Vec<u8>) {
    squeeze(pad_permute(absorb_leb128(header(p, 0x03, label), n as u64)), n)
}

/// Encrypt without authentication.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn mask(p: Duplex, label: &[u8], plaintext: &[u8]) -> (Duplex, Vec<u8>) {
    encrypt(pad_permute(header(p, 0x04, label)), plaintext)
}

/// The inverse of `mask`.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn unmask(p: Duplex, label: &[u8], ciphertext: &[u8]) -> (Duplex, Vec<u8>) {
    decrypt(pad_permute(header(p, 0x04, label)), ciphertext)
}

/// Encrypt with authentication: the ciphertext, then the tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|result| result.1.len() == plaintext.len() + TAG_LEN))]
pub fn seal(p: Duplex, label: &[u8], plaintext: &[u8]) -> (Duplex, Vec<u8>) {
    let n = plaintext.len() as u64;
    let (encrypted, ciphertext) = encrypt(pad_permute(absorb_leb128(header(p, 0x05, label), n)), plaintext);
    let (squeezed, tag) = squeeze(pad_permute(encrypted), TAG_LEN);
    (squeezed, [ciphertext, tag].concat())
}

/// The result of opening: on failure the plaintext is zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Was it authentic?
    pub ok: bool,
    /// The plaintext, or zeros.
    pub plaintext: Vec<u8>,
}

/// The inverse of `seal`. A refusal changes nothing. (Input shorter than a tag is refused too; Cryptol's type excludes
/// it.)
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn open(p: Duplex, label: &[u8], sealed: &[u8]) -> (Duplex, Opened) {
    if sealed.len() < TAG_LEN {
        let (ok, plaintext) = (false, Vec::new());
        return (p, Opened { ok, plaintext });
    }
    let n = sealed.len() - TAG_LEN;
    let (ciphertext, received) = sealed.split_at(n);
    let padded = pad_permute(absorb_leb128(header(p, 0x05, label), n as u64));
    let (decrypted, plaintext) = decrypt(padded, ciphertext);
    let (squeezed, tag) = squeeze(pad_permute(decrypted), TAG_LEN);
    if tag == received {
        (squeezed, Opened { ok: true, plaintext })
    } else {
        let (ok, plaintext) = (false, vec![0; n]);
        (p, Opened { ok, plaintext })
    }
}

/// Branch i of a fork, i = 1..255. It differs from its siblings by its index and by a value.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn fork_branch(p: Duplex, label: &[u8], i: u8, value: &[u8]) -> Duplex {
    absorb(absorb(header(p, 0x06, label), &[i]), value)
}

/// The transcript that continues after the fork: branch 0, without a value.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn fork_root(p: Duplex, label: &[u8]) -> Duplex {
    fork_branch(p, label, 0, &[])
}

/// Make what came before unrecoverable from what comes after.
#[cfg_attr(veriplex_hax, hax_lib::requires(label.len() <= MAX_LABEL))]
pub fn ratchet(p: Duplex, label: &[u8]) -> Duplex {
    duplex::ratchet(header(p, 0x07, label))
}
