//! The header of an encrypted disk, and the keys that it gives.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-DISK` |
//! | 1 | version: 0x01, a key; 0x02, a password |
//! | 1 | the cost of the password; 0 with a key |
//! | 4 | the size of a sector, little-endian |
//! | 8 | where the encrypted part begins, little-endian |
//! | 8 | its length, little-endian |
//! | 32 | random salt |
//! | 16 | tag |
//!
//! The protocol is Init `veriplex.disk.v1`, Mix `header` (all before the salt), Mix `key` (32 bytes), Mix `nonce` (the salt),
//! Derive `tag` (16 bytes), Derive `sectors` (32 bytes, the key of Adiantum with 12 rounds), Derive `journal` (32 bytes). The
//! memory-hard hash makes the key from a password, in the domain `veriplex.disk.password.v1`, with the salt. The first
//! encrypted sector has the number 0.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use veriplex::adiantum::{Adiantum, WideBlockCipher};
use veriplex::mac::Mac;
use veriplex::{Key, TAG_LEN, label};
use zeroize::Zeroizing;

use super::Direction;
use crate::crypt::{SALT_LEN, Secret, keyed, random, read_array};
use crate::error::Error;
use crate::files::Input;
use crate::password;

const MAGIC: &[u8; 8] = b"VPX-DISK";
/// Size in bytes of a header.
pub const LEN: usize = BEFORE_TAG + TAG_LEN;
const BEFORE_SALT: usize = MAGIC.len() + 22;
const BEFORE_TAG: usize = BEFORE_SALT + SALT_LEN;
const KEY: u8 = 1;
const PASSWORD: u8 = 2;

/// The size of a sector, if nothing else is said.
pub const SECTOR_LEN: usize = 4096;
/// The sizes of sectors, which are powers of two.
pub const SECTOR_LENS: RangeInclusive<usize> = 512..=65536;
/// What the cipher can do under one key, in bytes.
const MAX_LEN: u64 = 1 << 55;
/// What one thread does at a time.
const SHARE: usize = *SECTOR_LENS.end();

/// The part of an image that is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub sector_len: usize,
    pub offset: u64,
    /// A whole number of sectors, not zero.
    pub len: u64,
}

impl Geometry {
    /// Checks what a header or a command line says.
    pub fn new(sector_len: usize, offset: u64, len: u64) -> Result<Self, &'static str> {
        if !sector_len.is_power_of_two() || !SECTOR_LENS.contains(&sector_len) {
            Err("sectors have a power of two of bytes, from 512 to 65536")
        } else if len == 0 {
            Err("there is nothing to encrypt")
        } else if !len.is_multiple_of(sector_len as u64) {
            Err("its length is no whole number of sectors (--sector-size, --length)")
        } else if len > MAX_LEN || offset.checked_add(len).is_none() {
            Err("too long: one key encrypts at most 2^55 bytes")
        } else {
            Ok(Self {
                sector_len,
                offset,
                len,
            })
        }
    }

    /// Where the encrypted part ends.
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }
}

/// What is beside an encrypted image.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    bytes: [u8; LEN],
    pub geometry: Geometry,
}

impl Header {
    /// Makes one with a fresh salt; a password is hashed with this cost.
    pub fn generate(geometry: Geometry, secret: &Secret, cost: u8) -> Result<(Self, Disk), Error> {
        let mut salt = [0; SALT_LEN];
        random(&mut salt)?;
        let (version, cost) = match secret {
            Secret::Key(_) => (KEY, 0),
            Secret::Password(_) => (PASSWORD, cost),
        };
        let sector_len = u32::try_from(geometry.sector_len).expect("at most 65536");
        let head = [
            MAGIC.as_slice(),
            &[version, cost],
            &sector_len.to_le_bytes(),
            &geometry.offset.to_le_bytes(),
            &geometry.len.to_le_bytes(),
            &salt,
        ]
        .concat();
        let mut header = Self {
            bytes: [0; LEN],
            geometry,
        };
        header.bytes[..BEFORE_TAG].copy_from_slice(&head);
        let (disk, tag) = header.keys(&header.key(secret)?)?;
        header.bytes[BEFORE_TAG..].copy_from_slice(&tag);
        Ok((header, disk))
    }

