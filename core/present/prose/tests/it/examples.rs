//! Examples of each kind of finding.
use crate::every;
use crate::samples::{histories, history, hours, queue_delay};
use crate::switch;
use crate::upload::upload;
use fathom_run::{
    AckStarvation, Bottleneck, BufferCheck, BufferLimit, BufferSize, Capture, Conclusion, DatagramLoss,
    DelayedFlows, DelayedProbes, DrainTime, Estimate, ExceededTimers, FillTime, FindingKind, FirstBuffer,
    FlowRetransmission, InstrumentEffect, LatencyIncrease, LocalTraffic, LowerBound, Management,
    ManagementRule, Marks, MeasuredBuffer, OtherTraffic, Outage, PathLoss, PathRemarking, PhaseKind, Place,
    ProbeLoss, Process, ProtocolTimer, QueueLocation, QueueVictims, RateChange, RecurringDelay, Remarking,
    Reordering, Retransmissions, ShaperCheck, ShaperConflict, StartUp, UnknownLocation,
};
use fathom_units::Direction;

pub(crate) fn increase(phase: PhaseKind, up_ratio: Option<f64>) -> LatencyIncrease {
    let (idle_p50_s, loaded_p50_s, loaded_p90_s, loaded_max_s) = (0.049, 1.043, 1.120, 1.3);
    LatencyIncrease {
        phase,
        idle_p50_s,
        loaded_p50_s,
        loaded_p90_s,
        loaded_max_s,
        is_max_lower_bound: false,
        is_approximate: false,
        is_lower_bound: false,
        up_ratio,
    }
}

fn management(rule: ManagementRule, of_capture: bool) -> Management {
    let (loss_count, episode_count) = if rule == ManagementRule::NoneSeen { (0, 0) } else { (12, 2) };
    let measured = (!of_capture).then_some(0.0061);
    Management {
        rule,
        loss_count,
        mark_packets: 0,
        episode_count: Some(episode_count),
        delay_at_loss: None,
        delay_at_loss_p50_s: None,
        delay_p50_s: measured,
        delay_p95_s: measured.map(|_| 0.983),
        top_ratio: measured.map(|_| 0.83),
        flow_delay_p50_s: (rule == ManagementRule::FairQueueing).then_some(0.042),
        least_bits_per_second: (rule == ManagementRule::FairQueueing).then_some(19.1e6),
        policed_bits_per_second: (rule == ManagementRule::Policer).then_some(19.8e6),
    }
}

type Found = (Option<Direction>, Conclusion);

fn increases() -> Vec<Found> {
    let of = |direction, increase| (direction, Conclusion::Bufferbloat(increase));
    let (up, unknown) = (PhaseKind::Up, increase(PhaseKind::Up, None));
    vec![
        of(Some(Direction::Up), increase(up, Some(0.95))),
        of(Some(Direction::Up), increase(PhaseKind::Down, Some(1.0))),
        of(None, increase(PhaseKind::Both, Some(0.55))),
        of(None, LatencyIncrease { is_lower_bound: true, ..unknown.clone() }),
        of(None, LatencyIncrease { is_approximate: true, ..unknown.clone() }),
        of(None, unknown),
    ]
}

