//! A page for each kernel: source, machine code beside its lifting, specification, theorems.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::{Operation, read};
use veriplex_lift::listing;
use veriplex_lift::table::{Access, Argument, Kernel, Level, TABLE};

use crate::Site;
use crate::evidence::{Evidence, names};
use crate::html::{code, escape, list, page};
use crate::{items, source};

fn file(level: &str, kernel: &str) -> String {
    format!("kernels/{level}-{kernel}.html")
}

/// A link to the page of a kernel from a page whose way up is `up`.
pub fn link(level: &str, kernel: &str, up: &str) -> String {
    format!(
        "<a href=\"{up}{}\">{}</a> ({})",
        file(level, kernel),
        code(kernel),
        escape(level)
    )
}

pub fn write(site: &Site, evidence: &Evidence) -> io::Result<()> {
    let mut rows = String::new();
    for (level, kernel) in TABLE.all() {
        let operation = (evidence.inventory.operation.iter())
            .find(|o| o.backend == format!("{} kernels", level.name) && o.names.contains(&kernel.name))
            .ok_or_else(|| io::Error::other(format!("{}: not in the inventory", kernel.name)))?;
        let object = evidence
            .manifest
            .objects
            .get(&format!("{}/{}", level.name, kernel.name));
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            link(&level.name, &kernel.name, ""),
            items::status(&operation.status),
            source::definition(&kernel.cryptol, ""),
            object.map_or(String::new(), |object| format!(
                "{} bytes, SHA-256 {}",
                object.length,
                code(&object.sha256)
            )),
        );
        let title = format!("{} on {}", kernel.name, level.name);
        site.write(
            &file(&level.name, &kernel.name),
            &page(&title, 1, &[], &kernel_page(evidence, level, kernel, operation)?),
        )?;
    }
    let body = format!(
        "<p>The machine code that does the computing. For those that are proved, the theorems are about the bytes with this \
         SHA-256, and <a href=\"audit.html\">an audit</a> finds them in a program.</p>\
         <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Kernel</th><th>Status</th><th>Computes</th><th>Proved bytes</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    );
    site.write("kernels.html", &page("Kernels", 0, &[], &body))
}

fn kernel_page(
    evidence: &Evidence,
    level: &Level,
    kernel: &Kernel,
    operation: &Operation,
) -> io::Result<String> {
    let object = format!("{}/{}", level.name, kernel.name);
    let needs = &kernel.levels[&level.name];
    let mut body = format!(
        "<p>{} Computes {}. Needs {} of the CPU.</p><h2>Arguments</h2>{}",
        items::status(&operation.status),
        source::definition(&kernel.cryptol, "../"),
        escape(&needs.features.join(", ")),
        list(kernel.arguments.iter().map(argument)),
    );
    if let Some(why) = &kernel.unproved {
        let _ = write!(body, "<h2>Not proved</h2><p>{}</p>", escape(why));
    }
    if let Some(object) = evidence.manifest.objects.get(&object) {
        let _ = write!(
            body,
            "<h2>Proved bytes</h2><p>{} bytes under the symbol {}, SHA-256 {}. Is it in your program? {}</p>",
            object.length,
            code(&object.symbol),
            code(&object.sha256),
            code("cargo run -p veriplex-audit -- FILE"),
        );
    }
    if !operation.theorems.is_empty() {
        let theorems: String = names(&operation.theorems)
            .iter()
            .map(|name| evidence.theorem(name))
            .collect();
        let _ = write!(
            body,
            "<h2>Theorems</h2><p>All of them: {}. Last run: {}. They rest on {}.</p>{theorems}",
            code("make proofs STRICT=1"),
            evidence.last_run("make proofs"),
            operation
                .assumptions
                .iter()
                .map(|name| format!("<a href=\"../assumptions.html#{name}\">{name}</a>"))
                .collect::<Vec<_>>()
                .join(", "),
        );
    }
    // Rocq's theorems about these bytes have the name of the operation and of the instruction set.
    let short = kernel.name.split_once('_').map_or("", |(_, short)| short);
    let level_name = level.name.replace('-', "_").replace("armv8", "aarch64");
    let rocq: String = [
        format!("{short}_{level_name}"),
        format!("{short}_in_place_{level_name}"),
    ]
    .iter()
    .filter(|name| evidence.statement(name).is_some())
    .map(|name| evidence.theorem(name))
    .collect();
    if !rocq.is_empty() {
        let _ = write!(
            body,
            "<h2>Theorems about the same bytes in Rocq alone</h2><p>{}. Last run: {}.</p>{rocq}",
            code("make rocq STRICT=1"),
            evidence.last_run("make rocq"),
        );
    }
    let _ = write!(
        body,
        "<h2>Tests</h2>{}<h2>Constant time</h2>{}",
        items::commands(evidence, &operation.tests),
        items::commands(evidence, &operation.constant_time),
    );
    let folder = format!("jasmin/{}", level.name);
    for name in [
        Some(format!("{}.{}", kernel.name, level.source)),
        needs.include.clone(),
    ]
    .into_iter()
    .flatten()
    {
        // A level may have kernels in both languages.
        let path = [name.clone(), name.replace(".jazz", ".S")].map(|name| format!("{folder}/{name}"));
        if let Some(path) = path
            .iter()
            .find(|path| veriplex_assurance::evidence::root().join(path).is_file())
        {
            let _ = write!(
                body,
                "<h2>Source: {}</h2><pre tabindex=\"0\">{}</pre>",
                code(path),
                escape(&read(path))
            );
        }
    }
    if let Some(bytes) = evidence.bytes.get(&object) {
        body += &machine_code(level, kernel, bytes)?;
    }
    let (module, name) = kernel.cryptol.split_once("::").unwrap_or(("", &kernel.cryptol));
    let _ = write!(
        body,
        "<h2>Specification: {}</h2><pre tabindex=\"0\">{}</pre>",
        source::definition(&kernel.cryptol, "../"),
        escape(&source::text_of(
            &read(&format!("spec/cryptol/{module}.cry")),
            name
        )),
    );
    Ok(body)
}

