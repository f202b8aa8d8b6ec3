//! `veriplex-tools replay`: gives the goals that SAW gave to z3 to the installed solvers, without SAW.
//!
//! `make proofs` keeps the goals in `proofs/generated/replay`, byte for byte, and their SHA-256 in
//! `proofs/generated/manifest.json`. A goal holds if its assertion is unsatisfiable.

use crate::{Options, installed, sha256, subcommand};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{fs, io};

const FOLDER: &str = "proofs/generated/replay";
const MANIFEST: &str = "proofs/generated/manifest.json";

/// How long a solver may take for one goal.
const SECONDS: u32 = 300;

/// The solvers, and for each the theorems that it is not given, because it does not solve their goals in time.
const SOLVERS: [(&str, &[&str]); 2] = [
    ("z3", &[]),
    (
        "cvc5",
        &[
            "armv8_poly1305_add_blocks_x4_lifted_step_thm",
            "avx2_poly1305_add_blocks_x8_lifted_step_thm",
            "avx512_poly1305_add_blocks_x16_lifted_step_thm",
            "permute_bytes_lemma",
            "permute_words_lemma",
            "permute_on_words_lemma",
            "poly1305_small_block_thm",
            "poly1305_wide_block_thm",
            "protocol_open_any_length_thm",
        ],
    ),
];

/// The declaration of tuples with one component for z3, and in SMT-LIB 2.6, as cvc5 wants it.
const TUPLE_Z3: &str = "(declare-datatypes (T0) ((Struct1 (mk-struct1 (struct1-proj0 T0)))))";
const TUPLE: &str = "(declare-datatypes ((Struct1 1)) ((par (T0) ((mk-struct1 (struct1-proj0 T0))))))";

/// Writes the goals of a theorem, and returns what the manifest says about them. Goals that SAW rewrote to `true`
/// itself are only counted.
pub fn write(root: &Path, theorem: &str, goals: &[String]) -> io::Result<(Value, usize)> {
    let (rewritten, left): (Vec<&String>, Vec<&String>) =
        goals.iter().partition(|goal| goal.contains("\n(assert false)\n"));
    let mut hashes = Map::new();
    for (i, goal) in left.iter().enumerate() {
        let name = format!("{theorem}.{}.smt2.gz", i + 1);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(goal.as_bytes())?;
        fs::write(root.join(FOLDER).join(&name), encoder.finish()?)?;
        hashes.insert(name, json!(sha256(goal.as_bytes())));
    }
    Ok((Value::Object(hashes), rewritten.len()))
}

/// Removes all goals.
pub fn clear(root: &Path) -> io::Result<()> {
    let folder = root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir(folder)
}

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &[]);
    subcommand("replay", options, &[], |options| run(root, options))
}

/// A theorem in the manifest.
struct Theorem {
    name: String,
    /// The files of its goals, and the SHA-256 of the text in each.
    goals: Vec<(String, String)>,
    rewritten: u64,
}

