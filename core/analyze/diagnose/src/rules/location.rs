//! Where on the path packets wait, from probes to every router while one direction is loaded.
//!
//! A probe to a hop beyond the queue waits in it, whichever direction is loaded: the probe in that
//! of an upload, its reply in that of a download. The delay added at each hop is compared with the
//! delay that probes to the server had at the same time, so a queue that fills and drains is no
//! noise. What a hop loses means nothing: routers limit their replies.
//!
//! Where each flow has a queue, or flows take several paths, only probes in the flow of the load
//! show its place: those of this host in an upload, those of the server in a download. The latter
//! count hops from the server, so the path is then seen from there.
use crate::delivery::capacity;
use crate::rules::bloat::direction_of;
use crate::rules::flow_queues::{PACKET_BITS, delay_of_flows, shortest_delay};
use crate::sample::of_flows;
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_run::{
    Certainty, Conclusion, Evidence, Finding, Hop, LocationProblem, Metric, Path, PhaseKind, QueueLocation,
    Series, SeriesKey, Statistic, UnknownLocation,
};
use fathom_stats::{Sample, median};
use fathom_units::{Direction, Time};

mod place;

/// Minimum number of replies of a hop while packets wait.
const MIN_REPLIES: usize = 3;
/// Replies within this time are one, ns: they met the same queue, perhaps one that grew faster than
/// the probes to the server show.
const MOMENT_NS: u64 = 500_000_000;
/// Only times are compared at which the queue was at least this high, relative to its median ...
const HIGH: f64 = 0.4;
/// ... and in seconds.
const HIGH_S: f64 = 0.010;
/// Probes to the server further apart than this do not tell the delay between them, ns.
const NEAR_NS: u64 = 2_000_000_000;
/// A hop whose middle half of replies varies by more than this share of the delay of the path is
/// itself too slow to tell.
const MOST_SPREAD: f64 = 0.5;
/// Least median delay that is placed, in seconds: a place is reported with its median, which says
/// nothing of a queue that is empty most of the time.
const LEAST_MEDIAN_S: f64 = 0.005;
/// Least share of the added delay of a queue that is reported.
const LEAST_SHARE: f64 = 0.2;
/// Least median delay of one of several queues, in full packets.
const LEAST_PACKETS: f64 = 2.0;
/// Least share that all reported queues must explain together.
const LEAST_EXPLAINED: f64 = 0.7;
/// Largest difference between the two kinds of probes of one hop, and decrease from a hop to a
/// later one, which is the noise of the measurement.
const TOLERANCE: f64 = 0.25;
/// Share of the median delay of all flows from which the delay of one is that of its queue.
const SAME_QUEUE: f64 = 0.5;
/// Share of replies that are wrong, for the probability: those of a router that was busy.
const ERROR_RATIO: f64 = 0.1;
/// A queue whose place is less probable is not reported.
const LEAST_PROBABLE: f64 = 0.8;
/// No probability is higher: the path of the probes may differ from that of the load.
const MOST_PROBABLE: f64 = 0.99;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let Some(path) = &view.run.path else { return Vec::new() };
    let is_clear = |rise: &Rise<'_>| {
        let is_high = rise.height() >= REPORTED_INCREASE_S && rise.p50() >= LEAST_MEDIAN_S;
        rise.phase.kind.loads().len() == 1 && is_high && !rise.has_other_traffic
    };
    let of_phases = view.rises().filter(is_clear).flat_map(|rise| of_phase(view, path, &rise));
    let unclear = view.rises().filter(|rise| !is_clear(rise));
    let of_flows = unclear.flat_map(|rise| of_flow_queue(view, path, &rise));
    let mut findings: Vec<Finding> = Vec::new();
    for finding in of_phases.chain(of_flows) {
        // The ACKs of a download wait in the queue of uploads, which is then found twice.
        match findings.iter_mut().find(|known| has_common_link(known, &finding)) {
            Some(known) => *known = merged(known.clone(), finding),
            None => findings.push(finding),
        }
    }
    findings
}

