//! Primitives that are not of Newplex.

#[cfg(feature = "adiantum")]
pub(crate) mod chacha;
#[cfg(feature = "poly1305")]
#[cfg_attr(not(feature = "adiantum"), allow(dead_code))] // it has what only that needs
pub mod poly1305;
#[cfg(feature = "xoofff")]
pub(crate) mod xoodoo;
