//! Where output goes: names, modes, existing files, full disks, pipes that close.

use std::ffi::OsStr;

use super::*;

#[test]
fn existing_outputs_are_kept_without_force() {
    let folder = Folder::new();
    folder.write("file", b"plaintext");
    folder.write("file.vpx", b"precious");
    let output = folder.run(&["encrypt", "--key-file", "key", "file"]);
    fails(&output, IO, "file.vpx", "already exists");
    assert_eq!(folder.read("file.vpx"), b"precious");
    let output = folder.run(&["encrypt", "--key-file", "key", "-o", "file", "key"]);
    fails(&output, IO, "file", "already exists");
    assert_eq!(folder.read("file"), b"plaintext");

    succeeds(&folder.run(&["encrypt", "--force", "--key-file", "key", "file"]));
    let output = folder.run(&["decrypt", "--key-file", "key", "file.vpx"]);
    fails(&output, IO, "file", "already exists");
    folder.write("file", b"older");
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "--force", "file.vpx"]));
    assert_eq!(folder.read("file"), b"plaintext");

    // It is noticed before any work is done.
    let output = folder.run(&["encrypt", "--key-file", "key", "-o", "file", "missing"]);
    fails(&output, IO, "file", "already exists");

    // A failed decryption does not touch the old file, even so.
    let mut damaged = folder.read("file.vpx");
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("file.vpx", &damaged);
    folder.write("file", b"older");
    let output = folder.run(&["decrypt", "--key-file", "key", "--force", "file.vpx"]);
    fails(&output, UNVERIFIED, "file.vpx", "damaged");
    assert_eq!(folder.read("file"), b"older");
    assert_eq!(folder.names(), ["file", "file.vpx"]);
}

/// Not even with `--force`, and under any name.
#[test]
fn what_is_read_is_not_replaced() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"plaintext");
    folder.write("password", b"password\n");
    folder.write("list", public_line(2).as_bytes());
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
    for name in ["file", "key", "1", "list", "password"] {
        std::os::unix::fs::symlink(name, folder.path(&format!("link-{name}"))).unwrap();
    }
    let before = |name: &str| folder.read(name.strip_prefix("link-").unwrap_or(name));
    for (args, outputs) in [
        (
            &["encrypt", "-k", "key", "-f", "file", "-o"][..],
            &["file", "key", "link-key"][..],
        ),
        (
            &[
                "encrypt",
                "--cost=3",
                "--password-file",
                "password",
                "-f",
                "file",
                "-o",
            ],
            &["password"],
        ),
        (
            &["decrypt", "-k", "key", "-f", "file.vpx", "-o"],
            &["file.vpx", "key"],
        ),
        (
            &["sign", "-k", "1", "-f", "file", "-o"],
            &["file", "link-file", "1", "link-1"],
        ),
        (
            &["seal", "-k", "1", "--to", "list", "-f", "file", "-o"],
            &["file", "1", "list"],
        ),
        (
            &["unseal", "-k", "1", "--from", "1.pub", "-f", "file", "-o"],
            &["file", "1"],
        ),
        (
            &["sum", "--key-file", "key", "-f", "file", "--outboard"],
            &["file", "link-file", "key"],
        ),
        (
            &[
                "disk",
                "encrypt",
                "-k",
                "key",
                "-f",
                "--sector-size=512",
                "file",
                "-o",
                "out",
                "--header",
            ],
            &["key"],
        ),
    ] {
        for output in outputs {
            let old = before(output);
            let done = folder.run(&[args, &[*output]].concat());
            assert_eq!(done.status.code(), Some(USAGE), "{args:?} {output}: {done:?}");
            assert!(before(output) == old, "{args:?} {output}");
        }
    }
    // The key of the second file was read for the first.
    folder.write("key.vpx", &folder.read("file.vpx"));
    let output = folder.run(&["decrypt", "-k", "key", "-f", "file.vpx", "key.vpx"]);
    fails(&output, USAGE, "key", "both read and written");
    // Standard output too, and standard input.
    let script =
        "\"$0\" encrypt -k key -o - file >>key; echo $?; \"$0\" encrypt -k - -fo key file <key; echo $?";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_veriplex")])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "2\n2\n");
    assert_eq!(folder.read("key"), key_line(&KEY).as_bytes());
}

