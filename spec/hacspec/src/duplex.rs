//! The duplex: the permutation's state with a cursor (design.md, "Duplex").
//!
//! Cryptol twin: `spec/cryptol/Duplex.cry`. Keep the two in step, definition by definition. `proofs/spec-to-rocq` writes this
//! file and `protocol.rs` for Rocq, and refuses forms that it does not know.

use crate::simpira1024::{State, permute};
use alloc::vec::Vec;
use core::array::from_fn;

/// Usable bytes of a block. Byte 95 takes the last bit of padding, bytes 96..127 are the capacity: 256 bits.
pub const RATE: usize = 94;

/// A duplex: where the next byte goes, and where the current frame began in this block (0: it did not).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplex {
    /// The permutation's state.
    pub state: State,
    /// Where the next byte goes.
    pub rate_idx: u8,
    /// Where the current frame began in this block.
    pub frame_idx: u8,
}

/// The duplex before its first byte.
pub const EMPTY: Duplex = Duplex {
    state: [0; 128],
    rate_idx: 0,
    frame_idx: 0,
};

// -- One byte --------------------------------------------------------------------------------------------------------

/// XOR into one byte of the state.
#[cfg_attr(veriplex_hax, hax_lib::requires(i < 128))]
pub fn xor_at(s: State, i: u8, b: u8) -> State {
    let mut s = s;
    s[usize::from(i)] ^= b;
    s
}

/// End a block: add the place of the last frame and the padding 1 0* 1, then permute.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn pad_permute(d: Duplex) -> Duplex {
    let framed = xor_at(d.state, d.rate_idx, d.frame_idx);
    let padded = xor_at(xor_at(framed, d.rate_idx + 1, 0x01), 95, 0x80);
    Duplex {
        state: permute(padded),
        rate_idx: 0,
        frame_idx: 0,
    }
}

/// The byte under the cursor.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn get(d: Duplex) -> u8 {
    d.state[usize::from(d.rate_idx)]
}

/// Replace the byte under the cursor and advance; a full block ends.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|next| usize::from(next.rate_idx) < RATE))]
pub fn put(d: Duplex, b: u8) -> Duplex {
    let mut next = d;
    next.state[usize::from(d.rate_idx)] = b;
    next.rate_idx += 1;
    if usize::from(next.rate_idx) == RATE {
        pad_permute(next)
    } else {
        next
    }
}

/// XOR one byte in and advance.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn xor_in(d: Duplex, b: u8) -> Duplex {
    put(d, get(d) ^ b)
}

// -- Bytes -----------------------------------------------------------------------------------------------------------

/// XOR bytes into the state.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn absorb(d: Duplex, bytes: &[u8]) -> Duplex {
    let mut d = d;
    for b in bytes {
        d = xor_in(d, *b);
    }
    d
}

/// Output n bytes and zero them, so that a later leak of the state does not reveal them.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|result| result.1.len() == n))]
pub fn squeeze(d: Duplex, n: usize) -> (Duplex, Vec<u8>) {
    let mut d = d;
    let mut out = Vec::new();
    for _ in 0..n {
        out.push(get(d));
        d = put(d, 0);
    }
    (d, out)
}

/// XOR plaintext in; the state then holds the ciphertext.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|result| result.1.len() == plaintext.len()))]
pub fn encrypt(d: Duplex, plaintext: &[u8]) -> (Duplex, Vec<u8>) {
    let mut d = d;
    let mut out = Vec::new();
    for p in plaintext {
        out.push(get(d) ^ *p);
        d = xor_in(d, *p);
    }
    (d, out)
}

/// The inverse of `encrypt`: the ciphertext replaces the bytes of the state.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|result| result.1.len() == ciphertext.len()))]
pub fn decrypt(d: Duplex, ciphertext: &[u8]) -> (Duplex, Vec<u8>) {
    let mut d = d;
    let mut out = Vec::new();
    for c in ciphertext {
        out.push(get(d) ^ *c);
        d = put(d, *c);
    }
    (d, out)
}

/// Absorb a number in LEB128: seven bits at a time, least significant first, the top bit set on all but the last byte.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn absorb_leb128(d: Duplex, x: u64) -> Duplex {
    let low = x.to_le_bytes()[0];
    if x < 0x80 {
        absorb(d, &[low])
    } else {
        absorb_leb128(absorb(d, &[low | 0x80]), x >> 7)
    }
}

