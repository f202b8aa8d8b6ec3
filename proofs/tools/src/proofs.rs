//! `veriplex-tools proofs`: proves the theorems of `proofs/saw` again, about the code that this crate's build makes.
//!
//! It builds the crate into a static library. It cuts a kernel's bytes out of it unchanged (refusing a kernel with a
//! relocation), puts them into a small executable that SAW can load, and proves them there. It records in
//! `proofs/generated/manifest.json` what was proved about which bytes; `tests/assurance/manifest.rs` compares that with
//! what ships, without SAW. The bytes go to `proofs/generated/kernels.txt`.

pub mod bytes;
pub mod lifted;
mod manifest;
mod rust;
mod saw;
mod summary;

use crate::{Options, subcommand};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{fs, io};
use summary::Evidence;
use veriplex_lift::lift_symbols;
use veriplex_lift::object_file::{Symbol, symbols};
use veriplex_lift::table::TABLE;

/// What a script must not contain: commands by which SAW assumes something, ignores a solver's answer, or reads a file
/// that [`manifest::files_of`] does not see; and conditions on a call, since no theorem needs one, and a condition that
/// nothing meets would make a theorem empty.
const ADMITTING: [&str; 28] = [
    "assume_unsat",
    "assume_valid",
    "admit",
    "llvm_unsafe_assume_spec",
    "core_axiom",
    "quickcheck",
    "unint_unsafe",
    "skip_proof",
    "_assume_",
    "retain_unproved",
    "abc",
    "offline",
    "external_",
    "arbitrary_",
    "_lax_",
    "disable_",
    "assert_then_assume",
    "sym_init",
    "parse_core",
    "core_thm",
    "solver_cache",
    "cryptol_add_prim",
    "cryptol_load",
    "fails (",
    "precond",
    "llvm_assert",
    "llvm_equal",
    "conditional_points_to",
];

/// And those that write files, or run a program that could, and so the evidence.
const WRITING: [&str; 4] = ["exec", "summarize_", "write_", "save_"];

/// The exceptions. Two files may say what theorems assume of a function (see [`rust::of_any_length`] and
/// [`rust::of_shipped`]); a condition there makes an assumption weaker. In `shipped.saw` theorems have conditions, too: those
/// exclude what no caller can have, and a lemma that holds for every number. One file writes the evidence.
const EXCEPT: [(&str, &[&str]); 3] = [
    (
        "proofs/saw/lib/any_length.saw",
        &["<- llvm_unsafe_assume_spec bitcode ", "llvm_precond "],
    ),
    (
        "proofs/saw/lib/shipped.saw",
        &[
            "<- llvm_unsafe_assume_spec bitcode ",
            "llvm_precond {{ i < 94 }};",
            "llvm_precond {{ n <= room d }};",
            "llvm_precond {{ n < 2^^63 }};",
            "llvm_precond {{ blocks_fit (n - head_of d n) }};",
        ],
    ),
    (
        "proofs/saw/lib/common.saw",
        &[
            "= do { exec \"sh\" [\"-c\", \"cat >\\\"${VERIPLEX_THEOREM:-/dev/null}\\\"\"] name; return (); };",
            "let summary_of (name : String) = exec \"sh\"\n",
            "  summarize_verification_json summary;",
        ],
    ),
];

/// One line of `proofs/THEOREMS.txt`: a theorem's name, and its object.
pub struct Expected {
    pub name: String,
    pub object: String,
}

/// A theorem that was proved.
pub struct Proved {
    theorem: saw::Theorem,
    /// The files that its script depends on, itself first.
    files: Vec<String>,
    /// What it rests on: see `proofs/README.md`.
    assumptions: Vec<String>,
}

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &["--only", "--object"]);
    subcommand("proofs", options, &["saw", "yices", "z3"], |options| {
        run(root, options)
    })
}

