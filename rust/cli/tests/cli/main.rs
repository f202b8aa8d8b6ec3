//! Runs the program as its users do.

mod disk;
mod formats;
mod hardening;
mod nbd;
mod pages;
mod sum;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use veriplex::aestream::{MAX_BLOCK_LEN, Sealer};
use veriplex::keys::PrivateKey;
use veriplex::seekable::Seekable;
use veriplex::{Key, Protocol, digest, hpke, label, mac::Mac, mhf::Mhf, sig, siv::Siv};

const UNVERIFIED: i32 = 1;
const USAGE: i32 = 2;
const IO: i32 = 3;
const CLOSED: i32 = 141;

const HEADER_LEN: usize = 9;
const SALT_LEN: usize = 32;
const OVERHEAD: usize = 18;
/// Where the first block begins.
const BLOCKS: usize = HEADER_LEN + SALT_LEN;
/// Where the first segment begins.
const SEGMENTS: usize = BLOCKS + 16;
const SEGMENT_LEN: usize = 16384;

const KEY: [u8; 32] = [0xc3; 32];

/// A folder to work in, with a key file `key` that holds [`KEY`].
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("key", key_line(&KEY).as_bytes());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files but `key`.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "key")
            .collect();
        names.sort();
        names
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
        command
            .args(args)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs with `input` on a pipe.
    fn pipe(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            // The program may end without having read all.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().unwrap()
        })
    }
}

fn key_line(key: &[u8; 32]) -> String {
    format!("veriplex-key-v1 {}\n", hex::encode(key))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn succeeds(output: &Output) {
    assert_eq!((output.status.code(), stderr(output)), (Some(0), ""));
}

/// Succeeds, and warns of a cost that is good for tests only.
#[track_caller]
fn succeeds_at_low_cost(output: &Output) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(
        message.starts_with("veriplex: cost ") && message.lines().count() == 1,
        "{message}"
    );
}

/// Fails with `status` and one line that begins with `veriplex: NAME: ` and contains `reason`.
#[track_caller]
fn fails(output: &Output, status: i32, name: &str, reason: &str) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(
        message.starts_with(&format!("veriplex: {name}: ")),
        "{name}: {message}"
    );
    assert!(message.contains(reason), "{reason}: {message}");
}

/// Fails with `status` and these messages, in this order.
#[track_caller]
fn fails_with(output: &Output, status: i32, reasons: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{message}");
    assert_eq!(message.lines().count(), reasons.len(), "{message}");
    for (line, reason) in message.lines().zip(reasons) {
        assert!(line.contains(reason), "{reason}: {message}");
    }
}

/// What `work` gives; fails where it would hang.
#[track_caller]
fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(work())));
    receiver.recv_timeout(Duration::from_secs(30)).unwrap()
}

/// Bytes that do not repeat soon.
fn noise(len: usize) -> Vec<u8> {
    let mut protocol = Protocol::new(label!("veriplex.test"));
    protocol.derive_vec(label!("noise"), len)
}

fn hex_digest(bytes: &[u8]) -> String {
    hex::encode(digest::digest(label!("veriplex.digest.v1"), bytes))
}

fn hex_tag(bytes: &[u8]) -> String {
    let mut mac = Mac::new(label!("veriplex.mac.v1"), &KEY.into());
    mac.update(bytes);
    hex::encode(mac.finalize().as_bytes())
}

/// Encrypts as `README.md` says of version 4.
fn in_segments(key: &[u8; 32], salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    segments(b"VERIPLEX\x04", key, salt, plaintext)
}

/// The same of version 5.
fn in_segments_with_password(password: &[u8], cost: u8, salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    let header = [b"VERIPLEX\x05".as_slice(), &[cost]].concat();
    segments(&header, &stretched(password, cost, salt), salt, plaintext)
}

fn segments(header: &[u8], key: &[u8; 32], salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    let mut mac = Mac::new(label!("veriplex.file.header.v1"), &Key::from(*key));
    mac.update(header);
    mac.update(salt);
    let message =
        Seekable::<32>::new(label!("veriplex.file.seekable.v1"), &Key::from(*key)).message(salt, header);
    [
        header,
        salt,
        mac.finalize().as_bytes(),
        &message.seal_vec(plaintext),
    ]
    .concat()
}

fn stretched(password: &[u8], cost: u8, salt: &[u8; 32]) -> [u8; 32] {
    let mhf = Mhf::with_any_cost(label!("veriplex.file.password.v1"), cost).unwrap();
    let mut key = [0; 32];
    mhf.hash_into(password, salt, &mut key).unwrap();
    key
}

/// Encrypts as `README.md` says of version 1, with blocks of these plaintexts.
fn encrypted(key: &[u8; 32], salt: &[u8; 32], blocks: &[&[u8]]) -> Vec<u8> {
    stream(b"VERIPLEX\x01", key, salt, blocks)
}

/// The same of version 2.
fn encrypted_with_password(password: &[u8], cost: u8, salt: &[u8; 32], blocks: &[&[u8]]) -> Vec<u8> {
    let header = [b"VERIPLEX\x02".as_slice(), &[cost]].concat();
    stream(&header, &stretched(password, cost, salt), salt, blocks)
}

fn stream(header: &[u8], key: &[u8; 32], salt: &[u8; 32], blocks: &[&[u8]]) -> Vec<u8> {
    let mut file = header.to_vec();
    let mut protocol = Protocol::new(label!("veriplex.file.v1"));
    protocol.mix(label!("header"), &file);
    protocol.mix(label!("key"), key);
    protocol.mix(label!("nonce"), salt);
    file.extend_from_slice(salt);
    let mut sealer = Sealer::from_protocol(protocol);
    for plaintext in blocks {
        let mut block = vec![0; 2];
        block.extend_from_slice(plaintext);
        block.resize(block.len() + 16, 0);
        sealer.seal_block(&mut block).unwrap();
        file.extend_from_slice(&block);
    }
    file.extend_from_slice(&sealer.finish().0);
    file
}

