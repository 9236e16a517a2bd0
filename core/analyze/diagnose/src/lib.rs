//! Run, and months of a watch, to findings: the only maker of them. A finding names its evidence, its confidence and its alternatives.
//!
//! Series of the true queue (sojourn, backlog, drops) are never looked at: they exist to score this crate.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod captured;
mod diagnosis;
mod estimate;
mod health;
mod months;
mod rules;
mod summarize;
mod verdict;
mod view;

pub use captured::words::unknown as unknown_sentence;
pub use diagnosis::{Confidence, Diagnosis, Evidence, Finding, FindingKind, Health, Impact, PhaseSummary};
pub use estimate::{LineEstimate, SideEstimate, estimate_line};
pub use months::{
    CHANCE, LEAST_DAYS, Months, MonthsFinding, MonthsKind, PastLoad, PastSeries, Stretch, Zone,
    diagnose_months,
};

/// What `run` shows. Never fails: what is missing makes it inconclusive.
pub fn diagnose(run: &fathom_run::Run) -> Diagnosis {
    if let Some(capture) = &run.capture {
        return captured::diagnose(run, capture);
    }
    let view = view::View::new(run);
    let state = health::judge(&view);
    let findings = rules::findings(&view);
    let words = verdict::verdict(&view, &state, &findings);
    Diagnosis {
        health: state.health(),
        headline: words.headline,
        headline_phase: verdict::worst(&view).map(|rise| rise.phase.kind),
        verdict: words.sentences,
        latency_source: view.source.map(|s| s.key.metric),
        grade: view.phases.iter().filter_map(|p| p.grade).max(),
        phases: view.phases,
        findings,
    }
}
