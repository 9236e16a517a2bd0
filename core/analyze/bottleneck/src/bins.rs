//! Minimum, maximum and sum of values over time, in bounded memory.
use alloc::vec::Vec;

/// Initial width of a bin: 2^20 ns, about 1 ms, the tick of most TCP clocks.
const FIRST_SHIFT: u32 = 20;
/// Maximum width of a bin: 2^40 ns, 18 minutes.
const LAST_SHIFT: u32 = 40;

/// A flow with more rows than this reserves memory for the maximum.
const FEW: usize = 32;
/// Index of no row.
const NOWHERE: usize = usize::MAX;

/// Maximum number of bins of a series that starts with the initial width.
const LONG: usize = 2048;

/// Values of one interval. Only nonempty bins exist.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bin {
    /// Start time in units of the bin width.
    pub(crate) index: u32,
    pub(crate) count: u32,
    /// Extremes of the values, or of their levels.
    pub(crate) min: f32,
    pub(crate) max: f32,
    pub(crate) sum: f64,
}

impl Bin {
    pub(crate) fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

/// The bins of all series at one time; kept together because one packet adds to several series.
#[derive(Clone, Copy, Debug)]
struct Row<const N: usize> {
    index: u32,
    count: [u32; N],
    min: [f32; N],
    max: [f32; N],
    sum: [f64; N],
}

impl<const N: usize> Row<N> {
    const fn new(index: u32) -> Self {
        Row { index, count: [0; N], min: [f32::INFINITY; N], max: [f32::NEG_INFINITY; N], sum: [0.0; N] }
    }
    /// Like [`Row::new`], in place.
    fn restart(&mut self, index: u32) {
        self.index = index;
        self.count.fill(0);
        self.min.fill(f32::INFINITY);
        self.max.fill(f32::NEG_INFINITY);
        self.sum.fill(0.0);
    }
    #[inline]
    fn add(&mut self, series: usize, value: f64, level: f32) {
        if series >= N {
            return;
        }
        self.count[series] = self.count[series].saturating_add(1);
        self.min[series] = lesser(self.min[series], level);
        self.max[series] = greater(self.max[series], level);
        self.sum[series] += value;
    }
    fn merge(&mut self, other: &Row<N>) {
        for series in 0..N {
            self.count[series] = self.count[series].saturating_add(other.count[series]);
            self.min[series] = lesser(self.min[series], other.min[series]);
            self.max[series] = greater(self.max[series], other.max[series]);
            self.sum[series] += other.sum[series];
        }
    }
    /// Maps each value `v` to `scale * v + shift`; `scale` is positive.
    fn map(&mut self, series: usize, scale: f64, shift: f64) {
        self.min[series] = (scale * f64::from(self.min[series]) + shift) as f32;
        self.max[series] = (scale * f64::from(self.max[series]) + shift) as f32;
        self.sum[series] = scale * self.sum[series] + shift * f64::from(self.count[series]);
    }
    fn bin(&self, series: usize) -> Option<Bin> {
        let Row { index, count, min, max, sum } = self;
        let bin =
            Bin { index: *index, count: count[series], min: min[series], max: max[series], sum: sum[series] };
        (bin.count > 0).then_some(bin)
    }
}

// A single instruction each. `f32::min` would also check both sides for NaN, which does not occur.
#[inline]
fn lesser(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}
#[inline]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// Several series with common bins. The width of the bins doubles when there are too many.
#[derive(Clone, Debug)]
pub(crate) struct Grid<const N: usize> {
    shift: u32,
    /// The current row: the last one, except while late values are added. Empty at first.
    open: Row<N>,
    /// The earlier rows in time order.
    rows: Vec<Row<N>>,
    /// Index in `rows` at which the last row is stored while an earlier one is current.
    late: usize,
    /// The series, after [`Grid::close`].
    series: [Vec<Bin>; N],
}

impl<const N: usize> Grid<N> {
    pub(crate) fn new() -> Self {
        Grid::of(LONG)
    }
    /// Creates a grid for series of at most `limit` bins. A small limit starts with wide bins,
    /// which would soon be widened anyway.
    pub(crate) fn of(limit: usize) -> Self {
        let shift = FIRST_SHIFT + (LONG / limit.clamp(1, LONG)).ilog2();
        let series = core::array::from_fn(|_| Vec::new());
        Grid { shift, open: Row::new(0), rows: Vec::new(), late: NOWHERE, series }
    }
    pub(crate) fn width_ns(&self) -> f64 {
        (1_u64 << self.shift) as f64
    }
    /// The values of a series, after [`Grid::close`].
    pub(crate) fn bins(&self, series: usize) -> &[Bin] {
        self.series.get(series).map_or(&[], Vec::as_slice)
    }
    /// Finishes recording.
    pub(crate) fn close(&mut self) {
        self.swap_late();
        self.rows.push(self.open);
        let rows = core::mem::take(&mut self.rows);
        for (place, series) in self.series.iter_mut().enumerate() {
            let bins = rows.iter().filter_map(|row| row.bin(place));
            series.reserve_exact(bins.clone().count());
            series.extend(bins);
        }
    }
    pub(crate) fn middle_ns(&self, bin: &Bin) -> f64 {
        (f64::from(bin.index) + 0.5) * self.width_ns()
    }
    /// Sets the time of the values added next, in ns; a series has at most `limit` bins.
    #[inline]
    pub(crate) fn turn_to(&mut self, at: i64, limit: usize) {
        let index = u32::try_from(at.max(0) >> self.shift).unwrap_or(u32::MAX);
        if index != self.open.index {
            self.turn(index, limit);
        }
    }
    #[inline(never)]
    fn turn(&mut self, index: u32, limit: usize) {
        self.swap_late();
        self.late = NOWHERE;
        if index > self.open.index {
            self.begin(index, limit);
        } else if index < self.open.index {
            // Late values are added to the row of their time or, if there is none, to the next row.
            self.late = self.rows.partition_point(|row| row.index < index);
            self.swap_late();
        }
    }
    /// Exchanges the current row with the one stored at index `late`.
    fn swap_late(&mut self) {
        if let Some(row) = self.rows.get_mut(self.late) {
            core::mem::swap(row, &mut self.open);
        }
    }
    #[inline]
    pub(crate) fn add(&mut self, series: usize, value: f64) {
        self.add_with_level(series, value, value);
    }
    /// Adds a value to the sum, and its level to the extremes.
    #[inline]
    pub(crate) fn add_with_level(&mut self, series: usize, value: f64, level: f64) {
        self.open.add(series, value, level as f32);
    }
    fn begin(&mut self, index: u32, limit: usize) {
        // Reserves all memory at once: doubling copies the rows and leaves unusable gaps.
        if self.rows.len() == FEW {
            self.rows.reserve_exact(limit.saturating_sub(FEW));
        }
        self.rows.push(self.open);
        self.open.restart(index);
        while self.rows.len() + 1 >= limit && self.shift < LAST_SHIFT {
            self.shift += 1;
            self.halve();
        }
    }
    fn halve(&mut self) {
        self.rows.push(self.open);
        self.rows.dedup_by(|later, kept| {
            let is_same = later.index / 2 == kept.index / 2;
            if is_same {
                kept.merge(later);
            }
            is_same
        });
        self.rows.iter_mut().for_each(|row| row.index /= 2);
        self.open = self.rows.pop().unwrap_or(self.open);
    }
    pub(crate) const fn shift(&self) -> u32 {
        self.shift
    }
    /// Maps each value `v` of `series` at time `t` to `scale * v + drift * (t - since)`.
    pub(crate) fn map(&mut self, series: usize, scale: f64, drift: f64, since: f64) {
        let width = self.width_ns();
        for row in self.rows.iter_mut().chain([&mut self.open]) {
            let shift = drift * ((f64::from(row.index) + 0.5) * width - since);
            row.map(series, scale, shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in a file with one direction after the other: values are added to the bin of their time.
    #[test]
    fn late_values_are_added_to_the_bin_of_their_time() {
        let mut grid = Grid::<2>::new();
        let width = 1 << FIRST_SHIFT;
        for series in 0..2 {
            for number in [3, 5, 6, 9] {
                grid.turn_to(number * width, 2048);
                grid.add(series, number as f64);
            }
        }
        // Between two rows: added to the next one.
        grid.turn_to(4 * width, 2048);
        grid.add(1, 4.0);
        grid.close();
        let sums = |series| -> Vec<_> { grid.bins(series).iter().map(|bin| (bin.index, bin.sum)).collect() };
        assert_eq!(sums(0), [(3, 3.0), (5, 5.0), (6, 6.0), (9, 9.0)]);
        assert_eq!(sums(1), [(3, 3.0), (5, 9.0), (6, 6.0), (9, 9.0)]);
    }
}
