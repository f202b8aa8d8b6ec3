//! Poly1305 under the traits of `universal-hash` 0.6.
//!
//! ```
//! use universal_hash::KeyInit;
//! use veriplex::{Key, os_rng, rustcrypto::universal_hash::Poly1305};
//!
//! let key: Key = Key::generate(&mut os_rng()); // for this message only
//! let tag = Poly1305::new(key.as_bytes().into()).compute_unpadded(b"message");
//! assert!(veriplex::poly1305::verify(key, b"message", &tag).is_ok());
//! ```

use universal_hash::common::{BlockSizeUser, KeySizeUser, ParBlocksSizeUser};
use universal_hash::consts::{U1, U16};
use universal_hash::{Block, Key, KeyInit, UhfBackend, UhfClosure, UniversalHash};

use super::KeySize;
use crate::TAG_LEN;
use crate::poly1305;

/// [`poly1305::Poly1305`] over full blocks of 16 bytes. **A key authenticates one message, and never a second one.** The
/// traits take keys by reference and allow clones, so this rests with the caller.
///
/// `update_padded` fills the last block with zeros, as AEADs do; that is not the tag of the shorter message, which
/// [`Poly1305::compute_unpadded`] gives.
#[derive(Debug)]
pub struct Poly1305(poly1305::Poly1305);

impl Poly1305 {
    /// The tag with the last bytes of the message as they are.
    #[must_use]
    pub fn compute_unpadded(mut self, rest: &[u8]) -> [u8; TAG_LEN] {
        self.0.update(rest);
        self.0.finalize()
    }
}

impl Clone for Poly1305 {
    fn clone(&self) -> Self {
        Self(self.0.fork())
    }
}

impl KeySizeUser for Poly1305 {
    type KeySize = KeySize;
}

impl BlockSizeUser for Poly1305 {
    type BlockSize = U16;
}

impl KeyInit for Poly1305 {
    fn new(key: &Key<Self>) -> Self {
        Self(poly1305::Poly1305::new(<[u8; 32]>::from(*key)))
    }
}

impl UniversalHash for Poly1305 {
    fn update_with_backend(&mut self, f: impl UhfClosure<BlockSize = U16>) {
        f.call(&mut OneByOne(&mut self.0));
    }

    fn finalize(self) -> Block<Self> {
        self.0.finalize().into()
    }
}

struct OneByOne<'a>(&'a mut poly1305::Poly1305);

impl BlockSizeUser for OneByOne<'_> {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for OneByOne<'_> {
    type ParBlocksSize = U1;
}

impl UhfBackend for OneByOne<'_> {
    fn proc_block(&mut self, block: &Block<Self>) {
        self.0.update(block);
    }
}
