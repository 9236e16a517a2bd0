//! Runs, findings and reasons of every kind.
use crate::hops::path;
use crate::line::{BLOATED, Line, MANAGED};
use crate::switch;
use crate::upload::{SECOND, datagram_load, datagrams, delayed, probes, upload};
use fathom_run::{
    BaseChange, Capture, Certainty, Conclusion, CpuCause, DayGroup, DelayPercentiles, DelayedFlows,
    DelayedParty, Estimate, Finding, FlowShare, HistorySeries, InstrumentEffect, InstrumentPart,
    LatencyVariation, LinkUse, Management, ManagementEstimate, ManagementRule, Metric, Outage, OwnLoad,
    PartDirection, PathPart, PhaseEnd, PhaseKind, ProbeKind, ProbeLoss, QueueDelay, QueueEmptied,
    QueueManagement, QueueVictims, RecurringDelay, RecurringHours, RecurringLoss, Run, UnknownQueue,
    UnknownReason,
};
use fathom_units::Direction;

fn captured(capture: Capture) -> Run {
    Run { capture: Some(Box::new(capture)), phases: Vec::new(), series: Vec::new(), ..MANAGED.run() }
}

fn managed(kind: QueueManagement, confidence_ratio: f64) -> Option<ManagementEstimate> {
    Some(ManagementEstimate { kind, confidence_ratio })
}

/// Flows of which it is unknown where they waited, for every reason.
fn unknowns() -> Vec<UnknownQueue> {
    let part = |direction| PathPart { host: "10.7.0.2".into(), direction };
    let parts = [part(PartDirection::FromCapture), part(PartDirection::ToCapture)];
    let reasons = [
        UnknownReason::NoQueue { p95_s: 0.0042, error_s: 0.0013 },
        UnknownReason::SeveralParts { parts },
        UnknownReason::TooFewRoundTrips,
        UnknownReason::NoTimestamps,
        UnknownReason::TooFewTicks { ticks: 7.0, duration_s: 0.3 },
        UnknownReason::RestartedClock { frame: 1234 },
        UnknownReason::AmbiguousClock { min_hertz: 250.0, max_hertz: 1000.0 },
        UnknownReason::UncertainClock { error_s: 0.004, variation_s: 0.012 },
        UnknownReason::AcksQueued,
        UnknownReason::NothingSeen,
    ];
    (1..).zip(reasons).map(|(flow, reason)| UnknownQueue { flow, reason }).collect()
}

fn changed(line: &Line, change: impl Fn(&mut Run)) -> Run {
    let mut run = line.run();
    change(&mut run);
    run
}

/// An upload of which one thing is otherwise.
fn upload_with(change: impl Fn(&mut Capture)) -> Run {
    let mut capture = upload();
    change(&mut capture);
    captured(capture)
}

