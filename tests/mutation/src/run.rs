//! Runs tests, each in its own process. Their limits count processor time, which does not depend on what else the machine
//! does. It is read from `/proc`: this program needs Linux.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
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
    /// On processors, with the processes that it started.
    time: Duration,
    /// On the clock.
    clock: Duration,
    /// The mutants that it reaches.
    pub reaches: HashSet<usize>,
}

impl Test {
    pub fn title(&self) -> String {
        format!("{} {}", self.program.name, self.name)
    }

    /// What `recall` reads: the times in milliseconds, and the mutants that it reaches.
    fn measured(&self) -> String {
        let mut line = format!("{} {}", self.time.as_millis(), self.clock.as_millis());
        for mutant in &self.reaches {
            write!(line, " {mutant}").unwrap();
        }
        line
    }

    fn recall(&mut self, line: &str) -> bool {
        let numbers = line.split(' ').map(|word| word.parse().ok());
        let numbers: Option<Vec<usize>> = numbers.collect();
        let Some([time, clock, reaches @ ..]) = numbers.as_deref() else {
            return false;
        };
        let [time, clock] = [*time, *clock].map(|ms| Duration::from_millis(ms as u64));
        (self.time, self.clock) = (time, clock);
        self.reaches = reaches.iter().copied().collect();
        true
    }
}

/// How a test ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    Passed,
    Failed,
    /// It took too much processor time, as a loop without an end does.
    Stopped,
    /// It waited for what did not come.
    Hung,
    /// Something else ended it, which says nothing about the mutant.
    Lost,
}

impl End {
    /// From what a process returned or the signal that ended it, the time it took, and its limit.
    fn of(code: Option<i32>, signal: Option<i32>, used: Duration, limit: Duration) -> Self {
        match (code, signal) {
            (Some(0), _) => Self::Passed,
            _ if used >= limit => Self::Stopped,
            // SIGHUP, SIGINT, SIGKILL, SIGTERM.
            (_, Some(1 | 2 | 9 | 15)) => Self::Lost,
            _ => Self::Failed,
        }
    }
}

/// The unit of time in `/proc`.
const TICK: Duration = Duration::from_millis(10);

/// A line of `/proc/*/stat`.
struct Stat {
    state: char,
    group: u32,
    /// Processor time, with that of the processes below it that ended.
    used: Duration,
}

impl Stat {
    fn read(path: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(path).ok()?)
    }

    fn parse(line: &str) -> Option<Self> {
        // The name before the last bracket may contain spaces and brackets.
        let (_, rest) = line.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u32>().ok());
        Some(Self {
            state: fields[0].chars().next()?,
            group: fields[2].parse().ok()?,
            used: TICK * ticks.sum::<Option<u32>>()?,
        })
    }
}

/// The processor time of a group of processes, and whether one of their threads runs or would if a processor were free.
fn activity(group: u32) -> (Duration, bool) {
    let (mut used, mut awake) = (Duration::ZERO, false);
    let numbered = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let is_number = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit())
        };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(is_number)
            .collect()
    };
    for process in numbered(Path::new("/proc")) {
        let Some(stat) = Stat::read(&process.join("stat")).filter(|stat| stat.group == group) else {
            continue;
        };
        used += stat.used;
        awake |= numbered(&process.join("task"))
            .iter()
            .filter_map(|thread| Stat::read(&thread.join("stat")))
            .any(|thread| matches!(thread.state, 'R' | 'D'));
    }
    (used, awake)
}

fn command(program: &Program, package: &Package, seconds: u64) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            // One by one: dash takes the first of several, and is silent about the others.
            "ulimit -v \"$1\" && ulimit -t \"$2\" && ulimit -c 0 && shift 2 && exec \"$@\"",
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

/// How long a test that has used up its time on the clock may do nothing.
const IDLE: Duration = Duration::from_secs(10);

/// Processor time that every test has: caches and other threads of a core can cost some.
const LEAST: Duration = Duration::from_millis(1500);

/// How it ended, its processor time, and its time on the clock.
fn run(test: &Test, package: &Package, mutant: &str) -> (End, Duration, Duration) {
    let limit = test.time * 3 + LEAST;
    // The kernel counts less exactly than `/proc` does, and each process by itself.
    let mut command = command(&test.program, package, limit.as_secs() * 2 + 2);
    command
        .args(["--exact", &test.name, "--test-threads=1", "-q"])
        .stdout(Stdio::null());
    command.env("VERIPLEX_MUTANT", mutant);
    wait(
        command.spawn().expect("a test"),
        limit,
        test.clock * 20 + Duration::from_secs(20),
    )
}

