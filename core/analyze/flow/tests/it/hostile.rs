//! Malicious input: no content causes a panic, and memory is bounded.
use crate::packets::{bytes, packet, segment};
use fathom_capture::{Address, Packet};
use fathom_flow::{BatchedTracer, Bounds, FlowId, Flows, Sink, Times, Tracer};
use fathom_units::Rng;

const BOUNDS: Bounds = Bounds { lone_flows: 100, flows: 300, waiting: 2000, hash_seed: 7 };

/// Either kind of tracer.
trait AnyTracer {
    fn packet(&mut self, times: Times, packet: &Packet<'_>);
    fn flows(&self) -> usize;
    fn waiting(&self) -> usize;
    fn finish(self) -> Flows;
}

macro_rules! any_tracer {
    ($kind:ident) => {
        impl AnyTracer for $kind<()> {
            fn packet(&mut self, times: Times, packet: &Packet<'_>) {
                $kind::packet(self, times, packet);
            }
            fn flows(&self) -> usize {
                $kind::flows(self)
            }
            fn waiting(&self) -> usize {
                $kind::waiting(self)
            }
            fn finish(self) -> Flows {
                $kind::finish(self).0
            }
        }
    };
}

any_tracer!(Tracer);
any_tracer!(BatchedTracer);

fn trace_random_packets(mut tracer: impl AnyTracer, seed: u64, ends: u64) {
    let mut rng = Rng::new(seed);
    let (mut last, mut at) = ([0, 0], 0_i64);
    for frame in 0..20_000 {
        let bytes = bytes(&mut rng);
        at = at.wrapping_add(rng.below(3_000_000) as i64 - 1_000_000);
        if rng.chance(0.001) {
            at = [i64::MIN, i64::MAX, 0, -1][rng.below(4) as usize];
        }
        let packet = packet(&mut rng, &mut last, &bytes, ends);
        tracer.packet(Times { at, frame }, &packet);
        assert!(tracer.flows() <= BOUNDS.flows, "seed {seed} frame {frame}");
        assert!(tracer.waiting() <= BOUNDS.waiting + 70, "seed {seed} frame {frame}: {}", tracer.waiting());
    }
    assert_eq!(tracer.finish().totalled.packets, 20_000);
}

#[test]
fn random_packets_of_few_flows_and_of_many() {
    for seed in 0..20 {
        for ends in [2, 250] {
            trace_random_packets(Tracer::bounded((), BOUNDS), seed, ends);
            trace_random_packets(BatchedTracer::bounded((), BOUNDS), seed, ends);
        }
    }
}

#[test]
fn a_syn_flood_is_counted_and_the_busy_flow_is_kept() {
    let mut tracer = Tracer::bounded((), BOUNDS);
    let floods = 50_000;
    for nth in 0..floods {
        let times = Times { at: i64::from(nth) * 1000, frame: u64::from(nth) };
        tracer.packet(times, &segment(0x0a00_0000 + nth, 2, nth * 7919, 0));
        if nth % 1000 == 0 {
            tracer.packet(times, &segment(0xc000_0201, 16, nth / 1000 * 200, 100));
            tracer.packet(times, &segment(0xc000_0201, 16, nth / 1000 * 200 + 100, 100));
        }
    }
    assert!(tracer.flows() <= BOUNDS.lone_flows + 1, "{}", tracer.flows());
    let (flows, ()) = tracer.finish();
    let kept = flows.flows.len() as u64;
    assert_eq!(flows.totalled.forgotten_flows, u64::from(floods) + 1 - kept);
    let busy = flows.flows.iter().find(|flow| flow.ends[0].0 == Address::v4([192, 0, 2, 1])).unwrap();
    assert_eq!(busy.totals()[0].unique_bytes, 10_000);
}

/// Identifiers and first frames of the opened flows.
#[derive(Default)]
struct Opened(Vec<(FlowId, u64)>);

impl Sink for Opened {
    fn opened(&mut self, flow: FlowId, _: [(Address, u16); 2], times: Times) {
        self.0.push((flow, times.frame));
    }
}

fn flood(tracer: &mut Tracer<Opened>) {
    for nth in 0..50_000 {
        let times = Times { at: i64::from(nth) * 1000, frame: u64::from(nth) };
        tracer.packet(times, &segment(0x0a00_0000 + nth, 2, nth * 7919, 0));
    }
}

/// Sinks use identifiers as indices.
#[test]
fn identifiers_are_reused_and_equal_in_a_second_pass() {
    let mut first = Tracer::bounded(Opened::default(), BOUNDS);
    flood(&mut first);
    let (flows, opened) = first.finish();
    let greatest = opened.0.iter().map(|(flow, _)| flow.0).max().unwrap();
    assert!(greatest as usize <= BOUNDS.lone_flows, "{greatest}");
    assert!(flows.flows.is_sorted_by_key(|flow| flow.first.frame), "in the order of first packets");
    let kept: Vec<(FlowId, u64)> = flows.flows.iter().map(|flow| (flow.id, flow.first.frame)).collect();
    let mut second = Tracer::second_pass(Opened::default(), BOUNDS, &flows);
    flood(&mut second);
    assert_eq!(second.finish().1.0, kept);
}

#[test]
fn unanswered_data_is_bounded() {
    let mut tracer = Tracer::bounded((), Bounds { waiting: usize::MAX, ..BOUNDS });
    for nth in 0..200_000_u32 {
        let times = Times { at: i64::from(nth) * 1000, frame: u64::from(nth) };
        tracer.packet(times, &segment(0x0a00_0001, 16, nth.wrapping_mul(100), 100));
    }
    assert!(tracer.waiting() <= 65_536, "{}", tracer.waiting());
    let (flows, ()) = tracer.finish();
    assert_eq!(flows.flows[0].totals()[0].unique_bytes, 20_000_000);
}

#[test]
fn fragments_in_a_hole_and_odd_retransmissions_are_bounded() {
    for is_hole in [true, false] {
        let mut tracer = Tracer::bounded((), BOUNDS);
        let mut send = |nth: u64, sequence: u32, bytes: u32| {
            let times = Times { at: nth as i64 * 1000, frame: nth };
            tracer.packet(times, &segment(0x0a00_0001, 16, sequence, bytes));
            assert!(tracer.waiting() <= BOUNDS.waiting + 70, "{nth}: {}", tracer.waiting());
        };
        send(0, 0, 10);
        if is_hole {
            send(1, 1_000_000_000, 10);
        } else {
            (1..100).for_each(|nth| send(nth, 10 + (nth as u32 - 1) * 1_000_000, 1_000_000));
        }
        (0..100_000).for_each(|nth| send(100 + nth, 100 + nth as u32 * 700, 1));
    }
}
