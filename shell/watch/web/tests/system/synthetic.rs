//! A deterministic, computed history of any length.
use fathom_units::{Duration, Rng, WallTime};
use fathom_watch_plan::TargetNow;
use fathom_watch_samples::{Code, Column, Outcome, Stored, Unit};
use fathom_watch_web::{Event, HostNow, Live, Past, Series, TestResult, Total};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// 2026-11-20 00:00 UTC.
pub(crate) const NOW_S: u64 = 1_795_132_800;
const SECOND: u64 = 1_000_000_000;
/// Length of the history in seconds.
pub(crate) const YEAR_S: u64 = 366 * 86_400;

/// A number of targets, each with a year of history at one probe per second.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub(crate) targets: u32,
    /// Routers of the path to target 0, each a series after those of the targets.
    pub(crate) hops: u32,
    /// End of the history in seconds since 1970.
    pub(crate) now_s: u64,
}

impl Made {
    /// Ends at [`NOW_S`].
    pub(crate) fn new(targets: u32) -> Made {
        Made { targets, hops: 0, now_s: NOW_S }
    }
}

/// The outcome of the probe in a second: slow in the evening, sometimes lost, and lost for ten
/// minutes each day.
pub(crate) fn outcome(series: u32, second: u64) -> Outcome {
    let mut dice = Rng::new(second.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(series)));
    let of_day = second % 86_400;
    if of_day / 600 == u64::from(series % 144) || dice.next_u64().is_multiple_of(500) {
        return Outcome::Lost;
    }
    let base_us = 8_000 + u64::from(series % 7) * 3_000;
    let evening = (68_400..82_800).contains(&of_day) && second / 86_400 % 7 < 5;
    let queue_us = if evening { dice.next_u64() % 120_000 } else { dice.next_u64() % 2_500 };
    let spike_us = if dice.next_u64().is_multiple_of(3_000) { 400_000 } else { 0 };
    Outcome::Answered(Duration::from_micros(base_us + queue_us + spike_us))
}

impl Made {
    /// One target in fifty has been down for an hour and a half. All hops but the first wait with
    /// target 0.
    fn outcome(&self, series: u32, second: u64) -> Outcome {
        let hop = if self.hops == 0 { 0 } else { (series + 1).saturating_sub(self.targets) };
        if hop == 1 {
            return Outcome::Answered(Duration::from_micros(600));
        }
        let series = if hop > 1 { 0 } else { series };
        let down = series % 50 == 3 && second + 5_400 > self.now_s;
        if down { Outcome::Lost } else { outcome(series, second) }
    }
}

impl Past for Made {
    fn series(&mut self) -> Result<Vec<Series>, String> {
        let one =
            |id| Series { id, target: format!("target {id}"), probe: "icmp".into(), unit: Unit::Seconds };
        let hop = |n| Series {
            id: self.targets + n,
            target: "target 0".into(),
            probe: format!("hop {}", n + 1),
            unit: Unit::Seconds,
        };
        Ok((0..self.targets).map(one).chain((0..self.hops).map(hop)).collect())
    }

    /// Uses at most 60 probes per column, so that tests are fast.
    fn columns(&mut self, series: u32, span: Range<WallTime>, count: usize) -> Result<Vec<Column>, String> {
        let width = (span.end.0 - span.start.0) / count as u64;
        let column = |n: u64| {
            let (start, end) = (span.start.0 + n * width, span.start.0 + (n + 1) * width);
            let mut column = Column { from: WallTime(start), to: WallTime(end), ..Column::default() };
            let (first, last) = (start.div_ceil(SECOND), end.div_ceil(SECOND).min(self.now_s));
            let stride = (last.saturating_sub(first) / 60).max(1);
            for second in (first..last).step_by(stride as usize) {
                let code = Code::of(self.outcome(series, second));
                column.tally.add(code);
                column.sketch.add(code);
            }
            column
        };
        Ok((0..count as u64).map(column).collect())
    }