/// Runs everything in order. True if all of it holds.
fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let out = root.join("target/proofs");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;

    let expected = expected(&fs::read_to_string(root.join("proofs/THEOREMS.txt"))?)?;
    let mut scripts = scripts(root)?;
    let (only, object) = (options.value("--only"), options.value("--object"));
    if let Some(text) = only {
        scripts.retain(|script| script.contains(text));
    }

    let library = match object {
        Some(object) => PathBuf::from(object),
        None => bytes::build(root, &out, None)?,
    };
    let mut kernels = symbols(&library)?;
    kernels.retain(|symbol| TABLE.is_proved(symbol.architecture, &symbol.name));
    bytes::link(root, &kernels, &out)?;
    bytes::prototypes(root, &kernels, &out)?;
    bytes::constants(&kernels, &out)?;
    let mut files = Vec::new();
    for script in &scripts {
        files.push(manifest::files_of(root, script)?);
    }
    let mut modules = Vec::new();
    let mut armv8 = None;
    if files.iter().flatten().any(|file| file == manifest::LIFTED) {
        armv8 = lifted::armv8(root, &out)?;
        if let Some(library) = &armv8 {
            kernels.extend(symbols(library)?);
            kernels.retain(|symbol| TABLE.is_proved(symbol.architecture, &symbol.name));
        }
        lifted::one_table(&mut kernels)?;
        modules = lift_symbols(&kernels)?;
        lifted::write(root, &modules, &out.join("lifted"))?;
    }
    saw::recorder(&out)?;
    let mut bitcode = String::new();
    for build in &rust::BUILDS {
        bitcode += &rust::bitcode(root, &out, build)?;
    }

    let mut wrong = Vec::new();
    for of_script in &files {
        let committed = armv8.is_none() && of_script.iter().any(|file| file == manifest::LIFTED);
        for file in of_script {
            if committed && lifted::is_assembled(file) && manifest::changed(root, file)? {
                wrong.push(format!("{file} has changed, and no rustc here can assemble it"));
            }
            // A lifted module is Cryptol, which has no commands; and an offset in its names may be abc.
            if !file.starts_with(lifted::FOLDER) {
                let mut text = fs::read_to_string(root.join(file))?;
                for words in EXCEPT
                    .iter()
                    .filter(|(of, _)| file == of)
                    .flat_map(|(_, words)| *words)
                {
                    text = text.replace(words, "");
                }
                wrong.extend(admitted(file, &text).map(|what| format!("{file}: {what}")));
            }
        }
    }
    if !wrong.is_empty() {
        print_wrong(&wrong);
        return Ok(false);
    }
    let runs = saw::run_all(root, &scripts)?.into_iter().zip(files);
    let theorems = collect(runs, &expected, &bitcode, &mut wrong);

    if only.is_none() {
        wrong.extend(unlisted(&expected, &theorems, &kernels));
    }
    print_table(&expected, &theorems, &kernels);
    print_wrong(&wrong);
    let objects = expected.iter().filter(|e| theorems.contains_key(&e.name));
    let [lemmas, forms] =
        ["spec", "instructions"].map(|of| objects.clone().filter(|e| e.object == of).count());
    println!(
        "\n{} about code, {forms} about SAW's model of instructions, {lemmas} lemmas about the Cryptol: \
         {} theorems, {} wrong, {:.0} s",
        objects.count() - lemmas - forms,
        theorems.len(),
        wrong.len(),
        start.elapsed().as_secs_f64()
    );

    let whole = only.is_none() && object.is_none();
    if whole && wrong.is_empty() {
        lifted::write(root, &modules, &root.join(lifted::FOLDER))?;
        let manifest = manifest::write(root, &expected, &theorems, &kernels)?;
        println!("wrote proofs/generated: manifest.json, lifted");
        if let Some(armv8) = &armv8 {
            let files = [fs::read(&library)?, fs::read(armv8)?];
            let listing = veriplex_audit::bytes_of(&files, &manifest).map_err(io::Error::other)?;
            fs::write(root.join("proofs/generated/kernels.txt"), listing)?;
            println!("wrote proofs/generated/kernels.txt");
        }
    } else {
        println!("proofs/generated was not changed");
    }
    Ok(wrong.is_empty() && whole)
}

/// What the runs proved, by name. Adds what went wrong to `wrong`.
fn collect(
    runs: impl Iterator<Item = (saw::Run, Vec<String>)>,
    expected: &[Expected],
    bitcode: &str,
    wrong: &mut Vec<String>,
) -> BTreeMap<String, Proved> {
    let objects: BTreeMap<&str, &str> = expected.iter().map(|e| (&*e.name, &*e.object)).collect();
    let mut theorems: BTreeMap<String, Proved> = BTreeMap::new();
    // Of a run that was stopped, not all goals are known.
    let (failed, whole): (Vec<_>, Vec<_>) = runs.partition(|(run, _)| run.failure.is_some());
    for (run, files) in whole.into_iter().chain(failed) {
        let stopped = run.failure.is_some();
        wrong.extend(run.failure);
        for theorem in run.proved {
            if let Some(first) = theorems.get(&theorem.name) {
                if !stopped && first.theorem.goals != theorem.goals {
                    wrong.push(format!("{}: its goals are not always the same", theorem.name));
                }
                continue;
            }
            let lifted = files.iter().any(|file| file == manifest::LIFTED);
            let assumptions = match objects.get(&*theorem.name) {
                Some(object) => assumptions(&theorem.name, object, lifted, &theorem.evidence, bitcode),
                None => Ok(Vec::new()),
            };
            let assumptions = assumptions.unwrap_or_else(|why| {
                wrong.push(format!("{}: {why}", theorem.name));
                Vec::new()
            });
            let files = files.clone();
            theorems.insert(
                theorem.name.clone(),
                Proved {
                    theorem,
                    files,
                    assumptions,
                },
            );
        }
    }
    theorems
}

