//! Files of every kind, made here: right, changed, truncated and mutated.

#[path = "../../../tests/common/random.rs"]
mod random;

use object::write::{Object, Relocation, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionKind,
    SymbolFlags, SymbolKind, SymbolScope,
};
use random::Random;
use std::collections::BTreeMap;

use serde_json::json;
use sha2::{Digest, Sha256};
use veriplex_audit::{Finding, Proved, architectures, audit, bytes_of, kernels, listing};

/// The data, for all architectures.
const TABLE: &str = "simpira1024_round_constants";

const NAMES: [&str; 3] = [
    "veriplex_absorb_blocks",
    "veriplex_permute",
    "veriplex_squeeze_blocks",
];

/// Bytes in place of code. The kernels share their second half, as real ones share the permutation.
fn code() -> Vec<(&'static str, Vec<u8>)> {
    let mut random = Random(1);
    let shared: Vec<u8> = (0..60).flat_map(|_| random.next().to_le_bytes()).collect();
    NAMES
        .iter()
        .map(|&name| {
            let own = (0..68).flat_map(|_| random.next().to_le_bytes());
            // Lengths that are not multiples of anything.
            let own = own.skip(name.len()).collect::<Vec<u8>>();
            (name, [own, shared.clone()].concat())
        })
        .collect()
}

/// The names of a kernel on each architecture, or the single name of a table.
fn names(symbol: &str) -> Vec<String> {
    let name = symbol.trim_start_matches("veriplex_");
    if name == TABLE {
        vec![name.to_owned()]
    } else {
        vec![format!("x86-64/{name}"), format!("armv8/{name}")]
    }
}

/// A manifest with every kernel for both architectures, with the same bytes.
fn manifest(code: &[(&str, Vec<u8>)]) -> String {
    let objects: serde_json::Map<_, _> = code
        .iter()
        .flat_map(|(symbol, bytes)| {
            let sha256 = hex::encode(Sha256::digest(bytes));
            let object =
                json!({ "symbol": format!("{symbol}_v0_1"), "length": bytes.len(), "sha256": sha256 });
            names(symbol).into_iter().map(move |name| {
                let mut object = object.clone();
                object["target"] = json!(name.split_once('/').map(|(level, _)| level));
                (name, object)
            })
        })
        .collect();
    let theorem = |object: &str| json!({ "name": "lemma", "object": object, "result": "proved" });
    let theorems: Vec<_> = objects
        .keys()
        .map(|object| theorem(object))
        .chain([theorem("spec")])
        .collect();
    json!({ "tools": {}, "files": {}, "objects": objects, "theorems": theorems }).to_string()
}

/// The bytes for `manifest`.
fn listed(code: &[(&str, Vec<u8>)]) -> String {
    let named: BTreeMap<String, &[u8]> = code
        .iter()
        .flat_map(|(symbol, bytes)| {
            names(symbol)
                .into_iter()
                .map(move |name| (name, bytes.as_slice()))
        })
        .collect();
    listing(named.iter().map(|(name, bytes)| (name.as_str(), *bytes)))
}

fn proved() -> Proved {
    let code = code();
    Proved::new(&manifest(&code), &listed(&code)).unwrap()
}

/// An object file with this code under these symbols, and other code before, between and after.
fn object_file(format: BinaryFormat, code: &[(&str, Vec<u8>)]) -> Object<'static> {
    object_file_for(Architecture::X86_64, format, code)
}

fn object_file_for(
    architecture: Architecture,
    format: BinaryFormat,
    code: &[(&str, Vec<u8>)],
) -> Object<'static> {
    let mut random = Random(2);
    let mut object = Object::new(format, architecture, Endianness::Little);
    let section = object.add_section(b"__TEXT".to_vec(), b"__text".to_vec(), SectionKind::Text);
    for (name, bytes) in code {
        let other: Vec<u8> = (0..20).flat_map(|_| random.next().to_le_bytes()).collect();
        object.append_section_data(section, &other, 32);
        let value = object.append_section_data(section, bytes, 32);
        object.append_section_data(section, &other, 1);
        object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: bytes.len() as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
    }
    object
}

/// ELF's numbers for the architectures.
const X86_64: u64 = 0x3e;
const AARCH64: u64 = 0xb7;