#[test]
fn version_names_the_backend() {
    let output = Folder::new().run(&["--version"]);
    succeeds(&output);
    let expected = format!("veriplex 0.1.0 (backend {})\n", veriplex::backend());
    assert_eq!(stdout(&output), expected);
}

#[test]
fn help_lists_exit_statuses() {
    let output = Folder::new().run(&["--help"]);
    succeeds(&output);
    for status in ["0 ", "1 ", "2 ", "3 ", "141"] {
        assert!(stdout(&output).contains(&format!("\n  {status}")), "{status}");
    }
}

#[test]
fn wrong_command_lines() {
    let folder = Folder::new();
    for args in [
        &[][..],
        &["nonsense"],
        &["digest", "--nonsense"],
        &["mac"],
        &["keygen"],
        &["encrypt", "key"],
        &["decrypt", "key"],
        &["pubkey"],
        &["sign", "key"],
        &["verify", "key"],
        &["seal", "--key-file", "key", "key"],
        &["unseal", "--key-file", "key", "key"],
        &["tunnel"],
        &[
            "tunnel",
            "serve",
            "--key-file",
            "key",
            "--listen",
            "localhost:0",
            "--connect",
            "localhost:1",
        ],
        &["encrypt", "--key-file", "key", "--password", "key"],
        &["encrypt", "--password", "--password-file", "key", "key"],
        &["encrypt", "--password-file", "key", "--deterministic", "key"],
        &[
            "encrypt",
            "--key-file",
            "key",
            "--deterministic",
            "--cost",
            "4",
            "key",
        ],
        &["encrypt", "--password-file", "key", "--cost", "27", "key"],
        &["decrypt", "--password-file", "key", "--max-cost", "27", "key"],
        &["hash-password", "--cost", "-1"],
        &["verify-password"],
        &["digest", "--length", "0", "key"],
        &["digest", "--length", "16385", "key"],
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(USAGE), "{args:?}");
        assert_eq!(stdout(&output), "");
        assert_ne!(stderr(&output), "");
    }
}

