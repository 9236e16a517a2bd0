//! The plan of a test: kinds of probes, and phases.
use alloc::vec::Vec;
use fathom_run::{Metric, PhaseKind};
use fathom_units::{Bytes, Duration};

/// A kind of probe. Each has its own schedule, so that no two kinds leave at the same moment.
///
/// To add one: a variant here, its row in [`ProbeKind::SPECS`], and the type that sends it, in the list of
/// `shell/net/client/src/probes.rs`. ARCHITECTURE.md names the rest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProbeKind {
    /// ICMP echo.
    Icmp,
    /// UDP with four timestamps, which give the one-way delays too.
    Udp,
    /// A new TCP connection with one request on it.
    Connect,
    /// A request on a persistent connection.
    Persistent,
}

/// Everything about a kind of probe but its sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeSpec {
    /// The kind.
    pub kind: ProbeKind,
    /// The metrics of its delays. The first is that of the probe itself, and decides when a
    /// phase ends.
    pub series: &'static [Metric],
    /// Wire bytes from the user of one probe, with Ethernet, IPv6 (the larger) and transport headers.
    pub up: Bytes,
    /// Wire bytes to the user of the answer.
    pub down: Bytes,
    /// How well it serves to decide when a phase ends: of those that are answered the one with the lowest rank decides.
    pub rank: u8,
}

impl ProbeKind {
    /// The kinds, in the order of [`ProbeKind::SPECS`].
    pub const ALL: [ProbeKind; 4] =
        [ProbeKind::Icmp, ProbeKind::Udp, ProbeKind::Connect, ProbeKind::Persistent];

    /// The list of all kinds.
    pub const SPECS: [ProbeSpec; ProbeKind::ALL.len()] = [
        ProbeSpec {
            kind: ProbeKind::Icmp,
            series: &[Metric::IcmpRtt],
            // 14 Ethernet + 40 IP + 8 ICMP + 56 payload.
            up: Bytes(118),
            down: Bytes(118),
            rank: 1,
        },
        ProbeSpec {
            kind: ProbeKind::Udp,
            series: &[Metric::UdpRtt],
            // 14 + 40 + 8 UDP + 64 payload.
            up: Bytes(126),
            down: Bytes(126),
            rank: 0,
        },
        ProbeSpec {
            kind: ProbeKind::Connect,
            series: &[Metric::TcpConnect, Metric::HttpForeign],
            // SYN 94, ACK 86, GET 86 + 60, ACK 86, RST 74.
            up: Bytes(486),
            // SYN-ACK 94, ACK 86, answer 86 + 100.
            down: Bytes(366),
            rank: 3,
        },
        ProbeSpec {
            kind: ProbeKind::Persistent,
            series: &[Metric::HttpKept],
            // GET 86 + 60, ACK 86.
            up: Bytes(232),
            // Answer 86 + 100.
            down: Bytes(186),
            rank: 2,
        },
    ];

    /// Its row in [`ProbeKind::SPECS`].
    pub const fn spec(self) -> &'static ProbeSpec {
        &Self::SPECS[self as usize]
    }
}

// Rows are found by the number of the kind.
const _: () = {
    let mut n = 0;
    while n < ProbeKind::SPECS.len() {
        assert!(ProbeKind::ALL[n] as usize == n && ProbeKind::SPECS[n].kind as usize == n);
        n += 1;
    }
};

/// A phase as planned. It lasts at least `min`; then until it has settled; at most `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PhasePlan {
    /// What the load does.
    pub kind: PhaseKind,
    /// It does not end before, unless cut short.
    pub min: Duration,
    /// It does not last longer.
    pub max: Duration,
}

impl PhasePlan {
    /// The default limits of a phase of `kind`.
    ///
    /// 30 s of load: CUBIC with one flow needs 12 s to fill a buffer of 1 s at 3 Mbit/s, and more on faster lines.
    /// 15 s of drain: twice the deepest buffer common in homes.
    pub const fn of(kind: PhaseKind) -> Self {
        let (min, max) = match kind {
            PhaseKind::Idle => (3, 5),
            PhaseKind::Down | PhaseKind::Up | PhaseKind::Both => (6, 30),
            PhaseKind::Drain => (1, 15),
            // A watch has no plan of phases: this one is idle.
            PhaseKind::Watch => (3, 5),
        };
        PhasePlan { kind, min: Duration::from_secs(min), max: Duration::from_secs(max) }
    }
    /// Idle, down, up, both, drain.
    pub fn default_sequence() -> Vec<PhasePlan> {
        [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both, PhaseKind::Drain]
            .map(PhasePlan::of)
            .to_vec()
    }
}
