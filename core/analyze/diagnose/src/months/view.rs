//! A series in local time.
use super::{Months, PastSeries, Zone};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_stats::median;
use fathom_units::WallTime;
use fathom_watch_samples::Column;

const MIN_SENT: u64 = 12;
const MIN_HOURS: usize = 12;
/// Quantile of a day's delays that counts as its base; the minimum itself may be an exception.
const BASE_QUANTILE: f64 = 0.05;

#[derive(Clone, Copy, Debug)]
pub(super) struct Hour {
    pub(super) from: WallTime,
    pub(super) to: WallTime,
    pub(super) day: u64,
    pub(super) hour: u64,
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Median above that of the day's median hour, in seconds.
    pub(super) excess: f64,
    /// Median of the day's hours, in seconds.
    pub(super) usual: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Day {
    pub(super) from: WallTime,
    /// Base delay, in seconds.
    pub(super) base: f64,
}

pub(super) struct View<'p> {
    pub(super) past: &'p PastSeries,
    pub(super) months: &'p Months,
    pub(super) zone: &'p Zone,
    pub(super) hours: Vec<Hour>,
    pub(super) days: BTreeMap<u64, Day>,
}

impl<'p> View<'p> {
    pub(super) fn new(past: &'p PastSeries, months: &'p Months) -> Self {
        let zone = &months.zone;
        let mut by_day: BTreeMap<u64, Vec<&Column>> = BTreeMap::new();
        for column in past.hours.iter().filter(|column| column.tally.sent >= MIN_SENT) {
            by_day.entry(zone.local_s(column.from) / 86_400).or_default().push(column);
        }
        by_day.retain(|_, columns| columns.len() >= MIN_HOURS);
        let mut view = View { past, months, zone, hours: Vec::new(), days: BTreeMap::new() };
        for (day, columns) in by_day {
            view.day(day, &columns);
        }
        view
    }
    fn day(&mut self, day: u64, columns: &[&Column]) {
        let mut all = fathom_watch_samples::Sketch::default();
        columns.iter().for_each(|column| all.merge(&column.sketch));
        let medians = columns.iter().filter_map(|c| c.sketch.quantile(0.5));
        let (Some(base), Some(usual)) = (all.quantile(BASE_QUANTILE), median(medians)) else { return };
        let Some(first) = columns.first() else { return };
        self.days.insert(day, Day { from: first.from, base });
        let hours = columns.iter().map(|column| Hour {
            from: column.from,
            to: column.to,
            day,
            hour: self.zone.local_s(column.from) / 3_600 % 24,
            sent: column.tally.sent,
            lost: column.tally.lost,
            excess: column.sketch.quantile(0.5).map_or(0.0, |middle| middle - usual),
            usual,
        });
        self.hours.extend(hours);
    }
}
