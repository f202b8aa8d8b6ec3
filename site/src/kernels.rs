//! The auditor's pages: from a symbol to its specification, source, machine code and theorems.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use serde::Deserialize;
use veriplex_assurance::evidence::{Proofs, Theorems, read, root};
use veriplex_lift::listing;
use veriplex_lift::table::{Kernel, Level, TABLE};

use crate::Book;

/// `proofs/generated/manifest.json`.
#[derive(Deserialize)]
struct Manifest {
    objects: BTreeMap<String, Object>,
}

/// The bytes of a kernel about which there are theorems.
#[derive(Deserialize)]
struct Object {
    symbol: String,
    length: usize,
    sha256: String,
}

const INTRODUCTION: &str = "# From a symbol to its theorem

A kernel is an assembly routine that does the bulk of the computing. Find the symbol that your program contains; its page has
its Cryptol definition, its source, its machine code and its theorems. [The audit](audit.md) finds symbols in a binary and
compares their bytes with the proved ones.

| symbol | level | computes | bytes |
|---|---|---|---|
";

pub fn path(level: &Level, kernel: &Kernel) -> String {
    format!("kernels/{}-{}.md", level.name, kernel.name)
}

pub fn write(book: &mut Book<'_>) -> io::Result<()> {
    let manifest: Manifest = serde_json::from_str(&read("proofs/generated/manifest.json"))?;
    let code = bytes(&read("proofs/generated/kernels.txt"))?;
    let theorems = Theorems::read();
    let statements = read("proofs/rocq/statements.txt");
    let mut index = INTRODUCTION.to_owned();
    let mut pages = Vec::new();
    for (level, kernel) in TABLE.all() {
        let name = format!("{}/{}", level.name, kernel.name);
        let (path, cryptol) = (path(level, kernel), &kernel.cryptol);
        let symbol = manifest
            .objects
            .get(&name)
            .map_or(&kernel.name, |object| &object.symbol);
        let mut text = format!(
            "# {symbol}\n\nLevel {}: needs {}. ",
            level.name,
            features(level, kernel)
        );
        text += match &kernel.unproved {
            Some(_) => "**Not proved.** ",
            None => "**Proved**, for every input and any number of blocks. ",
        };
        text += "[Specification](#specification) · [Source](#source) · [Machine code](#machine-code) · [Theorems](#theorems)\n";
        let _ = write!(
            text,
            "\n## Specification\n\nIt computes `{cryptol}`.\n\n{}",
            specification(cryptol)
        );
        text += "\n## Source\n";
        let own = format!("{}.{}", kernel.name, level.source);
        for file in [Some(&own), kernel.levels[&level.name].include.as_ref()]
            .into_iter()
            .flatten()
        {
            let file = format!("jasmin/{}/{file}", level.name);
            text += &folded(&file, &read(&file));
        }
        text += "\n## Machine code\n\n";
        let mut length = String::new();
        if let (Some(object), Some(code)) = (manifest.objects.get(&name), code.get(&name)) {
            let file = format!("machine/{name}.txt");
            book.write(&file, &disassembly(level, code)?)?;
            length = object.length.to_string();
            let _ = write!(
                text,
                "[{length} bytes, disassembled](../{file}). SHA-256 `{}`.\n\nIs it in your program? [Audit it](../audit.md), or \
                 `cargo run -p veriplex-audit -- FILE`.\n",
                object.sha256
            );
        }
        text += "\n## Theorems\n\n";
        text += &theorems_of(&name, &theorems.of_kernel(level, kernel), &statements);
        let _ = writeln!(
            index,
            "| [`{symbol}`]({path}) | {} | `{cryptol}` | {length} |",
            level.name
        );
        pages.push((format!("{} ({})", kernel.name, level.name), path, text));
    }
    book.chapter("From a symbol to its theorem", "kernels.md", &index)?;
    for (title, path, text) in pages {
        book.summary += "  ";
        book.chapter(&title, &path, &text)?;
    }
    Ok(())
}

