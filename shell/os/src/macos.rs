//! The calls of macOS.
pub mod cpu;
pub mod datagram;
pub mod echo;
pub mod files;
pub mod interface;
mod message;
pub mod names;
pub mod next_hop;
mod option;
pub mod poll;
// The same files.
#[path = "linux/resolvers.rs"]
pub mod resolvers;
pub mod sched;
pub mod socket;
pub(crate) mod system_clock;
pub mod tcp_info;
pub mod timestamp;
