//! Runs a script. A theorem is what SAW's own summary has after it, and its goals are what SAW meanwhile sends to z3.

use super::summary::{Evidence, Summaries};
use crate::parallel;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// A theorem that SAW proved.
#[derive(Clone)]
pub struct Theorem {
    pub name: String,
    pub evidence: Evidence,
    pub time: Duration,
    /// The queries to z3, byte for byte.
    pub goals: Vec<String>,
}

impl Theorem {
    /// How many of its goals SAW rewrote to `true` itself, before z3 saw them.
    pub fn rewritten(&self) -> usize {
        (self.goals.iter())
            .filter(|goal| goal.contains("\n(assert false)\n"))
            .count()
    }
}

/// The result of a script.
#[derive(Clone)]
pub struct Run {
    pub proved: Vec<Theorem>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// How many seconds a run may take, and how many megabytes of resident memory each of its processes may use. (Not their
/// sum: a process that SAW starts counts SAW's memory as its own for a moment.) Two runs at once then fit into 12 GB.
const SECONDS: u64 = 900;
const MEGABYTES: u64 = 5_000;

/// Stands in for z3, and keeps each query in a file MICROSECONDS.THEOREM. Cryptol's type checker calls it for each
/// expression, so it starts no more processes than it must.
const RECORDER: &str = r#"#!/bin/bash
[ "$*" = "-smt2 -in" ] || exec "$VERIPLEX_Z3" "$@"
read -r theorem <"$VERIPLEX_THEOREM"
exec "$VERIPLEX_Z3" "$@" < <(exec tee "$VERIPLEX_GOALS/${EPOCHREALTIME/[.,]/}.$theorem")
"#;

/// Installs the recorder in a folder for PATH.
pub fn recorder(out: &Path) -> io::Result<()> {
    fs::create_dir_all(out.join("bin"))?;
    let path = out.join("bin/z3");
    fs::write(&path, RECORDER)?;
    super::call(Command::new("chmod").arg("+x").arg(&path)).map(drop)
}

/// The path of a program on PATH.
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
        // Cryptol's type checker queries z3 too. Those queries are not goals.
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

/// Runs the scripts, as many at once as there are processors, and returns their results in order.
pub fn run_all(root: &Path, scripts: &[String]) -> io::Result<Vec<Run>> {
    let mut jobs = Vec::new();
    for script in scripts {
        let parts = parts(&fs::read_to_string(root.join(script))?)?;
        jobs.extend((0..parts).map(|part| (script, (parts > 1).then_some((part, parts)))));
    }
    let runs = parallel::map(&jobs, |(script, part)| run(root, script, *part));
    let mut runs = runs.into_iter().collect::<io::Result<Vec<_>>>()?.into_iter();
    Ok(jobs
        .chunk_by(|one, other| one.0 == other.0)
        .map(|of_script| whole(of_script[0].0, runs.by_ref().take(of_script.len()).collect()))
        .collect())
}

/// The number of parts in which a script runs. Its first line may give it.
fn parts(text: &str) -> io::Result<u8> {
    match text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("// parts: "))
    {
        Some(number) => (number.parse().ok().filter(|parts| (1..=94).contains(parts)))
            .ok_or_else(|| io::Error::other(format!("not a number of parts: {number}"))),
        None => Ok(1),
    }
}

/// What the parts of a script show together. Each must have proved the same theorems, for its own rate indices.
fn whole(script: &str, parts: Vec<Run>) -> Run {
    let mut parts = parts.into_iter();
    let Some(mut run) = parts.next() else {
        unreachable!("a script has a part");
    };
    for part in parts {
        run.failure = run.failure.or(part.failure);
        let names = |run: &[Theorem]| run.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
        if run.failure.is_none() && names(&run.proved) != names(&part.proved) {
            run.failure = Some(format!("{script}: its parts prove different theorems"));
        }
        for (theorem, other) in run.proved.iter_mut().zip(part.proved) {
            theorem.time += other.time;
            theorem.evidence.solvers.extend(other.evidence.solvers);
            theorem.evidence.all_solvers.extend(other.evidence.all_solvers);
            theorem.evidence.methods.extend(other.evidence.methods);
            theorem.evidence.assumed.extend(other.evidence.assumed);
            if run.failure.is_none() && theorem.goals != other.goals {
                run.failure = Some(format!(
                    "{script}: {}: its parts have different goals",
                    theorem.name
                ));
            }
        }
    }
    run
}

