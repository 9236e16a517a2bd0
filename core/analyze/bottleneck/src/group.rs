//! Determines which flows share a bottleneck.
use crate::delay_curve::DelayPoint;
use crate::flow::Sampled;
use crate::inspect::round_trip_curve;
use crate::report::{Leg, Location, QueueReport, Reference};
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::End;

/// Maximum number of bulk flows on different paths that are compared with each other, by bytes. The
/// other flows join those on their own path.
const COMPARED: usize = 32;
/// Minimum correlation of the delays of flows that share a queue.
const MIN_CORRELATION: f64 = 0.8;
/// Minimum number of intervals observed for both.
const MIN_COMMON: usize = 32;

/// A flow that fills a queue.
pub(crate) struct Filler<'a> {
    pub(crate) place: usize,
    pub(crate) sender: End,
    pub(crate) location: Location,
    pub(crate) sampled: &'a Sampled,
    /// Addresses of its sender and receiver.
    pub(crate) addresses: [Address; 2],
    pub(crate) delays: Vec<DelayPoint>,
    /// Reference of these delays, and their error.
    pub(crate) reference: Reference,
    pub(crate) error_ns: f64,
}

impl<'a> Filler<'a> {
    /// `None` for a flow that fills no queue.
    pub(crate) fn new(place: usize, report: &QueueReport, sampled: &'a Sampled) -> Option<Self> {
        let sender = report.bulk?;
        let location = report.location.ok()?;
        let addresses = [report.ends[sender as usize].0, report.ends[sender.other() as usize].0];
        let (delays, reference, error_ns) = delays(report, sampled, sender, location)?;
        Some(Filler { place, sender, location, sampled, addresses, delays, reference, error_ns })
    }
    pub(crate) fn bytes(&self) -> u64 {
        self.sampled.sent[self.sender as usize].payload_bytes
    }
    /// Whether the queue is ahead of the capture point, in the direction of the data.
    pub(crate) fn is_ahead(&self) -> bool {
        match self.location {
            Location::Leg(leg) => leg == Leg::To(self.sender.other()),
            Location::RoundTrip(end) => end != self.sender,
        }
    }
    /// Source and destination address of the queued packets.
    fn way(&self) -> [Address; 2] {
        let [from, to] = self.addresses;
        let is_reply = matches!(self.location, Location::Leg(leg)
            if leg == Leg::From(self.sender.other()) || leg == Leg::To(self.sender));
        if is_reply { [to, from] } else { [from, to] }
    }
    fn side(&self) -> bool {
        matches!(self.location, Location::Leg(Leg::To(_)))
    }
}

/// Queueing delay of a flow at `location`. If the reverse path is short, round-trip times are used:
/// they have a resolution of 1 ns instead of a tick.
fn delays(
    report: &QueueReport,
    sampled: &Sampled,
    sender: End,
    location: Location,
) -> Option<(Vec<DelayPoint>, Reference, f64)> {
    let by_round_trip = |end: End, error_ns: f64| {
        let trips = report.round_trips[end as usize]?;
        Some((round_trip_above(sampled, end, trips.base_ns), trips.reference, error_ns))
    };
    match location {
        Location::RoundTrip(end) => by_round_trip(end, 0.0),
        Location::Leg(leg) => {
            let own = report.legs.iter().filter_map(|own| own.as_ref().ok()).find(|own| own.leg == leg)?;
            let mut legs = report.legs.iter().filter_map(|known| known.as_ref().ok());
            let back = legs.find(|back| back.leg == Leg::From(leg.end())).map(|back| back.p50_ns);
            match (leg, back) {
                (Leg::To(end), Some(back)) if end != sender => by_round_trip(end, back.max(0.0)),
                _ => Some((own.over_time.clone(), own.reference, own.error_ns)),
            }
        }
    }
}

fn round_trip_above(sampled: &Sampled, end: End, base_ns: f64) -> Vec<DelayPoint> {
    round_trip_curve(sampled, end, base_ns)
}

/// Groups of flows that share a queue, by index, ordered by bytes.
pub(crate) fn groups(fillers: &[Filler<'_>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..fillers.len()).collect();
    order.sort_by_key(|place| core::cmp::Reverse(fillers.get(*place).map(Filler::bytes)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (rank, place) in order.into_iter().enumerate() {
        let Some(filler) = fillers.get(place) else { continue };
        let shares = |group: &&mut Vec<usize>| {
            let first = group.first().and_then(|first| fillers.get(*first));
            first.is_some_and(|first| share(first, filler, rank < COMPARED))
        };
        match groups.iter_mut().find(shares) {
            Some(group) => group.push(place),
            None => groups.push(alloc::vec![place]),
        }
    }
    groups
}

fn share(a: &Filler<'_>, b: &Filler<'_>, is_compared: bool) -> bool {
    if a.side() != b.side() || a.is_ahead() != b.is_ahead() {
        return false;
    }
    if a.way() == b.way() {
        return true;
    }
    is_compared && correlation(&a.delays, &b.delays).is_some_and(|value| value >= MIN_CORRELATION)
}

fn correlation(a: &[DelayPoint], b: &[DelayPoint]) -> Option<f64> {
    let width = step(a).max(step(b));
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    let mut later = b.iter().peekable();
    for point in a {
        while later.next_if(|other| other.at_ns < point.at_ns - 0.5 * width).is_some() {}
        if let Some(other) = later.peek().filter(|other| other.at_ns <= point.at_ns + 0.5 * width) {
            pairs.push((point.mean_ns, other.mean_ns));
        }
    }
    if pairs.len() < MIN_COMMON {
        return None;
    }
    let n = pairs.len() as f64;
    let x = pairs.iter().map(|pair| pair.0).sum::<f64>() / n;
    let y = pairs.iter().map(|pair| pair.1).sum::<f64>() / n;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for pair in &pairs {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        (xx, yy, xy) = (xx + dx * dx, yy + dy * dy, xy + dx * dy);
    }
    Some(xy / libm::sqrt(xx * yy).max(f64::MIN_POSITIVE))
}

fn step(points: &[DelayPoint]) -> f64 {
    let span = points.last().map_or(0.0, |last| last.at_ns) - points.first().map_or(0.0, |first| first.at_ns);
    span / points.len().max(1) as f64
}
