//! Packets that went past the shaper, by counters.
use super::{Counters, ShaperCounters};
use alloc::vec::Vec;
use fathom_run::ShaperBypass;
use fathom_units::Direction;

/// Less than this on the interface says nothing, in bytes.
const LEAST_BYTES: u64 = 100_000;
/// Drivers count headers and super-packets differently, by up to a twentieth.
pub(super) const SHAPED_RATIO: f64 = 0.95;

/// What went past the shaper between two readings of its counters.
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

/// Bytes that arrived and did not leave the shaper of ingress: its queue, and at most what it dropped. Packets of bulk flows are dropped,
/// full ones or super-packets, while many small acknowledgements of another direction may pass.
fn held(sent: u64, first: &ShaperCounters, last: &ShaperCounters, full_frame_bytes: u64) -> u64 {
    let packets = last.sent_packets.saturating_sub(first.sent_packets).max(1);
    let drops = last.dropped_packets.saturating_sub(first.dropped_packets);
    last.backlog_bytes + drops * full_frame_bytes.max(sent / packets)
}
