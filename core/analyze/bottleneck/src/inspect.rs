//! Analysis of one flow: clocks, delays of each leg, and the location of the queue.
use crate::clock::{Clock, NoClock, TickObservations, fit, lows, with_skew};
use crate::delay_curve::DelayPoint;
use crate::flow::{Extremes, Sampled, Sent, series};
use crate::report::{BaseRtt, Leg, LegDelay, Location, NoLeg, NoLocation, QueueReport, Reference};
use crate::ticks::Ticks;
use crate::watch::{Path, Slot};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::End;
use fathom_stats::{median, percentile};

/// Fewer bytes are not a bulk transfer: they fit into one or two initial windows.
const BULK_BYTES: u64 = 64_000;
/// Smaller packets on average are messages, each of which may wait for a response.
const BULK_PACKET_BYTES: u64 = 500;
/// An end that responds within this time is next to the capture point.
const NEAR_NS: f64 = 1e6;
/// Minimum number of round trips to determine the variation of the delay.
const MIN_TRIPS: u64 = 16;
/// The path's minimum is used instead of the flow's own if it is lower by at least this.
const LESS_NS: f64 = 1e6;
/// Smaller variations of the delay come from hosts, not from a queue.
const NO_QUEUE_NS: f64 = 4e6;
/// Shorter queueing delays cannot be distinguished from the response time of hosts.
pub(crate) const MIN_QUEUE_NS: f64 = 2e6;

/// For each address the clock with the best-known skew: all connections of a host use the same
/// oscillator. Several hosts behind one address may have different ones.
pub(crate) type HostClocks = BTreeMap<Address, Clock>;

pub(crate) type OwnClocks = [Result<Clock, NoClock>; 2];

pub(crate) fn host_clocks<'a>(all: impl Iterator<Item = (&'a Slot, &'a OwnClocks)>) -> HostClocks {
    let mut clocks = HostClocks::new();
    for (slot, owns) in all {
        for (end, own) in [End::A, End::B].into_iter().zip(owns) {
            let Ok(own) = *own else { continue };
            let best = clocks.entry(slot.ends[end as usize].0).or_insert(own);
            if own.is_known_rate && own.skew_error_ratio < best.skew_error_ratio {
                *best = own;
            }
        }
    }
    clocks
}

pub(crate) fn inspect(
    slot: &Slot,
    sampled: &Sampled,
    own: OwnClocks,
    path: &Path,
    hosts: &HostClocks,
) -> QueueReport {
    let bulk = bulk(&sampled.sent);
    let elsewhere = |end: End| hosts.get(&slot.ends[end as usize].0);
    let clocks = [End::A, End::B].map(|end| refined(own[end as usize]?, sampled, end, elsewhere(end)));
    let round_trips = [End::A, End::B].map(|end| round_trips(slot, sampled, path, end));
    let mut legs =
        Leg::ALL.map(|leg| leg_delay(sampled, leg, &clocks, bulk, is_relative(slot, &round_trips, leg)));
    if let Some(sender) = bulk {
        refuse_held(&mut legs, sender);
    }
    let hole_to_fill_ns = bulk
        .and_then(|end| median(sampled.sent[end as usize].losses.fills.iter().map(|fill| f64::from(*fill))));
    let location = locate(&legs, &round_trips, bulk, hole_to_fill_ns);
    if let Ok(Location::Leg(leg)) = location {
        refer(&mut legs, leg, round_trips[leg.end() as usize]);
    }
    QueueReport {
        flow: slot.flow,
        ends: slot.ends,
        frames: sampled.frames,
        bulk,
        near: near(&round_trips),
        clocks,
        round_trips,
        legs,
        location,
        hole_to_fill_ns,
        episodes: Vec::new(),
        bottleneck: None,
    }
}

fn bulk(sent: &[Sent; 2]) -> Option<End> {
    let [a, b] = [sent[0].payload_bytes, sent[1].payload_bytes];
    let end = if a >= b { End::A } else { End::B };
    let Sent { payload_bytes, packets, .. } = sent[end as usize];
    (payload_bytes >= BULK_BYTES && payload_bytes >= BULK_PACKET_BYTES * packets).then_some(end)
}

fn near(round_trips: &[Option<BaseRtt>; 2]) -> Option<End> {
    let least = |end: End| round_trips[end as usize].map_or(f64::INFINITY, |trips| trips.min_ns);
    let end = if least(End::A) <= least(End::B) { End::A } else { End::B };
    (least(end) < NEAR_NS).then_some(end)
}

