//! What is known about each item: `proofs/inventory.toml`, completed from `jasmin/kernels.toml` and `proofs/THEOREMS.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use veriplex_lift::table::{Argument, Buffer, Kernel, Level, TABLE};

/// `proofs/inventory.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// What each status means.
    pub statuses: BTreeMap<String, String>,
    /// By name.
    pub assumptions: BTreeMap<String, Assumption>,
    /// One for each level with proved kernels.
    pub kernels: Vec<Kernels>,
    /// Those of `jasmin/unproved.toml`.
    pub unproved_kernels: Unproved,
    /// Those of the kernels are made from the rest.
    pub operation: Vec<Operation>,
    /// Every public item is in one.
    pub api: Vec<Api>,
}

/// Something that a theorem or a test takes for granted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// What is assumed.
    pub what: String,
    /// Why it is plausible.
    pub because: String,
    /// Of `THEOREMS.txt` and of Rocq.
    #[serde(default)]
    pub theorems: Vec<String>,
    /// Commands and tests that would reveal a mistake.
    #[serde(default)]
    pub checks: Vec<String>,
}

/// What the kernels of a level share. The rest of each entry comes from the table and the theorems.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// Its name.
    pub level: String,
    /// Commands and tests.
    pub constant_time: Vec<String>,
    /// `FILE::TEST`, or `make TARGET`.
    pub tests: Vec<String>,
    /// In addition to the assumptions of the theorems.
    pub assumptions: Vec<String>,
}

/// What kernels that are not proved have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unproved {
    /// Commands and tests.
    pub constant_time: Vec<String>,
    /// `FILE::TEST`, or `make TARGET`.
    pub tests: Vec<String>,
    /// Names of assumptions.
    pub assumptions: Vec<String>,
}

/// An operation of a backend: the code that does the computing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Those of the kernels, or of a backend's functions.
    pub names: Vec<String>,
    /// `LEVEL kernels`, or a backend without kernels.
    pub backend: String,
    /// Files.
    #[serde(default)]
    pub code: Vec<String>,
    /// One of the statuses.
    pub status: String,
    /// Of `THEOREMS.txt` and of Rocq.
    #[serde(default)]
    pub theorems: Vec<String>,
    /// Commands and tests.
    #[serde(default)]
    pub constant_time: Vec<String>,
    /// `FILE::TEST`, or `make TARGET`.
    pub tests: Vec<String>,
    /// Names of assumptions.
    pub assumptions: Vec<String>,
}

/// Public items, and the Rust code between them and the operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// What they are for.
    pub what: String,
    /// Their paths in the crate.
    pub items: Vec<String>,
    /// What it calls.
    #[serde(default)]
    pub operations: Vec<String>,
    /// Whether it also runs these operations on several states at once, where there are kernels for that.
    #[serde(default)]
    pub lanes: bool,
    /// One of the statuses.
    pub status: String,
    /// Of `THEOREMS.txt` and of Rocq.
    #[serde(default)]
    pub theorems: Vec<String>,
    /// `FILE::TEST`, or `make TARGET`.
    pub tests: Vec<String>,
    /// Tests that use the items without naming any, and how.
    #[serde(default)]
    pub indirect: BTreeMap<String, String>,
    /// Names of assumptions.
    #[serde(default)]
    pub assumptions: Vec<String>,
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
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

/// The inventory, with the operations of the kernels in it.
///
/// # Panics
///
/// If it is malformed, or has nothing about the kernels of a level.
#[must_use]
pub fn inventory() -> Inventory {
    let mut inventory: Inventory = toml::from_str(&read("proofs/inventory.toml"))
        .unwrap_or_else(|e| panic!("proofs/inventory.toml: {e}"));
    let mut operations = Vec::new();
    for (level, kernel) in TABLE.all() {
        if kernel.unproved.is_some() {
            operations.push(unproved_entry(level, kernel, &inventory.unproved_kernels));
            continue;
        }
        let common = inventory
            .kernels
            .iter()
            .find(|kernels| kernels.level == level.name);
        let common =
            common.unwrap_or_else(|| panic!("proofs/inventory.toml: no [[kernels]] for {}", level.name));
        operations.push(kernel_entry(level, kernel, common));
    }
    operations.append(&mut inventory.operation);
    inventory.operation = operations;
    inventory
}

