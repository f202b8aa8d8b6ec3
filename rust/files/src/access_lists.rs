//! Who may use a file: its mode, and access control lists, which the mode shows only in part.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, fchmod, fstat};
use rustix::io::Errno;

/// Whether a file has one.
#[cfg(target_os = "linux")]
pub fn has_list(file: &File) -> bool {
    is_list(rustix::fs::fgetxattr(file, LIST, &mut [0; 1][..]))
}

/// Whether what has this name has one.
#[cfg(target_os = "linux")]
pub fn has_list_at(path: &Path) -> bool {
    is_list(rustix::fs::lgetxattr(path, LIST, &mut [0; 1][..]))
}

#[cfg(target_os = "linux")]
const LIST: &str = "system.posix_acl_access";

#[cfg(target_os = "linux")]
fn is_list(found: Result<usize, Errno>) -> bool {
    !matches!(found, Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS))
}

#[cfg(not(target_os = "linux"))]
pub fn has_list(_: &File) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub fn has_list_at(_: &Path) -> bool {
    false
}

/// Sets the mode of a file or folder. Not every file system has modes, or lets its users set them.
pub fn set_mode(file: impl AsFd, mode: u32) -> io::Result<()> {
    match fchmod(file, Mode::from_raw_mode(mode)) {
        Err(Errno::PERM | Errno::OPNOTSUPP) => Ok(()),
        set => Ok(set?),
    }
}

/// Whether others can read a file or folder, though it should have this mode.
pub fn is_too_open(file: impl AsFd, mode: u32) -> io::Result<bool> {
    Ok(fstat(file)?.st_mode & 0o044 & !mode != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_a_file_system_does_not_keep() {
        let file = tempfile::tempfile().unwrap();
        for (mode, wanted, expected) in [
            (0o600, 0o600, false),
            (0o644, 0o644, false),
            (0o777, 0o644, false),
            (0o640, 0o600, true),
            (0o604, 0o640, true),
            (0o777, 0o600, true),
        ] {
            set_mode(&file, mode).unwrap();
            assert_eq!(
                is_too_open(&file, wanted).unwrap(),
                expected,
                "{mode:o} {wanted:o}"
            );
        }
    }
}
