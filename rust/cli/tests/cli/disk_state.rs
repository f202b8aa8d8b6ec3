//! What `disk` refuses while an image is half converted, and for an image that is not its header's.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::SystemTime;

use rustix::process::{Pid, Signal, kill_process};

use super::*;

const ENCRYPT: [&str; 5] = ["disk", "encrypt", "--key-file", "key", "-j1"];
const DECRYPT: [&str; 5] = ["disk", "decrypt", "--key-file", "key", "-j1"];
const LEN: usize = 40 << 20;
/// A journal with both of its slots: two batches are done, or nearly so.
const JOURNAL_LEN: u64 = 8 << 20;

impl Folder {
    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn copy(&self, from: &str, to: &str) {
        fs::copy(self.path(from), self.path(to)).unwrap();
    }

    /// A conversion in place that is killed after some batches.
    fn interrupted(&self, command: [&str; 5], name: &str) {
        let before = self.read(name);
        let journal = self.path(&format!("{name}.vphead.journal"));
        let args = [&command[..], &["--in-place", name]].concat();
        let mut child = self.command(&args).spawn().unwrap();
        while journal.metadata().map_or(0, |journal| journal.len()) < JOURNAL_LEN {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it was not killed");
        let after = self.read(name);
        let last = LEN - 4096;
        assert!(after[4096..8192] != before[4096..8192] && after[last..] == before[last..]);
    }

    /// The files in this folder, except `key`, with what a write to them changes.
    fn files(&self) -> Vec<(PathBuf, u64, u64, SystemTime)> {
        let paths = self.names().into_iter().map(|name| self.path(&name));
        paths
            .filter(|path| path.is_file())
            .map(|path| {
                let found = path.metadata().unwrap();
                (path, found.ino(), found.len(), found.modified().unwrap())
            })
            .collect()
    }

    /// The command fails for this reason, and changes nothing.
    #[track_caller]
    fn refuses(&self, args: &[&str], reason: &str) {
        // Any write shows, because these times are long ago. To compare what is in large files takes long.
        for (path, ..) in self.files() {
            File::open(path)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH)
                .unwrap();
        }
        let before = self.files();
        let mut child = self.command(args).spawn().unwrap();
        // A server that serves what it must not would not end.
        let begun = std::time::Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = kill_process(Pid::from_child(&child), Signal::TERM);
        let output = child.wait_with_output().unwrap();
        let message = stderr(&output);
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(self.files(), before, "{args:?}");
        assert!(message.contains(reason), "{args:?}: {message:?}");
    }
}

fn with<'a>(command: [&'a str; 5], more: &[&'a str]) -> Vec<&'a str> {
    [&command[..], more].concat()
}

fn plain(number: u8) -> Vec<u8> {
    noise(1 << 20)
        .into_iter()
        .map(|byte| byte ^ number)
        .collect::<Vec<_>>()
        .repeat(LEN >> 20)
}

/// Two disks, of which the first one is half encrypted.
fn half_encrypted() -> Folder {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    folder.interrupted(ENCRYPT, "image");
    folder
}

fn finishes(folder: &Folder, command: [&str; 5]) {
    succeeds(&folder.run(&with(command, &["--in-place", "image"])));
    if command == ENCRYPT {
        let output = folder.run(&with(DECRYPT, &["-o", "-", "image"]));
        succeeds(&output);
        assert!(output.stdout == plain(1));
    } else {
        assert!(folder.read("image") == plain(1));
    }
}

/// It needs no key, and works on what other commands refuse.
#[test]
fn info_says_what_the_header_does() {
    let folder = half_encrypted();
    let info = |args: &[&str]| {
        let output = folder.run(&[&["disk", "info"], args].concat());
        succeeds(&output);
        stdout(&output).to_owned()
    };
    let same = format!(
        "image: image, {LEN} bytes\nheader: image.vphead\nunlocked by: key file\nsector size: 4096\nencrypted bytes: 0 to {LEN}\n"
    );
    let text = info(&["image"]);
    let state = text.strip_prefix(&same).unwrap();
    assert!(
        state.starts_with("state: encryption in place unfinished, at most "),
        "{state}"
    );
    finishes(&folder, ENCRYPT);
    assert_eq!(info(&["image"]), format!("{same}state: encrypted\n"));

    folder.write("password", b"secret\n");
    folder.write("small", &noise(10_000));
    let password = ["--password-file", "password", "--cost", "4"];
    let part = [
        "--sector-size",
        "512",
        "--offset",
        "512",
        "--length",
        "1024",
        "--header",
        "head",
    ];
    succeeds_at_low_cost(&folder.run(&[&["disk", "encrypt", "small"], &password[..], &part].concat()));
    File::options()
        .write(true)
        .open(folder.path("small.vpdisk"))
        .unwrap()
        .set_len(1000)
        .unwrap();
    assert_eq!(
        info(&["small.vpdisk", "--header", "head"]),
        "image: small.vpdisk, 1000 bytes\nheader: head\nunlocked by: password, cost 4\nsector size: 512\n\
         encrypted bytes: 512 to 1536\nstate: encrypted\nmissing: 536 bytes at the end of the image\n"
    );
    fails(
        &folder.run(&["disk", "info", "key"]),
        IO,
        "key.vphead",
        "not found",
    );
    fails(
        &folder.run(&["disk", "info", "image.vphead"]),
        USAGE,
        "image.vphead",
        "name its image",
    );
    fails(
        &folder.run(&["disk", "info", "--header", "key", "image"]),
        UNVERIFIED,
        "key",
        "too short",
    );
}

#[test]
fn images_that_swap_names() {
    let folder = half_encrypted();
    folder.write_private("other", &plain(2));
    let swap = || {
        folder.rename("image", "moved");
        folder.rename("other", "image");
        folder.rename("moved", "other");
    };
    swap();
    folder.refuses(&with(ENCRYPT, &["--in-place", "image"]), "different image");
    swap();
    // Nor if the other one is half encrypted too.
    folder.interrupted(ENCRYPT, "other");
    swap();
    for name in ["image", "other"] {
        folder.refuses(&with(ENCRYPT, &["--in-place", name]), "different image");
    }
    swap();
    finishes(&folder, ENCRYPT);
}

#[test]
fn a_backup_in_the_place_of_a_half_decrypted_image() {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "image"])));
    folder.copy("image", "backup");
    folder.interrupted(DECRYPT, "image");
    folder.rename("image", "half");
    folder.rename("backup", "image");
    folder.refuses(&with(DECRYPT, &["--in-place", "image"]), "different image");
    let header = ["--in-place", "--header", "image.vphead", "image"];
    folder.refuses(&with(DECRYPT, &header), "different image");
    // The backup has a header still.
    let header = ["--header", "image.vphead.old", "-o", "-", "image"];
    let output = folder.run(&with(DECRYPT, &header));
    succeeds(&output);
    assert!(output.stdout == plain(1));
    folder.rename("half", "image");
    finishes(&folder, DECRYPT);
}

