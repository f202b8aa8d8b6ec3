//! The command `sum`: tree digests, lists of them, and outboards.

use std::io::{Seek, SeekFrom};

use veriplex::tree::{Tree, outboard};

use super::lists::check_lists;
use super::*;

fn tree() -> Tree {
    Tree::new(label!("veriplex.sum.v1"))
}

fn hex_sum(bytes: &[u8]) -> String {
    hex::encode(tree().digest(bytes))
}

#[test]
fn sums_of_files_and_pipes() {
    let folder = Folder::new();
    for len in [
        0,
        1,
        4096,
        4097,
        131_072,
        (1 << 20) + 1,
        3 << 20,
        (5 << 20) + 12_345,
    ] {
        let content = noise(len);
        folder.write("file", &content);
        let expected = hex_sum(&content);
        for options in [&[][..], &["-j1"], &["--threads", "3"]] {
            let output = folder.run(&[&["sum", "--untagged"], options, &["file"]].concat());
            succeeds(&output);
            assert_eq!(
                stdout(&output),
                format!("{expected}  file\n"),
                "{len} {options:?}"
            );
        }
        let output = folder.pipe(&["sum", "--untagged"], &content);
        succeeds(&output);
        assert_eq!(stdout(&output), format!("{expected}  -\n"));

        let mut long = vec![0; 100];
        tree().digest_into(&content, &mut long);
        let output = folder.run(&["sum", "--untagged", "--length", "100", "file"]);
        assert_eq!(stdout(&output), format!("{}  file\n", hex::encode(long)));
        let keyed = Tree::keyed(label!("veriplex.sum.v1"), &KEY.into()).digest(&content);
        let output = folder.run(&["sum", "--untagged", "--key-file", "key", "file"]);
        assert_eq!(stdout(&output), format!("{}  file\n", hex::encode(keyed)));
    }
    // A file that says that it is empty.
    #[cfg(target_os = "linux")]
    {
        let version = fs::read("/proc/version").unwrap();
        let output = folder.run(&["sum", "--untagged", "/proc/version"]);
        assert_eq!(stdout(&output), format!("{}  /proc/version\n", hex_sum(&version)));
    }
}

#[test]
fn check_lists_of_sums() {
    check_lists(&["sum", "--untagged"], hex_sum);
    check_lists(&["sum", "--untagged", "--key-file", "key"], |bytes| {
        hex::encode(Tree::keyed(label!("veriplex.sum.v1"), &KEY.into()).digest(bytes))
    });
}

#[test]
fn lines_that_say_what_they_are() {
    let folder = Folder::new();
    for name in ["a", "b) = c", "new\nline"] {
        folder.write(name, name.as_bytes());
    }
    for (command, tag) in [
        (&["sum"][..], "VERIPLEX-SUM"),
        (&["digest"], "VERIPLEX-DIGEST"),
        (&["mac", "-k", "key"], "VERIPLEX-MAC"),
        (&["sum", "--length", "7"], "VERIPLEX-SUM"),
        (&["sum", "-k", "key"], "VERIPLEX-KEYED-SUM"),
    ] {
        let files = ["a", "b) = c", "new\nline"];
        let output = folder.run(&[command, &files].concat());
        succeeds(&output);
        let lines: Vec<&str> = stdout(&output).lines().collect();
        assert!(lines[0].starts_with(&format!("{tag} (a) = ")), "{lines:?}");
        assert!(lines[1].starts_with(&format!("{tag} (b) = c) = ")));
        assert!(lines[2].starts_with(&format!("\\{tag} (new\\nline) = ")));
        folder.write("list", &output.stdout);
        let output = folder.run(&[command, &["--check", "list"]].concat());
        succeeds(&output);
        assert_eq!(stdout(&output), "a: OK\nb) = c: OK\n\\new\\nline: OK\n");
        // Another command's list is not its own.
        let other: &[&str] = if tag == "VERIPLEX-MAC" {
            &["digest"]
        } else {
            &["mac", "-k", "key"]
        };
        let output = folder.run(&[other, &["--check", "list"]].concat());
        assert_eq!(output.status.code(), Some(UNVERIFIED));
    }
    // No program of the ecosystem takes it for its own.
    for program in ["sha256sum", "b3sum"] {
        folder.write("list", &folder.run(&["sum", "a"]).stdout);
        let Ok(output) = Command::new(program)
            .args(["--check", "list"])
            .current_dir(folder.0.path())
            .output()
        else {
            continue;
        };
        assert!(!output.status.success());
        assert!(!stdout(&output).contains("a: FAILED"), "{output:?}");
    }
}