/// Examples of each kind. The queue points of an audit are made elsewhere.
pub(crate) fn examples(kind: FindingKind) -> Vec<Found> {
    let up = PhaseKind::Up;
    match kind {
        FindingKind::Bufferbloat => increases(),
        FindingKind::LowLatency => every::phases()
            .into_iter()
            .filter(|phase| phase.is_loaded())
            .map(|phase| (None, Conclusion::LowLatency(increase(phase, None))))
            .collect(),
        FindingKind::BufferSize | FindingKind::MeasuredBuffer => sizes(kind),
        FindingKind::PortOverload
        | FindingKind::LosslessBurst
        | FindingKind::SharedBuffer
        | FindingKind::HeadOfLineBlocking
        | FindingKind::PauseFrames => of_switch(kind),
        FindingKind::QueueManagement => every::rules().into_iter().flat_map(managements).collect(),
        FindingKind::Outage
        | FindingKind::FillTime
        | FindingKind::DrainTime
        | FindingKind::AckStarvation
        | FindingKind::ProbeLoss
        | FindingKind::DatagramLoss
        | FindingKind::RateChange
        | FindingKind::ExceededTimers
        | FindingKind::StartUp => of_load(kind),
        FindingKind::OtherTraffic | FindingKind::LocalTraffic => traffic(kind),
        FindingKind::QueueLocation | FindingKind::UnknownLocation => locations(kind),
        FindingKind::LowerBound => {
            let bound = |cause| (None, Conclusion::LowerBound(LowerBound { phase: up, cause }));
            every::bounds().into_iter().map(bound).collect()
        }
        FindingKind::Instrument => {
            instruments().into_iter().map(|one| (None, Conclusion::Instrument(one))).collect()
        }
        FindingKind::ShaperCheck => checks(),
        FindingKind::ShaperConflict => {
            let conflict = |cause| ShaperConflict { interface: "eth0".into(), cause };
            let found = |cause| (None, Conclusion::ShaperConflict(conflict(cause)));
            every::conflicts().into_iter().map(found).collect()
        }
        FindingKind::QueueDelay
        | FindingKind::Bottleneck
        | FindingKind::Oscillation
        | FindingKind::DelayedFlows
        | FindingKind::DelayedProbes
        | FindingKind::Remarking
        | FindingKind::PathLoss
        | FindingKind::Reordering
        | FindingKind::Retransmission => captured(kind).into_iter().map(|one| (None, one)).collect(),
        FindingKind::LatencyVariation
        | FindingKind::QueueEmptied
        | FindingKind::RecurringDelay
        | FindingKind::RecurringLoss
        | FindingKind::OwnLoad
        | FindingKind::BaseChange => of_watch(kind),
        FindingKind::Unknown => {
            vec![(None, Conclusion::Unknown { kind: "gremlins".into(), parameters: serde_json::Value::Null })]
        }
        // The queue points of a host have their own section.
        FindingKind::BloatedQueue
        | FindingKind::QdiscBypass
        | FindingKind::DarkBuffer
        | FindingKind::UnreadableQueue
        | FindingKind::HarmlessQueue => Vec::new(),
    }
}

/// A rule as a test finds it, as a capture shows it, or both.
fn managements(rule: ManagementRule) -> Vec<Found> {
    let measured = || (Some(Direction::Up), Conclusion::QueueManagement(management(rule, false)));
    let captured = || (None, Conclusion::QueueManagement(management(rule, true)));
    match rule {
        ManagementRule::TailDrop | ManagementRule::FairQueueing => vec![measured(), captured()],
        ManagementRule::KeptShort | ManagementRule::NeverDropped | ManagementRule::Policer => {
            vec![measured()]
        }
        ManagementRule::Red | ManagementRule::Codel | ManagementRule::NoneSeen => vec![captured()],
        // Only bursts show them.
        ManagementRule::HeadDrop | ManagementRule::Pie => Vec::new(),
    }
}

/// Examples of what tests of a switch show.
fn of_switch(kind: FindingKind) -> Vec<Found> {
    let of_kind = switch::findings().into_iter().filter(|conclusion| conclusion.kind() == kind);
    of_kind.map(|one| (None, one)).collect()
}