/// The place of a queue that only the flows of the load have. An unknown one is not reported: it
/// delays nobody else.
fn of_flow_queue(view: &View<'_>, path: &Path, rise: &Rise<'_>) -> Vec<Finding> {
    let [direction] = *rise.phase.kind.loads() else { return Vec::new() };
    let delay_s = delay_of_flows(view, direction, rise).filter(|delay_s| *delay_s >= REPORTED_INCREASE_S);
    let Some(delay_s) = delay_s.filter(|_| last_change(path, rise).is_none()) else { return Vec::new() };
    let queue = Queue { direction, delay_s, added: Added::constant(view, rise, delay_s) };
    let mut points = points_in_flow(view, path, rise, &queue);
    let most = points.iter().map(|point| point.share).fold(0.0, f64::max);
    if most >= least_share(view, direction, rise, delay_s) {
        for point in &mut points {
            point.share = (point.share / most).min(1.0);
            point.shares.iter_mut().for_each(|share| *share /= most);
        }
    } else if most >= LEAST_SHARE || acknowledgments_may_wait(view, direction) {
        return Vec::new();
    }
    // Probes of one hop may be in another flow than those of the next, and so show two queues.
    enclose(view, path, rise, &queue, points, 1.0).ok().filter(|found| found.len() == 1).unwrap_or_default()
}

/// The share of the median delay from which that of the probes is a queue: they are in one of the
/// flows, which may have a shorter queue or a longer one.
fn least_share(view: &View<'_>, direction: Direction, rise: &Rise<'_>, delay_s: f64) -> f64 {
    let shortest = shortest_delay(view, direction, rise).map(|shortest_s| shortest_s / delay_s);
    shortest.map_or(SAME_QUEUE, |share| ((1.0 - TOLERANCE) * share).clamp(LEAST_SHARE, SAME_QUEUE))
}

/// Whether the acknowledgments of a load in `direction` may wait in a queue of their flow, which no
/// probe shares. They do not if a load in their direction has no such queue.
fn acknowledgments_may_wait(view: &View<'_>, direction: Direction) -> bool {
    let theirs = direction.reverse();
    let has_queue = |rise: Rise<'_>| {
        let is_measured = || {
            let mut all = of_flows(view.run, Metric::FlowRtt, theirs);
            all.any(|series| series.within(rise.phase).next().is_some())
        };
        (rise.phase.kind.loads() == [theirs] && is_measured()).then(|| {
            delay_of_flows(view, theirs, &rise).is_some_and(|delay_s| delay_s >= REPORTED_INCREASE_S)
        })
    };
    view.rises().find_map(has_queue).unwrap_or(true)
}

const fn location_of(finding: &Finding) -> Option<&QueueLocation> {
    match &finding.conclusion {
        Conclusion::QueueLocation(location) => Some(location),
        _ => None,
    }
}

/// Whether both are places in one direction with a link in common.
fn has_common_link(one: &Finding, other: &Finding) -> bool {
    let places = location_of(one).zip(location_of(other)).filter(|_| one.direction == other.direction);
    places.is_some_and(|(a, b)| a.near_hop < b.far_hop && b.near_hop < a.far_hop)
}

/// One queue that two phases show: the narrower place, with the delay of the load in its direction.
fn merged(one: Finding, other: Finding) -> Finding {
    let links = |finding: &Finding| location_of(finding).map(|location| location.far_hop - location.near_hop);
    let (narrow, wide) = if links(&other) < links(&one) { (other, one) } else { (one, other) };
    match (&narrow.conclusion, location_of(&wide)) {
        (Conclusion::QueueLocation(here), Some(there)) if is_loaded(&wide, there) => {
            let QueueLocation { phase, delay_s, delay_ratio, .. } = *there;
            let location = QueueLocation { phase, delay_s, delay_ratio, ..here.clone() };
            Finding { conclusion: Conclusion::QueueLocation(location), ..narrow }
        }
        _ => narrow,
    }
}

/// Whether the phase loaded the direction of the queue.
fn is_loaded(finding: &Finding, place: &QueueLocation) -> bool {
    finding.direction.is_some_and(|direction| place.phase.loads().contains(&direction))
}

fn of_phase(view: &View<'_>, path: &Path, rise: &Rise<'_>) -> Vec<Finding> {
    let Some(direction) = direction_of(rise) else { return Vec::new() };
    match locate(view, path, rise, direction) {
        Ok(found) => found,
        Err(reason) => {
            let unknown = UnknownLocation { phase: rise.phase.kind, reason };
            let conclusion = Conclusion::UnknownLocation(unknown);
            Vec::from([Finding::new(conclusion, Some(direction), Certainty::Certain)])
        }
    }
}

