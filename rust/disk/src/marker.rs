//! The first bytes of an image that is being converted in place, or of a device that is being overwritten.
//!
//! | bytes | what |
//! |---|---|
//! | 9 | `VPX-HALF`, 0x01 |
//! | 1 | 0x01: the image is being encrypted; 0x02: decrypted; 0x03: the device is being overwritten, and zeros follow |
//! | 16 | the number of the conversion |
//! | 8 | how many bytes of the encrypted part may be converted, little-endian; the rest is as it was |
//! | 16 | tag of all before: `veriplex::mac` in the domain `veriplex.disk.marker.v1` |
//!
//! The bytes that it replaces are in the header and in the journal. So the image itself shows its state, whatever its
//! name.

use veriplex::{TAG_LEN, label};
use veriplex_files::error::Error;
use veriplex_files::overwritten::{MAGIC, MARKER_LEN, OVERWRITTEN};

use super::Direction;
use super::header::{Conversion, Disk, NUMBER_LEN};

const BEFORE_TAG: usize = MARKER_LEN - TAG_LEN;

/// What an image says about its own conversion.
pub struct Marker {
    bytes: [u8; MARKER_LEN],
    /// The conversion, unless the device is being overwritten.
    pub direction: Option<Direction>,
    /// How many bytes of the encrypted part may be converted.
    pub begun: u64,
}

impl Marker {
    pub fn new(disk: &Disk, conversion: &Conversion, begun: u64) -> Self {
        Self::tagged(disk, conversion.direction, &conversion.number, begun)
    }

    fn tagged(disk: &Disk, direction: Direction, number: &[u8; NUMBER_LEN], begun: u64) -> Self {
        let parts = [MAGIC.as_slice(), &[direction as u8], number, &begun.to_le_bytes()];
        let before = parts.concat();
        let mut mac = disk.mac(label!("veriplex.disk.marker.v1"));
        mac.update(&before);
        let mut bytes = [0; MARKER_LEN];
        bytes[..BEFORE_TAG].copy_from_slice(&before);
        bytes[BEFORE_TAG..].copy_from_slice(mac.finalize().as_bytes());
        Self {
            bytes,
            direction: Some(direction),
            begun,
        }
    }

    /// The marker in the first bytes of an image, if there is one; its tag may be wrong.
    pub fn parse(bytes: &[u8; MARKER_LEN]) -> Option<Self> {
        let (&[direction], rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        let (begun, _) = rest[NUMBER_LEN..].split_first_chunk()?;
        Some(Self {
            bytes: *bytes,
            direction: match direction {
                OVERWRITTEN => None,
                direction => Some(Direction::from_byte(direction)?),
            },
            begun: u64::from_le_bytes(*begun),
        })
    }

    pub fn bytes(&self) -> &[u8; MARKER_LEN] {
        &self.bytes
    }

    /// Whether it is of this conversion.
    pub fn is_of(&self, disk: &Disk, conversion: &Conversion) -> bool {
        self.bytes == Self::new(disk, conversion, self.begun).bytes
    }

    /// Fails if it belongs to any conversion of this disk, or always if `is_checked`: other content may look the same,
    /// but a header that opens only a part of this disk would go unnoticed.
    pub fn check(&self, disk: &Disk, name: &str, is_checked: bool) -> Result<(), Error> {
        let (_, rest) = self.bytes.split_at(MAGIC.len() + 1);
        let (number, _) = rest.split_first_chunk().expect("the length is right");
        let is_own = |direction| self.bytes == Self::tagged(disk, direction, number, self.begun).bytes;
        let is_own = self.direction.is_some_and(is_own);
        if is_own || is_checked {
            return Err(self.refused(name, !is_own));
        }
        Ok(())
    }

    /// Why the image with this name cannot be used, and whether `--no-check` would help.
    pub fn refused(&self, name: &str, is_optional: bool) -> Error {
        let reason = match self.direction {
            Some(direction) => format!(
                "{direction} in place is unfinished (at most the first {} bytes are done): finish it with disk {} \
                 --in-place, its header and its journal",
                self.begun,
                direction.command()
            ),
            None => "was not overwritten to the end: overwrite it again".into(),
        };
        let but = if is_optional {
            "; if it only looks unfinished, --no-check takes it"
        } else {
            ""
        };
        Error::usage(name, format_args!("{reason}{but}"))
    }
}
