//! Detects packets that bypass the shaper, by counters.
use super::{Counters, ShaperCounters};
use alloc::vec::Vec;
use fathom_run::ShaperBypass;
use fathom_units::Direction;

/// Minimum number of bytes on the interface for a conclusion.
const LEAST_BYTES: u64 = 100_000;
/// Drivers count headers and super-packets differently, by up to 5 %.
pub(super) const SHAPED_RATIO: f64 = 0.95;

/// Traffic that bypassed the shaper between two readings of the counters.
#[must_use]
pub fn detect_bypass(before: &Counters, after: &Counters) -> Vec<ShaperBypass> {
    let unshaped = Direction::BOTH.into_iter().filter_map(|direction| unshaped(direction, before, after));
    let unclassified_packets = after.unclassified_packets.saturating_sub(before.unclassified_packets);
    unshaped
        .chain((unclassified_packets > 0).then_some(ShaperBypass::Unclassified { unclassified_packets }))
        .collect()
}

fn unshaped(direction: Direction, before: &Counters, after: &Counters) -> Option<ShaperBypass> {
    let (first, last) = (before.shapers[direction]?, after.shapers[direction]?);
    let carried = |counters: &Counters| counters.interface.bytes[direction];
    let interface_bytes = carried(after).saturating_sub(carried(before));
    let sent = last.sent_bytes.saturating_sub(first.sent_bytes);
    let shaped_bytes = match direction {
        Direction::Up => sent,
        Direction::Down => sent + held(sent, &first, &last, after.interface.full_frame_bytes),
    };
    let is_bypassed =
        interface_bytes >= LEAST_BYTES && (shaped_bytes as f64) < interface_bytes as f64 * SHAPED_RATIO;
    is_bypassed.then_some(ShaperBypass::Unshaped { direction, interface_bytes, shaped_bytes })
}

/// Bytes that arrived at the ingress shaper but did not leave it: its backlog, and at most the
/// bytes it dropped. Dropped packets belong to bulk flows and are full-size or super-packets, while
/// the average may be lowered by many small ACKs of the other direction.
fn held(sent: u64, first: &ShaperCounters, last: &ShaperCounters, full_frame_bytes: u64) -> u64 {
    let packets = last.sent_packets.saturating_sub(first.sent_packets).max(1);
    let drops = last.dropped_packets.saturating_sub(first.dropped_packets);
    last.backlog_bytes + drops * full_frame_bytes.max(sent / packets)
}
