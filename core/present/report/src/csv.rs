//! One row for each observation.
use crate::curve::phase_name;
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{Observation, Phase, Run, SeriesKey, Value};
use fathom_units::Direction;

const HEAD: &str = "metric,direction,flow,scope,phase,time_s,value,unit,censored\n";

/// Tidy CSV (RFC 4180, `\n`): each row one observation, `value` in `unit`, which is also the last
/// word of `metric`. Where `censored` is 1, the value is a lower bound.
pub fn csv(run: &Run) -> String {
    let mut text = String::from(HEAD);
    for series in &run.series {
        let before = key_fields(&series.key);
        let unit = series.key.metric.info().unit;
        for o in series.iter() {
            text += &before;
            text += &row(&o, phase_at(run, o.at.as_nanos()), unit);
        }
    }
    text
}

fn key_fields(key: &SeriesKey) -> String {
    let direction = key.direction.map_or("", Direction::name);
    let flow = key.flow.map_or(String::new(), |f| f.to_string());
    format!("{},{direction},{flow},{},", key.metric.info().name, quoted(key.scope.as_deref().unwrap_or("")))
}

fn row(o: &Observation, phase: &str, unit: &str) -> String {
    let (value, censored) = match o.value {
        Value::Observed(v) => (v, 0),
        Value::Censored { at_least } => (at_least, 1),
    };
    let (whole, nanos) = (o.at.as_nanos() / 1_000_000_000, o.at.as_nanos() % 1_000_000_000);
    format!("{phase},{whole}.{nanos:09},{value},{unit},{censored}\n")
}

fn phase_at(run: &Run, at: u64) -> &'static str {
    let inside = |p: &&Phase| (p.start_ns..p.end_ns).contains(&at);
    run.phases.iter().find(inside).map_or("", |p| phase_name(p.kind))
}

/// A field of a table, in quotes if it needs them (RFC 4180).
#[must_use]
pub fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_when_needed() {
        assert_eq!(quoted("hop 1"), "hop 1");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
