//! What the pages show, read from the files of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde::Deserialize;
use veriplex_assurance::evidence::{Api, Inventory, Operation, inventory, read, root, saw_theorems, spread};

use veriplex_lift::table::TABLE;

use crate::html::{code, escape, with_code};

/// `proofs/generated/manifest.json`.
#[derive(Deserialize)]
pub struct Manifest {
    pub objects: BTreeMap<String, Object>,
    pub theorems: Vec<Theorem>,
    pub tools: BTreeMap<String, String>,
}

/// The bytes of a kernel, or a table, about which there are theorems.
#[derive(Deserialize)]
pub struct Object {
    pub symbol: String,
    pub length: usize,
    pub sha256: String,
}

#[derive(Deserialize)]
pub struct Theorem {
    pub name: String,
    pub result: String,
    pub script: String,
    pub solver: Option<String>,
}

/// A run that was made: `site/runs.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub command: String,
    pub date: String,
    /// What ran.
    pub commit: String,
    pub machine: String,
    pub result: String,
}

#[derive(Deserialize)]
struct Runs {
    run: Vec<Run>,
}

pub struct Evidence {
    pub inventory: Inventory,
    /// The object and the assumptions of each theorem of SAW.
    pub saw: BTreeMap<String, (String, Vec<String>)>,
    pub manifest: Manifest,
    /// The proved bytes, by object.
    pub bytes: BTreeMap<String, Vec<u8>>,
    /// The proofs' scripts and sources, by path.
    pub proofs: BTreeMap<String, String>,
    /// Theorems in Rocq, in words.
    pub said: BTreeMap<String, String>,
    pub runs: Vec<Run>,
    /// When `make proofs` last changed what it writes, if git knows.
    pub proved: Option<String>,
    /// The commit from which this is, and its day, if git knows.
    pub commit: Option<(String, String)>,
}

impl Evidence {
    pub fn read() -> io::Result<Self> {
        let mut proofs = BTreeMap::new();
        for folder in ["proofs/rocq", "proofs/saw"] {
            collect(&root(), folder, &["v", "saw"], &mut proofs)?;
        }
        let runs: Runs = toml::from_str(&read("site/runs.toml")).map_err(io::Error::other)?;
        Ok(Self {
            inventory: inventory(),
            saw: saw_theorems(),
            manifest: serde_json::from_str(&read("proofs/generated/manifest.json"))?,
            bytes: bytes(&read("proofs/generated/kernels.txt"))?,
            proofs,
            said: toml::from_str(&read("proofs/rocq/theorems.toml")).map_err(io::Error::other)?,
            runs: runs.run,
            proved: git(&["log", "-1", "--format=%cs", "--", "proofs/generated"]),
            commit: git(&["describe", "--always", "--dirty", "--exclude=*"]).zip(git(&[
                "log",
                "-1",
                "--format=%cs",
            ])),
        })
    }

    /// The operations with which an item computes on these backends.
    pub fn operations(&self, api: &Api, backends: &[&str]) -> Vec<&Operation> {
        let is_used = |operation: &&Operation| {
            backends.contains(&operation.backend.as_str())
                && operation.names.iter().any(|name| uses(api, name))
        };
        self.inventory.operation.iter().filter(is_used).collect()
    }

    /// What is assumed by those who call an item on these backends.
    pub fn assumptions<'a>(&'a self, api: &'a Api, backends: &[&str]) -> BTreeSet<&'a str> {
        let operations = self.operations(api, backends);
        let inner = operations.iter().flat_map(|operation| &operation.assumptions);
        api.assumptions.iter().chain(inner).map(String::as_str).collect()
    }

