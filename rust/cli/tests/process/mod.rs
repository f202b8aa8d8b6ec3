//! The memory of another process, read from outside, as a thief does.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Child;

/// The writable memory of a process: stacks, heap and all else.
pub fn memory(child: &Child) -> Vec<Vec<u8>> {
    let folder = format!("/proc/{}", child.id());
    let memory = File::open(format!("{folder}/mem")).unwrap();
    let maps = fs::read_to_string(format!("{folder}/maps")).unwrap();
    let mut pieces = Vec::new();
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
        // What cannot be read is such as [vvar].
        if rest.starts_with("rw") && memory.read_exact_at(&mut bytes, from).is_ok() {
            pieces.push(bytes);
        }
    }
    pieces
}

/// How often these bytes are there.
pub fn count(memory: &[Vec<u8>], secret: &[u8]) -> usize {
    let mut found = 0;
    for piece in memory {
        let mut rest = piece.as_slice();
        // Most memory is zeros: looking for one byte skips them quickly.
        while let Some(at) = rest.iter().position(|byte| *byte == secret[0]) {
            found += usize::from(rest[at..].starts_with(secret));
            rest = &rest[at + 1..];
        }
    }
    found
}
