//! The header of an encrypted disk: its keys, and what it says about its image.
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
//! | 1 | state: 0x00, encrypted; 0x01, being encrypted in place; 0x02, being decrypted in place |
//! | 16 | random, different for each header that is written; while a conversion is under way, its number |
//! | 128 | about the image, masked |
//! | 16 | tag |
//!
//! The protocol is Init `veriplex.disk.v1`, Mix `header` (all before the salt), Mix `key` (32 bytes), Mix `nonce` (the salt),
//! Derive `sectors` (32 bytes, the key of Adiantum with 12 rounds), Derive `tags` (32 bytes, the key of all tags below), Mix
//! `state` (17 bytes: state and random), Seal `image` (128 bytes and the tag). The memory-hard hash makes the key from a
//! password, in the domain `veriplex.disk.password.v1`, with the salt. The first encrypted sector has the number 0.
//!
//! About an encrypted image, the header contains tags of 16 sectors, which are `i * count / 16` for i from 0 to 15 of
//! `count` sectors: the first 8 bytes of `veriplex::mac` in the domain `veriplex.disk.sector.v1`, of the number (8
//! bytes, little-endian) and the ciphertext. If none of them matches, it is another image, or all these sectors were
//! rewritten.
//!
//! About a conversion: the size of a batch (4 bytes, little-endian), the number of the image's inode, 0 for a device (8 bytes,
//! little-endian), the tag of the first sector as it was (8 bytes), the bytes of the image that are under the [marker](super::marker) as they were, as they will be, zeros.

use std::io;
use std::ops::{Deref, RangeInclusive};
use std::path::Path;

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use veriplex::adiantum::{Adiantum, WideBlockCipher};
use veriplex::mac::Mac;
use veriplex::{Key, Label, Protocol, TAG_LEN, label};
use veriplex_files::crypt::{SALT_LEN, Secret, check_cost, keyed, random, read_array, stretch_in};
use veriplex_files::error::Error;
use veriplex_files::files::Input;
use veriplex_files::overwritten::MARKER_LEN;
use veriplex_files::progress::Progress;
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::text;
use zeroize::Zeroizing;

use super::Direction;

const MAGIC: &[u8; 8] = b"VPX-DISK";
/// Size in bytes of a header.
pub const LEN: usize = BEFORE_ABOUT + ABOUT_LEN + TAG_LEN;
/// What stays the same while the disk is encrypted.
const HEAD_LEN: usize = MAGIC.len() + 22 + SALT_LEN;
const BEFORE_ABOUT: usize = HEAD_LEN + 1 + NUMBER_LEN;
const ABOUT_LEN: usize = SECTORS * SECTOR_TAG_LEN;
/// Size in bytes of the number of a conversion.
pub const NUMBER_LEN: usize = 16;
/// How many sectors have tags in the header.
const SECTORS: usize = 16;
pub const SECTOR_TAG_LEN: usize = 8;
/// Stands for the tag of a sector that cannot be read.
const UNREAD: [u8; SECTOR_TAG_LEN] = [0; SECTOR_TAG_LEN];
const KEY: u8 = 1;
const PASSWORD: u8 = 2;

/// The default sector size.
pub const SECTOR_LEN: usize = 4096;
/// The sector sizes, which are powers of two.
pub const SECTOR_LENS: RangeInclusive<usize> = 512..=65536;
/// How many bytes the cipher may encrypt under one key.
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
    /// Checks the values of a header or command line.
    pub fn new(sector_len: usize, offset: u64, len: u64) -> Result<Self, &'static str> {
        if !sector_len.is_power_of_two() || !SECTOR_LENS.contains(&sector_len) {
            Err("the sector size must be a power of two from 512 to 65536")
        } else if len == 0 {
            Err("nothing to encrypt")
        } else if !len.is_multiple_of(sector_len as u64) {
            Err("the length is not a multiple of the sector size")
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

/// The content of a header.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    bytes: [u8; LEN],
    pub geometry: Geometry,
    /// About the conversion in place under way, if any.
    pub direction: Option<Direction>,
}

