//! Images and block devices, which can be read and written at any place.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::{fs::FallocateFlags, io::Errno};
use veriplex_files::destination::{self, Destination};
use veriplex_files::device;
use veriplex_files::error::Error;
use veriplex_files::files::{Readers, check_unused};
use veriplex_files::locks::Locked;
use veriplex_files::overwritten::MARKER_LEN;
use veriplex_files::places::is_stdio;
use veriplex_files::terminal_quoting::quoted;

use super::header::{Disk, Geometry, SectorTags};
use super::marker::Marker;

/// What an image is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To look at it, without blocking it: it may be a device in use.
    Look,
    /// To read all of it. Linux gives a device to one program only.
    Read,
    Write,
}

/// An open image, locked for one writer or several readers.
#[derive(Debug)]
pub struct Image {
    file: File,
    /// Unless another process changes it.
    locked: Option<Locked>,
    len: u64,
    /// The number of its inode; 0 for a device.
    pub inode: u64,
    /// Who may read the files created beside it.
    pub readers: Readers,
    /// For messages.
    pub name: String,
    path: PathBuf,
    /// The system reports a lost write only once, at the next sync.
    has_lost: AtomicBool,
    /// Its length once differed from that when it was opened.
    is_other_len: AtomicBool,
    syncing: Mutex<()>,
}

const CHANGED: &str = "was replaced or changed its length while it was open: what was written may be lost, and its header is \
                       not brought up to date";

impl Image {
    /// Opens an image that is not half converted.
    pub fn open(path: &Path, access: Access) -> Result<Self, Error> {
        let image = Self::open_any(path, access)?;
        check_whole(&image.file, &image.name)?;
        Ok(image)
    }

    /// Opens an image that may be half converted.
    pub fn open_any(path: &Path, access: Access) -> Result<Self, Error> {
        let lock = if access == Access::Write {
            Locked::alone
        } else {
            Locked::shared
        };
        let image = Self::open_as(path, access, |file| lock(file).map(Some))?;
        // What is written by another name is read by this one late, or not at all.
        let failed = |error| Error::io(&image.name, error);
        image
            .file
            .metadata()
            .and_then(|found| check_unused(&found))
            .map_err(failed)?;
        Ok(image)
    }

    /// Opens an image to look at it.
    pub fn look(path: &Path) -> Result<Self, Error> {
        Self::open_as(path, Access::Look, |file| Ok(Locked::shared(file).ok()))
    }

    /// Whether another process is changing it.
    pub fn is_in_use(&self) -> bool {
        self.locked.is_none()
    }

    fn open_as(
        path: &Path,
        access: Access,
        lock: impl FnOnce(File) -> io::Result<Option<Locked>>,
    ) -> Result<Self, Error> {
        let write = access == Access::Write;
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
        if write && is_read_only_device(path) {
            return Err(Error::io(&name, "a device that is read-only"));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(write);
        let mut flags = OFlags::empty();
        // Linux then refuses a device that is mounted, and mounts none that is open.
        flags.set(OFlags::EXCL, is_device && access != Access::Look);
        options.custom_flags(flags.bits().cast_signed());
        let file = match destination::find(path) {
            // Someone who may change its folder may have put a link there since.
            Ok(Destination::Name(place)) if write => {
                if is_device {
                    place.check_given(false, "device").map_err(failed)?;
                }
                options
                    .custom_flags((flags | OFlags::NOFOLLOW).bits().cast_signed())
                    .open(&place.path)
            }
            Err(error) if write => Err(error),
            _ => options.open(path),
        };
        let mut file = file.map_err(failed)?;
        let locked = file.try_clone().and_then(lock).map_err(failed)?;
        // Another user may have made one of them to get another file changed.
        if write && !is_device && file.metadata().map_err(failed)?.nlink() > 1 {
            return Err(Error::io(
                &name,
                "has several names (hard links), and would change under all of them",
            ));
        }
        // The metadata of a device have no length.
        let len = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let (inode, readers) = if is_device {
            // After the next start its number may be another device's.
            (0, Readers::Owner)
        } else {
            let inode = file.metadata().map_err(failed)?.ino();
            (inode, Readers::like(&file).map_err(failed)?)
        };
        Ok(Self {
            file,
            locked,
            len,
            inode,
            readers,
            name,
            path: path.to_owned(),
            has_lost: AtomicBool::new(false),
            is_other_len: AtomicBool::new(false),
            syncing: Mutex::new(()),
        })
    }

    /// Fails if others could read plaintext in this image. For devices the system decides that.
    pub fn check_private(&self) -> Result<(), Error> {
        let found = self.file.metadata();
        let found = found.map_err(|error| Error::io(&self.name, error))?;
        if found.is_file() && found.mode() & 0o044 != 0 {
            let reason = "readable by other users: change its mode to 600 first";
            return Err(Error::io(&self.name, reason));
        }
        Ok(())
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// What it says about its own conversion, if it is half converted.
    pub fn marker(&self) -> Result<Option<Marker>, Error> {
        marker(&self.file, &self.name)
    }

    /// The geometry of a new header, if the image is large enough.
    pub fn geometry(&self, sector_len: usize, offset: u64, len: Option<u64>) -> Result<Geometry, Error> {
        let left = self.len.checked_sub(offset);
        let Some(left) = left.filter(|&left| len.is_none_or(|len| len <= left)) else {
            let reason = format_args!("has only {} bytes, fewer than the options require", self.len);
            return Err(Error::usage(&self.name, reason));
        };
        Geometry::new(sector_len, offset, len.unwrap_or(left))
            .map_err(|reason| Error::usage(&self.name, reason))
    }

    /// Fails unless the image contains the whole encrypted part.
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

    /// The tags, in this image, of the sectors by which a header recognises it.
    pub fn sector_tags(&self, disk: &Disk) -> SectorTags {
        disk.readable_sector_tags(|number, sector| self.read_at(disk.place(number), sector))
    }

    /// Like a write, it remembers that the length has changed, even if it is later the old one again.
    pub fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let read = self.file.read_exact_at(buffer, at);
        read.inspect_err(|_| drop(self.check_kept()))
    }

    /// Reads as much as the system returns at once; nothing at the end.
    pub fn read_some_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(buffer, at)
    }

