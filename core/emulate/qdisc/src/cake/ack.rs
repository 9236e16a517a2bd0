//! The ACK filter: an acknowledgement in the queue that a later one makes needless. Source: "Piece of CAKE" section 3.4.
use super::params::AckFilter;
use crate::store::Store;
use crate::{Packet, PureAck};

/// Where in `store` an ACK lies that its last packet makes needless: the oldest such.
///
/// In the conservative mode there must be two, so that one of them stays. Each packet in between that is of another
/// connection, or no bare ACK, stays and does not matter.
pub(super) fn needless<P: Packet>(store: &Store<P>, filter: AckFilter) -> Option<usize> {
    let last = store.len().checked_sub(1).filter(|last| *last > 0)?;
    let newest = store.last()?.packet.pure_ack()?;
    let mut oldest: Option<(usize, u8)> = None;
    for (place, stored) in store.iter().enumerate().take(last) {
        let Some(ack) = stored.packet.pure_ack().filter(|ack| ack.connection == newest.connection) else {
            continue;
        };
        // A change of these flags is news, and it is told by the ACK before the change and the one after it.
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

/// Everything that `old` acknowledges, `new` does too, and `new` acknowledges more.
fn says_no_more(old: &PureAck, new: &PureAck) -> bool {
    if old.other_options || is_after(old.ack, new.ack) || !is_timed_before(old, new) {
        return false;
    }
    let covered = blocks(old).all(|block| !is_after(old.ack, block.0) && is_covered(block, new));
    covered && (old.ack != new.ack || sacked(new) > sacked(old))
}

/// A new ACK without a timestamp says less than an old one with one.
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
/// One of the new blocks covers it. That the cumulative acknowledgement has passed it is not enough: the sender would not
/// learn that the block came out of order.
fn is_covered(block: (u32, u32), new: &PureAck) -> bool {
    blocks(new).any(|(start, end)| !is_after(start, block.0) && !is_after(block.1, end))
}
fn sacked(ack: &PureAck) -> u64 {
    blocks(ack).map(|(start, end)| u64::from(end.wrapping_sub(start))).sum()
}
/// On the circle of sequence numbers (RFC 9293 section 3.4).
const fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}
