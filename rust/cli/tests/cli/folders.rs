//! Folders: `encrypt`, `decrypt`, and outputs in a folder.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tar::{Archive, Builder, EntryType, Header};

use super::*;

const ENCRYPT: [&str; 3] = ["encrypt", "--key-file", "key"];
const DECRYPT: [&str; 3] = ["decrypt", "--key-file", "key"];

fn run(folder: &Folder, command: [&str; 3], args: &[&str]) -> Output {
    folder.run(&[&command[..], args].concat())
}

/// Names, kinds, permissions and contents of all in a folder.
fn tree(path: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut paths = vec![path.to_owned()];
    while let Some(at) = paths.pop() {
        let metadata = at.symlink_metadata().unwrap();
        let content = if metadata.is_dir() {
            paths.extend(fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if metadata.is_symlink() {
            fs::read_link(&at).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&at).unwrap()
        };
        let name = at.strip_prefix(path).unwrap().to_str().unwrap().to_owned();
        found.push((name, metadata.permissions().mode(), content));
    }
    found.sort();
    found
}

fn sample(folder: &Folder) {
    let below = folder.path("plain/deep/er");
    fs::create_dir_all(&below).unwrap();
    fs::create_dir(folder.path("plain/empty")).unwrap();
    fs::write(folder.path("plain/a"), noise(300_000)).unwrap();
    fs::write(folder.path("plain/script"), "#!/bin/sh").unwrap();
    fs::write(folder.path("plain/deep/er/nothing"), "").unwrap();
    fs::write(below.join("n".repeat(250)), "long").unwrap();
    symlink("../a", folder.path("plain/deep/link")).unwrap();
    symlink("t".repeat(300), folder.path("plain/deep/long link")).unwrap();
    symlink(".//../deep//./", folder.path("plain/deep/odd link")).unwrap();
    symlink("u//".repeat(100), folder.path("plain/deep/odd long link")).unwrap();
    for path in ["plain", "plain/deep", "plain/deep/er", "plain/script"] {
        folder.set_mode(path, 0o700);
    }
    folder.set_mode("plain/empty", 0o500);
    for path in ["plain/a", "plain/deep/er/nothing"] {
        folder.set_mode(path, 0o600);
    }
    fs::set_permissions(below.join("n".repeat(250)), PermissionsExt::from_mode(0o400)).unwrap();
    let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(folder.path("plain/a")).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn roundtrip_of_folders() {
    let folder = Folder::new();
    sample(&folder);
    let expected = tree(&folder.path("plain"));
    for name in ["plain", "plain/", "./plain/."] {
        succeeds(&run(&folder, ENCRYPT, &[name]));
        fs::rename(folder.path("plain.vpx"), folder.path("copy.vpx")).unwrap();
        succeeds(&run(&folder, DECRYPT, &["copy.vpx"]));
        assert!(tree(&folder.path("copy")) == expected);
        let modified = folder.path("copy/a").metadata().unwrap().modified().unwrap();
        assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(1_000_000_000));
        fs::remove_dir_all(folder.path("copy")).unwrap();
    }
    // From a pipe, in armor, with a password.
    succeeds(&run(&folder, ENCRYPT, &["--armor", "-o", "armored", "plain"]));
    let output = folder.pipe(
        &[&DECRYPT[..], &["-o", "piped"]].concat(),
        &folder.read("armored"),
    );
    succeeds(&output);
    assert!(tree(&folder.path("piped")) == expected);
    folder.write("password", b"secret\n");
    let password = ["--password-file", "password"];
    let options = [&["encrypt"], &password[..], &["--cost", "4", "plain"]].concat();
    succeeds_at_low_cost(&folder.run(&options));
    succeeds(&folder.run(&[&["decrypt"], &password[..], &["-o", "again", "plain.vpx"]].concat()));
    assert!(tree(&folder.path("again")) == expected);
    fails(
        &folder.run(&[&ENCRYPT[..], &["."]].concat()),
        USAGE,
        ".",
        "has no file name",
    );
    fails(
        &folder.run(&[&ENCRYPT[..], &["--deterministic", "-o", "x", "plain"]].concat()),
        USAGE,
        "plain",
        "not a regular file",
    );
}

#[test]
fn sealed_folders() {
    let folder = Folder::with_private_keys();
    sample(&folder);
    succeeds(&folder.run(&["seal", "-k", "1", "--to", "2.pub", "plain/"]));
    let unseal = [
        "unseal",
        "--quiet",
        "-k",
        "2",
        "--from",
        "1.pub",
        "-o",
        "copy",
        "plain.sealed",
    ];
    assert_eq!(folder.run(&unseal).status.code(), Some(0));
    assert!(tree(&folder.path("copy")) == tree(&folder.path("plain")));
}

/// Owner, group and the time of the machine do not get into it; the rest is what `tar` reads.
#[test]
fn a_pipe_is_given_the_tar_stream() {
    let folder = Folder::new();
    sample(&folder);
    succeeds(&run(&folder, ENCRYPT, &["plain"]));
    let output = run(&folder, DECRYPT, &["-o", "-", "plain.vpx"]);
    succeeds(&output);
    let mut archive = Archive::new(&*output.stdout);
    let mut names = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        assert_eq!(
            (entry.header().uid().unwrap(), entry.header().gid().unwrap()),
            (0, 0)
        );
        names.push(entry.path().unwrap().to_str().unwrap().to_owned());
    }
    let expected: Vec<_> = tree(&folder.path("plain"))
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    names.insert(0, String::new());
    names.sort();
    assert_eq!(names, expected);
    // A part of the stream, but no part of a folder.
    let part = ["--offset", "5", "--length", "7", "plain.vpx"];
    let piped = run(&folder, DECRYPT, &[&["-o", "-"], &part[..]].concat());
    assert_eq!(piped.stdout, output.stdout[5..12]);
    fs::rename(folder.path("plain"), folder.path("other")).unwrap();
    fails(
        &run(&folder, DECRYPT, &part),
        USAGE,
        "plain.vpx",
        "contains a folder",
    );
}

