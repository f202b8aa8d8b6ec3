//! What an attacker can put in the way: files that are not files, names that are not names, and interruptions.

use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use veriplex_files::files::{Output as NewFile, Readers};

use super::*;

fn make_fifo(folder: &Folder, name: &str) {
    let status = Command::new("mkfifo").arg(folder.path(name)).status().unwrap();
    assert!(status.success());
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until the process has made its output in this folder, with a name or without.
#[cfg(target_os = "linux")]
pub fn wait_for_output(folder: &Folder, child: &Child) {
    let inside = fs::canonicalize(folder.0.path()).unwrap();
    let fds = PathBuf::from(format!("/proc/{}/fd", child.id()));
    let begun = || {
        let open = fs::read_dir(&fds).unwrap();
        open.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
            .any(|place| place.starts_with(&inside) && place.metadata().is_err())
    };
    for _ in 0..2000 {
        if begun() || folder.names().iter().any(|name| name.starts_with(".veriplex-")) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("it makes no output");
}

#[test]
fn a_pipe_does_not_get_the_plaintext_unasked() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    make_fifo(&folder, "file");
    symlink("file", folder.path("link")).unwrap();
    let decrypt = ["decrypt", "--key-file", "key", "file.vpx"];
    // Somebody waits for it.
    let pipe = File::options()
        .read(true)
        .write(true)
        .open(folder.path("file"))
        .unwrap();
    fails(&folder.run(&decrypt), IO, "file", "not a regular file");
    let to_link = [&decrypt[..], &["-o", "link"]].concat();
    fails(&folder.run(&to_link), IO, "link", "already exists");
    fails(
        &folder.run(&["encrypt", "--key-file", "key", "-o", "/dev/null", "key"]),
        IO,
        "/dev/null",
        "not a regular",
    );
    // Asked for, it is given.
    for args in [&decrypt[..], &to_link] {
        succeeds(&folder.run(&[args, &["--force"]].concat()));
        let mut got = [0; 9];
        (&pipe).read_exact(&mut got).unwrap();
        assert_eq!(&got, b"plaintext");
    }
    assert_eq!(folder.names(), ["file", "file.vpx", "link"]);
}

#[test]
fn modes_of_new_files_and_of_replaced_ones() {
    let folder = Folder::new();
    folder.write("plain", b"plaintext");
    let decrypt = ["decrypt", "--key-file", "key", "-fo", "out", "plain.vpx"];
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "plain"]));
    assert_eq!(folder.mode("plain.vpx"), folder.mode("plain"));
    succeeds(&folder.run(&decrypt));
    assert_eq!(folder.mode("out"), 0o600);
    // A replaced file says who may read it, and not more: its set-user-ID bit was for what it was.
    for (old, new) in [
        (0o644, 0o644),
        (0o400, 0o400),
        (0o4755, 0o755),
        (0o2775, 0o775),
        (0o1666, 0o666),
    ] {
        folder.set_mode("out", old);
        assert_eq!(folder.mode("out"), old);
        succeeds(&folder.run(&decrypt));
        assert_eq!(folder.mode("out"), new);
    }
    succeeds(&folder.run(&["key", "generate", "new"]));
    assert_eq!(folder.mode("new"), 0o600);
}

/// A file of somebody else, which can have any mode, does not open ours to others. Only root can make one.
#[test]
fn modes_of_other_owners_do_not_count() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    folder.write("file", b"trap");
    folder.set_mode("file", 0o666);
    if std::os::unix::fs::chown(folder.path("file"), Some(12345), None).is_err() {
        return;
    }
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "-f", "file.vpx"]));
    assert_eq!(folder.mode("file"), 0o600);
    assert_ne!(fs::metadata(folder.path("file")).unwrap().uid(), 12345);
}

/// Whether this process ignores a signal, as what it starts then does.
#[cfg(target_os = "linux")]
pub fn ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// A link of another user in a shared folder does not say which file of ours is replaced. Only root can make one.
#[test]
fn links_of_other_owners_are_not_followed() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    folder.write("ours", b"as it was");
    symlink("ours", folder.path("file")).unwrap();
    if std::os::unix::fs::lchown(folder.path("file"), Some(12345), None).is_err() {
        return;
    }
    let decrypt = ["decrypt", "--key-file", "key", "-f", "file.vpx"];
    fails(&folder.run(&decrypt), IO, "file", "link of another user");
    assert_eq!(folder.read("ours"), b"as it was");
    std::os::unix::fs::lchown(folder.path("file"), Some(0), None).unwrap();
    succeeds(&folder.run(&decrypt));
    assert_eq!(folder.read("ours"), b"plaintext");
}

