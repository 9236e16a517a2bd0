//! The state of all series now, for whoever looks at it while it changes.
use crate::told::Place;
use fathom_history::{Code, Sample, Sketch, Tally};
use fathom_os::clock::wall_now;
use fathom_units::WallTime;
use fathom_watch::{LastMinute, TargetNow};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of each series. Shared between the thread that keeps and those that show.
#[derive(Default, Debug)]
pub struct Board {
    rows: Mutex<Vec<Option<Row>>>,
}

#[derive(Debug)]
struct Row {
    now: TargetNow,
    minute: LastMinute,
    tally: Tally,
    sketch: Sketch,
    since: WallTime,
}

/// Everything that was counted of a series since it came into the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Total {
    /// The series as it is now.
    pub now: TargetNow,
    /// Outcomes.
    pub tally: Tally,
    /// Delays of those that were answered, late ones among them.
    pub sketch: Sketch,
    /// When counting began.
    pub since: WallTime,
}

impl Row {
    fn new(now: TargetNow) -> Self {
        let (minute, since) = (LastMinute::default(), wall_now());
        Row { now, minute, tally: Tally::default(), sketch: Sketch::default(), since }
    }
    fn at(&self, time: WallTime) -> TargetNow {
        let mut now = self.now.clone();
        self.minute.fill(&mut now, time);
        now
    }
}

/// The board, held.
pub(crate) struct Held<'b> {
    rows: MutexGuard<'b, Vec<Option<Row>>>,
}

impl Board {
    pub(crate) fn hold(&self) -> Held<'_> {
        Held { rows: self.rows.lock().unwrap_or_else(PoisonError::into_inner) }
    }
    /// All series that have a sample or a reason for having none, in the order of the plan.
    #[must_use]
    pub fn targets(&self) -> Vec<TargetNow> {
        let time = wall_now();
        let held = self.hold();
        held.rows.iter().flatten().map(|row| row.at(time)).collect()
    }
    /// What was counted of each since it came.
    #[must_use]
    pub fn totals(&self) -> Vec<Total> {
        let time = wall_now();
        let held = self.hold();
        let total = |row: &Row| Total {
            now: row.at(time),
            tally: row.tally,
            sketch: row.sketch.clone(),
            since: row.since,
        };
        held.rows.iter().flatten().map(total).collect()
    }
}

impl Held<'_> {
    pub(crate) fn open(&mut self, place: Place, now: TargetNow) {
        let index = place as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.rows.get_mut(index) {
            *slot = Some(Row::new(now));
        }
    }
    pub(crate) fn close(&mut self, place: Place) {
        self.rows.get_mut(place as usize).into_iter().for_each(|row| *row = None);
    }
    pub(crate) fn address(&mut self, place: Place, address: IpAddr) {
        self.row(place).into_iter().for_each(|row| row.now.address = Some(address));
    }
    pub(crate) fn sample(&mut self, place: Place, sample: Sample) {
        let Some(row) = self.row(place) else { return };
        row.minute.add(sample);
        let code = Code::of(sample.outcome);
        row.tally.add(code);
        row.sketch.add(code);
    }
    pub(crate) fn amend(&mut self, place: Place, sample: Sample) {
        let Some(row) = self.row(place) else { return };
        row.minute.amend(sample);
        // It was counted as lost when it was.
        row.tally.lost = row.tally.lost.saturating_sub(1);
        row.tally.late += 1;
        row.sketch.add(Code::of(sample.outcome));
    }
    pub(crate) fn count(&mut self, place: Place, at: WallTime, duplicates: u64, reordered: u64) {
        let Some(row) = self.row(place) else { return };
        row.minute.count(at, duplicates, reordered);
        row.tally.duplicates += duplicates;
        row.tally.reordered += reordered;
    }
    pub(crate) fn reason(&mut self, place: Place, reason: &str) {
        self.row(place).into_iter().for_each(|row| row.minute.reason(reason));
    }
    pub(crate) fn alerts(&mut self, place: Place, names: Vec<String>) {
        self.row(place).into_iter().for_each(|row| row.now.alerts.clone_from(&names));
    }
    /// The number of a series in the history; `None` before its first sample.
    pub(crate) fn number(&mut self, place: Place) -> Option<u32> {
        self.row(place).map(|row| row.now.series)
    }
    fn row(&mut self, place: Place) -> Option<&mut Row> {
        self.rows.get_mut(place as usize)?.as_mut()
    }
}