    fn overview(
        &mut self,
        all: &[u32],
        span: Range<WallTime>,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, String> {
        all.iter().map(|id| self.columns(*id, span.clone(), count)).collect()
    }

    fn samples(&mut self, series: u32, span: Range<WallTime>) -> Result<Vec<Stored>, String> {
        let (first, last) = (self.now_s - YEAR_S, self.now_s);
        let seconds = span.start.0.div_ceil(SECOND).max(first)..span.end.0.div_ceil(SECOND).min(last);
        Ok(seconds
            .map(|second| Stored { at_ms: second * 1_000, code: Code::of(self.outcome(series, second)) })
            .collect())
    }

    fn next(&mut self, _series: u32, from: WallTime) -> Result<Option<WallTime>, String> {
        let first = (self.now_s - YEAR_S) * SECOND;
        Ok((from.0 < self.now_s * SECOND).then_some(WallTime(from.0.max(first))))
    }

    fn stop_when(&mut self, _stop: Arc<AtomicBool>) {}

    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String> {
        let at = WallTime((self.now_s - 3_600) * SECOND);
        let event = Event {
            at,
            until: Some(WallTime(at.0 + 600 * SECOND)),
            series: (self.targets == 1).then_some(0),
            kind: "alert".into(),
            text: "loss <b>above</b> 5 %".into(),
            value: Some(0.25),
        };
        Ok(span.contains(&at).then_some(event).into_iter().collect())
    }
}

impl Live for Made {
    fn targets(&self) -> Vec<TargetNow> {
        (0..self.targets).map(|id| self.now(id)).collect()
    }

    fn totals(&self) -> Vec<Total> {
        let total = |id: u32| {
            let (from, to) = (WallTime((self.now_s - 600) * SECOND), WallTime(self.now_s * SECOND));
            let column = { *self }.columns(id, from..to, 1).unwrap().remove(0);
            Total {
                name: format!("target {id}"),
                group: "made \"up\"".into(),
                host: "192.0.2.1".into(),
                probe: "icmp".into(),
                tally: column.tally,
                sketch: column.sketch,
                last: match self.outcome(id, self.now_s - 1) {
                    Outcome::Answered(rtt) => Some(rtt),
                    _ => None,
                },
                since: from,
                alerts: if id == 0 { vec!["slow \"up\"".into()] } else { Vec::new() },
            }
        };
        (0..self.targets).map(total).collect()
    }

    fn host(&self) -> Vec<HostNow> {
        let one = |probe: &str, mean, max| HostNow { probe: probe.to_owned(), mean, max };
        let levels = [one("eth0 received", 1e6, 2e6), one("eth0 backlog", 100.0, 3028.0)];
        levels
            .into_iter()
            .chain([one("lateness of icmp", 1e-4, 25e-4), one("of no name", 1.0, 1.0)])
            .collect()
    }

    fn results(&self, from: WallTime, to: WallTime) -> Vec<TestResult> {
        let at = WallTime((self.now_s - 1_800) * SECOND);
        let until = WallTime(at.0 + 60 * SECOND);
        let result = TestResult {
            name: "fathom test+1.json.gz".into(),
            at,
            until,
            text: "fathom test: bloated".into(),
        };
        (from <= at && at < to).then_some(result).into_iter().collect()
    }

    fn report(&self, name: &str) -> Option<String> {
        (name == "fathom test+1.json.gz").then(|| "<title>a report</title>".into())
    }
}

impl Made {
    fn now(&self, id: u32) -> TargetNow {
        let minute = self.now_s - 60..self.now_s;
        let mut tally = fathom_watch_samples::Tally::default();
        let mut sketch = fathom_watch_samples::Sketch::default();
        for second in minute {
            let code = Code::of(self.outcome(id, second));
            tally.add(code);
            sketch.add(code);
        }
        let last = self.outcome(id, self.now_s - 1);
        let down = tally.answered == 0;
        TargetNow {
            name: format!("target {id}"),
            group: "made".into(),
            host: format!("192.0.2.{}", id % 250),
            address: format!("192.0.2.{}", id % 250).parse().ok(),
            probe: "icmp".into(),
            series: id,
            last: Some(last),
            last_at: Some(WallTime((self.now_s - 1) * SECOND)),
            tally,
            median: sketch.quantile(0.5).map(Duration::from_secs_f64),
            p95: sketch.quantile(0.95).map(Duration::from_secs_f64),
            failing_since: down.then(|| (WallTime((self.now_s - 5_400) * SECOND), "no answer".into())),
            alerts: if id == 1 { vec!["slow evenings".into()] } else { Vec::new() },
        }
    }
}
