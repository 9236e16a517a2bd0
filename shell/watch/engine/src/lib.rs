//! The engine of `fathom watch`: what asks, what listens, what resolves names, and what happens when the plan changes.
//!
//! One thread asks by ICMP, one by all that needs a socket of its own, some resolve names, one looks at this host, one judges
//! alerts, and one keeps: it alone has the history. They tell each other by channels; a slow disk or a dead name server holds up no probe.

mod alerts;
mod ask;
mod board;
mod departure;
mod echo;
mod flight;
mod hops;
mod host;
mod keep;
mod kept;
mod lane;
mod limit;
mod monitor;
mod pulse;
mod resolver;
mod sockets;
mod tls;
mod told;
mod udp;
mod writer;

pub use alerts::Alerting;
pub use board::{Board, HostNow, Total};
pub use host::unknown_load;
pub use keep::{Event, Keep};
pub use kept::Kept;
pub use limit::packet_limit;
pub use monitor::{Changes, Health, Monitor, THIS_HOST, permitted};
