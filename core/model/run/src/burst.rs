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
    /// Size of each datagram without the headers of UDP and IP.
    pub payload_bytes: u32,
    /// Headers of UDP and IP: 28 bytes with IPv4, 48 with IPv6.
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
}
