//! What really happened on a path: delays of packets that were never sent, from those of all
//! packets in the queues.
//!
//! A virtual probe starts every millisecond. It waits in each queue as long as a packet would have
//! waited that arrived at the same time, so its delay is what the household feels, and it loads
//! nothing. Where a queue separates flows, or drops what waits, the truth is the exact queueing
//! delay of the probes.
mod queue;
mod walk;

use crate::measure::{Measured, alone};
use fathom_link::{BottleneckParams, TransmitterParams};
use fathom_run::{Phase, PhaseKind, threshold};
use fathom_stats::times_held;
use fathom_units::{Direction, Time};
use queue::spread_ratio;
pub(crate) use queue::{Management, Passage, Queue};
use walk::{Probe, Walk};

/// Interval of virtual probes, s.
const EVERY_S: f64 = 0.001;
/// A line this close to a threshold is not scored, because no measurement is accurate enough.
const BORDERLINE: f64 = 0.1;

/// Whether a difference of [`BORDERLINE`] in the median and the 90th percentile would change the
/// verdict.
pub(crate) fn is_near_threshold(delays_s: [f64; 2]) -> bool {
    let is_bloated = |ratio: f64| {
        let [p50_s, p90_s] = delays_s.map(|delay_s| ratio * delay_s);
        threshold::is_bloated(p50_s, p90_s)
    };
    is_bloated(1.0 + BORDERLINE) != is_bloated(1.0 - BORDERLINE)
}

/// Queueing delays of a phase in seconds, ascending, each with the time in ns that it held.
pub(crate) struct Delays(Vec<(f64, u64)>);

impl Delays {
    fn of<'p>(probes: impl Iterator<Item = &'p Probe>, delay_s: impl Fn(&Probe) -> f64) -> Self {
        let probes: Vec<&Probe> = probes.collect();
        let sent_ns: Vec<u64> = probes.iter().map(|probe| (probe.sent_s * 1e9).round() as u64).collect();
        let mut delays: Vec<(f64, u64)> = probes.into_iter().map(delay_s).zip(times_held(&sent_ns)).collect();
        delays.sort_by(|a, b| a.0.total_cmp(&b.0));
        Delays(delays)
    }
    /// 0 without any.
    pub(crate) fn at(&self, percentile: f64) -> f64 {
        let time = self.0.iter().map(|(_, time)| time).sum();
        fathom_stats::percentile_bin(self.0.iter().copied(), time, percentile).unwrap_or(0.0)
    }
}

/// The truth of one phase.
pub(crate) struct PhaseTruth {
    pub(crate) kind: PhaseKind,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    probes: Vec<Probe>,
    /// The probes that were really sent, if many of them were lost and `probes` are virtual: what
    /// is dropped has no delay, so both are true.
    real: Option<Vec<Probe>>,
}

impl PhaseTruth {
    /// Queueing delays of round trips that started after `from_s`.
    pub(crate) fn round_trip(&self, from_s: f64) -> Delays {
        let later = self.probes.iter().filter(|probe| probe.sent_s >= from_s);
        Delays::of(later, Probe::round_trip_s)
    }
    /// A percentile of the round trips after `from_s`, by virtual and by real probes: the least and
    /// the most.
    pub(crate) fn range(&self, from_s: f64, percentile: f64) -> [f64; 2] {
        let truth = self.round_trip(from_s).at(percentile);
        let real = self.real.as_ref().map_or(truth, |probes| {
            let later = probes.iter().filter(|probe| probe.sent_s >= from_s);
            Delays::of(later, Probe::round_trip_s).at(percentile)
        });
        [truth.min(real), truth.max(real)]
    }
    /// Queueing delays of one direction.
    pub(crate) fn one_way(&self, direction: Direction) -> Delays {
        Delays::of(self.probes.iter(), |probe| probe.delays_s[direction])
    }
    /// Queueing delays of one direction in the second half of the phase.
    pub(crate) fn late(&self, direction: Direction) -> Delays {
        let late = self.probes.iter().filter(|probe| probe.sent_s >= self.middle_s());
        Delays::of(late, |probe| probe.delays_s[direction])
    }
    /// Bits per second of all traffic that left a queue in the second half of the phase.
    pub(crate) fn late_rate(&self, queue: &Queue) -> f64 {
        let from_s = self.middle_s();
        8.0 * queue.left_bytes(from_s, self.to_s) / (self.to_s - from_s).max(1e-3)
    }
    /// The middle of the phase: after it, the start of the load is over.
    fn middle_s(&self) -> f64 {
        f64::midpoint(self.from_s, self.to_s)
    }
}

