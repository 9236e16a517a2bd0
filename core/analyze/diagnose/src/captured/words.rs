//! Sentences about captures, and parts of them.
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::text::{bytes, percent, rate, thousands};
use fathom_run::{
    Capture, CapturedFlow, CapturedQueue, DelayedParty, Estimate, IpMarking, QueueAlternative,
    QueueManagement, QueuePlace, Remarking, UnknownQueue, UnknownReason,
};

/// Share of a queue's bytes by which a flow alone filled it.
const ALONE: f64 = 0.8;

/// Who filled the queue, to start a sentence.
pub(super) fn who(capture: &Capture, queue: &CapturedQueue) -> String {
    let flow = |number: u32| capture.flows.iter().find(|flow| flow.number == number);
    match queue.filled_by.as_slice() {
        [first, ..] if first.bytes_ratio >= ALONE => match flow(first.flow) {
            Some(flow) => format!("One transfer ({})", route(flow)),
            None => format!("Flow {}", first.flow),
        },
        [] => format!("What goes from {} to {}", queue.from, queue.to),
        [first, rest @ ..] => format!(
            "{} flows from {} (flow {} with {})",
            rest.len() + 1,
            queue.from,
            first.flow,
            percent(first.bytes_ratio)
        ),
    }
}

/// From where to where, and how much.
fn route(flow: &CapturedFlow) -> String {
    let side = usize::from(flow.sent[1].payload_bytes > flow.sent[0].payload_bytes);
    let payload = flow.sent[side].payload_bytes;
    format!("{} to {}, {}", flow.ends[side], flow.ends[1 - side], bytes(payload as f64))
}

/// Where it is, after "The queue is".
pub(super) fn place(queue: &CapturedQueue) -> String {
    let (from, to) = (&queue.from, &queue.to);
    match queue.place {
        QueuePlace::InSender => format!("inside the sending host {from} or within a millisecond of it"),
        QueuePlace::BeforeCapture => format!("between {from} and the point of capture, on the way to {to}"),
        QueuePlace::AfterCapture => format!("between the point of capture and {to}, on the way from {from}"),
        QueuePlace::RoundTrip => {
            format!("on the way from {from} to {to} or back: without timestamps it cannot be told where")
        }
    }
}

/// Certainty of a fingerprint below which it is told apart, as possible: of what manages a queue for sure it is above.
const NAMED: f64 = 0.5;

/// What kind of a queue, with its article.
pub(super) fn manager(queue: &CapturedQueue) -> &'static str {
    let management = queue.management.filter(|management| management.confidence_ratio >= NAMED);
    match management.map(|management| management.kind) {
        Some(QueueManagement::TailDrop) => "a first-in-first-out buffer",
        Some(QueueManagement::Red) => "a buffer that drops by chance",
        Some(QueueManagement::Codel) => "a queue managed by CoDel",
        Some(QueueManagement::FairQueueing) => "its own queue of a fair scheduler",
        Some(QueueManagement::NoneSeen) | None => "a buffer",
    }
}

/// How large, and before what.
pub(super) fn size(queue: &CapturedQueue) -> String {
    let about = if queue.was_full { "about" } else { "at least" };
    let buffer = queue.buffer_bytes.map(|buffer| format!(" of {about} {}", bytes(buffer.value)));
    let link = queue.rate_bits_per_second.map(|link| format!(" in front of a link of {}", rate(link.value)));
    buffer.into_iter().chain(link).collect::<Vec<_>>().concat()
}

/// `1.25 MB (within 2.0 %)`.
pub(super) fn with_error(estimate: Estimate, written: fn(f64) -> String) -> String {
    let value = written(estimate.value);
    if estimate.value <= 0.0 || estimate.error <= 0.0 {
        return value.to_string();
    }
    // No less than is shown.
    format!("{value} (within {})", percent((estimate.error / estimate.value).max(0.001)))
}

/// `1 packet`, `2,000 packets`.
pub(super) fn counted(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", thousands(count as f64)) }
}

