//! Parallel hash and extendable output: a tree of transcripts over chunks of 4096 bytes, which are independent and can be
//! verified one by one.
//!
//! With 32 bytes of output it has 128-bit collision and (second-)preimage resistance, like [`digest`](crate::digest); with
//! a key it is a pseudorandom function of the message. As there, different domains and output lengths give independent
//! results. Up to 4096 bytes it costs as much as `digest`; above, chunks can be computed in parallel on one core, on all
//! cores (feature `rayon`) and on several machines ([`Tree::chaining_values_into`]), always with the same result.
//! [`outboard`] verifies a part of a message without the rest.
//!
//! ```
//! use veriplex::{label, tree::{self, Tree}};
//!
//! let mut hasher = Tree::new(label!("com.example.tree")).hasher();
//! hasher.update(b"one ");
//! hasher.update(b"message");
//! assert_eq!(hasher.finalize(), tree::digest(label!("com.example.tree"), b"one message"));
//! ```
//!
//! # Definition
//!
//! In [`Protocol`] operations; `[k]` is one byte, `LE64` is eight bytes, little-endian, and `||` is concatenation:
//!
//! ```text
//! base             = Init(domain)                       with a key: Init(domain); Mix("key", key)
//! node(k, x)       = copy of base; Mix("level", [k]); Mix("node", x); Derive("cv", 32)
//! root(k, x, L, n) = copy of base; Mix("level", [k]); Mix("node", x); Mix("length", LE64(L)); Derive("digest", n)
//!
//! tree(m, n):  k = 0; x = m
//!              while x has more than 4096 bytes:
//!                  cut x into chunks of 4096 bytes, the last one of 1 to 4096 bytes
//!                  x = node(k, first chunk) || node(k, second chunk) || ...;  k = k + 1
//!              return root(k, x, length of m, n)
//! ```
//!
//! So each level hashes the concatenated chaining values of the level below as if they were a message; 128 of them make a
//! chunk. A message of at most 4096 bytes is one transcript; messages below 2^64 bytes have levels 0 to 8. Chaining values
//! do not depend on the position: equal chunks have equal ones.
//!
//! Transcripts decode uniquely, so nodes of different levels, nodes and roots, and trees with and without a key never share
//! a transcript; a collision of the tree is a collision of Derive with 32 bytes, or of the root's Derive.
//! The construction is Veriplex's own, similar to the tree modes of BLAKE3 and `KangarooTwelve` (RFC 9861).

mod combine;
pub mod outboard;
#[cfg(feature = "rayon")]
mod threads;

use core::fmt;

pub use combine::Combiner;

use crate::base::forms::hash_writer;
use crate::digest::Digest;
use crate::protocol::many;
use crate::{Error, Key, Label, Protocol, label};

/// Size in bytes of a chunk.
pub const CHUNK_LEN: usize = 4096;
/// Size in bytes of a chaining value.
pub const CV_LEN: usize = 32;
/// The number of levels that a message below 2^64 bytes can have.
pub const MAX_LEVELS: usize = 9;

/// A chaining value covers 2^12 bytes, and 2^7 of them make a chunk.
const CHUNK_BITS: usize = 12;
const FANOUT_BITS: usize = 7;
const _: () = assert!(CHUNK_LEN == 1 << CHUNK_BITS && CHUNK_LEN / CV_LEN == 1 << FANOUT_BITS);

/// How many chunks are processed between two uses of their chaining values: several times what fits into the lanes.
const BATCH: usize = 32;

/// The digest of a message, 32 bytes.
#[must_use]
pub fn digest(domain: Label<'_>, message: &[u8]) -> Digest {
    Tree::new(domain).digest(message)
}

/// An output of any length for a message. A shorter output is not a prefix of a longer one.
pub fn digest_into(domain: Label<'_>, message: &[u8], output: &mut [u8]) {
    Tree::new(domain).digest_into(message, output);
}

/// The hash in a domain, with or without a key.
#[derive(Clone, Debug)]
pub struct Tree(Protocol);

impl zeroize::ZeroizeOnDrop for Tree {}

impl Tree {
    /// The hash without a key.
    #[must_use]
    pub fn new(domain: Label<'_>) -> Self {
        Self::from_protocol(Protocol::new(domain))
    }

