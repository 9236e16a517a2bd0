//! Variation of one-way delays within a phase.
use crate::{Metric, Observation, Phase, Series, SeriesKey, Value};
use alloc::vec::Vec;
use fathom_stats::percentile;
use fathom_units::Time;

/// Percentile of [`delay_variation_s`]. RFC 5481 leaves it open: a phase of 5 s at the default
/// interval of 50 ms has 100 probes, which have a 99th percentile, but none above.
const VARIATION_PERCENTILE: f64 = 0.99;

/// Share of a new difference in the jitter (RFC 3550 section 6.4.1).
const JITTER_GAIN: f64 = 1.0 / 16.0;

/// Interarrival jitter at the end of a phase (RFC 3550 section 6.4.1), in seconds; `None` if fewer
/// than two probes arrived. Lost probes are left out, and those that arrived count in the order of
/// their arrival.
pub fn interarrival_jitter_s(one_way: &Series, phase: &Phase) -> Option<f64> {
    let mut arrivals: Vec<(f64, f64)> =
        delays(one_way, phase).map(|(sent, delay)| (sent.as_nanos() as f64 / 1e9 + delay, delay)).collect();
    arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let moved =
        |jitter, pair: &[(f64, f64)]| jitter + (libm::fabs(pair[1].1 - pair[0].1) - jitter) * JITTER_GAIN;
    (arrivals.len() > 1).then(|| arrivals.windows(2).fold(0.0, moved))
}

/// Packet delay variation of a phase (PDV of RFC 5481), in seconds: the 99th percentile of the
/// delays of the packets that arrived, less their minimum.
pub fn delay_variation_s(series: &Series, phase: &Phase) -> Option<f64> {
    let mut values: Vec<f64> = delays(series, phase).map(|(_, delay)| delay).collect();
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    Some(percentile(&mut values, VARIATION_PERCENTILE)? - least)
}

/// The metrics of the variation of these one-way delays, one observation for each phase.
pub fn variation_series(one_way: &Series, phases: &[Phase]) -> [Series; 2] {
    let of = |metric, statistic: fn(&Series, &Phase) -> Option<f64>| {
        let mut series = Series::new(SeriesKey { metric, ..one_way.key.clone() });
        let values = phases.iter().filter_map(|phase| Some((phase.start_ns, statistic(one_way, phase)?)));
        values.for_each(|(start_ns, value)| {
            series.push(Observation { at: Time::from_nanos(start_ns), value: Value::Observed(value) });
        });
        series
    };
    [of(Metric::Jitter, interarrival_jitter_s), of(Metric::DelayVariation, delay_variation_s)]
}

/// Send time and delay of the probes of a phase that arrived.
fn delays(series: &Series, phase: &Phase) -> impl Iterator<Item = (Time, f64)> {
    series.within(phase).filter_map(|o| Some((o.at, o.value.observed()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PhaseEnd, PhaseKind};
    use fathom_units::Direction;

    const MS: u64 = 1_000_000;

    const fn phase(start_ms: u64, end_ms: u64) -> Phase {
        let (kind, end) = (PhaseKind::Idle, PhaseEnd::Settled);
        Phase { kind, start_ns: start_ms * MS, end_ns: end_ms * MS, end, load: None }
    }
    fn series(probes: &[(u64, Option<f64>)]) -> Series {
        let mut series = Series::new(SeriesKey::directed(Metric::OneWayDelay, Direction::Down));
        for (sent_ms, delay_ms) in probes {
            let value = delay_ms.map_or(Value::Censored { at_least: 9.0 }, |ms| Value::Observed(ms / 1e3));
            series.push(Observation { at: Time::from_nanos(sent_ms * MS), value });
        }
        series
    }

    #[test]
    fn jitter_and_variation_are_those_of_the_packets_that_arrived() {
        // Differences of 16, across the loss, and 32 ms.
        let one_way =
            series(&[(0, Some(10.0)), (50, None), (100, Some(26.0)), (150, Some(-6.0)), (200, Some(9.0))]);
        let [jitter, variation] = variation_series(&one_way, &[phase(0, 200), phase(200, 300)]);
        // 0 + 16/16 = 1; 1 + (32 - 1)/16. The second phase has one probe.
        assert_eq!((&jitter.at_ns[..], jitter.values.len()), (&[0][..], 1));
        assert!((jitter.values[0] - 2.9375e-3).abs() < 1e-12, "{jitter:?}");
        assert!((variation.values[0] - 0.032).abs() < 1e-12 && variation.values[1] == 0.0, "{variation:?}");
        assert_eq!(jitter.key, SeriesKey::directed(Metric::Jitter, Direction::Down));
    }

    #[test]
    fn a_packet_that_was_overtaken_counts_when_it_arrived() {
        // It arrives last: differences of 1, then of 60 ms.
        let one_way = series(&[(0, Some(10.0)), (10, Some(71.0)), (20, Some(11.0))]);
        let jitter = interarrival_jitter_s(&one_way, &phase(0, 100)).unwrap();
        let first = 1.0 / 16.0;
        assert!((jitter * 1e3 - (first + (60.0 - first) / 16.0)).abs() < 1e-9, "{jitter}");
    }

    #[test]
    fn one_late_packet_of_a_hundred_is_no_variation() {
        let late = |n| Some(if n == 50 { 500.0 } else { 10.0 });
        let probes: Vec<_> = (0..100).map(|n| (n * 50, late(n))).collect();
        assert_eq!(delay_variation_s(&series(&probes), &phase(0, 5_000)), Some(0.0));
        assert_eq!(delay_variation_s(&series(&[(0, None)]), &phase(0, 5_000)), None);
    }
}
