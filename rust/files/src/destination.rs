//! Where a path leads. It is resolved once, name by name from an open folder, so what is then opened or replaced is
//! what was found, even if others rename files meanwhile.

use std::ffi::{CString, OsString};
use std::iter::once;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::access_lists::has_list;

/// What a path names.
pub enum Destination {
    /// A descriptor of this process: a stream, whatever it refers to.
    Descriptor(i32),
    Name(Place),
}

impl Destination {
    /// An error for a descriptor.
    pub fn place(self) -> io::Result<Place> {
        match self {
            Self::Name(place) => Ok(place),
            Self::Descriptor(_) => Err(io::Error::other("not the name of a file")),
        }
    }
}

/// A name in an open folder. It was not a link when it was found.
#[derive(Clone)]
pub struct Place {
    /// The name in the open folder; the folder is not looked up again.
    pub path: PathBuf,
    /// The path from the current folder or the root, without links: to be shown, compared and found again.
    pub shown: PathBuf,
    /// Whether a symbolic link led there.
    pub is_link: bool,
    /// Open as long as the path is used.
    folder: Arc<OwnedFd>,
}

impl Place {
    /// The name with this extension added, in the same folder.
    pub fn beside(&self, extension: &str) -> Self {
        Self {
            path: self.path.with_added_extension(extension),
            shown: self.shown.with_added_extension(extension),
            is_link: false,
            folder: self.folder.clone(),
        }
    }

    /// Fails if another user may have given this name to what is there. `has_links` says that it has several names.
    pub fn check_given(&self, has_links: bool, what: &str) -> io::Result<()> {
        check_given(&self.folder, has_links, what)
    }
}

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::CLOEXEC;
const FOLDER: OFlags = LOOK.union(OFlags::DIRECTORY);

/// Where an output goes.
///
/// Another user's link, or one that another user has renamed, would choose which of our files is replaced. The kernel's
/// `protected_symlinks` refuses fewer.
///
/// # Errors
///
/// [`check_owner`], and [`Place::check_given`], for each link on the way.
pub fn find(path: &Path) -> io::Result<Destination> {
    let what = "symbolic link";
    walk(path, |folder, link| {
        check_owner(link.st_uid, what)
            .and_then(|()| check_given(folder, link.st_nlink > 1, what))
            .map_err(|error| io::Error::new(error.kind(), format!("{error} (name its target instead)")))
    })
}

/// The place of an input, whose links may be anyone's.
pub fn find_input(path: &Path) -> io::Result<Destination> {
    walk(path, |_, _| Ok(()))
}

/// Fails unless it belongs to this user or to root.
pub fn check_owner(owner: u32, what: &str) -> io::Result<()> {
    if is_ours(owner) {
        return Ok(());
    }
    Err(io::Error::other(format!("a {what} of another user")))
}

fn is_ours(owner: u32) -> bool {
    [geteuid().as_raw(), 0].contains(&owner)
}

/// Fails if another user may have given something in this folder its name: by renaming it or, if it has several names,
/// by adding this one, which `fs.protected_hardlinks` does not prevent everywhere.
fn check_given(folder: &OwnedFd, has_links: bool, what: &str) -> io::Result<()> {
    let found = fstat(folder)?;
    let mode = Mode::from_raw_mode(found.st_mode);
    let is_open = mode.contains(Mode::WOTH)
        || mode.contains(Mode::WGRP) && !(is_private(found.st_gid) && has_no_list(folder));
    if is_ours(found.st_uid) && !(is_open && (has_links || !mode.contains(Mode::SVTX))) {
        return Ok(());
    }
    let reason = format!("a {what} in a folder where other users may change names");
    Err(io::Error::other(reason))
}

/// Whether the mode alone says who may write: it shows only a part of an access control list.
fn has_no_list(folder: &OwnedFd) -> bool {
    let folder = openat(folder, ".", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    folder.is_ok_and(|folder| !has_list(&folder.into()))
}

/// Whether this is the private group that some systems give each user, and let write everywhere, as far as files tell.
fn is_private(group: u32) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (user, group) = (geteuid().as_raw().to_string(), group.to_string());
    has_only(&read("/etc/passwd"), &read("/etc/group"), &user, &group)
}

/// Whether a user whose group this is is its only member.
fn has_only(users: &str, groups: &str, user: &str, group: &str) -> bool {
    let (users, groups) = (entries(users), entries(groups));
    let is_own = |name: &str| {
        users
            .iter()
            .any(|[other, _, number, _]| *other == name && *number == user)
    };
    let mut in_it = users.iter().filter(|[.., of]| *of == group).peekable();
    let mut members = groups.iter().filter(|[_, _, number, _]| *number == group);
    in_it.peek().is_some()
        && in_it.all(|[_, _, number, _]| *number == user)
        && members.all(|[.., names]| names.split(',').all(|name| name.is_empty() || is_own(name)))
}

/// The fields of a line: name, password, number; then a user's group, or a group's other members.
fn entries(text: &str) -> Vec<[&str; 4]> {
    let entry = |line| {
        let mut fields = str::split(line, ':');
        Some([fields.next()?, fields.next()?, fields.next()?, fields.next()?])
    };
    text.lines().filter_map(entry).collect()
}

