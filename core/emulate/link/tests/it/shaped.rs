//! A shaping queue in front of a faster link.
use crate::common::{TestPacket, link, packet};
use fathom_link::Bottleneck;
use fathom_units::{Duration, Time};

/// All of them shape to 20 Mbit/s.
const QUEUES: &[&str] = &[
    "tbf rate 20mbit burst 3028b limit 100000b",
    "tbf rate 20mbit burst 1600b { fq_codel }",
    "htb default 1 class 1 rate 20mbit burst 1600b cburst 1600b { fifo limit 100p }",
    "htb default 1 class 1 rate 20mbit burst 1600b cburst 1600b { codel }",
    "htb default 1 class 1 rate 20mbit burst 1600b cburst 1600b { fq_codel }",
    "htb class 1 rate 20mbit class 2 parent 1 rate 5mbit ceil 20mbit match flow 0..511 class 3 parent 1 rate 8mbit ceil 20mbit match flow 512..1023 { codel }",
    "cake bandwidth 20mbit",
];

/// Advances from event to event, as a simulator does. Returns the bytes that left from `start` on.
fn run(line: &mut Bottleneck<TestPacket>, gap: Duration, packets: u64, start: Time) -> u64 {
    let (mut bytes, mut arrival) = (0, Time::ZERO);
    for id in 0..packets {
        line.arrive(packet(id, 1514), arrival, &mut ());
        arrival += gap;
        loop {
            let next = line.next_event();
            assert!(next.is_some() || line.queued().packets == 0, "backlog, and nothing to wait for");
            let Some(now) = next.filter(|next| *next < arrival) else { break };
            line.advance(now, &mut (), &mut |out, time| {
                if time >= start {
                    bytes += out.len;
                }
            });
            let after = line.next_event();
            assert!(after.is_none_or(|after| after > now), "still at {now}");
        }
    }
    bytes
}

#[test]
fn a_shaper_inside_a_bottleneck_carries_its_rate() {
    let (start, seconds) = (1, 20);
    // Offers 24 Mbit/s.
    let gap = Duration::from_nanos(1514 * 8 * 1_000_000_000 / 24_000_000);
    let packets = (start + seconds) * 1_000_000_000 / gap.as_nanos();
    for queue in QUEUES {
        let mut line = Bottleneck::new(&link(Some("1gbit"), "5ms", queue), 1);
        let bytes = run(&mut line, gap, packets, Time::from_nanos(start * 1_000_000_000));
        let rate = bytes as f64 * 8.0 / seconds as f64;
        assert!((rate / 20e6 - 1.0).abs() < 0.001, "{queue}: {rate} bit/s");
    }
}

/// The backlog at the end of the arrivals leaves too.
#[test]
fn a_shaper_inside_a_bottleneck_runs_empty() {
    for queue in QUEUES {
        let mut line = Bottleneck::new(&link(Some("1gbit"), "5ms", queue), 1);
        (0..50).for_each(|id| line.arrive(packet(id, 1514), Time::ZERO, &mut ()));
        let mut out = 0;
        while let Some(next) = line.next_event() {
            line.advance(next, &mut (), &mut |_, _| out += 1);
        }
        assert_eq!((out, line.queued().packets), (50, 0), "{queue}");
    }
}
