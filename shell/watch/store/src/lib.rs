//! The history database of a watch: every probe, for years, in one directory; and its [`export`] as
//! a table.
//!
//! [`History`] is the only writer; there may be any number of [`HistoryReader`]s. Records are first
//! in memory, then written to a journal every few seconds, to a part after ten minutes, to a chunk
//! and windows after six hours, and to rollups after a day. Each step is one SQLite transaction, so
//! that a sample is in exactly one of them at any time: see `docs/adr/0008`.
//!
//! All times are UTC. A sample is stored in the chunk of its own time, even if the clock was
//! stepped.
#![forbid(unsafe_code)]
#![deny(missing_docs)]
mod amend;
mod compact;
mod config;
mod database;
mod error;
mod event;
pub mod export;
mod fill;
mod flush;
mod import;
mod open;
mod reader;
mod recover;
mod room;
mod series;
mod table;
mod tail;
mod verify;
mod writer;
mod written;

pub use config::{HistoryConfig, Retention};
pub use error::{HistoryError, Repair};
pub use event::{Event, EventId};
pub use import::ImportSummary;
pub use reader::HistoryReader;
pub use series::{SeriesId, SeriesKey};
pub use verify::{Recovered, Verified};
pub use writer::{History, Status, Trouble};