/// An executable with one segment and neither sections nor symbols: a minimal stripped binary.
fn executable(machine: u64, code: &[(&str, Vec<u8>)]) -> Vec<u8> {
    const HEADERS: usize = 64 + 56;
    let text: Vec<u8> = code
        .iter()
        .flat_map(|(_, bytes)| [&[0xcc; 13], bytes.as_slice()].concat())
        .collect();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let number = |file: &mut Vec<u8>, value: u64, len: usize| file.extend(&value.to_le_bytes()[..len]);
    let all = (HEADERS + text.len()) as u64;
    for (value, len) in [
        (2, 2),
        (machine, 2),
        (1, 4),
        (0x40_0000, 8),
        (64, 8),
        (0, 8),
        (0, 4),
        (64, 2),
        (56, 2),
        (1, 2),
        (64, 2),
        (0, 2),
        (0, 2),
        // The program header: loaded, readable and executable, the whole file.
        (1, 4),
        (5, 4),
        (0, 8),
        (0x40_0000, 8),
        (0x40_0000, 8),
        (all, 8),
        (all, 8),
        (0x1000, 8),
    ] {
        number(&mut file, value, len);
    }
    assert_eq!(file.len(), HEADERS);
    file.extend(text);
    file
}

fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"!<arch>\n".to_vec();
    for (name, data) in members {
        let name = format!("{name}/");
        file.extend(
            format!(
                "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                0,
                0,
                0,
                644,
                data.len()
            )
            .bytes(),
        );
        file.extend(data);
        if data.len() % 2 == 1 {
            file.push(b'\n');
        }
    }
    file
}

/// A universal binary: PowerPC, which the audit skips, and another architecture, given by its number in Mach-O.
fn universal(cpu: u32, slice: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let len = u32::try_from(slice.len()).unwrap();
    for word in [
        0xcafe_babe,
        2,
        0x0100_0012,
        0,
        64,
        4,
        0,
        cpu,
        3,
        68,
        len,
        0,
        0,
        0,
        0,
        0,
        0_u32,
    ] {
        file.extend(word.to_be_bytes());
    }
    file.extend(slice);
    file
}

/// Every kind of file with this code in it.
fn files(code: &[(&str, Vec<u8>)]) -> Vec<(&'static str, Vec<u8>)> {
    let elf = object_file(BinaryFormat::Elf, code).write().unwrap();
    let macho = object_file(BinaryFormat::MachO, code).write().unwrap();
    let arm = |format| {
        object_file_for(Architecture::Aarch64, format, code)
            .write()
            .unwrap()
    };
    vec![
        ("executable", executable(X86_64, code)),
        ("AArch64 executable", executable(AARCH64, code)),
        (
            "archive",
            archive(&[("lib.rmeta", b"metadata".to_vec()), ("a.o", elf.clone())]),
        ),
        (
            "universal archive",
            universal(0x0100_0007, &archive(&[("a.o", macho.clone())])),
        ),
        ("universal", universal(0x0100_0007, &macho)),
        (
            "AArch64 universal",
            universal(0x0100_000c, &arm(BinaryFormat::MachO)),
        ),
        ("AArch64 ELF", arm(BinaryFormat::Elf)),
        ("AArch64 Mach-O", arm(BinaryFormat::MachO)),
        ("ELF", elf),
        ("Mach-O", macho),
        ("COFF", object_file(BinaryFormat::Coff, code).write().unwrap()),
        ("AArch64 COFF", arm(BinaryFormat::Coff)),
        ("PE", portable_executable(code, None)),
    ]
}

