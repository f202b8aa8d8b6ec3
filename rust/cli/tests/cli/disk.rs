//! The commands of `disk`.

use rustix::process::{Pid, Signal, kill_process};
use veriplex::adiantum::{Adiantum, WideBlockCipher};

use super::*;

const HEADER: usize = 223;
/// The bytes before the salt.
const HEAD: usize = 30;

/// The header of an encrypted image, and the key of its sectors, computed as the page of the program says. What is random
/// comes from the header that was found.
fn header(key: &[u8; 32], head: &[u8], found: &[u8], encrypted: &[u8]) -> (Vec<u8>, [u8; 32]) {
    let (salt, state) = (&found[HEAD..][..32], &found[HEAD + 32..][..17]);
    let mut protocol = Protocol::new(label!("veriplex.disk.v1"));
    protocol.mix(label!("header"), head);
    protocol.mix(label!("key"), key);
    protocol.mix(label!("nonce"), salt);
    let sectors = protocol.derive_array(label!("sectors"));
    let tags: [u8; 32] = protocol.derive_array(label!("tags"));
    let sector_len = usize::try_from(u32::from_le_bytes(head[10..14].try_into().unwrap())).unwrap();
    let count = encrypted.len() / sector_len;
    let mut known = Vec::new();
    for number in (0..16).map(|i| i * count / 16) {
        let mut mac = Mac::new(label!("veriplex.disk.sector.v1"), &Key::from(tags));
        mac.update(&(number as u64).to_le_bytes());
        mac.update(&encrypted[number * sector_len..][..sector_len]);
        known.extend_from_slice(&mac.finalize().as_bytes()[..8]);
    }
    assert_eq!(state[0], 0);
    protocol.mix(label!("state"), state);
    let sealed = protocol.seal_vec(label!("image"), &known);
    ([head, salt, state, &sealed].concat(), sectors)
}

fn head(version: u8, cost: u8, sector_len: u32, offset: u64, len: u64) -> Vec<u8> {
    [
        b"VPX-DISK".as_slice(),
        &[version, cost],
        &sector_len.to_le_bytes(),
        &offset.to_le_bytes(),
        &len.to_le_bytes(),
    ]
    .concat()
}

/// Sectors one by one.
fn encrypted_sectors(key: &[u8; 32], sector_len: usize, plain: &[u8]) -> Vec<u8> {
    let cipher = Adiantum::<12>::new(key);
    let mut sectors = plain.to_vec();
    for (number, sector) in (0_u64..).zip(sectors.chunks_mut(sector_len)) {
        let mut tweak = [0; 32];
        tweak[..8].copy_from_slice(&number.to_le_bytes());
        cipher.encrypt_in_place(&tweak, sector).unwrap();
    }
    sectors
}

const ENCRYPT: [&str; 4] = ["disk", "encrypt", "--key-file", "key"];
const DECRYPT: [&str; 4] = ["disk", "decrypt", "--key-file", "key"];
const SERVE: [&str; 4] = ["disk", "serve", "--key-file", "key"];

fn run(folder: &Folder, command: [&str; 4], more: &[&str]) -> Output {
    folder.run(&[&command, more].concat())
}