#[test]
fn digest_of_files_and_pipes() {
    let folder = Folder::new();
    let contents = [noise(0), noise(1), noise(300_000)];
    folder.write("empty", &contents[0]);
    folder.write("one byte", &contents[1]);
    folder.write("long", &contents[2]);
    let output = folder.run(&["digest", "empty", "one byte", "long"]);
    succeeds(&output);
    let [empty, one, long] = contents.each_ref().map(|bytes| hex_digest(bytes));
    assert_eq!(
        stdout(&output),
        format!("{empty}  empty\n{one}  one byte\n{long}  long\n")
    );
    for args in [&["digest"][..], &["digest", "-"]] {
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
    let output = folder.run(&["digest", "a", "missing", "b"]);
    fails(&output, IO, "missing", "No such file");
    assert_eq!(
        stdout(&output),
        format!("{}  a\n{}  b\n", hex_digest(b"a"), hex_digest(b"b"))
    );
    let output = folder.run(&["mac", "--key-file", "key", "folder", "b"]);
    fails(&output, IO, "folder", "directory");
    assert_eq!(stdout(&output), format!("{}  b\n", hex_tag(b"b")));
}

#[test]
fn mac_of_files_and_pipes() {
    let folder = Folder::new();
    let long = noise(300_000);
    folder.write("long", &long);
    let output = folder.run(&["mac", "--key-file", "key", "long"]);
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{}  long\n", hex_tag(&long)));
    let output = folder.pipe(&["mac", "--key-file", "key"], b"abc");
    succeeds(&output);
    assert_eq!(stdout(&output), format!("{}  -\n", hex_tag(b"abc")));
}

/// Everything about `--check` that digests and tags share.
fn check_lists(command: &[&str], sum: fn(&[u8]) -> String) {
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
    fails(&output, IO, "missing", "No such file");
    assert_eq!(stdout(&output), "missing: FAILED open or read\nb: OK\n");
    // A failed verification outweighs it.
    let output = run(&["--check", "gone", "bad"]);
    assert_eq!(output.status.code(), Some(UNVERIFIED));
    let output = run(&["--check", "bad", "gone"]);
    assert_eq!(output.status.code(), Some(UNVERIFIED));

    for line in [
        String::new(),
        "# comment".into(),
        a.clone(),
        format!("{a} a"),
        format!("{a}  "),
        format!("{a} *a"),
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
        let output = run(&["--check", "odd"]);
        fails(&output, UNVERIFIED, "odd", "line 2 is malformed");
        assert_eq!(stdout(&output), "a: OK\nb: OK\n", "{line}");
        folder.write("odd", format!("{line}\n").as_bytes());
        let output = run(&["--check", "odd"]);
        assert_eq!(output.status.code(), Some(UNVERIFIED), "{line}");
        assert!(
            stderr(&output).ends_with("veriplex: odd: no valid line\n"),
            "{line}"
        );
        assert_eq!(stdout(&output), "");
    }
    folder.write("empty", b"");
    fails(&run(&["--check", "empty"]), UNVERIFIED, "empty", "no valid line");
    fails(&run(&["--check", "missing"]), IO, "missing", "No such file");
}

#[test]
fn check_lists_of_digests() {
    check_lists(&["digest"], hex_digest);
}

#[test]
fn check_lists_of_tags() {
    check_lists(&["mac", "--key-file", "key"], hex_tag);
}

#[test]
fn tags_depend_on_the_key() {
    let folder = Folder::new();
    folder.write(
        "list",
        format!("{}  key\n", hex_tag(&folder.read("key"))).as_bytes(),
    );
    succeeds(&folder.run(&["mac", "--key-file", "key", "--check", "list"]));
    folder.write("other key", key_line(&[1; 32]).as_bytes());
    let output = folder.run(&["mac", "--key-file", "other key", "--check", "list"]);
    fails(&output, UNVERIFIED, "list", "did not match");
}

#[test]
#[cfg(unix)]
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
    let mut command = folder.command(&["digest"]);
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
    let output = folder.pipe(&["digest", "--check"], &expected);
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

/// The private key of this number.
fn private(number: u8) -> PrivateKey {
    PrivateKey::from_uniform_bytes([number; 64]).unwrap()
}

fn public(number: u8) -> String {
    private(number).public_key().to_string()
}

impl Folder {
    /// With the private keys 1, 2 and 3 too, in files of these names.
    fn with_private_keys() -> Self {
        let folder = Self::new();
        for number in 1..=3 {
            folder.write(&number.to_string(), private(number).to_pem().as_bytes());
        }
        folder
    }
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

#[test]
fn signatures_of_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let wrong = "the signature is not one of this key for this file";
    for len in [0, 1, 65_536, 1 << 20] {
        let content = noise(len);
        folder.write("file", &content);
        succeeds(&folder.run(&["sign", "--key-file", "1", "--force", "file"]));
        let output = folder.run(&["verify", "--from", &public(1), "file"]);
        succeeds(&output);
        assert!(stdout(&output).starts_with("file: OK\n"));
        let output = folder.run(&["verify", "--from", &public(2), "file"]);
        fails(&output, UNVERIFIED, "file", "signed by the key ");
        assert_eq!(stdout(&output), "");

        let signature = folder.pipe(&["sign", "--key-file", "1"], &content);
        succeeds(&signature);
        assert_ne!(
            signature.stdout,
            folder.read("file.vpsig"),
            "signatures are random"
        );
        folder.write("other.vpsig", &signature.stdout);
        let verify = ["verify", "--from", &public(1), "--signature", "other.vpsig"];
        succeeds(&folder.pipe(&verify, &content));
        succeeds(&folder.run(&[&verify[..], &["file"]].concat()));
        let longer = [&content[..], &[0]].concat();
        fails(
            &folder.pipe(&verify, &longer),
            UNVERIFIED,
            "standard input",
            wrong,
        );
    }
    // The format of version 1, by hand; under the name that it had.
    let signature = sig::sign(
        label!("veriplex.sign.v1"),
        &private(2),
        b"by hand",
        &mut veriplex::os_rng(),
    );
    folder.write("hand", b"by hand");
    let line = format!("veriplex-signature-v1 {}\n", hex::encode(signature.to_bytes()));
    folder.write("hand.sig", line.as_bytes());
    succeeds(&folder.run(&["verify", "--from", &public(2), "hand"]));
    // The newline may be missing, and nothing else.
    folder.write("hand.sig", line.trim_end().as_bytes());
    succeeds(&folder.run(&["verify", "--from", &public(2), "hand"]));
    let malformed = "not a signature";
    for (bad, reason) in [
        (String::new(), malformed),
        (line.repeat(2), malformed),
        (line.replace("v1", "v2"), malformed),
        (format!(" {line}"), malformed),
        (line[..line.len() - 2].to_owned(), malformed),
    ] {
        folder.write("hand.sig", bad.as_bytes());
        let output = folder.run(&["verify", "--from", &public(2), "hand"]);
        fails(&output, UNVERIFIED, "hand.sig", reason);
    }
    let mut bytes = signature.to_bytes();
    bytes[40] ^= 1;
    folder.write(
        "hand.sig",
        format!("veriplex-signature-v1 {}\n", hex::encode(bytes)).as_bytes(),
    );
    fails(
        &folder.run(&["verify", "--from", &public(2), "hand"]),
        UNVERIFIED,
        "hand",
        wrong,
    );
    // An existing signature is kept; standard input has no name for one.
    fails(
        &folder.run(&["sign", "--key-file", "1", "file"]),
        IO,
        "file.vpsig",
        "exists",
    );
    let output = folder.run(&["verify", "--from", &public(1)]);
    fails(&output, USAGE, "standard input", "--signature");
}

#[test]
fn sealed_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let seal = ["seal", "--key-file", "1", "--to", &public(2)];
    let unseal = ["unseal", "--key-file", "2", "--from", &public(1)];
    for len in [0, 1, 65_535, 65_536, 1 << 20] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&[&seal[..], &["--force", "file"]].concat()));
        let sealed = folder.read("file.sealed");
        let blocks = len.div_ceil(MAX_BLOCK_LEN) + 1;
        assert_eq!(sealed.len(), BLOCKS + len + blocks * OVERHEAD);
        fs::remove_file(folder.path("file")).unwrap();
        succeeds(&folder.run(&[&unseal[..], &["file.sealed"]].concat()));
        assert_eq!(folder.read("file"), plaintext);

        let piped = folder.pipe(&seal, &plaintext);
        succeeds(&piped);
        assert_ne!(piped.stdout, sealed, "the ephemeral key is random");
        let opened = folder.pipe(&unseal, &piped.stdout);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
    }

    // Not from somebody else, and not to somebody else, its sender included.
    let sealed = folder.pipe(&seal, b"plaintext").stdout;
    for (receiver, sender) in [("2", 3), ("2", 2), ("3", 1), ("1", 2), ("1", 1)] {
        let output = folder.pipe(
            &["unseal", "--key-file", receiver, "--from", &public(sender)],
            &sealed,
        );
        fails(&output, UNVERIFIED, "standard input", "verification failed");
        assert_eq!(output.stdout, b"", "{receiver} from {sender}");
    }
    let refused = |damaged: &[u8], reason| {
        let output = folder.pipe(&unseal, damaged);
        fails(&output, UNVERIFIED, "standard input", reason);
        assert_eq!(output.stdout, b"");
    };
    for at in 0..sealed.len() {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        // The last block is the end.
        if at < sealed.len() - OVERHEAD {
            refused(&damaged, "");
        }
    }
    for len in 0..BLOCKS {
        refused(&sealed[..len], "too short to be sealed by veriplex");
    }
    let mut other = sealed.clone();
    other[8] = 3;
    refused(&other, "another version");
    refused(
        &encrypted(&KEY, &[0; 32], &[b"plaintext"]),
        "veriplex decrypt opens it",
    );
    // The identity where the ephemeral key was.
    other = sealed.clone();
    other[HEADER_LEN..BLOCKS].fill(0);
    refused(&other, "verification failed");
    let output = folder.pipe(&unseal, &[&sealed[..], &[0]].concat());
    fails(&output, UNVERIFIED, "standard input", "more bytes follow");

    // By hand, as documented.
    let mut file = b"VPX-SEAL\x01".to_vec();
    let domain = label!("veriplex.seal.v1");
    let setup = hpke::setup_sender(
        domain,
        &private(1),
        private(2).public_key(),
        &mut veriplex::os_rng(),
    );
    let (ephemeral, mut protocol) = setup.unwrap();
    protocol.mix(label!("header"), &file);
    file.extend_from_slice(&ephemeral);
    let mut writer = veriplex::aestream::SealWriter::from_protocol(protocol, file);
    writer.write_all(b"by hand").unwrap();
    let opened = folder.pipe(&unseal, &writer.finish().unwrap());
    succeeds(&opened);
    assert_eq!(opened.stdout, b"by hand");
}

