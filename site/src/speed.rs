//! The page with speeds: plots of what `make plots` measured, drawn as SVG, each with its numbers as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use serde::Deserialize;
use veriplex_assurance::evidence::root;

use crate::Site;
use crate::evidence::collect;
use crate::html::{code, escape, page, slug};

/// A file of `site/speed`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measurements {
    date: String,
    machine: String,
    rustc: String,
    /// What else the machine did.
    load: String,
    code: String,
    rounds: u32,
    series: Vec<Series>,
    operation: Vec<Operation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    plot: String,
    kind: Kind,
    name: String,
    /// Bytes, and GB/s.
    points: Vec<(u32, f64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation {
    kind: Kind,
    name: String,
    microseconds: f64,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Own,
    Peer,
    Bound,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Peer => "peer",
            Self::Bound => "bound",
        }
    }
}

/// The size of a plot, and of what is around it.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// The distance of names beside a plot.
const LINE: f64 = 17.0;

pub fn write(site: &Site) -> io::Result<()> {
    let mut files = BTreeMap::new();
    collect(&root(), "site/speed", &["toml"], &mut files)?;
    let mut body = String::from(
        "<p>Speeds on one core by the size of the input, beside other crates and beside bounds: the time that the AES instructions \
         of as many permutations take alone, one after another or of several states at once. Setting up with a key counts. Each \
         point is the best of many rounds, in which all take turns. Compare within one plot: other work on a machine \
         moves all of it.</p>",
    );
    for (path, text) in &files {
        let measured = parse(text).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
        body += &section(path, &measured);
    }
    body += &missing(files.keys().map(String::as_str));
    body += &format!(
        "<p>{} measures again, on the machine where it runs, and replaces the file that these plots are drawn from.</p>",
        code("make plots")
    );
    site.write("speed.html", &page("Speed", 0, &[], &body))
}

/// Which of the architectures with kernels nobody has measured.
fn missing<'a>(measured: impl Iterator<Item = &'a str>) -> String {
    let measured: BTreeSet<&str> = measured.collect();
    [("x86_64", "x86-64"), ("aarch64", "AArch64")]
        .into_iter()
        .filter(|(file, _)| !measured.contains(format!("site/speed/{file}.toml").as_str()))
        .fold(String::new(), |text, (_, name)| {
            text + &format!(
                "<p>{name} is missing: no machine of that kind was at hand. Under an emulator the code is only tested; \
                 its speed there would say nothing.</p>"
            )
        })
}

fn parse(text: &str) -> Result<Measurements, String> {
    let measured: Measurements = toml::from_str(text).map_err(|error| error.to_string())?;
    for series in &measured.series {
        let rising = series.points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let positive =
            (series.points.iter()).all(|&(len, speed)| len > 0 && speed > 0.0 && speed.is_finite());
        if series.points.len() < 2 || !rising || !positive {
            return Err(format!("the points of {} make no line", series.name));
        }
    }
    Ok(measured)
}

/// What was measured on a machine.
fn section(path: &str, measured: &Measurements) -> String {
    let mut text = format!(
        "<h2>{}</h2><p>{}, rustc {}. Code: {}. Best of {} rounds. {} In {}.</p>",
        escape(&measured.machine),
        escape(&measured.date),
        escape(&measured.rustc),
        escape(&measured.code),
        measured.rounds,
        escape(&measured.load),
        code(path),
    );
    let mut plots: Vec<&str> = Vec::new();
    for series in &measured.series {
        if !plots.contains(&series.plot.as_str()) {
            plots.push(&series.plot);
        }
    }
    for plot in plots {
        let own: Vec<&Series> = measured
            .series
            .iter()
            .filter(|series| series.plot == plot)
            .collect();
        let _ = write!(
            text,
            "<h3>{0}</h3><figure><div class=\"wide\" tabindex=\"0\">{1}</div>\
             <figcaption>GB/s by bytes, both on logarithmic scales. Filled circles: this crate. Squares and dashes: other crates. Dots: \
             bounds.</figcaption></figure><details><summary>The same in numbers (GB/s)</summary>{2}</details>",
            escape(plot),
            draw(plot, &own),
            numbers(&own),
        );
    }
    text += "<h3>Signatures</h3><div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Operation, message of 64 bytes</th>\
             <th>Microseconds</th></tr></thead><tbody>";
    for operation in &measured.operation {
        let _ = write!(
            text,
            "<tr class=\"{}\"><td>{}</td><td>{:.1}</td></tr>",
            operation.kind.class(),
            escape(&operation.name),
            operation.microseconds
        );
    }
    text + "</tbody></table></div>"
}

fn size(len: u32) -> String {
    match len {
        0x10_0000.. => format!("{} MiB", len >> 20),
        0x400.. => format!("{} KiB", len >> 10),
        _ => format!("{len} B"),
    }
}

fn numbers(series: &[&Series]) -> String {
    let sizes: BTreeSet<u32> = series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.0)
        .collect();
    let mut text = String::from("<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Bytes</th>");
    for len in &sizes {
        let _ = write!(text, "<th>{}</th>", size(*len));
    }
    text += "</tr></thead><tbody>";
    for series in series {
        let _ = write!(text, "<tr><th>{}</th>", escape(&series.name));
        for len in &sizes {
            // A bound is the same for all sizes.
            let speed = match series.kind {
                Kind::Bound => series.points.first(),
                _ => series.points.iter().find(|point| point.0 == *len),
            };
            let _ = match speed {
                Some((_, speed)) => write!(text, "<td>{speed:.3}</td>"),
                None => write!(text, "<td></td>"),
            };
        }
        text += "</tr>";
    }
    text + "</tbody></table></div>"
}

/// The places of a plot.
struct Scale {
    sizes: (f64, f64),
    speeds: (f64, f64),
}

