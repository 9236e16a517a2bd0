//! A sweep's table as a page: for each measure one chart, with one line for each combination of the
//! parameters other than the first, the mean over seeds as a dot and their range as a bar.
use crate::axis::{Axis, label};
use crate::svg::{CHART_STYLE, PALETTE, escape};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Left, top, right, bottom.
const MARGIN: [f64; 4] = [64.0, 16.0, 16.0, 40.0];
/// More lines than this cannot be distinguished.
const MAX_LINES: usize = 12;

/// A column of numbers.
struct Chart<'a> {
    measure: &'a str,
    /// Lines by the values of the other axes; each holds, by x, the values of all seeds.
    lines: BTreeMap<String, BTreeMap<usize, Vec<f64>>>,
}

/// What the first axis holds: numbers where all its values begin with one, else places in a row.
struct Places {
    names: Vec<String>,
    numbers: Option<Vec<f64>>,
}

/// The page of the table `rows`, of which the first row are the names. The first `keys` columns
/// tell the cell, the last of them is the seed; the last column of all is the digest.
pub fn sweep_page(rows: &[Vec<String>], keys: usize) -> String {
    let (names, rows) =
        rows.split_first().map_or((&[][..], &[][..]), |(names, rows)| (names.as_slice(), rows));
    let places = Places::of(rows, keys);
    let measures = names.len().saturating_sub(1);
    let charts = (keys..measures).map(|column| Chart::of(names, rows, keys, column, &places));
    let charts: String =
        charts.filter(|chart| !chart.lines.is_empty()).map(|chart| chart.card(&places)).collect();
    let x_name = if keys > 1 { escape(names.first().map_or("", String::as_str)) } else { String::new() };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Sweep – Fathom</title>\
         <style>{PALETTE}{}{CHART_STYLE}{}</style></head><body><main class=\"wide\">\
         <header><b>Fathom</b><span>sweep</span><button id=\"theme\" type=\"button\" hidden>Dark</button></header>\
         <section class=\"card\"><h1>{} cells over {x_name}</h1>\
         <p class=\"names\">Dots are means over the seeds, bars their range.</p></section>\
         <div class=\"exhibits\">{charts}</div></main><script>{}</script></body></html>\n",
        include_str!("html/page.css"),
        include_str!("html/gallery.css"),
        rows.len(),
        include_str!("html/theme.js"),
    )
}

impl Places {
    fn of(rows: &[Vec<String>], keys: usize) -> Self {
        let mut names: Vec<String> = Vec::new();
        for row in rows {
            let name = if keys > 1 { row.first().map_or("", String::as_str) } else { "" };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        }
        let numbers: Option<Vec<f64>> = names.iter().map(|name| number(name)).collect();
        Places { names, numbers }
    }
    fn axis(&self) -> Axis {
        match &self.numbers {
            Some(numbers) => {
                let (low, high) = range(numbers.iter().copied());
                if low > 0.0 && high / low > 50.0 {
                    Axis::log(low, high, 8)
                } else {
                    Axis::exact(low, high, 8)
                }
            }
            None => Axis::exact(-0.5, self.names.len() as f64 - 0.5, self.names.len()),
        }
    }
    fn x(&self, place: usize) -> f64 {
        self.numbers.as_ref().map_or(place as f64, |numbers| numbers[place])
    }
}

/// The number that a quantity begins with, if the rest is a unit: `10` of `10mbit`.
fn number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let is_unit = text[end..].chars().all(|c| c.is_ascii_alphabetic() || c == '%');
    is_unit.then(|| text[..end].parse().ok()).flatten()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
}