/// Makes a link, file or pipe another user's. Only root can.
fn give_away(folder: &Folder, name: &str) -> bool {
    std::os::unix::fs::lchown(folder.path(name), Some(12345), Some(12345)).is_ok()
}

/// Neither as the first of several links, nor as the last, nor on the way, nor in a folder of their own.
#[test]
fn no_link_of_a_chain_is_of_another_owner() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    for name in ["shared", "ours", "theirs"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let files = ["ours/old", "ours/file"];
    let links = [
        ("shared/link", "../ours/old"),
        ("first", "shared/link"),
        ("shared/folder", "../ours"),
        ("shared/new", "../ours/new"),
    ];
    for (link, target) in links {
        symlink(target, folder.path(link)).unwrap();
        if link != "first" && !give_away(&folder, link) {
            return;
        }
    }
    for output in [
        "shared/link",
        "first",
        "shared/folder",
        "shared/folder/file",
        "shared/folder/../ours/file",
        "shared/new",
        "shared/folder/new",
    ] {
        for file in files {
            folder.write(file, b"as it was");
        }
        let done = folder.run(&["decrypt", "-k", "key", "-f", "-o", output, "file.vpx"]);
        let message = stderr(&done);
        assert!(
            done.status.code() == Some(IO) && message.contains("link of another user"),
            "{output}: {message}"
        );
        assert_eq!(files.map(|file| folder.read(file)), [b"as it was"; 2], "{output}");
        assert!(!folder.path("ours/new").exists(), "{output}");
    }
    symlink("../ours/old", folder.path("theirs/link")).unwrap();
    assert!(give_away(&folder, "theirs") && give_away(&folder, "theirs/link"));
    let decrypt = ["decrypt", "-k", "key", "-f", "-o", "theirs/link", "file.vpx"];
    for mode in [0o1777, 0o755] {
        folder.set_mode("theirs", mode);
        fails(&folder.run(&decrypt), IO, "theirs/link", "link of another user");
    }
    assert_eq!(folder.read("ours/old"), b"as it was");
}

/// Who may rename in a folder may give the name of an output to another link, pipe or file of ours.
#[test]
fn names_that_another_user_may_have_given() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    folder.write("ours", b"as it was");
    fs::create_dir(folder.path("shared")).unwrap();
    symlink("../ours", folder.path("shared/link")).unwrap();
    make_fifo(&folder, "shared/pipe");
    let _pipe = File::options()
        .read(true)
        .write(true)
        .open(folder.path("shared/pipe"));
    let decrypt = |output| folder.run(&["decrypt", "-k", "key", "-fo", output, "file.vpx"]);
    // Any file of ours that everybody may read; the plaintext is not for them.
    let mode_after = || {
        let _ = fs::remove_file(folder.path("shared/file"));
        folder.write("shared/file", b"public");
        folder.set_mode("shared/file", 0o644);
        succeeds(&decrypt("shared/file"));
        folder.mode("shared/file")
    };
    let refused = || {
        for (name, what) in [("shared/link", "link"), ("shared/pipe", "pipe, socket or device")] {
            let reason = format!("{what} in a folder where other users");
            fails(&decrypt(name), IO, name, &reason);
        }
        assert_eq!(folder.read("ours"), b"as it was");
    };
    folder.set_mode("shared", 0o777);
    refused();
    assert_eq!(mode_after(), 0o600);
    // There they may not rename, but make names where the system lets them.
    folder.set_mode("shared", 0o1777);
    for name in ["link", "pipe"] {
        fs::hard_link(folder.path("shared").join(name), folder.path(name)).unwrap();
    }
    refused();
    for name in ["link", "pipe"] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    for mode in [0o1777, 0o755] {
        folder.set_mode("shared", mode);
        succeeds(&decrypt("shared/link"));
        succeeds(&decrypt("shared/pipe"));
        assert_eq!(mode_after(), 0o644);
        assert_eq!(folder.read("ours"), b"plaintext");
        folder.write("ours", b"as it was");
    }
    // A group, and the folder of somebody else.
    folder.set_mode("shared", 0o775);
    if std::os::unix::fs::chown(folder.path("shared"), None, Some(12345)).is_ok() {
        refused();
        assert_eq!(mode_after(), 0o600);
        folder.set_mode("shared", 0o1755);
        assert!(give_away(&folder, "shared"));
        refused();
        assert_eq!(mode_after(), 0o600);
    }
}

