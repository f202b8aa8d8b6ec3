//! The commands `digest` and `mac`, and lists of what they print.

use super::*;

#[test]
fn digest_of_files_and_pipes() {
    let folder = Folder::new();
    let contents = [noise(0), noise(1), noise(300_000)];
    folder.write("empty", &contents[0]);
    folder.write("one byte", &contents[1]);
    folder.write("long", &contents[2]);
    let output = folder.run(&["digest", "--untagged", "empty", "one byte", "long"]);
    succeeds(&output);
    let [empty, one, long] = contents.each_ref().map(|bytes| hex_digest(bytes));
    assert_eq!(
        stdout(&output),
        format!("{empty}  empty\n{one}  one byte\n{long}  long\n")
    );
    for args in [&["digest", "--untagged"][..], &["digest", "--untagged", "-"]] {
        let output = folder.pipe(args, &contents[2]);
        succeeds(&output);
        assert_eq!(stdout(&output), format!("{long}  -\n"));
    }
}

#[test]
fn unreadable_files_do_not_stop_the_others() {
    let folder = Folder::new();
    folder.write("a", b"a");
    folder.write("b", b"b");
    fs::create_dir(folder.path("folder")).unwrap();
    let output = folder.run(&["digest", "--untagged", "a", "missing", "b"]);
    fails(&output, IO, "missing", "No such file");
    assert_eq!(
        stdout(&output),
        format!("{}  a\n{}  b\n", hex_digest(b"a"), hex_digest(b"b"))
    );
    let output = folder.run(&["mac", "--untagged", "--key-file", "key", "folder", "b"]);
    fails(&output, IO, "folder", "is a folder");
    assert_eq!(stdout(&output), format!("{}  b\n", hex_tag(b"b")));
}

#[test]
fn mac_of_files_and_pipes() {
    let folder = Folder::new();
    let long = noise(300_000);
    folder.write("long", &long);
    let output = folder.run(&["mac", "--untagged", "--key-file", "key", "long"]);
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{}  long\n", hex_tag(&long)));
    let output = folder.pipe(&["mac", "--untagged", "--key-file", "key"], b"abc");
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{}  -\n", hex_tag(b"abc")));
}

