//! What the load delivered over time: whether the link delivered at all, and its rate while packets
//! waited for it.
//!
//! A packet that was delayed by `a` beyond the base delay stood in a queue for `a`. Throughout that
//! time the link in front of it was busy, so what it delivered then over that time is its capacity,
//! whatever the senders did at other times.
use crate::one_way::{OneWay, WayBack};
use crate::outage::outages;
use crate::summarize::goodput;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_capacity::{Piece, RateSpan, Rates, Spread, Step, pieces, rates, spread};
use fathom_run::{Metric, Observation, PhaseKind, SeriesKey, Span, Value};
use fathom_stats::percentile;
use fathom_units::{Direction, FULL_TCP_PAYLOAD, IP_PER_PAYLOAD};

/// Delay above the base that shows a queue, in seconds: below it, it may be jitter.
const QUEUED_S: f64 = 0.002;
/// Shortest time of a busy link whose rate is known, in seconds, and in intervals of the counter.
const MIN_BUSY_S: f64 = 1.0;
const MIN_BUSY_SAMPLES: f64 = 5.0;

/// Share of an interval of the counter in which the link must have been busy.
const COVERED_RATIO: f64 = 0.95;
/// Payload covered by one acknowledgment: two full segments (RFC 9293 section 3.8.6.3).
pub(crate) const ACKNOWLEDGED_BYTES: f64 = 2.0 * FULL_TCP_PAYLOAD.get() as f64;

/// Largest 90th percentile of the ratio of the time in which data passed the link to the time in
/// which their acknowledgments arrived. Beyond it, the way back varies too fast for rates over
/// short times: a rate that varies by 25 % is a finding (`VARYING_RATIO`).
const MAX_STRETCH: f64 = 1.25;

/// Payload that the load delivered in one direction during a phase, by intervals of its counter.
pub(crate) struct Delivery {
    counts: Vec<(Span, f64)>,
    /// It is known when data passed the link: they count when they are acknowledged, and their
    /// acknowledgments took about the same time.
    ///
    /// Goodput is that of the application. TCP holds data back behind a lost segment, so goodput
    /// stalls and then exceeds the rate of the link.
    is_timed: bool,
}

