//! `proofs/manifest.json`: which theorems hold of which bytes, and by which files and tools.

use super::Expected;
use super::lifted::object_name;
use super::rust;
use super::saw::Theorem;
use crate::{replay, sha256};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};
use veriplex_lift::object_file::Symbol;

/// Writes the goals and the manifest, and returns it.
pub fn write(
    root: &Path,
    expected: &[Expected],
    theorems: &BTreeMap<String, (Theorem, Vec<String>)>,
    kernels: &[Symbol],
) -> io::Result<String> {
    let path = root.join("proofs/manifest.json");
    let mut objects: BTreeMap<String, Value> = kernels
        .iter()
        .map(|k| {
            let value = json!({ "symbol": k.symbol, "length": k.bytes.len(), "sha256": sha256(&k.bytes) });
            (object_name(k), value)
        })
        .collect();
    // Where the ARMv8 kernels could not be assembled, they are what they were: the lifted modules are.
    let old: Value = serde_json::from_slice(&fs::read(&path).unwrap_or_default()).unwrap_or_default();
    for (name, value) in old["objects"].as_object().into_iter().flatten() {
        if name.contains('/') {
            objects.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let mut files = BTreeMap::new();
    for file in theorems.values().flat_map(|(_, files)| files) {
        files.insert(file.as_str(), sha256(&fs::read(root.join(file))?));
    }
    let scripts: BTreeMap<&String, &Vec<String>> =
        theorems.values().map(|(_, files)| (&files[0], files)).collect();
    replay::clear(root)?;
    let theorems = expected
        .iter()
        .filter_map(|e| theorems.get(&e.name).map(|t| (e, t)))
        .map(|(e, (theorem, files))| {
            let (goals, rewritten) = replay::write(root, &e.name, &theorem.goals)?;
            Ok(json!({
                "name": e.name,
                "object": e.object,
                "solver": theorem.solver,
                "result": "proved",
                "assumptions": e.assumptions.join(" "),
                "script": files[0],
                "goals": goals,
                "rewritten": rewritten,
            }))
        })
        .collect::<io::Result<Vec<Value>>>()?;
    let manifest = json!({
        "tools": {
            "saw": version("saw")?,
            "yices": version("yices")?,
            "z3": version("z3")?,
            "rustc": version("rustc")?,
        },
        "bitcode": {
            "RUSTFLAGS": rust::RUSTFLAGS,
            "flags": rust::FLAGS.join(" "),
            "profile": rust::profile(&fs::read_to_string(root.join("Cargo.toml"))?),
        },
        "objects": objects,
        "files": files,
        "scripts": scripts,
        "theorems": theorems,
    });
    let manifest = format!("{manifest:#}\n");
    fs::write(path, &manifest)?;
    Ok(manifest)
}

/// Whether a file is not the one that the manifest has.
pub fn changed(root: &Path, file: &str) -> io::Result<bool> {
    let manifest: Value = serde_json::from_slice(&fs::read(root.join("proofs/manifest.json"))?)?;
    Ok(manifest["files"][file] != sha256(&fs::read(root.join(file))?))
}

fn version(tool: &str) -> io::Result<String> {
    let output = Command::new(tool).arg("--version").output()?;
    // SAW says it on the other stream.
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text)
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned())
}

/// The files that a script depends on, itself first: what it includes and imports, and what that imports.
pub fn files_of(root: &Path, script: &str) -> io::Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![script.to_owned()];
    let mut files = Vec::new();
    while let Some(file) = todo.pop() {
        // What the run makes of the build is no source, unless it is committed.
        let file = match file.strip_prefix("target/") {
            Some(committed) if root.join(committed).is_file() => committed.to_owned(),
            Some(_) => continue,
            None => file,
        };
        if !seen.insert(file.clone()) {
            continue;
        }
        let text = fs::read_to_string(root.join(&file))?;
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for line in text.lines().map(str::trim) {
            let quoted = line.split('"').nth(1);
            if let (true, Some(name)) = (
                line.starts_with("include \"") || line.starts_with("import \""),
                quoted,
            ) {
                todo.push(
                    name.strip_prefix("../../")
                        .map_or_else(|| format!("{folder}/{name}"), str::to_owned),
                );
            } else if let (true, Some(module)) = (
                !file.contains(".saw"),
                line.strip_prefix("import ")
                    .and_then(|rest| rest.split([' ', '(']).next()),
            ) {
                let name = format!("{}.cry", module.replace("::", "/"));
                let found = [folder, "spec/cryptol"].map(|folder| format!("{folder}/{name}"));
                let found = found.into_iter().find(|path| root.join(path).is_file());
                todo.push(found.ok_or_else(|| io::Error::other(format!("{file}: no module {module}")))?);
            }
        }
        if file == "proofs/saw/common.saw" {
            todo.push("proofs/saw/prototypes.rs".to_owned());
            todo.push("proofs/saw/instructions.s".to_owned());
        }
        // How the kernel is cut; what makes an iteration every number of them.
        if file == "proofs/saw/loop.saw" {
            todo.push("proofs/tools/src/proofs/bytes.rs".to_owned());
        }
        if file == "proofs/saw/lifted.saw" {
            todo.push("proofs/rocq/Blocks.v".to_owned());
        }
        if file == "proofs/saw/rust.saw" {
            files.extend(rust::SOURCES.map(str::to_owned));
        }
        // The hash in such a module is that of the code, which is not always assembled anew.
        if let Some(kernel) = file
            .strip_prefix("proofs/lift/armv8/")
            .and_then(|name| name.strip_suffix(".cry"))
        {
            todo.push(format!("jasmin/armv8/{kernel}.S"));
            todo.push("jasmin/armv8/simpira1024.S".to_owned());
            todo.push("rust/src/aarch64/kernels.rs".to_owned());
            todo.push("rust/src/kernels.rs".to_owned());
        }
        files.push(file);
    }
    files[1..].sort();
    Ok(files)
}
