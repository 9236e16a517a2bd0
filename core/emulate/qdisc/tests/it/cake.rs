//! CAKE's shares, rates, tables and limits.
use crate::common::{Header, TestPacket, build, packet};
use fathom_qdisc::{
    AnyQdisc, Cells, Diffserv, DropReason, Ecn, Framing, MarkReason, Packet, Qdisc, Sink, SizeBase, Spec,
};
use fathom_units::{Bytes, Duration, Rate, Rng, Time};
use std::collections::BTreeMap;

/// Queued packets per flow.
const STANDING: usize = 4;

#[derive(Default)]
struct Drops(Vec<(TestPacket, DropReason)>);

impl Sink<TestPacket> for Drops {
    fn dropped(&mut self, packet: TestPacket, reason: DropReason, _: Duration, _: Time) {
        self.0.push((packet, reason));
    }
    fn marked(&mut self, _: &TestPacket, _: MarkReason, _: Time) {}
}

/// A queue in which every flow always has packets: each packet that leaves is replaced.
struct Saturated {
    queue: AnyQdisc<TestPacket>,
    now: Time,
    /// Count drops as sent: on ingress they have used the link and belong to a flow's share.
    is_ingress: bool,
}

impl Saturated {
    fn new(spec: &str, flows: &[TestPacket]) -> Self {
        let mut saturated =
            Saturated { queue: build(spec), now: Time::ZERO, is_ingress: spec.contains("ingress") };
        flows.iter().for_each(|flow| saturated.add(flow));
        saturated
    }
    fn add(&mut self, flow: &TestPacket) {
        (0..STANDING).for_each(|_| self.queue.enqueue(flow.clone(), self.now, &mut Drops::default()));
    }
    /// Bytes per flow while `count` packets are sent. Without a shaper each takes a millisecond.
    fn send(&mut self, count: usize) -> BTreeMap<u64, f64> {
        let mut sent = BTreeMap::new();
        for _ in 0..count {
            let mut drops = Drops::default();
            let packet = loop {
                if let Some((packet, _)) = self.queue.dequeue(self.now, &mut drops) {
                    break packet;
                }
                self.now = self.queue.next_ready(self.now).unwrap();
            };
            if !self.is_ingress {
                *sent.entry(packet.flow).or_default() += packet.len.get() as f64;
            }
            if self.queue.next_ready(self.now) == Some(self.now) {
                self.now += Duration::from_millis(1);
            }
            drops.0.push((packet, DropReason::Aqm));
            for (gone, _) in drops.0 {
                if self.is_ingress {
                    *sent.entry(gone.flow).or_default() += gone.len.get() as f64;
                }
                self.queue.enqueue(gone, self.now, &mut Drops::default());
            }
        }
        sent
    }
}

fn between(flow: u64, hosts: [u64; 2]) -> TestPacket {
    TestPacket { header: Header { hosts: Some(hosts), ..Header::default() }, ..packet(flow, flow, 1000) }
}
fn with_dscp(flow: u64, dscp: u8) -> TestPacket {
    TestPacket { header: Header { dscp, ..Header::default() }, ..packet(flow, flow, 1000) }
}

/// On the side `shared`, flows 1 to 8 share a host and flow 9 has one; on the other, each has one.
fn eight_against_one(shared: usize) -> Vec<TestPacket> {
    let hosts = |flow: u64| {
        let mut hosts = [100 + flow; 2];
        hosts[shared] = if flow == 9 { 2 } else { 1 };
        hosts
    };
    (1..=9).map(|flow| between(flow, hosts(flow))).collect()
}

/// Bytes of flows 1 to 8 per byte of flow 9.
fn ratio(sent: &BTreeMap<u64, f64>) -> f64 {
    (1..=8).map(|flow| sent.get(&flow).copied().unwrap_or(0.0)).sum::<f64>() / sent[&9]
}

