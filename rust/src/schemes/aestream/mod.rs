//! Authenticated encryption of a stream, block by block: Mix `key`, Mix `nonce`, then the blocks.
//!
//! A block of 1..=65535 bytes is Mask `header` (its length, two bytes, big endian), Seal `block`, Ratchet `block`; the
//! end is a block of length 0. Blocks cannot be changed, dropped, repeated or reordered, nor the end cut off, without
//! an error: every block depends on all before it. The key has 32 bytes, the nonce 16 or more (24 if it is random). The
//! overhead is 18 bytes a block and 18 for the end. To read at any place, use [`seekable`](crate::seekable).
//!
//! It is confidential under chosen plaintexts, and a forged block is accepted with probability 2^-128 per try, as long
//! as no nonce repeats under a key. Two streams with the same nonce show how far their messages agree, and the XOR of
//! the bytes that follow. Whoever learns the state after a block learns
//! nothing about that block or those before it.
//!
//! The lengths of blocks are masked, but only against passive observers. The sealed stream shows how long it is, and
//! whoever sees when its parts are sent may tell the blocks apart. **An active attacker who flips bits in a header, and
//! watches how much the receiver then reads, learns the masked length:** the header has no tag of its own. If lengths
//! are secret, pad to one of few lengths, or use [`oae2`](crate::oae2), whose blocks all have one.
//!
//! [`Sealer`] and [`Opener`] work on single blocks in the caller's buffers, and with feature `alloc` on whole messages
//! (`seal_vec`, `open_vec`); with feature `std`, `SealWriter` and `OpenReader` do the rest, with feature `tokio` also
//! asynchronously.
//!
//! ```
//! use std::io::{Read, Write};
//! use veriplex::{Key, Nonce, aestream::{OpenReader, SealWriter}, label, os_rng};
//!
//! # fn main() -> std::io::Result<()> {
//! let domain = label!("com.example.stream");
//! let key = Key::generate(&mut os_rng());
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every stream: send it along
//!
//! let mut writer = SealWriter::new(domain, &key, &nonce, Vec::new());
//! writer.write_all(b"message")?;
//! let sealed = writer.finish()?;
//!
//! let mut message = Vec::new();
//! OpenReader::new(domain, &key, &nonce, sealed.as_slice()).read_to_end(&mut message)?;
//! assert_eq!(message, b"message");
//! # Ok(())
//! # }
//! ```
//!
//! With feature `tokio` both are also asynchronous. There `shutdown` ends the stream instead of `finish`. It shuts down
//! the inner writer, too, which you keep if you lend it:
//!
//! ```
//! use tokio::io::{AsyncWrite, AsyncWriteExt};
//! use veriplex::{Key, Nonce, aestream::SealWriter, label, os_rng};
//!
//! async fn send(to: &mut (impl AsyncWrite + Unpin), key: &Key) -> std::io::Result<()> {
//!     let nonce = Nonce::<24>::generate(&mut os_rng());
//!     to.write_all(nonce.as_bytes()).await?; // the receiver reads it first
//!     let mut writer = SealWriter::new(label!("com.example.stream"), key, &nonce, to);
//!     writer.write_all(b"message").await?;
//!     writer.shutdown().await
//! }
//! ```

#[cfg(feature = "std")]
mod io;
#[cfg(feature = "alloc")]
mod vec;

#[cfg(feature = "std")]
pub use io::{OpenReader, SealWriter};

use crate::{Error, Key, Label, Protocol, TAG_LEN, label};

/// Size in bytes of a masked block header.
pub const HEADER_LEN: usize = 2;
/// How many bytes longer a sealed block is than its plaintext.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;
/// The largest plaintext of one block, in bytes.
pub const MAX_BLOCK_LEN: usize = 0xffff;

/// Seals a stream block by block.
#[derive(Clone, Debug)]
pub struct Sealer(Protocol);

impl zeroize::ZeroizeOnDrop for Sealer {}

impl Sealer {
    /// A stream under a key. Never use a nonce for another stream under the same key; it has at least 16 bytes, and 24
    /// if it is random.
    #[must_use]
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce))
    }

    /// A stream under the key in a protocol, for what a longer transcript agreed on. No two streams may start from the
    /// same state: mix in a nonce first. [`Sealer::new`] is this with Init `domain`, Mix `key`, Mix `nonce`.
    #[must_use]
    pub const fn from_protocol(keyed: Protocol) -> Self {
        Self(keyed)
    }

    /// Where the plaintext of a block belongs: all of the buffer but the room for header and tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the buffer has no room for a plaintext.
    pub fn room(block: &mut [u8]) -> Result<&mut [u8], Error> {
        let end = block.len().saturating_sub(TAG_LEN);
        let room = block.get_mut(HEADER_LEN..end);
        room.filter(|room| !room.is_empty()).ok_or(Error::BufferLength)
    }

    /// Seals one block in place: two bytes of room, 1..=65535 bytes of plaintext, 16 bytes of room.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] unless `block` has 19..=65553 bytes.
    pub fn seal_block(&mut self, block: &mut [u8]) -> Result<(), Error> {
        if block.len() <= OVERHEAD {
            return Err(Error::BufferLength);
        }
        self.seal(block)
    }

    /// The block of 18 bytes that ends the stream, and the protocol after it.
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // the length is right
    pub fn finish(mut self) -> ([u8; OVERHEAD], Protocol) {
        let mut end = [0; OVERHEAD];
        self.seal(&mut end)
            .expect("an empty block has the overhead alone");
        (end, self.0)
    }

    fn seal(&mut self, block: &mut [u8]) -> Result<(), Error> {
        let (header, body) = block
            .split_first_chunk_mut::<HEADER_LEN>()
            .ok_or(Error::BufferLength)?;
        let len = body.len().checked_sub(TAG_LEN).ok_or(Error::BufferLength)?;
        *header = u16::try_from(len).map_err(|_| Error::BufferLength)?.to_be_bytes();
        self.0.mask(label!("header"), header);
        self.0.seal_in_place(label!("block"), body)?;
        self.0.ratchet(label!("block"));
        Ok(())
    }
}

