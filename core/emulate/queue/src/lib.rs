//! The interface between a queue discipline and its host, and queue disciplines of users.
//!
//! A discipline of this workspace implements [`Qdisc`]. A discipline outside of it implements
//! [`QueuePlugin`], and [`conformance`] checks it: see `docs/plugins.md`.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod conformance;
mod contract;
mod plugin;

pub use contract::{Backlog, DropReason, Ecn, End, MarkReason, Packet, PureAck, Qdisc, Sink};
pub use plugin::{Actions, Plugin, PluginParams, QueuePlugin, QueuedPacket};