#[test]
fn headers_are_not_links_of_other_owners() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    folder.write("ours", b"as it was");
    let encrypt = ["disk", "encrypt", "-k", "key", "image"];
    succeeds(&folder.run(&encrypt));
    let header = folder.read("image.vpdisk.vphead");
    for name in ["image.vpdisk.vphead", "link"] {
        let _ = fs::remove_file(folder.path(name));
        symlink("ours", folder.path(name)).unwrap();
        if !give_away(&folder, name) {
            return;
        }
    }
    for args in [
        &["--force"][..],
        &["--force", "--header", "link"],
        &["--in-place", "--header", "link"],
    ] {
        let output = folder.run(&[&encrypt[..], args].concat());
        let name = args.iter().find(|name| **name == "link");
        fails(
            &output,
            IO,
            name.unwrap_or(&"image.vpdisk.vphead"),
            "link of another user",
        );
        assert_eq!(folder.read("ours"), b"as it was");
    }
    folder.write("ours", &header);
    folder.set_mode("image.vpdisk", 0o600);
    let output = folder.run(&["disk", "decrypt", "-k", "key", "--in-place", "image.vpdisk"]);
    fails(&output, IO, "image.vpdisk.vphead", "link of another user");
    assert_eq!(folder.read("ours"), header);
    // Nor is the image, which would be changed.
    symlink("image", folder.path("theirs")).unwrap();
    assert!(give_away(&folder, "theirs"));
    let in_place = ["disk", "encrypt", "-k", "key", "--in-place", "theirs"];
    fails(&folder.run(&in_place), IO, "theirs", "link of another user");
    assert_eq!(folder.read("image"), noise(8192));
}

/// Header, journal and the old header are in the folder that was found, whatever has its name by now.
#[test]
fn a_conversion_stays_in_its_folder() {
    let folder = Folder::new();
    folder.write_private("image", &noise(8192));
    make_fifo(&folder, "fifo");
    let names = ["header", "header.journal", "header.old"];
    fs::create_dir(folder.path("moved")).unwrap();
    for (i, args) in [
        ["encrypt", "--in-place", "--header", "sub/header", "image"],
        ["decrypt", "--in-place", "--header", "sub/header", "image"],
        ["encrypt", "--header", "sub/header", "-foout", "image"],
        ["encrypt", "--header", "sub/header", "-foout", "image"],
    ]
    .iter()
    .enumerate()
    {
        let others = folder.path(&format!("others{i}"));
        fs::create_dir(&others).unwrap();
        for name in names {
            fs::write(others.join(name), b"precious").unwrap();
        }
        let _ = fs::remove_file(folder.path("sub"));
        let before = fs::read(folder.path("moved/header"));
        fs::rename(folder.path("moved"), folder.path("sub")).unwrap();
        let args = [&["disk", args[0], "-k", "fifo"], &args[1..]].concat();
        let child = folder.command(&args).spawn().unwrap();
        // Both wait for each other.
        let mut fifo = File::options().write(true).open(folder.path("fifo")).unwrap();
        fs::rename(folder.path("sub"), folder.path("moved")).unwrap();
        symlink(&others, folder.path("sub")).unwrap();
        fifo.write_all(key_line(&KEY).as_bytes()).unwrap();
        drop(fifo);
        succeeds(&child.wait_with_output().unwrap());
        for name in names {
            assert_eq!(fs::read(others.join(name)).unwrap(), b"precious", "{args:?}");
        }
        let left =
            ["header", "header.journal", "header.old"].map(|name| folder.path("moved").join(name).exists());
        assert_eq!(left, [i != 1, false, i == 1], "{args:?}");
        if i == 1 {
            let old = folder.path("moved/header.old");
            assert_eq!(fs::read(&old).ok(), before.ok());
            fs::remove_file(old).unwrap();
        }
    }
    assert_eq!(folder.read("image"), noise(8192));
    let decrypt = [
        "disk",
        "decrypt",
        "-k",
        "key",
        "--header",
        "moved/header",
        "-o-",
        "out",
    ];
    let output = folder.run(&decrypt);
    succeeds(&output);
    assert_eq!(output.stdout, noise(8192));
}

