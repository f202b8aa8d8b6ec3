//! The kernels as Cryptol (`veriplex-lift`). The proofs are about what the code of this build lifts to. The modules in
//! `proofs/generated/lifted` are the same, for people to read and for `tests/assurance/manifest.rs` to compare with
//! what ships.

use super::{bytes, call};
use crate::{Options, subcommand};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};
use veriplex_lift::mutants::{MUTANTS, Mutant, Outcome};
use veriplex_lift::object_file::{Symbol, symbols};
use veriplex_lift::table::TABLE;
use veriplex_lift::{ARMV8, Lifted, Report, assembler, lift_symbols};

/// The file that includes the kernels in the crate.
pub const KERNELS_RS: &str = "rust/src/backend/kernels.rs";

/// Where the modules are.
pub const FOLDER: &str = "proofs/generated/lifted";

/// `veriplex-tools lift`.
pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &[], &[]);
    subcommand("lift", options, &[], |_| compare(root).map(|()| true))
}

fn compare(root: &Path) -> io::Result<()> {
    let out = root.join("target/lift");
    let mut kernels = symbols(&bytes::build(root, &out, None)?)?;
    if let Some(library) = armv8(root, &out)? {
        kernels.extend(symbols(&library)?);
    }
    let modules = lift_symbols(&kernels)?;
    print!("{}", Report(&modules));
    for module in &modules {
        let path = root.join(FOLDER).join(module.path());
        if fs::read_to_string(&path).unwrap_or_default() != module.module {
            return Err(io::Error::other(format!(
                "{}: not what the kernel lifts to: run `make proofs`",
                path.display()
            )));
        }
    }
    println!("{FOLDER}: all {} modules are up to date", modules.len());
    Ok(())
}

/// The name of a kernel in the manifest: its level and its name. A table of constants has no level.
pub fn object_name(symbol: &Symbol) -> String {
    match TABLE.find(symbol.architecture, &symbol.name) {
        Some((level, kernel)) => format!("{}/{}", level.name, kernel.name),
        None => symbol.name.clone(),
    }
}

/// Builds the library with the kernels of `jasmin/armv8`, if there is a compiler for them.
pub fn armv8(root: &Path, out: &Path) -> io::Result<Option<PathBuf>> {
    let Some(rustc) = assembler::rustc(&ARMV8) else {
        println!(
            "The ARMv8 kernels are not assembled again, because no rustc here has a library for AArch64: the proofs \
             are about those of {FOLDER}"
        );
        return Ok(None);
    };
    bytes::build(root, out, Some((rustc, &ARMV8))).map(Some)
}

/// Whether the kernels of `armv8` are made from this file.
pub fn is_assembled(file: &str) -> bool {
    let written = TABLE
        .levels
        .iter()
        .filter(|level| level.target.name == ARMV8.name);
    let folders = written.flat_map(|level| {
        [
            format!("jasmin/{}/", level.name),
            format!("rust/src/backend/{}/", level.backend),
        ]
    });
    file == KERNELS_RS || folders.into_iter().any(|folder| file.starts_with(&folder))
}

/// A table of constants is proved once, so all its copies must be the same. Keeps one of each.
pub fn one_table(kernels: &mut Vec<Symbol>) -> io::Result<()> {
    let mut first: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut differ = None;
    kernels.retain(|symbol| {
        if !TABLE.is_constants(&symbol.name) {
            return true;
        }
        let known = first.get(&symbol.name);
        if known.is_some_and(|bytes| *bytes != symbol.bytes) {
            differ = Some(symbol.name.clone());
        }
        known.is_none() && first.insert(symbol.name.clone(), symbol.bytes.clone()).is_none()
    });
    differ.map_or(Ok(()), |name| {
        Err(io::Error::other(format!("{name}: its copies differ")))
    })
}

/// Writes the modules into a folder. Modules that are not given come from `proofs/generated/lifted`.
pub fn write(root: &Path, modules: &[Lifted], folder: &Path) -> io::Result<()> {
    let committed = root.join(FOLDER);
    if folder != committed {
        fs::create_dir_all(folder)?;
        call(Command::new("cp").arg("-rT").arg(&committed).arg(folder))?;
    }
    for module in modules {
        let path = folder.join(module.path());
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, &module.module)?;
    }
    Ok(())
}

/// `veriplex-tools lifted-mutants`: shows that the theorems are false for the broken kernels that lift.
pub fn mutants(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &[]);
    subcommand("lifted-mutants", options, &["cryptol"], |_| refute_mutants(root))
}

