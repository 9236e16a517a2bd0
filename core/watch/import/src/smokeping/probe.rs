//! SmokePing's probes and what asks the same here.

/// What becomes of a kind of probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// ICMP echo.
    Icmp,
    /// A TCP handshake; the port where none is given.
    Tcp(u16),
    /// A URL that is made of the host by `urlformat`.
    Url,
    /// A path of the host: `http` or `https`.
    Http(&'static str),
    /// A query to the host.
    Dns,
    /// The routers to `desthost`.
    Hops,
    /// Nothing; why.
    Not(&'static str),
}

/// A kind of probe.
pub(super) struct Kind {
    pub(super) asked: Asked,
    /// How what is timed here differs.
    pub(super) differs: &'static str,
}

const HANDSHAKE: &str =
    "is asked by a TCP handshake with its port instead, which times the path and not the service";
const FIRST_BYTE: &str = "timed the whole transfer; here an answer is timed up to its first byte";
const ELSEWHERE: &str = "asks another machine to measure from there";
const KINDS: [(&str, Asked, &str); 26] = [
    ("FPing", Asked::Icmp, ""),
    ("FPing6", Asked::Icmp, ""),
    ("FPingContinuous", Asked::Icmp, ""),
    ("TCPPing", Asked::Tcp(80), ""),
    ("Curl", Asked::Url, FIRST_BYTE),
    ("AnotherCurl", Asked::Url, FIRST_BYTE),
    ("EchoPingHttp", Asked::Http("http"), FIRST_BYTE),
    ("EchoPingHttps", Asked::Http("https"), FIRST_BYTE),
    ("DNS", Asked::Dns, ""),
    ("AnotherDNS", Asked::Dns, ""),
    ("EchoPingDNS", Asked::Dns, ""),
    ("SSH", Asked::Tcp(22), HANDSHAKE),
    ("AnotherSSH", Asked::Tcp(22), HANDSHAKE),
    ("EchoPing", Asked::Tcp(7), HANDSHAKE),
    ("EchoPingDiscard", Asked::Tcp(9), HANDSHAKE),
    ("EchoPingChargen", Asked::Tcp(19), HANDSHAKE),
    ("EchoPingSmtp", Asked::Tcp(25), HANDSHAKE),
    ("SendEmail", Asked::Tcp(25), HANDSHAKE),
    ("EchoPingWhois", Asked::Tcp(43), HANDSHAKE),
    ("EchoPingLDAP", Asked::Tcp(389), HANDSHAKE),
    ("LDAP", Asked::Tcp(389), HANDSHAKE),
    ("FTPtransfer", Asked::Tcp(21), HANDSHAKE),
    ("TacacsPlus", Asked::Tcp(49), HANDSHAKE),
    ("TraceroutePing", Asked::Hops, "kept the last router alone; here each router of the path has a series"),
    (
        "IRTT",
        Asked::Not("needs irtt at the far end (probe = \"udp\" with fathom serve there does what it does)"),
        "",
    ),
    ("RemoteFPing", Asked::Not(ELSEWHERE), ""),
];

/// What becomes of a kind of probe, by its module's name.
pub(super) fn kind(name: &str) -> Kind {
    if let Some((_, asked, differs)) = KINDS.into_iter().find(|(known, ..)| *known == name) {
        return Kind { asked, differs };
    }
    let is_router = name.starts_with("CiscoRTTMon") || name.ends_with("IOSPing") || name.contains("JunOS");
    let why = if is_router || name == "DismanPing" || name == "OpenSSHEOSPing" {
        ELSEWHERE
    } else {
        "has no counterpart here"
    };
    Kind { asked: Asked::Not(why), differs: "" }
}
