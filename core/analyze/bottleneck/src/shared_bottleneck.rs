//! Analysis of a bottleneck from the flows that share it.
use crate::aqm::{Evidence, Fingerprint, fingerprint};
use crate::bins::Bin;
use crate::buffer::{Buffer, Filling, buffer, most};
use crate::codel_law::codel_conformance_ratio;
use crate::cross_traffic::CrossTraffic;
use crate::delay_curve::{DelayPoint, between};
use crate::episodes::{Episode, episodes};
use crate::flow::{Sampled, series};
use crate::group::Filler;
use crate::inspect::{MIN_QUEUE_NS, from_delay, round_trip_curve};
use crate::losses::{DelaySource, Group, Point};
use crate::period::{Sender, oscillation};
use crate::probes::{Answers, Probes, Route, Track};
use crate::report::{
    Bottleneck, BottleneckRate, Leg, Location, NoRate, QueueReport, RateMethod, StandingDelay,
};
use crate::shares::{DETAILED, DelayedFlow, FlowShare, LateProbes, ShortFlows, StandingQueue, added};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capacity::{RateSpan, Rates, Step, highest_above, pieces, rates};
use fathom_capture::Address;
use fathom_flow::{End, FlowId};
use fathom_stats::{median, percentile};

/// A queue counts as standing while its delay exceeds this share of its 95th percentile.
const STANDING_RATIO: f64 = 0.25;
/// The delay of a sparse flow is compared with that of bulk flows within this time.
const NEAR_NS: f64 = 250e6;
/// Minimum number of intervals in which the delays of bulk flows are compared.
const MIN_COMPARED: usize = 64;
/// Fewer values are no sample.
const MIN_SAMPLES: usize = 8;
/// Cross-traffic bins are spread over at most two to the power of this many cells.
const MAX_SPREAD: u32 = 6;
/// Size of an Ethernet header, which Linux counts as part of a packet.
const ETHERNET_BYTES: f64 = 14.0;

/// A flow on the path that does not fill the queue.
pub(crate) struct Bystander<'a> {
    pub(crate) report: &'a QueueReport,
    pub(crate) sampled: &'a Sampled,
}

pub(crate) struct SharedBottleneck<'a> {
    pub(crate) fillers: Vec<&'a Filler<'a>>,
    pub(crate) reports: &'a [QueueReport],
    pub(crate) bystanders: Vec<Bystander<'a>>,
    pub(crate) probes: &'a Probes,
    /// Traffic in addition to the sampled flows.
    pub(crate) cross_traffic: [&'a CrossTraffic; 2],
    /// Start of each short flow, and its first round trip above the path's minimum, ns.
    pub(crate) short: Vec<(f64, f64)>,
}

/// The delayed flows, and the delay of sparse flows relative to bulk flows.
struct DelayedFlows {
    delayed_flows: Vec<DelayedFlow>,
    probes: Vec<LateProbes>,
    sparse_ratio: Option<f64>,
}

/// Traffic of a flow: bins, their width as a power of two of ns, and IP bytes per byte in them.
type Passage<'a> = (&'a [Bin], u32, f64);

/// An interval with the traffic of all flows.
#[derive(Default)]
struct Cell {
    bytes: f64,
    delay: Option<DelayPoint>,
}

