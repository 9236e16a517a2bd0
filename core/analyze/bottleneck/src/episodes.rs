//! Loss episodes: losses of one overflow, which the sender answers once.
use crate::losses::{Group, join};
use alloc::vec::Vec;

/// A short path's losses are joined over that time all the same: the least retransmission timer of Linux.
const MIN_GAP_NS: f64 = 200e6;

/// Losses that belong together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Episode {
    /// First loss, ns since the capture began.
    pub from_ns: f64,
    /// Last loss.
    pub to_ns: f64,
    /// Segments lost.
    pub losses: u32,
    /// Frame of the first (of the segment lost, or of the one after the hole).
    pub first_frame: u64,
    /// Frame of the last.
    pub last_frame: u64,
    /// Most bytes that were outstanding before, of the flow that lost; 0 if the capture point is behind the queue.
    pub outstanding_bytes: u64,
    /// Fewest bytes outstanding after it, until the next.
    pub min_after_bytes: u64,
}

/// Joins groups of losses that are no farther apart than two round trips: what follows sooner is of the same overflow, as its end
/// takes a round trip to be felt.
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
