//! From observations to what a chart shows.
use alloc::vec::Vec;
use fathom_run::{Metric, PhaseKind, Run, SeriesKey, Value};
use fathom_stats::{median, percentile_of_sorted, sorted};
use fathom_units::Direction;

/// Observed values over time: seconds and the metric's unit.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(f64, f64)>,
    /// Times of censored observations: probes that were lost.
    pub(crate) lost: Vec<f64>,
}

/// What a chart shows of the observations that fall into one of its columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Column {
    /// Number of the column.
    pub(crate) index: usize,
    /// Smallest, median and largest value.
    pub(crate) low: f64,
    pub(crate) mid: f64,
    pub(crate) high: f64,
}

impl Curve {
    /// The curve of a series; empty without it.
    pub(crate) fn of(run: &Run, key: &SeriesKey) -> Curve {
        run.series(key).map(Curve::of_series).unwrap_or_default()
    }
    /// The curve of this series.
    pub(crate) fn of_series(series: &fathom_run::Series) -> Curve {
        let mut curve = Curve::default();
        for o in series.iter() {
            let at = o.at.as_secs_f64();
            match o.value {
                Value::Observed(v) if v.is_finite() => curve.points.push((at, v)),
                Value::Observed(_) => {}
                Value::Censored { .. } => curve.lost.push(at),
            }
        }
        curve
    }
    /// Working latency in ms, by the metric that the diagnosis chose.
    pub(crate) fn latency(run: &Run, source: Option<Metric>) -> Curve {
        source.map(|metric| Curve::of(run, &SeriesKey::of(metric)).scaled(1e3)).unwrap_or_default()
    }
    /// Goodput of a direction in Mbit/s.
    pub(crate) fn goodput(run: &Run, direction: Direction) -> Curve {
        Curve::of(run, &SeriesKey::directed(Metric::Goodput, direction)).scaled(1e-6)
    }
    /// One-way delay of a direction in ms.
    pub(crate) fn one_way(run: &Run, direction: Direction) -> Curve {
        Curve::of(run, &SeriesKey::directed(Metric::OneWayDelay, direction)).scaled(1e3)
    }
    pub(crate) fn scaled(mut self, factor: f64) -> Curve {
        self.points.iter_mut().for_each(|p| p.1 *= factor);
        self
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
    /// Smallest and largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let fold = |acc: Option<(f64, f64)>, v: f64| {
            Some(acc.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
        };
        self.points.iter().map(|p| p.1).fold(None, fold)
    }
    /// The middle of its values; 0 without any.
    pub(crate) fn median(&self) -> f64 {
        median(self.points.iter().map(|p| p.1)).unwrap_or(0.0)
    }
    /// The top of an axis on which rare spikes are cut off: data that waited for a lost packet
    /// arrive all at once.
    pub(crate) fn high_without_spikes(&self) -> f64 {
        let values = sorted(self.points.iter().map(|p| p.1));
        let at = |p| percentile_of_sorted(&values, p).unwrap_or(0.0);
        at(1.0).min(1.25 * at(0.95))
    }
    /// The points between `start` and `end` in `count` columns; columns without points are left
    /// out.
    pub(crate) fn columns(&self, start: f64, end: f64, count: usize) -> Vec<Column> {
        let width = (end - start) / count.max(1) as f64;
        let index = |t: f64| (((t - start) / width) as usize).min(count.saturating_sub(1));
        let inside: Vec<(f64, f64)> =
            self.points.iter().copied().filter(|p| p.0 >= start && p.0 <= end && width > 0.0).collect();
        inside
            .chunk_by(|a, b| index(a.0) == index(b.0))
            .map(|chunk| column(index(chunk[0].0), chunk))
            .collect()
    }
}

/// Widest gap that a line bridges: `least` columns, or more where values are always far apart, as
/// in results of tools that report once a second.
pub(crate) fn widest_bridge(columns: &[Column], least: usize) -> usize {
    let mut steps: Vec<usize> = columns.windows(2).map(|pair| pair[1].index - pair[0].index).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).map_or(least, |usual| least.max(2 * usual))
}

fn column(index: usize, points: &[(f64, f64)]) -> Column {
    let values = sorted(points.iter().map(|p| p.1));
    let at = |p| percentile_of_sorted(&values, p).unwrap_or(0.0);
    Column { index, low: at(0.0), mid: at(0.5), high: at(1.0) }
}

/// A phase as a chart marks it, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Span {
    pub(crate) kind: PhaseKind,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// The phases of a run.
pub(crate) fn spans(run: &Run) -> Vec<Span> {
    let span = |p: &fathom_run::Phase| Span {
        kind: p.kind,
        start: p.start_ns as f64 / 1e9,
        end: p.end_ns as f64 / 1e9,
    };
    run.phases.iter().map(span).collect()
}

/// First and last moment that a chart of the run shows.
pub(crate) fn time_range(run: &Run) -> (f64, f64) {
    let start = run.phases.first().map_or(0.0, |p| p.start_ns as f64 / 1e9);
    let last = |s: &fathom_run::Series| s.at_ns.last().map(|t| *t as f64 / 1e9);
    let end = run.phases.last().map(|p| p.end_ns as f64 / 1e9);
    let end = end.or_else(|| run.series.iter().filter_map(last).max_by(f64::total_cmp)).unwrap_or(1.0);
    (start, end.max(start + 1e-3))
}

/// What a phase is called in tables and charts.
pub(crate) const fn phase_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Idle => "idle",
        PhaseKind::Down => "download",
        PhaseKind::Up => "upload",
        PhaseKind::Both => "both",
        PhaseKind::Drain => "drain",
        PhaseKind::Watch => "watch",
    }
}

/// What the metric behind the working latency is called.
pub(crate) const fn source_name(metric: Option<Metric>) -> &'static str {
    match metric {
        Some(Metric::UdpRtt) => "UDP round trip",
        Some(Metric::IcmpRtt) => "ICMP round trip",
        Some(Metric::TcpConnect) => "TCP connect time",
        Some(Metric::HttpForeign) => "HTTP on new connections",
        Some(Metric::HttpKept) => "HTTP on a kept connection",
        Some(Metric::QueueDelay) => "delay of the queue",
        _ => "round trip",
    }
}
