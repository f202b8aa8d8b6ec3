//! The file of a listening Unix socket.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::terminal_quoting::quoted;

/// Removes the file on drop, unless something else has taken its place. It must be dropped before the listener: while that
/// exists, no other file has the same identity.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at a path. An abandoned socket, whose process was killed, is replaced. Any other file stays, and is an
    /// error.
    pub fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        // For an empty name the system would choose one to which everybody may connect.
        if path.as_os_str().is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path"));
        }
        let _lock = Lock::acquire(path)?;
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        let listener = match UnixListener::bind(path) {
            Err(error) if is_taken(&error) && is_abandoned(path)? => {
                fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        }?;
        listener.set_nonblocking(true)?;
        let identity = identity(&fs::symlink_metadata(path)?);
        let path = path.to_owned();
        Ok((Self { path, identity }, listener))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Whether it is a socket on which nobody listens. Never waits, as a connection would for a place in a full queue.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    let connected = socket.connect(&SockAddr::unix(path)?);
    Ok(
        connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
            && fs::symlink_metadata(path)?.file_type().is_socket(),
    )
}

/// A locked file beside the socket, so that only one process at a time replaces an abandoned socket, or has one that
/// does not listen yet. Other users cannot open it, and so cannot lock it. Any other file with its name stays as it is.
struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    fn acquire(socket: &Path) -> io::Result<Self> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        for _ in 0..100 {
            if let Some(file) = Self::try_acquire(&path)? {
                return Ok(Self { path, file });
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other("another process is about to listen there"))
    }

    /// Returns nothing while another process has it.
    fn try_acquire(path: &Path) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        // If it becomes a link or a pipe before it is opened, it is not followed, and nothing waits.
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let created = options.clone().create_new(true).open(path);
        let is_new = created.is_ok();
        let file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // The last holder may have removed it meanwhile, here and below.
                let Some(found) = if_exists(fs::symlink_metadata(path))? else {
                    return Ok(None);
                };
                if !is_lock(&found) {
                    return Err(no_lock(path));
                }
                match if_exists(options.open(path))? {
                    Some(file) => file,
                    None => return Ok(None),
                }
            }
            created => created?,
        };
        // Not all file systems give a new file the requested owner and mode.
        if !is_new && !is_lock(&file.metadata()?) {
            return Err(no_lock(path));
        }
        match file.try_lock() {
            Ok(()) => Ok(is_at(&file, path).then_some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    /// Before the lock is given back.
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the file is one that [`Lock::acquire`] made, or may have been: empty, and of this user alone. One that was just
/// removed has no links.
fn is_lock(file: &Metadata) -> bool {
    file.is_file()
        && file.uid() == rustix::process::geteuid().as_raw()
        && file.mode() & 0o7177 == 0
        && file.len() == 0
        && file.nlink() <= 1
}

/// Whether the path still leads to this file, and it is empty.
fn is_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|opened| {
        fs::symlink_metadata(path)
            .is_ok_and(|found| identity(&found) == identity(&opened) && found.len() == 0)
    })
}

fn if_exists<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn no_lock(path: &Path) -> io::Error {
    let message = format!("{} exists and is not a lock of this program", quoted(path));
    io::Error::new(io::ErrorKind::AlreadyExists, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn of_many_at_once_one_replaces_an_abandoned_socket() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        for _ in 0..100 {
            drop(UnixListener::bind(&path).unwrap());
            let start = Barrier::new(6);
            let bound: Vec<_> = thread::scope(|scope| {
                let bind = || {
                    start.wait();
                    SocketFile::bind(&path)
                };
                let threads: Vec<_> = (0..6).map(|_| scope.spawn(bind)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let count = bound.iter().filter(|bound| bound.is_ok()).count();
            assert_eq!(count, 1, "{bound:?}");
            for error in bound.iter().filter_map(|bound| bound.as_ref().err()) {
                assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
            }
            UnixStream::connect(&path).unwrap();
            drop(bound);
            assert!(!path.exists());
        }
    }

    /// Whoever can read a folder can lock it.
    #[test]
    fn a_folder_that_another_program_locks() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        let lock = File::open(folder.path()).unwrap();
        lock.lock().unwrap();
        drop(UnixListener::bind(&path).unwrap());
        let bound = SocketFile::bind(&path).unwrap();
        UnixStream::connect(&path).unwrap();
        drop(bound);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// For root every folder can be read.
    #[test]
    fn a_folder_that_must_not_be_read() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o300)).unwrap();
        let bound = SocketFile::bind(&path);
        let second = SocketFile::bind(&path);
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        assert_eq!(second.unwrap_err().kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).unwrap();
        drop(bound.unwrap());
        assert!(!path.exists());
    }

    /// The next file at a path often gets the number of the last one.
    #[test]
    fn a_successor_is_not_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        for _ in 0..20 {
            let first = SocketFile::bind(&path).unwrap();
            fs::remove_file(&path).unwrap();
            let second = SocketFile::bind(&path).unwrap();
            drop(first);
            UnixStream::connect(&path).unwrap();
            drop(second);
            assert!(!path.exists());
        }
    }

    /// Whatever else has the name of the lock stays as it was.
    #[test]
    fn what_is_no_lock_is_not_removed() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        let lock = folder.path().join("socket.lock");
        let other = folder.path().join("other");
        let write = |path: &Path, text: &str, mode: u32| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        let stays = || {
            let before = fs::symlink_metadata(&lock).unwrap();
            let error = SocketFile::bind(&path).unwrap_err().to_string();
            assert!(
                error.ends_with("socket.lock exists and is not a lock of this program"),
                "{error}"
            );
            let after = fs::symlink_metadata(&lock).unwrap();
            assert_eq!(identity(&after), identity(&before));
            assert_eq!(after.mode(), before.mode());
            assert!(!path.exists());
        };
        for (text, mode) in [("a key", 0o600), ("a key", 0o400), ("", 0o644), ("", 0o700)] {
            write(&lock, text, mode);
            stays();
            assert_eq!(fs::read_to_string(&lock).unwrap(), text);
            fs::remove_file(&lock).unwrap();
        }
        write(&other, "", 0o600);
        fs::hard_link(&other, &lock).unwrap();
        stays();
        fs::remove_file(&lock).unwrap();
        symlink(&other, &lock).unwrap();
        stays();
        fs::remove_file(&other).unwrap();
        stays();
        assert!(!other.exists());
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        stays();
        fs::remove_dir(&lock).unwrap();
        let _listener = UnixListener::bind(&lock).unwrap();
        stays();
        fs::remove_file(&lock).unwrap();

        // A file that a killed process left.
        write(&lock, "", 0o600);
        drop(SocketFile::bind(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Content written to it, or something else in its place, while it was locked.
    #[test]
    fn a_lock_that_was_changed_is_not_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket.lock");
        let acquire = || Lock::acquire(&folder.path().join("socket")).unwrap();
        let lock = acquire();
        fs::write(&path, "data").unwrap();
        drop(lock);
        assert_eq!(fs::read(&path).unwrap(), b"data");
        fs::remove_file(&path).unwrap();
        let lock = acquire();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        drop(lock);
        assert!(path.exists());
    }
}