/// Finds, for each broken kernel, an input for which its theorem does not hold. The unchanged kernels pass the same
/// test.
fn refute_mutants(root: &Path) -> io::Result<bool> {
    let folder = root.join("target/mutants");
    let mut of_kernels = BTreeMap::new();
    let mut fine = true;
    for mutant in MUTANTS {
        let Outcome::Refuted(theorem) = mutant.outcome else {
            continue;
        };
        let what = format!("{} {}, {}", mutant.level, mutant.kernel, mutant.name);
        let (level, _) = mutant.subject()?;
        let Some(rustc) = assembler::rustc(level.target) else {
            println!("{what}: skipped, because no rustc here has a library for it");
            continue;
        };
        let lifted = mutant
            .lift(rustc, root, &folder)?
            .map_err(|e| io::Error::other(format!("{what}: {e}")))?;
        let of_kernel = if let Some(of_kernel) = of_kernels.get(theorem) {
            *of_kernel
        } else {
            let module = fs::read_to_string(root.join(FOLDER).join(lifted.path()))?;
            holds(root, &folder, mutant, &module, theorem)?
        };
        of_kernels.insert(theorem, of_kernel);
        let of_mutant = holds(root, &folder, mutant, &lifted.module, theorem)?;
        let verdict = match (of_kernel, of_mutant) {
            (true, false) => format!("refutes {theorem}, as it must"),
            (true, true) => format!("WRONG: {theorem} holds"),
            (false, _) => format!("WRONG: the kernel refutes {theorem}"),
        };
        println!("{what}: {verdict}");
        fine &= (of_kernel, of_mutant) == (true, false);
    }
    Ok(fine)
}

/// Whether the statement of a theorem about a lifted kernel holds for a module, on two random inputs.
fn holds(root: &Path, folder: &Path, mutant: &Mutant, module: &str, theorem: &str) -> io::Result<bool> {
    let kernel = mutant.kernel;
    let statement = statement(root, mutant, theorem)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{kernel}.cry")), module)?;
    let imports = imports(&scripts(root, mutant)?);
    fs::write(
        folder.join("check.cry"),
        format!(
            "module check where\n{imports}import {kernel} as kernel\n\
             table = join (map block round_constants)\nproperty theorem ={statement}\n"
        ),
    )?;
    let output = Command::new("cryptol")
        .current_dir(folder)
        .env(
            "CRYPTOLPATH",
            format!("{0}/spec/cryptol:{0}/proofs/saw/lib:.", root.display()),
        )
        .args(["-c", ":m check", "-c", ":set tests=2", "-c", ":check theorem"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    match (said.contains("Passed 2 tests"), said.contains("Counterexample")) {
        (true, false) => Ok(true),
        (false, true) => Ok(false),
        _ => Err(io::Error::other(said)),
    }
}

/// The statement of a theorem, as the proof script of the kernel has it.
fn statement(root: &Path, mutant: &Mutant, theorem: &str) -> io::Result<String> {
    // What precedes it names the level.
    let name = theorem.find(mutant.kernel).map_or(theorem, |at| &theorem[at..]);
    let begin = format!("lifted_theorem \"{name}\"");
    (scripts(root, mutant)?.iter())
        .find_map(|text| text.split_once(&begin)?.1.split_once("{{")?.1.split_once("}}"))
        .map(|(statement, _)| statement.to_owned())
        .ok_or_else(|| {
            let what = format!("no theorem {name} in {}/{}.saw", mutant.level, mutant.kernel);
            io::Error::other(what)
        })
}

/// The proof script of the kernel, and the files that it includes.
fn scripts(root: &Path, mutant: &Mutant) -> io::Result<Vec<String>> {
    let folder = root.join("proofs/saw").join(mutant.level);
    let mut texts = vec![fs::read_to_string(folder.join(format!("{}.saw", mutant.kernel)))?];
    let mut next = 0;
    while let Some(text) = texts.get(next) {
        let names = (text.lines()).filter_map(|line| line.strip_prefix("include \"")?.strip_suffix("\";"));
        let more: io::Result<Vec<String>> = names.map(|name| fs::read_to_string(folder.join(name))).collect();
        texts.extend(more?);
        next += 1;
    }
    Ok(texts)
}

/// What scripts import, as Cryptol has it: `import "../../../spec/cryptol/isa/Memory.cry" as memory;` is
/// `import isa::Memory as memory`.
fn imports(scripts: &[String]) -> String {
    let imports: BTreeSet<String> = (scripts.iter().flat_map(|text| text.lines()))
        .filter_map(|line| {
            let (path, rest) = line.strip_prefix("import \"../")?.split_once(".cry\"")?;
            let module = ["lib/", "../../spec/cryptol/"]
                .iter()
                .find_map(|folder| path.strip_prefix(folder))?;
            Some(format!(
                "import {}{}\n",
                module.replace('/', "::"),
                rest.strip_suffix(';')?
            ))
        })
        .collect();
    imports.into_iter().collect()
}
