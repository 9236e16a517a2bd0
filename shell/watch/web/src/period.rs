//! Converts a period of the history of one target to a run.
use crate::findings::THIS_HOST;
use crate::past::{Past, Series as StoredSeries};
use fathom_diagnose::Zone;
use fathom_run::{
    History, Host, Instrument, Metric, NotSent, Observation, Phase, PhaseEnd, PhaseKind, Run, SCHEMA_VERSION,
    Series, SeriesKey, UtcOffset, Value,
};
use fathom_units::{Direction, Time, WallTime};
use fathom_watch_samples::{Outcome, Stored, Unit};
use std::fmt;

/// Maximum number of targets listed in an error.
const NAMED: usize = 8;

/// Why a period cannot be converted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PeriodError {
    /// The history has no such target.
    NoTarget {
        /// The target.
        target: String,
        /// Some of the existing targets.
        known: Vec<String>,
    },
    /// No probe was sent to the target in this period.
    NoProbe(Period),
    /// The history cannot be read; the reason.
    History(String),
}

impl fmt::Display for PeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeriodError::NoTarget { target, known } => {
                write!(f, "unknown target {target} in this history (available: {})", known.join(", "))
            }
            PeriodError::NoProbe(Period { target, from, to }) => {
                write!(f, "{target}: no probes from {from} to {to}")
            }
            PeriodError::History(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for PeriodError {}

impl From<String> for PeriodError {
    fn from(why: String) -> Self {
        PeriodError::History(why)
    }
}

/// A period of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Period {
    /// Name of the target.
    pub target: String,
    /// Start.
    pub from: WallTime,
    /// End.
    pub to: WallTime,
}

/// The results of the probes in `period`, with this host's traffic and path changes in that time.
///
/// # Errors
/// If the history cannot be read, or has no such target or no samples in that time.
pub fn period_run(past: &mut dyn Past, period: &Period, zone: &Zone) -> Result<Run, PeriodError> {
    let all = past.series()?;
    let mine: Vec<&StoredSeries> = all.iter().filter(|series| series.target == period.target).collect();
    if mine.is_empty() {
        return Err(unknown(&period.target, &all));
    }
    let mut series = Vec::new();
    for (stored, key) in keys(&mine) {
        let samples = past.samples(stored.id, period.from..period.to)?;
        series.extend((!samples.is_empty()).then(|| delays(key, &samples, period.from)));
    }
    if series.is_empty() {
        return Err(PeriodError::NoProbe(period.clone()));
    }
    for (word, direction) in [("sent", Direction::Up), ("received", Direction::Down)] {
        let is_it = |s: &&StoredSeries| {
            s.target == THIS_HOST && s.unit == Unit::BitsPerSecond && s.probe.rsplit(' ').next() == Some(word)
        };
        if let Some(stored) = all.iter().find(is_it) {
            let samples = past.samples(stored.id, period.from..period.to)?;
            series.push(levels(SeriesKey::directed(Metric::Goodput, direction), &samples, period.from));
        }
    }
    let since = |at: WallTime| at.0.saturating_sub(period.from.0);
    let events = past.events(period.from..period.to)?;
    let of_path = events
        .iter()
        .filter(|event| event.kind == "path" && mine.iter().any(|stored| Some(stored.id) == event.series));
    let history = History {
        target: period.target.clone(),
        utc_offsets: zone
            .0
            .iter()
            .map(|(at, offset_s)| UtcOffset { since_s: at.0 / 1_000_000_000, offset_s: *offset_s })
            .collect(),
        path_changes_ns: of_path.map(|event| since(event.at)).collect(),
    };
    Ok(run_of(period, series, history))
}

fn run_of(period: &Period, series: Vec<Series>, history: History) -> Run {
    let phase = Phase {
        kind: PhaseKind::Watch,
        start_ns: 0,
        end_ns: period.to.0.saturating_sub(period.from.0),
        end: PhaseEnd::TimeLimit,
        load: None,
    };
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "watch".to_owned(),
        started: period.from.to_string(),
        title: format!("{}, {} to {}", period.target, period.from, period.to),
        host: Host::default(),
        facts: Default::default(),
        phases: vec![phase],
        series,
        instrument: Instrument::default(),
        partial: None,
        capture: None,
        path: None,
        history: Some(history),
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: Vec::new(),
    }
}

fn unknown(target: &str, all: &[StoredSeries]) -> PeriodError {
    let mut known: Vec<String> =
        all.iter().map(|series| series.target.clone()).filter(|name| *name != THIS_HOST).collect();
    known.dedup();
    known.truncate(NAMED);
    PeriodError::NoTarget { target: target.to_owned(), known }
}

