//! Findings from months of history: collects the input of `core/analyze/diagnose` and formats the
//! results.
use crate::heatmap::offset_of;
use crate::past::{Past, Series};
use crate::smoke::seconds;
use fathom_diagnose::{Months, PastLoad, PastSeries, Zone, diagnose_months};
use fathom_run::{Finding, Span};
use fathom_units::{Direction, WallTime};
use fathom_watch_plan::{TEST_DELAYS, is_of_test};
use fathom_watch_samples::{Column, Unit};
use fathom_web::{Refusal, quoted};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

const HOUR_NS: u64 = 3_600 * 1_000_000_000;
const SLOT_NS: u64 = 600 * 1_000_000_000;
/// Two years; before that, the link was probably a different one.
const MAX_HOURS: u64 = 2 * 366 * 24;
/// Number of ten-minute slots of the house's own traffic that are used: 60 days.
const MAX_SLOTS: u64 = 60 * 144;
/// The target name of this host's own series.
pub(crate) const THIS_HOST: &str = "this host";

/// All findings of a range, in local time. Their spans are in nanoseconds since 1970-01-01 UTC.
///
/// # Errors
/// If the history cannot be read.
pub fn find_in_months(
    past: &mut dyn Past,
    span: Range<WallTime>,
    zone: Zone,
) -> Result<Vec<Finding>, String> {
    let all = past.series()?;
    let changes = past.events(span.clone())?;
    // A path event belongs to the first router's series; people know the target.
    let target_of = |id: Option<u32>| all.iter().find(|s| Some(s.id) == id).map(|s| s.target.as_str());
    let mut months = Months { zone, ..Months::default() };
    months.load = load(past, &all, span.end)?;
    let tested = tested(past, &all, span.end)?;
    for load in &mut months.load {
        load.slots.retain(|slot| !tested.contains(&(slot.from.0 / SLOT_NS)));
    }
    for one in all.iter().filter(|s| s.unit == Unit::Seconds && is_whole(s)) {
        let hours = hours(past, one, span.clone())?;
        if hours.iter().all(|hour| hour.tally.sent == 0) {
            continue;
        }
        let slots = if months.load.is_empty() { Vec::new() } else { slots(past, one, span.end)? };
        let (series, target, probe) = (one.id, one.target.clone(), one.probe.clone());
        months.series.push(PastSeries { series, target, probe, hours, slots });
        let of_path = changes.iter().filter(|e| e.kind == "path" && target_of(e.series) == Some(&one.target));
        months.path_changes.extend(of_path.map(|event| (one.id, event.at)));
    }
    Ok(diagnose_months(&months))
}

/// Excludes routers, which answer irregularly, phases of connections, and tests, which load the
/// line.
fn is_whole(series: &Series) -> bool {
    let parts = [" connect", " handshake", " answer"];
    series.target != THIS_HOST
        && !series.probe.starts_with("hop ")
        && !is_of_test(&series.probe)
        && !parts.iter().any(|part| series.probe.ends_with(part))
}

fn hours(past: &mut dyn Past, one: &Series, span: Range<WallTime>) -> Result<Vec<Column>, String> {
    let last = span.end.0 / HOUR_NS;
    let first = (span.start.0 / HOUR_NS).max(last.saturating_sub(MAX_HOURS));
    past.columns(one.id, WallTime(first * HOUR_NS)..WallTime(last * HOUR_NS), (last - first) as usize)
}

fn slots(past: &mut dyn Past, one: &Series, to: WallTime) -> Result<Vec<Column>, String> {
    let last = to.0 / SLOT_NS;
    let first = last.saturating_sub(MAX_SLOTS);
    past.columns(one.id, WallTime(first * SLOT_NS)..WallTime(last * SLOT_NS), (last - first) as usize)
}

/// Traffic of this host's own interface: on a router that of the house, on another machine its own.
fn load(past: &mut dyn Past, all: &[Series], to: WallTime) -> Result<Vec<PastLoad>, String> {
    let mut load = Vec::new();
    for (word, direction) in [("sent", Direction::Up), ("received", Direction::Down)] {
        let is_it = |s: &&Series| {
            s.target == THIS_HOST && s.unit == Unit::BitsPerSecond && s.probe.rsplit(' ').next() == Some(word)
        };
        if let Some(one) = all.iter().find(is_it) {
            load.push(PastLoad { direction, slots: slots(past, one, to)? });
        }
    }
    Ok(load)
}