/// What a header says of its image.
#[derive(PartialEq, Eq)]
pub enum State {
    Encrypted(SectorTags),
    Converting(Conversion),
}

/// Tags of some sectors.
#[derive(PartialEq, Eq)]
pub struct SectorTags([[u8; SECTOR_TAG_LEN]; SECTORS]);

/// A conversion in place.
#[derive(PartialEq, Eq)]
pub struct Conversion {
    pub direction: Direction,
    pub number: [u8; NUMBER_LEN],
    /// The size of a batch in bytes.
    pub batch: usize,
    /// The number of the image's inode; 0 for a device.
    pub inode: u64,
    /// The tag of the first sector before the conversion.
    pub first: [u8; SECTOR_TAG_LEN],
    /// The bytes that the marker replaces, before and after the conversion.
    pub before: Zeroizing<[u8; MARKER_LEN]>,
    pub after: Zeroizing<[u8; MARKER_LEN]>,
}

impl Conversion {
    fn encode(&self) -> Zeroizing<[u8; ABOUT_LEN]> {
        let mut about = Zeroizing::new([0; ABOUT_LEN]);
        let batch = u32::try_from(self.batch).expect("a batch is small").to_le_bytes();
        let inode = self.inode.to_le_bytes();
        let parts: [&[u8]; 5] = [&batch, &inode, &self.first, &*self.before, &*self.after];
        let mut rest = about.as_mut_slice();
        for part in parts {
            let (place, more) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = more;
        }
        about
    }
}

impl State {
    /// What the owner of the key wrote.
    fn decode(direction: Option<Direction>, number: [u8; NUMBER_LEN], about: &[u8; ABOUT_LEN]) -> Self {
        let Some(direction) = direction else {
            let mut tags = [[0; SECTOR_TAG_LEN]; SECTORS];
            tags.as_flattened_mut().copy_from_slice(about);
            return Self::Encrypted(SectorTags(tags));
        };
        let (batch, rest) = about.split_first_chunk().expect("the length is right");
        let (inode, rest) = rest.split_first_chunk().expect("the length is right");
        let (first, rest) = rest.split_first_chunk().expect("the length is right");
        let (before, rest) = rest.split_first_chunk().expect("the length is right");
        let (after, _) = rest.split_first_chunk().expect("the length is right");
        Self::Converting(Conversion {
            direction,
            number,
            batch: usize::try_from(u32::from_le_bytes(*batch)).unwrap_or(usize::MAX),
            inode: u64::from_le_bytes(*inode),
            first: *first,
            before: Zeroizing::new(*before),
            after: Zeroizing::new(*after),
        })
    }
}

