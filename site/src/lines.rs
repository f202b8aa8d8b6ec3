//! Which line of its source each instruction of a kernel comes from.
//!
//! `veriplex-site --lines` finds out and writes `site/lines`, with jasminc and assemblers: it gives the assembler each line as
//! a location, and takes the locations from what that made, if it made the proved bytes. The site only reads these files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::{env, fs, io};

use serde::Deserialize;
use veriplex_assurance::evidence::{read, root};
use veriplex_lift::table::{Kernel, Level, TABLE};
use veriplex_lift::{Architecture, listing, sha256};

use crate::evidence::Evidence;

/// Of a kernel.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The SHA-256 of each of its sources: a change is to be noticed.
    sources: Vec<String>,
    /// For each instruction the number of the file and the line: `0:12`, or `0:12-15` for four in a row.
    lines: Vec<String>,
}

/// The number of a file among the sources of a kernel, and that of a line, from 1.
pub type Line = (usize, usize);

const WRITES: &str = "cargo run -p veriplex-site -- --lines writes it";
const HEAD: &str = "# Which line of its source each instruction of a kernel comes from. `cargo run -p veriplex-site -- --lines` writes this.\n";

fn path(level: &Level) -> String {
    format!("site/lines/{}.toml", level.name)
}

/// The files that people write: the kernel's own, and the one that it includes.
pub fn sources(level: &Level, kernel: &Kernel) -> Vec<String> {
    let own = format!("{}.{}", kernel.name, level.source);
    let include = kernel
        .levels
        .get(&level.name)
        .and_then(|needs| needs.include.clone());
    [Some(own), include]
        .into_iter()
        .flatten()
        .map(|name| format!("jasmin/{}/{name}", level.name))
        .collect()
}

fn hashes(level: &Level, kernel: &Kernel) -> Vec<String> {
    (sources(level, kernel).iter())
        .map(|path| sha256(read(path).as_bytes()))
        .collect()
}

/// The line of each instruction, in their order.
pub fn of(level: &Level, kernel: &Kernel) -> io::Result<Vec<Line>> {
    let path = path(level);
    let wrong = |why: &str| io::Error::other(format!("{path}: {}: {why}; {WRITES}", kernel.name));
    let mut entries: BTreeMap<String, Entry> = toml::from_str(&read(&path)).map_err(io::Error::other)?;
    let entry = entries
        .remove(&kernel.name)
        .ok_or_else(|| wrong("is not there"))?;
    if entry.sources != hashes(level, kernel) {
        return Err(wrong("is not of these sources"));
    }
    let counts: Vec<usize> = (sources(level, kernel).iter())
        .map(|path| read(path).lines().count())
        .collect();
    decode(&entry.lines)
        .filter(|lines| (lines.iter()).all(|&(file, line)| line > 0 && counts.get(file) >= Some(&line)))
        .ok_or_else(|| wrong("cannot be read"))
}

fn decode(texts: &[String]) -> Option<Vec<Line>> {
    let mut lines = Vec::new();
    for token in texts.iter().flat_map(|text| text.split(' ')) {
        let (file, range) = token.split_once(':')?;
        let file = file.parse().ok()?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        lines.extend((first.parse().ok()?..=last.parse().ok()?).map(|line| (file, line)));
    }
    Some(lines)
}

fn encode(lines: &[Line]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for run in lines.chunk_by(|a, b| a.0 == b.0 && a.1 + 1 == b.1) {
        let (file, first) = run[0];
        let mut token = format!("{file}:{first}");
        if run.len() > 1 {
            let _ = write!(token, "-{}", first + run.len() - 1);
        }
        match texts.last_mut() {
            Some(text) if text.is_empty() => *text = token,
            Some(text) if text.len() + token.len() < 100 => *text += &format!(" {token}"),
            _ => texts.push(token),
        }
    }
    texts
}

