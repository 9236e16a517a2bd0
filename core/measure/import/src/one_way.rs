//! One-way delays of UDP probes.
use crate::draft::Draft;
use alloc::vec::Vec;
use fathom_probe::{ClockSamples, FourStamps};
use fathom_run::{Metric, Observation, Series, SeriesKey, Unrecorded, Value};
use fathom_units::{Direction, PerDirection, Time};

/// A UDP probe of irtt.
pub(crate) struct Probe {
    pub(crate) at: u64,
    pub(crate) stamps: Option<FourStamps>,
    pub(crate) lost: Option<Direction>,
    pub(crate) waited_s: f64,
}

/// Adds one-way delays. The clocks of the hosts differ by an offset and a drift, which are inferred
/// from the probes with short round trips, as `fathom test` does.
pub(crate) fn one_way(draft: &mut Draft, probes: Vec<Probe>) {
    let mut samples = ClockSamples::default();
    probes.iter().filter_map(|probe| probe.stamps.as_ref()).for_each(|stamps| samples.add(stamps));
    let Some(fit) = samples.fit() else {
        draft.lacks(Unrecorded::OneWayDelays);
        return;
    };
    let mut series = PerDirection::from_fn(|d| Series::new(SeriesKey::directed(Metric::OneWayDelay, d)));
    for Probe { at, stamps, lost, waited_s } in probes {
        let at = Time::from_nanos(at);
        if let Some(stamps) = stamps {
            for (direction, took) in fit.one_way(&stamps).into_iter() {
                series[direction].push(Observation { at, value: Value::Observed(took.as_secs_f64()) });
            }
        } else if let Some(direction) = lost {
            series[direction].push(Observation { at, value: Value::Censored { at_least: waited_s } });
        }
    }
    series.into_iter().for_each(|(_, one)| draft.add(one));
}
