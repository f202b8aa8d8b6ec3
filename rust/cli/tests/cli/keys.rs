//! Key files, private keys, and public keys as arguments and in files.

use super::*;

#[test]
fn symmetric_keys_are_made() {
    let folder = Folder::new();
    succeeds(&folder.run(&["key", "generate", "new"]));
    let line = String::from_utf8(folder.read("new")).unwrap();
    let digits = line.strip_prefix("veriplex-key-v1 ").unwrap();
    let digits = digits.strip_suffix('\n').unwrap();
    assert_eq!(hex::decode(digits).unwrap().len(), 32);
    assert_eq!(folder.mode("new"), 0o600);
    fails(&folder.run(&["key", "generate", "new"]), IO, "new", "exists");
    assert_eq!(folder.read("new"), line.as_bytes());
    succeeds(&folder.run(&["mac", "--key-file", "new", "key"]));

    let printed = folder.run(&["key", "generate", "-"]);
    succeeds(&printed);
    assert_eq!(stdout(&printed).len(), line.len());
    assert_ne!(stdout(&printed), line);
    assert_eq!(folder.names(), ["new"]);
}

#[test]
fn broken_key_files() {
    let folder = Folder::new();
    let good = key_line(&KEY);
    folder.write("plain", b"x");
    for bad in [
        String::new(),
        "\n".into(),
        hex::encode(KEY),
        good.replace("v1", "v2"),
        good.replace("c3\n", "\n"),
        good.replace("c3\n", "c\n"),
        good.replace("c3\n", "cg\n"),
        good.replace('\n', "c3\n"),
        good.repeat(2),
    ] {
        folder.write("bad", bad.as_bytes());
        for args in [
            &["mac", "plain"][..],
            &["encrypt", "-o", "out", "plain"],
            &["decrypt", "-o", "out", "plain"],
        ] {
            let output = folder.run(&[args, &["--key-file", "bad"]].concat());
            fails(&output, IO, "bad", "not a key file");
            assert_eq!(stdout(&output), "", "{bad:?}");
        }
    }
    assert_eq!(folder.names(), ["bad", "plain"]);
    let output = folder.run(&["encrypt", "--key-file", "missing", "plain"]);
    fails(&output, IO, "missing", "No such file");
}

/// One reader for all of them.
#[test]
fn text_files_from_elsewhere() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    folder.write("password", b"correct horse\n");
    let make = ["--cost=3", "--password-file=password"];
    let generate = ["key", "generate", "--private", "protected"];
    succeeds_at_low_cost(&folder.run(&[&generate[..], &make].concat()));
    let hash = folder.run(&[&["hash-password"][..], &make].concat()).stdout;
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    let list = folder.run(&["sum", "file"]).stdout;
    let from = ["verify", "--quiet", "--from", "1.pub", "file"];
    for (text, command) in [
        (folder.read("key"), &["mac", "--key-file", "text", "file"][..]),
        (folder.read("1"), &["key", "public", "text"]),
        (
            folder.read("protected"),
            &["key", "public", "text", "--password-file", "password"],
        ),
        (
            format!("# all\n\n{}  alice\n", public_line(1).trim_end()).into(),
            &["verify", "--quiet", "--from", "text", "file"],
        ),
        (
            folder.read("file.vpsig"),
            &[&from[..], &["--signature", "text"]].concat(),
        ),
        (hash, &["verify-password", "--password-file", "password", "text"]),
        (list, &["sum", "--check", "--strict", "text"]),
    ] {
        let text = String::from_utf8(text).unwrap();
        for other in [
            text.clone(),
            text.trim_end().into(),
            text.replace('\n', "\r\n"),
            text.replace('\n', " \t\r\n") + "\n",
            text.trim_end().to_owned() + "  ",
        ] {
            folder.write("text", other.as_bytes());
            succeeds(&folder.run(command));
        }
        let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(order).collect() };
        let mark = format!("\u{feff}{text}");
        for (other, reason) in [
            (mark.clone().into_bytes(), "begins with a byte order mark"),
            (
                mark.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                "UTF-16; save it as UTF-8",
            ),
            (utf16(u16::to_le_bytes), "UTF-16; save it as UTF-8"),
            (utf16(u16::to_be_bytes), "UTF-16; save it as UTF-8"),
        ] {
            folder.write("text", &other);
            let output = folder.run(command);
            assert!([UNVERIFIED, IO].contains(&output.status.code().unwrap()));
            fails(&output, output.status.code().unwrap(), "text", reason);
        }
    }
    // The first line of a password file is the password, but for its end.
    for password in ["\u{feff}correct horse\r\n".as_bytes(), b"\xff\xfec\0o\0\r\0\n\0"] {
        folder.write("password", password);
        let output = folder.run(&["hash-password", "--password-file=password"]);
        assert_eq!(output.status.code(), Some(IO));
        assert!(stderr(&output).contains("save it as UTF-8"), "{output:?}");
    }
}

