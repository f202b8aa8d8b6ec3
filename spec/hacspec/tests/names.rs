//! The two specifications define the same things: every top-level Cryptol definition has its Rust twin in the file
//! with the same name, and vice versa.

use std::{collections::BTreeSet, fs, path::Path};

const PAIRS: [(&str, &str); 27] = [
    ("AES.cry", "aes.rs"),
    ("Simpira1024.cry", "simpira1024.rs"),
    ("Duplex.cry", "duplex.rs"),
    ("Protocol.cry", "protocol.rs"),
    ("Digest.cry", "digest.rs"),
    ("Kdf.cry", "kdf.rs"),
    ("Mac.cry", "mac.rs"),
    ("Stream.cry", "stream.rs"),
    ("Aead.cry", "aead.rs"),
    ("Siv.cry", "siv.rs"),
    ("Committing.cry", "committing.rs"),
    ("Aestream.cry", "aestream.rs"),
    ("Oae2.cry", "oae2.rs"),
    ("Mhf.cry", "mhf.rs"),
    ("Poly1305.cry", "poly1305.rs"),
    ("ChaCha.cry", "chacha.rs"),
    ("NH.cry", "nh.rs"),
    ("AES256.cry", "aes256.rs"),
    ("Adiantum.cry", "adiantum.rs"),
    ("Xoodoo.cry", "xoodoo.rs"),
    ("Xoofff.cry", "xoofff.rs"),
    ("XoofffSane.cry", "xoofff_sane.rs"),
    ("XoofffSanse.cry", "xoofff_sanse.rs"),
    ("XoofffWbc.cry", "xoofff_wbc.rs"),
    ("Tree.cry", "tree.rs"),
    ("Seekable.cry", "seekable.rs"),
    ("Tunnel.cry", "tunnel.rs"),
];

/// Cryptol without a twin: in Rust it is a loop.
const CRYPTOL_ONLY: [&str; 1] = ["Lanes.cry"];

/// Rust files without Cryptol, which has no such group.
const RUST_ONLY: [&str; 10] = [
    "group.rs",
    "handshake.rs",
    "hpke.rs",
    "hybrid.rs",
    "kem.rs",
    "oprf.rs",
    "pake.rs",
    "sig.rs",
    "signcrypt.rs",
    "vrf.rs",
];

/// Definitions that exist on only one side, as (Cryptol file, name), each with its reason.
const EXCEPTIONS: [(&str, &str); 7] = [
    // Cryptol's operator `^` is defined on sequences.
    ("Xoofff.cry", "xor"),
    // Several blocks at once, as the kernels compute them: in Rust a loop over `block`.
    ("ChaCha.cry", "xor_blocks"),
    ("ChaCha.cry", "xor_group"),
    // Cryptol writes out the constant, which limbs.awk reads.
    ("Poly1305.cry", "mask"),
    ("Poly1305.cry", "mask44"),
    ("Poly1305.cry", "mask42"),
    // Cryptol writes it out in both halves.
    ("Poly1305.cry", "product52"),
];

/// A name, up to the first character that no identifier contains.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''));
    &text[..end.unwrap_or(text.len())]
}

/// Type and constant names differ in case between the languages, so case does not count.
fn cryptol_names(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut comment = false;
    for line in source.lines() {
        if !comment && line.starts_with("/*") {
            comment = true;
        }
        if comment {
            comment = !line.contains("*/");
            continue;
        }
        let words = line
            .strip_prefix("type ")
            .or(line.strip_prefix("property "))
            .unwrap_or(line);
        let name = identifier(words);
        if !name.is_empty() && name != "module" && name != "import" {
            names.insert(name.to_lowercase());
        }
    }
    names
}

fn rust_names(source: &str) -> BTreeSet<String> {
    let keywords = [
        "const fn ",
        "fn ",
        "const ",
        "type ",
        "struct ",
        "enum ",
        "static ",
        "trait ",
        "mod ",
    ];
    let mut names = BTreeSet::new();
    for line in source.lines() {
        let item = line.strip_prefix("pub ").unwrap_or(line);
        if let Some(rest) = keywords.iter().find_map(|k| item.strip_prefix(k)) {
            names.insert(identifier(rest).to_lowercase());
        }
        assert!(
            !line.starts_with("impl"),
            "the twin has functions, not methods: {line}"
        );
    }
    names
}

#[test]
fn every_definition_has_its_twin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    let mut used = [false; EXCEPTIONS.len()];
    for (cry, rs) in PAIRS {
        let cryptol = cryptol_names(&fs::read_to_string(root.join("../cryptol").join(cry)).unwrap());
        let rust = rust_names(&fs::read_to_string(root.join("src").join(rs)).unwrap());
        assert!(!cryptol.is_empty() && !rust.is_empty(), "{cry} {rs}");
        for name in cryptol.symmetric_difference(&rust) {
            match EXCEPTIONS.iter().position(|e| *e == (cry, name.as_str())) {
                Some(i) => used[i] = true,
                None => missing.push(format!("{cry} / {rs}: {name}")),
            }
        }
    }
    assert!(missing.is_empty(), "no twin: {missing:#?}");
    assert!(used.iter().all(|u| *u), "an exception is unused");
}

/// A number that is a type in Cryptol is a constant with the same value here: `type rate = 94` and
/// `pub const RATE: usize = 94;`.
#[test]
fn every_number_has_its_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = 0;
    for (cry, rs) in PAIRS {
        let cryptol = fs::read_to_string(root.join("../cryptol").join(cry)).unwrap();
        let rust = fs::read_to_string(root.join("src").join(rs)).unwrap();
        let numbers = cryptol
            .lines()
            .filter_map(|line| line.strip_prefix("type ")?.split_once(" = "));
        for (name, value) in numbers.filter(|(_, value)| value.parse::<u32>().is_ok()) {
            let twin = format!("pub const {}: usize = {value};", name.to_uppercase());
            assert!(rust.contains(&twin), "{rs} lacks «{twin}»");
            found += 1;
        }
    }
    assert_eq!(found, 19);
}

/// Every file on either side is in a pair.
#[test]
fn every_file_has_its_twin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = |folder: &str, suffix: &str| -> BTreeSet<String> {
        fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(suffix) && name != "lib.rs")
            .collect()
    };
    let (cry, rs): (BTreeSet<_>, BTreeSet<_>) =
        PAIRS.iter().map(|(c, r)| (c.to_string(), r.to_string())).unzip();
    let cryptol_only: BTreeSet<String> = CRYPTOL_ONLY.map(str::to_owned).into();
    assert!(cry.is_disjoint(&cryptol_only));
    assert_eq!(files("../cryptol", ".cry"), &cry | &cryptol_only);
    let rust_only: BTreeSet<String> = RUST_ONLY.map(str::to_owned).into();
    assert!(rs.is_disjoint(&rust_only));
    assert_eq!(files("src", ".rs"), &rs | &rust_only);
}
