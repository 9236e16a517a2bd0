//! Findings of a fix: the checks of its shaper, conflicts, and the state of the line.
use crate::{Diagnosis, diagnose};
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, ConflictCause, Criterion, Evidence, Finding, Reason, Run, ShaperCheck,
    ShaperConflict,
};

/// Evidence collected by a fix.
#[derive(Clone, Copy, Debug)]
pub struct FixEvidence<'a> {
    /// The interface.
    pub interface: &'a str,
    /// The test without a shaper, if one was made.
    pub before: Option<&'a Run>,
    /// The test through the last shaper.
    pub after: Option<&'a Run>,
    /// The last shaper is active.
    pub is_shaped: bool,
    /// The checks of the last shaper.
    pub checks: &'a [ShaperCheck],
    /// Conflicts with a shaper.
    pub conflicts: &'a [ConflictCause],
}

/// Diagnoses a fix: its checks and conflicts, then the findings of the line in its current state.
pub fn diagnose_fix(fix: &FixEvidence<'_>) -> Diagnosis {
    let now = if fix.is_shaped { fix.after } else { fix.before };
    let tested = fix.after.map(diagnose);
    let mut findings = shaper_checks(fix.interface, fix.checks);
    for finding in &mut findings {
        if let (Conclusion::ShaperCheck(check), Some(tested)) = (&finding.conclusion, &tested) {
            finding.evidence = latency_evidence(check, tested);
        }
    }
    findings.extend(shaper_conflicts(fix.interface, fix.conflicts));
    let mut diagnosis = now.map_or_else(not_measured, diagnose);
    findings.append(&mut diagnosis.findings);
    Diagnosis { findings, ..diagnosis }
}

/// Converts the checks of a shaper to findings. Each bypass that they detected is also a conflict.
pub fn shaper_checks(interface: &str, checks: &[ShaperCheck]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for check in checks {
        let conclusion = Conclusion::ShaperCheck(check.clone());
        findings.push(Finding::new(conclusion, check.direction(), Certainty::Certain));
        if let Criterion::Bypass { bypasses, .. } = &check.criterion {
            let causes: Vec<_> =
                bypasses.iter().map(|bypass| ConflictCause::Bypass { bypass: *bypass }).collect();
            findings.extend(shaper_conflicts(interface, &causes));
        }
    }
    findings
}

/// Converts conflicts to findings.
pub fn shaper_conflicts(interface: &str, causes: &[ConflictCause]) -> Vec<Finding> {
    let finding = |cause: &ConflictCause| {
        let conflict = ShaperConflict { interface: interface.to_string(), cause: cause.clone() };
        Finding::new(Conclusion::ShaperConflict(conflict), None, certainty(cause))
    };
    causes.iter().map(finding).collect()
}

/// Counted conflicts are certain; those predicted from configuration files may not occur.
const fn certainty(cause: &ConflictCause) -> Certainty {
    match cause {
        ConflictCause::Bypass { .. } | ConflictCause::Offload { .. } => Certainty::Certain,
        ConflictCause::HardwareOffload | ConflictCause::NoTraffic => Certainty::Possible,
        _ => Certainty::Likely,
    }
}

/// The latency that a latency check is based on.
fn latency_evidence(check: &ShaperCheck, tested: &Diagnosis) -> Vec<Evidence> {
    let is_same = |finding: &&Finding| match &finding.conclusion {
        Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase) => increase.phase == check.phase,
        _ => false,
    };
    let is_latency = matches!(check.criterion, Criterion::Latency { .. });
    let found = tested.findings.iter().find(is_same).filter(|_| is_latency);
    found.map(|finding| finding.evidence.clone()).unwrap_or_default()
}

/// Diagnosis of a command without a measurement.
fn not_measured() -> Diagnosis {
    Diagnosis { reason: Some(Reason::NotMeasured), ..Diagnosis::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use fathom_run::FindingKind::{self, ShaperCheck as Check, ShaperConflict as Conflict};
    use fathom_run::{PhaseKind, ShaperBypass};
    use fathom_units::Direction;

    #[test]
    fn a_bypass_is_a_failed_check_and_a_conflict() {
        let bypass =
            ShaperBypass::Unshaped { direction: Direction::Up, interface_bytes: 400, shaped_bytes: 100 };
        let criterion =
            Criterion::Bypass { shaped_ratio: Some(0.25), min_ratio: 0.95, bypasses: Vec::from([bypass]) };
        let checks = [ShaperCheck { phase: PhaseKind::Up, passed: false, criterion }];
        let fix = FixEvidence {
            interface: "wan",
            before: None,
            after: None,
            is_shaped: false,
            checks: &checks,
            conflicts: &[ConflictCause::SqmScripts],
        };
        let diagnosis = diagnose_fix(&fix);
        let kinds: Vec<FindingKind> = diagnosis.findings.iter().map(Finding::kind).collect();
        assert_eq!(kinds, [Check, Conflict, Conflict]);
        assert_eq!(
            (diagnosis.health, diagnosis.reason),
            (crate::Health::Inconclusive, Some(Reason::NotMeasured))
        );
        let expected =
            ShaperConflict { interface: String::from("wan"), cause: ConflictCause::Bypass { bypass } };
        assert_eq!(diagnosis.findings[1].conclusion, Conclusion::ShaperConflict(expected));
    }
}
