//! Checks that `proofs/inventory.toml` has a row for every public module, names only what exists and claims no more than
//! that shows, and that `SOUNDNESS.md` agrees with it and with the theorems about kernels. And that `docs/performance.md` shows
//! what was measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use syn::{Item, UseTree, Visibility};
use veriplex_assurance::evidence::{Theorems, files_under, inventory, read, records, root};
use veriplex_benches::record::Record;
use veriplex_lift::table::TABLE;

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

/// The names that a source file makes public.
fn public_names(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in syn::parse_file(source).unwrap().items {
        let (visibility, name) = match item {
            Item::Const(i) => (i.vis, i.ident),
            Item::Enum(i) => (i.vis, i.ident),
            Item::Fn(i) => (i.vis, i.sig.ident),
            Item::Mod(i) => (i.vis, i.ident),
            Item::Static(i) => (i.vis, i.ident),
            Item::Struct(i) => (i.vis, i.ident),
            Item::Trait(i) => (i.vis, i.ident),
            Item::Type(i) => (i.vis, i.ident),
            // With a colon in front it is another crate.
            Item::Use(i) if i.leading_colon.is_none() && matches!(i.vis, Visibility::Public(_)) => {
                leaves(i.tree, &mut names);
                continue;
            }
            _ => continue,
        };
        if matches!(visibility, Visibility::Public(_)) {
            names.insert(name.to_string());
        }
    }
    names
}

fn leaves(tree: UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => leaves(*path.tree, names),
        UseTree::Name(name) => _ = names.insert(name.ident.to_string()),
        UseTree::Rename(name) => _ = names.insert(name.rename.to_string()),
        UseTree::Group(group) => group.items.into_iter().for_each(|tree| leaves(tree, names)),
        UseTree::Glob(_) => panic!("a public `use` with `*` hides what it exports"),
    }
}

#[test]
fn every_public_module_has_a_row() {
    let source =
        "mod a; pub mod b { pub fn inner() {} } pub use c::{D, e::F as G}; pub use ::h; pub(crate) fn i() {}
        #[cfg(test)] pub const fn j() {} use k::L;";
    assert_eq!(Vec::from_iter(public_names(source)), ["D", "G", "b", "j"]);

    let mut public = public_names(&read("rust/src/lib.rs"));
    assert!(public.len() > 35, "{public:?}");
    // It is text.
    public.remove("guide");
    let mut rows = BTreeSet::new();
    for (name, module) in inventory().modules {
        for name in module.with.into_iter().chain([name]) {
            assert!(rows.insert(name.clone()), "proofs/inventory.toml: {name} twice");
        }
    }
    assert_eq!(
        rows, public,
        "left: proofs/inventory.toml; right: rust/src/lib.rs"
    );
}

/// The text of a file, or of all files in a folder.
fn text(path: &Path) -> Option<String> {
    if path.is_dir() {
        let files = fs::read_dir(path).ok()?;
        return files.map(|file| text(&file.ok()?.path())).collect();
    }
    fs::read_to_string(path).ok()
}

#[test]
fn rows_name_what_exists_and_claim_no_more() {
    let inventory = inventory();
    let theorems = Theorems::read();
    let objects: BTreeSet<&String> = theorems.saw.values().collect();
    let mut claimed = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, module) in &inventory.modules {
        let mut require = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{name}: {what}"));
            }
        };
        for object in &module.objects {
            require(objects.contains(object), format!("no theorem about {object}"));
            require(claimed.insert(object), format!("{object} is in two rows"));
        }
        for theorem in &module.theorems {
            require(theorems.rocq.contains(theorem), format!("no theorem {theorem}"));
        }
        for family in &module.kernels {
            let mut kernels = TABLE.all().map(|(_, kernel)| &kernel.name);
            require(
                kernels.any(|kernel| kernel.starts_with(family)),
                format!("no kernel {family}"),
            );
        }
        let mut with_twin = false;
        for path in &module.tests {
            let text = text(&root().join(path)).unwrap_or_default();
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            require(
                words.any(|word| word == name),
                format!("{path} has no test of it"),
            );
            with_twin |= text.contains("veriplex_spec");
        }
        let supported = match module.status.as_str() {
            "proved-in-part" => with_twin && !module.objects.is_empty(),
            "specified-tested" => with_twin && module.objects.is_empty(),
            "tested" => !module.tests.is_empty() && module.objects.is_empty(),
            _ => false,
        };
        require(supported, format!("not {}", module.status));
        require(
            inventory.statuses.contains_key(&module.status),
            "an unknown status".to_owned(),
        );
    }
    for (name, assumption) in &inventory.assumptions {
        for check in assumption.checks.iter().filter(|check| !check_exists(check)) {
            wrong.push(format!("assumption {name}: no {check}"));
        }
    }
    // Steps, tables and forms of instructions belong to the theorems about kernels.
    for object in objects {
        let of_kernels = object.contains('/') || TABLE.is_constants(object);
        if !of_kernels && object != "spec" && object != "instructions" && !claimed.contains(object) {
            wrong.push(format!("{object}: in no row"));
        }
    }
    assert!(wrong.is_empty(), "proofs/inventory.toml:\n{}", wrong.join("\n"));
}

