//! What a thief of the memory of a running process finds of its one-time keys: stack, heap and all else, read from
//! `/proc/PID/mem`, as after a break-in.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

use veriplex::tunnel::{Initiator, Responder, Session};
use veriplex_spec::group::wide;

use crate::{DOMAIN, Said, key, open, seal};

/// A generator whose bytes are computed where they are asked for, so that they are nowhere else.
struct Lcg(u64);

impl Lcg {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0.to_be_bytes()[0]
    }
}

impl rand_core::TryRng for Lcg {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        unimplemented!("only bytes are asked for")
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        unimplemented!("only bytes are asked for")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for byte in bytes {
            *byte = self.byte();
        }
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Lcg {}

/// Of the initiator's and the responder's ephemeral keys, and of those that they announce.
const SEEDS: [u64; 4] = [101, 102, 103, 104];

/// Tells the parent how far it is, and waits until that has looked.
fn stage(name: &str) {
    println!("\nstage {name}");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

fn pass(from: &mut Session, to: &mut Session, record: Option<Vec<u8>>) {
    let record = record.unwrap_or_else(|| seal(&mut from.sender, b"data"));
    assert_ne!(open(&mut to.receiver, &mut to.keys, &record).unwrap(), Said::End);
}

/// The process that is looked into. The parent test starts it.
#[test]
#[ignore = "only as a child of the test below"]
fn victim() {
    let (is, rs) = (key(1), key(3));
    stage("start");
    let (initiator, request) = Initiator::start(DOMAIN, &is, rs.public_key(), &mut Lcg(SEEDS[0])).unwrap();
    let claimed = Responder::receive(DOMAIN, &rs, &*request).unwrap();
    let (responder, response) = claimed.accept(&mut Lcg(SEEDS[1])).unwrap();
    stage("half way");
    let mut a = initiator.receive(&*response).unwrap();
    let mut first = seal(&mut a.sender, b"");
    let mut b = responder.confirm(&mut first).unwrap().0;
    stage("connected");
    let record = a.sender.renew(&mut a.keys, &mut Lcg(SEEDS[2])).unwrap();
    pass(&mut a, &mut b, Some(record));
    let record = b.sender.renew(&mut b.keys, &mut Lcg(SEEDS[3])).unwrap();
    pass(&mut b, &mut a, Some(record));
    let record = a.sender.renew(&mut a.keys, &mut Lcg(105)).unwrap();
    pass(&mut a, &mut b, Some(record));
    pass(&mut a, &mut b, None);
    pass(&mut b, &mut a, None);
    stage("renewed");
    drop((a, b));
    stage("closed");
}

/// What there is to find of a key that this generator gives: scalar, d, z, and the beginning of what ML-KEM computes.
fn secrets(seed: u64) -> Vec<Vec<u8>> {
    let mut rng = Lcg(seed);
    let random: Vec<u8> = (0..128).map(|_| rng.byte()).collect();
    let scalar = wide(&random[..64]).to_vec();
    let decapsulation = veriplex_spec::kem::expanded(&random[64..]);
    vec![
        scalar,
        random[64..96].to_vec(),
        random[96..].to_vec(),
        decapsulation[..32].to_vec(),
    ]
}

/// How often each of them is in the writable memory of a process.
fn search(child: &Child, secrets: &[Vec<u8>]) -> Vec<usize> {
    let folder = format!("/proc/{}", child.id());
    let memory = File::open(format!("{folder}/mem")).unwrap();
    let mut found = vec![0; secrets.len()];
    let mut size = 0;
    for line in fs::read_to_string(format!("{folder}/maps")).unwrap().lines() {
        let mut words = line.split_whitespace();
        let (range, mode) = (words.next().unwrap(), words.next().unwrap());
        if !mode.starts_with("rw") {
            continue;
        }
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
        if memory.read_exact_at(&mut bytes, from).is_err() {
            continue; // such as [vvar]
        }
        size += bytes.len();
        for (secret, found) in secrets.iter().zip(&mut found) {
            *found += bytes.windows(32).filter(|window| window == secret).count();
        }
    }
    assert!(size > 100_000, "the stack alone is larger");
    found
}

#[test]
fn forgotten_keys_are_in_no_memory() {
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: under qemu this would read the emulator's memory");
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::victim", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let secrets = SEEDS.map(secrets).concat();
    let mut seen = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        let Some(name) = line.strip_prefix("stage ") else {
            continue;
        };
        let found = search(&child, &secrets);
        let by_key: Vec<&[usize]> = found.chunks(4).collect();
        let (none, kept) = ([0, 0, 0, 0], [1, 1, 1, 0]);
        match name {
            "start" => assert_eq!(by_key, [none; 4]),
            // The initiator waits, with all of its key (z is in both forms); the responder has what it needs for renewals.
            "half way" => assert_eq!(by_key, [[1, 1, 2, 1], kept, none, none]),
            // Each side has its number 0, until the peer has used a newer one: as bytes, in one place.
            "connected" => assert_eq!(by_key, [kept, kept, none, none]),
            "renewed" => assert_eq!(by_key, [none, none, kept, kept]),
            _ => assert_eq!(by_key, [none; 4], "{name}"),
        }
        seen.push(name.to_owned());
        writeln!(child.stdin.as_mut().unwrap()).unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(seen, ["start", "half way", "connected", "renewed", "closed"]);
}