/// `-` is standard input or output only where it was given.
#[test]
fn a_file_of_the_name_of_standard_output() {
    let folder = Folder::with_private_keys();
    folder.write("-.vpx", &encrypted(&KEY, &[0; 32], b"plaintext"));
    let output = folder.run(&["decrypt", "-k", "key", "--", "-.vpx"]);
    succeeds(&output);
    assert_eq!(
        (output.stdout.as_slice(), folder.read("-").as_slice()),
        (&b""[..], &b"plaintext"[..])
    );
    fs::remove_file(folder.path("-")).unwrap();
    fs::create_dir(folder.path("-")).unwrap();
    folder.write("-/inside", b"");
    let output = folder.run(&["digest", "--recursive", "--", "-"]);
    succeeds(&output);
    assert_eq!(
        stdout(&output),
        format!("VERIPLEX-DIGEST (-) = {}\n", hex_digest(b""))
    );
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_appears_meanwhile_is_kept() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["encrypt", "--key-file", "key", "-o", "out"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // The program has looked for `out` by then.
    hardening::wait_for_output(&folder, &child);
    folder.write("out", b"precious");
    drop(child.stdin.take());
    fails(&child.wait_with_output().unwrap(), IO, "out", "already exists");
    assert_eq!(folder.read("out"), b"precious");
    assert_eq!(folder.names(), ["out"]);
}

#[test]
fn names_of_outputs() {
    let folder = Folder::new();
    folder.write("in", &encrypted(&KEY, &[0; 32], b"x"));
    for name in ["in", ".vpx", "missing"] {
        let output = folder.run(&["decrypt", "--key-file", "key", name]);
        fails(&output, USAGE, name, "-o");
    }
    fs::create_dir(folder.path("folder")).unwrap();
    for output in ["folder", "folder/"] {
        let output = folder.run(&["decrypt", "--key-file", "key", "in", "-o", output]);
        fails(&output, USAGE, "in", "-o");
    }
    for args in [
        &["-o", "missing/out"][..],
        &["-o", "new/"],
        &["-fo", "new/"],
        &["-o", "new/."],
    ] {
        // Before the input, which is missing.
        let args = [&["decrypt", "--key-file", "key", "missing"], args].concat();
        fails(&folder.run(&args), IO, args.last().unwrap(), "");
    }
    let output = folder.run(&["decrypt", "--key-file", "key", "in", "-o", "missing/out"]);
    fails(&output, IO, "missing/out", "No such file");
    fs::create_dir(folder.path("in.vpx")).unwrap();
    let output = folder.run(&["encrypt", "--key-file", "key", "-f", "in"]);
    fails(&output, IO, "in.vpx", "a folder is never overwritten");
    fs::remove_dir(folder.path("in.vpx")).unwrap();
    let output = folder.run(&["decrypt", "--key-file", "key", "missing.vpx"]);
    fails(&output, IO, "missing.vpx", "No such file");
    assert_eq!(folder.names(), ["folder", "in"]);
}

#[test]
fn modes_links_and_devices() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    // A new file has the mode of any new file.
    folder.write("file", b"plaintext");
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
    assert_eq!(folder.mode("file.vpx"), folder.mode("file"));
    // A replaced one keeps its own, and a link to it stays a link.
    folder.set_mode("file", 0o626);
    symlink("file", folder.path("link")).unwrap();
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "-fo", "link", "file.vpx"]));
    assert_eq!(folder.mode("file"), 0o626);
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.read("file"), b"plaintext");
    // A link to nothing is not replaced.
    symlink("nothing", folder.path("dangling")).unwrap();
    let output = folder.run(&["decrypt", "--key-file", "key", "-o", "dangling", "file.vpx"]);
    fails(&output, IO, "dangling", "already exists");
    // If it is to be used, a named pipe is written to, not replaced by a file.
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let decrypt = ["decrypt", "--key-file", "key", "-fo", "pipe", "file.vpx"];
    let child = folder.command(&decrypt).spawn().unwrap();
    assert_eq!(soon(|| fs::read(pipe).unwrap()), b"plaintext");
    succeeds(&child.wait_with_output().unwrap());
}

