//! Converts a bottleneck to a queue of a run.
use crate::unknown::{first_flow, part};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_bottleneck::{
    Bottleneck, Isolation, LateProbes, Leg, Location, Management, Oscillation, OscillationCause, Placement,
    QueueReport, Queues, RateMethod, Reference,
};
use fathom_flow::End;
use fathom_run::{
    CapturedProbes, CapturedQueue, DelayAtLoss, DelayPercentiles, DelayedFlows, DelayedParty, Estimate,
    FlowShare, ManagementEstimate, PartDelay, QueueAlternative, QueueManagement, Swing,
};

/// Maximum number of frames given as evidence.
const FRAMES: usize = 6;
/// Maximum number of flows that filled the queue, and of delayed flows.
const NAMES: usize = 8;
/// A flow with a smaller share of a queue's bytes does not fill it.
const MIN_SHARE: f64 = 0.01;
const NS: f64 = 1e9;

/// `None` if its flow is not in the report.
pub(crate) fn captured(bottleneck: &Bottleneck, queues: &Queues) -> Option<CapturedQueue> {
    let (report, sender) = first_flow(bottleneck, queues)?;
    let Placement { place, from, to } = bottleneck.placement(report, sender);
    let rate = bottleneck.rate.as_ref().ok();
    let print = &bottleneck.fingerprint;
    Some(CapturedQueue {
        place,
        from: report.ends[from as usize].0.to_string(),
        to: report.ends[to as usize].0.to_string(),
        delay: delay(bottleneck),
        elsewhere: elsewhere(bottleneck.location, report),
        base_rtt_s: base(bottleneck, report),
        rate_bits_per_second: rate.map(|rate| Estimate {
            value: rate.frame_bits_per_second,
            error: rate.frame_bits_per_second * rate.ip.error_ratio,
        }),
        buffer_bytes: bottleneck
            .buffer
            .as_ref()
            .map(|buffer| Estimate { value: buffer.frame_bytes, error: buffer.error_bytes }),
        was_full: bottleneck.buffer.as_ref().is_some_and(|buffer| buffer.is_full_seen),
        lost_packets: print.losses,
        marked_packets: print.marks,
        episodes: bottleneck.episodes.len() as u64,
        delay_at_loss: print.at_loss_ns.map(|at| {
            let [p10_s, median_s, p90_s] = at.map(|ns| ns / NS);
            DelayAtLoss { p10_s, median_s, p90_s }
        }),
        management: management(bottleneck),
        swing: swing(&bottleneck.oscillation),
        filled_by: filled_by(bottleneck),
        delayed: delayed(bottleneck, queues),
        probes: bottleneck.late_probes.iter().take(NAMES).map(probes).collect(),
        probed: None,
        samples: report.round_trips.iter().flatten().map(|trips| trips.count).sum(),
        frames: frames(bottleneck, report),
        alternatives: alternatives(bottleneck, report, sender),
    })
}

fn delay(bottleneck: &Bottleneck) -> DelayPercentiles {
    let standing = bottleneck.standing;
    let seconds = |ns: f64| ns.max(0.0) / NS;
    DelayPercentiles {
        p5_s: seconds(standing.p5_ns),
        median_s: seconds(standing.p50_ns),
        p90_s: seconds(standing.p90_ns),
        p95_s: seconds(standing.p95_ns),
        max_s: seconds(bottleneck.max_ns.max(standing.p95_ns)),
    }
}

/// 95th percentile of the delay of the other legs.
fn elsewhere(location: Location, report: &QueueReport) -> Vec<PartDelay> {
    let others = report.legs.iter().flatten().filter(|delay| location != Location::Leg(delay.leg));
    others
        .map(|delay| PartDelay { part: part(delay.leg, report), p95_s: delay.p95_ns.max(0.0) / NS })
        .collect()
}

/// Round-trip time without queue, if the path was ever seen empty.
fn base(bottleneck: &Bottleneck, report: &QueueReport) -> Option<f64> {
    let trips = report.round_trips.iter().flatten();
    let is_known = bottleneck.reference != Reference::Relative;
    let sum: f64 = trips.clone().map(|trips| trips.base_ns).sum();
    (is_known && trips.count() > 0).then_some(sum / NS)
}

