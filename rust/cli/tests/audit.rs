//! `veriplex-audit` on this program, whose kernels are linked as those of any other are.
#![cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_endian = "little",
    target_pointer_width = "64",
    any(target_os = "linux", target_os = "macos"),
    not(veriplex_intrinsics),
    not(veriplex_backend = "portable"),
))]

use std::collections::BTreeSet;
use std::fs;

use veriplex_audit::{Finding, Proved, audit};

const ARCHITECTURE: &str = if cfg!(target_arch = "x86_64") {
    "x86-64"
} else {
    "armv8"
};

fn program() -> Vec<u8> {
    fs::read(env!("CARGO_BIN_EXE_veriplex")).unwrap()
}

/// What is found, all of it right, and each kernel once.
#[track_caller]
fn all_right(file: &[u8]) -> Vec<Finding> {
    let proved = Proved::embedded().unwrap();
    let findings = audit(file, &proved).unwrap();
    for finding in &findings {
        assert_eq!(finding.difference, None, "{finding}");
    }
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.symbol.as_str()).collect();
    let mut expected: Vec<&str> = proved
        .kernels()
        .iter()
        .filter(|kernel| kernel.is_for(ARCHITECTURE))
        .filter(|kernel| {
            // The program calls no Xoofff. Its self-test does, if other packages need that feature in the same build.
            !kernel.symbol.starts_with("veriplex_xoofff_") || names.contains(&kernel.symbol.as_str())
        })
        .map(|kernel| kernel.symbol.as_str())
        .collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    findings
}

/// One bit in every other kernel: those are wrong, and no others. Several at a time, as an audit of so large a program takes
/// a while.
fn flipped_bits_are_seen(file: &[u8]) {
    let proved = Proved::embedded().unwrap();
    let right = all_right(file);
    for parity in [0, 1] {
        let mut changed = file.to_vec();
        let mut expected = BTreeSet::new();
        for (number, kernel) in right
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 2 == parity)
        {
            let at = [0, 1, kernel.len / 2, kernel.len - 1][number / 2 % 4];
            changed[kernel.file_offset + at] ^= 0x04;
            expected.insert(kernel.symbol.clone());
        }
        let wrong: BTreeSet<String> = audit(&changed, &proved)
            .unwrap()
            .into_iter()
            .filter(|finding| finding.difference.is_some())
            .map(|finding| finding.symbol)
            .collect();
        assert_eq!(wrong, expected);
    }
}

#[test]
fn the_program_has_the_proved_kernels() {
    all_right(&program());
}

#[test]
fn a_flipped_bit_is_seen() {
    flipped_bits_are_seen(&program());
}

#[test]
#[cfg(target_os = "linux")]
fn stripped_copies_are_recognised() {
    // Without symbols, as a distribution would ship it. The linker that made the program comes with `strip`.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stripped");
    let status = std::process::Command::new("strip")
        .args(["--strip-all", "-o"])
        .arg(&path)
        .arg(env!("CARGO_BIN_EXE_veriplex"))
        .status()
        .expect("strip, of binutils");
    assert!(status.success());
    let stripped = fs::read(path).unwrap();
    assert!(stripped.len() < program().len());
    assert!(
        !stripped
            .windows(16)
            .any(|bytes| bytes == b"veriplex_simpira1024_permute")
    );
    flipped_bits_are_seen(&stripped);

    // Without sections too: e_shoff, e_shnum and e_shstrndx of the ELF header.
    let mut bare = stripped;
    bare[0x28..0x30].fill(0);
    bare[0x3c..0x40].fill(0);
    flipped_bits_are_seen(&bare);
}
