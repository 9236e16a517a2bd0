//! Samples the state of the queues.
use crate::QueueReport;
use crate::router::Routers;
use crate::slice::Slice;
use fathom_link::{Line, LinePosition};
use fathom_run::Series;
use fathom_scenario::{LinePlan, QueueSeries};
use fathom_units::{Direction, Duration, Time};

/// Samples of all queues.
#[derive(Debug)]
pub(crate) struct Truth {
    queues: Vec<QueueSeries>,
    interval: Duration,
    next: Time,
}

impl Truth {
    /// Samples the queues of `plan`, the first time at `start`.
    pub(crate) fn new(plan: &LinePlan, interval: Duration, start: Time) -> Self {
        Truth { queues: QueueSeries::of_line(plan), interval, next: start }
    }
    /// Time of the next sample.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }
    /// Takes a sample if one is due.
    pub(crate) fn sample(&mut self, line: &Line<Slice>, routers: &mut Routers, now: Time) {
        if now < self.next {
            return;
        }
        for queue in &mut self.queues {
            let longest = routers.take_longest_sojourn(queue.position());
            queue.sample(line.bottleneck(queue.position()), longest, now);
        }
        // A late sample does not cause two in a row.
        self.next = now.max(self.next + self.interval);
    }
    /// All series.
    pub(crate) fn into_series(self) -> Vec<Series> {
        self.queues.into_iter().flat_map(QueueSeries::into_series).collect()
    }
}

/// Totals of all queues, from the client to the server, up before down.
pub(crate) fn totals(plan: &LinePlan, line: &Line<Slice>) -> Vec<QueueReport> {
    let of = |hop: usize, name: &str, direction| {
        let stats = line.bottleneck(LinePosition { hop, direction }).stats();
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