/// Writes the files, or compares them.
pub fn generate(check: bool) -> io::Result<()> {
    let evidence = Evidence::read()?;
    for level in &TABLE.levels {
        let mut text = HEAD.to_owned();
        for kernel in TABLE.of_level(level) {
            let name = format!("{}/{}", level.name, kernel.name);
            let proved = evidence.bytes.get(&name).map(Vec::as_slice);
            let lines =
                found(level, kernel, proved).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
            let _ = writeln!(
                text,
                "\n[{}]\nsources = {:?}\nlines = [",
                kernel.name,
                hashes(level, kernel)
            );
            for line in encode(&lines) {
                let _ = writeln!(text, "    {line:?},");
            }
            text += "]\n";
        }
        let path = path(level);
        if !check {
            fs::create_dir_all(root().join("site/lines"))?;
            fs::write(root().join(&path), text)?;
        } else if read(&path) != text {
            return Err(io::Error::other(format!(
                "{path} is not what the sources give; {WRITES}"
            )));
        }
    }
    Ok(())
}

/// The line of each instruction, if the assembler makes the bytes that are proved. A new kernel has none yet.
fn found(level: &Level, kernel: &Kernel, proved: Option<&[u8]>) -> io::Result<Vec<Line>> {
    let files = sources(level, kernel);
    let mut text: String = (0..files.len()).fold(String::new(), |mut text, file| {
        let _ = writeln!(text, ".file {} \"{file}\"", file + 1);
        text
    });
    text += &if level.source == "jazz" {
        compiled(&files)?
    } else {
        assembly(&files)
    };
    let (bytes, places) = assembled(level, &text)?;
    if proved.is_some_and(|proved| proved != bytes) {
        return Err(io::Error::other(
            "the assembler makes other bytes than the proved",
        ));
    }
    (listing(level, &bytes).map_err(io::Error::other)?.iter())
        .map(|(offset, ..)| {
            let place = places.range(..=offset).next_back();
            place
                .map(|(_, line)| *line)
                .ok_or_else(|| io::Error::other("an instruction has no line"))
        })
        .collect()
}

/// Whether a line of assembly is an instruction, or the call of a macro.
fn is_instruction(line: &str) -> bool {
    line.starts_with('\t')
        && line
            .trim_start()
            .starts_with(|c: char| c.is_ascii_lowercase() || c == '\\')
}

fn located((file, line): Line, text: &str) -> String {
    format!(".loc {} {line}\n{text}\n", file + 1)
}

/// Assembly with its lines as locations, also in macros: there the line is that of the macro.
fn assembly(files: &[String]) -> String {
    let mut out = String::new();
    // Macros come before their use.
    for (file, path) in files.iter().enumerate().rev() {
        for (number, text) in read(path).lines().enumerate() {
            if is_instruction(text) {
                out += &located((file, number + 1), text);
            } else {
                out += &format!("{text}\n");
            }
        }
    }
    out
}

/// The committed assembly of a kernel in Jasmin, with the locations that the compiler knows.
fn compiled(files: &[String]) -> io::Result<String> {
    let scratch = Scratch::new()?;
    let raw = scratch.0.join("raw.s");
    let mut jasminc = Command::new("jasminc");
    jasminc.arg("-g").arg("-o").arg(&raw).arg(root().join(&files[0]));
    run(jasminc.stdout(Stdio::null()))?;
    let raw = fs::read_to_string(&raw)?;
    let mut numbers = BTreeMap::new();
    let mut line = None;
    let mut instructions = Vec::new();
    for text in raw.lines() {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [".file", number, name] => {
                let name = name.trim_matches('"');
                let file = files.iter().position(|file| {
                    file.rsplit('/').next().is_some_and(|own| {
                        name.strip_suffix(own)
                            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                    })
                });
                numbers.insert(number.to_owned(), file);
            }
            [".loc", number, at, ..] => {
                let file = numbers.get(number).copied().flatten();
                line = file.zip(at.parse().ok());
            }
            [mnemonic, ..] if is_instruction(text) => instructions.push((mnemonic.to_owned(), line)),
            _ => {}
        }
    }
    let mut instructions = instructions.into_iter();
    let mut out = String::new();
    for text in read(&files[0].replace(".jazz", ".s")).lines() {
        if is_instruction(text) {
            match instructions.next() {
                Some((mnemonic, Some(line))) if text.split_whitespace().next() == Some(mnemonic.as_str()) => {
                    out += &located(line, text);
                }
                other => {
                    return Err(io::Error::other(format!(
                        "{text:?} is committed, the compiler says {other:?}"
                    )));
                }
            }
        } else {
            out += &format!("{text}\n");
        }
    }
    Ok(out)
}

