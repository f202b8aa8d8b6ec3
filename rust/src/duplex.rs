//! The duplex: bytes in and out of the permutation, at any position, with frames.

use core::{fmt, slice};

use subtle::{Choice, ConstantTimeEq};

use crate::backend::Backend;
use crate::simpira1024::{Block, STATE_LEN, State};
use crate::wipe::wipe;
use crate::{Error, Label};

/// The rate in bytes: the part of the state that a full block fills. Bytes 94 and 95 are for padding, 96..128 are the
/// capacity.
pub const RATE: usize = 94;
const _: () = assert!(size_of::<Block>() == RATE);

/// The duplex over Simpira-1024: rate 94 bytes, capacity 32 bytes, one byte of padding.
///
/// Bytes go in and out at the rate index. A full block, or [`Duplex::permute`], pads and permutes. Frames
/// mark boundaries: each writes the index of the frame before it, and the padding holds the index of the last.
/// See `design.md`, section "Duplex".
///
/// Equality is in constant time. The state is wiped on drop (feature `zeroize`).
#[derive(Clone)]
pub struct Duplex {
    state: State,
    rate_idx: u8,
    frame_idx: u8,
}

impl Duplex {
    /// Size in bytes of a serialised duplex: rate index, frame index, state.
    pub const SERIALIZED_LEN: usize = 2 + STATE_LEN;

