//! What is left of the keys in the memory of a server that a signal has ended. Its memory is read from outside, as a thief
//! does, before the process ends.
#![cfg(target_os = "linux")]

mod process;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use process::{count, memory};
use rustix::process::{Pid, Signal, kill_process};
use veriplex::{Protocol, label};
use veriplex_disk::copy::How;
use veriplex_disk::header::{Disk, Geometry};
use veriplex_disk::serve::{self, Address};
use veriplex_files::crypt::Secret;

const KEY: [u8; 32] = [7; 32];
const LEN: usize = 1 << 20;
/// Names the folder, for the process that serves.
const FOLDER: &str = "VERIPLEX_TEST_SERVED";

/// Runs only in the process that the test below starts.
#[test]
#[ignore = "is started by the test below"]
fn serves_until_a_signal() {
    let folder = PathBuf::from(env::var_os(FOLDER).expect("a folder"));
    let secret = || Ok(Secret::Key(KEY.into()));
    let how = How::Header {
        path: None,
        max_cost: 0,
        is_checked: true,
    };
    let export = serve::open(&folder.join("image"), &how, false, false, secret).unwrap();
    serve::serve(export, &Address::Unix(folder.join("socket")), false).unwrap();
    println!("ended");
    let _ = std::io::stdin().read(&mut [0]);
}

/// The key of the sectors: `rust/disk/src/header.rs` has the format.
fn sectors_key(header: &[u8]) -> [u8; 32] {
    let mut protocol = Protocol::new(label!("veriplex.disk.v1"));
    protocol.mix(label!("header"), &header[..30]);
    protocol.mix(label!("key"), &KEY);
    protocol.mix(label!("nonce"), &header[30..62]);
    protocol.derive_array(label!("sectors"))
}

/// Reads 1 MiB from the disk after the oldest handshake, and stays connected.
fn connect(folder: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(folder.join("socket")).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let option = [
        &3_u32.to_be_bytes()[..],
        b"IHAVEOPT",
        &1_u32.to_be_bytes(),
        &[0; 4],
    ];
    stream.write_all(&option.concat()).unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    let request = [
        &0x2560_9513_u32.to_be_bytes()[..],
        &[0; 4],
        b"a cookie",
        &[0; 8],
        &u32::try_from(LEN).unwrap().to_be_bytes(),
    ];
    stream.write_all(&request.concat()).unwrap();
    stream.read_exact(&mut vec![0; 16 + LEN]).unwrap();
    stream
}

#[test]
fn a_signal_wipes_the_keys() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().unwrap();
        let geometry = Geometry::new(4096, 0, LEN as u64).unwrap();
        let disk = Disk::generate(geometry, &Secret::Key(KEY.into()), 0).unwrap();
        // Of zeros.
        let tags = disk.readable_sector_tags(|_, _| Ok::<_, ()>(()));
        let header = disk.header(&tags).unwrap();
        drop(disk);
        fs::write(folder.path().join("image"), vec![0; LEN]).unwrap();
        fs::write(folder.path().join("image.vphead"), header.bytes()).unwrap();
        let key = sectors_key(header.bytes());

        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "serves_until_a_signal", "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wait_for = |what: &str| {
            let mut seen = lines.by_ref().map(Result::unwrap);
            assert!(seen.any(|line| line.contains(what)), "{what}");
        };
        wait_for("nbd+unix");
        let mut clients = [connect(folder.path()), connect(folder.path())];
        // One says nothing.
        clients[1] = UnixStream::connect(folder.path().join("socket")).unwrap();
        let before = count(&memory(&child), &key);
        kill_process(Pid::from_child(&child), signal).unwrap();
        wait_for("ended");
        let after = count(&memory(&child), &key);
        for client in &mut clients {
            // Its greeting, and the end.
            assert!(client.read_to_end(&mut Vec::new()).unwrap() <= 18);
        }
        let is_removed = !folder.path().join("socket").exists();
        drop(child.stdin.take());
        let status = child.wait().unwrap();
        assert!(before > 0, "the key is not where it is looked for");
        assert_eq!(after, 0, "{before} before");
        assert!(is_removed && status.success());
    }
}