/// Begin a frame: chain it to the frame before it in this block, note where it starts, absorb its name.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
pub fn frame(d: Duplex, id: u8) -> Duplex {
    let mut chained = absorb(d, &[d.frame_idx]);
    chained.frame_idx = chained.rate_idx;
    absorb(chained, &[id])
}

/// Forget: end the block if it holds anything, zero 32 bytes of the state, and continue after them.
#[cfg_attr(veriplex_hax, hax_lib::requires(usize::from(d.rate_idx) < RATE))]
#[cfg_attr(veriplex_hax, hax_lib::ensures(|after| after.rate_idx == 32))]
pub fn ratchet(d: Duplex) -> Duplex {
    let ended = if d.rate_idx > 0 { pad_permute(d) } else { d };
    Duplex {
        state: from_fn(|i| if i < 32 { 0 } else { ended.state[i] }),
        rate_idx: 32,
        frame_idx: ended.frame_idx,
    }
}

/// The state as bytes.
pub fn serialize(d: Duplex) -> [u8; 130] {
    from_fn(|i| match i {
        0 => d.rate_idx,
        1 => d.frame_idx,
        _ => d.state[i - 2],
    })
}

/// The state from bytes, as (ok, duplex). Refuses an index beyond the rate.
pub fn deserialize(bytes: [u8; 130]) -> (bool, Duplex) {
    let d = Duplex {
        state: from_fn(|i| bytes[i + 2]),
        rate_idx: bytes[0],
        frame_idx: bytes[1],
    };
    let ok = usize::from(d.rate_idx) < RATE && usize::from(d.frame_idx) < RATE;
    (ok, if ok { d } else { EMPTY })
}

// -- Whole blocks: what the kernels compute --------------------------------------------------------------------------
//
// From rate_idx = 0 and frame_idx = 0 to the same, on the bare state.

/// One full block.
pub type Chunk = [u8; RATE];

/// The padding of a full block without a frame, and the permutation.
pub fn end_block(s: State) -> State {
    let mut s = s;
    s[94] ^= 0x00;
    s[95] ^= 0x01 ^ 0x80;
    permute(s)
}

/// XOR one block in.
pub fn absorb_block(s: State, chunk: Chunk) -> State {
    end_block(from_fn(|i| if i < RATE { s[i] ^ chunk[i] } else { s[i] }))
}

/// Output one block and zero it.
pub fn squeeze_block(s: State) -> (State, Chunk) {
    let zeroed: State = from_fn(|i| if i < RATE { 0 } else { s[i] });
    (end_block(zeroed), from_fn(|i| s[i]))
}

/// Encrypt one block.
pub fn encrypt_block(s: State, plaintext: Chunk) -> (State, Chunk) {
    (absorb_block(s, plaintext), from_fn(|i| s[i] ^ plaintext[i]))
}

/// Decrypt one block.
pub fn decrypt_block(s: State, ciphertext: Chunk) -> (State, Chunk) {
    let replaced: State = from_fn(|i| if i < RATE { ciphertext[i] } else { s[i] });
    (end_block(replaced), from_fn(|i| s[i] ^ ciphertext[i]))
}

/// XOR blocks in.
pub fn absorb_blocks(s: State, chunks: &[Chunk]) -> State {
    let mut s = s;
    for chunk in chunks {
        s = absorb_block(s, *chunk);
    }
    s
}

/// Output n blocks.
pub fn squeeze_blocks(s: State, n: usize) -> (State, Vec<Chunk>) {
    let mut s = s;
    let mut out = Vec::new();
    for _ in 0..n {
        let (next, chunk) = squeeze_block(s);
        out.push(chunk);
        s = next;
    }
    (s, out)
}

/// Encrypt blocks.
pub fn encrypt_blocks(s: State, plaintext: &[Chunk]) -> (State, Vec<Chunk>) {
    let mut s = s;
    let mut out = Vec::new();
    for p in plaintext {
        let (next, chunk) = encrypt_block(s, *p);
        out.push(chunk);
        s = next;
    }
    (s, out)
}

/// Decrypt blocks.
pub fn decrypt_blocks(s: State, ciphertext: &[Chunk]) -> (State, Vec<Chunk>) {
    let mut s = s;
    let mut out = Vec::new();
    for c in ciphertext {
        let (next, chunk) = decrypt_block(s, *c);
        out.push(chunk);
        s = next;
    }
    (s, out)
}
