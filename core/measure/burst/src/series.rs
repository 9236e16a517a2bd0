//! Several queues in a row: a burst that is much faster than the slowest link also waits in front
//! of others, and may be lost there. One that is hardly faster waits for the slowest link only.
use crate::Response;
use crate::response::FULL;
use alloc::vec::Vec;
use fathom_run::FirstBuffer;

/// A burst at most this many times as fast as the link fills the queue of no link that is faster.
const SLOW: f64 = 2.0;
/// A burst waits longer than another by more than this share and time only in front of another
/// link: a host pauses for less.
const LONGER: f64 = 0.05;
const LONGER_S: f64 = 0.010;
/// Least number of packets that the first queue accepts while it is full, for the rate of its link.
const MIN_ACCEPTED: usize = 8;

/// Bursts that fill the queue of the slowest link only.
pub(crate) fn slow<'a>(seen: &[&'a Response]) -> Vec<&'a Response> {
    seen.iter().copied().filter(|response| response.has_queue() && response.pace() <= SLOW).collect()
}

/// Whether slow bursts show a full buffer, and fast ones another queue.
pub(crate) fn is_full(seen: &[&Response], slow: &[&Response]) -> bool {
    let differs = slow.iter().any(|one| fast(seen, one).any(|other| differs(one, other)));
    !slow.is_empty() && differs && slow.iter().all(|response| response.was_full() && response.has_few_early())
}

/// Whether a burst waited longer than another that lost packets as if the buffer were full: those
/// were lost before another link.
pub(crate) fn are_lost_before(seen: &[&Response]) -> bool {
    let full = seen.iter().filter(|response| response.was_full());
    full.clone().any(|one| seen.iter().any(|other| other.ip_bytes == one.ip_bytes && is_longer(other, one)))
}

fn fast<'a>(seen: &[&'a Response], slow: &Response) -> impl Iterator<Item = &'a Response> {
    seen.iter().copied().filter(move |other| other.pace() > SLOW && other.ip_bytes == slow.ip_bytes)
}

fn differs(slow: &Response, fast: &Response) -> bool {
    !fast.has_few_early() || is_longer(fast, slow) || fast.was_full() && is_longer(slow, fast)
}

fn is_longer(one: &Response, other: &Response) -> bool {
    one.longest_s > (1.0 + LONGER) * other.longest_s + LONGER_S
}

/// The first buffer, if a fast burst filled it: then it accepts as many packets as its link takes.
pub(crate) fn first(seen: &[&Response], slow: &[&Response], overhead_bytes: f64) -> Option<FirstBuffer> {
    let full = |one: &&Response| {
        fast(seen, one).filter_map(|other| first_of(other, one.longest_s, overhead_bytes)).last()
    };
    slow.iter().find_map(full)
}

/// From the losses while the buffer of the slowest link had room.
fn first_of(fast: &Response, full_s: f64, overhead_bytes: f64) -> Option<FirstBuffer> {
    let mut early = fast.lost.iter().filter(|lost| lost.wait_s < FULL * full_s).map(|lost| lost.index);
    let (first, last) = (early.next()?, early.next_back()?);
    let accepted = fast.passed.iter().filter(|passed| (first..last).contains(&passed.index)).count();
    let packet_s = (fast.sent_s[last] - fast.sent_s[first]) / accepted as f64;
    let packet_bytes = fast.ip_bytes + overhead_bytes;
    (accepted >= MIN_ACCEPTED && packet_s < fast.packet_s / SLOW).then(|| FirstBuffer {
        rate_bits_per_second: 8.0 * packet_bytes / packet_s,
        packets: first as f64 - fast.sent_s[first] / packet_s,
        packet_bytes,
    })
}
