//! Output of `irtt client -o`.
use crate::draft::{Draft, delay};
use crate::error::Problem;
use crate::one_way::{Probe, one_way};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_probe::FourStamps;
use fathom_run::{Fact, Metric, Observation, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Duration, Time};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    version: Version,
    config: Config,
    stats: Option<Stats>,
    round_trips: Vec<RoundTrip>,
}

#[derive(Deserialize, Default)]
struct Version {
    #[serde(default)]
    irtt: String,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    remote_address: String,
    params: Parameters,
}

#[derive(Deserialize)]
struct Parameters {
    /// In ns.
    interval: u64,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    duplicates: u32,
    #[serde(default)]
    late_packets: u32,
}

#[derive(Deserialize)]
struct RoundTrip {
    lost: String,
    timestamps: Timestamps,
    delay: Delays,
}

#[derive(Deserialize)]
struct Timestamps {
    client: Client,
    #[serde(default)]
    server: Server,
}

#[derive(Deserialize)]
struct Client {
    send: Stamp,
    #[serde(default)]
    receive: Stamp,
}

#[derive(Deserialize, Default)]
struct Server {
    #[serde(default)]
    receive: Stamp,
    #[serde(default)]
    send: Stamp,
}

/// A time in ns. With `--clock` the server may report one of its clocks only.
#[derive(Deserialize, Default, Clone, Copy)]
struct Stamp {
    #[serde(default)]
    wall: u64,
    #[serde(default)]
    monotonic: u64,
}

#[derive(Deserialize)]
struct Delays {
    /// Round trip without the time that the server held the packet, in ns.
    rtt: Option<f64>,
}

impl Stamp {
    const fn monotonic(self) -> Option<u64> {
        if self.monotonic > 0 { Some(self.monotonic) } else { None }
    }
    const fn wall(self) -> Option<u64> {
        if self.wall > 0 { Some(self.wall) } else { None }
    }
}

impl RoundTrip {
    /// Timestamps of both ends, with the send time relative to `first`; `None` unless the packet
    /// was answered and the server stamped arrival and departure.
    fn stamps(&self, first: u64) -> Option<FourStamps> {
        let Timestamps { client, server } = &self.timestamps;
        let on_server = |clock: fn(Stamp) -> Option<u64>| clock(server.receive).zip(clock(server.send));
        let (server_received_ns, server_sent_ns) =
            on_server(Stamp::monotonic).or_else(|| on_server(Stamp::wall))?;
        let at = |stamp: Stamp| Some(Time::from_nanos(stamp.monotonic()?.checked_sub(first)?));
        let (sent, received) = at(client.send).zip(at(client.receive))?;
        self.delay.rtt.map(|_| FourStamps { sent, server_received_ns, server_sent_ns, received })
    }
    /// The direction in which it was lost, if the server reported what it received.
    fn lost_in(&self) -> Option<Direction> {
        match self.lost.as_str() {
            "true_up" => Some(Direction::Up),
            "true_down" => Some(Direction::Down),
            _ => None,
        }
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    let file: File = serde_json::from_slice(bytes)?;
    let Some(first) = file.round_trips.first().map(|one| one.timestamps.client.send) else {
        return Err(Problem::Lacks { what: "round trips", command: "irtt client -o FILE" });
    };
    let remote = &file.config.remote_address;
    let target = remote.rsplit_once(':').map_or(remote.as_str(), |(host, _)| host);
    let mut draft = Draft::new("irtt", &file.version.irtt, target);
    draft.started(first.wall as f64 / 1e9);
    draft.fact(Fact::ProbeInterval, Duration::from_nanos(file.config.params.interval).to_string());
    let sent = |one: &RoundTrip| one.timestamps.client.send.monotonic.checked_sub(first.monotonic);
    let times: Option<Vec<u64>> = file.round_trips.iter().map(sent).collect();
    let times = times.ok_or_else(|| Problem::Damaged("its clock runs backwards".into()))?;
    let end = times.last().copied().unwrap_or(0);
    let mut rtt = Series::new(SeriesKey::of(Metric::UdpRtt));
    for (one, at) in file.round_trips.iter().zip(&times) {
        let value = match one.delay.rtt {
            Some(rtt_ns) => Value::Observed(delay(rtt_ns, 1e-9)?),
            None => Value::Censored { at_least: (end - at.min(&end)) as f64 / 1e9 },
        };
        rtt.push(Observation { at: Time::from_nanos(*at), value });
    }
    if let Some(stats) = &file.stats {
        (rtt.duplicates, rtt.reordered) = (stats.duplicates, stats.late_packets);
    }
    draft.add(rtt);
    let probes = file.round_trips.iter().zip(times).map(|(one, at)| Probe {
        at,
        stamps: one.stamps(first.monotonic),
        lost: one.lost_in(),
        waited_s: (end - at.min(end)) as f64 / 1e9,
    });
    one_way(&mut draft, probes.collect());
    draft.unknown_load(target);
    draft.finish()
}
