//! Running a script: the theorems are the lines that `theorem` in `common.saw` prints, and their goals are what SAW
//! then writes to z3.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// A theorem that SAW proved.
#[derive(Clone)]
pub struct Theorem {
    pub name: String,
    pub solver: String,
    pub time: Duration,
    /// What z3 was asked, byte for byte.
    pub goals: Vec<String>,
}

/// What came of a script.
#[derive(Clone)]
pub struct Run {
    pub proved: Vec<Theorem>,
    /// Why it ended before its end.
    pub failure: Option<String>,
}

/// How much memory (in kilobytes) and how many seconds a script may have.
const LIMITS: &str = "ulimit -v 8000000; exec timeout \"${VERIPLEX_SECONDS:-900}\" saw";

/// What stands in for z3: it keeps what z3 is asked, in a file NUMBER.THEOREM.
const RECORDER: &str = r#"#!/bin/bash
[ "$*" = "-smt2 -in" ] || exec "$VERIPLEX_Z3" "$@"
cd "$VERIPLEX_GOALS" || exit
printf -v file %06d.%s "$(ls | wc -l)" "$(cat "$VERIPLEX_THEOREM")"
exec "$VERIPLEX_Z3" "$@" < <(exec tee "$file")
"#;

/// Installs the recorder in a folder for PATH.
pub fn recorder(out: &Path) -> io::Result<()> {
    fs::create_dir_all(out.join("bin"))?;
    let path = out.join("bin/z3");
    fs::write(&path, RECORDER)?;
    super::call(Command::new("chmod").arg("+x").arg(&path)).map(drop)
}

/// The program, as PATH has it.
fn program(name: &str) -> io::Result<PathBuf> {
    (env::split_paths(&env::var_os("PATH").unwrap_or_default()))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| io::Error::other(format!("no {name}")))
}

/// The goals that the recorder kept, by theorem.
fn recorded(folder: &Path) -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut goals: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files: Vec<PathBuf> = (fs::read_dir(folder)?)
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file)?;
        // Cryptol's type checker has questions too. They are no goals.
        if text.contains("(declare-datatypes ((InfNat 0))") {
            continue;
        }
        if !text.ends_with("(check-sat)\n(exit)\n") || text.matches("(check-sat)").count() != 1 {
            return Err(io::Error::other(format!("{}: no goal", file.display())));
        }
        let theorem = file.extension().and_then(|theorem| theorem.to_str());
        (goals.entry(theorem.unwrap_or_default().to_owned()).or_default()).push(text);
    }
    Ok(goals)
}

/// Runs the scripts, as many at once as there are processors, and returns what came of each, in their order.
pub fn run_all(root: &Path, scripts: &[String]) -> io::Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut runs = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(script) = scripts.get(index) else {
                return Ok(runs);
            };
            runs.push((index, run(root, script)?));
        }
    };
    let mut runs = thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism()?.get())
            .map(|_| scope.spawn(take_turns))
            .collect();
        let results = workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"));
        results.collect::<io::Result<Vec<Vec<(usize, Run)>>>>()
    })?
    .concat();
    runs.sort_by_key(|(index, _)| *index);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Runs a script in its folder. What it prints goes to `target/proofs/FOLDER-NAME.log`.
fn run(root: &Path, script: &str) -> io::Result<Run> {
    let (folder, file) = script.rsplit_once('/').unwrap_or(("", script));
    let name = script.trim_start_matches("proofs/saw/").replace('/', "-");
    let out = root.join("target/proofs");
    let log = out.join(format!("{name}.log"));
    let goals = out.join(format!("{name}.goals"));
    let theorem = out.join(format!("{name}.theorem"));
    fs::create_dir(&goals)?;
    fs::write(&theorem, "")?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([out.join("bin")].into_iter().chain(env::split_paths(&path)))
        .map_err(io::Error::other)?;
    let mut child = Command::new("sh")
        .args(["-c", &format!("{LIMITS} {file} 2>&1")])
        .current_dir(root.join(folder))
        .env(
            "CRYPTOLPATH",
            format!("{0}/spec/cryptol:{0}/proofs/saw/lib", root.display()),
        )
        .env("VERIPLEX_Z3", program("z3")?)
        .env("VERIPLEX_GOALS", &goals)
        .env("VERIPLEX_THEOREM", theorem)
        .env("PATH", path)
        // Nothing is proved by what was proved another time.
        .env_remove("SAW_SOLVER_CACHE_PATH")
        .env_remove("SAW_IMPORT_PATH")
        .stdout(Stdio::piped())
        .spawn()?;
    let mut proved = Vec::new();
    let mut begun: Option<(String, Instant)> = None;
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().ok_or_else(|| io::Error::other("no output"))?).lines() {
        let line = line?;
        text += &line;
        text.push('\n');
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("BEGIN"), Some(theorem)) => begun = Some((theorem.to_owned(), Instant::now())),
            (Some("PROVED"), Some(theorem)) => {
                let (name, start) = begun
                    .take()
                    .ok_or_else(|| io::Error::other("PROVED without BEGIN"))?;
                if name != theorem {
                    return Err(io::Error::other(format!("{theorem} inside {name}")));
                }
                let time = start.elapsed();
                println!("{script}: {theorem} {:.1} s", time.as_secs_f64());
                let solver = line
                    .split_once(" BY ")
                    .map_or("", |(_, solver)| solver)
                    .to_owned();
                proved.push(Theorem {
                    name,
                    solver,
                    time,
                    goals: Vec::new(),
                });
            }
            _ => (),
        }
    }
    fs::write(&log, text)?;
    let status = child.wait()?;
    let mut failure = (!status.success() || begun.is_some()).then(|| {
        let at = begun.map_or_else(|| "outside of a theorem".to_owned(), |(name, _)| name);
        format!("{script} failed at {at}: see {}", log.display())
    });
    if failure.is_none() {
        let mut goals = recorded(&goals)?;
        for theorem in &mut proved {
            theorem.goals = goals.remove(&theorem.name).unwrap_or_default();
            // The other solvers' goals are not kept.
            if theorem.goals.is_empty() && theorem.solver == "z3" {
                failure = Some(format!("{script}: no goal of {} was recorded", theorem.name));
            }
        }
        if let Some((name, _)) = goals.first_key_value() {
            failure = Some(format!(
                "{script}: a goal was recorded outside of the theorems ({name:?})"
            ));
        }
    }
    Ok(Run { proved, failure })
}
