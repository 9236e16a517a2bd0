//! A disk that is full: recording goes on, the oldest detail goes first, and all is well once there is room.
use super::support::{DAY, Dir, HOUR, SECOND, START, all, kept, key, open, sample, seldom};
use fathom_units::WallTime;
use fathom_watch_samples::Sample;
use fathom_watch_store::{History, HistoryConfig, HistoryReader, SeriesId};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In the environment of a child: the small disk.
const CHILD: &str = "FATHOM_TEST_HISTORY_DISK";
/// Series that are written.
const SERIES: u32 = 4;
/// Seconds from one sample of a series to the next.
const STEP: u64 = 5;

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
    /// What is on the disk is what was recorded since a time, all of it.
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
        assert!(self.history.verify().is_empty());
    }
}

/// Takes all that is left of the disk but some bytes.
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

/// Not a test of its own: what is done on the small disk that the test below mounts.
#[test]
fn child_on_a_small_disk() {
    let Some(disk) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let dir = disk.join("history");
    let mut writer = Writer::new(&dir, &seldom());
    writer.run(5 * DAY);
    writer.check_since(&dir, START);
    assert_eq!(writer.history.status().room_made_before, None);
    // Another program takes the disk. What is old makes room for what is new.
    fill(&disk, 0);
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
    // And gives it back.
    fs::remove_file(disk.join("filler")).expect("it is there");
    writer.run(DAY);
    writer.check_since(&dir, before);
}

/// Not a test of its own either: a disk on which there is nothing to drop.
#[test]
fn child_on_a_disk_without_room() {
    let Some(disk) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let dir = disk.join("history");
    let config = HistoryConfig { unsaved_samples: 8_000, ..seldom() };
    let mut writer = Writer::new(&dir, &config);
    writer.run(HOUR);
    writer.check_since(&dir, START);
    fill(&disk, 0);
    writer.run(26 * HOUR);
    let trouble = writer.history.status().trouble.clone().expect("it cannot be written");
    assert!(trouble.text.contains("Samples are kept in memory, up to 8000 of them"), "{}", trouble.text);
    assert!(trouble.since.0 > START + HOUR && trouble.since.0 < writer.at, "{}", trouble.since);
    let status = writer.history.status();
    assert!(status.dropped_samples > 0 && status.unsaved_samples <= 8_000, "{status:?}");
    fs::remove_file(disk.join("filler")).expect("it is there");
    writer.history.save(WallTime(writer.at));
    assert_eq!(writer.history.status().trouble, None, "it recovers by itself");
    assert_eq!(writer.history.status().unsaved_samples, 0);
    // The newest are those that were kept.
    let newest = writer.at - 8_000 / u64::from(SERIES) * STEP * SECOND;
    for id in &writer.ids {
        let of_disk = all(&dir, *id);
        let want: Vec<Sample> =
            kept(&writer.recorded[id.0 as usize]).into_iter().filter(|s| s.at.0 > newest).collect();
        assert!(of_disk.ends_with(&want), "{id:?}");
    }
}

/// Runs a test of this file on a disk of its own, which is gone with the process.
fn on_a_disk_of(size: &str, child: &str) {
    let dir = Dir::new();
    let script =
        format!("mount -t tmpfs -o size={size} none \"$1\" && exec \"$0\" --exact full::{child} --nocapture");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().expect("this test"))
        .arg(&dir.0)
        .env(CHILD, &dir.0)
        .output()
        .expect("unshare is there");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "as root?\n{}", String::from_utf8_lossy(&text));
}

#[test]
fn on_a_full_disk_the_oldest_detail_makes_room() {
    on_a_disk_of("12m", "child_on_a_small_disk");
}

#[test]
fn without_anything_to_drop_samples_are_kept_in_memory() {
    on_a_disk_of("7m", "child_on_a_disk_without_room");
}
