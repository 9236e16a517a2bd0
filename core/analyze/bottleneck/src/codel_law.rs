//! Checks drops for CoDel's control law (RFC 8289): the first drop follows when packets have waited
//! longer than a target for a whole interval.
use crate::delay_curve::DelayPoint;
use alloc::vec::Vec;

/// Target and interval of nearly all installations (RFC 8289 sections 4.2 and 4.3; Linux, FreeBSD).
const TARGET_NS: f64 = 5e6;
const INTERVAL_NS: f64 = 100e6;
/// Drops that follow sooner belong to the same dropping state.
const SAME_STATE_NS: f64 = 1.3 * INTERVAL_NS;
/// Wider bins cannot resolve an interval.
const WIDEST_NS: f64 = 0.4 * INTERVAL_NS;
/// Minimum number of first drops.
const MIN_DROPS: usize = 5;

/// Of the first drops of dropping states, the share that came one interval after packets last
/// waited less than the target; `None` with too few drops or too coarse delays. Random drops and
/// tail drops come at any time.
pub(crate) fn codel_conformance_ratio(delays: &[DelayPoint], drops: &[f64], packet_ns: f64) -> Option<f64> {
    let width = delays.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).fold(f64::INFINITY, f64::min);
    if width > WIDEST_NS {
        return None;
    }
    let firsts = drops.iter().enumerate().filter(|(number, at)| {
        let before = number.checked_sub(1).and_then(|last| drops.get(last));
        before.is_none_or(|before| *at - before > SAME_STATE_NS)
    });
    // CoDel never drops the last packet, and delays include the packet's serialization time.
    let target_ns = TARGET_NS.max(packet_ns) + 0.5 * packet_ns;
    let rises: Vec<f64> = firsts.filter_map(|(_, at)| rise(delays, *at, target_ns)).collect();
    let slack = 0.15 * INTERVAL_NS + width + packet_ns;
    let obeying = rises.iter().filter(|rise| libm::fabs(**rise - INTERVAL_NS) <= slack).count();
    (rises.len() >= MIN_DROPS).then(|| obeying as f64 / rises.len() as f64)
}

/// Time from the last packet that waited less than `target_ns` to `drop_ns`; `None` after a long
/// time without observations.
fn rise(delays: &[DelayPoint], drop_ns: f64, target_ns: f64) -> Option<f64> {
    let end = delays.partition_point(|point| point.at_ns <= drop_ns);
    let mut later = drop_ns;
    for point in delays.get(..end)?.iter().rev() {
        if later - point.at_ns > WIDEST_NS {
            return None;
        }
        if point.min_ns < target_ns {
            return Some(drop_ns - point.at_ns);
        }
        later = point.at_ns;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// A delay that grows from zero in bins of 16 ms, and is cut at a random time given by
    /// `drop_after` as time above the target.
    fn sawtooth(seed: u64, mut drop_after: impl FnMut(&mut Rng) -> f64) -> (Vec<DelayPoint>, Vec<f64>) {
        let mut rng = Rng::stream(seed, "law");
        let (mut delays, mut drops) = (Vec::new(), Vec::new());
        let mut delay_ns = 0.0;
        let (mut slope, mut above_for, mut limit) = (0.1, 0.0, drop_after(&mut rng));
        for number in 0..3000_u32 {
            let at_ns = 16e6 * f64::from(number);
            delay_ns += slope * 16e6;
            above_for = if delay_ns > TARGET_NS { above_for + 16e6 } else { 0.0 };
            delays.push(DelayPoint { at_ns, min_ns: delay_ns, mean_ns: delay_ns, max_ns: delay_ns });
            if above_for > limit {
                drops.push(at_ns + 1e6);
                (delay_ns, above_for, limit) = (0.0, 0.0, drop_after(&mut rng));
                slope = 0.01 + 0.001 * rng.below(100) as f64;
            }
        }
        (delays, drops)
    }

    #[test]
    fn drops_after_an_interval_conform_and_random_drops_do_not() {
        for seed in 1..=100 {
            let (delays, drops) = sawtooth(seed, |_| INTERVAL_NS);
            let lawful = codel_conformance_ratio(&delays, &drops, 1.2e6).unwrap();
            assert!(lawful > 0.9, "seed {seed}: {lawful}");
            let random = sawtooth(seed, |rng| rng.exponential(300_000_000) as f64);
            let by_chance = codel_conformance_ratio(&random.0, &random.1, 1.2e6).unwrap();
            assert!(by_chance < 0.5, "seed {seed}: {by_chance}");
        }
    }

    #[test]
    fn few_drops_or_coarse_delays_give_no_result() {
        let (delays, drops) = sawtooth(1, |_| INTERVAL_NS);
        assert_eq!(codel_conformance_ratio(&delays, &drops[..MIN_DROPS - 1], 1.2e6), None);
        let coarse: Vec<DelayPoint> = delays.iter().step_by(4).copied().collect();
        assert_eq!(codel_conformance_ratio(&coarse, &drops, 1.2e6), None);
    }
}
