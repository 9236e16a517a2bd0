//! Diagnosis of the last minute of a watched series, compared with its last day.
use crate::rules;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, Finding, LatencyVariation, PhaseKind, ProbeLoss};
use fathom_watch_samples::{Column, Sketch};

/// Quantile that approximates the delay without a queue.
const BASE: f64 = 0.05;
/// A series without any response is certainly silent after this many lost probes.
const SILENT: u64 = 3;

/// The last minute of a watched series.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecentSeries {
    /// Name of the target.
    pub target: String,
    /// Kind of probe.
    pub probe: String,
    /// Probes sent.
    pub sent_packets: u64,
    /// Probes without a response.
    pub lost_packets: u64,
    /// Probes that could not be sent.
    pub failed_packets: u64,
    /// Latency without a queue: the 5th percentile of the last day.
    pub base_p5_s: Option<f64>,
    /// Loss that people notice, and how latency varied.
    pub findings: Vec<Finding>,
}

/// Diagnoses the last minute of a series. `day` has the delays of its last day.
pub fn diagnose_recent(target: &str, probe: &str, minute: &Column, day: &Sketch) -> RecentSeries {
    let (tally, sketch) = (&minute.tally, &minute.sketch);
    let base_p5_s = day.quantile(BASE).or_else(|| sketch.quantile(BASE));
    let loss = ProbeLoss { phase: PhaseKind::Watch, lost_packets: tally.lost, sent_packets: tally.sent };
    let is_silent = tally.sent > 0 && tally.lost == tally.sent;
    let mut findings = Vec::new();
    if is_silent || rules::is_loss_reported(tally.lost, tally.sent) {
        let certainty = if tally.lost >= SILENT { Certainty::Certain } else { Certainty::Possible };
        findings.push(Finding::new(Conclusion::ProbeLoss(loss), None, certainty));
    }
    let variation = || {
        Some(LatencyVariation {
            base_p5_s: base_p5_s?,
            p50_s: sketch.quantile(0.5)?,
            p90_s: sketch.quantile(0.9)?,
            p95_s: sketch.quantile(0.95)?,
            max_s: sketch.max()?,
            answered_packets: sketch.count(),
        })
    };
    findings.extend(
        variation().map(|of| Finding::new(Conclusion::LatencyVariation(of), None, Certainty::Certain)),
    );
    RecentSeries {
        target: target.into(),
        probe: probe.into(),
        sent_packets: tally.sent,
        lost_packets: tally.lost,
        failed_packets: tally.failed,
        base_p5_s,
        findings,
    }
}
