//! Loss episodes: losses of one overflow, to which the sender reacts once.
use crate::losses::{Group, join};
use alloc::vec::Vec;

/// On short paths losses within this time are joined: the minimum retransmission timeout of Linux.
const MIN_GAP_NS: f64 = 200e6;

/// An episode of losses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Episode {
    /// Time of the first loss, ns since the start of the capture.
    pub from_ns: f64,
    /// Time of the last loss.
    pub to_ns: f64,
    /// Number of lost segments.
    pub losses: u32,
    /// Number of the first frame: that of the lost segment, or of the one after the hole.
    pub first_frame: u64,
    /// Number of the last frame.
    pub last_frame: u64,
    /// Maximum bytes in flight before it, of the flow with the loss; 0 if captured after the queue.
    pub outstanding_bytes: u64,
    /// Minimum bytes in flight between this episode and the next.
    pub min_after_bytes: u64,
}

/// Joins groups of losses up to two round trips apart. They belong to the same overflow, because
/// senders react to it after a round trip.
pub(crate) fn episodes(groups: &[Group], round_trip_ns: f64) -> Vec<Episode> {
    let gap = (2.0 * round_trip_ns).max(MIN_GAP_NS);
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|group| group.from);
    let mut joined: Vec<Group> = Vec::new();
    for group in sorted {
        match joined.last_mut().filter(|last| ((group.from - last.to) as f64) < gap) {
            Some(last) => *last = join(*last, group),
            None => joined.push(group),
        }
    }
    joined.iter().map(episode).collect()
}

fn episode(group: &Group) -> Episode {
    Episode {
        from_ns: group.from as f64,
        to_ns: group.to as f64,
        losses: group.count,
        first_frame: group.first_frame,
        last_frame: group.last_frame,
        outstanding_bytes: group.outstanding_bytes,
        min_after_bytes: group.min_after_bytes,
    }
}
