//! Authenticated encryption of a stream in blocks of one fixed size: Mix `key`, Mix `nonce`, then the blocks.
//!
//! A block of `BLOCK_LEN` bytes is Seal `block`. The last block always exists and has fewer bytes of message, padded
//! with 0x80 and zeros; it is Seal `final`. So a message that fills its blocks gets one more, of padding only. Every
//! block grows by a tag of 16 bytes. The key has 32 bytes, the nonce 16 or more (24 if it is random). The sealed stream
//! shows how many blocks the message has, not how many bytes. Blocks cannot be changed, dropped, repeated or reordered,
//! nor the end cut off, without an error: every block depends on all before it. It is the notion `OAE2` of Hoang,
//! Reyhanitabar, Rogaway and Vizár ("Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", CRYPTO
//! 2015, [eprint 2015/189](https://eprint.iacr.org/2015/189)) as long as no nonce repeats under a key. A forged block
//! is accepted with probability 2^-128 per try. Two streams with the same nonce show how far their messages agree, and
//! the XOR of the bytes that follow.
//!
//! [`aestream`](crate::aestream) instead has blocks of any size, can be flushed, and marks its own end. Here the stream
//! ends where the input ends, so a reader must know whether more follows before it opens a block.
//!
//! [`Sealer`] and [`Opener`] work on single blocks in the caller's buffers, and with feature `alloc` on whole messages
//! (`seal_vec`, `open_vec`); with feature `std`, `SealWriter` and `OpenReader` do the rest, with feature `tokio` also
//! asynchronously.
//!
//! ```
//! use std::io::{Read, Write};
//! use veriplex::{Key, Nonce, label, oae2::{OpenReader, SealWriter}, os_rng};
//!
//! # fn main() -> std::io::Result<()> {
//! let domain = label!("com.example.blocks");
//! let key = Key::generate(&mut os_rng());
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every stream: send it along
//!
//! let mut writer = SealWriter::<_, 1024>::new(domain, &key, &nonce, Vec::new());
//! writer.write_all(b"message")?;
//! let sealed = writer.finish()?;
//! assert_eq!(sealed.len(), 1024 + 16);
//!
//! let mut message = Vec::new();
//! OpenReader::<_, 1024>::new(domain, &key, &nonce, sealed.as_slice()).read_to_end(&mut message)?;
//! assert_eq!(message, b"message");
//! # Ok(())
//! # }
//! ```

use crate::base::wipe::wipe;
use crate::{Error, Key, Label, Protocol, TAG_LEN, label};

/// Size in bytes of a sealed block; that `BLOCK_LEN` is not 0 is checked at compile time.
const fn sealed_len<const BLOCK_LEN: usize>() -> usize {
    const { assert!(BLOCK_LEN > 0, "a block has at least one byte") };
    const { BLOCK_LEN + TAG_LEN }
}

/// Seals a stream in blocks of `BLOCK_LEN` bytes, at least one:
///
/// ```compile_fail
/// # fn main() {
/// let keyed = veriplex::Protocol::new(veriplex::label!("example"));
/// let sealer = veriplex::oae2::Sealer::<0>::from_protocol(keyed);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sealer<const BLOCK_LEN: usize>(Protocol);

impl<const BLOCK_LEN: usize> zeroize::ZeroizeOnDrop for Sealer<BLOCK_LEN> {}

impl<const BLOCK_LEN: usize> Sealer<BLOCK_LEN> {
    /// Size in bytes of a sealed block.
    pub const SEALED_LEN: usize = sealed_len::<BLOCK_LEN>();

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
        let _ = Self::SEALED_LEN;
        Self(keyed)
    }

    /// Seals the rest of the stream into a new vector.
    #[cfg(feature = "alloc")]
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // the lengths are right
    pub fn seal_vec(mut self, message: &[u8]) -> alloc::vec::Vec<u8> {
        let (blocks, last) = message.as_chunks::<BLOCK_LEN>();
        // More than fits into memory must not wrap around to less, which it could with 32 bits.
        let mut sealed = alloc::vec![0; (blocks.len() + 1).saturating_mul(Self::SEALED_LEN)];
        let (full, end) = sealed.split_at_mut(blocks.len() * Self::SEALED_LEN);
        for (block, sealed) in blocks.iter().zip(full.chunks_exact_mut(Self::SEALED_LEN)) {
            sealed[..BLOCK_LEN].copy_from_slice(block);
            self.seal_block(sealed).expect("it has that length");
        }
        end[..last.len()].copy_from_slice(last);
        self.finish(end, last.len()).expect("it has that length");
        sealed
    }

    /// Seals a full block in place: `BLOCK_LEN` bytes of plaintext, 16 bytes of room.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] unless `block` has [`Sealer::SEALED_LEN`] bytes.
    pub fn seal_block(&mut self, block: &mut [u8]) -> Result<(), Error> {
        if block.len() != Self::SEALED_LEN {
            return Err(Error::BufferLength);
        }
        self.0.seal_in_place(label!("block"), block)
    }

    /// Seals the last block in place: `plaintext_len` bytes of plaintext, fewer than `BLOCK_LEN`, then room. Returns
    /// the protocol after the stream.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] unless `block` has [`Sealer::SEALED_LEN`] bytes, or if `plaintext_len` is not below
    /// `BLOCK_LEN`. The stream can then no longer be ended, so check them first if they are not constant.
    pub fn finish(mut self, block: &mut [u8], plaintext_len: usize) -> Result<Protocol, Error> {
        self.seal_last(block, plaintext_len)?;
        Ok(self.0)
    }

    fn seal_last(&mut self, block: &mut [u8], plaintext_len: usize) -> Result<(), Error> {
        if block.len() != Self::SEALED_LEN || plaintext_len >= BLOCK_LEN {
            return Err(Error::BufferLength);
        }
        let padding = &mut block[plaintext_len..BLOCK_LEN];
        padding.fill(0);
        padding[0] = 0x80;
        self.0.seal_in_place(label!("final"), block)
    }
}

