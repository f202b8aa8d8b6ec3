//! Verifying a part of a message without the rest, with its chaining values stored alongside.
//!
//! An outboard is the concatenated strings of the levels of a [`Tree`], from the root's level down to level 1: 0.79 % of
//! the message, and nothing for a message of at most 4096 bytes. It does not contain the length of the message, from which
//! its own layout follows: the digest commits to the length, and the verifier must know it. The digest, the length and the
//! outboard suffice to verify any range of chunks. A single chunk needs only a proof (`Outboard::proof`): from each level
//! above, one chunk of at most 4096 bytes, in the same order.
//!
//! Only the digest and the length are trusted: outboards and proofs may come from anyone. Use [`Tree::keyed`] if people who
//! know the message must not be able to recognise its digest.
//!
//! ```
//! use veriplex::{label, tree::{Tree, outboard::{Builder, Outboard, verify_chunk}}};
//!
//! let tree = Tree::new(label!("com.example.tree"));
//! let message = [7; 20_000];
//! let mut builder = Builder::new(&tree);
//! builder.update(&message);
//! let (digest, strings) = builder.finalize();
//! assert_eq!(digest, tree.digest(&message));
//!
//! let outboard = Outboard::new(&strings, 20_000)?;
//! outboard.verify_range(&tree, &digest, 8192, &message[8192..])?;
//!
//! let proof = outboard.proof(2)?; // of the third chunk
//! verify_chunk(&tree, &digest, 20_000, 2, &message[8192..12288], &proof)?;
//! # Ok::<(), veriplex::Error>(())
//! ```

#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "std")]
mod io;

use subtle::ConstantTimeEq;

#[cfg(feature = "alloc")]
pub use builder::Builder;
#[cfg(feature = "std")]
pub use io::{Reader, Writer};

use super::{BATCH, CHUNK_LEN, CV_LEN, FANOUT_BITS, MAX_LEVELS, Shape, Tree};
use crate::Error;
use crate::digest::Digest;

/// Size in bytes of the outboard of a message of `message_len` bytes.
#[must_use]
pub fn outboard_len(message_len: u64) -> u64 {
    Shape::new(message_len).lens[1..].iter().sum()
}

/// An outboard, not yet verified, and the length of its message.
#[derive(Clone, Copy, Debug)]
pub struct Outboard<'a> {
    strings: &'a [u8],
    shape: Shape,
}

impl<'a> Outboard<'a> {
    /// An outboard that was received or kept.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if a message of `message_len` bytes has an outboard of another length.
    pub fn new(strings: &'a [u8], message_len: u64) -> Result<Self, Error> {
        if strings.len() as u64 != outboard_len(message_len) {
            return Err(Error::Verification);
        }
        Ok(Self {
            strings,
            shape: Shape::new(message_len),
        })
    }

    /// Verifies the chunks of a message that begin at `offset`, a multiple of 4096, and end at one or at the end of the
    /// message.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if they, or what the outboard says of them, are not what was hashed;
    /// [`Error::BufferLength`] if `data` is not such a range of the message (only an empty message has an empty range).
    #[allow(clippy::missing_panics_doc)] // the strings have their lengths
    pub fn verify_range(&self, tree: &Tree, digest: &Digest, offset: u64, data: &[u8]) -> Result<(), Error> {
        let end = offset.checked_add(data.len() as u64).ok_or(Error::BufferLength)?;
        let len = self.shape.lens[0];
        let chunk_len = CHUNK_LEN as u64;
        if !offset.is_multiple_of(chunk_len)
            || end > len
            || end != len && !end.is_multiple_of(chunk_len)
            || data.is_empty() && len > 0
        {
            return Err(Error::BufferLength);
        }
        let chunks = [offset / chunk_len, end.saturating_sub(1) / chunk_len];
        verify(tree, digest, &self.shape, chunks, |level| match level {
            0 => data,
            _ => self.string(level, chunks),
        })
    }

    /// The proof of a chunk of the message, for [`verify_chunk`]: at most 32 KiB.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the message has no chunk with this number; the first chunk is number 0.
    #[cfg(feature = "alloc")]
    pub fn proof(&self, index: u64) -> Result<alloc::vec::Vec<u8>, Error> {
        if !self.shape.has(index) {
            return Err(Error::BufferLength);
        }
        let levels = (1..=self.shape.top).rev();
        Ok(levels
            .flat_map(|level| self.string(level, [index; 2]))
            .copied()
            .collect())
    }