/// Or it is an error, also where a shell has opened the file.
#[test]
#[cfg(target_os = "linux")]
fn a_result_on_standard_output_is_on_the_disk() {
    let folder = Folder::new();
    for (args, name) in [
        (&["encrypt", "-k", "key", "-o", "-", "key"][..], "standard output"),
        (&["encrypt", "-k", "key", "-o", "new", "key"], "new"),
        (&["sum", "key"], "standard output"),
    ] {
        // Some file systems report only on close that data are lost.
        for (call, path) in [("fsync", None), ("close", Some(folder.path("out")))] {
            if path.is_some() && name == "new" {
                continue; // strace does not know a file without a name by its path
            }
            let command = folder.command(args);
            let mut traced = Command::new("strace");
            traced.args(["-fqqo", "/dev/null", "-e", &format!("inject={call}:error=EIO")]);
            traced.args(path.iter().flat_map(|path| [OsStr::new("-P"), path.as_os_str()]));
            let traced = traced
                .arg(command.get_program())
                .args(command.get_args())
                .current_dir(folder.0.path())
                .stdout(File::create(folder.path("out")).unwrap())
                .output();
            match traced {
                Ok(output) => fails(&output, IO, name, "Input/output error"),
                Err(error) => println!("skipped: no fault was injected by strace: {error}"),
            }
            assert!(!folder.path("new").exists());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn ciphertext_does_not_go_to_a_terminal() {
    let folder = Folder::new();
    // The master side of a new pseudoterminal is one too.
    let terminal = || File::options().read(true).write(true).open("/dev/ptmx").unwrap();
    let encrypt = ["encrypt", "--key-file", "key", "key"];
    let output = folder
        .command(&[&encrypt[..], &["-o", "-"]].concat())
        .stdout(terminal())
        .output()
        .unwrap();
    fails(&output, USAGE, "standard output", "--force");
    let output = folder
        .command(&[&encrypt[..], &["-o", "-", "--force"]].concat())
        .stdout(terminal())
        .output()
        .unwrap();
    succeeds(&output);
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[0; 32], b"x"));
    for args in [
        &["digest", "key"][..],
        &["key", "generate", "-"],
        &["encrypt", "--key-file", "key"],
        &["decrypt", "--key-file", "key", "-o", "-", "file.vpx"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(args).stdout(full).output().unwrap();
        fails(&output, IO, "standard output", "No space left");
    }
    // Standard error cannot be written either: the status still tells.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = folder
        .command(&["digest", "missing"])
        .stderr(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(IO));
}

#[test]
fn closed_pipes_are_no_news() {
    let folder = Folder::new();
    let plaintext = noise(1 << 20);
    folder.write("file", &plaintext);
    folder.write("list", &folder.run(&["digest", "file"]).stdout);
    let sealed = folder.run(&["encrypt", "--key-file", "key", "-o", "-", "file"]);
    folder.write("file.vpx", &sealed.stdout);
    for args in [
        &["digest", "file"][..],
        &["digest", "--check", "list", "list"],
        &["key", "generate", "-"],
        &["encrypt", "--key-file", "key", "-o", "-", "file"],
        &["decrypt", "--key-file", "key", "-o", "-", "file.vpx"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(args).stdout(writer).output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(CLOSED), ""),
            "{args:?}"
        );
    }
}

#[test]
fn verified_segments_leave_before_the_end_is_known() {
    let folder = Folder::new();
    let plaintext = noise(10 * SEGMENT_LEN);
    let sealed = encrypted(&KEY, &[7; 32], &plaintext);
    let mut child = folder
        .command(&["decrypt", "-j", "1", "--key-file", "key"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One byte more, so that none of them is the last.
    let eight = SEGMENTS + 8 * (SEGMENT_LEN + 16);
    stdin.write_all(&sealed[..=eight]).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (got, mut stdout) = soon(move || {
        let mut got = vec![0; 8 * SEGMENT_LEN];
        stdout.read_exact(&mut got).unwrap();
        (got, stdout)
    });
    assert!(plaintext.starts_with(&got));
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let place = format!("truncated or damaged, at or after offset {eight}");
    fails(&output, UNVERIFIED, "standard input", &place);
    assert_eq!(stdout.read(&mut [0]).unwrap(), 0);
}

/// Runs it with what a shell puts in the place of standard streams.
fn redirected(folder: &Folder, args: &[&str], redirections: &str) -> Output {
    let mut command = Command::new("sh");
    let command = command.args(["-c", &format!("exec \"$0\" \"$@\" {redirections}")]);
    let command = command.arg(env!("CARGO_BIN_EXE_veriplex")).args(args);
    command
        .stdin(Stdio::null())
        .current_dir(folder.0.path())
        .output()
        .unwrap()
}

/// What a command needs is not there: an empty file would be made, or a key lost, without a word.
#[test]
fn closed_standard_streams_are_errors() {
    let folder = Folder::new();
    folder.write("file", b"plaintext");
    folder.write("password", b"password");
    folder.write("private", private_line(1).as_bytes());
    folder.write("public", public_line(1).as_bytes());
    succeeds(&folder.run(&["sign", "--key-file", "private", "file"]));
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
    folder.write("list", &folder.run(&["sum", "file"]).stdout);
    folder.write("plain", &[0; 4096]);
    succeeds(&folder.run(&["disk", "encrypt", "--key-file", "key", "-o", "disk", "plain"]));
    let pipe = "tunnel pipe -k private --peer-file public --connect 127.0.0.1:1";
    let pipe: Vec<_> = pipe.split(' ').collect();
    let run = |args: &[&str], redirections: &str| redirected(&folder, args, redirections);
    for args in [
        &["encrypt", "--key-file", "key"][..],
        &["decrypt", "--key-file", "key"],
        &["seal", "--key-file", "private", "--to", "public"],
        &["unseal", "--key-file", "private", "--from", "public"],
        &["sign", "--key-file", "private", "-o", "-"],
        &["verify", "--from", "public", "--signature", "file.vpsig"],
        &["sum"],
        &["sum", "--check"],
        &["digest"],
        &["mac", "--key-file", "key", "-"],
        &pipe,
    ] {
        fails(&run(args, "<&-"), IO, "standard input", "closed");
        let output = run(args, "0>/dev/null");
        fails(&output, IO, "standard input", "not open for reading");
    }
    fails(&run(&["digest", "/dev/stdin"], "<&-"), IO, "/dev/stdin", "closed");
    let encrypt = ["encrypt", "--key-file", "key", "file", "-o", "/dev/fd/0"];
    fails(&run(&encrypt, "0<&-"), IO, "/dev/fd/0", "closed");
    for args in [
        &["key", "generate", "-"][..],
        &["key", "generate", "--private", "-"],
        &["key", "public", "private"],
        &["encrypt", "--key-file", "key", "-o", "-", "file"],
        &["decrypt", "--key-file", "key", "-o", "-", "file.vpx"],
        &[
            "seal",
            "--key-file",
            "private",
            "--to",
            "public",
            "-o",
            "-",
            "file",
        ],
        &["sign", "--key-file", "private", "-o", "-", "file"],
        &["sum", "file"],
        &["sum", "--outboard", "outboard", "file"],
        &["digest", "file"],
        &["mac", "--key-file", "key", "file"],
        &["hash-password", "--password-file", "password"],
        &["completions", "bash"],
        &["key", "generate", "--private", "new"],
        &pipe,
        &[
            "disk",
            "serve",
            "--key-file",
            "key",
            "--listen",
            "127.0.0.1:0",
            "image",
        ],
        &["disk", "info", "disk"],
        &["--help"],
        &["--version"],
    ] {
        fails(&run(args, ">&-"), IO, "standard output", "closed");
    }
    for none in ["outboard", "new", "new.pub"] {
        assert!(!folder.path(none).exists(), "{none}");
    }
    // What does not need them works without, as under cron and systemd, and where a file is named.
    for redirections in [
        "<&- >&- 2>&-",
        "0<>/dev/null 1<>/dev/null",
        "</dev/null >/dev/null",
    ] {
        for args in [
            &["encrypt", "--key-file", "key", "-fo", "out", "file"][..],
            &["verify", "--from", "public", "file"],
            &["sum", "--check", "list"],
        ] {
            succeeds(&run(args, redirections));
        }
    }
    // Nothing at all is something else, and can be thrown away.
    let output = run(&["digest"], "</dev/null");
    succeeds(&output);
    assert_eq!(
        stdout(&output),
        format!("VERIPLEX-DIGEST (-) = {}\n", hex_digest(b""))
    );
    succeeds(&run(&["key", "generate", "-"], ">/dev/null"));
}

/// Rust's library takes what is written to such a stream for written.
#[test]
fn streams_that_cannot_be_written_are_errors() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"plaintext");
    folder.write("password", b"password");
    for args in [
        &["disk", "decrypt", "--key-file", "key", "-o", "-", "image"][..],
        &["verify", "--from", "1.pub", "file"],
        &["encrypt", "--key-file", "key", "-o", "new", "file"],
        &["hash-password", "--password-file", "password"],
        &["tunnel", "serve", "--help"],
        &["unknown"],
    ] {
        let output = redirected(&folder, args, "1</dev/null");
        fails(&output, IO, "standard output", "not open for writing");
        let output = redirected(&folder, args, "2</dev/null");
        assert_eq!(output.status.code(), Some(IO), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert!(!folder.path("new").exists());
}

/// Nothing is made in the folder of devices, unless it is named.
#[test]
fn devices_have_nothing_beside_them() {
    let folder = Folder::with_private_keys();
    for link in ["null", "null.vpx"] {
        std::os::unix::fs::symlink("/dev/null", folder.path(link)).unwrap();
    }
    for (args, name) in [
        (&["encrypt", "--key-file", "key"][..], "null"),
        (&["decrypt", "--key-file", "key"], "null.vpx"),
        (&["sign", "--key-file", "1"], "null"),
        (&["seal", "--key-file", "1", "--to", "2.pub"], "null"),
    ] {
        fails(&folder.run(&[args, &[name]].concat()), USAGE, name, "-o");
    }
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "-o", "out", "null"]));
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "-o", "empty", "out"]));
    assert_eq!(folder.read("empty"), b"");
    assert_eq!(
        folder.names(),
        [
            "1", "1.pub", "2", "2.pub", "3", "3.pub", "empty", "null", "null.vpx", "out"
        ]
    );
}

