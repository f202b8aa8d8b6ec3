/// Overwrites a secret with zeros. Without the feature `zeroize` the optimiser may drop the writes to
/// memory that is never read again.
#[inline]
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    #[cfg(feature = "zeroize")]
    zeroize::optimization_barrier(bytes);
}
