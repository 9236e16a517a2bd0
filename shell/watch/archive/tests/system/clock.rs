//! A wrong clock and data that arrives later leave no hour incomplete.
use crate::objects::{objects, samples};
use crate::past::{HOUR, Past, START, fixed, settable, until};
use fathom_watch_archive::{Archiver, Store};
use std::sync::atomic::Ordering;

const MINUTE: u64 = HOUR / 60;

#[test]
fn hours_are_complete_after_a_clock_that_was_a_day_ahead() {
    let mut past = Past::new(10);
    let folder = past.new_folder("disk");
    past.record(START, START + 10 * HOUR + 20 * MINUTE);
    let (hand, clock) = settable(START + 10 * HOUR + 20 * MINUTE);
    let archive = past.archive("far", Store::Folder(folder.clone()));
    let running = Archiver::start_with_clock(archive, &past.dir(), clock);
    past.wait_until_sent("far", START + 9 * HOUR);
    // For two hours, the clock is a day ahead.
    let ahead = START + 34 * HOUR + 20 * MINUTE;
    past.record(ahead, ahead + 2 * HOUR);
    hand.store(ahead + 2 * HOUR, Ordering::SeqCst);
    past.wait_until_sent("far", START + 35 * HOUR);
    assert!(objects(&folder).contains_key("samples/site=berlin/date=2026-01-05/10.parquet"), "half of it");
    // It is corrected within an hour that is already sent, and the watch goes on.
    hand.store(START + 12 * HOUR + 20 * MINUTE, Ordering::SeqCst);
    let note = until("a note", || running.notes().pop()).text;
    assert_eq!(
        note,
        "archive far: the clock was set back: sent until 2026-01-06T11:00:00.000Z, sending again from 2026-01-05T12:00:00.000Z"
    );
    for hour in 12..38 {
        past.record(START + hour * HOUR + 20 * MINUTE, START + (hour + 1) * HOUR + 20 * MINUTE);
    }
    past.record(START + 38 * HOUR + 20 * MINUTE, START + 38 * HOUR + 30 * MINUTE);
    hand.store(START + 38 * HOUR + 30 * MINUTE, Ordering::SeqCst);
    past.wait_until_sent("far", START + 38 * HOUR);
    // The comparison of recent hours follows.
    let truth = past.truth(0, START + 38 * HOUR);
    until("all samples", || (samples(&objects(&folder)) == truth).then_some(()));
    running.stop();
}

#[test]
fn a_clock_that_starts_in_the_past_sends_nothing_again_but_its_own_hour() {
    let mut past = Past::new(30);
    let folder = past.new_folder("disk");
    past.record(START, START + 60 * HOUR);
    past.archive_to_folder("far", &folder, START + 60 * HOUR, START + 59 * HOUR);
    let before = past.sent("far").unwrap().objects;
    // A minute without the time, 200 days ago.
    let wrong = START - 200 * 24 * HOUR + MINUTE;
    past.record(wrong, wrong + MINUTE);
    let (hand, clock) = settable(wrong + MINUTE);
    let archive = past.archive("far", Store::Folder(folder.clone()));
    let running = Archiver::start_with_clock(archive, &past.dir(), clock);
    let note = until("a note", || running.notes().pop()).text;
    assert!(note.contains("sending again from 2025-06-19T00:00:00.000Z"), "{note}");
    past.record(START + 60 * HOUR, START + 61 * HOUR);
    hand.store(START + 61 * HOUR, Ordering::SeqCst);
    past.wait_until_sent("far", START + 60 * HOUR);
    running.stop();
    assert!(samples(&objects(&folder)) == past.truth(0, START + 60 * HOUR));
    assert_eq!(past.sent("far").unwrap().objects, before + 2 + 2, "two hours, and no other");
}

#[test]
fn an_hour_that_was_sent_is_sent_again_when_samples_are_added() {
    let mut past = Past::new(30);
    let folder = past.new_folder("disk");
    past.record(START, START + 60 * HOUR);
    let now = START + 60 * HOUR;
    past.archive_to_folder("far", &folder, now, START + 59 * HOUR);
    let before = past.sent("far").unwrap().objects;
    past.import("imported", START + 20 * HOUR, START + 23 * HOUR, now);
    // The comparison follows at the start, but after the cursor.
    let run = |from: &Past| {
        let archive = from.archive("far", Store::Folder(folder.clone()));
        Archiver::start_with_clock(archive, &from.dir(), fixed(now))
    };
    let is_complete = |of: &Past| samples(&objects(&folder)) == of.truth(0, START + 59 * HOUR);
    let running = run(&past);
    until("the imported samples", || is_complete(&past).then_some(()));
    running.stop();
    assert_eq!(past.sent("far").unwrap().objects, before + 2 * 3, "three hours, and no other");
    // Only two days are compared; an older import needs a new cursor.
    past.import("older", START, START + 2 * HOUR, now);
    let again = run(&past);
    std::fs::remove_file(past.dir().join("archive-far.json")).unwrap();
    until("the older samples", || is_complete(&past).then_some(()));
    again.stop();
}
