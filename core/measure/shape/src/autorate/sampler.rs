//! Decides when to tick, and which delays to pass to a [`Controller`](super::Controller).
use super::observation::{DelaySample, QueueReading};
use alloc::vec::Vec;
use fathom_units::{Duration, PerDirection, Rate, Time};

/// Tick interval under load, and when idle. On the lab's LTE line, delay was high for 12.2 to 13.1
/// % of the time with ten ticks per second under load (three runs), and for 11.1 to 12.5 % with
/// twenty (five runs).
const LOADED_INTERVAL: Duration = Duration::from_millis(50);
const QUIET_INTERVAL: Duration = Duration::from_millis(100);
/// Time constant of the throughput average, s.
const THROUGHPUT_TIME: f64 = 1.0;
/// Below this share of both rates, traffic cannot fill a queue.
const QUIET_RATIO: f64 = 0.05;
/// A reflector that responded within this time is preferred over passive round-trip times, because
/// hosts delay acknowledgments arbitrarily.
const ANSWER_LIFETIME: Duration = Duration::from_secs(1);

/// Tracks the shaper queues and the reflectors' responses between ticks.
#[derive(Clone, Default, Debug)]
pub struct Sampler {
    last: Option<(Time, PerDirection<QueueReading>)>,
    throughput: PerDirection<f64>,
    answered_at: Option<Time>,
}

impl Sampler {
    /// Records the queues at a tick.
    pub fn note_queues(&mut self, at: Time, queues: PerDirection<QueueReading>) {
        let Some((then, before)) = self.last.replace((at, queues)) else { return };
        let seconds = at.saturating_since(then).as_secs_f64().max(1e-9);
        for (direction, mean) in self.throughput.iter_mut() {
            let bytes = queues[direction].sent.get().saturating_sub(before[direction].sent.get());
            let rate = bytes as f64 * 8.0 / seconds;
            *mean += (rate - *mean) * (seconds / THROUGHPUT_TIME).min(1.0);
        }
    }
    /// Throughput of the shapers in the last second, bit/s.
    pub const fn throughput(&self) -> PerDirection<f64> {
        self.throughput
    }
    /// Whether the traffic cannot fill a queue beyond shapers with these rates.
    pub fn is_quiet(&self, rates: PerDirection<Rate>) -> bool {
        let queues = self.last.map_or(PerDirection::default(), |(_, queues)| queues);
        rates.into_iter().all(|(direction, rate)| {
            let limit = rate.as_bits_per_second() as f64 * QUIET_RATIO;
            queues[direction].backlog.get() == 0 && self.throughput[direction] < limit
        })
    }
    /// Time until the next tick.
    pub fn interval(&self, rates: PerDirection<Rate>) -> Duration {
        if self.is_quiet(rates) { QUIET_INTERVAL } else { LOADED_INTERVAL }
    }
    /// Delays for a tick: `answers` of reflectors, or `passive` ones while none responds.
    pub fn select(
        &mut self,
        now: Time,
        answers: Vec<DelaySample>,
        passive: Vec<DelaySample>,
    ) -> Vec<DelaySample> {
        if !answers.is_empty() {
            self.answered_at = Some(now);
        }
        let is_answered = self.answered_at.is_some_and(|at| now.saturating_since(at) < ANSWER_LIFETIME);
        if is_answered { answers } else { passive }
    }
}

#[cfg(test)]
mod tests {
    use super::super::observation::Delay;
    use super::*;
    use alloc::vec;
    use fathom_units::Bytes;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn ticks_are_rare_when_idle() {
        let rates =
            PerDirection { up: 10, down: 40 }.map(|mbit| Rate::from_bits_per_second(mbit * 1_000_000));
        let mut idle = Sampler::default();
        assert_eq!(idle.interval(rates), QUIET_INTERVAL);
        let mut sent = 0;
        let mut tick = |sampler: &mut Sampler, ms, bytes, backlog| {
            sent += bytes;
            let up = QueueReading { sent: Bytes(sent), backlog: Bytes(backlog), ..QueueReading::default() };
            sampler.note_queues(at(ms), PerDirection { up, down: QueueReading::default() });
        };
        (0..20).for_each(|n| tick(&mut idle, 100 * n, 1_000, 0));
        // 80 kbit/s are less than a twentieth of 10 Mbit/s.
        assert!(idle.is_quiet(rates) && idle.throughput().up > 50e3);
        tick(&mut idle, 2_000, 1_000, 3_000);
        assert_eq!(idle.interval(rates), LOADED_INTERVAL);
        (0..20).for_each(|n| tick(&mut idle, 2_100 + 100 * n, 100_000, 0));
        assert!(!idle.is_quiet(rates) && (idle.throughput().up - 8e6).abs() < 1.2e6);
    }

    #[test]
    fn passive_round_trips_count_while_no_reflector_answers() {
        let sample =
            |reflector| vec![DelaySample { reflector, delay: Delay::RoundTrip(Duration::from_millis(9)) }];
        let mut sampler = Sampler::default();
        let mut select = |ms, answers, passive| sampler.select(at(ms), answers, passive);
        assert_eq!(select(0, vec![], sample(7)), sample(7));
        assert_eq!(select(100, sample(1), sample(7)), sample(1));
        assert_eq!(select(1_000, vec![], sample(7)), []);
        assert_eq!(select(1_100, vec![], sample(7)), sample(7));
    }
}
