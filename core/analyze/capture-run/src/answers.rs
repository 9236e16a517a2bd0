//! Converts requests and responses of protocols other than TCP.
use crate::flow::trips;
use alloc::vec::Vec;
use fathom_flow::{ProbeTotals, ProbesTotals};
use fathom_run::{CapturedAnswers, ProbeKind};

pub(crate) fn captured(probes: &ProbesTotals) -> Vec<CapturedAnswers> {
    let all = [
        (ProbeKind::Echo, &probes.echo),
        (ProbeKind::Dns, &probes.dns),
        (ProbeKind::QuicHandshake, &probes.quic_handshake),
        (ProbeKind::QuicSpin, &probes.quic_spin),
    ];
    let asked = |(_, totals): &(ProbeKind, &ProbeTotals)| totals.asked + totals.answered > 0;
    let captured = |(kind, totals): (ProbeKind, &ProbeTotals)| CapturedAnswers {
        kind,
        asked: if kind == ProbeKind::QuicSpin { totals.answered } else { totals.asked },
        unanswered: totals.unanswered,
        rtt: trips(&totals.rtt),
    };
    all.into_iter().filter(asked).map(captured).collect()
}
