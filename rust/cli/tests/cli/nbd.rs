//! `disk serve`, and clients of it: this test's own, and those of Debian.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::*;

/// A server, and what it printed.
pub struct Server {
    child: Child,
    uri: String,
}

impl Server {
    fn start(folder: &Folder, more: &[&str]) -> Self {
        Self::with_key(folder, "key", more)
    }

    pub fn with_key(folder: &Folder, key: &str, more: &[&str]) -> Self {
        let args = [&["disk", "serve", "--key-file", key], more].concat();
        let mut child = folder.command(&args).spawn().unwrap();
        let mut uri = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut uri).unwrap();
        assert!(uri.starts_with("nbd"), "{uri:?} {:?}", child.wait_with_output());
        Self {
            child,
            uri: uri.trim().to_owned(),
        }
    }

    /// Ends it, as a service is ended.
    pub fn stop(self) -> Output {
        self.stop_by(Signal::TERM)
    }

    fn stop_by(mut self, signal: Signal) -> Output {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (stdout, mut stderr) = (Vec::new(), Vec::new());
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_end(&mut stderr)
            .unwrap();
        Output {
            status: self.child.wait().unwrap(),
            stdout,
            stderr,
        }
    }
}

/// No server outlives a test that fails.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An image of zeros, encrypted in place.
fn make_image(folder: &Folder, name: &str, len: usize, sector_size: &str) {
    folder.write(name, &vec![0; len]);
    let encrypt = [
        "disk",
        "encrypt",
        "--key-file",
        "key",
        "--in-place",
        "--sector-size",
        sector_size,
        name,
    ];
    succeeds(&folder.run(&encrypt));
}

fn decrypted(folder: &Folder, name: &str) -> Vec<u8> {
    let output = folder.run(&["disk", "decrypt", "--key-file", "key", "-o", "-", name]);
    succeeds(&output);
    output.stdout
}

/// A connection after its handshake.
pub struct Client<S>(S);

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISC: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

/// Of a server that lets clients write, and discard nothing.
const FLAGS: u16 = 0b1_0100_1101;

impl Client<UnixStream> {
    pub fn connect(folder: &Folder, socket: &str, len: u64) -> Self {
        Self::over(UnixStream::connect(folder.path(socket)).unwrap(), len, FLAGS)
    }
}

impl<S: Read + Write> Client<S> {
    /// The oldest handshake.
    fn over(mut stream: S, len: u64, flags: u16) -> Self {
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting, b"NBDMAGICIHAVEOPT\x00\x03");
        let option = [
            &3_u32.to_be_bytes()[..],
            b"IHAVEOPT",
            &1_u32.to_be_bytes(),
            &[0; 4],
        ];
        stream.write_all(&option.concat()).unwrap();
        let mut export = [0; 10];
        stream.read_exact(&mut export).unwrap();
        assert_eq!(export[..8], len.to_be_bytes());
        assert_eq!(export[8..], flags.to_be_bytes());
        Self(stream)
    }

    fn send(&mut self, kind: u16, at: u64, len: u32, data: &[u8]) {
        let request = [
            &0x2560_9513_u32.to_be_bytes()[..],
            &[0; 2],
            &kind.to_be_bytes(),
            b"a cookie",
            &at.to_be_bytes(),
            &len.to_be_bytes(),
            data,
        ];
        self.0.write_all(&request.concat()).unwrap();
    }

    /// The error of the answer.
    fn answer(&mut self) -> u32 {
        let mut answer = [0; 16];
        self.0.read_exact(&mut answer).unwrap();
        assert_eq!(
            (&answer[..4], &answer[8..]),
            (&[0x67, 0x44, 0x66, 0x98][..], &b"a cookie"[..])
        );
        u32::from_be_bytes(answer[4..8].try_into().unwrap())
    }

    pub fn read(&mut self, at: u64, len: usize) -> Vec<u8> {
        self.send(READ, at, u32::try_from(len).unwrap(), b"");
        assert_eq!(self.answer(), 0);
        let mut data = vec![0; len];
        self.0.read_exact(&mut data).unwrap();
        data
    }

    pub fn write(&mut self, at: u64, data: &[u8]) {
        self.send(WRITE, at, u32::try_from(data.len()).unwrap(), data);
        assert_eq!(self.answer(), 0);
    }
}

/// Numbers that are random enough.
struct Numbers(Vec<u8>);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        let (number, rest) = self.0.split_first_chunk().unwrap();
        let number = u32::from_le_bytes(*number) as usize % end;
        self.0 = rest.to_vec();
        number
    }
}

