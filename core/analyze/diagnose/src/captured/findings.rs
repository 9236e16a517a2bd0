//! Findings of captures.
use super::words::{alternative, counted, delayed, instrument, manager, place, unknown, who, with_error};
use super::{is_bloated, path};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::text::{bytes, milliseconds, percent, rate, seconds, thousands};
use fathom_run::{
    Capture, CapturedFlow, CapturedProbes, CapturedQueue, CapturedSide, DelayAtLoss, DelayPercentiles,
    DelayedFlows, ManagementEstimate, ProbeKind, QueueManagement, QueuePlace,
};

/// Fewer round trips than this are few for a conclusion, and more than so many are plenty.
const FEW: u64 = 100;
const PLENTY: u64 = 1_000;
/// Certainty of a fingerprint from which it is told without reserve, and from which it is likely.
const SURE: f64 = 0.9;
const LIKELY: f64 = 0.6;
/// What questions had of a queue's delay at least, if they waited in it.
const WAITED: f64 = 0.25;
/// Flows of which retransmissions are told, and routes of which late answers are.
const TOLD: usize = 3;

/// All findings, the weightiest first.
pub(super) fn findings(capture: &Capture) -> Vec<Finding> {
    let mut all: Vec<Finding> = capture.queues.iter().flat_map(|queue| of_queue(capture, queue)).collect();
    all.extend(path::findings(capture));
    all.extend(capture.flows.iter().take(TOLD).flat_map(losses));
    let defects =
        capture.sources.iter().flat_map(|source| source.defects.iter().map(move |text| (source, text)));
    all.extend(
        defects.map(|(source, text)| instrument(format!("{}: {text}", source.name), Confidence::High)),
    );
    // Without a queue they are the verdict.
    let flows = capture.unknown.iter().filter(|_| !capture.queues.is_empty());
    all.extend(flows.map(|flow| instrument(unknown(flow), Confidence::Medium)));
    all
}

fn of_queue(capture: &Capture, queue: &CapturedQueue) -> Vec<Finding> {
    let parts = [Some(delay(capture, queue)), buffer(queue), management(queue), swing(queue), victims(queue)];
    let waited = queue.probes.iter().filter(|probes| probes.added_p95_s >= WAITED * queue.delay.p95_s);
    parts.into_iter().flatten().chain(waited.take(TOLD).map(late)).collect()
}

fn confidence(queue: &CapturedQueue) -> Confidence {
    match (queue.place, queue.samples) {
        (QueuePlace::RoundTrip, _) | (_, ..FEW) => Confidence::Low,
        (_, FEW..PLENTY) => Confidence::Medium,
        _ => Confidence::High,
    }
}

fn delay(capture: &Capture, queue: &CapturedQueue) -> Finding {
    let DelayPercentiles { p5_s, median_s, p90_s, p95_s, max_s } = queue.delay;
    let kind = if is_bloated(queue) { FindingKind::Bufferbloat } else { FindingKind::LowLatency };
    let text = format!(
        "{} filled {}: {} of delay in the middle, {} for one packet in twenty, {} at worst. It is {}.{}",
        who(capture, queue),
        manager(queue),
        milliseconds(median_s),
        milliseconds(p95_s),
        milliseconds(max_s),
        place(queue),
        elsewhere(queue),
    );
    let finding = Finding::new(kind, None, confidence(queue), text)
        .evidence("delay of the queue, 5th percentile", p5_s, "s")
        .evidence("delay of the queue, median", median_s, "s")
        .evidence("delay of the queue, 90th percentile", p90_s, "s")
        .evidence("delay of the queue, 95th percentile", p95_s, "s")
        .evidence("delay of the queue, largest", max_s, "s")
        .evidence("samples", queue.samples as f64, "1")
        .evidence_if("round trip without queues", queue.base_rtt_s, "s");
    let finding = queue.elsewhere.iter().fold(finding, |finding, other| {
        finding.evidence(format!("{}, 95th percentile", other.part), other.p95_s, "s")
    });
    let finding =
        queue.frames.iter().fold(finding, |told, frame| told.evidence("frame", *frame as f64, "frame"));
    let alternatives = queue.alternatives.iter().map(alternative);
    let finding = alternatives.fold(finding, |with, unless| with.alternative(&unless));
    if queue.base_rtt_s.is_some() {
        return finding;
    }
    finding
        .alternative("The path was never seen empty: all delays are above the least seen, and may be longer.")
}

