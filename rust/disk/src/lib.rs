//! Encrypted disks: images and block devices whose sectors are each encrypted in place, with Adiantum.
//!
//! The ciphertext is as long as the plaintext, and is not authenticated. Nothing can be decrypted without the header
//! beside it ([`header`]). [`copy`] writes a new file; [`convert`] works in place, with a journal, and meanwhile the
//! image begins with a [`marker`]; [`serve`] provides a block device for [`nbd`] clients. Linux's dm-crypt computes the
//! same sectors: [`table`] tells it how, and [`plain`] opens what it made.

#![doc(hidden)]
#![forbid(unsafe_code)]
// Only a program uses it.
#![allow(
    missing_debug_implementations,
    clippy::len_without_is_empty,
    clippy::must_use_candidate
)]

use std::fmt;

pub mod convert;
pub mod copy;
pub mod header;
pub mod image;
pub mod info;
pub mod marker;
pub mod nbd;
pub mod plain;
pub mod serve;
pub mod table;

/// The extension of an encrypted image.
pub const EXTENSION: &str = "vpdisk";
/// The extension of its header.
pub const HEADER_EXTENSION: &str = "vphead";
/// The extension of the journal, after that of the header.
pub const JOURNAL_EXTENSION: &str = "journal";
/// The extension of a header that was replaced, after its own.
pub const OLD_EXTENSION: &str = "old";

/// What happens to the sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    Encrypt = 1,
    Decrypt = 2,
}

impl Direction {
    /// The command that works in this direction.
    fn command(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Encrypt, Self::Decrypt]
            .into_iter()
            .find(|&direction| direction as u8 == byte)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypt => "encryption",
            Self::Decrypt => "decryption",
        })
    }
}
