//! Checks that `proofs/inventory.toml` covers the public API and names only what exists, and that `proofs/INVENTORY.md`
//! is up to date with it, `jasmin/kernels.toml` and `proofs/THEOREMS.txt`.

#[path = "inventory/cited.rs"]
mod cited;
#[path = "inventory/public.rs"]
mod public;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use veriplex_assurance::evidence::{
    Inventory, Operation, every_n, inventory, needed, read, rocq_theorems, root, saw_theorems, spread,
};
use veriplex_lift::table::TABLE;

/// The operations of a backend without kernels.
const OPERATIONS: [&str; 5] = [
    "permute",
    "absorb_blocks",
    "encrypt_blocks",
    "decrypt_blocks",
    "squeeze_blocks",
];
const BACKENDS: [&str; 3] = ["x86_64 intrinsics", "aarch64 intrinsics", "portable"];
const PAGE: &str = "proofs/INVENTORY.md";

/// The object of the theorems about an operation of a backend. Intrinsics have no theorems.
fn object_of(backend: &str, operation: &str) -> Option<String> {
    match backend.strip_suffix(" kernels") {
        Some(level) => Some(format!("{level}/{operation}")),
        None => (backend == "portable").then(|| backend.to_owned()),
    }
}

/// Whether `make TARGET` or `FILE::TEST` exists. An ignored test counts only if a Makefile runs it by name.
fn check_exists(name: &str) -> bool {
    if let Some(target) = name.strip_prefix("make ") {
        return read("Makefile")
            .lines()
            .any(|line| line.starts_with(&format!("{target}:")));
    }
    let Some((file, test)) = name.split_once("::") else {
        return false;
    };
    let Ok(text) = fs::read_to_string(root().join(file)) else {
        return false;
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(number, line)| {
        let mut attributes = lines[..number]
            .iter()
            .rev()
            .take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        line.starts_with(&format!("fn {test}("))
            && attributes.clone().any(|line| *line == "#[test]")
            && (attributes.all(|line| !line.starts_with("#[ignore"))
                || ["Makefile", "proofs/rocq/Makefile"]
                    .map(read)
                    .iter()
                    .any(|text| text.contains(test)))
    })
}

