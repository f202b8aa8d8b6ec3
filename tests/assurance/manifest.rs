//! Checks `proofs/generated/manifest.json`: its theorems are those in `proofs/THEOREMS.txt`, the files that they depend
//! on are unchanged, and the kernels in this very program are the bytes that were proved. `make proofs` rewrites the
//! manifest.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use veriplex_assurance::evidence::{files_under, inventory, root};
use veriplex_lift::table::TABLE;
use veriplex_lift::{packages, sha256};

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
#[path = "linked.rs"]
mod addresses;

const STALE: &str = "is not what was proved: run `make proofs`";

fn manifest() -> Value {
    let text = std::fs::read(root().join("proofs/generated/manifest.json")).unwrap();
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

/// Whether a script's theorems are about a lifted kernel, or about one that is cut: what the script includes shows it.
fn includes(manifest: &Value, script: &str, file: &str) -> bool {
    let files = manifest["scripts"][script].as_array().unwrap();
    files.iter().any(|f| *f == *format!("proofs/saw/lib/{file}"))
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
            ["name", "object"].map(|key| t[key].as_str().unwrap()).to_vec()
        })
        .collect();
    let lacks = |here: &[Vec<&str>], there: &[Vec<&str>]| -> Vec<String> {
        let missing = there.iter().filter(|line| !here.contains(line));
        missing.map(|line| line.join(" ")).collect()
    };
    let (not_proved, not_listed) = (lacks(&proved, &listed), lacks(&listed, &proved));
    assert!(
        proved == listed,
        "the list of theorems {STALE}: only in the list {not_proved:?}, only proved {not_listed:?}"
    );
}

#[test]
fn every_assumption_has_its_entry() {
    let assumptions = inventory().assumptions;
    for theorem in theorems(&manifest()) {
        for name in theorem["assumptions"].as_str().unwrap().split_whitespace() {
            assert!(
                assumptions.contains_key(name),
                "{name} is not in proofs/inventory.toml"
            );
        }
    }
}

/// What runs the proofs is among the files.
#[test]
fn the_tools_are_those_of_the_proofs() {
    let manifest = manifest();
    let mut files = [
        "THEOREMS.txt",
        "tools/src/main.rs",
        "tools/src/parallel.rs",
        "tools/src/proofs.rs",
    ]
    .map(|file| format!("proofs/{file}"))
    .to_vec();
    for folder in ["proofs/tools/src/proofs", "proofs/lift/src"] {
        let paths = files_under(folder).into_iter();
        files.extend(paths.map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned()));
    }
    assert!(files.len() > 10);
    for file in files {
        assert!(!manifest["files"][&file].is_null(), "{file} {STALE}");
    }
}

/// And so are the crates of other people that they and the bitcode need.
#[test]
fn the_packages_are_those_of_the_proofs() {
    let recorded: BTreeMap<String, String> = serde_json::from_value(manifest()["packages"].clone()).unwrap();
    assert!(recorded.keys().any(|name| name.starts_with("iced-x86 ")));
    assert_eq!(packages::of_the_proofs(&root()).unwrap(), recorded, "{STALE}");
}

/// SAW loads a module from the first folder that has one with its name.
#[test]
fn no_module_shadows_the_specification() {
    let names = |folder: &str| -> BTreeSet<String> {
        // A level without proofs has no such folder.
        let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten();
        (entries.map(|entry| entry.unwrap().file_name().into_string().unwrap())).collect()
    };
    let specification = names("spec/cryptol");
    assert!(specification.contains("AES.cry") && specification.contains("Duplex.cry"));
    let mut folders = vec!["proofs/saw/lib".to_owned(), "proofs/saw/rust".to_owned()];
    for level in &TABLE.levels {
        folders.extend(["saw", "generated/lifted"].map(|folder| format!("proofs/{folder}/{}", level.name)));
    }
    for folder in &folders {
        let hiding: Vec<String> = names(folder).intersection(&specification).cloned().collect();
        assert!(hiding.is_empty(), "{folder}: {hiding:?}");
        assert!(!root().join(folder).join("isa").exists(), "{folder}");
    }
    // Every theorem about code is about that specification.
    let manifest = manifest();
    for (script, files) in entries(&manifest, "scripts") {
        let has = |file: &str| files.as_array().unwrap().iter().any(|f| *f == *file);
        for file in ["AES", "Simpira1024", "Duplex"].map(|name| format!("spec/cryptol/{name}.cry")) {
            assert!(has(&file), "{script} does not use {file}");
        }
        // The theorem that extends one iteration to any number; the code that cuts the kernel.
        let lifted = includes(&manifest, script, "lifted.saw");
        assert_eq!(has("proofs/rocq/lib/Blocks.v"), lifted, "{script}");
        let cut = includes(&manifest, script, "loop.saw");
        assert_eq!(has("proofs/tools/src/proofs/bytes.rs"), cut, "{script}");
    }
}

