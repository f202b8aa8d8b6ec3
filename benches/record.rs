//! What `make bench` measured on one machine: a file of `benches/results`, from which the tables of `docs/performance.md` and
//! the plots of the site are made.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A file of `benches/results`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Record {
    pub machine: String,
    pub date: String,
    pub rustc: String,
    pub code: String,
    /// The load average before, and of how many processors.
    pub load: String,
    pub rounds: usize,
    /// At which the core ran, by the time of additions that wait for each other.
    pub gigahertz: Option<f64>,
    pub row: Vec<Row>,
    pub series: Vec<Series>,
}

/// A row of a table.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Row {
    pub table: String,
    pub name: String,
    /// How many are processed: with them the table has a speed, or else a time.
    pub bytes: Option<usize>,
    pub ns: f64,
    /// What takes at least this long, in nanoseconds.
    pub limit: Option<(String, f64)>,
    /// Another that does the same, and its nanoseconds.
    pub peer: Option<(String, f64)>,
}

/// A line of a plot.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Series {
    pub plot: String,
    pub kind: Kind,
    pub name: String,
    /// Bytes, and GB/s.
    pub points: Vec<(f64, f64)>,
}

/// Whose speed a line shows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    Own,
    Peer,
    Bound,
}

impl Record {
    /// A headline in Markdown, and what the numbers are.
    #[must_use]
    pub fn head(&self) -> String {
        let mut text = format!(
            "\n## {}\n\n{}, rustc {}. Code: {}. Best of {} rounds. Load average before: {}.\n",
            self.machine, self.date, self.rustc, self.code, self.rounds, self.load
        );
        if let Some(gigahertz) = self.gigahertz {
            let _ = writeln!(
                text,
                "A cycle is that of {gigahertz:.2} GHz, which additions one after the other showed."
            );
        }
        if self.rounds == 1 {
            text += "\nOne round shows that all work. The numbers mean nothing.\n";
        }
        text
    }

    /// The same, and the tables.
    #[must_use]
    pub fn tables(&self) -> String {
        let mut text = self.head();
        let mut table = "";
        for row in &self.row {
            if row.table != table {
                table = &row.table;
                let _ = write!(
                    text,
                    "\n| {table} | | cycles | of the limit | times the other |\n|---|---|---|---|---|\n"
                );
            }
            let ratio = |other: &Option<(String, f64)>| match other {
                Some((name, ns)) => format!("{:.2} ({name}, {})", ns / row.ns, row.amount(*ns)),
                None => String::new(),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                row.name,
                row.amount(row.ns),
                self.gigahertz
                    .map_or(String::new(), |gigahertz| row.cycles(gigahertz)),
                ratio(&row.limit),
                ratio(&row.peer)
            );
        }
        text
    }
}

impl Series {
    /// Of the nanoseconds that so many bytes take.
    pub fn new(plot: &str, kind: Kind, name: &str, points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let point = |(len, ns)| (float(len), rounded(float(len) / ns));
        Self {
            plot: plot.to_owned(),
            kind,
            name: name.to_owned(),
            points: points.into_iter().map(point).collect(),
        }
    }
}

/// A number that is far below 2^52.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn float(number: usize) -> f64 {
    number as f64
}

/// To four digits: more are noise.
#[must_use]
pub fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

impl Row {
    /// A speed or a time.
    fn amount(&self, ns: f64) -> String {
        match (self.bytes.map(float), ns) {
            (Some(bytes), _) => format!("{:.2} GB/s", bytes / ns),
            (None, ..1000.0) => format!("{ns:.1} ns"),
            (None, ..1e6) => format!("{:.1} µs", ns / 1e3),
            (None, _) => format!("{:.1} ms", ns / 1e6),
        }
    }

    fn cycles(&self, gigahertz: f64) -> String {
        match self.bytes.map(float) {
            Some(bytes) => format!("{:.2} a byte", self.ns * gigahertz / bytes),
            None if self.ns < 1e4 => format!("{:.0}", self.ns * gigahertz),
            None => String::new(),
        }
    }
}
