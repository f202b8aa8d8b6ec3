//! The schemes under the traits of the [RustCrypto project](https://github.com/RustCrypto/traits), for code that is
//! generic over them. If you do not need a trait, prefer the native modules.
//!
//! The versions of the trait crates are **not covered by this crate's semantic versions**: a new release may move to
//! a new version of any of them. The module [`traits`] has those that fit.
//!
//! | module | trait crate | what |
//! |---|---|---|
//! | [`digest`] | `digest` 0.11 | digest, extendable output, MAC |
//! | [`aead`] | `aead` 0.6 | AEAD, SIV |
//! | [`cipher`] | `cipher` 0.5 | stream cipher |
//! | [`password_hash`] | `password-hash` 0.6 | memory-hard hash, PHC strings; with feature `alloc` |
//! | [`rand_core`] | `rand_core` 0.10 | deterministic generator |
//! | none | `digest` 0.11 | `Update` and `XofReader` of Xoofff itself; with feature `xoofff` |
//! | [`signature`] | `signature` 3 | signatures; with feature `ristretto` |
//! | [`universal_hash`] | `universal-hash` 0.6 | Poly1305; with feature `poly1305` |
//!
//! The traits construct values from keys alone, so the domain is part of the type: see [`Domain`]. Keys have 32 bytes.

pub mod aead;
pub mod cipher;
pub mod digest;
#[cfg(feature = "alloc")]
pub mod password_hash;
pub mod rand_core;
#[cfg(feature = "ristretto")]
pub mod signature;
#[cfg(feature = "poly1305")]
pub mod universal_hash;
#[cfg(feature = "xoofff")]
mod xoofff;

/// The crates of the traits, in the versions that this crate implements.
pub mod traits {
    pub use ::{aead, cipher, digest, password_hash, rand_core, signature, universal_hash};
}

use crate::Label;

/// A domain as a type.
///
/// ```
/// use digest::Digest;
/// use veriplex::rustcrypto::{Domain, digest::Hasher};
/// use veriplex::{Label, label};
///
/// enum Files {}
/// impl Domain for Files {
///     const DOMAIN: Label<'static> = label!("com.example.files");
/// }
///
/// let native = veriplex::digest::digest(label!("com.example.files"), b"message");
/// assert_eq!(Hasher::<Files>::digest(b"message")[..], *native.as_bytes());
/// ```
pub trait Domain {
    /// The domain: a string unique to the application and its purpose.
    const DOMAIN: Label<'static>;
}

/// Size in bytes of a key.
type KeySize = ::digest::consts::U32;

/// The key of a native scheme.
fn native_key(key: &::digest::array::Array<u8, KeySize>) -> crate::Key {
    crate::Key::from(key.0)
}
