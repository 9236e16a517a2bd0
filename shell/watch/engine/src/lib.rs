//! The engine of `fathom watch`: it sends probes, records replies, resolves names, and applies changes of the plan.
//!
//! One thread probes by ICMP echo, one by everything that needs a socket of its own; some resolve names, one reads the counters of this
//! host, one evaluates alerts, and one writes the history, which it alone has. They communicate by channels: a slow disk or a dead name
//! server delays no probe.

mod alerts;
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
pub use history::{Event, HistoryWriter};
pub use host::unknown_load;
pub use limit::packet_limit;
pub use live::{HostNow, LiveState, Total};
pub use monitor::{Changes, Health, Monitor, permitted};
pub use register::THIS_HOST;
pub use store_writer::StoreWriter;
