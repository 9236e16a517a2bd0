//! A history in memory.
use fathom_units::WallTime;
use fathom_watch_engine::{Event, FlushReport, HistoryWriter, Monitor};
use fathom_watch_plan::{Plan, TargetNow};
use fathom_watch_samples::{Level, Outcome, Sample, Tally, Unit};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) target: String,
    pub(crate) probe: String,
    pub(crate) samples: Vec<Sample>,
    pub(crate) amended: Vec<Sample>,
    pub(crate) levels: Vec<Level>,
    pub(crate) duplicates: u64,
    pub(crate) reordered: u64,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Recorded {
    pub(crate) series: Vec<Series>,
    pub(crate) events: Vec<Event>,
    pub(crate) is_closed: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<Recorded>>);

impl Memory {
    pub(crate) fn of(&self, target: &str, probe: &str) -> Option<Series> {
        let kept = self.0.lock().unwrap();
        kept.series.iter().find(|s| s.target == target && s.probe == probe).cloned()
    }
    pub(crate) fn samples(&self, target: &str, probe: &str) -> Vec<Sample> {
        self.of(target, probe).map(|s| s.samples).unwrap_or_default()
    }
    pub(crate) fn events(&self, kind: &str) -> Vec<String> {
        let kept = self.0.lock().unwrap();
        kept.events.iter().filter(|e| e.kind == kind).map(|e| e.text.clone()).collect()
    }
    fn with(&self, series: u32, change: impl FnOnce(&mut Series)) {
        change(&mut self.0.lock().unwrap().series[series as usize]);
    }
}

impl HistoryWriter for Memory {
    fn series(&mut self, target: &str, probe: &str, _unit: Unit) -> Result<u32, String> {
        let mut kept = self.0.lock().unwrap();
        let known = kept.series.iter().position(|s| s.target == target && s.probe == probe);
        Ok(known.unwrap_or_else(|| {
            kept.series.push(Series {
                target: target.into(),
                probe: probe.into(),
                samples: Vec::new(),
                amended: Vec::new(),
                levels: Vec::new(),
                duplicates: 0,
                reordered: 0,
            });
            kept.series.len() - 1
        }) as u32)
    }
    fn record(&mut self, series: u32, samples: &[Sample]) {
        self.with(series, |s| s.samples.extend(samples));
    }
    fn amend(&mut self, series: u32, sample: Sample) {
        self.with(series, |s| s.amended.push(sample));
    }
    fn count(&mut self, series: u32, _at: WallTime, duplicates: u64, reordered: u64) {
        self.with(series, |s| {
            (s.duplicates, s.reordered) = (s.duplicates + duplicates, s.reordered + reordered)
        });
    }
    fn level(&mut self, series: u32, level: Level) {
        self.with(series, |s| s.levels.push(level));
    }
    fn event(&mut self, event: &Event, _series: Option<u32>) {
        self.0.lock().unwrap().events.push(event.clone());
    }
    fn flush(&mut self, _now: WallTime, last: bool) -> FlushReport {
        self.0.lock().unwrap().is_closed |= last;
        FlushReport::default()
    }
}

pub(crate) fn plan(text: &str) -> Plan {
    fathom_watch_plan::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn start(text: &str) -> (Monitor, Memory) {
    let memory = Memory::default();
    (Monitor::start(&plan(text), Box::new(memory.clone())).unwrap(), memory)
}

/// Calls `look` every 20 ms until it returns a value. Half a minute is far more than any test
/// needs.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited 30 s for {what}");
}

pub(crate) fn tally(samples: &[Sample]) -> Tally {
    let mut tally = Tally::default();
    samples.iter().for_each(|s| tally.add(fathom_watch_samples::Code::of(s.outcome)));
    tally
}

pub(crate) fn answered(samples: &[Sample]) -> usize {
    samples.iter().filter(|s| matches!(s.outcome, Outcome::Answered(_))).count()
}

pub(crate) fn row(monitor: &Monitor, name: &str, probe: &str) -> Option<TargetNow> {
    monitor.live().targets().into_iter().find(|t| t.name == name && t.probe == probe)
}
