//! What several bursts of different sizes show together.
use crate::Response;
use crate::rule::rule as rule_of;
use crate::series;
use alloc::vec::Vec;
use fathom_run::{BufferLimit, Estimate, FirstBuffer, ManagementRule};
use fathom_stats::midpoint_median;

/// Largest relative difference between sizes of what the buffer counts.
const SAME: f64 = 0.12;
/// A larger difference in packets and in bytes is not that of one limit.
const DIFFERENT: f64 = 0.3;
/// Most bytes that a link adds to a packet: those of ATM, in cells, for a packet of 230 bytes.
const MOST_OVERHEAD_BYTES: f64 = 100.0;
/// Assumed overhead where one size alone was seen: that of Ethernet.
const ETHERNET_BYTES: f64 = 14.0;
/// A burst that is sent so many times as fast as the link takes it has hardly others in it.
const FAST: f64 = 3.0;
/// Bursts of one pace differ by less than this factor.
const ALIKE: f64 = 0.8;
/// Fewer packets are no bucket: one passes any link at once.
const MIN_BUCKET_PACKETS: f64 = 2.5;

/// A link and the buffer in front of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// Rate of the link with its own headers, in bit/s.
    pub rate_bits_per_second: Estimate,
    /// Bytes that the link adds to each IP packet, assumed if bursts had one size.
    pub overhead_bytes: f64,
    /// Longest wait in seconds.
    pub delay_s: f64,
    /// Bytes in the full buffer, link headers included; those seen, if it was never full.
    pub bytes: Estimate,
    /// Packets in the full buffer, if that is what it counts.
    pub packets: Option<Estimate>,
    /// The buffer may be larger.
    pub is_lower_bound: bool,
    /// What it counts; `None` if that did not show.
    pub limit: Option<BufferLimit>,
    /// How it drops; `None` if that did not show.
    pub rule: Option<ManagementRule>,
    /// Packets were lost while there was room: by an AQM whose rule may not show, or by the link.
    pub drops_early: bool,
    /// Bytes that pass at once after a pause: the bucket of a shaper or a policer.
    pub bucket_bytes: Option<f64>,
    /// Of a faster link before this one, whose buffer the bursts filled as well.
    pub first: Option<FirstBuffer>,
}

/// The link and buffer that bursts in one direction show; `None` if none exceeded the link.
#[must_use]
pub fn estimate(responses: &[Response]) -> Option<Buffer> {
    let seen = exceeded_link(responses);
    let (rule, slow) = (rule_of(&seen), series::slow(&seen));
    let is_open = matches!(rule, None | Some(ManagementRule::TailDrop | ManagementRule::Pie));
    if is_open && series::is_full(&seen, &slow) {
        let buffer = with_rule(responses, &seen, &slow, rule_of(&slow))?;
        let first = series::first(&seen, &slow, buffer.overhead_bytes);
        return Some(Buffer { first, ..buffer });
    }
    match rule {
        None if !slow.is_empty() => {
            // The law of CoDel shows behind another queue.
            let codel = rule_of(&slow).filter(|found| *found == ManagementRule::Codel);
            with_rule(responses, &seen, &slow, codel)
        }
        Some(ManagementRule::TailDrop) if series::are_lost_before(&seen) => {
            let has_room = |response: &&Response| !response.was_full();
            let room: Vec<&Response> = seen.iter().copied().filter(has_room).collect();
            with_rule(responses, &seen, if slow.is_empty() { &room } else { &slow }, None)
        }
        _ => with_rule(responses, &seen, &seen, rule),
    }
}

/// Likewise of a queue that is known to drop only when it is full.
#[must_use]
pub fn estimate_tail_drop(responses: &[Response]) -> Option<Buffer> {
    let seen = exceeded_link(responses);
    with_rule(responses, &seen, &seen, Some(ManagementRule::TailDrop))
}

fn exceeded_link(responses: &[Response]) -> Vec<&Response> {
    responses.iter().filter(|response| response.exceeded_link()).collect()
}

