//! A run that is being built from a file.
use crate::COMMAND;
use crate::echoes::Echoes;
use crate::error::Problem;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use fathom_run::{
    Fact, History, Host, Instrument, Interruption, Load, Metric, Note, Observation, Phase, PhaseEnd,
    PhaseKind, Run, SCHEMA_VERSION, Series, SeriesKey, Unrecorded, Value,
};
use fathom_units::{Direction, Duration, PerDirection, Time, WallTime};

/// Longest time in a file, in seconds: 31 years.
const LONGEST_S: f64 = 1e9;

/// Interval of `ping`, `fping` and `mtr` without an option that sets it.
const USUAL_INTERVAL_S: f64 = 1.0;

/// A time of a file in nanoseconds of the run.
pub(crate) fn nanos(seconds: f64) -> Result<u64, Problem> {
    if (0.0..=LONGEST_S).contains(&seconds) {
        Ok((seconds * 1e9) as u64)
    } else {
        Err(Problem::Damaged(format!("value {seconds} is out of range")))
    }
}

/// A delay of a file in seconds, from another unit.
pub(crate) fn delay(value: f64, unit_s: f64) -> Result<f64, Problem> {
    let seconds = value * unit_s;
    if (0.0..=LONGEST_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(Problem::Damaged(format!("value {seconds} is out of range")))
    }
}

/// The parts of a run that formats have in common.
pub(crate) struct Draft {
    run: Run,
    /// Time zero by the wall clock, in seconds since 1970.
    start_s: Option<f64>,
    unrecorded: BTreeSet<Unrecorded>,
    tool: &'static str,
}