    /// The hash under a key.
    #[must_use]
    pub fn keyed(domain: Label<'_>, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain, key))
    }

    /// The hash over a protocol: for keys of other lengths, or for a key that a longer transcript agreed on.
    ///
    /// [`Tree::new`] is this with Init `domain`, [`Tree::keyed`] with Init `domain`, Mix `key`.
    #[must_use]
    pub const fn from_protocol(base: Protocol) -> Self {
        Self(base)
    }

    /// The digest of a message, 32 bytes.
    #[must_use]
    pub fn digest(&self, message: &[u8]) -> Digest {
        let mut digest = [0; Digest::LEN];
        self.digest_into(message, &mut digest);
        digest.into()
    }

    /// An output of any length for a message. A shorter output is not a prefix of a longer one.
    pub fn digest_into(&self, message: &[u8], output: &mut [u8]) {
        self.digest_at_once(message, output, Self::for_each_batch);
    }

    /// Where the length is known, the last chunk need not wait to become the root: it is computed together with others.
    fn digest_at_once(&self, message: &[u8], output: &mut [u8], for_each: ForEach) {
        let len = message.len() as u64;
        if message.len() <= CHUNK_LEN {
            return self.root(0, message, len, output);
        }
        // The chaining values of all chunks are in the root.
        if message.len() <= BATCH * CHUNK_LEN {
            return self.for_each_batch(0, message, &mut |cvs| self.root(1, cvs, len, output));
        }
        let mut nodes = Nodes::new(self.clone(), ());
        nodes.len = len;
        for_each(self, 0, message, &mut |cvs| nodes.push(1, cvs, for_each));
        nodes.finish(1, output);
    }

    /// Starts an incremental digest.
    #[must_use]
    pub fn hasher(&self) -> Hasher {
        Hasher(Nodes::new(self.clone(), ()))
    }

    /// Size in bytes of the part of a message that one chaining value of a level covers: 4096 * 128^`level`.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] for a level above 7: no message has chaining values there.
    pub const fn unit_len(level: usize) -> Result<u64, Error> {
        if level >= MAX_LEVELS - 1 {
            return Err(Error::LimitReached);
        }
        Ok(1 << (CHUNK_BITS + FANOUT_BITS * level))
    }

    /// The chaining values of a level for a part of a message: 32 bytes for each unit of [`Tree::unit_len`] bytes. The part
    /// must start at a multiple of the unit; the last unit may be shorter if it ends the message.
    ///
    /// This lets several machines compute a digest together: each computes the chaining values of one level for its part, and
    /// [`Tree::combine_into`] takes them all, concatenated in order. The machines exchange nothing else.
    ///
    /// ```
    /// use veriplex::{label, tree::Tree};
    ///
    /// let tree = Tree::new(label!("com.example.tree"));
    /// let message = [7; 20_000];
    /// let mut values = [0; 5 * 32]; // 20,000 bytes make five chunks
    /// let (here, there) = values.split_at_mut(2 * 32);
    /// tree.chaining_values_into(0, &message[..8192], here)?;
    /// tree.chaining_values_into(0, &message[8192..], there)?;
    /// let mut digest = [0; 32];
    /// tree.combine_into(0, &values, 20_000, &mut digest)?;
    /// assert_eq!(digest, *tree.digest(&message).as_bytes());
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the part is empty, or if `values` does not have 32 bytes for each unit that starts in it;
    /// [`Error::LimitReached`] for a level above 7.
    pub fn chaining_values_into(&self, level: usize, part: &[u8], values: &mut [u8]) -> Result<(), Error> {
        // A unit too long for memory is longer than any part.
        let unit_len = usize::try_from(Self::unit_len(level)?).unwrap_or(usize::MAX);
        let (values, rest) = values.as_chunks_mut();
        if part.is_empty() || part.len().div_ceil(unit_len) != values.len() || !rest.is_empty() {
            return Err(Error::BufferLength);
        }
        if level == 0 {
            self.cvs(0, part, values);
            return Ok(());
        }
        for (unit, value) in part.chunks(unit_len).zip(values) {
            let mut nodes = Nodes::new(self.clone(), ());
            nodes.push(0, unit, Tree::for_each_batch);
            *value = nodes.close_up_to(level);
        }
        Ok(())
    }

