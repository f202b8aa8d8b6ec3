//! What the lifter refuses, and what it takes.

use std::path::{Path, PathBuf};
use veriplex_lift::mutants::{MUTANTS, Mutant, Outcome};
use veriplex_lift::table::{Level, TABLE};
use veriplex_lift::{ARMV8, Lifted, X86_64, assembler, lift};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn committed(lifted: &Lifted) -> String {
    let path = root().join("proofs/generated/lifted").join(lifted.path());
    std::fs::read_to_string(path).unwrap_or_default()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(' ', "-"))
}

/// The kernels as they are: what the mutants are changes of.
#[test]
fn the_kernels_lift_to_their_modules() {
    for (level, kernel) in TABLE.proved() {
        let what = format!("{} {}", level.name, kernel.name);
        let Some(rustc) = assembler::rustc(level.target) else {
            println!("{what}: skipped, because no rustc here has a library for it");
            continue;
        };
        let source = assembler::source(root(), level, kernel).unwrap();
        let code = assembler::assemble(rustc, level.target, &source, &folder(&what)).unwrap();
        let lifted = lift(kernel, level, &code).unwrap();
        assert!(lifted.module == committed(&lifted), "{}", lifted.path());
        for (function, constants) in &lifted.constants {
            assert!(
                has_form(level, function, constants),
                "{}: no form of {function} with {constants:?}",
                lifted.path()
            );
        }
    }
}

/// Whether a form that `make isa` executes has this operation with these constants.
fn has_form(level: &Level, function: &str, constants: &[u64]) -> bool {
    let module = if level.target.name == ARMV8.name {
        "AArch64"
    } else {
        "X86_64"
    };
    let forms = root().join(format!("spec/cryptol/test/Forms{module}.cry"));
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    std::fs::read_to_string(forms)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("form_"))
        .flat_map(|line| line.split(['(', ',', ')']))
        .map(|application| application.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.first().map(|word| without_types(word)) == Some(without_types(function)))
        .any(|words| words.into_iter().filter_map(number).eq(constants.iter().copied()))
}

/// The name of a definition, without the sizes that it is used for.
fn without_types(word: &str) -> &str {
    word.split_once('`').map_or(word, |(name, _)| name)
}

#[test]
fn broken_kernels_are_refused_or_change_their_module() {
    let mut wrong = Vec::new();
    for mutant in MUTANTS {
        let Mutant {
            name,
            level,
            kernel,
            outcome,
            ..
        } = mutant;
        let what = format!("{level} {kernel}, {name}");
        let Some(rustc) = assembler::rustc(mutant.subject().unwrap().0.target) else {
            println!("{what}: skipped, because no rustc here has a library for it");
            continue;
        };
        let lifted = match mutant.lift(rustc, root(), &folder(&what)) {
            Ok(lifted) => lifted,
            Err(e) => {
                wrong.push(format!("{what}: {e}"));
                continue;
            }
        };
        match (lifted, outcome) {
            (Err(e), Outcome::Refused(reason)) if e.reason.contains(reason) => {
                println!("{what}: refused {e}");
            }
            (Ok(lifted), Outcome::Refuted(_)) => {
                // Without the two lines about the bytes.
                let text = |module: &str| module.lines().skip(5).collect::<Vec<_>>().join("\n");
                if text(&lifted.module) == text(&committed(&lifted)) {
                    wrong.push(format!("{what}: the same module"));
                }
            }
            (lifted, _) => wrong.push(format!("{what}: {outcome:?}, but {:?}", lifted.map(|l| l.path()))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first place is changed and no other; a place that is not there is an error; no file is left.
#[test]
fn a_mutant_is_one_change() {
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("skipped, because no rustc here has a library for x86-64");
        return;
    };
    let mut mutant = Mutant {
        name: "one store less",
        level: "x86-64",
        kernel: "simpira1024_permute",
        find: "\tvmovdqu\t%xmm",
        replace: "\t# ",
        outcome: Outcome::Refused(""),
    };
    let folder = folder("one change");
    let lifted = mutant.lift(rustc, root(), &folder).unwrap().unwrap();
    assert!(!folder.exists());
    let whole = std::fs::read_to_string(root().join("proofs/generated/lifted").join(lifted.path())).unwrap();
    // A line of the module for each instruction that defines something.
    let lines = |module: &str| module.matches(" // ").count();
    assert_eq!(lines(&lifted.module) + 1, lines(&whole));

    mutant.find = "no such text";
    let why = mutant.lift(rustc, root(), &folder).unwrap_err().to_string();
    assert!(why.contains("one store less: no \"no such text\""), "{why}");
    mutant.level = "no such level";
    assert!(mutant.lift(rustc, root(), &folder).is_err());
}

#[test]
fn what_cannot_be_assembled_is_an_error() {
    // Without a compiler the tests of this crate say that they are skipped, and pass.
    #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
    assert!(assembler::rustc(&X86_64).is_some());
    #[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "aarch64"))]
    assert!(assembler::rustc(&ARMV8).is_some());
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("skipped, because no rustc here has a library for x86-64");
        return;
    };
    for (i, (source, reason)) in [
        ("\tno such instruction\n", "error: "),
        // A kernel more than there are sources.
        (
            "\tret\n.globl veriplex_other_v0\n.type veriplex_other_v0,@function\nveriplex_other_v0:\n\tret\n.size veriplex_other_v0, 1\n",
            "not every kernel was assembled",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = folder(&format!("not assembled {i}"));
        let why = assembler::assemble(rustc, &X86_64, source, &folder).unwrap_err().to_string();
        assert!(why.contains(reason), "{source}: {why}");
    }
}
