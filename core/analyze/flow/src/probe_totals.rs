//! Totals of requests and responses of protocols other than TCP.
use crate::limit::elapsed;
use crate::rtt::Tally;
use crate::{Probe, ProbeKind, RttValidity};
use fathom_capture::Address;

pub(crate) type Socket = (Address, u16);

/// Totals of one kind of request.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProbeTotals {
    /// Number of requests, without retries.
    pub asked: u64,
    /// Number of requests that were retried before a response.
    pub asked_again: u64,
    /// Number of responses.
    pub answered: u64,
    /// Number of requests without a response in the capture.
    pub unanswered: u64,
    /// Response time of requests that were sent once, ns.
    pub rtt: Tally,
}

/// Totals of all kinds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProbesTotals {
    /// ICMP echo.
    pub echo: ProbeTotals,
    /// DNS over UDP.
    pub dns: ProbeTotals,
    /// QUIC handshakes.
    pub quic_handshake: ProbeTotals,
    /// Transitions of QUIC's spin bit, which are only a hint.
    pub quic_spin: ProbeTotals,
}

impl ProbesTotals {
    pub(crate) const fn of(&mut self, kind: ProbeKind) -> &mut ProbeTotals {
        match kind {
            ProbeKind::Echo => &mut self.echo,
            ProbeKind::Dns => &mut self.dns,
            ProbeKind::QuicHandshake => &mut self.quic_handshake,
            ProbeKind::QuicSpin => &mut self.quic_spin,
        }
    }
    pub(crate) fn answered(&mut self, probe: &Probe) {
        let Some(answered) = probe.answered else { return };
        let totals = self.of(probe.kind);
        totals.answered += 1;
        if probe.validity == RttValidity::Clean || probe.kind == ProbeKind::QuicSpin {
            totals.rtt.add(elapsed(probe.asked.at, answered.at));
        }
    }
}
