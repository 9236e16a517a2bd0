//! Findings of captures.
use super::path;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{
    Alternative, Bottleneck, Capture, CapturedFlow, CapturedProbes, CapturedQueue, Certainty, Conclusion,
    DelayPercentiles, DelayedProbes, Evidence, Finding, FlowRetransmission, InstrumentEffect, Management,
    ManagementEstimate, ManagementRule, Metric, Oscillation, ProbeKind, QueueDelay, QueueManagement,
    QueuePlace, QueueVictims, Run, SeriesKey, Span, Statistic, threshold,
};
use fathom_stats::Sample;

/// Numbers of round trips below which a conclusion is only possible, and at most likely.
const FEW: u64 = 100;
const PLENTY: u64 = 1_000;
/// Number of responses from which a delay is certain. Probes show it directly, but one may be late
/// for another reason.
const FEW_PROBES: u64 = 20;
/// Minimum confidence for a fingerprint to be certain, and to be likely.
const SURE: f64 = 0.9;
const LIKELY: f64 = 0.6;
/// Probes and flows waited in a queue if they were delayed by at least this share of its delay.
const WAITED: f64 = 0.25;
/// Maximum number of flows with reported retransmissions, and of routes with late responses.
const REPORTED: usize = 3;

/// All findings, the most important first.
pub(super) fn findings(run: &Run, capture: &Capture) -> Vec<Finding> {
    let queues = (1..).zip(&capture.queues);
    let mut all: Vec<Finding> = queues.flat_map(|(number, queue)| of_queue(run, number, queue)).collect();
    all.extend(path::findings(capture));
    all.extend(capture.flows.iter().take(REPORTED).flat_map(losses));
    let defects =
        capture.sources.iter().flat_map(|source| source.defects.iter().map(move |defect| (source, defect)));
    all.extend(defects.map(|(source, defect)| {
        let (source, defect) = (source.name.clone(), defect.clone());
        instrument(InstrumentEffect::CaptureDefect { source, defect }, Certainty::Certain)
    }));
    // Without a queue, these are the verdict itself.
    let unknown = capture.unknown.iter().filter(|_| !capture.queues.is_empty());
    all.extend(
        unknown
            .cloned()
            .map(|unknown| instrument(InstrumentEffect::Undetermined { unknown }, Certainty::Likely)),
    );
    all
}

fn of_queue(run: &Run, number: u32, queue: &CapturedQueue) -> Vec<Finding> {
    let parts = [
        Some(delay(run, number, queue)),
        bottleneck(number, queue),
        management(queue),
        oscillation(number, queue),
        delayed_flows(number, queue),
    ];
    // Probes that show the queue themselves are late only if there is one.
    let is_queue = queue.probed.is_none() || is_bloated(queue);
    let waited =
        queue.probes.iter().filter(|probes| is_queue && probes.added_p95_s >= WAITED * queue.delay.p95_s);
    parts.into_iter().flatten().chain(waited.take(REPORTED).map(|probes| late(number, probes))).collect()
}

/// Uses the thresholds for a line under load.
pub(super) fn is_bloated(queue: &CapturedQueue) -> bool {
    threshold::is_bloated(queue.delay.median_s, queue.delay.p90_s)
}

fn certainty(queue: &CapturedQueue) -> Certainty {
    if let Some(probed) = &queue.probed {
        return match (probed.kind, queue.samples) {
            (ProbeKind::QuicSpin, _) => Certainty::Possible,
            (_, ..FEW_PROBES) => Certainty::Likely,
            _ => Certainty::Certain,
        };
    }
    match (queue.place, queue.samples) {
        (QueuePlace::RoundTrip, _) | (_, ..FEW) => Certainty::Possible,
        (_, FEW..PLENTY) => Certainty::Likely,
        _ => Certainty::Certain,
    }
}

fn delay(run: &Run, number: u32, queue: &CapturedQueue) -> Finding {
    let DelayPercentiles { p5_s, median_s, p90_s, p95_s, max_s } = queue.delay;
    let delay = QueueDelay {
        queue: number,
        is_bloated: is_bloated(queue),
        delay_p5_s: p5_s,
        delay_p50_s: median_s,
        delay_p90_s: p90_s,
        delay_p95_s: p95_s,
        delay_max_s: max_s,
        samples: queue.samples,
        base_rtt_s: queue.base_rtt_s,
    };
    let mut finding = Finding::new(Conclusion::QueueDelay(delay), None, certainty(queue));
    finding.evidence.extend(series_evidence(run));
    finding.frames.clone_from(&queue.frames);
    finding.alternatives.extend(queue.alternatives.iter().cloned().map(Alternative::Captured));
    if queue.base_rtt_s.is_none() {
        finding.alternatives.push(Alternative::PathNeverEmpty);
    }
    finding
}

