//! What the process reads and writes, so that no output replaces or changes an input or another output.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::descriptors;
use crate::destination::{self, Destination};
use crate::device;
use crate::error::Error;
use crate::terminal_quoting::quoted;

/// Whether `path` stands for standard input or output.
pub fn is_stdio(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The folder that a name is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Something that is read or written, under any name. Block devices come last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    /// A name in a folder, which may not exist yet.
    Name(u64, u64, OsString),
    /// A file, folder or pipe.
    Node(u64, u64),
    BlockDevice(u64),
}

impl Thing {
    /// Nothing for terminals, similar devices and sockets, where one does not read what was written.
    fn of(found: &Metadata) -> Option<Self> {
        let kind = found.file_type();
        if kind.is_char_device() || kind.is_socket() {
            None
        } else if kind.is_block_device() {
            Some(Self::BlockDevice(found.rdev()))
        } else {
            Some(Self::Node(found.dev(), found.ino()))
        }
    }
}

/// The place together with what was found there, if that is no name.
struct Things(BTreeMap<Thing, Option<Metadata>>);

impl Things {
    const fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn of(found: &Metadata) -> Self {
        let thing = Thing::of(found).map(|thing| (thing, Some(found.clone())));
        Self(thing.into_iter().collect())
    }

    /// What is at a path, and its name.
    fn at(path: &Path) -> Self {
        let mut things = fs::metadata(path).map_or_else(|_| Self::new(), |found| Self::of(&found));
        if let (Ok(folder), Some(name)) = (fs::metadata(folder_of(path)), path.file_name()) {
            let name = Thing::Name(folder.dev(), folder.ino(), name.to_owned());
            things.0.insert(name, None);
        }
        things
    }

    fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Whether one of these is one of the others, or may have the same data.
    fn meet(&self, others: &Self) -> bool {
        others.0.iter().any(|(thing, found)| {
            // Only block devices share the data of something else.
            let first = match thing {
                Thing::BlockDevice(_) => Thing::Node(0, 0),
                _ => Thing::BlockDevice(0),
            };
            self.0.contains_key(thing)
                || self.0.range(first..).any(|(_, other)| {
                    matches!((found, other), (Some(found), Some(other)) if device::overlap(found, other))
                })
        })
    }
}

/// What an open stream is.
pub fn stream(stream: impl AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

/// What this process reads, is writing, or has written.
struct Used {
    read: Things,
    written: Things,
}

static USED: Mutex<Used> = Mutex::new(Used {
    read: Things::new(),
    written: Things::new(),
});

fn used() -> MutexGuard<'static, Used> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn both(name: &str) -> Error {
    Error::usage(name, "is both read and written")
}

fn twice(name: &str) -> Error {
    Error::usage(name, "would be written twice")
}

