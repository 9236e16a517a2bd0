//! Data that was acknowledged and never captured: the capture missed packets, and no file of the older format says so.
use crate::one_sided::missing_end;
use crate::{FlowSummary, Flows, Totals};
use alloc::format;
use alloc::string::String;
use fathom_text::{bytes, percent, thousands};

/// Less than this share of the data, or than two segments, is not worth a sentence: processors may store data behind its ACK.
const TOLD_RATIO: f64 = 1e-3;
const TOLD_BYTES: u64 = 2 * 1460;

/// How much the capture missed of flows of which it has both directions, and what is wrong for that: a sentence, if it is worth one. Only of ends
/// whose SYN was seen: of others data was on its way when the capture began.
pub fn missed_data(flows: &Flows) -> Option<String> {
    let of_ends = |flow: &FlowSummary, bytes: fn(&Totals) -> u64| -> u64 {
        flow.totals().into_iter().filter(|side| side.offer.is_some()).map(bytes).sum()
    };
    let unseen = |flow: &FlowSummary| of_ends(flow, |side| side.unseen_bytes);
    let seen = |flow: &FlowSummary| of_ends(flow, |side| side.unique_bytes);
    // Where another connection between the same ports follows, and its SYN was missed, the numbers leap: what seems unseen was never sent.
    let has_leapt = |flow: &FlowSummary| unseen(flow) > seen(flow);
    let both = || flows.flows.iter().filter(|flow| missing_end(flow).is_none() && !has_leapt(flow));
    let missed: u64 = both().map(unseen).sum();
    let ratio = missed as f64 / (missed + both().map(seen).sum::<u64>()).max(1) as f64;
    if missed < TOLD_BYTES || ratio < TOLD_RATIO {
        return None;
    }
    let some = both().filter(|flow| unseen(flow) > 0).count();
    Some(format!(
        "{} of the data of connections seen from their SYN on was acknowledged and never passed here ({}, in {} of {} flows): the \
         capture missed packets, as where more comes than can be stored, or they took another way. Payload and goodput are too low by as \
         much; what seems lost or sent again for no reason may be what was missed.",
        percent(ratio),
        bytes(missed as f64),
        thousands(some as f64),
        thousands(flows.flows.len() as f64),
    ))
}
