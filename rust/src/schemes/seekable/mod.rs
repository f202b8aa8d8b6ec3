//! Authenticated encryption in segments, with parallel processing and random access.
//!
//! A message is cut into segments of one size, each sealed by its own transcript. Segments are independent: each can be
//! opened alone, and none of its bytes is released before its tag is verified. Each tag commits to the key, nonce,
//! associated data, segment length, position, end flag and content, so reordered, swapped, missing or extra segments are
//! errors. Truncation between two segments is detected when the end is opened, because the new last segment was not
//! sealed as the last: an [`Opener`] and a `SeekReader` open the end first, an `OpenReader` reaches it last.
//!
//! Messages stay confidential under chosen-plaintext attack as long as no nonce repeats under a key; each attempt to forge
//! a segment succeeds with probability 2^-128. The length is not hidden. A segment cannot be rewritten in place, since that
//! would reuse the nonce: seal the whole message again under a new nonce. Each segment adds 16 bytes.
//!
//! ```
//! use veriplex::{Key, Nonce, label, os_rng, seekable::Seekable};
//!
//! let key = Key::generate(&mut os_rng());
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every message: send it along
//! let message = Seekable::<24>::new(label!("com.example.files"), &key).message(&nonce, b"header");
//!
//! let mut sealed = [0; 7 + 16];
//! message.seal_into(b"message", &mut sealed)?;
//! let mut plaintext = [0; 7];
//! message.open_into(&sealed, &mut plaintext)?;
//! assert_eq!(&plaintext, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! With `std::io`; with feature `tokio` also asynchronously:
//!
//! ```
//! use std::io::{Cursor, Read, Seek, SeekFrom, Write};
//! use veriplex::{Key, Nonce, label, os_rng, seekable::{SeekReader, Seekable, SealWriter}};
//!
//! # fn main() -> std::io::Result<()> {
//! let (key, nonce) = (Key::generate(&mut os_rng()), Nonce::<24>::generate(&mut os_rng()));
//! let message = Seekable::<24>::new(label!("com.example.files"), &key).message(&nonce, b"");
//! let mut writer = SealWriter::new(&message, Vec::new());
//! writer.write_all(&[5; 100_000])?;
//! let sealed = writer.finish()?;
//!
//! let mut reader = SeekReader::new(&message, Cursor::new(sealed))?;
//! let mut part = [0; 10];
//! reader.seek(SeekFrom::Start(70_000))?;
//! reader.read_exact(&mut part)?;
//! assert_eq!(part, [5; 10]);
//! # Ok(())
//! # }
//! ```
//!
//! # Definition
//!
//! In [`Protocol`] operations; `LE32` and `LE64` are four and eight bytes, little-endian, and `||` is concatenation:
//!
//! ```text
//! base             = Init(domain); Mix("key", key); Mix("nonce", nonce); Mix("ad", ad); Mix("segment-length", LE32(S))
//! segment(i, e, p) = copy of base; Mix("segment", LE64(i) || [e]); Seal("message", p)      16 bytes more than p has
//! ```
//!
//! The key has 32 bytes, or any length through a protocol; the nonce has 24 or more. A message is cut into segments of S
//! bytes, 64 to 2^24 (16384 unless there is a reason), the last of which has 1 to S bytes; an empty message is one empty
//! segment. The sealed message is segment(0, 0, ..) || segment(1, 0, ..) || ... || segment(n - 1, 1, ..): only the last one
//! has e = 1. So the length of a sealed message tells the number of its segments; one that no message gives is an error.
//!
//! The construction is Veriplex's own: an online AEAD with random access, similar to STREAM with a segment counter
//! (Hoang, Reyhanitabar, Rogaway and Vizár, CRYPTO 2015, [eprint 2015/189](https://eprint.iacr.org/2015/189)).

#[cfg(feature = "std")]
mod io;

use core::ops::Range;

#[cfg(feature = "std")]
pub use io::{OpenReader, SealWriter, SeekReader};

use crate::backend::lane_backend::LANES;
use crate::base::in_out::InOut;
use crate::base::wipe::wipe;
use crate::duplex::lanes::Direction;
use crate::protocol::many::{self, Aligned, Closing, Job, Mixed, Output};
use crate::{Error, Key, Label, Protocol, TAG_LEN, label};