/// The calls with a theorem exist, and so do the theorems. A theorem about the Rust of a module is about a call, or about a
/// part of one.
#[test]
fn calls_have_their_theorems() {
    let (calls, theorems) = (inventory().calls, Theorems::read());
    let sources = [
        "rust/src/duplex",
        "rust/src/protocol",
        "rust/src/primitives/poly1305",
    ];
    let sources: String = sources.map(|folder| text(&root().join(folder)).unwrap()).concat();
    for (theorem, call) in &calls {
        assert!(theorems.saw.contains_key(theorem), "no theorem {theorem}");
        let (_, function) = call.call.rsplit_once("::").unwrap();
        let defined = ["pub fn ", "pub const fn "].map(|begin| format!("{begin}{function}"));
        assert!(
            defined.iter().any(|text| sources.contains(text)),
            "no {}",
            call.call
        );
    }
    let parts: Vec<&String> = (theorems.saw.iter())
        .filter(|(name, object)| {
            ["duplex", "protocol", "shipped", "shipped_aarch64"].contains(&&***object)
                && !calls.contains_key(*name)
        })
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        parts,
        [
            "duplex_absorb_byte_thm",
            "duplex_header_thm",
            "shipped_aarch64_absorb_partial_thm",
            "shipped_aarch64_decrypt_partial_thm",
            "shipped_aarch64_encrypt_partial_thm",
            "shipped_aarch64_squeeze_partial_thm",
            "shipped_absorb_partial_thm",
            "shipped_decrypt_partial_thm",
            "shipped_encrypt_partial_thm",
            "shipped_squeeze_partial_thm",
        ]
    );
}

/// Every kernel is proved, or is in jasmin/unproved.toml.
#[test]
fn kernels_are_proved() {
    let theorems = Theorems::read();
    for (level, kernel) in TABLE.all() {
        assert_eq!(
            theorems.of_kernel(level, kernel).lifted.is_empty(),
            kernel.unproved.is_some(),
            "{}/{}",
            level.name,
            kernel.name
        );
    }
}

#[test]
fn every_theorem_in_rocq_is_said_in_words() {
    let said: BTreeMap<String, String> = toml::from_str(&read("proofs/rocq/theorems.toml")).unwrap();
    let theorems = Theorems::read();
    let of_kernels: BTreeSet<String> = (TABLE.all())
        .filter_map(|(level, kernel)| theorems.of_kernel(level, kernel).rocq)
        .collect();
    for name in &theorems.rocq {
        let of_kernel = of_kernels.contains(&name.replace("_in_place", ""));
        assert!(of_kernel || said.contains_key(name), "{name}");
    }
    for name in said.keys() {
        assert!(theorems.rocq.contains(name), "{name}: no such theorem");
    }
}

