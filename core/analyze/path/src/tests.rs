//! A simulated path with known ground truth, captured with unsynchronized clocks.
use super::*;
use alloc::vec::Vec;
use fathom_capture::{Address, IcmpHeader, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::Times;
use fathom_units::Rng;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;

#[derive(Clone, Copy, Debug)]
struct Passing {
    at: i64,
    number: u32,
    is_back: bool,
    hop_limit: u8,
    dscp: u8,
}

impl Passing {
    fn packet(self) -> Packet<'static> {
        let (client, server) = ((Address::v4([192, 0, 2, 1]), 50_000), (Address::v4([198, 51, 100, 2]), 443));
        let (from, to) = if self.is_back { (server, client) } else { (client, server) };
        let tcp = TcpHeader {
            source_port: from.1,
            destination_port: to.1,
            sequence: self.number + if self.is_back { 1 << 30 } else { 0 },
            acknowledgement: 7,
            flags: 0x10,
            window: 500,
            payload_bytes: 1448,
            stamps: Some(Stamps { value: self.number / 10, echo: 1 }),
            options: &[],
            payload: &[],
        };
        Packet {
            source: from.0,
            destination: to.0,
            hop_limit: self.hop_limit,
            dscp: self.dscp,
            ecn: 0,
            identification: Some(self.number as u16),
            ip_bytes: 1500,
            wire_bytes: 1514,
            transport: Transport::Tcp(tcp),
        }
    }
}

/// Points of a path, with a delay, a queue per direction, and losses in between.
struct World {
    /// Packets seen at each point, in forward order.
    points: Vec<Vec<Passing>>,
    /// Losses between neighboring points: forward, backward.
    lost: Vec<[u64; 2]>,
    /// Last arrival after each queue, forward and backward: queues preserve the order.
    last: Vec<[i64; 2]>,
    routers: bool,
}

const BASE: i64 = 4 * MS;
const QUEUE: i64 = 200 * MS;

impl World {
    /// Sends `packets` in each direction, one per millisecond.
    fn new(rng: &mut Rng, points: usize, packets: u32, routers: bool) -> World {
        let none = (0..points).map(|_| Vec::new()).collect();
        let (lost, last) = (alloc::vec![[0; 2]; points - 1], alloc::vec![[0; 2]; points - 1]);
        let mut world = World { points: none, lost, last, routers };
        for number in 0..packets {
            for is_back in [false, true] {
                world.send(rng, number, is_back);
            }
        }
        world.points.iter_mut().for_each(|point| point.sort_by_key(|passing| passing.at));
        world
    }
    fn send(&mut self, rng: &mut Rng, number: u32, is_back: bool) {
        let mut at = i64::from(number) * MS + rng.below(MS as u64) as i64;
        let count = self.points.len();
        for step in 0..count {
            let point = if is_back { count - 1 - step } else { step };
            let hop_limit = if self.routers { 64 - step as u8 } else { 64 };
            let dscp = if step < 2 { 10 } else { 0 };
            self.points[point].push(Passing { at, number, is_back, hop_limit, dscp });
            if step + 1 == count {
                break;
            }
            let hop = if is_back { point - 1 } else { point };
            if rng.chance(0.01) {
                self.lost[hop][usize::from(is_back)] += 1;
                return;
            }
            let last = &mut self.last[hop][usize::from(is_back)];
            at = (at + BASE + queue(rng, at, is_back)).max(*last + 1000);
            *last = at;
        }
    }
}

/// A queue that fills and drains every two seconds; backward packets rarely wait.
fn queue(rng: &mut Rng, at: i64, is_back: bool) -> i64 {
    let noise = rng.below(20_000) as i64;
    let filling = (SECOND - (at % (2 * SECOND) - SECOND).abs()) * QUEUE / SECOND;
    if is_back { noise } else { filling + noise }
}

#[derive(Clone, Copy)]
struct Own {
    offset: i64,
    skew: f64,
}

impl Own {
    fn random(rng: &mut Rng) -> Own {
        Own {
            offset: rng.below(20 * SECOND as u64) as i64 - 10 * SECOND,
            skew: (rng.next_f64() - 0.5) * 200e-6,
        }
    }
    fn reads(self, at: i64) -> i64 {
        1_700_000_000 * SECOND + at + self.offset + (at as f64 * self.skew) as i64
    }
}

const EXACT: Own = Own { offset: 0, skew: 0.0 };