#[test]
fn what_is_no_file_is_left_out_of_a_folder() {
    let folder = Folder::new();
    fs::create_dir(folder.path("plain")).unwrap();
    fs::write(folder.path("plain/file"), "x").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("plain/socket")).unwrap();
    // Nothing of it comes before the file.
    let long = format!("plain/{}", "e".repeat(200));
    assert!(
        Command::new("mkfifo")
            .arg(folder.path(&long))
            .status()
            .unwrap()
            .success()
    );
    let output = run(&folder, ENCRYPT, &["plain"]);
    fails_with(
        &output,
        0,
        &[&format!("{long}: left out"), "plain/socket: left out"],
    );
    succeeds(&run(&folder, DECRYPT, &["-o", "copy", "plain.vpx"]));
    let names: Vec<_> = tree(&folder.path("copy"))
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(names, ["", "file"]);
    // What cannot be read is an error, and nothing appears.
    folder.set_mode("plain/file", 0o000);
    if File::open(folder.path("plain/file")).is_err() {
        fs::remove_file(folder.path("plain.vpx")).unwrap();
        fails(&run(&folder, ENCRYPT, &["plain"]), IO, "plain/file", "Permission");
        assert!(!folder.path("plain.vpx").exists());
    }
}

#[test]
fn a_folder_replaces_nothing() {
    let folder = Folder::new();
    sample(&folder);
    succeeds(&run(&folder, ENCRYPT, &["plain"]));
    let before = tree(&folder.path("plain"));
    for force in [&[][..], &["--force"]] {
        let output = run(&folder, DECRYPT, &[force, &["plain.vpx"]].concat());
        fails(
            &output,
            IO,
            "plain",
            "a folder is never overwritten: name another output",
        );
        folder.write("file", b"mine");
        let output = run(&folder, DECRYPT, &[force, &["-o", "file", "plain.vpx"]].concat());
        fails(&output, IO, "file", "already exists");
        assert_eq!(folder.read("file"), b"mine");
        symlink("nowhere", folder.path("link")).unwrap();
        let output = run(&folder, DECRYPT, &[force, &["-o", "link", "plain.vpx"]].concat());
        fails(&output, IO, "link", "already exists");
        fs::remove_file(folder.path("link")).unwrap();
    }
    assert!(tree(&folder.path("plain")) == before);
    assert_eq!(folder.names(), ["file", "plain", "plain.vpx"]);
}