pub(crate) fn own_clocks(sampled: &Sampled) -> OwnClocks {
    [End::A, End::B].map(|end| {
        let ticks = sampled.ticks[end as usize].as_ref().ok_or(NoClock::NoTimestamps)?;
        let lows = lows_of(sampled, end, ticks);
        fit(seen(sampled, end, ticks, &lows)).map_err(|why| match ticks.restarted() {
            Some(frame) => NoClock::Restarted { frame },
            None => why,
        })
    })
}

/// The clock of `end`, with the skew from another flow if that is known better.
fn refined(own: Clock, sampled: &Sampled, end: End, elsewhere: Option<&Clock>) -> Result<Clock, NoClock> {
    let other = elsewhere.filter(|other| other.hertz == own.hertz && other.is_known_rate);
    let Some(best) = other.filter(|other| 2.0 * other.skew_error_ratio < own.skew_error_ratio) else {
        return Ok(own);
    };
    let ticks = sampled.ticks[end as usize].as_ref().ok_or(NoClock::NoTimestamps)?;
    let lows = lows_of(sampled, end, ticks);
    Ok(with_skew(&seen(sampled, end, ticks, &lows), own.hertz, own.is_known_rate, best.skew()))
}

fn lows_of(sampled: &Sampled, end: End, ticks: &Ticks) -> Vec<(f64, f64)> {
    let arrivals = sampled.grid.bins(series::from(end)).iter().map(|bin| {
        let at = sampled.grid.middle_ns(bin);
        ((at - f64::from(bin.min)) / ticks.tick_ns(), at)
    });
    lows(arrivals, ticks.span_ns(), ticks.tick_ns())
}

fn seen<'a>(sampled: &Sampled, end: End, ticks: &'a Ticks, lows: &'a [(f64, f64)]) -> TickObservations<'a> {
    let Extremes { min_ns, max_ns, count, .. } = sampled.round_trips[end as usize];
    TickObservations {
        hull: ticks.hull(),
        lows,
        span_ticks: ticks.span_ticks(),
        span_ns: ticks.span_ns(),
        count: ticks.count(),
        spread_ns: (count >= MIN_TRIPS).then_some(max_ns - min_ns),
    }
}

fn round_trips(slot: &Slot, sampled: &Sampled, path: &Path, end: End) -> Option<BaseRtt> {
    let Extremes { min_ns, min_frame, max_ns, max_frame, count } = sampled.round_trips[end as usize];
    if count == 0 {
        return None;
    }
    let side = usize::from(path.addresses[0] != slot.ends[end as usize].0);
    let base_ns = path.min_ns[side].min(min_ns);
    let mut above: Vec<f64> =
        round_trip_curve(sampled, end, base_ns).iter().map(|point| point.mean_ns).collect();
    let mut at = |share| percentile(&mut above, share).unwrap_or(0.0);
    let above_base_ns = [at(0.05), at(0.5), at(0.95)];
    let reference = reference(slot, end, min_ns, base_ns, above_base_ns[2]);
    Some(BaseRtt { count, min_ns, min_frame, base_ns, max_ns, max_frame, above_base_ns, reference })
}

fn is_relative(slot: &Slot, round_trips: &[Option<BaseRtt>; 2], leg: Leg) -> bool {
    let trips = round_trips[leg.end() as usize].map(|trips| trips.reference);
    trips.map_or(!slot.has_handshake, |reference| reference == Reference::Relative)
}

/// Reference of a flow's minimum round-trip time. If the handshake took longer than later round
/// trips, a queue existed before the flow and may never have been empty.
fn reference(slot: &Slot, end: End, min_ns: f64, base_ns: f64, queue_ns: f64) -> Reference {
    let less_ns = min_ns - base_ns;
    let first_ns = slot.first_trip[end as usize].unwrap_or(min_ns);
    let was_late = first_ns - base_ns > (2.0 * LESS_NS).max(0.2 * base_ns).max(0.2 * queue_ns);
    if less_ns > LESS_NS {
        Reference::PathLeast { less_ns }
    } else if slot.has_handshake && !was_late {
        Reference::OwnLeast
    } else {
        Reference::Relative
    }
}

/// Round-trip times to `end` above `base_ns`.
pub(crate) fn round_trip_curve(sampled: &Sampled, end: End, base_ns: f64) -> Vec<DelayPoint> {
    curve(sampled, series::round_trip(end), |_, value| value - base_ns)
}

fn curve(sampled: &Sampled, series: usize, map: impl Fn(f64, f64) -> f64) -> Vec<DelayPoint> {
    let point = |bin: &crate::bins::Bin| {
        let at_ns = sampled.grid.middle_ns(bin);
        DelayPoint {
            at_ns,
            min_ns: map(at_ns, f64::from(bin.min)),
            mean_ns: map(at_ns, bin.mean()),
            max_ns: map(at_ns, f64::from(bin.max)),
        }
    };
    sampled.grid.bins(series).iter().map(point).collect()
}