/// Nor is a key removed that another folder has by then.
#[test]
fn half_a_pair_is_removed_where_it_is() {
    let folder = Folder::new();
    for name in ["sub", "others"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("others/k", b"precious");
    make_fifo(&folder, "fifo");
    let args = [
        "key",
        "generate",
        "--private",
        "--cost",
        "12",
        "--password-file",
        "fifo",
        "sub/k",
    ];
    let child = folder.command(&args).spawn().unwrap();
    let mut fifo = File::options().write(true).open(folder.path("fifo")).unwrap();
    folder.write("sub/k.pub", b"already there");
    fs::rename(folder.path("sub"), folder.path("moved")).unwrap();
    symlink("others", folder.path("sub")).unwrap();
    fifo.write_all(b"password\n").unwrap();
    drop(fifo);
    fails(
        &child.wait_with_output().unwrap(),
        IO,
        "sub/k.pub",
        "already exists",
    );
    assert_eq!(folder.read("others/k"), b"precious");
    assert!(!folder.path("moved/k").exists());
}

/// Whoever reads from it would be given the plaintext, with `--force` too.
#[test]
fn pipes_of_other_owners_get_nothing() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    make_fifo(&folder, "file");
    // Somebody waits for it.
    let _pipe = File::options()
        .read(true)
        .write(true)
        .open(folder.path("file"))
        .unwrap();
    if give_away(&folder, "file") {
        let output = folder.run(&["decrypt", "--key-file", "key", "-f", "file.vpx"]);
        fails(&output, IO, "file", "pipe or socket of another user");
    }
}

/// Whether a file could be given an access control list, which lets user 12345 read it: the mode has its mask in the place of
/// the group.
#[cfg(target_os = "linux")]
pub fn has_list(folder: &Folder, name: &str) -> bool {
    let list = [(1u16, 6u16, u32::MAX), (2, 4, 12345), (4, 0, u32::MAX)];
    let list = [&list[..], &[(16, 4, u32::MAX), (32, 0, u32::MAX)]].concat();
    let entry = |(tag, bits, id): &(u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let entries: Vec<u8> = list.iter().flat_map(entry).collect();
    let bytes = [&2u32.to_le_bytes()[..], &entries].concat();
    let path = folder.path(name);
    rustix::fs::setxattr(
        path,
        "system.posix_acl_access",
        &bytes,
        rustix::fs::XattrFlags::empty(),
    )
    .is_ok()
}

/// Whoever could not read the replaced file cannot read the new one.
#[test]
#[cfg(target_os = "linux")]
fn a_replaced_file_is_not_opened_to_others() {
    use std::os::unix::process::CommandExt;

    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    let decrypt = ["decrypt", "--key-file", "key", "-fo", "out", "file.vpx"];
    folder.write("out", b"old");
    if has_list(&folder, "out") {
        assert_eq!(folder.mode("out"), 0o640);
        succeeds(&folder.run(&decrypt));
        assert_eq!(folder.mode("out"), 0o600);
    } else {
        println!("skipped: no access control lists here");
    }
    // Root can keep the group; others cannot, unless they are in it.
    let chown = |name: &str, user, group| {
        std::os::unix::fs::chown(folder.path(name), Some(user), Some(group)).is_ok()
    };
    fs::remove_file(folder.path("out")).unwrap();
    folder.write("out", b"old");
    let user = rustix::process::geteuid().as_raw();
    folder.set_mode("out", 0o640);
    if !chown("out", user, 12345) {
        return;
    }
    succeeds(&folder.run(&decrypt));
    let found = fs::metadata(folder.path("out")).unwrap();
    assert_eq!((found.gid(), found.mode() & 0o777), (12345, 0o640));
    folder.set_mode("key", 0o644);
    assert!(give_away(&folder, "."));
    folder.set_mode(".", 0o755);
    std::os::unix::fs::chown(folder.0.path(), Some(65534), None).unwrap();
    let mut tried = folder.command(&["--version"]);
    if !tried
        .uid(65534)
        .gid(65534)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("skipped: the program is in a folder of root's");
        return;
    }
    for (old, new) in [(0o640, 0o600), (0o664, 0o604), (0o604, 0o600), (0o644, 0o604)] {
        assert!(chown("out", 65534, 12345));
        folder.set_mode("out", old);
        succeeds(&folder.command(&decrypt).uid(65534).gid(65534).output().unwrap());
        assert_eq!(folder.mode("out"), new, "{old:o}");
    }
}

