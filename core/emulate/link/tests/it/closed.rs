//! Closed forms: the throughput of each kind of link, computed from its parameters.
use crate::common::{TestPacket, at, packet};
use crate::kinds::{Kind, kind};
use fathom_link::{Line, OpportunityTrace, RateTrace, wifi};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rate, Time};

/// Keeps the queues full until `end`. Returns arrival times of packets of 1500 bytes, up and down.
fn saturated(kind: &Kind, ways: &[Direction], end: Time, seed: u64) -> PerDirection<Vec<Time>> {
    let mut line: Line<TestPacket> = kind.line(seed);
    let mut out = PerDirection::<Vec<Time>>::default();
    for way in ways {
        (0..200).for_each(|id| line.enter(*way, packet(id, 1500), Time::ZERO));
    }
    let mut now = Time::ZERO;
    while now < end {
        now = line.next_event().unwrap();
        let mut ways_out = Vec::new();
        line.advance(now, &mut (), &mut |way, _, time| ways_out.push((way, time)));
        for (way, time) in ways_out {
            out[way].push(time);
            line.enter(way, packet(0, 1500), now);
        }
    }
    out
}

#[test]
fn a_boost_sends_what_peak_and_bucket_allow() {
    let kind = kind("boost 20mbit 100mbit 10000000b");
    let up = saturated(&kind, &[Direction::Up], at("3s"), 1).up;
    for (number, time) in up.iter().enumerate() {
        let sent = (number as f64 + 1.0) * 12_000.0;
        let allowed = |t: f64| (100e6 * t).min(80e6 + 20e6 * t);
        let t = time.as_secs_f64();
        assert!(allowed(t) <= sent + 1.0 && sent <= allowed(t + 1.5e-9) + 1.0, "{sent} bits at {t}");
    }
    // At 3 s: 80 + 60 Mbit.
    assert_eq!(up.iter().filter(|time| **time <= at("3s")).count(), 140_000_000 / 12_000);
}

#[test]
fn a_trace_carries_its_bytes_to_the_byte() {
    // 250 kB, nothing, 375 kB: 625,000 bytes per period of 3 s.
    let kind = kind("trace 0s 2mbit, 1s 0bit, 2s 3mbit, 3s loop");
    let up = saturated(&kind, &[Direction::Up], at("31s"), 1).up;
    for periods in 1..=10_u64 {
        let by = up.iter().filter(|time| **time <= Time::ZERO + Duration::from_secs(3) * periods).count();
        assert_eq!(by as u64, periods * 625_000 / 1500, "{periods} periods");
    }
}

#[test]
fn opportunities_carry_their_bytes_to_the_byte() {
    // Seven opportunities in 9 ms: 10,528 bytes, in packets of 1500 bytes that may be split.
    let kind = kind("mahimahi 1 1 2 5 9 9 9");
    let up = saturated(&kind, &[Direction::Up], at("910ms"), 1).up;
    for periods in 1..=100_u64 {
        let by = up.iter().filter(|time| **time <= Time::ZERO + Duration::from_millis(9) * periods).count();
        assert_eq!(by as u64, periods * 7 * 1504 / 1500, "{periods} periods");
    }
}

#[test]
fn a_packet_that_arrives_in_an_outage_waits_for_its_end() {
    let steps =
        [(Duration::ZERO, "20mbit"), (Duration::from_secs(60), "0bit"), (Duration::from_secs(776), "20mbit")];
    let steps = steps.map(|(time, rate)| (time, rate.parse::<Rate>().unwrap()));
    let trace = RateTrace::new(&steps, None).unwrap();
    let mut kind = kind("rate 1mbit");
    kind.params.transmitter =
        fathom_link::TransmitterParams::Trace(fathom_link::Trace::Rates(std::sync::Arc::new(trace)));
    let mut line = kind.line(1);
    for second in [59, 60, 100, 775] {
        line.enter(Direction::Down, packet(second, 2500), Time::ZERO + Duration::from_secs(second));
    }
    let mut out = Vec::new();
    line.advance(Time::MAX, &mut (), &mut |_, packet, time| out.push((packet.id, time)));
    // 2500 bytes take 1 ms.
    let expected = [(59, "59.001s"), (60, "776.001s"), (100, "776.002s"), (775, "776.003s")];
    assert_eq!(out, expected.map(|(id, time)| (id, at(time))));
}