/// Without the key of a list, or with one too many, nobody says that a file has changed.
#[test]
fn lists_made_with_a_key() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.write(name, name.as_bytes());
    }
    let (plain, keyed) = (&["sum"][..], &["sum", "-k", "key"][..]);
    for (made, checked, reason) in [
        (keyed, plain, "listed with a key (needs --key-file)"),
        (plain, keyed, "listed without a key (omit --key-file)"),
    ] {
        let list = [
            folder.run(&[made, &["a"]].concat()).stdout,
            folder.run(&[checked, &["b"]].concat()).stdout,
        ];
        folder.write("list", &list.concat());
        let output = folder.run(&[checked, &["--check", "list"]].concat());
        let reasons = [
            format!("a: {reason}"),
            "list: 1 of 2 files could not be read".into(),
        ];
        fails_with(&output, IO, &reasons.each_ref().map(String::as_str));
        assert_eq!(stdout(&output), "a: FAILED open or read\nb: OK\n");
    }
}

#[test]
fn folders() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    fs::create_dir_all(folder.path("f/b/c")).unwrap();
    fs::create_dir(folder.path("f/empty")).unwrap();
    for name in ["f/a", "f/b/x", "f/b/c/y", "f/z"] {
        folder.write(name, name.as_bytes());
    }
    symlink("..", folder.path("f/b/loop")).unwrap();
    symlink("../a", folder.path("f/b/link")).unwrap();
    symlink("f", folder.path("to f")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.path("f/pipe"))
            .status()
            .unwrap()
            .success()
    );
    let lines = |root: &str| {
        ["a", "b/c/y", "b/x", "z"]
            .map(|name| format!("{}  {root}/{name}\n", hex_sum(format!("f/{name}").as_bytes())))
            .concat()
    };
    for root in ["f", "to f"] {
        let output = folder.run(&["sum", "--untagged", "--recursive", root]);
        succeeds(&output);
        assert_eq!(stdout(&output), lines(root));
    }
    folder.write("list", lines("f").as_bytes());
    succeeds(&folder.run(&["sum", "--check", "--untagged", "list"]));
    let output = folder.run(&["sum", "--untagged", "-r", "missing", "f/a"]);
    fails(&output, IO, "missing", "No such file");
    assert_eq!(stdout(&output), format!("{}  f/a\n", hex_sum(b"f/a")));
    fails(&folder.run(&["sum", "f/"]), IO, "f/", "is a folder");
}

/// Where zeros are not stored, they are not read: 1 TiB of them takes no time.
#[test]
#[cfg(target_os = "linux")]
fn sparse_files() {
    let folder = Folder::new();
    let path = folder.path("sparse");
    let unit = 1 << 19;
    for (len, data) in [
        (4 * unit, &[][..]),
        (4 * unit + 1, &[]),
        (4 * unit, &[0]),
        (8 * unit, &[3 * unit - 1, 3 * unit]),
        (8 * unit + 100, &[8 * unit + 99]),
        (40 * unit + 5, &[unit, 17 * unit + 4096, 39 * unit]),
    ] {
        let file = File::create(&path).unwrap();
        file.set_len(len).unwrap();
        for &at in data {
            (&file).seek(SeekFrom::Start(at)).unwrap();
            (&file).write_all(b"x").unwrap();
        }
        let output = folder.run(&["sum", "--untagged", "-j2", "sparse"]);
        succeeds(&output);
        assert_eq!(
            stdout(&output),
            format!("{}  sparse\n", hex_sum(&fs::read(&path).unwrap()))
        );
    }

    let len = 1_u64 << 40;
    File::create(&path).unwrap().set_len(len).unwrap();
    let node = |level: u8, bytes: &[u8]| {
        let mut node = Protocol::new(label!("veriplex.sum.v1"));
        node.mix(label!("level"), &[level]);
        node.mix(label!("node"), bytes);
        node
    };
    let mut chunk = vec![0; 4096];
    for level in 0..4 {
        chunk = node(level, &chunk).derive_vec(label!("cv"), 32).repeat(128);
    }
    let mut root = node(4, &chunk);
    root.mix(label!("length"), &len.to_le_bytes());
    let expected = hex::encode(root.derive_vec(label!("digest"), 32));
    let output = folder.run(&["sum", "--untagged", "sparse"]);
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{expected}  sparse\n"));
}

