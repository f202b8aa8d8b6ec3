//! Runs tests, each in its own process.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::Package;
use crate::compile::Program;

/// Address space for each test, in KiB: a mutant may allocate without end.
const MEMORY: u64 = 8 << 20;

#[derive(Debug)]
pub struct Test {
    program: Program,
    pub name: String,
    time: Duration,
    /// The mutants that it reaches.
    pub reaches: HashSet<usize>,
}

impl Test {
    pub fn title(&self) -> String {
        format!("{} {}", self.program.name, self.name)
    }
}

/// How a test ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    Passed,
    Failed,
    /// It took too long, as a loop without an end does.
    Stopped,
}

fn command(program: &Program, package: &Package, seconds: u64) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -v \"$1\" -t \"$2\" -c 0; shift 2; exec \"$@\"",
            "sh",
        ])
        .args([MEMORY.to_string(), seconds.to_string()])
        .arg(&program.path)
        .current_dir(&program.folder)
        .envs(package.environment.iter().copied())
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("PROPTEST_RNG_SEED", "1")
        .env_remove("VERIPLEX_MUTANT")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}

/// Ends it and what it started.
fn stop(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill")
        .args(["-9", "--", &group])
        .stderr(Stdio::null())
        .status();
    let _ = child.wait();
}

fn run(test: &Test, package: &Package, mutant: &str) -> (End, Duration) {
    // Processor time, since the machine may do other work, and much more of the clock's for what waits.
    let seconds = test.time.as_secs() * 3 + 4;
    let mut command = command(&test.program, package, seconds);
    command
        .args(["--exact", &test.name, "--test-threads=1", "-q"])
        .stdout(Stdio::null());
    command.env("VERIPLEX_MUTANT", mutant);
    let start = Instant::now();
    let mut child = command.spawn().expect("a test");
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait().expect("a test") {
            let end = match status.code() {
                Some(0) => End::Passed,
                // SIGXCPU and what follows it.
                None if matches!(status.signal(), Some(24 | 9)) => End::Stopped,
                _ => End::Failed,
            };
            return (end, start.elapsed());
        }
        if start.elapsed() > Duration::from_secs(seconds * 10 + 20) {
            stop(&mut child);
            return (End::Stopped, start.elapsed());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The tests of these programs, without those that are ignored.
fn list(programs: &[Program], package: &Package) -> Vec<Test> {
    let mut tests = Vec::new();
    for program in programs {
        let names = |more: &[&str]| -> Vec<String> {
            let output = command(program, package, 60)
                .args(["--list", "--format", "terse"])
                .args(more)
                .output()
                .expect("a list of tests");
            let text = String::from_utf8(output.stdout).expect("a list of tests");
            text.lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(str::to_owned)
                .collect()
        };
        let ignored = names(&["--ignored"]);
        tests.extend(
            names(&[])
                .into_iter()
                .filter(|name| !ignored.contains(name))
                .map(|name| Test {
                    program: program.clone(),
                    name,
                    time: Duration::from_secs(100),
                    reaches: HashSet::new(),
                }),
        );
    }
    tests
}

/// Does this for each, on as many threads as `JOBS` says and the package allows.
pub fn on_threads<T: Send>(items: Vec<T>, package: &Package, work: impl Fn(T) + Sync) {
    let asked = std::env::var("JOBS").ok().and_then(|jobs| jobs.parse().ok());
    let jobs = if package.writes_files {
        1
    } else {
        asked.unwrap_or(2)
    };
    let items = Mutex::new(items.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let Some(item) = items.lock().unwrap().next() else {
                        return;
                    };
                    work(item);
                }
            });
        }
    });
}

/// Runs every test without a mutant, to see how long it takes and which mutants it reaches.
pub fn measure(programs: &[Program], package: &Package, folder: &Path) -> Vec<Test> {
    let tests = list(programs, package);
    assert!(!tests.is_empty(), "no tests");
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    let done = Mutex::new(Vec::new());
    let number = AtomicUsize::new(0);
    on_threads(tests, package, |mut test| {
        if package.without.contains(&test.name.as_str()) {
            return;
        }
        let file = folder.join(number.fetch_add(1, Ordering::Relaxed).to_string());
        let (end, time) = run(&test, package, file.to_str().unwrap());
        assert!(end == End::Passed, "{} fails without a mutant", test.title());
        test.time = time;
        test.reaches = reached(&file);
        done.lock().unwrap().push(test);
    });
    let mut tests = done.into_inner().unwrap();
    tests.sort_by_key(|test| test.time);
    tests
}

/// One file for each process that the test started.
fn reached(file: &Path) -> HashSet<usize> {
    let stem = format!("{}.", file.file_name().unwrap().to_str().unwrap());
    let files = std::fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_str().is_some_and(|name| name.starts_with(&stem)))
        })
        .collect();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts
        .flat_map(|text| {
            text.lines()
                .map(|line| line.parse().unwrap())
                .collect::<Vec<usize>>()
        })
        .collect()
}

/// Which tests killed mutants of each function: they are tried first.
pub type Killers = Mutex<BTreeMap<usize, Vec<usize>>>;

/// Runs the tests that reach this mutant until one fails, and returns it; whether there was one that reaches it.
pub fn kill(
    mutant: usize,
    function: usize,
    tests: &[Test],
    package: &Package,
    killers: &Killers,
) -> (Option<(usize, End)>, bool) {
    let first = killers
        .lock()
        .unwrap()
        .get(&function)
        .cloned()
        .unwrap_or_default();
    let mut order: Vec<usize> = first
        .iter()
        .copied()
        .filter(|&test| tests[test].reaches.contains(&mutant))
        .collect();
    let rest =
        (0..tests.len()).filter(|test| !first.contains(test) && tests[*test].reaches.contains(&mutant));
    order.extend(rest);
    let number = mutant.to_string();
    for &test in &order {
        let (end, _) = run(&tests[test], package, &number);
        if end != End::Passed {
            let mut killers = killers.lock().unwrap();
            let list = killers.entry(function).or_default();
            list.retain(|&other| other != test);
            // Not before faster ones that are as good.
            let place = list
                .iter()
                .position(|&other| other > test)
                .unwrap_or(list.len())
                .min(3);
            list.insert(place.min(list.len()), test);
            return (Some((test, end)), true);
        }
    }
    (None, !order.is_empty())
}
