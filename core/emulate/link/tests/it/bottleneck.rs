//! One queue and one link: exact times, and which part is charged.
use crate::common::{Log, TestPacket, advance, at, link, packet};
use fathom_link::{Bottleneck, BottleneckParams};
use fathom_qdisc::Backlog;
use fathom_units::{Bytes, Duration, Time};

#[test]
fn times_by_table() {
    // 1500 bytes take 1 ms, then 10 ms of propagation.
    let mut line = Bottleneck::new(&link(Some("12mbit"), "10ms", "fifo limit 2p"), 1);
    let mut log = Log::default();
    for (time, id, len) in [("0ms", 1, 1500), ("0ms", 2, 1500), ("0.2ms", 3, 750), ("0.3ms", 4, 1500)] {
        line.arrive(packet(id, len), at(time), &mut log);
    }
    // When 2 is dequeued, there is room again.
    line.arrive(packet(5, 1500), at("1ms"), &mut log);
    let out = advance(&mut line, at("1s"), &mut log);
    assert_eq!(out, [(1, at("11ms")), (2, at("12ms")), (3, at("12.5ms")), (5, at("13.5ms"))]);
    let events: Vec<_> = log.0.iter().map(|(time, text)| format!("{time} {text}")).collect();
    assert_eq!(
        events,
        [
            "0ns dequeued 1 after 0ns leaving 0",
            "300us dropped 4 Overlimit",
            "1ms dequeued 2 after 1ms leaving 1",
            "2ms dequeued 3 after 1.8ms leaving 1",
            "2.5ms dequeued 5 after 1.5ms leaving 0",
        ]
    );
}

#[test]
fn each_part_counts_its_own_bytes() {
    let params = BottleneckParams { overhead: Bytes(14), ..link(Some("12mbit"), "10ms", "fifo limit 9p") };
    let mut line = Bottleneck::new(&params, 1);
    (0..3).for_each(|id| line.arrive(packet(id, 1486), at("0ms"), &mut ()));
    let state =
        |b: &Bottleneck<TestPacket>, now: &str| (b.queued(), b.sending(at(now)).bytes, b.in_flight(at(now)));
    let backlog = |packets| Backlog { bytes: Bytes(packets * 1500), packets };
    assert_eq!(state(&line, "0ms"), (backlog(2), Bytes(1500), backlog(0)));
    advance(&mut line, at("1.5ms"), &mut Log::default());
    assert_eq!(state(&line, "1.5ms"), (backlog(1), Bytes(1500), backlog(1)));
    advance(&mut line, at("11.5ms"), &mut Log::default());
    assert_eq!(state(&line, "11.5ms"), (backlog(0), Bytes(0), backlog(2)));
    assert_eq!(line.stats().sent.bytes, Bytes(4500));
    assert_eq!(line.stats().max_sojourn, Duration::from_millis(2));
}

#[test]
fn the_next_event_is_the_next_thing_to_do() {
    let mut line = Bottleneck::new(&link(Some("12mbit"), "10ms", "fifo limit 9p"), 1);
    assert_eq!(line.next_event(), None);
    (0..2).for_each(|id| line.arrive(packet(id, 1500), at("0ms"), &mut ()));
    let mut times = Vec::new();
    while let Some(next) = line.next_event() {
        times.push(next);
        advance(&mut line, next, &mut Log::default());
    }
    // The end of the last transmission is no event: the departure time is already known.
    assert_eq!(times, ["1ms", "11ms", "12ms"].map(at));
}

#[test]
fn a_link_without_rate_has_delay_only() {
    let mut line = Bottleneck::new(&link(None, "7ms", "fifo limit 1p"), 1);
    (0..100).for_each(|id| line.arrive(packet(id, 1500), at("1ms"), &mut ()));
    let out = advance(&mut line, at("8ms"), &mut Log::default());
    assert_eq!(out.len(), 100);
    assert!(out.iter().all(|(_, time)| *time == at("8ms")));
    assert_eq!(line.stats().dropped().packets, 0);
}

/// str0m's emulated link once counted packets in flight as packets in the buffer.
#[test]
fn propagation_is_never_charged_to_the_buffer() {
    // 25 Mbit/s on a 30 Mbit/s link with a 100 kB buffer: no queue, although 312 kB are in flight.
    let mut line = Bottleneck::new(&link(Some("30mbit"), "100ms", "fifo limit 100000b"), 1);
    let gap = 1500 * 8 * 1_000_000_000 / 25_000_000;
    let mut most = Bytes::ZERO;
    let mut out = 0;
    for id in 0..20_000 {
        let now = Time::from_nanos(id * gap);
        line.arrive(packet(id, 1500), now, &mut ());
        line.advance(now, &mut (), &mut |_, _| out += 1);
        most = most.max(line.in_flight(now).bytes);
    }
    assert_eq!(line.stats().dropped().packets, 0);
    assert_eq!(line.stats().max_sojourn, Duration::ZERO);
    assert!(most > Bytes(300_000), "{most} in flight");
    assert!(out > 19_700, "{out}");
}

#[test]
fn an_overloaded_fifo_holds_its_limit_and_loses_the_rest() {
    // 110 Mbit/s into 100 Mbit/s with 4.25 MB (340 ms): the queue fills at 10 Mbit/s, in 3.4 s.
    let mut line = Bottleneck::new(&link(Some("100mbit"), "0ms", "fifo limit 4250000b"), 1);
    let gap = 1500 * 8 * 1_000_000_000 / 110_000_000;
    let mut first_drop = None;
    for id in 0..100_000 {
        let now = Time::from_nanos(id * gap);
        line.arrive(packet(id, 1500), now, &mut ());
        line.advance(now, &mut (), &mut |_, _| {});
        if line.stats().dropped().packets > 0 {
            first_drop.get_or_insert(now);
        }
    }
    let first_drop = first_drop.unwrap().as_secs_f64();
    assert!((3.39..3.42).contains(&first_drop), "{first_drop} s");
    let sojourn = line.stats().max_sojourn.as_millis_f64();
    assert!((339.8..=340.2).contains(&sojourn), "{sojourn} ms");
}

#[test]
fn a_million_packets_through_a_bottleneck_keep_the_rate() {
    let mut line = Bottleneck::new(&link(Some("999999937bit"), "1ms", "fifo limit 100p"), 1);
    let (mut now, mut last, mut packets) = (Time::ZERO, Time::ZERO, 0_u64);
    for id in 0..1_000_000 {
        // 10 us per packet where sending takes 12: always overloaded.
        now += Duration::from_micros(10);
        line.arrive(packet(id, 1500), now, &mut ());
        line.advance(now, &mut (), &mut |_, _| {});
    }
    line.advance(Time::MAX, &mut (), &mut |_, time| last = time);
    packets += line.stats().sent.packets;
    let exact = u128::from(packets) * 1500 * 8 * 1_000_000_000 / 999_999_937;
    let start = Duration::from_micros(10) + Duration::from_millis(1);
    assert_eq!(u128::from((last.saturating_sub(start)).as_nanos()), exact);
}
