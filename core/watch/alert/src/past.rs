//! The usual delays of a target at this hour of the week.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::midpoint_median;
use fathom_text::delay;
use fathom_units::{Duration, WallTime};

/// How many weeks back the same hour is requested.
pub const MAX_WEEKS: usize = 8;
/// Least number of known hours of the last day, if there are too few weeks.
const MIN_HOURS: usize = 6;
/// The median absolute deviation of a normal distribution times this is its standard deviation.
const DEVIATIONS: f64 = 1.4826;

const SECOND: i64 = 1_000_000_000;
const HOUR: u64 = 3_600_000_000_000;
const WEEK_HOURS: u64 = 168;

/// Delays of one past hour.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PastHour {
    /// Start of the hour.
    pub from: WallTime,
    /// Number of answers.
    pub count: u64,
    /// The requested percentile of the delays, in seconds.
    pub value: f64,
}

/// Past delays of a series: the same hour of previous weeks, and the last day.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Past {
    /// The hour that they were requested for.
    pub hour: WallTime,
    /// Those hours of [`Past::weeks_before`] that have answers.
    pub weeks: Vec<PastHour>,
    /// Those hours of the day before that have answers.
    pub day: Vec<PastHour>,
}

/// Median and spread of the past values, and a description of them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Baseline {
    pub(crate) value: f64,
    pub(crate) spread: f64,
    pub(crate) text: String,
}

impl Past {
    /// The start of the hour that contains `at`.
    pub const fn hour_of(at: WallTime) -> WallTime {
        WallTime(at.0 / HOUR * HOUR)
    }
    /// Start of the same local hour in each of the eight weeks before. `offset_s` returns the UTC
    /// offset at a time, in seconds.
    pub fn weeks_before(hour: WallTime, offset_s: impl Fn(WallTime) -> i64) -> Vec<WallTime> {
        let week = |n: u64| {
            let same = WallTime(hour.0.checked_sub(n * WEEK_HOURS * HOUR)?);
            // After the change to daylight saving time, 8 o'clock local time comes an hour earlier
            // in UTC.
            let moved_ns = (offset_s(hour) - offset_s(same)) * SECOND;
            same.0.checked_add_signed(moved_ns).map(WallTime)
        };
        (1..=MAX_WEEKS as u64).filter_map(week).collect()
    }
    /// Length of a past hour.
    pub const fn hour() -> Duration {
        Duration::from_nanos(HOUR)
    }
    /// The baseline, from hours with at least `min_probes` answers; of the last day if there are
    /// fewer than `weeks` weeks.
    pub(crate) fn baseline(&self, min_probes: u64, weeks: u64) -> Option<Baseline> {
        let known = |hours: &[PastHour]| -> Vec<f64> {
            hours.iter().filter(|h| h.count >= min_probes).map(|h| h.value).collect()
        };
        let (weekly, daily) = (known(&self.weeks), known(&self.day));
        if weekly.len() as u64 >= weeks {
            let text = format!("at this hour of the last {} weeks", weekly.len());
            return baseline(&weekly, text);
        }
        if daily.len() < MIN_HOURS {
            return None;
        }
        let text = format!(
            "in {} hours of the last day, because only {} weeks have data",
            daily.len(),
            weekly.len()
        );
        baseline(&daily, text)
    }
}

/// A single bad week hardly changes the median and the median absolute deviation.
fn baseline(values: &[f64], text: String) -> Option<Baseline> {
    let value = midpoint_median(values.iter().copied())?;
    let deviations = values.iter().map(|v| if *v > value { v - value } else { value - v });
    let spread = midpoint_median(deviations)? * DEVIATIONS;
    Some(Baseline { value, spread, text })
}

impl Baseline {
    /// The baseline in words: `usual 20.1 ms (spread 1.20 ms, at this hour of the last 8 weeks)`.
    pub(crate) fn words(&self) -> String {
        format!("usual {} (spread {}, {})", delay(self.value), delay(self.spread), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WallTime = WallTime(5_000 * HOUR);

    fn past(weekly: &[f64], daily: &[f64]) -> Past {
        let hour = |value: &f64| PastHour { from: NOW, count: 100, value: *value };
        Past { hour: NOW, weeks: weekly.iter().map(hour).collect(), day: daily.iter().map(hour).collect() }
    }

    #[test]
    fn one_bad_week_does_not_poison_the_past() {
        let calm =
            past(&[0.020, 0.021, 0.019, 0.020, 0.020, 0.022, 0.020, 0.018], &[]).baseline(10, 3).unwrap();
        let one_bad =
            past(&[0.020, 0.021, 0.900, 0.020, 0.020, 0.022, 0.020, 0.018], &[]).baseline(10, 3).unwrap();
        assert!((calm.value - one_bad.value).abs() < 0.001, "{calm:?} {one_bad:?}");
        assert!(one_bad.spread < 0.003, "{one_bad:?}");
    }

    #[test]
    fn too_few_weeks_are_replaced_by_the_last_day_which_the_text_states() {
        let usual = past(&[0.5, 0.5], &[0.020; 7]).baseline(10, 3).unwrap();
        assert!((usual.value - 0.020).abs() < 1e-9);
        assert_eq!(usual.text, "in 7 hours of the last day, because only 2 weeks have data");
        assert_eq!(past(&[0.5, 0.5], &[0.020; 5]).baseline(10, 3), None, "neither is enough");
        assert_eq!(past(&[0.5; 8], &[0.02; 24]).baseline(101, 3), None, "hours of too few answers");
    }

    #[test]
    fn the_same_hour_of_the_week_is_so_by_the_clock_on_the_wall() {
        let back = |times: &[WallTime]| times.iter().map(|t| (NOW.0 - t.0) / HOUR).collect::<Vec<u64>>();
        let even = [168, 336, 504, 672, 840, 1_008, 1_176, 1_344];
        assert_eq!(back(&Past::weeks_before(NOW, |_| 3_600)), even);
        // Clocks went an hour ahead between the third and the second week before.
        let since = WallTime(NOW.0 - 400 * HOUR);
        let ahead = |at: WallTime| if at >= since { 7_200 } else { 3_600 };
        assert_eq!(back(&Past::weeks_before(NOW, ahead)), [168, 336, 503, 671, 839, 1_007, 1_175, 1_343]);
        let back_again = |at: WallTime| if at >= since { 3_600 } else { 7_200 };
        assert_eq!(
            back(&Past::weeks_before(NOW, back_again)),
            [168, 336, 505, 673, 841, 1_009, 1_177, 1_345]
        );
        assert_eq!(Past::weeks_before(WallTime(200 * HOUR), |_| 0).len(), 1, "before 1970 there is nothing");
    }
}
