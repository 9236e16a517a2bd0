//! Flent's data file, format 4 (doc/data-format.rst of Flent).
//!
//! The run is given the name and the series of Flent's test `rrul_be`, four flows a direction with
//! UDP and ICMP pings, so that all plots of that test work. Where only the other direction was
//! loaded a goodput is zero; where nothing was loaded it is absent (null).
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, Run, SeriesKey};
use fathom_units::Direction;
use serde_json::{Value as Json, json};

use crate::curve::{Curve, time_range};

/// Flent's default step, in seconds.
const STEP_S: f64 = 0.2;
/// Flows that the test has a name for.
const FLOWS: usize = 4;

/// One series on Flent's grid, and with its measured times.
struct Column {
    name: String,
    units: &'static str,
    direction: Option<Direction>,
    curve: Curve,
}

/// The text of a `.flent` file; packed with gzip it is a `.flent.gz`.
pub fn flent(run: &Run) -> String {
    let (start, end) = time_range(run);
    // A month at Flent's step would be a file that Flent cannot plot; the step grows instead.
    let steps = (((end - start) / STEP_S) as usize).clamp(1, 100_000);
    let step = (end - start) / steps as f64;
    let x_values: Vec<f64> = (0..steps).map(|i| round((i as f64 + 0.5) * step)).collect();
    let columns = columns(run);
    let t0 = unix_seconds(&run.started).unwrap_or(0.0);
    let results: BTreeMap<&str, Vec<Json>> =
        columns.iter().map(|c| (c.name.as_str(), on_grid(c, run, (start, end), steps))).collect();
    let raw: BTreeMap<&str, Vec<Json>> =
        columns.iter().map(|c| (c.name.as_str(), raw(&c.curve, t0))).collect();
    let file = json!({
        "version": 4,
        "x_values": x_values,
        "results": results,
        "raw_values": raw,
        "metadata": metadata(run, &columns, step, end - start),
    });
    file.to_string()
}

fn metadata(run: &Run, columns: &[Column], step: f64, length: f64) -> Json {
    let units: BTreeMap<&str, Json> =
        columns.iter().map(|c| (c.name.as_str(), json!({"UNITS": c.units, "RUNNER": "fathom"}))).collect();
    let host = run.facts.get(&fathom_run::Fact::Server).unwrap_or(&run.title);
    let started = flent_time(&run.started);
    json!({
        "NAME": "rrul_be",
        "TITLE": run.title,
        "NOTE": format!("fathom {} {}", run.command, run.tool_version),
        "HOST": host,
        "HOSTS": [host],
        "LOCAL_HOST": run.host.kernel,
        "LENGTH": length,
        "TOTAL_LENGTH": length,
        "STEP_SIZE": step,
        "DELAY": 0,
        "TIME": started,
        "T0": started,
        "TEST_PARAMETERS": {},
        "FLENT_VERSION": "2.1.1",
        "IP_VERSION": 4,
        "SERIES_META": units,
        "DATA_FILENAME": "",
        "EGRESS_INFO": null,
        "FAILED_RUNNERS": 0,
    })
}

fn columns(run: &Run) -> Vec<Column> {
    let mut columns = Vec::new();
    for (direction, word) in [(Direction::Up, "upload"), (Direction::Down, "download")] {
        let total = Curve::goodput(run, direction);
        let flows = flows(run, direction);
        let mean = total.clone().scaled(1.0 / flows.len().max(1) as f64);
        let mut add =
            |name, curve| columns.push(Column { name, units: "Mbits/s", direction: Some(direction), curve });
        for (i, curve) in flows.into_iter().take(FLOWS).enumerate() {
            let number = if i == 0 { String::new() } else { (i + 1).to_string() };
            add(format!("TCP {word} BE{number}"), curve);
        }
        add(format!("TCP {word} avg"), mean);
        add(format!("TCP {word} sum"), total);
    }
    let totals = merged(Curve::goodput(run, Direction::Up), Curve::goodput(run, Direction::Down));
    columns.push(Column { name: "TCP totals".into(), units: "Mbits/s", direction: None, curve: totals });
    let ping = |metric| Curve::of(run, &SeriesKey::of(metric)).scaled(1e3);
    let (udp, icmp) = (ping(Metric::UdpRtt), ping(Metric::IcmpRtt));
    let mean = if udp.is_empty() { icmp.clone() } else { udp.clone() };
    let pings = [("Ping (ms) UDP BE1", udp), ("Ping (ms) ICMP", icmp), ("Ping (ms) avg", mean)];
    columns.extend(pings.map(|(name, curve)| Column {
        name: name.into(),
        units: "ms",
        direction: None,
        curve,
    }));
    columns
}

