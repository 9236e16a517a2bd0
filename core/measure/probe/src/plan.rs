//! Plan of a test: kinds of probes, and phases.
use alloc::vec::Vec;
use fathom_run::{Metric, PhaseKind};
use fathom_units::{Bytes, Duration};

/// A kind of probe. Each kind has its own schedule, so that different kinds are never sent at the
/// same time.
///
/// To add a kind: add a variant here, its row in [`ProbeKind::SPECS`], and the type that sends it
/// to the list in `shell/net/client/src/probes.rs`. ARCHITECTURE.md lists the remaining steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProbeKind {
    /// ICMP echo.
    Icmp,
    /// UDP with four timestamps, which also give one-way delays.
    Udp,
    /// A new TCP connection with one request.
    Connect,
    /// A request on a persistent connection.
    Persistent,
    /// A new connection with TLS, and one request.
    Tls,
    /// A new connection with QUIC, and one request by HTTP/3.
    Http3,
    /// A DNS query to the resolver of this host, which does not carry the load.
    Dns,
    /// ICMP echo to the gateway toward the server, which answers before the line.
    Gateway,
    /// ICMP echoes to all routers of the path to the server.
    Hop,
    /// As [`ProbeKind::Udp`], in the class of background traffic, for RRUL.
    UdpBackground,
    /// As [`ProbeKind::Udp`], in the class of expedited forwarding, for RRUL.
    UdpExpedited,
}

/// Names and DSCPs of the flows of each direction of RRUL (`rrul.conf` of flent). Its UDP probes
/// have all but CS5.
pub const RRUL_CLASSES: [(&str, u8); 4] = [("BE", 0), ("BK", 8), ("CS5", 40), ("EF", 46)];

/// Properties of a kind of probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeSpec {
    /// The kind.
    pub kind: ProbeKind,
    /// Metrics of its delays; the first is that of the probe itself and determines phase ends.
    pub series: &'static [Metric],
    /// Wire bytes of a probe, from the user, with Ethernet, IPv6 and transport headers.
    pub up: Bytes,
    /// Wire bytes of the response, to the user.
    pub down: Bytes,
    /// Preference for determining the end of a phase: the lowest rank of answered kinds is used.
    pub rank: u8,
    /// Shortest interval: longer than the requested one for a kind that is large, or that others
    /// answer.
    pub shortest: Duration,
}

/// Probes of hops in the interval of other kinds: they are divided among the hops.
const HOPS_PER_INTERVAL: u64 = 5;

impl ProbeKind {
    /// All kinds, in the order of [`ProbeKind::SPECS`].
    pub const ALL: [ProbeKind; 11] = [
        ProbeKind::Icmp,
        ProbeKind::Udp,
        ProbeKind::Connect,
        ProbeKind::Persistent,
        ProbeKind::Tls,
        ProbeKind::Http3,
        ProbeKind::Dns,
        ProbeKind::Gateway,
        ProbeKind::Hop,
        ProbeKind::UdpBackground,
        ProbeKind::UdpExpedited,
    ];