/// Opens a stream block by block.
///
/// After an error, and after the end, every call is an error, and nothing more is output.
#[derive(Clone, Debug)]
pub struct Opener<const BLOCK_LEN: usize> {
    protocol: Protocol,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    Finished,
    Failed,
}

impl<const BLOCK_LEN: usize> Opener<BLOCK_LEN> {
    /// Size in bytes of a sealed block.
    pub const SEALED_LEN: usize = sealed_len::<BLOCK_LEN>();

    /// The stream that a [`Sealer`] began with the same arguments.
    #[must_use]
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce))
    }

    /// The stream that a [`Sealer`] began with the same protocol.
    #[must_use]
    pub const fn from_protocol(keyed: Protocol) -> Self {
        let _ = Self::SEALED_LEN;
        Self {
            protocol: keyed,
            progress: Progress::Open,
        }
    }

    /// Opens the rest of the stream into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if `sealed` is not what was sealed.
    #[cfg(feature = "alloc")]
    pub fn open_vec(mut self, sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let last = sealed.len().div_ceil(Self::SEALED_LEN).saturating_sub(1);
        let mut message = alloc::vec::Vec::with_capacity(sealed.len());
        for (i, block) in sealed.chunks(Self::SEALED_LEN).enumerate() {
            let start = message.len();
            message.extend_from_slice(block);
            let block = &mut message[start..];
            let plaintext = if i < last {
                self.open_block(block)
            } else {
                self.open_last(block)
            };
            let Ok(plaintext) = plaintext else { break };
            let end = start + plaintext.len();
            message.truncate(end);
        }
        if self.is_finished() {
            Ok(message)
        } else {
            wipe(&mut message);
            Err(Error::Verification)
        }
    }

    /// Opens a block in place that is not the last, because more input follows it: the plaintext, `BLOCK_LEN` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the next block that was sealed, and then `block` is all zeros but for its
    /// last 16 bytes; also after the end or after an error, or if there are not [`Opener::SEALED_LEN`] bytes.
    pub fn open_block<'b>(&mut self, block: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.start(block)?;
        let plaintext = self.protocol.open_in_place(label!("block"), block)?;
        self.progress = Progress::Open;
        Ok(plaintext)
    }

    /// Opens the last block in place: the plaintext without the padding, fewer than `BLOCK_LEN` bytes.
    ///
    /// Once the block is verified, the number of these bytes, which comes from the padding, is treated as public.
    ///
    /// # Errors
    ///
    /// As for [`Opener::open_block`], and if the owner of the key sealed a wrong padding.
    pub fn open_last<'b>(&mut self, block: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.start(block)?;
        let padded = self.protocol.open_in_place(label!("final"), block)?;
        match padded.iter().rposition(|&byte| byte != 0) {
            Some(len) if padded[len] == 0x80 => {
                self.progress = Progress::Finished;
                Ok(&mut padded[..len])
            }
            _ => {
                wipe(padded);
                Err(Error::Verification)
            }
        }
    }

    /// Whether the last block was verified.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.progress == Progress::Finished
    }

    /// The protocol after the verified last block.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] before it or after an error.
    pub fn finish(self) -> Result<Protocol, Error> {
        if self.is_finished() {
            Ok(self.protocol)
        } else {
            Err(Error::Verification)
        }
    }

    /// Before a block is opened: the stream counts as failed until that has succeeded.
    fn start(&mut self, block: &[u8]) -> Result<(), Error> {
        if self.progress != Progress::Open {
            return Err(Error::Verification);
        }
        self.progress = Progress::Failed;
        if block.len() == Self::SEALED_LEN {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }
}