/// While they wait for input: `mac` and `sum` have only what the key was mixed into, which begins with it. They have read
/// other files before.
#[test]
#[cfg(target_os = "linux")]
fn keys_are_there_once() {
    use super::process::{count, memory};

    if cfg!(not(target_arch = "x86_64")) {
        return; // the emulator's memory
    }
    let folder = Folder::new();
    let key = noise(32);
    let line = key_line(key.as_slice().try_into().unwrap());
    folder.write("key", line.as_bytes());
    assert!(
        Command::new("mkfifo")
            .arg(folder.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    folder.write("small", b"small");
    folder.write("big", &noise(5 << 20));
    for (args, files) in [
        (&["mac", "--key-file"][..], &["small", "big", "pipe"][..]),
        (&["sum", "--key-file"], &["big", "small", "pipe"]),
        (&["sum", "-j4", "--key-file"], &["small", "big", "pipe"]),
        (&["encrypt", "-fo", "out", "--key-file"], &["pipe"]),
    ] {
        for key_file in ["key", "-"] {
            let mut child = folder
                .command(&[args, &[key_file], files].concat())
                .stdin(File::open(folder.path("key")).unwrap())
                .spawn()
                .unwrap();
            let mut pipe = File::options().write(true).open(folder.path("pipe")).unwrap();
            let begun = std::time::Instant::now();
            let waits = || {
                fs::read_to_string(format!("/proc/{}/wchan", child.id()))
                    .unwrap()
                    .contains("pipe")
            };
            while !waits() && begun.elapsed() < Duration::from_secs(5) {
                thread::sleep(Duration::from_millis(5));
            }
            let check = |when: &str| {
                let memory = memory(&child);
                // The allocator writes to the first 16 bytes of what is freed.
                let found = [&key[16..], &line.as_bytes()[20..60]].map(|bytes| count(&memory, bytes));
                assert_eq!(found, [1, 0], "{args:?} {key_file} {when}");
            };
            check("before input");
            // More than fits into a pipe: it was read.
            pipe.write_all(&noise(500_000)).unwrap();
            check("after input");
            drop(pipe);
            assert!(child.wait().unwrap().success());
        }
    }
}

#[test]
fn what_is_in_the_way_is_noticed_before_anybody_is_asked() {
    let folder = Folder::new();
    folder.write("mine", b"old");
    let generate = ["key", "generate", "--private"];
    for password in [&["--password-file", "missing"][..], &["--password"]] {
        let output = folder.run(&[&generate[..], password, &["mine"]].concat());
        fails(&output, IO, "mine", "already exists");
    }
    // Of two files that belong together, none is made.
    folder.write("other.pub", b"old");
    let output = folder.run(&[&generate[..], &["other"]].concat());
    fails(&output, IO, "other.pub", "already exists");
    assert_eq!(folder.names(), ["mine", "other.pub"]);
}

/// Runs a command that reads a password from the named pipe `pipe`; `meanwhile` is done before it comes.
fn while_asking(folder: &Folder, args: &[&str], meanwhile: impl FnOnce()) -> Output {
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let child = folder.command(args).spawn().unwrap();
    // Opened when the other side is.
    let mut asked = soon({
        let pipe = pipe.clone();
        move || File::options().write(true).open(pipe).unwrap()
    });
    meanwhile();
    asked.write_all(b"password\n").unwrap();
    drop(asked);
    fs::remove_file(pipe).unwrap();
    child.wait_with_output().unwrap()
}

/// Of two files that belong together, both are made or none, also if one appears meanwhile.
#[test]
fn no_half_of_a_pair_is_left() {
    for other in ["new", "new.pub"] {
        let folder = Folder::new();
        let generate = [
            "key",
            "generate",
            "--private",
            "--cost=0",
            "--password-file",
            "pipe",
            "new",
        ];
        let output = while_asking(&folder, &generate, || folder.write(other, b"other"));
        fails_with(&output, IO, &["cost 0", &format!("{other}: already exists")]);
        assert_eq!(stdout(&output), "");
        assert_eq!(folder.names(), [other]);
        assert_eq!(folder.read(other), b"other");
    }
}

/// Nor is one when the second cannot be finished, or the program is killed: then there may be the private key, which has all.
#[test]
#[cfg(target_os = "linux")]
fn no_public_key_is_left_alone() {
    let mut halves = 0;
    for call in ["linkat", "fsync", "fchmod"] {
        for (action, number) in ["error=EIO", "signal=KILL"]
            .into_iter()
            .flat_map(|action| (1..=4).map(move |number| (action, number)))
        {
            let folder = Folder::new();
            let fault = format!("{call}:{action}:when={number}");
            let args = ["key", "generate", "--private", "new"];
            let Some(output) = disk_state::with_fault(&folder, &fault, &args) else {
                return;
            };
            let [private, public] = ["new", "new.pub"].map(|name| folder.path(name).exists());
            assert!(private || !public, "{fault}");
            if action == "error=EIO" {
                assert_eq!(private, public, "{fault}");
                assert_eq!(private, output.status.success(), "{fault}");
            } else {
                halves += usize::from(private != public);
            }
        }
    }
    assert!(halves > 0, "killed too late each time");
}

/// Of two passwords that are set at the same time, the one is the key's, and the other one's command fails.
#[test]
#[cfg(target_os = "linux")]
fn two_new_passwords() {
    let folder = Folder::new();
    folder.write("mine", private_line(1).as_bytes());
    let change = [
        "key",
        "password",
        "--cost=0",
        "--new-password-file",
        "pipe",
        "mine",
    ];
    let before = private_line(1);
    let output = while_asking(&folder, &change, || {
        folder.write("other", b"another");
        let other = [&change[..3], &["--new-password-file", "other", "mine"]].concat();
        fails_with(
            &folder.run(&other),
            IO,
            &["cost 0", "mine: in use by another process"],
        );
        assert_eq!(folder.read("mine"), before.as_bytes());
    });
    succeeds_at_low_cost(&output);
    assert_ne!(folder.read("mine"), before.as_bytes());
}

/// A link that takes the place of the key is not replaced by a key whose other copy stays as it was.
#[test]
fn a_link_in_the_place_of_a_key() {
    let folder = Folder::new();
    folder.write("mine", private_line(1).as_bytes());
    let change = [
        "key",
        "password",
        "--cost=0",
        "--new-password-file",
        "pipe",
        "mine",
    ];
    let output = while_asking(&folder, &change, || {
        fs::rename(folder.path("mine"), folder.path("target")).unwrap();
        std::os::unix::fs::symlink("target", folder.path("mine")).unwrap();
    });
    fails_with(&output, IO, &["cost 0", "mine: changed meanwhile"]);
    assert!(folder.path("mine").is_symlink());
}

/// Whoever may replace a file of somebody else's does not take it away.
#[test]
fn a_key_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = Folder::new();
    folder.write("mine", private_line(1).as_bytes());
    folder.write("password", b"password");
    if chown(folder.path("mine"), Some(1234), Some(1235)).is_err() {
        return;
    }
    let args = [
        "key",
        "password",
        "--cost=0",
        "--new-password-file",
        "password",
        "mine",
    ];
    succeeds_at_low_cost(&folder.run(&args));
    let found = fs::metadata(folder.path("mine")).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 1235));
}

