//! Every sentence about a result, as files that a person can read aloud. `UPDATE_GOLDEN=1` rewrites them.
use crate::fixture::{HOSTS, audited};
use crate::samples::{alternatives, findings, reasons, runs};
use crate::shapers::steps;
use fathom_diagnose::{Diagnosis, Health, diagnose, diagnose_audit};
use fathom_prose::{
    alternative, audit_verdict, autorate_reason, calculation, certainty_name, conflict_advice, figures,
    finding, fix_headline, fix_step, kind_name, refuted_by, remedy, verdict,
};
use fathom_run::{Finding, FindingKind, Run};
use fathom_shape::autorate::Reason;
use fathom_shape::fix::Outcome;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

#[track_caller]
fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/prose").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/prose can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

fn line_of(found: &Finding, run: &Run) -> String {
    let text = finding(found, run.capture.as_deref());
    let mut line = format!("- [{}, {}] {text}\n", kind_name(found.kind()), certainty_name(found.certainty));
    for other in &found.alternatives {
        line += &format!("    or: {}\n", alternative(other));
    }
    line
}

#[test]
fn runs_in_words() {
    let mut text = String::new();
    for (name, run) in runs() {
        let diagnosis = diagnose(&run);
        let words = verdict(&run, &diagnosis);
        writeln!(text, "## {name}\n{}", words.headline).unwrap();
        for sentence in words.sentences {
            writeln!(text, "{sentence}").unwrap();
        }
        diagnosis.findings.iter().for_each(|found| text += &line_of(found, &run));
        text.push('\n');
    }
    golden("runs.txt", &text);
}

/// Kinds that only some runs have, built by hand; with their figures.
#[test]
fn each_kind_in_words() {
    let mut text = String::new();
    let mut seen: BTreeSet<FindingKind> = BTreeSet::new();
    for found in findings() {
        seen.insert(found.kind());
        writeln!(text, "{}\n  {}", kind_name(found.kind()), finding(&found, None)).unwrap();
        for figure in figures(&found) {
            writeln!(text, "    {}: {}", figure.name, figure.value).unwrap();
        }
        if let Some(advice) = conflict_advice(&found) {
            writeln!(text, "    try: {advice}").unwrap();
        }
        if let Some(refuted) = refuted_by(&found) {
            writeln!(text, "    refuted by: {refuted}").unwrap();
        }
    }
    golden("kinds.txt", &text);
    for (_, run) in runs() {
        seen.extend(diagnose(&run).findings.iter().map(Finding::kind));
    }
    for (name, rates) in HOSTS {
        seen.extend(diagnose_audit(&audited(name, rates)).findings.iter().map(Finding::kind));
    }
    let missing: Vec<_> = FindingKind::ALL.iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "kinds without a sentence in golden/prose: {missing:?}");
}

#[test]
fn audits_in_words() {
    let mut text = String::new();
    for (name, rates) in HOSTS {
        let diagnosis = diagnose_audit(&audited(name, rates));
        writeln!(text, "## {name}\n{}", audit_verdict(&diagnosis)).unwrap();
        for found in &diagnosis.findings {
            let (kind, certainty) = (kind_name(found.kind()), certainty_name(found.certainty));
            writeln!(text, "- [{kind}, {certainty}] {}", finding(found, None)).unwrap();
            for remedy in found.remedies.iter().map(remedy) {
                writeln!(text, "    {}; undo: {}", remedy.apply, remedy.undo.as_deref().unwrap_or("-"))
                    .unwrap();
            }
        }
        text.push('\n');
    }
    golden("audit.txt", &text);
}

/// The calculation that is shown to the user gives the delay that is shown.
#[test]
fn a_calculation_gives_the_delay() {
    for (name, rates) in HOSTS {
        let points = audited(name, rates).queues.into_iter().map(|queue| queue.point);
        for worst in points.flat_map(|point| [point.worst, point.worst_of_super_packets]).flatten() {
            let text = calculation(&worst);
            let (factors, rate) = text.split_once(" / ").unwrap();
            let bits: f64 = factors.split(" * ").map(|factor| factor.parse::<f64>().unwrap()).product();
            let shown = bits / rate.parse::<f64>().unwrap();
            assert!((shown - worst.delay_s).abs() <= 2e-9, "{name}: {text} = {shown}, not {}", worst.delay_s);
        }
    }
}

#[test]
fn reasons_and_alternatives_in_words() {
    let (_, run) = runs().remove(0);
    let diagnosis = diagnose(&run);
    let mut text = String::new();
    for reason in reasons() {
        let invalid = Diagnosis { health: Health::Inconclusive, reason: Some(reason), ..diagnosis.clone() };
        writeln!(text, "{}", verdict(&run, &invalid).headline).unwrap();
    }
    for other in alternatives() {
        writeln!(text, "or: {}", alternative(&other)).unwrap();
    }
    golden("reasons.txt", &text);
}

#[test]
fn fixes_in_words() {
    let mut text = String::new();
    for outcome in [Outcome::NotNeeded, Outcome::Planned, Outcome::NotVerified, Outcome::Verified] {
        writeln!(text, "{}", fix_headline("eth0", outcome)).unwrap();
    }
    for step in steps().iter().filter_map(fix_step) {
        writeln!(text, "{step}").unwrap();
    }
    for reason in Reason::ALL {
        writeln!(text, "{}: {}", reason.name(), autorate_reason(*reason)).unwrap();
    }
    golden("fix.txt", &text);
}
