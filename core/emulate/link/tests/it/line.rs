//! Several hops: the path of packets and answers, and the order of events.
use crate::common::{TestPacket, at, link, packet, words};
use fathom_link::{BottleneckParams, Event, HopParams, Line, LinePosition, Router, Verdict};
use fathom_units::{Direction, Duration, Rng, Time};

/// Routers that decrement the TTL and answer at zero; answers have the number 1000 + hop.
#[derive(Default)]
struct Routers {
    arrivals: Vec<(Time, usize, Direction, u64)>,
    events: Vec<(Time, LinePosition, String)>,
    silent: bool,
}

impl Router<TestPacket> for Routers {
    fn arrive(&mut self, position: LinePosition, packet: &mut TestPacket, now: Time) -> Verdict<TestPacket> {
        self.arrivals.push((now, position.hop, position.direction, packet.id));
        packet.ttl -= 1;
        match (packet.ttl, self.silent) {
            (0, true) => Verdict::Discard,
            (0, false) => Verdict::Answer(TestPacket { id: 1000 + position.hop as u64, len: 100, ttl: 64 }),
            _ => Verdict::Forward,
        }
    }
    fn event(&mut self, position: LinePosition, event: Event<'_, TestPacket>, now: Time) {
        self.events.push((now, position, words(&event)));
    }
}

type Out = Vec<(Direction, u64, Time)>;

fn advance(line: &mut Line<TestPacket>, now: Time, routers: &mut Routers) -> Out {
    let mut out = Vec::new();
    line.advance(now, routers, &mut |direction, packet, time| out.push((direction, packet.id, time)));
    out
}

/// Three hops. 1500 bytes take 1 ms up on the middle one; delays are 1, 10 and 5 ms.
fn hops() -> Vec<(BottleneckParams, BottleneckParams)> {
    [(None, "1ms"), (Some("12mbit"), "10ms"), (None, "5ms")]
        .map(|(rate, delay)| (link(rate, delay, "fifo limit 50p"), link(None, delay, "fifo limit 50p")))
        .into()
}

fn line() -> Line<TestPacket> {
    Line::new(hops().iter().map(|(up, down)| (up, down)), 1)
}

#[test]
fn up_and_down_by_table() {
    let (mut line, mut routers) = (line(), Routers::default());
    line.enter(Direction::Up, packet(1, 1500), at("0ms"));
    line.enter(Direction::Down, packet(2, 1500), at("3ms"));
    assert_eq!(line.next_event(), Some(at("0ms")));
    let out = advance(&mut line, at("1s"), &mut routers);
    assert_eq!(out, [(Direction::Up, 1, at("17ms")), (Direction::Down, 2, at("19ms"))]);
    let way = |wanted| -> Vec<_> {
        routers.arrivals.iter().filter(|a| a.2 == wanted).map(|(time, hop, ..)| (*time, *hop)).collect()
    };
    assert_eq!(way(Direction::Up), [(at("1ms"), 0), (at("12ms"), 1), (at("17ms"), 2)]);
    // The server is at the last router, the user behind the first link.
    assert_eq!(way(Direction::Down), [(at("3ms"), 2), (at("8ms"), 1), (at("18ms"), 0)]);
    assert_eq!(line.next_event(), None);
}

#[test]
fn traceroute_sees_every_hop() {
    // TTL, who answers, when: twice the delay to that router, and 1 ms on the middle link up.
    for (ttl, answer, time) in [(1, 1000, "2ms"), (2, 1001, "23ms"), (3, 1002, "33ms")] {
        let (mut line, mut routers) = (line(), Routers::default());
        line.enter(Direction::Up, TestPacket { ttl, ..packet(1, 1500) }, at("0ms"));
        assert_eq!(advance(&mut line, at("1s"), &mut routers), [(Direction::Down, answer, at(time))]);
    }
}

#[test]
fn answers_to_the_server_go_up() {
    // Down with TTL 2: ends at router 1, after 5 ms; the answer crosses the last link again.
    let (mut line, mut routers) = (line(), Routers::default());
    line.enter(Direction::Down, TestPacket { ttl: 2, ..packet(1, 1500) }, at("0ms"));
    assert_eq!(advance(&mut line, at("1s"), &mut routers), [(Direction::Up, 1001, at("10ms"))]);
    // TTL 1 ends at the server's router.
    line.enter(Direction::Down, TestPacket { ttl: 1, ..packet(1, 1500) }, at("2s"));
    assert_eq!(advance(&mut line, at("3s"), &mut routers), [(Direction::Up, 1002, at("2s"))]);
}