impl Delivery {
    /// `None` where goodput was not sampled.
    pub(crate) fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Self> {
        let of = |metric| Delivery::of(view, metric, direction, rise);
        of(Metric::DeliveryRate).or_else(|| of(Metric::Goodput))
    }
    /// `None` where this rate was not sampled.
    pub(crate) fn of(view: &View<'_>, metric: Metric, direction: Direction, rise: &Rise<'_>) -> Option<Self> {
        let series = view.run.series(&SeriesKey::directed(metric, direction))?;
        // The first interval began before the phase or its flows.
        let mut start_ns = None;
        let mut counts = Vec::new();
        for observation in series.within(rise.phase) {
            let Value::Observed(bits_per_second) = observation.value else { continue };
            let end_ns = observation.at.as_nanos();
            if let Some(start_ns) = start_ns.replace(end_ns) {
                let interval = Span { start_ns, end_ns };
                counts.push((interval, bits_per_second * interval.seconds()));
            }
        }
        (!counts.is_empty()).then_some(Delivery { counts, is_timed: metric == Metric::DeliveryRate })
    }
    /// The same by the times at which data passed the link, if acknowledgments took `way_back`.
    fn at_link(self, way_back: &WayBack) -> Self {
        if !self.is_timed {
            return self;
        }
        let passed = |span: Span| Span {
            start_ns: way_back.began(span.start_ns),
            end_ns: way_back.began(span.end_ns),
        };
        let stretch = |(seen, _): &(Span, f64)| passed(*seen).seconds() / seen.seconds().max(1e-9);
        let mut stretches: Vec<f64> = self.counts.iter().map(stretch).collect();
        let is_timed = percentile(&mut stretches, 0.9).is_some_and(|high| high <= MAX_STRETCH);
        let counts = self.counts.into_iter().map(|(seen, bits)| (passed(seen), bits)).collect();
        Delivery { counts, is_timed }
    }
    /// Payload bits delivered within `span`, assuming a constant rate within each interval.
    pub(crate) fn bits(&self, span: Span) -> f64 {
        let within = |(interval, bits): &(Span, f64)| {
            let length = interval.length_ns().max(1) as f64;
            bits * interval.overlap(span).length_ns() as f64 / length
        };
        self.counts.iter().map(within).sum()
    }
    /// The longest time within `span` in which nothing was delivered, in ns.
    ///
    /// TCP holds back the data behind a lost segment and delivers them together once the segment is
    /// retransmitted. If these data amount to at least half the mean rate of the phase over the
    /// whole time, the link was not silent.
    pub(crate) fn longest_silence_ns(&self, span: Span) -> u64 {
        let known = self.known();
        let mean = self.bits(known) / known.seconds().max(1e-9);
        let (mut longest, mut silent): (u64, Option<Span>) = (0, None);
        for (interval, bits) in &self.counts {
            if *bits == 0.0 {
                let start_ns = silent.map_or(interval.start_ns, |s| s.start_ns);
                silent = Some(Span { start_ns, end_ns: interval.end_ns });
            } else if let Some(silence) = silent.take() {
                let both = Span { start_ns: silence.start_ns, end_ns: interval.end_ns };
                if *bits < mean / 2.0 * both.seconds() {
                    longest = longest.max(silence.overlap(span).length_ns());
                }
            }
        }
        longest.max(silent.map_or(0, |silence| silence.overlap(span).length_ns()))
    }
    /// Cuts the time within `spans`, in which the link was busy, into pieces.
    fn pieces(&self, spans: &[Span]) -> Vec<Piece> {
        let width_ns = self.known().length_ns() as f64 / self.counts.len() as f64;
        let step = |(interval, bits): &(Span, f64)| {
            let covered_ns: u64 = spans.iter().map(|span| span.overlap(*interval).length_ns()).sum();
            let is_busy = covered_ns as f64 >= COVERED_RATIO * interval.length_ns() as f64;
            // How long packets waited does not matter here, only whether they did.
            let delay_ns = Some(if is_busy { width_ns.max(interval.length_ns() as f64) } else { 0.0 });
            Step { until_ns: interval.end_ns as f64, bytes: bits / 8.0, delay_ns }
        };
        let steps: Vec<Step> = self.counts.iter().map(step).collect();
        pieces(&steps, width_ns, width_ns, ACKNOWLEDGED_BYTES)
    }
    /// Range of the sum of what was delivered less the mean rate, over the intervals of `span`, in
    /// bits.
    pub(crate) fn deviation(&self, span: Span) -> f64 {
        let mean = self.bits(span) / span.seconds().max(1e-9);
        let within = self.counts.iter().filter(|(interval, _)| interval.start_ns >= span.start_ns);
        let (mut sum, mut low, mut high) = (0.0, 0.0_f64, 0.0_f64);
        for (interval, bits) in within.filter(|(interval, _)| interval.end_ns <= span.end_ns) {
            sum += bits - mean * interval.seconds();
            (low, high) = (low.min(sum), high.max(sum));
        }
        high - low
    }
    /// Time covered by counters without its first quarter, in which the rate grows.
    pub(crate) fn without_start(&self) -> Span {
        let known = self.known();
        Span { start_ns: known.start_ns + known.length_ns() / 4, ..known }
    }
    /// Time covered by counters.
    pub(crate) fn known(&self) -> Span {
        let first = self.counts.first().map_or(0, |(interval, _)| interval.start_ns);
        Span { start_ns: first, end_ns: self.counts.last().map_or(0, |(interval, _)| interval.end_ns) }
    }
}

