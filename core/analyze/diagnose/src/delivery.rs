//! What the load delivered over time: whether the link delivered at all, and its rate while packets waited for it.
//!
//! A packet that was delayed by `a` beyond the base delay stood in a queue for `a`. Throughout that time the link in front of it was
//! busy, so what it delivered then over that time is its capacity, whatever the senders did at other times.
use crate::summarize::goodput;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Metric, PhaseKind, SeriesKey, Value};
use fathom_units::{Direction, Time};

/// Delay above the base that shows a queue, in seconds: below it, it may be jitter.
const QUEUED_S: f64 = 0.002;
/// Shortest time of a busy link whose rate is known, in seconds, and in intervals of the counter.
const MIN_BUSY_S: f64 = 1.0;
const MIN_BUSY_SAMPLES: f64 = 5.0;

/// A time span in ns of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

impl Interval {
    const fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
    fn seconds(self) -> f64 {
        self.length_ns() as f64 / 1e9
    }
    fn overlap(self, other: Interval) -> Interval {
        let start_ns = self.start_ns.max(other.start_ns);
        Interval { start_ns, end_ns: self.end_ns.min(other.end_ns).max(start_ns) }
    }
}

/// Payload that the load delivered in one direction during a phase, by intervals of its counter.
pub(crate) struct Delivery {
    counts: Vec<(Interval, f64)>,
}

impl Delivery {
    /// `None` where goodput was not sampled.
    pub(crate) fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Self> {
        let series = view.run.series(&SeriesKey::directed(Metric::Goodput, direction))?;
        let mut start_ns = rise.phase.start_ns;
        let mut counts = Vec::new();
        for observation in series.within(rise.phase) {
            let Value::Observed(bits_per_second) = observation.value else { continue };
            let interval = Interval { start_ns, end_ns: observation.at.as_nanos() };
            start_ns = interval.end_ns;
            counts.push((interval, bits_per_second * interval.seconds()));
        }
        (!counts.is_empty()).then_some(Delivery { counts })
    }
    /// Payload bits delivered within `span`, as if each interval had delivered evenly.
    pub(crate) fn bits(&self, span: Interval) -> f64 {
        let within = |(interval, bits): &(Interval, f64)| {
            let length = interval.length_ns().max(1) as f64;
            bits * interval.overlap(span).length_ns() as f64 / length
        };
        self.counts.iter().map(within).sum()
    }
    /// The longest time within `span` in which nothing was delivered, in ns.
    ///
    /// Data that TCP held back behind a lost segment comes all at once when it is repaired. If that makes up for the time before, at
    /// half the mean rate of the phase, the link was not silent.
    pub(crate) fn longest_silence_ns(&self, span: Interval) -> u64 {
        let known = self.known();
        let mean = self.bits(known) / known.seconds().max(1e-9);
        let (mut longest, mut silent): (u64, Option<Interval>) = (0, None);
        for (interval, bits) in &self.counts {
            if *bits == 0.0 {
                let start_ns = silent.map_or(interval.start_ns, |s| s.start_ns);
                silent = Some(Interval { start_ns, end_ns: interval.end_ns });
            } else if let Some(silence) = silent.take() {
                let both = Interval { start_ns: silence.start_ns, end_ns: interval.end_ns };
                if *bits < mean / 2.0 * both.seconds() {
                    longest = longest.max(silence.overlap(span).length_ns());
                }
            }
        }
        longest.max(silent.map_or(0, |silence| silence.overlap(span).length_ns()))
    }
    /// Time covered by counters.
    fn known(&self) -> Interval {
        let first = self.counts.first().map_or(0, |(interval, _)| interval.start_ns);
        Interval { start_ns: first, end_ns: self.counts.last().map_or(0, |(interval, _)| interval.end_ns) }
    }
}

/// Payload rate of the link while packets waited for it; `None` where they hardly ever did.
pub(crate) fn busy_rate(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    let delivery = Delivery::new(view, direction, rise)?;
    let known = delivery.known();
    let busy: Vec<Interval> = busy(view, direction, rise)?.into_iter().map(|i| i.overlap(known)).collect();
    let seconds: f64 = busy.iter().map(|i| i.seconds()).sum();
    let sample_s = known.seconds() / delivery.counts.len() as f64;
    if seconds < MIN_BUSY_S.max(MIN_BUSY_SAMPLES * sample_s) {
        return None;
    }
    Some(busy.iter().map(|i| delivery.bits(*i)).sum::<f64>() / seconds)
}

/// Payload rate of the line: while its queue held packets, or else the mean of the phase, which the line exceeds.
pub(crate) fn line_goodput(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    busy_rate(view, direction, rise).or_else(|| goodput(view.run, direction, rise.phase))
}

/// When the link of `direction` was busy, seen from the receiver: the union of the waiting times of all probes, in order.
fn busy(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Vec<Interval>> {
    let idle = view.run.phase(PhaseKind::Idle)?;
    let key = SeriesKey::directed(Metric::OneWayDelay, direction);
    let one_way =
        view.run.series(&key).and_then(|s| Some((s, view.one_way(direction, idle).percentile(0.5)?.value)));
    // Without one-way delays, both directions share the round trip when both are loaded.
    let round_trip = || (rise.phase.kind != PhaseKind::Both).then_some((view.source?, rise.idle.p50.value));
    let (series, base_s) = one_way.or_else(round_trip)?;
    // A probe comes back to the user, who is the receiver of a download, after its round trip.
    let mut round_trips = view.latency_in(rise.phase).peekable();
    let mut arrived_after_s = |at: Time, delay_s: f64| match direction {
        Direction::Up => Some(delay_s),
        Direction::Down => {
            while round_trips.next_if(|o| o.at < at).is_some() {}
            match round_trips.peek().filter(|o| o.at == at)?.value {
                Value::Observed(round_trip_s) => Some(round_trip_s),
                Value::Censored { .. } => None,
            }
        }
    };
    let mut waits: Vec<Interval> = Vec::new();
    for probe in series.within(rise.phase) {
        let Value::Observed(delay_s) = probe.value else { continue };
        let added_s = delay_s - base_s;
        let Some(arrived_s) = arrived_after_s(probe.at, delay_s).filter(|_| added_s >= QUEUED_S) else {
            continue;
        };
        let end_ns = probe.at.as_nanos() + (arrived_s * 1e9) as u64;
        waits.push(Interval { start_ns: end_ns.saturating_sub((added_s * 1e9) as u64), end_ns });
    }
    waits.sort_by_key(|wait| wait.start_ns);
    let mut union: Vec<Interval> = Vec::new();
    for wait in waits {
        match union.last_mut() {
            Some(last) if wait.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(wait.end_ns),
            _ => union.push(wait),
        }
    }
    Some(union)
}