/// Waits for a process that leads its group. After so long on the clock it must do something, or want to: on a busy
/// machine a test that does takes as long as it takes.
fn wait(mut child: Child, limit: Duration, clock: Duration) -> (End, Duration, Duration) {
    let stat = PathBuf::from(format!("/proc/{}/stat", child.id()));
    let start = Instant::now();
    let (mut pause, mut longest) = (Duration::from_micros(500), Duration::from_millis(20));
    let mut last: Option<(Duration, Instant)> = None;
    loop {
        // Before `try_wait`, which removes the file.
        let now = Stat::read(&stat).expect("a file of Linux");
        if now.state == 'Z'
            && let Some(status) = child.try_wait().expect("a test")
        {
            let end = End::of(status.code(), status.signal(), now.used, limit);
            return (end, now.used, start.elapsed());
        }
        let (mut used, mut awake) = (now.used, true);
        let late = start.elapsed() > clock;
        if late || start.elapsed() > limit {
            (used, awake) = activity(child.id());
            longest = Duration::from_millis(200);
        }
        if used >= limit {
            stop(&mut child);
            return (End::Stopped, used, start.elapsed());
        }
        if late {
            match last {
                Some((before, since)) if !awake && used == before => {
                    if since.elapsed() > IDLE {
                        stop(&mut child);
                        return (End::Hung, used, start.elapsed());
                    }
                }
                _ => last = Some((used, Instant::now())),
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
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
                    clock: Duration::from_secs(100),
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

/// Runs every test without a mutant, to see how long it takes and which mutants it reaches. Of a program that is the same
/// as in the last run, what was seen then is still true.
pub fn measure(programs: &[Program], package: &Package, out: &Path) -> Vec<Test> {
    let tests = list(programs, package);
    assert!(!tests.is_empty(), "no tests");
    let folder = &out.join("reached");
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    let known = out.join(format!("{}.measured", package.name));
    let before = std::fs::read_to_string(&known).unwrap_or_default();
    let before: BTreeMap<&str, &str> = before.lines().filter_map(|line| line.split_once('\t')).collect();
    let hashes: BTreeMap<&Path, u64> = (programs.iter())
        .map(|program| (&*program.path, hash(&std::fs::read(&program.path).unwrap())))
        .collect();
    let key = |test: &Test| format!("{:x} {}", hashes[&*test.program.path], test.title());
    let done = Mutex::new(Vec::new());
    let number = AtomicUsize::new(0);
    on_threads(tests, package, |mut test| {
        if package.without.contains(&test.name.as_str()) {
            return;
        }
        if before.get(&*key(&test)).is_some_and(|line| test.recall(line)) {
            done.lock().unwrap().push(test);
            return;
        }
        let file = folder.join(number.fetch_add(1, Ordering::Relaxed).to_string());
        let (end, time, clock) = run(&test, package, file.to_str().unwrap());
        assert!(
            end == End::Passed,
            "without a mutant {} ends thus: {end:?}",
            test.title()
        );
        (test.time, test.clock) = (time, clock);
        test.reaches = reached(&file);
        done.lock().unwrap().push(test);
    });
    let mut tests = done.into_inner().unwrap();
    tests.sort_by_key(|test| test.time);
    let lines = (tests.iter()).map(|test| format!("{}\t{}\n", key(test), test.measured()));
    std::fs::write(known, lines.collect::<String>()).unwrap();
    tests
}

pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
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

/// What is known of a mutant.
#[derive(Debug)]
pub enum Verdict {
    /// By this test, which ended like this.
    Killed(usize, End),
    Survived,
    /// It survives, since no test reaches it.
    Unreached,
    /// The tests so far took more time than they may.
    Undecided,
}

/// Runs the tests that reach this mutant until one fails, or they have taken as much processor time as they may.
pub fn kill(
    mutant: usize,
    function: usize,
    tests: &[Test],
    package: &Package,
    killers: &Killers,
    budget: Option<Duration>,
) -> Verdict {
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
    if order.is_empty() {
        return Verdict::Unreached;
    }
    let number = mutant.to_string();
    let mut taken = Duration::ZERO;
    for &test in &order {
        if budget.is_some_and(|budget| taken >= budget) {
            return Verdict::Undecided;
        }
        let (end, used, _) = run(&tests[test], package, &number);
        taken += used;
        if end == End::Lost {
            eprintln!("ended from elsewhere: {}", tests[test].title());
        } else if end != End::Passed {
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
            return Verdict::Killed(test, end);
        }
    }
    Verdict::Survived
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn ends() {
        let of = |code, signal, used: Duration| End::of(code, signal, used, SECOND * 4);
        assert_eq!(of(Some(0), None, SECOND * 9), End::Passed);
        assert_eq!(of(Some(101), None, SECOND), End::Failed);
        // SIGABRT: a stack that is too deep, or no memory.
        assert_eq!(of(None, Some(6), SECOND), End::Failed);
        assert_eq!(of(None, Some(9), SECOND), End::Lost);
        assert_eq!(of(None, Some(9), SECOND * 4), End::Stopped);
        assert_eq!(of(Some(101), None, SECOND * 4), End::Stopped);
    }

    #[test]
    fn limits_hold() {
        let shell = Program {
            name: String::new(),
            path: "/bin/sh".into(),
            folder: "/".into(),
        };
        let output = command(&shell, &crate::PACKAGES[0], 7)
            .args(["-c", "ulimit -v; ulimit -t; ulimit -c"])
            .output();
        assert_eq!(output.unwrap().stdout, format!("{MEMORY}\n7\n0\n").as_bytes());
    }

    #[test]
    fn lines_of_proc() {
        let line = "12 (a b) c) S 1 77 12 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.group, stat.used), ('S', 77, TICK * 127));
        assert!(Stat::parse("12 (a) S 1 2").is_none());
        assert_eq!(
            activity(u32::MAX),
            (Duration::ZERO, false),
            "a group that does not exist"
        );
    }

    /// A shell with `seconds` of processor time and a limit on the clock, in milliseconds.
    fn shell(script: &str, seconds: u64, clock: u64) -> (End, Duration, Duration) {
        let child = Command::new("sh")
            .args(["-c", &format!("ulimit -t 20; {script}")])
            .process_group(0)
            .spawn()
            .unwrap();
        wait(child, Duration::from_secs(seconds), Duration::from_millis(clock))
    }

    /// A loop without an end, in the process and below it, is told from a failure.
    #[test]
    fn a_loop_is_stopped() {
        for script in [
            "while :; do :; done",
            "sh -c 'while :; do :; done'; exit 1",
            "while :; do sh -c :; done",
        ] {
            let (end, used, _) = shell(script, 1, 0);
            assert!(
                end == End::Stopped && used >= SECOND,
                "{script}: {end:?} {used:?}"
            );
        }
        assert_eq!(shell("exit 1", 1, 0).0, End::Failed);
        assert_eq!(shell("kill -9 $$", 1, 0).0, End::Lost);
    }

    /// What waits longer than its time on the clock is stopped, with what it started, and only when it does nothing.
    #[test]
    fn a_wait_is_stopped() {
        let (end, used, clock) = shell("sleep 1000", 4, 100);
        assert_eq!(end, End::Hung);
        assert!(
            used < SECOND && clock >= IDLE && clock < IDLE * 6,
            "{used:?} {clock:?}"
        );
        let now_and_then = format!("for round in 1 2 3 4; do sleep 4; {}; done", busy("20 * round"));
        let (end, used, clock) = shell(&now_and_then, 4, 100);
        assert_eq!(end, End::Passed, "{used:?}");
        assert!(clock > IDLE, "{clock:?}");
    }

    /// Runs until the shell has used so many ticks.
    fn busy(ticks: &str) -> String {
        format!(
            "used=0; while [ $used -lt $(({ticks})) ]; do read -r line < /proc/$$/stat; set -- $line; \
             used=$((${{14}} + ${{15}})); done"
        )
    }

    /// While other processes take all processors from it, a test takes long on the clock, and passes.
    #[test]
    fn a_busy_machine_stops_nothing() {
        let processors = std::thread::available_parallelism().unwrap().get();
        let loops = (0..processors * 8).map(|_| {
            Command::new("sh")
                .args(["-c", "ulimit -t 60; while :; do :; done"])
                .process_group(0)
                .spawn()
                .unwrap()
        });
        let mut others: Vec<Child> = loops.collect();
        let (end, used, clock) = shell(&busy("150"), 4, 1);
        others.iter_mut().for_each(stop);
        assert_eq!(end, End::Passed, "{used:?}");
        assert!(clock > IDLE, "not busy: {used:?} {clock:?}");
    }
}
