//! The tables of what is known: kernels, modules, theorems in words, assumptions, runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::Deserialize;
use veriplex_assurance::evidence::{Inventory, Theorems, inventory, read};
use veriplex_lift::table::TABLE;

use crate::Book;
use crate::kernels::{self, list};

/// A command that was run: `site/runs.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    date: String,
    /// What ran.
    commit: String,
    machine: String,
    result: String,
}

/// The statuses, the strongest first.
const STATUSES: [&str; 4] = ["proved", "proved-in-part", "specified-tested", "tested"];

const INTRODUCTION: &str = "# Evidence

[Soundness](SOUNDNESS.md) says what this adds up to, and what remains to be trusted.

## Kernels

The machine code that does the computing, by level: how many states or blocks at once (NH: passes or units in a register),
and what proved it: **S** SAW, from lifted code; **M** SAW, with its own model of x86-64; **R** Rocq alone. Each number leads
to the kernel's specification, source, machine code and theorems.

";

/// `api` is the folder with the documentation of the crate, if there is one.
pub fn write(book: &mut Book<'_>, api: Option<&Path>) -> io::Result<()> {
    let inventory = inventory();
    let theorems = Theorems::read();
    let mut text = INTRODUCTION.to_owned();
    text += &kernels_by_level(&theorems);
    text += &calls(&inventory, &theorems);
    text += &modules(&inventory, &theorems, api)?;
    text += "\n## What theorems assume\n\n| name | what | why it is plausible | what would reveal a mistake |\n|---|---|---|---|\n";
    for (name, assumption) in &inventory.assumptions {
        let (what, because) = (&assumption.what, &assumption.because);
        let _ = writeln!(
            text,
            "| {name} | {what} | {because} | {} |",
            list(&assumption.checks)
        );
    }
    text += &runs()?;
    book.chapter("Evidence", "evidence.md", &text)?;
    book.chapter("Theorems in Rocq", "theorems.md", &words())
}

fn kernels_by_level(theorems: &Theorems) -> String {
    let mut operations: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (level, kernel) in TABLE.all() {
        let (operation, at_once) = kernel.name.rsplit_once("_x").unwrap_or((&kernel.name, "1"));
        if !operations.contains(&operation) {
            operations.push(operation);
        }
        let proofs = theorems.of_kernel(level, kernel);
        let evidence: String = [
            ("S", !proofs.lifted.is_empty()),
            ("M", !proofs.macaw.is_empty()),
            ("R", proofs.rocq.is_some()),
        ]
        .into_iter()
        .filter_map(|(letter, holds)| holds.then_some(letter))
        .collect();
        let evidence = if evidence.is_empty() { "tested" } else { &evidence };
        let link = format!("[{at_once}:\u{a0}{evidence}]({})", kernels::path(level, kernel));
        cells.entry((operation, &level.name)).or_default().push(link);
    }
    let levels: Vec<&str> = TABLE.levels.iter().map(|level| level.name.as_str()).collect();
    let mut text = format!(
        "| operation | {} |\n|---{}|\n",
        levels.join(" | "),
        "|---".repeat(levels.len())
    );
    for operation in operations {
        let row = levels.iter().map(|level| {
            cells
                .get(&(operation, level))
                .map_or(String::new(), |cell| cell.join("; "))
        });
        let _ = writeln!(
            text,
            "| `{operation}` | {} |",
            row.collect::<Vec<_>>().join(" | ")
        );
    }
    text
}

