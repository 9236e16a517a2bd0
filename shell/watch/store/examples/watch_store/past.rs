//! The past of a site, for `bench/fleet/engine.py`: three targets.
use super::line::{Line, PROFILES};
use super::{Failure, SECOND, config};
use fathom_units::WallTime;
use fathom_watch_samples::{Sample, Unit};
use fathom_watch_store::{History, SeriesKey};
use std::path::Path;

/// The targets of a site, which a configuration must have too.
const TARGETS: [&str; 3] = ["target-0", "target-1", "target-2"];
const DURABLE_SECONDS: u64 = 3_600;

/// Writes one sample per second and target until `end`, in seconds since 1970-01-01 UTC.
pub(crate) fn write(dir: &Path, seed: u64, seconds: u64, end: u64) -> Result<(), Failure> {
    let (mut history, _) = History::open(dir, &config(DURABLE_SECONDS))?;
    let mut lines = Vec::new();
    for (n, target) in TARGETS.iter().enumerate() {
        let profile = PROFILES[(seed as usize + n) % PROFILES.len()];
        let key = SeriesKey { target: (*target).into(), probe: "icmp".into(), unit: Unit::Seconds };
        let id = history.series(&key)?;
        lines.push((id, Line::new(profile, seed * 16 + n as u64)?));
    }
    for second in 0..seconds {
        let at = WallTime((end - seconds + second) * SECOND);
        for (id, line) in &mut lines {
            history.record(*id, &[Sample { at, outcome: line.next(second) }]);
        }
        history.flush(at);
    }
    history.save(WallTime(end * SECOND));
    Ok(())
}
