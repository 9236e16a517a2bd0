//! What is usual for a target at this hour of the week.
use super::words;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Duration, WallTime};

/// So many weeks back, the same hour is asked for.
pub(super) const WEEKS: usize = 8;
/// Hours of the last day that must be known, where the weeks are not.
const LEAST_HOURS: usize = 6;
/// The median of deviations of a normal distribution times this is its standard deviation.
const DEVIATIONS: f64 = 1.4826;

const HOUR: u64 = 3_600_000_000_000;
const DAY_HOURS: u64 = 24;
const WEEK_HOURS: u64 = 168;

/// One hour of the past.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PastHour {
    /// When it begins.
    pub from: WallTime,
    /// How many answers it has.
    pub count: u64,
    /// Their percentile, in seconds.
    pub value: f64,
}

/// What a watcher needs to know of a series' past: the same hour of the weeks before, and the last day.
///
/// The hours are of UTC: after a change to or from summer time the past is an hour off until it is forgotten.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Past {
    /// The hour that it was asked for.
    pub hour: WallTime,
    /// The hours that have answers.
    pub hours: Vec<PastHour>,
}

/// Median and spread of what was, and of what that is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Usual {
    pub(super) value: f64,
    pub(super) spread: f64,
    pub(super) text: String,
}

impl Past {
    /// The hour in which a time lies.
    pub const fn hour_of(at: WallTime) -> WallTime {
        WallTime(at.0 / HOUR * HOUR)
    }
    /// The hours to ask for: one a week for eight weeks, then each of the day before.
    pub fn wanted(hour: WallTime) -> Vec<WallTime> {
        let back = |hours: u64| hour.0.checked_sub(hours * HOUR).map(WallTime);
        let weeks = (1..=WEEKS as u64).map(|n| n * WEEK_HOURS);
        weeks.chain(1..=DAY_HOURS).filter_map(back).collect()
    }
    /// Length of an hour of the past.
    pub const fn hour() -> Duration {
        Duration::from_nanos(HOUR)
    }
    /// What is usual, from hours with at least so many answers; of the last day if there are too few weeks.
    pub(super) fn usual(&self, least: u64, weeks: u64) -> Option<Usual> {
        let back = |h: &PastHour| self.hour.0.saturating_sub(h.from.0) / HOUR;
        let known = self.hours.iter().filter(|h| h.count >= least);
        let (weekly, daily): (Vec<&PastHour>, Vec<&PastHour>) =
            known.partition(|h| back(h) > DAY_HOURS && back(h).is_multiple_of(WEEK_HOURS));
        let values = |hours: &[&PastHour]| hours.iter().map(|h| h.value).collect::<Vec<f64>>();
        if weekly.len() as u64 >= weeks {
            let text = format!("at this hour of the last {} weeks", weekly.len());
            return usual(values(&weekly), text);
        }
        if daily.len() < LEAST_HOURS {
            return None;
        }
        let text =
            format!("in {} hours of the last day, as only {} weeks are known", daily.len(), weekly.len());
        usual(values(&daily), text)
    }
}

/// A single bad week moves neither the median nor the median of the deviations by much.
fn usual(mut values: Vec<f64>, text: String) -> Option<Usual> {
    let value = middle(&mut values)?;
    let mut deviations: Vec<f64> =
        values.iter().map(|v| if *v > value { v - value } else { value - v }).collect();
    let spread = middle(&mut deviations)? * DEVIATIONS;
    Some(Usual { value, spread, text })
}

fn middle(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

impl Usual {
    /// `usual 20.1 ms (spread 1.20 ms, at this hour of the last 8 weeks)`.
    pub(super) fn words(&self) -> String {
        format!("usual {} (spread {}, {})", words::delay(self.value), words::delay(self.spread), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WallTime = WallTime(5_000 * HOUR);

    fn past(weekly: &[f64], daily: &[f64]) -> Past {
        let hour = |(n, value): (u64, &f64)| PastHour {
            from: WallTime(NOW.0 - n * HOUR),
            count: 100,
            value: *value,
        };
        let weeks = (1..).map(|n| n * WEEK_HOURS).zip(weekly).map(hour);
        let day = (1..).zip(daily).map(hour);
        Past { hour: NOW, hours: weeks.chain(day).collect() }
    }

    #[test]
    fn one_bad_week_does_not_poison_the_past() {
        let calm = past(&[0.020, 0.021, 0.019, 0.020, 0.020, 0.022, 0.020, 0.018], &[]).usual(10, 3).unwrap();
        let one_bad =
            past(&[0.020, 0.021, 0.900, 0.020, 0.020, 0.022, 0.020, 0.018], &[]).usual(10, 3).unwrap();
        assert!((calm.value - one_bad.value).abs() < 0.001, "{calm:?} {one_bad:?}");
        assert!(one_bad.spread < 0.003, "{one_bad:?}");
    }

    #[test]
    fn too_few_weeks_are_replaced_by_the_last_day_which_is_said() {
        let usual = past(&[0.5, 0.5], &[0.020; 7]).usual(10, 3).unwrap();
        assert!((usual.value - 0.020).abs() < 1e-9);
        assert_eq!(usual.text, "in 7 hours of the last day, as only 2 weeks are known");
        assert_eq!(past(&[0.5, 0.5], &[0.020; 5]).usual(10, 3), None, "neither is enough");
        assert_eq!(past(&[0.5; 8], &[0.02; 24]).usual(101, 3), None, "hours of too few answers");
    }

    #[test]
    fn what_is_asked_for_is_the_same_hour_of_the_week_and_the_last_day() {
        let wanted = Past::wanted(NOW);
        assert_eq!(wanted.len(), WEEKS + 24);
        assert_eq!(wanted[0], WallTime(NOW.0 - 168 * HOUR));
        assert_eq!(wanted[WEEKS], WallTime(NOW.0 - HOUR));
    }
}