#[test]
fn each_mode_isolates_its_hosts() {
    // The share of the eight flows' host per share of flow 9's host, as source and as destination.
    let table = [
        ("flows", [8.0, 8.0]),
        ("srchost", [1.0, 8.0]),
        ("dsthost", [8.0, 1.0]),
        ("hosts", [8.0, 8.0]),
        ("dual-srchost", [1.0, 8.0]),
        ("dual-dsthost", [8.0, 1.0]),
        ("triple-isolate", [1.0, 1.0]),
        // One queue: packets leave in the order of arrival.
        ("flowblind", [8.0, 8.0]),
    ];
    for (mode, by_side) in table {
        for rate in ["bandwidth 10mbit", "unlimited", "bandwidth 10mbit ingress"] {
            for (side, expected) in by_side.into_iter().enumerate() {
                let mut queue = Saturated::new(&format!("cake {rate} {mode}"), &eight_against_one(side));
                queue.send(500);
                let got = ratio(&queue.send(10_000));
                assert!((got / expected - 1.0).abs() < 0.04, "{mode}, {rate}, side {side}: {got} to 1");
            }
        }
    }
}

/// Linux 5.8 used the socket's hash of the whole flow for `srchost` and `dsthost` too (commit
/// b0c19ed6088a, found by heistp/cake-flowiso), so that a host got a share for each of its flows.
#[test]
fn flows_of_a_host_share_a_queue_in_srchost_and_dsthost() {
    for (mode, side) in [("srchost", 0), ("dsthost", 1)] {
        let mut queue = Saturated::new(&format!("cake bandwidth 10mbit {mode}"), &eight_against_one(side));
        queue.send(500);
        let got = ratio(&queue.send(10_000));
        assert!((got - 1.0).abs() < 0.04, "{mode}: {got} to 1");
    }
}

/// All nine flows go to one host, which has more bulk flows than either source: a ninth each.
#[test]
fn triple_isolation_looks_at_the_host_with_more_flows() {
    let to_one: Vec<_> = (1..=9).map(|flow| between(flow, [if flow == 9 { 2 } else { 1 }, 500])).collect();
    for (mode, expected) in [("triple-isolate", 8.0), ("dual-srchost", 1.0)] {
        let mut queue = Saturated::new(&format!("cake bandwidth 10mbit {mode}"), &to_one);
        queue.send(500);
        let got = ratio(&queue.send(10_000));
        assert!((got / expected - 1.0).abs() < 0.04, "{mode}: {got} to 1");
    }
}

/// More flows than queues come and go, so that queues are shared and change owners. Counting a
/// host's bulk flow twice or never removing it (as in Linux before 6.12) would make shares wrong.
#[test]
fn host_counts_survive_collisions() {
    for seed in 0..5 {
        let (mut queue, mut rng) = (Saturated::new("cake bandwidth 1gbit besteffort", &[]), Rng::new(seed));
        for _ in 0..40_000 {
            queue.now += Duration::from_micros(5);
            if rng.chance(0.6) {
                let flow = 10 + rng.below(4000);
                let arrival = between(flow, [flow % 307, flow * 7 % 293]);
                queue.queue.enqueue(arrival, queue.now, &mut Drops::default());
            } else {
                queue.queue.dequeue(queue.now, &mut Drops::default());
            }
        }
        while queue.queue.backlog().packets > 0 {
            queue.now += Duration::from_micros(50);
            queue.queue.dequeue(queue.now, &mut Drops::default());
        }
        eight_against_one(0).iter().for_each(|flow| queue.add(flow));
        queue.send(2000);
        let got = ratio(&queue.send(10_000));
        assert!((got - 1.0).abs() < 0.04, "seed {seed}: {got} to 1");
    }
}