/// Runs everything in order. True if all goals hold; without a solver, true unless the run is strict.
fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let theorems = theorems(&fs::read_to_string(root.join(MANIFEST))?)?;
    let texts = texts(&root.join(FOLDER), &theorems)?;
    let goals = texts.len();
    println!("replay: {goals} goals, which match {MANIFEST}");

    let solvers: Vec<_> = SOLVERS.into_iter().filter(|(name, _)| installed(name)).collect();
    if solvers.is_empty() {
        println!("replay: solving skipped, because neither z3 nor cvc5 is on PATH");
        return Ok(!options.has("--strict"));
    }
    let scratch = root.join("target/replay");
    fs::create_dir_all(&scratch)?;
    let file = scratch.join("goal.smt2");
    let width = theorems.iter().map(|t| t.name.len()).max().unwrap_or(0);
    println!(
        "\n{:width$}  rewritten  goals  solver  seconds  result",
        "theorem"
    );
    let mut known: BTreeMap<(&str, &str), Result<(), String>> = BTreeMap::new();
    let (mut failed, mut left_out) = (0, Vec::new());
    for theorem in &theorems {
        let (name, rewritten, count) = (&theorem.name, theorem.rewritten, theorem.goals.len());
        if count == 0 {
            println!("{name:width$}  {rewritten:>9}  {count:>5}  none             rewritten by SAW");
        }
        for &(solver, hard) in solvers.iter().filter(|_| count > 0) {
            if hard.contains(&name.as_str()) {
                left_out.push(format!("{name} with {solver}"));
                println!("{name:width$}  {rewritten:>9}  {count:>5}  {solver:<6}           not asked");
                continue;
            }
            let start = Instant::now();
            let mut result = "unsat".to_owned();
            for (goal, hash) in &theorem.goals {
                let answer = known.entry((solver, hash)).or_insert_with(|| {
                    fs::write(&file, text_for(solver, &texts[goal])).map_err(|e| e.to_string())?;
                    solve(solver, &file)
                });
                if let Err(e) = answer {
                    failed += 1;
                    result = format!("FAILED: {goal}: {e}");
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            println!("{name:width$}  {rewritten:>9}  {count:>5}  {solver:<6}  {seconds:>7.1}  {result}");
        }
    }
    let asked: Vec<&str> = solvers.iter().map(|&(solver, _)| solver).collect();
    let unsolved: Vec<&Theorem> = (theorems.iter())
        .filter(|t| !t.goals.is_empty() && solvers.iter().all(|(_, hard)| hard.contains(&t.name.as_str())))
        .collect();
    for theorem in &unsolved {
        println!("FAILED: {}: no installed solver can solve it", theorem.name);
    }
    let result = failed == 0 && unsolved.is_empty();
    println!(
        "\n{goals} goals with {}: {}; not asked, because the solver takes too long: {}",
        asked.join(" and "),
        if result { "all hold" } else { "NOT all hold" },
        if left_out.is_empty() {
            "none".to_owned()
        } else {
            left_out.join(", ")
        }
    );
    Ok(result)
}

fn theorems(manifest: &str) -> io::Result<Vec<Theorem>> {
    let manifest: Value = serde_json::from_str(manifest)?;
    let malformed = || io::Error::other(format!("{MANIFEST} is malformed"));
    let listed = manifest["theorems"].as_array().ok_or_else(malformed)?;
    listed
        .iter()
        .map(|theorem| {
            let goals = theorem["goals"].as_object().ok_or_else(malformed)?;
            Ok(Theorem {
                name: theorem["name"].as_str().ok_or_else(malformed)?.to_owned(),
                goals: (goals.iter())
                    .map(|(file, hash)| Ok((file.clone(), hash.as_str().ok_or_else(malformed)?.to_owned())))
                    .collect::<io::Result<_>>()?,
                rewritten: theorem["rewritten"].as_u64().ok_or_else(malformed)?,
            })
        })
        .collect()
}

/// The texts of the goals. They must be exactly those of the manifest.
fn texts(folder: &Path, theorems: &[Theorem]) -> io::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for (file, hash) in theorems.iter().flat_map(|t| &t.goals) {
        let at = |e: io::Error| io::Error::new(e.kind(), format!("{FOLDER}/{file}: {e}"));
        let mut text = String::new();
        let packed = fs::File::open(folder.join(file)).map_err(at)?;
        GzDecoder::new(packed).read_to_string(&mut text).map_err(at)?;
        if sha256(text.as_bytes()) != *hash {
            return Err(at(io::Error::other("it does not match the manifest")));
        }
        texts.insert(file.clone(), text);
    }
    let here: BTreeSet<String> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    match here.iter().find(|file| !texts.contains_key(*file)) {
        Some(file) => Err(io::Error::other(format!(
            "{FOLDER}/{file} is not in the manifest"
        ))),
        None => Ok(texts),
    }
}

/// z3 gets what it got from SAW; cvc5 gets the same in its dialect.
fn text_for(solver: &str, goal: &str) -> String {
    match solver {
        "cvc5" => goal.replace(TUPLE_Z3, TUPLE),
        _ => goal.to_owned(),
    }
}

fn solve(solver: &str, file: &Path) -> Result<(), String> {
    let mut command = Command::new(solver);
    match solver {
        "cvc5" => command
            .arg("--lang=smt2")
            .arg(format!("--tlimit={}", 1000 * SECONDS)),
        _ => command.arg("-smt2").arg(format!("-T:{SECONDS}")),
    };
    let output = command.arg(file).output().map_err(|e| e.to_string())?;
    verdict(&String::from_utf8_lossy(&output.stdout))
}

/// Succeeds if the answer is "unsat" and nothing else. cvc5 may also print "unsupported", for an option that it does
/// not know (z3's format of decimals).
fn verdict(output: &str) -> Result<(), String> {
    match output.trim().trim_start_matches("unsupported\n") {
        "unsat" => Ok(()),
        other => Err(format!("{:?}", other.chars().take(200).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unsat_will_do() {
        assert_eq!(verdict("unsat\n"), Ok(()));
        assert_eq!(verdict("unsupported\nunsat\n"), Ok(()));
        for output in [
            "",
            "sat\n",
            "unknown\n",
            "timeout\n",
            "(error \"line 1\")\nunsat\n",
            "unsat\nsat\n",
            "unsupported\n",
        ] {
            assert!(verdict(output).is_err(), "{output:?}");
        }
    }
}
