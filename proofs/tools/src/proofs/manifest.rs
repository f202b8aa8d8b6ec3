//! `proofs/generated/manifest.json`: which theorems hold for which bytes, and by which files and tools.

use super::lifted::{self, object_name};
use super::{Expected, Proved, bytes, rust};
use crate::sha256;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};
use veriplex_lift::object_file::Symbol;
use veriplex_lift::table::TABLE;
use veriplex_lift::{assembler, packages};

const PATH: &str = "proofs/generated/manifest.json";

/// The programs that run the proofs.
const RUNNERS: [&str; 5] = [
    "proofs/lift/src",
    "proofs/tools/src/main.rs",
    "proofs/tools/src/parallel.rs",
    "proofs/tools/src/proofs.rs",
    "proofs/tools/src/proofs",
];

/// The file that every script about a lifted kernel includes.
pub const LIFTED: &str = "proofs/saw/lib/lifted.saw";

/// Writes the manifest, and returns it.
pub fn write(
    root: &Path,
    expected: &[Expected],
    theorems: &BTreeMap<String, Proved>,
    kernels: &[Symbol],
) -> io::Result<String> {
    let path = root.join(PATH);
    let mut objects: BTreeMap<String, Value> = kernels
        .iter()
        .map(|k| {
            // A symbol without an instruction set is data.
            let target = TABLE
                .find(k.architecture, &k.name)
                .map(|(level, _)| level.target.name);
            let (length, sha256) = (k.bytes.len(), sha256(&k.bytes));
            let value = json!({ "symbol": k.symbol, "target": target, "length": length, "sha256": sha256 });
            (object_name(k), value)
        })
        .collect();
    // Kernels that could not be assembled are unchanged, because their lifted modules are.
    let old: Value = serde_json::from_slice(&fs::read(&path).unwrap_or_default()).unwrap_or_default();
    for (level, kernel) in TABLE.proved() {
        let name = format!("{}/{}", level.name, kernel.name);
        if let Some(value) = old["objects"].get(&name) {
            objects.entry(name).or_insert_with(|| value.clone());
        }
    }
    let mut files = BTreeMap::new();
    let runners = runners(root)?;
    for file in theorems.values().flat_map(|proved| &proved.files).chain(&runners) {
        files.insert(file.as_str(), sha256(&fs::read(root.join(file))?));
    }
    let scripts: BTreeMap<&String, &Vec<String>> = theorems
        .values()
        .map(|proved| (&proved.files[0], &proved.files))
        .collect();
    let theorems = expected
        .iter()
        .filter_map(|e| theorems.get(&e.name).map(|t| (e, t)))
        .map(|(e, proved)| {
            let goals = &proved.theorem.goals;
            json!({
                "name": e.name,
                "object": e.object,
                "solver": proved.theorem.evidence.solver(),
                "result": "proved",
                "assumptions": proved.assumptions.join(" "),
                "script": proved.files[0],
                "goals": goals.len(),
                "rewritten": proved.theorem.rewritten(),
                "sha256": sha256(goals.concat().as_bytes()),
            })
        })
        .collect::<Vec<Value>>();
    let manifest = json!({
        "tools": {
            "saw": version("saw")?,
            "yices": version("yices")?,
            "z3": version("z3")?,
            "rustc": version("rustc")?,
        },
        "bitcode": {
            "builds": rust::BUILDS.iter().map(|build| json!({
                "name": build.name,
                "target": build.target.map(assembler::triple),
                "RUSTFLAGS": build.rustflags,
                "flags": build.flags.join(" "),
                "features": build.features,
            })).collect::<Value>(),
            "profile": rust::profile(&fs::read_to_string(root.join("Cargo.toml"))?),
        },
        "objects": objects,
        "packages": packages::of_the_proofs(root)?,
        "files": files,
        "scripts": scripts,
        "theorems": theorems,
    });
    let manifest = format!("{manifest:#}\n");
    fs::write(path, &manifest)?;
    Ok(manifest)
}

/// The files that run the proofs, on which every proof rests: the tools, the lifter, and the list of theorems.
fn runners(root: &Path) -> io::Result<Vec<String>> {
    let mut files = vec!["proofs/THEOREMS.txt".to_owned()];
    let mut places = RUNNERS.map(str::to_owned).to_vec();
    while let Some(place) = places.pop() {
        if root.join(&place).is_file() {
            files.push(place);
            continue;
        }
        for entry in fs::read_dir(root.join(&place))? {
            places.push(format!("{place}/{}", entry?.file_name().to_string_lossy()));
        }
    }
    Ok(files)
}

