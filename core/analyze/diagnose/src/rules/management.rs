//! Distinguishes tail drop from an AQM that keeps the queue short.
use crate::delivery::{Capacity, capacity};
use crate::latency::longest;
use crate::rules::bound::still_growing;
use crate::rules::{flow_queues, policer};
use crate::sample::{alone, loss_events, pair, records_losses};
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Alternative, Certainty, Conclusion, Finding, Management, ManagementRule, Observation, Span, Value,
    threshold,
};
use fathom_stats::{Sample, percentile};
use fathom_units::{Direction, Duration, Time};

/// Losses above this share of the queue's height count as losses at a full queue. The sender
/// detects a loss one round trip later, when the queue still has about the same length.
const TOP: f64 = 0.8;
/// Minimum share of losses at a full queue that indicates tail drop, and their least number. RED
/// with many flows holds its queue at one length, and loses up to 70 % near the longest delay.
const ALMOST_ALL: f64 = 0.75;
const MIN_FULL_EVENTS: usize = 8;
/// A single flow has few losses. If all of them came at a full queue that no longer grew, and
/// hardly a probe was lost, fewer will do.
const FEW_FULL_EVENTS: usize = 4;
const FEW_LOST: f64 = 0.05;
/// Of the range from the 5th percentile of the delays to the longest, the share above the median. A
/// full buffer limits the longest delay, so the share is small. From this share on, nothing limits
/// it: normally distributed delays have 0.6.
const UNLIMITED: f64 = 0.55;
/// From this share on, losses do show how large the buffer is.
const MOSTLY: f64 = 0.6;
/// A queue whose median delay at a loss is at most this share of its longest delay had room for the
/// lost packets.
const ROOM: f64 = 0.35;
/// A queue of less than this is as good as empty, in seconds.
const EMPTY_S: f64 = 0.001;
/// If a larger share of the probes is lost, the load does not yield to drops. An AQM cannot keep
/// its queue short then, which stays at one length as with tail drop.
const OVERLOADED: f64 = 0.2;
/// A queue that is never longer than this may be a few packets in front of a fast link, in seconds.
const MIN_FULL_S: f64 = 0.005;
/// Fewer events than this show no pattern.
const MIN_EVENTS: usize = 3;
/// More events add no information, and each requires a search.
const MAX_EVENTS: usize = 500;
/// Latency is taken this long before an event, because the queue shrinks afterwards.
const BEFORE: Duration = Duration::from_millis(250);

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|d| finding(view, d)).collect()
}

/// The added delays of probes around the losses of a phase with load in one direction. All delays
/// are those at the rate that lasts, so that they stand for bytes also where the rate changed.
struct Losses {
    /// Losses of the load in this direction are recorded.
    are_recorded: bool,
    /// Losses of the load.
    event_count: usize,
    /// Added delay just before each loss, in seconds, where probes show it.
    heights: Vec<f64>,
    /// Share of the heights near the longest delay of the phase.
    top_ratio: f64,
    /// The added delay was at most this for a tenth of the probes, and for half of them.
    low_s: f64,
    median_s: f64,
    /// The longest added delay of the phase.
    top_s: f64,
    /// In the second half of the phase, delays are not limited as by a full buffer.
    is_unlimited: bool,
    /// Losses happened when the queue was longer than usual, so it was the queue that dropped.
    favor_long_queues: bool,
}