/// Goodput of each flow, in the order of their numbers.
fn flows(run: &Run, direction: Direction) -> Vec<Curve> {
    let mut keys: Vec<&SeriesKey> = run
        .series
        .iter()
        .map(|s| &s.key)
        .filter(|k| k.metric == Metric::Goodput && k.direction == Some(direction) && k.flow.is_some())
        .collect();
    keys.sort_unstable();
    keys.iter().map(|k| Curve::of(run, k).scaled(1e-6)).collect()
}

/// Sum of two curves: where both have a value at the same time their sum, else the one.
fn merged(a: Curve, b: Curve) -> Curve {
    let mut by_time: BTreeMap<u64, f64> = BTreeMap::new();
    for (at, value) in a.points.into_iter().chain(b.points) {
        *by_time.entry((at * 1e3) as u64).or_insert(0.0) += value;
    }
    Curve { points: by_time.into_iter().map(|(ms, v)| (ms as f64 / 1e3, v)).collect(), lost: Vec::new() }
}

fn on_grid(column: &Column, run: &Run, (start, end): (f64, f64), steps: usize) -> Vec<Json> {
    let step = (end - start) / steps as f64;
    let empty = |i: usize| {
        if column.is_zero_at(run, start + (i as f64 + 0.5) * step) { json!(0.0) } else { Json::Null }
    };
    let mut values: Vec<Json> = (0..steps).map(empty).collect();
    for c in column.curve.columns(start, end, steps) {
        values[c.index] = json!(round(c.mid));
    }
    values
}

impl Column {
    /// A goodput of a direction that had no flow while the other had some. Flent would bridge a gap
    /// with a line.
    fn is_zero_at(&self, run: &Run, at: f64) -> bool {
        let inside = |p: &&Phase| (p.start_ns as f64 / 1e9..p.end_ns as f64 / 1e9).contains(&at);
        let load = run.phases.iter().find(inside).and_then(|p| p.load.as_ref());
        match (self.direction, load) {
            (Some(Direction::Up), Some(load)) => load.flows_up == 0,
            (Some(Direction::Down), Some(load)) => load.flows_down == 0,
            _ => false,
        }
    }
}

fn raw(curve: &Curve, t0: f64) -> Vec<Json> {
    curve.points.iter().map(|(at, value)| json!({"t": t0 + at, "val": round(*value)})).collect()
}

/// Six decimals are a nanosecond of a ping and a bit of a rate.
fn round(value: f64) -> f64 {
    libm::round(value * 1e6) / 1e6
}

/// A time as Flent reads it: with a fraction, which RFC 3339 leaves free. Another text becomes
/// 1970.
fn flent_time(started: &str) -> String {
    let whole =
        started.get(..19).filter(|_| unix_seconds(started).is_some()).unwrap_or("1970-01-01T00:00:00");
    format!("{whole}.000000Z")
}

/// Seconds since 1970 of an RFC 3339 time in UTC (`2026-11-20T14:10:00Z`, fractions cut off);
/// `None` for other text.
fn unix_seconds(text: &str) -> Option<f64> {
    let field = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    // Days since 1970 in the proleptic Gregorian calendar, years counted from March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = i64::from(365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day) - 719_469;
    Some(days as f64 * 86_400.0 + f64::from(hour * 3600 + minute * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_since_1970() {
        // From date(1).
        let cases = [
            ("1970-01-01T00:00:00Z", Some(0.0)),
            ("2000-02-29T12:00:01Z", Some(951_825_601.0)),
            ("2026-11-20T14:10:00.5Z", Some(1_795_183_800.0)),
            ("yesterday", None),
        ];
        for (text, want) in cases {
            assert_eq!(unix_seconds(text), want, "{text}");
        }
        assert_eq!(flent_time("2026-11-20T14:10:00.5Z"), "2026-11-20T14:10:00.000000Z");
        assert_eq!(flent_time("yesterday"), "1970-01-01T00:00:00.000000Z");
    }
}
