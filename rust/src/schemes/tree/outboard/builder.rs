//! An outboard of a message that comes in pieces.

use alloc::vec::Vec;

use crate::base::forms::hash_writer;
use crate::digest::Digest;
use crate::tree::{MAX_LEVELS, Nodes, Sink, Tree};

/// Computes a digest and an outboard incrementally. It holds the outboard, 0.79 % of the message.
///
/// With the feature `std` it implements `Write`.
#[derive(Clone, Debug)]
pub struct Builder(Nodes<Strings>);

/// The strings of the levels above 0.
#[derive(Clone, Debug, Default)]
struct Strings([Vec<u8>; MAX_LEVELS]);

impl Sink for Strings {
    fn receive(&mut self, level: usize, cvs: &[u8]) {
        self.0[level].extend_from_slice(cvs);
    }
}

impl Builder {
    /// Starts a message.
    #[must_use]
    pub fn new(tree: &Tree) -> Self {
        Self(Nodes::new(tree.clone(), Strings::default()))
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.0.update(input, Tree::for_each_batch);
    }

    /// Absorbs the next piece of the message on all threads of the current rayon pool. Use it for pieces of 1 MiB or more.
    #[cfg(feature = "rayon")]
    pub fn update_rayon(&mut self, input: &[u8]) {
        self.0.update(input, Tree::for_each_window);
    }

    /// The digest and the outboard.
    #[must_use]
    pub fn finalize(self) -> (Digest, Vec<u8>) {
        let mut digest = [0; Digest::LEN];
        let Strings(mut strings) = self.0.finish(0, &mut digest);
        strings.reverse();
        (digest.into(), strings.concat())
    }
}

hash_writer!(Builder);
