//! Names of places, and reasons.
use crate::End;
use crate::queue::{Bottleneck, Leg, Location, NoClock, NoLeg, NoLocation, QueueReport, Queues, RateMethod};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_text::thousands;

/// Flows of which it is told why they show no queue.
const TOLD: usize = 3;

/// The first of a bottleneck's flows, and who sends in it.
pub(super) fn first_flow<'a>(bottleneck: &Bottleneck, queues: &'a Queues) -> Option<(&'a QueueReport, End)> {
    let (flow, sender) = bottleneck.flows.first()?;
    Some((queues.flows.iter().find(|report| report.flow == *flow)?, *sender))
}

/// `10.0.0.1 to capture`.
pub fn leg_name(leg: Leg, report: &QueueReport) -> String {
    let address = report.ends[leg.end() as usize].0;
    match leg {
        Leg::From(_) => format!("{address} to capture"),
        Leg::To(_) => format!("capture to {address}"),
    }
}

/// Where a bottleneck is.
pub(super) fn location(bottleneck: &Bottleneck, queues: &Queues) -> String {
    match (bottleneck.location, first_flow(bottleneck, queues)) {
        (Location::Leg(leg), Some((report, _))) => leg_name(leg, report),
        (Location::RoundTrip(end), Some((report, _))) => {
            format!("capture to {} and back", report.ends[end as usize].0)
        }
        (_, None) => String::from("unknown"),
    }
}

/// What a queue rests on.
pub(super) fn because(bottleneck: &Bottleneck, report: &QueueReport, sender: End) -> Vec<String> {
    let clocks = report.ends.iter().zip(&report.clocks).filter_map(|((address, _), clock)| {
        let clock = clock.as_ref().ok()?;
        Some(format!(
            "The timestamps of {address} do not come from a steady clock of {:.1} Hz, which {} packets fit within {:.1} ms.",
            clock.hertz,
            thousands(clock.count as f64),
            clock.error_ns() / 1e6
        ))
    });
    let rate = bottleneck.rate.as_ref().ok().map(|rate| match rate.method {
        RateMethod::Acknowledged => {
            "What was acknowledged while the queue stood took another way than the link behind it."
        }
        RateMethod::Arrived => {
            "What arrived while the queue stood came another way than over the link behind it."
        }
    });
    let is_near = bottleneck.location == Location::Leg(Leg::From(sender)) && report.near == Some(sender);
    let beside = is_near.then_some(
        "The queue is in the sender where it is told to be behind it, or the other way round: next to the sender they differ in size alone.",
    );
    clocks.chain(rate.into_iter().chain(beside).map(String::from)).collect()
}

/// Why flows with bulk show no queue, the first few of them.
pub(super) fn unknown(queues: &Queues) -> Vec<String> {
    let bulk = queues.flows.iter().filter(|report| report.bulk.is_some());
    bulk.filter_map(|report| Some((report, report.location.err()?))).take(TOLD).map(reason).collect()
}

fn reason((report, why): (&QueueReport, NoLocation)) -> String {
    let flow = report.flow.0 + 1;
    match why {
        NoLocation::NoQueue { most_ns, error_ns } => format!(
            "Flow {flow} met no queue that can be told: {:.1} ms at most, where the clocks leave {:.1} ms open.",
            most_ns / 1e6,
            error_ns / 1e6
        ),
        NoLocation::Several { first, second } => format!(
            "Flow {flow} waited alike on two parts of its path: {} and {}.",
            leg_name(first, report),
            leg_name(second, report)
        ),
        NoLocation::Unseen => match report.legs.iter().find_map(|leg| leg.as_ref().err()) {
            Some(leg) => format!("Flow {flow} does not tell where it waited: {}.", no_leg(leg)),
            None => format!("Flow {flow} does not tell where it waited."),
        },
    }
}

fn no_leg(why: &NoLeg) -> String {
    match why {
        NoLeg::NoClock(NoClock::NoTimestamps) => String::from("it has no TCP timestamps"),
        NoLeg::NoClock(NoClock::TooShort { ticks, span_ns }) => {
            format!("its timestamps show {ticks:.0} ticks in {:.1} s, which is too short", span_ns / 1e9)
        }
        NoLeg::NoClock(NoClock::Restarted { frame }) => format!("its timestamps begin anew in frame {frame}"),
        NoLeg::NoClock(NoClock::Ambiguous { least_hertz, most_hertz }) => {
            format!("its clock may tick at {least_hertz:.0} to {most_hertz:.0} Hz")
        }
        NoLeg::Drowned { error_ns, effect_ns } => format!(
            "its clock may be off by {:.1} ms, and delays vary by {:.1} ms",
            error_ns / 1e6,
            effect_ns / 1e6
        ),
        NoLeg::Held => String::from("its answers waited behind its own packets"),
        NoLeg::Unseen => String::from("nothing was seen going that way"),
    }
}
