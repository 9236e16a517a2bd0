//! Keys that targets, groups and defaults share; the most specific table wins.
use crate::error::Fault;
use crate::section::Section;
use crate::target::{Family, Protocol};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use fathom_probe::{ECHO_MIN_PAYLOAD_BYTES, Pace, dns};
use fathom_text::nearest;
use fathom_units::{Duration, dscp_of_name};

/// Keys of a target that groups and defaults also accept.
pub(crate) const SHARED_KEYS: [&str; 17] = [
    "probe",
    "interval",
    "round",
    "gap",
    "timeout",
    "family",
    "dscp",
    "source",
    "port",
    "size",
    "path",
    "query",
    "query_type",
    "max_hops",
    "token",
    "host",
    "url",
];

const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// Longest interval: a day. A longer one is not monitoring.
const MAX_INTERVAL: Duration = Duration::from_secs(86_400);
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);
/// Default of SmokePing: 20 probes, one second apart.
const DEFAULT_GAP: Duration = Duration::from_secs(1);
const MIN_GAP: Duration = Duration::from_millis(10);
const MAX_ROUND: u64 = 1_000;
const MIN_TIMEOUT: Duration = Duration::from_millis(10);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// Default timeout. Homes were seen with queues of 1.1 s, and a phone's radio takes 2 s to wake:
/// such replies are late answers, not losses.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// Default payload of ping(8), and the smallest that holds the probe identifier.
const DEFAULT_SIZE: u16 = 56;
/// The smallest payload that holds the probe identifier.
pub const MIN_SIZE: u16 = ECHO_MIN_PAYLOAD_BYTES as u16;
/// Largest payload that fits an Ethernet frame with its headers. A larger one would be fragmented,
/// which measures something else.
const MAX_SIZE: u64 = 1_452;
const DEFAULT_MAX_HOPS: u8 = 30;

/// One probe as written in the file: `icmp`, `tcp:443`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    pub(crate) protocol: Protocol,
    pub(crate) port: Option<u16>,
    pub(crate) offset: usize,
}

/// Keys of one table. Missing ones are inherited from the enclosing table.
#[derive(Clone, Default, Debug)]
pub(crate) struct Settings {
    pub(crate) probe: Option<Vec<Way>>,
    interval: Option<Duration>,
    round: Option<u32>,
    gap: Option<Duration>,
    timeout: Option<Duration>,
    families: Option<Vec<Family>>,
    dscp: Option<u8>,
    source: Option<IpAddr>,
    port: Option<u16>,
    size: Option<u16>,
    path: Option<String>,
    query: Option<String>,
    query_type: Option<u16>,
    max_hops: Option<u8>,
    token: Option<String>,
}