#[test]
fn tins_share_by_their_weights() {
    let voice_video_bulk = [with_dscp(1, 0), with_dscp(2, 8), with_dscp(3, 34), with_dscp(4, 46)];
    let weights = [256.0, 224.0, 196.0, 171.0, 149.0, 130.0, 113.0, 98.0];
    let eight: Vec<_> = (0..8).map(|tin| with_dscp(tin + 1, tin as u8 * 8)).collect();
    let table: [(&str, &[TestPacket], Vec<f64>); 5] = [
        // Each tin gets its part of the rate; best effort gets the rest.
        ("bandwidth 16mbit diffserv4", &voice_video_bulk, vec![3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25]),
        // Without a video tin, video is best effort: two flows share that tin.
        ("bandwidth 16mbit diffserv3", &voice_video_bulk, vec![11.0 / 32.0, 1.0 / 16.0, 11.0 / 32.0, 0.25]),
        ("bandwidth 16mbit besteffort", &voice_video_bulk, vec![0.25; 4]),
        ("unlimited diffserv4", &voice_video_bulk, [16.0, 1.0, 8.0, 4.0].map(|share| share / 29.0).into()),
        ("unlimited precedence", &eight, weights.map(|weight| weight / 1337.0).into()),
    ];
    for (spec, flows, shares) in table {
        let mut queue = Saturated::new(&format!("cake {spec}"), flows);
        queue.send(1000);
        let sent = queue.send(20_000);
        let total: f64 = sent.values().sum();
        for (flow, share) in shares.into_iter().enumerate() {
            let got = sent[&(flow as u64 + 1)] / total;
            assert!((got / share - 1.0).abs() < 0.03, "{spec}: flow {} has {got}, not {share}", flow + 1);
        }
    }
}

/// The charged bytes of what left, divided by the time it took.
#[test]
fn the_long_run_rate_is_the_one_set() {
    let atm = Framing { base: SizeBase::Ip, overhead: 40, min_packet: 0, cells: Cells::Atm };
    let docsis = Framing { base: SizeBase::Ip, overhead: 18, min_packet: 64, cells: Cells::None };
    let table = [("", Framing::default()), ("pppoe-llcsnap", atm), ("docsis", docsis)];
    for rate in [333_333, 1_000_000, 20_000_000, 333_333_333, 2_500_000_000_u64] {
        for (words, framing) in table {
            let (mut queue, mut rng) = (build(&format!("cake bandwidth {rate}bit {words}")), Rng::new(rate));
            let (mut now, mut charged) = (Time::ZERO, 0);
            for number in 0..30_000 {
                let ip = 40 + rng.below(1461);
                let header = Header { ip_len: Some(Bytes(ip)), ..Header::default() };
                let wire = TestPacket { header, ..packet(number, rng.below(5), ip + 14) };
                // Never empty: ten packets wait.
                queue.enqueue(wire, now, &mut Drops::default());
                if number < 10 {
                    continue;
                }
                now = now.max(queue.next_ready(now).unwrap());
                let (sent, _) = queue.dequeue(now, &mut Drops::default()).unwrap();
                charged += by_hand(&framing, &sent);
            }
            let expected = charged as f64 * 8.0 / rate as f64;
            // The last packet is charged, but its time has not passed.
            assert!((now.as_secs_f64() / expected - 1.0).abs() < 1e-4, "{rate} bit/s {words}: {now}");
        }
    }
}

fn by_hand(framing: &Framing, packet: &TestPacket) -> u64 {
    match (framing.cells, framing.base) {
        (Cells::Atm, _) => {
            let mut cells = 0;
            let mut left = packet.ip_len().get() as i64 + framing.overhead;
            while left > 0 {
                (cells, left) = (cells + 1, left - 48);
            }
            cells * 53
        }
        (_, SizeBase::Ip) => (packet.ip_len().get() + 18).max(64),
        (_, SizeBase::Wire) => packet.len.get(),
    }
}

