//! What is read, and from where.

use super::*;

/// A descriptor that is not at its beginning is read on from where it is, by each command and at any length.
#[test]
fn descriptors_are_read_from_where_they_are() {
    use std::io::{Seek, SeekFrom};
    let folder = Folder::new();
    let from_fifth = |name: &str, args: &[&str]| {
        let mut file = File::open(folder.path(name)).unwrap();
        file.seek(SeekFrom::Start(5)).unwrap();
        let output = folder.command(args).stdin(file).output().unwrap();
        succeeds(&output);
        output.stdout
    };
    for len in [100, 3 << 20] {
        let content = noise(len);
        let after = |content: &[u8]| [b"12345", content].concat();
        folder.write("file", &after(&content));
        folder.write("content", &content);
        for command in ["sum", "digest"] {
            let read = from_fifth("file", &[command, "--untagged", "/dev/fd/0"]);
            let expected = folder.run(&[command, "--untagged", "content"]).stdout;
            assert_eq!(read[..64], expected[..64], "{command} {len}");
        }
        let to_stdout = ["-k", "key", "-o", "-", "/dev/fd/0"];
        let sealed = from_fifth("file", &[&["encrypt"], &to_stdout[..]].concat());
        folder.write("sealed", &after(&sealed));
        let opened = from_fifth("sealed", &[&["decrypt"], &to_stdout[..]].concat());
        assert!(opened == content, "{len}");
    }
}

/// Of a message that is longer than a buffer, the rest would be lost.
#[test]
#[cfg(target_os = "linux")]
fn a_socket_of_messages_is_no_stream() {
    use socket2::{Domain, Socket, Type};
    let folder = Folder::new();
    for kind in [Type::SEQPACKET, Type::DGRAM] {
        for input in ["-", "/dev/fd/0"] {
            let (inside, outside) = Socket::pair(Domain::UNIX, kind, None).unwrap();
            outside.send(b"abc").unwrap();
            let inside = std::os::fd::OwnedFd::from(inside);
            let mut command = folder.command(&["encrypt", "-k", "key", "-o", "sealed", input]);
            let output = command.stdin(inside).output().unwrap();
            fails_with(&output, IO, &["is no stream"]);
            assert!(!folder.path("sealed").exists());
        }
        for output in ["-", "/dev/fd/1", "/dev/fd/2"] {
            let [one, other] = [(); 2].map(|()| Socket::pair(Domain::UNIX, kind, None).unwrap());
            let mut command = folder.command(&["encrypt", "-k", "key", "-o", output, "key"]);
            command.stdout(std::os::fd::OwnedFd::from(one.0));
            command.stderr(std::os::fd::OwnedFd::from(other.0));
            assert_eq!(command.status().unwrap().code(), Some(IO));
        }
    }
}

#[test]
fn no_descriptor_is_negative() {
    let output = Folder::new().run(&["digest", "/dev/fd/-1"]);
    fails(&output, IO, "/dev/fd/-1", "No such file");
}

/// The system reports a reset only once. Who reads after that finds an end, which is none.
#[test]
fn a_reset_that_another_saw_is_no_end() {
    use std::net::{TcpListener, TcpStream};
    let folder = Folder::new();
    let list = format!("VERIPLEX-DIGEST (key) = {}\n", hex_digest(&folder.read("key")));
    let password = [
        "encrypt",
        "--password-file",
        "-",
        "--cost",
        "12",
        "-o",
        "sealed",
        "key",
    ];
    for (args, input) in [
        (&["digest"][..], "abc"),
        (&password, "password"),
        (&["sum", "/dev/fd/0"], "abc"),
        (&["encrypt", "-k", "key", "-o", "sealed", "-"], "abc"),
        (&["digest", "--check", "-"], &list),
        (&["key", "public", "-"], &private_line(1)),
    ] {
        for is_reset in [false, true] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut outside = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (inside, _) = listener.accept().unwrap();
            outside.write_all(input.as_bytes()).unwrap();
            if is_reset {
                let outside = socket2::Socket::from(outside);
                outside.set_linger(Some(Duration::ZERO)).unwrap();
                drop(outside);
                assert!(inside.take_error().unwrap().is_some());
            } else {
                drop(outside);
            }
            let inside = std::os::fd::OwnedFd::from(inside);
            let output = folder.command(args).stdin(inside).output().unwrap();
            if is_reset {
                fails_with(&output, IO, &["connection reset"]);
            } else {
                succeeds(&output);
                let _ = fs::remove_file(folder.path("sealed"));
            }
            assert!(folder.names().is_empty(), "{args:?}");
        }
    }
}