fn locate(
    view: &View<'_>,
    path: &Path,
    rise: &Rise<'_>,
    direction: Direction,
) -> Result<Vec<Finding>, LocationProblem> {
    let changed_ns = last_change(path, rise);
    if changed_ns.is_some_and(|at| at >= rise.phase.start_ns) {
        return Err(LocationProblem::PathChanged);
    }
    let added = Added::new(view, rise, changed_ns).ok_or(LocationProblem::SilentHops)?;
    let queue = Queue { direction, delay_s: rise.p50(), added };
    let all = points(view, path, rise, &queue);
    let of_server = share_at_server(view, path, rise, &queue.added);
    // Then probes of one hop wait in another queue than those of the next.
    let has_flow_queues = delay_of_flows(view, direction, rise).is_some();
    let problem = if all.is_empty() && !is_direct(path) {
        LocationProblem::SilentHops
    } else if is_direct(path) || (!has_flow_queues && is_shared(of_server, &all)) {
        match enclose(view, path, rise, &queue, all, of_server.unwrap_or(1.0)) {
            Err(problem) if direction == Direction::Down => problem,
            found => return found,
        }
    } else {
        // A router divides flows among several paths, or each flow has a queue.
        LocationProblem::Inconsistent
    };
    let in_flow = points_in_flow(view, path, rise, &queue);
    if !in_flow.iter().any(|point| point.share >= LEAST_EXPLAINED) {
        return Err(problem);
    }
    enclose(view, path, rise, &queue, in_flow, 1.0)
}

/// When the path changed last before the end of the phase, if it did.
fn last_change(path: &Path, rise: &Rise<'_>) -> Option<u64> {
    path.changes_ns.iter().copied().filter(|at| *at < rise.phase.end_ns).max()
}

/// Without a router, the queue is between this host and the server.
fn is_direct(path: &Path) -> bool {
    path.server_hop == Some(1)
}

/// A queue whose place is looked for.
struct Queue {
    direction: Direction,
    /// Its median delay.
    delay_s: f64,
    added: Added,
}

/// The hops with enough replies.
fn points<'a>(view: &View<'_>, path: &'a Path, rise: &Rise<'_>, queue: &Queue) -> Vec<Point<'a>> {
    // The load may return by another router than the replies of this one.
    let is_usable =
        |hop: &&Hop| queue.direction == Direction::Up || !(returns_elsewhere(hop) || is_one_of_several(hop));
    path.hops.iter().filter(is_usable).filter_map(|hop| point(view, rise, &queue.added, hop)).collect()
}

/// The hops with enough replies to probes in the flow of the load; for a download, counted from the
/// server.
fn points_in_flow<'a>(view: &View<'_>, path: &'a Path, rise: &Rise<'_>, queue: &Queue) -> Vec<Point<'a>> {
    let (hops, metric): (&[Hop], _) = match queue.direction {
        Direction::Up => (&path.hops, Metric::HopFlowRtt),
        Direction::Down if is_as_long_back(path) => (&path.return_path, Metric::HopReturnFlowRtt),
        Direction::Down => (&[], Metric::HopReturnFlowRtt),
    };
    hops.iter().filter_map(|hop| point_in_flow(view, rise, &queue.added, hop, metric)).collect()
}

/// Whether the way back has as many hops, so that a number from the server is one from this host.
fn is_as_long_back(path: &Path) -> bool {
    let is_beyond = |hop: &Hop| path.server_hop.is_none_or(|length| hop.number >= length);
    path.server_return_hops == path.server_hop && !path.return_path.iter().any(is_beyond)
}

fn returns_elsewhere(hop: &Hop) -> bool {
    hop.return_hops.is_some_and(|hops| hops != hop.number)
}

/// Whether routers divide flows among it and others.
const fn is_one_of_several(hop: &Hop) -> bool {
    hop.flow_address.is_some() || hop.other_address.is_some()
}

