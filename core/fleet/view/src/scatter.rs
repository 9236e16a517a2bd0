//! The scatter plot of capacity and buffer, as points or as a density.
use crate::fleet::Fleet;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Direction;

/// Cells per factor of two. One is 9 % wide: less than a pixel of a plot over six decades.
const CELLS_PER_OCTAVE: f64 = 8.0;

/// A line with its capacity and its buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The site.
    pub site: String,
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

/// Plots the lines of a direction: as points up to `max_points` of them.
#[must_use]
pub fn scatter(fleet: &Fleet, direction: Direction, max_points: usize) -> Scatter {
    let point = |site: &crate::Site| {
        let line = site.lines.get(direction);
        let (rate, buffer) = (line.rate_bits_per_second?, line.buffer_bytes?);
        // Neither has a place on a logarithmic axis otherwise.
        (rate > 0.0 && buffer > 0.0).then(|| Point {
            site: site.name.clone(),
            rate_bits_per_second: rate,
            buffer_bytes: buffer,
        })
    };
    let points: Vec<Point> = fleet.sites().filter_map(point).collect();
    if points.len() <= max_points { Scatter::Points(points) } else { Scatter::Density(density(&points)) }
}

fn density(points: &[Point]) -> Vec<Cell> {
    let number = |value: f64| libm::floor(libm::log2(value) * CELLS_PER_OCTAVE) as i32;
    let value = |cell: i32| libm::exp2(f64::from(cell) / CELLS_PER_OCTAVE);
    let mut cells: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    for point in points {
        *cells.entry((number(point.rate_bits_per_second), number(point.buffer_bytes))).or_default() += 1;
    }
    let cell = |((rate, buffer), lines): ((i32, i32), u64)| Cell {
        rate_bits_per_second: value(rate),
        buffer_bytes: value(buffer),
        lines,
    };
    cells.into_iter().map(cell).collect()
}