    /// Takes apart what may be a header.
    pub fn parse(bytes: &[u8; LEN]) -> Result<Self, &'static str> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or("not the header of a disk: it does not begin with VPX-DISK")?;
        let (&[version, cost], rest) = rest.split_first_chunk().expect("the length is right");
        let (sector_len, rest) = rest.split_first_chunk().expect("the length is right");
        let (offset, rest) = rest.split_first_chunk().expect("the length is right");
        let (len, _) = rest.split_first_chunk().expect("the length is right");
        match (version, cost) {
            (KEY, 0) | (PASSWORD, _) => {}
            _ => return Err("made by another version of veriplex"),
        }
        let sector_len = usize::try_from(u32::from_le_bytes(*sector_len)).unwrap_or(usize::MAX);
        let geometry = Geometry::new(sector_len, u64::from_le_bytes(*offset), u64::from_le_bytes(*len))?;
        Ok(Self {
            bytes: *bytes,
            geometry,
        })
    }

    /// Reads a header, which is all that the file holds.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut input = Input::open(path, false)?;
        let bytes = read_array(&mut input, "the header of a disk made")?;
        if io::Read::read(&mut input, &mut [0]).map_err(|error| Error::io(&input.name, error))? > 0 {
            return Err(Error::unverified(&input.name, "more bytes follow the header"));
        }
        Self::parse(&bytes).map_err(|reason| Error::unverified(&input.name, reason))
    }

    pub fn bytes(&self) -> &[u8; LEN] {
        &self.bytes
    }

    /// The keys, if this is the secret; `name` is where the header is. A password may have a cost of at most `max_cost`.
    pub fn unlock(&self, name: &str, secret: &Secret, max_cost: u8) -> Result<Disk, Error> {
        let wrong = match (self.bytes[MAGIC.len()], secret) {
            (KEY, Secret::Key(_)) => "wrong key, or the header is damaged",
            (PASSWORD, Secret::Password(_)) => {
                password::check_cost(name, self.cost(), max_cost)?;
                "wrong password, or the header is damaged"
            }
            (_, Secret::Key(_)) => {
                return Err(Error::unverified(name, "encrypted with a password (--password)"));
            }
            (_, Secret::Password(_)) => {
                return Err(Error::unverified(name, "encrypted with a key file (--key-file)"));
            }
        };
        let (disk, tag) = self.keys(&self.key(secret)?)?;
        if tag.ct_eq(&self.bytes[BEFORE_TAG..]).into() {
            Ok(disk)
        } else {
            Err(Error::unverified(name, wrong))
        }
    }

    fn cost(&self) -> u8 {
        self.bytes[MAGIC.len() + 1]
    }

    fn salt(&self) -> &[u8; SALT_LEN] {
        let (salt, _) = self.bytes[BEFORE_SALT..]
            .split_first_chunk()
            .expect("the length is right");
        salt
    }

    fn key(&self, secret: &Secret) -> Result<Key, Error> {
        match secret {
            Secret::Key(key) => Ok(key.clone()),
            Secret::Password(password) => {
                let domain = label!("veriplex.disk.password.v1");
                password::stretch_in(domain, password, self.cost(), self.salt())
            }
        }
    }

    fn keys(&self, key: &Key) -> Result<(Disk, [u8; TAG_LEN]), Error> {
        let head = &self.bytes[..BEFORE_SALT];
        let mut protocol = keyed(label!("veriplex.disk.v1"), head, key, self.salt());
        let tag = protocol.derive_array(label!("tag"));
        let mut sectors = Zeroizing::new([0; Key::<32>::LEN]);
        protocol.derive(label!("sectors"), sectors.as_mut_slice());
        let mut journal = Zeroizing::new([0; Key::<32>::LEN]);
        protocol.derive(label!("journal"), journal.as_mut_slice());
        let disk = Disk {
            geometry: self.geometry,
            cipher: cipher(&sectors)?,
            journal: Key::from(*journal),
        };
        Ok((disk, tag))
    }
}

