//! Measures the packet overhead of the line with a load of small packets and one of large packets.
use super::message::{IpVersion, Measurement, Phase, Purpose};
use crate::overhead::{Sized, overhead_bytes};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, PhaseKind, Value};
use fathom_stats::Sample;
use fathom_units::{Direction, Duration};

/// MSS announced for the two loads. With IP headers, the large one is below the MTU of any path;
/// the small one is above the size that some systems consider an attack.
const SEGMENTS: [u16; 2] = [252, 1320];
/// Bytes of the timestamp option in each segment (RFC 7323 appendix A).
const TIMESTAMPS_BYTES: f64 = 12.0;
const LOADED: Duration = Duration::from_secs(6);
const IDLE: Duration = Duration::from_secs(1);
const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// Size of IP and TCP headers without options, in bytes.
const HEADERS_V4: f64 = 40.0;
const HEADERS_V6: f64 = 60.0;

/// Measures both loads in turn.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OverheadProbe {
    direction: Direction,
    version: IpVersion,
    is_loaded: bool,
    goodput: Vec<(f64, bool)>,
    loads: Vec<Option<Sized>>,
}

impl OverheadProbe {
    pub(super) const fn new(direction: Direction) -> Self {
        OverheadProbe {
            direction,
            version: IpVersion::V4,
            is_loaded: false,
            goodput: Vec::new(),
            loads: Vec::new(),
        }
    }
    /// The next load, unless both are complete.
    pub(super) fn measurement(&self) -> Option<Measurement> {
        let segment = *SEGMENTS.get(self.loads.len())?;
        let phase = |kind, time| Phase { kind, min: time, max: time };
        let phases = [phase(PhaseKind::Idle, IDLE), phase(super::machine::load(self.direction), LOADED)];
        Some(Measurement {
            purpose: Purpose::Overhead,
            phases: phases.to_vec(),
            probe_interval: PROBE_INTERVAL,
            segment_bytes: Some(segment),
        })
    }
    pub(super) const fn connected(&mut self, version: IpVersion) {
        self.version = version;
    }
    pub(super) const fn phase_started(&mut self, kind: PhaseKind) {
        self.is_loaded = !matches!(kind, PhaseKind::Idle);
    }
    pub(super) const fn phase_ended(&mut self) {
        self.is_loaded = false;
    }
    pub(super) fn observed(
        &mut self,
        metric: Metric,
        direction: Option<Direction>,
        observation: &Observation,
    ) {
        if !self.is_loaded || metric != Metric::Goodput || direction != Some(self.direction) {
            return;
        }
        if let Value::Observed(rate) = observation.value {
            self.goodput.push((rate, false));
        }
    }
    pub(super) fn ended(&mut self) {
        let rates = Sample::new(self.goodput.drain(..));
        let Some(segment) = SEGMENTS.get(self.loads.len()).map(|segment| f64::from(*segment)) else { return };
        let headers = match self.version {
            IpVersion::V4 => HEADERS_V4,
            IpVersion::V6 => HEADERS_V6,
        };
        self.loads.push(steady(&rates).map(|bits| Sized {
            ip_bytes: segment + headers,
            packets_per_second: bits / 8.0 / (segment - TIMESTAMPS_BYTES),
        }));
    }
    /// Overhead beyond IP in bytes; `None` if these loads do not determine it.
    pub(super) fn bytes(&self) -> Option<f64> {
        match self.loads[..] {
            [Some(small), Some(large)] => overhead_bytes(small, large),
            _ => None,
        }
    }
}

/// Rate while only the line limits it: the mean of the interquartile range of all intervals. During
/// a retransmission, later data is held back and then delivered at once, which makes both intervals
/// outliers. The median would be quantized to whole packets.
fn steady(rates: &Sample) -> Option<f64> {
    let sorted = rates.observed();
    let middle = &sorted[sorted.len() / 4..sorted.len() - sorted.len() / 4];
    (!middle.is_empty()).then(|| middle.iter().sum::<f64>() / middle.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_and_late_counts_do_not_change_the_rate() {
        // Intervals of 100 ms, Mbit/s: slow start, two late counts, a loss and its retransmission.
        let rates = [
            3.0, 7.24, 7.26, 7.24, 7.12, 7.38, 7.26, 7.25, 5.46, 0.02, 1.71, 12.07, 16.96, 7.24, 7.26, 7.24,
            7.26,
        ];
        let found = steady(&Sample::new(rates.map(|rate| (rate, false)))).unwrap();
        assert!((found - 7.25).abs() < 0.02, "{found}");
        assert_eq!(steady(&Sample::new([])), None);
    }
}