    /// Becomes a copy. The old state is overwritten, so it needs no wiping.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.state = other.state;
        self.rate_idx = other.rate_idx;
        self.frame_idx = other.frame_idx;
    }

    /// The all-zero state.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: [0; STATE_LEN],
            rate_idx: 0,
            frame_idx: 0,
        }
    }

    /// XORs `input` into the rate.
    #[cfg_attr(not(veriplex_proofs), inline)]
    #[cfg_attr(veriplex_proofs, inline(never))]
    pub fn absorb(&mut self, input: &[u8]) {
        if input.len() < self.block_rest() {
            return self.absorb_partial(input);
        }
        let (head, rest) = input.split_at(self.head_len(input.len()));
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
        if output.len() < self.block_rest() {
            return self.squeeze_partial(output);
        }
        let (head, rest) = output.split_at_mut(self.head_len(output.len()));
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
        let [head, first] = [self.head_len(output.len()), other.block_rest()];
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
        let (head, rest) = in_out.split_at_mut(self.head_len(in_out.len()));
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
        let (head, rest) = in_out.split_at_mut(self.head_len(in_out.len()));
        self.decrypt_partial(head);
        let (blocks, tail) = rest.as_chunks_mut();
        if !blocks.is_empty() {
            Backend::current().decrypt_blocks(&mut self.state, blocks);
        }
        self.decrypt_partial(tail);
    }

    /// [`Duplex::encrypt`] from one buffer to another of the same length.
    pub(crate) fn encrypt_into(&mut self, input: &[u8], output: &mut [u8]) {
        self.apart(input, output, Self::encrypt_partial, Backend::encrypt_blocks_into);
    }

    /// [`Duplex::decrypt`] from one buffer to another of the same length.
    pub(crate) fn decrypt_into(&mut self, input: &[u8], output: &mut [u8]) {
        self.apart(input, output, Self::decrypt_partial, Backend::decrypt_blocks_into);
    }

    /// Encrypts or decrypts full blocks from buffer to buffer, and copies the rest and processes it in place.
    fn apart(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        partial: fn(&mut Self, &mut [u8]),
        blocks: fn(Backend, &mut State, &[Block], &mut [Block]),
    ) {
        debug_assert_eq!(input.len(), output.len());
        let head_len = self.head_len(input.len());
        let (head, rest) = output.split_at_mut(head_len);
        let (input_head, input_rest) = input.split_at(head_len);
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
        self.absorb_byte(self.frame_idx);
        self.frame_idx = self.rate_idx;
        self.absorb_byte(id);
    }

    /// The frame `op`, `label`, and the frame `op | 0x80`: the beginning of every operation of a protocol.
    #[inline(always)] // with a constant label, little code remains
    pub(crate) fn header(&mut self, op: u8, label: &[u8]) {
        let [start, len] = [usize::from(self.rate_idx), label.len()];
        if start + len + 4 >= RATE {
            return self.header_across_blocks(op, label);
        }
        // If this does not complete a block, XOR the same bytes as `header_across_blocks`, all at once.
        let mut bytes = [0; Label::MAX_LEN + 4];
        write_header(&mut bytes, self.rate_idx, self.frame_idx, op, label);
        xor(self.window(len + 4), &bytes[..len + 4]);
        self.end_header(len);
    }

    /// The indices after that, for a label of `len` bytes.
    #[inline(always)]
    fn end_header(&mut self, len: usize) {
        let end = usize::from(self.rate_idx) + len + 4;
        self.frame_idx = index(end - 1);
        self.rate_idx = index(end);
    }

    #[cold]
    #[inline(never)]
    fn header_across_blocks(&mut self, op: u8, label: &[u8]) {
        self.frame(op);
        self.absorb(label);
        self.frame(op | 0x80);
    }

    /// Pads the block, full or not, and permutes.
    #[inline]
    pub fn permute(&mut self) {
        let end = usize::from(self.rate_idx);
        self.state[end] ^= self.frame_idx;
        self.state[end + 1] ^= 0x01;
        self.state[RATE + 1] ^= 0x80;
        Backend::current().permute(&mut self.state);
        self.rate_idx = 0;
        self.frame_idx = 0;
    }

    /// Makes the state impossible to run backwards: permutes unless a block has just begun, then
    /// overwrites 32 bytes, the size of the capacity, with zeros.
    pub fn ratchet(&mut self) {
        const ERASED: u8 = 32;
        if self.rate_idx > 0 {
            self.permute();
        }
        self.state[..usize::from(ERASED)].fill(0);
        self.rate_idx = ERASED;
    }

    /// Rate index, frame index and state. The bytes are as secret as the duplex.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::SERIALIZED_LEN] {
        let mut bytes = [0; Self::SERIALIZED_LEN];
        bytes[0] = self.rate_idx;
        bytes[1] = self.frame_idx;
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
        if usize::from(rate_idx) >= RATE || usize::from(frame_idx) >= RATE {
            return Err(Error::InvalidState);
        }
        Ok(Self {
            state: *state,
            rate_idx,
            frame_idx,
        })
    }

    /// Returns to the all-zero state, wiping secrets.
    pub fn clear(&mut self) {
        wipe(&mut self.state);
        self.rate_idx = 0;
        self.frame_idx = 0;
    }

    /// How much of an input of `len` bytes comes before the first block that a bulk operation can take:
    /// nothing at the start of a block, otherwise what completes the current block.
    #[inline]
    fn head_len(&self, len: usize) -> usize {
        if self.rate_idx == 0 && self.frame_idx == 0 {
            0
        } else {
            len.min(self.block_rest())
        }
    }

    /// How many bytes complete the block.
    #[inline]
    fn block_rest(&self) -> usize {
        RATE - usize::from(self.rate_idx)
    }

    /// The part of the rate that the next `len` bytes affect; they must fit into the block.
    #[inline]
    fn window(&mut self, len: usize) -> &mut [u8] {
        &mut self.state[usize::from(self.rate_idx)..][..len]
    }

    /// Advances the rate index by `len` bytes, which must fit into the block. Permutes if the block is then full.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the sum is at most 94
    fn advance(&mut self, len: usize) {
        let end = usize::from(self.rate_idx) + len;
        debug_assert!(end <= RATE);
        self.rate_idx = end as u8;
        if end == RATE {
            self.permute();
        }
    }

    #[inline]
    pub(crate) fn absorb_byte(&mut self, byte: u8) {
        self.state[usize::from(self.rate_idx)] ^= byte;
        self.advance(1);
    }

    #[inline]
    fn absorb_partial(&mut self, input: &[u8]) {
        xor(self.window(input.len()), input);
        self.advance(input.len());
    }

    #[inline]
    fn squeeze_partial(&mut self, output: &mut [u8]) {
        if output.is_empty() {
            return; // avoids pointless calls of memcpy and memset
        }
        let window = self.window(output.len());
        output.copy_from_slice(window);
        window.fill(0);
        self.advance(output.len());
    }

    #[inline]
    fn encrypt_partial(&mut self, in_out: &mut [u8]) {
        for (s, b) in self.window(in_out.len()).iter_mut().zip(in_out.iter_mut()) {
            *s ^= *b;
            *b = *s;
        }
        self.advance(in_out.len());
    }

    #[inline]
    fn decrypt_partial(&mut self, in_out: &mut [u8]) {
        for (s, b) in self.window(in_out.len()).iter_mut().zip(in_out.iter_mut()) {
            let c = *b;
            *b ^= *s;
            *s = c;
        }
        self.advance(in_out.len());
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
        let (rate_idx, frame_idx) = (self.0.rate_idx, self.0.frame_idx);
        let bytes = self.next(label.len() + 4)?;
        write_header(bytes, rate_idx, frame_idx, op, label);
        self.0.end_header(label.len());
        Some(())
    }

    /// [`Duplex::absorb`].
    #[inline(always)]
    pub(crate) fn absorb(&mut self, input: &[u8]) -> Option<()> {
        self.next(input.len())?.copy_from_slice(input);
        self.0.rate_idx += index(input.len());
        Some(())
    }

    /// The next `len` bytes of the block, still zero.
    #[inline(always)]
    fn next(&mut self, len: usize) -> Option<&mut [u8]> {
        self.0.state[usize::from(self.0.rate_idx)..RATE - 1].get_mut(..len)
    }

    #[inline(always)]
    pub(crate) fn as_duplex(&mut self) -> &mut Duplex {
        &mut self.0
    }
}

/// Writes the bytes of a header that does not complete the block.
#[inline(always)]
fn write_header(bytes: &mut [u8], rate_idx: u8, frame_idx: u8, op: u8, label: &[u8]) {
    let len = label.len();
    bytes[0] = frame_idx;
    bytes[1] = op;
    bytes[2..][..len].copy_from_slice(label);
    bytes[2 + len] = rate_idx + 1;
    bytes[3 + len] = op | 0x80;
}

/// An index below 94, as a byte.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn index(i: usize) -> u8 {
    debug_assert!(i < RATE);
    i as u8
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
        self.state.ct_eq(&other.state)
            & self.rate_idx.ct_eq(&other.rate_idx)
            & self.frame_idx.ct_eq(&other.frame_idx)
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
        #[cfg(feature = "zeroize")]
        wipe(&mut self.state);
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for Duplex {}

/// Shows no part of the state.
impl fmt::Debug for Duplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplex").finish_non_exhaustive()
    }
}
