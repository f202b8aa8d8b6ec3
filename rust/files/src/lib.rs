//! How the program `veriplex` reads and writes, below its commands, disks and tunnels. It is not an interface for
//! others.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(
    missing_debug_implementations,
    clippy::len_without_is_empty,
    clippy::must_use_candidate,
    clippy::new_without_default,
    clippy::result_large_err,
    clippy::return_self_not_must_use
)]

pub mod access_lists;
pub mod armor;
pub mod crypt;
pub mod descriptors;
pub mod destination;
pub mod device;
pub mod error;
pub mod files;
pub mod folder;
pub mod locks;
pub mod open_folders;
pub mod overwritten;
pub mod places;
pub mod progress;
pub mod socket_file;
pub mod temporary;
pub mod terminal;
pub mod terminal_quoting;
pub mod text;