#[test]
fn format_is_as_documented() {
    let folder = Folder::new();
    let plain = noise(5 << 20);
    folder.write_private("image", &plain);
    succeeds(&run(&folder, ENCRYPT, &["image"]));
    assert_eq!(folder.names(), ["image", "image.vpdisk", "image.vpdisk.vphead"]);
    let found = folder.read("image.vpdisk.vphead");
    let encrypted = folder.read("image.vpdisk");
    let (expected, sectors) = header(&KEY, &head(1, 0, 4096, 0, 5 << 20), &found, &encrypted);
    assert_eq!((found.len(), &found), (HEADER, &expected));
    assert!(encrypted == encrypted_sectors(&sectors, 4096, &plain));

    // Each image has keys of its own.
    succeeds(&run(&folder, ENCRYPT, &["image", "-o", "other"]));
    assert_ne!(folder.read("other.vphead"), found);

    succeeds(&run(&folder, DECRYPT, &["image.vpdisk", "-o", "back"]));
    assert!(folder.read("back") == plain);
    fails(
        &run(&folder, DECRYPT, &["image.vpdisk"]),
        IO,
        "image",
        "already exists",
    );
    folder.write("other.vphead", &found);
    let wrong = run(&folder, DECRYPT, &["other", "-o", "noise"]);
    fails(&wrong, UNVERIFIED, "other", "belongs to another image");
    // Which is said all the same, if somebody wants that.
    succeeds(&run(&folder, DECRYPT, &["--no-check", "other", "-o", "noise"]));
    assert!(folder.read("noise") != plain);
}

#[test]
fn with_a_password() {
    let folder = Folder::new();
    folder.write("password", b"secret\n");
    folder.write("wrong", b"guess\n");
    let plain = noise(3 * 512);
    folder.write_private("image", &plain);
    let encrypt = [
        "disk",
        "encrypt",
        "--password-file",
        "password",
        "--cost",
        "3",
        "--sector-size",
        "512",
    ];
    succeeds_at_low_cost(&folder.run(&[&encrypt[..], &["image"]].concat()));
    let found = folder.read("image.vpdisk.vphead");
    let mhf = Mhf::with_any_cost(label!("veriplex.disk.password.v1"), 3).unwrap();
    let mut key = [0; 32];
    mhf.hash_into(b"secret", &found[HEAD..][..32], &mut key).unwrap();
    let encrypted = folder.read("image.vpdisk");
    let (expected, sectors) = header(&key, &head(2, 3, 512, 0, 3 * 512), &found, &encrypted);
    assert_eq!(found, expected);
    assert_eq!(encrypted, encrypted_sectors(&sectors, 512, &plain));

    let decrypt = |password: &str, more: &[&str]| {
        let args = ["disk", "decrypt", "--password-file", password, "image.vpdisk"];
        folder.run(&[&args, more].concat())
    };
    let name = "image.vpdisk.vphead";
    fails(
        &decrypt("wrong", &["-o", "back"]),
        UNVERIFIED,
        name,
        "wrong password",
    );
    let limited = decrypt("password", &["-o", "back", "--max-cost", "2"]);
    fails(&limited, UNVERIFIED, name, "above the limit");
    fails(
        &run(&folder, DECRYPT, &["image.vpdisk", "-o", "back"]),
        UNVERIFIED,
        name,
        "with a password",
    );
    assert_eq!(folder.names().len(), 5);
    succeeds(&decrypt("password", &["-o", "back"]));
    assert_eq!(folder.read("back"), plain);

    // In place, as a file and as standard input.
    let encrypt = [
        "disk",
        "encrypt",
        "--password-file",
        "-",
        "--cost",
        "3",
        "--in-place",
        "image",
    ];
    let output = folder.pipe(&encrypt, b"secret");
    fails_with(&output, USAGE, &["cost 3", "not a multiple of the sector size"]);
    let encrypt = [&encrypt[..], &["--sector-size", "512"]].concat();
    let decrypt = ["disk", "decrypt", "--in-place", "image", "--password-file"];
    succeeds_at_low_cost(&folder.pipe(&encrypt, b"secret"));
    let wrong = folder.run(&[&decrypt[..], &["wrong"]].concat());
    fails(&wrong, UNVERIFIED, "image.vphead", "wrong password");
    succeeds(&folder.run(&[&decrypt[..], &["password"]].concat()));
    assert_eq!(folder.read("image"), plain);
}

