//! A damaged log, checks, repairs and backups.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
use super::support::{DAY, Dir, HOUR, SECOND, START, all, kept, key, open, sample, seldom};
use fathom_units::{Rng, WallTime};
use fathom_watch_samples::Sample;
use fathom_watch_store::{Event, History, HistoryReader, SeriesId};
use std::fs;
use std::path::Path;

/// Records two series every `step` seconds until `end`, saves every minute, and returns the history
/// and the samples of the first series.
fn recording(dir: &Path, end: u64, step: u64) -> (History, Vec<Sample>) {
    let mut history = open(dir, &seldom());
    let ids = ["one", "two"].map(|name| history.series(&key(name)).unwrap());
    let mut recorded = Vec::new();
    for at in (START..end).step_by((step * SECOND) as usize).map(WallTime) {
        ids.iter().for_each(|id| history.record(*id, &[sample(id.0, at)]));
        recorded.push(sample(0, at));
        if (at.0 - START).is_multiple_of(60 * SECOND) {
            assert!(history.save(at).is_empty());
        }
    }
    assert!(history.save(WallTime(end)).is_empty());
    (history, recorded)
}

/// Copies the files of a history, as a killed process leaves them.
fn copied(from: &Path) -> Dir {
    let dir = Dir::new();
    for name in ["history.db", "history.db-wal", "written"] {
        fs::copy(from.join(name), dir.0.join(name)).unwrap();
    }
    dir
}

/// The samples of the first series; what is missing is reported elsewhere.
fn read(dir: &Path) -> Vec<Sample> {
    let mut reader = HistoryReader::open(dir).unwrap();
    reader.samples(SeriesId(0), WallTime(0), WallTime(u64::MAX / 2)).unwrap()
}

/// The events that report a lost period.
fn lost(dir: &Path) -> Vec<(WallTime, WallTime)> {
    let mut reader = HistoryReader::open(dir).unwrap();
    let events = reader.events(WallTime(0), WallTime(u64::MAX / 2)).unwrap();
    let lost = events.into_iter().filter(|(_, event)| event.kind == "lost");
    lost.map(|(_, event)| (event.at, event.until.unwrap())).collect()
}

#[test]
fn one_damaged_bit_of_the_log_is_reported_with_what_it_cost() {
    let dir = Dir::new();
    let end = START + 2 * HOUR;
    let (source, recorded) = recording(&dir.0, end, 2);
    let want = kept(&recorded);
    let log = fs::read(dir.0.join("history.db-wal")).unwrap();
    let (mut rng, mut reported) = (Rng::new(11), 0);
    for round in 0..40 {
        let copy = copied(&dir.0);
        let mut changed = log.clone();
        let place = match round {
            // The log is missing, and so is its second half.
            0 => 0,
            1 => log.len() / 2,
            _ => rng.below(log.len() as u64) as usize,
        };
        match round {
            0 | 1 => changed.truncate(place),
            _ => changed[place] ^= 1 << rng.below(8),
        }
        fs::write(copy.0.join("history.db-wal"), &changed).unwrap();
        let seen = HistoryReader::open(&copy.0).unwrap().verify().unwrap();
        let (mut history, repairs) = History::open(&copy.0, &seldom()).unwrap();
        let found = read(&copy.0);
        let missing: Vec<WallTime> =
            want.iter().filter(|one| !found.contains(one)).map(|one| one.at).collect();
        let (Some(first), Some(last)) = (missing.iter().min(), missing.iter().max()) else {
            assert!(repairs.is_empty() && seen.problems.is_empty(), "byte {place}: {repairs:?} {seen:?}");
            continue;
        };
        reported += 1;
        assert_eq!(repairs.len(), 1, "byte {place}: {repairs:?}");
        assert!(repairs[0].what.contains(" are lost: the end of the write-ahead log is damaged"));
        assert_eq!(seen.problems.len(), 1, "byte {place}: {seen:?}");
        assert_eq!(fs::read(repairs[0].kept.clone().unwrap()).unwrap(), changed);
        assert!(history.save(WallTime(end)).is_empty());
        drop(history);
        let [(from, to)] = lost(&copy.0)[..] else { panic!("byte {place}: {:?}", lost(&copy.0)) };
        assert!(from <= *first && *last <= to, "byte {place}: {first} to {last}, reported {from} to {to}");
        // Only once.
        assert!(History::open(&copy.0, &seldom()).unwrap().1.is_empty());
    }
    assert!(reported > 5, "{reported}");
    drop(source);
}