/// Size in bytes of a key.
pub const KEY_LEN: usize = 32;
/// The smallest segment, in bytes of plaintext.
pub const MIN_SEGMENT_LEN: usize = 64;
/// The largest segment, in bytes of plaintext: 16 MiB.
pub const MAX_SEGMENT_LEN: usize = 1 << 24;
/// The usual size of a segment, in bytes of plaintext.
pub const DEFAULT_SEGMENT_LEN: usize = 16384;

/// The encryption under one key, with nonces of `NONCE_LEN` bytes, which must be at least 24:
///
/// ```compile_fail
/// # fn main() {
/// let key = veriplex::Key::from([7; 32]);
/// let seekable = veriplex::seekable::Seekable::<23>::new(veriplex::label!("example"), &key);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Seekable<const NONCE_LEN: usize> {
    keyed: Protocol,
    segment_len: usize,
}

impl<const NONCE_LEN: usize> Seekable<NONCE_LEN> {
    /// The encryption under this key, in segments of [`DEFAULT_SEGMENT_LEN`].
    #[must_use]
    pub fn new(domain: Label<'_>, key: &Key<KEY_LEN>) -> Self {
        Self::from_protocol(Protocol::keyed(domain, key))
    }

    /// The encryption under the key in a protocol: for keys of other lengths, or for a key that a longer transcript
    /// agreed on.
    ///
    /// [`Seekable::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can open and forge.
    #[must_use]
    pub const fn from_protocol(keyed: Protocol) -> Self {
        const { assert!(NONCE_LEN >= 24, "a nonce has at least 24 bytes") };
        Self {
            keyed,
            segment_len: DEFAULT_SEGMENT_LEN,
        }
    }

    /// The same in segments of this many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if that is not [`MIN_SEGMENT_LEN`] to [`MAX_SEGMENT_LEN`].
    pub fn with_segment_len(self, segment_len: usize) -> Result<Self, Error> {
        check_segment_len(segment_len)?;
        Ok(Self { segment_len, ..self })
    }

    /// The message with this nonce. Never use a nonce for another message under the same key; 24 random bytes are enough.
    #[must_use]
    pub fn message(&self, nonce: &[u8; NONCE_LEN], ad: &[u8]) -> Message {
        let mut base = self.keyed.message(nonce, ad);
        base.mix(label!("segment-length"), &self.segment_len.to_le_bytes()[..4]);
        base.mix_begin(label!("segment"));
        Message {
            base,
            segment_len: self.segment_len,
        }
    }
}

const fn check_segment_len(segment_len: usize) -> Result<(), Error> {
    if segment_len < MIN_SEGMENT_LEN || segment_len > MAX_SEGMENT_LEN {
        return Err(Error::BufferLength);
    }
    Ok(())
}

/// Where the segments of a message lie. Computing this needs no key.
///
/// ```
/// use veriplex::seekable::Layout;
///
/// let layout = Layout::of_sealed(1_000_992, 16384)?;
/// assert_eq!((layout.plaintext_len(), layout.segments()), (1_000_000, 62));
/// // The kilobyte at offset 50,000 lies in one segment, at this range of the sealed message:
/// let segments = layout.segments_of(50_000..51_000);
/// assert_eq!(segments, 3..4);
/// assert_eq!(layout.sealed_range(segments), 49_200..65_600);
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    segment_len: usize,
    plaintext_len: u64,
    segments: u64,
}

impl Layout {
    /// The layout of a message of `plaintext_len` bytes, in segments of `segment_len` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `segment_len` is not [`MIN_SEGMENT_LEN`] to [`MAX_SEGMENT_LEN`];
    /// [`Error::LimitReached`] if the sealed message would have 2^64 bytes or more.
    pub const fn of_plaintext(plaintext_len: u64, segment_len: usize) -> Result<Self, Error> {
        if let Err(error) = check_segment_len(segment_len) {
            return Err(error);
        }
        let mut segments = plaintext_len.div_ceil(segment_len as u64);
        if segments == 0 {
            segments = 1;
        }
        match plaintext_len.checked_add(segments * TAG_LEN as u64) {
            Some(_) => Ok(Self {
                segment_len,
                plaintext_len,
                segments,
            }),
            None => Err(Error::LimitReached),
        }
    }