fn seen(world: &World, order: &[usize], clocks: &[Own], settings: Settings) -> Result<PathReport, NoPath> {
    let mut captures = Captures::new(order.len(), settings);
    for (capture, (point, clock)) in order.iter().zip(clocks).enumerate() {
        for (frame, passing) in (1..).zip(&world.points[*point]) {
            captures.packet(capture, &passing.packet(), Times { at: clock.reads(passing.at), frame });
        }
    }
    captures.finish()
}

fn shuffled(rng: &mut Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    (1..count).rev().for_each(|last| order.swap(last, rng.below(last as u64 + 1) as usize));
    order
}

/// The direction of the report that is forward in the simulated world.
fn forward<'a>(report: &'a PathReport, order: &[usize]) -> (&'a PathDirection, &'a PathDirection) {
    let [a, b] = &report.directions;
    let ascends = a.captures.windows(2).all(|pair| order[pair[0]] < order[pair[1]]);
    if ascends { (a, b) } else { (b, a) }
}

#[test]
fn results_do_not_depend_on_order_and_clocks() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let world = World::new(&mut rng, 3, 10_000, seed % 2 == 0);
        let order = shuffled(&mut rng, 3);
        let clocks = [0; 3].map(|_| Own::random(&mut rng));
        let report = seen(&world, &order, &clocks, Settings::default()).unwrap();
        let (there, back) = forward(&report, &order);
        let points =
            |way: &PathDirection| way.captures.iter().map(|capture| order[*capture]).collect::<Vec<_>>();
        assert_eq!(
            (points(there), points(back)),
            (alloc::vec![0, 1, 2], alloc::vec![2, 1, 0]),
            "seed {seed}"
        );
        for (hop, place) in there.hops.iter().zip(0..) {
            let delays = hop.delays.unwrap();
            assert!((delays.max_ns - QUEUE as f64).abs() < 1e6, "seed {seed}: {delays:?}");
            assert!((delays.p50_ns - QUEUE as f64 / 2.0).abs() < 10e6, "seed {seed}: {delays:?}");
            let error = hop.clock.error_ns.unwrap();
            assert!((error - BASE as f64).abs() < 1e6, "seed {seed}: {error}");
            assert!((delays.min_ns - BASE as f64).abs() <= error, "seed {seed}");
            assert!(hop.clock.is_steady, "seed {seed}");
            assert_eq!(
                (hop.uncaptured, hop.appeared, hop.duplicated, hop.reordered),
                (0, 0, 0, 0),
                "seed {seed}"
            );
            // Packets at the very end are not judged.
            let lost = world.lost[place][0];
            assert!(hop.lost <= lost && hop.lost + 10 >= lost, "seed {seed}: {} of {lost}", hop.lost);
            assert!(hop.unjudged < 600, "seed {seed}: {}", hop.unjudged);
        }
        for hop in &back.hops {
            assert!(hop.delays.unwrap().max_ns < 1.2e6, "seed {seed}: {:?}", hop.delays);
        }
    }
}

#[test]
fn the_clock_is_within_its_stated_error() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let world = World::new(&mut rng, 2, 6_000, false);
        let clocks = [0; 2].map(|_| Own::random(&mut rng));
        let report = seen(&world, &[0, 1], &clocks, Settings::default()).unwrap();
        let clock = report.directions[0].hops[0].clock;
        for at in [0, 2 * SECOND, 6 * SECOND] {
            let truth = (clocks[1].reads(at) - clocks[0].reads(at)) as f64;
            let off = (clock.difference_ns(clocks[0].reads(at)) - truth).abs();
            // Error of the skew over 6 s, plus half the minimum round-trip time.
            let known = clock.error_ns.unwrap() + 6e9 * clock.skew_error_ppm / 1e6;
            assert!(off < known, "seed {seed}: {off} > {known}");
        }
    }
}

#[test]
fn hop_limits_outweigh_delays_and_the_evidence_is_reported() {
    let mut rng = Rng::new(1);
    for (routers, evidence) in [(true, Evidence::HopLimit), (false, Evidence::Delays)] {
        let world = World::new(&mut rng, 2, 2_000, routers);
        let report = seen(&world, &[0, 1], &[EXACT; 2], Settings::default()).unwrap();
        let hops = report.directions.iter().flat_map(|way| &way.hops);
        hops.for_each(|hop| {
            assert_eq!(hop.evidence, evidence);
            assert_eq!(hop.hop_limits.first().map(|(fell, _)| *fell), Some(i16::from(routers)));
        });
    }
}