/// A key that takes the place of the one that was read is not lost.
#[test]
fn only_the_key_that_was_read_is_replaced() {
    let folder = Folder::new();
    let change = [
        "key",
        "password",
        "--cost=0",
        "--new-password-file",
        "pipe",
        "mine",
    ];
    for is_link in [false, true] {
        folder.write("old", private_line(1).as_bytes());
        folder.write("other", private_line(2).as_bytes());
        let _ = fs::remove_file(folder.path("mine"));
        if is_link {
            std::os::unix::fs::symlink("old", folder.path("mine")).unwrap();
        } else {
            fs::rename(folder.path("old"), folder.path("mine")).unwrap();
        }
        let output = while_asking(&folder, &change, || {
            let target = if is_link { "old" } else { "mine" };
            fs::rename(folder.path("other"), folder.path(target)).unwrap();
        });
        fails_with(&output, IO, &["cost 0", "mine: changed meanwhile"]);
        assert_eq!(folder.read("mine"), private_line(2).as_bytes());
    }
}

#[test]
fn private_and_public_key_files() {
    let folder = Folder::new();
    let made = folder.run(&["key", "generate", "--private", "new"]);
    succeeds(&made);
    let line = String::from_utf8(folder.read("new")).unwrap();
    assert_eq!(folder.mode("new"), 0o600);
    let again = folder.run(&["key", "generate", "--private", "new"]);
    fails(&again, IO, "new", "exists");
    let printed = folder.run(&["key", "public", "new"]);
    succeeds(&printed);
    assert_eq!(printed.stdout, folder.read("new.pub"));
    let other = folder.run(&["key", "generate", "--private", "-"]);
    succeeds(&other);
    assert!(other.stdout.len() == line.len() && stdout(&other) != line);
    // What is printed is in both halves of the key.
    let shown = folder.run(&["key", "inspect", "new.pub"]);
    assert!(
        stdout(&shown).contains(&format!("fingerprint:        {}", stdout(&made))),
        "{shown:?}"
    );

    // As documented.
    folder.write("one", private_line(1).as_bytes());
    let printed = folder.run(&["key", "public", "one"]);
    assert_eq!(stdout(&printed), public_line(1));
    folder.write(
        "all",
        format!(
            "{}{} Alice\n{}",
            key_line(&KEY),
            public_line(2).trim_end(),
            private_line(1)
        )
        .as_bytes(),
    );
    let about = |number: u8| {
        let fingerprint = digest::digest(label!("veriplex.public-key.v1"), &public_bytes(number));
        format!(
            "  fingerprint:        {}\n  verify --from-key:  {}\n  tunnel --peer:      {}\n",
            hex::encode(fingerprint),
            public(number),
            hybrid_key(number, "tunnel").public_key().fingerprint(),
        )
    };
    let shown = folder.run(&["key", "inspect", "all"]);
    succeeds(&shown);
    let expected = format!(
        "all: a symmetric key\nall: a public key\n  comment:            Alice\n{}all: a private key\n{}",
        about(2),
        about(1)
    );
    assert_eq!(stdout(&shown), expected);
}

