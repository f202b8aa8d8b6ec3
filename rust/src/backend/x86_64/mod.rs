//! The x86-64 backend: the Jasmin kernels, and the same with intrinsics where pointers have 32 bits (x32). The
//! kernels for lanes have no intrinsics beside them: those of 64 bytes, and VAES, are newer than the oldest compiler.

#[cfg(veriplex_kernels)]
mod avx2;
#[cfg(veriplex_kernels)]
mod avx512;
#[cfg(any(not(veriplex_kernels), test))]
pub(crate) mod intrinsics;
#[cfg(veriplex_kernels)]
mod kernels;
#[cfg(veriplex_kernels)]
mod vaes;
#[cfg(all(feature = "xoofff", target_feature = "sse2"))]
mod xoodoo;

#[cfg(not(veriplex_kernels))]
pub(crate) use intrinsics::Token;
#[cfg(veriplex_kernels)]
pub(crate) use kernels::Token;

#[cfg(all(feature = "xoofff", target_feature = "sse2"))]
pub(crate) use xoodoo::xoodoo;

/// The kernels of `ChaCha`, the best first.
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(super) static CHACHA: [&crate::backend::chacha::Kernels; 3] =
    [&avx512::CHACHA_X16, &avx2::CHACHA_X6, &kernels::CHACHA_X3];

/// The kernels of NH, the best first.
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(super) static NH: [&crate::backend::nh::Kernels; 2] = [&avx512::NH_X4, &avx2::NH_X2];

/// The kernels of Poly1305 for limbs of 26 bits, the best first.
#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(super) static POLY1305_26: [&crate::backend::poly1305::limbs26::Kernels; 1] = [&avx2::POLY1305_X8];

/// The kernels of Poly1305 for limbs of 44 bits, the best first.
#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(super) static POLY1305_44: [&crate::backend::poly1305::limbs44::Kernels; 1] = [&avx512::POLY1305_X16];

/// The kernels of Xoofff, the best first.
#[cfg(all(veriplex_kernels, feature = "xoofff"))]
pub(super) static XOOFFF: [&crate::backend::xoofff::Kernels; 3] =
    [&avx512::XOOFFF_X16, &avx2::XOOFFF_X8, &kernels::XOOFFF_X4];

#[cfg(veriplex_kernels)]
impl crate::lane_backend::LaneBackend {
    /// The kernels for lanes, the best first.
    pub(crate) fn of_x86_64() -> [&'static crate::lane_backend::kernels::Kernels; 3] {
        [&avx512::X8, &vaes::X4, &kernels::X2]
    }
}