/// An executable for Windows, with one section and without symbols; the loader changes eight bytes at this offset in it.
fn portable_executable(code: &[(&str, Vec<u8>)], relocated: Option<u16>) -> Vec<u8> {
    const SECTION: u32 = 0x1000;
    let mut text: Vec<u8> = code.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    text.resize(text.len().next_multiple_of(4), 0xcc);
    let mut directories = [[0; 8]; 16];
    if let Some(offset) = relocated {
        let place = SECTION + u32::try_from(text.len()).unwrap();
        directories[5] = [place, 12]
            .map(u32::to_le_bytes)
            .as_flattened()
            .try_into()
            .unwrap();
        text.extend([SECTION, 12].map(u32::to_le_bytes).as_flattened());
        text.extend([10 << 12 | offset, 0].map(u16::to_le_bytes).as_flattened());
    }
    let len = u32::try_from(text.len()).unwrap();
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    [
        b"MZ".as_slice(),
        &[0; 58],
        &words(&[64]),
        b"PE\0\0",
        // For x86-64, with one section and an optional header of 240 bytes.
        &words(&[0x1_8664, 0, 0, 0, 0x22_00f0]),
        // It has 64-bit addresses, and begins at 0x1_4000_0000.
        &words(&[0x20b, 0, 0, 0, SECTION, SECTION, 0x4000_0000, 1, SECTION, 0x200]),
        &words(&[0; 16]),
        &words(&[0, 16]),
        directories.as_flattened(),
        b".text\0\0\0",
        &words(&[len, SECTION, len, 0x170, 0, 0, 0, 0x6000_0020]),
        &text,
    ]
    .concat()
}

fn right(findings: &[Finding]) -> Vec<&str> {
    findings
        .iter()
        .filter(|f| f.difference.is_none())
        .map(|f| f.symbol.as_str())
        .collect()
}

#[test]
fn proved_bytes_are_recognised() {
    let code = code();
    let versioned: Vec<_> = code
        .iter()
        .map(|(name, bytes)| (format!("{name}_v0_1"), bytes.clone()))
        .collect();
    let versioned: Vec<_> = versioned
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()))
        .collect();
    for code in [code, versioned] {
        for (kind, file) in files(&code) {
            let findings = audit(&file, &proved()).unwrap();
            assert_eq!(right(&findings), NAMES, "{kind}: {findings:?}");
            assert_eq!(findings.len(), NAMES.len(), "{kind}: {findings:?}");
            for finding in &findings {
                let bytes = &code
                    .iter()
                    .find(|(name, _)| name.starts_with(&finding.symbol))
                    .unwrap()
                    .1;
                assert_eq!(&file[finding.file_offset..][..finding.len], bytes, "{kind}");
            }
        }
    }
}

#[test]
fn every_flipped_byte_is_seen() {
    let proved = proved();
    for (kind, file) in files(&code()) {
        for finding in audit(&file, &proved).unwrap() {
            for at in 0..finding.len {
                let mut changed = file.clone();
                changed[finding.file_offset + at] ^= 1 << (at % 8);
                let findings = audit(&changed, &proved).unwrap();
                let wrong: Vec<_> = findings.iter().filter(|f| f.difference.is_some()).collect();
                assert_eq!(wrong.len(), 1, "{kind} {at}: {findings:?}");
                assert_eq!(
                    (&wrong[0].symbol, wrong[0].address),
                    (&finding.symbol, finding.address)
                );
                assert_eq!(right(&findings).len(), NAMES.len() - 1, "{kind} {at}");
            }
        }
    }
}

#[test]
fn both_of_two_copies_are_checked() {
    let mut code = code();
    code.extend(code.clone());
    let last = code.last_mut().unwrap();
    last.1[77] ^= 0x10;
    for (kind, file) in files(&code) {
        let findings = audit(&file, &proved()).unwrap();
        assert_eq!(findings.len(), 6, "{kind}: {findings:?}");
        assert_eq!(right(&findings).len(), 5, "{kind}: {findings:?}");
    }
}

#[test]
fn code_in_writable_memory_is_refused() {
    let mut file = executable(X86_64, &code());
    let flags = 64 + 4;
    assert_eq!(file[flags], 5);
    file[flags] = 7;
    let findings = audit(&file, &proved()).unwrap();
    assert_eq!(findings.len(), NAMES.len());
    assert_eq!(right(&findings), [""; 0]);
}

