//! The interface to the history.
use fathom_units::WallTime;
use fathom_watch_samples::{Level, Sample, Unit};

/// Something that happened, for the ribbon below the plots.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// When it began.
    pub at: WallTime,
    /// One word: `path`, `address`, `resolve`, `instrument`, `alert`, `delivery`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

/// Writes samples to a history. One thread uses it.
pub trait HistoryWriter: Send {
    /// The number of a series, which is made if there is none.
    ///
    /// # Errors
    /// In words.
    fn series(&mut self, target: &str, probe: &str, unit: Unit) -> Result<u32, String>;
    /// Keeps outcomes.
    fn record(&mut self, series: u32, samples: &[Sample]);
    /// Replaces the loss of the probe that was sent at that time.
    fn amend(&mut self, series: u32, sample: Sample);
    /// Adds to the counts of answers that came twice or out of order.
    fn count(&mut self, series: u32, at: WallTime, duplicates: u64, reordered: u64);
    /// Keeps a level.
    fn level(&mut self, series: u32, level: Level);
    /// Keeps an event.
    fn event(&mut self, event: &Event, series: Option<u32>);
    /// Called about once a second, and with `last` at the end. What is wrong is returned in words, and probing goes on.
    ///
    /// # Errors
    /// In words: the disk is full, or gone.
    fn flush(&mut self, now: WallTime, last: bool) -> Result<(), String>;
}