impl Settings {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Fault> {
        let short = |n: Option<u64>| n.and_then(|n| u16::try_from(n).ok());
        Ok(Settings {
            probe: ways(section)?,
            interval: duration(section, "interval", MIN_INTERVAL, MAX_INTERVAL)?,
            round: section.integer("round", 1, MAX_ROUND)?.and_then(|n| u32::try_from(n).ok()),
            gap: duration(section, "gap", MIN_GAP, MAX_INTERVAL)?,
            timeout: duration(section, "timeout", MIN_TIMEOUT, MAX_TIMEOUT)?,
            families: families(section)?,
            dscp: dscp(section)?,
            source: address(section)?,
            port: short(section.integer("port", 1, 65_535)?),
            size: short(section.integer("size", u64::from(MIN_SIZE), MAX_SIZE)?),
            path: path(section)?,
            query: query(section)?,
            query_type: query_type(section)?,
            max_hops: section.integer("max_hops", 1, 64)?.and_then(|n| u8::try_from(n).ok()),
            token: section.text("token")?.map(ToString::to_string),
        })
    }
    /// These settings, completed from `outer`.
    pub(crate) fn within(self, outer: &Settings) -> Settings {
        Settings {
            probe: self.probe.or_else(|| outer.probe.clone()),
            interval: self.interval.or(outer.interval),
            round: self.round.or(outer.round),
            gap: self.gap.or(outer.gap),
            timeout: self.timeout.or(outer.timeout),
            families: self.families.or_else(|| outer.families.clone()),
            dscp: self.dscp.or(outer.dscp),
            source: self.source.or(outer.source),
            port: self.port.or(outer.port),
            size: self.size.or(outer.size),
            path: self.path.or_else(|| outer.path.clone()),
            query: self.query.or_else(|| outer.query.clone()),
            query_type: self.query_type.or(outer.query_type),
            max_hops: self.max_hops.or(outer.max_hops),
            token: self.token.or_else(|| outer.token.clone()),
        }
    }
    pub(crate) fn pace(&self) -> Result<Pace, String> {
        let interval = self.interval.unwrap_or(DEFAULT_INTERVAL);
        let (probes, gap) = (self.round.unwrap_or(1), self.gap.unwrap_or(DEFAULT_GAP));
        let lasts = gap * u64::from(probes);
        if probes > 1 && lasts > interval {
            return Err(format!(
                "round: {probes} probes {gap} apart take {lasts}, longer than the interval of {interval} (use smaller gaps or fewer probes)"
            ));
        }
        Ok(Pace { interval, probes, gap })
    }
    /// Sets the path from a URL. A URL takes precedence over the key `path`.
    pub(crate) fn use_path(&mut self, path: String) {
        self.path = Some(path);
    }
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }
    pub(crate) fn families(&self) -> &[Family] {
        self.families.as_deref().unwrap_or(&[Family::Any])
    }
    pub(crate) fn options(&self, way: &Way) -> crate::target::ProbeOptions {
        crate::target::ProbeOptions {
            port: way.port.or(self.port).or(way.protocol.default_port()).unwrap_or(0),
            size: self.size.unwrap_or(DEFAULT_SIZE),
            dscp: self.dscp.unwrap_or(0),
            source: self.source,
            path: self.path.clone().unwrap_or_else(|| "/".to_string()),
            query: self.query.clone().unwrap_or_else(|| ".".to_string()),
            query_type: self.query_type.unwrap_or(if self.query.is_some() { TYPE_A } else { TYPE_NS }),
            max_hops: self.max_hops.unwrap_or(DEFAULT_MAX_HOPS),
            token: self.token.clone(),
        }
    }
}

pub(crate) fn duration(
    section: &Section<'_>,
    key: &str,
    low: Duration,
    high: Duration,
) -> Result<Option<Duration>, Fault> {
    let given = section.quantity::<Duration>(key)?;
    match given {
        Some(value) if value < low || value > high => Err(Fault::new(
            section.offset_of(key),
            format!("{key}: invalid value {value} (expected {low} to {})", long(high)),
        )),
        other => Ok(other),
    }
}

/// Formats a long duration in the unit that people use.
fn long(time: Duration) -> String {
    if time >= Duration::from_secs(600) {
        format!("{}min", time.as_nanos() / 60_000_000_000)
    } else {
        time.to_string()
    }
}

fn ways(section: &Section<'_>) -> Result<Option<Vec<Way>>, Fault> {
    let Some(texts) = section.texts("probe")? else { return Ok(None) };
    texts.into_iter().map(|(text, offset)| way(text, offset)).collect::<Result<_, _>>().map(Some)
}

fn way(text: &str, offset: usize) -> Result<Way, Fault> {
    let (name, digits) = text.split_once(':').map_or((text, None), |(name, digits)| (name, Some(digits)));
    let names = Protocol::ALL.map(Protocol::name);
    let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == name).ok_or_else(|| {
        let guess =
            nearest(name, &names).map_or_else(String::new, |guess| format!("; did you mean \"{guess}\"?"));
        Fault::new(offset, format!("probe: unknown probe \"{name}\" (known: {}{guess})", names.join(", ")))
    })?;
    let number = |given: &str| given.parse::<u16>().ok().filter(|p| *p > 0);
    let port = match digits {
        None => None,
        Some(_) if protocol.default_port().is_none() => {
            return Err(Fault::new(
                offset,
                format!("probe: \"{text}\": {name} has no port (write \"{name}\")"),
            ));
        }
        Some(given) => Some(number(given).ok_or_else(|| {
            Fault::new(
                offset,
                format!("probe: \"{text}\": invalid port \"{given}\" (expected a number from 1 to 65535)"),
            )
        })?),
    };
    Ok(Way { protocol, port, offset })
}

