//! What is read, and from where.

use super::*;

/// A descriptor that is not at its beginning is read on from where it is, by each command and at any length.
#[test]
#[cfg(unix)]
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

/// A list does not make the program wait, nor open a device.
#[test]
#[cfg(unix)]
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
