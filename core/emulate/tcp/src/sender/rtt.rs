//! Smoothed RTT and retransmission timeout: RFC 6298 as refined by Linux. In ns; Linux uses us.
use fathom_units::Duration;

/// As in Linux, the deviation rises fast, and falls once per round trip to no less than `min_rto`.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    srtt: u64,
    /// Four mean deviations, in ns.
    deviation: u64,
    max_deviation: u64,
    variation: u64,
    /// A round trip ends when a byte after this is ACKed.
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
            min: Duration::MAX,
            floor,
        }
    }
    pub(super) fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.srtt)
    }
    /// The minimum RTT; zero before the first sample.
    pub(super) fn min(&self) -> Duration {
        if self.is_known() { self.min } else { Duration::ZERO }
    }
    pub(super) fn is_known(&self) -> bool {
        self.srtt > 0
    }
    /// Smoothed RTT plus variation: RFC 6298 equation 2.3.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_nanos(self.srtt + self.variation)
    }
    /// Adds a sample. `acked` and `next` are the cumulative ACK and the next new byte.
    pub(super) fn add(&mut self, sample: Duration, acked: u64, next: u64) {
        let sample = sample.as_nanos().max(1);
        if !self.is_known() {
            self.srtt = sample;
            self.deviation = sample * 2;
            self.variation = self.deviation.max(self.floor);
            self.max_deviation = self.variation;
            self.round_end = next;
            return;
        }
        self.deviate(sample);
        self.srtt = (self.srtt * 7 + sample) / 8;
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
    /// Adds the RTT of the newest packet that an ACK delivers, which includes no ACK delay.
    pub(super) fn add_least(&mut self, sample: Duration) {
        self.min = self.min.min(sample);
    }
    /// A sample below the smoothed RTT counts 1/8, since a draining queue is no problem.
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

/// `timeout` doubled `backoff` times.
pub(super) fn backed_off(timeout: Duration, backoff: u32, max: Duration) -> Duration {
    (timeout * (1_u64 << backoff.min(16))).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// RFC 6298 section 2: SRTT = R, RTTVAR = R/2, then SRTT += (R - SRTT)/8, RTTVAR += (|SRTT - R|
    /// - RTTVAR)/4, and RTO = SRTT + 4 RTTVAR. Linux's refinements do not apply to rising samples.
    #[test]
    fn rising_samples_follow_rfc_6298() {
        let mut rtt = Rtt::new(Duration::ZERO);
        let (mut srtt, mut rttvar) = (100.0, 50.0);
        rtt.add(ms(100), 0, 1);
        for sample in [300.0, 500.0, 900.0, 1700.0] {
            rtt.add(Duration::from_secs_f64(sample / 1e3), 0, 1);
            rttvar += (f64::abs(srtt - sample) - rttvar) / 4.0;
            srtt += (sample - srtt) / 8.0;
            let got = (rtt.smoothed().as_millis_f64(), rtt.timeout().as_millis_f64());
            assert!((got.0 - srtt).abs() < 1e-3, "{got:?}, {srtt}");
            assert!((got.1 - (srtt + 4.0 * rttvar)).abs() < 1e-3, "{got:?}, {srtt} {rttvar}");
        }
    }

    #[test]
    fn steady_samples_leave_srtt_plus_the_floor() {
        let mut rtt = Rtt::new(ms(200));
        for round in 0..100 {
            rtt.add(ms(1000), round + 1, round + 1);
        }
        // RFC 6298 would approach the RTT itself; Linux has a minimum variation.
        assert!(rtt.timeout() - ms(1200) < Duration::from_nanos(10), "{}", rtt.timeout());
    }

    #[test]
    fn a_falling_sample_widens_the_deviation_by_an_eighth() {
        let mut rtt = Rtt::new(Duration::ZERO);
        (0..200).for_each(|round| rtt.add(ms(800), round + 1, round + 1));
        let before = rtt.deviation;
        rtt.add(ms(400), 0, 0);
        assert!((rtt.deviation - before).abs_diff(ms(400).as_nanos() / 8) < 1_000_000, "{}", rtt.deviation);
    }

    #[test]
    fn the_variation_falls_once_a_round() {
        let mut rtt = Rtt::new(ms(200));
        rtt.add(ms(1000), 0, 10);
        let first = rtt.timeout();
        (0..50).for_each(|_| rtt.add(ms(1000), 5, 20));
        assert_eq!(rtt.timeout(), first, "the round is not over");
        rtt.add(ms(1000), 11, 20);
        rtt.add(ms(1000), 21, 30);
        assert!(rtt.timeout() < first);
    }

    #[test]
    fn backoff_is_limited() {
        let got = [0, 1, 5, 40].map(|backoff| backed_off(ms(1000), backoff, Duration::from_secs(120)));
        assert_eq!(got, [1, 2, 32, 120].map(Duration::from_secs));
    }
}