/// Delay from the sender of a packet with `value` at `at` in the series [`series::from`].
pub(crate) fn from_delay(clock: &Clock, tick_ns: f64, at_ns: f64, value: f64) -> f64 {
    let ratio = clock.tick_ns / tick_ns;
    at_ns * (1.0 - ratio) + ratio * value - clock.zero_ns
}

/// The delay of a leg over time, relative to its minimum.
fn leg_curve(sampled: &Sampled, leg: Leg, clock: &Clock) -> Vec<DelayPoint> {
    let mut points = leg_points(sampled, leg, clock);
    let base = base(&points, min_known(sampled, leg));
    // A TSval is up to a tick old when its packet leaves, half a tick on average.
    for point in &mut points {
        let above = point.above(base);
        point.min_ns = above.min_ns;
        point.mean_ns = (above.mean_ns - 0.5 * clock.tick_ns).max(above.min_ns);
        point.max_ns = (above.max_ns - clock.tick_ns).max(point.mean_ns);
    }
    points
}

/// The delay of a leg relative to the clock's zero. For the direction to an end it includes the
/// minimum of the reverse direction.
fn leg_points(sampled: &Sampled, leg: Leg, clock: &Clock) -> Vec<DelayPoint> {
    let provisional =
        sampled.ticks[leg.end() as usize].as_ref().map_or(clock.tick_ns, |ticks| ticks.tick_ns());
    let ratio = clock.tick_ns / provisional;
    match leg {
        Leg::From(end) => {
            curve(sampled, series::from(end), |at, value| from_delay(clock, provisional, at, value))
        }
        Leg::To(end) => {
            let drift = |at: f64, value: f64| value + clock.zero_ns + (ratio - 1.0) * (at - clock.zero_ns);
            curve(sampled, series::to(end), drift)
        }
    }
}

/// Upper bound of the leg's delay without queue, from before the flow was sampled: the clock's zero
/// is below all arrivals, including the handshake, and the forward part is at most the whole
/// minimum round-trip time.
fn min_known(sampled: &Sampled, leg: Leg) -> f64 {
    match leg {
        Leg::From(_) => 0.0,
        Leg::To(end) => sampled.round_trips[end as usize].min_ns,
    }
}

/// The delay of a leg without queue: its minimum. If there is no queue most of the time, it is the
/// 10th percentile of the minima of 64 parts, so that a few packets timestamped late by a busy host
/// have no effect.
fn base(points: &[DelayPoint], min_known: f64) -> f64 {
    let first = points.first().map_or(0.0, |point| point.at_ns);
    let span = points.last().map_or(0.0, |point| point.at_ns) - first;
    let mut lows: Vec<f64> = Vec::new();
    let mut until = f64::NEG_INFINITY;
    for point in points {
        match lows.last_mut().filter(|_| point.at_ns < until) {
            Some(low) => *low = low.min(point.min_ns),
            None => {
                lows.push(point.min_ns);
                until = point.at_ns + span / 64.0;
            }
        }
    }
    let mut at = |share| percentile(&mut lows, share).unwrap_or(0.0);
    let (least, tenth, middle) = (at(0.0).min(min_known), at(0.1), at(0.5));
    if middle - least < NO_QUEUE_NS { tenth } else { least }
}

fn leg_delay(
    sampled: &Sampled,
    leg: Leg,
    clocks: &[Result<Clock, NoClock>; 2],
    bulk: Option<End>,
    is_relative: bool,
) -> Result<LegDelay, NoLeg> {
    let clock = clocks[leg.end() as usize].map_err(NoLeg::NoClock)?;
    let over_time = leg_curve(sampled, leg, &clock);
    // A sender may delay answers for its window or pacing; only the fastest show the delay.
    let is_paced = matches!(leg, Leg::To(end) if bulk == Some(end));
    let value = |point: &DelayPoint| if is_paced { point.min_ns } else { point.mean_ns };
    let mut values: Vec<f64> = over_time.iter().map(value).collect();
    let max_ns = crate::buffer::most(&over_time).ok_or(NoLeg::Unseen)?;
    let mut at = |share| percentile(&mut values, share).unwrap_or(0.0);
    let (p5_ns, p50_ns, p95_ns) = (at(0.05), at(0.5), at(0.95));
    let error_ns = clock.error_ns();
    if error_ns > p95_ns && error_ns > 3.0 * clock.tick_ns + MIN_QUEUE_NS {
        return Err(NoLeg::UncertainClock { error_ns, effect_ns: p95_ns });
    }
    let reference = if is_relative { Reference::Relative } else { Reference::OwnLeast };
    Ok(LegDelay { leg, p5_ns, p50_ns, p95_ns, max_ns, error_ns, reference, over_time })
}

