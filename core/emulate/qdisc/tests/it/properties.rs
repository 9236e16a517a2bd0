//! Properties that hold for random arrivals. Each failure names its seed.
use crate::common::{Action, SPECS, TestPacket, build, random_actions};
use fathom_qdisc::{
    AnyQdisc, Backlog, Count, DropReason, Ecn, Limit, MarkReason, Packet, Qdisc, Sink, Spec, TbfQueue,
};
use fathom_queue::conformance;
use fathom_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

const SEEDS: u64 = 30;
const ACTIONS: usize = 2000;

/// Calls `check` after each action on each discipline with what entered and left in that action.
fn for_all(mut check: impl FnMut(&str, &mut AnyQdisc<TestPacket>, &Step)) {
    for spec in SPECS {
        for seed in 0..SEEDS {
            let mut queue = build(spec);
            for (now, action) in random_actions(seed, ACTIONS) {
                let before = queue.backlog();
                let mut seen = Seen::default();
                let (arrived, sent) = match action {
                    Action::Enqueue(packet) => {
                        queue.enqueue(packet.clone(), now, &mut seen);
                        (Some(packet), None)
                    }
                    Action::Dequeue => (None, Some(queue.dequeue(now, &mut seen))),
                };
                check(spec, &mut queue, &Step { seed, now, before, arrived, sent, seen });
            }
        }
    }
}

struct Step {
    seed: u64,
    now: Time,
    before: Backlog,
    arrived: Option<TestPacket>,
    sent: Option<Option<(TestPacket, Duration)>>,
    seen: Seen,
}

#[derive(Default)]
struct Seen {
    dropped: Vec<(TestPacket, DropReason, Duration)>,
}

impl Sink<TestPacket> for Seen {
    fn dropped(&mut self, packet: TestPacket, reason: DropReason, sojourn: Duration, _: Time) {
        self.dropped.push((packet, reason, sojourn));
    }
    fn marked(&mut self, _: &TestPacket, _: MarkReason, _: Time) {}
}

#[test]
fn every_discipline_conforms() {
    for spec in SPECS {
        let spec: Spec = spec.parse().unwrap();
        conformance::check(0..SEEDS, |seed| spec.build(seed))
            .unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
}

#[test]
fn the_counters_agree_with_what_the_host_saw() {
    type Counts = ([Count; 2], BTreeMap<DropReason, Count>);
    let mut counts: BTreeMap<(String, u64), Counts> = BTreeMap::new();
    for_all(|spec, queue, step| {
        let ([arrived, sent], dropped) = counts.entry((spec.to_string(), step.seed)).or_default();
        step.arrived.iter().for_each(|packet| arrived.add(packet.len()));
        step.sent.iter().flatten().for_each(|(packet, _)| sent.add(packet.len()));
        for (packet, reason, _) in &step.seen.dropped {
            dropped.entry(*reason).or_default().add(packet.len());
        }
        let stats = queue.stats();
        assert_eq!([stats.arrived, stats.sent], [*arrived, *sent], "{spec}, seed {}", step.seed);
        for reason in DropReason::ALL {
            let seen = dropped.get(&reason).copied().unwrap_or_default();
            assert_eq!(stats.dropped_for(reason), seen, "{spec}, seed {}, {reason:?}", step.seed);
        }
    });
}

#[test]
fn packets_of_a_flow_stay_in_order() {
    let mut last: BTreeMap<(String, u64, u64, bool), u64> = BTreeMap::new();
    let mut is_l4s = BTreeMap::new();
    for_all(|spec, _, step| {
        // Two queues, selected by code point: a real flow has one code point.
        let is_dual = spec.starts_with("dualpi2");
        step.arrived.iter().for_each(|packet| {
            is_l4s.insert(packet.name.clone(), is_dual && matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce));
        });
        let Some(Some((packet, _))) = &step.sent else { return };
        let number: u64 = packet.name.parse().unwrap();
        let before = last.insert((spec.to_string(), step.seed, packet.flow, is_l4s[&packet.name]), number);
        assert!(before.is_none_or(|before| before < number), "{spec}, seed {}: {number} late", step.seed);
    });
}

#[test]
fn limits_are_never_exceeded() {
    for_all(|text, queue, step| {
        let (held, place) = (queue.backlog(), format!("{text}, seed {}, {}", step.seed, step.now));
        match text.parse().unwrap() {
            Spec::Fifo(params) => match params.limit {
                Limit::Packets(limit) => assert!(held.packets <= limit, "{place}"),
                Limit::Bytes(limit) => assert!(held.bytes <= limit, "{place}"),
                // Only the last packet may be older.
                Limit::Sojourn(limit) => {
                    let sojourn =
                        step.sent.as_ref().and_then(|sent| sent.as_ref()).map(|(_, sojourn)| *sojourn);
                    assert!(held.packets == 0 || sojourn.is_none_or(|s| s <= limit), "{place}");
                }
            },
            Spec::Codel(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::FqCodel(params) => {
                assert!(held.packets <= params.limit_packets && held.bytes <= params.memory, "{place}");
            }
            Spec::Blue(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Ebdp(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Astar(params) => assert!(held.packets <= params.ebdp.limit_packets, "{place}"),
            Spec::Sfb(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::DualPi2(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Red(params) => assert!(held.bytes <= params.limit, "{place}"),
            Spec::Pie(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Tbf(params) => match params.queue {
                TbfQueue::Limit(limit) => assert!(held.bytes <= limit, "{place}"),
                TbfQueue::Child(_) => {}
            },
            // The limits are those of its classes, which are tested separately.
            Spec::Htb(_) => {}
            Spec::Drr(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Switch(params) => assert!(held.bytes <= params.memory, "{place}"),
            Spec::Rfc970(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::Sfq(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            Spec::FqPie(params) => assert!(held.packets <= params.limit_packets, "{place}"),
            // The common FIFO can hold eight more.
            Spec::Fq(params) => assert!(held.packets <= params.limit_packets + 8, "{place}"),
            Spec::Plugin(_) => panic!("{place}: it has no text"),
            Spec::Cake(params) => assert!(params.memory.is_none_or(|memory| held.bytes <= memory), "{place}"),
        }
        assert!(
            queue.stats().max_backlog.packets >= held.packets
                && queue.stats().max_backlog.bytes >= held.bytes
        );
    });
}

#[test]
fn a_fifo_drops_only_what_does_not_fit() {
    for_all(|text, _, step| {
        let Spec::Fifo(params) = text.parse().unwrap() else { return };
        for (packet, reason, sojourn) in &step.seen.dropped {
            assert_eq!(*reason, DropReason::Overlimit);
            let arrived = step.arrived.as_ref().map_or(Bytes::ZERO, |arrived| arrived.len());
            let full = match params.limit {
                Limit::Packets(limit) => step.before.packets == limit,
                Limit::Bytes(limit) => step.before.bytes + arrived > limit,
                Limit::Sojourn(limit) => *sojourn > limit,
            };
            assert!(full, "{text}, seed {}: {} dropped with room left", step.seed, packet.name);
        }
    });
}