/// Four clients, each with a part of the disk that begins and ends within a sector, beside a disk in memory.
#[test]
fn reads_and_writes_of_any_bytes() {
    const LEN: usize = 2 << 20;
    for sector_size in ["512", "4096"] {
        let folder = Folder::new();
        make_image(&folder, "image", LEN, sector_size);
        let server = Server::start(&folder, &["image", "--socket", "socket"]);
        let mut expected = vec![0; LEN];
        thread::scope(|scope| {
            for (i, part) in expected.chunks_mut(LEN / 4 + 100).enumerate() {
                let folder = &folder;
                scope.spawn(move || {
                    let start = (i * (LEN / 4 + 100)) as u64;
                    let mut client = Client::connect(folder, "socket", LEN as u64);
                    let mut numbers = Numbers(noise(4000 + i));
                    for _ in 0..150 {
                        let at = numbers.below(part.len());
                        let most = [10, 5000, 300_000][numbers.below(3)].min(part.len() - at);
                        let len = numbers.below(most + 1);
                        let place = start + at as u64;
                        if numbers.below(2) == 0 {
                            assert!(client.read(place, len) == part[at..at + len]);
                        } else {
                            let data = noise(at + len).split_off(at);
                            client.write(place, &data);
                            part[at..at + len].copy_from_slice(&data);
                        }
                    }
                    client.send(FLUSH, 0, 0, b"");
                    assert_eq!(client.answer(), 0);
                    assert!(client.read(start, part.len()) == part);
                    client.send(DISC, 0, 0, b"");
                    assert_eq!(client.0.read_to_end(&mut Vec::new()).unwrap(), 0);
                });
            }
        });
        let output = server.stop();
        succeeds(&output);
        assert!(!folder.path("socket").exists());
        assert!(decrypted(&folder, "image") == expected);
    }
}

/// Four clients, each with a part of the same sector: nobody puts back what another one has overwritten.
#[test]
fn parts_of_one_sector() {
    const LEN: usize = 4096;
    let folder = Folder::new();
    make_image(&folder, "image", LEN, "4096");
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let mut expected = vec![0; LEN];
    thread::scope(|scope| {
        for (i, part) in expected.chunks_mut(LEN / 4).enumerate() {
            let folder = &folder;
            scope.spawn(move || {
                let place = (i * LEN / 4 + 10) as u64;
                let mut client = Client::connect(folder, "socket", LEN as u64);
                for n in 0..=255 {
                    let data = [n; 1000];
                    client.write(place, &data);
                    assert!(client.read(place, 1000) == data, "client {i}, {n}");
                }
                part[10..1010].fill(255);
            });
        }
    });
    succeeds(&server.stop());
    assert!(decrypted(&folder, "image") == expected);
}

/// Zeros are encrypted, and what is discarded is a hole that reads as noise: nothing around it changes.
#[test]
fn zeros_and_holes() {
    use std::os::unix::fs::MetadataExt;
    const LEN: usize = 1 << 20;
    for sector_size in ["512", "4096"] {
        let folder = Folder::new();
        make_image(&folder, "image", LEN, sector_size);
        let mut expected = noise(LEN);
        let server = Server::start(&folder, &["image", "--socket", "socket"]);
        let mut client = Client::connect(&folder, "socket", LEN as u64);
        client.write(0, &expected);
        client.send(WRITE_ZEROES, 5000, 100_000, b"");
        assert_eq!(client.answer(), 0);
        expected[5000..105_000].fill(0);
        assert!(client.read(0, LEN) == expected);
        client.send(TRIM, 0, 4096, b"");
        assert_eq!(client.answer(), 22, "EINVAL");
        drop(client);
        succeeds(&server.stop());
        assert!(decrypted(&folder, "image") == expected);
        let whole = folder.read("image");
        assert!(!whole.chunks(512).any(|sector| sector == [0; 512]));

        let blocks = || folder.path("image").metadata().unwrap().blocks();
        let before = blocks();
        let server = Server::start(&folder, &["image", "--socket", "socket", "--trim"]);
        let stream = UnixStream::connect(folder.path("socket")).unwrap();
        let mut client = Client::over(stream, LEN as u64, FLAGS | 1 << 5);
        // No whole sector; and 128 KiB, with parts of two.
        for (at, len) in [(8192 + 10, 500), (200_704 - 10, (128 << 10) + 20)] {
            client.send(TRIM, at, len, b"");
            assert_eq!(client.answer(), 0);
        }
        let hole = 200_704..200_704 + (128 << 10);
        let read = client.read(0, LEN);
        assert!(read[..hole.start] == expected[..hole.start] && read[hole.end..] == expected[hole.end..]);
        let noise_in_hole = read[hole.clone()].chunks(512);
        assert!(
            noise_in_hole
                .zip(expected[hole.clone()].chunks(512))
                .all(|(one, other)| one != other && one != [0; 512])
        );
        client.write(hole.start as u64, &[7; 4096]);
        expected[hole.clone()].copy_from_slice(&read[hole.clone()]);
        expected[hole.start..][..4096].fill(7);
        drop(client);
        succeeds(&server.stop());
        assert!(decrypted(&folder, "image") == expected);
        let image = folder.read("image");
        assert!(image[hole.start + 4096..hole.end].iter().all(|&byte| byte == 0));
        assert!(image[..hole.start] == whole[..hole.start] && image[hole.end..] == whole[hole.end..]);
        if cfg!(target_os = "linux") {
            assert!(
                blocks() <= before - (120 << 10) / 512,
                "{} of {before} blocks",
                blocks()
            );
        }

        // All of it: the header knows it again.
        let server = Server::start(&folder, &["image", "--socket", "socket", "--trim"]);
        let stream = UnixStream::connect(folder.path("socket")).unwrap();
        let mut client = Client::over(stream, LEN as u64, FLAGS | 1 << 5);
        client.send(TRIM, 0, 1 << 20, b"");
        assert_eq!(client.answer(), 0);
        let read = client.read(0, LEN);
        drop(client);
        succeeds(&server.stop());
        assert!(decrypted(&folder, "image") == read);
    }
    let folder = Folder::new();
    make_image(&folder, "image", 4096, "4096");
    let args = [
        "disk",
        "serve",
        "--key-file",
        "key",
        "image",
        "--socket",
        "socket",
        "--trim",
        "--read-only",
    ];
    assert_eq!(folder.run(&args).status.code(), Some(USAGE));
}

