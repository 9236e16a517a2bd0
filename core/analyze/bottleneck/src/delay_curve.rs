//! Delay over time, as used by the estimators.

/// Delay within a short interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayPoint {
    /// Center of the interval, ns since the start of the capture.
    pub at_ns: f64,
    /// Minimum, ns.
    pub min_ns: f64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Maximum, ns.
    pub max_ns: f64,
}

impl DelayPoint {
    pub(crate) fn above(self, base_ns: f64) -> DelayPoint {
        DelayPoint {
            at_ns: self.at_ns,
            min_ns: (self.min_ns - base_ns).max(0.0),
            mean_ns: (self.mean_ns - base_ns).max(0.0),
            max_ns: (self.max_ns - base_ns).max(0.0),
        }
    }
}

pub(crate) fn between(points: &[DelayPoint], from_ns: f64, to_ns: f64) -> &[DelayPoint] {
    let from = points.partition_point(|point| point.at_ns < from_ns);
    let to = points.partition_point(|point| point.at_ns <= to_ns);
    points.get(from..to.max(from)).unwrap_or(&[])
}
