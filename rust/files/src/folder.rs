//! Folders as tar streams, as encrypted files hold them.
//!
//! A stream has folders, regular files and symbolic links, named relative to the folder and ordered by name, each
//! folder before its content. It has GNU headers, with long names as the only extension, and neither owners nor special
//! modes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Take, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, readlinkat, statat, symlinkat};
use rustix::io::Errno;
use tar::{Archive, Builder, Entry, EntryType, Header};
use zeroize::Zeroizing;

use crate::access_lists::set_mode;
use crate::error::{Error, warn};
use crate::open_folders::{OPEN, OpenFolders, names};
use crate::places::check_unwritten;
use crate::temporary::inside;
use crate::terminal_quoting::quoted;

/// The longest path in a folder, in bytes: of the 4095 that Linux takes, 255 are for the folder that it is decrypted to.
const MAX_PATH_LEN: usize = 3840;
/// No system has longer names or targets of links.
const MAX_NAME_LEN: u64 = 1 << 16;
/// No system takes longer ones.
const MAX_TARGET_LEN: usize = 4095;
/// How GNU tar calls the entry of a long name.
const LONG_LINK: &[u8] = b"././@LongLink";

/// Something in a folder.
pub struct Found {
    mode: u32,
    /// In seconds since 1970.
    modified: u64,
    pub kind: Kind,
}

/// What it is.
pub enum Kind {
    Folder,
    /// A regular file, which is open.
    File(File),
    /// A symbolic link, and what it holds.
    Link(Vec<u8>),
    Other,
}

/// Visits everything in a folder and those below, in the order of names, each folder before its content. No link is
/// followed, except to the named folder itself: each file is opened in the folder in which it was found, so nobody can
/// lead out by changing folders meanwhile. Where something cannot be read, the error is visited instead.
pub fn walk(
    folder: &Path,
    mut visit: impl FnMut(&Path, io::Result<Found>) -> Result<(), Error>,
) -> Result<(), Error> {
    let root = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, root, Mode::empty()).map_err(io::Error::from);
    let (root, mut paths) =
        match opened.and_then(|root| Ok((root.try_clone()?, names(&root, Path::new(""))?))) {
            Ok(found) => found,
            Err(error) => return visit(folder, Err(error)),
        };
    let mut open = OpenFolders::new(root);
    // The paths still to be visited, the next one last.
    while let Some(path) = paths.pop() {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        let looked = open.at(above).and_then(|parent| look(parent, name));
        let path_shown = folder.join(&path);
        match looked {
            Ok((found, None)) => visit(&path_shown, Ok(found))?,
            Ok((found, Some(inside))) => {
                let entries = names(&inside, &path);
                visit(&path_shown, Ok(found))?;
                match entries {
                    Ok(mut entries) => paths.append(&mut entries),
                    Err(error) => visit(&path_shown, Err(error))?,
                }
                open.enter(path, inside);
            }
            Err(error) => visit(&path_shown, Err(error))?,
        }
    }
    Ok(())
}

/// An entry of a folder; a folder is open.
fn look(folder: &OwnedFd, name: &OsStr) -> io::Result<(Found, Option<OwnedFd>)> {
    let before = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(before.st_mode);
    let (kind, inside) = match kind {
        FileType::RegularFile | FileType::Directory => {
            let file = File::from(openat(folder, name, OPEN, Mode::empty())?);
            let found = file.metadata()?;
            let (mode, modified) = (found.mode() & 0o777, u64::try_from(found.mtime()).unwrap_or(0));
            let (kind, inside) = match kind {
                FileType::RegularFile if found.is_file() => (Kind::File(file), None),
                FileType::Directory if found.is_dir() => (Kind::Folder, Some(file.into())),
                _ => return Err(io::Error::other("changed while it was read")),
            };
            return Ok((Found { mode, modified, kind }, inside));
        }
        FileType::Symlink => (
            Kind::Link(readlinkat(folder, name, Vec::new())?.into_bytes()),
            None,
        ),
        _ => (Kind::Other, None),
    };
    let modified = u64::try_from(before.st_mtime).unwrap_or(0);
    Ok((
        Found {
            mode: 0o777,
            modified,
            kind,
        },
        inside,
    ))
}