    /// The output for a message of `len` bytes, from all of its chaining values of one level.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `values` does not have 32 bytes for each [`Tree::unit_len`] of the message;
    /// [`Error::LimitReached`] if the message has no chaining values of this level, because it is not longer than a unit.
    pub fn combine_into(
        &self,
        level: usize,
        values: &[u8],
        len: u64,
        output: &mut [u8],
    ) -> Result<(), Error> {
        let shape = Shape::new(len);
        if level >= shape.top {
            return Err(Error::LimitReached);
        }
        if values.len() as u64 != shape.len_of(level + 1) {
            return Err(Error::BufferLength);
        }
        let mut nodes = Nodes::new(self.clone(), ());
        nodes.len = len;
        nodes.push(level + 1, values, Self::for_each_batch);
        nodes.finish(level + 1, output);
        Ok(())
    }

    /// The transcript of a node before its bytes.
    #[inline(always)] // so that it is made where it is used
    fn begin(&self, level: usize) -> Protocol {
        let mut node = self.0.clone();
        node.mix(label!("level"), &level.to_le_bytes()[..1]);
        node.mix_begin(label!("node"));
        node
    }

    fn root(&self, level: usize, x: &[u8], len: u64, output: &mut [u8]) {
        let mut node = self.begin(level);
        node.mix_more(x);
        close_root(&mut node, len, output);
    }

    /// The chaining values of chunks of one level, the last of which may be shorter.
    fn cvs(&self, level: usize, x: &[u8], cvs: &mut [[u8; CV_LEN]]) {
        let cvs = cvs.iter_mut().map(<[u8; CV_LEN]>::as_mut_slice);
        many::derive(&self.begin(level), label!("cv"), x.chunks(CHUNK_LEN), cvs);
    }

    /// Gives the chaining values of chunks of one level, the last of which may be shorter, to `visit`, in order, some at a
    /// time.
    fn for_each_batch(&self, level: usize, x: &[u8], visit: &mut dyn FnMut(&[u8])) {
        for chunks in x.chunks(BATCH * CHUNK_LEN) {
            let mut cvs = [[0; CV_LEN]; BATCH];
            let cvs = &mut cvs[..chunks.len().div_ceil(CHUNK_LEN)];
            self.cvs(level, chunks, cvs);
            visit(cvs.as_flattened());
        }
    }
}

fn close(node: &mut Protocol) -> [u8; CV_LEN] {
    node.derive_array(label!("cv"))
}

fn close_root(node: &mut Protocol, len: u64, output: &mut [u8]) {
    node.mix(label!("length"), &len.to_le_bytes());
    node.derive(label!("digest"), output);
}

/// An incremental digest, made by [`Tree::hasher`]. It holds one transcript for each level, about 1.5 KiB, and no data.
///
/// Pieces of 32 KiB or more are fastest, since their chunks are computed together. With the feature `std` it implements
/// `Write`.
#[derive(Clone, Debug)]
pub struct Hasher(Nodes<()>);

impl Hasher {
    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.0.update(input, Tree::for_each_batch);
    }

    /// The digest, 32 bytes.
    #[must_use]
    pub fn finalize(self) -> Digest {
        let mut digest = [0; Digest::LEN];
        self.finalize_into(&mut digest);
        digest.into()
    }

    /// An output of any length. A shorter output is not a prefix of a longer one.
    pub fn finalize_into(self, output: &mut [u8]) {
        self.0.finish(0, output);
    }
}

hash_writer!(Hasher);

/// A receiver of the strings of the levels above 0.
trait Sink {
    fn receive(&mut self, level: usize, cvs: &[u8]);
}

impl Sink for () {
    fn receive(&mut self, _: usize, _: &[u8]) {}
}

/// How the chaining values of many chunks are computed: [`Tree::for_each_batch`] or `Tree::for_each_window`.
type ForEach = fn(&Tree, usize, &[u8], &mut dyn FnMut(&[u8]));