/// It would read what it writes, without end.
#[test]
fn an_output_is_not_the_input() {
    let folder = Folder::with_private_keys();
    let plaintext = noise(1 << 20);
    let run = |args: &[&str], redirections: &str| {
        folder.write("file", &plaintext);
        let command = format!("ulimit -f 8192; exec \"$0\" \"$@\" {redirections}");
        let output = Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_veriplex")])
            .args(args)
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        fails(&output, USAGE, "standard output", "both read and written");
        assert!(folder.read("file") == plaintext, "{args:?}");
    };
    std::os::unix::fs::symlink("file", folder.path("link")).unwrap();
    let pipe = [
        "tunnel",
        "pipe",
        "--key-file",
        "1",
        "--peer-file",
        "peer",
        "--connect",
        "localhost:1",
    ];
    run(&pipe, "<file >>file");
    for (args, redirections) in [
        (&["encrypt", "--key-file", "key"][..], "<file >>file"),
        (&["encrypt", "--key-file", "key", "-o", "-", "link"], ">>file"),
        (&["encrypt", "--armor", "--key-file", "key"], "<file 1<>file"),
        (&["decrypt", "--key-file", "key", "-o", "-", "file"], ">>file"),
        (
            &["seal", "--key-file", "1", "--to", "2.pub", "-o", "-", "file"],
            ">>file",
        ),
        (
            &["unseal", "--key-file", "1", "--from", "2.pub", "-o", "-", "file"],
            ">>file",
        ),
        (&["sign", "--key-file", "1", "-o", "-", "file"], ">>file"),
        (
            &[
                "disk",
                "encrypt",
                "--key-file",
                "key",
                "--header",
                "header",
                "-o",
                "-",
                "file",
            ],
            "1<>file",
        ),
    ] {
        run(args, redirections);
    }
}