#[test]
fn other_names_of_a_half_converted_image() {
    let folder = half_encrypted();
    fs::create_dir(folder.path("sub")).unwrap();
    folder.copy("image", "copy");
    folder.copy("image.vphead", "header");
    symlink("image", folder.path("link")).unwrap();
    symlink("../image", folder.path("sub/link")).unwrap();
    let reason = "encryption in place is unfinished";
    for image in ["image", "copy", "link", "sub/link"] {
        for header in ["header", "image.vphead", "new"] {
            let files = ["--header", header, image];
            let decrypt = with(DECRYPT, &[&files[..], &["-o", "x"]].concat());
            folder.refuses(&decrypt, reason);
            // Nothing is advised that would not help.
            folder.refuses(&decrypt, "its header and its journal\n");
            folder.refuses(&with(ENCRYPT, &[&files[..], &["-o", "x"]].concat()), reason);
            let forced = [&files[..], &["-o", "x", "--force"]].concat();
            folder.refuses(&with(ENCRYPT, &forced), reason);
            for more in [&[][..], &["--read-only"]] {
                let serve = ["disk", "serve", "--key-file", "key", "--socket", "socket"];
                folder.refuses(&[&serve, &files[..], more].concat(), reason);
            }
            if header != "image.vphead" {
                let in_place = [&files[..], &["--in-place"]].concat();
                folder.refuses(&with(ENCRYPT, &in_place), "");
                folder.refuses(&with(DECRYPT, &in_place), "");
            }
        }
        folder.refuses(&with(ENCRYPT, &["--in-place", "--header", "new", image]), reason);
    }
    // Its own header is not replaced, nor is the image.
    folder.write_private("plain", &noise(8192));
    let forced = ["-f", "-o", "x", "--header", "image.vphead", "plain"];
    folder.refuses(&with(ENCRYPT, &forced), "unfinished");
    let forced = ["-f", "-o", "image", "--header", "new", "plain"];
    folder.refuses(&with(ENCRYPT, &forced), "conversion in place is unfinished");
    folder.refuses(&with(DECRYPT, &["--in-place", "image"]), "finished");
    // The journal is found by the header's own name.
    symlink("image.vphead", folder.path("link.vphead")).unwrap();
    succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "link"])));
    let output = folder.run(&with(DECRYPT, &["-o", "-", "image"]));
    assert!(output.stdout == plain(1));
}

#[test]
fn a_lost_journal() {
    for command in [ENCRYPT, DECRYPT] {
        let folder = Folder::new();
        folder.write_private("image", &plain(1));
        if command == DECRYPT {
            succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "image"])));
        }
        folder.interrupted(command, "image");
        folder.rename("image.vphead.journal", "journal");
        // The position that is known.
        let marker = folder.read("image")[26..34].try_into().unwrap();
        let done = format!("at most the first {} bytes", u64::from_le_bytes(marker));
        for command in [DECRYPT, ENCRYPT] {
            folder.refuses(&with(command, &["--in-place", "image"]), &done);
        }
        folder.rename("journal", "image.vphead.journal");
        // Without its header it goes on: the journal has that.
        fs::remove_file(folder.path("image.vphead")).unwrap();
        finishes(&folder, command);
    }
}

#[test]
fn the_header_of_another_image() {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    folder.write_private("other", &plain(1));
    for name in ["image", "other"] {
        succeeds(&folder.run(&with(ENCRYPT, &["--in-place", name])));
    }
    folder.write_private("plain", &plain(1));
    for image in ["other", "plain"] {
        let reason = "another image";
        let files = ["--header", "image.vphead", image];
        folder.refuses(&with(DECRYPT, &[&files[..], &["--in-place"]].concat()), reason);
        folder.refuses(&with(DECRYPT, &[&files[..], &["-o", "x"]].concat()), reason);
        let serve = ["disk", "serve", "--key-file", "key", "--socket", "socket"];
        folder.refuses(&[&serve, &files[..]].concat(), reason);
    }
    finishes(&folder, DECRYPT);
}