/// The kernels are the only assembly, except for the instructions that set PSTATE.DIT. These tests find kernels by their
/// symbols, and would miss other assembly.
#[test]
fn kernels_are_all_the_assembly() {
    let mut with_assembly = files_under("rust/src");
    with_assembly.retain(|path| std::fs::read_to_string(path).unwrap().contains("asm!"));
    with_assembly.sort();
    let known = ["rust/src/backend/kernels.rs", "rust/src/base/timing.rs"];
    assert_eq!(with_assembly, known.map(|file| root().join(file)));
}

/// Kernels are called from the files that SOUNDNESS.md gives to read. What else is unsafe calls none.
#[test]
fn kernels_are_called_where_soundness_says() {
    let mut unsafe_code = files_under("rust/src");
    unsafe_code.retain(|path| std::fs::read_to_string(path).unwrap().contains("unsafe {"));
    let names: BTreeSet<&str> = (unsafe_code.iter())
        .map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap())
        .collect();
    let calls = [
        "rust/src/backend/chacha.rs",
        "rust/src/backend/kernels.rs",
        "rust/src/backend/mod.rs",
        "rust/src/backend/nh.rs",
        "rust/src/backend/poly1305.rs",
        "rust/src/backend/xoofff.rs",
        "rust/src/backend/lane_backend/kernels.rs",
    ];
    let others = [
        "rust/src/backend/aarch64/intrinsics.rs",
        "rust/src/backend/vector.rs",
        "rust/src/backend/x86_64/intrinsics.rs",
        "rust/src/backend/x86_64/vaes/mod.rs",
        "rust/src/backend/x86_64/xoodoo.rs",
        "rust/src/base/timing.rs",
    ];
    assert_eq!(names, calls.into_iter().chain(others).collect());
    let soundness = std::fs::read_to_string(root().join("SOUNDNESS.md")).unwrap();
    for file in calls {
        assert!(
            soundness.contains(&format!("`{file}`")),
            "SOUNDNESS.md: no {file}"
        );
    }
}

