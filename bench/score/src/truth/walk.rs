//! Sends virtual probes through the queues of a line.
use super::Queue;
use crate::measure::Measured;
use fathom_run::{Metric, Run, SeriesKey};
use fathom_units::{Direction, PerDirection, Time};
use std::collections::{BTreeMap, BTreeSet};

/// IP length of a probe: 64 bytes in UDP.
const PROBE_BYTES: f64 = 92.0;

/// If more probes are lost, the answered ones are not representative.
const MAX_LOST: f64 = 0.01;

/// A probe, and how long it waited in queues.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    pub(super) sent_s: f64,
    pub(super) delays_s: PerDirection<f64>,
}

impl Probe {
    pub(super) fn round_trip_s(&self) -> f64 {
        self.delays_s.up + self.delays_s.down
    }
}

/// Where probes go.
pub(super) struct Walk<'a> {
    /// Queues in order, with the time from one to the next.
    stages: Vec<(&'a Queue, f64)>,
    /// The probes that were really sent.
    real: Vec<Probe>,
    /// When those that were lost were sent.
    lost_s: Vec<f64>,
    /// All queues are FIFOs with tail drop, so virtual probes show the delay of any packet.
    is_virtual: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(measured: &Measured, queues: &'a [Queue]) -> Self {
        let hops = &measured.plan.line.hops;
        let mut stages: Vec<(&Queue, f64)> = Vec::new();
        let there = (0..hops.len()).map(|hop| (hop, Direction::Up));
        for (hop, direction) in there.chain((0..hops.len()).rev().map(|hop| (hop, Direction::Down))) {
            let side = if direction == Direction::Up { &hops[hop].up } else { &hops[hop].down };
            let queue = &queues[2 * hop + direction.index()];
            let rate = side.nominal_rate().map_or(f64::INFINITY, |rate| rate.as_bits_per_second() as f64);
            let bits = 8.0 * (PROBE_BYTES + side.overhead.get() as f64);
            // The kernel's shapers have tokens for a probe when nothing is queued.
            let sent_s = if measured.is_simulated() { bits / rate } else { 0.0 };
            stages.push((queue, sent_s + side.delay.as_secs_f64()));
        }
        let is_virtual = queues.iter().all(|queue| queue.is_plain);
        let (real, lost_s) = real_probes(&measured.run, &stages);
        let mut walk = Walk { stages, real, lost_s, is_virtual };
        if let Some(lost) = &measured.lost_probes {
            walk.add_waiting(lost);
        }
        walk
    }
    /// The last probes may wait until after the end of the run: they are not lost.
    fn add_waiting(&mut self, lost_probes: &[Time]) {
        let last_s = self.real.last().map_or(0.0, |probe| probe.sent_s);
        let dropped: BTreeSet<u64> = lost_probes.iter().map(|at| at.as_nanos()).collect();
        let is_dropped = |at_s: &f64| dropped.contains(&((at_s * 1e9).round() as u64));
        let waiting: Vec<f64> =
            self.lost_s.extract_if(.., |at_s| *at_s > last_s && !is_dropped(at_s)).collect();
        let waiting: Vec<Probe> = waiting.into_iter().map(|at_s| self.send(at_s)).collect();
        self.real.extend(waiting);
    }
    /// Probes sent within a time span: one per interval, or those that were really sent.
    pub(super) fn between(&self, from_s: f64, to_s: f64, every_s: f64) -> Vec<Probe> {
        if !self.is_virtual {
            return self.real_between(from_s, to_s);
        }
        let count = ((to_s - from_s) / every_s).max(0.0) as u32;
        (0..count).map(|n| self.send(from_s + f64::from(n) * every_s)).collect()
    }
    fn real_between(&self, from_s: f64, to_s: f64) -> Vec<Probe> {
        self.real.iter().filter(|probe| (from_s..to_s).contains(&probe.sent_s)).copied().collect()
    }
    /// The real probes, if the others are virtual and more than [`MAX_LOST`] of these were lost.
    pub(super) fn real_if_lossy(&self, from_s: f64, to_s: f64) -> Option<Vec<Probe>> {
        let real = self.real_between(from_s, to_s);
        let lost = self.lost_s.iter().filter(|at_s| (from_s..to_s).contains(*at_s)).count();
        (self.is_virtual && lost as f64 > MAX_LOST * real.len() as f64).then_some(real)
    }
    fn send(&self, sent_s: f64) -> Probe {
        let (mut delays_s, mut now) = (PerDirection::default(), sent_s);
        for (queue, further_s) in &self.stages {
            let wait = queue.wait_at(now);
            delays_s[queue.direction] += wait;
            now += wait + further_s;
        }
        Probe { sent_s, delays_s }
    }
}

/// Delays of the UDP probes, less the time that the empty line takes. A lost probe counts with the
/// mean of those around it, as in the diagnosis.
fn real_probes(run: &Run, stages: &[(&Queue, f64)]) -> (Vec<Probe>, Vec<f64>) {
    let empty = PerDirection::from_fn(|direction| -> f64 {
        stages.iter().filter(|(queue, _)| queue.direction == direction).map(|(_, further_s)| further_s).sum()
    });
    let [up, down] = Direction::BOTH.map(|d| arrived(run, d));
    let sent = run.series(&SeriesKey::of(Metric::UdpRtt)).into_iter().flat_map(|series| series.iter());
    let mut probes: Vec<Probe> = Vec::new();
    let (mut lost, mut all_lost) = (Vec::new(), Vec::new());
    for observation in sent {
        let (at_ns, sent_s) = (observation.at.as_nanos(), observation.at.as_secs_f64());
        let Some((up_s, down_s)) = up.get(&at_ns).zip(down.get(&at_ns)) else {
            lost.push(sent_s);
            all_lost.push(sent_s);
            continue;
        };
        let delays_s = PerDirection { up: up_s - empty.up, down: down_s - empty.down }.map(|s| s.max(0.0));
        let before = probes.last().map_or(delays_s, |before| before.delays_s);
        let between = PerDirection::from_fn(|d| f64::midpoint(before[d], delays_s[d]));
        probes.extend(lost.drain(..).map(|at_s| Probe { sent_s: at_s, delays_s: between }));
        probes.push(Probe { sent_s, delays_s });
    }
    (probes, all_lost)
}

/// One-way delays of the probes that arrived, by the time in ns when they were sent.
fn arrived(run: &Run, direction: Direction) -> BTreeMap<u64, f64> {
    let series = run.series(&SeriesKey::directed(Metric::OneWayDelay, direction));
    let delays = series.into_iter().flat_map(|series| series.iter());
    delays.filter_map(|o| Some((o.at.as_nanos(), o.value.observed()?))).collect()
}