    /// A theorem: its name, its statement as it is in the sources, and where that is.
    pub fn theorem(&self, name: &str) -> String {
        let found = self.statement(name);
        let script = (self.manifest.theorems.iter()).find(|theorem| theorem.name == name);
        let place = match (&found, script) {
            (Some((path, _)), _) => format!(" in {}", code(path)),
            (None, Some(theorem)) => format!(" in {}", code(&theorem.script)),
            (None, None) => String::new(),
        };
        let result = script.map_or(String::new(), |theorem| {
            let solver = theorem
                .solver
                .as_deref()
                .map_or(String::new(), |solver| format!(" with {solver}"));
            format!(": {}{}", escape(&theorem.result), escape(&solver))
        });
        let text = found.map_or(String::new(), |(_, text)| {
            format!("<pre tabindex=\"0\">{}</pre>", escape(&text))
        });
        format!(
            "<details class=\"theorem\"><summary>{}{place}{result}</summary><p>{}{}</p>{text}</details>",
            code(name),
            self.in_words(name).unwrap_or("See the statement.".to_owned()),
            lanes(name)
        )
    }

    /// What a theorem says.
    pub fn in_words(&self, name: &str) -> Option<String> {
        (self.said.get(name))
            .map(|said| with_code(said))
            .or_else(|| Some(escape(words(name))).filter(|words| !words.is_empty()))
    }

    /// The file with a theorem, and the statement.
    pub fn statement(&self, name: &str) -> Option<(&str, String)> {
        // The scripts that levels share leave out what precedes a kernel's name.
        let bare = (TABLE.levels.iter())
            .filter(|level| !level.theorems.is_empty())
            .find_map(|level| name.strip_prefix(level.theorems.as_str()))
            .unwrap_or(name);
        self.written(name, bare).or_else(|| self.composed(bare))
    }

    /// The statement of a theorem whose name stands in a source, or its bare name in a script.
    fn written(&self, name: &str, bare: &str) -> Option<(&str, String)> {
        self.proofs.iter().find_map(|(path, text)| {
            let (start, end) = if path.starts_with("proofs/rocq/") {
                let start = ["Theorem", "Lemma", "Corollary", "Example"]
                    .iter()
                    .find_map(|word| {
                        let line = format!("\n{word} {name}");
                        let at = text.find(&line)?;
                        text[at + line.len()..]
                            .starts_with([' ', ':', '\n'])
                            .then_some(at + 1)
                    })?;
                (start, start + text[start..].find("\nProof")?)
            } else {
                let quoted = text.find(&format!("\"{bare}\""))?;
                let start = text[..quoted].rfind('\n').map_or(0, |at| at + 1);
                (start, start + end_of_command(&text[start..])?)
            };
            Some((path.as_str(), text[start..end].trim_end().to_owned()))
        })
    }

    /// The statement of a theorem whose name a script composes: the commands and definitions that make it.
    fn composed(&self, name: &str) -> Option<(&str, String)> {
        const MADE: [(&str, &str); 3] = [
            ("_enter_thm", "enter_theorem"),
            ("_leave_thm", "leave_theorem"),
            ("_form", "form_theorem"),
        ];
        let scripts = || {
            self.proofs
                .iter()
                .filter(|(path, _)| path.starts_with("proofs/saw/"))
        };
        let made = MADE
            .iter()
            .find_map(|(end, function)| Some((name.strip_suffix(end)?, *function)));
        if let Some((of, function)) = made {
            let call = format!("\n{function} \"{of}\"");
            let (path, call) = scripts()
                .find_map(|(path, text)| Some((path.as_str(), command(text, text.find(&call)? + 1)?)))?;
            let definition = scripts().find_map(|(_, text)| definition(text, function))?;
            return Some((path, format!("{call}\n\n{definition}")));
        }
        // A function makes one for each number.
        let numbered = format!(
            "str_concat \"{}\"",
            name.trim_end_matches(|c: char| c.is_ascii_digit())
        );
        scripts().find_map(|(path, text)| {
            let at = text.find(&numbered)?;
            let start = (text[..at].rmatch_indices('\n').map(|(end, _)| end + 1))
                .find(|&start| text[start..].starts_with(|c: char| c.is_ascii_alphabetic()))?;
            let made = command(text, start)?;
            let specifications = (made.split(|c: char| !c.is_alphanumeric() && c != '_'))
                .filter(|word| word.ends_with("_spec"))
                .filter_map(|word| definition(text, word))
                .fold(String::new(), |all, one| format!("{all}{one}\n\n"));
            Some((path.as_str(), format!("{specifications}{made}")))
        })
    }

