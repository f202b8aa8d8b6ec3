//! The kernels of `ChaCha` for several blocks at once.

use crate::backend::dispatch::{Token, function};

/// From what has the block numbers, start, input and output, and the number of groups of blocks.
type XorBlocks = function!(*mut u8, *const u8, *mut u8, usize);

/// The words of a block before the rounds.
pub(crate) type Start = [u32; 16];

/// What has the block numbers of a group, in the form that a level's kernels take, and zeros. They are public.
pub(crate) type Numbers = [u64; MAX_LANES];

/// Size in bytes of a block.
pub(crate) const BLOCK_LEN: usize = 64;

/// The most blocks that any kernel computes together.
pub(crate) const MAX_LANES: usize = 16;

/// As many blocks are faster one by one.
pub(crate) const FEW: usize = 2;

/// The kernels of a level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// How many blocks are computed together: a group.
    pub(crate) lanes: usize,
    /// Whether the CPU has AVX2, for portable code on eight blocks.
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: bool,
    /// From the number of the first block, and the start.
    pub(crate) numbers: fn(u64, &Start) -> Numbers,
    pub(crate) xor_blocks_8: XorBlocks,
    pub(crate) xor_blocks_12: XorBlocks,
    pub(crate) xor_blocks_20: XorBlocks,
}

/// The number of each lane: those of the even lanes, then those of the odd ones.
#[cfg(target_arch = "x86_64")]
pub(crate) fn of_each_lane<const LANES: usize>(counter: u64, _: &Start) -> Numbers {
    let mut numbers = [0; MAX_LANES];
    for (lane, i) in (0..LANES).zip(0..) {
        numbers[lane % 2 * (LANES / 2) + lane / 2] = counter.wrapping_add(i);
    }
    numbers
}

/// The last row of the first block before the rounds: its number, and the nonce.
pub(crate) fn last_row(counter: u64, start: &Start) -> Numbers {
    let mut numbers = [0; MAX_LANES];
    numbers[0] = counter;
    numbers[1] = u64::from(start[15]) << 32 | u64::from(start[14]);
    numbers
}

#[cfg(veriplex_kernels)]
pub(crate) use super::hardware::CHACHA as CANDIDATES;
#[cfg(not(veriplex_kernels))]
pub(crate) const CANDIDATES: [super::dispatch::Candidate<Kernels>; 0] = [];

impl Token<Kernels> {
    /// Size in bytes of a group of blocks.
    #[inline]
    pub(crate) fn group_len(self) -> usize {
        self.lanes * BLOCK_LEN
    }

    /// The numbers of the first group of blocks, for [`xor_blocks`](Self::xor_blocks).
    #[inline]
    pub(crate) fn first_numbers(self, start: &Start, counter: u64) -> Numbers {
        (self.numbers)(counter, start)
    }

    /// XORs the blocks from these numbers on into whole groups of blocks. Afterwards they are the next ones. Words 12 and 13 of
    /// the start do not matter.
    pub(crate) fn xor_blocks<const ROUNDS: usize>(
        self,
        start: &Start,
        numbers: &mut Numbers,
        groups: &mut [u8],
    ) {
        let n = groups.len() / self.group_len();
        assert_eq!(groups.len(), n * self.group_len());
        let kernel = match ROUNDS {
            8 => self.xor_blocks_8,
            12 => self.xor_blocks_12,
            _ => self.xor_blocks_20,
        };
        // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes at most these numbers,
        // reads at most the start, and reads and writes the n groups.
        unsafe {
            kernel(
                numbers.as_mut_ptr().cast(),
                start.as_ptr().cast(),
                groups.as_mut_ptr(),
                n,
            );
        }
    }

    /// Calls `f`. What is inlined into it is compiled for AVX2, if the CPU has it.
    #[inline]
    pub(crate) fn run<R>(self, f: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[target_feature(enable = "avx2")]
            fn compiled_for_it<R>(f: impl FnOnce() -> R) -> R {
                f()
            }
            // SAFETY: such a Token exists only where the CPU has AVX2.
            return unsafe { compiled_for_it(f) };
        }
        f()
    }
}