#[test]
fn roundtrip_of_files_and_pipes() {
    let folder = Folder::new();
    for len in [
        0,
        1,
        16_383,
        16_384,
        16_385,
        131_072,
        1 << 20,
        (1 << 20) + 1,
        1 << 22,
        (1 << 22) + 16_385,
    ] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
        let sealed = folder.read("file.vpx");
        let segments = len.div_ceil(SEGMENT_LEN).max(1);
        assert_eq!(sealed.len(), SEGMENTS + len + segments * 16);

        fs::remove_file(folder.path("file")).unwrap();
        succeeds(&folder.run(&["decrypt", "--key-file", "key", "file.vpx"]));
        assert_eq!(folder.read("file"), plaintext);
        assert_eq!(folder.names(), ["file", "file.vpx"]);

        let opened = folder.pipe(&["decrypt", "--key-file", "key"], &sealed);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
        let piped = folder.pipe(&["encrypt", "--key-file", "key", "-"], &plaintext);
        succeeds(&piped);
        assert_ne!(piped.stdout, sealed, "the salt is random");
        folder.write("piped", &piped.stdout);
        let opened = folder.run(&["decrypt", "--key-file", "key", "-o", "-", "piped"]);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
        for name in ["file", "file.vpx", "piped"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

#[test]
fn format_is_as_documented() {
    let folder = Folder::new();
    // Made by hand, also with blocks shorter than the program makes.
    let plaintext = noise(100_000);
    let (first, rest) = plaintext.split_at(5);
    let (second, third) = rest.split_at(65_535);
    folder.write("in.vpx", &encrypted(&KEY, &[9; 32], &[first, second, third]));
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "in.vpx"]));
    assert_eq!(folder.read("in"), plaintext);
    // Made by the program.
    let sealed = folder.pipe(&["encrypt", "--key-file", "key"], &plaintext).stdout;
    let salt = sealed[HEADER_LEN..BLOCKS].try_into().unwrap();
    assert!(sealed == in_segments(&KEY, salt, &plaintext));
    // From a file, which several threads read.
    let plaintext = noise(5_000_001);
    folder.write("large", &plaintext);
    let sealed = folder
        .run(&["encrypt", "--key-file", "key", "-o", "-", "large"])
        .stdout;
    let salt = sealed[HEADER_LEN..BLOCKS].try_into().unwrap();
    assert!(sealed == in_segments(&KEY, salt, &plaintext));
}

/// That a file becomes shorter while it is encrypted is an error; what is added to it is left out.
#[test]
#[cfg(unix)]
fn encrypted_while_it_changes() {
    let folder = Folder::new();
    let plaintext = noise(16 << 20);
    for len in [3 << 20, 17 << 20] {
        folder.write("file", &plaintext);
        let mut command = folder.command(&["encrypt", "--key-file", "key", "-o", "-", "file"]);
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        // Once there is a first byte it knows the length, and it goes on only when the pipe is read.
        let mut sealed = vec![0];
        pipe.read_exact(&mut sealed).unwrap();
        let file = File::options().write(true).open(folder.path("file")).unwrap();
        file.set_len(len).unwrap();
        pipe.read_to_end(&mut sealed).unwrap();
        let output = child.wait_with_output().unwrap();
        if len < 16 << 20 {
            fails(&output, IO, "file", "became shorter while it was read");
        } else {
            succeeds(&output);
            let salt = sealed[HEADER_LEN..BLOCKS].try_into().unwrap();
            assert!(sealed == in_segments(&KEY, salt, &plaintext));
        }
    }
}

