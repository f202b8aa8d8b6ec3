//! The documents of the repository, as chapters.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use veriplex_assurance::evidence::{read, root};

use crate::{Book, evidence, kernels, speed};

/// Where links of documents that are published elsewhere lead. Nothing is there yet.
const REPOSITORY: &str = "https://github.com/veriplex/veriplex/blob/main/";

/// Path and title.
type Chapters<'a> = &'a [(&'a str, &'a str)];

const USE: Chapters<'_> = &[
    ("rust/cli/README.md", "The program"),
    ("SECURITY.md", "Security"),
    ("docs/formats.md", "Formats"),
    ("docs/performance.md", "Performance"),
    ("rust/tunnel/README.md", "The tunnel for programs"),
    ("rust/store/README.md", "The object store"),
];
const EVIDENCE: Chapters<'_> = &[
    ("SOUNDNESS.md", "Soundness"),
    ("spec/README.md", "The specification"),
    ("proofs/README.md", "Checking the proofs"),
    ("proofs/rocq/README.md", "Proofs in Rocq"),
    ("proofs/rocq/bound/README.md", "The bounds"),
    ("proofs/model/README.md", "The tunnel as a model"),
    ("proofs/audit/README.md", "The audit"),
    ("docs/check-in-your-ci.md", "The audit in your CI"),
];
const DEVELOPMENT: Chapters<'_> = &[
    ("design.md", "Design"),
    ("CONTRIBUTING.md", "Contributing"),
    ("jasmin/README.md", "Kernels"),
    ("fuzz/README.md", "Fuzzing"),
    ("docs/reviews.md", "Reviews"),
    ("docs/history.md", "What was tried"),
];

/// What stands on the first page under its title.
const START: &str = "
A Rust library and a program: hashes, encryption, signatures, sessions and post-quantum tunnels, whose inner loops are proved
to compute their specification.

**Here:** [install and use](#quick-start) · [examples](#use) · [API documentation](api/veriplex/index.html) · [what is
proved](evidence.md) · [audit a binary](audit.md) · [try it](try.md). **There is no public repository yet**: the addresses
at github.com/veriplex in these pages are where it will be.
";

pub fn write(book: &mut Book<'_>, api: Option<&Path>) -> io::Result<()> {
    let readme = text("README.md");
    let (title, rest) = readme.split_once('\n').unwrap_or_default();
    book.summary += "[Veriplex](index.md)\n";
    book.write("index.md", &format!("{title}\n{START}{rest}"))?;
    for (part, chapters) in [("Use", USE), ("Evidence", EVIDENCE), ("Development", DEVELOPMENT)] {
        book.part(part);
        for (i, (path, title)) in chapters.iter().enumerate() {
            book.chapter(title, &place(path), &text(path))?;
            match part {
                "Use" if i == 0 => {
                    book.chapter("Try it", "try.md", include_str!("../pages/try.md"))?;
                    speed::write(book)?;
                }
                "Evidence" if i == 0 => {
                    evidence::write(book, api)?;
                    kernels::write(book)?;
                    book.chapter("Audit a binary", "audit.md", include_str!("../pages/audit.md"))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Where a document is in the book.
fn place(path: &str) -> String {
    path.replace("README.md", "index.md")
}

fn text(path: &str) -> String {
    linked(&read(path), path)
}

/// A document whose links lead to chapters. Other files of the repository are not in the book.
fn linked(text: &str, path: &str) -> String {
    let mut out = String::new();
    for (i, block) in text.split("```").enumerate() {
        if i > 0 {
            out += "```";
        }
        let mut rest = if i % 2 == 1 { "" } else { block };
        if i % 2 == 1 {
            out += block;
        }
        while let Some((before, after)) = rest.split_once("](") {
            out += before;
            let (link, after) = after.split_once(')').unwrap_or((after, ""));
            match (target(link, path), out.rfind('[')) {
                (None, Some(open)) => _ = out.remove(open),
                (link, _) => _ = write!(out, "]({})", link.unwrap_or_default()),
            }
            rest = after;
        }
        out += rest;
    }
    out
}

/// Where a link of the document at `path` leads in the book.
fn target(link: &str, path: &str) -> Option<String> {
    let (parent, link) = match link.strip_prefix(REPOSITORY) {
        Some(link) => (Path::new(""), link),
        None if link.contains("://") || link.starts_with('#') => return Some(link.to_owned()),
        None => (Path::new(path).parent()?, link),
    };
    let (file, anchor) = link
        .split_once('#')
        .map_or((link, ""), |(file, _)| link.split_at(file.len()));
    let mut parts: Vec<&str> = parent.iter().filter_map(|part| part.to_str()).collect();
    for part in file.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let mut file = parts.join("/");
    if root().join(&file).is_dir() {
        file = format!("{}/README.md", file.trim_end_matches('/'));
    }
    let is_chapter = file == "README.md"
        || [USE, EVIDENCE, DEVELOPMENT]
            .concat()
            .iter()
            .any(|(own, _)| *own == file);
    let up = "../".repeat(path.matches('/').count());
    is_chapter.then(|| format!("{up}{}{anchor}", place(&file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_chapters() {
        let text = format!(
            "[a]({REPOSITORY}README.md#use) [`b`](../design.md) [c\nd](versions.toml) [e](rocq) [f](https://g) [h](#i)\n```\n[j](k)\n```"
        );
        assert_eq!(
            linked(&text, "proofs/README.md"),
            "[a](../index.md#use) [`b`](../design.md) c\nd [e](../proofs/rocq/index.md) [f](https://g) [h](#i)\n```\n[j](k)\n```"
        );
    }
}
