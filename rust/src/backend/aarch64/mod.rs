//! The `AArch64` backend: the kernels where their object format is known (ELF, Mach-O), and the same with
//! intrinsics elsewhere (Windows, UEFI).
//!
//! `aarch64` is the architecture, here as in Rust; `armv8` is the level of that architecture which the kernels are for.

#[cfg(any(not(veriplex_kernels), test))]
pub(crate) mod intrinsics;
#[cfg(veriplex_kernels)]
mod kernels;

use super::dispatch::Candidate;
#[cfg(not(veriplex_kernels))]
use intrinsics as kernels;

pub(crate) const DUPLEX: [Candidate<super::Kernels>; 1] = [kernels::LEVEL.of(kernels::X1)];

#[cfg(veriplex_kernels)]
pub(crate) const LANES: [Candidate<super::lanes::Kernels>; 1] = [kernels::LEVEL.of(kernels::X2)];

#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(crate) const CHACHA: [Candidate<super::chacha::Kernels>; 1] = [kernels::VECTORS.of(kernels::CHACHA_X4)];

#[cfg(all(veriplex_kernels, feature = "adiantum"))]
pub(crate) const NH: [Candidate<super::nh::Kernels>; 1] = [kernels::VECTORS.of(kernels::NH_X1)];

#[cfg(all(veriplex_kernels, feature = "poly1305"))]
pub(crate) const POLY1305_26: [Candidate<super::poly1305::limbs26::Kernels>; 1] =
    [kernels::VECTORS.of(kernels::POLY1305_X4)];

#[cfg(all(veriplex_kernels, feature = "xoofff"))]
pub(crate) const XOOFFF: [Candidate<super::xoofff::Kernels>; 1] = [kernels::VECTORS.of(kernels::XOOFFF_X4)];
