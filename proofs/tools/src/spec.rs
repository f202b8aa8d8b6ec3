//! `veriplex-tools spec`: establishes everything that is claimed about `spec/cryptol`.
//!
//! Cryptol is an interpreter: a permutation takes half a second, a byte of the duplex two milliseconds, and a solver
//! gets a large term for one. So two copies of the specification differ from it in definitions that compute the
//! same faster. Properties of the original text say that they are the same:
//!
//! - `table`: `AES.cry` looks the S-box up in `fips197_table` (`sub_byte_is_fips197_table`), multiplies a column by doublings
//!   (`mix_column_is_by_doubling`), and computes a round by four lookups for each column (`column_is_sum_of_bytes`,
//!   `shift_rows_is_a_permutation`). What is proved about anything but AES runs on it.
//! - `blocks`: in addition, `Duplex.cry` takes a block at a time (`by_blocks_is_by_bytes...`, proved within a block, beyond it
//!   checked on random inputs). Known answers and what is checked on random inputs run on it.

mod cases;
mod cross;
pub mod cryptol;
pub mod mutants;
mod tunnel;
mod vectors;
mod xoofff;

use crate::{Options, subcommand};
use cryptol::{Job, Outcome};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

/// How long one proof or one batch may take.
pub const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// A round with `t_table`. The indices are those of `shift_rows_is_a_permutation`.
const ROUND_BY_TABLE: &str = "\
aes_round_core x = column 0 5 10 15 # column 4 9 14 3 # column 8 13 2 7 # column 12 1 6 11
  where
    column : [4] -> [4] -> [4] -> [4] -> [4][8]
    column a b c d = split (t_table @ (x @ a) ^ (t_table @ (x @ b) >>> 8) ^ (t_table @ (x @ c) >>> 16) ^ (t_table @ (x @ d) >>> 24))";

/// Where the modules are, below `spec/cryptol`.
const FOLDERS: [&str; 3] = ["", "isa/", "test/"];

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict", "--all"], &["--only", "--seed"]);
    subcommand("spec", options, &["cryptol", "z3"], |options| run(root, options))
}

/// Runs everything in order. True if all of it holds.
fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let start = Instant::now();
    let (all, only) = (options.has("--all"), options.value("--only"));
    let seed = match options.value("--seed") {
        Some(seed) => seed.parse().map_err(io::Error::other)?,
        None => cross::fresh_seed(),
    };
    let folders = Folders::make(root, "spec")?;
    let properties = properties(&fs::read_to_string(folders.text.join("PROPERTIES.txt"))?)?;
    let declared = declared(&folders.text)?;
    let differences = differences(&properties, &declared);
    for difference in &differences {
        println!("{difference}");
    }
    println!("seed of the random inputs: {seed}");

    let mut jobs = jobs(root, &folders, &properties, all, seed)?;
    if let Some(text) = only {
        jobs.retain(|job| job.name.contains(text));
    }
    // The longest jobs first, so that the last one to end does not run alone for long.
    jobs.sort_by_key(|job| job.method != "prove");

    let outcomes = cryptol::run_all(&jobs, TIMEOUT, &folders.scripts)?;
    let failed = print_table(&jobs, &outcomes);
    println!(
        "\n{} steps, {failed} failed, {:.0} s",
        jobs.len(),
        start.elapsed().as_secs_f64()
    );
    if !all {
        println!(
            "not run: the known answers that are too long for the interpreter (--all; the Rust twin passes them)"
        );
    }
    if only.is_some() {
        println!("not run: every step that --only left out");
    }
    Ok(failed == 0 && differences.is_empty() && only.is_none())
}