/// Whatever has the name of a kernel is checked as that kernel, whatever its bytes.
#[test]
fn a_symbol_is_enough() {
    let mut code = code();
    code[1].1 = vec![0x90; 700];
    for format in [BinaryFormat::Elf, BinaryFormat::MachO] {
        let findings = audit(&object_file(format, &code).write().unwrap(), &proved()).unwrap();
        assert_eq!(right(&findings), [NAMES[0], NAMES[2]]);
        assert_eq!(findings.len(), 3);
    }
    // The proved bytes and more.
    code[1].1 = [self::code()[1].1.as_slice(), &[0xc3]].concat();
    let findings = audit(&object_file(BinaryFormat::Elf, &code).write().unwrap(), &proved()).unwrap();
    assert_eq!(right(&findings), [NAMES[0], NAMES[2]]);
    // Truncated by the end of the section.
    code.truncate(1);
    code[0].1.truncate(100);
    let findings = audit(
        &object_file(BinaryFormat::MachO, &code).write().unwrap(),
        &proved(),
    )
    .unwrap();
    assert_eq!((findings.len(), right(&findings).len()), (1, 0));
}

#[test]
fn a_relocation_in_a_kernel_is_a_difference() {
    let code = code();
    for (offset, wrong) in [(0, 0), (156, 0), (157, 1), (200, 1)] {
        let mut object = object_file(BinaryFormat::Elf, &code);
        let symbol = object.symbol_id(NAMES[0].as_bytes()).unwrap();
        let section = object.symbol(symbol).section.id().unwrap();
        object
            .add_relocation(
                section,
                Relocation {
                    offset,
                    symbol,
                    addend: 0,
                    flags: RelocationFlags::Generic {
                        kind: RelocationKind::Absolute,
                        encoding: RelocationEncoding::Generic,
                        size: 32,
                    },
                },
            )
            .unwrap();
        let findings = audit(&object.write().unwrap(), &proved()).unwrap();
        assert_eq!(
            right(&findings).len(),
            NAMES.len() - wrong,
            "{offset}: {findings:?}"
        );
    }
}

#[test]
fn what_the_loader_of_windows_changes_is_a_difference() {
    let (code, proved) = (code(), proved());
    let len = u16::try_from(code[0].1.len()).unwrap();
    for (relocated, different) in [(None, 0), (Some(0), 1), (Some(len - 1), 2)] {
        let findings = audit(&portable_executable(&code, relocated), &proved).unwrap();
        assert_eq!(findings.len() - right(&findings).len(), different, "{findings:?}");
        assert_eq!(findings.len(), code.len());
    }
}

#[test]
fn data_is_not_code() {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = object.add_section(vec![], b".rodata".to_vec(), SectionKind::ReadOnlyData);
    object.append_section_data(section, &code()[0].1, 32);
    assert_eq!(audit(&object.write().unwrap(), &proved()).unwrap(), []);
}

#[test]
fn a_kernel_of_another_name_is_refused() {
    let mut code = code();
    code.push(("veriplex_other_v0_1", vec![0x90; 70]));
    code.push(("veriplex_other", vec![0x90; 70]));
    for format in [BinaryFormat::Elf, BinaryFormat::MachO] {
        let findings = audit(&object_file(format, &code).write().unwrap(), &proved()).unwrap();
        assert_eq!(right(&findings), NAMES);
        let other: Vec<_> = findings.iter().filter(|f| f.difference.is_some()).collect();
        assert!(
            other.len() == 1 && other[0].symbol == "veriplex_other",
            "{other:?}"
        );
    }
}