/// Everything about `--check` that digests and tags share.
#[allow(clippy::too_many_lines)] // one case after the other
pub(super) fn check_lists(command: &[&str], sum: fn(&[u8]) -> String) {
    let folder = Folder::new();
    let run = |args: &[&str]| folder.run(&[command, args].concat());
    let (a, b) = (sum(b"a"), sum(b"b"));
    for name in ["a", "b"] {
        folder.write(name, name.as_bytes());
    }
    let list = run(&["a", "b"]).stdout;
    folder.write("list", &list);

    let output = run(&["--check", "list"]);
    succeeds(&output);
    assert_eq!(stdout(&output), "a: OK\nb: OK\n");
    let output = run(&["--check", "--quiet", "list"]);
    succeeds(&output);
    assert_eq!(stdout(&output), "");
    let output = folder.pipe(&[command, &["--check"]].concat(), &list);
    succeeds(&output);
    assert_eq!(stdout(&output), "a: OK\nb: OK\n");

    // Endings that other systems and editors leave, and digits that others write.
    folder.write(
        "ends",
        format!("{a}  a\r\n{}  b", b.to_ascii_uppercase()).as_bytes(),
    );
    let output = run(&["--check", "ends"]);
    succeeds(&output);
    assert_eq!(stdout(&output), "a: OK\nb: OK\n");

    // Each digit counts.
    for i in 0..a.len() {
        let mut digits = a.clone().into_bytes();
        digits[i] = if digits[i] == b'0' { b'1' } else { b'0' };
        let digits = String::from_utf8(digits).unwrap();
        folder.write("bad", format!("{digits}  a\n{b}  b\n").as_bytes());
        let output = run(&["--check", "bad"]);
        fails(&output, UNVERIFIED, "bad", "1 of 2 files did not match");
        assert_eq!(stdout(&output), "a: FAILED\nb: OK\n");
    }
    let output = run(&["--check", "--quiet", "bad"]);
    fails(&output, UNVERIFIED, "bad", "did not match");
    assert_eq!(stdout(&output), "a: FAILED\n");
    // A bad list among good ones.
    let output = run(&["--check", "bad", "list"]);
    fails(&output, UNVERIFIED, "bad", "did not match");
    assert_eq!(stdout(&output), "a: FAILED\nb: OK\na: OK\nb: OK\n");

    folder.write("gone", format!("{a}  missing\n{b}  b\n").as_bytes());
    let output = run(&["--check", "gone"]);
    let reasons = ["missing: No such file", "gone: 1 of 2 files could not be read"];
    fails_with(&output, IO, &reasons);
    assert_eq!(stdout(&output), "missing: FAILED open or read\nb: OK\n");
    // A failed verification outweighs it.
    let output = run(&["--check", "gone", "bad"]);
    assert_eq!(output.status.code(), Some(UNVERIFIED));
    let output = run(&["--check", "bad", "gone"]);
    assert_eq!(output.status.code(), Some(UNVERIFIED));

    // As other programs write it.
    folder.write(
        "star",
        format!("# a comment\n\n{a} *a\n \t\r\n{b}  b\n#\n").as_bytes(),
    );
    let output = run(&["--check", "--strict", "star"]);
    succeeds(&output);
    assert_eq!(stdout(&output), "a: OK\nb: OK\n");

    for line in [
        a.clone(),
        format!("{a} a"),
        format!("{a}  "),
        format!("{a} b*a"),
        format!(" {a}  a"),
        format!("{}  a", &a[1..]),
        format!("{}  a", &a[2..]),
        format!("{a}00  a"),
        format!("g{}  a", &a[1..]),
        format!("\\{a}  a\\"),
        format!("\\{a}  \\a"),
        format!("{a}  {}", "a".repeat(70_000)),
    ] {
        folder.write("odd", format!("{a}  a\n{line}\n{b}  b\n").as_bytes());
        for (options, status) in [(&[][..], 0), (&["--strict"], UNVERIFIED)] {
            let output = run(&[&["--check", "odd"][..], options].concat());
            fails(&output, status, "odd", "line 2: ");
            assert_eq!(stdout(&output), "a: OK\nb: OK\n", "{line}");
        }
        folder.write("odd", format!("{line}\n").as_bytes());
        let output = run(&["--check", "odd"]);
        assert_eq!(output.status.code(), Some(UNVERIFIED), "{line}");
        assert!(
            stderr(&output).ends_with("veriplex: odd: no valid lines\n"),
            "{line}"
        );
        assert_eq!(stdout(&output), "");
    }
    // Nothing but the exit status.
    for (list, status) in [("list", 0), ("odd", UNVERIFIED), ("bad", UNVERIFIED)] {
        folder.write("odd", format!("{a}  a\nodd\n").as_bytes());
        let output = run(&["--check", "--status", "--strict", list]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(status), ""));
        assert_eq!(stderr(&output), "");
    }
    // Files that do not exist.
    let output = run(&["--check", "--ignore-missing", "gone"]);
    succeeds(&output);
    assert_eq!(stdout(&output), "b: OK\n");
    folder.write("gone", format!("{a}  missing\n").as_bytes());
    let output = run(&["--check", "--ignore-missing", "gone"]);
    fails(&output, UNVERIFIED, "gone", "no file was verified");
    assert_eq!(stdout(&output), "");
    folder.write("gone", format!("{a}  missing\n{a}  .\n{b}  b\n").as_bytes());
    let output = run(&["--check", "--ignore-missing", "gone"]);
    fails_with(
        &output,
        IO,
        &[".: not a regular file", "gone: 1 of 3 files could not be read"],
    );
    assert_eq!(stdout(&output), ".: FAILED open or read\nb: OK\n");
    for option in ["--ignore-missing", "--status", "--strict"] {
        assert_eq!(run(&[option, "a"]).status.code(), Some(USAGE), "{option}");
    }
    assert_eq!(run(&["--check", "--zero", "list"]).status.code(), Some(USAGE));
    folder.write("empty", b"");
    fails(&run(&["--check", "empty"]), UNVERIFIED, "empty", "no valid lines");
    fails(&run(&["--check", "missing"]), IO, "missing", "No such file");
}

