//! Properties for arbitrary ticks.
use crate::common::{Answers, Shown, Ticker, config};
use fathom_shape::autorate::{
    Bounds, Config, Controller, Delay, DelaySample, HourOfWeek, Observation, QueueReading, Reason,
};
use fathom_units::{Bytes, Duration, PerDirection, Rate, Rng, Time};

const UP: [f64; 3] = [2.0, 10.0, 20.0];
const DOWN: [f64; 3] = [5.0, 20.0, 60.0];

fn controller() -> Controller {
    Controller::new(config(UP, DOWN))
}

/// An arbitrary number that is often extreme.
fn wild(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => rng.below(100),
        _ => rng.next_u64() >> rng.below(64),
    }
}

fn wild_queue(rng: &mut Rng) -> QueueReading {
    QueueReading { sent: Bytes(wild(rng)), backlog: Bytes(wild(rng)), drops: wild(rng), marks: wild(rng) }
}

fn wild_sample(rng: &mut Rng) -> DelaySample {
    let delay = if rng.chance(0.3) {
        Delay::RoundTrip(Duration::from_nanos(wild(rng)))
    } else {
        Delay::OneWay(PerDirection { up: wild(rng) as i64, down: wild(rng) as i64 })
    };
    DelaySample { reflector: rng.below(60) as u16, delay }
}

#[test]
fn rates_stay_within_their_bounds() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let mut controller = controller();
        let mut at = 0_u64;
        for _ in 0..500 {
            at = match rng.below(20) {
                0 => wild(&mut rng),
                _ => at.saturating_add(rng.below(300_000_000)),
            };
            let delays: Vec<_> = (0..rng.below(5)).map(|_| wild_sample(&mut rng)).collect();
            let decided = controller.observe(&Observation {
                at: Time::from_nanos(at),
                hour: HourOfWeek::new(wild(&mut rng)),
                queues: PerDirection { up: wild_queue(&mut rng), down: wild_queue(&mut rng) },
                delays: &delays,
            });
            for (decision, [min, _, max]) in [(decided.up, UP), (decided.down, DOWN)] {
                let rate = decision.rate.as_bits_per_second() as f64 / 1e6;
                assert!((min..=max).contains(&rate), "seed {seed}: {rate} Mbit/s, {:?}", decision.reason);
            }
            let excess = controller.excess();
            assert!([excess.up, excess.down].into_iter().flatten().all(f64::is_finite), "seed {seed}");
        }
    }
}

/// A normally used line: loads come and go, with and without delay.
fn usual(rng: &mut Rng, most: f64) -> Shown {
    let sent = if rng.chance(0.3) { 0.02 } else { most * rng.next_f64() };
    let ours = if rng.chance(0.5) { 0.0 } else { 200.0 * rng.next_f64() };
    let delay = if rng.chance(0.5) { rng.next_f64() } else { 150.0 * rng.next_f64() };
    Shown { sent, ours, delay }
}

#[test]
fn missing_responses_never_lower_the_rate() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut ticker = Ticker::new(controller());
        let stages = 1 + rng.below(8);
        for _ in 0..stages {
            let (up, down) = (usual(&mut rng, 12.0), usual(&mut rng, 40.0));
            (0..rng.below(30)).for_each(|_| {
                ticker.tick(PerDirection { up, down });
            });
        }
        ticker.answers = Answers::None;
        // The last response counts for another 0.7 s.
        let mut heard = ticker.controller.rates();
        for tick in 0..3_000 {
            let shown = PerDirection { up: usual(&mut rng, 12.0), down: usual(&mut rng, 40.0) };
            let decided = ticker.tick(shown);
            if tick >= 8 {
                let (up, down) = (decided.up, decided.down);
                assert!(
                    up.rate >= heard.up && down.rate >= heard.down,
                    "seed {seed}, tick {tick}: {heard:?} to {up:?}, {down:?}"
                );
                assert_eq!((up.reason, down.reason), (Reason::Silent, Reason::Silent), "seed {seed}");
            }
            heard = ticker.controller.rates();
        }
    }
}

#[test]
fn a_direction_without_load_is_never_cut() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        for answers in [Answers::OneWay, Answers::RoundTrip] {
            let mut ticker = Ticker::new(controller());
            ticker.answers = answers;
            for _ in 0..60 {
                // Download is idle, with any delay and any upload.
                let up = usual(&mut rng, 12.0);
                let down = Shown { sent: 3.0 * rng.next_f64(), ours: 0.0, delay: 150.0 * rng.next_f64() };
                for _ in 0..rng.below(40) {
                    let decided = ticker.tick(PerDirection { up, down });
                    assert!(!decided.down.reason.is_cut(), "seed {seed}: {:?}", decided.down.reason);
                }
            }
        }
    }
}

