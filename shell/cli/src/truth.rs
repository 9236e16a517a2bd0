//! Runs that the program itself puts together: a lab's, and a test over a lab's line.
use fathom_lab::LabReport;
use fathom_run::{Instrument, Run, SCHEMA_VERSION};
use std::collections::BTreeMap;

/// What the queues of a lab did while some program ran: no probes, no phases, only the truth.
pub(crate) fn of_lab(
    title: &str,
    started: String,
    facts: BTreeMap<String, String>,
    report: LabReport,
) -> Run {
    let mut run = Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "lab".to_owned(),
        started,
        title: title.to_owned(),
        host: fathom_client::host(),
        facts,
        phases: Vec::new(),
        series: Vec::new(),
        instrument: Instrument::default(),
        partial: None,
        capture: None,
        history: None,
        notes: Vec::new(),
    };
    add(&mut run, report);
    run
}

/// Adds what the line knows of itself to a test over it.
pub(crate) fn add(run: &mut Run, report: LabReport) {
    run.series.extend(report.series);
    run.notes.extend(report.notes);
    run.instrument.line_lateness = Some(report.line_lateness);
}
