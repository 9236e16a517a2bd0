//! The ACK filter, "Piece of CAKE" section 3.4: finds queued ACKs that a later one makes redundant.
use super::params::AckFilter;
use crate::store::Store;
use crate::{Packet, PureAck};

/// The position in `store` of the oldest ACK that the newest packet makes redundant.
///
/// The conservative mode requires two redundant ACKs, so that one remains. Packets of other
/// connections and packets that are not pure ACKs are skipped.
pub(super) fn needless<P: Packet>(store: &Store<P>, filter: AckFilter) -> Option<usize> {
    let last = store.len().checked_sub(1).filter(|last| *last > 0)?;
    let newest = store.last()?.packet.pure_ack()?;
    let mut oldest: Option<(usize, u8)> = None;
    for (place, stored) in store.iter().enumerate().take(last) {
        let Some(ack) = stored.packet.pure_ack().filter(|ack| ack.connection == newest.connection) else {
            continue;
        };
        // The ACKs before and after a change of these flags convey the change.
        oldest = oldest.filter(|(_, flags)| *flags == ack.ecn_flags);
        if !says_no_more(&ack, &newest) {
            continue;
        }
        if let Some((found, _)) = oldest {
            return Some(found);
        }
        oldest = Some((place, ack.ecn_flags));
    }
    let alone = |(place, flags): &(usize, u8)| *place + 1 == last && *flags == newest.ecn_flags;
    oldest.filter(alone).filter(|_| filter == AckFilter::Aggressive).map(|(place, _)| place)
}

/// True if `new` acknowledges everything that `old` does, and more.
fn says_no_more(old: &PureAck, new: &PureAck) -> bool {
    if old.other_options || is_after(old.ack, new.ack) || !is_timed_before(old, new) {
        return false;
    }
    let covered = blocks(old).all(|block| !is_after(old.ack, block.0) && is_covered(block, new));
    covered && (old.ack != new.ack || sacked(new) > sacked(old))
}

/// True if `new` has the newer timestamp, or `old` has none to lose.
fn is_timed_before(old: &PureAck, new: &PureAck) -> bool {
    match (old.timestamp, new.timestamp) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) => !is_after(old, new),
    }
}

fn blocks(ack: &PureAck) -> impl Iterator<Item = (u32, u32)> + '_ {
    ack.sack.iter().copied().filter(|(start, end)| start != end)
}
/// True if one of the new SACK blocks covers `block`. The cumulative acknowledgment passing it is
/// not enough: the sender would not learn that the block arrived out of order.
fn is_covered(block: (u32, u32), new: &PureAck) -> bool {
    blocks(new).any(|(start, end)| !is_after(start, block.0) && !is_after(block.1, end))
}
fn sacked(ack: &PureAck) -> u64 {
    blocks(ack).map(|(start, end)| u64::from(end.wrapping_sub(start))).sum()
}
/// Compares modulo 2^32 (RFC 9293 section 3.4).
const fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}