/// What of the disk is not written stays, in a part of an image too.
#[test]
fn a_part_that_is_served() {
    let folder = Folder::new();
    let plain = noise(100_000);
    folder.write("image", &plain);
    let part = ["--offset", "777", "--length", "65536", "--sector-size", "1024"];
    let encrypt = [
        &["disk", "encrypt", "--key-file", "key", "--in-place", "image"],
        &part[..],
    ]
    .concat();
    succeeds(&folder.run(&encrypt));
    let server = Server::start(&folder, &["image", "--listen", "127.0.0.1:0"]);
    let address = server.uri.strip_prefix("nbd://").unwrap();
    let mut client = Client::over(TcpStream::connect(address).unwrap(), 65536, FLAGS);
    assert!(client.read(0, 65536) == plain[777..][..65536]);
    client.write(1023, b"three");
    let mut expected = plain.clone();
    expected[777 + 1023..][..5].copy_from_slice(b"three");
    succeeds(&server.stop());
    assert!(decrypted(&folder, "image") == expected);

    let serve =
        |address: &str| folder.run(&["disk", "serve", "--key-file", "key", "image", "--listen", address]);
    for address in ["0.0.0.0:0", "0.0.0.0", "localhost"] {
        fails(&serve(address), USAGE, address, "listens on loopback only");
    }
    let none = folder.run(&["disk", "serve", "--key-file", "key", "image"]);
    assert_eq!(none.status.code(), Some(USAGE));
}

#[test]
fn what_is_served_is_locked() {
    let folder = Folder::new();
    make_image(&folder, "image", 8192, "4096");
    let before = folder.read("image");
    let serve =
        |socket: &str| folder.run(&["disk", "serve", "--key-file", "key", "image", "--socket", socket]);
    folder.write("file", b"not a socket");
    fails(&serve("file"), IO, "file", "in use");
    assert_eq!(folder.read("file"), b"not a socket");
    // A server that was killed leaves its socket, and the next one takes its place.
    let mut killed = Server::start(&folder, &["image", "--socket", "socket"]);
    fails(&serve("other"), IO, "image", "in use by another process");
    let decrypt = ["disk", "decrypt", "--key-file", "key", "image", "-o", "x"];
    fails(&folder.run(&decrypt), IO, "image", "in use by another process");
    let info = folder.run(&["disk", "info", "image"]);
    succeeds(&info);
    assert!(stdout(&info).ends_with("state: encrypted, in use by another process\n"));
    let socket = fs::symlink_metadata(folder.path("socket")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert!(folder.path("socket").exists());
    let first = Server::start(&folder, &["image", "--socket", "socket", "--read-only"]);
    let second = Server::start(&folder, &["image", "--socket", "with space", "-r"]);
    assert!(second.uri.ends_with("/with%20space"), "{}", second.uri);
    let stream = UnixStream::connect(folder.path("with space")).unwrap();
    let mut client = Client::over(stream, 8192, 0b1_0000_1111);
    assert_eq!(client.read(1, 8000), [0; 8000]);
    client.send(WRITE, 0, 3, b"new");
    assert_eq!(client.answer(), 1, "EPERM");
    client.send(FLUSH, 0, 0, b"");
    assert_eq!(client.answer(), 0);
    fails(&serve("other"), IO, "image", "in use by another process");
    succeeds(&first.stop());
    succeeds(&second.stop());
    assert!(folder.read("image") == before);

    folder.write("wrong", key_line(&[1; 32]).as_bytes());
    let wrong = folder.run(&[
        "disk",
        "serve",
        "--key-file",
        "wrong",
        "image",
        "--socket",
        "socket",
    ]);
    fails(&wrong, UNVERIFIED, "image.vphead", "wrong key");
}

/// A server whose socket was removed leaves that of the next one at the same path.
#[test]
fn a_socket_that_was_removed() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        make_image(&folder, name, 8192, "4096");
    }
    let first = Server::start(&folder, &["one", "--socket", "socket"]);
    fs::remove_file(folder.path("socket")).unwrap();
    let second = Server::start(&folder, &["two", "--socket", "socket"]);
    succeeds(&first.stop());
    let mut client = Client::connect(&folder, "socket", 8192);
    assert_eq!(client.read(0, 10), [0; 10]);
    drop(client);
    succeeds(&second.stop());
    assert!(!folder.path("socket").exists());
}

