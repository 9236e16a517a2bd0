//! What is asked of whom, and how.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use fathom_probe::Pace;
use fathom_units::Duration;
use fathom_watch_alert::SeriesInfo;

/// The protocol by which a target is probed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Protocol {
    /// ICMP echo.
    Icmp,
    /// UDP probes against `fathom serve`: round trip, and the delay of each way.
    Udp,
    /// A TCP handshake.
    Tcp,
    /// A connection up to the end of the TLS handshake.
    Tls,
    /// HTTP: from the start of the connection to the first byte of the answer.
    Http,
    /// HTTPS: the same, with a TLS handshake between.
    Https,
    /// A DNS query over UDP.
    Dns,
    /// ICMP echo with growing hop limits: each router of the path is a series.
    Hops,
}

impl Protocol {
    /// All of them.
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
    /// As it is written in the file.
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
        }
    }
    /// The port where none is given.
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Protocol::Icmp | Protocol::Hops => None,
            Protocol::Udp => Some(3279),
            Protocol::Tcp | Protocol::Http => Some(80),
            Protocol::Tls | Protocol::Https => Some(443),
            Protocol::Dns => Some(53),
        }
    }
    /// Packets that this host sends for one probe, about: a TCP connection is SYN, ACK, request, FIN.
    pub const fn packets(self, max_hops: u8) -> u64 {
        match self {
            Protocol::Icmp | Protocol::Udp | Protocol::Dns => 1,
            Protocol::Tcp => 3,
            Protocol::Http => 5,
            Protocol::Tls => 6,
            Protocol::Https => 8,
            Protocol::Hops => max_hops as u64,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which address of a host is probed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// The first address that the resolver gives.
    Any,
    /// The first IPv4 address.
    V4,
    /// The first IPv6 address.
    V6,
}

/// What goes into a probe in addition to its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeOptions {
    /// TCP or UDP port; 0 for ICMP.
    pub port: u16,
    /// Bytes of payload of ICMP and UDP.
    pub size: u16,
    /// The six DSCP bits.
    pub dscp: u8,
    /// Own address to send from.
    pub source: Option<IpAddr>,
    /// Path of an HTTP request.
    pub path: String,
    /// Name of a DNS query.
    pub query: String,
    /// Type of a DNS query.
    pub query_type: u16,
    /// Largest hop limit of `hops`.
    pub max_hops: u8,
    /// Authentication token of `fathom serve`.
    pub token: Option<String>,
}

/// A host that is probed by one protocol; the results are a series (`hops` and `udp` have several).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// As the page shows it; with [`probe`](Target::probe) it is unique.
    pub name: String,
    /// The group it stands in; empty for none.
    pub group: String,
    /// Name or address.
    pub host: String,
    /// Protocol of the probes.
    pub protocol: Protocol,
    /// Which of its addresses is probed.
    pub family: Family,
    /// When it is probed.
    pub pace: Pace,
    /// A reply that takes longer is late.
    pub timeout: Duration,
    /// What goes into the probe.
    pub options: ProbeOptions,
    /// The series' name: `icmp`, `tcp:443`, `icmp ipv6`.
    pub probe: String,
}

impl Target {
    /// Identifies a target among all others; two plans have the same target if all else is equal too.
    pub fn key(&self) -> (&str, &str) {
        (&self.name, &self.probe)
    }
    /// The names of its series. The first is that of the whole probe; those of connections time their parts too, those of
    /// UDP each way, and those of a path each router.
    pub fn series(&self) -> Vec<String> {
        let base = &self.probe;
        let with = |parts: &[&str]| parts.iter().map(|part| format!("{base}{part}")).collect();
        match self.protocol {
            Protocol::Icmp | Protocol::Tcp | Protocol::Dns => with(&[""]),
            Protocol::Udp => with(&["", " up", " down"]),
            Protocol::Tls => with(&["", " connect", " handshake"]),
            Protocol::Http => with(&["", " connect", " answer"]),
            Protocol::Https => with(&["", " connect", " handshake", " answer"]),
            Protocol::Hops => {
                let suffix = base.strip_prefix(Protocol::Hops.name()).unwrap_or_default();
                (1..=self.options.max_hops).map(|n| format!("hop {n}{suffix}")).collect()
            }
        }
    }
    /// What alert rules need to know of each of its [series](Target::series), in their order.
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
    /// The series' name of a way of asking: with the port where it is not implied, and the family where both are asked.
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