/// An unresponsive flood at twice the rate. On ingress all of it is charged, so the shaper's clock
/// is always late. The failsafe clock keeps two thirds of the rate.
#[test]
fn on_ingress_drops_are_charged_up_to_a_third() {
    for (direction, share) in [("egress", 1.0), ("ingress", 2.0 / 3.0)] {
        let spec = format!("cake bandwidth 10mbit besteffort memlimit 100000b {direction}");
        let (mut queue, mut drops, mut sent) = (build(&spec), Drops::default(), 0);
        for number in 0..40_000_u64 {
            // 1000 bytes per 400 us are 20 Mbit/s.
            let now = Time::from_nanos(number * 400_000);
            queue.enqueue(packet(number, 1, 1000), now, &mut drops);
            while queue.dequeue(now, &mut drops).is_some() {
                sent += 1;
            }
        }
        let got = f64::from(sent) * 8000.0 / 16.0 / 10e6;
        assert!((got / share - 1.0).abs() < 0.01, "{direction}: {got} of the rate");
    }
}

/// Packets arrive at 10 Mbit/s in pairs. The shaper rate becomes 15/16 of that.
#[test]
fn autorate_finds_the_arrival_rate() {
    for start in ["unlimited", "bandwidth 2mbit", "bandwidth 11mbit"] {
        let (mut queue, mut drops) = (build(&format!("cake autorate-ingress {start}")), Drops::default());
        let (mut now, mut sent) = (Time::ZERO, 0);
        for number in 0..20_000_u64 {
            now += Duration::from_nanos(if number % 2 == 0 { 422_400 } else { 2_000_000 });
            queue.enqueue(packet(number, number % 3, 1514), now, &mut drops);
            while queue.dequeue(now, &mut drops).is_some() {
                sent += u32::from(number >= 10_000);
            }
        }
        let got = f64::from(sent) * 1514.0 * 8.0 / (10_000.0 * 1.2112e-3) / 10e6;
        assert!((got / (15.0 / 16.0) - 1.0).abs() < 0.01, "{start}: {got} of the rate");
    }
}

/// 300 ms of packets at 10 Mbit/s without a dequeue. The rate is set at about 250 ms, and only the
/// time since then counts: 50 ms at 9.4 Mbit/s are 39 packets.
#[test]
fn an_estimated_rate_does_not_apply_to_the_past() {
    let (mut queue, mut drops) = (build("cake autorate-ingress besteffort"), Drops::default());
    let mut now = Time::ZERO;
    for number in 0..248 {
        now += Duration::from_nanos(if number % 2 == 0 { 422_400 } else { 2_000_000 });
        queue.enqueue(TestPacket { ecn: Ecn::Ect0, ..packet(number, 1, 1514) }, now, &mut drops);
    }
    let sent = std::iter::from_fn(|| queue.dequeue(now, &mut drops)).count();
    assert!((36..=42).contains(&sent), "{sent}");
}

/// Four times the bytes of 1000 s: below the minimum at 1 kbit/s, above the maximum as estimated.
#[test]
fn the_memory_follows_the_rate() {
    for (words, expected) in [("", 4 << 20), ("autorate-ingress", 10_240 * 1514)] {
        let mut queue = build(&format!("cake bandwidth 1kbit interplanetary {words}"));
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            now += Duration::from_nanos(if number % 2 == 0 { 42_240 } else { 200_000 });
            queue.enqueue(packet(number, 1, 1514), now, &mut Drops::default());
        }
        let held = queue.backlog().bytes.get();
        assert!(held <= expected && held + 1514 > expected, "{words}: {held}");
    }
}