#[test]
fn remarking_is_found_where_it_happens() {
    let mut rng = Rng::new(2);
    let world = World::new(&mut rng, 3, 2_000, true);
    let report = seen(&world, &[0, 1, 2], &[EXACT; 3], Settings::default()).unwrap();
    let (there, _) = forward(&report, &[0, 1, 2]);
    let changes: Vec<_> =
        there.hops.iter().map(|hop| hop.remarks.iter().map(|r| (r.from, r.to)).collect::<Vec<_>>()).collect();
    assert_eq!(changes, [[((10, 0), (10, 0))], [((10, 0), (0, 0))]]);
}

#[test]
fn packets_missed_by_a_capture_are_not_lost() {
    let mut rng = Rng::new(3);
    let mut world = World::new(&mut rng, 3, 4_000, true);
    let before = world.points[1].len();
    // The middle capture misses some of the packets.
    world.points[1].retain(|_| !rng.chance(0.1));
    let dropped = (before - world.points[1].len()) as u64;
    let report = seen(&world, &[0, 1, 2], &[EXACT; 3], Settings::default()).unwrap();
    let hops: Vec<&Hop> = report.directions.iter().filter_map(|way| way.hops.first()).collect();
    let uncaptured: u64 = hops.iter().map(|hop| hop.uncaptured).sum();
    // Missed packets that the network lost afterwards, 1 %, are found nowhere.
    assert!(uncaptured <= dropped && uncaptured * 100 > dropped * 96, "{uncaptured} of {dropped}");
    let truth: u64 = world.lost[0][0] + world.lost[1][1];
    let lost: u64 = hops.iter().map(|hop| hop.lost).sum();
    assert!(lost.abs_diff(truth) < 25, "{lost}, not {truth}");
}

#[test]
fn duplicates_and_reordering_are_counted() {
    let mut rng = Rng::new(4);
    let mut world = World::new(&mut rng, 2, 2_000, true);
    world.lost = Vec::new();
    let far = &mut world.points[1];
    let forward: Vec<usize> = (0..far.len()).filter(|place| !far[*place].is_back).collect();
    // Delays every 100th packet by 50 ms, and duplicates every 101st.
    let copies: Vec<Passing> = forward.iter().skip(1).step_by(100).map(|place| far[*place]).collect();
    let count = copies.len() as u64;
    forward.iter().step_by(100).take(10).for_each(|place| far[*place].at += 50 * MS);
    far.extend(copies.iter().map(|copy| Passing { at: copy.at + 30_000, ..*copy }));
    far.sort_by_key(|passing| passing.at);
    let report = seen(&world, &[0, 1], &[EXACT; 2], Settings::default()).unwrap();
    let hop = &report.directions.iter().find(|way| way.captures == [0, 1]).unwrap().hops[0];
    assert_eq!((hop.duplicated, hop.reordered), (count, 10));
}

#[test]
fn beyond_the_limit_a_sample_of_whole_trajectories_remains() {
    let mut rng = Rng::new(5);
    let world = World::new(&mut rng, 2, 20_000, true);
    let all = seen(&world, &[0, 1], &[EXACT; 2], Settings::default()).unwrap();
    let settings = Settings { limit: 25_000, ..Settings::default() };
    let some = seen(&world, &[0, 1], &[EXACT; 2], settings).unwrap();
    assert_eq!((all.one_of, some.one_of), (1, 4));
    // The direction with the most packets may differ in the sample.
    let ((there, back), (there_too, back_too)) = (forward(&all, &[0, 1]), forward(&some, &[0, 1]));
    for (way, same) in [(there, there_too), (back, back_too)] {
        let (whole, part) = (&way.hops[0], &same.hops[0]);
        let ratio = part.matched as f64 / whole.matched as f64;
        assert!((ratio - 0.25).abs() < 0.02, "{ratio}");
        // 200 losses, a quarter of them in the sample, with four standard deviations.
        assert!(part.lost.abs_diff(whole.lost / 4) < 28, "{} of {}", part.lost, whole.lost);
        let (a, b) = (whole.delays.unwrap(), part.delays.unwrap());
        assert!((a.p50_ns - b.p50_ns).abs() < 5e6);
    }
}

#[test]
fn captures_without_common_packets_are_rejected() {
    let mut rng = Rng::new(6);
    let mut world = World::new(&mut rng, 2, 100, true);
    world.points[1].iter_mut().for_each(|passing| passing.number += 1_000_000);
    let refused = seen(&world, &[0, 1], &[EXACT; 2], Settings::default()).unwrap_err();
    assert!(matches!(&refused, NoPath::NothingInCommon { packets } if packets.len() == 2), "{refused}");
    assert_eq!(seen(&world, &[0], &[EXACT], Settings::default()), Err(NoPath::OneCapture));
}

