//! Diagnosis of a watch period: probes without a load from this program.
use crate::months::{Months, PastLoad, PastSeries, Zone, diagnose_months};
use crate::sample::pair;
use crate::view::View;
use crate::{Diagnosis, Health, rules};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, Fact, Finding, FindingKind, History, LatencyVariation, Metric, PhaseKind, Reason,
    Run, Series, SeriesKey, Statistic, Value, threshold,
};
use fathom_stats::{Sample, Summary};
use fathom_units::{Direction, Duration, WallTime};
use fathom_watch_samples::{Chunk, Code, Column, Columns, Outcome, Stored};

/// Hours of at most two years; older data is of a different line.
const HOURS: Grid = Grid { step_ns: 3_600 * 1_000_000_000, max_columns: 2 * 366 * 24 };
/// Ten minutes, for at most 60 days.
const SLOTS: Grid = Grid { step_ns: 600 * 1_000_000_000, max_columns: 60 * 144 };
/// Maximum number of series analyzed over months; a crafted file may contain any number.
const MAX_SERIES: usize = 16;
const NANOS_PER_MILLI: u64 = 1_000_000;
/// Quantile that approximates the delay without a queue.
const BASE: f64 = 0.05;
/// Metrics of complete round trips, which are analyzed over months.
const ROUND_TRIPS: [Metric; 6] = [
    Metric::UdpRtt,
    Metric::IcmpRtt,
    Metric::TcpConnect,
    Metric::TlsConnect,
    Metric::HttpFirstByte,
    Metric::DnsRtt,
];

/// Width of columns, and number of recent columns kept.
#[derive(Clone, Copy)]
struct Grid {
    step_ns: u64,
    max_columns: u64,
}

pub(crate) fn diagnose(run: &Run, history: &History) -> Diagnosis {
    let view = View::new(run);
    let start: WallTime = run.started.parse().unwrap_or_default();
    // The local time of another tool's log is unknown, so nothing is said about hours of the day.
    let is_own = !run.facts.contains_key(&Fact::Tool);
    let mut findings = if is_own { diagnose_months(&months(run, history, start)) } else { Vec::new() };
    let variation = run.phases.first().and_then(|phase| {
        let all = Sample::new(view.latency_in(phase).map(|o| pair(o.value))).observed_only();
        Some((all.percentile(BASE)?.value, all.summary()?))
    });
    findings.extend(variation.as_ref().map(|(base, summary)| varies(&view, *base, summary)));
    let timers = |(_, summary): &(f64, Summary)| rules::exceeded_timers(PhaseKind::Watch, summary.p95.value);
    findings.extend(variation.as_ref().and_then(timers));
    findings.extend(rules::emptied(&view));
    findings.extend(rules::losses(&view));
    let (health, reason) = judge(&findings, variation.as_ref());
    Diagnosis {
        health,
        reason,
        headline_phase: run.phases.first().map(|phase| phase.kind),
        advice: Vec::new(),
        latency_source: view.source.map(|series| series.key.metric),
        grade: None,
        phases: view.phases,
        // A watch has its own tables.
        probes: Vec::new(),
        applications: Vec::new(),
        classes: Vec::new(),
        scores: Vec::new(),
        findings,
    }
}

/// Bloated if the household's own load filled a buffer. High latency alone proves nothing.
fn judge(findings: &[Finding], variation: Option<&(f64, Summary)>) -> (Health, Option<Reason>) {
    if findings.iter().any(|finding| finding.kind() == FindingKind::OwnLoad) {
        return (Health::Bloated, None);
    }
    let Some((base, summary)) = variation else {
        return (Health::Inconclusive, Some(Reason::NoAnswers));
    };
    let (increase_p50_s, increase_p90_s) = (summary.p50.value - base, summary.p90.value - base);
    if threshold::is_bloated(increase_p50_s, increase_p90_s) {
        return (Health::Inconclusive, Some(Reason::UnknownLoad { increase_p50_s, increase_p90_s }));
    }
    (Health::Healthy, None)
}

fn varies(view: &View<'_>, base_p5_s: f64, summary: &Summary) -> Finding {
    let variation = LatencyVariation {
        base_p5_s,
        p50_s: summary.p50.value,
        p90_s: summary.p90.value,
        p95_s: summary.p95.value,
        max_s: summary.max.value,
        answered_packets: summary.count as u64,
    };
    let phase = view.run.phases.first();
    let evidence = phase.and_then(|phase| view.latency_evidence(phase, Statistic::Percentile(0.95)));
    Finding::new(Conclusion::LatencyVariation(variation), None, Certainty::Certain).with_evidence(evidence)
}

/// Converts the run to months of a history.
fn months(run: &Run, history: &History, start: WallTime) -> Months {
    let end_ns = run.phases.last().map_or(0, |phase| phase.end_ns);
    let columns =
        |series: &Series, grid: Grid, code: fn(Value) -> Code| columns(series, start, end_ns, grid, code);
    let whole = run.series.iter().filter(|series| ROUND_TRIPS.contains(&series.key.metric));
    let whole = whole.take(MAX_SERIES);
    let past = |(number, one): (u32, &Series)| PastSeries {
        series: number,
        target: history.target.clone(),
        probe: probe_name(&one.key),
        hours: columns(one, HOURS, delay),
        slots: columns(one, SLOTS, delay),
    };
    let series: Vec<PastSeries> = (1..).zip(whole).map(past).collect();
    let load = Direction::BOTH.into_iter().filter_map(|direction| {
        let goodput = run.series(&SeriesKey::directed(Metric::Goodput, direction))?;
        Some(PastLoad { direction, slots: columns(goodput, SLOTS, level) })
    });
    let zone = history
        .utc_offsets
        .iter()
        .map(|offset| (WallTime(offset.since_s.saturating_mul(1_000_000_000)), offset.offset_s));
    let changes = history.path_changes_ns.iter().map(|at| WallTime(start.0.saturating_add(*at)));
    let path_changes = changes.flat_map(|at| series.iter().map(move |one| (one.series, at))).collect();
    Months { load: load.collect(), path_changes, zone: Zone(zone.collect()), start, series }
}

/// Display name of the probe: its scope, or the name of its metric.
fn probe_name(key: &SeriesKey) -> String {
    key.scope.clone().unwrap_or_else(|| key.metric.info().name.into())
}

fn delay(value: Value) -> Code {
    match value {
        Value::Observed(seconds) => Code::of(Outcome::Answered(Duration::from_secs_f64(seconds))),
        Value::Censored { .. } => Code::LOST,
    }
}

fn level(value: Value) -> Code {
    match value {
        Value::Observed(rate) => Code::level(rate),
        Value::Censored { .. } => Code::FAILED,
    }
}

/// The most recent columns, which start at multiples of their width.
fn columns(
    series: &Series,
    start: WallTime,
    end_ns: u64,
    grid: Grid,
    code: fn(Value) -> Code,
) -> Vec<Column> {
    let kept_ns = end_ns.min(grid.max_columns * grid.step_ns);
    let end = WallTime(start.0.saturating_add(end_ns));
    let from = WallTime(end.0.saturating_sub(kept_ns));
    let count = (kept_ns / grid.step_ns + 2) as usize;
    let mut columns = Columns::new(from, end, count, grid.step_ns / NANOS_PER_MILLI);
    let samples = series.iter().map(|observation| Stored {
        at_ms: start.0.saturating_add(observation.at.as_nanos()) / NANOS_PER_MILLI,
        code: code(observation.value),
    });
    columns.add_chunk(&Chunk { samples: samples.collect(), marks: Vec::new() }, &(0..u64::MAX));
    columns.finish()
}
