//! Block devices that are overwritten.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use zeroize::Zeroizing;

/// The beginning of the marker of an incomplete disk.
pub const MAGIC: &[u8; 9] = b"VPX-HALF\x01";
/// What follows it, before zeros, if the disk is being overwritten.
pub const OVERWRITTEN: u8 = 3;
/// Size in bytes of a marker: less than any sector.
pub const MARKER_LEN: usize = 50;

/// An error if this is a disk whose conversion in place is unfinished: nothing else can bring its data back.
pub fn check_whole(file: &File) -> io::Result<()> {
    let mut begin = [0; MAGIC.len() + 1];
    match file.read_exact_at(&mut begin, 0) {
        Ok(()) if begin.starts_with(MAGIC) && begin.last() != Some(&OVERWRITTEN) => Err(io::Error::other(
            "looks like a disk whose conversion in place is unfinished: finish that, or remove it first",
        )),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(()),
    }
}

/// A block device that is written from its beginning. Until that is done it has a marker, so that no header of a disk that was
/// there before opens what is left of it.
pub struct Overwritten {
    pub file: File,
    /// The bytes that belong in the marker's place.
    first: Zeroizing<[u8; MARKER_LEN]>,
    /// How many of these bytes are new. If none is, there is no marker.
    held: usize,
}

impl Overwritten {
    pub fn new(file: File) -> Self {
        Self {
            file,
            first: Zeroizing::new([0; MARKER_LEN]),
            held: 0,
        }
    }

    /// All is written.
    pub fn commit(self) -> io::Result<()> {
        if self.held > 0 {
            self.file.sync_all()?;
            self.file.write_all_at(&*self.first, 0)?;
        }
        self.file.sync_all()
    }

    /// Writes a marker, which is on the disk when this returns.
    fn begin(&mut self) -> io::Result<()> {
        self.file.read_exact_at(&mut *self.first, 0)?;
        let mut marker = [0; MARKER_LEN];
        marker[..MAGIC.len()].copy_from_slice(MAGIC);
        marker[MAGIC.len()] = OVERWRITTEN;
        self.file.write_all_at(&marker, 0)?;
        self.file.sync_all()
    }
}

impl Write for Overwritten {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held == MARKER_LEN {
            return self.file.write(bytes);
        }
        if self.held == 0 && !bytes.is_empty() {
            self.begin()?;
        }
        let n = bytes.len().min(MARKER_LEN - self.held);
        self.first[self.held..][..n].copy_from_slice(&bytes[..n]);
        self.held += n;
        self.file.seek(SeekFrom::Start(self.held as u64))?;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of the data appears only when everything is written.
    #[test]
    fn a_device_is_marked_until_it_is_written() {
        let mut file = tempfile::tempfile().unwrap();
        let old = vec![1; 300];
        let found = |file: &File| {
            let mut bytes = vec![0; old.len()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        for lens in [&[][..], &[10], &[7, 43], &[7, 43, 1], &[7, 60, 100], &[300]] {
            file.write_all_at(&old, 0).unwrap();
            file.rewind().unwrap();
            let mut device = Overwritten::new(file.try_clone().unwrap());
            for &len in lens {
                device.write_all(&vec![2; len]).unwrap();
                assert!(found(&file).starts_with(b"VPX-HALF\x01\x03\0"));
            }
            device.commit().unwrap();
            let len = lens.iter().sum();
            assert!(
                found(&file) == [&vec![2; len][..], &old[len..]].concat(),
                "{lens:?}"
            );
        }
    }
}