/// The lock beside a socket is made only where no file is.
#[test]
fn a_file_at_the_place_of_the_lock() {
    let folder = Folder::new();
    make_image(&folder, "image", 8192, "4096");
    fs::copy(folder.path("key"), folder.path("socket.lock")).unwrap();
    let key = folder.read("key");
    let serve = |key: &str| {
        let args = ["disk", "serve", "--key-file", key, "image", "--socket", "socket"];
        let mut child = folder.command(&args).spawn().unwrap();
        // Ended if it waits or serves.
        for _ in 0..1000 {
            if child.try_wait().unwrap().is_some() {
                return child.wait_with_output().unwrap();
            }
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait_with_output().unwrap()
    };
    let refused = |output: &Output| {
        fails(
            output,
            IO,
            "socket",
            "socket.lock exists and is not a lock of this program",
        );
        assert!(!folder.path("socket").exists());
    };
    // A key, also the one that is used.
    for used in ["key", "socket.lock"] {
        refused(&serve(used));
        assert_eq!(folder.read("socket.lock"), key);
    }
    // Nothing listens where something else is, and the key stays.
    folder.write("socket", b"not a socket");
    fails(&serve("key"), IO, "socket", "socket.lock");
    assert_eq!(folder.read("socket.lock"), key);
    assert_eq!(folder.read("socket"), b"not a socket");
    fs::remove_file(folder.path("socket")).unwrap();

    fs::remove_file(folder.path("socket.lock")).unwrap();
    let made = Command::new("mkfifo").arg(folder.path("socket.lock")).status();
    assert!(made.unwrap().success());
    refused(&serve("key"));
    assert!(folder.path("socket.lock").exists());

    fs::remove_file(folder.path("socket.lock")).unwrap();
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    assert!(!folder.path("socket.lock").exists());
    succeeds(&server.stop());
}

/// All is written anew by a client, and the header knows the image again.
#[test]
fn a_disk_that_is_rewritten() {
    const LEN: usize = 64 << 10;
    let folder = Folder::new();
    make_image(&folder, "image", LEN, "4096");
    fs::copy(folder.path("image.vphead"), folder.path("copy")).unwrap();
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let mut client = Client::connect(&folder, "socket", LEN as u64);
    client.write(0, &noise(LEN));
    drop(client);
    succeeds(&server.stop());
    assert!(decrypted(&folder, "image") == noise(LEN));
    // A copy that was made before does not know it, and decrypts it all the same.
    let decrypt = [
        "disk",
        "decrypt",
        "--key-file",
        "key",
        "-o",
        "-",
        "--header",
        "copy",
        "image",
    ];
    fails(&folder.run(&decrypt), UNVERIFIED, "image", "--no-check");
    let output = folder.run(&[&decrypt[..], &["--no-check"]].concat());
    assert!(output.stdout == noise(LEN));
}

/// What was flushed is known to the header, which stays locked, even if the server is killed.
#[test]
fn a_disk_that_was_rewritten_and_flushed_before_a_kill() {
    const LEN: usize = 64 << 10;
    let folder = Folder::new();
    make_image(&folder, "image", LEN, "4096");
    folder.write("plain", &noise(8192));
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let mut client = Client::connect(&folder, "socket", LEN as u64);
    for byte in 1..3 {
        client.write(0, &vec![byte; LEN]);
        client.send(FLUSH, 0, 0, &[]);
        assert_eq!(client.answer(), 0);
        let encrypt = ["disk", "encrypt", "--key-file", "key", "--force", "plain"];
        let new = folder.run(&[&encrypt[..], &["-o", "x", "--header", "image.vphead"]].concat());
        fails(&new, IO, "image.vphead", "in use by another process");
    }
    // What it still knows in part is enough.
    let header = folder.read("image.vphead");
    client.write(0, &vec![3; LEN / 2]);
    client.send(FLUSH, 0, 0, &[]);
    assert_eq!(client.answer(), 0);
    assert!(folder.read("image.vphead") == header);
    server.stop_by(Signal::KILL);
    assert!(decrypted(&folder, "image") == [vec![3; LEN / 2], vec![2; LEN / 2]].concat());
}

/// The header does not know what a server wrote that was killed before a flush. Served once more, it does.
#[test]
fn a_disk_that_was_rewritten_before_a_kill() {
    const LEN: usize = 64 << 10;
    let folder = Folder::new();
    make_image(&folder, "image", LEN, "4096");
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let mut client = Client::connect(&folder, "socket", LEN as u64);
    client.write(0, &noise(LEN));
    server.stop_by(Signal::KILL);
    let decrypt = ["disk", "decrypt", "--key-file", "key", "-o", "-", "image"];
    fails(&folder.run(&decrypt), UNVERIFIED, "image", "--no-check");
    let server = Server::start(&folder, &["--no-check", "image", "--socket", "other"]);
    let mut client = Client::connect(&folder, "other", LEN as u64);
    client.write(0, &noise(LEN)[..1]);
    succeeds(&server.stop());
    assert!(decrypted(&folder, "image") == noise(LEN));
}

/// A server that only looked leaves the header as it is, which may be that of another disk.
#[test]
fn a_header_of_another_disk_that_is_not_checked() {
    const LEN: usize = 64 << 10;
    let folder = Folder::new();
    make_image(&folder, "image", LEN, "4096");
    make_image(&folder, "other", LEN, "4096");
    let args = [
        "--no-check",
        "--header",
        "other.vphead",
        "image",
        "--socket",
        "socket",
    ];
    let server = Server::start(&folder, &args);
    let mut client = Client::connect(&folder, "socket", LEN as u64);
    client.read(0, LEN);
    succeeds(&server.stop());
    decrypted(&folder, "other");
    let decrypt = [
        "disk",
        "decrypt",
        "--key-file",
        "key",
        "--header",
        "other.vphead",
        "-o",
        "-",
        "image",
    ];
    fails(&folder.run(&decrypt), UNVERIFIED, "image", "do not match");
}

/// The most memory that a process has had, in KiB.
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Noise, requests that are too long, clients that say nothing and too many of them: others are served all the same, and in
/// little memory.
#[test]
#[cfg(target_os = "linux")]
fn bad_clients() {
    const LEN: u64 = 64 << 20;
    let folder = Folder::new();
    make_image(&folder, "image", 64 << 20, "4096");
    let server = Server::start(&folder, &["image", "--socket", "socket", "-j2"]);
    let connect = || UnixStream::connect(folder.path("socket")).unwrap();
    let mut good = Client::connect(&folder, "socket", LEN);
    for len in [1, 4, 100, 100_000] {
        let mut stream = connect();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may close before it has read all.
        let _ = stream.write_all(&noise(len));
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() <= 18 && rest.starts_with(b"NBDMAGIC"), "{rest:?}");
        assert_eq!(good.read(5, 3), [0; 3]);
    }
    // The longest there is, of several at once.
    thread::scope(|scope| {
        for i in 0..4_u64 {
            let folder = &folder;
            scope.spawn(move || {
                let mut client = Client::connect(folder, "socket", LEN);
                assert!(client.read(i << 20 | 1, 32 << 20).iter().all(|&byte| byte == 0));
                client.send(READ, 0, u32::MAX, b"");
                assert_eq!(client.answer(), 75, "EOVERFLOW");
                client.send(WRITE, LEN - 1, 40 << 20, &vec![1; 40 << 20]);
                assert_eq!(client.answer(), 22, "EINVAL");
                client.send(9, 0, 1, b"");
                assert_eq!(client.answer(), 22, "EINVAL");
                // It goes in the middle of its data.
                client.send(WRITE, 0, 1 << 20, b"only these");
            });
        }
    });
    assert_eq!(good.read(0, 4096), [0; 4096]);
    let peak = peak(&server.child);
    println!("{peak} KiB");
    assert!(peak < 48 << 10, "{peak} KiB");

    // Those who say nothing are gone after ten seconds, and then there are places again.
    let mut silent: Vec<_> = (0..40).map(|_| connect()).collect();
    let mut greeted = 0;
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // One that has no place is closed, perhaps before it could be greeted.
        greeted += usize::from(stream.read_exact(&mut [0; 18]).is_ok());
    }
    // Beside the good one, and those above if they are not gone yet.
    assert!((27..=31).contains(&greeted), "{greeted}");
    assert_eq!(good.read(0, 4096), [0; 4096]);
    for stream in &mut silent {
        // Unlike `read`, this goes on after an interruption, such as that of a process that stood still.
        match stream.read_to_end(&mut Vec::new()) {
            Ok(0) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            other => panic!("{other:?}"),
        }
    }
    let mut another = Client::connect(&folder, "socket", LEN);
    assert_eq!(another.read(0, 10), [0; 10]);
    let output = server.stop();
    assert_eq!(output.status.code(), Some(0));
    // What is no client is named, and not more.
    assert!(
        stderr(&output)
            .lines()
            .all(|line| line.contains("disconnected a client") || line.contains("too many connections"))
    );
}