impl Header {
    /// Takes apart what may be a header.
    pub fn parse(bytes: &[u8; LEN]) -> Result<Self, &'static str> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or("not a disk header: it does not begin with VPX-DISK")?;
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
        let direction = match bytes[HEAD_LEN] {
            0 => None,
            state => Some(Direction::from_byte(state).ok_or("made by another version of veriplex")?),
        };
        Ok(Self {
            bytes: *bytes,
            geometry,
            direction,
        })
    }

    /// Reads a header, which must be the whole file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = text::open_regular(path)?;
        let mut input = Input::from_file(file, Progress::new(false, None), quoted(path));
        let bytes = read_array(&mut input, "the header of a disk made")?;
        if io::Read::read(&mut input, &mut [0]).map_err(|error| Error::io(&input.name, error))? > 0 {
            return Err(Error::unverified(&input.name, "unexpected data after the header"));
        }
        Self::parse(&bytes).map_err(|reason| Error::unverified(&input.name, reason))
    }

    pub fn bytes(&self) -> &[u8; LEN] {
        &self.bytes
    }

    /// Whether both belong to one disk, perhaps in different states.
    pub fn is_same_disk(&self, other: &Self) -> bool {
        self.bytes[..HEAD_LEN] == other.bytes[..HEAD_LEN]
    }

    /// The cost of the password, if a password unlocks it.
    pub fn cost(&self) -> Option<u8> {
        (self.bytes[MAGIC.len()] == PASSWORD).then_some(self.bytes[MAGIC.len() + 1])
    }

    /// Fails if a conversion in place is under way.
    pub fn check_finished(&self, name: &str) -> Result<(), Error> {
        let Some(direction) = self.direction else {
            return Ok(());
        };
        let reason = format_args!("{direction} in place is unfinished: finish it first");
        Err(Error::usage(name, reason))
    }

    /// The keys, and what the header says about its image, if this is the right secret; `name` is the header's file.
    /// The cost of a password may be at most `max_cost`.
    pub fn unlock(&self, name: &str, secret: &Secret, max_cost: u8) -> Result<(Disk, State), Error> {
        let wrong = match (self.bytes[MAGIC.len()], secret) {
            (KEY, Secret::Key(_)) => "wrong key, or damaged header",
            (PASSWORD, Secret::Password(_)) => {
                check_cost(name, self.bytes[MAGIC.len() + 1], max_cost)?;
                "wrong password, or damaged header"
            }
            (_, Secret::Key(_)) => {
                return Err(Error::unverified(name, "encrypted with a password (--password)"));
            }
            (_, Secret::Password(_)) => {
                return Err(Error::unverified(name, "encrypted with a key file (--key-file)"));
            }
        };
        let (head, _) = self.bytes.split_first_chunk().expect("the length is right");
        let disk = Disk::new(*head, self.geometry, secret)?;
        let state = disk.state(self).ok_or_else(|| Error::unverified(name, wrong))?;
        Ok((disk, state))
    }
}

/// The sectors of a disk, and their key.
pub struct Sectors {
    pub geometry: Geometry,
    /// Boxed, because each move of its long keys leaves a copy on the stack, of which only a part is wiped.
    cipher: Box<Adiantum>,
}

/// The keys of a disk with a header.
pub struct Disk {
    sectors: Sectors,
    /// The key of the sectors, for programs that read no header.
    sector_key: Key,
    /// The first bytes of its header.
    head: [u8; HEAD_LEN],
    tags: Key,
    /// The protocol before a state is mixed in.
    protocol: Protocol,
}

impl Disk {
    /// A new disk, with a fresh salt; a password is hashed with this cost.
    pub fn generate(geometry: Geometry, secret: &Secret, cost: u8) -> Result<Self, Error> {
        let mut salt = [0; SALT_LEN];
        random(&mut salt)?;
        let (version, cost) = match secret {
            Secret::Key(_) => (KEY, 0),
            Secret::Password(_) => (PASSWORD, cost),
        };
        let sector_len = u32::try_from(geometry.sector_len).expect("at most 65536");
        let parts = [
            MAGIC.as_slice(),
            &[version, cost],
            &sector_len.to_le_bytes(),
            &geometry.offset.to_le_bytes(),
            &geometry.len.to_le_bytes(),
            &salt,
        ];
        let mut head = [0; HEAD_LEN];
        head.copy_from_slice(&parts.concat());
        Self::new(head, geometry, secret)
    }

    fn new(head: [u8; HEAD_LEN], geometry: Geometry, secret: &Secret) -> Result<Self, Error> {
        let (before_salt, salt) = head.split_last_chunk().expect("the length is right");
        let key = match secret {
            Secret::Key(key) => key.clone(),
            Secret::Password(password) => {
                let domain = label!("veriplex.disk.password.v1");
                stretch_in(domain, password, before_salt[MAGIC.len() + 1], salt)?
            }
        };
        let mut protocol = keyed(label!("veriplex.disk.v1"), before_salt, &key, salt);
        let mut sector_key = Zeroizing::new([0; Key::<32>::LEN]);
        protocol.derive(label!("sectors"), sector_key.as_mut_slice());
        let mut tags = Zeroizing::new([0; Key::<32>::LEN]);
        protocol.derive(label!("tags"), tags.as_mut_slice());
        Ok(Self {
            sectors: Sectors::new(geometry, &sector_key),
            sector_key: Key::from(*sector_key),
            head,
            tags: Key::from(*tags),
            protocol,
        })
    }

