//! How long a packet would have waited in one queue at any time.
use fathom_link::{BottleneckParams, TransmitterParams};
use fathom_qdisc::{Spec, TbfQueue};
use fathom_run::{Metric, Run};
use fathom_sim::Wait;
use fathom_units::Direction;

/// How a queue decides what to drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Management {
    /// Drops when the buffer is full.
    TailDrop,
    /// The same, but the oldest packets.
    HeadDrop,
    /// Drops before the buffer is full.
    Aqm,
    /// An AQM with a queue per flow.
    FairAqm,
    /// Drops without queueing.
    Policer,
}

/// A policer holds at most this many bytes.
const POLICER_BYTES: u64 = 2 * 1514;

/// A larger bucket makes the rate vary.
const BURST_BYTES: u64 = 20 * 1514;

/// One queue of a line.
pub(crate) struct Queue {
    pub(crate) hop: String,
    pub(crate) direction: Direction,
    pub(crate) management: Management,
    /// Bits of IP packets of full size per second; `None` if the queue is never the slowest part.
    pub(crate) ip_rate: Option<f64>,
    /// The rate is constant, so capacity is known.
    pub(crate) is_steady: bool,
    /// Whether a FIFO counts packets, not bytes or time; `None` if it is no FIFO.
    pub(crate) counts_packets: Option<bool>,
    /// A FIFO with tail drop. In other queues the delay of a packet depends on its flow or on an
    /// AQM, so only real probes show the delay of probes.
    pub(crate) is_plain: bool,
    /// `points` are samples of the backlog instead of packets.
    is_sampled: bool,
    points: Vec<Point>,
    /// Packets of all flows, in the order in which they left.
    departures: Vec<Departure>,
    /// Cumulative drops.
    drops: Vec<(f64, f64)>,
}

/// State of the queue from a packet's arrival on.
#[derive(Clone, Copy, Debug)]
struct Point {
    at_s: f64,
    wait_s: f64,
    /// Transmission of the packet itself.
    service_s: f64,
}

/// A packet that left the queue.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at_s: f64,
    arrived_s: f64,
    /// IP bytes of all packets that left until then.
    left_bytes: u64,
}

/// Time over which the rate of a link is taken, in s, and its least number of full packets.
const RATE_WINDOW_S: f64 = 0.5;
const RATE_WINDOW_PACKETS: f64 = 40.0;
/// Interval at which the wait is looked at for its mean, s.
const MEAN_EVERY_S: f64 = 0.01;
/// Share of that time in which packets must have waited.
const BUSY: f64 = 0.95;

/// Share of the links' bits that IP packets of full size have.
const IP_SHARE: f64 = 1500.0 / 1514.0;