/// Whatever is changed, nothing is left of the folder.
#[test]
fn damaged_folders_do_not_appear() {
    let folder = Folder::new();
    sample(&folder);
    succeeds(&run(&folder, ENCRYPT, &["plain"]));
    let sealed = folder.read("plain.vpx");
    let last = sealed.len() - 1;
    for at in [8, 9, 10, 50, SEGMENTS, SEGMENTS + 40_000, last] {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        for bad in [&changed[..], &sealed[..at]] {
            folder.write("bad.vpx", bad);
            fails(&run(&folder, DECRYPT, &["bad.vpx"]), UNVERIFIED, "bad.vpx", "");
            let piped = folder.pipe(&[&DECRYPT[..], &["-o", "bad"]].concat(), bad);
            fails(&piped, UNVERIFIED, "standard input", "");
            assert_eq!(folder.names(), ["bad.vpx", "plain", "plain.vpx"], "{at}");
        }
    }
    // That it is a folder is authenticated: neither can be taken for the other.
    let mut as_file = sealed.clone();
    as_file[9] = 0;
    folder.write("bad.vpx", &as_file);
    fails(
        &run(&folder, DECRYPT, &["bad.vpx"]),
        UNVERIFIED,
        "bad.vpx",
        "wrong key",
    );
    let unknown = segments(b"VERIPLEX\x01\x02", &KEY, &[9; 32], b"");
    folder.write("bad.vpx", &unknown);
    fails(
        &run(&folder, DECRYPT, &["bad.vpx"]),
        UNVERIFIED,
        "bad.vpx",
        "another version",
    );
}

