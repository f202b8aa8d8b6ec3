//! The duplex: bytes in and out of the permutation, at any position, with frames.

use core::slice;

use subtle::{Choice, ConstantTimeEq};

use crate::backend::Backend;
use crate::backend::simpira1024::{Block, STATE_LEN, State};
use crate::base::wipe::{opaque, wipe};
use crate::{Error, Label};
pub use framing::RATE;
use framing::{Absorb, Cursor, header_len, leb128};

pub(crate) mod framing;
pub(crate) mod lanes;

/// The duplex over Simpira-1024: rate 94 bytes, capacity 32 bytes, one byte of padding.
///
/// Bytes go in and out at the rate index. A full block, or [`Duplex::permute`], pads and permutes. Frames
/// mark boundaries: each writes the index of the frame before it, and the padding holds the index of the last.
/// See `design.md`, section "Duplex".
///
/// Equality is in constant time. The state is wiped on drop.
#[derive(Clone)]
pub struct Duplex {
    state: State,
    cursor: Cursor,
}

impl Duplex {
    /// Size in bytes of a serialised duplex: rate index, frame index, state.
    pub const SERIALIZED_LEN: usize = 2 + STATE_LEN;

    /// Becomes a copy. The old state is overwritten, so it needs no wiping.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.state = other.state;
        self.cursor = other.cursor;
    }

    pub(crate) const fn from_parts(state: State, cursor: Cursor) -> Self {
        Self { state, cursor }
    }

    #[inline]
    pub(crate) const fn parts(&self) -> (&State, Cursor) {
        (&self.state, self.cursor)
    }

    /// The all-zero state.
    #[must_use]
    pub const fn new() -> Self {
        Self::from_parts([0; STATE_LEN], Cursor::START)
    }

    /// XORs `input` into the rate.
    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub fn absorb(&mut self, input: &[u8]) {
        if input.len() < self.cursor.room() {
            return self.absorb_partial(input);
        }
        let (head, rest) = input.split_at(self.cursor.head_len(input.len()));
        self.absorb_partial(head);
        let (blocks, tail) = rest.as_chunks();
        if !blocks.is_empty() {
            Backend::current().absorb_blocks(&mut self.state, blocks);
        }
        self.absorb_partial(tail);
    }

    /// Moves the rate into `output`, leaving zeros.
    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub fn squeeze(&mut self, output: &mut [u8]) {
        if output.len() < self.cursor.room() {
            return self.squeeze_partial(output);
        }
        let (head, rest) = output.split_at_mut(self.cursor.head_len(output.len()));
        self.squeeze_partial(head);
        let (blocks, tail) = rest.as_chunks_mut();
        if !blocks.is_empty() {
            Backend::current().squeeze_blocks(&mut self.state, blocks);
        }
        self.squeeze_partial(tail);
    }

    /// Squeezes `output` and absorbs it in `other`. The permutations of the two alternate and do not depend on each
    /// other, so a CPU that executes out of order overlaps them.
    pub(crate) fn squeeze_and_absorb(&mut self, output: &mut [u8], other: &mut Self) {
        let [head, first] = [self.cursor.head_len(output.len()), other.cursor.room()];
        if output.len() < head + RATE {
            self.squeeze(output);
            return other.absorb(output);
        }
        // After this, both are at the beginning of a block, and every block is squeezed before `other` absorbs it.
        self.squeeze(&mut output[..head + RATE]);
        other.absorb(&output[..first]);
        let backend = Backend::current();
        let [mut squeezed, mut absorbed] = [head + RATE, first];
        while let Some(block) = output[squeezed..].first_chunk_mut() {
            backend.squeeze_blocks(&mut self.state, slice::from_mut(block));
            squeezed += RATE;
            let (blocks, _) = output[absorbed..squeezed].as_chunks();
            backend.absorb_blocks(&mut other.state, &blocks[..1]);
            absorbed += RATE;
        }
        self.squeeze_partial(&mut output[squeezed..]);
        other.absorb(&output[absorbed..]);
    }

    /// XORs `in_out` into the rate and replaces it with the result.
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub fn encrypt(&mut self, in_out: &mut [u8]) {
        let (head, rest) = in_out.split_at_mut(self.cursor.head_len(in_out.len()));
        self.encrypt_partial(head);
        let (blocks, tail) = rest.as_chunks_mut();
        if !blocks.is_empty() {
            Backend::current().encrypt_blocks(&mut self.state, blocks);
        }
        self.encrypt_partial(tail);
    }

    /// Replaces `in_out` with its XOR with the rate, and the rate with the old `in_out`: the inverse of
    /// [`Duplex::encrypt`].
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub fn decrypt(&mut self, in_out: &mut [u8]) {
        let (head, rest) = in_out.split_at_mut(self.cursor.head_len(in_out.len()));
        self.decrypt_partial(head);
        let (blocks, tail) = rest.as_chunks_mut();
        if !blocks.is_empty() {
            Backend::current().decrypt_blocks(&mut self.state, blocks);
        }
        self.decrypt_partial(tail);
    }

    /// [`Duplex::encrypt`] from one buffer to another of the same length.
    pub(crate) fn encrypt_into(&mut self, input: &[u8], output: &mut [u8]) {
        self.out_of_place(input, output, Self::encrypt_partial, Backend::encrypt_blocks_into);
    }

    /// [`Duplex::decrypt`] from one buffer to another of the same length.
    pub(crate) fn decrypt_into(&mut self, input: &[u8], output: &mut [u8]) {
        self.out_of_place(input, output, Self::decrypt_partial, Backend::decrypt_blocks_into);
    }

    /// Encrypts or decrypts full blocks from buffer to buffer, and copies the rest and processes it in place.
    fn out_of_place(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        partial: fn(&mut Self, &mut [u8]),
        blocks: fn(Backend, &mut State, &[Block], &mut [Block]),
    ) {
        debug_assert_eq!(input.len(), output.len());
        let head_len = self.cursor.head_len(input.len());
        let (input_head, input_rest) = input.split_at(head_len);
        let (head, rest) = output.split_at_mut(head_len);
        head.copy_from_slice(input_head);
        partial(self, head);
        let (input_blocks, input_tail) = input_rest.as_chunks();
        let (output_blocks, tail) = rest.as_chunks_mut();
        if !input_blocks.is_empty() {
            blocks(Backend::current(), &mut self.state, input_blocks, output_blocks);
        }
        tail.copy_from_slice(input_tail);
        partial(self, tail);
    }

    /// Begins a frame: absorbs the index of the current frame, remembers this one's, absorbs `id`.
    #[inline]
    pub fn frame(&mut self, id: u8) {
        self.absorb_frame(id);
    }

    /// The frame `op`, `label`, and the frame `op | 0x80`: the beginning of every operation of a protocol.
    #[inline(always)] // with a constant label, little code remains
    pub(crate) fn header(&mut self, op: u8, label: &[u8]) {
        let [start, len] = [self.cursor.position(), header_len(label)];
        if len < self.cursor.room() {
            let mut bytes = [0; Label::MAX_LEN + 4];
            if let Some(to) = self.cursor.header(&mut bytes, op, label.len()) {
                to.copy_from_slice(label);
                return xor(&mut self.state[start..][..len], &bytes[..len]);
            }
        }
        self.header_across_blocks(op, label);
    }

    #[cold]
    #[inline(never)]
    fn header_across_blocks(&mut self, op: u8, label: &[u8]) {
        self.absorb_header(op, label);
    }

    /// Absorbs a number as unsigned LEB128.
    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub(crate) fn number(&mut self, number: usize) {
        self.absorb_number(number);
    }

    /// Pads the block, full or not, and permutes.
    #[inline]
    pub fn permute(&mut self) {
        self.cursor.pad(&mut self.state);
        Backend::current().permute(&mut self.state);
        self.cursor = Cursor::START;
    }

    /// Makes the state impossible to run backwards: permutes unless a block has just begun, then
    /// overwrites 32 bytes, the size of the capacity, with zeros.
    pub fn ratchet(&mut self) {
        const ERASED: usize = 32;
        if self.cursor.position() > 0 {
            self.permute();
        }
        self.state[..ERASED].fill(0);
        self.cursor.advance(ERASED);
    }

    /// Rate index, frame index and state. The bytes are as secret as the duplex.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::SERIALIZED_LEN] {
        let mut bytes = [0; Self::SERIALIZED_LEN];
        bytes[..2].copy_from_slice(&self.cursor.to_bytes());
        bytes[2..].copy_from_slice(&self.state);
        bytes
    }

    /// The reverse of [`Duplex::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidState`] if an index is not below 94.
    pub fn from_bytes(bytes: &[u8; Self::SERIALIZED_LEN]) -> Result<Self, Error> {
        let [rate_idx, frame_idx, ref state @ ..] = *bytes;
        let cursor = Cursor::from_bytes([rate_idx, frame_idx]).ok_or(Error::InvalidState)?;
        Ok(Self::from_parts(*state, cursor))
    }

    /// Returns to the all-zero state, wiping secrets.
    pub fn clear(&mut self) {
        wipe(&mut self.state);
        self.cursor = Cursor::START;
    }

    /// The part of the rate that the next `len` bytes affect; they must fit into the block.
    #[inline]
    fn window(&mut self, len: usize) -> &mut [u8] {
        &mut self.state[self.cursor.position()..][..len]
    }

    /// Behind `len` bytes, which must fit into the block. Permutes if it is then full.
    #[inline]
    fn advance(&mut self, len: usize) {
        self.cursor.advance(len);
        self.permute_if_full();
    }

    #[inline]
    fn permute_if_full(&mut self) {
        if self.cursor.is_full() {
            self.permute();
        }
    }

    #[inline]
    pub(crate) fn absorb_byte(&mut self, byte: u8) {
        self.state[self.cursor.position()] ^= byte;
        self.advance(1);
    }

    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    fn absorb_partial(&mut self, input: &[u8]) {
        xor(self.window(input.len()), input);
        self.advance(input.len());
    }

    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    fn squeeze_partial(&mut self, output: &mut [u8]) {
        if output.is_empty() {
            return; // avoids pointless calls of memcpy and memset
        }
        let window = self.window(output.len());
        output.copy_from_slice(window);
        window.fill(0);
        self.advance(output.len());
    }

    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    fn encrypt_partial(&mut self, in_out: &mut [u8]) {
        for (s, b) in self.window(in_out.len()).iter_mut().zip(in_out.iter_mut()) {
            *s ^= *b;
            *b = *s;
        }
        self.advance(in_out.len());
    }

    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    fn decrypt_partial(&mut self, in_out: &mut [u8]) {
        for (s, b) in self.window(in_out.len()).iter_mut().zip(in_out.iter_mut()) {
            let c = *b;
            *b ^= *s;
            *s = c;
        }
        self.advance(in_out.len());
    }
}

