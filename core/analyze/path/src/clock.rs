//! One capture's clock against another's.
use alloc::vec::Vec;
use fathom_stats::median;

/// What two clocks differ by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// The capture whose clock is taken as right.
    pub reference: usize,
    /// The capture whose clock is compared with it.
    pub other: usize,
    /// Time of the other less that of the reference, ns, when the reference's is [`Clock::at`].
    pub offset_ns: f64,
    /// Time of the reference, ns since 1970.
    pub at: i64,
    /// How much more of the other's seconds pass, in parts of a million.
    pub skew_ppm: f64,
    /// What the skew is known to, each way.
    pub skew_error_ppm: f64,
    /// What the offset is known to, each way, ns: half the least round trip between the two captures. `None` if packets of one
    /// direction only were seen: the offset is then that at which the least delay is 0.
    pub error_ns: Option<f64>,
    /// The times cannot be those of two steady clocks: one of them was set while the captures ran, and delays are not to be trusted.
    pub is_steady: bool,
}

/// Clocks are slewed by no more than that (RFC 5905 section 12, NTP's frequency tolerance); a crystal alone is off by less than 100.
const MAX_SKEW: f64 = 500e-6;
/// Parts of the time in each of which the least delay is looked at.
const PARTS: usize = 1024;
/// The least delay of a part of the time is at least this uncertain, ns: hosts need as much to stamp.
const STAMP_NS: f64 = 1e3;
/// A clock that was set is told from noise of the least delay if it is off by more than this, ns: what hosts need to stamp a packet.
const STEADY_NS: f64 = 1e6;

/// An edge of a hull.
#[derive(Clone, Copy)]
struct Edge {
    slope: f64,
    /// What the slope is known to.
    error: f64,
}

/// Extremes of the difference of times over time, of one direction.
#[derive(Clone, Debug)]
struct LowerEnvelope {
    /// Time (ns since the first) and difference, the least of each part; with its sign changed for the direction of which the greatest counts.
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
    /// The lower convex hull (Andrew 1979).
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
    /// How far the points are above the highest line of this slope under them, in the middle.
    fn residual(&self, slope: f64) -> f64 {
        let floor = self.floor(slope);
        median(self.iter().map(|(at, value)| value - slope * at - floor)).unwrap_or(0.0).max(STAMP_NS)
    }
    /// The edge of the hull at the mean time of all points: of all lines under them, that along it is closest to them in sum.
    fn edge(&self) -> Option<Edge> {
        let count = self.iter().count().max(1) as f64;
        let mean = self.iter().map(|(at, _)| at).sum::<f64>() / count;
        let hull = self.hull();
        let edge = hull.windows(2).find(|pair| pair.last().is_some_and(|end| end.0 >= mean));
        match edge {
            Some([a, b]) => {
                let (slope, length) = ((b.1 - a.1) / (b.0 - a.0), b.0 - a.0);
                // Either end may be as far off as points are above it in the middle.
                Some(Edge { slope, error: (2.0 * self.residual(slope) / length).min(MAX_SKEW) })
            }
            _ => None,
        }
    }
    /// The highest line of this slope that is under all points: its value at time 0.
    fn floor(&self, slope: f64) -> f64 {
        self.iter().map(|(at, value)| value - slope * at).fold(f64::INFINITY, f64::min)
    }
}

/// Gathers what tells one clock from the other.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    since: i64,
    width: i64,
    /// Of packets from the reference to the other, and back.
    lows: [LowerEnvelope; 2],
}

impl Fit {
    /// From `since` to `until` by the reference's clock.
    pub(crate) fn new(since: i64, until: i64) -> Self {
        let width = until.saturating_sub(since) / PARTS as i64 + 1;
        Fit { since, width, lows: [LowerEnvelope::new(), LowerEnvelope::new()] }
    }
    /// A packet that the reference saw at `at`, the other `delta` later by its own clock. `is_back`: it came from there.
    pub(crate) fn add(&mut self, at: i64, delta: i64, is_back: bool) {
        let part = usize::try_from(at.saturating_sub(self.since) / self.width).unwrap_or(0);
        let value = if is_back { -(delta as f64) } else { delta as f64 };
        if let Some(lows) = self.lows.get_mut(usize::from(is_back)) {
            lows.add(part, at.saturating_sub(self.since) as f64, value);
        }
    }
    /// The skew, and what it is known to: by the direction that tells it better.
    fn slope(&self) -> (f64, f64) {
        let [there, back] = &self.lows;
        let edges = [there.edge(), back.edge().map(|edge| Edge { slope: -edge.slope, ..edge })];
        let possible = edges.into_iter().flatten().filter(|edge| libm::fabs(edge.slope) <= MAX_SKEW);
        match possible.min_by(|a, b| a.error.total_cmp(&b.error)) {
            // What cannot be told from nothing is nothing.
            Some(Edge { slope, error }) if libm::fabs(slope) <= error => (0.0, error),
            Some(Edge { slope, error }) => (slope, error),
            None => (0.0, MAX_SKEW),
        }
    }
    /// `None` without any packet.
    pub(crate) fn solve(&self, reference: usize, other: usize) -> Option<Clock> {
        let [there, back] = &self.lows;
        if there.is_empty() && back.is_empty() {
            return None;
        }
        let (slope, slope_error) = self.slope();
        // The offset is at most the one, at least the other.
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
    /// Two captures of one clock.
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
    /// Time of the other less that of the reference, at this time of the reference.
    pub fn difference_ns(&self, at: i64) -> f64 {
        self.offset_ns + self.skew_ppm / 1e6 * at.saturating_sub(self.at) as f64
    }
}