/// Examples of what a watch shows.
fn of_watch(kind: FindingKind) -> Vec<Found> {
    use Direction::{Down, Up};
    match kind {
        FindingKind::RecurringDelay => every::day_groups()
            .into_iter()
            .zip(every::link_uses().into_iter().cycle())
            .map(|(days, own_link)| {
                let hours = hours(days, 19, 23);
                let delay = RecurringDelay { of: history(), hours, excess_s: 0.08, own_link };
                (None, Conclusion::RecurringDelay(delay))
            })
            .collect(),
        _ => {
            let of_kind = histories().into_iter().filter(|found| found.kind() == kind);
            let own = of_kind.flat_map(|one| match one {
                Conclusion::OwnLoad(_) => vec![(Some(Up), one.clone()), (Some(Down), one)],
                _ => vec![(None, one)],
            });
            own.collect()
        }
    }
}

/// Examples of what a load shows over time.
fn of_load(kind: FindingKind) -> Vec<Found> {
    use Direction::{Down, Up};
    let up = PhaseKind::Up;
    match kind {
        FindingKind::Outage => [1, 3]
            .map(|count| {
                let outage = Outage { phase: up, count, longest_s: 1.8, total_s: 1.8 * count as f64 };
                (None, Conclusion::Outage(outage))
            })
            .into(),
        FindingKind::FillTime => {
            let fill = FillTime { phase: up, fill_s: 6.2, delay_p95_s: 1.1, growth_ratio: 0.16 };
            vec![(None, Conclusion::FillTime(fill))]
        }
        FindingKind::DrainTime => [true, false]
            .map(|is_empty| {
                (None, Conclusion::DrainTime(DrainTime { drain_s: 2.4, is_empty, threshold_s: 0.06 }))
            })
            .into(),
        FindingKind::AckStarvation => {
            let (alone_bits_per_second, loaded_bits_per_second, ack_delay_s) = (19.2e6, 7.69e6, 0.9);
            let starvation = AckStarvation { alone_bits_per_second, loaded_bits_per_second, ack_delay_s };
            vec![(None, Conclusion::AckStarvation(starvation))]
        }
        FindingKind::ProbeLoss => every::phases()
            .into_iter()
            .zip([Some(Up), Some(Down), None].into_iter().cycle())
            .map(|(phase, direction)| {
                let loss = ProbeLoss { phase, lost_packets: 12, sent_packets: 1_100 };
                (direction, Conclusion::ProbeLoss(loss))
            })
            .collect(),
        FindingKind::DatagramLoss => [Some(Up), Some(Down)]
            .map(|direction| {
                let workload = "camera".to_string();
                let loss = DatagramLoss { workload, lost_packets: 385_550, sent_packets: 1_285_000 };
                (direction, Conclusion::DatagramLoss(loss))
            })
            .into(),
        FindingKind::RateChange => [(8e6, 2e6, 0), (8e6, 2e6, 1), (2e6, 8e6, 1), (8e6, 2e6, 3)]
            .map(|change| (Some(Up), rate_change(change)))
            .into(),
        FindingKind::ExceededTimers => {
            let timers = vec![ProtocolTimer::Sip, ProtocolTimer::TcpConnection];
            let found = ExceededTimers { phase: PhaseKind::Up, rtt_p95_s: 1.12, timers };
            vec![(None, Conclusion::ExceededTimers(found))]
        }
        FindingKind::StartUp => [PhaseKind::Up, PhaseKind::Down, PhaseKind::Both]
            .map(|phase| {
                let start = StartUp {
                    phase,
                    duration_s: 2.0,
                    start_max_s: 0.346,
                    steady_p50_s: 0.020,
                    steady_p90_s: 0.031,
                };
                (None, Conclusion::StartUp(start))
            })
            .into(),
        _ => Vec::new(),
    }
}