/// A line that names the algorithm is ours; as this program prints it, none is malformed.
#[test]
fn tagged_lists_are_whole() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.write(name, name.as_bytes());
    }
    let list = folder.run(&["sum", "a", "b"]).stdout;
    let lost = list.iter().position(|&byte| byte == b'=').unwrap();
    let damaged = [&list[..lost], &list[lost + 1..]].concat();
    for (bad, line, verdicts) in [(&list[..list.len() - 9], 2, "a: OK\n"), (&damaged, 1, "b: OK\n")] {
        folder.write("list", bad);
        let output = folder.run(&["sum", "--check", "list"]);
        fails(&output, UNVERIFIED, "list", &format!("line {line}: "));
        assert_eq!(stdout(&output), verdicts);
    }
}

/// What another program or command made is named.
#[test]
fn lists_of_others() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.write(name, name.as_bytes());
    }
    let hex = "5a".repeat(32);
    let tag = folder.run(&["digest", "a"]).stdout;
    let tag = String::from_utf8(tag).unwrap();
    for (line, reason) in [
        (format!("SHA256 (a) = {hex}"), "line 1: SHA256, not VERIPLEX-SUM"),
        (
            format!("\\BLAKE2b-256 (a\\n) = {hex}"),
            "line 1: BLAKE2b-256, not VERIPLEX-SUM",
        ),
        (tag, "line 1: VERIPLEX-DIGEST, not VERIPLEX-SUM"),
        (
            format!("{hex}{hex}  a"),
            "line 1: names no algorithm, and has 64 bytes, not 32",
        ),
        (
            format!("{hex}  a"),
            "line 1: names no algorithm (--untagged assumes VERIPLEX-SUM)",
        ),
        (
            format!("VERIPLEX-SUM (a) = {}", &hex[2..]),
            "line 1: 31 bytes, not 32",
        ),
        (format!("{hex}x a"), "line 1: malformed"),
        ("\u{1b}[8m (a) = 5a".into(), "line 1: malformed"),
    ] {
        folder.write("list", line.as_bytes());
        fails_with(
            &folder.run(&["sum", "--check", "list"]),
            UNVERIFIED,
            &[reason, "no valid lines"],
        );
    }
    // The same form, but no digest is right.
    folder.write("list", format!("{hex}  a\n{hex} *b\n").as_bytes());
    fails(
        &folder.run(&["sum", "--check", "--untagged", "list"]),
        UNVERIFIED,
        "list",
        "2 of 2 files did not match",
    );
    // Names that begin with a star have two blanks before it.
    folder.write("*a", b"a");
    let list = folder.run(&["sum", "--untagged", "*a"]).stdout;
    let output = folder.pipe(&["sum", "--check", "--untagged"], &list);
    succeeds(&output);
    assert_eq!(stdout(&output), "*a: OK\n");
}

#[test]
fn lines_that_end_in_nul() {
    let folder = Folder::new();
    folder.write("new\nline\\", b"x");
    folder.write("b", b"x");
    let digest = hex_digest(b"x");
    let output = folder.run(&["digest", "--zero", "--untagged", "new\nline\\", "b"]);
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{digest}  new\nline\\\0{digest}  b\0"));
    let output = folder.run(&["digest", "-z", "new\nline\\"]);
    let expected = format!("VERIPLEX-DIGEST (new\nline\\) = {digest}\0");
    assert_eq!(stdout(&output), expected);
}

#[test]
fn check_lists_of_digests() {
    check_lists(&["digest", "--untagged"], hex_digest);
}

#[test]
fn check_lists_of_tags() {
    check_lists(&["mac", "--untagged", "--key-file", "key"], hex_tag);
}

#[test]
fn tags_depend_on_the_key() {
    let folder = Folder::new();
    folder.write(
        "list",
        format!("{}  key\n", hex_tag(&folder.read("key"))).as_bytes(),
    );
    succeeds(&folder.run(&["mac", "--untagged", "--key-file", "key", "--check", "list"]));
    folder.write("other key", key_line(&[1; 32]).as_bytes());
    let output = folder.run(&["mac", "--untagged", "--key-file", "other key", "--check", "list"]);
    fails(&output, UNVERIFIED, "list", "did not match");
}

