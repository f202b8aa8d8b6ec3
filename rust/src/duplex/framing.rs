//! The framing: where the bytes of a transcript go in the blocks of a duplex, and which bytes of its own the duplex puts
//! between them.
//!
//! There is one [`Cursor`], and no other code forms a frame, the padding or a length. A duplex, the first block of a
//! short transcript, a lane and a batch are a cursor and a storage. Storages only copy, XOR, or call kernels.

use core::ops::Range;

use subtle::{Choice, ConstantTimeEq};

use crate::backend::simpira1024::Block;

/// The rate in bytes: the part of the state that a full block fills. Bytes 94 and 95 are for padding, 96..128 are the
/// capacity.
pub const RATE: usize = 94;
const _: () = assert!(size_of::<Block>() == RATE);

/// Bytes of a state that an operation can change before the permutation: rate and padding.
pub(crate) const PADDED: usize = RATE + 2;

/// The operation codes that frame the operations of a transcript.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Op {
    Init = 0x01,
    Mix = 0x02,
    Derive = 0x03,
    Mask = 0x04,
    Seal = 0x05,
    Fork = 0x06,
    Ratchet = 0x07,
}

impl Op {
    /// The frame that begins the operation.
    #[inline(always)]
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

/// The length in bytes of the two frames of an operation.
const FRAMES_LEN: usize = 4;

/// The frame that ends the label of an operation.
const fn after_label(op: u8) -> u8 {
    op | 0x80
}

/// Where the next byte goes, and where the last frame of this block began: 0 if none did.
///
/// Both are below 94 but for a full block, which is still to be permuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    rate_idx: u8,
    frame_idx: u8,
}

impl Cursor {
    /// At the beginning of a block.
    pub(crate) const START: Self = Self {
        rate_idx: 0,
        frame_idx: 0,
    };

    /// The indices of rate and frame, if they are below 94.
    #[inline]
    pub(crate) fn from_bytes([rate_idx, frame_idx]: [u8; 2]) -> Option<Self> {
        let valid = usize::from(rate_idx) < RATE && usize::from(frame_idx) < RATE;
        valid.then_some(Self { rate_idx, frame_idx })
    }

    /// The reverse.
    #[inline]
    pub(crate) const fn to_bytes(self) -> [u8; 2] {
        [self.rate_idx, self.frame_idx]
    }

    /// The rate index.
    #[inline(always)]
    pub(crate) fn position(self) -> usize {
        usize::from(self.rate_idx)
    }

    /// How many bytes complete the block.
    #[inline(always)]
    pub(crate) fn room(self) -> usize {
        RATE - self.position()
    }

    #[inline]
    pub(crate) fn is_full(self) -> bool {
        self.room() == 0
    }

    /// Whether a block has just begun, without a frame: so that kernels can take full blocks.
    #[inline]
    pub(crate) fn is_at_start(self) -> bool {
        self.rate_idx == 0 && self.frame_idx == 0
    }

    /// The part of the block for the next `len` bytes, or as many as it has room for.
    #[inline]
    pub(crate) fn window(self, len: usize) -> Range<usize> {
        let start = self.position();
        start..if len < self.room() { start + len } else { RATE }
    }

