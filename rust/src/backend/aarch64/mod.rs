//! The `AArch64` backend: the kernels where their object format is known (ELF, Mach-O), and the same with
//! intrinsics elsewhere (Windows, UEFI).
//!
//! `aarch64` is the architecture, here as in Rust; `armv8` is the level of that architecture which the kernels are for.

#[cfg(any(not(veriplex_kernels), test))]
pub(crate) mod intrinsics;
#[cfg(veriplex_kernels)]
mod kernels;

#[cfg(not(veriplex_kernels))]
pub(crate) use intrinsics::Token;
#[cfg(veriplex_kernels)]
pub(crate) use kernels::Token;

/// The kernels of `ChaCha`.
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(super) static CHACHA: [&crate::backend::chacha::Kernels; 1] = [&kernels::CHACHA_X4];

/// The kernels of NH.
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(super) static NH: [&crate::backend::nh::Kernels; 1] = [&kernels::NH_X1];

/// The kernels of Poly1305, for limbs of 26 bits.
#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(super) static POLY1305_26: [&crate::backend::poly1305::limbs26::Kernels; 1] = [&kernels::POLY1305_X4];

/// The kernels of Xoofff.
#[cfg(all(veriplex_kernels, feature = "xoofff"))]
pub(super) static XOOFFF: [&crate::backend::xoofff::Kernels; 1] = [&kernels::XOOFFF_X4];

#[cfg(veriplex_kernels)]
impl crate::lane_backend::LaneBackend {
    /// The kernels for lanes.
    pub(crate) fn of_aarch64() -> [&'static crate::lane_backend::kernels::Kernels; 1] {
        [&kernels::X2]
    }
}
