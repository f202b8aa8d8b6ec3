//! The kernels as Cryptol (`veriplex-lift`). What is proved is what the code of this build lifts to; the modules in
//! `proofs/lift` are the same, for people to read and for `tests/manifest.rs` to compare with what ships.

use super::{bytes, call};
use crate::{Options, subcommand};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};
use veriplex_lift::mutants::{MUTANTS, Outcome};
use veriplex_lift::object_file::{Symbol, symbols};
use veriplex_lift::{ARMV8, Architecture, Lifted, Report, assembler, lift_symbols};

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
    let modules = modules(&kernels)?;
    print!("{}", Report(&modules));
    for module in &modules {
        let path = root.join("proofs/lift").join(module.path());
        if fs::read_to_string(&path)? != module.module {
            return Err(io::Error::other(format!(
                "{}: not what the kernel lifts to: run `make proofs`",
                path.display()
            )));
        }
    }
    println!("proofs/lift has these {} modules", modules.len());
    Ok(())
}

/// The name of a kernel in the manifest: those of x86-64 have the plain one.
pub fn object_name(symbol: &Symbol) -> String {
    match symbol.architecture {
        Architecture::Aarch64 => format!("armv8/{}", symbol.name),
        _ => symbol.name.clone(),
    }
}

/// The library with the kernels of `jasmin/armv8`, if there is a compiler for them.
pub fn armv8(root: &Path, out: &Path) -> io::Result<Option<PathBuf>> {
    let Some(rustc) = assembler::rustc(&ARMV8) else {
        println!(
            "The ARMv8 kernels are not assembled anew, because no rustc here has a library for AArch64: those of \
             proofs/lift are proved"
        );
        return Ok(None);
    };
    bytes::build(root, out, Some((rustc, &ARMV8))).map(Some)
}

/// Whether kernels of `jasmin/armv8` are made from this file.
pub fn is_assembled(file: &str) -> bool {
    file.starts_with("jasmin/armv8/")
        || file == "rust/src/aarch64/kernels.rs"
        || file == "rust/src/kernels.rs"
}

/// The table of round constants, which is proved once, must be the same for both.
pub fn one_table(kernels: &mut Vec<Symbol>) -> io::Result<()> {
    let is_table = |symbol: &Symbol| symbol.name == "round_constants";
    let mut tables = kernels
        .iter()
        .filter(|symbol| is_table(symbol))
        .map(|symbol| &symbol.bytes);
    let first = tables.next();
    if tables.any(|table| Some(table) != first) {
        return Err(io::Error::other("the tables of round constants differ"));
    }
    kernels.retain(|symbol| !is_table(symbol) || symbol.architecture != Architecture::Aarch64);
    Ok(())
}

/// Lifts all of them.
pub fn modules(kernels: &[Symbol]) -> io::Result<Vec<Lifted>> {
    let (armv8, x86_64): (Vec<Symbol>, Vec<Symbol>) = kernels
        .iter()
        .cloned()
        .partition(|kernel| kernel.architecture == Architecture::Aarch64);
    let mut modules = lift_symbols(&x86_64)?;
    if !armv8.is_empty() {
        modules.extend(lift_symbols(&armv8)?);
    }
    Ok(modules)
}

/// Writes the modules into a folder. Those that there are none for come from `proofs/lift`.
pub fn write(root: &Path, modules: &[Lifted], folder: &Path) -> io::Result<()> {
    let committed = root.join("proofs/lift");
    if folder != committed {
        fs::create_dir_all(folder)?;
        call(
            Command::new("cp")
                .arg("-r")
                .args(["x86-64", "armv8"].map(|name| committed.join(name)))
                .arg(folder),
        )?;
    }
    for module in modules {
        fs::write(folder.join(module.path()), &module.module)?;
    }
    Ok(())
}

/// `veriplex-tools lifted-mutants`: that the theorems about the broken kernels which lift are false.
pub fn mutants(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &[]);
    subcommand("lifted-mutants", options, &["cryptol"], |_| refute_mutants(root))
}

/// Each at its theorem, by an input for which it does not hold; the kernels as they are pass the same tests.
fn refute_mutants(root: &Path) -> io::Result<bool> {
    let folder = root.join("target/mutants");
    let mut of_kernels = BTreeMap::new();
    let mut fine = true;
    for mutant in MUTANTS {
        let Outcome::Refuted(theorem) = mutant.outcome else {
            continue;
        };
        let what = format!("{} {}, {}", mutant.target.name, mutant.kernel, mutant.name);
        let Some(rustc) = assembler::rustc(mutant.target) else {
            println!("{what}: skipped, because no rustc here has a library for it");
            continue;
        };
        let lifted = mutant
            .lift(rustc, root, &folder)?
            .map_err(|e| io::Error::other(format!("{what}: {e}")))?;
        let of_kernel = if let Some(of_kernel) = of_kernels.get(theorem) {
            *of_kernel
        } else {
            let module = fs::read_to_string(root.join("proofs/lift").join(lifted.path()))?;
            holds(root, &folder, mutant.kernel, &module, theorem)?
        };
        of_kernels.insert(theorem, of_kernel);
        let of_mutant = holds(root, &folder, mutant.kernel, &lifted.module, theorem)?;
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

/// Whether the statement of a theorem in `lifted.saw` holds of a module, on two random inputs.
fn holds(root: &Path, folder: &Path, kernel: &str, module: &str, theorem: &str) -> io::Result<bool> {
    let script = fs::read_to_string(root.join("proofs/saw/lifted.saw"))?;
    let name = theorem.strip_prefix("armv8_").unwrap_or(theorem);
    let statement = script
        .split_once(&format!("lifted_theorem \"{name}\""))
        .and_then(|(_, rest)| rest.split_once("{{")?.1.split_once("}}"))
        .map(|(statement, _)| statement)
        .ok_or_else(|| io::Error::other(format!("no theorem {name} in lifted.saw")))?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{kernel}.cry")), module)?;
    fs::write(
        folder.join("check.cry"),
        format!(
            "module check where\nimport Simpira1024\nimport Duplex\nimport Words (block, round_constants)\n\
             import {kernel} as {kernel}_k\ntable = join (map block round_constants)\nproperty theorem ={statement}\n"
        ),
    )?;
    let output = Command::new("cryptol")
        .current_dir(folder)
        .env(
            "CRYPTOLPATH",
            format!("{0}/spec/cryptol:{0}/proofs/saw:.", root.display()),
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
