//! Regression tests for bugs found in the queue disciplines of other programs.
use crate::common::{TestPacket, build, dequeue, enqueue, ms, packet};
use fathom_qdisc::{AnyQdisc, Ecn};

fn standing(spec: &str, ecn: Ecn) -> AnyQdisc<TestPacket> {
    let mut queue = build(spec);
    (1..=60).for_each(|n| {
        enqueue(&mut queue, TestPacket { ecn, ..packet(n, 0, 1000) }, ms(0.0));
    });
    queue
}

/// mahimahi's CoDel shadows a variable: it drops the packet after the one it should.
#[test]
fn the_packet_dropped_is_the_oldest_and_the_next_one_is_sent() {
    let mut queue = standing("codel", Ecn::NotEct);
    dequeue(&mut queue, ms(10.0));
    assert_eq!(dequeue(&mut queue, ms(110.0)), "drop 2 aqm, send 3 110ms");
    // The same with several drops in one dequeue.
    assert_eq!(dequeue(&mut queue, ms(281.0)), "drop 4 aqm, drop 5 aqm, send 6 281ms");
}

/// mahimahi counts time in whole milliseconds, which truncates interval / sqrt(count).
#[test]
fn the_control_law_is_finer_than_a_millisecond() {
    let mut queue = standing("codel", Ecn::NotEct);
    for at in [10.0, 110.0, 210.0] {
        dequeue(&mut queue, ms(at));
    }
    assert_eq!(dequeue(&mut queue, ms(280.5)), "send 6 280.5ms");
    assert!(dequeue(&mut queue, ms(280.8)).starts_with("drop 7 aqm"));
}

/// ns-3 schedules the next mark relative to now, which is too late on a slow link.
#[test]
fn the_next_mark_is_due_from_when_the_last_one_was_due() {
    let mut queue = standing("codel ecn", Ecn::Ect0);
    dequeue(&mut queue, ms(10.0));
    assert_eq!(dequeue(&mut queue, ms(110.0)), "mark 2, send 2 110ms");
    // Due at 210, handled at 250.
    assert_eq!(dequeue(&mut queue, ms(250.0)), "mark 3, send 3 250ms");
    // Due at 210 + 70.7; relative to 250 it would be 320.7.
    assert_eq!(dequeue(&mut queue, ms(281.0)), "mark 4, send 4 281ms");
}

/// In ns-3 an empty queue does not reset the time above target.
#[test]
fn an_empty_queue_ends_the_time_above_target() {
    let mut queue = build("codel");
    for start in [0.0, 200.0] {
        (0..5).for_each(|n| {
            enqueue(&mut queue, packet(n, 0, 1000), ms(start));
        });
        let sent: Vec<String> = (0..6).map(|_| dequeue(&mut queue, ms(start + 10.0))).collect();
        assert!(sent.iter().all(|result| !result.contains("drop")), "{sent:?}");
    }
}

/// The listing of 2012 resumed dropping at count - 2, RFC 8289 at the number of drops of the last
/// phase: after counts 1, 2, 3 at 1 and at 2, which has a gap of 70.7 ms instead of 100.
#[test]
fn dropping_resumes_at_the_count_of_the_last_phase() {
    let mut queue = standing("codel", Ecn::NotEct);
    let drops = [10.0, 110.0, 210.0, 281.0].map(|at| dequeue(&mut queue, ms(at)).matches("drop").count());
    assert_eq!(drops, [0, 1, 1, 1]);
    while dequeue(&mut queue, ms(281.0)) != "empty" {}
    (1..=60).for_each(|n| {
        enqueue(&mut queue, packet(n, 0, 1000), ms(400.0));
    });
    let again = [410.0, 510.0, 580.7, 580.8].map(|at| dequeue(&mut queue, ms(at)).matches("drop").count());
    assert_eq!(again, [0, 1, 0, 1]);
}

