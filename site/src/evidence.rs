//! What the pages show, read from the files of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde::Deserialize;
use veriplex_assurance::evidence::{Api, Inventory, Operation, inventory, read, root, saw_theorems, spread};

use veriplex_lift::table::TABLE;

use crate::html::{code, escape};

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
            escape(words(name)),
            lanes(name)
        )
    }

    /// The file with a theorem, and the statement.
    pub fn statement(&self, name: &str) -> Option<(&str, String)> {
        // The scripts that levels share leave out what precedes a kernel's name.
        let bare = (TABLE.levels.iter())
            .filter(|level| !level.theorems.is_empty())
            .find_map(|level| name.strip_prefix(level.theorems.as_str()))
            .unwrap_or(name);
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

    /// The last run of a command that is recorded. Of the proofs, that is what they wrote, unless a run is later.
    pub fn last_run(&self, command: &str) -> String {
        let run = (self.runs.iter().rev()).find(|run| run.command.trim_end_matches(" STRICT=1") == command);
        if let (Some(date), "make proofs") = (&self.proved, command)
            && run.is_none_or(|run| run.date <= *date)
        {
            return format!(
                "{date} (the commit of what it wrote), with {}: {}",
                self.tools().join("; "),
                self.results()
            );
        }
        run.map_or("no run is recorded".to_owned(), |run| {
            format!(
                "{}, commit {}, on {}: {}",
                escape(&run.date),
                code(&run.commit),
                escape(&run.machine),
                escape(&run.result)
            )
        })
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
    } else if theorem.contains("poly1305_add_blocks") {
        " A block here is a group of four in a row, one for each of the kernel's four sums."
    } else if theorem.contains("_x16_lifted") {
        " A block here is a group of sixteen in a row, which the kernel works on side by side."
    } else if ["chacha", "xoofff"].iter().any(|of| theorem.contains(of)) && theorem.contains("_x4_lifted") {
        " A block here is a group of four in a row, which the kernel works on side by side."
    } else if theorem.contains("xoofff") && theorem.contains("_x8_lifted") {
        " A block here is a group of eight in a row, which the kernel works on side by side."
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

/// What theorems with such a name say.
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
            "multiply_number",
            "Nothing wraps when the kernel of Poly1305 multiplies, for all limbs within their bounds, and the result is the product modulo 2^130 - 5 (Rocq).",
        ),
        (
            "reduce_limbs_number",
            "The last reduction of Poly1305 is right for every number below 2p (Rocq).",
        ),
        (
            "lanes_are_the_polynomial",
            "Poly1305 in four lanes is the polynomial of the specification, for every number of groups of four blocks (Rocq; by induction).",
        ),
        ("lanes_are_poly1305", "The same with the tag (Rocq)."),
        (
            "poly1305_holds",
            "The polynomial of the specification gives the known answers (Rocq; by evaluation).",
        ),
        (
            "_x86_64",
            "For every memory in which the buffers lie apart and every number of blocks: these bytes return, state and output are the specification's, no other byte changes, the registers of the caller are kept, and the trace of accesses does not depend on data (Rocq).",
        ),
        (
            "_thm",
            "The code equals its definition in the specification, for every state and the lengths that the statement names.",
        ),
        ("", "See the statement."),
    ];
    let numbered = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches('_');
    WORDS
        .iter()
        .find(|(end, _)| numbered.ends_with(end))
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
                assert!(!words(&name).is_empty(), "{name} is not said in words");
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
