//! Files made to harm: whatever is in them, nothing panics, and memory is bounded.
use crate::trace_bytes::{EACH, check, check_parts};
use fathom_capture::{Address, IcmpHeader, Packet, Stamps, TcpHeader, Transport, UdpHeader};
use fathom_trace::{Bounds, FlowId, Sink, Times, Tracer};
use fathom_units::Rng;
use std::path::Path;

const BOUNDS: Bounds = Bounds { lone_flows: 100, flows: 300, waiting: 2000, hash_seed: 7 };

/// Some values are likelier: the ends of what a field can hold, and what was there before.
fn number(rng: &mut Rng, last: u32) -> u32 {
    match rng.below(6) {
        0 => rng.next_u64() as u32,
        1 => [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000][rng.below(5) as usize],
        _ => last.wrapping_add(rng.below(4000) as u32).wrapping_sub(500),
    }
}

pub(crate) fn packet<'a>(rng: &mut Rng, last: &mut [u32; 2], bytes: &'a [u8], ends: u64) -> Packet<'a> {
    let mut address = || Address::v4([10, 0, 0, rng.below(ends) as u8]);
    let (source, destination) = (address(), address());
    let [source_port, destination_port] = [(); 2].map(|()| [53, 443, 80, 50000][rng.below(4) as usize]);
    let payload_bytes = if rng.chance(0.1) { rng.next_u64() as u32 } else { rng.below(1500) as u32 };
    let cut = &bytes[..rng.below(bytes.len() as u64) as usize];
    let transport = match rng.below(20) {
        0 => Transport::Udp(UdpHeader { source_port, destination_port, payload_bytes, payload: cut }),
        1 => {
            let rest = (rng.next_u64() as u32 & 0x0001_0003).to_be_bytes();
            let kind = [0, 8, 128, 129, 3][rng.below(5) as usize];
            Transport::Icmp(IcmpHeader { is_v6: rng.chance(0.5), kind, code: 0, rest, payload: cut })
        }
        2 => Transport::Other { protocol: 47 },
        _ => {
            *last = last.map(|last| number(rng, last));
            Transport::Tcp(TcpHeader {
                source_port,
                destination_port,
                sequence: last[0],
                acknowledgement: last[1],
                flags: if rng.chance(0.5) { 0x10 } else { rng.next_u64() as u16 & 0x1ff },
                window: rng.next_u64() as u16,
                payload_bytes,
                stamps: rng
                    .chance(0.7)
                    .then(|| Stamps { value: rng.next_u64() as u32 & 0xff, echo: last[0] & 0xff }),
                options: &cut[..cut.len().min(40)],
                payload: cut,
            })
        }
    };
    let identification = Some(rng.below(3) as u16);
    let ecn = rng.below(4) as u8;
    Packet {
        source,
        destination,
        hop_limit: 1,
        dscp: 0,
        ecn,
        identification,
        ip_bytes: payload_bytes,
        wire_bytes: 1,
        transport,
    }
}

/// What may be in a packet: at random, or SACK with blocks, timestamps before it or not; or the long header of QUIC.
pub(crate) fn bytes(rng: &mut Rng) -> [u8; 60] {
    let mut bytes = [0; 60].map(|_: u8| rng.next_u64() as u8);
    match rng.below(4) {
        0 => bytes[..4].copy_from_slice(&[1, 1, 5, 34]),
        1 => bytes[..16].copy_from_slice(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 5, 26]),
        2 => bytes[..5].copy_from_slice(&[0xc0, 0, 0, 0, 1]),
        _ => {}
    }
    bytes
}