fn traffic(kind: FindingKind) -> Vec<Found> {
    use Direction::{Down, Up};
    let of_others = |direction, source| {
        let found = OtherTraffic { min_s: 0.021, p50_s: 0.45, p90_s: 1.02, source };
        (direction, Conclusion::OtherTraffic(found))
    };
    let of_program = |direction, phase, process| {
        let remote = "192.0.2.7".into();
        let found = LocalTraffic { phase, process, remote, bits_per_second: 2.9e6 };
        (Some(direction), Conclusion::LocalTraffic(found))
    };
    if kind == FindingKind::OtherTraffic {
        let both = |source: Option<_>| [of_others(Some(Up), source.clone()), of_others(None, source)];
        return every::traffic_sources().into_iter().flat_map(both).collect();
    }
    let rsync = || Some(Process { id: 4_242, name: "rsync".into() });
    vec![
        of_program(Up, PhaseKind::Idle, rsync()),
        of_program(Down, PhaseKind::Idle, rsync()),
        of_program(Up, PhaseKind::Idle, None),
        of_program(Up, PhaseKind::Down, None),
    ]
}

fn rate_change((first, last, change_count): (f64, f64, u64)) -> Conclusion {
    Conclusion::RateChange(RateChange {
        phase: PhaseKind::Up,
        first_bits_per_second: first,
        last_bits_per_second: last,
        lowest_bits_per_second: first.min(last),
        highest_bits_per_second: first.max(last),
        change_count,
        last_change_s: 6.7,
    })
}

fn buffers() -> Vec<Found> {
    use Direction::{Down, Up};
    let up = PhaseKind::Up;
    let packets = Some(BufferLimit::Packets);
    let sizes: [Found; 5] = [
        (Up, false, false, None),
        (Down, false, false, None),
        (Up, true, false, None),
        (Up, true, true, None),
        (Up, false, false, packets),
    ]
    .map(|(direction, is_lower_bound, is_rate_lower_bound, limit)| {
        let size = BufferSize {
            phase: up,
            delay_s: 0.998,
            goodput_bits_per_second: 2.8e6,
            probes_bits_per_second: 4e4,
            rate_bits_per_second: 2.98e6,
            ip_bytes: 372_000.0,
            ethernet_bytes: 376_000.0,
            is_lower_bound,
            is_rate_lower_bound,
            is_bloated: true,
            limit,
            check: None,
        };
        (Some(direction), Conclusion::BufferSize(size))
    });
    let (_, Conclusion::BufferSize(full)) = &sizes[0] else { unreachable!() };
    let check = |is_lower_bound, agrees| {
        Some(BufferCheck { ip_bytes: 512_000.0, delay_s: 1.37, is_lower_bound, agrees })
    };
    let checked = [
        BufferSize { check: check(false, true), ..full.clone() },
        BufferSize { check: check(false, true), is_lower_bound: true, ..full.clone() },
        BufferSize { check: check(false, false), ..full.clone() },
        BufferSize { check: check(true, false), ..full.clone() },
    ];
    let checked = checked.map(|size| (Some(Up), Conclusion::BufferSize(size)));
    sizes.into_iter().chain(checked).collect()
}

fn instruments() -> Vec<InstrumentEffect> {
    let late = every::parts().into_iter().map(|part| InstrumentEffect::Late { part, lateness_p95_s: 0.012 });
    let why = every::not_sent().into_iter().map(|why| InstrumentEffect::ProbesNotSent {
        not_sent_packets: 17,
        due_packets: 1_200,
        why,
    });
    every::effects().into_iter().chain(late).chain(why).collect()
}

