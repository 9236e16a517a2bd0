//! What `@cloudflare/speedtest` measured: its `results.raw` as JSON.
//!
//! It transfers files of growing size, one after the other. The largest of a direction are the
//! load; smaller ones end before a queue is full.
use crate::draft::{Draft, Flows, Interval, alone, delay, nanos, observed};
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_run::{Fact, Load, Metric, Run, SeriesKey, Unrecorded};
use fathom_units::{Direction, WallTime};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    latency: Option<Stage<Transfers>>,
    download: Option<Stage<BTreeMap<u64, Transfers>>>,
    upload: Option<Stage<BTreeMap<u64, Transfers>>>,
    #[serde(rename = "packetLoss")]
    packet_loss: Option<Stage<Datagrams>>,
}

#[derive(Deserialize)]
struct Stage<T> {
    results: T,
}

/// Transfers of one size, and the requests that were sent during them.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Transfers {
    timings: Vec<Timing>,
    side_latency: Vec<Timing>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timing {
    /// Time to the first byte less that of the server, in ms.
    ping: f64,
    /// Of the whole request, in ms.
    duration: f64,
    /// Its end.
    meas_time: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Datagrams {
    packet_loss: Option<f64>,
}

impl Timing {
    /// Start and end by the wall clock, in ns.
    fn span(&self) -> Result<(u64, u64), Problem> {
        let end = self.meas_time.parse::<WallTime>();
        let end = end.map_err(|_| Problem::Damaged(format!("invalid time \"{}\"", self.meas_time)))?.0;
        Ok((end.saturating_sub(nanos(self.duration / 1e3)?), end))
    }
}

/// The largest transfers of a direction.
fn largest(stage: &Option<Stage<BTreeMap<u64, Transfers>>>) -> Option<(u64, &Transfers)> {
    let sizes = stage.as_ref()?.results.iter().rev();
    sizes.map(|(bytes, all)| (*bytes, all)).find(|(_, all)| !all.timings.is_empty())
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    let file: File = serde_json::from_slice(bytes)?;
    let loads: Vec<_> = [(Direction::Down, &file.download), (Direction::Up, &file.upload)]
        .into_iter()
        .filter_map(|(direction, stage)| Some((direction, largest(stage)?)))
        .collect();
    let idle = file.latency.iter().flat_map(|stage| &stage.results.timings);
    let probes = idle.chain(loads.iter().flat_map(|(_, (_, all))| &all.side_latency));
    let mut pings = Vec::new();
    for one in probes {
        pings.push((one.span()?.0, delay(one.ping, 1e-3)?));
    }
    let mut transfers = Vec::new();
    for (direction, (size, all)) in &loads {
        let spans = all.timings.iter().map(Timing::span).collect::<Result<Vec<_>, _>>()?;
        transfers.push((*direction, *size, spans));
    }
    let starts = transfers.iter().flat_map(|(_, _, spans)| spans.iter().map(|span| span.0));
    let zero_ns = starts.chain(pings.iter().map(|(at, _)| *at)).min().ok_or(Problem::Truncated)?;
    let since = |at: u64| nanos(at.saturating_sub(zero_ns) as f64 / 1e9);
    let mut draft = Draft::new("@cloudflare/speedtest", "", "");
    draft.started(zero_ns as f64 / 1e9);
    draft.lacks(Unrecorded::OneWayDelays);
    if let Some(ratio) = file.packet_loss.and_then(|stage| stage.results.packet_loss) {
        draft.fact(Fact::Other("packet loss".into()), format!("{:.2} %", ratio * 100.0));
    }
    pings.sort_by_key(|(at, _)| *at);
    let pings = pings.into_iter().map(|(at, rtt_s)| Ok((since(at)?, rtt_s)));
    draft.add(observed(SeriesKey::of(Metric::HttpKept), pings.collect::<Result<Vec<_>, Problem>>()?));
    let mut phases = Vec::new();
    for (direction, size, spans) in transfers {
        let mut flow = Vec::new();
        for (start, end) in spans {
            let (start_ns, end_ns) = (since(start)?, since(end)?);
            let seconds = end_ns.saturating_sub(start_ns).max(1) as f64 / 1e9;
            flow.push(Interval { start_ns, end_ns, bits_per_second: size as f64 * 8.0 / seconds });
        }
        flow.sort_by_key(|interval| interval.end_ns);
        let flows = Flows(vec![flow]);
        let Some(span) = flows.span() else { continue };
        flows.series(direction).into_iter().for_each(|series| draft.add(series));
        let mut load = Load::default();
        match direction {
            Direction::Up => (load.flows_up, load.delivered_up_bytes) = (1, flows.bytes()),
            Direction::Down => (load.flows_down, load.delivered_down_bytes) = (1, flows.bytes()),
        }
        phases.push((alone(direction), span, load));
    }
    if phases.is_empty() {
        draft.unknown_load("");
    } else {
        draft.phases(phases)?;
    }
    draft.finish()
}
