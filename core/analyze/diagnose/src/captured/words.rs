//! The parts of sentences about a queue.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedFlow, CapturedQueue, Estimate, QueueManagement, QueuePlace};
use fathom_text::{bytes, percent, rate, thousands};

/// Share of a queue's bytes by which a flow alone filled it.
const ALONE: f64 = 0.8;

/// Who filled the queue, to start a sentence.
pub(super) fn who(capture: &Capture, queue: &CapturedQueue) -> String {
    let flow = |number: u32| capture.flows.iter().find(|flow| flow.number == number);
    match queue.filled_by.as_slice() {
        [(number, share), ..] if *share >= ALONE => match flow(*number) {
            Some(flow) => format!("One transfer ({})", route(flow)),
            None => format!("Flow {number}"),
        },
        [] => format!("What goes from {} to {}", queue.from, queue.to),
        [(number, share), rest @ ..] => {
            format!("{} flows from {} (flow {number} with {})", rest.len() + 1, queue.from, percent(*share))
        }
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
    match queue.management.filter(|(_, sure)| *sure >= NAMED) {
        Some((QueueManagement::TailDrop, _)) => "a first-in-first-out buffer",
        Some((QueueManagement::Red, _)) => "a buffer that drops by chance",
        Some((QueueManagement::Codel, _)) => "a queue managed by CoDel",
        Some((QueueManagement::FairQueueing, _)) => "its own queue of a fair scheduler",
        Some((QueueManagement::NoneSeen, _)) | None => "a buffer",
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