fn access(argument: &Argument) -> &'static str {
    match argument.access() {
        Access::Read => "read",
        Access::Write => "written",
        Access::ReadWrite => "read and written",
    }
}

fn secrecy(argument: &Argument) -> &'static str {
    if argument.is_secret() { "secret" } else { "public" }
}

fn argument(argument: &Argument) -> String {
    let what = match argument.buffer() {
        _ if argument.is_count() => "the number of blocks, public".to_owned(),
        _ if argument.table().is_some() => format!(
            "a pointer to the table {}, read",
            code(argument.table().unwrap_or_default())
        ),
        None => format!(
            "a pointer to {} pointers, one for each lane, each to blocks of {} bytes, {}; what is there may be {}",
            argument.pointers().unwrap_or_default(),
            argument.of_lane(&argument.name).len,
            access(argument),
            secrecy(argument),
        ),
        Some(buffer) => {
            let each = if buffer.stride.is_some() {
                " in each block"
            } else {
                ""
            };
            format!(
                "a pointer to {} bytes{each}, {}; what is there may be {}",
                buffer.len,
                access(argument),
                secrecy(argument)
            )
        }
    };
    format!("{}: {what}", code(&argument.name))
}

/// Each instruction: its place, bytes and text, and beside it the definitions that the lifter made of it.
fn machine_code(level: &Level, kernel: &Kernel, bytes: &[u8]) -> io::Result<String> {
    let path = format!("proofs/generated/lifted/{}/{}.cry", level.name, kernel.name);
    let module = read(&path);
    let mut lifted: BTreeMap<u64, String> = BTreeMap::new();
    for line in module.lines() {
        let comment = line
            .split_once(" // ")
            .map(|(definition, comment)| (definition.trim(), comment));
        if let Some((definition, comment)) = comment
            && let Some(offset) = comment
                .split(' ')
                .next()
                .and_then(|hex| u64::from_str_radix(hex, 16).ok())
        {
            *lifted.entry(offset).or_default() += &format!("{definition}\n");
        }
    }
    let mut text = format!(
        "<h2>Machine code, and what it was lifted to</h2><p>Each instruction with its bytes, and the definitions in {} that the \
         lifter made of it. Instructions without one move pointers, count or jump.</p>\
         <div class=\"wide\" tabindex=\"0\"><table class=\"code\"><thead><tr><th>At</th><th>Bytes</th><th>Instruction</th><th>Cryptol</th></tr>\
         </thead><tbody>\n",
        code(&path)
    );
    for (offset, len, instruction) in listing(level, bytes).map_err(io::Error::other)? {
        let range = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(offset + len).ok());
        let own = range
            .and_then(|(from, to)| bytes.get(from..to))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "<tr id=\"at-{offset:x}\"><td><a href=\"#at-{offset:x}\">{offset:03x}</a></td><td>{}</td><td>{}</td><td>{}</td></tr>",
            hex::encode(own),
            escape(&instruction),
            escape(lifted.get(&offset).map_or("", |text| text.trim_end())),
        );
    }
    Ok(text + "</tbody></table></div>\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use veriplex_audit::Proved;
    use veriplex_lift::Architecture;

    use super::*;

    /// The audit looks for a table of constants where a kernel reads it, and nowhere else.
    #[test]
    fn tables_are_sought_where_they_are_read() {
        let proved = Proved::embedded().unwrap();
        for (architecture, name) in [(Architecture::X86_64, "x86-64"), (Architecture::Aarch64, "armv8")] {
            let sought: BTreeSet<String> = (proved.kernels().iter())
                .filter(|kernel| !kernel.is_code() && kernel.is_for(name))
                .map(|kernel| kernel.symbol.clone())
                .collect();
            let read: BTreeSet<String> = (TABLE.proved_constants())
                .filter(|table| TABLE.reads_constants(architecture, &table.name))
                .map(|table| format!("veriplex_{}", table.name))
                .collect();
            assert_eq!(sought, read, "{name}");
        }
    }
}
