//! The dark buffers of a host: where packets may wait, how long at worst, and what was seen.
//!
//! ```text
//!  files under /sys, /proc, /etc      replies of the kernel
//!               \                       /
//!                Tree (path to bytes)          from this host, from a folder, over ssh
//!                      |
//!                    Facts   interfaces, host
//!                      |
//!                    Place   worst case, observed, rank, fix, undo
//! ```
//! Worst case: bytes x 8 / rate. A queue counted in packets has two: of full packets, and of super-packets of 64 KiB, which
//! segmentation offload makes. Only the queue in front of the slowest link fills; so places are ranked by how much
//! faster packets can come than they go, and a long queue elsewhere is dark.
//!
//! Sources: J. Gettys, "Bufferbloat: Dark Buffers in the Internet", 2011; the kernel's sources for every limit, named
//! where it stands.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod facts;
mod listing;
mod place;
mod quote;
mod rates;
mod rule;
mod seen;
mod sum;
mod tree;

pub use facts::{Facts, Host, Interface, Kind};
pub use listing::{SCRIPT_END, listing, script};
pub use place::{Level, Place, Spot, Worst};
pub use rates::{Asked, LinkRate, RateSource, links};
pub use rule::audit;
pub use seen::Seen;
pub use sum::Sum;
pub use tree::{PATHS, SAMPLED, Tree};
