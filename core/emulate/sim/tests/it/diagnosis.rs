//! A simulated run is a run as any other: the diagnosis finds what the line is.
use crate::common::{plan, run};
use fathom_diagnose::{FindingKind, Health, diagnose};
use fathom_run::{Grade, Metric};

#[test]
fn a_deep_buffer_is_bloated() {
    let up = "rate = \"3mbit\", delay = \"10ms\", queue = \"fifo limit 375000b\"";
    let outcome =
        run(&plan(up, "rate = \"50mbit\", delay = \"10ms\"", "[load]\nup_flows = 1\nduration = \"30s\""));
    let diagnosis = diagnose(&outcome.run);
    assert_eq!(
        (diagnosis.health, diagnosis.latency_source),
        (Health::Bloated, Some(Metric::UdpRtt)),
        "{}",
        diagnosis.headline
    );
    let size = diagnosis.findings.iter().find(|f| f.kind == FindingKind::BufferSize).unwrap();
    let bytes = size.evidence.iter().find(|e| e.name == "queue as IP packets").unwrap().value;
    assert!((340e3..390e3).contains(&bytes), "{bytes}");
    let told = diagnosis.findings.iter().find(|f| f.kind == FindingKind::Management).unwrap();
    assert!(told.text.contains("drops only when it is full"), "{}", told.text);
}

#[test]
fn a_managed_queue_is_healthy() {
    let side = "rate = \"20mbit\", delay = \"10ms\", queue = \"fq_codel\"";
    let outcome = run(&plan(side, side, "[load]\nup_flows = 2\ndown_flows = 2\nduration = \"20s\""));
    let diagnosis = diagnose(&outcome.run);
    assert_eq!(diagnosis.health, Health::Healthy, "{}", diagnosis.headline);
    assert!(diagnosis.grade <= Some(Grade::A), "{:?}", diagnosis.grade);
    assert!(
        !diagnosis.findings.iter().any(|f| f.kind == FindingKind::Instrument),
        "{:#?}",
        diagnosis.findings
    );
}
