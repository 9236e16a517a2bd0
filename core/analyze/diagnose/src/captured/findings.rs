//! Findings of captures.
use super::words::{counted, manager, place, who, with_error};
use super::{is_bloated, path};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{
    Capture, CapturedFlow, CapturedProbes, CapturedQueue, CapturedSide, ProbeKind, QueueManagement,
    QueuePlace,
};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};

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
    let unknown = capture.unknown.iter().filter(|_| !capture.queues.is_empty());
    all.extend(unknown.map(|text| instrument(text.clone(), Confidence::Medium)));
    all
}

fn of_queue(capture: &Capture, queue: &CapturedQueue) -> Vec<Finding> {
    let parts = [Some(delay(capture, queue)), buffer(queue), management(queue), swing(queue), victims(queue)];
    let waited = queue.probes.iter().filter(|probes| probes.added_p95_s >= WAITED * queue.delay_s[2]);
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
    let [low, middle, high, most] = queue.delay_s;
    let kind = if is_bloated(queue) { FindingKind::Bufferbloat } else { FindingKind::LowLatency };
    let text = format!(
        "{} filled {}: {} of delay in the middle, {} for one packet in twenty, {} at worst. It is {}.{}",
        who(capture, queue),
        manager(queue),
        milliseconds(middle),
        milliseconds(high),
        milliseconds(most),
        place(queue),
        elsewhere(queue),
    );
    let finding = Finding::new(kind, None, confidence(queue), text)
        .evidence("delay of the queue, 5th percentile", low, "s")
        .evidence("delay of the queue, median", middle, "s")
        .evidence("delay of the queue, 95th percentile", high, "s")
        .evidence("delay of the queue, largest", most, "s")
        .evidence("samples", queue.samples as f64, "1")
        .evidence_if("round trip without queues", queue.base_rtt_s, "s");
    let finding = queue
        .elsewhere_s
        .iter()
        .fold(finding, |told, (name, value)| told.evidence(format!("{name}, 95th percentile"), *value, "s"));
    let finding =
        queue.frames.iter().fold(finding, |told, frame| told.evidence("frame", *frame as f64, "frame"));
    let finding = queue.because.iter().fold(finding, |told, because| told.alternative(because));
    if queue.base_rtt_s.is_some() {
        return finding;
    }
    finding
        .alternative("The path was never seen empty: all delays are above the least seen, and may be longer.")
}

/// The other parts of the path, which do not hold it.
fn elsewhere(queue: &CapturedQueue) -> String {
    let least = |most: f64| queue.elsewhere_s.iter().map(|(_, value)| *value).fold(most, f64::max);
    if queue.elsewhere_s.is_empty() {
        return String::new();
    }
    format!(" The other parts of the path add {} at most.", milliseconds(least(0.0)))
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
    let (kind, sure) = queue.management?;
    let at = queue.delay_at_loss_s.map(|[low, _, high]| {
        format!(" Packets were lost at {} to {} of delay.", milliseconds(low), milliseconds(high))
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
    let [low, middle, high] = queue.delay_at_loss_s.unwrap_or_default();
    let seen = |value: f64| queue.delay_at_loss_s.map(|_| value);
    let finding = Finding::new(FindingKind::Management, None, confidence, text)
        .evidence("losses", queue.lost_packets as f64, "packets")
        .evidence("marks", queue.marked_packets as f64, "packets")
        .evidence_if("delay at a loss, 10th percentile", seen(low), "s")
        .evidence_if("delay at a loss, median", seen(middle), "s")
        .evidence_if("delay at a loss, 90th percentile", seen(high), "s");
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
        queue.suffered.iter().filter(|(_, added)| *added >= WAITED * queue.delay_s[2]).collect();
    let (name, added) = waited.first()?;
    let others = match waited.len() - 1 {
        0 => String::new(),
        1 => String::from(", and one more waited"),
        n => format!(", and {n} more waited"),
    };
    let text = format!(
        "{name} waited {} longer because of it (one moment in twenty){others}.",
        milliseconds(*added)
    );
    let finding = Finding::new(FindingKind::Victims, None, Confidence::Medium, text);
    Some(waited.iter().fold(finding, |told, (who, value)| told.evidence(who.clone(), *value, "s")))
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
        milliseconds(probes.most_s),
        milliseconds(probes.least_s)
    );
    let sure = if probes.kind == ProbeKind::QuicSpin { Confidence::Low } else { Confidence::Medium };
    let finding = Finding::new(FindingKind::Victims, None, sure, text)
        .evidence("answers while the queue stood", probes.answers as f64, "1")
        .evidence("longest of them", probes.most_s, "s")
        .evidence("added by the queue, 95th percentile", probes.added_p95_s, "s")
        .evidence("shortest in the capture", probes.least_s, "s")
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

pub(super) fn instrument(text: String, confidence: Confidence) -> Finding {
    Finding::new(FindingKind::Instrument, None, confidence, text)
}