/// The other parts of the path, which do not hold it.
fn elsewhere(queue: &CapturedQueue) -> String {
    match queue.elsewhere.iter().map(|other| other.p95_s).reduce(f64::max) {
        Some(most) => format!(" The other parts of the path add {} at most.", milliseconds(most.max(0.0))),
        None => String::new(),
    }
}

fn buffer(queue: &CapturedQueue) -> Option<Finding> {
    let link = queue.rate_bits_per_second?;
    let held = queue.buffer_bytes.map(|buffer| {
        let drain = buffer.value * 8.0 / link.value.max(1.0);
        format!(
            "; the buffer holds {}{}, which take {} to drain",
            if queue.was_full { "" } else { "at least " },
            with_error(buffer, bytes),
            milliseconds(drain)
        )
    });
    let text = format!("The link behind it carries {}{}.", with_error(link, rate), held.unwrap_or_default());
    let finding = Finding::new(FindingKind::BufferSize, None, confidence(queue), text)
        .evidence("rate, Ethernet headers included", link.value, "bit/s")
        .evidence("error of the rate", link.error, "bit/s")
        .evidence_if("buffer", queue.buffer_bytes.map(|buffer| buffer.value), "bytes")
        .evidence_if("error of the buffer", queue.buffer_bytes.map(|buffer| buffer.error), "bytes");
    let is_open = queue.buffer_bytes.is_some() && !queue.was_full;
    Some(if is_open { finding.alternative("It was never seen full: it may hold more.") } else { finding })
}

fn management(queue: &CapturedQueue) -> Option<Finding> {
    let ManagementEstimate { kind, confidence_ratio: sure } = queue.management?;
    let at = queue.delay_at_loss.map(|at| {
        format!(" Packets were lost at {} to {} of delay.", milliseconds(at.p10_s), milliseconds(at.p90_s))
    });
    let losses = match (queue.lost_packets, queue.marked_packets) {
        (0, 0) => String::new(),
        (lost, 0) => format!(
            " {} in {}.",
            counted(lost, "loss", "losses"),
            counted(queue.episodes, "episode", "episodes")
        ),
        (lost, marked) => {
            format!(" {} and {}.", counted(lost, "loss", "losses"), counted(marked, "mark", "marks"))
        }
    };
    let what = match kind {
        QueueManagement::TailDrop => "It drops only when it is full: nobody manages it.",
        QueueManagement::Red => "It drops by chance as it grows, as RED does.",
        QueueManagement::Codel => "It is kept at a target, as CoDel does.",
        QueueManagement::FairQueueing => {
            "Flows have queues of their own: others did not wait behind the one that fills it."
        }
        QueueManagement::NoneSeen => "It neither dropped nor marked: what manages it does not show.",
    };
    let confidence = match sure {
        s if s >= SURE => Confidence::High,
        s if s >= LIKELY => Confidence::Medium,
        _ => Confidence::Low,
    };
    let text = format!("{what}{losses}{}", at.unwrap_or_default());
    let seen = |value: fn(&DelayAtLoss) -> f64| queue.delay_at_loss.as_ref().map(value);
    let finding = Finding::new(FindingKind::Management, None, confidence, text)
        .evidence("losses", queue.lost_packets as f64, "packets")
        .evidence("marks", queue.marked_packets as f64, "packets")
        .evidence_if("delay at a loss, 10th percentile", seen(|loss| loss.p10_s), "s")
        .evidence_if("delay at a loss, median", seen(|loss| loss.median_s), "s")
        .evidence_if("delay at a loss, 90th percentile", seen(|loss| loss.p90_s), "s");
    Some(finding)
}

fn swing(queue: &CapturedQueue) -> Option<Finding> {
    let swing = queue.swing.as_ref()?;
    let cause = swing.control.as_ref().map(|name| {
        let predicted = swing.predicted_s.map(|s| format!(", which would take {} here", seconds(s)));
        format!(": that is {name}{}", predicted.unwrap_or_default())
    });
    let text = format!("It swings every {}{}.", seconds(swing.period_s), cause.unwrap_or_default());
    let sure = if swing.control.is_some() { Confidence::Medium } else { Confidence::Low };
    let finding = Finding::new(FindingKind::Oscillation, None, sure, text)
        .evidence("period", swing.period_s, "s")
        .evidence_if("predicted period", swing.predicted_s, "s");
    Some(finding)
}