    /// The last run of a command that is recorded. Of the proofs, what they wrote as well.
    pub fn last_run(&self, command: &str) -> String {
        let run = (self.runs.iter().rev()).find(|run| run.command.trim_end_matches(" STRICT=1") == command);
        let run = run.map_or("no run is recorded".to_owned(), |run| {
            format!(
                "{}, commit {}, on {}: {}",
                escape(&run.date),
                code(&run.commit),
                escape(&run.machine),
                escape(&run.result)
            )
        });
        match (&self.proved, command) {
            (Some(date), "make proofs") => format!(
                "{date} (the commit of what it wrote), with {}: {}. Last recorded run: {run}",
                self.tools().join("; "),
                self.results()
            ),
            _ => run,
        }
    }

    /// The tools of the last proofs, with their versions.
    pub fn tools(&self) -> Vec<String> {
        (self.manifest.tools.iter())
            .map(|(tool, version)| {
                // Some say their names.
                let named = version.to_lowercase().contains(tool.as_str());
                escape(&if named {
                    version.clone()
                } else {
                    format!("{tool} {version}")
                })
            })
            .collect()
    }

    /// What came out of SAW's theorems.
    pub fn results(&self) -> String {
        let proved = (self.manifest.theorems.iter())
            .filter(|theorem| theorem.result == "proved")
            .count();
        format!(
            "{proved} of {} theorems proved in SAW",
            self.manifest.theorems.len()
        )
    }
}

/// Whether an item computes with the operation of this name; those for lanes end in their number.
pub fn uses(api: &Api, operation: &str) -> bool {
    let serial = operation.trim_end_matches(|c: char| c.is_ascii_digit());
    let serial = match serial.strip_suffix("_x") {
        Some(serial) if api.lanes => serial,
        _ => operation,
    };
    (api.operations.iter()).any(|own| serial == own || serial.ends_with(&format!("_{own}")))
}

/// The command that begins there.
fn command(text: &str, start: usize) -> Option<&str> {
    text.get(start..start + end_of_command(&text[start..])?)
}

/// The definition of a name in a script.
fn definition<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    command(text, text.find(&format!("\nlet {name} "))? + 1)
}

/// Where a command of a script ends: behind its first semicolon that is in no brackets.
fn end_of_command(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// What a theorem about a kernel for lanes says besides.
fn lanes(theorem: &str) -> &'static str {
    if theorem.contains("nh_add_units") {
        " A block here is a unit of 16 bytes with its part of the key; the kernel works on passes side by side."
    } else if theorem.contains("nh_add_groups") {
        " A block here is a group of four units with its part of the key, each unit in a lane of the kernel's sums."
    } else if theorem.contains("poly1305_add_blocks_x16") {
        " A block here is a group of sixteen in a row, two for each of the kernel's eight sums."
    } else if theorem.contains("poly1305_add_blocks_x8") {
        " A block here is a group of eight in a row, two for each of the kernel's four sums."
    } else if theorem.contains("poly1305_add_blocks") {
        " A block here is a group of four in a row, one for each of the kernel's four sums."
    } else if theorem.contains("_x16_lifted") {
        " A block here is a group of sixteen in a row, which the kernel works on side by side."
    } else if ["chacha", "xoofff"].iter().any(|of| theorem.contains(of)) && theorem.contains("_x4_lifted") {
        " A block here is a group of four in a row, which the kernel works on side by side."
    } else if theorem.contains("xoofff") && theorem.contains("_x8_lifted") {
        " A block here is a group of eight in a row, which the kernel works on side by side."
    } else if theorem.contains("_x3_lifted") {
        " A block here is a group of three in a row, which the kernel works on side by side."
    } else if theorem.contains("_x6_lifted") {
        " A block here is a group of six in a row, which the kernel works on side by side."
    } else if ["_x2_lifted", "_x4_lifted", "_x8_lifted"]
        .iter()
        .any(|part| theorem.contains(part))
    {
        " This holds of all lanes of the kernel at once; other lanes in memory stay as they are."
    } else {
        ""
    }
}

