//! Charts of characters: Braille dots where the terminal has them, ASCII where it has not.
use crate::Style;
use crate::axis::{Axis, label};
use crate::curve::{Column, Curve, Span, phase_name, widest_bridge};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_layout::{Ink, clip, left, right};

/// Cells of the labels on the left, with the axis.
const GUTTER: usize = 8;

/// A gap wider than this part of the chart is not bridged by a line.
const BRIDGE: usize = 20;

/// What to draw.
pub(crate) struct Chart<'a> {
    /// What the values are, with their unit.
    pub(crate) title: &'a str,
    /// Curves in the order of drawing; the last lies on top. The letter is the ASCII mark.
    pub(crate) curves: &'a [(&'a Curve, Ink, char)],
    pub(crate) time: (f64, f64),
    pub(crate) spans: &'a [Span],
    /// Rare spikes do not set the height.
    pub(crate) cut_spikes: bool,
}

/// Dots of one cell, and who drew them last.
#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    mark: char,
    ink: Option<Ink>,
}

struct Canvas {
    cells: Vec<Cell>,
    columns: usize,
    rows: usize,
    /// Dots in a cell across and down.
    grain: (usize, usize),
}

impl Canvas {
    fn new(columns: usize, rows: usize, unicode: bool) -> Self {
        let grain = if unicode { (2, 4) } else { (1, 1) };
        Canvas { cells: vec![Cell::default(); columns * rows], columns, rows, grain }
    }
    fn width(&self) -> usize {
        self.columns * self.grain.0
    }
    fn height(&self) -> usize {
        self.rows * self.grain.1
    }
    /// Row of dots, from the top, of a share of the height.
    fn row_of(&self, share: f64) -> usize {
        let rows = self.height().saturating_sub(1);
        rows - libm::round(share * rows as f64) as usize
    }
    fn set(&mut self, x: usize, y: usize, ink: Ink, mark: char) {
        let (across, down) = self.grain;
        let cell = &mut self.cells[y / down * self.columns + x / across];
        // Braille numbers its dots 1 2 3 7 down the left and 4 5 6 8 down the right side.
        let bit = [[0, 1, 2, 6], [3, 4, 5, 7]][x % across][y % down];
        // In a cell that two curves share, each keeps its dots; the color is that of the upper
        // curve.
        cell.dots |= 1 << bit;
        (cell.ink, cell.mark) = (Some(ink), mark);
    }
    fn stroke(&mut self, x: usize, from: usize, to: usize, pen: (Ink, char)) {
        (from.min(to)..=from.max(to)).for_each(|y| self.set(x, y, pen.0, pen.1));
    }
    /// A curve: in each column from its smallest to its largest value, joined to the column before.
    fn draw(&mut self, columns: &[Column], axis: &Axis, pen: (Ink, char)) {
        let mut before: Option<(usize, usize)> = None;
        let bridge = widest_bridge(columns, 2 + self.width() / BRIDGE);
        for c in columns {
            let [low, mid, high] = [c.low, c.mid, c.high].map(|v| self.row_of(axis.position(v)));
            // Columns may be empty where values are sparse: a line joins the two sides, but not
            // over a phase without.
            before = before.filter(|(x, _)| c.index - x <= bridge);
            let from = before.map_or(mid, |(_, row)| row);
            let first = before.map_or(c.index, |(x, _)| x + 1);
            let span = (c.index + 1 - first).max(1) as f64;
            let mut last = from;
            for (i, x) in (first..=c.index).enumerate() {
                let share = (i + 1) as f64 / span;
                let row = libm::round(from as f64 + share * (mid as f64 - from as f64)) as usize;
                self.stroke(x, last, row, pen);
                last = row;
            }
            self.stroke(c.index, low, high, pen);
            before = Some((c.index, mid));
        }
    }
    fn text(&self, row: usize, style: Style) -> String {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        let drawn = cells.iter().rposition(|c| c.ink.is_some()).map_or(0, |last| last + 1);
        let mut text = String::new();
        for run in cells[..drawn].chunk_by(|a, b| a.ink == b.ink) {
            let plain: String = run.iter().map(|c| character(c, style)).collect();
            text += &run[0].ink.map_or(plain.clone(), |ink| style.ink(ink, &plain));
        }
        text
    }
}

