//! Converts columns of the history to series with points.
use crate::cursor::{Counted, Cursor};
use crate::feed::NANOS_PER_MILLI;
use crate::role::{Names, Role};
use crate::routers::{KnownRouters, Router};
use fathom_watch_metrics::{Family, HostGauge, Line, Point, Take, TestGauge, Value, each_probe_line};
use fathom_watch_samples::{Column, Window};
use fathom_watch_store::{HistoryError, SeriesKey};

/// Labels of all series of a destination.
pub(crate) type Labels = Vec<(String, String)>;

/// Why a stretch was not sent completely.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The watch is stopping.
    Stop,
    /// Another format must be used, from the start of the stretch.
    Again,
    /// Classic histograms must be used, from the start of the stretch.
    Classic,
    /// The history cannot be read.
    History(HistoryError),
}

impl From<HistoryError> for Halt {
    fn from(error: HistoryError) -> Self {
        Halt::History(error)
    }
}

/// Converts columns for a destination.
pub(crate) struct Maker<'a> {
    pub(crate) names: &'a Names,
    pub(crate) routers: &'a KnownRouters,
    pub(crate) labels: &'a Labels,
    pub(crate) cursor: &'a mut Cursor,
    /// Whether the watch ran, for each step. If it ran, a series without probes repeats its counts;
    /// otherwise it has no point.
    pub(crate) ran: &'a [bool],
}

/// Whether anything was counted.
fn has_any(column: &Column) -> bool {
    let t = &column.tally;
    t.sent + t.failed + t.duplicates + t.reordered > 0
}

/// Marks the steps in which anything was counted.
pub(crate) fn ran(known: &mut [bool], all: &[Vec<Column>]) {
    for columns in all {
        known.iter_mut().zip(columns).for_each(|(ran, column)| *ran |= has_any(column));
    }
}

fn end_ms(column: &Column) -> u64 {
    column.to.0 / NANOS_PER_MILLI
}

fn start_ms(column: &Column) -> u64 {
    column.from.0 / NANOS_PER_MILLI
}

impl Maker<'_> {
    /// Counts the columns of a series and produces its lines.
    pub(crate) fn each_line(
        &mut self,
        key: &SeriesKey,
        columns: &[Column],
        mut take: impl FnMut(&Line<'_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        match self.names.role(key) {
            Some(Role::Target) => {
                self.target(key, columns, &mut take)?;
                self.routers.get(key).map_or(Ok(()), |router| self.hop(key, router, columns, take))
            }
            Some(Role::Host(HostGauge { family, label, take: how })) => {
                self.gauge(family, &[label], columns, how, take)
            }
            Some(Role::Test(TestGauge { family, direction })) => {
                let own = [("test", Some(key.target.as_str())), ("direction", direction)];
                let own: Vec<_> = own.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
                self.gauge(family, &own, columns, Take::Mean, take)
            }
            None => Ok(()),
        }
    }
    /// The levels of the columns that have any.
    fn gauge(
        &self,
        family: &'static Family,
        own: &[(&str, &str)],
        columns: &[Column],
        how: Take,
        mut take: impl FnMut(&Line<'_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let points: Vec<Point> = columns.iter().filter_map(|column| level(column, how)).collect();
        let line = Line { family, labels: self.labelled(own), since_ms: 0, points };
        if line.points.is_empty() { Ok(()) } else { take(&line) }
    }
    /// A point for each step in which the router answered and had this address from the start.
    fn hop(
        &self,
        key: &SeriesKey,
        router: &Router,
        columns: &[Column],
        mut take: impl FnMut(&Line<'_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let is_known = |column: &&Column| {
            start_ms(column) >= router.since_ms && column.tally.answered + column.tally.late > 0
        };
        let point = |column: &Column| Point { at_ms: end_ms(column), value: Value::Number(1.0) };
        let own = [("target", key.target.as_str()), ("probe", &key.probe), ("address", &router.address)];
        let points: Vec<Point> = columns.iter().filter(is_known).map(point).collect();
        let line = Line { family: &Family::HOP, labels: self.labelled(&own), since_ms: 0, points };
        if line.points.is_empty() { Ok(()) } else { take(&line) }
    }
    fn target(
        &mut self,
        key: &SeriesKey,
        columns: &[Column],
        mut take: impl FnMut(&Line<'_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let name = (key.target.clone(), key.probe.clone());
        let first = columns.iter().find(|column| has_any(column));
        let planned = self.names.get(key);
        let counted = match (self.cursor.series.remove(&name), first) {
            (Some(counted), _) => counted,
            (None, Some(first)) => Counted { since_ms: start_ms(first), ..Counted::default() },
            (None, None) => return Ok(()),
        };
        let (group, host) = planned.cloned().unwrap_or_else(|| (counted.group.clone(), counted.host.clone()));
        let is_new = counted.total == Window::default();
        let mut counted = Counted { group, host, ..counted };
        // A series that left the plan and has no new data has ended.
        let ends = planned.is_none() && first.is_none();
        let points = if ends {
            columns.first().map(|column| (end_ms(column), None)).into_iter().collect()
        } else {
            self.count(&mut counted, columns, is_new)
        };
        let own = [
            ("target", name.0.as_str()),
            ("group", &counted.group),
            ("host", &counted.host),
            ("probe", &name.1),
        ];
        let labels = self.labelled(&own);
        let result = each_probe_line(&labels, counted.since_ms, &points, &mut take);
        if !ends {
            self.cursor.series.insert(name, counted);
        }
        result
    }
    /// Cumulative counts at the end of each step. Starts with a zero, so that the first counts are
    /// an increase too.
    fn count(&self, counted: &mut Counted, columns: &[Column], is_new: bool) -> Vec<(u64, Option<Window>)> {
        let zero = is_new.then(|| (counted.since_ms, Some(counted.total.clone())));
        let mut points: Vec<_> = zero.into_iter().collect();
        for (index, column) in columns.iter().enumerate() {
            let any = has_any(column);
            if end_ms(column) <= counted.since_ms || !(any || self.ran.get(index).copied().unwrap_or(false)) {
                continue;
            }
            if any {
                counted.total.tally.merge(&column.tally);
                counted.total.sketch.merge(&column.sketch);
            }
            points.push((end_ms(column), Some(counted.total.clone())));
        }
        points
    }
    fn labelled<'l>(&'l self, own: &[(&'l str, &'l str)]) -> Vec<(&'l str, &'l str)> {
        let common = self.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        common.chain(own.iter().copied()).collect()
    }
}

fn level(column: &Column, how: Take) -> Option<Point> {
    let sketch = &column.sketch;
    let value = match how {
        Take::Mean => (sketch.count() > 0).then(|| sketch.sum() / sketch.count() as f64),
        Take::Max => sketch.max(),
    }?;
    Some(Point { at_ms: end_ms(column), value: Value::Number(value) })
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