/// `seen` are those of `responses` that exceeded the link, and `used` those that fill the buffer.
fn with_rule(
    responses: &[Response],
    seen: &[&Response],
    used: &[&Response],
    rule: Option<ManagementRule>,
) -> Option<Buffer> {
    if rule == Some(ManagementRule::Policer) {
        // A receiver that limits its replies looks like a policer.
        return policer(seen).filter(|_| !seen.iter().any(|response| response.is_echo));
    }
    let (rate, overhead_bytes) = rate(seen)?;
    let all: Vec<Held> =
        used.iter().map(|response| Held::new(response, overhead_bytes, rate.value)).collect();
    let most = |of: fn(&Held) -> f64| all.iter().map(of).fold(0.0, f64::max);
    let bucket = all.iter().map(|held| held.response.bucket_packets() * held.frame).min_by(f64::total_cmp);
    let buffer = Buffer {
        rate_bits_per_second: rate,
        overhead_bytes,
        delay_s: most(|held| held.response.longest_s),
        bytes: Estimate { value: most(|held| held.bytes()), error: 0.0 },
        packets: None,
        is_lower_bound: true,
        limit: None,
        rule,
        drops_early: seen.iter().any(|response| !response.has_few_early()),
        bucket_bytes: bucket.filter(|bytes| *bytes >= MIN_BUCKET_PACKETS * most(|held| held.frame)),
        first: None,
    };
    let has_size = rule.is_some() || used.iter().all(|response| response.has_few_early());
    let was_full = |held: &&Held| match rule {
        _ if held.response.is_limited => held.response.waited_no_longer(responses),
        Some(ManagementRule::TailDrop) | None => held.response.was_full(),
        Some(ManagementRule::HeadDrop) => !held.response.lost.is_empty(),
        Some(_) => false,
    };
    let fast = fast(used);
    let is_fast = |held: &&Held| held.response.pace() >= fast;
    let full: Vec<&Held> = all.iter().filter(was_full).filter(is_fast).filter(|_| has_size).collect();
    let buffer = sized(buffer, &full);
    // A host that paused makes some packets wait longer than a full buffer does.
    let full_s = 8.0 * buffer.bytes.value / buffer.rate_bits_per_second.value;
    let delay_s = if buffer.is_lower_bound { buffer.delay_s } else { buffer.delay_s.min(full_s) };
    Some(Buffer { delay_s, ..buffer })
}

/// What a burst held when the queue was longest.
#[derive(Clone, Copy)]
struct Held<'a> {
    response: &'a Response,
    /// Bytes of a packet with the headers of the link.
    frame: f64,
    /// Most packets in the queue.
    packets: f64,
}

impl<'a> Held<'a> {
    fn new(response: &'a Response, overhead_bytes: f64, bits_per_second: f64) -> Self {
        let frame = response.ip_bytes + overhead_bytes;
        // Where the receiver limits its replies, few of them show the time of a packet.
        let limited_s = response.is_limited.then_some(8.0 * frame / bits_per_second);
        Held { response, frame, packets: response.longest_s / limited_s.unwrap_or(response.packet_s) }
    }
    fn packets(&self) -> f64 {
        self.packets
    }
    fn bytes(&self) -> f64 {
        self.packets() * self.frame
    }
}

