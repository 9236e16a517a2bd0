//! Raw result files of Crusader (`.crr`), versions 1 and 2.
//!
//! A header of two little-endian numbers, the mark of the format and its version, precedes a
//! MessagePack document. Crusader packs the document with Snappy; [`crate::import`] takes it
//! unpacked.
use crate::draft::{Draft, Flows, Interval, alone, observed};
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Fact, Load, Metric, Observation, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Duration, PerDirection, Time};

mod pack;

use pack::Reader;

/// Begin of a file.
pub(crate) const MAGIC: [u8; 8] = 0x5372_ab82_ae7c_59cb_u64.to_le_bytes();
/// Length of the mark and the version.
pub(crate) const HEADER_BYTES: usize = 16;

#[derive(Default)]
struct File {
    generated_by: String,
    ping_interval_ns: u64,
    server_overload: bool,
    groups: Vec<Group>,
    pings: Vec<Ping>,
}

/// The streams of one direction of a load.
#[derive(Default)]
struct Group {
    is_download: bool,
    is_both: bool,
    streams: Vec<Vec<Point>>,
}

/// Bytes received until a time.
#[derive(Default, Clone, Copy)]
struct Point {
    at: u64,
    bytes: u64,
}

#[derive(Default)]
struct Ping {
    sent: u64,
    /// Delay to the server by synchronized clocks, if it arrived there.
    up: Option<u64>,
    /// Round trip, if it was answered.
    total: Option<u64>,
}

