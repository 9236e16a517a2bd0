//! A writer that is killed, one with a full disk, and one with a stepped clock; and checks of the
//! result.
use super::{Failure, SECOND, START, config, series};
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_samples::{Code, Outcome, Sample, Stored};
use fathom_watch_store::{History, HistoryReader, SeriesId};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Number of series of the killed writer.
const SERIES: u32 = 50;
/// Seconds of data that a crash may lose because they are not durable yet.
const DURABLE_SECONDS: u64 = 10;
const DAY: u64 = 86_400;

/// The sample of a second; always the same.
fn sample(series: u32, at: WallTime) -> Sample {
    let mut rng = Rng::new(at.0 ^ u64::from(series));
    let rtt = Duration::from_micros(10_000 + rng.exponential(4_000));
    Sample { at, outcome: if rng.chance(0.01) { Outcome::Lost } else { Outcome::Answered(rtt) } }
}

fn at(second: u64) -> WallTime {
    WallTime(START + second * SECOND)
}

fn stored(series: u32, at: WallTime) -> Stored {
    let sample = sample(series, at);
    Stored { code: Code::of(sample.outcome), ..Stored::of(sample) }
}

fn read(reader: &mut HistoryReader, id: SeriesId) -> Result<Vec<Stored>, Failure> {
    Ok(reader.stored(id, WallTime(0), WallTime(u64::MAX / 2))?)
}

/// Continues where the history ends, as fast as the disk allows.
pub(crate) fn write(dir: &Path) -> Result<(), Failure> {
    let (mut history, repairs) = History::open(dir, &config(DURABLE_SECONDS))?;
    if !repairs.is_empty() {
        return Err(format!("{repairs:?}").into());
    }
    let ids = series(&mut history, SERIES)?;
    history.save(at(0));
    let newest = HistoryReader::open(dir)?.newest(SeriesId(0))?;
    let begin = newest.map_or(0, |s| (s.at.0 - START) / SECOND + 1);
    let mut out = std::io::stdout();
    for second in begin.. {
        for id in &ids {
            history.record(*id, &[sample(id.0, at(second))]);
        }
        history.flush(at(second));
        writeln!(out, "{second}")?;
    }
    Ok(())
}

/// Checks that every second is present exactly once and correct; prints the last.
pub(crate) fn check(dir: &Path) -> Result<(), Failure> {
    let (mut history, mut repairs) = History::open(dir, &config(DURABLE_SECONDS))?;
    repairs.extend(history.repair());
    let mut reader = HistoryReader::open(dir)?;
    let mut last = None;
    for (id, _) in reader.series()? {
        let samples = read(&mut reader, id)?;
        let wrong = samples.iter().enumerate().find(|(n, s)| **s != stored(id.0, at(*n as u64)));
        if let Some((n, _)) = wrong {
            return Err(format!("series {} differs in second {n}", id.0).into());
        }
        if last.is_some_and(|l| l != samples.len()) {
            return Err("series end at different seconds".into());
        }
        last = Some(samples.len());
    }
    if !repairs.is_empty() || !reader.faults().is_empty() {
        return Err(format!("{repairs:?}").into());
    }
    println!("{{\"seconds\":{}}}", last.unwrap_or(0));
    Ok(())
}

/// Fills the disk except for some bytes.
fn fill(file: &Path, but: u64) -> Result<(), Failure> {
    let mut size = 0;
    for step in [1 << 20, 1 << 16, 1 << 12] {
        while fs::write(file, vec![1; size + step]).is_ok() {
            size += step;
        }
    }
    Ok(fs::write(file, vec![1; size.saturating_sub(but as usize)])?)
}