/// What theorems with such a name say, if no table does.
#[allow(clippy::too_many_lines)] // a table
fn words(name: &str) -> &'static str {
    const WORDS: &[(&str, &str)] = &[
        (
            "_lifted_thm",
            "For every state: what the machine code, lifted to Cryptol, does to the state is what the specification says, and the vector registers are zero at the end.",
        ),
        (
            "_lifted_step_thm",
            "One iteration of the kernel's loop does to the state, and gives out, what one block of the specification does, for every state and block.",
        ),
        (
            "_lifted_step_in_place_thm",
            "The same for one buffer that is both input and output.",
        ),
        (
            "_lifted_exit_thm",
            "After the loop the state in memory is that of the specification, and the vector registers are zero.",
        ),
        (
            "_enter_thm",
            "What the machine code does before the first test of the loop is right (SAW's own decoder).",
        ),
        (
            "_step_thm",
            "One iteration of the loop, of the kernel cut at the head of its loop, is one block of the specification (SAW's own decoder).",
        ),
        (
            "_step_in_place_thm",
            "The same for one buffer that is both input and output.",
        ),
        (
            "_leave_thm",
            "What the machine code does after the loop is right (SAW's own decoder).",
        ),
        (
            "round_constants_thm",
            "The table of round constants in the build holds K(1) to K(72) of the specification.",
        ),
        (
            "round_constants_x4_thm",
            "The table of round constants for lanes in the build holds K(1) to K(72), each four times.",
        ),
        (
            "xoofff_constants_x4_thm",
            "The table of constants of Xoofff for four and eight blocks in the build holds those of the specification.",
        ),
        (
            "xoofff_constants_x16_thm",
            "The table of constants of Xoofff in the build holds those of the specification.",
        ),
        (
            "blocks_for_every_n",
            "If one iteration computes one block, then n iterations compute n blocks, for every n (Rocq; by induction).",
        ),
        (
            "groups_for_every_n",
            "The same if one iteration computes several blocks in a row (Rocq; by induction).",
        ),
        (
            "groups_in_memory_for_every_n",
            "The same for a kernel that keeps its state in memory between two iterations (Rocq; by induction).",
        ),
        (
            "lanes_for_every_n",
            "The same for several lanes, each with its own buffer (Rocq; by induction).",
        ),
        (
            "reads_for_every_n",
            "The same for a kernel that only reads, from several buffers whose blocks may overlap (Rocq; by induction).",
        ),
        (
            "_form",
            "What SAW's own decoder makes of this form of instruction is the formula of the statement, for all operands. A test compares the formula with the CPU.",
        ),
        (
            "_xor_blocks_x3_",
            "For every key, nonce and number of the first block, every memory in which the buffers lie apart and every number of groups of three blocks: these bytes return, the data is combined by XOR with that part of the key stream, no other byte changes but the number of the next block, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_xor_blocks_x6_",
            "For every key, nonce and number of the first block, every memory in which the buffers lie apart and every number of groups of six blocks: these bytes return, the data is combined by XOR with that part of the key stream, no other byte changes but the number of the next block, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_xor_blocks_x16_",
            "For every key and nonce, any sixteen block numbers, every memory in which the buffers lie apart and every number of groups of sixteen blocks: these bytes return, the data is combined by XOR with these blocks of the key stream, no other byte changes but the numbers, which are sixteen higher for each group, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_xor_blocks_x4_",
            "For every key, nonce and number of the first block, every memory in which the buffers lie apart and every number of groups of four blocks: these bytes return, the data is combined by XOR with that part of the key stream, no other byte changes but the number of the next block, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_absorb_blocks_x4_",
            "For every accumulator, mask and input, every memory in which the buffers lie apart and every number of groups of four blocks: these bytes return, accumulator and mask are those after these blocks, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_squeeze_blocks_x4_",
            "For every mask and output state, every memory in which the buffers lie apart and every number of groups of four blocks: these bytes return, the output is the specification's, as is the output state after it, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_absorb_blocks_x8_",
            "For every accumulator, mask and input, every memory in which the buffers lie apart and every number of groups of eight blocks: these bytes return, accumulator and mask are those after these blocks, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_squeeze_blocks_x8_",
            "For every mask and output state, every memory in which the buffers lie apart and every number of groups of eight blocks: these bytes return, the output is the specification's, as is the output state after it, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_absorb_blocks_x16_",
            "For every accumulator, mask and input, every memory in which the buffers lie apart and every number of groups of sixteen blocks: these bytes return, accumulator and mask are those after these blocks, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "xoofff_squeeze_blocks_x16_",
            "For every mask and output state, every memory in which the buffers lie apart and every number of groups of sixteen blocks: these bytes return, the output is the specification's, as is the output state after it, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_units_x1_",
            "For all sums, every message and key, every memory in which the buffers lie apart and every number of units: these bytes return, the sums are those of the specification, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_units_x2_",
            "For all sums, every message and key, every memory in which the buffers lie apart and every number of units: these bytes return, the sums are those of the specification, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_units_x4_",
            "For all sums, every message and key, every memory in which the buffers lie apart and every number of units: these bytes return, the sums are those of the specification, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_groups_x4_",
            "For all sums, every message and key, every memory in which the buffers lie apart and every number of groups of four units: these bytes return, the sums are those of the specification, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_add_blocks_x4_",
            "For all sums, multipliers and input, every memory in which the buffers lie apart and every number of groups of four blocks: these bytes return, the sums are those of the specification's limbs, with every wrap, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_add_blocks_x8_",
            "For all sums, multipliers and input, every memory in which the buffers lie apart and every number of groups of eight blocks: these bytes return, the sums are those of the specification's limbs, with every wrap, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_add_blocks_x16_",
            "For all sums, multipliers and input, every memory in which the buffers lie apart and every number of groups of sixteen blocks: these bytes return, the sums are those of the specification's limbs, with every wrap, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_blocks_x4_",
            "For every memory in which the buffers lie apart and every number of blocks: these bytes return, state and output of each of the four lanes are the specification's, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_blocks_x8_",
            "For every memory in which the buffers lie apart and every number of blocks: these bytes return, state and output of each of the eight lanes are the specification's, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "permute_x4_",
            "For every memory in which the states lie apart from the code: these bytes return, each of the four states becomes its permutation, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "permute_x8_",
            "For every memory in which the states lie apart from the code: these bytes return, each of the eight states becomes its permutation, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_blocks_x2_",
            "For every memory in which the buffers lie apart and every number of blocks: these bytes return, state and output of each of the two lanes are the specification's, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "permute_x2_",
            "For every memory in which the states lie apart from the code: these bytes return, each of the two states becomes its permutation, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_",
            "For every memory in which the buffers lie apart and every number of blocks: these bytes return, state and output are the specification's, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_thm",
            "The code equals its definition in the specification, for every state and the lengths that the statement names.",
        ),
    ];
    // Of the bytes of a kernel for one architecture, or one of several with a number.
    let of_bytes = ["x86_64", "aarch64"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    let name = of_bytes.unwrap_or_else(|| {
        name.trim_end_matches(|c: char| c.is_ascii_digit())
            .trim_end_matches('_')
    });
    WORDS
        .iter()
        .find(|(end, _)| name.ends_with(end))
        .map_or("", |(_, words)| words)
}