/// Decrypts `damaged` to a file and to a pipe: each fails, the file does not appear, and the pipe got
/// exactly `prefix`.
#[track_caller]
fn refused(folder: &Folder, what: &str, damaged: &[u8], prefix: &[u8]) {
    folder.write("bad.vpx", damaged);
    let before = folder.names();
    let output = folder.run(&["decrypt", "--key-file", "key", "bad.vpx"]);
    assert_eq!(output.status.code(), Some(UNVERIFIED), "{what}: {output:?}");
    fails(&output, UNVERIFIED, "bad.vpx", "");
    assert_eq!(output.stdout, b"");
    assert_eq!(folder.names(), before, "{what}");

    let output = folder.pipe(&["decrypt", "--key-file", "key"], damaged);
    assert_eq!(output.status.code(), Some(UNVERIFIED), "{what}");
    fails(&output, UNVERIFIED, "standard input", "");
    assert!(output.stdout == prefix, "{what}: {} bytes", output.stdout.len());
}

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new();
    let plaintext = noise(2 * MAX_BLOCK_LEN + 100);
    let (first, rest) = plaintext.split_at(MAX_BLOCK_LEN);
    let (second, third) = rest.split_at(MAX_BLOCK_LEN);
    let sealed = encrypted(&KEY, &[9; 32], &[first, second, third]);
    let block_2 = BLOCKS + MAX_BLOCK_LEN + OVERHEAD;
    let block_3 = block_2 + MAX_BLOCK_LEN + OVERHEAD;
    let end = block_3 + 100 + OVERHEAD;
    assert_eq!(sealed.len(), end + OVERHEAD);
    // What a pipe may get if the fault is at `at`.
    let verified = |at: usize| {
        let blocks = [BLOCKS, block_2, block_3, end].map(|start| at >= start);
        let len = match blocks {
            [.., true] => plaintext.len(),
            [_, _, true, _] => 2 * MAX_BLOCK_LEN,
            [_, true, ..] => MAX_BLOCK_LEN,
            _ => 0,
        };
        &plaintext[..len]
    };

    let mut places = vec![0, 1, 8, 9, 10, 40, 41, 42, 43, 44, 1000];
    for start in [block_2, block_3, end] {
        // The last block's tag, the masked length, the body.
        places.extend([start - 16, start - 1, start, start + 1, start + 2, start + 17]);
    }
    for &at in &places {
        refused(&folder, &format!("cut at {at}"), &sealed[..at], verified(at));
        let mut flipped = sealed.clone();
        for bit in [0x01, 0x80] {
            flipped[at] ^= bit;
            refused(&folder, &format!("flipped at {at}"), &flipped, verified(at));
            flipped[at] ^= bit;
        }
    }

    let all = verified(end);
    refused(&folder, "extended", &[&sealed[..], b"\0"].concat(), all);
    refused(&folder, "repeated", &[&sealed[..], &sealed].concat(), all);
    refused(
        &folder,
        "end repeated",
        &[&sealed[..], &sealed[end..]].concat(),
        all,
    );
    refused(
        &folder,
        "block dropped",
        &[&sealed[..block_2], &sealed[block_3..]].concat(),
        first,
    );
    refused(
        &folder,
        "all but the end dropped",
        &[&sealed[..BLOCKS], &sealed[end..]].concat(),
        b"",
    );
    refused(
        &folder,
        "other key",
        &encrypted(&[1; 32], &[9; 32], &[first]),
        b"",
    );
    refused(&folder, "not encrypted", &plaintext, b"");
    refused(&folder, "empty", b"", b"");

    let mut other_version = sealed.clone();
    other_version[8] = 6;
    let output = folder.pipe(&["decrypt", "--key-file", "key"], &other_version);
    fails(&output, UNVERIFIED, "standard input", "another version");

    // The undamaged one is good, and an extended empty one is not.
    succeeds(&folder.pipe(&["decrypt", "--key-file", "key"], &sealed));
    let empty = encrypted(&KEY, &[9; 32], &[]);
    succeeds(&folder.pipe(&["decrypt", "--key-file", "key"], &empty));
    refused(&folder, "empty extended", &[&empty[..], b"\n"].concat(), b"");
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
        let length = ["digest", "--length", &len.to_string()];
        let output = folder.run(&[&length[..], &["file"]].concat());
        succeeds(&output);
        assert_eq!(stdout(&output), expected(len));
        folder.write("list", &output.stdout);
        let output = folder.run(&[&length[..], &["--check", "list"]].concat());
        succeeds(&output);
        assert_eq!(stdout(&output), "file: OK\n");
    }
    let output = folder.run(&["digest", "--check", "list"]);
    fails_with(&output, UNVERIFIED, &["line 1 is malformed", "no valid line"]);
}

#[test]
fn roundtrip_with_a_password() {
    let folder = Folder::new();
    let plaintext = noise(100_000);
    folder.write("file", &plaintext);
    folder.write("password", b"correct horse\r\nsecond line\n");
    let encrypt = ["encrypt", "--password-file", "password", "--cost", "4"];
    let decrypt = ["decrypt", "--password-file", "password"];
    succeeds_at_low_cost(&folder.run(&[&encrypt[..], &["file"]].concat()));
    let sealed = folder.read("file.vpx");
    // The format is as documented.
    let salt = sealed[10..42].try_into().unwrap();
    assert!(sealed == in_segments_with_password(b"correct horse", 4, salt, &plaintext));
    succeeds(&folder.run(&[&decrypt[..], &["-f", "file.vpx"]].concat()));
    assert_eq!(folder.read("file"), plaintext);

    // The password may come from standard input, if the input does not.
    let opened = folder.pipe(
        &["decrypt", "--password-file", "-", "-o", "-", "file.vpx"],
        b"correct horse",
    );
    succeeds(&opened);
    assert_eq!(opened.stdout, plaintext);
    for command in ["encrypt", "decrypt"] {
        let output = folder.pipe(&[command, "--password-file", "-"], b"correct horse\n");
        fails(&output, USAGE, "standard input", "both");
    }
    let output = folder.pipe(
        &["decrypt", "--password-file", "-", "-o", "-", "file.vpx"],
        b"correct horsf",
    );
    fails(&output, UNVERIFIED, "file.vpx", "wrong password");
    assert_eq!(stdout(&output), "");
    // Everything of the header counts.
    for at in 0..42 {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        folder.write("bad.vpx", &changed);
        let output = folder.run(&[&decrypt[..], &["bad.vpx"]].concat());
        fails(&output, UNVERIFIED, "bad.vpx", "");
    }
    for at in 0..42 {
        let output = folder.pipe(&decrypt, &sealed[..at]);
        fails(&output, UNVERIFIED, "standard input", "too short");
    }
    assert_eq!(folder.names(), ["bad.vpx", "file", "file.vpx", "password"]);
    // What earlier versions made.
    let (first, second) = plaintext.split_at(65_535);
    let old = encrypted_with_password(b"correct horse", 4, &[9; 32], &[first, second]);
    let opened = folder.pipe(&decrypt, &old);
    succeeds(&opened);
    assert!(opened.stdout == plaintext);
}