/// A file system, through the clients of Debian. Nothing is mounted.
#[test]
#[cfg(target_os = "linux")]
fn a_file_system_through_other_clients() {
    const LEN: usize = 24 << 20;
    let tools = ["qemu-img", "qemu-io", "nbdcopy", "mkfs.ext4", "e2fsck", "debugfs"];
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let is_there = |tool: &&str| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    let missing: Vec<_> = tools.iter().filter(|tool| !is_there(tool)).collect();
    if !missing.is_empty() {
        println!("skipped: no {missing:?} (Debian: qemu-utils, libnbd-bin, e2fsprogs)");
        assert!(
            std::env::var_os("STRICT").is_none_or(|strict| strict.is_empty()),
            "{missing:?}"
        );
        return;
    }
    let folder = Folder::new();
    let tool = |args: &[&str]| {
        let output = Command::new(args[0])
            .args(&args[1..])
            .env("PATH", &path)
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    File::create(folder.path("ext4"))
        .unwrap()
        .set_len(LEN as u64)
        .unwrap();
    tool(&["mkfs.ext4", "-q", "-F", "ext4"]);
    let text = noise(300_000);
    folder.write("text", &text);
    tool(&["debugfs", "-w", "-R", "write text first", "ext4"]);
    make_image(&folder, "image", LEN, "4096");

    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let uri = server.uri.as_str();
    // Both ways with each of them.
    tool(&["qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "ext4", uri]);
    assert!(tool(&["qemu-img", "info", uri]).contains("24 MiB"));
    tool(&["qemu-img", "compare", "-f", "raw", "-F", "raw", "ext4", uri]);
    tool(&["nbdcopy", uri, "copy"]);
    assert!(folder.read("copy") == folder.read("ext4"));
    tool(&["e2fsck", "-fn", "copy"]);
    tool(&["debugfs", "-R", "dump first back", "copy"]);
    assert!(folder.read("back") == text);
    // Reads and writes that begin and end within sectors, and what the server does not know: nothing is lost around it.
    let io = |commands: &[&str]| {
        let commands: Vec<_> = commands.iter().flat_map(|command| ["-c", command]).collect();
        let printed = tool(&[&["qemu-io", "-f", "raw"], commands.as_slice(), &[uri]].concat());
        assert!(!printed.contains("failed"), "{printed}");
    };
    io(&[
        "write -P 0x5a 9001 12001",
        "write -f -P 0x5b 8190 3",
        "read -P 0x5a 9001 12001",
        "read -P 0x5b 8190 3",
        "write -z 20000 4000",
        "write -z -u 30000 50000",
        "read -P 0 20000 4000",
        "read -P 0 30000 50000",
        "flush",
    ]);
    let mut expected = folder.read("ext4");
    expected[9001..21_002].fill(0x5a);
    expected[8190..8193].fill(0x5b);
    expected[20_000..24_000].fill(0);
    expected[30_000..80_000].fill(0);
    tool(&["nbdcopy", uri, "changed"]);
    assert!(folder.read("changed") == expected);
    // What is changed outside comes back changed.
    tool(&["debugfs", "-w", "-R", "write text second", "copy"]);
    tool(&["debugfs", "-w", "-R", "rm first", "copy"]);
    tool(&["nbdcopy", "--flush", "copy", uri]);
    tool(&["qemu-img", "convert", "-f", "raw", "-O", "raw", uri, "again"]);
    succeeds(&server.stop());
    tool(&["e2fsck", "-fn", "again"]);
    tool(&["debugfs", "-R", "dump second back", "again"]);
    assert!(folder.read("back") == text);
    let listed = tool(&["debugfs", "-R", "ls -l", "again"]);
    assert!(listed.contains("second") && !listed.contains("first"), "{listed}");
    assert!(decrypted(&folder, "image") == folder.read("copy"));
    // And the image has none of it.
    let image = folder.read("image");
    assert!(image[1080..1082] != [0x53, 0xef] && folder.read("copy")[1080..1082] == [0x53, 0xef]);
    assert!(!image.chunks(4096).any(|sector| sector == &text[..4096]));
}

/// A terminal that is closed ends it as well.
#[test]
fn signals_that_end_it() {
    let folder = Folder::new();
    make_image(&folder, "image", 4096, "4096");
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let server = Server::start(&folder, &["image", "--socket", "socket"]);
        Client::connect(&folder, "socket", 4096).write(0, &noise(4096));
        succeeds(&server.stop_by(signal));
        assert!(!folder.path("socket").exists());
        // The header knows the only sector.
        assert!(decrypted(&folder, "image") == noise(4096));
    }
}

/// The same after a password was typed.
#[test]
#[cfg(target_os = "linux")]
fn signals_after_a_prompt() {
    use super::passwords::Terminal;

    let folder = Folder::new();
    folder.write("password", b"secret\n");
    folder.write("image", &[0; 4096]);
    let password = ["--password-file", "password", "image"];
    let encrypt = ["disk", "encrypt", "--cost", "0", "--in-place"];
    succeeds_at_low_cost(&folder.run(&[&encrypt[..], &password].concat()));
    for (signal, number) in [(Signal::HUP, 1), (Signal::INT, 2), (Signal::TERM, 3)] {
        let args = ["disk", "serve", "--password", "--socket", "socket", "image"];
        let mut terminal = Terminal::start(&folder, &args);
        terminal.wait_for("Password for image: ");
        terminal.type_in(b"secret\n");
        let mut uri = String::new();
        BufReader::new(terminal.child.stdout.take().unwrap())
            .read_line(&mut uri)
            .unwrap();
        Client::connect(&folder, "socket", 4096).write(0, &[number; 4096]);
        kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        succeeds(&soon(move || terminal.end()));
        assert!(!folder.path("socket").exists());
        let decrypt = ["disk", "decrypt", "-o", "-"];
        let output = folder.run(&[&decrypt[..], &password].concat());
        succeeds(&output);
        assert!(output.stdout == [number; 4096]);
    }
}

/// An image that moves while it is served, and a new one in its place.
#[test]
fn a_header_that_was_exchanged() {
    let folder = Folder::new();
    for name in ["image", "other"] {
        make_image(&folder, name, 8192, "4096");
    }
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let mut client = Client::connect(&folder, "socket", 8192);
    client.write(0, &noise(4096));
    folder.write("plain", &noise(8192));
    let encrypt = ["disk", "encrypt", "--key-file", "key", "--force", "plain"];
    let new = folder.run(&[&encrypt[..], &["-o", "image"]].concat());
    fails(&new, IO, "image", "in use by another process");
    let new = folder.run(&[&encrypt[..], &["-o", "x", "--header", "image.vphead"]].concat());
    fails(&new, IO, "image.vphead", "in use by another process");
    fs::rename(folder.path("image.vphead"), folder.path("moved")).unwrap();
    let other = folder.read("other.vphead");
    fs::rename(folder.path("other.vphead"), folder.path("image.vphead")).unwrap();
    let output = server.stop();
    fails(&output, IO, "image.vphead", "is left as it is");
    assert!(folder.read("image.vphead") == other);
}

#[test]
fn nobody_reads_standard_error() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    for more in [&[][..], &["--quiet"]] {
        let folder = Folder::new();
        make_image(&folder, "image", 4096, "4096");
        let (_reader, mut full) = std::io::pipe().unwrap();
        let flags = fcntl_getfl(&full).unwrap();
        fcntl_setfl(&full, flags | OFlags::NONBLOCK).unwrap();
        while full.write(&[b'x'; 4096]).is_ok() {}
        while full.write(b"x").is_ok() {}
        fcntl_setfl(&full, flags).unwrap();
        let args = [
            "disk",
            "serve",
            "--key-file",
            "key",
            "image",
            "--socket",
            "socket",
        ];
        let mut child = folder
            .command(&[&args[..], more].concat())
            .stderr(full)
            .spawn()
            .unwrap();
        let connect = || UnixStream::connect(folder.path("socket"));
        let begun = std::time::Instant::now();
        while connect().is_err() && begun.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(5));
        }
        // Warnings: too many connections, and one that is no client.
        let mut client = Client::connect(&folder, "socket", 4096);
        client.write(0, &noise(4096));
        let mut clients: Vec<_> = (0..40).map(|_| connect().unwrap()).collect();
        let _ = clients[0].write_all(&[0xff; 100]);
        thread::sleep(Duration::from_secs(1));
        drop(clients);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let begun = std::time::Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{more:?}: it hung");
        assert!(decrypted(&folder, "image") == noise(4096));
    }
}