/// The series that are delays, with their keys. The first of a metric has no scope, so that it can
/// be compared with any run.
fn keys<'s>(mine: &[&'s StoredSeries]) -> Vec<(&'s StoredSeries, SeriesKey)> {
    let mut keys: Vec<(&StoredSeries, SeriesKey)> = Vec::new();
    for stored in mine.iter().filter(|series| series.unit == Unit::Seconds) {
        let Some(mut key) = key_of(&stored.probe) else { continue };
        if keys.iter().any(|(_, known)| *known == key) {
            key.scope = Some(stored.probe.clone());
        }
        keys.push((stored, key));
    }
    keys
}

/// Parses `icmp`, `tcp:443`, `udp up`, `hop 3 ipv6`. Phases of a connection are excluded, because
/// they are part of the whole.
fn key_of(probe: &str) -> Option<SeriesKey> {
    let mut words = probe.split([' ', ':']);
    let (first, rest) = (words.next()?, words.next());
    let is_part = [" connect", " handshake", " answer"].iter().any(|part| probe.ends_with(part));
    match first {
        _ if is_part => None,
        "icmp" => Some(SeriesKey::of(Metric::IcmpRtt)),
        "udp" if probe.ends_with(" up") => Some(SeriesKey::directed(Metric::OneWayDelay, Direction::Up)),
        "udp" if probe.ends_with(" down") => Some(SeriesKey::directed(Metric::OneWayDelay, Direction::Down)),
        "udp" => Some(SeriesKey::of(Metric::UdpRtt)),
        "tcp" => Some(SeriesKey::of(Metric::TcpConnect)),
        "tls" => Some(SeriesKey::of(Metric::TlsConnect)),
        "http" | "https" => Some(SeriesKey::of(Metric::HttpFirstByte)),
        "dns" => Some(SeriesKey::of(Metric::DnsRtt)),
        "hop" => Some(SeriesKey { scope: rest.map(str::to_owned), ..SeriesKey::of(Metric::HopRtt) }),
        _ => None,
    }
}

/// Late answers count as ordinary delays; the timeout of a lost probe is not stored.
fn delays(key: SeriesKey, samples: &[Stored], from: WallTime) -> Series {
    let mut series = Series::new(key);
    let mut failed = 0;
    for stored in samples {
        let sample = stored.sample();
        let value = match sample.outcome {
            Outcome::Answered(rtt) | Outcome::Late(rtt) => Value::Observed(rtt.as_secs_f64()),
            Outcome::Lost => Value::Censored { at_least: 0.0 },
            Outcome::Failed => {
                failed += 1;
                continue;
            }
        };
        series.push(Observation { at: since(sample.at, from), value });
    }
    if failed > 0 {
        series.not_sent.insert(NotSent::NoRoute, failed);
    }
    series
}

fn levels(key: SeriesKey, samples: &[Stored], from: WallTime) -> Series {
    let mut series = Series::new(key);
    for level in samples.iter().map(|stored| stored.level()) {
        if let Some(value) = level.value {
            series.push(Observation { at: since(level.at, from), value: Value::Observed(value) });
        }
    }
    series
}

fn since(at: WallTime, from: WallTime) -> Time {
    Time::from_nanos(at.0.saturating_sub(from.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_probe_has_a_metric() {
        let name = |probe: &str| key_of(probe).map(|key| key.metric.info().name);
        assert_eq!(name("icmp ipv6"), Some("icmp_rtt_s"));
        assert_eq!(name("tcp:443"), Some("tcp_connect_s"));
        assert_eq!((name("https"), name("https connect")), (Some("http_first_byte_s"), None));
        assert_eq!(key_of("udp up").and_then(|key| key.direction), Some(Direction::Up));
        assert_eq!(key_of("hop 3 ipv6").and_then(|key| key.scope).as_deref(), Some("3"));
        assert_eq!(name("backlog"), None);
    }

    #[test]
    fn the_second_series_of_a_metric_has_a_scope() {
        let stored = |id, probe: &str| StoredSeries {
            id,
            target: "home".into(),
            probe: probe.into(),
            unit: Unit::Seconds,
        };
        let all = [stored(1, "tcp:443"), stored(2, "tcp:80"), stored(3, "icmp")];
        let keys = keys(&all.iter().collect::<Vec<_>>());
        let scopes: Vec<_> = keys.iter().map(|(_, key)| key.scope.as_deref()).collect();
        assert_eq!(scopes, [None, Some("tcp:80"), None]);
    }
}