/// Runs a script in its folder, or one of its parts. What it prints goes to `target/proofs/FOLDER-NAME.log`.
fn run(root: &Path, script: &str, part: Option<(u8, u8)>) -> io::Result<Run> {
    let mut name = script.trim_start_matches("proofs/saw/").replace('/', "-");
    let out = root.join("target/proofs");
    let path = match part {
        None => root.join(script),
        Some((part, parts)) => {
            name = format!("{part}-{name}");
            let indices: Vec<String> = (part..94)
                .step_by(usize::from(parts))
                .map(|i| i.to_string())
                .collect();
            let text = format!(
                "let indices = eval_list {{{{ [{}] : [{}][8] }}}};\ninclude \"../../{script}\";\n",
                indices.join(", "),
                indices.len()
            );
            let path = out.join(&name);
            fs::write(&path, text)?;
            path
        }
    };
    let log = out.join(format!("{name}.log"));
    let goals = out.join(format!("{name}.goals"));
    let summaries = out.join(format!("{name}.summaries"));
    let theorem = out.join(format!("{name}.theorem"));
    fs::create_dir(&goals)?;
    fs::create_dir(&summaries)?;
    fs::write(&theorem, "")?;
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders = env::join_paths([out.join("bin")].into_iter().chain(env::split_paths(&folders)))
        .map_err(io::Error::other)?;
    let mut child = Command::new("sh")
        .args(["-c", "exec saw \"$(basename \"$0\")\" 2>&1"])
        .arg(&path)
        .current_dir(path.parent().unwrap_or(root))
        .env(
            "CRYPTOLPATH",
            format!("{0}/spec/cryptol:{0}/proofs/saw/lib", root.display()),
        )
        .env("VERIPLEX_Z3", program("z3")?)
        .env("VERIPLEX_GOALS", &goals)
        .env("VERIPLEX_SUMMARIES", &summaries)
        .env("VERIPLEX_THEOREM", theorem)
        .env("PATH", folders)
        // No proof may use the results of an earlier run.
        .env_remove("SAW_SOLVER_CACHE_PATH")
        .env_remove("SAW_IMPORT_PATH")
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    let done = AtomicBool::new(false);
    let limits = [("VERIPLEX_SECONDS", SECONDS), ("VERIPLEX_MEGABYTES", MEGABYTES)]
        .map(|(name, usual)| env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual));
    let (read, ended, stopped) = thread::scope(|scope| {
        let watch = scope.spawn(|| watch(&mut child, &done, limits));
        let read = read(script, output);
        done.store(true, Ordering::Relaxed);
        let (ended, stopped) = watch.join().expect("the watch does not panic");
        (read, ended, stopped)
    });
    let (begun, text) = read?;
    fs::write(&log, text)?;

    let mut failure = stopped;
    if failure.is_none() && !ended?.success() {
        failure = Some("an error".to_owned());
    }
    let (proved, at, missing) = proved(begun, &summaries);
    failure = failure.or(missing);
    let mut run = Run {
        proved,
        failure: None,
    };
    if let Some(why) = failure {
        run.failure = Some(format!("{script} failed at {at}: see {} ({why})", log.display()));
        return Ok(run);
    }
    let mut goals = recorded(&goals)?;
    for theorem in &mut run.proved {
        theorem.goals = goals.remove(&theorem.name).unwrap_or_default();
        // The other solvers' goals are not kept.
        if theorem.goals.is_empty() && theorem.evidence.solvers.contains("z3") {
            run.failure = Some(format!("{script}: no goal of {} was recorded", theorem.name));
        }
    }
    if let Some((name, _)) = goals.first_key_value() {
        run.failure = Some(format!(
            "{script}: a goal was recorded outside the theorems ({name:?})"
        ));
    }
    Ok(run)
}

/// The theorems for which there is evidence; where the script ended; and why, if evidence is missing.
fn proved(begun: Vec<Begun>, summaries: &Path) -> (Vec<Theorem>, String, Option<String>) {
    let mut proved = Vec::new();
    let mut before = Summaries::default();
    for Begun { name, time } in begun {
        let Some(time) = time else {
            return (proved, name, Some("it did not end".to_owned()));
        };
        let evidence = fs::read_to_string(summaries.join(format!("{name}.json")))
            .map_err(|e| e.to_string())
            .and_then(|json| before.evidence(&json));
        match evidence {
            Ok(evidence) => proved.push(Theorem {
                name,
                evidence,
                time,
                goals: Vec::new(),
            }),
            Err(why) => return (proved, name, Some(why)),
        }
    }
    (proved, "its end".to_owned(), None)
}

/// A theorem whose proof a script began, and how long that took if it ended.
#[derive(Debug, PartialEq, Eq)]
struct Begun {
    name: String,
    time: Option<Duration>,
}