/// A header of this kind and name, without checks, and its content.
fn entry(kind: EntryType, name: &[u8], target: &[u8], content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o777);
    header.set_mtime(1);
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target);
    header.set_cksum();
    let mut bytes = [header.as_bytes(), content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// What could not be decrypted again is not encrypted.
#[test]
fn paths_are_not_too_long_to_be_decrypted() {
    let half = |last: usize| {
        format!(
            "{}{}",
            format!("{}/", "n".repeat(191)).repeat(9),
            "n".repeat(last)
        )
    };
    for (last, is_too_long) in [(190, false), (191, true)] {
        let folder = Folder::new();
        let inside = folder.path("plain").join(half(191));
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(folder.path("rest").join(half(last))).unwrap();
        // By a name of 1919 + 1 + 1 + 1 + 1918 or 1919 bytes.
        fs::rename(folder.path("rest"), inside.join("r")).unwrap();
        let output = run(&folder, ENCRYPT, &["plain"]);
        if is_too_long {
            let message = stderr(&output);
            assert!(message.starts_with("veriplex: plain/nnn"), "{message}");
            assert!(
                message.ends_with("n: longer than 3840 bytes, which could not be decrypted\n"),
                "{message}"
            );
            assert_eq!(
                (output.status.code(), folder.names()),
                (Some(IO), vec!["plain".into()])
            );
        } else {
            succeeds(&output);
            succeeds(&run(&folder, DECRYPT, &["-o", "out", "plain.vpx"]));
            assert_eq!(tree(&folder.path("out")).len(), tree(&folder.path("plain")).len());
        }
    }
}

/// Archives that the owner of the key made to do harm: nothing is written outside, and nothing appears.
#[test]
fn hostile_archives_are_refused() {
    use EntryType as E;
    let folder = Folder::new();
    fs::create_dir(folder.path("outside")).unwrap();
    folder.write("victim", b"mine");
    let root = folder.0.path().to_str().unwrap().to_owned();
    let [absolute, outside] = ["victim", "outside"].map(|name| format!("{root}/{name}").into_bytes());
    let long = |kind, name: &[u8]| entry(kind, b"././@LongLink", b"", name);
    let link = |target: &[u8]| {
        if target.len() <= 100 {
            entry(E::Symlink, b"l", target, b"")
        } else {
            [long(E::GNULongLink, target), entry(E::Symlink, b"l", b"", b"")].concat()
        }
    };
    let file = |name: &[u8]| entry(E::Regular, name, b"", b"evil");
    let archives: Vec<Vec<u8>> = vec![
        file(b"../victim"),
        file(b"a/../../victim"),
        file(b".."),
        file(b"."),
        file(b""),
        file(b"/"),
        file(b"missing/file"),
        [long(E::GNULongName, b"a"), long(E::GNULongName, b"b"), file(b"x")].concat(),
        [long(E::GNULongLink, b"a"), file(b"x")].concat(),
        file(&absolute[..absolute.len().min(100)]),
        [long(E::GNULongName, b"../victim"), file(b"x")].concat(),
        [long(E::GNULongName, &absolute), file(b"x")].concat(),
        [long(E::GNULongName, b"a\0b"), file(b"x")].concat(),
        [long(E::GNULongName, &[b'n'; 70_000]), file(b"x")].concat(),
        // Through a link, also one in a folder.
        [link(b"../outside"), file(b"l/x")].concat(),
        [link(&outside), file(b"l/x")].concat(),
        [link(b"../outside"), entry(E::Directory, b"l/x", b"", b"")].concat(),
        [link(b"."), file(b"l/x")].concat(),
        [link(b"../victim"), file(b"l")].concat(),
        [
            link(b"../outside"),
            entry(E::Directory, b"l", b"", b""),
            file(b"l/x"),
        ]
        .concat(),
        // A name twice.
        [file(b"x"), file(b"x")].concat(),
        [
            entry(E::Directory, b"d", b"", b""),
            file(b"d/x"),
            entry(E::Symlink, b"d", b"../outside", b""),
            file(b"d/y"),
        ]
        .concat(),
        // Links to files that are there, devices, and what is not known.
        entry(E::Link, b"h", b"../victim", b""),
        entry(E::Link, b"h", &absolute[..absolute.len().min(100)], b""),
        entry(E::Char, b"null", b"", b""),
        entry(E::Block, b"disk", b"", b""),
        entry(E::Fifo, b"pipe", b"", b""),
        entry(E::GNUSparse, b"sparse", b"", b""),
        entry(E::XHeader, b"pax", b"", b"22 path=../victim\n"),
        entry(E::XGlobalHeader, b"pax", b"", b"22 path=../victim\n"),
        entry(E::new(b'V'), b"volume", b"", b""),
        entry(E::Symlink, b"empty", b"", b""),
        // Names that no file and no link can have.
        file(b"x/"),
        entry(E::Symlink, b"x/", b"target", b""),
        link(&[b't'; 5000]),
        // No archive at all, and one that was cut before it was sealed.
        noise(1000),
        file(b"x")[..600].to_vec(),
    ];
    for (number, archive) in archives.iter().enumerate() {
        let sealed = segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], archive);
        folder.write("in.vpx", &sealed);
        let output = run(&folder, DECRYPT, &["in.vpx"]);
        fails(&output, UNVERIFIED, "in.vpx", "invalid archive: ");
        assert_eq!(folder.names(), ["in.vpx", "outside", "victim"], "{number}");
        assert_eq!(folder.read("victim"), b"mine", "{number}");
        assert_eq!(tree(&folder.path("outside")).len(), 1, "{number}");
    }
    // Links may point anywhere, as in any folder, and modes give no rights to others.
    let mut harmless = entry(E::Symlink, b"l", b"../victim", b"");
    harmless.extend(entry(E::Directory, b"d", b"", b""));
    let mut setuid = entry(E::Regular, b"d/x", b"", b"x");
    let mut header = Header::from_byte_slice(&setuid[..512]).clone();
    header.set_mode(0o6777);
    header.set_mtime(u64::MAX);
    header.set_cksum();
    setuid[..512].copy_from_slice(header.as_bytes());
    harmless.extend(setuid);
    folder.write(
        "in.vpx",
        &segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &harmless),
    );
    succeeds(&run(&folder, DECRYPT, &["in.vpx"]));
    let modes: Vec<_> = tree(&folder.path("in"))
        .iter()
        .map(|(_, mode, _)| mode & 0o7777)
        .collect();
    assert_eq!(modes, [0o700, 0o700, 0o700, 0o777]);
}

