//! Alert rules and their evaluation: when an alert is raised and cleared, and the evidence.
//!
//! Rules and receivers are plain data; `fathom-watch-plan` reads them from the configuration. A
//! [`Watcher`] receives samples, the throughput of this host's own link and path changes, each with
//! its time. It returns [`Transition`]s: alerts that were raised or cleared, with evidence in words
//! and numbers.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod condition;
mod judge;
mod link;
mod matcher;
mod past;
mod pattern;
mod phase;
mod receiver;
mod ring;
mod rounds;
mod rule;
mod series;
mod state;
mod watcher;
mod words;

pub use condition::{Condition, Evidence};
pub use matcher::Matcher;
pub use past::{MAX_WEEKS, Past, PastHour};
pub use pattern::{Kind, Pattern, Semantics, Value};
pub use phase::{Change, Flapping};
pub use receiver::{Login, Receiver, Relay, RelayTls, Route};
pub use rule::{Rule, Scope};
pub use series::{Link, SeriesInfo};
pub use state::AlertState;
pub use watcher::{HistoryRequest, Transition, Watcher};
