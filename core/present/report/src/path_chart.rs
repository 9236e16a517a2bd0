//! The hops of a path over time: the queueing delay of each, in rows on one time axis.
use crate::Style;
use crate::chart::time_line;
use crate::curve::{Column, Curve, Span, phase_name, spans, time_range, widest_bridge};
use crate::path::{end_of, hop_series};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::{Ink, cells as width_of, left};
use fathom_run::threshold::{BLOATED_P50_S, BLOATED_P90_S, MODEST_S};
use fathom_run::{PhaseKind, Run};
use fathom_stats::{median, percentile_of_sorted, sorted};

/// Upper bounds of the levels of queueing delay in seconds; the last level is above all.
pub(crate) const BOUNDS_S: [f64; 7] = [0.002, 0.005, 0.010, MODEST_S, BLOATED_P50_S, BLOATED_P90_S, 1.0];
const MARKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// The marks of mtr(8).
const ASCII_MARKS: [&str; 8] = [".", "1", "2", "3", "a", "b", "c", ">"];
/// Without an idle phase, this percentile of the delays is taken as the delay without a queue: a
/// queue that is there 90 % of the time is still seen, and single fast replies change nothing.
const UNQUEUED: f64 = 0.1;
/// Seconds for which a delay is shown if no probe follows: the interval of the probes that expire
/// at a hop.
const HELD_S: f64 = 1.0;
/// Columns of the number and the address of a hop.
const NAME: usize = 22;

/// What a column of a chart shows of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    /// No probe.
    Empty,
    /// No probe was answered.
    Lost,
    /// The median queueing delay, as a number of a level.
    Level(usize),
}

/// The delays of a hop, in seconds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct HopRow {
    pub(crate) name: String,
    pub(crate) curve: Curve,
    /// Delay without a queue.
    pub(crate) base_s: f64,
}

impl HopRow {
    /// The delays of `curve`; `idle` is a period without load.
    pub(crate) fn new(name: String, curve: Curve, idle: Option<Span>) -> HopRow {
        let during = |span: Span| {
            median(curve.points.iter().filter(|p| p.0 >= span.start && p.0 < span.end).map(|p| p.1))
        };
        let low = || percentile_of_sorted(&sorted(curve.points.iter().map(|p| p.1)), UNQUEUED);
        let base_s = idle.and_then(during).or_else(low).unwrap_or(0.0);
        HopRow { name, curve, base_s }
    }
}

/// The hops of a run, and its end.
pub(crate) fn rows(run: &Run, diagnosis: &Diagnosis) -> Vec<HopRow> {
    let Some(path) = &run.path else { return Vec::new() };
    let idle = spans(run).into_iter().find(|span| span.kind == PhaseKind::Idle);
    let row = |name: String, series: Vec<&fathom_run::Series>| {
        let mut curve = Curve::default();
        for part in series.into_iter().map(Curve::of_series) {
            curve.points.extend(part.points);
            curve.lost.extend(part.lost);
        }
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        HopRow::new(name, curve, idle)
    };
    let hops = path.hops.iter().map(|hop| {
        row(format!("{:>2} {}", hop.number, hop.name.as_ref().unwrap_or(&hop.address)), hop_series(run, hop))
    });
    let end = end_of(run, diagnosis);
    let server = end.map(|(number, name, series)| row(format!("{number:>2} {name}"), series));
    hops.chain(server).filter(|one| !one.curve.is_empty()).collect()
}

/// The cells of all rows between two times. A hop has at most the delay that later hops share: a
/// router that is slow to reply delays no packets that it forwards.
pub(crate) fn cells(rows: &[HopRow], (start, end): (f64, f64), columns: usize) -> Vec<Vec<Cell>> {
    let mut least: Vec<Option<f64>> = vec![None; columns];
    let mut all: Vec<Vec<Cell>> = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        let mut cells = vec![Cell::Empty; columns];
        for at in row.curve.lost.iter().filter(|at| **at >= start && **at < end) {
            let column = ((at - start) / (end - start) * columns as f64) as usize;
            cells.get_mut(column).into_iter().for_each(|cell| *cell = Cell::Lost);
        }
        for (index, delay_s) in held(&row.curve.columns(start, end, columns), columns as f64 / (end - start))
        {
            let added = (delay_s - row.base_s).max(0.0);
            let shared = least[index].map_or(added, |later| later.min(added));
            least[index] = Some(shared);
            cells[index] = Cell::Level(BOUNDS_S.iter().filter(|bound| shared >= **bound).count());
        }
        all.push(cells);
    }
    all.reverse();
    all
}

