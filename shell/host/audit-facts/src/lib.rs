//! Collects the input of an audit: files of this host or of a directory, replies of this kernel, or
//! files of another host through its shell. Observes Wi-Fi and other traffic of this host during a
//! test. Nothing is written, and nothing that is read can block or exhaust memory.
mod exchange;
mod files;
mod flowtables;
mod observer;
mod processes;
mod programs;
mod remote;
mod replies;
mod save;
mod sockets;
mod traffic;
mod wifi;

pub use files::{files, sampled};
pub use flowtables::add_flowtables;
pub use observer::WifiObserver;
pub use programs::{ProgramObserver, Programs};
pub use remote::{RemoteError, remote};
pub use replies::{add_all, add_qdiscs};
pub use save::save;
pub use sockets::{Transport, add_unsent};
pub use traffic::TrafficObserver;
pub use wifi::{AccessPoint, WifiReader, add_wifi};