/// An image that another file replaced, or that became shorter, while it was served.
#[test]
fn an_image_that_was_exchanged() {
    for is_replaced in [true, false] {
        let folder = Folder::new();
        make_image(&folder, "image", 8192, "4096");
        let header = folder.read("image.vphead");
        let server = Server::start(&folder, &["image", "--socket", "socket"]);
        let mut client = Client::connect(&folder, "socket", 8192);
        client.write(0, &noise(4096));
        if is_replaced {
            folder.write("new", &noise(8192));
            fs::rename(folder.path("new"), folder.path("image")).unwrap();
        } else {
            let image = File::options().write(true).open(folder.path("image")).unwrap();
            image.set_len(4096).unwrap();
        }
        fails(&server.stop(), IO, "image", "was replaced or changed its length");
        assert!(folder.read("image.vphead") == header);
    }
}

/// A served image to which a client has written, and which is empty since then. The header comes first.
fn shrunk(folder: &Folder) -> (Vec<u8>, File, Server, Client<UnixStream>) {
    make_image(folder, "image", 8192, "4096");
    let header = folder.read("image.vphead");
    let server = Server::start(folder, &["image", "--socket", "socket"]);
    let mut client = Client::connect(folder, "socket", 8192);
    client.write(0, &noise(4096));
    let image = File::options().write(true).open(folder.path("image")).unwrap();
    image.set_len(0).unwrap();
    (header, image, server, client)
}

