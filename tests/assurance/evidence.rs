//! What is known: `proofs/inventory.toml` about the modules, `jasmin/kernels.toml` with the theorems about the kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use veriplex_benches::record::Record;
use veriplex_lift::table::{Argument, Buffer, Kernel, Level};

/// `proofs/inventory.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// What each status means.
    pub statuses: BTreeMap<String, String>,
    /// Public modules, and public items of the root, by name.
    pub modules: BTreeMap<String, Module>,
    /// What users call, by the theorem of SAW about it.
    pub calls: BTreeMap<String, Call>,
    /// By name.
    pub assumptions: BTreeMap<String, Assumption>,
}

/// A public module, or an item of the root.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// One of the statuses.
    pub status: String,
    /// Further items of the root.
    #[serde(default)]
    pub with: Vec<String>,
    /// Of `THEOREMS.txt`: its Rust as LLVM bitcode.
    #[serde(default)]
    pub objects: Vec<String>,
    /// In Rocq, about a model of it.
    #[serde(default)]
    pub theorems: Vec<String>,
    /// How the names of the kernels begin that it runs.
    #[serde(default)]
    pub kernels: Vec<String>,
    /// Files and folders.
    pub tests: Vec<String>,
}

/// What a theorem says about a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// A public function, by its path in the crate.
    pub call: String,
    /// The lengths of data for which it holds.
    pub lengths: String,
}

/// Something that a theorem takes for granted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// What is assumed.
    pub what: String,
    /// Why it is plausible.
    pub because: String,
    /// Tests, `FILE::TEST`, and commands, `make TARGET`, that would reveal a mistake.
    pub checks: Vec<String>,
}

/// The theorems about a kernel.
#[derive(Debug)]
pub struct Proofs {
    /// SAW's, about the lifted code: all that are needed, or none.
    pub lifted: Vec<String>,
    /// SAW's, with its own model of the instructions (macaw).
    pub macaw: Vec<String>,
    /// Rocq's, about the bytes.
    pub rocq: Option<String>,
    /// Rocq's, which extends one iteration to any number of blocks.
    pub every_n: Option<&'static str>,
}

/// Every theorem.
#[derive(Debug)]
pub struct Theorems {
    /// SAW's, as `make proofs` found them: the object of each.
    pub saw: BTreeMap<String, String>,
    /// What each of them rests on.
    pub assumptions: BTreeMap<String, String>,
    /// Those that `make rocq` checks.
    pub rocq: BTreeSet<String>,
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What `make bench` measured: the files of `benches/results`.
///
/// # Panics
///
/// If one is no record.
#[must_use]
pub fn records() -> Vec<Record> {
    let mut files = files_under("benches/results");
    files.sort();
    let parse = |file| toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    files.iter().map(parse).collect()
}

/// The files in a folder of the repository and in those in it, without what is built there.
///
/// # Panics
///
/// If one of the folders cannot be read.
#[must_use]
pub fn files_under(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !path.is_dir() {
                files.push(path);
            } else if !["target", "build", "vendor"].contains(&&*name) && !name.starts_with('.') {
                folders.push(path);
            }
        }
    }
    files
}

/// A file, by its path from the root.
///
/// # Panics
///
/// If it cannot be read.
#[must_use]
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The inventory.
///
/// # Panics
///
/// If it is malformed.
#[must_use]
pub fn inventory() -> Inventory {
    toml::from_str(&read("proofs/inventory.toml")).unwrap_or_else(|e| panic!("proofs/inventory.toml: {e}"))
}

/// The theorem that extends one loop iteration of a kernel to any number of blocks. Those of Xoofff compute several
/// blocks in an iteration, and their specification one after the other; where registers do not suffice, their state is
/// in memory.
fn every_n(level: &Level, kernel: &Kernel) -> &'static str {
    let in_memory = (kernel.levels.get(&level.name)).is_some_and(|needs| needs.state_in_memory);
    let buffers = kernel.arguments.iter().filter_map(Argument::buffer);
    let blocks: Vec<Buffer> = buffers.filter(|buffer| buffer.stride.is_some()).collect();
    let is_xoofff = kernel.has_lanes() && kernel.cryptol.starts_with("Xoofff::");
    if kernel.has_pointers() {
        "lanes_for_every_n"
    } else if blocks.len() > 1 && !blocks.iter().any(|buffer| buffer.writable) {
        "reads_for_every_n"
    } else if is_xoofff && in_memory {
        "groups_in_memory_for_every_n"
    } else if is_xoofff {
        "groups_for_every_n"
    } else {
        "blocks_for_every_n"
    }
}

/// The theorems that together prove lifted code for every input and any number of blocks. The permutation takes no
/// blocks. A loop needs its step (in place too, if the kernel allows it) and its exit.
fn needed(level: &Level, kernel: &Kernel) -> Vec<String> {
    let parts: &[&str] = match (kernel.has_count(), kernel.in_place()) {
        (false, _) => &["thm"],
        (true, false) => &["step_thm", "exit_thm"],
        (true, true) => &["step_thm", "step_in_place_thm", "exit_thm"],
    };
    let name = |part| format!("{}{}_lifted_{part}", level.theorems, kernel.name);
    parts.iter().map(name).collect()
}

impl Theorems {
    /// Reads them.
    ///
    /// # Panics
    ///
    /// If the files are not as `make proofs` and `make rocq` need them.
    #[must_use]
    pub fn read() -> Self {
        let manifest: serde_json::Value =
            serde_json::from_str(&read("proofs/generated/manifest.json")).expect("the manifest is JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let saw = manifest["theorems"].as_array().expect("a list of theorems");
        let rocq = read("proofs/rocq/Statements.v");
        let rocq = (rocq.lines())
            .filter_map(|line| line.strip_prefix("Check ")?.strip_suffix('.'))
            .map(|path| path.rsplit('.').next().unwrap_or(path).to_owned());
        let by_name = |key: &str| {
            let pairs = saw
                .iter()
                .map(|theorem| (text(&theorem["name"]), text(&theorem[key])));
            pairs.collect()
        };
        Self {
            saw: by_name("object"),
            assumptions: by_name("assumptions"),
            rocq: rocq.collect(),
        }
    }

    /// Those about a kernel.
    #[must_use]
    pub fn of_kernel(&self, level: &Level, kernel: &Kernel) -> Proofs {
        let lifted = needed(level, kernel);
        let every_n = kernel.has_count().then(|| every_n(level, kernel));
        let complete = (lifted.iter()).all(|name| self.saw.contains_key(name))
            && every_n.is_none_or(|name| self.rocq.contains(name));
        let object = format!("{}/{}", level.name, kernel.name);
        let is_macaw = |(name, of): &(&String, &String)| **of == object && !name.contains("_lifted_");
        let bare = ["simpira1024_", "duplex_"]
            .iter()
            .find_map(|prefix| kernel.name.strip_prefix(prefix))
            .unwrap_or(&kernel.name);
        let set = level.backend.split('/').next().unwrap_or_default();
        let rocq = format!("{bare}_{set}");
        Proofs {
            lifted: if complete { lifted } else { Vec::new() },
            macaw: (self.saw.iter().filter(is_macaw))
                .map(|(name, _)| name.clone())
                .collect(),
            rocq: self.rocq.contains(&rocq).then_some(rocq),
            every_n,
        }
    }
}