/// Work and memory are in proportion to the archive, however deep its folders are.
#[test]
fn deep_folders() {
    use EntryType as E;
    let folder = Folder::new();
    let named = |kind, name: &str| {
        let long = entry(E::GNULongName, b"././@LongLink", b"", name.as_bytes());
        [long, entry(kind, b"x", b"", b"")].concat()
    };
    let mut archive = Vec::new();
    let path = (1..=1000).map(|depth| {
        let path = "d/".repeat(depth);
        archive.extend(named(E::Directory, &path));
        path
    });
    let path = path.last().unwrap();
    // By turns in two of them.
    for number in 0..500 {
        archive.extend(named(E::Regular, &format!("{path}{number}")));
        archive.extend(named(E::Regular, &format!("{}{number}", &path[2..])));
    }
    folder.write("in.vpx", &segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &archive));
    let begun = std::time::Instant::now();
    succeeds(&run(&folder, DECRYPT, &["in.vpx"]));
    succeeds(&run(&folder, ENCRYPT, &["-o", "again.vpx", "in"]));
    let elapsed = begun.elapsed();
    assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
    assert_eq!(fs::read_dir(folder.path("in").join(path)).unwrap().count(), 500);
}

/// Some files of the system have content, but no length.
#[test]
#[cfg(target_os = "linux")]
fn files_of_unknown_length() {
    let folder = Folder::new();
    let output = run(&folder, ENCRYPT, &["-o", "out.vpx", "/proc/sys/kernel/random"]);
    fails(
        &output,
        IO,
        "/proc/sys/kernel/random/boot_id",
        "does not say its length",
    );
    assert!(folder.names().is_empty());
}

#[test]
fn names_that_come_twice_and_folders_that_are_locked() {
    let folder = Folder::new();
    let file = |name: &[u8]| entry(EntryType::Regular, name, b"", b"content");
    let twice = [file(b"x"), file(b"x")].concat();
    folder.write("in.vpx", &segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &twice));
    fails(
        &run(&folder, DECRYPT, &["in.vpx"]),
        UNVERIFIED,
        "in.vpx",
        "invalid archive: x comes twice",
    );
    // Modes of folders come last: nothing can be made in this one.
    let mut locked = entry(EntryType::Directory, b"d", b"", b"");
    let mut header = Header::from_byte_slice(&locked[..512]).clone();
    header.set_mode(0o500);
    header.set_cksum();
    locked[..512].copy_from_slice(header.as_bytes());
    locked.extend(file(b"d/x"));
    folder.write("in.vpx", &segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &locked));
    succeeds(&run(&folder, DECRYPT, &["in.vpx"]));
    assert_eq!(fs::metadata(folder.path("in/d")).unwrap().mode() & 0o777, 0o500);
    folder.set_mode("in/d", 0o700);
    fs::remove_dir_all(folder.path("in")).unwrap();
}

/// Nothing is left, whenever it is interrupted.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_removes_an_unfinished_folder() {
    let folder = Folder::new();
    let mut archive = Builder::new(Vec::new());
    for number in 0..50 {
        let mut header = Header::new_gnu();
        header.set_size(100_000);
        header.set_mode(0o600);
        archive
            .append_data(&mut header, number.to_string(), &*noise(100_000))
            .unwrap();
    }
    let archive = archive.into_inner().unwrap();
    let sealed = segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &archive);
    let mut child = folder
        .command(&[&DECRYPT[..], &["-o", "out"]].concat())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&sealed[..3_000_000]).unwrap();
    let is_hidden = |name: &String| name.starts_with(".veriplex-");
    let start = SystemTime::now();
    let inside = loop {
        if let Some(name) = folder.names().iter().find(|name| is_hidden(name))
            && fs::read_dir(folder.path(name)).is_ok_and(|found| found.count() > 3)
        {
            break folder.path(name).metadata().unwrap().mode();
        }
        assert!(start.elapsed().unwrap() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(inside & 0o777, 0o700);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
    drop(stdin);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

/// Nor while files are being made, of which there are more to come.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_the_making_of_files() {
    use std::os::unix::process::ExitStatusExt;

    if hardening::ignored(15) {
        println!("skipped, because signal 15 is ignored here");
        return;
    }
    let folder = Folder::new();
    let mut archive = Builder::new(Vec::new());
    for number in 0..6_000 {
        let mut header = Header::new_gnu();
        header.set_size(1);
        header.set_mode(0o600);
        let name = number.to_string();
        archive.append_data(&mut header, name, &b"x"[..]).unwrap();
    }
    let archive = archive.into_inner().unwrap();
    let sealed = segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &archive);
    let unfinished = &sealed[..sealed.len() - 10];
    for number in 0..10 {
        let mut child = folder
            .command(&[&DECRYPT[..], &["-o", "out"]].concat())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // Fails when the process ends. Until then it waits for the end.
            let fed = scope.spawn(move || (stdin.write_all(unfinished), stdin));
            let start = SystemTime::now();
            let first = (number * 100).to_string();
            while !folder
                .names()
                .iter()
                .any(|name| folder.path(name).join(&first).exists())
            {
                assert!(start.elapsed().unwrap() < Duration::from_secs(30));
                thread::sleep(Duration::from_millis(1));
            }
            let pid = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(15));
            drop(fed.join());
        });
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