/// The last chunk of each level, as far as it is known.
#[derive(Clone)]
struct Nodes<S> {
    tree: Tree,
    /// The last chunk of a level may be the root, so it is closed only when a byte of the next one arrives.
    open: [Option<Open>; MAX_LEVELS],
    len: u64,
    sink: S,
}

#[derive(Clone)]
struct Open {
    node: Protocol,
    filled: usize,
}

impl<S: Sink> Nodes<S> {
    fn new(tree: Tree, sink: S) -> Self {
        Self {
            tree,
            open: [const { None }; MAX_LEVELS],
            len: 0,
            sink,
        }
    }

    fn update(&mut self, input: &[u8], for_each: ForEach) {
        self.len += input.len() as u64;
        self.push(0, input, for_each);
    }

    /// Takes the next bytes of a level's string.
    fn push(&mut self, level: usize, mut bytes: &[u8], for_each: ForEach) {
        if level > 0 {
            self.sink.receive(level, bytes);
        }
        while !bytes.is_empty() {
            match &mut self.open[level] {
                Some(open) if open.filled < CHUNK_LEN => {
                    let (now, later) = bytes.split_at(bytes.len().min(CHUNK_LEN - open.filled));
                    open.node.mix_more(now);
                    open.filled += now.len();
                    bytes = later;
                }
                Some(_) => {
                    let cv = close(&mut self.take_last(level));
                    self.push(level + 1, &cv, for_each);
                }
                None => {
                    let (chunks, last) = bytes.split_at((bytes.len() - 1) / CHUNK_LEN * CHUNK_LEN);
                    if !chunks.is_empty() {
                        let tree = self.tree.clone();
                        for_each(&tree, level, chunks, &mut |cvs| {
                            self.push(level + 1, cvs, for_each);
                        });
                    }
                    bytes = last;
                    self.open[level] = Some(Open {
                        node: self.tree.begin(level),
                        filled: 0,
                    });
                }
            }
        }
    }

    /// The last chunk of a level, which then has none; that of level 0 is empty if the message is.
    fn take_last(&mut self, level: usize) -> Protocol {
        let node = self.open[level].take().map(|open| open.node);
        node.unwrap_or_else(|| self.tree.begin(level))
    }

    /// The chaining value at `top` of all that was pushed.
    fn close_up_to(mut self, top: usize) -> [u8; CV_LEN] {
        for level in 0..top {
            let cv = close(&mut self.take_last(level));
            self.push(level + 1, &cv, Tree::for_each_batch);
        }
        close(&mut self.take_last(top))
    }

    /// The output, when the string of `level` is complete; and who wanted the strings.
    fn finish(mut self, mut level: usize, output: &mut [u8]) -> S {
        loop {
            let mut node = self.take_last(level);
            if self.open.get(level + 1).is_none_or(Option::is_none) {
                close_root(&mut node, self.len, output);
                return self.sink;
            }
            level += 1;
            self.push(level, &close(&mut node), Tree::for_each_batch);
        }
    }
}

/// Shows no part of the state.
impl<S> fmt::Debug for Nodes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").finish_non_exhaustive()
    }
}

/// The lengths of the strings of all levels of a message.
#[derive(Clone, Copy, Debug)]
struct Shape {
    lens: [u64; MAX_LEVELS],
    /// The root's level.
    top: usize,
}

impl Shape {
    fn new(len: u64) -> Self {
        let mut shape = Self {
            lens: [0; MAX_LEVELS],
            top: 0,
        };
        shape.lens[0] = len;
        while shape.lens[shape.top] > CHUNK_LEN as u64 {
            let chunks = shape.lens[shape.top].div_ceil(CHUNK_LEN as u64);
            shape.top += 1;
            shape.lens[shape.top] = chunks * CV_LEN as u64;
        }
        shape
    }

    /// How long a level's string is; 0 above the root.
    fn len_of(&self, level: usize) -> u64 {
        self.lens[level]
    }

    /// Where in its level's string the chunks `first` to `last` lie.
    fn chunks(&self, level: usize, [first, last]: [u64; 2]) -> core::ops::Range<u64> {
        let end = (last + 1).saturating_mul(CHUNK_LEN as u64);
        first * CHUNK_LEN as u64..end.min(self.lens[level])
    }
}