impl Queue {
    pub(crate) fn new(
        hop: &str,
        direction: Direction,
        params: &BottleneckParams,
        waits: &[Wait],
        run: &Run,
    ) -> Self {
        let (management, shaper) = management(&params.queue);
        let link = params.nominal_rate().map(|rate| rate.as_bits_per_second() as f64);
        let rate = [link, shaper].into_iter().flatten().reduce(f64::min);
        let is_queue_per_flow = matches!(management, Management::FairAqm | Management::Policer);
        let overhead = params.overhead.get() as f64;
        let mut points: Vec<Point> = waits
            .iter()
            .filter(|wait| !is_queue_per_flow || wait.is_udp_probe)
            .map(|wait| {
                let wait_s = wait.sojourn.as_secs_f64();
                // A packet that waited for the tokens of a shaper leaves as soon as it has them.
                let has_tokens = shaper.is_some() && wait_s > 0.0;
                let service_s = link.filter(|_| !has_tokens && !is_queue_per_flow);
                let service_s =
                    service_s.map_or(0.0, |bits| (f64::from(wait.ip_bytes) + overhead) * 8.0 / bits);
                Point { at_s: wait.arrived.as_secs_f64(), wait_s, service_s }
            })
            .collect();
        points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let departure = |wait: &Wait| {
            let arrived_s = wait.arrived.as_secs_f64();
            let at_s = arrived_s + wait.sojourn.as_secs_f64();
            Departure { at_s, arrived_s, left_bytes: wait.left_bytes }
        };
        let mut departures: Vec<Departure> = waits.iter().map(departure).collect();
        departures.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        if let Some(rate) = rate.filter(|_| !is_queue_per_flow && waits.is_empty()) {
            points = sampled(run, hop, direction, rate);
        }
        Queue {
            hop: hop.to_owned(),
            direction,
            management,
            ip_rate: rate.map(|rate| rate * IP_SHARE),
            is_steady: matches!(params.transmitter, TransmitterParams::Fixed(_)) && !has_burst(&params.queue),
            counts_packets: counts_packets(&params.queue),
            is_plain: matches!(management, Management::TailDrop | Management::HeadDrop)
                || (waits.is_empty() && management == Management::Aqm),
            is_sampled: waits.is_empty(),
            points,
            departures,
            drops: samples(run, Metric::QueueDrops, hop, direction),
        }
    }
    /// The wait of a small packet that arrives at `at_s`.
    ///
    /// The queue drains until the next packet arrives. Between samples, its length is interpolated.
    pub(crate) fn wait_at(&self, at_s: f64) -> f64 {
        let after = self.points.partition_point(|point| point.at_s <= at_s);
        let Some(point) = after.checked_sub(1).and_then(|i| self.points.get(i)) else { return 0.0 };
        if self.is_sampled {
            let next = self.points.get(after).unwrap_or(point);
            let share = (at_s - point.at_s) / (next.at_s - point.at_s).max(1e-9);
            return point.wait_s + share.min(1.0) * (next.wait_s - point.wait_s);
        }
        (point.wait_s + point.service_s - (at_s - point.at_s)).max(0.0)
    }
    /// The longest wait of a packet that arrived within a time span.
    pub(crate) fn longest_s(&self, from_s: f64, to_s: f64) -> f64 {
        let within = self.points.iter().filter(|point| (from_s..to_s).contains(&point.at_s));
        within.map(|point| point.wait_s).fold(0.0, f64::max)
    }
    /// The mean wait of a packet within a time span, each moment counting as much.
    pub(crate) fn mean_s(&self, from_s: f64, to_s: f64) -> f64 {
        let times = (to_s - from_s) / MEAN_EVERY_S;
        let waits = (0..times as u64).map(|n| self.wait_at(from_s + n as f64 * MEAN_EVERY_S));
        waits.sum::<f64>() / times.max(1.0)
    }
    /// Bytes of IP packets of all traffic that left within a time span.
    pub(crate) fn left_bytes(&self, from_s: f64, to_s: f64) -> f64 {
        let until = |at_s: f64| {
            let count = self.departures.partition_point(|departure| departure.at_s <= at_s);
            count.checked_sub(1).map_or(0, |i| self.departures[i].left_bytes)
        };
        until(to_s).saturating_sub(until(from_s)) as f64
    }
    /// Packets dropped within a time span.
    pub(crate) fn dropped(&self, from_s: f64, to_s: f64) -> f64 {
        let until = |at_s: f64| {
            let count = self.drops.partition_point(|(at, _)| *at <= at_s);
            count.checked_sub(1).map_or(0.0, |i| self.drops[i].1)
        };
        until(to_s) - until(from_s)
    }
    /// The longest time within a span in which a packet waited and none left, and when it began.
    pub(crate) fn longest_gap(&self, from_s: f64, to_s: f64) -> Option<(f64, f64)> {
        let gaps = self.departures.windows(2).filter_map(|pair| {
            let [before, after] = *pair else { return None };
            let start = before.at_s.max(after.arrived_s);
            (start >= from_s && start < to_s).then_some((after.at_s - start, start))
        });
        gaps.max_by(|a, b| a.0.total_cmp(&b.0))
    }
    /// Ratio of the 90th to the 10th percentile of the rates within a span while packets waited; 1
    /// if they never waited for long.
    pub(crate) fn rate_ratio(&self, from_s: f64, to_s: f64) -> f64 {
        let rates = self.rates(from_s, to_s, self.rate_window_s());
        spread_ratio(rates.into_iter().flatten().collect())
    }
    /// Time over which a rate is taken, s.
    pub(crate) fn rate_window_s(&self) -> f64 {
        RATE_WINDOW_S.max(self.ip_rate.map_or(0.0, |bits| RATE_WINDOW_PACKETS * 1500.0 * 8.0 / bits))
    }
    /// Rate of the link in each window of a span, bytes/s; `None` where packets did not wait for it
    /// nearly all of the time.
    pub(crate) fn rates(&self, from_s: f64, to_s: f64, window_s: f64) -> Vec<Option<f64>> {
        let mut windows = vec![(0.0, 0.0); ((to_s - from_s) / window_s) as usize];
        for pair in self.departures.windows(2) {
            let [before, after] = *pair else { continue };
            // The later packet waited until the earlier one had left, so the link was busy.
            if after.arrived_s > before.at_s {
                continue;
            }
            let all_s = (after.at_s - before.at_s).max(1e-12);
            let bytes = after.left_bytes.saturating_sub(before.left_bytes) as f64;
            let mut start_s = before.at_s;
            while start_s < after.at_s {
                let place = ((start_s - from_s) / window_s).floor();
                let end_s = (from_s + (place + 1.0) * window_s).min(after.at_s).max(start_s + 1e-9);
                if let Some((busy_s, sent)) = windows.get_mut(place as usize).filter(|_| place >= 0.0) {
                    *busy_s += end_s - start_s;
                    *sent += bytes * (end_s - start_s) / all_s;
                }
                start_s = end_s;
            }
        }
        let rate = |(busy_s, sent): (f64, f64)| (busy_s >= BUSY * window_s).then_some(sent / busy_s);
        windows.into_iter().map(rate).collect()
    }
}

