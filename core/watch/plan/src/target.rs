//! What is asked of whom, and how.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use fathom_probe::Pace;
use fathom_units::Duration;
use fathom_watch_alert::SeriesInfo;

/// How a target is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ask {
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

impl Ask {
    /// All of them.
    pub const ALL: [Ask; 8] =
        [Ask::Icmp, Ask::Udp, Ask::Tcp, Ask::Tls, Ask::Http, Ask::Https, Ask::Dns, Ask::Hops];
    /// As it is written in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Ask::Icmp => "icmp",
            Ask::Udp => "udp",
            Ask::Tcp => "tcp",
            Ask::Tls => "tls",
            Ask::Http => "http",
            Ask::Https => "https",
            Ask::Dns => "dns",
            Ask::Hops => "hops",
        }
    }
    /// The port where none is given.
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Ask::Icmp | Ask::Hops => None,
            Ask::Udp => Some(3279),
            Ask::Tcp | Ask::Http => Some(80),
            Ask::Tls | Ask::Https => Some(443),
            Ask::Dns => Some(53),
        }
    }
    /// Packets that this host sends for one probe, about: a TCP connection is SYN, ACK, request, FIN.
    pub const fn packets(self, max_hops: u8) -> u64 {
        match self {
            Ask::Icmp | Ask::Udp | Ask::Dns => 1,
            Ask::Tcp => 3,
            Ask::Http => 5,
            Ask::Tls => 6,
            Ask::Https => 8,
            Ask::Hops => max_hops as u64,
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which addresses of a host are asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// The first address that the resolver gives.
    Any,
    /// The first IPv4 address.
    V4,
    /// The first IPv6 address.
    V6,
}

/// What goes into a probe, beside its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
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
    /// What a `fathom serve` asks its clients for.
    pub token: Option<String>,
}

/// One thing that is asked again and again; its answers are a series (`hops` and `udp` have several).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// As the page shows it; with [`probe`](Target::probe) it is unique.
    pub name: String,
    /// The group it stands in; empty for none.
    pub group: String,
    /// Name or address.
    pub host: String,
    /// How it is asked.
    pub ask: Ask,
    /// Which of its addresses.
    pub family: Family,
    /// When.
    pub pace: Pace,
    /// An answer that takes longer is late.
    pub timeout: Duration,
    /// What goes into the probe.
    pub form: Form,
    /// The series' name: `icmp`, `tcp:443`, `icmp ipv6`.
    pub probe: String,
}

impl Target {
    /// What tells a target from all others; two plans have the same target if all else is equal too.
    pub fn key(&self) -> (&str, &str) {
        (&self.name, &self.probe)
    }
    /// The names of its series. The first is that of the question itself; those of connections time their parts too, those of
    /// UDP each way, and those of a path each router.
    pub fn series(&self) -> Vec<String> {
        let base = &self.probe;
        let with = |parts: &[&str]| parts.iter().map(|part| format!("{base}{part}")).collect();
        match self.ask {
            Ask::Icmp | Ask::Tcp | Ask::Dns => with(&[""]),
            Ask::Udp => with(&["", " up", " down"]),
            Ask::Tls => with(&["", " connect", " handshake"]),
            Ask::Http => with(&["", " connect", " answer"]),
            Ask::Https => with(&["", " connect", " handshake", " answer"]),
            Ask::Hops => {
                let suffix = base.strip_prefix(Ask::Hops.name()).unwrap_or_default();
                (1..=self.form.max_hops).map(|n| format!("hop {n}{suffix}")).collect()
            }
        }
    }
    /// What alert rules need to know of each of its [series](Target::series), in their order.
    pub fn series_info(&self) -> Vec<SeriesInfo> {
        let is_hops = self.ask == Ask::Hops;
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
    pub(crate) fn probe_name(ask: Ask, port: u16, family: Family, both: bool) -> String {
        let usual = ask.default_port().is_none_or(|usual| usual == port && ask != Ask::Tcp);
        let base = if usual { String::from(ask.name()) } else { format!("{ask}:{port}") };
        match (both, family) {
            (true, Family::V4) => base + " ipv4",
            (true, Family::V6) => base + " ipv6",
            _ => base,
        }
    }
}
