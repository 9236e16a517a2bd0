//! Estimates the size of the buffer from the delay when it was full.
use crate::aqm::{Fingerprint, Isolation, MOSTLY_FULL, Management};
use crate::delay_curve::{DelayPoint, between};
use crate::episodes::Episode;
use alloc::vec::Vec;
use fathom_capacity::RateSpan;
use fathom_stats::{percentile, percentile_of_sorted};

/// Buffer in front of the bottleneck link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Buffer {
    /// Size in bytes of IP packets; a lower bound if `is_full_seen` is false.
    pub ip_bytes: f64,
    /// Size in bytes of Ethernet frames without checksum, as Linux counts them: 14 more per packet.
    pub frame_bytes: f64,
    /// Error of both sizes.
    pub error_bytes: f64,
    /// Time to drain the full buffer, ns: the delay that it adds.
    pub drain_ns: f64,
    /// It was seen to overflow, so the size is not a lower bound.
    pub is_full_seen: bool,
    /// Number of times that it was seen full.
    pub times_full: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    pub(crate) delays: &'a [DelayPoint],
    pub(crate) episodes: &'a [Episode],
    /// Contains the delays of packets next to lost ones.
    pub(crate) fingerprint: &'a Fingerprint,
    pub(crate) rate: &'a RateSpan,
    pub(crate) packet_bytes: f64,
    pub(crate) error_ns: f64,
    /// Delays include the packet's own serialization time: the capture is at the receiver, or
    /// before the queue. Otherwise they may not, because Linux captures a packet when the queue
    /// passes it to the interface.
    pub(crate) is_all_sent: bool,
}

/// Delay of a full buffer, its scatter, and the number of times it was seen full.
struct Full {
    drain_ns: f64,
    scatter_ns: f64,
    times: u32,
}

pub(crate) fn buffer(filling: &Filling<'_>, frame_ratio: f64) -> Option<Buffer> {
    let bytes_per_ns = filling.rate.bits_per_second / 8e9;
    let packet_ns = filling.packet_bytes / bytes_per_ns.max(f64::MIN_POSITIVE);
    let fingerprint = filling.fingerprint;
    let seen = match fingerprint.management {
        // A managed queue drops before the buffer is full, so its size stays unknown.
        Some(Management::Codel | Management::RandomEarly) => return None,
        _ if fingerprint.isolation == Some(Isolation::PerFlow) => return None,
        Some(Management::TailDrop) => at_losses(filling, packet_ns),
        None if fingerprint.dated < MIN_DATED => at_peaks(filling),
        Some(Management::NoneSeen) | None => None,
    };
    let full = match seen {
        Some(full) => full,
        // A lower bound from a lasting delay; a host may have delayed a single packet.
        None => Full { drain_ns: lasting(filling)?, scatter_ns: 0.0, times: 0 },
    };
    // A drop means that one more packet did not fit, while the delay of a packet that did fit
    // includes the rest of the packet on the link. Each amounts to half a packet on average, so
    // they cancel out. Two facts are unknown: whether the packet on the link still occupies the
    // buffer (it does in a shaper's queue, not in an interface's), and after the queue, whether
    // delays include the serialization time. Half a packet is added for each.
    let uncertain_bytes = if filling.is_all_sent { 0.5 } else { 1.0 } * filling.packet_bytes;
    let ip_bytes = full.drain_ns * bytes_per_ns + if full.times > 0 { uncertain_bytes } else { 0.0 };
    let delay_error_ns = 0.5 * full.scatter_ns + filling.error_ns;
    // A buffer size is known to one packet at best.
    let error_bytes = filling.packet_bytes
        + uncertain_bytes
        + ip_bytes * filling.rate.error_ratio
        + delay_error_ns * bytes_per_ns;
    let buffer = Buffer {
        ip_bytes,
        frame_bytes: ip_bytes * frame_ratio,
        error_bytes,
        drain_ns: full.drain_ns,
        is_full_seen: full.times > 0,
        times_full: full.times,
    };
    // Estimates with an error above their value are not reported.
    (error_bytes < ip_bytes).then_some(buffer)
}

/// Delay exceeded for 5 % of the time, or that of most losses if it is shorter: packets that are
/// repaired seem to wait longer than the buffer allows.
fn lasting(filling: &Filling<'_>) -> Option<f64> {
    let mut means: Vec<f64> = filling.delays.iter().map(|point| point.mean_ns).collect();
    let at_loss = filling.fingerprint.at_loss_ns.filter(|_| filling.fingerprint.dated >= MIN_DATED);
    Some(percentile(&mut means, 0.95)?.min(at_loss.map_or(f64::INFINITY, |at| at[1])))
}

