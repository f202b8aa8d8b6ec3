//! `make bench`: speeds beside what bounds them and beside other crates, all in one run and in turns, each the best of many
//! rounds. Prints them as tables; with a name for this machine in the environment's `MACHINE` they become a file of
//! `benches/results`, too.

mod plots;
mod rows;
mod tunnel;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use veriplex::hazmat::{LANES, LaneBackend, RATE};
use veriplex_benches::record::{Kind, Record, Row, Series, float, rounded};
use veriplex_benches::{
    ADDITIONS, PERMUTATIONS, Subject, additions, in_turns, latency_bound, rounds, throughput_bounds,
};

const ROUNDS: usize = 500;

/// A row to be.
struct Plan {
    table: &'static str,
    bytes: Option<usize>,
    own: Subject,
    limit: Option<(&'static str, Limit)>,
    peer: Option<Subject>,
}

type Limit = Box<dyn Fn(&Measured) -> f64>;

impl Plan {
    fn new(table: &'static str, name: impl Into<String>, run: impl FnMut() + 'static) -> Self {
        Self {
            table,
            bytes: None,
            own: Subject::new(name, run),
            limit: None,
            peer: None,
        }
    }

    /// Has a speed: a call processes so many bytes.
    fn bytes(mut self, len: usize) -> Self {
        self.bytes = Some(len);
        self
    }

    /// What takes at least this long.
    fn limit(mut self, name: &'static str, limit: impl Fn(&Measured) -> f64 + 'static) -> Self {
        self.limit = Some((name, Box::new(limit)));
        self
    }

    /// Another that does the same.
    fn peer(mut self, name: &str, run: impl FnMut() + 'static) -> Self {
        self.peer = Some(Subject::new(name, run));
        self
    }
}

/// What limits are computed from, in nanoseconds.
struct Measured {
    /// The AES instructions of a permutation, bound by latency and by throughput.
    one_after_the_other: f64,
    together: f64,
    rows: BTreeMap<String, f64>,
}

impl Measured {
    /// What the row of this name takes.
    fn row(&self, name: &str) -> f64 {
        self.rows[name]
    }

    /// What the AES instructions of so many bytes take, where at most `chunk` bytes wait for each other.
    fn aes(&self, len: usize, chunk: usize) -> f64 {
        let blocks = |len| float(len) / float(RATE);
        (blocks(len) * self.together).max(blocks(len.min(chunk)) * self.one_after_the_other)
    }
}

/// So long, or short where this is only tried.
fn long(len: usize) -> usize {
    if rounds(ROUNDS) > 1 { len } else { 1 << 20 }
}

/// What a program prints.
fn says(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_or(Vec::new(), |output| output.stdout);
    String::from_utf8_lossy(&output).trim().to_owned()
}

/// What the operating system calls this processor.
fn model() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = (information.lines()).find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("unknown", |(_, model)| model).to_owned()
}

fn main() -> io::Result<()> {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let named = std::env::var("MACHINE").ok().filter(|name| !name.is_empty());
    let lanes = LaneBackend::current().name();
    let mut additions = additions();
    let mut latency = latency_bound();
    // Of the lanes that are in use.
    let mut throughput = (throughput_bounds().into_iter()).find(|(level, _)| *level == lanes);
    let mut plans = rows::all();
    let mut plotted = plots::all();
    let rounds = rounds(ROUNDS);
    let mut subjects: Vec<&mut Subject> = (additions.iter_mut().chain(&mut latency))
        .chain(throughput.iter_mut().map(|(_, bound)| bound))
        .collect();
    for plan in &mut plans {
        subjects.push(&mut plan.own);
        subjects.extend(&mut plan.peer);
    }
    for line in &mut plotted {
        subjects.extend(line.points.iter_mut().map(|(_, subject)| subject));
    }
    in_turns(subjects, rounds);

    let nanoseconds =
        |subject: Option<Subject>, count| subject.map_or(f64::NAN, |subject| subject.nanoseconds_per(count));
    let throughput = throughput.map(|(_, bound)| bound);
    let measured = Measured {
        one_after_the_other: nanoseconds(latency, PERMUTATIONS),
        together: nanoseconds(throughput, PERMUTATIONS * LANES),
        rows: (plans.iter().map(|plan| &plan.own))
            .map(|subject| (subject.name.clone(), subject.nanoseconds_per(1)))
            .collect(),
    };
    let mut bounds = vec![
        ("AES instructions of one state", measured.one_after_the_other),
        ("AES instructions of eight states", measured.together),
    ];
    bounds.retain(|(_, ns)| ns.is_finite());
    let gigahertz = 1.0 / nanoseconds(additions, ADDITIONS);
    let cores = std::thread::available_parallelism()?;
    let record = Record {
        machine: named.clone().unwrap_or_else(model),
        date: says("date", &["-u", "+%F"]),
        rustc: says("rustc", &["--version"])
            .split(' ')
            .nth(1)
            .unwrap_or("unknown")
            .to_owned(),
        code: format!(
            "{}, permutation {}, lanes {lanes}",
            std::env::consts::ARCH,
            veriplex::backend()
        ),
        load: format!(
            "{} of {cores} processors",
            load.split(' ').next().unwrap_or("unknown")
        ),
        rounds,
        gigahertz: gigahertz.is_finite().then(|| rounded(gigahertz)),
        row: limits(&bounds)
            .chain(plans.into_iter().map(|plan| row(plan, &measured)))
            .collect(),
        series: plotted
            .iter()
            .map(plots::Line::series)
            .chain(lines(&bounds))
            .collect(),
    };
    print!("{}", record.tables());
    if let Some(name) = named.filter(|_| rounds > 1) {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
        fs::create_dir_all(&results)?;
        let name = name.to_lowercase();
        let words: Vec<&str> = (name.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let text = toml::to_string(&record).map_err(io::Error::other)?;
        fs::write(results.join(words.join("-")).with_extension("toml"), text)?;
    }
    Ok(())
}

/// A name, and what a permutation takes, in nanoseconds.
type Bound = (&'static str, f64);

/// The limits, as rows.
fn limits(bounds: &[Bound]) -> impl Iterator<Item = Row> {
    bounds.iter().map(|(name, ns)| Row {
        table: "What the hardware allows".to_owned(),
        name: (*name).to_owned(),
        bytes: Some(RATE),
        ns: rounded(*ns),
        limit: None,
        peer: None,
    })
}

fn row(plan: Plan, measured: &Measured) -> Row {
    let limit = plan
        .limit
        .map(|(name, limit)| (name.to_owned(), rounded(limit(measured))));
    Row {
        table: plan.table.to_owned(),
        name: plan.own.name.clone(),
        bytes: plan.bytes,
        ns: rounded(plan.own.nanoseconds_per(1)),
        limit: limit.filter(|(_, ns)| ns.is_finite()),
        peer: plan
            .peer
            .map(|peer| (peer.name.clone(), rounded(peer.nanoseconds_per(1)))),
    }
}

/// The limits, as lines of the plots.
fn lines(bounds: &[Bound]) -> impl Iterator<Item = Series> {
    let line = |plot, (name, ns): &Bound| {
        let ends = [plots::SIZES[0], plots::SIZES[plots::SIZES.len() - 1]];
        Series::new(
            plot,
            Kind::Bound,
            name,
            ends.map(|len| (len, float(len) / float(RATE) * ns)),
        )
    };
    plots::PLOTS
        .into_iter()
        .flat_map(move |plot| bounds.iter().map(move |bound| line(plot, bound)))
}
