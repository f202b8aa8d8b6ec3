//! The kernels for several states at once.

use crate::backend::dispatch::function;

/// From states and round constants.
pub(crate) type Permute = function!(*mut u8, *const u8);
/// From states, a pointer to the blocks of each lane, their number, and round constants.
pub(crate) type Absorb = function!(*mut u8, *const *const u8, usize, *const u8);
pub(crate) type Squeeze = function!(*mut u8, *const *mut u8, usize, *const u8);
/// The blocks of all lanes are read where they are written, or in buffers that do not overlap what is written.
pub(crate) type Transform = function!(*mut u8, *const *const u8, *const *mut u8, usize, *const u8);

/// The kernels of a level.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// The number of lanes that a call processes; it divides the number of all.
    pub(crate) width: usize,
    /// As many lanes as are faster one after the other, by the serial kernels.
    pub(crate) serial_threshold: usize,
    pub(crate) permute: Permute,
    pub(crate) absorb_blocks: Absorb,
    pub(crate) encrypt_blocks: Transform,
    pub(crate) decrypt_blocks: Transform,
    pub(crate) squeeze_blocks: Squeeze,
    /// As the kernels need them.
    pub(crate) round_constants: &'static [[u32; 4]],
}

#[cfg(veriplex_kernels)]
pub(crate) use super::hardware::LANES as CANDIDATES;
#[cfg(not(veriplex_kernels))]
pub(crate) const CANDIDATES: [super::dispatch::Candidate<Kernels>; 0] = [];