#[test]
fn targets_intervals_and_quanta_by_rate() {
    let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
    let rate = |bits| Some(Rate::from_bits_per_second(bits));
    // A full packet at 1.25 Mbit/s takes 9.6896 ms, times 1.5 is 14.5344. tc: 14.5 and 110 ms.
    let table = [
        (rate(20_000_000), 100.0, [5.0, 100.0], 610),
        (rate(1_250_000), 100.0, [14.5344, 109.5344], 300),
        (rate(5_000_000), 100.0, [5.0, 100.0], 300),
        (rate(100_000_000), 100.0, [5.0, 100.0], 1514),
        (rate(20_000_000), 10.0, [0.9084, 10.4084], 610),
        // The interval is at least twice the target: 18.168 and 1 + 18.168 - 0.05.
        (rate(1_000_000), 1.0, [18.168, 36.336], 300),
        (None, 100.0, [5.0, 100.0], 1514),
    ];
    for (shaped, rtt, [target, interval], quantum) in table {
        let tin = Diffserv::BestEffort.tins(shaped, ms(rtt))[0];
        assert_eq!((tin.target, tin.interval), (ms(target), ms(interval)), "{shaped:?}, RTT {rtt} ms");
        assert_eq!(tin.quantum, Bytes(quantum), "{shaped:?}");
    }
    // The bulk tin at 20 Mbit/s.
    assert_eq!(Diffserv::Diffserv3.tins(rate(20_000_000), ms(100.0))[1].target, ms(14.5344));
    let rates: Vec<_> =
        Diffserv::Diffserv8.tins(rate(8_000_000), ms(100.0)).iter().map(|tin| tin.rate).collect();
    assert_eq!(rates[..3], [rate(8_000_000), rate(7_000_000), rate(6_125_000)]);
}

/// Converts `CS3`, `AF41`, `EF` and so on to six bits; `TOS4` is RFC 1349's bit for delay.
fn code_point(name: &str) -> u8 {
    let digit = |at: usize| name.as_bytes()[at] - b'0';
    match name {
        "LE" => 1,
        "TOS2" => 0x08 >> 2,
        "TOS4" => 0x10 >> 2,
        "VA" => 44,
        "EF" => 46,
        _ if name.starts_with("CS") => 8 * digit(2),
        _ => 8 * digit(2) + 2 * digit(3),
    }
}

#[test]
fn code_points_go_to_the_tins_that_the_manual_lists() {
    let high = "AF31 AF32 AF33 AF41 AF42 AF43 CS3";
    let video = format!("{high} AF21 AF22 AF23 CS2 TOS4");
    let table: [(Diffserv, usize, Vec<&str>); 4] = [
        (Diffserv::BestEffort, 0, vec![]),
        (Diffserv::Diffserv3, 0, vec!["", "CS1 LE", "CS7 CS6 EF VA TOS4"]),
        (Diffserv::Diffserv4, 0, vec!["", "CS1 LE", &video, "CS7 CS6 EF VA CS5 CS4"]),
        (
            Diffserv::Diffserv8,
            2,
            vec![
                "LE",
                "CS1 AF11 AF12 AF13 TOS2",
                "",
                high,
                "AF21 AF22 AF23 TOS4",
                "CS2",
                "CS4 CS5 VA EF",
                "CS6 CS7",
            ],
        ),
    ];
    for (mode, rest, tins) in table {
        let mut expected = [rest; 64];
        for (tin, names) in tins.into_iter().enumerate() {
            names.split_whitespace().for_each(|name| expected[usize::from(code_point(name))] = tin);
        }
        let got: Vec<_> = (0..64).map(|dscp| mode.tin(dscp)).collect();
        assert_eq!(got, expected, "{mode:?}");
    }
    let precedence: Vec<_> = (0..64).map(|dscp| Diffserv::Precedence.tin(dscp)).collect();
    assert_eq!(precedence, (0..64).map(|dscp| dscp / 8).collect::<Vec<_>>());
}

#[test]
fn washing_clears_the_dscp_after_the_tin_was_chosen_and_keeps_ecn() {
    for (word, left) in [("wash", 0), ("nowash", 46)] {
        let mut queue = build(&format!("cake bandwidth 1mbit {word}"));
        queue.enqueue(packet("best effort", 1, 1000), Time::ZERO, &mut Drops::default());
        let voice = TestPacket { ecn: Ecn::Ect1, ..with_dscp(2, 46) };
        queue.enqueue(voice, Time::ZERO, &mut Drops::default());
        let (first, _) = queue.dequeue(Time::ZERO, &mut Drops::default()).unwrap();
        assert_eq!((first.flow, first.header.dscp, first.ecn), (2, left, Ecn::Ect1), "{word}");
    }
}