impl File {
    fn read(input: &mut Reader<'_>) -> Result<Self, Problem> {
        let mut file = File::default();
        input.map(&mut |key, reader| {
            match key {
                "generated_by" => file.generated_by = reader.text()?.into(),
                "server_overload" => file.server_overload = reader.boolean()?,
                "config" => reader.map(&mut |name, inner| {
                    match name {
                        "ping_interval" => file.ping_interval_ns = inner.duration()?,
                        _ => inner.skip()?,
                    }
                    Ok(())
                })?,
                "stream_groups" => file.groups = reader.list(Group::read)?,
                "pings" => file.pings = reader.list(Ping::read)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(file)
    }
}

impl Group {
    fn read(input: &mut Reader<'_>) -> Result<Self, Problem> {
        let mut group = Group::default();
        input.map(&mut |key, reader| {
            match key {
                "download" => group.is_download = reader.boolean()?,
                "both" => group.is_both = reader.boolean()?,
                "streams" => group.streams = reader.list(stream)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(group)
    }
    const fn direction(&self) -> Direction {
        if self.is_download { Direction::Down } else { Direction::Up }
    }
    fn flows(&self) -> Flows {
        Flows(self.streams.iter().map(|points| intervals(points)).collect())
    }
}

fn stream(input: &mut Reader<'_>) -> Result<Vec<Point>, Problem> {
    let mut points = Vec::new();
    input.map(&mut |key, reader| {
        match key {
            "data" => points = reader.list(Point::read)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(points)
}

impl Point {
    fn read(input: &mut Reader<'_>) -> Result<Self, Problem> {
        let mut point = Point::default();
        input.map(&mut |key, reader| {
            match key {
                "time" => point.at = reader.duration()?,
                "bytes" => point.bytes = reader.number()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(point)
    }
}

impl Ping {
    fn read(input: &mut Reader<'_>) -> Result<Self, Problem> {
        let mut ping = Ping::default();
        input.map(&mut |key, reader| {
            match key {
                "sent" => ping.sent = reader.duration()?,
                "latency" if !reader.nil() => reader.map(&mut |name, inner| {
                    match name {
                        "up" => ping.up = Some(inner.duration()?),
                        "total" if !inner.nil() => ping.total = Some(inner.duration()?),
                        "total" => {}
                        _ => inner.skip()?,
                    }
                    Ok(())
                })?,
                "latency" => {}
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(ping)
    }
}

/// Rates between the reports of a stream.
fn intervals(points: &[Point]) -> Vec<Interval> {
    let rate = |pair: &[Point]| {
        let [before, now] = *pair else { return None };
        let took_ns = now.at.checked_sub(before.at).filter(|took| *took > 0)?;
        let bits_per_second = now.bytes.checked_sub(before.bytes)? as f64 * 8e9 / took_ns as f64;
        Some(Interval { start_ns: before.at, end_ns: now.at, bits_per_second })
    };
    // Reports begin before the load.
    points.windows(2).filter_map(rate).skip_while(|interval| interval.bits_per_second <= 0.0).collect()
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    let (header, document) = bytes.split_at_checked(HEADER_BYTES).ok_or(Problem::Truncated)?;
    let version = header.iter().skip(MAGIC.len()).rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    if !(1..=2).contains(&version) {
        return Err(Problem::Damaged(format!("its version is {version}, the latest known is 2")));
    }
    let file = File::read(&mut Reader::new(document))?;
    let tool_version = file.generated_by.trim_start_matches("Crusader ").split(" (").next().unwrap_or("");
    let mut draft = Draft::new("crusader", tool_version, "");
    draft.fact(Fact::ProbeInterval, Duration::from_nanos(file.ping_interval_ns).to_string());
    if file.server_overload {
        // The tool says that such a result should be discarded.
        draft.fact(Fact::Other("server overload".into()), "yes".into());
    }
    add_pings(&mut draft, &file.pings);
    add_loads(&mut draft, &file.groups)?;
    draft.finish()
}

fn add_pings(draft: &mut Draft, pings: &[Ping]) {
    let end = pings.iter().map(|ping| ping.sent.saturating_add(ping.total.unwrap_or(0))).max().unwrap_or(0);
    let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    let mut rtt = Series::new(SeriesKey::of(Metric::UdpRtt));
    let mut one_way = PerDirection::from_fn(|d| Series::new(SeriesKey::directed(Metric::OneWayDelay, d)));
    for ping in pings {
        let at = Time::from_nanos(ping.sent);
        let lost = Value::Censored { at_least: seconds(end.saturating_sub(ping.sent)) };
        let value = |ns: Option<u64>| ns.map_or(lost, |ns| Value::Observed(seconds(ns)));
        rtt.push(Observation { at, value: value(ping.total) });
        one_way.up.push(Observation { at, value: value(ping.up) });
        // A probe that did not reach the server has no delay on the way back.
        if let Some(up) = ping.up {
            let down = ping.total.map(|total| total.saturating_sub(up));
            one_way.down.push(Observation { at, value: value(down) });
        }
    }
    draft.add(rtt);
    one_way.into_iter().for_each(|(_, series)| draft.add(series));
}

/// Adds the loads, each of which is a group or, in both directions at once, two.
fn add_loads(draft: &mut Draft, groups: &[Group]) -> Result<(), Problem> {
    let mut phases: BTreeMap<PhaseKind, ((u64, u64), Load)> = BTreeMap::new();
    for direction in Direction::BOTH {
        let of_direction = groups.iter().filter(|group| group.direction() == direction);
        let mut points = Vec::new();
        for (group, flows) in of_direction.map(|group| (group, group.flows())) {
            let Some((start, end)) = flows.span() else { continue };
            points.extend(flows.sum().iter().map(|one| (one.end_ns, one.bits_per_second)));
            let kind = if group.is_both { PhaseKind::Both } else { alone(direction) };
            let ((from, to), load) = phases.entry(kind).or_insert(((start, end), Load::default()));
            (*from, *to) = (start.min(*from), end.max(*to));
            let (count, bytes) = (flows.0.len() as u32, flows.bytes());
            match direction {
                Direction::Up => (load.flows_up, load.delivered_up_bytes) = (count, bytes),
                Direction::Down => (load.flows_down, load.delivered_down_bytes) = (count, bytes),
            }
        }
        points.sort_by_key(|(at, _)| *at);
        draft.add(observed(SeriesKey::directed(Metric::Goodput, direction), points));
    }
    if phases.is_empty() {
        draft.unknown_load("");
        return Ok(());
    }
    draft.phases(phases.into_iter().map(|(kind, (span, load))| (kind, span, load)).collect())
}
