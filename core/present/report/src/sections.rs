//! Parts of a result on a terminal that measured lines and captures share: charts, findings, the verdict.
use crate::Style;
use crate::chart::Chart;
use crate::curve::{Curve, spans, time_range};
use crate::flows::{self, FlowCurve};
use crate::terminal::{Ink, clean, wrap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, Health};
use fathom_prose::Verdict;
use fathom_run::{Certainty, Finding, Run};
use fathom_units::Direction;

/// Wider text is hard to read.
pub(crate) const WIDEST_TEXT: usize = 100;

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

pub(crate) fn finding_lines(finding: &Finding, run: &Run, columns: usize, style: Style) -> Vec<String> {
    let unsure = match finding.certainty {
        Certainty::Certain => "",
        Certainty::Likely => " (likely)",
        Certainty::Possible => " (possible)",
    };
    let text = fathom_prose::finding(finding, run.capture.as_deref());
    wrap(&format!("{} {}{unsure}", style.pick("·", "-"), clean(&text)), columns, 2)
}

/// The verdict's sentences and, last, its headline, in the color of the line's health.
/// The notes of a run, and last its verdict.
pub(crate) fn notes_and_verdict(
    run: &Run,
    diagnosis: &Diagnosis,
    columns: usize,
    style: Style,
) -> Vec<String> {
    let note = |note| format!("{} {}", style.pick("·", "-"), clean(&fathom_prose::note(note)));
    let mut lines: Vec<String> = run.notes.iter().flat_map(|one| wrap(&note(one), columns, 2)).collect();
    lines.push(String::new());
    lines.extend(verdict(run, diagnosis, columns, style));
    lines
}

fn verdict(run: &Run, diagnosis: &Diagnosis, columns: usize, style: Style) -> Vec<String> {
    let words = fathom_prose::verdict(run, diagnosis);
    let mut lines: Vec<String> =
        words.sentences.iter().flat_map(|sentence| wrap(&clean(sentence), columns, 0)).collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(headline(&words, diagnosis.health, columns, style));
    lines
}

/// The headline, in the color of the line's health.
pub(crate) fn headline(words: &Verdict, health: Health, columns: usize, style: Style) -> Vec<String> {
    let ink = match health {
        Health::Healthy => Ink::Good,
        Health::Bloated => Ink::Bad,
        Health::Invalid | Health::Inconclusive => Ink::Fair,
    };
    let lines = wrap(&clean(&words.headline), columns, 0);
    lines.iter().map(|line| style.ink(ink, &style.ink(Ink::Bold, line))).collect()
}
