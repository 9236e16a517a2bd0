//! PIE's controller: the drop probability, and the decision on each arrival.
use super::meter::DrainMeter;
use crate::{Ecn, Packet, Variant};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Ratio, Rng, Time};

/// Below this accumulated probability no packet gets a signal; from [`ACCUMULATED_HIGH`] on every
/// packet does. This spaces signals evenly. Source: RFC 8033 section 5.4.
const ACCUMULATED_LOW: f64 = 0.85;
/// See [`ACCUMULATED_LOW`].
const ACCUMULATED_HIGH: f64 = 8.5;
/// Below half the target delay, a lower probability has no effect. Source: RFC 8033 section 4.1.
const SAFE_PROBABILITY: f64 = 0.2;
/// From this probability on, one step adds at most [`MAX_STEP`]. Source: RFC 8033 section 5.5.
const CAPPED_FROM: f64 = 0.1;
/// See [`CAPPED_FROM`].
const MAX_STEP: f64 = 0.02;
/// The gains apply to a probability of 0.1 and above. Below, they are divided by the factor of the
/// first bound that exceeds the probability. Source: RFC 8033 section 4.2.
const GAINS: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// Factor per update without congestion. Source: RFC 8033 section 4.2.
const DECAY_RFC: f64 = 0.98;
/// Linux subtracts 1/64.
const DECAY_LINUX: f64 = 63.0 / 64.0;
/// Above this delay Linux adds [`MAX_STEP`].
const HIGH_DELAY: Duration = Duration::from_millis(250);
/// `alpha` and `beta` are in sixteenths of 1/s, as in tc.
const GAIN_UNIT: f64 = 1.0 / 16.0;
/// MEAN_PKTSIZE of RFC 8033, with the value of RFC 8034.
const MEAN_PACKET: Bytes = Bytes(1024);
/// MTU of an Ethernet interface plus the header, used in Linux's comparisons.
const LINUX_MTU: Bytes = ETHERNET_FULL_FRAME;
/// Linux represents a probability of 1 as 2^56 and saturates at 2^64.
const LINUX_MAX: f64 = 256.0;

/// Parameters of PIE's controller.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieControlParams {
    /// Target delay; default 15 ms.
    pub target: Duration,
    /// Update interval; default 15 ms. Linux rounds it up to timer ticks and adds one so as never
    /// to be early: the default becomes 30 ms at HZ=100 and 20 ms at HZ=250.
    pub tupdate: Duration,
    /// Weight of the delay's distance from target, in sixteenths of 1/s; default 2.
    pub alpha: u32,
    /// Weight of the delay's change, in sixteenths of 1/s; default 20.
    pub beta: u32,
    /// How long a delay above target is tolerated when congestion begins; default 150 ms.
    pub max_burst: Duration,
    /// Mark ECN-capable packets instead of dropping them, up to `mark_ecn_threshold`.
    pub ecn: bool,
    /// Above this probability ECN-capable packets are dropped too; default 10 %.
    pub mark_ecn_threshold: Ratio,
    /// Scale the probability by packet size.
    pub bytemode: bool,
    /// Estimate the delay from the backlog and the measured departure rate instead of timestamps.
    pub dq_rate_estimator: bool,
    /// Which rules to follow.
    ///
    /// Linux: the burst allowance is reduced by the time between departures, not by updates. The
    /// probability decays only at a delay of zero and grows faster above 250 ms. It may exceed 1,
    /// since its bound is 256. The minimum backlog for signals is two packets of 1514 bytes. A mark
    /// caused by the accumulated probability alone does not reset it.
    pub variant: Variant,
}

/// The decision on an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Pass,
    Mark,
    Drop,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PieControl {
    probability: f64,
    accumulated: f64,
    delay: Duration,
    old_delay: Duration,
    burst_left: Duration,
    last_dequeue: Option<Time>,
    meter: DrainMeter,
}

impl PieControl {
    pub(crate) fn new(params: &PieControlParams) -> Self {
        PieControl {
            probability: 0.0,
            accumulated: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            burst_left: params.max_burst,
            last_dequeue: None,
            meter: DrainMeter::default(),
        }
    }

