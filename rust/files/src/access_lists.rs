//! Access control lists, which a file's mode shows only in part.

use std::fs::File;
use std::path::Path;

#[cfg(target_os = "linux")]
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
