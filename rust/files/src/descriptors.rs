//! Descriptors that the command line names by number. The program takes them before it opens anything itself, which
//! could get the number of one that is not open.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::destination::{Destination, find_input};
use crate::error::Error;
use crate::terminal_quoting::quoted;

/// By the names that the command line has for them, with their numbers.
static TAKEN: OnceLock<BTreeMap<PathBuf, (i32, File)>> = OnceLock::new();

/// Takes the descriptors that these paths name. Fails if one is not open, or cannot be had itself: by its name
/// something else might be opened.
pub fn adopt<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<(), Error> {
    let own = Own::new();
    // What one leads to may be a folder.
    let number = |path: &Path| match find_input(path) {
        Ok(Destination::Descriptor(number)) => Some(number),
        _ => None,
    };
    let named = paths.flat_map(|path| path.ancestors().filter_map(|at| Some((at, number(at)?))));
    let named: Vec<_> = named.collect();
    let failed = |path: &Path, reason: &str| Err(Error::io(&quoted(path), reason));
    // Before any gets the number of another.
    for (path, number) in &named {
        if !own.is_open(*number) {
            return failed(path, &format!("descriptor {number} is not open"));
        }
    }
    let mut taken = BTreeMap::new();
    for (path, number) in named {
        match own.get(number) {
            Some(file) => drop(taken.insert(path.to_owned(), (number, file))),
            // It can be opened by its name: there is no place in a folder where reading goes on.
            None if path.is_dir() => {}
            None => {
                let reason =
                    "only pipes and standard streams can be named by numbers here (name the file itself)";
                return failed(path, reason);
            }
        }
    }
    let _ = TAKEN.set(taken);
    Ok(())
}

/// The descriptor that has this name on the command line.
pub fn named(path: &Path) -> Option<&'static File> {
    TAKEN.get()?.get(path).map(|(_, file)| file)
}

/// The descriptor with this number, if the command line names it.
pub fn numbered(number: i32) -> Option<&'static File> {
    let mut taken = TAKEN.get()?.values();
    taken.find(|(other, _)| *other == number).map(|(_, file)| file)
}

/// A way for this process to get its own descriptors. Opening them by name would open their files a second time: from
/// the beginning, and not if that is a socket or now forbidden.
#[cfg(target_os = "linux")]
struct Own(Option<std::os::fd::OwnedFd>);

#[cfg(target_os = "linux")]
impl Own {
    fn new() -> Self {
        use rustix::process::{PidfdFlags, getpid, pidfd_open};
        Self(pidfd_open(getpid(), PidfdFlags::empty()).ok())
    }

    fn is_open(&self, number: i32) -> bool {
        use std::os::fd::AsRawFd;
        let is_own = self.0.as_ref().is_some_and(|own| own.as_raw_fd() == number);
        // Where `get` cannot tell, ask the system.
        !is_own && (self.get(number).is_some() || Self::name(number).is_symlink())
    }

    fn name(number: i32) -> PathBuf {
        Path::new("/proc/self/fd").join(number.to_string())
    }

    /// Old systems, and many sandboxes, give only standard streams and pipes.
    fn get(&self, number: i32) -> Option<File> {
        use std::io;
        use std::os::fd::AsFd;

        use rustix::process::{PidfdGetfdFlags, pidfd_getfd};
        let copied = match number {
            0 => io::stdin().as_fd().try_clone_to_owned().ok(),
            1 => io::stdout().as_fd().try_clone_to_owned().ok(),
            2 => io::stderr().as_fd().try_clone_to_owned().ok(),
            _ => (self.0.as_ref()).and_then(|own| pidfd_getfd(own, number, PidfdGetfdFlags::empty()).ok()),
        };
        copied.map(File::from).or_else(|| Self::open_pipe(number))
    }

    /// Opening a pipe without a name again gives the same pipe.
    fn open_pipe(number: i32) -> Option<File> {
        use std::os::unix::fs::MetadataExt;
        let name = Self::name(number);
        let target = std::fs::read_link(&name).ok()?;
        if !target.as_os_str().as_encoded_bytes().starts_with(b"pipe:[") {
            return None;
        }
        // For what the descriptor is open.
        let mode = name.symlink_metadata().ok()?.mode();
        let mut options = File::options();
        options.read(mode & 0o400 != 0).write(mode & 0o200 != 0);
        options.open(name).ok()
    }
}

/// What `/dev/fd` opens is the descriptor itself.
#[cfg(not(target_os = "linux"))]
struct Own;

#[cfg(not(target_os = "linux"))]
impl Own {
    fn new() -> Self {
        Self
    }

    fn is_open(&self, number: i32) -> bool {
        Path::new("/dev/fd")
            .join(number.to_string())
            .symlink_metadata()
            .is_ok()
    }

    fn get(&self, number: i32) -> Option<File> {
        let path = Path::new("/dev/fd").join(number.to_string());
        File::open(&path)
            .or_else(|_| File::options().write(true).open(path))
            .ok()
    }
}