/// A write behind the new end would make it as long as before, with zeros in between.
#[test]
fn an_image_that_shrank_is_not_made_whole() {
    let folder = Folder::new();
    let (header, _image, server, mut client) = shrunk(&folder);
    client.send(WRITE, 4096, 4096, &noise(4096));
    assert_ne!(client.answer(), 0);
    assert_eq!(folder.read("image"), b"");
    let output = server.stop();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(IO), "{message}");
    assert!(message.contains("changed its length"), "{message}");
    assert!(folder.read("image.vphead") == header);
}

/// It is noticed by whatever fails meanwhile: a read, too.
#[test]
fn an_image_that_was_short_for_a_moment() {
    let folder = Folder::new();
    let (header, image, server, mut client) = shrunk(&folder);
    client.send(READ, 4096, 4096, b"");
    assert_ne!(client.answer(), 0);
    image.set_len(8192).unwrap();
    client.send(FLUSH, 0, 0, b"");
    assert_ne!(client.answer(), 0);
    let output = server.stop();
    assert_eq!(output.status.code(), Some(IO), "{}", stderr(&output));
    assert!(folder.read("image.vphead") == header);
}

/// Its header is where it was found, whatever has the folder's name by now.
#[test]
fn a_served_header_stays_in_its_folder() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).unwrap();
    fs::create_dir(folder.path("other")).unwrap();
    make_image(&folder, "sub/image", 4096, "4096");
    let header = folder.read("sub/image.vphead");
    fs::rename(folder.path("sub/image"), folder.path("image")).unwrap();
    folder.write("other/image.vphead", &header);
    let args = ["image", "--header", "sub/image.vphead", "--socket", "socket"];
    let server = Server::start(&folder, &args);
    Client::connect(&folder, "socket", 4096).write(0, &noise(4096));
    fs::rename(folder.path("sub"), folder.path("moved")).unwrap();
    std::os::unix::fs::symlink("other", folder.path("sub")).unwrap();
    assert!(server.stop().status.success());
    assert!(folder.read("other/image.vphead") == header);
    assert!(folder.read("moved/image.vphead") != header);
}

