//! Corruption in every part of the files: reported, moved aside, and the rest remains usable.
use super::support::{DAY, Dir, HOUR, SECOND, START, key, open, sample, seldom};
use fathom_units::{Rng, WallTime};
use fathom_watch_store::{Event, History, HistoryConfig, HistoryError, HistoryReader};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

const END: u64 = START + DAY + 7 * HOUR + 1_500 * SECOND;

/// A history with rows in every table.
fn make(dir: &Dir) {
    let mut history = open(&dir.0, &seldom());
    let ids = ["one", "two"].map(|name| history.series(&key(name)).expect("room for two"));
    for at in (START..END).step_by(10 * SECOND as usize).map(WallTime) {
        ids.iter().for_each(|id| history.record(*id, &[sample(id.0, at)]));
        assert!(history.flush(at).is_empty());
    }
    let kind = "restart".to_string();
    history.event(&Event {
        at: WallTime(START),
        until: None,
        series: None,
        kind,
        text: "begun".into(),
        value: None,
    });
    history.save(WallTime(END));
}

/// The history can be written and read, and needs no further repair.
fn works(dir: &Path, seed: u64) {
    let mut history = open(dir, &seldom());
    let id = history.series(&key("after")).expect("room for one more");
    let at = WallTime(END + DAY);
    history.record(id, &[sample(id.0, at)]);
    let mended = history.save(at);
    assert_eq!(history.status().trouble, None, "seed {seed}: {mended:?}");
    let mut reader = HistoryReader::open(dir).expect("there is a history");
    assert_eq!(reader.newest(id).expect("it can be read").map(|s| s.at), Some(at), "seed {seed}");
    let (from, to) = (WallTime(START), WallTime(at.0 + SECOND));
    for count in [10, 400] {
        let columns = reader.columns(id, from, to, count).expect("it can be read");
        assert_eq!(columns.iter().map(|c| c.tally.sent + c.tally.failed).sum::<u64>(), 1, "seed {seed}");
    }
}

/// Column counts of a month that use days, hours, ten minutes, and samples.
const COUNTS: [usize; 4] = [1, 200, 1_000, 200_000];

fn sum(reader: &mut HistoryReader, count: usize) -> u64 {
    let series = reader.series().expect("it can be read");
    let columns = |(id, _)| {
        reader.columns(id, WallTime(START), WallTime(START + 30 * DAY), count).expect("it can be read")
    };
    series.into_iter().flat_map(columns).map(|c| c.tally.sent + c.tally.failed).sum()
}

#[test]
fn a_damaged_row_of_each_table_is_named_and_the_rest_is_read() {
    for table in ["part", "chunk", "recent", "ten_minutes", "hours", "days", "journal"] {
        let dir = Dir::new();
        make(&dir);
        let db = Connection::open(dir.0.join("history.db")).expect("a database");
        let all = (END - START).div_ceil(10 * SECOND) * 2;
        let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
        for count in COUNTS {
            assert_eq!(sum(&mut reader, count), all, "{table}");
        }
        let change = format!(
            "UPDATE {table} SET packed = CAST(substr(packed, 1, 20) || x'55aa' || substr(packed, 23) AS BLOB)
             WHERE id = (SELECT max(id) FROM {table})"
        );
        assert_eq!(db.execute(&change, []).expect("it can be changed"), 1);
        drop(db);
        // A reader returns the rest and reports what is missing.
        reader = HistoryReader::open(&dir.0).expect("there is a history");
        let least = COUNTS.map(|count| sum(&mut reader, count)).into_iter().min();
        assert!(least.is_some_and(|n| n < all && n > all / 4), "{table}: {least:?} of {all}");
        let faults = reader.faults();
        assert!(!faults.is_empty() && faults.iter().all(|f| f.contains(table)), "{table}: {faults:?}");
        // The writer moves it aside.
        let (mut history, mut repairs) = History::open(&dir.0, &seldom()).expect("it opens");
        repairs.extend(history.repair());
        drop(history);
        assert_eq!(repairs.len(), 1, "{table}: {repairs:?}");
        let kept = repairs[0].kept.clone().expect("it is kept");
        assert!(kept.exists() && kept.display().to_string().ends_with(".corrupt-1"), "{kept:?}");
        assert!(repairs[0].to_string().contains(table), "{}", repairs[0]);
        works(&dir.0, 0);
    }
}

#[test]
fn the_writer_meets_a_damaged_part_when_it_puts_a_chunk_together() {
    let dir = Dir::new();
    make(&dir);
    let db = Connection::open(dir.0.join("history.db")).expect("a database");
    db.execute("UPDATE part SET packed = x'00' WHERE id = (SELECT min(id) FROM part)", []).expect("it can");
    drop(db);
    let mut history = open(&dir.0, &seldom());
    let repairs = history.save(WallTime(END + 6 * HOUR));
    assert_eq!(repairs.len(), 1, "{repairs:?}");
    assert!(repairs[0].what.contains("of part is truncated and was removed"), "{}", repairs[0]);
    drop(history);
    works(&dir.0, 0);
}

