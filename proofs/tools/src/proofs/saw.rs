//! Running a script: the theorems are the lines that `theorem` in `common.saw` prints.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

/// A theorem that SAW proved.
pub struct Theorem {
    pub name: String,
    pub solver: String,
    pub time: Duration,
}

/// What came of a script.
pub struct Run {
    pub proved: Vec<Theorem>,
    /// Why it ended before its end.
    pub failure: Option<String>,
}

/// How long a solver or a script may think, and how much memory (in kilobytes) it may have for it.
const LIMITS: &str = "ulimit -v 8000000; exec timeout 900 saw";

/// Runs a script in its folder. What it prints goes to `target/proofs/NAME.log`.
pub fn run(root: &Path, script: &str) -> io::Result<Run> {
    let name = script.rsplit('/').next().unwrap_or(script);
    println!("{name}");
    let log = root.join("target/proofs").join(format!("{name}.log"));
    let mut child = Command::new("sh")
        .args(["-c", &format!("{LIMITS} {name} 2>&1")])
        .current_dir(root.join("proofs/saw"))
        .env("CRYPTOLPATH", "../../spec/cryptol")
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
                println!("  {name} {:.1} s", time.as_secs_f64());
                let solver = line
                    .split_once(" BY ")
                    .map_or("", |(_, solver)| solver)
                    .to_owned();
                proved.push(Theorem { name, solver, time });
            }
            _ => (),
        }
    }
    fs::write(&log, text)?;
    let status = child.wait()?;
    let failure = (!status.success() || begun.is_some()).then(|| {
        let at = begun.map_or_else(|| "outside of a theorem".to_owned(), |(name, _)| name);
        format!("{script} failed at {at}: see {}", log.display())
    });
    Ok(Run { proved, failure })
}
