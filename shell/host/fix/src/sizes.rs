//! The line's overhead, by a load of small packets and one of large ones.
use fathom_client::{PhasePlan, ProbeKind, TestConfig, TestError, run_test};
use fathom_run::{Metric, PhaseKind, Run, SeriesKey, Value};
use fathom_shape::overhead::{Sized, overhead_bytes};
use fathom_shaper::Kernel;
use fathom_stats::Sample;
use fathom_units::{Direction, Duration};
use std::sync::atomic::AtomicBool;

/// Largest segments of the two loads, as announced: with the headers of IP less than any path's MTU, and more than what some systems
/// take for an attack.
const SEGMENTS: [u16; 2] = [252, 1320];
/// Of a segment, what timestamps take (RFC 7323 appendix A).
const STAMPS_BYTES: f64 = 12.0;
const LOADED: Duration = Duration::from_secs(6);
const IDLE: Duration = Duration::from_secs(1);

/// Bytes beyond IP of each packet in a direction; `None` where that cannot be told.
pub(crate) fn measure(
    base: &TestConfig,
    direction: Direction,
    stop: &AtomicBool,
) -> Result<Option<f64>, TestError> {
    let mut loads = Vec::new();
    for segment in SEGMENTS {
        let run = load(base, direction, segment, stop)?;
        loads.extend(sized(&run, direction, segment));
    }
    Ok(match loads[..] {
        [small, large] => overhead_bytes(small, large),
        _ => None,
    })
}

/// What a kind of interface says of the line behind it, where packets do not: PPP runs over DSL, where 44 bytes are enough for all that
/// is used (sqm-scripts), but for cells of ATM.
pub(crate) fn by_interface(device: &str) -> Option<(u16, &'static str)> {
    const PPP: u16 = 512;
    let link = Kernel::open().ok()?.link(device).ok()??;
    (link.link_layer == PPP).then_some((44, "an interface of PPP"))
}

fn load(base: &TestConfig, direction: Direction, segment: u16, stop: &AtomicBool) -> Result<Run, TestError> {
    let kind = if direction == Direction::Up { PhaseKind::Up } else { PhaseKind::Down };
    let config = TestConfig {
        phases: vec![
            PhasePlan { kind: PhaseKind::Idle, min: IDLE, max: IDLE },
            PhasePlan { kind, min: LOADED, max: LOADED },
        ],
        probes: vec![ProbeKind::Udp],
        segment_bytes: Some(segment),
        ..base.clone()
    };
    run_test(&config, stop, &mut |_| {})
}

fn sized(run: &Run, direction: Direction, segment: u16) -> Option<Sized> {
    let loaded = run.phases.iter().find(|phase| phase.load.is_some())?;
    let series = run.series(&SeriesKey::directed(Metric::Goodput, direction))?;
    let counted = Sample::new(series.within(loaded).filter_map(|o| match o.value {
        Value::Observed(rate) => Some((rate, false)),
        Value::Censored { .. } => None,
    }));
    // The fact has a port behind the address: brackets are IPv6's.
    let is_v6 = run.facts.get("address").is_some_and(|address| address.starts_with('['));
    let headers = if is_v6 { 60.0 } else { 40.0 };
    let segment = f64::from(segment);
    let bytes = steady(&counted)? / 8.0;
    Some(Sized { ip_bytes: segment + headers, packets_per_second: bytes / (segment - STAMPS_BYTES) })
}

/// The rate while nothing but the line limits: the mean of the middle half. While a lost packet is repaired, what comes after it waits,
/// and is delivered at once then: both are far off. The median would be a whole number of packets.
fn steady(rates: &Sample) -> Option<f64> {
    let sorted = rates.observed();
    let middle = &sorted[sorted.len() / 4..sorted.len() - sorted.len() / 4];
    (!middle.is_empty()).then(|| middle.iter().sum::<f64>() / middle.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repaired_loss_and_late_counts_are_not_the_lines_rate() {
        // Intervals of 100 ms on a busy machine, Mbit/s: slow start, two counts that were late, a loss and its repair.
        let rates = [
            3.0, 7.24, 7.26, 7.24, 7.12, 7.38, 7.26, 7.25, 5.46, 0.02, 1.71, 12.07, 16.96, 7.24, 7.26, 7.24,
            7.26,
        ];
        let found = steady(&Sample::new(rates.map(|rate| (rate, false)))).unwrap();
        assert!((found - 7.25).abs() < 0.02, "{found}");
        assert_eq!(steady(&Sample::new([])), None);
    }
}