/// The maximum delay of each part of the path in the whole capture.
fn series_evidence(run: &Run) -> Vec<Evidence> {
    let is_delay = |key: &SeriesKey| key.metric == Metric::QueueDelay;
    let series = run.series.iter().filter(|series| is_delay(&series.key));
    let evidence = series.filter_map(|series| {
        let (first, last) = (*series.at_ns.first()?, *series.at_ns.last()?);
        let value = *Sample::new(series.values.iter().map(|value| (*value, false))).observed().last()?;
        Some(Evidence {
            series: series.key.clone(),
            statistic: Statistic::Max,
            span: Span { start_ns: first, end_ns: last.saturating_add(1) },
            value,
        })
    });
    evidence.collect()
}

fn bottleneck(number: u32, queue: &CapturedQueue) -> Option<Finding> {
    let link = Bottleneck {
        queue: number,
        rate_bits_per_second: queue.rate_bits_per_second?,
        buffer_bytes: queue.buffer_bytes,
        was_full: queue.was_full,
    };
    let finding = Finding::new(Conclusion::Bottleneck(link), None, certainty(queue));
    let is_open = queue.buffer_bytes.is_some() && !queue.was_full;
    Some(if is_open { finding.or(Alternative::NeverFull) } else { finding })
}

fn management(queue: &CapturedQueue) -> Option<Finding> {
    let ManagementEstimate { kind, confidence_ratio } = queue.management?;
    let rule = match kind {
        QueueManagement::TailDrop => ManagementRule::TailDrop,
        QueueManagement::Red => ManagementRule::Red,
        QueueManagement::Codel => ManagementRule::Codel,
        QueueManagement::FairQueueing => ManagementRule::FairQueueing,
        QueueManagement::NoneSeen => ManagementRule::NoneSeen,
    };
    let certainty = match confidence_ratio {
        s if s >= SURE => Certainty::Certain,
        s if s >= LIKELY => Certainty::Likely,
        _ => Certainty::Possible,
    };
    let management = Management {
        rule,
        loss_count: queue.lost_packets,
        mark_packets: queue.marked_packets,
        episode_count: Some(queue.episodes),
        delay_at_loss: queue.delay_at_loss,
        delay_at_loss_p50_s: None,
        delay_p50_s: None,
        delay_p95_s: None,
        top_ratio: None,
        flow_delay_p50_s: None,
        least_bits_per_second: None,
        policed_bits_per_second: None,
    };
    Some(Finding::new(Conclusion::QueueManagement(management), None, certainty))
}

fn oscillation(number: u32, queue: &CapturedQueue) -> Option<Finding> {
    let swing = queue.swing.as_ref()?;
    let certainty = if swing.control.is_some() { Certainty::Likely } else { Certainty::Possible };
    let oscillation = Oscillation {
        queue: number,
        period_s: swing.period_s,
        congestion_control: swing.control.clone(),
        predicted_s: swing.predicted_s,
    };
    Some(Finding::new(Conclusion::Oscillation(oscillation), None, certainty))
}

fn delayed_flows(number: u32, queue: &CapturedQueue) -> Option<Finding> {
    // Packets that only wait for the packet on the link do not wait in its queue.
    let is_queue = queue.probed.is_none() || is_bloated(queue);
    let waited =
        queue.delayed.iter().filter(|flows| is_queue && flows.added_p95_s >= WAITED * queue.delay.p95_s);
    let flows: Vec<_> = waited.cloned().collect();
    (!flows.is_empty()).then(|| {
        Finding::new(Conclusion::DelayedFlows(QueueVictims { queue: number, flows }), None, Certainty::Likely)
    })
}

fn late(number: u32, probes: &CapturedProbes) -> Finding {
    let certainty = if probes.kind == ProbeKind::QuicSpin { Certainty::Possible } else { Certainty::Likely };
    let delayed = DelayedProbes {
        queue: number,
        probe: probes.kind,
        from: probes.from.clone(),
        to: probes.to.clone(),
        answers: probes.answers,
        unanswered: probes.unanswered,
        max_s: probes.max_s,
        min_s: probes.min_s,
        added_p95_s: probes.added_p95_s,
    };
    let finding = Finding::new(Conclusion::DelayedProbes(delayed), None, certainty);
    match probes.kind {
        ProbeKind::Dns => finding.or(Alternative::SlowResolver),
        ProbeKind::QuicSpin => finding.or(Alternative::SpinBitUnreliable),
        ProbeKind::Echo | ProbeKind::QuicHandshake => finding,
    }
}

fn losses(flow: &CapturedFlow) -> Vec<Finding> {
    let ends: [&String; 2] = [&flow.ends[0], &flow.ends[1]];
    let sides = flow.sent.iter().zip([ends, [ends[1], ends[0]]]);
    let repeated = sides.filter(|(side, _)| side.retransmissions.packets() > 0).map(|(side, [from, to])| {
        let retransmission = FlowRetransmission {
            flow: flow.number,
            from: from.clone(),
            to: to.clone(),
            sent_packets: side.packets,
            retransmissions: side.retransmissions,
        };
        Finding::new(Conclusion::Retransmission(retransmission), None, Certainty::Certain)
    });
    repeated.collect()
}

fn instrument(effect: InstrumentEffect, certainty: Certainty) -> Finding {
    Finding::new(Conclusion::Instrument(effect), None, certainty)
}
