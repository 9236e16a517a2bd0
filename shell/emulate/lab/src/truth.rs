//! What the queues hold, sampled.
use crate::QueueReport;
use crate::router::Routers;
use crate::slice::Slice;
use fathom_link::{Line, Place};
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_scenario::LinePlan;
use fathom_units::{Direction, Duration, Time};

/// The series of one queue.
#[derive(Debug)]
struct Probe {
    place: Place,
    backlog: Series,
    sojourn: Series,
    drops: Series,
    marks: Series,
}

/// Samples of all queues.
#[derive(Debug)]
pub(crate) struct Truth {
    probes: Vec<Probe>,
    interval: Duration,
    next: Time,
}

impl Truth {
    /// For the queues of `plan` in which something can wait: those before a link with a rate.
    pub(crate) fn new(plan: &LinePlan, interval: Duration, start: Time) -> Self {
        let places = plan.hops.iter().enumerate().flat_map(|(hop, named)| {
            let directions = [(Direction::Up, &named.up), (Direction::Down, &named.down)];
            let waiting = directions.into_iter().filter(|(_, params)| params.nominal_rate().is_some());
            waiting.map(move |(direction, _)| Probe::new(Place { hop, direction }, &named.name))
        });
        Truth { probes: places.collect(), interval, next: start }
    }
    /// When the next sample is due.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }
    /// Takes a sample if one is due.
    pub(crate) fn sample(&mut self, line: &Line<Slice>, routers: &mut Routers, now: Time) {
        if now < self.next {
            return;
        }
        for probe in &mut self.probes {
            probe.sample(line, routers, now);
        }
        // A late sample does not bring two.
        self.next = now.max(self.next + self.interval);
    }
    /// All series.
    pub(crate) fn into_series(self) -> Vec<Series> {
        self.probes.into_iter().flat_map(|p| [p.backlog, p.sojourn, p.drops, p.marks]).collect()
    }
}

impl Probe {
    fn new(place: Place, name: &str) -> Self {
        let series = |metric| {
            let (direction, scope) = (Some(place.direction), Some(name.to_owned()));
            Series::new(SeriesKey { metric, direction, flow: None, scope })
        };
        Probe {
            place,
            backlog: series(Metric::Backlog),
            sojourn: series(Metric::Sojourn),
            drops: series(Metric::QueueDrops),
            marks: series(Metric::QueueMarks),
        }
    }
    fn sample(&mut self, line: &Line<Slice>, routers: &mut Routers, now: Time) {
        let bottleneck = line.bottleneck(self.place);
        let stats = bottleneck.stats();
        observe(&mut self.backlog, bottleneck.queued().bytes.get() as f64, now);
        if let Some(longest) = routers.take_longest_sojourn(self.place) {
            observe(&mut self.sojourn, longest.as_secs_f64(), now);
        }
        observe_change(&mut self.drops, stats.dropped().packets, now);
        observe_change(&mut self.marks, stats.marked.packets, now);
    }
}

fn observe(series: &mut Series, value: f64, at: Time) {
    series.push(Observation { at, value: Value::Observed(value) });
}

/// Counters stand still most of the time: only their changes are kept.
fn observe_change(series: &mut Series, count: u64, at: Time) {
    let count = count as f64;
    if series.values.last() != Some(&count) {
        observe(series, count, at);
    }
}

/// Totals of all queues, from the user's edge to the far side, up before down.
pub(crate) fn totals(plan: &LinePlan, line: &Line<Slice>) -> Vec<QueueReport> {
    let of = |hop: usize, name: &str, direction| {
        let stats = line.bottleneck(Place { hop, direction }).stats();
        QueueReport {
            hop: name.to_owned(),
            direction,
            arrived_packets: stats.arrived.packets,
            dropped_packets: stats.dropped().packets,
            marked_packets: stats.marked.packets,
            max_backlog: stats.max_backlog.bytes,
        }
    };
    let hops = plan.hops.iter().enumerate();
    hops.flat_map(|(hop, named)| Direction::BOTH.map(|d| of(hop, &named.name, d))).collect()
}
