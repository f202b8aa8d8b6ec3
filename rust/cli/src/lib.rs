//! The inside of the program `veriplex`, for its tests and its fuzz targets. It is not an interface for others.
//!
//! The formats are part of the program's interface: [`checksum_list`] has the lists and their domains, [`keys`] the keys,
//! [`encrypted`] and [`segments`] the encrypted files, [`veriplex_files::armor`] their text, [`outboards`] the outboards,
//! [`password`] the hashes, [`signature`], [`sealed`], [`disk`] and [`tunnel`] theirs, [`veriplex_files::error`] the exit
//! statuses. `docs/formats.md` and `README.md` describe them for users.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(
    missing_debug_implementations,
    clippy::implicit_hasher,
    clippy::len_without_is_empty,
    clippy::must_use_candidate,
    clippy::result_large_err,
    clippy::return_self_not_must_use
)]

pub mod checksum_list;
pub mod command;
pub mod crypt;
mod descriptors;
mod destination;
mod device;
pub mod disk;
pub mod encrypted;
mod examples;
pub mod files;
pub mod folder;
pub mod keys;
mod levels;
mod open_folders;
pub mod outboards;
mod pages;
pub mod password;
mod places;
pub mod progress;
pub mod sealed;
mod secrets;
pub mod segments;
pub mod signature;
mod temporary;
mod terminal;
mod text;
pub mod tree_hash;
pub mod tunnel;
