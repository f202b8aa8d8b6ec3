//! Block devices that have the data of a file or of another device: partitions, loop devices, and what the device mapper
//! makes. Linux tells in `/sys`; elsewhere a device is only the same as itself.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
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
    /// A file that is at least this long and has lost its name, but may have others; and the file system it is on, if known.
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

    /// What the system tells about a device.
    fn folder(self) -> Option<PathBuf> {
        let Self::Device(number) = self else { return None };
        fs::canonicalize(format!("/sys/dev/block/{}:{}", major(number), minor(number))).ok()
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

/// The number of the device with this folder.
fn number(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// The name of the file that the loop device with this folder has. The system says so if it is gone, as a name may do too.
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
pub fn files_below(found: &Metadata) -> Vec<PathBuf> {
    let folders = Place::of(found).all().into_iter().filter_map(Place::folder);
    folders.filter_map(|folder| backing_name(&folder)).collect()
}

/// Whether the system refuses to write to this device.
pub fn is_read_only(device: u64) -> bool {
    let name = format!("/sys/dev/block/{}:{}/ro", major(device), minor(device));
    fs::read(name).is_ok_and(|text| text.trim_ascii() == b"1")
}

/// Whether what is written to one may be read from the other. Partitions of one disk have different data.
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
        assert_eq!(below("sda"), []);
        assert_eq!(below("sda/sda1"), [(8, 0)]);
        assert_eq!(below("dm-0"), [(8, 1), (8, 16)]);
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