/// Flow isolation takes precedence because it says more than drops.
fn management(bottleneck: &Bottleneck) -> Option<ManagementEstimate> {
    let print = &bottleneck.fingerprint;
    let kind = match (print.isolation, print.management) {
        (Some(Isolation::PerFlow), _) => QueueManagement::FairQueueing,
        (_, None) => return None,
        (_, Some(Management::TailDrop)) => QueueManagement::TailDrop,
        (_, Some(Management::RandomEarly)) => QueueManagement::Red,
        (_, Some(Management::Codel)) => QueueManagement::Codel,
        (_, Some(Management::NoneSeen)) => QueueManagement::NoneSeen,
    };
    Some(ManagementEstimate { kind, confidence_ratio: print.confidence })
}

fn swing(seen: &Oscillation) -> Option<Swing> {
    let cause = seen.cause;
    let period = match cause {
        Some(OscillationCause::Bbr) => seen.between_dips.map(|(period, _)| period),
        _ => seen.between_episodes.map(|(mean, ..)| mean).or(seen.correlation.map(|(period, _)| period)),
    };
    let predicted = seen.predicted.iter().find(|(of, _)| Some(*of) == cause).map(|(_, ns)| ns / NS);
    let control = cause.map(|cause| match cause {
        OscillationCause::Cubic => "CUBIC",
        OscillationCause::Reno => "Reno",
        OscillationCause::Bbr => "BBR",
    });
    Some(Swing { period_s: period? / NS, control: control.map(String::from), predicted_s: predicted })
}

fn filled_by(bottleneck: &Bottleneck) -> Vec<FlowShare> {
    let shares = bottleneck.shares.iter().filter(|share| share.passed_ratio >= MIN_SHARE).take(NAMES);
    shares.map(|share| FlowShare { flow: share.flow.number(), bytes_ratio: share.passed_ratio }).collect()
}

fn delayed(bottleneck: &Bottleneck, queues: &Queues) -> Vec<DelayedFlows> {
    let flows = bottleneck.delayed_flows.iter().take(NAMES).map(|delayed| {
        let report = queues.flows.iter().find(|report| report.flow == delayed.flow);
        let ends = report.map(|report| report.ends.map(crate::flow::socket));
        DelayedFlows {
            who: DelayedParty::Flow { number: delayed.flow.number(), ends },
            added_p95_s: delayed.added_p95_ns / NS,
        }
    });
    let short = bottleneck.short_flows.as_ref().map(|short| DelayedFlows {
        who: DelayedParty::ShortFlows { count: short.count },
        added_p95_s: short.added_p95_ns / NS,
    });
    flows.chain(short).collect()
}

/// Alternative explanations of this queue.
fn alternatives(bottleneck: &Bottleneck, report: &QueueReport, sender: End) -> Vec<QueueAlternative> {
    let clocks = report.ends.iter().zip(&report.clocks).filter_map(|((address, _), clock)| {
        let clock = clock.as_ref().ok()?;
        Some(QueueAlternative::UnsteadyClock {
            host: address.to_string(),
            hertz: clock.hertz,
            packets: clock.count,
            error_s: clock.error_ns() / NS,
        })
    });
    let rate = bottleneck.rate.as_ref().ok().map(|rate| match rate.method {
        RateMethod::Acknowledged => QueueAlternative::AcknowledgedElsewhere,
        RateMethod::Arrived => QueueAlternative::ArrivedElsewhere,
    });
    let is_near = bottleneck.location == Location::Leg(Leg::From(sender)) && report.near == Some(sender);
    clocks.chain(rate).chain(is_near.then_some(QueueAlternative::SenderOrNextHop)).collect()
}

fn probes(late: &LateProbes) -> CapturedProbes {
    let [from, to] = late.ends.map(|address| address.to_string());
    CapturedProbes {
        kind: late.kind,
        from,
        to,
        answers: late.answers,
        unanswered: late.unanswered,
        min_s: late.min_ns / NS,
        max_s: late.max_ns / NS,
        added_p95_s: late.added_p95_ns / NS,
    }
}

/// Frames with the longest and shortest round-trip time, and those where losses started.
fn frames(bottleneck: &Bottleneck, report: &QueueReport) -> Vec<u64> {
    let trips = report.round_trips.iter().flatten().max_by(|a, b| a.max_ns.total_cmp(&b.max_ns));
    let extremes = trips.into_iter().flat_map(|trips| [trips.max_frame, trips.min_frame]);
    let losses = bottleneck.episodes.iter().map(|episode| episode.first_frame);
    extremes.chain(losses).filter(|frame| *frame > 0).take(FRAMES).collect()
}
