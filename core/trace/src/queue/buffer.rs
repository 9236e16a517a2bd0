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
/// Delays at losses that lie within this of their median, or within three packets, met the same full buffer.
const TIGHT_RATIO: f64 = 0.1;
/// Fewer losses with a delay are no sample.
const LEAST_DATED: usize = 3;

/// What the estimate is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    pub(crate) delays: &'a [DelayPoint],
    pub(crate) episodes: &'a [Episode],
    /// 10th, 50th and 90th percentile of the delay of the neighbours of lost packets, ns, and of how many.
    pub(crate) at_loss: Option<([f64; 3], usize)>,
    pub(crate) rate: &'a RateSpan,
    /// Bytes of a full packet.
    pub(crate) packet_bytes: f64,
    /// What delays may be off, ns.
    pub(crate) error_ns: f64,
    /// The capture is at the receiver, or before the queue: what it tells has the packet's own time on the link in it. Elsewhere it may
    /// show a packet before that, as Linux does when the queue gives it to the interface.
    pub(crate) is_all_sent: bool,
}

/// The delay of a full buffer, how far that scatters, and how often it was seen full.
struct Full {
    drain_ns: f64,
    scatter_ns: f64,
    times: u32,
}

pub(crate) fn buffer(filling: &Filling<'_>, frame_ratio: f64) -> Option<Buffer> {
    let bytes_per_ns = filling.rate.bits_per_second / 8e9;
    let packet_ns = filling.packet_bytes / bytes_per_ns.max(f64::MIN_POSITIVE);
    let seen = at_losses(filling, packet_ns).or_else(|| at_peaks(filling));
    let full = match seen {
        Some(full) => full,
        // It holds at least what waited for some time; what a single packet waited may be a host's.
        None => Full { drain_ns: lasting(filling.delays)?, scatter_ns: 0.0, times: 0 },
    };
    // A drop tells that a packet more does not fit, and the delay of what did fit has what was left of the packet on the link in it: each
    // is half a packet on average, and they cancel out. Whether the packet on the link still counts is not told (in a shaper's queue it
    // does, in an interface's not), nor behind the queue whether a packet's own time on the link is in its delay: half of each.
    let untold = if filling.is_all_sent { 0.5 } else { 1.0 } * filling.packet_bytes;
    let ip_bytes = full.drain_ns * bytes_per_ns + if full.times > 0 { untold } else { 0.0 };
    let delay_error_ns = 0.5 * full.scatter_ns + filling.error_ns;
    Some(Buffer {
        ip_bytes,
        frame_bytes: ip_bytes * frame_ratio,
        // A packet finds room for itself or not: the buffer is known to a packet at best.
        error_bytes: filling.packet_bytes
            + untold
            + ip_bytes * filling.rate.error_ratio
            + delay_error_ns * bytes_per_ns,
        drain_ns: full.drain_ns,
        is_full_seen: full.times > 0,
        times_full: full.times,
    })
}

/// What was waited for a twentieth of the time.
fn lasting(delays: &[DelayPoint]) -> Option<f64> {
    percentile(&mut delays.iter().map(|point| point.mean_ns).collect::<Vec<f64>>(), 0.95)
}

/// What those waited that found room next to those that found none.
fn at_losses(filling: &Filling<'_>, packet_ns: f64) -> Option<Full> {
    let ([low, middle, high], _) = filling.at_loss.filter(|(_, count)| *count >= LEAST_DATED)?;
    let is_tight = high - low <= (TIGHT_RATIO * middle).max(3.0 * packet_ns + filling.error_ns);
    let times = filling.episodes.len() as u32;
    is_tight.then_some(Full { drain_ns: middle, scatter_ns: high - low, times })
}

/// The most that was waited around each episode. One spike of a busy host does not move the median.
fn at_peaks(filling: &Filling<'_>) -> Option<Full> {
    let most = most(filling.delays)?;
    // The delay is seen when the packet comes out: the most of it follows the drop by itself.
    let peak = |episode: &Episode| {
        let near = between(filling.delays, episode.from_ns - most, episode.to_ns + 2.0 * most);
        near.iter().map(|point| point.most_ns).fold(0.0, f64::max)
    };
    let peaks: Vec<f64> = filling.episodes.iter().map(peak).collect();
    let highest = peaks.iter().copied().fold(0.0, f64::max);
    let mut full: Vec<f64> = peaks.into_iter().filter(|one| *one >= SAME_RATIO * highest).collect();
    let drain_ns = percentile(&mut full, 0.5)?;
    let scatter_ns = highest - full.first().copied()?;
    Some(Full { drain_ns, scatter_ns, times: full.len() as u32 })
}

/// The most of all delays but for spikes: the 99.5th percentile of the peaks of each bin, which one bin does not move.
pub(crate) fn most(delays: &[DelayPoint]) -> Option<f64> {
    percentile(&mut delays.iter().map(|point| point.most_ns).collect::<Vec<f64>>(), 0.995)
}