pub(crate) struct Truth {
    pub(crate) queues: Vec<Queue>,
    pub(crate) idle_p50_s: f64,
    /// Packets waited for so long without the load that the line would be called bloated.
    pub(crate) is_idle_bloated: bool,
    /// Phases with load.
    pub(crate) loaded: Vec<PhaseTruth>,
    /// When the probes that were dropped or lost were sent, s; unknown with the kernel.
    pub(crate) lost_probes: Option<Vec<f64>>,
    /// A link of the line is a radio link.
    pub(crate) has_radio: bool,
    /// How long packets may be held back.
    pub(crate) reorder_s: f64,
    /// Virtual probes of the whole run: when they were sent, and their queueing delay.
    pub(crate) timeline: Vec<(f64, f64)>,
}

impl Truth {
    pub(crate) fn of(measured: &Measured) -> Self {
        let Measured { plan, run, .. } = measured;
        let mut queues = Vec::new();
        for (number, hop) in plan.line.hops.iter().enumerate() {
            for direction in Direction::BOTH {
                queues.push(Queue::new(&Passage {
                    hop: &hop.name,
                    direction,
                    params: if direction == Direction::Up { &hop.up } else { &hop.down },
                    waits: measured.waits.get(2 * number + direction.index()).map_or(&[], Vec::as_slice),
                    is_simulated: measured.is_simulated(),
                    run: Some(run),
                }));
            }
        }
        let walk = Walk::new(measured, &queues);
        let idle = run.phases.iter().find(|phase| phase.kind == PhaseKind::Idle);
        let idle = idle.map(|phase| phase_truth(&walk, phase).round_trip(0.0));
        let idle_p50_s = idle.as_ref().map_or(0.0, |delays| delays.at(0.5));
        let is_idle_bloated =
            idle.is_some_and(|delays| threshold::is_bloated(delays.at(0.5), delays.at(0.9)));
        let loaded: Vec<PhaseTruth> =
            run.phases.iter().filter(|p| p.load.is_some()).map(|p| phase_truth(&walk, p)).collect();
        let end_s = run.phases.last().map_or(0.0, |phase| phase.end_ns as f64 / 1e9);
        let timeline = walk.between(0.0, end_s, EVERY_S * 10.0);
        let timeline = timeline.iter().map(|probe| (probe.sent_s, probe.round_trip_s())).collect();
        let lost = |of: &Vec<Time>| of.iter().map(|at| at.as_secs_f64()).collect();
        let lost_probes = measured.lost_probes.as_ref().map(lost);
        let sides = || plan.line.hops.iter().flat_map(|hop| [&hop.up, &hop.down]);
        let is_radio = |side: &BottleneckParams| {
            matches!(side.transmitter, TransmitterParams::Wifi(_) | TransmitterParams::Cellular(_))
        };
        let has_radio = sides().any(is_radio);
        let reorder_s = sides().map(|side| side.impairment.reorder_delay.as_secs_f64()).sum();
        Truth { queues, idle_p50_s, is_idle_bloated, loaded, lost_probes, has_radio, reorder_s, timeline }
    }
    /// The phase in which only `direction` is loaded.
    pub(crate) fn alone(&self, direction: Direction) -> Option<&PhaseTruth> {
        self.loaded.iter().find(|phase| phase.kind == alone(direction))
    }
    /// Percentile of the round trips of a phase, above the median without load.
    pub(crate) fn increase_s(&self, phase: &PhaseTruth, percentile: f64) -> f64 {
        phase.round_trip(phase.from_s).at(percentile) - self.idle_p50_s
    }
    pub(crate) fn is_bloated(&self) -> bool {
        self.loaded.iter().any(|phase| self.is_phase_bloated(phase))
    }
    pub(crate) fn is_phase_bloated(&self, phase: &PhaseTruth) -> bool {
        self.is_bloated_after(phase, phase.from_s, 1.0)
    }
    fn is_bloated_after(&self, phase: &PhaseTruth, from_s: f64, ratio: f64) -> bool {
        let delays = phase.round_trip(from_s);
        // Where others fill the queue without the load, the load may add nothing.
        let base_s = if self.is_idle_bloated { 0.0 } else { self.idle_p50_s };
        let [p50, p90] = [0.5, 0.9].map(|p| ratio * (delays.at(p) - base_s));
        threshold::is_bloated(p50, p90)
    }
    /// Whether the line is bloated depends on where it is looked at: a delay that differs by
    /// [`BORDERLINE`] would change it, or the second half of the phases alone.
    pub(crate) fn is_borderline(&self) -> bool {
        let with = |ratio| self.loaded.iter().any(|p| self.is_bloated_after(p, p.from_s, ratio));
        let late = self.loaded.iter().any(|p| self.is_bloated_after(p, p.middle_s(), 1.0));
        with(1.0 + BORDERLINE) != with(1.0 - BORDERLINE) || late != self.is_bloated()
    }
    /// The queue of a direction in front of the slowest link.
    pub(crate) fn narrowest(&self, direction: Direction) -> Option<&Queue> {
        let limited = self.queues.iter().filter(|q| q.direction == direction && q.ip_rate.is_some());
        limited.min_by(|a, b| a.ip_rate.unwrap_or(0.0).total_cmp(&b.ip_rate.unwrap_or(0.0)))
    }
    /// Ratio of the 90th to the 10th percentile of the rates of a direction's links within a phase.
    /// Of several links with a queue, the slowest one counts: where the rate of one varies, another
    /// may be the slowest at times.
    pub(crate) fn path_rate_ratio(&self, direction: Direction, phase: &PhaseTruth) -> f64 {
        let of_direction = || self.queues.iter().filter(|queue| queue.direction == direction);
        let window_s = of_direction().map(Queue::rate_window_s).fold(0.0, f64::max);
        let rates = of_direction().map(|queue| queue.rates(phase.from_s, phase.to_s, window_s));
        let slower = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let slowest = rates.reduce(|all, of_link| {
            all.into_iter().zip(of_link).map(|(one, other)| slower(one, other)).collect()
        });
        spread_ratio(slowest.into_iter().flatten().flatten().collect())
    }
    /// The queue of a direction in which packets waited longest in a phase.
    pub(crate) fn bottleneck(&self, direction: Direction, phase: &PhaseTruth) -> Option<&Queue> {
        let longest = |queue: &&Queue| queue.longest_s(phase.from_s, phase.to_s);
        let of_direction = self.queues.iter().filter(|queue| queue.direction == direction);
        of_direction.max_by(|a, b| longest(a).total_cmp(&longest(b)))
    }
}

fn phase_truth(walk: &Walk<'_>, phase: &Phase) -> PhaseTruth {
    let (from_s, to_s) = (phase.start_ns as f64 / 1e9, phase.end_ns as f64 / 1e9);
    let probes = walk.between(from_s, to_s, EVERY_S);
    PhaseTruth { kind: phase.kind, from_s, to_s, probes, real: walk.real_if_lossy(from_s, to_s) }
}
