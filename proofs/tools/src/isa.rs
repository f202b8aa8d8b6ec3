//! `veriplex-tools isa`: compares the semantics of `spec/cryptol/isa` with what instructions did under `veriplex-isa`.
//!
//! Every definition of a semantics must occur in a form (`spec/cryptol/test/Forms*.cry`), every form must have been
//! executed, and whatever was executed must have a form.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use crate::spec::cryptol::{self, Job};
use crate::spec::{Folders, TIMEOUT, print_table};
use crate::{Options, subcommand};

const ARCHITECTURES: [&str; 2] = ["X86_64", "AArch64"];

/// The number of runs of each form.
const RUNS: usize = 10_000;

/// The number of runs that Cryptol reads at once: its time per run grows with their number.
const BATCH: usize = 20;

/// The number of forms that one process compares: to load the semantics takes longer than a thousand runs.
const GROUP: usize = 8;

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &["--runs", "--first"]);
    subcommand("isa", options, &["cryptol"], |options| {
        let runs = options
            .value("--runs")
            .map_or_else(|| root.join("target/isa"), Into::into);
        let first = options
            .value("--first")
            .map_or(Ok(RUNS), str::parse)
            .map_err(io::Error::other)?;
        if first == 0 || first > RUNS || first % BATCH != 0 {
            return Err(io::Error::other(format!(
                "--first: a multiple of {BATCH} up to {RUNS}"
            )));
        }
        let (failed, skipped) = run(root, &runs, first)?;
        Ok(failed == 0 && (skipped == 0 || !options.has("--strict")))
    })
}

/// How many comparisons failed, and how many architectures or forms were not executed.
fn run(root: &Path, runs: &Path, first: usize) -> io::Result<(usize, usize)> {
    let runs = runs.canonicalize()?;
    let folders = Folders::make(root, "spec-isa")?;
    let (mut jobs, mut wrong, mut compared, mut skipped) = (Vec::new(), Vec::new(), 0, 0);
    for architecture in ARCHITECTURES {
        let folder = runs.join(architecture);
        if !folder.is_dir() {
            println!("isa: {architecture} skipped, because it was not executed");
            skipped += 1;
            continue;
        }
        let read = |path: &str| fs::read_to_string(folders.text.join(path));
        let forms = read(&format!("test/Forms{architecture}.cry"))?;
        let mut executed = BTreeSet::new();
        for entry in fs::read_dir(&folder)? {
            executed.insert(entry?.file_name().to_string_lossy().into_owned());
        }
        let differences = differences(&read(&format!("isa/{architecture}.cry"))?, &forms, &executed);
        wrong.extend(
            differences
                .into_iter()
                .map(|why| format!("{architecture}: {why}")),
        );
        let mut files = Vec::new();
        for form in &executed {
            if fs::metadata(folder.join(form))?.len() == 0 {
                println!(
                    "isa: {architecture} {form} skipped, because it was not executed on a CPU that has it"
                );
                skipped += 1;
            } else {
                files.push(folder.join(form));
            }
        }
        compared += files.len();
        for files in files.chunks(GROUP) {
            jobs.push(job(&folders, architecture, files, first)?);
        }
    }
    let outcomes = cryptol::run_all(&jobs, TIMEOUT, &folders.scripts)?;
    let failed = print_table(&jobs, &outcomes) + wrong.len();
    for why in wrong {
        println!("FAILED: {why}");
    }
    println!("\n{compared} forms, {first} of {RUNS} runs of each, {failed} failed, {skipped} skipped");
    Ok((failed, skipped))
}

/// How a semantics, its forms and the executed forms differ.
fn differences(semantics: &str, forms: &str, executed: &BTreeSet<String>) -> Vec<String> {
    let identifiers: BTreeSet<&str> = forms
        .lines()
        .filter(|line| !line.starts_with("//"))
        .filter_map(|line| line.split_once(" = "))
        .flat_map(|(_, right)| right.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .collect();
    let declared: BTreeSet<String> = signatures(forms)
        .filter_map(|name| name.strip_prefix("form_").map(str::to_owned))
        .collect();
    let unused = signatures(semantics)
        .filter(|name| !identifiers.contains(name))
        .map(|name| format!("{name} is in no form"));
    let not_executed = declared
        .difference(executed)
        .map(|form| format!("{form} was not executed"));
    let undeclared = executed
        .difference(&declared)
        .map(|form| format!("{form} was executed and has no form"));
    unused.chain(not_executed).chain(undeclared).collect()
}

/// The names that the signatures at the start of a line declare.
fn signatures(source: &str) -> impl Iterator<Item = &str> {
    source
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_alphabetic()))
        .filter_map(|line| line.split_once(" : "))
        .filter(|(names, _)| !names.contains('='))
        .flat_map(|(names, _)| names.split(", "))
}