/// Where names cannot be removed, a temporary one is not made.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_in_an_append_only_folder() {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/file", b"old");
    let sub = File::open(folder.path("sub")).unwrap();
    let set = |flags| ioctl_setflags(&sub, flags);
    let Ok(flags) = ioctl_getflags(&sub) else { return };
    if set(flags | IFlags::APPEND).is_err() {
        println!("skipped: no append-only folders here");
        return;
    }
    let output = folder.run(&["decrypt", "-k", "key", "-fo", "sub/file", "file.vpx"]);
    let names = fs::read_dir(folder.path("sub")).unwrap().count();
    set(flags).unwrap();
    fails(&output, IO, "sub/file", "append-only");
    assert_eq!((names, folder.read("sub/file")), (1, b"old".to_vec()));
}

/// Half of a plaintext is in the output when the signal comes.
#[test]
#[cfg(target_os = "linux")]
fn signals_leave_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;

    let folder = Folder::new();
    let sealed = encrypted(&KEY, &[7; 32], &noise(300_000));
    for (kind, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        // As for jobs in the background of some shells: the program is then not to change that.
        if ignored(number) {
            println!("skipped, because signal {number} is ignored here");
            continue;
        }
        let mut child = folder
            .command(&["decrypt", "-j", "1", "--key-file", "key", "-o", "out"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&sealed[..sealed.len() - 10]).unwrap();
        wait_for_output(&folder, &child);
        for name in folder.names() {
            assert_eq!(folder.mode(&name), 0o600, "{name}: others can read it");
        }
        signal(&child, kind);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(number));
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

/// The same where files need a name: in a process that is this test once more.
#[test]
fn signals_remove_temporary_files() {
    use std::os::unix::process::ExitStatusExt;

    const FOLDER: &str = "VERIPLEX_TEST_FOLDER";
    let name = "hardening::signals_remove_temporary_files";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let mut output = NewFile::create_named(&PathBuf::from(folder).join("out"), Readers::Any)
            .ok()
            .unwrap();
        output.write_all(b"plaintext").unwrap();
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    let begin = |folder: &Folder, ignoring: &str| {
        // The shell is replaced by the test. Who runs this in the background, or under nohup, ignores some signals. No signal
        // need write a core file here.
        let default = if cfg!(target_os = "linux") {
            "env --default-signal"
        } else {
            ""
        };
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit -c 0; exec {default} {ignoring} \"$0\" \"$@\""),
        ]);
        command.arg(std::env::current_exe().unwrap());
        let child = command.args(["--exact", name]).env(FOLDER, folder.0.path());
        let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let written = || {
            let names = folder.names();
            names
                .first()
                .is_some_and(|name| folder.read(name) == b"plaintext")
        };
        for _ in 0..2000 {
            if written() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        assert!(written(), "it makes no output");
        child
    };
    let send = |child: &Child, signal: &str| {
        let kill = Command::new("sh")
            .args(["-c", "kill -$0 $1", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success(), "{signal}");
    };
    let everywhere = [
        "HUP", "INT", "QUIT", "TRAP", "ABRT", "USR1", "SYS", "USR2", "ALRM", "TERM", "XCPU", "VTALRM", "PROF",
    ];
    // SIGPOLL, SIGPWR, SIGSTKFLT, and those for real time.
    let on_linux = ["29", "30", "16", "34", "64"];
    for signal in everywhere
        .iter()
        .chain(on_linux.iter().filter(|_| cfg!(target_os = "linux")))
    {
        let folder = Folder::new();
        let mut child = begin(&folder, "");
        let names = folder.names();
        assert!(names[0].starts_with(".veriplex-"));
        assert_eq!(folder.mode(&names[0]), 0o600);
        send(&child, signal);
        let status = child.wait().unwrap();
        assert!(
            status.signal().is_some() || status.code() > Some(128),
            "{signal}: {status}"
        );
        assert!(folder.names().is_empty(), "{signal}: {:?}", folder.names());
    }
    // What does not end a process still does not, nor what is to be ignored, as under nohup.
    #[cfg(target_os = "linux")]
    {
        let folder = Folder::new();
        let mut child = begin(&folder, "--ignore-signal=HUP");
        for harmless in ["HUP", "CHLD", "WINCH", "URG", "CONT"] {
            send(&child, harmless);
        }
        thread::sleep(Duration::from_millis(200));
        assert_eq!(child.try_wait().unwrap(), None);
        send(&child, "TERM");
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        assert!(folder.names().is_empty());
    }
}

