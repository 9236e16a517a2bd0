//! What a run rules out, and what it leaves open because it was not examined.
use crate::line::{BLOATED, Line};
use fathom_diagnose::diagnose;
use fathom_run::{Alternative, FindingKind, Metric, PhaseKind, Run};
use fathom_units::Duration;

/// What the first finding of bufferbloat excludes.
fn excluded(run: &Run) -> Vec<Alternative> {
    let diagnosis = diagnose(run);
    let bloat = diagnosis.findings.iter().find(|found| found.kind() == FindingKind::Bufferbloat);
    bloat.map(|found| found.excluded.clone()).unwrap_or_default()
}

#[test]
fn a_quiet_machine_and_a_clean_line_exclude_everything_that_is_examined() {
    let all = [
        Alternative::OtherDirection,
        Alternative::LongPath,
        Alternative::LossWithoutCongestion,
        Alternative::Outage,
        Alternative::LackOfCpu,
        Alternative::LateProbes,
    ];
    assert_eq!(excluded(&BLOATED.run()), all);
}

#[test]
fn what_was_not_measured_stays_open() {
    let mut run = BLOATED.run();
    run.series.retain(|series| series.key.metric != Metric::CpuBusy);
    assert!(!excluded(&run).contains(&Alternative::LackOfCpu));

    let mut short = BLOATED.run();
    for phase in short.phases.iter_mut().filter(|phase| phase.kind == PhaseKind::Idle) {
        phase.end_ns = phase.start_ns + 600_000_000;
    }
    assert!(!excluded(&short).contains(&Alternative::LossWithoutCongestion), "12 probes");
}

#[test]
fn what_was_found_is_not_excluded() {
    let lossy = excluded(&Line { loss_ratio: 0.02, ..BLOATED }.run());
    assert!(!lossy.is_empty() && !lossy.contains(&Alternative::LossWithoutCongestion), "{lossy:?}");
    let busy = excluded(&Line { cpu_busy_ratio: 0.97, ..BLOATED }.run());
    assert!(!busy.is_empty() && !busy.contains(&Alternative::LackOfCpu), "{busy:?}");
    // A quarter of the increase: too little to explain it, too much to be no part of it.
    let late = excluded(&Line { lateness: Duration::from_millis(200), ..BLOATED }.run());
    assert!(!late.is_empty() && !late.contains(&Alternative::LateProbes), "{late:?}");
}