impl<'a> Chart<'a> {
    fn of(names: &'a [String], rows: &[Vec<String>], keys: usize, column: usize, places: &Places) -> Self {
        let mut lines: BTreeMap<String, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for row in rows {
            let Some(value) = row.get(column).and_then(|text| text.parse::<f64>().ok()) else { continue };
            let first = if keys > 1 { row[0].as_str() } else { "" };
            let Some(place) = places.names.iter().position(|name| name == first) else { continue };
            let others = row.get(1..keys - 1).unwrap_or_default().join(" · ");
            lines.entry(others).or_default().entry(place).or_default().push(value);
        }
        Chart { measure: &names[column], lines }
    }
    fn card(&self, places: &Places) -> String {
        let title = escape(self.measure);
        let hidden = self.lines.len().saturating_sub(MAX_LINES);
        let more = if hidden > 0 {
            format!("<p class=\"names\">{hidden} more lines are not drawn.</p>")
        } else {
            String::new()
        };
        format!(
            "<article class=\"card exhibit\"><h2>{title}</h2>{}{}{more}</article>",
            self.svg(places),
            self.legend()
        )
    }
    fn svg(&self, places: &Places) -> String {
        let (low, high) = range(self.lines.values().flat_map(BTreeMap::values).flatten().copied());
        let (across, up) =
            (places.axis(), if low > 0.0 { Axis::fitting(low, high, 6) } else { Axis::linear(high, 6) });
        let px = |v: f64| MARGIN[0] + across.position(v) * (WIDTH - MARGIN[0] - MARGIN[2]);
        let py = |v: f64| HEIGHT - MARGIN[3] - up.position(v) * (HEIGHT - MARGIN[1] - MARGIN[3]);
        let mut body = y_grid(&up, &py) + &x_labels(&across, places, &px);
        for (at, line) in self.lines.values().take(MAX_LINES).enumerate() {
            let dots: Vec<Dot> =
                line.iter().map(|(place, all)| Dot::of(px(places.x(*place)), all, &py)).collect();
            body += &drawn(&dots, &color(at, self.lines.len()));
        }
        format!("<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">{body}</svg>")
    }
    fn legend(&self) -> String {
        let named = |(at, name): (usize, &String)| {
            let color = color(at, self.lines.len());
            format!("<span class=\"chip\" style=\"color:{color}\">● {}</span>", escape(name))
        };
        let is_one = self.lines.len() < 2;
        if is_one {
            String::new()
        } else {
            self.lines.keys().take(MAX_LINES).enumerate().map(named).collect()
        }
    }
}

/// Where the mean over the seeds lies, and their smallest and largest.
struct Dot {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

impl Dot {
    fn of(x: f64, values: &[f64], py: &impl Fn(f64) -> f64) -> Dot {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = range(values.iter().copied());
        Dot { x, mean: py(mean), low: py(low), high: py(high) }
    }
}

/// A line through dots, with a bar at each.
fn drawn(dots: &[Dot], color: &str) -> String {
    let steps: Vec<String> = dots.iter().map(|dot| format!("{:.1} {:.1}", dot.x, dot.mean)).collect();
    let dot = |Dot { x, mean, low, high }: &Dot| {
        format!(
            "<path stroke=\"{color}\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>\
             <circle fill=\"{color}\" cx=\"{x:.1}\" cy=\"{mean:.1}\" r=\"3.5\"/>"
        )
    };
    let bars: String = dots.iter().map(dot).collect();
    format!("<path fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" d=\"M{}\"/>{bars}", steps.join("L"))
}

/// Hues evenly apart, readable on light and on dark.
fn color(at: usize, of: usize) -> String {
    format!("hsl({:.0} 65% 50%)", 210.0 + 360.0 * at as f64 / of.clamp(1, MAX_LINES) as f64)
}

fn y_grid(axis: &Axis, py: &impl Fn(f64) -> f64) -> String {
    let line = |tick: &f64| {
        let (y, left, right) = (py(*tick), MARGIN[0], WIDTH - MARGIN[2]);
        format!(
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            y + 3.5,
            short(*tick)
        )
    };
    axis.ticks().iter().map(line).collect()
}

/// Rates have nine digits and more: in powers of a thousand.
fn short(value: f64) -> String {
    let scales = [(1e9, "G"), (1e6, "M"), (1e4, "k")];
    let scale = scales.into_iter().find(|(scale, _)| value >= *scale);
    scale.map_or_else(
        || label(value),
        |(scale, unit)| {
            let scale = if unit == "k" { 1e3 } else { scale };
            format!("{} {unit}", label(value / scale))
        },
    )
}

fn x_labels(axis: &Axis, places: &Places, px: &impl Fn(f64) -> f64) -> String {
    let text = |x: f64, text: &str| {
        let y = HEIGHT - MARGIN[3] + 18.0;
        format!("<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y}\">{}</text>", escape(text))
    };
    match &places.numbers {
        Some(_) => axis.ticks().iter().map(|tick| text(px(*tick), &short(*tick))).collect(),
        None => places.names.iter().enumerate().map(|(at, name)| text(px(at as f64), name)).collect(),
    }
}