#[test]
fn a_part_of_an_image() {
    let folder = Folder::new();
    let plain = noise(20_000);
    folder.write_private("image", &plain);
    let part = ["--offset", "1000", "--length", "8192", "--sector-size", "1024"];
    succeeds(&run(&folder, ENCRYPT, &[&part[..], &["image"]].concat()));
    let found = folder.read("image.vpdisk");
    assert_eq!((&found[..1000], &found[9192..]), (&plain[..1000], &plain[9192..]));
    let header_found = folder.read("image.vpdisk.vphead");
    let encrypted = &found[1000..9192];
    let (expected, sectors) = header(&KEY, &head(1, 0, 1024, 1000, 8192), &header_found, encrypted);
    assert_eq!(header_found, expected);
    assert_eq!(
        found[1000..9192],
        encrypted_sectors(&sectors, 1024, &plain[1000..9192])
    );

    // Any bytes of the plaintext.
    for (offset, len) in [
        (0, 20_000),
        (999, 2),
        (1500, 1),
        (1024, 4000),
        (9191, 2),
        (9192, 20_000),
        (20_000, 1),
    ] {
        let wanted = &plain[offset..plain.len().min(offset + len)];
        let [offset, len] = [offset, len].map(|n| n.to_string());
        let output = run(
            &folder,
            DECRYPT,
            &["--offset", &offset, "-l", &len, "-o", "-", "image.vpdisk"],
        );
        succeeds(&output);
        assert!(output.stdout == wanted, "{offset} {len}");
    }
    let beyond = run(
        &folder,
        DECRYPT,
        &["--offset", "20001", "-o", "-", "image.vpdisk"],
    );
    fails(&beyond, USAGE, "image.vpdisk", "offset 20001 is beyond");

    // The same in place, where the header says what is to be decrypted.
    succeeds(&run(
        &folder,
        ENCRYPT,
        &[&part[..], &["--in-place", "image"]].concat(),
    ));
    let found = folder.read("image");
    assert!(found[1000..9192] != plain[1000..9192]);
    assert_eq!((&found[..1000], &found[9192..]), (&plain[..1000], &plain[9192..]));
    succeeds(&run(&folder, DECRYPT, &["--in-place", "image"]));
    assert_eq!(folder.read("image"), plain);

    for (wrong, reason) in [
        (&["--offset", "20001"][..], "fewer than"),
        (&["--offset", "10000", "--length", "10001"], "fewer than"),
        (&["--length", "1000"], "not a multiple of the sector size"),
        (&["--offset", "20000"], "nothing to encrypt"),
    ] {
        for more in [&["--in-place"][..], &[]] {
            let output = run(&folder, ENCRYPT, &[wrong, more, &["image"]].concat());
            fails(&output, USAGE, "image", reason);
        }
    }
    for wrong in ["0", "100", "1000", "131072"] {
        let output = run(&folder, ENCRYPT, &["--sector-size", wrong, "image"]);
        assert_eq!(output.status.code(), Some(USAGE), "{wrong}");
    }
    assert_eq!(folder.names().len(), 4);
}

