//! The specification: Cryptol with its twin beside it, Rocq, and the pages that explain them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::{read, root};

use crate::Site;
use crate::evidence::collect;
use crate::html::{MENU, code, escape, markdown, page, slug};

/// The documents that are pages too.
const DOCUMENTS: [(&str, &str); 12] = [
    ("SOUNDNESS.md", "Soundness"),
    ("design.md", "Design"),
    ("SECURITY.md", "Security"),
    ("README.md", "Readme"),
    ("CONTRIBUTING.md", "Contributing"),
    ("proofs/README.md", "Proofs"),
    ("proofs/rocq/README.md", "Proofs in Rocq"),
    ("jasmin/README.md", "How kernels are written"),
    ("docs/formats.md", "Formats"),
    ("docs/performance.md", "Performance"),
    ("docs/reviews.md", "Reviews"),
    ("docs/history.md", "What was tried"),
];

fn document(path: &str) -> String {
    format!("text/{}.html", slug(path.trim_end_matches(".md")))
}

/// The page of a file of Cryptol or Rocq.
fn file(path: &str) -> String {
    format!("text/{}.html", slug(path))
}

/// A link to a definition, `Module::name`.
pub fn definition(path: &str, up: &str) -> String {
    let (module, name) = path.split_once("::").unwrap_or(("", path));
    format!(
        "<a href=\"{up}{}#{name}\">{}</a>",
        file(&format!("spec/cryptol/{module}.cry")),
        code(path)
    )
}

pub fn write(site: &Site) -> io::Result<()> {
    let mut cryptol = BTreeMap::new();
    collect(&root(), "spec/cryptol", &["cry"], &mut cryptol)?;
    let mut rocq = BTreeMap::new();
    collect(&root(), "proofs/rocq", &["v"], &mut rocq)?;
    let mut body = String::from(
        "<p>The specification is in Cryptol. Beside each module is its twin, the same definitions in executable Rust, with which \
         the code is compared on random inputs. Names lead to their definitions. What the kernels' theorems in Rocq rest on is \
         written in Rocq once more.</p><h2>Documents</h2><ul>",
    );
    for (path, title) in DOCUMENTS {
        let _ = write!(
            body,
            "<li><a href=\"{}\">{title}</a> ({})</li>",
            document(path),
            code(path)
        );
        let text = markdown(&read(path), |link| target(path, link));
        site.write(&document(path), &page(title, 1, &[], &text))?;
    }
    for (title, files) in [("Cryptol", &cryptol), ("Rocq", &rocq)] {
        let _ = write!(body, "</ul><h2>{title}</h2><ul class=\"columns\">");
        let places = places(files);
        for (path, text) in files {
            let name = path.rsplit('/').next().unwrap_or(path);
            let _ = write!(body, "<li><a href=\"{}\">{name}</a></li>", file(path));
            let mut page_body = format!("<p>{}</p>", code(path));
            match twin(text) {
                Some(twin) => {
                    let _ = write!(
                        page_body,
                        "<div class=\"beside\"><section><h2>Cryptol</h2>{}</section><section><h2>Its twin in Rust</h2>\
                         <p>{}</p><pre tabindex=\"0\">{}</pre></section></div>",
                        linked(path, text, &places),
                        code(twin),
                        escape(&read(twin)),
                    );
                }
                None => page_body += &linked(path, text, &places),
            }
            site.write(&file(path), &page(name, 1, &[], &page_body))?;
        }
    }
    site.write(
        "specification.html",
        &page("Specification", 0, &[], &(body + "</ul>")),
    )
}

/// The file of the twin, which the head of a module names.
fn twin(text: &str) -> Option<&str> {
    let start = text.find("Rust twin: ")? + "Rust twin: ".len();
    let path = text[start..].split_whitespace().next()?.trim_end_matches('.');
    root().join(path).is_file().then_some(path)
}

/// The name that a line defines.
fn defined(line: &str) -> Option<&str> {
    const KEYWORDS: [&str; 8] = [
        "type ",
        "primitive ",
        "Definition ",
        "Fixpoint ",
        "Theorem ",
        "Lemma ",
        "Inductive ",
        "Record ",
    ];
    let keyword = KEYWORDS.iter().find_map(|keyword| line.strip_prefix(keyword));
    let is_signature = || {
        line.starts_with(|c: char| c.is_ascii_lowercase())
            && line
                .split_once(" : ")
                .is_some_and(|(name, _)| !name.contains(' '))
    };
    let rest = keyword.or_else(|| is_signature().then_some(line))?;
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .next()?;
    (!name.is_empty()).then_some(name)
}

/// Where each name is defined: in which files.
fn places(files: &BTreeMap<String, String>) -> BTreeMap<&str, Vec<&str>> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in files {
        for name in text.lines().filter_map(defined) {
            places.entry(name).or_default().push(path);
        }
    }
    places
}

/// Source in which each name is a link to its definition: the one in this file, or the only one.
fn linked(path: &str, text: &str, places: &BTreeMap<&str, Vec<&str>>) -> String {
    let mut out = String::from("<pre tabindex=\"0\">");
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines() {
        if let Some(name) = defined(line).filter(|name| seen.insert(*name)) {
            let _ = write!(out, "<span id=\"{}\"></span>", escape(name));
        }
        let mut rest = line;
        while !rest.is_empty() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
            let end = rest
                .find(|c| is_word(c) != rest.starts_with(is_word))
                .unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            let target = places.get(token).and_then(|files| match files[..] {
                [only] => Some(only),
                _ => files.iter().copied().find(|file| *file == path),
            });
            match target {
                // One letter is a variable more often than not.
                Some(target) if token.len() > 1 && !line.trim_start().starts_with(['*', '/', '(']) => {
                    let page = file(target);
                    let _ = write!(out, "<a href=\"../{page}#{0}\">{0}</a>", escape(token));
                }
                _ => out += &escape(token),
            }
            rest = after;
        }
        out.push('\n');
    }
    out + "</pre>"
}

/// A definition of a module, with the comment before it.
pub fn text_of(module: &str, name: &str) -> String {
    let lines: Vec<&str> = module.lines().collect();
    let Some(at) = lines.iter().position(|line| defined(line) == Some(name)) else {
        return String::new();
    };
    let start = lines[..at]
        .iter()
        .rposition(|line| line.is_empty())
        .map_or(0, |blank| blank + 1);
    let end = lines[at..]
        .iter()
        .position(|line| line.is_empty())
        .map_or(lines.len(), |blank| at + blank);
    lines[start..end].join("\n")
}

/// Where a link in a document goes. Most files of the repository are no pages.
fn target(from: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with('#') {
        return Some(link.to_owned());
    }
    let (path, anchor) = link
        .split_once('#')
        .map_or((link, String::new()), |(path, anchor)| {
            (path, format!("#{anchor}"))
        });
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    let mut path = parts.join("/");
    if root().join(&path).is_dir() {
        path += "/README.md";
    }
    if DOCUMENTS.iter().any(|(own, _)| *own == path) {
        return Some(format!("../{}{anchor}", document(&path)));
    }
    (path == "proofs/INVENTORY.md").then(|| format!("../{}", MENU[1].0))
}