#[test]
fn keys_and_passwords_are_told_apart() {
    let folder = Folder::new();
    folder.write("password", b"password");
    let with_key = encrypted(&KEY, &[9; 32], &[b"x"]);
    let with_password = encrypted_with_password(b"password", 0, &[9; 32], &[b"x"]);
    succeeds(&folder.pipe(&["decrypt", "--password-file", "password"], &with_password));
    let output = folder.pipe(&["decrypt", "--password-file", "password"], &with_key);
    fails(&output, UNVERIFIED, "standard input", "--key-file");
    let output = folder.pipe(&["decrypt", "--key-file", "key"], &with_password);
    fails(&output, UNVERIFIED, "standard input", "--password");
}

#[test]
fn costs_are_limited_before_any_work() {
    let folder = Folder::new();
    folder.write("password", b"password");
    let mut sealed = encrypted_with_password(b"password", 2, &[9; 32], &[b"x"]);
    let decrypt = ["decrypt", "--password-file", "password"];
    let low = [&decrypt[..], &["--max-cost", "1"]].concat();
    fails(
        &folder.pipe(&low, &sealed),
        UNVERIFIED,
        "standard input",
        "--max-cost",
    );
    let enough = [&decrypt[..], &["--max-cost", "2"]].concat();
    succeeds(&folder.pipe(&enough, &sealed));
    for cost in [19, 26, 27, 64, 255] {
        sealed[9] = cost;
        // Not even the salt is read.
        let output = folder.pipe(&decrypt, &sealed[..10]);
        fails(&output, UNVERIFIED, "standard input", "above the limit");
        for cost in [u32::from(cost), 256, u32::MAX] {
            folder.write(
                "hash",
                format!("$veriplex-mhf$v=1$c={cost}$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
                    .as_bytes(),
            );
            let output = folder.run(&["verify-password", "--password-file", "password", "hash"]);
            assert_ne!(output.status.code(), Some(0));
            assert_eq!(stderr(&output).lines().count(), 1);
        }
    }
}

/// A cost that is allowed, in a process that may have no more than 500 MiB.
#[test]
#[cfg(unix)]
fn too_little_memory_is_an_error() {
    let folder = Folder::new();
    folder.write("password", b"password");
    folder.write("file", b"message");
    let mut sealed = encrypted_with_password(b"password", 2, &[9; 32], &[b"x"]);
    sealed[9] = 18;
    folder.write("file.vpx", &sealed);
    for args in [
        ["hash-password", "--cost=18", "--password-file=password"].as_slice(),
        &[
            "encrypt",
            "--cost=18",
            "--password-file=password",
            "-o=out",
            "file",
        ],
        &["decrypt", "--password-file=password", "-o=out", "file.vpx"],
    ] {
        let output = Command::new("sh")
            .args([
                "-c",
                "ulimit -v 512000; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_veriplex"),
            ])
            .args(args)
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fails(&output, IO, "password", "memory");
        assert_eq!(stdout(&output), "");
        assert_eq!(folder.names(), ["file", "file.vpx", "password"]);
    }
}

#[test]
fn password_files() {
    let folder = Folder::new();
    let hash = |content: &[u8]| {
        folder.write("password", content);
        let mut output = folder.run(&["hash-password", "--cost", "0", "--password-file", "password"]);
        let warning = "veriplex: cost 0 is below 12: passwords can be guessed fast\n";
        output.stderr = stderr(&output).strip_prefix(warning).unwrap().into();
        output
    };
    for empty in [&b""[..], b"\n", b"\r\n", b"\nsecond line"] {
        fails(&hash(empty), USAGE, "password", "empty");
    }
    fails(&hash(&[b'x'; 1025]), IO, "password", "1024");
    fails(
        &hash(&[&[b'x'; 1025][..], b"\n"].concat()),
        IO,
        "password",
        "1024",
    );
    for password in [&[b'x'; 1024][..], b"\xff\0 not Unicode", b" spaces "] {
        for end in [&b""[..], b"\n", b"\r\n", b"\nsecond line"] {
            let output = hash(&[password, end].concat());
            succeeds(&output);
            folder.write("hash", &output.stdout);
            let output = folder.pipe(&["verify-password", "--password-file", "-", "hash"], password);
            succeeds(&output);
            assert_eq!(stdout(&output), "");
        }
    }
    let output = folder.run(&["hash-password", "--password-file", "missing"]);
    fails(&output, IO, "missing", "No such file");
}