/// What exceeds a limit of the process is an error as any other.
#[test]
fn a_file_that_may_not_get_so_large_is_an_error() {
    let folder = Folder::new();
    folder.write("big", &noise(1 << 20));
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$0\" encrypt --key-file key big"])
        .arg(env!("CARGO_BIN_EXE_veriplex"))
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    fails(&output, IO, "big.vpx", "File too large");
    assert_eq!(folder.names(), ["big"]);
}

#[test]
fn no_more_threads_than_can_be_asked_for() {
    let folder = Folder::new();
    let mut command = folder.command(&["sum", "key"]);
    command.env("RAYON_NUM_THREADS", "100000");
    succeeds(&soon(move || command.output().unwrap()));
}

/// The work is done without threads. What needs them says so.
#[test]
#[cfg(target_os = "linux")]
fn no_threads_are_left() {
    let folder = Folder::with_private_keys();
    folder.write("big", &noise(3 << 20));
    let digest = folder.run(&["sum", "big"]).stdout;
    // The limit does not hold for root, and others may not find the program where it is.
    folder.set_mode(".", 0o777);
    fs::copy(env!("CARGO_BIN_EXE_veriplex"), folder.path("veriplex")).unwrap();
    let other = rustix::process::geteuid().is_root();
    let limited = |args: &[&str]| {
        let setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut command = Command::new("env");
        command.args(setpriv.iter().filter(|_| other));
        command.args(["prlimit", "--nproc=1", "./veriplex"]);
        let command = command.args(args).current_dir(folder.0.path());
        command
            .stdin(File::open(folder.path("big")).unwrap())
            .output()
            .unwrap()
    };
    for args in [
        &["sum", "big"][..],
        &["sum", "--threads", "3", "big"],
        &["sum", "big", "key"],
    ] {
        let output = limited(args);
        succeeds(&output);
        assert!(output.stdout.starts_with(&digest));
    }
    for args in [
        &["encrypt", "--key-file", "key", "big"][..],
        &["encrypt", "--key-file", "key", "-o", "piped"],
        &["decrypt", "--key-file", "key", "-o", "one", "big.vpx"],
        &["decrypt", "--key-file", "key", "-o", "two", "piped"],
        &["seal", "--key-file", "1", "--to", "2.pub", "big"],
        &[
            "unseal",
            "--quiet",
            "--key-file",
            "2",
            "--from",
            "1.pub",
            "-o",
            "four",
            "big.sealed",
        ],
        &["disk", "encrypt", "--key-file", "key", "big"],
        &[
            "disk",
            "decrypt",
            "--key-file",
            "key",
            "-o",
            "three",
            "big.vpdisk",
        ],
        &["sum", "--outboard", "outboard", "big"],
    ] {
        succeeds(&limited(args));
    }
    let digest = hex_digest(&folder.read("big"));
    for name in ["one", "two", "three", "four"] {
        assert_eq!(hex_digest(&folder.read(name)), digest, "{name}");
    }
    // Nothing would serve its clients, or remove an unfinished output that has a name when the process is ended.
    let serve = [
        "disk",
        "serve",
        "--key-file",
        "key",
        "--socket",
        "socket",
        "big.vpdisk",
    ];
    fails(&limited(&serve), IO, "threads", "unavailable");
    // That is found out first.
    let force = [
        "encrypt",
        "--force",
        "--key-file",
        "key",
        "-o",
        "big.vpx",
        "missing",
    ];
    fails(&limited(&force), IO, "big.vpx", "no thread for signals");
    assert_eq!(folder.names().iter().find(|name| name.starts_with('.')), None);
}

/// Appears with the mode and content of any other, and not in the place of something else.
#[test]
fn outputs_with_a_temporary_name() {
    let folder = Folder::new();
    let path = folder.path("out");
    for readers in [Readers::Owner, Readers::Any] {
        let mut output = NewFile::create_named(&path, readers).ok().unwrap();
        output.write_all(b"content").unwrap();
        output.commit().ok().unwrap();
        assert_eq!(folder.read("out"), b"content");
        folder.write("any", b"");
        let expected = if readers == Readers::Owner {
            0o600
        } else {
            folder.mode("any")
        };
        assert_eq!(folder.mode("out"), expected);
        let output = NewFile::create_named(&path, readers).ok().unwrap();
        let refused = output.commit().err().unwrap();
        assert!(format!("{refused:?}").contains("already exists"));
        drop(NewFile::create_named(&path, readers).ok().unwrap());
        assert_eq!(folder.names(), ["any", "out"]);
        fs::remove_file(&path).unwrap();
    }
}