impl Absorb for Duplex {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    #[inline(always)]
    fn absorb_byte(&mut self, byte: u8) {
        self.absorb_byte(byte);
    }

    #[inline(always)]
    fn absorb_bytes(&mut self, bytes: &[u8]) {
        self.absorb(bytes);
    }
}

/// A new duplex whose first block is not complete. Its bytes are stored, not combined: a CPU delays a load that needs several
/// of the stores before it, as small XORs one after the other do.
///
/// Its operations do what those of [`Duplex`] do, or return `None` if that would complete the block.
pub(crate) struct FirstBlock(Duplex);

impl FirstBlock {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(Duplex::new())
    }

    /// [`Duplex::header`].
    #[inline(always)]
    pub(crate) fn header(&mut self, op: u8, label: &[u8]) -> Option<()> {
        let Duplex { state, cursor } = &mut self.0;
        let bytes = state[cursor.position()..RATE - 1].get_mut(..header_len(label))?;
        cursor.header(bytes, op, label.len())?.copy_from_slice(label);
        Some(())
    }

    /// [`Duplex::absorb`].
    #[inline(always)]
    pub(crate) fn absorb(&mut self, input: &[u8]) -> Option<()> {
        let Duplex { state, cursor } = &mut self.0;
        let bytes = state[cursor.position()..RATE - 1].get_mut(..input.len())?;
        bytes.copy_from_slice(input);
        cursor.advance(input.len());
        Some(())
    }

    /// [`Duplex::number`], of a number that takes one byte.
    #[inline(always)]
    pub(crate) fn number(&mut self, number: usize) -> Option<()> {
        let (byte, rest) = leb128(number);
        if rest > 0 {
            return None;
        }
        self.absorb(&[byte])
    }

    #[inline(always)]
    pub(crate) fn as_duplex(&mut self) -> &mut Duplex {
        &mut self.0
    }
}