#[test]
fn a_header_that_is_the_image() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    succeeds(&folder.run(&with(ENCRYPT, &["image"])));
    let args = ["--force", "--header", "image", "-o", "image.vpdisk", "image"];
    folder.refuses(&with(ENCRYPT, &args), "image: is both read and written");
    for header in ["image.vpdisk.vphead", "./image.vpdisk.vphead"] {
        let args = ["--force", "-o", header, "image.vpdisk"];
        folder.refuses(&with(DECRYPT, &args), "is both read and written");
    }
    // Nor what is made beside it, whatever the names are, and whether it exists or not.
    fs::create_dir(folder.path("folder")).unwrap();
    symlink("folder", folder.path("link")).unwrap();
    for (header, output) in [
        ("image.vpdisk", "image.vpdisk"),
        ("./image.vpdisk", "image.vpdisk"),
        ("./new", "new"),
        ("folder/new", "link/new"),
        ("folder/../new", "new"),
        ("new", "new.old"),
        ("new", "./new.journal"),
    ] {
        let args = ["--force", "--header", header, "-o", output, "image"];
        folder.refuses(&with(ENCRYPT, &args), "would be written twice");
    }
    for (header, reason) in [
        ("./image", "both read and written"),
        ("folder", "not a regular file"),
    ] {
        let args = ["--force", "--header", header, "-o", "new", "image"];
        folder.refuses(&with(ENCRYPT, &args), reason);
    }
    folder.rename("image", "new.old");
    let args = ["--force", "--header", "new", "-o", "x", "new.old"];
    folder.refuses(&with(ENCRYPT, &args), "new.old: is both read and written");
}

/// Whatever happens to the new image, the old header is there.
#[test]
#[cfg(target_os = "linux")]
fn forced_and_failed() {
    let folder = Folder::new();
    folder.write_private("small", &noise(8192));
    succeeds(&folder.run(&with(ENCRYPT, &["-o", "disk", "small"])));
    let header = folder.read("disk.vphead");
    File::create(folder.path("large"))
        .unwrap()
        .set_len(128 << 20)
        .unwrap();
    let args = with(ENCRYPT, &["--force", "-o", "disk", "large"]);
    let child = folder.command(&args).spawn().unwrap();
    let written = || {
        let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("wchar: ").map(str::to_owned));
        line.unwrap().parse::<u64>().unwrap()
    };
    while written() < 8 << 20 {
        thread::sleep(Duration::from_millis(1));
    }
    // The new image cannot get its name.
    folder.rename("disk", "moved");
    fs::create_dir(folder.path("disk")).unwrap();
    let output = child.wait_with_output().unwrap();
    fails(&output, IO, "disk", "directory");
    assert!(folder.read("disk.vphead") == header);
    assert_eq!(folder.names(), ["disk", "disk.vphead", "large", "moved", "small"]);
}

/// Nothing, if there is no strace that makes a call of the system fail.
#[cfg(target_os = "linux")]
pub fn with_fault(folder: &Folder, fault: &str, args: &[&str]) -> Option<Output> {
    let inject = format!("inject={fault}");
    let command = folder.command(args);
    let traced = Command::new("strace")
        .args(["-fqqo", "/dev/null", "-e", &inject])
        .arg(command.get_program())
        .args(args)
        .current_dir(folder.0.path())
        .output();
    traced
        .inspect_err(|error| println!("skipped: no fault was injected by strace: {error}"))
        .ok()
}

/// Whatever fails, image and header at their places belong together.
#[test]
#[cfg(target_os = "linux")]
fn forced_and_failed_late() {
    let folder = Folder::new();
    let [first, second] = [1, 2].map(|number| vec![number; 8192]);
    folder.write_private("first", &first);
    folder.write_private("second", &second);
    let mut statuses = std::collections::BTreeSet::new();
    let calls = ["fsync", "fchmod", "rename", "linkat", "unlink"];
    let faults = calls
        .iter()
        .flat_map(|call| (1..=8).map(move |number| (call, number)));
    for (call, number) in faults {
        for name in ["disk", "disk.vphead", "disk.vphead.old"] {
            let _ = fs::remove_file(folder.path(name));
        }
        succeeds(&folder.run(&with(ENCRYPT, &["-o", "disk", "first"])));
        let fault = format!("{call}:error=EIO:when={number}");
        let args = with(ENCRYPT, &["--force", "-o", "disk", "second"]);
        let Some(output) = with_fault(&folder, &fault, &args) else {
            return;
        };
        let back = folder.run(&with(DECRYPT, &["-o", "-", "disk"]));
        assert_eq!(back.status.code(), Some(0), "{fault}: {output:?}");
        let is_new = back.stdout == second;
        assert!(is_new || back.stdout == first, "{fault}");
        assert!(is_new || output.status.code() == Some(IO), "{fault}");
        // It would be in the way of the next try.
        assert!(is_new || !folder.path("disk.vphead.old").exists(), "{fault}");
        statuses.insert((output.status.code(), is_new));
    }
    assert_eq!(statuses.len(), 3, "{statuses:?}");
}