/// Every step.
fn jobs(
    root: &Path,
    folders: &Folders,
    properties: &[Property],
    all: bool,
    seed: u64,
) -> io::Result<Vec<Job>> {
    let mut jobs = type_checks(folders)?;
    jobs.extend(properties.iter().map(|p| p.job(folders)));
    jobs.extend(vectors::jobs(root, folders, all)?);
    jobs.extend(vectors::segment_jobs(root, folders, all)?);
    jobs.extend(vectors::hbsh_jobs(root, folders, all)?);
    jobs.extend(xoofff::jobs(root, folders, all)?);
    jobs.extend(tunnel::jobs(root, folders)?);
    jobs.extend(cross::jobs(folders, seed)?);
    Ok(jobs)
}

/// Prints one line for each step, in the order of the jobs, and returns how many failed.
pub fn print_table(jobs: &[Job], outcomes: &[Outcome]) -> usize {
    let width = jobs.iter().map(|job| job.name.len()).max().unwrap_or(0);
    println!("\n{:width$}  {:<12} {:>8}  result", "property", "method", "time");
    for (job, outcome) in jobs.iter().zip(outcomes) {
        let seconds = outcome.time.as_secs_f64();
        let result = match &outcome.result {
            Ok(text) => text.clone(),
            Err(why) => format!("FAILED: {why}"),
        };
        println!(
            "{:width$}  {:<12} {seconds:>6.1} s  {result}",
            job.name, job.method
        );
    }
    outcomes.iter().filter(|outcome| outcome.result.is_err()).count()
}

/// Where the specification and its copies are.
pub struct Folders {
    /// The original text.
    pub text: PathBuf,
    /// The copy with the faster AES.
    pub table: PathBuf,
    /// The copy with the faster AES and the faster duplex.
    pub blocks: PathBuf,
    /// Scripts and their output.
    pub scripts: PathBuf,
    /// Whether each known answer has a run of its own.
    pub one_by_one: bool,
}

impl Folders {
    /// With the copies in a folder of this name: two commands at once have two.
    pub fn make(root: &Path, name: &str) -> io::Result<Folders> {
        Self::of(root.join("spec/cryptol"), &target(root).join(name))
    }

    /// Of the specification in `text`, with the copies in `target`, which is made anew.
    fn of(text: PathBuf, target: &Path) -> io::Result<Folders> {
        if target.exists() {
            fs::remove_dir_all(target)?;
        }
        let folders = Folders {
            table: target.join("table"),
            blocks: target.join("blocks"),
            scripts: target.join("scripts"),
            one_by_one: false,
            text,
        };
        fs::create_dir_all(&folders.scripts)?;
        let tests = fs::read_to_string(folders.text.join("test/TestAES.cry"))?;
        let table = between(&tests, "fips197_table =", "property")?;
        let by_doubling = between(&tests, "by_doubling [a, b, c, d] =", "property")?;
        let t_table = cryptol::value(&folders.text, "test/TestAES.cry", "t_table", &folders.scripts)?;
        let aes = [
            (
                "sub_byte x =",
                format!("sub_byte x = table @ x\n\ntable : [256][8]\ntable ={table}"),
            ),
            (
                "mix_column column =",
                format!("mix_column [a, b, c, d] ={by_doubling}"),
            ),
            (
                "aes_round_core x =",
                format!("{ROUND_BY_TABLE}\n\nt_table : [256][32]\nt_table = {t_table}"),
            ),
        ];
        copy(&folders.text, &folders.table)?;
        redefine(&folders.table.join("AES.cry"), &aes)?;

        let tests = fs::read_to_string(folders.text.join("test/TestDuplex.cry"))?;
        let by_blocks = format!(
            "by_blocks :{}",
            between(&tests, "by_blocks :", "absorb_by_blocks d")?
        );
        let mut duplex = Vec::new();
        for (name, arguments) in [
            ("absorb", " d bytes "),
            ("squeeze", " d "),
            ("encrypt", " d plaintext "),
            ("decrypt", " d ciphertext "),
        ] {
            let body = between(&tests, &format!("{name}_by_blocks{arguments}"), "\n")?;
            duplex.push((
                format!("{name}{arguments}="),
                format!("{name}{arguments}{}", body.trim_start()),
            ));
        }
        copy(&folders.table, &folders.blocks)?;
        let path = folders.blocks.join("Duplex.cry");
        redefine(&path, &duplex)?;
        let source = fs::read_to_string(&path)?;
        fs::write(&path, format!("{source}\n{by_blocks}"))?;
        Ok(folders)
    }
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn broken(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The text between `start` and the next `end`. `start` must begin exactly one line.
fn between<'a>(text: &'a str, start: &str, end: &str) -> io::Result<&'a str> {
    let line = format!("\n{start}");
    let mut parts = text.split(line.as_str());
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(rest), None) => Ok(rest.split(end).next().unwrap_or(rest)),
        _ => Err(broken(format!("«{start}» does not begin exactly one line"))),
    }
}

