//! A reader of a message that verifies what it gives by an outboard.

mod writer;

use core::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::vec::Vec;

pub use writer::Writer;

use super::{up, verify_nodes, verify_root};
use crate::Error;
use crate::digest::Digest;
use crate::tree::{CHUNK_LEN, CV_LEN, FANOUT_BITS, MAX_LEVELS, Shape, Tree};

/// Reads a message with random access and releases only verified data. It reads only the parts of the outboard it needs.
///
/// Digest and length are verified first. So no end and no length is reported that is not the message's: a read returns 0
/// bytes only at or past the verified end. Damaged or truncated data or outboards give an error of kind `InvalidData`;
/// errors of the inner readers are passed on. After an error the call can be repeated and other places can be read. It
/// holds one chunk of each level, at most 4096 bytes each.
///
/// ```
/// use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom};
/// use veriplex::{label, tree::{Tree, outboard::{Builder, Reader}}};
///
/// let tree = Tree::new(label!("com.example.tree"));
/// let mut message = vec![7; 20_000];
/// let mut builder = Builder::new(&tree);
/// builder.update(&message);
/// let (digest, outboard) = builder.finalize();
///
/// message[0] ^= 1; // the first chunk is damaged, and the others are not
/// let mut reader = Reader::new(&tree, &digest, 20_000, Cursor::new(&message), Cursor::new(&outboard))?;
/// let mut part = [0; 10];
/// reader.seek(SeekFrom::Start(10_000))?;
/// reader.read_exact(&mut part)?;
/// assert_eq!(part, [7; 10]);
/// reader.rewind()?;
/// assert_eq!(reader.read_exact(&mut part).unwrap_err().kind(), ErrorKind::InvalidData);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader<M, O> {
    tree: Tree,
    shape: Shape,
    message: M,
    outboard: O,
    /// Where message and outboard begin in their readers.
    origins: [u64; 2],
    position: u64,
    /// The verified chunk of each level that was last used, with its number. The top level has only one.
    verified: [(u64, Vec<u8>); MAX_LEVELS],
}

impl<M: Read + Seek, O: Read + Seek> Reader<M, O> {
    /// Verifies that the message of this digest has `message_len` bytes, by the top of the outboard, or by the message if
    /// that has at most 4096 bytes. Message and outboard start at the current positions of `message` and `outboard`.
    ///
    /// # Errors
    ///
    /// One of kind `InvalidData` if it has not, or those of the inner readers.
    pub fn new(
        tree: &Tree,
        digest: &Digest,
        message_len: u64,
        mut message: M,
        mut outboard: O,
    ) -> io::Result<Self> {
        let mut reader = Self {
            tree: tree.clone(),
            shape: Shape::new(message_len),
            origins: [message.stream_position()?, outboard.stream_position()?],
            message,
            outboard,
            position: 0,
            verified: [const { (NO_CHUNK, Vec::new()) }; MAX_LEVELS],
        };
        let top = reader.shape.top;
        let root = reader.fetch(top, 0)?;
        verify_root(tree, digest, &reader.shape, &root).map_err(damaged)?;
        reader.verified[top] = (0, root);
        Ok(reader)
    }

    /// The chunk of a level above this chunk of the message. It is verified, unless it is the one that was verified last.
    fn load(&mut self, level: usize, index: u64) -> io::Result<&[u8]> {
        let [number, _] = up(level, [index; 2]);
        if self.verified[level].0 != number {
            let place = (number % (1 << FANOUT_BITS)).to_le_bytes()[0];
            let above = self.load(level + 1, index)?;
            let expected = above.as_chunks::<CV_LEN>().0[usize::from(place)];
            let chunk = self.fetch(level, number)?;
            verify_nodes(&self.tree, level, &chunk, &[expected]).map_err(damaged)?;
            self.verified[level] = (number, chunk);
        }
        Ok(&self.verified[level].1)
    }

    /// The chunk of a level with this number.
    fn fetch(&mut self, level: usize, number: u64) -> io::Result<Vec<u8>> {
        let range = self.shape.chunks(level, [number; 2]);
        let [message, outboard] = self.origins;
        let mut chunk = std::vec![0; CHUNK_LEN];
        chunk.truncate(usize::try_from(range.end - range.start).unwrap_or(CHUNK_LEN));
        let result = if level == 0 {
            read_at(&mut self.message, message.saturating_add(range.start), &mut chunk)
        } else {
            let above: u64 = self.shape.lens[level + 1..].iter().sum();
            read_at(
                &mut self.outboard,
                outboard.saturating_add(above + range.start),
                &mut chunk,
            )
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(damaged(Error::Verification)),
            result => result.map(|()| chunk),
        }
    }
}

/// No level has a chunk with this number.
const NO_CHUNK: u64 = u64::MAX;

fn read_at(reader: &mut (impl Read + Seek), offset: u64, output: &mut [u8]) -> io::Result<()> {
    reader.seek(SeekFrom::Start(offset))?;
    reader.read_exact(output)
}

fn damaged(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<M: Read + Seek, O: Read + Seek> Read for Reader<M, O> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let position = self.position;
        if output.is_empty() || position >= self.shape.lens[0] {
            return Ok(0);
        }
        let chunk = self.load(0, position / CHUNK_LEN as u64)?;
        let start = usize::try_from(position % CHUNK_LEN as u64).unwrap_or(CHUNK_LEN);
        let n = output.len().min(chunk.len() - start);
        output[..n].copy_from_slice(&chunk[start..][..n]);
        self.position += n as u64;
        Ok(n)
    }
}

impl<M, O> Seek for Reader<M, O> {
    /// Seeks to a position in the message; past its end there is nothing to read.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = crate::schemes::io::seek(to, self.position, self.shape.lens[0])?;
        Ok(self.position)
    }
}

impl<M, O> fmt::Debug for Reader<M, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