#[test]
fn hashes_of_passwords() {
    let folder = Folder::new();
    folder.write("password", b"correct horse\n");
    let hash = ["hash-password", "--cost", "3", "--password-file", "password"];
    let output = folder.run(&hash);
    succeeds_at_low_cost(&output);
    let line = stdout(&output).to_owned();
    assert!(line.starts_with("$veriplex-mhf$v=1$c=3$"), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert_ne!(stdout(&folder.run(&hash)), line, "the salt is random");

    folder.write("hash", line.as_bytes());
    let verify = ["verify-password", "--password-file", "password", "hash"];
    succeeds(&folder.run(&verify));
    let output = folder.pipe(
        &["verify-password", "--password-file", "password", "-"],
        line.as_bytes(),
    );
    succeeds(&output);
    let output = folder.pipe(&["verify-password", "--password-file", "-", "-"], line.as_bytes());
    fails(&output, USAGE, "standard input", "both");
    folder.write("password", b"correct horsf\n");
    fails(&folder.run(&verify), UNVERIFIED, "hash", "wrong password");

    folder.write("password", b"correct horse\n");
    for at in 0..line.len() - 1 {
        let mut changed = line.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        folder.write("hash", &changed);
        let output = folder.run(&verify);
        let status = output.status.code().unwrap();
        fails(&output, status, "hash", "");
        assert!([UNVERIFIED, IO].contains(&status), "{at}");
    }
    for bad in [
        String::new(),
        line.repeat(5).replace('\n', ""),
        line.replace("v=1", "v=2"),
    ] {
        folder.write("hash", bad.as_bytes());
        fails(&folder.run(&verify), IO, "hash", "");
    }
}

/// A password is asked for on the terminal, and without one it is an error.
#[test]
#[cfg(target_os = "linux")]
fn without_a_terminal_nobody_is_asked() {
    let folder = Folder::new();
    folder.write(
        "file.vpx",
        &encrypted_with_password(b"password", 0, &[9; 32], &[b"x"]),
    );
    for args in [
        &["decrypt", "--password", "file.vpx"][..],
        &["encrypt", "-p", "key"],
        &["hash-password"],
    ] {
        let program = env!("CARGO_BIN_EXE_veriplex");
        let output = folder.command(args);
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(program).args(output.get_args());
        let output = command
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fails(&output, IO, "terminal", "");
    }
    assert_eq!(folder.names(), ["file.vpx"]);
}

#[test]
fn deterministic_encryption() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key"];
    let decrypt = ["decrypt", "--key-file", "key"];
    let siv = Siv::new(label!("veriplex.file.siv.v1"), &KEY.into());
    for len in [0, 1, 96_255, 96_256, 96_257, 300_000] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&[&encrypt[..], &["-f", "file"]].concat()));
        let sealed = folder.read("file.vpx");
        // The format is as documented.
        let (ciphertext, tag) = {
            let mut message = plaintext.clone();
            let tag = siv.seal_in_place_detached(b"", b"VERIPLEX\x03", &mut message);
            (message, tag)
        };
        assert!(
            sealed == [b"VERIPLEX\x03".as_slice(), &tag, &ciphertext].concat(),
            "{len}"
        );
        succeeds(&folder.run(&[&encrypt[..], &["-o", "again", "file"]].concat()));
        assert!(folder.read("again") == sealed);
        fs::remove_file(folder.path("again")).unwrap();
        succeeds(&folder.run(&[&decrypt[..], &["-f", "file.vpx"]].concat()));
        assert!(folder.read("file") == plaintext);

        fs::remove_file(folder.path("file")).unwrap();
        let mut places = vec![0, 8, 9, 24, sealed.len() - 1];
        places.extend([25, 25 + len / 2].into_iter().filter(|&at| at < sealed.len()));
        for at in places {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            for bad in [changed.as_slice(), &sealed[..at]] {
                folder.write("file.vpx", bad);
                let output = folder.run(&[&decrypt[..], &["file.vpx"]].concat());
                fails(&output, UNVERIFIED, "file.vpx", "");
                assert_eq!(folder.names(), ["file.vpx"]);
            }
        }
        folder.write("file.vpx", &[&sealed[..], b"x"].concat());
        let output = folder.run(&[&decrypt[..], &["file.vpx"]].concat());
        fails(&output, UNVERIFIED, "file.vpx", "verification failed");
    }
}

#[test]
fn deterministic_encryption_needs_files() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key"];
    let decrypt = ["decrypt", "--key-file", "key"];
    folder.write("file", b"message");
    fails(
        &folder.pipe(&encrypt, b"message"),
        USAGE,
        "standard input",
        "is no file",
    );
    let output = folder.run(&[&encrypt[..], &["-o", "-", "file"]].concat());
    fails(&output, USAGE, "standard output", "is no file");
    assert_eq!(stdout(&output), "");
    succeeds(&folder.run(&[&encrypt[..], &["file"]].concat()));
    let sealed = folder.read("file.vpx");
    fails(
        &folder.pipe(&decrypt, &sealed),
        USAGE,
        "standard input",
        "is no file",
    );
    let output = folder.run(&[&decrypt[..], &["-o", "-", "file.vpx"]].concat());
    fails(&output, USAGE, "standard output", "is no file");
    assert_eq!(stdout(&output), "");
}

/// Reading this file changes it.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_changes_is_not_encrypted_deterministically() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key", "-o", "out"];
    let output = folder.run(&[&encrypt[..], &["/proc/self/io"]].concat());
    fails(&output, IO, "/proc/self/io", "changed");
    assert!(folder.names().is_empty());
}