    /// The header of the encrypted disk.
    pub fn header(&self, tags: &SectorTags) -> Result<Header, Error> {
        let mut number = [0; NUMBER_LEN];
        random(&mut number)?;
        let mut about = Zeroizing::new([0; ABOUT_LEN]);
        about.copy_from_slice(tags.0.as_flattened());
        Ok(self.header_of(None, number, about))
    }

    /// The header while a conversion is under way.
    pub fn header_of_conversion(&self, conversion: &Conversion) -> Header {
        self.header_of(Some(conversion.direction), conversion.number, conversion.encode())
    }

    fn header_of(
        &self,
        direction: Option<Direction>,
        number: [u8; NUMBER_LEN],
        mut about: Zeroizing<[u8; ABOUT_LEN]>,
    ) -> Header {
        let state = [&[direction.map_or(0, |direction| direction as u8)][..], &number].concat();
        let mut protocol = self.protocol.clone();
        protocol.mix(label!("state"), &state);
        let tag = protocol.seal_in_place_detached(label!("image"), about.as_mut_slice());
        let mut bytes = [0; LEN];
        bytes.copy_from_slice(&[&self.head[..], &state, &*about, &tag].concat());
        Header {
            bytes,
            geometry: self.geometry,
            direction,
        }
    }

    /// What a header of this disk says, if its tag is right.
    pub fn state(&self, header: &Header) -> Option<State> {
        let (before, sealed) = header.bytes.split_at(BEFORE_ABOUT);
        let mut protocol = self.protocol.clone();
        protocol.mix(label!("state"), &before[HEAD_LEN..]);
        let mut about = Zeroizing::new([0; ABOUT_LEN]);
        protocol
            .open_into(label!("image"), sealed, about.as_mut_slice())
            .ok()?;
        let (_, number) = before.split_last_chunk().expect("the length is right");
        Some(State::decode(header.direction, *number, &about))
    }

    /// A tag of anything but a header.
    pub fn mac(&self, domain: Label<'_>) -> Mac {
        Mac::new(domain, &self.tags)
    }

    /// The tag of a sector with this number.
    pub fn sector_tag(&self, number: u64, sector: &[u8]) -> [u8; SECTOR_TAG_LEN] {
        let mut mac = self.mac(label!("veriplex.disk.sector.v1"));
        mac.update(&number.to_le_bytes());
        mac.update(sector);
        let tag = mac.finalize();
        let (tag, _) = tag.as_bytes().split_first_chunk().expect("a tag is longer");
        *tag
    }