/// What a descriptor is open to is written from where it is, whatever its name is by now.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_are_streams() {
    let folder = Folder::new();
    folder.write("file.vpx", &encrypted(&KEY, &[9; 32], b"plaintext"));
    std::os::unix::fs::symlink("/dev/fd/7", folder.path("link")).unwrap();
    let run = |script: &str| {
        Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_veriplex")])
            .current_dir(folder.0.path())
            .output()
            .unwrap()
    };
    for name in [
        "/dev/fd/7",
        "/proc/self/fd/7",
        "/proc/thread-self/fd/7",
        "/dev/../dev/fd/7",
        "link",
    ] {
        for force in ["", "--force"] {
            let decrypt = format!("\"$0\" decrypt {force} -k key -o {name} file.vpx");
            // Its name is another file's by now.
            folder.write("gone (deleted)", b"precious");
            let read = "cat /proc/self/fd/7";
            let output = run(&format!(
                "exec 7<>gone; rm gone; {decrypt}; echo $?; echo more >&7; {read}"
            ));
            assert_eq!(
                (stdout(&output), stderr(&output)),
                ("0\nplaintextmore\n", ""),
                "{decrypt}"
            );
            assert_eq!(folder.read("gone (deleted)"), b"precious");
            let output = run(&format!("{decrypt} 7</dev/null"));
            fails(&output, IO, name, "not open for writing");
            fails(&run(&format!("{decrypt} 7>&-")), IO, name, "7 is not open");
        }
    }
    for name in ["/dev/stdout", "/dev/fd/1", "-"] {
        for force in ["", "--force"] {
            let decrypt = format!("\"$0\" decrypt {force} -k key -o {name} file.vpx");
            let output = run(&format!(
                "echo before >all; {decrypt} >>all && {{ {decrypt} && echo after; }} >>all; cat all"
            ));
            assert_eq!(
                (stdout(&output), stderr(&output)),
                ("before\nplaintextplaintextafter\n", ""),
                "{decrypt}"
            );
        }
    }
    // Nothing but a stream has such a name.
    let output = run("\"$0\" decrypt -f -k key -o /proc/self/exe file.vpx");
    fails(&output, IO, "/proc/self/exe", "not the name of a file");
}