/// Theorems by their names, `NAME_0..4` among them.
pub fn names(theorems: &[String]) -> Vec<String> {
    theorems.iter().flat_map(|name| spread(name)).collect()
}

/// The files with these endings in a folder and in those in it, by path from the root.
pub fn collect(
    root: &Path,
    folder: &str,
    endings: &[&str],
    files: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(root, &path, endings, files)?;
        } else if path
            .rsplit_once('.')
            .is_some_and(|(_, ending)| endings.contains(&ending))
        {
            files.insert(path.clone(), read(&path));
        }
    }
    Ok(())
}

/// What git says about the repository.
fn git(arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.current_dir(root()).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Reads `kernels.txt`.
fn bytes(text: &str) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut kernels: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(next) = line.strip_suffix(':') {
            next.clone_into(&mut name);
        } else {
            kernels
                .entry(name.clone())
                .or_default()
                .extend(hex::decode(line).map_err(io::Error::other)?);
        }
    }
    Ok(kernels)
}

#[cfg(test)]
mod tests {
    use veriplex_assurance::evidence::{needed, rocq_theorems};

    use super::*;

    #[test]
    fn theorems_of_kernels_are_shown() {
        let evidence = Evidence::read().unwrap();
        for (level, kernel) in TABLE.all().filter(|(_, kernel)| kernel.unproved.is_none()) {
            for name in needed(level, kernel) {
                let (path, text) = evidence
                    .statement(&name)
                    .unwrap_or_else(|| panic!("{name} has no statement"));
                assert!(
                    text.contains(&format!("\"{}_lifted", kernel.name)) && text.contains("{{"),
                    "{path}: {text}"
                );
                assert!(evidence.in_words(&name).is_some(), "{name} is not said in words");
                assert_eq!(lanes(&name).is_empty(), !kernel.has_lanes(), "{name}");
            }
        }
    }

