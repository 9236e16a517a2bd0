//! Infers findings from runs, from months of a watch, from host audits, and from the checks of a
//! fix. No other crate makes findings. A finding is data: see `fathom_run::Finding`.
//!
//! Ground truth series of queues (sojourn time, backlog, drops) are never used: they serve to
//! evaluate this crate.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod applications;
mod audit;
mod bursts;
mod captured;
mod classes;
mod delivery;
mod diagnosis;
mod estimate;
mod fix;
mod health;
mod latency;
mod months;
mod one_way;
mod outage;
mod probes;
mod recent;
mod rules;
mod sample;
mod scores;
mod summarize;
mod switch;
mod verdict;
mod view;
mod watched;

pub use audit::diagnose_audit;
pub use diagnosis::{
    ApplicationMeasure, ApplicationStatistics, ClassSummary, Diagnosis, Health, Impact, PhaseMeasure,
    PhaseProbes, PhaseSummary, ProbeStatistics,
};
pub use estimate::{LineEstimate, SideEstimate, estimate_line};
pub use fix::{FixEvidence, diagnose_fix, shaper_checks, shaper_conflicts};
pub use months::{CHANCE, MIN_DAYS, Months, PastLoad, PastSeries, Zone, diagnose_months};
pub use recent::{RecentSeries, diagnose_recent};
pub use sample::load_loss_ratio;

/// Diagnoses a run. It never fails: missing data makes the result inconclusive.
pub fn diagnose(run: &fathom_run::Run) -> Diagnosis {
    if let Some(capture) = &run.capture {
        return captured::diagnose(run, capture);
    }
    if let Some(history) = &run.history {
        return watched::diagnose(run, history);
    }
    if let Some(switch) = &run.switch {
        return switch::diagnose(run, switch);
    }
    if run.is_of_bursts() {
        return bursts::diagnose(run);
    }
    let view = view::View::new(run);
    let judgment = health::judge(&view);
    let findings = rules::findings(&view);
    let probes = probes::statistics(run);
    let latency_source = view.source.map(|s| s.key.metric);
    let judged = probes.iter().find(|one| Some(one.metric) == latency_source);
    Diagnosis {
        classes: classes::summaries(run),
        scores: scores::of_test(run, &view.phases, judged),
        health: judgment.health,
        reason: judgment.reason,
        headline_phase: verdict::worst(&view).map(|rise| rise.phase.kind),
        advice: verdict::advice(judgment.health, &findings),
        latency_source,
        grade: view.phases.iter().filter_map(|p| p.grade).max(),
        phases: view.phases,
        probes,
        applications: applications::statistics(run),
        findings,
    }
}
