//! The points of a host where packets can queue: how long at most, what was observed, and what can be done.
//!
//! ```text
//!  files under /sys, /proc, /etc      replies of the kernel
//!               \                       /
//!                Tree (path to bytes)          from this host, from a folder, over ssh
//!                      |
//!                    Facts   interfaces, host
//!                      |
//!                    Audit   interfaces with rates; queue points with worst case, observation, severity, remedies
//! ```
//! Worst case: bytes x 8 / rate. A queue counted in packets has two: of full packets, and of super-packets of 64 KiB, which
//! segmentation offload makes. Only the queue in front of the slowest link fills; so queue points are ranked by how much
//! faster packets can arrive than leave, and a long queue elsewhere is dark.
//!
//! Sources: J. Gettys, "Bufferbloat: Dark Buffers in the Internet", 2011; the kernel's sources for every limit, named
//! next to it.
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
