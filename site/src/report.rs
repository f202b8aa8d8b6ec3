//! Everything as one document, which `make report` prints to PDF. It has no links to other pages: in a PDF they would name
//! files of the machine that printed it.

use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::{read, rocq_theorems};
use veriplex_lift::table::TABLE;

use crate::Site;
use crate::evidence::Evidence;
use crate::html::{code, escape, list, markdown, page};
use crate::{items, start};

pub fn write(site: &Site, evidence: &Evidence) -> io::Result<()> {
    let parts = [
        ("Summary", summary(evidence)),
        ("Claims and commands", start::claims(evidence)),
        (
            "Statuses",
            format!(
                "{}<p>Operations are the code that computes, on each backend. Items are what a program calls.</p>",
                start::statuses(evidence)
            ),
        ),
        // It has the known gaps.
        (
            "What is proved, what is not, and what is trusted",
            lower(&markdown(&read("SOUNDNESS.md"), |_| None)),
        ),
        ("Assumptions", lower(&items::assumptions(evidence))),
        ("Kernels, and the hashes of the proved bytes", hashes(evidence)),
        ("Theorems in SAW", saw(evidence)),
        ("Theorems in Rocq", rocq(evidence)),
    ];
    let mut contents = String::new();
    let mut body = String::new();
    for (number, (title, text)) in parts.iter().enumerate() {
        let number = number + 1;
        let _ = write!(contents, "<li><a href=\"#part-{number}\">{title}</a></li>");
        let _ = write!(body, "<h2 id=\"part-{number}\">{number}. {title}</h2>{text}");
    }
    let from = evidence.commit.as_ref().map_or_else(
        || "from sources without a history".to_owned(),
        |(commit, date)| format!("commit {} of {}", code(commit), escape(date)),
    );
    let body = format!(
        "<p>Veriplex {}, {from}. Made from the files of the repository by {}.</p>\
         <p>Scope: the library, its kernels and the program of this repository. The report says what is claimed, with what \
         evidence, on which assumptions, and what is not known. It was written by the project itself; no outside party has \
         reviewed the code. It says nothing about whether the design is secure.</p><ol>{contents}</ol>{body}",
        env!("CARGO_PKG_VERSION"),
        code("make report"),
    );
    site.write("report.html", &page("Audit report", 0, &[], &body))
}

/// Headings one level lower, as a part of this document.
fn lower(html: &str) -> String {
    ["h3", "h2"].iter().fold(html.to_owned(), |html, heading| {
        let lower = if *heading == "h3" { "h4" } else { "h3" };
        html.replace(&format!("<{heading}"), &format!("<{lower}"))
            .replace(&format!("</{heading}>"), &format!("</{lower}>"))
    })
}

fn summary(evidence: &Evidence) -> String {
    let kernels = TABLE.all().count();
    let proved = TABLE.proved().count();
    let levels = (TABLE.levels.iter())
        .map(|level| format!("{} {}", TABLE.of_level(level).count(), escape(&level.name)))
        .collect::<Vec<_>>()
        .join(", ");
    let items: usize = (evidence.inventory.api.iter()).map(|api| api.items.len()).sum();
    list([
        format!("Kernels: {kernels} ({levels}). Proved: {proved}."),
        format!(
            "Tables of constants that kernels read: {}.",
            TABLE.proved_constants().count()
        ),
        format!(
            "Theorems: {}, {} in Rocq.",
            evidence.results(),
            rocq_theorems().len()
        ),
        format!("Public items of the library: {items}."),
        format!("Assumptions: {}.", evidence.inventory.assumptions.len()),
        format!("Tools of the last proofs: {}.", evidence.tools().join("; ")),
    ])
}

fn table(head: &[&str], rows: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>{}</th></tr></thead><tbody>{rows}</tbody></table></div>",
        head.join("</th><th>")
    )
}

fn hashes(evidence: &Evidence) -> String {
    let mut rows = String::new();
    for (name, object) in &evidence.manifest.objects {
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(name),
            object.length,
            code(&object.sha256)
        );
    }
    format!(
        "<p>Those without a level before their names are tables of constants. {} finds these bytes in a program.</p>{}",
        code("cargo run -p veriplex-audit -- FILE"),
        table(&["Object", "Bytes", "SHA-256"], &rows)
    )
}

fn saw(evidence: &Evidence) -> String {
    let mut rows = String::new();
    for theorem in &evidence.manifest.theorems {
        let (object, assumed) = evidence.saw.get(&theorem.name).cloned().unwrap_or_default();
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(&theorem.name),
            code(&object),
            assumed.join(", "),
            escape(&theorem.result),
            escape(theorem.solver.as_deref().unwrap_or("")),
        );
    }
    format!(
        "<p>{}. What was left to no solver, SAW rewrote to true. The statements are in {}.</p>{}",
        evidence.results(),
        code("proofs/saw"),
        table(&["Theorem", "About", "Assumes", "Result", "Solver"], &rows)
    )
}

fn rocq(evidence: &Evidence) -> String {
    let theorems = rocq_theorems();
    let mut rows = String::new();
    for name in &theorems {
        let file = evidence.statement(name).map_or("", |(file, _)| file);
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(name),
            evidence.in_words(name).unwrap_or_default(),
            code(file)
        );
    }
    format!(
        "<p>{} theorems, each closed: without axioms and unfinished proofs. {} checks that, and compares the statements with \
         those of {}. Last run: {}.</p>{}",
        theorems.len(),
        code("make rocq STRICT=1"),
        code("proofs/rocq/statements.txt"),
        evidence.last_run("make rocq"),
        table(&["Theorem", "In words", "In"], &rows)
    )
}