/// The theorems that a script began, in order, and everything that it printed.
fn read(script: &str, output: impl io::Read) -> io::Result<(Vec<Begun>, String)> {
    let mut theorems: Vec<Begun> = Vec::new();
    let mut names = BTreeSet::new();
    let mut start = Instant::now();
    let mut text = String::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        text += &line;
        text.push('\n');
        let running = theorems.last_mut().filter(|begun| begun.time.is_none());
        match (line.split_once(' '), running) {
            (Some(("BEGIN", name)), None) if names.insert(name.to_owned()) => {
                theorems.push(Begun {
                    name: name.to_owned(),
                    time: None,
                });
                start = Instant::now();
            }
            (Some(("END", name)), Some(begun)) if begun.name == name => {
                let elapsed = start.elapsed();
                println!("{script}: {name} {:.1} s", elapsed.as_secs_f64());
                begun.time = Some(elapsed);
            }
            (Some(("BEGIN" | "END", _)), _) => {
                return Err(io::Error::other(format!("{script}: out of order: {line}")));
            }
            _ => (),
        }
    }
    Ok((theorems, text))
}

/// Waits for a run to end, and kills it when it uses too much time or memory. Returns why, if so.
fn watch(
    child: &mut Child,
    done: &AtomicBool,
    [seconds, megabytes]: [u64; 2],
) -> (io::Result<ExitStatus>, Option<String>) {
    let start = Instant::now();
    let mut stopped = None;
    while !done.load(Ordering::Relaxed) && stopped.is_none() {
        thread::sleep(Duration::from_millis(500));
        if start.elapsed().as_secs() > seconds {
            stopped = Some(format!("longer than {seconds} s"));
        } else if family(child.id()).values().any(|pages| pages / 256 > megabytes) {
            stopped = Some(format!("out of memory: more than {megabytes} MB"));
        }
    }
    if stopped.is_some() {
        let ids = family(child.id()).into_keys().map(|id| id.to_string());
        // The shell has a `kill` of its own where no program of that name is installed. The exit status does not
        // matter: it is a failure if one of them has ended in the meantime.
        let killed = Command::new("sh")
            .args(["-c", "kill -KILL \"$@\"", "sh"])
            .args(ids)
            .status();
        if let Err(e) = killed.and_then(|_| child.kill()) {
            return (Err(e), stopped);
        }
    }
    (child.wait(), stopped)
}

/// A process and its descendants, SAW and its solvers, each with its number of resident pages of 4 KiB. Empty where
/// there is no `/proc`.
fn family(of: u32) -> BTreeMap<u32, u64> {
    let mut processes: Vec<(u32, u32, u64)> = (fs::read_dir("/proc").into_iter().flatten().flatten())
        .filter_map(|process| {
            let id = process.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            // After the name, which may contain anything: state, parent, ...; the 22nd is the number of pages.
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            Some((id, fields.get(1)?.parse().ok()?, fields.get(21)?.parse().ok()?))
        })
        .collect();
    let mut family = BTreeMap::new();
    loop {
        let before = family.len();
        processes.retain(|&(id, parent, pages)| {
            let belongs = id == of || family.contains_key(&parent);
            if belongs {
                family.insert(id, pages);
            }
            !belongs
        });
        if family.len() == before {
            return family;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_out_of_order_are_refused() {
        let names = |text: &str| -> io::Result<Vec<(String, bool)>> {
            let (theorems, all) = read("a.saw", text.as_bytes())?;
            assert_eq!(all, text);
            Ok(theorems
                .into_iter()
                .map(|begun| (begun.name, begun.time.is_some()))
                .collect())
        };
        assert_eq!(names("BEGIN a\nx\nEND a\n").unwrap(), [("a".to_owned(), true)]);
        assert_eq!(names("BEGIN a\n").unwrap(), [("a".to_owned(), false)]);
        for text in [
            "END a\n",
            "BEGIN a\nBEGIN b\n",
            "BEGIN a\nEND b\n",
            "BEGIN a\nEND a\nBEGIN a\n",
        ] {
            assert!(names(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_script_says_its_parts() {
        assert_eq!(parts("// Proves\n").unwrap(), 1);
        assert_eq!(parts("// parts: 4\n").unwrap(), 4);
        assert!(parts("// parts: 0\n").is_err());
        assert!(parts("// parts: many\n").is_err());
    }

    /// Runs a shell, so that there is more than one process.
    fn watched(script: &str, limits: [u64; 2]) -> (bool, Option<String>) {
        let mut child = (Command::new("sh").args(["-c", script]).spawn()).unwrap();
        let (status, stopped) = watch(&mut child, &AtomicBool::new(false), limits);
        (status.unwrap().success(), stopped)
    }

    #[test]
    fn a_run_that_uses_too_much_is_ended() {
        let large = "head -c 900000000 /dev/zero | sort >/dev/null; sleep 60";
        let (_, stopped) = watched(large, [60, 100]);
        assert_eq!(stopped.unwrap(), "out of memory: more than 100 MB");
        let (success, stopped) = watched("sleep 60 | cat", [0, 100]);
        assert_eq!((success, stopped.unwrap()), (false, "longer than 0 s".to_owned()));
    }
}
