//! A delay over time, as estimators take it.

/// What a delay was in a short time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayPoint {
    /// Middle of that time, ns since the capture began.
    pub at_ns: f64,
    /// Least of it, ns.
    pub min_ns: f64,
    /// Mean of it, ns.
    pub mean_ns: f64,
    /// Most of it, ns.
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

/// Points between two times.
pub(crate) fn between(points: &[DelayPoint], from_ns: f64, to_ns: f64) -> &[DelayPoint] {
    let from = points.partition_point(|point| point.at_ns < from_ns);
    let to = points.partition_point(|point| point.at_ns <= to_ns);
    points.get(from..to.max(from)).unwrap_or(&[])
}