/// The header that fits is named.
#[test]
fn the_header_of_the_image_that_would_have_been_replaced() {
    let folder = Folder::new();
    folder.write_private("first", &noise(8192));
    succeeds(&folder.run(&with(ENCRYPT, &["-o", "disk", "first"])));
    folder.rename("disk.vphead", "disk.vphead.old");
    succeeds(&folder.run(&with(ENCRYPT, &["-o", "other", "first"])));
    folder.rename("other.vphead", "disk.vphead");
    let output = folder.run(&with(DECRYPT, &["-o", "-", "disk"]));
    fails(&output, UNVERIFIED, "disk", "--header disk.vphead.old");
    succeeds(&folder.run(&with(
        DECRYPT,
        &["--header", "disk.vphead.old", "-o", "-", "disk"],
    )));
}

/// Sectors that cannot be read have no tags to be known by.
#[test]
#[cfg(target_os = "linux")]
fn a_new_image_that_cannot_be_read_again() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    // Besides the marker and the content.
    let fault = "pread64:error=EIO:when=5+";
    let args = with(ENCRYPT, &["-o", "disk", "image"]);
    let Some(output) = with_fault(&folder, fault, &args) else {
        return;
    };
    fails(&output, IO, "image", "Input/output error");
    assert_eq!(folder.names(), ["image"]);
}

/// What is mounted through a loop device, which only root can make.
#[test]
#[cfg(target_os = "linux")]
fn the_file_of_a_mounted_loop_device() {
    let folder = Folder::new();
    // Larger than the files of other tests, which would be refused as well once its name is gone.
    folder.write_private("image", &vec![0; 64 << 20]);
    fs::create_dir(folder.path("mounted")).unwrap();
    let tool = |args: &[&str]| {
        let command = Command::new(args[0])
            .args(&args[1..])
            .current_dir(folder.0.path())
            .output();
        let is_done = command.as_ref().is_ok_and(|output| output.status.success());
        if !is_done {
            println!("{args:?}: {command:?}");
        }
        is_done
    };
    if !tool(&["mkfs.ext4", "-q", "image"]) || !tool(&["mount", "-o", "loop", "image", "mounted"]) {
        println!("skipped");
        return;
    }
    let source = Command::new("findmnt")
        .args(["-no", "SOURCE", "mounted"])
        .current_dir(folder.0.path())
        .output();
    let device = String::from_utf8(source.unwrap().stdout).unwrap();
    let device = device.trim();
    folder.write_private("plain", &noise(8192));
    let before = folder.read("image");
    let in_place = folder.run(&with(ENCRYPT, &["--in-place", "image"]));
    let replaced = folder.run(&with(ENCRYPT, &["--force", "-o", "image", "plain"]));
    let header = ["--force", "--header", "header"];
    let to_device = folder.run(&with(ENCRYPT, &[&header[..], &["-o", device, "plain"]].concat()));
    // The device has it still, by a name that is gone, or that looks as if it were not.
    fs::hard_link(folder.path("image"), folder.path("link")).unwrap();
    fs::remove_file(folder.path("image")).unwrap();
    let by_link = folder.run(&with(ENCRYPT, &["--in-place", "link"]));
    folder.write("image (deleted)", b"");
    let with_other = folder.run(&with(ENCRYPT, &["--in-place", "link"]));
    fs::remove_file(folder.path("image (deleted)")).unwrap();
    let file = File::options().append(true).open(folder.path("link"));
    file.unwrap().write_all(&[0; 4096]).unwrap();
    let grown = folder.run(&with(ENCRYPT, &["--in-place", "link"]));
    let is_same = folder.read("link")[..before.len()] == before;
    assert!(tool(&["umount", "mounted"]));
    fails(&in_place, IO, "image", "loop device");
    fails(&replaced, IO, "image", "loop device");
    fails(&to_device, IO, device, "busy");
    for output in [by_link, with_other, grown] {
        fails(&output, IO, "link", "loop device");
    }
    assert!(is_same && folder.names() == ["link", "mounted", "plain"]);
}

/// Without room for its journal, a conversion does not begin.
#[test]
#[cfg(target_os = "linux")]
fn no_room_for_a_journal() {
    let folder = Folder::new();
    fs::create_dir(folder.path("small")).unwrap();
    let tool = |args: &[&str]| {
        let command = Command::new(args[0])
            .args(&args[1..])
            .current_dir(folder.0.path())
            .status();
        command.is_ok_and(|status| status.success())
    };
    if !tool(&["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", "small"]) {
        println!("skipped");
        return;
    }
    folder.write_private("image", &plain(1));
    let args = ["--in-place", "--header", "small/header", "image"];
    let output = folder.run(&with(ENCRYPT, &args));
    let left = fs::read_dir(folder.path("small")).unwrap().count();
    assert!(tool(&["umount", "small"]));
    fails(&output, IO, "small/header.journal", "No space");
    assert!(left == 0 && folder.read("image") == plain(1));
}