#[test]
fn nothing_is_changed_in_place_unasked() {
    let folder = Folder::new();
    let plain = noise(1 << 16);
    folder.write_private("image", &plain);
    // Not even by --force, nor by another name.
    std::os::unix::fs::symlink("image", folder.path("link")).unwrap();
    for output in [
        &["-o", "image"][..],
        &["-o", "image", "--force"],
        &["-o", "link", "--force"],
    ] {
        let found = run(&folder, ENCRYPT, &[output, &["image"]].concat());
        fails(&found, USAGE, output[1], "use --in-place");
    }
    fs::remove_file(folder.path("link")).unwrap();
    for wrong in [&["--in-place", "-o", "x"][..], &["--in-place", "--force"]] {
        let output = run(&folder, ENCRYPT, &[wrong, &["image"]].concat());
        assert_eq!(output.status.code(), Some(USAGE));
    }
    assert!(folder.read("image") == plain);
    succeeds(&run(&folder, ENCRYPT, &["--in-place", "image"]));
    let encrypted = folder.read("image");
    assert_eq!(folder.names(), ["image", "image.vphead"]);
    // Twice would be once too many.
    let output = run(&folder, ENCRYPT, &["--in-place", "image"]);
    fails(&output, IO, "image.vphead", "appears to be encrypted");
    folder.write("other", &key_line(&[1; 32]).into_bytes());
    let output = folder.run(&["disk", "decrypt", "--key-file", "other", "--in-place", "image"]);
    fails(&output, UNVERIFIED, "image.vphead", "wrong key");
    fs::rename(folder.path("image.vphead"), folder.path("elsewhere")).unwrap();
    let output = run(&folder, DECRYPT, &["--in-place", "image"]);
    fails(&output, IO, "image.vphead", "nothing can be decrypted without it");
    fails(
        &run(&folder, DECRYPT, &["image", "-o", "x"]),
        IO,
        "image.vphead",
        "nothing can be decrypted",
    );
    // A header that is not this image's, or damaged.
    let header = folder.read("elsewhere");
    for (damaged, reason) in [
        (&header[..HEADER - 1], "too short"),
        (&[&header[..], b"x"].concat(), "unexpected data after"),
        (&[b"x", &header[1..]].concat(), "does not begin with VPX-DISK"),
        (&[&header[..8], &[3], &header[9..]].concat(), "another version"),
        (
            &[&header[..HEADER - 1], &[header[HEADER - 1] ^ 1]].concat(),
            "wrong key, or damaged header",
        ),
    ] {
        folder.write("damaged", damaged);
        let output = run(&folder, DECRYPT, &["--header", "damaged", "image", "-o", "x"]);
        fails(&output, UNVERIFIED, "damaged", reason);
    }
    // Locked by whoever else works on it.
    let file = File::open(folder.path("image")).unwrap();
    file.lock().unwrap();
    let decrypt = ["--in-place", "--header", "elsewhere", "image"];
    fails(&run(&folder, DECRYPT, &decrypt), IO, "image", "in use");
    drop(file);
    assert!(folder.read("image") == encrypted);
    folder.write_private("short", &encrypted[1..]);
    let output = run(
        &folder,
        DECRYPT,
        &["--in-place", "--header", "elsewhere", "short"],
    );
    fails(&output, UNVERIFIED, "short", "shorter than its header says");
    let output = run(&folder, DECRYPT, &["--header", "elsewhere", "short", "-o", "x"]);
    fails(&output, UNVERIFIED, "short", "its header requires at least 65536");
    succeeds(&run(&folder, DECRYPT, &decrypt));
    assert!(folder.read("image") == plain);
    assert_eq!(
        folder.names(),
        ["damaged", "elsewhere.old", "image", "other", "short"]
    );
}

#[test]
fn what_is_no_image() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    fails(
        &run(&folder, ENCRYPT, &["-", "-o", "x"]),
        USAGE,
        "-",
        "cannot be an image",
    );
    fails(
        &run(&folder, ENCRYPT, &["folder", "-o", "x"]),
        IO,
        "folder",
        "neither a file nor",
    );
    fails(
        &run(&folder, ENCRYPT, &["/dev/null", "-o", "x"]),
        IO,
        "/dev/null",
        "neither a file nor",
    );
    fails(
        &run(&folder, ENCRYPT, &["missing"]),
        IO,
        "missing",
        "No such file",
    );
    folder.write("empty", b"");
    fails(
        &run(&folder, ENCRYPT, &["empty"]),
        USAGE,
        "empty",
        "nothing to encrypt",
    );
    // The header of a pipe cannot be beside it.
    folder.write("image", &noise(4096));
    fails(
        &run(&folder, ENCRYPT, &["image", "-o", "-"]),
        USAGE,
        "-",
        "name its header",
    );
    let output = run(&folder, ENCRYPT, &["image", "-o", "-", "--header", "header"]);
    succeeds(&output);
    folder.write("encrypted", &output.stdout);
    let output = run(&folder, DECRYPT, &["encrypted", "-o", "-", "--header", "header"]);
    succeeds(&output);
    assert!(output.stdout == folder.read("image"));
    fails(
        &run(&folder, DECRYPT, &["image", "--header", "header"]),
        USAGE,
        "image",
        ".vpdisk",
    );
    // A header is replaced only with its image.
    fails(
        &run(&folder, ENCRYPT, &["image", "-o", "new", "--header", "header"]),
        IO,
        "header",
        "already exists",
    );
    let old = folder.read("header");
    succeeds(&run(
        &folder,
        ENCRYPT,
        &["image", "-f", "-o", "new", "--header", "header"],
    ));
    assert_ne!(folder.read("header"), old);
    assert_eq!(
        folder.names(),
        ["empty", "encrypted", "folder", "header", "image", "new"]
    );
}

