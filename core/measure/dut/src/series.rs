//! Pings and load over time, as series of a run.
use crate::{Record, StreamRecord};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_run::{
    Load, Metric, Observation, Phase, PhaseEnd, PhaseKind, PortTestKind, Series, SeriesKey, Value,
};
use fathom_units::{Direction, Time};

/// Interval of throughput and loss.
const INTERVAL_NS: u64 = 100_000_000;

/// The series and phases so far.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Collected {
    /// Round trips and one-way delays of pings; loss and goodput of the overload.
    pub(crate) series: [Series; 4],
    pub(crate) phases: Vec<Phase>,
}

impl Default for Collected {
    fn default() -> Self {
        let directed = |metric| Series::new(SeriesKey::directed(metric, Direction::Up));
        let round_trips = Series::new(SeriesKey::of(Metric::UdpRtt));
        let [one_way, loss, goodput] = [Metric::OneWayDelay, Metric::LoadLoss, Metric::Goodput].map(directed);
        Collected { series: [round_trips, one_way, loss, goodput], phases: Vec::new() }
    }
}

impl Collected {
    pub(crate) fn add(&mut self, kind: PortTestKind, record: &Record) {
        if let Some(pings) = record.streams.iter().find(|stream| stream.plan.is_ping()) {
            self.add_pings(pings, record.end_ns);
        }
        match kind {
            PortTestKind::Idle => self.phase(PhaseKind::Idle, [first_ns(record), record.end_ns], None),
            PortTestKind::Overload => {
                let load = self.add_load(record);
                self.phase(PhaseKind::Up, [first_ns(record), record.load_end_ns + 1], Some(load));
                self.phase(
                    PhaseKind::Drain,
                    [record.load_end_ns + 1, record.end_ns.max(record.load_end_ns + 1)],
                    None,
                );
            }
            _ => {}
        }
    }
    fn phase(&mut self, kind: PhaseKind, [start_ns, end_ns]: [u64; 2], load: Option<Load>) {
        self.phases.push(Phase { kind, start_ns, end_ns, end: PhaseEnd::Settled, load });
    }
    fn add_pings(&mut self, pings: &StreamRecord, end_ns: u64) {
        for (number, sent, received) in pings.frames() {
            let lost = Value::Censored { at_least: end_ns.saturating_sub(sent) as f64 / 1e9 };
            let one_way = received.map(|at| (at - sent) as f64 / 1e9);
            let back = pings.returned_ns.get(number as usize).copied().flatten();
            let both = one_way.zip(back).map(|(there, back)| there + back as f64 / 1e9);
            for (series, value) in self.series.iter_mut().zip([both, one_way]) {
                let value = value.map_or(lost, Value::Observed);
                series.push(Observation { at: Time::from_nanos(sent), value });
            }
        }
    }
    fn add_load(&mut self, record: &Record) -> Load {
        let loads = || record.streams.iter().filter(|stream| !stream.plan.is_ping());
        // By interval: frames sent and lost, and bytes that arrived.
        let mut sent: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
        let mut arrived: BTreeMap<u64, u64> = BTreeMap::new();
        for stream in loads() {
            for (_, at, received) in stream.load() {
                let counts = sent.entry(at / INTERVAL_NS).or_default();
                *counts = [counts[0] + 1, counts[1] + u64::from(received.is_none())];
                if let Some(received) = received {
                    *arrived.entry(received / INTERVAL_NS).or_default() +=
                        u64::from(stream.plan.payload_bytes);
                }
            }
        }
        let end = |number: u64| Time::from_nanos((number + 1) * INTERVAL_NS);
        let [_, _, loss, goodput] = &mut self.series;
        for (number, [all, lost]) in &sent {
            let value = Value::Observed(*lost as f64 / *all as f64);
            loss.push(Observation { at: end(*number), value });
        }
        for (number, bytes) in &arrived {
            let value = Value::Observed(8e9 * *bytes as f64 / INTERVAL_NS as f64);
            goodput.push(Observation { at: end(*number), value });
        }
        Load {
            flows_up: loads().count() as u32,
            congestion_control: "-".to_string(),
            delivered_up_bytes: arrived.values().sum(),
            ..Load::default()
        }
    }
}

fn first_ns(record: &Record) -> u64 {
    record.streams.iter().flat_map(StreamRecord::frames).map(|(_, sent, _)| sent).min().unwrap_or(0)
}
