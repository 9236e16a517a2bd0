//! Measures query times.
use super::{Failure, SECOND};
use fathom_units::WallTime;
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId};
use std::path::Path;
use std::time::Instant;

const DAY: u64 = 86_400 * SECOND;
const COLUMNS: usize = 1_200;
const ROUNDS: usize = 15;

/// Milliseconds of the first call, and the median of later ones.
fn timed(mut what: impl FnMut() -> Result<(), HistoryError>) -> Result<(f64, f64), Failure> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        what()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let first = times.first().copied().unwrap_or(0.0);
    times.sort_by(f64::total_cmp);
    Ok((first, times.get(ROUNDS / 2).copied().unwrap_or(0.0)))
}

/// Queries one series over periods that end at the newest sample, and all series.
pub(crate) fn query(dir: &Path) -> Result<(), Failure> {
    let start = Instant::now();
    let mut reader = HistoryReader::open(dir)?;
    let series = reader.series()?;
    let opened = start.elapsed().as_secs_f64() * 1e3;
    let (one, _) = series.first().ok_or("no series")?;
    let end = reader.newest(*one)?.ok_or("no sample")?.at.0 + SECOND;
    print!("{{\"series\":{},\"open_ms\":{opened:.2}", series.len());
    for (name, span) in [
        ("hour", DAY / 24),
        ("day", DAY),
        ("week", 7 * DAY),
        ("16_days", 16 * DAY),
        ("month", 30 * DAY),
        ("quarter", 91 * DAY),
        ("year", 365 * DAY),
    ] {
        let from = WallTime(end.saturating_sub(span));
        let (first, median) = timed(|| reader.columns(*one, from, WallTime(end), COLUMNS).map(drop))?;
        print!(",\"{name}_first_ms\":{first:.2},\"{name}_ms\":{median:.2}");
    }
    let all: Vec<SeriesId> = series.into_iter().map(|(id, _)| id).collect();
    for (name, span, columns) in [("hour", DAY / 24, 60), ("day", DAY, 144)] {
        let from = WallTime(end.saturating_sub(span));
        let (first, median) = timed(|| reader.overview(&all, from, WallTime(end), columns).map(drop))?;
        print!(",\"all_{name}_first_ms\":{first:.2},\"all_{name}_ms\":{median:.2}");
    }
    println!("}}");
    let faults = reader.faults();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ").into()) }
}
