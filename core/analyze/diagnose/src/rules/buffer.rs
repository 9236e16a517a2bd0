//! Estimates the buffer size: a delay D at a rate R corresponds to D x R bytes.
use crate::health::is_bloated;
use crate::rules::bound::still_growing;
use crate::sample::pair;
use crate::summarize::line_goodput;
use crate::view::{REPORTED_INCREASE_S, Rise, View};
use alloc::vec::Vec;
use fathom_run::{
    Alternative, BufferSize, Certainty, Conclusion, Finding, Metric, Phase, PhaseKind, Remedy, SeriesKey,
    Statistic, threshold,
};
use fathom_stats::Sample;
use fathom_units::{Direction, ETHERNET_PER_PAYLOAD, IP_PER_PAYLOAD};

/// Percentile that represents a full buffer; the maximum may be an outlier caused by the host.
const FULL: f64 = 0.99;

/// Bytes of IPv4 packets per probe of each kind and direction: 64 bytes of payload for UDP
/// (docs/protocol.md), 56 for an ICMP echo; a SYN of 60, an ACK and a FIN of 52; a request or
/// response of about 110 and its ACK.
const PROBES: [(Metric, f64); 5] = [
    (Metric::UdpRtt, 92.0),
    (Metric::IcmpRtt, 84.0),
    (Metric::TcpConnect, 164.0),
    (Metric::HttpForeign, 162.0),
    (Metric::HttpKept, 162.0),
];

/// Largest queue of a direction.
pub(crate) struct Buffer {
    /// Added delay in seconds.
    pub(crate) delay_s: f64,
    /// Goodput of the load.
    pub(crate) goodput_bits_per_second: f64,
    /// Rate of the probes as IP packets.
    probes_bits_per_second: f64,
    /// Size in bytes of IP packets.
    pub(crate) ip_bytes: f64,
    one_way: bool,
}

impl Buffer {
    /// Rate of the line in bits of IP packets.
    pub(crate) fn line_bits_per_second(&self) -> f64 {
        // Without the ACKs of the other direction, which are at most 2.6 % of a download's rate.
        self.goodput_bits_per_second * IP_PER_PAYLOAD + self.probes_bits_per_second
    }
}

/// Rate of the probes in bits of IP packets per second in each direction: a few percent of a slow
/// uplink. Lost probes are included; they are few.
fn probe_rate(view: &View<'_>, phase: &Phase) -> f64 {
    let bits = |(metric, bytes): (Metric, f64)| view.values(metric, phase).len() as f64 * bytes * 8.0;
    PROBES.into_iter().map(bits).sum::<f64>() / phase.seconds().max(1e-3)
}

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    Direction::BOTH.into_iter().filter_map(|d| finding(view, d)).collect()
}

fn finding(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let rise = view.rise_of(direction)?;
    let buffer = buffer(view, direction)?;
    let growing = still_growing(view, &rise);
    let certainty = match (growing, buffer.one_way) {
        (true, _) => Certainty::Possible,
        (false, true) => Certainty::Certain,
        (false, false) => Certainty::Likely,
    };
    let size = BufferSize {
        phase: rise.phase.kind,
        delay_p99_s: buffer.delay_s,
        goodput_bits_per_second: buffer.goodput_bits_per_second,
        probes_bits_per_second: buffer.probes_bits_per_second,
        rate_bits_per_second: buffer.line_bits_per_second(),
        ip_bytes: buffer.ip_bytes,
        ethernet_bytes: buffer.ip_bytes / IP_PER_PAYLOAD * ETHERNET_PER_PAYLOAD,
        is_lower_bound: growing,
        is_bloated: is_bloated(&rise),
    };
    let source = if buffer.one_way {
        SeriesKey::directed(Metric::OneWayDelay, direction)
    } else {
        view.source?.key.clone()
    };
    let goodput = SeriesKey::directed(Metric::Goodput, direction);
    let mut finding = Finding::new(Conclusion::BufferSize(size), Some(direction), certainty)
        .with_evidence(view.evidence(&source, rise.phase, Statistic::Percentile(0.99)))
        .with_evidence(view.evidence(&goodput, rise.phase, Statistic::Percentile(0.5)))
        .or(Alternative::PacketLimit);
    if !growing {
        finding = finding.or(Alternative::ManagedLargerBuffer);
    }
    if buffer.one_way {
        finding = finding.excluding(Alternative::OtherDirection);
    }
    if is_bloated(&rise) {
        let [min, max] = threshold::shaper_rates(buffer.line_bits_per_second());
        finding.remedies.push(Remedy::Shape {
            direction: Some(direction),
            min_bits_per_second: Some(min),
            max_bits_per_second: Some(max),
        });
    }
    Some(finding)
}

/// `None` if the increase is too small for a full buffer.
pub(crate) fn buffer(view: &View<'_>, direction: Direction) -> Option<Buffer> {
    let rise = view.rise_of(direction).filter(|r| r.p50() >= REPORTED_INCREASE_S)?;
    let goodput_bits_per_second = line_goodput(view.run, direction, rise.phase)?;
    let one_way = one_way_delay(view, direction, &rise);
    // If both directions are loaded, only one-way delays can separate their queues.
    let round_trip = (rise.phase.kind != PhaseKind::Both).then(|| round_trip(view, &rise)).flatten();
    let delay_s = one_way.or(round_trip).filter(|d| *d >= REPORTED_INCREASE_S)?;
    let probes_bits_per_second = probe_rate(view, rise.phase);
    let mut buffer = Buffer {
        delay_s,
        goodput_bits_per_second,
        probes_bits_per_second,
        ip_bytes: 0.0,
        one_way: one_way.is_some(),
    };
    buffer.ip_bytes = delay_s * buffer.line_bits_per_second() / 8.0;
    Some(buffer)
}

fn one_way_delay(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    let idle = view.one_way(direction, view.run.phase(PhaseKind::Idle)?).percentile(0.5)?;
    let full = of_observed(view.one_way(direction, rise.phase).observed())?;
    Some(full - idle.value)
}

fn round_trip(view: &View<'_>, rise: &Rise<'_>) -> Option<f64> {
    let values = view.latency_in(rise.phase).map(|o| pair(o.value));
    let full = of_observed(Sample::new(values).observed())?;
    Some(full - rise.idle.p50.value)
}

/// Uses observed values only: the wait for a lost probe says nothing about the queue's length.
fn of_observed(ascending: &[f64]) -> Option<f64> {
    let index = (FULL * ascending.len() as f64) as usize;
    ascending.get(index.min(ascending.len().checked_sub(1)?)).copied()
}
