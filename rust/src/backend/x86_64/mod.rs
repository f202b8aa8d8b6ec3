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

#[cfg(all(feature = "xoofff", target_feature = "sse2"))]
pub(crate) use xoodoo::xoodoo;

use super::dispatch::Candidate;
#[cfg(not(veriplex_kernels))]
use intrinsics as kernels;

// The candidates for each primitive, the best first.
pub(crate) const DUPLEX: [Candidate<super::Kernels>; 1] = [kernels::LEVEL.of(kernels::X1)];

#[cfg(veriplex_kernels)]
pub(crate) const LANES: [Candidate<super::lanes::Kernels>; 3] = [
    avx512::LEVEL.of(avx512::X8),
    vaes::LEVEL.of(vaes::X4),
    kernels::LEVEL.of(kernels::X2),
];

#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(crate) const CHACHA: [Candidate<super::chacha::Kernels>; 3] = [
    avx512::LEVEL.of(avx512::CHACHA_X16),
    avx2::LEVEL.of(avx2::CHACHA_X6),
    kernels::LEVEL.of(kernels::CHACHA_X3),
];

#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(crate) const NH: [Candidate<super::nh::Kernels>; 2] =
    [avx512::LEVEL.of(avx512::NH_X4), avx2::LEVEL.of(avx2::NH_X2)];

#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(crate) const POLY1305_26: [Candidate<super::poly1305::limbs26::Kernels>; 1] =
    [avx2::LEVEL.of(avx2::POLY1305_X8)];

#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(crate) const POLY1305_44: [Candidate<super::poly1305::limbs44::Kernels>; 1] =
    [avx512::LEVEL.of(avx512::POLY1305_X16)];

#[cfg(all(veriplex_kernels, feature = "xoofff"))]
pub(crate) const XOOFFF: [Candidate<super::xoofff::Kernels>; 3] = [
    avx512::LEVEL.of(avx512::XOOFFF_X16),
    avx2::LEVEL.of(avx2::XOOFFF_X8),
    kernels::LEVEL.of(kernels::XOOFFF_X4),
];
