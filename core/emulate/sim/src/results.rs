//! The results of a simulation.
use crate::sim::Sim;
use crate::unit::{Purpose, Unit};
use crate::{Counted, FlowOutcome, Outcome, QueueOutcome};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_link::LinePosition;
use fathom_run::{
    Fact, Host, Instrument, Interruption, Load, Metric, Note, Phase, PhaseEnd, PhaseKind, Run,
    SCHEMA_VERSION, Series, SeriesKey,
};
use fathom_scenario::{Plan, WorkloadPlan, load_kind, loads};
use fathom_units::{Direction, Time};

impl Sim {
    pub(crate) fn outcome(mut self, plan: &Plan) -> Outcome {
        let end = self.world.now().max(self.course.end);
        self.units.iter_mut().for_each(|living| living.unit.stop(&mut self.world));
        let flows = self.flows();
        let queues = self.queues(plan);
        let counted = self.counted();
        let phases = self.phases();
        let names: Vec<String> = self.workloads.iter().map(|workload| workload.name.clone()).collect();
        let mut series = self.world.probes.series(end);
        series.extend(self.world.timings.series(&names, end));
        series.extend(self.datagram_series(&names));
        series.extend(self.video_series(&names, end));
        let mut digest = self.world.digest;
        let facts = facts(plan, &self.workloads);
        let (notes, packets, is_stopped) = (self.notes, self.world.delivered, self.is_stopped);
        series.extend(self.record.into_series());
        let values = series.iter().flat_map(|series| &series.values).map(|value| value.to_bits());
        values.chain(flows.iter().map(|flow| flow.delivered_bytes)).for_each(|value| digest.add(value));
        let mut run = run(plan, facts, phases, series, notes);
        if is_stopped {
            run.partial = Some(Interruption::Stopped);
            run.phases.iter_mut().next_back().into_iter().for_each(|last| last.end = PhaseEnd::Aborted);
        }
        let queue_log = self.world.net.log_until_empty();
        Outcome { run, queues, flows, digest: digest.0, packets, counted, queue_log }
    }

