//! Settings of a history: retention and durability.
use fathom_units::{Bytes, Duration};

/// One day.
const DAY: Duration = Duration::from_secs(86_400);

/// Settings of a history.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryConfig {
    /// Maximum time until a record is durable, plus one second; this is what a power failure may
    /// lose. Longer times reduce flash wear.
    pub durable_every: Duration,
    /// Retention of each kind of detail.
    pub keep: Retention,
    /// Maximum size of the files; `None` for the size of the disk. Above it the oldest detail is
    /// dropped first, never the newest day.
    pub budget: Option<Bytes>,
    /// Maximum number of samples kept in memory while they cannot be written, at 16 bytes each;
    /// beyond it the oldest are dropped.
    pub unsaved_samples: usize,
}

/// Retention of each kind of detail; `None` means forever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Single samples: 7 to 20 MB per series and year at one per second.
    pub samples: Option<Duration>,
    /// Ten-minute histograms: about 2 MB per series and year.
    pub ten_minutes: Option<Duration>,
    /// One-hour histograms: about 0.7 MB per series and year.
    pub hours: Option<Duration>,
    /// One-day histograms: about 0.1 MB per series and year.
    pub days: Option<Duration>,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        HistoryConfig {
            durable_every: Duration::from_secs(10),
            keep: Retention::default(),
            budget: None,
            // 64 MB: an hour of 1,000 series at one sample per second.
            unsaved_samples: 4_000_000,
        }
    }
}

impl Default for Retention {
    /// A year of samples and a month to compare it with; histograms for longer than a link is in
    /// use.
    fn default() -> Self {
        Retention { samples: Some(DAY * 400), ten_minutes: Some(DAY * 1_900), hours: None, days: None }
    }
}