fn families(section: &Section<'_>) -> Result<Option<Vec<Family>>, Fault> {
    let Some(text) = section.text("family")? else { return Ok(None) };
    let found: &[Family] = match text {
        "any" => &[Family::Any],
        "ipv4" => &[Family::V4],
        "ipv6" => &[Family::V6],
        "both" => &[Family::V4, Family::V6],
        other => {
            let what = format!("family: unknown value \"{other}\" (expected any, ipv4, ipv6 or both)");
            return Err(Fault::new(section.offset_of("family"), what));
        }
    };
    Ok(Some(found.to_vec()))
}

/// A DSCP as a number or as a name known to [`dscp_of_name`].
fn dscp(section: &Section<'_>) -> Result<Option<u8>, Fault> {
    let Some(value) = section.get("dscp") else { return Ok(None) };
    let Some(text) = value.get_ref().as_str() else {
        return Ok(section.integer("dscp", 0, 63)?.and_then(|n| u8::try_from(n).ok()));
    };
    let what =
        || format!("dscp: unknown value \"{text}\" (expected 0 to 63, ef, le, cs0 to cs7, af11 to af43)");
    dscp_of_name(text).map(Some).ok_or_else(|| Fault::new(value.span().start, what()))
}

fn address(section: &Section<'_>) -> Result<Option<IpAddr>, Fault> {
    let Some(text) = section.text("source")? else { return Ok(None) };
    let what = || format!("source: invalid IP address \"{text}\" (use an address of this host)");
    text.parse().map(Some).map_err(|_| Fault::new(section.offset_of("source"), what()))
}

/// A path that goes unchanged into the request line, or the part of a URL after its host.
fn path(section: &Section<'_>) -> Result<Option<String>, Fault> {
    let Some(text) = section.text("path")? else { return Ok(None) };
    let plain = text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic()) && text.len() <= 2_000;
    let what =
        || format!("path: invalid path \"{text}\" (expected \"/\" and up to 2000 visible ASCII characters)");
    if plain { Ok(Some(text.to_string())) } else { Err(Fault::new(section.offset_of("path"), what())) }
}

fn query(section: &Section<'_>) -> Result<Option<String>, Fault> {
    let Some(text) = section.text("query")? else { return Ok(None) };
    let what = |why| format!("query: invalid DNS name \"{text}\" ({why})");
    let checked = dns::check_name(text).map_err(|why| Fault::new(section.offset_of("query"), what(why)));
    checked.map(|()| Some(text.to_string()))
}

const TYPE_A: u16 = 1;
const TYPE_NS: u16 = 2;

/// A DNS query type: the common ones of RFC 1035 section 3.2.2 and later RFCs.
fn query_type(section: &Section<'_>) -> Result<Option<u16>, Fault> {
    const TYPES: [(&str, u16); 8] = [
        ("A", TYPE_A),
        ("NS", TYPE_NS),
        ("SOA", 6),
        ("PTR", 12),
        ("MX", 15),
        ("TXT", 16),
        ("AAAA", 28),
        ("HTTPS", 65),
    ];
    let Some(text) = section.text("query_type")? else { return Ok(None) };
    let found = TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, number)| *number);
    let what =
        || format!("query_type: unknown type \"{text}\" (known: {})", TYPES.map(|(name, _)| name).join(", "));
    found.map(Some).ok_or_else(|| Fault::new(section.offset_of("query_type"), what()))
}
