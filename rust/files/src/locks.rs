//! Locks of whole files and block devices, which other programs of this project respect; those of others are seen.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::device;
use crate::terminal_quoting::quoted;

/// A file or block device that is locked as long as this is there, with what is below it.
#[derive(Debug)]
pub struct Locked {
    file: File,
    #[allow(dead_code)] // their drop is what they are for
    others: Vec<File>,
}

type TryLock = fn(&File) -> Result<(), TryLockError>;

impl Locked {
    /// For one process that changes it.
    pub fn alone(file: File) -> io::Result<Self> {
        Self::new(file, File::try_lock)
    }

    /// For all that read it.
    pub fn shared(file: File) -> io::Result<Self> {
        Self::new(file, File::try_lock_shared)
    }

    /// For one process that replaces or overwrites the file or block device at this place, if there is one.
    pub fn if_there(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() || found.file_type().is_block_device() => {}
            _ => return Ok(None),
        }
        Self::alone(open(path)?).map(Some)
    }

    fn new(file: File, try_lock: TryLock) -> io::Result<Self> {
        locked(&file, try_lock)?;
        let found = file.metadata()?;
        let mut others = Vec::new();
        for path in device::files_below(&found)? {
            let unknown = |error| io::Error::other(format!("{}, below it: {error}", quoted(&path)));
            let below = open(&path).map_err(unknown)?;
            locked(&below, try_lock)?;
            others.push(below);
        }
        // Other partitions of a disk may be changed at the same time, but not the disk.
        for path in device::devices_around(&found) {
            // Who may use a partition or a mapped device need not be allowed to use the disk.
            if let Ok(device) = open(&path) {
                locked(&device, File::try_lock_shared)?;
                others.push(device);
            }
        }
        Ok(Self { file, others })
    }

    pub fn file(&self) -> &File {
        &self.file
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options.open(path)
}

fn locked(file: &File, try_lock: TryLock) -> io::Result<()> {
    match try_lock(file) {
        Ok(()) if !has_other_locks(file)? => Ok(()),
        Ok(()) | Err(TryLockError::WouldBlock) => Err(io::Error::other("in use by another process")),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether somebody has locked bytes of a file that this process has locked as a whole: qemu does that, and neither lock
/// hinders the other one. `rustix` can ask about one file, but panics in debug builds at such a lock, which is of no process.
#[cfg(target_os = "linux")]
fn has_other_locks(file: &File) -> io::Result<bool> {
    let inode = file.metadata()?.ino().to_string();
    let own = std::process::id().to_string();
    // Not every system shows it.
    let text = fs::read_to_string("/proc/locks").unwrap_or_default();
    // Number, kind, two words about it, its process or -1, and numbers of device and inode: those of the device may be others
    // than those of the metadata.
    let locks = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?;
        let mut words = words.skip(2);
        Some((kind, words.next()?, words.next()?))
    });
    let is_inode = |place: &str| place.rsplit(':').next() == Some(&*inode);
    let places: Vec<_> = locks
        .clone()
        .filter(|&(kind, process, place)| kind == "FLOCK" && process == own && is_inode(place))
        .map(|(_, _, place)| place)
        .collect();
    let mut others = locks.filter(|(kind, ..)| ["POSIX", "OFDLCK"].contains(kind));
    Ok(others.any(|(_, _, place)| places.contains(&place)))
}

#[cfg(not(target_os = "linux"))]
fn has_other_locks(_: &File) -> io::Result<bool> {
    Ok(false)
}