/// Whoever may rename in the folder around puts another one under the temporary name, with a link to ours.
#[test]
#[cfg(target_os = "linux")]
fn another_folder_under_the_temporary_name() {
    let mut archive = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Directory);
    header.set_size(0);
    header.set_mode(0);
    archive.append_data(&mut header, "sub", &b""[..]).unwrap();
    for number in 0..50 {
        let mut header = Header::new_gnu();
        header.set_size(100_000);
        header.set_mode(0o600);
        let name = format!("sub/{number}");
        archive.append_data(&mut header, name, &*noise(100_000)).unwrap();
    }
    // Before this one, the folder gets its mode.
    header.set_entry_type(EntryType::Regular);
    archive.append_data(&mut header, "z", &b""[..]).unwrap();
    let archive = archive.into_inner().unwrap();
    let sealed = segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &archive);
    let (first, rest) = sealed.split_at(3_000_000);
    for ends in ["whole", "cut", "signal"] {
        let folder = Folder::new();
        for name in ["theirs/kept", "ours/inside"] {
            fs::create_dir_all(folder.path(name)).unwrap();
            folder.set_mode(name, 0o755);
        }
        folder.set_mode("ours", 0o755);
        symlink(folder.path("ours"), folder.path("theirs/sub")).unwrap();
        folder.write("theirs/kept/file", b"as it was");
        let mut child = folder
            .command(&[&DECRYPT[..], &["-o", "out"]].concat())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(first).unwrap();
        let start = SystemTime::now();
        let name = loop {
            let mut names = folder.names().into_iter();
            if let Some(name) = names.find(|name| name.starts_with(".veriplex-"))
                && folder.path(&name).join("sub/3").exists()
            {
                break name;
            }
            assert!(start.elapsed().unwrap() < Duration::from_secs(30));
            thread::sleep(Duration::from_millis(5));
        };
        fs::rename(folder.path(&name), folder.path("aside")).unwrap();
        fs::rename(folder.path("theirs"), folder.path(&name)).unwrap();
        let before = (tree(&folder.path(&name)), tree(&folder.path("ours")));
        match ends {
            "whole" => stdin.write_all(rest).unwrap(),
            "cut" => {}
            _ => {
                let pid = rustix::process::Pid::from_child(&child);
                rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
                child.wait().unwrap();
            }
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{ends}");
        if ends == "whole" {
            fails(&output, IO, "out", "changed while it was made");
        }
        let after = (tree(&folder.path(&name)), tree(&folder.path("ours")));
        assert!(before == after, "{ends}: {after:?}");
        assert!(!folder.path("out").exists(), "{ends}");
        // Nothing of the plaintext is left in the other one.
        assert_eq!(fs::read_dir(folder.path("aside")).unwrap().count(), 0, "{ends}");
    }
}

/// The name may be lost in a crash: neither a folder nor a file is left under it.
#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_not_on_the_disk() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    folder.write("in/file", b"content");
    for name in ["in", "in/file"] {
        succeeds(&run(&folder, ENCRYPT, &["-fo", "sealed", name]));
        for number in 1..=2 {
            let fault = format!("fsync:error=EIO:when={number}");
            let args = [&DECRYPT[..], &["-o", "out", "sealed"]].concat();
            let Some(output) = disk_state::with_fault(&folder, &fault, &args) else {
                return;
            };
            if output.status.success() {
                assert_eq!((name, number), ("in", 2));
                continue;
            }
            fails(&output, IO, "out", "Input/output error");
            assert_eq!(folder.names(), ["in", "sealed"], "{name} {number}");
        }
        let _ = fs::remove_dir_all(folder.path("out"));
    }
}

