//! Processes started by the tests of the history: `write DIR` runs until it is killed;
//! `small-disk DIR` and `disk-without-room DIR` run on a small file system mounted at DIR. They
//! exit with an error if a check fails.
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/system/support.rs"]
mod support;

use fathom_units::WallTime;
use fathom_watch_samples::Sample;
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId};
use std::fs;
use std::io::Write;
use std::path::Path;
use support::{DAY, HOUR, KILLED_STEP, SECOND, START, all, kept, key, killed_config, open, sample, seldom};

/// Number of series written by the killed process.
const KILLED_SERIES: u32 = 8;
/// Number of series written on a small disk.
const SERIES: u32 = 4;
/// Seconds between samples of such a series.
const STEP: u64 = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", dir] => write(Path::new(dir)),
        ["small-disk", disk] => small_disk(Path::new(disk)),
        ["disk-without-room", disk] => disk_without_room(Path::new(disk)),
        _ => panic!("usage: see the first lines of this example"),
    }
}

/// Records samples round-robin and prints the number of each, until it is killed.
fn write(dir: &Path) {
    let mut history = open(dir, &killed_config());
    let ids: Vec<SeriesId> = (0..KILLED_SERIES)
        .map(|n| history.series(&key(&format!("target-{n}"))).expect("there is room"))
        .collect();
    let mut out = std::io::stdout();
    for n in all(dir, ids[0]).len() as u64.. {
        let at = WallTime(START + n * KILLED_STEP * SECOND);
        for id in &ids {
            history.record(*id, &[sample(id.0, at)]);
        }
        assert!(history.flush(at).is_empty());
        // A printed number was already recorded.
        writeln!(out, "recorded {n}").expect("the test listens");
    }
}

struct Writer {
    history: History,
    ids: Vec<SeriesId>,
    at: u64,
    recorded: Vec<Vec<Sample>>,
}

impl Writer {
    fn new(dir: &Path, config: &HistoryConfig) -> Writer {
        let mut history = open(dir, config);
        let ids = (0..SERIES).map(|n| history.series(&key(&format!("target-{n}"))).expect("room")).collect();
        Writer { history, ids, at: START, recorded: vec![Vec::new(); SERIES as usize] }
    }
    fn run(&mut self, nanos: u64) {
        let end = self.at + nanos;
        while self.at < end {
            let at = WallTime(self.at);
            for id in &self.ids {
                self.history.record(*id, &[sample(id.0, at)]);
                self.recorded[id.0 as usize].push(sample(id.0, at));
            }
            assert!(self.history.flush(at).is_empty());
            self.at += STEP * SECOND;
        }
    }
    /// Checks that the disk holds everything recorded since a time.
    fn check_since(&mut self, dir: &Path, since: u64) {
        let repairs = self.history.save(WallTime(self.at));
        assert!(repairs.is_empty(), "{repairs:?}");
        assert_eq!(self.history.status().trouble, None);
        assert_eq!(self.history.status().dropped_samples, 0);
        for id in &self.ids {
            let since = |samples: Vec<Sample>| -> Vec<Sample> {
                samples.into_iter().filter(|s| s.at.0 >= since).collect()
            };
            assert!(since(all(dir, *id)) == since(kept(&self.recorded[id.0 as usize])), "{id:?}");
        }
        assert!(self.history.repair().is_empty());
    }
}

/// Fills the disk except for some bytes.
fn fill(dir: &Path, but: usize) {
    let filler = dir.join("filler");
    let mut size = 0;
    for chunk in [1 << 20, 1 << 16, 1 << 12] {
        while fs::write(&filler, vec![1; size + chunk]).is_ok() {
            size += chunk;
        }
    }
    fs::write(&filler, vec![1; size.saturating_sub(but)]).expect("it was as large");
}

/// On a full disk, the oldest detail is dropped to make room.
fn small_disk(disk: &Path) {
    let dir = disk.join("history");
    let mut writer = Writer::new(&dir, &seldom());
    writer.run(5 * DAY);
    writer.check_since(&dir, START);
    assert_eq!(writer.history.status().room_made_before, None);
    // Another program fills the disk. Old detail makes room for new samples.
    fill(disk, 0);
    writer.run(3 * DAY);
    let before = writer.history.status().room_made_before.expect("room was made").0;
    assert!(before > START && before < writer.at - DAY, "{before}");
    writer.check_since(&dir, before);
    let mut reader = HistoryReader::open(&dir).expect("there is a history");
    let events = reader.events(WallTime(START), WallTime(writer.at)).expect("it can be read");
    assert!(events.iter().any(|(_, e)| e.kind == "disk-full"), "{events:?}");
    let whole =
        reader.columns(writer.ids[0], WallTime(START), WallTime(writer.at), 4).expect("it can be read");
    let counted: u64 = whole.iter().map(|c| c.tally.sent + c.tally.failed).sum();
    assert_eq!(counted, writer.recorded[0].len() as u64, "histograms of what was dropped are kept");
    // It releases the space.
    fs::remove_file(disk.join("filler")).expect("it is there");
    writer.run(DAY);
    writer.check_since(&dir, before);
}

/// On a full disk with nothing to drop, samples stay in memory.
fn disk_without_room(disk: &Path) {
    let dir = disk.join("history");
    let config = HistoryConfig { unsaved_samples: 8_000, ..seldom() };
    let mut writer = Writer::new(&dir, &config);
    writer.run(HOUR);
    writer.check_since(&dir, START);
    fill(disk, 0);
    writer.run(13 * HOUR);
    // Also what was released since.
    fill(disk, 0);
    writer.run(13 * HOUR);
    let trouble = writer.history.status().trouble.clone().expect("it cannot be written");
    assert!(trouble.text.contains("Up to 8000 samples are kept in memory"), "{}", trouble.text);
    assert!(trouble.since.0 > START + HOUR && trouble.since.0 < writer.at, "{}", trouble.since);
    let status = writer.history.status();
    assert!(status.dropped_samples > 0 && status.unsaved_samples <= 8_000, "{status:?}");
    fs::remove_file(disk.join("filler")).expect("it is there");
    writer.history.save(WallTime(writer.at));
    assert_eq!(writer.history.status().trouble, None, "it recovers by itself");
    assert_eq!(writer.history.status().unsaved_samples, 0);
    // The newest samples are those that were kept.
    let newest = writer.at - 8_000 / u64::from(SERIES) * STEP * SECOND;
    for id in &writer.ids {
        let of_disk = all(&dir, *id);
        let want: Vec<Sample> =
            kept(&writer.recorded[id.0 as usize]).into_iter().filter(|s| s.at.0 > newest).collect();
        assert!(of_disk.ends_with(&want), "{id:?}");
    }
}
