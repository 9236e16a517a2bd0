//! One path on a page: its scenario, its claims, its truth, and the true delay under the measured
//! latency.
mod chart;

use crate::claims::Claim;
use crate::draw::Path;
use crate::measure::Measured;
use crate::truth::Truth;
use fathom_diagnose::Diagnosis;
use std::fmt::Write as _;

/// All that is known about a path.
pub(crate) struct Explained<'a> {
    pub(crate) path: &'a Path,
    pub(crate) measured: &'a Measured,
    pub(crate) truth: &'a Truth,
    pub(crate) diagnosis: &'a Diagnosis,
    pub(crate) claims: &'a [Claim],
}

/// The same as text.
pub(crate) fn text(explained: &Explained<'_>) -> String {
    let mut text = format!("{}\n", explained.path.text);
    for (name, trace) in &explained.path.files {
        let _ = writeln!(text, "# {name}\n{trace}");
    }
    let _ = writeln!(text, "Verdict: {}", verdict(explained.diagnosis));
    findings(explained.diagnosis).iter().for_each(|line| text += &format!("- {line}\n"));
    text += "\nTruth:\n";
    truths(explained.truth).iter().for_each(|line| text += &format!("- {line}\n"));
    text += "\nClaims:\n";
    for [kind, mark, detail] in judgments(explained.claims) {
        let _ = writeln!(text, "{kind:20} {mark:9} {detail}");
    }
    text
}

pub(crate) fn page(explained: &Explained<'_>) -> String {
    let Explained { path, measured, truth, diagnosis, claims } = explained;
    let list = |lines: Vec<String>| -> String {
        lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect()
    };
    let rows: String = judgments(claims)
        .iter()
        .map(|[kind, mark, detail]| {
            format!("<tr class=\"{mark}\"><td>{kind}<td>{mark}<td>{}</tr>\n", escape(detail))
        })
        .collect();
    let traces: String = path.files.iter().map(|(name, text)| format!("# {name}\n{text}\n")).collect();
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Path {name}</title>\n\
         <style>body{{font:15px/1.45 sans-serif;max-width:1000px;margin:2em auto;padding:0 1em}}\
         table{{border-collapse:collapse}}td{{padding:2px 12px 2px 0;vertical-align:top}}\
         .wrong{{color:#b00}}.none{{color:#888}}pre{{background:#f4f4f4;padding:8px;overflow:auto}}</style>\n\
         <h1>Path {name}</h1>\n<p>Verdict: {verdict}</p>\n{chart}\n\
         <h2>Claims</h2>\n<table>\n{rows}</table>\n<h2>Truth</h2>\n<ul>\n{truths}</ul>\n\
         <h2>Findings</h2>\n<ul>\n{findings}</ul>\n<h2>Scenario</h2>\n<pre>{scenario}</pre>\n",
        name = escape(&path.name),
        verdict = escape(&verdict(diagnosis)),
        chart = chart::svg(measured, truth),
        truths = list(truths(truth)),
        findings = list(findings(diagnosis)),
        scenario = escape(&format!("{}\n{traces}", path.text)),
    )
}

fn verdict(diagnosis: &Diagnosis) -> String {
    let reason = diagnosis.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason:?})"));
    format!("{:?}{reason}", diagnosis.health)
}

fn findings(diagnosis: &Diagnosis) -> Vec<String> {
    let line = |finding| fathom_prose::finding(finding, None);
    diagnosis.findings.iter().map(|f| format!("[{:?}] {}", f.certainty, line(f))).collect()
}

fn truths(truth: &Truth) -> Vec<String> {
    let mut lines = vec![format!("idle: {:.4} s of queueing delay (median)", truth.idle_p50_s)];
    for phase in &truth.loaded {
        let [p50, p90, p95, max] = [0.5, 0.9, 0.95, 1.0].map(|p| truth.increase_s(phase, p));
        lines.push(format!(
            "{}: {p50:.4} s median, {p90:.4} s p90, {p95:.4} s p95, {max:.4} s max",
            phase.kind.name()
        ));
        for queue in &truth.queues {
            let longest = queue.longest_s(phase.from_s, phase.to_s);
            let dropped = queue.dropped(phase.from_s, phase.to_s);
            let rate = queue.ip_rate.map_or("unlimited".to_owned(), |rate| format!("{rate:.0} bit/s of IP"));
            lines.push(format!(
                "{} {}, {:?}, {rate}: at most {longest:.4} s, {dropped:.0} dropped",
                queue.hop, queue.direction, queue.management
            ));
        }
    }
    let lost = truth.lost_probes.iter();
    lines.extend(lost.map(|lost| format!("{} UDP probes dropped or lost", lost.len())));
    lines
}

/// Kind, judgment and detail of each claim.
fn judgments(claims: &[Claim]) -> Vec<[String; 3]> {
    let judgment = |claim: &Claim| {
        let (mark, detail) = match &claim.made {
            None if claim.is_possible => ("not made", String::new()),
            None => ("none", String::new()),
            Some(made) if made.is_right => ("right", made.detail.clone()),
            Some(made) => ("wrong", made.detail.clone()),
        };
        let about = if claim.about.is_empty() { "" } else { ", " };
        [format!("{}{about}{}", claim.kind.name(), claim.about), mark.to_owned(), detail]
    };
    claims.iter().map(judgment).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