#[test]
fn existing_outputs_are_kept_without_force() {
    let folder = Folder::new();
    folder.write("file", b"plaintext");
    folder.write("file.vpx", b"precious");
    let output = folder.run(&["encrypt", "--key-file", "key", "file"]);
    fails(&output, IO, "file.vpx", "exists already");
    assert_eq!(folder.read("file.vpx"), b"precious");
    let output = folder.run(&["encrypt", "--key-file", "key", "-o", "file", "key"]);
    fails(&output, IO, "file", "exists already");
    assert_eq!(folder.read("file"), b"plaintext");

    succeeds(&folder.run(&["encrypt", "--force", "--key-file", "key", "file"]));
    let output = folder.run(&["decrypt", "--key-file", "key", "file.vpx"]);
    fails(&output, IO, "file", "exists already");
    folder.write("file", b"older");
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "--force", "file.vpx"]));
    assert_eq!(folder.read("file"), b"plaintext");

    // It is noticed before any work is done.
    let output = folder.run(&["encrypt", "--key-file", "key", "-o", "file", "missing"]);
    fails(&output, IO, "file", "exists already");

    // A failed decryption does not touch the old file, even so.
    let mut damaged = folder.read("file.vpx");
    *damaged.last_mut().unwrap() ^= 1;
    folder.write("file.vpx", &damaged);
    folder.write("file", b"older");
    let output = folder.run(&["decrypt", "--key-file", "key", "--force", "file.vpx"]);
    fails(&output, UNVERIFIED, "file.vpx", "verification failed");
    assert_eq!(folder.read("file"), b"older");
    assert_eq!(folder.names(), ["file", "file.vpx"]);

    // In place.
    succeeds(&folder.run(&["encrypt", "-f", "--key-file", "key", "-o", "file", "file"]));
    succeeds(&folder.run(&["decrypt", "-f", "--key-file", "key", "-o", "file", "file"]));
    assert_eq!(folder.read("file"), b"older");
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
    fails(&child.wait_with_output().unwrap(), IO, "out", "exists already");
    assert_eq!(folder.read("out"), b"precious");
    assert_eq!(folder.names(), ["out"]);
}

#[test]
fn names_of_outputs() {
    let folder = Folder::new();
    folder.write("in", &encrypted(&KEY, &[0; 32], &[b"x"]));
    for name in ["in", ".vpx", "missing"] {
        let output = folder.run(&["decrypt", "--key-file", "key", name]);
        fails(&output, USAGE, name, "-o");
    }
    fs::create_dir(folder.path("folder")).unwrap();
    for args in [&["-o", "folder"][..], &["-o", "missing/out"], &["-fo", "folder"]] {
        let args = [&["decrypt", "--key-file", "key", "in"], args].concat();
        fails(&folder.run(&args), IO, args.last().unwrap(), "");
    }
    let output = folder.run(&["decrypt", "--key-file", "key", "missing.vpx"]);
    fails(&output, IO, "missing.vpx", "No such file");
    assert_eq!(folder.names(), ["folder", "in"]);
}

#[test]
#[cfg(unix)]
fn modes_links_and_devices() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777;
    // A new file has the mode of any new file.
    folder.write("file", b"plaintext");
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
    assert_eq!(mode("file.vpx"), mode("file"));
    // A replaced one keeps its own, and a link to it stays a link.
    fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(0o626)).unwrap();
    symlink("file", folder.path("link")).unwrap();
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "-fo", "link", "file.vpx"]));
    assert_eq!(mode("file"), 0o626);
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.read("file"), b"plaintext");
    // A link to nothing is not replaced.
    symlink("nothing", folder.path("dangling")).unwrap();
    let output = folder.run(&["decrypt", "--key-file", "key", "-o", "dangling", "file.vpx"]);
    fails(&output, IO, "dangling", "exists already");
    // If it is to be used, a named pipe is written to, not replaced by a file.
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let decrypt = ["decrypt", "--key-file", "key", "-fo", "pipe", "file.vpx"];
    let child = folder.command(&decrypt).spawn().unwrap();
    assert_eq!(soon(|| fs::read(pipe).unwrap()), b"plaintext");
    succeeds(&child.wait_with_output().unwrap());
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
    folder.write("file.vpx", &encrypted(&KEY, &[0; 32], &[b"x"]));
    for args in [
        &["digest", "key"][..],
        &["digest", "--check", "list"],
        &["keygen", "-"],
        &["encrypt", "--key-file", "key"],
        &["decrypt", "--key-file", "key", "-o", "-", "file.vpx"],
    ] {
        folder.write("list", format!("{}  file.vpx\n", hex_digest(b"x")).as_bytes());
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
#[cfg(unix)]
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
        &["keygen", "-"],
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
fn verified_blocks_leave_before_the_end_is_known() {
    let folder = Folder::new();
    let sealed = encrypted(&KEY, &[7; 32], &[b"first", b"second"]);
    let mut child = folder
        .command(&["decrypt", "--key-file", "key"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&sealed[..BLOCKS + 5 + OVERHEAD]).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (got, mut stdout) = soon(move || {
        let mut got = [0; 5];
        stdout.read_exact(&mut got).unwrap();
        (got, stdout)
    });
    assert_eq!(&got, b"first");
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    fails(&output, UNVERIFIED, "standard input", "cut short");
    assert_eq!(stdout.read(&mut [0]).unwrap(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn progress_is_shown_on_a_terminal_after_a_second() {
    let folder = Folder::new();
    let bytes_drawn = |args: &[&str], wait: u64| {
        let mut terminal = File::options().read(true).write(true).open("/dev/ptmx").unwrap();
        let mut child = folder
            .command(args)
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stderr(terminal.try_clone().unwrap())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"first").unwrap();
        thread::sleep(Duration::from_millis(wait));
        stdin.write_all(b"second").unwrap();
        thread::sleep(Duration::from_millis(200));
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert!(stdout(&output).ends_with("  -\n"));
        // Only what the terminal echoes can be read from this side; a mark ends the wait.
        terminal.write_all(b"\x04mark\n").unwrap();
        let mut echo = Vec::new();
        let mut buffer = [0; 1024];
        while !echo.windows(4).any(|w| w == b"mark") {
            let n = terminal.read(&mut buffer).unwrap();
            echo.extend_from_slice(&buffer[..n]);
        }
        String::from_utf8_lossy(&echo).contains("B/s")
    };
    assert!(bytes_drawn(&["digest"], 1300));
    assert!(bytes_drawn(&["sum"], 1300));
    assert!(!bytes_drawn(&["digest"], 100));
    assert!(!bytes_drawn(&["digest", "--no-progress"], 1300));
    assert!(!bytes_drawn(&["digest", "--quiet"], 1300));
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
