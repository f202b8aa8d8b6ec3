//! The file of a Unix socket that listens.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use socket2::{Domain, SockAddr, Socket, Type};

/// Removes the file on drop, unless something else has taken its place. It must be dropped before the listener: while that
/// exists, no other file has the same identity.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at a path. A socket on which nobody listens any more, because its process was killed, is replaced. Any other
    /// file stays, and is an error.
    pub fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        // Without a name the system would choose one, in a place where everybody may connect.
        if path.as_os_str().is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path"));
        }
        let _lock = Lock::take(path)?;
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

/// So that one process at a time finds an abandoned socket and replaces it, or has one that does not listen yet: a locked
/// file beside it, which other users cannot open, and so cannot lock.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn take(socket: &Path) -> io::Result<Self> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        for _ in 0..100 {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
                .open(&path)?;
            match file.try_lock() {
                Ok(()) => {
                    // The last holder may have removed it since it was opened.
                    let opened = identity(&file.metadata()?);
                    if fs::symlink_metadata(&path).is_ok_and(|found| identity(&found) == opened) {
                        return Ok(Self { path, _file: file });
                    }
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("another process is about to listen there"))
    }
}

impl Drop for Lock {
    /// Before the lock is given back.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
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
}
