//! Logs of goresponsiveness (`networkQuality -logger-filename`): one table for each kind of
//! measurement, each in its own file. Joined in one file, they are a run.
use crate::draft::{Draft, Flows, Interval, Loaded, nanos, observed, of_flow};
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Metric, Run, SeriesKey, Unrecorded};
use fathom_units::{Direction, PerDirection, WallTime};

/// Heading of the first column of each table.
const TIME: &str = "Time of the generation of the data point.";
const ROUND_TRIPS: &str = "The number of round trips measured by this data point.";
const DURATION: &str = "The duration for this measurement.";
const RTT: &str = "The underlying connection's RTT at probe time.";
const RATE: &str = "Instantaneous throughput (B/s).";
const CONNECTION: &str = "Position of connection (ID).";
const DIRECTION: &str = "Direction of Throughput.";
/// Type of a probe on a new connection.
const FOREIGN: &str = "Foreign";

/// Time over which the tool takes a rate without `-rpm.id`, in ns.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Rate in bit/s at the end of an interval, and the round-trip time of the connection in seconds.
type Report = (u64, f64, f64);

#[derive(Default)]
struct Log {
    /// Time of sending by the local clock, and the mean of the round trips.
    probes: Vec<(u64, f64)>,
    /// By number of the connection.
    rates: PerDirection<BTreeMap<u32, Vec<Report>>>,
}

impl Log {
    /// Adds a row if it is a probe on a new connection or a rate of one connection.
    fn add(&mut self, headings: &[&str], row: &[&str]) -> Result<(), Problem> {
        let cell = |name| row[headings.iter().position(|heading| *heading == name)?..].first().copied();
        let number = |name| {
            let text = cell(name).unwrap_or("");
            let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
            value.ok_or_else(|| Problem::Damaged(format!("invalid value \"{text}\"")))
        };
        if row.contains(&FOREIGN) {
            let rtt_s = number(DURATION)? / number(ROUND_TRIPS)?.max(1.0);
            self.probes.push((time(row[0])?, rtt_s));
        } else if let Some(direction) = cell(DIRECTION) {
            let direction = if direction == "Upload" { Direction::Up } else { Direction::Down };
            let flow = self.rates[direction].entry(number(CONNECTION)? as u32).or_default();
            flow.push((time(row[0])?, number(RATE)? * 8.0, number(RTT)?));
        }
        Ok(())
    }
    /// Time zero: the start of the first rate or, without one, the first probe.
    fn start_ns(&self) -> Option<u64> {
        let rates = self.rates.iter().flat_map(|(_, flows)| flows.values().flatten()).map(|report| report.0);
        let first = rates.min().map(|at| at.saturating_sub(INTERVAL_NS));
        first.or_else(|| self.probes.iter().map(|(at, _)| *at).min())
    }
}

/// Whether this line is the heading of a table.
pub(crate) fn is_line(line: &str) -> bool {
    line.starts_with(TIME)
}

/// `11-26-2026-11-28-44.093`, without a time zone.
fn time(text: &str) -> Result<u64, Problem> {
    let parts: Vec<&str> = text.split('-').collect();
    let known = match parts.as_slice() {
        [month, day, year, hour, minute, second] => {
            format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse::<WallTime>().ok()
        }
        _ => None,
    };
    known.map(|time| time.0).ok_or_else(|| Problem::Damaged(format!("invalid time \"{text}\"")))
}

pub(crate) fn read(text: &str) -> Result<Run, Problem> {
    let (mut log, mut headings) = (Log::default(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Vec<&str> = line.split(',').map(str::trim).collect();
        if row[0] == TIME {
            headings = row;
        } else if row.len() == headings.len() {
            log.add(&headings, &row)?;
        } else {
            return Err(Problem::Truncated);
        }
    }
    let Some(start_ns) = log.start_ns() else {
        return Err(Problem::Lacks { what: "probes and rates", command: "cat log-*.csv > all.csv" });
    };
    let mut draft = Draft::new("goresponsiveness", "", "");
    draft.lacks(Unrecorded::OneWayDelays);
    draft.lacks(Unrecorded::SingleRoundTrips);
    log.probes.retain(|(at, _)| *at >= start_ns);
    log.probes.sort_by_key(|(at, _)| *at);
    if log.probes.is_empty() {
        draft.lacks(Unrecorded::Probes);
    }
    let since = |at: u64| nanos(at.saturating_sub(start_ns) as f64 / 1e9);
    let probes = log.probes.iter().map(|(at, rtt_s)| Ok((since(*at)?, *rtt_s)));
    draft.add(observed(SeriesKey::of(Metric::HttpForeign), probes.collect::<Result<Vec<_>, Problem>>()?));
    let mut loads = PerDirection::from_fn(|_| None);
    for direction in Direction::BOTH {
        loads[direction] = add_flows(&mut draft, direction, &mut log.rates[direction], &since)?;
    }
    if loads.iter().any(|(_, load)| load.is_some()) {
        draft.load(loads, "")?;
    } else {
        draft.unknown_load("");
    }
    draft.finish()
}

fn add_flows(
    draft: &mut Draft,
    direction: Direction,
    rates: &mut BTreeMap<u32, Vec<Report>>,
    since: &impl Fn(u64) -> Result<u64, Problem>,
) -> Result<Option<Loaded>, Problem> {
    let mut flows = Flows::default();
    for (reports, number) in rates.values_mut().zip(0..) {
        reports.sort_by_key(|(at, _, _)| *at);
        let (mut flow, mut rtt, mut before) = (Vec::new(), Vec::new(), None);
        for (at, bits_per_second, rtt_s) in reports.iter() {
            let end_ns = since(*at)?;
            let start_ns = before.unwrap_or(end_ns.saturating_sub(INTERVAL_NS));
            flow.push(Interval { start_ns, end_ns, bits_per_second: *bits_per_second });
            // Without `-extended-stats` it is 0; this end sends in the upload only.
            rtt.extend((direction == Direction::Up && *rtt_s > 0.0).then_some((end_ns, *rtt_s)));
            before = Some(end_ns);
        }
        draft.add(observed(of_flow(Metric::FlowRtt, direction, number), rtt));
        flows.0.push(flow);
    }
    let Some(span) = flows.span() else { return Ok(None) };
    flows.series(direction).into_iter().for_each(|series| draft.add(series));
    Ok(Some(Loaded { flows: flows.0.len() as u32, bytes: flows.bytes(), span }))
}