    /// The layout of a sealed message of `sealed_len` bytes, in segments of `segment_len` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `segment_len` is not [`MIN_SEGMENT_LEN`] to [`MAX_SEGMENT_LEN`];
    /// [`Error::Verification`] if no sealed message has this length.
    pub const fn of_sealed(sealed_len: u64, segment_len: usize) -> Result<Self, Error> {
        if let Err(error) = check_segment_len(segment_len) {
            return Err(error);
        }
        let slot_len = (segment_len + TAG_LEN) as u64;
        let segments = sealed_len.div_ceil(slot_len);
        // The last segment has at least one byte and a tag; only a lone segment may be just a tag.
        let last = match segments {
            0 => 0,
            _ => sealed_len - (segments - 1) * slot_len,
        };
        if last > TAG_LEN as u64 || (last == TAG_LEN as u64 && segments == 1) {
            return Ok(Self {
                segment_len,
                plaintext_len: sealed_len - segments * TAG_LEN as u64,
                segments,
            });
        }
        Err(Error::Verification)
    }

    /// Size in bytes of the plaintext.
    #[must_use]
    pub const fn plaintext_len(&self) -> u64 {
        self.plaintext_len
    }

    /// Size in bytes of the sealed message.
    #[must_use]
    pub const fn sealed_len(&self) -> u64 {
        self.plaintext_len + self.segments * TAG_LEN as u64
    }

    /// The number of segments, at least one.
    #[must_use]
    pub const fn segments(&self) -> u64 {
        self.segments
    }

    /// Size in bytes of the plaintext of every segment but the last.
    #[must_use]
    pub const fn segment_len(&self) -> usize {
        self.segment_len
    }

    /// The segments that contain a range of the plaintext, clipped to its end; none for an empty range.
    #[must_use]
    pub fn segments_of(&self, plaintext: Range<u64>) -> Range<u64> {
        let [start, end] = [plaintext.start, plaintext.end].map(|at| at.min(self.plaintext_len));
        if start >= end {
            return 0..0;
        }
        start / self.segment_len as u64..end.div_ceil(self.segment_len as u64)
    }

    /// The byte range of these segments in the sealed message, clipped to its end.
    #[must_use]
    pub fn sealed_range(&self, segments: Range<u64>) -> Range<u64> {
        let [start, end] = [segments.start, segments.end].map(|segment| {
            let start = segment.saturating_mul((self.segment_len + TAG_LEN) as u64);
            start.min(self.sealed_len())
        });
        start..end
    }
}

/// A message: key, nonce, associated data and segment length, from which its segments are sealed and opened.
///
/// Seal only one plaintext with it: a second one would reuse the nonce.
#[derive(Clone, Debug)]
pub struct Message {
    base: Protocol,
    segment_len: usize,
}

impl Message {
    /// Where the segments of a plaintext of this many bytes will lie.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] if the sealed message would have 2^64 bytes or more.
    pub const fn layout(&self, plaintext_len: u64) -> Result<Layout, Error> {
        Layout::of_plaintext(plaintext_len, self.segment_len)
    }

