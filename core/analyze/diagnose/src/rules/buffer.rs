//! How many bytes the buffer holds: what delays a packet by D in front of a line of rate R is D x R.
use crate::rules::bound::still_growing;
use crate::rules::growth::WORTH_TELLING_S;
use crate::rules::noun;
use crate::summarize::line_goodput;
use crate::view::{Rise, View};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, PhaseKind};
use fathom_text::{bytes, milliseconds, rate};
use fathom_units::{Direction, ETHERNET_PER_PAYLOAD, IP_PER_PAYLOAD};

/// The percentile that stands for a full buffer: the largest value may be an outlier of the host.
const FULL: f64 = 0.99;

/// Bytes of IPv4 packets that one probe of each kind takes in each direction: 64 of payload in UDP (docs/protocol.md),
/// 56 in an ICMP echo; a SYN of 60, an ACK and a FIN of 52; a request or response of about 110 and its ACK.
const PROBES: [(Metric, f64); 5] = [
    (Metric::UdpRtt, 92.0),
    (Metric::IcmpRtt, 84.0),
    (Metric::TcpConnect, 164.0),
    (Metric::HttpForeign, 162.0),
    (Metric::HttpKept, 162.0),
];

/// What a direction's queue holds at its fullest.
pub(crate) struct Buffer {
    /// Added delay in seconds.
    pub(crate) delay_s: f64,
    /// Payload rate.
    pub(crate) goodput_bits_per_second: f64,
    /// What the probes add to it, as IP packets.
    probes_bits_per_second: f64,
    /// Bytes of IP packets.
    pub(crate) ip_bytes: f64,
    one_way: bool,
}

impl Buffer {
    /// Rate of the line in bits of IP packets.
    pub(crate) fn line_bits_per_second(&self) -> f64 {
        // Acknowledgements of the other direction are not counted: at most 2.6 % of a download's rate.
        self.goodput_bits_per_second * IP_PER_PAYLOAD + self.probes_bits_per_second
    }
}

/// Bits of IP packets that the probes put on the line each second of a phase, in each direction: a few percent of a slow
/// uplink. Lost ones are few and count as well.
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
    let text = format!(
        "The {}'s queue held {}{} at its fullest: {} of delay in front of a line that delivers {} of payload.",
        noun(direction),
        if growing { "at least " } else { "about " },
        bytes(buffer.ip_bytes),
        milliseconds(buffer.delay_s),
        rate(buffer.goodput_bits_per_second),
    );
    let confidence = match (growing, buffer.one_way) {
        (true, _) => Confidence::Low,
        (false, true) => Confidence::High,
        (false, false) => Confidence::Medium,
    };
    let ethernet = buffer.ip_bytes / IP_PER_PAYLOAD * ETHERNET_PER_PAYLOAD;
    let finding = Finding::new(FindingKind::BufferSize, Some(direction), confidence, text)
        .evidence("added delay, 99th percentile", buffer.delay_s, "s")
        .evidence("goodput, mean or median", buffer.goodput_bits_per_second, "bit/s")
        .evidence("probes beside it", buffer.probes_bits_per_second, "bit/s")
        .evidence("queue as IP packets", buffer.ip_bytes, "bytes")
        .evidence("queue as Ethernet frames", ethernet, "bytes")
        .alternative("A buffer of as many packets as these bytes make, if its limit is in packets.");
    Some(if growing { finding } else { finding.alternative("A larger buffer whose manager stops it there.") })
}

/// `None` where the rise is too small to be a full buffer.
pub(crate) fn buffer(view: &View<'_>, direction: Direction) -> Option<Buffer> {
    let rise = view.rise_of(direction).filter(|r| r.p50() >= WORTH_TELLING_S)?;
    let goodput_bits_per_second = line_goodput(view.run, direction, rise.phase)?;
    let one_way = one_way_delay(view, direction, &rise);
    // Both directions share the round trip when both are loaded; without one-way delays they cannot be told apart.
    let round_trip = (rise.phase.kind != PhaseKind::Both).then(|| round_trip(view, &rise)).flatten();
    let delay_s = one_way.or(round_trip).filter(|d| *d >= WORTH_TELLING_S)?;
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
    let values = view.latency_in(rise.phase).map(|o| crate::view::pair(o.value));
    let full = of_observed(fathom_stats::Sample::new(values).observed())?;
    Some(full - rise.idle.p50.value)
}

/// A lost probe met a full queue, but its wait says nothing of the queue's length: observed values alone count.
fn of_observed(ascending: &[f64]) -> Option<f64> {
    let index = (FULL * ascending.len() as f64) as usize;
    ascending.get(index.min(ascending.len().checked_sub(1)?)).copied()
}