/// Delays at losses within this ratio, or within three packets, are of the same full buffer.
const TIGHT_RATIO: f64 = 0.1;
/// Fewer losses with a known delay are no sample.
const MIN_DATED: u64 = 3;

/// Delay next to lost packets: even if some were lost elsewhere, most were lost at a full buffer.
fn at_losses(filling: &Filling<'_>, packet_ns: f64) -> Option<Full> {
    let fingerprint = filling.fingerprint;
    let [low, middle, high] = fingerprint.at_loss_ns.filter(|_| fingerprint.dated >= MIN_DATED)?;
    let is_tight = high - low <= (TIGHT_RATIO * middle).max(3.0 * packet_ns + filling.error_ns);
    let scatter_ns = if is_tight { high - low } else { TIGHT_RATIO * middle };
    let times = filling.episodes.len() as u32;
    let is_full = is_tight || fingerprint.at_full_ratio >= MOSTLY_FULL;
    is_full.then_some(Full { drain_ns: middle, scatter_ns, times })
}

/// Minimum share of peaks at the same full buffer; other losses occur at varying delays.
const MIN_SHARE: f64 = 0.5;
/// Minimum number of such peaks: a managed queue may reach the same length twice by chance.
const MIN_PEAKS: usize = 3;

/// Maximum delay around each episode: the value near which most lie. Single spikes do not matter.
fn at_peaks(filling: &Filling<'_>) -> Option<Full> {
    let most = most(filling.delays)?;
    // A delay is observed when the packet leaves, so the maximum follows the drop by that delay.
    let peak = |episode: &Episode| {
        let near = between(filling.delays, episode.from_ns - most, episode.to_ns + 2.0 * most);
        near.iter().map(|point| point.max_ns).reduce(f64::max)
    };
    let mut peaks: Vec<f64> = filling.episodes.iter().filter_map(peak).collect();
    peaks.sort_by(f64::total_cmp);
    let full = densest(&peaks);
    if full.len() < MIN_PEAKS || (full.len() as f64) < MIN_SHARE * peaks.len() as f64 {
        return None;
    }
    let drain_ns = percentile_of_sorted(full, 0.5)?;
    Some(Full { drain_ns, scatter_ns: full.last()? - full.first()?, times: full.len() as u32 })
}

/// Delays within this ratio of the maximum count as the same full buffer.
const SAME_RATIO: f64 = 0.95;

/// The largest group of values within [`SAME_RATIO`] of its maximum; of equal ones, the higher.
fn densest(values: &[f64]) -> &[f64] {
    let (mut first, mut best) = (0, 0..0);
    for (last, greatest) in values.iter().enumerate() {
        while values.get(first).is_some_and(|least| *least < SAME_RATIO * greatest) {
            first += 1;
        }
        if last + 1 - first >= best.len() {
            best = first..last + 1;
        }
    }
    values.get(best).unwrap_or(&[])
}