    /// Tags of some sectors, whose ciphertext `read` returns.
    pub fn sector_tags<E>(
        &self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<SectorTags, E> {
        let mut failed = Ok(());
        let tags = self
            .readable_sector_tags(|number, sector| read(number, sector).map_err(|error| failed = Err(error)));
        failed.map(|()| tags)
    }

    /// The same; none of the sectors that cannot be read.
    pub fn readable_sector_tags<E>(
        &self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> SectorTags {
        let mut tags = SectorTags([UNREAD; SECTORS]);
        let count = self.geometry.len / self.geometry.sector_len as u64;
        let mut sector = Zeroizing::new(vec![0; self.geometry.sector_len]);
        for (i, tag) in (0..).zip(&mut tags.0) {
            let number = i * count / SECTORS as u64;
            if read(number, &mut sector).is_ok() {
                *tag = self.sector_tag(number, &sector);
            }
        }
        tags
    }

    /// The key of the sectors, for programs that read no header.
    pub fn sector_key(&self) -> &Key {
        &self.sector_key
    }
}

impl Deref for Disk {
    type Target = Sectors;

    fn deref(&self) -> &Sectors {
        &self.sectors
    }
}

impl Sectors {
    pub fn new(geometry: Geometry, key: &[u8; Key::<32>::LEN]) -> Self {
        Self {
            geometry,
            cipher: Box::new(Adiantum::new(key)),
        }
    }

    /// Where a sector begins in the image.
    pub fn place(&self, number: u64) -> u64 {
        self.geometry.offset + number * self.geometry.sector_len as u64
    }

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
}

impl SectorTags {
    /// Fails if the image no longer has any of these sectors.
    pub fn check(&self, found: &Self, name: &str) -> Result<(), Error> {
        let mut pairs = self.0.iter().zip(&found.0);
        if pairs.any(|(one, other)| *one != UNREAD && one.ct_eq(other).into()) {
            return Ok(());
        }
        let reason = "header and image do not match: the header belongs to another image, or the whole image was rewritten \
                      (--no-check skips this check)";
        Err(Error::unverified(name, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(geometry: Geometry) -> Disk {
        let secret = Secret::Key(Key::from([7; 32]));
        Disk::generate(geometry, &secret, 0).ok().unwrap()
    }

    #[test]
    fn every_changed_byte_is_refused() {
        let disk = disk(Geometry::new(4096, 512, 1 << 20).unwrap());
        let tags = disk.readable_sector_tags(|number, sector| {
            sector.fill(number.to_le_bytes()[0]);
            io::Result::Ok(())
        });
        let conversion = Conversion {
            direction: Direction::Decrypt,
            number: [1; NUMBER_LEN],
            batch: 1 << 20,
            inode: 5,
            first: [4; SECTOR_TAG_LEN],
            before: Zeroizing::new([2; MARKER_LEN]),
            after: Zeroizing::new([3; MARKER_LEN]),
        };
        let headers = [
            disk.header(&tags).ok().unwrap(),
            disk.header_of_conversion(&conversion),
        ];
        let states = [State::Encrypted(tags), State::Converting(conversion)];
        for (header, state) in headers.into_iter().zip(states) {
            let unlock = |bytes: &[u8; LEN], key: u8| {
                let header = Header::parse(bytes).ok()?;
                let secret = Secret::Key(Key::from([key; 32]));
                Some(header.unlock("it", &secret, 0).ok()?.1)
            };
            assert!(unlock(header.bytes(), 7).is_some_and(|found| found == state));
            for i in 0..LEN {
                for bit in 0..8 {
                    let mut changed = *header.bytes();
                    changed[i] ^= 1 << bit;
                    assert!(unlock(&changed, 7).is_none(), "byte {i}, bit {bit}");
                }
            }
            assert!(unlock(header.bytes(), 8).is_none());
        }
    }

    /// One unchanged sector is enough; one of another number or disk does not count.
    #[test]
    fn sectors_that_a_header_knows() {
        let disk_of = |count: u64| disk(Geometry::new(512, 512, 512 * count).unwrap());
        for (count, known) in [(1, 1), (3, 3), (17, 16), (1000, 16)] {
            let disk = disk_of(count);
            let mut numbers = Vec::new();
            let tags = disk.readable_sector_tags(|number, sector| {
                assert!(number < count);
                numbers.push(number);
                sector.fill(1);
                io::Result::Ok(())
            });
            numbers.dedup();
            assert_eq!(numbers.len(), known);
            let check = |disk: &Disk, same: Option<u64>, byte: u8| {
                let found = disk.readable_sector_tags(|number, sector| {
                    sector.fill(if Some(number) == same { byte } else { 2 });
                    io::Result::Ok(())
                });
                tags.check(&found, "it").is_ok()
            };
            for &number in &numbers {
                assert!(check(&disk, Some(number), 1));
                assert!(!check(&disk, Some(number), 3) && !check(&disk_of(count), Some(number), 1));
            }
            let unread = disk.readable_sector_tags(|_, _| Err(()));
            for tags in [&tags, &unread] {
                assert!(tags.check(&unread, "it").is_err());
            }
        }
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
            let disk = disk(geometry);
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