/// What users call, and the theorems about it.
fn calls(inventory: &Inventory, theorems: &Theorems) -> String {
    let of_object =
        |wanted: &dyn Fn(&str) -> bool| theorems.saw.values().filter(|object| wanted(object)).count();
    let lemmas = of_object(&|object| object == "spec");
    let forms = of_object(&|object| object == "instructions");
    let kernels = TABLE.proved().count();
    let code = theorems.saw.len() - lemmas - forms;
    let mut text = format!(
        "\n## Calls\n\n{kernels} kernels, and {code} theorems in SAW about code, theirs among them. SAW proves {lemmas} lemmas \
         about the Cryptol and {forms} theorems about its model of instructions, too. The theorems about calls, with \
         [what they assume](#what-theorems-assume):\n\n\
         | call | for which lengths | in which configuration | theorem | assumes |\n|---|---|---|---|---|\n"
    );
    let mut rows: Vec<_> = inventory.calls.iter().collect();
    rows.sort_by_key(|(theorem, call)| (&call.call, !theorems.saw[*theorem].starts_with("shipped")));
    for (theorem, call) in rows {
        let configuration = match theorems.saw[theorem].as_str() {
            "shipped" => "as it ships for x86-64",
            "shipped_aarch64" => "as it ships for AArch64",
            _ => "the portable backend",
        };
        let (function, lengths, assumed) = (&call.call, &call.lengths, &theorems.assumptions[theorem]);
        let _ = writeln!(
            text,
            "| `{function}` | {lengths} | {configuration} | `{theorem}` | {assumed} |"
        );
    }
    text + "\n**All other calls are tested**, every scheme among them, and these calls where no row holds. The kernels that \
            they run are proved.\n"
}

fn modules(inventory: &Inventory, theorems: &Theorems, api: Option<&Path>) -> io::Result<String> {
    let mut text = String::from("\n## Modules\n\n");
    for status in STATUSES {
        let _ = writeln!(text, "- **{status}**: {}", inventory.statuses[status]);
    }
    text += "\n| module | status of its Rust | theorems about its Rust (SAW) | about a model of it (Rocq) | kernels | tests |\n\
             |---|---|---|---|---|---|\n";
    let rank = |status: &str| STATUSES.iter().position(|own| *own == status);
    let mut rows: Vec<_> = inventory.modules.iter().collect();
    rows.sort_by_key(|(_, module)| rank(&module.status));
    for (name, module) in rows {
        let own = theorems
            .saw
            .iter()
            .filter(|(_, object)| module.objects.contains(object));
        let own: Vec<String> = own.map(|(theorem, _)| theorem.clone()).collect();
        let link = match api {
            Some(api) => format!("[`{name}`](api/veriplex/{})", page(name, api)?),
            None => format!("`{name}`"),
        };
        let kernels: Vec<String> = module.kernels.iter().map(|family| format!("{family}…")).collect();
        let _ = writeln!(
            text,
            "| {link} | {} | {} | {} | {} | {} |",
            module.status,
            list(&own),
            list(&module.theorems),
            kernels.join(", "),
            list(&module.tests)
        );
    }
    Ok(text)
}

/// Where rustdoc documents an item of the root.
fn page(name: &str, api: &Path) -> io::Result<String> {
    [
        "NAME/index.html",
        "struct.NAME.html",
        "enum.NAME.html",
        "fn.NAME.html",
    ]
    .into_iter()
    .map(|page| page.replace("NAME", name))
    .find(|page| api.join("veriplex").join(page).exists())
    .ok_or_else(|| io::Error::other(format!("{name} is not in {}", api.display())))
}

fn runs() -> io::Result<String> {
    let runs: BTreeMap<String, Run> = toml::from_str(&read("site/runs.toml")).map_err(io::Error::other)?;
    let mut text = String::from(
        "\n## Last recorded runs\n\n| command | date | commit | machine | result |\n|---|---|---|---|---|\n",
    );
    for (command, run) in runs {
        let _ = writeln!(
            text,
            "| `{command}` | {} | `{}` | {} | {} |",
            run.date, run.commit, run.machine, run.result
        );
    }
    Ok(text)
}

/// The theorems of Rocq in words, in the sections of `theorems.toml`.
fn words() -> String {
    let mut text = String::from(
        "# Theorems in Rocq\n\nWhat they say, in words. `proofs/rocq/statements.txt` has their statements, `make rocq STRICT=1` \
         checks them. Those about a kernel's bytes are on the [kernel's page](kernels.md).\n",
    );
    let file = read("proofs/rocq/theorems.toml");
    let (_, sections) = file.split_once("\n\n").unwrap_or_default();
    for line in sections.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            let _ = write!(text, "\n## {title}\n\n| theorem | what it says |\n|---|---|\n");
        } else if let Some((name, said)) = line.split_once(" = ") {
            let _ = writeln!(text, "| `{name}` | {} |", said.trim_matches(['\'', '"']));
        }
    }
    text
}