/// The code, and from which offset on it comes from which line. For x86-64 the assembler is that of rustc, which chooses among
/// encodings as it does in a build; `ARMv8` has no such choice, and not every rustc is for it.
fn assembled(level: &Level, text: &str) -> io::Result<(Vec<u8>, BTreeMap<u64, Line>)> {
    let (native, prefix) = match level.target.architecture {
        Architecture::Aarch64 => ("aarch64", "aarch64-linux-gnu-"),
        _ => ("x86_64", "x86_64-linux-gnu-"),
    };
    let prefix = if env::consts::ARCH == native { "" } else { prefix };
    let tool = |name: &str| Command::new(format!("{prefix}{name}"));
    let scratch = Scratch::new()?;
    let [source, crate_, object, binary] =
        ["s", "rs", "o", "bin"].map(|end| scratch.0.join("kernel").with_extension(end));
    fs::write(&source, text)?;
    if native == "aarch64" {
        run(tool("as").arg("-o").arg(&object).arg(&source))?;
    } else {
        fs::write(&crate_, CRATE)?;
        let mut rustc = Command::new("rustc");
        rustc.args([
            "--crate-type=lib",
            "--emit=obj",
            "--target=x86_64-unknown-linux-gnu",
        ]);
        run(rustc.arg("-o").arg(&object).arg(&crate_))?;
    }
    run(tool("objcopy")
        .args(["-O", "binary", "-j", ".text"])
        .arg(&object)
        .arg(&binary))?;
    let dump = run(tool("objdump").arg("--dwarf=decodedline").arg(&object))?;
    let mut places = BTreeMap::new();
    for row in dump.lines() {
        // File, line, offset; what follows does not matter. Where two rows name one offset, the second counts.
        let words: Vec<&str> = row.split_whitespace().collect();
        if let [file, line, offset, ..] = words[..]
            && let (Ok(file), Ok(line)) = (file.parse(), line.parse())
        {
            let offset =
                u64::from_str_radix(offset.trim_start_matches("0x"), 16).map_err(io::Error::other)?;
            places.insert(offset, (file, line));
        }
    }
    Ok((fs::read(&binary)?, places))
}

const CRATE: &str = r#"#![no_std]
core::arch::global_asm!(include_str!("kernel.s"), options(att_syntax, raw));
"#;

/// What a command prints, if it succeeds.
fn run(command: &mut Command) -> io::Result<String> {
    let output = command
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("{command:?}: {error}")))?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A folder for intermediate results.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("veriplex-lines-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        for lines in [
            vec![(1, 7)],
            vec![(0, 1), (0, 2), (0, 3), (1, 4), (1, 4), (0, 5), (0, 4)],
            (0..300).map(|i| (i % 2, i + 1)).collect(),
        ] {
            let texts = encode(&lines);
            assert!(texts.iter().all(|text| text.len() <= 100), "{texts:?}");
            assert_eq!(decode(&texts), Some(lines));
        }
        for text in ["", "0", "0:", "0:x", "a:1", "0:1 ", "0:1-"] {
            assert_eq!(decode(&[text.to_owned()]), None, "{text:?}");
        }
    }

    /// Every instruction of every proved kernel has a line, and where that is an instruction too, it is the same one.
    #[test]
    fn lines_are_those_of_the_instructions() {
        let evidence = Evidence::read().unwrap();
        let mut same = 0;
        for (level, kernel) in TABLE.proved() {
            let name = format!("{}/{}", level.name, kernel.name);
            // A new kernel has none before the proofs.
            let Some(bytes) = evidence.bytes.get(&name) else {
                continue;
            };
            let instructions = listing(level, bytes).unwrap();
            let lines = of(level, kernel).unwrap();
            assert_eq!(lines.len(), instructions.len(), "{name}");
            let sources: Vec<String> = sources(level, kernel).iter().map(|path| read(path)).collect();
            for ((file, line), (offset, _, instruction)) in lines.into_iter().zip(instructions) {
                let text = sources[file].lines().nth(line - 1).unwrap();
                assert!(
                    !text.trim().is_empty(),
                    "{name} at {offset:x}: line {line} is empty"
                );
                if level.source == "S" {
                    assert!(is_instruction(text), "{name} at {offset:x}: {text:?}");
                    let word = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
                    let (written, decoded) = (word(text), word(&instruction));
                    if written == decoded {
                        same += 1;
                    }
                }
            }
        }
        // Others have another name for the decoder, such as that of an alias, or a suffix for the width.
        assert!(same > 10_000, "{same}");
    }
}