#[test]
fn events_inside_come_before_simultaneous_arrivals() {
    let (mut line, mut routers) = (line(), Routers::default());
    line.enter(Direction::Up, TestPacket { ttl: 3, ..packet(1, 1500) }, at("0ms"));
    // At 17 ms the answer to 1 and this packet reach the queue of the last link.
    line.enter(Direction::Down, packet(2, 1500), at("17ms"));
    let out = advance(&mut line, at("1s"), &mut routers);
    assert_eq!(out, [(Direction::Down, 1002, at("33ms")), (Direction::Down, 2, at("33ms"))]);
}

#[test]
fn a_router_may_say_nothing() {
    let (mut line, mut routers) = (line(), Routers { silent: true, ..Routers::default() });
    line.enter(Direction::Up, TestPacket { ttl: 2, ..packet(1, 1500) }, at("0ms"));
    assert_eq!(advance(&mut line, at("1s"), &mut routers), []);
    assert_eq!(line.next_event(), None);
}

#[test]
fn without_hops_user_and_server_are_directly_connected() {
    let mut line = Line::<TestPacket>::new([] as [HopParams<'_>; 0], 1);
    line.enter(Direction::Up, packet(1, 1500), at("1ms"));
    line.enter(Direction::Down, packet(2, 1500), at("2ms"));
    let out = advance(&mut line, at("2ms"), &mut Routers::default());
    assert_eq!(out, [(Direction::Up, 1, at("1ms")), (Direction::Down, 2, at("2ms"))]);
    assert!(line.is_empty());
}

#[test]
fn the_queue_is_where_the_rate_changes() {
    let (mut line, mut routers) = (line(), Routers::default());
    (0..30).for_each(|id| line.enter(Direction::Up, packet(id, 1500), at("0ms")));
    advance(&mut line, at("1.5ms"), &mut routers);
    let queued = |hop| line.bottleneck(LinePosition { hop, direction: Direction::Up }).queued().packets;
    assert_eq!([queued(0), queued(1), queued(2)], [0, 29, 0]);
}

/// Runs random bidirectional traffic, some of it simultaneous; `wake` chooses when the host wakes.
fn run(seed: u64, wake: impl FnMut(&mut Rng) -> bool) -> (Out, Routers) {
    run_with(seed, wake, |line, direction, packet, now, _| line.enter(direction, packet, now))
}

fn run_with(
    seed: u64,
    mut wake: impl FnMut(&mut Rng) -> bool,
    enter: impl Fn(&mut Line<TestPacket>, Direction, TestPacket, Time, &mut Routers),
) -> (Out, Routers) {
    let mut hops = hops();
    hops[0] =
        (link(Some("9mbit"), "1ms", "codel target 2ms interval 20ms"), link(None, "1ms", "fifo limit 9p"));
    hops[2].1 = link(Some("11mbit"), "1ms", "fq_codel target 2ms interval 20ms");
    let mut line = Line::new(hops.iter().map(|(up, down)| (up, down)), seed);
    let (mut rng, mut sleep) = (Rng::stream(seed, "traffic"), Rng::stream(seed, "sleep"));
    let (mut now, mut routers, mut out) = (Time::ZERO, Routers::default(), Out::new());
    for id in 0..600 {
        now += Duration::from_micros(100 * rng.below(7));
        let direction = if rng.chance(0.5) { Direction::Up } else { Direction::Down };
        let ttl = if rng.chance(0.1) { 1 + rng.below(3) as u8 } else { 64 };
        let len = 100 + 100 * rng.below(15);
        enter(&mut line, direction, TestPacket { ttl, ..packet(id, len) }, now, &mut routers);
        if wake(&mut sleep) {
            while let Some(next) = line.next_event().filter(|next| *next <= now) {
                out.extend(advance(&mut line, next, &mut routers));
            }
        }
    }
    out.extend(advance(&mut line, Time::MAX, &mut routers));
    (out, routers)
}

#[test]
fn events_of_all_hops_are_in_the_order_of_time() {
    for seed in 0..20 {
        let (out, routers) = run(seed, |_| false);
        assert!(out.is_sorted_by_key(|(.., time)| *time), "seed {seed}");
        assert!(routers.arrivals.is_sorted_by_key(|(time, ..)| *time), "seed {seed}");
        assert!(routers.events.is_sorted_by_key(|(time, ..)| *time), "seed {seed}");
        assert!(routers.events.iter().any(|(.., text)| text.starts_with("dropped")), "seed {seed}");
    }
}

#[test]
fn a_late_host_sees_the_same_line() {
    for seed in 0..20 {
        let (out, routers) = run(seed, |_| true);
        let (late_out, late_routers) = run(seed, |sleep| sleep.chance(0.02));
        assert_eq!(out, late_out, "seed {seed}");
        assert_eq!(routers.arrivals, late_routers.arrivals, "seed {seed}");
        assert_eq!(routers.events, late_routers.events, "seed {seed}");
    }
}

#[test]
fn take_gives_the_same_result_as_enter() {
    for seed in 0..20 {
        let (out, routers) = run(seed, |_| true);
        for often in [0.02, 1.0] {
            let (taken_out, taken_routers) = run_with(
                seed,
                |sleep| sleep.chance(often),
                |line, direction, packet, now, router| line.take(direction, packet, now, router),
            );
            assert_eq!(out, taken_out, "seed {seed}");
            assert_eq!(routers.arrivals, taken_routers.arrivals, "seed {seed}");
            assert_eq!(routers.events, taken_routers.events, "seed {seed}");
        }
    }
}

#[test]
fn a_host_that_wakes_only_for_exits_is_never_late() {
    for seed in 0..20 {
        let (mut line, mut routers, mut rng) = (line(), Routers::default(), Rng::new(seed));
        let (mut now, mut out, mut wakes) = (Time::ZERO, 0, 0);
        for id in 0..300 {
            now += Duration::from_nanos(rng.below(1_500_000));
            while let Some(exit) = line.next_exit().filter(|exit| *exit <= now) {
                let handed_on = advance(&mut line, exit, &mut routers);
                assert!(
                    handed_on.iter().all(|(.., time)| *time == exit),
                    "seed {seed}: {handed_on:?} at {exit}"
                );
                (out, wakes) = (out + handed_on.len(), wakes + 1);
            }
            let direction = if rng.chance(0.5) { Direction::Up } else { Direction::Down };
            let ttl = if rng.chance(0.1) { 1 + rng.below(3) as u8 } else { 64 };
            line.enter(direction, TestPacket { ttl, ..packet(id, 1500) }, now);
            // The last router may answer the server immediately.
            let at_once = advance(&mut line, now, &mut routers);
            assert!(at_once.iter().all(|(.., time)| *time == now), "seed {seed}: {at_once:?} at {now}");
        }
        assert!(out > 200 && wakes < 3 * out, "seed {seed}: {out} packets came out in {wakes} wakes");
    }
}

/// Routers at which some packets leave, by packet number.
struct Exits(Vec<(u64, usize)>);

impl Router<TestPacket> for Exits {
    fn arrive(&mut self, position: LinePosition, packet: &mut TestPacket, _: Time) -> Verdict<TestPacket> {
        if self.0.contains(&(packet.id, position.hop)) { Verdict::Leave } else { Verdict::Forward }
    }
}

#[test]
fn cross_traffic_takes_a_part_of_the_line() {
    // (direction, router where it joins, router where it leaves, when): 10 ms and 1 ms on the
    // middle link up, 5 ms on the last.
    let table = [
        (Direction::Up, 0, 1, "11ms"),
        (Direction::Up, 0, 9, "16ms"),
        (Direction::Up, 1, 2, "5ms"),
        (Direction::Down, 1, 0, "10ms"),
        (Direction::Down, 1, 9, "11ms"),
        (Direction::Down, 2, 1, "5ms"),
    ];
    for (way, from, to, expected) in table {
        let (mut line, mut exits) = (line(), Exits(vec![(1, to)]));
        line.join(LinePosition { hop: from, direction: way }, packet(1, 1500), at("0ms"), &mut exits);
        let mut out = Vec::new();
        line.advance(at("1s"), &mut exits, &mut |direction, packet, time| {
            out.push((direction, packet.id, time))
        });
        assert_eq!(out, [(way, 1, at(expected))], "{from} to {to}");
    }
}

#[test]
fn joining_packets_wait_for_events_that_are_due() {
    let (mut line, mut exits) = (line(), Exits(vec![(2, 1)]));
    line.enter(Direction::Up, packet(1, 1500), at("0ms"));
    let join = LinePosition { hop: 0, direction: Direction::Up };
    line.join(join, packet(2, 1500), at("1ms"), &mut exits);
    let mut out = Vec::new();
    line.advance(at("1s"), &mut exits, &mut |_, packet, time| out.push((packet.id, time)));
    // By then the first packet is at the middle link, and the second waits its millisecond.
    assert_eq!(out, [(2, at("13ms")), (1, at("17ms"))]);
}
