//! Totals of probes: questions apart from TCP, and their answers.
use crate::limit::elapsed;
use crate::rtt::Tally;
use crate::{Probe, ProbeKind, RttValidity};
use fathom_capture::Address;

/// One end.
pub(crate) type Socket = (Address, u16);

/// Of one kind of probe.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProbeTotals {
    /// Questions, each counted once.
    pub asked: u64,
    /// Those that were asked again before an answer.
    pub asked_again: u64,
    /// Answers.
    pub answered: u64,
    /// Questions without an answer in the capture.
    pub unanswered: u64,
    /// Time to the answer, of what was asked once, ns.
    pub rtt: Tally,
}

/// Of all kinds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProbesTotals {
    /// ICMP echo.
    pub echo: ProbeTotals,
    /// DNS over UDP.
    pub dns: ProbeTotals,
    /// Handshakes of QUIC.
    pub quic_handshake: ProbeTotals,
    /// Turns of QUIC's spin bit: a hint.
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
    /// Counts a question that has its answer.
    pub(crate) fn answered(&mut self, probe: &Probe) {
        let Some(answered) = probe.answered else { return };
        let totals = self.of(probe.kind);
        totals.answered += 1;
        if probe.validity == RttValidity::Clean || probe.kind == ProbeKind::QuicSpin {
            totals.rtt.add(elapsed(probe.asked.at, answered.at));
        }
    }
}
