//! A controller with simulated ticks.
use fathom_shape::autorate::{
    Bounds, Config, Controller, Decision, Delay, DelaySample, HourOfWeek, Observation, QueueReading,
};
use fathom_units::{Bytes, Duration, PerDirection, Rate, Time};

pub(crate) const TICK: u64 = 100;

pub(crate) fn mbit(mbit: f64) -> Rate {
    Rate::from_bits_per_second((mbit * 1e6) as u64)
}

pub(crate) fn config(up: [f64; 3], down: [f64; 3]) -> Config {
    let bounds = |[min, start, max]: [f64; 3]| Bounds { min: mbit(min), start: mbit(start), max: mbit(max) };
    Config::new(PerDirection { up: bounds(up), down: bounds(down) }).unwrap()
}

/// Observations of one direction at a tick.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shown {
    /// Rate that leaves the shaper's queue, Mbit/s.
    pub(crate) sent: f64,
    /// Backlog of the shaper's queue, kB.
    pub(crate) ours: f64,
    /// Delay beyond the shaper, ms.
    pub(crate) delay: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Answers {
    OneWay,
    RoundTrip,
    None,
    /// The third one is 120 ms late.
    OneIsLate,
}

/// Three reflectors, each with one response per tick.
pub(crate) struct Ticker {
    pub(crate) controller: Controller,
    pub(crate) ms: u64,
    pub(crate) hour: u64,
    pub(crate) answers: Answers,
    queues: PerDirection<QueueReading>,
}

impl Ticker {
    pub(crate) fn new(controller: Controller) -> Self {
        Ticker { controller, ms: 0, hour: 0, answers: Answers::OneWay, queues: PerDirection::default() }
    }
    pub(crate) fn tick(&mut self, shown: PerDirection<Shown>) -> PerDirection<Decision> {
        self.ms += TICK;
        let add = |queue: &mut QueueReading, one: Shown| {
            queue.sent += mbit(one.sent).bytes_in(Duration::from_millis(TICK));
            queue.backlog = Bytes((one.ours * 1e3) as u64);
        };
        add(&mut self.queues.up, shown.up);
        add(&mut self.queues.down, shown.down);
        let delays: Vec<DelaySample> = (0..3).filter_map(|reflector| self.answer(reflector, shown)).collect();
        self.controller.observe(&Observation {
            at: Time::from_nanos(self.ms * 1_000_000),
            hour: HourOfWeek::new(self.hour),
            queues: self.queues,
            delays: &delays,
        })
    }
    /// Clocks and paths differ between reflectors.
    fn answer(&self, reflector: u16, shown: PerDirection<Shown>) -> Option<DelaySample> {
        let late = if self.answers == Answers::OneIsLate && reflector == 2 { 120.0 } else { 0.0 };
        let path = 10.0 + f64::from(reflector);
        let ns = |ms: f64| (ms * 1e6) as i64;
        let offset = 3_600_000.0 * f64::from(reflector);
        let delay = match self.answers {
            Answers::None => return None,
            Answers::RoundTrip => Delay::RoundTrip(Duration::from_secs_f64(
                (2.0 * path + shown.up.delay + shown.down.delay) / 1e3,
            )),
            Answers::OneWay | Answers::OneIsLate => Delay::OneWay(PerDirection {
                up: ns(path + shown.up.delay - offset),
                down: ns(path + shown.down.delay + late + offset),
            }),
        };
        Some(DelaySample { reflector, delay })
    }
}
