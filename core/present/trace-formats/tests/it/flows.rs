//! Summaries of flows, written by hand.
use crate::stream::ENDS;
use fathom_flow::{Close, FlowId, FlowSummary, Flows, Moments, Offer, Range, Times, Totals};

const ZERO: i64 = 1_700_000_000_000_000_000;

fn moments(values: impl IntoIterator<Item = u64>) -> Moments {
    let mut moments = Moments::default();
    values.into_iter().for_each(|value| moments.add(value));
    moments
}

fn upload() -> Totals {
    let offer = Offer {
        mss_bytes: Some(1460),
        window_shift: Some(7),
        selective: true,
        timestamps: true,
        ..Offer::default()
    };
    let mut sent = Totals {
        packets: 120,
        ack_packets: 119,
        syns: 1,
        fins: 1,
        data_packets: 102,
        segment_bytes: Range { count: 102, sum: 147_696, min: 1448, max: 1448 },
        unique_bytes: 144_800,
        repeated_packets: 2,
        repeated_bytes: 2896,
        offer: Some(offer),
        first_data_at: Some(ZERO + 21_000_123),
        last_data_at: Some(ZERO + 1_021_000_123),
        longest_idle_ns: 200_000_000,
        stream_bytes: Some(144_800),
        outstanding_bytes: Range { count: 102, sum: 1_020_000, min: 1448, max: 20_000 },
        outstanding_time_mean: Some(11_000.7),
        window_bytes: Range { count: 119, sum: 119 * 64_256, min: 64_256, max: 64_256 },
        hop_limits: Some((64, 64)),
        initial_bytes: 14_480,
        initial_packets: 10,
        ..Totals::default()
    };
    sent.retransmissions.fast = 2;
    sent.rtt.cumulative = moments([20_000_000, 30_000_000, 40_000_000]);
    sent.rtt.handshake_ns = Some(20_500_000);
    sent
}

/// An upload of a hundred segments, and a flow that was seen one way and without its beginning.
pub(crate) fn two() -> Flows {
    let answers = Totals {
        packets: 60,
        ack_packets: 60,
        pure_acks: 58,
        selective_packets: 5,
        max_blocks: 2,
        hop_limits: Some((55, 55)),
        ..Totals::default()
    };
    let times = |ns, frame| Times { at: ZERO + ns, frame };
    let summary = |id, last, close, totals: [Totals; 2]| {
        FlowSummary::new(FlowId(id), ENDS, [times(123_000, 1), last], close, totals)
    };
    let whole = summary(0, times(1_250_000_000, 180), Close::Finished, [upload(), answers]);
    let lone = Totals { packets: 1, ack_packets: 1, ..Totals::default() };
    let part = summary(7, times(123_000, 1), Close::Open, [lone, Totals::default()]);
    Flows { flows: vec![whole, part], ..Flows::default() }
}
