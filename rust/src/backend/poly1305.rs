//! The kernels of Poly1305: for limbs of 26 bits, and in [`limbs44`] for limbs of 44 bits. And portable code with
//! instructions that not every CPU has.

use crate::backend::kernels::function;

/// From the sums of the lanes, their multipliers, groups of blocks, and the number of groups.
type AddBlocks = function!(*mut u8, *const u8, *const u8, usize);

/// How many sums there are.
pub(crate) const LANES: usize = 4;

/// How many blocks are added together: two to each lane on x86-64, elsewhere one.
pub(crate) const GROUP: usize = if cfg!(target_arch = "x86_64") { 8 } else { LANES };

/// The block that each lane has of a group. The second one, if there is one, comes four later.
pub(crate) const BLOCKS: [usize; LANES] = [0, 2, 1, 3];

/// Rows, each with one limb of every sum.
pub(crate) type Sums = [[u64; LANES]; 5];

/// Rows as bytes, each with one limb of the multipliers of the lanes' first blocks, and then of their second ones.
pub(crate) type Multipliers = [u8; 9 * GROUP * size_of::<u64>()];

/// The kernel of a level.
pub(crate) struct Kernels {
    /// The name of the backend.
    pub(crate) name: &'static str,
    /// Whether this CPU and its operating system have what the kernel needs.
    pub(crate) detect: fn() -> bool,
    pub(crate) add_blocks: AddBlocks,
}

/// A witness that this CPU has the instructions of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Token(&'static Kernels);

impl Token {
    /// The best one that this CPU can run.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        (super::hardware::POLY1305.into_iter())
            .find(|kernels| (kernels.detect)())
            .map(Self)
    }

    /// The name of the backend that it is a part of.
    pub(crate) const fn name(self) -> &'static str {
        self.0.name
    }

    /// Of each group of full blocks, adds the first four to the sums, and multiplies both these and the other blocks, if
    /// a group has eight. Limbs of sums are below 2^27, before and after; those of multipliers are below 2^26, five times
    /// the last four after all five.
    pub(crate) fn add_blocks(self, sums: &mut Sums, multipliers: &Multipliers, groups: &[[[u8; 16]; GROUP]]) {
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 160 bytes of the
        // sums, reads the 72 bytes of the multipliers for each block of a group, and the n groups of 16 bytes for each of
        // their blocks, and touches nothing else.
        unsafe {
            (self.0.add_blocks)(
                sums.as_mut_ptr().cast(),
                multipliers.as_ptr(),
                groups.as_ptr().cast(),
                groups.len(),
            );
        }
    }
}

/// A witness that this CPU has MULX, ADCX and ADOX.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mulx(());

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(mulx, "bmi2", "adx");

#[cfg(target_arch = "x86_64")]
impl Mulx {
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        mulx::get().then_some(Self(()))
    }

    /// Calls `f`. What is inlined into it is compiled for such a CPU.
    #[allow(clippy::unused_self)] // `self` is proof that the CPU has the features
    pub(crate) fn run(self, f: impl FnOnce()) {
        #[target_feature(enable = "bmi2,adx")]
        fn compiled_for_it(f: impl FnOnce()) {
            f();
        }
        // SAFETY: a Mulx exists only where the CPU has both features.
        unsafe { compiled_for_it(f) }
    }
}

/// Tokens are equal where the CPU has the same kernel.
impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Token {}

/// The kernel for limbs of 44, 44 and 42 bits: sixteen blocks in eight lanes.
#[cfg(target_arch = "x86_64")]
pub(crate) mod limbs44 {
    use crate::backend::kernels::function;

    /// From the sums of the lanes, their multipliers, groups of blocks, and the number of groups.
    type AddBlocks = function!(*mut u8, *const u8, *const u8, usize);

    /// How many sums there are.
    pub(crate) const LANES: usize = 8;

    /// How many blocks are added together, two to each lane.
    pub(crate) const GROUP: usize = 2 * LANES;

    /// The first block that each lane has of a group. The second one comes eight later.
    pub(crate) const BLOCKS: [usize; LANES] = [0, 4, 1, 5, 2, 6, 3, 7];

    /// Rows, each with one limb of every sum.
    pub(crate) type Sums = [[u64; LANES]; 3];

    /// Rows as bytes, each with one limb of the multipliers of the lanes' first blocks, and then of their second ones.
    pub(crate) type Multipliers = [u8; 5 * GROUP * size_of::<u64>()];

    /// The kernel of a level.
    pub(crate) struct Kernels {
        /// The name of the backend.
        pub(crate) name: &'static str,
        /// Whether this CPU and its operating system have what the kernel needs.
        pub(crate) detect: fn() -> bool,
        pub(crate) add_blocks: AddBlocks,
    }

    /// A witness that this CPU has the instructions of the kernel.
    #[derive(Clone, Copy)]
    pub(crate) struct Token(&'static Kernels);

    impl Token {
        /// The best one that this CPU can run.
        #[inline]
        pub(crate) fn detect() -> Option<Self> {
            (crate::backend::hardware::POLY1305_44.into_iter())
                .find(|kernels| (kernels.detect)())
                .map(Self)
        }

        /// The name of the backend that it is a part of.
        pub(crate) const fn name(self) -> &'static str {
            self.0.name
        }

        /// Of each group of full blocks, adds the first eight to the sums, and multiplies both these and the other
        /// blocks. Limbs of sums are below 2^45, before and after; those of multipliers are below 2^44, twenty times the
        /// last two after all three.
        pub(crate) fn add_blocks(
            self,
            sums: &mut Sums,
            multipliers: &Multipliers,
            groups: &[[[u8; 16]; GROUP]],
        ) {
            // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 192 bytes of
            // the sums, reads the 640 bytes of the multipliers and the n groups of 256 bytes, and touches nothing else.
            unsafe {
                (self.0.add_blocks)(
                    sums.as_mut_ptr().cast(),
                    multipliers.as_ptr(),
                    groups.as_ptr().cast(),
                    groups.len(),
                );
            }
        }
    }

    /// Tokens are equal where the CPU has the same kernel.
    impl PartialEq for Token {
        fn eq(&self, other: &Self) -> bool {
            core::ptr::eq(self.0, other.0)
        }
    }

    impl Eq for Token {}
}