/// The program is killed again and again, and goes on each time.
#[test]
fn killed_in_place() {
    let folder = Folder::new();
    let plain = noise(6 << 20).repeat(8);
    folder.write_private("image", &plain);
    let journal = folder.path("image.vphead.journal");
    let mut pause = Duration::from_millis(2);
    for command in [ENCRYPT, DECRYPT] {
        let mut kills = 0;
        let status = loop {
            let args = [&command[..], &["--in-place", "image"]].concat();
            let mut child = folder.command(&args).spawn().unwrap();
            // Not before it has begun, and later each time, so that it ends.
            while !journal.exists() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(pause);
            pause = pause * 3 / 2;
            let _ = kill_process(Pid::from_child(&child), Signal::KILL);
            match child.wait().unwrap().code() {
                Some(status) => break status,
                None => kills += 1,
            }
            if journal.exists() {
                // Meanwhile it is neither the one nor the other.
                // Unless it was killed before the first batch, or after the last one.
                let is_half = folder.read("image").starts_with(b"VPX-HALF");
                let output = run(&folder, DECRYPT, &["image", "-o", "x"]);
                if is_half {
                    fails(&output, USAGE, "image", "finish it with");
                } else if output.status.success() {
                    assert!(folder.read("x") == plain);
                    fs::remove_file(folder.path("x")).unwrap();
                }
            }
        };
        // If the last kill came after all was done, there is nothing to do.
        assert!(status == 0 || status == IO, "{status}");
        assert!(!journal.exists());
        println!("{}: {kills} kills", command[1]);
        if command == ENCRYPT {
            let header = folder.read("image.vphead");
            let encrypted = folder.read("image");
            let (expected, sectors) = self::header(&KEY, &head(1, 0, 4096, 0, 48 << 20), &header, &encrypted);
            assert_eq!(header, expected);
            assert!(encrypted == encrypted_sectors(&sectors, 4096, &plain));
            assert!(kills > 0, "nothing was killed");
            pause = Duration::from_millis(2);
        }
    }
    assert!(folder.read("image") == plain);
    assert_eq!(folder.names(), ["image", "image.vphead.old"]);
}

/// A loop device, which only root can make.
pub struct Loop(pub String);

