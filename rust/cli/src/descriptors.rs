//! Descriptors that the command line names by their numbers. They are taken before the program opens anything of its own, which
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

/// Takes the descriptors that these paths name. An error if one of them is not open.
pub fn take<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<(), Error> {
    let own = Own::new();
    // What one leads to may be a folder.
    let number = |path: &Path| match find_input(path) {
        Ok(Destination::Descriptor(number)) => Some(number),
        _ => None,
    };
    let named = paths.flat_map(|path| path.ancestors().filter_map(|at| Some((at, number(at)?))));
    let named: Vec<_> = named.collect();
    for (path, number) in &named {
        if !own.is_open(*number) {
            return Err(Error::io(
                &quoted(path),
                format_args!("descriptor {number} is not open"),
            ));
        }
    }
    let taken = named
        .into_iter()
        .filter_map(|(path, number)| Some((path.to_owned(), (number, own.get(number)?))));
    let _ = TAKEN.set(taken.collect());
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

/// What gives this process its own descriptors. To open them by their names would open what they are open to once more: from
/// its beginning, and not if that is a socket or forbidden by now.
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
        // A sandbox may forbid the other way.
        let is_there = || Path::new("/proc/self/fd").join(number.to_string()).is_symlink();
        !is_own && (self.get(number).is_some() || is_there())
    }

    /// Nothing where this system or a sandbox has no such way.
    fn get(&self, number: i32) -> Option<File> {
        use rustix::process::{PidfdGetfdFlags, pidfd_getfd};
        let file = pidfd_getfd(self.0.as_ref()?, number, PidfdGetfdFlags::empty()).ok()?;
        Some(file.into())
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
