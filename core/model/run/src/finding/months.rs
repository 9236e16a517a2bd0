//! Parameters of findings about months of a watch.
use alloc::string::String;
use serde::{Deserialize, Serialize};

data! {
    /// A series in the history of a watch.
    struct HistorySeries {
        /// Number of the series in the history.
        series: u32,
        /// Name of the target.
        target: String,
        /// Kind of probe.
        probe: String,
    }
    /// Hours of certain days at which an event recurs.
    struct RecurringHours {
        /// The days.
        days: DayGroup,
        /// First hour of the day, in local time.
        from_hour: u64,
        /// Hour after the last, in local time.
        to_hour: u64,
        /// Number of days with the event.
        hit_days: u64,
        /// Number of days examined.
        all_days: u64,
        /// Share of all other hours with the event.
        elsewhere_ratio: f64,
        /// Probability that an hour shows the event by chance.
        chance_ratio: f64,
    }
    /// Delay that increases at the same hours.
    struct RecurringDelay {
        /// The series.
        of: HistorySeries,
        /// The hours.
        hours: RecurringHours,
        /// Median delay above that of the day's median hour.
        excess_s: f64,
        /// Load of the household's own link during these hours.
        own_link: LinkUse,
    }
    /// Loss at the same hours.
    struct RecurringLoss {
        /// The series.
        of: HistorySeries,
        /// The hours.
        hours: RecurringHours,
        /// Share of lost probes.
        loss_ratio: f64,
    }
    /// A buffer filled by the household's own traffic.
    struct OwnLoad {
        /// The series.
        of: HistorySeries,
        /// Delay while the link is fully used, above the day's base delay.
        delay_s: f64,
        /// Delay while the link is idle, above the day's base delay.
        idle_delay_s: f64,
        /// Number of episodes with a fully used link.
        full_count: u64,
        /// Number of those episodes with high delay.
        slow_count: u64,
        /// Number of those episodes with high delay per day.
        slow_per_day: f64,
        /// Probability that this happens by chance.
        chance_ratio: f64,
    }
    /// A lasting change of the minimum delay.
    struct BaseChange {
        /// The series.
        of: HistorySeries,
        /// First day with the new delay, in days since 1970-01-01, local time.
        since_day: u64,
        /// New minus old delay.
        change_s: f64,
        /// Median of the days before the change.
        before_s: f64,
        /// Median of the days since the change.
        after_s: f64,
        /// Number of days on each side of the change; all of them differ.
        each_side_days: u64,
        /// The path changed at about the same time.
        path_changed: bool,
    }
}

/// Group of days.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayGroup {
    /// Every day.
    All,
    /// Monday to Friday.
    Working,
    /// Saturday and Sunday.
    Weekend,
    /// One day of the week, 0 is Monday.
    Weekday(u64),
}

/// Load of a link, relative to the highest load seen on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkUse {
    /// Low.
    Idle,
    /// High.
    Busy,
    /// Not recorded.
    Unknown,
}