impl SharedBottleneck<'_> {
    /// Combines all results; `None` without a flow, or if the delay does not exceed its error.
    pub(crate) fn bottleneck(self) -> Option<Bottleneck> {
        let first = *self.fillers.first()?;
        let (width_ns, cells) = self.cells();
        let delays: Vec<DelayPoint> = cells.values().filter_map(|cell| cell.delay).collect();
        let max_ns = most(&delays)?;
        let standing = standing(&delays);
        if standing.p95_ns < MIN_QUEUE_NS + first.error_ns {
            return None;
        }
        let stands_from = (STANDING_RATIO * standing.p95_ns).max(first.error_ns);
        let rate = self.rate(&steps(&cells, width_ns), width_ns, stands_from).ok_or(NoRate::NoStandingQueue);
        let base_ns = self.base_ns(first);
        let episodes = self.episodes(base_ns + max_ns);
        let packet = first.sampled.sent[first.sender as usize].packet_bytes();
        let bytes_per_ns = rate.as_ref().map_or(0.0, |rate| rate.ip.bits_per_second / 8e9);
        let DelayedFlows { delayed_flows, probes, sparse_ratio } =
            self.delayed_flows(first, &delays, stands_from);
        let losses = self.losses();
        let packet_ns = quotient(packet, bytes_per_ns);
        let (count, marks) = self.counts();
        let fingerprint = fingerprint(&Evidence {
            losses: &losses,
            count,
            marks,
            episodes: episodes.len(),
            peak_ns: first_peak(&delays, &episodes, base_ns + max_ns),
            standing_ns: standing.p50_ns,
            high_ns: standing.p95_ns,
            delays: &delays,
            own_queue_ratio: self.own_queue_ratio(width_ns, stands_from),
            packet_ns,
            error_ns: first.error_ns,
            sparse_ratio,
            codel_conformance_ratio: codel_conformance_ratio(
                &delays,
                &self.delays_at_losses(&losses, base_ns),
                packet_ns,
            ),
        });
        let buffer = rate
            .as_ref()
            .ok()
            .and_then(|known| self.buffer(first, &known.ip, &delays, &episodes, &fingerprint));
        let mean_ns = base_ns + delays.iter().map(|point| point.mean_ns).sum::<f64>() / delays.len() as f64;
        let full_ns = base_ns + buffer.as_ref().map_or(max_ns, |buffer| buffer.drain_ns);
        let sender = self.lone_sender(quotient(bytes_per_ns, packet), mean_ns, full_ns);
        Some(Bottleneck {
            location: first.location,
            flows: self.fillers.iter().filter_map(|filler| self.name(filler)).collect(),
            standing,
            max_ns,
            error_ns: first.error_ns,
            reference: first.reference,
            oscillation: oscillation(settled(&delays, &episodes), &episodes, sender, first.error_ns),
            shares: self.shares(&cells, width_ns, stands_from, bytes_per_ns),
            short_flows: self.short_flows(),
            rate,
            buffer,
            episodes,
            fingerprint,
            delayed_flows,
            late_probes: probes,
            delays,
        })
    }
    fn buffer(
        &self,
        first: &Filler<'_>,
        rate: &RateSpan,
        delays: &[DelayPoint],
        episodes: &[Episode],
        fingerprint: &Fingerprint,
    ) -> Option<Buffer> {
        let packet_bytes = first.sampled.sent[first.sender as usize].packet_bytes();
        let filling = Filling {
            delays,
            episodes,
            fingerprint,
            rate,
            packet_bytes,
            error_ns: first.error_ns,
            is_all_sent: first.is_ahead() || self.is_at_receiver(first),
        };
        buffer(&filling, 1.0 + ETHERNET_BYTES / packet_bytes.max(1.0))
    }
    /// The only sender at a bottleneck with this rate; `None` with several or an unknown rate.
    fn lone_sender(&self, packets_per_ns: f64, mean_ns: f64, full_ns: f64) -> Option<Sender> {
        let is_alone = self.fillers.len() == 1 && packets_per_ns > 0.0;
        is_alone.then_some(Sender { window_packets: full_ns * packets_per_ns, mean_ns, max_ns: full_ns })
    }
    fn is_at_receiver(&self, first: &Filler<'_>) -> bool {
        self.reports.get(first.place).is_some_and(|report| report.near == Some(first.sender.other()))
    }
    fn name(&self, filler: &Filler<'_>) -> Option<(FlowId, End)> {
        Some((self.reports.get(filler.place)?.flow, filler.sender))
    }
    fn short_flows(&self) -> Option<ShortFlows> {
        let (count, added_p50_ns, added_p95_ns) = added(self.short.iter().map(|short| short.1).collect())?;
        Some(ShortFlows { count, added_p50_ns, added_p95_ns })
    }
    /// Round-trip time without the queue.
    fn base_ns(&self, first: &Filler<'_>) -> f64 {
        let report = self.reports.get(first.place);
        let base = |end: End| {
            report.and_then(|report| report.round_trips[end as usize]).map_or(0.0, |trips| trips.base_ns)
        };
        base(End::A) + base(End::B)
    }
    /// Width of the cells as a power of two of ns: the widest bins of all flows.
    fn shift(&self) -> u32 {
        let grids = self.fillers.iter().map(|filler| filler.sampled.grid.shift());
        let shift = grids.chain(self.bystanders.iter().map(|other| other.sampled.grid.shift())).max();
        shift.unwrap_or(0)
    }
    /// The width of the cells, and for each the bytes of all flows and their delay.
    fn cells(&self) -> (f64, BTreeMap<u32, Cell>) {
        let shift = self.shift();
        let width_ns = (1_u64 << shift) as f64;
        let mut cells: BTreeMap<u32, Cell> = BTreeMap::new();
        for passage in self.passages() {
            add(&mut cells, passed(passage, shift));
        }
        for (bins, own_shift, ratio) in self.cross_traffic().chain(self.duplicate_arrivals()) {
            // Merges narrower bins and spreads wider ones.
            let (finer, wider) = (shift.saturating_sub(own_shift), own_shift.saturating_sub(shift));
            bins.iter().for_each(|bin| spread(&mut cells, bin.index >> finer, wider, ratio * bin.sum));
        }
        let mut delays: BTreeMap<u32, Vec<DelayPoint>> = BTreeMap::new();
        for point in self.fillers.iter().flat_map(|filler| filler.delays.iter()) {
            delays.entry((point.at_ns / width_ns) as u32).or_default().push(*point);
        }
        for (index, points) in delays {
            cells.entry(index).or_default().delay = shared(&points);
        }
        (width_ns, cells)
    }
    /// Of the time in which at least two flows show their delay and one waits in a queue, the share
    /// in which another waits for less than half as long. In a shared queue all wait alike.
    fn own_queue_ratio(&self, width_ns: f64, threshold_ns: f64) -> Option<f64> {
        let mut cells: BTreeMap<u32, (f64, f64, u32)> = BTreeMap::new();
        for point in self.fillers.iter().flat_map(|filler| filler.delays.iter()) {
            let cell = cells.entry((point.at_ns / width_ns) as u32).or_insert((f64::INFINITY, 0.0, 0));
            *cell = (cell.0.min(point.mean_ns), cell.1.max(point.min_ns), cell.2 + 1);
        }
        let compared = || cells.values().filter(|cell| cell.2 > 1 && cell.1 >= threshold_ns);
        let apart = compared().filter(|(least, most, _)| *least < 0.5 * most).count();
        (compared().count() >= MIN_COMPARED).then(|| apart as f64 / compared().count() as f64)
    }
    /// Traffic of each flow through the bottleneck.
    fn passages(&self) -> impl Iterator<Item = Passage<'_>> {
        let fillers = self.fillers.iter().map(|filler| {
            let grid = &filler.sampled.grid;
            let sent = &filler.sampled.sent[filler.sender as usize];
            if filler.is_ahead() {
                (grid.bins(series::delivered(filler.sender)), grid.shift(), sent.overhead_ratio())
            } else {
                (grid.bins(series::passed(filler.sender)), grid.shift(), 1.0)
            }
        });
        let sender = self.fillers.first().map(|first| first.addresses[0]);
        let others = self.bystanders.iter().map(move |other| {
            let is_b = sender.is_some_and(|sender| other.report.ends[1].0 == sender);
            let end = if is_b { End::B } else { End::A };
            (other.sampled.grid.bins(series::passed(end)), other.sampled.grid.shift(), 1.0)
        });
        fillers.chain(others)
    }
    /// Duplicate data that arrived at the receivers. It passed the queue, but no ACK counts it.
    fn duplicate_arrivals(&self) -> impl Iterator<Item = Passage<'_>> {
        self.fillers.iter().filter(|filler| filler.is_ahead()).filter_map(|filler| {
            let sent = &filler.sampled.sent[filler.sender as usize];
            let again = sent.again.as_deref()?;
            Some((again.bins(0), again.shift(), sent.overhead_ratio()))
        })
    }
    /// All other traffic between the same ends.
    fn cross_traffic(&self) -> impl Iterator<Item = Passage<'_>> {
        let mut pairs: Vec<[Address; 2]> = self.fillers.iter().map(|filler| filler.addresses).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let all = pairs.into_iter().flat_map(|pair| self.cross_traffic.map(|traffic| traffic.passed(pair)));
        all.flatten().map(|(bins, shift)| (bins, shift, 1.0))
    }
    /// Share of the sent data that was retransmitted, with unknown fate of the original.
    fn doubtful_ratio(&self) -> f64 {
        let ahead = self.fillers.iter().filter(|filler| filler.is_ahead());
        let sent = ahead.map(|filler| &filler.sampled.sent[filler.sender as usize]);
        let (doubtful, all) = sent
            .fold((0, 0), |(doubtful, all), sent| (doubtful + sent.doubtful_bytes, all + sent.payload_bytes));
        doubtful as f64 / all.max(1) as f64
    }
    fn rate(&self, steps: &[Step], width_ns: f64, threshold_ns: f64) -> Option<BottleneckRate> {
        let first = self.fillers.first()?;
        let sent = &first.sampled.sent[first.sender as usize];
        let (method, series) = if first.is_ahead() {
            (RateMethod::Acknowledged, series::delivered(first.sender))
        } else {
            (RateMethod::Arrived, series::passed(first.sender))
        };
        let bins = first.sampled.grid.bins(series);
        let count: u64 = bins.iter().map(|bin| u64::from(bin.count)).sum();
        let step_bytes = bins.iter().map(|bin| bin.sum).sum::<f64>() / count.max(1) as f64;
        let pieces = pieces(steps, width_ns, threshold_ns, step_bytes);
        let Rates { typical: mut ip, spans, stalled_ratio } = rates(&pieces, step_bytes)?;
        ip.error_ratio += self.doubtful_ratio();
        if threshold_ns < width_ns {
            // The link may have been idle between such short delays.
            ip.error_ratio += highest_above(&pieces, ip.bits_per_second);
        }
        let frame_ratio = 1.0 + ETHERNET_BYTES / sent.packet_bytes().max(1.0);
        let frame_bits_per_second = ip.bits_per_second * frame_ratio;
        Some(BottleneckRate { ip, frame_bits_per_second, spans, stalled_ratio, method })
    }
    fn episodes(&self, round_trip_ns: f64) -> Vec<Episode> {
        let groups = self
            .fillers
            .iter()
            .flat_map(|filler| filler.sampled.sent[filler.sender as usize].losses.groups.iter().copied());
        episodes(&groups.collect::<Vec<Group>>(), round_trip_ns)
    }
    /// Time of each loss or mark, and the delay of neighboring packets.
    fn losses(&self) -> Vec<(f64, Option<f64>)> {
        let mut losses: Vec<(f64, Option<f64>)> = Vec::new();
        for filler in &self.fillers {
            let own = &filler.sampled.sent[filler.sender as usize].losses;
            let all = own.points.kept.iter().chain(&own.marks.kept);
            losses.extend(all.map(|point| (point.at as f64, self.at_loss(filler, point))));
        }
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        losses
    }
    /// Times at which the delay of lost packets becomes visible: at once behind the queue; before
    /// it, when the neighboring packets are acknowledged.
    fn delays_at_losses(&self, losses: &[(f64, Option<f64>)], base_ns: f64) -> Vec<f64> {
        let is_ahead = self.fillers.first().is_some_and(|first| first.is_ahead());
        let times = losses.iter().map(|(at, delay)| match delay {
            Some(delay) if is_ahead => at + base_ns + delay,
            _ => *at,
        });
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        times
    }
    fn counts(&self) -> (u64, u64) {
        let sent = self.fillers.iter().map(|filler| &filler.sampled.sent[filler.sender as usize]);
        sent.fold((0, 0), |(losses, marks), sent| {
            (losses + sent.losses.points.count, marks + sent.losses.marks.count)
        })
    }
    /// Queueing delay of the neighbor of a lost packet.
    fn at_loss(&self, filler: &Filler<'_>, point: &Point) -> Option<f64> {
        let report = self.reports.get(filler.place)?;
        match point.delay? {
            (DelaySource::RoundTrip, took) => {
                let trips = report.round_trips[filler.sender.other() as usize]?;
                filler.is_ahead().then(|| (f64::from(took) - trips.base_ns).max(0.0))
            }
            (DelaySource::Arrival, value) => {
                let clock = report.clocks[filler.sender as usize].ok()?;
                let tick_ns = filler.sampled.ticks[filler.sender as usize].as_ref()?.tick_ns();
                let delay = from_delay(&clock, tick_ns, point.at as f64, f64::from(value));
                (!filler.is_ahead()).then_some((delay - 0.5 * clock.tick_ns).max(0.0))
            }
        }
    }
    fn shares(
        &self,
        cells: &BTreeMap<u32, Cell>,
        width_ns: f64,
        threshold_ns: f64,
        bytes_per_ns: f64,
    ) -> Vec<FlowShare> {
        let stands = |(index, cell): (&u32, &Cell)| {
            let delay_ns = cell.delay.map(|delay| delay.mean_ns).filter(|delay| *delay >= threshold_ns)?;
            Some((*index, (f64::from(*index) + 0.5) * width_ns, delay_ns, cell.bytes))
        };
        let standing = StandingQueue::new(&cells.iter().filter_map(stands).collect::<Vec<_>>());
        let shift = self.shift();
        let fillers = self.fillers.iter().filter_map(|filler| self.reports.get(filler.place));
        let others = self.bystanders.iter().map(|other| other.report);
        let share_of =
            |report: &QueueReport, passage| standing.share(report.flow, passed(passage, shift), bytes_per_ns);
        let passages = fillers.chain(others).zip(self.passages());
        let mut shares: Vec<(FlowShare, Passage<'_>)> =
            passages.map(|(report, passage)| (share_of(report, passage), passage)).collect();
        shares.sort_by(|a, b| b.0.passed_ratio.total_cmp(&a.0.passed_ratio));
        for (largest, passage) in shares.iter_mut().take(DETAILED) {
            largest.over_time = standing.over_time(passed(*passage, shift), bytes_per_ns);
        }
        shares.into_iter().map(|each| each.0).collect()
    }
    /// Delays of bystanders while a queue was present.
    fn delayed_flows(&self, first: &Filler<'_>, delays: &[DelayPoint], threshold_ns: f64) -> DelayedFlows {
        let far = self.far(first);
        let mut ratios: Vec<f64> = Vec::new();
        let bulk = |at_ns: f64| bulk_near(delays, at_ns, threshold_ns);
        let mut while_it_stood = |points: Vec<(f64, f64)>| {
            let ratio = |(at_ns, added): &(f64, f64)| Some((*added, added / bulk(*at_ns)?));
            let seen: Vec<(f64, f64)> = points.iter().filter_map(ratio).collect();
            ratios.extend(seen.iter().map(|seen| seen.1));
            added(seen.iter().map(|seen| seen.0).collect())
        };
        let delayed_flow = |(flow, points): (FlowId, Vec<(f64, f64)>)| {
            let (round_trips, added_p50_ns, added_p95_ns) = while_it_stood(points)?;
            Some(DelayedFlow { flow, round_trips, added_p50_ns, added_p95_ns })
        };
        let mut delayed_flows: Vec<DelayedFlow> =
            self.sparse_flows(far).into_iter().filter_map(delayed_flow).collect();
        delayed_flows.sort_by(|a, b| b.added_p95_ns.total_cmp(&a.added_p95_ns));
        let late = |(route, track): (&Route, &Track)| {
            let met: Vec<Answers> = track.answers().filter(|answers| bulk(answers.at_ns).is_some()).collect();
            let points = met.iter().map(|answers| (answers.at_ns, answers.mean_ns - track.min_ns)).collect();
            let (_, added_p50_ns, added_p95_ns) = while_it_stood(points)?;
            Some(LateProbes {
                ends: route.0,
                kind: route.1,
                answers: met.iter().map(|answers| answers.count).sum(),
                min_ns: track.min_ns,
                max_ns: met.iter().map(|answers| answers.max_ns).fold(0.0, f64::max),
                unanswered: track.unanswered,
                added_p50_ns,
                added_p95_ns,
            })
        };
        let tracks = far.map(|far| self.probes.towards(far)).into_iter().flatten();
        let probes: Vec<LateProbes> = tracks.filter_map(late).collect();
        while_it_stood(self.short.clone());
        let sparse_ratio = (ratios.len() >= MIN_SAMPLES).then(|| percentile(&mut ratios, 0.5)).flatten();
        DelayedFlows { delayed_flows, probes, sparse_ratio }
    }
    /// Delays of flows with little data on their path to `far` and back: time and delay, ns.
    fn sparse_flows(&self, far: Option<Address>) -> Vec<(FlowId, Vec<(f64, f64)>)> {
        let first = self.fillers.first();
        let is_behind = first.is_some_and(|first| matches!(first.location, Location::Leg(Leg::From(_))));
        let sparse = self.bystanders.iter().filter(|other| other.report.bulk.is_none());
        let waits = |other: &Bystander<'_>| {
            let is_far = |end: &End| far.is_some_and(|far| other.report.ends[*end as usize].0 == far);
            let end = [End::A, End::B].into_iter().find(is_far)?;
            let legs = other.report.legs.iter().filter_map(|leg| leg.as_ref().ok());
            // The delay from `far` is direct. A round trip to it includes pauses of its sender.
            let from = legs.into_iter().find(|leg| is_behind && leg.leg == Leg::From(end));
            let points = match from {
                Some(from) => from.over_time.clone(),
                None => {
                    let base_ns = other.report.round_trips[end as usize]?.base_ns;
                    round_trip_curve(other.sampled, end, base_ns)
                }
            };
            Some((other.report.flow, points.iter().map(|point| (point.at_ns, point.mean_ns)).collect()))
        };
        sparse.filter_map(waits).collect()
    }
    /// Address at the other end of the queue, as seen from the capture point.
    fn far(&self, first: &Filler<'_>) -> Option<Address> {
        let end = match first.location {
            Location::Leg(Leg::From(end) | Leg::To(end)) | Location::RoundTrip(end) => end,
        };
        Some(self.reports.get(first.place)?.ends[end as usize].0)
    }
}