/// Devices may have other numbers after the next start.
#[test]
#[cfg(target_os = "linux")]
fn a_device_of_another_number() {
    fn args(device: &str) -> Vec<&str> {
        with(ENCRYPT, &["--in-place", "--header", "header", device])
    }
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    let Some(first) = disk::Loop::new(&folder, "image") else {
        return;
    };
    let mut child = folder.command(&args(&first.0)).spawn().unwrap();
    while !folder.path("header.journal").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let number = first.0.clone();
    drop(first);
    // As it was before the first batch.
    folder.write_private("image", &plain(1));
    let journal = File::options().write(true).open(folder.path("header.journal"));
    journal.unwrap().set_len(4096).unwrap();
    folder.write_private("blocker", &noise(8192));
    let _blocker = disk::Loop::new(&folder, "blocker").unwrap();
    let second = disk::Loop::new(&folder, "image").unwrap();
    assert_ne!(second.0, number);
    succeeds(&folder.run(&args(&second.0)));
    let output = folder.run(&with(DECRYPT, &["--header", "header", "-o", "-", &second.0]));
    succeeds(&output);
    assert!(output.stdout == plain(1));
}

/// No output takes the place of a disk that needs its journal, or that is served.
#[test]
#[cfg(target_os = "linux")]
fn outputs_over_disks_in_work() {
    let folder = half_encrypted();
    folder.write_private("other", &noise(8192));
    succeeds(&folder.run(&["encrypt", "-k", "key", "other"]));
    succeeds(&folder.run(&with(ENCRYPT, &["other"])));
    let decrypt = ["decrypt", "-k", "key", "other.vpx"];
    let over = |name: &str| {
        let half = folder.read("image");
        for command in [
            &["encrypt", "-k", "key", "other"][..],
            &decrypt,
            &with(ENCRYPT, &["other", "--header", "h"]),
            &with(DECRYPT, &["other.vpdisk"]),
        ] {
            folder.refuses(
                &[command, &["-fo", name]].concat(),
                "conversion in place is unfinished",
            );
        }
        assert!(folder.read("image") == half);
    };
    over("image");
    if let Some(device) = disk::Loop::new(&folder, "image") {
        over(&device.0);
    }
    let serve = ["disk", "serve", "-k", "key", "--socket", "s", "other.vpdisk"];
    let mut server = folder.command(&serve).spawn().unwrap();
    while !folder.path("s").exists() {
        assert!(server.try_wait().unwrap().is_none(), "it is not served");
        thread::sleep(Duration::from_millis(5));
    }
    folder.refuses(
        &[&decrypt[..], &["-fo", "other.vpdisk"]].concat(),
        "in use by another process",
    );
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    succeeds(&server.wait_with_output().unwrap());
}

/// A header that is moved away at the end of an encryption is missed, and before the end the journal stays.
#[test]
#[cfg(target_os = "linux")]
fn the_header_is_needed_at_the_end() {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    let fault = "unlink,unlinkat:delay_enter=1500000";
    let args = with(ENCRYPT, &["--in-place", "image"]);
    let output = thread::scope(|scope| {
        let output = scope.spawn(|| with_fault(&folder, fault, &args));
        // The journal is about to be removed. Before there is one, a look at the image could be in the way.
        let is_done = || {
            folder.path("image.vphead.journal").exists()
                && stdout(&folder.run(&["disk", "info", "image"])).contains("state: encrypted")
        };
        while !output.is_finished() && !is_done() {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = fs::rename(folder.path("image.vphead"), folder.path("moved"));
        output.join().unwrap()
    });
    if let Some(output) = output {
        fails(&output, IO, "image.vphead", "replaced");
        folder.rename("moved", "image.vphead");
        let output = folder.run(&with(DECRYPT, &["-o", "-", "image"]));
        assert!(output.stdout == plain(1));
    }
}

/// Content that looks like the marker, which a client of `disk serve` can write.
#[test]
fn content_that_looks_half_encrypted() {
    let folder = Folder::new();
    let content = [&b"VPX-HALF\x01\x01"[..], &noise(8182)].concat();
    folder.write_private("image", &content);
    for more in [&["-o", "x"][..], &["--in-place"]] {
        let args = [&["image"][..], more].concat();
        folder.refuses(&with(ENCRYPT, &args), "--no-check takes it");
        succeeds(&folder.run(&with(ENCRYPT, &[&args[..], &["--no-check"]].concat())));
    }
    let output = folder.run(&with(DECRYPT, &["-o", "-", "x"]));
    assert!(output.stdout == content);
    succeeds(&folder.run(&with(DECRYPT, &["--in-place", "image"])));
    assert!(folder.read("image") == content);
}

/// What is before the encrypted part stays as it is, and need not be a marker.
#[test]
fn content_before_the_encrypted_part() {
    let folder = Folder::new();
    let content = [&b"VPX-HALF\x01\x02"[..], &noise(8182)].concat();
    folder.write_private("image", &content);
    folder.write_private("other", &noise(8192));
    let part = ["--no-check", "--offset", "1024", "--sector-size", "1024"];
    for more in [
        &["image", "-o", "x"][..],
        &["other", "-fo", "x"],
        &["image", "-fo", "x"],
    ] {
        let args = [more, &part].concat();
        if more.contains(&"other") {
            folder.refuses(&with(ENCRYPT, &args), "or remove it first");
            fs::remove_file(folder.path("x")).unwrap();
        }
        succeeds(&folder.run(&with(ENCRYPT, &args)));
    }
    succeeds(&folder.run(&with(ENCRYPT, &[&["--in-place", "image"], &part[..]].concat())));
    for name in ["x", "image"] {
        assert!(folder.read(name)[..1024] == content[..1024]);
        let info = folder.run(&["disk", "info", name]);
        assert!(stdout(&info).contains("\nstate: encrypted, but the image begins as if decryption in place"));
        let decrypt = with(DECRYPT, &["-o", "-", name]);
        folder.refuses(&decrypt, "--no-check takes it");
        let output = folder.run(&[&decrypt[..], &["--no-check"]].concat());
        succeeds(&output);
        assert!(output.stdout == content);
        let serve = ["disk", "serve", "-k", "key", "--socket", "s", name];
        folder.refuses(&serve, "--no-check takes it");
        let mut server = folder.command(&[&serve[..], &["--no-check"]].concat());
        let mut server = server.spawn().unwrap();
        while !folder.path("s").exists() {
            assert!(server.try_wait().unwrap().is_none(), "{name}: it is not served");
            thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        succeeds(&server.wait_with_output().unwrap());
        folder.refuses(&with(DECRYPT, &["--in-place", name]), "--no-check takes it");
        succeeds(&folder.run(&with(DECRYPT, &["--in-place", "--no-check", name])));
        assert!(folder.read(name) == content);
    }
}

/// A header of before opens no disk that was encrypted anew in part.
#[test]
fn a_disk_that_is_half_encrypted_again() {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "image"])));
    folder.rename("image.vphead", "old");
    folder.interrupted(ENCRYPT, "image");
    let decrypt = with(DECRYPT, &["--header", "old", "-o", "x", "image"]);
    folder.refuses(&decrypt, "encryption in place is unfinished");
}