/// Every kernel in the table has its script, its theorems, and a run of `make proofs`.
#[test]
fn every_kernel_of_the_table_has_its_proof() {
    let manifest = manifest();
    let list = std::fs::read_to_string(root().join("proofs/THEOREMS.txt")).unwrap();
    let mut missing = Vec::new();
    for (level, kernel) in TABLE.proved() {
        let object = format!("{}/{}", level.name, kernel.name);
        let script = format!("proofs/saw/{object}.saw");
        if !root().join(&script).is_file() {
            missing.push(format!("{script} does not exist"));
        }
        let own = format!("{}{}_", level.theorems, kernel.name);
        let listed = list
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        if !listed
            .clone()
            .any(|words| words.get(1) == Some(&&*object) && words[0].starts_with(&own))
        {
            missing.push(format!("proofs/THEOREMS.txt: no theorem {own}... about {object}"));
        }
        if manifest["objects"].get(&object).is_none() {
            missing.push(format!("{object} is not proved: run `make proofs`"));
        }
    }
    // A theorem about a kernel is from a script that runs this one, whose name does not say more.
    for theorem in theorems(&manifest) {
        let [name, object, script] = ["name", "object", "script"].map(|key| theorem[key].as_str().unwrap());
        if object.contains('/') {
            let of_script: Vec<&str> = (manifest["scripts"][script].as_array().unwrap().iter())
                .filter_map(|file| file.as_str()?.strip_prefix("proofs/generated/lifted/"))
                .collect();
            let lifted = name.contains("_lifted_");
            let own = if lifted { "" } else { "_macaw" };
            if script != format!("proofs/saw/{object}{own}.saw")
                || lifted != (of_script == [format!("{object}.cry")])
            {
                missing.push(format!(
                    "{name} is about {of_script:?}, by {script}, not about {object}"
                ));
            }
        }
    }
    for table in TABLE.proved_constants() {
        if manifest["objects"].get(&table.name).is_none() {
            missing.push(format!("{} is not proved: run `make proofs`", table.name));
        }
    }
    let objects = TABLE.proved().count() + TABLE.proved_constants().count();
    if entries(&manifest, "objects").count() != objects {
        missing.push(format!(
            "proofs/generated/manifest.json {STALE}: it has other objects"
        ));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A kernel has no proof if it is in `jasmin/unproved.toml`, which says what is missing, and only then.
#[test]
fn kernels_without_proof_are_named() {
    let manifest = manifest();
    let list = std::fs::read_to_string(root().join("proofs/THEOREMS.txt")).unwrap();
    let proved = std::fs::read_to_string(root().join("jasmin/kernels.toml")).unwrap();
    assert!(
        !proved.contains("unproved"),
        "jasmin/kernels.toml: what is proved"
    );
    let mut wrong = Vec::new();
    for (level, kernel) in TABLE.all() {
        let object = format!("{}/{}", level.name, kernel.name);
        if kernel.unproved.is_some() == proved.contains(&format!("name = \"{}\"\n", kernel.name)) {
            wrong.push(format!(
                "{object}: in jasmin/kernels.toml or in jasmin/unproved.toml"
            ));
        }
        if kernel.unproved.is_none() {
            continue;
        }
        let claimed = |line: &str| line.split_whitespace().nth(1) == Some(&object);
        if manifest["objects"].get(&object).is_some() || list.lines().any(claimed) {
            wrong.push(format!(
                "{object} has theorems: it belongs in jasmin/kernels.toml"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of a script without comments, texts and Cryptol, and what else is in it, character by character.
fn words_of_saw(script: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let inside = [("//", "\n"), ("\"", "\""), ("{{", "}}"), ("{|", "|}")]
            .into_iter()
            .find(|(begins, _)| rest.starts_with(begins));
        if let Some((begins, ends)) = inside {
            let after = &rest[begins.len()..];
            // In a text, `\"` ends nothing.
            let end = after.replace("\\\"", "__").find(ends);
            rest = end.map_or("", |at| &after[at + ends.len()..]);
        } else {
            let in_word = |c: char| c.is_ascii_alphanumeric() || "_'".contains(c);
            let len = rest.find(|c| !in_word(c)).unwrap_or(rest.len()).max(c.len_utf8());
            words.push(&rest[..len]);
            rest = &rest[len..];
        }
    }
    words.retain(|word| !word.trim().is_empty());
    words
}

/// The names that a script gives: after `let` and `import`, before `<-`, and of the arguments of a function.
fn given_in_saw<'s>(words: &[&'s str]) -> BTreeSet<&'s str> {
    let mut given = BTreeSet::new();
    let mut statement = 0;
    for (i, word) in words.iter().enumerate() {
        let until = |end: &'static str| words[i..].iter().copied().take_while(move |word| *word != end);
        match *word {
            ";" | "{" => statement = i,
            "import" => given.extend(until(";")),
            "let" => given.extend(until("=")),
            "\\" => given.extend(until(">")),
            "<" if words.get(i + 1) == Some(&"-") => given.extend(&words[statement..i]),
            _ => (),
        }
    }
    given
}

/// SAW has commands that assume, that write, and that run a shell, and a new version may have more. So the scripts use only
/// these. What three files may do with some of them, `make proofs` checks.
#[test]
fn scripts_use_no_other_commands() {
    let known = "addsimps concat empty_ss enable_experimental enable_what4_eval enable_what4_hash_consing eval_bool \
                 eval_int eval_list exec false for int_to_term llvm_alloc_aligned llvm_alloc_global \
                 llvm_alloc_readonly_aligned llvm_array llvm_elem llvm_execute_func llvm_fresh_cryptol_var \
                 llvm_fresh_var llvm_global llvm_int llvm_load_module llvm_null llvm_packed_struct_type \
                 llvm_packed_struct_value llvm_pointer llvm_points_to llvm_points_to_array_prefix \
                 llvm_points_to_at_type llvm_precond llvm_return llvm_struct_type llvm_struct_value \
                 llvm_symbolic_alloc llvm_term llvm_unint llvm_unsafe_assume_spec llvm_verify llvm_verify_x86 nth \
                 print prove_print return rme show simplify str_concat str_concats summarize_verification_json \
                 term_apply true unfolding w4_unint_rme w4_unint_yices w4_unint_z3";
    let language = ["let", "do", "if", "then", "else", "import", "include", "as"];
    // The symbols of the bitcode, which `make proofs` finds.
    let symbols = ["dispatch_", "duplex_", "poly1305_", "portable_", "protocol_"];
    let scripts: Vec<String> = (files_under("proofs/saw").into_iter())
        .filter(|path| path.extension().is_some_and(|extension| extension == "saw"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let scripts: Vec<Vec<&str>> = scripts.iter().map(|script| words_of_saw(script)).collect();
    let given: BTreeSet<&str> = scripts.iter().flat_map(|words| given_in_saw(words)).collect();
    let used: BTreeSet<&str> = (scripts.iter().flatten().copied())
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_'))
        .filter(|word| !given.contains(word) && !language.contains(word))
        .filter(|word| !symbols.iter().any(|symbol| word.starts_with(symbol)))
        .collect();
    assert_eq!(used, known.split(' ').collect());
    let words = words_of_saw("let f (n : Int) = \\x -> do { y <- subshell \"z\"; {{ w }}; }; // v");
    let given = given_in_saw(&words);
    assert!(["f", "n", "x", "y"].iter().all(|name| given.contains(name)));
    assert!(words.contains(&"subshell") && !given.contains("subshell"));
    assert!(!["z", "w", "v"].iter().any(|name| words.contains(name)));
}

/// Whether the theorems hold no other test of this file knows: they compare this tree with what was proved.
#[test]
#[ignore = "SAW and Rocq prove, with `make proofs STRICT=1`; without them the tests here compare hashes, and prove nothing"]
fn the_theorems_hold() {
    let before = manifest();
    let proofs = Command::new("make")
        .current_dir(root())
        .args(["proofs", "STRICT=1"])
        .status();
    assert!(proofs.unwrap().success());
    assert_eq!(before, manifest(), "the proofs give another manifest");
}

/// The modules of the lifted kernels, for architectures that this is not as well, are about the proved bytes.
#[test]
fn lifted_modules_are_of_the_proved_bytes() {
    let manifest = manifest();
    for (level, kernel) in TABLE.proved() {
        let name = format!("{}/{}", level.name, kernel.name);
        let file = format!("proofs/generated/lifted/{name}.cry");
        let module = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
        let hash = manifest["objects"][&name]["sha256"].as_str().unwrap_or_default();
        assert!(module.contains(&format!(" * sha256  {hash}\n")), "{file} {STALE}");
        assert!(manifest["files"].get(&file).is_some(), "{file} has no hash");
    }
}

/// The bytes about which Rocq has theorems, and with which the audit compares, are the proved ones, on every
/// architecture.
#[test]
fn listed_bytes_are_the_proved_ones() {
    let manifest = manifest();
    let listing = std::fs::read_to_string(root().join("proofs/generated/kernels.txt")).unwrap();
    let mut listed: Vec<(&str, String)> = Vec::new();
    for line in listing.lines() {
        match line.strip_suffix(':') {
            Some(name) => listed.push((name, String::new())),
            None => listed.last_mut().unwrap().1.push_str(line),
        }
    }
    for (name, bytes) in &listed {
        let hash = sha256(&hex::decode(bytes).unwrap());
        assert_eq!(
            manifest["objects"][name]["sha256"], hash,
            "kernels.txt: {name} {STALE}"
        );
    }
    let names: BTreeSet<&str> = listed.iter().map(|(name, _)| *name).collect();
    let objects: BTreeSet<&str> = entries(&manifest, "objects").map(|(name, _)| name).collect();
    assert_eq!(names, objects, "kernels.txt {STALE}");
}

/// Another reader finds the proved bytes, and all of them, in the text that Rocq's theorems are about.
#[test]
#[ignore = "`make rocq` writes the text, and runs this"]
fn rocq_has_the_proved_bytes() {
    let manifest = manifest();
    let mut had = BTreeSet::new();
    for path in files_under("proofs/rocq/generated") {
        let file = path.file_name().unwrap().to_str().unwrap();
        if !file.starts_with("Kernels_") || path.extension().is_none_or(|extension| extension != "v") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for definition in text.split("\nDefinition ").skip(1) {
            let (name, rest) = definition.split_once(" : list N := [").unwrap();
            let (bytes, _) = rest.split_once("].").unwrap();
            let bytes: Vec<u8> = (bytes.split(';'))
                .map(|byte| u8::from_str_radix(byte.trim().strip_prefix("0x").unwrap(), 16).unwrap())
                .collect();
            let hash = sha256(&bytes);
            let of_name = |object: &str, value: &Value| {
                let own = object.rsplit('/').next().unwrap();
                let own = own
                    .trim_start_matches("simpira1024_")
                    .trim_start_matches("duplex_");
                let on_aarch64 = value["target"].as_str().map(|target| target == "armv8");
                own == name && on_aarch64.is_none_or(|is| is == file.ends_with("_aarch64.v"))
            };
            let object = entries(&manifest, "objects")
                .find(|(object, value)| of_name(object, value) && value["sha256"] == hash);
            let (object, _) = object.unwrap_or_else(|| panic!("{file}: {name} {STALE}"));
            had.insert(object);
        }
    }
    let objects: BTreeSet<&str> = entries(&manifest, "objects").map(|(name, _)| name).collect();
    assert_eq!(had, objects);
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

/// The theorems about bitcode name all the Rust files that it was compiled from, and the compiler.
#[test]
fn the_rust_is_that_of_the_proofs() {
    let manifest = manifest();
    // From `label.rs` comes the length of a label.
    let mut sources = [
        "backend/mod.rs",
        "backend/simpira1024.rs",
        "base/in_out.rs",
        "base/label.rs",
        "base/timing.rs",
        "base/wipe.rs",
        "duplex/framing.rs",
        "duplex/mod.rs",
        "protocol/mod.rs",
        "protocol/proofs.rs",
        "protocol/stream.rs",
    ]
    .map(|name| format!("rust/src/{name}"))
    .to_vec();
    for entry in std::fs::read_dir(root().join("rust/src/backend/portable")).unwrap() {
        sources.push(format!(
            "rust/src/backend/portable/{}",
            entry.unwrap().file_name().to_str().unwrap()
        ));
    }
    assert!(sources.len() >= 5);
    for name in ["backend", "mod", "portable32", "portable64"] {
        sources.push(format!("rust/src/primitives/poly1305/{name}.rs"));
    }
    for object in [
        "portable",
        "duplex",
        "poly1305",
        "protocol",
        "shipped",
        "shipped_aarch64",
    ] {
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
    let cargo = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let profile = manifest["bitcode"]["profile"].as_str().unwrap();
    assert!(
        cargo.contains(&format!("\n[profile.release]\n{profile}\n\n")),
        "the release profile {STALE}"
    );
    let builds = manifest["bitcode"]["builds"].as_array().unwrap().iter();
    let builds: Vec<_> = builds
        .map(|build| ["name", "RUSTFLAGS", "target"].map(|key| build[key].as_str().unwrap_or_default()))
        .collect();
    let portable = "--cfg veriplex_backend=\"portable\" --cfg veriplex_proofs";
    assert_eq!(
        builds,
        [
            ["portable", portable, ""],
            ["shipped", "--cfg veriplex_proofs", ""],
            [
                "shipped_aarch64",
                "--cfg veriplex_proofs",
                "aarch64-unknown-linux-gnu"
            ],
        ]
    );
}

/// The code of the proofs is the code that ships, but for what is inlined: `--cfg veriplex_proofs` adds a module with
/// callers of Protocol, leaves out an empty line of assembly, and does nothing else.
#[test]
fn the_cfg_of_the_proofs_only_inlines() {
    let mut others = BTreeSet::new();
    for path in files_under("rust/src")
        .into_iter()
        .chain([root().join("build.rs")])
    {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (i, line) in lines.iter().enumerate() {
            let attribute = ["veriplex_proofs, ", "not(veriplex_proofs), "]
                .iter()
                .find_map(|when| {
                    let rest = line.strip_prefix("#[cfg_attr(")?.strip_prefix(when)?;
                    rest.split(" //").next()
                });
            let inlines = ["inline)]", "inline(never))]", "inline(always))]"];
            if line.to_lowercase().contains("veriplex_proofs")
                && !attribute.is_some_and(|attribute| inlines.contains(&attribute))
            {
                others.insert(format!("{file}: {line} {}", lines[i + 1]));
            }
        }
    }
    let known = [
        "rust/src/protocol/mod.rs: #[cfg(veriplex_proofs)] mod proofs;",
        "rust/src/base/wipe.rs: #[cfg(not(veriplex_proofs))] zeroize::optimization_barrier(bytes);",
    ];
    assert_eq!(others, known.map(str::to_owned).into());
}

/// The kernels linked into this program.
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    not(veriplex_backend = "portable")
))]
mod kernels {
    use super::{BTreeSet, STALE, TABLE, Value, entries, manifest, root, sha256, theorems};
    use veriplex_lift::Architecture;
    use veriplex_lift::object_file::{Symbol, symbols};

    const ARCHITECTURE: Architecture = if cfg!(target_arch = "x86_64") {
        Architecture::X86_64
    } else {
        Architecture::Aarch64
    };

    /// The objects in the manifest that this program must contain: the kernels of its architecture, and the tables.
    fn objects(manifest: &Value) -> impl Iterator<Item = (&str, &Value)> {
        let own: BTreeSet<String> = (TABLE.proved())
            .filter(|(level, _)| level.target.architecture == ARCHITECTURE)
            .map(|(level, kernel)| format!("{}/{}", level.name, kernel.name))
            .collect();
        entries(manifest, "objects")
            .filter(move |(name, _)| own.contains(*name) || TABLE.reads_constants(ARCHITECTURE, name))
    }

    /// The kernels and the tables in this program's file that are proved.
    fn linked() -> Vec<Symbol> {
        let kernels = crate::addresses::addresses().len();
        let mut linked = symbols(&std::env::current_exe().unwrap()).unwrap();
        // Each once: what is compared below is what runs. Tables without a user on this architecture are not linked.
        let tables = linked
            .iter()
            .filter(|symbol| TABLE.is_constants(&symbol.name))
            .count();
        assert_eq!(linked.len(), kernels + tables);
        linked.retain(|Symbol { name, .. }| {
            TABLE.is_proved(ARCHITECTURE, name)
                && (!TABLE.is_constants(name) || TABLE.reads_constants(ARCHITECTURE, name))
        });
        linked
    }

    /// The kernels of this program that are proved.
    fn proved() -> Vec<(&'static str, *const u8)> {
        let mut addresses = crate::addresses::addresses();
        addresses.retain(|(name, _)| TABLE.is_proved(ARCHITECTURE, name));
        addresses
    }

    #[test]
    fn every_kernel_in_this_program_is_proved() {
        let manifest = manifest();
        let linked = linked();
        let proved: BTreeSet<&str> = objects(&manifest)
            .map(|(_, o)| o["symbol"].as_str().unwrap())
            .collect();
        assert_eq!(
            proved,
            linked.iter().map(|kernel| kernel.symbol.as_str()).collect(),
            "the list of kernels {STALE}"
        );
        for (name, object) in objects(&manifest) {
            let symbol = object["symbol"].as_str().unwrap();
            let Symbol { bytes, .. } = linked.iter().find(|kernel| kernel.symbol == symbol).unwrap();
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
        let addresses = proved();
        // All but the tables, which are no code.
        let tables = TABLE
            .proved_constants()
            .filter(|table| TABLE.reads_constants(ARCHITECTURE, &table.name))
            .count();
        assert_eq!(addresses.len() + tables, objects(&manifest).count());
        for (name, address) in addresses {
            let (level, kernel) = TABLE.find(ARCHITECTURE, name).unwrap();
            let object = &manifest["objects"][format!("{}/{}", level.name, kernel.name)];
            let length = usize::try_from(object["length"].as_u64().unwrap()).unwrap();
            // SAFETY: a kernel's code can be read, and `every_kernel_in_this_program_is_proved` compares its length.
            let bytes = unsafe { std::slice::from_raw_parts(address, length) };
            assert_eq!(object["sha256"], sha256(bytes), "{name} {STALE}");
        }
    }

    /// Lifting the kernels again gives the modules in `proofs/generated/lifted`. A kernel that lifts is also
    /// constant-time, stays inside its buffers and preserves the caller's registers.
    #[test]
    fn every_kernel_in_this_program_lifts_to_its_module() {
        let lifted = veriplex_lift::lift_symbols(&linked()).unwrap();
        assert_eq!(lifted.len(), proved().len());
        for kernel in lifted {
            let path = root().join("proofs/generated/lifted").join(kernel.path());
            let committed = std::fs::read_to_string(&path).unwrap();
            assert!(kernel.module == committed, "{} {STALE}", path.display());
        }
    }
}