/// The median of each column, also of those between two probes that are no farther apart than
/// usual, or by [`HELD_S`].
fn held(columns: &[Column], columns_per_s: f64) -> Vec<(usize, f64)> {
    let bridge = widest_bridge(columns, (HELD_S * columns_per_s) as usize);
    let ends = columns.iter().skip(1).map(|column| column.index).chain([usize::MAX]);
    let hold = |(column, next): (&Column, usize)| {
        let end = if next - column.index <= bridge { next } else { column.index + 1 };
        let mid = column.mid;
        (column.index..end).map(move |index| (index, mid))
    };
    columns.iter().zip(ends).flat_map(hold).collect()
}

/// A row of cells.
pub(crate) fn text_of(cells: &[Cell], style: Style) -> String {
    let marks = if style.unicode { MARKS } else { ASCII_MARKS };
    let plain = |cell: &Cell| match cell {
        Cell::Empty => " ",
        Cell::Lost => "?",
        Cell::Level(level) => marks[*level],
    };
    let same = |a: &Cell, b: &Cell| ink_of(*a) == ink_of(*b);
    let part = |stretch: &[Cell]| {
        let text: String = stretch.iter().map(plain).collect();
        ink_of(stretch[0]).map_or(text.clone(), |ink| style.ink(ink, &text))
    };
    cells.chunk_by(same).map(part).collect()
}

fn ink_of(cell: Cell) -> Option<Ink> {
    match cell {
        Cell::Empty => None,
        Cell::Lost => Some(Ink::Dim),
        Cell::Level(level) => Some(match BOUNDS_S[..level].last() {
            Some(least) if *least >= BLOATED_P50_S => Ink::Bad,
            Some(least) if *least >= MODEST_S => Ink::Fair,
            _ => Ink::Good,
        }),
    }
}

/// What the marks mean.
pub(crate) fn legend(style: Style) -> String {
    let marks = if style.unicode { MARKS } else { ASCII_MARKS };
    let level = |(mark, bound): (&&str, &f64)| format!("{mark} <{:.0} ", bound * 1e3);
    let levels: String = marks.iter().zip(&BOUNDS_S).map(level).collect();
    format!("queueing delay in ms: {levels}{} more  ? no reply", marks[7])
}

/// The names of the phases below a chart between two times, each from where it starts.
pub(crate) fn phase_line(spans: &[Span], (start, end): (f64, f64), columns: usize, style: Style) -> String {
    let column = |t: f64| (((t - start) / (end - start)).clamp(0.0, 1.0) * columns as f64) as usize;
    let mut line = String::new();
    for span in spans {
        let (from, to) = (column(span.start), column(span.end));
        let is_named = span.kind != PhaseKind::Watch;
        if is_named && to > from && from >= width_of(&line) {
            line = left(&line, from);
            line += &left(&format!("{}{}", style.pick("╵", "'"), phase_name(span.kind)), to - from);
        }
    }
    line.trim_end().to_string()
}

/// The chart of a run: a row for each hop.
pub(crate) fn lines(run: &Run, diagnosis: &Diagnosis, columns: usize, style: Style) -> Vec<String> {
    let rows = rows(run, diagnosis);
    if rows.is_empty() {
        return Vec::new();
    }
    let (range, width) = (time_range(run), columns.saturating_sub(NAME + 1).max(8));
    let shown = rows.iter().zip(cells(&rows, range, width));
    let mut lines: Vec<String> = shown
        .map(|(row, cells)| {
            format!("{} {}", left(&fathom_layout::clean(&row.name), NAME), text_of(&cells, style))
        })
        .collect();
    let phases = phase_line(&spans(run), range, width, style);
    for below in [time_line(range, width, style), phases] {
        lines.push(style.ink(Ink::Dim, &format!("{} {below}", " ".repeat(NAME))));
    }
    lines.push(style.ink(Ink::Dim, &legend(style)));
    lines
}