/// A job that compares the first runs of some forms: the files with their runs.
fn job(folders: &Folders, architecture: &str, files: &[PathBuf], first: usize) -> io::Result<Job> {
    let mut script = format!(":load test/Forms{architecture}.cry\n");
    let forms: Vec<(String, PathBuf)> = (files.iter())
        .map(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            (name.into_owned(), file.clone())
        })
        .collect();
    for (form, file) in &forms {
        let runs = fs::read(file)?;
        for batch in runs.chunks(runs.len() / RUNS * BATCH).take(first / BATCH) {
            let numbers: String = batch.chunks(runs.len() / RUNS / 2).flat_map(registers).collect();
            let _ = writeln!(script, "differing`{{{BATCH}}} form_{form} 0x{numbers}");
        }
    }
    let [begin, end] = [forms.first(), forms.last()].map(|form| form.map_or("", |(name, _)| name));
    Ok(Job {
        name: format!("{architecture} {begin} to {end}"),
        method: format!("{first} runs"),
        folder: folders.table.clone(),
        script,
        verdict: Box::new(move |output| {
            cryptol::quiet(output)?;
            let differing = answers(output, forms.len() * first).ok_or("no answers for all runs")?;
            let wrong: Vec<String> = (forms.iter().zip(differing.chunks(first)))
                .filter_map(|((form, file), differing)| {
                    let number = differing.iter().position(|&differs| differs)?;
                    let count = differing.iter().filter(|&&differs| differs).count();
                    let run = run_of(file, number);
                    Some(format!("{form}: {count} differ, the first is {run}"))
                })
                .collect();
            if wrong.is_empty() {
                Ok("the same".into())
            } else {
                Err(wrong.join("; "))
            }
        }),
    })
}

/// Whether each run differs: the bits of the numbers that Cryptol prints, one number per batch.
fn answers(output: &str, wanted: usize) -> Option<Vec<bool>> {
    let mut runs = Vec::new();
    for digits in output.lines().filter_map(|line| line.strip_prefix("0x")) {
        if digits.len() != BATCH / 4 {
            return None;
        }
        for digit in digits.chars() {
            let digit = digit.to_digit(16)?;
            runs.extend([8, 4, 2, 1].map(|bit| digit & bit != 0));
        }
    }
    (runs.len() == wanted).then_some(runs)
}

/// An image as hexadecimal numbers: two vector registers and a general register of 8 bytes.
fn registers(image: &[u8]) -> [String; 3] {
    let (vectors, general) = image.split_at(image.len().saturating_sub(8));
    let (x, y) = vectors.split_at(vectors.len() / 2);
    [x, y, general].map(|register| {
        register.iter().rev().fold(String::new(), |mut number, byte| {
            let _ = write!(number, "{byte:02x}");
            number
        })
    })
}

/// The registers before and after a run.
fn run_of(file: &Path, number: usize) -> String {
    let runs = fs::read(file).unwrap_or_default();
    let image_len = (runs.len() / RUNS / 2).max(1);
    let images: Vec<String> = runs
        .chunks(image_len)
        .skip(2 * number)
        .take(2)
        .map(|image| registers(image).join(" "))
        .collect();
    images.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_one_side_only_is_found() {
        let semantics = "eor : V -> V -> V\neor x y = x ^ (y : V)\n\naese, aesmc : V\n";
        let forms = "form_eor, form_aese : R -> R\nform_eor (x, y) = (eor x y, y)\nform_aese (x, y) = (aese x y, aesmc y)\n";
        let executed = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        assert!(differences(semantics, forms, &executed(&["eor", "aese"])).is_empty());
        assert_eq!(
            differences(semantics, forms, &executed(&["eor"])),
            ["aese was not executed"]
        );
        assert_eq!(
            differences(semantics, forms, &executed(&["eor", "aese", "ext"])),
            ["ext was executed and has no form"]
        );
        let forms = forms.replace("aesmc y", "y");
        assert_eq!(
            differences(semantics, &forms, &executed(&["eor", "aese"])),
            ["aesmc is in no form"]
        );
    }

    #[test]
    fn only_whole_answers_are_read() {
        let zeros = format!("0x{}\n", "0".repeat(BATCH / 4));
        let all = zeros.repeat(RUNS / BATCH);
        assert_eq!(answers(&format!("Loading\n{all}"), RUNS), Some(vec![false; RUNS]));
        let bits = answers(&all.replacen("0x0", "0x2", 2), RUNS).unwrap();
        let differing: Vec<_> = (0..RUNS).filter(|&run| bits[run]).collect();
        assert_eq!(differing, [2, BATCH + 2]);
        for output in [
            "",
            "True",
            &zeros,
            &all[2..],
            &format!("{all}{zeros}"),
            &all.replacen("0x", "0x0", 1),
        ] {
            assert_eq!(answers(output, RUNS), None);
        }
    }
}