/// To be called before anything is opened. Fails if an output is an input, is in a folder that is read, or is another
/// output, or if a file or stream has several uses (a file may also be an input). From then on no output replaces or
/// changes what is read.
pub fn plan<P: AsRef<Path>>(uses: &[(&str, &[P])], outputs: &[PathBuf]) -> Result<(), Error> {
    let stdin = stream(io::stdin()).ok();
    let identity = |found: &Metadata| (found.dev(), found.ino());
    let mut others = BTreeMap::new();
    let mut read = Things::new();
    let mut folders = BTreeSet::new();
    for (use_, paths) in uses {
        for path in paths.iter().map(AsRef::as_ref) {
            let found = if is_stdio(path) {
                stdin.clone()
            } else {
                fs::metadata(path).ok()
            };
            if !is_stdio(path) {
                read.add(Things::at(path));
            }
            let Some(found) = found else { continue };
            read.add(Things::of(&found));
            let is_stdin = stdin.as_ref().map(identity) == Some(identity(&found));
            // All its names share its position in the file.
            let is_shared = descriptors::named(path).is_some();
            if found.is_dir() {
                folders.extend(Thing::of(&found));
            } else if let (other, was_shared) = *others.entry(identity(&found)).or_insert((*use_, is_shared))
                && other != *use_
                && (is_stdin
                    || is_shared && was_shared
                    || !found.is_file()
                    || ![other, use_].contains(&"input"))
            {
                let name = if is_stdin {
                    "standard input".into()
                } else {
                    quoted(path)
                };
                let reason = format_args!("cannot be both {other} and {use_}");
                return Err(Error::usage(&name, reason));
            }
        }
    }
    let mut used = used();
    used.read.add(read);
    let mut written = Things::new();
    for path in outputs {
        let (path, name) = if is_stdio(path) {
            (Path::new("/dev/stdout"), "standard output".into())
        } else {
            (path.as_path(), quoted(path))
        };
        // The link's target is written.
        let place = match destination::find(path) {
            Ok(Destination::Name(place)) => place.shown,
            // If the system knows a name.
            Ok(Destination::Descriptor(_)) => fs::canonicalize(path)
                .ok()
                .filter(|named| is_one(named, path))
                .unwrap_or_else(|| path.to_owned()),
            Err(_) => path.to_owned(),
        };
        let output = Things::at(&place);
        if used.read.meet(&output) {
            return Err(both(&name));
        }
        if written.meet(&output) {
            return Err(twice(&name));
        }
        written.add(output);
        // A folder is read without its pipes and devices.
        let is_special = fs::metadata(&place).is_ok_and(|found| !found.is_file());
        if !folders.is_empty() && !is_special && folders_above(&place).any(|folder| folders.contains(&folder))
        {
            return Err(Error::usage(&name, "is in a folder that is read"));
        }
    }
    Ok(())
}

fn is_one(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one) == identity(other)
}

/// The folder that a path is in, the one that this is in, and so on.
fn folders_above(path: &Path) -> impl Iterator<Item = Thing> {
    let mut folder = folder_of(path).to_owned();
    let mut last = None;
    std::iter::from_fn(move || {
        let found = fs::metadata(&folder).ok().and_then(|found| Thing::of(&found));
        folder.push("..");
        // The root is in itself.
        let found = found.filter(|found| last.as_ref() != Some(found))?;
        last = Some(found.clone());
        Some(found)
    })
}

/// Remembers a file that is read. Neither an existing output nor a later one may replace or change it.
pub fn keep(file: &File, name: &str) -> Result<(), Error> {
    let found = file.metadata().map_err(|error| Error::io(name, error))?;
    used().read.add(Things::of(&found));
    check_unwritten(&found, name)
}

/// Fails if an input is an output.
pub fn check_unwritten(found: &Metadata, name: &str) -> Result<(), Error> {
    if used().written.meet(&Things::of(found)) {
        return Err(both(name));
    }
    Ok(())
}

/// Remembers a finished output, which no later one replaces, even under an equivalent name, as where case does not
/// matter.
pub fn finished(path: &Path) {
    if !is_stdio(path)
        && let Ok(found) = fs::metadata(path)
    {
        used().written.add(Things::of(&found));
    }
}

/// Reserves what an output replaces or changes, until this is dropped.
#[derive(Default)]
pub struct Written {
    thing: Option<Thing>,
    is_kept: bool,
}

impl Written {
    /// Registers an output. Fails if it is an input or another output; with `is_kept` it may be written again, and is
    /// remembered.
    pub fn new(found: Option<&Metadata>, is_kept: bool, name: &str) -> Result<Self, Error> {
        let thing = found.and_then(Thing::of);
        let things = found.map_or(Things::new(), Things::of);
        let mut used = used();
        if used.read.meet(&things) {
            return Err(both(name));
        }
        if used.written.meet(&things) && !is_kept {
            return Err(twice(name));
        }
        used.written.add(things);
        Ok(Self { thing, is_kept })
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if let (Some(thing), false) = (&self.thing, self.is_kept) {
            used().written.0.remove(thing);
        }
    }
}

/// Whether what was found is this file.
pub fn is_same(file: &File, found: io::Result<Metadata>) -> bool {
    let identity = |found: io::Result<Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    let opened = identity(file.metadata());
    opened.is_some() && opened == identity(found)
}
