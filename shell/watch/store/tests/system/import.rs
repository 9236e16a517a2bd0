//! Imports of past samples: each sample once, in every detail, next to recorded ones.
use super::support::{DAY, Dir, HOUR, SECOND, START, all, kept, key, naive, open, sample, seldom};
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Sample, Stored};
use fathom_watch_store::{History, HistoryConfig, HistoryReader, ImportSummary, Retention, SeriesId};

fn past(from: u64, to: u64, step: u64) -> Vec<Sample> {
    (from..to).step_by((step * SECOND) as usize).map(|at| sample(9, WallTime(at))).collect()
}

fn stored(samples: &[Sample]) -> Vec<Stored> {
    samples.iter().map(|s| Stored::of(*s)).collect()
}

fn bring(history: &mut History, id: SeriesId, samples: &[Sample], now: u64) -> ImportSummary {
    history.bring_in(id, &stored(samples), WallTime(now)).expect("it can be written")
}

#[test]
fn twice_is_once_in_every_detail() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).expect("room for one");
    let now = START + 40 * DAY;
    let samples = past(START, START + 30 * DAY, 75);
    let first = bring(&mut history, id, &samples, now);
    assert_eq!(first, ImportSummary { samples: samples.len() as u64, known: 0, out_of_time: 0 });
    let again = bring(&mut history, id, &samples, now);
    assert_eq!(again, ImportSummary { samples: 0, known: samples.len() as u64, out_of_time: 0 });
    drop(history);
    let mut opened = open(&dir.0, &seldom());
    assert_eq!(bring(&mut opened, id, &samples, now).samples, 0, "after opening again");
    assert!(all(&dir.0, id) == kept(&samples));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    for (days, count) in [(1, 1_000), (3, 40), (30, 30), (30, 700), (40, 3)] {
        let (from, to) = (WallTime(START), WallTime(START + days * DAY));
        let columns = reader.columns(id, from, to, count).expect("it can be read");
        assert!(columns == naive(&columns, &kept(&samples)), "{days} days in {count} columns");
    }
}

/// SmokePing ran in parallel with a watch for a day: recorded samples stay, in any table, and
/// nothing is duplicated.
#[test]
fn an_import_keeps_recorded_samples() {
    let dir = Dir::new();
    let mut history = open(&dir.0, &seldom());
    let id = history.series(&key("one")).expect("room for one");
    let (begun, end) = (START + 2 * DAY + 5 * HOUR, START + 4 * DAY + 3 * HOUR);
    let mut recorded = Vec::new();
    for at in (begun..end).step_by(10 * SECOND as usize).map(WallTime) {
        history.record(id, &[sample(0, at)]);
        recorded.push(sample(0, at));
        assert!(history.flush(at).is_empty());
    }
    let older = past(START, end - HOUR, 15);
    let brought = bring(&mut history, id, &older, end);
    let wanted: Vec<Sample> = older.iter().copied().filter(|s| s.at.0 < begun).collect();
    assert_eq!(brought.samples, wanted.len() as u64, "{brought:?}");
    assert_eq!(bring(&mut history, id, &older, end).samples, 0);
    let both = kept(&[wanted, recorded].concat());
    assert!(history.save(WallTime(end)).is_empty());
    assert!(all(&dir.0, id) == both);
    // Everything open is compacted together with the import.
    for hours in 0..60 {
        history.save(WallTime(end + hours * HOUR));
    }
    assert!(all(&dir.0, id) == both);
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    for count in [5, 24, 2_000] {
        let columns = reader.columns(id, WallTime(START), WallTime(end), count).expect("it can be read");
        assert!(columns == naive(&columns, &both), "{count} columns");
    }
}

/// Samples older than the retention of single samples become histograms; those older than that of
/// histograms are skipped.
#[test]
fn imported_detail_matches_its_age() {
    let dir = Dir::new();
    let days = |n: u64| Some(Duration::from_secs(n * 86_400));
    let keep = Retention { samples: days(10), ten_minutes: days(30), hours: None, days: None };
    let config = HistoryConfig { keep, ..seldom() };
    let mut history = open(&dir.0, &config);
    let id = history.series(&key("one")).expect("room for one");
    let now = START + 50 * DAY;
    let samples = past(START, now, 300);
    let brought = bring(&mut history, id, &samples, now);
    let of = |from: u64, to: u64| samples.iter().filter(|s| (from..to).contains(&s.at.0)).count() as u64;
    // Slots of the last twenty minutes belong to the watch.
    let until = now - 1_200 * SECOND;
    assert_eq!(brought.samples, of(now - 30 * DAY, until));
    assert_eq!(brought.out_of_time, of(0, now - 30 * DAY) + of(until, now));
    assert_eq!(all(&dir.0, id).len() as u64, of(now - 10 * DAY, until));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let columns = reader.columns(id, WallTime(START), WallTime(now), 50).expect("it can be read");
    let sent: u64 = columns.iter().map(|c| c.tally.sent + c.tally.failed).sum();
    assert_eq!(sent, brought.samples);
    assert_eq!(bring(&mut history, id, &samples, now).samples, 0);
}