/// Flows that waited, to start a sentence.
pub(super) fn delayed(who: &DelayedParty) -> String {
    match who {
        DelayedParty::Flow { number, ends: Some([a, b]) } => format!("Flow {number} ({a} to {b})"),
        DelayedParty::Flow { number, ends: None } => format!("Flow {number}"),
        DelayedParty::ShortFlows { count: 1 } => "A short flow's first exchange".into(),
        DelayedParty::ShortFlows { count } => format!("The first exchange of {count} short flows"),
    }
}

/// What else would look like a queue, as a sentence.
pub(super) fn alternative(alternative: &QueueAlternative) -> String {
    match alternative {
        QueueAlternative::UnsteadyClock { host, hertz, packets, error_s } => format!(
            "The timestamps of {host} do not come from a steady clock of {hertz:.1} Hz, which {} packets fit within {:.1} ms.",
            thousands(*packets as f64),
            error_s * 1e3
        ),
        QueueAlternative::AcknowledgedElsewhere => {
            "What was acknowledged while the queue stood took another way than the link behind it.".into()
        }
        QueueAlternative::ArrivedElsewhere => {
            "What arrived while the queue stood came another way than over the link behind it.".into()
        }
        QueueAlternative::SenderOrNextHop => {
            "The queue is in the sender where it is said to be behind it, or the other way \
             round: next to the sender they differ in size alone."
                .into()
        }
        QueueAlternative::Text { text } => text.clone(),
    }
}

/// Why it is not known where a flow waited, as a sentence.
pub fn unknown(UnknownQueue { flow, reason }: &UnknownQueue) -> String {
    let why = match reason {
        UnknownReason::NoQueue { p95_s, error_s } => {
            return format!(
                "Flow {flow} showed no measurable queue: at most {:.1} ms, with a clock error of {:.1} ms.",
                p95_s * 1e3,
                error_s * 1e3
            );
        }
        UnknownReason::SeveralParts { parts: [first, second] } => {
            return format!("Flow {flow} waited alike on two parts of its path: {first} and {second}.");
        }
        UnknownReason::Text { text } => return text.clone(),
        UnknownReason::TooFewRoundTrips => "it has too few round trips, and no TCP timestamps".into(),
        UnknownReason::NoTimestamps => "it has no TCP timestamps".into(),
        UnknownReason::TooFewTicks { ticks, duration_s } => {
            format!("its timestamps show {ticks:.0} ticks in {duration_s:.1} s, which is too short")
        }
        UnknownReason::RestartedClock { frame } => format!("its timestamps begin anew in frame {frame}"),
        UnknownReason::AmbiguousClock { min_hertz, max_hertz } => {
            format!("its clock may tick at {min_hertz:.0} to {max_hertz:.0} Hz")
        }
        UnknownReason::UncertainClock { error_s, variation_s } => format!(
            "its clock may be off by {:.1} ms, and delays vary by {:.1} ms",
            error_s * 1e3,
            variation_s * 1e3
        ),
        UnknownReason::AcksQueued => "its ACKs queued behind its own data".into(),
        UnknownReason::NothingSeen => "nothing was seen going that way".into(),
    };
    format!("The location of flow {flow}'s queueing delay cannot be determined: {why}.")
}

/// `DSCP 10 ECT(0) to DSCP 0 Not-ECT in 17 packets`.
pub(super) fn remarked(Remarking { from, to, packets }: &Remarking) -> String {
    format!("{} to {} in {packets} packets", marking(*from), marking(*to))
}

fn marking(IpMarking { dscp, ecn }: IpMarking) -> String {
    let ecn = match ecn & 3 {
        0 => "Not-ECT",
        1 => "ECT(1)",
        2 => "ECT(0)",
        _ => "CE",
    };
    format!("DSCP {dscp} {ecn}")
}

pub(super) fn instrument(text: String, confidence: Confidence) -> Finding {
    Finding::new(FindingKind::Instrument, None, confidence, text)
}
