//! Poly1305: a one-time authenticator (RFC 8439, section 2.5).
//!
//! **A key authenticates one message, and never a second one.** Two tags under one key can give the key away, and with
//! it forgeries of anything. So a key comes from a generator or a stream cipher for each message anew, as in the AEADs that
//! are built on this. To authenticate several messages under one key, use [`mac`](crate::mac); to encrypt as well,
//! [`aead`](crate::aead). Keys are taken by value, and there is no call that starts a second message.
//!
//! With a random key, a forgery of n blocks of 16 bytes succeeds with a probability of at most 8 n / 2^106. The key has 32 bytes, r and s of 16 each; 22 bits of r are cleared, so keys that differ in these alone are
//! equal. The time depends on the length of the message only.
//!
//! At its first use the code tests itself with known answers: see [`backend()`].
//!
//! ```
//! use veriplex::poly1305::Poly1305;
//!
//! let key = [7; 32]; // 32 random bytes for this message alone, in earnest
//! let mut poly = Poly1305::new(key)?;
//! poly.update(b"mess");
//! poly.update(b"age");
//! let tag = poly.finalize();
//! assert!(veriplex::poly1305::verify(key, b"message", &tag).is_ok());
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! There is no second message:
//!
//! ```compile_fail,E0382
//! # use veriplex::poly1305::Poly1305;
//! let mut poly = Poly1305::new([7; 32]).unwrap();
//! let tag = poly.finalize();
//! poly.update(b"another one");
//! ```

pub(crate) mod backend;
mod portable32;
mod portable64;

use core::fmt;

use subtle::ConstantTimeEq;

use crate::wipe::Secret;
use crate::{Error, Key, TAG_LEN};
use backend::{Backend, MAX_BLOCK_LEN, State};

/// Size in bytes of a key.
pub const KEY_LEN: usize = 32;

/// The tag of a message, which is the only one under this key.
///
/// # Errors
///
/// [`Error::SelfTest`] if every backend fails its self-test.
///
/// ```
/// let key = [7; 32]; // 32 random bytes for this message alone, in earnest
/// let tag = veriplex::poly1305::auth(key, b"message")?;
/// # Ok::<(), veriplex::Error>(())
/// ```
pub fn auth(key: impl Into<Key<KEY_LEN>>, message: &[u8]) -> Result<[u8; TAG_LEN], Error> {
    Ok(Backend::current()?.auth(key.into().as_bytes(), message))
}

/// Compares the tag of a message with a received one, in constant time.
///
/// # Errors
///
/// [`Error::Verification`] if they differ or `tag` has not 16 bytes, [`Error::SelfTest`] as in [`auth`].
pub fn verify(key: impl Into<Key<KEY_LEN>>, message: &[u8], tag: &[u8]) -> Result<(), Error> {
    same(&auth(key, message)?, tag)
}

fn same(tag: &[u8; TAG_LEN], received: &[u8]) -> Result<(), Error> {
    if tag.ct_eq(received).into() {
        Ok(())
    } else {
        Err(Error::Verification)
    }
}

/// The name of the backend in use, and those of better ones that failed their self-test and are therefore left out.
///
/// The choice is made once, at the first use of this module, or here. Any backend can be tested again:
/// [`hazmat::poly1305::Backend::self_test`](crate::hazmat::poly1305::Backend::self_test).
///
/// # Errors
///
/// [`Error::SelfTest`] if every backend failed; then no tag is ever computed.
///
/// ```
/// let (name, mut failed) = veriplex::poly1305::backend()?;
/// assert!(["portable64", "portable32"].contains(&name));
/// assert_eq!(failed.next(), None);
/// # Ok::<(), veriplex::Error>(())
/// ```
pub fn backend() -> Result<(&'static str, impl Iterator<Item = &'static str>), Error> {
    Ok((Backend::current()?.name(), Backend::failed()?.map(Backend::name)))
}

/// Runs the self-test on the backend in use.
///
/// # Errors
///
/// [`Error::SelfTest`] if a known answer does not come out.
pub fn self_test() -> Result<(), Error> {
    Backend::current()?.self_test()
}

/// A tag in the making, of the only message under its key.
///
/// Neither it nor its key can be used again. Wiped on drop (feature `zeroize`). With feature `std` it is a `Write`.
pub struct Poly1305 {
    state: State,
    /// What does not fill a block yet.
    buffer: Secret<[u8; MAX_BLOCK_LEN]>,
    filled: usize,
}

impl Poly1305 {
    /// The beginning of a message of unknown length.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if every backend fails its self-test.
    pub fn new(key: impl Into<Key<KEY_LEN>>) -> Result<Self, Error> {
        Self::with_bytes_hint(key, 0)
    }

    /// The same for a message of about so many bytes. The hint is only about speed: a wrong one changes no tag.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if every backend fails its self-test.
    pub fn with_bytes_hint(key: impl Into<Key<KEY_LEN>>, bytes_hint: usize) -> Result<Self, Error> {
        Ok(Self::on(Backend::current()?, key.into().as_bytes(), bytes_hint))
    }

    /// The same on a chosen backend, tested or not.
    pub(crate) fn on(backend: Backend, key: &[u8; KEY_LEN], bytes_hint: usize) -> Self {
        Self {
            state: backend.start(key, bytes_hint),
            buffer: Secret::new([0; MAX_BLOCK_LEN]),
            filled: 0,
        }
    }

    /// Takes the next piece of the message.
    pub fn update(&mut self, mut input: &[u8]) {
        let block_len = self.state.backend().block_len();
        if self.filled > 0 {
            let (piece, rest) = input.split_at(input.len().min(block_len - self.filled));
            self.buffer[self.filled..][..piece.len()].copy_from_slice(piece);
            self.filled += piece.len();
            input = rest;
            if self.filled < block_len {
                return;
            }
            self.state.absorb(&self.buffer[..block_len]);
        }
        let (blocks, rest) = input.split_at(input.len() - input.len() % block_len);
        self.state.absorb(blocks);
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// The tag, 16 bytes. Compare tags only through [`Poly1305::verify`].
    #[must_use]
    pub fn finalize(self) -> [u8; TAG_LEN] {
        self.state.tag(&self.buffer[..self.filled])
    }

    /// Compares the tag with a received one, in constant time.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if they differ or `tag` has not 16 bytes.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        same(&self.finalize(), tag)
    }
}

/// Two messages with a common beginning: for Poly1305 as a hash whose values are secret, and for traits that ask for it.
#[cfg(any(feature = "adiantum", feature = "rustcrypto"))]
impl Poly1305 {
    pub(crate) fn fork(&self) -> Self {
        Self {
            state: self.state.clone(),
            buffer: self.buffer.clone(),
            filled: self.filled,
        }
    }
}

/// Shows no part of the state.
impl fmt::Debug for Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly1305").finish_non_exhaustive()
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Poly1305 {
    fn write(&mut self, input: &[u8]) -> std::io::Result<usize> {
        self.update(input);
        Ok(input.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
