//! The x86-64 backend: the Jasmin kernels on ELF and Mach-O, and the same with intrinsics elsewhere (Windows, UEFI).

#[cfg(any(not(veriplex_kernels), test))]
pub(crate) mod intrinsics;
#[cfg(veriplex_kernels)]
mod kernels;

#[cfg(not(veriplex_kernels))]
pub(crate) use intrinsics::Token;
#[cfg(veriplex_kernels)]
pub(crate) use kernels::Token;