#[test]
fn odd_names_are_escaped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    let names: [&[u8]; 4] = [b"back\\slash", b"new\nline", b"carriage\r", b"not \xff Unicode"];
    let mut expected = Vec::new();
    let mut verdicts = Vec::new();
    let escaped: [&[u8]; 4] = [
        b"back\\\\slash",
        b"new\\nline",
        b"carriage\\r",
        b"not \xff Unicode",
    ];
    let mut command = folder.command(&["digest", "--untagged"]);
    for (name, escaped) in names.iter().zip(escaped) {
        let name = OsStr::from_bytes(name);
        fs::write(folder.0.path().join(name), b"x").unwrap();
        command.arg(name);
        if escaped.contains(&b'\\') {
            expected.push(b'\\');
            verdicts.push(b'\\');
        }
        expected.extend_from_slice(hex_digest(b"x").as_bytes());
        expected.extend_from_slice(b"  ");
        for list in [&mut expected, &mut verdicts] {
            list.extend_from_slice(escaped);
        }
        expected.push(b'\n');
        verdicts.extend_from_slice(b": OK\n");
    }
    let output = command.output().unwrap();
    succeeds(&output);
    assert_eq!(output.stdout, expected);
    let output = folder.pipe(&["digest", "--untagged", "--check"], &expected);
    succeeds(&output);
    assert_eq!(output.stdout, verdicts);

    // Messages stay one line.
    fails(
        &folder.run(&["digest", "missing\nfile"]),
        IO,
        r"'missing'$'\n''file'",
        "No such file",
    );
}

#[test]
fn digests_of_any_length() {
    let folder = Folder::new();
    folder.write("file", b"message");
    let expected = |len| {
        let mut hasher = digest::Hasher::new(label!("veriplex.digest.v1"));
        hasher.update(b"message");
        let mut digest = vec![0; len];
        hasher.finalize_into(&mut digest);
        format!("{}  file\n", hex::encode(digest))
    };
    for len in [1, 20, 32, 64, 16_384] {
        let length = ["digest", "--untagged", "--length", &len.to_string()];
        let output = folder.run(&[&length[..], &["file"]].concat());
        succeeds(&output);
        assert_eq!(stdout(&output), expected(len));
        folder.write("list", &output.stdout);
        let output = folder.run(&[&length[..], &["--check", "list"]].concat());
        succeeds(&output);
        assert_eq!(stdout(&output), "file: OK\n");
    }
    let output = folder.run(&["digest", "--untagged", "--check", "list"]);
    fails_with(
        &output,
        UNVERIFIED,
        &["line 1: 16384 bytes, not 32", "no valid lines"],
    );
}

/// Whether a file differs is known even if nobody can be told which.
#[test]
#[cfg(target_os = "linux")]
fn a_failed_check_outweighs_a_full_disk() {
    let folder = Folder::new();
    folder.write("right", b"right");
    folder.write("wrong", b"wrong");
    let list = folder.run(&["digest", "right", "wrong"]).stdout;
    folder.write("list", &list);
    folder.write("wrong", b"other");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = folder
        .command(&["digest", "--check", "list"])
        .stdout(full)
        .output()
        .unwrap();
    fails_with(&output, UNVERIFIED, &["standard output", "1 of 2 files"]);
}

/// Whoever waits for a reader of a pipe still does: it is not even opened.
#[test]
fn listed_pipes_are_not_opened() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (sender, opened) = mpsc::channel();
    let path = pipe.clone();
    let writer = thread::spawn(move || {
        let file = File::options().write(true).open(path).unwrap();
        sender.send(()).unwrap();
        file
    });
    folder.write(
        "list",
        format!("VERIPLEX-DIGEST (pipe) = {}\n", hex_digest(b"")).as_bytes(),
    );
    let output = folder.run(&["digest", "--check", "list"]);
    assert_eq!(output.status.code(), Some(IO));
    assert!(opened.recv_timeout(Duration::from_millis(300)).is_err());
    let _reader = File::options().read(true).open(&pipe).unwrap();
    writer.join().unwrap();
}