    fn flows(&self) -> Vec<FlowOutcome> {
        let workload_of = |unit: u32| self.units[unit as usize].me.workload;
        let flows = self.world.flows.iter().enumerate();
        let outcome = flows.map(|(number, flow)| FlowOutcome {
            workload: self.workloads[workload_of(flow.unit) as usize].name.clone(),
            direction: flow.direction,
            delivered_bytes: flow.total.delivered_bytes,
            sent_packets: flow.total.sent_packets,
            delivered_packets: flow.total.delivered_packets,
            retransmits: flow.retransmits(),
            dropped_packets: self.world.net.watch.dropped[number],
            marked_packets: self.world.net.watch.marked[number],
            opened: flow.opened,
            closed: flow.total.closed,
            mean_delay: flow.mean_delay(),
        });
        outcome.collect()
    }
    fn queues(&self, plan: &Plan) -> Vec<QueueOutcome> {
        let of = |hop: usize, name: &str, direction: Direction| QueueOutcome {
            hop: name.to_owned(),
            direction,
            stats: *self.world.net.line.bottleneck(LinePosition { hop, direction }).stats(),
        };
        let hops = plan.line.hops.iter().enumerate();
        hops.flat_map(|(hop, named)| Direction::BOTH.map(|direction| of(hop, &named.name, direction)))
            .collect()
    }
    fn counted(&self) -> Counted {
        let (net, inside) = (&self.world.net, self.world.net.watch.counted);
        Counted {
            events: self.events,
            entered: net.entered,
            delivered: self.world.delivered,
            dropped: inside.dropped,
            lost: inside.lost,
            duplicated: inside.duplicated,
            on_the_line: net.on_the_line(),
        }
    }
    fn phases(&self) -> Vec<Phase> {
        let course = self.course;
        let loaded = if self.workloads.is_empty() {
            phase(PhaseKind::Idle, course.load, course.drain, None)
        } else {
            phase(load_kind(&self.workloads), course.load, course.drain, Some(self.load()))
        };
        let idle = phase(PhaseKind::Idle, Time::ZERO, course.load, None);
        let all = [idle, loaded, phase(PhaseKind::Drain, course.drain, course.end, None)];
        all.into_iter().filter(|part| part.start_ns < part.end_ns).collect()
    }
    fn load(&self) -> Load {
        let loads = loads(&self.workloads);
        let load_workloads =
            || self.workloads.iter().zip(&loads).filter(|(_, load)| **load).map(|(workload, _)| workload);
        let flows = |direction| load_workloads().map(|workload| workload.concurrent(direction)).sum();
        let delivered = |direction| {
            let of = self.world.flows.iter().filter(|flow| {
                flow.direction == direction && loads[self.units[flow.unit as usize].me.workload as usize]
            });
            of.map(|flow| flow.total.delivered_bytes).sum()
        };
        let mut controls: Vec<&str> = load_workloads()
            .filter(|workload| workload.is_tcp())
            .map(|workload| workload.transport.congestion_control.as_str())
            .collect();
        controls.sort_unstable();
        controls.dedup();
        Load {
            flows_up: flows(Direction::Up),
            flows_down: flows(Direction::Down),
            congestion_control: controls.join(", "),
            delivered_up_bytes: delivered(Direction::Up),
            delivered_down_bytes: delivered(Direction::Down),
        }
    }
    /// Bitrates and stalls of adaptive videos.
    fn video_series(&self, names: &[String], end: Time) -> Vec<Series> {
        let mut all = Vec::new();
        for living in &self.units {
            let Unit::Viewer(viewer) = &living.unit else { continue };
            let (scope, flow) = (names.get(living.me.workload as usize).cloned(), Some(viewer.nth + 1));
            let key = |metric| SeriesKey {
                flow,
                scope: scope.clone(),
                ..SeriesKey::directed(metric, Direction::Down)
            };
            all.extend(
                viewer.playback.series(key, end).into_iter().filter(|series| !series.values.is_empty()),
            );
        }
        all
    }
    /// Delays of cameras, calls and games, and the metrics derived from them.
    fn datagram_series(&self, names: &[String]) -> Vec<Series> {
        let mut all = Vec::new();
        for living in &self.units {
            let Unit::Source(source) = &living.unit else { continue };
            // Numbered within the workload; both directions of a call have the same number.
            let (scope, flow) = (names.get(living.me.workload as usize).cloned(), Some(source.nth + 1));
            let key =
                |metric| SeriesKey { metric, direction: Some(source.direction), flow, scope: scope.clone() };
            if source.log.is_empty() {
                continue;
            }
            all.push(source.log.delays(key(Metric::PacketDelay), self.world.now()));
            match source.purpose {
                Purpose::Call => all.push(source.log.quality(key(Metric::CallMos), &[])),
                Purpose::Game(deadline) => {
                    all.push(source.log.lateness(key(Metric::UpdateLateness)));
                    all.push(source.log.misses(key(Metric::DeadlineMisses), deadline));
                }
                Purpose::Camera | Purpose::Fill => {}
            }
        }
        all
    }
}

fn phase(kind: PhaseKind, start: Time, end: Time, load: Option<Load>) -> Phase {
    Phase { kind, start_ns: start.as_nanos(), end_ns: end.as_nanos(), end: PhaseEnd::TimeLimit, load }
}

fn facts(plan: &Plan, workloads: &[WorkloadPlan]) -> BTreeMap<Fact, String> {
    let queues = plan.line.hops.iter().map(|hop| {
        let rate = |side: &fathom_link::BottleneckParams| {
            side.nominal_rate().map_or("unlimited".to_owned(), |r| r.to_string())
        };
        alloc::format!("{} {}/{}", hop.name, rate(&hop.up), rate(&hop.down))
    });
    let workloads = workloads.iter().map(|workload| alloc::format!("{} x {}", workload.flows, workload.name));
    BTreeMap::from([
        (Fact::Line, queues.collect::<Vec<_>>().join(", ")),
        (Fact::Workloads, workloads.collect::<Vec<_>>().join(", ")),
        (Fact::ProbeInterval, plan.run.sample_every.to_string()),
    ])
}

/// The run record. Fields that need a real host, such as the wall clock, stay empty.
fn run(
    plan: &Plan,
    facts: BTreeMap<Fact, String>,
    phases: Vec<Phase>,
    series: Vec<Series>,
    notes: Vec<Note>,
) -> Run {
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: String::new(),
        command: "sim".to_owned(),
        started: String::new(),
        title: plan.name.clone(),
        host: Host::default(),
        facts,
        phases,
        series,
        // Virtual time is never late, and every probe has exact timestamps.
        instrument: Instrument { kernel_timestamp_ratio: 1.0, ..Instrument::default() },
        partial: None,
        capture: None,
        path: None,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes,
    }
}
