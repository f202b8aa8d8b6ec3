//! What the program `veriplex` reads and writes, below its commands, its disks and its tunnels. It is not an interface for
//! others.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(
    missing_debug_implementations,
    clippy::must_use_candidate,
    clippy::new_without_default,
    clippy::return_self_not_must_use
)]

pub mod armor;
pub mod error;
pub mod socket_file;
pub mod terminal_quoting;