    /// When the first update of a queue created at time zero is due. Linux waits half a second.
    pub(crate) const fn first_update(params: &PieControlParams) -> Time {
        match params.variant {
            Variant::Rfc => Time::from_nanos(params.tupdate.as_nanos()),
            Variant::Linux => Time::from_nanos(500_000_000),
        }
    }

    /// Decides on `packet`, with `backlog` already queued.
    pub(crate) fn verdict<P: Packet>(
        &mut self,
        params: &PieControlParams,
        packet: &P,
        backlog: Bytes,
        rng: &mut Rng,
    ) -> Verdict {
        if params.variant == Variant::Rfc && self.is_calm(params) {
            self.burst_left = params.max_burst;
        }
        if !self.signals(params, packet.len(), backlog, rng) {
            return Verdict::Pass;
        }
        let may_mark = self.probability <= params.mark_ecn_threshold.0;
        if params.ecn && may_mark && packet.ecn() != Ecn::NotEct {
            return Verdict::Mark;
        }
        self.on_drop();
        Verdict::Drop
    }

    /// Any drop resets the accumulated probability, which delays the next signal.
    pub(crate) fn on_drop(&mut self) {
        self.accumulated = 0.0;
    }

    fn signals(&mut self, params: &PieControlParams, len: Bytes, backlog: Bytes, rng: &mut Rng) -> bool {
        if self.burst_left > Duration::ZERO || self.is_safe(params, backlog) {
            return false;
        }
        let probability = self.scaled(params, len);
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        if self.accumulated < ACCUMULATED_LOW {
            return false;
        }
        if self.accumulated >= ACCUMULATED_HIGH {
            return true;
        }
        let hit = rng.chance(probability);
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }

    /// True if a signal would cost throughput: the delay is low or the queue is nearly empty.
    fn is_safe(&self, params: &PieControlParams, backlog: Bytes) -> bool {
        let (delay, is_short) = match params.variant {
            Variant::Rfc => (self.old_delay, backlog.get() <= 2 * MEAN_PACKET.get()),
            Variant::Linux => (self.delay, backlog.get() < 2 * LINUX_MTU.get()),
        };
        is_short || delay < params.target / 2 && self.probability < SAFE_PROBABILITY
    }

    /// The probability for a packet of `len` bytes.
    fn scaled(&self, params: &PieControlParams, len: Bytes) -> f64 {
        let share = |of: Bytes| len.get() as f64 / of.get() as f64;
        match params.variant {
            _ if !params.bytemode => self.probability,
            // RFC 8034 section 4.2: the bound keeps large packets from always getting a signal.
            Variant::Rfc => (self.probability * share(MEAN_PACKET)).min(ACCUMULATED_LOW),
            Variant::Linux => self.probability * share(LINUX_MTU).min(1.0),
        }
    }

    /// True if there is no congestion now and was none at the last update.
    fn is_calm(&self, params: &PieControlParams) -> bool {
        self.probability == 0.0 && self.delay < params.target / 2 && self.old_delay < params.target / 2
    }

    /// Records a departure that leaves `backlog`.
    pub(crate) fn on_dequeue(
        &mut self,
        params: &PieControlParams,
        len: Bytes,
        sojourn: Duration,
        backlog: Bytes,
        now: Time,
    ) {
        let passed = if params.dq_rate_estimator {
            self.meter.on_dequeue(params.variant, len, backlog, now)
        } else {
            // With an empty queue the next packet has no delay.
            self.delay = if backlog == Bytes::ZERO { Duration::ZERO } else { sojourn };
            let last = self.last_dequeue.replace(now);
            last.map_or(Duration::ZERO, |last| now - last)
        };
        if params.variant == Variant::Linux {
            self.burst_left = self.burst_left.saturating_sub(passed);
        }
    }

    /// The update that is due every `tupdate`.
    pub(crate) fn update(&mut self, params: &PieControlParams, backlog: Bytes) {
        if params.dq_rate_estimator {
            self.old_delay = self.delay;
            self.delay = self.meter.delay(params.variant, backlog);
        }
        let ceiling = if params.variant == Variant::Linux { LINUX_MAX } else { 1.0 };
        let wanted = self.probability + self.step(params);
        self.probability = wanted.clamp(0.0, ceiling);
        match params.variant {
            Variant::Rfc => self.settle_rfc(params),
            Variant::Linux => self.settle_linux(params, backlog, wanted > ceiling),
        }
        self.old_delay = self.delay;
    }

