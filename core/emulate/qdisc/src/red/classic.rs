//! RED as in the papers, in floating point.
use super::{MAX_WEIGHT_LOG, RedParams, Signal};
use fathom_units::{Bytes, Rng, Time};

/// Bounds of the adapted probability, and of one increase. Source: Floyd 2001 section 4.
const LOWEST: f64 = 0.01;
/// See [`LOWEST`].
const HIGHEST: f64 = 0.5;
/// Largest increase per adaptation; an increase is also at most a quarter of the probability.
const MAX_STEP: f64 = 0.01;
/// Factor of a decrease.
const DECREASE: f64 = 0.9;
/// The target range as fractions of `min`..`max`.
const TARGET: [f64; 2] = [0.4, 0.6];

pub(super) struct Classic {
    average: f64,
    max_probability: f64,
    /// Packets since the last signal; -1 below `min`.
    count: i64,
    weight: f64,
    /// Transmission time of an average packet, in seconds.
    packet_time: f64,
}

/// Start and end of an idle period of the link.
type Idle = Option<(Time, Time)>;

impl Classic {
    pub(super) fn new(params: &RedParams) -> Self {
        let log = params.weight_log().unwrap_or(MAX_WEIGHT_LOG);
        Classic {
            average: 0.0,
            max_probability: params.probability.0,
            count: -1,
            weight: 1.0 / (1_u64 << log) as f64,
            packet_time: params.rate.serialization_time(params.avpkt).as_secs_f64(),
        }
    }

    pub(super) fn on_arrival(
        &mut self,
        params: &RedParams,
        backlog: Bytes,
        idle: Idle,
        rng: &mut Rng,
    ) -> Signal {
        self.average = if idle.is_some() {
            self.after_idle(idle)
        } else {
            self.average + self.weight * (backlog.get() as f64 - self.average)
        };
        let Some(probability) = self.probability(params) else {
            self.count = 0;
            return Signal::Forced;
        };
        if self.average < params.min.get() as f64 {
            self.count = -1;
            return Signal::None;
        }
        self.count += 1;
        // From count = 1 / p on the denominator is not positive, and the signal is certain.
        let left = 1.0 - self.count as f64 * probability;
        if left > 0.0 && !rng.chance(probability / left) {
            return Signal::None;
        }
        self.count = 0;
        Signal::Early
    }

    /// The average after an idle period, as if packets had been sent from an empty queue.
    fn after_idle(&self, idle: Idle) -> f64 {
        let Some((since, until)) = idle else { return self.average };
        let packets = (until - since).as_secs_f64() / self.packet_time;
        self.average * libm::pow(1.0 - self.weight, packets)
    }

    /// The paper's p_b at this average; `None` if every packet gets a signal.
    fn probability(&self, params: &RedParams) -> Option<f64> {
        let (min, max) = (params.min.get() as f64, params.max.get() as f64);
        if self.average < max {
            return Some(self.max_probability * (self.average - min) / (max - min));
        }
        let is_gentle = params.gentle && self.average < 2.0 * max;
        let rest = (1.0 - self.max_probability) * (self.average - max) / max;
        is_gentle.then_some(self.max_probability + rest)
    }

    pub(super) fn adapt(&mut self, params: &RedParams, idle: Idle) {
        let (min, max) = (params.min.get() as f64, params.max.get() as f64);
        let [low, high] = TARGET.map(|share| min + share * (max - min));
        let average = self.after_idle(idle);
        if average > high && self.max_probability <= HIGHEST {
            self.max_probability += MAX_STEP.min(self.max_probability / 4.0);
        } else if average < low && self.max_probability >= LOWEST {
            self.max_probability *= DECREASE;
        }
    }
}
