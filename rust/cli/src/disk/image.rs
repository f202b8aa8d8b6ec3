//! Images and block devices, any place of which can be read and written.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::header::{Disk, Geometry, SectorTags};
use super::marker::{self, Marker};
use crate::error::Error;
use crate::files::{Readers, is_stdio};
use crate::names::quoted;

/// One that is open and locked, for one program that writes or several that read.
#[derive(Debug)]
pub struct Image {
    file: File,
    len: u64,
    /// The number of its inode, or of the device.
    pub inode: u64,
    /// Who may read what is made beside it.
    pub readers: Readers,
    /// For messages.
    pub name: String,
}

impl Image {
    /// Opens one that is not half converted.
    pub fn open(path: &Path, write: bool) -> Result<Self, Error> {
        let image = Self::open_any(path, write)?;
        check_whole(&image.file, &image.name)?;
        Ok(image)
    }

    /// Opens one that may be half converted.
    pub fn open_any(path: &Path, write: bool) -> Result<Self, Error> {
        let name = quoted(path);
        if is_stdio(path) {
            return Err(Error::usage(
                "-",
                "cannot be an image: name a file or a block device",
            ));
        }
        let failed = |error: io::Error| Error::io(&name, error);
        let is_device = is_device(path).map_err(failed)?;
        let is_file = fs::metadata(path).map_err(failed)?.is_file();
        if !is_device && !is_file {
            return Err(Error::io(&name, "neither a file nor a block device"));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(write);
        if is_device && write {
            // Linux then refuses one that is mounted.
            options.custom_flags(OFlags::EXCL.bits().cast_signed());
        }
        let mut file = options.open(path).map_err(failed)?;
        let locked = if write {
            file.try_lock()
        } else {
            file.try_lock_shared()
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::io(&name, "in use by another veriplex process"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The metadata of a device have no length.
        let len = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if write
            && is_file
            && let Some(device) = loop_device(Path::new("/sys/block"), &metadata)
        {
            let reason = format_args!("in use by the loop device {}", quoted(&device));
            return Err(Error::io(&name, reason));
        }
        let (inode, readers) = if is_device {
            (metadata.rdev(), Readers::Owner)
        } else {
            let mode = metadata.permissions().mode() & 0o666 | 0o600;
            (metadata.ino(), Readers::Mode(mode))
        };
        Ok(Self {
            file,
            len,
            inode,
            readers,
            name,
        })
    }

    /// An error if plaintext in this image could be read by others. Who may read a device is the system's to say.
    pub fn check_private(&self) -> Result<(), Error> {
        match self.readers {
            Readers::Mode(mode) if mode & 0o044 != 0 => Err(Error::io(
                &self.name,
                "readable by other users: change its mode to 600 first",
            )),
            _ => Ok(()),
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// What it says of its own conversion, if it is half converted.
    pub fn marker(&self) -> Result<Option<Marker>, Error> {
        marker(&self.file, &self.name)
    }

    /// The geometry of a new header, if the image is large enough.
    pub fn geometry(&self, sector_len: usize, offset: u64, len: Option<u64>) -> Result<Geometry, Error> {
        let left = self.len.checked_sub(offset);
        let Some(left) = left.filter(|&left| len.is_none_or(|len| len <= left)) else {
            let reason = format_args!(
                "has only {} bytes, fewer than --offset and --length require",
                self.len
            );
            return Err(Error::usage(&self.name, reason));
        };
        Geometry::new(sector_len, offset, len.unwrap_or(left))
            .map_err(|reason| Error::usage(&self.name, reason))
    }

    /// An error, unless the image has all that was encrypted.
    pub fn check(&self, geometry: &Geometry) -> Result<(), Error> {
        if self.len < geometry.end() {
            let reason = format_args!(
                "has {} bytes, but its header requires at least {}",
                self.len,
                geometry.end()
            );
            return Err(Error::unverified(&self.name, reason));
        }
        Ok(())
    }

    /// Tags of the sectors that a header knows, as they are in this image.
    pub fn sector_tags(&self, disk: &Disk) -> SectorTags {
        disk.sector_tags(|number, sector| self.read_at(disk.place(number), sector))
    }

    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, at)
    }

    /// Reads as much as the system gives at once; nothing at the end.
    pub fn read_some_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(buffer, at)
    }

    pub fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    /// What was written is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// What an image says of its own conversion, if it is half converted.
fn marker(file: &File, name: &str) -> Result<Option<Marker>, Error> {
    let mut bytes = [0; marker::LEN];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Marker::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io(name, error)),
    }
}

/// An error if this image is half converted.
fn check_whole(file: &File, name: &str) -> Result<(), Error> {
    marker(file, name)?.map_or(Ok(()), |marker| Err(marker.refused(name)))
}

/// An error if a header would be in the place of this image.
pub fn check_header(header: &Path, image: &Path) -> Result<(), Error> {
    if header == image || are_same(header, image) {
        return Err(Error::usage(&quoted(header), "is the image, not its header"));
    }
    Ok(())
}

/// An error if what is at the place of an output must not be written to: the input itself, which a crash would leave as
/// neither plaintext nor ciphertext, or an image that is half converted.
pub fn check_destination(input: &Path, output: &Path) -> Result<(), Error> {
    let name = quoted(output);
    if is_stdio(output) {
        return Ok(());
    }
    if are_same(input, output) {
        return Err(Error::usage(&name, "is also the input (use --in-place)"));
    }
    match fs::metadata(output) {
        Ok(found) if found.is_file() || found.file_type().is_block_device() => {
            let file = File::open(output).map_err(|error| Error::io(&name, error))?;
            check_whole(&file, &name)
        }
        _ => Ok(()),
    }
}

/// The loop device that has this file, of those in the system's list of block devices.
fn loop_device(list: &Path, file: &fs::Metadata) -> Option<PathBuf> {
    let devices = fs::read_dir(list).ok()?.flatten();
    let backed = |device: &fs::DirEntry| {
        let line = fs::read(device.path().join("loop/backing_file")).ok()?;
        let path = Path::new(OsStr::from_bytes(line.strip_suffix(b"\n")?));
        let found = fs::metadata(path).ok()?;
        ((found.dev(), found.ino()) == (file.dev(), file.ino())).then_some(())
    };
    let device = devices.into_iter().find(|device| backed(device).is_some())?;
    Some(Path::new("/dev").join(device.file_name()))
}

/// Whether both names are of one file or device.
fn are_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let found = fs::metadata(path).ok()?;
        let is_device = found.file_type().is_block_device();
        Some(if is_device {
            (is_device, found.rdev(), 0)
        } else {
            (is_device, found.dev(), found.ino())
        })
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Whether there is a block device at this place.
pub fn is_device(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.file_type().is_block_device())
}
