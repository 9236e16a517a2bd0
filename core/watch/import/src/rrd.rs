//! Reads the round-robin databases of `RRDtool`, written on any machine.
//!
//! A database is a memory dump of the program that wrote it: byte order, the sizes of `long` and
//! `time_t` and the alignment of `double` are those of its machine. They are detected from the
//! position of the number 8.642135e130 and from the file size.
//!
//! `librrd` is not used: it reads only databases written on the same machine architecture.
mod error;
mod layout;
mod read;

pub use error::RrdError;
pub use layout::{Layout, Order};
pub use read::{Archive, Row, Rrd, Source, read};
