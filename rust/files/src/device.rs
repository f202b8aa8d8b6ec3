//! Block devices with the data of a file or of another device: partitions, loop devices and those of the device mapper.
//! Linux shows them in `/sys`; elsewhere a device only equals itself.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, makedev, minor};

/// Where data are.
#[derive(Clone, Copy)]
enum Place {
    File {
        dev: u64,
        inode: u64,
        len: u64,
    },
    Device(u64),
    /// A file of at least this length that has lost this name, but may have others, and its file system, if known.
    Unknown {
        end: u64,
        on: Option<u64>,
    },
}

impl Place {
    fn of(found: &Metadata) -> Self {
        if found.file_type().is_block_device() {
            Self::Device(found.rdev())
        } else {
            Self::File {
                dev: found.dev(),
                inode: found.ino(),
                len: found.len(),
            }
        }
    }

    fn may_be(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::File { dev, inode, .. },
                Self::File {
                    dev: other_dev,
                    inode: other_inode,
                    ..
                },
            ) => (dev, inode) == (other_dev, other_inode),
            (Self::Device(one), Self::Device(other)) => one == other,
            (Self::Unknown { end, on }, Self::File { dev, len, .. })
            | (Self::File { dev, len, .. }, Self::Unknown { end, on }) => {
                len >= end && on.is_none_or(|on| on == dev)
            }
            (Self::Unknown { .. }, Self::Unknown { .. }) => true,
            (Self::Device(_), _) | (_, Self::Device(_)) => false,
        }
    }

    /// What the system says about a device.
    fn folder(self) -> Option<PathBuf> {
        let Self::Device(number) = self else { return None };
        fs::canonicalize(format!("/sys/dev/block/{}:{}", major(number), minor(number))).ok()
    }

    /// Its usual node.
    fn node(self) -> Option<PathBuf> {
        let Self::Device(number) = self else { return None };
        let text = fs::read_to_string(self.folder()?.join("uevent")).ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
        let node = Path::new("/dev").join(name);
        let is_it = |found: Metadata| found.file_type().is_block_device() && found.rdev() == number;
        fs::metadata(&node).is_ok_and(is_it).then_some(node)
    }

    /// It, and all that is below it.
    fn all(self) -> Vec<Self> {
        let mut all = vec![self];
        let mut next = 0;
        // A few; more would be a cycle.
        while let Some(&place) = all.get(next)
            && next < 100
        {
            next += 1;
            all.extend(place.folder().iter().flat_map(|folder| below(folder)));
        }
        all
    }
}

/// What is directly below the device with this folder.
fn below(folder: &Path) -> Vec<Place> {
    let slaves = fs::read_dir(folder.join("slaves"))
        .into_iter()
        .flatten()
        .flatten();
    let slaves = slaves.filter_map(|slave| number(&slave.path()));
    let disk = || number(folder.parent()?);
    let disk = folder.join("partition").exists().then(disk).flatten();
    let devices = slaves.chain(disk).map(Place::Device);
    devices.chain(backing(folder)).collect()
}

/// The partitions of the disk with this folder.
fn partitions(folder: &Path) -> Vec<Place> {
    let parts = fs::read_dir(folder).into_iter().flatten().flatten();
    let parts = parts
        .map(|part| part.path())
        .filter(|part| part.join("partition").exists());
    parts
        .filter_map(|part| number(&part))
        .map(Place::Device)
        .collect()
}

/// The number of the device with this folder.
fn number(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// The name of the file of the loop device with this folder. The system marks a removed file with a suffix that a real
/// name may have too.
fn backing_name(folder: &Path) -> Option<PathBuf> {
    let line = fs::read(folder.join("loop/backing_file")).ok()?;
    Some(OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(&line)).into())
}

/// That file.
fn backing(folder: &Path) -> Option<Place> {
    let name = backing_name(folder)?;
    if !name.as_os_str().as_bytes().ends_with(b" (deleted)")
        && let Ok(found) = fs::metadata(&name)
    {
        return Some(Place::of(&found));
    }
    let number = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let end = number("loop/offset").zip(number("size"));
    let on = name.parent().map(fs::metadata);
    Some(Place::Unknown {
        end: end.map_or(0, |(offset, sectors)| {
            offset.saturating_add(sectors.saturating_mul(512))
        }),
        on: on.and_then(Result::ok).map(|folder| folder.dev()),
    })
}

/// The names of the files below a device, as the system tells them.
///
/// # Errors
///
/// If one of them has lost its name, or has it in other places: then nobody can tell whether the file is in use.
pub fn files_below(found: &Metadata) -> io::Result<BTreeSet<PathBuf>> {
    files_of(Place::of(found).all().into_iter().filter_map(Place::folder))
}