/// Opens a stream block by block.
///
/// After an error, and after the end, every call is an error, and nothing more is output.
#[derive(Clone, Debug)]
pub struct Opener {
    protocol: Protocol,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    /// A header was read. If its [`Body`] is dropped, only [`Opener::open`] goes on.
    Body {
        len: usize,
    },
    Finished,
    Failed,
}

impl Opener {
    /// The stream that a [`Sealer`] began with the same arguments.
    #[must_use]
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce))
    }

    /// The stream that a [`Sealer`] began with the same protocol.
    #[must_use]
    pub const fn from_protocol(keyed: Protocol) -> Self {
        Self {
            protocol: keyed,
            progress: Progress::Open,
        }
    }

    /// How many bytes [`Opener::open`] takes next: 2 of a header or 16..=65551 of a body, none after the end or after
    /// an error. A header is not authenticated until its body is opened.
    #[must_use]
    pub const fn wanted(&self) -> usize {
        match self.progress {
            Progress::Open => HEADER_LEN,
            Progress::Body { len } => len + TAG_LEN,
            Progress::Finished | Progress::Failed => 0,
        }
    }

    /// Opens the next [`Opener::wanted`] bytes of the stream in place: the plaintext, which is empty after a header and
    /// at the verified end. For a loop that knows nothing of blocks:
    ///
    /// ```
    /// use veriplex::{Key, Nonce, aestream::{Opener, Sealer}, label, os_rng};
    ///
    /// let domain = label!("com.example.stream");
    /// let key = Key::generate(&mut os_rng());
    /// let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every stream: send it along
    ///
    /// let mut sealer = Sealer::new(domain, &key, &nonce);
    /// let mut stream = [0; 7 + 18 + 18];
    /// let (block, end) = stream.split_at_mut(7 + 18);
    /// Sealer::room(block)?.copy_from_slice(b"message");
    /// sealer.seal_block(block)?;
    /// end.copy_from_slice(&sealer.finish().0);
    ///
    /// let mut opener = Opener::new(domain, &key, &nonce);
    /// let mut rest = stream.as_mut_slice();
    /// while !opener.is_finished() {
    ///     let (input, after) = rest.split_at_mut_checked(opener.wanted()).ok_or(veriplex::Error::Verification)?;
    ///     let plaintext = opener.open(input)?;
    ///     assert!(plaintext.is_empty() || plaintext == b"message");
    ///     rest = after;
    /// }
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if a block is not the next one that was sealed, and then the input is all zeros but for
    /// its last 16 bytes; also after the end, after an error, or if there are not [`Opener::wanted`] bytes.
    pub fn open<'b>(&mut self, input: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        if let Progress::Body { len } = self.progress {
            let plaintext = Body { opener: self, len }.open(input)?;
            return Ok(plaintext.unwrap_or(&mut [])); // the end
        }
        let Ok(header) = <[u8; HEADER_LEN]>::try_from(&*input) else {
            if self.progress == Progress::Open {
                self.progress = Progress::Failed;
            }
            return Err(Error::Verification);
        };
        self.header(header)?;
        Ok(&mut [])
    }

    /// Reads the header of a block. Read its body into a buffer, and open it with what is returned.
    ///
    /// The length is not verified before the body is. Whoever changes bits of the header changes the same bits of the
    /// length, and learns it from how much is read.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] after the end or after an error.
    pub fn header(&mut self, mut header: [u8; HEADER_LEN]) -> Result<Body<'_>, Error> {
        if self.progress != Progress::Open {
            return Err(Error::Verification);
        }
        self.protocol.unmask(label!("header"), &mut header);
        let len = usize::from(u16::from_be_bytes(header));
        self.progress = Progress::Body { len };
        Ok(Body { opener: self, len })
    }

    /// Whether the end of the stream was reached and verified.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.progress == Progress::Finished
    }

    /// The protocol after the verified end of the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] before the end or after an error.
    pub fn finish(self) -> Result<Protocol, Error> {
        if self.is_finished() {
            Ok(self.protocol)
        } else {
            Err(Error::Verification)
        }
    }
}

/// A block whose header was read.
#[derive(Debug)]
pub struct Body<'o> {
    opener: &'o mut Opener,
    len: usize,
}

impl Body<'_> {
    /// Size in bytes of the body: 16..=65551. The header is not authenticated until the body is opened.
    #[must_use]
    pub const fn sealed_len(&self) -> usize {
        self.len + TAG_LEN
    }

    /// Opens the body in place: the plaintext, or `None` at the verified end of the stream.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the block is not the next one that was sealed, and then `body` is all
    /// zeros except its last 16 bytes, or if it is not [`Body::sealed_len`] bytes long.
    pub fn open(self, body: &mut [u8]) -> Result<Option<&mut [u8]>, Error> {
        self.opener.progress = Progress::Failed;
        if body.len() != self.sealed_len() {
            return Err(Error::Verification);
        }
        let plaintext = self.opener.protocol.open_in_place(label!("block"), body)?;
        self.opener.protocol.ratchet(label!("block"));
        if plaintext.is_empty() {
            self.opener.progress = Progress::Finished;
            Ok(None)
        } else {
            self.opener.progress = Progress::Open;
            Ok(Some(plaintext))
        }
    }
}