/// Findings of captures, some of which name the queues and flows of [`capture`].
fn captured(kind: FindingKind) -> Vec<Conclusion> {
    match kind {
        FindingKind::QueueDelay => (1..=places().len() as u32).map(queue_delay).collect(),
        FindingKind::Bottleneck => [(None, false), (Some(1.25e6), true), (Some(1.25e6), false)]
            .map(|(buffer, was_full)| {
                Conclusion::Bottleneck(Bottleneck {
                    queue: 1,
                    rate_bits_per_second: Estimate { value: 9.99e6, error: 2e4 },
                    buffer_bytes: buffer.map(|value| Estimate { value, error: 1e4 }),
                    was_full,
                })
            })
            .into(),
        FindingKind::Oscillation => [None, Some("CUBIC".to_string())]
            .map(|congestion_control| {
                let predicted_s = congestion_control.as_ref().map(|_| 8.5);
                Conclusion::Oscillation(fathom_run::Oscillation {
                    queue: 1,
                    period_s: 10.4,
                    congestion_control,
                    predicted_s,
                })
            })
            .into(),
        FindingKind::DelayedFlows => {
            let one = |who| DelayedFlows { who, added_p95_s: 0.98 };
            let all: Vec<DelayedFlows> = every::parties().into_iter().map(one).collect();
            let victims = all.iter().map(|flows| vec![flows.clone()]).chain([all[..2].to_vec(), all.clone()]);
            victims.map(|flows| Conclusion::DelayedFlows(QueueVictims { queue: 1, flows })).collect()
        }
        FindingKind::DelayedProbes => every::probe_kinds()
            .into_iter()
            .zip([(1, 0), (12, 3)].into_iter().cycle())
            .map(|(probe, (answers, unanswered))| {
                Conclusion::DelayedProbes(DelayedProbes {
                    queue: 1,
                    probe,
                    from: "10.7.0.1".into(),
                    to: "10.7.0.2".into(),
                    answers,
                    unanswered,
                    max_s: 1.005,
                    min_s: 0.0103,
                    added_p95_s: 0.9,
                })
            })
            .collect(),
        _ => of_path(kind),
    }
}

/// Findings between two captures, and of one flow.
fn of_path(kind: FindingKind) -> Vec<Conclusion> {
    let captures = ["snd.pcap", "rcv.pcap"].map(String::from);
    match kind {
        FindingKind::Remarking => {
            let change = |from: (u8, u8), to: (u8, u8)| Remarking {
                from: fathom_run::IpMarking { dscp: from.0, ecn: from.1 },
                to: fathom_run::IpMarking { dscp: to.0, ecn: to.1 },
                packets: 17,
            };
            let changes = vec![change((10, 2), (0, 0)), change((0, 1), (0, 3))];
            vec![Conclusion::Remarking(PathRemarking { captures, changes })]
        }
        FindingKind::PathLoss => [1, 548]
            .map(|lost_packets| {
                let captures = captures.clone();
                Conclusion::PathLoss(PathLoss { captures, lost_packets, matched_packets: 102_000 })
            })
            .into(),
        FindingKind::Reordering => [(3, 0), (0, 1), (1, 2)]
            .map(|(reordered_packets, duplicated_packets)| {
                let captures = captures.clone();
                Conclusion::Reordering(Reordering { captures, reordered_packets, duplicated_packets })
            })
            .into(),
        FindingKind::Retransmission => {
            let retransmissions = Retransmissions {
                fast_packets: 180,
                probe_packets: 30,
                timeout_packets: 2,
                spurious_packets: 2,
                unknown_packets: 1,
            };
            let (from, to) = ("10.7.0.1:40000".into(), "10.7.0.2:5201".into());
            let flow = FlowRetransmission { flow: 2, from, to, sent_packets: 32_410, retransmissions };
            vec![Conclusion::Retransmission(flow)]
        }
        _ => Vec::new(),
    }
}

/// Places of queues; the first is in the headline.
fn places() -> Vec<fathom_run::QueuePlace> {
    let mut places = every::places();
    places.push(places[2]);
    places
}

/// A capture with a queue at each place.
pub(crate) fn capture() -> Capture {
    let mut capture = upload();
    let queue = capture.queues.remove(0);
    capture.queues =
        places().into_iter().map(|place| fathom_run::CapturedQueue { place, ..queue.clone() }).collect();
    capture
}

/// The first passes, the second fails, all others pass.
fn checks() -> Vec<Found> {
    let check = |(number, criterion)| {
        let phase = PhaseKind::Up;
        (None, Conclusion::ShaperCheck(ShaperCheck { phase, passed: number != 1, criterion }))
    };
    every::criteria().into_iter().enumerate().map(check).collect()
}

