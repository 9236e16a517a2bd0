//! Compares several captures of one path by finding the same packets in each, without synchronized
//! clocks.
//!
//! A packet is identified by a hash of the fields that routers do not change. If a NAT changed
//! addresses and ports, the remaining fields identify the flow. The order of captures in each
//! direction follows from decreasing hop limits, otherwise from the delays in both directions. The
//! minimum delays in both directions give the offset of two clocks with an error of half the
//! minimum round-trip time between the two points (Paxson 1998, "On calibrating measurements of
//! packet transit times"). The lower envelope of the delays gives the clock skew (Moon, Skelly and
//! Towsley 1999). Delays above the minimum do not depend on the offset and are exact.
//!
//! For packets that look identical (a repeated ACK, a reset) the analysis reports whether they
//! arrived, but not their delay. A capture of several interfaces contains each packet twice; remove
//! the copies, or pass it as one capture per interface.
//!
//! Memory is limited to [`Settings::limit`] packets of all captures together, about 80 bytes each.
//! Beyond that, half of the packets are omitted, repeatedly, and the same ones in all captures:
//! they are selected by a hash of their content (RFC 5475 section 6.2, hash-based selection).
//! Results are then based on a sample of complete trajectories.
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
