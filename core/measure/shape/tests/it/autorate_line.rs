//! The controller on simulated lines with variable rates and simulated TCP flows.
use fathom_shape::autorate::{
    Bounds, Config, Controller, Delay, DelaySample, HourOfWeek, Observation, QueueReading, Reason, Sampler,
};
use fathom_shape::fix::ShaperCounters;
use fathom_sim::{Session, ShaperConfig};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rng, Time};
use std::collections::BTreeMap;

use crate::fix::world::{Side, mbit, session, shaper_counters};

/// Upload at 10, 3, then 10 Mbit/s; the buffer holds half a second at 10 Mbit/s.
const STEPS: &str = "0s 10mbit\n25s 3mbit\n50s 10mbit\n";
/// Number of round trips of a host before it counts, as in the shell.
const LEAST_TRIPS: usize = 10;
/// Number of the host of the passive round-trip times.
const PASSIVE_HOST: u16 = 0xc001;

fn varying() -> PerDirection<Side> {
    let up = "trace = \"line.trace\", queue = \"fifo limit 625000b\", overhead = \"0b\", delay = \"5ms\"";
    let down = "rate = \"40mbit\", queue = \"fifo limit 1000000b\", overhead = \"0b\", delay = \"5ms\"";
    PerDirection { up: Side(up.to_owned()), down: Side(down.to_owned()) }
}

fn config() -> Config {
    let up = Bounds { min: mbit(2.0), start: mbit(9.0), max: mbit(15.0) };
    let down = Bounds { min: mbit(8.0), start: mbit(37.0), max: mbit(45.0) };
    Config::new(PerDirection { up, down }).unwrap()
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    s: f64,
    rate_mbit: PerDirection<f64>,
    /// Upload delay above the baseline.
    delay_ms: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// A server that gives one-way delays.
    Server,
    /// Passively observed TCP flows.
    Passive,
}

struct Shaped {
    session: Session,
    controller: Controller,
    sampler: Sampler,
    source: Source,
    answers: usize,
    trips: usize,
    seen: Vec<Seen>,
    reasons: PerDirection<BTreeMap<Reason, usize>>,
}

impl Shaped {
    fn new(mut session: Session, controller: Controller, source: Source) -> Self {
        for (direction, rate) in controller.rates() {
            let shaper = ShaperConfig { rate, overhead: Bytes(14), queue: "fq_codel".parse().unwrap() };
            session.shape(direction, Some(&shaper));
        }
        match source {
            Source::Server => session.probe(Some(Duration::from_millis(50))),
            Source::Passive => session.listen(),
        }
        Shaped {
            session,
            controller,
            sampler: Sampler::default(),
            source,
            answers: 0,
            trips: 0,
            seen: Vec::new(),
            reasons: PerDirection::default(),
        }
    }
    fn run(&mut self, seconds: u64) {
        while self.session.now() < Time::ZERO + Duration::from_secs(seconds) {
            let interval = self.sampler.interval(self.controller.rates());
            self.session.run_until(self.session.now() + interval);
            self.tick();
        }
    }
    fn tick(&mut self) {
        let at = self.session.now();
        let (answers, passive) = (self.take_answers(), self.take_passive());
        let delays = self.sampler.select(at, answers, passive);
        self.answers += delays.len();
        let queues = PerDirection::from_fn(|direction| {
            let counters = shaper_counters(&self.session, direction).unwrap_or_default();
            QueueReading::new(&counters, 0)
        });
        self.sampler.note_queues(at, queues);
        let observation = Observation { at, hour: HourOfWeek::new(0), queues, delays: &delays };
        for (direction, decision) in self.controller.observe(&observation) {
            *self.reasons[direction].entry(decision.reason).or_default() += 1;
            if decision.is_new {
                self.session.set_rate(direction, decision.rate);
            }
        }
        self.seen.push(Seen {
            s: (at - Time::ZERO).as_secs_f64(),
            rate_mbit: self.controller.rates().map(|rate| rate.as_bits_per_second() as f64 / 1e6),
            delay_ms: self.controller.excess().up.map(|s| s * 1e3),
        });
    }
    fn take_answers(&mut self) -> Vec<DelaySample> {
        let answers = self.session.take_answers();
        let one_way =
            |up: Duration, down: Duration| PerDirection { up, down }.map(|time| time.as_nanos() as i64);
        let sample = |up, down| DelaySample { reflector: 0, delay: Delay::OneWay(one_way(up, down)) };
        answers.iter().map(|answer| sample(answer.up, answer.down)).collect()
    }
    fn take_passive(&mut self) -> Vec<DelaySample> {
        let trips = self.session.take_passive();
        self.trips += trips.len();
        let least = trips.into_iter().min().filter(|_| self.trips >= LEAST_TRIPS);
        let sample = |time| DelaySample { reflector: PASSIVE_HOST, delay: Delay::RoundTrip(time) };
        least.filter(|_| self.source == Source::Passive).map(sample).into_iter().collect()
    }

    fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(move |one| (from..to).contains(&one.s))
    }
    /// Median upload rate, Mbit/s.
    fn rate(&self, from: f64, to: f64) -> f64 {
        median(self.between(from, to).map(|one| one.rate_mbit.up).collect())
    }
    /// Median upload delay, ms.
    fn delay(&self, from: f64, to: f64) -> f64 {
        median(self.between(from, to).filter_map(|one| one.delay_ms).collect())
    }
    /// A line per half second, for debugging a failed test.
    fn story(&self) -> String {
        self.seen.iter().step_by(10).map(|one| format!("{one:.2?}\n")).collect()
    }
    /// The download direction carries only ACKs.
    fn assert_down_was_not_cut(&self) {
        let least = self.seen.iter().map(|one| one.rate_mbit.down).fold(f64::MAX, f64::min);
        assert!(least >= 36.9, "down was cut to {least}\n{}", self.story());
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    assert!(!values.is_empty());
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn the_rate_follows_the_line_down_and_up_again() {
    for seed in 0..4 {
        let mut line =
            Shaped::new(session(&varying(), STEPS, seed), Controller::new(config()), Source::Server);
        line.session.start_flows(Direction::Up, 1, None);
        line.run(85);
        let rates = [line.rate(15.0, 25.0), line.rate(32.0, 50.0), line.rate(70.0, 84.0)];
        let told = format!("seed {seed}: {rates:.2?} Mbit/s\n{}", line.story());
        for (rate, bounds) in rates.iter().zip([7.0..=10.6, 2.0..=3.3, 6.0..=10.6]) {
            assert!(bounds.contains(rate), "{told}");
        }
        for (from, to) in [(15.0, 25.0), (32.0, 50.0), (60.0, 84.0)] {
            assert!(line.delay(from, to) < 25.0, "{from} to {to} s: {} ms, {told}", line.delay(from, to));
        }
        line.assert_down_was_not_cut();
        assert!(line.answers > 300, "{} answers", line.answers);
        let learned = line.controller.save();
        assert!(learned.starts_with("fathom-autorate 1\nrate up "), "{learned}");
    }
}

#[test]
fn passive_round_trips_are_enough_to_follow_the_line() {
    for seed in 0..4 {
        let mut line =
            Shaped::new(session(&varying(), STEPS, seed), Controller::new(config()), Source::Passive);
        line.session.start_flows(Direction::Up, 1, None);
        line.run(48);
        let rates = [line.rate(15.0, 25.0), line.rate(34.0, 47.0)];
        let told = format!("seed {seed}: {rates:.2?} Mbit/s\n{}", line.story());
        for (rate, bounds) in rates.iter().zip([7.0..=10.6, 2.0..=3.3]) {
            assert!(bounds.contains(rate), "{told}");
        }
        for (from, to) in [(15.0, 25.0), (34.0, 47.0)] {
            assert!(line.delay(from, to) < 25.0, "{from} to {to} s: {} ms, {told}", line.delay(from, to));
        }
        line.assert_down_was_not_cut();
        assert!(line.answers > 300, "{} answers", line.answers);
    }
}

#[test]
fn idle_noise_causes_no_cut_and_learned_rates_are_reused() {
    // Three in ten packets are 40 ms late, in either direction.
    let noise = "reorder = \"30%\", reorder_delay = \"40ms\", overhead = \"0b\", delay = \"5ms\"";
    let side = |rate, limit| Side(format!("rate = \"{rate}\", queue = \"fifo limit {limit}b\", {noise}"));
    let sides = PerDirection { up: side("10mbit", 625_000), down: side("40mbit", 1_000_000) };
    for seed in 0..4 {
        let learned = Controller::restore(config(), "fathom-autorate 1\nrate up 6000000\n").unwrap();
        let mut line = Shaped::new(session(&sides, "", seed), learned, Source::Server);
        line.run(15);
        assert!(
            line.seen.iter().all(|one| one.rate_mbit == PerDirection { up: 6.0, down: 37.0 }),
            "{}",
            line.story()
        );
        assert!(line.reasons.up.keys().all(|reason| !reason.is_cut()), "seed {seed}: {:?}", line.reasons);
        assert!(line.answers > 20, "{} answers", line.answers);
    }
}

#[test]
fn any_steps_of_the_line_are_followed() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let rates: Vec<f64> = (0..4).map(|_| 2.5 + 9.5 * rng.next_f64()).collect();
        let step = |(n, rate): (usize, &f64)| format!("{}s {}kbit\n", 25 * n, (rate * 1e3) as u64);
        let trace: String = rates.iter().enumerate().map(step).collect();
        let mut line =
            Shaped::new(session(&varying(), &trace, seed), Controller::new(config()), Source::Server);
        line.session.start_flows(Direction::Up, 2, None);
        line.run(100);
        for (n, rate) in rates.iter().enumerate() {
            let (from, to) = (25.0 * n as f64 + 15.0, 25.0 * n as f64 + 25.0);
            let (share, delay) = (line.rate(from, to) / rate, line.delay(from, to));
            let told =
                format!("seed {seed}, {rates:.2?} Mbit/s, step {n}: {share:.3} of the rate, {delay:.1} ms");
            eprintln!("{told}");
            assert!((0.6..=1.1).contains(&share) && delay < 25.0, "{told}\n{}", line.story());
        }
    }
}

#[test]
fn an_outage_of_a_second_is_over_when_the_line_is_back() {
    let trace = "0s 10mbit\n20s 10kbit\n21s 10mbit\n";
    let mut line = Shaped::new(session(&varying(), trace, 1), Controller::new(config()), Source::Server);
    line.session.start_flows(Direction::Up, 1, None);
    line.run(50);
    let (before, after) = (line.rate(15.0, 20.0), line.rate(40.0, 50.0));
    assert!(after > 0.7 * before && line.delay(40.0, 50.0) < 25.0, "{before} {after}\n{}", line.story());
}

#[test]
fn counters_are_read_as_the_shaper_counts() {
    let counters = ShaperCounters {
        sent_bytes: 151_400,
        sent_packets: 100,
        backlog_bytes: 3_028,
        dropped_packets: 7,
        ..ShaperCounters::default()
    };
    let reading = QueueReading::new(&counters, 24);
    assert_eq!(reading.sent, Bytes(153_800));
    assert_eq!((reading.backlog, reading.drops, reading.marks), (Bytes(3_028), 7, 0));
    // IP only: less than the kernel counts.
    assert_eq!(QueueReading::new(&counters, -14).sent, Bytes(150_000));
}