/// All files of a run are known before it begins. Nothing is done if one would be lost.
#[test]
fn no_file_of_a_run_is_lost() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    for name in ["d1", "d2", "o", "in"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    let once = encrypted(&KEY, &[1; 32], b"plaintext");
    folder.write("x.vpx", &once);
    folder.write("x.vpx.vpx", &encrypted(&KEY, &[2; 32], &once));
    folder.write("new.vpx.vpx", &encrypted(&KEY, &[2; 32], &once));
    folder.write("d1/x.vpx", &once);
    folder.write("d2/x.vpx", &encrypted(&KEY, &[3; 32], b"other"));
    folder.write("d2/X.vpx", &once);
    folder.write("a", b"a");
    folder.write("a.vpx", b"precious");
    folder.write("in/a", b"a");
    folder.write("in/z.vpx", b"precious");
    fs::hard_link(folder.path("a.vpx"), folder.path("hard")).unwrap();
    symlink("a.vpx", folder.path("soft")).unwrap();
    symlink("o", folder.path("also-o")).unwrap();
    symlink("../in", folder.path("d1/also-in")).unwrap();
    symlink("../in/new.vpx", folder.path("o/nothing")).unwrap();
    let before = folder.names();
    let both = "is both read and written";
    for (args, name, reason) in [
        // What is read later, also what is not there yet.
        (&["decrypt", "x.vpx.vpx", "x.vpx"][..], "x.vpx", both),
        (&["decrypt", "new.vpx.vpx", "new.vpx"], "new.vpx", both),
        (&["encrypt", "a", "a.vpx"], "a.vpx", both),
        (&["encrypt", "a", "hard"], "a.vpx", both),
        (&["encrypt", "a", "soft"], "a.vpx", both),
        (&["encrypt", "a", "./o/../a.vpx"], "a.vpx", both),
        (&["encrypt", "a.vpx", "./o/../a"], "./o/../a.vpx", both),
        // Two outputs.
        (
            &["decrypt", "-o", "o", "d1/x.vpx", "d2/x.vpx"],
            "o/x",
            "would be written twice",
        ),
        (
            &["encrypt", "in/a", "d1/../in/a"],
            "d1/../in/a.vpx",
            "would be written twice",
        ),
        (
            &["encrypt", "in/a", "d1/also-in/a"],
            "d1/also-in/a.vpx",
            "would be written twice",
        ),
        (
            &["encrypt", "-", "-"],
            "standard output",
            "would be written twice",
        ),
        // A folder that is read.
        (
            &["encrypt", "-o", "in/z.vpx", "in"],
            "in/z.vpx",
            "in a folder that is read",
        ),
        (
            &["encrypt", "-o", "in/new", "in"],
            "in/new",
            "in a folder that is read",
        ),
        (
            &["encrypt", "-o", "d1/also-in/new", "in"],
            "d1/also-in/new",
            "in a folder that is read",
        ),
        (
            &["encrypt", "-o", "o", "a", "."],
            "o/a.vpx",
            "in a folder that is read",
        ),
    ] {
        for force in [&[][..], &["--force"]] {
            let output = folder.run(&[args, &["--key-file", "key"], force].concat());
            fails(&output, USAGE, name, reason);
            assert_eq!(folder.names(), before, "{args:?}");
            assert_eq!(folder.read("x.vpx"), once);
            assert_eq!(folder.read("a.vpx"), b"precious");
            assert_eq!(folder.read("in/z.vpx"), b"precious");
            assert!(!folder.path("o/x").exists() && !folder.path("in/a.vpx").exists());
        }
    }
    // Standard output, too; but a pipe is in no folder.
    let script = "\"$0\" encrypt --key-file key -o - in >>in/z.vpx";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_veriplex")])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    fails(&output, USAGE, "standard output", "in a folder that is read");
    assert_eq!(folder.read("in/z.vpx"), b"precious");
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "-o", "-", "in"]));
    // A link to an output that is not there yet.
    fs::create_dir(folder.path("later")).unwrap();
    symlink("a.vpx", folder.path("later/b.vpx")).unwrap();
    folder.write("b", b"b");
    let output = folder.run(&["encrypt", "--key-file", "key", "-fo", "later", "a", "b"]);
    fails(&output, USAGE, "later/b.vpx", "would be written twice");
    assert!(!folder.path("later/a.vpx").exists());
    // Several names are fine.
    let output = folder.run(&["decrypt", "--key-file", "key", "-o", "o", "d1/x.vpx", "d2/X.vpx"]);
    succeeds(&output);
}

