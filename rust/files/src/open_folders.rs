//! Open folders, whose content is reached name by name, without following links.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, statat, unlinkat};

/// Never waits (for example for the other side of a named pipe), and never follows a link.
pub const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A folder and some below it, each open inside the one before. The next name is mostly in the last one, or in one
/// above it.
pub struct OpenFolders {
    root: OwnedFd,
    open: Vec<(PathBuf, OwnedFd)>,
}

impl OpenFolders {
    /// Not all stay open, since there may be more than a process may have.
    const MOST: usize = 16;

    pub fn new(root: OwnedFd) -> Self {
        Self {
            root,
            open: Vec::new(),
        }
    }

    pub fn enter(&mut self, path: PathBuf, folder: OwnedFd) {
        if self.open.len() == Self::MOST {
            self.open.remove(0);
        }
        self.open.push((path, folder));
    }

    /// The folder with this path, reached name by name without links.
    pub fn at(&mut self, path: &Path) -> io::Result<&OwnedFd> {
        while self.open.pop_if(|(place, _)| !path.starts_with(place)).is_some() {}
        let mut place = self
            .open
            .last()
            .map_or(PathBuf::new(), |(place, _)| place.clone());
        let below = path.strip_prefix(&place).map_err(io::Error::other)?;
        for name in below {
            place.push(name);
            let folder = openat(self.last(), name, OPEN | OFlags::DIRECTORY, Mode::empty())?;
            self.enter(place.clone(), folder);
        }
        Ok(self.last())
    }

    pub fn last(&self) -> &OwnedFd {
        self.open.last().map_or(&self.root, |(_, folder)| folder)
    }
}

/// The paths of a folder's entries, the last one first.
pub fn names(folder: impl AsFd, path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            paths.push(path.join(OsStr::from_bytes(name)));
        }
    }
    paths.sort_unstable_by(|a, b| b.cmp(a));
    Ok(paths)
}

/// Creates a folder that only its owner may enter, and opens it.
///
/// # Errors
///
/// If the name now leads to a folder that is not empty, or whose owner differs from that of files created there.
pub fn make(path: &Path, owner: u32) -> io::Result<File> {
    mkdirat(CWD, path, Mode::RWXU)?;
    let open = || {
        let folder = File::from(openat(CWD, path, OPEN | OFlags::DIRECTORY, Mode::empty())?);
        if folder.metadata()?.uid() != owner || !names(&folder, Path::new(""))?.is_empty() {
            return Err(io::Error::other("changed while it was made"));
        }
        Ok(folder)
    };
    open().inspect_err(|_| drop(fs::remove_dir(path)))
}

/// Removes everything in a folder, whatever the modes of folders below forbid. No link is followed.
pub fn empty(folder: &File) -> io::Result<()> {
    let mut paths = names(folder, Path::new(""))?;
    let mut open = OpenFolders::new(folder.try_clone()?.into());
    while let Some(path) = paths.last() {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            break;
        };
        let parent = open.at(above)?;
        let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            unlinkat(parent, name, AtFlags::empty())?;
        } else if let Err(error) = unlinkat(parent, name, AtFlags::REMOVEDIR) {
            // What follows fails if that was needed and is not possible.
            let _ = unlock(parent, name);
            let inside = openat(parent, name, OPEN | OFlags::DIRECTORY, Mode::empty())?;
            let mut entries = names(&inside, path)?;
            if entries.is_empty() {
                return Err(error.into());
            }
            open.enter(path.clone(), inside);
            // Before the folder itself.
            paths.append(&mut entries);
            continue;
        }
        paths.pop();
    }
    Ok(())
}

/// Makes a folder readable and writable, which may be needed to open it.
fn unlock(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(parent, name, flags, Mode::empty())?;
        // `fchmod` does not take it.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        fs::set_permissions(path, Permissions::from_mode(0o700))
    }
    #[cfg(not(target_os = "linux"))]
    Ok(rustix::fs::chmodat(
        parent,
        name,
        Mode::RWXU,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}
