//! Data that was acknowledged and never captured: the capture missed packets, and no file of the older format says so.
use crate::one_sided::missing_end;
use crate::{FlowSummary, Flows, Totals};
use fathom_run::CaptureDefect;

/// Less than this share of the data, or than two segments, is no defect: processors may store data behind its ACK.
const MIN_RATIO: f64 = 1e-3;
const MIN_BYTES: u64 = 2 * 1460;

/// How much the capture missed of flows of which it has both directions, and what is wrong for that, if that is a defect. Only of ends
/// whose SYN was seen: of others data was on its way when the capture began.
pub fn missed_data(flows: &Flows) -> Option<CaptureDefect> {
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
    if missed < MIN_BYTES || ratio < MIN_RATIO {
        return None;
    }
    let some = both().filter(|flow| unseen(flow) > 0).count();
    Some(CaptureDefect::MissedData {
        bytes: missed,
        ratio,
        flows: some as u64,
        all_flows: flows.flows.len() as u64,
    })
}