/// The theorem that extends one loop iteration of a kernel to any number of blocks. Those of Xoofff compute several blocks in
/// an iteration, and their specification one after the other; where registers do not suffice, their state is in memory.
#[must_use]
pub fn every_n(level: &Level, kernel: &Kernel) -> &'static str {
    let in_memory = (kernel.levels.get(&level.name)).is_some_and(|needs| needs.state_in_memory);
    let buffers = kernel.arguments.iter().filter_map(Argument::buffer);
    let blocks: Vec<Buffer> = buffers.filter(|buffer| buffer.stride.is_some()).collect();
    if kernel.has_pointers() {
        "lanes_for_every_n"
    } else if blocks.len() > 1 && !blocks.iter().any(|buffer| buffer.writable) {
        "reads_for_every_n"
    } else if kernel.has_lanes() && kernel.cryptol.starts_with("Xoofff::") && in_memory {
        "groups_in_memory_for_every_n"
    } else if kernel.has_lanes() && kernel.cryptol.starts_with("Xoofff::") {
        "groups_for_every_n"
    } else {
        "blocks_for_every_n"
    }
}

/// The theorems that together prove a kernel for every input and any number of blocks. The permutation takes no blocks.
/// A loop needs its step (in place too, if the kernel allows it) and its exit.
#[must_use]
pub fn needed(level: &Level, kernel: &Kernel) -> Vec<String> {
    let parts: &[&str] = match (kernel.has_count(), kernel.in_place()) {
        (false, _) => &["thm"],
        (true, false) => &["step_thm", "exit_thm"],
        (true, true) => &["step_thm", "step_in_place_thm", "exit_thm"],
    };
    parts
        .iter()
        .map(|part| format!("{}{}_lifted_{part}", level.theorems, kernel.name))
        .collect()
}

fn unproved_entry(level: &Level, kernel: &Kernel, common: &Unproved) -> Operation {
    Operation {
        names: vec![kernel.name.clone()],
        backend: format!("{} kernels", level.name),
        code: Vec::new(),
        status: "tested".to_owned(),
        theorems: Vec::new(),
        constant_time: common.constant_time.clone(),
        tests: common.tests.clone(),
        assumptions: common.assumptions.clone(),
    }
}

fn kernel_entry(level: &Level, kernel: &Kernel, common: &Kernels) -> Operation {
    let object = format!("{}/{}", level.name, kernel.name);
    let tables: Vec<&str> = kernel.arguments.iter().filter_map(Argument::table).collect();
    let saw = saw_theorems();
    let own = saw
        .iter()
        .filter(|(_, (of, _))| *of == object || tables.contains(&of.as_str()));
    let mut assumptions: BTreeSet<String> = common.assumptions.iter().cloned().collect();
    let mut theorems = Vec::new();
    for (name, (_, rests)) in own {
        theorems.push(name.clone());
        assumptions.extend(rests.iter().cloned());
    }
    let complete = needed(level, kernel).iter().all(|name| theorems.contains(name));
    if kernel.has_count() {
        theorems.insert(0, every_n(level, kernel).to_owned());
        assumptions.insert("rocq".to_owned());
    }
    Operation {
        names: vec![kernel.name.clone()],
        backend: format!("{} kernels", level.name),
        code: Vec::new(),
        status: if complete { "proved" } else { "proved-bounded" }.to_owned(),
        theorems,
        constant_time: common.constant_time.clone(),
        tests: common.tests.clone(),
        assumptions: assumptions.into_iter().collect(),
    }
}

/// `NAME_0..4` stands for five names.
#[must_use]
pub fn spread(name: &str) -> Vec<String> {
    let parts = name.split_once("..").and_then(|(head, last)| {
        let (stem, first) = head.rsplit_once('_')?;
        Some((stem, first.parse::<u32>().ok()?, last.parse::<u32>().ok()?))
    });
    match parts {
        Some((stem, first, last)) => (first..=last).map(|i| format!("{stem}_{i}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// SAW's theorems, each with its object and its assumptions, as `make proofs` found them.
///
/// # Panics
///
/// If the manifest is not as `make proofs` writes it.
#[must_use]
pub fn saw_theorems() -> BTreeMap<String, (String, Vec<String>)> {
    let manifest: serde_json::Value =
        serde_json::from_str(&read("proofs/generated/manifest.json")).expect("the manifest is JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let theorems = manifest["theorems"].as_array().expect("a list of theorems");
    theorems
        .iter()
        .map(|theorem| {
            let assumptions = text(&theorem["assumptions"]);
            let assumptions = assumptions.split_whitespace().map(str::to_owned).collect();
            (text(&theorem["name"]), (text(&theorem["object"]), assumptions))
        })
        .collect()
}

/// The theorems that `make rocq` checks.
///
/// # Panics
///
/// If there are none.
#[must_use]
pub fn rocq_theorems() -> BTreeSet<String> {
    let names: BTreeSet<String> = read("proofs/rocq/Statements.v")
        .lines()
        .filter_map(|line| line.strip_prefix("Check ")?.strip_suffix('.'))
        .map(|path| path.rsplit('.').next().unwrap_or(path).to_owned())
        .collect();
    assert!(!names.is_empty(), "no final theorem in proofs/rocq/Statements.v");
    names
}
