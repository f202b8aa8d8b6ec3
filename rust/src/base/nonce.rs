//! Random nonces.

use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

use crate::Error;
use crate::base::hex::{Hex, decode_hex};

/// A nonce of `N` bytes, or a salt: public, and random.
///
/// `Nonce::generate` makes one, for a message, a stream or a password. With 24 bytes, random nonces do not repeat. Send it
/// along. The schemes take a reference to it, or to an array, as a nonce may also be a counter or the number of a sector.
/// It displays as hexadecimal digits in lower case, two for each byte, and is parsed from them.
///
/// ```
/// use veriplex::{Key, Nonce, aead::Aead, label, os_rng};
///
/// let key: Key = Key::generate(&mut os_rng());
/// let aead = Aead::<24>::new(label!("com.example.aead"), &key);
///
/// let nonce: Nonce = Nonce::generate(&mut os_rng());
/// let message = [nonce.as_ref(), &aead.seal_vec(&nonce, b"", b"message")].concat();
///
/// let (nonce, sealed) = message.split_first_chunk().ok_or(veriplex::Error::Verification)?;
/// assert_eq!(aead.open_vec(nonce, b"", sealed)?, b"message");
/// # Ok::<(), veriplex::Error>(())
/// ```
///
/// It is not accepted as a key:
///
/// ```compile_fail,E0308
/// # use veriplex::{Nonce, aead::Aead, label};
/// let aead = Aead::<24>::new(label!("example"), &Nonce::from([7; 32]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nonce<const N: usize = 24>([u8; N]);

impl<const N: usize> Nonce<N> {
    /// Size in bytes.
    pub const LEN: usize = N;

    /// A random nonce.
    ///
    /// ```
    /// let nonce: veriplex::Nonce = veriplex::Nonce::generate(&mut veriplex::os_rng());
    /// ```
    #[cfg(feature = "rand_core")]
    #[must_use]
    pub fn generate<R: rand_core::CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut nonce = Self([0; N]);
        rng.fill_bytes(&mut nonce.0);
        nonce
    }

    /// The bytes of the nonce.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }
}

/// So that a reference to a nonce is taken where one to an array is.
impl<const N: usize> Deref for Nonce<N> {
    type Target = [u8; N];

    fn deref(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> From<[u8; N]> for Nonce<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<const N: usize> From<Nonce<N>> for [u8; N] {
    fn from(nonce: Nonce<N>) -> Self {
        nonce.0
    }
}

impl<const N: usize> TryFrom<&[u8]> for Nonce<N> {
    type Error = Error;

    /// [`Error::Verification`] unless there are `N` bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::Verification)
    }
}

impl<const N: usize> FromStr for Nonce<N> {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::Verification`] unless the text is 2 N hexadecimal digits, lower case.
    fn from_str(hex: &str) -> Result<Self, Error> {
        let mut nonce = Self([0; N]);
        decode_hex(hex, &mut nonce.0, Error::Verification)?;
        Ok(nonce)
    }
}

impl<const N: usize> AsRef<[u8]> for Nonce<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> fmt::Display for Nonce<N> {
    /// Hexadecimal digits, two for each byte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl<const N: usize> fmt::Debug for Nonce<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({self})")
    }
}