/// A list does not make the program wait, nor open a device.
#[test]
fn listed_names_are_of_regular_files() {
    let folder = Folder::new();
    folder.write("a", b"a");
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.unwrap().success());
    let line = |name: &str| format!("VERIPLEX-DIGEST ({name}) = {}\n", hex_digest(b"a"));
    let names = ["pipe", "/dev/zero", "a"];
    folder.write("list", names.map(line).concat().as_bytes());
    let output = soon(move || folder.run(&["digest", "--check", "list"]));
    let reasons = ["pipe: not a regular", "/dev/zero: not a regular", "2 of 3 files"];
    fails_with(&output, IO, &reasons);
    let expected = "pipe: FAILED open or read\n/dev/zero: FAILED open or read\na: OK\n";
    assert_eq!(stdout(&output), expected);
}

/// Runs a command line of a shell, with `N` for the number of a descriptor. Those from 3 to 9 are closed unless it opens them.
#[cfg(target_os = "linux")]
fn with_descriptors(folder: &Folder, args: &str, redirections: &str) -> Output {
    let script = format!("exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; exec \"$0\" {args} {redirections}");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_veriplex")])
        .current_dir(folder.0.path());
    soon(move || command.stdin(Stdio::null()).output().unwrap())
}

/// The number is never that of a file of the program's own.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_that_nobody_opened() {
    let folder = Folder::with_private_keys();
    folder.write("doc", b"first line\nsecond\n");
    fs::create_dir(folder.path("links")).unwrap();
    std::os::unix::fs::symlink("/proc/self/fd", folder.path("links/fd")).unwrap();
    let before = folder.names();
    for number in 3..10 {
        for args in [
            "encrypt --password-fd N --cost 12 -o - doc",
            "encrypt --password-fd N --cost 12 -fo out doc",
            "encrypt --password-file /proc/$$/fd/N --cost 12 -o - doc",
            "encrypt --password-file=links/fd/N --cost 12 -o - doc",
            "encrypt --key-fd N -o - key",
            "encrypt -k/dev/fd/0N -o - key",
            "encrypt -k key -fo out /dev/fd/N",
            "encrypt -k key -fo /dev/fd/N doc",
            "encrypt -k key -fo /dev/fd/N/out doc",
            "sign --key-file /proc/thread-self/fd/N -o - doc",
            "seal --key-fd N --to 2.pub -o out doc",
            "key password 1 --cost 12 --new-password-file /dev/fd/N",
            "disk encrypt --password-fd N --cost 12 -fo out doc",
            "sum key /dev/fd/N",
        ] {
            let args = args.replace('N', &number.to_string());
            let output = with_descriptors(&folder, &args, "");
            let reason = format!(": descriptor {number} is not open");
            fails_with(&output, IO, &[&reason]);
            assert_eq!((stdout(&output), folder.names()), ("", before.clone()), "{args}");
        }
    }
    assert_eq!(folder.read("1"), private_line(1).as_bytes());
}

/// Two uses would share the place in the file.
#[test]
#[cfg(target_os = "linux")]
fn a_descriptor_has_one_use() {
    let folder = Folder::new();
    folder.write("doc", b"first line\nsecond\n");
    for input in ["/dev/fd/3", "/proc/self/fd/3", "/dev/fd/4"] {
        let args = format!("encrypt --password-fd 3 --cost 12 -o - {input}");
        let output = with_descriptors(&folder, &args, "3<doc 4<&3");
        fails(&output, USAGE, input, "cannot be both password and input");
    }
    // A name has its own.
    let output = with_descriptors(&folder, "encrypt --password-fd 3 --cost 12 -o out doc", "3<doc");
    succeeds(&output);
    let output = folder.run(&["decrypt", "--password-file", "doc", "-o", "-", "out"]);
    succeeds(&output);
    assert_eq!(output.stdout, folder.read("doc"));
}

