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
        good.replace('\n', "\r\n"),
        good.repeat(2),
        format!("{good}\n"),
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
    // Without its newline a key file is good.
    folder.write("bad", good.trim_end().as_bytes());
    succeeds(&folder.run(&["mac", "--key-file", "bad", "plain"]));
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
    let verify = |from: &str| folder.run(&["verify", "--quiet", "--from", from, "file"]);
    succeeds(&verify(&public(1)));
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
    fails(&verify("list"), USAGE, "list", "no public key");
    for bad in [
        "0".repeat(64),
        public(1)[1..].to_owned(),
        format!("key={}", public(1)),
    ] {
        folder.write("list", format!("# a list\n{bad}\n").as_bytes());
        fails(&verify("list"), IO, "list", "line 2 has no public key");
    }
    // The identity is no key, and not the name of a file.
    fails(
        &verify(&"0".repeat(64)),
        USAGE,
        &"0".repeat(64),
        "not a public key",
    );
    fails(&verify("missing"), IO, "missing", "No such file");
    folder.write("list", &vec![b'#'; 2 << 20]);
    fails(&verify("list"), IO, "list", "too large");
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
