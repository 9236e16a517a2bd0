//! State saved across restarts.
use crate::common::{Shown, Ticker, config};
use fathom_shape::autorate::{Controller, HourOfWeek};
use fathom_units::PerDirection;

fn taught() -> Ticker {
    let mut ticker = Ticker::new(Controller::new(config([2.0, 10.0, 20.0], [5.0, 20.0, 60.0])));
    let idle = Shown { sent: 0.01, ours: 0.0, delay: 0.0 };
    for hour in [3, 167] {
        ticker.hour = hour;
        for _ in 0..12 {
            (0..50).for_each(|_| {
                ticker.tick(PerDirection { up: idle, down: idle });
            });
            let full = Shown { sent: 7.0, ours: 0.0, delay: 80.0 };
            (0..4).for_each(|_| {
                ticker.tick(PerDirection { up: full, down: full });
            });
        }
    }
    ticker
}

#[test]
fn saved_rates_are_restored() {
    let controller = taught().controller;
    let saved = controller.save();
    assert!(saved.contains("hour down 167 ") && saved.contains("hour up 3 "), "{saved}");
    let restored = Controller::restore(*controller.config(), &saved).unwrap();
    assert_eq!(restored.save(), saved);
    assert_eq!(restored.rates(), controller.rates());
    // Seven were delivered each time.
    let (low, high) = restored.usual(HourOfWeek::new(168 + 3)).down.unwrap();
    assert!(
        [low, high].into_iter().all(|rate| (6_900_000..7_100_000).contains(&rate.as_bits_per_second())),
        "{low} {high}"
    );
    assert_eq!(restored.usual(HourOfWeek::new(4)).down, None);
}

#[test]
fn saved_rates_are_limited_to_new_bounds() {
    let saved = taught().controller.save();
    let narrow = config([1.0, 1.5, 2.0], [70.0, 80.0, 90.0]);
    let rates = Controller::restore(narrow, &saved).unwrap().rates();
    assert_eq!(rates.up.as_bits_per_second(), 2_000_000);
    assert_eq!(rates.down.as_bits_per_second(), 70_000_000);
}

#[test]
fn invalid_saved_state_is_rejected_with_its_line() {
    let cases = [
        ("", "line 1: expected \"fathom-autorate 1\""),
        ("fathom-autorate 2\n", "line 1: expected \"fathom-autorate 1\""),
        (
            "fathom-autorate 1\nrate up\n",
            "line 2: expected \"rate DIRECTION BITS\" or \"hour DIRECTION HOUR LOW HIGH COUNT\"",
        ),
        ("fathom-autorate 1\nrate up 5\nrate left 5\n", "line 3: expected \"up\" or \"down\""),
        ("fathom-autorate 1\nrate up 0\n", "line 2: expected a rate in bit/s, from 1 to 2^53"),
        ("fathom-autorate 1\nrate up -5\n", "line 2: expected a rate in bit/s as an integer"),
        ("fathom-autorate 1\nhour up 168 1 2 3\n", "line 2: expected an hour of the week, 0 to 167"),
        ("fathom-autorate 1\nhour up 0 3 2 3\n", "line 2: expected the lower capacity before the higher one"),
        ("fathom-autorate 1\nhour up 0 1 2 x\n", "line 2: expected a number of samples"),
    ];
    for (text, want) in cases {
        let config = config([2.0, 10.0, 20.0], [5.0, 20.0, 60.0]);
        assert_eq!(Controller::restore(config, text).unwrap_err().to_string(), want);
    }
}
