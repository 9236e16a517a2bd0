//! The load of the test, and the traffic of others.
use super::range::{FLOWS, RATE_PER_FLOW, log_uniform, uniform, weighted};
use fathom_units::{Direction, PerDirection, Rng};

const CONGESTION_CONTROLS: [(u64, &str); 4] = [(45, "cubic"), (15, "reno"), (25, "bbr"), (15, "ledbat")];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cross {
    None,
    Web,
    Video,
    Bulk,
    Call,
}

const CROSS: [(u64, Cross); 5] =
    [(60, Cross::None), (10, Cross::Web), (10, Cross::Video), (10, Cross::Bulk), (10, Cross::Call)];

/// Name of the workload of other devices.
const CROSS_TRAFFIC: &str = "others";
/// Rate of a video relative to the slowest link of its direction, and its highest rate in bit/s.
const VIDEO_SHARE: [f64; 2] = [0.1, 0.5];
const MAX_VIDEO_RATE: f64 = 25e6;
/// Both directions of a call take 96 kbit/s on the link. Slower lines have none.
const CALL_RATE: f64 = 200e3;
/// Flows of a bulk transfer by another device.
const BULK_FLOWS: u64 = 4;

/// The sections `[load]` and `[[workload]]`.
pub(super) fn traffic(rng: &mut Rng, rates: &PerDirection<f64>, load_s: f64) -> String {
    let control = weighted(rng, &CONGESTION_CONTROLS);
    let flows = log_uniform(rng, FLOWS).round();
    let mut text = String::from("[load]\n");
    for (direction, rate) in rates.iter() {
        let most = (rate / RATE_PER_FLOW).max(1.0).floor();
        text += &format!("{direction}_flows = {}\n", flows.min(most));
    }
    text += &format!("congestion_control = \"{control}\"\nduration = \"{load_s:.3}s\"\n");
    text + &cross(rng, rates)
}

fn cross(rng: &mut Rng, rates: &PerDirection<f64>) -> String {
    let kind = weighted(rng, &CROSS);
    let direction = weighted(rng, &[(1, Direction::Up), (1, Direction::Down)]);
    let keys = match kind {
        Cross::None => return String::new(),
        Cross::Web => format!("kind = \"web\"\ninterval = \"{:.1}s\"", uniform(rng, [1.0, 10.0])),
        Cross::Video => {
            let rate = (uniform(rng, VIDEO_SHARE) * rates[direction]).min(MAX_VIDEO_RATE);
            format!("kind = \"video\"\ndirection = \"{direction}\"\nrate = \"{rate:.0}bit\"")
        }
        Cross::Bulk => {
            let flows = 1 + rng.below(BULK_FLOWS);
            format!("kind = \"bulk\"\ndirection = \"{direction}\"\nflows = {flows}")
        }
        Cross::Call if rates.up.min(rates.down) < CALL_RATE => return String::new(),
        Cross::Call => "kind = \"call\"".to_owned(),
    };
    format!("\n[[workload]]\nname = \"{}\"\n{keys}\n", CROSS_TRAFFIC)
}