    /// Properties of all kinds.
    pub const SPECS: [ProbeSpec; ProbeKind::ALL.len()] = [
        ProbeSpec {
            kind: ProbeKind::Icmp,
            series: &[Metric::IcmpRtt],
            // 14 Ethernet + 40 IP + 8 ICMP + 56 payload.
            up: Bytes(118),
            down: Bytes(118),
            rank: 1,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::Udp,
            series: &[Metric::UdpRtt],
            // 14 + 40 + 8 UDP + 64 payload.
            up: Bytes(126),
            down: Bytes(126),
            rank: 0,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::Connect,
            series: &[Metric::TcpConnect, Metric::HttpForeign],
            // SYN 94, ACK 86, GET 86 + 60, ACK 86, RST 74.
            up: Bytes(486),
            // SYN-ACK 94, ACK 86, response 86 + 100.
            down: Bytes(366),
            rank: 3,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::Persistent,
            series: &[Metric::HttpKept],
            // GET 86 + 60, ACK 86.
            up: Bytes(232),
            // Response 86 + 100.
            down: Bytes(186),
            rank: 2,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::Tls,
            series: &[Metric::TlsConnect, Metric::HttpForeign],
            // As with TCP, and TLS 1.3 with X25519: ClientHello 86 + 300, Finished 86 + 80.
            up: Bytes(1_040),
            // A chain of two certificates has 3 to 5 kB.
            down: Bytes(5_500),
            rank: 4,
            // Its handshake takes a server about 1 ms of CPU time.
            shortest: Duration::from_millis(200),
        },
        ProbeSpec {
            kind: ProbeKind::Http3,
            series: &[Metric::QuicHandshake, Metric::Http3Foreign],
            // Two datagrams of the handshake, 14 + 40 + 8 UDP + 1200; request 62 + 150, ACK and
            // close 62 + 60 each.
            up: Bytes(2_980),
            // As with TLS: in three datagrams of 62 + 1200. Response and the end of the handshake.
            down: Bytes(5_500),
            rank: 7,
            shortest: Duration::from_millis(500),
        },
        ProbeSpec {
            kind: ProbeKind::Dns,
            series: &[Metric::DnsRtt],
            // 14 + 40 + 8 UDP + 12 DNS + a name.
            up: Bytes(100),
            down: Bytes(200),
            rank: 5,
            // A resolver serves many. A web page needs tens of queries at once.
            shortest: Duration::from_millis(500),
        },
        ProbeSpec {
            kind: ProbeKind::Gateway,
            series: &[Metric::GatewayRtt],
            // As ICMP.
            up: Bytes(118),
            down: Bytes(118),
            rank: 6,
            // A router may limit its replies.
            shortest: Duration::from_millis(500),
        },
        ProbeSpec {
            kind: ProbeKind::Hop,
            series: &[Metric::HopRtt, Metric::HopFlowRtt, Metric::HopEcho],
            // As ICMP. A router quotes the request.
            up: Bytes(118),
            down: Bytes(146),
            rank: 7,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::UdpBackground,
            series: &[Metric::UdpBackgroundRtt],
            up: Bytes(126),
            down: Bytes(126),
            rank: 3,
            shortest: Duration::ZERO,
        },
        ProbeSpec {
            kind: ProbeKind::UdpExpedited,
            series: &[Metric::UdpExpeditedRtt],
            up: Bytes(126),
            down: Bytes(126),
            rank: 3,
            shortest: Duration::ZERO,
        },
    ];

    /// Whether the server of the test answers it.
    pub const fn is_of_server(self) -> bool {
        !matches!(self, ProbeKind::Dns | ProbeKind::Gateway | ProbeKind::Hop)
    }
    /// DSCP of the kinds of RRUL for one class.
    pub const fn class(self) -> Option<u8> {
        match self {
            ProbeKind::UdpBackground => Some(RRUL_CLASSES[1].1),
            ProbeKind::UdpExpedited => Some(RRUL_CLASSES[3].1),
            _ => None,
        }
    }
    /// Its interval if that of most kinds is `requested`.
    pub fn interval(self, requested: Duration) -> Duration {
        match self {
            ProbeKind::Hop => requested / HOPS_PER_INTERVAL,
            _ => requested.max(self.spec().shortest),
        }
    }
    /// Whether its interval is longer than that of others.
    pub const fn is_slow(self) -> bool {
        self.spec().shortest.as_nanos() > 0
    }
    /// Properties of this kind.
    pub const fn spec(self) -> &'static ProbeSpec {
        &Self::SPECS[self as usize]
    }
}

// Rows are indexed by the discriminant of the kind.
const _: () = {
    let mut n = 0;
    while n < ProbeKind::SPECS.len() {
        assert!(ProbeKind::ALL[n] as usize == n && ProbeKind::SPECS[n].kind as usize == n);
        n += 1;
    }
};

/// Plan of a phase. It lasts at least `min`, then until it has settled, and at most `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PhasePlan {
    /// Kind of load.
    pub kind: PhaseKind,
    /// Minimum duration, unless the run is interrupted.
    pub min: Duration,
    /// Maximum duration.
    pub max: Duration,
}

impl PhasePlan {
    /// Default limits of a phase of `kind`.
    ///
    /// 30 s of load: one CUBIC flow needs 12 s to fill a buffer of 1 s at 3 Mbit/s, and longer on
    /// faster lines. 15 s of drain: twice the delay of the largest buffers common in homes.
    pub const fn of(kind: PhaseKind) -> Self {
        let (min, max) = match kind {
            PhaseKind::Idle => (3, 5),
            PhaseKind::Down | PhaseKind::Up | PhaseKind::Both => (6, 30),
            PhaseKind::Drain => (1, 15),
            // A watch has no planned phases; it counts as idle.
            PhaseKind::Watch => (3, 5),
        };
        PhasePlan { kind, min: Duration::from_secs(min), max: Duration::from_secs(max) }
    }
    /// Idle, download, upload, both, drain.
    pub fn default_sequence() -> Vec<PhasePlan> {
        [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both, PhaseKind::Drain]
            .map(PhasePlan::of)
            .to_vec()
    }
}