/// Rate of a link.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Capacity {
    /// Payload of the load: the rate that lasted if the rate changed, otherwise the rate of all
    /// time with a queue.
    pub(crate) payload_bits_per_second: f64,
    /// IP packets of the probes.
    pub(crate) probes_bits_per_second: f64,
    /// Payload rates between changes, in time order; times are those of the run.
    pub(crate) spans: Vec<RateSpan>,
    /// The rate is the mean of the phase. Packets rarely waited for the link, so it may be faster.
    pub(crate) is_lower_bound: bool,
    /// Payload rates over short times, of the rate that lasted; `None` if they are unknown.
    pub(crate) spread: Option<Spread>,
}

impl Capacity {
    /// IP packets of the load and of the probes.
    pub(crate) fn ip_bits_per_second(&self) -> f64 {
        self.with_probes(self.payload_bits_per_second)
    }
    /// Mean rate over a time span of the run. A rate is valid until the next one; the first is
    /// valid before it, too.
    pub(crate) fn ip_bits_per_second_in(&self, span: Span) -> f64 {
        let starts = self.spans.iter().skip(1).map(|rate| rate.from_ns as u64);
        let ends = starts.clone().chain([u64::MAX]);
        let valid = core::iter::once(0).chain(starts).zip(ends).zip(&self.spans);
        let payload = |((start_ns, end_ns), rate): ((u64, u64), &RateSpan)| {
            Span { start_ns, end_ns }.overlap(span).length_ns() as f64 * rate.bits_per_second
        };
        let mean = valid.map(payload).sum::<f64>() / span.length_ns().max(1) as f64;
        self.with_probes(if mean > 0.0 { mean } else { self.payload_bits_per_second })
    }
    /// Whether the rate was constant, except for the error of measurement.
    pub(crate) fn is_steady(&self) -> bool {
        let is_narrow = |spread: Spread| spread.p90 <= STEADY_RATIO * spread.p10;
        self.spans.len() <= 1 && self.spread.is_none_or(is_narrow)
    }
    /// The lowest rate that lasted, IP packets of the load and of the probes: a shaper must stay
    /// below it.
    pub(crate) fn lowest_ip_bits_per_second(&self) -> f64 {
        let lasting = self.spans.iter().filter(|span| span.to_ns - span.from_ns >= 1e9 * MIN_BUSY_S);
        let lowest = lasting.map(|span| span.bits_per_second).min_by(f64::total_cmp);
        self.with_probes(lowest.unwrap_or(f64::MAX).min(self.payload_bits_per_second))
    }
    /// Acknowledgments of the other direction are not counted: at most 2.6 % of a download's rate.
    fn with_probes(&self, payload_bits_per_second: f64) -> f64 {
        payload_bits_per_second * IP_PER_PAYLOAD + self.probes_bits_per_second
    }
}

/// Largest ratio of the 90th to the 10th percentile of rates over short times on a steady link:
/// pieces of a busy link are off by a few percent (see `fathom_capacity`).
const STEADY_RATIO: f64 = 1.1;

/// A rate with a larger relative error is not used.
const MAX_ERROR: f64 = 0.05;

/// Maximum ratio of the last rate to the lowest rate for the drop to be permanent.
const LASTING_RATIO: f64 = 1.1;

/// The rate that lasts: the last one if the rate dropped to it, otherwise that of all spans.
fn lasting(rates: &Rates) -> &RateSpan {
    last_drop(rates).unwrap_or(&rates.typical)
}

/// The last rate, if the rate dropped to it.
fn last_drop(rates: &Rates) -> Option<&RateSpan> {
    let lowest = rates.spans.iter().map(|span| span.bits_per_second).fold(f64::MAX, f64::min);
    let last = rates.spans.last().filter(|_| rates.spans.len() > 1);
    last.filter(|last| last.bits_per_second <= LASTING_RATIO * lowest)
}