fn sizes(kind: FindingKind) -> Vec<Found> {
    if kind == FindingKind::BufferSize { buffers() } else { measured_buffers() }
}

/// Buffers that count packets, bytes, or nothing that shows; one of each rule; a bucket.
fn measured_buffers() -> Vec<Found> {
    let value = |value: f64| Estimate { value, error: value / 100.0 };
    let by = |rule| MeasuredBuffer {
        rate_bits_per_second: value(5e6),
        overhead_bytes: 14.0,
        delay_s: 0.41,
        bytes: value(256_000.0),
        packets: None,
        is_lower_bound: false,
        limit: Some(BufferLimit::Bytes),
        rule,
        drops_early: false,
        is_per_flow: false,
        bucket_bytes: None,
        marks: None,
        first: None,
        is_bloated: true,
    };
    let plain = by(Some(ManagementRule::TailDrop));
    let packets = Some(value(100.0));
    let first = FirstBuffer { rate_bits_per_second: 20e6, packets: 100.0, packet_bytes: 1_442.0 };
    let marks = |rule, l4s_threshold_s| Marks { rule, threshold_s: None, l4s_threshold_s };
    let reached = |rule| MeasuredBuffer { is_lower_bound: true, limit: None, ..by(rule) };
    let all = vec![
        plain.clone(),
        MeasuredBuffer { packets, limit: Some(BufferLimit::Packets), ..by(Some(ManagementRule::HeadDrop)) },
        MeasuredBuffer { limit: None, bucket_bytes: Some(16_000.0), ..plain.clone() },
        MeasuredBuffer { first: Some(first), ..plain.clone() },
        MeasuredBuffer { is_per_flow: true, marks: Some(marks(Some(ManagementRule::Codel), None)), ..plain },
        reached(None),
        MeasuredBuffer { drops_early: true, ..reached(None) },
        MeasuredBuffer { marks: Some(marks(None, Some(0.001))), ..reached(Some(ManagementRule::Pie)) },
        MeasuredBuffer { bucket_bytes: Some(30_000.0), ..reached(Some(ManagementRule::Policer)) },
    ];
    all.into_iter().map(|one| (Some(Direction::Up), Conclusion::MeasuredBuffer(one))).collect()
}

fn locations(kind: FindingKind) -> Vec<Found> {
    let (up, down) = (Some(Direction::Up), Some(Direction::Down));
    if kind == FindingKind::UnknownLocation {
        let unknown = |reason| UnknownLocation { phase: PhaseKind::Up, reason };
        let all = every::location_problems().into_iter();
        return all.map(|reason| (up, Conclusion::UnknownLocation(unknown(reason)))).collect();
    }
    let router = (1, Some("192.168.1.1".to_string()));
    let provider = (2, Some("198.51.100.1".to_string()));
    let found = |direction, place, near: &(u8, Option<String>), far: &(u8, Option<String>)| {
        let location = QueueLocation {
            phase: PhaseKind::Up,
            place,
            near_hop: near.0,
            near_address: near.1.clone(),
            near_name: None,
            near_as_number: None,
            far_hop: far.0,
            far_address: far.1.clone(),
            far_name: (far.0 == 2).then(|| "core1.isp.example".to_string()),
            far_as_number: (far.0 == 2).then_some(64_496),
            delay_s: 0.98,
            delay_ratio: 0.97,
            probability_ratio: 0.99,
        };
        (direction, Conclusion::QueueLocation(location))
    };
    vec![
        found(up, Some(Place::ThisComputer), &(0, None), &router),
        found(down, Some(Place::Wifi), &(0, None), &router),
        found(up, Some(Place::LocalNetwork), &(0, None), &router),
        found(up, Some(Place::AccessLine), &router, &provider),
        found(down, Some(Place::AccessLine), &router, &provider),
        found(down, Some(Place::Internet), &provider, &(9, None)),
        found(up, None, &router, &(9, None)),
    ]
}