    /// Behind `len` bytes that the block has room for.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // the sum is at most 94
    pub(crate) fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.room());
        self.rate_idx = (self.position() + len) as u8;
    }

    /// How much of an input of `len` bytes comes before its full blocks and the rest: nothing at the start of a block,
    /// otherwise what completes the block that is begun, or all.
    #[inline]
    pub(crate) fn head_len(self, len: usize) -> usize {
        if self.is_at_start() {
            0
        } else if len < self.room() {
            len
        } else {
            self.room()
        }
    }

    /// The first byte of a frame: where the one before it began. It is absorbed before [`Cursor::open_frame`].
    #[inline]
    pub(crate) fn previous_frame(self) -> u8 {
        self.frame_idx
    }

    /// The frame that begins here. Its second byte, the identifier, follows.
    #[inline]
    pub(crate) fn open_frame(&mut self) {
        self.frame_idx = self.rate_idx;
    }

    /// Writes the beginning of an operation, if it leaves room in the block: the frame `op`, room for a label of `len`
    /// bytes, the frame `op | 0x80`. Returns the label's part of `to`, whose first byte is the one at the cursor, or a copy
    /// of it, and which has room for all.
    #[inline(always)] // with a label of constant length, little code remains
    pub(crate) fn header<'t>(&mut self, to: &'t mut [u8], op: u8, len: usize) -> Option<&'t mut [u8]> {
        if len + FRAMES_LEN >= self.room() {
            return None;
        }
        let [frame, begin, label @ .., after, end] = to.get_mut(..len + FRAMES_LEN)? else {
            return None;
        };
        *frame = self.frame_idx;
        *begin = op;
        *after = self.rate_idx + 1;
        *end = after_label(op);
        self.advance(len + FRAMES_LEN);
        self.frame_idx = self.rate_idx - 1;
        Some(label)
    }

    /// The same piece by piece, for a storage that stops at the end of a block: what follows the first `done` bytes, to be
    /// absorbed next, at least a byte.
    #[inline]
    pub(crate) fn header_piece<'a>(
        &mut self,
        done: usize,
        op: u8,
        label: &'a [u8],
        frame: &'a mut [u8; 1],
    ) -> &'a [u8] {
        if done >= 2 && done < label.len() + 2 {
            return &label[done - 2..];
        }
        if done == 1 {
            self.open_frame();
            frame[0] = op;
        } else if done == label.len() + 3 {
            self.open_frame();
            frame[0] = after_label(op);
        } else {
            frame[0] = self.previous_frame();
        }
        frame
    }

    /// Pads a block that ends here, full or not: with XOR, so a storage may hold anything there.
    #[inline(always)]
    pub(crate) fn pad<const N: usize>(self, block: &mut [u8; N]) {
        const { assert!(N >= PADDED) };
        block[self.position()] ^= self.frame_idx;
        block[self.position() + 1] ^= 0x01;
        block[RATE + 1] ^= 0x80;
    }
}

impl ConstantTimeEq for Cursor {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.to_bytes().ct_eq(&other.to_bytes())
    }
}

/// The length in bytes of the beginning of an operation.
#[inline(always)]
pub(crate) const fn header_len(label: &[u8]) -> usize {
    label.len() + FRAMES_LEN
}

/// A storage that absorbs at its cursor, and begins the next block when one is full.
pub(crate) trait Absorb {
    fn cursor(&mut self) -> &mut Cursor;

    fn absorb_byte(&mut self, byte: u8);

    fn absorb_bytes(&mut self, bytes: &[u8]);

    /// Where the last frame began, and `id`, which begins one.
    #[inline(always)]
    fn absorb_frame(&mut self, id: u8) {
        let previous = self.cursor().frame_idx;
        self.absorb_byte(previous);
        self.cursor().open_frame();
        self.absorb_byte(id);
    }

    /// The beginning of an operation, wherever blocks end.
    #[inline(always)]
    fn absorb_header(&mut self, op: u8, label: &[u8]) {
        self.absorb_frame(op);
        self.absorb_bytes(label);
        self.absorb_frame(after_label(op));
    }

    /// A number as unsigned LEB128.
    #[inline(always)]
    fn absorb_number(&mut self, number: usize) {
        let (mut byte, mut rest) = leb128(number);
        while rest > 0 {
            self.absorb_byte(byte);
            (byte, rest) = leb128(rest);
        }
        self.absorb_byte(byte);
    }
}

/// The first byte of a number as unsigned LEB128, and the number that the others stand for: 0 if there are none.
#[inline]
#[allow(clippy::cast_possible_truncation)] // seven bits
pub(crate) const fn leb128(number: usize) -> (u8, usize) {
    let rest = number >> 7;
    if rest > 0 {
        (number as u8 | 0x80, rest)
    } else {
        (number as u8, 0)
    }
}

/// How many bytes that has.
#[inline]
pub(crate) const fn leb128_len(number: usize) -> usize {
    let mut len = 1;
    let mut rest = number >> 7;
    while rest > 0 {
        len += 1;
        rest >>= 7;
    }
    len
}

/// `to = from`, of equal lengths. A call of memcpy takes longer than what there is to copy, most often.
#[inline(always)]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    /// The first bytes and the last ones: between `N` and `2 * N`, so that none is left out.
    #[inline(always)]
    fn ends<const N: usize>(to: &mut [u8], from: &[u8]) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
            *to = *from;
        }
        if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk()) {
            *to = *from;
        }
    }
    match from.len() {
        0 => {}
        1 => ends::<1>(to, from),
        2..=4 => ends::<2>(to, from),
        5..=8 => ends::<4>(to, from),
        9..=16 => ends::<8>(to, from),
        17..=32 => ends::<16>(to, from),
        33..=64 => ends::<32>(to, from),
        65..=128 => ends::<64>(to, from),
        _ => to.copy_from_slice(from),
    }
}