fn throw(seed: u64, ends: u64, may_wait: bool) {
    let mut rng = Rng::new(seed);
    let mut tracer = Tracer::bounded((), BOUNDS);
    let (mut last, mut at) = ([0, 0], 0_i64);
    for frame in 0..20_000 {
        let bytes = bytes(&mut rng);
        at = at.wrapping_add(rng.below(3_000_000) as i64 - 1_000_000);
        if rng.chance(0.001) {
            at = [i64::MIN, i64::MAX, 0, -1][rng.below(4) as usize];
        }
        let packet = packet(&mut rng, &mut last, &bytes, ends);
        if may_wait {
            tracer.batched(Times { at, frame }, &packet);
        } else {
            tracer.packet(Times { at, frame }, &packet);
        }
        assert!(tracer.flows() <= BOUNDS.flows, "seed {seed} frame {frame}");
        assert!(tracer.waiting() <= BOUNDS.waiting + 70, "seed {seed} frame {frame}: {}", tracer.waiting());
    }
    let (flows, ()) = tracer.finish();
    assert_eq!(flows.totalled.packets, 20_000);
}

#[test]
fn random_packets_of_few_flows_and_of_many() {
    for seed in 0..20 {
        for may_wait in [false, true] {
            throw(seed, 2, may_wait);
            throw(seed, 250, may_wait);
        }
    }
}

/// Bytes at random, with many that are as they were in the packet before.
#[test]
fn what_is_told_of_random_packets_can_be_read() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut bytes = vec![0_u8; 400 * EACH];
        for at in 0..bytes.len() {
            bytes[at] = if at < EACH || rng.chance(0.3) { rng.next_u64() as u8 } else { bytes[at - EACH] };
        }
        println!("seed {seed}");
        check(&bytes);
        check_parts(&bytes);
    }
}

#[test]
fn what_is_told_of_the_fuzz_corpus_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/trace");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        println!("{}", path.display());
        let bytes = std::fs::read(path).unwrap();
        check(&bytes);
        check_parts(&bytes);
        // Without the packets at its beginning, or with others.
        check(&bytes[10 * EACH..]);
        check(&[&bytes[20 * EACH..], &bytes[..]].concat());
    }
}

/// From one port of `source` to one of a host that is always the same.
pub(crate) fn segment(source: u32, flags: u16, sequence: u32, payload_bytes: u32) -> Packet<'static> {
    Packet {
        source: Address::v4(source.to_be_bytes()),
        destination: Address::v4([198, 51, 100, 1]),
        hop_limit: 64,
        dscp: 0,
        ecn: 0,
        identification: None,
        ip_bytes: 40 + payload_bytes,
        wire_bytes: 54 + payload_bytes,
        transport: Transport::Tcp(TcpHeader {
            source_port: 1000,
            destination_port: 80,
            sequence,
            acknowledgement: 0,
            flags,
            window: 100,
            payload_bytes,
            stamps: None,
            options: &[],
            payload: &[],
        }),
    }
}

#[test]
fn a_flood_of_syns_is_a_number_and_the_busy_flow_is_kept() {
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

/// Numbers and first frames of the flows that were opened.
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

/// Sinks keep a place for each number.
#[test]
fn numbers_of_flows_that_are_forgotten_are_given_again_and_a_second_pass_has_those_of_the_first() {
    let mut first = Tracer::bounded(Opened::default(), BOUNDS);
    flood(&mut first);
    let (flows, opened) = first.finish();
    let greatest = opened.0.iter().map(|(flow, _)| flow.0).max().unwrap();
    assert!(greatest as usize <= BOUNDS.lone_flows, "{greatest}");
    assert!(flows.flows.is_sorted_by_key(|flow| flow.first.frame), "in the order of first packets");
    let kept: Vec<(FlowId, u64)> = flows.flows.iter().map(|flow| (flow.id, flow.first.frame)).collect();
    let mut second = Tracer::again(Opened::default(), BOUNDS, &flows);
    flood(&mut second);
    assert_eq!(second.finish().1.0, kept);
}

#[test]
fn without_any_answer_what_waits_is_bounded() {
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
fn crumbs_in_a_hole_and_odd_repetitions_are_bounded() {
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