impl Losses {
    fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Losses> {
        let events = loss_events(view.run, direction, rise.phase);
        let capacity = capacity(view, direction, rise);
        // What was in front of a packet left while it waited.
        let at_lasting_rate = |sent: Time, added_s: f64| {
            let of =
                |c: &Capacity| c.ip_bits_per_second_in(Span::after(sent, added_s)) / c.ip_bits_per_second();
            added_s * capacity.as_ref().map(of).filter(|ratio| ratio.is_finite()).unwrap_or(1.0)
        };
        let height = |at: &Time| Some(at_lasting_rate(*at, added_before(view, rise, *at)?));
        let heights: Vec<f64> = events.iter().take(MAX_EVENTS).filter_map(height).collect();
        let added = |o: Observation| {
            let added_s = at_lasting_rate(o.at, o.value.observed()? - rise.idle.p50.value);
            Some(Observation { value: Value::Observed(added_s), ..o })
        };
        let added: Vec<Observation> = view.latency_in(rise.phase).filter_map(added).collect();
        let (_, top_s) = longest(added.iter().copied())?;
        let at_top = heights.iter().filter(|added_s| **added_s >= TOP * top_s).count();
        let all = Sample::new(added.iter().map(|o| pair(o.value)));
        let percentile = |share| Some(all.percentile(share)?.value);
        let median_s = percentile(0.5)?;
        let separate: Vec<f64> = apart(events.clone()).iter().take(MAX_EVENTS).filter_map(height).collect();
        Some(Losses {
            are_recorded: records_losses(view.run, direction),
            event_count: events.len(),
            top_ratio: at_top as f64 / heights.len().max(1) as f64,
            low_s: percentile(0.1)?,
            favor_long_queues: favors(&separate, median_s),
            is_unlimited: is_unlimited(rise, &added),
            median_s,
            top_s,
            heights,
        })
    }
    fn median_height(&self) -> Option<f64> {
        fathom_stats::median(self.heights.iter().copied())
    }
    fn rule(&self, view: &View<'_>, rise: &Rise<'_>) -> Option<ManagementRule> {
        if self.event_count == 0 {
            // A lost probe was dropped, and one without an answer at the end may have been.
            let is_lossless = self.are_recorded && view.latency_in(rise.phase).all(|o| !pair(o.value).1);
            return (self.top_s >= REPORTED_INCREASE_S && is_lossless)
                .then_some(ManagementRule::NeverDropped);
        }
        if self.heights.len() < MIN_EVENTS {
            return None;
        }
        let is_overloaded = rise.summary.loss_ratio.is_some_and(|ratio| ratio > OVERLOADED);
        if self.top_ratio >= MOSTLY && self.top_s >= MIN_FULL_S {
            let many = self.heights.len() >= MIN_FULL_EVENTS && self.top_ratio >= ALMOST_ALL;
            let all = self.heights.len() >= FEW_FULL_EVENTS && self.top_ratio >= 1.0;
            let has_few_lost = rise.summary.loss_ratio.is_none_or(|ratio| ratio < FEW_LOST);
            if self.is_unlimited || !(many || all && has_few_lost && !still_growing(view, rise)) {
                return None;
            }
            return (!is_overloaded).then_some(ManagementRule::TailDrop);
        }
        let had_room = || !is_overloaded && self.favor_long_queues && self.had_room(view, rise);
        let is_kept_short = self.is_short() || had_room();
        is_kept_short.then_some(ManagementRule::KeptShort)
    }
    /// Whether most losses happened far below the longest delay. Then they do not show how large
    /// the buffer is, no matter whether the queue or the link lost the packets.
    fn are_below_top(&self, view: &View<'_>, rise: &Rise<'_>) -> bool {
        let is_full = self.top_ratio >= MOSTLY && self.top_s >= REPORTED_INCREASE_S;
        let is_low = |height: f64| rise.p50().max(height) < REPORTED_INCREASE_S;
        self.heights.len() >= MIN_EVENTS
            && !is_full
            && (self.median_height().is_some_and(is_low) || self.had_room(view, rise))
    }
    /// Whether packets were lost although the queue never was long, as with a small buffer or an
    /// AQM. If the queue is mostly empty, the link may have lost them.
    fn is_short(&self) -> bool {
        self.top_s <= threshold::MODEST_S && self.median_s >= EMPTY_S
    }
    /// Whether packets were lost from a queue that had room and was hardly ever empty: an AQM
    /// dropped them, rather than a small buffer or a lossy link.
    fn had_room(&self, view: &View<'_>, rise: &Rise<'_>) -> bool {
        let has_room = |height: f64| height <= ROOM * self.top_s && height >= EMPTY_S;
        let is_steady = self.low_s >= EMPTY_S && !still_growing(view, rise);
        self.heights.len() >= MIN_EVENTS && is_steady && self.median_height().is_some_and(has_room)
    }
}

/// The first of all `events` that are within [`BEFORE`] of each other: they show the same queue.
fn apart(mut events: Vec<Time>) -> Vec<Time> {
    events.sort_unstable();
    let mut separate: Vec<Time> = Vec::new();
    for event in events {
        if separate.last().is_none_or(|last| event.saturating_since(*last) >= BEFORE) {
            separate.push(event);
        }
    }
    separate
}

/// Whether more than half of `heights` are above the median of all times, by twice the standard
/// deviation of a fair coin. Losses that do not depend on the queue are above it as often as below.
fn favors(heights: &[f64], median_s: f64) -> bool {
    let count = heights.len() as f64;
    let above = heights.iter().filter(|added_s| **added_s > median_s).count() as f64;
    above - count / 2.0 > 2.0 * libm::sqrt(count / 4.0)
}

