//! The file of a Unix socket that listens.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use crate::places::folder_of;

/// Removes the file on drop, unless something else has taken its place. It must be dropped before the listener: while that
/// exists, no other file has the same identity.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at a path. A socket on which nobody listens any more, because its process was killed, is replaced. Any other
    /// file stays, and is an error, as is any file in a folder that must not be read.
    pub fn bind(path: &Path) -> io::Result<(Self, UnixListener)> {
        // Without a name the system would choose one, in a place where everybody may connect.
        if path.as_os_str().is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path"));
        }
        let lock = match lock(folder_of(path)) {
            // Where it must not be read, nothing is replaced.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            lock => Some(lock?),
        };
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        let listener = match UnixListener::bind(path) {
            Err(error) if is_taken(&error) && lock.is_some() && is_abandoned(path)? => {
                fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        }?;
        listener.set_nonblocking(true)?;
        let identity = identity(path)?;
        let path = path.to_owned();
        Ok((Self { path, identity }, listener))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
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

/// Locks a folder, so that one process at a time finds an abandoned socket and replaces it, or has one that does not listen
/// yet.
fn lock(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    for _ in 0..100 {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other("another program holds a lock on its folder"))
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
