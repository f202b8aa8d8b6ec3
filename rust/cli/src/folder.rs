//! Folders as tar streams, as encrypted files hold them.
//!
//! A stream has folders, regular files and symbolic links, each named relative to the folder, a folder before what is in it,
//! in the order of their names. Owners and special modes are left out. GNU headers; no other extensions than long names.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Take, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tar::{Archive, Builder, Entry, EntryType, Header};
use zeroize::Zeroizing;

use crate::error::{Error, warn};
use crate::files::CHUNK;
use crate::names::quoted;

/// No system has longer names.
const MAX_NAME_LEN: u64 = 1 << 16;

/// Visits all that is in a folder and in those below, a folder before its content, in the order of names. Links are not
/// followed, but for the folder that was named. What cannot be read is visited with the error.
pub fn walk(
    folder: &Path,
    mut visit: impl FnMut(&Path, io::Result<Metadata>) -> Result<(), Error>,
) -> Result<(), Error> {
    // What is still to be visited, the next last.
    let mut paths = vec![folder.to_owned()];
    while let Some(path) = paths.pop() {
        let metadata = if path == folder {
            path.metadata()
        } else {
            path.symlink_metadata()
        };
        let is_folder = metadata.as_ref().is_ok_and(Metadata::is_dir);
        if path != folder || !is_folder {
            visit(&path, metadata)?;
        }
        if is_folder {
            let entries: io::Result<Vec<PathBuf>> =
                fs::read_dir(&path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
            match entries {
                Ok(mut entries) => {
                    entries.sort_unstable_by(|a, b| b.cmp(a));
                    paths.append(&mut entries);
                }
                Err(error) => visit(&path, Err(error))?,
            }
        }
    }
    Ok(())
}

/// Passes a folder as a tar stream to `sink`, a piece at a time.
pub fn pack(folder: &Path, sink: impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
    let mut archive = Builder::new(Pieces {
        buffer: Zeroizing::new(vec![0; CHUNK]),
        filled: 0,
        sink,
        failed: None,
    });
    walk(folder, |path, metadata| {
        let packed = metadata.and_then(|metadata| append(&mut archive, folder, path, &metadata));
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
    /// What went wrong: with the sink, or else with this path.
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

fn append(
    archive: &mut Builder<impl Write>,
    folder: &Path,
    path: &Path,
    metadata: &Metadata,
) -> io::Result<()> {
    let name = path.strip_prefix(folder).map_err(io::Error::other)?;
    let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
    let mut header = Header::new_gnu();
    header.set_mode(metadata.permissions().mode() & 0o777);
    header.set_mtime(modified.unwrap_or_default().as_secs());
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    if metadata.is_dir() {
        header.set_entry_type(EntryType::Directory);
        archive.append_data(&mut header, name, io::empty())
    } else if metadata.is_symlink() {
        header.set_entry_type(EntryType::Symlink);
        archive.append_link(&mut header, name, fs::read_link(path)?)
    } else if metadata.is_file() {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        header.set_size(len);
        archive.append_data(&mut header, name, Whole(file.take(len)))
    } else {
        warn(format_args!(
            "{}: left out, not a file, folder or symbolic link",
            quoted(path)
        ));
        Ok(())
    }
}

/// A file of this length. What is added to it meanwhile is left out.
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

/// Makes what a tar stream has in a folder, which must be empty and whose owner alone can enter it.
///
/// Anything that [`pack`] would not have written is an error, so that nothing is ever made outside of the folder: names
/// with `..`, absolute names, names below a link, a name that comes twice, and devices.
pub fn unpack(stream: impl Read, folder: &Path) -> io::Result<()> {
    let mut archive = Archive::new(stream);
    let [mut long_name, mut long_link] = [None, None];
    let mut parent = PathBuf::new();
    // Raw: otherwise the names would be read to memory however long they are.
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            long_name = Some(read_name(&mut entry)?);
            continue;
        }
        if kind.is_gnu_longlink() {
            long_link = Some(read_name(&mut entry)?);
            continue;
        }
        let name = long_name
            .take()
            .unwrap_or_else(|| entry.header().path_bytes().into_owned());
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let mut parts = name.components();
        if name.as_os_str().is_empty()
            || name.as_os_str().as_bytes().contains(&0)
            || !parts.all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(refused(&name, "name"));
        }
        // Nothing replaces a folder that is there, so the last one need not be looked up again.
        if let Some(above) = name.parent()
            && *above != parent
        {
            let is_folder =
                |path: &Path| fs::symlink_metadata(folder.join(path)).is_ok_and(|found| found.is_dir());
            if !above.ancestors().all(is_folder) {
                return Err(refused(&name, "place"));
            }
            above.clone_into(&mut parent);
        }
        let path = folder.join(&name);
        match kind {
            EntryType::Directory => DirBuilder::new().mode(0o700).create(path)?,
            EntryType::Regular => extract(&mut entry, &path)?,
            EntryType::Symlink => {
                let target = long_link
                    .take()
                    .or_else(|| Some(entry.header().link_name_bytes()?.into_owned()));
                let target = target.ok_or_else(|| refused(&name, "link"))?;
                symlink(std::ffi::OsString::from_vec(target), path)?;
            }
            _ => return Err(refused(&name, "kind")),
        }
    }
    Ok(())
}

fn refused(name: &Path, what: &str) -> io::Error {
    let reason = format!(
        "invalid archive: {} has a {what} that is not allowed",
        quoted(name)
    );
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// A name that has an entry of its own.
fn read_name(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    if entry.size() > MAX_NAME_LEN {
        return Err(refused(Path::new("..."), "name"));
    }
    let mut name = Vec::new();
    entry.read_to_end(&mut name)?;
    name.pop_if(|last| *last == 0);
    Ok(name)
}

/// Makes a file, which only its owner may use.
fn extract(entry: &mut Entry<'_, impl Read>, path: &Path) -> io::Result<()> {
    let mode = entry.header().mode()? & 0o700;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    let len = entry.size();
    if io::copy(entry, &mut file)? != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let modified = Duration::from_secs(entry.header().mtime()?);
    if let Some(modified) = UNIX_EPOCH.checked_add(modified) {
        file.set_modified(modified)?;
    }
    Ok(())
}