#[test]
fn a_damaged_name_is_reported_and_its_samples_are_kept() {
    let dir = Dir::new();
    make(&dir);
    let db = Connection::open(dir.0.join("history.db")).expect("a database");
    db.execute("UPDATE series SET target = 'onf' WHERE target = 'one'", []).expect("it can be changed");
    drop(db);
    let (mut history, repairs) = History::open(&dir.0, &seldom()).expect("it opens");
    assert!(repairs.len() == 1 && repairs[0].what.contains("damaged-0"), "{repairs:?}");
    history.save(WallTime(END));
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let names: Vec<String> =
        reader.series().expect("it can be read").into_iter().map(|(_, key)| key.target).collect();
    assert_eq!(names, ["damaged-0", "two"]);
    drop(history);
    works(&dir.0, 0);
}

/// Corrupts the database, depending on the case number.
fn damage(path: &Path, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut bytes = fs::read(path).expect("a database");
    match seed {
        0 => bytes.clear(),
        1 => bytes.truncate(50),
        2 => bytes.truncate(4_096 + 100),
        3 => bytes.truncate(bytes.len() / 2),
        4 => bytes = b"hello\n".repeat(1_000),
        5 => bytes.fill(0),
        6 => bytes.fill(0xff),
        // The header, field by field.
        7..30 => bytes[(seed as usize - 7) * 4 + 1] ^= 0x41,
        // A few pages and single bytes.
        30..45 => {
            let page = rng.below(bytes.len() as u64 / 4_096) as usize * 4_096;
            bytes[page..page + 4_096].fill(rng.next_u64() as u8);
        }
        _ => {
            for _ in 0..20 {
                let place = rng.below(bytes.len() as u64) as usize;
                bytes[place] = rng.next_u64() as u8;
            }
        }
    }
    fs::write(path, bytes).expect("it can be written");
}

#[test]
fn a_damaged_file_is_set_aside_or_read_and_recording_continues() {
    let good = Dir::new();
    make(&good);
    let mut set_aside = 0;
    for seed in 0..60 {
        let dir = Dir::new();
        fs::copy(good.0.join("history.db"), dir.0.join("history.db")).expect("it can be copied");
        damage(&dir.0.join("history.db"), seed);
        let opened = History::open(&dir.0, &seldom());
        let (mut history, mut repairs) = match opened {
            Ok(opened) => opened,
            // One bit of the version makes it a later one.
            Err(error @ HistoryError::Newer { .. }) => {
                assert!(error.to_string().contains("use a newer fathom"), "{error}");
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        repairs.extend(history.repair());
        repairs.extend(history.save(WallTime(END)));
        drop(history);
        set_aside += usize::from(!repairs.is_empty());
        assert!(repairs.iter().all(|r| !r.what.is_empty()), "seed {seed}");
        works(&dir.0, seed);
    }
    assert!(set_aside >= 30, "{set_aside}");
}

#[test]
fn the_file_is_damaged_while_it_is_written() {
    let dir = Dir::new();
    make(&dir);
    let mut history = open(&dir.0, &HistoryConfig::default());
    let id = history.series(&key("one")).expect("it is known");
    let mut reader = HistoryReader::open(&dir.0).expect("there is a history");
    let bytes = fs::read(dir.0.join("history.db")).expect("a database").len();
    fs::write(dir.0.join("history.db"), vec![0x77; bytes]).expect("it can be written");
    let mut repairs = Vec::new();
    for n in 0..100 {
        let at = WallTime(END + n * 10 * SECOND);
        history.record(id, &[sample(0, at)]);
        repairs.extend(history.save(at));
    }
    repairs.extend(history.repair());
    assert!(
        !repairs.is_empty() && dir.names().iter().any(|n| n == "history.db.corrupt-1"),
        "{:?}",
        dir.names()
    );
    assert_eq!(history.status().trouble, None);
    // The series keeps its number, and readers find the new file.
    let since = reader.samples(id, WallTime(END), WallTime(END + DAY)).expect("it can be read");
    assert!(since.len() >= 90, "{}", since.len());
    drop(history);
    works(&dir.0, 0);
}

#[test]
fn an_unusable_store_is_reported_in_one_line() {
    let dir = Dir::new();
    make(&dir);
    let first = open(&dir.0, &seldom());
    let second = History::open(&dir.0, &seldom()).map(|_| ()).expect_err("one is enough").to_string();
    let process = std::process::id();
    let want = format!("is in use by process {process}: stop it, or use another directory");
    assert!(second.contains(&want), "{second}");
    drop(first);
    drop(open(&dir.0, &seldom()));
    let none = HistoryReader::open(&dir.0.join("none")).map(|_| ()).expect_err("there is none").to_string();
    assert!(none.ends_with("none/history.db does not exist"), "{none}");
    let file = dir.0.join("file");
    fs::write(&file, "x").expect("it can be written");
    let in_a_file = History::open(&file, &seldom()).map(|_| ()).expect_err("not a directory").to_string();
    assert!(in_a_file.contains("file: ") && in_a_file.lines().count() == 1, "{in_a_file}");
    // The database of another program is refused, and not changed.
    let other = Dir::new();
    let db = Connection::open(other.0.join("history.db")).expect("a new one");
    db.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (5)").expect("it can be written");
    drop(db);
    let refused = History::open(&other.0, &seldom()).map(|_| ()).expect_err("not ours").to_string();
    assert!(refused.ends_with("is the database of another program: use another directory"), "{refused}");
    let aside = Connection::open(other.0.join("history.db")).expect("the other one");
    let x: i64 = aside.query_row("SELECT x FROM t", [], |row| row.get(0)).expect("it is unchanged");
    assert_eq!(x, 5);
}