/// Passes a folder as a tar stream to `sink`, in pieces as large as the buffer.
pub fn pack(
    folder: &Path,
    buffer: Zeroizing<Vec<u8>>,
    sink: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut archive = Builder::new(Pieces {
        buffer,
        filled: 0,
        sink,
        failed: None,
    });
    walk(folder, |path, found| {
        if let Ok(Found {
            kind: Kind::File(file),
            ..
        }) = &found
        {
            let found = file.metadata().map_err(|error| Error::io(&quoted(path), error))?;
            check_unwritten(&found, &quoted(path))?;
        }
        let packed = found.and_then(|found| append(&mut archive, folder, path, found));
        packed.map_err(|error| archive.get_mut().error(path, error))
    })?;
    let mut pieces = match archive.into_inner() {
        Ok(pieces) => pieces,
        Err(error) => return Err(Error::io(&quoted(folder), error)),
    };
    let flushed = pieces.flush();
    flushed.map_err(|error| pieces.error(folder, error))
}

/// Collects what is written into pieces for a sink.
struct Pieces<S> {
    buffer: Zeroizing<Vec<u8>>,
    filled: usize,
    sink: S,
    /// Why the sink took no more.
    failed: Option<Error>,
}

impl<S> Pieces<S> {
    /// What failed: the sink, or else this path.
    fn error(&mut self, path: &Path, error: io::Error) -> Error {
        self.failed
            .take()
            .unwrap_or_else(|| Error::io(&quoted(path), error))
    }
}

impl<S: FnMut(&mut [u8]) -> Result<(), Error>> Write for Pieces<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.buffer.len() - self.filled);
        self.buffer[self.filled..][..n].copy_from_slice(&bytes[..n]);
        self.filled += n;
        if self.filled == self.buffer.len() {
            self.flush()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        let filled = std::mem::take(&mut self.filled);
        (self.sink)(&mut self.buffer[..filled]).map_err(|error| {
            self.failed = Some(error);
            io::ErrorKind::Other.into()
        })
    }
}

fn append(archive: &mut Builder<impl Write>, folder: &Path, path: &Path, found: Found) -> io::Result<()> {
    let name = path.strip_prefix(folder).map_err(io::Error::other)?;
    let mut header = Header::new_gnu();
    header.set_mode(found.mode);
    header.set_mtime(found.modified);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    let (kind, target, content) = match found.kind {
        Kind::Folder => (EntryType::Directory, None, None),
        Kind::Link(target) => (EntryType::Symlink, Some(target), None),
        Kind::File(file) => {
            let len = file.metadata()?.len();
            // Growth from now on is left out; some system files never say how long they are.
            if len == 0 && (&file).read(&mut [0])? > 0 && file.metadata()?.len() == 0 {
                return Err(io::Error::other("has content, but does not say its length"));
            }
            header.set_size(len);
            (EntryType::Regular, None, Some(Whole(file.take(len))))
        }
        Kind::Other => {
            warn(format_args!(
                "{}: left out, not a file, folder or symbolic link",
                quoted(path)
            ));
            return Ok(());
        }
    };
    // Not by the functions of `tar` that take a path, which change it.
    let name = name.as_os_str().as_bytes();
    if name.len() > MAX_PATH_LEN {
        let reason = format!("longer than {MAX_PATH_LEN} bytes, which could not be decrypted");
        return Err(io::Error::other(reason));
    }
    let fields = header.as_old_mut();
    append_long(archive, &mut fields.name, name, EntryType::GNULongName)?;
    if let Some(target) = target {
        append_long(archive, &mut fields.linkname, &target, EntryType::GNULongLink)?;
    }
    header.set_entry_type(kind);
    header.set_cksum();
    match content {
        Some(content) => archive.append(&header, content),
        None => archive.append(&header, io::empty()),
    }
}

/// Puts a name into its field of a header. One that does not fit gets its own entry first.
fn append_long(
    archive: &mut Builder<impl Write>,
    field: &mut [u8; 100],
    name: &[u8],
    kind: EntryType,
) -> io::Result<()> {
    let fitting = name.len().min(field.len());
    field[..fitting].copy_from_slice(&name[..fitting]);
    if fitting == name.len() {
        return Ok(());
    }
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..LONG_LINK.len()].copy_from_slice(LONG_LINK);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(name.len() as u64 + 1);
    header.set_entry_type(kind);
    header.set_cksum();
    archive.append(&header, name.chain(&b"\0"[..]))
}

/// A file of this length. Data added meanwhile are left out.
struct Whole(Take<File>);

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        if n == 0 && self.0.limit() > 0 && !buffer.is_empty() {
            return Err(io::Error::other("became shorter while it was read"));
        }
        Ok(n)
    }
}