/// ns-3's PIE turns derandomization off: random drops come in clusters and after long pauses. With
/// p = 0.0814 gaps are ceil(0.85 / p) = 11 to ceil(8.5 / p) = 105 packets.
#[test]
fn pie_spreads_its_drops() {
    let mut queue = build("pie limit 100000p tupdate 1s max_burst 1ms");
    (0..5).for_each(|n| {
        enqueue(&mut queue, packet(n, 0, 1000), ms(0.0));
    });
    // A delay of 0.999 s, updates at 1 to 4 s: with 0.125 * 0.984 = 0.123 and 1.25 * 0.999 = 1.249,
    // p = (0.123 + 1.249) / 2048 = 0.00067, + 0.123 / 32 = 0.00451, + 0.123 / 8 = 0.01989, + 0.123
    // / 2 = 0.0814.
    dequeue(&mut queue, ms(999.0));
    let drops: Vec<u32> =
        (0..50_000).filter(|n| enqueue(&mut queue, packet(n, 0, 1000), ms(4500.0)) != "-").collect();
    let gaps: Vec<u32> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps.iter().min(), Some(&11));
    assert!(gaps.iter().all(|gap| *gap <= 105), "{gaps:?}");
    // 10 packets without a drop, then random with p, except for the upper bound: 10 + 1 / p.
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean / (10.0 + 1.0 / 0.0814) - 1.0).abs() < 0.04, "{mean}");
}

/// Shadow used (now + interval) / sqrt(count), which is in the past from the second drop on.
#[test]
fn the_pace_of_drops_grows_with_the_square_root() {
    let mut queue = build("codel limit 100000p");
    (0..100_000).for_each(|n| {
        enqueue(&mut queue, packet(n, 0, 1000), ms(0.0));
    });
    // One dequeue per ms: n drops take 2 sqrt(n) intervals, so 10 s (100 intervals) see about 2500.
    let drops = (5..10_110).filter(|at| dequeue(&mut queue, ms(f64::from(*at))).contains("drop")).count();
    assert!((2400..=2600).contains(&drops), "{drops}");
}

/// ns-3 always moves an emptied new flow to the old flows, even if no other flow could starve.
#[test]
fn an_emptied_new_flow_stays_sparse_if_there_are_no_old_flows() {
    let mut queue = build("fq_codel");
    enqueue(&mut queue, packet("a1", 1, 100), ms(0.0));
    dequeue(&mut queue, ms(0.0));
    // Another new flow, so that a is found empty while there are packets to send.
    (1..=3).for_each(|n| {
        enqueue(&mut queue, packet(format!("b{n}"), 2, 1514), ms(0.0));
    });
    assert_eq!(dequeue(&mut queue, ms(0.0)), "send b1 0ns");
    enqueue(&mut queue, packet("a2", 1, 100), ms(0.0));
    // If a had become an old flow, a third new flow would overtake it. b is behind a by now.
    enqueue(&mut queue, packet("c1", 3, 100), ms(0.0));
    assert_eq!(dequeue(&mut queue, ms(0.0)), "send a2 0ns");
    assert_eq!(dequeue(&mut queue, ms(0.0)), "send c1 0ns");
}

/// Linux uses the backlog of all flows to detect a standing queue, RFC 8290 that of the flow.
#[test]
fn the_last_packet_of_a_flow_is_sent_despite_other_backlog() {
    let mut queue = build("fq_codel noecn");
    (1..=20).for_each(|n| {
        enqueue(&mut queue, packet(format!("b{n}"), 2, 1514), ms(0.0));
    });
    (1..=3).for_each(|n| {
        enqueue(&mut queue, packet(format!("a{n}"), 1, 100), ms(0.0));
    });
    let results: Vec<String> =
        [10.0, 120.0, 250.0, 400.0, 600.0].into_iter().map(|at| dequeue(&mut queue, ms(at))).collect();
    let results = results.join(", ");
    assert!(!results.contains("drop a"), "{results}");
}