#[test]
fn flows_are_matched_across_a_nat() {
    for (seed, ports, identifies) in [(7, 0, true), (8, 7, true), (9, 60_000, false), (10, 60_000, true)] {
        let mut rng = Rng::new(seed);
        let world = World::new(&mut rng, 3, 2_000, true);
        // Two captures before the NAT, one after it, in any order.
        let order = shuffled(&mut rng, 3);
        let mut captures = Captures::new(3, Settings::default());
        for (capture, point) in order.iter().enumerate() {
            for (frame, passing) in (1..).zip(&world.points[*point]) {
                let mut packet = passing.packet();
                if *point == 2 {
                    translate(&mut packet, passing.is_back, ports);
                    packet.identification = packet.identification.filter(|_| identifies).or(Some(0));
                }
                captures.packet(capture, &packet, Times { at: passing.at, frame });
            }
        }
        let report = captures.finish().unwrap();
        let (there, back) = forward(&report, &order);
        let hops = [&there.hops[0], &there.hops[1], &back.hops[1], &back.hops[0]];
        let truths = [world.lost[0][0], world.lost[1][0], world.lost[0][1], world.lost[1][1]];
        for (hop, truth) in hops.iter().zip(truths) {
            // The last packets are not judged.
            assert!(hop.lost <= truth && hop.lost + 6 >= truth, "seed {seed}: {} of {truth}", hop.lost);
        }
        assert_eq!(hops.map(|hop| hop.translated_flows), [0, 1, 0, 1], "seed {seed}");
        assert_eq!(hops.map(|hop| hop.appeared), [0; 4], "seed {seed}");
    }
}

#[test]
fn hosts_behind_one_nat_are_distinguished() {
    let mut rng = Rng::new(11);
    let world = World::new(&mut rng, 2, 1_000, true);
    let mut captures = Captures::new(2, Settings::default());
    for (capture, point) in world.points.iter().enumerate() {
        for (frame, passing) in (1..).zip(point) {
            for host in 0..3_u8 {
                let mut packet = passing.packet();
                let inside = Address::v4([192, 168, 1, 10 + host]);
                if let Transport::Tcp(tcp) = &mut packet.transport {
                    tcp.sequence += 1_000_000 * u32::from(host);
                }
                let (client, _) = client_of(&mut packet, passing.is_back);
                *client = inside;
                // The third host has its own public address.
                if capture == 1 && host < 2 {
                    translate(&mut packet, passing.is_back, 1000 + u16::from(host));
                }
                captures.packet(capture, &packet, Times { at: passing.at, frame });
            }
        }
    }
    let report = captures.finish().unwrap();
    let (there, back) = forward(&report, &[0, 1]);
    for (hop, sense) in [(&there.hops[0], 0), (&back.hops[0], 1)] {
        assert_eq!(hop.translated_flows, 2);
        let (all, lost) = (3 * 1_000, 3 * world.lost[0][sense]);
        assert_eq!(hop.matched, all - lost);
        assert!(hop.lost <= lost && hop.lost + 18 >= lost, "{} of {lost}", hop.lost);
    }
}

#[test]
fn echoes_and_datagrams_behind_a_nat_need_several_matches() {
    let mut captures = Captures::new(2, Settings::default());
    for number in 0..50 {
        for (capture, there, back) in [(0, 0, 4), (1, 1, 3)] {
            for (ms, is_back) in [(there, false), (back, true)] {
                let times = Times { at: (i64::from(number) * 10 + ms) * MS, frame: number.into() };
                captures.packet(capture, &echo_of(number, capture == 1, is_back), times);
            }
        }
    }
    let report = captures.finish().unwrap();
    assert_eq!(report.directions.each_ref().map(|way| way.hops[0].matched), [50, 50]);
    // Neither broadcasts nor a single request without a response identify a flow.
    let mut strangers = Captures::new(2, Settings::default());
    for number in 1..9 {
        for capture in 0..2 {
            let mut packet = echo_of(number, capture == 1, false);
            if number > 1 {
                packet.destination = Address::v4([224, 0, 0, 251]);
            }
            strangers.packet(capture, &packet, Times { at: 0, frame: 1 });
        }
    }
    assert!(strangers.finish().is_err());
}

/// An echo of 192.168.1.5, or of 203.0.113.9 with another identifier after the NAT.
fn echo_of(number: u16, is_translated: bool, is_back: bool) -> Packet<'static> {
    let mut packet = Passing { at: 0, number: 1, is_back, hop_limit: 64, dscp: 0 }.packet();
    let (inside, server) = (Address::v4([192, 168, 1, 5]), Address::v4([198, 51, 100, 2]));
    let client = if is_translated { Address::v4([203, 0, 113, 9]) } else { inside };
    (packet.source, packet.destination) = if is_back { (server, client) } else { (client, server) };
    let [high, low] = number.to_be_bytes();
    let identifier = if is_translated { 9 } else { 77 };
    packet.identification = Some(0);
    packet.transport = Transport::Icmp(IcmpHeader {
        is_v6: false,
        kind: if is_back { 0 } else { 8 },
        code: 0,
        rest: [0, identifier, high, low],
        payload: &[],
    });
    packet
}

