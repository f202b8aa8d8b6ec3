//! Where a path leads: found once, a name at a time from a folder that is open. What is replaced or opened then is what was
//! found, whoever changes names meanwhile.

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
    /// A descriptor of this process: a stream, whatever it is open to.
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

/// A name in an open folder. It is no link, unless it became one since.
#[derive(Clone)]
pub struct Place {
    /// The name behind the open folder: it is not looked up again.
    pub path: PathBuf,
    /// The same from the current folder or the root, without links: to be shown, compared and found again.
    pub shown: PathBuf,
    /// Whether a symbolic link had led there.
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

    /// An error if another user may have given this name to what is there; `has_links`: it has several names.
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
/// A link of another user would choose which of our files is replaced, as would one that another user has given its name. The
/// kernel's `protected_symlinks` refuses fewer.
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

/// Where an input is, whose links may be anybody's.
pub fn find_input(path: &Path) -> io::Result<Destination> {
    walk(path, |_, _| Ok(()))
}

/// An error unless something belongs to this user or to root.
pub fn check_owner(owner: u32, what: &str) -> io::Result<()> {
    if is_ours(owner) {
        return Ok(());
    }
    Err(io::Error::other(format!("a {what} of another user")))
}

fn is_ours(owner: u32) -> bool {
    [geteuid().as_raw(), 0].contains(&owner)
}

/// An error if another user may have given its name to something in this folder: by renaming it, or, if it has several names,
/// by making this one, which `fs.protected_hardlinks` does not forbid everywhere.
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

/// Whether the mode says who may write: of an access control list it has a part only.
fn has_no_list(folder: &OwnedFd) -> bool {
    let folder = openat(folder, ".", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    folder.is_ok_and(|folder| !has_list(&folder.into()))
}

/// Whether this is the private group that some systems give each user, and let write everywhere: as far as files tell.
fn is_private(group: u32) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let (user, group) = (geteuid().as_raw().to_string(), group.to_string());
    has_only(&read("/etc/passwd"), &read("/etc/group"), &user, &group)
}

/// Whether a user, whose group it is, is the only one in it.
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

/// Of each line: name, password, number, and of a user the number of the group, of a group its other members.
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
                    // What it holds is no name: only the system knows where it leads.
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

/// The names of a path come before the rest, of which the last one is the next.
fn prepend(rest: &mut Vec<OsString>, path: &Path) {
    rest.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
}

/// What has this name, and what it holds if it is a symbolic link.
#[cfg(target_os = "linux")]
fn look(folder: &OwnedFd, name: &OsString) -> io::Result<(Stat, Option<CString>)> {
    // Of one link, even if another one gets its name.
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

/// A name of an open folder as long as it is open; where the system has none, the one without links.
fn behind(folder: &OwnedFd, shown: &Path) -> PathBuf {
    use std::os::fd::AsRawFd;
    let open = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    if cfg!(target_os = "linux") && open.is_dir() {
        return open;
    }
    shown.to_owned()
}

/// Which descriptor of this process has this name, whether it is open or not. The usual names lead nowhere without `/proc`;
/// others are known once their folder is found.
fn descriptor(path: &Path, is_found: bool) -> Option<i32> {
    let number = path.file_name()?.to_str()?.parse::<u32>().ok()?.try_into().ok()?;
    let folder = path.parent()?;
    let is_usual = ["/dev/fd", "/proc/self/fd"].map(Path::new).contains(&folder);
    (is_usual || is_found && is_of_descriptors(&Path::new(".").join(folder))).then_some(number)
}

/// Whether this folder has the descriptors of this process; of its threads, which have the same, it may be.
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
            // It is another user's, or of a user that these files do not have.
            ("bob:x:8:\n", "8", false),
            ("all:x:70:ann\n", "70", false),
        ] {
            assert_eq!(has_only(users, groups, "7", group), expected, "{groups}");
        }
        assert!(!has_only(users, "", "9", "100"));
        assert!(!has_only("", "", "7", "7"));
    }
}