pub(crate) fn runs() -> Vec<(&'static str, Run)> {
    let lossless = |run: &mut Run| {
        let counters = run.series.iter_mut().filter(|s| s.key.metric == Metric::FlowRetransmits);
        counters.for_each(|s| s.values.fill(0.0));
    };
    vec![
        ("bloated", BLOATED.run()),
        ("managed", MANAGED.run()),
        ("bloated, no one-way delays", Line { one_way: false, ..BLOATED }.run()),
        (
            "bloated, still growing",
            changed(&Line { fill_rate: 0.08, ..BLOATED }, |run| {
                run.phases.iter_mut().for_each(|phase| phase.end = PhaseEnd::TimeLimit);
            }),
        ),
        ("bloated, no packet lost", changed(&BLOATED, lossless)),
        ("managed, no packet lost", changed(&MANAGED, lossless)),
        ("managed, 15 % of the probes lost", Line { loss_ratio: 0.15, ..MANAGED }.run()),
        ("capture of a bloated upload", captured(upload())),
        ("two captures of one path", captured(path())),
        (
            "one flow, one loss, buffer never full",
            upload_with(|capture| {
                let queue = &mut capture.queues[0];
                (queue.lost_packets, queue.episodes, queue.was_full) = (1, 1, false);
                queue.rate_bits_per_second = Some(Estimate { value: 1e7, error: 10.0 });
                queue.management = managed(QueueManagement::TailDrop, 0.4);
                queue.base_rtt_s = None;
            }),
        ),
        (
            "queue kept short, questions delayed",
            upload_with(|capture| {
                let queue = &mut capture.queues[0];
                queue.delay =
                    DelayPercentiles { p5_s: 0.001, median_s: 0.004, p90_s: 0.01, p95_s: 0.012, max_s: 0.03 };
                queue.management = managed(QueueManagement::Codel, 0.95);
                queue.probes = vec![
                    probes(ProbeKind::Dns, 1, 0.9),
                    probes(ProbeKind::QuicHandshake, 2, 0.9),
                    probes(ProbeKind::QuicSpin, 9, 0.9),
                ];
            }),
        ),
        (
            "fair queueing",
            upload_with(|capture| {
                capture.queues[0].management = managed(QueueManagement::FairQueueing, 0.9);
                capture.queues[0].filled_by =
                    vec![FlowShare { flow: 1, bytes_ratio: 0.4 }, FlowShare { flow: 2, bytes_ratio: 0.3 }];
            }),
        ),
        ("UDP fills a queue", captured(datagrams(SECOND, vec![datagram_load(false)]))),
        ("UDP arrives from a queue", captured(datagrams(SECOND, vec![datagram_load(true)]))),
        ("probes wait, and the load was not captured", captured(datagrams(SECOND, Vec::new()))),
        ("UDP without a queue", captured(datagrams(DelayPercentiles::default(), vec![datagram_load(false)]))),
        (
            "no queue seen",
            upload_with(|capture| {
                capture.queues.clear();
                capture.unknown = unknowns();
            }),
        ),
        ("switch", switch::run(0)),
    ]
}

pub(crate) fn hours(days: DayGroup, from_hour: u64, to_hour: u64) -> RecurringHours {
    let (hit_days, all_days) = (26, 30);
    RecurringHours {
        days,
        from_hour,
        to_hour,
        hit_days,
        all_days,
        elsewhere_ratio: 0.02,
        chance_ratio: 1e-13,
    }
}

pub(crate) fn history() -> HistorySeries {
    HistorySeries { series: 7, target: "home".into(), probe: "icmp".into() }
}

/// Findings of kinds that the runs above do not have, or have in one form only.
pub(crate) fn findings() -> Vec<Finding> {
    let likely = |conclusion| Finding::new(conclusion, None, Certainty::Likely);
    let measured = measured().into_iter().chain(histories()).chain(captured_queues());
    let mut all: Vec<Finding> = measured.map(likely).collect();
    all.push(Finding::new(own_load(14.0), Some(Direction::Down), Certainty::Certain));
    all.extend(effects().into_iter().map(|effect| likely(Conclusion::Instrument(effect))));
    all.extend(crate::shapers::shapers());
    let newer = r#"{"kind":"gremlins","certainty":"possible","parameters":{"count":3}}"#;
    all.push(serde_json::from_str(newer).expect("a finding of an unknown kind is read"));
    all
}

fn measured() -> Vec<Conclusion> {
    let outage = |count| {
        let (phase, longest_s, total_s) = (PhaseKind::Up, 1.8, 1.8 * count as f64);
        Conclusion::Outage(Outage { phase, count, longest_s, total_s })
    };
    let loss = ProbeLoss { phase: PhaseKind::Idle, lost_packets: 12, sent_packets: 1_100 };
    switch::findings().into_iter().chain([outage(1), outage(3), Conclusion::ProbeLoss(loss)]).collect()
}

fn own_load(slow_per_day: f64) -> Conclusion {
    Conclusion::OwnLoad(OwnLoad {
        of: history(),
        delay_s: 1.1,
        idle_delay_s: 0.002,
        full_count: 288,
        slow_count: 280,
        slow_per_day,
        chance_ratio: 1e-20,
    })
}