/// `dividend / divisor`; 0 if the divisor is unknown.
fn quotient(dividend: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { dividend / divisor } else { 0.0 }
}

/// Adds the traffic of a flow in time order. Most intervals already have a cell.
fn add(cells: &mut BTreeMap<u32, Cell>, passed: impl Iterator<Item = (u32, f64)>) {
    let mut others = Vec::new();
    let mut there = cells.iter_mut().peekable();
    for (index, bytes) in passed {
        while there.next_if(|(at, _)| **at < index).is_some() {}
        match there.peek_mut().filter(|(at, _)| **at == index) {
            Some((_, cell)) => cell.bytes += bytes,
            None => others.push((index, bytes)),
        }
    }
    for (index, bytes) in others {
        cells.entry(index).or_default().bytes += bytes;
    }
}

/// Spreads `bytes` evenly over the cells of a bin that is `2^wider` times as wide. If these are
/// very many (a month next to milliseconds), only cells with other traffic are used; the mean over
/// such a long time says little about any of them.
fn spread(cells: &mut BTreeMap<u32, Cell>, index: u32, wider: u32, bytes: f64) {
    let first = u64::from(index) << wider;
    let times = [first, first + (1 << wider) - 1].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
    let (times, share) = (times[0]..=times[1], bytes / (1_u64 << wider) as f64);
    if wider > MAX_SPREAD {
        cells.range_mut(times).for_each(|(_, cell)| cell.bytes += share);
    } else {
        times.for_each(|at| cells.entry(at).or_default().bytes += share);
    }
}

