//! `proofs/manifest.json` against what is here: the theorems are those of `proofs/THEOREMS.txt`, the files that they
//! depend on are unchanged, and the kernels in this very program are the bytes that were proved. `make proofs` writes
//! the manifest anew.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
#[path = "common/kernels.rs"]
mod addresses;

const STALE: &str = "is not what was proved: run `make proofs`";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn manifest() -> Value {
    let text = std::fs::read(root().join("proofs/manifest.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn entries<'a>(manifest: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    manifest[key]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.as_str(), value))
}

fn theorems(manifest: &Value) -> impl Iterator<Item = &Value> {
    manifest["theorems"].as_array().unwrap().iter()
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[test]
fn the_theorems_are_those_of_the_list() {
    let manifest = manifest();
    let list = std::fs::read_to_string(root().join("proofs/THEOREMS.txt")).unwrap();
    let listed: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let proved: Vec<Vec<&str>> = theorems(&manifest)
        .map(|t| {
            assert_eq!(t["result"], "proved", "{}", t["name"]);
            let mut line = vec![t["name"].as_str().unwrap(), t["object"].as_str().unwrap()];
            line.extend(t["assumptions"].as_str().unwrap().split_whitespace());
            line
        })
        .collect();
    assert_eq!(proved, listed, "the list of theorems {STALE}");
}

#[test]
fn every_assumption_has_its_entry() {
    let readme = std::fs::read_to_string(root().join("proofs/README.md")).unwrap();
    for theorem in theorems(&manifest()) {
        for name in theorem["assumptions"].as_str().unwrap().split_whitespace() {
            assert!(
                readme.contains(&format!("\n- **{name}**: ")),
                "{name} is not in proofs/README.md"
            );
        }
    }
}

#[test]
fn the_files_are_those_of_the_proofs() {
    let manifest = manifest();
    for (file, hash) in entries(&manifest, "files") {
        let bytes = std::fs::read(root().join(file)).unwrap_or_default();
        assert_eq!(*hash, sha256(&bytes), "{file} {STALE}");
    }
    let scripts: BTreeSet<&str> = entries(&manifest, "scripts").map(|(name, _)| name).collect();
    for theorem in theorems(&manifest) {
        assert!(scripts.contains(theorem["script"].as_str().unwrap()));
    }
    for (script, files) in entries(&manifest, "scripts") {
        for file in files.as_array().unwrap() {
            assert!(
                manifest["files"].get(file.as_str().unwrap()).is_some(),
                "{script}: {file} has no hash"
            );
        }
    }
}

/// The theorems about bitcode name all the Rust that it was made from, and the compiler.
#[test]
fn the_rust_is_that_of_the_proofs() {
    let manifest = manifest();
    let mut sources = ["duplex.rs", "platform.rs", "simpira1024.rs"]
        .map(|name| format!("rust/src/{name}"))
        .to_vec();
    for entry in std::fs::read_dir(root().join("rust/src/portable")).unwrap() {
        sources.push(format!(
            "rust/src/portable/{}",
            entry.unwrap().file_name().to_str().unwrap()
        ));
    }
    assert!(sources.len() >= 5);
    for object in ["portable", "duplex"] {
        let of_object: Vec<&Value> = theorems(&manifest).filter(|t| t["object"] == object).collect();
        assert!(!of_object.is_empty(), "no theorem about {object}");
        for theorem in of_object {
            let files = manifest["scripts"][theorem["script"].as_str().unwrap()]
                .as_array()
                .unwrap();
            for source in &sources {
                assert!(
                    files.iter().any(|file| file == source),
                    "{}: {source} {STALE}",
                    theorem["name"]
                );
            }
        }
    }
    assert!(
        manifest["tools"]["rustc"]
            .as_str()
            .unwrap()
            .starts_with("rustc 1.")
    );
    let flags = manifest["bitcode"]["RUSTFLAGS"].as_str().unwrap();
    assert!(flags.contains("veriplex_backend=\"portable\""), "{flags}");
}

/// The kernels that are linked into this program.
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
mod kernels {
    use super::{BTreeSet, STALE, entries, manifest, sha256, theorems};
    use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

    /// The symbol, address and bytes of each kernel in this program's file.
    fn linked() -> Vec<(String, u64, Vec<u8>)> {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let object = object::File::parse(&*file).unwrap();
        let kernels: Vec<_> = object
            .symbols()
            .filter_map(|symbol| {
                let name = symbol.name().ok()?;
                let version = name.strip_prefix("veriplex_")?.rsplit_once("_v")?.1;
                version
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '_')
                    .then_some(())?;
                let section = object.section_by_index(symbol.section_index()?).ok()?;
                let bytes = section.data_range(symbol.address(), symbol.size()).ok()??;
                Some((name.to_owned(), symbol.address(), bytes.to_vec()))
            })
            .collect();
        assert!(!kernels.is_empty());
        kernels
    }

    #[test]
    fn every_kernel_in_this_program_is_proved() {
        let manifest = manifest();
        assert_eq!(crate::addresses::addresses().len(), 5);
        let linked = linked();
        let objects: BTreeSet<&str> = entries(&manifest, "objects")
            .map(|(_, o)| o["symbol"].as_str().unwrap())
            .collect();
        assert_eq!(
            objects,
            linked.iter().map(|(symbol, ..)| symbol.as_str()).collect(),
            "the list of kernels {STALE}"
        );
        for (name, object) in entries(&manifest, "objects") {
            let (symbol, _, bytes) = linked
                .iter()
                .find(|(symbol, ..)| object["symbol"] == **symbol)
                .unwrap();
            assert_eq!(object["length"], bytes.len(), "{symbol} {STALE}");
            assert_eq!(object["sha256"], sha256(bytes), "{symbol} {STALE}");
            assert!(
                theorems(&manifest).any(|t| t["object"] == name),
                "{symbol} has no theorem"
            );
        }
    }

    #[test]
    fn the_code_that_runs_is_the_code_that_was_proved() {
        let manifest = manifest();
        let addresses = crate::addresses::addresses();
        // All but the table, which is no code.
        assert_eq!(addresses.len() + 1, entries(&manifest, "objects").count());
        for (name, address) in addresses {
            let object = &manifest["objects"][name];
            let length = usize::try_from(object["length"].as_u64().unwrap()).unwrap();
            // SAFETY: a kernel's code can be read, and `every_kernel_in_this_program_is_proved` compares its length.
            let bytes = unsafe { std::slice::from_raw_parts(address, length) };
            assert_eq!(object["sha256"], sha256(bytes), "{name} {STALE}");
        }
    }
}
