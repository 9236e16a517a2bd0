//! The plot of capacity and buffer, with characters.
use crate::screen::{BODY, Screen, section};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use fathom_fleet_view::Point;
use fathom_layout::{clean, clip, finish};
use fathom_prose::{Verdict, buffers_verdict};
use fathom_stats::percentile;
use fathom_text::{bytes, counted, milliseconds, rate};
use fathom_units::Direction;

/// Size of the plot, in characters.
const PLOT_COLUMNS: usize = 60;
const PLOT_ROWS: usize = 14;
/// Columns of the labels of the buffer.
const LABEL: usize = 9;
/// Groups below the plot without `-v`.
const GROUPS: usize = 8;

/// The buffers of the lines of a fleet, in one direction.
#[derive(Clone, Copy)]
pub struct BuffersScreen<'a> {
    /// The direction.
    pub direction: Direction,
    /// Each line.
    pub points: &'a [Point],
    /// The label by which they are grouped.
    pub by: Option<&'a str>,
    /// Time from which a buffer is too deep, in seconds.
    pub limit_s: f64,
}

/// The verdict about the buffers.
pub fn buffers_summary(of: &BuffersScreen<'_>) -> Verdict {
    let deep = of.points.iter().filter(|point| point.drain_s() >= of.limit_s).count();
    buffers_verdict(of.points.len(), deep)
}

/// The plot, and the median of each group.
pub fn buffers_screen(of: &BuffersScreen<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let mut lines = screen.verdict(&buffers_summary(of));
    if style.detail == Detail::Quiet || of.points.is_empty() {
        return finish(&lines, style);
    }
    let width = PLOT_COLUMNS.min(screen.columns.saturating_sub(BODY + LABEL + 1)).max(20);
    let heading = format!("Buffer by rate, {}load", of.direction);
    lines.extend(section(screen, &heading, plot(of.points, width, style)));
    if let Some(label) = of.by {
        let by = format!("By {}: buffer and its delay, medians", clean(label));
        lines.extend(section(screen, &by, groups(of.points, style)));
    }
    finish(&lines, style)
}

/// A range of values on a logarithmic axis.
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Range {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        // A factor of two at least: all may be equal.
        Range { low, high: high.max(2.0 * low) }
    }
    /// The cell of a value among `count`.
    fn cell(&self, value: f64, count: usize) -> usize {
        let share = libm::log(value / self.low) / libm::log(self.high / self.low);
        ((share * count as f64) as usize).min(count - 1)
    }
    /// The value in the middle of a cell.
    fn value(&self, cell: usize, count: usize) -> f64 {
        self.low * libm::pow(self.high / self.low, (cell as f64 + 0.5) / count as f64)
    }
}

fn plot(points: &[Point], width: usize, style: Style) -> Vec<String> {
    let rates = Range::of(points.iter().map(|point| point.rate_bits_per_second));
    let buffers = Range::of(points.iter().map(|point| point.buffer_bytes));
    let mut counts = vec![vec![0_u64; width]; PLOT_ROWS];
    for point in points {
        let row = buffers.cell(point.buffer_bytes, PLOT_ROWS);
        let column = rates.cell(point.rate_bits_per_second, width);
        if let Some(count) = counts.get_mut(row).and_then(|row| row.get_mut(column)) {
            *count += 1;
        }
    }
    let indent = " ".repeat(BODY);
    let bar = style.pick("\u{2502}", "|");
    let mut lines = Vec::new();
    for (row, cells) in counts.iter().enumerate().rev() {
        let label = if row % 3 == 1 { bytes(buffers.value(row, PLOT_ROWS)) } else { String::new() };
        let marks: String = cells.iter().map(|count| mark(*count, style)).collect();
        lines.push(format!("{indent}{label:>LABEL$}{bar}{}", marks.trim_end()));
    }
    let corner = style.pick("\u{2514}", "+");
    let line = style.pick("\u{2500}", "-").repeat(width);
    lines.push(format!("{indent}{:LABEL$}{corner}{line}", ""));
    let (low, high) = (rate(rates.low), rate(rates.high));
    let gap = width.saturating_sub(low.len() + high.len());
    lines.push(format!("{indent}{:LABEL$} {low}{:gap$}{high}", "", ""));
    let [one, some, many] = [mark(1, style), mark(10, style), mark(100, style)];
    lines.push(format!("{indent}{:LABEL$} lines per mark: {one} 1 to 9, {some} 10 to 99, {many} more", ""));
    lines
}

fn mark(count: u64, style: Style) -> &'static str {
    match count {
        0 => " ",
        1..=9 => style.pick("\u{00b7}", "."),
        10..=99 => style.pick("\u{25cb}", "o"),
        _ => style.pick("\u{25cf}", "#"),
    }
}

fn groups(points: &[Point], style: Style) -> Vec<String> {
    let mut all: alloc::collections::BTreeMap<&str, Vec<&Point>> = alloc::collections::BTreeMap::new();
    for point in points {
        all.entry(&point.group).or_default().push(point);
    }
    let median = |group: &[&Point], of: fn(&Point) -> f64| {
        let mut values: Vec<f64> = group.iter().map(|point| of(point)).collect();
        percentile(&mut values, 0.5).unwrap_or_default()
    };
    let mut rows: Vec<(f64, String)> = all
        .into_iter()
        .map(|(name, group)| {
            let drain = median(&group, Point::drain_s);
            let name = if name.is_empty() { "-".to_string() } else { clip(&clean(name), 30) };
            let size = bytes(median(&group, |point| point.buffer_bytes));
            let lines = counted(group.len() as u64, "line", "lines");
            (drain, format!("  {name}: {lines}, {size}, {}", milliseconds(drain)))
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let most = if style.detail == Detail::Verbose { usize::MAX } else { GROUPS };
    rows.into_iter().take(most).map(|(_, row)| row).collect()
}