/// Bytes per interval of width `shift`.
fn passed((bins, own_shift, ratio): (&[Bin], u32, f64), shift: u32) -> impl Iterator<Item = (u32, f64)> {
    bins.iter().map(move |bin| (bin.index >> (shift - own_shift), ratio * bin.sum))
}

/// Smaller one of the bulk delays before and after a time; `None` unless the queue was present at
/// both, because it may just start or end.
fn bulk_near(delays: &[DelayPoint], at_ns: f64, threshold_ns: f64) -> Option<f64> {
    let of =
        |from_ns: f64, to_ns: f64| median(between(delays, from_ns, to_ns).iter().map(|point| point.mean_ns));
    let bulk = of(at_ns - NEAR_NS, at_ns)?.min(of(at_ns, at_ns + NEAR_NS)?);
    (bulk >= threshold_ns && bulk > 0.0).then_some(bulk)
}

/// Delay of several flows in a shared queue at the same time: the median, which excludes flows with
/// lost or delayed responses (of two flows, the longer one). The maximum is the upper quartile of
/// their maxima, because not every flow meets the longest queue in each bin.
fn shared(points: &[DelayPoint]) -> Option<DelayPoint> {
    let at = |share: f64, value: fn(&DelayPoint) -> f64| {
        percentile(&mut points.iter().map(value).collect::<Vec<f64>>(), share)
    };
    Some(DelayPoint {
        at_ns: points.first()?.at_ns,
        min_ns: at(0.5, |point| point.min_ns)?,
        mean_ns: at(0.5, |point| point.mean_ns)?,
        max_ns: at(0.75, |point| point.max_ns)?,
    })
}

