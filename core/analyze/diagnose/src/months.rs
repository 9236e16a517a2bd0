//! Findings over months of a watch: recurring patterns, effects of the household's own traffic, and
//! lasting changes.
//!
//! Every finding has passed a test against chance. Each kind tests counts with a bound on how often
//! noise passes (`CHANCE`, shared among all tests), and requires a minimum size that matters to
//! users. The bound assumes independent days: a disturbance of a week is one event to a person, but
//! seven to the test.
mod base;
mod chance;
mod days;
mod load;
mod recurring;
mod view;

use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Conclusion, Finding, HistorySeries, Span};
use fathom_units::{Direction, WallTime};
use fathom_watch_samples::Column;

/// Of a thousand histories of plain noise, at most one has any finding of one kind.
pub const CHANCE: f64 = 1e-3;
/// Minimum number of whole days.
pub const MIN_DAYS: usize = 10;

/// A series of delays.
#[derive(Clone, Debug)]
pub struct PastSeries {
    /// Number of the series, for display.
    pub series: u32,
    /// Name of the target.
    pub target: String,
    /// Kind of probe.
    pub probe: String,
    /// Columns of one hour in time order; empty ones have no data.
    pub hours: Vec<Column>,
    /// Columns of ten minutes, for the time with known throughput.
    pub slots: Vec<Column>,
}

/// Throughput of the household's own link.
#[derive(Clone, Debug)]
pub struct PastLoad {
    /// Direction.
    pub direction: Direction,
    /// Columns of ten minutes, in bits per second.
    pub slots: Vec<Column>,
}

/// Offsets of local time from UTC with their start times; two per year with daylight saving.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Zone(pub Vec<(WallTime, i64)>);

/// Input of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Months {
    /// Series of all targets.
    pub series: Vec<PastSeries>,
    /// Throughput of the household's own link, if it was recorded.
    pub load: Vec<PastLoad>,
    /// Times at which the path to a series' target changed.
    pub path_changes: Vec<(u32, WallTime)>,
    /// Local time zone.
    pub zone: Zone,
    /// Time zero of the spans in findings.
    pub start: WallTime,
}

/// All findings, ordered by certainty, kind and size.
pub fn diagnose_months(months: &Months) -> Vec<Finding> {
    // The bound applies to the whole history, independent of the number of series.
    let chance = CHANCE / months.series.len().max(1) as f64;
    let mut findings: Vec<Finding> = Vec::new();
    for series in &months.series {
        let view = view::View::new(series, months);
        findings.extend(recurring::delay(&view, &months.load, chance));
        findings.extend(recurring::loss(&view, chance));
        findings.extend(load::own(&view, &months.load, chance));
        findings.extend(base::changes(&view, &months.path_changes, chance));
    }
    findings.sort_by(|a, b| {
        let by_rank = b.certainty.cmp(&a.certainty).then(a.kind().cmp(&b.kind()));
        by_rank.then(size(b).total_cmp(&size(a)))
    });
    findings
}

/// Size of a finding, for comparison with others of its kind.
fn size(finding: &Finding) -> f64 {
    match &finding.conclusion {
        Conclusion::RecurringDelay(delay) => delay.excess_s,
        Conclusion::RecurringLoss(loss) => loss.loss_ratio,
        Conclusion::OwnLoad(load) => load.delay_s,
        Conclusion::BaseChange(change) => change.change_s,
        _ => 0.0,
    }
}

impl PastSeries {
    fn named(&self) -> HistorySeries {
        HistorySeries { series: self.series, target: self.target.clone(), probe: self.probe.clone() }
    }
}

impl Months {
    /// Converts wall-clock times to a span of the run.
    fn span(&self, from: WallTime, to: WallTime) -> Span {
        Span { start_ns: from.0.saturating_sub(self.start.0), end_ns: to.0.saturating_sub(self.start.0) }
    }
}

impl Zone {
    /// A constant offset, in seconds east of UTC.
    pub fn fixed(offset_s: i64) -> Zone {
        Zone(Vec::from([(WallTime(0), offset_s)]))
    }
    /// Seconds since 1970-01-01 00:00 local time.
    pub(crate) fn local_s(&self, at: WallTime) -> u64 {
        let offset_s =
            self.0.iter().rev().find(|(since, _)| *since <= at).or(self.0.first()).map_or(0, |(_, o)| *o);
        (at.0 / 1_000_000_000).saturating_add_signed(offset_s)
    }
}
