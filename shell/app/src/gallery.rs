//! Every scenario with claims, and what comes out.
use crate::sim::simulate;
use crate::{AppError, CancelToken};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_report::ClaimRow;
use fathom_run::Run;
use fathom_scenario::{Plan, builtin_plan, gallery_names};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A scenario and its run.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// The scenario.
    pub plan: Plan,
    /// Its run, if it has a line.
    pub result: Option<(Run, Diagnosis)>,
    /// Its claims, each with what came out.
    pub claims: Vec<ClaimRow>,
}

/// Simulates the scenarios of these names, or all of the gallery, on all cores.
///
/// # Errors
/// If a name is not in the gallery.
pub fn run(names: &[String], cancel: &CancelToken) -> Result<Vec<Exhibit>, AppError> {
    Ok(run_all(&plans(names)?, cancel))
}

fn plans(names: &[String]) -> Result<Vec<Plan>, AppError> {
    if let Some(unknown) = names.iter().find(|name| !gallery_names().any(|known| known == name.as_str())) {
        return Err(AppError::NotInGallery { name: unknown.clone() });
    }
    let wanted = gallery_names().filter(|name| names.is_empty() || names.iter().any(|n| n == name));
    Ok(wanted.filter_map(builtin_plan).collect::<Result<_, _>>()?)
}

/// All scenarios on all cores; the order of the results is that of the plans.
fn run_all(plans: &[Plan], cancel: &CancelToken) -> Vec<Exhibit> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Exhibit)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = plans.get(at) else { return };
                    if cancel.is_cancelled() {
                        return;
                    }
                    let item = exhibit(plan);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, item));
                }
            });
        }
    });
    let mut items = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    items.sort_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

fn exhibit(plan: &Plan) -> Exhibit {
    let run = simulate(plan, 1).run;
    let claims = rows(plan, &run);
    let diagnosis = diagnose(&run);
    let is_run = !plan.line.hops.is_empty();
    Exhibit { plan: plan.clone(), result: is_run.then_some((run, diagnosis)), claims }
}

/// The claims of `plan`, each with what came out of `run`.
#[must_use]
pub fn rows(plan: &Plan, run: &Run) -> Vec<ClaimRow> {
    let row = |claim: &fathom_scenario::Claim| ClaimRow {
        says: claim.says.clone(),
        published: claim.published.clone(),
        expected: claim.expected,
        got: claim.outcome(run),
        unit: claim.unit(),
        note: claim.note.clone(),
    };
    plan.claims.iter().map(row).collect()
}