#[test]
fn a_closed_history_is_one_file() {
    let dir = Dir::new();
    let (mut history, recorded) = recording(&dir.0, START + HOUR, 5);
    // A reader of another process does not keep the log.
    let reader = HistoryReader::open(&dir.0).unwrap();
    let repairs = history.close(WallTime(START + HOUR));
    assert!(repairs.is_empty() && history.status().trouble.is_none());
    let log = fs::metadata(dir.0.join("history.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0);
    drop(reader);
    let alone = Dir::new();
    fs::copy(dir.0.join("history.db"), alone.0.join("history.db")).unwrap();
    assert!(all(&alone.0, SeriesId(0)) == kept(&recorded));
}

#[test]
fn the_log_is_copied_to_the_database_every_ten_minutes() {
    let dir = Dir::new();
    let (history, recorded) = recording(&dir.0, START + 3 * HOUR + 300 * SECOND, 5);
    // Without its log the database still has all but the last minutes.
    let copy = copied(&dir.0);
    fs::remove_file(copy.0.join("history.db-wal")).unwrap();
    let (_history, repairs) = History::open(&copy.0, &seldom()).unwrap();
    assert_eq!(repairs.len(), 1, "{repairs:?}");
    let missing = recorded.len() - read(&copy.0).len();
    assert!(missing * 5 <= 700, "{} s", missing * 5);
    drop(history);
}

#[test]
fn a_backup_is_made_while_the_history_is_written() {
    let dir = Dir::new();
    let (mut history, recorded) = recording(&dir.0, START + DAY, 20);
    let copy = Dir::new();
    let file = copy.0.join("history.db");
    let mut reader = HistoryReader::open(&dir.0).unwrap();
    reader.back_up(&file).unwrap();
    history.record(SeriesId(0), &[sample(0, WallTime(START + DAY))]);
    history.save(WallTime(START + DAY));
    assert_eq!(copy.names(), ["history.db"]);
    assert!(all(&copy.0, SeriesId(0)) == kept(&recorded));
    assert!(HistoryReader::open(&copy.0).unwrap().verify().unwrap().problems.is_empty());
    let again = reader.back_up(&file).unwrap_err().to_string();
    assert!(again.contains("history.db: it already exists"), "{again}");
    let nowhere = reader.back_up(Path::new("/nonexistent/b")).unwrap_err().to_string();
    assert!(nowhere.contains("/nonexistent/b: "), "{nowhere}");
    // It is a history that can be continued.
    let (continued, repairs) = History::open(&copy.0, &seldom()).unwrap();
    assert!(repairs.is_empty() && continued.damaged().is_empty());
}

#[test]
fn a_database_with_a_damaged_page_is_recovered() {
    let good = Dir::new();
    let end = START + 2 * DAY + 7 * HOUR;
    let (mut source, recorded) = recording(&good.0, end, 10);
    let text = "begun".to_owned();
    let series = Some(SeriesId(1));
    source.event(&Event {
        at: WallTime(START),
        until: None,
        series,
        kind: "restart".into(),
        text,
        value: None,
    });
    source.close(WallTime(end));
    let want = kept(&recorded);
    let (mut recovered_all, mut set_aside) = (0, 0);
    for seed in 0..25 {
        let dir = Dir::new();
        let path = dir.0.join("history.db");
        let mut bytes = fs::read(good.0.join("history.db")).unwrap();
        let mut rng = Rng::new(seed);
        let page = rng.below(bytes.len() as u64 / 4_096) as usize * 4_096;
        bytes[page..page + 4_096].fill(rng.next_u64() as u8);
        fs::write(&path, bytes).unwrap();
        let (mut history, _) = History::open(&dir.0, &seldom()).unwrap();
        history.repair();
        // Recording goes on.
        let id = history.series(&key("one")).unwrap();
        let at = WallTime(end + DAY);
        history.record(id, &[sample(0, at)]);
        history.save(at);
        for damaged in history.damaged() {
            set_aside += 1;
            let Ok(recovered) = history.recover(&damaged, at) else { continue };
            assert!(recovered.kept.display().to_string().contains("history.db.recovered-1"), "{recovered:?}");
            assert!(recovered.samples.samples > 0, "seed {seed}: {recovered:?}");
        }
        history.close(at);
        let samples = all(&dir.0, id);
        let found = want.iter().filter(|one| samples.contains(one)).count();
        recovered_all += usize::from(found == want.len());
        // No sample is wrong.
        assert!(samples.iter().all(|one| want.contains(one) || one.at == at), "seed {seed}");
    }
    assert!(set_aside > 5, "{set_aside}");
    assert!(recovered_all >= 15, "{recovered_all} of 25");
}