    /// What seals the segments of a plaintext of this many bytes one by one. Seal only one plaintext with a message.
    ///
    /// ```
    /// use veriplex::{Key, Nonce, label, os_rng, seekable::Seekable};
    ///
    /// let (key, nonce) = (Key::generate(&mut os_rng()), Nonce::<24>::generate(&mut os_rng()));
    /// let seekable = Seekable::<24>::new(label!("com.example.files"), &key).with_segment_len(64)?;
    /// let message = seekable.message(&nonce, b"");
    /// let plaintext = [5; 100];
    /// let sealer = message.sealer(100)?;
    /// let mut sealed = [0; 132];
    /// let (first, second) = sealed.split_at_mut(80); // for one machine and another
    /// second[..36].copy_from_slice(&plaintext[64..]);
    /// sealer.seal(1, second)?;
    /// first[..64].copy_from_slice(&plaintext[..64]);
    /// sealer.seal(0, first)?;
    /// assert_eq!(message.open_in_place(&mut sealed)?, plaintext);
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] if the sealed message would have 2^64 bytes or more.
    pub fn sealer(&self, plaintext_len: u64) -> Result<Sealer, Error> {
        let layout = self.layout(plaintext_len)?;
        Ok(Sealer {
            message: self.clone(),
            layout,
        })
    }

    /// Encrypts in place: the plaintext is at the start of `in_out`, and `in_out` is exactly as long as the sealed message,
    /// `layout(..)?.sealed_len()` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if no sealed message is as long as `in_out`.
    pub fn seal_in_place(&self, in_out: &mut [u8]) -> Result<(), Error> {
        self.seal_in_place_with(in_out, Threads::One)
    }

    /// Decrypts in place and returns the plaintext, which is at the start of `in_out`. The rest is filled with zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if key, nonce, associated data, segment length or `in_out` are not what was sealed;
    /// `in_out` is then all zeros.
    pub fn open_in_place<'b>(&self, in_out: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.open_in_place_with(in_out, Threads::One)
    }

    /// Encrypts from one buffer into another, which is as long as the sealed message: `layout(..)?.sealed_len()`.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if it is not.
    pub fn seal_into(&self, plaintext: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        self.seal_into_with(plaintext, sealed, Threads::One)
    }

    /// Decrypts from one buffer into another, which is as long as the plaintext.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if key, nonce, associated data, segment length or `sealed` are not what was sealed, and then
    /// `plaintext` is all zeros; [`Error::BufferLength`] if `plaintext` has the wrong length.
    pub fn open_into(&self, sealed: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
        self.open_into_with(sealed, plaintext, Threads::One)
    }

    /// Starts random access to a sealed message. Opening the last segment first shows that the message was not truncated.
    ///
    /// `last` holds the bytes at `layout.sealed_range(n - 1..n)` of the sealed message, where `n` is `layout.segments()`. It is
    /// opened in place and then starts with its plaintext.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if no sealed message has `sealed_len` bytes, if `last` has the wrong length, or if it is not the
    /// last segment of the message; `last` is then all zeros.
    pub fn opener(&self, sealed_len: u64, last: &mut [u8]) -> Result<Opener, Error> {
        let opener = Layout::of_sealed(sealed_len, self.segment_len).map(|layout| Opener {
            message: self.clone(),
            layout,
        });
        let opened = opener.and_then(|opener| {
            opener.open(opener.layout.segments - 1, last)?;
            Ok(opener)
        });
        opened.inspect_err(|_| wipe(last))
    }

    /// Size in bytes of a full sealed segment.
    const fn slot_len(&self) -> usize {
        self.segment_len + TAG_LEN
    }

    /// Size in bytes of the plaintext that one call of the innermost functions seals.
    const fn batch_len(&self) -> usize {
        LANES * self.slot_len()
    }

    /// Seals segments with independent transcripts, from number `first` on, each followed by room for its tag: in place, or
    /// the plaintext of all; `ends` says whether the last of them ends the message.
    fn seal_batch(
        &self,
        first: u64,
        ends: bool,
        plaintext: Option<&[u8]>,
        slots: &mut [u8],
    ) -> Result<(), Error> {
        let count = slots.len().div_ceil(self.slot_len());
        let jobs = slots.chunks_mut(self.slot_len()).enumerate().map(|(i, slot)| {
            let (segment, tag) = slot
                .split_last_chunk_mut::<TAG_LEN>()
                .ok_or(Error::BufferLength)?;
            let data = match plaintext {
                None => segment.into(),
                Some(plaintext) => {
                    let from = &plaintext[i * self.segment_len..];
                    InOut::out_of_place(&from[..segment.len()], segment)?
                }
            };
            Ok(job(first, i, ends && i + 1 == count, data, Output::Write(tag)))
        });
        self.run(Direction::Encrypt, jobs)
    }

    /// The inverse; the tags stay where they are. After an error some segments may hold plaintext; the caller must wipe it.
    fn open_batch(&self, first: u64, ends: bool, slots: &mut [u8]) -> Result<(), Error> {
        let count = slots.len().div_ceil(self.slot_len());
        let jobs = slots.chunks_mut(self.slot_len()).enumerate().map(|(i, slot)| {
            let (segment, tag) = slot.split_last_chunk_mut().ok_or(Error::Verification)?;
            Ok(job(
                first,
                i,
                ends && i + 1 == count,
                segment.into(),
                Output::compare(tag),
            ))
        });
        self.run(Direction::Decrypt, jobs)
    }

    fn run<'a>(
        &self,
        direction: Direction,
        jobs: impl IntoIterator<Item = Result<Job<'a>, Error>>,
    ) -> Result<(), Error> {
        let closing = Closing::Seal(label!("message"), direction);
        many::run(&self.base, closing, jobs, |job| job.release().map(drop))
    }

    /// Seals any number of slots.
    fn seal_slots(&self, first: u64, ends: bool, slots: &mut [u8], threads: Threads) -> Result<(), Error> {
        let batches = slots.len().div_ceil(self.batch_len());
        threads.each_batch(slots, self.batch_len(), |i, batch| {
            self.seal_batch(first + (i * LANES) as u64, ends && i + 1 == batches, None, batch)
        })
    }

    /// Opens any number of slots. After an error none of them holds plaintext.
    fn open_slots(&self, first: u64, ends: bool, slots: &mut [u8], threads: Threads) -> Result<(), Error> {
        let batches = slots.len().div_ceil(self.batch_len());
        let opened = threads.each_batch(slots, self.batch_len(), |i, batch| {
            self.open_batch(first + (i * LANES) as u64, ends && i + 1 == batches, batch)
        });
        opened.inspect_err(|_| wipe(slots))
    }

    fn seal_in_place_with(&self, in_out: &mut [u8], threads: Threads) -> Result<(), Error> {
        let layout = Layout::of_sealed(in_out.len() as u64, self.segment_len);
        let layout = layout.map_err(|_| Error::BufferLength)?;
        // Starting from the end, move each segment to the place where it is sealed.
        let slot_len = self.slot_len();
        let window_len = match threads {
            Threads::One => self.batch_len(),
            #[cfg(feature = "rayon")]
            Threads::All => self.batch_len() * ((1 << 24) / self.batch_len()).max(1),
        };
        let mut plaintext_end = clamp(layout.plaintext_len);
        for window in (0..in_out.len()).step_by(window_len).rev() {
            let end = in_out.len().min(window + window_len);
            for slot in (window..end).step_by(slot_len).rev() {
                let start = slot / slot_len * self.segment_len;
                in_out.copy_within(start..plaintext_end, slot);
                plaintext_end = start;
            }
            let ends = end == in_out.len();
            self.seal_slots(
                (window / slot_len) as u64,
                ends,
                &mut in_out[window..end],
                threads,
            )?;
        }
        Ok(())
    }

    fn open_in_place_with<'b>(&self, in_out: &'b mut [u8], threads: Threads) -> Result<&'b mut [u8], Error> {
        Layout::of_sealed(in_out.len() as u64, self.segment_len).inspect_err(|_| wipe(in_out))?;
        self.open_slots(0, true, in_out, threads)?;
        Ok(self.close_up(in_out))
    }

    /// Moves the plaintexts of opened slots together. The rest is filled with zeros.
    fn close_up<'b>(&self, slots: &'b mut [u8]) -> &'b mut [u8] {
        let mut len = 0;
        for slot in (0..slots.len()).step_by(self.slot_len()) {
            let end = slots.len().min(slot + self.slot_len()) - TAG_LEN;
            slots.copy_within(slot..end, len);
            len += end - slot;
        }
        let (plaintext, rest) = slots.split_at_mut(len);
        wipe(rest);
        plaintext
    }

    fn seal_into_with(&self, plaintext: &[u8], sealed: &mut [u8], threads: Threads) -> Result<(), Error> {
        let layout = self.layout(plaintext.len() as u64);
        if layout.ok().map(|layout| layout.sealed_len()) != Some(sealed.len() as u64) {
            return Err(Error::BufferLength);
        }
        let batches = sealed.len().div_ceil(self.batch_len());
        threads.each_batch(sealed, self.batch_len(), |i, slots| {
            let plaintext = &plaintext[i * LANES * self.segment_len..];
            self.seal_batch((i * LANES) as u64, i + 1 == batches, Some(plaintext), slots)
        })
    }

    fn open_into_with(&self, sealed: &[u8], plaintext: &mut [u8], threads: Threads) -> Result<(), Error> {
        let layout = Layout::of_sealed(sealed.len() as u64, self.segment_len);
        let layout = layout.inspect_err(|_| wipe(plaintext))?;
        if layout.plaintext_len != plaintext.len() as u64 {
            return Err(Error::BufferLength);
        }
        let batches = sealed.len().div_ceil(self.batch_len());
        let open = |i: usize, plaintext: &mut [u8]| {
            let slots = &sealed[i * self.batch_len()..];
            let slots = &slots[..slots.len().min(self.batch_len())];
            let count = slots.len().div_ceil(self.slot_len());
            let mut rest = plaintext;
            let jobs = slots.chunks(self.slot_len()).enumerate().map(|(k, slot)| {
                let (ciphertext, tag) = slot.split_last_chunk().ok_or(Error::Verification)?;
                let (segment, others) = core::mem::take(&mut rest).split_at_mut(ciphertext.len());
                rest = others;
                let data = InOut::out_of_place(ciphertext, segment)?;
                let is_last = i + 1 == batches && k + 1 == count;
                Ok(job((i * LANES) as u64, k, is_last, data, Output::compare(tag)))
            });
            self.run(Direction::Decrypt, jobs)
        };
        if plaintext.is_empty() {
            return open(0, plaintext); // it has a tag
        }
        let opened = threads.each_batch(plaintext, LANES * self.segment_len, open);
        opened.inspect_err(|_| wipe(plaintext))
    }
}

