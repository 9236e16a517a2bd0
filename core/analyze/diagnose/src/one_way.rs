//! Delays in one direction: when probes waited, and how long acknowledgments were on their way.
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, PhaseKind, Series, SeriesKey, Span};
use fathom_units::{Direction, Time};

/// Delays in one direction, and their base without load.
pub(crate) struct OneWay<'r> {
    pub(crate) series: &'r Series,
    /// In seconds.
    pub(crate) base_s: f64,
}

impl<'r> OneWay<'r> {
    /// `None` without one-way delays.
    pub(crate) fn new(view: &View<'r>, direction: Direction) -> Option<Self> {
        let series = view.run.series(&SeriesKey::directed(Metric::OneWayDelay, direction))?;
        let base_s = view.one_way(direction, view.run.phase(PhaseKind::Idle)?).percentile(0.5)?.value;
        Some(OneWay { series, base_s })
    }
    /// The added delay of each probe of the phase, ending when it arrived at the far end of the
    /// direction.
    pub(crate) fn waits(&self, view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Vec<Span> {
        // The user receives the download, so a probe has passed the link after its round trip.
        let mut round_trips = view.latency_in(rise.phase).peekable();
        let mut arrived_after_s = |at: Time, delay_s: f64| match direction {
            Direction::Up => Some(delay_s),
            Direction::Down => {
                while round_trips.next_if(|o| o.at < at).is_some() {}
                round_trips.peek().filter(|o| o.at == at)?.value.observed()
            }
        };
        let wait = |probe: Observation| {
            let delay_s = probe.value.observed()?;
            let arrived_s = arrived_after_s(probe.at, delay_s)?;
            let end_ns = probe.at.as_nanos().saturating_add((arrived_s * 1e9) as u64);
            let added_ns = ((delay_s - self.base_s).max(0.0) * 1e9) as u64;
            Some(Span { start_ns: end_ns.saturating_sub(added_ns), end_ns })
        };
        self.series.within(rise.phase).filter_map(wait).collect()
    }
}

/// When acknowledgments began their way back, less its base delay.
///
/// They share the queue of the other direction with its data. While this queue grows, their rate is
/// lower than that of the data they acknowledge; while it drains, it is higher (L. Zhang et al.,
/// "Observations on the Dynamics of a Congestion Control Algorithm: The Effects of Two-Way
/// Traffic", SIGCOMM 1991).
pub(crate) struct WayBack {
    /// Arrivals with the time that is wanted, ns, both in order.
    arrivals: Vec<(u64, u64)>,
}

impl WayBack {
    /// The way back from what is sent in `direction`. It is constant without load, and where
    /// one-way delays are unknown.
    pub(crate) fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Self {
        let back = direction.reverse();
        let delays = OneWay::new(view, back).filter(|_| rise.phase.kind.loads().contains(&back));
        let waits = delays.map_or_else(Vec::new, |delays| delays.waits(view, back, rise));
        let mut arrivals: Vec<(u64, u64)> = waits.iter().map(|wait| (wait.end_ns, wait.start_ns)).collect();
        arrivals.sort_unstable();
        // Packets of one queue do not overtake each other; only the measurement's error looks so.
        let mut latest_ns = 0;
        for (_, began_ns) in &mut arrivals {
            latest_ns = latest_ns.max(*began_ns);
            *began_ns = latest_ns;
        }
        WayBack { arrivals }
    }
    /// For what arrived at `arrived_ns`; between two probes by linear interpolation.
    pub(crate) fn began(&self, arrived_ns: u64) -> u64 {
        let next = self.arrivals.partition_point(|(at, _)| *at < arrived_ns);
        let before = next.checked_sub(1).and_then(|last| self.arrivals.get(last));
        match (before, self.arrivals.get(next)) {
            (Some((left, from)), Some((right, to))) => {
                let share = (arrived_ns - left) as f64 / (right - left).max(1) as f64;
                from + (share * (to - from) as f64) as u64
            }
            (Some((at, began)), None) | (None, Some((at, began))) => arrived_ns.saturating_sub(at - began),
            (None, None) => arrived_ns,
        }
    }
}