/// Maximum delay without spikes: the 99.5th percentile of the bins' maxima.
pub(crate) fn most(delays: &[DelayPoint]) -> Option<f64> {
    percentile(&mut delays.iter().map(|point| point.max_ns).collect::<Vec<f64>>(), 0.995)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Management;

    /// Losses at 20 ms of each second; returns the buffer estimated from the peak delay of each.
    fn bytes_and_times(
        peaks_ms: &[f64],
        at_loss_ns: Option<[f64; 3]>,
        at_full_ratio: f64,
        error_ns: f64,
    ) -> Option<(f64, u32)> {
        let number = |place: usize| place as f64 * 1e9;
        let delay = |(place, peak): (usize, &f64)| {
            let max_ns = peak * 1e6;
            DelayPoint { at_ns: number(place) + 20e6, min_ns: 1e6, mean_ns: 0.9 * max_ns, max_ns }
        };
        let episode = |place: usize| Episode {
            from_ns: number(place) + 19e6,
            to_ns: number(place) + 21e6,
            losses: 10,
            first_frame: 0,
            last_frame: 0,
            outstanding_bytes: 0,
            min_after_bytes: 0,
        };
        let fingerprint = Fingerprint {
            management: (at_full_ratio >= MOSTLY_FULL).then_some(Management::TailDrop),
            isolation: None,
            marks: 0,
            confidence: 1.0,
            losses: 1000,
            dated: if at_loss_ns.is_some() { 1000 } else { 0 },
            at_full_ratio,
            at_loss_ns,
            spacing: None,
            sparse_ratio: None,
            codel_conformance_ratio: None,
        };
        let filling = Filling {
            delays: &peaks_ms.iter().enumerate().map(delay).collect::<Vec<_>>(),
            episodes: &(0..peaks_ms.len()).map(episode).collect::<Vec<_>>(),
            fingerprint: &fingerprint,
            rate: &RateSpan { from_ns: 0.0, to_ns: 9e9, bits_per_second: 8e6, error_ratio: 0.0 },
            packet_bytes: 1000.0,
            error_ns,
            is_all_sent: true,
        };
        let buffer = buffer(&filling, 1.0)?;
        Some((buffer.drain_ns / 1e6, buffer.times_full))
    }

    #[test]
    fn a_buffer_within_its_error_is_not_reported() {
        let peaks = [3.0, 2.9, 3.0];
        assert_eq!(bytes_and_times(&peaks, None, 0.0, 1e6), Some((3.0, 3)));
        assert_eq!(bytes_and_times(&peaks, None, 0.0, 3e6), None);
    }

    /// A managed queue drops long before its buffer is full.
    #[test]
    fn a_managed_queue_shows_no_buffer() {
        let managed = |management, isolation| {
            let point = |number: u32| DelayPoint {
                at_ns: f64::from(number) * 1e7,
                min_ns: 18e6,
                mean_ns: 20e6,
                max_ns: 22e6,
            };
            let fingerprint = Fingerprint {
                management,
                isolation,
                marks: 0,
                confidence: 0.9,
                losses: 100,
                dated: 100,
                at_full_ratio: 1.0,
                at_loss_ns: Some([20e6, 20.5e6, 21e6]),
                spacing: None,
                sparse_ratio: None,
                codel_conformance_ratio: None,
            };
            let filling = Filling {
                delays: &(0..1000).map(point).collect::<Vec<_>>(),
                episodes: &[],
                fingerprint: &fingerprint,
                rate: &RateSpan { from_ns: 0.0, to_ns: 1e10, bits_per_second: 1e7, error_ratio: 0.0 },
                packet_bytes: 1500.0,
                error_ns: 0.0,
                is_all_sent: true,
            };
            buffer(&filling, 1.0).map(|buffer| buffer.is_full_seen)
        };
        assert_eq!(managed(Some(Management::Codel), None), None);
        assert_eq!(managed(Some(Management::RandomEarly), None), None);
        assert_eq!(managed(Some(Management::TailDrop), Some(Isolation::PerFlow)), None);
        assert_eq!(managed(Some(Management::TailDrop), None), Some(false));
        assert_eq!(managed(None, None), Some(false));
    }

    #[test]
    fn the_buffer_is_the_queue_at_most_losses() {
        let spike = [187.0, 206.0, 255.0, 178.0, 194.0, 188.0];
        let (wide, tight) = (Some([140e6, 180e6, 198e6]), Some([175e6, 180e6, 185e6]));
        let rows = [
            (&[200.0, 198.0, 199.0, 100.0][..], None, 0.0, (199.0, 3)),
            // The same peak twice may be chance.
            (&[200.0, 198.0, 100.0][..], None, 0.0, (180.0, 0)),
            // A single spike of a host has no effect.
            (&spike, None, 0.0, (188.0, 3)),
            // Losses at varying delays are no full buffer.
            (&spike, wide, 0.3, (180.0, 0)),
            // No two losses are of the same buffer: the lower bound from a lasting delay applies.
            (&[200.0, 150.0, 110.0, 80.0][..], None, 0.0, (180.0, 0)),
            // Most losses with a known delay determine the size, even if some were lost elsewhere.
            (&spike, wide, 0.7, (180.0, 6)),
            (&spike, tight, 1.0, (180.0, 6)),
        ];
        for (peaks, at_loss, at_full_ratio, expected) in rows {
            assert_eq!(
                bytes_and_times(peaks, at_loss, at_full_ratio, 0.0),
                Some(expected),
                "{peaks:?} {at_loss:?} {at_full_ratio}"
            );
        }
    }
}
