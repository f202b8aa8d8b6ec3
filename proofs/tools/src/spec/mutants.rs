//! `veriplex-tools spec-mutants`: plants defects in a copy of `spec/cryptol`. A step of `spec`, named beside each, must find
//! something false. A definition that no longer type-checks does not count.
//!
//! The list is a beginning: it has some of `Duplex.cry` and `Siv.cry`, and not yet all, nor the other files.

use super::cryptol::{self, Job};
use super::{Folders, Property, TIMEOUT, broken, copy, cross, jobs, properties, target};
use crate::{Options, subcommand};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// A defect: in a file of `spec/cryptol`, texts that occur once are replaced.
struct Mutant {
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// How the names of the steps begin, of which one must find it.
    step: &'static str,
}

const fn mutant(
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    step: &'static str,
) -> Mutant {
    Mutant { file, edits, step }
}

const MUTANTS: &[Mutant] = &[
    mutant("Duplex", &[("(s @ i ^ b)", "(s @ i || b)")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x02) 95 0x80")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x01) 95 0x40")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x01) 94 0x80")], "duplex "),
    mutant(
        "Duplex",
        &[("d.rate_idx d.frame_idx)", "d.rate_idx 0)")],
        "duplex ",
    ),
    mutant(
        "Siv",
        &[("\"nonce\" nonce) \"ad\" ad", "\"ad\" nonce) \"nonce\" ad")],
        "siv ",
    ),
    mutant("Siv", &[("\"role\" 1 \"auth\"", "\"role\" 2 \"auth\"")], "siv "),
    mutant("Siv", &[("\"role\" 1 \"auth\"", "\"role\" 1 \"conf\"")], "siv "),
    mutant("Siv", &[("\"role\" 2 \"conf\"", "\"role\" 1 \"conf\"")], "siv "),
    mutant("Kdf", &[("\"info\" info", "\"context\" info")], "twin_kdf"),
    mutant(
        "Kdf",
        &[(
            "\"salt\" salt) \"secret\" secret",
            "\"secret\" secret) \"salt\" salt",
        )],
        "twin_kdf",
    ),
];

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &["--only"]);
    subcommand("spec-mutants", options, &["cryptol", "z3"], |options| {
        run(root, options.value("--only"))
    })
}

/// Runs everything in order. True if every defect was found.
fn run(root: &Path, only: Option<&str>) -> io::Result<bool> {
    let text = root.join("spec/cryptol");
    let properties = properties(&fs::read_to_string(text.join("PROPERTIES.txt"))?)?;
    let seed = cross::fresh_seed();
    println!("seed of the random inputs: {seed}");
    let place = target(root).join("spec-mutants");
    let mutants: Vec<&Mutant> = MUTANTS
        .iter()
        .filter(|mutant| only.is_none_or(|name| mutant.file.contains(name)))
        .collect();

    let sound = Runs::new(root, text.clone(), &place.join("none"), &properties, seed)?;
    // Of the steps that found something: whether they pass without a defect.
    let mut passed = BTreeMap::new();
    let mut unseen = 0;
    for mutant in &mutants {
        let copied = place.join("text");
        if copied.exists() {
            fs::remove_dir_all(&copied)?;
        }
        copy(&text, &copied)?;
        let path = copied.join(format!("{}.cry", mutant.file));
        fs::write(&path, mutant.of(&fs::read_to_string(&path)?)?)?;
        let broken = Runs::new(root, copied, &place.join("copies"), &properties, seed)?;
        let (by, others) = broken.first_false(mutant.step)?;
        let result = match by {
            None => format!("NOT FOUND by {}: {}", mutant.step, others.join("; ")),
            Some(step) => {
                if !passed.contains_key(&step) {
                    passed.insert(step.clone(), sound.result(&step)?);
                }
                match &passed[&step] {
                    Ok(_) => format!("found by {step}"),
                    Err(why) => format!("NOT FOUND: {step} fails without it: {why}"),
                }
            }
        };
        unseen += usize::from(result.starts_with("NOT"));
        let (from, to) = mutant.edits[0];
        println!("{}.cry: {from:?} => {to:?}: {result}", mutant.file);
    }
    println!("\n{} defects, {unseen} not found", mutants.len());
    Ok(unseen == 0 && only.is_none())
}

/// The steps of a specification, each known answer by itself.
struct Runs {
    folders: Folders,
    jobs: Vec<Job>,
}

impl Runs {
    fn new(root: &Path, text: PathBuf, place: &Path, properties: &[Property], seed: u64) -> io::Result<Self> {
        let mut folders = Folders::of(text, place)?;
        folders.one_by_one = true;
        let jobs = jobs(root, &folders, properties, false, seed)?;
        Ok(Self { folders, jobs })
    }

    /// The first step with such a name that finds something false, and what the others before it said.
    fn first_false(&self, prefix: &str) -> io::Result<(Option<String>, Vec<String>)> {
        let mut others = Vec::new();
        let steps = self.jobs.iter().filter(|job| job.name.starts_with(prefix));
        for job in steps {
            let result = self.result(&job.name)?;
            if result.as_ref().is_err_and(|why| cryptol::is_false(why)) {
                return Ok((Some(job.name.clone()), others));
            }
            others.push(format!("{}: {result:?}", job.name));
        }
        if others.is_empty() {
            return Err(broken(format!("no step begins with {prefix}")));
        }
        Ok((None, others))
    }

    fn result(&self, name: &str) -> io::Result<Result<String, String>> {
        let job = self.jobs.iter().position(|job| job.name == name);
        let job = job.ok_or_else(|| broken(format!("no step {name}")))?;
        let outcomes = cryptol::run_all(&self.jobs[job..=job], TIMEOUT, &self.folders.scripts)?;
        let outcome = outcomes.into_iter().next();
        outcome.map_or_else(
            || Err(broken(format!("{name} did not run"))),
            |outcome| Ok(outcome.result),
        )
    }
}

impl Mutant {
    /// The text of the file with the defect.
    fn of(&self, text: &str) -> io::Result<String> {
        let mut text = text.to_owned();
        for (from, to) in self.edits {
            if text.matches(from).count() != 1 {
                return Err(broken(format!("{}.cry: not once: {from:?}", self.file)));
            }
            text = text.replace(from, to);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where Cryptol is not installed.
    #[test]
    fn each_defect_has_its_place() {
        let text = crate::root().join("spec/cryptol");
        for mutant in MUTANTS {
            let source = fs::read_to_string(text.join(format!("{}.cry", mutant.file))).unwrap();
            assert_ne!(mutant.of(&source).unwrap(), source);
        }
    }
}