fn walk(path: &Path, check: impl Fn(&OwnedFd, &Stat) -> io::Result<()>) -> io::Result<Destination> {
    let start = if path.is_absolute() { "/" } else { "." };
    let mut folder = openat(CWD, start, FOLDER, Mode::empty())?;
    let mut shown = PathBuf::new();
    // The next one is the last.
    let mut rest = Vec::new();
    prepend(&mut rest, path);
    let (mut links, mut is_link) = (0, false);
    while let Some(name) = rest.pop() {
        let is_last = rest.is_empty();
        let left = once(&name).chain(rest.iter().rev());
        let whole: PathBuf = shown.iter().chain(left.map(|name| &**name)).collect();
        if let Some(number) = descriptor(&whole, is_last) {
            return Ok(Destination::Descriptor(number));
        }
        let mut flags = FOLDER | OFlags::NOFOLLOW;
        if ![Component::RootDir, Component::CurDir, Component::ParentDir]
            .iter()
            .any(|other| name == other.as_os_str())
        {
            match look(&folder, &name) {
                Ok((found, Some(target))) => {
                    check(&folder, &found)?;
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    is_link |= is_last;
                    if !is_in_proc(&folder)? {
                        prepend(&mut rest, Path::new(&OsString::from_vec(target.into_bytes())));
                        continue;
                    }
                    // Its content is not a path: only the system knows where it leads.
                    if is_last {
                        return Err(io::Error::other("not the name of a file"));
                    }
                    flags = FOLDER;
                }
                Err(error) if !is_last || error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ if is_last => {
                    return Ok(Destination::Name(Place {
                        path: behind(&folder, &shown).join(&name),
                        shown: shown.join(&name),
                        is_link,
                        folder: folder.into(),
                    }));
                }
                _ => {}
            }
        }
        folder = openat(&folder, &*name, flags, Mode::empty())?;
        shown.push(name);
    }
    Err(io::ErrorKind::IsADirectory.into())
}

/// Puts the names of a path before the rest; the last one is the next.
fn prepend(rest: &mut Vec<OsString>, path: &Path) {
    rest.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
}

/// What has this name, and the target if it is a symbolic link.
#[cfg(target_os = "linux")]
fn look(folder: &OwnedFd, name: &OsString) -> io::Result<(Stat, Option<CString>)> {
    // All about one link, even if another one gets its name.
    let found = openat(folder, &**name, LOOK | OFlags::NOFOLLOW, Mode::empty())?;
    let stat = fstat(&found)?;
    let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
    let target = is_link.then(|| readlinkat(&found, "", Vec::new())).transpose()?;
    Ok((stat, target))
}

#[cfg(not(target_os = "linux"))]
fn look(folder: &OwnedFd, name: &OsString) -> io::Result<(Stat, Option<CString>)> {
    use rustix::fs::{AtFlags, statat};
    let stat = statat(folder, &**name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
    let target = is_link
        .then(|| readlinkat(folder, &**name, Vec::new()))
        .transpose()?;
    Ok((stat, target))
}

#[cfg(target_os = "linux")]
fn is_in_proc(folder: impl AsFd) -> io::Result<bool> {
    use rustix::fs::{PROC_SUPER_MAGIC, fstatfs};
    Ok(fstatfs(folder)?.f_type == PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_in_proc(_: impl AsFd) -> io::Result<bool> {
    Ok(false)
}

/// A path that leads to an open folder while it is open; where the system has none, its path without links.
fn behind(folder: &OwnedFd, shown: &Path) -> PathBuf {
    use std::os::fd::AsRawFd;
    let open = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    if cfg!(target_os = "linux") && open.is_dir() {
        return open;
    }
    shown.to_owned()
}

/// Which descriptor of this process has this name, whether it is open or not. Without `/proc` the usual names lead
/// nowhere; others are recognised once their folder is found.
fn descriptor(path: &Path, is_found: bool) -> Option<i32> {
    let number = path.file_name()?.to_str()?.parse::<u32>().ok()?.try_into().ok()?;
    let folder = path.parent()?;
    let is_usual = ["/dev/fd", "/proc/self/fd"].map(Path::new).contains(&folder);
    (is_usual || is_found && is_of_descriptors(&Path::new(".").join(folder))).then_some(number)
}

/// Whether this folder has the descriptors of this process, or of one of its threads, which share them.
fn is_of_descriptors(folder: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(folder).is_some_and(|folder| {
        Some(&*folder) == real(Path::new("/dev/fd")).as_deref()
            || folder.ends_with("fd")
                && real(Path::new("/proc/self")).is_some_and(|own| folder.starts_with(own))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_user() {
        let users = "root:x:0:0:root:/root:/bin/sh\nann:x:7:7::/:\nbob:x:8:8::/:\nsue:x:9:100::/:\njoe:x:10:100::/:\n";
        for (groups, group, expected) in [
            ("ann:x:7:\n", "7", true),
            ("ann:x:7:ann\nall:x:70:ann,bob\n", "7", true),
            ("ann:x:7:ann,bob\n", "7", false),
            ("ann:x:7:\nalias:x:7:far\n", "7", false),
            // It is another user's, or its user is not in these files.
            ("bob:x:8:\n", "8", false),
            ("all:x:70:ann\n", "70", false),
        ] {
            assert_eq!(has_only(users, groups, "7", group), expected, "{groups}");
        }
        assert!(!has_only(users, "", "9", "100"));
        assert!(!has_only("", "", "7", "7"));
    }
}
