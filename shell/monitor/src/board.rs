//! The state of all series now, for whoever looks at it while it changes.
use crate::told::Place;
use fathom_history::Sample;
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
        let rows = held.rows.iter().flatten();
        rows.map(|row| {
            let mut now = row.now.clone();
            row.minute.fill(&mut now, time);
            now
        })
        .collect()
    }
}

impl Held<'_> {
    pub(crate) fn open(&mut self, place: Place, now: TargetNow) {
        let index = place as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.rows.get_mut(index) {
            *slot = Some(Row { now, minute: LastMinute::default() });
        }
    }
    pub(crate) fn close(&mut self, place: Place) {
        self.rows.get_mut(place as usize).into_iter().for_each(|row| *row = None);
    }
    pub(crate) fn address(&mut self, place: Place, address: IpAddr) {
        self.row(place).into_iter().for_each(|row| row.now.address = Some(address));
    }
    pub(crate) fn sample(&mut self, place: Place, sample: Sample) {
        self.row(place).into_iter().for_each(|row| row.minute.add(sample));
    }
    pub(crate) fn amend(&mut self, place: Place, sample: Sample) {
        self.row(place).into_iter().for_each(|row| row.minute.amend(sample));
    }
    pub(crate) fn count(&mut self, place: Place, at: WallTime, duplicates: u64, reordered: u64) {
        self.row(place).into_iter().for_each(|row| row.minute.count(at, duplicates, reordered));
    }
    pub(crate) fn reason(&mut self, place: Place, reason: &str) {
        self.row(place).into_iter().for_each(|row| row.minute.reason(reason));
    }
    fn row(&mut self, place: Place) -> Option<&mut Row> {
        self.rows.get_mut(place as usize)?.as_mut()
    }
}
