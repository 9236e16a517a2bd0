//! A folder has every sample of the history, in the same bytes whenever it is written.
use crate::objects::{objects, of_kind, samples, windows, windows_of};
use crate::past::{HOUR, Past, START, fixed, until};
use fathom_watch_archive::{Archiver, Store};
use fathom_watch_samples::Unit;
use std::fs;

/// 22 minutes, after which an hour is settled.
const SETTLED: u64 = 22 * 60 * 1_000_000_000;

#[test]
fn a_folder_has_every_sample_once_and_the_same_bytes_again() {
    let mut past = Past::new(5);
    // Six-hour chunks, ten-minute parts and a journal; and a gap of a day.
    past.record(START + 90 * 60 * 1_000_000_000, START + 20 * HOUR);
    past.record(START + 44 * HOUR, START + 58 * HOUR + 20 * 60 * 1_000_000_000);
    let run = br#"{"started":"2026-01-04T23:10:00.000Z"}"#;
    past.result("a.json", run);
    past.result("b \u{e9}.json.gz", b"not packed");
    let first = past.new_folder("first");
    let end = START + 57 * HOUR;
    past.archive_to_folder("first", &first, START + 58 * HOUR + SETTLED, end);
    let all = objects(&first);
    let truth = past.truth(0, end);
    assert_eq!(truth.len(), 3 * 720 * (19 + 13) - 3 * 360);
    assert!(samples(&all) == truth, "each sample is there once");
    assert!(windows(&all) == windows_of(&truth));
    assert_eq!(of_kind(&all, "samples/").count(), 19 + 13, "an hour without samples has no object");
    assert_eq!(of_kind(&all, "windows/").count(), 19 + 13);
    assert!(all.contains_key("samples/site=berlin/date=2026-01-06/20.parquet"));
    let site = br#"{"labels":{"line":"fiber","region":"eu"},"site":"berlin"}"#;
    assert_eq!(all["sites/site=berlin/site.json"], site);
    assert_eq!(all["runs/site=berlin/date=2026-01-04/a.json"], run);
    let today = fathom_os::clock::wall_now().date();
    assert_eq!(all[&format!("runs/site=berlin/date={today}/b \u{e9}.json.gz")], b"not packed");
    assert_eq!(all.len(), 2 * (19 + 13) + 3, "and nothing else: {:?}", all.keys());
    // Nothing is sent again, and the cursor file can be removed.
    let sent = past.sent("first").unwrap();
    assert_eq!((sent.objects, sent.refused, sent.results), (all.len() as u64, 0, 2));
    past.archive_to_folder("first", &first, START + 58 * HOUR + SETTLED, end);
    assert_eq!(past.sent("first").unwrap(), sent);
    // The site has other labels.
    let mut other = past.archive("first", Store::Folder(first.clone()));
    other.labels.truncate(1);
    let running = Archiver::start_with_clock(other, &past.dir(), fixed(START + 58 * HOUR + SETTLED));
    until("the site", || past.sent("first").filter(|now| now.objects == sent.objects + 1));
    running.stop();
    let changed = objects(&first);
    assert_eq!(changed["sites/site=berlin/site.json"], br#"{"labels":{"region":"eu"},"site":"berlin"}"#);
    // Later, the same samples are stored in another form.
    past.record(START + 60 * HOUR, START + 120 * HOUR);
    let second = past.new_folder("second");
    past.archive_to_folder("second", &second, START + 119 * HOUR + SETTLED, START + 119 * HOUR);
    let again = objects(&second);
    assert_eq!(of_kind(&again, "samples/").count(), 19 + 15 + 59);
    let differ: Vec<&String> =
        all.iter().filter(|(key, bytes)| again.get(*key) != Some(bytes)).map(|(key, _)| key).collect();
    assert_eq!(differ, Vec::<&String>::new());
}

#[test]
fn the_order_in_which_series_were_added_does_not_matter() {
    let archived = |order: &[(&str, &str, Unit)]| {
        let mut past = Past::new(60);
        for (target, probe, unit) in order {
            past.series(target, probe, *unit);
        }
        past.record(START, START + 3 * HOUR);
        let folder = past.new_folder("disk");
        past.archive_to_folder("far", &folder, START + 3 * HOUR, START + 2 * HOUR);
        objects(&folder)
    };
    let this_host = ("this host", "eth0 sent", Unit::BitsPerSecond);
    let mut order = [this_host, ("a=b/c", "icmp", Unit::Seconds), ("d", "hop 3", Unit::Seconds)];
    let first = archived(&order);
    order.reverse();
    assert!(archived(&order) == first);
    assert_eq!(first.len(), 2 * 2 + 1);
}

#[test]
fn a_folder_that_is_missing_is_named_and_tried_again() {
    let mut past = Past::new(30);
    past.record(START, START + 3 * HOUR);
    let folder = past.folder.path().join("disk");
    let archive = past.archive("far", Store::Folder(folder.clone()));
    let running = Archiver::start_with_clock(archive, &past.dir(), fixed(START + 3 * HOUR));
    let note = until("a note", || running.notes().pop()).text;
    let expected = format!("{}: No such file or directory: create or mount it", folder.display());
    assert!(note.contains(&expected) && note.contains("sites/site=berlin/site.json"), "{note}");
    assert!(!folder.exists(), "a disk that is not mounted is not written to");
    fs::create_dir(&folder).unwrap();
    past.wait_until_sent("far", START + 2 * HOUR);
    let end = until("a note", || running.notes().pop()).text;
    assert!(end.contains("reachable again, after failing since 2026-01-05T03:00:00.000Z"), "{end}");
    running.stop();
    assert!(samples(&objects(&folder)) == past.truth(0, START + 2 * HOUR));
}

#[test]
fn samples_that_were_dropped_before_they_were_sent_are_noted() {
    use fathom_units::{Duration, WallTime};
    use fathom_watch_store::{History, HistoryConfig, Retention};
    let mut past = Past::new(60);
    past.record(START, START + 30 * HOUR);
    let folder = past.new_folder("disk");
    past.archive_to_folder("far", &folder, START + 10 * HOUR, START + 9 * HOUR);
    past.record(START + 30 * HOUR, START + 80 * HOUR);
    // An outage of three days, and samples are kept for one.
    let (dir, temporary) = (past.dir(), past.folder);
    let keep = Retention { samples: Some(Duration::from_secs(86_400)), ..Retention::default() };
    drop(past.history);
    let config = HistoryConfig { keep, ..HistoryConfig::default() };
    let (mut history, _) = History::open(&dir, &config).unwrap();
    for hour in 0..4 {
        history.save(WallTime(START + (81 + hour) * HOUR));
    }
    drop(history);
    let archive = fathom_watch_archive::Archive {
        name: "far".into(),
        to: Store::Folder(folder.clone()),
        site: "berlin".into(),
        labels: Vec::new(),
        hops: fathom_watch_archive::Hops::none(),
        results: None,
    };
    let running = Archiver::start_with_clock(archive, &dir, fixed(START + 85 * HOUR));
    let mut notes = Vec::new();
    until("a note", || {
        notes.extend(running.notes().into_iter().map(|note| note.text));
        notes.iter().any(|text| text.contains("were dropped")).then_some(())
    });
    let expected =
        "archive far: samples from 2026-01-05T09:00:00.000Z to 2026-01-07T00:00:00.000Z were dropped unsent";
    assert_eq!(notes, [expected]);
    running.stop();
    drop(temporary);
}
