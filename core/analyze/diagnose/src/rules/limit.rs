//! Whether a full buffer counts packets or bytes.
//!
//! With load in both directions, the acknowledgments of the other load are in the queue too. They
//! are small, so a buffer that counts packets is then full of fewer bytes, and a full buffer that
//! counts bytes is as long as before.
use crate::delivery::{ACKNOWLEDGED_BYTES, Delivery};
use crate::rules::buffer::one_way_delay;
use crate::sample::loss_events;
use crate::view::{Rise, View};
use fathom_run::{BufferLimit, PhaseKind, Span};
use fathom_units::{Direction, ETHERNET_FULL_FRAME, FULL_TCP_PAYLOAD};

const FULL_BYTES: f64 = ETHERNET_FULL_FRAME.get() as f64;
const SEGMENT_BYTES: f64 = FULL_TCP_PAYLOAD.get() as f64;
/// Length of an acknowledgment with timestamps, with the Ethernet header.
const ACK_BYTES: f64 = 66.0;
/// A mean packet of more than this share of a full one is not small enough to tell. Below the
/// second share, a buffer full of packets looks like one that was never full, because another queue
/// dropped the packets.
const MAX_MEAN: f64 = 0.8;
const MIN_MEAN: f64 = 0.2;
/// The two lengths of the queue that are possible differ by one. The measured length must be within
/// this share of one of them.
const NEAR: f64 = 0.25;
/// Fewer losses do not show that the queue was full.
const MIN_LOSSES: usize = 3;

/// `delay_s` is the longest delay with load in this direction alone, of a buffer that was full.
pub(super) fn limit(view: &View<'_>, direction: Direction, delay_s: f64) -> Option<BufferLimit> {
    let both = view.rises().find(|rise| rise.phase.kind == PhaseKind::Both)?;
    if view.has_datagrams() {
        return None;
    }
    if loss_events(view.run, direction, both.phase).len() < MIN_LOSSES {
        return None;
    }
    let by_packets = mean_packet(view, direction, &both)? / FULL_BYTES;
    if !(MIN_MEAN..=MAX_MEAN).contains(&by_packets) {
        return None;
    }
    let (_, both_s) = one_way_delay(view, direction, &both)?;
    let measured = both_s / delay_s;
    let near = NEAR * (1.0 - by_packets);
    if (measured - 1.0).abs() <= near {
        Some(BufferLimit::Bytes)
    } else if (measured - by_packets).abs() <= near {
        Some(BufferLimit::Packets)
    } else {
        None
    }
}

/// Mean length of the packets in the queue of a direction, in bytes.
fn mean_packet(view: &View<'_>, direction: Direction, both: &Rise<'_>) -> Option<f64> {
    let bytes = |of: Direction| {
        let whole = Span { start_ns: both.phase.start_ns, end_ns: both.phase.end_ns };
        Some(Delivery::new(view, of, both)?.bits(whole) / 8.0)
    };
    let full = bytes(direction)? / SEGMENT_BYTES;
    let acks = bytes(direction.reverse())? / ACKNOWLEDGED_BYTES;
    (full > 0.0).then(|| (full * FULL_BYTES + acks * ACK_BYTES) / (full + acks))
}