impl Draft {
    /// `version` is what the file says about the tool; `target` is the host that it measured to.
    pub(crate) fn new(tool: &'static str, version: &str, target: &str) -> Self {
        let title = if target.is_empty() { tool.to_string() } else { format!("{tool} to {target}") };
        let mut facts = BTreeMap::new();
        facts.insert(Fact::Tool, format!("{tool} {version}").trim_end().to_string());
        if !target.is_empty() {
            facts.insert(Fact::Server, target.to_string());
        }
        let run = Run {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").into(),
            command: COMMAND.into(),
            started: String::new(),
            title,
            host: Host::default(),
            facts,
            phases: Vec::new(),
            series: Vec::new(),
            instrument: Instrument::default(),
            partial: None,
            capture: None,
            path: None,
            history: None,
            bursts: Vec::new(),
            switch: None,
            host_traffic: Vec::new(),
            notes: Vec::new(),
        };
        Draft { run, start_s: None, unrecorded: BTreeSet::new(), tool }
    }
    /// Wall-clock time of time zero, in seconds since 1970.
    pub(crate) fn started(&mut self, unix_s: f64) {
        // Seconds beyond the year 2500 are no time of day.
        if (1.0..1.6e10).contains(&unix_s) {
            self.run.started = WallTime((unix_s * 1e9) as u64).to_string();
        }
    }
    pub(crate) fn title(&mut self, title: String) {
        self.run.title = title;
    }
    pub(crate) fn fact(&mut self, fact: Fact, text: String) {
        self.run.facts.insert(fact, text);
    }
    /// Names something that the file lacks.
    pub(crate) fn lacks(&mut self, what: Unrecorded) {
        self.unrecorded.insert(what);
    }
    /// Adds a series unless it is empty.
    pub(crate) fn add(&mut self, series: Series) {
        if !series.values.is_empty() {
            self.run.series.push(series);
        }
    }
    /// Adds the echo requests to one target. Without times in the log they were sent `interval_s`
    /// apart or, if that is not known either, a second, as is usual.
    pub(crate) fn echoes(
        &mut self,
        echoes: &Echoes,
        key: SeriesKey,
        interval_s: Option<f64>,
    ) -> Result<(), Problem> {
        let interval_s = echoes.interval_s().or(interval_s);
        let step_s = interval_s.unwrap_or(USUAL_INTERVAL_S);
        self.start_s = self.start_s.or_else(|| echoes.start_s(step_s));
        match self.start_s {
            Some(start_s) => self.started(start_s),
            None => self.lacks(Unrecorded::SendTimes),
        }
        self.add(echoes.series(key, self.start_s, step_s)?);
        let assumed = if interval_s.is_none() { " (assumed)" } else { "" };
        self.fact(Fact::ProbeInterval, format!("{}{assumed}", Duration::from_secs_f64(step_s)));
        Ok(())
    }
    fn phase(&mut self, kind: PhaseKind, (start_ns, end_ns): (u64, u64), load: Option<Load>) {
        self.run.phases.push(Phase { kind, start_ns, end_ns, end: PhaseEnd::TimeLimit, load });
    }
    /// Adds the phases of flows that were started together, or of one direction.
    pub(crate) fn load(
        &mut self,
        loads: PerDirection<Option<Loaded>>,
        congestion_control: &str,
    ) -> Result<(), Problem> {
        let spans = loads.as_ref().map(|load| load.as_ref().map(|load| load.span));
        let phase = |(kind, span): (PhaseKind, (u64, u64))| {
            let of = |direction| loads[direction].as_ref().filter(|_| kind.loads().contains(&direction));
            let (up, down) = (of(Direction::Up), of(Direction::Down));
            let load = Load {
                flows_up: up.map_or(0, |load| load.flows),
                flows_down: down.map_or(0, |load| load.flows),
                congestion_control: congestion_control.into(),
                delivered_up_bytes: up.map_or(0, |load| load.bytes_within(span)),
                delivered_down_bytes: down.map_or(0, |load| load.bytes_within(span)),
            };
            (kind, span, load)
        };
        self.phases(loaded_phases(spans).into_iter().map(phase).collect())
    }
    /// Adds phases with load. The time before them is idle. The time after them is in no phase: the
    /// last report of a tool is not the end of its load, whose data may wait in a sender.
    pub(crate) fn phases(&mut self, mut loads: Vec<(PhaseKind, (u64, u64), Load)>) -> Result<(), Problem> {
        loads.sort_by_key(|(_, span, _)| *span);
        let first = loads.first().ok_or(Problem::Truncated)?.1.0;
        if first > 0 {
            self.phase(PhaseKind::Idle, (0, first), None);
        }
        let mut until = first;
        for (kind, (start, end), load) in loads {
            let start = start.max(until);
            // The last rate is known at the end of its interval, which a phase does not include.
            until = end.saturating_add(1).max(start);
            self.phase(kind, (start, until), Some(load));
        }
        Ok(())
    }
    /// Just after the last observation.
    fn end_ns(&self) -> u64 {
        let last = self.run.series.iter().filter_map(|series| series.at_ns.last()).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
    /// Says why the run is incomplete.
    pub(crate) fn interrupted(&mut self, why: Interruption) {
        self.run.partial = Some(why);
    }
    /// Makes the run a period with an unknown load: the tool made none, and others may have.
    pub(crate) fn unknown_load(&mut self, target: &str) {
        self.lacks(Unrecorded::Load);
        self.phase(PhaseKind::Watch, (0, self.end_ns()), None);
        self.run.history = Some(History { target: target.into(), ..History::default() });
    }
    /// The run, if it is valid.
    pub(crate) fn finish(mut self) -> Result<Run, Problem> {
        if !self.unrecorded.is_empty() {
            self.run.notes.push(Note::NotRecorded {
                tool: self.tool.into(),
                what: self.unrecorded.into_iter().collect(),
            });
        }
        self.run.check()?;
        Ok(self.run)
    }
}

/// The load of one direction.
pub(crate) struct Loaded {
    pub(crate) flows: u32,
    pub(crate) bytes: u64,
    pub(crate) span: (u64, u64),
}

impl Loaded {
    /// Bytes delivered within `span`, at a constant rate.
    fn bytes_within(&self, span: (u64, u64)) -> u64 {
        let (start, end) = self.span;
        let common = span.1.min(end).saturating_sub(span.0.max(start));
        (self.bytes as f64 * common as f64 / end.saturating_sub(start).max(1) as f64) as u64
    }
}

/// Flows of both directions that were started together begin within this time: their connections
/// wait in the queue that the first of them fill.
const TOGETHER_NS: u64 = 5_000_000_000;
/// Flows that were stopped together have their last reports within this time.
const REPORT_NS: u64 = 500_000_000;

/// Name of a load in one direction.
pub(crate) const fn alone(direction: Direction) -> PhaseKind {
    match direction {
        Direction::Up => PhaseKind::Up,
        Direction::Down => PhaseKind::Down,
    }
}

/// The phases between the starts and ends of the directions.
fn loaded_phases(spans: PerDirection<Option<(u64, u64)>>) -> Vec<(PhaseKind, (u64, u64))> {
    let (Some(up), Some(down)) = (spans.up, spans.down) else {
        let known = Direction::BOTH.into_iter().find_map(|d| Some((alone(d), spans[d]?)));
        return known.into_iter().collect();
    };
    let (first, other) = if up.0 <= down.0 { (Direction::Up, down) } else { (Direction::Down, up) };
    let one = if first == Direction::Up { up } else { down };
    let is_together = one.1.abs_diff(other.1) < REPORT_NS;
    let both = (other.0, if is_together { one.1.max(other.1) } else { one.1.min(other.1) });
    let last = if one.1 > other.1 { first } else { first.reverse() };
    let all = [
        (alone(first), (one.0, one.1.min(other.0))),
        (PhaseKind::Both, both),
        (alone(last), (other.0.max(both.1), one.1.max(other.1))),
    ];
    let length = |(from, to): (u64, u64)| to.saturating_sub(from);
    let shortest = TOGETHER_NS.min(length(both)).max(1);
    all.into_iter().filter(|(_, span)| length(*span) >= shortest).collect()
}

/// A series of observed values at times in nanoseconds.
pub(crate) fn observed(key: SeriesKey, points: impl IntoIterator<Item = (u64, f64)>) -> Series {
    let mut series = Series::new(key);
    for (at, value) in points {
        series.push(Observation { at: Time::from_nanos(at), value: Value::Observed(value) });
    }
    series
}

/// The key of a metric of one load flow.
pub(crate) fn of_flow(metric: Metric, direction: Direction, flow: u32) -> SeriesKey {
    SeriesKey { flow: Some(flow), ..SeriesKey::directed(metric, direction) }
}

/// A rate over an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) bits_per_second: f64,
}

