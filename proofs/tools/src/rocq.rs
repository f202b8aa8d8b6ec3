//! `veriplex-tools rocq-mutants`: plants the defects of `proofs/rocq/checks/defects.toml` in copies of the proofs in Rocq.
//! Each must fail in its lemma, which must hold in a copy without the defect.
//!
//! Only what lies between the defect and a file that has the lemma is compiled again. Of the files before that one the
//! statements are enough (`-vos`), and so they are of the other lemmas in that one: where the lemma does not follow from
//! them, `make check` cannot pass. If several files have it, one must fail.

mod alone;
pub mod semantics;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use crate::defects::{self, Defect};
use crate::{Options, subcommand};
use alone::{alone, headings};

const TWIN: [&str; 3] = ["simpira1024.rs", "duplex.rs", "protocol.rs"];
const TWIN_TEXT: &str = "generated/TwinText";

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &[], &["--only"]);
    subcommand("rocq-mutants", options, &[], |options| {
        let only = options.value("--only");
        let mut defects = defects::read(root, "proofs")?;
        defects.retain(|defect| only.is_none_or(|text| defect.name.contains(text)));
        let folder = root.join("proofs/rocq");
        let proofs = Proofs {
            needs: Needs::parse(&fs::read_to_string(folder.join("build/depend"))?),
            folder,
            compile: |dir: &Path, source: &str, mode: &str| {
                let arguments = [mode, "-noglob"]
                    .into_iter()
                    .map(str::to_owned)
                    .chain(words("FLAGS", ""));
                failure(
                    of_environment("COQC", "coqc")
                        .current_dir(dir)
                        .args(arguments)
                        .arg(source),
                )
            },
        };
        // The longest come first, so that no processor has to wait at the end.
        let mut trials: Vec<Trial> = defects.iter().map(Trial::With).collect();
        trials.extend(
            proofs
                .lemmas(&defects)?
                .into_iter()
                .map(|(file, lemma)| Trial::Without(file, lemma)),
        );
        let fine = defects::try_all(&trials, |trial| proofs.outcome(trial));
        Ok(fine && only.is_none())
    })
}

/// The words of a variable.
fn words(variable: &str, default: &str) -> Vec<String> {
    let text = env::var(variable).unwrap_or_else(|_| default.to_owned());
    text.split_whitespace().map(str::to_owned).collect()
}

/// A command from the environment, as `make` sets it.
fn of_environment(variable: &str, default: &str) -> Command {
    let words = words(variable, default);
    let mut command = Command::new(words.first().map_or(default, String::as_str));
    command.args(words.iter().skip(1));
    command
}

/// What a command says, if it fails.
fn failure(command: &mut Command) -> io::Result<Option<String>> {
    let output = command.output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok((!output.status.success()).then(|| String::from_utf8_lossy(&said).into_owned()))
}

/// The end of what a command says.
fn end(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}

/// Makes an empty folder.
fn fresh(dir: &Path) -> io::Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)
}

impl Defect {
    /// Whether all of `make check` must find it: after everything is compiled, or by what it forbids.
    fn is_of_the_whole(&self) -> bool {
        ["statements", "forbidden"].contains(&&*self.place)
    }

    /// The changed file, without `.v`. What is no file in Rocq is of the twin.
    fn changed(&self) -> &str {
        self.file.strip_suffix(".v").unwrap_or(TWIN_TEXT)
    }
}

/// Which files each file needs, by their paths without `.v`.
struct Needs(BTreeMap<String, Vec<String>>);

impl Needs {
    /// From what `coqdep` writes.
    fn parse(text: &str) -> Self {
        let needs = text.lines().filter_map(|line| {
            let mut compiled = line.split_whitespace().map(|word| word.strip_suffix(".vo"));
            let name = compiled.next()??.to_owned();
            Some((name, compiled.flatten().map(str::to_owned).collect()))
        });
        Self(needs.collect())
    }

    /// What `wanted` rests on, itself included, and rests itself on `changed` if that is given: each after what it needs.
    fn before<'a>(&'a self, wanted: &'a str, changed: Option<&str>) -> Vec<&'a str> {
        let mut order = Vec::new();
        self.visit(wanted, changed, &mut BTreeMap::new(), &mut order);
        order
    }

    /// What rests on `changed`, itself included: each after what it needs.
    fn after(&self, changed: &str) -> Vec<&str> {
        let (mut seen, mut order) = (BTreeMap::new(), Vec::new());
        for name in self.0.keys() {
            self.visit(name, Some(changed), &mut seen, &mut order);
        }
        order
    }