fn character(cell: &Cell, style: Style) -> char {
    match (cell.dots, style.unicode) {
        (0, _) => ' ',
        (dots, true) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        (_, false) => cell.mark,
    }
}

impl Chart<'_> {
    /// Lines of text: a title, the chart, the time axis with the phases. `rows` is at least 5.
    pub(crate) fn lines(&self, columns: usize, rows: usize, style: Style) -> Vec<String> {
        let (width, height) = (columns.saturating_sub(GUTTER).max(8), rows.saturating_sub(3).max(2));
        let axis = self.value_axis(height);
        let mut canvas = Canvas::new(width, height, style.unicode);
        for (curve, ink, mark) in self.curves {
            let drawn = curve.columns(self.time.0, self.time.1, canvas.width());
            canvas.draw(&drawn, &axis, (*ink, *mark));
        }
        let mut lines = vec![clip(self.title, columns)];
        let labels = tick_rows(&axis, height);
        lines.extend((0..height).map(|row| {
            let tick = labels.iter().find(|(r, _)| *r == row).map_or("", |(_, l)| l.as_str());
            let edge = if tick.is_empty() { style.pick("│", "|") } else { style.pick("┤", "+") };
            format!(
                "{}{}",
                style.ink(Ink::Dim, &format!("{} {edge}", right(tick, GUTTER - 2))),
                canvas.text(row, style)
            )
        }));
        let corner = format!("{}{}", " ".repeat(GUTTER - 1), style.pick("└", "+"));
        lines.push(style.ink(Ink::Dim, &(corner + &time_line(self.time, width, style))));
        lines.push(style.ink(Ink::Dim, &self.phase_line(width, style)));
        lines
    }
    fn value_axis(&self, height: usize) -> Axis {
        let most = (height / 2 + 1).clamp(2, 6);
        if self.cut_spikes {
            return Axis::linear(
                self.curves.iter().map(|(c, _, _)| c.high_without_spikes()).fold(0.0, f64::max),
                most,
            );
        }
        let ranges = self.curves.iter().filter_map(|(c, _, _)| c.range());
        let (low, high) = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 1.0));
        Axis::fitting(low, high, most)
    }
    /// The names of the phases, each from where it starts.
    fn phase_line(&self, width: usize, style: Style) -> String {
        let length = self.time.1 - self.time.0;
        let cell = |t: f64| ((t - self.time.0) / length * width as f64).clamp(0.0, width as f64) as usize;
        let mut line = String::new();
        let mut used = 0;
        for span in self.spans {
            let (start, end) = (cell(span.start), cell(span.end));
            if start < used || end <= start {
                continue;
            }
            line += &" ".repeat(start - used);
            line += &left(&format!("{}{}", style.pick("╵", "'"), phase_name(span.kind)), end - start);
            used = end;
        }
        String::from(format!("{}{line}", " ".repeat(GUTTER)).trim_end())
    }
}

/// A time axis of `width` cells, with the seconds of its ticks in it.
pub(crate) fn time_line((start, end): (f64, f64), width: usize, style: Style) -> String {
    let axis = Axis::exact(start, end, (width / 12).max(1));
    let mut cells: Vec<char> = style.pick("─", "-").chars().cycle().take(width).collect();
    for tick in axis.ticks() {
        let text = format!("{}s", label(*tick));
        let at = (axis.position(*tick) * width as f64) as usize;
        if at + text.len() < width {
            cells.splice(at..at + text.len(), text.chars());
        }
    }
    cells.into_iter().collect()
}

/// Rows of the ticks; of two on one row the first stays.
fn tick_rows(axis: &Axis, height: usize) -> Vec<(usize, String)> {
    let bottom = height - 1;
    let row = |tick: &f64| bottom - libm::round(axis.position(*tick) * bottom as f64) as usize;
    axis.ticks().iter().map(|t| (row(t), narrow_label(*t))).collect()
}

/// A label that the gutter has room for.
fn narrow_label(value: f64) -> String {
    let whole = label(value);
    if whole.len() > GUTTER - 2 { format!("{}k", label(value / 1e3)) } else { whole }
}

#[cfg(test)]
mod tests;