#[test]
#[allow(clippy::too_many_lines)] // one case after the other
fn outboards() {
    let folder = Folder::new();
    for len in [0, 1, 4096, 10_000, 600_000, 3_000_001] {
        let content = noise(len);
        folder.write("file", &content);
        let write = ["sum", "--untagged", "--outboard", "outboard", "file"];
        let mode = if len == 1 { 0o600 } else { 0o644 };
        folder.set_mode("file", mode);
        let output = folder.run(&write);
        succeeds(&output);
        assert_eq!(folder.mode("outboard") & 0o777, mode);
        let digest = hex_sum(&content);
        assert_eq!(stdout(&output), format!("{digest}  file\n"));
        // The format is as documented.
        let mut builder = outboard::Builder::new(&tree());
        builder.update(&content);
        let (_, strings) = builder.finalize();
        let header = [b"VPX-TREE\x01".as_slice(), &(len as u64).to_le_bytes()].concat();
        assert!(folder.read("outboard") == [header, strings].concat());
        fails(&folder.run(&write), IO, "outboard", "already exists");
        succeeds(&folder.run(&[&write[..], &["--force"]].concat()));

        let verify = ["sum", "--outboard", "outboard", "--verify", &digest];
        let run = |args: &[&str]| folder.run(&[&verify[..], args].concat());
        let output = run(&["file"]);
        succeeds(&output);
        assert_eq!(stdout(&output), "file: OK\n");
        if len < 100_000 {
            fs::remove_file(folder.path("outboard")).unwrap();
            continue;
        }
        // A range, of which alone anything is read.
        let mut damaged = content.clone();
        damaged[50_000] ^= 1;
        folder.write("damaged", &damaged);
        fails(
            &run(&["damaged"]),
            UNVERIFIED,
            "damaged",
            "near byte 49152: differs from the hashed file",
        );
        for (range, good) in [
            ("0:49152", true),
            ("49151:49153", false),
            ("53248:", true),
            (":", false),
            ("50000:50001", false),
            ("49000:49152", true),
        ] {
            let output = run(&["--range", range, "damaged"]);
            assert_eq!(
                output.status.code(),
                Some(if good { 0 } else { UNVERIFIED }),
                "{range}: {output:?}"
            );
        }
        // A part of the file, without the rest.
        folder.write("part", &content[40_960..81_920]);
        fails(
            &run(&["part"]),
            UNVERIFIED,
            "part",
            &format!("ends at byte 40960, but the hashed file has {len} bytes"),
        );
        succeeds(&run(&["--part", "40960", "part"]));
        succeeds(&run(&["--part", "40960", "--range", "50000:60000", "part"]));
        fails(
            &run(&["--part", "36864", "part"]),
            UNVERIFIED,
            "part",
            "near byte 36864",
        );
        fails(
            &run(&["--part", "40961", "part"]),
            USAGE,
            "part",
            "multiple of 4096",
        );
        fails(
            &run(&["--part", "40960", "--range", "0:50000", "part"]),
            USAGE,
            "part",
            "does not contain this range",
        );
        fails(
            &run(&["--range", "7:7", "file"]),
            USAGE,
            "file",
            "the range is empty",
        );
        folder.write("part", &content[40_960..]);
        succeeds(&run(&["--part", "40960", "part"]));
        folder.write("part", &content[40_960..50_000]);
        fails(
            &run(&["--part", "40960", "part"]),
            USAGE,
            "part",
            "multiple of 4096",
        );
        folder.write("part", &[&content[..], b"x"].concat());
        fails(&run(&["part"]), UNVERIFIED, "part", "but the hashed file has");

        // Neither digest nor outboard is taken for another.
        let other = hex_sum(b"other");
        let output = folder.run(&["sum", "--outboard", "outboard", "--verify", &other, "file"]);
        fails(&output, UNVERIFIED, "file", "differs from the hashed file");
        let keyed = folder.run(&[&verify[..], &["--key-file", "key", "file"]].concat());
        fails(&keyed, UNVERIFIED, "file", "differs from the hashed file");
        let outboard = folder.read("outboard");
        for (at, name) in [
            (0, "outboard"),
            (8, "outboard"),
            (9, "file"),
            (17, "file"),
            (outboard.len() - 1, "file"),
        ] {
            let mut damaged = outboard.clone();
            damaged[at] ^= 1;
            folder.write("outboard", &damaged);
            fails(&run(&["file"]), UNVERIFIED, name, "");
            folder.write("outboard", &outboard[..at]);
            fails(&run(&["file"]), UNVERIFIED, "outboard", "");
        }
        fs::remove_file(folder.path("outboard")).unwrap();
    }
    // Under a key.
    let output = folder.run(&[
        "sum",
        "--untagged",
        "--key-file",
        "key",
        "--outboard",
        "outboard",
        "file",
    ]);
    succeeds(&output);
    let digest = stdout(&output).split(' ').next().unwrap();
    let verify = ["sum", "--outboard", "outboard", "--verify", digest, "file"];
    fails(
        &folder.run(&verify),
        UNVERIFIED,
        "file",
        "differs from the hashed file",
    );
    succeeds(&folder.run(&[&verify[..], &["--key-file", "key"]].concat()));

    fails(
        &folder.pipe(&["sum", "--outboard", "new"], b"x"),
        USAGE,
        "standard input",
        "must be a regular file",
    );
    fails(
        &folder.run(&["sum", "--outboard", "-", "file"]),
        USAGE,
        "-",
        "must be a regular file",
    );
    fails(
        &folder.run(&["sum", "--outboard", "new", "file", "file"]),
        USAGE,
        "--outboard",
        "one file",
    );
    for args in [
        &["sum", "--verify", digest, "file"][..],
        &["sum", "--outboard", "outboard", "--verify", "abc", "file"],
        &["sum", "--part", "0", "file"],
        &[
            "sum",
            "--outboard",
            "outboard",
            "--verify",
            digest,
            "--range",
            "1-2",
            "file",
        ],
        &["sum", "--outboard", "new", "--length", "64", "file"],
    ] {
        assert_eq!(folder.run(args).status.code(), Some(USAGE), "{args:?}");
    }
    assert_eq!(folder.names(), ["damaged", "file", "outboard", "part"]);
}

/// An outboard is not believed how long what was hashed is, before that is verified by the digest.
#[test]
fn nothing_is_ok_without_the_digest() {
    let folder = Folder::new();
    let mut forged = b"VPX-TREE\x01".to_vec();
    forged.extend([0; 8]);
    folder.write("outboard", &forged);
    folder.write("empty", &[]);
    let run = |digest: &str, args: &[&str]| {
        folder.run(&[&["sum", "--outboard", "outboard", "--verify", digest], args].concat())
    };
    for range in [
        &[][..],
        &["--range", "1000000:"],
        &["--range", ":0"],
        &["--range", "7:0"],
    ] {
        let args = [range, &["empty"]].concat();
        fails(
            &run(&hex_sum(b"other"), &args),
            UNVERIFIED,
            "empty",
            "differs from the hashed file",
        );
        // Nor is the end of a file taken for a part of it.
        let output = run(&hex_sum(b""), &args);
        match range {
            [] | [_, ":0"] => succeeds(&output),
            _ => fails(&output, USAGE, "empty", "does not contain this range"),
        }
    }
}
