//! The wiping of secrets.

/// Overwrites a secret with zeros. Without the feature `zeroize` the optimiser may drop the writes to
/// memory that is never read again.
#[inline]
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    // It is inline assembly, which SAW cannot run.
    #[cfg(all(feature = "zeroize", not(veriplex_proofs)))]
    zeroize::optimization_barrier(bytes);
}

/// How much of the stack [`with_wiped_stack`] overwrites, in bytes.
#[cfg(feature = "zeroize")]
const STACK_LEN: usize = 1 << 16;

/// Runs `f`, and then overwrites 64 KiB of the stack below the caller, where `f` had its variables: also copies of
/// secrets that the compiler made, and that no destructor knows of.
///
/// What `f` returns, and what it captures, is outside of that part: put secrets into a `Box`. Registers are not wiped,
/// nor is anything if `f` panics or without the feature `zeroize`. The calling thread needs this much free stack.
///
#[cfg_attr(all(feature = "getrandom", feature = "ristretto"), doc = "```")]
#[cfg_attr(not(all(feature = "getrandom", feature = "ristretto")), doc = "```ignore")]
/// use veriplex::{keys::PrivateKey, label, os_rng, sig};
///
/// let key = Box::new(PrivateKey::generate(&mut os_rng()));
/// let signature = veriplex::with_wiped_stack(|| sig::sign_deterministic(label!("com.example"), &key, b"message"));
/// sig::verify(label!("com.example"), key.public_key(), b"message", &signature)?;
/// # Ok::<(), veriplex::Error>(())
/// ```
#[cfg(any(feature = "hybrid", feature = "zeroize"))]
pub fn with_wiped_stack<R>(f: impl FnOnce() -> R) -> R {
    let result = apart(f);
    #[cfg(feature = "zeroize")]
    overwrite_stack();
    result
}

/// Runs `f` in a frame of its own, below the caller's.
#[cfg(any(feature = "hybrid", feature = "zeroize"))]
#[inline(never)]
fn apart<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[cfg(feature = "zeroize")]
#[inline(never)]
#[allow(clippy::large_stack_arrays)] // that is the purpose
fn overwrite_stack() {
    let mut stack = [0; STACK_LEN];
    wipe(&mut stack);
}

/// Bytes in memory that are wiped on drop, all at once: [`Secret`] wipes them one by one, which takes as long as hashing or
/// encrypting them.
#[cfg(any(
    feature = "poly1305",
    feature = "std",
    feature = "rustcrypto",
    feature = "xoofff"
))]
#[derive(Clone)]
pub(crate) struct Wiped<T: AsMut<[u8]>>(pub(crate) T);

#[cfg(any(
    feature = "poly1305",
    feature = "std",
    feature = "rustcrypto",
    feature = "xoofff"
))]
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

#[cfg(all(
    test,
    any(
        feature = "poly1305",
        feature = "std",
        feature = "rustcrypto",
        feature = "xoofff"
    )
))]
mod tests {
    use super::Wiped;

    #[test]
    fn wiped_on_drop() {
        let mut bytes = [0xa5; 100];
        drop(Wiped(&mut bytes[1..]));
        assert_eq!((bytes[0], &bytes[1..]), (0xa5, [0; 99].as_slice()));
    }

    #[cfg(feature = "std")]
    #[test]
    fn nothing_is_printed() {
        assert_eq!(std::format!("{:?}", Wiped([0xa5; 3])), "Wiped { .. }");
    }
}

/// The bytes of a value where it lies, before it is dropped and after.
#[cfg(all(test, feature = "std", feature = "zeroize", target_os = "linux"))]
pub(crate) fn before_and_after_drop<T>(value: T) -> [std::vec::Vec<u8>; 2] {
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;

    let mut place = std::vec![value];
    let at = place.as_ptr().addr() as u64;
    let memory = File::open("/proc/self/mem").unwrap();
    let bytes = || {
        let mut bytes = std::vec![0; size_of::<T>()];
        memory.read_exact_at(&mut bytes, at).unwrap();
        bytes
    };
    let before = bytes();
    place.clear();
    [before, bytes()]
}

/// Checks that a value without a zero byte has no other byte after it is dropped.
#[cfg(all(
    test,
    feature = "adiantum",
    feature = "std",
    feature = "zeroize",
    target_os = "linux"
))]
pub(crate) fn assert_wiped_on_drop<T>(full: T) {
    let [before, after] = before_and_after_drop(full);
    assert!(!before.is_empty() && before.iter().all(|byte| *byte != 0));
    assert!(after.iter().all(|byte| *byte == 0));
}
