//! Runs Cryptol and reads its output.

use crate::parallel;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Reads the output of a script: what was established, or why not.
pub type Verdict = Box<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// One run of Cryptol.
pub struct Job {
    pub name: String,
    pub method: String,
    /// Where the modules are.
    pub folder: PathBuf,
    pub script: String,
    pub verdict: Verdict,
}

pub struct Outcome {
    pub time: Duration,
    pub result: Result<String, String>,
}

/// Runs the jobs, one on each processor at a time (a proof may take gigabytes), and returns the outcomes in order.
pub fn run_all(jobs: &[Job], timeout: Duration, scripts: &Path) -> io::Result<Vec<Outcome>> {
    let done = AtomicUsize::new(0);
    let numbered: Vec<(usize, &Job)> = jobs.iter().enumerate().collect();
    parallel::map(&numbered, |(i, job)| {
        let outcome = run(job, timeout, &scripts.join(format!("{i}")))?;
        let result = (outcome.result.as_ref()).map_or_else(|why| format!("FAILED: {why}"), Clone::clone);
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        let seconds = outcome.time.as_secs_f64();
        eprintln!("[{count}/{}] {} ({seconds:.0} s): {result}", jobs.len(), job.name);
        Ok(outcome)
    })
    .into_iter()
    .collect()
}

fn run(job: &Job, timeout: Duration, base: &Path) -> io::Result<Outcome> {
    let script = base.with_extension("icry");
    let output = base.with_extension("log");
    fs::write(&script, &job.script)?;
    let log = File::create(&output)?;
    let start = Instant::now();
    let mut child = Command::new("cryptol")
        .arg("-b")
        .arg(&script)
        .current_dir(&job.folder)
        .env("CRYPTOLPATH", &job.folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(50));
    };
    let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
    let result = match ended {
        None => Err(format!("no answer in {} s", timeout.as_secs())),
        Some(status) => match (job.verdict)(&text) {
            Ok(_) if !status.success() => {
                Err(format!("cryptol ended with {status}, see {}", output.display()))
            }
            verdict => verdict.map_err(|why| format!("{why}, see {}", output.display())),
        },
    };
    Ok(Outcome {
        time: start.elapsed(),
        result,
    })
}

/// The value of a name in a module, as Cryptol prints it.
pub fn value(folder: &Path, module: &str, name: &str, scripts: &Path) -> io::Result<String> {
    let job = Job {
        name: name.into(),
        method: "evaluate".into(),
        folder: folder.into(),
        script: format!(":load {module}\n{name}\n"),
        verdict: Box::new(|output| {
            quiet(output)?;
            let lines = output.lines().filter(|line| !line.starts_with("Loading module "));
            Ok(lines.collect::<Vec<_>>().join(" "))
        }),
    };
    let outcome = run(&job, Duration::from_secs(60), &scripts.join(name))?;
    outcome.result.map_err(io::Error::other)
}

/// There is neither an error nor a warning.
pub fn quiet(output: &str) -> Result<(), String> {
    match output
        .lines()
        .find(|line| line.contains("[error]") || line.contains("[warning]"))
    {
        Some(line) => Err(line.trim().to_string()),
        None => Ok(()),
    }
}

/// `:prove` succeeded.
pub fn proved(output: &str) -> Result<String, String> {
    quiet(output)?;
    if output.lines().any(|line| line == "Q.E.D.") {
        Ok("proved".into())
    } else {
        Err("not proved".into())
    }
}

/// `:check` passed this many tests (fewer if there are fewer arguments).
pub fn checked(output: &str, tests: u32) -> Result<String, String> {
    quiet(output)?;
    if output.contains(&format!("Passed {tests} tests.")) {
        Ok(format!("passed {tests} tests"))
    } else {
        Err("a test failed".into())
    }
}

/// This many expressions were evaluated, and each to True.
pub fn all_true(output: &str, count: usize) -> Result<(), String> {
    quiet(output)?;
    let answers: Vec<&str> = output
        .lines()
        .filter(|line| *line == "True" || *line == "False")
        .collect();
    if let Some(i) = answers.iter().position(|answer| *answer == "False") {
        return Err(format!("case {i} is false"));
    }
    if answers.len() == count {
        Ok(())
    } else {
        Err(format!("{} answers for {count} cases", answers.len()))
    }
}

/// Whether a verdict above says that something is false, rather than that there was an error.
pub fn is_false(why: &str) -> bool {
    ["not proved", "a test failed", "case "]
        .iter()
        .any(|text| why.starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_success_passes() {
        assert!(proved("Loading module A\nQ.E.D.\n(Total Elapsed Time: 0.1s, using \"Z3\")\n").is_ok());
        assert!(proved("Counterexample\n(\\x -> f x) 0x00 = False\n").is_err());
        assert!(proved("[warning] at A.cry:1:1\nQ.E.D.\n").is_err());
        assert!(proved("").is_err());
        assert!(checked("Using random testing.\nTesting... Passed 5 tests.\n", 5).is_ok());
        assert!(checked("Using random testing.\nTesting... Passed 5 tests.\n", 10).is_err());
        assert!(checked("Testing... Counterexample\n", 5).is_err());
        assert!(all_true("Loading module A\nTrue\nTrue\n", 2).is_ok());
        assert!(all_true("True\n", 2).is_err());
        assert!(all_true("True\nFalse\n", 2).is_err());
        assert!(all_true("True\nTrue\n[error] at A.cry\n", 2).is_err());
        assert!(is_false(&all_true("True\nFalse\n", 2).unwrap_err()));
        assert!(is_false(&checked("Testing... Counterexample\n", 5).unwrap_err()));
        assert!(is_false(&proved("Counterexample\n").unwrap_err()));
        assert!(!is_false(&all_true("True\n", 2).unwrap_err()));
        assert!(!is_false(&all_true("[error] at A.cry\n", 0).unwrap_err()));
        assert!(!is_false(&checked("[error] at A.cry\n", 5).unwrap_err()));
    }
}
