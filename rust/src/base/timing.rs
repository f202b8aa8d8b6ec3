//! Data-independent timing: `PSTATE.DIT` of `AArch64`.
#![cfg_attr(target_arch = "aarch64", allow(unsafe_code))]

/// Calls `f` with data-independent timing, where the CPU has a switch for it that programs can turn: `PSTATE.DIT` of
/// `AArch64`, with `FEAT_DIT`. Elsewhere it only calls `f`.
///
/// While it is set, the CPU promises that the time of the instructions on Arm's list does not depend on data. The
/// library sets it around its own operations on secrets, and restores it after each. Use this around secret-dependent
/// code of your own, and around many small operations, which then find it set.
///
/// It is set in this thread, and restored when `f` returns or panics. How it is found out whether the CPU has it is as
/// for the [backends](crate#backends): on Linux, Android and Apple systems; elsewhere only with `-C
/// target-feature=+dit`.
///
/// ```
/// let sum = veriplex::with_data_independent_timing(|| 1 + 2);
/// assert_eq!(sum, 3);
/// ```
#[inline(never)] // what `f` computes stays inside
pub fn with_data_independent_timing<T>(f: impl FnOnce() -> T) -> T {
    let _timing = Timing::independent();
    f()
}

#[cfg(target_arch = "aarch64")]
mod dit {
    use core::arch::asm;

    cpufeatures::new!(feature, "dit");

    const DIT: u64 = 1 << 24;

    /// Sets it, and returns whether it was clear.
    #[inline]
    pub(super) fn set() -> bool {
        if !feature::get() {
            return false;
        }
        let before: u64;
        // SAFETY: the CPU has FEAT_DIT, so that the register exists; programs may read it. Nothing else changes.
        unsafe { asm!("mrs {}, s3_3_c4_c2_5", out(reg) before, options(nostack, preserves_flags)) };
        let was_clear = before & DIT == 0;
        if was_clear {
            write(DIT);
        }
        was_clear
    }

    #[inline]
    pub(super) fn clear() {
        write(0);
    }

    /// Only where it was found to exist.
    #[inline]
    fn write(dit: u64) {
        // SAFETY: as above. It changes the time that instructions take, never a result. It may be taken for an access
        // to memory, so that none is moved across it.
        unsafe { asm!("msr s3_3_c4_c2_5, {}", in(reg) dit, options(nostack, preserves_flags)) };
    }
}

/// Data-independent timing from here until it is dropped.
#[must_use]
pub(crate) struct Timing {
    #[cfg(target_arch = "aarch64")]
    was_clear: bool,
    /// It is a state of the thread.
    _not_send: core::marker::PhantomData<*const ()>,
}

impl Timing {
    #[inline]
    pub(crate) fn independent() -> Self {
        Self {
            #[cfg(target_arch = "aarch64")]
            was_clear: dit::set(),
            _not_send: core::marker::PhantomData,
        }
    }
}

impl Drop for Timing {
    #[inline]
    fn drop(&mut self) {
        #[cfg(target_arch = "aarch64")]
        if self.was_clear {
            dit::clear();
        }
    }
}