#[cfg(feature = "alloc")]
impl Message {
    /// Encrypts into a new vector.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // the lengths are right
    pub fn seal_vec(&self, plaintext: &[u8]) -> alloc::vec::Vec<u8> {
        let layout = self.layout(plaintext.len() as u64);
        // More than fits into memory must not wrap around to less, which it could with 32 bits.
        let sealed_len = layout.map_or(usize::MAX, |layout| clamp(layout.sealed_len()));
        let mut sealed = alloc::vec![0; sealed_len];
        self.seal_into(plaintext, &mut sealed)
            .expect("it has that length");
        sealed
    }

    /// Decrypts into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if key, nonce, associated data, segment length or `sealed` are not what was sealed.
    pub fn open_vec(&self, sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let layout = Layout::of_sealed(sealed.len() as u64, self.segment_len)?;
        let mut plaintext = alloc::vec![0; clamp(layout.plaintext_len())];
        self.open_into(sealed, &mut plaintext)?;
        Ok(plaintext)
    }
}

#[cfg(feature = "rayon")]
impl Message {
    /// [`Message::seal_in_place`] on all threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn seal_in_place_rayon(&self, in_out: &mut [u8]) -> Result<(), Error> {
        self.seal_in_place_with(in_out, Threads::All)
    }

    /// [`Message::open_in_place`] on all threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn open_in_place_rayon<'b>(&self, in_out: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.open_in_place_with(in_out, Threads::All)
    }

    /// [`Message::seal_into`] on all threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn seal_into_rayon(&self, plaintext: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        self.seal_into_with(plaintext, sealed, Threads::All)
    }

    /// [`Message::open_into`] on all threads of the current rayon pool.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn open_into_rayon(&self, sealed: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
        self.open_into_with(sealed, plaintext, Threads::All)
    }
}