/// The table is accepted in constant data, and in code, where some linkers put it, but not in writable memory.
#[test]
fn tables_are_checked() {
    let table: Vec<u8> = (1..=72_u32)
        .flat_map(|c| [0, 0x10, 0x20, 0x30].map(|k| k ^ 8 ^ c))
        .flat_map(u32::to_le_bytes)
        .collect();
    let name = "veriplex_simpira1024_round_constants";
    let code = [(name, table.clone())];
    let proved = Proved::new(&manifest(&code), &listing([(TABLE, table.as_slice())])).unwrap();
    let with = |kind, symbol: &[u8], bytes: &[u8]| {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let section = object.add_section(vec![], b".a_section".to_vec(), kind);
        // Small numbers and zeros, which must not be mistaken for a table.
        let other: Vec<u8> = (0..3000_u32).flat_map(|i| (i % 128).to_le_bytes()).collect();
        object.append_section_data(section, &other, 1);
        let value = object.append_section_data(section, bytes, 64);
        object.append_section_data(section, &other, 1);
        object.add_symbol(Symbol {
            name: symbol.to_vec(),
            value,
            size: bytes.len() as u64,
            kind: SymbolKind::Data,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
        audit(&object.write().unwrap(), &proved).unwrap()
    };
    let mut changed = table.clone();
    changed[500] ^= 1;
    for symbol in [name, "stripped"] {
        for kind in [SectionKind::ReadOnlyData, SectionKind::Text] {
            assert_eq!(right(&with(kind, symbol.as_bytes(), &table)), [name]);
            let findings = with(kind, symbol.as_bytes(), &changed);
            assert_eq!((findings.len(), right(&findings).len()), (1, 0), "{findings:?}");
            assert_eq!(with(kind, b"other", &[0; 1152]), []);
        }
    }
    let findings = with(SectionKind::Data, name.as_bytes(), &table);
    assert_eq!((findings.len(), right(&findings).len()), (1, 0), "{findings:?}");
}

#[test]
fn other_files_have_none() {
    assert_eq!(audit(&executable(X86_64, &[]), &proved()).unwrap(), []);
    for (_, file) in files(&[("main", vec![0x90; 4000])]) {
        assert_eq!(audit(&file, &proved()).unwrap(), []);
    }
    for garbage in [b"".as_slice(), b"\x7fELF", b"#!/bin/sh\n", &[0; 5000], b"MZ"] {
        audit(garbage, &proved()).unwrap_err();
    }
    let metadata = archive(&[("lib.rmeta", b"metadata".to_vec())]);
    assert_eq!(audit(&metadata, &proved()).unwrap(), []);
}

/// Truncated and mutated files give an answer or an error, never a panic, an endless search, or a kernel that is not
/// there.
#[test]
fn bad_files_are_no_panic() {
    let mut random = Random(3);
    let proved = proved();
    let (mut errors, mut answers) = (0, 0);
    for (kind, file) in files(&code()) {
        let mut cuts: Vec<_> = (0..300).collect();
        cuts.extend((0..100).map(|_| random.below(file.len())));
        for len in cuts {
            match audit(&file[..len], &proved) {
                Ok(findings) => assert!(right(&findings).len() <= NAMES.len(), "{kind} {len}"),
                Err(_) => errors += 1,
            }
        }
        for _ in 0..2000 {
            let mut changed = file.clone();
            for _ in 0..=random.below(4) {
                // Headers are at the start of a file and, in object files, at the end.
                let at = match random.below(3) {
                    0 => random.below(200.min(file.len())),
                    1 => file.len() - 1 - random.below(800.min(file.len())),
                    _ => random.below(file.len()),
                };
                changed[at] = match random.below(3) {
                    0 => 0xff,
                    1 => changed[at] ^ 1 << random.below(8),
                    _ => random.next().to_le_bytes()[0],
                };
            }
            match audit(&changed, &proved) {
                Ok(findings) => {
                    assert!(right(&findings).len() <= NAMES.len(), "{kind}: {findings:?}");
                    answers += 1;
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 1000 && answers > 1000, "{errors} {answers}");
}

#[test]
fn bytes_come_from_symbols() {
    let code = code();
    let arm = object_file_for(Architecture::Aarch64, BinaryFormat::MachO, &code)
        .write()
        .unwrap();
    let object = object_file(BinaryFormat::Elf, &code).write().unwrap();
    let both = [object.clone(), arm.clone()];
    assert_eq!(bytes_of(&both, &manifest(&code)).unwrap(), listed(&code));
    let findings = audit(&object, &proved()).unwrap();
    let mut changed = object;
    changed[findings[1].file_offset] ^= 1;
    for (files, why) in [
        (vec![changed, arm.clone()], "no symbol x86-64/permute"),
        (vec![arm], "no symbol x86-64/absorb_blocks"),
        (vec![both[0].clone()], "no symbol armv8/absorb_blocks"),
        (
            vec![executable(X86_64, &code), executable(AARCH64, &code)],
            "no symbol ",
        ),
    ] {
        let error = bytes_of(&files, &manifest(&code)).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
}

/// Bytes proved for one architecture do not count for another, even under the same symbol.
#[test]
fn architectures_are_kept_apart() {
    let x86_64 = code();
    let armv8: Vec<_> = x86_64
        .iter()
        .map(|(name, bytes)| (*name, bytes.iter().map(|byte| !byte).collect::<Vec<u8>>()))
        .collect();
    let only = |code: &[(&str, Vec<u8>)], architecture: &str| {
        let manifest: serde_json::Value = serde_json::from_str(&manifest(code)).unwrap();
        let objects = manifest["objects"].as_object().unwrap().clone();
        let of_it = |name: &str| name.starts_with("armv8/") == (architecture == "armv8");
        objects
            .into_iter()
            .filter(|(name, _)| of_it(name))
            .collect::<Vec<_>>()
    };
    let objects: serde_json::Map<_, _> = [only(&x86_64, "x86-64"), only(&armv8, "armv8")]
        .concat()
        .into_iter()
        .collect();
    let theorems: Vec<_> = objects
        .keys()
        .map(|name| json!({ "object": name, "result": "proved" }))
        .collect();
    let bytes: Vec<_> = x86_64
        .iter()
        .map(|(name, bytes)| (names(name).swap_remove(0), bytes))
        .chain((armv8.iter()).map(|(name, bytes)| (names(name).swap_remove(1), bytes)))
        .collect();
    let proved = Proved::new(
        &json!({ "objects": objects, "theorems": theorems }).to_string(),
        &listing(
            bytes
                .iter()
                .map(|(name, bytes)| (name.as_str(), bytes.as_slice())),
        ),
    )
    .unwrap();
    for (own, other, architecture, name) in [
        (&x86_64, &armv8, Architecture::X86_64, "x86-64"),
        (&armv8, &x86_64, Architecture::Aarch64, "armv8"),
    ] {
        for format in [BinaryFormat::Elf, BinaryFormat::MachO] {
            let file = |code| object_file_for(architecture, format, code).write().unwrap();
            assert_eq!(
                architectures(&file(own)).unwrap().into_iter().collect::<Vec<_>>(),
                [name]
            );
            let findings = audit(&file(own), &proved).unwrap();
            assert_eq!(right(&findings), NAMES);
            assert!(findings.iter().all(|finding| finding.architecture == name));
            let findings = audit(&file(other), &proved).unwrap();
            assert_eq!((findings.len(), right(&findings).len()), (NAMES.len(), 0));
        }
    }
    for (machine, code) in [(X86_64, &armv8), (AARCH64, &x86_64)] {
        assert_eq!(audit(&executable(machine, code), &proved).unwrap(), []);
    }
}

#[test]
fn broken_manifests_are_errors() {
    let code = code();
    let good = manifest(&code);
    let bytes = listed(&code);
    assert_eq!(kernels(&good).unwrap().len(), 6);
    let flipped = bytes.replacen(":\n", ":\n00", 1);
    for (manifest, bytes, why) in [
        ("", bytes.as_str(), "manifest: EOF"),
        (r#"{ "objects": {}, "theorems": [] }"#, "", "manifest: no kernel"),
        (&good, "", "no bytes to look for"),
        (&good, &flipped, "not those of the manifest"),
        (
            &good.replace("\"length\":1", "\"length\":2"),
            &bytes,
            "not those of the manifest",
        ),
        (
            &good.replace("\"length\":", "\"length\":0, \"l\":"),
            &bytes,
            "no bytes",
        ),
        (
            &good.replace("\"sha256\":\"", "\"sha256\":\"0"),
            &bytes,
            "not a SHA-256",
        ),
        (&good.replace("\"sha256\"", "\"sha\""), &bytes, "missing field"),
        (
            &good.replace("\"object\":\"x86-64/permute\"", "\"object\":\"spec\""),
            &bytes,
            "x86-64/permute is not proved",
        ),
        (
            &good.replacen("\"result\":\"proved\"", "\"result\":\"failed\"", 1),
            &bytes,
            "is not proved",
        ),
        (
            &good,
            &format!("{bytes}other:\n00\n"),
            "other: not in the manifest",
        ),
        (
            &good.replace("\"armv8\"", "\"z80\""),
            &bytes,
            "armv8/absorb_blocks: unknown architecture z80",
        ),
        (&good, &format!("zz\n{bytes}"), "kernels.txt: zz"),
        (&good, &format!("00\n{bytes}"), "bytes without a symbol"),
    ] {
        let error = Proved::new(manifest, bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
}