/// Overflow drops come from a longest queue of all tins, and are no more than needed.
#[test]
fn overflow_takes_from_the_longest_queue_of_all_tins() {
    let mut overflows = 0;
    for seed in 0..20 {
        let (mut queue, mut rng) = (build("cake diffserv4 memlimit 30000b"), Rng::new(seed));
        let mut held: BTreeMap<u64, u64> = BTreeMap::new();
        for step in 0..3000_u64 {
            let (now, mut drops) = (Time::from_nanos(step * 100_000), Drops::default());
            if rng.chance(0.6) {
                let flow = rng.below(12);
                let dscp = [0, 8, 34, 46][flow as usize % 4];
                let arrival = TestPacket { len: Bytes(60 + rng.below(1455)), ..with_dscp(flow, dscp) };
                *held.entry(flow).or_default() += arrival.len.get();
                queue.enqueue(arrival, now, &mut drops);
            } else if let Some((sent, _)) = queue.dequeue(now, &mut drops) {
                *held.get_mut(&sent.flow).unwrap() -= sent.len.get();
            }
            for (dropped, reason) in drops.0 {
                let (total, longest) = (held.values().sum::<u64>(), *held.values().max().unwrap());
                let of_flow = held.get_mut(&dropped.flow).unwrap();
                if reason == DropReason::Overlimit {
                    assert!(total > 30_000 && *of_flow == longest, "seed {seed}, step {step}");
                    overflows += 1;
                }
                *of_flow -= dropped.len.get();
            }
            assert!(queue.backlog().bytes <= Bytes(30_000), "seed {seed}, step {step}");
        }
    }
    assert!(overflows > 500, "{overflows}");
}

#[test]
fn words() {
    let usual = "unlimited diffserv3 triple-isolate nowash no-ack-filter rtt 100ms egress raw";
    let at = |framing: &str| usual.replace("raw", framing);
    let table = [
        ("cake", usual.to_string()),
        ("cake nonat", usual.to_string()),
        (
            "cake besteffort wash ack-filter-aggressive dual-srchost satellite bandwidth 20mbit ingress memlimit 1mb",
            "bandwidth 20000000bit besteffort dual-srchost wash ack-filter-aggressive rtt 1s memlimit 1048576b ingress raw"
                .to_string(),
        ),
        ("cake autorate-ingress", usual.replace("unlimited", "unlimited autorate-ingress")),
        ("cake conservative", at("overhead 48 mpu 0 atm")),
        ("cake docsis", at("overhead 18 mpu 64 noatm")),
        ("cake ethernet ether-vlan ether-vlan", at("overhead 46 mpu 84 noatm")),
        ("cake pppoe-ptm ether-vlan", at("overhead 34 mpu 0 ptm")),
        ("cake overhead -14 mpu 64", at("overhead -14 mpu 64 noatm")),
        ("cake raw overhead 4 atm", at("raw overhead 4 mpu 0 atm")),
        ("cake pppoa-vcmux raw", usual.to_string()),
        ("cake datacentre", usual.replace("100ms", "100us")),
    ];
    for (text, written) in table {
        let spec: Spec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), format!("cake {written}"), "{text}");
        assert_eq!(spec.to_string().parse(), Ok(spec), "{text}");
    }
    let refusals = [
        ("cake nat", "cake does not support \"nat\" here: no addresses are translated (remove \"nat\")"),
        ("cake overhead 300", "invalid overhead \"300\" (expected a number of bytes from -64 to 256)"),
        ("cake mpu 64b", "invalid mpu \"64b\" (expected a number of bytes from 0 to 256)"),
        ("cake bandwidth 20", "bandwidth: rate \"20\" has no unit (did you mean \"20Mbit\" or \"20Kbit\"?)"),
    ];
    for (text, refusal) in refusals {
        assert_eq!(text.parse::<Spec>().unwrap_err().to_string(), refusal, "{text}");
    }
    assert!("cake split-gso".parse::<Spec>().is_err());
}
