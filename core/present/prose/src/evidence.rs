//! What a finding rests on, as rows of name and value.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Evidence, Finding, Statistic};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};
use serde_json::Value as Json;

/// Times of this length and more are read in seconds.
const LONG_S: f64 = 10.0;

/// A row: what, and how much.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Its value with the unit that suits it.
    pub value: String,
}

/// The parameters of a finding and the statistics that it rests on.
pub fn figures(finding: &Finding) -> Vec<Figure> {
    let mut rows = Vec::new();
    parameters("", &finding.conclusion.parameters(), &mut rows);
    rows.extend(finding.evidence.iter().map(of_series));
    rows
}

/// Numbers of an object, nested ones after the name of their object.
fn parameters(prefix: &str, value: &Json, rows: &mut Vec<Figure>) {
    let Json::Object(members) = value else { return };
    for (member, inner) in members {
        let name = if prefix.is_empty() { member.clone() } else { format!("{prefix} {member}") };
        match inner {
            Json::Number(number) => rows.extend(number.as_f64().map(|amount| figure(&name, amount))),
            Json::Object(_) => parameters(&name, inner, rows),
            Json::String(text) => rows.push(Figure { name: words(&name), value: text.clone() }),
            Json::Null | Json::Bool(_) | Json::Array(_) => {}
        }
    }
}

/// `delay_p95_s` and 0.04 as `delay p95` and `40 ms`.
fn figure(name: &str, value: f64) -> Figure {
    let units: [(&str, &str); 7] = [
        ("_bits_per_second", "bit/s"),
        ("_bytes", "bytes"),
        ("_packets", "packets"),
        ("_ratio", "ratio"),
        ("_count", "1"),
        ("_days", "days"),
        ("_s", "s"),
    ];
    let unit = units.iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, *unit)));
    let (stem, unit) = unit.unwrap_or((name, "1"));
    Figure { name: words(stem), value: amount(value, unit) }
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// `udp rtt p50 up` with its value.
fn of_series(evidence: &Evidence) -> Figure {
    let info = evidence.series.metric.info();
    let stem = info.name.strip_suffix(&format!("_{}", suffix(info.unit))).unwrap_or(info.name);
    let direction = evidence.series.direction.map(|direction| match direction {
        fathom_units::Direction::Up => " up",
        fathom_units::Direction::Down => " down",
    });
    let scope = evidence.series.scope.as_ref().map(|scope| format!(" ({scope})"));
    let (from, to) = (evidence.span.start_ns as f64 / 1e9, evidence.span.end_ns as f64 / 1e9);
    let unit = match evidence.statistic {
        Statistic::Count => "1",
        Statistic::Lost => "ratio",
        _ => info.unit,
    };
    Figure {
        name: format!(
            "{}{}{} {}, {from:.1} to {to:.1} s",
            words(stem),
            direction.unwrap_or_default(),
            scope.unwrap_or_default(),
            evidence.statistic
        ),
        value: amount(evidence.value, unit),
    }
}

/// The last word of a metric's name, from its unit.
const fn suffix(unit: &str) -> &str {
    match unit.as_bytes() {
        b"bit/s" => "bits_per_second",
        _ => unit,
    }
}

fn amount(value: f64, unit: &str) -> String {
    match unit {
        "s" if value >= LONG_S => seconds(value),
        "s" => milliseconds(value),
        "bit/s" => rate(value),
        "bytes" => bytes(value),
        "ratio" => percent(value),
        "1" => thousands(value).to_string(),
        unit => format!("{} {unit}", thousands(value)),
    }
}