/// Whether the longest of the added delays of a phase's second half is far above the others.
fn is_unlimited(rise: &Rise<'_>, added: &[Observation]) -> bool {
    let middle_ns = rise.phase.start_ns.midpoint(rise.phase.end_ns);
    let late = added.iter().filter(|o| o.at.as_nanos() >= middle_ns);
    let mut late: Vec<f64> = late.filter_map(|o| o.value.observed()).collect();
    let [low_s, median_s, top_s] = [0.05, 0.5, 1.0].map(|p| percentile(&mut late, p).unwrap_or(0.0));
    top_s - median_s >= UNLIMITED * (top_s - low_s).max(EMPTY_S)
}

/// How a queue is managed, and the evidence.
struct Managed {
    rule: ManagementRule,
    losses: Losses,
    /// Median time that packets of the load waited, in seconds, if each flow has a queue.
    flow_delay_s: Option<f64>,
    /// Payload rate of a policer.
    policed_bits_per_second: Option<f64>,
}

impl Managed {
    /// `None` if nothing shows how the queue is managed. Round trips of the load are better
    /// evidence than the times of its losses.
    fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Managed> {
        let losses = Losses::new(view, direction, rise)?;
        let flow_delay_s = flow_queues::delay_of_flows(view, direction, rise);
        let policed_bits_per_second = policer::rate(view, direction, rise);
        let rule = match (flow_delay_s, policed_bits_per_second) {
            (Some(_), _) => ManagementRule::FairQueueing,
            (None, Some(_)) => ManagementRule::Policer,
            (None, None) => losses.rule(view, rise)?,
        };
        Some(Managed { rule, losses, flow_delay_s, policed_bits_per_second })
    }
}

/// How the queue of a direction is managed, if anything shows it.
pub(super) fn rule(view: &View<'_>, direction: Direction) -> Option<ManagementRule> {
    Some(Managed::new(view, direction, &rise(view, direction)?)?.rule)
}

/// Whether the losses of a direction leave open how large its buffer is.
pub(super) fn is_buffer_unknown(view: &View<'_>, direction: Direction) -> bool {
    let of = |rise: Rise<'_>| Some(Losses::new(view, direction, &rise)?.are_below_top(view, &rise));
    rise(view, direction).and_then(of).unwrap_or(false)
}

/// The phase in which `direction` was loaded alone: with both directions loaded the round trip
/// belongs to neither.
fn rise<'v>(view: &'v View<'_>, direction: Direction) -> Option<Rise<'v>> {
    view.rise_of(direction).filter(|r| r.phase.kind == alone(direction))
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let rise = rise(view, direction)?;
    let Managed { rule, losses, flow_delay_s, policed_bits_per_second } =
        Managed::new(view, direction, &rise)?;
    let management = Management {
        rule,
        loss_count: losses.event_count as u64,
        mark_packets: 0,
        episode_count: None,
        delay_at_loss: None,
        delay_at_loss_p50_s: losses.median_height(),
        delay_p50_s: Some(rise.p50()),
        delay_p95_s: Some(rise.height()),
        top_ratio: (!losses.heights.is_empty()).then_some(losses.top_ratio),
        flow_delay_p50_s: flow_delay_s,
        least_bits_per_second: flow_delay_s.and_then(|_| flow_queues::least_rate(view, direction, &rise)),
        policed_bits_per_second,
    };
    Some(with_alternatives(Conclusion::QueueManagement(management), rule, direction))
}

fn with_alternatives(conclusion: Conclusion, rule: ManagementRule, direction: Direction) -> Finding {
    let (certainty, alternatives): (_, &[Alternative]) = match rule {
        ManagementRule::KeptShort => {
            (Certainty::Likely, &[Alternative::SmallBuffer, Alternative::LossWithoutCongestion])
        }
        ManagementRule::NeverDropped => {
            (Certainty::Possible, &[Alternative::WindowLimited, Alternative::EcnMarking])
        }
        ManagementRule::FairQueueing => (Certainty::Likely, &[]),
        ManagementRule::Policer => (Certainty::Likely, &[Alternative::LossWithoutCongestion]),
        _ => (Certainty::Likely, &[Alternative::ManagedAtThisLength]),
    };
    alternatives.iter().cloned().fold(Finding::new(conclusion, Some(direction), certainty), Finding::or)
}

/// Added delay just before `at`: the median of the probes sent then.
fn added_before(view: &View<'_>, rise: &Rise<'_>, at: Time) -> Option<f64> {
    let before = view.source?.between(at.saturating_sub(BEFORE), at);
    let median = Sample::new(before.map(|o| pair(o.value))).percentile(0.5)?;
    Some(median.value - rise.idle.p50.value)
}