/// For each operation and level: how many states or blocks its kernels take at once, and which tools proved them.
fn kernels() -> String {
    let theorems = Theorems::read();
    let mut rows: Vec<(String, BTreeMap<&str, Vec<String>>)> = Vec::new();
    for (level, kernel) in TABLE.all() {
        let (operation, at_once) = kernel.name.rsplit_once("_x").unwrap_or((&kernel.name, "1"));
        let proofs = theorems.of_kernel(level, kernel);
        let mut evidence = String::new();
        for (letter, holds) in [
            ('S', !proofs.lifted.is_empty()),
            ('M', !proofs.macaw.is_empty()),
            ('R', proofs.rocq.is_some()),
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

/// A document has this text after the comment that begins with a name, or gets it.
fn shows(document: &str, name: &str, text: &str) {
    let page = read(document);
    let (head, rest) = page.split_once(&format!("<!-- {name}: ")).unwrap();
    let (comment, rest) = rest.split_once("-->\n").unwrap();
    let (shown, tail) = rest.split_once("<!-- end -->").unwrap();
    if std::env::var_os("VERIPLEX_UPDATE").is_some() {
        let page = format!("{head}<!-- {name}: {comment}-->\n{text}<!-- end -->{tail}");
        fs::write(root().join(document), page).unwrap();
    } else {
        assert!(
            shown == text,
            "the {name} in {document} are out of date: run VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test inventory"
        );
    }
}

#[test]
fn soundness_shows_the_kernels() {
    shows("SOUNDNESS.md", "kernels", &kernels());
}

#[test]
fn performance_shows_the_speeds() {
    let tables: String = records().iter().map(Record::tables).collect();
    shows("docs/performance.md", "speeds", &format!("{tables}\n"));
}

/// The files, tests and make targets that these pages name exist.
#[test]
fn pages_name_only_what_exists() {
    let mut seen = 0;
    for page in ["SOUNDNESS.md", "jasmin/README.md"] {
        let text = read(page);
        let beside = root().join(page);
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_test = quoted.contains(".rs::");
            let is_target = quoted.starts_with("make ") && quoted.split(' ').count() == 2;
            if is_test || is_target {
                assert!(check_exists(quoted), "{page}: no {quoted}");
                seen += 1;
            } else if quoted.contains('/') && !quoted.contains([' ', '<', '*']) {
                let exists = root().join(quoted).exists() || beside.with_file_name(quoted).exists();
                assert!(exists, "{page}: no {quoted}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

/// The quoted names of a document, such as those of theorems, that nothing in the sources defines.
fn undefined<'t>(text: &'t str, defined: &BTreeSet<String>) -> Vec<&'t str> {
    let is_name = |name: &str| {
        let inside = name.trim_matches('_').len() == name.len() && name.contains('_');
        inside
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    (text.split('`').skip(1).step_by(2))
        .map(|quoted| quoted.rsplit_once('.').map_or(quoted, |(_, name)| name))
        .filter(|name| is_name(name) && !defined.contains(*name))
        // Kernels for several states.
        .filter(|name| {
            !defined
                .iter()
                .any(|kernel| kernel.starts_with(&format!("{name}_x")))
        })
        .collect()
}

/// The names that sources in this folder define.
fn definitions(folder: &str, names: &mut BTreeSet<String>) {
    const DEFINING: [&str; 14] = [
        "fn",
        "mod",
        "struct",
        "const",
        "static",
        "property",
        "Lemma",
        "Theorem",
        "Corollary",
        "Definition",
        "Fixpoint",
        "Inductive",
        "Record",
        "Example",
    ];
    for path in files_under(folder) {
        if (path.extension()).is_some_and(|end| ["cry", "rs", "v"].iter().any(|own| end == *own)) {
            let text = fs::read_to_string(path).unwrap();
            let words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            let defined = words.windows(2).filter(|pair| DEFINING.contains(&pair[0]));
            names.extend(defined.map(|pair| pair[1].to_owned()));
        }
    }
}

/// A name in a document outlives what it names only until this test.
#[test]
fn documents_name_only_what_is_defined() {
    let theorems = Theorems::read();
    let mut defined: BTreeSet<String> = theorems.rocq.iter().chain(theorems.saw.keys()).cloned().collect();
    defined.extend(TABLE.all().map(|(_, kernel)| kernel.name.clone()));
    for folder in ["proofs", "rust", "spec", "tests"] {
        definitions(folder, &mut defined);
    }
    let planted = "`transcript_injective`, `Sound.kernels_in_protocol_x86_64`, `simpira1024_permute`, `no_theorem_of_this_name`";
    assert_eq!(undefined(planted, &defined), ["no_theorem_of_this_name"]);
    for document in [
        "README.md",
        "SECURITY.md",
        "SOUNDNESS.md",
        "design.md",
        "jasmin/README.md",
        "proofs/README.md",
        "proofs/model/README.md",
        "proofs/rocq/README.md",
        "proofs/rocq/bound/README.md",
        "spec/README.md",
    ] {
        assert_eq!(
            undefined(&read(document), &defined),
            Vec::<&str>::new(),
            "{document}"
        );
    }
}