/// The cipher of the sectors. Each move of its long keys leaves a copy on the stack, and only so much of that is wiped.
fn cipher(key: &[u8; Key::<32>::LEN]) -> Result<Box<Adiantum>, Error> {
    Adiantum::new(key)
        .map(Box::new)
        .map_err(|error| Error::io("Adiantum", error))
}

/// The keys of a disk.
pub struct Disk {
    pub geometry: Geometry,
    cipher: Box<Adiantum>,
    journal: Key,
}

impl Disk {
    /// Encrypts or decrypts whole sectors in place, on all cores; the first one has this number.
    pub fn apply(&self, direction: Direction, first: u64, sectors: &mut [u8]) -> io::Result<()> {
        let len = self.geometry.sector_len;
        let share = |(i, sectors): (usize, &mut [u8])| {
            let first = first + (i * (SHARE / len)) as u64;
            match direction {
                Direction::Encrypt => self.cipher.encrypt_sectors(len, first, sectors),
                Direction::Decrypt => self.cipher.decrypt_sectors(len, first, sectors),
            }
        };
        let done = if sectors.len() <= SHARE {
            share((0, sectors))
        } else {
            sectors.par_chunks_mut(SHARE).enumerate().try_for_each(share)
        };
        done.map_err(io::Error::other)
    }

    /// The authenticator of what is in the journal.
    pub fn journal_mac(&self) -> Mac {
        Mac::new(label!("veriplex.disk.journal.v1"), &self.journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let geometry = Geometry::new(4096, 512, 1 << 20).unwrap();
        let made = Header::generate(geometry, &Secret::Key(Key::from([7; 32])), 0);
        made.ok().unwrap().0
    }

    #[test]
    fn every_changed_byte_is_refused() {
        let header = header();
        let unlock = |bytes: &[u8; LEN]| {
            let header = Header::parse(bytes).ok()?;
            header.unlock("it", &Secret::Key(Key::from([7; 32])), 0).ok()
        };
        assert!(unlock(header.bytes()).is_some());
        for i in 0..LEN {
            for bit in 0..8 {
                let mut changed = *header.bytes();
                changed[i] ^= 1 << bit;
                assert!(unlock(&changed).is_none(), "byte {i}, bit {bit}");
            }
        }
        let key = Secret::Key(Key::from([8; 32]));
        assert!(header.unlock("it", &key, 0).is_err());
    }

    #[test]
    fn geometries_have_bounds() {
        assert!(Geometry::new(512, 0, 512).is_ok());
        assert!(Geometry::new(65536, 1, 1 << 55).is_ok());
        for (sector_len, offset, len) in [
            (0, 0, 512),
            (16, 0, 512),
            (256, 0, 512),
            (1536, 0, 1536),
            (1 << 17, 0, 1 << 17),
            (512, 0, 0),
            (512, 0, 511),
            (512, u64::MAX - 510, 512),
            (512, 0, (1 << 55) + 512),
        ] {
            assert!(
                Geometry::new(sector_len, offset, len).is_err(),
                "{sector_len} {offset} {len}"
            );
        }
    }

    /// The shares of several threads are the sectors of one.
    #[test]
    fn shares_have_the_numbers_of_their_sectors() {
        for sector_len in [512, 4096, 65536] {
            let geometry = Geometry::new(sector_len, 0, 1 << 20).unwrap();
            let made = Header::generate(geometry, &Secret::Key(Key::from([7; 32])), 0);
            let (_, disk) = made.ok().unwrap();
            let plain: Vec<u8> = (0..3 * SHARE + sector_len)
                .map(|i| (i / 5).to_le_bytes()[0])
                .collect();
            let mut expected = plain.clone();
            for (number, sector) in (11..).zip(expected.chunks_mut(sector_len)) {
                let mut tweak = [0; 32];
                tweak[..8].copy_from_slice(&u64::to_le_bytes(number));
                disk.cipher.encrypt_in_place(&tweak, sector).unwrap();
            }
            let mut sectors = plain.clone();
            disk.apply(Direction::Encrypt, 11, &mut sectors).unwrap();
            assert!(sectors == expected, "{sector_len}");
            disk.apply(Direction::Decrypt, 11, &mut sectors).unwrap();
            assert!(sectors == plain, "{sector_len}");
        }
    }
}