    fn visit<'a>(
        &'a self,
        name: &'a str,
        changed: Option<&str>,
        seen: &mut BTreeMap<&'a str, bool>,
        order: &mut Vec<&'a str>,
    ) -> bool {
        if let Some(rests) = seen.get(name) {
            return *rests;
        }
        let mut rests = changed.is_none_or(|changed| changed == name);
        for needed in self.0.get(name).into_iter().flatten() {
            rests |= self.visit(needed, changed, seen, order);
        }
        seen.insert(name, rests);
        if rests {
            order.push(name);
        }
        rests
    }
}

/// What is compiled.
enum Trial<'a> {
    /// A file with the proof of this lemma alone.
    Without(&'a str, &'a str),
    With(&'a Defect),
}

/// The compiled proofs. `compile` gets a copy, a file in it and how to compile it, and returns what is said of a failure.
struct Proofs<C> {
    folder: PathBuf,
    needs: Needs,
    compile: C,
}

impl<C: Fn(&Path, &str, &str) -> io::Result<Option<String>>> Proofs<C> {
    fn outcome(&self, trial: &Trial) -> io::Result<Result<String, String>> {
        let name = match trial {
            Trial::Without(file, lemma) => format!("{}.{lemma}", file.replace('/', ".")),
            Trial::With(defect) => defect.name.clone(),
        };
        let dir = self.folder.join("build/mutants").join(name);
        fresh(&dir)?;
        let outcome = match trial {
            Trial::Without(file, lemma) => {
                self.link(&dir, &[], "")?;
                match self.compile_alone(&dir, file, lemma)? {
                    None => Ok(format!("{file}: {lemma} holds without a defect")),
                    Some(at) => Err(format!("{file}: {lemma} fails without a defect: {at}")),
                }
            }
            Trial::With(defect) => {
                let text = defect.plant(&fs::read_to_string(self.folder.join(&defect.file))?)?;
                let failed = if defect.is_of_the_whole() {
                    self.whole(defect, &dir, &text)?
                } else {
                    self.part(defect, &dir, &text)?
                };
                defect.verdict(failed.as_deref())
            }
        };
        fs::remove_dir_all(&dir)?;
        Ok(outcome)
    }