#[test]
fn half_duplex_shares_the_airtime() {
    let kind = kind("rate 12mbit half");
    let PerDirection { up, down } =
        saturated(&kind, &[Direction::Up, Direction::Down], at("2s"), 1).map(|out| out.len());
    // 1 ms per packet, alternating.
    assert!((999..=1001).contains(&up) && (999..=1001).contains(&down), "{up} up, {down} down");
    let alone = saturated(&kind, &[Direction::Up], at("2s"), 1).map(|out| out.len()).up;
    assert!((1999..=2001).contains(&alone), "{alone} alone");
}

#[test]
fn aggregates_by_hand() {
    // 1500-byte packets at 300 Mbit/s, 1200 bits in 4 us; data symbols; preamble 40, SIFS 16, ACK.
    for (packets, symbols, ack) in [(1, 11, 28), (2, 21, 32), (8, 83, 32), (32, 330, 32), (42, 433, 32)] {
        let exact = Duration::from_micros(40 + 4 * symbols + 16 + ack);
        let lens = std::iter::repeat_n(Bytes(1500), packets);
        assert_eq!(wifi::exchange(lens, "300mbit".parse().unwrap()), exact, "{packets} packets");
    }
}

/// In Mbit/s of IP.
fn goodput(kind: &str, ways: &[Direction], seconds: u64) -> PerDirection<f64> {
    let end = Time::ZERO + Duration::from_secs(seconds);
    saturated(&crate::kinds::kind(kind), ways, end, 3).map(|out| out.len() as f64 * 0.012 / seconds as f64)
}

#[test]
fn without_other_stations_802_11_sends_once_per_cycle() {
    // DIFS 34 and on average 7.5 slots of 9 us before each exchange: Mbit/s by hand.
    let table = [
        ("wifi 300mbit aggregate 1", 12_000.0 / (101.5 + 128.0)),
        ("wifi 300mbit aggregate 8", 96_000.0 / (101.5 + 420.0)),
        ("wifi 300mbit aggregate 32", 384_000.0 / (101.5 + 1408.0)),
        // 42 packets fill 65,535 bytes.
        ("wifi 300mbit aggregate 64", 504_000.0 / (101.5 + 1820.0)),
        // 28 packets fill 5.484 ms: 43,232 bytes, 1331 symbols.
        ("wifi 65mbit aggregate 64", 336_000.0 / (101.5 + 40.0 + 1331.0 * 4.0 + 48.0)),
    ];
    for (kind, expected) in table {
        let up = goodput(kind, &[Direction::Up], 10).up;
        assert!((up / expected - 1.0).abs() < 0.01, "{kind}: {up:.2} instead of {expected:.2}");
    }
}

/// Bianchi, IEEE JSAC 18(3), 2000, equations 7, 9 and 13: packets per second of each of `n`
/// stations with transmissions of `busy` us. W = 16, m = 6.
fn bianchi(n: f64, busy: f64) -> f64 {
    let tau = |p: f64| {
        let (w, m) = (16.0, 6);
        2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(m)))
    };
    // By bisection: with more collisions stations send less.
    let (mut low, mut high) = (0.0, 0.49);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        if 1.0 - (1.0 - tau(p)).powf(n - 1.0) > p { low = p } else { high = p }
    }
    let tau = tau(low);
    let any = 1.0 - (1.0 - tau).powf(n);
    let one = n * tau * (1.0 - tau).powf(n - 1.0);
    one / n / ((1.0 - any) * 9.0 + any * (busy + 34.0)) * 1e6
}

