//! Targets and probe options.
use crate::line_test::{TEST_BUFFERS, TEST_DELAYS, TEST_RATES};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use fathom_probe::Pace;
use fathom_units::Duration;
use fathom_watch_alert::SeriesInfo;
use fathom_watch_samples::Unit;

/// The protocol by which a target is probed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Protocol {
    /// ICMP echo.
    Icmp,
    /// UDP probes against `fathom serve`: round-trip time, and the one-way delay of each direction.
    Udp,
    /// A TCP handshake.
    Tcp,
    /// A TCP connection up to the end of the TLS handshake.
    Tls,
    /// HTTP: from the start of the connection to the first byte of the response.
    Http,
    /// HTTPS: from the start of the connection, including the TLS handshake, to the first byte of
    /// the response.
    Https,
    /// A DNS query over UDP.
    Dns,
    /// ICMP echo with increasing hop limits: each router on the path is a series.
    Hops,
    /// A test of latency under load, from a table `[[test]]`.
    Test,
}

impl Protocol {
    /// All protocols of the key `probe`.
    pub const ALL: [Protocol; 8] = [
        Protocol::Icmp,
        Protocol::Udp,
        Protocol::Tcp,
        Protocol::Tls,
        Protocol::Http,
        Protocol::Https,
        Protocol::Dns,
        Protocol::Hops,
    ];
    /// The name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Icmp => "icmp",
            Protocol::Udp => "udp",
            Protocol::Tcp => "tcp",
            Protocol::Tls => "tls",
            Protocol::Http => "http",
            Protocol::Https => "https",
            Protocol::Dns => "dns",
            Protocol::Hops => "hops",
            Protocol::Test => "test",
        }
    }
    /// The default port.
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Protocol::Icmp | Protocol::Hops | Protocol::Test => None,
            Protocol::Udp => Some(3279),
            Protocol::Tcp | Protocol::Http => Some(80),
            Protocol::Tls | Protocol::Https => Some(443),
            Protocol::Dns => Some(53),
        }
    }
    /// Approximate number of packets that this host sends per probe; a TCP connection takes SYN,
    /// ACK, request and FIN.
    pub const fn packets(self, max_hops: u8) -> u64 {
        match self {
            Protocol::Icmp | Protocol::Udp | Protocol::Dns => 1,
            Protocol::Tcp => 3,
            Protocol::Http => 5,
            Protocol::Tls => 6,
            Protocol::Https => 8,
            Protocol::Hops => max_hops as u64,
            // Its load is not limited in packets.
            Protocol::Test => 0,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The address family that is probed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// The first address that the resolver returns.
    Any,
    /// The first IPv4 address.
    V4,
    /// The first IPv6 address.
    V6,
}

/// Options of a probe other than its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeOptions {
    /// TCP or UDP port; 0 for ICMP.
    pub port: u16,
    /// Payload bytes of ICMP and UDP probes.
    pub size: u16,
    /// DSCP (six bits).
    pub dscp: u8,
    /// Local address to send from.
    pub source: Option<IpAddr>,
    /// Path of the HTTP request.
    pub path: String,
    /// Name in the DNS query.
    pub query: String,
    /// Type of the DNS query.
    pub query_type: u16,
    /// Largest hop limit of `hops` probes.
    pub max_hops: u8,
    /// Authentication token of `fathom serve`.
    pub token: Option<String>,
}

/// A host probed with one protocol. Each target has one series; `hops` and `udp` have several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Display name; unique together with [`probe`](Target::probe).
    pub name: String,
    /// The group; empty if there is none.
    pub group: String,
    /// Hostname or address.
    pub host: String,
    /// Protocol of the probes.
    pub protocol: Protocol,
    /// Address family.
    pub family: Family,
    /// Schedule of the probes.
    pub pace: Pace,
    /// Replies after this time count as late.
    pub timeout: Duration,
    /// Options of the probe.
    pub options: ProbeOptions,
    /// Name of the series: `icmp`, `tcp:443`, `icmp ipv6`.
    pub probe: String,
}

impl Target {
    /// Identifies the target. Two plans share a target only if all other fields are equal too.
    pub fn key(&self) -> (&str, &str) {
        (&self.name, &self.probe)
    }
    /// Names of all series. The first is that of the whole probe. TCP connections add their phases,
    /// UDP adds each direction, and `hops` adds each router.
    pub fn series(&self) -> Vec<String> {
        let base = &self.probe;
        let with = |parts: &[&str]| parts.iter().map(|part| format!("{base}{part}")).collect();
        match self.protocol {
            Protocol::Icmp | Protocol::Tcp | Protocol::Dns => with(&[""]),
            Protocol::Udp => with(&["", " up", " down"]),
            Protocol::Tls => with(&["", " connect", " handshake"]),
            Protocol::Http => with(&["", " connect", " answer"]),
            Protocol::Https => with(&["", " connect", " handshake", " answer"]),
            Protocol::Test => TEST_DELAYS.map(String::from).into(),
            Protocol::Hops => {
                let suffix = base.strip_prefix(Protocol::Hops.name()).unwrap_or_default();
                (1..=self.options.max_hops).map(|n| format!("hop {n}{suffix}")).collect()
            }
        }
    }
    /// Names and units of the series of values other than delays.
    pub fn levels(&self) -> Vec<(&'static str, Unit)> {
        if self.protocol != Protocol::Test {
            return Vec::new();
        }
        let rates = TEST_RATES.map(|name| (name, Unit::BitsPerSecond));
        rates.into_iter().chain(TEST_BUFFERS.map(|name| (name, Unit::Bytes))).collect()
    }
    /// What alert rules need to know about each of the [series](Target::series), in the same order.
    pub fn series_info(&self) -> Vec<SeriesInfo> {
        let is_hops = self.protocol == Protocol::Hops;
        let one = |(index, probe): (usize, String)| SeriesInfo {
            target: self.name.clone(),
            group: self.group.clone(),
            is_main: probe == self.probe,
            path: (is_hops && index == 0).then(|| self.probe.clone()),
            round: (self.pace.probes > 1).then_some(self.pace.interval),
            timeout: self.timeout,
            probe,
        };
        self.series().into_iter().enumerate().map(one).collect()
    }
    /// Name of the series of a probe. It contains the port unless it is the default, and the
    /// address family if both are probed.
    pub(crate) fn probe_name(protocol: Protocol, port: u16, family: Family, both: bool) -> String {
        let usual = protocol.default_port().is_none_or(|usual| usual == port && protocol != Protocol::Tcp);
        let base = if usual { String::from(protocol.name()) } else { format!("{protocol}:{port}") };
        match (both, family) {
            (true, Family::V4) => base + " ipv4",
            (true, Family::V6) => base + " ipv6",
            _ => base,
        }
    }
}