impl Scale {
    /// Which has room for all of these.
    fn of(series: &[&Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::MAX, f64::MIN), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let sizes = range(&mut points().map(|point| f64::from(point.0)));
        let (low, high) = range(&mut points().map(|point| point.1));
        Self {
            sizes,
            speeds: (low / 1.2, high * 1.2),
        }
    }

    fn x(&self, len: u32) -> f64 {
        let (low, high) = self.sizes;
        LEFT + (f64::from(len) / low).ln() / (high / low).ln() * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, speed: f64) -> f64 {
        let (low, high) = self.speeds;
        HEIGHT - BOTTOM - (speed / low).ln() / (high / low).ln() * (HEIGHT - TOP - BOTTOM)
    }
}

/// Moves heights apart that are closer than a line, by as little as keeps their order and stays in the picture.
fn apart(heights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let mut moved = heights.to_vec();
    let mut lowest = f64::MIN;
    for &i in &order {
        moved[i] = moved[i].max(lowest);
        lowest = moved[i] + LINE;
    }
    let mut highest = HEIGHT - BOTTOM;
    for &i in order.iter().rev() {
        moved[i] = moved[i].min(highest);
        highest = moved[i] - LINE;
    }
    moved
}

fn draw(title: &str, series: &[&Series]) -> String {
    let scale = Scale::of(series);
    let id = slug(title);
    let mut svg = format!(
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"{id}-title\" viewBox=\"0 0 {WIDTH} {HEIGHT}\"><title id=\"{id}-title\">{}: GB/s \
         by size; the numbers are in the table below</title>",
        escape(title)
    );
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let sizes: BTreeSet<u32> = series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.0)
        .collect();
    for len in sizes {
        let x = scale.x(len);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 20.0,
            size(len)
        );
    }
    for speed in [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0,
    ] {
        if speed < scale.speeds.0 || speed > scale.speeds.1 {
            continue;
        }
        let y = scale.y(speed);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{speed}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let ends: Vec<f64> = series
        .iter()
        .map(|series| scale.y(series.points[series.points.len() - 1].1))
        .collect();
    let mut colours = 0;
    for ((series, end), label) in series.iter().zip(&ends).zip(apart(&ends)) {
        let line: Vec<String> = (series.points.iter())
            .map(|&(len, speed)| format!("{:.1} {:.1}", scale.x(len), scale.y(speed)))
            .collect();
        let colour = if series.kind == Kind::Bound {
            String::new()
        } else {
            colours += 1;
            format!(" c{colours}")
        };
        let _ = write!(
            svg,
            "<g class=\"{}{colour}\"><path class=\"line\" d=\"M{}\"/>",
            series.kind.class(),
            line.join("L")
        );
        for &(len, speed) in &series.points {
            let (x, y) = (scale.x(len), scale.y(speed));
            let _ = match series.kind {
                Kind::Own => write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"),
                Kind::Peer => write!(
                    svg,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>",
                    x - 3.0,
                    y - 3.0
                ),
                Kind::Bound => Ok(()),
            };
        }
        let _ = write!(
            svg,
            "<path class=\"lead\" d=\"M{:.1} {end:.1}L{:.1} {label:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            right + 5.0,
            right + 16.0,
            right + 20.0,
            label + 4.0,
            escape(&series.name)
        );
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &str) -> Result<Measurements, String> {
        parse(&format!(
            "date = \"\"\nmachine = \"\"\nrustc = \"\"\nload = \"\"\ncode = \"\"\nrounds = 1\noperation = []\n\
             [[series]]\nplot = \"p\"\nkind = \"own\"\nname = \"n\"\npoints = {points}\n"
        ))
    }

    #[test]
    fn what_makes_no_line_is_refused() {
        assert!(series("[[16, 0.5], [64, 1.5]]").is_ok());
        for wrong in [
            "[]",
            "[[16, 0.5]]",
            "[[16, 0.5], [16, 1.5]]",
            "[[16, 0.5], [64, 0.0]]",
            "[[16, 0.5], [64, inf]]",
            "[[16, 0.5], [64, nan]]",
            "[[0, 0.5], [64, 1.5]]",
        ] {
            assert!(series(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_architecture_without_measurements_is_named() {
        let both = ["site/speed/aarch64.toml", "site/speed/x86_64.toml"];
        assert_eq!(missing(both.into_iter()), "");
        assert!(missing(both[1..].iter().copied()).contains("AArch64 is missing"));
        assert!(missing(both[..1].iter().copied()).contains("x86-64 is missing"));
    }

    #[test]
    fn twice_the_speed_is_the_same_way_up() {
        let measured = series("[[16, 0.5], [64, 1.0], [256, 2.0]]").unwrap();
        let scale = Scale::of(&[&measured.series[0]]);
        let [a, b, c] = [0.5, 1.0, 2.0].map(|speed| scale.y(speed));
        assert!(a > b && ((a - b) - (b - c)).abs() < 1e-6, "{a} {b} {c}");
        assert!((scale.x(16) - LEFT).abs() < 1e-6 && (scale.x(256) - (WIDTH - RIGHT)).abs() < 1e-6);
        assert!(c > TOP && a < HEIGHT - BOTTOM);
    }

    #[test]
    fn names_do_not_overlap() {
        let bottom = HEIGHT - BOTTOM;
        let moved = apart(&[100.0, 101.0, 100.5, 300.0, bottom, bottom]);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(
            sorted.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 1e-6),
            "{sorted:?}"
        );
        assert!(sorted[0] >= TOP && sorted[5] <= bottom);
        assert!(moved[0] < moved[2] && moved[2] < moved[1]);
        assert!((moved[3] - 300.0).abs() < 1e-6, "it was far from the others");
    }
}
