//! Flows of which one direction was captured: asymmetric routes, or a tap of one fibre.
use crate::{End, FlowSummary, Flows};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_capture::Address;

/// Fewer answers in a flow to an end that was not captured prove nothing: a capture may begin or end between the two.
const ANSWERS: u64 = 4;

/// The end of which nothing was captured, though the other answers it.
pub fn missing_end(flow: &FlowSummary) -> Option<End> {
    let is_missing = |end: End| flow.sent_by(end).packets == 0 && flow.sent_by(end.other()).ack_packets > 0;
    [End::A, End::B].into_iter().find(|end| is_missing(*end))
}

/// What is missing of flows of which one direction was captured, and what cannot be known of them: a sentence, if there are any.
pub fn missing_directions(flows: &Flows) -> Option<String> {
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
    let what =
        match (found.iter().all(|[other, _]| *other == from), found.iter().all(|[_, other]| *other == to)) {
            (true, true) => format!("what {from} sent to {to}"),
            (true, false) => format!("what {from} sent"),
            (false, true) => format!("what was sent to {to}"),
            (false, false) => format!("what {from} sent to {to}, and so on"),
        };
    let count = match (found.len(), flows.flows.len()) {
        (1, 1) => String::from("Of the one TCP flow"),
        (some, all) if some == all => format!("Of all {all} TCP flows"),
        (some, all) => format!("Of {some} of {all} TCP flows"),
    };
    Some(format!(
        "{count} only one direction was captured: {what} is missing, as packets went another way, or a tap took one direction. \
         Neither round trips nor data in flight can be known there, nor why packets were sent again; a queue shows by \
         timestamps alone, and only before the point of capture."
    ))
}