impl Interval {
    fn bits_within(&self, start_ns: u64, end_ns: u64) -> f64 {
        let common = self.end_ns.min(end_ns).saturating_sub(self.start_ns.max(start_ns));
        self.bits_per_second * common as f64 / 1e9
    }
    pub(crate) fn bytes(&self) -> f64 {
        self.bits_within(self.start_ns, self.end_ns) / 8.0
    }
}

/// Rates of the flows of one direction, each in time order.
#[derive(Default)]
pub(crate) struct Flows(pub(crate) Vec<Vec<Interval>>);

impl Flows {
    /// First start and last end.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let start = self.0.iter().flatten().map(|interval| interval.start_ns).min()?;
        Some((start, self.0.iter().flatten().map(|interval| interval.end_ns).max()?))
    }
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().flatten().map(Interval::bytes).sum::<f64>() as u64
    }
    /// Goodput of each flow and of all. Flows report at different times, so the sum is that of
    /// their mean rates between the reports of the first flow.
    pub(crate) fn series(&self, direction: Direction) -> Vec<Series> {
        let goodput = |key, flow: &[Interval]| {
            observed(key, flow.iter().map(|interval| (interval.end_ns, interval.bits_per_second)))
        };
        let sum = goodput(SeriesKey::directed(Metric::Goodput, direction), &self.sum());
        let mut all = vec![sum];
        if self.0.len() > 1 {
            for (flow, number) in self.0.iter().zip(0..) {
                all.push(goodput(of_flow(Metric::Goodput, direction, number), flow));
            }
        }
        all
    }
    /// Rate of all flows.
    pub(crate) fn sum(&self) -> Vec<Interval> {
        let [one] = self.0.as_slice() else { return self.sum_of_many() };
        one.clone()
    }
    fn sum_of_many(&self) -> Vec<Interval> {
        // The flow with most reports gives the finest grid.
        let Some(grid) = self.0.iter().max_by_key(|flow| flow.len()) else { return Vec::new() };
        let mut sums: Vec<Interval> =
            grid.iter().map(|cell| Interval { bits_per_second: 0.0, ..*cell }).collect();
        for flow in &self.0 {
            let mut at = 0;
            for cell in &mut sums {
                // An interval that ends before this cell is over for all later ones too.
                while flow.get(at).is_some_and(|interval| interval.end_ns <= cell.start_ns) {
                    at += 1;
                }
                let inside = flow[at..].iter().take_while(|interval| interval.start_ns < cell.end_ns);
                let bits: f64 = inside.map(|one| one.bits_within(cell.start_ns, cell.end_ns)).sum();
                cell.bits_per_second += bits * 1e9 / cell.end_ns.saturating_sub(cell.start_ns).max(1) as f64;
            }
        }
        sums
    }
}
