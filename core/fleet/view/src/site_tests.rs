//! The tests of one site.
use crate::answer::Track;
use crate::fleet::{LineSummary, Site, larger};
use crate::labels::SiteLabels;
use crate::promql::Measure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::percentile;
use fathom_units::{Direction, PerDirection};
use fathom_watch_metrics::TestGauge;

/// What a value of a test is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestSeries {
    /// The measure; a number of tests has no series.
    pub measure: Measure,
    /// Its direction; `None` for the idle latency.
    pub direction: Option<Direction>,
}

impl TestSeries {
    /// The series of a history or an archive, by the name of its probe.
    #[must_use]
    pub fn of_probe(probe: &str) -> Option<TestSeries> {
        TestGauge::of(probe).and_then(|gauge| TestSeries::of_family(gauge.family.name, gauge.direction))
    }
    /// The series of an engine, by its labels.
    #[must_use]
    pub fn of_labels(labels: &BTreeMap<String, String>) -> Option<TestSeries> {
        TestSeries::of_family(labels.get("__name__")?, labels.get("direction").map(String::as_str))
    }
    fn of_family(name: &str, direction: Option<&str>) -> Option<TestSeries> {
        let direction = match direction {
            Some("up") => Some(Direction::Up),
            Some("down") => Some(Direction::Down),
            _ => None,
        };
        let is_of = |measure: &Measure| *measure != Measure::Tests && measure.family().name == name;
        let measure = Measure::ALL.into_iter().find(is_of)?;
        (direction.is_some() == (measure != Measure::Idle)).then_some(TestSeries { measure, direction })
    }
}

/// The values of a test.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct TestValues {
    /// Each direction.
    pub lines: PerDirection<LineSummary>,
    /// Idle latency, in seconds.
    pub idle_s: Option<f64>,
}

impl TestValues {
    /// The larger lag of both directions, in seconds.
    #[must_use]
    pub fn lag_s(&self) -> Option<f64> {
        self.lines.up.lag_s.into_iter().chain(self.lines.down.lag_s).reduce(f64::max)
    }
    fn set(&mut self, series: TestSeries, value: f64) {
        let line = match series.direction {
            Some(Direction::Up) => Some(&mut self.lines.up),
            Some(Direction::Down) => Some(&mut self.lines.down),
            None => None,
        };
        match (series.measure, line) {
            (Measure::Lag, Some(line)) => line.lag_s = larger(line.lag_s, value),
            (Measure::Rate, Some(line)) => {
                line.rate_bits_per_second = larger(line.rate_bits_per_second, value);
            }
            (Measure::Buffer, Some(line)) => line.buffer_bytes = larger(line.buffer_bytes, value),
            (Measure::Idle, None) => self.idle_s = larger(self.idle_s, value),
            _ => {}
        }
    }
}

/// The tests of one site in a period, in order of time. Values with the same time are one test; of
/// several tests of a site at once, the largest value counts.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct SiteTests {
    tests: BTreeMap<u64, TestValues>,
}

impl SiteTests {
    /// Adds a value of a test at `at_ms`, in milliseconds since 1970.
    pub fn add(&mut self, at_ms: u64, series: TestSeries, value: f64) {
        self.tests.entry(at_ms).or_default().set(series, value);
    }
    /// Adds all values of a test at `at_ms`, in milliseconds since 1970.
    pub fn add_values(&mut self, at_ms: u64, values: TestValues) {
        self.tests.insert(at_ms, values);
    }
    /// The tests in the answer of an engine, each with its time and site.
    #[must_use]
    pub fn of_tracks(tracks: &[Track]) -> SiteTests {
        let mut all = SiteTests::default();
        for track in tracks {
            let Some(series) = TestSeries::of_labels(&track.labels) else { continue };
            for (at_s, value) in &track.points {
                all.add((at_s * 1e3) as u64, series, *value);
            }
        }
        all
    }
    /// Each test with its time in milliseconds since 1970.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &TestValues)> {
        self.tests.iter().map(|(at, values)| (*at, values))
    }
    /// Number of tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tests.len()
    }
    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
    /// The site with the medians of these tests.
    #[must_use]
    pub fn site(&self, name: &str, labels: impl Into<SiteLabels>) -> Site {
        let median = |of: &dyn Fn(&TestValues) -> Option<f64>| {
            let mut values: Vec<f64> = self.tests.values().filter_map(of).collect();
            percentile(&mut values, 0.5)
        };
        let line = |direction: Direction| LineSummary {
            lag_s: median(&|test| test.lines.get(direction).lag_s),
            rate_bits_per_second: median(&|test| test.lines.get(direction).rate_bits_per_second),
            buffer_bytes: median(&|test| test.lines.get(direction).buffer_bytes),
        };
        Site {
            name: name.into(),
            labels: labels.into(),
            lines: PerDirection { up: line(Direction::Up), down: line(Direction::Down) },
            idle_s: median(&|test| test.idle_s),
            tests: self.tests.len() as u64,
        }
    }
}
