//! The kernels of Poly1305: for limbs of 26 bits, in [`limbs26`], and of 44 bits, in [`limbs44`].

use core::marker::PhantomData;

use crate::backend::dispatch::{Token, function};

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
}

/// The kernel of a level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels<L> {
    add_blocks: AddBlocks,
    layout: PhantomData<L>,
}

impl<L: Layout> Kernels<L> {
    /// With sums, multipliers and groups of such a layout, the kernel accesses nothing else, and writes only the sums.
    pub(crate) const fn new(add_blocks: AddBlocks) -> Self {
        Self {
            add_blocks,
            layout: PhantomData,
        }
    }
}

impl<L: Layout> Token<Kernels<L>> {
    /// Of each group of full blocks, adds one to each sum, and multiplies both these and the other blocks, if a group has
    /// more than that. The layout says which limbs are allowed.
    pub(crate) fn add_blocks(self, sums: &mut L::Sums, multipliers: &L::Multipliers, groups: &[L::Group]) {
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the sums, reads the
        // multipliers and the n groups, which have its layout, and touches nothing else.
        unsafe {
            (self.add_blocks)(
                (&raw mut *sums).cast(),
                (&raw const *multipliers).cast(),
                groups.as_ptr().cast(),
                groups.len(),
            );
        }
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

    #[derive(Clone, Copy)]
    pub(crate) enum Layout {}

    impl super::Layout for Layout {
        type Sums = Sums;
        type Multipliers = Multipliers;
        type Group = [[u8; 16]; GROUP];
    }

    pub(crate) type Kernels = super::Kernels<Layout>;
    pub(crate) type Token = crate::backend::dispatch::Token<Kernels>;

    #[cfg(veriplex_kernels)]
    pub(crate) use crate::backend::hardware::POLY1305_26 as CANDIDATES;
    #[cfg(not(veriplex_kernels))]
    pub(crate) const CANDIDATES: [crate::backend::dispatch::Candidate<Kernels>; 0] = [];
}

/// Limbs of 44, 44 and 42 bits, in eight lanes, for sixteen blocks. Limbs of sums are below 2^45, before and after a call;
/// those of multipliers are below 2^44, twenty times the last two after all three.
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
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

    #[derive(Clone, Copy)]
    pub(crate) enum Layout {}

    impl super::Layout for Layout {
        type Sums = Sums;
        type Multipliers = Multipliers;
        type Group = [[u8; 16]; GROUP];
    }

    pub(crate) type Kernels = super::Kernels<Layout>;
    pub(crate) type Token = crate::backend::dispatch::Token<Kernels>;

    pub(crate) use crate::backend::hardware::POLY1305_44 as CANDIDATES;
}