fn base_change(change_s: f64, path_changed: bool) -> Conclusion {
    Conclusion::BaseChange(BaseChange {
        of: history(),
        since_day: 20_489,
        change_s,
        before_s: 0.015,
        after_s: 0.015 + change_s,
        each_side_days: 12,
        path_changed,
    })
}

fn emptied(count: u64) -> Conclusion {
    let (at_s, first_s, last_s) = (12.0, 4.857, 1.844);
    Conclusion::QueueEmptied(QueueEmptied { count, answered_packets: 4, at_s, first_s, last_s })
}

/// Findings of a watch.
pub(crate) fn histories() -> Vec<Conclusion> {
    let slow = |days, from, to, own_link| {
        let hours = hours(days, from, to);
        Conclusion::RecurringDelay(RecurringDelay { of: history(), hours, excess_s: 0.08, own_link })
    };
    let loss = RecurringLoss { of: history(), hours: hours(DayGroup::Weekday(0), 9, 10), loss_ratio: 0.051 };
    let variation = LatencyVariation {
        base_p5_s: 0.015,
        p50_s: 0.017,
        p90_s: 0.031,
        p95_s: 0.08,
        max_s: 1.2,
        answered_packets: 86_400,
    };
    vec![
        Conclusion::LatencyVariation(variation),
        emptied(1),
        emptied(3),
        slow(DayGroup::All, 19, 23, LinkUse::Idle),
        slow(DayGroup::Working, 8, 17, LinkUse::Unknown),
        slow(DayGroup::Weekend, 0, 6, LinkUse::Busy),
        Conclusion::RecurringLoss(loss),
        base_change(0.012, false),
        base_change(-0.009, true),
        own_load(14.0),
        own_load(0.4),
    ]
}

/// The delay of a queue of the capture.
pub(crate) fn queue_delay(queue: u32) -> Conclusion {
    Conclusion::QueueDelay(QueueDelay {
        queue,
        is_bloated: true,
        delay_p5_s: 0.1,
        delay_p50_s: 0.5,
        delay_p90_s: 0.8,
        delay_p95_s: 0.9,
        delay_max_s: 1.0,
        samples: 50,
        base_rtt_s: None,
    })
}

fn captured_queues() -> Vec<Conclusion> {
    let rule = |rule| {
        Conclusion::QueueManagement(Management {
            rule,
            loss_count: 12,
            mark_packets: 3,
            episode_count: Some(2),
            delay_at_loss: None,
            delay_at_loss_p50_s: None,
            delay_p50_s: None,
            delay_p95_s: None,
            top_ratio: None,
            flow_delay_p50_s: None,
            least_bits_per_second: None,
            policed_bits_per_second: None,
        })
    };
    let short = DelayedFlows { who: DelayedParty::ShortFlows { count: 12 }, added_p95_s: 0.98 };
    let flows = vec![short, delayed(3, None, 0.9), delayed(4, None, 0.8)];
    vec![
        rule(ManagementRule::Red),
        rule(ManagementRule::NoneSeen),
        queue_delay(1),
        Conclusion::DelayedFlows(QueueVictims { queue: 1, flows }),
    ]
}

fn effects() -> Vec<InstrumentEffect> {
    vec![
        InstrumentEffect::Incomplete { why: fathom_run::Interruption::Stopped },
        InstrumentEffect::Late { part: InstrumentPart::ProbeTimer, lateness_p95_s: 0.012 },
        InstrumentEffect::LackOfCpu { cause: CpuCause::Busy, cpu_ratio: 0.97 },
        InstrumentEffect::LackOfCpu { cause: CpuCause::Stolen, cpu_ratio: 0.12 },
        InstrumentEffect::FewKernelTimestamps { kernel_timestamp_ratio: 0.4 },
        InstrumentEffect::ClockStepped { largest_s: 3.5 },
        InstrumentEffect::ProbesNotSent {
            not_sent_packets: 17,
            due_packets: 1_200,
            why: fathom_run::NotSent::BufferFull,
        },
    ]
}