/// The queues between these hops, and behind them, if probes of the same kind have the share
/// `of_server` at the server.
fn enclose(
    view: &View<'_>,
    path: &Path,
    rise: &Rise<'_>,
    queue: &Queue,
    points: Vec<Point<'_>>,
    of_server: f64,
) -> Result<Vec<Finding>, LocationProblem> {
    let points = between_ends(points, path, queue.direction, of_server)?;
    // A queue with most of the delay is reported even if it is short.
    let least = (shortest_part_s(view, rise, queue) / queue.delay_s).clamp(LEAST_SHARE, LEAST_EXPLAINED);
    let queues: Vec<[&Point<'_>; 2]> =
        points.windows(2).map(|p| [&p[0], &p[1]]).filter(|p| p[1].share - p[0].share >= least).collect();
    let explained: f64 = queues.iter().map(|[near, far]| far.share - near.share).sum();
    // A path on which nothing answers between its ends has one queue, somewhere.
    let is_whole =
        |[near, far]: &[&Point<'_>; 2]| !is_direct(path) && near.hop.is_none() && far.hop.is_none();
    let is_doubtful = |[near, far]: &[&Point<'_>; 2]| probability(near, far) < LEAST_PROBABLE;
    if explained < LEAST_EXPLAINED || queues.iter().any(|ends| is_whole(ends) || is_doubtful(ends)) {
        return Err(LocationProblem::Inconsistent);
    }
    Ok(queues.into_iter().map(|ends| finding(view, path, rise, queue, ends)).collect())
}

/// Shortest delay of one queue among several that is no noise, in seconds: a probe waits for whole
/// packets.
fn shortest_part_s(view: &View<'_>, rise: &Rise<'_>, queue: &Queue) -> f64 {
    let rate = capacity(view, queue.direction, rise).map(|capacity| capacity.ip_bits_per_second());
    let packets_s = rate.filter(|rate| *rate > 0.0).map_or(0.0, |rate| LEAST_PACKETS * PACKET_BITS / rate);
    packets_s.max(LEAST_MEDIAN_S)
}

/// The share of probes of hops that reach the server over routers, if enough did. It is below 1 if
/// rare probes overtake the more frequent ones to the server in a queue.
fn share_at_server(view: &View<'_>, path: &Path, rise: &Rise<'_>, added: &Added) -> Option<f64> {
    let server = path.server_hop.filter(|_| !is_direct(path))?;
    let shares = shares(view, rise, added, &key(Metric::HopRtt, server))?;
    median(shares.iter().copied()).filter(|_| shares.len() >= MIN_REPLIES)
}

/// Whether probes of hops take the path of the load: those that reach the server, or at least one
/// hop, have its delay. A router that divides flows among several paths may separate them.
fn is_shared(of_server: Option<f64>, points: &[Point<'_>]) -> bool {
    match of_server {
        Some(share) => (share - 1.0).abs() <= 1.0 - LEAST_EXPLAINED,
        None => points.iter().any(|point| point.share >= LEAST_EXPLAINED),
    }
}

/// The delay added at the server over time, in seconds.
struct Added {
    values: Vec<(u64, f64)>,
    least_s: f64,
    /// The delay during the whole phase, where it is not that of the probes to the server.
    constant_s: Option<f64>,
    /// When the path changed last before, if it did.
    changed_ns: Option<u64>,
}

impl Added {
    fn new(view: &View<'_>, rise: &Rise<'_>, changed_ns: Option<u64>) -> Option<Self> {
        let values = added_at_server(view.source?, rise);
        let least_s = (HIGH * rise.p50()).max(HIGH_S);
        Some(Added { values, least_s, constant_s: None, changed_ns })
    }
    /// The same delay during the whole phase.
    fn constant(view: &View<'_>, rise: &Rise<'_>, delay_s: f64) -> Self {
        let values = view.source.map_or(Vec::new(), |source| added_at_server(source, rise));
        Added { values, least_s: 0.0, constant_s: Some(delay_s), changed_ns: None }
    }
    /// The delay at a time, if the queue was high.
    fn at(&self, at_ns: u64) -> Option<f64> {
        self.constant_s.or_else(|| self.known_at(at_ns).filter(|added| *added >= self.least_s))
    }
    /// Whether packets are known to have waited at a time, of any traffic.
    fn is_queued_at(&self, at_ns: u64) -> bool {
        self.known_at(at_ns).is_some_and(|added_s| added_s >= HIGH_S)
    }
    /// The delay at a time, if probes near it show it.
    fn known_at(&self, at_ns: u64) -> Option<f64> {
        let next = self.values.partition_point(|(at, _)| *at < at_ns);
        let (after, before) = (self.values.get(next)?, self.values.get(next.checked_sub(1)?)?);
        let apart = after.0 - before.0;
        let part = (at_ns - before.0) as f64 / apart.max(1) as f64;
        let added = before.1 + part * (after.1 - before.1);
        (apart <= NEAR_NS).then_some(added)
    }
}

/// The delay of the probes to the server above their median without load, over time.
fn added_at_server(source: &Series, rise: &Rise<'_>) -> Vec<(u64, f64)> {
    let observed = source.iter().filter_map(|o| Some((o.at.as_nanos(), o.value.observed()?)));
    observed.map(|(at, value)| (at, value - rise.idle.p50.value)).collect()
}

/// A hop, and which share of the delay of the path its probes had.
struct Point<'a> {
    /// `None` for this host and the server.
    hop: Option<&'a Hop>,
    number: u8,
    share: f64,
    shares: Vec<f64>,
    /// What the probes in the flow of the load measure, if the shares are of them.
    in_flow: Option<Metric>,
}

fn point<'a>(view: &View<'_>, rise: &Rise<'_>, added: &Added, hop: &'a Hop) -> Option<Point<'a>> {
    let of = |metric| shares(view, rise, added, &key(metric, hop.number));
    let median_of = |shares: &[f64]| median(shares.iter().copied()).unwrap_or(0.0);
    let is_contradicted = |one: &[f64], other: &[f64]| {
        !other.is_empty() && (median_of(one) - median_of(other)).abs() > TOLERANCE
    };
    let few = of(Metric::HopRtt).unwrap_or_default();
    let expired = Some(few.clone()).filter(|shares| is_steady(shares));
    let echoed = of(Metric::HopEcho);
    // Some echo requests waited where no other probe did: one of the two has its own queue. A
    // router that is slow to answer is so without load, too.
    if let (Some(expired), Some(echoed)) = (&expired, &echoed) {
        let slow = idle_spread_s(view, &key(Metric::HopEcho, hop.number)) / rise.p50();
        let longer = quartiles(echoed)[1] - median_of(expired) - slow;
        if echoed.len() >= MIN_REPLIES && longer > TOLERANCE {
            return None;
        }
    }
    // Requests to the address of a router may take another path.
    let echoed = echoed.filter(|shares| is_steady(shares) && !is_contradicted(shares, &few));
    let shares = match (expired, echoed) {
        (Some(expired), Some(echoed)) => [expired, echoed].concat(),
        (expired, echoed) => expired.or(echoed)?,
    };
    let share = median_of(&shares).clamp(0.0, 1.0);
    Some(Point { hop: Some(hop), number: hop.number, share, in_flow: None, shares })
}

/// As [`point`], from the probes in the flow of the load.
fn point_in_flow<'a>(
    view: &View<'_>,
    rise: &Rise<'_>,
    added: &Added,
    hop: &'a Hop,
    metric: Metric,
) -> Option<Point<'a>> {
    // The server probes the download that waits longest, so longer than the median one.
    let most = if metric == Metric::HopReturnFlowRtt { 1.0 } else { f64::INFINITY };
    let all = shares(view, rise, added, &key(metric, hop.number))?;
    let shares =
        Some(all.into_iter().map(|share| share.min(most)).collect()).filter(|s: &Vec<_>| is_steady(s))?;
    let share = median(shares.iter().copied()).unwrap_or(0.0).clamp(0.0, 1.0);
    Some(Point { hop: Some(hop), number: hop.number, share, in_flow: Some(metric), shares })
}

