//! The schemes. Each module is public in the root of the crate, those of `ristretto` without it.

#[cfg(feature = "adiantum")]
pub mod adiantum;
pub mod aead;
pub mod aestream;
pub mod committing;
pub mod digest;
#[cfg(feature = "hybrid")]
pub mod hybrid;
#[cfg(feature = "std")]
mod io;
pub mod kdf;
pub mod mac;
pub mod mhf;
pub mod oae2;
#[cfg(feature = "ristretto")]
pub(crate) mod ristretto;
pub mod seekable;
pub mod siv;
pub mod stream;
pub mod tree;
#[cfg(feature = "hybrid")]
pub mod tunnel;
#[cfg(feature = "xoofff")]
pub mod xoofff;
