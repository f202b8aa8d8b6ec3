//! The inside of the program `veriplex`, for its tests and its fuzz targets. It is not an interface for others.
//!
//! The formats are part of the program's interface: [`sums`] has the lists and their domains, [`keyfile`] the key
//! files, [`crypt`] the encrypted files, [`password`] the hashes, [`keypair`] the keys of [`signature`],
//! [`sealed`] and [`tunnel`], which have theirs, [`error`] the exit statuses. `README.md` describes them for users.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(
    missing_debug_implementations,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use
)]

pub mod command;
pub mod crypt;
pub mod error;
pub mod files;
pub mod keyfile;
pub mod keypair;
pub mod password;
pub mod progress;
pub mod sealed;
pub mod signature;
pub mod sums;
pub mod tunnel;
