//! What a test is asked to do: the kinds of probe and the phases.
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_units::Duration;

/// A kind of probe. Each has its own schedule, so that no two kinds leave at the same moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProbeKind {
    /// ICMP echo: `IcmpRtt`.
    Icmp,
    /// UDP with four timestamps: `UdpRtt`, `OneWayDelay`.
    Udp,
    /// A new TCP connection with one request on it: `TcpConnect`, `HttpForeign`.
    Connect,
    /// A request on a kept connection: `HttpKept`.
    Kept,
}

impl ProbeKind {
    /// Every kind.
    pub const ALL: [ProbeKind; 4] = [ProbeKind::Icmp, ProbeKind::Udp, ProbeKind::Connect, ProbeKind::Kept];

    /// For notes and messages.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeKind::Icmp => "ICMP echo",
            ProbeKind::Udp => "UDP",
            ProbeKind::Connect => "TCP connect",
            ProbeKind::Kept => "kept HTTP",
        }
    }
}

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