fn victims(queue: &CapturedQueue) -> Option<Finding> {
    // What waits behind a packet of the other's on the link does not wait in its queue.
    let waited: Vec<_> =
        queue.delayed.iter().filter(|flows| flows.added_p95_s >= WAITED * queue.delay.p95_s).collect();
    let first = waited.first()?;
    let others = match waited.len() - 1 {
        0 => String::new(),
        1 => String::from(", and one more waited"),
        n => format!(", and {n} more waited"),
    };
    let text = format!(
        "{} waited {} longer because of it (one moment in twenty){others}.",
        delayed(&first.who),
        milliseconds(first.added_p95_s)
    );
    let finding = Finding::new(FindingKind::Victims, None, Confidence::Medium, text);
    let evidence =
        |with: Finding, flows: &&DelayedFlows| with.evidence(delayed(&flows.who), flows.added_p95_s, "s");
    Some(waited.iter().fold(finding, evidence))
}

/// Questions whose answers came late.
fn late(probes: &CapturedProbes) -> Finding {
    let (one, several) = match probes.kind {
        ProbeKind::Echo => ("ICMP echo", "ICMP echoes"),
        ProbeKind::Dns => ("DNS query", "DNS queries"),
        ProbeKind::QuicHandshake => ("QUIC handshake", "QUIC handshakes"),
        ProbeKind::QuicSpin => ("turn of QUIC's spin bit", "turns of QUIC's spin bit"),
    };
    let what = counted(probes.answers, one, several);
    let none = match probes.unanswered {
        0 => String::new(),
        n => format!(" {} in the whole capture had no answer.", thousands(n as f64)),
    };
    let text = format!(
        "{what} from {} to {} took up to {} meanwhile ({} without the queue).{none}",
        probes.from,
        probes.to,
        milliseconds(probes.max_s),
        milliseconds(probes.min_s)
    );
    let sure = if probes.kind == ProbeKind::QuicSpin { Confidence::Low } else { Confidence::Medium };
    let finding = Finding::new(FindingKind::Victims, None, sure, text)
        .evidence("answers while the queue stood", probes.answers as f64, "1")
        .evidence("longest of them", probes.max_s, "s")
        .evidence("added by the queue, 95th percentile", probes.added_p95_s, "s")
        .evidence("shortest in the capture", probes.min_s, "s")
        .evidence("without an answer", probes.unanswered as f64, "1");
    match probes.kind {
        ProbeKind::Dns => finding.alternative("The resolver itself took that long, to ask others."),
        ProbeKind::QuicSpin => finding.alternative("An end may turn the spin bit as it likes."),
        ProbeKind::Echo | ProbeKind::QuicHandshake => finding,
    }
}

/// What a flow sent again, and why.
fn losses(flow: &CapturedFlow) -> Vec<Finding> {
    (0..2).filter_map(|end| repeated(flow, end, &flow.sent[end])).collect()
}

fn repeated(flow: &CapturedFlow, end: usize, side: &CapturedSide) -> Option<Finding> {
    let again = side.retransmissions;
    if again.packets() == 0 {
        return None;
    }
    let causes = [
        (again.fast_packets, "after duplicate or selective acknowledgements"),
        (again.probe_packets, "as a tail loss probe or by RACK"),
        (again.timeout_packets, "by timeout"),
        (again.spurious_packets, "in vain, as the original had arrived"),
        (again.unknown_packets, "for a reason that does not show"),
    ];
    let told: Vec<String> =
        causes.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    let share = again.packets() as f64 / side.packets.max(1) as f64;
    let text = format!(
        "Flow {} ({} to {}) sent {} again, {}: {}.",
        flow.number,
        flow.ends[end],
        flow.ends[1 - end],
        counted(again.packets(), "segment", "segments"),
        percent(share),
        told.join(", ")
    );
    let finding = Finding::new(FindingKind::Loss, None, Confidence::High, text);
    Some(causes.iter().fold(finding, |with, (n, why)| with.evidence(*why, *n as f64, "packets")))
}
