//! Plots of what `make bench` measured, each with its numbers as a table.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use plotters::prelude::*;
use veriplex_assurance::evidence::records;
use veriplex_benches::record::{Kind, Record, Series};

use crate::Book;

const INTRODUCTION: &str = "# Speed

Throughput on one core by the size of the input. Setting up with a key counts. Bounds are what the AES instructions of as
many permutations take alone. Each point is the best of many rounds, in which all take turns: compare within one plot.
[Performance](docs/performance.md) has more. `make bench` measures your machine.
";

/// As wide as a phone: a wider screen enlarges it.
const SIZE: (u32, u32) = (360, 300);

pub fn write(book: &mut Book<'_>) -> io::Result<()> {
    let mut text = INTRODUCTION.to_owned();
    for record in records() {
        text += &section(&record)?;
    }
    book.chapter("Speed", "speed.md", &text)
}

fn section(record: &Record) -> io::Result<String> {
    let mut text = record.head();
    let mut plots: Vec<&str> = Vec::new();
    for series in &record.series {
        if !plots.contains(&series.plot.as_str()) {
            plots.push(&series.plot);
        }
    }
    for plot in plots {
        let series: Vec<&Series> = record
            .series
            .iter()
            .filter(|series| series.plot == plot)
            .collect();
        let svg = draw(&series).map_err(|error| io::Error::other(format!("{plot}: {error}")))?;
        let _ = write!(
            text,
            "\n### {plot}\n\n<figure class=\"plot\" role=\"group\" aria-label=\"{plot}: GB/s by size; the numbers are in the table below\">\n\
             {svg}\n<ul class=\"legend\">"
        );
        for (i, series) in series.iter().enumerate() {
            let kind = class(series.kind);
            let _ = write!(
                text,
                "<li><svg width=\"36\" height=\"10\" aria-hidden=\"true\"><path class=\"{kind}\" stroke=\"var(--plot{i})\" d=\"M0 5H36\"/>\
                 </svg> {}</li>",
                series.name
            );
        }
        let _ = write!(
            text,
            "</ul>\n<figcaption>GB/s by size, both logarithmic. Solid: Veriplex; dashed: other crates; dotted: bounds.</figcaption>\n\
             </figure>\n\n<details><summary>In numbers (GB/s)</summary>\n\n{}\n</details>\n",
            numbers(&series)
        );
    }
    Ok(text)
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Own => "own",
        Kind::Peer => "peer",
        Kind::Bound => "bound",
    }
}

fn size(len: f64) -> String {
    match len {
        1_048_576.0.. => format!("{} MiB", len / 1_048_576.0),
        1024.0.. => format!("{} KiB", len / 1024.0),
        _ => format!("{len} B"),
    }
}

fn numbers(series: &[&Series]) -> String {
    let all = series.iter().flat_map(|series| &series.points);
    let sizes: BTreeSet<u64> = all.map(|point| point.0.to_bits()).collect();
    let heads: Vec<String> = sizes.iter().map(|len| size(f64::from_bits(*len))).collect();
    let mut text = format!(
        "| GB/s | {} |\n|---|{}\n",
        heads.join(" | "),
        "---|".repeat(sizes.len())
    );
    for series in series {
        let _ = write!(text, "| {} |", series.name);
        for len in &sizes {
            let point = series.points.iter().find(|point| point.0.to_bits() == *len);
            let _ = match point {
                Some((_, speed)) => write!(text, " {speed:.2} |"),
                None => write!(text, " |"),
            };
        }
        text.push('\n');
    }
    text
}

/// The colour of a series while it is drawn: the page's style has those for light and dark.
fn colour(i: usize) -> RGBColor {
    RGBColor(1, 2, u8::try_from(i).unwrap_or(u8::MAX))
}

fn draw(series: &[&Series]) -> Result<String, Box<dyn std::error::Error>> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let points = || series.iter().flat_map(|series| &series.points);
    let (shortest, longest) = range(&mut points().map(|point| point.0));
    let (slowest, fastest) = range(&mut points().map(|point| point.1));
    if !(shortest > 0.0 && longest > shortest && slowest > 0.0 && fastest < f64::INFINITY) {
        return Err("the points make no line".into());
    }
    let grid = RGBColor(1, 1, 1);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = (ChartBuilder::on(&area).margin(6).margin_right(18))
            .x_label_area_size(26)
            .y_label_area_size(36)
            .build_cartesian_2d(
                (shortest..longest).log_scale().base(4.0).with_key_points(vec![
                    16.0,
                    256.0,
                    4096.0,
                    65536.0,
                    1_048_576.0,
                ]),
                (slowest / 1.2..fastest * 1.2)
                    .log_scale()
                    .with_key_points(vec![0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
            )?;
        (chart
            .configure_mesh()
            .disable_x_mesh()
            .axis_style(grid)
            .bold_line_style(grid)
            .light_line_style(TRANSPARENT))
        .x_label_formatter(&|len| size(*len))
        .y_label_formatter(&|speed| speed.to_string())
        .label_style(("sans-serif", 13))
        .draw()?;
        for (i, series) in series.iter().enumerate() {
            chart.draw_series(LineSeries::new(
                series.points.iter().copied(),
                colour(i).stroke_width(2),
            ))?;
        }
        area.present()?;
    }
    svg = svg.replacen(
        &format!("width=\"{}\" height=\"{}\" ", SIZE.0, SIZE.1),
        "aria-hidden=\"true\" ",
        1,
    );
    svg = svg
        .replace("#010101", "var(--plot-grid)")
        .replace("#000000", "currentColor");
    for (i, series) in series.iter().enumerate() {
        let stroke = format!("stroke=\"#0102{i:02X}\"");
        svg = svg.replace(
            &stroke,
            &format!("class=\"{}\" stroke=\"var(--plot{i})\"", class(series.kind)),
        );
    }
    // A blank line would end the figure.
    Ok(svg
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(f64, f64)]) -> Series {
        Series {
            plot: "p".to_owned(),
            kind: Kind::Peer,
            name: "n".to_owned(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn points_make_a_line() {
        let svg = draw(&[&series(&[(16.0, 0.5), (64.0, 1.5)])]).unwrap();
        assert!(
            svg.contains("class=\"peer\" stroke=\"var(--plot0)\"") && !svg.contains("\n\n"),
            "{svg}"
        );
        for wrong in [
            [(16.0, 0.5), (16.0, 1.0)],
            [(16.0, 0.0), (64.0, 1.0)],
            [(16.0, f64::INFINITY), (64.0, 1.0)],
        ] {
            assert!(draw(&[&series(&wrong)]).is_err());
        }
    }
}
