//! Small tables of a result: phases, flows of a capture, claims of a scenario.
use crate::table::{Columns, Table};
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_report::ClaimRow;
use fathom_run::{Capture, CapturedFlow, CapturedSide, PhaseEnd, RoundTrips};
use fathom_stats::{Bounded, Summary};
use pyo3::prelude::*;

/// One row for each phase.
pub(crate) fn phases(diagnosis: &Diagnosis) -> PyResult<Table> {
    fn latency(of: fn(&Summary) -> Bounded) -> impl Fn(&PhaseSummary) -> Option<f64> {
        move |phase| phase.latency.as_ref().map(|latency| of(latency).value)
    }
    Columns::of(&diagnosis.phases)
        .text("phase", |phase| Some(phase.kind.name()))
        .number("start_s", |phase| Some(phase.start_s))
        .number("duration_s", |phase| Some(phase.duration_s))
        .text("end", |phase| Some(end(phase.end)))
        .number("latency_min_s", latency(|l| l.min))
        .number("latency_p50_s", latency(|l| l.p50))
        .number("latency_p90_s", latency(|l| l.p90))
        .number("latency_p95_s", latency(|l| l.p95))
        .number("latency_p99_s", latency(|l| l.p99))
        .number("latency_max_s", latency(|l| l.max))
        .number("loss_ratio", |phase| phase.loss_ratio)
        .number("increase_p50_s", |phase| phase.increase_p50_s.map(|increase| increase.value))
        .number("goodput_up_bits_per_second", |phase| phase.goodput_up_bits_per_second)
        .number("goodput_down_bits_per_second", |phase| phase.goodput_down_bits_per_second)
        .number("fairness_ratio", |phase| phase.fairness_index)
        .number("responsiveness_rpm", |phase| phase.rpm.as_ref().map(|rpm| rpm.per_minute))
        .number("call_mos", |phase| phase.impact.map(|impact| impact.call.mos))
        .number("page_load_s", |phase| phase.impact.and_then(|impact| impact.page_load_s))
        .table()
}

const fn end(end: PhaseEnd) -> &'static str {
    match end {
        PhaseEnd::Settled => "settled",
        PhaseEnd::TimeLimit => "time_limit",
        PhaseEnd::ByteLimit => "byte_limit",
        PhaseEnd::Aborted => "aborted",
    }
}

/// Data from one end of a flow to the other.
struct Sent<'c> {
    flow: &'c CapturedFlow,
    from: &'c str,
    to: &'c str,
    side: &'c CapturedSide,
}

/// One row for each end of each flow that sent payload.
pub(crate) fn flows(capture: Option<&Capture>) -> PyResult<Table> {
    let rows: Vec<Sent<'_>> = capture.iter().flat_map(|capture| &capture.flows).flat_map(sides).collect();
    fn rtt(of: fn(&RoundTrips) -> f64) -> impl Fn(&Sent<'_>) -> Option<f64> {
        move |row| row.side.rtt.as_ref().map(of)
    }
    Columns::of(&rows)
        .whole("flow", |row| Some(u64::from(row.flow.number)))
        .text("from", |row| Some(row.from))
        .text("to", |row| Some(row.to))
        .number("start_s", |row| Some(row.flow.start_s))
        .number("duration_s", |row| Some(row.flow.duration_s))
        .whole("sent_packets", |row| Some(row.side.packets))
        .whole("payload_bytes", |row| Some(row.side.payload_bytes))
        .number("goodput_bits_per_second", |row| row.side.goodput_bits_per_second)
        .whole("retransmitted_packets", |row| Some(row.side.retransmissions.packets()))
        .whole("spurious_packets", |row| Some(row.side.retransmissions.spurious_packets))
        .whole("reordered_packets", |row| Some(row.side.reordered_packets))
        .whole("ce_packets", |row| Some(row.side.ce_packets))
        .whole("max_outstanding_bytes", |row| Some(row.side.max_outstanding_bytes))
        .number("rtt_min_s", rtt(|rtt| rtt.min_s))
        .number("rtt_p50_s", rtt(|rtt| rtt.p50_s))
        .number("rtt_p95_s", rtt(|rtt| rtt.p95_s))
        .number("rtt_max_s", rtt(|rtt| rtt.max_s))
        .table()
}

fn sides(flow: &CapturedFlow) -> impl Iterator<Item = Sent<'_>> {
    let [initiator, responder] = &flow.ends;
    let ends = [(initiator, responder), (responder, initiator)];
    let sent = ends.into_iter().zip(&flow.sent).map(move |((from, to), side)| Sent { flow, from, to, side });
    sent.filter(|row| row.side.payload_bytes > 0)
}

/// One row for each published number.
pub(crate) fn claims(claims: &[ClaimRow]) -> PyResult<Table> {
    Columns::of(claims)
        .text("says", |claim| Some(&claim.says))
        .text("published", |claim| Some(&claim.published))
        .number("expected_min", |claim| Some(claim.expected[0]))
        .number("expected_max", |claim| Some(claim.expected[1]))
        .number("simulated", |claim| claim.got)
        .text("unit", |claim| Some(claim.unit))
        .flag("holds", |claim| Some(claim.holds()))
        .text("note", |claim| claim.note.as_deref())
        .table()
}