#[cfg(feature = "std")]
mod io {
    use core::ops::Range;
    use std::vec::Vec;

    use super::{Opener, Sealer};
    use crate::schemes::io::{Open, Opening, Seal, Sealing, open_reader, seal_writer};
    use crate::{Error, Key, Label, Protocol, TAG_LEN};

    /// Seals what is written to it and passes the blocks on.
    ///
    /// `finish` must be called (or `shutdown` of the asynchronous writer): it writes the last block. Flushing
    /// does not end a block, so up to `BLOCK_LEN - 1` bytes wait. It holds one block.
    #[must_use = "call `finish` at the end: without it the stream has no end"]
    pub struct SealWriter<W, const BLOCK_LEN: usize>(
        crate::schemes::io::SealWriter<Sealing<Sealer<BLOCK_LEN>>, W>,
    );

    impl<W, const BLOCK_LEN: usize> SealWriter<W, BLOCK_LEN> {
        /// Starts a stream under a key. Never use a nonce for another stream under the same key; it has at least 16
        /// bytes, and 24 if it is random.
        pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N], inner: W) -> Self {
            Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce), inner)
        }

        /// Starts a stream under the key and the nonce in a protocol: [`Sealer::from_protocol`].
        pub fn from_protocol(keyed: Protocol, inner: W) -> Self {
            Self(crate::schemes::io::SealWriter::new(keyed, inner))
        }
    }

    seal_writer!(SealWriter, [const BLOCK_LEN: usize], [BLOCK_LEN]);

    /// Reads a stream to the end of the inner reader and returns only what was verified.
    ///
    /// A read returns 0 bytes only at the verified end. A cut inside a block is an error of kind `UnexpectedEof`; any
    /// other damage, also a cut between two blocks, is one of kind `InvalidData`. After these, every call is an error.
    /// An error of the inner reader changes nothing: the call can be repeated. It holds one block.
    pub struct OpenReader<R, const BLOCK_LEN: usize>(
        crate::schemes::io::OpenReader<Opening<Opener<BLOCK_LEN>>, R>,
    );

    impl<R, const BLOCK_LEN: usize> OpenReader<R, BLOCK_LEN> {
        /// Starts to read the stream that a writer began with the same arguments.
        #[must_use]
        pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N], inner: R) -> Self {
            Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce), inner)
        }

        /// Starts to read the stream that a writer began with the same protocol.
        #[must_use]
        pub fn from_protocol(keyed: Protocol, inner: R) -> Self {
            Self(crate::schemes::io::OpenReader::new(keyed, inner))
        }

        /// The protocol after the verified end of the stream, and the inner reader.
        ///
        /// # Errors
        ///
        /// [`Error::Verification`] before the end or after an error.
        pub fn finish(self) -> Result<(Protocol, R), Error> {
            self.0.finish()
        }
    }

    open_reader!(OpenReader, [const BLOCK_LEN: usize], [BLOCK_LEN]);

    impl<const BLOCK_LEN: usize> Seal for Sealer<BLOCK_LEN> {
        const PREFIX: usize = 0;
        const MAX_LEN: usize = BLOCK_LEN;
        const END_LEN: usize = 0;
        const EARLY: bool = false;

        fn new(keyed: Protocol) -> Self {
            Self::from_protocol(keyed)
        }

        fn seal_block(&mut self, block: &mut [u8]) {
            self.seal_block(block).expect("it has that length");
        }

        fn seal_end(&mut self, buffer: &mut Vec<u8>) {
            let len = buffer.len();
            buffer.resize(BLOCK_LEN + TAG_LEN, 0);
            self.seal_last(buffer, len).expect("it has that length");
        }
    }

    impl<const BLOCK_LEN: usize> Open for Opener<BLOCK_LEN> {
        const MAX_LEN: usize = Self::SEALED_LEN;
        /// Whether there is more tells a block from the last one.
        const LOOKAHEAD: usize = 1;

        fn new(keyed: Protocol) -> Self {
            Self::from_protocol(keyed)
        }

        fn wanted(&self) -> usize {
            Self::SEALED_LEN
        }

        fn open(&mut self, input: &mut [u8], last: bool) -> Result<Range<usize>, Error> {
            let plaintext = if last {
                self.open_last(input)?
            } else {
                self.open_block(input)?
            };
            Ok(0..plaintext.len())
        }

        fn is_finished(&self) -> bool {
            self.is_finished()
        }

        fn finish(self) -> Result<Protocol, Error> {
            self.finish()
        }
    }
}
#[cfg(feature = "std")]
pub use io::{OpenReader, SealWriter};