#[test]
fn delay_of_one_direction_never_cuts_the_other() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut ticker = Ticker::new(controller());
        for _ in 0..60 {
            // Both are loaded, and one-way delays show that only upload is delayed.
            let up = usual(&mut rng, 12.0);
            let down = Shown { delay: 5.0 * rng.next_f64(), ..usual(&mut rng, 40.0) };
            for _ in 0..rng.below(40) {
                let decided = ticker.tick(PerDirection { up, down });
                assert!(!decided.down.reason.is_cut(), "seed {seed}: {:?}", decided.down.reason);
            }
        }
    }
}

#[test]
fn a_lasting_delay_under_load_is_cut_within_a_second() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut ticker = Ticker::new(controller());
        let idle = Shown { sent: 0.01, ours: 0.0, delay: 0.0 };
        (0..50).for_each(|_| {
            ticker.tick(PerDirection { up: idle, down: idle });
        });
        let before = ticker.controller.rates().down;
        let loaded = Shown { sent: 19.0, ours: 0.0, delay: 30.0 + 300.0 * rng.next_f64() };
        let cut = (0..10).any(|_| ticker.tick(PerDirection { up: idle, down: loaded }).down.reason.is_cut());
        assert!(cut && ticker.controller.rates().down < before, "seed {seed}: {} ms", loaded.delay);
    }
}

#[test]
fn a_cut_drains_the_queue_and_returns_to_the_delivered_rate() {
    // For any delivered rate, it returns to it within 2 % after a queue of 250 ms.
    for tenths in 60..190 {
        let delivered = f64::from(tenths) / 10.0;
        let mut ticker = Ticker::new(controller());
        let idle = Shown { sent: 0.01, ours: 0.0, delay: 0.0 };
        (0..50).for_each(|_| {
            ticker.tick(PerDirection { up: idle, down: idle });
        });
        let full = Shown { sent: delivered, ours: 0.0, delay: 100.0 };
        let cut = (0..10).find_map(|_| {
            let decision = ticker.tick(PerDirection { up: idle, down: full }).down;
            decision.reason.is_cut().then_some(decision.rate.as_bits_per_second() as f64 / 1e6)
        });
        let low = cut.unwrap();
        assert!(low < delivered && low > delivered * 0.5 || low == DOWN[0], "{delivered}: cut to {low}");
        let drained = Shown { sent: low, ours: 0.0, delay: 0.0 };
        (0..10).for_each(|_| {
            ticker.tick(PerDirection { up: idle, down: drained });
        });
        let rate = ticker.controller.rates().down.as_bits_per_second() as f64 / 1e6;
        assert!((rate / delivered - 1.0).abs() < 0.02, "{delivered}: went on with {rate}");
    }
}

#[test]
fn the_same_ticks_make_the_same_decisions() {
    let run = || {
        let mut rng = Rng::new(3);
        let mut ticker = Ticker::new(controller());
        (0..2_000)
            .map(|_| ticker.tick(PerDirection { up: usual(&mut rng, 12.0), down: usual(&mut rng, 40.0) }))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_tick_that_is_not_later_changes_nothing() {
    let mut ticker = Ticker::new(controller());
    let full = Shown { sent: 9.0, ours: 90.0, delay: 0.0 };
    (0..30).for_each(|_| {
        ticker.tick(PerDirection { up: full, down: full });
    });
    let before = ticker.controller.save();
    let late = Shown { sent: 9.0, ours: 0.0, delay: 500.0 };
    ticker.ms = 1_000;
    ticker.tick(PerDirection { up: late, down: late });
    assert_eq!(ticker.controller.save(), before);
}

#[test]
fn invalid_bounds_are_rejected() {
    let bounds = |min, start, max| Bounds {
        min: Rate::from_bits_per_second(min),
        start: Rate::from_bits_per_second(start),
        max: Rate::from_bits_per_second(max),
    };
    let right = bounds(1, 2, 3);
    for wrong in [bounds(0, 1, 2), bounds(3, 2, 4), bounds(1, 5, 4)] {
        assert!(Config::new(PerDirection { up: wrong, down: right }).is_err());
        assert!(Config::new(PerDirection { up: right, down: wrong }).is_err());
    }
    let error = Config::new(PerDirection { up: right, down: bounds(20_000_000, 10_000_000, 50_000_000) })
        .unwrap_err();
    let text = "down: invalid rates min 20Mbit, start 10Mbit, max 50Mbit (expected 0 < min <= start <= max)";
    assert_eq!(error.to_string(), text);
}