/// What is in THEOREMS.txt but was not proved, and the reverse; kernels without a theorem.
fn unlisted(expected: &[Expected], theorems: &BTreeMap<String, Proved>, kernels: &[Symbol]) -> Vec<String> {
    let names: BTreeSet<&str> = expected.iter().map(|e| e.name.as_str()).collect();
    let proved: BTreeSet<&str> = theorems.keys().map(String::as_str).collect();
    let objects: BTreeSet<&str> = expected.iter().map(|e| e.object.as_str()).collect();
    let not_proved = names.difference(&proved);
    let not_listed = proved.difference(&names);
    let bare = kernels
        .iter()
        .map(lifted::object_name)
        .filter(|name| !objects.contains(name.as_str()));
    not_proved
        .map(|name| format!("{name}: in THEOREMS.txt, but not proved"))
        .chain(not_listed.map(|name| format!("{name}: proved, but not in THEOREMS.txt")))
        .chain(bare.map(|name| format!("{name}: no theorem")))
        .collect()
}

/// What a theorem about this object rests on, as its run shows. An error if it is about something else.
fn assumptions(
    name: &str,
    object: &str,
    lifted: bool,
    evidence: &Evidence,
    bitcode: &str,
) -> Result<Vec<String>, String> {
    let methods: BTreeSet<&str> = evidence.methods.iter().map(String::as_str).collect();
    let about = |what: &dyn Fn(&str) -> bool| {
        if !methods.is_empty() && methods.iter().all(|method| what(method)) {
            Ok(())
        } else {
            Err(format!("about {methods:?}, not about {object}"))
        }
    };
    let mut rests = vec!["saw"];
    // `rme` is part of SAW.
    rests.extend((evidence.all_solvers.iter().map(String::as_str)).filter(|solver| *solver != "rme"));
    let kernel = object.split_once('/').and_then(|(_, name)| TABLE.kernel(name));
    let has_table = kernel.is_some_and(|kernel| kernel.arguments.iter().any(|a| a.table().is_some()));
    match (object, kernel) {
        (_, Some(_)) if lifted => {
            rests.extend(["lift", "isa"]);
            rests.extend(has_table.then_some("table"));
        }
        (_, Some(kernel)) => {
            rests.extend(["macaw", "registers"]);
            let cuts = ["_enter", "_step", "_leave"].map(|cut| format!("{}{cut}", kernel.name));
            if methods.iter().any(|method| cuts.iter().any(|cut| cut == method)) {
                about(&|method| cuts.iter().any(|cut| cut == method))?;
                rests.push("cut");
                // Outside the loop the table is not read.
                rests.extend((has_table && methods.contains(&*cuts[1])).then_some("table"));
            } else {
                about(&|method| method == kernel.name)?;
                rests.extend(has_table.then_some("table"));
                rests.extend(kernel.has_count().then_some("blocks"));
            }
        }
        ("instructions", _) => about(&|method| method.starts_with("form_"))?,
        ("portable" | "duplex" | "poly1305" | "protocol", _) => {
            let named = |method: &str| object != "duplex" || rust::is_named(name, object, method);
            about(&|method| method.contains(object) && named(method))?;
            for method in &methods {
                if rust::takes_length(bitcode, method)
                    .ok_or_else(|| format!("{method} is not in the bitcode"))?
                {
                    rests.push("lengths");
                    break;
                }
            }
            if object == "protocol" && !evidence.assumed.is_empty() {
                rests.push("any-length");
            }
        }
        ("shipped" | "shipped_aarch64", _) => {
            about(&|method| rust::is_named(name, object, method))?;
            let assumed = evidence
                .assumed
                .iter()
                .filter_map(|symbol| rust::of_shipped(symbol));
            rests.extend(assumed.collect::<BTreeSet<_>>());
        }
        _ if methods.is_empty() => (),
        _ => return Err(format!("about {methods:?}, but {object} is not code")),
    }
    let assumed = |symbol: &&String| {
        let may = match object {
            "protocol" => rust::of_any_length(symbol),
            "shipped" | "shipped_aarch64" => rust::of_shipped(symbol).is_some(),
            _ => false,
        };
        !may
    };
    if let Some(symbol) = evidence.assumed.iter().find(assumed) {
        return Err(format!("assumes something of {symbol}"));
    }
    let mut rests: Vec<String> = rests.into_iter().map(str::to_owned).collect();
    rests.sort_by_key(|name| ORDER.iter().position(|of| of == name));
    Ok(rests)
}

