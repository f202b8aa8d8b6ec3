//! The readers and writers of this format.

use core::ops::Range;
use std::vec::Vec;

use super::{HEADER_LEN, MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use crate::schemes::io::{Open, Opening, Seal, Sealing, open_reader, seal_writer};
use crate::{Error, Key, Label, Protocol, TAG_LEN};

/// Seals what is written to it and passes the blocks on.
///
/// Blocks are as large as possible, but flushing ends one early. `finish` must be called (or `shutdown` of the
/// asynchronous writer): without it the stream has no end, and the reader reports it as cut. It holds one block, 64
/// KiB.
///
/// A protocol without a key is not accepted as a key:
///
/// ```compile_fail,E0061
/// let keyed = veriplex::Protocol::new(veriplex::label!("example"));
/// let writer = veriplex::aestream::SealWriter::new(keyed, Vec::new());
/// ```
///
/// Nor is a nonce of fewer than 16 bytes:
///
/// ```compile_fail,E0080
/// # fn main() {
/// let key = veriplex::Key::from([7; 32]);
/// let writer = veriplex::aestream::SealWriter::new(veriplex::label!("example"), &key, b"", Vec::<u8>::new());
/// # }
/// ```
///
/// The compiler warns about a writer that is never used. It does not warn about one that is written to and then
/// dropped, but the reader notices:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// let key = veriplex::Key::from([7; 32]);
/// veriplex::aestream::SealWriter::new(veriplex::label!("example"), &key, &[7; 24], Vec::<u8>::new());
/// ```
///
/// ```
/// use std::io::{ErrorKind, Read, Write};
/// use veriplex::{Key, Nonce, aestream::{OpenReader, SealWriter}, label, os_rng};
///
/// let domain = label!("com.example.stream");
/// let (key, nonce) = (Key::generate(&mut os_rng()), Nonce::<24>::generate(&mut os_rng()));
/// let mut sealed = Vec::new();
/// let mut writer = SealWriter::new(domain, &key, &nonce, &mut sealed);
/// writer.write_all(b"message")?;
/// writer.flush()?;
/// drop(writer); // without `finish`
///
/// let mut reader = OpenReader::new(domain, &key, &nonce, sealed.as_slice());
/// assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap_err().kind(), ErrorKind::UnexpectedEof);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "call `finish` at the end: without it the stream has no end"]
pub struct SealWriter<W>(crate::schemes::io::SealWriter<Sealing<Sealer>, W>);

impl<W> SealWriter<W> {
    /// Starts a stream under a key. Never use a nonce for another stream under the same key; it has at least 16 bytes,
    /// and 24 if it is random.
    pub fn new<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N], inner: W) -> Self {
        Self::from_protocol(Protocol::keyed_with_nonce(domain, key, nonce), inner)
    }

    /// Starts a stream under the key and the nonce in a protocol: [`Sealer::from_protocol`].
    pub fn from_protocol(keyed: Protocol, inner: W) -> Self {
        Self(crate::schemes::io::SealWriter::new(keyed, inner))
    }
}

seal_writer!(SealWriter, [], []);

/// Reads a stream and returns only what was verified.
///
/// A read returns 0 bytes only at the verified end. A cut stream is an error of kind `UnexpectedEof`, other damage one
/// of kind `InvalidData` (but a changed header may claim more than there is, which looks like a cut). After these,
/// every call is an error. An error of the inner reader changes nothing: the call can be repeated. It holds one block,
/// 64 KiB, whatever the headers claim. What follows the stream is left in the inner reader.
pub struct OpenReader<R>(crate::schemes::io::OpenReader<Opening<Opener>, R>);

impl<R> OpenReader<R> {
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

open_reader!(OpenReader, [], []);

impl Seal for Sealer {
    const PREFIX: usize = HEADER_LEN;
    const MAX_LEN: usize = MAX_BLOCK_LEN;
    const END_LEN: usize = OVERHEAD;
    const EARLY: bool = true;

    fn new(keyed: Protocol) -> Self {
        Self::from_protocol(keyed)
    }

    fn seal_block(&mut self, block: &mut [u8]) {
        self.seal(block).expect("it has a length that fits");
    }

    fn seal_end(&mut self, buffer: &mut Vec<u8>) {
        let mut end = 0;
        if buffer.len() > HEADER_LEN {
            end = buffer.len() + TAG_LEN;
            buffer.resize(end, 0);
            Seal::seal_block(self, buffer);
        }
        buffer.resize(end + OVERHEAD, 0);
        Seal::seal_block(self, &mut buffer[end..]);
    }
}

/// Header and body of a block are opened one after the other.
impl Open for Opener {
    const MAX_LEN: usize = MAX_BLOCK_LEN + TAG_LEN;
    const LOOKAHEAD: usize = 0;

    fn new(keyed: Protocol) -> Self {
        Self::from_protocol(keyed)
    }

    fn wanted(&self) -> usize {
        self.wanted()
    }

    fn open(&mut self, input: &mut [u8], _: bool) -> Result<Range<usize>, Error> {
        Ok(0..self.open(input)?.len())
    }

    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn finish(self) -> Result<Protocol, Error> {
        self.finish()
    }
}
