//! Smoothed round-trip time and retransmission timeout: RFC 6298 with Linux's refinements.
use fathom_units::{Duration, Time};

/// Estimator of one connection.
///
/// As in Linux, the deviation is quick to rise and slow to fall, is at least `min_rto` and falls once per round trip.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    srtt: u64,
    /// Four mean deviations, in ns.
    deviation: u64,
    max_deviation: u64,
    variation: u64,
    /// When a byte after this is acknowledged, a round trip has passed.
    round_end: u64,
    min: Duration,
    floor: u64,
}

impl Rtt {
    pub(super) fn new(min_rto: Duration) -> Self {
        let floor = min_rto.as_nanos();
        Rtt {
            srtt: 0,
            deviation: 0,
            max_deviation: floor,
            variation: 0,
            round_end: 0,
            min: Duration::from_nanos(u64::MAX),
            floor,
        }
    }
    pub(super) fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.srtt)
    }
    /// Smallest seen; zero before the first.
    pub(super) fn min(&self) -> Duration {
        if self.is_known() { self.min } else { Duration::ZERO }
    }
    pub(super) fn is_known(&self) -> bool {
        self.srtt > 0
    }
    /// Smoothed RTT and its variation: RFC 6298 equation 2.3.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_nanos(self.srtt + self.variation)
    }
    /// A sample. `acked` and `next` are the cumulative acknowledgement and the next new byte.
    pub(super) fn add(&mut self, sample: Duration, acked: u64, next: u64) {
        let sample_ns = sample.as_nanos().max(1);
        self.min = self.min.min(sample);
        if !self.is_known() {
            self.srtt = sample_ns;
            self.deviation = sample_ns * 2;
            self.variation = self.deviation.max(self.floor);
            self.max_deviation = self.variation;
            self.round_end = next;
            return;
        }
        self.deviate(sample_ns);
        self.srtt = (self.srtt * 7 + sample_ns) / 8;
        self.max_deviation = self.max_deviation.max(self.deviation);
        self.variation = self.variation.max(self.max_deviation);
        if acked > self.round_end {
            if self.max_deviation < self.variation {
                self.variation -= (self.variation - self.max_deviation) / 4;
            }
            self.round_end = next;
            self.max_deviation = self.floor;
        }
    }
    /// A sample below the smoothed RTT widens the deviation an eighth as fast: a falling queue is no sign of trouble.
    fn deviate(&mut self, sample: u64) {
        let error = sample.abs_diff(self.srtt);
        let mean = self.deviation / 4;
        if error > mean {
            let more = error - mean;
            self.deviation += if sample < self.srtt { more / 8 } else { more };
        } else {
            self.deviation -= mean - error;
        }
    }
}

/// When a retransmission timeout that was armed at `from` is due, after `backoff` doublings.
pub(super) fn due(from: Time, timeout: Duration, backoff: u32, max: Duration) -> Time {
    from + (timeout * (1_u64 << backoff.min(16))).min(max)
}