/// Copies the specification.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for folder in FOLDERS {
        fs::create_dir_all(to.join(folder))?;
        for name in modules(&from.join(folder))? {
            fs::copy(from.join(folder).join(&name), to.join(folder).join(&name))?;
        }
    }
    Ok(())
}

/// Replaces definitions in a module. Each is found by how it begins, and ends where the documentation of the next one or
/// a heading begins.
fn redefine(path: &Path, definitions: &[(impl AsRef<str>, String)]) -> io::Result<()> {
    let mut source = fs::read_to_string(path)?;
    for (start, definition) in definitions {
        let start = start.as_ref();
        let rest = between(&source, start, "\n/**")?;
        let rest = rest.split("\n// --").next().unwrap_or(rest);
        source = source.replace(&format!("\n{start}{rest}"), &format!("\n{definition}\n"));
    }
    fs::write(path, source)
}

/// The names of the Cryptol files in a folder.
fn modules(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|e| e == "cry") {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Jobs that check that every module loads without an error or warning.
fn type_checks(folders: &Folders) -> io::Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for folder in FOLDERS {
        for module in modules(&folders.text.join(folder))? {
            jobs.push(Job {
                name: format!("{folder}{module}"),
                method: "type-check".into(),
                folder: folders.text.clone(),
                script: format!(":load {folder}{module}\n"),
                verdict: Box::new(|output| cryptol::quiet(output).map(|()| "well typed".into())),
            });
        }
    }
    Ok(jobs)
}

/// One line of PROPERTIES.txt.
#[derive(Debug, PartialEq, Eq)]
struct Property {
    module: String,
    name: String,
    method: Method,
}

#[derive(Debug, PartialEq, Eq)]
enum Method {
    Prove,
    Check(u32),
    Evaluate,
}

fn properties(list: &str) -> io::Result<Vec<Property>> {
    list.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (module, name, method) = match words[..] {
                [module, name, "prove"] => (module, name, Method::Prove),
                [module, name, "evaluate"] => (module, name, Method::Evaluate),
                [module, name, "check", n] => match n.parse() {
                    Ok(n) if n > 0 => (module, name, Method::Check(n)),
                    _ => return Err(broken(format!("PROPERTIES.txt: {line}"))),
                },
                _ => return Err(broken(format!("PROPERTIES.txt: {line}"))),
            };
            Ok(Property {
                module: module.into(),
                name: name.into(),
                method,
            })
        })
        .collect()
}

