//! Clocks stepped in both directions, and the meaning of stored times.
use super::support::{DAY, Dir, HOUR, SECOND, START, all, kept, key, naive, open, sample, seldom};
use fathom_units::WallTime;
use fathom_watch_samples::Sample;
use fathom_watch_store::{History, HistoryConfig, HistoryReader, Retention, SeriesId};

/// Records one sample per second while the clock shows `from` and later.
fn run(history: &mut History, id: SeriesId, from: u64, seconds: u64, recorded: &mut Vec<Sample>) {
    for second in 0..seconds {
        let at = WallTime(from + second * SECOND);
        history.record(id, &[sample(0, at)]);
        recorded.push(sample(0, at));
        assert!(history.flush(at).is_empty());
    }
}

#[test]
fn steps_both_ways_leave_no_hole_and_no_overlap() {
    let dir = Dir::new();
    // Data recorded in 1970 would rightly be too old.
    let keep = Retention { samples: None, ten_minutes: None, hours: None, days: None };
    let config = HistoryConfig { keep, ..seldom() };
    let mut history = open(&dir.0, &config);
    let id = history.series(&key("one")).expect("room for one");
    let mut recorded = Vec::new();
    // Without a battery, a clock starts in 1970. Then it is set, runs ahead, is set back by forty
    // minutes and by a day, and forward again.
    let stretches = [
        (0, 700),
        (START, 5_000),
        (START + 3 * HOUR, 4_000),
        (START + HOUR, 5_000),
        (START + HOUR + 400_000_000, 100),
        (START - DAY, 4_000),
        (START + 2 * DAY, 9_000),
        (START + 4_000 * DAY, 700),
        (START + 2 * DAY + 9_000 * SECOND, 4_000),
    ];
    for (from, seconds) in stretches {
        run(&mut history, id, from, seconds, &mut recorded);
        history.save(WallTime(from + seconds * SECOND));
        assert!(all(&dir.0, id) == kept(&recorded), "after the stretch from {from}");
    }
    drop(history);
    drop(open(&dir.0, &config));
    assert!(all(&dir.0, id) == kept(&recorded), "after opening again");
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    for (days, count) in [(1, 24), (4, 4), (4, 400), (4_010, 1_000)] {
        let (from, to) = (WallTime(START - DAY), WallTime(START + (days - 1) * DAY));
        let columns = reader.columns(id, from, to, count).expect("it can be read");
        assert!(columns == naive(&columns, &kept(&recorded)), "{days} days in {count} columns");
    }
}

#[test]
fn unsaved_samples_older_than_all_saved_ones_are_counted() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).expect("room for one");
    let mut recorded = Vec::new();
    for second in (0..3 * 86_400).step_by(20) {
        let at = WallTime(START + second * SECOND);
        history.record(id, &[sample(0, at)]);
        recorded.push(sample(0, at));
        history.flush(at);
    }
    run(&mut history, id, START - 10 * DAY + 8 * HOUR, 4_000, &mut recorded);
    history.save(WallTime(START - 10 * DAY + 8 * HOUR + 4_000 * SECOND));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    for count in [1, 10, 100, 1_000, 50_000] {
        // Columns that start in the middle of a day without closed data.
        let (from, to) = (WallTime(START - 10 * DAY + 7 * HOUR), WallTime(START + 4 * DAY));
        let columns = reader.columns(id, from, to, count).expect("it can be read");
        let counted: u64 = columns.iter().map(|c| c.tally.sent + c.tally.failed).sum();
        assert_eq!(counted, recorded.len() as u64, "{count} columns");
    }
}

#[test]
fn a_night_in_which_summer_time_ends_has_all_its_hours() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).expect("room for one");
    // 2026-10-25T00:00:00Z: in Berlin, 02:00 to 03:00 occurs twice in this night.
    let midnight = 1_792_886_400 * SECOND;
    let mut recorded = Vec::new();
    run(&mut history, id, midnight, 4 * 3_600, &mut recorded);
    history.save(WallTime(midnight + 4 * HOUR));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let columns =
        reader.columns(id, WallTime(midnight), WallTime(midnight + 4 * HOUR), 4).expect("it can be read");
    let counts: Vec<u64> = columns.iter().map(|c| c.tally.sent + c.tally.failed).collect();
    assert_eq!(counts, [3_600; 4]);
}
