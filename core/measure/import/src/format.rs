//! The formats, and how a file shows its own.
use crate::error::Problem;
use crate::{
    cloudflare, crusader, flent, fping, goresponsiveness, iperf3, irtt, mtr, ndt7, network_quality, ping,
};
use alloc::string::{String, ToString};
use core::str::Utf8Error;
use fathom_run::Run;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Lines of a text that are searched for one of a known tool: other programs write a few before.
const SEARCHED_LINES: usize = 50;

/// A format that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// `results.raw` of `@cloudflare/speedtest`.
    Cloudflare,
    /// `results.getSummary()` of `@cloudflare/speedtest`, which has medians only.
    CloudflareSummary,
    /// A raw result file of Crusader, unpacked.
    Crusader,
    /// A data file of Flent.
    Flent,
    /// Output of `fping`.
    Fping,
    /// Logs of goresponsiveness, one after the other.
    Goresponsiveness,
    /// Output of `iperf3 --json`.
    Iperf3,
    /// Output of `iperf3 --json-stream`.
    Iperf3Stream,
    /// Output of `irtt client -o`.
    Irtt,
    /// Output of `mtr --raw`.
    Mtr,
    /// Output of `mtr --json`, which has means only.
    MtrReport,
    /// Output of `ndt7-client -format json`.
    Ndt7,
    /// Output of Apple's `networkQuality -c`.
    NetworkQuality,
    /// Output of `ping`.
    Ping,
}

/// Keys of JSON documents that only one tool writes.
#[derive(Deserialize)]
struct Keys {
    x_values: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
    intervals: Option<IgnoredAny>,
    start: Option<IgnoredAny>,
    round_trips: Option<IgnoredAny>,
    stats: Option<IgnoredAny>,
    config: Option<IgnoredAny>,
    report: Option<Report>,
    os_version: Option<IgnoredAny>,
    dl_throughput: Option<IgnoredAny>,
    error_domain: Option<IgnoredAny>,
    latency: Option<Latency>,
    jitter: Option<IgnoredAny>,
}

/// `latency` of `@cloudflare/speedtest`: an object in its `raw`, a number in its summary.
#[derive(Deserialize)]
#[serde(untagged)]
enum Latency {
    Raw { results: IgnoredAny, finished: IgnoredAny },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct Report {
    hubs: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Line {
    event: Option<String>,
    data: Option<IgnoredAny>,
    #[serde(rename = "Key")]
    key: Option<String>,
    #[serde(rename = "Value")]
    value: Option<IgnoredAny>,
}

/// The format of a file, by its content.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(&crusader::MAGIC) {
        return Some(Format::Crusader);
    }
    // Of several documents, which a server of iperf3 writes, the first decides.
    let mut documents = serde_json::Deserializer::from_slice(bytes).into_iter::<Keys>();
    if let Some(Ok(keys)) = documents.next()
        && let Some(format) = of_keys(&keys)
    {
        return Some(format);
    }
    let text = text(bytes).ok()?;
    text.lines().take(SEARCHED_LINES).find_map(|line| of_line(line.trim()))
}

fn of_keys(keys: &Keys) -> Option<Format> {
    let Keys { x_values, results, intervals, start, round_trips, stats, config, report, .. } = keys;
    let Keys { os_version, dl_throughput, error_domain, latency, jitter, .. } = keys;
    match () {
        () if dl_throughput.is_some() || os_version.is_some() && error_domain.is_some() => {
            Some(Format::NetworkQuality)
        }
        () if matches!(latency, Some(Latency::Raw { results: IgnoredAny, finished: IgnoredAny })) => {
            Some(Format::Cloudflare)
        }
        () if latency.is_some() && jitter.is_some() => Some(Format::CloudflareSummary),
        () if x_values.is_some() && results.is_some() => Some(Format::Flent),
        () if intervals.is_some() && start.is_some() => Some(Format::Iperf3),
        () if config.is_some() && (round_trips.is_some() || stats.is_some()) => Some(Format::Irtt),
        () if report.as_ref().is_some_and(|report| report.hubs.is_some()) => Some(Format::MtrReport),
        () => None,
    }
}

/// Whether a line is one of a tool.
type IsLine = fn(&str) -> bool;

fn of_line(line: &str) -> Option<Format> {
    if line.starts_with('{')
        && let Ok(line) = serde_json::from_str::<Line>(line)
    {
        let is_start = line.event.is_some_and(|event| event == "start") && line.data.is_some();
        let is_ndt7 = line.key.is_some() && line.value.is_some();
        if is_start || is_ndt7 {
            return Some(if is_start { Format::Iperf3Stream } else { Format::Ndt7 });
        }
    }
    let lines: [(Format, IsLine); 4] = [
        (Format::Goresponsiveness, goresponsiveness::is_line),
        (Format::Ping, ping::is_line),
        (Format::Fping, fping::is_line),
        (Format::Mtr, mtr::is_line),
    ];
    lines.into_iter().find(|(_, is_line)| is_line(line)).map(|(format, _)| format)
}

/// The text of a file without the byte order mark that Windows writes.
fn text(bytes: &[u8]) -> Result<&str, Utf8Error> {
    core::str::from_utf8(bytes).map(|text| text.trim_start_matches('\u{feff}'))
}

impl Format {
    /// All tools, for messages.
    pub const TOOLS: &'static str = "@cloudflare/speedtest, crusader, flent, fping, goresponsiveness, iperf3, irtt, mtr, ndt7-client, \
         networkQuality, ping";

    /// Name of the tool.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Cloudflare | Format::CloudflareSummary => "@cloudflare/speedtest",
            Format::Crusader => "crusader",
            Format::Flent => "flent",
            Format::Fping => "fping",
            Format::Goresponsiveness => "goresponsiveness",
            Format::Iperf3 | Format::Iperf3Stream => "iperf3",
            Format::Irtt => "irtt",
            Format::Mtr | Format::MtrReport => "mtr",
            Format::Ndt7 => "ndt7-client",
            Format::NetworkQuality => "networkQuality",
            Format::Ping => "ping",
        }
    }
    pub(crate) fn read(self, bytes: &[u8]) -> Result<Run, Problem> {
        let text = || text(bytes).map_err(|error| Problem::Damaged(error.to_string()));
        match self {
            Format::Cloudflare => cloudflare::read(bytes),
            Format::CloudflareSummary => Err(Problem::Lacks {
                what: "single round trips",
                command: "JSON.stringify(engine.results.raw)",
            }),
            Format::Crusader => crusader::read(bytes),
            Format::Flent => flent::read(bytes),
            Format::Fping => fping::read(text()?),
            Format::Goresponsiveness => goresponsiveness::read(text()?),
            Format::Iperf3 => iperf3::read(bytes),
            Format::Iperf3Stream => iperf3::read_stream(text()?),
            Format::Irtt => irtt::read(bytes),
            Format::Mtr => mtr::read(text()?),
            Format::MtrReport => Err(Problem::Lacks { what: "single round trips", command: "mtr --raw" }),
            Format::Ndt7 => ndt7::read(text()?),
            Format::NetworkQuality => network_quality::read(bytes),
            Format::Ping => ping::read(text()?),
        }
    }
}