/// The order in which assumptions are listed.
const ORDER: [&str; 14] = [
    "saw",
    "macaw",
    "yices",
    "z3",
    "lift",
    "isa",
    "registers",
    "table",
    "blocks",
    "cut",
    "lengths",
    "any-length",
    "kernels",
    "within",
];

/// The lines of THEOREMS.txt: name and object; `#` begins a comment.
fn expected(text: &str) -> io::Result<Vec<Expected>> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [name, object] => Ok(Expected {
                    name: name.to_owned(),
                    object: object.to_owned(),
                }),
                _ => Err(io::Error::other(format!("proofs/THEOREMS.txt: {line}"))),
            }
        })
        .collect()
}

/// The scripts to run: those in the folders of `proofs/saw`, except `lib`, which has what they include.
fn scripts(root: &Path) -> io::Result<Vec<String>> {
    let mut scripts = BTreeSet::new();
    for folder in fs::read_dir(root.join("proofs/saw"))? {
        let folder = folder?;
        let of = folder.file_name().to_string_lossy().into_owned();
        for entry in fs::read_dir(folder.path())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if of != "lib" && Path::new(&name).extension().is_some_and(|e| e == "saw") {
                scripts.insert(format!("proofs/saw/{of}/{name}"));
            }
        }
    }
    Ok(scripts.into_iter().collect())
}

/// The admitting commands in a script. Comment lines are ignored. Comments after code are not, because `//` may be part
/// of a string.
fn admitted(file: &str, text: &str) -> impl Iterator<Item = String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
        .replace("llvm_execute_func", ""); // not `exec`
    let writing = if Path::new(file).extension().is_some_and(|e| e == "saw") {
        &WRITING[..]
    } else {
        &[]
    };
    (ADMITTING.iter().chain(writing))
        .filter(move |word| code.contains(**word))
        .map(|word| format!("uses {word}"))
}

fn print_wrong(wrong: &[String]) {
    for line in wrong {
        println!("WRONG: {line}");
    }
}

fn print_table(expected: &[Expected], theorems: &BTreeMap<String, Proved>, kernels: &[Symbol]) {
    let width = theorems.keys().map(String::len).max().unwrap_or(0);
    println!(
        "\n{:width$}  {:<28} {:>5}  {:<8} {:>7} {:>6}  assumptions",
        "theorem", "object", "bytes", "solver", "goals", "time"
    );
    for e in expected {
        let Some(proved) = theorems.get(&e.name) else {
            continue;
        };
        let bytes = kernels
            .iter()
            .find(|k| lifted::object_name(k) == e.object)
            .map_or(String::new(), |k| k.bytes.len().to_string());
        let goals = proved.theorem.goals.len();
        println!(
            "{:width$}  {:<28} {bytes:>5}  {:<8} {:>7} {:>4.1} s  {}",
            e.name,
            e.object,
            proved.theorem.evidence.solver(),
            // Those that z3 was asked, of all that SAW made of the statement.
            format!("{}/{}", goals - proved.theorem.rewritten(), goals),
            proved.theorem.time.as_secs_f64(),
            proved.assumptions.join(" ")
        );
    }
}

/// Runs a program of the build. The error has its output.
pub fn call(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(io::Error::other(format!(
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_something_for_granted_is_seen() {
        for line in [
            "  assume_unsat;",
            "print \"//\"; admit \"x\";",
            "abc;",
            "llvm_precond {{ x == x }};",
            "exec \"sh\" [\"-c\", \"cp old.json new.json\"] \"\";",
        ] {
            assert_eq!(admitted("a.saw", line).count(), 1, "{line}");
        }
        assert_eq!(
            admitted("a.saw", "// Nothing is admitted.\n  // abc\nz3;").count(),
            0
        );
        assert_eq!(admitted("a.v", "Definition write_bytes := 1.").count(), 0);
        assert_eq!(admitted("a.saw", "llvm_execute_func [p];").count(), 0);
    }
}
