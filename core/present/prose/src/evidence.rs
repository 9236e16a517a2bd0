//! What a finding rests on, as rows of name and value.
use crate::history::date;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Evidence, Finding, Statistic};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};
use serde_json::Value as Json;

/// Times of this length and more are read in seconds.
const LONG_S: f64 = 10.0;

/// Parameters whose member names are no words for a reader, and their labels.
const LABELS: [(&str, &str); 14] = [
    ("of target", "target"),
    ("of probe", "probe"),
    ("hours days", "days"),
    ("hours hit", "days on which it happened"),
    ("hours all", "days examined"),
    ("hours elsewhere", "other hours in which it happened"),
    ("hours chance", "probability by chance"),
    ("chance", "probability by chance"),
    ("excess", "delay above the day's median"),
    ("idle delay", "delay while the link is idle"),
    ("full", "times the link was full"),
    ("slow", "times the link was full and slow"),
    ("slow per day", "times per day"),
    ("each side", "compared before and after"),
];

/// Parameters that only programs need: the number of a series, and a weekday that the sentence
/// names.
const HIDDEN: [&str; 2] = ["of series", "hours days weekday"];

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
    rows.retain(|row| !HIDDEN.contains(&row.name.as_str()));
    for row in &mut rows {
        if let Some((_, label)) = LABELS.iter().find(|(name, _)| *name == row.name) {
            row.name = (*label).to_string();
        }
    }
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

/// `delay_p95_s` and 0.04 as `delay p95` and `40 ms`. A day since 1970-01-01 is a date.
fn figure(name: &str, value: f64) -> Figure {
    if name == "since_day" {
        return Figure { name: "since".to_string(), value: date(value as u64) };
    }
    let units: [(&str, &str); 8] = [
        ("_bits_per_second", "bit/s"),
        ("_bytes", "bytes"),
        ("_packets", "packets"),
        ("_ratio", "ratio"),
        ("_count", "1"),
        ("_days", "days"),
        ("_hour", "h"),
        ("_s", "s"),
    ];
    let unit = units.iter().find_map(|(suffix, unit)| Some((name.strip_suffix(suffix)?, *unit)));
    let (stem, unit) = unit.unwrap_or((name, "1"));
    Figure { name: words(stem), value: amount(value, unit) }
}

fn words(name: &str) -> String {
    name.replace('_', " ").replace("p50", "median")
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
        "1" if value < 10.0 && value % 1.0 != 0.0 => format!("{value:.1}"),
        "1" => thousands(value),
        unit => format!("{} {unit}", thousands(value)),
    }
}
