//! Median latency increase of a load over idle.
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Value};
use fathom_stats::Sample;
use fathom_units::Duration;

/// Round-trip times by UDP and by ICMP. UDP is preferred, unless nobody responds.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct RoundTrips {
    udp: Vec<(f64, bool)>,
    icmp: Vec<(f64, bool)>,
}

impl RoundTrips {
    pub(super) fn add(&mut self, metric: Metric, observation: &Observation) {
        let values = match metric {
            Metric::UdpRtt => &mut self.udp,
            Metric::IcmpRtt => &mut self.icmp,
            _ => return,
        };
        values.push(match observation.value {
            Value::Observed(seconds) => (seconds, false),
            Value::Censored { at_least } => (at_least, true),
        });
    }
    /// Median minus the median of `idle`, by the first kind of probe with both.
    pub(super) fn above(&self, idle: &RoundTrips) -> Option<Duration> {
        let increase = |loaded: &[(f64, bool)], before: &[(f64, bool)]| {
            Some(Duration::from_secs_f64((median(loaded)? - median(before)?).max(0.0)))
        };
        increase(&self.udp, &idle.udp).or_else(|| increase(&self.icmp, &idle.icmp))
    }
}

fn median(values: &[(f64, bool)]) -> Option<f64> {
    Some(Sample::new(values.iter().copied()).percentile(0.5)?.value)
}
