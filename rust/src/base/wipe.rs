//! The wiping of secrets.

/// Overwrites a secret with zeros, also if the memory is never read again.
#[inline]
pub(crate) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    // It is inline assembly, which SAW cannot run.
    #[cfg(not(veriplex_proofs))]
    zeroize::optimization_barrier(bytes);
}

/// `Debug` of values with secrets, which shows their type.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        /// Shows no part of it.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
pub(crate) use opaque;

/// How much of the stack [`with_wiped_stack`] overwrites, in bytes.
const STACK_LEN: usize = 1 << 16;

/// Runs `f`, and then overwrites 64 KiB of the stack below the caller, where `f` had its variables: also copies of
/// secrets that the compiler made, and that no destructor knows of.
///
/// What `f` returns, and what it captures, is outside of that part: put secrets into a `Box`. Registers are not wiped,
/// nor is anything if `f` panics. The calling thread needs this much free stack.
///
/// ```
/// use veriplex::{keys::PrivateKey, label, os_rng, sig};
///
/// let key = Box::new(PrivateKey::generate(&mut os_rng()));
/// let signature = veriplex::with_wiped_stack(|| sig::sign_deterministic(label!("com.example"), &key, b"message"));
/// sig::verify(label!("com.example"), key.public_key(), b"message", &signature)?;
/// # Ok::<(), veriplex::Error>(())
/// ```
pub fn with_wiped_stack<R>(f: impl FnOnce() -> R) -> R {
    let result = own_frame(f);
    wipe_stack();
    result
}

/// Runs `f` in a frame of its own, below the caller's.
#[inline(never)]
fn own_frame<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[inline(never)]
#[allow(clippy::large_stack_arrays)] // that is the purpose
fn wipe_stack() {
    let mut stack = [0; STACK_LEN];
    wipe(&mut stack);
}

/// Bytes in memory that are wiped on drop, all at once: [`Secret`] wipes them one by one, which takes as long as hashing or
/// encrypting them.
#[allow(dead_code)] // used with some features
#[derive(Clone)]
pub(crate) struct Wiped<T: AsMut<[u8]>>(pub(crate) T);

impl<T: AsMut<[u8]>> Drop for Wiped<T> {
    fn drop(&mut self) {
        wipe(self.0.as_mut());
    }
}

/// Shows nothing of them.
impl<T: AsMut<[u8]>> core::fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Wiped").finish_non_exhaustive()
    }
}

/// A secret that is wiped on drop.
#[cfg(any(feature = "poly1305", feature = "ristretto"))]
pub(crate) use zeroize::Zeroizing as Secret;

/// The bytes of a value where it lies, before it is dropped and after.
#[cfg(all(test, feature = "std", target_os = "linux"))]
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
#[cfg(all(test, feature = "adiantum", feature = "std", target_os = "linux"))]
pub(crate) fn assert_wiped_on_drop<T>(full: T) {
    let [before, after] = before_and_after_drop(full);
    assert!(!before.is_empty() && before.iter().all(|byte| *byte != 0));
    assert!(after.iter().all(|byte| *byte == 0));
}

#[cfg(test)]
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
