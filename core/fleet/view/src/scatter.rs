//! The scatter plot of capacity and buffer, as points or as a density.
use crate::fleet::{Fleet, Site};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Direction;

/// Cells per factor of two. One is 9 % wide: less than a pixel of a plot over six decades.
const CELLS_PER_OCTAVE: f64 = 8.0;

/// A line with its capacity and its buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The site.
    pub site: String,
    /// The value of the label by which lines are grouped; empty without one.
    pub group: String,
    /// Capacity in bit/s.
    pub rate_bits_per_second: f64,
    /// Buffer in bytes.
    pub buffer_bytes: f64,
}

/// A range of both values with its number of lines.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// Lower end of the capacity, in bit/s; the upper end is 2^(1/8) times as large.
    pub rate_bits_per_second: f64,
    /// Lower end of the buffer, in bytes; likewise.
    pub buffer_bytes: f64,
    /// Number of lines.
    pub lines: u64,
}

/// The plot.
#[derive(Clone, PartialEq, Debug)]
pub enum Scatter {
    /// Each line.
    Points(Vec<Point>),
    /// Numbers of lines, because there are too many for points.
    Density(Vec<Cell>),
}

/// The lines of a direction that have a place in the plot, each with its capacity in bit/s and its
/// buffer in bytes.
pub fn lines(fleet: &Fleet, direction: Direction) -> impl Iterator<Item = (&Site, (f64, f64))> {
    fleet.sites().filter_map(move |site| {
        let line = site.lines.get(direction);
        let (rate, buffer) = (line.rate_bits_per_second?, line.buffer_bytes?);
        // Neither has a place on a logarithmic axis otherwise.
        (rate > 0.0 && buffer > 0.0).then_some((site, (rate, buffer)))
    })
}

/// How long a full buffer takes to send, in seconds.
#[must_use]
pub fn drain_s(rate_bits_per_second: f64, buffer_bytes: f64) -> f64 {
    8.0 * buffer_bytes / rate_bits_per_second
}

/// Plots the lines of a direction: as points up to `max_points` of them, each with its value of a
/// label.
#[must_use]
pub fn scatter(fleet: &Fleet, direction: Direction, by: Option<&str>, max_points: usize) -> Scatter {
    if lines(fleet, direction).nth(max_points).is_some() {
        return Scatter::Density(cells(lines(fleet, direction).map(|(_, place)| place)));
    }
    let point = |(site, (rate, buffer)): (&Site, (f64, f64))| Point {
        site: site.name.to_string(),
        group: by.and_then(|label| site.labels.get(label)).cloned().unwrap_or_default(),
        rate_bits_per_second: rate,
        buffer_bytes: buffer,
    };
    Scatter::Points(lines(fleet, direction).map(point).collect())
}

impl Point {
    /// How long the full buffer takes to send, in seconds.
    #[must_use]
    pub fn drain_s(&self) -> f64 {
        drain_s(self.rate_bits_per_second, self.buffer_bytes)
    }
}

/// The density of these lines.
#[must_use]
pub fn density(points: &[Point]) -> Vec<Cell> {
    cells(points.iter().map(|point| (point.rate_bits_per_second, point.buffer_bytes)))
}

fn cells(places: impl Iterator<Item = (f64, f64)>) -> Vec<Cell> {
    let number = |value: f64| libm::floor(libm::log2(value) * CELLS_PER_OCTAVE) as i32;
    let value = |cell: i32| libm::exp2(f64::from(cell) / CELLS_PER_OCTAVE);
    let mut cells: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    for (rate, buffer) in places {
        *cells.entry((number(rate), number(buffer))).or_default() += 1;
    }
    let cell = |((rate, buffer), lines): ((i32, i32), u64)| Cell {
        rate_bits_per_second: value(rate),
        buffer_bytes: value(buffer),
        lines,
    };
    cells.into_iter().map(cell).collect()
}