/// `to ^= from`, of equal lengths.
#[inline(always)]
fn xor(to: &mut [u8], from: &[u8]) {
    fn chunk<const N: usize>(to: &mut [u8; N], from: &[u8; N]) {
        for (t, f) in to.iter_mut().zip(from) {
            *t ^= f;
        }
    }
    let (to, to_rest) = to.as_chunks_mut::<16>();
    let (from, from_rest) = from.as_chunks::<16>();
    for (to, from) in to.iter_mut().zip(from) {
        chunk(to, from);
    }
    let (to, to_rest) = to_rest.as_chunks_mut::<4>();
    let (from, from_rest) = from_rest.as_chunks::<4>();
    for (to, from) in to.iter_mut().zip(from) {
        chunk(to, from);
    }
    for (to, from) in to_rest.iter_mut().zip(from_rest) {
        *to ^= from;
    }
}

impl Default for Duplex {
    fn default() -> Self {
        Self::new()
    }
}

impl ConstantTimeEq for Duplex {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.state.ct_eq(&other.state) & self.cursor.ct_eq(&other.cursor)
    }
}

impl PartialEq for Duplex {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Duplex {}

impl Drop for Duplex {
    fn drop(&mut self) {
        wipe(&mut self.state);
    }
}

impl zeroize::ZeroizeOnDrop for Duplex {}

opaque!(Duplex);
