//! Data files of Flent, versions 1 to 4.
use crate::draft::{Draft, Flows, Interval, Loaded, delay, nanos, observed};
use crate::echoes::Echoes;
use crate::error::Problem;
use crate::one_way::{Probe, one_way};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_probe::FourStamps;
use fathom_run::{Metric, Run, Series, SeriesKey, Unrecorded};
use fathom_units::{Direction, PerDirection, Time};
use serde::Deserialize;

mod loose;

use loose::Loose;

/// Latest version of the format.
const VERSION: u32 = 4;
/// Series that Flent computes from others.
const COMPUTED: [&str; 3] = ["avg", "sum", "totals"];

#[derive(Deserialize)]
struct File {
    #[serde(default = "first_version")]
    version: u32,
    metadata: Metadata,
    x_values: Vec<Loose>,
    results: BTreeMap<String, Vec<Loose>>,
    #[serde(default)]
    raw_values: BTreeMap<String, Vec<Option<Raw>>>,
}

/// Version 1 had no number.
const fn first_version() -> u32 {
    1
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "UPPERCASE", default)]
struct Metadata {
    name: Option<String>,
    host: Option<String>,
    title: Option<String>,
    flent_version: Option<String>,
    netperf_wrapper_version: Option<String>,
    series_meta: BTreeMap<String, SeriesMeta>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "UPPERCASE", default)]
struct SeriesMeta {
    /// Where version 1 has the measured values.
    raw_values: Option<Vec<Option<Raw>>>,
    cong_control: Option<String>,
}

/// A measured value.
#[derive(Deserialize, Clone, Copy)]
struct Raw {
    /// When it was known, in seconds since 1970.
    t: f64,
    #[serde(default)]
    val: Loose,
    /// Length of the interval of which it is the mean.
    #[serde(default)]
    dur: Loose,
    /// Delay to the server in ms, by clocks that differ.
    #[serde(default)]
    owd_up: Loose,
    #[serde(default)]
    seq: Loose,
    /// True, or the number of something else in a series that is no ping.
    #[serde(default)]
    lost: Loose,
}

impl Raw {
    fn at(t: f64, val: Loose) -> Self {
        let none = Loose::default();
        Raw { t, val, dur: none, owd_up: none, seq: none, lost: none }
    }
    fn is_lost(self) -> bool {
        self.lost.get() == Some(1.0)
    }
    fn starts_s(self) -> f64 {
        self.t - self.dur.get().unwrap_or(0.0)
    }
}

/// The measured values of each series.
struct Values {
    by_name: BTreeMap<String, Vec<Raw>>,
    /// Values of Flent's grid, because the file has no others.
    is_interpolated: bool,
}

