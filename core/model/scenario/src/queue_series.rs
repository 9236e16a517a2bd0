//! Time series of a line's queues: the ground truth for measurements.
use crate::LinePlan;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_link::{Bottleneck, LinePosition};
use fathom_qdisc::Packet;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Duration, Time};

/// Backlog, longest sojourn time, drops and marks of a queue, for simulator and lab.
#[derive(Clone, Debug)]
pub struct QueueSeries {
    position: LinePosition,
    backlog: Series,
    sojourn: Series,
    drops: Series,
    marks: Series,
}

impl QueueSeries {
    /// Empty series for each queue of `plan` in front of a link with a rate; other queues stay
    /// empty. Ordered from the user's edge, up before down.
    pub fn of_line(plan: &LinePlan) -> Vec<QueueSeries> {
        let hops = plan.hops.iter().enumerate();
        let queues = hops.flat_map(|(hop, named)| {
            let sides = [(Direction::Up, &named.up), (Direction::Down, &named.down)];
            let waiting = sides.into_iter().filter(|(_, params)| params.nominal_rate().is_some());
            waiting.map(move |(direction, _)| QueueSeries::new(LinePosition { hop, direction }, &named.name))
        });
        queues.collect()
    }
    fn new(position: LinePosition, name: &str) -> Self {
        let series = |metric| {
            let (direction, scope) = (Some(position.direction), Some(name.to_string()));
            Series::new(SeriesKey { metric, direction, flow: None, scope })
        };
        QueueSeries {
            position,
            backlog: series(Metric::Backlog),
            sojourn: series(Metric::Sojourn),
            drops: series(Metric::QueueDrops),
            marks: series(Metric::QueueMarks),
        }
    }
    /// Position of the queue on the line.
    pub const fn position(&self) -> LinePosition {
        self.position
    }
    /// Records `queue`. `longest_sojourn` is that of packets that left since the last sample.
    pub fn sample<P: Packet + Clone>(
        &mut self,
        queue: &Bottleneck<P>,
        longest_sojourn: Option<Duration>,
        now: Time,
    ) {
        let stats = queue.stats();
        observe(&mut self.backlog, queue.queued().bytes.get() as f64, now);
        if let Some(longest) = longest_sojourn {
            observe(&mut self.sojourn, longest.as_secs_f64(), now);
        }
        observe_change(&mut self.drops, stats.dropped().packets, now);
        observe_change(&mut self.marks, stats.marked.packets, now);
    }
    /// Returns the series of backlog, sojourn time, drops and marks.
    pub fn into_series(self) -> [Series; 4] {
        [self.backlog, self.sojourn, self.drops, self.marks]
    }
}

fn observe(series: &mut Series, value: f64, at: Time) {
    series.push(Observation { at, value: Value::Observed(value) });
}

/// Records a counter only when it changes.
fn observe_change(series: &mut Series, count: u64, at: Time) {
    let count = count as f64;
    if series.values.last() != Some(&count) {
        observe(series, count, at);
    }
}