#[test]
fn every_public_item_has_one_entry() {
    let public = public::items(&root().join("rust/src/lib.rs"));
    assert!(public.len() > 100, "{public:?}");
    let mut listed = BTreeSet::new();
    let mut wrong = Vec::new();
    for item in inventory().api.iter().flat_map(|api| &api.items) {
        if !listed.insert(item.clone()) {
            wrong.push(format!("{item}: twice"));
        }
    }
    wrong.extend(public.difference(&listed).map(|item| format!("{item}: no entry")));
    wrong.extend(
        listed
            .difference(&public)
            .map(|item| format!("{item}: no such item")),
    );
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

/// The source walker finds everything it should.
#[test]
fn public_items_are_found() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("public");
    fs::create_dir_all(&folder).unwrap();
    let lib = folder.join("lib.rs");
    fs::write(
        &lib,
        r"
        mod hidden { pub struct NotReached; pub fn not_reached() {} pub use super::deep::Twice; }
        mod deep {
            pub struct Twice(u8);
            pub(crate) struct Private;
            impl Twice { pub const C: u8 = 1; pub fn open(&self) {} fn closed(&self) {} pub(crate) fn half(&self) {} }
            macro_rules! more { ($($t:ident),*) => {$( impl<'a> $t<'a> { pub fn made(&self) {} } )*}; }
            more!(Twice);
            macro_rules! traits { ($($t:ident),*) => {$( impl Drop for $t<'_> { fn drop(&mut self) {} } )*}; }
            traits!(Twice);
            #[cfg(test)] mod tests { pub struct Test; impl super::Twice { pub fn in_tests() {} } }
        }
        pub mod open { pub use crate::hidden::Twice as Renamed; pub enum E { A, B(u8) } pub type T = E; }
        pub use deep::Twice;
        pub use file::{f, inner::g};
        mod room { pub mod inner { pub struct In; } }
        pub use room::inner;
        impl Clone for inner::In { fn clone(&self) -> Self { todo!() } }
        mod file;
        impl Clone for Twice { fn clone(&self) -> Self { todo!() } }
        impl core::cmp::PartialEq<u8> for open::E {}
        pub trait Open { const D: u8; type Out; fn required(&self); fn provided(&self) {} }
        trait Closed { fn hidden(&self); }
        pub const C: u8 = 0;
        #[macro_export] macro_rules! exported { () => {}; }
        macro_rules! local { () => {}; }
        ",
    )
    .unwrap();
    fs::write(
        folder.join("file.rs"),
        "pub fn f() {} pub mod inner; pub fn h() {}",
    )
    .unwrap();
    fs::create_dir_all(folder.join("file")).unwrap();
    fs::write(
        folder.join("file/inner.rs"),
        "pub fn g() {} pub static S: u8 = 0;",
    )
    .unwrap();
    let found: Vec<String> = public::items(&lib).into_iter().collect();
    let expected = [
        "C",
        "Open",
        "Open::D",
        "Open::Out",
        "Open::provided",
        "Open::required",
        "Twice",
        "Twice as Clone",
        "Twice as Drop",
        "Twice::C",
        "Twice::made",
        "Twice::open",
        "exported!",
        "f",
        "g",
        "inner::In",
        "inner::In as Clone",
        "open::E",
        "open::E as PartialEq",
        "open::E::A",
        "open::E::B",
        "open::Renamed",
        "open::Renamed as Clone",
        "open::Renamed as Drop",
        "open::Renamed::C",
        "open::Renamed::made",
        "open::Renamed::open",
        "open::T",
        "open::T as PartialEq",
        "open::T::A",
        "open::T::B",
    ];
    assert_eq!(found, expected);
}

#[test]
fn entries_name_only_what_exists() {
    let inventory = inventory();
    let saw = saw_theorems();
    let rocq = rocq_theorems();
    let mut wrong = Vec::new();
    let mut cited = BTreeSet::new();
    let mut used_assumptions = BTreeSet::new();

    let mut check =
        |entry: &str, status: &str, theorems: &[String], checks: &[&[String]], assumptions: &[String]| {
            if !inventory.statuses.contains_key(status) {
                wrong.push(format!("{entry}: unknown status {status}"));
            }
            for name in theorems.iter().flat_map(|name| spread(name)) {
                if !saw.contains_key(&name) && !rocq.contains(&name) {
                    wrong.push(format!("{entry}: no theorem {name}"));
                }
                cited.insert(name);
            }
            for name in checks.iter().flat_map(|names| names.iter()) {
                if !check_exists(name) {
                    wrong.push(format!("{entry}: no test or make target {name}"));
                }
            }
            for name in assumptions {
                if !inventory.assumptions.contains_key(name) {
                    wrong.push(format!("{entry}: unknown assumption {name}"));
                }
                used_assumptions.insert(name.clone());
            }
        };
    for o in &inventory.operation {
        let entry = format!("{} {}", o.backend, o.names.join(", "));
        check(
            &entry,
            &o.status,
            &o.theorems,
            &[&o.tests, &o.constant_time],
            &o.assumptions,
        );
    }
    for a in &inventory.api {
        check(&a.what, &a.status, &a.theorems, &[&a.tests], &a.assumptions);
    }
    for (name, a) in &inventory.assumptions {
        check(name, "tested", &a.theorems, &[&a.checks], &[]);
    }

    for o in &inventory.operation {
        for file in &o.code {
            if !root().join(file).is_file() {
                wrong.push(format!("{}: no file {file}", o.backend));
            }
        }
    }
    for name in inventory.assumptions.keys() {
        if !used_assumptions.contains(name) {
            wrong.push(format!("assumption {name}: no entry uses it"));
        }
    }
    // Lemmas that relate two definitions of the specification are steps, not claims about code.
    let claims = saw
        .iter()
        .filter(|(_, (object, _))| object != "spec")
        .map(|(name, _)| name);
    for name in claims.chain(&rocq) {
        if !cited.contains(name) {
            wrong.push(format!("theorem {name}: no entry uses it"));
        }
    }
    for backend in BACKENDS {
        for operation in OPERATIONS {
            let entries = inventory.operation.iter().filter(|o| o.backend == backend);
            let count = entries
                .filter(|o| o.names.iter().any(|name| name == operation))
                .count();
            if count != 1 {
                wrong.push(format!("{backend} {operation}: {count} entries"));
            }
        }
    }
    let is_kernels = |backend: &str| backend.ends_with(" kernels");
    for o in &inventory.operation {
        if !BACKENDS.contains(&o.backend.as_str()) && !is_kernels(&o.backend) {
            wrong.push(format!("unknown backend {}", o.backend));
        }
    }
    for common in &inventory.kernels {
        if TABLE.level(&common.level).is_none() {
            wrong.push(format!("unknown level {}", common.level));
        }
    }
    for name in inventory
        .operation
        .iter()
        .filter(|o| !is_kernels(&o.backend))
        .flat_map(|o| &o.names)
        .chain(inventory.api.iter().flat_map(|a| &a.operations))
    {
        if !OPERATIONS.contains(&name.as_str()) {
            wrong.push(format!("unknown operation {name}"));
        }
    }
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

/// The parts that run kernels for lanes are those of the modules that call what fills the lanes, and of `hazmat`, which
/// offers them.
#[test]
fn parts_with_lanes() {
    let inventory = inventory();
    let named: BTreeSet<String> = (inventory.api.iter().filter(|api| api.lanes))
        .flat_map(|api| &api.items)
        .map(|item| item.split("::").next().unwrap_or(item).to_owned())
        .collect();
    let calls = |path: &str| {
        let text = read(path);
        ["many::run(", "many::derive(", "Batch::new("]
            .iter()
            .any(|call| text.contains(call))
    };
    let mut calling = BTreeSet::from(["hazmat".to_owned()]);
    for entry in fs::read_dir(root().join("rust/src/schemes")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("rust/src/schemes/{name}");
        let files = if name.contains('.') {
            vec![path]
        } else {
            let files = fs::read_dir(root().join(&path)).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            names
                .filter(|name| name.strip_suffix(".rs").is_some())
                .map(|name| format!("{path}/{name}"))
                .collect()
        };
        if files.iter().any(|file| calls(file)) {
            calling.insert(name.trim_end_matches(".rs").to_owned());
        }
    }
    assert_eq!(
        named, calling,
        "proofs/inventory.toml: `lanes = true` belongs to these"
    );
}

/// Tests that compare with the twin have names that begin like this.
const TWIN_TESTS: [&str; 6] = [
    "tests/twin.rs::",
    "tests/hybrid/twin.rs::",
    "tests/ristretto/twin.rs::",
    "tests/xoofff/twin.rs::",
    "tests/tree.rs::twin",
    "tests/seekable.rs::twin",
];

/// A status claims no more than the theorems and tests of its entry show.
#[test]
fn evidence_supports_statuses() {
    let inventory = inventory();
    let saw = saw_theorems();
    let rocq = rocq_theorems();
    let mut wrong = Vec::new();
    let twin = |tests: &[String]| {
        let is_twin = |test: &String| {
            TWIN_TESTS.iter().any(|tests| test.starts_with(tests)) || test.ends_with("_with_the_twin")
        };
        tests.iter().any(is_twin)
    };
    for o in &inventory.operation {
        let entry = format!("{} {}", o.backend, o.names.join(", "));
        let theorems: Vec<String> = o.theorems.iter().flat_map(|name| spread(name)).collect();
        let objects: Vec<Option<String>> = o.names.iter().map(|name| object_of(&o.backend, name)).collect();
        for name in &theorems {
            let of_entry = match saw.get(name) {
                Some((object, _)) if TABLE.is_constants(object) => o.backend.ends_with(" kernels"),
                Some((object, _)) => objects.contains(&Some(object.clone())),
                None => o.backend.ends_with(" kernels"),
            };
            if !of_entry {
                wrong.push(format!("{entry}: {name} is about something else"));
            }
        }
        let proved = |name: &String| {
            object_of(&o.backend, name).is_some_and(|object| {
                (theorems.iter()).any(|theorem| saw.get(theorem).is_some_and(|(of, _)| *of == object))
            })
        };
        let for_every_n = |name: &String| {
            let level = o
                .backend
                .strip_suffix(" kernels")
                .and_then(|level| TABLE.level(level));
            let Some((level, kernel)) = level.zip(TABLE.kernel(name)) else {
                return false;
            };
            let has = |theorem: &str| theorems.iter().any(|t| t == theorem);
            needed(level, kernel).iter().all(|theorem| has(theorem))
                && (!kernel.has_count()
                    || rocq.contains(every_n(level, kernel)) && has(every_n(level, kernel)))
        };
        let bitcode = |bounded: bool| {
            o.names.iter().all(|name| {
                let theorem = format!("portable_{name}_thm");
                let limited = |(_, rests): &(_, Vec<String>)| rests.iter().any(|name| name == "lengths");
                theorems.contains(&theorem) && saw.get(&theorem).is_some_and(|t| bounded || !limited(t))
            })
        };
        let supported = match o.status.as_str() {
            "proved" => o.names.iter().all(|name| proved(name) && for_every_n(name)),
            "proved-bounded" => o.names.iter().all(proved) && !o.names.iter().all(for_every_n),
            "proved-llvm" => bitcode(false) && twin(&o.tests),
            "proved-llvm-bounded" => bitcode(true) && twin(&o.tests),
            "specified-tested" => twin(&o.tests),
            "tested" => !o.tests.is_empty(),
            _ => false,
        };
        if !supported {
            wrong.push(format!("{entry}: not {}", o.status));
        }
        // Every kernel must be proved, or be one of those that jasmin/unproved.toml names.
        let unproved = |name: &String| TABLE.kernel(name).is_some_and(|kernel| kernel.unproved.is_some());
        let is_unproved = o.names.iter().all(unproved);
        if o.backend.ends_with(" kernels") && o.status != if is_unproved { "tested" } else { "proved" } {
            wrong.push(format!(
                "{entry}: proofs/THEOREMS.txt lacks a theorem about the lifted kernel"
            ));
        }
        if o.status.starts_with("proved") && o.assumptions.is_empty() {
            wrong.push(format!("{entry}: a proof must list its assumptions"));
        }
    }
    for a in &inventory.api {
        let supported = match a.status.as_str() {
            "specified-tested" => twin(&a.tests),
            "tested" => !a.tests.is_empty(),
            "not-covered" => a.tests.is_empty(),
            // In the Rust of the API, only the duplex has theorems, one for each function.
            "proved-llvm-bounded" => {
                let proved = |item: &String| {
                    item.strip_prefix("hazmat::Duplex::").is_none_or(|name| {
                        let theorem = format!("duplex_{name}_thm");
                        a.theorems.contains(&theorem)
                            && saw.get(&theorem).is_some_and(|(object, _)| object == "duplex")
                    })
                };
                a.items
                    .iter()
                    .all(|item| item.starts_with("hazmat::Duplex") && proved(item))
                    && twin(&a.tests)
            }
            _ => false,
        };
        if !supported {
            wrong.push(format!("{}: not {}", a.what, a.status));
        }
    }
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

/// An entry lists every assumption of its theorems.
#[test]
fn assumptions_of_theorems_are_those_of_their_entries() {
    let inventory = inventory();
    let saw = saw_theorems();
    let mut wrong = Vec::new();
    let operations = inventory
        .operation
        .iter()
        .map(|o| (&o.backend, &o.theorems, &o.assumptions));
    let apis = (inventory.api.iter()).map(|a| (&a.what, &a.theorems, &a.assumptions));
    for (entry, theorems, assumptions) in operations.chain(apis) {
        for theorem in theorems.iter().flat_map(|name| spread(name)) {
            let rests = match saw.get(&theorem) {
                Some((_, rests)) => rests.clone(),
                None => vec!["rocq".to_owned()],
            };
            for name in rests.iter().filter(|name| !assumptions.contains(name)) {
                wrong.push(format!("{entry}: {theorem} assumes {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

/// A cited test names an item of its entry, and each function of an entry is named by a test of it.
#[test]
fn cited_tests_use_the_items() {
    let mut reached = cited::Reached::new(root());
    let mut wrong = Vec::new();
    let inventory = inventory();
    // Of `module::Type::function` and `module::Type as Trait`.
    let path = |item: &str| item.split(" as ").next().unwrap_or(item).to_owned();
    let last = |item: &str| {
        let path = path(item);
        let last = path.rsplit("::").next().unwrap_or_default();
        last.trim_end_matches('!').to_owned()
    };
    let mut entries_with: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &inventory.api {
        let names: BTreeSet<String> = entry.items.iter().map(|item| last(item)).collect();
        for name in names {
            *entries_with.entry(name).or_default() += 1;
        }
    }
    for entry in &inventory.api {
        for test in entry.indirect.keys().filter(|test| !entry.tests.contains(test)) {
            wrong.push(format!("{}: {test} is not a test of it", entry.what));
        }
        let mut all = BTreeSet::new();
        for test in entry.tests.iter().filter(|test| !test.starts_with("make ")) {
            let names = reached.by(test);
            let imported = reached.imported(test);
            // Of a function in several entries, as `new` is, its module or type counts, also if the test's file imports it.
            let uses = |item: &String| {
                let path = path(item);
                let parts: Vec<&str> = path.split("::").collect();
                let common = usize::from(parts.len() > 1 && entries_with[&last(item)] > 1);
                let named = |part: &str| names.contains(part) || imported.contains(part);
                (parts[..parts.len() - common].iter()).any(|part| named(part.trim_end_matches('!')))
            };
            if entry.items.iter().any(uses) == entry.indirect.contains_key(test) {
                wrong.push(format!(
                    "{}: {test} uses none of the items, or is called indirect and names one",
                    entry.what
                ));
            }
            all.extend(names);
        }
        for item in &entry.items {
            let function = !item.contains(" as ") && last(item).starts_with(|c: char| c.is_ascii_lowercase());
            let covered = all.contains(&last(item)) || !entry.indirect.is_empty();
            if function && entry.status != "not-covered" && !covered {
                wrong.push(format!("{}: no test calls {item}", entry.what));
            }
        }
    }
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

#[test]
fn the_page_shows_the_inventory() {
    let page = page(&inventory());
    for line in page.lines() {
        assert!(line.chars().count() <= 260, "line too long: {line}");
    }
    if std::env::var_os("VERIPLEX_UPDATE").is_some() {
        fs::write(root().join(PAGE), page).unwrap();
    } else {
        assert!(
            read(PAGE) == page,
            "{PAGE} is out of date: run VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test inventory"
        );
    }
}

/// For each operation and level: how many states or blocks its kernels take at once, and which tools proved them.
fn kernels() -> String {
    let (saw, rocq) = (saw_theorems(), rocq_theorems());
    let mut rows: Vec<(String, BTreeMap<&str, Vec<String>>)> = Vec::new();
    for (level, kernel) in TABLE.all() {
        let object = format!("{}/{}", level.name, kernel.name);
        let (operation, at_once) = kernel.name.rsplit_once("_x").unwrap_or((&kernel.name, "1"));
        let by_macaw =
            |(name, (of, _)): (&String, &(String, Vec<String>))| *of == object && !name.contains("_lifted_");
        let bare = ["simpira1024_", "duplex_"]
            .iter()
            .find_map(|prefix| kernel.name.strip_prefix(prefix));
        let set = level.backend.split('/').next().unwrap();
        let mut evidence = String::new();
        for (letter, holds) in [
            (
                'S',
                needed(level, kernel).iter().all(|name| saw.contains_key(name)),
            ),
            ('M', saw.iter().any(by_macaw)),
            (
                'R',
                rocq.contains(&format!("{}_{set}", bare.unwrap_or(&kernel.name))),
            ),
        ] {
            evidence.extend(holds.then_some(letter));
        }
        if evidence.is_empty() {
            evidence += "tested";
        }
        if !rows.iter().any(|(name, _)| name == operation) {
            rows.push((operation.to_owned(), BTreeMap::new()));
        }
        let (_, cells) = rows.iter_mut().find(|(name, _)| name == operation).unwrap();
        cells
            .entry(&level.name)
            .or_default()
            .push(format!("{at_once}: {evidence}"));
    }
    let levels: Vec<&str> = TABLE.levels.iter().map(|level| level.name.as_str()).collect();
    let mut text = format!(
        "\n| operation | {} |\n|---{}|\n",
        levels.join(" | "),
        "|---".repeat(levels.len())
    );
    for (operation, cells) in rows {
        let cell = |level: &&str| cells.get(level).map_or(String::new(), |cell| cell.join("; "));
        let cells: Vec<String> = levels.iter().map(cell).collect();
        writeln!(text, "| `{operation}` | {} |", cells.join(" | ")).unwrap();
    }
    text + "\n"
}

#[test]
fn soundness_shows_the_kernels() {
    let page = read("SOUNDNESS.md");
    let (head, rest) = page.split_once("<!-- kernels: ").unwrap();
    let (comment, rest) = rest.split_once("-->\n").unwrap();
    let (table, tail) = rest.split_once("<!-- end -->").unwrap();
    if std::env::var_os("VERIPLEX_UPDATE").is_some() {
        let page = format!(
            "{head}<!-- kernels: {comment}-->\n{}<!-- end -->{tail}",
            kernels()
        );
        fs::write(root().join("SOUNDNESS.md"), page).unwrap();
    } else {
        assert!(
            table == kernels(),
            "the kernels in SOUNDNESS.md are out of date: run VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test inventory"
        );
    }
}

/// The tests and make targets named in `SOUNDNESS.md` exist.
#[test]
fn soundness_names_only_what_exists() {
    let text = read("SOUNDNESS.md");
    let is_kernel = |name: &str| {
        TABLE
            .all()
            .any(|(level, kernel)| name == format!("{}/{}", level.name, kernel.name))
    };
    let mut seen = 0;
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_test = quoted.contains(".rs::");
        let is_target = quoted.starts_with("make ") && quoted.split(' ').count() == 2;
        if is_test || is_target {
            assert!(check_exists(quoted), "SOUNDNESS.md: no {quoted}");
            seen += 1;
        } else if quoted.contains('/') && !quoted.contains([' ', '<', '*']) {
            assert!(
                root().join(quoted).exists() || quoted.starts_with("target/") || is_kernel(quoted),
                "SOUNDNESS.md: no {quoted}"
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

/// The Cryptol definitions that the kernels among the operations compute.
fn definitions(operation: &Operation) -> Vec<String> {
    let kernels = operation.names.iter().filter_map(|name| TABLE.kernel(name));
    kernels.map(|kernel| kernel.cryptol.clone()).collect()
}

/// A list item: a title and names as code, wrapped.
fn entry(what: &str, names: &[String]) -> String {
    let mut text = format!("- {what}:");
    let mut width = text.len();
    for (i, name) in names.iter().enumerate() {
        let name = format!("`{name}`{}", if i + 1 == names.len() { "" } else { "," });
        if width + 1 + name.len() > 120 {
            text += "\n ";
            width = 1;
        }
        width += 1 + name.len();
        text = text + " " + &name;
    }
    if names.is_empty() {
        String::new()
    } else {
        text + "\n"
    }
}

/// Wraps words into lines.
fn wrapped(words: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in words.split_whitespace() {
        if width > 0 && width + 1 + word.chars().count() > 120 {
            text += "\n";
            width = 0;
        } else if width > 0 {
            text += " ";
            width += 1;
        }
        width += word.chars().count();
        text += word;
    }
    text + "\n"
}

fn page(inventory: &Inventory) -> String {
    let mut text = "# Inventory

Every public item and every operation: what is proved or tested about it, and what that assumes.
[SOUNDNESS.md](../SOUNDNESS.md) explains what this adds up to. Do not edit this page: it is generated from
`inventory.toml`, `THEOREMS.txt` and `jasmin/kernels.toml` by
`VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test inventory`.

| status | meaning |
|---|---|
"
    .to_owned();
    for (name, meaning) in &inventory.statuses {
        writeln!(text, "| {name} | {meaning} |").unwrap();
    }
    text += "\n## Operations: the code that computes\n\n| operation | backend | status |\n|---|---|---|\n";
    for o in &inventory.operation {
        for name in &o.names {
            writeln!(text, "| `{name}` | {} | {} |", o.backend, o.status).unwrap();
        }
    }
    for o in &inventory.operation {
        writeln!(text, "\n### {}: {}\n", o.backend, o.names.join(", ")).unwrap();
        text += &entry("computes", &definitions(o));
        text += &entry("theorems", &o.theorems);
        text += &entry("constant time", &o.constant_time);
        text += &entry("tests", &o.tests);
        text += &entry("rests on", &o.assumptions);
    }
    text +=
        "\n## API: the Rust around the operations\n\n| item | status of the Rust | part |\n|---|---|---|\n";
    let mut items: Vec<_> = (inventory.api.iter())
        .flat_map(|a| a.items.iter().map(move |item| (item, a)))
        .collect();
    items.sort_by_key(|(item, _)| *item);
    for (item, a) in items {
        writeln!(text, "| `{item}` | {} | {} |", a.status, a.what).unwrap();
    }
    for a in &inventory.api {
        writeln!(text, "\n### {}\n", a.what).unwrap();
        writeln!(text, "- status: {}", a.status).unwrap();
        text += &entry("uses", &a.operations);
        if a.lanes {
            text += "- these also on several states at once\n";
        }
        text += &entry("theorems", &a.theorems);
        text += &entry("tests", &a.tests);
        text += &entry("rests on", &a.assumptions);
    }
    text += "\n## Assumptions\n";
    for (name, a) in &inventory.assumptions {
        writeln!(text, "\n### {name}\n").unwrap();
        text += &wrapped(&format!("Assumed: {}.", a.what));
        text += &wrapped(&format!("Because {}.", a.because));
        if !a.theorems.is_empty() || !a.checks.is_empty() {
            text.push('\n');
        }
        text += &entry("theorems", &a.theorems);
        text += &entry("checked by", &a.checks);
    }
    text
}
