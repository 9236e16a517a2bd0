//! Maps SmokePing's probes to Fathom's.

/// How a probe type is converted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProbeMethod {
    /// ICMP echo.
    Icmp,
    /// A TCP handshake, with the default port.
    Tcp(u16),
    /// A URL built from the host with `urlformat`.
    Url,
    /// A path on the host: `http` or `https`.
    Http(&'static str),
    /// A DNS query to the host.
    Dns,
    /// The routers on the path to `desthost`.
    Hops,
    /// Not converted, with the reason.
    Not(&'static str),
}

/// A probe type.
pub(super) struct Kind {
    pub(super) method: ProbeMethod,
    /// How Fathom's measurement differs.
    pub(super) differs: &'static str,
}

const HANDSHAKE: &str =
    "is replaced by a TCP handshake with its port, which measures the path, not the service";
const FIRST_BYTE: &str = "measured the whole transfer; Fathom measures the time to the first byte";
const ELSEWHERE: &str = "probes from another machine, which is not supported";
const KINDS: [(&str, ProbeMethod, &str); 26] = [
    ("FPing", ProbeMethod::Icmp, ""),
    ("FPing6", ProbeMethod::Icmp, ""),
    ("FPingContinuous", ProbeMethod::Icmp, ""),
    ("TCPPing", ProbeMethod::Tcp(80), ""),
    ("Curl", ProbeMethod::Url, FIRST_BYTE),
    ("AnotherCurl", ProbeMethod::Url, FIRST_BYTE),
    ("EchoPingHttp", ProbeMethod::Http("http"), FIRST_BYTE),
    ("EchoPingHttps", ProbeMethod::Http("https"), FIRST_BYTE),
    ("DNS", ProbeMethod::Dns, ""),
    ("AnotherDNS", ProbeMethod::Dns, ""),
    ("EchoPingDNS", ProbeMethod::Dns, ""),
    ("SSH", ProbeMethod::Tcp(22), HANDSHAKE),
    ("AnotherSSH", ProbeMethod::Tcp(22), HANDSHAKE),
    ("EchoPing", ProbeMethod::Tcp(7), HANDSHAKE),
    ("EchoPingDiscard", ProbeMethod::Tcp(9), HANDSHAKE),
    ("EchoPingChargen", ProbeMethod::Tcp(19), HANDSHAKE),
    ("EchoPingSmtp", ProbeMethod::Tcp(25), HANDSHAKE),
    ("SendEmail", ProbeMethod::Tcp(25), HANDSHAKE),
    ("EchoPingWhois", ProbeMethod::Tcp(43), HANDSHAKE),
    ("EchoPingLDAP", ProbeMethod::Tcp(389), HANDSHAKE),
    ("LDAP", ProbeMethod::Tcp(389), HANDSHAKE),
    ("FTPtransfer", ProbeMethod::Tcp(21), HANDSHAKE),
    ("TacacsPlus", ProbeMethod::Tcp(49), HANDSHAKE),
    (
        "TraceroutePing",
        ProbeMethod::Hops,
        "recorded only the last router; Fathom records a series for each router on the path",
    ),
    ("IRTT", ProbeMethod::Not("needs an irtt server (use probe = \"udp\" with fathom serve instead)"), ""),
    ("RemoteFPing", ProbeMethod::Not(ELSEWHERE), ""),
];

/// The conversion of a probe type, by the name of its module.
pub(super) fn kind(name: &str) -> Kind {
    if let Some((_, method, differs)) = KINDS.into_iter().find(|(known, ..)| *known == name) {
        return Kind { method, differs };
    }
    let is_router = name.starts_with("CiscoRTTMon") || name.ends_with("IOSPing") || name.contains("JunOS");
    let why = if is_router || name == "DismanPing" || name == "OpenSSHEOSPing" {
        ELSEWHERE
    } else {
        "is not supported"
    };
    Kind { method: ProbeMethod::Not(why), differs: "" }
}
