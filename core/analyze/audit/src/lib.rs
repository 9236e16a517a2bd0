//! Audit of a host: the points where packets can queue, with their worst-case delay, observed
//! backlog and remedies.
//!
//! ```text
//!  files under /sys, /proc, /etc      replies of the kernel
//!               \                       /
//!                Tree (path to bytes)          from this host, from a folder, over ssh
//!                      |
//!                    Facts   interfaces, host
//!                      |
//!                    Audit   interfaces with rates; queue points with worst case,
//!                            observation, severity, remedies
//! ```
//! The worst case is bytes x 8 / rate. A queue with a packet limit has two: with full-size packets,
//! and with the super-packets of 64 KiB that segmentation offload creates. Only the queue in front
//! of the slowest link fills. Queue points are therefore ranked by the ratio of arrival to
//! departure rate, and a long queue elsewhere is called dark.
//!
//! Sources: J. Gettys, "Bufferbloat: Dark Buffers in the Internet", 2011; for each limit the kernel
//! source named next to it.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod audited;
mod facts;
mod listing;
mod observed;
mod quote;
mod rates;
mod rule;
mod tree;

pub use audited::{AuditedQueue, Severity};
pub use facts::{Facts, Host, Interface};
pub use listing::{SCRIPT_END, listing, script};
pub use observed::Observed;
pub use rates::KnownRates;
pub use rule::{Audit, audit};
pub use tree::{PATHS, SAMPLED, Tree};
