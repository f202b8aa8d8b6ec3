//! The kernels of NH.

use crate::backend::Backend;
use crate::backend::kernels::function;

/// From sums, units of input, key, and the number of units.
type AddUnits = function!(*mut u8, *const u8, *const u8, usize);

const PASSES: usize = 4;

/// The two sums of each pass.
pub(crate) type Sums = [[u64; 2]; PASSES];

/// Fewer units are faster without a kernel.
pub(crate) const FEWEST: usize = 4;

/// The kernel of a level.
pub(crate) struct Kernels {
    /// Whether this CPU and its operating system have what the kernel needs.
    pub(crate) detect: fn() -> bool,
    pub(crate) add_units: AddUnits,
}

/// A witness that this CPU has the instructions of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Token(&'static Kernels);

impl Token {
    /// Those that this CPU can run, the best first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        (super::hardware::NH.into_iter()).filter_map(|kernels| (kernels.detect)().then_some(Self(kernels)))
    }

    /// The one that the library uses now, if any.
    #[inline]
    pub(crate) fn current() -> Option<Self> {
        Self::available().find(|_| Backend::kernels_allowed())
    }

    /// Adds the products of these units. Unit u uses the four units of the key from u on.
    pub(crate) fn add_units(self, sums: &mut Sums, units: &[[u8; 16]], key: &[[u32; 4]]) {
        assert!(key.len() + 1 >= units.len() + PASSES);
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 64 bytes of the
        // sums, reads the n units and n + 3 units of the key (none if n is 0), and touches nothing else.
        unsafe {
            (self.0.add_units)(
                sums.as_mut_ptr().cast(),
                units.as_ptr().cast(),
                key.as_ptr().cast(),
                units.len(),
            );
        }
    }
}