/// Delays of a hop above those without load, relative to the delay of the path at the same time:
/// the median of each moment.
fn shares(view: &View<'_>, rise: &Rise<'_>, added: &Added, key: &SeriesKey) -> Option<Vec<f64>> {
    let series = view.run.series(key)?;
    let base_s = match added.changed_ns {
        None => base(view, key, added),
        Some(changed_ns) => base_since(view, series, added, changed_ns),
    }?;
    let steady = rise.steady();
    let (start, end) = (Time::from_nanos(steady.start_ns), Time::from_nanos(steady.end_ns));
    let observed = series.between(start, end).filter_map(|o| Some((o.at.as_nanos(), o.value.observed()?)));
    let mut of_moments: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (at, share) in observed.filter_map(|(at, value)| Some((at, (value - base_s) / added.at(at)?))) {
        of_moments.entry(at / MOMENT_NS).or_default().push(share);
    }
    Some(of_moments.into_values().filter_map(median).collect())
}

/// Median delay of a hop without load and without a queue of others, or the shortest at any time
/// without both. With a load, even the shortest may include a queue that is never empty. Without
/// load there is no flow for probes: those of the other kinds show it.
fn base(view: &View<'_>, key: &SeriesKey, added: &Added) -> Option<f64> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let kinds: &[Metric] = match &key.metric {
        Metric::HopReturnFlowRtt => &[Metric::HopReturnRtt],
        Metric::HopFlowRtt => &[Metric::HopRtt, Metric::HopEcho],
        metric => core::slice::from_ref(metric),
    };
    let of_kinds =
        || kinds.iter().filter_map(|&metric| view.run.series(&SeriesKey { metric, ..key.clone() }));
    let median_of = |series: &Series| {
        let replies = series.within(idle).filter(|o| !added.is_queued_at(o.at.as_nanos()));
        median(replies.filter_map(|o| o.value.observed()))
    };
    of_kinds()
        .find_map(median_of)
        .or_else(|| of_kinds().find_map(|series| base_since(view, series, added, 0)))
}

