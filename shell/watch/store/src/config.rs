//! What a history keeps, and how soon it is safe.
use fathom_units::{Bytes, Duration};

/// One day.
const DAY: Duration = Duration::from_secs(86_400);

/// How a history is written.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryConfig {
    /// What was recorded is on the disk after at most this, and one second: it is what a power cut
    /// takes. Longer spares flash.
    pub durable_every: Duration,
    /// How long each kind of detail is kept.
    pub keep: Retention,
    /// What the files may take; `None` for what the disk has. Above it the oldest detail goes
    /// first, the newest day never.
    pub budget: Option<Bytes>,
    /// Samples that are kept in memory while they cannot be written; then the oldest of them go. 16
    /// bytes each.
    pub unsaved_samples: usize,
}

/// How long each kind of detail is kept; `None` for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Every single sample: 7 to 20 MB per series and year at one a second.
    pub samples: Option<Duration>,
    /// Histograms of ten minutes: about 2 MB per series and year.
    pub ten_minutes: Option<Duration>,
    /// Histograms of one hour: about 0.7 MB per series and year.
    pub hours: Option<Duration>,
    /// Histograms of one day: about 0.1 MB per series and year.
    pub days: Option<Duration>,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        HistoryConfig {
            durable_every: Duration::from_secs(10),
            keep: Retention::default(),
            budget: None,
            // 64 MB: an hour of 1,000 series at one sample a second.
            unsaved_samples: 4_000_000,
        }
    }
}

impl Default for Retention {
    /// A year of samples and a month to compare it with; histograms for longer than a line lasts.
    fn default() -> Self {
        Retention { samples: Some(DAY * 400), ten_minutes: Some(DAY * 1_900), hours: None, days: None }
    }
}