#[test]
fn kinds_of_keys_are_told_apart() {
    let folder = Folder::new();
    let line = private_line(1);
    folder.write("new", line.as_bytes());
    folder.write("new.pub", public_line(1).as_bytes());
    for (args, name, kind) in [
        (
            &["key", "public", "key"][..],
            "key",
            "a symmetric key, where a private key",
        ),
        (
            &["key", "password", "--remove", "new.pub"],
            "new.pub",
            "a public key, where a private key",
        ),
        (
            &["mac", "-k", "new", "key"],
            "new",
            "a private key, where a symmetric key",
        ),
        (
            &["sign", "-k", "new.pub", "key"],
            "new.pub",
            "a public key, where a private key",
        ),
        (
            &["verify", "--from", "new", "key"],
            "new",
            "line 1: is a private key, where a public key",
        ),
    ] {
        fails(&folder.run(args), IO, name, kind);
    }
    for bad in [
        "",
        &line[1..],
        &line.replace("private", "public"),
        &line.repeat(2),
        &format!("{line}more\n"),
        &format!("{line}#{}", "x".repeat(1 << 14)),
    ] {
        folder.write("bad", bad.as_bytes());
        for args in [
            &["key", "public", "bad"][..],
            &["sign", "key", "-k", "bad"],
            &["seal", "--to", "new.pub", "key", "-k", "bad"],
            &["unseal", "--from", "new.pub", "-o", "out", "key", "-k", "bad"],
        ] {
            let output = folder.run(args);
            fails(&output, IO, "bad", "not a key file");
            assert_eq!(stdout(&output), "", "{bad:?}");
        }
    }
    for good in [
        format!("# Alice's\n\n{line}\n# secret\n"),
        line.trim_end().to_owned() + " Alice's\n",
    ] {
        folder.write("bad", good.as_bytes());
        succeeds(&folder.run(&["key", "public", "bad"]));
    }
    assert_eq!(folder.names(), ["bad", "new", "new.pub"]);
}

