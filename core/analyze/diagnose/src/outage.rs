//! Detects outages: nothing passed the link for a while, although packets waited for it.
//!
//! In an outage, probes wait and none arrives, and so does the load in both directions. Probes
//! alone do not show it: if many packets of others arrive at once, the probes around them also
//! arrive far apart. But only an outage stops both directions, and all of the load.
use crate::delivery::Delivery;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Metric, PhaseKind, SeriesKey, Span};
use fathom_units::Direction;

/// Shorter ones are 802.11 retries, or caused by the measurement.
const SHORTEST_NS: u64 = 1_000_000_000;
/// Minimum number of probes that waited or were dropped meanwhile.
const MIN_PROBES: usize = 5;

/// All times in a phase without any delivery, in order.
pub(crate) fn outages(view: &View<'_>, rise: &Rise<'_>) -> Vec<Span> {
    let mut silences = silences(view, rise);
    if silences.is_empty() {
        return Vec::new();
    }
    let of = |metric| Direction::BOTH.into_iter().filter_map(move |d| Delivery::of(view, metric, d, rise));
    let deliveries: Vec<Delivery> = of(Metric::DeliveryRate).chain(of(Metric::Goodput)).collect();
    let upward = upward_arrivals(view, rise);
    let is_outage = |silence: &Span| {
        let sent = view.latency_in(rise.phase).filter(|probe| {
            (silence.start_ns..silence.end_ns).contains(&probe.at.as_nanos().saturating_add(base_ns(rise)))
        });
        // Its start and end are known to a round trip: an outage may begin while packets return.
        let quarter_ns = silence.length_ns() / 4;
        let middle = silence.start_ns + quarter_ns..silence.end_ns - quarter_ns;
        sent.count() >= MIN_PROBES
            && !upward.iter().any(|arrived_ns| middle.contains(arrived_ns))
            && deliveries
                .iter()
                .all(|delivery| delivery.longest_silence_ns(*silence) >= silence.length_ns() / 2)
    };
    silences.retain(is_outage);
    silences
}

/// The time of an empty line's round trip.
fn base_ns(rise: &Rise<'_>) -> u64 {
    (rise.idle.p50.value * 1e9) as u64
}

/// Times of at least [`SHORTEST_NS`] in which no response arrived, although one was due.
fn silences(view: &View<'_>, rise: &Rise<'_>) -> Vec<Span> {
    let answered = view.latency_in(rise.phase).filter_map(|probe| {
        Some((Span::after(probe.at, probe.value.observed()?).end_ns, probe.at.as_nanos()))
    });
    let mut responses: Vec<(u64, u64)> = answered.collect();
    responses.sort_unstable();
    let silence = |pair: &[(u64, u64)]| {
        let [(before_ns, _), (end_ns, sent_ns)] = *pair else { return None };
        let start_ns = before_ns.max(sent_ns.saturating_add(base_ns(rise)));
        (end_ns.saturating_sub(start_ns) >= SHORTEST_NS).then_some(Span { start_ns, end_ns })
    };
    responses.windows(2).filter_map(silence).collect()
}

/// When probes arrived at the server, by the clock of the client; empty where that is unknown.
fn upward_arrivals(view: &View<'_>, rise: &Rise<'_>) -> Vec<u64> {
    let idle =
        view.run.phase(PhaseKind::Idle).and_then(|idle| view.one_way(Direction::Up, idle).percentile(0.5));
    let series = view.run.series(&SeriesKey::directed(Metric::OneWayDelay, Direction::Up));
    let Some((idle, series)) = idle.zip(series) else { return Vec::new() };
    let arrived = series.within(rise.phase).filter_map(|probe| {
        // Clocks differ, but half of the idle round trip is the way to the server.
        let delay_s = probe.value.observed()? - idle.value + rise.idle.p50.value / 2.0;
        Some(Span::after(probe.at, delay_s.max(0.0)).end_ns)
    });
    arrived.collect()
}