/// What a program writes to a terminal.
#[cfg(target_os = "linux")]
pub fn on_a_terminal(command: &mut Command) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = File::options().read(true).write(true).open(name).unwrap();
    command.stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    command.stdout(Stdio::null()).stderr(Stdio::null()); // the slave is closed here
    let mut shown = Vec::new();
    // The end of a pseudoterminal is an error.
    let _ = File::from(master).read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

/// That a file with a password takes long is not that it is long: its header is no progress, and not in the total.
#[test]
#[cfg(target_os = "linux")]
fn a_header_is_no_progress() {
    let folder = Folder::new();
    folder.write("file", b"content");
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
    let slowly = "(head -c 20; sleep 1.2; cat) <file.vpx | exec \"$0\" decrypt --key-file key -o out";
    let mut command = Command::new("sh");
    command.args(["-c", slowly, env!("CARGO_BIN_EXE_veriplex")]);
    assert_eq!(on_a_terminal(command.current_dir(folder.0.path())), "");
    assert_eq!(folder.read("out"), b"content");
}

/// Names that hide what a check says of them, or write a line of their own.
const DECEPTIVE: [(&str, &str); 3] = [
    ("bad\u{1b}[8m", r"'bad'$'\033''[8m'"),
    ("ab\u{202e}dc", r"'ab'$'\342\200\256''dc'"),
    ("x\u{9b}31m", r"'x'$'\302\233''31m'"),
];

#[test]
#[cfg(target_os = "linux")]
fn names_do_not_act_on_the_terminal() {
    let folder = Folder::new();
    for (name, quoted) in DECEPTIVE {
        folder.write(name, b"changed");
        folder.write(
            "list",
            format!("VERIPLEX-DIGEST ({name}) = {}\n", hex_digest(b"as it was")).as_bytes(),
        );
        let shown = on_a_terminal(&mut folder.command(&["digest", "--check", "list"]));
        assert!(shown.contains(&format!("{quoted}: FAILED\r\n")), "{shown:?}");
        assert!(!shown.contains(name), "{shown:?}");
        for args in [&["digest", name][..], &["digest", "-z", name]] {
            let shown = on_a_terminal(&mut folder.command(args));
            assert_eq!(
                shown,
                format!("VERIPLEX-DIGEST ({quoted}) = {}\r\n", hex_digest(b"changed"))
            );
        }
        // Where no terminal is, names are as they are: another program reads them.
        let output = folder.run(&["digest", name]);
        assert_eq!(
            stdout(&output),
            format!("VERIPLEX-DIGEST ({name}) = {}\n", hex_digest(b"changed"))
        );
        fs::remove_file(folder.path(name)).unwrap();
        // Messages are for people, wherever they go.
        fails(&folder.run(&["digest", name]), IO, quoted, "No such file");
        // A name that a shell gives for `*`, and that looks like an option.
        let output = folder.run(&["digest", &format!("--{name}")]);
        assert_eq!(output.status.code(), Some(USAGE));
        assert!(!stderr(&output).contains(name), "{output:?}");
    }
    let output = folder.run(&["--help"]);
    assert!(stdout(&output).starts_with("Digest, authenticate"));
}

#[test]
fn lists_of_keys_end() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"plaintext");
    let output = soon(move || folder.run(&["seal", "--key-file", "1", "--to", "/dev/zero", "file"]));
    fails(&output, IO, "/dev/zero", "too large");
}

#[test]
fn costs_out_of_range_are_warned_of() {
    let folder = Folder::new();
    folder.write("password", b"password");
    folder.write("file", b"plaintext");
    let encrypt = |cost: &str| {
        folder.run(&[
            "encrypt",
            "--password-file",
            "password",
            "--cost",
            cost,
            "-fo",
            "out",
            "file",
        ])
    };
    let decrypt = |options: &[&str]| {
        let decrypt = ["decrypt", "--password-file", "password", "-o", "-", "out"];
        folder.run(&[&decrypt[..], options].concat())
    };
    let weak = encrypt("0");
    assert_eq!(weak.status.code(), Some(0));
    assert!(
        stderr(&weak).starts_with("veriplex: cost 0 is below 12: "),
        "{weak:?}"
    );
    succeeds(&decrypt(&[]));
    succeeds(&encrypt("12"));
    succeeds(&decrypt(&[]));
    let weak = folder.run(&["hash-password", "--password-file", "password", "--cost", "11"]);
    assert!(stderr(&weak).contains("cost 11 is below 12: "), "{weak:?}");
    // What is refused without an option is not made without a word. (Nobody waits for it.)
    let mut child = folder
        .command(&[
            "encrypt",
            "--password-file",
            "password",
            "--cost",
            "26",
            "-o",
            "high",
            "file",
        ])
        .spawn()
        .unwrap();
    let mut first = [0; 54];
    child.stderr.take().unwrap().read_exact(&mut first).unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    assert_eq!(
        str::from_utf8(&first).unwrap(),
        "veriplex: cost 26 is above 18: it will be refused with"
    );
}