fn client_of<'a>(packet: &'a mut Packet<'static>, is_back: bool) -> (&'a mut Address, Option<&'a mut u16>) {
    let address = if is_back { &mut packet.destination } else { &mut packet.source };
    let port = match &mut packet.transport {
        Transport::Tcp(tcp) => Some(if is_back { &mut tcp.destination_port } else { &mut tcp.source_port }),
        _ => None,
    };
    (address, port)
}

/// Ten segments, captured as one packet at the sender, and as six and four at the receiver.
#[test]
fn super_packets_are_matched_segment_by_segment() {
    let passing =
        |at: i64, number: u32, is_back: bool| Passing { at, number, is_back, hop_limit: 64, dscp: 0 };
    let joined = |at: i64, first: u32, count: u32| {
        let mut packet = passing(at, first * 1448, false).packet();
        packet.identification = Some(first as u16);
        if let Transport::Tcp(tcp) = &mut packet.transport {
            tcp.payload_bytes = count * 1448;
            tcp.stamps = Some(Stamps { value: 1, echo: 1 });
            packet.ip_bytes = 52 + tcp.payload_bytes;
        }
        packet
    };
    let mut captures = Captures::new(2, Settings::default());
    let mut frames = 1_u64..;
    let mut add = |capture: usize, at: i64, packet: &Packet<'_>| {
        let times = Times { at, frame: frames.next().unwrap_or(0) };
        captures.packet(capture, packet, times);
    };
    for round in 0..50_i64 {
        let (at, first) = (round * 10 * MS, round as u32 * 10);
        add(0, at, &joined(at, first, 10));
        add(1, at + 2 * MS, &joined(at, first, 6));
        // One segment of every second round is lost.
        let from = if round % 2 == 0 { 6 } else { 7 };
        add(1, at + 3 * MS, &joined(at, first + from, 10 - from));
        let ack = passing(at, first + 1, true).packet();
        add(1, at + 4 * MS, &ack);
        add(0, at + 6 * MS, &ack);
    }
    let report = captures.finish().unwrap();
    assert_eq!(report.captures.iter().map(|seen| seen.super_packets).collect::<Vec<_>>(), [50, 100]);
    let hop = &report.directions[0].hops[0];
    assert_eq!((hop.matched, hop.lost, hop.lost_bytes), (475, 25, 25 * 1500));
    assert_eq!(hop.delays.unwrap().max_ns, 1e6);
}

/// Translates the client like a NAT; port 0 leaves the port unchanged.
fn translate(packet: &mut Packet<'static>, is_back: bool, to: u16) {
    let (address, port) = client_of(packet, is_back);
    *address = Address::v4([203, 0, 113, 9]);
    if let Some(port) = port.filter(|_| to != 0) {
        *port = to;
    }
}

/// Files may contain arbitrary times and numbers, and no path at all.
#[test]
fn arbitrary_packets_do_not_panic() {
    const TIMES: [i64; 6] = [i64::MIN, i64::MAX, 0, -1, 1_700_000_000 * SECOND, i64::MIN + 1];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let is_one_clock = rng.chance(0.5);
        let mut captures = Captures::new(3, Settings { limit: 300, is_one_clock });
        for frame in 0..1000 {
            let number = rng.below(60) as u32;
            let (hop_limit, is_back) = (rng.next_u64() as u8, rng.chance(0.5));
            let mut packet = Passing { at: 0, number, is_back, hop_limit, dscp: 0 }.packet();
            if let Transport::Tcp(tcp) = &mut packet.transport {
                tcp.payload_bytes = if rng.chance(0.1) { rng.next_u64() as u32 } else { 100 } % 200_000;
                tcp.flags = rng.below(512) as u16;
                tcp.options = if rng.chance(0.5) { &[2, 4, 0, 9, 1] } else { &[2, 4, 0] };
            }
            packet.ip_bytes = rng.below(300) as u32;
            let at = TIMES[rng.below(6) as usize].wrapping_add(rng.below(1000) as i64);
            captures.packet(rng.below(4) as usize, &packet, Times { at, frame });
        }
        // The result is arbitrary, but there must be one.
        let _ = captures.finish();
    }
}
