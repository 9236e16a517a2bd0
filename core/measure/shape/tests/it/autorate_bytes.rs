//! Arbitrary bytes as saved state: accepted state is saved unchanged, with rates within limits.
use fathom_shape::autorate::{Bounds, Config, Controller};
use fathom_units::{PerDirection, Rate};

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let of = Rate::from_bits_per_second;
    let bounds = Bounds { min: of(1_000_000), start: of(5_000_000), max: of(50_000_000) };
    let config = Config::new(PerDirection { up: bounds, down: bounds }).expect("these bounds are right");
    let Ok(controller) = Controller::restore(config, &text) else { return };
    let rates = controller.rates();
    assert!([rates.up, rates.down].into_iter().all(|rate| bounds.min <= rate && rate <= bounds.max));
    let saved = controller.save();
    let again = Controller::restore(config, &saved).expect("what was saved is restored");
    assert_eq!(again.save(), saved);
}