impl Loop {
    pub fn new(folder: &Folder, image: &str) -> Option<Self> {
        let mut losetup = Command::new("losetup");
        let output = losetup
            .args(["--find", "--show"])
            .arg(folder.path(image))
            .output();
        let name = match output {
            Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
            // Not a matter of tools: root in a container has none.
            other => {
                println!("skipped: no loop device: {other:?}");
                return None;
            }
        };
        Some(Self(name.trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
        // Others may look at it just now. If its file went before it, it might be the file of another test.
        let backing = format!(
            "/sys/block/{}/loop/backing_file",
            self.0.trim_start_matches("/dev/")
        );
        for _ in 0..1000 {
            if fs::metadata(&backing).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn block_devices() {
    let folder = Folder::new();
    let plain = noise(1 << 20);
    folder.write_private("image", &plain);
    folder.write("target", &vec![0; 1 << 20]);
    let Some(device) = Loop::new(&folder, "image") else {
        return;
    };
    let Some(target) = Loop::new(&folder, "target") else {
        return;
    };
    let (name, other) = (device.0.as_str(), target.0.as_str());
    // A header in the folder of devices would be gone after the next start.
    let output = run(&folder, ENCRYPT, &["--in-place", name]);
    fails(&output, USAGE, name, "name its header");
    succeeds(&run(
        &folder,
        ENCRYPT,
        &["--in-place", "--header", "header", name],
    ));
    let encrypted = folder.read("image");
    assert!(encrypted != plain);
    succeeds(&run(
        &folder,
        DECRYPT,
        &["--header", "header", name, "-o", "back"],
    ));
    assert!(folder.read("back") == plain);
    let same = ["--header", "header", name, "-o", name, "--force"];
    fails(&run(&folder, DECRYPT, &same), USAGE, name, "use --in-place");
    // To another device, and only if that was asked for.
    let copy = ["--header", "header", name, "-o", other];
    fails(&run(&folder, DECRYPT, &copy), IO, other, "--force writes to it");
    assert!(folder.read("target") == vec![0; 1 << 20]);
    succeeds(&run(&folder, DECRYPT, &[&copy[..], &["--force"]].concat()));
    assert!(folder.read("target") == plain);
    succeeds(&run(
        &folder,
        DECRYPT,
        &["--in-place", "--header", "header", name],
    ));
    assert!(folder.read("image") == plain);
    assert_eq!(folder.names(), ["back", "header.old", "image", "target"]);
}

/// Nothing is made beside a device that cannot be converted; and what is written to a loop device is not read from its file.
#[test]
#[cfg(target_os = "linux")]
fn loop_devices_and_their_files() {
    let folder = Folder::new();
    folder.write_private("image", &noise(1 << 20));
    let Some(device) = Loop::new(&folder, "image") else {
        return;
    };
    let output = run(&folder, ENCRYPT, &["-o", "out", "image"]);
    fails(&output, IO, "image", "loop device");
    let set = Command::new("blockdev").args(["--setro", &device.0]).status();
    if set.is_ok_and(|status| status.success()) {
        let before = folder.names();
        let output = run(&folder, ENCRYPT, &["--in-place", "--header", "header", &device.0]);
        fails(&output, IO, &device.0, "read-only");
        assert_eq!(folder.names(), before);
        // It would stay so for who has it next.
        let _ = Command::new("blockdev").args(["--setrw", &device.0]).status();
    }
}

/// A device is what is below it.
#[test]
#[cfg(target_os = "linux")]
fn a_device_over_its_own_input() {
    let folder = Folder::new();
    folder.write_private("image", &noise(1 << 20));
    let Some(lower) = Loop::new(&folder, "image") else {
        return;
    };
    let upper = Loop::new(&folder, &lower.0).unwrap();
    for (input, output) in [
        ("image", &*lower.0),
        ("image", &upper.0),
        (&lower.0, &upper.0),
        (&upper.0, &lower.0),
    ] {
        let before = folder.read("image");
        let copy = ["--force", "--header", "header", input, "-o", output];
        fails(&run(&folder, ENCRYPT, &copy), USAGE, output, "is also the input");
        fails(&run(&folder, DECRYPT, &copy), USAGE, output, "is also the input");
        assert!(folder.read("image") == before);
    }
    // The lower one is in use.
    let in_place = ["--in-place", "--header", "header", &lower.0];
    fails(&run(&folder, ENCRYPT, &in_place), IO, &lower.0, "loop device");
    // And locked, for what is above it.
    let locked = File::open(&lower.0).unwrap();
    locked.lock().unwrap();
    let in_place = ["--in-place", "--header", "header", &upper.0];
    fails(
        &run(&folder, ENCRYPT, &in_place),
        IO,
        &upper.0,
        "in use by another process",
    );
}

/// Neither one that another program has for itself, as a mount does, nor one of two over the same file.
#[test]
#[cfg(target_os = "linux")]
fn devices_in_use() {
    use std::os::unix::fs::OpenOptionsExt;
    let folder = Folder::new();
    folder.write_private("image", &noise(1 << 20));
    let Some(device) = Loop::new(&folder, "image") else {
        return;
    };
    let name = device.0.as_str();
    let header = ["--header", "header", name];
    succeeds(&run(&folder, ENCRYPT, &[&["--in-place"], &header[..]].concat()));
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(rustix::fs::OFlags::EXCL.bits().cast_signed());
    folder.write_private("small", &noise(8192));
    let exclusive = options.open(name).unwrap();
    for (command, more) in [
        (ENCRYPT, &["-o", "x", "--header", "y", name][..]),
        (DECRYPT, &[&["-o", "x"], &header[..]].concat()),
        (
            SERVE,
            &[&["--read-only", "--socket", "socket"], &header[..]].concat(),
        ),
    ] {
        fails(&run(&folder, command, more), IO, name, "busy");
    }
    // Also for the kernel, which maps the disk as soon as it has the key.
    for command in [&["disk", "info"][..], &["disk", "key", "--key-file", "key"]] {
        succeeds(&folder.run(&[command, &header[..]].concat()));
    }
    drop(exclusive);
    let used = File::open(folder.path("image")).unwrap();
    used.lock().unwrap();
    for (command, more) in [
        (DECRYPT, &[&["--in-place"], &header[..]].concat()[..]),
        (SERVE, &[&["--socket", "socket"], &header[..]].concat()),
        (ENCRYPT, &["--force", "--header", "y", "small", "-o", name]),
    ] {
        fails(
            &run(&folder, command, more),
            IO,
            name,
            "in use by another process",
        );
    }
    drop(used);
    // The file's lock is kept: a program that respects locks does not take it later.
    let served = [
        &["disk", "serve", "--key-file", "key", "--socket", "socket"],
        &header[..],
    ]
    .concat();
    let mut server = folder.command(&served).stdout(Stdio::piped()).spawn().unwrap();
    let mut uri = [0; 3];
    server.stdout.take().unwrap().read_exact(&mut uri).unwrap();
    assert!(
        File::open(folder.path("image"))
            .unwrap()
            .try_lock_shared()
            .is_err()
    );
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    let other = Loop::new(&folder, "image").unwrap();
    let in_place = ["--in-place", "--header", "header", name];
    fails(&run(&folder, DECRYPT, &in_place), IO, name, "loop device");
    let copy = ["--force", "--header", "y", "small", "-o", name];
    fails(&run(&folder, ENCRYPT, &copy), IO, name, "loop device");
    drop(other);
    succeeds(&run(&folder, DECRYPT, &in_place));
}

/// Not even in a line.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_no_key_of_sectors() {
    let folder = Folder::new();
    folder.write_private("image", &noise(1 << 20));
    let Some(device) = Loop::new(&folder, "image") else {
        return;
    };
    let opening = ["--key-file", "key", "--header", "header", device.0.as_str()];
    let of = |words: &[&str]| folder.command(&[&["disk"], words, &opening].concat());
    succeeds(&of(&["encrypt", "--in-place"]).output().unwrap());
    for command in ["key", "table"] {
        let shown = hardening::on_a_terminal(&mut of(&[command]));
        assert!(shown.contains("is not written to a terminal"), "{shown}");
    }
    let shown = hardening::on_a_terminal(&mut of(&["table", "--keyring", "veriplex:NAME"]));
    assert!(shown.contains(":32:logon:veriplex:NAME"), "{shown}");
}