#[test]
fn passwords_of_keys_change() {
    let folder = Folder::new();
    for password in ["one", "two"] {
        folder.write(password, password.as_bytes());
    }
    folder.write(
        "mine",
        format!("# Of 2026\n{} Alice\n# the end", private_line(1).trim_end()).as_bytes(),
    );
    let change = |args: &[&str]| folder.run(&[&["key", "password", "mine"], args].concat());
    let public = |args: &[&str]| folder.run(&[&["key", "public", "mine"], args].concat());
    let low = "--cost=0";
    succeeds_at_low_cost(&change(&["--new-password-file", "one", low]));
    let text = String::from_utf8(folder.read("mine")).unwrap();
    assert!(text.starts_with("# Of 2026\nveriplex-encrypted-key-v1 ") && text.ends_with(" Alice\n# the end"));
    let wrong = change(&["--password-file", "two", "--new-password-file", "one", low]);
    fails_with(&wrong, UNVERIFIED, &["cost 0", "mine: wrong password"]);
    assert_eq!(folder.read("mine"), text.as_bytes());
    succeeds_at_low_cost(&change(&[
        "--password-file",
        "one",
        "--new-password-file",
        "two",
        low,
    ]));
    succeeds(&public(&["--password-file", "two"]));
    fails(
        &public(&["--password-file", "one"]),
        UNVERIFIED,
        "mine",
        "wrong password",
    );
    assert_eq!(
        folder.mode("mine"),
        0o600,
        "it has a secret, whatever the old file had"
    );
    folder.set_mode("mine", 0o664);
    succeeds(&change(&["--password-file", "two", "--remove"]));
    assert_eq!(folder.mode("mine"), 0o600);
    let text = String::from_utf8(folder.read("mine")).unwrap();
    assert_eq!(
        text,
        format!("# Of 2026\n{} Alice\n# the end", private_line(1).trim_end())
    );
    folder.write("empty", b"\n");
    fails(
        &change(&["--new-password-file", "empty"]),
        USAGE,
        "empty",
        "empty",
    );
    fails(
        &change(&["--new-password-file", "one", "--cost=19"]),
        USAGE,
        "the cost",
        "at most 18",
    );
    let output = folder.run(&["key", "password", "--remove", "-"]);
    fails(&output, USAGE, "-", "must be a file");
    assert_eq!(folder.read("mine"), text.as_bytes());
}