/// Nor one that was overwritten in part, wherever that ended. It can be overwritten again.
#[test]
#[cfg(target_os = "linux")]
fn a_device_that_is_half_overwritten() {
    let folder = Folder::new();
    // Written in two pieces.
    let [old, new] = [1, 2].map(|number| plain(number)[..8 << 20].to_vec());
    folder.write_private("device", &old);
    folder.write_private("new", &new);
    succeeds(&folder.run(&with(ENCRYPT, &["-o", "new.vpdisk", "new"])));
    let Some(device) = disk::Loop::new(&folder, "device") else {
        return;
    };
    let name = device.0.as_str();
    succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "--header", "header", name])));
    let encrypted = folder.read("device");
    let files = ["--force", "-o", name];
    let decrypt = |header| folder.run(&with(DECRYPT, &["--header", header, "-o", "-", name]));
    let mut killed = 0;
    for overwrite in [
        with(ENCRYPT, &[&files[..], &["--header", "x", "new"]].concat()),
        with(DECRYPT, &[&files[..], &["new.vpdisk"]].concat()),
    ] {
        for call in ["write", "pwrite64", "fsync"] {
            for number in 1.. {
                fs::write(name, &encrypted).unwrap();
                let _ = ["x", "x.old"].map(|header| fs::remove_file(folder.path(header)));
                let fault = format!("{call}:signal=KILL:when={number}");
                let Some(output) = with_fault(&folder, &fault, &overwrite) else {
                    return;
                };
                let found = decrypt("header");
                if output.status.success() {
                    assert_eq!(found.status.code(), Some(UNVERIFIED));
                    break;
                }
                assert!(!found.status.success() || found.stdout == old, "{fault}");
                killed += usize::from(stderr(&found).contains("overwrite it again"));
                succeeds(&folder.run(&overwrite));
                if overwrite.contains(&"x") {
                    assert!(decrypt("x").stdout == new, "{fault}");
                } else {
                    assert!(folder.read("device") == new, "{fault}");
                }
            }
        }
    }
    assert!(killed >= 10, "{killed}");
}

/// Another user may have made the second one.
#[test]
fn an_image_with_two_names() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    succeeds(&folder.run(&with(ENCRYPT, &["image"])));
    for name in ["image", "image.vpdisk"] {
        fs::hard_link(folder.path(name), folder.path(&format!("{name}.2"))).unwrap();
    }
    set_private(&folder, "image.vpdisk");
    folder.refuses(&with(ENCRYPT, &["--in-place", "image.2"]), "several names");
    folder.refuses(&with(DECRYPT, &["--in-place", "image.vpdisk"]), "several names");
    let serve = ["disk", "serve", "-k", "key", "--socket", "s", "image.vpdisk"];
    folder.refuses(&serve, "several names");
    succeeds(&folder.run(&with(DECRYPT, &["-o", "x", "image.vpdisk"])));
}

fn set_private(folder: &Folder, name: &str) {
    folder.set_mode(name, 0o600);
}