/// Delay that all packets exceeded in only two bins until senders react to the first overflow.
/// Hosts delay single packets and ACKs, and a queue that overshoots does so for longer.
fn first_peak(delays: &[DelayPoint], episodes: &[Episode], round_trip_ns: f64) -> f64 {
    let reacted = |first: &Episode| first.to_ns.min(first.from_ns + round_trip_ns) + round_trip_ns;
    let until_ns = episodes.first().map_or(0.0, reacted);
    let mut begin: Vec<f64> = between(delays, 0.0, until_ns).iter().map(|point| point.min_ns).collect();
    begin.sort_by(f64::total_cmp);
    begin.iter().rev().nth(2).or(begin.first()).copied().unwrap_or(0.0)
}

/// Delays from the first overflow on, because slow start hides oscillation. Without an overflow,
/// the first tenth is omitted.
fn settled<'a>(delays: &'a [DelayPoint], episodes: &[Episode]) -> &'a [DelayPoint] {
    let tenth = delays.get(delays.len() / 10).map_or(0.0, |point| point.at_ns);
    let from_ns = episodes.first().map_or(tenth, |episode| episode.to_ns);
    between(delays, from_ns, f64::INFINITY)
}

fn standing(delays: &[DelayPoint]) -> StandingDelay {
    let mut means: Vec<f64> = delays.iter().map(|point| point.mean_ns).collect();
    let mut at = |share| percentile(&mut means, share).unwrap_or(0.0);
    StandingDelay { p5_ns: at(0.05), p50_ns: at(0.5), p90_ns: at(0.9), p95_ns: at(0.95) }
}