    /// The chunks of a level above these chunks of the message.
    fn string(&self, level: usize, chunks: [u64; 2]) -> &'a [u8] {
        let above: u64 = self.shape.lens[level + 1..].iter().sum();
        let range = self.shape.chunks(level, up(level, chunks));
        // The outboard has its length, which is one of memory.
        let [start, end] =
            [above + range.start, above + range.end].map(|at| usize::try_from(at).unwrap_or(0));
        &self.strings[start..end]
    }
}

/// Verifies a chunk of a message of `message_len` bytes with its proof. The first chunk is number 0.
///
/// # Errors
///
/// [`Error::Verification`] if chunk and proof are not those of this number in a message of this length and digest.
pub fn verify_chunk(
    tree: &Tree,
    digest: &Digest,
    message_len: u64,
    index: u64,
    chunk: &[u8],
    proof: &[u8],
) -> Result<(), Error> {
    let shape = Shape::new(message_len);
    if !shape.has(index) || chunk.len() as u64 != shape.part(0, index) {
        return Err(Error::Verification);
    }
    let mut parts: [&[u8]; MAX_LEVELS] = [&[]; MAX_LEVELS];
    parts[0] = chunk;
    let mut rest = proof;
    for level in (1..=shape.top).rev() {
        let len = usize::try_from(shape.part(level, index)).unwrap_or(usize::MAX);
        (parts[level], rest) = rest.split_at_checked(len).ok_or(Error::Verification)?;
    }
    if !rest.is_empty() {
        return Err(Error::Verification);
    }
    verify(tree, digest, &shape, [index; 2], |level| parts[level])
}

/// The chunks of a level that these chunks of the message are below.
fn up(level: usize, chunks: [u64; 2]) -> [u64; 2] {
    chunks.map(|chunk| chunk >> (FANOUT_BITS * level))
}

impl Shape {
    /// Whether the message has a chunk of this number. An empty message has one.
    fn has(&self, index: u64) -> bool {
        index < self.lens[0].div_ceil(CHUNK_LEN as u64).max(1)
    }

    /// How long the chunk of a level above this chunk of the message is.
    fn part(&self, level: usize, index: u64) -> u64 {
        let range = self.chunks(level, up(level, [index; 2]));
        range.end - range.start
    }
}

/// Goes down from the root: `string` gives what is said to be the chunks of a level that are above the chunks `first` to
/// `last` of the message, in their right lengths.
fn verify<'a>(
    tree: &Tree,
    digest: &Digest,
    shape: &Shape,
    chunks: [u64; 2],
    string: impl Fn(usize) -> &'a [u8],
) -> Result<(), Error> {
    let mut above = string(shape.top);
    verify_root(tree, digest, shape, above)?;
    for level in (0..shape.top).rev() {
        // Of what is above, which was verified, the chaining values of these chunks.
        let [first, _] = up(level, chunks);
        let skipped = (first % (1 << FANOUT_BITS)).to_le_bytes()[0];
        let x = string(level);
        let (cvs, _) = above.as_chunks::<CV_LEN>();
        let expected = &cvs[usize::from(skipped)..][..x.len().div_ceil(CHUNK_LEN)];
        for (x, expected) in x.chunks(BATCH * CHUNK_LEN).zip(expected.chunks(BATCH)) {
            verify_nodes(tree, level, x, expected)?;
        }
        above = x;
    }
    Ok(())
}

fn verify_root(tree: &Tree, digest: &Digest, shape: &Shape, x: &[u8]) -> Result<(), Error> {
    let mut computed = [0; Digest::LEN];
    tree.root(shape.top, x, shape.lens[0], &mut computed);
    accept(Digest::from(computed).ct_eq(digest))
}

/// At most [`BATCH`] chunks, the last of which may be shorter.
fn verify_nodes(tree: &Tree, level: usize, x: &[u8], expected: &[[u8; CV_LEN]]) -> Result<(), Error> {
    let mut computed = [[0; CV_LEN]; BATCH];
    let computed = &mut computed[..expected.len()];
    tree.cvs(level, x, computed);
    accept(computed.as_flattened().ct_eq(expected.as_flattened()))
}

fn accept(equal: subtle::Choice) -> Result<(), Error> {
    if equal.into() {
        Ok(())
    } else {
        Err(Error::Verification)
    }
}