/// More of them in one another than a process may have open, without any right.
#[test]
fn deep_unfinished_folders_are_removed() {
    let folder = Folder::new();
    let mut archive = Builder::new(Vec::new());
    for depth in 1..1500 {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_size(0);
        header.set_mode(0);
        let name = vec!["a"; depth].join("/");
        archive.append_data(&mut header, name, &b""[..]).unwrap();
    }
    // All have their modes, and then the end is damaged.
    let mut header = Header::new_gnu();
    header.set_size(0);
    header.set_mode(0);
    archive.append_data(&mut header, "z", &b""[..]).unwrap();
    let archive = archive.into_inner().unwrap();
    let mut sealed = segments(b"VERIPLEX\x01\x01", &KEY, &[9; 32], &archive);
    *sealed.last_mut().unwrap() ^= 1;
    folder.write("in.vpx", &sealed);
    let output = run(&folder, DECRYPT, &["-o", "out", "in.vpx"]);
    fails(&output, UNVERIFIED, "in.vpx", "damaged");
    assert_eq!(folder.names(), ["in.vpx"]);
}

#[test]
fn outputs_in_a_folder() {
    let folder = Folder::new();
    sample(&folder);
    for name in ["sub", "sub/in", "out"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("one", b"1");
    folder.write("sub/two", b"2");
    succeeds(&run(&folder, ENCRYPT, &["-o", "out", "one", "sub/two", "plain/"]));
    succeeds(&run(
        &folder,
        DECRYPT,
        &["-o", "sub/in", "out/one.vpx", "out/two.vpx", "out/plain.vpx"],
    ));
    assert_eq!(folder.read("sub/in/one"), b"1");
    assert_eq!(folder.read("sub/in/two"), b"2");
    assert!(tree(&folder.path("sub/in/plain")) == tree(&folder.path("plain")));
    // One is enough.
    succeeds(&run(&folder, DECRYPT, &["-o", "out/", "out/one.vpx"]));
    assert_eq!(folder.read("out/one"), b"1");
    let disk = [
        "disk",
        "encrypt",
        "--key-file",
        "key",
        "--length",
        "512",
        "--sector-size",
        "512",
    ];
    folder.write("image", &noise(512));
    succeeds(&folder.run(&[&disk[..], &["-o", "out", "image"]].concat()));
    assert!(folder.path("out/image.vpdisk.vphead").exists() && folder.path("out/image.vpdisk").exists());
    // Nothing there is overwritten, nor a folder made.
    let output = run(&folder, DECRYPT, &["-o", "out", "out/one.vpx"]);
    fails(&output, IO, "out/one", "already exists");
    for other in ["missing", "one", "-"] {
        let output = run(&folder, DECRYPT, &["-o", other, "out/one.vpx", "out/two.vpx"]);
        fails(&output, USAGE, "--output", "must be an existing folder");
    }
}

/// Names of any bytes, also of more than a header has room for.
#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let plain = folder.path("plain");
    fs::create_dir(&plain).unwrap();
    for len in [1, 99, 100, 101, 255] {
        let name = std::ffi::OsStr::from_bytes(&[0xff; 255][..len]);
        fs::write(plain.join(name), [7]).unwrap();
    }
    succeeds(&run(&folder, ENCRYPT, &["plain"]));
    succeeds(&run(&folder, DECRYPT, &["-o", "copy", "plain.vpx"]));
    let names = |name: &str| {
        let entries = fs::read_dir(folder.path(name)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("copy"), names("plain"));
}

/// Lets another thread end, also after a panic.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file that becomes a link to elsewhere, or a named pipe, as often as somebody can change it.
#[test]
#[cfg(target_os = "linux")]
fn changes_do_not_lead_out_of_a_folder() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let folder = Folder::new();
    fs::create_dir_all(folder.path("plain/d")).unwrap();
    fs::create_dir_all(folder.path("secret/d")).unwrap();
    fs::write(folder.path("secret/d/x"), "secret").unwrap();
    fs::write(folder.path("plain/d/x"), "plain").unwrap();
    fs::write(folder.path("plain/y"), "plain").unwrap();
    symlink(folder.path("secret/d"), folder.path("link-d")).unwrap();
    symlink(folder.path("secret/d/x"), folder.path("link-y")).unwrap();
    fs::write(folder.path("plain/z"), "plain").unwrap();
    rustix::fs::mknodat(
        CWD,
        folder.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _done = Done(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (inside, other) in [("plain/d", "link-d"), ("plain/y", "link-y"), ("plain/z", "pipe")] {
                    let [inside, other] = [inside, other].map(|name| folder.path(name));
                    renameat_with(CWD, inside, CWD, other, RenameFlags::EXCHANGE).unwrap();
                }
            }
        });
        for command in [
            &["encrypt", "--key-file", "key", "-fo", "out", "plain"][..],
            &["digest", "--recursive", "plain"],
        ] {
            for _ in 0..25 {
                let child = folder.command(command).spawn().unwrap();
                let output = soon(move || child.wait_with_output().unwrap());
                assert!(!stdout(&output).contains(&hex_digest(b"secret")), "{output:?}");
                if command[0] == "encrypt" && output.status.success() {
                    let tar = folder
                        .run(&["decrypt", "--key-file", "key", "-o", "-", "out"])
                        .stdout;
                    assert!(
                        !tar.windows(6).any(|bytes| bytes == b"secret\0"),
                        "a file of another folder"
                    );
                }
            }
        }
    });
}

