//! What other programs of this computer had of the line during the test.
use super::growth::curve;
use super::other_traffic::place;
use crate::latency::shortest;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, Finding, HostTraffic, LocalTraffic, PhaseKind, ProgramTraffic, Reason, Span,
    TrafficSource,
};
use fathom_units::Direction;

/// Share of the throughput from which a program is named. Less is within its variation.
const NAMED: f64 = 0.05;
/// Most findings: the largest shares explain the result.
const MAX_FINDINGS: usize = 3;
/// Share of the throughput with which a program is the one that fills the queue.
const MOST: f64 = 0.5;
/// Share of the throughput below which this computer does not fill the queue. The probes of the
/// test, which are part of it, have at most a few percent.
const LITTLE: f64 = 0.1;
/// A queue drains at less than this speed, and keeps more than this share of its delay, only if
/// packets still arrive.
const HALF: f64 = 0.5;

/// Traffic of a program in one direction.
struct Share<'a> {
    phase: PhaseKind,
    program: &'a ProgramTraffic,
    direction: Direction,
    /// Relative to the throughput of the test.
    ratio: f64,
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let mut shares: Vec<_> = view.run.host_traffic.iter().flat_map(|traffic| shares(view, traffic)).collect();
    shares.retain(|share| share.ratio >= NAMED);
    shares.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let mut named: Vec<Share<'_>> = Vec::new();
    for share in shares {
        let is_named = |other: &Share<'_>| {
            (other.direction, &other.program.process) == (share.direction, &share.program.process)
        };
        if named.len() < MAX_FINDINGS && !named.iter().any(is_named) {
            named.push(share);
        }
    }
    named.iter().map(|share| finding(view, share)).collect()
}

/// Whether programs had so much of a loaded direction that the load did not have the line alone.
/// After such a test no rate is recommended, not even for the other direction: with one rate, the
/// advice would leave out the direction that needs it.
pub(super) fn is_load_shared(view: &View<'_>) -> bool {
    let share_of = |traffic: &HostTraffic, direction: Direction| {
        let of_direction = shares(view, traffic).filter(|share| share.direction == direction);
        of_direction.map(|share| share.ratio).sum::<f64>()
    };
    let is_shared = |traffic: &HostTraffic| {
        traffic.phase.loads().iter().any(|direction| share_of(traffic, *direction) >= NAMED)
    };
    view.run.host_traffic.iter().any(is_shared)
}

/// Whose traffic fills a queue before the load, if that is known.
pub(crate) fn source(view: &View<'_>) -> Option<TrafficSource> {
    let idle = before_load(view)?;
    let place = place(view);
    let is_there = |direction: Direction| place.is_none_or(|place| place == direction);
    let largest = largest(view, idle).filter(|share| is_there(share.direction));
    if let Some(process) = largest.and_then(|share| share.program.process.as_ref()) {
        return Some(TrafficSource::Program { name: process.name.clone() });
    }
    let has_little = |direction: Direction| {
        throughput(view, direction).is_some_and(|line| idle.bits_per_second[direction] < LITTLE * line)
    };
    let is_elsewhere = Direction::BOTH.into_iter().filter(|d| is_there(*d)).all(has_little);
    (is_elsewhere && is_still_filled(view)).then_some(TrafficSource::OtherDevices)
}

/// Whether packets that arrived before the load kept the queue filled. What is left of an earlier
/// transfer drains by a second per second, and may be one of this computer.
fn is_still_filled(view: &View<'_>) -> bool {
    let Some((idle, source)) = view.run.phase(PhaseKind::Idle).zip(view.source) else { return false };
    let (curve, min_s) = (curve(view, idle), shortest(source).unwrap_or(0.0));
    let third = curve.len() / 3;
    let mean = |part: &[(f64, f64)]| {
        let sum = part.iter().fold((0.0, 0.0), |sum, (at_s, delay_s)| (sum.0 + at_s, sum.1 + delay_s));
        (sum.0 / third as f64, sum.1 / third as f64 - min_s)
    };
    let (first, last) = (mean(&curve[..third]), mean(&curve[curve.len() - third..]));
    third > 0 && first.1 - last.1 < HALF * (last.0 - first.0) && last.1 > HALF * first.1
}

/// The program that had most of a direction before the load, if there is one. Its queue may have
/// been full all the time, so no latency of the run need be that of an empty line.
pub(crate) fn line_in_use(view: &View<'_>) -> Option<Reason> {
    let Share { program, direction, .. } = largest(view, before_load(view)?)?;
    Some(Reason::LineInUse {
        program: program.process.as_ref().map(|process| process.name.clone()),
        direction,
        bits_per_second: program.bits_per_second[direction],
    })
}

fn before_load<'a>(view: &View<'a>) -> Option<&'a HostTraffic> {
    view.run.host_traffic.iter().find(|traffic| traffic.phase == PhaseKind::Idle)
}

/// The largest share, if it is most of a direction.
fn largest<'a>(view: &View<'_>, traffic: &'a HostTraffic) -> Option<Share<'a>> {
    let most = shares(view, traffic).filter(|share| share.ratio >= MOST);
    most.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

fn shares<'a>(view: &View<'_>, traffic: &'a HostTraffic) -> impl Iterator<Item = Share<'a>> {
    let line = Direction::BOTH.map(|direction| (direction, throughput(view, direction)));
    let phase = traffic.phase;
    traffic.programs.iter().flat_map(move |program| {
        line.into_iter().filter_map(move |(direction, line)| {
            let ratio = program.bits_per_second[direction] / line?;
            Some(Share { phase, program, direction, ratio })
        })
    })
}

/// Highest throughput of the test in a direction, of its phases; `None` if its rate was chosen and
/// does not show that of the line.
fn throughput(view: &View<'_>, direction: Direction) -> Option<f64> {
    if view.has_chosen_rate() {
        return None;
    }
    let of = view.phases.iter().filter_map(|phase| match direction {
        Direction::Up => phase.goodput_up_bits_per_second,
        Direction::Down => phase.goodput_down_bits_per_second,
    });
    of.max_by(f64::total_cmp).filter(|rate| *rate > 0.0)
}

fn finding(view: &View<'_>, share: &Share<'_>) -> Finding {
    let Share { phase, program, direction, .. } = share;
    let traffic = LocalTraffic {
        phase: *phase,
        process: program.process.clone(),
        remote: program.remote.clone(),
        bits_per_second: program.bits_per_second[*direction],
    };
    let finding = Finding::new(Conclusion::LocalTraffic(traffic), Some(*direction), Certainty::Certain);
    Finding { spans: view.run.phase(*phase).map(Span::of).into_iter().collect(), ..finding }
}
