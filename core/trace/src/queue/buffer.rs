//! The size of the buffer, from the delay when it was full.
use super::curve::{DelayPoint, between, percentile};
use super::episodes::Episode;
use super::rate::RateSpan;
use alloc::vec::Vec;

/// A buffer before the bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Buffer {
    /// What it holds, in bytes of IP packets; at least that much if `is_full_seen` is false.
    pub ip_bytes: f64,
    /// The same in bytes of Ethernet frames without checksum, as Linux counts them: 14 a packet more.
    pub frame_bytes: f64,
    /// What either may be off.
    pub error_bytes: f64,
    /// Time to send all of it: the delay that it adds when full, ns.
    pub drain_ns: f64,
    /// It was seen to overflow: no estimate from below.
    pub is_full_seen: bool,
    /// How many times it was seen full.
    pub times_full: u32,
}

/// Delays this near to the most count as the same full buffer.
const SAME_RATIO: f64 = 0.95;

/// `packet_bytes` are those of a full packet; `frame_ratio` is how much more a frame has than its IP packet.
pub(crate) fn buffer(
    delays: &[DelayPoint],
    episodes: &[Episode],
    rate: &RateSpan,
    packet_bytes: f64,
    frame_ratio: f64,
) -> Option<Buffer> {
    let most = most(delays)?;
    // The delay is seen when the packet comes out: the most of it follows the drop by itself.
    let peak = |episode: &Episode| {
        let near = between(delays, episode.from_ns - most, episode.to_ns + 2.0 * most);
        near.iter().map(|point| point.most_ns).fold(0.0, f64::max)
    };
    let peaks: Vec<f64> = episodes.iter().map(peak).collect();
    let highest = peaks.iter().copied().fold(0.0, f64::max);
    let mut full: Vec<f64> = peaks.into_iter().filter(|peak| *peak >= SAME_RATIO * highest).collect();
    let times_full = full.len() as u32;
    let scatter = full.iter().copied().fold(0.0, f64::max) - full.iter().copied().fold(f64::INFINITY, f64::min);
    let is_full_seen = times_full > 0 && highest > 0.0;
    // One spike of a busy receiver does not move the median.
    let drain_ns = if is_full_seen { percentile(&mut full, 0.5)? } else { most };
    let ip_bytes = drain_ns * rate.bits_per_second / 8e9;
    let spread = if is_full_seen { scatter } else { 0.0 };
    // A packet finds room for itself or not: the buffer is known to a packet at best.
    let error_bytes =
        packet_bytes + ip_bytes * rate.error_ratio + 0.5 * spread * rate.bits_per_second / 8e9;
    let frame_bytes = ip_bytes * frame_ratio;
    Some(Buffer { ip_bytes, frame_bytes, error_bytes, drain_ns, is_full_seen, times_full })
}

/// The most of all delays but for spikes: the 99.5th percentile of the peaks of each bin, which one bin does not move.
pub(crate) fn most(delays: &[DelayPoint]) -> Option<f64> {
    percentile(&mut delays.iter().map(|point| point.most_ns).collect::<Vec<f64>>(), 0.995)
}
