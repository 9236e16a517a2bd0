//! Findings about the queue points of a host.
use crate::{Diagnosis, Health};
use fathom_audit::{Audit, AuditedQueue, Severity};
use fathom_run::{Certainty, Conclusion, Finding, QueueKind, threshold};

/// One finding for each queue point of an audit, the worst first. The advice covers the bad ones.
pub fn diagnose_audit(audit: &Audit) -> Diagnosis {
    let bad = || audit.queues.iter().filter(|queue| queue.severity == Severity::Bad);
    Diagnosis {
        health: if bad().next().is_some() { Health::Bloated } else { Health::Healthy },
        advice: bad().flat_map(|queue| queue.remedies.iter().cloned()).collect(),
        findings: audit.queues.iter().map(finding).collect(),
        ..Diagnosis::default()
    }
}

fn finding(queue: &AuditedQueue) -> Finding {
    let point = queue.point.clone();
    let certainty = match (queue.severity, point.observed_delay_s) {
        (_, Some(delay_s)) if delay_s > threshold::MODEST_S => Certainty::Certain,
        (Severity::Unknown, _) => Certainty::Possible,
        _ => Certainty::Likely,
    };
    let conclusion = match (queue.severity, point.queue.kind()) {
        (Severity::None, _) => Conclusion::HarmlessQueue(point),
        (Severity::Dark, _) => Conclusion::DarkBuffer(point),
        (Severity::Unknown, _) => Conclusion::UnreadableQueue(point),
        (Severity::Bad, QueueKind::FlowOffload) => Conclusion::QdiscBypass(point),
        (Severity::Bad, _) => Conclusion::BloatedQueue(point),
    };
    let mut finding = Finding::new(conclusion, None, certainty);
    finding.remedies.clone_from(&queue.remedies);
    finding
}
