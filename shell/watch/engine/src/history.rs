//! The interface to the history.
use fathom_units::WallTime;
use fathom_watch_plan::OwnTrouble;
use fathom_watch_samples::{Level, Sample, Unit};

/// An event, shown in the ribbon below the plots.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Start time.
    pub at: WallTime,
    /// One word: `path`, `address`, `resolve`, `instrument`, `alert`, `delivery`.
    pub kind: &'static str,
    /// Description.
    pub text: String,
}

/// The result of a flush.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FlushReport {
    /// What has changed, for people: problems, repairs, and ends of problems.
    pub news: Vec<String>,
    /// Why nothing can be written, such as a full disk.
    pub trouble: Option<OwnTrouble>,
    /// Samples that are only in memory.
    pub unsaved_samples: u64,
    /// Samples that were dropped.
    pub dropped_samples: u64,
}

/// Writes samples to a history. Used by one thread.
pub trait HistoryWriter: Send {
    /// The number of a series, which is created if necessary.
    ///
    /// # Errors
    /// The problem, in words.
    fn series(&mut self, target: &str, probe: &str, unit: Unit) -> Result<u32, String>;
    /// Records outcomes.
    fn record(&mut self, series: u32, samples: &[Sample]);
    /// Replaces the loss of the probe sent at the time of `sample`.
    fn amend(&mut self, series: u32, sample: Sample);
    /// Adds duplicate and reordered replies.
    fn count(&mut self, series: u32, at: WallTime, duplicates: u64, reordered: u64);
    /// Records a level.
    fn level(&mut self, series: u32, level: Level);
    /// Records an event.
    fn event(&mut self, event: &Event, series: Option<u32>);
    /// Flushes. Called about once a second, and with `last` at the end. Whatever it reports,
    /// probing continues.
    fn flush(&mut self, now: WallTime, last: bool) -> FlushReport;
}
