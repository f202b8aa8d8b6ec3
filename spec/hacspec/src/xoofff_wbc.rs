//! Xoofff-WBC, a tweakable cipher on whole messages, and Xoofff-WBC-AE (eprint 2016/1188, 2018/767).
//!
//! Cryptol twin: `spec/cryptol/XoofffWbc.cry`. Keep the two in step, definition by definition.

use crate::protocol::Opened;
use crate::xoofff::{BLOCK_LEN, Deck, append, output, short, start, xor};
use alloc::{vec, vec::Vec};

/// The number of zero bytes after a message of Xoofff-WBC-AE.
pub const EXPANSION: usize = 16;

/// The length of the left part of a message of n bytes.
#[cfg_attr(veriplex_hax, hax_lib::requires(n < 0x1000_0000))]
pub fn left(n: usize) -> usize {
    if n <= 94 {
        n.div_ceil(2)
    } else {
        let q = (8 * n + 10).div_ceil(384);
        let mut t = 1;
        while 2 * t < q {
            t *= 2;
        }
        BLOCK_LEN * (q - t) - 1
    }
}

/// XOR the other part's short output into the first block of one part.
pub fn brief(key: &[u8], part: &[u8], other: &[u8], bit: u8) -> Vec<u8> {
    let n = if part.len() < BLOCK_LEN {
        part.len()
    } else {
        BLOCK_LEN
    };
    let stream = short(append(start(key), other, bit, 1), n);
    [xor(&part[..n], &stream), part[n..].to_vec()].concat()
}

/// XOR the output for the tweak and the other part into one part.
pub fn full(tweaked: Deck, part: &[u8], other: &[u8], bit: u8) -> Vec<u8> {
    xor(part, &output(append(tweaked, other, bit, 1), 0, part.len()))
}

/// Encipher a message under a tweak.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn encipher(key: &[u8], tweak: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let tweaked = append(start(key), tweak, 0, 0);
    let (l, r) = plaintext.split_at(left(plaintext.len()));
    let r = brief(key, r, l, 0);
    let l = full(tweaked, l, &r, 1);
    let r = full(tweaked, &r, &l, 0);
    let l = brief(key, &l, &r, 1);
    [l, r].concat()
}

/// The inverse of `encipher`.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn decipher(key: &[u8], tweak: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let tweaked = append(start(key), tweak, 0, 0);
    let (l, r) = ciphertext.split_at(left(ciphertext.len()));
    let l = brief(key, l, r, 1);
    let r = full(tweaked, r, &l, 0);
    let l = full(tweaked, &l, &r, 1);
    let r = brief(key, &r, &l, 0);
    [l, r].concat()
}

/// Encrypt and authenticate a message: Xoofff-WBC-AE.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn seal(key: &[u8], ad: &[u8], plaintext: &[u8]) -> Vec<u8> {
    encipher(key, ad, &[plaintext, &[0; EXPANSION]].concat())
}

/// The inverse of `seal`. Refuses fewer than 16 bytes (Cryptol's type excludes them).
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() <= 47))]
pub fn open(key: &[u8], ad: &[u8], sealed: &[u8]) -> Opened {
    if sealed.len() < EXPANSION {
        let plaintext = Vec::new();
        return Opened { ok: false, plaintext };
    }
    let n = sealed.len() - EXPANSION;
    let padded = decipher(key, ad, sealed);
    let ok = padded[n..] == [0; EXPANSION];
    let plaintext = if ok { padded[..n].to_vec() } else { vec![0; n] };
    Opened { ok, plaintext }
}