/// Ratio of the 90th to the 10th percentile; 1 without values.
pub(crate) fn spread_ratio(mut rates: Vec<f64>) -> f64 {
    let [p10, p90] = [0.1, 0.9].map(|p| fathom_stats::percentile(&mut rates, p));
    p10.zip(p90).map_or(1.0, |(p10, p90)| p90 / p10.max(1.0))
}

fn counts_packets(spec: &Spec) -> Option<bool> {
    match spec {
        Spec::Fifo(params) => Some(matches!(params.limit, fathom_qdisc::Limit::Packets(_))),
        Spec::Tbf(params) => match &params.queue {
            TbfQueue::Limit(_) => Some(false),
            TbfQueue::Child(child) => counts_packets(child),
        },
        _ => None,
    }
}

/// A token bucket that lets a noticeable burst pass at the rate of the link.
fn has_burst(spec: &Spec) -> bool {
    matches!(spec, Spec::Tbf(params) if params.burst.get() > BURST_BYTES)
}

/// The management of a queue, and the rate of its shaper in bit/s.
fn management(spec: &Spec) -> (Management, Option<f64>) {
    let bits = |rate: &fathom_units::Rate| rate.as_bits_per_second() as f64;
    match spec {
        Spec::Fifo(params) => match (params.limit, params.drop_from) {
            (fathom_qdisc::Limit::Sojourn(_), _) | (_, fathom_qdisc::DropFrom::Head) => {
                (Management::HeadDrop, None)
            }
            _ => (Management::TailDrop, None),
        },
        Spec::Tbf(params) => {
            let management = match &params.queue {
                TbfQueue::Limit(limit) if limit.get() <= POLICER_BYTES => Management::Policer,
                TbfQueue::Limit(_) => Management::TailDrop,
                TbfQueue::Child(child) => management(child).0,
            };
            (management, Some(bits(&params.rate)))
        }
        Spec::Cake(params) => (Management::FairAqm, params.rate.as_ref().map(bits)),
        Spec::Codel(_)
        | Spec::Pie(_)
        | Spec::Red(_)
        | Spec::Blue(_)
        | Spec::Sfb(_)
        | Spec::Ebdp(_)
        | Spec::DualPi2(_)
        | Spec::Astar(_) => (Management::Aqm, None),
        _ => (Management::FairAqm, None),
    }
}

/// Samples of a series of this queue, as times and values.
fn samples(run: &Run, metric: Metric, hop: &str, direction: Direction) -> Vec<(f64, f64)> {
    let series = run.series.iter().find(|series| {
        let key = &series.key;
        key.metric == metric && key.direction == Some(direction) && key.scope.as_deref() == Some(hop)
    });
    let observed = series.into_iter().flat_map(|series| series.iter());
    observed.filter_map(|o| Some((o.at.as_secs_f64(), o.value.observed()?))).collect()
}

/// Without a log, the wait is the backlog over the rate.
fn sampled(run: &Run, hop: &str, direction: Direction, rate: f64) -> Vec<Point> {
    let backlog = samples(run, Metric::Backlog, hop, direction).into_iter();
    backlog.map(|(at_s, bytes)| Point { at_s, wait_s: bytes * 8.0 / rate, service_s: 0.0 }).collect()
}
