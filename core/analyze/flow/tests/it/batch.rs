//! Batching does not change the events of a flow or their order.
use crate::packets::{bytes, packet};
use fathom_capture::{Address, Transport};
use fathom_flow::{
    Ack, BatchedTracer, Bounds, End, FlowId, Header, Lost, RoundTrip, Segment, Sink, Spurious, Times, Tracer,
};
use fathom_units::Rng;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Events of each flow, by the frame number of its first packet.
#[derive(Default)]
struct FlowLog {
    begun: BTreeMap<FlowId, u64>,
    events: BTreeMap<u64, Vec<String>>,
}

impl FlowLog {
    fn note(&mut self, flow: FlowId, what: impl Debug) {
        self.events.entry(self.begun[&flow]).or_default().push(format!("{what:?}"));
    }
}

impl Sink for FlowLog {
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], times: Times) {
        self.begun.insert(flow, times.frame);
        self.note(flow, ends);
    }
    fn packet(&mut self, flow: FlowId, header: &Header) {
        self.note(flow, (header.times, header.end, header.flags, header.ip_bytes));
    }
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.note(flow, segment);
    }
    fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        self.note(flow, ack);
    }
    fn round_trip(&mut self, flow: FlowId, round_trip: &RoundTrip) {
        self.note(flow, round_trip);
    }
    fn lost(&mut self, flow: FlowId, lost: &Lost) {
        self.note(flow, lost);
    }
    fn spurious(&mut self, flow: FlowId, spurious: &Spurious) {
        self.note(flow, spurious);
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.note(flow, "forgotten");
    }
}

/// Flows of a few and of thousands of packets that reuse the same ports, with options of every
/// length; and flows of one packet, most of which are forgotten.
#[test]
fn each_flow_has_the_same_events_in_the_same_order() {
    for seed in 0..12 {
        let (ends, lone_flows) = [(2, 20_000), (12, 20_000), (250, 64)][seed as usize % 3];
        println!("seed {seed}: {ends} addresses, {lone_flows} lone flows");
        let bounds = Bounds { lone_flows, ..Bounds::default() };
        let mut rng = Rng::new(seed);
        let (mut at_once, mut waiting) =
            (Tracer::bounded(FlowLog::default(), bounds), BatchedTracer::bounded(FlowLog::default(), bounds));
        let (mut last, mut at) = ([0, 0], 0);
        for frame in 0..15_000 {
            at += if rng.chance(0.0005) { 61_000_000_000 } else { rng.below(3_000_000) as i64 - 1_000_000 };
            let bytes = bytes(&mut rng);
            let packet = packet(&mut rng, &mut last, &bytes, ends);
            if matches!(packet.transport, Transport::Tcp(_)) {
                at_once.packet(Times { at, frame }, &packet);
                waiting.packet(Times { at, frame }, &packet);
            }
        }
        let ((expected, one), (found, other)) = (at_once.finish(), waiting.finish());
        assert!(other.events.keys().eq(one.events.keys()), "other flows");
        for (frame, events) in &one.events {
            assert_eq!(&other.events[frame], events, "the flow of frame {frame}");
        }
        let longest = one.events.values().map(Vec::len).max();
        assert!(ends > 12 || longest > Some(20), "too few packets of each flow: {longest:?}");
        let sent = |flow: &fathom_flow::FlowSummary| {
            let sides = [End::A, End::B].map(|end| format!("{:?}", flow.sent_by(end)));
            (flow.first, flow.last, flow.close, sides)
        };
        assert_eq!(
            found.flows.iter().map(sent).collect::<Vec<_>>(),
            expected.flows.iter().map(sent).collect::<Vec<_>>()
        );
        assert_eq!(found.totalled, expected.totalled);
    }
}