/// What no command could read does not replace what they can.
#[test]
fn a_key_stays_short_enough_to_be_read() {
    let folder = Folder::new();
    folder.write("password", b"correct horse\n");
    let private = private_line(1);
    let comment = "#".repeat((1 << 14) - private.len() - 1);
    let text = format!("{comment}\n{private}");
    folder.write_private("mine", text.as_bytes());
    let change = [
        "key",
        "password",
        "--cost",
        "3",
        "--new-password-file",
        "password",
        "mine",
    ];
    let output = folder.run(&change);
    assert_eq!(output.status.code(), Some(IO), "{output:?}");
    assert!(
        stderr(&output).contains("veriplex: mine: would be too long"),
        "{output:?}"
    );
    assert_eq!(folder.read("mine"), text.as_bytes());
    folder.write("mine", &text.as_bytes()[1000..]);
    succeeds_at_low_cost(&folder.run(&change));
    succeeds(&folder.run(&["key", "public", "--password-file", "password", "mine"]));
}

/// Of programs that must not leave secrets on the disk.
#[test]
fn secrets_from_descriptors_and_the_environment() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    folder.write("password", b"correct horse\n");
    let run = |args: &str, redirections: &str| {
        let script = format!("exec \"$0\" {args} {redirections}");
        Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_veriplex")])
            .env("PASSWORD", "correct horse")
            .env("EMPTY", "")
            .env("LONG", "x".repeat(1025))
            .stdin(Stdio::null())
            .current_dir(folder.0.path())
            .output()
            .unwrap()
    };
    let through_pipe = |args: &str, descriptor: u8, file: &str| {
        // Also what is no file, as another program would pass it.
        let script = format!("cat {file} | \"$0\" {args} {descriptor}<&0 </dev/null");
        Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_veriplex")])
            .current_dir(folder.0.path())
            .output()
            .unwrap()
    };
    let tags = format!("VERIPLEX-MAC (file) = {}\n", hex_tag(b"content"));
    for output in [
        run("mac --key-fd 3 file", "3<key"),
        run("mac --key-fd 9 file", "9<key"),
        run("mac --key-fd 0 file", "<key"),
        through_pipe("mac --key-fd 3 file", 3, "key"),
    ] {
        succeeds(&output);
        assert_eq!(stdout(&output), tags);
    }
    fails(
        &run("mac --key-fd 0", "<key"),
        USAGE,
        "standard input",
        "both key and input",
    );
    fails(
        &run("mac --key-fd 7 file", ""),
        IO,
        "/dev/fd/7",
        "descriptor 7 is not open",
    );

    for (make, open) in [
        (
            "encrypt --password-env PASSWORD --cost 12",
            "decrypt --password-fd 4",
        ),
        ("encrypt --key-fd 3", "decrypt --key-fd 3"),
        ("seal --key-fd 5 --to 2.pub", "unseal -q --key-fd 6 --from 1.pub"),
    ] {
        let redirections = "3<key 4<password 5<1 6<2";
        let output = run(&format!("{make} -fo out file"), redirections);
        succeeds(&output);
        let output = run(&format!("{open} -o - out"), redirections);
        succeeds(&output);
        assert_eq!(stdout(&output), "content", "{make}");
    }
    succeeds(&run(
        "key generate --private --password-env PASSWORD --cost 12 mine",
        "",
    ));
    for password in [
        "--password-env PASSWORD",
        "--password-fd 3",
        "--password-file password",
    ] {
        succeeds(&run(&format!("sign -fk mine {password} file"), "3<password"));
        succeeds(&run(&format!("key public {password} mine"), "3<password"));
    }
    let hash = run("hash-password --password-env PASSWORD --cost 12", "");
    folder.write("hash", &hash.stdout);
    succeeds(&run("verify-password --password-fd 3 hash", "3<password"));
    for (name, status, reason) in [
        ("EMPTY", USAGE, "the password is empty"),
        ("LONG", IO, "has more than 1024 bytes"),
        ("NONE", IO, "is not in the environment"),
    ] {
        fails(
            &run(&format!("hash-password --password-env {name}"), ""),
            status,
            name,
            reason,
        );
    }
}

