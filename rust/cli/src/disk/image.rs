//! Images and block devices, any place of which can be read and written.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::header::Geometry;
use crate::error::Error;
use crate::files::is_stdio;
use crate::names::quoted;

/// One that is open and locked, for one program that writes or several that read.
#[derive(Debug)]
pub struct Image {
    file: File,
    len: u64,
    /// For messages.
    pub name: String,
}

impl Image {
    pub fn open(path: &Path, write: bool) -> Result<Self, Error> {
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
            Err(TryLockError::WouldBlock) => return Err(Error::io(&name, "in use by another veriplex")),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The metadata of a device have no length.
        let len = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { file, len, name })
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The geometry of a new header, if the image is large enough.
    pub fn geometry(&self, sector_len: usize, offset: u64, len: Option<u64>) -> Result<Geometry, Error> {
        let left = self.len.checked_sub(offset);
        let Some(left) = left.filter(|&left| len.is_none_or(|len| len <= left)) else {
            let reason = format_args!("has {} bytes, not as many as --offset and --length say", self.len);
            return Err(Error::usage(&self.name, reason));
        };
        Geometry::new(sector_len, offset, len.unwrap_or(left))
            .map_err(|reason| Error::usage(&self.name, reason))
    }

    /// An error, unless the image has all that was encrypted.
    pub fn check(&self, geometry: &Geometry) -> Result<(), Error> {
        if self.len < geometry.end() {
            let reason = format_args!(
                "has {} bytes, but its header is of one with {} or more",
                self.len,
                geometry.end()
            );
            return Err(Error::unverified(&self.name, reason));
        }
        Ok(())
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

/// Whether both names are of one file or device.
pub fn are_same(one: &Path, other: &Path) -> bool {
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
