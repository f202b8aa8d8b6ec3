//! Poly1305: a one-time authenticator (RFC 8439, section 2.5).
//!
//! **A key authenticates one message, never a second one.** Two tags under one key can reveal the key, and with it an
//! attacker can forge anything. So take a fresh key for each message from a random generator or a stream cipher, as AEADs
//! built on Poly1305 do. To authenticate several messages under one key, use [`mac`](crate::mac); to encrypt as well, use
//! [`aead`](crate::aead). Keys are passed by value, and no call starts a second message.
//!
//! With a random key, a forgery of n 16-byte blocks succeeds with probability at most 8 n / 2^106. The key consists of r
//! and s, 16 bytes each; 22 bits of r are cleared, so keys that differ only in these bits are equivalent. The running time
//! depends only on the length of the message. A tag has 16 bytes.
//!
//! ```
//! use veriplex::{Key, os_rng, poly1305::{self, Poly1305}};
//!
//! let key: Key = Key::generate(&mut os_rng()); // for this message only
//! let mut poly = Poly1305::new(key.clone());
//! poly.update(b"mess");
//! poly.update(b"age");
//! let tag = poly.finalize();
//! assert!(poly1305::verify(key, b"message", &tag).is_ok());
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! A second message does not compile:
//!
//! ```compile_fail,E0382
//! # use veriplex::poly1305::Poly1305;
//! let mut poly = Poly1305::new([7; 32]);
//! let tag = poly.finalize();
//! poly.update(b"another one");
//! ```

pub(crate) mod backend;
#[cfg(all(test, veriplex_kernels))]
mod cross_check;
#[cfg(veriplex_kernels)]
mod lanes;
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
mod lanes44;
pub(crate) mod number;
mod portable32;
mod portable64;
pub(crate) mod short;

use subtle::ConstantTimeEq;

use crate::base::forms::hash_writer;
use crate::base::timing::Timing;
use crate::base::wipe::{Wiped, opaque};
use crate::{Error, Key, TAG_LEN};
use backend::{Backend, State};
use number::{BLOCK_LEN, Block};

/// Size in bytes of a key.
pub const KEY_LEN: usize = 32;

/// Computes the tag of the only message under this key.
///
/// ```
/// let key: veriplex::Key = veriplex::Key::generate(&mut veriplex::os_rng()); // for this message only
/// let tag = veriplex::poly1305::auth(key, b"message");
/// ```
#[must_use]
pub fn auth(key: impl Into<Key<KEY_LEN>>, message: &[u8]) -> [u8; TAG_LEN] {
    let _timing = Timing::independent();
    Backend::current().auth(key.into().as_bytes(), message)
}

/// Compares the tag of a message with the received one in constant time.
///
/// # Errors
///
/// [`Error::Verification`] if they differ or `tag` is not 16 bytes long.
pub fn verify(key: impl Into<Key<KEY_LEN>>, message: &[u8], tag: &[u8]) -> Result<(), Error> {
    same(&auth(key, message), tag)
}

fn same(tag: &[u8; TAG_LEN], received: &[u8]) -> Result<(), Error> {
    if tag.ct_eq(received).into() {
        Ok(())
    } else {
        Err(Error::Verification)
    }
}

/// Computes a tag incrementally, for the only message under its key.
///
/// Neither it nor its key can be used again. Wiped on drop. With the feature `std` it implements
/// `Write`.
pub struct Poly1305 {
    state: State,
    /// Bytes that do not fill a block yet.
    buffer: Wiped<Block>,
    filled: usize,
}

impl Poly1305 {
    /// Starts a message of unknown length.
    #[must_use]
    #[inline]
    pub fn new(key: impl Into<Key<KEY_LEN>>) -> Self {
        Self::with_bytes_hint(key, 0)
    }

    /// Starts a message of about this many bytes. The hint only affects speed: a wrong one does not change the tag.
    #[must_use]
    #[inline] // so that the state is not moved, which takes longer than a short message
    pub fn with_bytes_hint(key: impl Into<Key<KEY_LEN>>, bytes_hint: usize) -> Self {
        let _timing = Timing::independent();
        Self {
            state: Backend::current().start(key.into().as_bytes(), bytes_hint),
            buffer: Wiped([0; BLOCK_LEN]),
            filled: 0,
        }
    }

    /// Absorbs the next piece of the message.
    pub fn update(&mut self, mut input: &[u8]) {
        let _timing = Timing::independent();
        if self.filled > 0 {
            let (piece, rest) = input.split_at(input.len().min(BLOCK_LEN - self.filled));
            self.buffer.0[self.filled..][..piece.len()].copy_from_slice(piece);
            self.filled += piece.len();
            input = rest;
            if self.filled < BLOCK_LEN {
                return;
            }
            self.state.absorb(&self.buffer.0);
        }
        let (blocks, rest) = input.split_at(input.len() - input.len() % BLOCK_LEN);
        self.state.absorb(blocks);
        self.buffer.0[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// Returns the tag, 16 bytes. Compare tags only with [`Poly1305::verify`].
    #[must_use]
    pub fn finalize(mut self) -> [u8; TAG_LEN] {
        let _timing = Timing::independent();
        self.state.tag(&self.buffer.0[..self.filled])
    }

    /// Compares the tag with the received one in constant time.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if they differ or `tag` is not 16 bytes long.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        same(&self.finalize(), tag)
    }
}

/// Two messages with a common prefix, for traits that require it.
#[cfg(feature = "rustcrypto")]
impl Poly1305 {
    pub(crate) fn fork(&self) -> Self {
        Self {
            state: self.state.clone(),
            buffer: self.buffer.clone(),
            filled: self.filled,
        }
    }
}

opaque!(Poly1305);

hash_writer!(Poly1305);
