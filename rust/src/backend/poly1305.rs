//! The kernels of Poly1305: for limbs of 26 bits, in [`limbs26`], and of 44 bits, in [`limbs44`]. And portable code with
//! instructions that not every CPU has.

use core::marker::PhantomData;

use crate::backend::kernels::function;

/// From the sums of the lanes, their multipliers, groups of blocks, and the number of groups.
type AddBlocks = function!(*mut u8, *const u8, *const u8, usize);

/// How a kernel has its numbers in memory.
pub(crate) trait Layout: Sized + 'static {
    /// Rows, each with one limb of every sum.
    type Sums;
    /// Rows as bytes, each with one limb of the multipliers of the lanes' first blocks, and then of their second ones.
    type Multipliers;
    /// The blocks that are added together.
    type Group;

    /// The kernels for it, the best first.
    fn kernels() -> &'static [&'static Kernels<Self>];
}

/// The kernel of a level.
pub(crate) struct Kernels<L> {
    name: &'static str,
    detect: fn() -> bool,
    add_blocks: AddBlocks,
    layout: PhantomData<L>,
}

impl<L: Layout> Kernels<L> {
    /// The name of the backend, whether this CPU and its operating system have what the kernel needs, and the kernel: with
    /// sums, multipliers and groups of such a layout, it accesses nothing else, and writes only the sums.
    pub(crate) const fn new(name: &'static str, detect: fn() -> bool, add_blocks: AddBlocks) -> Self {
        Self {
            name,
            detect,
            add_blocks,
            layout: PhantomData,
        }
    }
}

/// A witness that this CPU has the instructions of the kernel.
pub(crate) struct Token<L: 'static>(&'static Kernels<L>);

impl<L: Layout> Token<L> {
    /// The best one that this CPU can run.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        (L::kernels().iter())
            .find(|kernels| (kernels.detect)())
            .map(|kernels| Self(kernels))
    }

    /// The name of the backend that it is a part of.
    pub(crate) const fn name(self) -> &'static str {
        self.0.name
    }

    /// Of each group of full blocks, adds one to each sum, and multiplies both these and the other blocks, if a group has
    /// more than that. The layout says which limbs are allowed.
    pub(crate) fn add_blocks(self, sums: &mut L::Sums, multipliers: &L::Multipliers, groups: &[L::Group]) {
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the sums, reads the
        // multipliers and the n groups, which have its layout, and touches nothing else.
        unsafe {
            (self.0.add_blocks)(
                (&raw mut *sums).cast(),
                (&raw const *multipliers).cast(),
                groups.as_ptr().cast(),
                groups.len(),
            );
        }
    }
}

impl<L> Clone for Token<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Token<L> {}

/// Tokens are equal where the CPU has the same kernel.
impl<L> PartialEq for Token<L> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl<L> Eq for Token<L> {}

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

/// Limbs of 26 bits, in four lanes. Limbs of sums are below 2^27, before and after a call; those of multipliers are below
/// 2^26, five times the last four after all five.
pub(crate) mod limbs26 {
    /// How many sums there are.
    pub(crate) const LANES: usize = 4;

    /// How many blocks are added together: two to each lane on x86-64, elsewhere one.
    pub(crate) const GROUP: usize = if cfg!(target_arch = "x86_64") { 8 } else { LANES };

    /// The block that each lane has of a group. The second one, if there is one, comes four later.
    pub(crate) const BLOCKS: [usize; LANES] = [0, 2, 1, 3];

    /// Of 160 bytes.
    pub(crate) type Sums = [[u64; LANES]; 5];

    /// Of 72 bytes for each block of a group.
    pub(crate) type Multipliers = [u8; 9 * GROUP * size_of::<u64>()];

    pub(crate) enum Layout {}

    impl super::Layout for Layout {
        type Sums = Sums;
        type Multipliers = Multipliers;
        type Group = [[u8; 16]; GROUP];

        #[inline]
        fn kernels() -> &'static [&'static super::Kernels<Self>] {
            &crate::backend::hardware::POLY1305_26
        }
    }

    pub(crate) type Kernels = super::Kernels<Layout>;
    pub(crate) type Token = super::Token<Layout>;
}

/// Limbs of 44, 44 and 42 bits, in eight lanes, for sixteen blocks. Limbs of sums are below 2^45, before and after a call;
/// those of multipliers are below 2^44, twenty times the last two after all three.
#[cfg(target_arch = "x86_64")]
pub(crate) mod limbs44 {
    /// How many sums there are.
    pub(crate) const LANES: usize = 8;

    /// How many blocks are added together, two to each lane.
    pub(crate) const GROUP: usize = 2 * LANES;

    /// The first block that each lane has of a group. The second one comes eight later.
    pub(crate) const BLOCKS: [usize; LANES] = [0, 4, 1, 5, 2, 6, 3, 7];

    /// Of 192 bytes.
    pub(crate) type Sums = [[u64; LANES]; 3];

    /// Of 640 bytes.
    pub(crate) type Multipliers = [u8; 5 * GROUP * size_of::<u64>()];

    pub(crate) enum Layout {}

    impl super::Layout for Layout {
        type Sums = Sums;
        type Multipliers = Multipliers;
        type Group = [[u8; 16]; GROUP];

        #[inline]
        fn kernels() -> &'static [&'static super::Kernels<Self>] {
            &crate::backend::hardware::POLY1305_44
        }
    }

    pub(crate) type Kernels = super::Kernels<Layout>;
    pub(crate) type Token = super::Token<Layout>;
}