/// Calls a function when nothing more comes.
struct Ends<R, F>(R, F);

impl<R: Read, F: FnMut()> Read for Ends<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(buffer)?;
        if n == 0 {
            self.1();
        }
        Ok(n)
    }
}

/// Of folders that are left, nothing is kept in memory: their modes are set at once.
#[test]
fn folders_that_are_left_have_their_modes() {
    let folder = Folder::new();
    fs::create_dir(folder.path("new")).unwrap();
    let mut archive = Builder::new(Vec::new());
    for name in ["a/", "a/b/", "c/"] {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_size(0);
        header.set_mode(0o500);
        header.set_path(name).unwrap();
        header.set_cksum();
        archive.append(&header, std::io::empty()).unwrap();
    }
    let bytes = archive.into_inner().unwrap();
    let modes = || {
        ["new/a", "new/a/b", "new/c"].map(|name| {
            let found = folder.path(name).metadata();
            found.map_or(0, |found| found.mode() & 0o777)
        })
    };
    let mut at_end = None;
    let stream = Ends(&bytes[..bytes.len() - 1024], || at_end = Some(modes()));
    let new = File::open(folder.path("new")).unwrap();
    veriplex_files::folder::unpack(stream, &new).unwrap();
    assert_eq!(at_end, Some([0o500, 0o500, 0o700]));
    assert_eq!(modes(), [0o500; 3]);
    for name in ["new/a", "new/c"] {
        folder.set_mode(name, 0o700);
    }
}

/// As on media whose users may not change modes: what is there already is right, and nothing of a failure is left.
#[test]
#[cfg(target_os = "linux")]
fn where_modes_cannot_be_changed() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("plain/below")).unwrap();
    folder.write("plain/below/file", b"text");
    succeeds(&folder.run(&["encrypt", "-k", "key", "-o", "x", "plain"]));
    let fault = "chmod,fchmod,fchmodat:error=EPERM";
    let decrypt = ["decrypt", "-k", "key", "-o", "out", "x"];
    let Some(output) = disk_state::with_fault(&folder, fault, &decrypt) else {
        return;
    };
    succeeds(&output);
    assert_eq!(folder.read("out/below/file"), b"text");
    let encrypted = folder.read("x");
    folder.write("cut", &encrypted[..encrypted.len() - 10]);
    let names = folder.names();
    let decrypt = ["decrypt", "-k", "key", "-o", "other", "cut"];
    let output = disk_state::with_fault(&folder, fault, &decrypt).unwrap();
    assert_eq!(output.status.code(), Some(UNVERIFIED), "{output:?}");
    assert_eq!(folder.names(), names);
    let output = disk_state::with_fault(&folder, "fchmod:error=EPERM", &["key", "generate", "new"]).unwrap();
    succeeds(&output);
    assert_eq!(folder.path("new").metadata().unwrap().mode() & 0o777, 0o600);
}
