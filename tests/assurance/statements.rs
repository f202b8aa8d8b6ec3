//! `proofs/rocq/statements.txt` is complete: each definition that it uses is printed in it too, so that a changed
//! definition changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

fn read(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../proofs/rocq");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_'.".contains(c)))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
}

/// The names in `statements` that Statements.v (`sources`) neither prints nor checks. Constructors and fields belong to
/// their type, which prints them without its module. Modules of which Statements.v prints nothing hold data (kernels,
/// known answers), or are those of Coq.
fn not_printed<'a>(sources: &str, statements: &'a str) -> BTreeSet<&'a str> {
    let shown: BTreeSet<&str> = (sources.lines())
        .filter_map(|line| {
            line.strip_prefix("Print ")
                .or_else(|| line.strip_prefix("Check "))
        })
        .map(|line| line.trim_end_matches('.'))
        .collect();
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (module, name) in shown.iter().filter_map(|name| name.split_once('.')) {
        modules.entry(name).or_default().push(module);
    }
    let printing: BTreeSet<&str> = modules.values().flatten().copied().collect();
    let mut inside = BTreeSet::new();
    for begin in ["\nInductive ", "\nRecord ", "\nVariant "] {
        for text in statements.split(begin).skip(1) {
            let mut of = words(text.split("\n\n").next().unwrap_or(text));
            let name = of.next().unwrap_or_default();
            let modules = modules.get(name.rsplit('.').next().unwrap_or(name));
            for name in of {
                inside.extend(modules.into_iter().flatten().map(|module| (*module, name)));
            }
        }
    }
    words(statements)
        .filter(|name| {
            name.split_once('.').is_some_and(|(module, of)| {
                printing.contains(module) && !shown.contains(name) && !inside.contains(&(module, of))
            })
        })
        .collect()
}

#[test]
fn every_definition_that_a_statement_uses_is_printed() {
    let (sources, statements) = (read("Statements.v"), read("statements.txt"));
    assert_eq!(not_printed(&sources, &statements), BTreeSet::new());
    // Without one of them it is not complete.
    for left_out in ["Duplex.rate", "KnownAnswers.holds", "Machine.effect"] {
        let sources = sources.replace(&format!("Print {left_out}.\n"), "");
        assert!(
            not_printed(&sources, &statements).contains(left_out),
            "{left_out}"
        );
    }
}