fn steps(cells: &BTreeMap<u32, Cell>, width_ns: f64) -> Vec<Step> {
    let step = |(index, cell): (&u32, &Cell)| Step {
        until_ns: (f64::from(*index) + 1.0) * width_ns,
        bytes: cell.bytes,
        delay_ns: cell.delay.map(|delay| delay.min_ns),
    };
    cells.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_flow_does_not_determine_the_delay_of_all() {
        let point =
            |mean_ns: f64| DelayPoint { at_ns: 5.0, min_ns: mean_ns - 1.0, mean_ns, max_ns: mean_ns + 1.0 };
        let rows: [(&[f64], f64, f64); 4] = [
            (&[10.0], 10.0, 11.0),
            (&[10.0, 12.0], 10.0, 13.0),
            (&[10.0, 12.0, 900.0], 12.0, 901.0),
            (&[9.0, 10.0, 10.0, 11.0, 900.0], 10.0, 12.0),
        ];
        for (means, mean_ns, max_ns) in rows {
            let found = shared(&means.iter().map(|mean| point(*mean)).collect::<Vec<_>>()).unwrap();
            assert_eq!((found.mean_ns, found.max_ns), (mean_ns, max_ns), "{means:?}");
        }
        assert_eq!(shared(&[]), None);
    }

    #[test]
    fn flows_outside_the_queue_did_not_bypass_it() {
        // A queue of 100 ms is present from 1 s to 2 s.
        let waited = |ms: u32| if (1000..2000).contains(&ms) { 100e6 } else { 1e6 };
        let point = |ms: u32| {
            let mean_ns = waited(ms);
            DelayPoint { at_ns: f64::from(ms) * 1e6, min_ns: mean_ns, mean_ns, max_ns: mean_ns }
        };
        let delays: Vec<DelayPoint> = (0..3000).step_by(10).map(point).collect();
        let rows = [(500, None), (990, None), (1010, None), (1300, Some(100e6)), (1990, None), (2010, None)];
        for (ms, expected) in rows {
            assert_eq!(bulk_near(&delays, f64::from(ms) * 1e6, 25e6), expected, "{ms} ms");
        }
    }
}