/// What is printed changes nothing that is read.
#[test]
fn standard_output_is_no_file_that_is_read() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    folder.write("password", b"password\n");
    fs::create_dir(folder.path("folder")).unwrap();
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    succeeds(&folder.run(&["sum", "--outboard", "outboard", "file"]));
    for command in ["digest", "sum"] {
        folder.write(command, &folder.run(&[command, "file"]).stdout);
    }
    let digest = stdout(&folder.run(&["sum", "--untagged", "file"]))[..64].to_owned();
    let verify = format!("sum --outboard outboard --verify {digest} file");
    for (args, file) in [
        ("key public 1", "1"),
        ("key inspect 1.pub", "1.pub"),
        (
            "key generate --private --password-file password --cost 3 new",
            "password",
        ),
        ("hash-password --cost 3 --password-file password", "password"),
        ("digest file", "file"),
        ("digest 1 file", "file"),
        ("sum file", "file"),
        ("sum --recursive .", "file"),
        ("sum --key-file key file", "key"),
        ("sum --check sum", "sum"),
        ("sum --check sum", "file"),
        ("digest --check digest", "file"),
        ("sum --outboard outboard --force file", "outboard"),
        (&verify, "file"),
        (&verify, "outboard"),
        ("mac --key-file key file", "key"),
        ("mac --key-file key file", "file"),
        ("digest", "file <file"),
        ("verify --from 1.pub file", "file"),
        ("verify --from 1.pub file", "1.pub"),
        ("verify --from 1.pub file", "file.vpsig"),
    ] {
        let name = file.split(' ').next().unwrap();
        let old = folder.read(name);
        let script = format!("exec \"$0\" {args} >>{file}");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_veriplex")])
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{args} {file}: {output:?}");
        // Of what is found only on the way, earlier results are printed.
        let is_found = args.contains("--recursive") || args.contains("--check") && name == "file";
        if !is_found {
            assert_eq!(folder.read(name), old, "{args}");
        }
        assert!(!folder.path("new").exists());
        folder.write(name, &old);
    }
}