/// By how much the 75th percentile of the delays of a hop without load exceeds their median.
fn idle_spread_s(view: &View<'_>, key: &SeriesKey) -> f64 {
    let replies = view.run.series(key).zip(view.run.phase(PhaseKind::Idle));
    let delays: Vec<f64> =
        replies.into_iter().flat_map(|(s, idle)| s.within(idle)).filter_map(|o| o.value.observed()).collect();
    quartiles(&delays)[1] - median(delays).unwrap_or(0.0)
}

/// Shortest delay of a hop without load and without a queue, since the path changed. Of probes in a
/// flow there is none.
fn base_since(view: &View<'_>, series: &Series, added: &Added, changed_ns: u64) -> Option<f64> {
    let is_loaded = |at_ns: u64| {
        let mut loaded = view.run.phases.iter().filter(|phase| phase.kind.is_loaded());
        loaded.any(|phase| (phase.start_ns..phase.end_ns).contains(&at_ns))
    };
    let is_empty = |at_ns| added.known_at(at_ns).is_some_and(|added_s| added_s < HIGH_S);
    let all = series.iter().filter_map(|o| Some((o.at.as_nanos(), o.value.observed()?)));
    let quiet = all.filter(|(at_ns, _)| *at_ns >= changed_ns && !is_loaded(*at_ns) && is_empty(*at_ns));
    quiet.map(|(_, delay_s)| delay_s).min_by(f64::total_cmp)
}

fn is_steady(shares: &[f64]) -> bool {
    let [low, high] = quartiles(shares);
    shares.len() >= MIN_REPLIES && high - low <= MOST_SPREAD
}

/// The 25th and the 75th percentile.
fn quartiles(shares: &[f64]) -> [f64; 2] {
    let all = Sample::new(shares.iter().map(|share| (*share, false)));
    [0.25, 0.75].map(|p| all.percentile(p).map_or(0.0, |value| value.value))
}

/// All points with this host and the server, at shares that do not decrease along the path.
fn between_ends<'a>(
    mut points: Vec<Point<'a>>,
    path: &Path,
    direction: Direction,
    of_server: f64,
) -> Result<Vec<Point<'a>>, LocationProblem> {
    let far =
        path.server_hop.unwrap_or_else(|| points.last().map_or(1, |point| point.number.saturating_add(1)));
    let last = points.iter().map(|point| point.share).fold(0.0, f64::max);
    if direction == Direction::Down {
        let returns_elsewhere = path.server_return_hops.zip(path.server_hop).is_some_and(|(b, f)| b != f);
        let decreases = points.windows(2).any(|p| p[0].share - p[1].share > TOLERANCE);
        // The queue may be on a part of the way back that no reply of a hop takes.
        if decreases || (returns_elsewhere && last < LEAST_EXPLAINED) {
            return Err(LocationProblem::Inconsistent);
        }
    }
    // A hop is not blamed for a delay that later hops do not share.
    let mut least = 1.0_f64;
    for point in points.iter_mut().rev() {
        least = least.min(point.share);
        point.share = least;
    }
    let end = |number, share| Point { hop: None, number, share, in_flow: None, shares: Vec::new() };
    points.insert(0, end(0, 0.0));
    points.push(end(far, of_server.clamp(last, 1.0)));
    Ok(points)
}

