//! Key files, private keys, and public keys as arguments and in files.

use super::*;

#[test]
fn keygen_makes_key_files() {
    let folder = Folder::new();
    succeeds(&folder.run(&["keygen", "new"]));
    let line = String::from_utf8(folder.read("new")).unwrap();
    let digits = line.strip_prefix("veriplex-key-v1 ").unwrap();
    let digits = digits.strip_suffix('\n').unwrap();
    assert_eq!(hex::decode(digits).unwrap().len(), 32);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path("new")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    fails(&folder.run(&["keygen", "new"]), IO, "new", "exists");
    assert_eq!(folder.read("new"), line.as_bytes());
    succeeds(&folder.run(&["mac", "--key-file", "new", "key"]));

    let printed = folder.run(&["keygen", "-"]);
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
        format!("{good}\n#\n"),
        format!(" {good}"),
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
    succeeds_at_low_cost(&folder.run(&[&["keygen", "--private", "protected"][..], &make].concat()));
    let hash = folder.run(&[&["hash-password"][..], &make].concat()).stdout;
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    let list = folder.run(&["sum", "--tag", "file"]).stdout;
    let from = ["verify", "--quiet", "--from", &public(1), "file"];
    for (text, command) in [
        (folder.read("key"), &["mac", "--key-file", "text", "file"][..]),
        (folder.read("1"), &["pubkey", "--key-file", "text"]),
        (
            folder.read("protected"),
            &["pubkey", "--key-file", "text", "--key-password-file", "password"],
        ),
        (
            format!("# all\n\n{}  alice\n", public(1)).into(),
            &["verify", "--quiet", "--from-file", "text", "file"],
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

/// While they wait for input: `mac` and `sum` have only what the key was mixed into, which begins with it.
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
    for args in [
        &["mac", "--key-file"][..],
        &["sum", "--keyed"],
        &["encrypt", "-fo", "out", "--key-file"],
    ] {
        for key_file in ["key", "-"] {
            let mut child = folder
                .command(&[args, &[key_file, "pipe"]].concat())
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
                let found = [&key, &line.as_bytes()[20..60]].map(|bytes| count(&memory, bytes));
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
    let output = folder.run(&["keygen", "--private", "--password-file", "missing", "mine"]);
    fails(&output, IO, "mine", "exists already");
    let output = folder.run(&["keygen", "--private", "--password", "mine"]);
    fails(&output, IO, "mine", "exists already");
    // Of two files that belong together, none is made.
    folder.write("tunnel.pub", b"old");
    let output = folder.run(&["tunnel", "keygen", "tunnel"]);
    fails(&output, IO, "tunnel.pub", "exists already");
    assert_eq!(folder.names(), ["mine", "tunnel.pub"]);
}

#[test]
fn private_and_public_key_files() {
    let folder = Folder::new();
    succeeds(&folder.run(&["keygen", "--private", "new"]));
    let pem = String::from_utf8(folder.read("new")).unwrap();
    let key = PrivateKey::from_pem(&pem).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path("new")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    fails(&folder.run(&["keygen", "--private", "new"]), IO, "new", "exists");
    let printed = folder.run(&["pubkey", "--key-file", "new"]);
    succeeds(&printed);
    assert_eq!(stdout(&printed), format!("{}\n", key.public_key()));
    let printed = folder.run(&["keygen", "--private", "-"]);
    assert_ne!(PrivateKey::from_pem(stdout(&printed)).unwrap(), key);

    // The two kinds are not taken for each other.
    fails(
        &folder.run(&["pubkey", "--key-file", "key"]),
        IO,
        "key",
        "not a private key file",
    );
    fails(
        &folder.run(&["mac", "--key-file", "new", "key"]),
        IO,
        "new",
        "not a key file",
    );
    for bad in [
        "",
        &pem[1..],
        &pem.replace("PRIVATE", "PUBLIC"),
        &pem.repeat(2),
        &pem.repeat(9),
    ] {
        folder.write("bad", bad.as_bytes());
        for args in [
            &["pubkey"][..],
            &["sign", "key"],
            &["seal", "--to", &public(1), "key"],
            &["unseal", "--from", &public(1), "-o", "out", "key"],
        ] {
            let output = folder.run(&[args, &["--key-file", "bad"]].concat());
            fails(&output, IO, "bad", "not a private key file");
            assert_eq!(stdout(&output), "", "{bad:?}");
        }
    }
    assert_eq!(folder.names(), ["bad", "new"]);
}

#[test]
fn public_keys_as_arguments_and_in_files() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    succeeds(&folder.run(&["sign", "--key-file", "1", "file"]));
    let verify = |from: &str| folder.run(&["verify", "--quiet", "--from-file", from, "file"]);
    for good in [
        format!("{}\n", public(1)),
        public(1),
        format!("# {}\n\n{}  alice@example.com\n", public(2), public(1)),
    ] {
        folder.write("list", good.as_bytes());
        succeeds(&verify("list"));
    }
    folder.write("list", format!("{}\n{}\n", public(1), public(2)).as_bytes());
    fails(&verify("list"), USAGE, "list", "several");
    folder.write("list", b"# nothing\n");
    fails(&verify("list"), IO, "list", "no public key");
    for bad in [
        "0".repeat(64),
        public(1)[1..].to_owned(),
        format!("key={}", public(1)),
    ] {
        folder.write("list", format!("# a list\n{bad}\n").as_bytes());
        fails(&verify("list"), IO, "list", "line 2: ");
    }
    for from in [&["--from", &public(1), "--from-file", "list"][..], &[]] {
        let output = folder.run(&[&["verify", "file"][..], from].concat());
        assert_eq!(output.status.code(), Some(USAGE), "{from:?}");
    }
    let output = folder.pipe(&["verify", "--from-file", "-"], b"");
    fails(&output, USAGE, "standard input", "both public key and input");
    fails(&verify("missing"), IO, "missing", "No such file");
    folder.write("list", &vec![b'#'; 2 << 20]);
    fails(&verify("list"), IO, "list", "too large");
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
            if !damaged.is_empty() {
                folder.write(&damaged, to_key.as_bytes());
            }
            let commands = if *to_key == good {
                vec![
                    vec!["verify", "--from", &damaged, "file"],
                    vec!["unseal", "-k", "1", "--from", &damaged, "file"],
                    vec!["seal", "-k", "1", "--to", &damaged, "file"],
                ]
            } else {
                let serve = ["tunnel", "serve", "-k1", "--listen=[::]:0", "--connect=[::]:1"];
                vec![
                    vec!["sum", "--outboard", "o", "--verify", &damaged, "file"],
                    [&serve[..], &["--peer", &damaged]].concat(),
                ]
            };
            for command in commands {
                let output = folder.run(&command);
                assert_eq!(output.status.code(), Some(USAGE), "{output:?}");
                assert!(stderr(&output).contains(reason), "{reason}: {output:?}");
                assert_eq!(stdout(&output), "");
            }
        }
    }
    let output = folder.run(&["verify", "--from", &"0".repeat(64), "file"]);
    assert_eq!(output.status.code(), Some(USAGE));
    assert!(
        stderr(&output).contains("these digits are no public key"),
        "{output:?}"
    );
    // Either case is right.
    succeeds(&folder.run(&["verify", "--quiet", "--from", &good.to_uppercase(), "file"]));
}

/// The crate `hex` looks digits up in a table: fine for tests, not for keys.
#[test]
fn digits_are_decoded_in_constant_time() {
    let manifest = include_str!("../../Cargo.toml");
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n[").unwrap();
    let has = |name: &str| dependencies.lines().any(|line| line.starts_with(name));
    assert!(has("base16ct ") && !has("hex "));
    let keyfile = include_str!("../../src/keyfile.rs");
    assert!(keyfile.contains("= base16ct::mixed::decode(digits, "));
    assert!(!keyfile.contains("from_str_radix") && !keyfile.contains("to_digit"));
}