    /// Like a sync, it fails once the length has changed: a write beyond the end would fill the gap with zeros.
    pub fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.check_kept()?;
        self.file.write_all_at(bytes, at)
    }

    /// Makes a hole where the system can; otherwise does nothing.
    pub fn punch_at(&self, at: u64, len: u64) -> io::Result<()> {
        self.check_kept()?;
        #[cfg(target_os = "linux")]
        match rustix::fs::fallocate(
            &self.file,
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            at,
            len,
        ) {
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (at, len);
        Ok(())
    }

    /// Synchronises what was written. After the first error, all writes and syncs fail.
    pub fn sync(&self) -> io::Result<()> {
        self.sync_by(File::sync_data)
    }

    /// The same, for tests.
    pub(super) fn sync_by(&self, sync: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        // One at a time: only one of two would learn of an error.
        let _syncing = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_kept()?;
        sync(&self.file).inspect_err(|_| self.has_lost.store(true, Ordering::SeqCst))
    }

    /// Fails if something else is now in its place.
    pub fn check_there(&self) -> Result<(), Error> {
        // A device may get another node.
        let identity = |found: &Metadata| {
            if found.file_type().is_block_device() {
                (0, found.rdev())
            } else {
                (found.dev(), found.ino())
            }
        };
        let opened = self.file.metadata().ok();
        let found = fs::metadata(&self.path).ok();
        let is_there = found.is_some() && opened.as_ref().map(identity) == found.as_ref().map(identity);
        if !is_there {
            return Err(Error::io(&self.name, CHANGED));
        }
        Ok(())
    }

    fn check_kept(&self) -> io::Result<()> {
        if self.has_lost.load(Ordering::SeqCst) {
            return Err(io::Error::other("earlier writes may be lost: a flush failed"));
        }
        if self.is_other_len.load(Ordering::SeqCst) || (&self.file).seek(SeekFrom::End(0))? != self.len {
            self.is_other_len.store(true, Ordering::SeqCst);
            return Err(io::Error::other(CHANGED));
        }
        Ok(())
    }
}

/// What an image says about its own conversion, if it is half converted.
fn marker(file: &File, name: &str) -> Result<Option<Marker>, Error> {
    let mut bytes = [0; MARKER_LEN];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Marker::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io(name, error)),
    }
}

/// Fails if this image is half converted or half overwritten.
fn check_whole(file: &File, name: &str) -> Result<(), Error> {
    marker(file, name)?.map_or(Ok(()), |marker| Err(marker.refused(name, true)))
}

/// Fails if the output is the input itself, which a crash would leave as neither plaintext nor ciphertext.
pub fn check_other(input: &Path, output: &Path) -> Result<(), Error> {
    if !is_stdio(output) && are_same(input, output) {
        let reason = "is also the input, or has or may have the same data (use --in-place)";
        return Err(Error::usage(&quoted(output), reason));
    }
    Ok(())
}

/// Whether both names are of one file or device, or of devices with the same data, or may be.
pub fn are_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => device::overlap(&one, &other),
        _ => false,
    }
}

/// Whether this is a block device that the system makes read-only.
pub fn is_read_only_device(path: &Path) -> bool {
    fs::metadata(path)
        .is_ok_and(|found| found.file_type().is_block_device() && device::is_read_only(found.rdev()))
}

/// Whether this is a block device.
pub fn is_device(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.file_type().is_block_device())
}