    /// The change of the probability.
    fn step(&self, params: &PieControlParams) -> f64 {
        let delay = self.delay.as_secs_f64();
        let distance = delay - params.target.as_secs_f64();
        let change = delay - self.old_delay.as_secs_f64();
        let full = (f64::from(params.alpha) * distance + f64::from(params.beta) * change) * GAIN_UNIT;
        let divisor =
            GAINS.iter().find(|(bound, _)| self.probability < *bound).map_or(1.0, |(_, divisor)| *divisor);
        let mut step = full / divisor;
        if self.probability >= CAPPED_FROM {
            step = step.min(MAX_STEP);
        }
        if params.variant == Variant::Linux && self.delay > HIGH_DELAY {
            step += MAX_STEP;
        }
        step
    }

    fn settle_rfc(&mut self, params: &PieControlParams) {
        if self.delay < params.target / 2 && self.old_delay < params.target / 2 {
            self.probability *= DECAY_RFC;
        }
        self.burst_left = self.burst_left.saturating_sub(params.tupdate);
    }

    fn settle_linux(&mut self, params: &PieControlParams, backlog: Bytes, was_cut: bool) {
        let was_idle = self.delay == Duration::ZERO && self.old_delay == Duration::ZERO;
        // A delay of zero with a backlog means that the delay is unknown.
        if was_idle && backlog == Bytes::ZERO && !was_cut {
            self.probability *= DECAY_LINUX;
        }
        if self.is_calm(params) && (!params.dq_rate_estimator || self.meter.is_known()) {
            self.accumulated = 0.0;
            self.burst_left = params.max_burst;
            self.last_dequeue = None;
            self.meter = DrainMeter::default();
        }
    }

    /// True if further updates would change nothing before the next arrival.
    pub(crate) fn is_at_rest(&self, params: &PieControlParams) -> bool {
        let no_delay = self.delay == Duration::ZERO && self.old_delay == Duration::ZERO;
        // In Linux updates do not reduce the burst allowance.
        let no_burst = params.variant == Variant::Linux || self.burst_left == Duration::ZERO;
        self.probability == 0.0 && no_delay && no_burst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(probability: f64, delay_ms: u64, old_ms: u64) -> PieControl {
        let [delay, old_delay] = [delay_ms, old_ms].map(Duration::from_millis);
        PieControl { probability, delay, old_delay, ..PieControl::new(&PieControlParams::default()) }
    }
    fn assert_near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got}, expected {expected}");
    }

    /// alpha = 0.125 / s and beta = 1.25 / s apply to seconds. mahimahi applies them to
    /// milliseconds with the divisors of an old draft, which gives about 62 times as much.
    #[test]
    fn the_gains_are_per_second_of_delay() {
        let params = PieControlParams::default();
        // 15 ms above target, an increase of 30 ms, at the lowest probability.
        assert_near(at(0.0, 30, 0).step(&params), (0.125 * 0.015 + 1.25 * 0.030) / 2048.0);
        assert_near(at(0.0, 10, 30).step(&params), (0.125 * -0.005 + 1.25 * -0.020) / 2048.0);
    }

    #[test]
    fn gains_grow_with_the_probability() {
        let params = PieControlParams::default();
        let table = [
            (9e-7, 2048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
        ];
        for (probability, divisor) in table {
            assert_near(at(probability, 25, 25).step(&params), 0.125 * 0.010 / divisor);
        }
    }

    #[test]
    fn above_ten_percent_a_step_is_at_most_two_percent() {
        let params = PieControlParams::default();
        assert_near(at(0.1, 215, 15).step(&params), 0.02);
        assert_near(at(0.0999, 215, 15).step(&params), (0.125 * 0.2 + 1.25 * 0.2) / 2.0);
        assert_near(at(0.1, 15, 215).step(&params), -0.25);
        // Linux adds another step above 250 ms.
        let linux = PieControlParams { variant: Variant::Linux, ..params };
        assert_near(at(0.1, 250, 0).step(&linux), 0.02);
        assert_near(at(0.1, 251, 0).step(&linux), 0.04);
    }
}
