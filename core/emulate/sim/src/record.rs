//! Records the series of a run: samples of queues, goodput and senders.
use crate::flow::{Ends, Flow};
use crate::net::Net;
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_scenario::{LinePlan, QueueSeries};
use fathom_units::{Duration, PerDirection, Time};

/// All samples.
pub(crate) struct Record {
    queues: Vec<QueueSeries>,
    goodput: PerDirection<Goodput>,
    flows: Vec<FlowSeries>,
    /// Only this many flows have their own series.
    max_flows: usize,
    /// Which workloads, by number, count as load.
    loads: Vec<bool>,
    interval: Duration,
}

/// The load flows of a direction together.
struct Goodput {
    series: Series,
    before: u64,
}

/// One load flow.
struct FlowSeries {
    before: u64,
    goodput: Series,
    rtt: Series,
    cwnd: Series,
    retransmits: Series,
}

impl Record {
    pub(crate) fn new(plan: &LinePlan, loads: Vec<bool>, max_flows: usize, interval: Duration) -> Self {
        let goodput = PerDirection::from_fn(|direction| Goodput {
            series: Series::new(SeriesKey::directed(Metric::Goodput, direction)),
            before: 0,
        });
        let queues = QueueSeries::of_line(plan);
        Record { queues, goodput, flows: Vec::new(), max_flows, loads, interval }
    }

    /// Takes a sample. Goodput includes only load, so without load it is omitted.
    pub(crate) fn sample(
        &mut self,
        net: &mut Net,
        flows: &[Flow],
        workload_of: impl Fn(&Flow) -> u32,
        in_load: bool,
    ) {
        let now = net.now;
        for queue in &mut self.queues {
            let longest = net.watch.take_longest(queue.position());
            queue.sample(net.line.bottleneck(queue.position()), longest, now);
        }
        self.sample_goodput(flows, &workload_of, now, in_load);
        if !in_load {
            return;
        }
        for (number, flow) in flows.iter().enumerate().take(self.max_flows) {
            if number == self.flows.len() {
                self.flows.push(FlowSeries::new(number, flow));
            }
            let series = &mut self.flows[number];
            if !matches!(flow.ends, Ends::Closed) && self.loads[workload_of(flow) as usize] {
                series.sample(flow, now, self.interval);
            }
        }
    }
    fn sample_goodput(
        &mut self,
        flows: &[Flow],
        workload_of: &impl Fn(&Flow) -> u32,
        now: Time,
        in_load: bool,
    ) {
        let mut totals = PerDirection::<u64>::default();
        for flow in flows.iter().filter(|flow| self.loads[workload_of(flow) as usize]) {
            totals[flow.direction] += flow.total.delivered_bytes;
        }
        for (_, (goodput, delivered)) in self.goodput.as_mut().zip(totals) {
            let more = delivered - goodput.before;
            goodput.before = delivered;
            if in_load && delivered > 0 {
                observe(&mut goodput.series, rate(more, self.interval), now);
            }
        }
    }
    /// All non-empty series.
    pub(crate) fn into_series(self) -> Vec<Series> {
        let queues = self.queues.into_iter().flat_map(QueueSeries::into_series);
        let flows = self.flows.into_iter().flat_map(|f| [f.goodput, f.rtt, f.cwnd, f.retransmits]);
        let together = self.goodput.into_iter().map(|(_, goodput)| goodput.series);
        together.chain(flows).filter(|series| !series.values.is_empty()).chain(queues).collect()
    }
}

fn rate(bytes: u64, interval: Duration) -> f64 {
    bytes as f64 * 8.0 / interval.as_secs_f64()
}

fn observe(series: &mut Series, value: f64, at: Time) {
    series.push(Observation { at, value: Value::Observed(value) });
}

impl FlowSeries {
    fn new(number: usize, flow: &Flow) -> Self {
        let series = |metric| {
            // Flows are numbered from 1, as in `fathom test`.
            let flow_number = Some(number as u32 + 1);
            Series::new(SeriesKey { flow: flow_number, ..SeriesKey::directed(metric, flow.direction) })
        };
        FlowSeries {
            before: 0,
            goodput: series(Metric::Goodput),
            rtt: series(Metric::FlowRtt),
            cwnd: series(Metric::FlowCwnd),
            retransmits: series(Metric::FlowRetransmits),
        }
    }
    fn sample(&mut self, flow: &Flow, now: Time, interval: Duration) {
        let delivered = flow.total.delivered_bytes;
        observe(&mut self.goodput, rate(delivered - self.before, interval), now);
        self.before = delivered;
        let Ends::Tcp(tcp) = &flow.ends else { return };
        if let Some(srtt) = tcp.sender.srtt() {
            observe(&mut self.rtt, srtt.as_secs_f64(), now);
        }
        let cwnd = u64::from(tcp.sender.window().cwnd) * u64::from(tcp.sender.mss());
        observe(&mut self.cwnd, cwnd as f64, now);
        observe(&mut self.retransmits, tcp.sender.retransmits() as f64, now);
    }
}