/// A private key is read up to a fixed cost, so that it is not made with more.
#[test]
fn keys_that_nobody_could_read_are_not_made() {
    let folder = Folder::new();
    folder.write("password", b"password");
    let generate = ["key", "generate", "--private", "--password-file=password"];
    let output = folder.run(&[&generate[..], &["--cost=19", "new"]].concat());
    fails(&output, USAGE, "the cost", "at most 18");
    assert!(!folder.names().contains(&"new".to_owned()));
}

#[test]
fn keys_from_standard_input() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"plaintext");
    let made = folder.run(&["key", "generate", "--private", "-"]);
    succeeds(&made);
    let printed = folder.pipe(&["key", "public", "-"], &made.stdout);
    succeeds(&printed);
    assert!(stdout(&printed).starts_with("veriplex-public-key-v1 "));
    let output = folder.pipe(&["key", "public", "-", "--password-file", "-"], &made.stdout);
    fails(
        &output,
        USAGE,
        "standard input",
        "cannot be both password and key",
    );

    let signed = folder.pipe(&["sign", "-k", "-", "file"], private_line(1).as_bytes());
    succeeds(&signed);
    succeeds(&folder.run(&["verify", "--from", "1.pub", "file"]));
    let tags = folder.pipe(&["mac", "-k", "-", "file"], key_line(&KEY).as_bytes());
    succeeds(&tags);
    assert_eq!(
        stdout(&tags),
        format!("VERIPLEX-MAC (file) = {}\n", hex_tag(b"plaintext"))
    );
    for args in [
        &["sign", "-k", "-"][..],
        &["seal", "-k", "-", "--to", "1.pub", "-"],
        &["unseal", "-k", "-", "--from", "1.pub"],
        &["mac", "-k", "-", "file", "-"],
        &["encrypt", "-k", "-"],
        &["decrypt", "-k", "-"],
    ] {
        fails(
            &folder.pipe(args, b""),
            USAGE,
            "standard input",
            "cannot be both key and input",
        );
    }
}

/// With nobody to ask, it says what else to do.
#[test]
#[cfg(target_os = "linux")]
fn without_a_terminal_a_password_file_is_named() {
    let folder = Folder::new();
    folder.write("file", b"plaintext");
    folder.write("password", b"password");
    let generate = [
        "key",
        "generate",
        "--private",
        "--password-file=password",
        "--cost=0",
    ];
    assert!(
        folder
            .run(&[&generate[..], &["private"]].concat())
            .status
            .success()
    );
    for (args, option) in [
        (&["encrypt", "--password", "file"][..], "(--password-file"),
        (&["sign", "--key-file", "private", "file"], "(--password-file"),
        (&["key", "password", "private"], "(--password-file"),
        (
            &["key", "password", "--password-file=password", "private"],
            "(--new-password-file",
        ),
    ] {
        let output = Command::new("setsid")
            .arg("--wait")
            .arg(env!("CARGO_BIN_EXE_veriplex"))
            .args(args)
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fails(&output, IO, "terminal", option);
    }
}

/// A core would have what is secret in memory. Linux takes 0 for no limit of what a program gets through a pipe.
#[test]
#[cfg(target_os = "linux")]
fn no_core_is_written() {
    let folder = Folder::new();
    make_fifo(&folder, "pipe");
    let child = Command::new("sh")
        .args([
            "-c",
            "ulimit -c unlimited; exec \"$0\" encrypt -k key -o out pipe",
        ])
        .arg(env!("CARGO_BIN_EXE_veriplex"))
        .current_dir(folder.0.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _pipe = File::options().write(true).open(folder.path("pipe")).unwrap();
    wait_for_output(&folder, &child);
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let cores = limits.lines().find(|line| line.starts_with("Max core")).unwrap();
    assert_eq!(cores.split_whitespace().nth(4), Some("1"), "{cores}");
    signal(&child, Signal::TERM);
    child.wait_with_output().unwrap();
}