/// Such locks are those of qemu: of the descriptor, for reading, of one byte of an image that need not have it.
#[test]
#[cfg(target_os = "linux")]
fn an_image_that_another_program_has_locked() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    folder.write_private("small", &noise(4096));
    succeeds(&folder.run(&with(ENCRYPT, &["-o", "disk", "image"])));
    let holds = |name: &str, lock: &str| {
        let script = format!(
            "import fcntl, struct, sys\nfile = open('{name}', 'rb')\n{lock}\nprint('locked', flush=True)\nsys.stdin.read()"
        );
        let mut command = Command::new("python3");
        command.args(["-c", &script]).current_dir(folder.0.path());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child
            .inspect_err(|error| println!("skipped: no python3: {error}"))
            .ok()?;
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        Some(child)
    };
    let refused: &[&[&str]] = &[
        &["encrypt", "--in-place", "image"],
        &["encrypt", "-o", "x", "image"],
        &["encrypt", "--force", "-o", "image", "small"],
        &["decrypt", "-o", "x", "disk"],
        &["serve", "--socket", "s", "disk"],
        &["serve", "--read-only", "--socket", "s", "disk"],
    ];
    for lock in [
        "fcntl.fcntl(file, 37, struct.pack('hhqqixxxx', fcntl.F_RDLCK, 0, 100, 1, 0)) # F_OFD_SETLK",
        "fcntl.lockf(file, fcntl.LOCK_SH, 1, 8191)",
    ] {
        for args in refused {
            let name = if args.contains(&"disk") { "disk" } else { "image" };
            let Some(mut child) = holds(name, lock) else {
                return;
            };
            folder.refuses(
                &[&["disk", args[0], "-k", "key"], &args[1..]].concat(),
                "in use by another process",
            );
            let info = folder.run(&["disk", "info", "disk"]);
            assert_eq!(stdout(&info).contains("in use"), name == "disk");
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
    succeeds(&folder.run(&with(ENCRYPT, &["--in-place", "image"])));
}
/// What could be waited for is no header.
#[test]
#[cfg(target_os = "linux")]
fn a_header_is_a_regular_file() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for args in [
        &["disk", "info"][..],
        &["disk", "decrypt", "-k", "key", "-o", "x"],
        &["disk", "decrypt", "-k", "key", "--in-place"],
        &["disk", "encrypt", "-k", "key", "--in-place"],
        &["disk", "encrypt", "-k", "key", "-f", "-o", "x"],
        &["disk", "serve", "-k", "key", "--socket", "s"],
    ] {
        let mut command = folder.command(&[args, &["--header", "pipe", "image"]].concat());
        let output = soon(move || command.output().unwrap());
        fails(&output, IO, "pipe", "not a regular file");
    }
}

/// No file has two purposes, whatever its names are.
#[test]
#[cfg(target_os = "linux")]
fn files_with_one_purpose() {
    let folder = Folder::new();
    folder.write_private("key", &key_line(&KEY).repeat(200).as_bytes()[..8192]);
    folder.write_private("image", &noise(8192));
    fs::hard_link(folder.path("key"), folder.path("link")).unwrap();
    let input = |args: &[&str], file: &str| {
        let mut command = folder.command(args);
        command.stdin(File::open(folder.path(file)).unwrap());
        command.output().unwrap()
    };
    for args in [
        &["encrypt", "--in-place", "-k", "key", "link"][..],
        &["encrypt", "-k", "key", "-o", "x", "link"],
        &["encrypt", "--password-file", "link", "-o", "x", "key"],
        &["decrypt", "-k", "key", "--header", "link", "-o", "x", "image"],
        &["decrypt", "-k", "-", "--header", "/dev/stdin", "-o", "x", "image"],
        &[
            "decrypt", "--key-fd", "00", "--header", "link", "-o", "x", "image",
        ],
        &["serve", "-k", "/dev/stdin", "--socket", "s", "link"],
    ] {
        let output = input(&[&["disk"], args].concat(), "key");
        assert_eq!(output.status.code(), Some(USAGE), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("cannot be both"), "{}", stderr(&output));
    }
    assert_eq!(folder.names(), ["image", "link"]);
}

/// One that was killed between its header and its image.
#[test]
fn a_header_without_its_image() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    succeeds(&folder.run(&with(ENCRYPT, &["image"])));
    fs::remove_file(folder.path("image.vpdisk")).unwrap();
    folder.refuses(&with(ENCRYPT, &["image"]), "its image does not");
    fs::remove_file(folder.path("image.vpdisk.vphead")).unwrap();
    succeeds(&folder.run(&with(ENCRYPT, &["image"])));
}

#[test]
fn an_output_that_is_the_key_file() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    fs::hard_link(folder.path("key"), folder.path("link")).unwrap();
    for files in [
        ["--header", "link", "-o", "x"],
        ["--header", "header", "-o", "link"],
    ] {
        let args = [&["--force", "image"][..], &files].concat();
        folder.refuses(&with(ENCRYPT, &args), "link: is both read and written");
    }
    succeeds(&folder.run(&with(ENCRYPT, &["image"])));
    let args = ["--force", "-o", "link", "image.vpdisk"];
    folder.refuses(&with(DECRYPT, &args), "link: is both read and written");
}

/// What would fail anyway fails before somebody is asked.
#[test]
fn no_password_in_vain() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    for command in ["encrypt", "decrypt", "serve"] {
        let to = if command == "serve" { "--socket" } else { "-o" };
        let args = ["disk", command, "--password", "missing", to, "x"];
        fails(&folder.run(&args), IO, "missing", "No such file");
    }
    folder.write("x", b"");
    let args = [
        "disk",
        "encrypt",
        "--password",
        "image",
        "--header",
        "h",
        "-o",
        "x",
    ];
    fails(&folder.run(&args), IO, "x", "already exists");
}