impl Values {
    fn new(file: &mut File) -> Self {
        let in_metadata = file.metadata.series_meta.iter_mut();
        let moved = in_metadata.filter_map(|(name, meta)| Some((name.clone(), meta.raw_values.take()?)));
        let measured = core::mem::take(&mut file.raw_values).into_iter().chain(moved.collect::<Vec<_>>());
        let by_name: BTreeMap<String, Vec<Raw>> =
            measured.map(|(name, values)| (name, values.into_iter().flatten().collect())).collect();
        if by_name.values().any(|values| !values.is_empty()) {
            return Values { by_name, is_interpolated: false };
        }
        let on_grid = |values: &Vec<Loose>| {
            let points = file.x_values.iter().zip(values);
            let raw = |(x, val): (&Loose, &Loose)| Some(Raw::at(x.get()?, *val));
            points.filter_map(raw).collect()
        };
        let interpolated = file.results.iter().map(|(name, values)| (name.clone(), on_grid(values)));
        Values { by_name: interpolated.collect(), is_interpolated: true }
    }
    /// Series that Flent did not compute from others.
    fn measured(&self) -> impl Iterator<Item = (&str, &[Raw])> {
        let is_measured = |name: &str| !COMPUTED.iter().any(|word| name.ends_with(word));
        let all = self.by_name.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        all.filter(move |(name, values)| {
            is_measured(name) && values.iter().any(|one| one.val.get().is_some())
        })
    }
    fn pings(&self) -> impl Iterator<Item = (&str, &[Raw])> {
        self.measured().filter_map(|(name, values)| Some((name.strip_prefix("Ping (ms)")?.trim(), values)))
    }
    fn loads(&self, direction: Direction) -> impl Iterator<Item = &[Raw]> {
        let word = if direction == Direction::Up { "upload" } else { "download" };
        let is_load = move |name: &str| name.contains(word) && !name.contains("UDP");
        self.measured().filter(move |(name, _)| is_load(name)).map(|(_, values)| values)
    }
    /// Time of the first value that is used, in seconds since 1970 or of the grid.
    fn start_s(&self) -> f64 {
        let pings = self.pings().flat_map(|(_, values)| values);
        let loads = Direction::BOTH.into_iter().flat_map(|direction| self.loads(direction)).flatten();
        // A ping is reported when it is answered.
        let sent = |one: &Raw| one.t - one.val.get().unwrap_or(0.0) / 1e3;
        let first = pings.map(sent).chain(loads.map(|one| one.starts_s()));
        first.filter(|start| start.is_finite()).fold(f64::INFINITY, f64::min)
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    let mut file: File = serde_json::from_slice(bytes)?;
    if file.version > VERSION {
        let version = file.version;
        return Err(Problem::Damaged(format!("its version is {version}, the latest known is {VERSION}")));
    }
    let mut values = Values::new(&mut file);
    if file.version < VERSION && !values.is_interpolated {
        convert_rates(&mut values);
    }
    let start_s = values.start_s();
    if !start_s.is_finite() {
        return Err(Problem::Lacks { what: "ping or load", command: "flent rrul_be" });
    }
    let meta = &file.metadata;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let version = meta.flent_version.as_ref().or(meta.netperf_wrapper_version.as_ref());
    let (host, test) = (text(&meta.host), text(&meta.name));
    let mut draft = Draft::new("flent", version.map_or("", String::as_str), &host);
    let user_title = meta.title.iter().filter(|title| !title.is_empty()).map(|title| format!(": {title}"));
    draft.title(format!("flent {test} to {host}{}", user_title.collect::<String>()));
    if values.is_interpolated {
        draft.lacks(Unrecorded::SingleRoundTrips);
    } else {
        draft.started(start_s);
    }
    add_pings(&mut draft, &values, start_s)?;
    let mut loads = PerDirection::from_fn(|_| None);
    for direction in Direction::BOTH {
        let flows = values.loads(direction).map(|flow| intervals(flow, start_s));
        let flows = Flows(flows.collect::<Result<_, _>>()?);
        let Some(span) = flows.span() else { continue };
        if direction == Direction::Up {
            draft.lacks(Unrecorded::ReceivedRates);
        }
        flows.series(direction).into_iter().for_each(|series| draft.add(series));
        loads[direction] = Some(Loaded { flows: flows.0.len() as u32, bytes: flows.bytes(), span });
    }
    if loads.iter().any(|(_, load)| load.is_some()) {
        let senders = meta.series_meta.values().find_map(|meta| meta.cong_control.clone());
        draft.load(loads, &senders.unwrap_or_default())?;
    } else {
        draft.unknown_load(&host);
    }
    draft.finish()
}

/// Before version 4, round trips of netperf were written as transactions per second.
fn convert_rates(values: &mut Values) {
    for (_, series) in values.by_name.iter_mut().filter(|(name, _)| name.contains("UDP")) {
        for one in series.iter_mut().filter(|one| one.dur.get().is_some()) {
            one.val = Loose(1e3 / one.val.0);
        }
    }
}

/// Rates of a flow. A value without its length is the mean since the value before it.
fn intervals(flow: &[Raw], start_s: f64) -> Result<Vec<Interval>, Problem> {
    let mut intervals = Vec::new();
    let mut before = None;
    for one in flow {
        let Some(mbits_per_second) = one.val.get() else { continue };
        let end_ns = nanos(one.t - start_s)?;
        let from = one.dur.get().map(|_| nanos((one.starts_s() - start_s).max(0.0))).transpose()?;
        if let Some(start_ns) = from.or(before) {
            let bits_per_second = mbits_per_second * 1e6;
            intervals.push(Interval { start_ns: start_ns.min(end_ns), end_ns, bits_per_second });
        }
        before = Some(end_ns);
    }
    Ok(intervals)
}

/// Adds the round trips. Of several pings of one kind, that of best effort is judged, and the
/// others have scopes.
fn add_pings(draft: &mut Draft, values: &Values, start_s: f64) -> Result<(), Problem> {
    let is_udp = |name: &str| name.contains("UDP");
    let mut icmp: Vec<_> = values.pings().filter(|(name, _)| !is_udp(name)).collect();
    let mut udp: Vec<_> = values.pings().filter(|(name, _)| is_udp(name)).collect();
    // netperf counts round trips, of which it has only one at a time: their means hide long ones.
    let is_mean = |ping: &[Raw]| ping.iter().any(|one| one.dur.get().is_some());
    if udp.iter().any(|(_, ping)| is_mean(ping)) {
        if icmp.is_empty() {
            draft.lacks(Unrecorded::SingleRoundTrips);
        } else {
            udp.retain(|(_, ping)| !is_mean(ping));
        }
    }
    if icmp.is_empty() && udp.is_empty() {
        draft.lacks(Unrecorded::Probes);
    }
    for (metric, pings) in [(Metric::UdpRtt, &mut udp), (Metric::IcmpRtt, &mut icmp)] {
        pings.sort_by_key(|(name, _)| (metric == Metric::UdpRtt && !name.contains("BE"), name.len()));
        for (number, (name, ping)) in pings.iter().enumerate() {
            let scope = (number > 0).then(|| name.to_string());
            let key = SeriesKey { scope, ..SeriesKey::of(metric) };
            draft.add(round_trips(key, ping, start_s)?);
        }
    }
    match udp.first() {
        Some((_, probes)) => one_way(draft, stamped(probes, start_s)?),
        None => draft.lacks(Unrecorded::OneWayDelays),
    }
    Ok(())
}

fn round_trips(key: SeriesKey, ping: &[Raw], start_s: f64) -> Result<Series, Problem> {
    if ping.iter().all(|one| one.seq.get().is_some()) {
        let mut echoes = Echoes::default();
        for one in ping {
            match one.val.get().filter(|_| !one.is_lost()) {
                Some(rtt_ms) => echoes.answer(one.seq.0 as u64, delay(rtt_ms, 1e-3)?, Some(one.t)),
                None => echoes.lost(one.seq.0 as u64),
            }
        }
        return echoes.series(key, Some(start_s), 0.0);
    }
    let mut points = Vec::new();
    for one in ping {
        if let Some(rtt_ms) = one.val.get() {
            let rtt_s = delay(rtt_ms, 1e-3)?;
            points.push((nanos((one.t - rtt_s - start_s).max(0.0))?, rtt_s));
        }
    }
    // Values are in the order of the answers.
    points.sort_by_key(|(at, _)| *at);
    Ok(observed(key, points))
}

/// A clock of the server whose times are positive, whatever its offset.
const SERVER_CLOCK_NS: f64 = 4e18;

/// UDP probes with the times at which the server got them.
fn stamped(ping: &[Raw], start_s: f64) -> Result<Vec<Probe>, Problem> {
    let mut probes = Vec::new();
    for one in ping.iter().filter(|one| !one.is_lost()) {
        let (Some(rtt_ms), Some(up_ms)) = (one.val.get(), one.owd_up.get()) else { continue };
        let rtt_s = delay(rtt_ms, 1e-3)?;
        delay(up_ms.abs(), 1e-3)?;
        let at = nanos((one.t - rtt_s - start_s).max(0.0))?;
        let arrived_ns = i128::from(at) + SERVER_CLOCK_NS as i128 + (up_ms * 1e6) as i128;
        let arrived_ns = u64::try_from(arrived_ns).unwrap_or(0);
        let stamps = FourStamps {
            sent: Time::from_nanos(at),
            server_received_ns: arrived_ns,
            server_sent_ns: arrived_ns,
            received: Time::from_nanos(at.saturating_add((rtt_s * 1e9) as u64)),
        };
        probes.push(Probe { at, stamps: Some(stamps), lost: None, waited_s: 0.0 });
    }
    probes.sort_by_key(|probe| probe.at);
    Ok(probes)
}
