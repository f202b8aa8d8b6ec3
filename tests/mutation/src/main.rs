//! Mutation tests, with every mutant in one build: see `USAGE`.

mod compile;
mod render;
mod run;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Duration;

use compile::Crate;
use run::Verdict;

const USAGE: &str = "\
veriplex-mutation [--shard K/N] [--package NAME] [--only TEXTS] [--again] [--tests NAMES] [--budget N] [--list]

Runs mutation tests of rust/src (veriplex) and proofs/lift/src (veriplex-lift), in a copy in target/mutation. Each mutant
that no test kills must be in tests/mutation/survivors.txt with its reason; in a whole run each that is there must
survive. Files in tests/mutation/not-run.txt are left out. Results: target/mutation/<package>.results, one line per
mutant.

  --shard    only the K-th of N parts, counted from 0
  --package  only this one
  --only     only mutants with one of these texts in their names, with commas between, also in files that are left out
  --again    only those that were not killed the last time, or were not run
  --tests    only these test programs, with commas between; `lib` is the crate's own
  --budget   after so many seconds of processor time, leave a mutant that no test has killed yet: it is not decided
  --list     build nothing, and print the mutants

JOBS is the number of tests that run at a time (2); those of the lifter run one by one, since they write files.
";

/// A crate to mutate.
pub struct Package {
    name: &'static str,
    root: &'static str,
    script: Option<&'static str>,
    /// What cargo builds.
    build: &'static [&'static str],
    /// A test that compiles fast: with it we find out which mutants do not compile.
    small: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Whether its tests write files, whose names are the same each time: then one runs at a time.
    writes_files: bool,
    /// Tests that are not run: they read the mutated source itself, or measure what mutants in the build change.
    without: &'static [&'static str],
}

const PACKAGES: [Package; 2] = [
    Package {
        name: "veriplex-lift",
        root: "proofs/lift/src/lib.rs",
        script: None,
        build: &["--package", "veriplex-lift", "--lib", "--tests"],
        small: &["--package", "veriplex-lift", "--test", "table"],
        environment: &[],
        writes_files: true,
        without: &[],
    },
    Package {
        name: "veriplex",
        root: "rust/src/lib.rs",
        script: Some("build.rs"),
        build: &["--package", "veriplex", "--all-features", "--lib", "--tests"],
        small: &["--package", "veriplex", "--all-features", "--test", "bare"],
        // Fewer random cases: a mutant that only the 2,000th finds is rare, and each waits for all.
        environment: &[("VERIPLEX_CASES", "60"), ("VERIPLEX_MUTATIONS", "2000")],
        writes_files: false,
        without: &[],
    },
];

#[derive(Default)]
struct Options {
    shard: (usize, usize),
    package: Option<String>,
    only: Option<String>,
    again: bool,
    list: bool,
    tests: Option<String>,
    budget: Option<Duration>,
    /// Files that are left out unless their mutants are asked for.
    left_out: BTreeSet<String>,
}

impl Options {
    /// Whether every mutant runs with every test.
    fn is_whole(&self) -> bool {
        self.shard == (0, 1)
            && self.only.is_none()
            && self.tests.is_none()
            && self.budget.is_none()
            && !self.again
    }

    /// What cargo builds.
    fn programs(&self, package: &Package) -> Vec<String> {
        let mut build = strings(package.build);
        if let Some(names) = &self.tests {
            build.retain(|word| word != "--lib" && word != "--tests");
            for name in names.split(',') {
                build.extend(if name == "lib" {
                    strings(&["--lib"])
                } else {
                    strings(&["--test", name])
                });
            }
        }
        build
    }
}