    /// The report says in which file each is.
    #[test]
    fn theorems_of_rocq_are_found() {
        let evidence = Evidence::read().unwrap();
        for name in rocq_theorems() {
            let (path, text) =
                (evidence.statement(&name)).unwrap_or_else(|| panic!("{name} has no statement"));
            assert!(
                path.starts_with("proofs/rocq/") && text.contains(&name),
                "{path}: {text}"
            );
        }
    }

    /// Of every theorem the statement is found, and of each that a page shows what it says.
    #[test]
    fn theorems_are_stated_and_said() {
        let evidence = Evidence::read().unwrap();
        let lost: Vec<&str> = (evidence.manifest.theorems.iter())
            .map(|theorem| theorem.name.as_str())
            .filter(|name| {
                let found = evidence.statement(name);
                !found.is_some_and(|(path, text)| {
                    path.starts_with("proofs/saw/")
                        && ["theorem", "lemma"].iter().any(|word| text.contains(word))
                })
            })
            .collect();
        assert_eq!(lost, Vec::<&str>::new(), "without a statement");
        let inventory = &evidence.inventory;
        let shown = (inventory.operation.iter().map(|operation| &operation.theorems))
            .chain(inventory.api.iter().map(|api| &api.theorems))
            .chain((inventory.assumptions.values()).map(|assumption| &assumption.theorems))
            .flat_map(|theorems| names(theorems));
        let silent: BTreeSet<String> = (shown.chain(rocq_theorems()))
            .filter(|name| evidence.in_words(name).is_none())
            .collect();
        assert_eq!(silent, BTreeSet::new(), "not said in words");
        // One for each number, and one with a name from another script.
        for (name, part) in [
            ("duplex_absorb_blocks_thm_3", "let absorb_blocks_spec "),
            ("duplex_absorb_blocks_enter_thm", "in_the_loop_again"),
            ("vpslldq_8_form", "(y << (8 * 8), y, r)"),
        ] {
            let (_, text) = evidence.statement(name).unwrap();
            assert!(text.contains(part), "{name}: {text}");
        }
    }

    #[test]
    fn commands_are_whole() {
        let evidence = Evidence::read().unwrap();
        let (_, text) = evidence.statement("simpira1024_permute_thm").unwrap();
        assert!(
            text.contains("do {")
                && text.ends_with(';')
                && text.matches('{').count() == text.matches('}').count(),
            "{text}"
        );
    }

    /// Each command that a claim or a run names is there to be run.
    #[test]
    fn runs_are_of_targets() {
        let makefile = read("Makefile");
        let commands = Evidence::read().unwrap().runs.into_iter().map(|run| {
            assert!(
                run.date.len() == 10 && run.date.starts_with("20"),
                "{}: {}",
                run.command,
                run.date
            );
            assert!(
                !run.machine.is_empty() && !run.result.is_empty() && run.commit.len() >= 7,
                "{}",
                run.command
            );
            run.command
        });
        for command in commands.chain(crate::start::CLAIMS.iter().map(|claim| claim.command.to_owned())) {
            let target = (command
                .strip_prefix("make ")
                .and_then(|rest| rest.split(' ').next()))
            .unwrap_or_default();
            assert!(makefile.contains(&format!("\n{target}:")), "{command}");
        }
    }
}
