//! Runs the program as its users do.

mod disk;
mod disk_state;
mod encrypt;
mod folders;
mod formats;
mod hardening;
#[path = "../identity/mod.rs"]
mod identity;
mod inputs;
mod keys;
mod levels;
mod lists;
mod nbd;
mod outputs;
mod pages;
mod passwords;
mod plain;
#[cfg(target_os = "linux")]
#[path = "../process/mod.rs"]
mod process;
mod public_keys;
mod sum;
mod worked;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use identity::{hybrid_key, line_of, private_line, proof, public_bytes, public_line, sign_key};
use tempfile::TempDir;
use veriplex::seekable::Seekable;
use veriplex::{Key, Protocol, digest, hybrid, label, mac::Mac, mhf::Mhf};

const UNVERIFIED: i32 = 1;
const USAGE: i32 = 2;
const IO: i32 = 3;
const CLOSED: i32 = 141;

/// Of a file encrypted with a key.
const HEADER_LEN: usize = 10;
const SALT_LEN: usize = 32;
/// Where the tag of the header is, of a file encrypted with a key.
const HEADER_TAG: usize = HEADER_LEN + SALT_LEN;
/// Where the first segment begins.
const SEGMENTS: usize = HEADER_TAG + 16;
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

    /// Readable by its owner only, as `disk decrypt --in-place` wants it.
    fn write_private(&self, name: &str, bytes: &[u8]) {
        self.write(name, bytes);
        self.set_mode(name, 0o600);
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
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

/// Encrypts as `docs/formats.md` says of version 1.
fn encrypted(key: &[u8; 32], salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    segments(b"VERIPLEX\x01\0", key, salt, plaintext)
}

/// The same of version 2.
fn encrypted_with_password(password: &[u8], cost: u8, salt: &[u8; 32], plaintext: &[u8]) -> Vec<u8> {
    let mut key = [0; 32];
    Mhf::with_any_cost(label!("veriplex.file.password.v1"), cost)
        .and_then(|mhf| mhf.hash_into(password, salt, &mut key))
        .unwrap();
    let header = [b"VERIPLEX\x02".as_slice(), &[cost, 0]].concat();
    segments(&header, &key, salt, plaintext)
}

/// A header and what follows it.
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

/// With which `verify --from-key` takes signatures of this private key.
fn public(number: u8) -> String {
    sign_key(number).public_key().to_string()
}

impl Folder {
    /// With the private keys 1, 2 and 3 too, in files of these names, and their public keys in `1.pub` and so on.
    fn with_private_keys() -> Self {
        let folder = Self::new();
        for number in 1..=3 {
            folder.write(&number.to_string(), private_line(number).as_bytes());
            folder.write(&format!("{number}.pub"), public_line(number).as_bytes());
        }
        folder
    }
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
        &["key"],
        &["key", "generate"],
        &["key", "generate", "--password", "new"],
        &["key", "public"],
        &["key", "password"],
        &["key", "password", "--remove", "--cost=12", "key"],
        &["encrypt", "key"],
        &["decrypt", "key"],
        &["sign", "key"],
        &["verify", "key"],
        &["seal", "--key-file", "key", "key"],
        &["seal", "--to", "key", "key"],
        &["seal", "--key-file", "key", "--anonymous", "--to", "key", "key"],
        &[
            "seal",
            "--anonymous",
            "--password-file",
            "key",
            "--to",
            "key",
            "key",
        ],
        &["unseal", "--key-file", "key", "key"],
        &[
            "unseal",
            "--key-file",
            "key",
            "--from",
            "key",
            "--anonymous",
            "key",
        ],
        &["verify", "--from", "key", "--from-key", &public(1), "key"],
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
        &["encrypt", "--key-file", "key", "--key-fd", "3", "key"],
        &["encrypt", "--key-fd", "three", "key"],
        &["encrypt", "--key-fd", "1", "key"],
        &["encrypt", "--password-fd", "2", "key"],
        &["encrypt", "--password-env", "X", "--password-fd", "3", "key"],
        &["encrypt", "--password-env", "X", "--deterministic", "key"],
        &["mac", "--key-file", "key", "--key-fd", "3"],
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
        is_usage_error(&folder, args);
    }
    for options in [
        "--plain --password",
        "--plain --in-place -k key",
        "--plain --header key -k key",
        "--start 512 -k key",
    ] {
        let args: Vec<_> = ["disk", "decrypt", "key"]
            .into_iter()
            .chain(options.split(' '))
            .collect();
        is_usage_error(&folder, &args);
    }
}

fn is_usage_error(folder: &Folder, args: &[&str]) {
    let output = folder.run(args);
    assert_eq!(output.status.code(), Some(USAGE), "{args:?}");
    assert_eq!(stdout(&output), "");
    assert_ne!(stderr(&output), "");
}

#[test]
fn other_names_of_a_digest() {
    let output = Folder::new().run(&["hash", "key"]);
    assert_eq!(output.status.code(), Some(USAGE));
    assert!(stderr(&output).contains("'sum', 'digest'"), "{}", stderr(&output));
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    for command in ["sum", "digest"] {
        fails(&folder.run(&[command, "folder"]), IO, "folder", "--recursive");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn progress_is_shown_on_a_terminal_after_a_second() {
    let folder = Folder::new();
    let drawn = |args: &[&str], wait: u64| {
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
        assert!(stdout(&output).contains(" (-) = "));
        // Only what the terminal echoes can be read from this side; a mark ends the wait.
        terminal.write_all(b"\x04mark\n").unwrap();
        let mut echo = Vec::new();
        let mut buffer = [0; 1024];
        while !echo.windows(4).any(|w| w == b"mark") {
            let n = terminal.read(&mut buffer).unwrap();
            echo.extend_from_slice(&buffer[..n]);
        }
        String::from_utf8_lossy(&echo).into_owned()
    };
    for command in ["digest", "sum"] {
        let drawn = drawn(&[command], 1300);
        assert!(drawn.contains(" B/s") && !drawn.contains("iB/s"), "{drawn}");
    }
    assert!(!drawn(&["digest"], 100).contains("B/s"));
    assert!(!drawn(&["digest", "--no-progress"], 1300).contains("B/s"));
    assert!(!drawn(&["digest", "--quiet"], 1300).contains("B/s"));
}
