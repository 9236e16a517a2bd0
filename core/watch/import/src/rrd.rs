//! Reads the round robin databases of `RRDtool`, of whatever machine wrote them.
//!
//! A database is the memory of the program that wrote it: the order of bytes, the size of a `long` and of a `time_t` and the
//! alignment of a `double` are those of its machine. They are found out by where the number 8.642135e130 stands, and by which of them
//! give the size that the file has.
//!
//! By hand: `librrd` reads the databases of its own machine alone.
mod error;
mod layout;
mod read;

pub use error::RrdError;
pub use layout::{Layout, Order};
pub use read::{Archive, Row, Rrd, Source, read};