fn theorems_of(name: &str, proofs: &Proofs, statements: &str) -> String {
    let mut text = String::new();
    for (what, names) in [
        ("SAW, about the code as `veriplex-lift` lifts it", &proofs.lifted),
        (
            "SAW, with its own model of x86-64 (macaw), for up to four blocks and each iteration",
            &proofs.macaw,
        ),
    ] {
        if !names.is_empty() {
            let _ = writeln!(text, "- {what}: {}.", list(names));
        }
    }
    if let Some(every_n) = proofs.every_n {
        let _ = writeln!(
            text,
            "- Rocq, from one iteration to any number of blocks: [`{every_n}`](../theorems.md)."
        );
    }
    if let Some(rocq) = &proofs.rocq {
        let _ = writeln!(text, "- Rocq alone, about the literal bytes: `{rocq}`.");
    }
    text += "\n`make proofs STRICT=1` proves these again, `make rocq STRICT=1` those in Rocq.\n";
    let script = format!("proofs/saw/{name}.saw");
    if root().join(&script).exists() {
        let saw = read(&script);
        text += &folded(&script, &saw);
        // The last file that a script includes states the theorems that levels share.
        let mut shared = saw
            .lines()
            .filter_map(|line| line.strip_prefix("include \"../")?.strip_suffix("\";"));
        if let Some(shared) = shared.next_back() {
            let shared = format!("proofs/saw/{shared}");
            text += &folded(&shared, &read(&shared));
        }
    }
    if let Some(rocq) = &proofs.rocq {
        text += &folded(&format!("{rocq}, as Rocq states it"), statement(statements, rocq));
    }
    text
}

fn features(level: &Level, kernel: &Kernel) -> String {
    kernel.levels[&level.name].features.join(", ")
}

/// Names as code.
pub fn list(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A text that the reader unfolds.
fn folded(title: &str, text: &str) -> String {
    format!(
        "\n<details><summary>{title}</summary>\n\n```text\n{}\n```\n\n</details>\n",
        text.trim_end()
    )
}

/// A definition, `Module::name`, with the comment before it and the definitions beside it.
fn specification(path: &str) -> String {
    let (module, name) = path.split_once("::").unwrap_or(("", path));
    let file = format!("spec/cryptol/{module}.cry");
    let text = read(&file);
    let is_definition = |part: &&str| {
        (part.lines()).any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" :")))
    };
    let own = text.split("\n\n").find(is_definition).unwrap_or_default();
    format!(
        "```text\n{}\n```\n{}",
        own.trim_matches('\n'),
        folded(&format!("The whole module, {file}"), &text)
    )
}

/// The statement of a theorem.
fn statement<'t>(statements: &'t str, name: &str) -> &'t str {
    let Some((_, rest)) = statements.split_once(&format!(".{name}\n")) else {
        return "";
    };
    let end = rest
        .find("\n\n")
        .into_iter()
        .chain(rest.match_indices('\n').find_map(|(at, _)| {
            rest[at + 1..]
                .starts_with(|c: char| c.is_alphabetic())
                .then_some(at)
        }));
    &rest[..end.min().unwrap_or(rest.len())]
}

/// Reads `kernels.txt`.
fn bytes(text: &str) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut kernels: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(next) = line.strip_suffix(':') {
            next.clone_into(&mut name);
        } else {
            let bytes = hex::decode(line).map_err(io::Error::other)?;
            kernels.entry(name.clone()).or_default().extend(bytes);
        }
    }
    Ok(kernels)
}

fn disassembly(level: &Level, code: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    for (offset, len, instruction) in listing(level, code).map_err(io::Error::other)? {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start + usize::try_from(len).map_err(io::Error::other)?;
        let _ = writeln!(
            text,
            "{offset:6x}  {:<24}  {instruction}",
            hex::encode(&code[start..end])
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;

    #[test]
    fn every_page_leads_from_the_symbol_to_its_theorems() {
        let folder = env::temp_dir().join(format!("veriplex-site-{}", process::id()));
        let mut book = Book {
            folder: &folder,
            summary: String::new(),
        };
        write(&mut book).unwrap();
        for (level, kernel) in TABLE.proved() {
            let text = fs::read_to_string(folder.join(path(level, kernel))).unwrap();
            let name = kernel.cryptol.rsplit("::").next().unwrap();
            for wanted in [
                &format!("\n{name} :"),
                &format!("<summary>jasmin/{}/{}.", level.name, kernel.name),
                "disassembled](../machine/",
                "_lifted_",
                "as Rocq states it</summary>\n\n```text\n     : ",
            ] {
                assert!(text.contains(wanted), "{}: no {wanted}", path(level, kernel));
            }
            assert!(
                folder
                    .join(format!("machine/{}/{}.txt", level.name, kernel.name))
                    .exists()
            );
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
