//! The calls of Windows.
pub mod console;
pub mod cpu;
pub mod datagram;
pub mod echo;
pub mod files;
pub mod interface;
pub mod names;
pub mod next_hop;
pub mod poll;
pub mod resolvers;
pub mod sched;
pub mod socket;
pub(crate) mod system_clock;
pub mod tcp_info;
pub mod timestamp;