/// Whether a file differs from the one in the manifest.
pub fn changed(root: &Path, file: &str) -> io::Result<bool> {
    let manifest: Value = serde_json::from_slice(&fs::read(root.join(PATH))?)?;
    Ok(manifest["files"][file] != sha256(&fs::read(root.join(file))?))
}

fn version(tool: &str) -> io::Result<String> {
    let output = Command::new(tool).arg("--version").output()?;
    // SAW prints it on standard error.
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text)
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned())
}

/// The path that `name` in a file of this folder means, without `..`.
fn path_from(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in name.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The files that a script depends on, itself first: what it includes and imports, and what that imports.
pub fn files_of(root: &Path, script: &str) -> io::Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![script.to_owned()];
    let mut files = Vec::new();
    while let Some(file) = todo.pop() {
        // What the run makes from the build is not a source, unless it is committed.
        let file = match file.strip_prefix("target/proofs/lifted/") {
            Some(module) => format!("{}/{module}", lifted::FOLDER),
            None if file.starts_with("target/") => continue,
            None => file,
        };
        if !seen.insert(file.clone()) {
            continue;
        }
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        // A new kernel has no lifted module before the first run.
        let text = match fs::read_to_string(root.join(&file)) {
            Err(_) if file.starts_with(lifted::FOLDER) => String::new(),
            text => text.map_err(|e| io::Error::other(format!("{file}: {e}")))?,
        };
        for line in text.lines().map(str::trim) {
            let quoted = line.split('"').nth(1);
            if let (true, Some(name)) = (
                line.starts_with("include \"") || line.starts_with("import \""),
                quoted,
            ) {
                todo.push(path_from(folder, name));
            } else if let (true, Some(module)) = (
                !file.contains(".saw"),
                line.strip_prefix("import ")
                    .and_then(|rest| rest.split([' ', '(']).next()),
            ) {
                // Cryptol's own.
                if module == "Array" {
                    continue;
                }
                let name = format!("{}.cry", module.replace("::", "/"));
                let found = [folder, "spec/cryptol"].map(|folder| format!("{folder}/{name}"));
                let found = found.into_iter().find(|path| root.join(path).is_file());
                todo.push(found.ok_or_else(|| io::Error::other(format!("{file}: no module {module}")))?);
            }
        }
        match file.as_str() {
            // The prototypes are made from these.
            "proofs/saw/lib/common.saw" => {
                todo.extend(["jasmin/kernels.toml", bytes::INSTRUCTIONS].map(str::to_owned));
            }
            // These say how the kernel is cut, and lead from one iteration to any number.
            "proofs/saw/lib/loop.saw" => todo.push("proofs/tools/src/proofs/bytes.rs".to_owned()),
            LIFTED => todo.push("proofs/rocq/lib/Blocks.v".to_owned()),
            "proofs/saw/lib/rust.saw" | "proofs/saw/lib/shipped.saw" => {
                files.extend(rust::SOURCES.map(str::to_owned));
            }
            _ => (),
        }
        // The hash in such a module is of the code, which is not always assembled again.
        for (level, kernel) in TABLE.proved() {
            let module = format!("{}/{}/{}.cry", lifted::FOLDER, level.name, kernel.name);
            if file == module && level.source != "jazz" {
                let folder = format!("jasmin/{}", level.name);
                todo.push(format!("{folder}/{}.{}", kernel.name, level.source));
                todo.extend(
                    (kernel.levels[&level.name].include.iter()).map(|include| format!("{folder}/{include}")),
                );
                let backend = format!("rust/src/backend/{}", level.backend);
                // Levels for lanes have their kernels in mod.rs.
                let kernels = ["kernels.rs", "mod.rs"]
                    .map(|name| format!("{backend}/{name}"))
                    .into_iter()
                    .find(|file| root.join(file).is_file())
                    .unwrap_or_else(|| format!("{backend}/kernels.rs"));
                todo.extend([kernels, format!("{backend}/declarations.rs")]);
                todo.push(lifted::KERNELS_RS.to_owned());
            }
        }
        files.push(file);
    }
    files[1..].sort();
    Ok(files)
}
