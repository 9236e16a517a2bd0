//! The main link: how its rate varies.
use super::range::{
    BOOST, BOOST_S, CELLULAR, HANDOVER, HANDOVER_AT_S, HANDOVER_GAP_S, OUTAGE_PERIOD_S, OUTAGE_S,
    log_uniform, uniform, weighted,
};
use fathom_units::{Direction, PerDirection, Rng};

/// How the rate of a link varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variation {
    Fixed,
    Wifi,
    Cellular,
    Satellite,
    Outages,
    Boost,
    Handover,
}
use Variation::{Boost, Cellular, Fixed, Handover, Outages, Satellite, Wifi};

const VARIATIONS: [(u64, Variation); 7] =
    [(58, Fixed), (8, Wifi), (8, Cellular), (5, Satellite), (7, Outages), (8, Boost), (6, Handover)];

/// Rates that 802.11 and mobile networks have, bit/s.
const WIFI_RATE: [f64; 2] = [2e6, 1e9];
const CELLULAR_RATE: [f64; 2] = [100e3, 500e6];
/// Data rate of 802.11 relative to the rate that TCP gets.
const PHY_PER_RATE: f64 = 1.6;
/// A satellite terminal gets a new rate this often, s, within this ratio of the nominal rate.
const SATELLITE_STEP_S: f64 = 15.0;
const SATELLITE_RATE: [f64; 2] = [0.4, 1.0];
/// After this many seconds the satellite's rates repeat.
const SATELLITE_S: f64 = 180.0;

/// The link's keys in a scenario, by direction, and the traces that they name.
pub(super) struct Link {
    pub(super) keys: PerDirection<String>,
    pub(super) files: Vec<(String, String)>,
    /// Highest rate relative to the nominal rate.
    pub(super) peak_ratio: f64,
}

pub(super) fn variation(rng: &mut Rng, rate: f64) -> Variation {
    let drawn = weighted(rng, &VARIATIONS);
    let within = |[low, high]: [f64; 2]| (low..=high).contains(&rate);
    match drawn {
        Wifi if !within(WIFI_RATE) => Fixed,
        Cellular if !within(CELLULAR_RATE) => Fixed,
        drawn => drawn,
    }
}

/// Draws a link with these rates.
pub(super) fn link(rng: &mut Rng, variation: Variation, rates: &PerDirection<f64>) -> Link {
    let fixed = PerDirection::from_fn(|d| format!("rate = \"{:.0}bit\"", rates[d]));
    let plain = |keys, peak_ratio| Link { keys, files: Vec::new(), peak_ratio };
    match variation {
        Fixed => plain(fixed, 1.0),
        Wifi => {
            let phy = (rates.up.max(rates.down) * PHY_PER_RATE).max(1e6);
            let stations = rng.below(3);
            let keys = PerDirection::from_fn(|_| {
                format!("wifi = {{ phy = \"{phy:.0}bit\", stations = {stations} }}")
            });
            plain(keys, PHY_PER_RATE * rates.up.max(rates.down) / rates.up.min(rates.down))
        }
        Cellular => {
            let spread = log_uniform(rng, CELLULAR);
            let keys = PerDirection::from_fn(|d| {
                let (low, high) = ((rates[d] / spread).max(1e3), rates[d]);
                format!("cellular = {{ low = \"{low:.0}bit\", high = \"{high:.0}bit\" }}")
            });
            plain(keys, 1.0)
        }
        Boost => {
            let (ratio, seconds) = (log_uniform(rng, BOOST), log_uniform(rng, BOOST_S));
            let keys = PerDirection::from_fn(|d| {
                let (peak, bucket) = (ratio * rates[d], (ratio - 1.0) * rates[d] / 8.0 * seconds);
                let bucket = bucket.max(3028.0);
                format!("{}, boost = {{ rate = \"{peak:.0}bit\", bucket = \"{bucket:.0}b\" }}", fixed[d])
            });
            plain(keys, ratio)
        }
        Satellite | Outages | Handover => {
            let (steps, end) = steps(rng, variation);
            let mut files = Vec::new();
            let keys = PerDirection::from_fn(|d: Direction| {
                let line = |(at, share): &(f64, f64)| format!("{at:.3}s {:.0}bit\n", share * rates[d]);
                let name = format!("{d}.trace");
                files.push((name.clone(), steps.iter().map(line).collect::<String>() + &end));
                format!("trace = \"{name}\"")
            });
            Link { keys, files, peak_ratio: 1.0 }
        }
    }
}

/// Times in the run, the rate from then on relative to the nominal one, and the end of the trace.
fn steps(rng: &mut Rng, variation: Variation) -> (Vec<(f64, f64)>, String) {
    let mut steps = vec![(0.0, 1.0)];
    match variation {
        Outages => {
            let (period, length) = (uniform(rng, OUTAGE_PERIOD_S), log_uniform(rng, OUTAGE_S));
            steps.extend([(period - length, 0.0)]);
            return (steps, format!("{period:.3}s loop\n"));
        }
        Handover => {
            let (at, gap) = (uniform(rng, HANDOVER_AT_S), log_uniform(rng, HANDOVER_GAP_S));
            steps.extend([(at, 0.0), (at + gap, log_uniform(rng, HANDOVER))]);
        }
        _ => {
            let mut at = SATELLITE_STEP_S * rng.next_f64() + 0.001;
            while at < SATELLITE_S {
                steps.push((at, uniform(rng, SATELLITE_RATE)));
                at += SATELLITE_STEP_S;
            }
            return (steps, format!("{at:.3}s loop\n"));
        }
    }
    (steps, String::new())
}
