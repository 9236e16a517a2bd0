//! Detects flows with only one captured direction: asymmetric routes, or a tap of a single fiber.
use crate::{End, FlowSummary, Flows};
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_run::CaptureDefect;

/// Fewer ACKs to an uncaptured end prove nothing: the capture may start or end in between.
const ANSWERS: u64 = 4;

/// The end without any captured packet, although the other end acknowledges its data.
pub fn missing_end(flow: &FlowSummary) -> Option<End> {
    let is_missing = |end: End| flow.sent_by(end).packets == 0 && flow.sent_by(end.other()).ack_packets > 0;
    [End::A, End::B].into_iter().find(|end| is_missing(*end))
}

/// The missing direction of flows with one captured direction, if there are any.
pub fn missing_directions(flows: &Flows) -> Option<CaptureDefect> {
    let missing = |flow: &FlowSummary| {
        let end = missing_end(flow)?;
        Some([end, end.other()].map(|end| flow.ends[end as usize].0))
    };
    let is_sure = |flow: &FlowSummary| flow.totals().iter().any(|side| side.ack_packets >= ANSWERS);
    if !flows.flows.iter().any(|flow| missing(flow).is_some() && is_sure(flow)) {
        return None;
    }
    let found: Vec<[Address; 2]> = flows.flows.iter().filter_map(missing).collect();
    let [from, to] = *found.first()?;
    let is_from_one = found.iter().all(|[other, _]| *other == from);
    let is_to_one = found.iter().all(|[_, other]| *other == to);
    Some(CaptureDefect::OneDirection {
        flows: found.len() as u64,
        all_flows: flows.flows.len() as u64,
        from: is_from_one.then(|| from.to_string()),
        to: is_to_one.then(|| to.to_string()),
    })
}