/// A descriptor goes on where it is, and needs no permission to open what it is open to.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_are_read_themselves() {
    let folder = Folder::new();
    folder.write("lines", b"not this\ncorrect horse\n");
    folder.write("password", b"correct horse\n");
    let hash = folder.run(&["hash-password", "--cost=3", "--password-file=password"]);
    folder.write("hash", &hash.stdout);
    let script = "read line <&3; chmod 0 lines; exec \"$0\" verify-password --password-fd 3 hash";
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("{{ {script}; }} 3<lines"),
            env!("CARGO_BIN_EXE_veriplex"),
        ])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    succeeds(&output);
    // Nothing can open a socket by a name.
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.write_all(b"correct horse\n").unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            "exec \"$0\" verify-password --password-fd 3 hash 3<&0 </dev/null",
            env!("CARGO_BIN_EXE_veriplex"),
        ])
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    succeeds(&output);
}

#[test]
fn public_keys_in_files() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    let verify = |from: &str| folder.run(&["verify", "--quiet", "--from", from, "file"]);
    let [one, two] = [1, 2].map(public_line);
    for good in [
        one.clone(),
        one.trim_end().into(),
        format!("# {two}\n\n{}  alice@example.com\n{two}", one.trim_end()),
    ] {
        folder.write("list", good.as_bytes());
        succeeds(&verify("list"));
    }
    folder.write("list", b"# nothing\n");
    fails(&verify("list"), IO, "list", "no public key");
    let no_kem = [&public_bytes(1)[..2000], &[0xff; 464]].concat();
    for bad in [
        public(1),
        one[1..].to_owned(),
        one.replace("v1 ", "v1  "),
        // No element of the group, no key of ML-KEM.
        line_of(&[0; 2464], &proof(1, &[0; 2464])),
        line_of(&no_kem, &proof(1, &no_kem)),
        // No proof.
        line_of(&public_bytes(1), &proof(2, &public_bytes(1))),
        line_of(&public_bytes(1), &[[0; 64]; 3]),
    ] {
        folder.write("list", format!("# a list\n{bad}\n").as_bytes());
        fails(&verify("list"), IO, "list", "line 2: not a public key");
    }
    for from in [&["--from-key", &public(1), "--from", "list"][..], &[]] {
        let output = folder.run(&[&["verify", "file"][..], from].concat());
        assert_eq!(output.status.code(), Some(USAGE), "{from:?}");
    }
    let output = folder.pipe(&["verify", "--from", "-"], b"");
    fails(&output, USAGE, "standard input", "both public key and input");
    let output = folder.pipe(&["verify", "--quiet", "--from", "-", "file"], one.as_bytes());
    succeeds(&output);
    fails(&verify("missing"), IO, "missing", "No such file");
    folder.write("list", &vec![b'#'; 2 << 20]);
    fails(&verify("list"), IO, "list", "too large");
}

/// Who takes a part of somebody else's key for one of theirs, and gives it their own name, would be said to have signed,
/// sealed or connected.
#[test]
fn parts_of_other_keys_are_refused() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    succeeds(&folder.run(&["seal", "--key-file", "1", "--to", "2.pub", "file"]));
    let (alice, mallory) = (public_bytes(1), public_bytes(3));
    for (number, part) in [0..32, 32..1248, 1248..2464].into_iter().enumerate() {
        let mut parts = mallory.clone();
        parts[part.clone()].copy_from_slice(&alice[part]);
        let own = proof(3, &parts);
        let mut copied = own;
        copied[number] = proof(1, &alice)[number];
        for proof in [own, copied] {
            folder.write(
                "list",
                line_of(&parts, &proof).replace('\n', " Mallory\n").as_bytes(),
            );
            for args in [
                &["verify", "--from", "list", "file"][..],
                &["unseal", "-k", "2", "--from", "list", "-o", "-", "file.sealed"],
                &["seal", "-k", "2", "--to", "list", "-o", "-", "file"],
                &["key", "inspect", "list"],
            ] {
                let output = folder.run(args);
                fails(&output, IO, "list", "not a ");
                assert_eq!(output.stdout, b"");
            }
        }
    }
}