fn finding(
    view: &View<'_>,
    path: &Path,
    rise: &Rise<'_>,
    queue: &Queue,
    [near, far]: [&Point<'_>; 2],
) -> Finding {
    let (probability, direction) = (probability(near, far), queue.direction);
    let (delay_ratio, evidence) =
        (far.share - near.share, [near, far].map(|point| evidence(view, rise, point)));
    let [near, far] = ends(path, [near, far]);
    let address = |end: &HopEnd<'_>| {
        let hop = end.hop?;
        let of_flow = hop.flow_address.as_ref().filter(|_| end.is_in_flow);
        Some(of_flow.unwrap_or(&hop.address).clone())
    };
    let name = |end: &HopEnd<'_>| end.hop.and_then(|hop| hop.name.clone());
    let as_number = |end: &HopEnd<'_>| end.hop?.autonomous_system.as_ref().map(|system| system.number);
    let location = QueueLocation {
        phase: rise.phase.kind,
        place: place::of(view, path, rise, direction, near.number..far.number),
        near_hop: near.number,
        near_address: address(&near),
        near_name: name(&near),
        near_as_number: as_number(&near),
        far_hop: far.number,
        far_address: address(&far),
        far_name: name(&far),
        far_as_number: as_number(&far),
        delay_s: delay_ratio * queue.delay_s,
        delay_ratio,
        probability_ratio: probability,
    };
    let is_sure = probability >= 0.95 && direction == Direction::Up;
    let certainty = if is_sure { Certainty::Certain } else { Certainty::Likely };
    Finding::new(Conclusion::QueueLocation(location), Some(direction), certainty)
        .with_evidence(evidence.into_iter().flatten())
}

/// An end of a link, seen from this host.
struct HopEnd<'a> {
    number: u8,
    hop: Option<&'a Hop>,
    is_in_flow: bool,
}

/// The ends of a link between two points, near end first. Points that count from the server are
/// turned round; a router is then the one that this host knows, if it knows just one with that
/// number.
fn ends<'a>(path: &'a Path, [near, far]: [&Point<'a>; 2]) -> [HopEnd<'a>; 2] {
    let is_reverse = [near, far].iter().any(|point| point.in_flow == Some(Metric::HopReturnFlowRtt));
    let as_it_is = |point: &Point<'a>| HopEnd {
        number: point.number,
        hop: point.hop,
        is_in_flow: point.in_flow.is_some(),
    };
    let turned = |point: &Point<'a>| {
        let number = path.server_hop.unwrap_or(0).saturating_sub(point.number);
        let is_only = |hop: &&Hop| hop.number == number && !is_one_of_several(hop) && !returns_elsewhere(hop);
        match path.hops.iter().find(is_only).filter(|_| point.hop.is_some()) {
            Some(known) => HopEnd { number, hop: Some(known), is_in_flow: false },
            None => HopEnd { number, ..as_it_is(point) },
        }
    };
    if is_reverse { [turned(far), turned(near)] } else { [as_it_is(near), as_it_is(far)] }
}

/// Probability that the queue is between two points: each reply votes for one side of it.
fn probability(near: &Point<'_>, far: &Point<'_>) -> f64 {
    let middle = f64::midpoint(near.share, far.share);
    let side = |point: &Point<'_>, is_beyond: bool| {
        if point.hop.is_none() {
            return 1.0;
        }
        let right = point.shares.iter().filter(|share| (**share > middle) == is_beyond).count() as f64;
        let votes = 2.0 * right - point.shares.len() as f64;
        1.0 / (1.0 + libm::pow(ERROR_RATIO / (1.0 - ERROR_RATIO), votes))
    };
    (side(near, false) * side(far, true)).min(MOST_PROBABLE)
}

fn evidence(view: &View<'_>, rise: &Rise<'_>, point: &Point<'_>) -> Vec<Evidence> {
    let Some(hop) = point.hop else { return Vec::new() };
    let middle = Statistic::Percentile(0.5);
    let idle = view.run.phase(PhaseKind::Idle);
    let of = |phase| {
        let metrics = match point.in_flow {
            Some(metric) => [metric; 2],
            None => [Metric::HopRtt, Metric::HopEcho],
        };
        metrics.into_iter().find_map(|metric| view.evidence(&key(metric, hop.number), phase, middle))
    };
    idle.into_iter().chain([rise.phase]).filter_map(of).collect()
}

fn key(metric: Metric, hop: u8) -> SeriesKey {
    SeriesKey { scope: Some(hop.to_string()), ..SeriesKey::of(metric) }
}
