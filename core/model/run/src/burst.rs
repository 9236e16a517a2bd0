//! Bursts of datagrams that fill the queue of a link.
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// Datagrams of one size: a few far apart, which find the queue empty, then `count` at once, then
/// more far apart, until the queue is empty again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Burst {
    /// Direction in which they were sent.
    pub direction: Direction,
    /// Size of each datagram without these headers.
    pub payload_bytes: u32,
    /// Headers of UDP or ICMP, and IP: 28 bytes with IPv4, 48 with IPv6.
    pub header_bytes: u32,
    /// Number of datagrams before those sent at once.
    pub before: u32,
    /// Number of datagrams sent at once.
    pub count: u32,
    /// Send time of each datagram in nanoseconds, on the sender's clock.
    pub sent_ns: Vec<u64>,
    /// Arrival time of each datagram in nanoseconds, on the receiver's clock; `None` if it did not
    /// arrive.
    pub received_ns: Vec<Option<u64>>,
    /// The queue was empty again when the last one arrived.
    pub is_complete: bool,
    /// Of those sent at once, each so many are one echo request, whose reply arrived at the sender,
    /// and the receiver discards the others. Zero: the receiver recorded all arrivals.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echo_every: u32,
    /// ECN codepoint with which they were sent (RFC 3168): 0 is Not-ECT, 1 ECT(1), 2 ECT(0).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ecn: u32,
    /// Numbers of those that arrived as CE.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ce: Vec<u32>,
}

impl Burst {
    /// Arrival times of the datagrams that were sent at once, of echo requests only if there are
    /// any.
    pub fn arrivals(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        let (from, count) = (self.before as usize, self.count as usize);
        let sent_at_once = self.received_ns.iter().skip(from).take(count);
        sent_at_once.step_by(self.echo_every.max(1) as usize).copied()
    }
    /// Number of the datagrams that were sent at once, of echo requests only if there are any.
    #[must_use]
    pub const fn expected(&self) -> u32 {
        self.count.div_ceil(if self.echo_every == 0 { 1 } else { self.echo_every })
    }
    /// How many of them did not arrive.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.expected().saturating_sub(self.arrivals().flatten().count() as u32)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}