fn options() -> Option<Options> {
    let mut options = Options {
        shard: (0, 1),
        ..Options::default()
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--again" => options.again = true,
            "--list" => options.list = true,
            "--package" => options.package = Some(arguments.next()?),
            "--tests" => options.tests = Some(arguments.next()?),
            "--budget" => options.budget = Some(Duration::from_secs(arguments.next()?.parse().ok()?)),
            "--only" => options.only = Some(arguments.next()?),
            "--shard" => {
                let text = arguments.next()?;
                let (k, n) = text.split_once('/')?;
                options.shard = (k.parse().ok()?, n.parse().ok()?);
                if options.shard.0 >= options.shard.1 {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(mut options) = options() else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let out = root.join("target/mutation");
    std::fs::create_dir_all(&out).unwrap();
    let copy = out.join("copy");
    let read = |name| std::fs::read_to_string(root.join("tests/mutation").join(name)).unwrap();
    let listed = listed(&read("survivors.txt"));
    options.left_out = read("not-run.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let mut good = true;
    for package in &PACKAGES {
        if options.package.as_ref().is_none_or(|name| name == package.name) {
            good &= test(&options, package, &root, &copy, &listed);
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What git has or could have, without what is no longer there. Files that are mutated keep what the last run wrote to
/// them, so that cargo need not compile them again if that is still right.
fn copy_tree(root: &Path, copy: &Path, mutated: &BTreeSet<PathBuf>) {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .expect("git");
    let text = String::from_utf8(output.stdout).expect("names");
    let mut kept: BTreeSet<PathBuf> = mutated.iter().map(|name| copy.join(name)).collect();
    for name in text.split('\0').filter(|name| !name.is_empty()) {
        let Ok(bytes) = std::fs::read(root.join(name)) else {
            continue;
        };
        let to = copy.join(name);
        if !kept.insert(to.clone()) || std::fs::read(&to).is_ok_and(|now| now == bytes) {
            continue;
        }
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(root.join(name), &to).unwrap();
    }
    remove_others(copy, &kept);
}

fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_others(&path, kept);
        } else if !kept.contains(&path) {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// The names of mutants in the list, below their reasons.
fn listed(text: &str) -> BTreeSet<String> {
    let mut reason = false;
    let mut names = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            reason = false;
        } else if line.starts_with('[') {
            reason = true;
        } else {
            assert!(reason, "no reason above {line}");
            assert!(names.insert(line.to_owned()), "twice: {line}");
        }
    }
    names
}

/// What a run found.
#[derive(Debug, Default)]
struct Outcome {
    killed: usize,
    /// Those of them that took too much processor time, and those that waited for ever.
    stopped: usize,
    hung: usize,
    /// By name: the line, and whether a test reaches it.
    survived: BTreeMap<String, (usize, bool)>,
    /// Those for which the budget was too small.
    undecided: usize,
    uncompiled: usize,
    /// In functions that constants need.
    constant: usize,
    elsewhere: usize,
    /// In files that are left out.
    left_out: usize,
    /// The names of all mutants, also those that are not run, and of their files.
    all: BTreeSet<String>,
    files: BTreeSet<String>,
}

fn test(options: &Options, package: &Package, root: &Path, copy: &Path, listed: &BTreeSet<String>) -> bool {
    let out = root.join("target/mutation");
    // Not `target`: cargo would take what it built in the copy for what it builds here.
    let all = Crate::new(root, package, &out);
    if !options.list {
        copy_tree(root, copy, &all.written(package));
    }
    let Some(outcome) = run_package(all, options, package, copy, &out, &out.join("target")) else {
        return true;
    };
    let unreached = outcome.survived.values().filter(|(_, reached)| !reached).count();
    println!(
        "{}: {} killed by a test that fails, {} by their processor time, {} because they wait for ever; {} survive, \
         {unreached} of them reached by no test; {} are not decided\n\
         not run: {} do not compile, {} are in constants, {} are not compiled here, {} are in files of \
         tests/mutation/not-run.txt",
        package.name,
        outcome.killed - outcome.stopped - outcome.hung,
        outcome.stopped,
        outcome.hung,
        outcome.survived.len(),
        outcome.undecided,
        outcome.uncompiled,
        outcome.constant,
        outcome.elsewhere,
        outcome.left_out
    );
    let folder = Path::new(package.root).parent().unwrap().to_str().unwrap();
    let complaints = compare(&outcome, listed, folder, options);
    for complaint in &complaints {
        println!("{complaint}");
    }
    complaints.is_empty() && outcome.undecided == 0
}

/// The file of a mutant.
fn file_of(name: &str) -> &str {
    name.split(' ').next().unwrap()
}

/// What is wrong between the survivors and the lists.
fn compare(outcome: &Outcome, listed: &BTreeSet<String>, folder: &str, options: &Options) -> Vec<String> {
    let new = outcome
        .survived
        .iter()
        .filter(|(name, _)| !listed.contains(*name))
        .map(|(name, (line, reached))| {
            let why = if *reached {
                "no test fails"
            } else {
                "no test reaches it"
            };
            format!("not in tests/mutation/survivors.txt (line {line}, {why}): {name}")
        });
    let here = |names: &BTreeSet<String>| -> Vec<String> {
        let names = names.iter().filter(|name| name.starts_with(folder));
        names.cloned().collect()
    };
    // A part of the mutants says nothing about the others.
    let killed = |name: &String| {
        options.is_whole()
            && !options.left_out.contains(file_of(name))
            && !outcome.survived.contains_key(name)
    };
    let (listed, left_out) = (here(listed), here(&options.left_out));
    let gone = listed.iter().filter_map(|name| {
        let what = if !outcome.all.contains(name) {
            "no mutant has this name"
        } else if killed(name) {
            "killed"
        } else {
            return None;
        };
        Some(format!("in tests/mutation/survivors.txt, but {what}: {name}"))
    });
    let no_files = left_out
        .iter()
        .filter(|file| !outcome.files.contains(*file))
        .map(|file| format!("in tests/mutation/not-run.txt, but without mutants: {file}"));
    new.chain(gone).chain(no_files).collect()
}

/// Runs the mutants of a package in the copy. None if they were only to be listed.
fn run_package(
    mut all: Crate,
    options: &Options,
    package: &Package,
    copy: &Path,
    out: &Path,
    target: &Path,
) -> Option<Outcome> {
    for file in all.files.iter().filter(|file| !file.unparsed.is_empty()) {
        println!(
            "{}: not mutated: {}",
            file.path.display(),
            file.unparsed.join(", ")
        );
    }
    println!("{}: {} mutants", package.name, all.mutants.len());
    if options.list {
        for mutant in &all.mutants {
            println!("{}", mutant.name);
        }
        return None;
    }
    let results = out.join(format!("{}.results", package.name));
    let before = std::fs::read_to_string(&results).unwrap_or_default();
    let killed: Vec<&str> = before
        .lines()
        .filter(|line| options.again && line.starts_with("killed\t"))
        .collect();
    let killed_names: BTreeSet<&str> = killed.iter().filter_map(|line| line.split('\t').nth(1)).collect();
    // In the order in which they are asked for. The others are not in the build.
    let asked_for = |name: &str| match &options.only {
        None => Some(0),
        Some(texts) => texts.split(',').position(|text| name.contains(text)),
    };
    let mut outcome = Outcome::default();
    for (i, mutant) in all.mutants.iter_mut().enumerate() {
        let left_out = options.only.is_none() && options.left_out.contains(file_of(&mutant.name));
        outcome.left_out += usize::from(left_out);
        outcome.files.insert(file_of(&mutant.name).to_owned());
        outcome.all.insert(mutant.name.clone());
        mutant.chosen =
            i % options.shard.1 == options.shard.0 && !left_out && asked_for(&mutant.name).is_some();
    }
    let known = out.join(format!("{}.dropped", package.name));
    // A whole run looks for itself: a change in another file can be why one compiles now.
    if !options.is_whole() {
        all.remember(&std::fs::read_to_string(&known).unwrap_or_default());
    }
    all.build(copy, package, (target, &known), &strings(package.small));
    let programs = all.build(copy, package, (target, &known), &options.programs(package));

    let mut log: String = killed.iter().map(|line| format!("{line}\n")).collect();
    let mut to_run = Vec::new();
    // Those that were killed stay in the build: without them all of it would be compiled again.
    let chosen = |mutant: &render::Mutant| mutant.chosen && !killed_names.contains(mutant.name.as_str());
    for (i, mutant) in all
        .mutants
        .iter()
        .enumerate()
        .filter(|(_, mutant)| chosen(mutant))
    {
        let (word, count) = if !mutant.compiled {
            ("elsewhere", &mut outcome.elsewhere)
        } else if mutant.dropped {
            ("uncompiled", &mut outcome.uncompiled)
        } else if all.states[mutant.function].constant {
            ("constant", &mut outcome.constant)
        } else {
            to_run.push(i);
            continue;
        };
        *count += 1;
        writeln!(log, "{word}\t{}", mutant.name).unwrap();
    }
    std::fs::write(&results, log).unwrap();
    to_run.sort_by_key(|&i| asked_for(&all.mutants[i].name));
    let tests = run::measure(&programs, package, out);
    println!(
        "{}: {} mutants to run, {} tests",
        package.name,
        to_run.len(),
        tests.len()
    );

    let log = Mutex::new(std::fs::File::options().append(true).open(&results).unwrap());
    let killers = run::Killers::default();
    let outcome = Mutex::new(outcome);
    run::on_threads(to_run, package, |i| {
        let mutant = &all.mutants[i];
        let verdict = run::kill(i, mutant.function, &tests, package, &killers, options.budget);
        let mut outcome = outcome.lock().unwrap();
        let mut survives = |reached| {
            let line = mutant.line;
            outcome.survived.insert(mutant.name.clone(), (line, reached));
        };
        let word = match verdict {
            Verdict::Killed(test, end) => {
                outcome.killed += 1;
                outcome.stopped += usize::from(end == run::End::Stopped);
                outcome.hung += usize::from(end == run::End::Hung);
                let line = format!("killed\t{}\t{}\t{end:?}\n", mutant.name, tests[test].title());
                return log.lock().unwrap().write_all(line.as_bytes()).unwrap();
            }
            Verdict::Survived => {
                survives(true);
                "survived"
            }
            Verdict::Unreached => {
                survives(false);
                "unreached"
            }
            Verdict::Undecided => {
                outcome.undecided += 1;
                "undecided"
            }
        };
        let line = format!("{word}\t{}\tline {}\n", mutant.name, mutant.line);
        log.lock().unwrap().write_all(line.as_bytes()).unwrap();
    });
    Some(outcome.into_inner().unwrap())
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: Package = Package {
        name: "toy",
        root: "src/lib.rs",
        script: None,
        build: &["--package", "toy", "--tests"],
        small: &["--package", "toy", "--lib"],
        environment: &[],
        writes_files: false,
        without: &[],
    };

    const LIB: &str = r#"
pub const LIMIT: usize = limit();
const fn limit() -> usize { 10 }
pub const fn twice(x: u8) -> u8 { x << 1 }
pub fn is_small(x: usize) -> bool { if x < LIMIT { return true; } false }
pub fn counted() -> impl Iterator<Item = u8> { (0..3).map(|x| x + 1) }
pub fn never_called(x: &mut u8) { *x += 1; }
pub fn sum(mut n: u8) -> u8 { let mut sum = 0_u8; while n > 0 { sum = sum.wrapping_add(n); n -= 1; } sum }
pub fn check(x: u8) -> Result<(), u8> { even(x)?; Ok(()) }
pub fn next(x: Option<u8>) -> u8 { match x { Some(x) => x | 1, None => 0 } }
fn even(x: u8) -> Result<(), u8> { match x % 2 { 1 => Err(x), _ => Ok(()) } }
macro_rules! both { ($($name:ident),*) => {$( pub fn $name(x: u8) -> u8 { x ^ 0x55 } )*} }
both!(a, b);
pub struct Unit;
pub fn unit() -> Unit { Unit }
#[cfg(not(unix))]
pub fn elsewhere() -> u8 { 2 }
#[cfg(test)]
mod tests { fn not_mutated() -> u8 { 1 } #[test] fn it() { assert_eq!(not_mutated(), 1); } }
"#;

    const TESTS: &str = r"
#[test] fn most() {
    assert_eq!(toy::twice(3), 6);
    assert!(toy::is_small(3) && !toy::is_small(20));
    assert!(toy::counted().eq([1, 2, 3]));
    assert_eq!((toy::sum(3), toy::a(1)), (6, 0x54));
    assert_eq!([Some(2), Some(1), None].map(toy::next), [3, 1, 0]);
}
#[test] fn checks() { assert!(toy::check(2).is_ok() && toy::check(3) == Err(3)); }
#[test] #[ignore] fn ignored() { panic!() }
";

    /// Every kind of outcome, in a crate that is built and run.
    #[test]
    fn a_small_crate() {
        let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toy");
        let copy = out.join("copy");
        compile::write(
            &copy.join("Cargo.toml"),
            "[package]\nname = \"toy\"\nedition = \"2024\"\n[workspace]\n",
        );
        compile::write(
            &copy.join("Cargo.lock"),
            "version = 4\n[[package]]\nname = \"toy\"\nversion = \"0.0.0\"\n",
        );
        compile::write(&copy.join("tests/toy.rs"), TESTS);
        let source = out.join("source");
        compile::write(&source.join("src/lib.rs"), LIB);
        let run = |options: &Options| {
            let all = Crate::new(&source, &TOY, &out);
            run_package(all, options, &TOY, &copy, &out, &out.join("target")).unwrap()
        };
        let mut options = Options {
            shard: (0, 1),
            ..Options::default()
        };
        let outcome = run(&options);
        let survived: Vec<(&str, bool)> = outcome
            .survived
            .iter()
            .map(|(name, (_, reached))| (name.as_str(), *reached))
            .collect();
        assert_eq!(
            survived,
            [
                ("src/lib.rs is_small: x < LIMIT: < => <=", true),
                ("src/lib.rs never_called: *x += 1 => nothing", false),
                ("src/lib.rs never_called: *x += 1: += => -=", false),
                ("src/lib.rs never_called: 1 => 2 in *x += 1", false),
                ("src/lib.rs never_called: body => ()", false),
            ]
        );
        // `n -= 1` left out never ends.
        assert_eq!(
            (
                outcome.stopped,
                outcome.uncompiled,
                outcome.constant,
                outcome.elsewhere
            ),
            (1, 1, 3, 3)
        );

        // What was killed does not run again, what does not compile is remembered, and a budget can be too small.
        options.again = true;
        let again = run(&options);
        assert_eq!((again.killed, again.uncompiled, again.constant), (0, 1, 3));
        assert_eq!(again.survived, outcome.survived);
        options.again = false;
        options.budget = Some(Duration::ZERO);
        let undecided = run(&options);
        assert_eq!((undecided.killed, undecided.survived.len()), (0, 4));
        assert_eq!(undecided.undecided, outcome.killed + 1);
        options.budget = None;

        let name = "src/lib.rs is_small: x < LIMIT: < => <=".to_owned();
        let others = outcome.survived.keys().filter(|other| **other != name).cloned();
        let gone = ["src/lib.rs gone", "src/lib.rs next: body => 0"];
        let listed = others.chain(gone.map(str::to_owned)).collect();
        options.left_out = ["src/gone.rs", "other/src/lib.rs"].map(str::to_owned).into();
        let complaints = compare(&outcome, &listed, "src", &options);
        let list = "in tests/mutation/survivors.txt, but";
        assert_eq!(
            complaints,
            [
                format!("not in tests/mutation/survivors.txt (line 5, no test fails): {name}"),
                format!("{list} no mutant has this name: {}", gone[0]),
                format!("{list} killed: {}", gone[1]),
                "in tests/mutation/not-run.txt, but without mutants: src/gone.rs".to_owned(),
            ]
        );

        // A file that is left out says nothing about its mutants, unless they are asked for.
        options.left_out = ["src/lib.rs".to_owned()].into();
        assert_eq!(compare(&outcome, &listed, "src", &options).len(), 2);
        let none = run(&options);
        assert_eq!((none.left_out, none.killed), (none.all.len(), 0));
        options.only = Some("src/lib.rs next".to_owned());
        let some = run(&options);
        assert_eq!((some.left_out, some.killed), (0, 5));
    }

    #[test]
    fn a_list_has_reasons() {
        let names = listed("# comment\n[Why.]\na: 1 => 2\nb: 1 => 2\n\n[Because.]\nc: 1 => 2\n");
        assert_eq!(names.len(), 3);
        assert!(std::panic::catch_unwind(|| listed("[Why.]\na: 1 => 2\n\nb: 1 => 2\n")).is_err());
        assert!(std::panic::catch_unwind(|| listed("[Why.]\na: 1 => 2\na: 1 => 2\n")).is_err());
    }
}
