//! The kernels of NH.

use core::{array::from_fn, mem::replace};

use crate::backend::dispatch::{Token, function};

/// From sums, units of input, key, and the number of units.
type AddUnits = function!(*mut u8, *const u8, *const u8, usize);

/// From sums of each unit of a group, groups of units, key, and the number of groups.
type AddGroups = function!(*mut u8, *const u8, *const u8, usize);

const PASSES: usize = 4;

/// How many units are a group.
const GROUP: usize = 4;

/// The two sums of each pass.
pub(crate) type Sums = [[u64; 2]; PASSES];

/// Fewer units are faster without a kernel.
pub(crate) const FEWEST: usize = 4;

/// The kernels of a level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    pub(crate) add_units: AddUnits,
    /// Faster for long messages. Words 1 and 2 of each unit of the key have changed places.
    pub(crate) add_groups: Option<AddGroups>,
}

#[cfg(veriplex_kernels)]
pub(crate) use super::hardware::NH as CANDIDATES;
#[cfg(not(veriplex_kernels))]
pub(crate) const CANDIDATES: [super::dispatch::Candidate<Kernels>; 0] = [];

impl Token<Kernels> {
    /// Adds the products of these units. Unit u uses the four units of the key from u on.
    pub(crate) fn add_units(self, sums: &mut Sums, units: &[[u8; 16]], key: &[[u32; 4]]) {
        assert!(key.len() + 1 >= units.len() + PASSES);
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 64 bytes of the
        // sums, reads the n units and n + 3 units of the key (none if n is 0), and touches nothing else.
        unsafe {
            (self.add_units)(
                sums.as_mut_ptr().cast(),
                units.as_ptr().cast(),
                key.as_ptr().cast(),
                units.len(),
            );
        }
    }

    /// Whether there is a kernel for groups.
    #[inline]
    pub(crate) fn takes_groups(self) -> bool {
        self.add_groups.is_some()
    }

    /// Adds the products of as many of these units as fill groups to the sums of the lanes, if there is a kernel for groups:
    /// returns of how many. Unit u uses the four units of the key from u on.
    pub(crate) fn add_groups(
        self,
        lanes: &mut LaneSums,
        units: &[[u8; 16]],
        swapped_key: &[[u32; 4]],
    ) -> usize {
        assert!(swapped_key.len() + 1 >= units.len() + PASSES);
        let Some(kernel) = self.add_groups else {
            return 0;
        };
        let (groups, _) = units.as_chunks::<GROUP>();
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 256 bytes of the
        // lanes' sums, reads the n groups of 64 bytes and 4 n + 3 units of the key (none if n is 0), and touches nothing
        // else.
        unsafe {
            kernel(
                lanes.lanes.as_mut_ptr().cast(),
                groups.as_ptr().cast(),
                swapped_key.as_ptr().cast(),
                groups.len(),
            );
        }
        GROUP * groups.len()
    }
}

/// Two sums of each pass for each unit of a group. They go on from one piece of a message to the next: so a kernel loads what
/// it has stored, which takes less time than what was set to zero. Wiped at once: word by word would take longer.
#[derive(Default)]
pub(crate) struct LaneSums {
    lanes: [[[u64; 2]; GROUP]; PASSES],
    /// The sums over all lanes, when they were taken last.
    before: Sums,
}

impl LaneSums {
    /// What has come since it was called last.
    #[inline]
    pub(crate) fn since_last(&mut self) -> Sums {
        let now: Sums = self
            .lanes
            .map(|[a, b, c, d]| from_fn(|i| a[i].wrapping_add(b[i]).wrapping_add(c[i].wrapping_add(d[i]))));
        let before = replace(&mut self.before, now);
        from_fn(|pass| from_fn(|i| now[pass][i].wrapping_sub(before[pass][i])))
    }
}

impl Drop for LaneSums {
    fn drop(&mut self) {
        (self.lanes, self.before) = Default::default();
        zeroize::optimization_barrier(self);
    }
}

#[cfg(all(test, feature = "std", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sums_are_wiped() {
        crate::base::wipe::assert_wiped_on_drop(LaneSums {
            lanes: [[[u64::MAX; 2]; GROUP]; PASSES],
            before: [[u64::MAX; 2]; PASSES],
        });
    }
}