/// Whatever its name, a stream is read once.
#[test]
#[cfg(target_os = "linux")]
fn a_stream_has_one_use() {
    let folder = Folder::with_private_keys();
    let key = key_line(&KEY);
    for (args, uses) in [
        (&["encrypt", "--key-file", "/dev/stdin"][..], "key and input"),
        (&["encrypt", "--key-file", "/dev/fd/0"], "key and input"),
        (
            &[
                "encrypt",
                "--key-file",
                "/proc/self/fd/0",
                "/dev/stdin",
                "-o",
                "-",
            ],
            "key and input",
        ),
        (
            &["encrypt", "--key-file", "-", "/dev/stdin", "-o", "-"],
            "key and input",
        ),
        (&["mac", "--key-file", "/dev/stdin"], "key and input"),
        (&["sum", "--key-file", "/dev/stdin"], "key and input"),
        (&["verify", "--from", "/dev/stdin"], "public key and input"),
        (
            &[
                "sign",
                "--key-file",
                "/dev/stdin",
                "--password-file",
                "/proc/thread-self/fd/0",
                "1",
            ],
            "password and key",
        ),
    ] {
        fails(
            &folder.pipe(args, key.as_bytes()),
            USAGE,
            "standard input",
            &format!("cannot be both {uses}"),
        );
        let mut command = folder.command(args);
        let output = command
            .stdin(File::open(folder.path("key")).unwrap())
            .output()
            .unwrap();
        fails(
            &output,
            USAGE,
            "standard input",
            &format!("cannot be both {uses}"),
        );
    }
    // Files of a name can have several.
    succeeds(&folder.run(&["sign", "--key-file", "1", "1.pub"]));
    succeeds(&folder.run(&["verify", "--from", "1.pub", "1.pub"]));
}

/// A loop device is its file, and the loop device below it.
#[test]
#[cfg(target_os = "linux")]
fn a_loop_device_is_not_written_from_its_file() {
    let folder = Folder::new();
    let content = noise(1 << 20);
    folder.write("image", &content);
    let Some(device) = disk::Loop::new(&folder, "image") else {
        return;
    };
    let Some(upper) = disk::Loop::new(&folder, &device.0) else {
        return;
    };
    let names = ["image", &device.0, &upper.0];
    let pairs = names
        .iter()
        .flat_map(|input| names.map(|output| (*input, output)));
    for (input, output) in pairs {
        let done = folder.run(&["encrypt", "--key-file", "key", "-fo", output, input]);
        fails(&done, USAGE, output, "both read and written");
        assert!(folder.read("image") == content);
    }
}
