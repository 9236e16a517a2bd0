//! Findings over months of a watch: what comes back at the same hours, what this house's own traffic does, what changed for good.
//!
//! Nothing is found without a test against chance. Each kind is a test of counts with a bound on how often plain noise passes it
//! (`CHANCE`, shared among all that is tested), and then a size below which nobody would care. The bound holds for days that
//! are independent of each other: a disturbance that lasts for a week is one event to a person, and seven to the test.
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
/// Whole days below which nothing is said.
pub const MIN_DAYS: usize = 10;

/// A series of delays.
#[derive(Clone, Debug)]
pub struct PastSeries {
    /// Its number, for whoever shows it.
    pub series: u32,
    /// The target's name.
    pub target: String,
    /// How it is asked.
    pub probe: String,
    /// Columns of one hour, in the order of time. Empty ones are hours of which nothing is known.
    pub hours: Vec<Column>,
    /// Columns of ten minutes, of as much of it as the throughput is known for.
    pub slots: Vec<Column>,
}

/// What this house's own link carried.
#[derive(Clone, Debug)]
pub struct PastLoad {
    /// From or to the house.
    pub direction: Direction,
    /// Columns of ten minutes, in bits per second.
    pub slots: Vec<Column>,
}

/// How far the household's clock is from UTC, and since when: one entry without summer time, two a year with it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Zone(pub Vec<(WallTime, i64)>);

/// All that is looked at.
#[derive(Clone, Debug, Default)]
pub struct Months {
    /// The targets' series.
    pub series: Vec<PastSeries>,
    /// The house's own traffic, if it was kept.
    pub load: Vec<PastLoad>,
    /// When the path to a series' target changed.
    pub path_changes: Vec<(u32, WallTime)>,
    /// The household's clock.
    pub zone: Zone,
    /// Time zero of the spans of findings.
    pub start: WallTime,
}

/// All findings, those that cost a person most first.
pub fn diagnose_months(months: &Months) -> Vec<Finding> {
    // The bound is for the whole of a history, however many series it has.
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

/// How much a finding costs, compared with others of its kind.
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
    /// A span of wall time as one of the run.
    fn span(&self, from: WallTime, to: WallTime) -> Span {
        Span { start_ns: from.0.saturating_sub(self.start.0), end_ns: to.0.saturating_sub(self.start.0) }
    }
}

impl Zone {
    /// One offset for all times, in seconds east of UTC.
    pub fn fixed(offset_s: i64) -> Zone {
        Zone(Vec::from([(WallTime(0), offset_s)]))
    }
    /// Seconds since 1970-01-01 00:00 by the household's clock.
    pub(crate) fn local_s(&self, at: WallTime) -> u64 {
        let offset_s =
            self.0.iter().rev().find(|(since, _)| *since <= at).or(self.0.first()).map_or(0, |(_, o)| *o);
        (at.0 / 1_000_000_000).saturating_add_signed(offset_s)
    }
}