/// Discards the delay to a sender that waits for its own queue: with TCP small queues it creates
/// the next packet when one has left, so its answers take as long as its packets although there is
/// no queue on the path to it.
fn refuse_held(legs: &mut [Result<LegDelay, NoLeg>; 4], sender: End) {
    let delay_of = |leg: Leg| legs.iter().flatten().find(move |delay| delay.leg == leg);
    let (Some(from), Some(to)) = (delay_of(Leg::From(sender)), delay_of(Leg::To(sender))) else { return };
    let is_waiting = from.p95_ns >= MIN_QUEUE_NS + from.error_ns;
    if !is_waiting || to.p95_ns <= 0.5 * from.p95_ns + to.error_ns {
        return;
    }
    for held in legs.iter_mut().filter(|leg| leg.as_ref().is_ok_and(|delay| delay.leg == Leg::To(sender))) {
        *held = Err(NoLeg::AcksQueued);
    }
}

/// The leg with the largest delay, if it is clearly the largest.
fn locate(
    legs: &[Result<LegDelay, NoLeg>; 4],
    round_trips: &[Option<BaseRtt>; 2],
    bulk: Option<End>,
    hole_to_fill_ns: Option<f64>,
) -> Result<Location, NoLocation> {
    let mut known: Vec<&LegDelay> = legs.iter().filter_map(|leg| leg.as_ref().ok()).collect();
    known.sort_by(|a, b| b.p95_ns.total_cmp(&a.p95_ns));
    let loops = locate_by_loop(round_trips, bulk, hole_to_fill_ns);
    let Some(first) = known.first() else { return loops.ok_or(NoLocation::Unseen) };
    let floor = MIN_QUEUE_NS + first.error_ns;
    if first.p95_ns < floor {
        // Legs without a clock may contain the queue that round-trip times show.
        return loops
            .filter(|_| known.len() < 4)
            .ok_or(NoLocation::NoQueue { p95_ns: first.p95_ns, error_ns: first.error_ns });
    }
    // A standing queue outweighs one that comes and goes.
    let stands = |leg: &LegDelay| leg.p50_ns - leg.error_ns > MIN_QUEUE_NS;
    let is_rival = |second: &&&LegDelay| {
        second.p95_ns > 0.5 * first.p95_ns + second.error_ns && (!stands(first) || stands(second))
    };
    match known.get(1).filter(is_rival) {
        Some(second) => Err(NoLocation::Ambiguous { first: first.leg, second: second.leg }),
        None => Ok(Location::Leg(first.leg)),
    }
}

/// Without timestamps: the end with growing round-trip times or, next to the receiver, the sender
/// if its retransmissions arrive late.
fn locate_by_loop(
    round_trips: &[Option<BaseRtt>; 2],
    bulk: Option<End>,
    hole_to_fill_ns: Option<f64>,
) -> Option<Location> {
    let sender = bulk?;
    // A receiver next to the capture point may delay single ACKs for long, but not most of them.
    let grown = |end: End| {
        round_trips[end as usize].filter(|trips| trips.count >= MIN_TRIPS).is_some_and(|trips| {
            let [_, middle, high] = trips.above_base_ns;
            let above = if trips.base_ns < NEAR_NS { middle } else { high };
            above > MIN_QUEUE_NS.max(0.5 * trips.base_ns)
        })
    };
    let base = round_trips[sender as usize].map_or(f64::INFINITY, |trips| trips.base_ns);
    let is_late = hole_to_fill_ns.is_some_and(|fill| fill > 2.0 * base + MIN_QUEUE_NS);
    let end = [sender.other(), sender].into_iter().find(|end| grown(*end)).or(is_late.then_some(sender));
    end.map(Location::RoundTrip)
}

/// Uses the smaller minimum of other flows, if this flow started with a full queue.
fn refer(legs: &mut [Result<LegDelay, NoLeg>; 4], leg: Leg, round_trips: Option<BaseRtt>) {
    let Some(BaseRtt { reference: Reference::PathLeast { less_ns }, .. }) = round_trips else { return };
    for delay in legs.iter_mut().filter_map(|delay| delay.as_mut().ok()).filter(|delay| delay.leg == leg) {
        delay.reference = Reference::PathLeast { less_ns };
        delay.p5_ns += less_ns;
        delay.p50_ns += less_ns;
        delay.p95_ns += less_ns;
        delay.max_ns += less_ns;
        for point in &mut delay.over_time {
            point.min_ns += less_ns;
            point.mean_ns += less_ns;
            point.max_ns += less_ns;
        }
    }
}
