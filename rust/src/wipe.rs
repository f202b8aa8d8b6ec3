//! The wiping of secrets.

/// Overwrites a secret with zeros. Without the feature `zeroize` the optimiser may drop the writes to
/// memory that is never read again.
#[inline]
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    #[cfg(feature = "zeroize")]
    zeroize::optimization_barrier(bytes);
}

/// Bytes in memory that are wiped on drop.
#[cfg(any(feature = "std", feature = "rustcrypto", feature = "xoofff"))]
#[derive(Clone)]
pub(crate) struct Wiped<T: AsMut<[u8]>>(pub(crate) T);

#[cfg(any(feature = "std", feature = "rustcrypto", feature = "xoofff"))]
impl<T: AsMut<[u8]>> Drop for Wiped<T> {
    fn drop(&mut self) {
        wipe(self.0.as_mut());
    }
}

/// Shows nothing of them.
#[cfg(feature = "std")]
impl<T: AsMut<[u8]>> core::fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Wiped").finish_non_exhaustive()
    }
}

/// A secret that is wiped on drop. Without the feature `zeroize` it is not.
#[cfg(all(any(feature = "poly1305", feature = "ristretto"), feature = "zeroize"))]
pub(crate) use zeroize::Zeroizing as Secret;

#[cfg(all(any(feature = "poly1305", feature = "ristretto"), not(feature = "zeroize")))]
#[derive(Clone)]
pub(crate) struct Secret<T>(T);

#[cfg(all(any(feature = "poly1305", feature = "ristretto"), not(feature = "zeroize")))]
impl<T> Secret<T> {
    pub(crate) fn new(secret: T) -> Self {
        Self(secret)
    }
}

#[cfg(all(any(feature = "poly1305", feature = "ristretto"), not(feature = "zeroize")))]
impl<T> core::ops::Deref for Secret<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(all(any(feature = "poly1305", feature = "ristretto"), not(feature = "zeroize")))]
impl<T> core::ops::DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(all(test, any(feature = "std", feature = "rustcrypto", feature = "xoofff")))]
mod tests {
    use super::Wiped;

    #[test]
    fn wiped_on_drop() {
        let mut bytes = [0xa5; 100];
        drop(Wiped(&mut bytes[1..]));
        assert_eq!((bytes[0], &bytes[1..]), (0xa5, [0; 99].as_slice()));
    }
}
