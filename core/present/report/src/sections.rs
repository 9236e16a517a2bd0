//! Charts of a result on a terminal, of measured lines and of captures.
use crate::Style;
use crate::chart::Chart;
use crate::curve::{Curve, spans, time_range};
use crate::flows::{self, FlowCurve};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::Ink;
use fathom_run::Run;
use fathom_units::Direction;

/// Rows of each chart.
const CHART_ROWS: usize = 11;

pub(crate) fn charts(run: &Run, diagnosis: &Diagnosis, columns: usize, style: Style) -> Vec<String> {
    let (spans, time) = (spans(run), time_range(run));
    let latency = Curve::latency(run, diagnosis.latency_source);
    let [down, up] = [Direction::Down, Direction::Up].map(|d| Curve::goodput(run, d));
    let mut lines = Vec::new();
    let title = if run.capture.is_some() { "delay of the queue, ms" } else { "latency, ms" };
    if !latency.is_empty() {
        let curves = [(&latency, Ink::Latency, '*')];
        lines.extend(
            Chart { title, curves: &curves, time, spans: &spans, cut_spikes: false }
                .lines(columns, CHART_ROWS, style),
        );
    }
    if !down.is_empty() || !up.is_empty() {
        let curves = [(&down, Ink::Down, 'd'), (&up, Ink::Up, 'u')];
        let names = format!("{}, {}", style.ink(Ink::Down, "down (d)"), style.ink(Ink::Up, "up (u)"));
        lines.push(format!("goodput, Mbit/s: {names}"));
        let chart = Chart { title: "", curves: &curves, time, spans: &spans, cut_spikes: true }.lines(
            columns,
            CHART_ROWS - 2,
            style,
        );
        lines.extend(chart.into_iter().skip(1));
    }
    if latency.is_empty() {
        lines.extend(flow_chart(("round trips, ms", false), &flows::round_trips(run), run, columns, style));
    }
    lines.extend(flow_chart(("goodput, Mbit/s", true), &flows::goodput(run), run, columns, style));
    lines
}

/// Curves of a capture's flows; nothing if there are none.
fn flow_chart(
    (title, cut_spikes): (&str, bool),
    flows: &[FlowCurve],
    run: &Run,
    columns: usize,
    style: Style,
) -> Vec<String> {
    let pens = [(Ink::Down, 'a'), (Ink::Up, 'b'), (Ink::Latency, 'c'), (Ink::Good, 'd')];
    let named = || flows.iter().zip(pens);
    let names: Vec<String> =
        named().map(|(flow, (ink, mark))| style.ink(ink, &format!("{} ({mark})", flow.name))).collect();
    if names.is_empty() {
        return Vec::new();
    }
    // The last lies on top: the first is the largest.
    let curves: Vec<_> = named().rev().map(|(flow, (ink, mark))| (&flow.curve, ink, mark)).collect();
    let chart = Chart { title: "", curves: &curves, time: time_range(run), spans: &spans(run), cut_spikes };
    let drawn = chart.lines(columns, CHART_ROWS - 2, style);
    [format!("{title}: {}", names.join(", "))].into_iter().chain(drawn.into_iter().skip(1)).collect()
}