/// A key that was copied wrongly is an error, and never the name of a file: whoever can make one would choose the key.
#[test]
fn a_key_is_not_the_name_of_a_file() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    let good = public(1);
    let fingerprint = "5a".repeat(32);
    for to_key in [&good, &fingerprint] {
        for (damaged, reason) in [
            (format!("0x{to_key}"), "begins with 0x"),
            (format!("0X{to_key}"), "begins with 0X"),
            (format!("\u{feff}{to_key}"), "character 1 is a byte order mark"),
            (format!("{to_key}\u{200b}"), "character 65 is a zero-width space"),
            (format!("{}:{}", &to_key[..2], &to_key[2..]), "character 3 is ':'"),
            (format!("\"{to_key}\""), "character 1 is '\"'"),
            (format!("\u{201c}{to_key}\u{201d}"), "character 1 is '\u{201c}'"),
            (format!("{to_key}."), "character 65 is '.'"),
            (format!(" {to_key}"), "character 1 is a blank"),
            (format!("{to_key} "), "character 65 is a blank"),
            (format!("{to_key}\n"), "character 65 is U+000A"),
            (
                format!("{} {}", &to_key[..32], &to_key[32..]),
                "character 33 is a blank",
            ),
            (
                format!("O{}", &to_key[1..]),
                "character 1 is the letter O, not the digit 0",
            ),
            (
                format!("l{}", &to_key[1..]),
                "character 1 is the letter l, not the digit 1",
            ),
            (to_key[1..].into(), "has 63 hexadecimal digits, not 64"),
            (format!("{to_key}0"), "has 65 hexadecimal digits, not 64"),
            (String::new(), "has 0 hexadecimal digits, not 64"),
            ("list".into(), "character 1 is the letter l"),
            ("./list".into(), "character 1 is '.'"),
        ] {
            // Its name is the damaged key, its content a right one.
            let is_file = !damaged.is_empty();
            if is_file {
                folder.write(&damaged, to_key.as_bytes());
            }
            let commands = if *to_key == good {
                vec![(
                    vec!["verify", "--from-key", &damaged, "file"],
                    "use --from for a file",
                )]
            } else {
                let serve = ["tunnel", "serve", "-k1", "--listen=[::]:0", "--connect=[::]:1"];
                vec![
                    (vec!["sum", "--outboard", "o", "--verify", &damaged, "file"], ""),
                    (
                        [&serve[..], &["--peer", &damaged]].concat(),
                        "use --peer-file for a file",
                    ),
                ]
            };
            for (command, hint) in commands {
                let output = folder.run(&command);
                assert_eq!(output.status.code(), Some(USAGE), "{output:?}");
                assert!(stderr(&output).contains(reason), "{reason}: {output:?}");
                assert!(!is_file || stderr(&output).contains(hint), "{hint}: {output:?}");
                assert_eq!(stdout(&output), "");
            }
        }
    }
    let output = folder.run(&["verify", "--from-key", &"0".repeat(64), "file"]);
    assert_eq!(output.status.code(), Some(USAGE));
    assert!(
        stderr(&output).contains("these digits are no public key"),
        "{output:?}"
    );
    // Either case is right.
    succeeds(&folder.run(&["verify", "--quiet", "--from-key", &good.to_uppercase(), "file"]));
}

/// The crate `hex` looks digits up in a table: fine for tests, not for keys.
#[test]
fn digits_are_decoded_in_constant_time() {
    let manifest = include_str!("../../Cargo.toml");
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n[").unwrap();
    let has = |name: &str| dependencies.lines().any(|line| line.starts_with(name));
    assert!(has("base16ct ") && !has("hex "));
    let keyfile = include_str!("../../src/keys.rs");
    assert!(keyfile.contains("= base16ct::mixed::decode(digits, "));
    assert!(!keyfile.contains("from_str_radix") && !keyfile.contains("to_digit"));
}
