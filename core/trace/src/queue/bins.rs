//! Extremes and sums of a value over time, in bounded memory.
use alloc::vec::Vec;

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
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.sum += other.sum;
    }
    /// Each value `v` becomes `scale * v + shift`; `scale` is positive.
    fn map(&mut self, scale: f64, shift: f64) {
        self.least = (scale * f64::from(self.least) + shift) as f32;
        self.most = (scale * f64::from(self.most) + shift) as f32;
        self.sum = scale * self.sum + shift * f64::from(self.count);
    }
}

/// Several series over the same bins, which double their width when one of them is full.
#[derive(Clone, Debug)]
pub(crate) struct Grid<const N: usize> {
    shift: u32,
    /// The last bin of each series, apart from the others: what one packet adds to is together in memory. Without a count there is none.
    last: [Bin; N],
    /// Those before it, in the order of time.
    bins: [Vec<Bin>; N],
}

impl<const N: usize> Grid<N> {
    pub(crate) fn new() -> Self {
        Grid::of(LONG)
    }
    /// For series of `limit` bins: where these are few, they are wide from the start, as they would soon be widened.
    pub(crate) fn of(limit: usize) -> Self {
        let shift = FIRST_SHIFT + (LONG / limit.clamp(1, LONG)).ilog2();
        Grid { shift, last: [Bin::default(); N], bins: core::array::from_fn(|_| Vec::new()) }
    }
    /// Width of a bin.
    pub(crate) fn width_ns(&self) -> f64 {
        (1_u64 << self.shift) as f64
    }
    /// What was recorded until [`Grid::close`].
    pub(crate) fn bins(&self, series: usize) -> &[Bin] {
        self.bins.get(series).map_or(&[], Vec::as_slice)
    }
    /// Nothing more comes.
    pub(crate) fn close(&mut self) {
        self.bins.iter_mut().zip(&mut self.last).for_each(|(bins, last)| close(bins, last));
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
        let Some(last) = self.last.get_mut(series) else { return };
        // What comes late counts for the last bin.
        if index <= last.index && last.count > 0 {
            last.add(value, level);
        } else {
            self.begin(series, Bin { index, count: 1, least: level, most: level, sum: value }, limit);
        }
    }
    #[inline(never)]
    fn begin(&mut self, series: usize, bin: Bin, limit: usize) {
        let (Some(bins), Some(last)) = (self.bins.get_mut(series), self.last.get_mut(series)) else { return };
        close(bins, last);
        *last = bin;
        if bins.len() >= limit {
            self.coarsen(limit);
        }
    }
    #[cold]
    fn coarsen(&mut self, limit: usize) {
        while self.shift < LAST_SHIFT && self.bins.iter().any(|bins| bins.len() >= limit) {
            self.shift += 1;
            self.bins.iter_mut().zip(&mut self.last).for_each(|(bins, last)| halve(bins, last));
        }
    }
    pub(crate) const fn shift(&self) -> u32 {
        self.shift
    }
    /// Each value `v` of `series` at time `t` becomes `scale * v + drift * (t - since)`.
    pub(crate) fn map(&mut self, series: usize, scale: f64, drift: f64, since: f64) {
        let width = self.width_ns();
        let (Some(bins), Some(last)) = (self.bins.get_mut(series), self.last.get_mut(series)) else { return };
        bins.iter_mut()
            .chain([last])
            .for_each(|bin| bin.map(scale, drift * ((f64::from(bin.index) + 0.5) * width - since)));
    }
}

/// Puts the last bin to the others.
fn close(bins: &mut Vec<Bin>, last: &mut Bin) {
    if last.count > 0 {
        bins.push(*last);
        last.count = 0;
    }
}

/// Makes one bin of two.
fn halve(bins: &mut Vec<Bin>, last: &mut Bin) {
    close(bins, last);
    bins.iter_mut().for_each(|bin| bin.index /= 2);
    bins.dedup_by(|next, kept| {
        let is_same = next.index == kept.index;
        if is_same {
            kept.merge(next);
        }
        is_same
    });
    *last = bins.pop().unwrap_or_default();
}