impl Property {
    fn job(&self, folders: &Folders) -> Job {
        let Property { module, name, method } = self;
        let folder = match (&**module, method) {
            ("TestAES", _) => &folders.text,
            ("TestDuplex", _) | (_, Method::Prove) => &folders.table,
            _ => &folders.blocks,
        };
        let (method, command, verdict): (String, String, cryptol::Verdict) = match method {
            Method::Prove => (
                "prove".into(),
                format!(":set prover=w4-z3\n:prove {name}\n"),
                Box::new(cryptol::proved),
            ),
            Method::Check(n) => {
                let n = *n;
                (
                    format!("check {n}"),
                    format!(":set tests={n}\n:check {name}\n"),
                    Box::new(move |output| cryptol::checked(output, n)),
                )
            }
            Method::Evaluate => (
                "evaluate".into(),
                format!("{name}\n"),
                Box::new(|output| cryptol::all_true(output, 1).map(|()| "true".into())),
            ),
        };
        let path = FOLDERS.map(|folder| format!("{folder}{module}.cry"));
        let path = path.iter().find(|path| folders.text.join(path).is_file());
        let path = path.map_or(module, |path| path);
        Job {
            name: format!("{module} {name}"),
            method,
            folder: folder.clone(),
            script: format!(":load {path}\n{command}"),
            verdict,
        }
    }
}

/// Every property that the sources declare, as (file without its suffix, name).
fn declared(text: &Path) -> io::Result<BTreeSet<(String, String)>> {
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        for module in modules(&text.join(folder))? {
            let source = fs::read_to_string(text.join(folder).join(&module))?;
            for name in property_names(&source) {
                found.insert((module.trim_end_matches(".cry").to_string(), name));
            }
        }
    }
    Ok(found)
}

/// The names that follow the word `property`, wherever it begins a line.
fn property_names(source: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("property"))
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map(|rest| {
            let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == '\'');
            rest.trim_start()
                .split(end)
                .next()
                .unwrap_or_default()
                .to_string()
        })
        .collect()
}

/// How the list and the sources differ.
fn differences(properties: &[Property], declared: &BTreeSet<(String, String)>) -> Vec<String> {
    let mut listed = BTreeSet::new();
    let mut found = Vec::new();
    for p in properties {
        if !listed.insert((p.module.clone(), p.name.clone())) {
            found.push(format!(
                "FAILED: PROPERTIES.txt lists {} {} twice",
                p.module, p.name
            ));
        }
    }
    for (module, name) in declared.difference(&listed) {
        found.push(format!(
            "FAILED: {module}.cry declares {name}, but PROPERTIES.txt does not list it"
        ));
    }
    for (module, name) in listed.difference(declared) {
        found.push(format!(
            "FAILED: PROPERTIES.txt lists {name}, but {module}.cry does not declare it"
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_on_one_side_only_is_found() {
        let list = "# a comment\n\nTestA one prove\nTestA two check 7\n";
        let listed = properties(list).unwrap();
        assert_eq!(listed[1].method, Method::Check(7));
        let sources = |names: &[&str]| {
            names
                .iter()
                .map(|n| ("TestA".to_string(), (*n).to_string()))
                .collect()
        };
        assert!(differences(&listed, &sources(&["one", "two"])).is_empty());
        assert_eq!(differences(&listed, &sources(&["one"])).len(), 1);
        assert_eq!(differences(&listed, &sources(&["one", "two", "three"])).len(), 1);
        assert_eq!(
            differences(&properties("T a prove\nT a prove").unwrap(), &BTreeSet::new()).len(),
            2
        );
    }

    #[test]
    fn a_bad_line_is_refused() {
        for line in [
            "TestA one",
            "TestA one hope",
            "TestA one check",
            "TestA one check 0",
            "TestA one prove 3",
        ] {
            assert!(properties(line).is_err(), "{line}");
        }
    }

    #[test]
    fn properties_are_found_in_a_source() {
        let source =
            "f x = x\nproperty first x = f x == x\n  property second' = True\n// no property third\n";
        assert_eq!(property_names(source), ["first", "second'"]);
    }

    #[test]
    fn the_list_is_that_of_the_sources() {
        let text = crate::root().join("spec/cryptol");
        let list = properties(&fs::read_to_string(text.join("PROPERTIES.txt")).unwrap()).unwrap();
        assert_eq!(
            differences(&list, &declared(&text).unwrap()),
            Vec::<String>::new()
        );
    }
}