/// Files have the mode of the image, and what others can read does not become plaintext.
#[test]
fn modes() {
    let folder = Folder::new();
    for expected in [0o600, 0o640] {
        let folder_of = |name: &str| format!("{name}{expected:o}");
        let (copied, converted) = (folder_of("copied"), folder_of("converted"));
        for name in [&copied, &converted] {
            folder.write(name, &noise(8192));
            folder.set_mode(name, expected);
        }
        succeeds(&folder.run(&with(ENCRYPT, &[&copied])));
        succeeds(&folder.run(&with(ENCRYPT, &["--in-place", &converted])));
        for name in [
            format!("{copied}.vpdisk"),
            format!("{copied}.vpdisk.vphead"),
            format!("{converted}.vphead"),
        ] {
            assert_eq!(folder.mode(&name), expected, "{name}");
        }
    }
    for wrong in [0o644, 0o640, 0o604] {
        folder.set_mode("converted600", wrong);
        folder.refuses(
            &with(DECRYPT, &["--in-place", "converted600"]),
            "readable by other users",
        );
    }
    folder.set_mode("converted600", 0o600);
    succeeds(&folder.run(&with(DECRYPT, &["--in-place", "converted600"])));
}

/// Header and copy belong to the image's group, or that has no rights. Root's have the owner of what they are beside or replace.
#[test]
#[cfg(target_os = "linux")]
fn what_is_made_of_an_image_is_no_more_open() {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;

    let folder = Folder::new();
    fs::set_permissions(folder.0.path(), PermissionsExt::from_mode(0o777)).unwrap();
    folder.set_mode("key", 0o644);
    let image = |owner, mode| {
        for name in folder.names() {
            fs::remove_file(folder.path(&name)).unwrap();
        }
        folder.write("image", &noise(8192));
        let path = folder.path("image");
        let is_given = chown(&path, Some(owner), Some(12345)).is_ok();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        is_given
    };
    let found = |name: &str| {
        let found = folder.path(name).metadata().unwrap();
        (found.uid(), found.gid(), found.mode() & 0o777)
    };
    let both = [&["image"][..], &["--in-place", "image"]];
    let made = ["image.vpdisk", "image.vpdisk.vphead", "image.vphead"];
    if !image(65534, 0o660) {
        println!("skipped: not root");
        return;
    }
    for args in both {
        succeeds(&folder.run(&with(ENCRYPT, args)));
    }
    let expected = [(0, 12345, 0o660), (0, 12345, 0o660), (65534, 12345, 0o660)];
    assert_eq!(made.map(found), expected);
    folder.set_mode("image", 0o600);
    succeeds(&folder.run(&with(DECRYPT, &["--in-place", "image"])));
    assert_eq!(found("image.vphead.old"), (65534, 12345, 0o660));

    image(0, 0o600);
    if hardening::has_list(&folder, "image") {
        for args in both {
            succeeds(&folder.run(&with(ENCRYPT, args)));
        }
        assert_eq!(made.map(found), [(0, 12345, 0o600); 3]);
    } else {
        println!("skipped: no access control lists here");
    }

    // Others cannot keep the group, unless they are in it.
    for (mode, expected) in [(0o660, 0o600), (0o664, 0o604)] {
        image(65534, mode);
        for args in both {
            let mut command = folder.command(&with(ENCRYPT, args));
            let Ok(output) = command.uid(65534).gid(65534).output() else {
                println!("skipped: the program is in a folder of root's");
                return;
            };
            succeeds(&output);
        }
        assert_eq!(made.map(found), [(65534, 65534, expected); 3], "{mode:o}");
    }
}

/// What another program puts in the place of image, header or journal stays, and the conversion goes on once ours are back.
#[test]
fn files_that_are_replaced_while_an_image_is_converted() {
    let folder = Folder::new();
    folder.write_private("image", &plain(1));
    for (command, names) in [
        (ENCRYPT, &["image"][..]),
        (DECRYPT, &["image", "image.vphead"]),
        (ENCRYPT, &["image.vphead"]),
        (DECRYPT, &["image.vphead"]),
        (ENCRYPT, &["image.vphead.journal"]),
    ] {
        let args = with(command, &["--in-place", "image"]);
        let mut child = folder.command(&args).spawn().unwrap();
        let journal = folder.path("image.vphead.journal");
        while journal.metadata().map_or(0, |journal| journal.len()) < JOURNAL_LEN {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
        for name in names {
            folder.rename(name, &format!("{name}.ours"));
            folder.write(name, b"precious");
        }
        kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
        fails(&child.wait_with_output().unwrap(), IO, names[0], "replaced");
        for name in names {
            assert_eq!(folder.read(name), b"precious");
            folder.rename(&format!("{name}.ours"), name);
        }
        finishes(&folder, command);
        let _ = fs::remove_file(folder.path("image.vphead.old"));
    }
}

/// Two at once, of which one has made its header, and not yet its image.
#[test]
#[cfg(target_os = "linux")]
fn the_header_of_another_encryption() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    let args = with(ENCRYPT, &["--force", "image"]);
    let fault = "rename,renameat,renameat2:delay_enter=3000000:when=2";
    let first = thread::scope(|scope| {
        let first = scope.spawn(|| with_fault(&folder, fault, &args));
        while !folder.path("image.vpdisk.vphead").exists() && !first.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        if !first.is_finished() {
            succeeds(&folder.run(&args));
        }
        first.join().unwrap()
    });
    if let Some(first) = first {
        fails(&first, IO, "image.vpdisk.vphead", "replaced");
    }
}
