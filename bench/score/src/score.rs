//! Judges paths, on all CPUs.
use crate::claims::{Case, claims};
use crate::draw::Path;
use crate::explain::Explained;
use crate::measure::{Measured, measure, parse};
use crate::tally::Scored;
use crate::truth::Truth;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Measures a path.
pub(crate) type Measure<'a> = &'a (dyn Fn(&Path) -> Result<Measured, String> + Sync);

/// In the simulator.
pub(crate) fn simulated(path: &Path) -> Result<Measured, String> {
    parse(path).map(measure).map_err(|why| why.to_string())
}

/// Judges all paths, in order. If it is cancelled, some are missing.
pub(crate) fn score(
    paths: &[Path],
    by: Measure<'_>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Scored>, String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let next_path = paths.get(number).filter(|_| !is_cancelled());
            let Some(path) = next_path else { return done };
            done.push((number, judge(path, by)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut scored = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for thread in workers {
            match thread.join() {
                Ok(done) => scored.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    scored.sort_by_key(|(number, _)| *number);
    scored.into_iter().map(|(_, judged)| judged).collect()
}

/// Measures, diagnoses and judges a path.
fn judge(path: &Path, by: Measure<'_>) -> Result<Scored, String> {
    with_explained(path, by, |explained| Scored {
        path: path.name.clone(),
        claims: explained.claims.to_vec(),
        is_bloated: explained.truth.is_bloated(),
        is_borderline: explained.truth.is_borderline(),
        health: explained.diagnosis.health,
    })
}

/// The same, with all that is known about the path.
pub(crate) fn with_explained<T>(
    path: &Path,
    by: Measure<'_>,
    then: impl FnOnce(&Explained<'_>) -> T,
) -> Result<T, String> {
    let measured = by(path)?;
    if measured.plan.load.is_none() {
        return Err(format!("{}: there is no [load], so there is nothing to judge", path.name));
    }
    let truth = Truth::of(&measured);
    let diagnosis = fathom_diagnose::diagnose(&measured.run);
    let claims = claims(&Case { path, measured: &measured, truth: &truth, diagnosis: &diagnosis });
    Ok(then(&Explained { path, measured: &measured, truth: &truth, diagnosis: &diagnosis, claims: &claims }))
}
