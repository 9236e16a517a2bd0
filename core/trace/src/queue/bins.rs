//! Extremes and sums of a value over time, in bounded memory.
use alloc::vec::Vec;
use core::cell::Cell;

/// Width of a bin at first: 2^20 ns, about a millisecond, the tick of most TCP clocks.
const FIRST_SHIFT: u32 = 20;
/// The widest bin: 2^40 ns, 18 minutes.
const LAST_SHIFT: u32 = 40;

/// Bins of a series that begins with the narrowest.
const LONG: usize = 2048;

/// What was recorded in one bin of time. Only bins with something in them exist.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Bin {
    /// Its time, in widths of a bin.
    pub(crate) index: u32,
    pub(crate) count: u32,
    /// Extremes of the values, or of the levels beside them.
    pub(crate) least: f32,
    pub(crate) most: f32,
    pub(crate) sum: f64,
}

impl Bin {
    pub(crate) fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
    #[inline]
    fn add(&mut self, value: f64, level: f32) {
        self.count = self.count.saturating_add(1);
        // One instruction each, other than `f32::min`, which looks for NaN on either side; no level is one.
        self.least = if level < self.least { level } else { self.least };
        self.most = if level > self.most { level } else { self.most };
        self.sum += value;
    }
    fn merge(&mut self, other: &Bin) {
        self.count = self.count.saturating_add(other.count);
        self.least = if other.least < self.least { other.least } else { self.least };
        self.most = if other.most > self.most { other.most } else { self.most };
        self.sum += other.sum;
    }
    /// Each value `v` becomes `scale * v + shift`; `scale` is positive.
    fn map(&mut self, scale: f64, shift: f64) {
        self.least = (scale * f64::from(self.least) + shift) as f32;
        self.most = (scale * f64::from(self.most) + shift) as f32;
        self.sum = scale * self.sum + shift * f64::from(self.count);
    }
}

/// A series: what one packet adds to is together in memory.
#[derive(Clone, Default, Debug)]
struct Series {
    /// The last bin. Without a count there is none.
    last: Bin,
    /// Those before it, in the order of time.
    bins: Vec<Bin>,
}

/// Several series over the same bins, which double their width when one of them is full.
#[derive(Clone, Debug)]
pub(crate) struct Grid<const N: usize> {
    shift: u32,
    series: [Series; N],
}

impl<const N: usize> Grid<N> {
    pub(crate) fn new() -> Self {
        Grid::of(LONG)
    }
    /// For series of `limit` bins: where these are few, they are wide from the start, as they would soon be widened.
    pub(crate) fn of(limit: usize) -> Self {
        let shift = FIRST_SHIFT + (LONG / limit.clamp(1, LONG)).ilog2();
        Grid { shift, series: core::array::from_fn(|_| Series::default()) }
    }
    /// Width of a bin.
    pub(crate) fn width_ns(&self) -> f64 {
        (1_u64 << self.shift) as f64
    }
    /// What was recorded until [`Grid::close`].
    pub(crate) fn bins(&self, series: usize) -> &[Bin] {
        self.series.get(series).map_or(&[], |series| series.bins.as_slice())
    }
    /// Nothing more comes.
    pub(crate) fn close(&mut self) {
        self.series.iter_mut().for_each(Series::close);
    }
    /// The middle of a bin.
    pub(crate) fn middle_ns(&self, bin: &Bin) -> f64 {
        (f64::from(bin.index) + 0.5) * self.width_ns()
    }
    /// Records `value` at `at` ns; no series gets more than `limit` bins.
    #[inline]
    pub(crate) fn record(&mut self, series: usize, at: i64, value: f64, limit: usize) {
        self.record_beside(series, at, (value, value), limit);
    }
    /// The same, with the extremes of another value than that which is added up.
    #[inline]
    pub(crate) fn record_beside(&mut self, series: usize, at: i64, (value, level): (f64, f64), limit: usize) {
        let index = u32::try_from(at.max(0) >> self.shift).unwrap_or(u32::MAX);
        let level = level as f32;
        let Some(own) = self.series.get_mut(series) else { return };
        // What comes late counts for the last bin.
        if index <= own.last.index && own.last.count > 0 {
            own.last.add(value, level);
        } else if own.begin(index, value, level) >= limit {
            self.coarsen(limit);
        }
    }
    #[cold]
    fn coarsen(&mut self, limit: usize) {
        while self.shift < LAST_SHIFT && self.series.iter().any(|series| series.bins.len() >= limit) {
            self.shift += 1;
            self.series.iter_mut().for_each(Series::halve);
        }
    }
    pub(crate) const fn shift(&self) -> u32 {
        self.shift
    }
    /// Each value `v` of `series` at time `t` becomes `scale * v + drift * (t - since)`.
    pub(crate) fn map(&mut self, series: usize, scale: f64, drift: f64, since: f64) {
        let width = self.width_ns();
        let Some(Series { last, bins }) = self.series.get_mut(series) else { return };
        bins.iter_mut()
            .chain([last])
            .for_each(|bin| bin.map(scale, drift * ((f64::from(bin.index) + 0.5) * width - since)));
    }
}

impl Series {
    /// Puts the last bin to the others.
    fn close(&mut self) {
        if self.last.count > 0 {
            self.bins.push(self.last);
            self.last.count = 0;
        }
    }
    /// Another bin comes after the last; how many there are before it.
    #[inline(never)]
    fn begin(&mut self, index: u32, value: f64, level: f32) -> usize {
        self.close();
        self.last = Bin { index, count: 1, least: level, most: level, sum: value };
        self.bins.len()
    }
    /// Makes one bin of two.
    fn halve(&mut self) {
        self.close();
        let mut halved = 0;
        let cells = Cell::from_mut(self.bins.as_mut_slice()).as_slice_of_cells();
        let mut room = cells.iter();
        for bin in cells {
            let next = Bin { index: bin.get().index / 2, ..bin.get() };
            if next.index == self.last.index && self.last.count > 0 {
                self.last.merge(&next);
                continue;
            }
            if self.last.count > 0
                && let Some(room) = room.next()
            {
                room.set(self.last);
                halved += 1;
            }
            self.last = next;
        }
        self.bins.truncate(halved);
    }
}
