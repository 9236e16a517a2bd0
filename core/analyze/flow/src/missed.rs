//! Detects packets that the capture missed, from acknowledged data that was not captured. Older
//! file formats do not record such drops.
use crate::one_sided::missing_end;
use crate::{FlowSummary, Flows, Totals};
use fathom_run::CaptureDefect;

/// Less data is no defect: with multiple CPUs it may be stored after its ACK.
const MIN_RATIO: f64 = 1e-3;
const MIN_BYTES: u64 = 2 * 1460;

/// Data that the capture missed, if it amounts to a defect. Covers flows with both directions, and
/// only ends with a captured SYN: other ends had data in flight when the capture started.
pub fn missed_data(flows: &Flows) -> Option<CaptureDefect> {
    let of_ends = |flow: &FlowSummary, bytes: fn(&Totals) -> u64| -> u64 {
        flow.totals().into_iter().filter(|side| side.offer.is_some()).map(bytes).sum()
    };
    let unseen = |flow: &FlowSummary| of_ends(flow, |side| side.unseen_bytes);
    let seen = |flow: &FlowSummary| of_ends(flow, |side| side.unique_bytes);
    // If a new connection reuses the ports and its SYN was missed, sequence numbers jump. The
    // apparently missing data was never sent.
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
