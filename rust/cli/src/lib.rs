//! The inside of the program `veriplex`, for its tests and its fuzz targets. It is not an interface for others.
//!
//! The formats are part of the program's interface: [`checksum_list`] has the lists and their domains, [`keys`] the keys,
//! [`encrypted`] and [`segments`] the encrypted files, [`veriplex_files::armor`] their text, [`outboards`] the outboards,
//! [`password`] the hashes, [`signature`], [`sealed`], [`veriplex_disk`] and [`tunnel`] theirs, [`veriplex_files::error`] the exit
//! statuses. `docs/formats.md` and `README.md` describe them for users.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(missing_debug_implementations, clippy::must_use_candidate)]

pub mod checksum_list;
pub mod command;
pub mod encrypted;
mod examples;
pub mod keys;
mod levels;
pub mod outboards;
mod pages;
pub mod password;
pub mod sealed;
mod secrets;
pub mod segments;
pub mod signature;
pub mod tree_hash;
pub mod tunnel;
