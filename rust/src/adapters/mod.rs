//! The library under other interfaces: raw parts, traits of `RustCrypto`.

pub mod hazmat;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;
