//! Relation between the clocks of two captures.
use alloc::vec::Vec;
use fathom_stats::median;

/// Offset and skew between two clocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// Index of the capture with the reference clock.
    pub reference: usize,
    /// Index of the capture with the other clock.
    pub other: usize,
    /// Other clock minus reference clock at time [`Clock::at`], ns.
    pub offset_ns: f64,
    /// Time of the reference clock, ns since 1970.
    pub at: i64,
    /// How much faster the other clock runs, in parts per million.
    pub skew_ppm: f64,
    /// Error of the skew in either direction.
    pub skew_error_ppm: f64,
    /// Error of the offset in either direction, ns: half the minimum round-trip time between the
    /// captures. `None` if packets of only one direction were seen; the offset then makes the
    /// minimum delay 0.
    pub error_ns: Option<f64>,
    /// Neither clock was set during the captures; otherwise delays are unreliable.
    pub is_steady: bool,
}

/// Clocks are slewed by at most this (RFC 5905 section 12, NTP's frequency tolerance); a crystal
/// oscillator alone is off by less than 100 ppm.
const MAX_SKEW: f64 = 500e-6;
/// Number of intervals; the minimum delay of each is used.
const PARTS: usize = 1024;
/// Minimum uncertainty of an interval's minimum delay, ns: the time hosts need to timestamp.
const STAMP_NS: f64 = 1e3;
/// A clock was set if the offset bounds contradict each other by more than this, ns. Smaller
/// differences are noise from timestamping.
const STEADY_NS: f64 = 1e6;

#[derive(Clone, Copy)]
struct Edge {
    slope: f64,
    error: f64,
}

/// Minimum time differences over time, in one direction.
#[derive(Clone, Debug)]
struct LowerEnvelope {
    /// Time (ns since the first) and minimum difference of each interval, negated for the reverse.
    points: Vec<Option<(f64, f64)>>,
}

impl LowerEnvelope {
    fn new() -> Self {
        LowerEnvelope { points: alloc::vec![None; PARTS] }
    }
    fn add(&mut self, part: usize, at: f64, value: f64) {
        if let Some(point) = self.points.get_mut(part)
            && point.is_none_or(|(_, least)| value < least)
        {
            *point = Some((at, value));
        }
    }
    fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points.iter().flatten().copied()
    }
    fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
    /// Lower convex hull (Andrew 1979).
    fn hull(&self) -> Vec<(f64, f64)> {
        let mut hull: Vec<(f64, f64)> = Vec::new();
        for point in self.iter() {
            while let [.., a, b] = hull.as_slice()
                && (b.1 - a.1) * (point.0 - a.0) >= (point.1 - a.1) * (b.0 - a.0)
            {
                hull.pop();
            }
            hull.push(point);
        }
        hull
    }
    /// Median distance of the points above the highest line with this slope below them.
    fn residual(&self, slope: f64) -> f64 {
        let floor = self.floor(slope);
        median(self.iter().map(|(at, value)| value - slope * at - floor)).unwrap_or(0.0).max(STAMP_NS)
    }
    /// The hull's edge at the mean time, which minimizes the sum of distances from below.
    fn edge(&self) -> Option<Edge> {
        let count = self.iter().count().max(1) as f64;
        let mean = self.iter().map(|(at, _)| at).sum::<f64>() / count;
        let hull = self.hull();
        let edge = hull.windows(2).find(|pair| pair.last().is_some_and(|end| end.0 >= mean));
        match edge {
            Some([a, b]) => {
                let (slope, length) = ((b.1 - a.1) / (b.0 - a.0), b.0 - a.0);
                // Each end of the edge may be too high by the median distance of the points.
                Some(Edge { slope, error: (2.0 * self.residual(slope) / length).min(MAX_SKEW) })
            }
            _ => None,
        }
    }
    /// Value at time 0 of the highest line with this slope below all points.
    fn floor(&self, slope: f64) -> f64 {
        self.iter().map(|(at, value)| value - slope * at).fold(f64::INFINITY, f64::min)
    }
}

/// Collects time differences to compare two clocks.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    since: i64,
    width: i64,
    /// Packets from the reference to the other, and back.
    lows: [LowerEnvelope; 2],
}

impl Fit {
    /// Creates a fit for the time from `since` to `until` by the reference clock.
    pub(crate) fn new(since: i64, until: i64) -> Self {
        let width = until.saturating_sub(since) / PARTS as i64 + 1;
        Fit { since, width, lows: [LowerEnvelope::new(), LowerEnvelope::new()] }
    }
    /// Adds a packet captured at `at` by the reference and `delta` later by the other's clock.
    /// `is_back` if it came from the other.
    pub(crate) fn add(&mut self, at: i64, delta: i64, is_back: bool) {
        let part = usize::try_from(at.saturating_sub(self.since) / self.width).unwrap_or(0);
        let value = if is_back { -(delta as f64) } else { delta as f64 };
        if let Some(lows) = self.lows.get_mut(usize::from(is_back)) {
            lows.add(part, at.saturating_sub(self.since) as f64, value);
        }
    }
    /// Skew and its error, from the direction with the smaller error.
    fn slope(&self) -> (f64, f64) {
        let [there, back] = &self.lows;
        let edges = [there.edge(), back.edge().map(|edge| Edge { slope: -edge.slope, ..edge })];
        let possible = edges.into_iter().flatten().filter(|edge| libm::fabs(edge.slope) <= MAX_SKEW);
        match possible.min_by(|a, b| a.error.total_cmp(&b.error)) {
            // A skew smaller than its error is reported as zero.
            Some(Edge { slope, error }) if libm::fabs(slope) <= error => (0.0, error),
            Some(Edge { slope, error }) => (slope, error),
            None => (0.0, MAX_SKEW),
        }
    }
    /// Computes the clock relation; `None` without packets.
    pub(crate) fn solve(&self, reference: usize, other: usize) -> Option<Clock> {
        let [there, back] = &self.lows;
        if there.is_empty() && back.is_empty() {
            return None;
        }
        let (slope, slope_error) = self.slope();
        // Upper and lower bound of the offset.
        let (most, least) = (there.floor(slope), -back.floor(-slope));
        let (offset, error) = match (there.is_empty(), back.is_empty()) {
            (false, false) => ((most + least) / 2.0, Some(libm::fabs(most - least) / 2.0)),
            (false, true) => (most, None),
            _ => (least, None),
        };
        Some(Clock {
            reference,
            other,
            offset_ns: offset,
            at: self.since,
            skew_ppm: slope * 1e6,
            skew_error_ppm: slope_error * 1e6,
            error_ns: error,
            is_steady: error.is_none() || most - least > -STEADY_NS,
        })
    }
}

impl Clock {
    /// Relation of two captures with the same clock.
    pub(crate) const fn same(reference: usize, other: usize, at: i64) -> Clock {
        Clock {
            reference,
            other,
            offset_ns: 0.0,
            at,
            skew_ppm: 0.0,
            skew_error_ppm: 0.0,
            error_ns: Some(0.0),
            is_steady: true,
        }
    }
    /// Other clock minus reference clock, at this time of the reference.
    pub fn difference_ns(&self, at: i64) -> f64 {
        self.offset_ns + self.skew_ppm / 1e6 * at.saturating_sub(self.at) as f64
    }
}
