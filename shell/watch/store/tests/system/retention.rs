//! Old data is dropped; above a budget, the oldest detail first.
use super::support::{DAY, Dir, SECOND, START, all, key, open, sample, seldom};
use fathom_units::{Bytes, Duration, WallTime};
use fathom_watch_samples::Sample;
use fathom_watch_store::{HistoryConfig, HistoryReader, Retention, SeriesId};

/// Records one sample every ten seconds for a number of days.
fn record(dir: &Dir, config: &HistoryConfig, days: u64) -> (SeriesId, Vec<Sample>) {
    let mut history = open(&dir.0, config);
    let id = history.series(&key("one")).expect("room for one");
    let mut recorded = Vec::new();
    for second in (0..days * 86_400).step_by(10) {
        let at = WallTime(START + second * SECOND);
        history.record(id, &[sample(0, at)]);
        recorded.push(sample(0, at));
        assert!(history.flush(at).is_empty());
        if let Some(budget) = config.budget {
            // Checked every ten minutes only; and a large write makes the log longer.
            let used = history.status().used;
            assert!(used <= Bytes(budget.get() + 300_000), "{used} of {budget} at {at}");
        }
    }
    assert_eq!(history.status().trouble, None);
    (id, recorded)
}

#[test]
fn each_level_of_detail_expires_in_its_time() {
    let dir = Dir::new();
    let day = Duration::from_secs(86_400);
    let keep =
        Retention { samples: Some(day * 2), ten_minutes: Some(day * 4), hours: Some(day * 8), days: None };
    let (id, recorded) = record(&dir, &HistoryConfig { keep, ..seldom() }, 12);
    let samples = all(&dir.0, id);
    let oldest = samples.first().map_or(0, |s| s.at.0);
    assert_eq!(oldest, START + 9 * DAY, "whole days: at least two, less than four");
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    // At any zoom, everything that any detail still has is counted exactly once.
    for count in [2, 12, 12 * 24, 12 * 144, 200_000] {
        let (from, to) = (WallTime(START), WallTime(START + 12 * DAY));
        let columns = reader.columns(id, from, to, count).expect("it can be read");
        let counted: u64 = columns.iter().map(|c| c.tally.sent + c.tally.failed).sum();
        // The last seconds are not durable yet.
        assert!(
            counted <= recorded.len() as u64 && counted + 41 > recorded.len() as u64,
            "{counted} in {count}"
        );
    }
    let fine = reader.columns(id, WallTime(START + 3 * DAY), WallTime(START + 4 * DAY), 1_000);
    let filled = fine.expect("it can be read").iter().filter(|c| c.tally.sent > 0).count();
    assert_eq!(filled, 24, "of the fourth day the hours are left");
}

#[test]
fn a_size_budget_removes_the_oldest_samples_first() {
    let dir = Dir::new();
    // The reserve takes a megabyte.
    let budget = Some(Bytes((1 << 20) + 400_000));
    let (id, recorded) = record(&dir, &HistoryConfig { budget, ..seldom() }, 25);
    let samples = all(&dir.0, id);
    assert!(samples.len() > 8_640 && samples.len() < recorded.len() * 3 / 4, "{}", samples.len());
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let columns =
        reader.columns(id, WallTime(START), WallTime(START + 25 * DAY), 25).expect("it can be read");
    assert!(columns.iter().all(|c| c.tally.sent > 0), "histograms of all days are there");
}

#[test]
fn a_clock_a_century_ahead_costs_days_not_all() {
    let dir = Dir::new();
    let day = Duration::from_secs(86_400);
    let keep = Retention { samples: Some(day * 30), ..Retention::default() };
    let config = HistoryConfig { keep, ..seldom() };
    let (id, recorded) = record(&dir, &config, 20);
    let mut history = open(&dir.0, &config);
    for minute in 0..30 {
        let at = WallTime(START + 36_500 * DAY + minute * 60 * SECOND);
        history.record(id, &[sample(0, at)]);
        history.save(at);
    }
    assert!(all(&dir.0, id).len() > recorded.len() * 3 / 4);
}