/// The transcript of a segment, which mixes in its number, `first + i`, and whether it is the last.
fn job<'a>(first: u64, i: usize, is_last: bool, segment: InOut<'a>, output: Output<'a>) -> Job<'a> {
    let mut place = [u8::from(is_last); 9];
    place[..8].copy_from_slice(&first.wrapping_add(i as u64).to_le_bytes());
    Job {
        mixed: Mixed::Short(Aligned(place), place.len()),
        ad: None,
        masked: None,
        data: segment.into(),
        output,
        place: i,
    }
}

/// The threads that seal or open batches.
#[derive(Clone, Copy, Debug)]
enum Threads {
    One,
    #[cfg(feature = "rayon")]
    All,
}

impl Threads {
    /// Runs `work` on each batch of this many bytes, with the number of the batch, until one fails.
    fn each_batch(
        self,
        bytes: &mut [u8],
        batch_len: usize,
        work: impl Fn(usize, &mut [u8]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        match self {
            Self::One => (bytes.chunks_mut(batch_len).enumerate()).try_for_each(|(i, batch)| work(i, batch)),
            #[cfg(feature = "rayon")]
            Self::All => {
                use rayon::prelude::*;

                // Each thread takes at least 64 KiB at a time.
                (bytes.par_chunks_mut(batch_len).enumerate())
                    .with_min_len((1_usize << 16).div_ceil(batch_len))
                    .try_for_each(|(i, batch)| work(i, batch))
            }
        }
    }
}

/// The length of something in memory.
fn clamp(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// Seals segments of one message in any order, and on several threads; made by [`Message::sealer`].
#[derive(Clone, Debug)]
pub struct Sealer {
    message: Message,
    layout: Layout,
}

impl Sealer {
    /// Where the segments lie.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Seals consecutive segments in place, starting at number `first`: in `in_out` each is followed by [`TAG_LEN`] bytes for
    /// its tag, as at `layout().sealed_range(..)` of the sealed message.
    ///
    /// Seal each segment once: a second plaintext would reuse the nonce.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the message has no such segments with this length.
    pub fn seal(&self, first: u64, in_out: &mut [u8]) -> Result<(), Error> {
        let end = first.saturating_add(in_out.len().div_ceil(self.message.slot_len()) as u64);
        let expected = self.layout.sealed_range(first..end);
        if in_out.is_empty() || expected.end - expected.start != in_out.len() as u64 {
            return Err(Error::BufferLength);
        }
        (self.message).seal_slots(first, end == self.layout.segments, in_out, Threads::One)
    }
}

/// Opens segments of one sealed message in any order; made by [`Message::opener`], which verified the end.
#[derive(Clone, Debug)]
pub struct Opener {
    message: Message,
    layout: Layout,
}

impl Opener {
    /// Where the segments lie.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Opens consecutive segments in place, starting at number `first`: `in_out` holds the bytes at
    /// `layout().sealed_range(..)`. Returns the plaintext, which is at the start of `in_out`; the rest is filled with
    /// zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if `in_out` is not these segments of the message, or has the wrong length;
    /// it is then all zeros.
    pub fn open<'b>(&self, first: u64, in_out: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.open_at(first, in_out, Threads::One)?;
        Ok(self.message.close_up(in_out))
    }

    /// Opens consecutive segments and leaves each plaintext where it is.
    fn open_at(&self, first: u64, slots: &mut [u8], threads: Threads) -> Result<(), Error> {
        let slot_len = self.message.slot_len();
        let end = first.saturating_add(slots.len().div_ceil(slot_len) as u64);
        let expected = self.layout.sealed_range(first..end);
        if slots.is_empty() || expected.end - expected.start != slots.len() as u64 {
            wipe(slots);
            return Err(Error::Verification);
        }
        self.message
            .open_slots(first, end == self.layout.segments, slots, threads)
    }

    /// Reads plaintext at `offset` into `output`, up to the end of the message, and returns the number of bytes read.
    /// It keeps no position, so any number of threads can read at once. `read` reads bytes of the sealed message at an offset;
    /// it is asked only for the whole segments needed, up to 128 KiB or 8 segments at a time. They are held in memory.
    ///
    /// # Errors
    ///
    /// Those of `read`; one of kind `InvalidData` if the data read is not what was sealed. `output` is then all zeros.
    #[cfg(feature = "std")]
    pub fn read_at(
        &self,
        offset: u64,
        output: &mut [u8],
        mut read: impl FnMut(u64, &mut [u8]) -> std::io::Result<()>,
    ) -> std::io::Result<usize> {
        let wanted = offset..offset.saturating_add(output.len() as u64);
        let mut filled = 0;
        let segments = self.layout.segments_of(wanted);
        let most = io::at_a_time(self.message.segment_len);
        let count = clamp(segments.end - segments.start).min(most);
        // It keeps its length, so that all of it is wiped.
        let mut buffer = crate::base::wipe::Wiped(std::vec![0; count * self.message.slot_len()]);
        for first in segments.clone().step_by(most) {
            let range = self
                .layout
                .sealed_range(first..segments.end.min(first + most as u64));
            let slots = &mut buffer.0[..clamp(range.end - range.start)];
            let result = read(range.start, slots)
                .and_then(|()| self.open_at(first, slots, Threads::One).map_err(io::damaged));
            if let Err(error) = result {
                wipe(output);
                return Err(error);
            }
            for (index, slot) in (first..).zip(slots.chunks(self.message.slot_len())) {
                let segment = &slot[..slot.len() - TAG_LEN];
                let before = (offset + filled as u64) - index * self.message.segment_len as u64;
                let part = &segment[clamp(before)..];
                let n = part.len().min(output.len() - filled);
                output[filled..][..n].copy_from_slice(&part[..n]);
                filled += n;
            }
        }
        Ok(filled)
    }
}