/// The size of a buffer that these bursts filled; without any, what was in it.
fn sized(buffer: Buffer, full: &[&Held<'_>]) -> Buffer {
    let by_size = |a: &&&Held<'_>, b: &&&Held<'_>| a.frame.total_cmp(&b.frame);
    let (Some(smallest), Some(largest)) = (full.iter().min_by(by_size), full.iter().max_by(by_size)) else {
        return buffer;
    };
    let (in_packets, in_bytes) = (spread(full, |held| held.packets()), spread(full, |held| held.bytes()));
    // A buffer that holds neither as many packets nor as many bytes was not full.
    if in_packets.zip(in_bytes).is_some_and(|(packets, bytes)| packets.min(bytes) > DIFFERENT) {
        return Buffer { rule: None, ..buffer };
    }
    let limit = match (in_packets, in_bytes) {
        (Some(packets), Some(bytes)) if packets < SAME && bytes >= SAME => Some(BufferLimit::Packets),
        (Some(packets), Some(bytes)) if bytes < SAME && packets >= SAME => Some(BufferLimit::Bytes),
        _ => None,
    };
    // Packets of others take the least room among the smallest.
    if limit == Some(BufferLimit::Packets) {
        let (value, error) = (smallest.packets(), 0.5 + in_packets.unwrap_or(0.0) * smallest.packets());
        let bytes = Estimate { value: value * largest.frame, error: error * largest.frame };
        return Buffer {
            bytes,
            packets: Some(Estimate { value, error }),
            limit,
            is_lower_bound: false,
            ..buffer
        };
    }
    // A buffer that counts bytes has room for less than one packet more.
    let half = smallest.frame / 2.0;
    let value = smallest.bytes() + half;
    let bytes = Estimate { value, error: half + in_bytes.unwrap_or(0.0) * value };
    Buffer { bytes, limit, is_lower_bound: false, ..buffer }
}

/// A policer, from the burst that was sent for the longest time.
fn policer(seen: &[&Response]) -> Option<Buffer> {
    let longest = seen.iter().max_by(|a, b| a.sending_s().total_cmp(&b.sending_s()))?;
    let (packet_s, bucket_packets) = longest.policing()?;
    let frame = longest.ip_bytes + ETHERNET_BYTES;
    let value = 8.0 * frame / packet_s;
    Some(Buffer {
        // It counts whole packets.
        rate_bits_per_second: Estimate { value, error: value * packet_s / longest.sending_s() },
        overhead_bytes: ETHERNET_BYTES,
        delay_s: longest.longest_s,
        bytes: Estimate { value: 0.0, error: 0.0 },
        packets: None,
        is_lower_bound: false,
        limit: None,
        rule: Some(ManagementRule::Policer),
        drops_early: false,
        bucket_bytes: Some(bucket_packets * frame),
        first: None,
    })
}

/// Largest relative difference from the median; `None` if all bursts had about one size.
fn spread(full: &[&Held<'_>], of: fn(&Held<'_>) -> f64) -> Option<f64> {
    let frames = || full.iter().map(|held| held.frame);
    if frames().fold(0.0, f64::max) < 2.0 * frames().fold(f64::INFINITY, f64::min) {
        return None;
    }
    let middle = midpoint_median(full.iter().map(|held| of(held)))?;
    Some(full.iter().map(|held| libm::fabs(of(held) / middle - 1.0)).fold(0.0, f64::max))
}

/// Pace of bursts that are fast enough: packets of others come between those of a slow one.
fn fast(seen: &[&Response]) -> f64 {
    ALIKE * seen.iter().map(|response| response.pace()).fold(0.0, f64::max).min(FAST)
}

/// Rate of the link and the bytes that it adds to each packet: its time for a packet grows with the
/// size of the packet.
fn rate(seen: &[&Response]) -> Option<(Estimate, f64)> {
    let fast = fast(seen);
    let has_all = seen.iter().any(|response| !response.is_limited && response.pace() >= fast);
    let points = seen.iter().filter(|response| response.pace() >= fast && !(has_all && response.is_limited));
    let points: Vec<(f64, f64, usize)> =
        points.map(|response| (response.ip_bytes, response.packet_s, response.count())).collect();
    let largest = points.iter().map(|point| point.0).max_by(f64::total_cmp)?;
    let fitted = line(&points).map(|(slope, base)| base / slope);
    let overhead =
        fitted.filter(|bytes| (0.0..=MOST_OVERHEAD_BYTES).contains(bytes)).unwrap_or(ETHERNET_BYTES);
    // What the bucket of a shaper lets pass may have waited for another link.
    let of_largest = || points.iter().filter(|point| point.0 == largest);
    let most = of_largest().map(|point| point.2).max()?;
    let longest = of_largest().filter(|point| 2 * point.2 >= most);
    let rates: Vec<f64> = longest.map(|point| 8.0 * (point.0 + overhead) / point.1).collect();
    let value = midpoint_median(rates.iter().copied())?;
    let error = rates.iter().map(|rate| libm::fabs(rate - value)).fold(0.0, f64::max);
    Some((Estimate { value, error }, overhead))
}

/// Slope and value at zero of the line through points by least squares; `None` if they have one
/// abscissa or fall.
fn line(points: &[(f64, f64, usize)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64, usize)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (mut above, mut below) = (0.0, 0.0);
    for (px, py, _) in points {
        above += (px - x) * (py - y);
        below += (px - x) * (px - x);
    }
    (below > 0.0 && above > 0.0).then(|| (above / below, y - x * above / below))
}
