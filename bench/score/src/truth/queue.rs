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
    points: Vec<Point>,
    /// Packets of all flows, in the order in which they left.
    departures: Vec<Departure>,
    /// Cumulative drops.
    drops: Vec<(f64, f64)>,
}

/// A queue's parameters and packets.
pub(crate) struct Passage<'a> {
    pub(crate) hop: &'a str,
    pub(crate) direction: Direction,
    pub(crate) params: &'a BottleneckParams,
    /// In the order in which they left.
    pub(crate) waits: &'a [Wait],
    /// The kernel's queues are behind its shaper.
    pub(crate) is_simulated: bool,
    /// The run with the series of drops, if they are known.
    pub(crate) run: Option<&'a Run>,
}

/// Burst of the kernel's shaper (`line.sh`).
const KERNEL_BURST_BYTES: f64 = 1600.0;

/// The token bucket of the kernel's shaper (HTB): a packet leaves while the bucket is not below 0.
#[derive(Default)]
struct Tokens {
    /// When the last packet left, and the tokens after it, both in seconds.
    state: Option<(f64, f64)>,
}

impl Tokens {
    /// Time that the next packet has to wait after one that left at `left_s` and takes `sent_s`. If
    /// that one had waited, it left when the bucket was empty.
    fn debt_s(&mut self, left_s: f64, sent_s: f64, burst_s: f64, has_waited: bool) -> f64 {
        let grown_s = self.state.map_or(burst_s, |(then_s, credit_s)| credit_s + left_s - then_s);
        let credit_s = if has_waited { 0.0 } else { grown_s.min(burst_s) } - sent_s;
        self.state = Some((left_s, credit_s));
        (-credit_s).max(0.0)
    }
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
/// Interval of samples of the wait, for its mean and its percentiles, s.
const WAIT_EVERY_S: f64 = 0.01;
/// Share of that time in which packets must have waited.
const BUSY: f64 = 0.95;

/// Share of the links' bits that IP packets of full size have.
const IP_SHARE: f64 = 1500.0 / 1514.0;

impl Queue {
    pub(crate) fn new(of: &Passage<'_>) -> Self {
        let Passage { hop, direction, params, waits, is_simulated, run } = *of;
        let (management, shaper) = management(&params.queue);
        let link = params.nominal_rate().map(|rate| rate.as_bits_per_second() as f64);
        let rate = [link, shaper].into_iter().flatten().reduce(f64::min);
        let is_queue_per_flow = matches!(management, Management::FairAqm | Management::Policer);
        let sent_s =
            |wait: &Wait, bits: f64| (f64::from(wait.ip_bytes) + params.overhead.get() as f64) * 8.0 / bits;
        let mut tokens = Tokens::default();
        let mut points: Vec<Point> = waits
            .iter()
            .map(|wait| {
                let (at_s, wait_s) = (wait.arrived.as_secs_f64(), wait.sojourn.as_secs_f64());
                let service_s = match link {
                    Some(bits) if !is_simulated => {
                        let burst_s = KERNEL_BURST_BYTES * 8.0 / bits;
                        tokens.debt_s(at_s + wait_s, sent_s(wait, bits), burst_s, wait_s > 0.0)
                    }
                    // A packet that waited for tokens leaves as soon as the shaper has them.
                    Some(bits) if shaper.is_none() || wait_s == 0.0 => sent_s(wait, bits),
                    _ => 0.0,
                };
                Point { at_s, wait_s, service_s: if is_queue_per_flow { 0.0 } else { service_s } }
            })
            .collect();
        if is_queue_per_flow {
            let mut probes = waits.iter().map(|wait| wait.is_udp_probe);
            points.retain(|_| probes.next().unwrap_or(false));
        }
        points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let departure = |wait: &Wait| {
            let arrived_s = wait.arrived.as_secs_f64();
            let at_s = arrived_s + wait.sojourn.as_secs_f64();
            Departure { at_s, arrived_s, left_bytes: wait.left_bytes }
        };
        let mut departures: Vec<Departure> = waits.iter().map(departure).collect();
        departures.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        Queue {
            hop: hop.to_owned(),
            direction,
            management,
            ip_rate: rate.map(|rate| rate * IP_SHARE),
            is_steady: matches!(params.transmitter, TransmitterParams::Fixed(_)) && !has_burst(&params.queue),
            counts_packets: counts_packets(&params.queue),
            is_plain: matches!(management, Management::TailDrop | Management::HeadDrop)
                || (!is_simulated && management == Management::Aqm),
            points,
            departures,
            drops: run.map_or(Vec::new(), |run| samples(run, Metric::QueueDrops, hop, direction)),
        }
    }
    /// The wait of a small packet that arrives at `at_s`.
    ///
    /// The queue drains until the next packet arrives.
    pub(crate) fn wait_at(&self, at_s: f64) -> f64 {
        let after = self.points.partition_point(|point| point.at_s <= at_s);
        let Some(point) = after.checked_sub(1).and_then(|i| self.points.get(i)) else { return 0.0 };
        (point.wait_s + point.service_s - (at_s - point.at_s)).max(0.0)
    }
    /// The longest wait of a packet that arrived within a time span.
    pub(crate) fn longest_s(&self, from_s: f64, to_s: f64) -> f64 {
        let within = self.points.iter().filter(|point| (from_s..to_s).contains(&point.at_s));
        within.map(|point| point.wait_s).fold(0.0, f64::max)
    }
    /// The mean wait of a packet within a time span, each moment counting as much.
    pub(crate) fn mean_s(&self, from_s: f64, to_s: f64) -> f64 {
        let waits_s = self.waits_s(from_s, to_s);
        waits_s.iter().sum::<f64>() / (waits_s.len() as f64).max(1.0)
    }
    /// The wait of a packet at regular times within a time span.
    pub(crate) fn waits_s(&self, from_s: f64, to_s: f64) -> Vec<f64> {
        let times = (to_s - from_s) / WAIT_EVERY_S;
        (0..times as u64).map(|n| self.wait_at(from_s + n as f64 * WAIT_EVERY_S)).collect()
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

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn what_a_shaper_owes() {
        // A packet takes 1 s, and the bucket holds 1.25 s.
        let mut tokens = Tokens::default();
        let mut after = |left_s, has_waited| tokens.debt_s(left_s, 1.0, 1.25, has_waited);
        assert_eq!([after(10.0, false), after(10.0, false)], [0.0, 0.75]);
        assert_eq!(after(10.75, true), 1.0);
        // After a pause the bucket is full again.
        assert_eq!([after(20.0, false), after(20.5, false)], [0.0, 0.25]);
        // Others that were not captured took tokens, so this one waited.
        assert_eq!(after(30.0, true), 1.0);
    }
}
