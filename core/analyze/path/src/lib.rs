//! Several captures of one path: the same packets found in each, without synchronised clocks.
//!
//! A packet is known by a hash of what no router changes; where a NAT changed addresses and ports, by what is left of it. Which capture comes first, in each direction, the
//! hop limit says where it falls, and the delays both ways elsewhere. The least delays both ways give the offset of two clocks to half
//! the least round trip between the two points (Paxson 1998, "On calibrating measurements of packet transit times"), and the lower
//! envelope gives their skew (Moon, Skelly and Towsley 1999). What is above the least delay does not depend on the offset: it is exact.
//!
//! Of packets that look all alike (the same ACK again, a reset) it is told whether they arrived, and not how late. A capture of several
//! interfaces that holds each packet twice is therefore to be given without its copies, or as one capture for each interface.
//!
//! Memory is bounded by [`Settings::limit`] packets of all captures together, at about 80 bytes each. If there are more, every second is
//! left out, in all captures the same ones, chosen by a hash of their content (RFC 5475 section 6.2, hash-based selection), and so on: the
//! figures then stand on a sample of whole trajectories.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod analyze;
mod between;
mod capture;
mod clock;
mod collect;
mod fingerprint;
mod hop;
mod known;
mod nat;
mod order;
mod pairing;
mod report;
mod split;
#[cfg(test)]
mod tests;

pub use capture::Settings;
pub use clock::Clock;
pub use collect::Captures;
pub use order::Evidence;
pub use report::{CaptureSummary, Delays, Hop, Loss, NoPath, PathDirection, PathReport, Remark};
