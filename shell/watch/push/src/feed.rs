//! Reads data for a destination from the history.
use crate::role::Names;
use fathom_units::WallTime;
use fathom_watch_samples::Column;
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId, SeriesKey};
use std::path::{Path, PathBuf};

pub(crate) const NANOS_PER_MILLI: u64 = 1_000_000;

/// Maximum number of steps sent at once when there is a backlog.
const MAX_STEPS: u64 = 30;
/// Maximum length of a stretch. Prometheus rejects samples an hour older than its newest, and each
/// series is sent for the whole stretch before the next series.
const MAX_STRETCH_MS: u64 = 1_800_000;

/// A period that is sent at once, divided into equal steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    pub(crate) from_ms: u64,
    pub(crate) to_ms: u64,
    pub(crate) steps: u64,
}

impl Stretch {
    /// The next stretch after `from_ms`; `None` if its first step ends after `horizon_ms`. Steps
    /// end at multiples of the interval.
    pub(crate) fn next(from_ms: u64, horizon_ms: u64, interval_ms: u64) -> Option<Stretch> {
        let first_end = (from_ms / interval_ms + 1) * interval_ms;
        if first_end > horizon_ms {
            return None;
        }
        if !from_ms.is_multiple_of(interval_ms) {
            return Some(Stretch { from_ms, to_ms: first_end, steps: 1 });
        }
        let max_steps = (MAX_STRETCH_MS / interval_ms).clamp(1, MAX_STEPS);
        let steps = ((horizon_ms - from_ms) / interval_ms).min(max_steps);
        Some(Stretch { from_ms, to_ms: from_ms + steps * interval_ms, steps })
    }
}

/// The history, opened once it exists.
pub(crate) struct Feed {
    dir: PathBuf,
    reader: Option<HistoryReader>,
}

impl Feed {
    pub(crate) fn new(dir: &Path) -> Feed {
        Feed { dir: dir.to_owned(), reader: None }
    }
    fn reader(&mut self) -> Result<&mut HistoryReader, HistoryError> {
        match &mut self.reader {
            Some(reader) => Ok(reader),
            slot => Ok(slot.insert(HistoryReader::open(&self.dir)?)),
        }
    }
    /// The time up to which the history is written, in milliseconds. While it cannot be written,
    /// there is nothing to send.
    pub(crate) fn written_ms(&mut self, names: &Names) -> Result<u64, HistoryError> {
        let reader = self.reader()?;
        let series = reader.series()?;
        // This host's own series have a sample each second, so the others need not be read.
        let (own, others): (Vec<_>, Vec<_>) =
            series.into_iter().partition(|(_, key)| names.is_this_host(key));
        for some in [own, others] {
            let mut newest = None;
            for (id, _) in some {
                newest = newest.max(reader.newest(id)?.map(|sample| sample.at));
            }
            if let Some(newest) = newest {
                return Ok(newest.0 / NANOS_PER_MILLI);
            }
        }
        Ok(0)
    }
    pub(crate) fn series(&mut self) -> Result<Vec<(SeriesId, SeriesKey)>, HistoryError> {
        self.reader()?.series()
    }
    /// For each series, a column per step.
    pub(crate) fn columns(
        &mut self,
        ids: &[SeriesId],
        stretch: &Stretch,
    ) -> Result<Vec<Vec<Column>>, HistoryError> {
        let wall = |ms: u64| WallTime(ms.saturating_mul(NANOS_PER_MILLI));
        let (from, to) = (wall(stretch.from_ms), wall(stretch.to_ms));
        self.reader()?.overview(ids, from, to, stretch.steps as usize)
    }
    /// Damage found in the history.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        self.reader.as_mut().map(HistoryReader::faults).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_end_at_multiples_of_the_interval() {
        let stretch = |from_ms, to_ms, steps| Some(Stretch { from_ms, to_ms, steps });
        let cases = [
            ((60_000, 119_999, 60_000), None),
            ((60_000, 120_000, 60_000), stretch(60_000, 120_000, 1)),
            ((60_000, 301_000, 60_000), stretch(60_000, 300_000, 4)),
            // After a change of the interval.
            ((75_000, 301_000, 60_000), stretch(75_000, 120_000, 1)),
            // A day behind: half an hour at once.
            ((60_000, 86_400_000, 60_000), stretch(60_000, 1_860_000, 30)),
            ((0, 86_400_000, 600_000), stretch(0, 1_800_000, 3)),
            ((0, 86_400_000, 1_000), stretch(0, 30_000, 30)),
            // After the clock was set back.
            ((600_000, 0, 60_000), None),
        ];
        for ((from, horizon, interval), expected) in cases {
            assert_eq!(Stretch::next(from, horizon, interval), expected, "{from} {horizon} {interval}");
        }
    }
}
