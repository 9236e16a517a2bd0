//! Simulates every scenario with claims (published numbers), and checks them.
use crate::output::make_directory;
use crate::results::diagnosed;
use crate::sim::simulate;
use crate::{AppError, CancelToken};
use fathom_diagnose::Diagnosis;
use fathom_report::{ClaimRow, CommandDocument, command_document};
use fathom_run::Run;
use fathom_scenario::{Plan, builtin_plan, gallery_names};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A scenario and its run.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// The scenario.
    pub plan: Plan,
    /// Charts of its run, if the scenario has a line. All runs together take 200 MB more.
    charts: String,
    /// Its claims, each with the simulated result.
    pub claims: Vec<ClaimRow>,
}

impl Exhibit {
    fn shown(&self) -> fathom_report::Exhibit<'_> {
        fathom_report::Exhibit {
            name: &self.plan.name,
            about: self.plan.about.trim(),
            source: self.plan.source.trim(),
            charts: &self.charts,
            claims: &self.claims,
        }
    }
}

/// Number of claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimCount {
    /// All claims.
    pub claims: usize,
    /// Claims that hold.
    pub held: usize,
}

/// Counts the claims.
#[must_use]
pub fn count(exhibits: &[Exhibit]) -> ClaimCount {
    let rows = || exhibits.iter().flat_map(|exhibit| &exhibit.claims);
    ClaimCount { claims: rows().count(), held: rows().filter(|row| row.holds()).count() }
}

/// The JSON document.
#[must_use]
pub fn document(exhibits: &[Exhibit]) -> CommandDocument {
    let claim = |row: &ClaimRow| {
        json!({ "says": row.says, "published": row.published, "unit": row.unit, "expected": row.expected,
            "got": row.got, "holds": row.holds(), "note": row.note })
    };
    let scenario = |exhibit: &Exhibit| {
        let claims: Vec<_> = exhibit.claims.iter().map(claim).collect();
        let Plan { name, about, source, .. } = &exhibit.plan;
        json!({ "name": name, "about": about, "source": source, "claims": claims })
    };
    let ClaimCount { claims, held } = count(exhibits);
    let scenarios: Vec<Value> = exhibits.iter().map(scenario).collect();
    let headline = format!("{held} of {claims} claims hold, in {} scenarios", scenarios.len());
    let data = json!({ "claims": claims, "held": held, "scenarios": scenarios });
    command_document("sim gallery", headline, &Diagnosis::default(), ("gallery", data))
}

/// Writes the page with all charts to `folder`. Returns the path of the page.
///
/// # Errors
/// If a file cannot be written.
pub fn save(folder: &Path, exhibits: &[Exhibit]) -> Result<PathBuf, AppError> {
    make_directory(folder)?;
    let page = folder.join("index.html");
    let shown: Vec<_> = exhibits.iter().map(Exhibit::shown).collect();
    fathom_store::write(&page, &fathom_report::gallery(&shown)).map_err(AppError::Save)?;
    Ok(page)
}

/// Simulates the given scenarios, or all of the gallery, on all CPUs. If it is cancelled, the
/// finished scenarios are returned.
///
/// # Errors
/// If a name is not in the gallery.
pub fn run(names: &[String], cancel: &CancelToken) -> Result<Vec<Exhibit>, AppError> {
    Ok(run_all(&plans(names)?, cancel))
}

fn plans(names: &[String]) -> Result<Vec<Plan>, AppError> {
    if let Some(unknown) = names.iter().find(|name| !gallery_names().any(|known| known == name.as_str())) {
        let known: Vec<&str> = gallery_names().collect();
        return Err(AppError::no_such("gallery scenario", unknown, &known));
    }
    let wanted = gallery_names().filter(|name| names.is_empty() || names.iter().any(|n| n == name));
    Ok(wanted.filter_map(builtin_plan).collect::<Result<_, _>>()?)
}

/// Simulates all plans on all CPUs. The results are in the order of the plans.
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
                    let item = exhibit(plan, cancel);
                    if cancel.is_cancelled() {
                        return;
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, item));
                }
            });
        }
    });
    let mut items = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    items.sort_by_key(|(at, _)| *at);
    items.into_iter().map(|(_, item)| item).collect()
}

fn exhibit(plan: &Plan, cancel: &CancelToken) -> Exhibit {
    let run = simulate(plan, 1, cancel).run;
    let claims = rows(plan, &run);
    let charts = if plan.line.hops.is_empty() {
        String::new()
    } else {
        let (run, diagnosis) = diagnosed(run);
        fathom_report::exhibit_charts(&run, &diagnosis)
    };
    Exhibit { plan: plan.clone(), charts, claims }
}

/// The claims of `plan`, each with the result in `run`.
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