    /// The lemmas that must fail, each with the files that have it.
    fn lemmas<'a>(&'a self, defects: &'a [Defect]) -> io::Result<BTreeSet<(&'a str, &'a str)>> {
        let mut lemmas = BTreeSet::new();
        for defect in defects.iter().filter(|defect| !defect.is_of_the_whole()) {
            let files = self.files(defect)?;
            lemmas.extend(files.into_iter().map(|file| (file, &*defect.place)));
        }
        Ok(lemmas)
    }

    /// The files that have the lemma and rest on the changed one.
    fn files(&self, defect: &Defect) -> io::Result<Vec<&str>> {
        let mut files = Vec::new();
        for file in self.needs.after(defect.changed()) {
            let text = fs::read_to_string(self.folder.join(format!("{file}.v")))?;
            if headings(&text).any(|(_, name)| name == defect.place) {
                files.push(file);
            }
        }
        if files.is_empty() {
            let Defect {
                name, place, file, ..
            } = defect;
            return Err(io::Error::other(format!(
                "{name}: {place} is in no file that rests on {file}"
            )));
        }
        Ok(files)
    }

    /// Where the lemma fails with this text of the file.
    fn part(&self, defect: &Defect, dir: &Path, text: &str) -> io::Result<Option<String>> {
        let changed = defect.changed();
        self.link(dir, &self.needs.after(changed), changed)?;
        if defect.file == format!("{changed}.v") {
            fs::write(dir.join(&defect.file), text)?;
        } else {
            self.translate(defect, dir, text)?;
        }
        for file in self.files(defect)? {
            for name in self.needs.before(file, Some(changed)) {
                let failed = if name == file {
                    self.compile_alone(dir, name, &defect.place)?
                } else if dir.join(format!("{name}.vos")).exists() {
                    None
                } else {
                    let log = (self.compile)(dir, &format!("{name}.v"), "-vos")?;
                    log.map(|log| lemma(dir, &log, "")).transpose()?
                };
                if failed.is_some() {
                    return Ok(failed);
                }
            }
        }
        Ok(None)
    }

    /// Links to everything but the text of `changed` and what is compiled of `stale`: nothing must be written through a link.
    fn link(&self, dir: &Path, stale: &[&str], changed: &str) -> io::Result<()> {
        for name in self.needs.0.keys() {
            fs::create_dir_all(dir.join(name).parent().unwrap_or(dir))?;
            let files = [(".v", name == changed), (".vo", stale.contains(&&**name))];
            for (ending, _) in files.iter().filter(|(_, is_left_out)| !is_left_out) {
                let file = format!("{name}{ending}");
                symlink(self.folder.join(&file), dir.join(&file))?;
            }
        }
        Ok(())
    }

    /// Compiles a file with the proof of this lemma alone, and says where that fails.
    fn compile_alone(&self, dir: &Path, file: &str, wanted: &str) -> io::Result<Option<String>> {
        let text = fs::read_to_string(dir.join(format!("{file}.v")))?;
        let (folder, name) = file.rsplit_once('/').unwrap_or((".", file));
        let only = format!("{folder}/only_{name}.v");
        fs::write(dir.join(&only), alone(&text, wanted))?;
        let log = (self.compile)(dir, &only, "-vok")?;
        log.map(|log| lemma(dir, &log, wanted)).transpose()
    }

    /// Writes the twin with this text of a file for Rocq, as the Makefile does.
    fn translate(&self, defect: &Defect, dir: &Path, text: &str) -> io::Result<()> {
        for name in TWIN {
            let from = self.folder.join("../../spec/hacspec/src").join(name);
            fs::copy(from, dir.join(name))?;
        }
        fs::write(dir.join(defect.file.rsplit('/').next().unwrap_or_default()), text)?;
        let [given, others @ ..] = TWIN;
        let mut command = of_environment(
            "TRANSLATE",
            "cargo run --quiet --package veriplex-spec-to-rocq --",
        );
        let output = command
            .current_dir(dir)
            .arg(format!("{given}:permute"))
            .args(others)
            .output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!(
                "{}: not translated: {why}",
                defect.name
            )));
        }
        fs::write(dir.join(format!("{TWIN_TEXT}.v")), output.stdout)
    }

    /// Where all of `make check` fails.
    fn whole(&self, defect: &Defect, dir: &Path, text: &str) -> io::Result<Option<String>> {
        let folders: BTreeSet<&str> = self
            .needs
            .0
            .keys()
            .filter_map(|name| Some(name.rsplit_once('/')?.0))
            .collect();
        let copied = failure(
            Command::new("cp")
                .current_dir(&self.folder)
                .args([
                    "-rp",
                    "--parents",
                    "Makefile",
                    "Statements.v",
                    "statements.txt",
                    "translate",
                ])
                .args(folders)
                .arg(dir),
        )?;
        if let Some(why) = copied {
            return Err(io::Error::other(why));
        }
        fs::write(dir.join(&defect.file), text)?;
        let sources = [
            "VECTORS=",
            "KERNELS=",
            "PARALLEL=",
            "POLY1305=",
            "LIMBS=",
            "WORDS=",
            "XOOFFF=",
            "TWIN=",
        ];
        let log = failure(
            Command::new("make")
                .env_remove("MAKEFLAGS")
                .arg("-C")
                .arg(dir)
                .args(["-s", "check"])
                .args(sources),
        )?;
        let Some(log) = log else { return Ok(None) };
        // As `grep -n` writes what it found.
        let forbidden = |line: &str| {
            let mut parts = line.splitn(3, ':');
            parts.next().is_some_and(|file| !file.contains(' '))
                && parts.next().is_some_and(|number| number.parse::<u32>().is_ok())
                && parts.next().is_some()
        };
        Ok(Some(
            if log.contains("or what they rest on, differs from statements.txt") {
                "statements".to_owned()
            } else if log.lines().any(forbidden) {
                "forbidden".to_owned()
            } else {
                lemma(dir, &log, "")?
            },
        ))
    }
}

/// The lemma at which the compiler stopped, or the end of what it said.
fn lemma(dir: &Path, log: &str, wanted: &str) -> io::Result<String> {
    // The value of such a lemma must be another one. It fails as well if its statement is not understood.
    let of_a_value = wanted.ends_with("_checks") || wanted == "checks_hold";
    let said = log.split_whitespace().collect::<Vec<_>>().join(" ");
    if of_a_value && !said.contains("has type \"true = true\" while it is expected") {
        return Ok(end(log));
    }
    let at = log.lines().rev().find_map(|line| {
        let (file, rest) = line.strip_prefix("File \"")?.split_once("\", line ")?;
        Some((file, rest.split_once(',')?.0.parse::<usize>().ok()?))
    });
    let Some((file, line)) = at else {
        return Ok(end(log));
    };
    let text = fs::read_to_string(dir.join(file))?;
    let name = headings(&text).take_while(|(number, _)| *number <= line).last();
    Ok(name.map_or_else(|| end(log), |(_, name)| name.to_owned()))
}

#[cfg(test)]
mod tests;
