//! What everything else builds on: keys, labels, errors, encodings, buffers, timing, wiping.

pub(crate) mod domain;
pub(crate) mod encoding;
pub(crate) mod error;
pub(crate) mod forms;
pub(crate) mod hex;
pub(crate) mod in_out;
pub(crate) mod key;
pub(crate) mod label;
pub(crate) mod nonce;
#[cfg(feature = "serde")]
pub mod serde;
pub(crate) mod timing;
pub(crate) mod wipe;