/// The ten-minute slots in which a test of this watch loaded the line. It is not the house's own
/// traffic. A test takes minutes, and its result has the time of its end.
fn tested(past: &mut dyn Past, all: &[Series], to: WallTime) -> Result<BTreeSet<u64>, String> {
    let mut tested = BTreeSet::new();
    for one in all.iter().filter(|s| s.probe == TEST_DELAYS[0]) {
        let with_test = slots(past, one, to)?.into_iter().filter(|slot| slot.tally.sent > 0);
        tested.extend(
            with_test.flat_map(|slot| [(slot.from.0 / SLOT_NS).saturating_sub(1), slot.from.0 / SLOT_NS]),
        );
    }
    Ok(tested)
}

/// Local time as given by `offset_s`, evaluated hour by hour: each change of the UTC offset.
pub fn zone_of((from, to): (WallTime, WallTime), offset_s: impl Fn(WallTime) -> i64) -> Zone {
    let mut changes: Vec<(WallTime, i64)> = Vec::new();
    for hour in from.0 / HOUR_NS..=to.0 / HOUR_NS {
        let at = WallTime(hour * HOUR_NS);
        let offset = offset_s(at);
        if changes.last().is_none_or(|(_, last)| *last != offset) {
            changes.push((at, offset));
        }
    }
    Zone(changes)
}

/// Comma-separated UTC offsets, and the start of each except the first.
pub(crate) fn zone_of_query(offsets: Option<String>, since: Option<String>) -> Result<Zone, Refusal> {
    let offsets = offsets.unwrap_or_else(|| "0".into());
    let offsets: Vec<i64> =
        offsets.split(',').map(|o| offset_of(Some(o.to_owned()))).collect::<Result<_, _>>()?;
    let since = since.unwrap_or_default();
    let one = |text: &str| {
        let seconds = text.parse::<u64>().ok().filter(|s| *s < u64::MAX / 1_000_000_000);
        let refused = || {
            Refusal::bad(format!(
                "utc_offset_from: invalid time {} (expected seconds since 1970)",
                quoted(text)
            ))
        };
        seconds.map(|s| WallTime(s * 1_000_000_000)).ok_or_else(refused)
    };
    let times: Vec<WallTime> =
        since.split(',').filter(|t| !t.is_empty()).map(one).collect::<Result<_, _>>()?;
    if times.len() + 1 != offsets.len() || times.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Refusal::bad(format!(
            "utc_offset_s has {} offsets, but utc_offset_from has {} times (expected one less, in ascending order)",
            offsets.len(),
            times.len()
        )));
    }
    Ok(Zone(core::iter::once(WallTime(0)).chain(times).zip(offsets).collect()))
}

/// Findings as JSON, each with its sentence and its spans as wall time.
pub fn findings_json(found: &[Finding]) -> Value {
    let stretch = |s: &Span| json!({ "from_s": seconds(s.start_ns), "to_s": seconds(s.end_ns) });
    let one = |finding: &Finding| {
        let mut json = serde_json::to_value(finding).unwrap_or(Value::Null);
        if let Value::Object(members) = &mut json {
            // For the link on the page.
            let of = members.get("parameters").map(|p| p["of"].clone()).unwrap_or_default();
            for name in ["series", "target", "probe"] {
                members.insert(name.into(), of[name].clone());
            }
            let figures = fathom_prose::figures(finding);
            let figures = figures.iter().map(|row| json!({ "name": row.name, "value": row.value }));
            members.insert("figures".into(), figures.collect::<Vec<_>>().into());
            members.insert("text".into(), fathom_prose::finding(finding, None).into());
            members.insert("refuted_by".into(), fathom_prose::refuted_by(finding).into());
            members.insert("stretches".into(), finding.spans.iter().map(stretch).collect::<Vec<_>>().into());
        }
        json
    };
    json!({ "findings": found.iter().map(one).collect::<Vec<_>>() })
}
