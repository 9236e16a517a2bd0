//! Collects the data of the run.
use crate::Event;
use fathom_load::{Observations, Observe};
use fathom_os::clock::{Clock, utc_offset_s, wall_now};
use fathom_run::{
    Fact, History, Host, Instrument, Metric, Note, Observation, Phase, PhaseEnd, PhaseKind, Run,
    SCHEMA_VERSION, Series, SeriesKey, UtcOffset, Value,
};
use fathom_units::{Duration, Time, WallTime};
use std::collections::BTreeMap;

/// Collects series, phases and notes, and reports them as events.
pub(crate) struct Record<'a> {
    on_event: &'a mut dyn FnMut(Event),
    series: Observations,
    pub(crate) phases: Vec<Phase>,
    pub(crate) notes: Vec<Note>,
    pub(crate) facts: BTreeMap<Fact, String>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(on_event: &'a mut dyn FnMut(Event)) -> Self {
        let (series, facts) = (Observations::default(), BTreeMap::new());
        Record { on_event, series, phases: Vec::new(), notes: Vec::new(), facts }
    }
    pub(crate) fn event(&mut self, event: Event) {
        (self.on_event)(event);
    }
    /// Reports a value as an event only; its series is added at the end.
    pub(crate) fn show(&mut self, key: SeriesKey, observation: Observation) {
        self.event(Event::Observed { key, observation });
    }
    pub(crate) fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note.clone());
            self.event(Event::Note(note));
        }
    }
    pub(crate) fn fact(&mut self, fact: Fact, value: impl ToString) {
        self.facts.insert(fact, value.to_string());
    }
    /// Adds complete series; series without observations and failures are skipped.
    pub(crate) fn add(&mut self, series: impl IntoIterator<Item = Series>) {
        self.series.add(series);
    }
    /// Returns all series, without those reported as events only.
    pub(crate) fn take_series(&mut self) -> Vec<Series> {
        self.series.take()
    }
}

/// Whether any delay or rate was observed of the server or the line. CPU load, the resolver and the
/// routers before the server are no measurement of them.
pub(crate) fn holds_something(series: &[Series]) -> bool {
    let is_other = |m: Metric| {
        matches!(
            m,
            Metric::CpuBusy
                | Metric::CpuSteal
                | Metric::DnsRtt
                | Metric::GatewayRtt
                | Metric::HopRtt
                | Metric::HopEcho
                | Metric::HopFlowRtt
                | Metric::HopReturnRtt
                | Metric::HopReturnFlowRtt
                | Metric::HostQueue
        )
    };
    series.iter().any(|s| !is_other(s.key.metric) && s.values.len() > s.censored.len())
}

impl Observe for Record<'_> {
    fn observe(&mut self, key: SeriesKey, at: Time, value: f64) {
        self.series.observe(key.clone(), at, value);
        self.show(key, Observation { at, value: Value::Observed(value) });
    }
}

/// Probes without load of our own.
pub(crate) struct Unloaded {
    pub(crate) command: &'static str,
    pub(crate) title: String,
    pub(crate) target: String,
    pub(crate) address: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) interval: Duration,
}

impl Unloaded {
    /// Their run until now, without series: a period with an unknown load.
    pub(crate) fn run(self) -> Run {
        let end = self.clock.now();
        let started = WallTime(wall_now().0.saturating_sub(end.as_nanos()));
        let mut facts = BTreeMap::from([(Fact::ProbeInterval, self.interval.to_string())]);
        facts.insert(Fact::Server, self.target.clone());
        facts.extend(self.address.map(|address| (Fact::Address, address)));
        let offset = UtcOffset { since_s: started.0 / 1_000_000_000, offset_s: utc_offset_s(started) };
        Run {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.command.to_owned(),
            started: started.to_string(),
            title: self.title,
            host: host(),
            facts,
            phases: vec![Phase {
                kind: PhaseKind::Watch,
                start_ns: 0,
                end_ns: end.as_nanos(),
                end: PhaseEnd::TimeLimit,
                load: None,
            }],
            series: Vec::new(),
            instrument: Instrument::default(),
            partial: None,
            capture: None,
            path: None,
            history: Some(History {
                target: self.target,
                utc_offsets: vec![offset],
                path_changes_ns: Vec::new(),
            }),
            bursts: Vec::new(),
            switch: None,
            host_traffic: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// This host, for the record of a run.
pub fn host() -> Host {
    let kernel = fathom_os::names::kernel();
    let cpus = std::thread::available_parallelism().map_or(0, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    Host { kernel, cpus }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_routers_alone_are_no_measurement() {
        let with = |metric| {
            let mut series = Series::new(SeriesKey::of(metric));
            series.push(Observation { at: Time::ZERO, value: Value::Observed(0.01) });
            series
        };
        assert!(!holds_something(&[with(Metric::HopRtt), with(Metric::GatewayRtt), with(Metric::CpuBusy)]));
        assert!(holds_something(&[with(Metric::HopRtt), with(Metric::UdpRtt)]));
    }
}
