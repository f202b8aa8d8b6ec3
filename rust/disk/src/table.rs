//! What Linux's dm-crypt needs to open an encrypted disk.

use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use veriplex::Key;
use veriplex_files::error::Error;
use veriplex_files::files::{self, Existing, Output, Readers};
use veriplex_files::terminal_quoting::quoted;
use zeroize::Zeroizing;

use super::copy::Opened;
use super::header::Geometry;
use super::image;

/// dm-crypt counts places and lengths in these.
const UNIT: u64 = 512;
/// The largest sector that dm-crypt takes.
const MAX_SECTOR_LEN: usize = 4096;

/// Prints the raw key of the sectors.
pub fn print_key(opened: &Opened) -> Result<(), Error> {
    check_no_terminal()?;
    print(key(opened).as_bytes())
}

fn check_no_terminal() -> Result<(), Error> {
    if files::stdout()?.is_terminal() {
        let reason = "a key is not written to a terminal";
        return Err(Error::usage("standard output", reason));
    }
    Ok(())
}

/// Prints the table from which `dmsetup create` maps a block device. It contains the key, unless that is in the
/// kernel's keyring under a description.
pub fn print_line(device: &Path, opened: &Opened, keyring: Option<&str>) -> Result<(), Error> {
    let name = quoted(device);
    if !image::is_device(device).map_err(|error| Error::io(&name, error))? {
        let reason = "not a block device: attach it to one (losetup), and name that and --header";
        return Err(Error::usage(&name, reason));
    }
    let reference = keyring.map(reference).transpose()?;
    if reference.is_none() {
        check_no_terminal()?;
    }
    let geometry = opened.sectors().geometry;
    check(&geometry).map_err(|reason| Error::usage(&opened.image.name, reason))?;
    print(&line(device, &geometry, key(opened), reference.as_deref()))
}

fn key(opened: &Opened) -> &Key {
    opened.sector_key().expect("opened with a header")
}

fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut output = Output::create(Path::new("-"), Existing::Refused, Readers::Owner)?;
    output
        .write_all(bytes)
        .map_err(|error| Error::write(&output.name, &error))?;
    output.commit()
}

/// How a table names a key in the kernel's keyring. dm-crypt allows no white space, and the kernel requires a prefix
/// with a colon.
fn reference(description: &str) -> Result<String, Error> {
    let is_right = description.find(':').is_some_and(|at| at > 0)
        && description
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if !is_right {
        let reason = "must be like veriplex:NAME, without white space";
        return Err(Error::usage("--keyring", reason));
    }
    Ok(format!(":{}:logon:{description}", Key::<32>::LEN))
}

/// Fails if dm-crypt cannot map such a disk.
fn check(geometry: &Geometry) -> Result<(), &'static str> {
    if geometry.sector_len > MAX_SECTOR_LEN {
        Err("dm-crypt takes sectors of at most 4096 bytes")
    } else if !geometry.offset.is_multiple_of(UNIT) {
        Err("dm-crypt takes offsets that are multiples of 512 bytes")
    } else {
        Ok(())
    }
}

fn line(device: &Path, geometry: &Geometry, key: &Key, reference: Option<&str>) -> Zeroizing<Vec<u8>> {
    let digits = Zeroizing::new(base16ct::lower::encode_string(key.as_bytes()));
    let before = format!("0 {} crypt xchacha12,aes-adiantum-plain64 ", geometry.len / UNIT);
    let mut path = Vec::new();
    for &byte in device.as_os_str().as_bytes() {
        if byte.is_ascii_whitespace() || byte == b'\\' {
            path.push(b'\\');
        }
        path.push(byte);
    }
    let options = match geometry.sector_len {
        512 => String::new(),
        len => format!(" 2 sector_size:{len} iv_large_sectors"),
    };
    let after = format!(" {}{options}\n", geometry.offset / UNIT);
    let parts = [
        before.as_bytes(),
        reference.unwrap_or(&digits).as_bytes(),
        b" 0 ",
        &path,
        after.as_bytes(),
    ];
    Zeroizing::new(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_dmsetup() {
        let key = Key::from([0xab; 32]);
        let of = |path: &str, geometry: Geometry, reference: Option<&str>| {
            assert!(check(&geometry).is_ok());
            String::from_utf8(line(Path::new(path), &geometry, &key, reference).to_vec()).unwrap()
        };
        let small = Geometry::new(512, 1536, 1024).unwrap();
        let hex = "ab".repeat(32);
        assert_eq!(
            of("/dev/a b\\", small, None),
            format!("0 2 crypt xchacha12,aes-adiantum-plain64 {hex} 0 /dev/a\\ b\\\\ 3\n")
        );
        let large = Geometry::new(4096, 0, 1 << 50).unwrap();
        let reference = reference("veriplex:disk:1").unwrap();
        assert_eq!(
            of("/dev/sdb", large, Some(&reference)),
            "0 2199023255552 crypt xchacha12,aes-adiantum-plain64 :32:logon:veriplex:disk:1 0 /dev/sdb 0 2 \
             sector_size:4096 iv_large_sectors\n"
        );
    }

    #[test]
    fn what_the_kernel_does_not_take() {
        for (sector_len, offset) in [(8192, 0), (65536, 512), (512, 1), (4096, 513)] {
            let geometry = Geometry::new(sector_len, offset, 1 << 20).unwrap();
            assert!(check(&geometry).is_err(), "{sector_len} {offset}");
        }
        for description in ["", "disk", ":disk", "veriplex:a b", "veriplex:\n", "veriplex:\\"] {
            assert!(reference(description).is_err(), "{description}");
        }
    }
}