/// Where nothing gives a descriptor itself, as in most containers, it is not opened once more: that would begin again.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_in_a_sandbox() {
    let folder = Folder::new();
    folder.write("doc", b"first line\nsecond\n");
    folder.write("sealed", &encrypted(&KEY, &[9; 32], b"content"));
    let run = |args: &str, redirections: &str| {
        let strace = "strace -fqqo /dev/null -e inject=pidfd_getfd:error=EPERM";
        let script = format!(
            "printf piped | {{ read -r line <&9; exec {strace} \"$0\" {args} {redirections}; }} 9<doc"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_veriplex")]);
        let output = command.current_dir(folder.0.path()).stdin(Stdio::null()).output();
        let output = output.unwrap();
        (!stderr(&output).contains("strace:")).then_some(output)
    };
    for (args, name) in [
        ("digest /dev/fd/3", "/dev/fd/3"),
        ("encrypt --password-fd 3 --cost 12 -fo out /dev/fd/3", "/dev/fd/3"),
        ("mac --key-fd 3 doc", "/dev/fd/3"),
        ("decrypt -k key -fo /dev/fd/4 sealed", "/dev/fd/4"),
    ] {
        let Some(output) = run(args, "3<&9 4>out") else {
            println!("skipped: no fault was injected by strace");
            return;
        };
        fails(&output, IO, name, "only pipes and standard streams");
        assert_eq!((stdout(&output), folder.read("out")), ("", Vec::new()), "{args}");
    }
    // What is the same if it is opened once more, and what can be had without.
    let [second, piped] = [&b"second\n"[..], b"piped"].map(|read| format!("{} ", hex_digest(read)));
    for (args, redirections, expected) in [
        ("digest --untagged /dev/fd/0", "<&9", &*second),
        ("digest --untagged /dev/stdin", "<&9", &second),
        ("decrypt -k key -o /dev/fd/4 sealed", "4>&1", "content"),
        ("digest --untagged /dev/fd/3", "3<&0 </dev/null", &piped),
    ] {
        let output = run(args, redirections).unwrap();
        succeeds(&output);
        assert!(stdout(&output).starts_with(expected), "{args}");
    }
    // The end of a pipe that is written.
    fails(
        &run("digest /dev/fd/4", "4>&2").unwrap(),
        IO,
        "/dev/fd/4",
        "Bad file",
    );
}

/// That it has no place is another thing.
#[test]
#[cfg(target_os = "linux")]
fn a_place_that_cannot_be_told() {
    let folder = Folder::new();
    folder.write("doc", b"content");
    let args = ["encrypt", "--deterministic", "-k", "key", "doc"];
    if let Some(output) = disk_state::with_fault(&folder, "lseek:error=EIO", &args) {
        fails(&output, IO, "doc", "Input/output error");
    }
}

/// As in a chroot: their usual names are links that lead nowhere.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_without_proc() {
    let folder = Folder::new();
    folder.write("doc", b"content");
    fs::create_dir(folder.path("empty")).unwrap();
    folder.write("doc.vpx", &encrypted(&KEY, &[9; 32], b"content"));
    let tag = format!("VERIPLEX-MAC (doc) = {}\n", hex_tag(b"content"));
    for (args, expected) in [
        ("mac --key-fd 9 doc", &*tag),
        ("mac -k /dev/stdin doc", &tag),
        ("mac -k /proc/self/fd/9 doc", &tag),
        ("decrypt -k key -o /dev/fd/8 doc.vpx", "content"),
    ] {
        let script = format!("mount --bind empty /proc && exec \"$0\" {args} <key 9<key 8>&1");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script, env!("CARGO_BIN_EXE_veriplex")]);
        let output = command.current_dir(folder.0.path()).output();
        let Some(output) = output.ok().filter(|output| !stderr(output).contains("unshare:")) else {
            println!("skipped: needs root");
            return;
        };
        succeeds(&output);
        assert_eq!(stdout(&output), expected, "{args}");
    }
}

/// It is open, but not for reading.
#[test]
#[cfg(target_os = "linux")]
fn standard_input_without_content() {
    use rustix::fs::{Mode, OFlags, open};
    let folder = Folder::new();
    folder.write("doc", b"content");
    for args in [&["digest"][..], &["encrypt", "-k", "key", "-o", "-"]] {
        let place = open(folder.path("doc"), OFlags::PATH, Mode::empty()).unwrap();
        let output = folder.command(args).stdin(place).output().unwrap();
        fails(&output, IO, "standard input", "not open for reading");
    }
}
