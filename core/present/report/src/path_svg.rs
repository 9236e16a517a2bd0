//! The hops of a path over time as SVG: a row for each hop, colored by its queueing delay.
use crate::axis::{Axis, label};
use crate::curve::{phase_name, spans, time_range};
use crate::path_chart::{BOUNDS_S, Cell, cells, rows};
use crate::svg::{WIDTH, escape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::Run;

/// Height of a row in user units.
const ROW: f64 = 16.0;
/// Space for the title and the names of the phases, and for the time axis.
const TOP: f64 = 46.0;
const BOTTOM: f64 = 26.0;
/// Space for the names of the hops on the left, and on the right.
const LEFT: f64 = 172.0;
const RIGHT: f64 = 20.0;
/// Columns: 3 units wide.
const COLUMNS: usize = 176;
/// Narrowest phase that is named.
const NAMED: f64 = 40.0;

/// The chart of a run with hops.
pub(crate) fn path_chart(run: &Run, diagnosis: &Diagnosis) -> Option<String> {
    let rows = rows(run, diagnosis);
    if rows.is_empty() {
        return None;
    }
    let range = time_range(run);
    let bottom = TOP + rows.len() as f64 * ROW;
    let mut body = title();
    for (n, (row, cells)) in rows.iter().zip(cells(&rows, range, COLUMNS)).enumerate() {
        let y = TOP + n as f64 * ROW;
        body += &format!(
            "<text class=\"key\" x=\"14\" y=\"{:.1}\">{}</text>{}",
            y + ROW - 4.5,
            escape(&row.name),
            cell_rects(&cells, y),
        );
    }
    body += &phases(run, range, bottom);
    body += &time_axis(range, bottom);
    let height = bottom + BOTTOM;
    Some(format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Queueing delay by hop\">{body}</svg>"
    ))
}

/// The title, and the colors with the upper bounds of their levels.
fn title() -> String {
    let below = BOUNDS_S.iter().map(|bound| format!("&lt;{:.0}", bound * 1e3));
    let names: Vec<String> = below.chain([String::from("more")]).collect();
    let keys: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(level, name)| format!("<tspan class=\"dot level{level}\">■</tspan> {name}"))
        .collect();
    format!(
        "<text class=\"title\" x=\"14\" y=\"18\">Queueing delay by hop, ms</text>\
         <text class=\"key\" text-anchor=\"end\" x=\"{}\" y=\"18\">{}</text>",
        WIDTH - RIGHT,
        keys.join(" ")
    )
}

const fn x_of(column: usize) -> f64 {
    LEFT + column as f64 * (WIDTH - LEFT - RIGHT) / COLUMNS as f64
}

/// A rectangle for each stretch of equal cells.
fn cell_rects(cells: &[Cell], y: f64) -> String {
    let (mut rects, mut start) = (String::new(), 0);
    for stretch in cells.chunk_by(|a, b| a == b) {
        let end = start + stretch.len();
        let class = match stretch[0] {
            Cell::Empty => None,
            Cell::Lost => Some(String::from("unanswered")),
            Cell::Level(level) => Some(format!("level{level}")),
        };
        if let Some(class) = class {
            let (x, width) = (x_of(start), x_of(end) - x_of(start));
            rects += &format!(
                "<rect class=\"cell {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
                ROW - 2.0
            );
        }
        start = end;
    }
    rects
}

/// The names of the phases, and a line where each begins.
fn phases(run: &Run, (start, end): (f64, f64), bottom: f64) -> String {
    let x = |t: f64| LEFT + ((t - start) / (end - start)).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let phase = |span: crate::curve::Span| {
        let (from, to) = (x(span.start), x(span.end));
        let line = format!(
            "<line class=\"axis\" x1=\"{from:.1}\" x2=\"{from:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\"/>",
            TOP - 12.0
        );
        let name = if to - from > NAMED { phase_name(span.kind) } else { "" };
        line + &format!(
            "<text class=\"phase-name\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
            from + 3.0,
            TOP - 4.0
        )
    };
    spans(run).into_iter().map(phase).collect()
}

fn time_axis((start, end): (f64, f64), bottom: f64) -> String {
    let axis = Axis::exact(0.0, end - start, 8);
    let tick = |value: &f64| {
        let x = LEFT + axis.position(*value) * (WIDTH - LEFT - RIGHT);
        let y = bottom + 14.0;
        format!(
            "<text class=\"tick\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y:.1}\">{}s</text>",
            label(*value)
        )
    };
    axis.ticks().iter().map(tick).collect()
}
