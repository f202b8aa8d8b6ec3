//! A page for each kernel: source beside specification, machine code beside its source and its lifting, theorems.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::{Operation, read};
use veriplex_lift::listing;
use veriplex_lift::table::{Access, Argument, Kernel, Level, TABLE};

use crate::Site;
use crate::evidence::{Evidence, names};
use crate::html::{code, escape, list, page};
use crate::lines::{self, Line};
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
            "<tr><td>{}</td><td>{}</td><td data-name=\"Computes\">{}</td><td>{}</td></tr>",
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
         <div class=\"wide\" tabindex=\"0\"><table class=\"stacked\"><thead><tr><th>Kernel</th><th>Status</th><th>Computes</th><th>Proved bytes</th></tr></thead>\
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
    body += "<div class=\"beside\"><section>";
    let bytes = evidence.bytes.get(&object);
    let rows = bytes.map_or(Ok(Vec::new()), |bytes| rows(level, kernel, bytes))?;
    for (file, path) in lines::sources(level, kernel).iter().enumerate() {
        body += &numbered(file, path, &rows);
    }
    let (module, name) = kernel.cryptol.split_once("::").unwrap_or(("", &kernel.cryptol));
    let _ = write!(
        body,
        "</section><section><h2>Specification: {}</h2><pre tabindex=\"0\">{}</pre></section></div>",
        source::definition(&kernel.cryptol, "../"),
        escape(&source::text_of(
            &read(&format!("spec/cryptol/{module}.cry")),
            name
        )),
    );
    if bytes.is_some() {
        body += &machine_code(level, kernel, &rows);
    }
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

/// An instruction.
struct Row {
    offset: u64,
    bytes: String,
    text: String,
    /// Where it comes from.
    line: Line,
    /// The definitions that the lifter made of it.
    lifted: String,
}

fn lifted(level: &Level, kernel: &Kernel) -> String {
    format!("proofs/generated/lifted/{}/{}.cry", level.name, kernel.name)
}

fn rows(level: &Level, kernel: &Kernel, bytes: &[u8]) -> io::Result<Vec<Row>> {
    let module = read(&lifted(level, kernel));
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
    let instructions = listing(level, bytes).map_err(io::Error::other)?;
    let lines = lines::of(level, kernel)?;
    if lines.len() != instructions.len() {
        return Err(io::Error::other(format!(
            "{}/{}: {} instructions and {} lines",
            level.name,
            kernel.name,
            instructions.len(),
            lines.len()
        )));
    }
    let rows = instructions
        .into_iter()
        .zip(lines)
        .map(|((offset, len, text), line)| {
            let range = usize::try_from(offset)
                .ok()
                .zip(usize::try_from(offset + len).ok());
            let own = range
                .and_then(|(from, to)| bytes.get(from..to))
                .unwrap_or_default();
            Row {
                offset,
                bytes: hex::encode(own),
                text,
                line,
                lifted: lifted
                    .get(&offset)
                    .map_or_else(String::new, |text| text.trim_end().to_owned()),
            }
        });
    Ok(rows.collect())
}

/// A source with the numbers of its lines, each of which leads to its first instruction.
fn numbered(file: usize, path: &str, rows: &[Row]) -> String {
    let mut first: BTreeMap<usize, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.line.0 == file) {
        first.entry(row.line.1).or_insert(row.offset);
    }
    let mut text = format!(
        "<h2>Source: {}</h2><pre class=\"numbered\" tabindex=\"0\">",
        code(path)
    );
    for (number, line) in (1..).zip(read(path).lines()) {
        let shown = match first.get(&number) {
            Some(offset) => format!("<a href=\"#at-{offset:x}\">{number}</a>"),
            None => number.to_string(),
        };
        let _ = writeln!(
            text,
            "<span class=\"line\" id=\"line-{file}-{number}\"><span class=\"number\">{shown}</span>{}</span>",
            escape(line)
        );
    }
    text + "</pre>"
}

/// Each instruction: its place, text and bytes, beside it the line of the source and the definitions that the lifter made.
fn machine_code(level: &Level, kernel: &Kernel, rows: &[Row]) -> String {
    let sources: Vec<String> = lines::sources(level, kernel)
        .iter()
        .map(|path| read(path))
        .collect();
    let mut text = format!(
        "<h2>Machine code, its source, and what it was lifted to</h2><p>Each instruction with the line that it comes from, and the \
         definitions in {} that the lifter made of it. Instructions without one move pointers, count or jump. In a macro, or a \
         function that the compiler put in place, the line is the one there. {} compares the lines with what the compiler \
         or the assembler says.</p>\
         <div class=\"wide\" tabindex=\"0\"><table class=\"code\"><thead><tr><th>At</th><th>Instruction</th><th>Line</th><th>Source</th>\
         <th>Cryptol</th><th>Bytes</th></tr></thead><tbody>\n",
        code(&lifted(level, kernel)),
        code("make kernels-check"),
    );
    for row in rows {
        let (file, number) = row.line;
        let source = sources
            .get(file)
            .and_then(|source| source.lines().nth(number - 1))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "<tr id=\"at-{0:x}\"><td><a href=\"#at-{0:x}\">{0:03x}</a></td><td>{1}</td>\
             <td><a href=\"#line-{file}-{number}\">{number}</a></td><td>{2}</td><td>{3}</td><td>{4}</td></tr>",
            row.offset,
            escape(&row.text),
            escape(&source.trim().replace('\t', " ")),
            escape(&row.lifted),
            row.bytes,
        );
    }
    text + "</tbody></table></div>\n"
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