#[test]
fn with_other_stations_802_11_matches_bianchi_and_shares_fairly() {
    for others in [1_u64, 2, 4, 9] {
        // Each of ten stations sends about 420 packets per second. In 40 s shares deviate by 3 %.
        let seconds = 25 * (others + 1);
        let kind = format!("wifi 300mbit aggregate 1 stations {others}");
        let alone = goodput(&kind, &[Direction::Up], seconds).up;
        let expected = bianchi(others as f64 + 1.0, 128.0) * 0.012;
        assert!((alone / expected - 1.0).abs() < 0.05, "{others}: {alone:.3} instead of {expected:.3}");
        // Both directions are stations like the others.
        let fewer = format!("wifi 300mbit aggregate 1 stations {}", others - 1);
        let PerDirection { up, down } = goodput(&fewer, &[Direction::Up, Direction::Down], seconds);
        assert!((up / down - 1.0).abs() < 0.05, "{others}: {up:.3} up, {down:.3} down");
        assert!((up / expected - 1.0).abs() < 0.05, "{others}: {up:.3} instead of {expected:.3}");
    }
}

#[test]
fn an_mpdu_is_lost_after_seven_attempts() {
    // 0.7^7 = 8.2 %; that is 1647 of 20,000 packets, and five standard deviations are 195.
    let kind = kind("wifi 300mbit error 70%");
    let mut line = kind.line(2);
    let mut events = crate::kinds::Events::default();
    for id in 0..20_000 {
        line.enter(Direction::Up, packet(id, 1500), Time::ZERO + Duration::from_micros(400) * id);
    }
    let mut out = 0;
    line.advance(Time::MAX, &mut events, &mut |_, _, _| out += 1);
    let lost = events.0.iter().filter(|(.., text)| text.starts_with("lost")).count();
    assert_eq!(out + lost, 20_000);
    assert!((1452..1842).contains(&lost), "{lost}");
}

#[test]
fn harq_repetitions_use_their_share_of_the_intervals() {
    // 1000 bytes per millisecond, of which one fifth is repeated.
    let up = saturated(&kind("cellular 1ms harq 20% low 8mbit"), &[Direction::Up], at("60s"), 1).up;
    let rate = up.len() as f64 * 1500.0 / 60_000.0;
    assert!((rate / 800.0 - 1.0).abs() < 0.01, "{rate} bytes in an interval");
}

/// Mean over an hour, in Mbit/s.
fn in_an_hour(text: &str) -> f64 {
    saturated(&kind(text), &[Direction::Up], at("3600s"), 1).up.len() as f64 * 0.012 / 3600.0
}

#[test]
fn a_walk_is_uniform_and_outages_reduce_the_rate() {
    // The mean of 1 and 9; an hour has about 100 crossings.
    let walk = in_an_hour("cellular 1ms low 1mbit high 9mbit");
    assert!((walk / 5.0 - 1.0).abs() < 0.1, "{walk} Mbit/s");
    // 5 s of every 20 s on average. Of 180 outages the total deviates by 10 %, the rest by 3 %.
    let outages = in_an_hour("cellular 1ms low 8mbit every 15s outage 5s");
    assert!((outages / 6.0 - 1.0).abs() < 0.1, "{outages} Mbit/s");
}

#[test]
fn opportunities_repeat_forever() {
    // Compares a list of 1000 periods with the arithmetic, from any time on.
    let times = vec![0, 1, 1, 4, 7, 7];
    let all: Vec<u64> =
        (0..1000).flat_map(|round| times.iter().map(move |t| round * 7 + u64::from(*t))).collect();
    let trace = OpportunityTrace::new(times.clone()).unwrap();
    assert_eq!(trace, OpportunityTrace::new(times).unwrap());
    for start in (0..6000).step_by(7).chain([3, 6, 8, 4001]) {
        let text = "mahimahi 0 1 1 4 7 7";
        let mut line = kind(text).line(1);
        (0..10)
            .for_each(|id| line.enter(Direction::Up, packet(id, 1504), Time::from_nanos(start * 1_000_000)));
        let mut out = Vec::new();
        line.advance(Time::MAX, &mut (), &mut |_, _, time| out.push(time.as_nanos() / 1_000_000));
        let expected: Vec<u64> = all.iter().copied().filter(|time| *time >= start).take(10).collect();
        assert_eq!(out, expected, "from {start} ms");
    }
}
