/// Overwrites a secret with zeros. Without the feature `zeroize` the optimiser may drop the writes to
/// memory that is never read again.
#[inline]
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    #[cfg(feature = "zeroize")]
    zeroize::optimization_barrier(bytes);
}

/// A secret that is wiped on drop. Without the feature `zeroize` it is not.
#[cfg(all(feature = "ristretto", feature = "zeroize"))]
pub(crate) use zeroize::Zeroizing as Secret;

#[cfg(all(feature = "ristretto", not(feature = "zeroize")))]
#[derive(Clone)]
pub(crate) struct Secret<T>(T);

#[cfg(all(feature = "ristretto", not(feature = "zeroize")))]
impl<T> Secret<T> {
    pub(crate) fn new(secret: T) -> Self {
        Self(secret)
    }
}

#[cfg(all(feature = "ristretto", not(feature = "zeroize")))]
impl<T> core::ops::Deref for Secret<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(all(feature = "ristretto", not(feature = "zeroize")))]
impl<T> core::ops::DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