/// Whoever had the header can use it, also if root serves the image.
#[test]
fn a_served_header_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = Folder::new();
    make_image(&folder, "image", 4096, "4096");
    let header = folder.read("image.vphead");
    for name in ["image", "image.vphead"] {
        if chown(folder.path(name), Some(1234), Some(1235)).is_err() {
            return;
        }
    }
    folder.set_mode("image.vphead", 0o640);
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    Client::connect(&folder, "socket", 4096).write(0, &noise(4096));
    succeeds(&server.stop());
    assert!(folder.read("image.vphead") != header);
    let found = fs::metadata(folder.path("image.vphead")).unwrap();
    assert_eq!(
        (found.uid(), found.gid(), found.mode() & 0o777),
        (1234, 1235, 0o640)
    );
}

/// A thread needs memory for its stack.
#[test]
#[cfg(target_os = "linux")]
fn clients_without_a_thread() {
    use rustix::process::{Resource, Rlimit, prlimit};
    let folder = Folder::new();
    make_image(&folder, "image", 4096, "4096");
    let server = Server::start(&folder, &["image", "--socket", "socket"]);
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .unwrap();
    let size: u64 = size.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    let limit = |current| {
        let child = Some(Pid::from_child(&server.child));
        let limit = Rlimit {
            current,
            maximum: None,
        };
        prlimit(child, Resource::As, limit).unwrap();
    };
    limit(Some((size + 1024) << 10));
    let mut client = UnixStream::connect(folder.path("socket")).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(client.read(&mut [0; 10]).unwrap(), 0);
    limit(None);
    Client::connect(&folder, "socket", 4096).write(0, &noise(4096));
    let output = server.stop();
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("cannot start a thread"),
        "{}",
        stderr(&output)
    );
}