/// Another program fills the disk for days and then releases it; `dir` is on its own small disk.
pub(crate) fn full(dir: &Path, seed: u64) -> Result<(), Failure> {
    let mut rng = Rng::new(seed);
    let place = dir.join("history");
    let (mut history, _) = History::open(&place, &config(60))?;
    let ids = series(&mut history, 4)?;
    let (filled, freed) = (DAY / 2 + rng.below(3 * DAY), 2 * DAY + rng.below(2 * DAY));
    let end = filled + freed + DAY;
    let (mut full_seconds, mut troubled_seconds) = (0, 0);
    for second in 0..end {
        if second == filled {
            fill(&dir.join("filler"), rng.below(400_000))?;
        }
        if second == filled + freed {
            fs::remove_file(dir.join("filler"))?;
        }
        for id in &ids {
            history.record(*id, &[sample(id.0, at(second))]);
        }
        let repairs = history.flush(at(second));
        if !repairs.is_empty() {
            return Err(format!("{repairs:?}").into());
        }
        full_seconds += u64::from((filled..filled + freed).contains(&second));
        troubled_seconds += u64::from(history.status().trouble.is_some());
    }
    history.save(at(end));
    let status = history.status().clone();
    if status.trouble.is_some() || !history.repair().is_empty() {
        return Err(format!("{status:?}").into());
    }
    let since = status.room_made_before.map_or(at(0), |t| t.max(at(0)));
    let mut reader = HistoryReader::open(&place)?;
    let mut missing = 0;
    for id in ids {
        let samples: Vec<Stored> = read(&mut reader, id)?.into_iter().filter(|s| s.at() >= since).collect();
        if samples.iter().any(|s| *s != stored(id.0, s.at())) {
            return Err("a sample differs".into());
        }
        let first = (since.0 - START) / SECOND;
        missing += (end - first) - samples.len() as u64;
    }
    if missing != status.dropped_samples {
        return Err(
            format!("{missing} samples are missing, but {} were dropped", status.dropped_samples).into()
        );
    }
    println!(
        "{{\"full_seconds\":{full_seconds},\"troubled_seconds\":{troubled_seconds},\"dropped_samples\":{missing},\"dropped_days\":{}}}",
        (since.0 - START) / SECOND / DAY
    );
    Ok(())
}

/// The clock is stepped now and then, by seconds or days, in either direction.
pub(crate) fn clock(dir: &Path, seed: u64) -> Result<(), Failure> {
    let mut rng = Rng::new(seed);
    let (mut history, _) = History::open(dir, &config(60))?;
    let ids = series(&mut history, 2)?;
    let (mut now, mut steps, mut recorded) = (40 * DAY, 0, [Vec::new(), Vec::new()]);
    for _ in 0..DAY {
        if rng.below(4_000) == 0 {
            let mean = [5, 600, 7_200, 2 * DAY][rng.below(4) as usize];
            let by = rng.exponential(mean);
            now = if rng.chance(0.5) { now + by } else { now.saturating_sub(by) };
            steps += 1;
        }
        for (id, all) in ids.iter().zip(&mut recorded) {
            history.record(*id, &[sample(id.0, at(now))]);
            all.push(stored(id.0, at(now)));
        }
        history.flush(at(now));
        now += 1;
    }
    history.save(at(now));
    let mut reader = HistoryReader::open(dir)?;
    for (id, all) in ids.iter().zip(&mut recorded) {
        all.sort_by_key(|s| s.at_ms);
        if read(&mut reader, *id)? != *all {
            return Err("what was recorded is not what is there".into());
        }
        let (first, last) = (all.first().ok_or("none")?.at(), all.last().ok_or("none")?.at());
        for count in [10, 1_000, 5_000] {
            let columns = reader.columns(*id, first, WallTime(last.0 + SECOND), count)?;
            let counted: u64 = columns.iter().map(|c| c.tally.sent).sum();
            if counted != all.len() as u64 {
                return Err(format!("{counted} of {} samples in {count} columns", all.len()).into());
            }
        }
    }
    println!("{{\"steps\":{steps}}}");
    Ok(())
}
