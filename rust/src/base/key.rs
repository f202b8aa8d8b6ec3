//! Symmetric keys.

use core::fmt;
use core::str::FromStr;

use subtle::{Choice, ConstantTimeEq};

use crate::Error;
use crate::base::hex::decode_hex;
use crate::base::wipe::wipe;

/// A symmetric key of `N` bytes, for every scheme that takes a key.
///
/// Wiped on drop, compared in constant time, and never printed. A key is random (`Key::generate`)
/// or derived: from other secrets by [`kdf`](crate::kdf), from a password by [`mhf`](crate::mhf). It is parsed from
/// hexadecimal digits in lower case, two for each byte, and `Key::to_hex` writes them. What is random but public is a
/// [`Nonce`](crate::Nonce).
///
/// ```
/// use veriplex::{Key, aead::Aead, label, os_rng};
///
/// let key = Key::generate(&mut os_rng());
/// let aead = Aead::<24>::new(label!("com.example.aead"), &key);
/// assert_eq!(format!("{key:?}"), "Key { .. }");
/// # let _ = aead;
/// ```
#[derive(Clone)]
pub struct Key<const N: usize = 32>([u8; N]);

impl<const N: usize> Key<N> {
    /// Size in bytes.
    pub const LEN: usize = N;

    /// A random key.
    ///
    /// ```
    /// let key: veriplex::Key = veriplex::Key::generate(&mut veriplex::os_rng());
    /// ```
    #[cfg(feature = "rand_core")]
    #[must_use]
    pub fn generate<R: rand_core::CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut key = Self([0; N]);
        rng.fill_bytes(&mut key.0);
        key
    }

    /// For functions that derive a key in place.
    pub(crate) const fn as_mut_bytes(&mut self) -> &mut [u8; N] {
        &mut self.0
    }

    /// The key as 2 N hexadecimal digits, lower case, which are as secret as the key. `parse` decodes them.
    ///
    /// ```
    /// let key: veriplex::Key = veriplex::Key::generate(&mut veriplex::os_rng());
    /// assert_eq!(key.to_hex().parse(), Ok(key));
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    #[allow(clippy::missing_panics_doc)] // the length is right
    pub fn to_hex(&self) -> zeroize::Zeroizing<alloc::string::String> {
        let mut hex = zeroize::Zeroizing::new(alloc::vec![0; 2 * N]);
        let hex = base16ct::lower::encode_str(&self.0, &mut hex).expect("two digits for each byte");
        zeroize::Zeroizing::new(hex.into())
    }

    /// The bytes of the key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }
}

/// The array that is passed is a copy. The caller may want to wipe it.
impl<const N: usize> From<[u8; N]> for Key<N> {
    fn from(bytes: [u8; N]) -> Self {
        Self(bytes)
    }
}

impl<const N: usize> TryFrom<&[u8]> for Key<N> {
    type Error = Error;

    /// [`Error::InvalidKey`] unless there are `N` bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::InvalidKey)
    }
}

impl<const N: usize> FromStr for Key<N> {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless the text is 2 N hexadecimal digits, lower case.
    fn from_str(hex: &str) -> Result<Self, Error> {
        let mut key = Self([0; N]);
        decode_hex(hex, &mut key.0, Error::InvalidKey)?;
        Ok(key)
    }
}

impl<const N: usize> AsRef<[u8]> for Key<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> ConstantTimeEq for Key<N> {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl<const N: usize> PartialEq for Key<N> {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl<const N: usize> Eq for Key<N> {}

impl<const N: usize> Drop for Key<N> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl<const N: usize> zeroize::ZeroizeOnDrop for Key<N> {}

/// Shows no part of the key.
impl<const N: usize> fmt::Debug for Key<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}
