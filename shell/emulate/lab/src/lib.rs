//! An emulated line in real time: kernel TCP on both sides, `core/emulate/link` between them.
//!
//! ```text
//!  namespace of the client                one thread                 namespace of the server
//!  programs - kernel - TUN  ---->  queue, link, delay of each hop  ---->  TUN - kernel - programs
//! ```
//! Nothing in it has a name in the system: when the [`Lab`] is dropped or its process ends,
//! everything is removed.

mod address;
mod batch;
mod capture;
mod engine;
mod error;
mod lab;
mod network;
mod pure_ack;
mod report;
mod router;
mod slice;
mod truth;
pub mod workload;

pub use capture::{CaptureOptions, CaptureReport, CapturedFile, Loss, LossReason};
pub use error::LabError;
pub use fathom_os::process::Child;
pub use lab::{Addresses, Lab, LabOptions, Side};
pub use report::{LabReport, QueueReport, Strays};