/// Bytes that one probe of each kind takes in each direction, as IPv4 packets: 64 of payload in UDP
/// (docs/protocol.md), 56 in an ICMP echo; a SYN of 60, an ACK and a FIN of 52; a request or
/// response of about 110 and its ACK. See [`LINK_HEADER_BYTES`].
const PROBES: [(Metric, f64); 5] = [
    (Metric::UdpRtt, 92.0 + LINK_HEADER_BYTES),
    (Metric::IcmpRtt, 84.0 + LINK_HEADER_BYTES),
    (Metric::TcpConnect, 164.0 + 3.0 * LINK_HEADER_BYTES),
    (Metric::HttpForeign, 162.0 + 2.0 * LINK_HEADER_BYTES),
    (Metric::HttpKept, 162.0 + 2.0 * LINK_HEADER_BYTES),
];
/// Capacity is in IP bits of full packets, whose headers on the link are 1 %. The header of a small
/// packet takes more of the link, so it is counted with the packet: 14 bytes of Ethernet, as tc
/// counts.
const LINK_HEADER_BYTES: f64 = 14.0;

/// Capacity of the link in a direction: its rate while packets waited for it. Where they hardly
/// ever did, the mean rate of the phase, which is a lower bound.
pub(crate) fn capacity(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Capacity> {
    let busy = BusyTime::new(view, direction, rise);
    busy.as_ref().and_then(|busy| busy.capacity(view, rise)).or_else(|| {
        let mean = mean_rate(view, direction, rise)?;
        Some(Capacity { spread: busy.and_then(|busy| busy.spread_from(0.0)), ..mean })
    })
}

/// The mean rate of the phase, without its start.
fn mean_rate(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Capacity> {
    let (payload_bits_per_second, span) = match Delivery::new(view, direction, rise) {
        Some(delivery) => {
            let loaded = delivery.without_start();
            (delivery.bits(loaded) / loaded.seconds().max(1e-3), loaded)
        }
        // Where nothing was sampled, the number of delivered bytes may be known.
        None => {
            let whole = Span { start_ns: rise.phase.start_ns, end_ns: rise.phase.end_ns };
            (goodput(view.run, direction, rise.phase)?, whole)
        }
    };
    Some(Capacity {
        payload_bits_per_second,
        probes_bits_per_second: probe_bits(view, rise, 0.0, &[span]) / span.seconds().max(1e-3),
        spans: Vec::new(),
        is_lower_bound: true,
        spread: None,
    })
}

/// Smallest packet of others that matters: of a call, with its headers.
const OTHERS_BITS: f64 = 1600.0;
/// Shorter delays are jitter, in seconds.
const JITTER_S: f64 = 0.0005;
/// Share of the probes without load that met a packet of others, and their number, from which
/// others use the link.
const OTHERS_RATIO: f64 = 0.03;
const MIN_OTHERS: usize = 4;

/// Whether others send over the link in a direction: then probes wait for their packets even
/// without load, and the link has more capacity than the load gets.
pub(crate) fn is_shared(view: &View<'_>, direction: Direction, bits_per_second: f64) -> bool {
    let Some(idle) = view.run.phase(PhaseKind::Idle) else { return false };
    let delays = view.one_way(direction, idle);
    let Some(base) = delays.percentile(0.1) else { return false };
    // A probe arrives in the middle of a packet.
    let waited_s = (OTHERS_BITS / bits_per_second / 2.0).max(JITTER_S);
    let all = delays.observed();
    let count = all.iter().filter(|delay_s| **delay_s - base.value >= waited_s).count();
    count >= MIN_OTHERS && count as f64 >= OTHERS_RATIO * all.len() as f64
}

/// What was delivered while packets waited.
struct BusyTime {
    delivery: Delivery,
    busy: Busy,
    pieces: Vec<Piece>,
}

impl BusyTime {
    fn new(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Self> {
        let delivery = Delivery::new(view, direction, rise)?.at_link(&WayBack::new(view, direction, rise));
        let known = delivery.known();
        let busy = busy(view, direction, rise)?;
        let spans = busy.spans.into_iter().map(|span| span.overlap(known)).collect();
        let busy = Busy { spans, ..busy };
        let pieces = delivery.pieces(&busy.spans);
        Some(BusyTime { delivery, busy, pieces })
    }
    /// `None` if packets did not wait long enough to know the rate.
    fn capacity(&self, view: &View<'_>, rise: &Rise<'_>) -> Option<Capacity> {
        let seconds: f64 = self.busy.spans.iter().map(|span| span.seconds()).sum();
        let sample_s = self.delivery.known().seconds() / self.delivery.counts.len() as f64;
        let found = rates(&self.pieces, ACKNOWLEDGED_BYTES)?;
        let is_known = seconds >= MIN_BUSY_S.max(MIN_BUSY_SAMPLES * sample_s);
        let probe_bits = || probe_bits(view, rise, self.busy.way_back_s, &self.busy.spans);
        let lasting_from_ns = last_drop(&found).map_or(0.0, |last| last.from_ns);
        (is_known && lasting(&found).error_ratio <= MAX_ERROR).then(|| Capacity {
            payload_bits_per_second: lasting(&found).bits_per_second,
            probes_bits_per_second: probe_bits() / seconds,
            is_lower_bound: false,
            spread: self.spread_from(lasting_from_ns),
            spans: if self.delivery.is_timed { found.spans } else { Vec::new() },
        })
    }
    /// Rates from this time on.
    fn spread_from(&self, from_ns: f64) -> Option<Spread> {
        let start = self.pieces.partition_point(|piece| piece.from_ns < from_ns);
        spread(self.pieces.get(start..)?).filter(|_| self.delivery.is_timed)
    }
}

/// Bits of IP packets of the probes that passed the link within `spans`, `way_back_s` before their
/// responses arrived.
fn probe_bits(view: &View<'_>, rise: &Rise<'_>, way_back_s: f64, spans: &[Span]) -> f64 {
    let has_passed = |o: &Observation| {
        let Some(delay_s) = o.value.observed() else { return false };
        let at_ns = o.at.as_nanos().saturating_add(((delay_s - way_back_s).max(0.0) * 1e9) as u64);
        spans.iter().any(|span| (span.start_ns..span.end_ns).contains(&at_ns))
    };
    let bits = |(metric, bytes): (Metric, f64)| {
        let series = view.run.series(&SeriesKey::of(metric));
        series.map_or(0, |s| s.within(rise.phase).filter(has_passed).count()) as f64 * bytes * 8.0
    };
    PROBES.into_iter().map(bits).sum()
}

/// When a link was busy, seen from the receiver.
struct Busy {
    /// In order, without overlap.
    spans: Vec<Span>,
    /// Base delay of a probe's response after it passed the link.
    way_back_s: f64,
}

/// The parts of `spans` before and after `gap`.
fn without(spans: Vec<Span>, gap: Span) -> Vec<Span> {
    let before = |span: Span| Span { end_ns: span.end_ns.min(gap.start_ns), ..span };
    let after = |span: Span| Span { start_ns: span.start_ns.max(gap.end_ns), ..span };
    let parts = spans.into_iter().flat_map(|span| [before(span), after(span)]);
    parts.filter(|part| part.start_ns < part.end_ns).collect()
}

/// The union of the waiting times of all probes, without outages: a link has no rate in them.
fn busy(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<Busy> {
    let one_way = OneWay::new(view, direction);
    // Without one-way delays, both directions share the round trip when both are loaded.
    let round_trip = || {
        let is_alone = rise.phase.kind != PhaseKind::Both;
        is_alone.then_some(OneWay { series: view.source?, base_s: rise.idle.p50.value })
    };
    let one_way = one_way.or_else(round_trip)?;
    let mut waits = one_way.waits(view, direction, rise);
    waits.retain(|wait| wait.seconds() >= QUEUED_S);
    waits.sort_by_key(|wait| wait.start_ns);
    let mut union: Vec<Span> = Vec::new();
    for wait in waits {
        match union.last_mut() {
            Some(last) if wait.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(wait.end_ns),
            _ => union.push(wait),
        }
    }
    let way_back_s = match direction {
        Direction::Up => (rise.idle.p50.value - one_way.base_s).max(0.0),
        Direction::Down => 0.0,
    };
    let spans = outages(view, rise).into_iter().fold(union, without);
    Some(Busy { spans, way_back_s })
}