/// Unpacks a tar stream into a folder, which must be empty and which only its owner may enter.
///
/// Nothing is created in a temporary folder once a signal is removing it.
///
/// Nothing is ever created outside the folder: names with `..`, absolute names, names below a link, repeated names and
/// devices are errors. [`pack`] writes none of these, nor owners, special modes, content of folders, or data after the
/// end, which are ignored. The end may be missing. A folder gets its mode at the first entry outside it, so that memory
/// does not grow with the archive.
///
/// # Errors
///
/// An error without a system error number says what is wrong with the archive.
pub fn unpack(stream: impl Read, folder: &File) -> io::Result<()> {
    let mut archive = Archive::new(stream);
    let [mut long_name, mut long_link] = [None, None];
    let mut open = OpenFolders::new(folder.try_clone()?.into());
    // The folders in which the next entry may be, each in the one before.
    let mut folders: Vec<(PathBuf, u32)> = Vec::new();
    let leave = |open: &mut OpenFolders, (path, mode): (PathBuf, u32)| {
        let folder = open.at(&path)?;
        inside(|| set_mode(folder, mode))
    };
    // Raw, since otherwise names of any length would be read into memory.
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        let long = match kind {
            EntryType::GNULongName => Some(&mut long_name),
            EntryType::GNULongLink => Some(&mut long_link),
            _ => None,
        };
        if let Some(long) = long {
            let name = read_name(&mut entry)?;
            if let Some(first) = long.replace(name) {
                return Err(refused(Path::new(OsStr::from_bytes(&first)), "second long name"));
            }
            continue;
        }
        let name = long_name
            .take()
            .unwrap_or_else(|| entry.header().path_bytes().into_owned());
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let bytes = name.as_os_str().as_bytes();
        let mut parts = name.components();
        let (Some(above), Some(last)) = (name.parent(), name.file_name()) else {
            return Err(refused(&name, "name"));
        };
        if bytes.len() > MAX_PATH_LEN
            || bytes.contains(&0)
            || kind != EntryType::Directory && !bytes.ends_with(last.as_bytes())
            || !parts.all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(refused(&name, "name"));
        }
        while let Some(left) = folders.pop_if(|(path, _)| !name.starts_with(path)) {
            leave(&mut open, left)?;
        }
        let parent = open.at(above).map_err(|error| match error.kind() {
            // The last one is a finished folder that nobody can enter.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => {
                refused(&name, "place")
            }
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => refused(&name, "place"),
            _ => error,
        })?;
        let made = match kind {
            EntryType::Directory => {
                folders.push((name.clone(), entry.header().mode()? & 0o700));
                inside(|| mkdirat(parent, last, Mode::RWXU)).map_err(io::Error::from)
            }
            EntryType::Regular => extract(&mut entry, parent, last),
            EntryType::Symlink => {
                let target = long_link
                    .take()
                    .or_else(|| Some(entry.header().link_name_bytes()?.into_owned()));
                let target = target.filter(|target| !target.contains(&0) && target.len() <= MAX_TARGET_LEN);
                let target = target.ok_or_else(|| refused(&name, "link"))?;
                inside(|| symlinkat(OsStr::from_bytes(&target), parent, last)).map_err(io::Error::from)
            }
            _ => return Err(refused(&name, "kind")),
        };
        made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let reason = format!(
                    "{} comes twice, or differs only in what this file system ignores",
                    quoted(&name)
                );
                io::Error::new(io::ErrorKind::InvalidData, reason)
            }
            io::ErrorKind::InvalidFilename => refused(&name, "name"),
            _ => error,
        })?;
        if long_link.is_some() {
            return Err(refused(&name, "target"));
        }
    }
    // Only when finished: nothing could be created in some of them.
    folders
        .into_iter()
        .rev()
        .try_for_each(|left| leave(&mut open, left))
}

fn refused(name: &Path, what: &str) -> io::Error {
    let reason = format!("{} has a {what} that is not allowed", quoted(name));
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// A name with its own entry.
fn read_name(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    if entry.size() > MAX_NAME_LEN {
        return Err(refused(Path::new("..."), "name"));
    }
    let mut name = Vec::new();
    entry.read_to_end(&mut name)?;
    name.pop_if(|last| *last == 0);
    Ok(name)
}

/// Creates a file in a folder that only its owner may use.
fn extract(entry: &mut Entry<'_, impl Read>, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let mode = entry.header().mode()? & 0o700;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = inside(|| openat(folder, name, flags, Mode::RUSR | Mode::WUSR));
    let mut file = File::from(file?);
    let len = entry.size();
    if io::copy(entry, &mut file)? != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    set_mode(&file, mode)?;
    let modified = Duration::from_secs(entry.header().mtime()?);
    if let Some(modified) = UNIX_EPOCH.checked_add(modified) {
        file.set_modified(modified)?;
    }
    Ok(())
}
