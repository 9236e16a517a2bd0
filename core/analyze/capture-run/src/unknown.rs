//! Converts parts of the path, and flows with an unknown location of their queueing delay.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_bottleneck::{Bottleneck, Leg, Location, NoClock, NoLeg, NoLocation, QueueReport, Queues};
use fathom_flow::End;
use fathom_run::{PartDirection, PathPart, UnknownQueue, UnknownReason};

/// Maximum number of flows listed without a queue.
const LISTED: usize = 3;
const NS: f64 = 1e9;

/// The first flow of a bottleneck, and its sending end.
pub(crate) fn first_flow<'a>(bottleneck: &Bottleneck, queues: &'a Queues) -> Option<(&'a QueueReport, End)> {
    let (flow, sender) = bottleneck.flows.first()?;
    Some((queues.flows.iter().find(|report| report.flow == *flow)?, *sender))
}

/// Converts a leg of a flow to a part of its path.
pub fn part(leg: Leg, report: &QueueReport) -> PathPart {
    let direction = match leg {
        Leg::From(_) => PartDirection::ToCapture,
        Leg::To(_) => PartDirection::FromCapture,
    };
    PathPart { host: report.ends[leg.end() as usize].0.to_string(), direction }
}

/// Location of a bottleneck, used as scope of its series.
pub(crate) fn location(bottleneck: &Bottleneck, queues: &Queues) -> String {
    match (bottleneck.location, first_flow(bottleneck, queues)) {
        (Location::Leg(leg), Some((report, _))) => part(leg, report).to_string(),
        (Location::RoundTrip(end), Some((report, _))) => {
            alloc::format!("capture to {} and back", report.ends[end as usize].0)
        }
        (_, None) => String::from("unknown"),
    }
}

/// The first few bulk flows without a queue, with the reason.
pub(crate) fn unknown(queues: &Queues) -> Vec<UnknownQueue> {
    let bulk = queues.flows.iter().filter(|report| report.bulk.is_some());
    let unknown = |report: &QueueReport| {
        let reason = reason(report, report.location.err()?);
        Some(UnknownQueue { flow: report.flow.number(), reason })
    };
    bulk.filter_map(unknown).take(LISTED).collect()
}

fn reason(report: &QueueReport, why: NoLocation) -> UnknownReason {
    match why {
        NoLocation::NoQueue { p95_ns, error_ns } => {
            UnknownReason::NoQueue { p95_s: p95_ns / NS, error_s: error_ns / NS }
        }
        NoLocation::Ambiguous { first, second } => {
            UnknownReason::SeveralParts { parts: [part(first, report), part(second, report)] }
        }
        NoLocation::Unseen => match report.legs.iter().find_map(|leg| leg.as_ref().err()) {
            Some(leg) => no_leg(*leg),
            None => UnknownReason::TooFewRoundTrips,
        },
    }
}

fn no_leg(why: NoLeg) -> UnknownReason {
    match why {
        NoLeg::NoClock(NoClock::NoTimestamps) => UnknownReason::NoTimestamps,
        NoLeg::NoClock(NoClock::TooShort { ticks, span_ns }) => {
            UnknownReason::TooFewTicks { ticks, duration_s: span_ns / NS }
        }
        NoLeg::NoClock(NoClock::Restarted { frame }) => UnknownReason::RestartedClock { frame },
        NoLeg::NoClock(NoClock::Ambiguous { min_hertz, max_hertz }) => {
            UnknownReason::AmbiguousClock { min_hertz, max_hertz }
        }
        NoLeg::UncertainClock { error_ns, effect_ns } => {
            UnknownReason::UncertainClock { error_s: error_ns / NS, variation_s: effect_ns / NS }
        }
        NoLeg::AcksQueued => UnknownReason::AcksQueued,
        NoLeg::Unseen => UnknownReason::NothingSeen,
    }
}