/// Those of the loop devices among the devices with these folders.
fn files_of(folders: impl Iterator<Item = PathBuf>) -> io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for folder in folders {
        match backing(&folder) {
            Some(Place::File { .. }) => files.extend(backing_name(&folder)),
            Some(Place::Unknown { .. }) => {
                return Err(io::Error::other("the file of its loop device cannot be found"));
            }
            Some(Place::Device(_)) | None => {}
        }
    }
    Ok(files)
}

/// The devices below a device, and the partitions on it.
pub fn devices_around(found: &Metadata) -> Vec<PathBuf> {
    let own = Place::of(found);
    let partitions = own.folder().map_or(Vec::new(), |folder| partitions(&folder));
    let around = own.all().into_iter().skip(1).chain(partitions);
    around.filter_map(Place::node).collect()
}

/// Whether the system refuses to write to this device.
pub fn is_read_only(device: u64) -> bool {
    let name = format!("/sys/dev/block/{}:{}/ro", major(device), minor(device));
    fs::read(name).is_ok_and(|text| text.trim_ascii() == b"1")
}

/// Whether data written to one may be read from the other. Partitions of one disk have different data.
pub fn overlap(one: &Metadata, other: &Metadata) -> bool {
    let [ones, others] = [one, other].map(|found| Place::of(found).all());
    let may_be = |(i, one): (usize, &Place), (j, other): (usize, &Place)| {
        let is_shared_disk = matches!(one, Place::Device(_)) && i > 0 && j > 0;
        !is_shared_disk && one.may_be(*other)
    };
    ones.iter()
        .enumerate()
        .any(|one| others.iter().enumerate().any(|other| may_be(one, other)))
}

/// A loop device, other than this one, that has or may have the data of this file or device.
pub fn over(found: &Metadata) -> Option<PathBuf> {
    let places = Place::of(found).all();
    let is_any = |other: Place| places.iter().any(|place| place.may_be(other));
    let is_over = |folder: &Path| {
        backing(folder).is_some_and(is_any) && !number(folder).is_some_and(|it| is_any(Place::Device(it)))
    };
    let mut devices = fs::read_dir("/sys/block").ok()?.flatten();
    let device = devices.find(|device| is_over(&device.path()))?;
    Some(Path::new("/dev").join(device.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Partitions and mapped devices, as the system shows them.
    #[test]
    #[cfg(target_os = "linux")]
    fn devices_and_what_is_below_them() {
        let folder = tempfile::TempDir::new().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sda/dev", "8:0\n");
        write("sda/sda1/partition", "1\n");
        write("sda/sda1/dev", "8:1\n");
        write("sda/queue/dev", "no part");
        write("dm-0/slaves/sda1/dev", "8:1\n");
        write("dm-0/slaves/sdb/dev", "8:16\n");
        let below = |name: &str| {
            let mut found: Vec<_> = below(&folder.path().join(name))
                .into_iter()
                .map(|place| match place {
                    Place::Device(number) => (major(number), minor(number)),
                    Place::File { .. } | Place::Unknown { .. } => panic!("no loop device"),
                })
                .collect();
            found.sort_unstable();
            found
        };
        let parts = partitions(&folder.path().join("sda"));
        assert!(matches!(parts[..], [Place::Device(number)] if number == makedev(8, 1)));
        assert_eq!(below("sda"), []);
        assert_eq!(below("sda/sda1"), [(8, 0)]);
        assert_eq!(below("dm-0"), [(8, 1), (8, 16)]);
    }

    /// If a file is not found, nobody can tell whether it is in use.
    #[test]
    fn files_of_loop_devices() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("loop")).unwrap();
        fs::write(path("image"), "").unwrap();
        for (name, expected) in [
            (path("image"), Some(path("image"))),
            (path("image (deleted)"), None),
            (path("gone"), None),
        ] {
            fs::write(path("loop/backing_file"), format!("{}\n", name.display())).unwrap();
            let files = files_of([folder.path().into(), path("no device")].into_iter());
            assert_eq!(files.ok().and_then(|mut files| files.pop_first()), expected);
        }
    }

    /// A file without a name may be any that is long enough, on its file system.
    #[test]
    fn files_without_a_name() {
        let file = Place::File {
            dev: 1,
            inode: 2,
            len: 4096,
        };
        let unknown = |end, on| Place::Unknown { end, on };
        for (end, on, expected) in [
            (4096, None, true),
            (512, Some(1), true),
            (4097, None, false),
            (512, Some(2), false),
        ] {
            assert_eq!(unknown(end, on).may_be(file), expected);
            assert_eq!(file.may_be(unknown(end, on)), expected);
        }
        assert!(unknown(1, Some(1)).may_be(unknown(2, Some(2))));
        assert!(!unknown(0, None).may_be(Place::Device(7)));
    }
}
