//! The engine of `fathom watch`: sends probes, records replies, resolves names, and applies changes
//! of the plan.
//!
//! Threads: one for ICMP echo, one for probes with their own sockets, some for name resolution, one
//! for this host's counters, one for alerts, and one that writes the history, exclusively. They
//! communicate by channels, so that a slow disk or an unresponsive name server delays no probe.

mod alerts;
mod clock_watch;
mod connection_probe;
mod departure;
mod echo;
mod history;
mod hops;
mod host;
mod lateness;
mod limit;
mod live;
mod monitor;
mod probe_socket;
mod register;
mod report;
mod resolver;
mod sockets;
mod store_writer;
mod target;
mod tls;
mod udp;
mod writer;

pub use alerts::AlertBackend;
pub use history::{Event, FlushReport, HistoryWriter};
pub use host::unknown_load;
pub use limit::packet_limit;
pub use live::{HostNow, LiveState, Total};
pub use monitor::{Changes, Health, Monitor, TestValues, permitted};
pub use register::THIS_HOST;
pub use store_writer::StoreWriter;
