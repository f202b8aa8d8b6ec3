//! What the lifter refuses, and what it takes.

use std::path::{Path, PathBuf};
use veriplex_lift::mutants::{MUTANTS, Mutant, Outcome};
use veriplex_lift::{ARMV8, TARGETS, Target, assembler, lift, table};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(' ', "-"))
}

/// The kernels as they are: what the mutants are changes of.
#[test]
fn the_kernels_lift_to_their_modules() {
    for (_, target) in TARGETS {
        let Some(rustc) = assembler::rustc(target) else {
            println!(
                "{}: skipped, because no rustc here has a library for it",
                target.name
            );
            continue;
        };
        for kernel in &table::KERNELS {
            let source = assembler::source(root(), target, kernel.name).unwrap();
            let folder = folder(&format!("{} {}", target.name, kernel.name));
            let code = assembler::assemble(rustc, target, &source, &folder).unwrap();
            let lifted = lift(kernel, target, &code).unwrap();
            let committed = std::fs::read_to_string(root().join("proofs/lift").join(lifted.path())).unwrap();
            assert!(lifted.module == committed, "{}", lifted.path());
            for (function, constants) in &lifted.constants {
                assert!(
                    has_form(target, function, constants),
                    "{}: no form of {function} with {constants:?}",
                    lifted.path()
                );
            }
        }
    }
}

/// Whether a form that `make isa` executes has this operation with these constants.
fn has_form(target: &Target, function: &str, constants: &[u64]) -> bool {
    let module = if target.name == ARMV8.name {
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
        .filter(|words| words.first() == Some(&function))
        .any(|words| words.into_iter().filter_map(number).eq(constants.iter().copied()))
}

#[test]
fn broken_kernels_are_refused_or_change_their_module() {
    let mut wrong = Vec::new();
    for mutant in MUTANTS {
        let Mutant {
            name,
            target,
            kernel,
            outcome,
            ..
        } = mutant;
        let what = format!("{} {kernel}, {name}", target.name);
        let Some(rustc) = assembler::rustc(target) else {
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
                let committed =
                    std::fs::read_to_string(root().join("proofs/lift").join(lifted.path())).unwrap();
                // Without the two lines about the bytes.
                let text = |module: &str| module.lines().skip(5).collect::<Vec<_>>().join("\n");
                if text(&lifted.module) == text(&committed) {
                    wrong.push(format!("{what}: the same module"));
                }
            }
            (lifted, _) => wrong.push(format!("{what}: {outcome:?}, but {:?}", lifted.map(|l| l.path()))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
